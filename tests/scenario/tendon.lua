-- SPDX-License-Identifier: Apache-2.0
-- Tendons that go round cylinders and spheres, and what their motors do: against closed forms and differences of length.
local stn = require "stiction"
local worse = require "worse"

local function near(value, expected, relative, what)
  stn.near(value, expected, relative * math.abs(expected), what)
end

--- Touches nothing; a cube of side sqrt(6) and 1 kg has the inertia 1 kg m^2 about every axis.
local function body(world, xyz, settings)
  local box = { size = { 6 ^ 0.5, 6 ^ 0.5, 6 ^ 0.5 }, mass = 1, xyz = xyz, mask = 0 }
  for key, value in pairs(settings or {}) do box[key] = value end
  return world:box(box)
end

--- The length of a cable from a to b round something at the origin of a turned and shifted frame, and its tendon.
local function length_round(shape, a, b)
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
  shape.radius, shape.xyz, shape.rpy = shape.radius or 0.5, { 0.3, -0.2, 0.1 }, { 0.4, -0.7, 1.1 }
  local frame = stn.pose { xyz = shape.xyz, rpy = shape.rpy }
  local ends = body(world, { 9, 9, 9 })
  local tendon = world:constraint { "tendon", stiffness = 1, path = { { "world", frame * a }, shape, { "world", frame * b },
    { ends, { 0, 0, 0 } } } }
  local line = stn.pose { xyz = { 9, 9, 9 } }:inverse() * (frame * b)
  world:step()
  return tendon:length() - math.sqrt(line[1] ^ 2 + line[2] ^ 2 + line[3] ^ 2), tendon
end

-- -------------------------------------------------------------------------------------------------- length

stn.test("arcs between tangents, on spheres and cylinders: closed forms", function()
  local R, d, h = 0.5, 1.3, 0.9
  local half_way = 2 * math.sqrt(d * d - R * R) + R * (math.pi - 2 * math.acos(R / d))
  for _, name in ipairs { "cylinder", "sphere" } do
    near(length_round({ "world", name }, { -d, 0, 0 }, { d, 1e-9, 0 }), half_way, 1e-8, name .. ", opposite points")
    near(length_round({ "world", name }, { -d, 0, 0 }, { d, 0, 0 }), half_way, 1e-12, name .. ", in line with the middle")
    for _, side in ipairs { { 0, 1, 0 }, { 0, -3, 0 } } do
      near(length_round({ "world", name, side = side }, { -d, 0, 0 }, { d, 0, 0 }), half_way, 1e-12, name .. ", told side")
    end
    near(length_round({ "world", name, side = { 0, 1, 0 } }, { R, -d, 0 }, { -R, -d, 0 }), 2 * d + math.pi * R, 1e-12,
      name .. ", half round")
    near(length_round({ "world", name }, { R, -d, 0 }, { -R, -d, 0 }), 2 * R, 1e-12, name .. ", the line is free")
    near(length_round({ "world", name, side = { 0, -1, 0 } }, { R, -d, 0 }, { -R, -d, 0 }), 2 * R, 1e-12,
      name .. ", the line is free on the side that is told")
    near(length_round({ "world", name }, { -d, R, 0 }, { d, R, 0 }), 2 * d, 1e-12, name .. ", the line touches")
    near(length_round({ "world", name, side = { 0, 1, 0 } }, { R, 0, 0 }, { -R, 0, 0 }), math.pi * R, 1e-7,
      name .. ", ends on the surface")
  end
  near(length_round({ "world", "cylinder" }, { -d, 0, -h / 3 }, { d, 0, 2 * h / 3 }), math.sqrt(half_way ^ 2 + h * h), 1e-12, "helix")
  near(length_round({ "world", "cylinder", side = { 0, 1, 7 } }, { R, -d, 0 }, { -R, -d, h }),
    math.sqrt((2 * d + math.pi * R) ^ 2 + h * h), 1e-12, "helix half round")
  near(length_round({ "world", "cylinder" }, { 1, 0, -3 }, { 1, 0, 4 }), 7, 1e-12, "along the axis")
  -- a sphere is passed in the plane of both points and the middle
  near(length_round({ "world", "sphere", radius = 1.1 }, { -d, 0, 0 }, { 0.1 * d, 0.2 * d, math.sqrt(0.95) * d }),
    2 * math.sqrt(d * d - 1.1 ^ 2) + 1.1 * (math.acos(-0.1) - 2 * math.acos(1.1 / d)), 1e-12, "sphere")
end)

