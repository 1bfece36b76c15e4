-- SPDX-License-Identifier: Apache-2.0
-- Cylinders, coins and ellipsoids that stand, tip, roll and rock, against closed forms.
local stn = require "stiction"
local worse = require "worse"

local g = 9.81

local function floor_world(dt, mu)
  local world = stn.world { dt = dt, solver = { "sap", tolerance = 1e-8 } }
  world:ground { name = "floor" }
  world:contact_material { mu = mu }
  return world
end

--- Angle between the body's axis z and the vertical.
local function tilt(body)
  local axis = body:pose():rotate { 0, 0, 1 }
  return math.acos(math.max(-1, math.min(1, axis[3])))
end

--- The largest rise of the energy above its running minimum: what a step of first order on a moving contact point makes.
local function energy_rise(world, seconds)
  local lowest, rise = world:energy().total, 0
  for step in world:run { seconds = seconds } do
    rise = worse(rise, step.energy_J - lowest)
    lowest = math.min(lowest, step.energy_J)
  end
  return rise
end

stn.test("a cylinder on its cap tips at F h = m g r, in any direction", function()
  local radius, length, mass = 0.05, 0.3, 2
  local tipping = mass * g * radius / (length / 2) -- pushed at its centre
  for dt, off in pairs { [0.001] = 0.03, [0.005] = 0.08 } do -- the contact gives way as dt^2, and the push comes at once
    for i = 0, 7 do
      for _, share in ipairs { 1 - off, 1 + off } do
        local world, direction = floor_world(dt, 0.9), 0.2 + i * math.pi / 4
        local can = world:cylinder { radius = radius, length = length, mass = mass, xyz = { 0, 0, length / 2 } }
        local force = share * tipping
        can:apply_force { force = { force * math.cos(direction), force * math.sin(direction), 0 } }
        for _ in world:run { seconds = 1 } do
        end
        local what = ("pushed by %g of the force towards %.2f rad, dt %g"):format(share, direction, dt)
        if share < 1 then
          assert(tilt(can) < 2e-3, what .. ": it tips by " .. tilt(can))
          assert(can:speed() < 1e-3, what .. ": it moves")
        else
          assert(tilt(can) > 0.1, what .. ": it stands")
        end
      end
    end
  end
end)

stn.test("a cylinder on its side rolls on at v = omega r and keeps its energy", function()
  for _, dt in ipairs { 0.001, 0.005 } do
    local world = floor_world(dt, 0.5)
    local log = world:cylinder {
      radius = 0.1, length = 0.4, mass = 3, rpy = { math.pi / 2, 0, 0 }, xyz = { 0, 0, 0.1 },
      velocity = { linear = { 1, 0, 0 }, angular = { 0, 10, 0 } },
    }
    world:step() -- it sinks by the compliance of the contact
    local energy = world:energy().kinetic
    for _ in world:run { seconds = 2 } do
    end
    local velocity = log:velocity()
    stn.near(velocity.linear[1], 1, 1e-4, "speed")
    stn.near(velocity.angular[2] * 0.1, velocity.linear[1], 1e-4, "omega r")
    stn.near(world:energy().kinetic, energy, 1e-4 * energy, "kinetic energy after 2 s")
    stn.near(log:position()[2], 0, 1e-6, "it rolls straight")
  end
end)

stn.test("a cylinder thrown without spin ends rolling at 2/3 of its speed", function()
  local world = floor_world(0.001, 0.4)
  local log = world:cylinder {
    radius = 0.1, length = 0.4, mass = 3, rpy = { math.pi / 2, 0, 0 }, xyz = { 0, 0, 0.1 }, velocity = { 1.5, 0, 0 },
  }
  for _ in world:run { seconds = 1 } do
  end
  stn.near(log:velocity().linear[1], 1, 2e-3, "angular momentum about the floor is kept")
end)

stn.test("a cylinder on its edge rolls on the rim, falls, and gains no energy", function()
  for _, dt in ipairs { 0.001, 0.005 } do
    for _, lean in ipairs { 0.3, 0.9, 1.3 } do
      local world, radius, half = floor_world(dt, 0.5), 0.1, 0.15
      local can = world:cylinder {
        radius = radius, length = 2 * half, mass = 2, rpy = { lean, 0, 0 },
        xyz = { 0, 0, half * math.cos(lean) + radius * math.sin(lean) },
        velocity = { angular = { 0, 0, 3 } },
      }
      local energy = world:energy().total
      local rise = energy_rise(world, 3)
      assert(world:energy().total < energy and rise < 3 * dt * energy, ("leaning %g, dt %g: energy grew by %g J of %g J"):format(lean, dt, rise, energy))
      assert(lean < 0.5 or math.abs(tilt(can) - math.pi / 2) < 0.01, "it lies in the end")
    end
  end
end)

