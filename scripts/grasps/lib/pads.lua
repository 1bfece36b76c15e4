-- SPDX-License-Identifier: Apache-2.0
-- Hands of these scenes: box-shaped pads on prismatic joints. Motors press with a constant force; a soft servo keeps the pads where they
-- began, so that the grasp stays in its middle.
local load_text = require "robot_text"

local pads = { kp = 200, kd = 20, mass = 0.1 } -- [N/m], [N s/m], [kg]

local link_format = [[<link name="%s"><inertial><mass value="%.17g"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><box size="%s"/></geometry></visual>%s</link>]]
local joint_format = [[<joint name="%s" type="prismatic"><parent link="%s"/><child link="%s"/><origin xyz="%s" rpy="0 0 %.17g"/>
  <axis xyz="%s"/><limit lower="-1" upper="1" effort="1e4" velocity="100"/></joint>]]

local function vector(v)
  return ("%.17g %.17g %.17g"):format(v[1], v[2], v[3])
end

local function slide(o)
  local size = vector(o.size)
  local collision = o.touches == false and "" or ('<collision><geometry><box size="%s"/></geometry></collision>'):format(size)
  return link_format:format(o.name, o.mass or pads.mass, size, collision)
    .. joint_format:format(o.name .. "_slide", o.parent or "base", o.name, vector(o.xyz), o.yaw or 0, vector(o.axis))
end

--- A robot, fixed in the world, of links that each slide: { name, size, xyz, axis, yaw, mass, parent, touches }; yaw turns link and axis.
function pads.robot(world, name, links)
  local text = { ('<robot name="%s"><link name="base"/>'):format(name) }
  for _, link in ipairs(links) do text[#text + 1] = slide(link) end
  text[#text + 1] = "</robot>"
  local robot = load_text(world, ".urdf", table.concat(text), { fixed = true })
  world:disable_collisions(robot)
  return robot
end

--- `count` pads of `size` (thickness first) around the z axis through `centre`, at `distance` from it, pressing towards it.
function pads.around(count, size, distance, centre)
  local links = {}
  for i = 1, count do
    local yaw = 2 * math.pi * (i - 1) / count
    local reach = distance + size[1] / 2
    links[i] = {
      name = "pad" .. i, size = size, yaw = yaw, axis = { -1, 0, 0 },
      xyz = { centre[1] + reach * math.cos(yaw), centre[2] + reach * math.sin(yaw), centre[3] },
    }
  end
  return links
end

--- Presses with `force` [N] at the joints named, default: all.
function pads.press(world, robot, force, joints)
  if not (force > 0) then error(("force = %g N must be > 0: the pads press with it"):format(force), 0) end
  local servo = world:controller { "joint_pd", target = robot, joints = joints, kp = pads.kp, kd = pads.kd, effort_limits = false }
  for _, name in ipairs(servo:joints()) do robot:joint(name):set_effort(force) end
end

--- What an implicit servo adds to the inertia of its joint in a step of dt [kg].
function pads.added_inertia(dt, kp, kd)
  return dt * (kd or pads.kd) + dt * dt * (kp or pads.kp)
end

return pads
