-- SPDX-License-Identifier: Apache-2.0
-- Rolling and torsional friction, bushings and springs against closed forms by five solvers: a table of what was
-- measured. Each figure must be within 1 %.
local stn = require "stiction"

local G = 9.81

local function tight(name)
  return { name, tolerance = 1e-10, max_iterations = 2000 }
end

--- The time at which `speed()` is below a thousandth of what it was.
local function stops(world, speed, limit)
  local first = speed()
  for _ in world:run { seconds = limit } do
    if speed() < 1e-3 * first then return world.time end
  end
  return math.huge
end

local figures = {} -- { name, function(solver) -> measured, closed form, unit }

local function figure(name, measure)
  figures[#figures + 1] = { name = name, measure = measure }
end

-- --------------------------------------------------------------------------------------------------------- rolling

local RADIUS, MASS, ROLLING, TORSIONAL = 0.05, 0.5, 0.002, 0.001

local function rolling_world(solver, dt, mu, shape, velocity, coefficients)
  local world = stn.world { dt = dt, solver = tight(solver) }
  world:ground { mu = mu }
  local body
  if shape == "sphere" then
    body = world:sphere { radius = RADIUS, mass = MASS, xyz = { 0, 0, RADIUS }, velocity = velocity }
  elseif shape == "disc" then
    body = world:cylinder { radius = 0.1, length = 0.02, mass = MASS, xyz = { 0, 0, 0.01 }, velocity = velocity }
  else
    body = world:cylinder { radius = RADIUS, length = 0.1, mass = MASS, velocity = velocity,
      pose = { xyz = { 0, 0, RADIUS }, rpy = { math.pi / 2, 0, 0 } } }
  end
  world:constraint { "rolling", links = { body }, rolling = coefficients.rolling, torsional = coefficients.torsional }
  return world, body
end

for shape, inertia in pairs { sphere = 2 / 5, cylinder = 1 / 2 } do
  for _, dt in ipairs { 5e-3, 1e-3 } do
    figure(("rolling: stopping distance of a %s, dt = %g s"):format(shape, dt), function(solver)
      local speed = 1
      local world, body = rolling_world(solver, dt, 0.8, shape,
        { linear = { speed, 0, 0 }, angular = { 0, speed / RADIUS, 0 } }, { rolling = ROLLING })
      local slowing = ROLLING * G / RADIUS / (1 + inertia)
      for _ in world:run { seconds = 1.1 * speed / slowing } do end
      return body:position()[1], speed ^ 2 / (2 * slowing), "m"
    end)
  end
end

for shape, inertia in pairs { sphere = 0.4 * RADIUS ^ 2, disc = 0.5 * 0.1 ^ 2 } do
  figure("rolling: spin-down time of a " .. shape, function(solver)
    local world, body = rolling_world(solver, 1e-3, shape == "disc" and 0 or 0.8, shape,
      { angular = { 0, 0, 20 } }, { torsional = TORSIONAL })
    local time = inertia * 20 / (TORSIONAL * G)
    return stops(world, function() return math.abs(body:velocity().angular[3]) end, 1.5 * time), time, "s"
  end)
end

figure("rolling: acceleration 2 % above the critical slope", function(solver)
  local angle = math.atan(1.02 * ROLLING / RADIUS)
  local world, ball = rolling_world(solver, 1e-3, 0.8, "sphere", {}, { rolling = ROLLING })
  world:set_gravity { G * math.sin(angle), 0, -G * math.cos(angle) }
  for _ in world:run { seconds = 0.5 } do end
  local before = ball:velocity().linear[1]
  for _ in world:run { seconds = 1 } do end
  return ball:velocity().linear[1] - before, G * (math.sin(angle) - ROLLING / RADIUS * math.cos(angle)) / 1.4, "m/s^2"
end)

figure("rolling: spin-down time between two free balls", function(solver)
  local force, spin = 50, 30
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = tight(solver) }
  local a = world:sphere { radius = RADIUS, mass = MASS, velocity = { angular = { 0, 0, spin } } }
  local b = world:sphere { radius = RADIUS, mass = 2 * MASS, xyz = { 0, 0, 2 * RADIUS } }
  local pull = world:constraint { "tendon", path = { { a, { 0, 0, 0 } }, { b, { 0, 0, 0 } } } }
  world:constraint { "rolling", links = { a, b }, among = true, torsional = TORSIONAL }
  pull:set { tension = force }
  local one, two = 0.4 * MASS * RADIUS ^ 2, 0.8 * MASS * RADIUS ^ 2
  local time = spin / (TORSIONAL * force * (1 / one + 1 / two))
  return stops(world, function() return a:velocity().angular[3] - b:velocity().angular[3] end, 2 * time), time, "s"
end)

-- ------------------------------------------------------------------------------------------------ bushings, springs

--- Frequency [rad/s] and rate of decay [1/s] of what begins at rest at a maximum, by its next one.
local function oscillation(world, value, seconds)
  local first, before, last = value(), nil, nil
  for _ in world:run { seconds = seconds } do
    local now = value()
    if before and world.time > 0.3 * seconds and last > before and last >= now then
      local bend = before - 2 * last + now -- a parabola through three steps
      local off = 0.5 * (before - now) / bend
      local time = world.time + (off - 1) * world.dt
      local peak = last - 0.25 * (before - now) * off
      return 2 * math.pi / time, math.log(first / peak) / time
    end
    before, last = last, now
  end
  return math.huge, math.huge
end

local OMEGA, ZETA, BODY = 20, 0.2, 2 -- [rad/s], [1], [kg]
local SIZE = { 0.1, 0.2, 0.3 }
local names = { "x", "y", "z", "roll", "pitch", "yaw" }

