-- SPDX-License-Identifier: Apache-2.0
-- Tables II to VII and IX of the paper COND [lee-2023] from a scenario of this folder: runs of COND over seeded parameters beside an
-- over-iterated reference, runs of other solvers and of fixed numbers of iterations, and other solvers on steps of the reference, as
-- problems of files that start where the reference's step did.
--     MP  mean over the steps of the deepest overlap [mm]
--     IE  mean of | |f| - |f of the reference| |, f the dynamics index of the scenario [mN]
--     DT  the step without its solver [ms], ST  the solver [ms], IN  iterations
local stn = require "stiction"
local chart = require "chart"
local csv = require "csv"
local figures = require "cond_figures"
local json = require "json"

local p = stn.params {
  command = "stiction",
  scenario = "soft_mat", -- soft_ball, cable_winding, soft_gripper
  reference = "cond",    -- solver of the reference
  reference_tolerance = 1e-8,
  references = 3,        -- seeds, from 1 on, that have a reference; IE is the mean over these
  -- rows of COND with their numbers of seeds, from 1 on (the paper has 20): by the paper's rule, a tenth of its threshold, tolerances
  rows = "chebyshev:3 momentum:3 none:1 barzilai_borwein:1 finer:1 1e-3:1 1e-6:1",
  captured = 1,          -- references that are captured
  every = 25,            -- step of it
  threshold = 1e-4,      -- velocity_threshold of COND [m/s]; table VI: 1e-6, III: 1e-5
  extra = "",            -- settings for all runs: "seconds=1 cells=20"
  full = "sap:1e-6",     -- solvers with their tolerances that make a full run of seed 1: "sap:1e-6 pgs:1e-4 apgd:1e-4"
  most = 1000,           -- iterations of a step of these
  fixed = "",            -- table VII: runs of COND and of contact splitting with so many iterations: "50 100"
  files = "cond:1e-3 cond:1e-4 pgs:1e-4 apgd:1e-4 admm_split_ncp:1e-4 newton_ncp:1e-4 sap:1e-4", -- solvers on captured steps
  table = "",            -- a CSV file
  plot = "",             -- an SVG file: overlap and f of seed 1 over time
}
local ruled = { chebyshev = { acceleration = "chebyshev" }, momentum = {}, none = { acceleration = "none" },
  barzilai_borwein = { step_size = "barzilai_borwein" }, finer = { threshold = p.threshold / 10 } }
