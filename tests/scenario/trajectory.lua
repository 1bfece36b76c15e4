-- SPDX-License-Identifier: Apache-2.0
-- Ways through several points: the controller trajectory, and robot:follow in tasks.
local stn = require "stiction"
local worse = require "worse"

local names = {}
for i = 1, 7 do names[i] = "iiwa14_joint_" .. i end

local function new_arm(dt, settings, joints)
  local world = stn.world { dt = dt }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true, joints = joints }
  world:disable_collisions(arm)
  settings.target = arm
  return world, arm, world:controller(settings)
end

local function row(k) -- some waypoint of the seven joints
  local point = {}
  for i = 1, 7 do point[i] = 0.6 * math.sin(1.7 * k + i) end
  return point
end

local function error_to(arm, point)
  local worst = 0
  for i, name in ipairs(names) do worst = worse(worst, math.abs(arm:joint(name):position() - point[i])) end
  return worst
end

-- Root mean square of the error to a move of 1 rad in 1 s from t = 0.2 s, by the closed form of one piece.
local function tracking(dt, spline)
  local world, arm, control = new_arm(dt, { "trajectory", spline = spline, scaling = false })
  local zero, goal = {}, {}
  for i = 1, 7 do zero[i], goal[i] = 0, i % 2 == 0 and 1 or -1 end
  control:set { times = { 0.2, 1.2 }, points = { zero, goal } }
  local sum, count = 0, 0
  for _ in world:run { seconds = 2.5 } do
    local u = math.min(math.max(world.time - 0.2, 0), 1)
    local s = spline == "cubic" and u * u * (3 - 2 * u) or u ^ 3 * (10 - 15 * u + 6 * u * u)
    for i, name in ipairs(names) do
      sum, count = sum + (arm:joint(name):position() - s * goal[i]) ^ 2, count + 1
    end
  end
  stn.near(error_to(arm, goal), 0, 1e-7, "it stays at the end")
  return math.sqrt(sum / count)
end

-- The efforts that the curve needs are known, and its way from step to step: nothing is left to the gains.
stn.test("a trajectory is tracked to round-off at any step", function()
  for _, spline in ipairs { "cubic", "quintic", "monotone" } do
    for _, dt in ipairs { 1e-3, 5e-3 } do
      stn.check(("%s, dt = %g s"):format(spline, dt), { value = tracking(dt, spline), limit = 1e-12, unit = "rad rms" })
    end
  end
end)

-- Largest |v| / limit of a run until the joints are at the last of `points`; closest pass of each of them.
local function go(world, arm, points, seconds)
  local fastest, pass = 0, {}
  for _ in world:run { seconds = seconds } do
    for i, name in ipairs(names) do
      local joint = arm:joint(name)
      fastest = worse(fastest, math.abs(joint:velocity()) / joint:limits().velocity)
    end
    for k, point in ipairs(points) do pass[k] = math.min(pass[k] or math.huge, error_to(arm, point)) end
  end
  return fastest, pass
end

stn.test("one time: the trajectory takes as long as the joints' limits ask for", function()
  for _, spline in ipairs { "cubic", "quintic", "monotone" } do
    local world, arm, control = new_arm(1e-3, { "trajectory", spline = spline, velocity_scale = 0.5 })
    local points = { { 0, 0, 0, 0, 0, 0, 0 }, row(1), row(2), row(3), row(4) }
    control:set { times = { 0 }, points = points }
    local fastest, pass = go(world, arm, points, 14)
    stn.near(fastest, 0.5, 1e-5, "peak velocity of its limit")
    for k, distance in ipairs(pass) do
      stn.check(("passes point %d"):format(k), { value = distance, limit = 2e-3, unit = "rad" })
    end
    stn.near(error_to(arm, row(4)), 0, 1e-7, "end")
  end
end)

stn.test("times that are too short are stretched, others are kept", function()
  local world, arm, control = new_arm(1e-3, { "trajectory" })
  local points = { { 0, 0, 0, 0, 0, 0, 0 }, row(1), row(2) }
  control:set { times = { 0, 0.1, 0.2 }, points = points }
  stn.near((go(world, arm, points, 4)), 0.9, 1e-5, "peak velocity of its limit")
  control:set { times = { 4, 8, 10 }, points = { row(2), row(1), row(3) } }
  go(world, arm, points, 4)
  stn.near(error_to(arm, row(1)), 0, 1e-9, "at its time")
  go(world, arm, points, 1.9)
  assert(error_to(arm, row(3)) > 1e-4)
  go(world, arm, points, 0.2)
  stn.near(error_to(arm, row(3)), 0, 1e-6, "end")
end)

stn.test("joints that a waypoint does not name are as in the one before", function()
  local world, arm, control = new_arm(1e-3, { "trajectory" })
  control:set { times = { 0, 1, 2 }, points = { {}, { iiwa14_joint_1 = 0.5 }, { iiwa14_joint_2 = 0.4 } } }
  for _ in world:run { seconds = 4 } do end
  stn.near(error_to(arm, { 0.5, 0.4, 0, 0, 0, 0, 0 }), 0, 1e-6, "end")
end)

