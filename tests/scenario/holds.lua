-- SPDX-License-Identifier: Apache-2.0
-- Constraints that attach and let go while the world runs (suction, weld_at_runtime): limits, capture, poses, state.
local stn = require "stiction"
local worse = require "worse"

local iterating = { "sap", "nsgs", "pgs", "bisection", "newton_ncp", "ipm", "admm", "admm_split", "apgd", "lemke", "auto" }
local solvers = table.move(iterating, 1, #iterating, 1, {})
solvers[#solvers + 1] = "soft_step" -- approximate
local rest = { 0, 0, 0 }

local function tight(name)
  return { name, tolerance = 1e-10, max_iterations = 2000 }
end

local function near(value, expected, relative, what)
  stn.near(value, expected, relative * math.abs(expected), what)
end

local function box(world, mass, xyz, more)
  local spec = more or {}
  spec.size, spec.mass, spec.xyz = spec.size or { 0.1, 0.1, 0.1 }, mass, xyz
  return world:box(spec)
end

local function steps(world, count)
  for _ in world:run { steps = count } do end
end

-- Runs until it lets go; the number of steps that it held.
local function held_for(world, tie, count)
  for step = 1, count do
    world:step()
    if tie:get "holding" == 0 then
      return step - 1
    end
  end
  return count
end

local function refused(text, f)
  local ok, message = pcall(f)
  assert(not ok and tostring(message):find(text, 1, true), tostring(message))
end

-- ---------------------------------------------------------------------------------------------------------- limits

-- A box of 2 kg hangs under a cup or weld that bears weight / part.
local function hang(kind, part, options)
  local world = stn.world(options)
  local load = box(world, 2, { 0, 0, -0.05 })
  local limit = 2 * 9.81 / part
  local tie = world:constraint { kind, a = "world", b = load, a_pose = { rpy = { math.pi, 0, 0 } },
    [kind == "suction" and "force" or "force_limit"] = limit, attached = true }
  return world, tie, load, limit
end

for _, kind in ipairs { "suction", "weld_at_runtime" } do
  for _, solver in ipairs(solvers) do
    stn.test(kind .. " holds a weight of 0.99 of its limit and lets go of 1.01: " .. solver, function()
      for _, dt in ipairs { 0.001, 0.003, 0.01 } do
        local world, tie, load = hang(kind, 0.99, { dt = dt, solver = solver })
        assert(held_for(world, tie, 300) == 300, "holds")
        near(tie:get "force"[3], -2 * 9.81, 1e-4, "force")
        stn.near(load:position(), { 0, 0, -0.05 }, 1e-4, "place")
        local limit
        world, tie, load, limit = hang(kind, 1.01, { dt = dt, solver = solver })
        assert(held_for(world, tie, 300) == 0 and tie:get "why" == "force", "lets go at once")
        assert(tie:get "force"[3] >= -1.001 * limit * (1 + 1e-4), "the limit is what it transmits")
        local v = load:velocity().linear[3]
        near(v, -(9.81 - 1.001 * limit / 2) * dt, 0.01, "what the limit leaves over")
        steps(world, 10)
        near(load:velocity().linear[3], v - 10 * 9.81 * dt, 1e-6, "then falls")
        assert(tie:force() == nil and tie:get "holding" == 0)
      end
    end)
  end
end

for _, law in ipairs { "sap", "lagged", "similar" } do
  for _, integrator in ipairs { "symplectic_euler", "midpoint", "implicit_euler" } do
    stn.test(("limits with law %s and integrator %s"):format(law, integrator), function()
      for _, kind in ipairs { "suction", "weld_at_runtime" } do
        local world, tie = hang(kind, 0.99, { law = law, integrator = integrator, dt = 0.005 })
        assert(held_for(world, tie, 200) == 200)
        world, tie = hang(kind, 1.01, { law = law, integrator = integrator, dt = 0.005 })
        assert(held_for(world, tie, 200) == 0 and tie:get "why" == "force")
      end
    end)
  end
end

-- A kinematic cup, its axis z, carries a box of 2 kg that starts where the cup is, `below` along z, without gravity.
local function carried(solver, motion, below, cup)
  local world = stn.world { dt = 0.002, gravity = rest, solver = solver }
  local hand, load = box(world, 1, rest), box(world, 2, { 0, 0, below })
  world:disable_collisions(hand, load)
  hand:kinematic(motion)
  cup[1], cup.a, cup.b, cup.attached = "suction", hand, load, true
  return world, world:constraint(cup), load
end

for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm", "admm" } do
  stn.test("a cup at 0.99 and 1.01 of what it bears when it is accelerated: " .. solver, function()
    local function sides(why, motion, below, cup)
      for _, part in ipairs { 0.99, 1.01 } do
        local world, tie = carried(solver, motion(part), below, cup)
        local held = held_for(world, tie, 100)
        assert(part < 1 and held == 100 or part > 1 and held < 3 and tie:get "why" == why,
          ("%s at %g: held %d steps, %s"):format(why, part, held, tie:get "why"))
      end
    end
    local V, mu, r = 40, 0.4, 0.02
    local function along(axis, a)
      return function(part)
        return function(t)
          local at = { 0, 0, 0 }
          at[axis] = 0.5 * part * a * t * t
          return { xyz = at }
        end
      end
    end
    sides("force", along(3, -V / 2), 0, { force = V, mu = mu, radius = r })          -- m a = V
    sides("shear", along(1, mu * V / 2), 0, { force = V, mu = mu, radius = r })      -- m a = mu V
    sides("shear", along(2, mu * V / 2), 0, { force = V, mu = mu, radius = r })
    sides("torque", along(1, r * V / (2 * 0.1)), 0.1, { force = V, mu = mu, radius = r }) -- m a h = r V
    local inertia = 2 * (0.1 ^ 2 + 0.1 ^ 2) / 12
    sides("shear", function(part)                                                    -- I alpha = mu r V
      return function(t) return { rpy = { 0, 0, 0.5 * part * mu * r * V / inertia * t * t } } end
    end, 0, { force = V, mu = mu, radius = r })
  end)
end

stn.test("pressed with P a cup bears mu (V + P) sideways, and pulled with P mu (V - P)", function()
  local V, mu = 40, 0.4
  for _, P in ipairs { 25, -25 } do
    for _, part in ipairs { 0.99, 1.01 } do
      local world = stn.world { dt = 0.002, gravity = rest }
      local load = box(world, 2, rest)
      local cup = world:constraint { "suction", a = "world", b = load, force = V, mu = mu, attached = true }
      load:apply_force { force = { 0, 0, -P } } -- the axis leads away from the cup
      steps(world, 5)
      local side = part * mu * (V + P) / math.sqrt(2)
      load:apply_force { force = { side, side, -P } }
      local held = held_for(world, cup, 100)
      assert(part < 1 and held == 100 or part > 1 and held < 3 and cup:get "why" == "shear", held)
      near(cup:get "force"[3], P, 1e-4, "push")
    end
  end
end)

stn.test("limits of 1e300 and of 0 hold any force", function()
  for _, limit in ipairs { 1e300, 0 } do
    local world = stn.world { dt = 0.001 }
    local load = box(world, 1000, rest)
    local tie = world:constraint { "weld_at_runtime", a = "world", b = load, force_limit = limit, torque_limit = limit, attached = true }
    load:apply_force { force = { 1e6, 0, 0 }, torque = { 0, 1e5, 0 } }
    assert(held_for(world, tie, 50) == 50)
    near(tie:get "force"[1], -1e6, 1e-4, "force")
    near(tie:get "torque"[2], -1e5, 1e-4, "torque")
  end
end)

stn.test("a torque ends a weld at its limit", function()
  for _, part in ipairs { 0.99, 1.01 } do
    local world = stn.world { dt = 0.002, gravity = rest }
    local load = box(world, 1, rest)
    local tie = world:constraint { "weld_at_runtime", a = "world", b = load, torque_limit = 3, attached = true }
    load:apply_force { torque = { 0, part * 3 / math.sqrt(2), part * 3 / math.sqrt(2) } }
    assert(held_for(world, tie, 50) == (part < 1 and 50 or 0))
    assert(tie:get "why" == (part < 1 and "" or "torque"))
  end
end)

stn.test("at the limit too what pulls one body pulls the other one back", function()
  for _, solver in ipairs(iterating) do
    local world = stn.world { dt = 0.002, gravity = rest, solver = tight(solver) }
    local a, b = box(world, 1, rest), box(world, 3, { 0.3, 0.1, 0 })
    local tie = world:constraint { "weld_at_runtime", a = a, b = b, force_limit = 20, attached = true }
    a:apply_force { force = { -40, 0, 0 } } -- 30 N are asked of the weld
    local step = world:step()
    assert(tie:get "holding" == 0 and tie:get "why" == "force", solver)
    near(tie:force(), -20.02, 1e-4, solver .. ": what it transmits")
    assert(step.certificate.momentum < 1e-6 and step.certificate.natural_ccp < 1e-6, solver .. ": certificate")
    stn.near(world:momentum().linear, { -40 * 0.002, 0, 0 }, 1e-9, solver .. ": momentum")
    stn.near(world:momentum().angular, { 0, 0, 0 }, 1e-9, solver .. ": angular momentum")
  end
end)

-- --------------------------------------------------------------------------------------------------------- capture

-- Inertia of a box of mass m and size s about its centre.
local function inertia(m, s)
  return { m * (s[2] ^ 2 + s[3] ^ 2) / 12, m * (s[1] ^ 2 + s[3] ^ 2) / 12, m * (s[1] ^ 2 + s[2] ^ 2) / 12 }
end

local function cross(a, b)
  return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] }
