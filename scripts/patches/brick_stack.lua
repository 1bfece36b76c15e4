-- SPDX-License-Identifier: Apache-2.0
-- A stack of soft bricks on rigid ground, laid crosswise, settles, each interface by what it carries. Pressure in a brick grows with the
-- depth below its nearest face, so that a brick a x b x 2H pressed flat onto a plane by x carries (E/H)(a b x - (a + b) x^2 + 4 x^3/3). Two
-- bricks that cross meet on a square of edge b and give way by x each with the same formula, a = b: near each side of the square one
-- of the two is near its face. There the patch leans by 45 degrees, and friction may hold up to mu times what presses.
local stn = require "stiction"
local worse = require "worse"
local stored_energy = require "stored_energy"

local p = stn.params {
  bricks = 4,
  modulus = 5e4,            -- [Pa]
  resolution = 0.1,         -- of the bricks [m]
  relaxation_time = 0.05,   -- of a contact [s]
  mu = 0.6,
  dt = 0.002,               -- [s]
  seconds = 1.0,            -- [s]
}

local a, b, H, mass, g = 0.16, 0.08, 0.03, 0.6, 9.81

local world = stn.world { dt = p.dt, contact = "hydroelastic", solver = { "sap", tolerance = 1e-8 } }
world:ground { name = "ground" }
local bricks = {}
for i = 1, p.bricks do
  bricks[i] = world:box {
    name = "brick" .. i, size = { a, b, 2 * H }, mass = mass, rpy = { 0, 0, i % 2 == 0 and math.pi / 2 or 0 }, xyz = { 0, 0, (2 * i - 1) * H }, modulus = p.modulus, resolution = p.resolution,
    color = i % 2 == 0 and { 0.85, 0.45, 0.15 } or { 0.20, 0.45, 0.70 },
  }
end
world:contact_material { mu = p.mu, relaxation_time = p.relaxation_time }

--- What a rectangle carries that is pressed in by x, and the part of it beside the flat middle.
local function carried(x, length, width)
  local all = p.modulus / H * (length * width * x - (length + width) * x ^ 2 + 4 * x ^ 3 / 3)
  return all, all - p.modulus / H * (length - 2 * x) * (width - 2 * x) * x
end

--- How deep a brick gives way under a load on a rectangle, by Newton's method.
local function depth(load, length, width)
  local x = 0
  for _ = 1, 50 do
    local slope = p.modulus / H * (length * width - 2 * (length + width) * x + 4 * x ^ 2)
    x = x - (carried(x, length, width) - load) / slope
  end
  return x
end

local solids = { [0] = stored_energy.ground() }
for i, brick in ipairs(bricks) do solids[i] = stored_energy.box(brick, { a, b, 2 * H }, p.modulus) end

local function stored()
  local sum = 0
  for i, solid in ipairs(solids) do sum = sum + stored_energy.energy(solid, solids[i - 1]) end
  return sum
end

local ledger, unsolved = stored_energy.ledger(world:energy().total + stored()), 0
for step in world:run { seconds = p.seconds } do
  world:plot("height [m]", bricks[p.bricks]:position()[3] + H)
  world:plot("faces", step.face_count)
  if step.index % 5 == 0 then world:plot("energy [J]", ledger:add(step.energy_J + stored())) end
  unsolved = unsolved + (step.converged and 0 or 1)
end

local height, worst, friction, speed, tilt = 0, 0, 0, 0, 0
for i, brick in ipairs(bricks) do
  local load = (p.bricks - i + 1) * mass * g
  local x = i == 1 and depth(load, a, b) or depth(load, b, b)
  local all, beside = carried(x, b, b)
  height, friction = height - (i == 1 and x or 2 * x), math.max(friction, p.mu * beside / all)
  worst = worse(worst, math.abs(brick:position()[3] - ((2 * i - 1) * H + height)))
  speed = math.max(speed, brick:speed())
  tilt = worse(tilt, 1 - brick:pose():rotate { 0, 0, 1 }[3])
end
stn.result("compression", -height, "m")
stn.result("off_the_closed_form", worst / -height, "1")
stn.check("places of the bricks: off the closed form, over the compression", { value = worst / -height, limit = 1e-3 + friction })
stn.check("at rest", { value = speed, limit = 1e-5, unit = "m/s" })
stn.check("upright", { value = tilt, limit = 1e-9 })
stn.check("energy rises, over what it falls by", { value = ledger.rise / (ledger.first - ledger.lowest), limit = 1e-3 })
stn.check("steps not solved", { value = unsolved, limit = 0 })
