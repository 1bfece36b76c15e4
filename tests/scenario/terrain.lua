-- SPDX-License-Identifier: Apache-2.0
-- Bodies on height fields and static meshes.
local stn = require "stiction"
local worse = require "worse"

local files <close> = require "files"()

local function flat() return 0 end

stn.test("bodies come to rest on a level height field at their height", function()
  local world = stn.world { dt = 1e-3 }
  world:ground { xyz = { 0, 0, -5 } } -- stands still like the field: these never touch
  world:height_field { name = "field", size = { 4, 4 }, rows = 33, columns = 33, heights = flat }
  local ball = world:sphere { radius = 0.1, xyz = { 0.03, 0.01, 0.12 } }
  local box = world:box { size = { 0.4, 0.3, 0.2 }, xyz = { 1.01, 0.02, 0.12 } }
  local can = world:cylinder { radius = 0.1, length = 0.3, xyz = { -1.02, 0.03, 0.17 } }
  for _ in world:run { seconds = 1 } do
  end
  stn.near(world:distance(ball, "field").distance, 0, 1e-4, "ball")
  stn.near(ball:pose().xyz[3], 0.1, 1e-4, "ball")
  stn.near(box:pose().xyz[3], 0.1, 1e-4, "box")
  stn.near(can:pose().xyz[3], 0.15, 1e-6, "can")
  stn.near(world:nearest { point = { -0.5, -1.5, 1 } }.distance, 1, 1e-12, "nearest point")
end)

-- OBJ file of the triangles over a grid of points (x, y, z), in random places and with random diagonals.
local function ground_file(side, half, height)
  local path, cell = files:path ".obj", 2 * half / (side - 1)
  local file = assert(io.open(path, "w"))
  math.randomseed(3)
  for row = 0, side - 1 do
    for column = 0, side - 1 do
      local x, y = -half + column * cell, -half + row * cell
      if row > 0 and row < side - 1 and column > 0 and column < side - 1 then
        x, y = x + cell * (0.5 * math.random() - 0.25), y + cell * (0.5 * math.random() - 0.25)
      end
      file:write(("v %.17g %.17g %.17g\n"):format(x, y, height(x, y)))
    end
  end
  for row = 0, side - 2 do
    for column = 0, side - 2 do
      local a = row * side + column + 1
      local b, c, d = a + 1, a + side + 1, a + side
      file:write(math.random() < 0.5 and ("f %d %d %d\nf %d %d %d\n"):format(a, b, c, a, c, d)
        or ("f %d %d %d\nf %d %d %d\n"):format(a, b, d, b, c, d))
    end
  end
  file:close()
  return path
end

local function half_space(world) world:ground { mu = 0 } end
local function field(world)
  world:height_field { size = { 8, 8 }, rows = 101, columns = 101, heights = flat, mu = 0 }
end
local plane = ground_file(61, 4, flat)
local function mesh(world) world:mesh { file = plane, convex = false, fixed = true, mu = 0 } end

local corners, sides = {}, {} -- a six-sided prism
for k = 0, 5 do
  local x, y = 0.15 * math.cos(k * math.pi / 3), 0.15 * math.sin(k * math.pi / 3)
  corners[k + 1] = ("v %.17g %.17g -0.1\nv %.17g %.17g 0.1\n"):format(x, y, x, y)
  local a, b = 2 * k + 1, 2 * ((k + 1) % 6) + 1
  sides[k + 1] = ("f %d %d %d %d\n"):format(a, b, b + 1, a + 1)
end
local caps = "f 11 9 7 5 3 1\nf 2 4 6 8 10 12\n"
local prism = files:write(".obj", table.concat(corners) .. table.concat(sides) .. caps)

