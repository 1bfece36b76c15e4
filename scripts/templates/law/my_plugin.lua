-- A cube on a slope under the law my_plugin: while tan(slope) < mu it creeps, and no more than the law's eps allows.
local stn = require "stiction"
local p = stn.params { angle_deg = 20, mu = 0.5, eps = 1e-4 }

local tilt = { 0, p.angle_deg * stn.deg, 0 }
local world = stn.world { dt = 0.002, law = { "my_plugin", eps = p.eps } }
world:ground { mu = p.mu, pose = { rpy = tilt } }
local cube = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, mu = p.mu, pose = { rpy = tilt, xyz = { 0, 0, 0.0532 } } }
for _ in world:run { seconds = 1 } do end
stn.check("the cube holds", { value = cube:speed(), limit = 7 * p.eps, unit = "m/s" })
