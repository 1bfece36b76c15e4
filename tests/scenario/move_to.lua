-- SPDX-License-Identifier: Apache-2.0
-- robot:move_to in tasks: the quintic in joint space, poses and frames, what interrupts it, what it cannot do.
local stn = require "stiction"
local worse = require "worse"

local home = { iiwa14_joint_1 = 0, iiwa14_joint_2 = 0.6, iiwa14_joint_3 = 0, iiwa14_joint_4 = -1.2, iiwa14_joint_5 = 0, iiwa14_joint_6 = 1.3, iiwa14_joint_7 = 0 }

local function new_arm(keys)
  local world = stn.world { dt = 1e-3 }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true, joints = home }
  local stand = world:box { name = "stand", size = { 0.2, 0.2, 0.1 }, fixed = true, xyz = { 0.6, 0.3, 0.05 }, rpy = { 0, 0, 0.4 } }
  world:disable_collisions(arm)
  local settings = { "joint_pd", target = arm, kp = 2e4, kd = 1e3, gravity_compensation = true }
  for key, value in pairs(keys or {}) do
    settings[key] = value
  end
  return world, arm, stand, world:controller(settings)
end

-- Runs until the world has no tasks; returns what the task returned.
local function finish(world, task, each)
  for step in world:run { seconds = 20 } do
    if each then
      each(step)
    end
    if task:done() then
      break
    end
  end
  return task:result()
end

stn.test("joints go along the quintic, in the time that the slowest one needs, and stand at the end", function()
  local world, arm = new_arm()
  local from, goal = arm:positions(), { iiwa14_joint_1 = 0.8, iiwa14_joint_4 = -1.6 }
  local task = stn.task(function()
    stn.wait(0.1)
    local start = world.time
    arm:move_to(goal, { speed = 0.3 })
    return start, world.time
  end)
  local limit = arm:joint("iiwa14_joint_1"):limits().velocity
  local duration = 1.875 * 0.8 / (0.3 * limit) -- [s]
  local fastest, worst = 0, 0
  local start, done = finish(world, task, function()
    local u = math.min(math.max((world.time - 0.1) / duration, 0), 1)
    local s = 10 * u ^ 3 - 15 * u ^ 4 + 6 * u ^ 5
    fastest = worse(fastest, math.abs(arm:joint("iiwa14_joint_1"):velocity()))
    for name, q in pairs(from) do
      worst = worse(worst, math.abs(arm:joint(name):position() - (q + s * ((goal[name] or q) - q))))
    end
  end)
  stn.near(start, 0.1, 1e-9, "start")
  stn.near(done - start, duration, 1.5e-3, "duration [s]")
  stn.near(fastest, 0.3 * limit, 0.02 * limit, "peak velocity")
  assert(worst < 2e-3, worst) -- a PD law lags: inertia times acceleration over kp
  for _ in world:run { seconds = 0.3 } do end
  for name, q in pairs(from) do
    stn.near(arm:joint(name):position(), goal[name] or q, 1e-5, name)
    stn.near(arm:joint(name):velocity(), 0, 1e-5, name)
  end
end)

stn.test("a pose is that of the robot's end, in the world or on another body", function()
  local world, arm, stand = new_arm()
  local above = stn.pose { xyz = { 0.02, -0.03, 0.3 }, axes = { z = { 0, 0, -1 } } }
  finish(world, stn.task(function()
    arm:move_to(above, { frame = stand, seconds = 1.5, tolerance = 1e-4 })
  end))
  local wanted, tip = stand:pose() * above, arm:link "iiwa14_flange"
  assert(world.time < 2.5)
  stn.near(tip:pose():distance(wanted), 0, 1e-4, "distance")
  stn.near(tip:pose():angle(wanted), 0, 5e-4, "angle")
  finish(world, stn.task(function()
    arm:move_to({ xyz = { 0.5, 0, 0.6 }, quat = tip:pose().quat }, { link = "iiwa14_link_7", tolerance = 1e-4 })
  end))
  stn.near(arm:link("iiwa14_link_7"):position(), { 0.5, 0, 0.6 }, 1e-3, "of another link")
end)

