-- my_plugin: a ball falls on the ground and comes to rest.
-- What to change first: the parameters, what stands in the world, and what is checked of it.
--   stiction run my_plugin.lua --set height=2 --record my_plugin.html      stiction test test_my_plugin.lua
local stn = require "stiction"
local p = stn.params { height = 0.5, radius = 0.1, mass = 1, mu = 0.5 } -- m, m, kg, 1; --set changes them

local world = stn.world { dt = 0.002 }
world:ground { mu = p.mu }
local ball = world:sphere { name = "ball", radius = p.radius, mass = p.mass, mu = p.mu, xyz = { 0, 0, p.height } }

-- after every step: columns of the table that --log writes, plots of the page that --record writes
world:log { "time_s", "height_m", values = function() return world.time, ball:position()[3] end }

local worst = 0
for step in world:run { seconds = 2 } do
  worst = math.max(worst, step.certificate.momentum)
end
stn.result("height", ball:position()[3], "m")
stn.check("the ball rests", { value = ball:speed(), limit = 1e-3, unit = "m/s" })
stn.check("it rests on the ground", { value = math.abs(ball:position()[3] - p.radius), limit = 1e-3, unit = "m" })
stn.check("momentum error", { value = worst, limit = 1e-6 }) -- the tolerance at which the solver stops
