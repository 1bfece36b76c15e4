-- SPDX-License-Identifier: Apache-2.0
-- Inverse kinematics: every pose that an arm can take is found, within its limits, and what it cannot take is told.
local stn = require "stiction"
local load_text = require "robot_text"

local function load_arm()
  local world = stn.world {}
  return world, world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true, base = { xyz = { 0.3, 0, 0.7 }, rpy = { 0, 0.2, 1 } } }
end

local function random_positions(world, arm)
  local positions = {}
  for _, joint in ipairs(arm:joints()) do
    positions[joint.name] = world:random(joint:limits().lower, joint:limits().upper)
  end
  return positions
end

stn.test("1,000 random poses of a 7-DoF arm are all found, and the links get there", function()
  local world, arm = load_arm()
  local tip = arm:link "iiwa14_flange"
  local first = 0
  for i = 1, 1000 do
    arm:set_q(random_positions(world, arm))
    local goal = tip:pose()
    arm:set_q(random_positions(world, arm)) -- where it begins
    local positions = assert(arm:inverse_kinematics { link = "iiwa14_flange", pose = goal })
    first = first + (arm:inverse_kinematics { link = tip, pose = goal, random_starts = 0 } and 1 or 0)
    arm:set_q(positions)
    assert(tip:pose():distance(goal) < 1e-6 and tip:pose():angle(goal) < 1e-6, "pose " .. i)
    for _, joint in ipairs(arm:joints()) do
      assert(joint:position() >= joint:limits().lower and joint:position() <= joint:limits().upper, joint.name)
    end
  end
  assert(first > 500, first) -- without another start
end)

stn.test("a seed chooses among the solutions: near the one that it is", function()
  local world, arm = load_arm()
  for _ = 1, 50 do
    local wanted = random_positions(world, arm)
    arm:set_q(wanted)
    local goal = arm:link("iiwa14_flange"):pose()
    local seed = {}
    for name, q in pairs(wanted) do
      seed[name] = q + 1e-3
    end
    arm:set_q(random_positions(world, arm))
    local positions = assert(arm:inverse_kinematics { link = "iiwa14_flange", pose = goal, seeds = { seed }, random_starts = 0 })
    for name, q in pairs(wanted) do
      stn.near(positions[name], q, 5e-2, name)
    end
  end
end)

stn.test("the answer is the same each time", function()
  local _, arm = load_arm()
  local far = stn.pose { xyz = { -0.4, 0.2, 1 }, rpy = { 3, 0, 0 } }
  local function solve(seed)
    return assert(arm:inverse_kinematics { link = "iiwa14_flange", pose = far, seeds = { { iiwa14_joint_4 = 2, iiwa14_joint_2 = -2 } }, seed = seed })
  end
  local a, b = solve(1), solve(1)
  for name, q in pairs(a) do
    assert(b[name] == q, name)
  end
end)

-- A slide of 0.1 m along x that carries an arm of 1 m, which turns about z by at most 1 rad.
local crane = [[<robot name="crane"><link name="world"/>
  <link name="car"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="boom"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="hook"/>
  <joint name="slide" type="prismatic"><parent link="world"/><child link="car"/><axis xyz="1 0 0"/><limit lower="0" upper="0.1" effort="9" velocity="1"/></joint>
  <joint name="turn" type="revolute"><parent link="car"/><child link="boom"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="1"/></joint>
  <joint name="end" type="fixed"><parent link="boom"/><child link="hook"/><origin xyz="1 0 0"/></joint></robot>]]

