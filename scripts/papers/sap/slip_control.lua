-- SPDX-License-Identifier: Apache-2.0
-- Slip control as in the SAP paper [castro-2022], section VI-D: two soft bubbles hold a spatula, tightly and loosely in turns, and it
-- turns in the loose grasp. How it pitches, what the faces of its patches do, and what the solver needs for every step, to the summary
-- and as plots of a recording (--record F.html), which has contacts, iterations and the momentum error anyway.
local stn = require "stiction"
local scene = require "slip_control_scene"

local p = scene.parameters {
  law = "sap",              -- also lagged, similar, lagged_regularized
  solver = "sap",           -- also ipm, admm, admm_split, apgd with the law sap
}

local s = scene.build(p, p)
local world = s.world
local g, settle = 9.81, 0.5 -- after a change of the grip what passes within this time [s] is the change itself

-- Pitches at the beginning and end of every phase, and sums over its steps.
local phases, phase = {}, nil
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
  phase.most, phase.slip = math.max(phase.most, on_spatula.slipping + on_spatula.sticking), on_spatula.slip_speed
  steps, iterations, most_iterations = steps + 1, iterations + step.iterations, math.max(most_iterations, step.iterations)
  worst = math.max(worst, step.certificate.momentum)
  unsolved = unsolved + (step.converged and 0 or 1)
  sunk = -s.spatula:position()[3]
  world:plot("grip [N]", (scene.grip(p, step.time)))
  world:plot("pitch [deg]", pitch / stn.deg)
  world:plot("faces that slip", on_spatula.slipping)
  world:plot("faces that stick", on_spatula.sticking)
end)

io.stderr:write "grip    from [s]  pitch [deg] from, to  faces: slip, stick (mean)  most  slip at the end [m/s]\n"
local fallen, crept, creep, loose_faces, tight_faces = 0, 0, 0, 0, 0
for _, each in ipairs(phases) do
  io.stderr:write(("%-5s %10.2f %14.2f %7.2f %12.1f %8.1f %14d %14.1e\n"):format(each.tight and "tight" or "loose", each.from, each.first / stn.deg,
    each.last / stn.deg, each.slipping / each.steps, each.sticking / each.steps, each.most, each.slip))
  local faces = (each.slipping + each.sticking) / each.steps
  if each.tight then
    if each.steps * p.dt > 2 * settle then
      crept, creep = math.max(crept, math.abs(each.last - each.settled)), math.max(creep, each.slip)
    end
    tight_faces = math.max(tight_faces, faces)
  else
    fallen, loose_faces = fallen + each.first - each.last, math.max(loose_faces, faces)
  end
end
stn.result("pitch_at_the_end", scene.pitch(s) / stn.deg, "deg")
stn.result("faces_in_loose_phases", loose_faces, "1")
stn.result("faces_in_tight_phases", tight_faces, "1")
stn.result("iterations_per_step", iterations / steps, "1")
stn.result("most_iterations", most_iterations, "1")
stn.result("worst_eps_m", worst, "1")
stn.result("weight_over_grip", s.spatula:mass() * g / (2 * p.mu * p.loose), "1")
stn.check("every eps_m below eps_r", { value = worst, limit = p.tolerance })
stn.check("steps not solved", { value = unsolved, limit = 0 })
if loose_faces > 0 then -- a short run has no loose phase
  stn.check("pitch falls in loose phases, altogether", { value = fallen / stn.deg, least = 1, unit = "deg" })
end
stn.check("slip at the end of a tight phase", { value = creep, limit = 3e-4, unit = "m/s" })
stn.check("pitch changes in a tight phase", { value = crept / stn.deg, limit = 0.2, unit = "deg" })
stn.check("the spatula stays in the grasp", { value = math.abs(sunk), limit = 0.03, unit = "m" })
