-- SPDX-License-Identifier: Apache-2.0
-- Equality constraints between links, and limits of joints, against closed forms.
local stn = require "stiction"
local worse = require "worse"
local files <close> = require "files"()

local tight = { "sap", tolerance = 1e-10 }
local floor = 0.01 / (4 * math.pi ^ 2) -- near-rigid: R = floor w

local function near(value, expected, relative, what)
  stn.near(value, expected, relative * math.abs(expected), what)
end

local function norm(v)
  return math.sqrt(v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2)
end

-- One link on a joint about or along an axis; `rest` are more elements of the joint.
local function one_joint(name, type, axis, mass, inertia, rest)
  return files:write(".urdf", ([[<robot name="%s"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 0"/>
    <mass value="%g"/><inertia ixx="%g" iyy="%g" izz="%g" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="hinge" type="%s"><parent link="base"/><child link="arm"/><axis xyz="%s"/>%s</joint></robot>]]):format(
    name, mass, inertia, inertia, inertia, type, axis, rest or ""))
end

-- ---------------------------------------------------------------------------------------------------------- welds

stn.test("two welded boxes move as one: momentum at once, inertia of the sum", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = tight }
  local a = world:box { size = { 0.2, 0.2, 0.2 }, mass = 2, xyz = { 0, 0, 0 } }
  local b = world:box { size = { 0.1, 0.3, 0.2 }, mass = 1, xyz = { 0.5, 0.1, 0 }, rpy = { 0, 0, 0.4 } }
  local between = { xyz = { 0.25, 0.05, 0 } } -- of the weld, in a and in the world
  local weld = world:constraint { "weld", a = a, b = b, a_pose = between,
    b_pose = stn.pose { xyz = { 0.5, 0.1, 0 }, rpy = { 0, 0, 0.4 } }:relative(between) }
  world:disable_collisions(a, b)
  stn.near(weld:error(), 0, 1e-15, "both frames are where they should be")
  local torque = 0.7
  b:apply_force { torque = { 0, 0, torque } }
  local seconds = 0.5
  for _ in world:run { seconds = seconds } do end
  -- steady rotation about z: I_a + I_b + mu d^2 with the reduced mass
  local inertia = 2 * (0.04 + 0.04) / 12 + 1 * (0.01 + 0.09) / 12 + 2 / 3 * (0.25 + 0.01)
  near(a:velocity().angular[3], torque * seconds / inertia, 1e-5, "a turns")
  near(b:velocity().angular[3], torque * seconds / inertia, 1e-5, "b turns")
  stn.near(world:momentum().linear, { 0, 0, 0 }, 1e-12, "linear momentum")
  stn.near(world:momentum().angular, { 0, 0, torque * seconds }, 1e-10, "angular momentum")
  local distance, angle = weld:error()
  stn.near(distance, 0, 5e-6, "distance")
  stn.near(angle, 0, 1e-7, "angle")
end)

stn.test("what is held by the world says so by name or by leaving b out", function()
  local function height(b)
    local world = stn.world { dt = 1e-3, solver = tight }
    local a = world:box { size = { 0.2, 0.2, 0.2 }, mass = 2, xyz = { 0, 0, 1 } }
    world:constraint { "weld", a = a, b = b, b_pose = { xyz = { 0, 0, 1 } } }
    for _ in world:run { steps = 100 } do end
    return a:position()[3]
  end
  stn.near(height(nil), 1, 1e-6)
  assert(height "world" == height(nil))
end)

