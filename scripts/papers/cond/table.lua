-- SPDX-License-Identifier: Apache-2.0
-- Tables II to VI of the paper COND [lee-2023] from a scenario of this folder: runs of COND over seeded parameters beside a run that is
-- solved to 1e-10, a full run of other solvers, and PGS and APGD on the steps of the reference, as problems of files.
--     MP  mean over the steps of the deepest overlap [mm]
--     IE  mean of | |f| - |f of the reference| |, f the dynamics index of the scenario [mN]
--     DT  the step without its solver [ms], ST  the solver [ms], IN  iterations
local stn = require "stiction"
local csv = require "csv"
local json = require "json"

local p = stn.params {
  command = "stiction",
  scenario = "soft_mat", -- soft_ball, cable_winding, soft_gripper
  seeds = 3,             -- of COND, 1 to this; the paper has 20
  captured = 1,          -- seeds whose reference is captured for PGS and APGD
  every = 25,            -- step of it
  threshold = 1e-4,      -- velocity_threshold of COND [m/s]
  extra = "",            -- settings for all runs: "seconds=1 cells=20"
  full = "sap",          -- solvers that make a full run of the first seed, at 1e-6
  table = "",            -- a CSV file
}
local script = (debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. p.scenario .. ".lua"
local folder = os.tmpname()
os.remove(folder)
assert(os.execute("mkdir " .. folder))

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- Runs the scenario; returns its log and its JSON.
local function run(settings, capture)
  local log, summary = folder .. "/log.csv", folder .. "/run.json"
  local words = { p.command, "run", quoted(script), "--quiet", "--json", "--log", log }
  for name, value in pairs(settings) do words[#words + 1] = "--set " .. quoted(("%s=%s"):format(name, value)) end
  for word in p.extra:gmatch "%S+" do words[#words + 1] = "--set " .. quoted(word) end
  if capture then words[#words + 1] = ("--capture %s --every %d"):format(capture, p.every) end
  os.execute(table.concat(words, " ") .. " > " .. summary .. " 2> " .. folder .. "/errors.txt") -- checks of a scenario may fail
  local file = assert(io.open(summary))
  local text = file:read "a"
  file:close()
  local rows = csv.read(log)
  assert(#rows > 2, table.concat(words, " ") .. ": made no steps")
  return rows, json(text:match "%b{}")
end

local rows = {}
local function report(row)
  rows[#rows + 1] = row
  local function known(form, value) return value and form:format(value) or "" end
  print(("%-22s %4d %6d  %9s  %9s  %8s  %9.3f %10s  %8.1f  %6d %6d"):format(row.solver, row.runs, row.steps, known("%.5f", row.MP),
    known("%.3f", row.IE), known("%.3f", row.DT), row.ST, row.delassus and ("(%.1f)"):format(row.delassus) or "", row.IN, row.unsolved, row.fallbacks))
  io.stdout:flush()
end

--- Means of a run beside the reference.
local function compare(log, reference)
  local m = { steps = 0, MP = 0, IE = 0, DT = 0, ST = 0, IN = 0, unsolved = 0, fallbacks = 0 }
  for i = 2, #log do
    local now, exact = log[i], reference[i]
    m.steps = m.steps + 1
    m.MP = m.MP + 1e3 * now.penetration
    m.IE = m.IE + (exact and 1e3 * math.abs(now.force - exact.force) or 0)
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
  for _, m in ipairs(list) do
    for _, name in ipairs { "steps", "unsolved", "fallbacks" } do all[name] = all[name] + m[name] end
    for _, name in ipairs { "MP", "IE", "DT", "ST", "IN" } do all[name] = all[name] + m[name] / m.steps / #list end
  end
  report(all)
end

--- A solver on the captured problems.
local function solve_files(solver, options, files)
  local all = { solver = solver .. " (files)", runs = p.captured, steps = 0, ST = 0, IN = 0, delassus = 0, unsolved = 0, fallbacks = 0 }
  for _, path in ipairs(files) do
    local pipe = assert(io.popen(("%s solve %s --solver %s %s --json 2> /dev/null"):format(p.command, path, solver, options)))
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
for seed = 1, p.seeds do
  references[seed] = run({ seed = seed, tolerance = 1e-10 }, seed <= p.captured and ("%s/p%d.json"):format(folder, seed) or nil)
end
local pipe = io.popen("ls " .. folder)
for name in pipe:lines() do
  if name:match "^p%d+%-%d+%.json$" then files[#files + 1] = folder .. "/" .. name end
end
pipe:close()
local list = {}
for seed = 1, p.seeds do list[seed] = compare(references[seed], references[seed]) end
mean("reference 1e-10", list)
for _, way in ipairs { { "cond", {} }, { "cond chebyshev", { acceleration = "chebyshev" } }, { "cond none", { acceleration = "none" } },
  { "cond bb", { step_size = "barzilai_borwein" } } } do
  for _, threshold in ipairs { p.threshold, p.threshold / 10 } do
    if threshold == p.threshold or way[1] == "cond" then
      for seed = 1, p.seeds do
        local settings = { seed = seed, threshold = threshold, tolerance = 1e-9 }
        for name, value in pairs(way[2]) do settings[name] = value end
        list[seed] = compare(run(settings), references[seed])
      end
      mean(("%s %g"):format(way[1], threshold), list)
    end
  end
end
for seed = 1, p.seeds do list[seed] = compare(run { seed = seed, tolerance = 1e-6 }, references[seed]) end
mean("cond, tolerance 1e-6", list)
for solver in p.full:gmatch "%S+" do
  mean(solver .. ", tolerance 1e-6", { compare(run { seed = 1, solver = solver, tolerance = 1e-6 }, references[1]) })
end
solve_files("cond", "--tolerance 1e-3", files)
solve_files("sap", "--tolerance 1e-6", files)
solve_files("pgs", "--tolerance 1e-4", files)
solve_files("apgd", "--law none --tolerance 1e-4", files)
os.execute("rm -r " .. quoted(folder))
if p.table ~= "" then
  local file = assert(io.open(p.table, "w"))
  file:write "solver,runs,steps,MP_mm,IE_mN,DT_ms,ST_ms,delassus_ms,iterations,unsolved,fallbacks\n"
  for _, r in ipairs(rows) do
    local cells = { (r.solver:gsub(",", ";")), r.runs, r.steps, r.MP or "", r.IE or "", r.DT or "", r.ST, r.delassus or "", r.IN, r.unsolved, r.fallbacks }
    file:write(table.concat(cells, ","), "\n")
  end
  assert(file:close())
end
