-- SPDX-License-Identifier: Apache-2.0
-- Forces of contact of soft bodies, cloth and cables with everything: by pair, by body and by contact they are the same, normal and
-- friction apart; what one body feels the other one feels too; with gravity and what holds a body they make the change of its
-- momentum in every step, and at rest they carry its weight. Masses are density times volume, of the shapes or of their meshes.
local stn = require "stiction"
local load_text = require "robot_text"
local files <close> = require "files"()

local g = 9.81
local function combine(a, b, scale)
  return { a[1] + scale * b[1], a[2] + scale * b[2], a[3] + scale * b[3] }
end

local function norm(a) return math.sqrt(a[1] ^ 2 + a[2] ^ 2 + a[3] ^ 2) end

-- ------------------------------------------------------------------------------------------------------------------ scenes

-- Each describes its bodies and returns them: `mass` [kg] of those that only forces move, also as a function to call in the complete
-- world; `held`: what holds nodes of it; `holds`: the body that it holds. `touch`: pairs of names that come to press; `steps` until they
-- do, `seconds` until all is at rest.

local function with(spec, change)
  for key, value in pairs(change) do spec[key] = value end
  return spec
end

local function ground(world) return { body = world:ground { name = "ground", mu = 0.6 } } end

local function pad(world, change)
  local spec = with({ name = "pad", box = { 0.1, 0.08, 0.04 }, cells = { 3, 2, 2 }, young = 5e4, poisson = 0.3, density = 800, damping = 0.05, mu = 0.6 }, change)
  return { body = world:soft(spec), mass = spec.density * spec.box[1] * spec.box[2] * spec.box[3] }
end

local function ball(world, change)
  local spec = with({ name = "ball", ball = 0.03, cells = 4, young = 5e4, poisson = 0.3, density = 600, damping = 0.05 }, change)
  local body = world:soft(spec)
  return { body = body, mass = function() return spec.density * body:volume() end }
end

local function cable(world, change)
  local spec = with({ name = "cable", radius = 4e-3, density = 1200, young = 1e6, damping = 0.05, mu = 0.5 }, change)
  local body = world:cable(spec)
  return { body = body, mass = function() -- straight between its nodes
    local at, length = body:positions(), 0
    for i = 2, #at do length = length + norm(combine(at[i], at[i - 1], -1)) end
    return spec.density * math.pi * spec.radius ^ 2 * length
  end }
end

local function cloth(world, change)
  local spec = with({ name = "cloth", thickness = 2e-3, density = 400, young = 1e5, damping = 0.05, mu = 0.5 }, change)
  return { body = world:cloth(spec), drag = spec.drag, mass = spec.size[1] * spec.size[2] * spec.thickness * spec.density }
end

local fingers = [[<robot name="hand"><link name="world"/>
  <link name="left"><inertial><mass value="0.2"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.02 0.06 0.06"/></geometry></collision></link>
  <link name="right"><inertial><mass value="0.2"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.02 0.06 0.06"/></geometry></collision></link>
  <joint name="l" type="prismatic"><parent link="world"/><child link="left"/><origin xyz="-0.041 0 0.2"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="100" velocity="9"/></joint>
  <joint name="r" type="prismatic"><parent link="world"/><child link="right"/><origin xyz="0.041 0 0.2"/><axis xyz="-1 0 0"/>
    <limit lower="-1" upper="1" effort="100" velocity="9"/></joint></robot>]]

