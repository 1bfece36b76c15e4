-- SPDX-License-Identifier: Apache-2.0
-- A robot arm bolted to the edge of a table sweeps cubes and balls off it with a paddle.
--
-- Any arm with six or more joints works: --set robot=FILE.urdf. The script looks for the tip, mounts the paddle on it,
-- finds joint positions along an arc by inverse kinematics, and follows them under joint PD control.
local stn = require "stiction"
local solve_error = require "solve_error"
local worse = require "worse"

local p = stn.params {
  robot = "models/iiwa14/iiwa14.urdf",
  dt = 0.002,       -- [s]
  seconds = 3.6,    -- [s]
  mu = 0.4,         -- of every contact
  kp = 2000.0,      -- [N m/rad]
  kd = 100.0,       -- [N m s/rad]
  tolerance = 1e-6, -- of the solver
  tip = "",         -- link that carries the paddle; "": the one at the end of the longest chain
}

local reach, clearance, lift = 0.55, 0.012, 0.12       -- radius of the arc, paddle above the table, hover height [m]
local from, to = 52 * stn.deg, -52 * stn.deg           -- the arc, about the base [rad]
local paddle = { thickness = 0.02, width = 0.20, height = 0.10, mass = 0.3 }

local world = stn.world { dt = p.dt, solver = { "sap", tolerance = p.tolerance } }

-- ------------------------------------------------------------------------------------------------ vectors

local function add(a, b, s)
  s = s or 1
  return { a[1] + s * b[1], a[2] + s * b[2], a[3] + s * b[3] }
end

local function cross(a, b)
  return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] }
end

local function dot(a, b)
  return a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
end

local function norm(a)
  return math.sqrt(dot(a, a))
end

-- Solves A x = b in place, by elimination with row exchanges.
local function solve(A, b)
  local n = #b
  for k = 1, n do
    local pivot = k
    for i = k + 1, n do
      if math.abs(A[i][k]) > math.abs(A[pivot][k]) then
        pivot = i
      end
    end
    A[k], A[pivot], b[k], b[pivot] = A[pivot], A[k], b[pivot], b[k]
    for i = k + 1, n do
      local f = A[i][k] / A[k][k]
      for j = k, n do
        A[i][j] = A[i][j] - f * A[k][j]
      end
      b[i] = b[i] - f * b[k]
    end
  end
  for k = n, 1, -1 do
    for j = k + 1, n do
      b[k] = b[k] - A[k][j] * b[j]
    end
    b[k] = b[k] / A[k][k]
  end
  return b
end

-- ------------------------------------------------------------------- the arm, alone in a world that never runs

local probe = stn.world {}
local ghost = probe:load { p.robot, name = "ghost", fixed = true }
probe:disable_collisions(ghost)

