-- SPDX-License-Identifier: Apache-2.0
-- A rigid ball rolls on a soft mat, a layer of thickness T and modulus E: what its patch costs it. Pressure is (E/T)(depth - r^2/2R); in
-- front the mat is compressed at the speed w x, behind it lets go, so that damped pressure leans forwards and makes a moment about
-- the centre. The patch has the radius a, a^4 = 4 R T N/(pi E). With the ball rolling at v = w R the force that holds it back is
--   relaxation time tau, law sap       N (tau + dt) v/R              a linear damper, the same all over the patch
--   dissipation d, laws lagged, ...    N (d a^2/6 + dt R) v/R^2      Hunt-Crossley, in proportion to the pressure
--   friction in the patch              mu N depth/(3R)               what sinks in in front moves along its own slope
-- The last: at (x, y) from the middle the ball's surface slips on the mat, which does not move along, by w/2R (y^2 - x^2, -2xy), of the size
-- w r^2/2R, in all directions alike, so that nothing but the loss is left of it and the ball rolls at v = w R.
-- dt stands for what a step adds: it takes the pressure at its end and the place of the patch at its beginning.
-- All of it while nothing lets go behind: v < a/(2 tau), v < R/(d a).
local stn = require "stiction"

local p = stn.params {
  law = stn.choice { "sap", "lagged", "similar" },
  modulus = 1e6,            -- of the mat [Pa]
  relaxation_time = 0.01,   -- of sap [s]
  dissipation = 100.0,      -- of the others [s/m]
  mu = 0.5,
  speed = 0.3,              -- at the start [m/s]
  resolution = 2e-3,        -- of the ball's surface [m]
  dt = 0.001,               -- [s]
  seconds = 1.5,            -- [s]
}

local R, thickness, mass, g = 0.05, 0.02, 0.5, 9.81
local weight, sap = mass * g, p.law == "sap"
local a = (4 * R * thickness * weight / (math.pi * p.modulus)) ^ 0.25
local depth = a ^ 2 / (2 * R)

local world = stn.world { dt = p.dt, contact = "hydroelastic", law = p.law, solver = { "sap", tolerance = 1e-8 } }
world:ground { name = "mat", modulus = p.modulus, slab_thickness = thickness }
local ball = world:sphere {
  name = "ball", radius = R, mass = mass, resolution = p.resolution, xyz = { 0, 0, R - depth }, color = { 0.85, 0.45, 0.15 },
  velocity = { linear = { p.speed, 0, 0 }, angular = { 0, p.speed / R, 0 } },
}
world:contact_material { mu = p.mu, relaxation_time = sap and p.relaxation_time or nil, dissipation = not sap and p.dissipation or nil }

--- The force that holds the ball back at a speed.
local function resistance(speed)
  local damping = sap and p.relaxation_time + p.dt or p.dissipation * a ^ 2 / (6 * R) + p.dt
  return weight * damping * speed / R + p.mu * weight * depth / (3 * R)
end

-- From the first tenth on, when the patch has settled, beside the same motion by the formula: (7/5) m dv/dt = -force.
local from, predicted, first, last, unsolved = p.seconds / 10, nil, nil, nil, 0
for step in world:run { seconds = p.seconds } do
  local speed = ball:velocity().linear[1]
  if predicted then
    predicted = predicted - p.dt * resistance(predicted) / (1.4 * mass)
  elseif step.time >= from then
    predicted, first = speed, speed
  end
  last = speed
  world:plot("speed [m/s]", speed)
  world:plot("faces", step.face_count)
  unsolved = unsolved + (step.converged and 0 or 1)
end

stn.result("patch_radius", a, "m")
stn.result("speed_lost", first - last, "m/s")
stn.result("speed_lost_predicted", first - predicted, "m/s")
stn.check("speed lost: off the formula", { value = math.abs((first - last) / (first - predicted) - 1), limit = 0.05 })
stn.check("rolls: speed off w R", { value = math.abs(ball:velocity().angular[2] * R / last - 1), limit = 2e-3 })
stn.check("rolls straight", { value = math.abs(ball:position()[2]), limit = 1e-3, unit = "m" })
stn.check("steps not solved", { value = unsolved, limit = 0 })
