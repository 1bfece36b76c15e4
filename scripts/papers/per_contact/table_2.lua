-- SPDX-License-Identifier: Apache-2.0
-- Table II and figure 4 of the per-contact paper [hwangbo-2018]: what each method costs in each task. All methods of a task take turns
-- by seconds of simulated time, so that a busy machine is busy for all of them; every one follows its own trajectory. Iterations are
-- those of steps with contacts; a few steps without a solution may decide their mean, so that of the solved ones stands beside it.
--
--   stiction run scripts/papers/per_contact/table_2.lua --set seconds=100 --set folder=.
--
-- folder: table_2.csv and, for each task, iterations_TASK.csv and .svg: share of steps with contacts by iterations.
local stn = require "stiction"
local tasks, tally, chart = require "tasks", require "tally", require "chart"

local p = tasks.parameters {
  task = stn.choice { "all", "trot", "hang", "drop", "random" },
  methods = "bisection coulomb pgs",
  seconds = 20.0, -- of each [s]; 100 s are the paper's 100,000 steps
  folder = "",
}

local published = { trot = { 1.98, 1.81 }, hang = { 2.57, 5.92 }, drop = { 2.62, 4.35 }, random = { 1.90, 2.88 } } -- bisection, PGS [s]

local function open(name) return p.folder ~= "" and assert(io.open(p.folder .. "/" .. name, "w")) or nil end

-- Tallies of all methods, by name.
local function measure(task, methods)
  local runs, counts = {}, {}
  for _, method in ipairs(methods) do
    runs[method], counts[method] = tasks.make(task, p, tasks.solver(method, p)), tally.new()
  end
  for second = 1, math.ceil(p.seconds) do
    for _, method in ipairs(methods) do
      for step in tasks.run(runs[method], math.min(1, p.seconds - second + 1)) do counts[method]:add(step) end
    end
  end
  for _, method in ipairs(methods) do runs[method].world:close() end
  return counts
end

local function draw(task, methods, counts)
  local file = open(("iterations_%s.csv"):format(task))
  if not file then return end
  file:write "method,iterations_from,share_percent\n"
  local series = {}
  for i, method in ipairs(methods) do
    local edges, shares = counts[method]:histogram()
    for k, edge in ipairs(edges) do file:write(("%s,%d,%.6g\n"):format(method, edge, shares[k])) end
    series[i] = { name = method, x = {}, y = shares }
    for k, edge in ipairs(edges) do series[i].x[k] = math.max(edge, 0.5) end
  end
  file:close()
  chart.write(("%s/iterations_%s.svg"):format(p.folder, task), { title = ("Iterations of steps with contacts: %s"):format(task),
    x = { label = "iterations, bins that double (leftmost: none)", log = true }, y = { label = "share of steps [%]" }, series = series })
end

local methods = {}
for method in p.methods:gmatch "%S+" do methods[#methods + 1] = method end
local file = open "table_2.csv"
if file then
  file:write "task,method,seconds_per_100k,solver_seconds_per_100k,mean_iterations,mean_iterations_solved,median_iterations,p99_iterations,max_iterations,contacts,steps_with_contacts,unsolved\n"
end
print(("%-7s %-10s %8s %8s | %8s %8s %7s %7s %7s | %9s %9s"):format("task", "method", "s/100k", "solver", "mean it.", "solved", "median", "p99", "max",
  "contacts", "unsolved"))
for _, task in ipairs(p.task == "all" and tasks.names or { p.task }) do
  local counts = measure(task, methods)
  for _, method in ipairs(methods) do
    local c = counts[method]
    local whole, solver = c:seconds_per_100k()
    local mean, median, p99, most = c:iteration_figures()
    local contacts = c.contacts / math.max(1, c.touching)
    print(("%-7s %-10s %8.3f %8.3f | %8.2f %8.2f %7d %7d %7d | %9.2f %9d"):format(task, method, whole, solver, mean, c:solved_mean(), median, p99, most, contacts, c.unsolved))
    if file then
      file:write(("%s,%s,%.6g,%.6g,%.6g,%.6g,%d,%d,%d,%.4g,%d,%d\n"):format(task, method, whole, solver, mean, c:solved_mean(), median, p99, most, contacts, c.touching, c.unsolved))
    end
  end
  local b, g = counts.bisection, counts.pgs
  if b and g then
    local whole, solver = b:seconds_per_100k()
    local pgs_whole, pgs_solver = g:seconds_per_100k()
    local ours, theirs = pgs_whole / whole, published[task][2] / published[task][1]
    local iterations, solved = g:iteration_figures() / b:iteration_figures(), g:solved_mean() / b:solved_mean()
    print(("%-7s PGS/bisection: time %.2f (published %.2f), solver %.2f; iterations %.1f, of solved steps %.1f"):format(task, ours, theirs, pgs_solver / solver, iterations, solved))
    stn.result(task .. "_time_ratio", ours, "1")
    stn.result(task .. "_solver_time_ratio", pgs_solver / solver, "1")
    stn.result(task .. "_iteration_ratio", solved, "1")
    stn.check(task .. ": PGS takes more iterations", { value = solved, least = 2, unit = "times" })
  end
  draw(task, methods, counts)
end
if file then file:close() end
