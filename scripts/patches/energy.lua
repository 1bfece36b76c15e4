-- SPDX-License-Identifier: Apache-2.0
-- Energy of impacts and of a rocking box over time steps: kinetic + gravitational + stored elastic energy must not rise.
-- The elastic energy is that of the fields themselves, whatever polygons the contact model makes of them: U = integral over
-- the overlap of the smaller pressure. A box of half sizes a >= b >= H has p = E (distance from its surface) / H, so where
-- the pressure exceeds t it is a box again, smaller by t H / E on all sides, and
--     U = integral over t of the volume that both boxes of pressure t share.
local stn = require "stiction"

local p = stn.params {
  law = stn.choice { "sap", "lagged", "similar" },
  modulus = 1e6,          -- of what falls or flies [Pa]
  other = 1e6,            -- of what is hit by a cube [Pa]
  dissipation = 0.0,      -- Hunt-Crossley [s/m], of both
  relaxation_time = 0.0,  -- of law sap [s], of both
  margin = 0.0,           -- of the fields [m]
  speed = 1.0,            -- of the impact [m/s]
  mu = 0.5,
  finest = 0.0005,        -- time steps from here [s]
  coarsest = 0.010,       -- to here
  case = stn.choice { "all", "face", "edge", "corner", "oblique", "rocking" },
}

-- ------------------------------------------------------------------------------------------------- volume that boxes share

local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end

