-- Two balls fall on the ground and on each other; my_plugin finds where they touch, and what touches does not sink in.
local stn = require "stiction"

local world = stn.world { dt = 0.002, contact = "my_plugin" }
world:ground {}
world:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, 0.11 } }
local upper = world:sphere { radius = 0.05, mass = 0.2, xyz = { 0.001, 0, 0.27 } }
local deepest = 0
for step in world:run { seconds = 2 } do
  deepest = math.max(deepest, step.overlap_m)
end
stn.check("deepest overlap", { value = deepest, limit = 1e-3, unit = "m" })
stn.check("the upper ball came down", { value = math.abs(upper:position()[3] - 0.05), limit = 1e-3, unit = "m" })
