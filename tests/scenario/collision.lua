-- SPDX-License-Identifier: Apache-2.0
-- Impacts: what no contact model may change, momentum; and what it must not create, energy.
local stn = require "stiction"
local worse = require "worse"

stn.test("momentum survives a collision and energy does not grow", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
  world:sphere { name = "a", radius = 0.1, mass = 1, xyz = { -0.5, 0.03, 0 }, velocity = { 2, 0, 0 } }
  world:sphere { name = "b", radius = 0.1, mass = 3, xyz = { 0.2, -0.02, 0.05 }, velocity = { linear = { -1, 0, 0 }, angular = { 0, 4, 0 } } }
  local before, energy = world:momentum(), world:energy().total
  local touched = 0
  for step in world:run { seconds = 0.5 } do
    touched = touched + #step:contacts()
  end
  local after = world:momentum()
  assert(touched > 0, "they must meet")
  stn.near(after.linear, before.linear, 1e-10, "momentum")
  stn.near(after.angular, before.angular, 1e-9, "angular momentum")
  assert(world:energy().total <= energy + 1e-9, "energy was created")
end)

stn.test("a plastic impact ends with a common normal velocity", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
  local a = world:sphere { radius = 0.1, mass = 1, xyz = { -0.3, 0, 0 }, velocity = { 3, 0, 0 } }
  local b = world:sphere { radius = 0.1, mass = 2, xyz = { 0.1, 0, 0 } }
  for _ in world:run { seconds = 0.3 } do
  end
  stn.near(a:velocity().linear[1], 1, 1e-6, "velocity of a")
  stn.near(b:velocity().linear[1], 1, 1e-6, "velocity of b")
end)

stn.test("filters and exclusions let bodies pass", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
  local a = world:sphere { radius = 0.1, xyz = { 0, 0, 0 }, velocity = { 1, 0, 0 }, category = 2, mask = 4 }
  local b = world:sphere { radius = 0.1, xyz = { 0.3, 0, 0 }, category = 8 }
  local c = world:sphere { radius = 0.1, xyz = { 0.6, 0, 0 }, category = 4, mask = 2 }
  world:disable_collisions(a, c)
  for _ in world:run { seconds = 1 } do
  end
  stn.near(a:velocity().linear, { 1, 0, 0 }, 0, "velocity")
  stn.near(b:speed() + c:speed(), 0, 0, "speed of the others")
end)

stn.test("a ball dropped on the ground comes to rest on it", function()
  local world = stn.world { dt = 2e-3 }
  world:ground {}
  local ball = world:sphere { radius = 0.05, xyz = { 0, 0, 0.3 } }
  local deepest = 0
  for step in world:run { seconds = 1 } do
    deepest = worse(deepest, step.overlap_m)
  end
  stn.near(ball:position()[3], 0.05, 1e-4, "height")
  assert(ball:speed() < 1e-4 and deepest < 1e-3)
end)

stn.test("a step size that is set before the first step counts as if the world had been made with it", function()
  -- wide boxes slide and meet: which pairs are in reach follows from dt
  local function slide(made_with, set)
    local world = stn.world { dt = made_with }
    world:ground {}
    if set then world:set_dt(set) end
    for i = 1, 6 do
      world:box { size = { 0.1, 0.1, 0.1 }, xyz = { 0.13 * i, 0, 0.05 }, velocity = { linear = { 3 - 0.7 * i, 0, 0 } } }
    end
    local contacts = 0
    for step in world:run { steps = 60 } do contacts = contacts + step.contact_count end
    return contacts, world:hash()
  end
  local contacts, hash = slide(0.01)
  local other, other_hash = slide(1e-5, 0.01)
  assert(other == contacts, ("%d contacts, %d"):format(other, contacts))
  assert(other_hash == hash)
end)
