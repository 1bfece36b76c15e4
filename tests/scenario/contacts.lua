-- SPDX-License-Identifier: Apache-2.0
-- Materials of every shape, what is told of a contact, who collides with whom.
local stn = require "stiction"
local files <close> = require "files"()

local tetrahedron = files:write(".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")

-- What makes each shape, without its material.
local shapes = {
  ground = {},
  sphere = { radius = 0.1 },
  box = { size = { 0.2, 0.2, 0.2 } },
  capsule = { radius = 0.1, length = 0.1 },
  cylinder = { radius = 0.1, length = 0.1 },
  ellipsoid = { radii = { 0.1, 0.2, 0.3 } },
  mesh = { file = tetrahedron },
  height_field = { size = { 1, 1 }, heights = { { 0, 0 }, { 0, 0 } } },
  compound = {},
}

local material = { mu = 0.2, stiffness = 1e4, relaxation_time = 0.01, dissipation = 10, restitution = 0.3, modulus = 1e6 }

--- Makes a shape with this material; a compound carries it on its one part.
local function make(world, shape, keys)
  local spec = {}
  for key, value in pairs(shapes[shape]) do
    spec[key] = value
  end
  for key, value in pairs(keys) do
    spec[key] = value
  end
  if shape == "compound" then
    spec[1], spec.radius = "sphere", 0.1
    spec = { shapes = { spec } }
  end
  return world[shape](world, spec)
end

stn.test("every shape takes the same material, colour and filter keys, and names the nearest of a wrong one", function()
  for shape in pairs(shapes) do
    make(stn.world {}, shape, material)
    make(stn.world {}, shape, { color = { 1, 0, 0 }, category = 2, mask = 4, surface_velocity = { 0, 0, 1 }, visual = false })
    make(stn.world {}, shape, { stiffness = math.huge, modulus = math.huge, mu = 0, relaxation_time = 0, dissipation = 0 })
    stn.fails(function()
      make(stn.world {}, shape, { stifness = 1 })
    end, "unknown key 'stifness', did you mean 'stiffness'?")
    for key, bad in pairs {
      mu = { -0.1, "must be >= 0" }, stiffness = { 0, "must be > 0; math.huge is rigid" },
      relaxation_time = { -1, "must be >= 0" }, dissipation = { math.huge, "dissipation = inf" },
      restitution = { 1.5, "restitution = 1.5" }, modulus = { "soft", "modulus" },
    } do
      local message = stn.fails(function()
        make(stn.world {}, shape, { [key] = bad[1] })
      end, bad[2])
      assert(message:match "contacts%.lua:%d+: " and message:find(key, 1, true) and not message:find "\n", message)
    end
  end
end)

--- A ball of this material on ground of another; its first contact, when it has one.
local function touch(surface, ground, describe)
  local world = stn.world { contact_point = ground.contact_point }
  local floor = world:ground(ground.material or {})
  surface.name, surface.radius, surface.xyz = "ball", 0.1, { 0, 0, 0.0999 }
  local ball = world:sphere(surface)
  if describe then
    describe(world, ball, floor)
  end
  return world:step():contacts()[1], world
end

