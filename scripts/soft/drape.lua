-- SPDX-License-Identifier: Apache-2.0
-- A cloth falls over a sphere and comes to rest on it. What the sphere carries is the weight of the cloth.
local stn = require "stiction"

local p = stn.params {
  size = 0.4,        -- edge of the cloth [m]
  cells = 20,        -- along an edge
  radius = 0.1,      -- of the sphere [m]
  young = 1e5,       -- [Pa]
  thickness = 1e-3,  -- [m]
  damping = 0.02,    -- [s]
  mu = 0.5,
  dt = 0.005,        -- [s]
  seconds = 2.0,     -- [s]
}

local world = stn.world { dt = p.dt }
local sphere = world:sphere { name = "sphere", fixed = true, radius = p.radius, xyz = { 0, 0, p.radius }, color = { 0.55, 0.58, 0.62 } }
local cloth = world:cloth {
  name = "cloth", size = { p.size, p.size }, cells = { p.cells, p.cells }, thickness = p.thickness, young = p.young, poisson = 0.3,
  density = 300, damping = p.damping, drag = 1, xyz = { 0.01, 0, 2 * p.radius + 0.01 }, mu = p.mu, self_collision = true, color = { 0.75, 0.3, 0.25 },
}

local unsolved = 0
for step in world:run { seconds = p.seconds } do
  unsolved = unsolved + (step.converged and 0 or 1)
end

local weight, force = cloth:mass() * 9.81, cloth:contact_force(sphere)
local lowest, nearest = math.huge, math.huge
for _, x in ipairs(cloth:positions()) do
  lowest = math.min(lowest, x[3])
  nearest = math.min(nearest, math.sqrt(x[1] ^ 2 + x[2] ^ 2 + (x[3] - p.radius) ^ 2))
end
print(string.format("weight %.4f N, the sphere carries %.4f N; lowest node %.3f m, unsolved steps %d", weight, force.force[3], lowest, unsolved))
stn.near(force.force[3], weight, { relative = 0.02, tolerance = 0 }, "the sphere carries the cloth [N]")
stn.check("nodes lie outside of the sphere", { value = nearest, least = p.radius - 1e-4, unit = "m" })
stn.check("the cloth hangs down beside the sphere", lowest < p.radius)
