-- SPDX-License-Identifier: Apache-2.0
-- Slip control as in the SAP paper [castro-2022], section VI-D: two soft bubbles hold a spatula, tightly and loosely in turns, and it
-- turns in the loose grasp. How it pitches, what the faces of its patches do, and what the solver needs for every step, to the summary
-- and as plots of a recording (--record F.html), which has contacts, iterations and the momentum error anyway.
--
-- What must hold: at the end of every phase all is in balance, so the patches carry the weight and each presses with the force of its finger;
-- a second world, whose steps are solved to a thousandth of the tolerance, pitches alike (slip_control_table.lua compares solvers).
local stn = require "stiction"
local scene = require "slip_control_scene"
local chart = require "chart"

local p = scene.parameters {
  law = "sap",              -- also lagged, similar, lagged_regularized
  solver = "sap",           -- also ipm, admm, admm_split, apgd with the law sap
  plot = "",                -- an SVG file
  show = stn.choice { "pitch", "grip", "faces" }, -- over time
}

local s = scene.build(p, p)
local world = s.world
local g, settle = 9.81, 0.5 -- after a change of the grip what passes within this time [s] is the change itself

-- Pitches at the beginning and end of every phase, and sums over its steps.
local phases, phase, charted = {}, nil, { times = {}, pitch = {}, grip = {}, slipping = {}, sticking = {} }
local function begin(tight, time, pitch)
  phase = { tight = tight, from = time, first = pitch, low = pitch, steps = 0, slipping = 0, sticking = 0, most = 0 }
  phases[#phases + 1] = phase
end

local steps, iterations, most_iterations, worst, unsolved, sunk = 0, 0, 0, 0, 0, 0
scene.run(p, s, function(step, on_spatula, tight)
  local pitch = scene.pitch(s)
  if not phase or phase.tight ~= tight then begin(tight, step.time, pitch) end
  phase.last, phase.low, phase.steps = pitch, math.min(phase.low, pitch), phase.steps + 1
  if step.time < phase.from + settle then phase.settled = pitch end
  phase.slipping, phase.sticking = phase.slipping + on_spatula.slipping, phase.sticking + on_spatula.sticking
  phase.force = on_spatula.force
  phase.pressed = { math.abs(world:contact_force(s.spatula, s.fingers[1]).force[2]), math.abs(world:contact_force(s.spatula, s.fingers[2]).force[2]) }
  phase.most, phase.slip = math.max(phase.most, on_spatula.slipping + on_spatula.sticking), on_spatula.slip_speed
  steps, iterations, most_iterations = steps + 1, iterations + step.iterations, math.max(most_iterations, step.iterations)
  worst = math.max(worst, step.certificate.momentum)
  unsolved = unsolved + (step.converged and 0 or 1)
  sunk = math.abs((s.spatula:pose() * { p.hold_at, 0, 0 })[3])
  local k = steps
  charted.times[k], charted.pitch[k], charted.grip[k] = step.time, pitch / stn.deg, (scene.grip(p, step.time))
  charted.slipping[k], charted.sticking[k] = on_spatula.slipping, on_spatula.sticking
  world:plot("grip [N]", (scene.grip(p, step.time)))
  world:plot("pitch [deg]", pitch / stn.deg)
  world:plot("faces that slip", on_spatula.slipping)
  world:plot("faces that stick", on_spatula.sticking)
end)

-- The pitch at the end with every step solved to a thousandth of the tolerance.
local function precise_pitch()
  local precise = scene.build(p, { solver = p.solver, law = p.law, tolerance = 1e-3 * p.tolerance })
  local other <close> = precise.world
  scene.run(p, precise, function() end)
  return scene.pitch(precise)
end

io.stderr:write "grip    from [s]  pitch [deg] from, to  faces: slip, stick (mean)  most  slip at the end [m/s]  weight, grip off by\n"
local weight = s.spatula:mass() * g
local fallen, crept, creep, loose_faces, tight_faces, off_weight, off_grip = 0, 0, nil, 0, 0, 0, 0
for _, each in ipairs(phases) do
  local whole = each.steps * p.dt > 2 * settle -- one that comes to rest
  local f, pressed = each.force, each.pressed
  local unbalanced = math.sqrt(f[1] ^ 2 + f[2] ^ 2 + (f[3] - weight) ^ 2) / weight
  local grip = each.tight and p.tight or p.loose
  local ungripped = math.max(math.abs(pressed[1] / grip - 1), math.abs(pressed[2] / grip - 1))
  io.stderr:write(("%-5s %10.2f %14.2f %7.2f %12.1f %8.1f %14d %14.1e %20.1e %8.1e\n"):format(each.tight and "tight" or "loose", each.from, each.first / stn.deg,
    each.last / stn.deg, each.slipping / each.steps, each.sticking / each.steps, each.most, each.slip, unbalanced, ungripped))
  local faces = (each.slipping + each.sticking) / each.steps
  if whole then off_weight, off_grip = math.max(off_weight, unbalanced), math.max(off_grip, ungripped) end
  if each.tight then
    if whole then
      crept = math.max(crept, math.abs(each.last - each.settled))
    end
    if each.steps * p.dt > 4 then creep = math.max(creep or 0, each.slip) end -- as long as the paper's, 4.5 s
    tight_faces = math.max(tight_faces, faces)
  else
    fallen, loose_faces = fallen + each.first - each.last, math.max(loose_faces, faces)
  end
end
stn.result("pitch_at_the_end", scene.pitch(s) / stn.deg, "deg")
stn.result("pitch_falls_in_loose_phases", fallen / stn.deg, "deg")
stn.result("pitch_changes_in_a_tight_phase", crept / stn.deg, "deg")
stn.result("tight_over_loose_pitch", crept / fallen, "1")
if creep then stn.result("slip_at_the_end_of_a_tight_phase", creep, "m/s") end
stn.result("faces_in_loose_phases", loose_faces, "1")
stn.result("faces_in_tight_phases", tight_faces, "1")
stn.result("iterations_per_step", iterations / steps, "1")
stn.result("most_iterations", most_iterations, "1")
stn.result("worst_eps_m", worst, "1")
stn.result("weight_over_grip", weight / (2 * p.mu * p.loose), "1")
stn.check("every eps_m below eps_r", { value = worst, limit = p.tolerance })
stn.check("steps not solved", { value = unsolved, limit = 0 })
stn.check("at the end of a phase the patches carry the weight: off by", { value = off_weight, limit = 0.01 })
stn.check("and each presses with the force of its finger: off by", { value = off_grip, limit = 0.003 })
if creep then -- twice sigma mu dt g, eq. (31), and the stiction tolerance of the other laws
  stn.check("slip at the end of a tight phase", { value = creep, limit = 1e-4, unit = "m/s" })
end
stn.check("pitch changes in a tight phase", { value = crept / stn.deg, limit = 0.2, unit = "deg" })
stn.check("the handle slides through the grasp", { value = sunk, limit = 0.01, unit = "m" })
stn.check("pitch at the end, off that of steps solved to a thousandth of the tolerance",
  { value = math.abs(scene.pitch(s) - precise_pitch()) / stn.deg, limit = 0.1, unit = "deg" })

local charts = {
  pitch = { title = "slip control: pitch", label = "deg", names = { "pitch" } },
  grip = { title = "slip control: force of each finger", label = "N", names = { "grip" } },
  faces = { title = "slip control: faces of the patches", label = "faces", names = { "slipping", "sticking" } },
}
if p.plot ~= "" then
  local drawn, series = charts[p.show], {}
  for k, name in ipairs(drawn.names) do series[k] = { name = name, x = charted.times, y = charted[name] } end
  chart.write(p.plot, { title = drawn.title, x = { label = "time [s]" }, y = { label = drawn.label }, series = series })
end
