-- SPDX-License-Identifier: Apache-2.0
-- Figure 6 of the per-contact paper [hwangbo-2018]: how far maximal dissipation (8), which the bisection solves, is from Coulomb's law
-- (6). A task runs by the bisection; the problem of every `every`th step with contacts is solved by both, from the same start:
-- |lambda_b - lambda_p|/|lambda_p| over the impulses of all contacts, lambda_p those of Coulomb's law.
--
--   stiction run scripts/papers/per_contact/difference.lua --set seconds=100 --set table=difference.csv --set plot=difference.svg
--
-- Problems that one of the two leaves unsolved are counted, not compared. The two laws are written out in lib/delassus.lua: every
-- `judge`th sample checks that each solution obeys its own law, and tells why the two differ: whether something slips, how strongly
-- W couples normal and tangents there, and whether the two differ though both obey Coulomb's law, since impulses are not unique.
local stn = require "stiction"
local tasks, delassus, statistics, chart = require "tasks", require "delassus", require "statistics", require "chart"

local p = tasks.parameters {
  task = stn.choice { "all", "trot", "hang", "drop", "random" },
  seconds = 20.0, -- of each task [s]
  every = 5, judge = 10,
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

-- What the problem itself says of the two solutions; d: how far they are apart.
local function judge(found, world, b, q, d)
  local problem = delassus.read(world)
  if not problem then return end
  local speed = problem:speed()
  local own, slips = problem:error(b.impulses, "dissipation")
  local coulomb, coulomb_slips = problem:error(q.impulses, "coulomb")
  found.judged = found.judged + 1
  found.dominant = found.dominant + (problem:is_diagonally_dominant() and 1 or 0)
  found.own, found.coulomb = math.max(found.own, own / speed), math.max(found.coulomb, coulomb / speed)
  local other = problem:error(b.impulses, "coulomb") / speed
  if #slips + #coulomb_slips == 0 then
    found.still, found.still_other = found.still + 1, math.max(found.still_other, other)
    found.still_below = found.still_below + (d < 0.01 and 1 or 0)
  else
    found.sliding, found.sliding_below = found.sliding + 1, found.sliding_below + (d < 0.01 and 1 or 0)
    table.insert(found.apart, d)
    for _, i in ipairs(slips) do table.insert(found.coupling, problem:coupling(i)) end
  end
  if other < 1e-8 and d >= 0.01 then found.open = found.open + 1 end
end

local function compare(task)
  local run = tasks.make(task, p, tasks.solver("bisection", p))
  local found = { samples = 0, unsolved = 0, below = 0, most = 0, shares = {}, judged = 0, dominant = 0, own = 0, coulomb = 0, still = 0, still_other = 0,
    still_below = 0, sliding = 0, sliding_below = 0, open = 0, apart = {}, coupling = {} }
  for k = 1, #decades do found.shares[k] = 0 end
  local touching = 0
  for step in tasks.run(run, p.seconds) do
    if step.contact_count > 0 then
      touching = touching + 1
      if touching % p.every == 0 then
        local b, q = run.world:solve_problem(solver "bisection"), run.world:solve_problem(solver(p.reference))
        local d = relative(b.impulses, q.impulses)
        if not (b.converged and q.converged) then
          found.unsolved = found.unsolved + 1
        elseif d then
          found.samples, found.below, found.most = found.samples + 1, found.below + (d < 0.01 and 1 or 0), math.max(found.most, d)
          local bin = math.max(1, math.min(#decades, math.floor(math.log(math.max(d, 1e-300), 10)) - decades[1] + 1))
          found.shares[bin] = found.shares[bin] + 1
          if found.samples % p.judge == 0 then judge(found, run.world, b, q, d) end
        end
      end
    end
  end
  for k = 1, #decades do found.shares[k] = 100 * found.shares[k] / math.max(1, found.samples) end
  run.world:close()
  return found
end

local function share(part, whole) return 100 * part / math.max(1, whole) end

local file = p.table ~= "" and assert(io.open(p.table, "w"))
if file then file:write "task,difference_from,share_percent\n" end
local series, all = {}, { samples = 0, below = 0 }
print(("%-7s %8s %8s %10s %9s | of the judged: %8s %14s %14s %9s %9s %9s"):format("task", "samples", "unsolved", "below 1 %", "largest", "slide", "below, still",
  "below, sliding", "median d", "coupling", "dominant"))
for _, task in ipairs(p.task == "all" and tasks.names or { p.task }) do
  local f = compare(task)
  local apart, coupling = statistics.median(f.apart) or 0, statistics.median(f.coupling) or 0
  print(("%-7s %8d %8d %8.2f %% %9.3g | %14d %6.1f %% %12.1f %% %12.1f %% %9.3g %9.3g %7.1f %%"):format(task, f.samples, f.unsolved, share(f.below, f.samples), f.most,
    f.judged, share(f.sliding, f.judged), share(f.still_below, f.still), share(f.sliding_below, f.sliding), apart, coupling, share(f.dominant, f.judged)))
  stn.result(task .. "_below_1_percent", share(f.below, f.samples), "%")
  stn.result(task .. "_sliding", share(f.sliding, f.judged), "%")
  stn.result(task .. "_sliding_below_1_percent", share(f.sliding_below, f.sliding), "%")
  stn.result(task .. "_not_unique", share(f.open, f.judged), "%")
  stn.result(task .. "_difference_of_slides", apart, "1")
  stn.result(task .. "_coupling_of_slides", coupling, "1")
  stn.result(task .. "_diagonally_dominant", share(f.dominant, f.judged), "%")
  -- a violation adds up what a solver's residual has apart: parts of a contact, and the changes of up to eight contacts
  stn.check(task .. ": the bisection's impulses obey maximal dissipation", { value = f.own, limit = 100 * p.exact, unit = "of the largest speed" })
  stn.check(task .. ": those of Coulomb's law obey it", { value = f.coulomb, limit = 100 * p.exact, unit = "of the largest speed" })
  stn.check(task .. ": where nothing slips the bisection's obey Coulomb's law, too", { value = f.still_other, limit = 100 * p.exact, unit = "of the largest speed" })
  stn.check(task .. ": samples judged", { value = f.judged, least = 1, unit = "1" })
  all.samples, all.below = all.samples + f.samples, all.below + f.below
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
stn.result("below_1_percent", share(all.below, all.samples), "%")
