-- SPDX-License-Identifier: Apache-2.0
-- Derivative-free optimisers of plans: CEM, the cross-entropy method [rubinstein-2004], and MPPI, model predictive path integral
-- control [williams-2017]. A plan is a flat list, one control after the other. Neither knows what a plan costs: a function tells
-- them, such as that of a rollout:
--
--   local planner = planners.mppi { horizon = 30, controls = 1, samples = 64, sigma = 2, temperature = 1, seed = 7 }
--   local plan = planner:improve(function(plans) return rollout:run(plans) end)
--
-- Numbers at random come from a generator of the planner's own: one seed, one sequence of plans, whatever else is drawn, and
-- however many threads find the costs.
local planners = {}

-- ------------------------------------------------------------------------------------------------------------ at random

-- splitmix64 (Steele, Lea, Flood 2014): uniform numbers in (0, 1).
local function uniform_numbers(seed)
  local state = seed
  return function()
    state = state + 0x9E3779B97F4A7C15
    local z = state
    z = (z ~ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ~ (z >> 27)) * 0x94D049BB133111EB
    z = z ~ (z >> 31)
    return ((z >> 11) + 0.5) * 0x1p-53
  end
end

-- Normal numbers, mean 0 and variance 1, by Box and Muller.
local function normal_numbers(seed)
  local uniform, spare = uniform_numbers(seed), nil
  return function()
    if spare then
      local value = spare
      spare = nil
      return value
    end
    local radius, angle = math.sqrt(-2 * math.log(uniform())), 2 * math.pi * uniform()
    spare = radius * math.sin(angle)
    return radius * math.cos(angle)
  end
end

-- ----------------------------------------------------------------------------------------------------------- arguments

local function fail(text, ...) error("planners: " .. text:format(...), 0) end

local function number(o, key, default, low, high)
  local value = o[key]
  if value == nil then value = default end
  if math.type(value) == nil then fail("%s must be a number, got %s", key, value == nil and "nothing" or tostring(value)) end
  if not (value >= low and value <= high) then fail("%s = %g must be %g to %g", key, value, low, high) end
  return value
end

local function integer(o, key, default, low)
  local value = number(o, key, default, low, 1e7)
  return math.tointeger(value) or fail("%s = %g must be a whole number", key, value)
end

-- One number for each of the controls, from one for all or a list.
local function each(o, key, default, controls)
  local value = o[key]
  if value == nil then value = default end
  local list = {}
  for k = 1, controls do
    local entry = value
    if type(value) == "table" then entry = value[k] end
    if math.type(entry) == nil or entry ~= entry then fail("%s must be a number or a list of %d, got %s", key, controls, tostring(entry)) end
    list[k] = entry
  end
  if type(value) == "table" and #value ~= controls then fail("%s has %d numbers for %d controls", key, #value, controls) end
  return list
end

local shared_keys = { horizon = true, controls = true, samples = true, sigma = true, lower = true, upper = true, plan = true, seed = true }

local function check_keys(o, more)
  if type(o) ~= "table" then fail("a table of options is needed, got %s", type(o)) end
  for key in pairs(o) do
    if not shared_keys[key] and not more[key] then fail("there is no option '%s'", tostring(key)) end
  end
end

-- ------------------------------------------------------------------------------------------------------ what both have

local planner = {}
planner.__index = planner

local function make(o, class)
  local self = setmetatable({}, class)
  self.horizon, self.controls = integer(o, "horizon", nil, 1), integer(o, "controls", 1, 1)
  self.samples = integer(o, "samples", 64, 2)
  self.numbers = self.horizon * self.controls
  self.sigma = each(o, "sigma", 1, self.controls)
  self.lower, self.upper = each(o, "lower", -math.huge, self.controls), each(o, "upper", math.huge, self.controls)
  for k = 1, self.controls do
    if self.sigma[k] < 0 then fail("sigma = %g must be >= 0", self.sigma[k]) end
    if self.lower[k] > self.upper[k] then fail("lower = %g is above upper = %g", self.lower[k], self.upper[k]) end
  end
  self.normal = normal_numbers(integer(o, "seed", 1, -1e7))
  self.plan, self.plans = {}, {}
  for i = 1, self.samples do self.plans[i] = {} end
  self:set_plan(o.plan or 0)
  return self
end

-- Within the bounds of its control.
function planner:clamp(value, control)
  return value < self.lower[control] and self.lower[control] or value > self.upper[control] and self.upper[control] or value
end

--- Begins anew from a plan: all of its numbers, those of one control, or one number for all.
function planner:set_plan(plan)
  local whole = type(plan) == "table" and #plan == self.numbers
  local control = whole and plan or each({ plan = plan }, "plan", 0, self.controls)
  for i = 1, self.numbers do
    local k = (i - 1) % self.controls + 1
    local value = whole and plan[i] or control[k]
    if math.type(value) == nil or value ~= value then fail("plan[%d] must be a number, got %s", i, tostring(value)) end
    self.plan[i] = self:clamp(value, k)
  end
end

--- The control of one interval, the first unless told, as a list.
function planner:control(interval)
  local start = ((interval or 1) - 1) * self.controls
  return table.move(self.plan, start + 1, start + self.controls, 1, {})
end

-- A list over intervals goes on by so many; the last control stays.
local function shift_list(list, by, numbers, controls)
  for i = 1, numbers do
    local from = i + by * controls
    list[i] = from <= numbers and list[from] or list[numbers - controls + (i - 1) % controls + 1]
  end
end

--- Time has gone on by so many intervals (1): the plan begins later, and its last control is held.
function planner:shift(intervals)
  local by = integer({ by = intervals }, "by", 1, 0)
  for _ = 1, math.min(by, self.horizon) do shift_list(self.plan, 1, self.numbers, self.controls) end
