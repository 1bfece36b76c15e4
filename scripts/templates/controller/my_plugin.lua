-- The arm that comes along, told to lift its fourth joint: my_plugin gets it there but for what gravity takes.
local stn = require "stiction"
local p = stn.params { kp = 4000, kd = 200, lift = -0.5 }

local world = stn.world { dt = 0.002 }
local arm = world:load { "models/iiwa14/iiwa14.urdf", fixed = true }
local motors = world:controller { "my_plugin", target = arm, kp = p.kp, kd = p.kd }
motors:set { position = { iiwa14_joint_4 = p.lift } }
for _ in world:run { seconds = 3 } do end
local off = math.abs(arm:joint("iiwa14_joint_4"):position() - p.lift)
stn.check("the joint is where it should be", { value = off, limit = 0.03, unit = "rad" })