stn.test("a goal out of reach is told with what stays, in closed form", function()
  local world = stn.world {}
  local robot = load_text(world, ".urdf", crane)
  local cases = {
    { xyz = { 1.5, 0, 0 }, 0.4 },                                   -- stretched out, at the end of the slide
    { xyz = { 0.1 + 2 * math.cos(1), 2 * math.sin(1), 0 }, 1 },     -- on the line of the boom at its limit
    { xyz = { 1.05, 0, 0.3 }, 0.3 },                                -- above
  }
  for _, case in ipairs(cases) do
    local none, why = robot:inverse_kinematics { link = "hook", pose = { xyz = case.xyz }, position_only = true }
    assert(none == nil and why:find("group 'crane' does not get link 'hook' to (", 1, true), why)
    stn.near(tonumber(why:match "([%d.e-]+) m and 0 deg stay, the best of 51 starts"), case[1], 1e-3, why)
  end
  local positions = robot:inverse_kinematics { link = "hook", position_only = true, pose = { xyz = { 0.04 + math.cos(0.5), math.sin(0.5), 0 } } }
  stn.near(positions.slide + math.cos(positions.turn), 0.04 + math.cos(0.5), 1e-6, "x")
  stn.near(positions.turn, 0.5, 2e-6, "turn")
end)

stn.test("joints that mimic move along", function()
  local hand = stn.world {}:load { "models/wsg50/wsg50.urdf", name = "hand", fixed = true }
  local goal = hand:link("wsg50_finger_right"):pose() * { xyz = { 0, -0.02, 0 } }
  hand:set_q { wsg50_finger_left_joint = 0.05 }
  local positions = hand:inverse_kinematics { link = "wsg50_finger_right", pose = goal }
  stn.near(positions.wsg50_finger_right_joint, 0.02, 1e-6, "right")
  stn.near(positions.wsg50_finger_left_joint, 0.02, 1e-6, "left")
end)

stn.test("the link may be that of a hand that hangs on the arm, whose fingers stay", function()
  local world = stn.world {}
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true }
  local hand = world:load { "models/wsg50/wsg50.urdf", name = "hand" }
  arm:attach(hand, "iiwa14_flange")
  hand:set_q { wsg50_finger_left_joint = 0.03 }
  local goal = stn.pose { xyz = { 0.5, 0.1, 0.3 }, axes = { z = { 0, 0, -1 } } }
  local positions = assert(arm:inverse_kinematics { link = "hand/wsg50_tip", pose = goal })
  assert(positions.wsg50_finger_left_joint == nil)
  arm:set_q(positions)
  stn.near(hand:link("wsg50_tip"):pose():distance(goal), 0, 1e-6, "place")
  stn.near(hand:joint("wsg50_finger_left_joint"):position(), 0.03, 0, "finger")
end)

-- Two links of 0.5 m in a plane: each place has two elbows, +-2 acos(r), and the shoulder follows.
local elbow = [[<robot name="elbow"><link name="world"/>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><origin xyz="0.25 0 0"/><geometry><box size="0.4 0.02 0.02"/></geometry></collision></link>
  <link name="lower"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="tip"/>
  <joint name="shoulder" type="revolute"><parent link="world"/><child link="upper"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="9" velocity="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0.5 0 0"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="9" velocity="1"/></joint>
  <joint name="end" type="fixed"><parent link="lower"/><child link="tip"/><origin xyz="0.5 0 0"/></joint></robot>]]

stn.test("nearest: of two elbows the one that is nearer to the present joints", function()
  local world = stn.world { seed = 5 }
  local robot = load_text(world, ".urdf", elbow)
  for _ = 1, 40 do
    local r, angle = world:random(0.2, 0.95), world:random(-1, 1)
    local bend, now = math.acos(r), { shoulder = world:random(-2.5, 2.5), elbow = world:random(-2.5, 2.5) }
    robot:set_q(now)
    local found = assert(robot:inverse_kinematics { link = "tip", position_only = true, nearest = true, pose = { xyz = { r * math.cos(angle), r * math.sin(angle), 0 } } })
    local function way(sign) return (angle - sign * bend - now.shoulder) ^ 2 + (sign * 2 * bend - now.elbow) ^ 2 end
    local sign = way(1) < way(-1) and 1 or -1
    if math.abs(way(1) - way(-1)) > 1e-3 then
      stn.near(found, { shoulder = angle - sign * bend, elbow = sign * 2 * bend }, 1e-4, "the nearer one")
    end
  end
end)

