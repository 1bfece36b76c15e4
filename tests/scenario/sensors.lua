-- SPDX-License-Identifier: Apache-2.0
-- Sensors against free-body balances, closed forms and the statistics of their noise.
local stn = require "stiction"
local files <close> = require "files"()

local g = 9.81

local function new_world(options)
  options = options or {}
  return stn.world { dt = options.dt or 1e-3, solver = { "sap", tolerance = 1e-13 }, gravity = options.gravity or { 0, 0, -g } }
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
        worst = math.max(worst, math.abs(read - expected))
      end
      before = v
      pressed = math.max(pressed, size(touch:read().force))
    end
    print(("%s: largest difference %.2g N m, largest contact force %.3g N"):format(scene, worst, pressed))
    assert(worst < 1e-9 * math.max(1, pressed), ("off by %g N m"):format(worst)) -- an impact of kilonewtons has more digits
    assert((pressed > 1) == (table_ ~= nil))
  end)
end

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

stn.test("restored worlds and clones read on bit for bit", function()
  local noise = { force = { density = 0.1, walk = 0.1 }, torque = { walk = 0.1 } }
  local function watch(world)
    return world:sensor { "force_torque", link = world:robot "brick":link "left", noise = noise, seed = 3 }
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

stn.test("what cannot be measured is one clear line", function()
  local world <close> = new_world()
  local brick = load_brick(world, 5)
  local box = world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 3, 0, 5 } }
  world:constraint { "ball", a = brick:link "brick", b = box, a_point = { 3, 0, 0 } }
  local function fails(description, text)
    stn.fails(function() world:sensor(description) end, text)
  end
  fails({ "force_torq", link = brick }, "force_torque")
  fails({ "imu" }, "link is missing")
  fails({ "imu", link = brick }, "link must name a single one")
  fails({ "imu", joint = 1, link = box }, "joint")
  fails({ "joint_torque", joint = 3 }, "joint must be a joint of this world")
  fails({ "imu", link = box, noise = { force = { density = 1 } } }, "force")
  fails({ "imu", link = box, noise = { specific_force = { density = -1 } } }, "density")
  fails({ "imu", link = box, seed = -1 }, "seed")
  fails({ "imu", link = box, log = "" }, "log must be a name")
  fails({ "contact_force", on = box, by = box }, "both sides")
  world:sensor { "force_torque", link = box }
  stn.fails(function() world:step() end, "sensor force_torque: constraint")
end)
