-- SPDX-License-Identifier: Apache-2.0
-- What may be otherwise than planned: places of jar and bowl (+-1 cm, +-5 degrees), friction and masses of everything (+-20 %).
local stn = require "stiction"
local scene = require "dual_arm.scene"

local perturbation = {}

local THINGS = { "table", "jar", "lid", "bowl", "marbles", "hands" }

--- Options of scene.build: `kind` is "nothing", "poses", "friction", "masses" or "everything". A seed gives the same numbers
--- whatever the kind, so that one can see which part of it matters.
function perturbation.draw(seed, kind, mu)
  local dice <close> = stn.world { seed = seed }
  local function amount(of, size)
    local u = dice:random(-1, 1)
    return (kind == "everything" or kind == of) and size * u or 0
  end
  local function place(x, y)
    return { xyz = { x + amount("poses", 0.01), y + amount("poses", 0.01), 0 }, rpy = { 0, 0, amount("poses", 5 * stn.deg) } }
  end
  local drawn = { jar = place(0, 0), bowl = place(table.unpack(scene.bowl)), mu = {}, mass = {} }
  for _, thing in ipairs(THINGS) do
    drawn.mu[thing] = mu * (1 + amount("friction", 0.2))
    drawn.mass[thing] = 1 + amount("masses", 0.2)
  end
  return drawn
end

return perturbation