stn.test("the line that is drawn has the length of the cable and lies on the surface", function()
  for _, name in ipairs { "cylinder", "sphere" } do
    local shape = { "world", name, side = { 0, 1, 0 } }
    local length, tendon = length_round(shape, { 0.7, -1, 0.2 }, { -0.8, -1.1, name == "cylinder" and 1.2 or 0.2 })
    local back = stn.pose { xyz = shape.xyz, rpy = shape.rpy }:inverse()
    local drawn, points = 0, tendon:path()
    for i = 2, #points - 1 do
      local p, before = back * points[i], back * points[i - 1]
      drawn = drawn + math.sqrt((p[1] - before[1]) ^ 2 + (p[2] - before[2]) ^ 2 + (p[3] - before[3]) ^ 2)
      if i < #points - 1 then
        near(math.sqrt(p[1] ^ 2 + p[2] ^ 2 + (name == "sphere" and p[3] ^ 2 or 0)), 0.5, 1e-12, name .. ": on the surface")
      end
    end
    assert(#points > 20)
    near(drawn, length, 2e-3, name .. ": as long")
  end
end)

stn.test("the length does not jump where a cylinder or sphere meets the cable and leaves it", function()
  for _, name in ipairs { "cylinder", "sphere" } do
    for _, side in ipairs { false, { 0, -9, 0 } } do
      local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
      local hand, weight = body(world, { 0, 2, 0 }), body(world, { 1, 0, 0 })
      hand:kinematic(function(t) return { xyz = { 0, 2 - 2 * t, 0 }, rpy = { 0, 0, 0 } } end)
      -- over a sphere that is pushed through beside the line the cable would slip
      local tendon = world:constraint { "tendon", path = { { "world", { -1, 0, 0 } }, { hand, name, radius = 0.4, side = side or nil },
        { "world", { 1, 0, name == "sphere" and side and 0 or 0.1 } }, { weight, { 0, 0, 0 } } } }
      local last, most, jump, longest, first = nil, 0, 0, 0, nil
      for _ in world:run { seconds = 2.2 } do
        local length, touches = tendon:length(), #tendon:path() > 4
        first = first or length
        if last then
          jump = worse(jump, math.abs(length - last))
        end
        longest = math.max(longest, length)
        most = worse(most, touches and 1 or 0)
        last = length
        if world.time < 1.55 then assert(not touches or length > first - 1e-12, "longer where it touches") end
      end
      assert(most == 1 and longest > first + 0.05, "it touches")
      if side then -- pushed down all the way: nothing slips over
        assert(jump < 2e-3 * 2.01, name .. ": the length jumps by " .. jump)
        assert(last > first + 0.2, "still bent")
      else -- past the middle it is shorter on the other side, where it is as long at that moment
        assert(jump < 2e-3 * 2.01, name .. ": the length jumps by " .. jump)
        near(last, first, 1e-12, "gone")
      end
    end
  end
end)

-- -------------------------------------------------------------------------------------------------- force

--- a * b of quaternions w, x, y, z.
local function product(a, b)
  return { a[1] * b[1] - a[2] * b[2] - a[3] * b[3] - a[4] * b[4], a[1] * b[2] + a[2] * b[1] + a[3] * b[4] - a[4] * b[3],
    a[1] * b[3] - a[2] * b[4] + a[3] * b[1] + a[4] * b[2], a[1] * b[4] + a[2] * b[3] - a[3] * b[2] + a[4] * b[1] }
end

--- q with free body `i` moved by h along or about world axis `k` (4 to 6: about).
local function moved(q, i, k, h)
  local out, at = { table.unpack(q) }, 7 * (i - 1)
  if k <= 3 then
    out[at + k] = out[at + k] + h
  else
    local turn = { math.cos(h / 2), 0, 0, 0 }
    turn[k - 2] = math.sin(h / 2)
    for c, value in ipairs(product(turn, { table.unpack(q, at + 4, at + 7) })) do out[at + 3 + c] = value end
  end
  return out
end

stn.test("at any pose the force on each body is the tension times the derivative of the length", function()
  local names, T, h, dt = { "cylinder", "sphere" }, 2, 1e-5, 1e-3
  local state = 12345
  local function random(low, high)
    state = (1103515245 * state + 12345) % 2147483648
    return low + (high - low) * state / 2147483648
  end
  local touching, compared, worst = 0, 0, 0
  for round = 1, 60 do
    local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, solver = { "sap", tolerance = 1e-12 } }
    local bodies = {}
    for i = 1, 5 do
      local turn = { random(-3, 3), random(-3, 3), random(-3, 3) }
      bodies[i] = body(world, { i + random(-0.4, 0.4), random(-0.5, 0.5), random(-0.5, 0.5) }, { rpy = turn })
    end
    local function round_thing(link, sided)
      return { link, names[math.floor(random(1, 3))], radius = random(0.1, 0.5), xyz = { random(-0.1, 0.1), 0, random(-0.1, 0.1) },
        rpy = { random(-3, 3), random(-3, 3), 0 }, side = sided and { random(0.6, 1), random(0.5, 1), random(-1, 1) } or nil }
    end
    local tendon = world:constraint { "tendon", path = { { bodies[1], { 0.1, 0.1, 0 } }, round_thing(bodies[2], round % 2 == 0),
      { bodies[3], { 0, 0, 0.1 } }, round_thing(bodies[4], round % 3 == 0), { bodies[5], { 0, 0.1, 0 } } } }
    tendon:set { tension = T }
    local q = world:state().q
    local fine, message = pcall(world.step, world)
    if not fine then
      assert(tostring(message):find("lies inside of the", 1, true), tostring(message))
    else
      local v, points = world:state().v, 0
      local zeros = {}
      for d = 1, 30 do zeros[d] = 0 end
      local function length_at(other)
        world:set_state { q = other, v = zeros }
        points = #tendon:path()
        return tendon:length()
      end
      local here = length_at(q)
      local count = points
      touching = touching + (count > 3 and 1 or 0)
      for i = 1, 5 do
        for k = 1, 6 do
          local ahead = length_at(moved(q, i, k, h))
          local same = points == count
          local behind = length_at(moved(q, i, k, -h))
          if same and points == count and math.abs(ahead - here) < 1e-3 then
            local derivative = (ahead - behind) / (2 * h)
            compared = compared + 1
            worst = worse(worst, math.abs(v[6 * (i - 1) + k] + dt * T * derivative) / (dt * T))
          end
        end
      end
      stn.near(world:momentum().linear, { 0, 0, 0 }, 1e-12, "rest")
    end
  end
  assert(touching > 20 and compared > 900, touching .. " touch, " .. compared .. " compared")
  assert(worst < 1e-6, "off by " .. worst)
end)

