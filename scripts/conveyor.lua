-- SPDX-License-Identifier: Apache-2.0
-- Boxes ride on a belt, a pusher sends each off to the side, into a tray on a lift that goes up and down. With
-- --set hz=1 the belt goes to and fro as a sine of that frequency instead, and the pusher waits.
local stn = require "stiction"
local solve_error = require "solve_error"
local worse = require "worse"

local p = stn.params {
  boxes = 5,
  speed = 0.5,    -- of the belt, at most [m/s]
  hz = 0.0,       -- frequency of the belt; 0: steady
  mu = 0.5,       -- of the contacts
  dt = 0.002,     -- [s]
  seconds = 6.0,  -- [s]
}

local edge, apart, steel = 0.08, 0.5, { 0.55, 0.58, 0.62 }
local world = stn.world { dt = p.dt, solver = { "sap", tolerance = 1e-8 } }
world:ground { name = "floor" }
local belt = world:box { name = "belt", fixed = true, size = { 6, 0.3, 0.1 }, xyz = { 0, 0, 0.45 }, color = { 0.2, 0.2, 0.2 } }

-- From behind the belt to 5 cm beyond its far edge and back, once for each box that comes by.
local period = apart / p.speed
local pusher = world:box { name = "pusher", size = { 0.16, 0.02, 0.08 }, color = { 0.85, 0.45, 0.15 } }
local home, out = { xyz = { 0, -0.25, 0.545 } }, { xyz = { 0, 0.12, 0.545 } }
if p.hz == 0 then
  local times = { 0, 0.5 * period, 0.7 * period, 0.9 * period, period }
  pusher:kinematic { times = times, poses = { home, home, out, home, home }, periodic = true }
else
  pusher:kinematic { times = { 0 }, poses = { home } }
end

local tray = world:compound {
  name = "tray",
  shapes = {
    { "box", size = { 1.0, 0.8, 0.02 }, xyz = { 0, 0, -0.01 }, color = steel },
    { "box", size = { 1.0, 0.02, 0.12 }, xyz = { 0, 0.41, 0.05 }, color = steel },
    { "box", size = { 0.02, 0.8, 0.12 }, xyz = { -0.51, 0, 0.05 }, color = steel },
    { "box", size = { 0.02, 0.8, 0.12 }, xyz = { 0.51, 0, 0.05 }, color = steel },
  },
}
tray:kinematic(function(t)
  local w = 2 * math.pi / 3
  return { xyz = { 0.1, 0.58, 0.25 + 0.05 * math.sin(w * t) } }, { linear = { 0, 0, 0.05 * w * math.cos(w * t) } }
end)

local boxes = {}
for i = 1, p.boxes do -- in front of the pusher half a period after it left
  local x = p.hz == 0 and -apart * (i - 0.4) or 0.3 * (i - (p.boxes + 1) / 2)
  boxes[i] = world:box { name = "box" .. i, size = { edge, edge, edge }, mass = 0.5, xyz = { x, 0, 0.5 + edge / 2 } }
end
world:contact_material { mu = p.mu }

local overlap, lag = 0, 0
local worst = solve_error.worst()
for step in world:run { seconds = p.seconds } do
  local t = step.time
  belt:set_surface_velocity { p.hz == 0 and p.speed or p.speed * math.sin(2 * math.pi * p.hz * t), 0, 0 }
  overlap = worse(overlap, step.overlap_m)
  worst:add(step.certificate)
  if p.hz > 0 then
    local u = p.speed * math.sin(2 * math.pi * p.hz * (t - p.dt))
    lag = worse(lag, math.abs(boxes[1]:velocity().linear[1] - u))
  end
end

local in_tray = 0
for _, box in ipairs(boxes) do
  local xyz = box:position()
  in_tray = in_tray + (xyz[2] > 0.17 and xyz[3] > 0.2 and 1 or 0)
end
if p.hz == 0 then
  stn.check("boxes in the tray", { value = in_tray, least = p.boxes, unit = "boxes" })
elseif 2 * math.pi * p.hz * p.speed < p.mu * 9.81 then
  stn.check("the boxes go with the belt", { value = lag, limit = 1e-3, unit = "m/s" })
end
stn.result("lag_m_per_s", lag, "m/s")
stn.check("deepest overlap", { value = overlap, limit = 2e-3, unit = "m" })
worst:check(1e-6)
