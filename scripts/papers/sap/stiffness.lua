-- SPDX-License-Identifier: Apache-2.0
-- Penetration over contact stiffness, 1e4 to 1e12 N/m: spheres and boxes fall into a container and come to rest. Without the
-- near-rigid bound (beta = 0) the mean penetration is the mean normal force over k: slope -1 in the log-log plot. With it
-- (beta = 1) the same holds up to the bound, and then comes the plateau beta^2/(4 pi^2) w f_n dt (dt + tau_d), for which the last
-- column puts the weight of a body for 1/w: g dt (dt + tau_d) beta^2/(4 pi^2) times load over weight. In all of it every step converges.
--
-- Small steps and a long rest: a body that rolls on at speed v moves by (v dt)^2/2r out of the contact's tangent plane in a
-- step, and with 1e12 N/m the penetrations to be measured are of 4e-12 m.
local stn = require "stiction"
local statistics = require "statistics"

local p = stn.params {
  bodies = 40,
  beta = 0.0,
  mu = 1.0,
  dt = 0.001,      -- [s]
  seconds = 8.0,   -- [s]
  rest = 0.5,      -- the part at the end over which penetration is measured [s]
  piles = 5,       -- for every stiffness, with other seeds; the table has the medians
  tolerance = 1e-8,
}

local half, radius, weight = 0.4, 0.05, 9.81 * (0.524 + 1.0) / 2

local function random_quat()
  local u, a, b = math.random(), 2 * math.pi * math.random(), 2 * math.pi * math.random()
  local s, c = math.sqrt(1 - u), math.sqrt(u)
  return { c * math.cos(b), s * math.sin(a), s * math.cos(a), c * math.sin(b) }
end

local function pile(seed, stiffness)
  math.randomseed(seed)
  local world = stn.world { dt = p.dt, solver = { "sap", tolerance = p.tolerance }, law = { "sap", beta = p.beta } }
  world:ground {}
  for _, side in ipairs { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } do
    local across = side[1] ~= 0
    world:box {
      fixed = true, size = { across and 0.04 or 0.88, across and 0.88 or 0.04, 0.8 },
      xyz = { side[1] * (half + 0.02), side[2] * (half + 0.02), 0.4 },
    }
  end
  for i = 0, p.bodies - 1 do
    local column, layer = i % 4, i // 4
    local x, y = column % 2 == 0 and -0.2 or 0.2, column < 2 and -0.2 or 0.2
    local pose = { xyz = { x + 0.001 * layer, y, 0.075 + 0.15 * layer }, quat = random_quat() }
    if math.random() < 0.5 then
      world:sphere { radius = radius, mass = 0.524, pose = pose }
    else
      world:box { size = { 2 * radius, 2 * radius, 2 * radius }, mass = 1.0, pose = pose }
    end
  end
  world:contact_material { mu = p.mu, stiffness = stiffness, relaxation_time = p.dt, dissipation = 0 }
  return world
end

local steps, missed, stalled, worst, momentum = 0, 0, 0, 0, 0

--- Mean penetration, normal force of a contact that touches at rest, and iterations.
local function run(world)
  local depth, force, touching, iterations, count = 0, 0, 0, 0, 0
  for step in world:run { seconds = p.seconds } do
    steps, count, iterations = steps + 1, count + 1, iterations + step.iterations
    worst = math.max(worst, step.iterations)
    missed = missed + (step.converged and 0 or 1)
    stalled = stalled + (step.status == "stalled" and 1 or 0)
    momentum = math.max(momentum, step.certificate.momentum)
    if step.time > p.seconds - p.rest and step.index % 10 == 0 then
      for _, contact in ipairs(step:contacts()) do
        if contact.distance < 0 then
          depth, force, touching = depth - contact.distance, force + contact.normal_impulse / p.dt, touching + 1
        end
      end
    end
  end
  return { depth / touching, force / touching, iterations / count }
end

local decades, depths, ratios, plateaus = {}, {}, {}, {}
print "k [N/m]  mean penetration [m]  mean force [N]  penetration k/force  iterations  plateau [m]"
for decade = 4, 12 do
  local k, found = 10.0 ^ decade, { {}, {}, {} }
  for seed = 1, p.piles do
    for i, value in ipairs(run(pile(seed, k))) do
      found[i][seed] = value
    end
  end
  local depth, force, iterations = statistics.median(found[1]), statistics.median(found[2]), statistics.median(found[3])
  local plateau = p.beta ^ 2 / (4 * math.pi ^ 2) * 9.81 * 2 * p.dt * p.dt * force / weight
  decades[#decades + 1], depths[#depths + 1] = decade, math.log(depth, 10)
  ratios[#ratios + 1], plateaus[#plateaus + 1] = depth * k / force, depth / plateau
  print(("1e%-8d %.3e %18.3f %16.4f %16.1f %16.2e"):format(decade, depth, force, depth * k / force, iterations, plateau))
end

local found = statistics.slope(decades, depths)
stn.result("slope", found, "1")
stn.result("steps", steps, "1")
stn.result("worst_iterations", worst, "1")
stn.result("worst_momentum_error", momentum, "1")
stn.result("steps_stalled_at_round_off", stalled, "1")
stn.check("steps that did not converge", { value = missed, limit = 0, unit = "steps" })
if p.beta == 0 then
  stn.check("slope of the mean penetration: off -1 by", { value = math.abs(found + 1), limit = 0.02, unit = "1" })
end
-- Contacts that the step resolves are as stiff as they are: up to 1e6 N/m whatever beta is.
local softest = math.max(math.abs(ratios[1] - 1), math.abs(ratios[2] - 1), math.abs(ratios[3] - 1))
stn.check("penetration k/force up to 1e6 N/m: off 1 by", { value = softest, limit = 0.02, unit = "1" })
if p.beta > 0 then
  -- the plateau: no longer a matter of k, and w counts turning and the partner, too, so it lies above that of a point's mass
  local level = plateaus[#plateaus]
  stn.result("plateau_over_that_of_a_point", level, "1")
  stn.check("plateau from 1e9 to 1e12 N/m: varies by", { value = depths[6] - depths[9], limit = 0.02, unit = "decades" })
  stn.check("plateau over that of a point's mass: least", { value = level, least = 1 })
  stn.check("plateau over that of a point's mass: largest", { value = level, limit = 4 })
end
