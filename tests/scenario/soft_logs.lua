-- SPDX-License-Identifier: Apache-2.0
-- Logs of soft bodies: nodes and what elements tell in files beside the table, forces of contact in it; read back and
-- compared with what the script is told.
local stn = require "stiction"
local files <close> = require "files"()

local function refused(action, ...)
  local message = stn.fails(action)
  assert(not message:find "\n", "more than one line: " .. message)
  for _, text in ipairs { ... } do
    assert(message:find(text, 1, true), ("expected '%s' in: %s"):format(text, message))
  end
end

--- A path for a log, whose companions go with it.
local function log_path()
  local path = files:path ".csv"
  for _, ending in ipairs { ".nodes.csv", ".elements.csv", ".csv.parameters" } do
    files[#files + 1] = path:gsub("%.csv$", ending)
  end
  return path
end

--- Columns of a table by name, as numbers where they are some; count of rows under "rows".
local function read(path)
  local columns, names = { rows = 0 }, {}
  for line in io.lines(path) do
    local k = 0
    for field in (line .. ","):gmatch '([^,]*),' do
      k = k + 1
      if names[k] and columns.rows >= 0 and columns.begun then
        columns[names[k]][columns.rows + 1] = tonumber(field) or field
      else
        names[k], columns[field] = field, {}
      end
    end
    if columns.begun then columns.rows = columns.rows + 1 end
    columns.begun = true
  end
  return columns, names
end

local function two(options)
  local world = stn.world(options or { dt = 5e-3 })
  world:ground { mu = 0.5 }
  local pad = world:soft { name = "pad", box = { 0.1, 0.06, 0.03 }, cells = { 4, 2, 2 }, young = 1e5, density = 1000, damping = 0.01,
    xyz = { 0, 0, 0.05 } }
  local sheet = world:cloth { name = "sheet", size = { 0.1, 0.1 }, cells = 3, density = 300, xyz = { 0, 0, 0.2 }, pinned = "x_min" }
  return world, pad, sheet
end

stn.test("positions and velocities of nodes are written with all their digits, a row each, at whole multiples of the interval", function()
  local world, pad, sheet = two()
  local path = log_path()
  world:record(path, { "csv", nodes = "all", node_velocities = true, node_interval = 0.02 })
  local told = {}
  local function note(step, time)
    for _, soft in ipairs { pad, sheet } do
      local places, speeds = soft:positions(), soft:velocities()
      for n = 1, soft.node_count do
        told[#told + 1] = { step, time, soft.name, n, places[n][1], places[n][2], places[n][3], table.unpack(speeds[n]) }
      end
    end
  end
  note(0, 0)
  for step in world:run { seconds = 0.1 } do
    if step.index % 4 == 0 then note(step.index, step.time) end
  end
  world:close_recordings()
  local log, names = read((path:gsub("%.csv$", ".nodes.csv")))
  assert(table.concat(names, " ") == "step time_s body node x_m y_m z_m vx_m/s vy_m/s vz_m/s", table.concat(names, " "))
  assert(log.rows == #told and #told == 6 * (pad.node_count + sheet.node_count), ("%d rows, %d told"):format(log.rows, #told))
  for row, values in ipairs(told) do
    for k, name in ipairs(names) do
      assert(log[name][row] == values[k], ("row %d, %s: %s, told %s"):format(row, name, log[name][row], values[k]))
    end
  end
  assert(read(path).rows == 21, "the table itself has every step")
end)

stn.test("one body of several, with every row of the table", function()
  local world, pad = two()
  local path = log_path()
  world:record(path, { "csv", nodes = { "pad" }, every = 5, digits = 6 })
  for _ in world:run { steps = 15 } do end
  world:close_recordings()
  local log, names = read((path:gsub("%.csv$", ".nodes.csv")))
  assert(table.concat(names, " ") == "step time_s body node x_m y_m z_m")
  assert(log.rows == 4 * pad.node_count and log.step[log.rows] == 15)
  for row = 1, log.rows do assert(log.body[row] == "pad") end
  local table_names = select(2, read(path))
  for _, name in ipairs(table_names) do
    assert(not name:find "node", "no columns of nodes in the table: " .. name)
  end
end)

stn.test("what elements tell, with empty fields where they do not", function()
  local world, pad, sheet = two()
  local path, solid, flat = log_path(), #pad:output "von_mises", #sheet:output "von_mises"
  world:record(path, { "csv", elements = "pad, sheet", node_interval = 1 })
  for _ in world:run { seconds = 0.2 } do end
  world:close_recordings()
  local log = read((path:gsub("%.csv$", ".elements.csv")))
  assert(log.rows == solid + flat and log.step[log.rows] == 0, log.rows)
  assert(log.pressure_Pa[solid + 1] == "" and log.area_ratio[1] == "" and log.elements[1] == "fem" and log.elements[solid + 1] == "shell")
  path = log_path()
  world:record(path, { "csv", elements = "all", node_interval = 0.1 })
  for _ in world:run { seconds = 0.1 } do end
  world:close_recordings()
  log = read((path:gsub("%.csv$", ".elements.csv")))
  local start = log.rows - solid - flat -- the rows of the last step
  assert(log.step[start + 1] == 60, log.step[start + 1])
  for name, column in pairs { von_mises = "von_mises_Pa", pressure = "pressure_Pa", volume_ratio = "volume_ratio" } do
    for e, value in ipairs(pad:output(name)) do assert(log[column][start + e] == value and log.element[start + e] == e) end
  end
  for e, value in ipairs(sheet:output "area_ratio") do assert(log.area_ratio[start + solid + e] == value) end
end)

stn.test("forces on soft bodies have their columns", function()
  local world, pad = two()
  local path = log_path()
  world:record(path, { "csv", forces = true })
  local told = { [0] = 0 }
  for step in world:run { seconds = 0.5 } do told[step.index] = pad:contact_force().normal_force end
  world:close_recordings()
  local log = read(path)
  assert(log.rows == 101 and log["contact[sheet].normal_N"][101] == 0)
  for row = 1, log.rows do
    assert(log["contact[pad].normal_N"][row] == told[row - 1], "step " .. row - 1)
  end
  stn.near(log["contact[pad].normal_N"][101], pad:mass() * 9.81, 1e-6)
  assert(log["contact[pad].sticking"][101] > 0)
end)

stn.test("a reset begins anew, and what nothing asks for makes no file", function()
  local world = two()
  local path = log_path()
  world:record(path, { "csv", nodes = "sheet", node_interval = 0.05 })
  for _ in world:run { steps = 15 } do end
  world:reset()
  for _ in world:run { steps = 15 } do end
  world:close_recordings()
  local log = read((path:gsub("%.csv$", ".nodes.csv")))
  local steps = {}
  for row = 1, log.rows, 16 do steps[#steps + 1] = log.step[row] end
  assert(table.concat(steps, " ") == "0 10 1 10", table.concat(steps, " ")) -- a reset itself is no step
  assert(not io.open((path:gsub("%.csv$", ".elements.csv"))))
end)

stn.test("what is wrong is one line that says what there is", function()
  local world = two()
  refused(function() world:record(log_path(), { "csv", nodes = "pod" }) end, "nodes = \"pod\": there is no soft body 'pod'; there are 'pad', 'sheet'")
  refused(function() world:record(log_path(), { "csv", elements = "pad,," }) end, "there is no soft body ''")
  refused(function() world:record(log_path(), { "csv", nodes = true }) end, "nodes")
  refused(function() world:record(log_path(), { "csv", nodes = {} }) end, "nodes")
  refused(function() world:record(log_path(), { "csv", nodes = "pad", node_interval = -1 }) end, "node_interval = -1")
  local rigid = stn.world {}
  rigid:box { size = { 1, 1, 1 } }
  refused(function() rigid:record(log_path(), { "csv", nodes = "all" }) end, "the world has none")
end)
