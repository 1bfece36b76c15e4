-- SPDX-License-Identifier: Apache-2.0
-- Writes jar.urdf, lid.urdf and bowl.urdf: hollow things composed of convex parts, because contact between points of
-- convex shapes finds nothing inside a dent.  stiction run models/vessels/make.lua [--set folder=.]
--
-- A round wall is a ring of n planks. Their inner faces touch a circle of the inner radius, so nothing that fits the
-- circle is held up by a corner; a plank is wide enough for the outer faces to meet, and overlaps its neighbours inside the wall.
local stn = require "stiction"
local folder = stn.params { folder = "models/vessels" }.folder

local function box_inertia(m, x, y, z) return m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12 end

--- A plank of a ring: its middle at (radius, angle, z), leaning outwards by `lean` from the vertical.
local function plank(radius, angle, z, thickness, width, height, lean)
  return { shape = "box", size = { thickness, width, height }, radius = radius, angle = angle, z = z, lean = lean }
end

--- n planks from inner radius r0 at z0 to r1 at z1, measured on their inner faces.
local function wall(n, r0, z0, r1, z1, thickness)
  local parts, length, lean = {}, math.sqrt((r1 - r0) ^ 2 + (z1 - z0) ^ 2), math.atan(r1 - r0, z1 - z0)
  local out = { math.cos(lean), -math.sin(lean) } -- of the wall, seen in the (radius, z) plane
  local radius, z = (r0 + r1) / 2 + out[1] * thickness / 2, (z0 + z1) / 2 + out[2] * thickness / 2
  local width = 2 * (math.max(r0, r1) + thickness * out[1]) * math.tan(math.pi / n)
  for k = 1, n do parts[k] = plank(radius, 2 * math.pi * (k - 1) / n, z, thickness, width, length, lean) end
  return parts
end

local function disc(radius, z, length) return { shape = "cylinder", radius_of = radius, length = length, radius = 0, angle = 0, z = z, lean = 0 } end

--- A bar across the axis, its length along y: to be held between thumb and fingers.
local function bar(thickness, length, height, z)
  return { shape = "box", size = { thickness, length, height }, radius = 0, angle = 0, z = z, lean = 0, bar = true }
end

--- The same part of something soft: with a pressure field under contact "hydroelastic".
local function soft(modulus, part)
  part.modulus = modulus
  return part
end

local function volume(p)
  if p.shape == "box" then return p.size[1] * p.size[2] * p.size[3] end
  return math.pi * p.radius_of ^ 2 * p.length
end

--- Principal inertia of a part about its own centre, turned by lean about y and angle about z; of planks only the sums
--- over a full ring matter: (Ixx + Iyy) / 2 and Izz.
local function part_inertia(p, m)
  if p.shape == "cylinder" then
    local side = m * (3 * p.radius_of ^ 2 + p.length ^ 2) / 12
    return side, side, m * p.radius_of ^ 2 / 2
  end
  local x, y, z = box_inertia(m, p.size[1], p.size[2], p.size[3])
  if p.bar then return x, y, z end
  local c2, s2 = math.cos(p.lean) ^ 2, math.sin(p.lean) ^ 2
  local side = (x * c2 + z * s2 + y) / 2
  return side, side, x * s2 + z * c2
end

--- Mass properties of parts of one density, full rings and parts on the axis: centre height, Ixx, Iyy, Izz about it.
local function mass_of(parts, mass)
  local total, moment, ixx, iyy, izz = 0, 0, 0, 0, 0
  for _, p in ipairs(parts) do total, moment = total + volume(p), moment + volume(p) * p.z end
  local centre = moment / total
  for _, p in ipairs(parts) do
    local m = mass * volume(p) / total
    local x, y, z = part_inertia(p, m)
    local side = m * (p.radius ^ 2 / 2 + (p.z - centre) ^ 2)
    ixx, iyy, izz = ixx + x + side, iyy + y + side, izz + z + m * p.radius ^ 2
  end
  return centre, ixx, iyy, izz
end

local function geometry(p)
  if p.shape == "box" then return ('<box size="%.6g %.6g %.6g"/>'):format(table.unpack(p.size)) end
  return ('<cylinder radius="%.6g" length="%.6g"/>'):format(p.radius_of, p.length)
end

local function proximity(p)
  if not p.modulus then return "" end
  return ('\n      <drake:proximity_properties><drake:compliant_hydroelastic/><drake:hydroelastic_modulus value="%.6g"/></drake:proximity_properties>'):format(p.modulus)
end

local function write(name, mass, color, parts)
  local centre, ixx, iyy, izz = mass_of(parts, mass)
  local lines = {
    '<?xml version="1.0" encoding="UTF-8"?>', "<!-- SPDX-License-Identifier: Apache-2.0 -->",
    "<!-- Written by make.lua; README.md has the figures. z up, origin in the middle of the lowest face. -->",
    ('<robot name="%s" xmlns:drake="http://drake.mit.edu">'):format(name), ('  <material name="%s"><color rgba="%s"/></material>'):format(name, color),
    ('  <link name="%s">'):format(name),
    ('    <inertial><origin xyz="0 0 %.6g"/><mass value="%.6g"/>'):format(centre, mass),
    ('      <inertia ixx="%.6g" iyy="%.6g" izz="%.6g" ixy="0" ixz="0" iyz="0"/></inertial>'):format(ixx, iyy, izz),
  }
  for _, kind in ipairs { "visual", "collision" } do
    for _, p in ipairs(parts) do
      local origin = ('<origin xyz="%.9g %.9g %.9g" rpy="0 %.9g %.9g"/>'):format(
        p.radius * math.cos(p.angle), p.radius * math.sin(p.angle), p.z, p.lean, p.angle)
      local extra = kind == "visual" and ('<material name="%s"/>'):format(name) or proximity(p)
      lines[#lines + 1] = ("    <%s>%s<geometry>%s</geometry>%s</%s>"):format(kind, origin, geometry(p), extra, kind)
    end
  end
  lines[#lines + 1] = "  </link>\n</robot>\n"
  local path = folder .. "/" .. name .. ".urdf"
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(table.concat(lines, "\n")))
end

local function join(...)
  local all = {}
  for _, list in ipairs { ... } do
    for _, p in ipairs(list) do all[#all + 1] = p end
  end
  return all
end

write("jar", 0.30, "0.62 0.78 0.86 0.3", join({ disc(0.040, 0.003, 0.006) }, wall(16, 0.036, 0.006, 0.036, 0.150, 0.004)))
local rubber = 1e5 -- [Pa]: 5 N hold the lid
write("lid", 0.10, "0.78 0.30 0.22 1", {
  soft(rubber, disc(0.034, 0.002, 0.004)), soft(rubber, disc(0.0364, 0.008, 0.008)), -- the stopper, narrower where it begins
  disc(0.040, 0.0145, 0.005), bar(0.024, 0.080, 0.040, 0.037),
})
write("bowl", 0.40, "0.93 0.90 0.82 1", join({ disc(0.056, 0.003, 0.006) }, wall(20, 0.050, 0.006, 0.110, 0.066, 0.004)))
