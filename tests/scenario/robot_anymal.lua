-- SPDX-License-Identifier: Apache-2.0
-- models/anymal: the quadruped has the figures of its README, touches itself nowhere, stands on four feet and bobs.
local stn = require "stiction"
local worse = require "worse"

local file = "models/anymal/anymal.urdf"
local legs = { "LF", "RF", "LH", "RH" }
local thigh, shank, radius = 0.25, 0.27, 0.03 -- to the foot's centre
local aside = 0.1                             -- of a leg's plane from the axis of its HAA

-- The standing posture of the README, knees and feet a little inwards.
local haa, hfe, kfe = 0.16, 0.61, -0.9
local drop = thigh * math.cos(hfe) + shank * math.cos(hfe + kfe) -- from hip to foot in the leg's plane
local inset = thigh * math.sin(hfe) + shank * math.sin(hfe + kfe)
local height = drop * math.cos(haa) + aside * math.sin(haa)      -- of the trunk over the feet's centres
local beside = aside * math.cos(haa) - drop * math.sin(haa)      -- of the feet from the axes of the HAAs

-- Joint positions of four equal legs.
local function all_legs(inward, thigh_angle, knee_angle)
  local q = {}
  for _, leg in ipairs(legs) do
    local fore = leg:sub(2) == "F" and 1 or -1
    q["anymal_" .. leg .. "_HAA"] = leg:sub(1, 1) == "L" and -inward or inward
    q["anymal_" .. leg .. "_HFE"], q["anymal_" .. leg .. "_KFE"] = fore * thigh_angle, fore * knee_angle
  end
  return q
end

-- With the trunk at a height over the feet's centres; `x` inwards from the hips, `y` outwards from the axes of the HAAs.
local function posture(z, x, y)
  local down = math.sqrt(z ^ 2 + y ^ 2 - aside ^ 2)
  local reach = math.sqrt(down ^ 2 + x ^ 2)
  local lean = math.atan(x, down) + math.acos((thigh ^ 2 + reach ^ 2 - shank ^ 2) / (2 * thigh * reach))
  local knee = math.acos((thigh ^ 2 + shank ^ 2 - reach ^ 2) / (2 * thigh * shank)) - math.pi
  return all_legs(math.atan(aside, down) - math.atan(y, z), lean, knee)
end

-- On the ground under joint PD, its feet just touching.
local function standing(q, sigma)
  local world = stn.world { dt = 2e-3, law = { "sap", sigma = sigma } }
  world:ground { mu = 0.8 }
  local robot = world:load { file, base = { xyz = { 0, 0, height + radius } }, joints = q, mu = 0.8 }
  local motors = world:controller { "joint_pd", target = robot, kp = 300, kd = 15 }
  motors:set { position = q }
  return world, robot, motors
end

local function foot(robot, leg)
  return robot:link("anymal_" .. leg .. "_foot"):position()
end

