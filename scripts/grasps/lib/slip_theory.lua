-- SPDX-License-Identifier: Apache-2.0
-- How fast a law says that sticking contacts creep. All contacts of a grasp slip alike, at the speed v that solves
--
--   sum of gamma_t,i(v) = dt load,    gamma_n = dt normal force                                            impulses [N s]
--   sap                 gamma_t = min(v/(sigma w), mu gamma_n)                                     [castro-2022] S(28), S(30)
--   lagged and others   gamma_t = mu gamma_n v/sqrt(v^2 + e^2),   e = v_s                          [castro-2023]
--   lagged_regularized  the same, e = max(v_s, sigma w mu gamma_n)                                 [castro-2023] F(44)
--
-- with w = |W_ii|_F/3 of the contact's own 3x3 block of the inverse mass, which this file computes afresh from mass matrices
-- and Jacobians. Hence v = sigma w dt load/n of n equal contacts under sap, v = e r/sqrt(1 - r^2), r = load/(mu normal force), under
-- the others. Solvers of exact friction, and true stiction, creep not at all.
local theory = {}

-- x with M x = b, M symmetric and positive definite (Gauss, no pivoting).
local function solve(M, b)
  local n, A, x = #b, {}, { table.unpack(b) }
  for i = 1, n do A[i] = { table.unpack(M[i]) } end
  for k = 1, n do
    for i = k + 1, n do
      local factor = A[i][k] / A[k][k]
      for j = k, n do A[i][j] = A[i][j] - factor * A[k][j] end
      x[i] = x[i] - factor * x[k]
    end
  end
  for i = n, 1, -1 do
    for j = i + 1, n do x[i] = x[i] - A[i][j] * x[j] end
    x[i] = x[i] / A[i][i]
  end
  return x
end

-- Adds J M^-1 J^T of one side of a contact to W. `added` is what implicit gains add to the diagonal of M, by robot.
local function add_side(W, world, robot_name, link_name, point, added)
  local robot = world:group(robot_name)
  if #robot:v() == 0 then
    return
  end
  local J, M = robot:link(link_name):jacobian(point), robot:mass_matrix()
  for i, inertia in ipairs(added[robot_name] or {}) do
    M[i][i] = M[i][i] + inertia
  end
  for row = 1, 3 do
    local x = solve(M, J[row])
    for column = 1, 3 do
      for k = 1, #x do W[row][column] = W[row][column] + J[column][k] * x[k] end
    end
  end
end

--- |W_ii|_F/3 of a contact [1/kg]. It does not depend on the axes in which W is written.
function theory.inverse_mass(world, contact, added)
  local W, sum = { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }, 0
  add_side(W, world, contact.a, contact.link_a, contact.point, added)
  add_side(W, world, contact.b, contact.link_b, contact.point, added)
  for row = 1, 3 do
    for column = 1, 3 do sum = sum + W[row][column] ^ 2 end
  end
  return math.sqrt(sum) / 3
end

-- Friction of a law, as a function of contact and slip; nil: this file does not know that law.
local function friction_of(law)
  local sigma, v_s = law.sigma, law.stiction_tolerance
  if law[1] == "sap" then
    return function(contact, v) return math.min(v / (sigma * contact.w), contact.limit) end
  elseif v_s then
    return function(contact, v)
      local e = math.max(v_s, (sigma or 0) * contact.w * contact.limit)
      return contact.limit * v / math.sqrt(v * v + e * e)
    end
  end
end

-- v with sum of friction(v) = impulse, by bisection; infinite when all of them together cannot hold it.
local function speed(friction, contacts, impulse)
  local function short(v)
    local sum = 0
    for _, contact in ipairs(contacts) do sum = sum + friction(contact, v) end
    return sum < impulse
  end
  local low, high = 0, 1e-12
  while short(high) do
    low, high = high, 2 * high
    if high > 1e3 then return math.huge end
  end
  for _ = 1, 60 do
    local middle = (low + high) / 2
    if short(middle) then low = middle else high = middle end
  end
  return high
end

--- Creep [m/s] of a world's contacts that carry `loads` [N] one after the other: the mean. `contacts`: those of a step. nil: not known.
function theory.creep(world, contacts, loads, added)
  local law = world:plugin "law"
  if not law then
    return 0 -- the solver has exact friction
  end
  local friction, loaded = friction_of(law), {}
  if not friction then
    return nil
  end
  for _, contact in ipairs(contacts) do
    if contact.normal_impulse > 0 then
      loaded[#loaded + 1] = { w = theory.inverse_mass(world, contact, added), limit = contact.mu * contact.normal_impulse }
    end
  end
  local sum = 0
  for _, load in ipairs(loads) do
    sum = sum + speed(friction, loaded, world.dt * load)
  end
  return sum / #loads
end

return theory
