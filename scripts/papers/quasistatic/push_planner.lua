-- SPDX-License-Identifier: Apache-2.0
-- A planner by random shooting on quasistatic predictions [pang-2021]: a finger on three slides pushes a box over the floor to a
-- goal. It draws pushes, each a place beside the box, a direction and a length, predicts all of them side by side with
-- world:predict_batch, makes the best one, looks where the box is, and plans again.
--
--   stiction run scripts/papers/quasistatic/push_planner.lua --record push.html --set plot=push.svg
--   stiction run scripts/papers/quasistatic/push_planner.lua --set execute=dynamic --set seed=7
--
-- execute=dynamic makes the pushes in a world with inertia, at 2 ms a step: the planner still predicts quasistatic steps of `dt`.
local stn = require "stiction"
local load_text, sliding_finger, chart = require "robot_text", require "sliding_finger", require "chart"

local p = stn.params {
  execute = stn.choice { "quasistatic", "dynamic" },
  goal_x = 0.2, goal_y = 0.1,                                        -- [m]
  goal_yaw_deg = 40.0,
  dt = stn.number { 0.1, min = 1e-3, max = 1, unit = "s" },          -- of a predicted step
  samples = stn.number { 200, min = 1 },                             -- pushes that are drawn at a time
  steps = stn.number { 10, min = 1 },                                -- of a push
  most = 40,                                                         -- pushes that are made
  tolerance = stn.number { 0.005, min = 0, unit = "m" }, tolerance_deg = 3.0, -- of place and yaw
  seed = 1,
  mu = 0.5,
  plot = "",
}
local size, height, mass = 0.1, 0.06, 0.5 -- of the box [m], [m], [kg]
local radius, stiffness = 0.015, 1000     -- of the finger [m], of its motors [N/m]
local level, above = 0.03, 0.12           -- heights at which it pushes and travels [m]
local clear = 0.015                       -- free way beside the box before a push, more than mu times a step of 2 cm [m]
local yaw_weight = 0.1                    -- m of a way that a rad is worth

local function build(kind)
  local dynamic = kind == "dynamic"
  local s = { dynamic = dynamic, world = stn.world { dt = dynamic and 2e-3 or p.dt, seed = p.seed,
    integrator = dynamic and "symplectic_euler" or "quasistatic" } }
  s.world:ground { mu = p.mu }
  s.box = s.world:box { name = "box", size = { size, size, height }, mass = mass, mu = p.mu, xyz = { 0, 0, height / 2 } }
  s.finger = load_text(s.world, ".urdf", sliding_finger(radius), { fixed = true, mu = p.mu, joints = { x = -size, y = 0, z = above } })
  -- an impedance: its spring holds in balance, its damper counts in motion alone
  s.drive = s.world:controller { "joint_pd", target = s.finger, kp = stiffness, kd = dynamic and 2 * math.sqrt(stiffness * 0.3) or 0,
    effort_limits = false, gravity_compensation = true }
  s.command = { -size, 0, above }
  return s
end

-- Moves the finger to a place: a step of balance, or a ramp over as much time.
local function go(s, place)
  local from, parts = s.command, s.dynamic and math.max(1, math.floor(p.dt / s.world.dt + 0.5)) or 1
  for k = 1, parts do
    local to = {}
    for i = 1, 3 do to[i] = from[i] + (place[i] - from[i]) * k / parts end
    s.drive:set { position = to }
    local step = s.world:step()
    s.unsolved = (s.unsolved or 0) + (step.converged and 0 or 1)
  end
  s.command = place
end

-- There in steps of 2 cm at most: contacts of a step lie in planes that are those of its start, and a longer one would run into them.
local function travel(s, place)
  local from = s.command
  local far = 0
  for i = 1, 3 do far = math.max(far, math.abs(place[i] - from[i])) end
  local parts = math.max(1, math.ceil(far / 0.02))
  for k = 1, parts do
    local to = {}
    for i = 1, 3 do to[i] = from[i] + (place[i] - from[i]) * k / parts end
    go(s, to)
  end
end

-- ---------------------------------------------------------------------------------------------------------------- pushes