stn.test("free: what meets something does not count", function()
  local world = stn.world {}
  local robot = load_text(world, ".urdf", elbow)
  local bend, goal = math.acos(0.8), { link = "tip", position_only = true, pose = { xyz = { 0.8, 0, 0 } } }
  local ball = world:sphere { name = "ball", radius = 0.05, fixed = true, xyz = { 0.25 * math.cos(bend), 0.25 * math.sin(bend), 0 } }
  for _, start in ipairs { -1, 1 } do
    robot:set_q { shoulder = -start * bend, elbow = 2 * start * bend } -- there already; with -1 it is in the ball
    local before = world:hash()
    goal.free = true
    stn.near(assert(robot:inverse_kinematics(goal)), { shoulder = -bend, elbow = 2 * bend }, 1e-4, "the other way round")
    goal.free = { margin = 0.15 * 2 + 0.09 }
    local none, why = robot:inverse_kinematics(goal)
    assert(none == nil and why:match "within its limits clear of what is around: .*; %d+ came there and met something$", why)
    goal.free = { margin = 0.5, exclude = ball }
    assert(robot:inverse_kinematics(goal))
    goal.free = false
    stn.near(assert(robot:inverse_kinematics(goal)).shoulder, -start * bend, 1e-6, "as it is")
    assert(world:hash() == before)
  end
end)

stn.test("bad input is told in a line", function()
  local world, arm = load_arm()
  local box = stn.world {}:box { size = { 1, 1, 1 } }
  local pose = { xyz = { 0.5, 0, 1 } }
  local cases = {
    { { pose = pose }, "link is missing" }, { { link = "iiwa14_flange" }, "pose is missing; give where link 'iiwa14_flange' is to be" },
    { { link = "iiwa14_flang", pose = pose }, "did you mean 'iiwa14_flange'" }, { { link = arm, pose = pose }, "link must name a single one" },
    { { link = "iiwa14_link_0", pose = pose }, "no joint of group 'arm' moves link 'iiwa14_link_0'" },
    { { link = "iiwa14_flange", pose = { xyz = { 0, 0 / 0, 0 } } }, "pose: xyz[2] = nan" },
    { { link = "iiwa14_flange", pose = pose, seeds = { { 1, 2, 3 } } }, "seeds[1]: the list for group 'arm' has 3 numbers, it needs 7" },
    { { link = "iiwa14_flange", pose = pose, seeds = 3 }, "seeds must be a list" },
    { { link = "iiwa14_flange", pose = pose, tolerance = 0 }, "tolerance = 0 m must be > 0" },
    { { link = "iiwa14_flange", pose = pose, sead = 0 }, "unknown key 'sead', did you mean 'seed'?" },
    { { link = box:links()[1], pose = pose }, "another world" },
    { { link = "iiwa14_flange", pose = pose, free = 3 }, "inverse_kinematics: free takes a table" },
    { { link = "iiwa14_flange", pose = pose, free = { margn = 0 } }, "did you mean 'margin'" },
    { { link = "iiwa14_flange", pose = pose, nearest = 1 }, "nearest" },
  }
  for _, case in ipairs(cases) do
    local message = stn.fails(function() arm:inverse_kinematics(case[1]) end, case[2])
    assert(message:match "^[^\n]*inverse_kinematics%.lua:%d+: " and not message:find "\n", message)
  end
  local _, why = arm:inverse_kinematics { link = "iiwa14_flange", pose = { xyz = { 5, 0, 0 } }, random_starts = 3 }
  assert(why:match "%(5, 0, 0%) m within its limits: [%d.]+ m and [%d.]+ deg stay, the best of 4 starts$", why)
  world:close()
end)
