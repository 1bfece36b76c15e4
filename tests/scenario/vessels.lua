-- SPDX-License-Identifier: Apache-2.0
-- Jar, lid and bowl are composed of convex parts: their insides must be hollow, and hold what is put in.
local stn = require "stiction"

local RADIUS, MASS = 0.0125, 0.05

--- Marbles in layers of a ring around the z axis through (x, y), from height z up.
local function marbles(world, count, ring, x, y, z)
  local all = {}
  for i = 0, count - 1 do
    local angle, layer = 2 * math.pi * (i % 5) / 5 + 0.3 * (i // 5), i // 5
    all[i + 1] = world:sphere { radius = RADIUS, mass = MASS, mu = 0.3,
      xyz = { x + ring * math.cos(angle), y + ring * math.sin(angle), z + 2.1 * RADIUS * layer } }
  end
  return all
end

local function simulate(world, seconds)
  for step in world:run { seconds = seconds } do
    assert(step.status ~= "failed")
  end
end

local function new_world()
  local world = stn.world { dt = 0.005 }
  world:ground { mu = 0.5 }
  return world
end

stn.test("a jar holds marbles without lifting off", function()
  local world = new_world()
  local jar = world:load { "models/vessels/jar.urdf", mu = 0.5 }
  local all = marbles(world, 16, 0.022, 0, 0, 0.020)
  simulate(world, 1)
  for _, marble in ipairs(all) do
    local p = marble:position()
    assert(math.sqrt(p[1] ^ 2 + p[2] ^ 2) < 0.036 - RADIUS + 1e-3 and p[3] > 0.006 + RADIUS - 1e-3, "a marble left the jar")
  end
  stn.near(jar:position()[3], 0, 2e-4, "height of the jar")
end)

-- Shifted and tilted, as a hand brings it; the jar stands in a vice.
stn.test("a lid goes onto a jar, is held by its stopper, and comes off", function()
  local world = stn.world { dt = 0.005, contact = "hydroelastic_with_fallback" }
  local jar = world:load { "models/vessels/jar.urdf", fixed = true, mu = 0.5 }
  local lid = world:load { "models/vessels/lid.urdf", mu = 0.5, base = { xyz = { 1e-3, 0, 0.1465 }, rpy = { 0.02, 0, 0.1 } } }
  local function pull(force, seconds)
    lid:apply_force { force = { 0, 0, force } }
    simulate(world, seconds)
    return lid:position()[3]
  end
  stn.near(pull(-15, 0.5), 0.138, 5e-4, "height of the lid that is pressed on") -- its plate at 0.012 above its origin, the rim at 0.150
  stn.near(lid:pose():rotate { 0, 0, 1 }, { 0, 0, 1 }, 1e-4, "its axis")
  stn.near(pull(3, 0.5), 0.138, 1e-6, "height of the lid that is pulled with 3 N")
  assert(world:in_contact(lid, jar))
  assert(pull(12, 0.5) > 0.3, "12 N do not take the lid off")
end)

stn.test("an upturned jar lets its marbles out, the bowl below catches them", function()
  local world = new_world()
  local bowl = world:load { "models/vessels/bowl.urdf", fixed = true }
  world:load { "models/vessels/jar.urdf", fixed = true, base = { xyz = { 0, 0, 0.25 }, rpy = { math.pi, 0, 0 } } }
  local all = marbles(world, 5, 0.022, 0, 0, 0.21)
  simulate(world, 1)
  for _, marble in ipairs(all) do
    local p = marble:position()
    assert(math.sqrt(p[1] ^ 2 + p[2] ^ 2) < 0.1 and p[3] > 0.006 and p[3] < 0.06, "a marble missed the bowl")
  end
  stn.near(bowl:position()[3], 0, 1e-12, "bowl")
end)
