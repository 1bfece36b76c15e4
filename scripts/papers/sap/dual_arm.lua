-- SPDX-License-Identifier: Apache-2.0
-- The dual-arm study of the SAP paper [castro-2022], section VI-E: scripts/dual_arm.lua, its contacts over time (Fig. 18), and the same
-- by several tolerances, solvers and laws: does it succeed, how exact is it, how many iterations and how long does it take (Figs. 19 to 21).
-- Errors eps_m, eq. (32), and defects eps_mu, eq. (33), are those that the core's certificate finds from v and gamma. Solvers that end with
-- velocities that go with their impulses have round-off in eps_m, sap has it in eps_mu. --set solver.anticipate=false is Newton's method as
-- published.
--
--   stiction run scripts/papers/sap/dual_arm.lua --set contacts=contacts.svg --set errors=errors.svg --set iterations=iterations.svg
--   stiction run scripts/papers/sap/dual_arm.lua --set runs= --set pictures=.            only pictures of six moments
local stn = require "stiction"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
package.path = folder .. "../../?.lua;" .. package.path
local story = require "dual_arm.story"
local chart = require "chart"
local statistics = require "statistics"

local p = stn.params {
  runs = "sap:sap:1e-1 sap:sap:1e-2 sap:sap:1e-3 sap:sap:1e-4 sap:sap:1e-5 sap:sap:1e-6 sap:lagged:1e-3 sap:similar:1e-3", -- solver:law:tolerance
  contacts = "",   -- SVG files: contacts over time; errors, defects and iterations over the tolerance
  errors = "",
  defects = "",
  iterations = "",
  pictures = "",   -- a folder for six PNG files
}

local MOMENTS = { 1.0, 5.85, 8.4, 12.0, 20.1, 28.6 } -- [s]: reaching, both hold, off, pouring, closing, done

local function quiet() end

local function take_pictures(world)
  for k, time in ipairs(MOMENTS) do
    stn.wait_until(function() return world.time >= time end)
    world:record(("%s/dual_arm_%d.png"):format(p.pictures, k), { "png", azimuth = -35, elevation = 28, distance = 1.5, field_of_view = 38,
      target = { -0.13, -0.04, 0.25 }, width = 600, height = 433 })
    stn.wait()
    world:close_recordings()
  end
end

local function draw_contacts(told)
  local series = {}
  for k, f in ipairs(told.figures.stages) do series[k] = { name = f.name, x = f.times, y = f.counts } end
  chart.write(p.contacts, { title = "two arms and a jar: contacts", x = { label = "time [s]" }, y = { label = "contacts" }, series = series })
end

