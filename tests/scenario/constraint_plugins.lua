-- SPDX-License-Identifier: Apache-2.0
-- Constraints of plugins (spring, tendon, bushing) against closed forms, by every solver.
local stn = require "stiction"
local worse = require "worse"
local files <close> = require "files"()

local solvers = { "sap", "nsgs", "newton_ncp", "ipm", "admm", "apgd" }

local function tight(name)
  return { name, tolerance = 1e-10, max_iterations = 2000 }
end

local function near(value, expected, relative, what)
  stn.near(value, expected, relative * math.abs(expected), what)
end

local function box(world, mass, xyz)
  return world:box { size = { 0.1, 0.1, 0.1 }, mass = mass, xyz = xyz }
end

-- --------------------------------------------------------------------------------------------------------- springs

for _, solver in ipairs(solvers) do
  stn.test("two boxes on a spring swing at sqrt(k/mu) and keep their momentum: " .. solver, function()
    local m1, m2, k, rest, stretch = 1, 3, 300, 0.9, 0.1
    local world = stn.world { dt = 1e-4, gravity = { 0, 0, 0 }, solver = tight(solver) }
    local a, b = box(world, m1, { 0, 0, 0 }), box(world, m2, { 1, 0, 0 })
    local spring = world:constraint { "spring", a = a, b = b, stiffness = k, length = rest, name = "tie" }
    local omega = math.sqrt(k * (m1 + m2) / (m1 * m2))
    for step in world:run { seconds = 0.25 * math.pi / omega } do end -- an eighth of a swing
    local apart = b:position()[1] - a:position()[1] - rest
    near(apart, stretch * math.cos(omega * world.time), 0.01, "stretch")
    near(spring:force(), -k * apart, 0.01, "force")
    stn.near(world:momentum().linear, { 0, 0, 0 }, 1e-9, "linear momentum")
    assert(spring.type == "spring" and spring.name == "tie")
  end)
end

stn.test("a skew spring keeps angular momentum too", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = tight "sap" }
  local a, b = box(world, 1, { 0, 0, 0 }), box(world, 2, { 1, 0.3, 0.2 })
  world:constraint { "spring", a = a, b = b, a_point = { 0.05, 0.02, 0 }, b_point = { 0, -0.05, 0.03 }, stiffness = 400,
    damping = 3, length = 0.8 }
  local before = world:momentum().angular
  for _ in world:run { steps = 500 } do end
  stn.near(world:momentum().linear, { 0, 0, 0 }, 1e-11, "linear momentum")
  assert(a:speed() > 0.1, "it moves")
  stn.near(world:momentum().angular, before, 1e-12, "angular momentum")
end)

stn.test("a weight sags by m g / k on a spring to the world", function()
  local world = stn.world { dt = 1e-3, solver = tight "sap" }
  local a = box(world, 2, { 0, 0, 0 })
  local spring = world:constraint { "spring", a = a, b_point = { 0, 0, 1 }, stiffness = 500, damping = 60 }
  for _ in world:run { seconds = 3 } do end
  near(-a:position()[3], 2 * 9.81 / 500, 1e-6, "sag")
  near(spring:force(), -2 * 9.81, 1e-6, "force")
end)

stn.test("a damper alone slows as exp(-d t / m)", function()
  local world = stn.world { dt = 1e-4, gravity = { 0, 0, 0 }, solver = tight "sap" }
  local a = world:box { size = { 0.1, 0.1, 0.1 }, mass = 2, velocity = { 1, 0, 0 } }
  world:constraint { "spring", a = a, b_point = { -5, 0, 0 }, damping = 4 }
  for _ in world:run { seconds = 0.5 } do end
  near(a:velocity().linear[1], math.exp(-1), 0.01, "speed")
end)

for _, solver in ipairs(solvers) do
  stn.test("a spring that only pulls does nothing while it is slack: " .. solver, function()
    local world = stn.world { dt = 1e-4, gravity = { 0, 0, 0 }, solver = tight(solver) }
    local a = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, velocity = { 1, 0, 0 } }
    local band = world:constraint { "spring", a = a, b_point = { -1, 0, 0 }, stiffness = 400, length = 1.5,
      tension_only = true }
    for _ in world:run { seconds = 0.4 } do end
    stn.near(a:velocity().linear[1], 1, 1e-12, "free")
    stn.near(band:force(), 0, 1e-12, "slack")
    -- taut for half a swing from t = 0.5, then back at the speed with which it came
    for _ in world:run { seconds = 0.1 + math.pi / 20 + 0.05 } do end
    near(a:velocity().linear[1], -1, 0.01, "thrown back")
    stn.near(band:force(), 0, 1e-5, "slack again")
  end)
