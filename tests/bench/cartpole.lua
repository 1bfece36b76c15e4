-- SPDX-License-Identifier: Apache-2.0
-- A cart on a rail and a pole that swings on it, without a motor: the smallest scene of the bench.
local stn = require "stiction"
local load_text = require "robot_text"

local p = stn.params {
  dt = 0.002, -- [s]
}

local world = stn.world { dt = p.dt }
local robot = load_text(world, ".urdf", [[<robot name="cartpole"><link name="rail"/>
  <link name="cart"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/><limit lower="-10" upper="10" effort="0" velocity="100"/></joint>
  <link name="pole"><inertial><origin xyz="0 0 0.5"/><mass value="0.1"/><inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="cart"/><child link="pole"/><axis xyz="0 1 0"/></joint></robot>]],
  { name = "cartpole", fixed = true, joints = { hinge = 0.5 } })
for _ in world:run { seconds = 1 } do end
stn.check("the pole swings through", robot:joint "hinge":position() > 1)
