-- SPDX-License-Identifier: Apache-2.0
-- The law penalty against closed forms of springs and dampers.
local stn = require "stiction"

local g = 9.81

local function ball_on_ground(options, material, z)
  local world = stn.world(options)
  world:ground {}
  local ball = world:sphere { radius = 0.05, mass = 1, xyz = { 0, 0, z or 0.05 } }
  world:contact_material(material)
  return world, ball
end

--- Does explicit steps of every world: one iteration where something touches.
local function run(world, seconds, look)
  for step in world:run { seconds = seconds } do
    assert(step.converged and step.iterations <= 1, "more than an explicit step")
    if look then look(step) end
  end
end

stn.test("a box rests m g/(4 k) deep on its four corners", function()
  local k = 2e4
  for _, case in ipairs { { law = { "penalty", stiffness = k } }, { law = "penalty", material = k } } do
    for _, integrator in ipairs { "symplectic_euler", "midpoint", "implicit_euler" } do
      local world = stn.world { dt = 1e-3, law = case.law, integrator = integrator }
      world:ground {}
      local box = world:box { size = { 0.2, 0.2, 0.2 }, mass = 3, xyz = { 0, 0, 0.1 } }
      world:contact_material { mu = 0.5, stiffness = case.material, relaxation_time = case.material and 2e-3 }
      run(world, 2)
      stn.near(0.1 - box:position()[3], 3 * g / (4 * k), 1e-7, integrator)
    end
  end
end)

stn.test("a mass bounces on an undamped spring with the period 2 pi sqrt(m/k)", function()
  local k, dt = 1e4, 1e-4
  -- it starts where weight and spring balance, with a speed that does not part them
  local deep = g / k
  local world, ball = ball_on_ground({ dt = dt, law = "penalty" }, { mu = 0, stiffness = k, relaxation_time = 0 }, 0.05 - deep)
  ball:set_velocity { linear = { 0, 0, -0.05 } }
  local crossings, before, lowest = {}, nil, math.huge
  run(world, 1, function()
    local z = ball:position()[3] - 0.05 + deep
    if before and before < 0 and z >= 0 then crossings[#crossings + 1] = world.time - dt * z / (z - before) end
    before, lowest = z, math.min(lowest, z)
  end)
  local period = (crossings[#crossings] - crossings[1]) / (#crossings - 1)
  stn.near(period, 2 * math.pi * math.sqrt(1 / k), { relative = 1e-3, tolerance = 0 }, "period [s]") -- (omega dt)^2/24 is less
  stn.near(-lowest, 0.05 * math.sqrt(1 / k), { relative = 1e-2, tolerance = 0 }, "amplitude [m]") -- omega dt/2 is 0.5 %
end)

stn.test("a damped mass follows the closed form", function()
  local k, d, dt = 1e3, 20, 1e-5
  local world, ball = ball_on_ground({ dt = dt, law = { "penalty", stiffness = k, damping = d } }, { mu = 0.5 }, 0.05 - g / k)
  ball:set_velocity { linear = { 0, 0, -0.05 } }
  run(world, 0.05)
  local decay, omega, t = d / 2, math.sqrt(k - d * d / 4), world.time
  stn.near(ball:position()[3] - 0.05 + g / k, -0.05 / omega * math.exp(-decay * t) * math.sin(omega * t), 2e-7, "place [m]") -- order 1 in dt
end)

stn.test("steps are stable up to dt^2 k/m + 2 dt d/m = 4", function()
  local dt = 1e-3
  for _, case in ipairs { { 0.97, false }, { 1.03, true } } do
    local k, d = case[1] / dt ^ 2, 1.5 * case[1] / dt
    local world, ball = ball_on_ground({ dt = dt, law = { "penalty", stiffness = k, damping = d } }, { mu = 0 }, 0.05 - g / k)
    ball:set_velocity { linear = { 0, 0, -1e-7 } }
    run(world, 0.1)
    assert((math.abs(ball:velocity().linear[3]) > 1e-7) == case[2], case[1])
  end
end)

stn.test("friction is viscous up to mu gamma_n, and no more", function()
  local mass, mu, c = 2, 0.4, 30
  for _, force in ipairs { 0.5 * mu * mass * g, 2 * mu * mass * g } do
    local world = stn.world { dt = 1e-3, law = { "penalty", friction_damping = c } }
    world:ground {}
    local box = world:box { size = { 0.2, 0.2, 0.02 }, mass = mass, xyz = { 0, 0, 0.01 } }
    world:contact_material { mu = mu }
    run(world, 0.5)
    box:apply_force { force = { force, 0, 0 } }
    local start = world.time
    run(world, 0.5)
    local v = box:velocity().linear[1]
    if force < mu * mass * g then
      stn.near(v, force / (4 * c), 1e-4 * v, "creeps at F/(4 c)")
    else
      -- it slides from mu m g/(4 c) on, after no more than a step or two
      stn.near(v, (force / mass - mu * g) * (world.time - start), 0.1, "slides")
    end
  end
end)

stn.test("without friction nothing is held along the ground", function()
  local world, ball = ball_on_ground({ dt = 1e-3, law = "penalty" }, { mu = 0 })
  ball:set_velocity { linear = { 1, 0, 0 } }
  run(world, 0.5)
  assert(ball:velocity().linear[1] == 1)
end)

stn.test("a box comes to rest with the defaults, whatever it weighs and however long steps are", function()
  for _, mass in ipairs { 1e-3, 1, 1e3 } do
    for _, dt in ipairs { 1e-4, 1e-3, 1e-2 } do
      local world = stn.world { dt = dt, law = "penalty" }
      world:ground {}
      local box = world:box { size = { 0.2, 0.2, 0.2 }, mass = mass, xyz = { 0, 0, 0.1 + 10 * dt ^ 2 }, rpy = { 0.5 * dt, 0.3 * dt, 0 } }
      world:contact_material { mu = 0.6 }
      run(world, 1000 * dt)
      stn.check("speed", { value = math.abs(box:velocity().linear[3]), limit = 1e-6 * g * dt, unit = "m/s" })
      stn.check("lean", { value = math.acos(math.min(1, box:pose():rotate({ 0, 0, 1 })[3])), limit = 1e-2 * dt, unit = "rad" })
    end
  end
end)

stn.test("what it cannot do is said", function()
  for _, solver in ipairs { "apgd", "admm", "ipm", "cond_proximal" } do
    stn.fails(function()
      local world = ball_on_ground({ solver = solver, law = "penalty" }, {})
      world:step()
    end, "penalty")
  end
  stn.fails(function() stn.world { law = { "penalty", stiffness = -1 } } end, "stiffness")
  local world = ball_on_ground({ integrator = "quasistatic", law = "penalty" }, {}, 0.0499)
  stn.fails(function() world:step() end, "nothing")
end)