end

-- --------------------------------------------------------------------------------------------------------- tendons

-- Two boxes at the ends of a rope over fixed points above them: Atwood's machine.
for _, solver in ipairs(solvers) do
  stn.test("Atwood's machine: (m2 - m1) g / (m1 + m2): " .. solver, function()
    local world = stn.world { dt = 1e-3, solver = tight(solver) }
    local a, b = box(world, 1, { 0, 0, 0 }), box(world, 2, { 1, 0, 0 })
    local rope = world:constraint { "tendon", stiffness = 1e5, damping = 300,
      path = { { a, { 0, 0, 0 } }, { "world", { 0, 0, 2 } }, { "world", { 1, 0, 2 } }, { b, { 0, 0, 0 } } } }
    for _ in world:run { seconds = 0.5 } do end
    near(a:velocity().linear[3], 9.81 / 3 * 0.5, 0.01, "speed")
    near(b:velocity().linear[3], -9.81 / 3 * 0.5, 0.01, "speed of the other")
    near(rope:force(), -2 * 1 * 2 * 9.81 / 3, 0.01, "tension")
  end)
end

-- One cable through five free boxes: more trees than two.
local function five_boxes(solver, dt)
  local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, solver = solver }
  local boxes, path = {}, {}
  for i = 1, 5 do
    boxes[i] = box(world, i, { i, (i % 2) * 0.5, 0.1 * i })
    path[i] = { boxes[i], { 0, 0, 0 } }
  end
  path[6] = { boxes[2], { 0, 0, 0.05 } } -- a body twice
  local cable = world:constraint { "tendon", stiffness = 500, damping = 1, path = path, length = 5 }
  for _ in world:run { seconds = 0.2 } do end
  local velocities = {}
  for i = 1, 5 do
    for k = 1, 3 do velocities[#velocities + 1] = boxes[i]:velocity().linear[k] end
  end
  assert(math.abs(velocities[1]) > 0.1, "it moves")
  stn.near(world:momentum().linear, { 0, 0, 0 }, 1e-9, "linear momentum")
  assert(cable:force() < 0)
  return velocities
end

stn.test("a cable through five boxes: the same motion by every solver, momentum kept", function()
  local first
  for _, solver in ipairs { "sap", "nsgs", "pgs", "bisection", "newton_ncp", "ipm", "admm", "admm_split", "admm_ncp", "apgd", "auto" } do
    local velocities = five_boxes(tight(solver), 1e-3)
    first = first or velocities
    for i, v in ipairs(velocities) do stn.near(v, first[i], 1e-6, solver .. " " .. i) end
  end
end)

stn.test("a cable through five boxes: what sub-steps differ by falls with dt, momentum is kept", function()
  local function difference(dt)
    local exact, sub_stepped, most = five_boxes(tight "sap", dt), five_boxes("soft_step", dt), 0
    for i, v in ipairs(sub_stepped) do most = worse(most, math.abs(v - exact[i])) end
    return most
  end
  local coarse, fine = difference(1e-3), difference(1.25e-4)
  stn.check("difference at an eighth of dt, over that at dt", { value = fine / coarse, limit = 0.25, unit = "1" }) -- first order: 0.125
end)

-- Three links of inertia 0.01 kg m^2, each on a hinge of its own, and the arms of one tendon on them.
local arms = { 0.01, 0.008, -0.006 }

local function finger_and_tendon(solver, settings)
  local parts = { '<robot name="finger"><link name="base"/>' }
  for i = 1, 3 do
    parts[#parts + 1] = ([[<link name="l%d"><inertial><origin xyz="0 0 0"/><mass value="1"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j%d" type="continuous"><parent link="base"/><child link="l%d"/><axis xyz="0 0 1"/></joint>]]):format(i, i, i)
  end
  parts[#parts + 1] = "</robot>"
  local world = stn.world { dt = 2e-4, gravity = { 0, 0, 0 }, solver = tight(solver) }
  local finger = world:load { files:write(".urdf", table.concat(parts)), fixed = true }
  settings[1] = "tendon"
  settings.joints = { { finger, "j1", arms[1] }, { finger, "j2", arms[2] }, { "finger/j3", arms[3] } }
  return world, finger, world:constraint(settings)
end

for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm", "admm" } do
  stn.test("a motor's tension on three joints: torques r_j f: " .. solver, function()
    local world, finger, tendon = finger_and_tendon(solver, {})
    tendon:set { tension = 20 }
    for _ in world:run { seconds = 0.1 } do end
    near(tendon:force(), -20, 1e-6, "force")
    for i = 1, 3 do
      near(finger:joint("j" .. i):velocity(), -20 * arms[i] / 0.01 * 0.1, 1e-6, "joint " .. i)
    end
  end)

  stn.test("an elastic tendon over three joints swings at sqrt(k sum r^2 / I): " .. solver, function()
    local k, stretch = 4000, 0.01
    local world, finger, tendon = finger_and_tendon(solver, { stiffness = k })
    tendon:set { length = -stretch }
    local omega = math.sqrt(k * (arms[1] ^ 2 + arms[2] ^ 2 + arms[3] ^ 2) / 0.01)
    for _ in world:run { seconds = 0.25 * math.pi / omega } do end
    local length = 0
    for i = 1, 3 do length = length + arms[i] * finger:joint("j" .. i):position() end
    near(length, stretch * (math.cos(omega * world.time) - 1), 0.02, "length")
    near(tendon:force(), -k * stretch * math.cos(omega * world.time), 0.01, "tension")
    for i = 2, 3 do
      near(finger:joint("j" .. i):position() / finger:joint("j1"):position(), arms[i] / arms[1], 1e-6, "joint " .. i)
    end
  end)
end

-- -------------------------------------------------------------------------------------------------------- bushings

for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm", "admm", "apgd", "soft_step" } do
  -- beyond some 4e6 N/m a step of 10 ms moves 0.1 kg too far, and the cable is softer: its motor is not
  stn.test("two motors against each other pull with their mean, however stiff their cables are: " .. solver, function()
    for _, k in ipairs { 1e3, 1e7, 1e12 } do
      for _, damped in ipairs { 0, 0.02 } do
        local world = stn.world { dt = 0.01, gravity = { 0, 0, 0 }, solver = solver == "soft_step" and solver or tight(solver) }
        local a, cables = box(world, 0.1, { 0, 0, 0 }), {}
        for i, side in ipairs { -1, 1 } do
          cables[i] = world:constraint { "tendon", stiffness = k, damping = k * damped, path = { { a, { 0, 0, 0 } }, { "world", { side, 0, 0 } } } }
        end
        cables[1]:set { tension = 20 }
        cables[2]:set { tension = 20 }
        world:step()
        local close = solver == "soft_step" and 0.01 or 1e-6 -- its few sweeps come from one side
        if solver ~= "soft_step" then
          near(cables[1]:force(), -20, 1e-6, "of the first step")
          near(cables[2]:force(), -20, 1e-6, "of the other side")
        end
        cables[2]:set { tension = 12 }
        for _ in world:run { steps = 400 } do end
        near(cables[1]:force(), -16, close, "at rest") -- k x = (20 - 12)/2
        near(cables[2]:force(), -16, close, "of the other side, at rest")
        if k == 1e3 then near(a:position()[1], -4 / k, 1e-6, "it moves") end
      end
    end
  end)

  stn.test("what a damper holds creeps as exp(-t/tau), also where the step cannot hold its stiffness: " .. solver, function()
    for _, k in ipairs { 1e4, 1e7, 1e10 } do
      local world = stn.world { dt = 0.01, gravity = { 0, 0, 0 }, solver = solver == "soft_step" and solver or tight(solver) }
      local a, tau, steps = box(world, 0.1, { 0, 0, 1.1 }), 0.5, 50
      world:constraint { "spring", a = a, b_point = { 0, 0, 0 }, stiffness = k, damping = k * tau, length = 1 }
      for _ in world:run { steps = steps } do end
      local n = solver == "soft_step" and 4 or 1 -- its sub-steps
      near(a:position()[3] - 1, 0.1 * (1 + world.dt / n / tau) ^ (-n * steps), 1e-5, "k = " .. k)
    end
  end)
end

stn.test("a bushing gives way by force and torque over its stiffness in each direction", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = tight "sap" }
  local a = box(world, 1, { 0, 0, 0 })
  local k, kappa = { 1000, 2000, 4000 }, { 20, 30, 40 }
  world:constraint { "bushing", a = a, force_stiffness = k, torque_stiffness = kappa, force_damping = { 60, 60, 60 },
    torque_damping = { 0.5, 0.5, 0.5 } }
  a:apply_force { force = { 1, 2, 3 } }
  for _ in world:run { seconds = 3 } do end
  local at = a:position()
  for i = 1, 3 do near(at[i], i / k[i], 1e-3, "direction " .. i) end
end)

stn.test("a bushing turned by a constant torque about one axis rests at torque over stiffness", function()
  for axis = 1, 3 do
    local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = tight "sap" }
    local a = box(world, 1, { 0, 0, 0 })
    world:constraint { "bushing", a = "world", b = a, force_stiffness = { 1000, 1000, 1000 }, force_damping = { 60, 60, 60 },
      torque_stiffness = { 20, 30, 40 }, torque_damping = { 0.5, 0.5, 0.5 } }
    local torque = { 0, 0, 0 }
    torque[axis] = 5
    a:apply_force { torque = torque }
    for _ in world:run { seconds = 5 } do end
    near(a:pose().rpy[axis], 5 / (10 + 10 * axis), 1e-5, "angle " .. axis)
  end
end)

-- ---------------------------------------------------------------------------------------------------------- errors

stn.test("what is wrong is said", function()
  local function refused(text, setting)
    local world = stn.world { dt = 1e-3 }
    local a = box(world, 1, { 0, 0, 0 })
    setting.a = setting.a or a
    local ok, message = pcall(function()
      world:constraint(setting)
      world:step()
    end)
    assert(not ok and tostring(message):find(text, 1, true), tostring(message))
  end
  refused("stiffness and damping are both 0", { "spring" })
  refused("both ends are the world; it needs two", { "spring", stiffness = 1, a = "world" })
  refused("three numbers", { "bushing", force_stiffness = { 1, 2 } })
  refused("sprnig", { "sprnig", stiffness = 1 })
end)

stn.test("numbers that would overflow are refused by name: a tiny stiffness, a huge factor, ratio or place", function()
  local function refused(text, describe)
    local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
    local a, b = box(world, 1, { 0, 0, 0 }), box(world, 1, { 9, 0, 0 })
    local path = files:write(".urdf", ([[<robot name="pair"><link name="base"/><link name="x">BODY</link><link name="y">BODY</link>
      <joint name="j" type="continuous"><parent link="base"/><child link="x"/></joint>
      <joint name="k" type="continuous"><parent link="x"/><child link="y"/></joint></robot>]]):gsub("BODY",
      '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'))
    local pair = world:load { path, fixed = true }
    local ok, message = pcall(function()
      world:constraint(describe(a, b, pair))
      world:step()
    end)
    assert(text and not ok and tostring(message):find(text, 1, true) or not text and ok, tostring(message))
  end
  for _, kind in ipairs { "weld", "ball", "spring" } do
    local function soft(k) return function(a, b) return { kind, name = "tie", a = a, b = b, stiffness = k } end end
    refused("constraint " .. kind .. " 'tie': stiffness = 1e-304 must be > 0 and at least 1e-100", soft(1e-304))
    refused(nil, soft(1e-100))
  end
  local function tendon(factor)
    return function(_, _, r) return { "tendon", stiffness = 1, joints = { { r, "j", 1 }, { r, "k", factor } } } end
  end
  refused("end 2: factor = 1e+200 must be from -1e+50 to 1e+50", tendon(1e200))
  refused(nil, tendon(-1e50))
  local function gear(ratio)
    return function(_, _, r) return { "gear", joints = { { r, "j" }, { r, "k" } }, ratio = ratio } end
  end
  refused("ratio = 1e+200", gear(1e200))
  refused(nil, gear(1e50))
  refused("a point, direction or axis is not finite or beyond 1e50", function(a, b)
    return { "spring", a = a, b = b, stiffness = 1, a_point = { 1e60, 0, 0 } }
  end)
end)

stn.test("a damper with next to no stiffness beside it is that damper: spring, tendon, bushing", function()
  local function speed_after(settings)
    local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
    local a = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 1 }, velocity = { linear = { 0, 0, 1 } } }
    settings.a = settings[1] ~= "tendon" and "world" or nil
    settings.b = settings[1] ~= "tendon" and a or nil
    settings.path = settings[1] == "tendon" and { { "world", { 0, 0, 0 } }, { a, { 0, 0, 0 } } } or nil
    world:constraint(settings)
    for _ = 1, 100 do world:step() end
    return a:velocity().linear[3]
  end
  for _, k in ipairs { 0, 1e-308, 1e-320 } do
    local expected = (1 + 20 * 1e-3) ^ -100 -- d = 20 N s/m, m = 1 kg, backward Euler
    stn.near(speed_after { "spring", stiffness = k, damping = 20, length = 0 }, expected, 1e-6 * expected, "spring")
    stn.near(speed_after { "tendon", stiffness = k, damping = 20, length = 0 }, expected, 1e-6 * expected, "tendon")
    stn.near(speed_after { "bushing", force_stiffness = { 0, 0, k }, force_damping = { 0, 0, 20 } }, expected, 1e-6 * expected, "bushing")
  end
