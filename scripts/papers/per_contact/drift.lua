-- SPDX-License-Identifier: Apache-2.0
-- Figure 7 of the per-contact paper [hwangbo-2018]: how deep the feet sink while the quadruped hangs on them, where contacts know
-- velocities only (correction=false): each case is a method, its tolerance, its step.
--
--   stiction run scripts/papers/per_contact/drift.lua --set seconds=200 --set table=drift.csv --set plot=drift.svg
--
-- With correction=true, as everywhere else here, an overlap is left within a step and nothing sinks.
local stn = require "stiction"
local tasks, tally, chart = require "tasks", require "tally", require "chart"

local p = tasks.parameters {
  seconds = 20.0, -- [s]
  cases = "bisection:1e-6:1e-3 pgs:1e-8:1e-3 pgs:1e-6:1e-3 bisection:1e-6:5e-4",
  correction = false,
  sample = 0.5,   -- [s] between points
  table = "", plot = "",
}

local function run_case(method, tolerance, dt)
  local q = setmetatable({ tolerance = tolerance, dt = dt }, { __index = p })
  local run = tasks.make("hang", q, tasks.solver(method, q))
  local every, line = math.floor(p.sample / dt + 0.5), { x = {}, y = {}, unsolved = 0, solve_us = 0 }
  for step in tasks.run(run, p.seconds) do
    line.unsolved, line.solve_us = line.unsolved + (step.converged and 0 or 1), line.solve_us + step.solve_us
    if step.time > 3 and step.index % every == 0 and step.contact_count > 0 then
      line.x[#line.x + 1], line.y[#line.y + 1] = step.time, -tally.depth(step)
    end
  end
  run.world:close()
  return line
end

local file = p.table ~= "" and assert(io.open(p.table, "w"))
if file then file:write "case,time_s,foot_height_m\n" end
local series = {}
print(("%-22s %14s %14s %10s"):format("case", "at the end [m]", "solver [s]", "unsolved"))
for case in p.cases:gmatch "%S+" do
  local method, tolerance, dt = case:match "^(%w+):([^:]+):([^:]+)$"
  assert(method and tonumber(tolerance) and tonumber(dt), "cases: expected METHOD:TOLERANCE:STEP, got " .. case)
  local line = run_case(method, tonumber(tolerance), tonumber(dt))
  line.name = ("%s, %s, %g ms"):format(method, tolerance, 1e3 * tonumber(dt))
  print(("%-22s %14.3g %14.3f %10d"):format(line.name, line.y[#line.y], 1e-6 * line.solve_us, line.unsolved))
  if file then
    for i, time in ipairs(line.x) do file:write(("%s,%.6g,%.6g\n"):format(case, time, line.y[i])) end
  end
  series[#series + 1] = line
  stn.check(line.name .. ": feet stay within", { value = math.abs(line.y[#line.y]), limit = p.correction and 1e-3 or 0.3, unit = "m" })
end
if file then file:close() end
if p.plot ~= "" then
  chart.write(p.plot, { title = "Hanging: height of the feet over the ground, on average", series = series,
    x = { label = "time [s]" }, y = { label = "m" } })
end
