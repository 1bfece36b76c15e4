-- SPDX-License-Identifier: Apache-2.0
-- Energy of impacts and of a rocking box over time steps: kinetic + gravitational + stored elastic energy must not rise.
local stn = require "stiction"
local worse = require "worse"
local stored_energy = require "stored_energy"

local p = stn.params {
  law = stn.choice { "sap", "lagged", "similar" },
  modulus = 1e6,          -- of what falls or flies [Pa]
  other = 1e6,            -- of what is hit by a cube [Pa]
  dissipation = 0.0,      -- Hunt-Crossley [s/m], of both
  relaxation_time = 0.0,  -- of law sap [s], of both
  margin = 0.0,           -- of the fields [m]
  speed = 1.0,            -- of the impact [m/s]
  mu = 0.5,
  finest = 0.0005,        -- time steps from here [s]
  coarsest = 0.010,       -- to here
  case = stn.choice { "all", "face", "edge", "corner", "oblique", "rocking" },
}

-- --------------------------------------------------------------------------------------------------------------- cases

local edge, mass = 0.1, 1.0
local size = { edge, edge, edge }

local function world_of(dt, gravity)
  local world = stn.world { dt = dt, contact = "hydroelastic", law = p.law, gravity = { 0, 0, -gravity } }
  world:contact_material { mu = p.mu, dissipation = p.dissipation, relaxation_time = p.relaxation_time }
  return world
end

-- A cube flies into another one, both free: no gravity, so all energy is kinetic or elastic.
local function impact(dt, spec)
  local world = world_of(dt, 0)
  local hit = world:box { name = "hit", size = size, mass = mass, xyz = { 0, 0, 0 }, modulus = p.other }
  local flies = world:box { name = "flies", size = size, mass = mass, modulus = p.modulus, field_margin = p.margin, rpy = spec.rpy,
    xyz = { spec.x or 0, spec.y or 0, spec.z }, velocity = { spec.along or 0, 0, -p.speed } }
  local target, flyer = stored_energy.box(hit, size, p.other), stored_energy.box(flies, size, p.modulus)
  return world, 0.06 / p.speed, function() return stored_energy.energy(flyer, target) end
end

-- A box stands on its edge, leaning, and falls over on a rigid floor.
local function rocking(dt)
  local world, lean, sizes = world_of(dt, 9.81), 0.2, { 0.1, 0.1, 0.2 }
  world:ground { name = "floor" }
  local height = 0.5 * (sizes[3] * math.cos(lean) + sizes[1] * math.sin(lean)) + 1e-4
  local box = world:box { name = "box", size = sizes, mass = mass, modulus = p.modulus, field_margin = p.margin, xyz = { 0, 0, height }, rpy = { 0, lean, 0 } }
  local soft, floor = stored_energy.box(box, sizes, p.modulus), stored_energy.ground()
  return world, 1.0, function() return stored_energy.energy(soft, floor) end, 0.1
end

local cases = {
  face = function(dt) return impact(dt, { z = edge + 0.0113, x = 0.013, y = 0.007 }) end,
  edge = function(dt) return impact(dt, { z = (0.5 + math.sqrt(0.5)) * edge + 0.0113, rpy = { math.pi / 4, 0.1, 0 } }) end,
  corner = function(dt)
    return impact(dt, { z = (0.5 + math.sqrt(0.75)) * edge + 0.0113, rpy = { math.pi / 4, math.atan(math.sqrt(0.5)), 0 } })
  end,
  oblique = function(dt) return impact(dt, { z = edge + 0.0153, x = 0.04, along = -p.speed, rpy = { 0.1, 0.07, 0.3 } }) end,
  rocking = rocking,
}

-- Of the energy at the start: the largest rise over the least before; what motion and gravity have gained when the two have
-- parted (nil while they touch); the most that was stored.
local function measure(make, dt)
  local world, seconds, elastic, of = make(dt)
  if math.abs(world.dt - dt) > 1e-12 then error("the steps are those of finest and coarsest: --set finest=0.001, not --dt", 0) end
  local function total() local e = world:energy() return e.kinetic + e.potential end
  local before, scale = total(), of or world:energy().kinetic
  local ledger, apart, most = stored_energy.ledger(before), nil, 0
  for step in world:run { seconds = seconds } do
    local u = elastic()
    ledger:add(total() + u)
    most = worse(most, u)
    if u > 0 then apart = nil elseif most > 0 and not apart then apart = total() end
  end
  return { rise = ledger.rise / scale, rebound = apart and (apart - before) / scale, stored = most / scale }
end

local steps = {}
for _, dt in ipairs { 0.0005, 0.001, 0.002, 0.005, 0.010 } do
  if dt >= p.finest * 0.999 and dt <= p.coarsest * 1.001 then steps[#steps + 1] = dt end
end
io.stderr:write(string.format("%-8s %8s %12s %12s %12s\n", "case", "dt [ms]", "rise [1]", "parted [1]", "stored [1]"))
for _, name in ipairs { "face", "edge", "corner", "oblique", "rocking" } do
  if p.case == "all" or p.case == name then
    for _, dt in ipairs(steps) do
      local m = measure(cases[name], dt)
      io.stderr:write(string.format("%-8s %8.1f %12.2e %12s %12.3f\n", name, 1e3 * dt, m.rise,
        m.rebound and string.format("%.4f", m.rebound) or "touching", m.stored))
      stn.result(string.format("%s_%gms_rise", name, 1e3 * dt), m.rise)
      stn.check(string.format("%s, %g ms: energy does not rise", name, 1e3 * dt), { value = m.rise, limit = 1e-3, unit = "1" })
      if m.rebound then
        stn.check(string.format("%s, %g ms: no faster apart than before", name, 1e3 * dt), { value = m.rebound, limit = 1e-9, unit = "1" })
      end
    end
  end
end
