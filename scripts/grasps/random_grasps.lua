-- SPDX-License-Identifier: Apache-2.0
-- Thousands of grasps of one cube, each with another friction, mass and place of the cube: an arm with a parallel gripper closes where it
-- expects the cube, and lifts. All worlds of a batch get the same commands.
--
--   stiction run scripts/grasps/random_grasps.lua                                              1,000 grasps
--   stiction run scripts/grasps/random_grasps.lua --set grasps=24000 --set threads=2 --set picture=grasps.svg --set rows=grasps.csv
--   stiction run scripts/grasps/random_grasps.lua --set grasps=1 --record grasp.html           the one that is meant, watched
local stn = require "stiction"
local heat_map = require "heat_map"

local p = stn.params {
  grasps = 1000,    -- how many; 1: that without errors, in a world alone
  threads = 1,      -- that share the worlds of a batch
  seed = 1,         -- of the errors
  at_once = 500,    -- most worlds of a batch
  edge = 0.05,      -- of the cube [m]
  mass = 0.2,       -- of the cube, times 1/2 to 4 [kg]
  mu = 0.6,         -- of cube and fingers, times 0.1 to 1.5
  offset = 0.04,    -- largest error of the cube's place, in any direction, all sizes alike [m]
  turn = 0.8,       -- and of its angle [rad]
  grip = 10.0,      -- force of each finger [N]
  dt = 0.002,       -- [s]
  picture = "",     -- file of a picture (.svg)
  rows = "",        -- file of a table of all grasps (.csv)
}

-- ---------------------------------------------------------------------------------------------------------- scene

local place, height = { 0.55, 0, p.edge / 2 }, 0.02 -- of the cube, and of the hand's tip [m]
local world = stn.world { dt = p.dt, varied = true, seed = p.seed, law = "lagged" }
world:ground { mu = 0.5 }
local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true,
  joints = { iiwa14_joint_2 = 0.6, iiwa14_joint_4 = -1.4, iiwa14_joint_6 = 1.1 } }
local hand = world:load { "models/wsg50/wsg50.urdf", name = "hand", joints = { wsg50_finger_left_joint = 0.05 }, mu = p.mu }
arm:attach(hand, "iiwa14_flange")
world:disable_collisions(arm)
world:disable_collisions(arm, hand)
local cube = world:box { name = "cube", size = { p.edge, p.edge, p.edge }, mass = p.mass, mu = p.mu, xyz = place }
local motors = world:controller { "joint_pd", target = arm, kp = 8000, kd = 400, gravity_compensation = true }
local jaws = world:controller { "gripper", target = hand }

-- Joint positions with the tip at a height over the place, one for each step of 1 cm.
local lift = {}
for i = 0, 10 do
  local pose = stn.pose { xyz = { place[1], place[2], height + 0.01 * i }, axes = { z = { 0, 0, -1 }, y = { 0, 1, 0 } } }
  arm:set_q(assert(arm:inverse_kinematics { link = "hand/wsg50_tip", pose = pose }))
  lift[i] = {}
  for j = 1, 7 do lift[i][j] = arm:joint("iiwa14_joint_" .. j):position() end
end
local start = {}
for j = 1, 7 do start["iiwa14_joint_" .. j] = lift[0][j] end
arm:set_q(start)
motors:set { position = lift[0] }

-- What is told at a time: where the joints of the arm go, and whether the jaws close.
local close, rise, hold = 0.4, 0.6, 0.4 -- [s]
local seconds = close + rise + hold
local function command(time)
  local way = math.max(0, math.min(1, (time - close) / rise))
  local s = 10 * way ^ 3 * (10 - 15 * way + 6 * way * way)
  local i = math.min(9, math.floor(s))
  local row = {}
  for j = 1, 7 do row[j] = lift[i][j] + (s - i) * (lift[i + 1][j] - lift[i][j]) end
  return row
end

-- --------------------------------------------------------------------------------------------------------- one alone

if p.grasps == 1 then
  jaws:set { width = 0, force = p.grip }
  for step in world:run { seconds = seconds } do motors:set { position = command(step.time) } end
  stn.check("the cube was lifted", { value = cube:position()[3] - place[3], least = 0.09, unit = "m" })
  return
end

-- ------------------------------------------------------------------------------------------------------------- many

local every = 5 -- steps that a command holds
local total = math.floor(seconds / p.dt + 0.5)
local count = math.ceil(p.grasps / math.ceil(p.grasps / p.at_once)) -- batches of nearly one size
local batch = stn.batch { world, count = count, threads = p.threads, outputs = { "body_pose" } }
local body -- number of the cube among the bodies: the one that has its place
local q = batch:get("q", 1)
for i = 1, #q - 6 do
  if q[i] == place[1] and q[i + 1] == place[2] and q[i + 2] == place[3] then body = i end -- its first coordinate
end
local columns = batch:columns "mass_factor"

