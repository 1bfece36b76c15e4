-- SPDX-License-Identifier: Apache-2.0
-- The static coefficient: what rests holds up to mu_static, what slides feels mu; and what materials with a name give.
local stn = require "stiction"
local worse = require "worse"

local g, mu, mu_static = 9.81, 0.3, 0.6

--- A box on the ground whose contact has both coefficients; `tilt` leans the whole scene.
local function scene(law, tilt, dt)
  local world = stn.world { dt = dt, law = law, solver = { "sap", tolerance = 1e-10 } }
  world:ground { rpy = { 0, tilt, 0 } }
  local box = world:box {
    size = { 0.4, 0.4, 0.04 }, mass = 2, rpy = { 0, tilt, 0 }, xyz = { 0.02 * math.sin(tilt), 0, 0.02 * math.cos(tilt) },
  }
  world:contact_material { mu = mu, mu_static = mu_static }
  return world, box
end

stn.test("between the two angles a box holds when it rests and slides with g (sin - mu cos) once it moves", function()
  local tilt, push = 0.45, 0.05 -- tan 0.45 = 0.483
  local function downhill(v)
    return v[1] * math.cos(tilt) - v[3] * math.sin(tilt)
  end
  for _, law in ipairs { "sap", "similar" } do -- under lagged a new contact has no friction in its first step
    local world, box = scene(law, tilt, 1e-3)
    for _ in world:run { seconds = 0.5 } do
    end
    -- sigma mu g dt, or v_s r/sqrt(1 - r^2) at the load ratio r = tan(tilt)/mu_static = 0.805
    local creep = law == "sap" and 1e-3 * mu_static * g * 1e-3 or 1.4e-4
    assert(math.abs(downhill(box:velocity().linear)) < creep, law .. " lets the box go")
    box:set_velocity { push * math.cos(tilt), 0, -push * math.sin(tilt) }
    for _ in world:run { seconds = 0.5 } do
    end
    local expected = push + 0.5 * g * (math.sin(tilt) - mu * math.cos(tilt))
    stn.near(downhill(box:velocity().linear), expected, 2e-3 * expected, law .. ": speed")
  end
end)

stn.test("a force breaks a box away at mu_static m g, and it then slides against mu m g", function()
  local weight = 2 * g
  local function speed(force, start)
    local world, box = scene("sap", 0, 1e-3)
    box:set_velocity { start, 0, 0 }
    box:apply_force { force = { force, 0, 0 } }
    for _ in world:run { seconds = 0.5 } do
    end
    return box:velocity().linear[1]
  end
  assert(speed(mu_static * weight * (1 - 1e-4), 0) < 1e-5, "it goes too early")
  assert(speed(mu_static * weight * (1 + 1e-4), 0) > 1, "it holds too long")
  -- 3e-4: sap lifts what slides by mu (dt + tau) v, so that a box gaining 1.96 m/s^2 is pressed 1.2e-3 m/s / (g 0.5 s) harder
  stn.near((0.5 * weight - (speed(0.5 * weight, 1) - 1) / 0.5 * 2) / weight, mu, 3e-4 * mu, "what slows it down")
  local world, box = scene("sap", 0, 1e-3)
  box:set_velocity { 1, 0, 0 }
  for step in world:run { seconds = 0.1 } do
    for _, contact in ipairs(step:contacts()) do
      stn.near(contact.friction_impulse, mu * contact.normal_impulse, 1e-12, "sliding friction")
    end
  end
end)

--- Largest friction of a resting contact under the smoothed laws, by the normal force: mu(s) s/sqrt(1 + s^2) over the slip
--- s v_s; 2 % below mu_static.
local function break_away()
  local function f(x)
    return x / math.sqrt(1 + x * x)
  end
  local most = 0
  for s = 0, 20, 1e-3 do
    most = worse(most, f(s) * (mu + (mu_static - mu) / 2 * (1 - f(s - 10) / f(10))))
  end
  return most
end

