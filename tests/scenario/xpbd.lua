-- SPDX-License-Identifier: Apache-2.0
-- Integrator xpbd against closed forms, and against the static solutions of the implicit step.
local stn = require "stiction"
local g = 9.81

local function xpbd(substeps, push_speed)
  return { "xpbd", substeps = substeps, push_speed = push_speed }
end

local function norm(a)
  return math.sqrt(a[1] ^ 2 + a[2] ^ 2 + a[3] ^ 2)
end

local function apart(a, b)
  return norm { a[1] - b[1], a[2] - b[2], a[3] - b[3] }
end

-- Errors of halved sub-steps: each about half of the one before.
local function check_halves(errors)
  for i = 2, #errors do
    local ratio = errors[i] / errors[i - 1]
    assert(ratio > 0.4 and ratio < 0.62, ("errors %s"):format(table.concat(errors, ", ")))
  end
end

stn.test("bodies and nodes fall as sub-steps of symplectic Euler do", function()
  local dt, n, steps = 0.01, 8, 30
  local world = stn.world { dt = dt, integrator = xpbd(n) }
  local ball = world:sphere { radius = 0.1, xyz = { 0, 0, 10 }, velocity = { linear = { 1, 0, 2 }, angular = { 0, 0, 3 } } }
  local pad = world:soft { box = { 0.1, 0.1, 0.1 }, cells = { 1, 1, 1 }, young = 1e4, xyz = { 2, 0, 10 } }
  local rope = world:cable { points = { { 4, 0, 10 }, { 5, 0, 10 } }, segments = 3, radius = 0.01, young = 1e5 }
  local step
  for s in world:run { steps = steps } do step = s end
  local t, h, k = steps * dt, dt / n, steps * n
  local fallen = g * h * h * k * (k + 1) / 2
  stn.near(ball:position(), { t, 0, 10 + 2 * t - fallen }, 1e-11, "ball")
  stn.near(ball:velocity().linear, { 1, 0, 2 - g * t }, 1e-12, "its velocity")
  stn.near(ball:pose().quat, { math.cos(1.5 * t), 0, 0, math.sin(1.5 * t) }, 1e-11, "its rotation")
  stn.near(pad:position(), { 2, 0, 10 - fallen }, 1e-11, "pad")
  stn.near(rope:position(), { 4.5, 0, 10 - fallen }, 1e-11, "rope")
  stn.near(rope:velocity(2), { 0, 0, -g * t }, 1e-11, "its velocity")
  -- a step is approximate: that is no failure, and the certificate tells how far off it is
  assert(not step.converged and step.approximate and step.status == "not_converged")
  assert(step.iterations == n and step.certificate.momentum < 1e-9)
end)

stn.test("a world without anything steps", function()
  local world = stn.world { dt = 0.01, integrator = "xpbd" }
  for _ in world:run { steps = 3 } do end
  stn.near(world.time, 0.03, 1e-15, "time")
end)

stn.test("elements keep momentum: the linear one, and the angular one the better the shorter the sub-steps", function()
  local function stray(make, substeps)
    local world = stn.world { dt = 0.01, gravity = { 0, 0, 0 }, integrator = xpbd(substeps) }
    make(world)
    local before = world:momentum()
    for _ in world:run { steps = 15 } do end
    local after = world:momentum()
    assert(apart(after.linear, before.linear) < 1e-11 * norm(before.linear))
    return apart(after.angular, before.angular) / norm(before.angular)
  end
  local function ball(world) -- spins at 6 rad/s about z, and is stretched along x
    local soft, v = world:soft { ball = 0.1, cells = 3, young = 2e4, density = 1000 }, {}
    for i, x in ipairs(soft:positions()) do v[3 * i - 2], v[3 * i - 1], v[3 * i] = 3 * x[1] - 6 * x[2] + 0.5, 6 * x[1], 0.25 end
    world:set_state { v = v }
  end
  local function rope(world) -- bends and turns
    local cable, v = world:cable { points = { { -0.2, 0, 0 }, { 0.2, 0, 0 } }, segments = 8, radius = 0.01, young = 1e6, density = 1000 }, {}
    for i, x in ipairs(cable:positions()) do
      for k, rate in ipairs { 0.5, 5 * x[1], 20 * x[1] ^ 2, 0, 0, 5 } do v[6 * i - 6 + k] = rate end
    end
    world:set_state { v = v }
  end
  for _, make in ipairs { ball, rope } do
    local coarse, fine = stray(make, 20), stray(make, 80)
    assert(coarse < 0.02 and fine < 0.4 * coarse, ("angular momentum strays by %.3g, %.3g"):format(coarse, fine))
  end
end)

