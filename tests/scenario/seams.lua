-- What slides over a floor of several parts does not run into the side of the next one, which the one before covers;
-- real walls, kerbs and posts stand.
local stn = require "stiction"

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
  for step in world:run { seconds = 0.8 } do patches = math.max(patches, step.patch_count) end
  stn.near(slider:velocity().linear, { 1, 0.1, 0 }, 1e-5, "velocity")
  stn.near(slider:position(), { 0.4, 0.08, 0.1 }, 1e-5, "position")
  assert(patches == 2)
  for ball, expected in pairs { [first] = { "box2", 1e5 }, [last] = { "box1", 5e4 } } do -- f = pi E x^2
    stn.near(ball:position()[3], 0.1 - math.sqrt(9.81 / (math.pi * expected[2])), 5e-4, "height")
    stn.near(world:patch(expected[1], ball).normal_force, 9.81, 0.1, "weight")
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
