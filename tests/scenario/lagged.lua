-- SPDX-License-Identifier: Apache-2.0
-- Lagged friction takes the normal impulse of the step before: it is remembered by contact, so that what slides or rolls over a convex
-- surface, whose gap a step along the tangent leaves open, keeps its friction.
local stn = require "stiction"

local files <close> = require "files"()
local read_json = require "json"

local g, R, r = 9.81, 1.0, 0.1

--- A ball of 1 kg on a fixed one, at rest `theta` from the top.
local function ball_on_ball(law, dt, theta, mu)
  local world = stn.world { dt = dt, law = law, solver = { "sap", tolerance = 1e-9 } }
  world:sphere { name = "fixed", radius = R, fixed = true }
  world:contact_material { mu = mu }
  local place = { (R + r) * math.sin(theta), 0, (R + r) * math.cos(theta) }
  return world, world:sphere { name = "ball", radius = r, mass = 1, xyz = place }
end

local function angle_of(ball)
  local x = ball:position()
  return math.atan(x[1], x[3])
end

-- (7/5) m v^2/2 = m g (R + r) (cos theta_0 - cos theta), so that N = m g (17 cos theta - 10 cos theta_0)/7: it leaves where that is 0.
stn.test("a ball that rolls down a ball feels 2/7 m g sin(theta), at every dt", function()
  local from = 0.1
  for _, law in ipairs { "lagged", "lagged_regularized", "hertz" } do
    for _, dt in ipairs { 0.01, 0.002, 0.0005 } do
      local world, ball = ball_on_ball(law, dt, from, 1)
      local judged, left = 0, nil
      for step in world:run { seconds = 1.3 } do
        local theta, contact = angle_of(ball), step:contacts()[1]
        local normal = g * (17 * math.cos(theta) - 10 * math.cos(from)) / 7
        if step.time > 0.1 and normal > 3 then -- below about 2 N it slides
          local what = ("%s, dt %g, %.2f rad"):format(law, dt, theta)
          stn.near(contact.friction_force, 2 / 7 * g * math.sin(theta), 12 * dt + 2e-3, what .. ": friction")
          stn.near(contact.normal_force, normal, 40 * dt + 0.02, what .. ": normal force")
          judged = judged + 1
        end
        left = left or (step.time > 0.5 and not (contact and contact.normal_force > 0) and theta)
      end
      assert(judged * dt > 0.8, "the ball was judged for " .. judged .. " steps")
      stn.near(left, math.acos(10 / 17 * math.cos(from)), 0.15 * math.sqrt(dt / 0.01), law .. ": it leaves the ball")
    end
  end
end)

--- OBJ file of a ball of 2 n^2 facets or so.
local function ball_file(n)
  local path = files:path ".obj"
  local file <close> = assert(io.open(path, "w"))
  for i = 0, n do
    for j = 0, (i == 0 or i == n) and 0 or 2 * n - 1 do
      local a, b = math.pi * i / n, math.pi * j / n
      file:write(("v %.17g %.17g %.17g\n"):format(r * math.sin(a) * math.cos(b), r * math.sin(a) * math.sin(b), r * math.cos(a)))
    end
  end
  local function id(i, j) return i == 0 and 1 or i == n and 2 + (n - 1) * 2 * n or 2 + (i - 1) * 2 * n + j % (2 * n) end
  for i = 0, n - 1 do
    for j = 0, 2 * n - 1 do
      if i > 0 then file:write(("f %d %d %d\n"):format(id(i, j), id(i + 1, j), id(i, j + 1))) end
      if i < n - 1 then file:write(("f %d %d %d\n"):format(id(i + 1, j), id(i + 1, j + 1), id(i, j + 1))) end
    end
  end
  return path
end

-- Angular momentum about the contact: what rolls without slip keeps v = omega r.
stn.test("ellipsoids, capsules, cylinders, meshes and soft balls roll over a ball without slip", function()
  local mesh = ball_file(40)
  local shapes = {
    ellipsoid = function(world, at) return world:ellipsoid { radii = { r, 0.2, r }, mass = 1, xyz = at } end,
    capsule = function(world, at) return world:capsule { radius = r, length = 0.3, mass = 1, xyz = at, rpy = { math.pi / 2, 0, 0 } } end,
    cylinder = function(world, at) return world:cylinder { radius = r, length = 0.3, mass = 1, xyz = at, rpy = { math.pi / 2, 0, 0 } } end,
    mesh = function(world, at) return world:mesh { file = mesh, mass = 1, xyz = at, rpy = { math.pi / 2, 0, 0 } } end,
    soft = function(world, at) return world:sphere { radius = r, mass = 1, modulus = 1e6, resolution = 0.02, xyz = at } end,
  }
  for name, add in pairs(shapes) do
    local world = stn.world { dt = 0.002, law = "lagged", contact = name == "soft" and "hydroelastic" or "point" }
    world:sphere { name = "fixed", radius = R, fixed = true, resolution = name == "soft" and 0.05 or nil }
    world:contact_material { mu = 1 }
    local body = add(world, { (R + r) * math.sin(0.1), 0, (R + r) * math.cos(0.1) })
    for _ in world:run { seconds = 0.9 } do end
    local v = body:velocity()
    local speed, spin = math.sqrt(v.linear[1] ^ 2 + v.linear[3] ^ 2), math.abs(v.angular[2]) * r
    assert(speed > 1.1, name .. ": it rolls")
    stn.near(spin, speed, (name == "mesh" or name == "soft") and 0.02 * speed or 1e-4, name .. ": omega r")
  end
end)

