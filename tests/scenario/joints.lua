-- SPDX-License-Identifier: Apache-2.0
-- Joints with several coordinates: lists where other joints have numbers.
local stn = require "stiction"
local files <close> = require "files"()

local function write(text)
  return files:write(".urdf", text)
end

local function link(name)
  return ([[<link name="%s"><inertial><origin xyz="0 0 0.1"/><mass value="2"/>
    <inertia ixx="0.05" iyy="0.06" izz="0.07" ixy="0" ixz="0" iyz="0"/></inertial></link>]]):format(name)
end

local function joint(name, type, parent, child)
  return ([[<joint name="%s" type="%s"><parent link="%s"/><child link="%s"/><axis xyz="0 0 1"/></joint>]]):format(name,
    type, parent, child)
end

local path = write('<robot name="cart">' .. link "floor" .. link "base" .. link "body"
  .. joint("drive", "planar", "floor", "base") .. joint("mast", "universal", "base", "body") .. "</robot>")

local function cart()
  local world = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
  return world, world:load { path, fixed = true, joints = { drive = { 1, 2, 0.5 } } }
end

stn.test("coordinates of planar and universal joints are lists", function()
  local world, robot = cart()
  local drive, mast = robot:joint "drive", robot:joint "mast"
  assert(drive.type == "planar" and mast.type == "universal")
  stn.near(drive:position(), { 1, 2, 0.5 }, 0, "start")
  stn.near(robot:link("base"):position(), { 1, 2, 0 }, 1e-15, "base")
  mast:set_position { 0.1, 0.2 }
  drive:set_velocity { 0.3, 0, 0 }
  stn.near(robot:q(), { 1, 2, 0.5, 0.1, 0.2 }, 0, "q")
  stn.near(robot:v(), { 0.3, 0, 0, 0, 0 }, 0, "v")
  stn.near(robot:link("base"):speed(), 0.3, 1e-15, "speed")
  drive:set_effort { 1, 2, 3 }
  world:step()
  assert(drive:velocity()[2] > 0)
  local message = stn.fails(function() mast:set_position(0.1) end)
  assert(message:find("must be a list of 2 numbers [rad]", 1, true), message)
end)

stn.test("joint_pd follows planar and universal joints, by name as lists", function()
  local world, robot = cart()
  local pd = world:controller { "joint_pd", target = robot, kp = 200, kd = 40 }
  stn.near(#pd:joints(), 2, 0, "joints")
  pd:set { position = { mast = { 0.2, -0.1 } } }
  pd:set { position = { drive = { 0.5, 2, 0 } } }
  for _ in world:run { seconds = 5 } do end
  stn.near(robot:q(), { 0.5, 2, 0, 0.2, -0.1 }, 1e-9, "q")
  local message = stn.fails(function() pd:set { position = { drive = 1 } } end)
  assert(message:find("position.drive must be a list of 3 numbers", 1, true), message)
end)
