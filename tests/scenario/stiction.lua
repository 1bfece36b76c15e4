-- SPDX-License-Identifier: Apache-2.0
-- True stiction: what sticks holds its place, whatever the law; what slides, slides as without.
local stn = require "stiction"
local worse = require "worse"
local files <close> = require "files"()

local full = os.getenv("STICTION_TEST_TIER") == "full"
local g = 9.81
local laws = { "sap", "lagged", "similar", "lagged_regularized", "hertz", "table" } -- barrier: bodies must start apart

local function along(a, b)
  return a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
end

local function downhill(angle)
  return { math.cos(angle), 0, -math.sin(angle) }
end

-- A box of 1 kg, 0.1 m, on a slope, or `gap` above it.
local function on_slope(angle, mu, options, gap, stiffness)
  local height = 0.05 + (gap or 0)
  options.stiction = options.stiction ~= false
  local world = stn.world(options)
  world:ground { name = "slope", rpy = { 0, angle, 0 } }
  local box = world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, rpy = { 0, angle, 0 },
    xyz = { height * math.sin(angle), 0, height * math.cos(angle) } }
  world:contact_material { mu = mu, stiffness = stiffness }
  return world, box
end

-- The same on level ground.
local function on_floor(mu, options)
  return on_slope(0, mu, options)
end

local function run(world, seconds)
  for _ in world:run { seconds = seconds } do end
end

for _, law in ipairs(laws) do
  stn.test("a box on a slope of 20 degrees with mu = 1 stays where it is: " .. law, function()
    local angle = 20 * stn.deg
    local world, box = on_slope(angle, 1, { dt = 2e-3, law = law })
    run(world, 1)
    local before = along(downhill(angle), box:position())
    run(world, full and 600 or 20)
    -- in 20 s without stiction it creeps by 88 um (sap) and 780 um (laws of soft norm)
    stn.near(along(downhill(angle), box:position()), before, 1e-12, "place along the slope")
  end)
end

for _, solver in ipairs(stn.plugins "solver") do
  stn.test("what a solver leaves in a step, within its tolerance, is taken back: " .. solver, function()
    local angle = 20 * stn.deg
    local world, box = on_slope(angle, 1, { dt = 2e-3, solver = { solver, tolerance = 1e-8 } })
    run(world, 1)
    local before = along(downhill(angle), box:position())
    run(world, 10)
    stn.near(along(downhill(angle), box:position()), before, 10 * 1e-8 * 2e-3, "place along the slope")
  end)
end

stn.test("a box that a barrier holds off the slope stays where it is", function()
  local angle = 20 * stn.deg
  local world, box = on_slope(angle, 1, { dt = 1e-3, law = "barrier" }, 5e-4, 1e5)
  run(world, 5)
  local before = box:position()
  run(world, 5)
  stn.near(box:position(), before, 1e-12, "place") -- 180 um without stiction
end)

stn.test("dt from 1e-5 to 1e-2: the box is held", function()
  local angle = 20 * stn.deg
  for _, dt in ipairs { 1e-5, 1e-4, 1e-3, 1e-2 } do
    local world, box = on_slope(angle, 1, { dt = dt })
    run(world, 100 * dt)
    local before = along(downhill(angle), box:position())
    run(world, 1000 * dt)
    stn.near(along(downhill(angle), box:position()), before, 1e-3 * 1e-3 * g * dt * dt, "place, of what gives way at its cone")
  end
end)

-- Inverse mass of a corner of the box that the laws see, |J M^-1 J^T|_F/3: 1 kg, I = m a^2/6, arms of a/2.
local corner = math.sqrt(1 + 2 * 5.5 ^ 2) / 3

stn.test("a constant push below the cone: the box gives way by what balances it, once; let go, it comes back", function()
  local dt, mu = 1e-3, 0.5
  local world, box = on_floor(mu, { dt = dt, solver = { "sap", tolerance = 1e-12 } })
  run(world, 0.5)
  for _, share in ipairs { 0.5, 0.95 } do
    local rest = box:position()[1]
    box:apply_force { force = { share * mu * g, 0, 0 }, point = { rest, 0, 0 } }
    run(world, 1)
    local held = box:position()[1]
    local predicted = 1e-3 * corner * share * mu * (g / 4) * dt * dt -- f R_t mu gamma_n dt, a quarter of the weight each
    stn.near(held - rest, predicted, 1e-3 * predicted, "way")
    run(world, 5)
    stn.near(box:position()[1], held, 1e-13, "and no farther")
    box:apply_force { force = { -share * mu * g, 0, 0 }, point = { held, 0, 0 } }
    run(world, 1)
    stn.near(box:position()[1] - rest, -predicted, 1e-3 * predicted, "pushed back")
    box:apply_force {}
    run(world, 1)
    stn.near(box:position()[1], rest, 1e-13, "let go")
  end
end)

