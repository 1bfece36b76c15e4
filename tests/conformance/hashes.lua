-- SPDX-License-Identifier: Apache-2.0
-- Runs a script of scripts/ and writes the hash of the world's state after every step: what test_determinism.c compares.
--
--   stiction run hashes.lua --set scene=/path/clutter.lua --set hashes=/path/out.txt --set detour=true
local stn = require "stiction"
local p = stn.params {
  scene = "",
  hashes = "",
  detour = false, -- half-way the world goes on for some steps, is restored from a file, and takes the way that it was on
}

local out = assert(io.open(p.hashes, "w"))

local function make_detour(world)
  local path = p.hashes .. ".state"
  world:save_state(path)
  local snapshot, hash = world:snapshot(), world:hash()
  for _ = 1, 7 do
    world:step()
  end
  assert(world:hash() ~= hash)
  world:restore(snapshot)
  assert(world:hash() == hash, "restoring a snapshot gives another state")
  world:step()
  world:load_state(path)
  assert(world:hash() == hash, "a state from a file is another one")
  os.remove(path)
end

-- The script calls world:run; every step that it makes is written down before the script sees it.
local function watch(class)
  local run = class.run
  class.run = function(world, options)
    local step, state, first, close = run(world, options)
    local function watched(s, c)
      local result = step(s, c)
      if result ~= nil then
        out:write(world:hash(), "\n")
        if p.detour and world.steps == 40 then
          make_detour(world)
        end
      end
      return result
    end
    return watched, state, first, close
  end
end

local make = stn.world
stn.world = function(options)
  stn.world = make
  local world = make(options)
  watch(getmetatable(world).__methods)
  return world
end

dofile(p.scene)
out:close()
