-- SPDX-License-Identifier: Apache-2.0
-- Controllers written in Lua: what they give acts as it is, when they are asked, and that nothing but what they gave is kept.
local stn = require "stiction"

local start = { 0.3, 0.6, -0.2, -1.2, 0.4, 0.9, 0.1 }

local function new_arm(dt)
  local world = stn.world { dt = dt or 1e-3, solver = { "sap", tolerance = 1e-12 } }
  local joints = {}
  for i = 1, 7 do
    joints["iiwa14_joint_" .. i] = start[i]
  end
  return world, world:load { "models/iiwa14/iiwa14.urdf", fixed = true, joints = joints }
end

local function same(a, b)
  for i = 1, 7 do
    assert(a[i] == b[i], ("joint %d: %.17g and %.17g"):format(i, a[i], b[i]))
  end
end

stn.test("efforts act as they are, as those that a script sets on the joints do", function()
  local world <close>, arm = new_arm()
  local other <close>, twin = new_arm()
  local efforts = { 1, -40, 3, 20, -1, 2, 0.5 }
  world:controller { "lua", target = arm, update = function() return efforts end }
  for i, joint in ipairs(twin:joints()) do
    joint:set_effort(efforts[i])
  end
  for _ = 1, 200 do
    world:step()
    other:step()
    same(arm:v(), twin:v())
  end
end)

stn.test("springs and dampers beside the efforts are those of joint_pd, limits too", function()
  local world <close>, arm = new_arm(0.01)
  local other <close>, twin = new_arm(0.01)
  local goal, k, d, u = {}, {}, {}, {}
  for i = 1, 7 do
    goal[i], k[i], d[i], u[i] = start[i] + 0.5, 1e4, 100, i
  end
  local calls = 0
  world:controller { "lua", target = arm, update = function()
    calls = calls + 1
    return { effort = u, stiffness = k, damping = d, position = goal }
  end }
  local pd = other:controller { "joint_pd", target = twin, kp = 1e4, kd = 100 }
  pd:set { position = goal, feedforward = u }
  for _ = 1, 100 do
    world:step()
    other:step()
    same(arm:v(), twin:v())
  end
  assert(calls == 100)
end)

