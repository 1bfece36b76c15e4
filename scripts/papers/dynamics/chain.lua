-- SPDX-License-Identifier: Apache-2.0
-- A chain of boxes on hinges with axes of all directions, damped or not. Logs t, q, qd and the energy.
local stn = require "stiction"
local numbers, hinged_boxes = require "numbers", require "hinged_boxes"

local p = stn.params {
  case = stn.choice { "chain7", "chain7_damped" },
  l = "0.3,0.25,0.25,0.2,0.2,0.15,0.1",         -- lengths [m]
  m = "1.0,0.8,0.7,0.6,0.5,0.4,0.3",            -- masses [kg]
  axes = "y,x,y,z,x,y,x",                       -- in the link above, at zero angle; or three numbers each
  q0 = "0.6,-0.4,0.5,0.3,0.7,-0.6,0.4",         -- [rad]
  qd0 = "0.0,0.5,-1.0,2.0,0.0,1.0,-0.5",        -- [rad/s]
  T = 1.5,                                      -- [s]
  n = 300,                                      -- samples in T that are compared: dt divides T/n
}
p.dt = stn.params { dt = p.T / p.n / math.ceil(p.T / p.n / 2.5e-5) }.dt -- [s]
p.damping = stn.params { damping = p.case == "chain7_damped" and 0.02 or 0.0 }.damping -- of each joint [N m s/rad]

local directions = { x = { 1, 0, 0 }, y = { 0, 1, 0 }, z = { 0, 0, 1 } }
local axes = {}
if p.axes:find "%d" then -- three numbers each
  local flat = numbers(p.axes, "axes")
  for i = 1, #flat, 3 do axes[#axes + 1] = { flat[i], flat[i + 1], flat[i + 2] } end
else
  for word in p.axes:gmatch "[^%s,]+" do
    axes[#axes + 1] = directions[word] or error("axes: '" .. word .. "' is none of x, y, z", 0)
  end
end
local n = #axes
hinged_boxes.run { l = numbers(p.l, "l", n), m = numbers(p.m, "m", n), axes = axes, q0 = numbers(p.q0, "q0", n),
  qd0 = numbers(p.qd0, "qd0", n), damping = p.damping, T = p.T, dt = p.dt }
