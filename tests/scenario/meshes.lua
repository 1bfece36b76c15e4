-- SPDX-License-Identifier: Apache-2.0
-- Bodies whose shape is a mesh or an ellipsoid: mass properties against closed forms, scale, hulls, errors.
local stn = require "stiction"

local files <close> = require "files"()

--- OBJ file of a box with edges a, b, c from the origin on; `faces` says which of the six sides are there.
local function box_file(a, b, c, faces)
  local path = files:path ".obj"
  local file = assert(io.open(path, "w"))
  for i = 0, 7 do
    file:write(("v %g %g %g\n"):format(i % 2 * a, i // 2 % 2 * b, i // 4 * c))
  end
  local sides = { "1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6" }
  for i = 1, faces or 6 do
    file:write("f " .. sides[i] .. "\n")
  end
  file:close()
  return path
end

--- Angular velocity after a step under a torque: one column of the inverse inertia about the centre of mass.
local function spin(body, world, axis)
  local torque = { 0, 0, 0 }
  torque[axis] = 1
  body:apply_force { torque = torque }
  world:step()
  return body:velocity().angular[axis] / world.dt
end

local function in_space()
  return stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
end

stn.test("a closed mesh weighs and turns as the solid inside, wherever its origin is", function()
  local path = box_file(200, 100, 50)
  for axis, inertia in ipairs { 0.1 ^ 2 + 0.05 ^ 2, 0.2 ^ 2 + 0.05 ^ 2, 0.2 ^ 2 + 0.1 ^ 2 } do
    local world = in_space()
    local part = world:mesh { file = path, scale = 0.001, density = 2700 }
    assert(part.name == "mesh1")
    stn.near(part:mass(), 2.7, 1e-12, "mass")
    stn.near(spin(part, world, axis), 12 / (2.7 * inertia), 1e-6, "turns about its centre")
  end
  local world = in_space()
  local part = world:mesh { file = path, scale = 0.001, mass = 2 }
  part:set_velocity { angular = { 0, 0, 1 } }
  stn.near(world:momentum().linear, { -2 * 0.05, 2 * 0.1, 0 }, 1e-12, "the centre is half the edges away")
end)

stn.test("scales may differ and mirror", function()
  local path = box_file(1, 1, 1)
  local world = in_space()
  local part = world:mesh { file = path, scale = { 0.1, -0.2, 0.3 }, density = 1000 }
  stn.near(part:mass(), 6, 1e-12, "mass")
  part:set_velocity { angular = { 0, 0, 1 } }
  stn.near(world:momentum().linear, { 6 * 0.1, 6 * 0.05, 0 }, 1e-12, "the centre is on the other side")
end)

stn.test("an open mesh weighs as its hull", function()
  local world = in_space()
  local part = world:mesh { file = box_file(0.2, 0.1, 0.1, 5), density = 500 }
  stn.near(part:mass(), 1, 1e-12, "mass")
  stn.near(spin(part, world, 1), 12 / (0.1 ^ 2 + 0.1 ^ 2), 1e-6, "inertia")
end)

stn.test("a surface that is not made convex still weighs what it encloses", function()
  local world = in_space()
  local part = world:mesh { file = box_file(0.1, 0.1, 0.1), convex = false, fixed = true }
  local open = world:mesh { file = box_file(0.1, 0.1, 0.1, 5), convex = false, mass = 3, fixed = true }
  stn.near(part:mass(), 1, 1e-12, "water")
  stn.near(open:mass(), 3, 1e-12, "open")
end)

stn.test("a moving surface that may be concave is refused under point contact, and says what to do", function()
  local world = in_space()
  local path = box_file(0.1, 0.1, 0.1)
  world:mesh { file = path, convex = false, name = "jar" }
  local ok, message = pcall(world.step, world)
  assert(not ok and message:find("link jar", 1, true) and message:find(path, 1, true), message)
  assert(message:match "may be concave.*contact model point.*convex parts.*convex hull", message)
end)

stn.test("an ellipsoid turns as its closed form says", function()
  for axis, inertia in ipairs { 0.2 ^ 2 + 0.3 ^ 2, 0.1 ^ 2 + 0.3 ^ 2, 0.1 ^ 2 + 0.2 ^ 2 } do
    local world = in_space()
    local egg = world:ellipsoid { radii = { 0.1, 0.2, 0.3 }, mass = 4 }
    stn.near(spin(egg, world, axis), 5 / (4 * inertia), 1e-6, "spin")
  end
  local water = stn.world {}:ellipsoid { radii = { 0.1, 0.2, 0.3 } }
  stn.near(water:mass(), 1000 * 4 / 3 * math.pi * 0.006, 1e-9, "mass")
end)

stn.test("compounds take meshes and ellipsoids", function()
  local path = box_file(0.1, 0.1, 0.1)
  local body = stn.world {}:compound {
    density = 1000,
    shapes = {
      { "mesh", file = path, xyz = { 0.3, 0, 0 } },
      { "mesh", file = path, scale = 2, xyz = { -0.3, 0, 0 } },
      { "ellipsoid", radii = { 0.1, 0.1, 0.1 } },
      { "box", size = { 0.1, 0.1, 0.1 } },
    },
  }
  stn.near(body:mass(), 1 + 8 + 4 / 3 * math.pi + 1, 1e-9, "mass")
  local heavy = stn.world {}:compound { shapes = { { "mesh", file = path, mass = 3 }, { "ellipsoid", radii = { 1, 1, 1 } } } }
  stn.near(heavy:mass(), 3, 1e-12, "mass")
end)

stn.test("a mesh on a flange is a tool, and many bodies share a file", function()
  local path = box_file(0.02, 0.02, 0.1)
  local world = stn.world { dt = 1e-3 }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", fixed = true }
  local tool = world:mesh { file = path, mass = 0.1 }
  arm:attach(tool, "iiwa14_flange", { xyz = { -0.01, -0.01, 0 } })
  for i = 1, 20 do
    world:mesh { file = path, xyz = { i, 0, 0 } }
  end
  world:step()
  stn.near(tool:position(), arm:link("iiwa14_flange"):pose() * { -0.01, -0.01, 0 }, 1e-12, "place")
end)

stn.test("a mesh that cannot be read is told with the place", function()
  local function refused(options, ...)
    local message = stn.fails(function()
      stn.world {}:mesh(options)
    end)
    assert(message:match "meshes%.lua:%d+: world:mesh: ", message)
    assert(not message:find "\n", message)
    for _, text in ipairs { ... } do
      assert(message:find(text, 1, true), ("expected '%s' in: %s"):format(text, message))
    end
  end
  local path = box_file(1, 1, 1)
  refused({}, "file is missing")
  refused({ file = "no/such/part.stl" }, "no such file", "tried")
  refused({ file = path, scale = 0 }, "must not be 0")
  refused({ file = path, scale = "1" }, "scale")
  refused({ file = path, scale = { 1, 2 } }, "scale has 2 numbers, it needs 3")
  refused({ file = path, convex = 1 }, "convex must be true or false")
  refused({ file = path, mass = 1, density = 1 }, "not both")
  refused({ file = path, scal = 1 }, "did you mean 'scale'?")
  refused({ file = path, scale = 1e200 }, path)
  local flat, cut = box_file(1, 1, 0, 1), files:write(".obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n")
  refused({ file = flat }, flat)
  refused({ file = cut }, cut .. ":3")
  local message = stn.fails(function()
    stn.world {}:ellipsoid { radii = { 1, 0, 1 } }
  end, "radii = {1, 0, 1} m must be > 0")
  assert(message:match "meshes%.lua:%d+: ", message)
  stn.fails(function()
    stn.world {}:ellipsoid {}
  end, "radii is missing; give the semi-axes {x, y, z} in m")
end)
