-- SPDX-License-Identifier: Apache-2.0
-- Rolling and torsional friction (constraint "rolling") against closed forms, by every solver.
local stn = require "stiction"

local solvers = { "sap", "nsgs", "newton_ncp", "ipm", "admm", "bisection", "apgd", "auto" }
local G, RADIUS, MASS = 9.81, 0.05, 0.5

local function tight(name)
  return { name, tolerance = 1e-10, max_iterations = 2000 }
end

local function near(value, expected, relative, what)
  stn.near(value, expected, relative * math.abs(expected), what)
end

--- A round body that touches the plane z = 0, moving along x by `speed` without slip and spinning by `spin` about z.
local function roller(world, shape, speed, spin)
  local velocity = { linear = { speed, 0, 0 }, angular = { 0, speed / RADIUS, spin or 0 } }
  if shape == "sphere" then
    return world:sphere { radius = RADIUS, mass = MASS, xyz = { 0, 0, RADIUS }, velocity = velocity }, 2 / 5
  end
  return world:cylinder { radius = RADIUS, length = 0.1, mass = MASS, velocity = velocity,
    pose = { xyz = { 0, 0, RADIUS }, rpy = { math.pi / 2, 0, 0 } } }, 1 / 2
end

--- Runs until `speed()` is below a thousandth of what it was; the time, or an error after `limit` seconds.
local function stops(world, speed, limit)
  local first = speed()
  for _ in world:run { seconds = limit } do
    if speed() < 1e-3 * first then return world.time end
  end
  error(("does not stop within %g s"):format(limit))
end

-- ------------------------------------------------------------------------------------------------ distance and time

for _, solver in ipairs(solvers) do
  for _, shape in ipairs { "sphere", "cylinder" } do
    stn.test(("a %s stops after v^2 r (1 + I/m r^2) / (2 b g): %s"):format(shape, solver), function()
      for _, dt in ipairs { 5e-3, 1e-3 } do
        local speed, b = 1, 0.002
        local world = stn.world { dt = dt, solver = tight(solver) }
        world:ground { mu = 0.8 }
        local body, c = roller(world, shape, speed)
        world:constraint { "rolling", links = { body }, rolling = b }
        local slowing = b * G / RADIUS / (1 + c)
        local energy = world:energy().total
        for _ in world:run { seconds = 1.1 * speed / slowing } do
          local now = world:energy().total
          assert(now <= energy + 1e-9, "energy rises")
          energy = now
        end
        near(body:position()[1], speed ^ 2 / (2 * slowing), 0.01, "distance at dt = " .. dt)
        stn.near(body:speed(), 0, 1e-9, "it stands")
      end
    end)
  end

  stn.test("a sphere spins down after I omega / (t m g): " .. solver, function()
    for _, dt in ipairs { 5e-3, 1e-3 } do
      local spin, t = 20, 0.001
      local world = stn.world { dt = dt, solver = tight(solver) }
      world:ground { mu = 0.8 }
      local ball, c = roller(world, "sphere", 0, spin)
      world:constraint { "rolling", links = { ball }, torsional = t }
      local time = c * RADIUS ^ 2 * spin / (t * G)
      near(stops(world, function() return math.abs(ball:velocity().angular[3]) end, 1.5 * time), time, 0.01, "time")
      stn.near(ball:position()[1], 0, 1e-9, "it stays")
    end
  end)

  stn.test("a disc on a face spins down after I omega / (t m g): " .. solver, function()
    local spin, t = 20, 0.002
    local world = stn.world { dt = 1e-3, solver = tight(solver) }
    world:ground { mu = 0 } -- the sliding of the face would brake too
    local disc = world:cylinder { radius = 0.1, length = 0.02, mass = MASS, xyz = { 0, 0, 0.01 },
      velocity = { angular = { 0, 0, spin } } }
    world:constraint { "rolling", links = { disc }, torsional = t }
    local time = 0.5 * 0.1 ^ 2 * spin / (t * G)
    near(stops(world, function() return disc:velocity().angular[3] end, 1.5 * time), time, 0.01, "time")
  end)

  stn.test("rolling and spinning at once: each as alone: " .. solver, function()
    local speed, spin, b, t = 0.5, 10, 0.002, 0.0005
    local world = stn.world { dt = 1e-3, solver = tight(solver) }
    world:ground { mu = 0.8 }
    local ball, c = roller(world, "sphere", speed, spin)
    world:constraint { "rolling", links = { ball }, rolling = b, torsional = t }
    local slowing, time = b * G / RADIUS / (1 + c), c * RADIUS ^ 2 * spin / (t * G)
    near(stops(world, function() return ball:velocity().angular[3] end, 1.5 * time), time, 0.01, "time of the spin")
    for _ in world:run { seconds = speed / slowing } do end
    near(ball:position()[1], speed ^ 2 / (2 * slowing), 0.01, "distance")
  end)
