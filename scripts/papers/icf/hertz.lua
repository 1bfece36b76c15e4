-- SPDX-License-Identifier: Apache-2.0
-- How stiff steel is: the bodies of paper ICF [castro-2023], section IX, at rest on a plane by Hertz's law, f = 4/3 E sqrt(R) x^(3/2). The weight m g
-- presses a sphere of radius R in by x = (3 m g/(4 E sqrt(R)))^(2/3), as the paper has it, and m g/x is the stiffness that it takes.
local stn = require "stiction"

local p = stn.params {
  E = 200e9,            -- [Pa]
  dt = 1e-4, seconds = 0.2, -- [s]
}
local g = 9.81

-- Indentation of a sphere that is let go at touch and comes to rest.
local function press(name, m, R)
  local indentation = 1e-6 -- where the law's stiffness is stated
  local world <close> = stn.world { dt = p.dt, solver = { "sap", tolerance = 1e-12 }, law = { "hertz", indentation = indentation } }
  world:ground {}
  world:contact_material { mu = 0, stiffness = 4 / 3 * p.E * math.sqrt(R * indentation), dissipation = 500 }
  local ball = world:sphere { radius = R, mass = m, xyz = { 0, 0, R } }
  for _ in world:run { seconds = p.seconds } do end
  local x = R - ball:position()[3]
  stn.result(name .. ": indentation", x, "m")
  stn.result(name .. ": stiffness", m * g / x, "N/m")
  stn.check(name .. ": indentation off Hertz by", { value = math.abs(x / (3 * m * g / (4 * p.E * math.sqrt(R))) ^ (2 / 3) - 1), limit = 1e-7 })
end

press("sphere", 0.5, 0.025) -- section IX-B
press("rod", 0.3, 0.005)    -- section IX-C
