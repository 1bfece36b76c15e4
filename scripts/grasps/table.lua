-- SPDX-License-Identifier: Apache-2.0
-- How fast objects creep out of grasps, and down a slope: every scene with every solver and law that `stiction plugins` lists, beside what
-- their theory predicts. A solver or law that refuses a scene is in the table with its reason.
local stn = require "stiction"
local grasp = require "grasp"
local chart = require "chart"

local p = stn.params {
  scenes = "", solvers = "", laws = "", -- those named only; empty: all
  tolerance = 1e-9,
  dt = 0.002,               -- [s]
  seconds = 60.0,           -- [s]
  stiction = 60.0,          -- the same with true stiction for so long [s]; 0: not
  csv = "", plot = "",      -- files to write: the table, an SVG chart
}

-- The words of the parameter `name`, each one of `known`; all of these when it has none.
local function chosen(name, known)
  local list, is_known = {}, {}
  for _, word in ipairs(known) do is_known[word] = true end
  for word in p[name]:gmatch "[^%s,]+" do
    if not is_known[word] then
      error(("%s: '%s' is none of %s"):format(name, word, table.concat(known, ", ")), 0)
    end
    list[#list + 1] = word
  end
  return #list > 0 and list or known
end

-- Of redundant contacts only as few corners carry as can: a grip turns about them, which is no creep (docs/grasps.md). Shown, not judged.
local on_corners = { lemke = true }
-- Laws on which `stiction = true` has no effect; a warning says so. Shown, not judged.
local never_held = { penalty = true }

-- Pairs of a solver and a law; solvers with friction of their own take none.
local function combinations()
  local list, solvers, laws = {}, chosen("solvers", stn.plugins "solver"), chosen("laws", stn.plugins "law")
  for _, solver in ipairs(solvers) do
    for _, law in ipairs(grasp.takes_law(solver) and laws or { "-" }) do
      list[#list + 1] = { solver = solver, law = law }
    end
  end
  return list
end

-- A measurement, or nil and why there is none.
local function try(scene, combination, changes)
  local all = grasp.parameters(scene, { solver = combination.solver, law = combination.law, tolerance = p.tolerance, dt = p.dt })
  for name, value in pairs(changes) do all[name] = value end
  local ok, m = pcall(grasp.measure, scene, all)
  if ok then
    return m
  end
  return nil, (tostring(m):gsub("^%S+:%d+: ", ""):gsub("%s+", " "))
end

local function measure(scene, combination)
  local m, reason = try(scene, combination, { seconds = p.seconds })
  local row = { scene = scene.name, solver = combination.solver, law = combination.law, note = "" }
  if not m then
    row.note = "refused: " .. reason
    return row
  end
  row.creep, row.predicted, row.settled, row.iterations = 1e6 * m.creep, m.predicted and 1e6 * m.predicted, 1e6 * m.settled, m.iterations
  row.unsolved, row["load/limit"] = m.unsolved, m.hold
  local held, why
  if p.stiction > 0 then
    held, why = try(scene, combination, { seconds = p.stiction, stiction = true })
  end
  row.held, row.moved = held and 1e6 * held.creep, held and 1e6 * held.moved
  row.unsolved_held = held and held.unsolved
  row.note = why and "with stiction refused: " .. why or (row.unsolved_held or 0) > 0 and row.unsolved_held .. " not converged with stiction" or ""
  return row
end

local columns = {
  { "scene", "%-15s" }, { "solver", "%-10s" }, { "law", "%-19s" }, { "creep", "%12.4g", "um_per_s" }, { "predicted", "%12.4g", "um_per_s" },
  { "held", "%10.2g", "um_per_s" }, { "moved", "%10.2g", "um" }, { "settled", "%10.4g", "um" }, { "load/limit", "%10.3f", "1" }, { "iterations", "%10.2f", "1" }, { "unsolved", "%9d", "steps" }, { "note", "  %s" },
}

local function print_line(value_of)
  local line = {}
  for i, column in ipairs(columns) do
    local text, value = column[2], value_of(column)
    line[i] = (type(value) == "number" and text or text:gsub("%.?%d*[gfd]$", "s")):format(value)
  end
  io.stderr:write(table.concat(line, " "), "\n")
end

local function write_csv(path, rows)
  local file = assert(io.open(path, "w"))
  local head = {}
  for i, column in ipairs(columns) do head[i] = column[3] and ("%s[%s]"):format(column[1], column[3]) or column[1] end
  file:write(table.concat(head, ","), "\n")
  for _, row in ipairs(rows) do
    local cells = {}
    for i, column in ipairs(columns) do
      local value = row[column[1]]
      cells[i] = type(value) == "number" and ("%.17g"):format(value) or ('"%s"'):format((value or ""):gsub('"', "'"))
    end
    file:write(table.concat(cells, ","), "\n")
  end
  assert(file:close())
end

-- Creep over the scenes: a line a law, whose creep is the same under every solver that takes it, and a line a solver without.
local function draw(path, rows, scenes)
  local place, names, series, by_name = {}, {}, {}, {}
  for i, scene in ipairs(scenes) do place[scene.name], names[i] = i, i .. " " .. scene.name end
  for _, row in ipairs(rows) do
    if row.creep then
      local name = row.law == "-" and row.solver or row.law
      if not by_name[name] then
        by_name[name] = { name = name, x = {}, y = {} }
        series[#series + 1] = by_name[name]
      end
      local line = by_name[name]
      if line.x[#line.x] ~= place[row.scene] then
        line.x[#line.x + 1], line.y[#line.y + 1] = place[row.scene], math.abs(row.creep)
      end
    end
  end
  chart.write(path, {
    title = ("Creep within %g s, steps of %g ms"):format(p.seconds, 1e3 * p.dt), x = { label = table.concat(names, ", ") },
    y = { label = "creep [um/s]", log = true }, series = series,
  })
end

local scenes, rows = {}, {}
for i, name in ipairs(chosen("scenes", { "slope", "pinch", "palms", "three_finger", "lift_and_shake", "screwdriver" })) do scenes[i] = require(name) end
local list = combinations()
print_line(function(column) return column[1] end)
for _, scene in ipairs(scenes) do
  for _, combination in ipairs(list) do
    local row = measure(scene, combination)
    rows[#rows + 1] = row
    if row.creep or row.note ~= combination.refused then -- the same refusal is said once
      print_line(function(column) return row[column[1]] or "" end)
    end
    combination.refused = not row.creep and row.note or nil
    if row.predicted and row.unsolved == 0 and not on_corners[row.solver] then
      stn.check(("%s, %s, %s: creep as predicted, off by"):format(row.scene, row.solver, row.law),
        { value = math.abs(row.creep - row.predicted), limit = 2e-3 * row.predicted + 1e-4, unit = "um/s" })
    end
    if row.moved and row.unsolved_held == 0 and not on_corners[row.solver] and not never_held[row.law] then
      stn.check(("%s, %s, %s: held still with true stiction"):format(row.scene, row.solver, row.law),
        { value = math.abs(row.moved), limit = 1e-5, unit = "um" })
    end
  end
end
if p.csv ~= "" then
  write_csv(p.csv, rows)
end
if p.plot ~= "" then
  draw(p.plot, rows, scenes)
end
