-- SPDX-License-Identifier: Apache-2.0
-- Contacts of single bodies in whole steps, beside what every law and solver must make of them, step by step: README.md.
local stn = require "stiction"
local worse = require "worse"
local load_text = require "robot_text"
local g, radius, m = 9.81, 0.01, 0.5

-- A mass on three slides, carried by the lowest point of a small sphere.
local function particle(world, z, friction)
  local robot = load_text(world, ".xml", ([[<mujoco model="particle"><worldbody><body name="particle"><inertial pos="0 0 0" mass="%.17g"
    diaginertia="1 1 1"/><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="z" type="slide" axis="0 0 1"/><geom type="sphere" size="%.17g" mass="0" friction="%.17g"/></body></worldbody></mujoco>]]):format(m, radius, friction or 1))
  robot:set_q { z = radius + z }
  return robot
end

local worst = {} -- by claim: the largest error over what is allowed
local function compare(claim, value, expected, tolerance)
  worst[claim] = worse(worst[claim] or 0, math.abs(value - expected) / tolerance)
end

local function root(f, low, high) -- f(low) <= 0 < f(high)
  for _ = 1, 200 do
    local middle = (low + high) / 2
    if f(middle) <= 0 then low = middle else high = middle end
  end
  return (low + high) / 2
end

-- -------------------------------------------------------------------------------------------- depth under a weight
-- What rests as deep as the law's force says stays there.
local weight, k, tau = m * g, 1e5, 2e-3
local w = 1 / (math.sqrt(3) * m) -- |W|_F/3 of W = 1/m
local function barrier_gap(force) return root(function(gap) return weight - force(gap) end, 1e-9, 1e-3) end
for _, dt in ipairs { 1e-3, 1e-2 } do
  local near_rigid = w / (4 * math.pi ^ 2)
  local rows = {
    { "sap", depth = weight * dt * (dt + tau) * math.max(near_rigid, 1 / (dt * k * (dt + tau))) },
    { "sap", name = "sap, rigid", depth = weight * dt * (dt + tau) * near_rigid, stiffness = math.huge },
    { "sap", name = "sap, beta = 3", beta = 3, depth = weight * dt * (dt + tau) * math.max(9 * near_rigid, 1 / (dt * k * (dt + tau))) },
    { "lagged", depth = weight / k }, { "similar", depth = weight / k }, { "lagged_regularized", depth = weight / k },
    { "lagged", name = "lagged, rigid", depth = weight / (4 * math.pi ^ 2 / (dt ^ 2 * w)), stiffness = math.huge },
    { "penalty", depth = weight / k },
    { "hertz", depth = (weight * math.sqrt(1e-4) / k) ^ (2 / 3) },
    { "table", depth = weight / 1e4 }, -- 10 N at 1 mm
    { "barrier", depth = -barrier_gap(function(gap) return k * (1e-3 - gap) * ((1e-3 - gap) / gap - 2 * math.log(gap / 1e-3)) end) },
    { "barrier", name = "barrier, log", shape = "log", stiffness = 1e3, -- k h, where it begins, is less than the weight
      depth = -1e3 * 1e-3 ^ 2 / weight },
  }
  for _, row in ipairs(rows) do
    local world <close> = stn.world { dt = dt, solver = { "sap", tolerance = 1e-14 }, law = { row[1], shape = row.shape, beta = row.beta } }
    world:ground {}
    world:contact_material { mu = 0.5, stiffness = row.stiffness or k, relaxation_time = (row[1] == "sap" or row[1] == "penalty") and tau or nil,
      dissipation = ({ lagged = 3, similar = 3, lagged_regularized = 3, hertz = 3 })[row[1]] }
    local z = particle(world, -row.depth):joint "z"
    for _ in world:run { steps = 50 } do end
    local claim = ("depth at rest, %s"):format(row.name or row[1])
    compare(claim, radius - z:position(), row.depth, 1e-14 * math.abs(row.depth) + 1e-17) -- the place has 18 digits after the point
    compare(claim .. ": force", world:contacts()[1].impulse[3] / dt * (world:contacts()[1].a == "particle" and -1 or 1), weight, 1e-13 * weight)
  end
end

-- ------------------------------------------------------------------------------------------ slides and slopes, law sap
-- One contact of a mass m: with W = 1/m in all directions gamma is the projection of (R + W)^-1 (v_hat - v_star) on the cone in
-- the metric R + W, in closed form each step.
local mu, dt = 0.4, 5e-3
local R_t, R_n = 1e-3 * w, math.max(w / (4 * math.pi ^ 2), 1 / (dt * k * (dt + tau)))
local function sap_step(s, ax, az)
  local a, b = R_t + 1 / m, R_n + 1 / m
  local vx, vz = s.vx + dt * ax, s.vz + dt * az
  local t, n = -vx / a, (-s.z / (dt + tau) - vz) / b
  if not (n >= 0 and math.abs(t) <= mu * n) then
    local pull = math.abs(t)
    local on_cone = math.max(0, (b * n + mu * a * pull) / (b + mu * mu * a))
    t, n = (t < 0 and -1 or 1) * mu * on_cone, on_cone
  end
  s.vx, s.vz = vx + t / m, vz + n / m
  s.x, s.z = s.x + dt * s.vx, s.z + dt * s.vz