stn.test("bodies slide over triangles as over a half space, with no bumps", function()
  local function slide(ground, make)
    local world, trace = stn.world { dt = 2e-3 }, {}
    ground(world)
    local body = make(world)
    for _ in world:run { seconds = 2 } do
      trace[#trace + 1] = { body:pose().xyz[3], body:velocity().linear[3] }
    end
    stn.near(body:pose().xyz[1], 0.987, 1e-9, "distance")
    return trace
  end
  local place = { mu = 0, xyz = { -1.013, 0.007, 0.1 }, velocity = { 1, 0, 0 } }
  local function with(sizes)
    for key, value in pairs(place) do sizes[key] = value end
    return sizes
  end
  for _, make in ipairs {
    function(world) return world:sphere(with { radius = 0.1 }) end,
    function(world) return world:box(with { size = { 0.4, 0.3, 0.2 } }) end,
    function(world) return world:cylinder(with { radius = 0.1, length = 0.2 }) end,
    function(world) return world:mesh(with { file = prism }) end,
  } do
    local smooth = slide(half_space, make)
    for _, ground in ipairs { field, mesh } do
      local trace, place_off, speed_off = slide(ground, make), 0, 0
      for i = 1, #smooth do
        place_off = worse(place_off, math.abs(smooth[i][1] - trace[i][1]))
        speed_off = worse(speed_off, math.abs(smooth[i][2] - trace[i][2]))
      end
      stn.near(place_off, 0, 1e-9, "height")
      stn.near(speed_off, 0, 1e-7, "vertical speed")
    end
  end
end)

stn.test("a ball swings in a bowl with the period of its curvature, and stays at the bottom", function()
  local curvature, radius, gravity = 0.5, 0.05, 9.81
  local function bowl(x, y) return 0.5 * curvature * (x * x + y * y) end
  local function put(x)
    local world = stn.world { dt = 1e-3, gravity = { 0, 0, -gravity } }
    world:height_field { size = { 2, 2 }, rows = 401, columns = 401, heights = bowl, mu = 0 }
    return world, world:sphere { radius = radius, mu = 0, xyz = { x, 0, radius + bowl(x, 0) } }
  end
  local world, ball = put(0.1)
  local crossings, before = {}, 0.1
  for _ in world:run { seconds = 4 } do
    local x = ball:pose().xyz[1]
    if before * x < 0 then crossings[#crossings + 1] = world.time - world.dt * x / (x - before) end
    before = x
  end
  local period = 2 * (crossings[#crossings] - crossings[1]) / (#crossings - 1)
  stn.near(period, 2 * math.pi / math.sqrt(gravity * curvature / (1 - radius * curvature)), 0.01, "period")
  world, ball = put(0)
  for _ in world:run { seconds = 1 } do
  end
  stn.near(ball:pose().xyz, { 0, 0, radius }, 1e-6, "bottom")
end)

stn.test("what falls at 20 m/s does not come through", function()
  for _, ground in ipairs { field, mesh } do
    local fall = { pose = { xyz = { 0.013, 0.02, 5 }, rpy = { 0.3, 0.4, 0.5 } }, velocity = { 0, 0, -20 } }
    local function with(sizes)
      for key, value in pairs(fall) do sizes[key] = value end
      return sizes
    end
    for _, make in ipairs {
      function(world) return world:sphere(with { radius = 0.05 }), 0.05 end,
      function(world) return world:box(with { size = { 0.1, 0.1, 0.1 } }), 0.05 end,
      function(world) return world:cylinder(with { radius = 0.05, length = 0.02 }), 0.01 end,
      function(world) return world:ellipsoid(with { radii = { 0.05, 0.04, 0.03 } }), 0.03 end,
    } do
      local world = stn.world { dt = 0.01 }
      ground(world)
      local body, height = make(world)
      for _ in world:run { seconds = 2 } do
        assert(body:pose().xyz[3] > 0, "below the ground")
      end
      assert(body:pose().xyz[3] > 0.98 * height)
    end
  end
end)

stn.test("a pile of rocks comes to rest on a field without sinking in", function()
  local world = stn.world { dt = 5e-3 }
  local function hills(x, y) return 0.1 * math.sin(3 * x) * math.cos(2 * y) + 0.2 * (x * x + y * y) end
  local land = world:height_field { size = { 3, 3 }, rows = 31, columns = 31, heights = hills, mu = 0.7 }
  local rocks = {}
  math.randomseed(5)
  for i = 1, 12 do
    local text = {}
    for k = 1, 12 do
      local z, angle = 2 * math.random() - 1, 2 * math.pi * math.random()
      local rho = math.sqrt(1 - z * z)
      text[k] = ("v %.9g %.9g %.9g\n"):format(0.15 * rho * math.cos(angle), 0.12 * rho * math.sin(angle), 0.1 * z)
    end
    for k = 1, 10 do text[12 + k] = ("f %d %d %d\n"):format(k, k + 1, k + 2) end -- of which only the hull counts
    rocks[i] = world:mesh { file = files:write(".obj", table.concat(text)), mu = 0.7, density = 2000,
      xyz = { 0.25 * (i % 2) - 0.1, 0.25 * (i // 2 % 2) - 0.1, 0.4 + 0.25 * (i // 4) } }
  end
  for _ in world:run { seconds = 4 } do
  end
  for i, rock in ipairs(rocks) do
    stn.near(rock:speed(), 0, 1e-2, "speed of rock " .. i)
    assert(world:distance(rock, land).distance > -1e-3, "rock " .. i .. " has sunk in")
    local p = rock:pose().xyz
    assert(p[3] > hills(p[1], p[2]), "rock " .. i .. " is below the land")
  end
end)

stn.test("a large box rests on small bumps: those that carry it stay among hundreds in reach", function()
  local world = stn.world { dt = 0.005 }
  world:height_field { size = { 2, 2 }, rows = 101, columns = 101,
    heights = function(x, y) return 0.003 * math.sin(20 * x) * math.cos(17 * y) end }
  local box = world:box { size = { 1, 1, 0.2 }, xyz = { 0, 0, 0.12 }, rpy = { 0.02, 0.01, 0.3 } }
  for _ in world:run { seconds = 2 } do end
  stn.check("it rests", { value = box:speed(), limit = 1e-6, unit = "m/s" })
end)