end)

stn.test("a channel length below 0 is refused, but of a tendon over joints alone", function()
  local function with_length(length, settings)
    local world = stn.world { dt = 1e-3 }
    local a = box(world, 1, { 0, 0, 0 })
    settings.a, settings.path = settings[1] == "spring" and a or nil, settings.path and { { a, { 0, 0, 0 } }, { "world", { 0, 0, 1 } } }
    local constraint = world:constraint(settings)
    world:step()
    constraint:set { length = length }
    world:step()
  end
  for _, make in ipairs { function() return { "spring", stiffness = 100, b_point = { 0, 0, 1 } } end, function() return { "tendon", stiffness = 100, path = true } end } do
    stn.fails(function() with_length(-1, make()) end, "its channel length was set to -1 m: give a length >= 0")
    with_length(0, make())
  end
  local world, _, tendon = finger_and_tendon("sap", { stiffness = 100 })
  tendon:set { length = -0.01 }
  world:step()
  assert(tendon:force() < 0, "it pulls")
end)

-- ------------------------------------------------------------------------------------------------ energy, replicas

stn.test("what a kinematic body does by a spring is the energy that the box and the spring have", function()
  for _, integrator in ipairs { "symplectic_euler", "midpoint" } do
    local world = stn.world { dt = 1e-4, gravity = { 0, 0, 0 }, integrator = integrator, solver = tight "sap" }
    local hand, body = box(world, 1, { 1, 0, 0 }), box(world, 2, { 0, 0, 0 })
    hand:kinematic(function(t) return { xyz = { 1 + 0.2 * t * t, 0, 0 } } end)
    world:constraint { "spring", a = hand, b = body, stiffness = 200, length = 1 }
    local work = 0
    for step in world:run { seconds = 0.5 } do work = work + step.input_work_J end
    near(0.5 * 2 * body:velocity().linear[1] ^ 2 + world:energy().elastic, work, 0.001, integrator)
  end
end)