stn.test("the robot has the published mass, freedom, torque, speed and length of leg", function()
  assert(#stn.check_robot(file) == 0)
  local world = stn.world {}
  local robot = world:load { file }
  stn.near(robot:mass(), 30, 1e-12, "mass")
  stn.near(world.nv, 18, 0, "freedom with the floating base")
  for _, leg in ipairs(legs) do
    for _, name in ipairs { "HAA", "HFE", "KFE" } do
      local joint = robot:joint("anymal_" .. leg .. "_" .. name)
      stn.near({ joint:limits().effort, joint:limits().velocity }, { 40, 12 }, 0, joint.name)
      stn.near(joint:dynamics().reflected_inertia, 0.015 * 40 / 12, 1e-15, "15 ms to full speed")
      stn.near(joint:dynamics().damping, 0.01 * 40 / 12, 5e-5, "1 % of the torque")
    end
    -- straight down from the hip at zero, to the sole
    local top, sole = robot:link("anymal_" .. leg .. "_thigh"):position(), foot(robot, leg)
    stn.near({ sole[1] - top[1], sole[2] - top[2], sole[3] - radius - top[3] }, { 0, 0, -0.55 }, 1e-15, "leg")
  end
end)

stn.test("the legs are mirror images", function()
  local world = stn.world { gravity = { 0, 0, 0 } }
  local robot = world:load { file, fixed = true }
  local zero = robot:v()
  for _ = 1, 5 do
    local haa, hfe, kfe = world:random(-0.5, 0.5), world:random(-3, 3), world:random(-2.7, 2.7)
    local first, energy
    for _, leg in ipairs(legs) do
      local x, y = leg:sub(2) == "F" and 1 or -1, leg:sub(1, 1) == "L" and 1 or -1
      robot:set_q { ["anymal_" .. leg .. "_HAA"] = y * haa, ["anymal_" .. leg .. "_HFE"] = x * hfe, ["anymal_" .. leg .. "_KFE"] = x * kfe }
      robot:set_v(zero)
      robot:set_v { ["anymal_" .. leg .. "_HAA"] = y, ["anymal_" .. leg .. "_HFE"] = 2 * x, ["anymal_" .. leg .. "_KFE"] = -3 * x }
      local at, moving = foot(robot, leg), world:energy().kinetic
      at = { x * at[1], y * at[2], at[3] }
      first, energy = first or at, energy or moving
      stn.near(at, first, 1e-15, leg)
      stn.near(moving, energy, 1e-15, leg)
    end
  end
end)

stn.test("nothing touches while one joint after the other moves through its range", function()
  local world = stn.world { gravity = { 0, 0, 0 }, margin = 5e-3, dt = 1e-4 }
  local robot = world:load { file, fixed = true, joints = all_legs(haa, hfe, kfe) }
  local rest = robot:v()
  local function near(q)
    robot:set_q(q)
    robot:set_v(rest)
    return world:step().contact_count
  end
  stn.near(near(all_legs(haa, hfe, kfe)), 0, 0, "pairs nearer than 5 mm")
  for _, joint in ipairs(robot:joints()) do
    local limits, q = joint:limits(), all_legs(haa, hfe, kfe)
    for i = 0, 16 do
      q[joint.name] = limits.lower + (limits.upper - limits.lower) * i / 16
      assert(near(q) == 0, joint.name)
    end
  end
  -- it could be told: legs swung towards each other touch
  local q = all_legs(0, 0, 0)
  q.anymal_LF_HAA, q.anymal_RF_HAA = -30 * stn.deg, 30 * stn.deg
  assert(near(q) > 0)
end)

stn.test("it stands on four feet that carry its weight", function()
  local world, robot = standing(all_legs(haa, hfe, kfe))
  for _ in world:run { seconds = 2 } do
  end
  for i, v in ipairs(robot:v()) do
    stn.near(v, 0, 1e-5, "velocity " .. i)
  end
  local force, carries = { 0, 0, 0 }, {}
  for _, contact in ipairs(world:contacts()) do
    local sign = contact.b == robot.name and 1 or -1
    carries[contact.b == robot.name and contact.link_b or contact.link_a] = contact.normal_impulse / world.dt
    for i = 1, 3 do
      force[i] = force[i] + sign * contact.impulse[i] / world.dt
    end
  end
  local weight = 30 * 9.81
  stn.near(force, { 0, 0, weight }, 1e-5 * weight, "ground reaction")
  stn.near(#world:contacts(), 4, 0, "contacts")
  for _, leg in ipairs(legs) do
    stn.near(carries["anymal_" .. leg .. "_foot"], weight / 4, 1e-5 * weight, leg)
    stn.near(foot(robot, leg)[3], radius, 1e-4, "on the ground")
  end
  for _, contact in ipairs(world:contacts()) do
    stn.near(contact.friction_impulse / world.dt, 0, 0.1, "the home posture pushes nowhere sideways")
  end
  -- statics: the legs sag until kp times the sag holds the weight; the trunk stays level
  local pose = robot:pose()
  stn.near(pose.quat, { 1, 0, 0, 0 }, 1e-6, "level")
  assert(pose.xyz[3] < height + radius and pose.xyz[3] > height + radius - 5e-3, "it sags by less than 5 mm")
end)

-- Friction is regularised: a foot that pushes sideways with the impulse gamma_t creeps at sigma w gamma_t, at most at
-- sigma w mu gamma_n (plugins/law/sap); w is the inverse mass that its contact feels.
stn.test("its feet creep as the regularisation of friction says", function()
  for _, sigma in ipairs { 1e-3, 1e-5 } do
    local world = standing(posture(height, 0, aside), sigma)
    for _ in world:run { seconds = 1 } do
    end
    local path, inverse_mass = os.tmpname(), {}
    world:save_problem(path)
    local text <close> = assert(io.open(path))
    for w in text:read("a"):gmatch '"set": *"cone".-"w": *([%d.eE+-]+)' do
      inverse_mass[#inverse_mass + 1] = tonumber(w)
    end
    os.remove(path)
    stn.near(#inverse_mass, 4, 0, "contacts in the problem")
    for i, contact in ipairs(world:contacts()) do
      local pushes = contact.friction_impulse
      assert(pushes > 0.1 * contact.normal_impulse, "feet below the hips push sideways when the knees sag")
      local creep = sigma * inverse_mass[i] * pushes
      stn.near(contact.slip_speed, creep, 1e-4 * creep, "creep")
    end
  end
end)

stn.test("its trunk bobs while the feet stay where they are", function()
  local world, robot, motors = standing(all_legs(haa, hfe, kfe))
  local start, slip, low, high, tilt = {}, 0, 1, 0, 0
  for _, leg in ipairs(legs) do
    start[leg] = foot(robot, leg)
  end
  for step in world:run { seconds = 3 } do
    local t = step.time + world.dt
    motors:set { position = posture(height - 0.03 * (1 - math.cos(2 * math.pi * t)), inset, beside) }
    stn.near(step.contact_count, 4, 0, "feet on the ground")
    if step.time > 1 then
      local pose = robot:pose()
      low, high = math.min(low, pose.xyz[3]), math.max(high, pose.xyz[3])
      tilt = worse(tilt, 1 - pose.quat[1])
    end
    for _, contact in ipairs(step:contacts()) do
      slip = worse(slip, contact.slip_speed)
    end
  end
  stn.near(high - low, 0.06, 1e-3, "height of the bob")
  stn.near(tilt, 0, 1e-9, "level")
  stn.near(slip, 0, 1e-4, "slip")
  for _, leg in ipairs(legs) do
    stn.near(foot(robot, leg), start[leg], 1e-3, leg)
  end
end)
