-- SPDX-License-Identifier: Apache-2.0
-- stn.rollout: plans have the steps and costs of worlds alone, whatever the threads; controls by name; failures; bad input.
local stn = require "stiction"
local load_text = require "robot_text"

local function refuses(text, action) stn.fails(action, text) end

-- A ball beside a cart on a rail that a force moves, which may meet the ball.
local function scene()
  local world = stn.world { dt = 0.005 }
  world:ground { mu = 0.5 }
  local ball = world:sphere { name = "ball", radius = 0.1, mass = 1, xyz = { 0.3, 0, 0.1 } }
  local cart = load_text(world, ".urdf", [[<robot name="cart"><link name="rail"/>
    <link name="box"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><box size="0.2 0.2 0.15"/></geometry></collision></link>
    <link name="arm"><inertial><mass value="0.1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="slide" type="prismatic"><parent link="rail"/><child link="box"/><axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="50" velocity="9"/></joint>
    <joint name="turn" type="continuous"><parent link="box"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>]],
    { fixed = true, base = { xyz = { 0, 0, 0.1 } } })
  return world, ball, cart
end

local function draw(world, count, length, size)
  local plans = {}
  for i = 1, count do
    plans[i] = {}
    for k = 1, length do plans[i][k] = world:random(-size, size) end
  end
  return plans
end

-- What a function of the row sums up, and what makes it of a world alone.
local function value(q, v, pose, u) return q[3] ^ 2 + 0.1 * v[8 - 1] ^ 2 + math.abs(pose[1] - 0.5) + pose[11] + 1e-3 * u[1] ^ 2 end

