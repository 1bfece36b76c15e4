-- SPDX-License-Identifier: Apache-2.0
-- Charts and a table of error against time, from the rows that the benchmark `pareto` wrote:
--   STICTION_BENCH_ROWS=rows.csv ./dev bench pareto
--   stiction run tests/bench/pareto.lua --set rows=rows.csv --set folder=. > pareto.md
-- folder: for each scene pareto_SCENE.svg, error over time and overlap over time.
local stn = require "stiction"
local chart = require "chart"

local p = stn.params { rows = "", folder = "" }
local file = assert(io.open(p.rows), "--set rows=FILE: what STICTION_BENCH_ROWS named")

local scenes, by_name = {}, {}
for line in file:lines() do
  local part, scene, name, quantity, value = line:match '^([^,]*),"([^"]*)",([^,]*),([^,]*),[^,]*,([^,]*)$'
  if part == "pareto" then
    local runs = by_name[scene]
    if not runs then
      runs = { name = scene }
      by_name[scene], scenes[#scenes + 1] = runs, runs
    end
    local run = runs[#runs]
    if quantity == "" then
      run = { name = name, group = name:match "^%S+", us = tonumber(value) }
      runs[#runs + 1] = run
    else
      run[quantity] = tonumber(value)
    end
  end
end
file:close()
assert(#scenes > 0, p.rows .. ": no rows of the benchmark pareto")

-- A line for each engine or solver, its settings in their order.
local function lines(runs, key)
  local series, at = {}, {}
  for _, run in ipairs(runs) do
    local y = run[key]
    if y and y == y and y > 0 then
      local line = at[run.group]
      if not line then
        line = { name = run.group, x = {}, y = {} }
        at[run.group], series[#series + 1] = line, line
      end
      line.x[#line.x + 1], line.y[#line.y + 1] = run.us, y
    end
  end
  return series
end

-- Who is first: no other is faster with at most its error.
local function is_first(run, runs)
  for _, other in ipairs(runs) do
    if other ~= run and other.error and run.error and other.us < run.us and other.error <= run.error then return false end
  end
  return run.error ~= nil and run.error == run.error
end

for _, runs in ipairs(scenes) do
  if p.folder ~= "" then
    local x = { label = "median time of a step [us]", log = true }
    chart.write(("%s/pareto_%s.svg"):format(p.folder, runs.name), {
      { title = runs.name:gsub("_", ", ") .. ": error against time", x = x, y = { label = "error E of a step", log = true }, series = lines(runs, "error"),
        legend = "beside" },
      { title = "deepest overlap at the end", x = x, y = { label = "mm", log = true }, series = lines(runs, "overlap"), legend = "beside" },
    })
  end
  print(("| %s | us a step | E | overlap mm | energy J | first |\n| --- | --- | --- | --- | --- | --- |"):format(runs.name:gsub("_", ", ")))
  for _, run in ipairs(runs) do
    local error = run.error and run.error == run.error and ("%.1e"):format(run.error) or "-"
    print(("| %s | %.0f | %s | %.3f | %.3f | %s |"):format(run.name, run.us, error, run.overlap, run.energy, is_first(run, runs) and "yes" or ""))
  end
  print ""
end