stn.test("a single element moves as with the implicit step of the sub-step's length", function()
  local function swing(dt, integrator)
    local world = stn.world { dt = dt, integrator = integrator }
    local cable = world:cable { points = { { 0, 0, 1 }, { 0.02, 0, 1 } }, segments = 1, radius = 4e-3, young = 2e7, density = 1200, pinned = "start" }
    world:set_state { v = { 0, 0, 0, 0, 0, 0, 0.02, 0.03, 0.01, 0.5, 2, -3 } } -- stretch, shear, twist and bending
    for _ in world:run { seconds = 0.002 } do end
    local v = world:state().v
    return { v[7], v[8], v[9] }, { v[10], v[11], v[12] }
  end
  local linear, angular = swing(2e-5, "symplectic_euler")
  local v, w = swing(2e-4, xpbd(10))
  assert(norm(linear) > 0.01 and norm(angular) > 1) -- to first order in h times strains alike
  stn.near(v, linear, 1e-4 * norm(linear), "velocity")
  stn.near(w, angular, 1e-4 * norm(angular), "angular velocity")
end)

stn.test("a bar of elements hangs as with the implicit step, with an error that halves with the sub-step", function()
  local function hang(integrator, solver)
    local world = stn.world { dt = 0.01, integrator = integrator, solver = solver }
    local bar = world:soft { box = { 0.02, 0.02, 0.1 }, cells = { 1, 1, 6 }, young = 2e4, poisson = 0.3, density = 1000, damping = 0.005, pinned = "z_max" }
    for _ in world:run { seconds = 1.5 } do end
    stn.near(bar:attachment_force "world", { 0, 0, bar:mass() * g }, 1e-3 * bar:mass() * g, "what holds it carries its weight")
    return bar:position "z_min"[3]
  end
  local exact, errors = hang("symplectic_euler", "cond"), {}
  for i, n in ipairs { 10, 20, 40 } do errors[i] = math.abs(hang(xpbd(n)) - exact) end
  check_halves(errors)
  assert(errors[3] < 0.1 * math.abs(exact + 0.05), "2.3 mm of stretch")
end)

stn.test("a cantilever cable sags from the implicit step's rest by an error that halves with the sub-step", function()
  local function sag(n)
    local world = stn.world { dt = 0.01 }
    local cable = world:cable { points = { { 0, 0, 1 }, { 0.16, 0, 1 } }, segments = 4, radius = 0.004, young = 2e6, poisson = 0.3, density = 1200,
      damping = 3e-3, pinned = "start" }
    for _ in world:run { seconds = 10 } do end
    local rest, mean, force = cable:position(5)[3], 0, 0
    world.integrator = xpbd(n)
    for _ in world:run { steps = 200 } do -- it swings a little about its new place
      mean = mean + cable:position(5)[3] / 200
      force = force + cable:attachment_force "world"[3] / 200
    end
    stn.near(force, cable:mass() * g, 5e-4 * cable:mass() * g, "force on the fixture")
    return math.abs(mean - rest), 1 - rest
  end
  local errors, way = {}, nil
  for i, n in ipairs { 25, 50, 100 } do errors[i], way = sag(n) end
  check_halves(errors)
  assert(errors[3] < 0.01 * way)
end)

