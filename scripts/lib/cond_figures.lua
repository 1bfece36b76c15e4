-- SPDX-License-Identifier: Apache-2.0
-- What the scenarios of scripts/papers/cond/ share: parameters of the solver, seeds, and the columns that tables are made of.
local stn = require "stiction"
local worse = require "worse"
local cond_figures = {}

--- Parameters of the solver, beside those of a scenario.
cond_figures.params = {
  tolerance = stn.number { 1e-6, min = 0, max = 1 },
  threshold = 0,      -- velocity_threshold of cond [m/s]
  acceleration = stn.choice { "momentum", "chebyshev", "none" }, -- of cond
  step_size = stn.choice { "frobenius", "barzilai_borwein" },    -- of cond
  iterations = 20000, -- at most
  solver = "cond",
  law = "sap",        -- of convex solvers
  picture = "",       -- file for a picture of the end, .png, coloured by stress; "": none
  seed = 0,           -- 0: the middle of every range; else random parameters
}

--- Declares parameters with those above.
function cond_figures.declare(own)
  for name, value in pairs(cond_figures.params) do
    if own[name] == nil then own[name] = value end
  end
  return stn.params(own)
end

--- The solver of a world.
function cond_figures.solver(p)
  local solver = { p.solver, tolerance = p.tolerance, max_iterations = p.iterations }
  if p.solver:find "^cond" then
    solver.velocity_threshold, solver.acceleration, solver.step_size = p.threshold, p.acceleration, p.step_size
  end
  return solver
end

--- Solvers of the convex relaxation, which take a law.
cond_figures.convex = { sap = true, apgd = true, admm = true, admm_split = true, ipm = true, cond_proximal = true }

--- The law of a world, where its solver takes one.
function cond_figures.law(p)
  return cond_figures.convex[p.solver] and p.law or nil
end

--- A draw for each range in the order of their names; the middles for seed 0.
function cond_figures.draw(seed, ranges)
  local names = {}
  for name in pairs(ranges) do names[#names + 1] = name end
  table.sort(names)
  local drawn, dice <close> = {}, stn.world { seed = math.max(seed, 1) }
  for _, name in ipairs(names) do
    local low, high = ranges[name][1], ranges[name][2]
    drawn[name] = seed == 0 and (low + high) / 2 or dice:random(low, high)
  end
  return drawn
end

--- Logs the columns of the paper's tables, and returns what counts a step; `force()` is the dynamics index.
--- `view`: camera of the picture.
function cond_figures.log(world, p, force, view)
  if p.picture ~= "" then
    local options = { "png", width = 640, height = 420, color_by = "von_mises" }
    for name, value in pairs(view) do options[name] = value end
    world:record(p.picture, options)
  end
  local sums = { steps = 0, unsolved = 0, fallbacks = 0, contacts = 0, iterations = 0, solve_us = 0, step_us = 0, penetration = 0 }
  local last
  world:log { "t", "contacts", "iterations", "fallbacks", "solved", "penetration", "momentum", "solve_us", "step_us", "force",
    values = function()
      if last == nil then return world.time, 0, 0, 0, 1, 0, 0, 0, 0, force() end
      return world.time, last.contact_count, last.iterations, last.fallbacks, last.converged and 1 or 0, last.overlap_m,
        last.certificate.momentum, last.solve_us, last.step_us, force()
    end }
  return sums, function(step)
    last = step
    sums.steps = sums.steps + 1
    sums.unsolved = sums.unsolved + (step.converged and 0 or 1)
    sums.fallbacks = sums.fallbacks + (step.fallbacks > 0 and 1 or 0)
    sums.contacts = worse(sums.contacts, step.contact_count)
    sums.iterations = sums.iterations + step.iterations
    sums.solve_us = sums.solve_us + step.solve_us
    sums.step_us = sums.step_us + step.step_us
    sums.penetration = sums.penetration + step.overlap_m
  end
end

--- Norm of the elastic forces on the nodes of a soft body [N].
function cond_figures.internal_force(soft)
  local sum = 0
  for _, f in ipairs(soft:elastic_forces()) do sum = sum + f[1] ^ 2 + f[2] ^ 2 + f[3] ^ 2 end
  return math.sqrt(sum)
end

--- Prints and reports the means.
function cond_figures.report(sums)
  local n = math.max(1, sums.steps)
  print(("%d steps, up to %d contacts: %.1f iterations, solver %.3f ms, the rest of the step %.3f ms, overlap %.2e mm; unsolved %d, with a fallback %d"):format(
    sums.steps, sums.contacts, sums.iterations / n, 1e-3 * sums.solve_us / n, 1e-3 * (sums.step_us - sums.solve_us) / n,
    1e3 * sums.penetration / n, sums.unsolved, sums.fallbacks))
  stn.result("iterations", sums.iterations / n, "1")
  stn.result("solver", 1e-3 * sums.solve_us / n, "ms")
  stn.result("unsolved", sums.unsolved, "1")
  stn.result("fallbacks", sums.fallbacks, "1")
end

return cond_figures