stn.test("a free pulley keeps momentum and energy with what hangs on it", function()
  local world = stn.world { dt = 1e-4, gravity = { 0, 0, 0 }, solver = { "sap", tolerance = 1e-12 } }
  local a, b = body(world, { -1, 0, 0.2 }), body(world, { 1, 0.1, -0.1 }, { mass = 2 })
  local pulley = body(world, { 0, -0.1, 0 }, { mass = 3 })
  world:constraint { "tendon", stiffness = 50, length = 1.8, path = { { a, { 0, 0.1, 0 } }, { pulley, "cylinder", radius = 0.4, side = { 0, 1, 0 } },
    { b, { 0, 0, 0 } } } }
  local angular, energy = world:momentum().angular, world:energy().total
  for _ in world:run { seconds = 0.4 } do end
  assert(pulley:speed() > 0.1 and energy > 1, "it moves")
  stn.near(world:momentum().linear, { 0, 0, 0 }, 1e-11, "linear momentum")
  stn.near(world:momentum().angular, angular, 1e-12, "angular momentum")
  near(world:energy().total, energy, 5e-3, "energy")
end)

stn.test("Atwood's machine over a fixed cylinder, which does not turn: (m2 - m1) g / (m1 + m2)", function()
  for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm", "admm" } do
    local world = stn.world { dt = 1e-3, solver = { solver, tolerance = 1e-10, max_iterations = 2000 } }
    local a, b = body(world, { -0.3, 0, 0 }), body(world, { 0.3, 0, 0 }, { mass = 2 })
    local wheel = world:cylinder { radius = 0.3, length = 0.1, mass = 1, fixed = true, xyz = { 0, 0, 2 }, rpy = { math.pi / 2, 0, 0 }, mask = 0 }
    local rope = world:constraint { "tendon", stiffness = 1e5, damping = 300,
      path = { { a, { 0, 0, 0 } }, { wheel, "cylinder", radius = 0.3, side = { 0, 1, 0 } }, { b, { 0, 0, 0 } } } }
    near(rope:length(), 4 + 0.3 * math.pi, 1e-9, "length")
    for _ in world:run { seconds = 0.4 } do end
    near(a:velocity().linear[3], 9.81 / 3 * 0.4, 0.01, solver .. ": speed")
    near(b:velocity().linear[3], -9.81 / 3 * 0.4, 0.01, solver .. ": speed of the other")
    near(rope:force(), -2 * 2 * 9.81 / 3, 0.01, solver .. ": tension")
  end
end)

