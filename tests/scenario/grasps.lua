-- SPDX-License-Identifier: Apache-2.0
-- Grasps of scripts/grasps: forces balance, creep is what closed forms say, and beyond the limit of friction things slip as Coulomb says.
local stn = require "stiction"
local folder = (debug.getinfo(1, "S").source:match "^@(.*)/" or ".") .. "/../../scripts/grasps/"
package.path = folder .. "?.lua;" .. folder .. "lib/?.lua;" .. package.path
local grasp = require "grasp"
local theory = require "slip_theory"

local g = 9.81
local scenes = {}
for i, name in ipairs { "slope", "pinch", "palms", "three_finger", "lift_and_shake", "screwdriver" } do scenes[i] = require(name) end

for _, scene in ipairs(scenes) do
  stn.test(scene.name .. ": forces balance, nothing tilts, and creep is what theory predicts", function()
    for _, law in ipairs { "sap", "lagged", "similar", "lagged_regularized" } do
      local m = grasp.measure(scene, grasp.parameters(scene, { law = law, seconds = 4.0 }))
      local weight = m.force[3]
      stn.near(m.unsolved, 0, 0, law .. ": steps not solved")
      stn.near(m.force_error, 0, 1e-6 * weight, law .. ": sum of the contact forces against the weight") -- creep changes little
      stn.near(m.normal, m.normal_expected, 1e-3 * m.normal_expected, law .. ": normal forces") -- the soft servo gives by the overlap
      stn.near(m.tilt, 0, 2e-5, law .. ": tilt") -- the box on the slope leans on its lower edge by its overlap
      stn.near(m.creep, m.predicted, 1e-3 * m.predicted, law .. ": creep")
      stn.near(m.late, m.early, 1e-3 * m.predicted, law .. ": creep is steady")
    end
  end)
end

-- A corner of a cube of edge a and mass m: W = (5.5 I - 1.5 s s^T)/m with s = (+-1, +-1, +-1), so |W|_F/3 = sqrt(61.5)/(3 m).
stn.test("a cube on four corners creeps at sigma sqrt(61.5)/3 g sin(angle) dt/4 under sap", function()
  local scene = require "slope"
  local p = grasp.parameters(scene, { seconds = 2.0, dt = 0.004 })
  local world <close> = grasp.begin(scene, p)
  world:step()
  local contact = world:contacts()[1]
  stn.near(theory.inverse_mass(world, contact, {}), math.sqrt(61.5) / 3, 1e-4, "w") -- contacts lie half the overlap inside
  local creep = 1e-3 * math.sqrt(61.5) / 3 * g * math.sin(20 * stn.deg) * 0.004 / 4
  stn.near(grasp.measure(scene, p).creep, creep, 1e-4 * creep, "creep")
end)

-- On its equator a ball has W = diag(1, 3.5, 3.5)/m (normal, two tangents), and the finger adds its inverse inertia along the normal.
stn.test("a ball between three fingers creeps at sigma w m g dt/3 under sap", function()
  local scene = require "three_finger"
  local p = grasp.parameters(scene, { seconds = 2.0 })
  local mass, finger = 0.2, 0.1 + p.dt * 20 + p.dt ^ 2 * 200 -- the servo's damping and stiffness are implicit
  local w = math.sqrt((1 / mass + 1 / finger) ^ 2 + 2 * (3.5 / mass) ^ 2) / 3
  local creep = 1e-3 * w * mass * g * p.dt / 3
  stn.near(grasp.measure(scene, p).creep, creep, 2e-3 * creep, "creep") -- contacts lie inside the ball by half the overlap
end)

for _, scene in ipairs(scenes) do
  stn.test(scene.name .. ": with true stiction nothing creeps", function()
    for _, law in ipairs { "sap", "lagged", "similar", "lagged_regularized", "hertz" } do
      local m = grasp.measure(scene, grasp.parameters(scene, { law = law, seconds = 4.0, stiction = true }))
      stn.near(m.unsolved, 0, 0, law .. ": steps not solved")
      stn.near(m.moved, 0, 1e-12, law .. ": travel [m]") -- in 2 to 3 s, from 1 s on; without stiction 2e-6 and more
      stn.near(m.force_error, 0, 1e-6 * m.force[3], law .. ": sum of the contact forces against the weight")
    end
  end)
end

-- Eight contacts hold the box where six would do. Exact friction stiffens what solves have left, unless anchors let go on the cone.
stn.test("with true stiction solvers of exact friction hold a box that is shaken", function()
  for _, solver in ipairs { "bisection", "pgs" } do
    local scene = require "lift_and_shake"
    local m = grasp.measure(scene, grasp.parameters(scene, { solver = solver, seconds = 4.0, stiction = true, max_iterations = 500 }))
    stn.near(m.unsolved, 0, 0, solver .. ": steps not solved")
    stn.near(m.moved, 0, 1e-11, solver .. ": travel [m]") -- of what a solve leaves
  end
end)

stn.test("with true stiction a load is given way to once, by dt times the creep without", function()
  for _, name in ipairs { "pinch", "palms", "three_finger" } do -- the box on the slope leans on its lower edge besides
    local scene = require(name)
    local creep = grasp.measure(scene, grasp.parameters(scene, { seconds = 2.0 })).creep
    local held = grasp.measure(scene, grasp.parameters(scene, { seconds = 2.0, stiction = true }))
    stn.near(held.settled, 0.002 * creep, 0.01 * 0.002 * creep, name)
  end
end)

-- The servo of a palm brakes it when a law that glides lifts it off the sliding box, at mu (dt + tau) dv/dt: hence the short step.
stn.test("palms that press too weakly let the box fall with g - 2 mu F/m", function()
  local scene = require "palms"
  for i, law in ipairs { "sap", "lagged", "similar", "lagged_regularized", "sap", "lagged" } do
    local world <close>, palms = grasp.begin(scene, grasp.parameters(scene, { law = law, force = 5.0, dt = 1e-4, stiction = i > 4 }))
    local function speed() return -palms.object:velocity().linear[3] end
    for _ in world:run { seconds = 0.02 } do end
    local start = speed()
    for _ in world:run { seconds = 0.02 } do end
    local expected = g - 2 * 0.8 * 5 / 2
    stn.near((speed() - start) / 0.02, expected, 5e-3 * expected, law)
  end
end)

stn.test("a gripper holds what it shakes while m (g + a) <= 2 mu F, and not beyond", function()
  local scene = require "lift_and_shake"
  local function run(changes)
    return grasp.measure(scene, grasp.parameters(scene, changes))
  end
  local limit = 0.5 * (g + 0.02 * (4 * math.pi) ^ 2) / (2 * 0.6) -- [N]
  local holds, slips = run { seconds = 3.0, force = 1.05 * limit }, run { seconds = 3.0, force = 0.9 * limit }
  stn.near(holds.hold, 1 / 1.05, 1e-9, "share of the limit")
  assert(math.abs(holds.creep) < 2e-5, "it crept")
  assert(slips.hold > 1 and slips.predicted == math.huge and slips.creep > 1e-3, "it held beyond the limit")
end)

stn.test("a scene of any law and any solver: a refusal names its reason", function()
  local pinch = require "pinch"
  stn.fails(function() grasp.measure(pinch, grasp.parameters(pinch, { law = "barrier", clearance = 0.0, seconds = 1.0 })) end, "start apart")
  local m = grasp.measure(pinch, grasp.parameters(pinch, { law = "barrier", seconds = 2.0 }))
  stn.near(m.creep, m.predicted, 1e-2 * m.predicted, "barrier: creep")
end)
