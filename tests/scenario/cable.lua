-- SPDX-License-Identifier: Apache-2.0
-- Cables: what they weigh, how they hang, carry and lie, what holds them, and what is refused.
local stn = require "stiction"

local function refused(action, ...)
  local message = stn.fails(action)
  assert(message:match "cable%.lua:%d+: ", "no file and line in: " .. message)
  assert(not message:find "\n", "more than one line: " .. message)
  for _, text in ipairs { ... } do
    assert(message:find(text, 1, true), ("expected '%s' in: %s"):format(text, message))
  end
end

local function rope(world, change)
  local spec = { points = { { 0, 0, 1 }, { 0.5, 0, 1 } }, segments = 20, radius = 4e-3, density = 1200, young = 1e6, poisson = 0.4 }
  for key, value in pairs(change or {}) do
    spec[key] = value
  end
  spec.density = spec.density or nil -- false takes it out
  return world:cable(spec)
end

local function ring(radius, count, turns, pitch)
  local points = {}
  for i = 0, count do
    local angle = 2 * math.pi * turns * i / count
    points[#points + 1] = { radius * math.cos(angle), radius * math.sin(angle), 0.1 + (pitch or 0) * turns * i / count }
  end
  return points
end

stn.test("mass, places and numbers of nodes are those of its line", function()
  local world = stn.world { gravity = { 0, 0, 0 } }
  local one = rope(world, { pose = stn.pose { xyz = { 1, 2, 3 }, rpy = { 0, 0, math.pi / 2 } } })
  local two = rope(world, { density = false, mass = 0.3, points = { { 0, 0, 0 }, { 0.3, 0, 0 }, { 0.3, 0.1, 0 } }, segments = 8, name = "rope" })
  stn.near(one:mass(), 1200 * math.pi * 16e-6 * 0.5, 1e-15)
  stn.near(two:mass(), 0.3, 1e-15)
  assert(one.node_count == 21 and #one:positions() == 21 and #one:velocities() == 21 and one:volume() == 0)
  stn.near(one:position "start", { 1, 2, 4 }, 1e-15)
  stn.near(one:position "end", { 1, 2.5, 4 }, 1e-15)
  stn.near(one:position(11), { 1, 2.25, 4 }, 1e-15)
  stn.near(one:position(), { 1, 2.25, 4 }, 1e-15)
  stn.near(two:position "y_max", { 0.3, 0.1, 0 }, 1e-15)
  assert(#one:nodes { "start", "end" } == 2 and one:nodes("end")[1] == 21)
  assert(#two:output "tension" == 8 and two.name == "rope" and world:soft_body("rope") == two)
  stn.near(two:output("tension"), { 0, 0, 0, 0, 0, 0, 0, 0 }, 1e-9)
end)

stn.test("it falls as a point does, and keeps the bend it has at rest", function()
  local world = stn.world { dt = 1e-3 }
  local bent = rope(world, { points = ring(0.1, 40, 0.5), xyz = { 0, 0, 5 } })
  for _ in world:run { steps = 200 } do end
  stn.near(bent:velocity(), { 0, 0, -9.81 * 0.2 }, 1e-9)
  local a, b = bent:position "start", bent:position "end"
  stn.near(a[1] - b[1], 0.2, 1e-9)
end)

stn.test("one that is straight at rest straightens", function()
  local world = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
  local bent = rope(world, { points = ring(0.1, 40, 0.5), rest = "straight", damping = 0.05 })
  local moment = bent:output "bending_moment"
  stn.near(moment[10], 1e6 * math.pi / 4 * 4e-3 ^ 4 / 0.1, { relative = 0.01, tolerance = 0 })
  for _ in world:run { seconds = 3 } do end
  local a, b = bent:position "start", bent:position "end"
  local length = ((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2) ^ 0.5
  stn.near(length, math.pi * 0.1, { relative = 2e-3, tolerance = 0 })
end)

stn.test("what is pinned carries it", function()
  local world = stn.world { dt = 5e-3 }
  local hung = rope(world, { points = { { 0, 0, 1 }, { 0, 0, 0.5 } }, pinned = "start", damping = 0.1 })
  for _ in world:run { seconds = 2 } do end
  stn.near(hung:position "start", { 0, 0, 1 }, 1e-15)
  stn.near(hung:attachment_force "world", { 0, 0, hung:mass() * 9.81 }, 1e-5 * hung:mass() * 9.81)
  local tension = hung:output "tension"
  for i = 3, 20 do -- of what is below its middle
    stn.near(tension[i], (20.5 - i) / 20 * hung:mass() * 9.81, { relative = 1e-6, tolerance = 0 })
  end
end)

stn.test("a weight hangs from it, and a hand holds it", function()
  local world = stn.world { dt = 2e-3 }
  local hand = world:box { size = { 0.05, 0.05, 0.05 }, mass = 1, xyz = { 0, 0, 1.025 }, fixed = true }
  local load = world:sphere { radius = 0.03, mass = 0.2, xyz = { 0, 0, 0.47 } }
  local line = rope(world, { points = { { 0, 0, 1 }, { 0, 0, 0.5 } }, young = 1e7, damping = 0.01,
    attach = { { link = hand, nodes = "start" }, { link = load, nodes = "end" } } })
  for _ in world:run { seconds = 2 } do end
  local weight = 0.2 * 9.81
  stn.near(line:attachment_force(load)[3], -weight, { relative = 1e-5, tolerance = 0 })
  stn.near(line:attachment_force(hand)[3], weight + 9.81 * line:mass(), { relative = 1e-5, tolerance = 0 })
  stn.near(1 - line:position("end")[3] - 0.5, (weight + 9.81 * line:mass() / 2) * 0.5 / (1e7 * math.pi * 16e-6), { relative = 0.01, tolerance = 0 })
end)

for _, solver in ipairs { "sap", "newton_ncp", "nsgs" } do
  stn.test("it lies on the ground with its weight, solver " .. solver, function()
    local world = stn.world { dt = 5e-3, solver = solver }
    local ground = world:ground { mu = 0.5 }
    local lying = rope(world, { points = { { 0, 0, 0.005 }, { 0.5, 0, 0.005 } }, mu = 0.5, damping = 0.02 })
    for _ in world:run { seconds = 1 } do end
    local force = lying:contact_force(ground).force
    stn.near(force[3], lying:mass() * 9.81, { relative = 1e-6, tolerance = 0 })
    stn.near(lying:position()[3], 4e-3, 1e-5)
    local contact = world:contacts()[1]
    assert(contact.a == lying.name or contact.b == lying.name, "contacts name the cable")
  end)
end

stn.test("a coil lies on itself with self_collision, and goes through itself without", function()
  for _, self_collision in ipairs { true, false } do
    local world = stn.world { dt = 5e-3 }
    world:ground { mu = 0.3 }
    local coil = rope(world, { points = ring(0.05, 100, 2, 0.03), segments = 60, self_collision = self_collision, mu = 0.3, damping = 0.02, young = 1e6 })
    for _ in world:run { seconds = 0.5 } do end
    local top = coil:position("end")[3]
    if self_collision then
      assert(top > 0.0105, "the upper turn lies on the lower one: " .. top)
    else
      assert(top < 0.006, "nothing holds the upper turn: " .. top)
    end
  end
end)

stn.test("segments shorter than the radius do not touch their neighbours, however it bends", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
  rope(world, { points = ring(0.0042, 200, 0.5), segments = 40, self_collision = true }) -- hardly wider than its radius
  rope(world, { points = { { 0, 0, 2 }, { 0.1, 0, 2 } }, segments = 100, self_collision = true })
  world:step()
  assert(#world:contacts() == 0, "it touches itself")
end)

--- An overhand knot with long ends (the long trefoil of polynomials), and two hands that pull it tight.
local function pull_knot(self_collision)
  local world = stn.world { dt = 4e-3, gravity = { 0, 0, 0 } }
  local points, length, scale = {}, 0, 0.03
  for i = 0, 600 do
    local t = -2.15 + 4.3 * i / 600
    points[#points + 1] = { scale * (t ^ 3 - 3 * t), scale * (t ^ 4 - 4 * t ^ 2), 0.08 * scale * (t ^ 5 - 10 * t) }
  end
  for i = 2, #points do
    local a, b = points[i - 1], points[i]
    length = length + ((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2 + (a[3] - b[3]) ^ 2) ^ 0.5
  end
  local hands = {}
  for i, at in ipairs { points[1], points[#points] } do
    local goal = { (i == 1 and -1 or 1) * 0.475 * length, 0.1, 0 }
    hands[i] = world:box { size = { 0.01, 0.01, 0.01 }, mass = 0.1, xyz = at, category = 2, mask = 0 }
    hands[i]:kinematic(function(t)
      local s, xyz = math.min(1, t / 2), {}
      for k = 1, 3 do xyz[k] = at[k] + s * (goal[k] - at[k]) end
      return { xyz = xyz }
    end)
  end
  local knot = rope(world, { points = points, segments = 100, radius = 3e-3, young = 2e6, rest = "straight", damping = 0.01, mu = 0.1,
    self_collision = self_collision, attach = { { link = hands[1], nodes = "start" }, { link = hands[2], nodes = "end" } } })
  for step in world:run { seconds = 2.2 } do
    assert(step.converged)
  end
  return knot:attachment_force(hands[2])[1], #world:contacts()
end

stn.test("an overhand knot is pulled tight and holds, and slips through itself without self_collision", function()
  local force, contacts = pull_knot(true)
  assert(force > 1 and contacts >= 8, ("pulled with %g N, %d contacts"):format(force, contacts))
  force, contacts = pull_knot(false)
  assert(force < 0.2 and contacts == 0, ("pulled with %g N, %d contacts"):format(force, contacts))
end)

stn.test("a clone goes on as its world does", function()
  local world = stn.world { dt = 5e-3 }
  local swing = rope(world, { pinned = "start" })
  for _ in world:run { seconds = 0.3 } do end
  local copy = world:clone()
  for _ in world:run { seconds = 0.3 } do end
  for _ in copy:run { seconds = 0.3 } do end
  stn.near(copy:soft_body(swing.name):position "end", swing:position "end", 0)
end)

stn.test("mistakes are errors that say what to do", function()
  local world = stn.world {}
  refused(function() rope(world, { lenght = 1 }) end, "world:cable", "lenght")
  refused(function() rope(world, { points = { { 0, 0, 1 } } }) end, "points must be a list of 2 to")
  refused(function() rope(world, { points = { { 0, 0, 1 }, { 0, 0 } } }) end, "points[2]")
  refused(function() rope(world, { points = { { 0, 0, 1 }, { 0, 0, 1 } } }) end, "are one place")
  refused(function() rope(world, { points = { { 0, 0, 1 }, { 0, 0, 0 / 0 } } }) end, "points[2]", "nan")
  refused(function() world:cable { radius = 0.01 } end, "points is missing")
  refused(function() world:cable { points = { { 0, 0, 0 }, { 1, 0, 0 } } } end, "radius is missing")
  refused(function() rope(world, { radius = -1 }) end, "radius = -1")
  refused(function() rope(world, { mass = 1 }) end, "density = 1200 kg/m^3 and mass = 1 kg say the same")
  refused(function() rope(world, { segments = 0 }) end, "segments")
  refused(function() rope(world, { segments = 1.5 }) end, "segments")
  refused(function() rope(world, { young = -1 }) end, "young = -1")
  refused(function() rope(world, { poisson = 0.6 }) end, "poisson = 0.6")
  refused(function() rope(world, { rest = "strait" }) end, "rest has no 'strait'")
  refused(function() rope(world, { pinned = "strat" }) end, "there is no region 'strat', did you mean 'start'?")
  refused(function() rope(world, { pinned = { nodes = { 22 } } }) end, "must be a whole number from 1 to 21")
  refused(function() rope(world, { pinned = "start", attach = { link = world:sphere { radius = 0.1, mass = 1 }, nodes = "start" } }) end, "belongs to attachment 1 (link 'sphere5') and to attachment 2 (pinned to the world)")
  refused(function() rope(world, { points = { { 0, 0, 1 }, { 0.5, 0, 1 }, { 0, 0, 1 } } }) end, "turns back on itself at node 10")
  local kept = rope(world)
  assert(#world:soft_bodies() == 1, "nothing was added")
  refused(function() kept:set_pressure(1) end, "the body has no chambers")
  refused(function() kept:output "tensoin" end, "tensoin", "tension")
end)
