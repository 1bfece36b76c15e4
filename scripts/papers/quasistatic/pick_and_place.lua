-- SPDX-License-Identifier: Apache-2.0
-- Pick and place of the paper on quasistatic stepping [pang-2021], section V-B and figure 1.
--
--   stiction run scripts/papers/quasistatic/pick_and_place.lua --dt 0.1 --record out.html
--   stiction run scripts/papers/quasistatic/pick_and_place.lua --dt 5e-5 --integrator symplectic_euler --solver sap    # with inertia
local stn = require "stiction"
local scene = require "pick_and_place_scene"
local statistics = require "statistics"

local p = scene.parameters {
  scaling = false, -- true: also with cubes=corners, how the time of the solver grows with the contacts
  repeats = stn.number { 1, min = 1 }, -- whole runs; the time of a step is the least of all, on a machine that does other things as well
}

local steps, contacts, most, unsolved, solve, whole = 0, 0, 0, 0, {}, {}
local weight, springs = 0, 0 -- while it is carried [N]

local s = scene.build(p)
local drift_at, drift = scene.watch_drift(s), nil
scene.run(p, s, function(step)
  drift = drift_at(step.time)
  steps, contacts, most = steps + 1, contacts + step.contact_count, math.max(most, step.contact_count)
  unsolved = unsolved + (step.converged and 0 or 1)
  solve[steps], whole[steps] = step.solve_us, step.step_us
  if step.time > 2.5 and step.time < 11 then
    local cube, plates = scene.imbalance(s)
    weight, springs = math.max(weight, cube), math.max(springs, plates)
  end
end)
for _ = 2, p.repeats do
  local again = scene.trace(p)
  for k = 1, steps do solve[k], whole[k] = math.min(solve[k], again.solve_us[k]), math.min(whole[k], again.step_us[k]) end
end

local mean = statistics.mean
table.sort(solve)
stn.result("dofs", s.world.nv, "1")
stn.result("contacts_mean", contacts / steps, "1")
stn.result("contacts_most", most, "1")
stn.result("solve_mean_ms", mean(solve) * 1e-3, "ms")
stn.result("solve_p99_ms", solve[math.ceil(0.99 * steps)] * 1e-3, "ms")
stn.result("step_mean_ms", mean(whole) * 1e-3, "ms")
if p.scaling then
  local other, times = scene.trace(p, { cubes = "corners" }), {}
  for k, time in ipairs(other.solve_us) do times[k] = time end
  for _ = 2, p.repeats do
    for k, time in ipairs(scene.trace(p, { cubes = "corners" }).solve_us) do times[k] = math.min(times[k], time) end
  end
  local slower, more = mean(times) / mean(solve), other.contacts / (contacts / steps)
  stn.result("contacts_with_corners", other.contacts, "1")
  stn.result("solve_mean_with_corners_ms", mean(times) * 1e-3, "ms")
  stn.result("power_of_the_contacts", math.log(slower) / math.log(more), "1")
end
stn.result("red_x_m", s.red:position()[1], "m")
stn.result("red_y_m", s.red:position()[2], "m")
stn.result("red_z_m", s.red:position()[3], "m")
stn.result("placed", scene.succeeded(scene.outcome(s)) and 1 or 0, "1")
local in_plane, predicted = { drift.last[1] - drift.first[1], drift.last[3] - drift.first[3] }, { drift.predicted[1], drift.predicted[3] }
local function norm(x, y) return math.sqrt(x * x + y * y) end
stn.result("drift_in_grasp", norm(in_plane[1], in_plane[2]), "m")
stn.result("drift_of_tangents", norm(predicted[1], predicted[2]), "m")
scene.check(s, p)
if p.integrator == "quasistatic" then
  -- qp is exact, laws and their solvers to their tolerance
  stn.check("contacts carry the red cube's weight of 5 N, less", { value = weight, limit = p.solver == "qp" and 1e-11 or 1e-6, unit = "N" })
  -- forces are those of the step's linear problem, springs are read after it: of order dt
  stn.check("contacts carry the springs of the plates, 5 N each, less", { value = springs, limit = 0.06 * p.dt + 2e-4, unit = "N" })
  if not p.stiction then
    local off = norm(in_plane[1] - predicted[1], in_plane[2] - predicted[2])
    stn.check("the cube drifts in the grasp as tangents say, off by", { value = off / norm(predicted[1], predicted[2]), limit = 0.05, unit = "1" })
  end
end
stn.check("steps not solved", { value = unsolved, limit = 0, unit = "steps" })
