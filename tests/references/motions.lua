-- SPDX-License-Identifier: Apache-2.0
-- Motions without contact beside closed forms and a chain integrated here: README.md. Errors at a step and at half of it give
-- the order p of the scheme, and the combination (2^p y(dt/2) - y(dt))/(2^p - 1), from which the leading error is gone, must
-- come ten times as close as y(dt/2): a scheme that converges to something else does not.
local stn = require "stiction"
local worse = require "worse"
local load_text = require "robot_text"

local orders = { explicit_euler = 1, implicit_euler = 1, symplectic_euler = 1, midpoint = 2 }

local function largest_difference(a, b)
  local most = 0
  for i = 1, #b do
    most = worse(most, math.abs(a[i] - b[i]))
  end
  return most
end

-- `run(integrator, dt)` gives what `exact` lists. `coarse` [s] by integrator.
local function follows(name, exact, coarse, run)
  for integrator, dt in pairs(coarse) do
    local order = orders[integrator]
    local far, near, best = run(integrator, dt), run(integrator, dt / 2), {}
    for i = 1, #exact do best[i] = (2 ^ order * near[i] - far[i]) / (2 ^ order - 1) end
    local error, rest = largest_difference(near, exact), largest_difference(best, exact)
    local measured = math.log(largest_difference(far, exact) / error, 2)
    print(("%-24s %-18s order %.3f, error %.1e, without its leading term %.1e"):format(name, integrator, measured, error, rest))
    stn.near(measured, order, 0.15, name .. ", " .. integrator .. ": order")
    stn.check(name .. ", " .. integrator .. ": error without its leading term", { value = rest, limit = error / 10 })
  end
end

local function steps(world, seconds)
  for step in world:run { steps = math.floor(seconds / world.dt + 0.5) } do
    assert(step.converged)
  end
end

-- ---------------------------------------------------------------------------------------------------- in flight
-- x_n = x_0 + v_0 t + g dt^2 (n (n - 1)/2 + n theta_vq) of schemes that take gravity as it is: exact, but for round-off.
for integrator, shift in pairs { explicit_euler = 0, symplectic_euler = 1, implicit_euler = 1, midpoint = 0.5 } do
  local world <close> = stn.world { dt = 0.01, gravity = { 0.5, 0, -9.81 }, integrator = integrator }
  local box = world:box { size = { 0.1, 0.2, 0.3 }, mass = 2, velocity = { 1, 2, 3 } }
  steps(world, 1)
  local fallen, at = 0.01 ^ 2 * (100 * 99 / 2 + 100 * shift), box:position()
  for axis, exact in ipairs { 1 + 0.5 * fallen, 2, 3 - 9.81 * fallen } do
    stn.near(at[axis], exact, 1e-13 * 100, integrator .. ": place in flight") -- a hundred roundings
  end
end

-- ---------------------------------------------------------------------------------------- a free body that tumbles
-- I = (0.1, 0.2, 0.3), about the axis of the largest moment; Jacobi's solution of Euler's equations.

-- sn, cn and dn of u by the arithmetic-geometric mean.
local function jacobi(u, m)
  local a, c, n, b = { [0] = 1 }, { [0] = math.sqrt(m) }, 0, math.sqrt(1 - m)
  while math.abs(c[n]) > 1e-17 do
    n = n + 1
    a[n], c[n], b = (a[n - 1] + b) / 2, (a[n - 1] - b) / 2, math.sqrt(a[n - 1] * b)
  end
  local phi = 2 ^ n * a[n] * u
  for k = n, 1, -1 do phi = (phi + math.asin(c[k] / a[k] * math.sin(phi))) / 2 end
  return math.sin(phi), math.cos(phi), math.sqrt(1 - m * math.sin(phi) ^ 2)
end

local I, start = { 0.1, 0.2, 0.3 }, { 4, 0, 3 } -- rates in body axes: that of the middle axis begins at 0
local energy, square = 0, 0                     -- twice the kinetic energy, the square of the angular momentum
for k = 1, 3 do energy, square = energy + I[k] * start[k] ^ 2, square + (I[k] * start[k]) ^ 2 end
assert(square > energy * I[2])

