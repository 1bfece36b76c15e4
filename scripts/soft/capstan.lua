-- SPDX-License-Identifier: Apache-2.0
-- A rope round a fixed drum: a weight hangs at one end, a hand pulls the other slowly, until the rope slides everywhere. The
-- tensions beside the drum differ by the factor e^(mu theta) (Euler and Eytelwein), here for a quarter turn, half a turn and a
-- whole one, which climbs along the drum so that the rope does not meet itself.
--
-- The rope is not thin: friction acts at the drum's radius R, tension at R + radius. Balance about the axis and across the
-- rope, with the shear force Q = mu p radius/(R + radius) and the pressure p = T + dQ/dtheta per angle, makes it
--     T2/T1 = e^(k theta),  k = mu R/(R + radius) p/T,  p/T = 1 + k mu radius/(R + radius) p/T .
local stn = require "stiction"

local p = stn.params {
  mu = 0.3,
  drum = 0.1,        -- its radius [m]
  radius = 0.001,    -- of the rope [m]
  segment = 0.006,   -- length of one [m]
  free = 0.1,        -- length on either side of the drum [m]
  young = 1e8,       -- [Pa]
  density = 1000,    -- [kg/m^3]
  damping = 0.02,    -- [s]; with a tenth of it soft ropes tremble as they slide, and hold less
  load = 0.1,        -- [kg]
  speed = 0.02,      -- of the hand [m/s]
  dt = 0.002,        -- [s]
}
local middle = p.drum + p.radius -- where the rope's middle is

--- The ratio of tensions that a rope of this thickness has.
local function thick(theta)
  local lever = p.radius / middle
  local pressure, k = 1, 0
  for _ = 1, 50 do
    k = p.mu * (1 - lever) * pressure
    pressure = 1 + k * p.mu * lever * pressure
  end
  return math.exp(k * theta)
end

--- How far the hand has to go until the rope slides everywhere, twice the stretch of it, and a little further.
local function travel(theta)
  local ratio, softness = thick(theta), p.load * 9.81 / (p.young * math.pi * p.radius ^ 2)
  local mean = ratio > 1 and (ratio - 1) / math.log(ratio) or 1 -- of the tension round the drum, over T1
  return 2 * softness * (middle * theta * mean + p.free * ratio) + 0.5 * p.speed
end

--- Points along the rope: up from the weight, round the drum about y by `theta`, and straight on.
local function path(theta)
  local hang = p.free + travel(theta)
  local points = { { -middle, 0, -hang } }
  local count = math.ceil(theta * middle / p.segment) * 4
  for i = 0, count do
    local angle = theta * i / count
    points[#points + 1] = { -middle * math.cos(angle), 6 * p.radius * angle / (2 * math.pi), middle * math.sin(angle) }
  end
  local last = points[#points]
  points[#points + 1] = { last[1] + p.free * math.sin(theta), last[2], last[3] + p.free * math.cos(theta) }
  return points, hang + middle * theta + p.free
end

local function pull(theta)
  local world = stn.world { dt = p.dt }
  local points, length = path(theta)
  world:cylinder { name = "drum", radius = p.drum, length = 0.1, rpy = { math.pi / 2, 0, 0 }, fixed = true, mu = p.mu, color = { 0.55, 0.58, 0.62 } }
  local load = world:sphere { name = "load", radius = 0.02, mass = p.load, xyz = { points[1][1], points[1][2], points[1][3] - 0.02 } }
  local last = points[#points]
  local out = { math.sin(theta), 0, math.cos(theta) }
  local hand = world:box { name = "hand", size = { 0.02, 0.02, 0.02 }, mass = 0.1, xyz = { last[1] + 0.011 * out[1], last[2], last[3] + 0.011 * out[3] } }
  local rope = world:cable {
    name = "rope", points = points, segments = math.floor(length / p.segment + 0.5), radius = p.radius, young = p.young, density = p.density,
    damping = p.damping, mu = p.mu, rest = "straight", color = { 0.75, 0.25, 0.2 }, attach = { { link = load, nodes = "start" }, { link = hand, nodes = "end" } },
  }
  hand:kinematic(function(t) -- from rest to full speed within a tenth of a second
    local way = p.speed * (t < 0.1 and t * t / 0.2 or t - 0.05)
    return { xyz = { last[1] + (0.011 + way) * out[1], last[2], last[3] + (0.011 + way) * out[3] } }
  end)
  -- once the rope slides: tensions in the last segment below the drum and in the one that was the first behind it
  local after, low, high, up, count, unsolved = rope.node_count - math.floor(p.free / p.segment) + 1, 0, 0, 0, 0, 0
  local slides = travel(theta) / p.speed
  for step in world:run { seconds = slides + 0.3 } do
    unsolved = unsolved + (step.converged and 0 or 1)
    if world.time > slides then
      local tension, at = rope:output "tension", 1
      while rope:position(at)[3] < 0 do at = at + 1 end
      low, high, up, count = low + tension[at - 2], high + tension[after], up + rope:velocity(at)[3], count + 1
    end
  end
  return high / low, up / count, unsolved
end

print " theta [deg]    T2/T1   e^(mu theta)   thick rope   speed of T1 [m/s]   unsolved steps"
for _, degrees in ipairs { 90, 180, 360 } do
  local theta = math.rad(degrees)
  local ratio, speed, unsolved = pull(theta)
  local thin = math.exp(p.mu * theta)
  print(("%12.0f %8.4f %14.4f %12.4f %20.4f %16d"):format(degrees, ratio, thin, thick(theta), speed, unsolved))
  stn.near(speed, p.speed, { relative = 0.2, tolerance = 0 }, ("speed of the rope where it comes to the drum, %d degrees [m/s]"):format(degrees))
  stn.near(ratio, thin, { relative = 0.03, tolerance = 0 }, ("T2/T1 at %d degrees, as of a thin rope"):format(degrees))
  stn.near(ratio, thick(theta), { relative = 0.01, tolerance = 0 }, ("T2/T1 at %d degrees, as of one of this thickness"):format(degrees))
end