end

-- x of A x = b, by Cramer's rule.
local function solve3(A, b)
  local function det(M)
    return M[1][1] * (M[2][2] * M[3][3] - M[2][3] * M[3][2]) - M[1][2] * (M[2][1] * M[3][3] - M[2][3] * M[3][1])
      + M[1][3] * (M[2][1] * M[3][2] - M[2][2] * M[3][1])
  end
  local x = {}
  for k = 1, 3 do
    local M = {}
    for i = 1, 3 do
      M[i] = { A[i][1], A[i][2], A[i][3] }
      M[i][k] = b[i]
    end
    x[k] = det(M) / det(A)
  end
  return x
end

-- Two boxes on their ways, caught at t = 0: the pair's centre goes on, and it turns with I^-1 L.
local function two_flying(solver, dt)
  local world = stn.world { dt = dt, gravity = rest, solver = tight(solver) }
  local spec = {
    { mass = 1, size = { 0.1, 0.1, 0.2 }, xyz = { 0, 0, 0 }, velocity = { 1, -2, 0.5 }, omega = { 3, -2, 5 } },
    { mass = 2.5, size = { 0.2, 0.1, 0.1 }, xyz = { 0.4, 0.2, -0.1 }, velocity = { -0.5, 0.3, 1 }, omega = { -4, 6, 1 } },
  }
  local bodies = {}
  for i, s in ipairs(spec) do
    bodies[i] = box(world, s.mass, s.xyz, { size = s.size, velocity = { linear = s.velocity, angular = s.omega } })
  end
  local mass, v, centre, L = 0, { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }
  for _, s in ipairs(spec) do
    mass = mass + s.mass
    for k = 1, 3 do
      v[k], centre[k] = v[k] + s.mass * s.velocity[k], centre[k] + s.mass * s.xyz[k]
    end
  end
  for k = 1, 3 do v[k], centre[k] = v[k] / mass, centre[k] / mass end
  local I = { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }
  for _, s in ipairs(spec) do
    local r, own, relative = {}, inertia(s.mass, s.size), {}
    for k = 1, 3 do r[k], relative[k] = s.xyz[k] - centre[k], s.velocity[k] - v[k] end
    local orbit, r2 = cross(r, relative), r[1] ^ 2 + r[2] ^ 2 + r[3] ^ 2
    for i = 1, 3 do
      L[i] = L[i] + own[i] * s.omega[i] + s.mass * orbit[i]
      for k = 1, 3 do
        I[i][k] = I[i][k] + (i == k and own[i] + s.mass * r2 or 0) - s.mass * r[i] * r[k]
      end
    end
  end
  return world, bodies, { v = v, centre = centre, omega = solve3(I, L), spec = spec }
