-- Tests of what my_plugin.lua uses, against closed forms: stiction test test_my_plugin.lua
local stn = require "stiction"

stn.test("a ball falls as g t^2/2 says, to first order in dt", function()
  local dt, time = 0.001, 0.3
  local world = stn.world { dt = dt }
  local ball = world:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, 2 } }
  for _ in world:run { seconds = time } do end
  local off = math.abs(ball:position()[3] - (2 - 9.81 / 2 * time ^ 2))
  assert(off <= 9.81 * time * dt, ("it is off by %g m"):format(off))
end)

stn.test("the ground carries the weight of a ball", function()
  local world = stn.world { dt = 0.002 }
  world:ground {}
  local ball = world:sphere { radius = 0.1, mass = 3, xyz = { 0, 0, 0.1 } }
  for _ in world:run { seconds = 1 } do end
  local force = world:contact_force(ball).force[3]
  assert(math.abs(force - 3 * 9.81) < 1e-3, ("the ground pushes with %g N"):format(force))
end)