stn.test("a push above the cone: it slides with what is left of it; what slides, slides as without stiction", function()
  for _, law in ipairs { "sap", "lagged", "similar" } do
    local speed = {}
    for _, stiction in ipairs { true, false } do
      local world, box = on_floor(0.5, { dt = 1e-3, law = law, stiction = stiction })
      run(world, 0.5)
      box:apply_force { force = { 1.2 * 0.5 * g, 0, 0 }, point = { 0, 0, 0 } }
      for step in world:run { seconds = 1 } do
        box:apply_force { force = { 1.2 * 0.5 * g, 0, 0 }, point = { box:position()[1], 0, 0 } }
      end
      speed[stiction] = box:velocity().linear[1]
    end
    stn.near(speed[true], 0.2 * 0.5 * g, 2e-3, law .. ": speed")
    stn.near(speed[true], speed[false], 1e-5, law .. ": with and without")
  end
end)

-- A sine below the slip acceleration: 0.1 (2 pi)^2 = 3.9 < mu g = 4.9.
local amplitude, omega, dt_belt = 0.1, 2 * math.pi, 1e-3

local function ride(make_belt, options)
  options.dt, options.stiction = dt_belt, options.stiction ~= false
  local world = stn.world(options)
  local move = make_belt(world)
  local box = world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 } }
  world:contact_material { mu = 0.5 }
  box:set_velocity { amplitude * omega, 0, 0 }
  local start
  for k = 1, 5000 do
    local x = move(k)
    world:step()
    if k == 1000 then start = box:position()[1] - x end
    if k > 1000 and k % 1000 == 0 then stn.near(box:position()[1] - x, start, 2e-9, "place on the belt after each cycle") end
  end
end

local function belt(world)
  local x, plate = 0, world:box { name = "belt", fixed = true, size = { 4, 1, 0.1 }, xyz = { 0, 0, -0.05 } }
  return function(k)
    local v = amplitude * omega * math.cos(omega * k * dt_belt)
    plate:set_surface_velocity { v, 0, 0 }
    x = x + dt_belt * v
    return x
  end
end

local function plate(world)
  world:box { name = "plate", size = { 4, 1, 0.1 } }:kinematic(function(t)
    return { xyz = { amplitude * math.sin(omega * t), 0, -0.05 } }, { linear = { amplitude * omega * math.cos(omega * t), 0, 0 } }
  end)
  return function(k) return amplitude * math.sin(omega * k * dt_belt) end
end

stn.test("a box on a belt that goes to and fro stays on its place", function()
  ride(belt, {})
  ride(belt, { law = "similar" })
end)

stn.test("a box on a plate that goes to and fro stays on its place, whatever the integrator", function()
  ride(plate, {})
  ride(plate, { law = "lagged" })
  ride(plate, { integrator = "midpoint" })
end)

-- Two pads press a body of 0.2 kg and turn with it about a horizontal axis, by 360 degrees from t = 1 to 3 s.
local function gripper(shape, options, squeeze)
  options.dt, options.stiction = options.dt or 1e-3, options.stiction ~= false
  local world, half = stn.world(options), 0.02
  for side = -1, 1, 2 do
    world:box { name = "pad" .. side, size = { 0.02, 0.06, 0.06 } }:kinematic(function(t)
      local u = math.min(1, math.max(0, (t - 1) / 2))
      local a, rate = 2 * math.pi * u - math.sin(2 * math.pi * u), math.pi * (1 - math.cos(2 * math.pi * u))
      local x = side * (half + 0.01 - squeeze(t))
      local X, Z = math.cos(a) * x, -math.sin(a) * x
      return { xyz = { X, 0, Z }, rpy = { 0, a, 0 } }, { linear = { rate * Z, 0, -rate * X }, angular = { 0, rate, 0 } }
    end)
  end
  local body
  if shape == "box" then
    body = world:box { name = "body", size = { 2 * half, 0.04, 0.04 }, mass = 0.2 }
  else
    body = world:sphere { name = "body", radius = half, mass = 0.2 }
  end
  world:contact_material { mu = 0.7, stiffness = 1e6 }
  return world, body
end

for _, case in ipairs { { "box" }, { "sphere" }, { "box", law = "lagged" }, { "box", integrator = "midpoint" } } do
  local shape, law, integrator = case[1], case.law, case.integrator
  stn.test(("a %s in a gripper that turns over comes back to where it was: %s, %s"):format(shape, law or "sap",
    integrator or "symplectic_euler"), function()
    local world, body = gripper(shape, { law = law, integrator = integrator, solver = { "sap", tolerance = 1e-10 } },
      function() return 1e-5 end)
    run(world, 1)
    local before = body:position()
    run(world, 2.5)
    stn.near(body:position(), before, 1e-12, "place") -- 10 um off without stiction
  end)