end

for _, solver in ipairs(iterating) do
  stn.test("two bodies that are caught in flight go on with the momentum that they had: " .. solver, function()
    local dt = 1e-6
    local world, bodies, pair = two_flying(solver, dt)
    local tie = world:constraint { "weld_at_runtime", a = bodies[1], b = bodies[2], a_point = { 0.05, 0, 0.1 } }
    local before = world:momentum()
    tie:attach()
    steps(world, 10)
    assert(tie:get "holding" == 1)
    stn.near(world:momentum().linear, before.linear, 1e-9, "momentum")
    stn.near(world:momentum().angular, before.angular, 1e-6, "angular momentum")
    for i, body in ipairs(bodies) do
      local r = {}
      for k = 1, 3 do r[k] = pair.spec[i].xyz[k] - pair.centre[k] end
      local turn = cross(pair.omega, r)
      -- 10 rad/s turn what is below 10 by 1e-4 in the ten steps: 1e-3
      stn.near(body:velocity().angular, pair.omega, 1e-3, "omega")
      for k = 1, 3 do stn.near(body:velocity().linear[k], pair.v[k] + turn[k], 1e-3, "v") end
    end
  end)
end

local function relative_pose(a, b)
  return a:pose():inverse() * b:pose()
end

stn.test("the pose at attachment is kept while the pair spins fast", function()
  for _, dt in ipairs { 1e-3, 1e-4 } do
    local world, bodies = two_flying("sap", dt)
    local tie = world:constraint { "weld_at_runtime", a = bodies[1], b = bodies[2], attached = true }
    local held = relative_pose(bodies[1], bodies[2])
    local fastest = 0
    for step in world:run { seconds = 0.5 } do
      if step.index == 1 then bodies[1]:apply_force { torque = { 2, 1, -1 } } end
      local w = bodies[1]:velocity().angular
      fastest = worse(fastest, w[1] ^ 2 + w[2] ^ 2 + w[3] ^ 2)
      -- a rigid constraint errs by about the acceleration of its ends towards each other times dt^2
      local now = relative_pose(bodies[1], bodies[2])
      stn.near(now:distance(held), 0, 2 * fastest * held:distance({}) * dt * dt, "distance")
      stn.near(now:angle(held), 0, 2 * fastest * dt * dt, "angle")
    end
    assert(tie:get "holding" == 1 and fastest > 25, "it spins")
  end
end)

