-- SPDX-License-Identifier: Apache-2.0
-- eps_m and eps_gamma of every step, computed once more from the saved problem, the state and the contacts' impulses:
-- S(32) and S(33) as docs/certificate.md has them. The same numbers stand in the log.
local stn = require "stiction"
local worse = require "worse"
local csv = require "csv"
local json = require "json"
local files <close> = require "files"()

-- y += s A x, row-major n x n, x and y from the tree's first dof on
local function add_product(tree, first, s, x, y)
  local n, A = tree.A.n, tree.A.values
  for i = 1, n do
    local sum = 0
    for j = 1, n do
      sum = sum + A[(i - 1) * n + j] * x[first + j]
    end
    y[first + i] = y[first + i] + s * sum
  end
end

local function zeros(n)
  local x = {}
  for i = 1, n do x[i] = 0 end
  return x
end

-- First dof of each tree, from 0; the sum of all.
local function layout(problem)
  local first, nv = {}, 0
  for t, tree in ipairs(problem.trees) do
    first[t] = nv
    nv = nv + tree.A.n
  end
  return first, nv
end

-- Impulses in the frame of each constraint: columns of its frame (row-major) are t1, t2, n.
local function impulses(problem, contacts)
  local gamma = {}
  for i, c in ipairs(problem.constraints) do
    local contact = contacts[c.contact + 1]
    gamma[i] = {}
    for a = 1, 3 do
      gamma[i][a] = c.frame[a] * contact.impulse[1] + c.frame[3 + a] * contact.impulse[2] + c.frame[6 + a] * contact.impulse[3]
    end
  end
  return gamma
end

-- visit(row, dof, J) for every entry of a constraint's Jacobian.
local function each_entry(problem, first, c, visit)
  for _, J in ipairs(c.J) do
    if J.tree and J.tree >= 0 then
      local n = problem.trees[J.tree + 1].A.n
      for a = 1, 3 do
        for d = 1, n do
          visit(a, first[J.tree + 1] + d, J.values[(a - 1) * n + d])
        end
      end
    end
  end
end

-- R and v_hat of law/sap, S(29) and S(30), from the physical data.
local function regularisation(problem, c)
  local k = c.stiffness == "inf" and math.huge or c.stiffness
  local time = problem.dt + c.relaxation_time
  local normal = math.max(c.w / (4 * math.pi ^ 2), 1 / (problem.dt * k * time))
  return { 1e-3 * c.w, 1e-3 * c.w, normal }, { 0, 0, -c.phi0 / time }
end

local function certify(problem, v, contacts)
  local first, nv = layout(problem)
  local momentum, residual, impulse, D2 = zeros(nv), zeros(nv), zeros(nv), zeros(nv)
  local gamma = impulses(problem, contacts)
  for t, tree in ipairs(problem.trees) do
    add_product(tree, first[t], 1, v, momentum)
    add_product(tree, first[t], 1, v, residual)
    add_product(tree, first[t], -1, problem.v_star, residual)
    for d = 1, tree.A.n do
      D2[first[t] + d] = 1 / tree.A.values[(d - 1) * tree.A.n + d]
    end
  end
  local defect = 0
  for i, c in ipairs(problem.constraints) do
    local v_c = { c.bias[1], c.bias[2], c.bias[3] }
    each_entry(problem, first, c, function(a, d, J)
      v_c[a] = v_c[a] + J * v[d]
      impulse[d] = impulse[d] + J * gamma[i][a]
    end)
    local R, v_hat = regularisation(problem, c)
    local product = 0
    for a = 1, 3 do
      product = product + (v_c[a] - v_hat[a] + R[a] * gamma[i][a]) * gamma[i][a]
    end
    defect = defect + math.abs(product)
  end
  local p, j, r = 0, 0, 0
  for d = 1, nv do
    p = p + D2[d] * momentum[d] ^ 2
    j = j + D2[d] * impulse[d] ^ 2
    r = r + D2[d] * (residual[d] - impulse[d]) ^ 2
  end
  local size = math.sqrt(math.max(p, j))
  return math.sqrt(r) / size, defect / #problem.constraints, size
end

-- A stack that is pushed over: sticking, sliding and rattling contacts between two trees and with the ground.
local function make(tolerance)
  local world = stn.world { dt = 0.002, solver = { "sap", tolerance = tolerance } }
  world:ground { mu = 0.4, stiffness = 1e6 }
  local boxes = {}
  for i = 1, 3 do
    boxes[i] = world:box { size = { 0.1, 0.12, 0.1 }, mass = i, mu = 0.6, xyz = { 0.004 * i, 0, 0.1 * i - 0.051 }, stiffness = 1e6 }
  end
  for i, box in ipairs(boxes) do
    box:set_velocity { linear = { 0.8 - 0.3 * i, 0.1, 0 }, angular = { 0, 0, 0.5 * i } }
  end
  return world
end

stn.test("momentum and complementarity are those of the saved problem, in Lua and in the log", function()
  local path, log = files:path ".json", files:path ".csv"
  local world, steps = make(1e-3), {}
  world:record(log)
  for _ = 1, 60 do
    local c = world:step().certificate
    world:save_problem(path)
    local file <close> = assert(io.open(path))
    local problem = json(file:read "a")
    local momentum, defect, size = certify(problem, world:state().v, world:contacts())
    stn.near(c.momentum, momentum, 1e-12 + 1e-9 * momentum, "momentum")
    stn.near(c.complementarity_J, defect, 1e-15 * size ^ 2, "mean complementarity defect")
    stn.near(c.complementarity, defect / (size ^ 2 / 2), 1e-14, "complementarity")
    steps[#steps + 1] = { momentum = c.momentum, complementarity = c.complementarity }
  end
  world:close_recordings()
  local worst = 0
  for _, step in ipairs(steps) do worst = worse(worst, step.momentum) end
  assert(worst > 1e-6, "errors are too small to tell anything: " .. worst)

  local rows = csv.read(log)
  assert(#rows == 61)
  for i, step in ipairs(steps) do
    for name, value in pairs(step) do
      assert(rows[i + 1][name] == value, ("%s of step %d: %s"):format(name, i, rows[i + 1][name]))
    end
  end
end)