stn.test("a snapshot and a clone go on as the world does, its channels with them", function()
  local world = stn.world { dt = 1e-3 }
  local a, b, c = box(world, 1, { 0, 0, 0.5 }), box(world, 2, { 1, 0, 0.5 }), box(world, 3, { 2, 0, 0.5 })
  local tendon = world:constraint { "tendon", path = { { a, { 0, 0, 0 } }, { b, { 0, 0, 0 } }, { c, { 0, 0, 0 } } },
    stiffness = 1000, damping = 5 }
  local untouched = world:clone()
  tendon:set { tension = 5, length = 1.9 }
  for _ in world:run { steps = 50 } do end
  local snapshot, clone = world:snapshot(), world:clone()
  for _ in world:run { steps = 50 } do end
  local hash = world:hash()
  for _ in clone:run { steps = 50 } do end
  assert(clone:hash() == hash, "clone")
  world:restore(snapshot)
  for _ in world:run { steps = 50 } do end
  assert(world:hash() == hash, "snapshot")
  for _ in untouched:run { steps = 100 } do end
  assert(untouched:hash() ~= hash, "a channel of its own")
  local ok, message = pcall(function() tendon:set { pull = 1 } end)
  assert(not ok and tostring(message):find("there is no channel 'pull'; known: length, tension", 1, true), tostring(message))
end)