-- ------------------------------------------------------------------------------------------------------ told anew

stn.test("attach twice, release without attach, release and attach between two steps", function()
  local world = stn.world { dt = 0.001, gravity = rest }
  local a, b = box(world, 1, rest), box(world, 1, { 0.5, 0, 0 }, { velocity = { 1, 0, 0 } })
  local tie = world:constraint { "weld_at_runtime", a = a, b = b, name = "grip" }
  tie:release()
  world:step()
  assert(tie:get "holding" == 0 and tie:get "why" == "" and tie:force() == nil)
  local first = relative_pose(a, b)
  tie:attach()
  tie:attach()
  steps(world, 10)
  stn.near(relative_pose(a, b):distance(first), 0, 1e-6, "the pose of the call")
  b:set_pose { xyz = { 0.6, 0, 0 } }
  tie:attach() -- holds already: the same pose, to which it comes back
  steps(world, 50)
  stn.near(relative_pose(a, b):distance(first), 0, 1e-6, "the pose of the first time")
  tie:release()
  steps(world, 1)
  assert(tie:get "holding" == 0 and tie:get "why" == "released" and tie:force() == nil)
  tie:attach()
  world:step()
  tie:release()
  b:set_pose { xyz = { 0.9, 0.2, 0 } }
  local second = relative_pose(a, b)
  tie:attach() -- no step between: still it is the pose of now
  steps(world, 50)
  assert(tie:get "holding" == 1)
  stn.near(relative_pose(a, b):distance(second), 0, 1e-6, "the new pose")
end)

stn.test("the channel: above 0 attaches, another number attaches anew, 0 lets go", function()
  local world = stn.world { dt = 0.001 }
  local load = box(world, 1, rest)
  local tie = world:constraint { "weld_at_runtime", a = "world", b = load, force_limit = 5 }
  tie:set { attached = 1 }
  steps(world, 3)
  assert(tie:get "holding" == 0 and tie:get "why" == "force" and tie:get "attached" == 1)
  local before = load:position()[3]
  steps(world, 3) -- it stays off
  assert(load:position()[3] < before and tie:get "holding" == 0)
  load:set_velocity { 0, 0, 0 }
  load:apply_force { force = { 0, 0, 9.81 } }
  tie:set { attached = 2 }
  world:step()
  assert(tie:get "holding" == 1 and tie:get "why" == "")
  tie:set { attached = 0 }
  world:step()
  assert(tie:get "why" == "released")
  refused("attached = nan is not a finite number", function() tie:set { attached = 0 / 0 } end)
  refused("there is no channel or output 'atached'; known: attached, holding, why, force, torque",
    function() tie:get "atached" end)
end)

stn.test("a spring has no attach, and says so", function()
  local world = stn.world { dt = 0.001 }
  local load = box(world, 1, rest)
  local tie = world:constraint { "spring", a = load, stiffness = 100, length = 0.1 }
  near(tie:get "length", 0.1, 1e-15, "a channel")
  refused("there is no channel or output 'attached'; known: length", function() tie:attach() end)
end)

-- ---------------------------------------------------------------------------------------------------- what it holds

