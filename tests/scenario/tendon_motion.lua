-- SPDX-License-Identifier: Apache-2.0
-- Tendons in motion by five solvers: two boxes on a cable that goes slack, a finger, a hoist; closed forms and each other.
local stn = require "stiction"
local files <close> = require "files"()

local solvers = { "sap", "nsgs", "newton_ncp", "ipm", "admm" }

local function tight(name)
  return { name, tolerance = 1e-11, max_iterations = 5000 }
end

--- Runs `make(solver)` with each solver; what it returns, lists of numbers, must agree to `limit`.
local function same_by_all(limit, make)
  local first
  for _, solver in ipairs(solvers) do
    local values = make(tight(solver), solver)
    first = first or values
    assert(#values == #first and #values > 0)
    for i, value in ipairs(values) do stn.near(value, first[i], limit, ("%s, number %d"):format(solver, i)) end
  end
end

-- A step of the relative motion of two masses on a cable is implicit Euler's where it is taut, free flight where it is slack:
--     u1 = u0 + gamma/mu,   gamma = min(0, -dt k (x - l + dt u0) / (1 + dt^2 k/mu)),   x1 = x + dt u1
-- and taut, energy falls by mu (u1 - u0)^2/2 + k (x1 - x)^2/2, in flight by nothing.
for _, case in ipairs { { name = "taut", apart = 1.1, speed = 0, seconds = 0.08 }, { name = "slack, then taut, then slack", apart = 0.9, speed = 0.8, seconds = 0.6 },
  { name = "slack", apart = 0.5, speed = 0.3, seconds = 0.3 } } do
  stn.test("two boxes on a cable, momentum and energy to round-off: " .. case.name, function()
    local m1, m2, k, rest, dt = 1, 3, 300, 1, 1e-3
    local mu = m1 * m2 / (m1 + m2)
    same_by_all(1e-9, function(solver, name)
      local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, solver = solver }
      local function box(mass, x, speed)
        return world:box { size = { 0.1, 0.1, 0.1 }, mass = mass, xyz = { x, 0, 0 }, velocity = { speed, 0, 0 } }
      end
      local a, b = box(m1, 0, 0.2), box(m2, case.apart, 0.2 + case.speed)
      local cable = world:constraint { "tendon", stiffness = k, length = rest, path = { { a, { 0, 0, 0 } }, { b, { 0, 0, 0 } } } }
      local x, u, energy, loose, pulled = case.apart, case.speed, world:energy().total, 0, 0
      local momentum = world:momentum()
      for step in world:run { seconds = case.seconds } do
        local gamma = math.min(0, -dt * k * (x - rest + dt * u) / (1 + dt * dt * k / mu))
        local x0, u0 = x, u
        u = u + gamma / mu
        x = x + dt * u
        stn.near(b:position()[1] - a:position()[1], x, 1e-9, name .. ": distance")
        stn.near(b:velocity().linear[1] - a:velocity().linear[1], u, 1e-9, name .. ": speed")
        stn.near(cable:force(), gamma / dt, 1e-6, name .. ": force")
        if gamma == 0 and x0 <= rest and x <= rest then
          stn.near(step.energy_J, energy, name == "ipm" and 2e-11 or 1e-12, name .. ": energy in flight") -- ipm: to its tolerance
          loose = loose + 1
        elseif x0 >= rest and x >= rest then
          stn.near(step.energy_J, energy - mu * (u - u0) ^ 2 / 2 - k * (x - x0) ^ 2 / 2, 1e-9, name .. ": energy, taut")
          pulled = pulled + 1
        end
        energy = step.energy_J
      end
      assert(case.name == "taut" or loose > 50, "loose in " .. loose)
      assert(case.name == "slack" or pulled > 50, "taut in " .. pulled)
      stn.near(world:momentum().linear, momentum.linear, 1e-12, name .. ": momentum")
      stn.near(world:momentum().angular, momentum.angular, 1e-12, name .. ": angular momentum")
      return { a:position()[1], b:position()[1], a:velocity().linear[1], b:velocity().linear[1] }
    end)
  end)
