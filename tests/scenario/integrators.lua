-- SPDX-License-Identifier: Apache-2.0
-- Theta schemes, against closed forms of their recursions and against motions integrated here by Runge-Kutta's rule of order 4.
local stn = require "stiction"
local worse = require "worse"
local files <close> = require "files"()

local schemes = { "explicit_euler", "implicit_euler", "midpoint" }
local pure_symplectic = { "theta", scheme = "symplectic_euler" }

local function steps(world, count)
  for _ in world:run { steps = count } do end
end

local function norm(x)
  local sum = 0
  for i = 1, #x do sum = sum + x[i] * x[i] end
  return math.sqrt(sum)
end

local function difference(a, b)
  local d = {}
  for i = 1, #a do d[i] = a[i] - b[i] end
  return norm(d)
end

-- One step of order 4 of y' = f(y).
local function runge_kutta(f, y, h)
  local function moved(k, s)
    local z = {}
    for i = 1, #y do z[i] = y[i] + s * k[i] end
    return z
  end
  local k1 = f(y)
  local k2 = f(moved(k1, h / 2))
  local k3 = f(moved(k2, h / 2))
  local k4 = f(moved(k3, h))
  local next = {}
  for i = 1, #y do next[i] = y[i] + h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) end
  return next
end

local function follow(f, y, seconds, count)
  for _ = 1, count do y = runge_kutta(f, y, seconds / count) end
  return y
end

-- Errors at a step and at half of it give the order.
local function order_of(run, dt)
  local coarse, fine = run(dt), run(dt / 2)
  return math.log(coarse / fine, 2), fine
end

-- --------------------------------------------------------------------------------------------------- linear spring
-- Mass 2 kg on a rail with a spring and a damper, x(0) = 0.3 m.
local function sprung(stiffness, damping)
  return files:write(".xml", ([[<mujoco><worldbody><body><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
    <joint name="x" type="slide" axis="1 0 0" stiffness="%.17g" damping="%.17g"/></body></worldbody></mujoco>]]):format(stiffness,
    damping))
end

local function spring_world(integrator, dt, stiffness, damping)
  local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, integrator = integrator }
  local robot = world:load { sprung(stiffness, damping or 0), fixed = true, joints = { x = 0.3 } }
  return world, robot:joint "x"
end

-- m (v - v0) = -dt (k x_th + c v_th), x = x0 + dt v_vq, of one unknown.
local function recursion(theta, theta_vq, dt, k, c, count)
  local x, v, m = 0.3, 0, 2
  for _ = 1, count do
    local A = m + dt * dt * theta * theta_vq * k + dt * theta * c
    local before = v
    v = v - dt * (k * x + c * v + dt * theta * k * v) / A
    x = x + dt * (theta_vq * v + (1 - theta_vq) * before)
  end
  return x, v
end

local coefficients = {
  { "explicit_euler", 0, 0 }, { pure_symplectic, 0, 1 }, { "implicit_euler", 1, 1 }, { "midpoint", 0.5, 0.5 },
  { { "theta", scheme = "custom", theta = 0.7, theta_vq = 0.4 }, 0.7, 0.4 },
}

stn.test("a sprung and damped mass follows the recursion of every scheme", function()
  for _, c in ipairs(coefficients) do
    local world, joint = spring_world(c[1], 0.01, 300, 4)
    steps(world, 200)
    local x, v = recursion(c[2], c[3], 0.01, 300, 4, 200)
    stn.near({ joint:position(), joint:velocity() }, { x, v }, 1e-12, "x, v")
  end
end)

stn.test("energy of a spring grows, stays bounded, decays or stays, as the scheme says", function()
  local k, m, dt, n = 200, 2, 0.02, 500
  local w2 = k / m * dt * dt
  local function energies(integrator, visit)
    local world, joint = spring_world(integrator, dt, k)
    local start = 0.5 * k * 0.3 ^ 2
    stn.near(world:energy().elastic, start, 1e-14, "elastic energy")
    for step in world:run { steps = n } do visit(step.index, step.energy_J / start, joint) end
  end
  -- the growth factor of a step is exact for both
  energies("explicit_euler", function(i, e) stn.near(e / (1 + w2) ^ i, 1, 1e-11, "explicit Euler") end)
  energies("implicit_euler", function(i, e) stn.near(e * (1 + w2) ^ i, 1, 1e-11, "implicit Euler") end)
  energies("midpoint", function(_, e) stn.near(e, 1, 1e-12, "midpoint") end)
  energies(pure_symplectic, function(_, _, joint) -- k x^2 + m v^2 - dt k x v is invariant
    local x, v = joint:position(), joint:velocity()
    stn.near((k * x * x + m * v * v - dt * k * x * v) / (k * 0.3 ^ 2), 1, 1e-11, "symplectic Euler")
  end)
  energies("symplectic_euler", function(i, e) stn.near(e * (1 + w2) ^ i, 1, 1e-11, "the default, linearly implicit") end)
end)