stn.test("it holds to the world, to kinematic bodies, links of one robot, and two welds share a pair", function()
  local world = stn.world { dt = 0.002 }
  local load = box(world, 1, rest)
  local tie = world:constraint { "weld_at_runtime", a = load, attached = true } -- b: the world
  local second = world:constraint { "weld_at_runtime", a = load, attached = true, a_point = { 0.03, 0, 0 } }
  steps(world, 100)
  stn.near(load:position(), rest, 1e-6, "both hold it")
  stn.near(select(3, tie:force()) + select(3, second:force()), -9.81, 1e-6, "and share its weight")
  second:release()
  steps(world, 100)
  stn.near(load:position(), rest, 1e-6, "one holds it")
  near(select(3, tie:force()), -9.81, 1e-4, "the weight")

  local moved = stn.world { dt = 0.002 }
  local hand = box(moved, 1, { 0, 0, 1 })
  local held = box(moved, 1, { 0, 0, 0.9 })
  hand:kinematic(function(t) return { xyz = { 0.1 * math.sin(3 * t), 0, 1 }, rpy = { 0, 0, t } } end)
  local carry = moved:constraint { "weld_at_runtime", a = hand, b = held, attached = true }
  local at = relative_pose(hand, held)
  steps(moved, 500)
  stn.near(relative_pose(hand, held):distance(at), 0, 1e-5, "carried by a kinematic body") -- 1 m/s^2 dt^2 and its weight
  near(select(3, carry:force()), 9.81, 1e-3, "its weight")

  local robots = stn.world { dt = 0.002 }
  local arm = robots:load { "models/iiwa14/iiwa14.urdf", fixed = true, joints = { iiwa14_joint_2 = 0.6, iiwa14_joint_4 = -1.2 } }
  local lock = robots:constraint { "weld_at_runtime", a = arm:link "iiwa14_link_1", b = arm:link "iiwa14_link_6", attached = true }
  local before = {}
  for _, joint in ipairs { "iiwa14_joint_2", "iiwa14_joint_4" } do
    before[joint] = arm:joint(joint):position()
  end
  steps(robots, 200)
  for _, joint in ipairs { "iiwa14_joint_2", "iiwa14_joint_4" } do
    stn.near(arm:joint(joint):position(), before[joint], 1e-5, joint)
  end
  assert(lock:get "holding" == 1)
end)

stn.test("attached while it stands on the floor, lifted and let go, it falls back", function()
  for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm", "admm" } do
    local world = stn.world { dt = 0.002, solver = solver }
    world:ground { mu = 0.5 }
    local hand = box(world, 1, { 0, 0, 0.25 })
    local load = box(world, 1, { 0, 0, 0.05 })
    hand:kinematic(function(t) return { xyz = { 0, 0, 0.25 + 0.2 * math.max(0, t - 0.2) } } end)
    local tie = world:constraint { "weld_at_runtime", a = hand, b = load }
    steps(world, 50)
    tie:attach()
    steps(world, 450)
    near(load:position()[3], 0.05 + 0.2 * 0.8, 1e-3, solver .. ": lifted")
    tie:release()
    steps(world, 300)
    stn.near(load:position()[3], 0.05, 1e-5, solver .. ": back on the floor")
  end
end)

stn.test("a weld with a stiffness gives way by force over stiffness", function()
  local world = stn.world { dt = 0.001 }
  local load = box(world, 2, rest)
  local tie = world:constraint { "weld_at_runtime", a = "world", b = load, stiffness = 1e4, angular_stiffness = 50, relaxation_time = 0.02, attached = true }
  load:apply_force { torque = { 0, 0, 1 } }
  steps(world, 3000)
  near(load:position()[3], -2 * 9.81 / 1e4, 1e-6, "sag")
  near(2 * math.sin(load:pose().rpy[3] / 2), 1 / 50, 1e-3, "angle") -- 2 sin(angle/2), along the turned axes
  near(tie:get "force"[3], 2 * 9.81, 1e-6, "force")
  near(world:energy().elastic, 0.5 * (2 * 9.81) ^ 2 / 1e4 + 0.5 / 50, 1e-3, "energy")
end)