stn.test("a soft weld gives way by force and torque over stiffness", function()
  local world = stn.world { dt = 1e-3, solver = tight }
  local a = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1 }
  local weld = world:constraint { "weld", a = a, stiffness = 2000, angular_stiffness = 50, relaxation_time = 0.1 }
  a:apply_force { torque = { 0, 0.5, 0 } }
  for _ in world:run { seconds = 3 } do end
  stn.near(a:position(), { 0, 0, -9.81 / 2000 }, 1e-9, "sags")
  local distance, angle = weld:error()
  stn.near(distance, 9.81 / 2000, 1e-9, "distance")
  stn.near(angle, 0.5 / 50, 1e-9, "angle")
  local linear, angular = weld:impulse()
  stn.near(linear, { 0, 0, -9.81e-3 }, 1e-9, "on the world: the weight") -- acts on b, which is the world
  stn.near(angular, { 0, 0.5e-3, 0 }, 1e-9, "on the world: the torque")
  stn.near(world:energy().elastic, 0.5 * 2000 * distance ^ 2 + 0.5 * 50 * angle ^ 2, 1e-12, "elastic energy")
end)

-- ------------------------------------------------------------------------------------------- balls and distances

-- A box on a rod of length 1 without mass swings with 0.1 rad; returns its period and the worst error.
local function swing(dt)
  local world = stn.world { dt = dt, solver = tight }
  local bob = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { math.sin(0.1), 0, -math.cos(0.1) },
    rpy = { 0, -0.1, 0 } }
  local pivot = world:constraint { "ball", a = bob, a_point = { 0, 0, 1 } }
  local last, first, count, period, worst = nil, nil, 0, nil, 0
  for step in world:run { seconds = 10 } do
    local x = bob:position()[1]
    worst = worse(worst, pivot:error())
    if last and last < 0 and x >= 0 then
      local time = step.time - x / (x - last) * dt
      count = first and count + 1 or 0
      first = first or time
      period = (time - first) / count
    end
    last = x
  end
  return period, worst
end

stn.test("a ball on the world makes a pendulum, with an error of second order", function()
  local exact = 2 * math.pi * math.sqrt((0.02 / 12 + 1) / 9.81) * (1 + 0.1 ^ 2 / 16)
  local period, worst = swing(2e-3)
  near(period, exact, 3e-6, "period")
  local _, finer = swing(1e-3)
  stn.near(worst, 0, 1e-5, "distance")
  near(worst / finer, 4, 0.05, "order")
end)

stn.test("a distance to the world makes a spherical pendulum", function()
  local tilt = 0.5
  local rate = math.sqrt(9.81 / math.cos(tilt))
  local world = stn.world { dt = 5e-4, solver = tight }
  local bob = world:sphere { radius = 0.05, mass = 1, xyz = { math.sin(tilt), 0, -math.cos(tilt) },
    velocity = { 0, rate * math.sin(tilt), 0 } }
  local rod = world:constraint { "distance", a = bob, length = 1 }
  local turned = 0
  local before = 0
  for _ in world:run { seconds = 5 } do
    local p = bob:position()
    local angle = math.atan(p[2], p[1])
    turned = turned + (angle - before + math.pi) % (2 * math.pi) - math.pi
    before = angle
    stn.near(p[3], -math.cos(tilt), 1e-3, "height")
    stn.near(rod:error(), 0, 1e-5, "length")
  end
  near(turned, rate * 5, 1e-3, "angle")
  near(rod:impulse() / 5e-4, -9.81 / math.cos(tilt), 2e-3, "tension")
end)

stn.test("a distance with a stiffness is a spring", function()
  local dt, k, m = 1e-3, 200, 1
  local world = stn.world { dt = dt, solver = tight }
  local bob = world:sphere { radius = 0.05, mass = m, xyz = { 0, 0, -0.5 } }
  local spring = world:constraint { "distance", a = bob, length = 0.5, stiffness = k }
  -- one step: gamma = -dt k (x + dt v), so v = -(m g dt)/(m + dt^2 k) ..., a recursion in closed form
  local x, v = 0, 0
  for _ in world:run { seconds = 1 } do
    v = (m * (v - 9.81 * dt) - dt * k * x) / (m + dt * dt * k)
    x = x + dt * v
    stn.near(bob:position()[3], -0.5 + x, 1e-9, "height")
  end
  near(spring:error(), -x, 1e-6, "stretched")
end)

