-- SPDX-License-Identifier: Apache-2.0
-- Constraint "bushing" at large angles, beside what it cannot do: its forces against derivatives of its energy, which
-- are computed here from poses alone, and against the formula of Drake's LinearBushingRollPitchYaw.
local stn = require "stiction"

local function tight(name)
  return { name, tolerance = 1e-10, max_iterations = 2000 }
end

local RADIUS, MASS = 0.1, { 1.3, 2.1 }
local K = { force_stiffness = { 100, 230, 410 }, torque_stiffness = { 7, 11, 5 }, force_damping = { 3, 5, 4 },
  torque_damping = { 0.3, 0.2, 0.4 } }

local function cross(a, b)
  return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] }
end

--- x, y, z, roll, pitch, yaw of a bushing between frames of two bodies.
local function coordinates(a, b, frame_a, frame_b)
  local A, C = a * frame_a, b * frame_b
  local turn = A:relative(C)
  local half = {}
  for i = 1, 3 do half[i] = 0.5 * turn.rotation_vector[i] end
  local B = A * { rotation_vector = half }
  local apart = {}
  for i = 1, 3 do apart[i] = C.xyz[i] - A.xyz[i] end
  local x, rpy = B:inverse():rotate(apart), turn.rpy
  return { x[1], x[2], x[3], rpy[1], rpy[2], rpy[3] }
end

--- A pose moved by a virtual displacement: directions 1 to 3 move its origin, 4 to 6 turn about it.
local function moved(pose, direction, by)
  local xyz, turn = { table.unpack(pose.xyz) }, { 0, 0, 0 }
  if direction <= 3 then
    xyz[direction] = xyz[direction] + by
  else
    turn[direction - 3] = by
  end
  return stn.pose { xyz = xyz } * stn.pose { rotation_vector = turn } * stn.pose { quat = pose.quat }
end

--- d coordinate / d displacement of body 1 and 2, by central differences: 6 lists of 12.
local function jacobian(poses, frames)
  local J, h = {}, 1e-6
  for c = 1, 6 do J[c] = {} end
  for k = 1, 12 do
    local body, direction, at = k <= 6 and 1 or 2, (k - 1) % 6 + 1, { poses[1], poses[2] }
    at[body] = moved(poses[body], direction, h)
    local ahead = coordinates(at[1], at[2], frames[1], frames[2])
    at[body] = moved(poses[body], direction, -h)
    local behind = coordinates(at[1], at[2], frames[1], frames[2])
    for c = 1, 6 do J[c][k] = (ahead[c] - behind[c]) / (2 * h) end
  end
  return J
end

--- Forces and torques on two free spheres that a step of 1e-6 s finds: 12 numbers.
local function measured(poses, frames, velocities, settings, solver)
  local dt = 1e-6
  local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, solver = tight(solver or "sap") }
  local bodies = {}
  for i = 1, 2 do
    bodies[i] = world:sphere { radius = RADIUS, mass = MASS[i], pose = poses[i], velocity = velocities[i],
      category = 0, mask = 0 }
  end
  local all = { "bushing", a = bodies[1], b = bodies[2], a_pose = frames[1], b_pose = frames[2] }
  for key, value in pairs(settings) do all[key] = value end
  world:constraint(all)
  world:step()
  local force = {}
  for i = 1, 2 do
    local v = bodies[i]:velocity()
    for k = 1, 3 do
      force[6 * i - 6 + k] = MASS[i] * (v.linear[k] - velocities[i].linear[k]) / dt
      force[6 * i - 3 + k] = 0.4 * MASS[i] * RADIUS ^ 2 * (v.angular[k] - velocities[i].angular[k]) / dt
    end
  end
  return force
end