stn.test("a cloth, whose elements at borders have a node twice, sags by an error that halves, too", function()
  local function sag(n)
    local world = stn.world { dt = 0.01 }
    local cloth = world:cloth { size = { 0.1, 0.05 }, cells = { 4, 2 }, thickness = 4e-3, young = 5e5, density = 1000, damping = 1e-3,
      pinned = { box = { { -1, -1, -1 }, { -0.024, 1, 1 } } } }
    for _ in world:run { seconds = 5 } do end
    local rest, mean, force = cloth:position "x_max"[3], 0, 0
    assert(rest < -0.05 and rest > -0.06)
    world.integrator = xpbd(n)
    for _ in world:run { steps = 100 } do
      mean = mean + cloth:position "x_max"[3] / 100
      force = force + cloth:attachment_force "world"[3] / 100
    end
    stn.near(force, cloth:mass() * g, 1e-4 * cloth:mass() * g, "force of the clamp")
    return math.abs(mean - rest)
  end
  local errors = {}
  for i, n in ipairs { 20, 40, 80 } do errors[i] = sag(n) end
  check_halves(errors)
  assert(errors[3] < 2e-5)
end)

local function slide(integrator, mu, slope)
  local angle = math.atan(slope)
  local world = stn.world { dt = 0.01, integrator = integrator, gravity = { g * math.sin(angle), 0, -g * math.cos(angle) } }
  local ground = world:ground { mu = mu }
  local box = world:box { size = { 0.2, 0.2, 0.1 }, mass = 3, xyz = { 0, 0, 0.05 }, mu = mu }
  local normal, tangential = 0, 0
  for _ in world:run { seconds = 1 } do
    local f = world:contact_force(box, ground).force
    normal, tangential = normal + f[3] / 100, tangential + f[1] / 100
  end
  return box, normal, tangential, g * math.cos(angle)
end

stn.test("a box slides with g (sin a - mu cos a), and its contacts bear m g cos a", function()
  local box, normal, tangential, weight = slide(xpbd(20), 0.2, 0.3)
  local a = weight * (0.3 - 0.2)
  stn.near(box:velocity().linear[1], a, 5e-3 * a, "speed after 1 s")
  stn.near(normal, 3 * weight, 1e-6 * 3 * weight, "normal force")
  stn.near(tangential, -0.2 * 3 * weight, 3e-3 * 3 * weight, "friction")
end)

stn.test("a box sticks below mu; it creeps, the less the shorter the sub-steps", function()
  local coarse = slide(xpbd(20), 0.4, 0.3):position()[1]
  local fine = slide(xpbd(80), 0.4, 0.3):position()[1]
  assert(math.abs(coarse) < 3e-3 and math.abs(fine) < 0.5 * math.abs(coarse), ("creeps %.3g, %.3g m"):format(coarse, fine))
end)

stn.test("friction of an ellipse acts by direction", function()
  local world = stn.world { dt = 0.01, integrator = xpbd(20) }
  world:ground { mu = 0.1, mu2 = 0.4, friction_direction = { 1, 0, 0 } }
  local along = world:box { size = { 0.2, 0.2, 0.02 }, mass = 1, xyz = { 0, 0, 0.01 }, velocity = { linear = { 2, 0, 0 } }, mu = 1e9 }
  local across = world:box { size = { 0.2, 0.2, 0.02 }, mass = 1, xyz = { 0, 3, 0.01 }, velocity = { linear = { 0, 3, 0 } }, mu = 1e9 }
  for _ in world:run { seconds = 0.3 } do end
  local mu1, mu2 = 0.2, 0.8 -- harmonic means with a rough box
  stn.near(along:velocity().linear[1], 2 - mu1 * g * 0.3, 1e-5, "along")
  stn.near(across:velocity().linear[2], 3 - mu2 * g * 0.3, 1e-5, "across")
end)

