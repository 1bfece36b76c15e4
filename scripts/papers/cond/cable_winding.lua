-- SPDX-License-Identifier: Apache-2.0
-- An arm winds a cable round a post: paper COND [lee-2023], section V-C5. One end of a cable of 320 links is held in a fixture, a Panda
-- takes the other one along the involute of a circle, so that the free part stays tangent to the post. Sizes and way are those of the
-- paper's released demonstration; the dynamics index is the force at the hand.
local stn = require "stiction"
local figures = require "cond_figures"

local p = figures.declare {
  young = 0,      -- [Pa]; 0: by the seed, 4 to 5 MPa; the paper's cable has 2.954 MPa
  poisson = 0,    -- 0: by the seed, 0.4 to 0.49
  mu = 0,         -- 0: by the seed, 0.5 to 1.5
  links = 320,
  turns = 1.0,    -- round the post
  raise = 2.0,    -- how long the cable is swung up [s]
  wind = 8.0,     -- how long a turn takes [s]
  damping = 0.01, -- [s]
  dt = 0.01,      -- [s]
}
local drawn = figures.draw(p.seed, { young = { 4e6, 5e6 }, poisson = { 0.4, 0.49 }, mu = { 0.5, 1.5 } })
local young, poisson, mu = p.young > 0 and p.young or drawn.young, p.poisson > 0 and p.poisson or drawn.poisson, p.mu > 0 and p.mu or drawn.mu

local length, radius = 0.4, 0.002                     -- of the cable [m]
local post = { x = 0.4920, y = -0.2025, radius = 0.02 } -- [m]
local start, held = { 0.514, -0.2027, 0.1005 }, { 0.514, 0.1973, 0.1005 }
local world = stn.world { dt = p.dt, solver = figures.solver(p), law = figures.law(p) }
world:ground { mu = mu }
world:cylinder { name = "post", radius = post.radius, length = 0.6, fixed = true, mu = mu, xyz = { post.x, post.y, 0.3 }, color = { 0.5, 0.5, 0.55 } }
local plug = world:box { name = "plug", size = { 0.01, 0.01, 0.01 }, mass = 0.01, mask = 0, xyz = held, color = { 0.3, 0.3, 0.35 } }
local cable = world:cable { name = "cable", points = { start, held }, segments = p.links - 1, radius = radius, young = young, poisson = poisson,
  density = 1259, damping = p.damping, mu = mu, color = { 0.75, 0.25, 0.2 }, pinned = "start", attach = { link = plug, nodes = "end" } }
local arm = world:load { "models/panda/panda.urdf", name = "arm", fixed = true, base = { xyz = { 0, 0, 0 } } }
world:disable_collisions(arm)
world:constraint { "weld", a = { arm, "panda_link8" }, b = plug, a_pose = { xyz = { 0, 0, 0.01 }, rpy = { math.pi, 0, 0 } } }

local posture = { panda_joint1 = 0.3, panda_joint2 = 0.4, panda_joint3 = 0, panda_joint4 = -2.0, panda_joint5 = 0, panda_joint6 = 2.4, panda_joint7 = 0.3 }
local function reach(x, y, z) -- from the posture before, so that the elbow stays
  posture = assert(arm:inverse_kinematics { link = "panda_link8", pose = stn.pose { xyz = { x, y, z + 0.01 }, axes = { z = { 0, 0, -1 }, x = { 1, 0, 0 } } },
    seeds = { posture }, random_starts = 0 })
  return posture
end
arm:set_q(reach(table.unpack(held)))
world:controller { "joint_pd", target = arm, kp = 6000, kd = 300, gravity_compensation = true }
local way, times = {}, {}
local function go(seconds, x, y, z)
  way[#way + 1] = reach(x, y, z)
  times[#times + 1] = (times[#times] or 0) + seconds
end
for i = 1, 6 do -- swung up about its held end
  local part = i / 6
  go(p.raise / 6, held[1], held[2] + part * (0.0996 - held[2]), held[3] + part * (0.3622 - held[3]))
end
local parts = math.max(1, math.floor(40 * p.turns + 0.5))
for i = 1, parts do -- the involute: what lies on the post is missing from the free part
  local angle = 2 * math.pi * p.turns * i / parts
  local free = 0.3022 - 0.019 * angle
  go(p.wind * p.turns / parts, post.x + 0.019 * math.cos(angle) - free * math.sin(angle), post.y + 0.019 * math.sin(angle) + free * math.cos(angle),
    0.3622 + 0.0026 * angle)
end
local winding = stn.task("wind", function() arm:follow(way, { times = times, tolerance = 0.05 }) end)

local function pull()
  local f = cable:attachment_force(plug)
  return math.sqrt(f[1] ^ 2 + f[2] ^ 2 + f[3] ^ 2)
end
local sums, count = figures.log(world, p, function() return world.steps > 0 and pull() or 0 end,
  { color_by = "tension", azimuth = 35, elevation = 25 })
for step in world:run { seconds = times[#times] + 0.5 } do count(step) end
figures.report(sums)
local touching = 0
for _, contact in ipairs(world:contacts()) do touching = touching + (contact.force ~= nil and 1 or 0) end
print(("E %.2f MPa, nu %.2f, mu %.2f: %d dofs, %d contacts at the end, the hand pulls with %.3f N"):format(young / 1e6, poisson, mu, 6 * p.links + 7,
  touching, pull()))
stn.check("the way is gone", winding:done())
stn.check("the cable lies on the post", touching > 0)
stn.check("no step is unsolved", { value = sums.unsolved, limit = p.threshold > 0 and sums.steps or 0 })
