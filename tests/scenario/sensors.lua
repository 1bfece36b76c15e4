-- SPDX-License-Identifier: Apache-2.0
-- Sensors against free-body balances, closed forms and the statistics of their noise.
local stn = require "stiction"
local worse = require "worse"
local files <close> = require "files"()

local g = 9.81

local function new_world(options)
  options = options or {}
  return stn.world { stiction = options.stiction, dt = options.dt or 1e-3, solver = { "sap", tolerance = 1e-13 }, gravity = options.gravity or { 0, 0, -g } }
end

local start = { 0.3, 0.6, -0.2, -1.2, 0.4, 0.9, 0.1 }

local function load_arm(world)
  local joints = {}
  for i = 1, 7 do
    joints["iiwa14_joint_" .. i] = start[i]
  end
  return world:load { "models/iiwa14/iiwa14_paddle.urdf", fixed = true, joints = joints }
end

local function size(v)
  return math.sqrt(v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2)
end

local function near(a, b, tolerance, what)
  for i = 1, #b do
    assert(math.abs(a[i] - b[i]) <= tolerance, ("%s[%d] = %.15g, expected %.15g"):format(what, i, a[i], b[i]))
  end
end

-- Two pods on a brick, so that z is a principal axis, and an inertial unit without mass.
local function pod(name, x)
  return ([[<link name="%s"><inertial><mass value="0.5"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="%s_mount" type="fixed"><parent link="brick"/><child link="%s"/><origin xyz="%g 0 0"/></joint>]]):format(name, name, name, x)
end

local brick_file = files:write(".urdf", [[<robot name="brick">
  <link name="brick"><inertial><mass value="2"/><inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="unit"/>
  <joint name="mount" type="fixed"><parent link="brick"/><child link="unit"/><origin xyz="0.1 0.2 0.3" rpy="0 0 0.5"/></joint>
]] .. pod("left", 0.3) .. pod("right", -0.3) .. "</robot>")

local function load_brick(world, z)
  return world:load { brick_file, base = { xyz = { 0, 0, z } } }
end

stn.test("force-torque of an arm that holds its tool still is the tool's weight", function()
  local world <close> = new_world()
  local arm = load_arm(world)
  local hold = world:controller { "joint_pd", target = arm, kp = 1e5, kd = 1e3, gravity_compensation = true }
  local sensor = world:sensor { "force_torque", link = arm:link "paddle" }
  assert(hold and sensor:read() == nil)
  for _ in world:run { seconds = 2 } do end
  local read = sensor:read()
  assert(math.abs(size(read.force) - 0.3 * g) < 1e-9, ("%.15g N"):format(size(read.force)))
  assert(math.abs(read.time - world.time) < 1e-12)
end)

-- Newton and Euler, summed over links, against the joint's own forces: effort and damper, whatever the arm meets.
for _, scene in ipairs { "swings freely", "presses on a table" } do
  stn.test(("joint torques of an arm that %s are those of its motors and dampers"):format(scene), function()
    local world <close> = new_world()
    local table_ = scene == "presses on a table" and
      world:box { name = "table", size = { 0.8, 1, 0.1 }, fixed = true, xyz = { 0.75, 0, 0.2 }, mu = 0.6 } or nil
    local arm = load_arm(world)
    local efforts, sensors = { 3, -30, 2, 12, -1, 0.5, 0.2 }, {}
    for i, joint in ipairs(arm:joints()) do
      sensors[i] = world:sensor { "joint_torque", joint = joint }
      joint:set_effort(efforts[i])
    end
    local touch = world:sensor { "contact_force", on = arm:link "paddle" }
    local pressed, worst = 0, 0
    local before = arm:v()
    for _ in world:run { steps = 600 } do
      local v = arm:v()
      for i, sensor in ipairs(sensors) do
        local read = sensor:read().torque
        local own = arm:joints()[i]:dynamics()
        local expected = efforts[i] - own.damping * v[i] - own.reflected_inertia * (v[i] - before[i]) / world.dt
        worst = worse(worst, math.abs(read - expected))
      end
      before = v
      pressed = worse(pressed, size(touch:read().force))
    end
    print(("%s: largest difference %.2g N m, largest contact force %.3g N"):format(scene, worst, pressed))
    assert(worst < 1e-9 * math.max(1, pressed), ("off by %g N m"):format(worst)) -- an impact of kilonewtons has more digits
    assert((pressed > 1) == (table_ ~= nil))
  end)
end