stn.test("a spring and a damper of any stiffness are stable where they are implicit", function()
  for _, integrator in ipairs { "implicit_euler", "midpoint", "symplectic_euler" } do
    for _, gains in ipairs { { 1e10, 0 }, { 0, 1e8 }, { 1e10, 1e5 }, { 1e14, 1e7 } } do
      local world, joint = spring_world(integrator, 0.02, gains[1], gains[2])
      joint:set_velocity(1)
      local start = 0.5 * gains[1] * 0.3 ^ 2 + 1
      for step in world:run { steps = 300 } do
        assert(step.energy_J <= start * (1 + 1e-9), ("%g J of %g J"):format(step.energy_J, start))
      end
    end
  end
end)

-- ----------------------------------------------------------------------------------------------------- pendulums

local function pendulum(dt, integrator, angle)
  local path = files:write(".urdf", [[<robot name="pendulum"><link name="base"/>
    <link name="rod"><inertial><origin xyz="0 0 -0.4"/><mass value="1.5"/>
      <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="pivot" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>]])
  local world = stn.world { dt = dt, integrator = integrator }
  local robot = world:load { path, fixed = true, joints = { pivot = angle } }
  return world, robot:joint "pivot"
end

-- T = 4 sqrt(I / m g l) K(sin(a/2)) = 2 pi sqrt(I / m g l) / agm(1, cos(a/2))
local function period(angle)
  local a, b = 1, math.cos(angle / 2)
  for _ = 1, 8 do a, b = (a + b) / 2, math.sqrt(a * b) end
  return 2 * math.pi * math.sqrt((0.02 + 1.5 * 0.4 ^ 2) / (1.5 * 9.81 * 0.4)) / a
end

stn.test("the period of a pendulum is met with the scheme's order", function()
  local angle = 2.0
  local function error_of(integrator, expected, low, high)
    local order = order_of(function(dt)
      local world, pivot = pendulum(dt, integrator, angle)
      local before, crossing = angle, nil
      for step in world:run { seconds = 1.2 * period(angle) } do -- the second passage through the bottom
        local now = pivot:position()
        if before < 0 and now >= 0 then
          crossing = step.time - dt * now / (now - before)
        end
        before = now
      end
      return math.abs(crossing - 0.75 * period(angle))
    end, 0.01)
    assert(order > low and order < high, ("%s: order %g, not %d"):format(integrator, order, expected))
  end
  error_of("midpoint", 2, 1.9, 2.1)
  error_of("implicit_euler", 1, 0.8, 1.2)
  error_of("explicit_euler", 1, 0.8, 1.2)
end)

