-- SPDX-License-Identifier: Apache-2.0
-- Random reach tasks for controller differential_ik: an arm goes from a random posture to the pose of another one, among
-- random boxes, balls and poles. Measured from outside of the controller: does it come there, and does it keep the limits
-- of its joints, their velocities, and off the obstacles and itself? A local method does not find round everything.
local stn = require "stiction"

local p = stn.params {
  tasks = 100,
  seed = 1,
  robot = "iiwa14",   -- or "panda"
  method = "qp",      -- or "dls", which keeps clear of nothing: then there are no obstacles
  obstacles = 4,      -- a task
  dt = 0.002,         -- [s]
  seconds = 8.0,      -- at most, of a task [s]
  distance = 0.02,    -- to keep [m]
  posture = true,     -- drawn to a free posture that has the tip at the goal, from inverse kinematics
  verbose = false,    -- a line for each task that does not get there
}

local robots = {
  iiwa14 = { file = "models/iiwa14/iiwa14.urdf", tip = "iiwa14_flange", base = "iiwa14_link_0" },
  panda = { file = "models/panda/panda.urdf", tip = "panda_link8", base = "panda_link0" },
}
local robot = robots[p.robot] or error(("robot = '%s' must be iiwa14 or panda"):format(p.robot), 0)
local keeps_clear = p.method == "qp"
local near_m, near_rad = 1e-3, 1e-2 -- of a goal that is reached

-- ------------------------------------------------------------------------------------------------------------ a task

local dice = stn.world { seed = p.seed }

--- A pole, a ball or a box, somewhere within reach.
local function add_obstacle(world, number)
  local kind, angle, away = dice:random(0, 3) // 1, dice:random(-math.pi, math.pi), dice:random(0.3, 0.8)
  local at = { away * math.cos(angle), away * math.sin(angle), dice:random(0.1, 0.9) }
  local name = "obstacle" .. number
  if kind == 0 then
    world:capsule { name = name, radius = dice:random(0.02, 0.05), length = dice:random(0.3, 1.0), xyz = at, fixed = true,
                    rpy = { dice:random(-1.5, 1.5), dice:random(-1.5, 1.5), 0 } }
  elseif kind == 1 then
    world:sphere { name = name, radius = dice:random(0.04, 0.12), xyz = at, fixed = true }
  else
    world:box { name = name, size = { dice:random(0.05, 0.3), dice:random(0.05, 0.3), dice:random(0.05, 0.3) }, xyz = at, fixed = true,
                rpy = { 0, 0, dice:random(-1.5, 1.5) } }
  end
  return name
end