stn.test("a hold whose stiffness is infinite is the rigid one to the last bit; one of the two may be", function()
  local function fallen(stiffness, angular_stiffness)
    local world = stn.world { dt = 0.001 }
    local load = box(world, 2, rest)
    world:constraint { "weld_at_runtime", a = "world", b = load, stiffness = stiffness, angular_stiffness = angular_stiffness, relaxation_time = 0.02, attached = true }
    load:apply_force { torque = { 0, 0, 1 } }
    steps(world, 3000)
    return load:pose(), world:energy().elastic
  end
  local plain, given = fallen(nil, nil), fallen(math.huge, math.huge)
  for i = 1, 3 do
    assert(plain.xyz[i] == given.xyz[i] and plain.rpy[i] == given.rpy[i], "unset and infinite differ")
  end
  local soft, energy = fallen(1e4, math.huge)
  near(soft.xyz[3], -2 * 9.81 / 1e4, 1e-3, "sag")
  near(energy, 0.5 * (2 * 9.81) ^ 2 / 1e4, 1e-3, "energy")
  stn.near(soft.rpy[3], 0, 1e-6, "angle")
end)

stn.test("what is wrong is said", function()
  local function wrong(text, kind, settings)
    refused(text, function()
      local world = stn.world { dt = 1e-3 }
      local a, b = box(world, 1, rest), box(world, 1, { 1, 0, 0 })
      settings[1], settings.a, settings.b = kind, a, settings.b or b
      if settings.any_of then
        settings.any_of = { b }
      elseif settings.same then
        settings.b, settings.same = a, nil
      end
      world:constraint(settings)
      world:step()
    end)
  end
  for _, kind in ipairs { "suction", "weld_at_runtime" } do
    wrong("on one body, where there is nothing to hold", kind, { same = true })
    wrong("stiffness", kind, { stiffness = -1 })
    wrong("stiffness = 0 N/m must be > 0; infinite: rigid", kind, { stiffness = 0 })
    wrong("angular_stiffness = 0 N m/rad must be > 0; infinite: rigid", kind, { angular_stiffness = 0 })
    wrong("relaxation_time", kind, { relaxation_time = 0 / 0 })
  end
  wrong("force_limit", "weld_at_runtime", { force_limit = 0 / 0 })
  wrong("force_limit", "weld_at_runtime", { force_limit = -3 })
  wrong("force = 0 must be > 0", "suction", { force = 0 })
  wrong("mu = 0 must be > 0", "suction", { mu = 0 })
  wrong("radius = 0 must be > 0", "suction", { radius = 0 })
  wrong("radius = inf, must be a finite number", "suction", { radius = math.huge })
  wrong("any_of and b are two ways", "suction", { any_of = true })
  refused("a weld has two ends", function()
    local world = stn.world {}
    local a, b = box(world, 1, rest), box(world, 1, { 1, 0, 0 })
    world:constraint { "weld_at_runtime", path = { { a, rest }, { b, rest }, { "world", rest } } }
    world:step()
  end)
  for _, still in ipairs { "table", "world" } do -- beside a body that can be held
    local function held(moves)
      local world = stn.world {}
      local hand, load = box(world, 1, rest), box(world, 1, { 1, 0, 0 })
      local table = box(world, 1, { 2, 0, 0 })
      table:kinematic(function() return {} end)
      if not moves then hand:kinematic(function() return {} end) end
      world:constraint { "suction", a = hand, any_of = { load, still == "table" and table or "world" } }
      world:step()
    end
    refused("ends 1 and 3 are fixed or kinematic: there is nothing to hold; one of them must move", held)
    held(true)
  end
  refused("any_of must be a list", function()
    local world = stn.world {}
    world:constraint { "suction", a = box(world, 1, rest), any_of = {} }
  end)
end)

-- ------------------------------------------------------------------------------------------------------------- seal

-- A cup that looks down from `height` above the top of a box, `aside` of its middle and tilted.
local function over(height, aside, tilt, reach)
  local world = stn.world { dt = 0.002, gravity = rest }
  local load = box(world, 1, { 0, 0, -0.05 })
  local cup = world:constraint { "suction", a = "world", b = load, radius = 0.02, reach = reach,
    a_pose = { xyz = { aside, 0, height }, rpy = { math.pi + tilt, 0, 0 } } }
  cup:attach()
  steps(world, 2)
  return cup:get "holding" == 1, cup:get "why", world, load, cup
end

stn.test("a cup with a reach holds what lies before all of its ring", function()
  assert(over(0.0029, 0, 0, 0.003))
  assert(over(-0.01, 0, 0, 0.003), "a lip in the surface")
  assert(over(0.0029, 0.029, 0, 0.003), "still on the top")
  assert(over(5, 0.2, 0, 0), "no reach: whatever the distance")
  for _, case in ipairs { { 0.0031, 0, 0 }, { 0.001, 0.031, 0 }, { 0.001, 0, 0.2 }, { 0.001, 0, math.pi }, { -0.03, 0, 0 } } do
    local holds, why = over(case[1], case[2], case[3], 0.003)
    assert(not holds and why == "no seal", table.concat(case, " "))
  end
  local _, _, world, load, cup = over(0.004, 0, 0, 0.003)
  load:set_velocity { 0, 0, 0.1 } -- 0.2 mm a step
  for _ = 1, 20 do
    world:step()
    if cup:get "holding" == 1 then break end
  end
  stn.near(load:position()[3], -0.05 + 0.001, 4e-4, "it is caught as soon as it is in reach")
end)

