-- What slides over a floor of several parts does not run into the side of the next one, which the one before covers;
-- real walls, kerbs and posts stand. A second shape on a body takes no contact from the first.
local stn = require "stiction"
local worse = require "worse"

local function mesh_file(corners, triangles)
  local path = os.tmpname() .. ".obj"
  local file = assert(io.open(path, "w"))
  for _, c in ipairs(corners) do file:write(("v %.17g %.17g %.17g\n"):format(c[1], c[2], c[3])) end
  for _, t in ipairs(triangles) do file:write(("f %d %d %d\n"):format(t[1], t[2], t[3])) end
  file:close()
  return path
end

-- Two squares that share no corners, 1e-8 m apart in height.
local function cracked()
  local corners, triangles = {}, {}
  for i, x in ipairs { -1, 0 } do
    local z, first = (i - 1) * 1e-8, #corners
    for _, c in ipairs { { x, -1, z }, { x + 1, -1, z }, { x + 1, 1, z }, { x, 1, z } } do corners[#corners + 1] = c end
    triangles[#triangles + 1] = { first + 1, first + 2, first + 3 }
    triangles[#triangles + 1] = { first + 1, first + 3, first + 4 }
  end
  return mesh_file(corners, triangles)
end

local function wedge() -- its edge, at x = 0.1, is sharp
  return mesh_file({ { 0.1, -0.1, 0 }, { -0.1, -0.1, 0 }, { -0.1, -0.1, 0.1 }, { 0.1, 0.1, 0 }, { -0.1, 0.1, 0 }, { -0.1, 0.1, 0.1 } },
    { { 1, 2, 3 }, { 4, 6, 5 }, { 1, 4, 5 }, { 1, 5, 2 }, { 2, 5, 6 }, { 2, 6, 3 }, { 1, 3, 6 }, { 1, 6, 4 } })
end

local floors = {
  boxes = function(world)
    for x = -0.5, 0.5 do world:box { size = { 1, 2, 1 }, xyz = { x, 0, -0.5 }, fixed = true } end
  end,
  fields = function(world)
    for x = -0.5, 0.5 do
      world:height_field { size = { 1, 2 }, rows = 3, columns = 4, heights = function() return 0 end, xyz = { x, 0, 0 } }
    end
  end,
  mesh = function(world)
    local path = cracked()
    world:mesh { file = path, fixed = true, convex = false }
    os.remove(path)
  end,
}
local bodies = {
  box = function(world, more) more.size = { 0.2, 0.2, 0.2 } return world:box(more) end,
  cylinder = function(world, more) more.radius, more.length = 0.1, 0.2 return world:cylinder(more) end,
}

stn.test("seams are not felt beside patches, and these stay whole", function()
  local world = stn.world { dt = 0.002, solver = { "sap", tolerance = 1e-10 }, contact = "hydroelastic_with_fallback" }
  local first = world:sphere { name = "soft", radius = 0.1, modulus = 1e5, relaxation_time = 0.03, mass = 1, mu = 0, xyz = { 0.9, 0.9, 0.099 }, resolution = 0.05 }
  floors.boxes(world)
  local slider = bodies.box(world, { mass = 1, mu = 0, xyz = { -0.4, 0, 0.0999985 }, velocity = { 1, 0.1, 0 } })
  local last = world:sphere { name = "softer", radius = 0.1, modulus = 5e4, relaxation_time = 0.03, mass = 1, mu = 0, xyz = { -0.9, -0.9, 0.099 }, resolution = 0.05 }
  local patches = 0
  for step in world:run { seconds = 0.8 } do patches = worse(patches, step.patch_count) end
  stn.near(slider:velocity().linear, { 1, 0.1, 0 }, 1e-5, "velocity")
  stn.near(slider:position(), { 0.4, 0.08, 0.1 }, 1e-5, "position")
  assert(patches == 2)
  for ball, expected in pairs { [first] = { "box2", 1e5 }, [last] = { "box1", 5e4 } } do -- f = pi E x^2
    stn.near(ball:position()[3], 0.1 - math.sqrt(9.81 / (math.pi * expected[2])), 5e-4, "height")
    stn.near(world:patch(expected[1], ball).normal_force, 9.81, 1e-6, "weight")
  end
end)

for floor, add_floor in pairs(floors) do
  for body, add_body in pairs(bodies) do
    stn.test(("a %s slides over the seam of %s"):format(body, floor), function()
      local world = stn.world { dt = 0.002, solver = { "sap", tolerance = 1e-10 } }
      add_floor(world)
      local slider = add_body(world, { mass = 1, mu = 0, xyz = { -0.4, 0, 0.0999985 }, velocity = { 1, 0.1, 0 } })
      for _ in world:run { seconds = 0.8 } do end
      stn.near(slider:velocity().linear, { 1, 0.1, 0 }, 1e-5, "velocity")
      stn.near(slider:position(), { 0.4, 0.08, 0.1 }, 1e-5, "position")
    end)
  end
end

stn.test("a body of two boxes slides over rails", function()
  local world = stn.world { dt = 0.002, solver = { "sap", tolerance = 1e-10 } }
  for i = -4, 4 do world:box { size = { 0.05, 1, 0.1 }, xyz = { 0.25 * i, 0, -0.05 }, fixed = true } end
  local half = { 0.5, 0.2, 0.1 }
  local sledge = world:compound { mass = 1, xyz = { -0.3, 0, 0.0499985 }, velocity = { 1, 0, 0 },
    shapes = { { "box", size = half, mu = 0, xyz = { -0.25, 0, 0 } }, { "box", size = half, mu = 0, xyz = { 0.25, 0, 0 } } } }
  for _ in world:run { seconds = 0.5 } do end
  stn.near(sledge:velocity().linear, { 1, 0, 0 }, 1e-5, "velocity")
end)

local obstacles = {
  wall = { "box", size = { 0.1, 2, 1 }, xyz = { 0.35, 0, 0.4 } },
  kerb = { "box", size = { 0.1, 2, 0.001 }, xyz = { 0.35, 0, 0.0005 } },
  post = { "box", size = { 0.1, 0.05, 1 }, xyz = { 0.35, 0, 0.5 } },
}
for name, obstacle in pairs(obstacles) do
  stn.test(("a box and a sharp wedge stop at a %s"):format(name), function()
    for _, shape in ipairs { "box", "wedge" } do
      local world = stn.world { dt = 0.002 }
      world:box { size = { 4, 4, 1 }, xyz = { 0, 0, -0.5 }, fixed = true }
      world:box { size = obstacle.size, xyz = obstacle.xyz, fixed = true }
      local path = wedge()
      local slider = shape == "box" and bodies.box(world, { mass = 1, mu = 0.1, xyz = { 0.15, 0, 0.1 }, velocity = { 0.2, 0, 0 } })
        or world:mesh { file = path, mass = 1, mu = 0.1, xyz = { 0.15, 0, 0 }, velocity = { 0.2, 0, 0 } }
      os.remove(path)
      slider:apply_force { force = { 2, 0, 0 } }
      for _ in world:run { seconds = 1 } do end
      local low = 0
      for _, contact in ipairs(world:contacts()) do
        if math.abs(contact.normal[1]) > 0.9 and contact.point[3] < 0.002 then low = low + 1 end
      end
      stn.check(shape .. " stopped", { value = math.abs(slider:position()[1] - 0.2), limit = 1e-3, unit = "m" })
      if shape == "box" then stn.check("it is carried at its foot", { value = low, least = 2 }) end
    end
  end)
end

-- A block with a square pocket of half width w and depth 0.1: floor at z = 0, walls that face inwards, rim, outside.
local function pocket(w)
  local corners, triangles, first = {}, {}, {}
  for ring, size in ipairs { { w, 0 }, { w, 0.1 }, { 0.15, 0.1 }, { 0.15, -0.1 } } do
    first[ring] = #corners
    for _, c in ipairs { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 } } do corners[#corners + 1] = { c[1] * size[1], c[2] * size[1], size[2] } end
  end
  local function quad(a, b, c, d)
    triangles[#triangles + 1] = { a, b, c }
    triangles[#triangles + 1] = { a, c, d }
  end
  quad(1, 2, 3, 4)
  for i = 1, 4 do
    local j = i % 4 + 1
    for ring = 1, 3 do quad(first[ring] + j, first[ring] + i, first[ring + 1] + i, first[ring + 1] + j) end
  end
  quad(16, 15, 14, 13)
  return mesh_file(corners, triangles)
end

local function step_mesh(height) -- a floor, a riser at x = 0.3 that faces it, and what is behind
  return mesh_file({ { -2, -1, 0 }, { 0.3, -1, 0 }, { 0.3, 1, 0 }, { -2, 1, 0 }, { 0.3, -1, height }, { 2, -1, height }, { 2, 1, height }, { 0.3, 1, height } },
    { { 1, 2, 3 }, { 1, 3, 4 }, { 2, 5, 8 }, { 2, 8, 3 }, { 5, 6, 7 }, { 5, 7, 8 } })
end

local function cube_and(more) -- nothing more, a ball inside of the cube, or the cube as two halves
  local half = { "box", size = { 0.05, 0.1, 0.1 }, mu = 0.5, xyz = { -0.025, 0, 0 } }
  if more == "halves" then
    return { half, { "box", size = half.size, mu = 0.5, xyz = { 0.025, 0, 0 } } }
  end
  return { { "box", size = { 0.1, 0.1, 0.1 }, mu = 0.5 }, more == "ball" and { "sphere", radius = 1e-3, mu = 0.5 } or nil }
end

for _, more in ipairs { "nothing", "ball", "halves" } do
  stn.test(("a cube with %s more rests in a square pocket"):format(more), function()
    for _, clearance in ipairs { 1e-4, 1e-3, 5e-3 } do
      local world = stn.world { dt = 0.002 }
      local path = pocket(0.05 + clearance)
      world:mesh { name = "pocket", file = path, fixed = true, convex = false }
      os.remove(path)
      local cube = world:compound { name = "cube", mass = 1, xyz = { 0, 0, 0.06 }, shapes = cube_and(more) }
      local deepest = 0
      for step in world:run { seconds = 0.3 } do
        deepest = worse(deepest, step.overlap_m)
        assert(step.overlap_without_contact_m == 0)
      end
      stn.near(cube:position(), { 0, 0, 0.05 }, 1e-5, "position")
      assert(deepest < 1e-5, ("overlap %g m"):format(deepest))
    end
  end)

  stn.test(("a cube with %s more, pushed against a step of a mesh, stays before it"):format(more), function()
    local world = stn.world { dt = 0.002 }
    local path = step_mesh(0.08)
    world:mesh { name = "ground", file = path, fixed = true, convex = false }
    os.remove(path)
    local cube = world:compound { name = "cube", mass = 1, xyz = { 0.2, 0, 0.0501 }, shapes = cube_and(more) }
    cube:apply_force { force = { 8, 0, 0 } }
    local deepest = 0
    for step in world:run { seconds = 1 } do deepest = worse(deepest, step.overlap_m) end
    stn.near(cube:position(), { 0.25, 0, 0.05 }, 1e-4, "position")
    assert(deepest < 1e-4, ("overlap %g m"):format(deepest))
    stn.near(world:distance(cube, "ground").distance, -deepest, 1e-6, "distance")
  end)
end

-- Floors of tiles, each top with a rise of its own, and vertical risers between them: a mesh of triangles without common corners.
local function tiles(count, cell, height, seed)
  local corners, triangles, z = {}, {}, {}
  local function quad(...)
    local first = #corners
    for _, c in ipairs { ... } do corners[#corners + 1] = c end
    triangles[#triangles + 1] = { first + 1, first + 2, first + 3 }
    triangles[#triangles + 1] = { first + 1, first + 3, first + 4 }
  end
  for i = 1, count do
    z[i] = {}
    for j = 1, count do
      seed = (seed * 16807) % 2147483647
      z[i][j] = height * seed / 2147483647
    end
  end
  for i = 1, count do
    for j = 1, count do
      local x, y, h = (i - 1 - count / 2) * cell, (j - 1 - count / 2) * cell, z[i][j]
      local X, Y = x + cell, y + cell
      quad({ x, y, h }, { X, y, h }, { X, Y, h }, { x, Y, h })
      local g = i < count and z[i + 1][j]
      if g and g > h then quad({ X, y, h }, { X, y, g }, { X, Y, g }, { X, Y, h }) end
      if g and g < h then quad({ X, y, g }, { X, Y, g }, { X, Y, h }, { X, y, h }) end
      g = j < count and z[i][j + 1]
      if g and g > h then quad({ x, Y, h }, { X, Y, h }, { X, Y, g }, { x, Y, g }) end
      if g and g < h then quad({ x, Y, g }, { x, Y, h }, { X, Y, h }, { X, Y, g }) end
    end
  end
  return mesh_file(corners, triangles)
end

for seed = 8, 9 do stn.test(("the feet of a quadruped do not sink into random steps of 8 cm, %d"):format(seed), function()
  local world = stn.world { dt = 0.002 }
  local path = tiles(12, 0.25, 0.08, seed)
  world:mesh { name = "ground", file = path, fixed = true, convex = false, mu = 0.7 }
  os.remove(path)
  local robot = world:load { "../../models/anymal/anymal.urdf", name = "robot", mu = 0.8 }
  robot:set_pose { xyz = { 0.03, 0.07, 0.7 } }
  local names, home, still, phase = {}, {}, {}, {}
  for _, joint in ipairs(robot:joints()) do
    local name = joint.name
    if joint.type ~= "floating" then
      names[#names + 1], still[#still + 1] = name, 0
      home[#home + 1] = name:match "HAA" and 0 or name:match "F_HFE" and 0.61 or name:match "H_HFE" and -0.61 or name:match "F_KFE" and -0.9 or 0.9
      phase[#phase + 1] = (name:match "LF" or name:match "RH") and 0 or math.pi
    end
  end
  local motors = world:controller { "joint_pd", target = robot, joints = names, kp = 300, kd = 10 }
  local deepest, bare = 0, 0
  for step in world:run { seconds = 0.6 } do
    local goal = {}
    for i, at in ipairs(home) do goal[i] = at + 0.3 * math.sin(2 * math.pi * step.time + phase[i]) end
    motors:set { position = goal, velocity = still }
    deepest, bare = math.max(deepest, step.overlap_m), math.max(bare, step.overlap_without_contact_m)
  end
  stn.check("deepest overlap", { value = deepest, limit = 2e-4, unit = "m" })
  stn.check("without a contact", { value = bare, limit = 0, unit = "m" })
end) end
