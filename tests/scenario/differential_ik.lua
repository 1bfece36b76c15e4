-- SPDX-License-Identifier: Apache-2.0
-- Controller differential_ik: a link comes to its pose as its gain says, and limits of joints and distances hold on the way,
-- asked of the world and not of the controller.
local stn = require "stiction"
local worse = require "worse"

local home = { 0.3, 0.6, -0.2, -1.2, 0.4, 0.9, 0.1 }
local keep = 0.02 -- [m], the controller's default

local function add_arm(world, name, base)
  local joints = {}
  for i = 1, 7 do joints["iiwa14_joint_" .. i] = home[i] end
  return world:load { "models/iiwa14/iiwa14.urdf", name = name or "arm", fixed = true, joints = joints, base = base }
end

-- Where the flange is at home; asking a world completes it, so this one is another.
local function flange_at_home()
  local world <close> = stn.world {}
  return add_arm(world):link("iiwa14_flange"):pose().xyz
end

-- The goal is the tip's pose moved by `by` in its own axes.
local function lead(world, arm, by, keys)
  local settings = { "differential_ik", target = arm, frame = "iiwa14_flange" }
  for key, value in pairs(keys or {}) do settings[key] = value end
  local tip = arm:link "iiwa14_flange"
  local control = world:controller(settings)
  local goal = tip:pose() * stn.pose(by or {})
  control:set { position = goal.xyz, rotation = goal.rotation_vector }
  return control, tip, goal
end

local function check_limits(arm)
  for _, joint in ipairs(arm:joints()) do
    local q, v, limits = joint:position(), joint:velocity(), joint:limits()
    assert(q >= limits.lower and q <= limits.upper, ("%s at %g rad"):format(joint.name, q))
    assert(math.abs(v) <= limits.velocity, ("%s at %g rad/s"):format(joint.name, v))
  end
end

-- Least distance of the arm to bodies; no contact presses.
local function check_clear(world, step, arm, bodies)
  local least = math.huge
  for _, name in ipairs(bodies) do
    local d = world:distance(arm, name, { max = 0.5 })
    least = d and math.min(least, d.distance) or least
  end
  for _, contact in ipairs(step.contact_count > 0 and step:contacts() or {}) do
    assert(contact.normal_force == 0, ("%s/%s touches %s"):format(contact.a, contact.link_a, contact.link_b))
  end
  return least
end

for _, method in ipairs { "qp", "dls" } do
  stn.test(method .. ": the way to the goal shrinks by 1 - gain dt a step, and the link stands there", function()
    local world <close> = stn.world { dt = 1e-3 }
    local arm = add_arm(world)
    local _, tip, goal = lead(world, arm, { xyz = { 0.02, -0.03, 0.01 }, rpy = { 0.05, 0, -0.1 } }, { method = method, gain = 5, damping = 1e-4 })
    for _ = 1, 150 do world:step() end -- where acceleration limits end
    local way, angle = tip:pose():distance(goal), tip:pose():angle(goal)
    for _ = 1, 200 do world:step() end
    local shrinks = (1 - 5 * 1e-3) ^ 200
    stn.near(tip:pose():distance(goal) / way, shrinks, { relative = 0.01 }, "way")
    stn.near(tip:pose():angle(goal) / angle, shrinks, { relative = 0.01 }, "angle")
    for step in world:run { seconds = 3 } do
      check_limits(arm)
      check_clear(world, step, arm, {})
    end
    assert(tip:pose():distance(goal) < 1e-6 and tip:pose():angle(goal) < 1e-6)
  end)

  stn.test(method .. ": a goal out of reach is approached as far as limits allow; what is left can be read", function()
    local world <close> = stn.world { dt = 2e-3 }
    local arm = add_arm(world)
    local control, tip = lead(world, arm, {}, { method = method })
    control:set { position = { 3, 0, 0.36 } }
    for _ in world:run { seconds = 8 } do check_limits(arm) end
    local left = 3 - tip:pose().xyz[1]
    assert(left > 1.9 and left < 2.4, left) -- the shoulder is at 0.36 m, the arm 0.946 m long to the flange
    for i, v in ipairs(arm:v()) do assert(math.abs(v) < 0.05, ("joint %d still moves at %g rad/s"):format(i, v)) end
  end)
end

stn.test("a moving goal is followed without lag when its velocity is given", function()
  local world <close> = stn.world { dt = 1e-3 }
  local arm = add_arm(world)
  local control, tip, goal = lead(world, arm, {}, { damping = 1e-4 })
  local at, late = goal.xyz, 0
  for step in world:run { seconds = 3 } do
    local t, w, r = world.time, 2, 0.05 -- where it should be now; the goal is that of the step's end
    local off = { tip:pose().xyz[1] - at[1], tip:pose().xyz[2] - at[2] - r * math.sin(w * t) }
    if t > 1.5 then late = worse(late, math.sqrt(off[1] ^ 2 + off[2] ^ 2)) end
    control:set { position = { at[1], at[2] + r * math.sin(w * t), at[3] }, velocity = { 0, r * w * math.cos(w * t), 0 } }
  end
  assert(late < 2e-4, late) -- 10 mm without
end)

