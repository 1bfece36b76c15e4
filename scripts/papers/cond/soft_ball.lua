-- SPDX-License-Identifier: Apache-2.0
-- A rigid gripper lifts a soft ball: paper COND [lee-2023], section V-C4. A palm of six degrees of freedom hangs on springs from a hand
-- that is moved, and two fingers press a ball of 1,452 nodes and 6,600 tetrahedra. The dynamics index is the norm of the elastic forces.
local stn = require "stiction"
local figures = require "cond_figures"
local hung_gripper = require "hung_gripper"

local p = figures.declare {
  young = stn.number { 0, min = 0, unit = "Pa" },      -- 0: by the seed, 0.5 to 2 MPa
  poisson = stn.number { 0, min = 0, max = 0.499 },    -- 0: by the seed, 0.3 to 0.4
  mu = stn.number { 0, min = 0, max = 10 },         -- 0: by the seed, 0.4 to 0.6
  cells = stn.number { 10, min = 2, max = 60 }, -- across the ball
  radius = 0.035, -- [m]
  grip = 8.0,     -- force of a finger [N]
  lift = 0.1,     -- [m]
  dt = stn.number { 0.01, min = 1e-5, max = 0.1, unit = "s" },
  seconds = 2.0,
}
local drawn = figures.draw(p.seed, { young = { 5e5, 2e6 }, poisson = { 0.3, 0.4 }, mu = { 0.4, 0.6 } })
local young, poisson, mu = p.young > 0 and p.young or drawn.young, p.poisson > 0 and p.poisson or drawn.poisson, p.mu > 0 and p.mu or drawn.mu

local world = stn.world { dt = p.dt, solver = figures.solver(p), law = figures.law(p) }
world:ground { mu = mu }
local ball = world:soft { name = "ball", ball = p.radius, cells = { p.cells, p.cells, p.cells + 1 }, young = young, poisson = poisson, density = 1000,
  mu = mu, xyz = { 0, 0, p.radius + 1e-5 }, color = { 0.85, 0.35, 0.3 } }

local closing, kp = 0.3, 1000 -- [s], [N/m]
local gripper = hung_gripper(world, { z = p.radius + 0.06, palm = { 0.06, 0.14 }, from = closing + 0.2, seconds = 0.7, lift = p.lift,
  finger = { mass = 0.1, inertia = 6e-5, size = { 0.05, 0.01, 0.06 }, y = 0.005, z = -0.06, axis = 1, lower = 0, upper = 0.06, collides = true },
  options = { mu = mu, joints = { left = p.radius + 2e-3, right = p.radius + 2e-3 } } })
local grip = world:controller { "joint_pd", target = gripper, kp = kp, kd = 20 }

local sums, count = figures.log(world, p, function() return figures.internal_force(ball) end,
  { azimuth = 12, elevation = 8, color_range = { 0, 2e4 } })
for step in world:run { seconds = p.seconds } do
  local pressed = p.radius + 2e-3 - (2e-3 + p.grip / kp) * math.min(1, world.time / closing)
  grip:set { position = { left = pressed, right = pressed } }
  count(step)
end
figures.report(sums)
local rise = ball:position()[3] - p.radius
local force = ball:contact_force({ gripper, "left" }).force
print(("E %.2f MPa, nu %.2f, mu %.2f: %d nodes, lifted by %.4f m, a finger presses with %.2f N"):format(young / 1e6, poisson, mu, ball.node_count, rise, math.abs(force[2])))
stn.check("the ball is lifted", { value = rise, least = 0.8 * p.lift, unit = "m" })
stn.check("and no higher", { value = rise, limit = 1.1 * p.lift, unit = "m" })
stn.check("no step is unsolved", { value = sums.unsolved, limit = p.threshold > 0 and sums.steps or 0 })