--- Random poses of the two bodies, whose frames are turned by up to `angle` against each other in roll, pitch and yaw.
local function random_scene(random, angle, still)
  local function vector(size) return { random(-size, size), random(-size, size), random(-size, size) } end
  local frames = { stn.pose { xyz = vector(0.3), rpy = vector(3) }, stn.pose { xyz = vector(0.3), rpy = vector(3) } }
  local a = stn.pose { xyz = vector(1), rpy = vector(3) }
  local turn = stn.pose { xyz = vector(0.4), rpy = { random(-1, 1) * angle, random(-1, 1) * math.min(angle, 1.2), random(-1, 1) * angle } }
  local b = a * frames[1] * turn * frames[2]:inverse()
  local velocities = {}
  for i = 1, 2 do velocities[i] = { linear = vector(still and 0 or 2), angular = vector(still and 0 or 3) } end
  return { a, b }, frames, velocities, turn
end

local function generator(seed)
  local state = seed
  return function(low, high)
    state = (state * 1103515245 + 12345) % 2147483648
    return low + (high - low) * state / 2147483648
  end
end

for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm", "admm" } do
  stn.test("forces are the derivatives of energy and dissipation, at any angle: " .. solver, function()
    local random = generator(7)
    for round = 1, 12 do
      local poses, frames, velocities, turn = random_scene(random, 2)
      if turn:angle(stn.pose {}) < 3 then -- at half a turn the frame between changes its side
        local c, J = coordinates(poses[1], poses[2], frames[1], frames[2]), jacobian(poses, frames)
        local force = measured(poses, frames, velocities, K, solver)
        local expected, size = {}, 0
        for k = 1, 12 do expected[k] = 0 end
        for i = 1, 6 do
          local rate, along = 0, (i - 1) % 3 + 1
          for k = 1, 12 do
            local v = velocities[k <= 6 and 1 or 2]
            rate = rate + J[i][k] * ((k - 1) % 6 < 3 and v.linear or v.angular)[(k - 1) % 3 + 1]
          end
          local push = i <= 3 and K.force_stiffness[along] * c[i] + K.force_damping[along] * rate or
            K.torque_stiffness[along] * c[i] + K.torque_damping[along] * rate
          for k = 1, 12 do expected[k] = expected[k] - push * J[i][k] end
        end
        for k = 1, 12 do size = math.max(size, math.abs(expected[k])) end
        -- the step is implicit: its forces are those of its end, off by dt k / m
        for k = 1, 12 do stn.near(force[k], expected[k], 1e-3 * size, ("round %d, component %d"):format(round, k)) end
      end
    end
  end)
end

stn.test("forces are those of Drake's bushing, and its gimbal torques where the origins meet", function()
  local random = generator(3)
  for _ = 1, 12 do
    local poses, frames, velocities, turn = random_scene(random, 2, true)
    if turn:angle(stn.pose {}) < 3 then
      -- f = -(k x, k y, k z) along the axes of the frame halfway
      local force = measured(poses, frames, velocities, { force_stiffness = K.force_stiffness })
      local A, c = poses[1] * frames[1], coordinates(poses[1], poses[2], frames[1], frames[2])
      local half = {}
      for i = 1, 3 do half[i] = 0.5 * turn.rotation_vector[i] end
      local f = (A * { rotation_vector = half }):rotate { -100 * c[1], -230 * c[2], -410 * c[3] }
      for i = 1, 3 do
        stn.near(force[6 + i], f[i], 1e-5, "force on C")
        stn.near(force[i], -f[i], 1e-5, "force on A")
      end
      -- the moment of f, which acts midway, and what the rate of the frame halfway adds to it
      local p, u, theta = {}, turn.rotation_vector, turn:angle(stn.pose {})
      for i = 1, 3 do p[i] = (poses[2] * frames[2]).xyz[i] - A.xyz[i] end
      u = A:rotate { u[1] / theta, u[2] / theta, u[3] / theta }
      local moment = cross(p, f)
      local arm = {}
      for i = 1, 3 do arm[i] = (poses[2] * frames[2]).xyz[i] - poses[2].xyz[i] end
      local lever, extra = cross(arm, f), cross(moment, u)
      for i = 1, 3 do
        local drake = lever[i] - 0.5 * moment[i]
        stn.near(force[9 + i], drake + 0.5 * math.tan(theta / 4) * extra[i], 1e-5, "moment on C")
      end
      -- (Tx, Ty, Tz) of T0, T1, T2 = -kappa q
      local torque = measured(poses, frames, velocities, { torque_stiffness = K.torque_stiffness })
      local roll, pitch, yaw = table.unpack(turn.rpy)
      local T = { -7 * roll, -11 * pitch, -5 * yaw }
      local cy, sy, cp, tp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.tan(pitch)
      local expected = A:rotate { cy / cp * T[1] - sy * T[2] + cy * tp * T[3], sy / cp * T[1] + cy * T[2] + sy * tp * T[3], T[3] }
      for i = 1, 3 do
        stn.near(torque[9 + i], expected[i], 1e-5, "torque on C")
        stn.near(torque[3 + i], -expected[i], 1e-5, "torque on A")
      end
    end
  end
end)

