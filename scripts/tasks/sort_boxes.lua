-- SPDX-License-Identifier: Apache-2.0
-- An arm with a suction cup sorts boxes by their colour, told as a task. One of them is heavier than the cup can lift: it stays behind, and
-- the task says why.
--
--   stiction run scripts/tasks/sort_boxes.lua --view
--   stiction run scripts/tasks/sort_boxes.lua --set vacuum=60       lifts the heavy one too
local stn = require "stiction"

local p = stn.params {
  boxes = stn.number { 6, min = 1, max = 6 },
  edge = 0.06,                              -- of a box [m]
  mass = 0.4,                               -- of a box [kg]
  heavy = 2.5,                              -- of the third one [kg]
  vacuum = stn.number { 20, min = 1, unit = "N" }, -- that the cup pulls with
  speed = 0.6,                              -- part of the joints' velocity limits
  dt = 0.002,                               -- [s]
}

-- -------------------------------------------------------------------------------------------------------- the scene

local world = stn.world { dt = p.dt }
world:ground { mu = 0.6 }
local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true,
  joints = { iiwa14_joint_2 = 0.6, iiwa14_joint_4 = -1.4, iiwa14_joint_6 = 1.1 } }
local tube = 0.08 -- from the flange to the lip of the cup [m]
local cup_body = world:cylinder { name = "cup", radius = 0.02, length = tube, mass = 0.05, color = { 0.2, 0.2, 0.2 } }
arm:attach(cup_body, "iiwa14_flange", { xyz = { 0, 0, tube / 2 } })
world:disable_collisions(arm)
world:disable_collisions(arm, cup_body)

local boxes = {}
for i = 1, p.boxes do
  local red = i % 2 == 1
  boxes[i] = world:box { name = "box " .. i, size = { p.edge, p.edge, p.edge }, mass = i == 3 and p.heavy or p.mass, mu = 0.6,
    xyz = { 0.55, 0.1 * (i - (p.boxes + 1) / 2), p.edge / 2 }, rpy = { 0, 0, 0.5 * i }, color = red and { 0.8, 0.2, 0.15 } or { 0.15, 0.35, 0.8 } }
end
local cup = world:constraint { "suction", name = "cup", a = cup_body, any_of = boxes, a_pose = { xyz = { 0, 0, tube / 2 } },
  force = p.vacuum, radius = 0.018, mu = 0.8, reach = 0.004,
  stiffness = 4000, angular_stiffness = 4, relaxation_time = 0.02 } -- its bellows
world:controller { "joint_pd", target = arm, kp = 8000, kd = 400, gravity_compensation = true }

local function say(format, ...)
  print(("t = %5.2f s  "):format(world.time) .. format:format(...))
end

-- --------------------------------------------------------------------------------------------------------- the task

local high = 0.3 -- of the lip on the way [m]

-- The lip of the cup at a point, looking down.
local function go(x, y, z)
  arm:move_to({ xyz = { x, y, z + tube }, axes = { z = { 0, 0, -1 }, y = { 0, 1, 0 } } }, { link = "iiwa14_flange", speed = p.speed })
end

-- Picks a box and puts it down at a place; false: it fell off. Paths are straight for the joints, so they stay well above the others.
local function carry(box, x, y)
  local at = box:position()
  go(at[1], at[2], high)
  go(at[1], at[2], p.edge + 0.002)
  stn.wait(0.2) -- until the arm stands
  cup:attach()
  stn.race(function()
    go(at[1], at[2], high)
    go(x, y, high)
    go(x, y, p.edge + 0.004)
    stn.wait(0.2)
  end, function()
    stn.wait_until(function() return cup:get "holding" == 0 end)
  end)
  if cup:get "holding" == 0 then
    return false
  end
  cup:release()
  go(x, y, high)
  return true
end

local sorted = 0
local sort = stn.task("sort", function()
  local placed = { 0, 0 }
  for i, box in ipairs(boxes) do
    local side = 2 - i % 2 -- red ones to the left
    if carry(box, 0.35 + 0.11 * placed[side], side == 1 and 0.45 or -0.45) then
      placed[side] = placed[side] + 1
      sorted = sorted + 1
      say("%s is sorted", box.name)
    else
      say("%s fell off: %s, the cup pulled with %.1f N", box.name, cup:get "why", -cup:get "force"[3])
    end
  end
end)

-- ----------------------------------------------------------------------------------------------------------- the run

for _ in world:run { seconds = 15 * p.boxes } do
  if sort:done() then
    break
  end
end
sort:result()
-- A cup bears less than its vacuum pulls with when it is moved and the box hangs aside: twice the weight is enough.
local weight = p.heavy * 9.81
local stays, lifts = p.vacuum < weight and p.boxes > 2, p.vacuum > 2 * weight
if stays or lifts then
  stn.check("boxes sorted", sorted == (stays and p.boxes - 1 or p.boxes))
end
for i, box in ipairs(boxes) do
  if i ~= 3 or lifts then
    local side = i % 2 == 1 and 0.45 or -0.45
    stn.check(box.name .. " is on its side", { value = math.abs(box:position()[2] - side), limit = 0.02, unit = "m" })
  end
end