local scenes = {
  ["a soft box on the ground"] = function(world)
    return { ground(world), pad(world, { xyz = { 0, 0, 0.0205 } }), touch = { "ground, pad" } }
  end,
  ["a rigid ball on a soft box"] = function(world, rest) -- a flat one where it must not roll off
    local shape = with({ name = "stone", radius = 0.02, mass = 0.05, mu = 0.6 }, rest and { length = 0.02, xyz = { 0.004, 0, 0.0505 } }
      or { xyz = { 0.004, 0, 0.0605 }, velocity = { 0.1, 0, 0 } })
    local stone = rest and world:cylinder(shape) or world:sphere(shape)
    return { ground(world), pad(world, { xyz = { 0, 0, 0.0205 } }), { body = stone, mass = 0.05 }, touch = { "ground, pad", "pad, stone" } }
  end,
  ["a soft ball on a soft box"] = function(world)
    return { ground(world), pad(world, { xyz = { 0, 0, 0.0205 } }), ball(world, { xyz = { 0.003, 0, 0.071 } }),
      touch = { "ground, pad", "pad, ball" }, seconds = 4 } -- it rolls from one of its sides to the next
  end,
  ["soft balls on each other at a wall"] = function(world)
    local things = { ground(world), { body = world:box { name = "wall", fixed = true, size = { 0.02, 0.4, 0.2 }, xyz = { 0.0405, 0, 0.1 } } } }
    things[3] = ball(world, { name = "low", xyz = { 0, 0, 0.0301 } })
    things[4] = ball(world, { name = "high", xyz = { 0, 0.005, 0.0895 }, young = 2e4 })
    things.touch, things.seconds = { "ground, low", "low, high" }, 4
    return things
  end,
  ["cloth over a rigid ball"] = function(world, rest)
    return { { body = world:sphere { name = "globe", radius = 0.05, fixed = true } },
      cloth(world, { size = { 0.16, 0.14 }, cells = { 8, 7 }, xyz = { 0, 0, 0.0515 }, drag = rest and 5 or 0 }), touch = { "globe, cloth" }, seconds = 4 }
  end,
  ["cloth that meets itself"] = function(world)
    return { ground(world), cloth(world, { size = { 0.2, 0.05 }, cells = { 14, 3 }, xyz = { 0, 0, 0.101 }, rpy = { 0, 1.4, 0 }, young = 5e4,
      damping = 0.02, self_collision = true }), touch = { "ground, cloth", "cloth, cloth" }, steps = 60 }
  end,
  ["a cable round a drum"] = function(world)
    local points = { { -0.054, 0, -0.05 } }
    for i = 0, 30 do
      local angle = math.pi * i / 30
      points[#points + 1] = { -0.054 * math.cos(angle), 0, 0.054 * math.sin(angle) }
    end
    points[#points + 1] = { 0.054, 0, -0.045 }
    return { { body = world:cylinder { name = "drum", fixed = true, radius = 0.05, length = 0.05, rpy = { math.pi / 2, 0, 0 }, mu = 0.5 } },
      cable(world, { points = points, segments = 24 }), touch = { "drum, cable" } }
  end,
  ["a cable across a cable"] = function(world)
    return { ground(world), cable(world, { name = "under", points = { { -0.1, 0, 0.0042 }, { 0.1, 0, 0.0042 } }, segments = 10 }),
      cable(world, { name = "over", points = { { 0, -0.1, 0.0125 }, { 0.01, 0.1, 0.0125 } }, segments = 11, young = 3e5 }),
      touch = { "ground, under", "under, over" } }
  end,
  ["regions of friction on a belt"] = function(world)
    local belt = world:box { name = "belt", fixed = true, size = { 1, 1, 0.02 }, xyz = { 0, 0, -0.01 }, surface_velocity = { 0.1, 0, 0 } }
    return { { body = belt }, pad(world, { xyz = { 0, 0, 0.0221 }, contact_thickness = 2e-3, regions = {
      { name = "rough", nodes = { plane = { 1, 0, 0 }, offset = 0 }, mu = 1 },
      { name = "smooth", nodes = { plane = { -1, 0, 0 }, offset = 0 }, mu = 0.1 } } }), touch = { "belt, pad" } }
  end,
  ["a soft box that a link holds"] = function(world)
    local hand = world:box { name = "hand", size = { 0.02, 0.08, 0.04 }, mass = 0.3, xyz = { -0.06, 0, 0.0205 } }
    local held = pad(world, { xyz = { 0, 0, 0.0205 }, attach = { link = hand, nodes = "x_min" } })
    held.held = { hand }
    return { ground(world), { body = hand, mass = 0.3, holds = held }, held, touch = { "ground, hand", "ground, pad" } }
  end,
  ["a cable between the world and a box"] = function(world)
    local bob = world:box { name = "bob", size = { 0.03, 0.03, 0.03 }, mass = 0.1, xyz = { 0.165, 0, 0.0151 } }
    local rope = cable(world, { points = { { 0, 0, 0.06 }, { 0.15, 0, 0.0151 } }, segments = 12, pinned = "start", attach = { link = bob, nodes = "end" } })
    rope.held = { "world", bob }
    return { ground(world), { body = bob, mass = 0.1, holds = rope }, rope, touch = { "ground, bob" } }
  end,
  ["a finger under pressure on a box"] = function(world)
    local finger = world:soft { name = "finger", finger = { size = { 0.06, 0.02, 0.012 }, chambers = 2, wall = 0.002, floor = 0.003 },
      cells = { 9, 4, 3 }, young = 2e5, poisson = 0.4, damping = 0.05, xyz = { 0, 0, 0.0365 }, pinned = "x_min" }
    local box = world:box { name = "box", size = { 0.03, 0.04, 0.03 }, mass = 0.1, xyz = { 0.025, 0, 0.0151 } }
    local function mass()
      finger:set_pressure(1.5e4)
      return 1000 * finger:volume()
    end
    return { ground(world), { body = box, mass = 0.1 }, { body = finger, held = { "world" }, mass = mass }, touch = { "ground, box", "box, finger" } }
  end,
  ["a soft ball between two fingers"] = function(world)
    local hand, held = load_text(world, ".urdf", fingers), ball(world, { xyz = { 0, 0, 0.2 }, mu = 0.9 })
    world:controller({ "joint_pd", target = hand, kp = 2e3, kd = 50 }):set { position = { l = 0.006, r = 0.006 } }
    return { { body = hand }, held, robot = hand, touch = { "hand, ball" } }
  end,
}

-- Ways to step them: solver, law, integrator. `rest`: the tier in which weights are looked at; midpoint damps no contact,
-- and comes to rest late.
local function sap(options) return with({ solver = { "sap", tolerance = 1e-12 } }, options) end
local ways = {
  { name = "sap", options = sap {}, rest = "quick" },
  { name = "sap, law lagged", options = sap { law = "lagged" }, rest = "full" },
  { name = "sap, law similar", options = sap { law = "similar" } },
  { name = "sap, implicit_euler", options = sap { integrator = "implicit_euler" }, rest = "full" },
  { name = "sap, midpoint", options = sap { integrator = "midpoint" } },
  { name = "sap, quasistatic", options = sap { integrator = { "quasistatic", unactuated_mass_scale = 1 } }, statics = true },
}
local tier = os.getenv "STICTION_TEST_TIER" or "default"
local tiers = { quick = 1, default = 2, full = 3 }
for _, solver in ipairs(tier == "quick" and { "admm", "nsgs" } or { "admm", "nsgs", "apgd", "bisection", "ipm", "lemke", "newton_ncp", "qp" }) do
  -- ipm finds velocities, as sap does: its momentum is what the tolerance leaves
  ways[#ways + 1] = { name = solver, options = { solver = { solver, tolerance = solver == "ipm" and 1e-12 or 1e-10 } }, rest = (solver == "nsgs" or solver == "admm") and "default" or "full" }
end

-- ------------------------------------------------------------------------------------------------------------------ checks

local function scene(name, way, dt, rest)
  local options = { dt = dt }
  for key, value in pairs(way.options) do options[key] = value end
  local world = stn.world(options)
  local things = scenes[name](world, rest)
  for _, thing in ipairs(things) do
    if type(thing.mass) == "function" then thing.mass = thing.mass() end
  end
  return world, things
end

local parts = { "force", "normal_part", "friction_part" }

local function zero() return { force = { 0, 0, 0 }, normal_part = { 0, 0, 0 }, friction_part = { 0, 0, 0 }, pressing = 0 } end

local function add(sum, force, sign)
  for _, part in ipairs(parts) do sum[part] = combine(sum[part], force[part], sign) end
end

--- The sums of the contacts: on each name by each other name, and on each name in all. Contacts of a body with itself do not count.
local function summed(contacts)
  local by_pair, by_body, whole = {}, {}, 0
  local function enter(on, by, contact, sign)
    local key = on .. " by " .. by
    by_pair[key], by_body[on] = by_pair[key] or zero(), by_body[on] or zero()
    for _, sum in ipairs { by_pair[key], by_body[on] } do
      add(sum, contact, sign)
      sum.pressing = sum.pressing + (contact.state == "open" and 0 or 1)
    end
  end
  for _, c in ipairs(contacts) do
    whole = math.max(whole, norm(c.force))
    stn.near(norm(c.normal_part), math.abs(c.normal_force), 1e-12 * (1 + c.normal_force), "size of the normal part")
    stn.near(norm(c.friction_part), c.friction_force, 1e-12 * (1 + c.normal_force), "size of the friction")
    stn.near(combine(c.normal_part, c.friction_part, 1), c.force, 1e-12 * (1 + c.normal_force), "both parts")
    if c.a ~= c.b then
      enter(c.b, c.a, c, 1)
      enter(c.a, c.b, c, -1)
    end
  end
  return by_pair, by_body, whole
end

local function same(a, b, scale, what)
  for _, part in ipairs(parts) do
    local off = norm(combine(a[part], b[part], -1)) / scale
    assert(off <= 1e-12, ("%s, %s: %g of %g N"):format(what, part, off, scale))
  end
end

--- Pairs, bodies and contacts tell one and the same.
local function agree(world, things, step, name)
  local contacts = step:contacts()
  assert(#contacts == step.contact_count and #world:contacts() == #contacts)
  local by_pair, by_body, largest = summed(contacts)
  local scale = math.max(largest * math.sqrt(math.max(#contacts, 1)), 1e-9)
  for i, a in ipairs(things) do
    local whole, pressing = zero(), 0
    for j, b in ipairs(things) do
      if i ~= j then
        local what = ("%s: %s by %s"):format(name, a.body.name, b.body.name)
        local on_a, on_b = world:contact_force(a.body, b.body), world:contact_force(b.body, a.body)
        for _, part in ipairs { "force", "normal_part", "friction_part", "torque" } do
          local off = norm(combine(on_a[part], on_b[part], 1)) / scale
          assert(off <= 1e-12, ("%s, %s is not the opposite: %g"):format(what, part, off))
        end
        stn.near(on_a.normal_force, norm(on_a.normal_part), 1e-12 * scale)
        stn.near(on_a.friction_force, norm(on_a.friction_part), 1e-12 * scale)
        local sum = by_pair[a.body.name .. " by " .. b.body.name] or zero()
        same(on_a, sum, scale, what)
        assert(on_a.sticking + on_a.slipping == sum.pressing and on_b.sticking == on_a.sticking, what .. ": those that press")
        assert(world:in_contact(a.body, b.body) == (sum.pressing > 0), what .. ": in contact")
        add(whole, on_a, 1)
        pressing = pressing + sum.pressing
      end
    end
    local all = world:contact_force(a.body)
    same(all, whole, scale, name .. ": all on " .. a.body.name)
    same(all, by_body[a.body.name] or zero(), scale, name .. ": contacts of " .. a.body.name)
    assert(all.sticking + all.slipping == pressing and world:in_contact(a.body) == (pressing > 0), name .. ": what presses on " .. a.body.name)
  end
end

--- What links exert on the nodes of a body that they hold; and on a link that holds nodes.
local function attachments(thing)
  local sum = { 0, 0, 0 }
  for _, link in ipairs(thing.held or {}) do
    sum = combine(sum, thing.body:attachment_force(link), 1)
  end
  if thing.holds then
    sum = combine(sum, thing.holds.body:attachment_force(thing.body), -1)
  end
  return sum
end

local function velocity(thing)
  local v = thing.body:velocity()
  return v.linear or v
end

--- Weight, contacts and attachments of each body, and the largest of them.
local function forces(world, thing)
  local contact, held = world:contact_force(thing.body).force, attachments(thing)
  local sum = combine(combine(contact, held, 1), { 0, 0, -thing.mass * g }, 1)
  return sum, math.max(norm(contact), norm(held), thing.mass * g)
end

local names = {}
for name in pairs(scenes) do names[#names + 1] = name end
table.sort(names)

local function moving(things)
  local list = {}
  for _, thing in ipairs(things) do
    if thing.mass then list[#list + 1] = thing end
  end
  return list
end

--- In one step: does each body's momentum change by what acts on it, and that of the world by what acts from outside?
local function momentum(world, things, before, what)
  local whole = { 0, 0, 0 }
  for _, thing in ipairs(moving(things)) do
    local sum, largest = forces(world, thing)
    local now = velocity(thing)
    local made = combine(now, before[thing], -1)
    before[thing] = now
    whole = combine(whole, now, thing.mass)
    local off = norm(combine({ thing.mass * made[1], thing.mass * made[2], thing.mass * made[3] }, sum, -world.dt)) / (world.dt * largest)
    assert(off <= 1e-10, ("%s: momentum of %s is off by %g of the largest force"):format(what, thing.body.name, off))
  end
  if not things.robot then -- whose momentum is not counted here
    local off, size = norm(combine(world:momentum().linear, whole, -1)), math.max(norm(whole), 1e-3)
    assert(off <= 1e-10 * size, ("%s: world:momentum() is off by %g of %g kg m/s"):format(what, off, size))
  end
end

--- Pairs that press, with the links of bodies that have some.
local function pressing_pairs(world, contacts)
  local soft, found = {}, {}
  for _, body in ipairs(world:soft_bodies()) do soft[body.name] = true end
  for _, c in ipairs(contacts) do
    local a, b = c.a .. (soft[c.a] and "" or c.link_a), c.b .. (soft[c.b] and "" or c.link_b)
    if c.normal_impulse > 0 then found[a < b and a .. ", " .. b or b .. ", " .. a] = true end
  end
  return found
end

--- Takes what begins and ends from what pressed before, which then are the pairs that press.
local function follow(step, before, now, what)
  for _, way in ipairs { { step:begun(), true }, { step:ended(), nil } } do
    for _, p in ipairs(way[1]) do
      local a, b = p.a .. (p.link_a or ""), p.b .. (p.link_b or "")
      before[a < b and a .. ", " .. b or b .. ", " .. a] = way[2]
    end
  end
  for pair in pairs(before) do assert(now[pair], what .. ": no end is told of " .. pair) end
  for pair in pairs(now) do assert(before[pair], what .. ": no begin is told of " .. pair) end
end

--- Rows of a table as a list of { name = value }.
local function read(path)
  local columns, rows = {}, {}
  for line in io.lines(path) do
    local row, i = {}, 0
    for field in (line .. ","):gmatch "(.-)," do
      i = i + 1
      if columns.full then row[columns[i]] = tonumber(field) else columns[i] = field end
    end
    if columns.full then rows[#rows + 1] = row end
    columns.full = true
  end
  return rows
end

local measures = { ["normal_N"] = "normal_force", ["friction_N"] = "friction_force", sticking = "sticking", slipping = "slipping",
  ["slip_speed_m/s"] = "slip_speed", glide_gap_m = "glide_gap" }

local function same_table(path, told, what)
  local rows = read(path)
  assert(#rows == #told + 1, what .. ": a row for the start and for every step")
  for i, bodies in ipairs(told) do
    for name, force in pairs(bodies) do
      for column, key in pairs(measures) do
        local value = rows[i + 1][("contact[%s].%s"):format(name, column)]
        assert(value == force[key], ("%s, step %d: the table has %s = %s of %s, contact_force %g"):format(what, i, column, value, name, force[key]))
      end
    end
  end
end

for _, name in ipairs(names) do
  stn.test("pairs, bodies and contacts agree, and make momentum: " .. name, function()
    for _, way in ipairs(ways) do
      local what = name .. ", " .. way.name
      local world <close>, things = scene(name, way, 4e-3)
      local before, touched = {}, {}
      for _, thing in ipairs(moving(things)) do before[thing] = velocity(thing) end
      local path, told, pressing = files:path ".csv", {}, {}
      world:record(path, { "csv", forces = true, coordinates = false })
      for step in world:run { steps = things.steps or 25 } do
        agree(world, things, step, what)
        follow(step, pressing, pressing_pairs(world, step:contacts()), what)
        told[step.index] = {}
        for _, thing in ipairs(moving(things)) do
          local body, soft = thing.body.name, tostring(thing.body):match "^soft body"
          told[step.index][soft and body or body .. "/" .. body] = world:contact_force(thing.body)
        end
        if not way.statics then momentum(world, things, before, what) end
        for _, c in ipairs(step:contacts()) do
          if c.normal_impulse > 0 then touched[c.a .. ", " .. c.b], touched[c.b .. ", " .. c.a] = true, true end
        end
      end
      world:close_recordings()
      same_table(path, told, what)
      for _, pair in ipairs(way.statics and {} or things.touch) do assert(touched[pair], ("%s: %s do not touch"):format(what, pair)) end
    end
  end)
end

for _, name in ipairs(names) do
  stn.test("at rest contacts and what holds it carry a body's weight: " .. name, function()
    for _, way in ipairs(ways) do
      if way.rest and tiers[way.rest] <= tiers[tier] and (way.name == "sap" or name ~= "cloth that meets itself") then -- which takes minutes with others
        local what = name .. ", " .. way.name
        local world <close>, things = scene(name, way, 10e-3, true)
        for _ in world:run { seconds = things.seconds or 2 } do end
        for _, thing in ipairs(moving(things)) do
          local force = combine(forces(world, thing), velocity(thing), -(thing.drag or 0) * thing.mass) -- what creeps is held up by drag, too
          local off = norm(force) / (thing.mass * g)
          assert(off <= 1e-6, ("%s: on %s acts %g of its weight"):format(what, thing.body.name, off))
        end
        if things.robot then
          assert(world:held(things.robot, things[2].body))
          local left, right = world:contact_force(things[2].body, { things.robot, "left" }), world:contact_force(things[2].body, { things.robot, "right" })
          stn.near(combine(left.normal_part, right.normal_part, 1), { 0, 0, 0 }, 1e-6 * left.normal_force, "both fingers press alike")
          stn.near(left.friction_part[3] + right.friction_part[3], things[2].mass * g, 1e-6 * things[2].mass * g, "friction carries it")
        end
      end
    end
  end)
end