end

stn.test("the distance is the same by every solver, law and integrator", function()
  local worlds = {}
  for _, solver in ipairs { "pgs", "admm_ncp", "admm_split", "admm_split_ncp", "lemke", "soft_step" } do
    worlds[#worlds + 1] = { solver = solver }
  end
  for _, law in ipairs { "lagged", "similar", "lagged_regularized", "hertz" } do worlds[#worlds + 1] = { law = law } end
  for _, integrator in ipairs { "midpoint", "implicit_euler" } do
    worlds[#worlds + 1] = { integrator = integrator }
    worlds[#worlds + 1] = { integrator = integrator, solver = "nsgs" }
  end
  worlds[#worlds + 1] = { stiction = true }
  for _, options in ipairs(worlds) do
    local name = options.solver or options.law or options.integrator or "stiction"
    options.dt = 1e-3
    local world = stn.world(options)
    world:ground { mu = 0.8 }
    local ball, c = roller(world, "sphere", 1)
    world:constraint { "rolling", links = { ball }, rolling = 0.005 }
    local slowing = 0.005 * G / RADIUS / (1 + c)
    for _ in world:run { seconds = 1.1 / slowing } do end
    near(ball:position()[1], 1 / (2 * slowing), 0.01, name)
  end
end)

-- ------------------------------------------------------------------------------------------------------- at rest

for _, solver in ipairs(solvers) do
  stn.test("a ball on a slope stays below tan(a) = b / r and rolls above: " .. solver, function()
    local b = 0.005
    for _, direction in ipairs { 0, 0.6, 2.2, 4.1 } do -- the bound has no corners
      for _, part in ipairs { 0.98, 1.02 } do
        local angle = math.atan(part * b / RADIUS)
        local world = stn.world { dt = 1e-3, solver = tight(solver), gravity = {
          G * math.sin(angle) * math.cos(direction), G * math.sin(angle) * math.sin(direction), -G * math.cos(angle) } }
        world:ground { mu = 0.8 }
        local ball, c = roller(world, "sphere", 0)
        world:constraint { "rolling", links = { ball }, rolling = b }
        for _ in world:run { seconds = 0.1 } do end
        local before = ball:velocity().linear
        for _ in world:run { seconds = 1 } do end
        local after = ball:velocity().linear
        local gained = {}
        for i = 1, 2 do gained[i] = after[i] - before[i] end
        local expected = part > 1 and G * (math.sin(angle) - b / RADIUS * math.cos(angle)) / (1 + c) or 0
        local along = gained[1] * math.cos(direction) + gained[2] * math.sin(direction)
        stn.near(along, expected, 0.01 * expected + 1e-5, ("at %g of the angle, direction %g"):format(part, direction))
        stn.near(gained[2] * math.cos(direction) - gained[1] * math.sin(direction), 0, 1e-5, "across")
      end
    end
  end)
end

stn.test("a slope that tilts slowly lets the ball go at tan(a) = b / r", function()
  local b = 0.005
  for _, direction in ipairs { 0, 0.6 } do
    local world = stn.world { dt = 1e-3, solver = tight "sap" }
    world:ground { mu = 0.8 }
    local ball = roller(world, "sphere", 0)
    world:constraint { "rolling", links = { ball }, rolling = b }
    local gone
    for _ in world:run { seconds = 2.4 } do
      local angle = 0.08 + 0.01 * world.time
      world:set_gravity { G * math.sin(angle) * math.cos(direction), G * math.sin(angle) * math.sin(direction),
        -G * math.cos(angle) }
      gone = gone or (ball:speed() > 1e-4 and world.time > 0.05 and math.tan(angle))
    end
    near(gone or 0, b / RADIUS, 0.01, "slope, direction " .. direction)
  end
end)

stn.test("a ball at rest stays at rest, to the bit of its place", function()
  for _, solver in ipairs(solvers) do
    local world = stn.world { dt = 1e-3, solver = tight(solver) }
    world:ground {}
    local ball = roller(world, "sphere", 0)
    world:constraint { "rolling", links = { ball }, rolling = 0.001, torsional = 0.001 }
    for _ in world:run { seconds = 1 } do end
    stn.near(ball:position()[1], 0, 1e-12, solver)
    stn.near(ball:position()[2], 0, 1e-12, solver)
    stn.near(ball:velocity().angular, { 0, 0, 0 }, 1e-9, solver)
  end
end)

-- A load across the way turns the way: the torque points against the turn, as friction does against a slip.
stn.test("a ball that rolls across a slope is bent down by all of its weight", function()
  local speed, b, down = 1, 0.002, 0.3
  local world = stn.world { dt = 1e-3, solver = tight "sap", gravity = { 0, down, -G } }
  world:ground { mu = 0.8 }
  local ball, c = roller(world, "sphere", speed)
  world:constraint { "rolling", links = { ball }, rolling = b }
  for _ in world:run { seconds = 1 } do end
  local vx, vy, n = speed, 0, 100000 -- v' = (load - b g/r v/|v|) / (1 + c), by the midpoint rule
  local brake = b * G / RADIUS
  for _ = 1, n do
    local function rate(x, y)
      local s = math.sqrt(x * x + y * y)
      return -brake * x / s / (1 + c), (down - brake * y / s) / (1 + c)
    end
    local ax, ay = rate(vx, vy)
    ax, ay = rate(vx + 0.5 / n * ax, vy + 0.5 / n * ay)
    vx, vy = vx + ax / n, vy + ay / n
  end
  near(ball:velocity().linear[1], vx, 0.002, "along")
  near(ball:velocity().linear[2], vy, 0.002, "across")
end)

-- ------------------------------------------------------------------------------------------------ where it acts

for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm", "admm" } do
  stn.test("two free balls, pressed together: their momentum stays, the turn between them ends: " .. solver, function()
    local force, t, spin = 50, 0.001, 30
    local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = tight(solver) }
    local a = world:sphere { radius = RADIUS, mass = MASS, xyz = { 0, 0, 0 }, velocity = { angular = { 0, 0, spin } } }
    local b = world:sphere { radius = RADIUS, mass = 2 * MASS, xyz = { 0, 0, 2 * RADIUS } }
    local pull = world:constraint { "tendon", path = { { a, { 0, 0, 0 } }, { b, { 0, 0, 0 } } } }
    world:constraint { "rolling", links = { a, b, a }, among = true, torsional = t }
    pull:set { tension = force }
    local before = world:momentum()
    local function apart() return a:velocity().angular[3] - b:velocity().angular[3] end
    local one, two = 0.4 * MASS * RADIUS ^ 2, 0.8 * MASS * RADIUS ^ 2
    local time = spin / (t * force * (1 / one + 1 / two))
    near(stops(world, apart, 2 * time), time, 0.01, "time")
    near(b:velocity().angular[3], spin * one / (one + two), 0.002, "common spin")
    stn.near(world:momentum().linear, before.linear, 1e-10, "linear momentum")
    stn.near(world:momentum().angular, before.angular, 1e-10, "angular momentum")
  end)
end

-- Rolling against each other, the balls turn about each other too: momentum is kept in the order of dt, as contacts keep it.
stn.test("balls that roll on each other: rolling friction adds nothing to the momentum", function()
  local function run(b)
    local world = stn.world { dt = 1e-4, gravity = { 0, 0, 0 }, solver = tight "nsgs" }
    local one = world:sphere { radius = RADIUS, mass = MASS, xyz = { 0, 0, 0 }, velocity = { angular = { 9, 5, 8 } } }
    local two = world:sphere { radius = RADIUS, mass = 2 * MASS, xyz = { 0, 0, 2 * RADIUS } }
    local pull = world:constraint { "tendon", path = { { one, { 0, 0, 0 } }, { two, { 0, 0, 0 } } } }
    if b > 0 then world:constraint { "rolling", links = { one, two }, rolling = b, torsional = b } end
    pull:set { tension = 50 }
    local before, energy = world:momentum(), world:energy().total
    for _ in world:run { seconds = 0.2 } do end
    local after, lost = world:momentum(), {}
    for i = 1, 3 do lost[i] = after.angular[i] - before.angular[i] end
    stn.near(after.linear, before.linear, 1e-10, "linear momentum")
    return lost, world:energy().total - energy
  end
  local plain = run(0)
  local lost, energy = run(0.001)
  for i = 1, 3 do stn.near(lost[i], plain[i], 1e-5, "angular momentum " .. i) end
  assert(energy < 0)
end)

for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm", "admm" } do
  stn.test("a ball that rolls off a table keeps its turn in the air: " .. solver, function()
    local world = stn.world { dt = 1e-3, solver = tight(solver) }
    world:box { size = { 1, 1, 0.1 }, xyz = { -0.4, 0, -0.05 }, fixed = true }
    local ball = roller(world, "sphere", 1, 5)
    world:constraint { "rolling", links = { ball }, rolling = 0.01, torsional = 0.01 }
    local turn, brake
    for _ in world:run { seconds = 0.3 } do
      local omega = ball:velocity().angular
      if ball:position()[3] < RADIUS - 0.03 then
        turn = turn or omega
        stn.near(omega, turn, 1e-12, "in the air")
      else
        brake = omega
      end
    end
    assert(turn and turn[2] > 1, "it fell while it turned")
    assert(brake[3] < 4, "the table braked it")
  end)
end

-- The bound is that of the step before: all impulses of a contact count but that of its last step.
stn.test("a ball that bounces softly is braked by all of the ground's impulses", function()
  local t, spin = 0.001, 60
  local world = stn.world { dt = 2e-4, solver = tight "sap" }
  world:ground { mu = 0.8, stiffness = 2e4, relaxation_time = 1e-3 }
  local ball = world:sphere { radius = RADIUS, mass = MASS, xyz = { 0, 0, RADIUS + 0.2 },
    velocity = { angular = { 0, 0, spin } } }
  world:constraint { "rolling", links = { ball }, torsional = t }
  for _ in world:run { seconds = 3 } do end -- it lies: the ground gave back what gravity took
  near(spin - ball:velocity().angular[3], t * G * MASS * 3 / (0.4 * MASS * RADIUS ^ 2), 0.01, "spin lost")
end)

stn.test("a bounce of one step does not brake, and what is left of it does not act in the air", function()
  local world = stn.world { dt = 1e-3, solver = tight "nsgs" }
  world:ground { restitution = 0.7 }
  local ball = world:sphere { radius = RADIUS, mass = MASS, restitution = 0.7, xyz = { 0, 0, RADIUS + 0.2 },
    velocity = { angular = { 0, 0, 60 } } }
  world:constraint { "rolling", links = { ball }, torsional = 0.001 }
  for _ in world:run { seconds = 0.4 } do end
  stn.near(ball:velocity().angular[3], 60, 1e-9, "spin")
end)

-- Contacts of a surface of triangles are new in each of them.
stn.test("a ball on a height field stops where it does on a plane", function()
  local speed, b = 0.5, 0.002
  local world = stn.world { dt = 1e-3, solver = tight "sap" }
  world:height_field { size = { 4, 1 }, rows = 21, columns = 201, heights = function() return 0 end, mu = 0.8 }
  local ball, c = roller(world, "sphere", speed)
  world:constraint { "rolling", links = { ball }, rolling = b }
  local slowing = b * G / RADIUS / (1 + c)
  for _ in world:run { seconds = 1.1 * speed / slowing } do end
  near(ball:position()[1], speed ^ 2 / (2 * slowing), 0.01, "distance")
end)

stn.test("the faces of a patch brake as one contact with all of their force", function()
  local t, spin = 0.002, 20
  local world = stn.world { dt = 1e-3, solver = tight "sap", contact = "hydroelastic" }
  world:ground { mu = 0 }
  local brick = world:box { size = { 0.1, 0.08, 0.06 }, mass = 0.4, modulus = 5e4, mu = 0, relaxation_time = 0.02,
    xyz = { 0, 0, 0.0297 }, velocity = { angular = { 0, 0, spin } } }
  world:constraint { "rolling", links = { brick }, torsional = t }
  local inertia = 0.4 / 12 * (0.1 ^ 2 + 0.08 ^ 2)
  local time = inertia * spin / (t * 0.4 * G)
  near(stops(world, function() return brick:velocity().angular[3] end, 1.5 * time), time, 0.01, "time")
end)

stn.test("a turntable takes a ball along in I omega / (t m g)", function()
  local t, spin = 0.001, 10
  for _, solver in ipairs { "sap", "nsgs" } do
    local world = stn.world { dt = 1e-3, solver = tight(solver) }
    local table = world:cylinder { radius = 0.5, length = 0.1 }
    table:kinematic(function(time)
      return { xyz = { 0, 0, -0.05 }, rpy = { 0, 0, spin * time } }, { linear = { 0, 0, 0 }, angular = { 0, 0, spin } }
    end)
    local ball, c = roller(world, "sphere", 0)
    world:constraint { "rolling", a = ball, torsional = t }
    local time = c * RADIUS ^ 2 * spin / (t * G)
    near(stops(world, function() return spin - ball:velocity().angular[3] end, 2 * time), time, 0.01, "time")
    for _ in world:run { seconds = 0.1 } do end
    local work = 0
    for step in world:run { seconds = 0.1 } do work = work + step.input_work_J end
    stn.near(work, 0, 1e-9, "no work at the same turn")
  end
end)

stn.test("it acts on contacts of the links that are named, and between them with `among`", function()
  local function spin_after(settings)
    local world = stn.world { dt = 1e-3, solver = tight "sap" }
    local floor = world:box { size = { 1, 1, 0.1 }, xyz = { 0, 0, -0.05 }, fixed = true }
    local ball = roller(world, "sphere", 0, 10)
    local other = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0.3, 0, 0.05 } }
    local links = { ball = ball, floor = floor, other = other, world = "world" }
    for i, name in ipairs(settings.links) do settings.links[i] = links[name] end
    settings[1], settings.torsional = "rolling", 0.001
    world:constraint(settings)
    for _ in world:run { seconds = 0.2 } do end
    return ball:velocity().angular[3]
  end
  local braked = spin_after { links = { "ball" } }
  assert(braked < 9, "braked")
  stn.near(spin_after { links = { "floor" } }, braked, 1e-9, "by the floor")
  stn.near(spin_after { links = { "floor", "ball" }, among = true }, braked, 1e-9, "between the two")
  stn.near(spin_after { links = { "world", "ball" }, among = true }, braked, 1e-9, "a fixed link is the world")
  stn.near(spin_after { links = { "other" } }, 10, 1e-9, "another one")
  stn.near(spin_after { links = { "other", "ball" }, among = true }, 10, 1e-9, "not between these two")
  stn.near(spin_after { links = { "other", "world" } }, 10, 1e-9, "the world alone is not enough")
end)

stn.test("a snapshot and a clone go on as the world does", function()
  local world = stn.world { dt = 1e-3 }
  world:ground {}
  local ball = roller(world, "sphere", 1, 5)
  world:constraint { "rolling", links = { ball }, rolling = 0.002, torsional = 0.001 }
  for _ in world:run { steps = 20 } do end
  local snapshot, clone = world:snapshot(), world:clone()
  for _ in world:run { steps = 20 } do end
  local hash = world:hash()
  for _ in clone:run { steps = 20 } do end
  assert(clone:hash() == hash, "clone")
  world:restore(snapshot)
  for _ in world:run { steps = 20 } do end
  assert(world:hash() == hash, "snapshot")
end)

stn.test("what is wrong is said", function()
  local function refused(text, settings)
    local world = stn.world { dt = 1e-3 }
    local ball = roller(world, "sphere", 0)
    if settings.links then settings.links[#settings.links + 1] = settings.ball ~= false and ball or "world" end
    settings.ball, settings[1] = nil, "rolling"
    local ok, message = pcall(function()
      world:constraint(settings)
      world:step()
    end)
    assert(not ok and tostring(message):find(text, 1, true), tostring(message))
  end
  refused("rolling and torsional are both 0", { links = {} })
  refused("names the world alone", { links = {}, rolling = 1, ball = false })
  refused("needs two links", { links = {}, rolling = 1, among = true })
  refused("must be a finite number", { links = {}, rolling = math.huge })
  refused("rolling = -1", { links = {}, rolling = -1 })
  refused("links and a are two ways", { links = {}, a = "world", rolling = 1 })
  refused("rollin", { links = {}, rollin = 1 })
  refused("names the world alone", { a = "world", rolling = 1 })
end)
