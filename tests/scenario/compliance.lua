-- SPDX-License-Identifier: Apache-2.0
-- What scripts say of compliant bodies: how pressure fields are made, which meshes keep their tetrahedra, what is missing.
local stn = require "stiction"
local files <close> = require "files"()

local corners = { "-1 -1 -1", "1 -1 -1", "1 1 -1", "-1 1 -1", "-1 -1 1", "1 -1 1", "1 1 1", "-1 1 1", "0 0 0" }
local fives = { "0 1 2 8", "0 2 3 8", "0 1 5 8", "0 5 4 8", "1 2 6 8", "1 6 5 8", "2 3 7 8", "2 7 6 8", "3 0 4 8", "3 4 7 8" }

--- A cube of edge 2 m as tetrahedra about its middle, without those of its top: a pit down to the middle.
local function pit()
  local text = { "# vtk DataFile Version 3.0\npit\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 9 double\n" }
  for _, corner in ipairs(corners) do
    text[#text + 1] = corner .. "\n"
  end
  text[#text + 1] = "CELLS 10 50\n"
  for _, tetrahedron in ipairs(fives) do
    text[#text + 1] = "4 " .. tetrahedron .. "\n"
  end
  text[#text + 1] = "CELL_TYPES 10\n" .. ("10\n"):rep(10)
  return files:write(".vtk", table.concat(text))
end

local function soft_world()
  return stn.world { dt = 0.001, gravity = { 0, 0, 0 }, contact = "hydroelastic" }
end

stn.test("keys of pressure fields belong to the shapes that have one", function()
  local world = soft_world()
  world:ground { modulus = 1e6, slab_thickness = 0.1, field_margin = 1e-4 }
  for _, make in ipairs { "box", "sphere", "capsule", "cylinder", "ellipsoid" } do
    world[make](world, { size = make == "box" and { 1, 1, 1 } or nil, radii = make == "ellipsoid" and { 1, 1, 1 } or nil,
      radius = (make == "sphere" or make:sub(1, 1) == "c") and 1 or nil, length = make:sub(1, 1) == "c" and 1 or nil,
      modulus = 1e6, resolution = 0.5, field_margin = 0, xyz = { 0, 0, 10 }, category = 2, mask = 1 })
  end
  world:compound { shapes = { { "box", size = { 1, 1, 1 }, resolution = 0.3, modulus = 1e7 } }, xyz = { 0, 0, 20 }, }
  world:step()
  for _, bad in ipairs {
    { "box", { size = { 1, 1, 1 }, resolution = 0 }, "resolution = 0 m must be > 0" },
    { "box", { size = { 1, 1, 1 }, resolution = math.huge }, "resolution" },
    { "box", { size = { 1, 1, 1 }, resolution = "fine" }, "resolution" },
    { "sphere", { radius = 1, field_margin = -1e-4 }, "field_margin = -0.0001 must be >= 0 m" },
    { "sphere", { radius = 1, field_margin = 0 / 0 }, "field_margin" },
    { "ground", { slab_thickness = -1 }, "slab_thickness = -1 m must be > 0" },
    { "box", { size = { 1, 1, 1 }, slab_thickness = 1 }, "unknown key 'slab_thickness'" },
    { "ground", { resolution = 1 }, "unknown key 'resolution'" },
    { "load", { "models/iiwa14/iiwa14.urdf", resolution = -1 }, "resolution = -1 m must be > 0" },
    { "compound", { shapes = { { "sphere", radius = 1 } }, resolution = 1 }, "'resolution' is said of each shape" },
  } do
    local message = stn.fails(function()
      local w = soft_world()
      w[bad[1]](w, bad[2])
    end, bad[3])
    assert(message:match "compliance%.lua:%d+: " and not message:find "\n", message)
  end
end)

--- Area of the patch of a ball that hangs in the pit, its middle at the height of the rim.
local function area_in_pit(options)
  local world = soft_world()
  options.modulus, options.fixed = 1e5, true
  world:mesh(options)
  world:sphere { radius = 0.3, xyz = { 0, 0, 1 }, name = "ball", resolution = 0.03 }
  world:step()
  local patches = world:patches()
  return patches[1] and patches[1].area or 0
end

stn.test("a file of tetrahedra keeps its dents for patches, unless it is declared convex", function()
  local file = pit()
  assert(area_in_pit { file = file } == 0)
  assert(area_in_pit { file = file, convex = false } == 0)
  local area = area_in_pit { file = file, convex = true }
  local cap = 2 * math.pi * 0.3 * 0.3 -- the half of the sphere that is below the hull's top
  stn.near(area, cap, 0.01 * cap, "area")
end)

stn.test("what a compliant shape lacks is told with its line", function()
  local surface = files:write(".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
  local function refused(describe, ...)
    local message = stn.fails(function()
      local world = soft_world()
      describe(world)
      world:step()
    end, "compliance.lua:")
    for _, text in ipairs { ... } do
      assert(message:find(text, 1, true), ("expected '%s' in: %s"):format(text, message))
    end
    assert(not message:find "\n", message)
  end
  refused(function(world)
    world:ground { material = "rubber" }
    world:sphere { radius = 0.1, xyz = { 0, 0, 1 } }
  end, "a compliant half space needs slab_thickness > 0")
  refused(function(world)
    world:ground()
    world:mesh { file = surface, convex = false, modulus = 1e6, xyz = { 0, 0, 1 } }
  end, "compliance.lua:", "(mesh) is compliant, for which contact model hydroelastic knows no pressure field: give a file of tetrahedra")
  refused(function(world)
    world:ground { name = "floor" }
    world:sphere { radius = 0.1, xyz = { 0, 0, 1 }, name = "ball" }
  end, "no contact between floor (half_space) and ball (sphere), which are both rigid: give one of them a modulus")
end)

stn.test("a modulus that a robot is given is that of all its shapes", function()
  local urdf = files:write(".urdf", [[<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0"
    iyy="1" iyz="0" izz="1"/></inertial><collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>]])
  for _, modulus in ipairs { 1e6, false } do
    local world = soft_world()
    world:ground()
    world:load { urdf, modulus = modulus or nil, resolution = modulus and 0.2 or nil, material = modulus and "steel" or nil, base = { xyz = { 0, 0, 0.49 } } }
    if modulus then
      world:step()
      assert(#world:patches() == 1 and world:patches()[1].faces > 36) -- 5 x 5 squares and more on the side of 1 m
    else
      stn.fails(function() world:step() end, "which are both rigid")
    end
  end
end)

stn.test("distances are those of the shapes, whatever patches do", function()
  local world = soft_world()
  world:ground { modulus = 1e6, slab_thickness = 0.1 }
  local box = world:box { size = { 0.2, 0.2, 0.2 }, xyz = { 0, 0, 0.15 }, modulus = 1e6, name = "box", fixed = true }
  local ball = world:sphere { radius = 0.1, xyz = { 0, 0, 0.34 }, name = "ball", fixed = true }
  world:step()
  stn.near(world:distance(box, ball).distance, -0.01, 1e-9, "overlap")
  stn.near(world:distance(box, "ground1").distance, 0.05, 1e-12, "gap")
  stn.near(world:nearest { point = { 0.3, 0, 0.15 } }.distance, 0.15, 1e-8, "from the ground")
  assert(#world:overlap { "sphere", radius = 0.05, xyz = { 0.14, 0, 0.2 } } == 1)
end)

stn.test("a material may be a table, which says what its keys say beside a body", function()
  local urdf = files:write(".urdf", [[<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0"
    iyy="1" iyz="0" izz="1"/></inertial><collision><geometry><sphere radius="0.3"/></geometry></collision></link></robot>]])
  local pad = { density = 300, mu = 0.3, modulus = 1e5, dissipation = 7, resolution = 0.05, field_margin = 1e-4 }
  local function hash(keys, robot)
    local world = stn.world { dt = 0.001, contact = "hydroelastic", law = "lagged" }
    world:ground { mu = 0.3 }
    keys.xyz, keys.radius, keys.velocity = { 0, 0, 0.0995 }, 0.1, { 0.1, 0, -0.2 }
    local ball = world:sphere(keys)
    robot[1], robot.base = urdf, { xyz = { 2, 0, 0.299 } }
    world:load(robot)
    for _ = 1, 20 do
      world:step()
    end
    return world:hash(), ball:mass()
  end
  local direct, mass = hash({ density = 300, mu = 0.3, modulus = 1e5, dissipation = 7, resolution = 0.05, field_margin = 1e-4 },
    { mu = 0.3, modulus = 1e5, dissipation = 7, resolution = 0.05, field_margin = 1e-4 })
  local table_hash, table_mass = hash({ material = pad }, { material = pad })
  assert(table_hash == direct and table_mass == mass)
  for key, value in pairs { mu = 0.2, modulus = 2e5, dissipation = 0, resolution = 0.03, field_margin = 0.01, density = 400 } do
    assert(hash({ material = pad, [key] = value }, { material = pad }) ~= direct, key .. " beside the ball's material has no effect")
    if key ~= "density" then
      assert(hash({ material = pad }, { material = pad, [key] = value }) ~= direct, key .. " beside the robot's material has no effect")
    end
  end
  local rubber = stn.material "rubber"
  rubber.resolution = 0.03
  assert(hash({ material = rubber }, { material = rubber }) == hash({ material = "rubber", resolution = 0.03 }, { material = "rubber", resolution = 0.03 }))
  local function refused(material, text)
    local message = stn.fails(function() stn.world {}:sphere { radius = 1, material = material } end, "compliance.lua:")
    assert(message:find(text, 1, true), message)
  end
  refused({ modulos = 1 }, "world:sphere: material: unknown key 'modulos', did you mean 'modulus'?")
  refused({ density = -1 }, "world:sphere: material: density = -1")
  refused({ dissipation = "high" }, "world:sphere: material: dissipation must be a number [s/m]")
  refused(7, "world:sphere: material must be a text")
end)