stn.test("a double pendulum is followed with the scheme's order", function()
  local path = files:write(".urdf", [[<robot name="double"><link name="base"/>
    <link name="a"><inertial><origin xyz="0 0 -1"/><mass value="1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <link name="b"><inertial><origin xyz="0 0 -0.8"/><mass value="0.7"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="first" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/></joint>
    <joint name="second" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0 -1"/><axis xyz="0 1 0"/></joint></robot>]])
  -- point masses; p, q: angles to the vertical
  local m1, m2, l1, l2, g = 1, 0.7, 1, 0.8, 9.81
  local function motion(y)
    local p, q, dp, dq = y[1], y[1] + y[2], y[3], y[3] + y[4]
    local s, c = math.sin(p - q), math.cos(p - q)
    local a11, a12, a22 = (m1 + m2) * l1, m2 * l2 * c, l2
    local b1 = -m2 * l2 * dq * dq * s - (m1 + m2) * g * math.sin(p)
    local b2 = l1 * dp * dp * s - g * math.sin(q)
    local det = a11 * a22 - a12 * l1 * c
    local ddp, ddq = (b1 * a22 - a12 * b2) / det, (a11 * b2 - l1 * c * b1) / det
    return { dp, dq - dp, ddp, ddq - ddp }
  end
  local exact = follow(motion, { 1.5, 0.7, 0, 0 }, 1, 4000)
  local function error_of(integrator)
    return function(dt)
      local world = stn.world { dt = dt, integrator = integrator }
      local robot = world:load { path, fixed = true, joints = { first = 1.5, second = 0.7 } }
      steps(world, math.floor(1 / dt + 0.5))
      local q, v = robot:q(), robot:v()
      return difference({ q[1], q[2], v[1], v[2] }, exact)
    end
  end
  local order, fine = order_of(error_of "midpoint", 0.004)
  assert(order > 1.9 and order < 2.1 and fine < 1e-3, ("midpoint: order %g, error %g"):format(order, fine))
  for _, integrator in ipairs { "explicit_euler", "implicit_euler", "symplectic_euler", pure_symplectic } do
    order = order_of(error_of(integrator), 5e-4)
    assert(order > 0.85 and order < 1.15, ("%s: order %g"):format(integrator, order))
  end
end)

-- --------------------------------------------------------------------------------------------- chains without damping

-- Rods of 0.5 kg and 0.2 m, hinged at their ends, the first one at a fixed point or on a free body of 1 kg.
local function rods(count, axes, joint, free)
  local base = free and [[<inertial><mass value="1"/><inertia ixx="0.002" iyy="0.003" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial>]] or ""
  local text = { ([[<robot name="rods"><link name="l0">%s</link>]]):format(base) }
  for i = 1, count do
    text[#text + 1] = ([[<link name="l%d"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>
      <inertia ixx="0.0017" iyy="0.0017" izz="0.0002" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j%d" type="%s"><parent link="l%d"/>
      <child link="l%d"/><origin xyz="0 0 %g"/><axis xyz="%s"/></joint>]]):format(i, i, joint, i - 1, i, i == 1 and 0 or -0.2, axes[(i - 1) % #axes + 1])
  end
  return files:write(".urdf", table.concat(text) .. "</robot>")
end

local chains = {
  { name = "double pendulum", depth = 5, count = 2, axes = { "0 1 0" }, joint = "continuous", q = { j1 = 2.5, j2 = 0.5 } },
  { name = "chain of 7 in a plane", depth = 24, count = 7, axes = { "0 1 0" }, joint = "continuous", q = { j1 = math.pi / 2 } },
  { name = "chain of 7 in space", depth = 24, count = 7, axes = { "0 1 0", "1 0 0" }, joint = "continuous", q = { j1 = math.pi / 2, j2 = 0.5 } },
  { name = "chain of 4 on balls", depth = 42, count = 4, axes = { "0 1 0" }, joint = "ball", v = { j1 = { 0, 5, 3 }, j2 = { 5, 10, 3 } } },
  { name = "chain of 4 on balls in space", depth = 35, count = 4, axes = { "0 1 0" }, joint = "ball", free = true,
    v = { j2 = { 5, 20, 3 }, j3 = { 15, -10, 3 } } },
}

-- How far the mean of the energy strays in the last quarter, of what swings.
local function energy_drift(chain, dt, seconds, integrator)
  local world <close> = stn.world { dt = dt, integrator = integrator, gravity = chain.free and { 0, 0, 0 } or nil }
  local robot = world:load { rods(chain.count, chain.axes, chain.joint, chain.free), fixed = not chain.free, joints = chain.q }
  for name, v in pairs(chain.v or {}) do robot:joint(name):set_velocity(v) end
  local start, sum, count = world:energy().total, 0, 0
  for step in world:run { seconds = seconds } do
    if step.time > 0.75 * seconds then sum, count = sum + step.energy_J - start, count + 1 end
  end
  return math.abs(sum / count) / chain.depth
end

stn.test("the energy of undamped chains does not drift", function()
  for _, chain in ipairs(chains) do -- explicit Coriolis forces: from 0.18 of the double pendulum's in 10 s to no number at all
    local drift = energy_drift(chain, 1e-3, 10)
    assert(drift < 0.02, ("%s: %.3g of its energy in 10 s"):format(chain.name, drift))
  end
end)

stn.test("a default step whose Coriolis forces do not converge counts as not converged", function()
  local world <close> = stn.world { dt = 0.02 }
  local robot = world:load { rods(30, { "0 1 0", "1 0 0" }, "continuous"), fixed = true, joints = chains[3].q }
  assert(world:step().converged, "at rest")
  for i = 1, 30 do robot:joint("j" .. i):set_velocity(i % 3 == 0 and 3000 or -2000) end -- tens of radians in a step
  local step = world:step()
  assert(step.status == "not_converged" and not step.converged, step.status)
end)

stn.test("a chain that whips through radians in a step is followed by midpoint", function()
  assert(energy_drift(chains[2], 4e-3, 40, "midpoint") < 0.2) -- with 20 iterations step 5349 failed, at 3.7e-9 of 1e-10; energy: 2.4 of 24 J
end)

-- ------------------------------------------------------------------------------------------------- free rotation

-- Euler's equations in body axes with the attitude quaternion. Moments of a box of 6 kg, 0.3 x 0.2 x 0.1 m.
local moments = { 6 * (0.2 ^ 2 + 0.1 ^ 2) / 12, 6 * (0.3 ^ 2 + 0.1 ^ 2) / 12, 6 * (0.3 ^ 2 + 0.2 ^ 2) / 12 }

local function tumbling(y)
  local I = moments
  local x, yy, z = y[5], y[6], y[7]
  return {
    -0.5 * (y[2] * x + y[3] * yy + y[4] * z), 0.5 * (y[1] * x + y[3] * z - y[4] * yy),
    0.5 * (y[1] * yy + y[4] * x - y[2] * z), 0.5 * (y[1] * z + y[2] * yy - y[3] * x),
    (I[2] - I[3]) / I[1] * yy * z, (I[3] - I[1]) / I[2] * z * x, (I[1] - I[2]) / I[3] * x * yy,
  }
end

local function spin(integrator, dt, omega, offset)
  local world = stn.world { dt = dt, gravity = { 0, 0, 0 }, integrator = integrator }
  local body = world:compound { mass = 6, shapes = { { "box", size = { 0.3, 0.2, 0.1 }, xyz = offset } },
    velocity = { linear = offset and { 0, 0, 0 }, angular = omega } }
  return world, body
end

stn.test("a tumbling body is followed with the scheme's order", function()
  local omega = { 1, 5, 0.2 }
  local exact = follow(tumbling, { 1, 0, 0, 0, omega[1], omega[2], omega[3] }, 1, 2000)
  local function error_of(integrator)
    return function(dt)
      local world, body = spin(integrator, dt, omega)
      steps(world, math.floor(1 / dt + 0.5))
      local quat = { table.unpack(exact, 1, 4) }
      return math.min(difference(body:pose().quat, quat), difference(body:pose().quat, { -quat[1], -quat[2], -quat[3], -quat[4] }))
    end
  end
  local order, fine = order_of(error_of "midpoint", 0.01)
  assert(order > 1.95 and order < 2.05 and fine < 1e-4, ("midpoint: order %g, error %g"):format(order, fine))
  for _, integrator in ipairs { "explicit_euler", "implicit_euler", "symplectic_euler", pure_symplectic } do
    order = order_of(error_of(integrator), 0.0025)
    assert(order > 0.85 and order < 1.15, ("%s: order %g"):format(integrator, order))
  end
end)

stn.test("midpoint keeps energy and angular momentum to order 2", function()
  local function strays(dt)
    local world = spin("midpoint", dt, { 1, 5, 0.2 })
    local energy, momentum = world:energy().kinetic, world:momentum().angular
    local most, turned = 0, 0
    for step in world:run { seconds = 2 } do
      most = worse(most, math.abs(step.kinetic_J - energy))
      turned = worse(turned, difference(world:momentum().angular, momentum))
    end
    return most / energy, turned / norm(momentum)
  end
  local energy, momentum = strays(0.01)
  local finer_energy, finer_momentum = strays(0.005)
  stn.near({ math.log(energy / finer_energy, 2), math.log(momentum / finer_momentum, 2) }, { 2, 2 }, 0.1, "orders")
  assert(finer_energy < 1e-4 and finer_momentum < 2e-4, ("%g, %g"):format(finer_energy, finer_momentum))
end)

stn.test("a free body that spins at 100 rad/s keeps its energy", function()
  for _, omega in ipairs { { 100, 5, 2 }, { 3, 100, 2 }, { 60, 60, 60 } } do
    for _, offset in ipairs { { 0, 0, 0 }, { 0.05, -0.02, 0.03 } } do
      local world = spin("symplectic_euler", 2e-3, omega, offset) -- 0.2 rad a step
      local start = world:momentum()
      local energy, size = world:energy().kinetic, 0
      for step in world:run { seconds = 4 } do
        stn.near(step.kinetic_J / energy, 1, 1e-9, "energy")
      end
      if offset[1] == 0 then
        size = norm(world:momentum().angular) / norm(start.angular)
        stn.near(size, 1, 1e-10, "size of the angular momentum")
      end
      stn.near(world:momentum().linear, start.linear, 1e-9 * 6, "linear momentum")
      world:close()
    end
    local world = spin("midpoint", 2e-3, omega)
    local energy = world:energy().kinetic
    for step in world:run { seconds = 4 } do
      stn.near(step.kinetic_J / energy, 1, 0.04 * 0.2 ^ 2, "energy with midpoint")
    end
  end
end)

stn.test("a free body that turns by radians in a step still converges", function()
  for integrator, rate in pairs { midpoint = 300, implicit_euler = 150, symplectic_euler = 1000 } do -- 4, 2 and 14 rad a step
    local world = spin(integrator, 0.01, { rate, 10, rate })
    local energy = world:energy().kinetic
    steps(world, 200)
    assert(world:energy().kinetic < 10 * energy)
  end
end)

-- Heavy symmetric top on a ball joint, 150 rad/s about its axis, tilted by 0.6 rad, let go at rest.
local function heavy_top(integrator, dt, seconds)
  local path = files:write(".urdf", [[<robot name="gyroscope"><link name="base"/><link name="top"><inertial><origin xyz="0 0 0.08"/>
    <mass value="0.5"/><inertia ixx="0.0068" iyy="0.0068" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="pivot" type="ball"><parent link="base"/><child link="top"/></joint></robot>]])
  local world = stn.world { dt = dt, integrator = integrator }
  local robot = world:load { path, fixed = true, joints = { pivot = { math.cos(0.3), math.sin(0.3), 0, 0 } } }
  robot:joint("pivot"):set_velocity { 0, -150 * math.sin(0.6), 150 * math.cos(0.6) }
  local start, drift = world:energy().total, 0
  for step in world:run { seconds = seconds } do
    drift = worse(drift, math.abs(step.energy_J / start - 1))
  end
  local q = robot:joint("pivot"):position()
  return stn.pose { quat = q }:rotate { 0, 0, 1 }, drift
end

stn.test("a fast top on a ball joint is followed with the scheme's order", function()
  local exact = heavy_top("midpoint", 2e-5, 0.2)
  for integrator, expected in pairs { midpoint = 2, symplectic_euler = 1 } do
    local order, fine = order_of(function(dt) return difference(heavy_top(integrator, dt, 0.2), exact) end, 1e-3)
    assert(math.abs(order - expected) < 0.15 and fine < 2e-2, ("%s: order %g, error %g"):format(integrator, order, fine))
    local _, drift = heavy_top(integrator, 2e-3, 1) -- 0.3 rad a step
    assert(drift < 5e-4, ("%s: energy strays by %g"):format(integrator, drift))
  end
end)

-- -------------------------------------------------------------------------------------------- joints of every type

local function link(name, z)
  return ([[<link name="%s"><inertial><origin xyz="0.02 0.01 %g"/><mass value="0.8"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.015" ixy="0.002" ixz="0" iyz="0.001"/></inertial></link>]]):format(name, z)
end

local function joint(name, type, parent, child, axis)
  return ([[<joint name="%s" type="%s"><parent link="%s"/><child link="%s"/><origin xyz="0.05 0 -0.2" rpy="0.3 0.1 -0.2"/>
    %s</joint>]]):format(name, type, parent, child, axis and ('<axis xyz="%s"/>'):format(axis) or "")
end

local function chain(root)
  return files:write(".urdf", '<robot name="all">' .. link("a", -0.1) .. link("b", -0.1) .. link("c", -0.1) .. link("d", -0.1)
    .. link("e", -0.1) .. joint("one", root, "a", "b", (root == "planar" or root == "revolute") and "0 1 0" or nil)
    .. joint("two", "universal", "b", "c") .. joint("three", "continuous", "c", "d", "0.6 0 0.8")
    .. joint("four", "ball", "d", "e") .. "</robot>")
end

local function type_error(integrator, path, fixed, dt, seconds)
  local world = stn.world { dt = dt, integrator = integrator, gravity = { 0, 0, fixed and -9.81 or 0 } }
  local robot = world:load { path, fixed = fixed }
  local v = robot:v()
  for i = 1, #v do v[i] = 0.7 * math.sin(2.3 * i) end
  robot:set_v(v)
  local energy = world:energy().total
  steps(world, math.floor(seconds / dt + 0.5))
  local q, w = robot:q(), robot:v()
  table.move(w, 1, #w, #q + 1, q)
  return q, world:energy().total - energy
end

stn.test("chains of planar, universal, ball and floating joints are followed with the scheme's order", function()
  for _, case in ipairs { { "planar", true }, { "continuous", false } } do
    local path = chain(case[1])
    local exact = type_error("midpoint", path, case[2], 1.25e-4, 0.4)
    local function error_of(integrator)
      return function(dt) return difference(type_error(integrator, path, case[2], dt, 0.4), exact) end
    end
    local order, fine = order_of(error_of "midpoint", 2e-3)
    assert(order > 1.9 and order < 2.1, ("midpoint, %s: order %g, error %g"):format(case[1], order, fine))
    for _, integrator in ipairs { "implicit_euler", "symplectic_euler" } do
      order, fine = order_of(error_of(integrator), 1e-3)
      assert(order > 0.85 and order < 1.15, ("%s, %s: order %g, error %g"):format(integrator, case[1], order, fine))
    end
    local _, drift = type_error("midpoint", path, case[2], 2e-3, 0.4)
    local _, less = type_error("midpoint", path, case[2], 1e-3, 0.4)
    assert(math.log(math.abs(drift / less), 2) > 1.7, "order of the energy's drift")
  end
end)

stn.test("a screw sinks on its thread as its scheme prescribes", function()
  local path = files:write(".sdf", [[<sdf version="1.9"><model name="jack"><link name="spindle"><inertial><mass>3</mass>
    <inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia></inertial></link>
    <joint name="thread" type="screw"><parent>world</parent><child>spindle</child><axis><xyz>0 0 1</xyz></axis>
    <screw_thread_pitch>0.2</screw_thread_pitch></joint></model></sdf>]])
  for _, c in ipairs(coefficients) do
    local world = stn.world { dt = 0.01, integrator = c[1] }
    local robot = world:load { path, fixed = true }
    steps(world, 100)
    local angle, z = robot:joint("thread"):position(), robot:link("spindle"):position()[3]
    local h = z / angle -- [m/rad]
    stn.near(math.abs(h), 0.2 / (2 * math.pi), 1e-12, "thread")
    -- acceleration is constant: the mean of the velocities is theta_vq of the way
    local a = -3 * 9.81 * h / (0.01 + 3 * h * h)
    stn.near(angle, a / 2 * (1 + (2 * c[3] - 1) * 0.01), 1e-9 * math.abs(a), "angle")
  end
end)

-- ----------------------------------------------------------------------------------------------- inputs and contact

stn.test("PD gains without a limit are implicit, as the scheme takes them", function()
  for _, c in ipairs(coefficients) do
    if c[2] > 0 then
      local world, x = spring_world(c[1], 0.01, 0, 0)
      local pd = world:controller { "joint_pd", target = world:groups()[1], kp = 300, kd = 4 }
      pd:set { position = { 0 }, velocity = { 0 } }
      steps(world, 200)
      local expected, speed = recursion(c[2], c[3], 0.01, 300, 4, 200)
      stn.near({ x:position(), x:velocity() }, { expected, speed }, 1e-12, "x, v")
    end
  end
  local world, x = spring_world("midpoint", 0.02, 0, 0) -- gains that no explicit scheme holds
  world:controller { "joint_pd", target = world:groups()[1], kp = 1e8, kd = 1e6 }:set { position = { 0.1 } }
  steps(world, 400)
  assert(math.abs(x:position() - 0.1) < 0.21)
end)

stn.test("the work of inputs is what the energy gains, at constant mass exactly", function()
  for _, c in ipairs(coefficients) do
    local world, x = spring_world(c[1], 0.01, 150, 3)
    x:set_effort(7)
    local v0 = 0
    for step in world:run { steps = 100 } do
      local v = x:velocity()
      stn.near(step.input_work_J, 7 * 0.01 * 0.5 * (v + v0), 1e-13, "work of an effort")
      v0 = v
    end
  end
  -- midpoint: dE = W - c v_m^2 dt
  local world, x = spring_world("midpoint", 0.01, 150, 3)
  world:controller { "joint_pd", target = world:groups()[1], kp = 80, kd = 2 }:set { position = { 0.1 } }
  local energy, v0 = world:energy().total, 0
  for step in world:run { steps = 100 } do
    local mean = 0.5 * (v0 + x:velocity())
    stn.near(step.energy_J - energy, step.input_work_J - 3 * mean * mean * 0.01, 1e-13, "energy")
    energy, v0 = step.energy_J, x:velocity()
  end
end)

stn.test("a body rests, slides and falls on contacts whatever the scheme", function()
  for _, integrator in ipairs(schemes) do
    local world = stn.world { dt = 2e-3, integrator = integrator, solver = { "sap", tolerance = 1e-10 } }
    world:ground { mu = 0 }
    local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, mu = 0, xyz = { 0, 0, 0.05 }, velocity = { 0.5, 0, 0 } }
    steps(world, 500)
    stn.near(box:position(), { 0.5, 0, 0.05 }, 2e-5, integrator .. ": slides without friction") -- overlap of near-rigid contact
    stn.near(box:velocity().linear, { 0.5, 0, 0 }, 1e-6, "velocity")
    local sum = 0
    for _, contact in ipairs(world:contacts()) do sum = sum + contact.normal_impulse end
    stn.near(sum, 9.81 * 2e-3, 1e-8, "weight")
    world:close()
  end
end)

stn.test("a kinematic body carries another one whatever the scheme", function()
  for _, integrator in ipairs(schemes) do
    local world = stn.world { dt = 2e-3, integrator = integrator, gravity = { 0, 0, -9.81 } }
    local lift = world:box { size = { 1, 1, 0.1 }, mu = 0.8 }
    lift:kinematic(function(t) return { xyz = { 0, 0, 0.1 * t * t - 0.05 } }, { 0, 0, 0.2 * t } end)
    local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, mu = 0.8, xyz = { 0, 0, 0.05 } }
    steps(world, 500)
    stn.near(box:position(), { 0, 0, 0.15 }, 1e-5, integrator)
    local sum = 0
    for _, contact in ipairs(world:contacts()) do sum = sum + contact.normal_impulse end
    stn.near(sum / 2e-3, 9.81 + 0.2, 1e-9, integrator .. ": weight and inertia")
  end
end)

stn.test("a free body falls on a parabola with midpoint", function()
  local world = stn.world { dt = 0.01, integrator = "midpoint" }
  local ball = world:sphere { radius = 0.1, xyz = { 0, 0, 10 }, velocity = { 1, 0, 2 } }
  steps(world, 100)
  stn.near(ball:position(), { 1, 0, 12 - 9.81 / 2 }, 1e-11, "position")
end)

-- ------------------------------------------------------------------------------------------------------ bad input

stn.test("a step that cannot converge fails, names the robot and leaves the state", function()
  local world, pivot = pendulum(0.5, "implicit_euler", 2.0) -- steps of most of a period
  local function fall()
    for _ in world:run { steps = 50 } do end
  end
  pivot:set_velocity(300)
  local q, v = pivot:position(), pivot:velocity()
  local hash = world:hash()
  local message = stn.fails(fall, "does not converge")
  assert(message:find("group pendulum, tree of link rod", 1, true), message)
  assert(world:hash() == hash and pivot:position() == q and pivot:velocity() == v, "the state has changed")
end)

stn.test("theta without custom is refused", function()
  local message = stn.fails(function() stn.world { integrator = { "theta", theta = 0.7 } }:step() end)
  assert(message:find('theta and theta_vq belong to scheme = "custom"', 1, true), message)
  stn.fails(function() stn.world { integrator = { "theta", scheme = "custom", theta = 1.2 } }:step() end, "theta")
end)
