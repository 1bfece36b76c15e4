-- SPDX-License-Identifier: Apache-2.0
-- Grippers and hands: what they press with, what friction holds, and what is refused.
local stn = require "stiction"
local load_text = require "robot_text"

local function tight(gravity) return stn.world { dt = 2e-3, solver = { "sap", tolerance = 1e-10 }, gravity = gravity } end

--- Runs a function as a task to its end.
local function play(world, f)
  local task = world:task(f)
  for _ in world:run { seconds = 20 } do
    if task:done() then break end
  end
  return task:result()
end

local function press(world, link, object) return world:contact_force(object, link).normal_force end

--- A palm with two jaws of its own motors, along x, the second turned round.
local function independent_jaws(effort)
  local function jaw(name, turn)
    return ([[<link name="%s"><inertial><mass value="0.05"/><inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><origin xyz="0.01 0 0.03"/><geometry><box size="0.02 0.02 0.06"/></geometry></collision></link>
      <joint name="%s_slide" type="prismatic"><parent link="palm"/><child link="%s"/><origin xyz="0 0 0.05" rpy="0 0 %.16g"/><axis xyz="1 0 0"/>
      <limit lower="0" upper="0.05" effort="%g" velocity="0.2"/></joint>]]):format(name, name, name, turn, effort)
  end
  return '<robot name="jaws"><link name="palm"><inertial><mass value="1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    .. jaw("one", 0) .. jaw("two", math.pi) .. "</robot>"
end

stn.describe("a gripper", function()
  stn.it("presses with the force that is asked for, by one motor that moves both jaws", function()
    local world = tight { 0, 0, 0 }
    local gripper = world:load { "models/wsg50/wsg50.urdf", name = "gripper", fixed = true, joints = { wsg50_finger_left_joint = 0.05 } }
    local box = world:box { size = { 0.03, 0.04, 0.03 }, mass = 0.1, xyz = { 0, 0, 0.12 } }
    world:controller { "gripper", target = gripper }
    play(world, function()
      for _, force in ipairs { 10, 25, 40 } do -- the motor has 80 N for both
        local felt = gripper:close { force = force }
        stn.near(press(world, "gripper/wsg50_finger_left", box), force, 1e-6, "force of a jaw [N]")
        stn.near(press(world, "gripper/wsg50_finger_right", box), force, 1e-6, "force of a jaw [N]")
        stn.near(felt.force, force, 1e-6, "force felt [N]")
        assert(felt.links == 2 and world:held(gripper, box))
      end
      gripper:close { force = 1000 }
      stn.near(press(world, "gripper/wsg50_finger_left", box), 40, 1e-6, "half of what the motor can [N]")
      gripper:open {}
      stn.near(gripper:joint("wsg50_finger_left_joint"):position(), 0.055, 1e-6, "open [m]")
      gripper:open { width = 0.06 }
      stn.wait(0.5)
      stn.near(gripper:joint("wsg50_finger_left_joint"):position(), 0.03, 1e-5, "half of the width [m]")
    end)
  end)

  stn.it("presses with two motors, also on what is not in the middle", function()
    for _, beside in ipairs { 0, 0.015, -0.02 } do
      local world = tight { 0, 0, 0 }
      local gripper = load_text(world, ".urdf", independent_jaws(30), { name = "gripper", fixed = true, joints = { one_slide = 0.05, two_slide = 0.05 } })
      local box = world:box { size = { 0.03, 0.03, 0.03 }, mass = 0.1, xyz = { beside, 0, 0.08 } }
      world:controller { "gripper", target = gripper }
      play(world, function()
        gripper:close { force = 12 }
        stn.wait(0.5)
        stn.near(press(world, "gripper/one", box), 12, 1e-6, "force of a jaw [N]")
        stn.near(press(world, "gripper/two", box), 12, 1e-6, "force of a jaw [N]")
      end)
    end
  end)

  stn.it("carries the weight of its jaws beside the force", function()
    for _, mass in ipairs { 0.1, 0.4 } do
      local world = tight()
      local gripper = load_text(world, ".urdf", independent_jaws(30), { name = "gripper", fixed = true, base = { rpy = { 0, math.pi / 2, 0 }, xyz = { 0, 0, 1 } },
                                                                        joints = { one_slide = 0.05, two_slide = 0.05 } }) -- jaws one above the other
      local box = world:box { size = { 0.03, 0.03, 0.03 }, mass = mass, xyz = { 0.08, 0, 0.99 } }
      world:controller { "gripper", target = gripper, kp = 1e5 }
      play(world, function()
        gripper:close { force = 12 }
        stn.wait(0.3)
        local upper, lower = press(world, "gripper/one", box), press(world, "gripper/two", box)
        stn.near(math.abs(upper - lower), mass * 9.81, 1e-6, "difference of the jaws, the weight [N]")
        stn.near(math.max(upper, lower), 12, 1e-6, "force of the lower jaw, which is at its limit [N]")
      end)
    end
  end)

  stn.it("holds by friction while 2 mu F > m g", function()
    for _, case in ipairs { { 5.4, true }, { 4.4, false } } do -- m g / (2 mu) = 4.905 N
      local world = tight { 0, 0, 0 }
      local gripper = world:load { "models/wsg50/wsg50.urdf", name = "gripper", fixed = true, mu = 0.5, joints = { wsg50_finger_left_joint = 0.03 } }
      local box = world:box { size = { 0.03, 0.04, 0.03 }, mass = 0.5, mu = 0.5, xyz = { 0, 0, 0.12 } }
      world:controller { "gripper", target = gripper }
      play(world, function()
        gripper:close { force = case[1] }
        world:set_gravity { 0, 0, -9.81 }
        local before = box:position()[3]
        stn.wait(0.2)
        local sunk = before - box:position()[3]
        assert((sunk < 1e-3) == case[2], ("with %g N it sank by %g m"):format(case[1], sunk))
      end)
    end
  end)
end)