stn.test("the problem's file holds what the two surfaces and the overrides make of a contact", function()
  local other = { mu = 0.6, stiffness = 3e4, relaxation_time = 0.02, dissipation = 20, restitution = 0.1 }
  local function saved(world)
    local path, values = files:path ".json", {}
    world:save_problem(path)
    local file <close> = assert(io.open(path))
    local text = file:read "a"
    for _, key in ipairs { "mu1", "mu2", "stiffness", "relaxation_time", "dissipation", "restitution" } do
      values[#values + 1] = tonumber(text:match('"' .. key .. '": *([%d.eE+-]+)'))
    end
    return values
  end
  local contact, world = touch({ mu = 0.2, stiffness = 1e4, relaxation_time = 0.01, dissipation = 10, restitution = 0.3 }, { material = other })
  stn.near(contact.mu, 0.3, 1e-15, "friction")
  stn.near(saved(world), { 0.3, 0.3, 7500, 0.03, 12.5, 0.3 }, 1e-12, "combined")
  _, world = touch({ mu = 0.2, stiffness = 1e4, relaxation_time = 0.01, dissipation = 10, restitution = 0.3 }, { material = other }, function(w, ball)
    w:contact_material { mu = 0.9, dissipation = 3 }
    w:contact_material { a = ball, restitution = 0.7, stiffness = 2e4 }
    w:contact_material { b = ball, mu = 0.8 }
  end)
  stn.near(saved(world), { 0.8, 0.8, 2e4, 0.03, 3, 0.7 }, 1e-12, "overridden")
  stn.fails(function()
    stn.world {}:contact_material { mu = 1, stifness = 2 }
  end, "did you mean 'stiffness'?")
end)

stn.test("a contact acts where the world's rule says", function()
  for rule, z in pairs { stiffness = -0.25e-4, midpoint = -0.5e-4, a = 0, b = -1e-4 } do
    local contact = touch({ stiffness = 1e4 }, { contact_point = rule, material = { stiffness = 3e4 } })
    stn.near(contact.point, { 0, 0, z }, 1e-16, rule) -- a is the ground, the stiffer one
    stn.near(contact.distance, -1e-4, 1e-16, "distance")
    stn.near(contact.normal, { 0, 0, 1 }, 1e-15, "from the ground into the ball")
    assert(contact.a == "ground1" and contact.b == "ball" and contact.link_b == "ball", contact.a)
  end
end)

stn.test("the id follows a contact through time, a restored state and a clone", function()
  local world = stn.world { dt = 0.005 }
  world:ground {}
  local box = world:box { size = { 0.2, 0.2, 0.2 }, xyz = { 0, 0, 0.1 } }
  local function corners(w)
    local by_id, count = {}, 0
    for _, contact in ipairs(w:step():contacts()) do
      assert(math.type(contact.id) == "integer" and not by_id[contact.id])
      by_id[contact.id], count = contact.point, count + 1
    end
    stn.near(count, 4, 0, "corners")
    return by_id
  end
  local first, snapshot = corners(world), nil
  for step = 1, 40 do
    box:apply_force { force = { 0, 8, 0 }, point = box:position() } -- pushes it along y
    for id, point in pairs(corners(world)) do
      stn.near(point[1], first[id][1], 1e-9, "the same corner")
    end
    snapshot = step == 20 and world:snapshot() or snapshot
  end
  world:restore(snapshot)
  for id in pairs(corners(world:clone())) do
    assert(first[id])
  end
  for id in pairs(corners(world)) do
    assert(first[id])
  end
end)

stn.test("categories, masks and disabled pairs decide who collides", function()
  local function touches(ball, ground, describe)
    return touch(ball, { material = ground }, describe) ~= nil
  end
  assert(touches({}, {}))
  assert(not touches({ category = 2 }, { mask = 1 }))
  assert(touches({ category = 2 }, { mask = 3 }))
  assert(not touches({ category = 2, mask = 4 }, { mask = 3 })) -- the ground's category is 1
  assert(touches({ category = 2, mask = 4 }, { mask = 3, category = 5 }))
  assert(not touches({}, {}, function(world, ball, floor)
    world:disable_collisions(ball, floor)
  end))
end)

stn.test("margin_only: contacts come in within the margin, not from where the law reaches", function()
  for _, law in ipairs { "sap", "lagged", "similar" } do
    for _, case in ipairs { { false, 0, 1 }, { true, 0, 0 }, { true, 0.02, 1 } } do -- 1 cm above, down by 2 cm a step
      local only, margin, expected = table.unpack(case)
      local world = stn.world { dt = 0.01, law = law, margin = margin, margin_only = only }
      world:ground {}
      world:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, 0.11 }, velocity = { 0, 0, -2 } }
      stn.near(world:step().contact_count, expected, 0, ("%s, margin %g, alone: %s"):format(law, margin, only))
    end
  end
end)

-- Nothing moves, so v_star tells no speed by which the wall would be reached; only the plunger's force on the block does.
for _, solver in ipairs { "nsgs", "pgs", "bisection", "admm_ncp" } do
  stn.test("what is pressed together by other bodies stays in touch across a gap of round-off: " .. solver, function()
    local world = stn.world { gravity = { 0, 0, 0 }, solver = solver, exact_contacts = true }
    local wall = world:box { size = { 0.1, 1, 1 }, fixed = true, xyz = { -0.05, 0, 0 } }
    local block = world:box { size = { 0.04, 0.04, 0.04 }, mass = 0.5, xyz = { 0.02 + 1e-9, 0, 0 } }
    local plunger = world:box { size = { 0.04, 0.04, 0.04 }, mass = 0.1, xyz = { 0.06 + 1e-9, 0, 0 } }
    plunger:apply_force { force = { -60, 0, 0 } }
    for _ in world:run { steps = 20 } do
      stn.near(world:contact_force(block, wall).normal_force, 60, 1e-2, "force on the wall [N]")
    end
    stn.near(block:position()[1], 0.02, 1e-8, "place of the block [m]")
  end)
end
