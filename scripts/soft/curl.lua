-- SPDX-License-Identifier: Apache-2.0
-- A pneumatic finger hangs beside a cup, is blown up and curls round it. Then the air is let out again.
local stn = require "stiction"

local p = stn.params {
  pressure = 6.5e4,  -- [Pa]; from 7e4 on elements turn inside out
  young = 5e5,       -- [Pa]
  chambers = 4,
  radius = 0.03,     -- of the cup [m]
  mu = 0.8,
  dt = 0.01,         -- [s]
}

local world = stn.world { dt = p.dt }
local size = { 0.12, 0.02, 0.016 }
-- Along x from where it is held, its floor on the side of the cup.
local finger = world:soft {
  name = "finger", finger = { size = size, chambers = p.chambers, wall = 0.002, floor = 0.004 }, cells = { 36, 6, 6 }, young = p.young, poisson = 0.4,
  density = 1100, damping = 0.02, pinned = "x_min", mu = p.mu, color = { 0.9, 0.55, 0.2 },
}
local cup = world:cylinder {
  name = "cup", fixed = true, radius = p.radius, length = 0.08, rpy = { math.pi / 2, 0, 0 }, xyz = { -0.01, 0, -size[3] / 2 - p.radius - 0.001 },
  color = { 0.55, 0.58, 0.62 },
}

local unsolved = 0
local function run(seconds, pressure)
  for step in world:run { seconds = seconds } do
    finger:set_pressure(pressure(step.time))
    unsolved = unsolved + (step.converged and 0 or 1)
  end
end
run(1.0, function(t) return p.pressure * math.min(t / 0.6, 1) end)
local tip, force = finger:position("x_max"), finger:contact_force(cup)
print(string.format("blown up: the tip is at (%.4f, %.4f, %.4f) m, the cup is pressed with %.3f N in %d contacts; unsolved steps %d", tip[1], tip[2],
  tip[3], force.normal_force, force.sticking + force.slipping, unsolved))
stn.check("it curls down beside the cup", tip[3] < -0.02)
stn.check("it presses on the cup", force.normal_force > 0.05)
run(1.0, function(t) return math.max(0, p.pressure * (1 - (t - 1) / 0.4)) end)
local after = finger:position("x_max")
print(string.format("let out: the tip is at (%.4f, %.4f, %.4f) m", after[1], after[2], after[3]))
stn.check("it goes back", after[3] > 0.5 * tip[3])
