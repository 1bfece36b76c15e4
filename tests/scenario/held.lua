-- SPDX-License-Identifier: Apache-2.0
-- Who touches and who holds: a gripper that closes about a box on a table that then goes away, a cradle, an open hand.
local stn = require "stiction"
local load_text = require "robot_text"

-- A WSG 50 that looks down on a box on a table; the table sinks from t = 1 s on.
local function grip_scene()
  local world = stn.world { dt = 2e-3 }
  local hand = world:load { "models/wsg50/wsg50.urdf", name = "hand", fixed = true,
    base = { xyz = { 0, 0, 0.14 }, rpy = { math.pi, 0, 0 } }, joints = { wsg50_finger_left_joint = 0.05 } }
  local box = world:box { name = "cube", size = { 0.04, 0.04, 0.04 }, mass = 0.1, xyz = { 0, 0, 0 }, mu = 0.8 }
  local table_top = world:box { name = "table", size = { 0.4, 0.4, 0.1 } }
  table_top:kinematic { times = { 0, 1, 1.5 }, poses = { { xyz = { 0, 0, -0.07 } }, { xyz = { 0, 0, -0.07 } }, { xyz = { 0, 0, -0.3 } } } }
  local motor = world:controller { "joint_pd", target = hand, kp = 2e4, kd = 1e3 }
  return world, hand, box, table_top, motor
end

local function run(world, seconds)
  for _ in world:run { seconds = seconds } do end
end

stn.test("a gripper holds what it squeezes and nothing else carries", function()
  local world, hand, box, table_top, motor = grip_scene()
  assert(not world:in_contact(box), "before the first step")
  run(world, 0.2)
  assert(world:in_contact(box, table_top) and world:in_contact(table_top, box) and not world:in_contact(hand, box))
  local held, why = world:held(hand, box)
  assert(held == false and why == "0 links of 'hand' press on 'cube', at least 2 must", why)
  motor:set { position = { wsg50_finger_left_joint = 0.0195 } }
  run(world, 0.6)
  assert(world:in_contact(hand, box) and world:in_contact({ hand, "wsg50_finger_left" }, box))
  held, why = world:held(hand, box)
  assert(held == false and why == "'cube' rests on 'table' too", why)
  run(world, 1)
  held, why = world:held(hand, box)
  assert(held == true and why == nil, why)
  assert(not world:in_contact(box, table_top))
  motor:set { position = { wsg50_finger_left_joint = 0.05 } }
  run(world, 0.1)
  assert(not world:held(hand, box))
end)

-- Two plates that rise from their edge by `angle`; a ball lies between them.
local function cradle(angle)
  local world = stn.world {}
  local hand = load_text(world, ".urdf", ([[<robot name="cradle"><link name="world"/>
    <link name="left"><collision><origin xyz="0 0.2 -0.01"/><geometry><box size="0.4 0.4 0.02"/></geometry></collision></link>
    <link name="right"><collision><origin xyz="0 -0.2 -0.01"/><geometry><box size="0.4 0.4 0.02"/></geometry></collision></link>
    <joint name="a" type="fixed"><parent link="world"/><child link="left"/><origin rpy="%f 0 0"/></joint>
    <joint name="b" type="fixed"><parent link="world"/><child link="right"/><origin rpy="%f 0 0"/></joint></robot>]]):format(angle, -angle))
  local ball = world:sphere { name = "ball", radius = 0.05, mass = 1, xyz = { 0, 0, 0.05 / math.cos(angle) }, mu = 0.01 }
  run(world, 0.3)
  return world, hand, ball
end

stn.test("what lies in a cradle is held where half of what presses cancels: from 60 degrees on", function()
  for _, case in ipairs { { 30, false }, { 58, false }, { 62, true } } do -- sum of normals: 2 cos(angle) of 2
    local world, hand, ball = cradle(case[1] * stn.deg)
    stn.near(world:contact_force(ball, hand).force[3], 9.81, 1e-4, "carried")
    local held, why = world:held(hand, ball)
    assert(held == case[2], why)
    assert(held or why == "the links of 'cradle' do not press on 'ball' from opposite sides", why)
  end
end)

stn.test("a soft pad presses for the link that holds it", function()
  local world = stn.world { dt = 5e-3, gravity = { 0, 0, 0 } }
  local function jaw(name, sign)
    return ([[<link name="%s"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="%s" type="prismatic"><parent link="palm"/><child link="%s"/><origin xyz="0 %g 0"/><axis xyz="0 %d 0"/>
      <limit lower="-0.1" upper="0.1" effort="50" velocity="1"/></joint>]]):format(name, name, name, 0.04 * sign, -sign)
  end
  local hand = load_text(world, ".urdf", '<robot name="hand"><link name="palm"/>' .. jaw("left", 1) .. jaw("right", -1) .. "</robot>",
    { name = "hand", fixed = true })
  local box = world:box { name = "cube", size = { 0.04, 0.04, 0.04 }, mass = 0.1, mu = 0.8 }
  local pads = {}
  for name, sign in pairs { left = 1, right = -1 } do
    pads[name] = world:soft { name = name .. " pad", box = { 0.02, 0.01, 0.02 }, cells = { 2, 1, 2 }, young = 1e5, poisson = 0.3, density = 1000, damping = 0.01, mu = 0.8,
      xyz = { 0, 0.035 * sign, 0 }, attach = { link = { hand, name }, nodes = sign > 0 and "y_max" or "y_min" } }
  end
  local motor = world:controller { "joint_pd", target = hand, kp = 2e3, kd = 50 }
  local function close(left, right)
    motor:set { position = { left = left, right = right } }
    run(world, 0.5)
    return world:held(hand, box)
  end
  local held, why = close(0, 0)
  assert(held == false and why == "0 links of 'hand' press on 'cube', at least 2 must", why)
  held, why = close(0.012, 0.012)
  assert(held == true, why)
  assert(pads.left:contact_force(box).normal_force > 1 and not world:in_contact(hand, box))
  assert(not world:held(hand, pads.left), "it rests on the cube and is no finger of itself")
  assert(not close(-0.02, 0.012))
end)

stn.test("sides that mean nothing are told in a line", function()
  local world, hand, box = grip_scene()
  stn.fails(function() world:held(hand, hand) end, "world:held: link 'wsg50_base' is on both sides")
  stn.fails(function() world:held(hand) end, "world:held")
  stn.fails(function() world:in_contact("cub") end, "no link 'cub', did you mean 'cube'")
  stn.fails(function() world:in_contact(box, 5) end, "world:in_contact")
end)