local results, failed = {}, 0
local function try(first, last)
  local n = last - first + 1
  local worlds = {}
  for i = 1, n do worlds[i] = i end
  batch:reset()
  for i = 1, n do
    local angle, far = world:random(-math.pi, math.pi), p.offset * world:random(0, 1)
    local r = { mu = p.mu * world:random(0.1, 1.5), mass = p.mass * 2 ^ world:random(-1, 2), x = far * math.cos(angle), y = far * math.sin(angle),
      turn = world:random(-p.turn, p.turn) }
    results[first + i - 1] = r
    local row = batch:get("q", i)
    row[body], row[body + 1] = place[1] + r.x, place[2] + r.y
    row[body + 3], row[body + 4], row[body + 5], row[body + 6] = math.cos(r.turn / 2), 0, 0, math.sin(r.turn / 2)
    batch:set("q", { row }, { i })
    batch:visit(i, function(w)
      w:group "cube":set_mass_factor(r.mass / p.mass)
      w:group "cube":set_friction_factor(r.mu / p.mu)
      w:group "hand":set_friction_factor(r.mu / p.mu)
    end)
  end
  batch:set("reference.width", { 0 })
  batch:set("reference.force", { p.grip })
  for step = 0, total - 1, every do
    batch:set("command", command(step * p.dt))
    batch:step(math.min(every, total - step))
  end
  local rows = batch:get("q", worlds)
  for i = 1, n do
    local r = results[first + i - 1]
    r.lifted = rows[i][body + 2] - place[3]
    r.error = batch:error(i)
    failed = failed + (r.error and 1 or 0)
    r.success = not r.error and r.lifted > 0.09
  end
end

local clock = os.clock()
for first = 1, p.grasps, count do
  try(first, math.min(first + count - 1, p.grasps))
  print(("%d of %d grasps, %.0f s of processor time"):format(math.min(first + count - 1, p.grasps), p.grasps, os.clock() - clock))
end

-- ----------------------------------------------------------------------------------------------------------- outcome

local held = 0
for _, r in ipairs(results) do held = held + (r.success and 1 or 0) end
local tally = batch:tally()
print(("%d of %d lifted; %d bodies, %d steps, %.1f us each; not converged %d, failed worlds %d"):format(held, p.grasps, columns, tally.steps,
  1e6 * (os.clock() - clock) / tally.steps, tally.not_converged, failed))

-- Shares by friction and by how far the cube lies beside the middle of the jaws.
local cells, sums, bins = {}, {}, 16
for row = 1, bins do
  cells[row], sums[row] = {}, {}
  for column = 1, bins do sums[row][column] = { 0, 0 } end
end
for _, r in ipairs(results) do
  local column = math.min(bins, 1 + math.floor(bins * (r.mu / p.mu - 0.1) / 1.4))
  local sum = sums[math.min(bins, 1 + math.floor(bins * math.sqrt(r.x ^ 2 + r.y ^ 2) / p.offset))][column]
  sum[1], sum[2] = sum[1] + (r.success and 1 or 0), sum[2] + 1
end
for row = 1, bins do
  for column = 1, bins do
    local sum = sums[row][column]
    cells[row][column] = sum[2] > 0 and sum[1] / sum[2] or nil
  end
end
if p.picture ~= "" then
  heat_map.write(p.picture, { title = ("%d grasps: how many lift the cube"):format(p.grasps), columns = bins, cells = cells,
    x = { label = "friction coefficient of cube and fingers", from = 0.1 * p.mu, to = 1.5 * p.mu },
    y = { label = "how far the cube lies beside the hand [mm]", from = 0, to = 1000 * p.offset } })
end
if p.rows ~= "" then
  local file <close> = assert(io.open(p.rows, "w"))
  file:write("mu,mass_kg,x_m,y_m,turn_rad,lifted_m,success\n")
  for _, r in ipairs(results) do
    file:write(("%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%d\n"):format(r.mu, r.mass, r.x, r.y, r.turn, r.lifted, r.success and 1 or 0))
  end
end

-- A slippery cube falls out, one that is near and rough does not: two fingers hold m (g + a) <= 2 mu F.
local function share(chosen)
  local good, all = 0, 0
  for _, r in ipairs(results) do
    if chosen(r) then good, all = good + (r.success and 1 or 0), all + 1 end
  end
  return all > 0 and good / all or nil
end
local near = p.edge / 4
local function is_near(r) return math.abs(r.x) < near and math.abs(r.y) < near and math.abs(r.turn) < 0.2 end
local slips = share(function(r) return r.mass * 9.81 > 1.1 * 2 * r.mu * p.grip end)
local holds = share(function(r) return is_near(r) and r.mass * 9.81 < 0.7 * 2 * r.mu * p.grip end)
stn.check("no world failed", failed == 0)
if slips then stn.check("of those that two fingers cannot hold were lifted", { value = slips, limit = 0.02, unit = "" }) end
if holds then stn.check("of near ones that they hold were lifted", { value = holds, least = 0.95, unit = "" }) end