stn.test("what slides has mu times the normal force of the step before, also where dt changes from step to step", function()
  local mu = 0.05
  for _, law in ipairs { "lagged", "lagged_regularized", "hertz", "table" } do
    local world = ball_on_ball(law, 0.002, 0.5, mu)
    local before, judged = nil, 0
    for step in world:run { steps = 200 } do
      local contact = step:contacts()[1]
      if step.index > 20 then
        stn.near(contact.friction_force, mu * before, 1e-4 * mu * before, law .. ": step " .. step.index)
        judged = judged + 1
      end
      before = contact.normal_force
      world:set_dt(step.index % 3 == 0 and 0.002 or 0.0015)
    end
    assert(judged == 180)
  end
end)

stn.test("in a bowl friction is no more than mu N of the step before", function()
  local world = stn.world { dt = 0.005, law = "lagged" }
  world:height_field {
    size = { 1.6, 1.6 }, rows = 81, columns = 81, heights = function(x, y) return (x * x + y * y) / 2 end,
  }
  local mu, ball = 0.1, nil
  world:contact_material { mu = mu }
  ball = world:sphere { radius = r, mass = 1, xyz = { 0.6, 0, 0.3 } }
  local before
  for step in world:run { seconds = 1 } do
    local contacts, normal, friction = step:contacts(), 0, 0
    for _, c in ipairs(contacts) do
      normal, friction = normal + c.normal_impulse, friction + c.friction_impulse
    end
    assert(not before or friction <= mu * before * (1 + 1e-9) + 1e-12 or #contacts > 1, "friction of step " .. step.index)
    before = #contacts == 1 and normal or nil
  end
  assert(ball:position()[3] > 0.09)
end)

-- Every step's problem is whole: what a saved one states is what the step before found.
stn.test("a saved problem states the normal impulse of the step before, and of no other law", function()
  for _, law in ipairs { "lagged", "sap", "similar" } do
    local world = ball_on_ball(law, 0.002, 0.4, 1)
    local path, before = files:path ".json", nil
    for step in world:run { steps = 50 } do
      if step.index == 49 then before = step:contacts()[1].normal_impulse end
    end
    world:save_problem(path)
    local file <close> = assert(io.open(path))
    local stated = read_json(file:read "a").constraints[1].gamma_n0
    assert(stated == (law == "lagged" and before or nil) or (law ~= "lagged" and type(stated) ~= "number"), law)
  end
end)

stn.test("what is remembered is restored, cloned and found by a new start", function()
  local world = ball_on_ball("lagged", 0.002, 0.4, 1)
  for _ in world:run { steps = 100 } do end
  local kept, other = world:snapshot(), world:clone()
  for _ in world:run { steps = 50 } do end
  local hash = world:hash()
  world:restore(kept)
  for _ in world:run { steps = 50 } do end
  assert(world:hash() == hash, "restored")
  for _ in other:run { steps = 50 } do end
  assert(other:hash() == hash, "cloned")
end)

stn.test("on a floor what is remembered is what the gap promises, as the law was published", function()
  local places = {}
  for i, lag in ipairs { "impulse", "gap" } do
    local world = stn.world { dt = 0.002, law = { "lagged", lag = lag }, solver = { "sap", tolerance = 1e-12 } }
    world:ground {}
    local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 }, velocity = { 2, 0, 0 } }
    world:contact_material { mu = 0.5 }
    for _ in world:run { seconds = 0.6 } do end
    places[i] = box:position()
  end
  stn.near(places[1], places[2], 1e-7, "place of the box")
  assert(places[1][1] > 0.35)
end)

-- Each step stands on another corner: the contact is new, and takes over what the one that is gone pushed with.
stn.test("a ball of 45,000 corners rolls down a slope without slip, also where every step has another corner", function()
  local mesh, tilt = ball_file(150), 0.3
  for _, dt in ipairs { 0.002, 0.005 } do
    local world = stn.world { dt = dt, law = "lagged", solver = { "sap", tolerance = 1e-8 } }
    world:ground { rpy = { 0, tilt, 0 } }
    world:contact_material { mu = 1 }
    local ball = world:mesh { file = mesh, mass = 1, xyz = { r * math.sin(tilt), 0, r * math.cos(tilt) }, rpy = { math.pi / 2, 0, 0 } }
    for _ in world:run { seconds = 0.9 } do end
    local v = ball:velocity()
    local speed = math.sqrt(v.linear[1] ^ 2 + v.linear[3] ^ 2)
    assert(speed > 1.6, "it rolls")
    stn.near(math.abs(v.angular[2]) * r, speed, 2e-3 * speed, "omega r, dt " .. dt)
  end
end)