stn.test("between free bodies momentum stays while both turn", function()
  local world = stn.world { dt = 1e-4, gravity = { 0, 0, 0 }, solver = tight "sap" }
  local a = world:box { size = { 0.1, 0.2, 0.3 }, mass = 1, velocity = { angular = { 1, 2, 3 } } }
  local b = world:box { size = { 0.2, 0.1, 0.1 }, mass = 2, xyz = { 0.4, 0.1, 0.05 }, rpy = { 0.5, -0.4, 0.7 } }
  world:constraint { "bushing", a = a, b = b, a_pose = { xyz = { 0.2, 0, 0 } }, b_pose = { xyz = { -0.2, 0, 0 } },
    force_stiffness = { 500, 600, 700 }, torque_stiffness = { 4, 5, 6 } }
  local before = world:momentum()
  for _ in world:run { seconds = 0.5 } do end
  stn.near(world:momentum().linear, before.linear, 1e-10, "linear")
  stn.near(world:momentum().angular, before.angular, 1e-3, "angular")
  assert(a:velocity().angular[1] ~= 1 and b:speed() > 0.01, "they move")
end)

-- ------------------------------------------------------------------------------------------------------ neighbours

stn.test("an enormous stiffness holds like a weld, a tiny one like nothing", function()
  for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm", "admm" } do
    local world = stn.world { dt = 1e-3, solver = tight(solver) }
    local a = world:box { size = { 0.1, 0.2, 0.3 }, mass = 1 }
    local b = world:box { size = { 0.1, 0.2, 0.3 }, mass = 1, xyz = { 1, 0, 0 } }
    local huge, tiny = { 1e15, 1e15, 1e15 }, { 1e-9, 1e-9, 1e-9 }
    world:constraint { "bushing", a = "world", b = a, a_pose = { xyz = { 0.3, 0, 0 } }, b_pose = { xyz = { 0.3, 0, 0 } },
      force_stiffness = huge, torque_stiffness = huge }
    world:constraint { "bushing", a = "world", b = b, a_pose = { xyz = { 1, 0, 0 } }, force_stiffness = tiny, torque_stiffness = tiny }
    for _ in world:run { seconds = 0.5 } do end
    stn.near(a:position(), { 0, 0, 0 }, 1e-6, solver .. ": held")
    stn.near(a:pose().rpy, { 0, 0, 0 }, 1e-6, solver .. ": not turned")
    stn.near(b:velocity().linear[3], -9.81 * 0.5, 1e-6, solver .. ": falls")
  end
end)

