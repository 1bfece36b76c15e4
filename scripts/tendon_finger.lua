-- SPDX-License-Identifier: Apache-2.0
-- A finger that one motor bends: its tendon goes over a cylinder at each of three joints, and springs in the joints draw it
-- straight again. Slow pulls are compared with the closed form, stiffness x angle + damping x rate = radius x tension.
-- Look at it: stiction run scripts/tendon_finger.lua --record finger.html
local stn = require "stiction"
local worse = require "worse"
local load_text = require "robot_text"

local p = stn.params {
  tension = 20.0, -- at the most [N]
  period = 4.0,   -- of a pull and its release [s]
  pulls = 2,
  dt = 0.001,     -- [s]
}
local radii = { 0.010, 0.008, 0.006 }   -- of the cylinders [m]
local stiffness = { 0.5, 0.35, 0.2 }    -- of the joints' springs [N m/rad]
local lag = 0.05                        -- damping by stiffness [s]
local bone = 0.04                       -- length of a link [m]

-- Links along x; joints turn about -y, so that angles rise from x to z, towards the tendon.
local parts, parent = { '<robot name="finger"><link name="palm"/>' }, "palm"
for i = 1, 3 do
  parts[#parts + 1] = ([[<link name="bone%d"><inertial><origin xyz="0.02 0 0"/><mass value="0.03"/>
    <inertia ixx="4e-6" iyy="6e-6" izz="6e-6" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0.02 0 0"/><geometry><box size="0.03 0.012 0.008"/></geometry></visual>
    <visual><origin rpy="1.5707963267948966 0 0"/><geometry><cylinder radius="%g" length="0.014"/></geometry></visual></link>
    <joint name="joint%d" type="continuous"><parent link="%s"/><child link="bone%d"/><origin xyz="%g 0 0"/><axis xyz="0 -1 0"/></joint>]]):format(
    i, radii[i], i, parent, i, i > 1 and bone or 0)
  parent = "bone" .. i
end
parts[#parts + 1] = "</robot>"

local world = stn.world { dt = p.dt, gravity = { 0, 0, 0 } }
local finger = load_text(world, ".urdf", table.concat(parts), { fixed = true, base = { xyz = { 0, 0, 0.2 } } })
local path = { { "world", { -0.05, 0, 0.21 } }, { "world", { -bone / 2, 0, 0.2 } } }
for i = 1, 3 do
  local link = { finger, "bone" .. i }
  path[#path + 1] = { link, "cylinder", radius = radii[i], rpy = { math.pi / 2, 0, 0 }, side = { 0, 1, 0 } }
  path[#path + 1] = { link, { bone / 2, 0, 0 } }
end
local tendon = world:constraint { "tendon", path = path, name = "flexor" }
for i = 1, 3 do
  world:controller { "joint_pd", target = finger, joints = { "joint" .. i }, kp = stiffness[i], kd = lag * stiffness[i] }
end

--- Smoothly up and down.
local function tension(t)
  return p.tension * 0.5 * (1 - math.cos(2 * math.pi * t / p.period))
end

local start, off, largest, wound_off = tendon:length(), 0, 0, 0
world:log { "tension [N]", "length [m]", values = function() return -(tendon:force() or 0), tendon:length() end }
tendon:set { tension = 0 }
for _ in world:run { seconds = p.pulls * p.period } do
  local pull, wound = -tendon:force(), 0
  for i = 1, 3 do
    local joint = finger:joint("joint" .. i)
    local angle = joint:position()
    wound = wound + radii[i] * angle
    largest = worse(largest, angle)
    off = worse(off, math.abs(angle + lag * joint:velocity() - radii[i] * pull / stiffness[i]))
  end
  wound_off = worse(wound_off, math.abs(start - tendon:length() - wound))
  tendon:set { tension = tension(world.time) }
end
stn.result("largest_angle", largest, "rad")
stn.result("reeled_in", start - tendon:length(), "m")
stn.check("the tendon gives up what the cylinders say", { value = wound_off, limit = 1e-9, unit = "m" })
stn.check("angles are radius x tension / stiffness, less their lag", { value = off, limit = 0.01 * largest, unit = "rad" })
stn.check("straight again", { value = math.abs(start - tendon:length()), limit = 1e-3, unit = "m" })
