-- SPDX-License-Identifier: Apache-2.0
-- Bodies on an incline against closed forms: what sticks, what slides, what rolls, for every solver that is there.
local stn = require "stiction"

local g = 9.81
local full = os.getenv("STICTION_TEST_TIER") == "full"

--- A world whose floor falls along x by `angle`, as a half space or as a large box, and the pose of what stands on it.
local function incline(angle, options)
  -- Coulomb's angle is that of rigid contacts, for solvers that have them
  local world = stn.world { dt = options.dt, solver = { options.solver or "sap", tolerance = 1e-8 }, law = options.law, exact_contacts = true }
  local up = { math.sin(angle), 0, math.cos(angle) }
  if options.floor == "box" then
    world:box { name = "floor", fixed = true, size = { 40, 40, 2 }, rpy = { 0, angle, 0 }, xyz = { -up[1], 0, -up[3] } }
  else
    world:ground { name = "floor", rpy = { 0, angle, 0 } }
  end
  return world, function(height)
    return { height * up[1], 0, height * up[3] }
  end
end

local function downhill(body, angle)
  local v = body:velocity().linear
  return v[1] * math.cos(angle) - v[3] * math.sin(angle)
end

local function turn(rpy, angle)
  return stn.pose { rpy = { 0, angle, 0 } } * { rpy = rpy }
end

--- Speed that regularised friction R_t = sigma w lets a box stick with. Its four corners carry m g sin(angle) dt together, each
--- sigma w gamma_t = v, with w = |J A^-1 J^T|_F / 3 of a corner (law/sap); those uphill at most mu gamma_n of their smaller load.
local function creep(angle, size, mass, dt, mu)
  local h, inertia = { size[1] / 2, size[2] / 2, size[3] / 2 }, {}
  for i = 1, 3 do
    local j, k = i % 3 + 1, (i + 1) % 3 + 1
    inertia[i] = mass / 12 * (size[j] ^ 2 + size[k] ^ 2)
  end
  -- J A^-1 J^T = 1/m - [r] I^-1 [r] at the corner r = h; its sign pattern does not change the norm
  local square = 0
  for a = 1, 3 do
    for b = 1, 3 do
      local entry = a == b and 1 / mass or 0
      for i = 1, 3 do
        local function cross(axis) -- (e_axis x ... ): component i of r x e_axis
          local j, k = i % 3 + 1, (i + 1) % 3 + 1
          return (axis == k and h[j] or 0) - (axis == j and h[k] or 0)
        end
        entry = entry + cross(a) * cross(b) / inertia[i]
      end
      square = square + entry ^ 2
    end
  end
  local sigma, w = 1e-3, math.sqrt(square) / 3
  local along, down = mass * g * math.sin(angle) * dt, mass * g * math.cos(angle) * dt
  local uphill = mu * (down - along * h[3] / h[1]) / 4
  return sigma * w * math.max(along / 4, (along - 2 * uphill) / 2)
end

