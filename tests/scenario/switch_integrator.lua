-- SPDX-License-Identifier: Apache-2.0
-- world.integrator between steps: a push that goes on in either way, what velocities mean then, and what controllers leave out of
-- steps without inertia.
local stn = require "stiction"
local files <close> = require "files"()

local quasistatic = { "quasistatic", unactuated_mass_scale = 1 }

local function steps(world, count)
  for _ in world:run { steps = count } do end
end

-- ------------------------------------------------------------------------------------------------------------- a push
-- A finger of 0.5 kg on a rail pushes a box of 1 kg over the ground, led at 0.1 m/s by a spring of 2000 N/m.
local finger = files:write(".xml", [[<mujoco><worldbody><body><inertial pos="0 0 0" mass="0.5" diaginertia="1e-3 1e-3 1e-3"/>
  <joint name="x" type="slide" axis="1 0 0"/><geom type="sphere" size="0.02" friction="0"/></body></worldbody></mujoco>]])
local speed, spring, friction = 0.1, 2000, 0.5 * 9.81

local function push(solver, integrator, law)
  local world = stn.world { dt = 0.01, solver = solver, law = law, integrator = integrator }
  world:ground { mu = 0.5 }
  local box = world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, mu = 0.5, xyz = { 0.071, 0, 0.05 } }
  local arm = world:load { finger, fixed = true, base = { xyz = { 0, 0, 0.03 } } }
  local lead = world:controller { "joint_pd", target = arm, kp = spring, kd = 20, effort_limits = false }
  local push = { world = world, box = box, arm = arm }
  function push.step(time)
    lead:set { position = { speed * ((time or world.time) + world.dt) }, velocity = { speed } }
    return world:step()
  end
  return push
end

-- How far the finger is behind its lead, against what friction asks for; the box moves with it.
local function slides(p, what)
  local behind = speed * p.world.time - p.arm:q()[1]
  stn.near(behind, friction / spring, 0.02 * friction / spring, what .. ": spring [m]")
  stn.near(p.box:velocity().linear[1], speed, 1e-4 * speed, what .. ": box [m/s]")
  stn.near(p.box:position()[3], 0.05, 1e-4, what .. ": height [m]")
end

stn.test("a push goes on through both switches, with the same force", function()
  local p = push("sap", nil, "lagged") -- under which nothing hops that slides
  local world <close> = p.world
  local last = p.box:position()[1]
  for i = 1, 300 do
    world.integrator = (i > 100 and i <= 200) and "quasistatic" or "symplectic_euler"
    local step = p.step()
    assert(step.converged, "step " .. i)
    local x = p.box:position()[1]
    assert(x > last - 1e-6 and x < last + 4 * speed * world.dt, ("step %d: the box moved by %g m"):format(i, x - last))
    last = x
    if i % 100 == 0 then
      slides(p, "step " .. i)
    end
  end
end)

-- Impulses of the step before are those of a step of this length whatever made them: a first step that starts from them ends where
-- one does that starts from nothing. A sudden change of friction leaves Gauss-Seidel more to do than it may, from either start.
local sweeps = { bisection = true, nsgs = true, pgs = true }

for _, solver in ipairs(stn.plugins "solver") do
  stn.test("the first step after a switch converges: " .. solver, function()
    if solver == "soft_step" then
      stn.fails(function()
        push(solver).world.integrator = quasistatic
      end, "solver soft_step moves bodies by another velocity than they keep, and integrator quasistatic does not do so")
      return
    end
    local choice = { solver, tolerance = 1e-8 }
    for way, from in ipairs { "symplectic_euler", quasistatic } do
      local to, compared = way == 1 and quasistatic or "symplectic_euler", 0
      local p = push(choice, from)
      local world <close> = p.world
      for i = 1, 24 do
        if i % 4 == 0 then
          local before, time = world:snapshot(), world.time
          local fresh = push(choice, to)
          local made <close> = fresh.world
          made:set_state(world:state())
          local cold = fresh.step(time)
          world.integrator = to
          local warm = p.step()
          assert(warm.converged or sweeps[solver], ("way %d, step %d: %s"):format(way, i, warm.status))
          if warm.converged and cold.converged then
            compared = compared + 1
            for k, x in ipairs(made:state().q) do
              stn.near(world:state().q[k], x, 1e-8, ("way %d, step %d: q[%d]"):format(way, i, k))
            end
          end
          world:restore(before) -- with the integrator of before
          assert(world.integrator == (way == 1 and "symplectic_euler" or "quasistatic"))
        end
        p.step()
      end
      assert(compared > 3 or sweeps[solver], compared)
    end
  end)
end

-- --------------------------------------------------------------------------------------------------------- velocities
local rail = files:write(".xml", [[<mujoco><worldbody><body><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
  <joint name="x" type="slide" axis="1 0 0"/></body></worldbody></mujoco>]])