-- ------------------------------------------------------------------------------------------------------------- hands

--- An Allegro hand with its palm down over a can; what it does is told by the postures.
local function hand_over_can(side)
  local world = tight { 0, 0, 0 }
  local hand = world:load { ("models/allegro/allegro_%s.urdf"):format(side), name = "hand", fixed = true, mu = 1, base = { xyz = { 0, 0, 0.5 }, rpy = { 0, math.pi / 2, 0 } },
                            joints = { allegro_thumb_joint_0 = 1.2 } }
  local can = world:cylinder { radius = 0.04, length = 0.12, mass = 0.3, mu = 1, xyz = { 0.078, 0, 0.447 }, rpy = { math.pi / 2, 0, 0 } }
  local closed, open = { allegro_thumb_joint_0 = 1.2, allegro_thumb_joint_1 = 0.3, allegro_thumb_joint_2 = 1.2, allegro_thumb_joint_3 = 1.2 }, {}
  for _, finger in ipairs { "index", "middle", "ring" } do
    for k, q in ipairs { 1.6, 1.4, 1.2 } do closed[("allegro_%s_joint_%d"):format(finger, k)] = q end
  end
  for k = 0, 1 do open["allegro_thumb_joint_" .. k] = closed["allegro_thumb_joint_" .. k] end
  local motors = world:controller { "hand", target = hand }
  motors:set { closed = closed, open = open, preshape = open }
  return world, hand, can
end