stn.test("a kinematic end takes the body along, and its work is the energy that both have", function()
  local world = stn.world { dt = 1e-4, gravity = { 0, 0, 0 }, solver = tight "sap" }
  local hand = world:box { size = { 0.1, 0.1, 0.1 } }
  local body = world:box { size = { 0.1, 0.2, 0.3 }, mass = 2, category = 0, mask = 0 }
  hand:kinematic(function(t)
    return { xyz = { 0.2 * t * t, 0, 0 }, rpy = { 0, 0, t * t } }, { linear = { 0.4 * t, 0, 0 }, angular = { 0, 0, 2 * t } }
  end)
  world:constraint { "bushing", a = hand, b = body, force_stiffness = { 200, 300, 400 }, torque_stiffness = { 3, 4, 5 } }
  local work = 0
  for step in world:run { seconds = 0.5 } do work = work + step.input_work_J end
  local energy = world:energy()
  assert(energy.kinetic > 0.01)
  stn.near(energy.kinetic + energy.elastic, work, 0.002 * work, "energy")
end)

stn.test("between two kinematic bodies there is nothing to hold", function()
  for _, settings in ipairs { { "bushing", force_stiffness = { 1, 1, 1 } }, { "spring", stiffness = 3 } } do
    local world = stn.world { dt = 1e-3, solver = tight "sap" }
    local a, b = world:box { size = { 0.1, 0.1, 0.1 } }, world:box { size = { 0.1, 0.1, 0.1 }, xyz = { 1, 0, 0 } }
    a:kinematic(function(t) return { xyz = { 0, 0, t } } end)
    b:kinematic(function() return { xyz = { 1, 0, 0 } } end)
    settings.a, settings.b = a, b
    stn.fails(function()
      world:constraint(settings)
      world:step()
    end, "are fixed or kinematic: there is nothing to hold")
  end
end)

stn.test("a pitch of 90 degrees is refused by torques, forces go on", function()
  local function world_at(pitch, settings)
    local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = tight "sap" }
    local a = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0.1, 0, 0 }, rpy = { 0.3, pitch, 0.2 } }
    settings[1], settings.a, settings.b = "bushing", "world", a
    world:constraint(settings)
    return world, a
  end
  local world = world_at(math.pi / 2, { torque_stiffness = { 1, 1, 1 } })
  local ok, message = pcall(function() world:step() end)
  assert(not ok and tostring(message):find("roll and yaw are not defined; turn the frames", 1, true), tostring(message))
  assert(tostring(message):find("bushing", 1, true), tostring(message))
  local free, body = world_at(math.pi / 2, { force_stiffness = { 10, 10, 10 } })
  free:step()
  stn.near(body:velocity().linear[1], -10 * 0.1 * 1e-3, 1e-6, "pulled")
  for _, off in ipairs { 1e-3, -1e-3 } do -- beside it
    world_at(math.pi / 2 - off, { torque_stiffness = { 1, 1, 1 } }):step()
  end
end)

stn.test("what is wrong is said", function()
  local function refused(text, settings, both)
    local world = stn.world { dt = 1e-3 }
    local a = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1 }
    settings[1], settings.a, settings.b = settings[1] or "bushing", settings.a or a, both and a or settings.b
    local ok, message = pcall(function()
      world:constraint(settings)
      world:step()
    end)
    assert(not ok and tostring(message):find(text, 1, true), tostring(message))
  end
  refused("both ends are link 'box1'; it needs two", { force_stiffness = { 1, 1, 1 } }, true)
  refused("both ends are link 'box1'; it needs two", { "spring", stiffness = 1 }, true)
  refused("both ends are the world; it needs two", { force_stiffness = { 1, 1, 1 }, a = "world" })
  refused("all stiffness and damping is 0", {})
  refused("three numbers", { torque_damping = { 1, -1, 1 } })
  refused("must be three numbers", { torque_damping = { 1, 1, 1, 1 } })
  refused("must be three numbers", { force_damping = "0x10 1 1" })
  refused("must be three numbers", { force_damping = "1 1 inf" })
  refused("not a finite number", { force_stiffness = { math.huge, 1, 1 } })
  refused("finite number", { "spring", stiffness = math.huge })
end)