stn.test("of several bodies a cup holds the nearest one that seals", function()
  for at, expected in ipairs { 1, 2, 0, 0 } do
    local world = stn.world { dt = 0.002, gravity = rest }
    local boxes = {}
    for i = 1, 4 do boxes[i] = box(world, 1, { 0.2 * i, 0, -0.05 - 0.001 * i }) end
    boxes[5] = box(world, 1, { 0.2, 0, -0.25 }) -- under the first one
    local cup = world:constraint { "suction", a = "world", any_of = boxes, reach = 0.0025, a_pose = { xyz = { 0.2 * at, 0, 0 }, rpy = { math.pi, 0, 0 } },
      attached = true }
    world:step()
    assert(cup:get "holding" == expected, ("%d: %d %s"):format(at, cup:get "holding", cup:get "why"))
  end
  local world = stn.world { dt = 0.002, gravity = rest }
  local boxes = { box(world, 1, { 0, 0, -0.5 }), box(world, 1, { 0, 0, -0.2 }), box(world, 1, { 0, 0, -0.35 }) }
  local cup = world:constraint { "suction", a = "world", any_of = boxes, a_pose = { rpy = { math.pi, 0, 0 } }, attached = true }
  world:step()
  assert(cup:get "holding" == 2, "the nearest one, without a reach")
end)

-- ------------------------------------------------------------------------------------------------------------ tasks