-- A mass on a spring, on a belt of speed V: it is carried to the pull F where it breaks away, slips as an oscillator about
-- mu N, and sticks again at 2 mu N - F. With A = (F - mu N) / k and w = sqrt(k/m) its amplitude is hypot(A, V/w), slip lasts
-- (2 pi - 2 atan(A w / V)) / w, stick 2 A / V.
stn.test("stick-slip on a belt has the pull and the period of the closed form", function()
  local m, k, V, dt, v_s = 2, 200, 0.1, 5e-4, 1e-6
  local world = stn.world { dt = dt, law = { "lagged", stiction_tolerance = v_s } }
  world:box { fixed = true, size = { 6, 1, 0.2 }, xyz = { 0, 0, -0.1 }, surface_velocity = { V, 0, 0 } }
  local box = world:box { size = { 0.4, 0.4, 0.04 }, mass = m, xyz = { 0, 0, 0.02 }, velocity = { V, 0, 0 } }
  world:contact_material { mu = mu, mu_static = mu_static }
  world:constraint { "distance", a = box, b_point = { -1, 0, 0.02 }, length = 1, stiffness = k }
  local N, w = m * g, math.sqrt(k / m)
  local late = math.sqrt(20 * v_s * m * k * V) -- the pull grows while slip comes to 10 v_s
  local A = ((break_away() - mu) * N + late) / k
  local period = (2 * math.pi - 2 * math.atan(A * w / V)) / w + 2 * A / V
  local least, most, starts, sliding = math.huge, 0, {}, false
  for step in world:run { seconds = 5 } do
    local slips = math.abs(box:velocity().linear[1] - V) > 0.02
    if slips and not sliding then
      starts[#starts + 1] = step.time
    end
    if #starts > 0 then
      least, most = math.min(least, k * box:position()[1]), math.max(most, k * box:position()[1])
    end
    sliding = slips
  end
  assert(#starts >= 4, "it does not stick and slip")
  local swing = k * math.sqrt(A * A + V * V / (w * w)) -- the step damps it by pi w dt / 2 = 0.8 % in half a turn
  stn.near({ least, most }, { mu * N - swing, mu * N + swing }, 0.01 * swing, "least and largest pull")
  stn.near((starts[#starts] - starts[1]) / (#starts - 1), period, 0.005 * period, "period")
end)

stn.test("mu alone means both coefficients, and mu_static may not be the smaller one", function()
  local function friction(surface, pair)
    local world = stn.world {}
    world:ground(surface)
    surface.size, surface.xyz = { 0.1, 0.1, 0.1 }, { 0, 0, 0.05 }
    world:box(surface)
    if pair then
      world:contact_material(pair)
    end
    return world:step():contacts()[1].mu
  end
  stn.near(friction { mu = 0.3, mu_static = 0.6 }, 0.6, 1e-9, "at rest")
  stn.near(friction({ mu = 0.3, mu_static = 0.6 }, { mu = 0.4 }), 0.4, 1e-15, "the pair's")
  stn.near(friction({ mu = 0.3, mu_static = 0.6 }, { mu_static = 0.8 }), 0.8, 1e-9, "the pair's at rest")
  stn.near(friction { material = "steel" }, 0.74, 1e-9, "steel")
  stn.near(friction { material = "steel", mu = 0.2 }, 0.2, 1e-15, "steel, but slippery")
  stn.near(friction { material = "steel", mu_static = 0.9 }, 0.9, 1e-9, "steel, but sticky")
  stn.fails(function()
    friction { mu = 0.5, mu_static = 0.4 }
  end, "mu_static = 0.4 must be at least mu = 0.5")
  stn.fails(function()
    friction { mu_static = 0.4 }
  end, "mu_static = 0.4 must be at least mu, which is 0.5 unless stated")
  stn.fails(function()
    friction({}, { mu = 0.9, mu_static = 0.2 })
  end, "contact material of links 'any' and 'any': mu_static = 0.2 must be at least mu = 0.9")
  local world = stn.world {}
  stn.fails(function() -- the file states mu = 0.5 of this link
    world:load { "models/wsg50/wsg50.xml", mu_static = 0.1 }
  end, "group 'wsg50': link 'wsg50_base': mu_static = 0.1 must be at least mu = 0.5")
  world:load { "models/wsg50/wsg50.xml", mu = 0.05, mu_static = 0.1 }
end)

stn.test("a robot file cannot hold mu_static, which saving says", function()
  local files <close> = require "files"()
  for _, format in ipairs { "urdf", "sdf", "xml" } do
    local world = stn.world {}
    local robot = world:load { "models/iiwa14/iiwa14.urdf", mu = mu, mu_static = mu_static }
    local lost = {}
    for _, finding in ipairs(robot:save(files:path("." .. format))) do
      lost[finding.code] = finding.text
    end
    assert((lost["static-friction"] or ""):find("mu_static = 0.6", 1, true), format)
  end
end)

stn.test("a material by name gives density and friction unless they are stated, and a wrong name the nearest", function()
  local world = stn.world {}
  local function cube(keys)
    keys.size = { 0.1, 0.1, 0.1 }
    return world:box(keys)
  end
  local cubes = { cube { material = "steel" }, cube { material = "steel", mass = 2 }, cube { material = "steel", density = 5000 }, cube {} }
  local parts = { { "box", size = { 0.1, 0.1, 0.1 }, material = "steel" }, { "box", size = { 0.1, 0.1, 0.1 }, xyz = { 0.1, 0, 0 } } }
  local both = world:compound { shapes = parts }
  local robot = world:load { "models/iiwa14/iiwa14.urdf", material = "rubber" }
  for i, mass in ipairs { 7.85, 2, 5, 1 } do
    stn.near(cubes[i]:mass(), mass, 1e-12, "mass")
  end
  stn.near(both:mass(), 8.85, 1e-12, "each part has its own density")
  assert(robot:mass() > 10)
  local brass = stn.material "brass"
  stn.near({ brass.density, brass.mu, brass.mu_static, brass.modulus }, { 8530, 0.36, 0.39, 110e9 }, 0, "brass")
  for _, make in ipairs { function() stn.world {}:sphere { radius = 1, material = "stel" } end, function() stn.material "stel" end,
    function() stn.world {}:ground { material = "stel" } end,
    function() stn.world {}:load { "models/iiwa14/iiwa14.urdf", material = "stel" } end } do
    stn.fails(make, "the table of materials has no 'stel', did you mean 'steel'?")
  end
end)