end

-- A finger along x: three links of 40 mm on hinges about -y, so that angles rise from x to z. The tendon goes over a cylinder at
-- each joint from one link's middle to the next one's: as long as it lies on it, the radius is its arm.
local radii, springs = { 0.010, 0.008, 0.006 }, { 0.5, 0.35, 0.2 }

local function finger(solver, tendon_of)
  local parts, parent = { '<robot name="finger"><link name="base"/>' }, "base"
  for i = 1, 3 do
    parts[#parts + 1] = ([[<link name="l%d"><inertial><origin xyz="0.02 0 0"/><mass value="0.05"/>
      <inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j%d" type="continuous"><parent link="%s"/><child link="l%d"/><origin xyz="%g 0 0"/><axis xyz="0 -1 0"/></joint>]]):format(
      i, i, parent, i, i > 1 and 0.04 or 0)
    parent = "l" .. i
  end
  parts[#parts + 1] = "</robot>"
  local world = stn.world { dt = 5e-4, gravity = { 0, 0, 0 }, solver = solver }
  local robot = world:load { files:write(".urdf", table.concat(parts)), fixed = true }
  local tendon = world:constraint(tendon_of(robot))
  for i = 1, 3 do
    world:controller { "joint_pd", target = robot, joints = { "j" .. i }, kp = springs[i], kd = 0.02 * springs[i] }
  end
  return world, robot, tendon
end

local function wrapping(settings)
  return function(robot)
    local out = { "tendon", path = { { "world", { -0.02, 0, 0 } } } }
    for key, value in pairs(settings or {}) do out[key] = value end
    for i = 1, 3 do
      out.path[#out.path + 1] = { { robot, "l" .. i }, "cylinder", radius = radii[i], rpy = { math.pi / 2, 0, 0 }, side = { 0, 1, 0 } }
      out.path[#out.path + 1] = { { robot, "l" .. i }, { 0.02, 0, 0 } }
    end
    return out
  end
end

local function fixed(settings)
  return function(robot)
    local out = { "tendon", joints = {} }
    for key, value in pairs(settings or {}) do out[key] = value end
    for i = 1, 3 do out.joints[i] = { robot, "j" .. i, -radii[i] } end
    return out
  end
end

stn.test("a finger with one tendon round three joints rests at r T / kappa, by five solvers", function()
  same_by_all(1e-7, function(solver, name)
    local world, robot, tendon = finger(solver, wrapping())
    local start = tendon:length()
    tendon:set { tension = 20 }
    for _ in world:run { seconds = 3 } do end
    local angles, wound = {}, 0
    for i = 1, 3 do
      angles[i] = robot:joint("j" .. i):position()
      stn.near(angles[i], radii[i] * 20 / springs[i], 1e-6, name .. ": joint " .. i)
      wound = wound + radii[i] * angles[i]
    end
    stn.near(start - tendon:length(), wound, 1e-12, name .. ": what the cylinders give up")
    return angles
  end)
end)

stn.test("an elastic tendon round three joints rests where its tension is that of the joints' springs", function()
  -- q_i = r_i f / kappa_i and f = k (pulled - sum r_i q_i): f = k pulled / (1 + k sum r_i^2 / kappa_i)
  local k, pulled, sum = 3000, 0.012, 0
  for i = 1, 3 do sum = sum + radii[i] ^ 2 / springs[i] end
  local f = k * pulled / (1 + k * sum)
  same_by_all(1e-7, function(solver, name)
    local world, robot, tendon = finger(solver, wrapping { stiffness = k, damping = 2 })
    tendon:set { length = tendon:length() - pulled }
    for _ in world:run { seconds = 3 } do end
    stn.near(tendon:force(), -f, 1e-6 * f, name .. ": tension")
    local angles = {}
    for i = 1, 3 do
      angles[i] = robot:joint("j" .. i):position()
      stn.near(angles[i], radii[i] * f / springs[i], 1e-6, name .. ": joint " .. i)
    end
    return angles
  end)
end)

stn.test("round cylinders at the joints it moves as with constant arms, by five solvers", function()
  local function motion(solver, tendon_of)
    local world, robot, tendon = finger(solver, tendon_of)
    local rest, values = tendon:length() or 0, {}
    for step in world:run { seconds = 0.4 } do
      tendon:set { tension = 10 + 8 * math.sin(40 * world.time), length = rest - 0.004 * math.sin(25 * world.time) }
      if step.index % 100 == 0 then
        for i = 1, 3 do values[#values + 1] = robot:joint("j" .. i):position() end
        values[#values + 1] = step.input_work_J
      end
    end
    return values
  end
  local settings = { stiffness = 500, damping = 1 }
  local arms = motion(tight "sap", fixed(settings))
  assert(math.abs(arms[#arms - 1]) > 0.02, "it moves")
  same_by_all(1e-7, function(solver, name)
    local values = motion(solver, wrapping(settings))
    for i, value in ipairs(values) do stn.near(value, arms[i], 1e-7, name .. " against arms, number " .. i) end
    return values
  end)
end)

stn.test("a hoist over a wheel, slack after a throw and taut again: the same motion by five solvers", function()
  same_by_all(1e-6, function(solver)
    local world = stn.world { dt = 1e-3, solver = solver }
    local function weight(mass, x, speed)
      return world:box { size = { 0.1, 0.1, 0.1 }, mass = mass, xyz = { x, 0, 0 }, velocity = { 0, 0, speed }, mask = 0 }
    end
    local a, b = weight(1, -0.2, 1), weight(1.5, 0.2, 0.5)
    local wheel = world:cylinder { radius = 0.2, length = 0.1, mass = 1, xyz = { 0, 0, 1 }, rpy = { math.pi / 2, 0, 0 }, fixed = true, mask = 0 }
    local rope = world:constraint { "tendon", stiffness = 2e3, damping = 20,
      path = { { a, { 0, 0, 0.05 } }, { wheel, "cylinder", radius = 0.2, side = { 0, 1, 0 } }, { b, { 0, 0, 0.05 } } } }
    local values, slack, taut = {}, 0, 0
    for step in world:run { seconds = 0.6 } do
      slack = slack + (rope:slack() and 1 or 0)
      taut = taut + (rope:slack() and 0 or 1)
      if step.index % 60 == 0 then
        values[#values + 1] = a:position()[3]
        values[#values + 1] = b:position()[3]
        values[#values + 1] = 1e-3 * rope:force()
      end
    end
    assert(slack > 50 and taut > 50, ("slack in %d, taut in %d steps"):format(slack, taut))
    values[#values + 1] = slack
    return values
  end)
end)

-- Bounds may force an impulse where every speed of the problem is zero: both boxes fall alike.
stn.test("a motor alone begins between two bodies that move alike", function()
  for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm", "admm", "apgd", "auto" } do
    for _, gravity in ipairs { { 0, 0, 0 }, { 0, 0, -9.81 } } do
      local world = stn.world { dt = 1e-3, gravity = gravity, solver = solver }
      local a = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1 }
      local b = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 1, 0, 0 } }
      local tendon = world:constraint { "tendon", path = { { a, { 0, 0, 0 } }, { b, { 0, 0, 0 } } } }
      tendon:set { tension = 5 }
      for i = 1, 50 do
        assert(world:step().converged, ("%s, step %d"):format(solver, i))
      end
      stn.near(tendon:force(), -5, 1e-9, solver .. ", force")
      stn.near(a:velocity().linear[1], 0.25, 1e-9, solver .. ", speed")
    end
  end
end)
