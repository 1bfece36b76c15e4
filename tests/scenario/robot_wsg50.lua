-- SPDX-License-Identifier: Apache-2.0
-- Our WSG 50 is what models/wsg50/README.md says: weight, stroke, force and speed; it holds, follows and grips.
local stn = require "stiction"
local worse = require "worse"
local close = require "grip"

local file = "models/wsg50/wsg50.urdf"
local stroke = 0.110

local function load_gripper(options)
  local world = stn.world { dt = 1e-3, gravity = options.gravity, solver = { "sap", tolerance = 1e-10 } }
  local gripper = world:load { file, fixed = true, base = options.base, joints = { wsg50_finger_left_joint = options.opening / 2 } }
  return world, gripper, gripper:joint "wsg50_finger_left_joint", gripper:joint "wsg50_finger_right_joint"
end

local function drive(world, gripper)
  return world:controller { "joint_pd", target = gripper, kp = 2e4, kd = 1e3 }
end

stn.test("weight, stroke, force and speed are the published ones", function()
  assert(#stn.check_robot(file) == 0)
  local _, gripper, left, right = load_gripper { opening = stroke }
  stn.near(gripper:mass(), 1.2, 1e-12, "mass")
  assert(#gripper:joints() == 2 and right:mimic().joint == left and right:mimic().multiplier == 1 and right:mimic().offset == 0)
  for _, joint in ipairs { left, right } do
    local limits = joint:limits()
    assert(joint.type == "prismatic" and limits.lower == 0 and limits.effort == 80)
    stn.near(2 * limits.upper, stroke, 1e-15, "stroke")
    stn.near(2 * limits.velocity, 0.420, 1e-15, "speed of one finger towards the other")
  end
  stn.near(left:dynamics().reflected_inertia / (0.015 * 80 / 0.21), 1, 0.005, "rotor")
  stn.near(left:dynamics().damping / (0.01 * 80 / 0.21), 1, 0.005, "damping")
  local apart = gripper:link("wsg50_finger_left"):position()[2] - gripper:link("wsg50_finger_right"):position()[2]
  stn.near(apart, stroke, 1e-15, "opening")
end)

-- One finger sinks where the other rises: both weigh alike, so that gravity does no work on the coupled fingers. A force F on
-- one of them moves both by F / kp.
stn.test("it does not sag in any attitude, and yields to a force by F / kp", function()
  for _, rpy in ipairs { { 0, 0, 0 }, { math.pi / 2, 0, 0 }, { 0.7, -0.4, 1.1 } } do
    for _, force in ipairs { 0, 30 } do
      local world, gripper, left, right = load_gripper { opening = 0.06, base = { xyz = { 0, 0, 1 }, rpy = rpy } }
      drive(world, gripper)
      local along = stn.pose { rpy = rpy }:rotate { 0, force, 0 }
      gripper:link("wsg50_finger_left"):apply_force { force = along }
      for step in world:run { seconds = 2 } do
        assert(step.contact_count == 0 and step.converged)
      end
      assert(math.abs(left:velocity()) < 1e-6 and math.abs(right:velocity()) < 1e-6)
      stn.near(left:position() - 0.03, force / 2e4, 1e-5, "left finger")
      stn.near(right:position(), left:position(), 1e-5, "right finger")
    end
  end
end)

stn.test("it follows a sine", function()
  local world, gripper, left = load_gripper { opening = 0.02 }
  local motor = drive(world, gripper)
  local amplitude, omega, worst, target = 0.03, math.pi, 0, nil
  for step in world:run { seconds = 2 } do
    worst = worse(worst, target and math.abs(left:position() - target) or 0)
    local t = step.time + world.dt -- what holds at the end of the next step
    target = 0.01 + amplitude * (1 - math.cos(omega * t)) / 2
    motor:set { position = { target }, velocity = { amplitude * omega / 2 * math.sin(omega * t) } }
  end
  stn.result("worst error", worst, "m")
  -- mass and damping of the drive at its largest acceleration and speed, over kp
  local load = (5.82 * amplitude * omega ^ 2 + 3.81 * amplitude * omega) / 2
  assert(worst < load / 2e4, worst)
end)

stn.test("it stops at both ends of its stroke, and touches nothing when closed", function()
  for _, target in ipairs { -1, 1 } do
    local world, gripper, left = load_gripper { opening = 0.05 }
    drive(world, gripper):set { position = { target } }
    for step in world:run { seconds = 1 } do
      assert(step.contact_count == 0)
    end
    stn.near(left:position(), target < 0 and 0 or stroke / 2, 1e-6, "end")
  end
end)

-- The data sheet's force is the sum over both fingers.
stn.test("it grips a box with 40 N at each finger", function()
  local width = 0.04
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = { "sap", tolerance = 1e-10 } }
  local gripper = world:load { file, fixed = true, joints = { wsg50_finger_left_joint = 0.03 } }
  local box = world:box { size = { 0.04, width, 0.02 }, mass = 0.1, xyz = { 0, 0, 0.1355 } }
  drive(world, gripper):set { position = { -1 } }
  close(world, gripper, { joints = { "wsg50_finger_left_joint", "wsg50_finger_right_joint" },
                          links = { "wsg50_finger_left", "wsg50_finger_right" }, seconds = 1, width = width, force = 40 })
  assert(box:speed() < 1e-6)
end)

stn.test("it hangs on an arm and is held by it", function()
  local world = stn.world { dt = 2e-3 }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", fixed = true, joints = { iiwa14_joint_2 = 0.5, iiwa14_joint_4 = -1.2 } }
  local gripper = world:load { file }
  arm:attach(gripper, "iiwa14_flange")
  local motors = world:controller { "joint_pd", target = arm, kp = 2000, kd = 200, gravity_compensation = true }
  world:controller { "joint_pd", target = gripper, kp = 2e4, kd = 1e3 }:set { position = { 0.02 } }
  stn.near(world:mass(), 29.9 + 1.2, 1e-12, "mass")
  local start = arm:q()
  for step in world:run { seconds = 2 } do
    assert(step.contact_count == 0)
  end
  assert(#motors:joints() == 7)
  stn.near(arm:q(), start, 1e-6, "posture")
  stn.near(gripper:joint("wsg50_finger_right_joint"):position(), 0.02, 1e-5, "finger")
end)
