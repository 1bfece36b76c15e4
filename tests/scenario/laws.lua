-- SPDX-License-Identifier: Apache-2.0
-- Contact laws in whole scenes, against closed forms.
local stn = require "stiction"

local function run(world, seconds)
  for step in world:run { seconds = seconds } do
    assert(step.converged, "a step did not converge")
  end
end

-- A flat box slides over the floor; returns its gap to the floor without the indentation, and its speed before the
-- last step and after it.
local function glide(law, mu, dt, tau)
  local world = stn.world { dt = dt, law = law }
  world:ground {}
  local box = world:box { size = { 0.4, 0.4, 0.02 }, mass = 1, xyz = { 0, 0, 0.01 }, velocity = { 2, 0, 0 } }
  world:contact_material { mu = mu, stiffness = 1e5, relaxation_time = tau }
  run(world, 0.3)
  return box:position()[3] - 0.01 + 9.81 / (4 * 1e5), box:velocity().linear[1]
end

stn.test("while a body slides it glides as high as its law says", function()
  local mu, dt, tau = 0.3, 0.005, 0.002
  for _, law in ipairs { "lagged", "lagged_regularized" } do
    local gap, v = glide(law, mu, dt)
    stn.near(gap, 0, 1e-9, law)
    stn.near(v, 2 - mu * 9.81 * 0.3, 0.02, law .. ": speed") -- friction begins a step late
  end
  local gap, v = glide("similar", mu, dt)
  stn.near(gap, mu * dt * v, 1e-3 * mu * dt * v, "similar")
  gap, v = glide("sap", mu, dt, tau) -- the fall of the speed within tau shows
  stn.near(gap, mu * (dt + tau) * v, 1e-2 * mu * (dt + tau) * v, "sap")
end)

stn.test("a box on a slope creeps at v_s r/sqrt(1 - r^2), r the share of the friction that it takes", function()
  for _, law in ipairs { "lagged", "similar", "lagged_regularized", "hertz", "table" } do
    local angle, mu, v_s = 0.3, 0.5, 1e-4
    local world = stn.world { dt = 2e-3, law = law }
    world:ground { rpy = { 0, angle, 0 } }
    local box = world:box {
      size = { 0.2, 0.2, 0.02 }, rpy = { 0, angle, 0 }, xyz = { 0.01 * math.sin(angle), 0, 0.01 * math.cos(angle) },
    }
    world:contact_material { mu = mu }
    run(world, 1)
    local r, v = math.tan(angle) / mu, box:velocity().linear
    local predicted = v_s * r / math.sqrt(1 - r * r)
    stn.near(v[1] * math.cos(angle) - v[3] * math.sin(angle), predicted, 0.01 * predicted, law)
  end
end)

stn.test("a sphere that slides rolls in the end, at 5/7 of its speed", function()
  for _, law in ipairs { "lagged", "similar", "lagged_regularized" } do
    local world = stn.world { dt = 1e-3, law = law }
    world:ground {}
    local ball = world:sphere { radius = 0.05, mass = 0.5, xyz = { 0, 0, 0.05 }, velocity = { 2, 0, 0 } }
    world:contact_material { mu = 0.5, stiffness = 1e5, dissipation = 20 }
    run(world, 0.3)
    stn.near(ball:velocity().linear[1], 2 * 5 / 7, 2e-3, law)
  end
end)

-- How far a ball of 1 kg lies below touch.
local function indentation(law, z)
  local world = stn.world { dt = 2e-3, law = law }
  world:ground {}
  local ball = world:sphere { radius = 0.05, mass = 1, xyz = { 0, 0, z or 0.05 } }
  world:contact_material { mu = 0.5, stiffness = 1e5, dissipation = 2 }
  local lowest = math.huge
  for _ in world:run { seconds = 1 } do
    lowest = math.min(lowest, ball:position()[3] - 0.05)
  end
  return 0.05 - ball:position()[3], lowest
end

stn.test("a ball at rest lies as deep as the normal law says", function()
  stn.near(indentation("lagged"), 9.81 / 1e5, 1e-9, "lagged: k x = m g")
  stn.near(indentation("hertz"), (9.81 / (1e5 / math.sqrt(1e-4))) ^ (2 / 3), 1e-8, "hertz: k x^1.5/sqrt(x_0) = m g")
  stn.near(indentation("table"), 9.81e-4, 1e-7, "table: 10 N at 1 mm")
end)

stn.test("a barrier keeps bodies apart, also in an impact", function()
  local depth, lowest = indentation("barrier", 0.2)
  assert(lowest > 0, "they touched")
  local h, g = 1e-3, -depth
  stn.near(1e5 * (h - g) * ((h - g) / g - 2 * math.log(g / h)), 9.81, 1e-4, "the force at the gap carries the weight")
  stn.fails(function() indentation("barrier", 0.05) end, "keeps bodies apart that start apart")
end)

stn.test("a world tells which plugins it uses, as stn.world takes them", function()
  local world = stn.world { law = { "lagged", stiction_tolerance = 3e-5 }, solver = { "sap", line_search = "armijo" } }
  local law, solver = world:plugin "law", world:plugin "solver"
  assert(law[1] == "lagged" and law.stiction_tolerance == 3e-5 and law.beta == 1 and law.sigma == nil)
  assert(solver[1] == "sap" and solver.line_search == "armijo" and math.type(solver.max_iterations) == "integer")
  assert(stn.world { law = law, solver = solver }.parameters == world.parameters)
  assert(world:plugin "factor" == nil, "none was chosen")
  stn.fails(function() world:plugin "laws" end, "did you mean 'law'")
end)

stn.test("a table that is none is refused, with the point and why", function()
  local cases = {
    ["0.001"] = "point 1 must be two numbers", ["0.001 1, x"] = "point 2 must be two numbers",
    ["0.001 1; 0.002 2"] = "point 1 must be two numbers", ["-1 1"] = "point 1 must lie deeper",
    ["0.001 2, 0.002 1"] = "point 2 must lie deeper than the one before, with no smaller force",
    [""] = "point 1 must be two numbers", ["0.001 1,"] = "point 2 must be two numbers", ["inf 1"] = "point 1 must be two",
    ["0.001 0, 0.002 0"] = "every force is 0, so contacts would hold nothing",
  }
  for text, words in pairs(cases) do
    stn.fails(function() stn.world { law = { "table", force = text } }:step() end, words)
  end
  local many = {}
  for i = 1, 33 do
    many[i] = ("%g %g"):format(1e-3 * i, i)
  end
  stn.fails(function() stn.world { law = { "table", force = table.concat(many, ",") } }:step() end, "at most 32")
end)
