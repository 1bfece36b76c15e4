-- SPDX-License-Identifier: Apache-2.0
-- Our own robots (models/) hold their home posture, or follow a sine on every joint around it, under joint PD; those
-- with feet stand on the ground meanwhile.
--
--   stiction run scripts/own_robots.lua --set robot=humanoid --set task=sine
local stn = require "stiction"
local worse = require "worse"

local p = stn.params {
  robot = stn.choice { "iiwa14", "panda", "panda_hand", "wsg50", "allegro_right", "allegro_left", "anymal", "humanoid" },
  task = stn.choice { "hold", "stand", "sine" }, -- stand: hold, for robots with feet
  seconds = 10.0, -- [s]
  kp = 0.0,       -- [N m/rad, N/m]; 0: the robot's
  kd = 0.0,       -- [N m s/rad, N s/m]; 0: the robot's
  effort_limits = true, -- of the motors
  dt = 0.002,     -- [s]
  picture = "",   -- file for a picture of the end, .png; "": none
}

-- -------------------------------------------------------------------------------------------------- the robots

-- Values of one side for both; `mirrored` names change their sign on the right side.
local function both_sides(values, mirrored)
  local all = {}
  for name, value in pairs(values) do
    all["left_" .. name] = value
    all["right_" .. name] = mirrored and mirrored[name] and -value or value
  end
  return all
end

local function merge(...)
  local all = {}
  for _, values in ipairs { ... } do
    for name, value in pairs(values) do
      all[name] = value
    end
  end
  return all
end

local fingers = {}
for _, finger in ipairs { "index", "middle", "ring", "thumb" } do
  for k = 0, 3 do
    fingers["allegro_" .. finger .. "_joint_" .. k] = k == 0 and (finger == "thumb" and 0.9 or 0) or 0.25
  end
end

-- Of the quadruped: `left` is the same on all legs, `outward` changes its sign on the right, `hip` and `knee` behind.
local function four_legs(left, outward, hip, knee)
  local all = {}
  for _, leg in ipairs { "LF", "RF", "LH", "RH" } do
    local y, x = leg:sub(1, 1) == "L" and 1 or -1, leg:sub(2) == "F" and 1 or -1
    all["anymal_" .. leg .. "_HAA"] = left + y * outward
    all["anymal_" .. leg .. "_HFE"], all["anymal_" .. leg .. "_KFE"] = x * hip, x * knee
  end
  return all
end

local ready = {
  panda_joint2 = -math.pi / 4, panda_joint4 = -3 * math.pi / 4, panda_joint6 = math.pi / 2, panda_joint7 = math.pi / 4,
}

