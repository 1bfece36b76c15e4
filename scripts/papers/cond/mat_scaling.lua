-- SPDX-License-Identifier: Apache-2.0
-- Mats of 1,000 to 100,000 nodes slide over the ground: paper COND [lee-2023], section V-D and Figure 11. Cells stay as large as they are,
-- so that the mats grow and nothing but their number changes. Prints the time of the solver and of the other parts of a step, and fits
-- lines: time = a + b dofs. A time is the least of `repeats` runs, which make the same steps. With several threads every mat is run on one thread, too: the results must be the same bytes. Run it with
-- --profile:
--     stiction run scripts/papers/cond/mat_scaling.lua --profile --set threads=2 --set plot=scaling.svg
local stn = require "stiction"
local chart = require "chart"
local figures = require "cond_figures"
local statistics = require "statistics"

local p = figures.declare {
  nodes = "1000 2000 5000 10000 20000 50000 100000",
  cell = 0.3 / 26,   -- edge of a cell [m]
  young = 7.5e4,     -- [Pa]
  mu = 0.3,
  dt = stn.number { 0.01, min = 1e-5, max = 0.1, unit = "s" },
  steps = 8,         -- of each mat; the first two are left out
  repeats = 3,
  threads = 1,
  threshold = 1e-4,  -- the paper's: an iteration changes v by less [m/s]
  plot = "",         -- an SVG file
}

--- Resident memory of this process [MB].
local function memory()
  local file = io.open "/proc/self/status"
  if not file then return 0 / 0 end
  local kB = file:read("a"):match "VmRSS:%s*(%d+)"
  file:close()
  return tonumber(kB) / 1000
end

-- Runs a mat; us[stage][k]: the least time of a stage in step k so far [us].
local function run(nodes, threads, us)
  local n = math.max(2, math.floor(math.sqrt(nodes / 2) + 0.5) - 1)
  local before = memory()
  local world <close> = stn.world { dt = p.dt, solver = figures.solver(p), law = figures.law(p), threads = threads }
  world:ground { mu = p.mu }
  local mat = world:soft { box = { n * p.cell, n * p.cell, 0.005 }, cells = { n, n, 1 }, young = p.young, poisson = 0.35, density = 1000, mu = p.mu,
    xyz = { 0, 0, 0.0026 } }
  local r = { nodes = mat.node_count, dofs = 3 * mat.node_count, contacts = 0, iterations = 0, unsolved = 0, steps = 0, stages = {} }
  for step in world:run { steps = p.steps } do
    if step.index > 2 then
      local stages = assert(step.stage_us, "run it with --profile: there are no times of stages")
      r.steps, r.iterations, r.contacts = r.steps + 1, r.iterations + step.iterations, math.max(r.contacts, step.contact_count)
      r.unsolved = r.unsolved + (step.converged and 0 or 1)
      for name, time in pairs(stages) do
        us[name] = us[name] or {}
        us[name][r.steps] = math.min(us[name][r.steps] or math.huge, time)
      end
    end
  end
  r.memory, r.hash = memory() - before, world:hash()
  return r
end

-- The figures of a mat, with the mean times of its stages [ms].
local function measure(nodes, threads)
  local us = {}
  local r = run(nodes, threads, us)
  for _ = 2, p.repeats do run(nodes, threads, us) end
  for name, times in pairs(us) do r.stages[name] = 1e-3 * statistics.mean(times) end
  return r
end

local columns = { { "solve", "solve" }, { "elements", "inputs" }, { "A", "form" }, { "collision", "collision" }, { "rows", "assembly" },
  { "certificate", "certificate" }, { "advance", "advance" } }
print("  nodes    dofs contacts  iterations   one thread    solve [ms]  elements         A  collision      rows certificate   advance   memory [MB]  unsolved")
local dofs, times = {}, {}
for _, column in ipairs(columns) do times[column[1]] = {} end
for word in p.nodes:gmatch "%d+" do
  local r = measure(tonumber(word), p.threads)
  local alone = r
  if p.threads > 1 then
    alone = measure(tonumber(word), 1)
    stn.check(("%d nodes: the same bytes on one thread"):format(r.nodes), alone.hash == r.hash)
  end
  dofs[#dofs + 1] = r.dofs
  for _, column in ipairs(columns) do
    local list = times[column[1]]
    list[#list + 1] = r.stages[column[2]]
  end
  local s = r.stages
  print(("%7d %7d %8d %11.1f %12.3f %13.3f %9.3f %9.3f %10.3f %9.3f %11.3f %9.3f %13.1f %9d"):format(r.nodes, r.dofs, r.contacts, r.iterations / r.steps,
    alone.stages.solve, s.solve, s.inputs, s.form, s.collision, s.assembly, s.certificate, s.advance, r.memory, r.unsolved))
  io.stdout:flush()
end
if #dofs > 2 then
  for _, column in ipairs(columns) do
    local slope, square = statistics.slope(dofs, times[column[1]])
    print(("%-12s %.3g ms for 1000 dofs, R squared %.5f"):format(column[1], 1e3 * slope, square))
    stn.result("r_squared_" .. column[1], square, "1")
  end
  local logs, of_solve = {}, {}
  for i, n in ipairs(dofs) do logs[i], of_solve[i] = math.log(n), math.log(times.solve[i]) end
  local power = statistics.slope(logs, of_solve)
  print(("the solver's time grows as dofs to the power of %.2f"):format(power))
  stn.result("power_solve", power, "1")
end
if p.plot ~= "" then
  local series = {}
  for _, column in ipairs(columns) do series[#series + 1] = { name = column[1], x = dofs, y = times[column[1]] } end
  chart.write(p.plot, { title = p.solver .. ": time of a step against dofs", x = { label = "dofs", log = true }, y = { label = "ms", log = true },
    series = series, legend = "beside" })
end
