-- SPDX-License-Identifier: Apache-2.0
-- Pick and place of the paper on quasistatic stepping [pang-2021], section V-B and figure 1.
--
--   stiction run scripts/papers/quasistatic/pick_and_place.lua --dt 0.1 --record out.html
--   stiction run scripts/papers/quasistatic/pick_and_place.lua --dt 5e-5 --integrator symplectic_euler --solver sap    # with inertia
local stn = require "stiction"
local scene = require "pick_and_place_scene"

local p = scene.parameters {}
local s = scene.build(p)
local steps, contacts, most, unsolved, solve, whole = 0, 0, 0, 0, {}, 0
scene.run(p, s, function(step)
  steps, contacts, most = steps + 1, contacts + step.contact_count, math.max(most, step.contact_count)
  unsolved = unsolved + (step.converged and 0 or 1)
  solve[steps], whole = step.solve_us, whole + step.step_us
end)

table.sort(solve)
local sum = 0
for _, time in ipairs(solve) do sum = sum + time end
stn.result("dofs", s.world.nv, "1")
stn.result("contacts_mean", contacts / steps, "1")
stn.result("contacts_most", most, "1")
stn.result("solve_mean_ms", sum / steps * 1e-3, "ms")
stn.result("solve_p99_ms", solve[math.ceil(0.99 * steps)] * 1e-3, "ms")
stn.result("step_mean_ms", whole / steps * 1e-3, "ms")
stn.result("red_x_m", s.red:position()[1], "m")
stn.result("red_y_m", s.red:position()[2], "m")
stn.result("red_z_m", s.red:position()[3], "m")
scene.check(s)
stn.check("steps not solved", { value = unsolved, limit = 0, unit = "steps" })
