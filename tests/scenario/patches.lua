-- SPDX-License-Identifier: Apache-2.0
-- Reports of patches as contact/hydroelastic makes them: wrenches against the sums over their faces and against the other
-- side, areas and pressures against closed forms, images against both. Shapes of reports and bad input: boundary/patches.lua.
local stn = require "stiction"
local worse = require "worse"

local g = 9.81

local function add(a, b, scale)
  return { a[1] + (scale or 1) * b[1], a[2] + (scale or 1) * b[2], a[3] + (scale or 1) * b[3] }
end

local function cross(a, b)
  return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] }
end

local function norm(a)
  return math.sqrt(a[1] ^ 2 + a[2] ^ 2 + a[3] ^ 2)
end

-- A ball that rolls and a box that slides and turns on a soft mat.
local function on_a_mat()
  local world = stn.world { dt = 0.002, contact = "hydroelastic", solver = { "sap", tolerance = 1e-8 } }
  local floor = world:ground { name = "floor" }
  local mat = world:box { name = "mat", size = { 0.6, 0.4, 0.05 }, mass = 10, xyz = { 0, 0, 0.025 }, modulus = 1e6, mu = 0.6 }
  local ball = world:sphere { name = "ball", radius = 0.06, mass = 2, xyz = { -0.1, 0, 0.11 }, modulus = 5e5, resolution = 0.03,
    velocity = { 0.5, 0, 0 } }
  local box = world:box { name = "box", size = { 0.1, 0.08, 0.06 }, mass = 1, xyz = { 0.15, 0, 0.08 }, rpy = { 0, 0, 0.3 }, modulus = 1e7,
    velocity = { linear = { 0, 0.3, 0 }, angular = { 0, 0, 5 } } }
  return world, mat, { ball, box, floor }
end

-- Force, and torque about `point`, of the contacts of world:contacts() whose geometries lie between the links a and b, on b.
local function sum_of_faces(world, a, b, point)
  local force, torque, faces = { 0, 0, 0 }, { 0, 0, 0 }, 0
  for _, c in ipairs(world:contacts()) do
    local sign = c.link_a == a and c.link_b == b and 1 or c.link_a == b and c.link_b == a and -1
    if sign then
      force = add(force, c.force, sign)
      torque = add(torque, cross(add(c.point, point, -1), c.force), sign)
      faces = faces + 1
    end
  end
  return force, torque, faces
end

stn.test("the wrench of a patch is that of its faces, and the opposite on the other side, while bodies roll and slide", function()
  local world, mat, others = on_a_mat()
  local patches, origin = 0, { 0, 0, 0 }
  for _ = 1, 100 do
    world:step()
    for _, other in ipairs(others) do
      local patch, back = world:patch(mat, other), world:patch(other, mat)
      if patch then
        local force, torque, faces = sum_of_faces(world, "mat", other.name, patch.center)
        local on, by = world:contact_force(other, mat, { point = patch.center }), world:contact_force(mat, other, { point = patch.center })
        local scale = norm(force) + 1
        assert(patch.faces == faces and back.faces == faces)
        stn.near(patch.force, force, 1e-12 * scale, "force")
        stn.near(patch.torque, torque, 1e-12 * scale, "torque")
        stn.near(patch.force, on.force, 1e-12 * scale, "force of the contacts")
        stn.near(add(patch.force, back.force), origin, 1e-12 * scale, "forces are opposite")
        stn.near(add(patch.force, by.force), origin, 1e-12 * scale, "and those of the contacts")
        stn.near(add(patch.torque, back.torque), origin, 1e-12 * scale, "torques are opposite")
        assert(patch.max_pressure >= patch.mean_pressure * (1 - 1e-12))
        patches = patches + 1
      end
    end
  end
  assert(patches > 200, patches .. " patches")
end)

