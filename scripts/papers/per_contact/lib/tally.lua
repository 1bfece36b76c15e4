-- SPDX-License-Identifier: Apache-2.0
-- What is counted over the steps of a task: time, iterations, contacts, how deep these are in the ground.
local tally = {}

local mt = { __index = {} }

function tally.new()
  return setmetatable({ steps = 0, contacts = 0, touching = 0, unsolved = 0, solved_iterations = 0, iterations = {}, deepest = 0,
    depth = 0, depths = 0, widest = 0, whole = {}, solver = {} }, mt)
end

--- How deep what touches is in the ground at the step's start, on average over contacts [m]; below 0: above. NaN without any.
function tally.depth(step)
  local sum, contacts = 0, step:contacts()
  for _, contact in ipairs(contacts) do sum = sum - contact.distance end
  return sum / #contacts
end

--- After each step; iterations count where there are contacts.
function mt.__index:add(step)
  self.steps = self.steps + 1
  self.whole[self.steps], self.solver[self.steps] = step.step_us, step.solve_us
  self.deepest = math.max(self.deepest, step.certificate.penetration_m or 0)
  local contacts = step.contact_count
  if contacts > 0 then
    local n = step.iterations
    self.contacts, self.touching, self.widest = self.contacts + contacts, self.touching + 1, math.max(self.widest, contacts)
    self.iterations[n] = (self.iterations[n] or 0) + 1
    if step.converged then
      self.solved_iterations = self.solved_iterations + n
    else
      self.unsolved = self.unsolved + 1
    end
    if step.index % 10 == 0 then
      self.depth, self.depths = self.depth + tally.depth(step), self.depths + 1
    end
  end
end

--- The same step made again, the k-th: the lesser time counts.
function mt.__index:time_again(k, step)
  self.whole[k], self.solver[k] = math.min(self.whole[k], step.step_us), math.min(self.solver[k], step.solve_us)
end

--- Iterations of steps with contacts: mean, median, 99th percentile, most.
function mt.__index:iteration_figures()
  local counts, sum = {}, 0
  for n, times in pairs(self.iterations) do
    counts[#counts + 1], sum = n, sum + n * times
  end
  table.sort(counts)
  local passed, median, p99 = 0, 0, 0
  for _, n in ipairs(counts) do
    if passed < 0.5 * self.touching then median = n end
    if passed < 0.99 * self.touching then p99 = n end
    passed = passed + self.iterations[n]
  end
  return sum / math.max(1, self.touching), median, p99, counts[#counts] or 0
end

--- Mean iterations of the steps with contacts that were solved.
function mt.__index:solved_mean()
  return self.solved_iterations / math.max(1, self.touching - self.unsolved)
end

--- Shares of steps with contacts [%] that took 0, 1, 2 to 3, 4 to 7, ... iterations: lists of the bins' lower edges and of shares.
function mt.__index:histogram()
  local edges, shares = {}, {}
  local function bin(n) return n == 0 and 1 or math.floor(math.log(n, 2) + 1e-12) + 2 end
  for n, times in pairs(self.iterations) do
    local k = bin(n)
    for i = #edges + 1, k do edges[i], shares[i] = i == 1 and 0 or 2 ^ (i - 2), 0 end
    shares[k] = shares[k] + 100 * times / self.touching
  end
  return edges, shares
end

--- Seconds per 100,000 steps: whole, solver.
function mt.__index:seconds_per_100k()
  local whole, solver = 0, 0
  for k = 1, self.steps do
    whole, solver = whole + self.whole[k], solver + self.solver[k]
  end
  return 0.1 * whole / self.steps, 0.1 * solver / self.steps
end

return tally