-- `home`: joint positions, 0 where not named. `feet`: { link, its frame's height over the ground }; without feet the base
-- is bolted down. `kp`, `kd`, `swing`: gains, and amplitude where no wave names the joint [rad]; `slide_kp`, `slide_kd`,
-- `slide`: the same of joints that slide [m]. `waves`: what legs do together so that their feet stay where they are; each
-- wave is a sine of its own phase, with an amplitude for each joint. `floor`: height of the ground where it is only drawn
-- [m]; `view`: parameters of recorder/png.
local robots = {
  iiwa14 = {
    file = "models/iiwa14/iiwa14.urdf",
    home = { iiwa14_joint_2 = 0.5, iiwa14_joint_4 = -1.2, iiwa14_joint_6 = 0.8 },
    kp = 5000, kd = 200, swing = 0.3,
  },
  panda = { file = "models/panda/panda.urdf", home = ready, kp = 5000, kd = 200, swing = 0.3 },
  panda_hand = {
    file = "models/panda/panda_hand.urdf",
    home = merge(ready, { panda_finger_joint1 = 0.02 }),
    kp = 5000, kd = 200, swing = 0.3,
    slide_kp = 1e5, slide_kd = 1e4, slide = 0.015,
  },
  wsg50 = {
    file = "models/wsg50/wsg50.urdf",
    home = { wsg50_finger_left_joint = 0.0275 },
    slide_kp = 2e4, slide_kd = 1e3, slide = 0.02,
    view = { elevation = 22 },
  },
  allegro_right = {
    file = "models/allegro/allegro_right.urdf",
    home = fingers, kp = 20, kd = 0.5, swing = 0.2,
    floor = -0.05,
  },
  allegro_left = {
    file = "models/allegro/allegro_left.urdf",
    home = fingers, kp = 20, kd = 0.5, swing = 0.2,
    floor = -0.05, view = { azimuth = -35 },
  },
  anymal = {
    file = "models/anymal/anymal.urdf",
    home = four_legs(0, -0.16, 0.61, -0.9), -- where sagging legs do not push against each other
    feet = { { "anymal_LF_foot", 0.03 }, { "anymal_RF_foot", 0.03 }, { "anymal_LH_foot", 0.03 }, { "anymal_RH_foot", 0.03 } },
    kp = 1000, kd = 50,
    view = { azimuth = -40 },
    waves = {
      four_legs(0, -0.0034, 0.05, -0.0896), -- straight down and up
      four_legs(0.03, 0, 0, 0),             -- from side to side
      { anymal_LF_HFE = 0.03, anymal_RF_HFE = 0.03, anymal_LH_HFE = 0.03, anymal_RH_HFE = 0.03 }, -- back and forth
    },
  },
  humanoid = {
    file = "models/humanoid/humanoid.urdf",
    home = merge(
      both_sides { hip_pitch = -0.15, knee = 0.4, ankle_pitch = -0.25, shoulder_pitch = 0.1, elbow = -0.4 },
      both_sides({ shoulder_roll = 0.15 }, { shoulder_roll = true })
    ),
    feet = { { "left_sole", 0 }, { "right_sole", 0 } },
    kp = 5000, kd = 200, swing = 0.1,
    waves = {
      -- legs of one shape and feet of one direction stay parallel: down and up, from side to side
      both_sides { hip_pitch = -0.05, knee = 0.1, ankle_pitch = -0.05 },
      both_sides { hip_roll = 0.03, ankle_roll = -0.03 },
      -- a turn of the pelvis by a moves the hips by +-0.085 m a, and the legs, 0.855 m long, lean against that
      merge(
        both_sides { hip_yaw = 0.05 },
        both_sides({ hip_pitch = 0.005, ankle_pitch = -0.005 }, { hip_pitch = true, ankle_pitch = true })
      ),
    },
  },
}

local spec = robots[p.robot]
if p.task == "stand" and not spec.feet then
  error(("%s is bolted down; robots that stand have feet: take task=hold"):format(p.robot), 0)
end

-- ------------------------------------------------------------------------------------------------- the world

local world = stn.world { dt = p.dt }
local ground = world:ground { name = "ground", mu = 0.8, xyz = { 0, 0, spec.floor or 0 } }
local robot = world:load { spec.file, name = "robot", fixed = not spec.feet, mu = spec.feet and 0.8 or nil, joints = spec.home }

if not spec.feet then
  world:disable_collisions(robot, ground) -- it is only drawn
end

local joints = {} -- those that are driven, each with its own coordinate
for _, joint in ipairs(robot:joints()) do
  if joint.type ~= "floating" and not joint:mimic() then
    joints[#joints + 1] = joint
  end
end

if spec.feet then -- the lowest foot touches the ground
  local gap = math.huge
  for _, foot in ipairs(spec.feet) do
    gap = math.min(gap, robot:link(foot[1]):position()[3] - foot[2])
  end
  local pose = robot:pose()
  robot:set_pose { xyz = { pose.xyz[1], pose.xyz[2], pose.xyz[3] - gap }, quat = pose.quat }
end

-- One controller for the joints that turn and one for those that slide. Efforts that hold the robot in the air would be
-- wrong for one that stands.
local drives = {}
local function add_drive(sliding, kp, kd)
  local names, members = {}, {}
  for i, joint in ipairs(joints) do
    if (joint.type == "prismatic") == sliding then
      names[#names + 1], members[#members + 1] = joint.name, i
    end
  end
  if #names > 0 then
    drives[#drives + 1] = { members = members, motors = world:controller {
      "joint_pd", target = robot, joints = names, kp = p.kp > 0 and p.kp or kp, kd = p.kd > 0 and p.kd or kd, effort_limits = p.effort_limits,
      gravity_compensation = not spec.feet,
    } }
  end
end
add_drive(false, spec.kp, spec.kd)
add_drive(true, spec.slide_kp, spec.slide_kd)

local function drive_to(position, velocity)
  for _, drive in ipairs(drives) do
    local q, v = {}, {}
    for k, i in ipairs(drive.members) do
      q[k], v[k] = position[i], velocity[i]
    end
    drive.motors:set { position = q, velocity = v }
  end
end

-- ----------------------------------------------------------------------------------------------- the reference

local frequency = 0.5 -- [Hz]
local omega = 2 * math.pi * frequency

-- Sum of the waves of a joint as { in phase with the sine, in phase with the cosine }, as large as its limits allow.
local function wave_of(i, joint)
  local sine, cosine, named = 0, 0, false
  for w, wave in ipairs(spec.waves or {}) do
    local amplitude = wave[joint.name]
    if amplitude then
      local phase = 2 * math.pi * (w - 1) / #spec.waves
      sine, cosine, named = sine + amplitude * math.cos(phase), cosine + amplitude * math.sin(phase), true
    end
  end
  if not named then
    local limits, home = joint:limits(), joint:position()
    local room = math.min(limits.upper - home, home - limits.lower, limits.velocity / omega)
    local amplitude = math.min(joint.type == "prismatic" and spec.slide or spec.swing, 0.9 * room)
    sine, cosine = amplitude * math.cos(i), amplitude * math.sin(i)
  end
  return { sine, cosine }
end

local home, waves = {}, {}
for i, joint in ipairs(joints) do
  home[i], waves[i] = joint:position(), wave_of(i, joint)
end

-- Positions and velocities of all joints at time t; the waves swell in the first second, without a jump in speed.
local function reference(t)
  local x = math.min(1, t)
  local swell, rate = x * x * (3 - 2 * x), 6 * x * (1 - x)
  local s, c = math.sin(omega * t), math.cos(omega * t)
  local position, velocity = {}, {}
  for i, wave in ipairs(waves) do
    local offset = wave[1] * s + wave[2] * c
    position[i] = home[i] + swell * offset
    velocity[i] = rate * offset + swell * omega * (wave[1] * c - wave[2] * s)
  end
  return position, velocity
end

-- ----------------------------------------------------------------------------------------------------- the run

local function positions()
  local q = {}
  for i, joint in ipairs(joints) do
    q[i] = joint:position()
  end
  return q
end

local settled = math.min(5, p.seconds / 2) -- drift counts from here on [s]
local errors, at_settled, base_at_settled = {}, nil, nil
local unsolved, self_contacts = 0, 0
for i in ipairs(joints) do
  errors[i] = 0
end
if p.picture ~= "" then
  world:record(p.picture, merge({ "png", width = 480, height = 360, elevation = 12 }, spec.view or {}))
end

-- A robot that is held gets a push, or it would only stay where it was put: a twentieth of its weight for 0.2 s.
local pushed = spec.feet and robot or joints[#joints]:child()
local push_end = 0.2 -- [s]
if p.task ~= "sine" then
  local strength = 0.05 * 9.81 * robot:mass()
  pushed:apply_force { force = { 0.8 * strength, 0.6 * strength, 0 } }
end

local target = home
for step in world:run { seconds = p.seconds } do
  local q = positions()
  for i in ipairs(joints) do
    errors[i] = worse(errors[i], math.abs(q[i] - target[i]))
  end
  if not at_settled and step.time >= settled then
    at_settled, base_at_settled = q, robot:pose()
  end
  if p.task == "sine" then
    local velocity
    target, velocity = reference(step.time + p.dt)
    drive_to(target, velocity)
  end
  if push_end and step.time >= push_end then
    pushed:apply_force {}
    push_end = nil
  end
  unsolved = unsolved + (step.converged and 0 or 1)
  for _, contact in ipairs(step:contacts()) do
    self_contacts = self_contacts + (contact.a == contact.b and 1 or 0)
  end
end

-- -------------------------------------------------------------------------------------------------- the verdict

-- Worst of the joints that slide, or of those that turn, and its name: nil when there is none.
local function worst_of(values, sliding)
  local worst, whose = 0, nil
  for i, joint in ipairs(joints) do
    if (joint.type == "prismatic") == sliding and not (whose and values[i] <= worst) then
      worst, whose = values[i], joint.name
    end
  end
  return worst, whose
end

local drift, last, fastest = {}, positions(), 0
for i, joint in ipairs(joints) do
  drift[i] = math.abs(last[i] - at_settled[i])
  fastest = worse(fastest, math.abs(joint:velocity()))
end

io.stderr:write(("%s, %s, %g s, %d joints, %.4g kg\n"):format(p.robot, p.task, p.seconds, #joints, robot:mass()))
io.stderr:write(("  %-24s %9s %9s %9s %11s %11s\n"):format("joint", "home", "swing", "end", "error", "drift"))
for i, joint in ipairs(joints) do
  local swing = p.task == "sine" and math.sqrt(waves[i][1] ^ 2 + waves[i][2] ^ 2) or 0
  io.stderr:write(("  %-24s %9.4f %9.4f %9.4f %11.2e %11s\n"):format(joint.name, home[i], swing, last[i], errors[i],
    p.task == "sine" and "" or ("%.2e"):format(drift[i])))
end

stn.result("mass_kg", robot:mass(), "kg")
local claim = p.task == "sine" and "follow" or "stay near home"
for _, kind in ipairs { { "turn", 0.01, "rad" }, { "slide", 5e-4, "m" } } do
  local worst, whose = worst_of(errors, kind[1] == "slide")
  if whose then
    stn.check(("joints that %s %s, the worst is %s"):format(kind[1], claim, whose), { value = worst, limit = kind[2], unit = kind[3] })
  end
end
if p.task ~= "sine" then
  stn.check("joints drift", { value = math.max((worst_of(drift, true)), (worst_of(drift, false))), limit = 1e-4, unit = "rad, m" })
  stn.check("joints rest", { value = fastest, limit = 1e-3, unit = "rad/s, m/s" })
end

if spec.feet then
  local pose, standing, force = robot:pose(), {}, world:contact_force(robot).force[3]
  for _, contact in ipairs(world:contacts()) do
    if contact.a ~= contact.b then
      standing[contact.b == "robot" and contact.link_b or contact.link_a] = true
    end
  end
  local count = 0
  for _ in pairs(standing) do
    count = count + 1
  end
  local turn = stn.pose(base_at_settled):relative(pose).quat
  local shift = {}
  for i = 1, 3 do
    shift[i] = math.abs(pose.xyz[i] - base_at_settled.xyz[i])
  end
  local angle = 2 * math.asin(math.min(1, math.sqrt(turn[2] ^ 2 + turn[3] ^ 2 + turn[4] ^ 2)))
  local weight = 9.81 * robot:mass()
  stn.result("ground_force_N", force, "N")
  stn.result("base_height_m", pose.xyz[3], "m")
  stn.check("links on the ground are the feet", count == #spec.feet)
  if p.task == "sine" then
    stn.check("base moves", { value = math.max(table.unpack(shift)), limit = 0.1, unit = "m" })
    stn.check("base turns", { value = angle, limit = 0.2, unit = "rad" })
  else
    stn.check("base drifts", { value = math.max(table.unpack(shift)), limit = 1e-4, unit = "m" })
    stn.check("base turns", { value = angle, limit = 1e-4, unit = "rad" })
    stn.check("ground force is the weight", { value = math.abs(force / weight - 1), limit = 1e-3, unit = "1" })
  end
end
stn.check("the robot touches itself", { value = self_contacts, limit = 0, unit = "contacts" })
stn.check("steps not solved", { value = unsolved, limit = 0, unit = "steps" })
