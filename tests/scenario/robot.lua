-- SPDX-License-Identifier: Apache-2.0
-- Robots from files written here: pendulum period, joints, links, controllers, mounting.
local stn = require "stiction"
local files <close> = require "files"()

local function write(text)
  return files:write(".urdf", text)
end

-- A rod of length l and mass m that swings about y at the origin, hanging down at q = 0.
local length, mass = 0.8, 1.5
local rod = write(([[<?xml version="1.0"?>
<robot name="pendulum">
  <link name="base"/>
  <link name="rod">
    <inertial><origin xyz="0 0 %g"/><mass value="%g"/>
      <inertia ixx="%.17g" iyy="%.17g" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="tip"/>
  <joint name="hinge" type="revolute">
    <parent link="base"/><child link="rod"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="50" velocity="10"/>
  </joint>
  <joint name="end" type="fixed"><parent link="rod"/><child link="tip"/><origin xyz="0 0 %g"/></joint>
</robot>]]):format(-length / 2, mass, mass * length ^ 2 / 12, mass * length ^ 2 / 12, -length))

local function pendulum(options)
  local world = stn.world { dt = options.dt or 1e-3 }
  local robot = world:load { rod, name = options.name, fixed = true, base = options.base, joints = options.joints }
  return world, robot
end

