-- SPDX-License-Identifier: Apache-2.0
-- Two rigid jaws close on a soft ball, lift it and hold it against its weight.
local stn = require "stiction"

local p = stn.params {
  radius = 0.035,    -- of the ball [m]
  cells = 6,         -- across the ball
  young = 5e4,       -- [Pa]
  poisson = 0.4,
  density = 1000.0,  -- [kg/m^3]
  mu = 0.6,
  grip = 0.3,        -- part of the diameter that the jaws press together
  lift = 0.1,        -- [m]
  dt = 0.005,        -- [s]
  seconds = 2.0,     -- of holding [s]
}

local world = stn.world { dt = p.dt }
local floor = world:ground { name = "floor" }
local ball = world:soft {
  name = "ball", ball = p.radius, cells = p.cells, young = p.young, poisson = p.poisson, density = p.density, damping = 0.02,
  xyz = { 0, 0, p.radius }, mu = p.mu, color = { 0.9, 0.55, 0.2 },
}
local half, close, rise = 0.01, 0.4, 0.6 -- thickness of a jaw [m]; how long closing and rising take [s]
local jaws = {}
for i, side in ipairs { -1, 1 } do
  jaws[i] = world:box { name = side < 0 and "left" or "right", size = { 2 * half, 0.05, 0.05 }, color = { 0.55, 0.58, 0.62 } }
  jaws[i]:kinematic(function(t)
    local s, z = math.min(t / close, 1), math.min(math.max((t - close) / rise, 0), 1)
    s, z = s * s * (3 - 2 * s), z * z * (3 - 2 * z)
    return { xyz = { side * (p.radius * (1.05 - s * (0.05 + p.grip)) + half), 0, p.radius + z * p.lift } }
  end)
end

local unsolved = 0
for step in world:run { seconds = close + rise + p.seconds } do
  unsolved = unsolved + (step.converged and 0 or 1)
end

local weight = ball:mass() * 9.81
local left, right = ball:contact_force(jaws[1]), ball:contact_force(jaws[2])
print(string.format("weight %.4f N; jaws press %.3f and %.3f N and carry %.4f N; the ball is at %.4f m, unsolved steps %d", weight,
  left.normal_force, right.normal_force, left.force[3] + right.force[3], ball:position()[3], unsolved))
stn.near(left.force[3] + right.force[3], weight, { relative = 0.02, tolerance = 0 }, "the jaws carry the ball [N]")
stn.near(left.force[1], -right.force[1], { relative = 0.02, tolerance = 0 }, "the jaws press alike [N]")
stn.check("the ball went up with the jaws", ball:position()[3] > p.radius + 0.9 * p.lift)
stn.check("it does not touch the floor", ball:contact_force(floor).normal_force == 0)