-- soft_step is approximate: its friction angles are in its own tests.
local solvers = {}
for _, solver in ipairs(stn.plugins "solver") do
  if solver ~= "soft_step" then solvers[#solvers + 1] = solver end
end

local sizes = { { 0.2, 0.2, 0.1 }, { 0.02, 0.03, 0.01 }, { 2, 1, 1 } }
local cases = {}
for _, solver in ipairs(solvers) do
  for _, floor in ipairs { "half space", "box" } do
    for _, mu in ipairs(full and { 0.1, 0.3, 0.5, 0.8 } or { 0.2, 0.7 }) do
      for _, size in ipairs(sizes) do
        for _, dt in ipairs(full and { 0.001, 0.002, 0.005, 0.01 } or { 0.001, 0.01 }) do
          cases[#cases + 1] = { solver = solver, floor = floor, mu = mu, size = size, dt = dt }
        end
      end
    end
  end
end

--- Half a second on an incline that is `beyond` steeper than the friction angle: speed and acceleration at the end.
local function slide(case, beyond)
  local angle = math.atan(case.mu) + beyond * stn.deg
  local world, above = incline(angle, case)
  local box = world:box { size = case.size, density = 500, rpy = { 0, angle, 0 }, xyz = above(case.size[3] / 2) }
  world:contact_material { mu = case.mu }
  local half
  for step in world:run { seconds = 0.5 } do
    assert(step.converged, "a step did not converge")
    if not half and step.time >= 0.25 - 1e-9 then
      half = { step.time, downhill(box, angle) }
    end
  end
  local v = downhill(box, angle)
  return v, (v - half[2]) / (world.time - half[1]), angle, box:mass(), box
end

stn.test("half a degree below the friction angle a box sticks", function()
  for _, case in ipairs(cases) do
    local v, acceleration, angle, mass, box = slide(case, -0.5)
    local what = ("%s, mu %g, %s, edge %g, dt %g"):format(case.solver, case.mu, case.floor, case.size[1], case.dt)
    local regularized = stn.world { solver = case.solver }:plugin "law" -- else the solver takes Coulomb friction as it is
    local allowed = regularized and creep(angle, case.size, mass, case.dt, case.mu) or 0
    stn.near(v, allowed, 0.02 * allowed + 1e-9, what .. ": creep")
    stn.near(acceleration, 0, 1e-6 * g, what .. ": acceleration")
    stn.near(box:velocity().angular, { 0, 0, 0 }, 1e-6, what .. ": it does not turn")
  end
end)

stn.test("half a degree above it slides with g (sin - mu cos)", function()
  for _, case in ipairs(cases) do
    local _, acceleration, angle = slide(case, 0.5)
    local what = ("%s, mu %g, %s, edge %g, dt %g"):format(case.solver, case.mu, case.floor, case.size[1], case.dt)
    stn.near(acceleration, g * (math.sin(angle) - case.mu * math.cos(angle)), 1e-6 * g, what)
  end
end)

-- Rolling without slip: a = g sin / (1 + I / (m r^2)).
local rollers = {
  { "sphere", 2 / 5, { radius = 0.1 } },
  { "cylinder", 1 / 2, { radius = 0.1, length = 0.3 } },
  { "capsule", nil, { radius = 0.1, length = 0.3 } },
}

--- I / (m r^2) about the axis of a capsule: cylinder 1/2, both halves of a ball 2/5.
local function capsule_ratio(r, l)
  local cylinder, ball = math.pi * r ^ 2 * l, 4 / 3 * math.pi * r ^ 3
  return (cylinder / 2 + ball * 2 / 5) / (cylinder + ball)
end

stn.test("round bodies roll down an incline at g sin / (1 + I / m r^2)", function()
  for _, solver in ipairs(stn.plugins "solver") do
    for _, floor in ipairs { "half space", "box" } do
      for _, roller in ipairs(rollers) do
        for _, dt in ipairs { 0.001, 0.005 } do
          local kind, ratio, spec = roller[1], roller[2] or capsule_ratio(0.1, 0.3), {}
          local angle = 10 * stn.deg
          local world, above = incline(angle, { dt = dt, floor = floor, solver = solver })
          for key, value in pairs(roller[3]) do
            spec[key] = value
          end
          local pose = turn({ math.pi / 2, 0, 0 }, angle) -- the axis across
          pose.xyz = above(0.1)
          spec.pose = pose
          local body = world[kind](world, spec)
          world:contact_material { mu = 0.5 }
          for _ in world:run { seconds = 1 } do
          end
          local v, spin = downhill(body, angle), body:velocity().angular[2]
          local what = ("%s, %s on a %s, dt %g"):format(solver, kind, floor, dt)
          stn.near(v, g * math.sin(angle) / (1 + ratio), 2e-3, what .. ": speed after a second")
          stn.near(spin * 0.1, v, 1e-3 * v, what .. ": it does not slip")
        end
      end
    end
  end
end)