-- A hand presses what it holds on a table. What the wrist feels is the balance of hand and cube: of the contacts only those between cube and table count,
-- which the sensor, whose links end at the fingers, never sees. Without gravity the hand's weight has no moment, so torques balance too.
local function press_a_held_cube(gravity)
  local edge, dt = 0.05, 2e-3
  local world <close> = new_world { dt = dt, gravity = { 0, 0, -gravity }, stiction = true }
  local table_ = world:box { name = "table", size = { 0.4, 0.4, 0.1 }, fixed = true, xyz = { 0.55, 0.1, 0.15 }, mu = 0.5 }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", fixed = true, joints = { iiwa14_joint_2 = 0.6, iiwa14_joint_4 = -1.4, iiwa14_joint_6 = 1.1 } }
  local hand = world:load { "models/wsg50/wsg50.urdf", name = "hand", joints = { wsg50_finger_left_joint = 0.03 }, mu = 0.8 }
  local cube = world:box { name = "cube", size = { edge, edge, edge }, mass = 0.4, mu = 0.8, xyz = { 0.55, 0.1, 0.2 + edge / 2 + 1e-3 } }
  arm:attach(hand, "iiwa14_flange")
  world:disable_collisions(arm)
  world:disable_collisions(arm, hand)
  arm:set_q(assert(arm:inverse_kinematics { link = "hand/wsg50_tip", pose = { xyz = cube:position(), axes = { z = { 0, 0, -1 }, y = { 0, 1, 0 } } } }))
  local hold = world:controller { "joint_impedance", target = arm, stiffness = 4000 }
  world:controller { "joint_pd", target = hand, kp = 3000, kd = 100 }:set { position = { wsg50_finger_left_joint = 0.015 } }
  local sensor = world:sensor { "force_torque", link = world:link "hand/wsg50_base" }
  local base = world:link "hand/wsg50_base"
  local force_off, torque_off, pressed = 0, 0, 0
  local low = assert(arm:inverse_kinematics { link = "hand/wsg50_tip", pose = { xyz = { 0.55, 0.1, 0.2 + edge / 2 - 0.01 }, axes = { z = { 0, 0, -1 }, y = { 0, 1, 0 } } } })
  local start, goal = arm:positions(), {}
  local pose, v = base:pose(), cube:velocity().linear
  for step in world:run { seconds = 4 } do
    for name, q in pairs(low) do
      goal[name] = start[name] + math.max(0, math.min(1, (world.time - 0.5) / 0.5)) * (q - start[name])
    end
    hold:set { position = goal }
    local now, f, t = cube:velocity().linear, { 0, 0, 0 }, { 0, 0, 0 } -- on cube and hand, at the origin of the hand
    for _, c in ipairs(step:contacts()) do
      if c.a == "table" or c.b == "table" then
        local sign, r = c.b == "cube" and 1 or -1, {}
        for i = 1, 3 do
          r[i] = c.point[i] - pose.xyz[i]
        end
        local g = {}
        for i = 1, 3 do
          g[i] = sign * c.impulse[i] / dt
          f[i] = f[i] + g[i]
        end
        for i = 1, 3 do
          local k, l = i % 3 + 1, (i + 1) % 3 + 1
          t[i] = t[i] + r[k] * g[l] - r[l] * g[k]
        end
      end
    end
    pressed = worse(pressed, f[3])
    if world.time > 3.8 then
      local read = sensor:read()
      local force, torque = pose:rotate(read.force), pose:rotate(read.torque)
      local mass = hand:mass()
      for i = 1, 3 do
        local weight = i == 3 and gravity or 0
        local expected = (mass + 0.4) * weight + 0.4 * (now[i] - v[i]) / dt - f[i]
        force_off = worse(force_off, math.abs(force[i] - expected))
        torque_off = worse(torque_off, math.abs(torque[i] + t[i]))
      end
    end
    pose, v = base:pose(), now
  end
  return force_off, torque_off, pressed
end

stn.test("force-torque of a hand that presses what it holds on a table is the balance of hand, cube and table", function()
  local off, _, pressed = press_a_held_cube(g)
  print(("with gravity: %.2g N off at up to %.3g N"):format(off, pressed))
  assert(off < 1e-9 and pressed > 20, ("%g N off, pressed by %g N"):format(off, pressed))
  local force_off, torque_off, most = press_a_held_cube(0)
  print(("without: %.2g N, %.2g N m off at up to %.3g N"):format(force_off, torque_off, most))
  assert(force_off < 1e-9 and torque_off < 1e-9 and most > 20, ("%g N, %g N m off"):format(force_off, torque_off))
end)