for axis, name in ipairs(names) do
  local i, j, k = (axis - 1) % 3 + 1, axis % 3 + 1, (axis + 1) % 3 + 1
  local inertia = axis <= 3 and BODY or BODY / 12 * (SIZE[j] ^ 2 + SIZE[k] ^ 2)
  local function swing(solver, damping)
    local world = stn.world { dt = 4e-5, gravity = { 0, 0, 0 }, solver = tight(solver) }
    local start = { 0, 0, 0 }
    start[i] = axis <= 3 and 0.05 or 0.5
    local body = world:box { size = SIZE, mass = BODY, xyz = axis <= 3 and start or nil, rpy = axis > 3 and start or nil }
    local settings = { "bushing", a = "world", b = body, force_stiffness = { 500, 500, 500 }, torque_stiffness = { 9, 9, 9 },
      force_damping = { 0, 0, 0 }, torque_damping = { 0, 0, 0 } }
    settings[axis <= 3 and "force_stiffness" or "torque_stiffness"][i] = inertia * OMEGA ^ 2
    settings[axis <= 3 and "force_damping" or "torque_damping"][i] = 2 * damping * OMEGA * inertia
    world:constraint(settings)
    local function value()
      local pose = body:pose()
      return axis <= 3 and pose.xyz[i] or pose.rpy[i]
    end
    return oscillation(world, value, 1.4 * 2 * math.pi / OMEGA)
  end
  figure("bushing: natural frequency, " .. name, function(solver)
    local frequency = swing(solver, 0)
    return frequency, OMEGA, "rad/s"
  end)
  figure("bushing: rate of decay, " .. name, function(solver)
    local _, rate = swing(solver, ZETA)
    return rate, ZETA * OMEGA, "1/s"
  end)
  figure("bushing: static deflection, " .. name, function(solver)
    local world = stn.world { dt = 2e-3, gravity = { 0, 0, 0 }, solver = tight(solver) }
    local body, load, settings = world:box { size = SIZE, mass = BODY }, { 0, 0, 0 }, { "bushing", a = "world" }
    settings.b, load[i] = body, axis <= 3 and 7 or 3
    local three, damping = { 500, 600, 700 }, { 40, 40, 40 }
    settings.force_stiffness, settings.force_damping = three, damping
    settings.torque_stiffness, settings.torque_damping = { 5, 6, 7 }, { 0.5, 0.5, 0.5 }
    world:constraint(settings)
    body:apply_force(axis <= 3 and { force = load } or { torque = load })
    for _ in world:run { seconds = 3 } do end
    local pose = body:pose()
    local stiffness = axis <= 3 and three[i] or settings.torque_stiffness[i]
    return axis <= 3 and pose.xyz[i] or pose.rpy[i], load[i] / stiffness, axis <= 3 and "m" or "rad"
  end)
end

local function pair_on_spring(solver, damping)
  local m1, m2, k = 1, 3, 300
  local world = stn.world { dt = 4e-5, gravity = { 0, 0, 0 }, solver = tight(solver) }
  local a = world:box { size = { 0.1, 0.1, 0.1 }, mass = m1 }
  local b = world:box { size = { 0.1, 0.1, 0.1 }, mass = m2, xyz = { 1, 0, 0 } }
  local reduced = m1 * m2 / (m1 + m2)
  local omega = math.sqrt(k / reduced)
  world:constraint { "spring", a = a, b = b, stiffness = k, damping = 2 * damping * omega * reduced, length = 0.9 }
  local frequency, rate = oscillation(world, function() return b:position()[1] - a:position()[1] - 0.9 end,
    1.4 * 2 * math.pi / omega)
  stn.near(world:momentum().linear, { 0, 0, 0 }, 1e-9, "momentum")
  return frequency, rate, omega
end

figure("spring: natural frequency of two free boxes", function(solver)
  local frequency, _, omega = pair_on_spring(solver, 0)
  return frequency, omega, "rad/s"
end)

figure("spring: rate of decay of two free boxes", function(solver)
  local _, rate, omega = pair_on_spring(solver, ZETA)
  return rate, ZETA * omega, "1/s"
end)

figure("spring: sag of a weight", function(solver)
  local world = stn.world { dt = 2e-3, solver = tight(solver) }
  local a = world:box { size = { 0.1, 0.1, 0.1 }, mass = 2 }
  world:constraint { "spring", a = a, b_point = { 0, 0, 1 }, stiffness = 500, damping = 60 }
  for _ in world:run { seconds = 3 } do end
  return -a:position()[3], 2 * G / 500, "m"
end)

-- ----------------------------------------------------------------------------------------------------------- table

local quick = os.getenv "STICTION_TEST_TIER" == "quick"
local solvers = quick and { "sap", "nsgs" } or { "sap", "nsgs", "newton_ncp", "ipm", "admm" }

table.sort(figures, function(a, b) return a.name < b.name end)
print(("%-58s %11s  off by [%%]: %s"):format("figure", "closed form", table.concat(solvers, ", ")))
for _, f in ipairs(figures) do
  stn.test(f.name, function()
    local measured, expected, unit, off = {}, nil, nil, {}
    for i, solver in ipairs(solvers) do
      measured[i], expected, unit = f.measure(solver)
      off[i] = ("%7.3f"):format(100 * (measured[i] / expected - 1))
    end
    print(("%-58s %11.6g  %s"):format(f.name .. " [" .. unit .. "]", expected, table.concat(off, " ")))
    for i, solver in ipairs(solvers) do stn.near(measured[i], expected, 0.01 * math.abs(expected), solver) end
  end)
end
