-- SPDX-License-Identifier: Apache-2.0
-- A four-bar linkage: a tree of crank, coupler and rocker whose loop a ball constraint closes. A motor turns the crank at a
-- steady rate; where the others are is compared with the closed form, and how far the loop drifts open.
--
--     B -- coupler -- C          crank angle a: B = crank (cos a, sin a)
--    /                 \         C lies coupler from B and rocker from D: one of two points where circles meet
--   A ----- ground ---- D
local stn = require "stiction"
local worse = require "worse"
local load_text = require "robot_text"

local p = stn.params {
  ground = 0.5, crank = 0.15, coupler = 0.45, rocker = 0.35, -- lengths [m]; the crank must be able to turn
  rate = 6.0,     -- of the crank [rad/s]
  kd = 20.0,      -- of its motor [N m s/rad]
  dt = 0.001,     -- [s]
  seconds = 60.0, -- [s]
}
local lengths = { p.ground, p.crank, p.coupler, p.rocker }
table.sort(lengths)
assert(lengths[1] == p.crank and lengths[1] + lengths[4] < lengths[2] + lengths[3],
  "the crank cannot turn: it must be the shortest, and with the longest shorter than the other two (Grashof)")

-- Direction of the coupler and of the rocker for an angle of the crank, loop open upwards.
local function closed_form(angle)
  local bx, bz = p.crank * math.cos(angle), p.crank * math.sin(angle)
  local dx, dz = p.ground - bx, -bz
  local d = math.sqrt(dx * dx + dz * dz)
  local along = (p.coupler ^ 2 - p.rocker ^ 2 + d * d) / (2 * d)
  local up = math.sqrt(p.coupler ^ 2 - along ^ 2)
  local cx, cz = bx + (along * dx - up * dz) / d, bz + (along * dz + up * dx) / d
  return math.atan(cz - bz, cx - bx), math.atan(cz, cx - p.ground)
end

-- A bar along x from its joint; joints turn about -y, so that angles rise from x to z.
local function bar(name, length, color)
  return ([[<link name="%s"><inertial><origin xyz="%g 0 0"/><mass value="%g"/>
    <inertia ixx="1e-4" iyy="%g" izz="%g" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="%g 0 0"/><geometry><box size="%g 0.02 0.03"/></geometry><material name="%s"><color rgba="%s"/></material>
    </visual></link>]]):format(name, length / 2, 4 * length, length ^ 3 / 3, length ^ 3 / 3, length / 2, length, name, color)
end

local function hinge(name, parent, child, x)
  return ([[<joint name="%s" type="continuous"><parent link="%s"/><child link="%s"/><origin xyz="%.17g 0 0"/><axis xyz="0 -1 0"/>
    </joint>]]):format(name, parent, child, x)
end

local world = stn.world { dt = p.dt }
local coupler, rocker = closed_form(0)
local linkage = load_text(world, ".urdf", '<robot name="linkage"><link name="frame"/>'
  .. bar("crank", p.crank, "0.8 0.3 0.2 1") .. bar("coupler", p.coupler, "0.3 0.5 0.8 1") .. bar("rocker", p.rocker, "0.4 0.7 0.3 1")
  .. hinge("A", "frame", "crank", 0) .. hinge("B", "crank", "coupler", p.crank) .. hinge("D", "frame", "rocker", p.ground)
  .. "</robot>", { fixed = true, base = { xyz = { 0, 0, 0.5 } }, joints = { A = 0, B = coupler, D = rocker } })
local loop = world:constraint { "ball", a = { linkage, "coupler" }, b = { linkage, "rocker" }, a_point = { p.coupler, 0, 0 },
  b_point = { p.rocker, 0, 0 }, name = "C" }
local motor = world:controller { "joint_pd", target = linkage, joints = { "A" }, kp = 0, kd = p.kd }
motor:set { velocity = { A = p.rate } }

local A, B, D = linkage:joint "A", linkage:joint "B", linkage:joint "D"
local function off(angle) return math.abs((angle + math.pi) % (2 * math.pi) - math.pi) end

world:log { "time [s]", "loop error [m]", values = function() return world.time, loop:error() end }
local drift, early, worst_coupler, worst_rocker, force = 0, 0, 0, 0, 0
for step in world:run { seconds = p.seconds } do
  local a = A:position()
  coupler, rocker = closed_form(a)
  drift = worse(drift, loop:error())
  early = step.time <= p.seconds / 10 and drift or early
  worst_coupler = worse(worst_coupler, off(a + B:position() - coupler))
  worst_rocker = worse(worst_rocker, off(D:position() - rocker))
  local x, y, z = table.unpack(loop:impulse())
  force = worse(force, math.sqrt(x * x + y * y + z * z) / p.dt)
end

stn.result("turns", A:position() / (2 * math.pi), "1")
stn.result("loop_error", drift, "m")
stn.result("loop_error_first_tenth", early, "m")
stn.result("coupler_angle_error", worst_coupler, "rad")
stn.result("rocker_angle_error", worst_rocker, "rad")
stn.result("largest_force_in_loop", force, "N")
-- The rows of a step are those of its start: the ends of the loop part by acceleration times dt^2.
local limit = 3 * (p.rate * p.dt) ^ 2 * p.crank
stn.check("the loop stays closed", { value = drift, limit = limit, unit = "m" })
stn.check("it does not drift: error of the run over that of its first tenth", { value = drift / early, limit = 1.05, unit = "" })
stn.check("the rocker is where the closed form says", { value = worst_rocker, limit = limit / p.rocker, unit = "rad" })
stn.check("the coupler is where the closed form says", { value = worst_coupler, limit = limit / p.rocker, unit = "rad" })
stn.check("the crank turns at the rate that it is told", { value = math.abs(A:position() / p.seconds / p.rate - 1), limit = 0.05, unit = "" })