stn.test("in a task attach waits until it holds, and says why not", function()
  local world = stn.world { dt = 0.002, gravity = rest }
  local load = box(world, 1, { 0, 0, -0.056 }, { velocity = { 0, 0, 0.02 } })
  local cup = world:constraint { "suction", a = "world", b = load, reach = 0.002, name = "cup", a_pose = { rpy = { math.pi, 0, 0 } } }
  local story = {}
  local pick = stn.task("pick", function()
    cup:attach { timeout = 0.5 }
    story[#story + 1] = world.time
    assert(cup:get "holding" == 1)
    cup:attach() -- holds
    story[#story + 1] = world.time
    stn.wait(0.1)
    cup:release()
    assert(cup:get "holding" == 0 and cup:get "why" == "released")
    load:set_pose { xyz = { 0, 0, -0.5 } }
    cup:attach { timeout = 0.1 }
  end)
  refused("attach: suction 'cup' does not hold after 0.1 s: no seal", function()
    for _ in world:run { seconds = 2 } do end
  end)
  assert(pick.state == "failed" and #story == 2 and story[1] == story[2])
  stn.near(story[1], 0.2, 0.011, "4 mm at 20 mm/s")
end)

stn.test("attach that fails tells a constraint without a name by its number, and a reason also where it was never tried", function()
  local world = stn.world { dt = 0.01, gravity = rest }
  local a, b = box(world, 1, rest), box(world, 1, { 1, 0, 0 })
  world:constraint { "spring", a = a, b = b, stiffness = 1 }
  local cup = world:constraint { "suction", a = a, b = b, reach = 0.001 }
  local weld = world:constraint { "weld_at_runtime", a = a, b = b }
  local task = stn.task("pick", function() cup:attach { timeout = 0.1 } end)
  refused("attach: suction (number 2) does not hold after 0.1 s: no seal", function()
    for _ in world:run { seconds = 1 } do end
  end)
  assert(task.state == "failed" and tostring(weld) == "weld_at_runtime (number 3)")
  stn.task("hold", function() weld:attach { timeout = 0.1 } end)
  stn.task("let go", function() weld:release() end)
  refused("attach: weld_at_runtime (number 3) does not hold after 0.1 s: it was told to let go meanwhile", function()
    for _ in world:run { seconds = 1 } do end
  end)
end)

stn.test("a robot goes where a task tells it also in a world with constraints that have channels", function()
  local world = stn.world { dt = 0.002 }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", fixed = true, joints = { iiwa14_joint_2 = 0.6, iiwa14_joint_4 = -1.4 } }
  local load = box(world, 1, { 2, 0, 1 })
  world:constraint { "weld_at_runtime", a = "world", b = load, attached = true }
  world:constraint { "tendon", path = { { load, rest }, { "world", rest } } }
  world:controller { "joint_pd", target = arm, kp = 4000, kd = 400, gravity_compensation = true }
  stn.task("turn", function() arm:move_to { iiwa14_joint_1 = 0.5 } end)
  for _ in world:run { seconds = 3 } do end
  stn.near(arm:joint("iiwa14_joint_1"):position(), 0.5, 1e-9)
  stn.near(arm:joint("iiwa14_joint_2"):position(), 0.6, 1e-9)
  stn.near(arm:joint("iiwa14_joint_4"):position(), -1.4, 1e-9)
end)

-- ------------------------------------------------------------------------------------------------------------ state

stn.test("snapshot, clone, saved state and reset take what it holds along", function()
  local world = stn.world { dt = 0.002 }
  local a, b = box(world, 1, rest), box(world, 2, { 0.3, 0.1, 0.2 })
  local tie = world:constraint { "weld_at_runtime", a = a, b = b, force_limit = 1e5 }
  a:apply_force { force = { 5, 0, 30 }, torque = { 0, 0.3, 0.1 } }
  steps(world, 20)
  tie:attach()
  steps(world, 30)
  local force = tie:get "force"
  assert(tie:get "holding" == 1 and (force[1] ~= 0))
  local path = os.tmpname()
  world:save_state(path)
  local snapshot, clone = world:snapshot(), world:clone()
  steps(world, 50)
  local hash = world:hash()
  steps(clone, 50)
  assert(clone:hash() == hash, "clone")
  world:restore(snapshot)
  assert(tie:get "holding" == 1 and tie:get "force"[1] == force[1], "what it tells is state")
  steps(world, 50)
  assert(world:hash() == hash, "snapshot")
  world:load_state(path)
  os.remove(path)
  steps(world, 50)
  assert(world:hash() == hash, "saved state")
  world:reset()
  assert(tie:get "holding" == 0 and tie:get "attached" == 0)
  steps(world, 5)
  assert(tie:get "holding" == 0)
end)

-- ---------------------------------------------------------------------------------------------- carried many times

-- A gripper takes a box where it stands, carries it aside, sets it down, lets go, and brings it back likewise.
local carries = os.getenv "STICTION_TEST_TIER" == "quick" and 100 or 1000
stn.test(("a gripper carries and sets down %d times without drift"):format(carries), function()
  local dt, tolerance, pause, ride = 0.005, 1e-10, 10, 60
  local world = stn.world { dt = dt, solver = { "sap", tolerance = tolerance } }
  world:ground { mu = 0.5 }
  local load, hand = box(world, 1, { 0, 0, 0.05 }), box(world, 1, { 0, 0, 0.3 })
  local corners = { { 0, 0, 0.3 }, { 0, 0, 0.4 }, { 0.25, 0.1, 0.4 }, { 0.25, 0.1, 0.3 } } -- up, aside, down
  local way = 0 -- 0 at home, 3 at the other place
  hand:kinematic(function()
    local leg = math.min(math.floor(way), 2)
    local u = way - leg
    local s = u * u * u * (10 - 15 * u + 6 * u * u)
    local from, to = corners[leg + 1], corners[leg + 2]
    return { xyz = { from[1] + s * (to[1] - from[1]), from[2] + s * (to[2] - from[2]), from[3] + s * (to[3] - from[3]) } }
  end)
  local tie = world:constraint { "weld_at_runtime", a = hand, b = load }
  steps(world, 100)
  local first = {} -- pose after the first time at each place
  for carry = 1, carries do
    local there = carry % 2 == 1
    tie:attach()
    steps(world, pause)
    for k = 1, ride do
      way = 3 * (there and k or ride - k) / ride
      world:step()
    end
    steps(world, pause)
    assert(tie:get "holding" == 1)
    tie:release()
    steps(world, pause)
    first[there] = first[there] or load:pose()
    -- The pose that it holds it comes back to, so that only steps in which the box stands alone can add up, at most by
    -- what the solver leaves open: a velocity of the tolerance times the weight's momentum in a step, g dt.
    local most = carry * pause * tolerance * 9.81 * dt * dt
    stn.near(load:pose():distance(first[there]), 0, most + 1e-15, carry .. ": distance")
    stn.near(load:pose():angle(first[there]), 0, most / 0.05 + 1e-15, carry .. ": angle") -- half an edge
  end
  stn.near(first[true].xyz[1] - first[false].xyz[1], 0.25, 1e-9, "aside")
end)
