-- SPDX-License-Identifier: Apache-2.0
-- A point mass m on the plane z = 0, where contact laws have closed forms: paper SAP, section V-B. It cannot turn; the contact is
-- always in the problem. Cases:
--   penetration  falls from z = 0 and comes to rest: overlap m g dt (dt + taud) R_n, near-rigid or m g/k
--   creep        pushed with push_over_mu_m_g times the friction that it can take: sticks, and creeps with sigma w (push) dt
--   stop         slides from v0 to rest
--   incline      stands at rest on a slope of angle_deg: holds up to atan(mu), slides beyond
--   bounce       hits the plane with v_impact, without gravity and friction: a spring and a damper that cannot pull
-- stop and bounce take a law; creep and incline compare them side by side. Tables have the columns of the references, where
-- w_convention, a name, stays empty.
local stn = require "stiction"
local load_text = require "robot_text"

local p = stn.params {
  law = stn.choice { "sap", "lagged", "similar" },
  case = stn.choice { "penetration", "creep", "stop", "incline", "bounce" },
  m = 0.5,                  -- [kg]
  k = 1e5, taud = 1e-3,     -- of the contact [N/m], [s]
  mu = 0.5,
  d = 1.0,                  -- of the contact, by lagged and similar [s/m]
  sigma = 1e-3,             -- of the law sap
  eps = 1e-4,               -- of lagged and similar: slip at which friction is near its limit [m/s]
  v0 = 1.0,                 -- stop [m/s]
  push_over_mu_m_g = 0.5,   -- creep
  angle_deg = 30.0,         -- incline
  v_impact = 1.0,           -- bounce [m/s]
}
p.beta = stn.params { beta = p.case == "penetration" and 1.0 or 0.0 }.beta -- of the law sap
p.dt = stn.params { dt = ({ stop = 1e-2, bounce = 1e-6 })[p.case] or 1e-3 }.dt -- [s]

local g, radius = 9.81, 0.01 -- the mass is carried by a small sphere whose lowest point counts
local inverse_mass = 1 / (math.sqrt(3) * p.m) -- w = |W_ii|/3 of a point [1/kg]
local nan = 0 / 0

local function make(o)
  local sap = o.law == "sap"
  local world = stn.world { dt = o.dt or p.dt, gravity = o.gravity, solver = { "sap", tolerance = 1e-14 }, contact_point = "midpoint", margin = 1,
    law = sap and { "sap", sigma = p.sigma, beta = p.beta } or { o.law, stiction_tolerance = p.eps } }
  local robot = load_text(world, ".xml", ([[<mujoco model="particle"><worldbody><body name="particle"><inertial pos="0 0 0" mass="%.17g"
    diaginertia="1 1 1"/><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="z" type="slide" axis="0 0 1"/><geom type="sphere" size="%.17g" mass="0"/></body></worldbody></mujoco>]]):format(p.m, radius))
  world:ground {}
  world:contact_material { mu = o.mu or p.mu, stiffness = p.k, relaxation_time = sap and p.taud or nil, dissipation = not sap and p.d or nil }
  return { world = world, x = robot:joint "x", z = robot:joint "z", name = robot.name }
end

-- Steps particles until they are as far as the first one.
local function follow(first, others)
  for _, other in ipairs(others) do
    while other.world.steps < first.world.steps do other.world:step() end
  end
end

local function height(particle)
  return particle.z:position() - radius
end

-- Force on the particle, x and z.
local function contact_force(particle)
  local x, z = 0, 0
  for _, contact in ipairs(particle.world:contacts()) do
    local sign = contact.a == particle.name and -1 or 1 -- the impulse is that on b
    local dt = particle.world.dt
    x, z = x + sign * contact.impulse[1] / dt, z + sign * contact.impulse[3] / dt
  end
  return x, z
end

local cases = {}

