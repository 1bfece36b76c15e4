-- SPDX-License-Identifier: Apache-2.0
-- Questions about soft bodies: what is nearest to a point, what a shape overlaps, what a ray meets, how far bodies are apart. Against
-- all triangles of a mesh one by one, and the number of times that they go round a point [van-oosterom-1983].
local stn = require "stiction"
local files <close> = require "files"()

local function sub(a, b) return { a[1] - b[1], a[2] - b[2], a[3] - b[3] } end
local function along(a, b, t) return { a[1] + t * b[1], a[2] + t * b[2], a[3] + t * b[3] } end
local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end
local function norm(a) return math.sqrt(dot(a, a)) end
local function cross(a, b) return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] } end

-- A mesh of 7 cubes of 5 cm, 2 x 2 x 2 without one: it has edges and a corner that go inwards. Tetrahedra of a VTK file.
local function dented(path)
  local nodes, tets = {}, {}
  for x = 0, 2 do
    for y = 0, 2 do
      for z = 0, 2 do nodes[#nodes + 1] = ("%g %g %g"):format(0.05 * x - 0.05, 0.05 * y - 0.05, 0.05 * z - 0.05) end
    end
  end
  for cell = 0, 6 do
    local low = { cell // 4, cell // 2 % 2, cell % 2 }
    for _, way in ipairs { { 1, 2, 3 }, { 1, 3, 2 }, { 2, 1, 3 }, { 2, 3, 1 }, { 3, 1, 2 }, { 3, 2, 1 } } do
      local p, tet = { table.unpack(low) }, {}
      for k = 0, 3 do
        if k > 0 then p[way[k]] = p[way[k]] + 1 end
        tet[k + 1] = 9 * p[1] + 3 * p[2] + p[3]
      end
      tets[#tets + 1] = tet
    end
  end
  local file <close> = assert(io.open(path, "w"))
  file:write("# vtk DataFile Version 3.0\ndented\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS ", #nodes, " double\n", table.concat(nodes, "\n"),
    "\nCELLS ", #tets, " ", 5 * #tets, "\n")
  for _, tet in ipairs(tets) do file:write("4 ", table.concat(tet, " "), "\n") end
  file:write("CELL_TYPES ", #tets, "\n", ("10\n"):rep(#tets))
  return tets
end

--- Faces that one tetrahedron has, with the material behind them, at these places.
local function skin(tets, at)
  local faces, out = {}, {}
  for _, tet in ipairs(tets) do
    for k = 1, 4 do
      local f = {}
      for i = 1, 4 do if i ~= k then f[#f + 1] = tet[i] end end
      table.sort(f)
      local key = table.concat(f, " ")
      faces[key] = not faces[key] and { f, tet[k] } or "twice"
    end
  end
  for _, face in pairs(faces) do
    if face ~= "twice" then
      local p, q, r = at[face[1][1] + 1], at[face[1][2] + 1], at[face[1][3] + 1]
      local outward = dot(cross(sub(q, p), sub(r, p)), sub(at[face[2] + 1], p)) < 0
      out[#out + 1] = outward and { p, q, r } or { p, r, q }
    end
  end
  return out
end

local function on_segment(a, b, p)
  local d = sub(b, a)
  return along(a, d, math.max(0, math.min(1, dot(sub(p, a), d) / dot(d, d))))
end

local function to_triangle(t, p)
  local u, v, d = sub(t[2], t[1]), sub(t[3], t[1]), sub(p, t[1])
  local n = cross(u, v)
  local y, z = dot(cross(d, v), n) / dot(n, n), dot(cross(u, d), n) / dot(n, n)
  if y >= 0 and z >= 0 and y + z <= 1 then return math.abs(dot(d, n)) / norm(n) end
  return math.min(norm(sub(p, on_segment(t[1], t[2], p))), norm(sub(p, on_segment(t[2], t[3], p))), norm(sub(p, on_segment(t[3], t[1], p))))
end

local function signed(triangles, p)
  local least, round = math.huge, 0
  for _, t in ipairs(triangles) do
    least = math.min(least, to_triangle(t, p))
    local a, b, c = sub(t[1], p), sub(t[2], p), sub(t[3], p)
    local x, y, z = norm(a), norm(b), norm(c)
    round = round + 2 * math.atan(dot(a, cross(b, c)), x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y)
  end
  return round > 2 * math.pi and -least or least
end

local function first_hit(triangles, from, d)
  local best
  for _, t in ipairs(triangles) do
    local u, v = sub(t[2], t[1]), sub(t[3], t[1])
    local n = cross(u, v)
    local at = dot(sub(t[1], from), n) / dot(d, n)
    local x = sub(along(from, d, at), t[1])
    local y, z = dot(cross(x, v), n) / dot(n, n), dot(cross(u, x), n) / dot(n, n)
    if at >= 0 and y >= 0 and z >= 0 and y + z <= 1 then best = math.min(best or math.huge, at) end
  end
  return best
end

-- The dented body, deformed by what it fell on, with one node pinned beside.
local function deformed(change)
  local world = stn.world { dt = 4e-3 }
  world:ground { name = "ground", xyz = { 0, 0, -0.06 } }
  local path = files:path ".vtk"
  local tets = dented(path)
  local spec = { name = "pad", mesh = path, young = 2e4, density = 1000, damping = 0.02, rpy = { 0.3, 0.2, 0.5 } }
  for key, value in pairs(change or {}) do spec[key] = value end
  local pad = world:soft(spec)
  local ball = world:sphere { name = "ball", radius = 0.01, mass = 1, xyz = { 0, 0, 5 } }
  for _ in world:run { steps = 30 } do end
  return world, pad, skin(tets, pad:positions()), ball
end

for what, change in pairs { free = {}, pinned = { pinned = "x_min" } } do
  stn.test("nearest, overlap, distance and rays are those of all triangles: " .. what, function()
    local world, pad, triangles, ball = deformed(change)
    local within, hits, middle = 0, 0, pad:position()
    for _ = 1, 300 do
      local p = along(middle, { world:random(-0.09, 0.09), world:random(-0.09, 0.09), world:random(-0.09, 0.09) }, 1)
      local d = signed(triangles, p)
      within = within + (d < 0 and 1 or 0)
      local near = world:nearest { point = p, exclude = { "ground", "ball" } }
      stn.near(near.distance, d, 2e-9, "nearest")
      assert(near.group == pad and near.group.name == "pad" and near.link == nil)
      stn.near(math.abs(dot(sub(near.point, p), near.normal)), math.abs(d), 2e-9, "along the normal")
      local found = world:overlap { "sphere", radius = 0.004, xyz = p, exclude = "ground" }
      assert((#found == 1) == (d <= 0.004), ("sphere at signed distance %g m"):format(d))
      if found[1] then
        assert(found[1].group == pad)
        stn.near(found[1].distance, d - 0.004, 1e-9, "overlap of a sphere")
      end
      local half = 0.004
      if math.abs(d) > half * math.sqrt(3) then
        found = world:overlap { "box", size = { 2 * half, 2 * half, 2 * half }, xyz = p, rpy = { world:random(-3, 3), 1, 2 }, exclude = { "ground", ball } }
        assert((#found == 1) == (d < 0), ("box at signed distance %g m"):format(d))
        assert(d > 0 or (found[1].distance < 0 and found[1].distance >= d - half * math.sqrt(3) - 1e-9), "depth of a box")
      end
      local way = { world:random(-1, 1), world:random(-1, 1), world:random(-1, 1) }
      way = along({ 0, 0, 0 }, way, 1 / norm(way))
      local hit, expected = world:raycast { from = p, direction = way, exclude = { "ground", "ball" } }, first_hit(triangles, p, way)
      if d < 0 then
        assert(hit.distance == 0 and hit.inside and hit.group == pad)
        stn.near(hit.normal, along({ 0, 0, 0 }, way, -1), 1e-15)
        assert(world:raycast { from = p, direction = way, max = 1e-6, exclude = "ground" }.inside, "a short one, too")
      elseif expected then
        hits = hits + 1
        stn.near(hit.distance, expected, 1e-12, "ray")
        assert(hit.group == pad and not hit.inside and dot(hit.normal, way) < 0)
        assert(not world:raycast { from = p, direction = way, max = 0.99 * expected, exclude = "ground" })
      else
        assert(hit == nil, hit and ("a ray from signed distance %g m meets %s at %g m"):format(d, hit.group, hit.distance))
      end
      assert(not world:raycast { from = p, direction = way, max = 1, exclude = { "ground", pad } })
    end
    assert(within > 20 and hits > 20, ("%d points inside, %d rays hit"):format(within, hits))
    for _ = 1, 40 do
      local p = along(middle, { world:random(-0.08, 0.08), world:random(-0.08, 0.08), world:random(-0.08, 0.08) }, 1)
      ball:set_pose { xyz = p }
      local d = world:distance(ball, pad)
      stn.near(d.distance, signed(triangles, p) - 0.01, 1e-9, "distance of a ball")
      assert(d.a == ball and d.b == pad and d.link_b == nil)
      stn.near(world:distance(pad, ball).distance, d.distance, 1e-12)
    end
  end)
end

stn.test("what begins inside of a solid comes out; the core that holds it does not", function()
  for _, attached in ipairs { false, true } do
    local world = stn.world { gravity = { 0, 0, 0 }, dt = 5e-3 }
    local core = world:box { name = "core", size = { 0.02, 0.02, 0.02 }, mass = 0.1, xyz = { 0.03, 0.003, 0.002 } }
    local pad = world:soft { box = { 0.12, 0.12, 0.12 }, cells = 4, young = 1e4, density = 200, damping = 0.02,
      attach = attached and { link = core, nodes = { box = { { -0.01, -0.01, -0.01 }, { 0.01, 0.01, 0.01 } } } } or nil }
    world:contact_material { relaxation_time = 0.1 }
    local before = world:distance(core, pad).distance
    stn.near(before, -0.04, 1e-9, "out by the nearest side, with its half and the rest") -- 0.06 - 0.03 + 0.01
    for _ in world:run { seconds = 0.5 } do end
    local now = world:distance(core, pad).distance
    assert(attached and now < -0.03 or not attached and now > -5e-3, ("%g m"):format(now))
  end
end)

stn.test("soft bodies in each other and apart", function()
  local world = stn.world { gravity = { 0, 0, 0 } }
  local big = world:soft { name = "big", box = { 0.2, 0.2, 0.2 }, cells = 2 }
  local small = world:soft { name = "small", box = { 0.02, 0.02, 0.02 }, cells = 1, xyz = { 0.06, 0.01, 0 } }
  local far = world:soft { name = "far", box = { 0.1, 0.1, 0.1 }, cells = 2, xyz = { 0.5, 0.02, 0.03 } }
  local rope = world:cable { name = "rope", points = { { 0.4, 0, 0.3 }, { 0.6, 0, 0.3 } }, radius = 0.01, segments = 4 }
  stn.near(world:distance(small, big).distance, -0.05, 1e-9)
  stn.near(world:distance(big, small).distance, -0.05, 1e-9)
  stn.near(world:distance(big, far).distance, 0.35, 1e-9)
  stn.near(world:distance(far, rope).distance, 0.3 - 0.01 - 0.08, 1e-9)
  local hit = world:raycast { from = { 0.5, 0, 1 }, direction = { 0, 0, -1 } }
  assert(hit.group == rope and hit.group.name == "rope")
  stn.near(hit.distance, 0.69, 1e-9)
  local near = world:nearest { point = { 0.5, 0, 0.4 }, exclude = { big, small } }
  assert(near.group == rope)
  stn.near(near.distance, 0.09, 1e-9)
  stn.fails(function() world:distance(big, big) end, "'big' is on both sides")
  stn.fails(function() world:distance(big) end, "world:distance")
end)

stn.test("a path is free of what the robot itself holds, and not of a soft body in its way", function()
  local path = files:write(".urdf", [[<robot name="arm"><link name="base"/>
    <link name="slider"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
    <joint name="slide" type="prismatic"><parent link="base"/><child link="slider"/><axis xyz="1 0 0"/>
      <limit lower="-1" upper="1" effort="10" velocity="1"/></joint></robot>]])
  local world = stn.world { gravity = { 0, 0, 0 } }
  local arm = world:load { path, fixed = true }
  world:soft { name = "tip", box = { 0.1, 0.1, 0.1 }, cells = 2, xyz = { 0.1, 0, 0 }, attach = { link = { arm, "slider" }, nodes = "x_min" } }
  world:soft { name = "wall", box = { 0.1, 0.3, 0.3 }, cells = 2, xyz = { -0.4, 0, 0 }, pinned = "all" }
  assert(arm:path_is_free { to = { slide = 0.5 } })
  local free, why = arm:path_is_free { to = { slide = -0.5 } }
  assert(not free and why:match "'wall'", why)
end)

stn.test("pairs of links are no soft bodies", function()
  local world = stn.world {}
  local pad, ground = world:soft { name = "pad", box = { 0.1, 0.1, 0.1 }, cells = 1 }, world:ground {}
  stn.fails(function() world:disable_collisions(pad, ground) end, "soft body 'pad' has no links; give category and mask")
  stn.fails(function() world:disable_collisions(ground, pad) end, "world:disable_collisions: soft body 'pad'")
  stn.fails(function() world:contact_material { a = ground, b = pad, mu = 1 } end, "soft body 'pad' has no links; give mu")
end)

-- What is exactly on the skin: its vertices and points of its edges.
stn.test("points of the skin are at distance 0, and what is centred there overlaps", function()
  local world = stn.world {}
  local pad = world:soft { name = "pad", box = { 0.1, 0.1, 0.1 }, cells = 4, young = 1e5, pinned = "all" }
  for _, x in ipairs(pad:positions()) do
    local out = math.max(math.abs(x[1]), math.abs(x[2]), math.abs(x[3]))
    if math.abs(out - 0.05) < 1e-12 then
      stn.near(world:nearest { point = x, radius = 1 }.distance, 0, 1e-9)
    end
  end
  for _, x in ipairs { { -0.05, -0.035, 0.05 }, { -0.05, -0.0025, 0.05 }, { 0.05, 0.05, 0.05 }, { 0, 0, 0.05 } } do
    stn.near(world:nearest { point = x, radius = 1 }.distance, 0, 1e-9)
    for _, shape in ipairs { { "sphere", radius = 0.01 }, { "box", size = { 0.02, 0.02, 0.02 } }, { "cylinder", radius = 0.01, length = 0.02 } } do
      shape.xyz = x
      assert(#world:overlap(shape) == 1, ("%s at (%g, %g, %g) m"):format(shape[1], x[1], x[2], x[3]))
    end
  end
end)

stn.test("nothing is driven out that is not inside: a box on an equal one, what lies in a chamber", function()
  local world = stn.world { dt = 2e-3 }
  world:ground {}
  for i = 0, 1 do
    world:soft { name = "box " .. i, box = { 0.1, 0.1, 0.1 }, cells = 4, young = 1e5, density = 100, damping = 0.02, xyz = { 0, 0, 0.05 + 0.1 * i } }
  end
  local start = world:energy().total
  for step in world:run { seconds = 0.5 } do assert(step.overlap_m < 2e-3, step.overlap_m) end
  stn.near(world:soft_body("box 1"):position()[3], 0.149, 2e-3)
  assert(world:energy().total < 1.1 * start)

  local chamber = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
  chamber:soft { name = "finger", finger = { size = { 0.09, 0.08, 0.08 }, chambers = 1, wall = 0.01, floor = 0.01 }, cells = 6, young = 1e5, pinned = "x_min" }
  local ball = chamber:sphere { radius = 0.01, mass = 0.01 }
  for step in chamber:run { steps = 20 } do assert(step.contact_count == 0) end
  stn.near(ball:position()[3], 0, 1e-9)
end)


stn.test("no ray passes between triangles of a solid, nor beside an edge that it meets", function()
  local world = stn.world {}
  world:soft { box = { 0.1, 0.1, 0.1 }, cells = 4 }
  for i = -19, 19 do
    for j = -19, 19 do
      for axis = 1, 3 do
        for _, sign in ipairs { 1, -1 } do
          local from, direction = { i / 400, i / 400, i / 400 }, { 0, 0, 0 }
          from[axis % 3 + 1], from[axis], direction[axis] = j / 400, sign, -sign
          local hit = world:raycast { from = from, direction = direction }
          assert(hit and not hit.inside and math.abs(hit.distance - 0.95) < 1e-12, ("%g %g %g"):format(table.unpack(from)))
          from[axis] = 0.0125 * sign
          hit = world:raycast { from = from, direction = direction }
          assert(hit and hit.inside and hit.distance == 0, ("%g %g %g"):format(table.unpack(from)))
        end
      end
    end
  end
  for _, from in ipairs { { 0.05, 0.05, 1 }, { 0.05, 0.01, 1 }, { -0.05, -0.05, 1 } } do -- along an edge, in a side's plane
    local hit = world:raycast { from = from, direction = { 0, 0, -1 } }
    assert(not hit or not hit.inside)
  end
  local hit = world:raycast { from = { 1.05, 0.05, 1 }, direction = { -1, 0, -1 } } -- across an edge, to its other side
  assert(hit and not hit.inside)
  stn.near(hit.distance, 0.95 * math.sqrt(2), 0.1)
end)

stn.test("a soft body wholly inside of a rigid one overlaps it by the shortest way out", function()
  local out = { -- from the middle of a ball, and from 2 cm beside it
    sphere = { { radius = 0.1 }, 0.13, 0.11 },
    box = { { size = { 0.2, 0.3, 0.3 } }, 0.13, 0.11 },
    cylinder = { { radius = 0.1, length = 0.4 }, 0.13, 0.11 },
    capsule = { { radius = 0.1, length = 0.4 }, 0.13, 0.11 },
    ellipsoid = { { radii = { 0.1, 0.2, 0.3 } }, 0.13, 0.11 },
  }
  for kind, case in pairs(out) do
    for k, x in ipairs { 0, 0.02 } do
      local world = stn.world { gravity = { 0, 0, 0 } }
      local ball = world:soft { ball = 0.03, cells = 4, xyz = { x, 0, 0 } }
      case[1].mass = 1
      local body = world[kind](world, case[1])
      local found = world:distance(ball, body)
      stn.near(found.distance, -case[k + 1], 2e-3) -- of the mesh, which is inside of the ball
      stn.near(world:distance(body, ball).distance, found.distance, 1e-12)
      stn.near(world:step().overlap_m, -found.distance, 1e-12)
    end
  end
end)


stn.test("edges that cross deep or not overlap by their distance: a bar across a ridge, any way round", function()
  for _, yaw in ipairs { 0, 0.4, 0.8, 1.2 } do
    for _, pitch in ipairs { 0, 0.2 } do
      for _, deep in ipairs { 1e-5, 2e-4, 2e-3 } do
        local world = stn.world { gravity = { 0, 0, 0 } }
        local ridge = world:soft { box = { 0.4, 0.05, 0.05 }, cells = { 2, 1, 1 }, rpy = { math.pi / 4, 0, 0 }, xyz = { 0, 0, -0.025 * math.sqrt(2) } }
        -- its lower edge at the origin, along x turned by yaw and pitch, with the faces beside it at 45 degrees
        local c, d, w, z = math.cos(pitch), math.sin(pitch), 0.5 * math.pi - yaw, 0.025 * math.sqrt(2)
        local bar = world:soft { box = { 0.4, 0.05, 0.05 }, cells = { 3, 1, 1 }, rpy = { math.pi / 4, pitch, w }, xyz = { d * math.cos(w) * z, d * math.sin(w) * z, c * z - deep } }
        local n = { -math.sin(yaw) * 0, -d, c * math.sin(w) } -- across both edges
        local expected = -deep * math.abs(n[3]) / math.sqrt(n[2] ^ 2 + n[3] ^ 2)
        local found = world:distance(ridge, bar)
        assert(found and math.abs(found.distance - expected) < 1e-9, ("yaw %g, pitch %g, %g m deep: %s"):format(yaw, pitch, deep, found and found.distance))
      end
    end
  end
end)


stn.test("a hull inside of a soft body is there wherever the frame of its file is", function()
  for _, off in ipairs { 0, 0.03, 1 } do
    local path = files:path ".obj"
    local file <close> = assert(io.open(path, "w"))
    for c = 0, 7 do file:write(("v %g %g %g\n"):format(off + 0.02 * (c % 2) - 0.01, 0.02 * (c // 2 % 2) - 0.01, 0.02 * (c // 4) - 0.01)) end
    for _, f in ipairs { "1 4 2", "1 3 4", "5 6 8", "5 8 7", "1 2 6", "1 6 5", "3 8 4", "3 7 8", "1 7 3", "1 5 7", "2 4 8", "2 8 6" } do file:write("f ", f, "\n") end
    file:close()
    local world = stn.world { gravity = { 0, 0, 0 } }
    local pad, stone = world:soft { box = { 0.2, 0.2, 0.2 }, cells = 4 }, world:mesh { file = path, mass = 0.1, xyz = { 0.05 - off, 0, 0 } }
    stn.near(world:distance(pad, stone).distance, -0.06, 1e-9)
    assert(#world:overlap { "mesh", file = path, xyz = { 0.05 - off, 0, 0 }, exclude = stone } == 1)
    stn.near(world:step().overlap_m, 0.06, 1e-9)
  end
end)
