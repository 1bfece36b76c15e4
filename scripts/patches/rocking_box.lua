-- SPDX-License-Identifier: Apache-2.0
-- A box stands on one of its lower edges, lets go, rocks flat and comes to rest. It is rigid and the ground a soft layer (`soft=ground`), or
-- the other way round (`soft=box`).
--   until a tenth        of the angle is left: about the edge, 1/2 I w^2 = m g (h(start) - h(angle)), I about the edge, h height of the centre
--   at rest              the layer has given way by m g T/(E a b); a box by x with m g = (E/H)(a b x - (a + b) x^2 + 4 x^3/3)
--   in between           kinetic, potential and stored energy together never rise
local stn = require "stiction"
local stored_energy = require "stored_energy"

local p = stn.params {
  soft = stn.choice { "ground", "box" },
  angle_deg = 10.0,         -- at the start
  modulus = 1e6,            -- [Pa]
  resolution = 0.0125,      -- of the box [m]
  relaxation_time = 0.005,  -- of the contact [s]
  margin = 1e-4,            -- of the pressure field [m]
  mu = 1.0,
  dt = 0.001,               -- [s]
  seconds = 2.0,            -- [s]
}

local a, b, H, mass, g = 0.2, 0.1, 0.04, 1.0, 9.81
local thickness = 0.04      -- of the layer [m]
local angle = p.angle_deg * stn.deg
local radius, lean = math.sqrt((a / 2) ^ 2 + H ^ 2), math.atan(H, a / 2) -- from the edge to the centre; its angle at rest
local on_ground = p.soft == "ground"

local world = stn.world { dt = p.dt, contact = "hydroelastic", solver = { "sap", tolerance = 1e-8 } }
world:ground { name = "ground", modulus = on_ground and p.modulus or nil, slab_thickness = on_ground and thickness or nil, field_margin = on_ground and p.margin or nil }
local box = world:box {
  name = "box", size = { a, b, 2 * H }, mass = mass, resolution = p.resolution, modulus = not on_ground and p.modulus or nil, field_margin = not on_ground and p.margin or nil, color = { 0.20, 0.45, 0.70 },
  rpy = { 0, angle, 0 }, xyz = { -radius * math.cos(lean + angle), 0, radius * math.sin(lean + angle) },
}
world:contact_material { mu = p.mu, relaxation_time = p.relaxation_time }

--- Time from rest at the angle to a part of it, turning about a fixed edge.
local function fall_time(left)
  local inertia = mass * ((a ^ 2 + 4 * H ^ 2) / 12 + radius ^ 2)
  local count, last, sum = 2000, math.sqrt(1 - left), 0
  for i = 0, count - 1 do -- angle (1 - s^2) takes the singularity at rest away
    local s = last * (i + 0.5) / count
    local drop = radius * (math.sin(lean + angle) - math.sin(lean + angle * (1 - s ^ 2)))
    sum = sum + 2 * angle * s / math.sqrt(2 * mass * g * drop / inertia) * last / count
  end
  return sum
end

--- How deep the rest lies.
local function rest_depth()
  if on_ground then
    return mass * g * thickness / (p.modulus * a * b)
  end
  local x = 0
  for _ = 1, 50 do
    local force = p.modulus / H * (a * b * x - (a + b) * x ^ 2 + 4 * x ^ 3 / 3)
    x = x - (force - mass * g) / (p.modulus / H * (a * b - 2 * (a + b) * x + 4 * x ^ 2))
  end
  return x
end

local solid = stored_energy.box(box, { a, b, 2 * H }, not on_ground and p.modulus or nil)
local ground = stored_energy.ground(thickness, on_ground and p.modulus or nil)
local ledger, hit, unsolved = stored_energy.ledger(world:energy().total + stored_energy.energy(solid, ground)), nil, 0
local potential = world:energy().potential
for step in world:run { seconds = p.seconds } do
  local axis = box:pose():rotate { 0, 0, 1 }
  local tilt = math.atan(axis[1], axis[3])
  world:plot("tilt [deg]", tilt / stn.deg)
  if step.time < 0.5 or step.index % 10 == 0 then -- at rest not every step
    world:plot("energy [J]", ledger:add(step.energy_J + stored_energy.energy(solid, ground)))
  end
  if not hit and tilt <= 0.1 * angle then hit = step.time end
  unsolved = unsolved + (step.converged and 0 or 1)
end

local drop = potential - mass * g * H
local sunk = H - box:position()[3]
stn.result("fall_time", hit or 0 / 0, "s")
stn.result("fall_time_of_a_hinge", fall_time(0.1), "s")
stn.result("rest_depth", sunk, "m")
stn.result("energy_rise", ledger.rise / drop, "1")
stn.check("falls as about a hinge: time off by", { value = math.abs((hit or 0 / 0) - fall_time(0.1)), limit = 2 * p.dt + 2e-3, unit = "s" })
stn.check("depth at rest: off the closed form", { value = math.abs(sunk / rest_depth() - 1), limit = 1e-3 })
stn.check("energy rises, over what it falls", { value = ledger.rise / drop, limit = 1e-3 })
stn.check("at rest", { value = box:speed(), limit = 1e-4, unit = "m/s" })
stn.check("steps not solved", { value = unsolved, limit = 0 })
