-- SPDX-License-Identifier: Apache-2.0
-- Patches in Lua, with the contact model fake_two_patches: the bottom of a cube on an elastic foundation, two halves of 16
-- faces. C: test_patch_report.c.
local stn = require "stiction"

local side, weight = 0.2, 9.81

-- A cube that rests, turned by `yaw`; `options` of its body.
local function resting(options)
  local world = stn.world { dt = 0.002, contact = "fake_two_patches" }
  local floor = world:ground { name = "floor" }
  local spec = { name = "cube", size = { side, side, side }, mass = 1, xyz = { 0, 0, 0.1 } }
  for key, value in pairs(options or {}) do
    spec[key] = value
  end
  return world, floor, world:box(spec)
end

local function settle(world)
  for _ in world:run { seconds = 0.2 } do end
end

stn.test("patches of a step name their sides as contacts do, and share the weight", function()
  local world = resting()
  assert(#world:patches() == 0, "before the first step")
  settle(world)
  local patches, contact = world:patches(), world:contacts()[1]
  assert(#patches == 2)
  local step = world:step()
  assert(step.patch_count == 2 and step.face_count == 32 and step.contact_count == 32)
  for _, p in ipairs(patches) do
    assert(p.a == contact.a and p.b == contact.b and p.link_a == contact.link_a and p.link_b == contact.link_b)
    assert(p.a == "floor" and p.geometry_a == "floor" and p.b == "cube")
    stn.near(p.force, { 0, 0, weight / 2 }, 1e-4, "force on the cube")
    stn.near(p.area, side ^ 2 / 2, 1e-12, "area")
    stn.near(p.mean_pressure, weight / side ^ 2, 1e-2, "mean pressure")
    stn.near(p.max_pressure, p.mean_pressure, 1e-2, "max pressure")
    stn.near(p.field_force, p.normal_force, 1e-4, "the field at rest is what acts")
    stn.near(p.normal, { 0, 0, 1 }, 1e-12, "normal")
    assert(p.faces == 16 and p.sticking == 16 and p.slipping == 0)
    local members = 0
    for key, value in pairs(p) do
      assert(p[key] == value or type(value) == "table")
      members = members + 1
    end
    assert(members == 25)
  end
end)

stn.test("the patch between two sides is all of theirs, with the force on the second", function()
  local world, floor, cube = resting()
  assert(world:patch(floor, cube) == nil)
  settle(world)
  local on_cube, on_floor = world:patch(floor, "cube/cube"), world:patch(cube, floor)
  assert(on_cube.faces == 32 and on_floor.faces == 32)
  assert(on_cube.a == "floor" and on_cube.b == "cube" and on_floor.a == "cube" and on_floor.b == "floor")
  for i = 1, 3 do
    stn.near(on_cube.force[i], -on_floor.force[i], 1e-12, "equal and opposite")
    stn.near(on_cube.force[i], world:contact_force(cube, floor).force[i], 1e-12, "that of its contacts")
  end
  stn.near(on_cube.center, { 0, 0, 0 }, 2e-5, "center of pressure")
  stn.fails(function() world:patch(cube, cube) end, "link 'cube' is on both sides")
  stn.fails(function() world:patch(cube, "cub") end, "did you mean 'cube'?")
  stn.fails(function() return on_cube.centre end, "patch has no 'centre', did you mean 'center'?")
  world:reset()
  assert(world:patch(floor, cube) == nil and #world:patches() == 0)
end)

stn.test("an image has the axes of the body and holds the force", function()
  local world, floor, cube = resting { rpy = { 0, 0, 0.3 } }
  settle(world)
  local patch = world:patch(floor, cube)
  local image = patch:image { width = 8, height = 4 }
  assert(#image == 4 and #image[1] == 8 and image.width == 8 and image.height == 4)
  stn.near(image.force, patch.normal_force, 1e-9, "force")
  stn.near(image.extent, { 0.4, 0.2 }, 1e-6, "square pixels around the whole patch")
  for y = 1, 4 do
    for x = 1, 8 do -- the cube covers pixels 3 to 6
      local covered = x > 2 and x < 7
      stn.near(image[y][x], covered and weight / side ^ 2 or 0, 1e-2, "pressure [Pa]")
    end
  end
  stn.near(image.pixel_area, 0.05 ^ 2, 1e-9, "pixel area")
end)

stn.test("an image that a link carries moves with it, also at 3 m/s", function()
  local world, _, cube = resting { velocity = { 3, 0, 0 }, mu = 0 }
  for _ = 1, 20 do
    world:step()
    local patch = world:patch("floor", cube)
    -- a quarter of the cube's bottom: 4 pixels, of which the last column lies beyond its side
    local image = patch:image { width = 2, height = 2, extent = { 0.1, 0.1 }, link = cube, xyz = { side / 2, 0, -side / 2 } }
    stn.near(image.pose.xyz[1], patch.center[1] + side / 2, 1e-9, "where the cube was when the step began")
    for y = 1, 2 do
      stn.near(image[y][2], 0, 1e-6 * patch.mean_pressure, "beside")
      stn.near(image[y][1], patch.mean_pressure, 1e-6 * patch.mean_pressure, "below")
    end
  end
end)

stn.test("an image in a link without a pose is in the link's own frame", function()
  local world, floor, cube = resting()
  settle(world)
  local patch = world:patch(floor, cube)
  local plain = patch:image { width = 4, height = 4, extent = side, link = cube }
  local told = patch:image { width = 4, height = 4, extent = side, link = cube, xyz = { 0, 0, 0 } }
  for k = 1, 3 do stn.near(plain.pose.xyz[k], told.pose.xyz[k], 0, "the same frame [m]") end
  stn.near(plain.force, told.force, 0, "the same force [N]")
  stn.near(plain.force, patch.normal_force, 1e-9 * patch.normal_force, "all of it [N]")
end)

stn.test("what is no image is refused in one line, with the script's", function()
  local world, floor, cube = resting()
  settle(world)
  local patch = world:patch(floor, cube)
  local bad = {
    { { width = 0, height = 0 }, "width = 0 must be a whole number from 1 to 4096" },
    { { width = 8, height = 1e6 }, "height = 1e+06 must be a whole number from 1 to 4096" },
    { { extent = 0 / 0 }, "extent = nan is not a finite number [m]" },
    { { extent = { 1, -1 } }, "extent = { 1, -1 } m must be > 0" },
    { { extent = { 1, 1, 1 } }, "extent has 3 numbers, it needs 2 [m]" },
    { { link = "cub", extent = 1 }, "has no link 'cub', did you mean 'cube'?" },
    { { link = cube }, "extent is missing" },
    { { xyz = { 0, 0, 1 } }, "give link = ... too" },
    { { with = 3 }, "unknown key 'with', did you mean 'width'?" },
  }
  for _, case in ipairs(bad) do
    local message = stn.fails(function() patch:image(case[1]) end, case[2])
    assert(message:match "patches.lua:%d+: patch:image: " and not message:find "\n", message)
  end
  world:step()
  stn.fails(function() patch:image() end, "the patch's step is over")
  patch = world:patch(floor, cube)
  world:close()
  stn.fails(function() patch:image() end, "the world is closed")
end)

-- Rows of a table by column name.
local function read_csv(path)
  local names, rows = {}, {}
  for line in io.lines(path) do
    local row = {}
    for field in (line .. ","):gmatch "([^,]*)," do
      row[#row + 1] = field
    end
    if #names == 0 then
      names = row
    else
      assert(#row == #names, "every row has every column")
      local by_name = {}
      for k, name in ipairs(names) do
        by_name[name] = tonumber(row[k]) or row[k]
      end
      rows[#rows + 1] = by_name
    end
  end
  return rows
end

-- A cube that falls for 0.1 s before it lands, with what `log` asks for in a table.
local function logged(log)
  local path = os.tmpname()
  local world, floor, cube = resting { xyz = { 0, 0, 0.15 } }
  world:log(log(floor, cube, world))
  world:record(path .. ".csv")
  local seen = {}
  for _ in world:run { seconds = 0.4 } do
    seen[#seen + 1] = world:patch(floor, cube) or false
  end
  world:close_recordings()
  local rows = read_csv(path .. ".csv")
  for _, ending in ipairs { "", ".csv", ".csv.parameters" } do
    os.remove(path .. ending)
  end
  return rows, seen
end

stn.test("tables get the patches of pairs, in every row, without a function of the script", function()
  local rows, seen = logged(function(floor, cube) return { patches = { { floor, cube }, { { cube, "cube" }, floor } } } end)
  assert(#rows == 201 and rows[1].time_s == 0 and rows[1]["q[cube_floating].z"], "beside the usual columns")
  assert(rows[1]["patch[floor|cube].faces"] == 0, "at the start")
  for k, patch in ipairs(seen) do
    local row = rows[k + 1]
    assert(row.patches == (patch and 2 or 0) and row.faces == (patch and 32 or 0))
    assert(row["patch[floor|cube].faces"] == row.faces)
    stn.near(row["patch[floor|cube].force_z_N"], patch and patch.force[3] or 0, 1e-12, "force")
    stn.near(row["patch[cube|floor].force_z_N"], patch and -patch.force[3] or 0, 1e-12, "force on the floor")
    stn.near(row["patch[floor|cube].area_m2"], patch and patch.area or 0, 1e-15, "area")
    stn.near(row["patch[floor|cube].max_pressure_Pa"], patch and patch.max_pressure or 0, 1e-9, "pressure")
    stn.near(row["patch[floor|cube].sticking"], patch and patch.sticking or 0, 0, "sticking")
    if patch then
      stn.near(row["patch[floor|cube].center_x_m"], patch.center[1], 1e-15, "center")
    else
      assert(row["patch[floor|cube].center_x_m"] == "", "nothing presses: there is no center")
    end
  end
  assert(not seen[1] and seen[#seen], "it falls and lies")
end)

stn.test("declared columns and patches together are all that a table has", function()
  local rows = logged(function(floor, cube, world)
    return { "t", values = function() return world.time end, patches = { { floor, cube } } }
  end)
  assert(math.abs(rows[201].t - 0.4) < 1e-12 and rows[201]["patch[floor|cube].normal_N"] and not rows[201].time_s)
end)

stn.test("pairs that are none are refused in one line", function()
  local world, floor, cube = resting()
  local bad = {
    { 3, "patches must be a list of pairs" },
    { {}, "patches must be a list of pairs" },
    { { floor, cube }, "patches[1] must be a pair { a, b }" },
    { { { floor, cube }, { floor } }, "patches[2] must be a pair { a, b }" },
    { { { floor, floor } }, "patches[1]: link 'floor' is on both sides" },
    { { { floor, "cub" } }, "patches[1]: the world has no link 'cub', did you mean 'cube'?" },
  }
  for _, case in ipairs(bad) do
    local message = stn.fails(function() world:log { patches = case[1] } end, case[2])
    assert(message:match "patches.lua:%d+: world:log: " and not message:find "\n", message)
  end
  world:log { patches = { { floor, cube } } }
  stn.fails(function() world:log { patches = { { floor, cube } } } end, "once, before the first step")
end)
