-- SPDX-License-Identifier: Apache-2.0
-- What the stages of a run cost: simulated and wall time, contacts, iterations, momentum error eps_m and defect of
-- complementarity eps_mu of the SAP paper's eqs. (32) and (33).
local stn = require "stiction"
local worse = require "worse"

local figures = {}
figures.__index = figures

function figures.new(world) return setmetatable({ world = world, stages = {} }, figures) end

local function empty(name)
  return { name = name, steps = 0, us = 0, solve_us = 0, contacts = 0, most_contacts = 0, iterations = 0, most_iterations = 0, error = 0, most_error = 0,
           times = {}, counts = {}, errors = {}, defects = {} } -- step by step
end

--- The steps from now on belong to this stage.
function figures:begin(name) self.stages[#self.stages + 1] = empty(name) end

local function count(f, steps, us, contacts, most_contacts, iterations, most_iterations, error, most_error)
  f.steps, f.us, f.contacts, f.iterations, f.error = f.steps + steps, f.us + us, f.contacts + contacts, f.iterations + iterations, f.error + error
  f.most_contacts, f.most_iterations = math.max(f.most_contacts, most_contacts), math.max(f.most_iterations, most_iterations)
  f.most_error = worse(f.most_error, most_error)
end

function figures:add(step)
  local error, f = step.certificate.momentum, self.stages[#self.stages]
  f.times[#f.times + 1], f.counts[#f.counts + 1], f.errors[#f.errors + 1] = step.time, step.contact_count, error
  f.defects[#f.defects + 1], f.solve_us = step.certificate.complementarity, f.solve_us + step.solve_us
  count(f, 1, step.step_us, step.contact_count, step.contact_count, step.iterations, step.iterations, error, error)
end

--- Sums and largest values over all stages.
function figures:total()
  local all = empty "all"
  for _, f in ipairs(self.stages) do
    count(all, f.steps, f.us, f.contacts, f.most_contacts, f.iterations, f.most_iterations, f.error, f.most_error)
    all.solve_us = all.solve_us + f.solve_us
    table.move(f.errors, 1, #f.errors, #all.errors + 1, all.errors)
    table.move(f.defects, 1, #f.defects, #all.defects + 1, all.defects)
  end
  return all
end

--- Prints a line for each stage and tells the whole as results.
function figures:report()
  local all, lines = self:total(), { table.unpack(self.stages) }
  lines[#lines + 1] = all
  print(("%-16s %8s %8s %9s %6s %11s %5s %9s %9s"):format("", "t [s]", "wall [s]", "contacts", "most", "iterations", "most", "eps_m", "most"))
  for _, f in ipairs(lines) do
    local n = math.max(f.steps, 1)
    print(("%-16s %8.2f %8.3f %9.1f %6d %11.2f %5d %9.1e %9.1e"):format(f.name, f.steps * self.world.dt, f.us * 1e-6, f.contacts / n, f.most_contacts, f.iterations / n, f.most_iterations, f.error / n, f.most_error))
  end
  local n = math.max(all.steps, 1)
  stn.result("simulated_s", all.steps * self.world.dt, "s")
  stn.result("real_time_factor", all.steps * self.world.dt / (all.us * 1e-6), "1")
  stn.result("contacts_mean", all.contacts / n, "1")
  stn.result("contacts_max", all.most_contacts, "1")
  stn.result("iterations_mean", all.iterations / n, "1")
  stn.result("iterations_max", all.most_iterations, "1")
  stn.result("momentum_error_mean", all.error / n, "1")
  stn.result("momentum_error_max", all.most_error, "1")
end

return figures
