-- SPDX-License-Identifier: Apache-2.0
-- Stepping, what a step says, parameters, checks, poses.
local stn = require "stiction"
local files <close> = require "files"()

local function make(dt)
  local world = stn.world { dt = dt or 0.01 }
  world:ground {}
  world:box { size = { 0.1, 0.1, 0.1 }, xyz = { 0, 0, 0.05 } }
  return world
end

stn.test("run makes exactly seconds / dt steps, whatever the rounding", function()
  for _, dt in ipairs { 0.1, 0.01, 0.003, 1 / 3, 0.0007 } do
    local world, count = make(dt), 0
    for _ in world:run { seconds = 21 * dt } do
      count = count + 1
    end
    stn.near(count, 21, 0, "steps")
    for _ in world:run { seconds = 10.5 * dt } do
      count = count + 1
    end
    stn.near(count, 32, 0, "a part of a step is a whole one")
  end
end)

stn.test("run can be left and taken up again", function()
  local world = make()
  for step in world:run { steps = 100 } do
    if step.index == 5 then
      break
    end
  end
  for _ in world:run { steps = 5 } do
  end
  stn.near(world.steps, 10, 0, "steps")
end)

stn.test("a run ends, also when the world is reset inside", function()
  local world, count = make(), 0
  for _ in world:run { steps = 7 } do
    count = count + 1
    world:reset()
  end
  stn.near(count, 7, 0, "steps")
  for _ in world:run { seconds = 0.05 } do
    count = count + 1
    world:reset()
  end
  stn.near(count, 12, 0, "steps")
  stn.near(world.steps, 0, 0, "steps since the reset")
  for _ in world:run { steps = 4 } do
    count = count + 1
    world:step()
  end
  stn.near(count, 14, 0, "a step by hand inside the loop counts")
end)