-- ------------------------------------------------------------------------------------------------- errors

stn.test("what is wrong with a path is said", function()
  local function refused(text, path, plugin)
    local world = stn.world { dt = 1e-3 }
    local a = body(world, { 0, 0, 0 })
    local entries = {}
    for i, entry in ipairs(path) do
      entries[i] = {}
      for key, value in pairs(entry) do entries[i][key] = value == "a" and a or value end
    end
    local ok, message = pcall(function()
      world:constraint { plugin or "tendon", stiffness = 1, path = entries }
      world:step()
    end)
    assert(not ok and tostring(message):find(text, 1, true), tostring(message))
  end
  local near_a, far = { "a", { 0, 0, 0.1 } }, { "world", { 3, 0, 0 } }
  refused("inside of the cylinder of radius 0.2 m next to it (entry 2)", { near_a, { "a", "cylinder", radius = 0.2, xyz = { 0.1, 0, 0 } }, far })
  refused("inside of the sphere of radius 0.2 m", { near_a, { "world", "sphere", radius = 0.2, xyz = { 3, 0.1, 0 } }, far })
  refused("needs a point before it and one after it", { near_a, { "a", "sphere", radius = 0.2 } })
  refused("needs a point before it and one after it", { { "a", "sphere", radius = 0.2 }, near_a, far })
  refused("needs a point before it and one after it",
    { near_a, { "world", "sphere", radius = 0.2 }, { "world", "sphere", radius = 0.2 }, far })
  refused("radius of the sphere in path is missing", { near_a, { "world", "sphere" }, far })
  refused("radius", { near_a, { "world", "sphere", radius = 0 }, far })
  refused("radius", { near_a, { "world", "sphere", radius = -1 }, far })
  refused("must be outside of radius 0.2 m", { near_a, { "world", "sphere", radius = 0.2, side = { 0.1, 0, 0 } }, far })
  refused("must be outside of radius 0.2 m", { near_a, { "world", "cylinder", radius = 0.2, side = { 0.1, 0, 5 } }, far })
  refused("'box' is no shape that a path goes round", { near_a, { "world", "box", radius = 0.2 }, far })
  refused("raduis", { near_a, { "world", "sphere", raduis = 0.2 }, far })
  refused("radius", { { "a", { 0, 0, 0.1 }, radius = 0.2 }, far })
  refused("this plugin does not take these", { near_a, { "world", "sphere", radius = 0.2 } }, "spring")
  refused("all of its path is on one body, so that its length never changes; lead it to another one", { near_a, { "a", { 0, 1, 0 } } })
  refused("all of its path is on one body", { near_a, { "a", "sphere", radius = 0.2, xyz = { 0, 1, 0 } }, { "a", { 0, 2, 0 } } })
end)

stn.test("two points at one place: a cable is slack there, and what pushes has no direction", function()
  local function held(settings)
    local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
    local a, b = body(world, { 0, 0, 0 }), body(world, { 1, 0, 0 })
    settings[1], settings.path = "tendon", { { a, { 0, 0, 0.2 } }, { a, { 0.5, 0, 0 } }, { b, { -0.5, 0, 0 } } }
    return world, world:constraint(settings), a, b
  end
  local says = "entries 2 and 3 of its path are at one place, where two_sided has no direction to push in; place them apart"
  for _, length in ipairs { -1, 0, 3 } do
    local world = held { stiffness = 100, two_sided = true, length = length }
    stn.fails(function() world:step() end, says)
    world = held { stiffness = 100, length = length }
    world:step()
  end
  -- in a run it may come there as long as nothing pushes
  local world, rod, a, b = held { stiffness = 100, damping = 1, two_sided = true, length = 0 }
  b:set_pose { xyz = { 1.1, 0, 0 } }
  world:step()
  local at = a:position()
  b:set_pose { xyz = { at[1] + 1, at[2], at[3] } }
  world:step()
  rod:set { length = 3 }
  at = a:position()
  a:set_pose { xyz = at }
  b:set_pose { xyz = { at[1] + 1, at[2], at[3] } }
  stn.fails(function() world:step() end, says)
end)

-- ------------------------------------------------------------------------------------------- work of motors

