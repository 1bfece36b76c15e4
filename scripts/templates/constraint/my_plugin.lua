-- A ball falls until the rope is taut, and hangs from it.
local stn = require "stiction"
local p = stn.params { length = 0.5 }

local world = stn.world { dt = 0.001 }
local ball = world:sphere { radius = 0.05, mass = 2, xyz = { 0, 0, -0.1 } }
local rope = world:constraint { "my_plugin", a = ball, length = p.length } -- to the world's origin
for _ in world:run { seconds = 2 } do end
stn.check("it hangs at the rope's length", { value = math.abs(ball:position()[3] + p.length), limit = 1e-4, unit = "m" })
stn.check("the rope bears its weight", { value = math.abs(rope:force() + 2 * 9.81), limit = 0.01, unit = "N" })