stn.test("a damped spring comes to rest at the static deflection", function()
  local world = stn.world { dt = 2e-3, solver = tight }
  local bob = world:sphere { radius = 0.05, mass = 2, xyz = { 0, 0, -0.5 } }
  local spring = world:constraint { "distance", a = bob, length = 0.5, stiffness = 100, relaxation_time = 0.2 }
  for _ in world:run { seconds = 5 } do end
  stn.near(spring:error(), 2 * 9.81 / 100, 1e-9, "m g/k")
  stn.near(spring:impulse() / 2e-3, -2 * 9.81, 1e-7, "tension")
end)

stn.test("points that a distance holds apart may begin at one place", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = tight }
  local bob = world:sphere { radius = 0.05, mass = 1, velocity = { 1e-4, 0, 0 } }
  local spring = world:constraint { "distance", a = bob, b_point = { 0, 0, 0 }, length = 1e-3, stiffness = 10,
    relaxation_time = 0.4 }
  for _ in world:run { seconds = 10 } do end
  stn.near(spring:error(), 0, 1e-6, "length")
  stn.near(bob:position(), { 1e-3, 0, 0 }, 1e-6, "the way it left")
end)

-- ---------------------------------------------------------------------------------------------------------- gears

stn.test("a gear between two robots keeps its ratio and reflects inertia", function()
  local dt, ratio, torque = 1e-3, -3, 0.8
  local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, solver = tight }
  local a = world:load { one_joint("a", "continuous", "0 0 1", 1, 0.5), fixed = true }
  local b = world:load { one_joint("b", "continuous", "0 1 0", 1, 0.1), fixed = true, base = { xyz = { 0, 2, 0 } },
    joints = { hinge = -0.2 / ratio } }
  local gear = world:constraint { "gear", joints = { { a, "hinge" }, "b/hinge" }, ratio = ratio, offset = 0.2,
    name = "reduction" }
  stn.near(gear:error(), 0, 1e-15, "start")
  a:joint("hinge"):set_effort(torque)
  for _ in world:run { seconds = 1 } do end
  local inertia = 0.5 + 0.1 / ratio ^ 2
  near(a:joint("hinge"):velocity(), torque / inertia, 1e-5, "speed")
  near(b:joint("hinge"):velocity(), torque / inertia / ratio, 1e-5, "speed of the other")
  -- v_c = 0 in the steady state: phi/(2 dt) + R gamma = 0
  local w, impulse = 1 / 0.5 + ratio ^ 2 / 0.1, gear:impulse()
  near(impulse, -torque * dt * (1 - 0.5 / inertia), 1e-5, "impulse on a")
  near(gear:error(), -2 * dt * floor * w * impulse, 1e-3, "error")
  assert(gear.name == "reduction" and gear.type == "gear" and #world:constraints() == 1)
end)

-- --------------------------------------------------------------------------------------------------- closed loops

-- Rods hinged end to end by balls, free in space, with speeds that the loop does not allow.
local function ring(world, in_plane)
  local corners = { { 0, 0 }, { 0.6, 0.1 }, { 0.7, 0.8 }, { -0.1, 0.5 } }
  local rods, balls = {}, {}
  for i, p in ipairs(corners) do
    local q = corners[i % 4 + 1]
    local dx, dy = q[1] - p[1], q[2] - p[2]
    local length = math.sqrt(dx * dx + dy * dy)
    local out = in_plane and 0 or 0.2 * i
    rods[i] = { length = length, body = world:box { size = { length, 0.05, 0.05 }, mass = 1 + i, category = 0,
      xyz = { (p[1] + q[1]) / 2, (p[2] + q[2]) / 2, 0 }, rpy = { 0, 0, math.atan(dy, dx) },
      velocity = { linear = { 0.3 * i, -0.2, out }, angular = { out, 0, 0.5 * i } } } }
  end
  for i, rod in ipairs(rods) do
    local next = rods[i % 4 + 1]
    balls[i] = world:constraint { "ball", a = rod.body, b = next.body, a_point = { rod.length / 2, 0, 0 },
      b_point = { -next.length / 2, 0, 0 } }
  end
  return balls
