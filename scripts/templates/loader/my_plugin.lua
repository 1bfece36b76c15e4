-- The robot of sample.my_plugin: its mass is that of the file, and it swings.
local stn = require "stiction"

local world = stn.world {}
local robot = world:load { "sample.my_plugin", fixed = true }
local elbow = robot:joint("elbow")
elbow:set_position(0.5) -- and let go
local least = 0.5
for _ in world:run { seconds = 1 } do
  least = math.min(least, elbow:position())
end
stn.check("mass", { value = math.abs(robot:mass() - 2.8), limit = 1e-12, unit = "kg" })
stn.check("the elbow swings to the other side", { value = least, limit = -0.2, unit = "rad" })