stn.test("a step tells time, certificate and report", function()
  local world = make()
  local step = world:step()
  stn.near(step.index, 1, 0, "index")
  stn.near(step.time, 0.01, 1e-15, "time")
  assert(step.status == "ok" and step.converged)
  assert(step.contact_count == #step:contacts() and step.constraint_count == step.contact_count)
  assert(step.certificate.finite and step.certificate.momentum <= 1e-6)
  assert(step.certificate.cone <= 1e-9 and step.certificate.penetration_m < 1e-3)
  local fields = 0
  for name, value in pairs(step.certificate) do
    assert(step.certificate[name] == value)
    fields = fields + 1
  end
  assert(fields >= 6)
  stn.near(step.energy_J, step.kinetic_J + step.potential_J + step.elastic_J, 1e-12, "energy")
  assert(step.step_us > 0)
end)

stn.test("a step object keeps its numbers, but its contacts end with it", function()
  local world = make()
  local first = world:step()
  world:step()
  stn.near(first.index, 1, 0, "index")
  stn.fails(function()
    first:contacts()
  end, "step 1 is over")
end)

stn.test("unknown members are errors with the nearest name", function()
  local world = make()
  local step = world:step()
  stn.fails(function()
    return step.certificat
  end, "did you mean 'certificate'?")
  stn.fails(function()
    return step.certificate.momentun
  end, "did you mean 'momentum'?")
  stn.fails(function()
    return world.tme
  end, "did you mean 'time'?")
  stn.fails(function()
    return stn.wrold {}
  end, "did you mean 'world'?")
  stn.fails(function()
    world.dt = 3
  end, "'dt' cannot be assigned; use set_dt")
end)

stn.test("parameters have the type of their default", function()
  local p = stn.params { a = 1.5, b = true, c = "text", d = stn.choice { "x", "y" } }
  assert(p.a == 1.5 and p.b == true and p.c == "text" and p.d == "x")
  stn.fails(function()
    return p.e
  end, "'e'")
  stn.fails(function()
    stn.params { f = {} }
  end, "f must be")
  stn.fails(function()
    stn.params { f = 0 / 0 }
  end, "not a number")
  local q = stn.params { g = stn.number { 3, min = 0 }, h = stn.number { 0.5, min = 0.5, max = 0.5, unit = "m" } }
  assert(q.g == 3 and math.type(q.g) == "integer" and q.h == 0.5)
  stn.fails(function() stn.number { "a", min = 0 } end, "stn.number: needs a number, the default, and min, max or both; got string")
  stn.fails(function() stn.number { min = 0 } end, "stn.number: needs a number")
  stn.fails(function() stn.number { 1 } end, "stn.number: give min, max or both")
  stn.fails(function() stn.number { 1, min = 0, maximum = 2 } end, "maximum")
  stn.fails(function() stn.number { -1, min = 0 } end, "stn.number: the default -1 is not within min = 0 and max = inf")
  stn.fails(function() stn.number { 0 / 0, min = 0 } end, "the default")
end)

stn.test("near and check compare, and NaN never passes", function()
  stn.near(1, 1 + 1e-9, 1e-8)
  for _, bad in ipairs { 2, 0 / 0 } do
    stn.fails(function()
      stn.near(bad, 1, 0.5, "the value")
    end, "the value = ")
  end
  stn.fails(function()
    stn.near({ 1, 2 }, { 1, 3 }, 0.1, "v")
  end, "v[2]")
  assert(stn.check("small", { value = 1, limit = 2, unit = "m" }))
  assert(stn.check("large", { value = 2, least = 2 }))
  assert(stn.check("true", true))
end)

stn.test("signals and a recording", function()
  local world, path = make(), files:path ".csv"
  world:plot("wave", 0)
  world:record(path)
  for step in world:run { steps = 3 } do
    world:plot("wave", step.index)
  end
  world:close_recordings()
  local lines = {}
  for line in io.lines(path) do
    lines[#lines + 1] = line
  end
  os.remove(path .. ".parameters")
  stn.near(#lines, 5, 0, "lines: header, start, three steps")
  assert(lines[1]:find("time_s", 1, true) and lines[1]:find("wave", 1, true), lines[1])
  stn.fails(function()
    make():record "log.xyz"
  end, ".csv")
end)

local function read_lines(path)
  local lines = {}
  for line in io.lines(path) do
    lines[#lines + 1] = line
  end
  os.remove(path .. ".parameters")
  return lines
end

stn.test("a scenario declares the columns of its tables", function()
  local world, path, everything = make(), files:path ".csv", files:path ".csv"
  world:log { "t", "speed, m/s", values = function() return world.time, 10 * world.steps end }
  world:record(path)
  world:record(everything, { "csv", columns = "all" })
  for _ in world:run { steps = 2 } do end
  world:close_recordings()
  local lines = read_lines(path)
  assert(lines[1] == 'step,t,"speed, m/s"', lines[1])
  assert(lines[2] == "0,0,0" and lines[4]:find("^2,0.0.*,20$") and #lines == 4, table.concat(lines, "\n"))
  lines = read_lines(everything)
  assert(lines[1]:find("^step,time_s,q%[") and lines[1]:find(',t,"speed, m/s"$'), lines[1])
end)

stn.test("bad columns are named", function()
  local world = make()
  stn.fails(function() world:log { "t" } end, "'values' must be a function")
  stn.fails(function() world:log { values = print } end, "name the columns")
  stn.fails(function() world:log { 3, values = print } end, "column 1 is a number, must be a name")
  stn.fails(function() world:log { "t", value = print } end, "did you mean 'values'")
  stn.fails(function() world:log { "t", "x", "t", values = print } end, "column 3: there is a column 't' already")
  stn.fails(function() world:log { "step", values = print } end, "column 1: there is a column 'step' already")
  stn.fails(function() world:log { "t", "", values = print } end, "column 2 must be a name")
  stn.fails(function() world:log { "t\0", values = print } end, "column 1 must be a name")
  local answer
  world:log { "t", "x", values = function() return answer() end }
  stn.fails(function() world:log { "t", values = print } end, "once, before the first step")
  answer = function() return 1 end
  stn.fails(function() world:step() end, "values returned 1 number for 2 columns")
  answer = function() return 1, {} end
  stn.fails(function() world:step() end, "column 'x' is a table, must be a number")
  answer = function() error "no more" end
  stn.fails(function() world:step() end, "no more")
  answer = function() return 1, 2 end
  stn.near(world:step().index, 4, 0, "the steps themselves were made")
  local other = make()
  other:step()
  stn.fails(function() other:log { "t", values = print } end, "before the first step")
end)

stn.test("columns are declared before a table is opened", function()
  local world, path = make(), files:path ".csv"
  world:record(path)
  stn.fails(function() world:log { "t", values = function() return world.time end } end, "world:log: before world:record")
  world:close_recordings()
  os.remove(path .. ".parameters")
  world:log { "t", values = function() return world.time end }
  world:record(path)
  world:step()
  world:close_recordings()
  assert(read_lines(path)[1] == "step,t")
end)

stn.test("the values of columns cannot step or close the world, nor its columns change", function()
  for _, what in ipairs { "step", "reset", "close", "close_recordings" } do
    local world = make()
    world:log { "t", values = function() world[what](world) return 1 end }
    stn.fails(function() world:step() end, "world:" .. what .. ": not inside the values of world:log")
    world:close()
  end
  local world, columns = make(), { "t", values = function() return 1 end }
  world:log(columns)
  columns[1] = false
  world:step()
end)

stn.test("a function among the values of a description may close its world", function()
  local world = stn.world {}
  local function heights()
    world:close()
    return 0
  end
  stn.fails(function() world:height_field { size = { 1, 1 }, rows = 2, columns = 2, heights = heights } end, "was closed")
end)
