-- SPDX-License-Identifier: Apache-2.0
-- The algebra of poses against closed forms: how they are given, what they say of themselves, products, interpolation.
local stn = require "stiction"
local dice = stn.world { seed = 7 }

local function vector(size)
  return { dice:random(-size, size), dice:random(-size, size), dice:random(-size, size) }
end

local function norm(v)
  return math.sqrt(v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2)
end

local function cross(a, b)
  return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] }
end

-- Rodrigues: v turned about the vector u by its length.
local function turned(u, v)
  local angle = norm(u)
  local k = angle > 0 and { u[1] / angle, u[2] / angle, u[3] / angle } or { 1, 0, 0 }
  local kv, dot = cross(k, v), k[1] * v[1] + k[2] * v[2] + k[3] * v[3]
  local c, s, out = math.cos(angle), math.sin(angle), {}
  for i = 1, 3 do
    out[i] = c * v[i] + s * kv[i] + (1 - c) * dot * k[i]
  end
  return out
end

local function random_pose()
  return stn.pose { xyz = vector(2), rotation_vector = vector(1.7) }
end

local function same(a, b, what)
  stn.near(a.xyz, b.xyz, 1e-13, what .. ": xyz")
  stn.near(a:angle(b), 0, 1e-13, what .. ": rotation")
end

stn.test("every way to write a rotation is that of its closed form, and comes back", function()
  for _ = 1, 300 do
    local u, at, point = vector(1.8), vector(3), vector(2) -- |u| < pi
    local pose, moved = stn.pose { xyz = at, rotation_vector = u }, turned(u, point)
    stn.near(pose:rotate(point), moved, 1e-14, "direction")
    stn.near(pose * point, { moved[1] + at[1], moved[2] + at[2], moved[3] + at[3] }, 1e-14, "point")
    stn.near(pose.rotation_vector, u, 1e-13, "rotation vector")
    for _, key in ipairs { "quat", "rpy", "rotation_vector", "matrix", "axes" } do
      same(stn.pose { xyz = at, [key] = pose[key] }, pose, key)
    end
    local axes, matrix = pose.axes, pose.matrix
    same(stn.pose { xyz = at, axes = { x = axes.x, z = axes.z } }, pose, "x and z")
    same(stn.pose { xyz = at, axes = { y = axes.y, x = axes.x } }, pose, "x and y")
    same(stn.pose { xyz = at, axes = { y = axes.y, z = axes.z } }, pose, "y and z")
    stn.near({ matrix[1][3], matrix[2][3], matrix[3][3] }, turned(u, { 0, 0, 1 }), 1e-14, "third column")
  end
end)

stn.test("one axis is turned to by the shortest way", function()
  for _, name in ipairs { "x", "y", "z" } do
    for i = 1, 100 do
      local wanted = vector(1)
      local start = stn.pose({}).axes[name]
      local pose = stn.pose { axes = { [name] = wanted } }
      local cosine = (wanted[1] * start[1] + wanted[2] * start[2] + wanted[3] * start[3]) / norm(wanted)
      local got = pose.axes[name]
      for k = 1, 3 do
        stn.near(got[k], wanted[k] / norm(wanted), 1e-14, name)
      end
      stn.near(norm(pose.rotation_vector), math.acos(cosine), 1e-7, "angle of " .. name .. i)
    end
  end
end)

stn.test("roll, pitch and yaw are fixed axes, R = Rz Ry Rx, also where the pitch is a quarter turn", function()
  for _ = 1, 100 do
    local r, p, y = dice:random(-3, 3), dice:random(-1.5, 1.5), dice:random(-3, 3)
    local pose = stn.pose { rotation_vector = { 0, 0, y } } * { rotation_vector = { 0, p, 0 } } * { rotation_vector = { r, 0, 0 } }
    stn.near(pose.rpy, { r, p, y }, 1e-12, "rpy")
  end
  local up = stn.pose { rpy = { 0.3, math.pi / 2, 0.4 } }
  stn.near(up.rpy[1], 0, 0, "roll goes to yaw")
  stn.near(up:angle { rpy = up.rpy }, 0, 1e-7, "the same rotation")
end)

stn.test("products are associative, the inverse undoes, relative is what is left", function()
  for _ = 1, 300 do
    local a, b, c, point = random_pose(), random_pose(), random_pose(), vector(2)
    same((a * b) * c, a * (b * c), "associative")
    same(a * a:inverse(), stn.pose {}, "inverse")
    same(a * a:relative(b), b, "relative")
    stn.near((a * b) * point, a * (b * point), 1e-13, "point")
    stn.near(a:distance(b), norm(a:relative(b).xyz), 1e-13, "distance")
    stn.near(a:angle(b), norm(a:relative(b).rotation_vector), 1e-13, "angle")
  end
end)