stn.test("a constraint that can move nothing is refused, whichever it is", function()
  local function refused(settings, moves, ends)
    local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
    world:ground {}
    local function hand(name, x)
      return world:box { name = name, size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { x, 0, 1 } }
    end
    local a, b = hand("a", 0), hand("b", 0.1)
    world:constraint(settings(a, b))
    a:kinematic(function() return {} end) -- told after the constraint
    if not moves then b:kinematic(function() return {} end) end
    if moves then return world:step() end
    stn.fails(function() world:step() end, (ends or "") .. " are fixed or kinematic: there is nothing to hold")
  end
  local all = {
    function(a) return { "weld_at_runtime", a = a, attached = true } end,
    function(a, b) return { "weld_at_runtime", a = a, b = b, attached = true } end,
    function(a, b) return { "suction", a = a, any_of = { b } } end,
    function(a, b) return { "bushing", a = a, b = b, force_stiffness = { 10, 10, 10 } } end,
    function(a, b) return { "spring", a = a, b = b, stiffness = 10 } end,
    function(a, b) return { "tendon", stiffness = 10, path = { { a, { 0, 0, 0 } }, { "world", { 0, 0, 1 } }, { b, { 0, 0, 0 } } } } end,
  }
  for i, settings in ipairs(all) do
    refused(settings)
    if i > 1 then refused(settings, true) end
  end
  refused(all[#all], false, ": link 'a', the world and link 'b'")
  refused(function(a, b) return { "rolling", links = { a, b }, rolling = 0.01 } end, true)
  local world = stn.world { dt = 1e-3 } -- it turns what touches it
  local belt = world:box { size = { 1, 1, 0.1 }, mass = 1 }
  world:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, 0.15 } }
  world:constraint { "rolling", links = { belt }, rolling = 0.01 }
  belt:kinematic(function() return {} end)
  world:step()
end)

