-- SPDX-License-Identifier: Apache-2.0
-- Elastic energy of boxes and of the ground as their pressure fields have it, whatever polygons the contact model makes of them: U = integral
-- over the overlap of the smaller pressure. A box whose least half size is H has p = E (distance from its surface) / H, so where the
-- pressure exceeds t it is a box again, smaller by t H / E on all sides, and
--     U = integral over t of the volume that both solids of pressure t share.
local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end

-- Keeps of a polygon what has n . x <= d.
local function clip(polygon, n, d)
  local kept, last, cut = {}, polygon[#polygon], false
  for _, x in ipairs(polygon) do cut = cut or dot(n, x) > d end
  if not cut then return polygon end
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

-- Up to the pressure `highest`, which at least one of the two nowhere exceeds.
local function integral(a, b, highest)
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

local stored = {}

--- A box of full sizes [m] and modulus [Pa] (nil: rigid) that `body` is. Every solid is a function of the point that it is told about (so
--- that volumes lose no digits), which returns it as it is now.
function stored.box(body, size, modulus)
  local depth = modulus and math.min(table.unpack(size)) / 2 / modulus or 0
  return function(about)
    local x, axes, planes = body:position(), rotation(table.unpack(body:pose().quat)), {}
    for k = 1, 3 do
      local u, v = axes[k % 3 + 1], axes[(k + 1) % 3 + 1]
      for _, sign in ipairs { 1, -1 } do
        local n = { sign * axes[k][1], sign * axes[k][2], sign * axes[k][3] }
        planes[#planes + 1] = { n = n, d = size[k] / 2 + dot(n, x) - dot(n, about), u = u, v = { sign * v[1], sign * v[2], sign * v[3] } }
      end
    end
    return { planes = planes, depth = depth, highest = modulus or math.huge, at = x }
  end
end

--- The ground z <= 0: rigid, or a layer of a thickness [m] and a modulus [Pa].
function stored.ground(thickness, modulus)
  return function(about)
    return { planes = { { n = { 0, 0, 1 }, d = -about[3], u = { 1, 0, 0 }, v = { 0, 1, 0 } } }, depth = modulus and thickness / modulus or 0,
      highest = modulus or math.huge }
  end
end

--- What a box and another solid store now [J]; at least one of them is soft.
function stored.energy(box, other)
  local about = box({ 0, 0, 0 }).at
  local a, b = box(about), other(about)
  return integral(a, b, math.min(a.highest, b.highest))
end

--- Keeps of a sum of energies .first, .lowest and .rise above the least before.
function stored.ledger(first)
  local self = { first = first, lowest = first, rise = 0 }
  function self:add(total)
    self.rise = math.max(self.rise, total - self.lowest)
    self.lowest = math.min(self.lowest, total)
    return total
  end
  return self
end

return stored