end

-- Momentum before, momentum and relative change of energy after 3 s, largest error of a corner.
local function turn_ring(dt, in_plane)
  local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, solver = tight }
  local balls, worst = ring(world, in_plane), 0
  local before = world:momentum()
  world:step()
  local start = world:energy().total -- the first step takes away what the loop does not allow
  for _ in world:run { seconds = 3 } do
    for _, ball in ipairs(balls) do
      worst = worse(worst, ball:error())
    end
  end
  return before, world:momentum(), world:energy().total / start - 1, worst
end

stn.test("a free closed loop keeps its momentum; energy and corners err by the order of dt", function()
  local before, after, energy, worst = turn_ring(1e-3, true)
  stn.near(after.linear, before.linear, 1e-12, "linear momentum")
  stn.near(after.angular, before.angular, 1e-12, "angular momentum")
  stn.near(energy, 0, 1e-7, "energy")
  stn.near(worst, 0, 1e-6, "corners")
end)

stn.test("the same out of plane, where the turning of the bodies itself errs by the order of dt", function()
  local before, after, energy, worst = turn_ring(1e-3)
  local _, finer_after, finer_energy, finer_worst = turn_ring(5e-4)
  local off, finer_off = {}, {}
  for i = 1, 3 do
    off[i], finer_off[i] = after.angular[i] - before.angular[i], finer_after.angular[i] - before.angular[i]
  end
  stn.near(after.linear, before.linear, 1e-12, "linear momentum")
  stn.near(norm(off), 0, 1e-3 * norm(before.angular), "angular momentum")
  near(norm(off) / norm(finer_off), 2, 0.05, "its order")
  stn.near(energy, 0, 1e-5, "energy")
  near(energy / finer_energy, 2, 0.05, "its order")
  stn.near(worst, 0, 1e-6, "corners")
  near(worst / finer_worst, 4, 0.05, "their order")
end)

-- ------------------------------------------------------------------------------------------------ kinematic bodies

stn.test("a body that is welded to a kinematic one goes where it goes, and the work is accounted for", function()
  local dt, rate, arm = 1e-3, 3, 0.5
  local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, solver = tight }
  local table_ = world:box { name = "table", size = { 0.1, 0.1, 0.1 } }
  table_:kinematic(function(t)
    return { rpy = { 0, 0, rate * t } }, { linear = { 0, 0, 0 }, angular = { 0, 0, rate } }
  end)
  local box = world:box { name = "box", size = { 0.2, 0.1, 0.1 }, mass = 2, xyz = { arm, 0, 0 },
    velocity = { linear = { 0, rate * arm, 0 }, angular = { 0, 0, rate } }, category = 0 }
  local weld = world:constraint { "weld", a = table_, b = box, a_pose = { xyz = { arm, 0, 0 } } }
  local soft = world:constraint { "distance", a = table_, b = box, length = 0.3, stiffness = 50 }
  local energy, work = world:energy().total, 0
  for step in world:run { seconds = 2 } do
    work = work + step.input_work_J
  end
  local distance, angle = weld:error()
  stn.near(distance, 0, 1e-5, "distance")
  stn.near(angle, 0, 1e-6, "angle")
  near(norm(box:velocity().linear), rate * arm, 1e-5, "speed")
  stn.near(box:position(), { arm * math.cos(2 * rate), arm * math.sin(2 * rate), 0 }, 1e-4, "place")
  -- the weld holds the box on its circle and the spring back
  near(norm((weld:impulse())) / dt, math.abs(2 * rate ^ 2 * arm + soft:impulse() / dt), 1e-3, "force")
  stn.near(soft:impulse() / dt, -50 * (arm - 0.3), 1e-2, "spring")
  stn.near(world:energy().total - energy, work, 1e-5 * energy, "work")