stn.test("a ball at rest on rigid ground: force m g through the center below it, area and pressure of p = E (1 - r/R)", function()
  local radius, modulus, mass = 0.05, 1e5, 0.5
  local world = stn.world { dt = 0.002, contact = "hydroelastic" }
  local floor = world:ground { name = "floor" }
  -- pi E x^2 (1 - 2x/(3R)) = m g
  local x = math.sqrt(mass * g / (math.pi * modulus))
  for _ = 1, 20 do
    x = math.sqrt(mass * g / (math.pi * modulus * (1 - 2 * x / (3 * radius))))
  end
  local ball = world:sphere { radius = radius, mass = mass, modulus = modulus, resolution = 0.004, relaxation_time = 0.02,
    xyz = { 0.3, -0.2, radius - x } }
  for _ in world:run { seconds = 0.3 } do end
  local patch = world:patch(floor, ball)
  local depth = radius - ball:position()[3]
  stn.near(patch.force, { 0, 0, mass * g }, 1e-5 * mass * g, "force")
  stn.near(patch.center, { 0.3, -0.2, 0 }, 1e-9, "center of pressure")
  stn.near(depth, x, 0.02 * x, "depth")
  stn.near(patch.area, math.pi * (2 * radius * depth - depth ^ 2), 0.04 * patch.area, "area of the disk")
  stn.near(patch.field_max_pressure, modulus * depth / radius, 0.02 * modulus * depth / radius, "pressure in the middle")
  stn.near(patch.mean_pressure * patch.area, mass * g, 1e-5 * mass * g, "mean pressure")

  -- the picture of a pad under it: all of the force, and the pressure E (1 - r/R) of the pixels
  local pixels, extent = 15, 0.045
  local image = patch:image { width = pixels, height = pixels, extent = extent }
  stn.near(image.force, patch.normal_force, 1e-12 * patch.normal_force, "sum of the image")
  for y = 1, pixels do
    for column = 1, pixels do
      local across = math.sqrt((column - 8) ^ 2 + (y - 8) ^ 2) * extent / pixels
      local pressure = modulus * (1 - math.sqrt(across ^ 2 + (radius - depth) ^ 2) / radius)
      stn.near(image[y][column], math.max(pressure, 0), 0.05 * modulus * depth / radius, ("pixel %d %d"):format(column, y))
    end
  end
end)

-- A rigid box of edge a that slides over a soft layer, x deep and so heavy to turn that it stays upright. Its bottom and the two sides along
-- the way rub, mu N (1 + x/a); front and back see no pressure change, whatever the speed. The slope that they are given for the sake of the
-- solver, a quarter of the field's, adds at most N v dt/(2 a), which goes with dt.
stn.test("a box that slides over a soft layer does not plough: dissipation adds nothing to friction", function()
  local load_text = require "robot_text"
  local a, mass, modulus, slab, mu = 0.1, 2, 1e5, 0.05, 0.5
  local x = mass * g * slab / (modulus * a * a)
  local function drag(dissipation, relaxation_time, speed, dt)
    local world = stn.world { dt = dt, contact = "hydroelastic", law = "lagged", solver = { "sap", tolerance = 1e-10 } }
    world:ground { modulus = modulus, slab_thickness = slab }
    world:contact_material { mu = mu, dissipation = dissipation, relaxation_time = relaxation_time }
    local box = load_text(world, ".urdf", ([[<robot name="box"><link name="box">
      <inertial><mass value="%g"/><inertia ixx="1e3" iyy="1e3" izz="1e3" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><box size="%g %g %g"/></geometry></collision></link></robot>]]):format(mass, a, a, a), { base = { xyz = { 0, 0, a / 2 - x } } })
    box:set_velocity { linear = { speed, 0, 0 } }
    local along, down = 0, 0
    for step in world:run { steps = 20 } do
      local force = world:contact_force(box).force
      if step.index > 10 then
        along, down = along - force[1], down + force[3]
      end
    end
    stn.near(down / 10, mass * g, 1e-4 * mass * g, "weight")
    return along / (mu * down)
  end
  for _, dissipation in ipairs { 0, 1, 10, 50 } do
    for _, speed in ipairs { 0.5, 2, 5 } do
      for _, dt in ipairs { 1e-3, 1e-4 } do
        local beyond, stiff = drag(dissipation, 0, speed, dt) - (1 + x / a), speed * dt / (2 * a) / mu
        assert(beyond > -1e-4 and beyond < stiff + 1e-4, ("d = %g s/m, %g m/s, dt = %g s: %g beyond friction, at most %g is right"):format(
          dissipation, speed, dt, beyond, stiff))
      end
    end
  end
end)