end

-- Costs of self.plans, checked; the number of finite ones and the least one's place.
local function evaluate(self, cost)
  local costs = cost(self.plans)
  if type(costs) ~= "table" or #costs ~= self.samples then
    fail("%d costs are needed, got %s", self.samples, type(costs) == "table" and #costs or type(costs))
  end
  local finite, best = 0, 1
  for i, value in ipairs(costs) do
    if math.type(value) == nil or value ~= value then fail("the cost of plan %d is %s", i, tostring(value)) end
    finite = finite + (math.abs(value) < math.huge and 1 or 0)
    best = value < costs[best] and i or best
  end
  return costs, finite, best
end

-- ---------------------------------------------------------------------------------------------------------------- MPPI

local mppi = setmetatable({}, { __index = planner })
mppi.__index = mppi

--- options: horizon, controls, samples, sigma, lower, upper, plan, seed; temperature: costs that are further above the least one
--- weigh less by e for each; correlation: of the noise of one control with that of the control before, 0 to < 1.
function planners.mppi(options)
  check_keys(options, { temperature = true, correlation = true })
  local self = make(options, mppi)
  self.temperature = number(options, "temperature", 1, 1e-300, math.huge)
  self.correlation = number(options, "correlation", 0, 0, 1 - 1e-9)
  return self
end

-- The plan itself, and samples around it.
local function draw_around(self)
  local controls, lower, upper, plan, normal = self.controls, self.lower, self.upper, self.plan, self.normal
  local keep = self.correlation
  local fresh = math.sqrt(1 - keep * keep)
  table.move(plan, 1, self.numbers, 1, self.plans[1])
  for s = 2, self.samples do
    local sample = self.plans[s]
    for k = 1, controls do
      local sigma, low, high, noise = self.sigma[k], lower[k], upper[k], normal()
      for i = k, self.numbers, controls do
        local value = plan[i] + sigma * noise
        sample[i] = value < low and low or value > high and high or value
        noise = keep * noise + fresh * normal()
      end
    end
  end
end

--- One iteration: the plan becomes the mean of samples around it, weighted by exp(-cost / temperature). cost(plans) returns
--- a list, math.huge for what failed; where all failed the plan stays. Returns the plan, the least cost of a sample, and how many failed.
function mppi:improve(cost)
  draw_around(self)
  local costs, finite, best = evaluate(self, cost)
  if finite == 0 then return self.plan, math.huge, self.samples end
  local sum, mean = 0, {}
  for i = 1, self.numbers do mean[i] = 0 end
  for s, value in ipairs(costs) do
    local weight = math.exp((costs[best] - value) / self.temperature)
    if weight > 0 then
      local sample = self.plans[s]
      sum = sum + weight
      for i = 1, self.numbers do mean[i] = mean[i] + weight * sample[i] end
    end
  end
  for i = 1, self.numbers do self.plan[i] = mean[i] / sum end
  return self.plan, costs[best], self.samples - finite
end

-- ----------------------------------------------------------------------------------------------------------------- CEM

local cem = setmetatable({}, { __index = planner })
cem.__index = cem

--- options: horizon, controls, samples, sigma (at the start), lower, upper, plan, seed; elites: the share of samples whose mean and
--- deviation the next ones have; smoothing: what is kept of the old ones, 0 to < 1; least_sigma: it shrinks no further.
function planners.cem(options)
  check_keys(options, { elites = true, smoothing = true, least_sigma = true })
  local self = make(options, cem)
  self.elites = math.max(1, math.floor(number(options, "elites", 0.2, 0, 1) * self.samples + 0.5))
  self.smoothing = number(options, "smoothing", 0.3, 0, 1 - 1e-9)
  self.least_sigma = each(options, "least_sigma", 0, self.controls)
  self:widen()
  return self
end

--- Samples are drawn with the deviation of the start again.
function cem:widen()
  self.deviation = {}
  for i = 1, self.numbers do self.deviation[i] = self.sigma[(i - 1) % self.controls + 1] end
end

--- As all planners, and deviations likewise: those of the new control are those of the start.
function cem:shift(intervals)
  planner.shift(self, intervals)
  local by = math.min(intervals or 1, self.horizon)
  for _ = 1, by do
    shift_list(self.deviation, 1, self.numbers, self.controls)
    for k = 1, self.controls do self.deviation[self.numbers - self.controls + k] = self.sigma[k] end
  end
end

--- One iteration: mean and deviation become those of the best samples. Otherwise as that of MPPI.
function cem:improve(cost)
  local controls, plan, deviation = self.controls, self.plan, self.deviation
  table.move(plan, 1, self.numbers, 1, self.plans[1])
  for s = 2, self.samples do
    local sample = self.plans[s]
    for i = 1, self.numbers do sample[i] = self:clamp(plan[i] + deviation[i] * self.normal(), (i - 1) % controls + 1) end
  end
  local costs, finite, best = evaluate(self, cost)
  if finite == 0 then return plan, math.huge, self.samples end
  local order = {}
  for s = 1, self.samples do order[s] = s end
  table.sort(order, function(a, b) return costs[a] < costs[b] or (costs[a] == costs[b] and a < b) end)
  local elites, keep = math.min(self.elites, finite), self.smoothing
  for i = 1, self.numbers do
    local mean, square = 0, 0
    for e = 1, elites do mean = mean + self.plans[order[e]][i] / elites end
    for e = 1, elites do square = square + (self.plans[order[e]][i] - mean) ^ 2 / elites end
    plan[i] = keep * plan[i] + (1 - keep) * mean
    deviation[i] = math.max(self.least_sigma[(i - 1) % controls + 1], keep * deviation[i] + (1 - keep) * math.sqrt(square))
  end
  return plan, costs[best], self.samples - finite
end

return planners
