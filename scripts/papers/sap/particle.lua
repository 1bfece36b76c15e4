-- SPDX-License-Identifier: Apache-2.0
-- A point mass m on the plane z = 0, where contact laws have closed forms: paper SAP, section V-B. It cannot turn; the contact is
-- always in the problem. Cases:
--   penetration  falls from z = 0 and comes to rest: overlap m g dt (dt + taud) R_n, near-rigid or m g/k
--   creep        pushed with push_over_mu_m_g times the friction that it can take: sticks, and creeps with sigma w (push) dt
--   stop         slides from v0 to rest
--   incline      stands at rest on a slope of angle_deg: holds up to atan(mu), slides beyond
--   bounce       hits the plane with v_impact, without gravity and friction: a spring and a damper that cannot pull
-- Tables have the columns of the references; those of other laws, and names, stay empty.
local stn = require "stiction"
local load_text = require "robot_text"

local p = stn.params {
  case = stn.choice { "penetration", "creep", "stop", "incline", "bounce" },
  m = 0.5,                  -- [kg]
  k = 1e5, taud = 1e-3,     -- of the contact [N/m], [s]
  mu = 0.5,
  sigma = 1e-3,             -- of the law
  v0 = 1.0,                 -- stop [m/s]
  push_over_mu_m_g = 0.5,   -- creep
  angle_deg = 30.0,         -- incline
  v_impact = 1.0,           -- bounce [m/s]
}
p.beta = stn.params { beta = p.case == "penetration" and 1.0 or 0.0 }.beta -- of the law
p.dt = stn.params { dt = ({ stop = 1e-2, bounce = 1e-6 })[p.case] or 1e-3 }.dt -- [s]

local g, radius = 9.81, 0.01 -- the mass is carried by a small sphere whose lowest point counts
local nan = 0 / 0

local function make(gravity, mu)
  local world = stn.world { dt = p.dt, gravity = gravity, law = { "sap", sigma = p.sigma, beta = p.beta },
    solver = { "sap", tolerance = 1e-14 }, contact_point = "midpoint", margin = 1 }
  local robot = load_text(world, ".xml", ([[<mujoco model="particle"><worldbody><body name="particle"><inertial pos="0 0 0" mass="%.17g"
    diaginertia="1 1 1"/><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="z" type="slide" axis="0 0 1"/><geom type="sphere" size="%.17g" mass="0"/></body></worldbody></mujoco>]]):format(p.m, radius))
  world:ground {}
  world:contact_material { mu = mu, stiffness = p.k, relaxation_time = p.taud }
  return { world = world, x = robot:joint "x", z = robot:joint "z", name = robot.name }
end

local function height(particle)
  return particle.z:position() - radius
end

-- Force on the particle, x and z.
local function contact_force(particle)
  local x, z = 0, 0
  for _, contact in ipairs(particle.world:contacts()) do
    local sign = contact.a == particle.name and -1 or 1 -- the impulse is that on b
    x, z = x + sign * contact.impulse[1] / p.dt, z + sign * contact.impulse[3] / p.dt
  end
  return x, z
end

local cases = {}

function cases.penetration()
  local particle = make({ 0, 0, -g }, p.mu)
  local world = particle.world
  particle.z:set_position(radius)
  local w = 1 / (math.sqrt(3) * p.m) -- Frobenius norm of the inverse mass / 3
  local floor, compliance = p.beta ^ 2 / (4 * math.pi ^ 2) * w, 1 / (p.dt * p.k * (p.dt + p.taud))
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
  local particle = make({ 0, 0, -g }, p.mu)
  particle.z:set_position(radius - p.m * g / p.k)
  particle.x:set_effort(push)
  particle.world:log { "w_convention", "mu", "dt", "push_over_mu_m_g", "v_sap", "v_lagged_similar", values = function()
    return nan, p.mu, p.dt, p.push_over_mu_m_g, particle.x:velocity(), nan
  end }
  for _ in particle.world:run { steps = 200 } do end
  local exact = p.sigma / (math.sqrt(3) * p.m) * push * p.dt
  stn.result("v_sap", particle.x:velocity(), "m/s")
  stn.check("creep", { value = math.abs(particle.x:velocity() / exact - 1), limit = 1e-7 })
end

function cases.stop()
  assert(p.mu > 0, "stop: mu must be > 0")
  local particle = make({ 0, 0, -g }, p.mu)
  local world = particle.world
  particle.z:set_position(radius - p.m * g / p.k)
  particle.x:set_velocity(p.v0)
  world:log { "t", "x", "z", "theta", "vx", "vz", "omega", "ft", "fn", "vt", "vn", "phi", values = function()
    local vx, vz = particle.x:velocity(), particle.z:velocity()
    local ft, fn = contact_force(particle)
    return world.time, particle.x:position(), height(particle), 0, vx, vz, 0, ft, fn, vx, vz, height(particle)
  end }
  local stopped = p.v0 / (p.mu * g)
  for _ in world:run { steps = math.floor((stopped + 0.6) / p.dt) } do end
  local distance = particle.x:position()
  stn.result("x_end", distance, "m")
  stn.result("exact_distance", p.v0 * stopped / 2, "m")
  stn.check("it stops in time", { value = math.abs(distance - p.v0 * stopped / 2), limit = 2 * p.dt * p.v0, unit = "m" })
end

function cases.incline()
  local T = 0.3
  local angle = p.angle_deg * stn.deg
  local particle = make({ g * math.sin(angle), 0, -g * math.cos(angle) }, p.mu)
  particle.z:set_position(radius - p.m * g * math.cos(angle) / p.k)
  local acceleration = math.max(0, g * (math.sin(angle) - p.mu * math.cos(angle)))
  particle.world:log { "mu", "angle_deg", "angle_minus_atan_mu_deg", "exact_acceleration", "exact_distance_T", "x_sap", "v_sap",
    "x_lagged", "v_lagged", "x_similar", "v_similar", values = function()
      return p.mu, p.angle_deg, p.angle_deg - math.atan(p.mu) / stn.deg, acceleration, acceleration * T ^ 2 / 2,
        particle.x:position(), particle.x:velocity(), nan, nan, nan, nan
    end }
  for _ in particle.world:run { seconds = T } do end
  stn.result("x_sap", particle.x:position(), "m")
  stn.result("v_sap", particle.x:velocity(), "m/s")
  if acceleration == 0 then
    stn.check("it holds", { value = particle.x:velocity(), limit = 2e-3, unit = "m/s" })
  end
end

function cases.bounce()
  local particle = make({ 0, 0, 0 }, 0)
  local world = particle.world
  particle.z:set_position(radius)
  particle.z:set_velocity(-p.v_impact)
  local omega = math.sqrt(p.k / p.m)
  local damping, restitution, contact_time = p.taud / 2 * omega, nan, nan
  world:log { "tau_d", "damping_ratio", "restitution", "contact_time", values = function()
    return p.taud, damping, restitution, contact_time
  end }
  for step in world:run { seconds = 2 * math.pi / omega } do
    local _, force = contact_force(particle)
    if force == 0 and restitution ~= restitution then
      restitution, contact_time = particle.z:velocity() / p.v_impact, step.time
    end
  end
  stn.result("restitution", restitution)
  stn.result("contact_time", contact_time, "s")
  stn.check("it leaves", restitution == restitution)
end

cases[p.case]()
