-- SPDX-License-Identifier: Apache-2.0
-- A gripper of six degrees of freedom, hung on springs from a hand that is moved, with two fingers that slide: COND [lee-2023],
-- sections V-C4 and V-C6. hung_gripper(world, spec) returns the robot with links palm, left and right. spec:
--     z               of the palm [m]
--     palm            its size, x and y [m]
--     finger          mass [kg], inertia [kg m^2], size [m], y and z of the left one from the palm [m], axis (1: outwards, -1: inwards),
--                     lower and upper limit [m], collides
--     options         of the robot, beside fixed and base
--     from, seconds   when the hand rises and how long that takes [s]
--     lift            how far [m]
local load_text = require "robot_text"

local function link(side, f)
  local box = ([[<geometry><box size="%g %g %g"/></geometry>]]):format(table.unpack(f.size))
  local sign = side == "left" and 1 or -1
  return ([[<link name="%s"><inertial><mass value="%g"/><inertia ixx="%g" iyy="%g" izz="%g" ixy="0" ixz="0" iyz="0"/></inertial><visual>%s</visual>%s</link>
    <joint name="%s" type="prismatic"><parent link="palm"/><child link="%s"/><origin xyz="0 %g %g"/><axis xyz="0 %d 0"/>
      <limit lower="%g" upper="%g" effort="60" velocity="1"/></joint>]]):format(side, f.mass, f.inertia, f.inertia, f.inertia, box,
    f.collides and "<collision>" .. box .. "</collision>" or "", side, side, sign * f.y, f.z, sign * f.axis, f.lower, f.upper)
end

return function(world, spec)
  local options = { name = "gripper", fixed = false, base = { xyz = { 0, 0, spec.z } } }
  for name, value in pairs(spec.options or {}) do options[name] = value end
  local gripper = load_text(world, ".urdf", ([[<robot name="gripper"><link name="palm"><inertial><mass value="0.5"/>
    <inertia ixx="5e-4" iyy="5e-4" izz="5e-4" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><box size="%g %g 0.02"/></geometry></visual></link>%s%s</robot>]]):format(spec.palm[1], spec.palm[2],
    link("left", spec.finger), link("right", spec.finger)), options)
  local above = 0.03 -- [m]
  local hand = world:box { name = "hand", size = { 0.04, 0.04, 0.02 }, mass = 1, mask = 0, xyz = { 0, 0, spec.z + above }, color = { 0.3, 0.3, 0.35 } }
  hand:kinematic(function(t)
    local part = math.min(1, math.max(0, (t - spec.from) / spec.seconds))
    return { xyz = { 0, 0, spec.z + above + spec.lift * part * part * (3 - 2 * part) } }
  end)
  world:constraint { "weld", a = { gripper, "palm" }, b = hand, b_pose = { xyz = { 0, 0, -above } }, stiffness = 2e4, angular_stiffness = 50, relaxation_time = 0.02 }
  return gripper
end
