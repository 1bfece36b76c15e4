-- SPDX-License-Identifier: Apache-2.0
-- Slip control (slip_control.lua) by several solvers and laws at the same accuracy: every one ends a step when its momentum error eps_m
-- is below the tolerance. Iterations, time of solver and step, the worst eps_m and natural map that the core's certificate found
-- (of the law sap; admm and apgd end with velocities that go with their impulses: eps_m is round-off then, and the natural map is what they left over),
-- the worst eps_mu of eq. (33), which is round-off for sap, and the pitch at the end. Solvers of one law pitch alike where the tolerance is 1e-5 or less.
-- The times of a step are the least of `repeats` runs, which make the same steps.
local stn = require "stiction"
local statistics = require "statistics"
local scene = require "slip_control_scene"
local worse = require "worse"

local p = scene.parameters {
  pairs = "sap:sap sap:lagged sap:similar ipm:sap admm:sap admm_split:sap apgd:sap", -- solver:law
  repeats = 3,
  table = "",               -- a CSV file
}

-- Runs the scene once more for the times of its steps.
local function time_again(solver, law, m)
  local s = scene.build(p, { solver = solver, law = law })
  local world <close> = s.world
  local k = 0
  scene.run(p, s, function(step)
    k = k + 1
    m.step_us[k], m.solve_us[k] = math.min(m.step_us[k], step.step_us), math.min(m.solve_us[k], step.solve_us)
  end)
end

local function measure(solver, law)
  local s = scene.build(p, { solver = solver, law = law })
  local world <close> = s.world
  local m = { steps = 0, iterations = 0, most = 0, worst = 0, natural = 0, speed = 0, defect = 0, unsolved = 0, step_us = {}, solve_us = {} }
  scene.run(p, s, function(step)
    m.steps, m.iterations, m.most = m.steps + 1, m.iterations + step.iterations, math.max(m.most, step.iterations)
    m.worst = worse(m.worst, step.certificate.momentum)
    m.defect = worse(m.defect, step.certificate.complementarity)
    m.natural = worse(m.natural, step.certificate.natural_ccp or 0)
    -- what the tolerance is a part of: fingers that nothing stops, and contacts that part in one step [m/s]
    m.speed = math.max(m.speed, math.max(p.tight, p.loose) * p.dt / s.fingers[1]:mass() + step.overlap_m / p.dt)
    m.unsolved = m.unsolved + (step.converged and 0 or 1)
    m.step_us[m.steps], m.solve_us[m.steps] = step.step_us, step.solve_us
  end)
  m.pitch = scene.pitch(s) / stn.deg
  for _ = 2, p.repeats do time_again(solver, law, m) end
  m.solve, m.step = statistics.mean(m.solve_us), statistics.mean(m.step_us)
  return m
end

local rows, sap, first = {}, nil, nil -- the first row, whose time the others are compared with, and the first of the law sap
io.stderr:write "solver      law      iterations  most  worst eps_m  eps_mu   natural [m/s]  unsolved  solve [us]: mean, median  over sap's  step [us]: mean, median  pitch [deg]\n"
for solver, law in p.pairs:gmatch "([%w_]+):([%w_]+)" do
  local m = measure(solver, law)
  sap, first = sap or m, first or law == "sap" and m or nil
  local natural = law == "sap" and ("%.1e"):format(m.natural) or "-"
  local median, step_median = statistics.median(m.solve_us), statistics.median(m.step_us)
  io.stderr:write(("%-11s %-8s %10.2f %5d %12.1e %8s %13s %9d %14.1f %10.1f %11.1f %14.1f %9.1f %12.2f\n"):format(solver, law, m.iterations / m.steps, m.most,
    m.worst, law == "sap" and ("%.1e"):format(m.defect) or "-", natural, m.unsolved, m.solve, median, m.solve / sap.solve, m.step, step_median, m.pitch))
  rows[#rows + 1] = ("%s,%s,%.4g,%d,%.3g,%s,%d,%.4g,%.4g,%.4g,%.4g,%.4g"):format(solver, law, m.iterations / m.steps, m.most, m.worst, natural, m.unsolved,
    m.solve, median, m.step, step_median, m.pitch)
  local name = solver .. "_" .. law
  stn.result(name .. "_iterations", m.iterations / m.steps, "1")
  stn.result(name .. "_time_over_sap", m.solve / sap.solve, "1")
  stn.result(name .. "_largest_eps_m", m.worst, "1")
  stn.result(name .. "_pitch", m.pitch, "deg")
  if law == "sap" then
    stn.result(name .. "_largest_eps_mu", m.defect, "1")
    local defects = { sap = 2 ^ -52, ipm = p.tolerance } -- others end by other measures
    if defects[solver] then stn.check(solver .. ", sap: every eps_mu", { value = m.defect, limit = defects[solver] }) end
    if p.tolerance <= 1e-5 then
      stn.check(solver .. ", sap: pitch off the first solver's", { value = math.abs(m.pitch - first.pitch), limit = 0.1, unit = "deg" })
    end
  end
  stn.check(solver .. ", " .. law .. ": every eps_m below eps_r", { value = m.worst, limit = p.tolerance })
  stn.check(solver .. ", " .. law .. ": steps not solved", { value = m.unsolved, limit = 0 })
  if law == "sap" then -- momentum says nothing of a solver that finds impulses
    stn.check(solver .. ", sap: natural map", { value = m.natural, limit = p.tolerance * m.speed, unit = "m/s" })
  end
end
if p.table ~= "" then
  local file = assert(io.open(p.table, "w"))
  assert(file:write("solver,law,iterations_per_step,most_iterations,worst_eps_m,worst_natural_ccp_m_per_s,unsolved,solve_mean_us,solve_median_us,step_mean_us,step_median_us,pitch_deg\n",
    table.concat(rows, "\n"), "\n"))
  assert(file:close())
end
