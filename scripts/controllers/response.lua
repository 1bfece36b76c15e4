-- SPDX-License-Identifier: Apache-2.0
-- Every controller on the iiwa 14: a step, a sine, a push on a table. A table on stderr, with --set csv=FILE its rows as CSV, with
-- --set folder=DIR charts.
--
--   stiction run -q scripts/controllers/response.lua --set folder=docs/pictures
local stn = require "stiction"
local worse = require "worse"
local plant, controls, chart = require "plant", require "controls", require "chart"

local p = stn.params {
  dt = 1e-3,        -- [s]
  step = 0.05,      -- of joint 4 [rad], of the link to the side [m]
  amplitude = 0.2,  -- of the sine, 1 - cos, of all joints [rad]
  swing = 0.05,     -- of that of the link, to the side [m]
  rate = 0.5,       -- of both [Hz]
  depth = 0.01,     -- how far under the table the ball is asked to be [m]
  csv = "", folder = "", -- the file for the table, the folder for charts; empty: none
}
local height = 0.3 -- of the table [m]
local gap = 1e-5   -- above it, at the start [m]
local stepped = 4  -- the joint

local function moved(list, at, by)
  local copy = table.move(list, 1, #list, 1, {})
  copy[at] = copy[at] + by
  return copy
end

local function zeros(count)
  local list = {}
  for i = 1, count do
    list[i] = 0
  end
  return list
end

-- ------------------------------------------------------------------------------------------------------ runs

-- A run: reference(t) from `from`, where what moves is at the start; on_step(world, arm, t, goal, is).
local function run(control, options)
  local world <close>, arm, ball = plant.new { dt = p.dt, table = options.table }
  if options.start then
    plant.place(arm, options.start(arm))
  end
  local link = control.moves == "link" and arm:link(control.link)
  local function present() return control.moves == "joints" and arm:q() or link:position() end
  local from = present()
  local reference = options.reference(from, world, arm)
  control.add(world, arm, reference, options.seconds)
  for _ in world:run { seconds = options.seconds } do
    options.on_step(world.time, reference(world.time).position, present(), { world = world, arm = arm, ball = ball })
  end
end

-- Rise from 10 to 90 %, overshoot and settling to 2 % of where it ends, and how much of the step is missing there.
local function judge_step(line)
  local last = line.y[#line.y]
  local function first(level)
    for i, y in ipairs(line.y) do
      if y >= level * last then return line.x[i] end
    end
  end
  local highest, settled = 0, 0
  for i, y in ipairs(line.y) do
    highest = math.max(highest, y)
    settled = math.abs(y - last) > 0.02 * math.abs(last) and line.x[i] or settled
  end
  local row = { missing = 100 * (1 - last) }
  if last > 0.1 then -- else it went elsewhere
    row.rise, row.overshoot, row.settling = first(0.9) - first(0.1), 100 * (highest / last - 1), settled
  end
  return row
end

local function step(control)
  local line, other = { name = control.name, x = { 0 }, y = { 0 } }, 0
  local at = control.moves == "joints" and stepped or 2
  local start
  run(control, {
    seconds = 1,
    reference = function(from)
      local goal = { position = moved(from, at, p.step), velocity = zeros(#from), acceleration = zeros(#from) }
      start = from
      return function() return goal end
    end,
    on_step = function(t, _, is)
      line.x[#line.x + 1], line.y[#line.y + 1] = t, (is[at] - start[at]) / p.step
      for i = 1, #is do
        other = i ~= at and math.max(other, math.abs(is[i] - start[i]) / p.step) or other
      end
    end,
  })
  local row = judge_step(line)
  row.others = 100 * other
  return row, line
end

local function sine(control)
  local line, sum, count, largest = { name = control.name, x = {}, y = {} }, 0, 0, 0
  local w, seconds = 2 * math.pi * p.rate, 2 / p.rate
  run(control, {
    seconds = seconds,
    reference = function(from)
      local joints = control.moves == "joints"
      return function(t)
        local goal = { position = {}, velocity = {}, acceleration = {} }
        for i, q in ipairs(from) do
          local a = joints and p.amplitude or i == 2 and p.swing or 0
          goal.position[i] = q + a * (1 - math.cos(w * t))
          goal.velocity[i] = a * w * math.sin(w * t)
          goal.acceleration[i] = a * w * w * math.cos(w * t)
        end
        return goal
      end
    end,
    on_step = function(t, goal, is)
      local most = 0
      for i = 1, #is do
        local e = math.abs(is[i] - goal[i])
        sum, count, most = sum + e * e, count + 1, math.max(most, e)
      end
      largest = worse(largest, most)
      line.x[#line.x + 1], line.y[#line.y + 1] = t, most
    end,
  })
  return { rms = math.sqrt(sum / count), max = largest }, line
end

-- From where it just does not touch the table to `depth` under it within half a second, then 1.5 s there.
local function push(control)
  local line, last = { name = control.name, x = {}, y = {} }, {}
  local above
  run(control, {
    seconds = 2, table = height,
    start = function(arm)
      above = plant.pointing_down(arm, height + gap, plant.start)
      return above
    end,
    reference = function(from, _, arm)
      local to = control.moves == "joints" and plant.pointing_down(arm, height - p.depth, above) or moved(from, 3, -gap - p.depth)
      return function(t)
        local u = math.min(t / 0.5, 1)
        local s, rate = u * u * (3 - 2 * u), 6 * u * (1 - u) / 0.5
        local goal = { position = {}, velocity = {}, acceleration = zeros(#from) }
        for i, q in ipairs(from) do
          goal.position[i], goal.velocity[i] = q + s * (to[i] - q), rate * (to[i] - q)
        end
        return goal
      end
    end,
    on_step = function(t, _, _, scene)
      local force = scene.world:contact_force(scene.ball, scene.world:group "table").normal_force
      if force > 1 then -- of a logarithmic axis
        line.x[#line.x + 1], line.y[#line.y + 1] = t, force
      end
      if t > 1.5 then
        last[#last + 1] = force
      end
    end,
  })
  local least, most, peak, mean = math.huge, 0, 0, 0
  for _, force in ipairs(last) do
    least, most, mean = math.min(least, force), math.max(most, force), mean + force / #last
  end
  for _, force in ipairs(line.y) do
    peak = worse(peak, force)
  end
  return { force = mean, peak = peak, trembling = most - least }, line
end

-- ------------------------------------------------------------------------------------------------- the table

local columns = {
  { "controller", "%-20s" }, { "moves", "%-7s" }, { "rise", "%8.3g", "s" }, { "overshoot", "%9.3g", "%" }, { "settling", "%8.3g", "s" },
  { "missing", "%8.3g", "%" }, { "others", "%8.3g", "%" }, { "rms", "%9.3g", "rad, m" }, { "max", "%9.3g", "rad, m" },
  { "force", "%9.4g", "N" }, { "peak", "%9.4g", "N" }, { "trembling", "%9.2g", "N" }, { "note", "  %s" },
}

local function print_line(value_of)
  local line = {}
  for i, column in ipairs(columns) do
    local value, format = value_of(column), column[2]
    line[i] = type(value) == "number" and format:format(value) or ("%" .. (format:match "%-?%d+" or "") .. "s"):format(value or "-")
  end
  io.stderr:write((table.concat(line, " "):gsub("%s+$", "")), "\n")
end

local function write_csv(path, rows)
  local file = assert(io.open(path, "w"))
  local function put(value_of)
    local fields = {}
    for i, column in ipairs(columns) do
      fields[i] = tostring(value_of(column) or ""):gsub(",", ";")
    end
    file:write(table.concat(fields, ","), "\n")
  end
  put(function(column) return column[3] and ("%s_%s"):format(column[1], (column[3]:gsub("%%", "percent"):gsub(", ", "_or_"))) or column[1] end)
  for _, row in ipairs(rows) do
    put(function(column) return row[column[1]] end)
  end
  file:close()
end

local studies = { step = step, sine = sine, push = push }
local lines = { step = {}, push = {}, sine_joints = {}, sine_link = {} }
local rows = {}
print_line(function(column) return column[1] end)
print_line(function(column) return column[3] and "[" .. column[3] .. "]" or "" end)
local color = 0
for _, control in ipairs(controls.list()) do
  color = color + (control.moves and 1 or 0)
  local row = { controller = control.name, moves = control.moves, note = control.note }
  for _, name in ipairs(control.moves and { "step", "sine", "push" } or {}) do
    local ok, values, line = pcall(studies[name], control)
    if ok then
      for key, value in pairs(values) do row[key] = value end
      line.color = color
      table.insert(lines[name == "sine" and "sine_" .. control.moves or name], line)
    else
      row.note = ("%s: %s"):format(name, tostring(values):gsub("^%S+:%d+: ", ""))
    end
  end
  rows[#rows + 1] = row
  print_line(function(column) return row[column[1]] end)
end

if p.csv ~= "" then
  write_csv(p.csv, rows)
end
if p.folder ~= "" then
  local function draw(name, title, series, y, log)
    if #series > 0 then
      chart.write(("%s/controllers_%s.svg"):format(p.folder, name), { title = title, x = { label = "time [s]" }, y = { label = y, log = log },
        legend = "beside", series = chart.thinned(series, 250) })
    end
  end
  draw("step", ("A step of %g rad of joint 4, of %g m of a link"):format(p.step, p.step), lines.step, "part of the step [1]")
  draw("sine_joints", ("Error along a sine of %g rad at %g Hz of all joints: the largest"):format(p.amplitude, p.rate), lines.sine_joints, "error [rad]", true)
  draw("sine_link", ("Error along a sine of %g m at %g Hz of a link"):format(p.swing, p.rate), lines.sine_link, "error [m]", true)
  draw("push", ("A ball on the flange asked to be %g mm under a table"):format(1000 * p.depth), lines.push, "contact force [N]", true)
end