local joints = {} -- those that position the arm
for _, joint in ipairs(ghost:joints()) do
  if joint.type == "revolute" or joint.type == "continuous" then
    joints[#joints + 1] = joint
  end
end
if #joints < 6 then
  error(("%s has %d revolute joints, the demo needs an arm with at least 6"):format(p.robot, #joints), 0)
end

local function moved(link, joint)
  local before, q = link:pose(), joint:position()
  joint:set_position(q + 0.1)
  local after = link:pose()
  joint:set_position(q)
  local change = norm(add(after.xyz, before.xyz, -1))
  for i = 1, 4 do
    change = change + math.abs(after.quat[i] - before.quat[i])
  end
  return change > 1e-9
end

-- The link that most joints move; of several, the last in the file.
local function find_tip()
  if p.tip ~= "" then
    return ghost:link(p.tip)
  end
  local best, most = nil, -1
  for _, link in ipairs(ghost:links()) do
    local count = 0
    for _, joint in ipairs(joints) do
      count = count + (moved(link, joint) and 1 or 0)
    end
    if count >= most then
      best, most = link, count
    end
  end
  return best
end

local tip = find_tip()

-- The axis of the tip frame that points out of the arm: along the line from the nearest other link.
local function find_outward()
  local here, nearest, distance = tip:pose(), nil, math.huge
  for _, link in ipairs(ghost:links()) do
    local between = norm(add(here.xyz, link:position(), -1))
    if between > 0.02 and between < distance then
      nearest, distance = link, between
    end
  end
  local inverse = stn.pose { quat = here.quat }:inverse()
  local local_line = inverse * add(here.xyz, nearest:position(), -1)
  local axis = 1
  for i = 2, 3 do
    if math.abs(local_line[i]) > math.abs(local_line[axis]) then
      axis = i
    end
  end
  return axis, local_line[axis] > 0
end

-- Turns z into that axis.
local h = math.sqrt(0.5)
local turns = {
  { [true] = { h, 0, h, 0 }, [false] = { h, 0, -h, 0 } },
  { [true] = { h, -h, 0, 0 }, [false] = { h, h, 0, 0 } },
  { [true] = { 1, 0, 0, 0 }, [false] = { 0, 1, 0, 0 } },
}
local axis, positive = find_outward()
local mount = stn.pose { quat = turns[axis][positive] }
local out_axis, width_axis = mount:rotate { 0, 0, 1 }, mount:rotate { 0, 1, 0 }

-- ------------------------------------------------------------------------------------------- inverse kinematics

local function clamp(joint, q)
  local limits = joint:limits()
  if limits.lower < limits.upper then
    return math.max(limits.lower + 0.02, math.min(limits.upper - 0.02, q))
  end
  return q
end

-- Distance from tip at `position`, paddle down, its broad side across the arc at azimuth `angle`.
local function pose_error(position, angle)
  local pose = tip:pose()
  local e = add(position, pose.xyz, -1)
  local turn = stn.pose { quat = pose.quat }
  local down, across = turn:rotate(out_axis), turn:rotate(width_axis)
  local radial = { math.cos(angle), math.sin(angle), 0 }
  if dot(across, radial) < 0 then
    radial = { -radial[1], -radial[2], 0 } -- both faces of the paddle are alike
  end
  local tilt, yaw = cross(down, { 0, 0, -1 }), cross(across, radial)
  for i = 1, 3 do
    e[i + 3] = 0.3 * (tilt[i] + (i == 3 and yaw[3] or 0))
  end
  return e
end

local function size_of(e)
  local sum = 0
  for i = 1, 6 do
    sum = sum + e[i] * e[i]
  end
  return math.sqrt(sum)
end

-- Damped least squares from where the ghost stands; returns the remaining error.
local function reach_for(position, angle)
  local q, e = {}, pose_error(position, angle)
  for _ = 1, 60 do
    if size_of(e) < 1e-5 then
      break
    end
    local columns = {}
    for j, joint in ipairs(joints) do
      q[j] = joint:position()
      joint:set_position(q[j] + 1e-5)
      local shifted = pose_error(position, angle)
      joint:set_position(q[j])
      columns[j] = {}
      for i = 1, 6 do
        columns[j][i] = (e[i] - shifted[i]) / 1e-5
      end
    end
    local A = {}
    for i = 1, 6 do
      A[i] = {}
      for k = 1, 6 do
        A[i][k] = i == k and 1e-3 or 0
        for j = 1, #joints do
          A[i][k] = A[i][k] + columns[j][i] * columns[j][k]
        end
      end
    end
    local y = solve(A, { table.unpack(e) })
    for j, joint in ipairs(joints) do
      local change = 0
      for i = 1, 6 do
        change = change + columns[j][i] * y[i]
      end
      joint:set_position(clamp(joint, q[j] + math.max(-0.3, math.min(0.3, change))))
    end
    e = pose_error(position, angle)
  end
  return size_of(e)
end

local function positions()
  local q = {}
  for j, joint in ipairs(joints) do
    q[j] = joint:position()
  end
  return q
end

local function on_arc(angle, height)
  return { reach * math.cos(angle), reach * math.sin(angle), clearance + paddle.height + height }
end

-- How high the arm holds its links: elbow up is out of the way.
local function height()
  local sum = 0
  for _, link in ipairs(ghost:links()) do
    sum = sum + link:position()[3]
  end
  return sum
end

-- Postures that reach the start of the arc, from many guesses, the one with the elbow highest first.
local function postures()
  local found = {}
  for try = 0, 60 do
    for j, joint in ipairs(joints) do
      joint:set_position(clamp(joint, try == 0 and (j % 2 == 0 and 0.6 or 0) or 1.6 * math.sin(7.3 * try + 2.1 * j)))
    end
    if reach_for(on_arc(from, 0), from) < 1e-3 then
      found[#found + 1] = { q = positions(), height = height() }
    end
  end
  table.sort(found, function(a, b)
    return a.height > b.height
  end)
  return found
end

local function stand(q)
  for j, joint in ipairs(joints) do
    joint:set_position(q[j])
  end
end

-- Way-points in joint space from a posture: down, along the arc, up. Returns them and the largest error.
local function plan(start)
  local path, worst = { {}, {}, {} }, 0
  local function note(segment, angle, above, place)
    worst = worse(worst, reach_for(on_arc(angle, above), angle))
    table.insert(path[segment], place or #path[segment] + 1, positions())
  end
  stand(start)
  for i = 0, 4 do
    note(1, from, lift * i / 4, 1) -- found going up, driven going down
  end
  stand(start)
  for i = 0, 16 do
    note(2, from + (to - from) * i / 16, 0)
  end
  for i = 0, 4 do
    note(3, to, lift * i / 4)
  end
  return path, worst
end

local function find_path()
  local least = math.huge
  for _, posture in ipairs(postures()) do
    local path, worst = plan(posture.q)
    if worst < 0.01 then
      return path
    end
    least = math.min(least, worst)
  end
  error(("%s cannot follow the arc of %.2f m (error %.3f m)"):format(p.robot, reach, least), 0)
end

local path = find_path()
local durations = { 0.6, 2.4, 0.5 }

-- Point and slope at s in [0, 1] of the curve through equally spaced points (Catmull-Rom).
local function curve(points, s, j)
  local n = #points - 1
  local x = math.min(s * n, n - 1e-9)
  local i = math.floor(x)
  local t = x - i
  local function at(k)
    return points[math.max(0, math.min(n, k)) + 1][j]
  end
  local a, b, c, d = at(i - 1), at(i), at(i + 1), at(i + 2)
  local m0, m1 = 0.5 * (c - a), 0.5 * (d - b)
  local value = (2 * t ^ 3 - 3 * t ^ 2 + 1) * b + (t ^ 3 - 2 * t ^ 2 + t) * m0 + (3 * t ^ 2 - 2 * t ^ 3) * c + (t ^ 3 - t ^ 2) * m1
  local slope = (6 * t ^ 2 - 6 * t) * (b - c) + (3 * t ^ 2 - 4 * t + 1) * m0 + (3 * t ^ 2 - 2 * t) * m1
  return value, slope * n
end

-- Quintic timing: rests at both ends of every segment.
local function reference(time)
  local segment = 1
  while segment < 3 and time > durations[segment] do
    time = time - durations[segment]
    segment = segment + 1
  end
  local u = math.min(1, time / durations[segment])
  local s = u ^ 3 * (10 - 15 * u + 6 * u * u)
  local rate = 30 * u * u * (1 - u) ^ 2 / durations[segment]
  local position, velocity = {}, {}
  for j, joint in ipairs(joints) do
    local value, slope = curve(path[segment], s, j)
    position[joint.name], velocity[joint.name] = value, slope * rate
  end
  return position, velocity
end

-- ---------------------------------------------------------------------------------------------------- the scene

local wood, steel = { 0.72, 0.53, 0.33 }, { 0.35, 0.37, 0.40 }
local palette = { { 0.85, 0.30, 0.20 }, { 0.95, 0.70, 0.20 }, { 0.25, 0.60, 0.40 }, { 0.20, 0.45, 0.75 } }
local floor = -0.72

world:ground { name = "floor", xyz = { 0, 0, floor } }
local top = world:box {
  name = "table", fixed = true, size = { 0.90, 0.70, 0.04 }, xyz = { 0.28, 0, -0.02 }, color = wood,
}
for i, corner in ipairs { { -1, -1 }, { -1, 1 }, { 1, -1 }, { 1, 1 } } do
  world:box {
    name = "leg" .. i, fixed = true, size = { 0.05, 0.05, -floor - 0.04 }, color = steel,
    xyz = { 0.28 + 0.41 * corner[1], 0.31 * corner[2], 0.5 * (floor - 0.04) },
  }
end

local start = {}
for j, joint in ipairs(joints) do
  start[joint.name] = path[1][1][j]
end
local arm = world:load { p.robot, name = "arm", fixed = true, joints = start }
local board = world:box {
  name = "paddle", on = { arm, tip.name }, mass = paddle.mass, color = { 0.9, 0.9, 0.9 },
  size = { paddle.thickness, paddle.width, paddle.height },
  xyz = add({ 0, 0, 0 }, out_axis, 0.5 * paddle.height), quat = mount.quat,
}
-- arms from elsewhere are not always drawn free of themselves, and the base stands on the table
world:disable_collisions(arm)
world:disable_collisions(arm, board)
world:disable_collisions(arm, top)

local objects = {}
for i, place in ipairs { { 30, 0.50 }, { 22, 0.60 }, { 13, 0.49 }, { 5, 0.58 }, { -4, 0.51 }, { -13, 0.61 }, { -22, 0.50 }, { 14, 0.62 } } do
  local angle, r = place[1] * stn.deg, place[2]
  local size = 0.06
  local look = { name = "object" .. i, density = 300, color = palette[i % #palette + 1] }
  look.xyz = { r * math.cos(angle), r * math.sin(angle), 0.5 * size }
  if i % 2 == 0 then
    look.radius = 0.5 * size
    objects[i] = world:sphere(look)
  else
    look.size, look.rpy = { size, size, size }, { 0, 0, 0.9 * angle }
    objects[i] = world:box(look)
  end
end
world:contact_material { mu = p.mu }

local names, strong = {}, true
for j, joint in ipairs(joints) do
  names[j] = joint.name
  strong = strong and joint:limits().effort > 0
end
local motors = world:controller {
  "joint_pd", target = arm, joints = names, kp = p.kp, kd = p.kd, gravity_compensation = true, effort_limits = strong,
}

-- ------------------------------------------------------------------------------------------------------ the sweep

local deepest = 0
local worst = solve_error.worst()
for step in world:run { seconds = p.seconds } do
  deepest = worse(deepest, step.overlap_m)
  worst:add(step.certificate)
  local position, velocity = reference(step.time + p.dt)
  motors:set { position = position, velocity = velocity }
end

local swept = 0
for _, object in ipairs(objects) do
  if object:position()[3] < -0.05 then
    swept = swept + 1
  end
end
stn.result("swept", swept, "objects")
stn.result("deepest_overlap_m", deepest, "m")
if p.seconds >= durations[1] + durations[2] + durations[3] then
  stn.check("objects swept off the table", { value = swept, least = 4, unit = "objects" })
end
stn.check("deepest overlap", { value = deepest, limit = 1e-3, unit = "m" })
worst:check(p.tolerance)
