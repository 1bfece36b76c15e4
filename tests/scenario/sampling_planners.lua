-- SPDX-License-Identifier: Apache-2.0
-- lib/planners.lua: CEM and MPPI find optima that are known in closed form; seeds, bounds, shifts, plans that fail.
local stn = require "stiction"
local load_text = require "robot_text"
local planners = require "planners"

local function refuses(text, action) stn.fails(action, text) end

local function squares(target, weight)
  return function(plans)
    local costs = {}
    for s, plan in ipairs(plans) do
      costs[s] = 0
      for i, x in ipairs(plan) do costs[s] = costs[s] + (weight and weight[i] or 1) * (x - target[i]) ^ 2 end
    end
    return costs
  end
end

local target, weight = { 1, -2, 0.5, 3, -1, 0.2 }, { 1, 2, 5, 0.5, 1, 3 }
local kinds = {
  cem = { horizon = 3, controls = 2, samples = 60, sigma = 2, seed = 4 },
  mppi = { horizon = 3, controls = 2, samples = 200, sigma = 0.5, temperature = 0.02, seed = 4 },
}
local off = { cem = 1e-3, mppi = 0.2 } -- MPPI does not shrink its noise

for name, options in pairs(kinds) do
  local function make(more)
    local o = {}
    for key, value in pairs(options) do o[key] = value end
    for key, value in pairs(more or {}) do o[key] = value end
    return planners[name](o)
  end

  stn.test(name .. ": the least of a sum of squares", function()
    local planner = make()
    local cost, first
    for k = 1, 80 do
      local plan, least, failed = planner:improve(squares(target, weight))
      first, cost = first or least, least
      assert(plan == planner.plan and failed == 0, k)
    end
    assert(cost < 1e-3 * first or name == "mppi" and cost < 0.05 * first)
    for i, x in ipairs(target) do stn.near(planner.plan[i], x, off[name], "plan " .. i) end
    assert(planner:control()[2] == planner.plan[2] and planner:control(3)[1] == planner.plan[5])
  end)

  stn.test(name .. ": one seed, one sequence of plans", function()
    local a, b, other = make(), make(), make { seed = 5 }
    for _ = 1, 5 do
      a:improve(squares(target))
      math.random() -- another one's numbers
      b:improve(squares(target))
      other:improve(squares(target))
    end
    local same = true
    for i = 1, 6 do
      assert(a.plan[i] == b.plan[i])
      same = same and a.plan[i] == other.plan[i]
    end
    assert(not same)
  end)

  stn.test(name .. ": bounds hold for every plan that is tried", function()
    local planner = make { lower = { -1.5, -1 }, upper = { 0.8, 1 } }
    for _ = 1, 60 do
      planner:improve(function(plans)
        for _, plan in ipairs(plans) do
          for i, x in ipairs(plan) do
            local k = (i - 1) % 2 + 1
            assert(x >= ({ -1.5, -1 })[k] and x <= ({ 0.8, 1 })[k])
          end
        end
        return squares(target)(plans)
      end)
    end
    for i, x in ipairs { 0.8, -1, 0.5, 1, -1, 0.2 } do stn.near(planner.plan[i], x, math.max(0.01, 1.5 * off[name]), "plan " .. i) end
  end)

  stn.test(name .. ": shifts, plans of the start", function()
    local planner = make { plan = { 1, 2, 3, 4, 5, 6 } }
    planner:shift()
    for i, x in ipairs { 3, 4, 5, 6, 5, 6 } do assert(planner.plan[i] == x) end
    planner:shift(7)
    for i, x in ipairs { 5, 6, 5, 6, 5, 6 } do assert(planner.plan[i] == x) end
    planner:set_plan { 7, 8 }
    for i, x in ipairs { 7, 8, 7, 8, 7, 8 } do assert(planner.plan[i] == x) end
    planner:set_plan(0)
    assert(planner.plan[6] == 0)
  end)

  stn.test(name .. ": plans that fail", function()
    local planner = make { plan = 1 }
    local function fails(which)
      return function(plans)
        local costs = squares(target)(plans)
        for s = 1, #costs do costs[s] = which(s) and math.huge or costs[s] end
        return costs
      end
    end
    local _, cost, failed = planner:improve(fails(function() return true end))
    assert(cost == math.huge and failed == planner.samples)
    for i = 1, 6 do assert(planner.plan[i] == 1) end
    _, cost, failed = planner:improve(fails(function(s) return s > 3 end))
    assert(cost < math.huge and failed == planner.samples - 3)
    for i = 1, 6 do assert(planner.plan[i] == planner.plan[i] and math.abs(planner.plan[i]) < 10) end
    refuses("the cost of plan 2 is", function()
      planner:improve(function(plans)
        local costs = squares(target)(plans)
        costs[2] = 0 / 0
        return costs
      end)
    end)
    refuses("costs are needed", function() planner:improve(function() return { 1 } end) end)
  end)
