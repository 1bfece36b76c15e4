-- SPDX-License-Identifier: Apache-2.0
-- A torque-free body with principal inertia I that starts with the body rates w0. About the middle axis it flips.
-- Logs attitude (body to world), rates in body axes, energy and angular momentum.
local stn = require "stiction"
local numbers, load_text = require "numbers", require "robot_text"

local p = stn.params {
  I = "0.1,0.2,0.3",    -- principal inertia [kg m^2]
  w0 = "0.01,5.0,0.02", -- body rates at the start [rad/s]
  T = 20.0,             -- [s]
  n = 1000,             -- samples in T that are compared: dt divides T/n
}
p.dt = stn.params { dt = p.T / p.n / math.ceil(p.T / p.n / 2e-4) }.dt -- [s]
local I, w0 = numbers(p.I, "I", 3), numbers(p.w0, "w0", 3)

local world = stn.world { dt = p.dt, gravity = { 0, 0, 0 }, integrator = "midpoint" }
local top = load_text(world, ".urdf", ([[<robot name="top"><link name="body"><inertial><mass value="1"/>
  <inertia ixx="%.17g" iyy="%.17g" izz="%.17g" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><box size="0.5 0.3 0.1"/></geometry></visual></link></robot>]]):format(I[1], I[2], I[3]))
top:set_velocity { linear = { 0, 0, 0 }, angular = w0 }

local function norm(v)
  return math.sqrt(v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2)
end

local function body_rates()
  return top:pose():inverse():rotate(top:velocity().angular)
end

world:log { "t", "qw", "qx", "qy", "qz", "wbx", "wby", "wbz", "energy", "Lx", "Ly", "Lz", values = function()
  local q, w, L = top:q(), body_rates(), world:momentum().angular -- q: x, y, z, then the quaternion, without jumps of sign
  return world.time, q[4], q[5], q[6], q[7], w[1], w[2], w[3], world:energy().kinetic, L[1], L[2], L[3]
end }

local energy, momentum = world:energy().kinetic, norm(world:momentum().angular)
local largest, turned, flips, side = 0, 0, 0, w0[2]
for step in world:run { seconds = p.T } do
  largest = math.max(largest, math.abs(step.kinetic_J / energy - 1))
  turned = math.max(turned, math.abs(norm(world:momentum().angular) / momentum - 1))
  local now = body_rates()[2]
  if now * side < 0 then
    flips, side = flips + 1, now
  end
end
stn.result("flips", flips)
local spin = norm(w0) * p.dt
stn.check("energy stays", { value = largest, limit = math.max(spin, 1e-8) }) -- of every scheme's order or better
stn.check("size of the angular momentum stays", { value = turned, limit = math.max(spin, 1e-8) })
