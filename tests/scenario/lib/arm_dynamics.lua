-- SPDX-License-Identifier: Apache-2.0
-- Equations of motion of a chain of hinges on a fixed base and their derivatives, apart from Stiction's own: recursive
-- Newton-Euler [featherstone-2008, 5.3] in world axes, on dual numbers a + b e with e^2 = 0, whose b is a derivative to the last digits.
local dynamics = {}

-- ------------------------------------------------------------------------------------------------------- dual numbers

local dual = {}
local function new(a, b) return setmetatable({ a, b }, dual) end
local function parts(x)
  if type(x) == "number" then return x, 0 end
  return x[1], x[2]
end
function dual.__add(x, y)
  local xa, xb = parts(x)
  local ya, yb = parts(y)
  return new(xa + ya, xb + yb)
end
function dual.__sub(x, y)
  local xa, xb = parts(x)
  local ya, yb = parts(y)
  return new(xa - ya, xb - yb)
end
function dual.__mul(x, y)
  local xa, xb = parts(x)
  local ya, yb = parts(y)
  return new(xa * ya, xa * yb + xb * ya)
end
function dual.__unm(x) return new(-x[1], -x[2]) end
local function sine(x)
  if type(x) == "number" then return math.sin(x) end
  return new(math.sin(x[1]), math.cos(x[1]) * x[2])
end
local function cosine(x)
  if type(x) == "number" then return math.cos(x) end
  return new(math.cos(x[1]), -math.sin(x[1]) * x[2])
end

--- Derivative of f(x), a list of numbers, along direction i of the list x.
function dynamics.derivative(f, x, i)
  local moved = table.move(x, 1, #x, 1, {})
  moved[i] = new(x[i], 1)
  local column = {}
  for k, value in ipairs(f(moved)) do column[k] = select(2, parts(value)) end
  return column
end

-- ------------------------------------------------------------------------------------------------------------ vectors

local function add(a, b) return { a[1] + b[1], a[2] + b[2], a[3] + b[3] } end
local function scaled(a, s) return { a[1] * s, a[2] * s, a[3] * s } end
local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end
local function cross(a, b) return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] } end
local function times(R, a) return { dot(R[1], a), dot(R[2], a), dot(R[3], a) } end
local function back(R, a) -- by the transpose
  return { R[1][1] * a[1] + R[2][1] * a[2] + R[3][1] * a[3], R[1][2] * a[1] + R[2][2] * a[2] + R[3][2] * a[3],
    R[1][3] * a[1] + R[2][3] * a[2] + R[3][3] * a[3] }
end
local function product(A, B)
  local C = {}
  for i = 1, 3 do
    C[i] = {}
    for j = 1, 3 do C[i][j] = A[i][1] * B[1][j] + A[i][2] * B[2][j] + A[i][3] * B[3][j] end
  end
  return C
end
-- About a unit axis, by Rodrigues.
local function rotation(axis, angle)
  local s, c = sine(angle), cosine(angle)
  local x, y, z = axis[1], axis[2], axis[3]
  local t = 1 - c
  if type(c) ~= "number" then t = new(1 - c[1], -c[2]) end
  return { { t * (x * x) + c, t * (x * y) - s * z, t * (x * z) + s * y }, { t * (x * y) + s * z, t * (y * y) + c, t * (y * z) - s * x },
    { t * (x * z) - s * y, t * (y * z) + s * x, t * (z * z) + c } }
end

-- -------------------------------------------------------------------------------------------------------------- chains