function cases.penetration()
  local particle = make { gravity = { 0, 0, -g }, law = "sap" }
  local world = particle.world
  particle.z:set_position(radius)
  local floor, compliance = p.beta ^ 2 / (4 * math.pi ^ 2) * inverse_mass, 1 / (p.dt * p.k * (p.dt + p.taud))
  local near_rigid = floor > compliance and 1 or 0
  world:log { "w_convention", "k", "dt", "tau_d", "beta", "near_rigid", "penetration", values = function()
    return nan, p.k, p.dt, p.taud, p.beta, near_rigid, -height(particle)
  end }
  local exact = p.m * g * p.dt * (p.dt + p.taud) * math.max(floor, compliance)
  for _ in world:run { steps = 100000 } do
    local _, force = contact_force(particle)
    if math.abs(force / (p.m * g) - 1) < 1e-11 and math.abs(particle.z:velocity()) * p.dt < 1e-11 * exact then
      break
    end
  end
  stn.result("penetration", -height(particle), "m")
  stn.check("penetration", { value = math.abs(-height(particle) / exact - 1), limit = 1e-9 })
end

function cases.creep()
  local push = p.push_over_mu_m_g * p.mu * p.m * g
  local particle, lagged = make { gravity = { 0, 0, -g }, law = "sap" }, make { gravity = { 0, 0, -g }, law = "lagged" }
  for _, each in ipairs { particle, lagged } do
    each.z:set_position(radius - p.m * g / p.k)
    each.x:set_effort(push)
  end
  particle.world:log { "w_convention", "mu", "dt", "push_over_mu_m_g", "v_sap", "v_lagged_similar", values = function()
    follow(particle, { lagged })
    return nan, p.mu, p.dt, p.push_over_mu_m_g, particle.x:velocity(), lagged.x:velocity()
  end }
  local before = 0
  for step in particle.world:run { steps = 100000 } do -- slowly near the limit
    follow(particle, { lagged })
    local now = lagged.x:velocity()
    if step.index > 10 and math.abs(now - before) < 1e-12 * now then break end
    before = now
  end
  local f = p.push_over_mu_m_g
  local function check(name, value, exact, limit)
    stn.result(name, value, "m/s")
    stn.check("creep, " .. name, { value = math.abs(value / exact - 1), limit = limit })
  end
  check("v_sap", particle.x:velocity(), p.sigma * inverse_mass * push * p.dt, 1e-11)
  check("v_lagged_similar", lagged.x:velocity(), p.eps * f / math.sqrt(1 - f * f), 1e-8) -- it comes to that slowly
  stn.result("largest_v_over_bound", inverse_mass * p.m, "1") -- pushed to the limit, over sigma mu g dt, eq. (31)
end

-- The share of its friction that a softened law lacks at a slip: 1 - v/sqrt(v^2 + eps^2).
local function lacking(law, v)
  return law == "sap" and 0 or 1 - math.abs(v) / math.sqrt(v * v + p.eps * p.eps)
end

function cases.stop()
  assert(p.mu > 0, "stop: mu must be > 0")
  local particle = make { gravity = { 0, 0, -g }, law = p.law }
  local world = particle.world
  particle.z:set_position(radius - p.m * g / p.k)
  particle.x:set_velocity(p.v0)
  world:log { "t", "x", "z", "theta", "vx", "vz", "omega", "ft", "fn", "vt", "vn", "phi", values = function()
    local vx, vz = particle.x:velocity(), particle.z:velocity()
    local ft, fn = contact_force(particle)
    return world.time, particle.x:position(), height(particle), 0, vx, vz, 0, ft, fn, vx, vz, height(particle)
  end }
  local stopped = p.v0 / (p.mu * g)
  local rest, off, left = height(particle), 0, false
  local soft, lacks = 0, 0 -- way and speed that softened friction leaves over
  for step in world:run { steps = math.floor((stopped + 0.6) / p.dt) } do
    local n = step.index
    left = left or n * p.dt > 0.5 * stopped and n * p.dt < stopped and select(2, contact_force(particle)) == 0
    if particle.x:velocity() > 0.1 * p.v0 then -- x + mu z falls freely while it slides, whatever the normal force does
      lacks = lacks + p.dt * p.mu * select(2, contact_force(particle)) / p.m * lacking(p.law, particle.x:velocity())
      soft = soft + p.dt * lacks
      local expected = p.v0 * n * p.dt - p.mu * g * p.dt ^ 2 * n * (n + 1) / 2
      off = math.max(off, math.abs(particle.x:position() + p.mu * (height(particle) - rest) - expected))
    end
  end
  local distance = particle.x:position()
  stn.result("x_end", distance, "m")
  stn.result("exact_distance", p.v0 * stopped / 2, "m")
  -- v falls by mu g dt a step and x goes with its end: v0 dt/2 less than v0^2/(2 mu g)
  local expected = p.v0 * (stopped - p.dt) / 2
  stn.result("distance_over_that_of_the_scheme", distance / expected, "1")
  stn.check("x + mu z while it slides, off that of the scheme", { value = off, limit = 1.1 * soft + 1e-10 * p.v0 * stopped, unit = "m" })
  -- the last part of a step begins at up to mu g dt, and at up to mu (dt + taud) times that speed above the ground, from where x + mu z falls freely
  local last = p.mu * g * p.dt ^ 2 * (1 + p.mu ^ 2 * (1 + (p.law == "sap" and p.taud or 0) / p.dt))
  if not left then -- friction throws it up at first; steep friction so high that it is still in the air when it should stop
    stn.check("distance, off that of the scheme", { value = math.abs(distance - expected), limit = last, unit = "m" })
  end
  stn.check("it stops", { value = math.abs(particle.x:velocity()), limit = 1e-9, unit = "m/s" })