local function rates(t)
  local fast = math.sqrt((I[3] - I[2]) * (square - energy * I[1]) / (I[1] * I[2] * I[3]))
  local m = (I[2] - I[1]) * (energy * I[3] - square) / ((I[3] - I[2]) * (square - energy * I[1]))
  local sn, cn, dn = jacobi(fast * t, m)
  return math.sqrt((energy * I[3] - square) / (I[1] * (I[3] - I[1]))) * cn, math.sqrt((energy * I[3] - square) / (I[2] * (I[3] - I[2]))) * sn,
    math.sqrt((square - energy * I[1]) / (I[3] * (I[3] - I[1]))) * dn
end

-- How far the third axis has gone round the angular momentum, by Simpson's rule.
local function precession(T)
  local function speed(t)
    local x, y = rates(t)
    return math.sqrt(square) * (I[1] * x * x + I[2] * y * y) / (I[1] ^ 2 * x * x + I[2] ^ 2 * y * y)
  end
  local n, sum = 2000, speed(0) + speed(T)
  for k = 1, n - 1 do sum = sum + (k % 2 == 1 and 4 or 2) * speed(k * T / n) end
  return sum * T / (3 * n)
end

local T = 1.5
local x, y, z = rates(T)
local turn = precession(T)
follows("a body that tumbles", { x, y, z, math.cos(turn), math.sin(turn) }, { symplectic_euler = 1e-3, midpoint = 4e-3, implicit_euler = 2.5e-4 },
  function(integrator, dt)
    local world <close> = stn.world { dt = dt, gravity = { 0, 0, 0 }, integrator = integrator }
    local top = load_text(world, ".urdf", [[<robot name="top"><link name="body"><inertial><mass value="1"/>
      <inertia ixx="0.1" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>]])
    top:set_velocity { linear = { 0, 0, 0 }, angular = start }
    local L = { I[1] * start[1] / math.sqrt(square), 0, I[3] * start[3] / math.sqrt(square) } -- its direction, which stays
    -- the third axis at the start is (0, 0, 1); across L, towards it and to its left
    local across = { -L[1] * L[3], 0, 1 - L[3] * L[3] }
    local length = math.sqrt(across[1] ^ 2 + across[3] ^ 2)
    across[1], across[3] = across[1] / length, across[3] / length
    local left = { L[2] * across[3] - L[3] * across[2], L[3] * across[1] - L[1] * across[3], L[1] * across[2] - L[2] * across[1] }
    steps(world, T)
    local pose = top:pose()
    local w, axis = pose:inverse():rotate(top:velocity().angular), pose:rotate { 0, 0, 1 }
    local a = axis[1] * across[1] + axis[2] * across[2] + axis[3] * across[3]
    local b = axis[1] * left[1] + axis[2] * left[2] + axis[3] * left[3]
    local size = math.sqrt(a * a + b * b)
    return { w[1], w[2], w[3], a / size, b / size }
  end)