local planned = {}
for word in p.rows:gmatch "%S+" do
  local name, seeds = word:match "^(.-):(%d+)$"
  if not (ruled[name or ""] or tonumber(name or "") and tonumber(name) > 0) or tonumber(seeds) < 1 then error(("rows: '%s' is no row with its seeds, as momentum:3 or 1e-3:1"):format(word), 0) end
  planned[#planned + 1] = { name = name, seeds = math.tointeger(seeds) }
end
local script = (debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. p.scenario .. ".lua"
local folder = os.tmpname()
os.remove(folder)
assert(os.execute("mkdir " .. folder))

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- Runs the scenario; returns its log and its JSON.
local function run(settings, capture)
  local log, summary = folder .. "/log.csv", folder .. "/run.json"
  os.remove(log)
  local words = { p.command, "run", quoted(script), "--quiet", "--json", "--log", log }
  for name, value in pairs(settings) do words[#words + 1] = "--set " .. quoted(("%s=%s"):format(name, value)) end
  for word in p.extra:gmatch "%S+" do words[#words + 1] = "--set " .. quoted(word) end
  if capture then words[#words + 1] = ("--capture %s --every %d"):format(capture, p.every) end
  os.execute(table.concat(words, " ") .. " > " .. summary .. " 2> " .. folder .. "/errors.txt") -- checks of a scenario may fail
  local file = assert(io.open(summary))
  local text = file:read "a"
  file:close()
  local made = io.open(log)
  if made then made:close() end
  local rows = made and csv.read(log) or {}
  if #rows <= 2 then error(table.concat(words, " ") .. ": made no steps", 0) end
  return rows, json(text:match "%b{}")
end

local rows = {}
local function report(row)
  rows[#rows + 1] = row
  local function known(form, value) return value and form:format(value) or "" end
  print(("%-22s %4d %6d  %9s  %9s  %8s  %9.3f %10s  %8.1f  %6d %6d"):format(row.solver, row.runs, row.steps, known("%.5f", row.MP),
    known("%.3f", row.IE), known("%.3f", row.DT), row.ST, row.delassus and ("(%.1f)"):format(row.delassus) or "", row.IN, row.unsolved, row.fallbacks))
  io.stdout:flush()
  for _, value in ipairs { { "MP", "mm" }, { "IE", "mN" }, { "DT", "ms" }, { "ST", "ms" }, { "IN", "1" } } do
    if row[value[1]] then stn.result(row.solver .. " " .. value[1], row[value[1]], value[2]) end
  end
end

--- Lines of the charts: overlap and dynamics index of a run over time.
local overlaps, forces = {}, {}
local function draw(name, log)
  local overlap, force = { name = name, x = {}, y = {} }, { name = name, x = {}, y = {} }
  for i = 2, #log do
    overlap.x[i - 1], overlap.y[i - 1] = log[i].t, 1e3 * log[i].penetration
    force.x[i - 1], force.y[i - 1] = log[i].t, log[i].force
  end
  overlaps[#overlaps + 1], forces[#forces + 1] = overlap, force
end

--- Sums of a run, beside the reference if there is one.
local function compare(log, reference)
  local m = { steps = 0, MP = 0, IE = reference and 0, DT = 0, ST = 0, IN = 0, unsolved = 0, fallbacks = 0 }
  for i = 2, #log do
    local now = log[i]
    m.steps = m.steps + 1
    m.MP = m.MP + 1e3 * now.penetration
    m.IE = reference and m.IE + 1e3 * math.abs(now.force - reference[i].force)
    m.ST = m.ST + 1e-3 * now.solve_us
    m.DT = m.DT + 1e-3 * (now.step_us - now.solve_us)
    m.IN = m.IN + now.iterations
    m.unsolved = m.unsolved + 1 - now.solved
    m.fallbacks = m.fallbacks + now.fallbacks
  end
  return m
end

--- The mean of means.
local function mean(solver, list)
  local all = { solver = solver, runs = #list, steps = 0, MP = 0, IE = 0, DT = 0, ST = 0, IN = 0, unsolved = 0, fallbacks = 0 }
  local judged = 0 -- against a reference
  for _, m in ipairs(list) do
    for _, name in ipairs { "steps", "unsolved", "fallbacks" } do all[name] = all[name] + m[name] end
    for _, name in ipairs { "MP", "DT", "ST", "IN" } do all[name] = all[name] + m[name] / m.steps / #list end
    if m.IE then judged, all.IE = judged + 1, all.IE + m.IE / m.steps end
  end
  all.IE = judged > 0 and all.IE / judged or nil
  report(all)
end

--- A solver on the captured problems.
local function solve_files(solver, tolerance, files)
  local all = { solver = ("%s %s (files)"):format(solver, tolerance), runs = p.captured, steps = 0, ST = 0, IN = 0, delassus = 0, unsolved = 0,
    fallbacks = 0 }
  for _, path in ipairs(files) do
    local law = figures.convex[solver] and solver ~= "sap" and "--law none" or "" -- contacts as stiff as Coulomb's law has them
    local pipe = assert(io.popen(("%s solve %s --solver %s --tolerance %s %s --json 2> /dev/null"):format(p.command, path, solver, tolerance, law)))
    local text = pipe:read "a"
    pipe:close()
    local result = json(text)
    all.steps = all.steps + 1
    all.ST = all.ST + result.solve_ms
    all.delassus = all.delassus + result.delassus_ms
    all.IN = all.IN + result.iterations
    all.unsolved = all.unsolved + (result.status == "converged" and 0 or 1)
  end
  for _, name in ipairs { "ST", "IN", "delassus" } do all[name] = all[name] / math.max(1, all.steps) end
  report(all)
end

print(("%s: %s"):format(p.scenario, p.extra))
print "solver                 runs  steps    MP [mm]    IE [mN]   DT [ms]    ST [ms] (Delassus)       IN  unsolved fallbacks"
local references, files = {}, {}
for seed = 1, p.references do
  references[seed] = run({ seed = seed, solver = p.reference, tolerance = p.reference_tolerance },
    seed <= p.captured and ("%s/p%d.json"):format(folder, seed) or nil)
end
local pipe = io.popen("ls " .. folder)
for name in pipe:lines() do
  if name:match "^p%d+%-%d+%.json$" then files[#files + 1] = folder .. "/" .. name end
end
pipe:close()

--- A row: `settings` over the seeds from 1 to `seeds`.
local function row(name, seeds, settings)
  local list = {}
  for seed = 1, seeds do
    settings.seed = seed
    local log = run(settings)
    if seed == 1 then draw(name, log) end
    list[seed] = compare(log, references[seed])
  end
  mean(name, list)
end
local list = {}
for seed = 1, p.references do list[seed] = compare(references[seed], references[seed]) end
mean("reference " .. p.reference, list)
draw("reference " .. p.reference, references[1])
for _, plan in ipairs(planned) do
  local settings = ruled[plan.name]
  if settings then
    settings.threshold, settings.tolerance = settings.threshold or p.threshold, 1e-9
    row(("cond %s %g"):format(plan.name, settings.threshold), plan.seeds, settings)
  else
    row("cond, tolerance " .. plan.name, plan.seeds, { tolerance = plan.name })
  end
end
for count in p.fixed:gmatch "%d+" do
  row(("cond (%s)"):format(count), 1, { iterations = count, tolerance = 1e-12 })
  row(("cond chebyshev (%s)"):format(count), 1, { iterations = count, tolerance = 1e-12, acceleration = "chebyshev" })
  row(("splitting (%s)"):format(count), 1, { iterations = count, tolerance = 1e-12, solver = "admm_split_ncp" })
end
for solver, tolerance in p.full:gmatch "(%S+):(%S+)" do
  row(("%s, tolerance %s"):format(solver, tolerance), 1, { solver = solver, tolerance = tolerance, iterations = p.most })
end
for solver, tolerance in p.files:gmatch "(%S+):(%S+)" do solve_files(solver, tolerance, files) end
os.execute("rm -r " .. quoted(folder))
if p.plot ~= "" then
  chart.write(p.plot, {
    { title = p.scenario .. ": deepest overlap", x = { label = "t [s]" }, y = { label = "mm" }, legend = "beside", series = overlaps },
    { title = p.scenario .. ": dynamics index", x = { label = "t [s]" }, y = { label = "N" }, legend = "beside", series = forces },
  })
end
if p.table ~= "" then
  local file = assert(io.open(p.table, "w"))
  file:write "solver,runs,steps,MP_mm,IE_mN,DT_ms,ST_ms,delassus_ms,iterations,unsolved,fallbacks\n"
  for _, r in ipairs(rows) do
    local cells = { (r.solver:gsub(",", ";")), r.runs, r.steps, r.MP or "", r.IE or "", r.DT or "", r.ST, r.delassus or "", r.IN, r.unsolved, r.fallbacks }
    file:write(table.concat(cells, ","), "\n")
  end
  assert(file:close())
end
