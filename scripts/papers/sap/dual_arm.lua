-- SPDX-License-Identifier: Apache-2.0
-- The dual-arm study of the SAP paper [castro-2022], section VI-E: scripts/dual_arm.lua, its contacts over time (Fig. 18), and the same
-- by several tolerances, solvers and laws: does it succeed, how exact is it, how many iterations and how long does it take (Figs. 19 to 21).
-- Errors eps_m are those that the core's certificate finds; solvers that end with velocities that go with their impulses have round-off there,
-- and the natural map is what they left over.
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
  contacts = "",   -- SVG files
  errors = "",
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
  told:check()
  told.world:close()
end

--- One line of the table; what was left over beside it.
local function measure(solver, law, tolerance)
  local told = story.new({ solver = solver, law = law, tolerance = tolerance }, quiet)
  told:tell(60)
  local all = told.figures:total()
  local row = { tolerance = tolerance, succeeded = told:succeeded(), iterations = all.iterations / all.steps, most = all.most_iterations,
                mean = all.error / all.steps, median = statistics.median(all.errors), least = math.min(table.unpack(all.errors)),
                largest = all.most_error, ms = all.us / all.steps * 1e-3, factor = all.steps * told.world.dt / (all.us * 1e-6) }
  io.stderr:write(("%-10s %-8s %9.0e  %-4s %10.2f %5d   %8.1e %8.1e %8.1e %8.1e %9.3f %9.1f   %s\n"):format(solver, law, tolerance, row.succeeded and "yes" or "NO",
    row.iterations, row.most, row.least, row.median, row.mean, row.largest, row.ms, row.factor, told.why or ""))
  told.world:close()
  return row
end

local function column(rows, key)
  local values = {}
  for k, row in ipairs(rows) do values[k] = row[key] end
  return values
end

local function draw(path, title, label, rows, keys)
  if path == "" or #rows == 0 then return end
  local series = {}
  for k, key in ipairs(keys) do series[k] = { name = key, x = column(rows, "tolerance"), y = column(rows, key) } end
  chart.write(path, { title = title, x = { label = "tolerance", log = true }, y = { label = label, log = label == "eps_m" }, series = series })
end

if p.contacts ~= "" or p.pictures ~= "" then picture_run() end
local sap = {}
io.stderr:write "solver     law      tolerance  done iterations  most  eps_m min   median     mean      max   ms/step  real time\n"
for solver, law, tolerance in p.runs:gmatch "([%w_]+):([%w_]+):(%S+)" do
  local row = measure(solver, law, assert(tonumber(tolerance), "a tolerance of runs is no number"))
  if solver == "sap" and law == "sap" then sap[#sap + 1] = row end
  stn.check(("%s, %s, %s: the jar was opened, poured out, closed and put back"):format(solver, law, tolerance), row.succeeded)
end
table.sort(sap, function(a, b) return a.tolerance < b.tolerance end)
draw(p.errors, "two arms and a jar: momentum error of a step, SAP", "eps_m", sap, { "largest", "mean", "median", "least" })
draw(p.iterations, "two arms and a jar: iterations per step, SAP", "iterations", sap, { "iterations" })
