-- SPDX-License-Identifier: Apache-2.0
-- Stiff differential equations y' = f(t, y) by Radau IIA of order 5 with steps chosen by its embedded error estimate: Hairer and
-- Wanner, Solving Ordinary Differential Equations II, section IV.8. For studies that want the continuous solution beside
-- what a time-stepping scheme makes of it; few unknowns, lists of numbers.
--
--   local at = radau.solve(f, y, t_end, { relative = 1e-8, absolute = 1e-12 })
--   local y = at(0.3)             -- anywhere in [0, t_end]; as exact as the steps
local radau = {}

local s6 = math.sqrt(6)
local c = { (4 - s6) / 10, (4 + s6) / 10, 1 }
local a = {
  { (88 - 7 * s6) / 360, (296 - 169 * s6) / 1800, (-2 + 3 * s6) / 225 },
  { (296 + 169 * s6) / 1800, (88 + 7 * s6) / 360, (-2 - 3 * s6) / 225 },
  { (16 - s6) / 36, (16 + s6) / 36, 1 / 9 },
}
local e = { (-13 - 7 * s6) / 3, (-13 + 7 * s6) / 3, -1 / 3 } -- of the error estimate, which also needs
local real_root = 3 + 3 ^ (2 / 3) - 3 ^ (1 / 3)              -- the real eigenvalue of A^-1

-- LU decomposition with partial pivoting, in place; returns a function that solves in place.
local function factor(matrix)
  local n, swap = #matrix, {}
  for k = 1, n do
    local best = k
    for i = k + 1, n do
      best = math.abs(matrix[i][k]) > math.abs(matrix[best][k]) and i or best
    end
    swap[k], matrix[k], matrix[best] = best, matrix[best], matrix[k]
    local top = matrix[k]
    for i = k + 1, n do
      local row = matrix[i]
      local l = row[k] / top[k]
      row[k] = l
      if l ~= 0 then
        for j = k + 1, n do row[j] = row[j] - l * top[j] end
      end
    end
  end
  return function(b)
    for k = 1, n do
      b[k], b[swap[k]] = b[swap[k]], b[k]
    end
    for i = 1, n do
      for j = 1, i - 1 do b[i] = b[i] - matrix[i][j] * b[j] end
    end
    for i = n, 1, -1 do
      for j = i + 1, n do b[i] = b[i] - matrix[i][j] * b[j] end
      b[i] = b[i] / matrix[i][i]
    end
    return b
  end
end

local function jacobian(f, t, y, f0)
  local n, J = #y, {}
  for i = 1, n do J[i] = {} end
  for j = 1, n do
    local kept = y[j]
    local h = 1e-8 * math.max(math.abs(kept), 1e-3)
    y[j] = kept + h
    local moved = f(t, y)
    h, y[j] = y[j] - kept, kept
    for i = 1, n do J[i][j] = (moved[i] - f0[i]) / h end
  end
  return J
end

-- z_i = h sum_j a_ij f(t + c_j h, y + z_j) by Newton's method; nil when it does not converge.
local function stages(f, t, y, h, J, scale)
  local n = #y
  local matrix, z = {}, {}
  for s = 1, 3 do
    for i = 1, n do
      local row = {}
      for r = 1, 3 do
        for j = 1, n do
          row[(r - 1) * n + j] = (s == r and i == j and 1 or 0) - h * a[s][r] * J[i][j]
        end
      end
      matrix[(s - 1) * n + i], z[(s - 1) * n + i] = row, 0
    end
  end
  local solve = factor(matrix)
  local before = math.huge
  for _ = 1, 10 do
    local slopes = {}
    for s = 1, 3 do
      local point = {}
      for i = 1, n do point[i] = y[i] + z[(s - 1) * n + i] end
      slopes[s] = f(t + c[s] * h, point)
    end
    local change = {}
    for s = 1, 3 do
      for i = 1, n do
        local sum = 0
        for r = 1, 3 do sum = sum + a[s][r] * slopes[r][i] end
        change[(s - 1) * n + i] = h * sum - z[(s - 1) * n + i]
      end
    end
    solve(change)
    local size = 0
    for i = 1, 3 * n do
      z[i], size = z[i] + change[i], math.max(size, math.abs(change[i]) / scale[(i - 1) % n + 1])
    end
    if size <= 1e-3 then
      return z
    end
    if not (size < 2 * before) then
      return nil
    end
    before = size
  end
  return nil
end

-- The embedded error of order 3, filtered by (real_root / h - J)^-1, in units of `scale`.
local function error_of(z, h, f0, J, scale)
  local n = #f0
  local matrix, rest = {}, {}
  for i = 1, n do
    matrix[i] = {}
    for j = 1, n do matrix[i][j] = (i == j and real_root / h or 0) - J[i][j] end
    rest[i] = f0[i] + (e[1] * z[i] + e[2] * z[n + i] + e[3] * z[2 * n + i]) / h
  end
  factor(matrix)(rest)
  local worst = 0
  for i = 1, n do worst = math.max(worst, math.abs(rest[i]) / scale[i]) end
  return worst
end

-- The solution within [0, t_end] as a function of t. It interpolates by the collocation polynomial of each step.
function radau.solve(f, y, t_end, o)
  local relative, absolute = o.relative or 1e-8, o.absolute or 1e-12
  local n, t, h = #y, 0, o.first or 1e-6 * t_end
  local steps = {}
  while t < t_end do
    h = math.min(h, t_end - t, o.largest or math.huge)
    local f0, scale = f(t, y), {}
    for i = 1, n do scale[i] = absolute + relative * math.abs(y[i]) end
    local J = jacobian(f, t, y, f0)
    local z = stages(f, t, y, h, J, scale)
    local error = z and error_of(z, h, f0, J, scale) or 1e4
    if error <= 1 then
      steps[#steps + 1] = { t = t, h = h, y = y, z = z }
      local new = {}
      for i = 1, n do new[i] = y[i] + z[2 * n + i] end
      t, y = t_end - t - h <= 1e-14 * t_end and t_end or t + h, new
    end
    assert(h > 1e-15 * t_end, "radau: the step became too small")
    h = h * math.min(4, math.max(0.2, 0.9 * math.max(error, 1e-10) ^ -0.25))
  end
  local k = 1
  return function(time)
    while k < #steps and time > steps[k].t + steps[k].h do k = k + 1 end
    while k > 1 and time < steps[k].t do k = k - 1 end
    local step, s, value = steps[k], (time - steps[k].t) / steps[k].h, {}
    for i = 1, n do -- through 0 at s = 0 and the stages at c
      local sum = 0
      for r = 1, 3 do
        local weight = s / c[r]
        for q = 1, 3 do weight = q == r and weight or weight * (s - c[q]) / (c[r] - c[q]) end
        sum = sum + weight * step.z[(r - 1) * n + i]
      end
      value[i] = step.y[i] + sum
    end
    return value
  end, #steps
end

return radau
