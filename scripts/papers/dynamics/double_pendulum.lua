-- SPDX-License-Identifier: Apache-2.0
-- Two hinged boxes swing in a plane. Logs t, q, qd and the energy.
local stn = require "stiction"
local numbers, hinged_boxes = require "numbers", require "hinged_boxes"

local p = stn.params {
  l = "1.0,0.8",   -- lengths [m]
  m = "1.0,0.7",   -- masses [kg]
  q0 = "1.5,0.7",  -- [rad]
  qd0 = "0.0,0.0", -- [rad/s]
  T = 4.0,         -- [s]
  n = 400,         -- samples in T that are compared: dt divides T/n
}
p.dt = stn.params { dt = p.T / p.n / math.ceil(p.T / p.n / 5e-5) }.dt -- [s]
local y = { 0, 1, 0 }
local _, _, drift = hinged_boxes.run { l = numbers(p.l, "l", 2), m = numbers(p.m, "m", 2), axes = { y, y }, q0 = numbers(p.q0, "q0", 2),
  qd0 = numbers(p.qd0, "qd0", 2), damping = 0, T = p.T, dt = p.dt }
stn.check("energy stays", { value = drift, limit = 0.05, unit = "J" })
