-- SPDX-License-Identifier: Apache-2.0
-- Every solver of the registry holds a soft ball between two rigid fingers. The ball is slippery where the right finger touches it, so that
-- friction there is at its limit and the left finger carries the rest.
local stn = require "stiction"
local solve_error = require "solve_error"

local radius, mu, slippery = 0.035, 0.6, 0.03
local approximate = { soft_step = true } -- never calls a step converged

local function grip(solver)
  local world = stn.world { dt = 5e-3, solver = { solver, tolerance = 1e-7 } }
  local floor = world:ground { mu = mu }
  local ball = world:soft {
    name = "ball", ball = radius, cells = 4, young = 3e4, poisson = 0.4, density = 1000, damping = 0.02, contact_thickness = 1e-3, mu = mu, xyz = { 0, 0, radius + 1e-3 },
    regions = { { nodes = { plane = { 1, 0, 0 }, offset = 0 }, mu = slippery, name = "right" } },
  }
  local fingers = {}
  for i, side in ipairs { -1, 1 } do
    fingers[i] = world:box { size = { 0.02, 0.05, 0.05 }, mu = mu }
    fingers[i]:kinematic(function(t)
      local s, z = math.min(t / 0.15, 1), math.min(math.max((t - 0.15) / 0.15, 0), 1)
      s, z = s * s * (3 - 2 * s), z * z * (3 - 2 * z)
      return { xyz = { side * (radius * (1.05 - 0.35 * s) + 0.01), 0, radius + 0.02 * z } }
    end)
  end
  return world, floor, ball, fingers
end

local pyramids = { lemke = true, qp = true } -- their friction is none that the certificate knows: forces alone judge them

for _, solver in ipairs(stn.plugins "solver") do
  stn.test("a soft ball between two fingers, one side of it slippery: " .. solver, function()
    local world <close>, floor, ball, fingers = grip(solver)
    local worst = solve_error.worst()
    local steps, unsolved, slack = 0, 0, approximate[solver] and 0.05 or 2e-3
    for step in world:run { seconds = 0.6 } do
      steps, unsolved = steps + 1, unsolved + (step.converged and 0 or 1)
      assert(step.certificate.finite)
      worst:add(step.certificate)
    end
    assert(worst.momentum < 2e-6, ("momentum error %g"):format(worst.momentum))
    assert(worst.law < 1e-6 or approximate[solver] or pyramids[solver], ("impulses are off the contact law by %g m/s"):format(worst.law))
    assert(unsolved == (approximate[solver] and steps or 0), ("%d of %d steps unsolved"):format(unsolved, steps))
    local left, right = ball:contact_force(fingers[1]), ball:contact_force(fingers[2])
    local weight = ball:mass() * 9.81
    stn.near(left.force[3] + right.force[3], weight, slack * weight, "the fingers carry the ball [N]")
    stn.near(left.force[1], -right.force[1], slack * left.normal_force, "they press alike [N]")
    local limit = 2 * mu * slippery / (mu + slippery) * right.normal_force
    stn.near(right.friction_force, limit, 1e-3 * limit, "friction is at the limit of the region [N]")
    assert(left.friction_force < 0.2 * mu * left.normal_force, "and far below it on the other side")
    assert(ball:contact_force(floor).normal_force == 0, "it is off the floor")
  end)
end

-- From rest, without an impulse at first and hardly a speed that the load gives by itself, an iteration begins with next to nothing.
for _, solver in ipairs { "cond", "cond_proximal", "sap" } do
  stn.test("a large stiff block falls to the ground from just above it: " .. solver, function()
    local world <close> = stn.world { dt = 0.01, solver = { solver } }
    world:ground { mu = 0.5 }
    local block = world:soft { box = { 10, 10, 10 }, cells = { 4, 4, 4 }, young = 1e9, density = 1000, xyz = { 0, 0, 5 + 9e-4 } }
    for step in world:run { steps = 40 } do assert(step.converged, ("step %d is unsolved"):format(step.index)) end
    stn.near(world:state().v[3], 0, 1e-6, "it rests [m/s]")
    stn.near(block:position()[3] - 5, 0, 1e-3, "on the ground [m]")
  end)
end
