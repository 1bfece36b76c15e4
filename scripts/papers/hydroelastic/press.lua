-- SPDX-License-Identifier: Apache-2.0
-- Two shapes held at a given depth, and the force between them: pressure fields against closed forms, one depth a row.
--   sphere_plane       a compliant sphere on a rigid plane
--   sphere_sphere      two compliant spheres of any radii and moduli: the surface of equal pressure is curved
--   box_plane          a compliant box on a rigid plane, whose pressure grows with the distance to the nearest face, and a rigid box
--                      on a compliant layer as deep as the box's half height, whose pressure grows with the depth
--   sphere_plane_mesh  the first for tetrahedra from a file that the script writes, between the centre and an octahedron whose triangles are
--                      cut into four again and again: the force falls short by about 0.22 edge^2/(R d), since they lie inside the sphere
-- Field p = E e: e is 1 where a shape is deepest and 0 on its surface. Closed forms are integrals over the disc that the patch covers
-- seen along the axis.
local stn = require "stiction"
local numbers = require "numbers"
local with_file = require "tetrahedra"

local p = stn.params {
  case = stn.choice { "sphere_plane", "sphere_sphere", "box_plane", "sphere_plane_mesh" },
  R = 0.05,                                         -- radius of the sphere [m]
  E = 1e6,                                          -- modulus [Pa]
  box = "0.1 0.08 0.03",                            -- edges a, b and half the height H [m]
  frac2 = "0.01 0.05 0.1 0.2",                      -- sphere_sphere: depths over the smaller radius
  pairs = "equal 0.05 1e6 0.05 1e6, modulus 0.05 1e6 0.05 4e6, radius 0.05 1e6 0.1 1e6, both 0.05 2e6 0.08 5e5", -- name R1 E1 R2 E2
  depths = "",                                      -- depths [m], in place of those fractions
  subdivisions = "1 2 3 4 5",                       -- sphere_plane_mesh: how often an octahedron's triangles were cut into four
  edge_over_patch = 0.15,                           -- edges of a sphere's mesh over the radius of the patch
}
p.frac = stn.params { frac = p.case == "sphere_plane_mesh" and "0.02 0.1" or "0.005 0.01 0.02 0.05 0.1 0.2 0.3" }.frac -- depths over R, or over H of the box

local nan = 0 / 0

-- ------------------------------------------------------------------------------------------------------------ measure

local step_time = 1e-4 -- [s]

-- One step of a body of practically infinite mass above something fixed: what acts on it, and what its patch is like.
local function measure(build)
  local world <close> = stn.world { dt = step_time, gravity = { 0, 0, 0 }, solver = { "sap", tolerance = 1e-12 }, contact = "hydroelastic" }
  local body = build(world)
  world:contact_material { mu = 0 } -- or else friction holds what curved surfaces would push aside
  world:step()
  local patch = world:patches()[1]
  local found = { force = world:contact_force(body).force[3], area = 0, max_pressure = 0, height = nan }
  if patch then
    found.area, found.max_pressure = patch.area, patch.field_max_pressure
  end
  local nearest, across, faces = math.huge, 0, world:contacts()
  for _, face in ipairs(faces) do
    local x, n = face.point, face.normal
    local from_axis = math.sqrt(x[1] ^ 2 + x[2] ^ 2)
    across = across + math.abs(n[3]) / #faces -- how much of its area is seen along the axis
    if from_axis < nearest then -- its plane, followed to the axis
      nearest, found.height = from_axis, x[3] + (n[1] * x[1] + n[2] * x[2]) / n[3]
    end
  end
  found.radius = math.sqrt(found.area * across / math.pi)
  return found
end

local heavy = 1e9 -- [kg]

-- Edges for a sphere whose patch has a radius: no more tetrahedra than the contact model allows.
local function edge(patch_radius, radius)
  return math.max(p.edge_over_patch * patch_radius, 0.0125 * radius)
end

