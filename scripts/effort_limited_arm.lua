-- SPDX-License-Identifier: Apache-2.0
-- A boom on a hinge is held level against gravity by a servo u = clamp(-kp (q - target) - kd v, effort). The weight that it
-- carries grows in steps: while the effort suffices it sags by weight/kp, then the boom falls as if only the effort pushed
-- against the weight. Both are compared with closed forms.
local stn = require "stiction"
local worse = require "worse"
local load_text = require "robot_text"

local p = stn.params {
  length = 0.6,   -- of the boom to its load [m]
  mass = 2.0,     -- of the load [kg]
  effort = 30.0,  -- of the servo [N m]
  kp = 800.0,     -- [N m/rad]
  kd = 60.0,      -- [N m s/rad]
  stop = 0.5,     -- below the level [rad]
  dt = 0.001,     -- [s]
  steps = 6,      -- loads that it is tried with
}
local inertia = 1e-3 + p.mass * p.length ^ 2
local world = stn.world { dt = p.dt }
local arm = load_text(world, ".urdf", ([[<robot name="crane"><link name="mast">
  <visual><origin xyz="0 0 -0.25"/><geometry><box size="0.06 0.06 0.5"/></geometry></visual></link>
  <link name="boom"><inertial><origin xyz="%g 0 0"/><mass value="%g"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><origin xyz="%g 0 0"/><geometry><box size="%g 0.03 0.03"/></geometry></visual>
  <visual><origin xyz="%g 0 0"/><geometry><sphere radius="0.06"/></geometry></visual></link>
  <joint name="hinge" type="revolute"><parent link="mast"/><child link="boom"/><axis xyz="0 -1 0"/>
  <limit lower="%g" upper="1" effort="%g" velocity="100"/></joint></robot>]]):format(p.length, p.mass, p.length / 2, p.length,
  p.length, -p.stop, p.effort), { fixed = true, base = { xyz = { 0, 0, 1 } } })
local servo = world:controller { "joint_pd", target = arm, kp = p.kp, kd = p.kd }
servo:set { position = { hinge = 0 } }
local hinge, boom = arm:joint "hinge", arm:link "boom"
world:log { "time [s]", "angle [rad]", values = function() return world.time, hinge:position() end }

local function weight(load, angle) return (p.mass * 9.81 + load) * p.length * math.cos(angle) end

-- A force on the tip, wherever that is; what it says about each step.
local function run(load, seconds, look)
  for _ in world:run { seconds = seconds } do
    boom:apply_force { force = { 0, 0, -load }, point = boom:pose() * { p.length, 0, 0 } }
    if look then look(hinge:position(), hinge:velocity()) end
  end
end

-- Loads [N] that it holds, the last nearly all that it can.
local most = p.effort / p.length - p.mass * 9.81
assert(most > 0, "the servo cannot even hold the boom without a load")
local sag_error, held = 0, 0
for k = 0, p.steps - 1 do
  local load = 0.95 * most * k / (p.steps - 1)
  run(load, 2)
  local q = hinge:position()
  sag_error = worse(sag_error, math.abs(q + weight(load, q) / p.kp)) -- kp q = -weight
  held = worse(held, weight(load, q) / p.effort)
  stn.result(("sag_%d"):format(k), -q, "rad")
end

-- One that it cannot hold even at the stop. Energy from when the servo is saturated: I v^2/2 = fall of the weight - effort x angle.
local load = (1.1 * p.effort / math.cos(p.stop)) / p.length - p.mass * 9.81
local q0, v0, energy, energy_error = nil, nil, 0, 0
run(load, 1, function(q, v)
  if not q0 and -p.kp * q - p.kd * v > 1.05 * p.effort then
    q0, v0 = q, v
  elseif q0 and q > -0.9 * p.stop then
    energy = 0.5 * inertia * (v * v - v0 * v0)
    local fall = (p.mass * 9.81 + load) * p.length * (math.sin(q0) - math.sin(q))
    energy_error = worse(energy_error, math.abs(energy - fall + p.effort * (q0 - q)))
  end
end)

stn.result("sag_error", sag_error, "rad")
stn.result("largest_share_of_effort_held", held, "1")
stn.result("fall_energy", energy, "J")
stn.result("fall_energy_error", energy_error, "J")
stn.result("stop_error", math.abs(hinge:position() + p.stop), "rad")
stn.check("the boom sags by weight over kp", { value = sag_error, limit = 1e-6, unit = "rad" })
stn.check("it holds nearly its effort", { value = held, least = 0.9, unit = "" })
stn.check("above it the boom falls, braked by its effort", { value = energy_error, limit = 0.02 * energy, unit = "J" })
stn.check("and stops at its limit", { value = math.abs(hinge:position() + p.stop), limit = 1e-5, unit = "rad" })
