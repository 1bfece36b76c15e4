-- SPDX-License-Identifier: Apache-2.0
-- stn.world { varied = true }: masses, frictions and gains that change while a world runs. A world with factors has the
-- bits of a world that was described with these masses and frictions.
local stn = require "stiction"

-- Balls, boxes and an arm that sweeps over them; factors are powers of two, so that products are exact.
local function scene(options, mass, friction, gain)
  local o = { dt = 0.002 }
  for key, value in pairs(options) do o[key] = value end
  local world = stn.world(o)
  world:ground { mu = 0.5 * friction }
  local objects = {
    world:box { name = "box", size = { 0.2, 0.3, 0.1 }, mass = 1.25 * mass, mu = 0.75 * friction, xyz = { 0.6, 0.1, 0.06 }, rpy = { 0.1, 0, 0.2 } },
    world:sphere { name = "ball", radius = 0.1, mass = 0.75 * mass, mu = 0.25 * friction, xyz = { 0.6, 0.2, 0.24 } },
    world:cylinder { name = "disc", radius = 0.1, length = 0.04, mass = 0.5 * mass, mu = 0.5 * friction, xyz = { 0.1, 0.7, 0.03 }, velocity = { 1, 0, 0 } },
  }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true, base = { xyz = { 0, 0, 0.1 } }, mass_factor = mass }
  local pd = world:controller { "joint_pd", target = arm, kp = 256 * gain, kd = 16 * gain, gravity_compensation = true }
  pd:set { position = { 0.3, 1.2, 0, -0.9, 0, 0.8, 0 } }
  objects[4] = arm
  return world, objects, pd
end

local function gains(factor)
  local kp, kd = {}, {}
  for i = 1, 7 do kp[i], kd[i] = 256 * factor, 16 * factor end
  return kp, kd
end

local function vary(world, objects, pd, mass, friction, gain)
  for _, object in ipairs(objects) do object:set_mass_factor(mass) end
  for _, object in ipairs { objects[1], objects[2], objects[3], world:group "ground1" } do object:set_friction_factor(friction) end
  if pd then
    local kp, kd = gains(gain)
    pd:set { kp = kp, kd = kd }
  end
end

local function same(a, b, what)
  for _, key in ipairs { "q", "v" } do
    for i, x in ipairs(a:state()[key]) do
      assert(x == b:state()[key][i], ("%s: %s[%d] is %.17g and %.17g"):format(what, key, i, x, b:state()[key][i]))
    end
  end
end