-- ------------------------------------------------------------------------------------------------------ a pendulum
-- T = 2 pi sqrt(I/(m g l))/agm(1, cos(a/2)) from the amplitude a.
local function pendulum_text(l)
  return ([[<robot name="pendulum"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 %g"/><mass value="1.5"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="pivot" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>]]):format(-l)
end

for _, degrees in ipairs { 10, 90, 150, 175 } do
  local a, b = 1, math.cos(degrees * stn.deg / 2)
  for _ = 1, 10 do a, b = (a + b) / 2, math.sqrt(a * b) end
  local period = 2 * math.pi * math.sqrt((0.02 + 1.5 * 0.4 ^ 2) / (1.5 * 9.81 * 0.4)) / a
  -- what implicit Euler damps is no longer small against the time at the top from 175 deg, and hides the order at 10 deg
  local implicit_euler = degrees >= 90 and degrees <= 150 and 5e-4 or nil
  follows(("a pendulum from %g deg"):format(degrees), { 0.75 * period }, { midpoint = 4e-3, symplectic_euler = 5e-4, implicit_euler = implicit_euler },
    function(integrator, dt)
      local world <close> = stn.world { dt = dt, integrator = integrator }
      local pivot = load_text(world, ".urdf", pendulum_text(0.4), { fixed = true, joints = { pivot = degrees * stn.deg } }):joint "pivot"
      local before = 1
      for step in world:run { steps = math.floor(1.5 * period / dt) } do -- the second passage of the bottom, where nothing accelerates
        local now = pivot:position()
        if before < 0 and now >= 0 then
          return { step.time - dt * now / (now - before) }
        end
        before = now
      end
    end)
end

-- --------------------------------------------------------------------------------------- a chain of seven pendulums
-- Point masses m_k on rods l_k; in the angles t to the vertical, with n_ij the mass beyond max(i, j),
--   sum_j n_ij l_i l_j cos(t_i - t_j) t_j'' = -sum_j n_ij l_i l_j sin(t_i - t_j) t_j'^2 - g l_i n_ii sin(t_i)
local masses, lengths = { 1, 0.7, 0.5, 0.4, 0.6, 0.3, 0.2 }, { 0.5, 0.4, 0.3, 0.35, 0.25, 0.3, 0.2 }
local count, g = #masses, 9.81

local function accelerations(t, w)
  local A, b = {}, {}
  for i = 1, count do
    A[i], b[i] = {}, 0
    for j = 1, count do
      local beyond = 0
      for k = math.max(i, j), count do beyond = beyond + masses[k] end
      local n = beyond * lengths[i] * lengths[j]
      A[i][j] = n * math.cos(t[i] - t[j])
      b[i] = b[i] - n * math.sin(t[i] - t[j]) * w[j] ^ 2 - (i == j and g * lengths[i] * beyond * math.sin(t[i]) or 0)
    end
  end
  for k = 1, count do -- Gauss; positive definite
    for i = k + 1, count do
      local f = A[i][k] / A[k][k]
      for j = k, count do A[i][j] = A[i][j] - f * A[k][j] end
      b[i] = b[i] - f * b[k]
    end
  end
  for k = count, 1, -1 do
    for j = k + 1, count do b[k] = b[k] - A[k][j] * b[j] end
    b[k] = b[k] / A[k][k]
  end
  return b
end

-- The rule of order 4, `n` steps in T.
local function integrate(t, w, T, n)
  local h = T / n
  local function moved(x, k, s)
    local out = {}
    for i = 1, count do out[i] = x[i] + s * k[i] end
    return out
  end
  for _ = 1, n do
    local a1 = accelerations(t, w)
    local w2 = moved(w, a1, h / 2)
    local a2 = accelerations(moved(t, w, h / 2), w2)
    local w3 = moved(w, a2, h / 2)
    local a3 = accelerations(moved(t, w2, h / 2), w3)
    local w4 = moved(w, a3, h)
    local a4 = accelerations(moved(t, w3, h), w4)
    for i = 1, count do
      t[i] = t[i] + h / 6 * (w[i] + 2 * w2[i] + 2 * w3[i] + w4[i])
      w[i] = w[i] + h / 6 * (a1[i] + 2 * a2[i] + 2 * a3[i] + a4[i])
    end
  end
  return t, w
end

local text, begin, names = { [[<robot name="chain"><link name="l0"/>]] }, {}, {}
for k = 1, count do
  text[#text + 1] = ([[<link name="l%d"><inertial><origin xyz="0 0 %g"/><mass value="%g"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>
    </inertial></link><joint name="j%d" type="continuous"><parent link="l%d"/><child link="l%d"/><origin xyz="0 0 %g"/><axis xyz="0 1 0"/></joint>]]):format(
    k, -lengths[k], masses[k], k, k - 1, k, k > 1 and -lengths[k - 1] or 0)
  begin[("j%d"):format(k)], names[k] = k == 1 and 1.2 or 0.1 * (-1) ^ k, ("j%d"):format(k)
end
text = table.concat(text) .. "</robot>"
local angles, still, sum = {}, {}, 0
for k = 1, count do
  sum = sum + begin[names[k]]
  angles[k], still[k] = sum, 0
end
local seconds = 0.6
local t, w = integrate({ table.unpack(angles) }, { table.unpack(still) }, seconds, 1200)
local rough = integrate({ table.unpack(angles) }, { table.unpack(still) }, seconds, 600)
stn.check("the chain's own integration is exact enough", { value = largest_difference(rough, t), limit = 1e-8 })
local exact = {}
for k = 1, count do exact[k], exact[count + k] = t[k], w[k] end
follows("a chain of seven", exact, { midpoint = 1e-3, symplectic_euler = 5e-5, implicit_euler = 5e-5 }, function(integrator, dt)
  local world <close> = stn.world { dt = dt, integrator = integrator }
  local robot = load_text(world, ".urdf", text, { fixed = true, joints = begin })
  steps(world, seconds)
  local q, v, found = 0, 0, {}
  for k = 1, count do
    q, v = q + robot:joint(names[k]):position(), v + robot:joint(names[k]):velocity()
    found[k], found[count + k] = q, v
  end
  return found
end)
