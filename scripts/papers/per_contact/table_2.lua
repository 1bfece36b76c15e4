-- SPDX-License-Identifier: Apache-2.0
-- Table II and figures 4 and 5 of the per-contact paper [hwangbo-2018]: what each method costs in each task. All methods of a task take
-- turns by seconds of simulated time, so that a busy machine is busy for all of them; every one follows its own trajectory. Iterations
-- are those of steps with contacts; a few steps without a solution may decide their mean, so that of the solved ones stands beside it.
--
--   stiction run scripts/papers/per_contact/table_2.lua --set seconds=100 --set runs=5 --set folder=.
--
-- Figures are means of `runs`, which start from other seeds, as the paper has them of five. A step's time is the least of `repeats`
-- that make the same steps.
-- plot: of one task the share of its steps by iterations (figure 4), of all the times of 100,000 steps (figure 5).
-- folder: table_2.csv and, for each task, iterations_TASK.csv.
local stn = require "stiction"
local tasks, tally, chart, statistics = require "tasks", require "tally", require "chart", require "statistics"

local p = tasks.parameters {
  task = stn.choice { "all", "trot", "hang", "drop", "random" },
  methods = "bisection coulomb pgs",
  seconds = 20.0, -- of each [s]; 100 s are the paper's 100,000 steps
  runs = 1, repeats = 1,
  folder = "", plot = "",
}

local published = { trot = { 1.98, 1.81 }, hang = { 2.57, 5.92 }, drop = { 2.62, 4.35 }, random = { 1.90, 2.88 } } -- bisection, PGS [s]
local most_contacts = { trot = 4, hang = 4, drop = 8, random = 8 } -- of the paper

