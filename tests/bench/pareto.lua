-- SPDX-License-Identifier: Apache-2.0
-- Charts and tables of error against time, of scale and of threads, from the rows that the benchmarks `pareto` and `scale` wrote:
--   STICTION_BENCH_ROWS=rows.csv ./dev bench pareto
--   stiction run tests/bench/pareto.lua --set rows=rows.csv --set folder=. > pareto.md
-- folder: for each scene pareto_SCENE.svg, error over time and overlap over time, and scale.svg. page: a page whose parts between
-- "<!-- pareto -->" and "<!-- /pareto -->", and likewise scale and threads, are replaced by what is printed otherwise; its charts lie in
-- the folder pictures beside it. ./dev bench --write does both. A scene that stands in the rows twice counts as it was the last time.
local stn = require "stiction"
local chart = require "chart"

local p = stn.params { rows = "", folder = "", page = "" }
local file = assert(io.open(p.rows), "--set rows=FILE: what STICTION_BENCH_ROWS named")

local blocks = { pareto = {}, scale = {}, threads = {} } -- of each the scenes, in order, and by name
for line in file:lines() do
  local part, scene, name, quantity, value = line:match '^([^,]*),"([^"]*)",([^,]*),([^,]*),[^,]*,([^,]*)$'
  local scenes = blocks[part]
  if scenes then
    local runs = scenes[scene]
    if not runs then
      runs = { name = scene, of = {} }
      scenes[scene], scenes[#scenes + 1] = runs, runs
    end
    if quantity == "" then
      if runs.of[name] then -- the scene was run again
        for i = #runs, 1, -1 do runs[i] = nil end
        runs.of = {}
      end
      local run = { name = name, engine = name:match "^%S+", us = tonumber(value) } -- us nil: left out
      runs.of[name], runs[#runs + 1] = run, run
    else
      runs.of[name][quantity] = tonumber(value)
    end
  end
end
file:close()
assert(#blocks.pareto + #blocks.scale + #blocks.threads > 0, p.rows .. ": no rows of the benchmarks pareto and scale")

local function known(x) return x ~= nil and x == x end

local function figure(x, format) return known(x) and (format or "%.3g"):format(x) or "-" end

-- Microseconds with a comma between thousands.
local function micros(us)
  if not known(us) then return "-" end
  local text = (us < 100 and "%.1f" or "%.0f"):format(us)
  local whole, rest = text:match "^(%d+)(.*)$"
  while true do
    local count
    whole, count = whole:gsub("^(%d+)(%d%d%d)", "%1,%2")
    if count == 0 then return whole .. rest end
  end
end

-- ------------------------------------------------------------------------------------------------- error against time

local apart = 1e3 -- energy that no scene has to give [J]: the run flew apart

local function counts(run) return known(run.us) and not run.cut and (run.energy or 0) < apart end

local amounts = { tolerance = true, iterations = true, max_iterations = true, sweeps = true, substeps = true }
local least = { error = 1e-10, overlap = 1e-4 } -- of a chart: what is below is drawn there

-- A line for each engine or solver, one more for each of its ways ("cg=1"); along it, how much it does. An engine has one colour.
local function lines(runs, key)
  local series, at, colors, count = {}, {}, {}, 0
  for _, run in ipairs(runs) do
    if not colors[run.engine] then
      count = count + 1
      colors[run.engine] = count
    end
    local y = run[key]
    if counts(run) and known(y) and y >= 0 then
      local name = run.name:gsub(" (%S+)=%S+", function(word) return amounts[word] and "" or nil end)
      local line = at[name]
      if not line then
        line = { name = name, x = {}, y = {}, color = colors[run.engine] }
        at[name], series[#series + 1] = line, line
      end
      line.x[#line.x + 1], line.y[#line.y + 1] = run.us, math.max(y, least[key])
    end
  end
  return series
end

-- Who is first: no other is faster with at most its error. Below the least it is all the same.
local function is_first(run, runs)
  if not counts(run) or not known(run.error) then return false end
  for _, other in ipairs(runs) do
    local better = other ~= run and counts(other) and known(other.error) and other.us < run.us
    if better and math.max(other.error, least.error) <= math.max(run.error, least.error) then return false end
  end
  return true
end

local function add_pareto(out, runs)
  local title = runs.name:gsub("_", " ")
  if p.folder ~= "" then
    local x, charts = { label = "median time of a step [us]", log = true }, {}
    for _, what in ipairs { { "error", title .. ": error against time", "error E of a step, 1e-10: or less" }, { "overlap", "deepest overlap at the end", "mm, 1e-4: or less" } } do
      local series = lines(runs, what[1])
      if #series > 0 then
        charts[#charts + 1] = { title = what[2], x = x, y = { label = what[3], log = true }, series = series, legend = "beside" }
      end
    end
    if #charts > 0 then chart.write(("%s/pareto_%s.svg"):format(p.folder, runs.name), charts) end
  end
  local out_of, seen = {}, {}
  out[#out + 1] = ("### %s\n\n![%s](pictures/pareto_%s.svg)\n"):format(title, title, runs.name)
  out[#out + 1] = "| setting | us a step | E | overlap mm | energy J | first |\n| --- | --- | --- | --- | --- | --- |"
  for _, run in ipairs(runs) do
    if known(run.us) then
      local flew = (run.energy or 0) >= apart
      local time = run.cut and ("cut after %d steps (%s)"):format(run.cut, micros(run.us)) or micros(run.us)
      out[#out + 1] = ("| %s | %s | %s | %s | %s | %s |"):format(run.name, time, figure(run.error, "%.1e"), figure(run.overlap, "%.3f"),
        flew and "flew apart" or figure(run.energy, "%.3f"), is_first(run, runs) and "yes" or "")
    elseif not seen[run.engine] then
      seen[run.engine], out_of[#out_of + 1] = true, run.engine
    end
  end
  out[#out + 1] = ""
  if #out_of > 0 then
    out[#out + 1] = ("Left out, wholly or at some setting, because it cannot hold this scene: %s.\n"):format(table.concat(out_of, ", "))
  end
end

-- ------------------------------------------------------------------------------------------------- scale and threads

local function layout_of(scene)
  local layout, bodies = scene:match "^(%a+)_(%d+)$"
  return layout, tonumber(bodies)
end

local function add_scale(out, scenes)
  local charts = {}
  for _, layout in ipairs { "columns", "heap" } do
    local rows, series, at = {}, {}, {}
    for _, runs in ipairs(scenes) do
      local own, bodies = layout_of(runs.name)
      for _, run in ipairs(own == layout and runs or {}) do
        local time = run.cut and ("%s (of %d steps)"):format(micros(run.us), run.cut) or micros(run.us)
        rows[#rows + 1] = ("| %s | %s | %s | %s | %s | %s | %s | %s |"):format(micros(bodies):gsub("%..*", ""), run.name, time,
          figure(known(run.us) and run.us / bodies, "%.2f"), figure(run.memory and run.memory / 1e3, "%.1f"), figure(run.iterations, "%.1f"),
          figure(run.error, "%.1e"), figure(run.load, "%.0f"))
        if known(run.us) then
          if not at[run.name] then
            at[run.name] = { name = run.engine, x = {}, y = {} }
            series[#series + 1] = at[run.name]
          end
          local line = at[run.name]
          line.x[#line.x + 1], line.y[#line.y + 1] = bodies, run.us
        end
      end
    end
    if #rows > 0 then
      out[#out + 1] = ("%s:\n"):format(layout == "heap" and "One heap" or "Columns 0.3 m apart")
      out[#out + 1] = "| bodies | | us a step | us a body | kB a body | iterations | E | script and compiling, ms |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
      for _, row in ipairs(rows) do out[#out + 1] = row end
      local exponents = {}
      for _, run in ipairs(scenes[layout .. ", exponent"] or {}) do exponents[#exponents + 1] = ("%s %s"):format(run.name, figure(run.us, "%.2f")) end
      out[#out + 1] = ("\nExponent of the time over bodies: %s.\n"):format(table.concat(exponents, ", "))
      charts[#charts + 1] = {
        title = layout .. ": time of a step", x = { label = "bodies", log = true }, y = { label = "us", log = true }, series = series, legend = "beside",
      }
    end
  end
  if p.folder ~= "" and #charts > 0 then chart.write(p.folder .. "/scale.svg", charts) end
  out[#out + 1] = "![time of a step over bodies](pictures/scale.svg)\n"
end

local function add_threads(out, scenes)
  out[#out + 1] = "| scene | | one thread, us | two, us | ratio | states |\n| --- | --- | --- | --- | --- | --- |"
  for _, runs in ipairs(scenes) do
    for _, run in ipairs(runs) do
      local states = run.equal == 1 and "equal" or run.equal == 0 and "different" or "cut"
      out[#out + 1] = ("| %s | %s | %s | %s | %s | %s |"):format(runs.name:gsub("_", " "), run.name, micros(run.us), micros(run.two),
        figure(known(run.us) and known(run.two) and run.us / run.two, "%.2f"), states)
    end
  end
  out[#out + 1] = ""
end

-- ------------------------------------------------------------------------------------------------------------- output

local texts = {}
local function add(name, write)
  if #blocks[name] == 0 then return end
  local out = {}
  write(out)
  texts[#texts + 1] = { name = name, text = table.concat(out, "\n") }
end
add("pareto", function(out)
  for _, runs in ipairs(blocks.pareto) do add_pareto(out, runs) end
end)
add("scale", function(out) add_scale(out, blocks.scale) end)
add("threads", function(out) add_threads(out, blocks.threads) end)

if p.page == "" then
  for _, t in ipairs(texts) do print(t.text) end
else
  local page = assert(io.open(p.page))
  local text = page:read "a"
  page:close()
  for _, t in ipairs(texts) do
    local head, tail = ("<!-- %s -->\n"):format(t.name), ("<!-- /%s -->"):format(t.name)
    local _, from = text:find(head, 1, true)
    local to = text:find(tail, 1, true)
    assert(from and to, ("%s: no line %s"):format(p.page, head))
    text = text:sub(1, from) .. t.text .. text:sub(to)
  end
  page = assert(io.open(p.page, "w"))
  page:write(text)
  page:close()
end
