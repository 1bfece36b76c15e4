-- SPDX-License-Identifier: Apache-2.0
-- Runs a scenario and saves the contact problem of every n-th step, for the benchmark `iterations`:
--   mkdir -p /tmp/piles
--   stiction run tests/bench/record.lua --set scene=scripts/clutter.lua --set folder=/tmp/piles --set every=30
-- Parameters of the scenario are set in the same line.
local stn = require "stiction"
local p = stn.params { scene = "scripts/clutter.lua", folder = ".", every = 30 }

local make = stn.world
function stn.world(options)
  local world = make(options)
  local class = getmetatable(world)
  local index = class.__index
  local function run(self, limits)
    local next_step = index(self, "run")(self, limits)
    return function()
      local step = next_step()
      if step and step.index % p.every == 0 then
        self:save_problem(("%s/%05d.json"):format(p.folder, step.index))
      end
      return step
    end
  end
  class.__index = function(self, key)
    return key == "run" and run or index(self, key)
  end
  stn.world = make -- the first world alone is recorded
  return world
end

dofile(p.scene)
