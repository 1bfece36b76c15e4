-- SPDX-License-Identifier: Apache-2.0
-- At rest nothing trembles, and contact ids stay while the features do that touch.
local stn = require "stiction"

--- Which of the ids are new, of how many; remembers them.
local function watch()
  local before
  return function(contacts)
    local ids, fresh = {}, 0
    for _, contact in ipairs(contacts) do
      assert(not ids[contact.id], "two contacts with one id")
      ids[contact.id] = true
      fresh = fresh + (before and not before[contact.id] and 1 or 0)
    end
    before = ids
    return fresh, #contacts
  end
end

--- Speed of the centre and of the surface by turning, at half the size.
local function speed(body, size)
  local velocity, square = body:velocity(), 0
  for i = 1, 3 do
    square = square + velocity.linear[i] ^ 2 + (velocity.angular[i] * size / 2) ^ 2
  end
  return math.sqrt(square)
end

-- Pairs of bodies on each other, turned and shifted at random: most trembled when only the lowest point of a tilted rim was added.
for _, upper in ipairs { "box", "cylinder" } do
  for _, lower in ipairs { "box", "cylinder" } do
    stn.test(("a %s rests on a %s, and its contact ids stay"):format(upper, lower), function()
      math.randomseed(5)
      local world, bodies = stn.world { dt = 0.002 }, {}
      world:ground {}
      local function add(kind, x, y, z)
        local body = { density = 1000, xyz = { x, y, z }, rpy = { 0, 0, 6 * math.random() } }
        if kind == "box" then
          local edge = kind == lower and upper == "cylinder" and 0.14 or 0.08 -- wide enough for all of a cap
          body.size = { edge, edge * (0.9 + 0.2 * math.random()), 0.1 }
        else
          body.radius, body.length = 0.045 * (0.95 + 0.1 * math.random()), 0.1
        end
        bodies[#bodies + 1] = world[kind](world, body)
      end
      for i = 0, 24 do
        local x, y = i % 5 * 0.3, i // 5 * 0.3
        add(lower, x, y, 0.0502)
        add(upper, x + 0.04 * (math.random() - 0.5), y + 0.04 * (math.random() - 0.5), 0.1505)
      end
      local seen, fresh, changed = 0, 0, watch()
      for step in world:run { seconds = 3 } do
        if step.time > 2 then
          local new, count = changed(step:contacts())
          fresh, seen = fresh + new, seen + count
        end
      end
      local square = 0
      for _, body in ipairs(bodies) do
        square = square + speed(body, 0.1) ^ 2 / #bodies
      end
      -- the creep of a body at rest is sigma mu g dt = 1e-5 m/s; half of these bodies made 2e-4 of the kicks
      assert(math.sqrt(square) < 3e-5, ("rms speed %g m/s"):format(math.sqrt(square)))
      assert(fresh <= 1e-3 * seen, ("%d of %d ids were new"):format(fresh, seen))
    end)
  end
end

--- All ids of the steps after `from` seconds; an error when one comes anew while `steady` holds.
local function keeps_ids(world, from, seconds, what)
  local changed, news = watch(), 0
  for step in world:run { seconds = seconds } do
    if step.time > from then
      news = news + changed(step:contacts())
    end
  end
  assert(news == 0, ("%s: %d new ids"):format(what, news))
end

stn.test("ids stay while a box slides, and while a cylinder rolls", function()
  local world = stn.world { dt = 0.002 }
  world:ground {}
  local box = world:box { size = { 0.2, 0.2, 0.1 }, xyz = { 0, 0, 0.05 } }
  box:apply_force { force = { 0.7 * 9.81 * box:mass(), 0, 0 }, torque = { 0, 0, 1 } } -- mu is 0.5
  keeps_ids(world, 0.1, 1, "sliding box")
  assert(box:speed() > 1, "it slides")
  world = stn.world { dt = 0.002 }
  world:ground {}
  world:cylinder { radius = 0.1, length = 0.4, rpy = { math.pi / 2, 0, 0 }, xyz = { 0, 0, 0.1 }, velocity = { linear = { 1, 0, 0 }, angular = { 0, 10, 0 } } }
  keeps_ids(world, 0.1, 3, "rolling cylinder")
end)

stn.test("the ids of a rocking box are those of its corners", function()
  local world = stn.world { dt = 0.001 }
  world:ground {}
  world:box { size = { 0.1, 0.1, 0.3 }, rpy = { 0, 0.2, 0 }, xyz = { 0, 0, 0.15 * math.cos(0.2) + 0.05 * math.sin(0.2) } }
  local all, count = {}, 0
  for step in world:run { seconds = 2 } do
    for _, contact in ipairs(step:contacts()) do
      count = count + (all[contact.id] and 0 or 1)
      all[contact.id] = true
    end
  end
  assert(count == 4, count .. " ids")
end)
