-- SPDX-License-Identifier: Apache-2.0
-- A soft cube flies at another one without gravity and hits it with its face, an edge or a corner, on its face. Momentum stays, also the
-- angular one; what is stored in the patch comes back as motion and never more than went in.
local stn = require "stiction"
local worse = require "worse"
local stored_energy = require "stored_energy"

local p = stn.params {
  hits = stn.choice { "face", "edge", "corner" },
  modulus = 1e6,            -- of both [Pa]
  law = stn.choice { "lagged", "similar", "sap" },
  dissipation = 0.0,        -- of the contact, by lagged and similar [s/m]
  relaxation_time = 0.0,    -- of the contact, by sap [s]
  mu = 0.5,
  speed = 1.0,              -- [m/s]
  margin = 0.0,             -- of the pressure fields [m]
  offset = 0.01,            -- of the two centres, across the flight [m]
  dt = 0.0005,              -- [s]
  seconds = 0.2,            -- [s]
}

local edge, mass = 0.1, 1.0
-- Half the extent along the flight, and the pose of the one that flies.
local reach = edge / 2 * ({ face = 1, edge = math.sqrt(2), corner = math.sqrt(3) })[p.hits]
local rpy = ({ face = { 0, 0, 0 }, edge = { 0, math.pi / 4, 0 }, corner = { math.pi / 4, math.atan(1 / math.sqrt(2)), 0 } })[p.hits]

local world = stn.world { dt = p.dt, gravity = { 0, 0, 0 }, contact = "hydroelastic", law = p.law, solver = { "sap", tolerance = 1e-8 } }
local function cube(options)
  options.size, options.mass, options.modulus, options.field_margin = { edge, edge, edge }, mass, p.modulus, p.margin
  return world:box(options)
end
local target = cube { name = "target", color = { 0.20, 0.45, 0.70 } }
local flyer = cube {
  name = "flyer", color = { 0.85, 0.45, 0.15 }, rpy = rpy, xyz = { -(edge / 2 + reach + 0.01), p.offset, p.offset }, velocity = { p.speed, 0, 0 },
}
local sap = p.law == "sap"
world:contact_material { mu = p.mu, dissipation = not sap and p.dissipation or nil, relaxation_time = sap and p.relaxation_time or nil }

local function length(a, b)
  return math.sqrt((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2 + (a[3] - b[3]) ^ 2)
end

local before, initial = world:momentum(), world:energy().kinetic
local soft_flyer, soft_target = stored_energy.box(flyer, { edge, edge, edge }, p.modulus), stored_energy.box(target, { edge, edge, edge }, p.modulus)
local ledger, most_stored, faces, unsolved = stored_energy.ledger(initial), 0, 0, 0
for step in world:run { seconds = p.seconds } do
  local stored = stored_energy.energy(soft_flyer, soft_target)
  most_stored = worse(most_stored, stored)
  world:plot("energy [J]", ledger:add(step.energy_J + stored))
  world:plot("stored [J]", stored)
  world:plot("faces", step.face_count)
  faces = worse(faces, step.face_count)
  unsolved = unsolved + (step.converged and 0 or 1)
end

local after, kinetic = world:momentum(), world:energy().kinetic
local approach = p.speed
local v1, v2 = flyer:velocity().linear, target:velocity().linear
stn.result("separation_over_approach", (v2[1] - v1[1]) / approach, "1")
stn.result("kinetic_after_over_before", kinetic / initial, "1")
stn.result("most_stored_over_kinetic", most_stored / initial, "1")
stn.result("energy_rise", ledger.rise / initial, "1")
stn.result("most_faces", faces, "1")
stn.check("they hit and part", { value = v2[1] - v1[1], least = 0, unit = "m/s" })
stn.check("linear momentum changes", { value = length(after.linear, before.linear) / (mass * p.speed), limit = 1e-9 })
stn.check("angular momentum changes", { value = length(after.angular, before.angular) / (mass * p.speed * edge), limit = 1e-3 })
stn.check("energy rises", { value = ledger.rise / initial, limit = 1e-3 })
stn.check("kinetic energy after over before", { value = kinetic / initial, limit = 1 })
stn.check("steps not solved", { value = unsolved, limit = 0 })