stn.test("bad waypoints end the step or the call with one line", function()
  local zero = { 0, 0, 0, 0, 0, 0, 0 }
  local steps = {
    { { times = { 0, 1, 0.5 }, points = { zero, row(1), row(2) } }, "controller trajectory of arm: waypoint 3: its time, 0.5 s, must be finite and after the one before" },
    { { times = { 0, 1 }, points = { zero, row(1), row(2) } }, "3 waypoints, but times for 2" },
    { { times = { 0 }, points = { zero, { iiwa14_joint_1 = 3.5 } } }, "joint 'iiwa14_joint_1' would go to 3.5 rad between waypoints 1 and 2, its limits are -2.96" },
    { { times = { 0, 0.5, 2, 3 }, points = { zero, { iiwa14_joint_1 = 2.9 }, { iiwa14_joint_1 = 2.5 }, zero } }, "between waypoints 2 and 3, its limits" },
  }
  for _, case in ipairs(steps) do
    local world, _, control = new_arm(1e-3, { "trajectory", spline = "quintic" })
    control:set(case[1])
    local message = stn.fails(function() world:step() end, case[2])
    assert(not message:find "\n", message)
  end
  local many = {}
  for k = 1, 65 do many[k] = zero end
  local calls = {
    { { points = many }, "points must be a list of 1 to 64 lists [rad, m], got table of 65" },
    { { points = {} }, "points must be a list of 1 to 64 lists" },
    { { points = { zero, { 0, 0, 0 } } }, "points[2] has 3 numbers, it needs 7" },
    { { points = { zero, { iiwa14_joint_1 = 0 / 0 } } }, "points[2].iiwa14_joint_1 = nan" },
    { { times = { 0, "1" } }, "times[2] must be a number [s]" },
    { { time = { 0 } }, "did you mean 'times'" },
  }
  for _, case in ipairs(calls) do
    local _, _, control = new_arm(1e-3, { "trajectory" })
    local message = stn.fails(function() control:set(case[1]) end, case[2])
    assert(not message:find "\n", message)
  end
end)

-- ---------------------------------------------------------------------------------------------------------- follow

local function servo() return { "inverse_dynamics", kp = 2500, kd = 100 } end

local function finish(world, task, each)
  for _ in world:run { seconds = 30 } do
    if each then each() end
    if task:done() then break end
  end
  return task:result()
end

stn.test("follow: through waypoints at their times, with the references of any controller", function()
  for _, spline in ipairs { "cubic", "quintic", "monotone" } do
    local world, arm = new_arm(1e-3, servo())
    local begin, at = nil, {}
    local task = stn.task(function()
      stn.wait(0.1)
      begin = world.time
      arm:follow({ row(1), row(2), row(3) }, { times = { 1, 2.5, 3.5 }, spline = spline, tolerance = 1e-3 })
      return world.time
    end)
    local done = finish(world, task, function()
      for k, t in ipairs { 1, 2.5, 3.5 } do
        if begin and math.abs(world.time - begin - t) < 1e-6 then at[k] = error_to(arm, row(k)) end
      end
    end)
    for k = 1, 3 do stn.near(at[k], 0, 1e-4, spline .. ", point " .. k) end
    stn.near(done - begin, 3.5, 1e-9, "duration [s]")
  end
end)

stn.test("follow: keeps speed, takes poses, and comes to rest where it is cancelled", function()
  local world, arm = new_arm(1e-3, servo(), { iiwa14_joint_2 = 0.6, iiwa14_joint_4 = -1.2, iiwa14_joint_6 = 1.3 })
  local tip = arm:link "iiwa14_flange"
  local down = tip:pose().quat
  local places = { { 0.5, 0.2, 0.5 }, { 0.5, 0, 0.6 }, { 0.5, -0.2, 0.5 } }
  local poses = {}
  for k, place in ipairs(places) do poses[k] = { xyz = place, quat = down } end
  local fastest, near = 0, { 1, 1, 1 }
  finish(world, stn.task(function() arm:follow(poses, { speed = 0.3, tolerance = 1e-3 }) end), function()
    for _, name in ipairs(names) do
      local joint = arm:joint(name)
      fastest = worse(fastest, math.abs(joint:velocity()) / joint:limits().velocity)
    end
    for k, place in ipairs(places) do
      near[k] = math.min(near[k], tip:pose():distance(stn.pose { xyz = place }))
    end
  end)
  stn.near(fastest, 0.3, 1e-5, "peak velocity of its limit")
  for k, distance in ipairs(near) do stn.near(distance, 0, 1e-3, "passes place " .. k) end
end)

stn.test("follow: what is cancelled on its way stays there", function()
  local world, arm = new_arm(1e-3, servo())
  finish(world, stn.task(function()
    stn.race(function() arm:follow({ row(1), row(2) }, { seconds = 4 }) end, function() stn.wait(1.3) end)
    local here = {}
    for i, name in ipairs(names) do here[i] = arm:joint(name):position() end
    stn.wait(1)
    stn.near(error_to(arm, here), 0, 5e-3, "moved on by")
    for _, name in ipairs(names) do stn.near(arm:joint(name):velocity(), 0, 1e-6, name) end
  end))
end)

