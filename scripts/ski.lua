-- SPDX-License-Identifier: Apache-2.0
-- Skis on a slope, each turned by another angle out of the fall line. Along a ski friction is small, across it large: one that points
-- downhill runs, one that stands across holds, and those between go nearly where they point, not where gravity pulls.
local stn = require "stiction"

local p = stn.params {
  angle_deg = 12.0,  -- of the slope [deg]
  mu = 0.04,         -- of the contact along a ski
  mu2 = 0.6,         -- across it
  dt = 0.005,        -- [s]
  seconds = 2.0,     -- [s]
}

-- The x axis points downhill, gravity leans.
local angle, g = p.angle_deg * stn.deg, 9.81
local pull = g * math.sin(angle)
local world = stn.world { dt = p.dt, gravity = { pull, 0, -g * math.cos(angle) } }
world:ground { name = "snow", mu = 1.0, color = { 0.93, 0.95, 1.0 } }
local function beside_snow(mu) return mu / (2 - mu) end -- two surfaces: 2 a b/(a + b)

local skis = {}
for i, turn in ipairs { 0, 30, 60, 90 } do
  skis[i] = { turn = turn * stn.deg, start = { 0, 1.5 * i, 0.01 } }
  skis[i].body = world:box {
    name = "ski" .. turn, size = { 1.0, 0.1, 0.02 }, mass = 3, xyz = skis[i].start, rpy = { 0, 0, skis[i].turn }, color = { 0.8, 0.2, 0.2 },
    mu = beside_snow(p.mu), mu2 = beside_snow(p.mu2), friction_direction = { 1, 0, 0 },
  }
end

for _ in world:run { seconds = p.seconds } do end

for _, ski in ipairs(skis) do
  local at = ski.body:position()
  local dx, dy = at[1] - ski.start[1], at[2] - ski.start[2]
  local c, s = math.cos(ski.turn), math.sin(ski.turn)
  -- What the edge carries is not left for the friction along the ski: (f1/mu)^2 + (f2/mu2)^2 = N^2. The slip is normal to this ellipse,
  -- so a loaded edge drifts by mu/mu2 f2/sqrt((mu2 N)^2 - f2^2) of the way.
  local weight = g * math.cos(angle)
  local edge = pull * s / (p.mu2 * weight) -- f2/(mu2 N)
  assert(edge < 1, "the slope is too steep for the edges: lower angle_deg, or raise mu2")
  local left = math.sqrt(1 - edge * edge)
  local run = math.max(0, pull * c - p.mu * weight * left) * p.seconds * (p.seconds + p.dt) / 2
  local drift = run * p.mu / p.mu2 * edge / left
  local limit = 0.002 + 0.002 * run
  stn.result(ski.body.name .. "_m", dx * c + dy * s, "m")
  stn.check(ski.body.name .. " runs", { value = math.abs(dx * c + dy * s - run), limit = limit, unit = "m" })
  stn.check(ski.body.name .. " drifts", { value = math.abs(dx * s - dy * c - drift), limit = limit, unit = "m" })
end
