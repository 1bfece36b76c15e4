-- SPDX-License-Identifier: Apache-2.0
-- The contact problem of a step in the form of the per-contact paper [hwangbo-2018], v = W l + c, worked out here from the saved
-- problem, and how far given impulses are from Coulomb's law (6) and from maximal dissipation (8). Nothing here asks a solver.
--
--   local problem = delassus.read(world)          nil where rows are not contacts (limits of joints), or nothing touches
--   problem:error(impulses, "coulomb")            largest violation over the contacts [m/s]; impulses as world:solve_problem has them
--
-- Each contact has three rows: two tangents, then the normal. c counts from the speed that the gap allows, so that c_n + (W l)_n >= 0.
local json = require "json"

local delassus = {}
local mt = { __index = {} }

-- Lower factor of a symmetric positive definite matrix, a list of rows, and what it does to a right-hand side from the left.
local function factor(a)
  local n, l = #a, {}
  for i = 1, n do
    l[i] = {}
    for j = 1, i do
      local sum = a[i][j]
      for k = 1, j - 1 do sum = sum - l[i][k] * l[j][k] end
      l[i][j] = i == j and math.sqrt(sum) or sum / l[j][j]
    end
  end
  return l
end

local function forward(l, b)
  local x = {}
  for i = 1, #l do
    local sum = b[i]
    for k = 1, i - 1 do sum = sum - l[i][k] * x[k] end
    x[i] = sum / l[i][i]
  end
  return x
end

local function dot(a, b)
  local sum = 0
  for i = 1, #a do sum = sum + a[i] * b[i] end
  return sum
end

function delassus.read(world)
  local path = os.tmpname()
  world:save_problem(path)
  local file <close> = assert(io.open(path))
  local problem = json(file:read "a")
  os.remove(path)
  if #problem.trees ~= 1 or #problem.constraints == 0 then return nil end
  local n, values, A = problem.trees[1].A.n, problem.trees[1].A.values, {}
  for i = 1, n do A[i] = table.move(values, (i - 1) * n + 1, i * n, 1, {}) end
  local l, half, out = factor(A), {}, setmetatable({ contacts = {}, W = {}, c = {} }, mt)
  for i, constraint in ipairs(problem.constraints) do
    if constraint.kind ~= "contact" then return nil end
    out.contacts[i] = { mu = constraint.mu1, frame = constraint.frame, index = constraint.contact + 1 }
    for row = 1, 3 do
      local J = {}
      for k = 1, n do J[k] = 0 end
      for _, block in ipairs(constraint.J) do
        for k = 1, n do J[k] = J[k] + block.values[(row - 1) * n + k] end
      end
      half[#half + 1] = forward(l, J)
      local allowed = row == 3 and constraint.phi0 / (problem.dt + constraint.relaxation_time) or 0
      out.c[#out.c + 1] = dot(J, problem.v_star) + (constraint.bias and constraint.bias[row] or 0) + allowed
    end
  end
  for i, x in ipairs(half) do
    out.W[i] = {}
    for j, y in ipairs(half) do out.W[i][j] = dot(x, y) end
  end
  return out
end

--- One contact by itself, in its own frame.
function delassus.of_contact(mu, W, c)
  return setmetatable({ contacts = { { mu = mu, frame = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, index = 1 } }, W = W, c = c }, mt)
end

--- Largest speed without impulses [m/s]: what tolerances are relative to.
function mt.__index:speed()
  local most = 0
  for _, value in ipairs(self.c) do most = math.max(most, math.abs(value)) end
  return most
end

--- Is every row's entry on the diagonal at least the sum of its others?
function mt.__index:is_diagonally_dominant()
  for i, row in ipairs(self.W) do
    local others = -math.abs(row[i])
    for _, value in ipairs(row) do others = others + math.abs(value) end
    if others > row[i] then return false end
  end
  return true
end

--- mu |W_tn|/W_nn of a contact's own block: the eccentricity of the conic of its slips, by which the two laws differ.
function mt.__index:coupling(i)
  local n = 3 * i
  return self.contacts[i].mu * math.sqrt(self.W[n][n - 2] ^ 2 + self.W[n][n - 1] ^ 2) / self.W[n][n]
end

-- Violation of a law by one contact, as the nearest of its three states has it [m/s].
local function violation(law, mu, W, first, x, y, z, vx, vy, vn)
  local n = first + 2
  local Wnn, size, slip = W[n][n], math.sqrt(x * x + y * y), math.sqrt(vx * vx + vy * vy)
  local open = math.max(-vn, 0) + Wnn * math.sqrt(x * x + y * y + z * z)
  local stick = math.sqrt(slip * slip + vn * vn) + Wnn * (math.max(0, size - mu * z) + math.max(0, -z))
  if size == 0 then return math.min(open, stick), false end
  local ux, uy = x / size, y / size
  -- what v_t has to be opposed to: the friction (6), or the outward normal of the conic (8)
  local nx, ny = ux, uy
  if law == "dissipation" then
    nx, ny = ux + mu * W[n][first] / Wnn, uy + mu * W[n][first + 1] / Wnn
    local length = math.sqrt(nx * nx + ny * ny)
    nx, ny = nx / length, ny / length
  end
  local slide = math.abs(vn) + Wnn * math.abs(size - mu * z) + math.abs(vx * ny - vy * nx) + math.max(0, vx * nx + vy * ny)
  return math.min(open, stick, slide), slide < open and slide < stick
end

--- Largest violation of a law, "coulomb" (6) or "dissipation" (8), over the contacts [m/s], and the list of the contacts that slip.
function mt.__index:error(impulses, law)
  local l, slips, most = {}, {}, 0
  for i, contact in ipairs(self.contacts) do
    local f, impulse = contact.frame, impulses[contact.index]
    for a = 1, 3 do l[3 * i - 3 + a] = f[a] * impulse[1] + f[3 + a] * impulse[2] + f[6 + a] * impulse[3] end
  end
  for i, contact in ipairs(self.contacts) do
    local first, v = 3 * i - 2, {}
    for a = 0, 2 do v[a + 1] = self.c[first + a] + dot(self.W[first + a], l) end
    local off, slides = violation(law, contact.mu, self.W, first, l[first], l[first + 1], l[first + 2], v[1], v[2], v[3])
    most = off <= most and most or off -- NaN stays
    if slides then slips[#slips + 1] = i end
  end
  return most, slips
end

return delassus