--- The energy of the world plus what left it, less the work of inputs: what it ends with and the largest rise in a step.
local function balance(world, run)
  local start, work, most, last = world:energy().total, 0, 0, world:energy().total
  for step in world:run { seconds = run.seconds } do
    work = work + step.input_work_J
    most = worse(most, world:energy().total - last - step.input_work_J)
    last = world:energy().total
    if run.each then run.each(world.time) end
  end
  return world:energy().total - start - work, work, most
end

stn.test("a motor's work is its tension times what it reels in, to round-off", function()
  for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm", "admm" } do
    local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = { solver, tolerance = 1e-10, max_iterations = 2000 } }
    local a, b = body(world, { 0, 0, 0 }), body(world, { 5, 0, 0 }, { mass = 3 })
    local tendon = world:constraint { "tendon", path = { { a, { 0, 0, 0 } }, { b, { 0, 0, 0 } } } }
    tendon:set { tension = 8 }
    local left, work = balance(world, { seconds = 0.5 })
    near(work, 8 * (5 - tendon:length()), 5e-3, solver .. ": work") -- of the mean velocity of a step
    stn.near(left, 0, 1e-9, solver .. ": energy")
  end
end)

-- Energy closes to the order of dt whatever tension, length, slack and limit do; and no step makes energy beyond that.
for _, case in ipairs {
  { name = "tension beside a spring", set = { stiffness = 200 }, tension = function(t) return 20 * math.sin(9 * t) end },
  { name = "tension beside a damper", set = { damping = 3 }, tension = function(t) return 6 + 5 * math.sin(9 * t) end, lossy = true },
  { name = "a slack cable, then a motor", set = { stiffness = 200, length = 5.5 }, tension = function(t) return 110 * math.sin(7 * t) end },
  { name = "a moving length", set = { stiffness = 200 }, length = function(t) return 5 - 0.8 * math.sin(6 * t) end },
  { name = "a moving length that goes slack", set = { stiffness = 200 }, length = function(t) return 5 + 0.8 * math.sin(6 * t) end },
  { name = "two-sided", set = { stiffness = 200, two_sided = true }, length = function(t) return 5 + 0.5 * math.sin(6 * t) end,
    tension = function(t) return 20 * math.sin(9 * t) end },
  { name = "a limit", set = { stiffness = 200, limit = 30 }, length = function(t) return 5 - 0.8 * math.sin(6 * t) end },
  { name = "a limit on the motor", set = { limit = 4 }, tension = function(t) return 8 * math.sin(9 * t) end },
  { name = "a limit and both", set = { stiffness = 200, limit = 30 }, length = function(t) return 5 - 0.3 * math.sin(6 * t) end,
    tension = function(t) return 20 * math.sin(9 * t) end },
} do
  stn.test("energy and the work of inputs: " .. case.name, function()
    local left, work = {}, nil
    for k, dt in ipairs { 4e-4, 1e-4 } do
      local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, solver = { "sap", tolerance = 1e-12 } }
      local a, b = body(world, { 0, 0, 0 }), body(world, { 5, 0, 0 }, { mass = 3 })
      local settings = { "tendon", path = { { a, { 0, 0, 0 } }, { b, { 0, 0, 0 } } } }
      for key, value in pairs(case.set) do settings[key] = value end
      local tendon = world:constraint(settings)
      world:step()
      local most
      left[k], work, most = balance(world, { seconds = 1, each = function(t)
        tendon:set { tension = case.tension and case.tension(t) or nil, length = case.length and case.length(t) or nil }
      end })
      assert(most < 200 * dt * dt, "a step makes " .. most .. " J")
    end
    assert(math.abs(work) > 0.1, "work " .. work)
    if case.lossy then
      assert(left[1] < 0 and left[2] < 0, "a damper takes energy")
    else
      assert(math.abs(left[2]) < 0.02 * math.abs(work) and math.abs(left[2]) < 0.3 * math.abs(left[1]) + 1e-9,
        ("of %g J of work %g and %g are missing"):format(work, left[1], left[2]))
    end
  end)
end

stn.test("a spring's moving length does work too", function()
  local world = stn.world { dt = 1e-4, gravity = { 0, 0, 0 }, solver = { "sap", tolerance = 1e-12 } }
  local a, b = body(world, { 0, 0, 0 }), body(world, { 5, 0, 0 }, { mass = 3 })
  local spring = world:constraint { "spring", a = a, b = b, stiffness = 200 }
  world:step()
  local left, work = balance(world, { seconds = 1, each = function(t) spring:set { length = 5 - 0.8 * math.sin(6 * t) } end })
  assert(work > 1, "work " .. work)
  stn.near(left, 0, 0.02 * work, "energy")
end)
