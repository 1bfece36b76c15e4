-- SPDX-License-Identifier: Apache-2.0
-- Two soft fingers hold a rigid block: paper COND [lee-2023], section V-C6. A palm of six degrees of freedom hangs on springs from a hand
-- that is moved, two slides on it carry fingers of 2,448 nodes and 9,000 tetrahedra each. The dynamics index is what presses the block.
local stn = require "stiction"
local figures = require "cond_figures"
local lattice = require "lattice"
local with_file = require "tetrahedra"
local hung_gripper = require "hung_gripper"

local p = figures.declare {
  young = stn.number { 0, min = 0, unit = "Pa" },      -- 0: by the seed, 50 to 100 kPa; the paper's Ecoflex 00-50 has 83 kPa
  poisson = stn.number { 0, min = 0, max = 0.499 },    -- 0: by the seed, 0.4 to 0.49
  mu = stn.number { 0, min = 0, max = 10 },         -- 0: by the seed, 0.5 to 2.1
  cells = stn.number { 50, min = 1, max = 200 }, -- along a finger
  mass = stn.number { 0.004, min = 1e-4, unit = "kg" }, -- of the block
  squeeze = 0.006, -- how far a finger goes beyond touch [m]
  lift = 0.05,    -- [m]
  dt = stn.number { 0.01, min = 1e-5, max = 0.1, unit = "s" },
  seconds = 2.0,
}
local drawn = figures.draw(p.seed, { young = { 5e4, 1e5 }, poisson = { 0.4, 0.49 }, mu = { 0.5, 2.1 } })
local young, poisson, mu = p.young > 0 and p.young or drawn.young, p.poisson > 0 and p.poisson or drawn.poisson, p.mu > 0 and p.mu or drawn.mu

local world = stn.world { dt = p.dt, solver = figures.solver(p), law = figures.law(p) }
world:ground { mu = mu }
local width, length, thickness, block_size, open = 0.02, 0.06, 0.012, 0.03, 0.006
local block = world:box { name = "block", size = { 0.03, block_size, 0.04 }, mass = p.mass, mu = mu, xyz = { 0, 0, 0.02 }, color = { 0.8, 0.6, 0.2 } }
local height = 0.07 + 0.01 -- of the slides' middle; fingers end 1 cm above the ground
local reach = block_size / 2 + open + thickness / 2
local closing = 0.5 -- [s]
local gripper = hung_gripper(world, { z = height + 0.03, palm = { 0.05, 0.12 }, from = closing + 0.2, seconds = 0.8, lift = p.lift,
  finger = { mass = 0.05, inertia = 2e-5, size = { 0.024, 0.012, 0.02 }, y = reach, z = -0.03, axis = -1, lower = -0.01, upper = 0.04 } })
local cells = { math.ceil(0.3 * p.cells), 2, p.cells }
local vertices, tetrahedra = lattice({ width, thickness, length }, cells)
local fingers = {}
for i, side in ipairs { "left", "right" } do
  fingers[i] = with_file(vertices, tetrahedra, function(path)
    return world:soft { name = side .. " finger", mesh = path, young = young, poisson = poisson, density = 1070, mu = mu, damping = 0.005,
      xyz = { 0, (i == 1 and 1 or -1) * reach, height - 0.01 - length / 2 }, color = { 0.3, 0.7, 0.5 }, attach = { link = { gripper, side }, nodes = "z_max" } }
  end)
end
local grip = world:controller { "joint_pd", target = gripper, kp = 2000, kd = 40 }

local function pressing() return fingers[1]:contact_force(block).force[2] end
local sums, count = figures.log(world, p, function() return world.steps > 0 and pressing() or 0 end,
  { azimuth = 25, elevation = 12 })
for step in world:run { seconds = p.seconds } do
  local to = (open + p.squeeze) * math.min(1, world.time / closing)
  grip:set { position = { left = to, right = to } }
  count(step)
end
figures.report(sums)
local rise = block:position()[3] - 0.02
print(("E %.1f kPa, nu %.2f, mu %.2f: %d nodes, lifted by %.4f m, a finger presses with %.3f N"):format(young / 1e3, poisson, mu,
  fingers[1].node_count + fingers[2].node_count, rise, math.abs(pressing())))
stn.check("the block is lifted", { value = rise, least = 0.8 * p.lift, unit = "m" })
stn.check("and no higher", { value = rise, limit = 1.1 * p.lift, unit = "m" })
stn.check("no step is unsolved", { value = sums.unsolved, limit = p.threshold > 0 and sums.steps or 0 })
