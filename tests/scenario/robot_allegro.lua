-- SPDX-License-Identifier: Apache-2.0
-- models/allegro: the hands have the figures of their README, are mirror images, touch themselves nowhere, hold and track.
local stn = require "stiction"
local worse = require "worse"

local right, left = "models/allegro/allegro_right.urdf", "models/allegro/allegro_left.urdf"
local fingers = { "index", "middle", "ring", "thumb" }

-- The resting posture of the README.
local home = {}
for _, finger in ipairs(fingers) do
  for k = 0, 3 do
    home["allegro_" .. finger .. "_joint_" .. k] = k == 0 and (finger == "thumb" and 0.9 or 0) or 0.25
  end
end

local function copy(values)
  local all = {}
  for name, value in pairs(values) do
    all[name] = value
  end
  return all
end

-- A world with one hand, every joint of which lifts something.
local function hand(file, options)
  local world = stn.world(options)
  return world, world:load { file, fixed = true, joints = home, base = { rpy = { 0.3, 1.2, 0.2 } } }
end

local function subtract(a, b)
  return { a[1] - b[1], a[2] - b[2], a[3] - b[3] }
end

stn.test("the hand has the published mass, freedom, ranges and torque", function()
  local ranges = { { -0.47, 0.47 }, { -0.196, 1.61 }, { -0.174, 1.709 }, { -0.227, 1.618 } }
  local of_thumb = { { 0.263, 1.396 }, { -0.105, 1.163 }, { -0.189, 1.644 }, { -0.162, 1.719 } }
  for _, file in ipairs { right, left } do
    assert(#stn.check_robot(file) == 0)
    local world = stn.world {}
    local robot = world:load { file, fixed = true }
    stn.near(robot:mass(), 1.08, 1e-12, "mass")
    stn.near(#robot:joints(), 16, 0, "joints")
    for _, finger in ipairs(fingers) do
      local mass = 0
      for k = 0, 3 do
        mass = mass + robot:link("allegro_" .. finger .. "_link_" .. k):mass()
        local joint = robot:joint("allegro_" .. finger .. "_joint_" .. k)
        local limits, range = joint:limits(), (finger == "thumb" and of_thumb or ranges)[k + 1]
        stn.near({ limits.lower, limits.upper, limits.effort }, { range[1], range[2], 0.7 }, 0, joint.name)
        stn.near(limits.velocity, 60 * stn.deg / 0.11, 1e-3, "0.11 s for 60 degrees")
        stn.near(joint:dynamics().reflected_inertia, 0.015 * limits.effort / limits.velocity, 5e-6, "15 ms to full speed")
        stn.near(joint:dynamics().damping, 0.01 * limits.effort / limits.velocity, 5e-7, "1 % of the torque")
      end
      stn.near(mass, finger == "thumb" and 0.19 or 0.17, 1e-12, finger)
    end
  end
end)

stn.test("the fingers have the published lengths", function()
  local robot = stn.world {}:load { right, fixed = true }
  local function at(finger, name)
    return robot:link("allegro_" .. finger .. "_" .. name):position()
  end
  for i = 1, 3 do
    local knuckle = at(fingers[i], "link_1")
    local tilt = (2 - i) * 5 * stn.deg
    stn.near(knuckle[2], (2 - i) * 0.045098, 1e-7, "from finger to finger")
    -- straight, the outer fingers spread by 5 degrees
    stn.near(subtract(at(fingers[i], "tip"), knuckle), { 0, 0.1361 * math.sin(tilt), 0.1361 * math.cos(tilt) }, 1e-12, "straight")
  end
  stn.near(at("middle", "link_1")[3] - at("index", "link_1")[3], 0.0166 - 0.014293, 1e-7, "the middle finger stands higher")
  -- every joint of a finger at a right angle leads back beside the knuckle
  robot:set_q { allegro_middle_joint_1 = math.pi / 2, allegro_middle_joint_2 = math.pi / 2, allegro_middle_joint_3 = math.pi / 2 }
  stn.near(subtract(at("middle", "tip"), at("middle", "link_1")), { 0.054 - 0.0437, 0, -0.0384 }, 1e-12, "bent")
  -- the thumb: 5 and 55.4 mm from its first axis to its second bend, then 51.4 and 59.3 mm
  local base, bend, tip = at("thumb", "link_0"), at("thumb", "link_2"), at("thumb", "tip")
  local function length(a)
    return math.sqrt(a[1] ^ 2 + a[2] ^ 2 + a[3] ^ 2)
  end
  stn.near(length(subtract(bend, base)), math.sqrt(0.005 ^ 2 + 0.0554 ^ 2), 1e-12, "base of the thumb")
  stn.near(length(subtract(tip, bend)), 0.0514 + 0.0593, 1e-12, "straight thumb")
end)

stn.test("the left hand is the mirror image of the right one", function()
  local world = stn.world {}
  local a, b = world:load { right, fixed = true }, world:load { left, fixed = true }
  local links, others = a:links(), b:links()
  assert(#links == #others)
  for _ = 1, 5 do
    local q, v = {}, {}
    for _, joint in ipairs(a:joints()) do
      local limits = joint:limits()
      q[joint.name], v[joint.name] = world:random(limits.lower, limits.upper), world:random(-5, 5)
    end
    a:set_q(q)
    b:set_q(q)
    for i, link in ipairs(links) do
      assert(link.name == others[i].name)
      local pose, mirrored = link:pose(), others[i]:pose()
      local x, w = pose.xyz, pose.quat
      stn.near(mirrored.xyz, { x[1], -x[2], x[3] }, 1e-14, link.name)
      local sign = mirrored.quat[1] * w[1] < 0 and -1 or 1
      stn.near(mirrored.quat, { sign * w[1], -sign * w[2], sign * w[3], -sign * w[4] }, 1e-14, link.name)
      stn.near(link:mass(), others[i]:mass(), 0, link.name)
    end
    -- equal kinetic energy for any velocity: equal mass matrices, rotors included
    local zero = {}
    for name in pairs(v) do
      zero[name] = 0
    end
    a:set_v(v)
    b:set_v(zero)
    local energy = world:energy().kinetic
    a:set_v(zero)
    b:set_v(v)
    stn.near(world:energy().kinetic, energy, 1e-15, "kinetic energy")
    assert(energy > 1e-3)
    b:set_v(zero)
  end
end)

stn.test("nothing touches while one joint after the other moves through its range", function()
  for _, file in ipairs { right, left } do
    local world, robot = hand(file, { gravity = { 0, 0, 0 }, margin = 2e-3, dt = 1e-4 })
    local rest = robot:v()
    local function near(q)
      robot:set_q(q)
      robot:set_v(rest)
      return world:step().contact_count
    end
    stn.near(near(home), 0, 0, "pairs nearer than 2 mm")
    for _, joint in ipairs(robot:joints()) do
      local limits, q = joint:limits(), copy(home)
      for i = 0, 12 do
        q[joint.name] = limits.lower + (limits.upper - limits.lower) * i / 12
        assert(near(q) == 0, joint.name)
      end
    end
    -- it could be told: crossed fingers touch
    local q = copy(home)
    q.allegro_index_joint_0, q.allegro_middle_joint_0 = -0.47, 0.47
    assert(near(q) > 0)
  end
end)

stn.test("a posture is held with the sag that the gain gives", function()
  local kp = 3
  local world, robot = hand(right, { dt = 2e-3, solver = { "sap", tolerance = 1e-10 } })
  local motors = world:controller { "joint_pd", target = robot, kp = kp, kd = 0.1 }
  motors:set { position = home }
  for step in world:run { seconds = 2 } do
    stn.near(step.contact_count, 0, 0, "contacts with itself")
  end
  for name, v in pairs(robot:velocities()) do
    stn.near(v, 0, 1e-6, name)
  end
  -- the forces that hold it are the slope of its potential energy, here by differences on another world
  local ghost, other = hand(right, {})
  local q, largest = robot:positions(), 0
  for name in pairs(home) do
    local function potential(change)
      local moved = copy(q)
      moved[name] = q[name] + change
      other:set_q(moved)
      return ghost:energy().potential
    end
    local g = (potential(1e-4) - potential(-1e-4)) / 2e-4
    stn.near(home[name] - q[name], g / kp, 1e-8, name)
    largest = worse(largest, math.abs(g))
  end
  assert(largest > 0.02 and largest < 0.7, "some joint carries a finger")
end)

stn.test("every joint follows a sine", function()
  local kp, amplitude, omega = 3, 0.2, 2 * math.pi
  local world, robot = hand(right, { dt = 2e-3 })
  local motors = world:controller { "joint_pd", target = robot, kp = kp, kd = 0.1, gravity_compensation = true }
  local names = motors:joints()
  local error, low, high = 0, {}, {}
  local function reference(t)
    local q, v = {}, {}
    for i, name in ipairs(names) do
      q[i] = home[name] + amplitude * math.sin(omega * t + i)
      v[i] = amplitude * omega * math.cos(omega * t + i)
    end
    return q, v
  end
  local q, v = reference(0)
  robot:set_q(q)
  robot:set_v(v)
  q, v = reference(world.dt)
  motors:set { position = q, velocity = v }
  for step in world:run { seconds = 1.5 } do
    for i, at in ipairs(robot:q()) do
      error = worse(error, math.abs(at - q[i]))
      low[i], high[i] = math.min(low[i] or at, at), math.max(high[i] or at, at)
    end
    q, v = reference(step.time + world.dt)
    motors:set { position = q, velocity = v }
  end
  -- a knuckle feels about 2.2e-3 kg m^2, rotor and the swing of the other joints included: 17 mN m, or 6 mrad of the gain
  stn.near(error, 0, 1e-2, "error")
  for i, name in ipairs(names) do
    assert(high[i] - low[i] > 1.95 * amplitude, name)
  end
end)
