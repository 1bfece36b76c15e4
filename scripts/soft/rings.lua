-- SPDX-License-Identifier: Apache-2.0
-- An arm takes the plug at the end of a cable, which is threaded through three rings on the floor, and pulls the rest of the
-- cable through them. Every node is watched: it must have passed each ring once, through its hole. The force at the plug is
-- reported.
local stn = require "stiction"
local worse = require "worse"

local p = stn.params {
  rings = 3,
  hole = 0.03,      -- radius of the holes [m]
  wire = 0.005,     -- radius of the wire that the rings are of [m]
  aside = 0.03,     -- the rings stand so far from a line, left and right in turns [m]
  length = 0.65,    -- of the cable [m]
  radius = 0.004,   -- of the cable [m]
  segments = 45,
  young = 2e6,      -- [Pa]
  mu = 0.3,         -- of the cable, the rings and the floor
  grip = 30.0,      -- force of the fingers [N]
  speed = 0.25,     -- of the hand [m/s]
  dt = 0.004,       -- [s]
}
local line, first, apart = 0.55, -0.42, 0.13 -- x of the line, y of the first ring, distance of the next [m]
local height = p.hole + p.wire               -- of the rings' middle

-- -------------------------------------------------------------------------------------------------------- the scene

local world = stn.world { dt = p.dt }
world:ground { mu = p.mu }

--- A ring of capsules about y, on the floor.
local function add_ring(number)
  local x, y = line + (number % 2 == 0 and 1 or -1) * p.aside, first - apart * (number - 1)
  local shapes, count, R = {}, 16, p.hole + p.wire
  for i = 1, count do
    local angle = 2 * math.pi * i / count
    shapes[i] = { "capsule", radius = p.wire, length = 2 * R * math.tan(math.pi / count), xyz = { R * math.cos(angle), 0, R * math.sin(angle) },
      rpy = { 0, -angle, 0 }, mu = p.mu, color = { 0.85, 0.6, 0.2 } }
  end
  world:compound { name = "ring" .. number, xyz = { x, y, height }, fixed = true, shapes = shapes }
  return { x = x, y = y }
end
local rings = {}
for i = 1, p.rings do
  rings[i] = add_ring(i)
end

local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true,
  joints = { iiwa14_joint_1 = -0.5, iiwa14_joint_2 = 0.6, iiwa14_joint_4 = -1.4, iiwa14_joint_6 = 1.1 } }
local hand = world:load { "models/wsg50/wsg50.urdf", name = "hand", joints = { wsg50_finger_left_joint = 0.05 }, mu = 0.8 }
arm:attach(hand, "iiwa14_flange")
world:disable_collisions(arm)
world:disable_collisions(arm, hand)
local plug = world:box { name = "plug", size = { 0.04, 0.04, 0.05 }, mass = 0.05, mu = 0.8, xyz = { line, first + 0.12, 0.025 }, color = { 0.3, 0.4, 0.7 } }

--- The cable's start: from the plug through the holes to its end, low in each.
local points = {}
for i = 0, 400 do
  local y = first + 0.1 - (p.length + 0.2) * i / 400
  local nearest = (first - y) / apart
  local inside = math.max(0, 1 - (math.max(0, -nearest) + math.max(0, nearest - (p.rings - 1))) / 0.7)
  local wave = math.cos(math.pi * nearest) * inside * inside * (3 - 2 * inside)
  points[#points + 1] = { line - p.aside * wave, y, 2 * p.wire + p.radius + 2e-3 }
end
local kept, length = { points[1] }, 0
for i = 2, #points do
  local a, b = points[i - 1], points[i]
  length = length + ((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2) ^ 0.5
  if length > p.length then
    break
  end
  kept[#kept + 1] = b
end
local cable = world:cable { name = "cable", points = kept, segments = p.segments, radius = p.radius, young = p.young, density = 1200,
  damping = 0.01, rest = "straight", mu = p.mu, self_collision = true, color = { 0.75, 0.25, 0.2 }, attach = { link = plug, nodes = "start" } }
world:controller { "joint_pd", target = arm, kp = 8000, kd = 400, gravity_compensation = true }
world:controller { "gripper", target = hand }

-- --------------------------------------------------------------------------------------------------------- the task

local function move_hand(xyz, speed)
  arm:move_to({ xyz = xyz, axes = { z = { 0, 0, -1 }, y = { 1, 0, 0 } } }, { link = "hand/wsg50_tip", speed = speed })
end

local pull = stn.task("pull", function()
  local at = plug:position()
  hand:open {}
  move_hand({ at[1], at[2], 0.15 }, 0.5)
  move_hand({ at[1], at[2], 0.025 }, 0.3)
  assert(hand:close { force = p.grip }.links == 2, "the fingers closed on nothing")
  move_hand({ at[1], at[2], 0.08 }, 0.2)
  move_hand({ line, 0.45, 0.08 }, p.speed)
end)

-- ----------------------------------------------------------------------------------------------------------- the run

--- Passages of node i through ring r: +1 towards the hand inside of the hole, and misses outside of it.
local passed, missed = {}, 0
local before = cable:positions()

--- Is the place between a and b where the plane of a ring is crossed within its hole?
local function in_hole(ring, a, b)
  local part = (a[2] - ring.y) / (a[2] - b[2])
  local dx, dz = a[1] + part * (b[1] - a[1]) - ring.x, a[3] + part * (b[3] - a[3]) - height
  return (dx * dx + dz * dz) ^ 0.5 < p.hole
end
for r, ring in ipairs(rings) do
  passed[r] = {}
  for i = 1, cable.node_count do
    local ahead = before[i][2] > ring.y
    passed[r][i] = ahead and 1 or 0 -- it begins threaded: what is ahead was put through
    if i > 1 and ahead ~= (before[i - 1][2] > ring.y) then
      assert(in_hole(ring, before[i - 1], before[i]), "the cable begins beside a ring")
    end
  end
end
local function watch(now)
  for r, ring in ipairs(rings) do
    for i, x in ipairs(now) do
      local ahead = x[2] > ring.y
      if ahead == (before[i][2] > ring.y) then
        goto next
      elseif in_hole(ring, before[i], x) then
        passed[r][i] = passed[r][i] + (ahead and 1 or -1)
      else
        missed = missed + 1
      end
      ::next::
    end
  end
  before = now
end

local greatest, unsolved = 0, 0
for step in world:run { seconds = 15 } do
  unsolved = unsolved + (step.converged and 0 or 1)
  watch(cable:positions())
  local f = cable:attachment_force(plug)
  greatest = worse(greatest, (f[1] ^ 2 + f[2] ^ 2 + f[3] ^ 2) ^ 0.5)
  if pull:done() then
    break
  end
end

local through = 0
for i = 1, cable.node_count do
  local all = true
  for r = 1, p.rings do
    all = all and passed[r][i] == 1
  end
  through = through + (all and 1 or 0)
end
print(("%d of %d nodes passed all %d rings, %d went round one; greatest force at the plug %.3f N, the cable weighs %.3f N; unsolved steps %d")
  :format(through, cable.node_count, p.rings, missed, greatest, cable:mass() * 9.81, unsolved))
stn.check("the task is done", pull:done())
stn.check("the hand holds the plug", (world:held(hand, plug)))
stn.check("nodes that did not pass all rings", { value = cable.node_count - through + missed, limit = 0, unit = "" })
