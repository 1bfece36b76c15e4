-- SPDX-License-Identifier: Apache-2.0
-- Bad input: one line that says where, what, and what to do.
local stn = require "stiction"
local files <close> = require "files"()

-- The error must carry this file and a line, and the texts.
local function refused(action, ...)
  local message = stn.fails(action)
  assert(message:match "errors%.lua:%d+: ", "no file and line in: " .. message)
  local place = message:match "^%S+:%d+"
  assert(not message:find(place, #place + 1, true), "the place is said twice: " .. message)
  assert(not message:find "\n", "more than one line: " .. message)
  for _, text in ipairs { ... } do
    assert(message:find(text, 1, true), ("expected '%s' in: %s"):format(text, message))
  end
end

local function write(text)
  return files:write(".urdf", text)
end

stn.test("unknown plugins and parameters name the nearest", function()
  refused(function() stn.world { solver = "sapp" } end, "sapp", "sap")
  refused(function() stn.world { solver = { "sap", tolerence = 1 } } end, "tolerence", "tolerance")
  refused(function() stn.world { solver = { "sap", tolerance = "small" } } end, "tolerance")
  refused(function() stn.world { solver = { "sap", tolerance = -1 } } end, "tolerance")
  refused(function() stn.world { solver = { "sap", tolerance = 0 / 0 } } end, "tolerance")
  refused(function() stn.world { law = 3 } end, "law")
  refused(function() stn.world { solver = { tolerance = 1, { 2 } } } end, "solver")
end)

stn.test("a world that cannot be completed says so as often as it is asked", function()
  local path = write [[<robot name="plate"><link name="plate">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><plane normal="0 0 1"/></geometry></collision></link></robot>]]
  local world = stn.world {}
  world:ground {}
  world:load { path }
  for _ = 1, 2 do
    refused(function() world:step() end, "no contact between", "plate (half_space)")
  end
  refused(function() world:box { size = { 1, 1, 1 } } end, "no contact between", "plate (half_space)")
end)

stn.test("a saved state never takes the place of a folder", function()
  refused(function() stn.world {}:save_state "/tmp" end, "/tmp", "not a regular file")
end)

stn.test("a check without a number says which", function()
  refused(function() stn.check("height", {}) end, "'height'", "value", "nil")
end)

stn.test("a text that looks like a number is none", function()
  refused(function() stn.check("height", { value = "1", limit = 2 }) end, "'height'", "value", "string")
  refused(function() stn.near("1", 1, 0.1) end, "value must be a number, got string")
  refused(function() stn.near({ 1, "2" }, { 1, 2 }, 0.1, "q") end, "q[2] must be a number, got string")
  refused(function() stn.result("height", "1") end, "the value must be a number, got string")
  refused(function() stn.near(0 / 0, 1, 0.1, "height") end, "height = nan, expected 1: off by nan, allowed 0.1")
end)

stn.test("of two that exclude each other one is asked for, and told when both are there", function()
  refused(function() stn.check("height", { value = 1, limit = 2, least = 0 }) end, "limit", "least", "not both")
  refused(function() stn.world {}:run { seconds = 1, steps = 2 } end, "seconds or steps, not both")
  assert(not stn.fails(function() stn.world {}:run {} end):find "not both")
end)

stn.test("what is fixed to the world cannot be moved", function()
  local world = stn.world {}
  local wall = world:box { name = "wall", size = { 1, 1, 1 }, fixed = true }
  world:ground { name = "floor" }
  refused(function() wall:set_pose {} end, "set_pose: 'wall' is fixed to the world", "without fixed")
  refused(function() wall:set_velocity { 1, 0, 0 } end, "set_velocity: 'wall' is fixed to the world")
  refused(function() wall:apply_force { force = { 1, 0, 0 } } end, "apply_force: link 'wall' is fixed to the world")
  refused(function() world:group "floor":set_pose {} end, "set_pose: 'floor' is fixed to the world")
end)

stn.test("the surface of a compound is said of its shapes", function()
  local shapes = { { "box", size = { 1, 1, 1 } } }
  for key, value in pairs { mu = 0.3, color = { 1, 0, 0 }, material = "steel", mask = 1 } do
    refused(function() stn.world {}:compound { shapes = shapes, [key] = value } end, "world:compound", ("'%s' is said of each shape"):format(key))
  end
end)

stn.test("a random number from an empty interval is refused", function()
  local world = stn.world {}
  refused(function() world:random(2, 1) end, "low = 2 is above high = 1")
  refused(function() world:random(-1e308, 1e308) end, "too far apart for their difference")
  stn.near(world:random(2, 2), 2, 0, "of one number")
end)

stn.test("an infinite quaternion is refused", function()
  local ball = stn.world {}:sphere { radius = 0.1 }
  refused(function() ball:set_q { 0, 0, 0, 1e300, 0, 0, 0 } end, "quaternion", "inf")
end)

stn.test("a bounding box beyond the range of floats meets every box once", function()
  local world = stn.world { margin = 1e300 }
  world:ground {}
  world:box { size = { 0.1, 0.1, 0.1 }, xyz = { 0, 0, 0.05 } }
  assert(world:step().contact_count == 8, "one contact for each corner")
end)

stn.test("unknown keys name the nearest, or list all", function()
  refused(function() stn.world { gravty = { 0, 0, 0 } } end, "gravty", "did you mean 'gravity'?")
  refused(function() stn.world {}:box { sizes = { 1, 1, 1 } } end, "did you mean 'size'?")
  refused(function() stn.world {}:sphere { qqqqqq = 1 } end, "it takes:", "radius")
  refused(function() stn.world {}:ground { 1 } end, "[1]")
  refused(function() stn.world { dt = 1, [{}] = 2 } end, "cannot be a key")
end)

stn.test("members that there are stand in order, properties first", function()
  local link = stn.world {}:box { name = "cube", size = { 1, 1, 1 } }:link "cube"
  refused(function() return link.qqqqqqqqqq end, "link has no 'qqqqqqqqqq'; it has: name, apply_force, group, jacobian, joint, mass, parent")
end)

stn.test("a reference of a joint that mimics names its master", function()
  local world = stn.world {}
  local gripper = world:load { "models/wsg50/wsg50.urdf", fixed = true }
  local hold = world:controller { "joint_pd", target = gripper, kp = 100, kd = 10 }
  refused(function() hold:set { position = gripper:positions() } end, "mimics 'wsg50_finger_left_joint'", "leave it out")
end)

stn.test("wrong types and ranges name the key and the unit", function()
  refused(function() stn.world { dt = "1" } end, "dt must be a number [s]")
  refused(function() stn.world { dt = 0 } end, "dt", "> 0")
  refused(function() stn.world { dt = -1 } end, "dt", "> 0")
  refused(function() stn.world { threads = 1.5 } end, "threads", "whole number")
  refused(function() stn.world { contact_point = "centre" } end, "centre")
  refused(function() stn.world { gravity = { 0, 0 } } end, "gravity has 2 numbers, it needs 3")
  refused(function() stn.world {}:box { size = { 1, 1, 1 }, fixed = "yes" } end, "fixed must be true or false")
  refused(function() stn.world {}:box { size = { 1, 0, 1 } } end, "size", "> 0")
  refused(function() stn.world {}:box {} end, "size is missing")
  refused(function() stn.world {}:sphere {} end, "radius is missing")
  refused(function() stn.world {}:sphere { radius = 1, mass = 0 } end, "mass", "> 0")
  refused(function() stn.world {}:sphere { radius = 1, mass = 1, density = 1 } end, "not both")
  refused(function() stn.world {}:sphere { radius = 1, mu = -0.1 } end, "mu", ">= 0")
  refused(function() stn.world {}:sphere { radius = 1, color = { 2, 0, 0 } } end, "color[1]")
  refused(function() stn.world {}:sphere { radius = 1, rpy = { 0, 0, 0 }, quat = { 1, 0, 0, 0 } } end, "not both")
  refused(function() stn.world {}:sphere { radius = 1, quat = { 0, 0, 0, 0 } } end, "quat")
  refused(function() stn.world {}:sphere { radius = 1, fixed = true, velocity = { 1, 0, 0 } } end, "velocity")
  refused(function() stn.world {}:compound { shapes = {} } end, "shapes")
  refused(function() stn.world {}:compound { shapes = { { "bx", size = { 1, 1, 1 } } } } end, "did you mean 'box'?")
  refused(function() stn.world {}:run {} end, "seconds or steps")
  local arm = "models/iiwa14/iiwa14.urdf"
  refused(function() stn.world {}:load { arm, packages = "models" } end, "packages must be a list of folders")
  refused(function() stn.world {}:load { arm, packages = { iiwa14 = "models" } } end, "packages must be a list of folders")
  refused(function() stn.world(3) end, "takes a table")
end)

stn.test("NaN is named by key and index", function()
  local nan = 0 / 0
  refused(function() stn.world { dt = nan } end, "dt = nan")
  refused(function() stn.world { gravity = { 0, nan, 0 } } end, "gravity[2] = nan")
  refused(function() stn.world {}:sphere { radius = nan } end, "radius = nan")
  refused(function() stn.world {}:sphere { radius = 1, xyz = { 0, 0, nan } } end, "xyz[3] = nan")
  refused(function() stn.world {}:sphere { radius = 1, pose = { quat = { nan, 0, 0, 0 } } } end, "quat[1] = nan")
  refused(function() stn.world {}:sphere { radius = 1, stiffness = nan } end, "stiffness = nan")
  refused(function() stn.world {}:sphere { radius = 1, velocity = { 0, 1 / 0, 0 } } end, "velocity[2] = inf")
  local ball = stn.world {}:sphere { radius = 1 }
  refused(function() ball:set_pose { xyz = { nan, 0, 0 } } end, "xyz[1] = nan")
  refused(function() ball:apply_force { force = { 0, nan, 0 } } end, "force[2] = nan")
end)

stn.test("files that are missing or damaged are named", function()
  refused(function() stn.world {}:load { "no/such/robot.urdf" } end, "no/such/robot.urdf", "tried")
  refused(function() stn.world {}:load {} end, "file's name")
  local cut = write '<robot name="r"><link name="a">'
  refused(function() stn.world {}:load { cut } end, cut)
  local roots = write '<robot name="r"><link name="a"/><link name="b"/></robot>'
  refused(function()
    local world = stn.world {}
    world:load { roots }
    world:step()
  end, roots, "links a, b")
  local loop = write [[<robot name="r"><link name="a"/><link name="b"/>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
    <joint name="k" type="continuous"><parent link="b"/><child link="a"/></joint></robot>]]
  refused(function()
    local world = stn.world {}
    world:load { loop }
    world:step()
  end, "r")
end)

stn.test("a moving link without mass can be loaded but not simulated", function()
  local path = write [[<robot name="r"><link name="a"/><link name="b"/>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>]]
  local world = stn.world {}
  local robot = world:load { path, fixed = true }
  stn.near(robot:link("b"):position(), { 0, 0, 0 }, 0, "kinematics")
  refused(function() world:step() end, "mass")
end)

stn.test("the order of describing and running is told", function()
  local world = stn.world {}
  local ball = world:sphere { radius = 1, name = "ball" }
  world:step()
  refused(function() world:box { size = { 1, 1, 1 } } end, "completed at", "by 'step'", "describe everything before")
  refused(function() world:controller { "joint_pd", target = ball } end, "before the first step")
  refused(function() stn.world {}:controller { "joint_pd", target = ball } end, "target")
  refused(function()
    local other = stn.world {}
    other:sphere { radius = 1, name = "ball" }
    other:sphere { radius = 1, name = "ball" }
  end, "ball")
  refused(function() stn.world {}:group "ball" end, "ball")
end)

stn.test("a method that is called by a dot is told of the colon", function()
  local world = stn.world {}
  local ball = world:sphere { radius = 1 }
  refused(function() world.ground { mu = 1 } end, "ground", "function of a world", "got table", "world:ground(...)")
  refused(function() ball.set_pose { xyz = { 0, 0, 2 } } end, "set_pose", "group:set_pose(...)")
  refused(function() ball.q() end, "got no value", "group:q(...)")
  refused(function() world:task(function() stn.wait(1) end).cancel() end, "task:cancel(...)")
end)

stn.test("errors of a script say where", function()
  refused(function() local x = nil; return x.y end, "nil")
  refused(function() error "plain" end, "plain")
end)

stn.test("names with a character 0, which ends a text in C, are not cut silently", function()
  local world = stn.world {}
  refused(function() world:box { name = "cube\0two", size = { 1, 1, 1 } } end, "world:box", "name", "\\0")
  world:box { name = "cube", size = { 1, 1, 1 } }
  refused(function() world:plot("height\0", 1) end, "\\0")
end)