local function picture_run()
  local told = story.new({}, print)
  if p.pictures ~= "" then told.world:task("pictures", take_pictures, told.world) end
  told:tell(60)
  if p.contacts ~= "" then draw_contacts(told) end
  told.figures:report()
  stn.result("dofs", #told.world:state().v, "1")
  told:check()
  told.world:close()
end

--- Mean, median, least and largest of a figure of every step.
local function spread(values)
  return { mean = statistics.mean(values), median = statistics.median(values), least = math.min(table.unpack(values)), largest = math.max(table.unpack(values)) }
end

--- One line of the table.
local function measure(solver, law, tolerance)
  local told = story.new({ solver = solver, law = law, tolerance = tolerance }, quiet)
  told:tell(60)
  local all = told.figures:total()
  local row = { tolerance = tolerance, succeeded = told:succeeded(), iterations = all.iterations / all.steps, most = all.most_iterations,
                errors = spread(all.errors), defects = spread(all.defects), solve_us = all.solve_us, ms = all.us / all.steps * 1e-3, factor = all.steps * told.world.dt / (all.us * 1e-6) }
  local e = row.errors
  io.stderr:write(("%-10s %-8s %9.0e  %-4s %10.2f %5d   %8.1e %8.1e %8.1e %8.1e   %8.1e %8.1e %9.3f %9.1f   %s\n"):format(solver, law, tolerance,
    row.succeeded and "yes" or "NO", row.iterations, row.most, e.least, e.median, e.mean, e.largest, row.defects.mean, row.defects.largest, row.ms, row.factor,
    told.why or ""))
  told.world:close()
  return row
end

local first -- row
local function report(solver, law, word, row)
  first = first or row
  local name, tolerance = ("%s_%s_%s"):format(solver, law, word), row.tolerance
  stn.result(name .. "_iterations", row.iterations, "1")
  stn.result(name .. "_mean_eps_m", row.errors.mean, "1")
  stn.result(name .. "_median_over_mean_eps_m", row.errors.median / row.errors.mean, "1")
  stn.result(name .. "_largest_eps_m", row.errors.largest, "1")
  stn.result(name .. "_ms", row.ms, "ms")
  stn.result(name .. "_time_over_the_first", row.solve_us / first.solve_us, "1") -- of the solver
  stn.result(name .. "_iterations_over_the_first", row.iterations / first.iterations, "1")
  stn.check(name .. ": the jar was opened, poured out, closed and put back", row.succeeded)
  -- islands that each keep the tolerance: README
  stn.check(name .. ": largest eps_m", { value = row.errors.largest, limit = math.sqrt(2) * tolerance })
  if law == "sap" then -- other laws have no such complementarity
    stn.result(name .. "_mean_eps_mu", row.defects.mean, "1")
    stn.result(name .. "_largest_eps_mu", row.defects.largest, "1")
    stn.result(name .. "_largest_over_mean_eps_mu", row.defects.largest / row.defects.mean, "1")
    if solver == "sap" then -- others end by other measures
      stn.check(name .. ": largest eps_mu", { value = row.defects.largest, limit = 2 ^ -52 })
    end
  end
end

local KEYS = { "largest", "mean", "median", "least" }

--- Lines over the tolerance for every solver that was run by law sap; value(row, key) for every key.
local function draw(path, title, label, by_solver, keys, value)
  local series = {}
  for solver, rows in pairs(by_solver) do
    for _, key in ipairs(keys) do
      local line = { name = key == "" and solver or solver .. ": " .. key, x = {}, y = {} }
      for k, row in ipairs(rows) do line.x[k], line.y[k] = row.tolerance, value(row, key) end
      series[#series + 1] = line
    end
  end
  if path == "" or #series == 0 then return end
  table.sort(series, function(a, b) return a.name < b.name end)
  chart.write(path, { title = "two arms and a jar: " .. title, x = { label = "tolerance", log = true }, y = { label = label, log = label ~= "iterations" },
    series = series, legend = #series > 4 and "beside" or nil })
end

if p.contacts ~= "" or p.pictures ~= "" then picture_run() end
local by_solver = {} -- rows of the law sap
io.stderr:write "solver     law      tolerance  done iterations  most  eps_m min   median     mean      max  eps_mu mean   max   ms/step  real time\n"
for solver, law, word in p.runs:gmatch "([%w_]+):([%w_]+):(%S+)" do
  local row = measure(solver, law, assert(tonumber(word), "a tolerance of runs is no number"))
  report(solver, law, word, row)
  if law == "sap" then
    local rows = by_solver[solver] or {}
    by_solver[solver], rows[#rows + 1] = rows, row
  end
end
for _, rows in pairs(by_solver) do table.sort(rows, function(a, b) return a.tolerance < b.tolerance end) end
draw(p.errors, "momentum error of a step", "eps_m", by_solver, KEYS, function(row, key) return row.errors[key] end)
draw(p.defects, "defect of complementarity of a step", "eps_mu", by_solver, KEYS, function(row, key) return row.defects[key] end)
draw(p.iterations, "iterations per step", "iterations", by_solver, { "" }, function(row) return row.iterations end)