end

function cases.incline()
  local T = 0.3
  local angle = p.angle_deg * stn.deg
  local particles = {}
  for i, law in ipairs { "sap", "lagged", "similar" } do
    particles[i] = make { gravity = { g * math.sin(angle), 0, -g * math.cos(angle) }, law = law }
    particles[i].z:set_position(radius - p.m * g * math.cos(angle) / p.k)
  end
  local first, second, third = table.unpack(particles)
  local acceleration = math.max(0, g * (math.sin(angle) - p.mu * math.cos(angle)))
  first.world:log { "mu", "angle_deg", "angle_minus_atan_mu_deg", "exact_acceleration", "exact_distance_T", "x_sap", "v_sap",
    "x_lagged", "v_lagged", "x_similar", "v_similar", values = function()
      follow(first, { second, third })
      return p.mu, p.angle_deg, p.angle_deg - math.atan(p.mu) / stn.deg, acceleration, acceleration * T ^ 2 / 2, first.x:position(),
        first.x:velocity(), second.x:position(), second.x:velocity(), third.x:position(), third.x:velocity()
    end }
  local soft, lacks = { 0, 0, 0 }, { 0, 0, 0 } -- as in stop
  for _ in first.world:run { seconds = T } do
    follow(first, { second, third })
    for i, law in ipairs { "sap", "lagged", "similar" } do
      lacks[i] = lacks[i] + p.dt * p.mu * select(2, contact_force(particles[i])) / p.m * lacking(law, particles[i].x:velocity())
      soft[i] = soft[i] + p.dt * lacks[i]
    end
  end
  for i, law in ipairs { "sap", "lagged", "similar" } do
    stn.result("x_" .. law, particles[i].x:position(), "m")
    if acceleration == 0 then
      local share = math.tan(angle) / p.mu
      local creep = law == "sap" and p.sigma * inverse_mass * p.m * g * math.sin(angle) * p.dt or p.eps * share / math.sqrt(1 - share * share)
      -- what is left of the way there falls at least by 1 + dt df/dv/m a step, f the softened friction at the creep
      local slope = p.mu * g * math.cos(angle) / p.eps * (1 - share * share) ^ 1.5
      local left = law == "sap" and 0 or (1 + p.dt * slope) ^ -first.world.steps
      stn.check("it holds, " .. law .. ": creep off the closed form", { value = math.abs(particles[i].x:velocity() / creep - 1), limit = 1e-9 + left })
    else
      local steps = first.world.steps
      local x = acceleration * p.dt ^ 2 * steps * (steps + 1) / 2
      -- x + mu z is free of the normal force, which law sap raises while the speed does
      local found = particles[i].x:position() + p.mu * (height(particles[i]) + p.m * g * math.cos(angle) / p.k)
      stn.result("x_over_that_of_the_scheme_" .. law, particles[i].x:position() / x, "1")
      stn.check("it slides, " .. law .. ": x + mu z off that of the scheme", { value = math.abs(found / x - 1), limit = 1e-9 + 1.1 * soft[i] / x })
    end
  end
