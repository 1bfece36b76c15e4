-- SPDX-License-Identifier: Apache-2.0
-- Two hinged boxes swing in a plane, beside Lagrange's equations integrated by Radau IIA. Logs t, q, qd and the energy.
local stn = require "stiction"
local numbers, hinged_boxes, radau = require "numbers", require "hinged_boxes", require "radau"

local p = stn.params {
  l = "1.0,0.8",   -- lengths [m]
  m = "1.0,0.7",   -- masses [kg]
  q0 = "1.5,0.7",  -- [rad]
  qd0 = "0.0,0.0", -- [rad/s]
  T = 4.0,         -- [s]
  n = 400,         -- samples in T that are compared: dt divides T/n
}
p.dt = stn.params { dt = p.T / p.n / math.ceil(p.T / p.n / 5e-5) }.dt -- [s]
local l, m, q0, qd0 = numbers(p.l, "l", 2), numbers(p.m, "m", 2), numbers(p.q0, "q0", 2), numbers(p.qd0, "qd0", 2)

-- Angles a, b of the links to the vertical; boxes are 0.04 m wide in the plane.
local function slope(_, state)
  local a, b, da, db = table.unpack(state)
  local function about_hinge(i) return m[i] * (0.04 ^ 2 + l[i] ^ 2) / 12 + m[i] * l[i] ^ 2 / 4 end
  local coupling = m[2] * l[1] * l[2] / 2
  local A, B, C = about_hinge(1) + m[2] * l[1] ^ 2, coupling * math.cos(a - b), about_hinge(2)
  local f1 = -coupling * math.sin(a - b) * db ^ 2 - (m[1] / 2 + m[2]) * l[1] * 9.81 * math.sin(a)
  local f2 = coupling * math.sin(a - b) * da ^ 2 - m[2] * l[2] / 2 * 9.81 * math.sin(b)
  local determinant = A * C - B * B
  return { da, db, (C * f1 - B * f2) / determinant, (A * f2 - B * f1) / determinant }
end
local last = radau.solve(slope, { q0[1], q0[1] + q0[2], qd0[1], qd0[1] + qd0[2] }, p.T, { relative = 1e-11, absolute = 1e-13 })(p.T)

local y = { 0, 1, 0 }
hinged_boxes.run({ l = l, m = m, axes = { y, y }, q0 = q0, qd0 = qd0, damping = 0, T = p.T, dt = p.dt }, { last[1], last[2] - last[1] })
