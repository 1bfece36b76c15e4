-- SPDX-License-Identifier: Apache-2.0
-- An arm picks a cube off the floor, told as a task. Somebody pulls the cube out of the hand on its way up: the task notices, lets go and
-- tries again; after `attempts` it gives up with an error that says what happened where.
--
--   stiction run scripts/tasks/pick_cube.lua                   pulled each time: it gives up
--   stiction run scripts/tasks/pick_cube.lua --set pulls=1     the second attempt succeeds
local stn = require "stiction"

local p = stn.params {
  pulls = 3,      -- attempts that are interrupted
  attempts = 3,   -- before it gives up
  edge = 0.05,    -- of the cube [m]
  mass = 0.2,     -- of the cube [kg]
  mu = 0.7,       -- of cube and fingers
  grip = 30.0,    -- force of the fingers [N]
  pull = 60.0,    -- force of who interrupts [N]
  dt = 0.002,     -- [s]
}

-- -------------------------------------------------------------------------------------------------------- the scene

local world = stn.world { dt = p.dt }
world:ground { mu = p.mu }
local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true,
  joints = { iiwa14_joint_2 = 0.6, iiwa14_joint_4 = -1.4, iiwa14_joint_6 = 1.1 } }
local hand = world:load { "models/wsg50/wsg50.urdf", name = "hand", joints = { wsg50_finger_left_joint = 0.05 }, mu = p.mu }
arm:attach(hand, "iiwa14_flange")
world:disable_collisions(arm)
world:disable_collisions(arm, hand)
local cube = world:box { name = "cube", size = { p.edge, p.edge, p.edge }, mass = p.mass, mu = p.mu, xyz = { 0.55, 0.1, p.edge / 2 },
  rpy = { 0, 0, 0.3 } }
world:controller { "joint_pd", target = arm, kp = 8000, kd = 400, gravity_compensation = true }
world:controller { "gripper", target = hand }

local function say(format, ...)
  print(("t = %5.2f s  "):format(world.time) .. format:format(...))
end

-- --------------------------------------------------------------------------------------------------------- the tasks

-- The hand looks down at a height over the cube, its fingers along an axis of the cube.
local function above_cube(height)
  local at, y = cube:position(), cube:pose():rotate { 0, 1, 0 }
  return { xyz = { at[1], at[2], height }, axes = { z = { 0, 0, -1 }, y = { y[1], y[2], 0 } } }
end

local function move_hand(pose, speed)
  arm:move_to(pose, { link = "hand/wsg50_tip", speed = speed })
end

local function lift()
  stn.race(function()
    move_hand(above_cube(0.35), 0.2)
  end, function()
    stn.wait(0.2)
    stn.wait_until(function() return not world:held(hand, cube) end)
    local _, why = world:held(hand, cube)
    error("lost it: " .. why)
  end)
end

local function try_to_pick()
  hand:open {}
  move_hand(above_cube(0.15), 0.5)
  move_hand(above_cube(0.015), 0.3)
  local felt = hand:close { force = p.grip }
  assert(felt.links == 2, "the fingers closed on nothing")
  lift()
  assert(world:held(hand, cube))
end

local pick = stn.task("pick", function()
  local why
  for attempt = 1, p.attempts do
    say("attempt %d", attempt)
    local ok, message = pcall(try_to_pick)
    if ok then
      say("holds the cube at %.2f m", cube:position()[3])
      return attempt
    end
    say("%s", message)
    why = message
  end
  error(("gave up after %d attempts; the last one: %s"):format(p.attempts, why))
end)

stn.task("pull", function()
  for _ = 1, p.pulls do
    stn.wait_until(function() return cube:position()[3] > 0.1 end)
    say "somebody pulls at the cube"
    cube:apply_force { force = { 0, 0, -p.pull } }
    local release <close> = setmetatable({}, { __close = function() cube:apply_force {} end })
    stn.wait_until(function() return not world:in_contact(hand, cube) end)
  end
end)

-- ----------------------------------------------------------------------------------------------------------- the run

local well, message = pcall(function()
  for _ in world:run { seconds = 60 } do
    if pick:done() then
      break
    end
  end
end)
if p.pulls < p.attempts then
  stn.check("it holds the cube", well and (world:held(hand, cube)) and cube:position()[3] > 0.3)
  stn.check("attempts", { value = pick:result(), limit = p.pulls + 1, unit = "" })
else
  say("%s", message)
  stn.check("it gave up and said the way", not well and pick.state == "failed"
    and message:find("gave up after %d+ attempts; .*lost it: 0 links of 'hand' press on 'cube'.*; in task 'pick/2' %(.*; in task 'pick' %(") ~= nil)
end
