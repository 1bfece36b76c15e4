-- SPDX-License-Identifier: Apache-2.0
-- The heavy symmetric top with a fixed point: A the transverse inertia about the pivot, C the axial one, the centre of mass at
-- l on the axis. Logs Euler's angles z-x-z: theta tilt, phi precession, psi spin, and their rates. Cases: "cusp", the axis is
-- let go at rest; "steady_slow", it goes round in the slow steady precession, A cos(theta) p^2 - C w3 p + m g l = 0; "loop", it is
-- pushed backward with half that rate.
local stn = require "stiction"
local load_text = require "robot_text"

local p = stn.params {
  case = stn.choice { "cusp", "steady_slow", "loop" },
  A = 0.01, C = 0.004, -- [kg m^2]
  m = 0.5,             -- [kg]
  l = 0.08,            -- [m]
  theta = 0.6,         -- [rad]
  w3 = 150.0,          -- psi_dot + phi_dot cos(theta) [rad/s]
  T = 1.0,             -- [s]
  n = 500,             -- samples in T that are compared: dt divides T/n
}
p.dt = stn.params { dt = p.T / p.n / math.ceil(p.T / p.n / 2e-5) }.dt -- [s]
local mgl = p.m * 9.81 * p.l
local slow = 2 * mgl / (p.C * p.w3 + math.sqrt((p.C * p.w3) ^ 2 - 4 * p.A * math.cos(p.theta) * mgl)) -- [rad/s]
local phi_dot = ({ cusp = 0, steady_slow = slow, loop = -slow / 2 })[p.case]

local world = stn.world { dt = p.dt, integrator = "midpoint" }
local own = p.A - p.m * p.l ^ 2
assert(own > 0, "A must be more than m l^2")
local robot = load_text(world, ".urdf", ([[<robot name="gyroscope"><link name="base"/>
  <link name="top"><inertial><origin xyz="0 0 %.17g"/><mass value="%.17g"/>
    <inertia ixx="%.17g" iyy="%.17g" izz="%.17g" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 %.17g"/><geometry><cylinder radius="0.12" length="0.02"/></geometry></visual></link>
  <joint name="pivot" type="ball"><parent link="base"/><child link="top"/></joint></robot>]]):format(p.l, p.m, own, own, p.C, p.l),
  { fixed = true })
local pivot = robot:joint "pivot"

-- phi = psi = 0: turned by theta about x, the axis of the top is (0, -sin, cos); precession about z.
pivot:set_position { math.cos(p.theta / 2), math.sin(p.theta / 2), 0, 0 }
local psi_dot = p.w3 - phi_dot * math.cos(p.theta)
pivot:set_velocity { 0, -math.sin(p.theta) * psi_dot, phi_dot + math.cos(p.theta) * psi_dot }

-- The angle nearest to the one before that is the same modulo a turn.
local function unwrapped(angle, before)
  return angle + 2 * math.pi * math.floor((before - angle) / (2 * math.pi) + 0.5)
end

local phi, psi = 0, 0
local function euler()
  local axes, w = robot:link("top"):pose().axes, robot:link("top"):velocity().angular
  local x, y, z = axes.x, axes.y, axes.z
  local sine = math.sqrt(z[1] ^ 2 + z[2] ^ 2)
  phi = unwrapped(math.atan(z[1], -z[2]), phi)
  psi = unwrapped(math.atan(x[3], y[3]), psi)
  local theta_dot = w[1] * math.cos(phi) + w[2] * math.sin(phi)
  local across = (w[1] * z[1] + w[2] * z[2]) / sine -- of w along the horizontal part of the axis
  local p_dot = w[3] - z[3] / sine * across
  return math.atan(sine, z[3]), phi, psi, theta_dot, p_dot, across / sine
end

local lowest, highest = p.theta, p.theta
world:log { "t", "theta", "phi", "psi", "theta_dot", "phi_dot", "psi_dot", "energy", values = function()
  local theta, f, s, theta_dot, p_dot, s_dot = euler()
  lowest, highest = math.min(lowest, theta), math.max(highest, theta)
  return world.time, theta, f, s, theta_dot, p_dot, s_dot, world:energy().total
end }

local start, drift = world:energy().total, 0
for step in world:run { seconds = p.T } do
  drift = math.max(drift, math.abs(step.energy_J / start - 1))
end
stn.result("theta_min", lowest, "rad")
stn.result("theta_max", highest, "rad")
stn.result("mean_precession", phi / p.T, "rad/s")

-- The other turning point: with u = cos(theta), E the energy without that of the axial spin and p = C w3, theta stands still where
-- (E - m g l u) (1 - u^2) = (p_phi - p u)^2/(2 A). This is u^3 + b u^2 + d u + e = 0; the start is one root, the others have the sum and product below.
local u, spin = math.cos(p.theta), p.C * p.w3
local p_phi = p.A * math.sin(p.theta) ^ 2 * phi_dot + spin * u
local b = -(p.A * (math.sin(p.theta) * phi_dot) ^ 2 / 2 + mgl * u + spin ^ 2 / (2 * p.A)) / mgl
local d = p_phi * spin / (p.A * mgl) - 1
local sum = -b - u
local product = d - u * sum
local turn = math.acos(2 * product / (sum + math.sqrt(sum ^ 2 - 4 * product))) -- the smaller one; the last root is beyond 1
stn.result("theta_other_turn", turn, "rad")

local nutation = spin / p.A * p.dt                          -- [rad] in a step
local swing = 2 * mgl * p.A * math.sin(p.theta) / spin ^ 2  -- of the axis, let go at rest
if world.integrator == "midpoint" and p.T > 2 * math.pi * p.A / spin then -- it has been at both turning points
  -- midpoint errs by about a quarter of nutation^2, and an extremum is met within half a step, by nutation^2/8, both of the swing
  local meets = nutation ^ 2 / 2 * math.max(math.abs(turn - p.theta), swing)
  stn.check("lower turning point of theta", { value = math.abs(lowest - math.min(turn, p.theta)), limit = meets, unit = "rad" })
  stn.check("upper turning point of theta", { value = math.abs(highest - math.max(turn, p.theta)), limit = meets, unit = "rad" })
  stn.check("energy stays: off over what falls from a cusp", { value = drift * start / (mgl * math.sin(p.theta) * swing), limit = nutation ^ 2 / 2 })
else
  stn.check("energy stays", { value = drift, limit = p.w3 * p.dt }) -- first order
end
