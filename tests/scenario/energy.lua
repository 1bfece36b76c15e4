-- What contacts store, and the sum of energies that does not rise. Closed forms: a spring k holds k x^2/2, a Hertz
-- contact 2/5 F x, m g = k x at rest.
local stn = require "stiction"
local worse = require "worse"
local g = 9.81

local function settle(world, seconds)
  local last
  for step in world:run { seconds = seconds } do last = step end
  return last
end

local function ground(world, k, d)
  return world:ground { mu = 0.5, stiffness = k, dissipation = d or 0, relaxation_time = 0 }
end

stn.test("a ball at rest on a floor of stiffness k stores (m g)^2/(2 k)", function()
  for _, law in ipairs { "sap", "lagged", "similar", "lagged_regularized" } do
    local world = stn.world { dt = 1e-3, law = law }
    local k, m = 5e3, 2
    ground(world, k, 20)
    world:sphere { radius = 0.1, mass = m, xyz = { 0, 0, 0.1 - m * g / k } }
    local step = settle(world, 2)
    stn.near(step.contact_J, (m * g) ^ 2 / (2 * k), 1e-6 * (m * g) ^ 2 / k, law .. ": stored [J]")
    stn.near(step.total_energy_J, step.energy_J + step.contact_J, 1e-15, law .. ": the sum [J]")
  end
end)

stn.test("a box on four springs stores a quarter of what one spring would", function()
  local world = stn.world { dt = 1e-3 }
  local k, m = 2e4, 8
  world:ground { stiffness = k, relaxation_time = 0.02 }
  world:box { size = { 0.4, 0.3, 0.1 }, mass = m, xyz = { 0, 0, 0.05 } }
  stn.near(settle(world, 2).contact_J, (m * g) ^ 2 / (8 * k), 1e-6 * (m * g) ^ 2 / k, "stored [J]")
end)

stn.test("a Hertz contact at rest stores 2/5 of force times depth", function()
  local world = stn.world { dt = 1e-3, law = { "hertz", indentation = 1e-3 } }
  local k, m = 2e4, 1
  ground(world, k, 5)
  world:sphere { radius = 0.1, mass = m, xyz = { 0, 0, 0.1 } }
  local depth = (m * g * math.sqrt(1e-3) / k) ^ (2 / 3)
  stn.near(settle(world, 4).contact_J, 0.4 * m * g * depth, 1e-5 * m * g * depth, "stored [J]")
end)

stn.test("where a ball turns in a soft floor, the floor holds what the fall gave", function()
  local world = stn.world { dt = 1e-5 }
  local k, m, height = 1e3, 1, 0.2
  ground(world, k)
  local ball = world:sphere { radius = 0.1, mass = m, xyz = { 0, 0, 0.1 + height } }
  local most = 0
  for step in world:run { seconds = 0.4 } do most = worse(most, step.contact_J) end
  -- k x^2/2 = m g (h + x)
  local x = (m * g + math.sqrt((m * g) ^ 2 + 2 * k * m * g * height)) / k
  stn.near(most, 0.5 * k * x * x, 2e-3 * k * x * x, "most that is stored [J]")
  assert(ball:position()[3] > 0.1)
end)

local function tilted_box(world)
  local box = world:box { size = { 0.2, 0.1, 0.1 }, mass = 1, mu = 0.5, pose = { rpy = { 0.3, 0.4, 0.1 }, xyz = { 0, 0, 0.3 } } }
  box:set_velocity { linear = { 1, 0.3, 0 } }
end
local function ball(world)
  world:sphere { radius = 0.1, mass = 1, mu = 0.5, xyz = { 0, 0, 0.3 } }
end

--- The largest rise of the sum above its running minimum, over the first value.
local function rise(options, k, d, fill)
  local world = stn.world(options)
  ground(world, k, d)
  fill(world)
  local low, most, first = math.huge, 0, nil
  for step in world:run { seconds = 1 } do
    first = first or step.total_energy_J
    low = math.min(low, step.total_energy_J)
    most = worse(most, step.total_energy_J - low)
  end
  world:close()
  return most / first
end

for _, choice in ipairs { { "sap", "sap" }, { "sap", "lagged" }, { "sap", "similar" }, { "sap", "lagged_regularized" }, { "sap", "hertz" },
  { "sap", "table" }, { "bisection" }, { "nsgs" }, { "sap", "sap", "implicit_euler" } } do
  stn.test("the sum does not rise: " .. table.concat(choice, ", "), function()
    for _, dt in ipairs { 1e-3, 4e-3, 1e-2 } do
      for _, k in ipairs { 2e3, math.huge } do
        for _, d in ipairs { 0, 1 } do
          for _, fill in ipairs { ball, tilted_box } do
            local most = rise({ dt = dt, solver = choice[1], law = choice[2], integrator = choice[3] }, k, d, fill)
            -- ten times what sums of doubles and the solvers' tolerance leave
            stn.near(most, 0, 1e-11, string.format("rise over the first energy, dt %g, k %g, d %g", dt, k, d))
          end
        end
      end
    end
  end)
end

stn.test("the sum does not rise: sap, barrier", function()
  for _, dt in ipairs { 1e-3, 1e-4 } do
    local law = { "barrier", support = 5e-3 }
    stn.near(rise({ dt = dt, law = law }, 2e3, 0, ball), 0, 1e-11, string.format("rise over the first energy, dt %g", dt))
  end
end)

stn.test("patches: what faces store at rest is in the sum", function()
  local world = stn.world { dt = 1e-3, contact = "hydroelastic" }
  local floor = world:ground { mu = 0.5 }
  local box = world:box { size = { 0.2, 0.2, 0.1 }, mass = 2, xyz = { 0, 0, 0.05 }, modulus = 1e5, dissipation = 10 }
  local step = settle(world, 1)
  local patch = world:patch(box, floor)
  assert(step.contact_J > 0)
  stn.near(step.contact_J, patch.elastic_J, 1e-6 * patch.elastic_J, "stored [J]")
end)
