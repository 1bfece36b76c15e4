-- A cube on a slope, solved by my_plugin: while tan(slope) < mu it must hold.
local stn = require "stiction"
local p = stn.params { angle_deg = 20, mu = 0.5 } -- set with --set mu=0.3

local tilt = { 0, p.angle_deg * stn.deg, 0 }
local world = stn.world { dt = 0.002, solver = { "my_plugin", tolerance = 1e-8, max_iterations = 20000 } }
world:ground { mu = p.mu, pose = { rpy = tilt } }
local cube = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, mu = p.mu, pose = { rpy = tilt, xyz = { 0, 0, 0.0532 } } }

local worst = 0
for step in world:run { seconds = 1 } do
  worst = math.max(worst, step.certificate.natural_ncp) -- what Coulomb's law lacks; momentum is the core's, always exact here
end
stn.check("the cube holds", { value = cube:speed(), limit = 1e-3, unit = "m/s" })
stn.check("Coulomb's law", { value = worst, limit = 1e-6, unit = "m/s" })
