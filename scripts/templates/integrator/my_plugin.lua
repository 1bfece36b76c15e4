-- A ball thrown up, moved by my_plugin: after a second it is where free fall says, to first order in dt.
local stn = require "stiction"
local p = stn.params { dt = 0.001, speed = 6 }

local world = stn.world { dt = p.dt, integrator = "my_plugin" }
local ball = world:sphere { radius = 0.05, mass = 0.3, xyz = { 0, 0, 1 } }
ball:set_velocity { linear = { 0, 0, p.speed } }
for _ in world:run { seconds = 1 } do end
local z = ball:position()[3]
stn.check("height after 1 s", { value = math.abs(z - (1 + p.speed - 9.81 / 2)), limit = 9.81 * p.dt, unit = "m" })