stn.test("the posture moves the elbow and leaves the link", function()
  local world <close> = stn.world { dt = 2e-3 }
  local arm = add_arm(world)
  local control, tip, goal = lead(world, arm, {}, { posture_gain = 2 })
  local before = arm:link("iiwa14_link_4"):pose()
  control:set { posture = { 1.0, 0.6, -0.9, -1.2, 0.4, 0.9, 0.1 } }
  local off = 0
  for _ in world:run { seconds = 4 } do off = worse(off, tip:pose():distance(goal)) end
  local elbow = arm:link("iiwa14_link_4"):pose():distance(before)
  assert(elbow > 0.03, ("elbow by %g m"):format(elbow))
  assert(off < 2e-3, ("link by %g m"):format(off))
end)

stn.test("a wall in the way stops the arm at the distance", function()
  local world <close> = stn.world { dt = 2e-3 }
  local arm, at = add_arm(world), flange_at_home()
  world:box { name = "wall", size = { 0.05, 2, 2 }, fixed = true, xyz = { at[1] + 0.2, 0, 1 } }
  local control, tip = lead(world, arm, {})
  control:set { position = { at[1] + 0.4, at[2], at[3] } }
  local least = math.huge
  for step in world:run { seconds = 3 } do
    least = math.min(least, check_clear(world, step, arm, { "wall" }))
    check_limits(arm)
  end
  stn.near(least, keep, { tolerance = 1e-6, unit = "m" }, "least distance")
  assert(tip:pose().xyz[1] > at[1] + 0.05, "it does not come near the wall")
end)

stn.test("the arm gives way to what comes: kinematic bodies and other robots", function()
  for _, kind in ipairs { "piston", "robot" } do
    local world <close> = stn.world { dt = 2e-3 }
    local arm, at, other = add_arm(world), flange_at_home(), nil
    if kind == "piston" then
      world:box { name = "piston", size = { 0.1, 0.3, 0.3 } }:kinematic {
        times = { 0, 2, 4 }, poses = { { xyz = { at[1] + 0.4, at[2], at[3] } }, { xyz = { at[1] + 0.03, at[2], at[3] } },
                                       { xyz = { at[1] + 0.4, at[2], at[3] } } } }
    else
      other = add_arm(world, "other", { xyz = { 1.0, 0.75, 0 }, rpy = { 0, 0, math.pi } })
      local goal = { 1.2, 0.6, -0.2, -1.2, 0.4, 0.9, 0.1 }
      world:controller { "joint_pd", target = other, kp = 1e4, kd = 1e3, gravity_compensation = true, update = function(view)
        local u, q = math.min(view.time / 3, 1), {}
        for i = 1, 7 do q[i] = home[i] + u * (goal[i] - home[i]) end
        return q
      end }
    end
    local _, tip, goal = lead(world, arm)
    local least, off = math.huge, 0
    for step in world:run { seconds = 5 } do
      least = math.min(least, check_clear(world, step, arm, { other or "piston" }))
      off = worse(off, tip:pose():distance(goal))
      check_limits(arm)
    end
    assert(least > keep - 1e-3, ("%s: least distance %g m"):format(kind, least))
    assert(off > 0.02, ("%s: off by %g m at most, it was not in the way"):format(kind, off))
    assert(kind == "robot" or tip:pose():distance(goal) < 1e-6, "it does not come back")
  end
end)

stn.test("where there is no way left joints keep their limits, then distances from what stands are kept, then from what comes", function()
  for _, speed in ipairs { 0.3, 1, 3 } do -- a press that comes down on the arm over a shelf [m/s]
    local world <close> = stn.world { dt = 2e-3 }
    local arm = add_arm(world)
    world:box { name = "press", size = { 0.6, 0.6, 0.1 } }:kinematic { times = { 0, 1.2 / speed },
      poses = { { xyz = { 0.75, 0.3, 1.2 } }, { xyz = { 0.75, 0.3, 0 } } } }
    world:box { name = "shelf", size = { 0.8, 1.2, 0.02 }, fixed = true, xyz = { 0.75, 0.3, 0.25 } }
    lead(world, arm)
    local shelf, press, touched = math.huge, math.huge, false
    while not touched and world.time < 0.9 / speed do
      local step = world:step()
      for _, contact in ipairs(step.contact_count > 0 and step:contacts() or {}) do touched = touched or contact.normal_force > 0 end
      if not touched then
        check_limits(arm)
        shelf = math.min(shelf, world:distance(arm, "shelf").distance)
        press = math.min(press, world:distance(arm, "press").distance)
      end
    end
    assert(touched, ("%g m/s: nothing touches"):format(speed))
    assert(shelf > keep - 1e-3, ("%g m/s: %g m from the shelf"):format(speed, shelf))
    assert(speed == 3 or press < 0.5 * keep, press)
  end
end)