stn.test("points and patches in one scene: only patches are reported as such", function()
  local world = stn.world { dt = 0.002, contact = "hydroelastic_with_fallback" }
  local floor = world:ground { name = "floor" }
  local soft = world:box { name = "soft", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 }, modulus = 1e6 }
  local hard = world:box { name = "hard", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 1, 0, 0.05 } }
  for _ in world:run { seconds = 0.3 } do end
  local step = world:step()
  assert(#world:patches() == 1 and step.patch_count == 1 and step.contact_count == step.face_count + 4)
  assert(world:patch(floor, hard) == nil)
  stn.near(world:patch(floor, soft).normal_force, g, 1e-5 * g, "weight of the soft one")
  stn.near(world:patch(floor, soft).area, 0.01, 1e-12, "its bottom")
end)

-- What a contact model remembers of the steps before may save time alone: a clone, which remembers nothing, and the past, of
-- which something else is remembered, go on to the last bit.
stn.test("clones, restored and new worlds go on with patches to the last bit", function()
  local function make()
    local world = stn.world { dt = 0.002, contact = "hydroelastic_with_fallback" }
    world:ground {}
    world:box { name = "tray", size = { 0.5, 0.5, 0.1 }, mass = 20, xyz = { 0, 0, 0.05 } }
    for i = 1, 3 do
      world:sphere { name = "ball" .. i, radius = 0.05, mass = 0.5, xyz = { 0.09 * (i - 2), 0.01 * i, 0.149 }, modulus = 2e5, resolution = 0.018,
        velocity = { linear = { 0.2 * (2 - i), 0, 0 }, angular = { 0, 0, 2 * i } } }
    end
    world:sphere { name = "top", radius = 0.05, mass = 0.5, xyz = { -0.04, 0.02, 0.235 }, modulus = 1e6, resolution = 0.018 }
    return world
  end
  local world, hashes, snapshot, faces = make(), {}, nil, 0
  for step in world:run { steps = 90 } do
    hashes[#hashes + 1] = world:hash()
    faces = faces + step.face_count
    if #hashes == 40 then snapshot = world:snapshot() end
    if #hashes % 15 == 0 then
      local clone = world:clone()
      clone:step()
      hashes.clone, hashes.at = clone:hash(), #hashes + 1
      clone:close()
    elseif #hashes == hashes.at then
      assert(hashes.clone == world:hash(), "the clone of step " .. hashes.at - 1 .. " goes another way")
    end
  end
  assert(faces > 90 * 30, "the balls touch")
  world:restore(snapshot)
  for i = 41, 80 do
    world:step()
    assert(world:hash() == hashes[i], "step " .. i .. " differs after restoring")
  end
  local again = make()
  for i = 1, 60 do
    again:step()
    assert(again:hash() == hashes[i], "step " .. i .. " of a second world differs")
  end
end)

stn.test("a pair whose faces are met in advance is not told as one without a contact", function()
  local world = stn.world { dt = 0.01, contact = "hydroelastic", gravity = { 0, 0, 0 } }
  world:box { size = { 0.1, 0.1, 0.1 }, modulus = 1e6, mass = 1 }
  world:box { size = { 0.1, 0.1, 0.1 }, modulus = 1e6, mass = 1, xyz = { 0, 0, 0.05 + 0.05 * math.sqrt(2) + 0.007 }, rpy = { math.pi / 4, 0, 0 },
    velocity = { 0, 0, -1 } } -- edge first
  local deepest = 0
  for step in world:run { steps = 6 } do
    deepest = worse(deepest, step.overlap_m)
    assert(step.overlap_without_contact_m == 0 and step.face_count > 0, step.overlap_without_contact_m)
  end
  assert(deepest > 1e-3, "they overlap")
end)