stn.test("a spinning coin gains no energy", function()
  for _, dt in ipairs { 0.0005, 0.002 } do
    local world, radius, half = floor_world(dt, 0.3), 0.04, 0.002
    local lean = 1.2
    world:cylinder {
      name = "coin", radius = radius, length = 2 * half, density = 8000, rpy = { lean, 0, 0 },
      xyz = { 0, 0, half * math.cos(lean) + radius * math.sin(lean) }, velocity = { angular = { 0, 0, 25 } },
    }
    local energy = world:energy().total
    local rise = energy_rise(world, 2)
    assert(world:energy().total < energy and rise < 5 * dt * energy, ("dt %g: energy grew by %g J of %g J"):format(dt, rise, energy))
  end
end)

stn.test("an ellipsoid rocks with the period of its curvature", function()
  local a, b, c, mass = 0.2, 0.15, 0.1, 2
  -- rolling in the plane of x and z on the radius of curvature a^2 / c, its centre c above the floor
  local inertia = mass * (a ^ 2 + c ^ 2) / 5
  local period = 2 * math.pi * math.sqrt((inertia + mass * c ^ 2) / (mass * g * (a ^ 2 / c - c)))
  local world = floor_world(0.0005, 1)
  local start = 0.02
  local height = math.sqrt((a * math.sin(start)) ^ 2 + (c * math.cos(start)) ^ 2)
  local egg = world:ellipsoid { radii = { a, b, c }, mass = mass, rpy = { 0, start, 0 }, xyz = { 0, 0, height } }
  local crossings, before = {}, nil
  for step in world:run { seconds = 5 * period } do
    local spin = egg:velocity().angular[2]
    if before and before < 0 and spin >= 0 then
      crossings[#crossings + 1] = step.time - world.dt * spin / (spin - before)
    end
    before = spin
  end
  local measured = (crossings[#crossings] - crossings[1]) / (#crossings - 1)
  stn.near(measured, period, 2e-3 * period, "period")
end)

-- An ellipsoid of revolution that rocks where it was let go, at rest and tilted; coarser steps against a fine one.
local function rocking(integrator, dt, seconds, mu)
  local a, c, start = 0.1, 0.06, 0.3
  local world <close> = stn.world { dt = dt, integrator = integrator, solver = { "sap", tolerance = 1e-10 } }
  world:ground { name = "floor" }
  world:contact_material { mu = mu or 1 }
  local height = math.sqrt((a * math.sin(start)) ^ 2 + (c * math.cos(start)) ^ 2)
  local egg = world:ellipsoid { radii = { a, a, c }, mass = 1, rpy = { 0, start, 0 }, xyz = { 0, 0, height } }
  local rest = g * c
  local above = world:energy().total - rest
  local rise = energy_rise(world, seconds)
  return egg:position()[1], (world:energy().total - rest) / above, rise / above
end

stn.test("an ellipsoid that rocks keeps its energy with midpoint", function()
  for dt, kept in pairs { [0.002] = 0.995, [0.001] = 0.998 } do -- 1.55 and 1.25 with contacts taken where a step begins
    for _, mu in ipairs { 0.3, 1 } do
      local _, left, rise = rocking("midpoint", dt, 3, mu)
      assert(left > kept and left < 1 and rise < 1e-3, ("dt %g, mu %g: %g of it is left, it rose by %g"):format(dt, mu, left, rise))
    end
  end
end)

stn.test("an ellipsoid that rocks is followed with the order of midpoint", function()
  local exact = rocking("midpoint", 1.25e-4, 0.48)
  local coarse, fine = math.abs(rocking("midpoint", 0.004, 0.48) - exact), math.abs(rocking("midpoint", 0.002, 0.48) - exact)
  assert(math.log(coarse / fine, 2) > 1.8 and coarse < 2e-4, ("errors %g m, %g m"):format(coarse, fine))
end)

stn.test("a disk that spins on its rim and an ellipsoid that spins and slips gain no energy with midpoint", function()
  for _, dt in ipairs { 0.001, 0.002 } do
    local function run(make)
      local world <close> = stn.world { dt = dt, integrator = "midpoint", solver = { "sap", tolerance = 1e-10 } }
      world:ground { name = "floor" }
      world:contact_material { mu = 1 }
      local body, rest = make(world)
      local above = world:energy().total - body:mass() * g * rest
      local rise = energy_rise(world, 2)
      assert(rise < 0.02 * above, ("dt %g: energy rose by %g of %g J"):format(dt, rise, above))
    end
    run(function(world)
      local radius, half, lean = 0.04, 0.002, 1.2
      return world:cylinder {
        radius = radius, length = 2 * half, density = 8000, rpy = { lean, 0, 0 },
        xyz = { 0, 0, half * math.cos(lean) + radius * math.sin(lean) }, velocity = { angular = { 0, 0, 25 } },
      }, half
    end)
    run(function(world)
      return world:ellipsoid {
        radii = { 0.2, 0.15, 0.1 }, mass = 2, rpy = { 0.3, 0.4, 0 }, xyz = { 0, 0, 0.125 }, velocity = { angular = { 1, 3, 5 } },
      }, 0.1
    end)
  end
end)