for _, threads in ipairs { 1, 2, 4 } do
  stn.test(("plans cost what worlds alone do, %d threads"):format(threads), function()
    local world, ball, cart = scene()
    local count, horizon, hold = 7, 12, 4
    local last = 0
    local rollout = stn.rollout { world, count = count, threads = threads, hold = hold, control = "effort", joints = { cart:joint "slide" },
      body_pose = { ball, cart:link "box" },
      cost = function(row)
        assert(row.interval == last % horizon + 1 and row.last == (row.interval == horizon))
        last = row.interval
        return value(row.q, row.v, row.body_pose, row.control)
      end }
    assert(rollout.count == count and rollout.hold == hold and rollout.control_count == 1)
    for _ = 1, 3 do
      for _ = 1, 20 do world:step() end -- it begins where the world is
      local plans = draw(world, count, horizon, 40)
      local before = world:hash()
      local costs, failed = rollout:run(plans)
      assert(failed == 0 and #costs == count and world:hash() == before)
      for i, plan in ipairs(plans) do
        local alone, sum = world:clone(), 0
        local its_ball, its_cart = alone:group "ball", alone:group "cart"
        for t = 1, horizon do
          its_cart:joint "slide":set_effort(plan[t])
          for _ = 1, hold do alone:step() end
          local state, a, b = alone:state(), its_ball:links()[1]:pose(), its_cart:link "box":pose()
          local pose = { a.xyz[1], a.xyz[2], a.xyz[3], a.quat[1], a.quat[2], a.quat[3], a.quat[4], b.xyz[1], b.xyz[2], b.xyz[3], b.quat[1] }
          sum = sum + value(state.q, state.v, pose, { plan[t] })
        end
        assert(sum == costs[i], i) -- to the last bit
        local made = rollout:trajectory(i)
        assert(#made.q == horizon and #made.body_pose[1] == 14 and made.control[2][1] == plan[2])
        local state = alone:state()
        for k, x in ipairs(state.q) do assert(made.q[horizon][k] == x) end
        for k, x in ipairs(state.v) do assert(made.v[horizon][k] == x) end
        alone:close()
      end
    end
    assert(rollout:tally().steps == 3 * count * horizon * hold and rollout:tally().failed == 0)
  end)
end

stn.test("a cost of squares", function()
  local world, ball, cart = scene()
  local plans = draw(world, 5, 2 * 8, 30)
  local function make(cost) return stn.rollout { world, count = 5, joints = { "slide", "turn" }, body_pose = { ball }, cost = cost } end
  local by_weights = make {
    q = { weight = 2, target = 0.1 }, v = { weight = { 0, 0, 0, 0, 0, 0, 3, 0.5 } }, control = { weight = { 0.01, 0.02 }, target = { 1, -1 } },
    body_pose = { weight = { 1, 1, 1, 4, 4, 4, 4 }, target = { 0.3, 0, 0.2, -1, 0, 0, 0 } }, last = { v = { weight = 7 } } }
  local by_function = make(function(row)
    local sum = 0
    for _, x in ipairs(row.q) do sum = sum + 2 * (x - 0.1) ^ 2 end
    sum = sum + 3 * row.v[7] ^ 2 + 0.5 * row.v[8] ^ 2 + 0.01 * (row.control[1] - 1) ^ 2 + 0.02 * (row.control[2] + 1) ^ 2
    for k, x in ipairs { 0.3, 0, 0.2 } do sum = sum + (row.body_pose[k] - x) ^ 2 end
    local sign = row.body_pose[4] > 0 and 1 or -1 -- a quaternion and its negative are the same
    for k, x in ipairs { -1, 0, 0, 0 } do sum = sum + 4 * (-sign * row.body_pose[3 + k] - x) ^ 2 end
    for _, x in ipairs(row.v) do sum = sum + (row.last and 7 * x ^ 2 or 0) end
    return sum
  end)
  local a, b = by_weights:run(plans), by_function:run(plans)
  for i = 1, 5 do stn.near(a[i], b[i], 1e-9 * b[i]) end
  assert(a[1] ~= a[2])
  a = by_weights:run(draw(world, 5, 2 * 20, 30)) -- longer, then shorter again
  assert(#by_weights:trajectory(1).q == 20 and #a == 5)
  local again = by_weights:run(plans)
  for i = 1, 5 do stn.near(again[i], b[i], 1e-9 * b[i]) end
end)

stn.test("commands and other references", function()
  local world = stn.world { dt = 0.002 }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true }
  local drive = world:controller { "joint_pd", target = arm, kp = 300, kd = 20, gravity_compensation = true }
  local function run(control, joints, plan)
    local rollout = stn.rollout { world, count = 2, hold = 50, control = control, joints = joints, cost = function(row) return row.q[2] ^ 2 end }
    local costs = rollout:run { plan, plan }
    assert(costs[1] == costs[2])
    return rollout:trajectory(1).q, rollout.control_count
  end
  local command = { 0.1, 0.4, 0, -0.3, 0, 0.2, 0 }
  local q, count = run("command", nil, table.move(command, 1, 7, 8, table.move(command, 1, 7, 1, {})))
  assert(count == 7)
  local alone = world:clone()
  for _ = 1, 100 do
    alone:step()
  end
  assert(alone:state().q[2] ~= q[2][2])
  drive:set { position = command }
  alone = world:clone()
  for _ = 1, 100 do alone:step() end
  assert(alone:state().q[2] == q[2][2])
  drive:set { position = { 0, 0, 0, 0, 0, 0, 0 } }
  q, count = run("command", { arm:joint "iiwa14_joint_4", arm:joint "iiwa14_joint_2" }, { -0.3, 0.4, -0.3, 0.4 })
  assert(count == 2)
  drive:set { position = { 0, 0.4, 0, -0.3, 0, 0, 0 } }
  alone = world:clone()
  for _ = 1, 100 do alone:step() end
  assert(alone:state().q[2] == q[2][2] and alone:state().q[4] == q[2][4])
  local soft, stiff = {}, {}
  for k = 1, 7 do soft[k], stiff[k] = 1, 1000 end
  assert(run("reference.kp", nil, soft)[1][2] < run("reference.kp", nil, stiff)[1][2])
end)

stn.test("a plan that fails costs infinity and is counted", function()
  local world, _, cart = scene()
  local calls = 0
  local rollout = stn.rollout { world, count = 3, threads = 2, joints = { cart:joint "slide" }, cost = function()
    calls = calls + 1
    return 1
  end }
  local costs, failed = rollout:run { { 1, 2, 3 }, { 1, 1e308, 3 }, { 3, 2, 1 } }
  assert(failed == 1 and costs[2] == math.huge and costs[1] == 3 and costs[3] == 3 and calls == 6)
  assert(rollout:error(1) == nil and #rollout:error(2) > 0 and #rollout:trajectory(2).q < 3)
  costs, failed = rollout:run { { 1, 2, 3 }, { 1, 2, 3 }, { 3, 2, 1 } }
  assert(failed == 0 and costs[2] == 3)
  local squares = stn.rollout { world, count = 2, joints = { cart:joint "slide" }, cost = { q = { weight = 1 } } }
  costs, failed = squares:run { { 1e308, 1 }, { 1, 1 } }
  assert(failed == 1 and costs[1] == math.huge and costs[2] < 10)
end)

stn.test("bad input is told", function()
  local world, ball, cart = scene()
  local function cost() return 0 end
  refuses("must be a world", function() stn.rollout { count = 1, cost = cost } end)
  refuses("count, the number of plans of a run, is missing", function() stn.rollout { world, cost = cost } end)
  refuses("count", function() stn.rollout { world, count = 0, cost = cost } end)
  refuses("cost must be a function", function() stn.rollout { world, count = 1 } end)
  refuses("cost must be a function", function() stn.rollout { world, count = 1, cost = 3 } end)
  refuses("did you mean 'body_pose'", function() stn.rollout { world, count = 1, cost = { body_poses = {} } } end)
  refuses("cost.q.weight has 1 number, it needs 9", function() stn.rollout { world, count = 1, cost = { q = { weight = { 1 } } } } end)
  refuses("has 3 links", function() stn.rollout { world, count = 1, cost = cost, body_pose = { cart } } end)
  refuses("did you mean 'threads'", function() stn.rollout { world, count = 1, cost = cost, thread = 2 } end)
  refuses("belongs to another world", function()
    local other = scene()
    stn.rollout { other, count = 1, cost = cost, joints = { cart:joint "slide" } }
  end)
  local rollout = stn.rollout { world, count = 2, cost = cost, joints = { "slide" }, body_pose = { ball } }
  refuses("nothing was run yet", function() rollout:trajectory(1) end)
  refuses("a list of 2 plans is needed, got 1", function() rollout:run { { 1 } } end)
  refuses("a list of 2 plans is needed", function() rollout:run(3) end)
  refuses("plan 1 must be a list", function() rollout:run { {}, {} } end)
  refuses("plan 2", function() rollout:run { { 1, 2 }, { 1 } } end)
  refuses("plan 2", function() rollout:run { { 1, 2 }, { 1, 0 / 0 } } end)
  refuses("plan 3 is not one of 1 to 2", function()
    rollout:run { { 1 }, { 2 } }
    rollout:trajectory(3)
  end)
  local bad = stn.rollout { world, count = 1, cost = function() return 0 / 0 end }
  local row = {}
  for k = 1, world.nv do row[k] = 0 end
  refuses("cost of plan 1, interval 1", function() bad:run { row } end)
  local inside
  inside = stn.rollout { world, count = 1, cost = function() return #inside:run { row } end }
  refuses("not inside of its own cost function", function() inside:run { row } end)
  refuses("boom", function() stn.rollout { world, count = 1, cost = function() error "boom" end }:run { row } end)
  world:set_dt(0.001)
  refuses("make a new one", function() rollout:run { { 1 }, { 2 } } end)
  rollout:close()
  refuses("this rollout was closed", function() rollout:run { { 1 }, { 2 } } end)
end)