stn.test("what a constraint takes hold of is said in one way, and mistakes name key and entry", function()
  local world = stn.world { dt = 1e-3 }
  local a = world:box { name = "a", size = { 0.1, 0.1, 0.1 }, mass = 1 }
  local b = world:box { name = "b", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 1, 0, 0 } }
  local path = { { a, { 0, 0, 0 } }, { b, { 0, 0, 0 } } }
  local function fails(text, settings)
    stn.fails(function() world:constraint(settings) end, text)
  end
  for key, value in pairs { a = a, b = b, a_point = { 0, 0, 0 }, b_point = { 0, 0, 0 }, a_pose = { xyz = { 0, 0, 0 } }, b_pose = { xyz = { 0, 0, 0 } }, any_of = { b } } do
    fails("path and " .. key .. " are two ways", { "tendon", path = path, [key] = value })
    fails("joints and " .. key .. " are two ways", { "gear", joints = { "r/j", "r/k" }, [key] = value })
    fails("links and " .. key .. " are two ways", { "rolling", links = { a }, rolling = 0.1, [key] = value })
  end
  for key, value in pairs { b = b, b_point = { 0, 0, 0 }, b_pose = { xyz = { 0, 0, 0 } } } do
    fails("any_of and " .. key .. " are two ways", { "suction", a = a, any_of = { b }, [key] = value })
  end
  fails("a_point and a_pose both say", { "ball", a = a, b = b, a_point = { 1, 0, 0 }, a_pose = { xyz = { 0, 0, 0 } } })
  fails("b_point and b_pose both say", { "ball", a = a, b = b, b_point = { 1, 0, 0 }, b_pose = { xyz = { 0, 0, 0 } } })
  for _, settings in ipairs { { "rolling", rolling = 0.1 }, { "tendon" } } do
    fails("what it takes hold of is missing; give a and b, or links, or path or joints", settings)
  end
  fails("a is missing", { "spring", b = b })
  fails("world:constraint: path[2] has 2 numbers, it needs 3", { "tendon", path = { path[1], { b, { 0, 0 } } } })
  fails("world:constraint: joints[1]: a joint is", { "gear", joints = { {}, "r/k" } })
  fails('stiffness must be a number, got the text or list "0.1"', { "spring", a = a, b = b, stiffness = "0.1" })
  fails('stiffness must be a number, got the text or list "3"', { "spring", a = a, b = b, stiffness = { 3 } })
  world:constraint { "suction", a = a, any_of = { b, b } }
  stn.fails(function() world:step() end, "ends 2 and 3 are one link; name it once")
end)
