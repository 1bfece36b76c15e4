-- SPDX-License-Identifier: Apache-2.0
-- What a prediction costs: microseconds of a step of the world, of one world:predict, of each of 1,000 in world:predict_batch, without
-- contacts in the results, and with derivatives. The best of some repetitions; nothing is asserted.
--   stiction run tests/bench/predict.lua [--set solver=qp]
local stn = require "stiction"
local load_text, sliding_finger = require "robot_text", require "sliding_finger"

local p = stn.params { solver = "sap", commands = 1000, repetitions = 5 }

local function new_world()
  local world = stn.world { dt = 0.05, integrator = "quasistatic", solver = p.solver, certificate = "light" }
  world:ground { mu = 0.5 }
  return world
end

local scenes = {}

-- A finger pushes a box: 9 velocities, 5 contacts.
function scenes.push()
  local world = new_world()
  world:box { size = { 0.1, 0.1, 0.06 }, mass = 0.5, xyz = { 0, 0, 0.03 } }
  local robot = load_text(world, ".urdf", sliding_finger(0.015), { fixed = true, joints = { x = -0.066, y = 0.01, z = 0.03 } })
  local drive = world:controller { "joint_pd", target = robot, kp = 1000, kd = 0, effort_limits = false, gravity_compensation = true }
  return world, drive, { -0.055, 0.01, 0.03 }
end

-- An arm of 7 joints pushes one of ten boxes: 67 velocities.
function scenes.arm()
  local world = new_world()
  for i = 0, 9 do
    world:box { size = { 0.12, 0.1, 0.08 }, mass = 1, xyz = { 0.6 + 0.15 * (i // 5), 0.02 + 0.12 * (i % 5), 0.04 } }
  end
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true }
  world:sphere { radius = 0.03, mass = 0.1, on = { arm, "iiwa14_flange" }, xyz = { 0, 0, 0.06 } }
  arm:set_q(assert(arm:inverse_kinematics { link = "iiwa14_flange", pose = { xyz = { 0.5, 0, 0.12 }, axes = { z = { 0, 0, -1 } } },
    seeds = { { 0, 0.5, 0, -1.5, 0, 1, 0 } } }))
  local drive = world:controller { "joint_pd", target = arm, kp = 800, kd = 0, effort_limits = false, gravity_compensation = true }
  local command = arm:q()
  command[2], command[4] = command[2] + 0.05, command[4] + 0.045
  return world, drive, command
end

-- Microseconds of one, the best of some repetitions of `count`.
local function time(count, f)
  local best = math.huge
  for _ = 1, p.repetitions do
    collectgarbage()
    local start = os.clock()
    for _ = 1, count do f() end
    best = math.min(best, (os.clock() - start) / count)
  end
  return 1e6 * best
end

-- The same for a batch, by the clock on the wall in whole seconds: repeated for a while.
local function wall(f)
  f()
  local start, count = os.time(), 0
  while os.time() == start do end
  start = os.time()
  repeat
    f()
    count = count + 1
  until os.time() - start >= 3
  return 1e6 * (os.time() - start) / count / p.commands
end

for _, name in ipairs { "push", "arm" } do
  local world, drive, command = scenes[name]()
  world:predict(nil, command) -- the first one makes the clone
  local q, commands = world:state().q, {}
  for i = 1, p.commands do commands[i] = command end
  local contacts, touching = world:predict(q, command).contacts, 0
  for _, contact in ipairs(contacts) do touching = touching + (contact.normal_force > 0 and 1 or 0) end
  print(("%s, %s: nv = %d, %d contacts, %d of them press"):format(name, p.solver, world.nv, #contacts, touching))
  local function line(what, us) print(("  %-44s %9.1f us"):format(what, us)) end
  drive:set { position = command }
  local snapshot = world:snapshot()
  local step = time(100, function() world:restore(snapshot); world:step() end)
  line("restore and step", step)
  line("predict", time(100, function() world:predict(q, command) end))
  line("predict without contacts", time(100, function() world:predict(q, command, { contacts = false }) end))
  line(("each of %d in predict_batch"):format(p.commands), time(1, function() world:predict_batch(q, commands) end) / p.commands)
  line("the same without contacts", time(1, function() world:predict_batch(q, commands, { contacts = false }) end) / p.commands)
  print(("  %-44s %9.1f us"):format("the same on 2 threads, on the wall", wall(function() world:predict_batch(q, commands, { contacts = false, threads = 2 }) end)))
  if pcall(world.predict, world, q, command, { derivatives = true }) then
    line("predict, derivatives by the command", time(20, function() world:predict(q, command, { contacts = false, derivatives = "command" }) end))
    line("predict, derivatives by command and q", time(20, function() world:predict(q, command, { contacts = false, derivatives = true }) end))
  end
  world:close()
end