end)

stn.test("two bodies that cannot move are not held", function()
  local world = stn.world {}
  local a = world:box { name = "a", size = { 0.1, 0.1, 0.1 } }
  a:kinematic(function() return {}, { 0, 0, 0 } end)
  world:constraint { "ball", a = a }
  stn.fails(function() world:step() end, "link 'a' and the world are fixed or kinematic: there is nothing to hold")
end)

-- -------------------------------------------------------------------------------------------------------- joints

stn.test("a joint keeps to its velocity limit under a constant torque, when it is told to", function()
  local dt, inertia, limit, torque = 1e-3, 0.2, 1.5, 4
  local file = one_joint("wheel", "continuous", "0 0 1", 1, inertia, ('<limit effort="100" velocity="%g"/>'):format(limit))
  local function speed(kept, way)
    local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, solver = tight }
    local wheel = world:load { file, fixed = true, velocity_limits = kept }
    wheel:joint("hinge"):set_effort(way * torque)
    for _ in world:run { seconds = 1 } do end
    return wheel:joint("hinge"):velocity()
  end
  near(speed(false, 1), torque / inertia, 1e-9, "free")
  -- v - limit = R gamma, gamma = dt torque
  near(speed(true, 1), limit + floor / inertia * dt * torque, 1e-9, "limited")
  near(speed(true, -1), -limit - floor / inertia * dt * torque, 1e-9, "limited the other way")
end)

stn.test("a servo against gravity: sags by torque over kp, and falls when its effort does not suffice", function()
  local arm, mass, kp = 0.4, 3, 200
  local function hang(effort, seconds)
    local file = files:write(".urdf", ([[<robot name="crane"><link name="base"/><link name="boom"><inertial>
      <origin xyz="%g 0 0"/><mass value="%g"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
      </inertial></link><joint name="hinge" type="revolute"><parent link="base"/><child link="boom"/><axis xyz="0 -1 0"/>
      <limit lower="-3" upper="3" effort="%g" velocity="100"/></joint></robot>]]):format(arm, mass, effort))
    local world = stn.world { dt = 1e-3, solver = tight }
    local crane = world:load { file, fixed = true }
    world:controller { "joint_pd", target = crane, kp = kp, kd = 40 }
    for _ in world:run { seconds = seconds } do end
    return crane:joint("hinge"):position(), crane:joint("hinge"):velocity()
  end
  local weight = arm * mass * 9.81
  local sag = hang(100, 5)
  stn.near(kp * sag + weight * math.cos(sag), 0, 1e-6, "torques")
  -- with an effort e below the weight's it falls with (I + m l^2) alpha = e - m g l cos q once e is reached
  local _, before = hang(5, 0.02)
  local _, after = hang(5, 0.03)
  near(after - before, (5 - weight) / (0.01 + mass * arm ^ 2) * 0.01, 1e-3, "falls")
end)

stn.test("dry friction stops a wheel after I omega/tau, and then holds it to sigma w dt tau", function()
  local dt, inertia, level, speed = 1e-3, 0.3, 0.6, 2
  local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, solver = tight }
  local wheel = world:load { one_joint("wheel", "continuous", "0 0 1", 1, inertia,
    ('<dynamics friction="%g"/>'):format(level)), fixed = true }
  local hinge = wheel:joint "hinge"
  hinge:set_velocity(speed)
  local stopped
  for step in world:run { seconds = 2 } do
    stopped = stopped or (hinge:velocity() < 1e-3 and step.time) or nil
  end
  stn.near(stopped, inertia * speed / level, 2 * dt, "stops")
  near(hinge:position(), 0.5 * inertia * speed ^ 2 / level, 2e-3, "angle")
  hinge:set_effort(0.9 * level)
  for _ in world:run { seconds = 1 } do end
  near(hinge:velocity(), 1e-3 / inertia * dt * 0.9 * level, 1e-3, "creeps")