stn.test("the view holds state, references, weight and period", function()
  local world <close>, arm = new_arm()
  local seen
  local control = world:controller { "lua", target = arm, rate = 200, active = false, update = function(view)
    seen = view
    return { effort = { iiwa14_joint_2 = 7 } }
  end }
  control:set { position = { iiwa14_joint_3 = 0.25 } }
  world:step()
  same(seen.position, start)
  assert(seen.time == 0 and seen.weight == 0 and seen.period == 1 / 200)
  assert(seen.reference.position[3] == 0.25 and seen.reference.position[1] == start[1])
  assert(#seen.reference.effort == 7 and seen.reference.effort[2] == 0)
  control:activate()
  for _ in world:run { steps = 4 } do end
  local q, v = arm:q(), arm:v()
  world:step()
  same(seen.position, q)
  same(seen.velocity, v)
  assert(seen.reference.effort[2] == 7 and seen.weight == 1)
end)

stn.test("an update is made at its own rate, also one that is no multiple of the step", function()
  for _, case in ipairs { { rate = 100, calls = 100 }, { rate = 30, calls = 30 }, { rate = 5000, calls = 1000 }, { calls = 1000 }, { rate = 0.7, calls = 1 } } do
    local world <close>, arm = new_arm()
    local times = {}
    world:controller { "lua", target = arm, rate = case.rate, update = function(view) times[#times + 1] = view.time end }
    for _ in world:run { seconds = 1 } do end
    assert(#times == case.calls, ("%s Hz: %d calls"):format(case.rate, #times))
    for i, t in ipairs(times) do
      local due = (i - 1) / math.min(case.rate or 1000, 1000)
      assert(t > due - 1e-9 and t < due + world.dt, ("%s Hz: call %d at %g s"):format(case.rate, i, t))
    end
  end
end)

local function held(world, arm)
  return world:controller { "lua", target = arm, rate = 130, update = function(view)
    local u = {}
    for i = 1, 7 do
      u[i] = -60 * (view.position[i] - start[i]) - 6 * view.velocity[i] + 3 * math.sin(40 * view.time)
    end
    return u
  end }
end

stn.test("restored and cloned worlds go on bit for bit, between updates too", function()
  local world <close>, arm = new_arm()
  held(world, arm)
  for _ in world:run { steps = 43 } do end
  local kept = world:snapshot()
  local copy <close> = world:clone()
  for _ in world:run { steps = 90 } do end
  local hash = world:hash()
  for _ in copy:run { steps = 90 } do end
  assert(copy:hash() == hash)
  world:restore(kept)
  for _ in world:run { steps = 90 } do end
  assert(world:hash() == hash)
  world:reset()
  for _ in world:run { steps = 133 } do end
  assert(world:hash() == hash)
end)

stn.test("other controllers take a function too: what it returns is what controller:set would set", function()
  local world <close>, arm = new_arm()
  local other <close>, twin = new_arm()
  world:controller { "joint_impedance", target = arm, update = function(view)
    return { stiffness = { iiwa14_joint_1 = 100 + 500 * view.time }, position = { iiwa14_joint_1 = view.position[1] + 0.01 } }
  end }
  local control = other:controller { "joint_impedance", target = twin }
  for _ = 1, 100 do
    control:set { stiffness = { iiwa14_joint_1 = 100 + 500 * other.time }, position = { iiwa14_joint_1 = twin:q()[1] + 0.01 } }
    world:step()
    other:step()
    same(arm:v(), twin:v())
  end
  assert(arm:q()[1] > start[1] + 1e-5)
end)

stn.test("joints may be named in any order, each once", function()
  local world = stn.world {}
  local arm = world:load { "models/iiwa14/iiwa14.urdf", fixed = true }
  world:controller { "joint_pd", target = arm, joints = { "iiwa14_joint_3", "iiwa14_joint_1" } }
  stn.fails(function()
    world:controller { "joint_pd", target = arm, joints = { "iiwa14_joint_3", "iiwa14_joint_1", "iiwa14_joint_3" } }
  end, "iiwa14_joint_3 is named twice")
end)

stn.test("what fails is one line with place, controller and robot", function()
  local function failing(update, message, line)
    local world <close>, arm = new_arm()
    world:controller { "lua", target = arm, update = update }
    world:step() -- time 0 is well
    local ok, text = pcall(world.step, world)
    assert(not ok and text:find(message) and not text:find("\n"), text)
    assert(text:find("controller effort of iiwa14 %(.-lua_controllers.lua:%d+%) at t = 0.001 s"), text)
    assert(world.steps == 1)
  end
  local function later(value)
    return function(view) return view.time > 0 and value or nil end
  end
  failing(function(view) return view.time > 0 and view.none.at_all or nil end, "lua:%d+: attempt to index a nil value")
  failing(function(view) if view.time > 0 then error "no more" end end, "no more; in the update of")
  failing(later { 1, 2 }, "effort.*7")
  failing(later { 1, 2, 3, 0 / 0, 5, 6, 7 }, "effort%[4%]")
  failing(later { effort = { iiwa14_joint_9 = 1 } }, "iiwa14_joint_9")
  failing(later { torque = 1 }, "torque")
  failing(later "much", "table")
  failing(later { stiffness = { iiwa14_joint_2 = "x" } }, "stiffness.iiwa14_joint_2")
  local world <close>, arm = new_arm()
  local controller = function(t) return function() world:controller(t) end end
  stn.fails(controller { "lua", target = arm }, "update must be a function")
  stn.fails(controller { "joint_pd", target = arm, rate = 10 }, "rate is that of update")
  stn.fails(controller { "lua", target = arm, rate = 0, update = print }, "rate")
  stn.fails(controller { "lua", target = arm, rate = 0 / 0, update = print }, "rate")
  world:controller { "lua", target = arm, update = function() return { stiffness = { iiwa14_joint_2 = -1 } } end }
  stn.fails(function() world:step() end, "controller effort of iiwa14: stiffness of joint iiwa14_joint_2 is -1, must be >= 0")
end)
