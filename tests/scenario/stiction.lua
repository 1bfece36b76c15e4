-- SPDX-License-Identifier: Apache-2.0
-- True stiction: what sticks holds its place, whatever the law; what slides, slides as without.
local stn = require "stiction"

local g = 9.81
local laws = { "sap", "lagged", "similar", "lagged_regularized", "hertz", "table" } -- barrier: bodies must start apart

local function along(a, b)
  return a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
end

local function downhill(angle)
  return { math.cos(angle), 0, -math.sin(angle) }
end

-- A box of 1 kg, 0.1 m, on a slope.
local function on_slope(angle, mu, options)
  options.stiction = options.stiction ~= false
  local world = stn.world(options)
  world:ground { name = "slope", rpy = { 0, angle, 0 } }
  local box = world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, rpy = { 0, angle, 0 },
    xyz = { 0.05 * math.sin(angle), 0, 0.05 * math.cos(angle) } }
  world:contact_material { mu = mu }
  return world, box
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
    run(world, 20)
    -- without stiction it creeps by 88 um (sap) and 780 um (laws of soft norm)
    stn.near(along(downhill(angle), box:position()), before, 1e-12, "place along the slope")
  end)
end

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
