-- SPDX-License-Identifier: Apache-2.0
-- A dry wall of bricks in running bond: it must stand, and the floor must carry its weight.
local stn = require "stiction"
local solve_error = require "solve_error"
local worse = require "worse"

local p = stn.params {
  courses = 10,
  bricks = 10,     -- along a course
  mu = 0.6,        -- of every contact
  dt = 0.002,      -- [s]
  seconds = 1.0,   -- [s]
}
for _, name in ipairs { "courses", "bricks" } do
  assert(p[name] >= 1, ("%s = %g must be >= 1"):format(name, p[name]))
end

local length, width, height, gap, density = 0.2, 0.1, 0.1, 0.002, 2000 -- gap: between the ends of bricks [m]
local colors = { { 0.72, 0.35, 0.25 }, { 0.60, 0.28, 0.20 } }
local world = stn.world { dt = p.dt }
local ground = world:ground { name = "floor" }
local bricks, mass = {}, 0

--- A brick from x = `first` on, shorter than others where a course ends.
local function lay(course, first, long)
  local own = density * (long - gap) * width * height
  mass = mass + own
  bricks[#bricks + 1] = world:box {
    name = ("brick%d_%d"):format(course, #bricks + 1), size = { long - gap, width, height }, mass = own, color = colors[#bricks % 2 + 1],
    xyz = { first + long / 2, 0, (course - 0.5) * height },
  }
end

for course = 1, p.courses do
  local shift = course % 2 == 0 and length / 2 or 0
  if shift > 0 then lay(course, 0, shift) end
  for i = 0, p.bricks - (shift > 0 and 2 or 1) do lay(course, shift + i * length, length) end
  if shift > 0 then lay(course, p.bricks * length - shift, shift) end
end
world:contact_material { mu = p.mu }

local places = {}
for i, brick in ipairs(bricks) do places[i] = brick:position() end
local worst, overlap = solve_error.run(world, p.seconds)

local moved, speed = 0, 0
for i, brick in ipairs(bricks) do
  local x = brick:position()
  for k = 1, 3 do moved = worse(moved, math.abs(x[k] - places[i][k])) end
  speed = worse(speed, brick:speed())
end
local carried = world:contact_force(ground).force[3] / (-9.81 * mass)
stn.result("bricks", #bricks, "1")
stn.result("moved_m", moved, "m")
stn.check("every brick stays in its place", { value = moved, limit = 2e-3, unit = "m" })
stn.check("rests", { value = speed, limit = 1e-3, unit = "m/s" })
stn.check("the floor carries the wall's weight, off by", { value = math.abs(carried - 1), limit = 1e-3, unit = "" })
stn.check("deepest overlap", { value = overlap, limit = 1e-3, unit = "m" })
worst:check(1e-5)
