-- SPDX-License-Identifier: Apache-2.0
-- Every solver of the registry in a world: boxes fall on each other beside a ball, come to rest, and each step is certified.
local stn = require "stiction"
local solve_error = require "solve_error"
local worse = require "worse"

local function pile(solver, settings)
  local choice = { solver, tolerance = 1e-6 }
  local options = { dt = 5e-3, solver = choice }
  for key, value in pairs(settings or {}) do options[key] = value end
  local world = stn.world(options)
  local ground = world:ground { mu = 0.6 }
  for i = 1, 3 do
    world:box { size = { 0.2, 0.2, 0.2 }, mass = 1, mu = 0.6, xyz = { 0.01 * i, 0, 0.1 + 0.205 * (i - 1) } }
  end
  world:sphere { radius = 0.1, mass = 1, mu = 0.6, xyz = { 0.4, 0, 0.12 } }
  return world, ground
end

local function kinetic(world) return world:energy().kinetic end

-- The next step of the settled world, with the impulses of the step before, found by the ids of the contacts, and of a new world in
-- its state, which has none.
local function warm_starts(world, solver)
  local cold <close> = pile(solver)
  cold:set_state(world:state())
  local iterations = {}
  for i, w in ipairs { world, cold } do
    for step in w:run { steps = 1 } do iterations[i] = step.iterations end
  end
  -- cond starts v warm; its impulses swing by momentum, so that at the edge of the tolerance it is chance when they cross it
  assert(iterations[1] <= iterations[2] or solver == "cond", solver .. ": more iterations than from nothing")
  local iterative = { bisection = 1, nsgs = 1, pgs = 1, apgd = 2, admm = 2, admm_ncp = 2 } -- at least this many times fewer
  if iterative[solver] ~= nil then
    assert(iterative[solver] * iterations[1] < iterations[2], ("%s: %d iterations, %d from nothing"):format(solver, iterations[1], iterations[2]))
  end
end

-- They never call a step converged, and are judged by the rest.
local approximate = { soft_step = true }

for _, solver in ipairs(stn.plugins "solver") do
  stn.test("a stack and a ball fall, come to rest and stay: " .. solver, function()
    local world <close>, ground = pile(solver)
    local unsolved, steps, worst, deepest, start = 0, 0, solve_error.worst(), 0, world:energy().total
    for step in world:run { seconds = 1 } do
      steps = steps + 1
      unsolved = unsolved + (step.converged and 0 or 1)
      worst:add(step.certificate)
      deepest = worse(deepest, step.overlap_m)
      assert(step.certificate.finite)
    end
    assert(worst.momentum < 2e-6, ("momentum error %g"):format(worst.momentum)) -- two islands, each to 1e-6
    assert(worst.law < 1e-6 or approximate[solver], ("impulses are off the contact law by %g m/s"):format(worst.law))
    assert(unsolved <= steps // 50 or approximate[solver] and unsolved == steps, ("%d of %d steps unsolved"):format(unsolved, steps))
    assert(deepest < 1e-3, ("overlap %g m"):format(deepest))
    assert(world:energy().total < start, "energy was created")
    assert(kinetic(world) < 1e-6, ("%g J at rest"):format(kinetic(world)))
    stn.near(world:contact_force(ground).force[3], -4 * 9.81, 0.05, "on the ground [N]")
    warm_starts(world, solver)
  end)
end

-- Their relative speeds are the rounding of their own: there is nothing to solve, and no solver may look for digits in it.
for _, solver in ipairs(stn.plugins "solver") do
  stn.test("boxes that touch and fly together are no work: " .. solver, function()
    local world <close> = stn.world { dt = 0.002, solver = solver }
    local boxes = {}
    for i = 1, 6 do
      boxes[i] = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, mu = 0.5, xyz = { 0.013, 0.017, 0.1 * i }, velocity = { linear = { 1.3, 0.3, 0.7 } } }
    end
    for step in world:run { steps = 100 } do assert(step.converged or approximate[solver], step.status) end
    for _, box in ipairs(boxes) do
      for axis, free in ipairs { 1.3, 0.3, 0.7 - 9.81 * world.time } do stn.near(box:velocity().linear[axis], free, 1e-9, "of its flight [m/s]") end
    end
  end)
end