stn.test("kinematic bodies carry what lies on them and what is attached to them", function()
  local a, w = 0.1, 6.5 -- a w^2 = 4.2 < mu g = 4.9
  local world = stn.world { dt = 2e-3, integrator = xpbd(20) }
  local function motion(t) -- and up and down by a fifth of it
    local s, c = a * math.sin(w * t), a * w * math.cos(w * t)
    return { xyz = { s, 0, s / 5 } }, { linear = { c, 0, c / 5 } }
  end
  local plate = world:box { size = { 4, 4, 0.2 } }
  plate:kinematic(motion)
  local box = world:box { size = { 0.2, 0.2, 0.1 }, mass = 3, xyz = { 0, 0, 0.15 }, velocity = { linear = { a * w, 0, a * w / 5 } } }
  local rope = world:cable { points = { { 1, 1, 0.3 }, { 1, 1, 1.3 } }, segments = 4, radius = 0.01, young = 1e6, damping = 1e-3, attach = { link = plate, nodes = "start" }, pinned = "end" }
  world:contact_material { mu = 0.5 }
  for _ in world:run { seconds = 1 } do end
  local x = a * math.sin(w)
  stn.near(plate:position()[1], x, 1e-12, "plate")
  stn.near(box:position()[1], x, 2e-3, "box")
  stn.near(box:position()[3], 0.15 + x / 5, 1e-5, "its height")
  stn.near(rope:position(1), { 1 + x, 1, 0.3 + x / 5 }, 1e-12, "lower end of the rope")
  stn.near(rope:position(5), { 1, 1, 1.3 }, 1e-12, "upper end")
end)

stn.test("what is attached to a body in uniform motion goes along without strain", function()
  local world = stn.world { dt = 0.01, integrator = xpbd(10), gravity = { 0, 0, 0 } }
  local hand = world:box { size = { 0.1, 0.1, 0.1 }, mask = 0 }
  hand:kinematic(function(t) return { xyz = { 0.5 * t, 0, 0 } }, { linear = { 0.5, 0, 0 } } end)
  local rope = world:cable { points = { { 0, 0, 0 }, { 0.2, 0, 0 } }, segments = 3, radius = 0.01, young = 1e6, attach = { link = hand, nodes = "start" } }
  local v = {}
  for i = 1, 6 * 4 do v[i] = i % 6 == 1 and 0.5 or 0 end
  world:set_state { v = v }
  for _ in world:run { seconds = 0.5 } do
    stn.near(rope:attachment_force(hand), { 0, 0, 0 }, 1e-9, "force of the hand")
  end
  for i = 1, 4 do stn.near(rope:position(i), { 0.25 + 0.2 * (i - 1) / 3, 0, 0 }, 1e-12, "node " .. i) end
end)

stn.test("a body hangs on nodes, and the fixture carries all of it", function()
  local world = stn.world { dt = 5e-3, integrator = xpbd(40) }
  local box = world:box { size = { 0.05, 0.05, 0.05 }, mass = 0.2, xyz = { 0, 0, 0.6 } }
  local rope = world:cable { points = { { 0, 0, 1 }, { 0, 0, 0.6 } }, segments = 4, radius = 0.01, young = 1e6, density = 1000, damping = 2e-3, pinned = "start", attach = { link = box, nodes = "end" } }
  for _ in world:run { seconds = 2 } do end
  local weight = g * (0.2 + rope:mass())
  stn.near(rope:attachment_force "world", { 0, 0, weight }, 2e-3 * weight, "at the fixture")
  stn.near(rope:attachment_force(box), { 0, 0, -0.2 * g }, 4e-3 * weight, "at the box")
  local stretch = (0.2 + rope:mass() / 2) * g * 0.4 / (1e6 * math.pi * 1e-4)
  stn.near(box:position()[3], 0.6 - stretch, 0.2 * stretch, "E A stretch")
end)

