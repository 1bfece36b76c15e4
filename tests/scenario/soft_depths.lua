-- SPDX-License-Identifier: Apache-2.0
-- Soft bodies that overlap something, at rest and from any side: what is in the way has a contact that is about as deep
-- as the overlap of rigid twins. And what flies at walls, floors, and peaks of a mesh does not pass.
local stn = require "stiction"
local worse = require "worse"
local files <close> = require "files"()

local tier = os.getenv "STICTION_TEST_TIER"
local many = tier == "quick" and 1 or tier == "full" and 50 or 5
local gravity = 9.81
local dice

local function rnd(low, high) return dice:random(low, high) end
local function count(low, high) return math.floor(rnd(low, high + 1)) end

--- A mesh of a grid of quadrilaterals that `at` places, i and j from 0 to n.
local function grid(n, at)
  local text = {}
  for j = 0, n do
    for i = 0, n do text[#text + 1] = ("v %.17g %.17g %.17g"):format(at(i, j)) end
  end
  for j = 0, n - 1 do
    for i = 0, n - 1 do
      local k = j * (n + 1) + i + 1
      text[#text + 1] = ("f %d %d %d\nf %d %d %d"):format(k, k + 1, k + n + 2, k, k + n + 2, k + n + 1)
    end
  end
  return files:write(".obj", table.concat(text, "\n") .. "\n")
end

--- A closed box of n cells a side.
local function box_mesh(size, n)
  local text, id, faces = {}, {}, {}
  local function corner(p)
    local key = table.concat(p, " ")
    if not id[key] then
      text[#text + 1] = ("v %.17g %.17g %.17g"):format(size[1] * (p[1] / n - 0.5), size[2] * (p[2] / n - 0.5), size[3] * (p[3] / n - 0.5))
      id[key] = #text
    end
    return id[key]
  end
  for axis = 0, 2 do
    for side = 0, n, n do
      for i = 0, n - 1 do
        for j = 0, n - 1 do
          local ring = {}
          for k, c in ipairs { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } } do
            local p = {}
            p[axis + 1], p[(axis + 1) % 3 + 1], p[(axis + 2) % 3 + 1] = side, i + c[1], j + c[2]
            ring[side > 0 and k or 5 - k] = corner(p)
          end
          faces[#faces + 1] = ("f %d %d %d\nf %d %d %d"):format(ring[1], ring[2], ring[3], ring[1], ring[3], ring[4])
        end
      end
    end
  end
  return files:write(".obj", table.concat(text, "\n") .. "\n" .. table.concat(faces, "\n") .. "\n")
end

--- The convex hull of a soft body's nodes, as a file: each of them in triangles with others.
local function hull_of(spec)
  local world <close> = stn.world { gravity = { 0, 0, 0 } }
  local points, text = world:soft(spec):positions(), {}
  for _, p in ipairs(points) do text[#text + 1] = ("v %.17g %.17g %.17g"):format(p[1], p[2], p[3]) end
  for i = 1, #points do
    for k = 1, 6 do
      local a, b = (i * 7 + k * 5) % #points + 1, (i * 3 + k * 11) % #points + 1
      if a ~= b and a ~= i and b ~= i then text[#text + 1] = ("f %d %d %d"):format(i, a, b) end
    end
  end
  return files:write(".obj", table.concat(text, "\n") .. "\n")
end

--- Each makes two kinds of one body: what is looked at, and its twin, rigid and convex.
local function soft(spec)
  spec.density = 500
  local rigid = { file = hull_of(spec), density = 500 }
  return { "soft", spec, spec }, { "mesh", rigid, rigid }
end
local function rigid(kind, spec)
  return { kind, spec, spec }, { kind, spec, spec }
end
local size = function(low, high) return { 0.1 * rnd(low, high), 0.1 * rnd(low, high), 0.1 * rnd(low, high) } end
local bodies = {
  box = function() return soft { box = size(0.4, 1.5), cells = { count(1, 3), count(1, 3), count(1, 3) } } end,
  ball = function() return soft { ball = 0.05 * rnd(0.5, 1.5), cells = count(3, 6) } end,
  bar = function() return soft { box = { 0.3, 0.03, 0.03 }, cells = { count(1, 9), 1, 1 } } end,
  plate = function() return soft { box = { 0.2, 0.2, 0.01 }, cells = { count(1, 6), count(1, 6), 1 } } end,
  ["rigid box"] = function() return rigid("box", { size = size(0.4, 1.5) }) end,
  sphere = function() return rigid("sphere", { radius = 0.05 * rnd(0.3, 1.5) }) end,
  cylinder = function() return rigid("cylinder", { radius = 0.05 * rnd(0.3, 1.5), length = 0.1 * rnd(0.3, 1.5) }) end,
  capsule = function() return rigid("capsule", { radius = 0.05 * rnd(0.2, 0.8), length = 0.1 * rnd(0.3, 1.5) }) end,
  ellipsoid = function() return rigid("ellipsoid", { radii = size(0.3, 0.8) }) end,
  mesh = function()
    local whole = size(0.4, 1.5)
    return { "mesh", { file = box_mesh(whole, count(1, 3)), convex = false } }, { "box", { size = whole } }
  end,
}

local function add(world, body, name, pose, fixed)
  local spec = { name = name, xyz = pose.xyz, rpy = pose.rpy, fixed = fixed or nil, density = not fixed and 500 or nil }
  for key, value in pairs(body[2]) do spec[key] = value end
  if body[1] == "soft" then spec.fixed, spec.density = nil, 500 end
  return world[body[1]](world, spec)
end

local origin = { xyz = { 0, 0, 0 }, rpy = { 0, 0, 0 } }
--- How deep the deepest contact is; 0 without one.
local function depth(below, above, pose)
  local world <close> = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
  add(world, below, "below", origin, true)
  add(world, above, "above", pose, false)
  world:contact_material { relaxation_time = 0.1 } -- to come apart slowly
  local step, deepest = world:step(), 0
  for _, c in ipairs(step:contacts()) do deepest = worse(deepest, -c.distance) end
  return deepest
end

local function random_turn()
  local r = rnd(0, 1)
  if r < 0.2 then return { 0, 0, 0 } end
  if r < 0.4 then return { 0, 0, rnd(-3, 3) } end
  if r < 0.7 then return { rnd(-0.2, 0.2), rnd(-0.2, 0.2), rnd(-3, 3) } end
  return { rnd(-3, 3), rnd(-1.5, 1.5), rnd(-3, 3) }
end

--- A pose in which the twins overlap by up to `most`, come to along a straight way; nil: they do not meet on it.
local function overlapping(below, above, most)
  local straight, turn, want = rnd(0, 1) < 0.2, random_turn(), rnd(1e-5, most)
  local way = straight and { 0, 0, 1 } or { rnd(-1, 1), rnd(-1, 1), rnd(0.1, 1) }
  local off = straight and { 0, 0, 0 } or { rnd(-0.03, 0.03), rnd(-0.03, 0.03), rnd(-0.03, 0.03) }
  local length = math.sqrt(way[1] ^ 2 + way[2] ^ 2 + way[3] ^ 2)
  local inside, outside = 0, 0.5
  local function pose(t)
    return { xyz = { off[1] + t * way[1] / length, off[2] + t * way[2] / length, off[3] + t * way[3] / length }, rpy = turn }
  end
  for _ = 1, 14 do
    local t = 0.5 * (inside + outside)
    if depth(below, above, pose(t)) > want then inside = t else outside = t end
  end
  local found = depth(below, above, pose(outside))
  if found > 1e-5 and found <= want then return pose(outside), found end
end

for seed, lower in ipairs { "rigid box", "sphere", "cylinder", "capsule", "ellipsoid", "mesh", "box", "ball" } do
  stn.test("what overlaps has a contact about as deep as twins: a soft body on a " .. lower, function()
    dice = stn.world { seed = seed }
    for i = 1, 4 * many do
      local upper = ({ "box", "ball", "bar", "plate" })[i % 4 + 1]
      local below, twin_below = bodies[lower]()
      local above, twin_above = bodies[upper]()
      local pose, expected = overlapping(twin_below, twin_above, upper == "plate" and 1e-3 or upper == "bar" and 3e-3 or 5e-3)
      if pose then
        local found = depth(below, above, pose)
        local what = ("%d: %s, %g m deep, has a contact %g m deep"):format(i, upper, expected, found)
        assert(found > 0, what)
        assert(found < 2 * expected + 1e-5, what) -- may be less deep: a vertex beside a rim comes out at the side
      end
    end
  end)
end

-- Bodies that are not convex, of cells between planes across the axes: a mesh, and how deep points of each are in the other.
local shapes = {
  U = { 3, 2, function(i, k) return k == 0 or i ~= 1 end },
  L = { 2, 2, function(i, k) return k == 0 or i == 0 end },
  T = { 3, 2, function(i, k) return k == 1 or i == 1 end },
  stair = { 3, 3, function(i, k) return i + k <= 2 end },
}
local function cells_of(kind)
  local nx, nz, full = table.unpack(shapes[kind])
  local body = { n = { nx, 1, nz }, plane = {}, rectangles = {} }
  for axis = 1, 3 do
    local at, n = { [0] = 0 }, body.n[axis]
    for i = 1, n do at[i] = at[i - 1] + 0.06 * rnd(0.3, 1) end
    local middle = 0.5 * at[n]
    for i = 0, n do at[i] = at[i] - middle end
    body.plane[axis] = at
  end
  function body.full(c)
    for axis = 1, 3 do
      if c[axis] < 0 or c[axis] >= body.n[axis] then return false end
    end
    return full(c[1], c[3])
  end
  local text, faces, id = {}, {}, {}
  local function corner(p)
    local key = ("%.12g %.12g %.12g"):format(p[1], p[2], p[3])
    if not id[key] then
      text[#text + 1] = "v " .. key
      id[key] = #text
    end
    return id[key]
  end
  for i = 0, nx - 1 do
    for k = 0, nz - 1 do
      for axis = 1, body.full { i, 0, k } and 3 or 0 do
        for side = 0, 1 do
          local beside = { i, 0, k }
          beside[axis] = beside[axis] + 2 * side - 1
          if not body.full(beside) then
            local low, ring = { i, 0, k }, {}
            for step, c in ipairs { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } } do
              local q = { i, 0, k }
              q[axis], q[axis % 3 + 1], q[(axis + 1) % 3 + 1] = q[axis] + side, q[axis % 3 + 1] + c[1], q[(axis + 1) % 3 + 1] + c[2]
              for other = 1, 3 do q[other] = body.plane[other][q[other]] end
              low[step] = q
              ring[side == 1 and step or 5 - step] = corner(q)
            end
            faces[#faces + 1] = ("f %d %d %d\nf %d %d %d"):format(ring[1], ring[2], ring[3], ring[1], ring[3], ring[4])
            body.rectangles[#body.rectangles + 1] = { low[1], low[3] }
          end
        end
      end
    end
  end
  body.file = files:write(".obj", table.concat(text, "\n") .. "\n" .. table.concat(faces, "\n") .. "\n")
  return body
end

--- How deep a point is inside of the cells; 0 outside.
local function depth_in(body, p)
  local cell = {}
  for axis = 1, 3 do
    local at, n = body.plane[axis], body.n[axis]
    if p[axis] <= at[0] or p[axis] >= at[n] then return 0 end
    for i = 1, n do cell[axis] = cell[axis] or (p[axis] < at[i] and i - 1 or nil) end
  end
  if not body.full(cell) then return 0 end
  local least = math.huge
  for _, r in ipairs(body.rectangles) do
    local sum = 0
    for axis = 1, 3 do
      local out = math.max(r[1][axis] - p[axis], p[axis] - r[2][axis], 0)
      sum = sum + out * out
    end
    least = math.min(least, sum)
  end
  return math.sqrt(least)
end

--- Calls visit with (n + 1)^2 points all over a rectangle across an axis.
local function spread(r, n, visit)
  for i = 0, n do
    for j = 0, n do
      local p, used = {}, 0
      for axis = 1, 3 do
        local flat = r[1][axis] == r[2][axis]
        p[axis] = r[1][axis] + (flat and 0 or (r[2][axis] - r[1][axis]) * (used == 0 and i or j) / n)
        used = used + (flat and 0 or 1)
      end
      visit(p)
    end
  end
end

--- How deep any point of the cells is in a box, or of the box in the cells: less than the way out, where edges cross.
local function deepest_point(body, size, pose, n)
  local most, half = 0, { size[1] / 2, size[2] / 2, size[3] / 2 }
  for _, r in ipairs(body.rectangles) do
    spread(r, n, function(p)
      local q = pose:inverse() * p
      most = worse(most, math.min(half[1] - math.abs(q[1]), half[2] - math.abs(q[2]), half[3] - math.abs(q[3])))
    end)
  end
  for axis = 1, 3 do
    for side = -1, 1, 2 do
      local low, high = { -half[1], -half[2], -half[3] }, { half[1], half[2], half[3] }
      low[axis], high[axis] = side * half[axis], side * half[axis]
      spread({ low, high }, n, function(p) most = worse(most, depth_in(body, pose * p)) end)
    end
  end
  return most
end

stn.test("what overlaps has a contact not far deeper than points are: a soft box on a mesh that is not convex", function()
  dice = stn.world { seed = 5 }
  local poses, without, deep = 0, 0, 0
  for i = 1, 6 * many do
    local kind = ({ "U", "L", "T", "stair" })[i % 4 + 1]
    local body, size, turn = cells_of(kind), { 0.06 * rnd(0.7, 2), 0.06 * rnd(0.7, 2), 0.06 * rnd(0.5, 1.5) }, random_turn()
    local way, off, want = { rnd(-1, 1), rnd(-1, 1), rnd(0.1, 1) }, { rnd(-0.06, 0.06), rnd(-0.03, 0.03), rnd(-0.06, 0.06) }, rnd(2e-4, 4e-3)
    local inside, outside = 0, 0.5
    local function pose(t) return stn.pose { xyz = { off[1] + t * way[1], off[2] + t * way[2], off[3] + t * way[3] }, rpy = turn } end
    for _ = 1, 11 do
      local t = 0.5 * (inside + outside)
      if deepest_point(body, size, pose(t), 6) > want then inside = t else outside = t end
    end
    local expected = deepest_point(body, size, pose(outside), 24)
    if expected > 1e-4 then
      local world <close> = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
      world:mesh { file = body.file, convex = false, fixed = true }
      world:soft { box = size, cells = { count(1, 3), count(1, 3), count(1, 3) }, density = 500, pose = pose(outside) }
      world:contact_material { relaxation_time = 0.1 }
      local found = 0
      for _, c in ipairs(world:step():contacts()) do found = worse(found, -c.distance) end
      poses, without, deep = poses + 1, without + (found == 0 and 1 or 0), deep + (found > 4 * expected + 1e-3 and 1 or 0)
    end
  end
  -- README of contact/point says how many there are
  assert(without <= 0.01 * poses and deep <= 0.01 * poses, ("of %d poses %d without contact, %d with one far too deep"):format(poses, without, deep))
end)

stn.test("what passes the border of an open mesh or a height field is beside it", function()
  dice = stn.world { seed = 8 }
  local n, width = 8, 0.4
  local function height(x) return math.floor(x / width * n + 0.5) % 2 == 0 and 0.05 or 0 end
  local file = grid(n, function(i, j)
    local x, y = width * (i / n - 0.5), width * (j / n - 0.5)
    return x, y, height(x)
  end)
  for i = 1, 10 * many do
    local rpy, least = random_turn(), 1
    local world <close> = stn.world { dt = 5e-3, gravity = { 0, 0, 0 } }
    if i % 2 == 0 then
      world:mesh { file = file, convex = false, fixed = true }
    else
      world:height_field { size = { width, width }, rows = n + 1, columns = n + 1, heights = height }
    end
    local spec = { box = { 0.1, 0.08, 0.06 }, cells = 2, density = 500, rpy = rpy, xyz = { 0, 0, 0 } }
    local twin <close> = stn.world {}
    for _, p in ipairs(twin:soft(spec):positions()) do least = math.min(least, p[1]) end
    spec.xyz = { width / 2 + 2e-3 - least, rnd(-0.05, 0.05), rnd(-0.05, 0.08) }
    world:soft(spec)
    local state = world:state()
    for k = 0, #state.v - 1 do state.v[k + 1] = ({ -0.3, 0, -1.5 })[k % 3 + 1] end
    world:set_state(state)
    assert(world:step().overlap_m < 1e-5, ("%d: turned by %g %g %g"):format(i, rpy[1], rpy[2], rpy[3]))
  end
end)

stn.test("what is pressed on the rims of a mesh comes to rest", function()
  dice = stn.world { seed = 4 }
  for i = 1, math.max(1, many // 2) do
    local body = cells_of "U"
    local world <close> = stn.world { dt = 5e-3 }
    world:mesh { file = body.file, convex = false, fixed = true, mu = 0.4 }
    local top = body.plane[3][2]
    local bar = world:soft { box = { 0.15, 0.03, 0.03 }, cells = { 6, 2, 2 }, young = 2e5, density = 500, damping = 0.01, mu = 0.4, xyz = { rnd(-0.01, 0.01), rnd(-0.01, 0.01), top + 0.0152 }, rpy = { 0, 0, rnd(-1, 1) } }
    local from, way = top + 0.052, 0.0095
    local jaw = world:box { size = { 0.12, 0.12, 0.04 }, mass = 1, mu = 0.4, xyz = { 0, 0, from } }
    jaw:kinematic(function(t)
      return { xyz = { 0, 0, from - way * math.min(1, 2 * t) } }, { linear = { 0, 0, t < 0.5 and -2 * way or 0 } }
    end)
    local step
    for s in world:run { seconds = 2 } do step = s end
    stn.near(world:contact_force(bar).force[3], bar:mass() * gravity, 1e-5 * bar:mass() * gravity)
    assert(step.kinetic_J < 1e-8, ("%d: %g J"):format(i, step.kinetic_J))
  end
end)

-- The peak of a pyramid in the middle of 4 x 4 cells, as a mesh and as a height field, inside of a bar's bottom.
stn.test("a peak inside of a soft bar has a contact as deep as it is", function()
  dice = stn.world { seed = 3 }
  for i = 1, 8 * many do
    local high, deep, u, v = ({ 0.02, 0.05, 0.1 })[i % 3 + 1], rnd(2e-4, 4e-3), rnd(-0.04, 0.04), rnd(-5e-3, 5e-3)
    local rpy = { rnd(-0.3, 0.3), rnd(-0.3, 0.3), rnd(-3, 3) }
    local function height(x, y) return math.abs(x) + math.abs(y) < 1e-9 and 0 or -high end
    local peak = stn.pose { rpy = rpy }:rotate { u, v, deep - 0.01 } -- from the middle of the bar
    for _, kind in ipairs { "mesh", "height field" } do
      local world <close> = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
      if kind == "mesh" then
        local file = grid(4, function(k, l)
          local x, y = 0.025 * (k - 2), 0.025 * (l - 2)
          return x, y, height(x, y)
        end)
        world:mesh { file = file, convex = false, fixed = true }
      else
        world:height_field { size = { 0.1, 0.1 }, rows = 5, columns = 5, heights = height }
      end
      world:soft { box = { 0.1, 0.02, 0.02 }, cells = { count(1, 4), 1, 1 }, density = 500, xyz = { -peak[1], -peak[2], -peak[3] }, rpy = rpy }
      world:contact_material { relaxation_time = 0.1 }
      local found = 0
      for _, c in ipairs(world:step():contacts()) do found = worse(found, -c.distance) end
      local side = 0.01 - math.abs(v)
      assert(found > 0.99 * math.min(deep, side) and found < 1.01 * math.max(deep, side), ("%d: %s %g m high, %g m deep: %g m"):format(i, kind, high, deep, found))
    end
  end
end)

stn.test("a soft box rests on the tip of a cone of many triangles", function()
  for _, sides in ipairs { 3, 40, 200 } do
    local text = { "v 0 0 0.05", "v 0 0 0" }
    for i = 0, sides - 1 do
      local angle = 2 * math.pi * i / sides
      text[#text + 1] = ("v %.17g %.17g 0"):format(0.03 * math.cos(angle), 0.03 * math.sin(angle))
    end
    for i = 0, sides - 1 do
      local a, b = 3 + i, 3 + (i + 1) % sides
      text[#text + 1] = ("f 1 %d %d\nf 2 %d %d"):format(a, b, b, a)
    end
    local cone = files:write(".obj", table.concat(text, "\n") .. "\n")
    for _, deep in ipairs { 1e-3, 4e-3 } do
      local world <close> = stn.world { gravity = { 0, 0, 0 } }
      world:mesh { file = cone, convex = false, fixed = true }
      world:soft { box = { 0.1, 0.1, 0.1 }, cells = 2, density = 500, xyz = { 0.01, 0.007, 0.1 - deep } }
      world:contact_material { relaxation_time = 0.1 }
      stn.near(world:step().overlap_m, deep, 1e-9)
    end
    local world <close> = stn.world {}
    world:mesh { file = cone, convex = false, fixed = true, mu = 0.5 }
    local body = world:soft { box = { 0.1, 0.1, 0.1 }, cells = 2, young = 2e5, density = 500, damping = 0.02, xyz = { 0, 0, 0.1001 } }
    for step in world:run { seconds = 0.1 } do assert(step.overlap_m < 1e-4) end
    local weight = body:mass() * gravity
    stn.near(world:contact_force(body).force[3], weight, 0.02 * weight)
  end
end)

local function rests(world, body, seconds)
  for step in world:run { seconds = seconds } do
    assert(step.overlap_m < 1e-4, ("%g m deep at t = %g s"):format(step.overlap_m, step.time))
  end
  local weight = body:mass() * gravity
  stn.near(world:contact_force(body).force[3], weight, 1e-5 * weight)
  return body:position()[3]
end

local function soft_box(world, xyz, rpy)
  return world:soft { box = { 0.1, 0.1, 0.1 }, cells = 2, young = 2e5, damping = 0.02, density = 500, xyz = xyz, rpy = rpy }
end

stn.test("a soft body rests on an open mesh as on ground", function()
  local floors = {
    flat = { 1, function() return 0 end },
    cells = { 10, function() return 0 end },
    bowl = { 20, function(x, y) return 0.5 * (x * x + y * y) end },
  }
  for name, floor in pairs(floors) do
    local n, height = table.unpack(floor)
    local file = grid(n, function(i, j)
      local x, y = i / n - 0.5, j / n - 0.5
      return x, y, height(x, y)
    end)
    for _, dt in ipairs { 2e-3, 5e-3 } do
      local world <close> = stn.world { dt = dt }
      world:mesh { file = file, convex = false, fixed = true, mu = 0.8 }
      local at = rests(world, soft_box(world, { 0.01, 0.005, 0.0501 + height(0.06, 0.06) }, { 0, 0, 0.3 }), 0.5)
      assert(at > 0.0495 and at < 0.054, ("%s, dt %g: %g m"):format(name, dt, at))
    end
  end
end)

stn.test("what falls on a bed of peaks stays on it, soft or rigid, of a mesh or a height field", function()
  dice = stn.world { seed = 11 }
  local n, width = 16, 0.4
  local function height(x, y) return math.floor(x / 0.025 + 0.5) % 2 == 0 and math.floor(y / 0.025 + 0.5) % 2 == 0 and 0 or -0.05 end
  local file = grid(n, function(i, j)
    local x, y = width * (i / n - 0.5), width * (j / n - 0.5)
    return x, y, height(x, y)
  end)
  for i = 0, 4 * many - 1 do
    local bar, on_mesh, is_soft = i % 2 == 0, i // 2 % 2 == 0, i % 3 > 0
    local world <close> = stn.world {}
    if on_mesh then
      world:mesh { file = file, convex = false, fixed = true }
    else
      world:height_field { size = { width, width }, rows = n + 1, columns = n + 1, heights = height }
    end
    local size = bar and { 0.25, 0.04, 0.04 } or { 0.1, 0.1, 0.08 }
    local body = { density = 500, xyz = { rnd(-0.02, 0.02), rnd(-0.02, 0.02), 0.11 }, rpy = { rnd(-0.3, 0.3), rnd(-0.3, 0.3), rnd(-3, 3) } }
    if is_soft then
      body.box, body.cells, body.young, body.damping = size, bar and { 8, 2, 2 } or 3, 5e5, 0.02
      body = world:soft(body)
    else
      body.size = size
      body = world:box(body)
    end
    local before, what = world:energy().total, ("%d: %s %s on a %s"):format(i, is_soft and "soft" or "rigid", bar and "bar" or "box", on_mesh and "mesh" or "height field")
    for step in world:run { seconds = 0.6 } do
      assert(step.overlap_m < (is_soft and 2e-4 or 1.5e-3), ("%s, t = %g s: %g m deep"):format(what, step.time, step.overlap_m)) -- the edge of a box strikes a peak
      assert(step.total_energy_J < before + 1e-3, ("%s, t = %g s: %g J gained"):format(what, step.time, step.total_energy_J - before))
    end
    assert(body:position()[3] > 0, ("%s: %g m"):format(what, body:position()[3]))
  end
end)

stn.test("nothing that flies at a wall, or into a corner of it, passes within a step", function()
  local wall = box_mesh({ 5e-3, 0.8, 0.8 }, 1)
  local corner = files:write(".obj", "v 0 -1 0\nv 1 -1 0\nv 1 1 0\nv 0 1 0\nv 1 -1 1\nv 1 1 1\nf 1 2 3\nf 1 3 4\nf 2 5 6\nf 2 6 3\n") -- a floor, and a wall at x = 1
  --- How far along x any part of a soft body, or the middle of a rigid one, comes in some steps.
  local function thrown(world, body, velocity, steps, is_soft)
    if is_soft then
      local state = world:state()
      for i = 0, #state.v - 1 do state.v[i + 1] = velocity[i % 3 + 1] end
      world:set_state(state)
    else
      body:set_velocity { linear = velocity }
    end
    local furthest = -1
    for _ in world:run { steps = steps } do
      for _, p in ipairs(is_soft and body:positions() or { body:position() }) do furthest = worse(furthest, p[1]) end
    end
    return furthest
  end
  for i = 0, 6 * many - 1 do
    local before = -0.0025 - 0.3e-3 * (i % 50) - 1e-4
    local world <close> = stn.world { dt = 5e-3, gravity = { 0, 0, 0 } }
    world:mesh { file = wall, convex = false, fixed = true }
    local box = soft_box(world, { before - 0.05 * math.sqrt(2), 0.003 * (i % 40), 0.005 }, { 0, 0, math.pi / 4 })
    local furthest = thrown(world, box, { 3, 0, 0 }, 4, true)
    assert(furthest < -0.0024, ("%d: %g m"):format(i, furthest))
  end
  for _, radius in ipairs { 1e-3, 5e-3 } do
    for _, speed in ipairs { 1, 2 } do -- more than 10 times its size in a step no contact in advance stops a rigid one
      for _, kind in ipairs { "rigid", "soft" } do
        local world <close> = stn.world { dt = 5e-3, gravity = { 0, 0, 0 } }
        world:mesh { file = corner, convex = false, fixed = true, mu = 0 }
        local at = { 1 - radius - 0.6 * speed * world.dt, 0.1, radius + 0.1 * speed * world.dt }
        local ball = kind == "rigid" and world:sphere { radius = radius, density = 1000, xyz = at, mu = 0 } or
          world:soft { ball = radius, cells = 4, young = 1e5, density = 1000, xyz = at, mu = 0 }
        local furthest = thrown(world, ball, { speed, 0, -0.5 * speed }, 4, kind == "soft")
        assert(furthest < 1 + 1e-3 * radius, ("%s, radius %g, %g m/s: %g m"):format(kind, radius, speed, furthest))
        assert(ball:position()[3] > 0, ("%s, radius %g, %g m/s: %g m"):format(kind, radius, speed, ball:position()[3]))
      end
    end
  end
end)

stn.test("soft bodies with layers stop where these meet, however far they go in a step", function()
  -- beside: thin pads that pass each other 3 or 5 mm apart, in the layers but not in the pads
  for _, case in ipairs { { t = 5e-3, v = 0.47 }, { t = 5e-3, v = 0.93 }, { t = 2e-3, v = 0.5, dt = 0.01 }, { t = 2e-3, v = 2 }, { t = 5e-3, v = 0.47, rigid = true },
    { t = 5e-3, v = 2, beside = true }, { t = 5e-3, v = 8, beside = true }, { t = 5e-3, v = 20, beside = true }, { t = 5e-3, v = 8, beside = true, rigid = true } } do
    local wide, far, y = case.beside and 0.01 or 0.05, case.beside and 0.02 or 0.035, case.beside and (case.rigid and 0.053 or 0.055) or 0.007
    local world <close> = stn.world { dt = case.dt or 2e-3, gravity = { 0, 0, 0 } }
    local function pad(at)
      return world:soft { box = { wide, 0.05, 0.05 }, cells = { 2, 2, 2 }, young = 1e6, density = 1000, damping = 0.01, contact_thickness = case.t, xyz = at }
    end
    local a, count = pad { -far, 0, 0 }, case.rigid and 1 or 2
    if case.rigid then
      world:box { size = { wide, 0.05, 0.05 }, density = 1000, xyz = { far, y, 0.004 }, velocity = { -case.v, 0, 0 } }
    else
      pad { far, y, 0.004 }
    end
    local v, n = world:state().v, a.node_count
    local first = #v - 3 * n * count
    for i = 1, n * count do v[first + 3 * i - 2] = (i <= n and 1 or -1) * case.v end
    world:set_state { v = v }
    local touched = false
    for step in world:run { seconds = 0.1 } do
      assert(step.overlap_m < 1e-6, ("layers of %g m at %g m/s: %g m deep"):format(case.t, case.v, step.overlap_m))
      touched = touched or step.contact_count > 0
    end
    assert(touched)
  end
end)