local function add_scene()
  local world = stn.world { dt = p.dt }
  local arm = world:load { robot.file, name = "arm", fixed = true }
  local around = {}
  if keeps_clear then
    world:ground { name = "floor", xyz = { 0, 0, -0.1 } } -- the base, which cannot move, keeps off it too
    around[1] = "floor"
    for i = 1, p.obstacles do around[#around + 1] = add_obstacle(world, i) end
  else
    world:disable_collisions(arm)
  end
  return { world = world, arm = arm, around = around }
end

local clear, clear_of_itself = p.distance + 0.03, 0.01 -- of postures: more than the controller keeps [m]

--- Is the base, which does not move, off the obstacles?
local function is_base_clear(s)
  for i = 2, #s.around do
    if s.world:distance(s.arm:link(robot.base), s.around[i]).distance < clear then return false end
  end
  return true
end

local function draw_positions(s)
  local q = {}
  for _, joint in ipairs(s.arm:joints()) do
    local limits = joint:limits()
    q[joint.name] = dice:random(0.95 * limits.lower + 0.05 * limits.upper, 0.05 * limits.lower + 0.95 * limits.upper)
  end
  return q
end

local function is_free(s, q)
  return s.arm:path_is_free { from = q, to = q, margin = clear, self_margin = clear_of_itself }
end

--- A random posture that keeps clear of everything; nil where the obstacles leave none.
local function draw_posture(s)
  for _ = 1, 200 do
    local q = draw_positions(s)
    if is_free(s, q) then return q end
  end
end

local function draw_task()
  for _ = 1, 50 do
    local s = add_scene()
    s.tip = s.arm:link(robot.tip)
    local start = is_base_clear(s) and draw_posture(s)
    local finish = start and draw_posture(s)
    if finish then
      s.arm:set_q(finish)
      s.goal = s.tip:pose()
      s.arm:set_q(start)
      return s
    end
    s.world:close()
  end
  error("50 scenes without two free postures: fewer obstacles, please", 0)
end

-- ------------------------------------------------------------------------------------------------------- what happens

local all = { reached = 0, obstacle = 0, itself = 0, limit = 0, elsewhere = 0, touched = 0, position = 0, velocity = 0, command = 0 }
local least, seconds, costs = math.huge, {}, {}

local function distance_to_obstacles(s)
  local smallest = math.huge
  for _, name in ipairs(s.around) do
    local d = s.world:distance(s.arm, name, { max = 0.2 })
    smallest = d and math.min(smallest, d.distance) or smallest
  end
  return smallest
end

--- Counts what passes its limit in a step.
local function count_violations(s, step)
  local position, velocity = 0, 0
  for _, joint in ipairs(s.joints) do
    local q, v, limits = joint:position(), joint:velocity(), joint:limits()
    if q < limits.lower or q > limits.upper then position = position + 1 end
    if math.abs(v) > limits.velocity then velocity = velocity + 1 end
  end
  all.position, all.velocity = all.position + position, all.velocity + velocity
  if step.contact_count > 0 then
    for _, contact in ipairs(step:contacts()) do
      if contact.normal_force > 0 then
        all.touched = all.touched + 1
        break
      end
    end
  end
end

local function is_there(s)
  local pose = s.tip:pose()
  return pose:distance(s.goal) < near_m and pose:angle(s.goal) < near_rad
end

local function why_not(s, smallest)
  if smallest < p.distance + 2e-3 then return "obstacle" end
  if not s.arm:path_is_free { to = s.arm:positions(), self_margin = 7e-3 } then return "itself" end
  for _, joint in ipairs(s.joints) do
    local q, limits = joint:position(), joint:limits()
    if q < limits.lower + 0.02 or q > limits.upper - 0.02 then return "limit" end
  end
  return "elsewhere"
end

--- The posture nearest to the present one that has the tip at the goal and keeps clear; where none is found, the present one.
local function goal_posture(s)
  return s.arm:inverse_kinematics { link = s.tip, pose = s.goal, random_starts = 100, nearest = true, free = { margin = clear, self_margin = clear_of_itself } }
    or s.arm:positions()
end

local function controller(s)
  local motors = s.world:controller { "differential_ik", target = s.arm, frame = robot.tip, method = p.method, distance = p.distance,
                                      posture_weight = p.posture and 0.2 or 0, posture_gain = p.posture and 5 or 1 }
  motors:set { position = s.goal.xyz, rotation = s.goal.rotation_vector }
  if p.posture then motors:set { posture = goal_posture(s) } end
end

local function run(number)
  local s = draw_task()
  s.joints = s.arm:joints()
  controller(s)
  local smallest = math.huge
  for step in s.world:run { seconds = p.seconds } do
    costs[#costs + 1] = step.step_us
    count_violations(s, step)
    if step.index % 5 == 0 then
      smallest = distance_to_obstacles(s)
      least = math.min(least, smallest)
    end
    if is_there(s) then
      seconds[#seconds + 1] = s.world.time
      break
    end
  end
  local outcome = is_there(s) and "reached" or why_not(s, smallest)
  all[outcome] = all[outcome] + 1
  if p.verbose and outcome ~= "reached" then
    print(("task %d: %s, %.4f m and %.4f rad away"):format(number, outcome, s.tip:pose():distance(s.goal), s.tip:pose():angle(s.goal)))
  end
  s.world:close()
end

for i = 1, p.tasks do
  run(i)
end

-- ------------------------------------------------------------------------------------------------------------- report

local function part(list, share)
  table.sort(list)
  return list[math.max(1, math.ceil(share * #list))] or 0
end

stn.result("reached", all.reached / p.tasks, "1")
stn.result("stuck_at_obstacles", all.obstacle, "tasks")
stn.result("stuck_at_itself", all.itself, "tasks")
stn.result("stuck_at_joint_limits", all.limit, "tasks")
stn.result("stuck_elsewhere", all.elsewhere, "tasks")
stn.result("seconds_to_goal_median", part(seconds, 0.5), "s")
stn.result("seconds_to_goal_p99", part(seconds, 0.99), "s")
stn.result("step_us_median", part(costs, 0.5), "us")
stn.result("step_us_p99", part(costs, 0.99), "us")
stn.result("least_distance_m", least, "m")
stn.check("joint limits passed", { value = all.position, limit = 0, unit = "joints and steps" })
stn.check("velocity limits passed", { value = all.velocity, limit = 0, unit = "joints and steps" })
if keeps_clear then
  stn.check("steps with a contact", { value = all.touched, limit = 0, unit = "steps" })
  stn.check("least distance to obstacles", { value = least, least = 0.5 * p.distance, unit = "m" })
end
