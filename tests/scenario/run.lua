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
  assert(step.contact_count == #step:contacts() and step.constraints == step.contact_count)
  assert(step.certificate.finite and step.certificate.momentum <= 1e-6)
  assert(step.certificate.cone <= 1e-9 and step.certificate.penetration_m < 1e-3)
  local fields = 0
  for name, value in pairs(step.certificate) do
    assert(step.certificate[name] == value)
    fields = fields + 1
  end
  assert(fields >= 6)
  stn.near(step.energy_J, step.kinetic_J + step.potential_J + step.elastic_J, 1e-12, "energy")
  assert(step.duration_us > 0)
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
  end, "cannot be assigned")
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

stn.test("poses compose and invert", function()
  local a = stn.pose { xyz = { 1, 2, 3 }, rpy = { 0, 0, 90 * stn.deg } }
  stn.near(stn.transform(a, { 1, 0, 0 }), { 1, 3, 3 }, 1e-15, "point")
  local b = stn.compose(a, stn.inverse(a))
  stn.near(b.xyz, { 0, 0, 0 }, 1e-15, "position")
  stn.near(b.quat, { 1, 0, 0, 0 }, 1e-15, "rotation")
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