for _, options in ipairs {
  {}, { solver = "apgd" }, { solver = "nsgs" }, { solver = "pgs" }, { solver = "soft_step" }, { law = "hertz" },
  { integrator = "midpoint" }, { integrator = "theta" }, { integrator = "implicit_euler" }, { integrator = "explicit_euler" },
  { integrator = "quasistatic", dt = 0.01 }, { integrator = "xpbd" }, { stiction = true }, { threads = 2 },
  { solver = "nsgs", exact_contacts = true }, { sleep_velocity = 0.01 },
} do
  local words = {}
  for key, value in pairs(options) do words[#words + 1] = key .. " " .. tostring(value) end
  table.sort(words)
  local name = table.concat(words, ", ")
  stn.test("factors make the world that was described so: " .. name, function()
    options.varied = nil
    local described, _, its_pd = scene(options, 2, 0.5, 4)
    options.varied = true
    local world, objects, pd = scene(options, 1, 1, 1)
    vary(world, objects, pd, 2, 0.5, 4)
    local _ = its_pd
    assert(world:group "box":mass() == 2.5 and world:group "arm":link "iiwa14_link_4":mass() == described:group "arm":link "iiwa14_link_4":mass())
    for _ = 1, 200 do
      described:step()
      world:step()
    end
    same(described, world, "described and varied")
    local clone = world:clone()                              -- has masses of its own
    clone:group "box":set_mass_factor(8)
    assert(world:group "box":mass() == 2.5 and clone:group "box":mass() == 10)
    clone:group "box":set_mass_factor(2)
    for _ = 1, 20 do world:step() clone:step() end
    assert(world:hash() == clone:hash())
  end)
end

stn.test("contacts that friction reaches are found by the largest factor", function()
  local function slide(options, friction)
    local world = stn.world(options)
    world:ground { mu = 0.5 * friction }
    world:sphere { name = "ball", radius = 0.1, mass = 1, mu = 0.5 * friction, xyz = { 0, 0, 0.3 }, velocity = { 20, 0, 0 } }
    return world
  end
  local described, world = slide({ law = "sap" }, 16), slide({ law = "sap", varied = true }, 1)
  world:group "ball":set_friction_factor(16)
  world:group "ground1":set_friction_factor(16)
  local contacts = 0
  for _ = 1, 50 do
    described:step()
    world:step()
    contacts = contacts + #world:contacts()
    assert(#described:contacts() == #world:contacts())
  end
  assert(contacts > 0)
  same(described, world, "described and varied")
end)

stn.test("a batch of varied worlds, each beside one alone", function()
  local function alone(i)
    local world, objects, pd = scene({ varied = true }, 1, 1, 1)
    vary(world, objects, pd, 1 + i / 7, 1.5 - i / 10, 1 + i)
    return world
  end
  local base = scene({ varied = true }, 1, 1, 1)
  for _, threads in ipairs { 1, 2, 4 } do
    local count = 8
    local batch = stn.batch { base, count = count, threads = threads }
    assert(batch:columns "mass_factor" == 8 + 3 and batch:get("mass_factor", 1)[2] == 1)
    local worlds = {}
    for i = 1, count do
      worlds[i] = alone(i)
      batch:visit(i, function(world)
        vary(world, { world:group "box", world:group "ball", world:group "disc", world:group "arm" }, nil, 1 + i / 7, 1.5 - i / 10)
      end)
      local kp, kd = gains(1 + i)
      batch:set("reference.kp", kp, i)
      batch:set("reference.kd", { kd }, i)
    end
    for _ = 1, 10 do
      assert(batch:step(10) == 0)
      for i = 1, count do
        for _ = 1, 10 do worlds[i]:step() end
        assert(batch:hash(i) == worlds[i]:hash(), ("world %d, %d threads"):format(i, threads))
      end
    end
    local rows = batch:get "friction_factor"                 -- by field in place of visits
    batch:set("friction_factor", rows[3], { 1 })
    batch:set("mass_factor", batch:get("mass_factor", 3), { 1 })
    batch:copy(3, { 2 })
    assert(batch:step(5) == 0)
    for _ = 1, 5 do worlds[3]:step() end
    assert(batch:hash(2) == worlds[3]:hash() and batch:hash(1) ~= batch:hash(2))
    batch:reset()
    assert(batch:get("mass_factor", 5)[3] == 1)
  end
end)

stn.test("snapshots, reset and a recording have them", function()
  local world, objects, pd = scene({ varied = true }, 1, 1, 1)
  world:step()
  local before = world:snapshot()
  vary(world, objects, pd, 3, 0.3, 2)
  local after = world:snapshot()
  for _ = 1, 20 do world:step() end
  local hash = world:hash()
  world:restore(before)
  assert(world:group "box":mass() == 1.25)
  world:restore(after)
  assert(world:group "box":mass() == 3.75)
  for _ = 1, 20 do world:step() end
  assert(world:hash() == hash)
  world:reset()
  assert(world:group "box":mass() == 1.25)
end)

stn.test("a heavier body rests deeper on a spring and a slope holds by friction", function()
  local world = stn.world { varied = true, dt = 0.002, gravity = { 2, 0, -9 } }
  world:ground { mu = 0.4, stiffness = 1e4, relaxation_time = 0.05 }
  local box = world:box { name = "box", size = { 0.2, 0.2, 0.2 }, mass = 1, mu = 0.4, xyz = { 0, 0, 0.1 } }
  for _ = 1, 1000 do world:step() end
  local light = 0.1 - box:position()[3]
  assert(box:speed() < 1e-3)                                 -- 2 < 0.4 * 9
  box:set_mass_factor(4)
  for _ = 1, 1000 do world:step() end
  local heavy = 0.1 - box:position()[3]
  assert(math.abs(heavy / light - 4) < 1e-3, ("%g m, then %g m"):format(light, heavy))
  box:set_friction_factor(0.25)                              -- harmonic mean of 0.4 and 0.1: 0.16; 2 - 0.16 * 9 = 0.56
  local v = box:velocity().linear[1]
  for _ = 1, 500 do world:step() end
  assert(math.abs((box:velocity().linear[1] - v) - 0.56) < 5e-3, ("%g m/s gained in a second"):format(box:velocity().linear[1] - v))
  box:set_friction_factor(0)
  v = box:velocity().linear[1]
  for _ = 1, 100 do world:step() end
  assert(math.abs((box:velocity().linear[1] - v) - 0.4) < 1e-6)
end)

stn.test("bad input is told", function()
  local fixed = stn.world {}
  local ball = fixed:sphere { name = "ball", radius = 0.1, mass = 1 }
  fixed:step()
  stn.fails(function() ball:set_mass_factor(2) end, "make it with varied = true")
  stn.fails(function() ball:set_friction_factor(2) end, "make it with varied = true")
  local batch = stn.batch { fixed, count = 2 }
  assert(batch:columns "mass_factor" == 0)
  stn.fails(function() batch:set("mass_factor", { {}, {} }) end, "varied = true")
  local world = stn.world { varied = true }
  ball = world:sphere { name = "ball", radius = 0.1, mass = 1 }
  local floor = world:ground {}
  world:step()
  for _, factor in ipairs { 0, -1, 0 / 0, math.huge } do
    stn.fails(function() ball:set_mass_factor(factor) end, "of ball, must be finite and above 0")
  end
  stn.fails(function() ball:set_friction_factor(-1) end, "must be finite and at least 0")
  stn.fails(function() floor:set_mass_factor(2) end, "nothing of 'ground1' moves")
  batch = stn.batch { world, count = 2 }
  stn.fails(function() batch:set("mass_factor", { 1, -2 }) end, "factor -2 of the mass of body 1")
  assert(batch:get("mass_factor", 1)[2] == 1)
  stn.fails(function() stn.world { varied = 1 } end, "varied")
  local arm = scene({}, 1, 1, 1)
  batch = stn.batch { arm, count = 2 }
  stn.fails(function() batch:get "reference.stiffness" end, "no controller takes references called 'stiffness'")
  batch:set("reference.kp", { -1, 1, 1, 1, 1, 1, 1 }, 2)
  assert(batch:step() == 1 and batch:error(2):find("must be >= 0", 1, true))
end)

stn.test("references of controllers are found beside those of elements", function()
  local world = stn.world { dt = 0.002, gravity = { 0, 0, 0 } }
  local soft = world:soft { name = "soft", pinned = "x_min", cells = { 18, 4, 3 }, young = 5e5,
    finger = { size = { 0.09, 0.02, 0.015 }, chambers = 4, wall = 0.002, floor = 0.004 } }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true, base = { xyz = { 2, 0, 0 } } }
  local pd = world:controller { "joint_pd", target = arm, kp = 3, kd = 4 }
  world:step()
  soft:set_pressure(2e4)
  pd:set { kp = { iiwa14_joint_2 = 5 } }                     -- the other joints keep theirs
  local batch = stn.batch { world, count = 1 }
  local kp, kd = batch:get("reference.kp", 1), batch:get("reference.kd", 1)
  for i = 1, 7 do assert(kp[i] == (i == 2 and 5 or 3) and kd[i] == 4, i) end
end)

stn.test("factors stay a world's own where its integrator changes or it gets a controller beside clones", function()
  local world, objects, pd = scene({ varied = true }, 1, 1, 1)
  world:step()
  local clone <close> = world:clone()
  world.integrator = "midpoint"
  vary(world, objects, pd, 4, 0.5, 1)
  assert(world:group "box":mass() == 5 and clone:group "box":mass() == 1.25)
  local alone, its, its_pd = scene({ varied = true }, 1, 1, 1)  -- the same without a clone
  alone:step()
  alone.integrator = "midpoint"
  vary(alone, its, its_pd, 4, 0.5, 1)
  for _ = 1, 30 do world:step() alone:step() end
  same(world, alone, "with a clone and without")
  clone:group "box":set_mass_factor(8)
  local second <close> = clone:clone()
  assert(second:group "box":mass() == 10 and world:group "box":mass() == 5)
end)

stn.test("patches, and pairs whose friction is stated", function()
  local function slide(options, mass, friction)
    local world = stn.world { dt = 0.002, contact = "hydroelastic", gravity = { 3, 0, -9 }, varied = options.varied }
    world:ground { mu = 0.5 * friction }
    local box = world:box { name = "box", size = { 0.2, 0.2, 0.1 }, mass = 2 * mass, mu = 0.5 * friction, modulus = 1e6, xyz = { 0, 0, 0.0499 } }
    return world, box
  end
  local described, world, box = slide({}, 2, 0.25), slide({ varied = true }, 1, 1)
  box:set_mass_factor(2)
  box:set_friction_factor(0.25)
  world:group "ground1":set_friction_factor(0.25)
  for _ = 1, 100 do described:step() world:step() end
  same(described, world, "described and varied")
  assert(box:speed() > 0.1)
  local stated = stn.world { varied = true, gravity = { 3, 0, -9 } }
  local floor = stated:ground {}
  local held = stated:box { size = { 0.2, 0.2, 0.1 }, mass = 2, xyz = { 0, 0, 0.05 } }
  stated:contact_material { mu = 0.8, a = floor, b = held }
  held:set_friction_factor(0)
  for _ = 1, 100 do stated:step() end
  assert(held:speed() < 1e-3)
end)

stn.test("predictions, linearisations and sensors follow", function()
  local world = stn.world { varied = true, dt = 0.01 }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true }
  local sensor = world:sensor { "force_torque", link = arm:link "iiwa14_link_1" }
  world:step()
  local function weight()
    local f = sensor:read().force
    return math.sqrt(f[1] ^ 2 + f[2] ^ 2 + f[3] ^ 2)
  end
  arm:joint "iiwa14_joint_2":set_effort(5)
  world:predict(nil, nil, { v = world:state().v })
  local _, B = world:linearize { joints = { "iiwa14_joint_2" } }
  arm:set_mass_factor(3)
  local predicted = world:predict(nil, nil, { v = world:state().v })
  local _, heavy = world:linearize { joints = { "iiwa14_joint_2" } }
  assert(heavy[9][1] < 0.7 * B[9][1]) -- rate of the second joint by its effort; its rotor stays
  local clone <close> = world:clone()
  clone:step()
  for i, x in ipairs(clone:state().q) do assert(predicted.q[i] == x, i) end
  for i, joint in ipairs(arm:joints()) do joint:set_effort(0) assert(i <= 7) end
  local still = stn.world { varied = true }
  local held = still:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true }
  still:controller { "joint_pd", target = held, kp = 1e5, kd = 1e3, gravity_compensation = true }
  sensor = still:sensor { "force_torque", link = held:link "iiwa14_link_1" }
  for _ = 1, 500 do still:step() end
  local light = weight()
  held:set_mass_factor(3)
  for _ = 1, 500 do still:step() end
  assert(math.abs(weight() / light - 3) < 1e-6, weight() / light)
end)

stn.test("nothing, and kinematic bodies", function()
  local empty = stn.world { varied = true }
  empty:step()
  local batch = stn.batch { empty, count = 3 }
  assert(batch:columns "mass_factor" == 1 and batch:step(3) == 0)
  local world = stn.world { varied = true }
  local plate = world:box { name = "plate", size = { 0.1, 0.1, 0.1 } }
  plate:kinematic(function() return { xyz = { 0, 0, 1 } } end)
  world:step()
  stn.fails(function() plate:set_mass_factor(2) end, "plate is kinematic, its mass does nothing")
end)
