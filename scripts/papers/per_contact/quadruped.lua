-- SPDX-License-Identifier: Apache-2.0
-- A quadruped as in the per-contact paper [hwangbo-2018]: one task by one method, for `seconds` of 1 ms steps.
--
--   stiction run scripts/papers/per_contact/quadruped.lua --set task=hang --set method=pgs
--   ... --set table=hang.csv --set every=10   every so many steps: where it is, how deep contacts are, iterations
--   ... --set histogram=iterations.csv        share of steps by iterations, in bins that double
--
-- Tasks: lib/tasks.lua. Iterations and unsolved steps are counted over steps with contacts.
local stn = require "stiction"
local tasks, tally = require "tasks", require "tally"

local p = tasks.parameters {
  task = stn.choice { "trot", "hang", "drop", "random" },
  method = stn.choice { "bisection", "golden", "quartic", "coulomb", "ccp", "pgs", "nsgs", "sap" },
  seconds = 20.0, -- [s]; 100 s are the paper's 100,000 steps
  table = "", every = 1,
  histogram = "",
}

local run = tasks.make(p.task, p, tasks.solver(p.method, p))
local count, upright = tally.new(), 1
local rows = p.table ~= "" and assert(io.open(p.table, "w"))
if rows then rows:write "time_s,x_m,y_m,z_m,speed_m_per_s,contact_depth_m,contacts,iterations,converged\n" end

local from -- where it is after 2 s: by then it trots
for step in tasks.run(run, p.seconds) do
  count:add(step)
  if rows and step.index % p.every == 0 then
    local at, depth = run.robot:position(), step.contact_count > 0 and ("%.6g"):format(tally.depth(step)) or ""
    rows:write(("%.6g,%.9g,%.9g,%.9g,%.6g,%s,%d,%d,%s\n"):format(step.index * p.dt, at[1], at[2], at[3], run.robot:speed(), depth,
      step.contact_count, step.iterations, step.converged))
  end
  upright = math.min(upright, run.robot:pose():rotate { 0, 0, 1 }[3])
  from = from or step.time >= 2 and { x = run.robot:position()[1], time = step.time } or nil
end
if rows then rows:close() end

local whole, solver = count:seconds_per_100k()
local mean, median, p99, most = count:iteration_figures()
local touching = math.max(1, count.touching)
stn.result("seconds_per_100k_steps", whole, "s")
stn.result("solver_seconds_per_100k_steps", solver, "s")
stn.result("mean_iterations", mean, "1")
stn.result("median_iterations", median, "1")
stn.result("p99_iterations", p99, "1")
stn.result("max_iterations", most, "1")
stn.result("mean_contacts", count.contacts / touching, "1")
stn.result("steps_with_contacts", count.touching, "1")
stn.result("unsolved_steps", count.unsolved, "1")
stn.result("deepest_overlap_m", count.deepest, "m")
stn.result("mean_contact_depth_m", count.depth / math.max(1, count.depths), "m")

if p.histogram ~= "" then
  local file = assert(io.open(p.histogram, "w"))
  file:write "iterations_from,share_percent\n"
  local edges, shares = count:histogram()
  for i, edge in ipairs(edges) do file:write(("%d,%.6g\n"):format(edge, shares[i])) end
  file:close()
end

local at = run.robot:position()
if p.task == "trot" then
  stn.check("upright to 5 degrees, cosine", { value = upright, least = math.cos(5 * stn.deg), unit = "1" })
  stn.check("keeps its line", { value = math.abs(at[2]), limit = 0.06, unit = "m" }) -- a foot's diameter
  if from and run.world.time >= from.time + 1 then
    local speed = (at[1] - from.x) / (run.world.time - from.time)
    stn.result("trot_speed_m_per_s", speed, "m/s")
    stn.check("trots at 1.5 m/s", { value = math.abs(speed - tasks.speed), limit = 0.1 * tasks.speed, unit = "m/s" })
  end
elseif p.task == "hang" then
  stn.check("hangs below the ground by half of its legs and more", { value = at[3], limit = -0.28, unit = "m" })
  stn.check("feet carry it", { value = count.contacts / touching, least = 3, unit = "contacts" })
elseif p.task == "drop" then
  -- half of its height, less what contacts that know velocities drift
  stn.check("trunk over the ground", { value = at[3], least = 0.09 - 2e-3, unit = "m" })
end
-- With correction limbs get wedged: contacts that are rigid and have to part may have no solution.
local wedges = p.correction and (p.task == "drop" or p.task == "random")
stn.check("unsolved steps", { value = count.unsolved / touching, limit = wedges and 0.05 or 0, unit = "of those with contacts" })