-- Keeps of a polygon what has n . x <= d.
local function clip(polygon, n, d)
  local kept, last = {}, polygon[#polygon]
  if not last then return kept end
  local before = dot(n, last) - d
  for _, x in ipairs(polygon) do
    local now = dot(n, x) - d
    if (before > 0) ~= (now > 0) then
      local s = before / (before - now)
      kept[#kept + 1] = { last[1] + s * (x[1] - last[1]), last[2] + s * (x[2] - last[2]), last[3] + s * (x[3] - last[3]) }
    end
    if now <= 0 then kept[#kept + 1] = x end
    last, before = x, now
  end
  return kept
end

-- The planes n . x <= d of a solid at pressure t.
local function planes_at(solid, t)
  local planes = {}
  for _, q in ipairs(solid.planes) do
    planes[#planes + 1] = { n = q.n, d = q.d - t * solid.depth, u = q.u, v = q.v }
  end
  return planes
end

-- By cones from the origin over every side.
local function shared_volume(a, b, t)
  local planes, volume = planes_at(a, t), 0
  for _, q in ipairs(planes_at(b, t)) do planes[#planes + 1] = q end
  for i, q in ipairs(planes) do
    local polygon = {}
    for _, c in ipairs { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 } } do
      local x = {}
      for k = 1, 3 do x[k] = q.d * q.n[k] + 10 * (c[1] * q.u[k] + c[2] * q.v[k]) end
      polygon[#polygon + 1] = x
    end
    for j, other in ipairs(planes) do
      if j ~= i then polygon = clip(polygon, other.n, other.d) end
      if #polygon < 3 then break end
    end
    for k = 2, #polygon - 1 do
      local o, r, s = polygon[1], polygon[k], polygon[k + 1]
      local e, f = { r[1] - o[1], r[2] - o[2], r[3] - o[3] }, { s[1] - o[1], s[2] - o[2], s[3] - o[3] }
      volume = volume + q.d / 6 * (q.n[1] * (e[2] * f[3] - e[3] * f[2]) + q.n[2] * (e[3] * f[1] - e[1] * f[3])
        + q.n[3] * (e[1] * f[2] - e[2] * f[1]))
    end
  end
  return volume
end

-- Nodes and weights of Gauss and Legendre on [0, 1].
local nodes = {
  { 0.0198550717512319, 0.0506142681451881 }, { 0.1016667612931866, 0.1111905172266872 },
  { 0.2372337950418355, 0.1568533229389436 }, { 0.4082826787521751, 0.1813418916891810 },
  { 0.5917173212478249, 0.1813418916891810 }, { 0.7627662049581645, 0.1568533229389436 },
  { 0.8983332382068134, 0.1111905172266872 }, { 0.9801449282487681, 0.0506142681451881 },
}

local function elastic_energy(a, b, highest)
  local low, high = 0, highest
  if shared_volume(a, b, 0) <= 1e-18 then return 0 end
  for _ = 1, 20 do
    local t = (low + high) / 2
    if shared_volume(a, b, t) > 1e-18 then low = t else high = t end
  end
  local sum = 0
  for half = 0, 1 do
    for _, q in ipairs(nodes) do
      sum = sum + 0.5 * high * q[2] * shared_volume(a, b, 0.5 * high * (half + q[1]))
    end
  end
  return sum
end

local function rotation(w, x, y, z) -- columns
  return { { 1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y) },
    { 2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x) },
    { 2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y) } }
end

-- A box of full sizes `size` where `body` is now, about the point `about` (so that volumes lose no digits).
local function box_at(body, size, modulus, about)
  local x, axes, half = body:position(), rotation(table.unpack(body:pose().quat)), math.huge
  local planes = {}
  for k = 1, 3 do
    half = math.min(half, size[k] / 2)
    local u, v = axes[k % 3 + 1], axes[(k + 1) % 3 + 1]
    for _, sign in ipairs { 1, -1 } do
      local n = { sign * axes[k][1], sign * axes[k][2], sign * axes[k][3] }
      planes[#planes + 1] = { n = n, d = size[k] / 2 + dot(n, x) - dot(n, about), u = u,
        v = { sign * v[1], sign * v[2], sign * v[3] } }
    end
  end
  return { planes = planes, depth = half / modulus }
end

local function floor_about(about) -- rigid: the same at every pressure
  return { planes = { { n = { 0, 0, 1 }, d = -about[3], u = { 1, 0, 0 }, v = { 0, 1, 0 } } }, depth = 0 }
end

-- --------------------------------------------------------------------------------------------------------------- cases

local edge, mass = 0.1, 1.0
local size = { edge, edge, edge }

local function world_of(dt, gravity)
  local world = stn.world { dt = dt, contact = "hydroelastic", law = p.law, gravity = { 0, 0, -gravity } }
  world:contact_material { mu = p.mu, dissipation = p.dissipation, relaxation_time = p.relaxation_time }
  return world
end

-- A cube flies into another one, both free: no gravity, so all energy is kinetic or elastic.
local function impact(dt, spec)
  local world = world_of(dt, 0)
  local hit = world:box { name = "hit", size = size, mass = mass, xyz = { 0, 0, 0 }, modulus = p.other }
  local flies = world:box { name = "flies", size = size, mass = mass, modulus = p.modulus, field_margin = p.margin, rpy = spec.rpy,
    xyz = { spec.x or 0, spec.y or 0, spec.z }, velocity = { spec.along or 0, 0, -p.speed } }
  return world, 0.06 / p.speed, function()
    local a, b = hit:position(), flies:position()
    local middle = { (a[1] + b[1]) / 2, (a[2] + b[2]) / 2, (a[3] + b[3]) / 2 }
    return elastic_energy(box_at(hit, size, p.other, middle), box_at(flies, size, p.modulus, middle), math.max(p.modulus, p.other))
  end
end

-- A box stands on its edge, leaning, and falls over on a rigid floor.
local function rocking(dt)
  local world, lean, sizes = world_of(dt, 9.81), 0.2, { 0.1, 0.1, 0.2 }
  world:ground { name = "floor" }
  local height = 0.5 * (sizes[3] * math.cos(lean) + sizes[1] * math.sin(lean)) + 1e-4
  local box = world:box { name = "box", size = sizes, mass = mass, modulus = p.modulus, field_margin = p.margin, xyz = { 0, 0, height }, rpy = { 0, lean, 0 } }
  return world, 1.0, function()
    local about = box:position()
    return elastic_energy(box_at(box, sizes, p.modulus, about), floor_about(about), p.modulus)
  end, 0.1
end

local cases = {
  face = function(dt) return impact(dt, { z = edge + 0.0113, x = 0.013, y = 0.007 }) end,
  edge = function(dt) return impact(dt, { z = (0.5 + math.sqrt(0.5)) * edge + 0.0113, rpy = { math.pi / 4, 0.1, 0 } }) end,
  corner = function(dt)
    return impact(dt, { z = (0.5 + math.sqrt(0.75)) * edge + 0.0113, rpy = { math.pi / 4, math.atan(math.sqrt(0.5)), 0 } })
  end,
  oblique = function(dt) return impact(dt, { z = edge + 0.0153, x = 0.04, along = -p.speed, rpy = { 0.1, 0.07, 0.3 } }) end,
  rocking = rocking,
}

-- Of the energy at the start: the largest rise over the least before; what motion and gravity have gained when the two have
-- parted (nil while they touch); the most that was stored.
local function measure(make, dt)
  local world, seconds, elastic, of = make(dt)
  local function total() local e = world:energy() return e.kinetic + e.potential end
  local before, scale = total(), of or world:energy().kinetic
  local least, rise, apart, most = before, 0, nil, 0
  for step in world:run { seconds = seconds } do
    local u = elastic()
    local now = total() + u
    most = math.max(most, u)
    rise, least = math.max(rise, now - least), math.min(least, now)
    if u > 0 then apart = nil elseif most > 0 and not apart then apart = total() end
  end
  return { rise = rise / scale, rebound = apart and (apart - before) / scale, stored = most / scale }
end

local steps = {}
for _, dt in ipairs { 0.0005, 0.001, 0.002, 0.005, 0.010 } do
  if dt >= p.finest * 0.999 and dt <= p.coarsest * 1.001 then steps[#steps + 1] = dt end
end
print(string.format("%-8s %8s %12s %12s %12s", "case", "dt [ms]", "rise [1]", "parted [1]", "stored [1]"))
for _, name in ipairs { "face", "edge", "corner", "oblique", "rocking" } do
  if p.case == "all" or p.case == name then
    for _, dt in ipairs(steps) do
      local m = measure(cases[name], dt)
      print(string.format("%-8s %8.1f %12.2e %12s %12.3f", name, 1e3 * dt, m.rise,
        m.rebound and string.format("%.4f", m.rebound) or "touching", m.stored))
      stn.result(string.format("%s_%gms_rise", name, 1e3 * dt), m.rise)
      stn.check(string.format("%s, %g ms: energy does not rise", name, 1e3 * dt), { value = m.rise, limit = 1e-3, unit = "1" })
      if m.rebound then
        stn.check(string.format("%s, %g ms: no faster apart than before", name, 1e3 * dt), { value = m.rebound, limit = 1e-9, unit = "1" })
      end
    end
  end
end
