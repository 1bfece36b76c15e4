-- SPDX-License-Identifier: Apache-2.0
-- Three drums turn under chains of 60 rods that lie round them by a quarter, a half and three quarters of a turn. A motor pulls
-- with a given force at one end of each chain, a stiff cable holds the other: the forces must differ by the factor
-- e^(mu theta) (Euler and Eytelwein), whatever the drum's size and speed. Friction is that of contacts, a rod each.
--
-- Rods are no rope. One of length a and half thickness rho that touches in its middle, with the cable's force (1, t) at
-- one end in its own axes, hands on lambda (1, t), turned by delta = theta / 60. Balance along, across and about the contact:
--
--     x - 1 = mu (t - y),   (a/2) (y + t) = rho (x - 1),   (x, y) = lambda (cos delta + t sin delta, t cos delta - sin delta)
--
-- so that chains hold by lambda^60: less than e^(mu theta) by about mu theta rho / radius, for the force pulls farther
-- out than friction acts, and by the order of delta^2.
local stn = require "stiction"
local worse = require "worse"

local p = stn.params {
  mu = 0.3,        -- of rods on drums
  rods = 60,       -- of each chain
  radius = 0.5,    -- of the drums [m]
  thickness = 0.002, -- of the rods [m]
  mass = 0.1,      -- of a rod [kg]
  pull = 10.0,     -- of the motors [N]
  speed = 0.1,     -- of the drums' surfaces [m/s]
  bath = 5.0,      -- viscosity in which the rods lie, nothing once they rest [N s/m]
  dt = 0.001,      -- [s]
  seconds = 0.6,   -- [s]
}
local rho = p.thickness / 2
local R = p.radius + rho -- where the rods' axes are

local function polygon(delta, a)
  local lambda, t = math.exp(p.mu * delta), delta / 2
  local function unbalanced(l, s)
    local x, y = l * (math.cos(delta) + s * math.sin(delta)), l * (s * math.cos(delta) - math.sin(delta))
    return x - 1 - p.mu * (s - y), a / 2 * (y + s) - rho * (x - 1)
  end
  for _ = 1, 20 do -- Newton's method, by differences
    local h = 1e-7
    local f, g = unbalanced(lambda, t)
    local f1, g1 = unbalanced(lambda + h, t)
    local f2, g2 = unbalanced(lambda, t + h)
    f1, g1, f2, g2 = (f1 - f) / h, (g1 - g) / h, (f2 - f) / h, (g2 - g) / h
    local determinant = f1 * g2 - f2 * g1
    lambda, t = lambda - (f * g2 - g * f2) / determinant, t - (g * f1 - f * g1) / determinant
  end
  return lambda ^ p.rods
end

--- A drum about y at `x`, and a chain round its top by `theta`.
local function capstan(world, x, theta)
  local axis, delta, start = { math.pi / 2, 0, 0 }, theta / p.rods, math.pi / 2 - theta / 2
  local a = 2 * R * math.tan(delta / 2)
  local drum = world:cylinder { radius = p.radius, length = 0.2, mass = 1, mu = p.mu, xyz = { x, 0, 1 }, rpy = axis, category = 1, mask = 2,
    color = { 0.5, 0.6, 0.7 } }
  drum:kinematic(function(t) return { xyz = { x, 0, 1 }, rpy = { axis[1], -p.speed / p.radius * t, 0 } } end)
  --- At an angle from x, at a distance from the axis; `along` further round.
  local function place(angle, distance, along)
    return { x + distance * math.cos(angle) - (along or 0) * math.sin(angle), 0, 1 + distance * math.sin(angle) + (along or 0) * math.cos(angle) }
  end
  local rods = {}
  for i = 1, p.rods do
    local angle = start + (i - 0.5) * delta
    local pose = { xyz = place(angle, R), rpy = { 0, -angle, 0 } }
    rods[i] = world:capsule { radius = rho, length = a, mass = p.mass, mu = p.mu, xyz = pose.xyz, rpy = pose.rpy, category = 2, mask = 1,
      color = i % 2 == 0 and { 0.8, 0.4, 0.2 } or { 0.9, 0.8, 0.4 } }
    world:constraint { "bushing", a = rods[i], b_pose = pose, force_damping = { p.bath, p.bath, p.bath }, torque_damping = { 2e-3, 2e-3, 2e-3 } }
    if i > 1 then
      world:constraint { "ball", a = rods[i - 1], b = rods[i], a_point = { 0, 0, a / 2 }, b_point = { 0, 0, -a / 2 } }
    end
  end
  local tip = R / math.cos(delta / 2)
  local held = world:constraint { "tendon", stiffness = 2e4, damping = 20, path = { { "world", place(start, tip, -0.8) }, { rods[1], { 0, 0, -a / 2 } } } }
  local pulled = world:constraint { "tendon", path = { { rods[p.rods], { 0, 0, a / 2 } }, { "world", place(start + theta, tip, 0.8) } } }
  return { held = held, pulled = pulled, polygon = polygon(delta, a), rods = rods }
end

--- The angle between both cables.
local function wrap_of(chain)
  local function direction(line)
    return math.atan(line[2][3] - line[1][3], line[2][1] - line[1][1])
  end
  return (direction(chain.pulled:path()) - direction(chain.held:path())) % (2 * math.pi)
end

local world = stn.world { dt = p.dt, gravity = { 0, 0, 0 } }
local chains, angles = {}, { 90, 180, 270 }
for i, degrees in ipairs(angles) do
  chains[i] = capstan(world, 1.6 * (i - 1), math.rad(degrees))
end
for _, chain in ipairs(chains) do chain.pulled:set { tension = p.pull } end
local sums, count, slips = { 0, 0, 0 }, 0, 0
for step in world:run { seconds = p.seconds } do
  if world.time > 0.8 * p.seconds then
    count = count + 1
    for i, chain in ipairs(chains) do sums[i] = sums[i] + chain.held:force() / chain.pulled:force() end
    slips = slips + step.contact_count
  end
end
for i, degrees in ipairs(angles) do
  local chain, name = chains[i], angles[i] .. "_degrees"
  local ratio, theta = sums[i] / count, wrap_of(chain)
  local rope = math.exp(p.mu * theta)
  local fastest = 0
  for _, rod in ipairs(chain.rods) do fastest = worse(fastest, rod:speed()) end
  stn.result("ratio_" .. name, ratio, "1")
  stn.result("rope_" .. name, rope, "1")
  stn.result("rods_" .. name, chain.polygon, "1")
  stn.check(("%d degrees: ratio of the forces against e^(mu theta)"):format(degrees), { value = math.abs(ratio / rope - 1), limit = 0.01, unit = "" })
  stn.check(("%d degrees: the same against the closed form of %d rods"):format(degrees, p.rods),
    { value = math.abs(ratio / chain.polygon - 1), limit = 1e-3, unit = "" })
  stn.check(("%d degrees: the rods rest"):format(degrees), { value = fastest, limit = 1e-3, unit = "m/s" })
end
stn.check("every rod touches, in the mean", { value = slips / count, least = 0.99 * 3 * p.rods, unit = "" })
