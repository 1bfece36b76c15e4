-- SPDX-License-Identifier: Apache-2.0
-- A torque-free body with principal inertia I that starts with the body rates w0. About the middle axis it flips, and by Jacobi's elliptic
-- functions the time from one flip to the next is 2 K(k)/lambda.
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
local largest, turned, flips, before = 0, 0, {}, w0[2]
for step in world:run { seconds = p.T } do
  largest = math.max(largest, math.abs(step.kinetic_J / energy - 1))
  turned = math.max(turned, math.abs(norm(world:momentum().angular) / momentum - 1))
  local now = body_rates()[2]
  if now * before < 0 then
    flips[#flips + 1] = step.time - p.dt * now / (now - before)
  end
  before = now
end
stn.result("flips", #flips)

-- Time between flips, of moments of inertia a < b < c: twice a quarter period of the rate about b. nil where that does not change sign.
local function flip_time(a, b, c)
  local energy2, square = I[1] * w0[1] ^ 2 + I[2] * w0[2] ^ 2 + I[3] * w0[3] ^ 2, (I[1] * w0[1]) ^ 2 + (I[2] * w0[2]) ^ 2 + (I[3] * w0[3]) ^ 2
  if square < energy2 * b then
    a, c = c, a
  end
  local lambda = math.sqrt((c - b) * (square - energy2 * a) / (a * b * c))
  local m = (b - a) * (energy2 * c - square) / ((c - b) * (square - energy2 * a)) -- k^2
  local x, y = 1, math.sqrt(1 - m)
  for _ = 1, 60 do x, y = (x + y) / 2, math.sqrt(x * y) end
  return math.pi / x / lambda
end

local spin, second_order = norm(w0) * p.dt, world.integrator == "midpoint" -- midpoint errs by (w dt)^2/24 and (w dt)^2/16
local small = math.max(second_order and spin ^ 2 / 12 or spin, 1e-11)
stn.check("energy stays", { value = largest, limit = small })
stn.check("size of the angular momentum stays", { value = turned, limit = small })
if #flips > 1 and I[1] < I[2] and I[2] < I[3] then
  local exact = flip_time(table.unpack(I))
  stn.result("time_between_flips", flips[2] - flips[1], "s")
  stn.result("time_between_flips_exact", exact, "s")
  stn.check("time between flips", { value = math.abs((flips[2] - flips[1]) / exact - 1), limit = small })
end
