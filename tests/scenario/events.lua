-- SPDX-License-Identifier: Apache-2.0
-- Contacts that begin and end.
local stn = require "stiction"

-- "a-b" of every pair, in the order given.
local function names(pairs_of_links)
  local out = {}
  for _, pair in ipairs(pairs_of_links) do
    out[#out + 1] = pair.a .. "-" .. pair.b
  end
  return table.concat(out, " ")
end

-- A ball falls from 5 cm on a plate that is drawn away from under it, then on the floor.
local function scene()
  local world = stn.world { dt = 1e-3 }
  world:ground { name = "floor" }
  local plate = world:box { name = "plate", size = { 0.4, 0.4, 0.02 }, xyz = { 0, 0, 0.5 } }
  plate:kinematic(function(t)
    local u = math.max(0, t - 0.3)
    return { xyz = { 0, 0, 0.5 - 10 * u * u } }, { linear = { 0, 0, -20 * u } } -- 20 m/s^2: faster than it falls
  end)
  local ball = world:sphere { name = "ball", radius = 0.05, mass = 1, xyz = { 0, 0, 0.61 } }
  return world, ball
end

local function history(world, steps)
  local log = {}
  for step in world:run { steps = steps } do
    local begun, ended = names(step:begun()), names(step:ended())
    if begun ~= "" or ended ~= "" then
      log[#log + 1] = { time = step.time, begun = begun, ended = ended }
    end
  end
  return log
end

stn.test("a ball lands, is left, and lands again, each told once and at its time", function()
  local log = history(scene(), 800)
  assert(#log == 3, "three events, not " .. #log)
  assert(log[1].begun == "plate-ball" and log[1].ended == "")
  assert(log[2].begun == "" and log[2].ended == "plate-ball")
  assert(log[3].begun == "floor-ball" and log[3].ended == "")
  stn.near(log[1].time, math.sqrt(2 * 0.05 / 9.81), 3e-3, "first landing")
  stn.near(log[2].time, 0.301, 1e-9, "the plate leaves")
  stn.near(log[3].time, 0.3 + math.sqrt(2 * 0.51 / 9.81), 4e-3, "second landing")
end)

stn.test("a restored world tells what the first one told", function()
  local world = scene()
  local step
  for s in world:run { steps = 290 } do
    step = s
  end
  assert(names(step:begun()) == "" and names(step:ended()) == "")
  local snapshot = world:snapshot()
  local first = history(world, 400)
  world:restore(snapshot)
  local again = history(world, 400)
  assert(#first == 2 and #again == 2)
  for i = 1, 2 do
    assert(first[i].begun == again[i].begun and first[i].ended == again[i].ended and first[i].time == again[i].time)
  end
end)

stn.test("pairs come in the order of links", function()
  local world = stn.world {}
  for i = 3, 1, -1 do
    world:box { name = "box" .. i, size = { 0.1, 0.1, 0.1 }, xyz = { 0, 0, 0.0499 + 0.0999 * (i - 1) } } -- overlap a little
  end
  world:ground { name = "floor" }
  local step
  for s in world:run { steps = 1 } do
    step = s
  end
  assert(names(step:begun()) == "box3-box2 box2-box1 box1-floor", names(step:begun()))
  world:step()
  local ok, message = pcall(step.begun, step)
  assert(not ok and message:find "is over", message)
end)