stn.test("a pendulum swings with the period of a physical pendulum", function()
  local world, robot = pendulum { joints = { hinge = 0.02 } }
  local joint, crossings, before = robot:joint "hinge", {}, 0.02
  for step in world:run { seconds = 6 } do
    local q = joint:position()
    if before > 0 and q <= 0 then
      crossings[#crossings + 1] = step.time - world.dt * (q / (q - before))
    end
    before = q
  end
  local inertia = mass * length ^ 2 / 3
  local period = 2 * math.pi * math.sqrt(inertia / (mass * 9.81 * length / 2)) * (1 + 0.02 ^ 2 / 16)
  stn.near((crossings[#crossings] - crossings[1]) / (#crossings - 1), period, 1e-5, "period")
end)

stn.test("joints and links answer by name", function()
  local world, robot = pendulum { name = "p", joints = { hinge = 0.5 }, base = { xyz = { 1, 2, 3 } } }
  assert(robot.name == "p" and robot:joint("hinge").type == "revolute")
  stn.near(robot:joint("hinge"):position(), 0.5, 0, "angle")
  stn.near(robot:link("tip"):position(), { 1 - length * math.sin(0.5), 2, 3 - length * math.cos(0.5) }, 1e-14, "tip")
  stn.near(#robot:links(), 3, 0, "links")
  stn.near(#robot:joints(), 1, 0, "moving joints")
  local limits = robot:joint("hinge"):limits()
  assert(limits.lower == -3 and limits.upper == 3 and limits.effort == 50 and limits.velocity == 10)
  robot:joint("hinge"):set_velocity(2)
  stn.near(robot:link("tip"):speed(), 2 * length, 1e-14, "speed of the tip")
  robot:set_q { 0.1 }
  stn.near(robot:q(), { 0.1 }, 0, "q")
  robot:set_q { hinge = 0.2 }
  stn.near(robot:q(), { 0.2 }, 0, "q")
  robot:set_v { 0.3 }
  stn.near(robot:v(), { 0.3 }, 0, "v")
  stn.near(robot:mass(), mass, 0, "mass")
  assert(robot:link "tip" == robot:links()[3] and world:group "p" == robot)
  stn.fails(function()
    robot:joint "hing"
  end, "did you mean 'hinge'?")
  stn.fails(function()
    robot:link "top"
  end, "did you mean 'tip'?")
  stn.fails(function()
    robot:set_q { 1, 2 }
  end, "has 2 numbers, it needs 1")
  stn.fails(function()
    robot:joint("hinge"):set_position(0 / 0)
  end, "nan")
end)

stn.test("an effort turns the joint by tau / I, and the limit holds", function()
  local world, robot = pendulum {}
  world:set_gravity { 0, 0, 0 }
  robot:joint("hinge"):set_effort(2)
  world:step()
  stn.near(robot:joint("hinge"):velocity(), 2 / (mass * length ^ 2 / 3) * world.dt, 1e-12, "velocity")
  for _ in world:run { seconds = 3 } do
  end
  stn.near(robot:joint("hinge"):position(), 3, 1e-6, "at its limit")
end)

stn.test("joint PD holds against gravity as its gain says", function()
  local world, robot = pendulum { dt = 2e-3 }
  local motor = world:controller { "joint_pd", target = robot, kp = 200, kd = 20 }
  motor:set { position = { hinge = 1.0 } }
  for _ in world:run { seconds = 4 } do
  end
  local q = robot:joint("hinge"):position()
  -- kp (1 - q) = m g l/2 sin q, to the solver's tolerance of 1e-6
  stn.near(200 * (1 - q), mass * 9.81 * length / 2 * math.sin(q), 1e-5, "torque")
  assert(motor:joints()[1] == "hinge")
  stn.fails(function()
    motor:set { positon = { 1 } }
  end, "did you mean 'position'?")
  stn.fails(function()
    motor:set { position = { hing = 1 } }
  end, "did you mean 'hinge'?")
  stn.fails(function()
    motor:set { position = { 1, 2 } }
  end, "it needs 1")
end)

stn.test("the parameters in force name those of controllers", function()
  local world, robot = pendulum { name = "p" }
  world:controller { "joint_pd", target = robot, kp = 123.5 }
  for _, text in ipairs { "controller.1 = joint_pd\n", "controller.1.group = p\n", "controller.1.joints = hinge\n", "controller.1.kp = 123.5 ", "\nsolver = sap\n" } do
    assert(world.parameters:find(text, 1, true), text)
  end
  assert(world:clone().parameters == world.parameters)
end)

stn.test("gravity compensation leaves no error", function()
  local world, robot = pendulum { dt = 2e-3 }
  local motor = world:controller { "joint_pd", target = robot, joints = { "hinge" }, kp = 50, kd = 10, gravity_compensation = true }
  motor:set { position = { 0.7 }, velocity = { 0 } }
  for _ in world:run { seconds = 5 } do
  end
  stn.near(robot:joint("hinge"):position(), 0.7, 1e-6, "angle")
end)

stn.test("a tool mounted on a link moves with it and weighs on it", function()
  local world = stn.world { dt = 1e-3 }
  local robot = world:load { rod, fixed = true, joints = { hinge = 0.3 } }
  local tool = world:box { name = "tool", size = { 0.1, 0.1, 0.1 }, mass = 2, on = { robot, "tip" }, xyz = { 0, 0, -0.05 } }
  local tip = robot:link("tip"):pose()
  stn.near(tool:position(), tip * { 0, 0, -0.05 }, 1e-14, "place")
  robot:joint("hinge"):set_velocity(1)
  stn.near(tool:speed(), length + 0.05, 1e-14, "speed")
  stn.near(world:mass(), mass + 2, 1e-14, "mass")
end)

stn.test("a floating robot stands where it is put", function()
  local world = stn.world { dt = 1e-3 }
  local robot = world:load { rod, base = { xyz = { 0, 0, 2 }, rpy = { 0, 0, 1 } } }
  stn.near(robot:pose().quat, { math.cos(0.5), 0, 0, math.sin(0.5) }, 1e-15, "rotation")
  robot:set_pose { xyz = { 1, 1, 1 } }
  stn.near(robot:position(), { 1, 1, 1 }, 0, "position")
  robot:set_velocity { linear = { 1, 0, 0 }, angular = { 0, 0, 2 } }
  stn.near(robot:velocity().angular, { 0, 0, 2 }, 1e-15, "angular velocity")
  stn.near(#robot:q(), 8, 0, "coordinates")
end)

stn.test("materials given to load are those of its contacts", function()
  local path = write [[<robot name="puck"><link name="puck">
    <inertial><mass value="1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>]]
  local world = stn.world { dt = 1e-3 }
  world:ground { mu = 0.6 }
  world:load { path, base = { xyz = { 0, 0, 0.1 } }, mu = 0.3 }
  local contact = world:step():contacts()[1]
  stn.near(contact.mu, 2 * 0.6 * 0.3 / (0.6 + 0.3), 1e-12, "combined friction")
end)

stn.test("a body of several shapes has the mass and inertia of their sum", function()
  local world = stn.world { gravity = { 0, 0, 0 }, dt = 1e-3 }
  local dumbbell = world:compound {
    name = "dumbbell",
    shapes = { { "sphere", radius = 0.1, mass = 1, xyz = { -0.5, 0, 0 } }, { "sphere", radius = 0.1, mass = 1, xyz = { 0.5, 0, 0 } } },
  }
  stn.near(dumbbell:mass(), 2, 1e-14, "mass")
  local inertia = 2 * (0.4 * 0.01 + 0.25)
  dumbbell:apply_force { torque = { 0, 0, 1 } }
  world:step()
  stn.near(dumbbell:velocity().angular[3], world.dt / inertia, 1e-12, "spin")
  local rod2 = stn.world {}:compound { mass = 3, shapes = { { "box", size = { 1, 1, 1 } }, { "box", size = { 1, 1, 2 }, xyz = { 2, 0, 0 } } } }
  stn.near(rod2:mass(), 3, 1e-14, "mass spread by volume")
end)