stn.test("a robot holds its posture by motors with limits", function()
  local function droop(integrator)
    local world = stn.world { dt = 5e-3, integrator = integrator }
    local arm = world:load { "models/panda/panda.urdf", name = "arm", fixed = true }
    local posture = { panda_joint2 = 0.4, panda_joint4 = -2.0, panda_joint6 = 2.4 }
    arm:set_q(posture)
    world:controller { "joint_pd", target = arm, kp = 600, kd = 60 }:set { position = posture }
    for _ in world:run { seconds = 2 } do end
    return arm:q()
  end
  local exact, sub = droop "symplectic_euler", droop(xpbd(20))
  for i, q in ipairs(exact) do stn.near(sub[i], q, 1e-3, "joint " .. i) end
end)

stn.test("an overlap at the start is undone at push_speed at most", function()
  local function rise(push_speed)
    local world = stn.world { dt = 0.01, integrator = xpbd(20, push_speed), gravity = { 0, 0, 0 } }
    world:ground {}
    local ball = world:sphere { radius = 0.1, xyz = { 0, 0, 0.08 } }
    for _ in world:run { steps = 5 } do end
    return ball:velocity().linear[3]
  end
  stn.near(rise(0.1), 0.1, 1e-9, "0.1 m/s")
  stn.near(rise(0.4), 0.4, 1e-9, "0.4 m/s")
  stn.near(rise(1e9), 0.02 / (0.01 / 20), 1e-6, "within a sub-step")
end)

stn.test("a compliant contact carries a ball at m g/k", function()
  local world = stn.world { dt = 0.01, integrator = xpbd(20) }
  world:ground {}
  local ball = world:sphere { radius = 0.1, mass = 2, xyz = { 0, 0, 0.1 } }
  world:contact_material { stiffness = 2e3, relaxation_time = 0.02 }
  for _ in world:run { seconds = 2 } do end
  stn.near(ball:position()[3], 0.1 - 2 * g / 2e3, 1e-6, "height")
end)

stn.test("steps repeat to the last bit, also after a snapshot and in a clone", function()
  local function make()
    local world = stn.world { dt = 0.01, integrator = xpbd(10) }
    world:ground { mu = 0.5 }
    local cable = world:cable { points = { { 0, 0, 0.3 }, { 0.3, 0, 0.3 } }, segments = 10, radius = 0.01, young = 1e5, pinned = "start" }
    world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0.2, 0.02, 0.06 }, rpy = { 0.1, 0.2, 0 } }
    return world, cable
  end
  local function run(world, steps)
    for _ in world:run { steps = steps } do end
    local state = world:state()
    return table.concat(state.q, " ") .. table.concat(state.v, " ")
  end
  local world, again = make(), make()
  run(world, 20)
  local snapshot = world:snapshot()
  local clone = world:clone()
  local ended = run(world, 20)
  assert(run(again, 40) == ended, "a second run")
  assert(run(clone, 20) == ended, "a clone")
  world:restore(snapshot)
  assert(run(world, 20) == ended, "after a snapshot")
end)

stn.test("stiction = true changes nothing", function()
  local ends = {}
  for _, stiction in ipairs { false, true } do
    local world <close> = stn.world { dt = 0.01, integrator = "xpbd", stiction = stiction }
    world:ground { mu = 0.5, rpy = { 0, 0.2, 0 } }
    world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, rpy = { 0, 0.2, 0 }, xyz = { 0.05 * math.sin(0.2), 0, 0.05 * math.cos(0.2) } }
    for _ in world:run { seconds = 0.5 } do end
    ends[#ends + 1] = world:state()
  end
  stn.near(ends[1].q, ends[2].q, 0)
  stn.near(ends[1].v, ends[2].v, 0)
end)
