-- SPDX-License-Identifier: Apache-2.0
-- Pick and place of the paper on quasistatic stepping [pang-2021], section V-B and figure 1.
--
--   stiction run scripts/papers/quasistatic/pick_and_place.lua --dt 0.1 --record out.html
--   stiction run scripts/papers/quasistatic/pick_and_place.lua --dt 5e-5 --integrator symplectic_euler --solver sap    # with inertia
local stn = require "stiction"
local scene = require "pick_and_place_scene"

local p = scene.parameters {
  repeats = stn.number { 1, min = 1 }, -- whole runs; the time of a step is the least of all, on a machine that does other things as well
}

local steps, contacts, most, unsolved, solve, whole = 0, 0, 0, 0, {}, {}
local weight, springs = 0, 0 -- while it is carried [N]

local s = scene.build(p)
scene.run(p, s, function(step)
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

local function mean(values)
  local sum = 0
  for _, value in ipairs(values) do sum = sum + value end
  return sum / #values
end
table.sort(solve)
stn.result("dofs", s.world.nv, "1")
stn.result("contacts_mean", contacts / steps, "1")
stn.result("contacts_most", most, "1")
stn.result("solve_mean_ms", mean(solve) * 1e-3, "ms")
stn.result("solve_p99_ms", solve[math.ceil(0.99 * steps)] * 1e-3, "ms")
stn.result("step_mean_ms", mean(whole) * 1e-3, "ms")
stn.result("red_x_m", s.red:position()[1], "m")
stn.result("red_y_m", s.red:position()[2], "m")
stn.result("red_z_m", s.red:position()[3], "m")
scene.check(s)
if p.integrator == "quasistatic" then
  stn.check("contacts carry the red cube's weight of 5 N, less", { value = weight, limit = 1e-3, unit = "N" })
  -- the cube's faces turn against the plates' axis: by half a degree in steps of 0.4 s, which is 0.5 % of the force
  stn.check("contacts carry the springs of the plates, 5 N each, less", { value = springs, limit = 0.05, unit = "N" })
end
stn.check("steps not solved", { value = unsolved, limit = 0, unit = "steps" })
