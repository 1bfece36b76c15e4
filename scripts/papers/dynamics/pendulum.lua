-- SPDX-License-Identifier: Apache-2.0
-- The period of a pendulum that is let go at amplitude_deg: m at the distance l, inertia I about the pivot. The exact one is
-- 4 sqrt(I / m g l) K(sin(a/2)). Logs the period measured so far, empty before it is known.
local stn = require "stiction"
local load_text = require "robot_text"

local p = stn.params {
  m = 1.5,              -- [kg]
  l = 0.4,              -- pivot to the centre of mass [m]
  I = 0.26,             -- about the pivot [kg m^2]
  amplitude_deg = 90.0, -- [deg]
  dt = 1e-3,            -- [s]
}

local world = stn.world { dt = p.dt, integrator = "midpoint" }
local own = p.I - p.m * p.l ^ 2 -- about the centre of mass
assert(own >= 0, "I must be at least m l^2")
local robot = load_text(world, ".urdf", ([[<robot name="pendulum"><link name="base"/>
  <link name="bob"><inertial><origin xyz="0 0 %.17g"/><mass value="%.17g"/>
    <inertia ixx="%.17g" iyy="%.17g" izz="%.17g" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 %.17g"/><geometry><sphere radius="0.05"/></geometry></visual></link>
  <joint name="pivot" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint></robot>]]):format(
  -p.l, p.m, own, own, own, -p.l), { fixed = true })
local pivot = robot:joint "pivot"
local angle = p.amplitude_deg * stn.deg
pivot:set_position(angle)

local small = 2 * math.pi * math.sqrt(p.I / (p.m * 9.81 * p.l))
-- K by the mean of Gauss: 1 / agm(1, cos(a/2))
local a, b = 1, math.cos(angle / 2)
for _ = 1, 60 do a, b = (a + b) / 2, math.sqrt(a * b) end
local exact = small / a

local period = 0 / 0
world:log { "amplitude_deg", "period", "small_angle_period", values = function()
  return p.amplitude_deg, period, small
end }

-- Passages through the bottom are half a period apart.
local passages, before = {}, angle
for step in world:run { seconds = 1.3 * exact } do
  local now = pivot:position()
  if before * now < 0 or now == 0 then
    passages[#passages + 1] = step.time - p.dt * now / (now - before)
  end
  before = now
  if #passages == 2 and period ~= period then
    period = 2 * (passages[2] - passages[1])
  end
end
stn.result("period", period, "s")
stn.result("period_exact", exact, "s")
-- Small swings turn at (2/dt) atan(w dt/2) under midpoint, at (2/dt) asin(w dt/2) under symplectic Euler: periods are off by (w dt)^2/12
-- and half of it. Large swings are off by less.
local turn = 2 * math.pi / small * p.dt
local second_order = world.integrator == "midpoint" or world.integrator == "symplectic_euler"
stn.check("period", { value = math.abs(period / exact - 1), limit = second_order and 0.1 * turn ^ 2 or turn })