stn.test("a sensor feels the soft bodies that its link holds: their weight, its moment, and what they touch", function()
  for _, with_plate in ipairs { false, true } do
    local world <close> = new_world { dt = 2e-3 }
    local arm = world:load { files:write(".urdf", [[<robot name="arm"><link name="base"/>
      <link name="upper"><inertial><mass value="0.4"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="tool"><inertial><mass value="0.2"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="100" velocity="9"/></joint>
      <joint name="flange" type="fixed"><parent link="upper"/><child link="tool"/><origin xyz="0.2 0 0"/></joint></robot>]]), fixed = true }
    local bar = world:soft { box = { 0.1, 0.02, 0.02 }, cells = { 10, 2, 2 }, young = 1e6, poisson = 0.3, density = 1000, damping = 0.05,
      xyz = { 0.25, 0, 0 }, attach = { link = { arm, "tool" }, nodes = "x_min" } }
    local rope = world:cable { points = { { 0.2, 0.05, 0 }, { 0.3, 0.05, 0 } }, segments = 5, radius = 3e-3, young = 1e8, density = 1000, damping = 0.05,
      attach = { link = { arm, "tool" }, nodes = "start" } }
    if with_plate then world:box { size = { 0.02, 0.04, 0.01 }, fixed = true, xyz = { 0.295, 0, -0.0165 } } end
    world:controller { "joint_pd", target = arm, kp = 1e4, kd = 100 }
    local wrist, hinge = world:sensor { "force_torque", link = arm:link "tool" }, world:sensor { "joint_torque", joint = arm:joint "hinge" }
    for _ in world:run { seconds = 2 } do end

    local pose = arm:link("tool"):pose()
    local touch = bar:contact_force(nil, { point = pose.xyz })
    assert((touch.force[3] > 0.01) == with_plate)
    local force, moment = 0.2 * g - touch.force[3], -touch.torque[2]
    for _, soft in ipairs { bar, rope } do
      force, moment = force + soft:mass() * g, moment - soft:mass() * g * (soft:position()[1] - pose.xyz[1])
    end
    local f, t = pose:rotate(wrist:read().force), pose:rotate(wrist:read().torque)
    stn.near(f[3], force, 1e-6, "force [N]")
    stn.near(t[2], moment, 1e-6, "moment [N m]")
    stn.near(hinge:read().torque, moment - force * pose.xyz[1], 1e-6, "of the hinge [N m]") -- the upper link has its mass there
  end
end)

stn.test("inertial unit: nothing in free fall, the weight at rest", function()
  local world <close> = new_world()
  world:ground {}
  local falling, resting = load_brick(world, 5), world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 1, 0, 0.05 } }
  local a, b = world:sensor { "imu", link = falling:link "unit" }, world:sensor { "imu", link = resting }
  local mount = world:sensor { "force_torque", link = falling:link "left" }
  for _ in world:run { steps = 200 } do end
  near(a:read().specific_force, { 0, 0, 0 }, 1e-9, "falling")
  near(mount:read().force, { 0, 0, 0 }, 1e-9, "falling")
  near(b:read().specific_force, { 0, 0, g }, 1e-9, "resting")
end)

stn.test("a spinning body: -w^2 r and w, whatever its speed, and the force of a mount", function()
  local world <close> = new_world { gravity = { 0, 0, 0 } }
  local brick = load_brick(world, 3)
  local imu, mount = world:sensor { "imu", link = brick:link "unit" }, world:sensor { "force_torque", link = brick:link "left" }
  local w, c, s = 4, math.cos(0.5), math.sin(0.5)
  brick:set_velocity { linear = { 1, 2, 3 }, angular = { 0, 0, w } }
  for _ in world:run { steps = 100 } do
    local read = imu:read()
    near(read.specific_force, { -w * w * (0.1 * c + 0.2 * s), -w * w * (0.2 * c - 0.1 * s), 0 }, 1e-9, "specific force")
    near(read.angular_velocity, { 0, 0, w }, 1e-12, "angular velocity")
    near(mount:read().force, { -0.5 * w * w * 0.3, 0, 0 }, 1e-9, "force of the mount")
    near(mount:read().torque, { 0, 0, 0 }, 1e-9, "its torque")
  end
end)

