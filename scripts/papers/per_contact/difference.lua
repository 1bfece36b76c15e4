-- SPDX-License-Identifier: Apache-2.0
-- Figure 6 of the per-contact paper [hwangbo-2018]: how far maximal dissipation (8), which the bisection solves, is from Coulomb's law
-- (6). A task runs by the bisection; the problem of every `every`th step with contacts is solved by both, from the same start:
-- |lambda_b - lambda_p|/|lambda_p| over the impulses of all contacts, lambda_p those of Coulomb's law.
--
--   stiction run scripts/papers/per_contact/difference.lua --set seconds=100 --set table=difference.csv --set plot=difference.svg
--
-- Problems that one of the two leaves unsolved are counted, not compared.
local stn = require "stiction"
local tasks, chart = require "tasks", require "chart"

local p = tasks.parameters {
  task = stn.choice { "all", "trot", "hang", "drop", "random" },
  seconds = 20.0, -- of each task [s]
  every = 5,
  reference = stn.choice { "coulomb", "pgs", "nsgs" },
  exact = 1e-10,  -- tolerance of the two solutions
  most_sweeps = 5000,
  table = "", plot = "",
}

local decades = { -10, -9, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1 } -- lower edges of the histogram, powers of 10

local function solver(name)
  return tasks.solver(name, { tolerance = p.exact, max_iterations = p.most_sweeps, acceleration = 10 })
end

-- |a - b| / |b| over all contacts; nil when b is 0.
local function relative(a, b)
  local apart, size = 0, 0
  for i, impulse in ipairs(b) do
    for k = 1, 3 do
      apart, size = apart + (a[i][k] - impulse[k]) ^ 2, size + impulse[k] ^ 2
    end
  end
  return size > 0 and math.sqrt(apart / size) or nil
end

local function compare(task)
  local run = tasks.make(task, p, tasks.solver("bisection", p))
  local found = { samples = 0, unsolved = 0, below = 0, most = 0, shares = {} }
  for k = 1, #decades do found.shares[k] = 0 end
  for step in tasks.run(run, p.seconds) do
    if step.contact_count > 0 and step.index % p.every == 0 then
      local b, q = run.world:solve_problem(solver "bisection"), run.world:solve_problem(solver(p.reference))
      local d = relative(b.impulses, q.impulses)
      if not (b.converged and q.converged) then
        found.unsolved = found.unsolved + 1
      elseif d then
        found.samples, found.below, found.most = found.samples + 1, found.below + (d < 0.01 and 1 or 0), math.max(found.most, d)
        local bin = math.max(1, math.min(#decades, math.floor(math.log(math.max(d, 1e-300), 10)) - decades[1] + 1))
        found.shares[bin] = found.shares[bin] + 1
      end
    end
  end
  for k = 1, #decades do found.shares[k] = 100 * found.shares[k] / math.max(1, found.samples) end
  run.world:close()
  return found
end

local file = p.table ~= "" and assert(io.open(p.table, "w"))
if file then file:write "task,difference_from,share_percent\n" end
local series, samples, below = {}, 0, 0
print(("%-7s %9s %9s %10s %12s"):format("task", "samples", "unsolved", "below 1 %", "largest"))
for _, task in ipairs(p.task == "all" and tasks.names or { p.task }) do
  local f = compare(task)
  print(("%-7s %9d %9d %8.2f %% %12.3g"):format(task, f.samples, f.unsolved, 100 * f.below / math.max(1, f.samples), f.most))
  stn.result(task .. "_below_1_percent", 100 * f.below / math.max(1, f.samples), "%")
  samples, below = samples + f.samples, below + f.below
  local x = {}
  for k, decade in ipairs(decades) do
    x[k] = 10 ^ decade
    if file then file:write(("%s,1e%d,%.6g\n"):format(task, decade, f.shares[k])) end
  end
  series[#series + 1] = { name = task, x = x, y = f.shares }
end
if file then file:close() end
if p.plot ~= "" then
  chart.write(p.plot, { title = "Maximal dissipation beside Coulomb's law", series = series,
    x = { label = "relative difference of the impulses, by decades (leftmost: below)", log = true }, y = { label = "share of samples [%]" } })
end
stn.result("below_1_percent", 100 * below / math.max(1, samples), "%")
stn.check("samples", { value = samples, least = 1, unit = "1" })