stn.test("a straight interpolation goes by equal ways and equal angles", function()
  for _ = 1, 100 do
    local a, b = random_pose(), random_pose()
    same(a:interpolate(b, 0), a, "start")
    same(a:interpolate(b, 1), b, "end")
    for s = 0.1, 0.9, 0.2 do
      local at = a:interpolate(b, s)
      stn.near(a:distance(at), s * a:distance(b), 1e-13, "way")
      stn.near(a:angle(at), s * a:angle(b), 1e-13, "angle")
      stn.near(at:angle(b), (1 - s) * a:angle(b), 1e-13, "the rest of it")
    end
  end
end)

stn.test("a screw is the pose of equal steps after each other, and known in closed form", function()
  for _ = 1, 100 do
    local a, b = random_pose(), random_pose()
    local step = a:relative(a:interpolate(b, 0.25, "screw"))
    same(a * step * step * step * step, b, "four quarters")
  end
  for _, angle in ipairs { 0, 1e-9, 1e-5, 0.0199, 0.0201, 1, 3, math.pi - 1e-6 } do -- about the axis through (1, 0), 0.4 m along it
    local about = stn.pose { xyz = { 1, 0, 0 } }
    local function turn(part)
      return about * { xyz = { 0, 0, 0.4 * part }, rotation_vector = { 0, 0, angle * part } } * about:inverse()
    end
    local at = stn.pose({}):interpolate(turn(1), 0.3, "screw")
    stn.near(at.xyz, turn(0.3).xyz, 1e-12, "screw by " .. angle)
    stn.near(at:angle(turn(0.3)), 0, 1e-12, "angle of a screw by " .. angle)
  end
end)

stn.test("poses of the world are such values, and every place that takes a pose takes all ways to write one", function()
  local world = stn.world {}
  local a = world:box { size = { 1, 1, 1 }, pose = stn.pose { xyz = { 1, 2, 3 } } * { rpy = { 0, 0, 0.5 } } }
  local b = world:sphere { radius = 0.1, xyz = { 5, 0, 0 }, axes = { z = { 0, 1, 0 } } }
  same(a:pose(), stn.pose { xyz = { 1, 2, 3 }, rotation_vector = { 0, 0, 0.5 } }, "of a box")
  stn.near(b:pose():rotate { 0, 0, 1 }, { 0, 1, 0 }, 1e-15, "of a ball")
  a:set_pose(a:pose() * { xyz = { 0.1, 0, 0 } })
  stn.near(a:pose():distance { xyz = { 1, 2, 3 } }, 0.1, 1e-15, "moved along its own x")
  assert(tostring(stn.pose { xyz = { 1, 0, -2 }, rpy = { 0, 0, math.pi / 2 } }) == "pose: (1, 0, -2) m, roll 0, pitch 0, yaw 90 deg")
end)

stn.test("what is no pose is told in a line", function()
  local a = stn.pose {}
  local cases = {
    [function() stn.pose { rpy = { 0, 0, 0 }, quat = { 1, 0, 0, 0 } } end] = "stn.pose: give rpy or quat, not both",
    [function() stn.pose { rotation_vector = { 0, 0 / 0, 0 } } end] = "rotation_vector[2] = nan is not a finite number [rad]",
    [function() stn.pose { matrix = { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 1 } } } end] = "matrix is no rotation: R^T R differs from the unit matrix by 3",
    [function() stn.pose { matrix = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, -1 } } } end] = "matrix mirrors",
    [function() stn.pose { matrix = { 1, 0, 0 } } end] = "matrix[1] must be a list of 3 numbers",
    [function() stn.pose { axes = {} } end] = "give at least one of x, y, z",
    [function() stn.pose { axes = { x = { 1, 0, 0 }, y = { 1, 1, 0 } } } end] = "x and y are not perpendicular, the cosine between them is 0.707",
    [function() stn.pose { axes = { x = { 1, 0, 0 }, y = { 0, 1, 0 }, z = { 0, 0, -1 } } } end] = "z is not x cross y",
    [function() stn.pose { axes = { z = { 0, 0, 0 } } } end] = "z = {0, 0, 0} is no direction",
    [function() stn.pose { xzy = { 0, 0, 0 } } end] = "unknown key 'xzy', did you mean 'xyz'?",
    [function() return a * 3 end] = "the right one takes a table",
    [function() return a * { 1, 2 } end] = "pose * point has 2 numbers, it needs 3",
    [function() return a.rotation end] = "pose has no 'rotation', did you mean",
    [function() return a:interpolate({}, 0 / 0) end] = "pose:interpolate: s = nan",
    [function() return a:interpolate({}, 0, "curved") end] = "invalid option 'curved'",
  }
  for call, text in pairs(cases) do
    local message = stn.fails(call, text)
    assert(message:match "^[^\n]*poses%.lua:%d+: " and not message:find "\n", message)
  end
end)