-- Overlapping Allan variance is not needed: clusters of n readings that follow one another.
local function allan_deviation(values, n)
  local sum, count, last = 0, 0, nil
  for i = 1, #values - n + 1, n do
    local mean = 0
    for k = i, i + n - 1 do
      mean = mean + values[k] / n
    end
    if last ~= nil then
      sum, count = sum + (mean - last) ^ 2, count + 1
    end
    last = mean
  end
  return math.sqrt(sum / (2 * count))
end

local function noise_of(noise, seed, steps, dt)
  local world <close> = new_world { dt = dt }
  local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1 }
  local imu = world:sensor { "imu", link = box, noise = noise, seed = seed }
  local x, w = {}, {}
  for _ in world:run { steps = steps } do
    local read, exact = imu:read(), imu:exact()
    x[#x + 1] = read.specific_force[1] - exact.specific_force[1]
    w[#w + 1] = read.angular_velocity[3] - exact.angular_velocity[3]
  end
  return x, w
end

stn.test("white noise has its density at every averaging time, a bias walks as it should; by seed", function()
  local density, walk, dt, count = 0.02, 0.3, 2e-3, 30000
  local x, w = noise_of({ specific_force = { density = density }, angular_velocity = { walk = walk } }, 7, count, dt)
  local mean, increments = 0, 0
  for i = 1, count do
    mean = mean + x[i] / count
    increments = increments + (w[i] - (w[i - 1] or 0)) ^ 2
  end
  assert(math.abs(mean) < 4 * density / math.sqrt(count * dt))
  for _, n in ipairs { 1, 10, 100 } do -- clusters: a deviation of the estimate of about sqrt(1.5 n / (2 count))
    local found, expected = allan_deviation(x, n), density / math.sqrt(n * dt)
    assert(math.abs(found / expected - 1) < 4 * math.sqrt(0.75 * n / count), ("n = %d: %g, expected %g"):format(n, found, expected))
  end
  assert(math.abs(math.sqrt(increments / (count * dt)) / walk - 1) < 4 / math.sqrt(2 * count))
  for _, lag in ipairs { 8, 100, 1000 } do -- the walk's halving must not show in longer increments
    local sum, pieces = 0, 0
    for i = lag + 1, count, lag do
      sum, pieces = sum + (w[i] - w[i - lag]) ^ 2, pieces + 1
    end
    local ratio = math.sqrt(sum / (pieces * lag * dt)) / walk
    assert(math.abs(ratio - 1) < 4 / math.sqrt(2 * pieces), ("lag %d: %g"):format(lag, ratio))
  end
  local again, other = noise_of({ specific_force = { density = density } }, 7, 100, dt), noise_of({ specific_force = { density = density } }, 8, 100, dt)
  local product = 0
  for i = 1, 100 do
    assert(again[i] == x[i])
    product = product + again[i] * other[i] / density ^ 2 * dt / 100
  end
  assert(math.abs(product) < 0.4)
end)

stn.test("noise of many seeds: normal, of no mean, and independent of seed, axis and the step before", function()
  local seeds, count, density, dt = 20, 3000, 0.02, 2e-3
  local world <close> = new_world { dt = dt }
  local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1 }
  local sensors, series = {}, {}
  for seed = 1, seeds do
    sensors[seed] = world:sensor { "imu", link = box, noise = { specific_force = { density = density } }, seed = seed }
    series[2 * seed - 1], series[2 * seed] = {}, {}
  end
  for k = 1, count do
    world:step()
    for seed, sensor in ipairs(sensors) do
      local read, exact = sensor:read().specific_force, sensor:exact().specific_force
      for axis = 1, 2 do
        series[2 * seed - 2 + axis][k] = (read[axis] - exact[axis]) * math.sqrt(dt) / density
      end
    end
  end
  local function mean_of(f)
    local sum = 0
    for k = 1, count do sum = sum + f(k) end
    return sum / count
  end
  local worst = { mean = 0, variance = 0, fourth = 0, step = 0, other = 0 } -- in standard deviations of each estimate
  local function note(name, value, expected, variance)
    worst[name] = worse(worst[name], math.abs(value - expected) / math.sqrt(variance / count))
  end
  for i, x in ipairs(series) do
    note("mean", mean_of(function(k) return x[k] end), 0, 1)
    note("variance", mean_of(function(k) return x[k] ^ 2 end), 1, 2)
    note("fourth", mean_of(function(k) return x[k] ^ 4 end), 3, 96)
    note("step", mean_of(function(k) return k > 1 and x[k] * x[k - 1] or 0 end), 0, 1)
    for other = i + 1, #series do
      local y = series[other]
      note("other", mean_of(function(k) return x[k] * y[k] end), 0, 1)
    end
  end
  print(("%d seeds, %d readings, worst in standard deviations: mean %.2f, variance %.2f, fourth moment %.2f, with the step before %.2f, with another seed or axis (%d pairs) %.2f"):format(
    seeds, count, worst.mean, worst.variance, worst.fourth, worst.step, seeds * (2 * seeds - 1), worst.other))
  for name, value in pairs(worst) do
    assert(value < 4.5, ("%s: %g standard deviations"):format(name, value))
  end
end)

stn.test("noise belongs to the number of the step: reset and loaded worlds read the same again, another seed does not", function()
  local world <close> = new_world()
  local brick = load_brick(world, 5)
  local noise = { force = { density = 0.1, walk = 0.1 } }
  local sensor = world:sensor { "force_torque", link = brick:link "left", noise = noise, seed = 3 }
  local other = world:sensor { "force_torque", link = brick:link "left", noise = noise, seed = 4 }
  local path = files:path ".state"
  local function run(steps)
    local list = {}
    for _ in world:run { steps = steps } do
      list[#list + 1] = sensor:read().force[1] - sensor:exact().force[1]
    end
    return list
  end
  local first = run(20)
  world:save_state(path)
  local second = run(20)
  assert(other:read().force[1] ~= sensor:read().force[1])
  world:load_state(path)
  near(run(20), second, 0, "loaded")
  world:reset()
  near(run(20), first, 0, "reset")
end)

stn.test("restored worlds and clones read on bit for bit", function()
  local noise = { force = { density = 0.1, walk = 0.1 }, torque = { walk = 0.1 } }
  local function watch(world)
    return world:sensor { "force_torque", link = world:group "brick":link "left", noise = noise, seed = 3 }
  end
  local world <close> = new_world()
  load_brick(world, 5)
  local sensor = watch(world)
  for _ in world:run { steps = 50 } do end
  local kept = world:snapshot()
  local copy <close> = world:clone()
  local twin = watch(copy)
  for _ in world:run { steps = 50 } do end
  local read = sensor:read()
  for _ in copy:run { steps = 50 } do end
  near(twin:read().force, read.force, 0, "clone")
  world:restore(kept)
  assert(sensor:read() == nil)
  for _ in world:run { steps = 50 } do end
  near(sensor:read().force, read.force, 0, "restored")
  near(sensor:read().torque, read.torque, 0, "restored")
end)

stn.test("a step that is made again after a restore or a reset is measured again", function()
  local file = files:path ".state"
  local back = {
    restore = function(world, snapshot) world:restore(snapshot) end,
    load_state = function(world) world:load_state(file) end,
    reset = function(world) world:reset() end,
  }
  for name, go_back in pairs(back) do
    local world <close> = new_world { gravity = { 0, 0, 0 } }
    local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 2, xyz = { 0, 0, 1 } }
    local sensor = world:sensor { "imu", link = box }
    local snapshot = world:snapshot()
    world:save_state(file)
    world:step()
    near(sensor:read().specific_force, { 0, 0, 0 }, 1e-12, "at rest")
    go_back(world, snapshot)
    assert(sensor:read() == nil)
    box:apply_force { force = { 3, 0, 0 } }
    world:step()
    near(sensor:read().specific_force, { 1.5, 0, 0 }, 1e-12, "pushed, after " .. name)
  end
end)

stn.test("readings are columns of logs", function()
  local world <close> = new_world()
  local brick = load_brick(world, 5)
  local sensor = world:sensor { "force_torque", link = brick:link "left", log = "wrist", noise = { force = { density = 0.1 } } }
  local path = files:path ".csv"
  world:record(path)
  for _ in world:run { steps = 3 } do end
  world:close_recordings()
  local text = io.open(path):read "a"
  assert(text:find("wrist.force.x", 1, true) and text:find("wrist.torque.z", 1, true))
  assert(text:find(("%.6g"):format(sensor:read().force[1]):sub(1, 6), 1, true))
end)

stn.test("a joint's sensor takes the joint or its name", function()
  local world <close> = new_world()
  local arm = load_arm(world)
  world:controller { "joint_pd", target = arm, kp = 1e4, kd = 1e3 }
  local joint = arm:joints()[2]
  local by_object = world:sensor { "joint_torque", joint = joint }
  local by_name = world:sensor { "joint_torque", joint = arm.name .. "/" .. joint.name }
  world:step()
  assert(by_object:read().torque ~= 0 and by_object:read().torque == by_name:read().torque)
end)

stn.test("rows beside contacts pass by a sensor: they act on what touches a link beyond it", function()
  local world <close> = new_world()
  world:ground {}
  local brick = load_brick(world, 0.05)
  local ball = world:sphere { name = "ball", radius = 0.1, mass = 1, xyz = { 3, 0, 0.1 } }
  world:constraint { "rolling", name = "drag", links = { brick:link "brick", brick:link "left" }, rolling = 0.01 }
  for _, link in ipairs { "brick", "left" } do
    stn.fails(function() world:sensor { "force_torque", link = brick:link(link) } end, "constraint rolling 'drag': it joins what is beyond link " .. link)
  end
  assert(world:sensor { "force_torque", link = brick:link "right" } and world:sensor { "force_torque", link = ball })
end)

stn.test("what cannot be measured is one clear line", function()
  local world <close> = new_world()
  local brick = load_brick(world, 5)
  local box = world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 3, 0, 5 } }
  world:constraint { "ball", a = brick:link "brick", b = box, a_point = { 3, 0, 0 } }
  local function fails(description, text)
    stn.fails(function() world:sensor(description) end, text)
  end
  fails({ "force_torq", link = brick }, "force_torque")
  fails({ link = brick }, "begin with its kind")
  fails({ "joint_torque", joint = "nowhere" }, "nowhere")
  fails({ "imu" }, "link is missing")
  fails({ "imu", link = brick }, "link must name a single one")
  fails({ "imu", joint = 1, link = box }, "joint")
  fails({ "joint_torque", joint = 3 }, "joint must be a joint of this world")
  fails({ "imu", link = box, noise = { force = { density = 1 } } }, "force")
  fails({ "imu", link = box, noise = { specific_force = { density = -1 } } }, "density")
  fails({ "imu", link = box, seed = -1 }, "seed")
  fails({ "imu", link = box, log = "" }, "log must be a name")
  fails({ "contact_force", on = box, by = box }, "both sides")
  fails({ "force_torque", link = box }, "world:sensor: force_torque: constraint ball (number 1): it joins")
  fails({ "joint_torque", joint = world:group "brick":joint "brick_floating" }, "world:sensor: joint_torque: constraint")
  assert(world:sensor { "imu", link = box } and world:sensor { "contact_force", on = box }) -- no force is asked of what carries them
  world:step()
  local told <close> = new_world()
  local plate = told:box { name = "plate", size = { 1, 1, 0.1 } }
  plate:kinematic(function() return {} end)
  stn.fails(function() told:sensor { "imu", link = plate } end, "world:sensor: imu: link plate moves as it is told")