local function numbers(text, attribute, default)
  local found = text and text:match(attribute .. '="([^"]*)"')
  if not found then return default end
  local list = {}
  for word in found:gmatch "%S+" do list[#list + 1] = tonumber(word) end
  return #list == 1 and list[1] or list
end

--- The hinges of a URDF file that is a chain without turned frames, from the base to the tip: { offset, axis, mass, centre, inertia (3 x 3),
--- damping, reflected }.
function dynamics.read_chain(text)
  local links, chain, rotor, gear = {}, {}, {}, {}
  for name, body in text:gmatch '<link name="([^"]+)">(.-)</link>' do
    local inertial = body:match "<inertial>(.-)</inertial>"
    if inertial then
      assert(not inertial:find "rpy", name)
      local I = {}
      for _, key in ipairs { "ixx", "iyy", "izz", "ixy", "ixz", "iyz" } do I[key] = numbers(inertial, key) end
      links[name] = { mass = numbers(inertial, "mass value"), centre = numbers(inertial, "xyz", { 0, 0, 0 }),
        inertia = { { I.ixx, I.ixy, I.ixz }, { I.ixy, I.iyy, I.iyz }, { I.ixz, I.iyz, I.izz } } }
    end
  end
  for joint, body in text:gmatch '<transmission name="[^"]+"><joint name="([^"]+)"/>(.-)</transmission>' do
    rotor[joint], gear[joint] = numbers(body, "rotor_inertia value", 0), numbers(body, "gear_ratio value", 1)
  end
  for name, kind, body in text:gmatch '<joint name="([^"]+)" type="([^"]+)">(.-)</joint>' do
    if kind == "revolute" then
      assert(not body:find "rpy", name)
      local link = links[body:match '<child link="([^"]+)"']
      chain[#chain + 1] = { offset = numbers(body:match "<origin.-/>", "xyz", { 0, 0, 0 }), axis = numbers(body, "<axis xyz"), mass = link.mass, centre = link.centre,
        inertia = link.inertia, damping = numbers(body, "damping", 0), reflected = (rotor[name] or 0) * (gear[name] or 0) ^ 2 }
    end
  end
  return chain
end

--- Torques for motions of a chain: links' inertia alone, without rotors and damping. g: acceleration of free fall along z.
function dynamics.inverse(chain, q, v, a, g)
  local R = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }
  local omega, alpha, accel = { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, g } -- of a joint's origin
  local links = {}
  for i, joint in ipairs(chain) do
    local offset = times(R, joint.offset) -- the frame above
    accel = add(add(accel, cross(alpha, offset)), cross(omega, cross(omega, offset)))
    local axis = times(R, joint.axis)
    R = product(R, rotation(joint.axis, q[i]))
    alpha = add(add(alpha, scaled(axis, a[i])), cross(omega, scaled(axis, v[i])))
    omega = add(omega, scaled(axis, v[i]))
    local centre = times(R, joint.centre)
    local force = scaled(add(add(accel, cross(alpha, centre)), cross(omega, cross(omega, centre))), joint.mass)
    local momentum = times(R, times(joint.inertia, back(R, omega)))
    local torque = add(times(R, times(joint.inertia, back(R, alpha))), cross(omega, momentum))
    links[i] = { offset = offset, axis = axis, force = force, torque = add(torque, cross(centre, force)) }
  end
  local force, torque, tau = { 0, 0, 0 }, { 0, 0, 0 }, {}
  for i = #chain, 1, -1 do
    local below = links[i + 1]
    if below then torque = add(torque, cross(below.offset, force)) end
    force, torque = add(force, links[i].force), add(torque, links[i].torque)
    tau[i] = dot(links[i].axis, torque)
  end
  return tau
end

--- x with A x = b, A a list of rows, by elimination with pivots.
function dynamics.solve(A, b)
  local n, M = #b, {}
  for i = 1, n do
    M[i] = table.move(A[i], 1, n, 1, {})
    M[i][n + 1] = b[i]
  end
  for i = 1, n do
    local pivot = i
    for r = i + 1, n do
      if math.abs(M[r][i]) > math.abs(M[pivot][i]) then pivot = r end
    end
    M[i], M[pivot] = M[pivot], M[i]
    for r = i + 1, n do
      local factor = M[r][i] / M[i][i]
      for c = i, n + 1 do M[r][c] = M[r][c] - factor * M[i][c] end
    end
  end
  local x = {}
  for i = n, 1, -1 do
    local sum = M[i][n + 1]
    for c = i + 1, n do sum = sum - M[i][c] * x[c] end
    x[i] = sum / M[i][i]
  end
  return x
end

--- What a step of symplectic_euler leaves open (plugins/integrator/symplectic_euler/README.md): a function of x = (q, v, tau, v_next), zero at the
--- v_next of the step, A (v_next - v) - dt (tau - D v - g(q) - C(v, v_next)) with A = M + dt D.
function dynamics.residual(chain, dt, g)
  local n, zero = #chain, {}
  for i = 1, n do zero[i] = 0 end
  return function(x)
    local function part(k) return table.move(x, (k - 1) * n + 1, k * n, 1, {}) end
    local q, v, tau, next = part(1), part(2), part(3), part(4)
    local change, mean = {}, {}
    for i = 1, n do change[i], mean[i] = next[i] - v[i], (next[i] + v[i]) * 0.5 end
    local inertia, weight = dynamics.inverse(chain, q, zero, change, 0), dynamics.inverse(chain, q, zero, zero, g)
    local c_mean, c_v, c_next = dynamics.inverse(chain, q, mean, zero, 0), dynamics.inverse(chain, q, v, zero, 0),
      dynamics.inverse(chain, q, next, zero, 0)
    local out = {}
    for i, joint in ipairs(chain) do
      local coriolis = c_mean[i] * 2 - (c_v[i] + c_next[i]) * 0.5
      out[i] = inertia[i] + change[i] * (joint.reflected + dt * joint.damping) - (tau[i] - v[i] * joint.damping - weight[i] - coriolis) * dt
    end
    return out
  end
end

return dynamics