end

stn.test("bad options are told", function()
  refuses("horizon", function() planners.cem {} end)
  refuses("horizon = 0 must be", function() planners.cem { horizon = 0 } end)
  refuses("whole number", function() planners.mppi { horizon = 2.5 } end)
  refuses("no option 'temperature'", function() planners.cem { horizon = 2, temperature = 1 } end)
  refuses("sigma has 3 numbers for 2 controls", function() planners.mppi { horizon = 2, controls = 2, sigma = { 1, 1, 1 } } end)
  refuses("sigma = -1", function() planners.mppi { horizon = 2, sigma = -1 } end)
  refuses("lower = 2 is above", function() planners.mppi { horizon = 2, lower = 2, upper = 1 } end)
  refuses("temperature", function() planners.mppi { horizon = 2, temperature = 0 } end)
  refuses("must be a number", function() planners.mppi { horizon = 2, plan = { "a" } } end)
end)

-- ------------------------------------------------------------------------------------------ linear, with squares as costs

-- The least of the sum of x' Q x + u R u (x behind each step) over plans, by Riccati's recursion, for x' = A x + B u with one control.
local function riccati(A, B, Q, R, x, horizon)
  local n = #A
  local function times(P, y)
    local out = {}
    for i = 1, n do
      out[i] = 0
      for k = 1, n do out[i] = out[i] + P[i][k] * y[k] end
    end
    return out
  end
  local function inner(a, b)
    local sum = 0
    for i = 1, n do sum = sum + a[i] * b[i] end
    return sum
  end
  local b, columns = {}, {}
  for i = 1, n do
    b[i], columns[i] = B[i][1], {}
    for k = 1, n do columns[i][k] = A[k][i] end
  end
  local P = {} -- cost to go before the sum at this state
  for i = 1, n do
    P[i] = {}
    for k = 1, n do P[i][k] = 0 end
  end
  for _ = 1, horizon do
    local S = {}
    for i = 1, n do
      S[i] = {}
      for k = 1, n do S[i][k] = P[i][k] + (i == k and Q[i] or 0) end
    end
    local Sb, next = times(S, b), {}
    for i = 1, n do
      next[i] = {}
      for k = 1, n do next[i][k] = inner(columns[i], times(S, columns[k])) - inner(columns[i], Sb) * inner(columns[k], Sb) / (R + inner(b, Sb)) end
    end
    P = next
  end
  return inner(x, times(P, x))
end

stn.test("a linear system with quadratic cost: near the cost of Riccati's solution", function()
  local world = stn.world { dt = 0.1 }
  local robot = load_text(world, ".urdf", [[<robot name="mass"><link name="rail"/><link name="box"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="slide" type="prismatic"><parent link="rail"/><child link="box"/>
    <axis xyz="1 0 0"/><limit lower="-90" upper="90" effort="900" velocity="90"/><dynamics damping="0.3"/></joint></robot>]], { fixed = true })
  world:set_state { q = { 1.5 }, v = { -0.5 } }
  local horizon, Q, R = 20, { 1, 0.1 }, 0.02
  local A, B = world:linearize { joints = { robot:joint "slide" } }
  local least = riccati(A, B, Q, R, { 1.5, -0.5 }, horizon)
  local function rollout(samples, threads)
    return stn.rollout { world, count = samples, threads = threads, joints = { robot:joint "slide" },
      cost = { q = { weight = Q[1] }, v = { weight = Q[2] }, control = { weight = R } } }
  end
  local function cost_of(plan) return rollout(1, 1):run { plan }[1] end
  local plans = {}
  for threads = 1, 2 do
    local cem, tries = planners.cem { horizon = horizon, samples = 100, sigma = 5, seed = 2 }, rollout(100, threads)
    for _ = 1, 60 do cem:improve(function(list) return (tries:run(list)) end) end
    plans[threads] = cem.plan
  end
  for i = 1, horizon do assert(plans[1][i] == plans[2][i]) end -- whatever the threads
  local mppi, tries = planners.mppi { horizon = horizon, samples = 200, sigma = 1, temperature = 0.05, correlation = 0.5, seed = 2 }, rollout(200, 1)
  for _ = 1, 100 do mppi:improve(function(list) return (tries:run(list)) end) end
  local cem_cost, mppi_cost = cost_of(plans[1]), cost_of(mppi.plan)
  stn.result("CEM over Riccati", cem_cost / least - 1)
  stn.result("MPPI over Riccati", mppi_cost / least - 1)
  assert(cem_cost >= least * (1 - 1e-6) and cem_cost < 1.01 * least, cem_cost / least)
  assert(mppi_cost >= least * (1 - 1e-6) and mppi_cost < 1.05 * least, mppi_cost / least)
end)
