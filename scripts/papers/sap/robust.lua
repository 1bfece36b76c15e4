-- SPDX-License-Identifier: Apache-2.0
-- No failure: a pile of spheres and boxes over step size, friction, stiffness with and without the near-rigid bound, and a stack
-- whose masses grow upwards by 1e4. Printed for every case: steps, steps that stalled at round-off, worst iterations and
-- momentum error. Steps that do not converge fail the check, and so does one that says it has and is not exact.
local stn = require "stiction"

local p = stn.params {
  bodies = 24,
  seconds = 1.5,   -- of a case, at least 100 steps and at most 3000 [s]
  tolerance = 1e-6,
  seed = 1,
}

local missed, worst_solved, most_iterations, all_steps = 0, 0, 0, 0

local function run(name, world, dt)
  local count = math.max(100, math.min(3000, math.ceil(p.seconds / dt)))
  local stalled, worst, momentum, before = 0, 0, 0, missed
  for step in world:run { steps = count } do
    missed = missed + (step.converged and 0 or 1)
    stalled = stalled + (step.status == "stalled" and 1 or 0)
    worst, all_steps = math.max(worst, step.iterations), all_steps + 1
    momentum = math.max(momentum, step.certificate.momentum)
    if step.status == "ok" then worst_solved = math.max(worst_solved, step.certificate.momentum) end
  end
  most_iterations = math.max(most_iterations, worst)
  print(("%-32s %6d %8d %8d %8d   %.1e"):format(name, count, missed - before, stalled, worst, momentum))
end

local function make(o)
  local world = stn.world { dt = o.dt, solver = { "sap", tolerance = p.tolerance }, law = { "sap", beta = o.beta or 1 } }
  world:ground {}
  world:contact_material { mu = o.mu or 1, stiffness = o.stiffness, relaxation_time = o.dt, dissipation = 0 }
  return world
end

local function pile(o)
  local world = make(o)
  math.randomseed(p.seed)
  for _, side in ipairs { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } do
    local across = side[1] ~= 0
    world:box {
      fixed = true, size = { across and 0.1 or 0.6, across and 0.6 or 0.1, 1.0 },
      xyz = { side[1] * 0.25, side[2] * 0.25, 0.5 },
    }
  end
  for i = 0, p.bodies - 1 do
    local column, layer = i % 4, i // 4
    local pose = {
      xyz = { (column % 2 - 0.5) * 0.16 + 0.001 * layer, (column // 2 - 0.5) * 0.16, 0.07 + 0.12 * layer },
      rpy = { math.random(), math.random(), math.random() },
    }
    if math.random() < 0.5 then
      world:sphere { radius = 0.05, mass = 0.524, pose = pose }
    else
      world:box { size = { 0.08, 0.08, 0.08 }, mass = 0.5, pose = pose }
    end
  end
  return world
end

--- Five boxes, every one `ratio` times as heavy as the one below.
local function stack(ratio, dt, stiffness)
  local world = make { dt = dt, stiffness = stiffness }
  for i = 1, 5 do
    world:box { size = { 0.1, 0.1, 0.1 }, mass = 0.01 * ratio ^ (i - 1), xyz = { 0, 0, 0.1 * i - 0.05 } }
  end
  return world
end

print(("%-32s %6s %8s %8s %8s   %s"):format("case", "steps", "missed", "stalled", "worst", "momentum"))
for _, dt in ipairs { 1e-4, 5e-4, 2e-3, 1e-2, 5e-2 } do
  run(("pile, dt %g s"):format(dt), pile { dt = dt, stiffness = 1e12 }, dt)
end
for _, mu in ipairs { 0, 0.01, 0.1, 1, 3, 10 } do
  run(("pile, mu %g"):format(mu), pile { dt = 0.005, stiffness = 1e12, mu = mu }, 0.005)
end
for _, beta in ipairs { 1, 0 } do
  for decade = 4, 12, 2 do
    run(("pile, k 1e%d N/m, beta %d"):format(decade, beta), pile { dt = 0.005, stiffness = 10.0 ^ decade, beta = beta }, 0.005)
  end
end
run("pile, k 1e12, beta 0, mu 10", pile { dt = 0.005, stiffness = 1e12, beta = 0, mu = 10 }, 0.005)
run("pile, k 1e12, beta 0, dt 50 ms", pile { dt = 0.05, stiffness = 1e12, beta = 0 }, 0.05)
run("pile, k 1e12, beta 0, dt 0.1 ms", pile { dt = 1e-4, stiffness = 1e12, beta = 0 }, 1e-4)
for _, stiffness in ipairs { 1e7, 1e12 } do
  run(("stack, masses x 10, k %g N/m"):format(stiffness), stack(10, 0.002, stiffness), 0.002)
end
stn.result("steps", all_steps, "1")
stn.result("steps_not_solved", missed, "1")
stn.result("worst_iterations", most_iterations, "1")
stn.check("momentum error of steps that are solved", { value = worst_solved, limit = math.sqrt(2) * p.tolerance }) -- of islands that each keep it: README
stn.check("steps that did not converge", { value = missed, limit = 0, unit = "steps" })
