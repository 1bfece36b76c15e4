-- SPDX-License-Identifier: Apache-2.0
-- An arm winds a cable round a post: paper COND [lee-2023], section V-C5. One end of a cable of 320 links is held in a fixture, a Panda
-- takes the other one along the involute of a circle, so that the free part stays tangent to the post. The dynamics index is the force at
-- the hand.
local stn = require "stiction"
local figures = require "cond_figures"
local scene = require "winding_scene"

local own = { links = 320 }
for name, value in pairs(scene.params) do own[name] = value end
local p = figures.declare(own)
local drawn = scene.draw(p)
local world = stn.world { dt = p.dt, solver = figures.solver(p), law = figures.law(p) }
local plug = scene.furnish(world, drawn)
local cable = scene.cable(world, p, drawn, plug)
local arm = world:load { "models/panda/panda.urdf", name = "arm", fixed = true, base = { xyz = { 0, 0, 0 } } }
world:disable_collisions(arm)
world:constraint { "weld", a = { arm, "panda_link8" }, b = plug, a_pose = { xyz = { 0, 0, 0.01 }, rpy = { math.pi, 0, 0 } } }

local posture = { panda_joint1 = 0.3, panda_joint2 = 0.4, panda_joint3 = 0, panda_joint4 = -2.0, panda_joint5 = 0, panda_joint6 = 2.4, panda_joint7 = 0.3 }
local function reach(x, y, z) -- from the posture before, so that the elbow stays
  posture = assert(arm:inverse_kinematics { link = "panda_link8", pose = stn.pose { xyz = { x, y, z + 0.01 }, axes = { z = { 0, 0, -1 }, x = { 1, 0, 0 } } },
    seeds = { posture }, random_starts = 0 })
  return posture
end
arm:set_q(reach(table.unpack(scene.held)))
world:controller { "joint_pd", target = arm, kp = 6000, kd = 300, gravity_compensation = true }
local places, times = scene.way(p)
local way = {}
for i, place in ipairs(places) do way[i] = reach(table.unpack(place)) end
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
print(("E %.2f MPa, nu %.2f, mu %.2f: %d dofs, %d contacts at the end, the hand pulls with %.3f N"):format(drawn.young / 1e6, drawn.poisson, drawn.mu, 6 * p.links + 7,
  touching, pull()))
stn.check("the way is gone", winding:done())
stn.check("the cable lies on the post", touching > 0)
stn.check("no step is unsolved", { value = sums.unsolved, limit = p.threshold > 0 and sums.steps or 0 })
