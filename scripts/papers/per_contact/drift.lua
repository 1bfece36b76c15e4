-- SPDX-License-Identifier: Apache-2.0
-- Figure 7 of the per-contact paper [hwangbo-2018]: how deep the feet sink while the quadruped hangs on them, where contacts know
-- velocities only (correction=false): each case is a method, its tolerance, its step.
--
--   stiction run scripts/papers/per_contact/drift.lua --set seconds=100 --set runs=5 --set table=drift.csv --set plot=drift.svg
--
-- A foot sinks for two reasons. The solver leaves a speed into the ground, v_n < 0, and the foot sinks by dt |v_n|. And the foot goes
-- along its tangent, off the arc on which the problem holds it, by at most dt^2 w^2 l/2, w the fastest rate of trunk and joints and l the
-- length of a leg: this is the step's own error, which no solver changes. Sums of both over the steps after 3 s stand beside what the
-- feet sink.
-- With correction=true, as everywhere else here, an overlap is left within a step, so that only the error of one step is seen.
local stn = require "stiction"
local tasks, tally, chart = require "tasks", require "tally", require "chart"

local p = tasks.parameters {
  seconds = 20.0, -- [s]
  runs = 1,       -- with other starts; the figures are means
  cases = "bisection:1e-6:1e-3 pgs:1e-8:1e-3 pgs:1e-6:1e-3 bisection:1e-6:5e-4",
  sample = 0.5,   -- [s] between points
  table = "", plot = "",
}
local settled = 3   -- by then the feet are on the ground [s]
local length = 0.56 -- of a leg [m]

