-- SPDX-License-Identifier: Apache-2.0
-- The four tasks of the per-contact paper [hwangbo-2018], section V, for scripts/quadruped.urdf: 35 kg, four feet and a trunk that
-- touch the ground.
--
--   trot    1.5 m/s by a scripted gait (trot.lua) and joint PD
--   hang    falls from 1 m at rest with limp joints; only the feet are stopped by the ground, so that the trunk swings below it and hangs on
--           feet that press down: up to 4 contacts that never part
--   drop    falls from 1 m with limp joints and 1 m/s sideways onto feet and trunk; again from above once it is at rest
--   random  falls, joint PD takes it to targets of 1 rad^2 variance that change all the time; again from above every 5 s
--
-- The seed says how the robot is turned at the start, by less than 0.02 rad for trot, and every draw of drop and random.
--
--   for step, run in tasks.run("hang", { solver = { "pgs" }, seconds = 10 }) do ... end
local stn = require "stiction"
local trot = require "trot"
local load_text = require "robot_text"

local tasks = { names = { "trot", "hang", "drop", "random" }, speed = 1.5 }

local folder = debug.getinfo(1, "S").source:match "^@(.*)papers/per_contact/lib/[^/]*$" or "scripts/"

--- Parameters that every script of this folder takes, and `more`.
function tasks.parameters(more)
  local declared = {
    dt = 0.001,         -- [s]
    seed = 1,
    mu = 0.8,
    tolerance = 1e-6,   -- of the residual over the largest speed; the paper stops at 1e-6 m/s and N s
    max_iterations = 20000,
    acceleration = 0,   -- sweeps that are combined; 0: the methods as published
    damping = 0.0,      -- of limp joints [N m s/rad]
    correction = false, -- contacts know velocities only, as in the paper, and positions drift; true: overlaps are left within a step
    hold = 0.1,         -- of a random target [s]
    random_kp = 50.0, random_kd = 1.0, -- of random [N m/rad, N m s/rad]
    trot_kp = 300.0, trot_kd = 6.0,
  }
  for name, default in pairs(more) do declared[name] = default end
  return stn.params(declared)
end

--- The methods of the paper, as stn.world and world:solve_problem take them.
function tasks.solver(name, p)
  local settings = { tolerance = p.tolerance, max_iterations = p.max_iterations, acceleration = p.acceleration }
  if name == "pgs" or name == "nsgs" then
    settings[1] = name
  elseif name == "sap" then
    settings = { "sap", tolerance = p.tolerance }
  else -- bisection, golden, quartic, coulomb, ccp: how it solves a contact
    settings[1], settings["local"] = "bisection", name
  end
  return settings
end

local function load_robot(world, p, limp, joints)
  local file = assert(io.open(folder .. "quadruped.urdf"))
  local text = file:read "a"
  file:close()
  if limp then
    text = text:gsub('damping="[^"]*"', ('damping="%g"'):format(p.damping))
  end
  return load_text(world, ".urdf", text, { mu = p.mu, joints = joints, base = { xyz = { 0, 0, 1 } } })
end

-- A number of the normal distribution, by Box and Muller.
local function normal(world)
  return math.sqrt(-2 * math.log(1 - world:random())) * math.cos(2 * math.pi * world:random())
end

-- Back into the air with other directions, at rest but for `speed` along the ground.
local function throw(world, robot, home, speed)
  local heading = world:random(-math.pi, math.pi)
  robot:set_pose { xyz = { 0, 0, 1 }, rpy = { world:random(-0.3, 0.3), world:random(-0.3, 0.3), world:random(-math.pi, math.pi) } }
  robot:set_q(home)
  local v = robot:v()
  for i = 1, #v do v[i] = 0 end
  robot:set_v(v)
  robot:set_velocity { linear = { speed * math.cos(heading), speed * math.sin(heading), 0 } }
end

-- What each task does before a step, given its time: functions that return it for a world that is complete.
local drives = {}

function drives.trot(run, p)
  return function(time)
    local pose, velocity = run.robot:pose(), run.robot:velocity().linear
    local forward = pose:rotate { 1, 0, 0 }
    local yaw = math.atan(forward[2], forward[1])
    local c, s = math.cos(yaw), math.sin(yaw)
    local own = { c * velocity[1] + s * velocity[2], -s * velocity[1] + c * velocity[2] }
    local wanted = math.min(tasks.speed, time) -- reached within 1.5 s
    run.motors:set { position = trot(time, wanted, own, -yaw - 0.5 * pose.xyz[2]) } -- along the x axis
  end
end

function drives.hang(run)
  throw(run.world, run.robot, run.home, 0)
  return function() end
end

function drives.drop(run)
  local since, quiet = 0, 0 -- steps in the air and after, steps at rest
  throw(run.world, run.robot, run.home, 1)
  return function()
    since = since + 1
    local fastest = 0
    if since % 10 == 0 then
      for _, rate in ipairs(run.robot:v()) do fastest = math.max(fastest, math.abs(rate)) end
      quiet = fastest < 0.05 and quiet + 10 or 0
    end
    if quiet * run.world.dt >= 0.2 or since * run.world.dt >= 10 then
      throw(run.world, run.robot, run.home, 1)
      since, quiet, run.throws = 0, 0, run.throws + 1
    end
  end
end

function drives.random(run, p)
  local hold, again = math.max(1, p.hold // p.dt), math.max(1, 5 // p.dt)
  local count = 0
  return function()
    if count % again == 0 then
      throw(run.world, run.robot, run.home, 0)
      run.throws = run.throws + 1
    end
    if count % hold == 0 then
      local targets = {}
      for joint, angle in pairs(run.home) do targets[joint] = angle + normal(run.world) end
      run.motors:set { position = targets }
    end
    count = count + 1
  end
end

--- A world with the task in it: world, robot, throws (count), drive(time), home (joint angles by name).
function tasks.make(task, p, solver)
  assert(drives[task], task)
  local limp = task == "hang" or task == "drop"
  local run = { task = task, throws = 0, home = trot(0, 0, { 0, 0 }, 0) }
  run.world = stn.world { dt = p.dt, solver = solver, seed = p.seed, exact_contacts = true } -- the contacts of the paper are rigid
  local ground = run.world:ground { mu = p.mu }
  run.robot = load_robot(run.world, p, limp, run.home)
  run.world:disable_collisions(run.robot)
  if not p.correction then
    run.world:contact_material { relaxation_time = 1e9 }
  end
  if task == "hang" then
    run.world:disable_collisions(ground, { run.robot, "quadruped_trunk" })
  elseif not limp then
    run.motors = run.world:controller { "joint_pd", target = run.robot, kp = p[task .. "_kp"], kd = p[task .. "_kd"] }
  end
  if task == "trot" then
    run.robot:set_pose { xyz = { 0, 0, 0.51 }, rpy = { run.world:random(-0.02, 0.02), run.world:random(-0.02, 0.02), 0 } }
  end
  run.drive = drives[task](run, p)
  return run
end

--- Steps of a task: yields each step, which was driven.
function tasks.run(run, seconds)
  local steps = run.world:run { seconds = seconds }
  return function(state, before)
    run.drive(run.world.time)
    return steps(state, before)
  end
end

return tasks