-- Where the box is, from coordinates of the world: x, y, yaw.
local function box_at(q)
  local w, x, y, z = q[4], q[5], q[6], q[7]
  return q[1], q[2], math.atan(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
end

local goal_yaw = p.goal_yaw_deg * stn.deg

-- What is left of the way: a length and an angle. The box is the same after a quarter turn.
local function left_over(q)
  local x, y, yaw = box_at(q)
  local turn = math.fmod(yaw - goal_yaw, math.pi / 2)
  turn = turn > math.pi / 4 and turn - math.pi / 2 or turn < -math.pi / 4 and turn + math.pi / 2 or turn
  return math.sqrt((x - p.goal_x) ^ 2 + (y - p.goal_y) ^ 2), math.abs(turn)
end

local function cost(q)
  local way, turn = left_over(q)
  return way + yaw_weight * turn
end

-- A place outside of the box, and the way from there: towards the box, but not always towards its middle.
local function draw(world, q)
  local x, y = box_at(q)
  local around, askew = world:random(-math.pi, math.pi), world:random(-0.6, 0.6)
  local away = math.sqrt(0.5) * size + radius + clear
  local length = world:random(clear, clear + 0.09) / p.steps
  local heading = around + math.pi + askew
  return { x = x + away * math.cos(around), y = y + away * math.sin(around), dx = length * math.cos(heading), dy = length * math.sin(heading) }
end

local function place_of(push, k) return { push.x + k * push.dx, push.y + k * push.dy, level } end

-- Predicts pushes from q side by side, each with the finger at its own place; the best one, its end and what it leaves.
local function choose(model, q, count)
  local pushes, starts = {}, {}
  for i = 1, p.samples do
    pushes[i] = draw(model, q)
    starts[i] = table.move(q, 1, #q, 1, {})
    starts[i][8], starts[i][9], starts[i][10] = pushes[i].x, pushes[i].y, level
  end
  for k = 1, p.steps do
    local commands = {}
    for i, push in ipairs(pushes) do commands[i] = place_of(push, k) end
    local after, kept = {}, {}
    for i, result in ipairs(model:predict_batch(starts, commands, { contacts = false })) do
      count.made = count.made + 1
      if result.converged then -- others are no plans
        after[#after + 1], kept[#kept + 1] = result.q, pushes[i]
      else
        count.lost = count.lost + 1
      end
    end
    starts, pushes = after, kept
  end
  local best, least = nil, math.huge
  for i, ended in ipairs(starts) do
    local value = cost(ended)
    if value < least then best, least = i, value end
  end
  return pushes[best], starts[best], least
end

local function make(s, push)
  travel(s, { s.command[1], s.command[2], above })
  travel(s, { push.x, push.y, above })
  travel(s, place_of(push, 0))
  for k = 1, p.steps do go(s, place_of(push, k)) end
  local ended = s.world:state().q
  travel(s, place_of(push, 0)) -- off the box, before it goes up
  return ended
end

-- ------------------------------------------------------------------------------------------------------------------ run

local scene = build(p.execute)
local model = p.execute == "quasistatic" and scene.world or build("quasistatic").world
local count, planning = { made = 0, lost = 0 }, 0.0
local path, planned = { name = "made", x = { 0 }, y = { 0 } }, { name = "predicted", x = {}, y = {} }
local pushes, drawn_in_vain, missed = 0, 0, 0.0
go(scene, scene.command) -- the box settles

local function reached()
  local way, turn = left_over(scene.world:state().q)
  return way <= p.tolerance and turn <= p.tolerance_deg * stn.deg
end

while not reached() and pushes < p.most do
  local q = scene.world:state().q
  local clock = os.clock()
  local push, expected, value = choose(model, q, count)
  planning = planning + os.clock() - clock
  if push and (value < cost(q) - 1e-4 or drawn_in_vain == 2) then -- from where no push leads nearer one leads away
    local ended = make(scene, push)
    local x, y = box_at(ended)
    local ex, ey = box_at(expected)
    missed = math.max(missed, math.sqrt((x - ex) ^ 2 + (y - ey) ^ 2))
    path.x[#path.x + 1], path.y[#path.y + 1] = x, y
    planned.x[#planned.x + 1], planned.y[#planned.y + 1] = ex, ey
    pushes, drawn_in_vain = pushes + 1, 0
  else
    drawn_in_vain = drawn_in_vain + 1
    assert(drawn_in_vain < 10, "no push that was drawn can be predicted")
  end
end
travel(scene, { scene.command[1], scene.command[2], above })

local way, turn = left_over(scene.world:state().q)
stn.result("pushes", pushes)
stn.result("predictions", count.made)
stn.result("predictions that did not converge", count.lost)
stn.result("planning, a prediction", 1e6 * planning / math.max(1, count.made), "us")
stn.result("box beside its prediction, at most", missed, "m")
stn.result("yaw left", turn / stn.deg, "deg")
stn.check("the box is at its goal", { value = way, limit = p.tolerance, unit = "m" })
stn.check("the box is turned as told", { value = turn, limit = p.tolerance_deg * stn.deg, unit = "rad" })
stn.check("steps converge", { value = scene.unsolved, limit = 0 })
-- The same steps are predicted and made: round-off, which contacts that begin or end multiply. With inertia the box goes on after a push.
stn.check("the box is where it was predicted", { value = missed, limit = scene.dynamic and 0.015 or 1e-11, unit = "m" })
if p.plot ~= "" then
  chart.write(p.plot, { title = ("Box pushed to (%g m, %g m), %s: its middle after each push"):format(p.goal_x, p.goal_y, p.execute),
    x = { label = "x [m]" }, y = { label = "y [m]" },
    series = { path, planned, { name = "goal", x = { p.goal_x }, y = { p.goal_y } } } })
end