stn.test("links keep off each other", function()
  local world <close> = stn.world { dt = 2e-3 }
  local arm = add_arm(world)
  local control = lead(world, arm, {}, { self_distance = 0.05 })
  control:set { position = { 0.1, 0, 0.2 }, rotation = { math.pi, 0, 0 } } -- too near
  local least = math.huge
  for step in world:run { seconds = 4 } do
    check_clear(world, step, arm, {})
    check_limits(arm)
    for a = 0, 5 do
      for b = a + 2, 7 do
        local d = world:distance(arm:link("iiwa14_link_" .. a), arm:link("iiwa14_link_" .. b), { max = 0.1 })
        least = d and math.min(least, d.distance) or least
      end
    end
  end
  stn.near(least, 0.05, { tolerance = 1e-6, unit = "m" }, "least distance")
end)

stn.test("clones, snapshots and repeated runs are equal to the last bit", function()
  local world <close> = stn.world { dt = 2e-3 }
  local arm = add_arm(world)
  world:sphere { name = "ball", radius = 0.1, fixed = true, xyz = { 0.6, 0.35, 0.6 } }
  lead(world, arm, { xyz = { 0.1, 0.2, 0 } })
  for _ = 1, 100 do world:step() end
  local snapshot = world:snapshot()
  local copy <close> = world:clone()
  for _ = 1, 200 do world:step() end
  local hash = world:hash()
  for _ = 1, 200 do
    copy:distance("iiwa14_link_6", "ball") -- questions in between change nothing
    copy:step()
  end
  assert(copy:hash() == hash, "the clone")
  world:restore(snapshot)
  for _ = 1, 200 do world:step() end
  assert(world:hash() == hash, "the snapshot")
  world:reset()
  for _ = 1, 300 do world:step() end
end)

stn.test("switched off and on again it begins where the joints are, without a jump", function()
  local world <close> = stn.world { dt = 2e-3 }
  local arm = add_arm(world)
  local hold = world:controller { "joint_pd", target = arm, kp = 1e4, kd = 1e3, gravity_compensation = true }
  local control, tip, goal = lead(world, arm, { xyz = { -0.1, -0.1, -0.1 } }, { priority = 1 })
  for _ = 1, 100 do world:step() end -- in full motion
  hold:set { position = arm:positions() }
  control:deactivate {}
  for _ = 1, 500 do world:step() end -- stands
  local before = arm:v()
  control:activate {}
  world:step()
  for i, v in ipairs(arm:v()) do assert(math.abs(v - before[i]) <= 20 * 2e-3 * 1.05, ("joint %d by %g rad/s in a step"):format(i, v - before[i])) end
  for _ in world:run { seconds = 4 } do end
  stn.near(tip:pose(), goal, { tolerance = 1e-6, angle = 1e-6 }, "flange")
end)

stn.test("worlds without collision geometry, or with collisions off", function()
  for _, dynamic in ipairs { true, false } do
    local world <close> = stn.world { dt = 2e-3 }
    local arm = add_arm(world)
    if dynamic then world:disable_collisions(arm) end
    local _, tip, goal = lead(world, arm, { xyz = { 0.05, 0, 0 } }, { avoid = dynamic and "all" or "none" })
    for _ in world:run { seconds = 3 } do end
    assert(tip:pose():distance(goal) < 1e-5)
  end
end)

-- A robot of one joint, whose motor has an effort limit [N m].
local function crane(effort)
  local path = os.tmpname()
  local file <close> = assert(io.open(path, "w"))
  file:write(([[<robot name="crane"><link name="foot"/><link name="boom"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="hinge" type="continuous">
    <parent link="foot"/><child link="boom"/><axis xyz="0 0 1"/><limit effort="%g" velocity="1"/></joint></robot>]]):format(effort))
  return path
end

stn.test("wrong input is told in one line", function()
  local function refused(text, change)
    local world <close> = stn.world { dt = 2e-3 }
    local arm = add_arm(world)
    local message = stn.fails(function() change(world, arm) end, text)
    assert(not message:find("\n", 1, true), message)
  end
  local function with(keys)
    return function(world, arm) lead(world, arm, {}, keys) end
  end
  local function set(references)
    return function(world, arm) lead(world, arm):set(references) end
  end
  refused('controller differential_ik of arm: frame = "elbow" is no link of the robot', with { frame = "elbow" })
  refused("link iiwa14_link_0 cannot move", with { frame = "iiwa14_link_0" })
  refused("gain", with { gain = -1 })
  refused("method", with { method = "newton" })
  refused("is not a finite number", set { position = { 0 / 0, 0, 0 } })
  refused("controller:set of group 'arm': position has 2 numbers, it needs 3", set { position = { 0, 0 } })
  refused("posture", set { posture = { 0, 0, 0 } })
  refused("group free has no moving joint", function(world)
    world:controller { "differential_ik", target = world:sphere { name = "free", radius = 0.1 } }
  end)
  refused("of crane: joint hinge has an effort limit of 0, no motor", function(world)
    local path = crane(0)
    local robot = world:load { path, loader = "urdf", fixed = true }
    os.remove(path)
    world:controller { "differential_ik", target = robot }
  end)
end)
