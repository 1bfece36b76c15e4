-- SPDX-License-Identifier: Apache-2.0
-- A parallel gripper whose second finger mimics the first closes on a box that stands aside of its middle, squeezes it with
-- the effort limit of its one motor, lifts it and holds it. By virtual work each finger presses with half of that effort.
local stn = require "stiction"
local worse = require "worse"
local load_text = require "robot_text"

local p = stn.params {
  effort = 40.0,  -- of the motor on the first finger [N]
  mass = 0.6,     -- of the box [kg]
  mu = 0.6,       -- of box and fingers
  aside = 0.008,  -- of the box from the middle [m]
  lift = 0.1,     -- [m]
  dt = 0.001,     -- [s]
  seconds = 3.0,  -- [s]
}
assert(2 * p.mu * p.effort / 2 > 1.5 * p.mass * 9.81, "friction cannot hold that box: 2 mu effort/2 must exceed its weight")

local edge, open = 0.06, 0.03 -- of the box; from a finger's pad to the box in the middle [m]
local function link(name, mass, size, at)
  return ([[<link name="%s"><inertial><origin xyz="%s"/><mass value="%g"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="%s"/><geometry><box size="%s"/></geometry></visual>
    <collision><origin xyz="%s"/><geometry><box size="%s"/></geometry></collision></link>]]):format(name, at, mass, at, size, at, size)
end
local function slide(name, parent, child, origin, axis, effort, rest)
  return ([[<joint name="%s" type="prismatic"><parent link="%s"/><child link="%s"/><origin xyz="%s"/><axis xyz="%s"/>
    <limit lower="-0.5" upper="0.5" effort="%g" velocity="10"/>%s</joint>]]):format(name, parent, child, origin, axis, effort, rest or "")
end

local world = stn.world { dt = p.dt }
world:ground { mu = p.mu }
local box = world:box { name = "box", size = { edge, edge, edge }, mass = p.mass, mu = p.mu, xyz = { p.aside, 0, edge / 2 },
  color = { 0.85, 0.45, 0.15 } }
local half = edge / 2 + open + 0.005 -- to the middle of a finger
local gripper = load_text(world, ".urdf", '<robot name="gripper"><link name="rail"/>'
  .. link("palm", 1, "0.2 0.06 0.04", "0 0 0") .. link("left", 0.1, "0.01 0.04 0.08", "0 0 -0.06")
  .. link("right", 0.1, "0.01 0.04 0.08", "0 0 -0.06")
  .. slide("lift", "rail", "palm", "0 0 0.12", "0 0 1", 500)
  .. slide("grip", "palm", "left", ("%g 0 0"):format(-half), "1 0 0", p.effort)
  .. slide("follow", "palm", "right", ("%g 0 0"):format(half), "-1 0 0", p.effort, '<mimic joint="grip" multiplier="1" offset="0"/>')
  .. "</robot>", { fixed = true, mu = p.mu })
world:disable_collisions(gripper)
local motors = world:controller { "joint_pd", target = gripper, joints = { "lift", "grip" }, kp = 8000, kd = 200, gravity_compensation = true }
local grip, follow = gripper:joint "grip", gripper:joint "follow"

-- Normal force of a finger on the box [N].
local function squeeze(finger)
  return world:contact_force(box, { gripper, finger }).normal_force
end
world:log { "time [s]", "left finger [N]", values = function() return world.time, squeeze "left" end }

local ratio_error, lowest, force_error = 0, math.huge, 0
for step in world:run { seconds = p.seconds } do
  local t = step.time
  local up = p.lift * math.max(0, math.min(1, (t - 0.7) / 1))
  motors:set { position = { grip = t > 0.1 and 0.08 or 0, lift = up } } -- further than the box lets it: the motor saturates
  ratio_error = worse(ratio_error, math.abs(grip:position() - follow:position()))
  if t > p.seconds - 1 then
    local left, right = squeeze "left", squeeze "right"
    force_error = worse(force_error, math.abs(left - p.effort / 2), math.abs(right - p.effort / 2))
    lowest = math.min(lowest, box:position()[3])
  end
end

local place = box:position()
stn.result("ratio_error", ratio_error, "m")
stn.result("finger_force_error", force_error, "N")
stn.result("box_height", place[3], "m")
stn.result("box_off_middle", place[1], "m")
stn.check("the fingers move as one", { value = ratio_error, limit = 1e-5, unit = "m" })
stn.check("each presses with half the motor's effort", { value = force_error, limit = 0.01 * p.effort, unit = "N" })
stn.check("the box is lifted", { value = place[3], least = edge / 2 + 0.98 * p.lift, unit = "m" })
stn.check("and held", { value = place[3] - lowest, limit = 1e-3, unit = "m" })
stn.check("in the middle", { value = math.abs(place[1]), limit = 1e-4, unit = "m" })