end)

stn.test("a joint that runs into its limit stops there and does not bounce", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = tight }
  local arm = world:load { one_joint("arm", "revolute", "0 0 1", 1, 0.2,
    '<limit lower="-1" upper="0.5" effort="100" velocity="100"/>'), fixed = true }
  local hinge = arm:joint "hinge"
  hinge:set_velocity(2)
  for _ in world:run { seconds = 1 } do
    assert(hinge:velocity() > -1e-3, hinge:velocity())
    assert(hinge:position() < 0.5 + 1e-6, hinge:position())
  end
  stn.near(hinge:position(), 0.5, 1e-6, "place")
  stn.near(hinge:velocity(), 0, 1e-6, "rest")
end)

-- ------------------------------------------------------------------------------------------------ what is refused

stn.test("constraints that hold nothing, or cannot be understood, are refused in one line", function()
  local function refused(describe, text)
    local world = stn.world {}
    local a = world:box { name = "a", size = { 0.1, 0.1, 0.1 } }
    local b = world:box { name = "b", size = { 0.1, 0.1, 0.1 }, fixed = true }
    local c = world:box { name = "c", size = { 0.1, 0.1, 0.1 }, on = { a, "a" }, xyz = { 0, 0, 0.1 } }
    local message = stn.fails(function() describe(world, a, b, c) world:step() end, text)
    assert(not message:find "\n", message)
  end
  refused(function(w, _, b) w:constraint { "weld", a = b } end,
    "link 'b' and the world are one body, welded together already")
  refused(function(w, a, _, c) w:constraint { "ball", a = a, b = c } end, "link 'a' and link 'c' are one body, welded together already")
  refused(function(w, a) w:constraint { "ball", a = a, b = a } end, "both ends are link 'a'; it needs two")
  refused(function(w, a) w:constraint { "hinge", a = a } end, "unknown constraint hinge; there are ball")
  refused(function(w) w:constraint { "ball" } end, "what it takes hold of is missing")
  refused(function(w, a) w:constraint { "ball", a = a, length = 1 } end, "length")
  refused(function(w, a) w:constraint { "distance", a = a } end, "length is missing")
  refused(function(w, a) w:constraint { "distance", a = a, length = 0, name = "rod" } end,
    "distance 'rod' (")
  refused(function(w, a) w:constraint { "ball", a = a, stiffness = 0 } end, "stiffness = 0 N/m must be > 0")
  refused(function(w, a) w:constraint { "ball", a = a, relaxation_time = -1 } end, "relaxation_time")
  refused(function(w)
    w:load { one_joint("robot", "continuous", "0 0 1", 1, 0.5), fixed = true }
    w:constraint { "gear", joints = { "robot/hinge" } }
  end, "joints must be a list of two")
  refused(function(w) w:constraint { "gear", joints = { "a/lift", "a/tilt" } } end, "lift")
end)

stn.test("an infinite stiffness is a rigid constraint, as none is", function()
  local function height(stiffness)
    local world = stn.world { dt = 1e-3, solver = tight }
    local a = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1 }
    world:constraint { "weld", a = a, stiffness = stiffness, angular_stiffness = stiffness }
    for _ in world:run { steps = 20 } do end
    return a:position()[3]
  end
  assert(height(math.huge) == height(nil))
end)

stn.test("a constraint that begins far from holding pulls together, with a warning", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = tight }
  local a = world:sphere { name = "a", radius = 0.05, mass = 1, xyz = { 0.01, 0, 0 } }
  local ball = world:constraint { "ball", a = a }
  near(ball:error(), 0.01, 1e-12, "start")
  world:step()
  near(ball:error(), 0.005, 1e-3, "half of it is left after a step")
end)