-- (edge/patch)^2, in which all errors of these meshes are linear.
local function coarseness(patch_radius, radius)
  return (edge(patch_radius, radius) / patch_radius) ^ 2
end

-- A body on a plane, its centre at a height.
local function on_plane(height, shape, options)
  return measure(function(world)
    world:ground {}
    options.mass, options.xyz, options.modulus = heavy, { 0, 0, height }, p.E
    return world[shape](world, options)
  end)
end

-- ------------------------------------------------------------------------------------------------------- closed forms

-- Of a sphere on a plane.
local function sphere_force(radius, modulus, depth)
  local h = radius - depth
  return 2 * math.pi * modulus * ((radius ^ 2 - h ^ 2) / 2 - (radius ^ 3 - h ^ 3) / (3 * radius))
end

-- Height z above the first centre of the surface of equal pressure at the distance rho from the axis; `apart`: of the centres.
local function equal_pressure(pair, apart, rho2)
  local low, high = apart - pair.R2, pair.R1
  for _ = 1, 200 do
    local z = (low + high) / 2
    local first = pair.E1 * (1 - math.sqrt(rho2 + z ^ 2) / pair.R1)
    local second = pair.E2 * (1 - math.sqrt(rho2 + (apart - z) ^ 2) / pair.R2)
    if first > second then low = z else high = z end
    if high - low <= 1e-17 then break end
  end
  local z = (low + high) / 2
  return z, pair.E1 * (1 - math.sqrt(rho2 + z ^ 2) / pair.R1)
end

-- Of two spheres: the pressure integrated over the disc, in rho^2, by Simpson's rule.
local function spheres(pair, depth)
  local apart = pair.R1 + pair.R2 - depth
  local rim = pair.R1 ^ 2 - ((apart ^ 2 + pair.R1 ^ 2 - pair.R2 ^ 2) / (2 * apart)) ^ 2
  local count, sum = 200, 0
  for i = 0, count do
    local _, pressure = equal_pressure(pair, apart, rim * i / count)
    sum = sum + ((i == 0 or i == count) and 1 or i % 2 == 1 and 4 or 2) * pressure
  end
  local height, largest = equal_pressure(pair, apart, 0)
  return { force = math.pi * sum * rim / count / 3, rim_radius = math.sqrt(rim), z_axis = height, max_pressure = largest }
end

-- -------------------------------------------------------------------------------------------------------------- cases

local worst = {}
local function off(what, value, exact, limit)
  local entry = worst[what] or { error = 0, over = 0 }
  local error = math.abs(value / exact - 1)
  if not (error <= entry.error) then entry.error = error end -- NaN stays
  if not (error / limit <= entry.over) then entry.over = error / limit end
  worst[what] = entry
end

local function depths(fractions, of)
  local list = p.depths ~= "" and numbers(p.depths, "depths") or numbers(fractions, "frac")
  for i, value in ipairs(list) do list[i] = p.depths ~= "" and value or value * of end
  return list
end

