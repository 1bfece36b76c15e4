-- SPDX-License-Identifier: Apache-2.0
-- Coulomb friction on a slope and on a belt.
local stn = require "stiction"

-- A box on a slope of `angle`; returns its speed downhill after `seconds`.
local function slide(angle, mu, dt, seconds)
  local world = stn.world { dt = dt }
  world:ground { rpy = { 0, angle, 0 } }
  local box = world:box {
    size = { 0.2, 0.2, 0.1 }, mass = 3, rpy = { 0, angle, 0 }, xyz = { 0.05 * math.sin(angle), 0, 0.05 * math.cos(angle) },
  }
  world:contact_material { mu = mu }
  for step in world:run { seconds = seconds } do
    assert(step.converged, "a step did not converge")
  end
  local v = box:velocity().linear
  return v[1] * math.cos(angle) - v[3] * math.sin(angle), box
end

stn.test("a box sticks while tan(angle) < mu", function()
  -- regularised friction slips by at most sigma mu dt g
  stn.near(slide(0.40, 0.45, 1e-3, 1.0), 0, 1e-3 * 0.45 * 1e-3 * 9.81, "speed")
end)

stn.test("a box slides with g (sin - mu cos) when tan(angle) > mu", function()
  local angle, mu, t = 0.50, 0.30, 1.0
  stn.near(slide(angle, mu, 1e-3, t), 9.81 * (math.sin(angle) - mu * math.cos(angle)) * t, 2e-3, "speed")
end)

stn.test("without friction a box slides as if alone", function()
  stn.near(slide(0.3, 0.0, 1e-3, 0.5), 9.81 * math.sin(0.3) * 0.5, 1e-12, "speed")
end)

stn.test("a conveyor takes a box along at its speed", function()
  local world = stn.world { dt = 2e-3 }
  world:box { name = "belt", fixed = true, size = { 4, 1, 0.2 }, xyz = { 0, 0, -0.1 }, surface_velocity = { 0.5, 0, 0 } }
  local box = world:box { size = { 0.2, 0.2, 0.1 }, xyz = { -1, 0, 0.05 } }
  world:contact_material { mu = 0.5 }
  for _ in world:run { seconds = 1 } do
  end
  stn.near(box:velocity().linear, { 0.5, 0, 0 }, 1e-9, "velocity")
end)

stn.test("the contacts of a resting box carry its weight", function()
  local world = stn.world { dt = 1e-3 }
  world:ground { name = "floor" }
  local box = world:box { name = "crate", size = { 0.2, 0.3, 0.1 }, mass = 4, xyz = { 0, 0, 0.05 } }
  local last
  for step in world:run { seconds = 0.5 } do
    last = step
  end
  local contacts, sum = last:contacts(), 0
  assert(#contacts >= 3, "a box needs three points to stand on")
  for _, contact in ipairs(contacts) do
    local up = contact.b == "crate" and 1 or -1
    assert((contact.a == "floor" and contact.b == "crate") or (contact.a == "crate" and contact.b == "floor"))
    stn.near(contact.normal, { 0, 0, up }, 1e-9, "normal")
    stn.near(contact.impulse[3], up * contact.normal_impulse, 1e-9, "impulse")
    assert(contact.friction_impulse <= contact.mu * contact.normal_impulse + 1e-9, "impulse outside its cone")
    sum = sum + contact.normal_impulse
  end
  stn.near(sum, 4 * 9.81 * world.dt, 1e-6, "sum of the normal impulses")
  assert(box:speed() < 1e-6)
end)
