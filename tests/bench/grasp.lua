-- SPDX-License-Identifier: Apache-2.0
-- An arm of seven joints holds a cube between two jaws, all joints under servos: a scene that other engines have, too. The jaws are those
-- of models/wsg50, each with a servo of its own in place of the mimic joint.
local stn = require "stiction"
local load_text = require "robot_text"

local p = stn.params {
  dt = 0.002, -- [s]
}

local edge = 0.05
local world = stn.world { dt = p.dt }
world:ground { mu = 0.5 }
local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true,
  joints = { iiwa14_joint_2 = 0.6, iiwa14_joint_4 = -1.4, iiwa14_joint_6 = 1.1 } }
local function jaw(name, side)
  return ([[
  <link name="NAME"><inertial><origin xyz="0 0 0.037"/><mass value="0.051"/><inertia ixx="3e-5" iyy="3e-5" izz="3e-6" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 MIDDLE 0.045"/><geometry><box size="0.02 0.015 0.07"/></geometry></collision></link>
  <joint name="NAME_slide" type="prismatic"><parent link="palm"/><child link="NAME"/><origin xyz="0 0 0.0755"/><axis xyz="0 SIDE 0"/>
    <limit lower="0" upper="0.055" effort="80" velocity="0.21"/><dynamics damping="3.81"/></joint>]]):gsub("NAME", name):gsub("SIDE", side):gsub("MIDDLE", 0.0075 * side)
end
local hand = load_text(world, ".urdf", [[<robot name="hand">
  <link name="palm"><inertial><origin xyz="0 0 0.0375"/><mass value="1.1"/><inertia ixx="0.0026" iyy="0.0007" izz="0.0023" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.0375"/><geometry><box size="0.05 0.15 0.075"/></geometry></collision></link>]] .. jaw("left", 1) .. jaw("right", -1) .. [[
  <link name="tip"/><joint name="tip_joint" type="fixed"><parent link="palm"/><child link="tip"/><origin xyz="0 0 0.1455"/></joint></robot>]],
  { name = "hand", joints = { left_slide = edge / 2, right_slide = edge / 2 }, mu = 0.6 })
arm:attach(hand, "iiwa14_flange")
world:disable_collisions(arm)
world:disable_collisions(arm, hand)
world:disable_collisions(hand)
local cube = world:box { name = "cube", size = { edge, edge, edge }, mass = 0.2, mu = 0.6, xyz = { 0.55, 0, 0.1 } }
local motors = world:controller { "joint_pd", target = arm, kp = 8000, kd = 400, gravity_compensation = true, effort_limits = false }
local jaws = world:controller { "joint_pd", target = hand, kp = 2000, kd = 20, effort_limits = false }
local posture = assert(arm:inverse_kinematics { link = "hand/tip", pose = stn.pose { xyz = { 0.55, 0, 0.1 }, axes = { z = { 0, 0, -1 }, y = { 0, 1, 0 } } } })
arm:set_q(posture)
motors:set { position = posture }
jaws:set { position = { edge / 2 - 0.01, edge / 2 - 0.01 } } -- 20 N each
for _ in world:run { seconds = 1 } do end
stn.check("the cube stays", { value = math.abs(cube:position()[3] - 0.1), limit = 0.005, unit = "m" })
