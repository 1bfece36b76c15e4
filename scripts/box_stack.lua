-- SPDX-License-Identifier: Apache-2.0
-- A tower of equal boxes: it must stand.
local stn = require "stiction"
local solve_error = require "solve_error"
local worse = require "worse"

local p = stn.params {
  height = 10,    -- boxes
  mu = 0.5,       -- of the contacts
  dt = 0.002,     -- [s]
  seconds = 2.0,  -- [s]
}

local edge = 0.10
local world = stn.world { dt = p.dt }
world:ground { name = "floor" }
local boxes = {}
for i = 1, p.height do
  boxes[i] = world:box {
    name = "box" .. i, size = { edge, edge, edge }, mass = 1.0, xyz = { 0, 0, (i - 0.5) * edge },
    color = i % 2 == 0 and { 0.85, 0.45, 0.15 } or { 0.20, 0.45, 0.70 },
  }
end
world:contact_material { mu = p.mu }

local worst, overlap = solve_error.run(world, p.seconds)

local sway, sunk, speed = 0, 0, 0
for i, box in ipairs(boxes) do
  local xyz = box:position()
  sway = worse(sway, math.abs(xyz[1]), math.abs(xyz[2]))
  sunk = worse(sunk, math.abs(xyz[3] - (i - 0.5) * edge))
  speed = worse(speed, box:speed())
end
stn.result("sway_m", sway, "m")
stn.result("sunk_m", sunk, "m")
stn.check("stands upright", { value = sway, limit = 1e-3, unit = "m" })
stn.check("deepest overlap", { value = overlap, limit = 1e-3, unit = "m" })
stn.check("rests", { value = speed, limit = 1e-3, unit = "m/s" })
worst:check(1e-6)
