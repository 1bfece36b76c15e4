-- The box of sample.my_plugin: it weighs what its volume says, and falls onto the ground.
local stn = require "stiction"

local world = stn.world {}
world:ground {}
local box = world:mesh { file = "sample.my_plugin", density = 1000, xyz = { 0, 0, 0.2 } }
for _ in world:run { seconds = 1 } do end
stn.check("mass", { value = math.abs(box:mass() - 4), limit = 1e-12, unit = "kg" })
stn.check("lies on the ground", { value = math.abs(box:position()[3] - 0.05), limit = 1e-3, unit = "m" })