stn.describe("a hand", function()
  stn.it("holds a can upside down, the left one as the right one", function()
    local forces = {}
    for i, side in ipairs { "left", "right" } do
      local world, hand, can = hand_over_can(side)
      play(world, function()
        forces[i] = hand:close { force = 8 }.force
        world:set_gravity { 0, 0, -9.81 }
        local before = can:position()
        stn.wait(1)
        assert(world:held(hand, can))
        stn.near(can:position()[3], before[3], 1e-4, "height [m]")
        assert(hand:open {}.links == 0)
      end)
    end
    stn.near(forces[1], forces[2], 1e-6 * forces[2], "forces of both hands [N]")
  end)

  stn.it("pushes with the force at a finger's tip: a finger of one joint against a wall", function()
    local finger = [[<robot name="finger"><link name="palm"><inertial><mass value="1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="finger"><inertial><origin xyz="0 0 0.04"/><mass value="0.05"/><inertia ixx="3e-5" iyy="3e-5" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="bend" type="revolute"><parent link="palm"/><child link="finger"/><axis xyz="0 1 0"/><limit lower="-0.2" upper="1.5" effort="0.7" velocity="5"/></joint>
      <link name="tip"><collision><geometry><sphere radius="0.005"/></geometry></collision></link>
      <joint name="end" type="fixed"><parent link="finger"/><child link="tip"/><origin xyz="0 0 0.08"/></joint></robot>]]
    for _, force in ipairs { 2, 6, 50 } do -- 0.7 N m at 80 or 85 mm: no more than about 8.2 N, less the weight
      local world = tight()
      local hand = load_text(world, ".urdf", finger, { name = "hand", fixed = true, base = { xyz = { 0, 0, 0.5 } } })
      local wall = world:box { size = { 0.02, 0.2, 0.2 }, fixed = true, mu = 0, xyz = { 0.035, 0, 0.58 } }
      world:controller { "hand", target = hand, kp = 100 }
      play(world, function()
        hand:close { force = force }
        local q, lever = hand:joint("bend"):position(), 0.085 -- to the far side of the tip's ball
        local weight = 0.05 * 9.81 * 0.04 * math.sin(q)      -- turns the finger towards the wall; the motor holds it
        local expected = math.min(force * lever, 0.7 - weight) / (0.08 * math.cos(q))
        stn.near(press(world, "hand/tip", wall), expected, 1e-6, "force on the wall [N]")
      end)
    end
  end)
end)

stn.describe("bad input", function()
  local function message(f)
    local world = tight { 0, 0, 0 }
    local gripper = world:load { "models/wsg50/wsg50.urdf", name = "gripper", fixed = true }
    local ok, why = pcall(f, world, gripper)
    assert(not ok)
    return why
  end
  local function expect(text, f)
    local why = message(f)
    assert(why:find(text, 1, true), why)
  end

  stn.it("is one line that names robot and joint", function()
    expect("group 'gripper' has no active controller for its fingers", function(world, gripper)
      play(world, function() gripper:close {} end)
    end)
    expect("preshape: group 'gripper' is a gripper", function(world, gripper)
      world:controller { "gripper", target = gripper }
      play(world, function() gripper:preshape {} end)
    end)
    expect("close: force = -1 must be >= 0 N", function(world, gripper)
      world:controller { "gripper", target = gripper }
      play(world, function() gripper:close { force = -1 } end)
    end)
    expect("close: the fingers of group 'gripper' are told to go at speed 0; give one", function(world, gripper)
      world:controller({ "gripper", target = gripper }):set { speed = 0 }
      play(world, function() gripper:close {} end)
    end)
    expect("controller gripper of gripper: force = -1 N, must be >= 0", function(world, gripper)
      world:controller({ "gripper", target = gripper }):set { force = -1 }
      world:step()
    end)
    expect("controller gripper of arm: group arm is no gripper: a joint of it does not slide", function(world)
      local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true, base = { xyz = { 1, 0, 0 } } }
      world:controller { "gripper", target = arm }
    end)
    expect("joint one_slide has an effort limit of 0", function(world)
      local jaws = load_text(world, ".urdf", independent_jaws(0), { name = "jaws", fixed = true, base = { xyz = { 1, 0, 0 } } })
      world:controller { "gripper", target = jaws }
    end)
    expect("controller hand of pad: joint slide is planar: the joints of fingers have one axis", function(world)
      local pad = load_text(world, ".urdf", [[<robot name="pad"><link name="palm"><inertial><mass value="1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <link name="finger"><inertial><mass value="0.1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="slide" type="planar"><parent link="palm"/><child link="finger"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="5" velocity="3"/></joint></robot>]],
        { name = "pad", fixed = true, base = { xyz = { 1, 0, 0 } } })
      world:controller { "hand", target = pad }
    end)
  end)
end)