-- A hinge that is bounded above alone: the curve through 0.98 and 0.8 swings over 1.
stn.test("a joint with one limit keeps it between waypoints", function()
  local function new_hinge(settings)
    local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
    local mass = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    local robot = require "robot_text"(world, ".sdf", ([[<sdf version="1.9"><model name="one"><link name="base">%s</link><link name="door">%s</link>
      <joint name="hinge" type="revolute"><parent>base</parent><child>door</child><axis><xyz>0 0 1</xyz><limit><upper>1</upper></limit></axis></joint></model></sdf>]])
      :format(mass, mass), { fixed = true })
    assert(robot:joint("hinge"):limits().lower == -math.huge)
    settings.target = robot
    return world, robot, world:controller(settings)
  end
  local world, _, control = new_hinge { "trajectory", spline = "quintic" }
  control:set { times = { 0, 0.5, 2, 3 }, points = { { 0 }, { 0.98 }, { 0.8 }, { 0 } } }
  stn.fails(function() world:step() end, "joint 'hinge' would go to 2.4924 rad")
  local other, robot = new_hinge { "joint_pd" }
  other:task(function() robot:follow({ { hinge = 0.98 }, { hinge = 0.8 }, { hinge = 0 } }, { times = { 0.5, 2, 3 }, spline = "quintic" }) end)
  stn.fails(function() other:step() end, "joint 'hinge' of group 'one' would go to 2.4924 rad")
end)

stn.test("follow: bad waypoints are told in a line with their number", function()
  local world, arm = new_arm(1e-3, servo())
  local zero = { 0, 0, 0, 0, 0, 0, 0 }
  local cases = {
    { {}, nil, "follow takes a list of waypoints, each a pose or joint positions, got one without entries" },
    { 3, nil, "got number" },
    { { zero, 3 }, nil, "follow: point 2 takes a pose or joint positions, { joint = value, ... }, got number" },
    { { zero, { 1, 2 } }, nil, "follow: point 2: the list for group 'arm' has 2 numbers, it needs 7" },
    { { zero, { iiwa14_joint_2 = 0 / 0 } }, nil, "follow: point 2: iiwa14_joint_2 = nan" },
    { { { iiwa14_joint_1 = 3 } }, nil, "follow: point 1: joint 'iiwa14_joint_1' of group 'arm' cannot go to 3 rad" },
    { { row(1), { xyz = { 3, 0, 0 } } }, nil, "follow: point 2: inverse_kinematics: group 'arm' does not get link 'iiwa14_flange'" },
    { { row(1), row(2) }, { times = { 1 } }, "follow: times has 1 number, it needs 2 [s]" },
    { { row(1) }, { times = { 0 } }, "follow: times[1] = 0 s must be after the point before, at 0 s" },
    { { row(1), row(2) }, { times = { 2, 1 } }, "follow: times[2] = 1 s must be after the point before, at 2 s" },
    { { { iiwa14_joint_1 = 2.9 }, { iiwa14_joint_1 = 2.5 }, zero }, { times = { 0.5, 2, 3 }, spline = "quintic" }, "between points 1 and 2, its limits are" },
    { { row(1) }, { spline = "linear" }, "follow: spline" },
    { { row(1) }, { knots = 3 }, "unknown key 'knots'" },
  }
  for _, case in ipairs(cases) do
    world:task(function() arm:follow(case[1], case[2]) end)
    local message = stn.fails(function() world:step() end, case[3])
    assert(message:match "^[^\n]*trajectory%.lua:%d+: " and not message:find "\n", message)
  end
end)

-- A pose is reached from the waypoint before, and moves what carries its link: the finger that hangs beside stays where it was told to be.
stn.test("follow: a pose leaves joints alone that do not carry its link", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
  local robot = require "robot_text"(world, ".urdf", [[<robot name="two"><link name="world"/>
    <link name="arm"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <link name="tip"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <link name="finger"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <joint name="a" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="900" velocity="1"/></joint>
    <joint name="b" type="prismatic"><parent link="arm"/><child link="tip"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="900" velocity="1"/></joint>
    <joint name="c" type="revolute"><parent link="arm"/><child link="finger"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="900" velocity="1"/></joint></robot>]])
  world:controller { "inverse_dynamics", target = robot, kp = 2500, kd = 100 }
  finish(world, stn.task(function()
    robot:follow({ { c = 0.5 }, { xyz = { 0, 0.6, 0 }, rpy = { 0, 0, math.pi / 2 } }, { xyz = { 0.5 * math.cos(2.8), 0.5 * math.sin(2.8), 0 }, rpy = { 0, 0, 2.8 } } },
      { link = "tip", tolerance = 1e-4 })
  end))
  stn.near(robot:positions(), { a = 2.8, b = 0.5, c = 0.5 }, 1e-4, "joints")
end)