end)

stn.test("in quasistatic steps nothing accelerates: a slider that speeds up is carried by its weight", function()
  local slider = files:write(".urdf", [[<robot name="lift"><link name="base"/>
    <link name="slide"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="z" type="prismatic"><parent link="base"/><child link="slide"/><axis xyz="0 0 1"/><limit lower="-5" upper="5" effort="2000" velocity="100"/></joint></robot>]])
  for _, pad in ipairs { false, true } do
    local world <close> = stn.world { dt = 0.01, integrator = "quasistatic", solver = { "sap", tolerance = 1e-13 } }
    local lift = world:load { slider, fixed = true }
    local soft = pad and world:soft { box = { 0.1, 0.1, 0.1 }, cells = { 2, 2, 2 }, young = 1e6, density = 1000, xyz = { 0.05, 0, 0 },
      attach = { link = { lift, "slide" }, nodes = "x_min" } }
    local motor = world:controller { "joint_pd", target = lift, kp = 1000 }
    local weight = (1 + (soft and soft:mass() or 0)) * g
    local torque, wrench, unit = world:sensor { "joint_torque", joint = "lift/z" }, world:sensor { "force_torque", link = lift:link "slide" },
      world:sensor { "imu", link = lift:link "slide" }
    for step in world:run { steps = 20 } do
      motor:set { position = { z = 0.2 * step.time ^ 2 } }
      stn.near(torque:exact().torque, weight, 1e-7 * weight, "torque")
      stn.near(wrench:exact().force[3], weight, 1e-7 * weight, "force")
      stn.near(unit:exact().specific_force[3], g, 1e-12, "specific force")
    end
  end
end)
