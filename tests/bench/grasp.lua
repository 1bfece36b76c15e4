-- SPDX-License-Identifier: Apache-2.0
-- An arm of seven joints holds a cube between the jaws of a gripper, all joints under servos: a scene that other engines have, too.
local stn = require "stiction"

local p = stn.params {
  dt = 0.002, -- [s]
}

local edge = 0.05
local world = stn.world { dt = p.dt }
world:ground { mu = 0.5 }
local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true,
  joints = { iiwa14_joint_2 = 0.6, iiwa14_joint_4 = -1.4, iiwa14_joint_6 = 1.1 } }
local hand = world:load { "models/wsg50/wsg50.urdf", name = "hand", joints = { wsg50_finger_left_joint = edge / 2 }, mu = 0.6 }
arm:attach(hand, "iiwa14_flange")
world:disable_collisions(arm)
world:disable_collisions(arm, hand)
local cube = world:box { name = "cube", size = { edge, edge, edge }, mass = 0.2, mu = 0.6, xyz = { 0.55, 0, 0.1 } }
local motors = world:controller { "joint_pd", target = arm, kp = 8000, kd = 400, gravity_compensation = true, effort_limits = false }
local jaws = world:controller { "joint_pd", target = hand, kp = 2000, kd = 20, effort_limits = false }
local posture = assert(arm:inverse_kinematics { link = "hand/wsg50_tip", pose = stn.pose { xyz = { 0.55, 0, 0.1 }, axes = { z = { 0, 0, -1 }, y = { 0, 1, 0 } } } })
arm:set_q(posture)
motors:set { position = posture }
jaws:set { position = { edge / 2 - 0.01 } } -- 20 N each
for _ in world:run { seconds = 1 } do end
stn.check("the cube stays", { value = math.abs(cube:position()[3] - 0.1), limit = 0.005, unit = "m" })