stn.test("dynamics go on from the mean velocity of the last quasistatic step, which starts from rest itself", function()
  local world <close> = stn.world { dt = 0.02 }
  local slider = world:load { rail, fixed = true }
  local spring = world:controller { "joint_pd", target = slider, kp = 400, kd = 0, effort_limits = false }
  slider:joint("x"):set_velocity(3) -- is of no account
  world.integrator = "quasistatic"
  local before = 0
  for _, x in ipairs { 0.01, 0.05, 0.07 } do
    spring:set { position = { x } }
    world:step()
    stn.near(slider:q()[1], x, 1e-14, "[m]") -- nothing loads the spring
    stn.near(slider:joint("x"):velocity(), (x - before) / world.dt, 1e-12, "[m/s]")
    before = x
  end
  world.integrator = "symplectic_euler"
  spring:deactivate()
  for i = 1, 10 do
    world:step()
    stn.near(slider:joint("x"):velocity(), 1, 1e-12, "free [m/s]")
    stn.near(slider:q()[1], 0.07 + i * world.dt, 1e-12, "free [m]")
  end
  world:reset()
  assert(world.integrator == "quasistatic") -- it was that of the first step
end)

-- -------------------------------------------------------------------------------------------------------- controllers
-- Two heavy links in a vertical plane without damping, whose Coriolis forces and inertia are large. In steps without inertia a spring
-- without damper is where it is told to be at once: what a controller feeds forward for inertia would pull it away.
local double = files:write(".xml", [[<mujoco><worldbody><body><inertial pos="0 0 -0.5" mass="3" diaginertia="0.3 0.3 0.01"/>
  <joint name="a" type="hinge" axis="0 1 0"/><body pos="0 0 -1"><inertial pos="0 0 -0.5" mass="2" diaginertia="0.2 0.2 0.01"/>
  <joint name="b" type="hinge" axis="0 1 0"/></body></body></worldbody></mujoco>]])

local function arm_world()
  local world = stn.world { dt = 0.05, integrator = "quasistatic" }
  return world, world:load { double, fixed = true, name = "arm", joints = { a = 0.3, b = -0.4 } }
end

stn.test("joint_impedance makes up for weight alone", function()
  local world <close>, arm = arm_world()
  local control = world:controller { "joint_impedance", target = arm, stiffness = 200, damping_ratio = 0, effort_limits = false }
  for i = 1, 20 do
    local q = { 0.3 + math.sin(0.6 * i), -0.4 + math.cos(0.9 * i) }
    control:set { position = q }
    world:step()
    stn.near(arm:q()[1], q[1], 1e-12, "a [rad]")
    stn.near(arm:q()[2], q[2], 1e-12, "b [rad]")
  end
end)

-- Twenty steps go through the same joints with soft springs as with hard ones. make(world, arm, stiffness): the controller;
-- command(control, i): before step i. Returns the joints at the end.
local function check_same_way(tolerance, make, command)
  local way = {}
  for k, stiffness in ipairs { 50, 1e6 } do
    local world <close>, arm = arm_world()
    local control = make(world, arm, stiffness)
    for i = 1, 20 do
      command(control, i)
      world:step()
      for j, q in ipairs(arm:q()) do
        if k == 1 then
          way[2 * i + j] = q
        else
          stn.near(q, way[2 * i + j], tolerance, ("step %d: joint %d [rad]"):format(i, j))
        end
      end
    end
  end
  return way[41], way[42]
end

stn.test("a trajectory is where its spline is, however soft its servos are", function()
  local a = check_same_way(1e-12, function(world, arm, kp)
    local control = world:controller { "trajectory", target = arm, kp = kp, kd = 0, scaling = false, effort_limits = false }
    control:set { times = { 0, 0.5, 1 }, points = { { 0.3, -0.4 }, { 1.2, 0.5 }, { -0.6, -1 } } }
    return control
  end, function() end)
  stn.near(a, -0.6, 1e-9, "at the end [rad]")
end)

stn.test("a link goes where its springs draw it, however soft they are", function()
  check_same_way(1e-9, function(world, arm, stiffness)
    return world:controller { "cartesian_impedance", target = arm, stiffness = stiffness, rotational_stiffness = 0,
      damping_ratio = 0, posture_stiffness = 0, effort_limits = false }
  end, function(control, i)
    control:set { position = { 0.3 * math.sin(0.3 * i), 0, -1 + 0.2 * math.cos(0.5 * i) } }
  end)
end)

stn.test("inverse_dynamics rules accelerations, and is refused by name while it acts", function()
  local world <close>, arm = arm_world()
  local control = world:controller { "inverse_dynamics", target = arm }
  local hash = world:hash()
  stn.fails(function() world:step() end, "controller inverse_dynamics of arm: it rules accelerations, and steps of integrator quasistatic")
  assert(world:hash() == hash)
  world.integrator = "midpoint"
  world:step()
end)