local methods = {}
for method in p.methods:gmatch "%S+" do methods[#methods + 1] = method end

-- One run of a task: tallies of all methods, by name.
local function measure(task, seed)
  local q, counts = setmetatable({ seed = seed }, { __index = p }), {}
  for _, method in ipairs(methods) do counts[method] = tally.new() end
  for again = 1, p.repeats do
    local runs, at = {}, {}
    for _, method in ipairs(methods) do runs[method], at[method] = tasks.make(task, q, tasks.solver(method, q)), 0 end
    for second = 1, math.ceil(p.seconds) do
      for _, method in ipairs(methods) do
        for step in tasks.run(runs[method], math.min(1, p.seconds - second + 1)) do
          at[method] = at[method] + 1
          if again == 1 then counts[method]:add(step) else counts[method]:time_again(at[method], step) end
        end
      end
    end
    for _, method in ipairs(methods) do runs[method].world:close() end
  end
  return counts
end

-- Shares of steps by iterations, on average over the runs: edges of the bins, shares [%].
local function mean_histogram(runs, method)
  local edges, shares = {}, {}
  for _, counts in ipairs(runs) do
    local own_edges, own = counts[method]:histogram()
    for k, edge in ipairs(own_edges) do edges[k], shares[k] = edge, (shares[k] or 0) + own[k] / #runs end
  end
  return edges, shares
end

local function open(name) return p.folder ~= "" and assert(io.open(p.folder .. "/" .. name, "w")) or nil end

local function draw_iterations(task, runs)
  local file, series = open(("iterations_%s.csv"):format(task)), {}
  if file then file:write "method,iterations_from,share_percent\n" end
  for i, method in ipairs(methods) do
    local edges, shares = mean_histogram(runs, method)
    series[i] = { name = method, x = {}, y = shares }
    for k, edge in ipairs(edges) do
      if file then file:write(("%s,%d,%.6g\n"):format(method, edge, shares[k])) end
      series[i].x[k] = math.max(edge, 0.5)
    end
  end
  if file then file:close() end
  if p.plot ~= "" and p.task ~= "all" then
    chart.write(p.plot, { title = ("Iterations of steps with contacts: %s"):format(task),
      x = { label = "iterations, bins that double (leftmost: none)", log = true }, y = { label = "share of steps [%]" }, series = series })
  end
end

local file = open "table_2.csv"
if file then
  file:write "task,method,run,seconds_per_100k,solver_seconds_per_100k,mean_iterations,mean_iterations_solved,median_iterations,p99_iterations,max_iterations,contacts,steps_with_contacts,unsolved\n"
end
print(("%-7s %-10s %8s %8s | %8s %8s %8s %7s %7s | %9s %9s %9s"):format("task", "method", "s/100k", "solver", "mean it.", "solved", "median", "99 %", "most",
  "contacts", "unsolved", "of steps"))
local wanted = p.task == "all" and tasks.names or { p.task }
local cost = {}
for _, method in ipairs(methods) do
  cost[#cost + 1] = { name = method, x = {}, y = {} }
  cost[#cost + 1] = { name = method .. ", solver", x = {}, y = {} }
end
for number, task in ipairs(wanted) do
  local runs, figures = {}, {}
  for r = 1, p.runs do runs[r] = measure(task, p.seed + r - 1) end
  for m, method in ipairs(methods) do
    local lists = { whole = {}, solver = {}, mean = {}, solved = {}, median = {}, p99 = {}, most = {}, contacts = {}, unsolved = {}, touching = {}, widest = {} }
    for r, counts in ipairs(runs) do
      local c = counts[method]
      local one = { solved = c:solved_mean(), contacts = c.contacts / math.max(1, c.touching), unsolved = c.unsolved, touching = c.touching, widest = c.widest }
      one.whole, one.solver = c:seconds_per_100k()
      one.mean, one.median, one.p99, one.most = c:iteration_figures()
      for key, list in pairs(lists) do list[r] = one[key] end
      if file then
        file:write(("%s,%s,%d,%.6g,%.6g,%.6g,%.6g,%d,%d,%d,%.4g,%d,%d\n"):format(task, method, r, one.whole, one.solver, one.mean, one.solved, one.median, one.p99,
          one.most, one.contacts, one.touching, one.unsolved))
      end
    end
    local f = {}
    for key, list in pairs(lists) do f[key] = statistics.mean(list) end
    f.most, f.widest = math.max(table.unpack(lists.most)), math.max(table.unpack(lists.widest))
    figures[method], f.lists = f, lists
    print(("%-7s %-10s %8.3f %8.3f | %8.2f %8.2f %8.1f %7.1f %7d | %9.2f %9.1f %9.0f"):format(task, method, f.whole, f.solver, f.mean, f.solved, f.median, f.p99, f.most,
      f.contacts, f.unsolved, f.touching))
    local name = task .. "_" .. method
    stn.result(name .. "_seconds", f.whole, "s")
    stn.result(name .. "_seconds_least", math.min(table.unpack(lists.whole)), "s")
    stn.result(name .. "_seconds_most", math.max(table.unpack(lists.whole)), "s")
    stn.result(name .. "_solver_seconds", f.solver, "s")
    stn.result(name .. "_iterations", f.mean, "1")
    stn.result(name .. "_iterations_solved", f.solved, "1")
    stn.result(name .. "_most_iterations", f.most, "1")
    stn.result(name .. "_unsolved_percent", 100 * f.unsolved / math.max(1, f.touching), "%")
    stn.result(name .. "_most_contacts", f.widest, "1")
    cost[2 * m - 1].x[number], cost[2 * m - 1].y[number] = number, f.whole
    cost[2 * m].x[number], cost[2 * m].y[number] = number, f.solver
    stn.check(name .. ": contacts, as in the paper", { value = f.widest, limit = most_contacts[task], unit = "1" })
  end
  local b, g = figures.bisection, figures.pgs
  if b and g then
    local ratios = {}
    for r = 1, p.runs do ratios[r] = g.lists.whole[r] / b.lists.whole[r] end
    local theirs = published[task][2] / published[task][1]
    print(("%-7s PGS/bisection: time %.2f, of the runs %.2f to %.2f (published %.2f), solver %.2f; iterations of solved steps %.1f"):format(task, g.whole / b.whole,
      math.min(table.unpack(ratios)), math.max(table.unpack(ratios)), theirs, g.solver / b.solver, g.solved / b.solved))
    stn.result(task .. "_time_ratio", g.whole / b.whole, "1")
    stn.result(task .. "_time_ratio_least", math.min(table.unpack(ratios)), "1")
    stn.result(task .. "_time_ratio_most", math.max(table.unpack(ratios)), "1")
    stn.result(task .. "_solver_time_ratio", g.solver / b.solver, "1")
    stn.result(task .. "_iteration_ratio", g.solved / b.solved, "1")
    stn.check(task .. ": PGS takes more iterations", { value = g.solved / b.solved, least = 2, unit = "times" })
  end
  draw_iterations(task, runs)
end
if file then file:close() end
if p.plot ~= "" and p.task == "all" then
  chart.write(p.plot, { title = "Time of 100,000 steps: 1 trot, 2 hang, 3 drop, 4 random", legend = "beside", x = { label = "task" }, y = { label = "s" }, series = cost })
end
