-- SPDX-License-Identifier: Apache-2.0
-- An arm with a hand on it, as the tasks of dual_arm.lua speak to it: go there along a line, close the hand, what do you feel?
-- `commanded` is where the hand's frame was last told to be; what it holds is placed by that, so that a constant sag cancels.
local stn = require "stiction"

local robot = {}
robot.__index = robot

local FINGERS = { "index", "middle", "ring" }

--- Joint positions of a hand whose three fingers bend alike: fingers = joints 0 to 3 of each, thumb = its joints 0 to 3 [rad].
function robot.posture(fingers, thumb)
  local q = {}
  for k = 0, 3 do
    for _, finger in ipairs(FINGERS) do q[("allegro_%s_joint_%d"):format(finger, k)] = fingers[k + 1] end
    q["allegro_thumb_joint_" .. k] = thumb[k + 1]
  end
  return q
end

--- Takes what scene.lua made of an arm; completes the world.
function robot.new(parts)
  local self = setmetatable(parts, robot)
  self.palm = self.hand:link "allegro_palm"
  self.commanded = self.palm:pose()
  self.goal = {}
  for name, q in pairs(self.arm:positions()) do self.goal[name] = q end
  self.wrist = self.world:sensor { "force_torque", link = self.palm }
  return self
end

-- 10 u^3 - 15 u^4 + 6 u^5: from rest to rest; its rate is at most 15/8.
local function ease(u) return u ^ 3 * (10 - 15 * u + 6 * u ^ 2) end

--- Joint positions that put the hand's frame there, only the nearest ones to `q`, so that no elbow swings; else nil and what is in the way.
local function near(self, pose, q)
  return self.arm:inverse_kinematics { link = self.palm, pose = pose, seeds = { q }, random_starts = 0, tolerance = 1e-5, angle_tolerance = 1e-5 }
end

--- The hand's frame to a pose.
local function command(self, pose, dt)
  local q = assert(near(self, pose, self.goal))
  local v = {}
  for name, was in pairs(self.goal) do
    v[name], self.goal[name] = (q[name] - was) / dt, q[name]
  end
  self.motors:set { position = self.goal, velocity = v }
  self.commanded = pose
end

local function hold(self)
  local v = {}
  for name in pairs(self.goal) do v[name] = 0 end
  self.motors:set { velocity = v }
end

--- Along a line to a pose, from rest to rest. `tool` is a frame in the hand's (default: the hand's) that the pose is for and
--- that goes straight; `speed` [m/s] and `turn` [rad/s] are the largest; `stop`, a function: true ends it where it is.
--- Returns whether `stop` ended it.
function robot:slide(goal, options)
  options = options or {}
  local tool = options.tool or stn.pose {}
  local start, back, dt = self.commanded * tool, tool:inverse(), self.world.dt
  goal = stn.pose(goal)
  local seconds = 1.875 * math.max(start:distance(goal) / (options.speed or 0.3), start:angle(goal) / (options.turn or 1.5))
  local steps = math.max(1, math.ceil(seconds / dt))
  local release <close> = setmetatable({}, { __close = function() hold(self) end })
  for k = 1, steps do
    command(self, start:interpolate(goal, ease(k / steps)) * back, dt)
    stn.wait()
    if options.stop and options.stop() then return true end
  end
  return false
end

--- Could the hand slide to these poses, one after the other? Each is { pose, tool = }, as slide takes it; nothing moves. Returns true, or false,
--- the number of the pose that it does not come to and the text of inverse kinematics, which says how far it stays away.
function robot:reaches(goals)
  local q, from = self.goal, self.commanded
  for k, goal in ipairs(goals) do
    local tool = goal.tool or stn.pose {}
    local start, back, finish = from * tool, tool:inverse(), stn.pose(goal[1])
    local pieces = math.max(1, math.ceil(start:distance(finish) / 0.01), math.ceil(start:angle(finish) / 0.05))
    for i = 1, pieces do
      local next, why = near(self, start:interpolate(finish, i / pieces) * back, q)
      if not next then return false, k, why end
      q = next
    end
    from = finish * back
  end
  return true
end

--- Where an object at a pose is as seen from the hand as it is commanded: the tool with which the object is placed.
function robot:tool(pose) return self.commanded:relative(pose) end

--- A step of the hand in its own frame [m].
function robot:shift(xyz, options) return self:slide(self.commanded * stn.pose { xyz = xyz }, options) end

--- The fingers' references to a posture, within a time; they stay behind where something is in the way.
function robot:shape(posture, seconds)
  local start, steps = self.shaped or self.hand:positions(), math.ceil(seconds / self.world.dt)
  for k = 1, steps do
    local q, s = {}, ease(k / steps)
    for name, goal in pairs(posture) do q[name] = start[name] + s * (goal - start[name]) end
    self.fingers:set { position = q }
    stn.wait()
  end
  self.shaped = posture
end

--- How hard the hand squeezes an object: half the sum of its links' and pads' normal forces [N].
function robot:grip(object)
  local sum = 0
  for _, link in ipairs(self.hand:links()) do sum = sum + self.world:contact_force(link, object).normal_force end
  for _, pad in ipairs(self.pads) do sum = sum + pad:contact_force(object).normal_force end
  return sum / 2
end

--- Does anything of the hand press on an object?
function robot:touches(object) return self:grip(object) > 0 end

--- Force that the arm exerts on the hand and what it holds, upwards [N].
function robot:lift_force()
  local force = self.wrist:read().force
  return self.palm:pose():rotate(force)[3]
end

return robot
