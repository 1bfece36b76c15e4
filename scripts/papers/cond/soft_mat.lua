-- SPDX-License-Identifier: Apache-2.0
-- An arm folds a soft mat: paper COND [lee-2023], section V-C3. A Panda holds the far edge of a mat of 1,458 nodes and 4,056 tetrahedra
-- and lays it over the near one, then waits. The dynamics index is the norm of the elastic forces.
local stn = require "stiction"
local figures = require "cond_figures"
local lattice = require "lattice"
local with_file = require "tetrahedra"

local p = figures.declare {
  young = stn.number { 0, min = 0, unit = "Pa" },      -- 0: by the seed, 50 to 100 kPa
  poisson = stn.number { 0, min = 0, max = 0.499 },    -- 0: by the seed, 0.3 to 0.4
  mu = stn.number { 0, min = 0, max = 10 },         -- 0: by the seed, 0.1 to 0.5
  cells = stn.number { 26, min = 1, max = 200 }, -- along an edge
  size = stn.number { 0.3, min = 0.05, max = 1, unit = "m" }, -- edge of the mat
  thickness = stn.number { 0.005, min = 1e-4, max = 0.05, unit = "m" },
  damping = 0.0,  -- [s]
  dt = stn.number { 0.01, min = 1e-5, max = 0.1, unit = "s" },
  fold = 4.0,     -- how long the fold takes [s]
  seconds = 4.5,
}
local drawn = figures.draw(p.seed, { young = { 5e4, 1e5 }, poisson = { 0.3, 0.4 }, mu = { 0.1, 0.5 } })
local young, poisson, mu = p.young > 0 and p.young or drawn.young, p.poisson > 0 and p.poisson or drawn.poisson, p.mu > 0 and p.mu or drawn.mu

local world = stn.world { dt = p.dt, solver = figures.solver(p), law = figures.law(p) }
world:ground { mu = mu }
local half, low = p.size / 2, p.thickness / 2 + 1e-5
local clip = world:box { name = "clip", size = { 0.02, p.size, 0.004 }, mass = 0.05, xyz = { half + 0.01, 0, low }, mask = 0, color = { 0.3, 0.3, 0.35 } }
local vertices, tetrahedra = lattice({ p.size, p.size, p.thickness }, { p.cells, p.cells, 1 })
local mat = with_file(vertices, tetrahedra, function(path)
  return world:soft { name = "mat", mesh = path, young = young, poisson = poisson, density = 1000, damping = p.damping, mu = mu,
    xyz = { 0, 0, low }, color = { 0.2, 0.5, 0.75 }, self_collision = true, contact_thickness = 5e-4,
    attach = { link = clip, nodes = "x_max" } }
end)
local arm = world:load { "models/panda/panda.urdf", name = "arm", fixed = true, base = { xyz = { -0.5, 0, 0 } } }
world:disable_collisions(arm)
world:constraint { "weld", a = { arm, "panda_link8" }, b = clip, a_pose = { xyz = { 0, 0, 0.03 }, rpy = { math.pi, 0, 0 } } }

local function flange(x, z) return stn.pose { xyz = { x, 0, z }, axes = { z = { 0, 0, -1 }, x = { 1, 0, 0 } } } end
local posture = { panda_joint1 = 0, panda_joint2 = 0.4, panda_joint3 = 0, panda_joint4 = -2.0, panda_joint5 = 0, panda_joint6 = 2.4, panda_joint7 = 0 }
local function reach(pose) -- from the posture before, so that the elbow stays
  posture = assert(arm:inverse_kinematics { link = "panda_link8", pose = pose, seeds = { posture }, random_starts = 0 })
  return posture
end
arm:set_q(reach(flange(half + 0.01, low + 0.03)))
world:controller { "joint_pd", target = arm, kp = 6000, kd = 300, gravity_compensation = true }
local way, times = {}, {}
for i = 1, 24 do -- along half a circle, from rest to rest
  local part = i / 24
  local angle = math.pi * part
  way[i] = reach(flange((half + 0.01) * math.cos(angle), low + 0.03 + 0.85 * half * math.sin(angle) + 0.008 * part))
  times[i] = p.fold * math.acos(1 - 2 * part) / math.pi
end
local folding = stn.task("fold", function() arm:follow(way, { times = times, tolerance = 0.05 }) end)

local sums, count = figures.log(world, p, function() return figures.internal_force(mat) end,
  { azimuth = 60, elevation = 25 })
for step in world:run { seconds = p.seconds } do count(step) end
figures.report(sums)
local edge = mat:position "x_max"
print(("E %.1f kPa, nu %.2f, mu %.2f: %d nodes, the far edge lies at x = %.3f m, z = %.4f m"):format(young / 1e3, poisson, mu, mat.node_count, edge[1], edge[3]))
stn.check("the way is gone", folding:done())
stn.check("the mat is folded", { value = edge[1], limit = -0.6 * half, unit = "m" })
stn.check("no step is unsolved", { value = sums.unsolved, limit = p.threshold > 0 and sums.steps or 0 })