end

local convex = { "sap", "apgd", "admm", "admm_split", "ipm", "cond_proximal" }
local slopes = { { "level", 0, 1.2 }, { "below the angle of friction", math.atan(mu) - 0.02, 0 }, { "beyond it", math.atan(mu) + 0.05, 0 } }
for _, solver in ipairs(convex) do
  for _, case in ipairs(slopes) do
    local name, angle, speed = table.unpack(case)
    local ax, az = g * math.sin(angle), -g * math.cos(angle)
    local world <close> = stn.world { dt = dt, gravity = { ax, 0, az }, margin = 1, contact_point = "midpoint", solver = { solver, tolerance = 1e-12,
      max_iterations = 100000 } }
    world:ground {}
    world:contact_material { mu = mu, stiffness = k, relaxation_time = tau }
    local depth = m * g * math.cos(angle) / k
    local robot = particle(world, -depth)
    local x, z = robot:joint "x", robot:joint "z"
    x:set_velocity(speed)
    local s = { x = 0, z = -depth, vx = speed, vz = 0 }
    for _ in world:run { seconds = 0.5 } do
      sap_step(s, ax, az)
      -- a hundred steps of 5 ms, each solved to 1e-12 of about a metre a second, and once more for what friction makes of it
      compare(("law sap on a slope, %s"):format(solver), x:position(), s.x, 1e-12)
      compare(("law sap on a slope, %s"):format(solver), z:position() - radius, s.z, 1e-12)
    end
    if name == "beyond it" then -- g (sin - mu cos) t^2/2, but for a step's way: the scheme is of order 1
      local a = ax + mu * az
      compare("Coulomb's acceleration, " .. solver, x:position(), a * 0.5 ^ 2 / 2, dt * a * 0.5)
    elseif name == "below the angle of friction" then -- what sticks creeps at R_t m g sin(angle) dt
      -- apgd ends where its error is 1e-12 of the free speed g dt, and once more for what friction makes of it
      local left = solver == "apgd" and 2e-12 * g * dt or 0
      compare("creep of what sticks, " .. solver, x:velocity(), R_t * m * ax * dt, 1e-9 * R_t * m * ax * dt + left)
    end
  end
end

-- ------------------------------------------------------------------------------------- slides and rolls, law lagged
-- The normal force is m g exactly, friction mu m g v/sqrt(v^2 + e^2) of the velocity after the step: one unknown.
do
  local e = 1e-4
  local world <close> = stn.world { dt = dt, margin = 1, law = { "lagged", stiction_tolerance = e }, solver = { "sap", tolerance = 1e-14 }, contact_point = "midpoint" }
  world:ground {}
  world:contact_material { mu = mu, stiffness = k }
  local robot = particle(world, -weight / k)
  local x, z = robot:joint "x", robot:joint "z"
  x:set_velocity(1)
  local v, at = 1, 0
  for _ in world:run { seconds = 0.5 } do
    local before = v
    v = root(function(u) return u - before + dt * mu * g * u / math.sqrt(u * u + e * e) end, 0, before)
    at = at + dt * v
    compare("slide with law lagged", x:position(), at, 1e-14)
    compare("slide with law lagged: depth", z:position(), radius - weight / k, 1e-17)
  end
end

-- ------------------------------------------------------------------------------------------------ Coulomb's friction
-- A particle: v' = v - min(v, mu g dt). A ball of inertia 2/5 m r^2 that is thrown without spin: its slip s = v - r omega falls by
-- 7/2 mu g dt a step until it rolls, and v by 2/7 of what s falls.
-- Methods that solve a contact at once end at round-off, those that iterate at their tolerance of 1e-12 of 2 m/s, a hundred times.
local iterative = { nsgs = true, newton_ncp = true, admm_ncp = true, admm_split_ncp = true }
local coulomb = {
  { "bisection" }, { "bisection", ["local"] = "quartic" }, { "bisection", ["local"] = "golden" }, { "bisection", ["local"] = "coulomb" }, { "nsgs" }, { "pgs" },
  { "newton_ncp" }, { "admm_ncp" }, { "admm_split_ncp" }, { "cond" }, { "auto" }, { "lemke" },
}
for _, choice in ipairs(coulomb) do
  local solver = { tolerance = 1e-12, max_iterations = 100000 }
  for key, value in pairs(choice) do solver[key] = value end
  local name = choice[1] .. (choice["local"] and " " .. choice["local"] or "")
  local world <close> = stn.world { dt = dt, margin = 1, exact_contacts = true, solver = solver }
  world:ground {}
  world:contact_material { mu = mu }
  local r = 0.05
  local ball = world:sphere { radius = r, mass = 0.7, xyz = { 0, 1, r }, velocity = { 2, 0, 0 } }
  local x = particle(world, 0):joint "x"
  x:set_velocity(1)
  local v, at, s, u, way = 1, 0, 2, 2, 0
  local tolerance = iterative[choice[1]] and 2e-10 or 2e-12
  for _ in world:run { seconds = 0.5 } do
    v = v - math.min(v, mu * g * dt)
    at = at + dt * v
    compare("Coulomb's slide, " .. name, x:position(), at, tolerance)
    local fall = math.min(s, 3.5 * mu * g * dt)
    s, u = s - fall, u - 2 / 7 * fall
    way = way + dt * u
    compare("Coulomb's roll, " .. name, ball:position()[1], way, tolerance)
    compare("Coulomb's roll, spin, " .. name, ball:velocity().angular[2] * r, u - s, tolerance)
  end
  compare("5/7 of the speed, " .. name, ball:velocity().linear[1], 2 * 5 / 7, tolerance)