stn.test("what is cancelled on its way comes to rest there, and goes on from there", function()
  local world, arm = new_arm()
  local task = stn.task(function()
    stn.race(function()
      arm:move_to({ iiwa14_joint_1 = 1 }, { seconds = 1 })
    end, function()
      stn.wait(0.5)
    end)
    stn.wait(0.5)
    local stopped = arm:positions()
    assert(math.abs(arm:joint("iiwa14_joint_1"):velocity()) < 1e-4)
    arm:move_to({ iiwa14_joint_1 = 0 }, { seconds = 1, tolerance = 1e-3 })
    return stopped
  end)
  stn.near(finish(world, task).iiwa14_joint_1, 0.5, 3e-3, "half way")
  stn.near(arm:joint("iiwa14_joint_1"):position(), 0, 1e-3, "back")
end)

stn.test("of two controllers the active one is moved", function()
  local world, arm, _, first = new_arm()
  local second = world:controller { "joint_pd", target = arm, kp = 2e4, kd = 1e3, gravity_compensation = true }
  second:deactivate()
  finish(world, stn.task(function()
    arm:move_to({ iiwa14_joint_1 = 0.2 }, { seconds = 0.3, tolerance = 1e-3 })
    first:deactivate()
    second:activate()
    second:set { position = arm:positions() }
    arm:move_to({ iiwa14_joint_1 = 0.4 }, { seconds = 0.3, tolerance = 1e-3 })
  end))
  stn.near(arm:joint("iiwa14_joint_1"):position(), 0.4, 1e-3, "by the second one")
end)

stn.test("a joint that does not get there is told", function()
  local world, arm = new_arm { kp = 50, kd = 50, gravity_compensation = false }
  local task = stn.task("lift", function() arm:move_to({ iiwa14_joint_2 = 0.9 }, { seconds = 1, timeout = 0.5 }) end)
  local message = stn.fails(function() finish(world, task) end, "move_to: joint 'iiwa14_joint_")
  assert(message:match "^[^ ]*move_to.lua:%d+: move_to: joint 'iiwa14_joint_[24]' of group 'arm' is still 0%.%d+ rad from its goal 0.5 s after the end of a move of 1 s, begun at t = 0 s; in task 'lift'", message)
  stn.near(world.time, 1.5, 1e-9, "time")
end)

stn.test("bad goals are told in a line with robot and joint", function()
  local world, arm = new_arm()
  local other = stn.world {}:load { "models/iiwa14/iiwa14.urdf", fixed = true }
  local cases = {
    { { 1, 2, 3 }, nil, "move_to: the list for group 'arm' has 3 numbers, it needs 7" },
    { { iiwa14_joint_1 = 0 / 0 }, nil, "move_to: iiwa14_joint_1 = nan is not a finite number [rad]" },
    { { iiwa14_joint_9 = 0 }, nil, "did you mean 'iiwa14_joint_" },
    { { iiwa14_joint_1 = 5 }, nil, "joint 'iiwa14_joint_1' of group 'arm' cannot go to 5 rad, its limits are -2.96" },
    { { xyz = { 3, 0, 0 } }, nil, "group 'arm' does not get link 'iiwa14_flange' to (3, 0, 0) m within its limits" },
    { { xyz = { 0 / 0, 0, 0 } }, nil, "move_to: the pose: xyz[1] = nan" },
    { home, { speed = 2 }, "move_to: speed = 2 must be <= 1" },
    { home, { sped = 2 }, "unknown key 'sped', did you mean 'speed'?" },
    { 3, nil, "move_to takes a pose or joint positions" },
  }
  for _, case in ipairs(cases) do
    world:task(function() arm:move_to(case[1], case[2]) end)
    local message = stn.fails(function() world:step() end, case[3])
    assert(message:match "^[^\n]*move_to%.lua:%d+: " and not message:find "\n", message)
  end
  world:task(function() other:move_to(home) end)
  stn.fails(function() world:step() end, "group 'iiwa14' is of another world than task")
  stn.fails(function() arm:move_to(home) end, "move_to: only a task can wait")
  local plain = stn.world {}
  local bare = plain:load { "models/iiwa14/iiwa14.urdf", fixed = true }
  plain:task(function() bare:move_to { iiwa14_joint_3 = 1 } end)
  stn.fails(function() plain:step() end, "joint 'iiwa14_joint_3' of group 'iiwa14' has no active controller with references for its position")
end)