local function run_case(method, tolerance, dt, seed)
  local q = setmetatable({ tolerance = tolerance, dt = dt, seed = seed }, { __index = p })
  local run = tasks.make("hang", q, tasks.solver(method, q))
  local every = math.floor(p.sample / dt + 0.5)
  local line = { x = {}, y = {}, unsolved = 0, solve_us = 0, solver = 0, fastest = 0, arcs = 0, largest_arc = 0, deepest = 0, steps = 0, on_feet = 0 }
  local sunk, first = 0, nil -- now, and when it has settled
  for step in tasks.run(run, p.seconds) do
    line.unsolved, line.solve_us = line.unsolved + (step.converged and 0 or 1), line.solve_us + step.solve_us
    local contacts = step:contacts()
    sunk = #contacts > 0 and tally.depth(step) or sunk
    if step.time > settled then
      local into, rate = 0, 0
      for _, contact in ipairs(contacts) do into = into - math.min(0, contact.separation_speed) / #contacts end
      for i, value in ipairs(run.robot:v()) do rate = i > 3 and math.max(rate, math.abs(value)) or rate end -- the first three are the trunk's speed
      local arc = 0.5 * (dt * rate) ^ 2 * length
      line.solver, line.fastest = line.solver + dt * into, math.max(line.fastest, into)
      line.arcs, line.largest_arc = line.arcs + arc, math.max(line.largest_arc, arc)
      line.steps, line.on_feet = line.steps + 1, line.on_feet + (#contacts == 4 and 1 or 0)
      first = first or sunk
      line.deepest = math.max(line.deepest, sunk - (p.correction and 0 or first))
      if step.index % every == 0 then line.x[#line.x + 1], line.y[#line.y + 1] = step.time, -sunk end
    end
  end
  run.world:close()
  line.sunk = sunk
  return line
end

-- Runs of a case as one line: means, and the largest of what is bounded.
local function combine(lines)
  local out = { x = lines[1].x, y = {}, least = math.huge, most = -math.huge, fastest = 0, deepest = 0, largest_arc = 0, within = 0 }
  for i in ipairs(out.x) do
    out.y[i] = 0
    for _, line in ipairs(lines) do out.y[i] = out.y[i] + line.y[i] / #lines end
  end
  for _, line in ipairs(lines) do
    for _, key in ipairs { "unsolved", "solve_us", "solver", "arcs", "sunk", "steps", "on_feet" } do out[key] = (out[key] or 0) + line[key] / #lines end
    for _, key in ipairs { "fastest", "deepest", "largest_arc" } do out[key] = math.max(out[key], line[key]) end
    out.least, out.most = math.min(out.least, line.sunk), math.max(out.most, line.sunk)
    out.within = math.max(out.within, line.deepest / (p.correction and line.largest_arc or line.arcs))
  end
  return out
end

local file = p.table ~= "" and assert(io.open(p.table, "w"))
if file then file:write "case,time_s,foot_height_m\n" end
local series, steps = {}, {}
print(("%-26s %10s %20s %14s %14s %11s %9s"):format("case", "sunk [m]", "of the runs", "by the solver", "arcs, at most", "solver [s]", "unsolved"))
for case in p.cases:gmatch "%S+" do
  local method, tolerance, dt = case:match "^(%w+):([^:]+):([^:]+)$"
  assert(method and tonumber(tolerance) and tonumber(dt), "cases: expected METHOD:TOLERANCE:STEP, got " .. case)
  local lines = {}
  for r = 1, p.runs do lines[r] = run_case(method, tonumber(tolerance), tonumber(dt), p.seed + r - 1) end
  local line = combine(lines)
  line.name = ("%s, %s, %g ms"):format(method, tolerance, 1e3 * tonumber(dt))
  print(("%-26s %10.3g %9.3g to %7.3g %14.2g %14.2g %11.3f %9.1f"):format(line.name, line.sunk, line.least, line.most, line.solver, line.arcs,
    1e-6 * line.solve_us, line.unsolved))
  if file then
    for i, time in ipairs(line.x) do file:write(("%s,%.6g,%.6g\n"):format(case, time, line.y[i])) end
  end
  series[#series + 1] = line
  local key = method .. ":" .. tolerance
  steps[key] = steps[key] or {}
  steps[key][tonumber(dt)] = line
  stn.result(case .. " sunk", line.sunk, "m")
  stn.result(case .. " sunk_least", line.least, "m")
  stn.result(case .. " sunk_most", line.most, "m")
  stn.result(case .. " sunk_by_the_solver", line.solver, "m")
  stn.result(case .. " solver_s", 1e-6 * line.solve_us, "s")
  stn.result(case .. " steps_on_four_feet", 100 * line.on_feet / line.steps, "%")
  if p.correction then
    stn.check(line.name .. ": feet are no deeper than a step's arc", { value = line.within, limit = 1, unit = "of dt^2 w^2 l/2" })
  else
    stn.check(line.name .. ": after 3 s feet sink by less than the arcs", { value = line.within, limit = 1, unit = "of their sum" })
    stn.check(line.name .. ": the solver leaves a speed into the ground", { value = line.fastest, limit = tonumber(tolerance), unit = "m/s" })
  end
  stn.check(line.name .. ": unsolved steps", { value = line.unsolved, limit = 0, unit = "1" })
end
if file then file:close() end
-- Arcs of half the length are a quarter as high, and twice as many.
for key, by_step in pairs(steps) do
  for dt, line in pairs(by_step) do
    local half = by_step[dt / 2]
    if half then
      stn.result(("%s sunk_at_half_of_%g_ms"):format(key, 1e3 * dt), half.sunk / line.sunk, "1")
      stn.check(("%s: with half of %g ms feet sink half as deep, within 50 %%"):format(key, 1e3 * dt), { value = half.sunk / line.sunk, limit = 0.75, unit = "1" })
    end
  end
end
local a, b, c = (steps["bisection:1e-6"] or {})[1e-3], (steps["pgs:1e-6"] or {})[1e-3], (steps["pgs:1e-8"] or {})[1e-3]
if a and b and c then
  stn.result("pgs_1e-6_over_bisection", b.sunk / a.sunk, "1")
  stn.result("pgs_1e-8_over_bisection", c.sunk / a.sunk, "1")
  stn.result("least_of_pgs_1e-6_over_most_of_bisection", b.least / a.most, "1")
  stn.result("pgs_1e-6_over_pgs_1e-8", b.sunk / c.sunk, "1")
  stn.result("pgs_1e-8_solver_time_over_1e-6", c.solve_us / b.solve_us, "1")
end
if p.plot ~= "" then
  chart.write(p.plot, { title = "Hanging: height of the feet over the ground, on average", series = series,
    x = { label = "time [s]" }, y = { label = "m" } })
end
