-- SPDX-License-Identifier: Apache-2.0
-- Motion without contact, against closed forms of symplectic Euler: v_n = v_0 + n dt g, x_n = x_0 + n dt v_0 + dt^2 g n (n + 1) / 2.
local stn = require "stiction"

stn.test("a body falls as symplectic Euler prescribes", function()
  local dt, n = 1e-3, 500
  local world = stn.world { dt = dt }
  local ball = world:sphere { radius = 0.1, xyz = { 0, 0, 10 } }
  for _ in world:run { steps = n } do
  end
  stn.near(ball:position(), { 0, 0, 10 - 9.81 * dt * dt * n * (n + 1) / 2 }, 1e-12, "position")
  stn.near(ball:velocity().linear, { 0, 0, -9.81 * n * dt }, 1e-12, "velocity")
  stn.near(world.time, n * dt, 1e-12, "time")
end)

stn.test("a thrown body follows the parabola, and its spin stays", function()
  local dt, n = 2e-3, 250
  local world = stn.world { dt = dt }
  local ball = world:sphere {
    radius = 0.1, xyz = { 0, 0, 0 }, velocity = { linear = { 3, -1, 4 }, angular = { 0, 0, 5 } },
  }
  for _ in world:run { steps = n } do
  end
  local t = n * dt
  stn.near(ball:position(), { 3 * t, -t, 4 * t - 9.81 * dt * dt * n * (n + 1) / 2 }, 1e-11, "position")
  stn.near(ball:velocity().angular, { 0, 0, 5 }, 1e-12, "angular velocity")
  stn.near(ball:pose().quat, { math.cos(5 * t / 2), 0, 0, math.sin(5 * t / 2) }, 1e-9, "rotation")
end)

stn.test("gravity can be any vector and change while the world runs", function()
  local world = stn.world { dt = 0.01, gravity = { 0, 1, 0 } }
  local ball = world:sphere { radius = 0.1 }
  for _ in world:run { steps = 10 } do
  end
  world:set_gravity { 0, 0, 0 }
  stn.near(world.gravity, { 0, 0, 0 }, 0, "gravity")
  for _ in world:run { steps = 10 } do
  end
  stn.near(ball:velocity().linear, { 0, 0.1, 0 }, 1e-14, "velocity")
end)

stn.test("a constant force accelerates by F / m until it is taken away", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
  local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 2 }
  box:apply_force { force = { 4, 0, 0 } }
  for _ in world:run { steps = 100 } do
  end
  stn.near(box:velocity().linear, { 0.2, 0, 0 }, 1e-12, "velocity")
  stn.near(box:velocity().angular, { 0, 0, 0 }, 1e-12, "a force through the centre of mass does not turn")
  box:apply_force {}
  for _ in world:run { steps = 100 } do
  end
  stn.near(box:velocity().linear, { 0.2, 0, 0 }, 1e-12, "velocity")
end)

stn.test("a torque turns by the inertia of the solid", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
  local box = world:box { size = { 0.3, 0.2, 0.1 }, mass = 6 }
  local inertia = 6 * (0.3 ^ 2 + 0.2 ^ 2) / 12
  box:apply_force { torque = { 0, 0, 0.5 } }
  for _ in world:run { steps = 10 } do
  end
  stn.near(box:velocity().angular[3], 0.5 / inertia * 0.01, 1e-12, "spin")
end)

stn.test("energy and momentum are those of the field", function()
  local world = stn.world { gravity = { 0, 0, -10 } }
  world:sphere { radius = 0.1, mass = 2, xyz = { 0, 0, 3 }, velocity = { 1, 2, 3 } }
  local energy, momentum = world:energy(), world:momentum()
  stn.near(energy.kinetic, 0.5 * 2 * 14, 1e-12, "kinetic energy")
  stn.near(energy.potential, 2 * 10 * 3, 1e-12, "potential energy")
  stn.near(energy.total, energy.kinetic + energy.potential, 1e-12, "energy")
  stn.near(momentum.linear, { 2, 4, 6 }, 1e-12, "momentum")
  stn.near(momentum.angular, { -12, 6, 0 }, 1e-12, "angular momentum about the origin") -- x cross m v
  stn.near(world:mass(), 2, 0, "mass")
end)