end

-- What the points of rolling bodies move by is dt^2 omega^3 r/6 off what slips: no more than the transition speed of it is seen.
stn.test("rolling is not held: a ball gains 5/7 g sin(angle), a cylinder 2/3, and rolls", function()
  local angle, dt, mu, at = 0.2, 1e-3, 0.5, { 0.1 * math.sin(0.2), 0, 0.1 * math.cos(0.2) }
  for _, shape in ipairs { "sphere", "cylinder" } do
    local world = stn.world { dt = dt, stiction = true, solver = { "sap", tolerance = 1e-10 } }
    world:ground { rpy = { 0, angle, 0 } }
    local size = shape == "cylinder" and { length = 0.2, rpy = { math.pi / 2, 0, 0 } } or {}
    local body = world[shape](world, { xyz = at, rpy = size.rpy, length = size.length, radius = 0.1, mass = 1 })
    world:contact_material { mu = mu }
    run(world, 1)
    local share, w = shape == "sphere" and 5 / 7 or 2 / 3, math.sqrt(1 + 2 * 3.5 ^ 2) / 3 -- of a ball; that of a cylinder is larger
    stn.near(along(downhill(angle), body:velocity().linear), share * g * math.sin(angle), 1e-5, shape .. ": speed")
    for _, contact in ipairs(world:contacts()) do
      assert(contact.state == "stick" and contact.slip_speed <= 1e-3 * (shape == "sphere" and w or 2 * w) * mu * g * dt, "rolls")
    end
  end
end)

-- dt^2/2 of what bends a curve is only the first term of a series. Where a body, or what carries it, turns far in a step,
-- friction against that term alone would drive the body: energy would come from nothing.
local function rise_of_energy(world, steps)
  local start, most = world:energy().total, 0
  for _ = 1, steps do
    world:step()
    most = worse(most, world:energy().total / start - 1)
  end
  return most
end

for _, solver in ipairs { "sap", "ipm", "nsgs", "newton_ncp" } do
  stn.test("a box that turns by 0.3 to 10 rad in a step falls on the floor: its energy never rises: " .. solver, function()
    for _, dt in ipairs { 0.01, 0.02, 0.05 } do
      for _, angle in ipairs { 0.3, 0.6, 1, 1.5, 2.2, 3, 5, 10 } do
        for seed = 1, 4 do
          local world = stn.world { dt = dt, stiction = true, solver = solver }
          world:ground {}
          local axis = { math.sin(3.1 * seed), math.cos(1.7 * seed), math.sin(seed * seed) }
          local rate = angle / dt / math.sqrt(along(axis, axis))
          world:box { size = { 0.1, 0.1, 0.1 }, mass = 10, xyz = { 0, 0, 0.12 }, rpy = { 0.3 * seed, 0.2, 0.1 },
            velocity = { linear = { seed % 2, 0, -0.5 }, angular = { rate * axis[1], rate * axis[2], rate * axis[3] } } }
          local rise = rise_of_energy(world, 100)
          assert(rise <= 1e-9, ("%g rad in a step, dt = %g s, number %d: energy rises by %g of itself"):format(angle, dt, seed, rise))
        end
      end
    end
  end)
end

-- An arm turns, and along it slides a ball that turns back as fast, so that it is carried round without turning itself.
stn.test("a ball that an arm carries round by 0.3 to 6 rad in a step gains no energy from a floor", function()
  local body = '<inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
  local urdf = files:write(".urdf", ([[<robot name="wheel"><link name="base"/>
    <link name="arm">BODY</link><link name="slide">BODY</link>
    <link name="ball">BODY<collision><geometry><sphere radius="0.05"/></geometry></collision></link>
    <joint name="a" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
    <joint name="s" type="prismatic"><parent link="arm"/><child link="slide"/><axis xyz="1 0 0"/>
      <limit lower="-1000" upper="1000" effort="0" velocity="0"/></joint>
    <joint name="b" type="continuous"><parent link="slide"/><child link="ball"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/></joint>
  </robot>]]):gsub("BODY", body))
  for _, angle in ipairs { 0.3, 1, 3, 6 } do
    local dt = 0.01
    local world = stn.world { dt = dt, stiction = true, gravity = { 0, 0, 0 } }
    world:ground {}
    local robot = world:load { urdf, fixed = true, base = { xyz = { 0, 0, 0.049 } } }
    robot:set_v { a = angle / dt, b = -angle / dt }
    local rise = rise_of_energy(world, 100)
    assert(rise <= 1e-9, ("%g rad in a step: energy rises by %g of itself"):format(angle, rise))
  end
end)