end

-- Restitution of m x'' = k (-x - tau x')+ in closed form: it leaves when the force is 0, before x is.
local function linear_restitution()
  local omega = math.sqrt(p.k / p.m)
  local zeta = p.taud * omega / 2
  if zeta >= 1 then
    local root = math.sqrt(zeta ^ 2 - 1)
    if zeta == 1 then return math.exp(-2) end
    local t = math.log(2 * zeta ^ 2 - 1 + 2 * zeta * root) / root -- over omega
    return ((zeta - root) * math.exp(-(zeta - root) * t) - (zeta + root) * math.exp(-(zeta + root) * t)) / (2 * root)
  end
  local turn = omega * math.sqrt(1 - zeta ^ 2)
  local angle = math.pi - math.atan(2 * zeta * turn / omega, 1 - 2 * zeta ^ 2)
  return -math.exp(-zeta * omega * angle / turn) * (math.cos(angle) - zeta * omega / turn * math.sin(angle))
end

-- The same of m x'' = -k x (1 - d x') while it presses: d v + ln(1 - d v) is that of the impact, d v_i - ln(1 + d v_i), with the other sign.
local function hunt_crossley_restitution()
  local impact = p.d * p.v_impact
  local wanted = impact - math.log(1 + impact)
  local low, high = 0, math.min(impact, 1)
  for _ = 1, 200 do
    local middle = (low + high) / 2
    if -middle - math.log(1 - middle) < wanted then low = middle else high = middle end
  end
  return p.d > 0 and low / impact or 1
end

-- Restitution, duration and depth of one bounce.
local function bounce(law, dt)
  local particle = make { gravity = { 0, 0, 0 }, mu = 0, law = law, dt = dt }
  particle.z:set_position(radius + 1e-12)
  particle.z:set_velocity(-p.v_impact)
  local depth, restitution, duration, touched = 0, nan, nan, false
  return particle, function()
    local _, force = contact_force(particle)
    depth, touched = math.max(depth, -height(particle)), touched or force > 0
    if touched and force == 0 and restitution ~= restitution then
      restitution, duration = particle.z:velocity() / p.v_impact, particle.world.time
    end
    return restitution, duration, depth
  end
end

local function bounced(law, dt)
  local particle, look = bounce(law, dt)
  local restitution = nan
  while restitution ~= restitution and particle.world.time < 1 do
    particle.world:step()
    restitution = look()
  end
  return restitution
end

function cases.bounce()
  local particle, look = bounce(p.law)
  local restitution, duration, depth
  if p.law == "sap" then
    particle.world:log { "tau_d", "damping_ratio", "restitution", "contact_time", values = function()
      restitution, duration = look()
      return p.taud, p.taud / 2 * math.sqrt(p.k / p.m), restitution, duration
    end }
  else
    local coarse, fine
    particle.world:log { "d", "v_impact", "restitution", "contact_time", "max_penetration", "discrete_restitution_dt1e-4",
      "discrete_restitution_dt1e-5", values = function()
        restitution, duration, depth = look()
        coarse, fine = coarse or bounced(p.law, 1e-4), fine or bounced(p.law, 1e-5)
        return p.d, p.v_impact, restitution, duration, depth, coarse, fine
      end }
  end
  for _ in particle.world:run { seconds = 6 * math.pi * math.sqrt(p.m / p.k) } do
    restitution, duration = look()
    if restitution == restitution then break end
  end
  local exact = p.law == "sap" and linear_restitution() or hunt_crossley_restitution()
  stn.result("restitution", restitution)
  stn.result("exact_restitution", exact)
  stn.result("contact_time", duration, "s")
  stn.check("restitution off the closed form", { value = math.abs(restitution - exact), limit = 2 * math.sqrt(p.k / p.m) * p.dt }) -- order 1
end

cases[p.case]()