-- Triangles of an octahedron in a sphere of radius 1 that were cut into four `count` times: vertices, and triples of their numbers.
local function octahedron(count)
  local vertices, triangles = { { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 }, { 0, 0, 1 }, { 0, 0, -1 } }, {}
  for x = 1, 2 do
    for y = 3, 4 do
      for z = 5, 6 do
        local outward = (x + y + z) % 2 == 1
        triangles[#triangles + 1] = { x, outward and y or z, outward and z or y }
      end
    end
  end
  local middles
  local function middle(i, j)
    local key = math.min(i, j) << 32 | math.max(i, j)
    if not middles[key] then
      local a, b = vertices[i], vertices[j]
      local x, y, z = a[1] + b[1], a[2] + b[2], a[3] + b[3]
      local length = math.sqrt(x * x + y * y + z * z)
      vertices[#vertices + 1] = { x / length, y / length, z / length }
      middles[key] = #vertices
    end
    return middles[key]
  end
  for _ = 1, count do
    local finer = {}
    middles = {}
    for _, t in ipairs(triangles) do
      local ab, bc, ca = middle(t[1], t[2]), middle(t[2], t[3]), middle(t[3], t[1])
      for _, new in ipairs { { t[1], ab, ca }, { ab, t[2], bc }, { ca, bc, t[3] }, { ab, bc, ca } } do finer[#finer + 1] = new end
    end
    triangles = finer
  end
  return vertices, triangles
end

local function mean_edge(vertices, triangles)
  local sum = 0
  for _, t in ipairs(triangles) do
    for i = 1, 3 do
      local a, b = vertices[t[i]], vertices[t[i % 3 + 1]]
      sum = sum + math.sqrt((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2 + (a[3] - b[3]) ^ 2)
    end
  end
  return sum / (3 * #triangles)
end

-- The tetrahedra between the centre of a sphere and the triangles.
local function fan(vertices, triangles, radius)
  local points, tetrahedra = { { 0, 0, 0 } }, {}
  for i, v in ipairs(vertices) do points[i + 1] = { radius * v[1], radius * v[2], radius * v[3] } end
  for i, t in ipairs(triangles) do tetrahedra[i] = { 1, t[1] + 1, t[2] + 1, t[3] + 1 } end
  return points, tetrahedra
end

-- A case: the names of its columns, and its rows, each a function that measures it.
local cases = {}

function cases.sphere_plane()
  local rows = {}
  for i, depth in ipairs(depths(p.frac, p.R)) do
    rows[i] = function()
      local patch_radius = math.sqrt(depth * (2 * p.R - depth))
      local found = on_plane(p.R - depth, "sphere", { radius = p.R, resolution = edge(patch_radius, p.R) })
      local h2 = coarseness(patch_radius, p.R)
      off("force", found.force, sphere_force(p.R, p.E, depth), 0.013 * h2)
      off("area", found.area, math.pi * patch_radius ^ 2, 0.045 * h2)
      off("largest pressure", found.max_pressure, p.E * depth / p.R, 0.35 * h2)
      return depth, found.force, found.area, found.radius, found.max_pressure
    end
  end
  return { "depth", "force", "area", "patch_radius", "max_pressure" }, rows
end

local function parse_pairs()
  local list, number = {}, "[%s,:]+([%d.eE+-]+)"
  for name, R1, E1, R2, E2 in p.pairs:gsub('[%["%]]', " "):gmatch("([%a_][%w_]*)" .. number .. number .. number .. number) do
    list[#list + 1] = { name = name, R1 = tonumber(R1), E1 = tonumber(E1), R2 = tonumber(R2), E2 = tonumber(E2) }
  end
  if #list == 0 then error(("pairs: '%s' holds none; each is: name R1 E1 R2 E2"):format(p.pairs), 0) end
  return list
end

function cases.sphere_sphere()
  local rows = {}
  for _, pair in ipairs(parse_pairs()) do
    for _, depth in ipairs(depths(p.frac2, math.min(pair.R1, pair.R2))) do
      rows[#rows + 1] = function()
        local exact = spheres(pair, depth)
        local found = measure(function(world)
          world:sphere { radius = pair.R1, fixed = true, modulus = pair.E1, resolution = edge(exact.rim_radius, pair.R1) }
          return world:sphere {
            radius = pair.R2, mass = heavy, xyz = { 0, 0, pair.R1 + pair.R2 - depth }, modulus = pair.E2, resolution = edge(exact.rim_radius, pair.R2),
          }
        end)
        local h2 = math.max(coarseness(exact.rim_radius, pair.R1), coarseness(exact.rim_radius, pair.R2))
        off("force", found.force, exact.force, 0.013 * h2)
        off("radius of the rim", found.radius, exact.rim_radius, 0.09 * h2)
        off("height on the axis", found.height, exact.z_axis, 0.05 * h2)
        off("largest pressure", found.max_pressure, exact.max_pressure, 0.35 * h2)
        return nan, pair.R1, pair.E1, pair.R2, pair.E2, depth, found.force, found.radius, found.height, found.max_pressure
      end
    end
  end
  return { "case", "R1", "E1", "R2", "E2", "depth", "force", "rim_radius", "z_axis", "max_pressure" }, rows
end

function cases.box_plane()
  local a, b, H = table.unpack(numbers(p.box, "box", 3))
  local function force(depth, layer)
    return measure(function(world)
      world:ground { modulus = layer and p.E or nil, slab_thickness = layer and H or nil }
      return world:box { size = { a, b, 2 * H }, mass = heavy, xyz = { 0, 0, H - depth }, modulus = not layer and p.E or nil }
    end).force
  end
  local rows = {}
  for i, depth in ipairs(depths(p.frac, H)) do
    rows[i] = function()
      local layer, medial = force(depth, true), force(depth, false)
      -- exact, but for round-off and for the body, which the step moves: by 2 dt^2 k/m, as damping is on for dt
      local limit = 1e-13 + 3 * step_time ^ 2 * p.E * a * b / H / heavy
      off("force of the layer", layer, p.E * a * b * depth / H, limit)
      off("force of the box", medial, p.E / H * (a * b * depth - (a + b) * depth ^ 2 + 4 * depth ^ 3 / 3), limit)
      return depth, layer, medial
    end
  end
  return { "depth", "force_layer_field", "force_medial_field" }, rows
end

function cases.sphere_plane_mesh()
  local rows, before = {}, {}
  for _, count in ipairs(numbers(p.subdivisions, "subdivisions")) do
    local vertices, triangles = octahedron(count)
    local length = p.R * mean_edge(vertices, triangles)
    local points, tetrahedra = fan(vertices, triangles, p.R)
    for i, depth in ipairs(depths(p.frac, p.R)) do
      rows[#rows + 1] = function()
        local found = with_file(points, tetrahedra, function(path) return on_plane(p.R - depth, "mesh", { file = path }) end)
        local exact = sphere_force(p.R, p.E, depth)
        local error = found.force / exact - 1
        if length ^ 2 < p.R * depth / 4 then -- edges of a third of the patch's radius or less
          stn.check(("force with %d subdivisions at depth %g m: error over edge^2/(R d)"):format(count, depth),
            { value = math.abs(error) * p.R * depth / length ^ 2, limit = 0.23 })
          if before[i] then
            local order = math.log(before[i].error / error) / math.log(before[i].length / length)
            stn.check(("order with %d subdivisions at depth %g m: off 2 by"):format(count, depth), { value = math.abs(order - 2), limit = 0.03 })
          end
          before[i] = { error = error, length = length }
        end
        return count, #triangles, length, depth, found.force, exact, error
      end
    end
  end
  return { "subdivisions", "n_tets", "mean_edge", "depth", "force_mesh", "force_exact", "relative_error" }, rows
end

-- ---------------------------------------------------------------------------------------------------------------- log

-- Rows are numbered by the steps of a world of their own, in which nothing happens.
local columns, measures = cases[p.case]()
local rows = {}
local function row(i)
  rows[i] = rows[i] or { measures[i]() }
  return rows[i]
end
local counter = stn.world { dt = 1e-3 }
counter:sphere { radius = p.R, fixed = true }
columns.values = function()
  return table.unpack(row(math.min(counter.steps + 1, #measures)), 1, #columns)
end
counter:log(columns)
for step in counter:run { steps = math.max(1, #measures - 1) } do -- a table begins with a step: a single row comes twice
  row(math.min(step.index + 1, #measures))
end

local names = {}
for name in pairs(worst) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  stn.result(name .. ": largest relative error", worst[name].error)
  stn.check(name .. ": error over what the mesh allows", { value = worst[name].over, limit = 1 })
end
