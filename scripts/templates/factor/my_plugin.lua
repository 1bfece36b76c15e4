-- A stack of two boxes: the solver's Hessian is factored by my_plugin, and carries the weight.
local stn = require "stiction"

local world = stn.world { dt = 0.002, solver = { "sap", tolerance = 1e-9 }, factor = "my_plugin" }
world:ground {}
world:box { size = { 0.2, 0.2, 0.2 }, mass = 2, xyz = { 0, 0, 0.1 } }
local upper = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0.02, 0, 0.25 } }
local worst = 0
for step in world:run { seconds = 1 } do
  worst = math.max(worst, step.certificate.momentum)
end
stn.check("momentum error", { value = worst, limit = 1e-6 })
stn.check("the upper box rests", { value = upper:speed(), limit = 1e-4, unit = "m/s" })