end

-- ------------------------------------------------------------------------------------------- friction by direction
-- v' = v - P(v), P the nearest point of the ellipse with half axes mu_1 g dt and mu_2 g dt: maximal dissipation. A multiplier t >= 0
-- with P_i = a_i^2 v_i/(a_i^2 + t) is found by bisection. A pair's mu is 2 a b/(a + b) of its surfaces.
for _, name in ipairs { "bisection", "nsgs", "newton_ncp", "admm_ncp", "admm_split_ncp", "cond", "auto" } do
  for _, pair in ipairs { { 0.3, 0.15 }, { 0.1, 0.4 } } do
    local world <close> = stn.world { dt = dt, margin = 1, exact_contacts = true, solver = { name, tolerance = 1e-12, max_iterations = 100000 } }
    world:ground { mu = 0.5 * pair[1] / (1 - pair[1]), mu2 = 0.5 * pair[2] / (1 - pair[2]), friction_direction = { 1, 0, 0 } }
    local robot = particle(world, 0, 0.5)
    local x, y = robot:joint "x", robot:joint "y"
    x:set_velocity(1)
    y:set_velocity(0.8)
    local v, at, a = { 1, 0.8 }, { 0, 0 }, { pair[1] * g * dt, pair[2] * g * dt }
    for _ in world:run { seconds = 1 } do
      local t = (v[1] / a[1]) ^ 2 + (v[2] / a[2]) ^ 2 <= 1 and 0
        or root(function(s) return 1 - (a[1] * v[1] / (a[1] ^ 2 + s)) ^ 2 - (a[2] * v[2] / (a[2] ^ 2 + s)) ^ 2 end, 0, 1)
      for k = 1, 2 do
        v[k] = v[k] - a[k] ^ 2 * v[k] / (a[k] ^ 2 + t)
        at[k] = at[k] + dt * v[k]
      end
      compare("friction by direction, " .. name, x:position(), at[1], 2e-10)
      compare("friction by direction, " .. name, y:position(), at[2], 2e-10)
    end
  end
end

-- -------------------------------------------------------------------------------------------- quasistatic pushing
-- A finger on a spring K pushes a box over the floor: it lags behind its command by mu m g/K, whatever the step; before it touches
-- by nothing; and where the command rests, so do both.
for _, name in ipairs { "lemke", "newton_ncp", "admm_ncp", "admm_split_ncp" } do
  for k, h in ipairs { 0.01, 1, 0.01, 1 } do
    local K, mass, half, limited = 800, 0.6, 0.2, k <= 2 -- a motor with a limit is a row of the problem, one without is K in A
    local world <close> = stn.world { dt = h, integrator = "quasistatic", solver = { name, tolerance = 1e-12, max_iterations = 100000 } }
    world:ground { mu = mu }
    local box = world:box { size = { 2 * half, 0.3, 0.2 }, mass = mass, mu = mu, xyz = { half + 0.06, 0, 0.1 } }
    local finger = load_text(world, ".urdf", [[<robot name="finger"><link name="base"/><link name="tip"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
      <joint name="x" type="prismatic"><parent link="base"/><child link="tip"/><origin xyz="0 0 0.1"/><axis xyz="1 0 0"/>
      <limit lower="-1" upper="1" effort="1000" velocity="10"/></joint></robot>]], { fixed = true, mu = 0 })
    local motor = world:controller { "joint_pd", target = finger, joints = { "x" }, kp = K, kd = 0, effort_limits = limited }
    local x, lag = finger:joint "x", mu * mass * g / K
    for n = 1, 6 do
      local command = 0.005 * math.min(n, 5)
      motor:set { position = { command } }
      world:step()
      local at = command - 0.01 > lag and command - lag or math.min(command, 0.01) -- touches at 0.01 m
      local claim = ("quasistatic push, %s%s"):format(name, limited and ", limited" or "")
      compare(claim, x:position(), at, 1e-12)
      compare(claim .. ": box", box:position()[1], half + 0.06 + math.max(0, command - 0.01 - lag), 1e-12)
    end
  end
end

local claims = {}
for claim in pairs(worst) do claims[#claims + 1] = claim end
table.sort(claims)
for _, claim in ipairs(claims) do
  print(("%-44s %8.1e of what is allowed"):format(claim, worst[claim]))
  stn.check(claim, { value = worst[claim], limit = 1 })
end
