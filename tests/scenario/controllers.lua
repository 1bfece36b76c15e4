-- SPDX-License-Identifier: Apache-2.0
-- Controllers on the 7-DoF arm: tracking, stability at any gain, limits, stiffness that is shown at the hand.
local stn = require "stiction"
local worse = require "worse"

local start = { 0.3, 0.6, -0.2, -1.2, 0.4, 0.9, 0.1 }
local dt = 1e-3

local function names(arm)
  local list = {}
  for i, joint in ipairs(arm:joints()) do
    list[i] = joint.name
  end
  return list
end

local function new_arm(options)
  local world = stn.world { dt = options.dt or dt, solver = { "sap", tolerance = 1e-10 }, gravity = options.gravity }
  if options.table then
    world:box { size = { 1, 1, 0.1 }, fixed = true, xyz = { 0.6, 0, options.table - 0.05 }, mu = 0.6 }
  end
  local joints = {}
  for i = 1, 7 do
    joints["iiwa14_joint_" .. i] = start[i]
  end
  local arm = world:load { options.file or "models/iiwa14/iiwa14.urdf", fixed = true, joints = joints }
  return world, arm
end

-- All joints along start + A (1 - cos(w t)), whose velocity begins at 0; the reference is that of the step's end.
local function sine(world, amplitude, w)
  local t = world.time + world.dt
  local p, v, a = {}, {}, {}
  for i = 1, 7 do
    p[i] = start[i] + amplitude * (1 - math.cos(w * t))
    v[i] = amplitude * w * math.sin(w * t)
    a[i] = amplitude * w * w * math.cos(w * t)
  end
  return { position = p, velocity = v, acceleration = a }
end

local function rms_of_sine(kp, step)
  local world <close>, arm = new_arm { dt = step }
  local control = world:controller { "inverse_dynamics", target = arm, kp = kp, kd = 2 * math.sqrt(kp) }
  local sum, count = 0, 0
  while world.time < 2 - 1e-9 do
    local reference = sine(world, 0.2, math.pi)
    control:set(reference)
    world:step()
    local q = arm:q()
    for i = 1, 7 do
      sum = sum + (q[i] - reference.position[i]) ^ 2
      count = count + 1
    end
  end
  return math.sqrt(sum / count)
end

stn.test("inverse_dynamics tracks a sine on the 7-DoF arm to 1e-4 rad", function()
  local rms = rms_of_sine(1e4, dt)
  print(("rms error %.3g rad"):format(rms))
  assert(rms < 1e-4, ("rms error %g rad"):format(rms))
  assert(rms_of_sine(1e6, dt) < 1e-5)
end)

stn.test("inverse_dynamics: an error decays as its gains say, in every joint alike", function()
  local kp, kd = 100, 14
  local world <close>, arm = new_arm { dt = dt }
  local control = world:controller { "inverse_dynamics", target = arm, kp = kp, kd = kd }
  local reference, e, v = {}, 0.02, 0
  for i = 1, 7 do
    reference[i] = start[i] - e
  end
  control:set { position = reference }
  for _ = 1, 500 do
    world:step()
    v = v - dt * (kp * (e + dt * v) + kd * v) / (1 + dt * kd + dt * dt * kp)
    e = e + dt * v
    for i, q in ipairs(arm:q()) do -- dampers of the joints are made up for as they are at the step's start
      assert(math.abs(q - reference[i] - e) < 4e-5, ("joint %d: %g, expected %g"):format(i, q - reference[i], e))
    end
  end
end)

-- Any gain, dt = 10 ms: reaches what is free, presses on what is in its way, and comes to rest.
for _, gains in ipairs { { "joint_pd", 1e4, 1e3 }, { "joint_pd", 1e6, 1e3 }, { "joint_pd", 1e6, 1e5 },
  { "inverse_dynamics", 1e4, 200 }, { "inverse_dynamics", 1e6, 2e3 },
  { "joint_impedance", 1e6 } } do
  for _, with in ipairs { "nothing in the way", "a table in the way" } do
    stn.test(("%s, gain %g, damping %s, dt = 10 ms, %s: stable"):format(gains[1], gains[2], gains[3] or "by ratio", with), function()
      local free = with == "nothing in the way"
      local world <close>, arm = new_arm { dt = 0.01, file = "models/iiwa14/iiwa14_paddle.urdf", table = not free and 0.35 or nil }
      local control = world:controller(gains[3] and { gains[1], target = arm, kp = gains[2], kd = gains[3] } or
        { gains[1], target = arm, stiffness = gains[2] })
      local goal = { 0.2, 1.1, -0.1, -1.2, 0.4, 0.9, 0.1 }
      control:set { position = goal }
      for step in world:run { seconds = 3 } do
        assert(step.certificate.momentum < 1e-6)
      end
      local off, fastest, moves = 0, 0, arm:v()
      for i, q in ipairs(arm:q()) do
        off = worse(off, math.abs(q - goal[i]))
        fastest = worse(fastest, math.abs(moves[i]))
      end
      assert(fastest < 1e-3, ("moves at %g rad/s"):format(fastest))
      assert(free == (off < 0.02), ("off by %g rad"):format(off))
      assert(free or #world:contacts() > 0)
    end)
  end
end

stn.test("joint_impedance: a torque shows the stiffness asked for in every joint", function()
  local world <close>, arm = new_arm { dt = 2e-3 }
  local control = world:controller { "joint_impedance", target = arm }
  local k = { 500, 400, 300, 200, 100, 80, 60 }
  control:set { stiffness = k }
  for _, name in ipairs(names(arm)) do
    arm:joint(name):set_effort(1)
  end
  for _ in world:run { seconds = 4 } do end
  for i, q in ipairs(arm:q()) do
    assert(math.abs((q - start[i]) * k[i] - 1) < 1e-6, ("joint %d: %g N m/rad, expected %g"):format(i, 1 / (q - start[i]), k[i]))
  end
  control:set { stiffness = { iiwa14_joint_2 = -1 } }
  local ok, text = pcall(world.step, world)
  assert(not ok and text:find("controller joint_impedance of iiwa14: stiffness of joint iiwa14_joint_2 is -1", 1, true), text)
  control:set { stiffness = k } -- the world goes on
  world:step()
end)

stn.test("cartesian_impedance: a push at the flange shows the stiffness asked for, in place and rotation", function()
  local k = { 800, 1500, 400, 60, 90, 40 }
  for axis = 1, 6 do
    local world <close>, arm = new_arm { dt = 2e-3 }
    local control = world:controller { "cartesian_impedance", target = arm, frame = "iiwa14_flange", posture_stiffness = 20 }
    control:set { stiffness = k, posture = { 0, 0, 0, 0, 0, 0, 0 } } -- the posture pulls, and the flange does not feel it
    local flange = arm:link("iiwa14_flange")
    for _ in world:run { seconds = 4 } do end
    local before, place = flange:pose(), flange:position()
    local push = { 0, 0, 0 }
    push[(axis - 1) % 3 + 1] = axis <= 3 and 10 or 1
    flange:apply_force { [axis <= 3 and "force" or "torque"] = push, point = place }
    for _ in world:run { seconds = 4 } do end
    local shown
    if axis <= 3 then
      shown = 10 / (flange:position()[axis] - place[axis])
    else
      local q0, q1 = before.quat, flange:pose().quat -- small turn: twice the vector part of q1 q0*
      local w, x, y, z = q1[1], q1[2], q1[3], q1[4]
      local a, b, c, d = q0[1], -q0[2], -q0[3], -q0[4]
      local vector = { w * b + x * a + y * d - z * c, w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a }
      shown = 1 / (2 * math.asin(vector[axis - 3]))
    end
    print(("axis %d: a push shows the stiffness asked for, %g, to %.2g of it"):format(axis, k[axis], math.abs(shown / k[axis] - 1)))
    assert(math.abs(shown / k[axis] - 1) < 2e-2, ("axis %d: %g, expected %g"):format(axis, shown, k[axis]))
  end
end)

for _, stiffness in ipairs { 1e3, 1e6 } do
  stn.test(("cartesian_impedance, %g N/m, dt = 10 ms: presses on a table without trembling"):format(stiffness), function()
    local world <close>, arm = new_arm { dt = 0.01, file = "models/iiwa14/iiwa14_paddle.urdf", table = 0.35 }
    local control = world:controller { "cartesian_impedance", target = arm, frame = "iiwa14_flange", stiffness = stiffness }
    local goal = arm:link("iiwa14_flange"):position()
    control:set { position = { goal[1], goal[2], goal[3] - 0.4 } }
    local fastest, change, before = 0, 0, arm:v()
    for step in world:run { seconds = 7 } do
      assert(step.certificate.momentum < 1e-6)
      local now = arm:v()
      for i = 1, world.time > 6 and 7 or 0 do -- friction that is regularised creeps, evenly
        fastest = worse(fastest, math.abs(now[i]))
        change = worse(change, math.abs(now[i] - before[i]))
      end
      before = now
    end
    assert(#world:contacts() > 0 and fastest < 1e-2 and change < 1e-4, ("%g rad/s, %g from step to step"):format(fastest, change))
  end)
end

stn.test("wrong references and joints without motor are one line", function()
  local world <close>, arm = new_arm {}
  local control = world:controller { "inverse_dynamics", target = arm }
  for _, case in ipairs { { { position = { 1, 2 } }, "position" }, { { position = { iiwa14_joint_3 = 0 / 0 } }, "iiwa14_joint_3" },
    { { speed = {} }, "speed" } } do
    local ok, text = pcall(control.set, control, case[1])
    assert(not ok and text:find(case[2], 1, true) and not text:find("\n"), text)
  end

  local path = os.tmpname()
  local file = io.open(path, "w")
  file:write [[<robot name="crane"><link name="foot"/><link name="boom"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="hinge" type="continuous">
    <parent link="foot"/><child link="boom"/><axis xyz="0 0 1"/><limit effort="0" velocity="1"/></joint></robot>]]
  file:close()
  local other <close> = stn.world {}
  local crane = other:load { path, loader = "urdf", fixed = true }
  os.remove(path)
  local ok, text = pcall(other.controller, other, { "inverse_dynamics", target = crane })
  assert(not ok and text:find("of crane: joint hinge has an effort limit of 0", 1, true), text)
end)

-- Largest change of a joint's velocity in a step while an impedance takes the arm from a PD and gives it back.
local function jump_of_hand_over(blend)
  local world <close>, arm = new_arm { dt = 2e-3 }
  local hold = world:controller { "joint_pd", target = arm, kp = 2000, kd = 200, gravity_compensation = true }
  local soft = world:controller { "cartesian_impedance", target = arm, frame = "iiwa14_flange", priority = 1, active = false }
  local goal, moved, jump, before = arm:link("iiwa14_flange"):position(), 0, 0, arm:v()
  soft:set { position = { goal[1], goal[2] + 0.1, goal[3] } }
  for _ in world:run { seconds = 6 } do
    if world.steps == 100 then
      soft:activate { blend = blend }
    elseif world.steps == 1500 then
      assert(soft:weight() == 1 and hold:weight() == 1)
      moved = arm:link("iiwa14_flange"):position()[2] - goal[2]
      soft:deactivate { blend = blend }
    end
    local now = arm:v()
    for i = 1, 7 do
      jump = worse(jump, math.abs(now[i] - before[i]))
    end
    before = now
  end
  assert(math.abs(moved - 0.1) < 1e-3, ("moved by %g m"):format(moved))
  assert(soft:weight() == 0 and math.abs(arm:link("iiwa14_flange"):position()[2] - goal[2]) < 1e-3)
  local ok, text = pcall(soft.activate, soft, { blend = -1 })
  assert(not ok and text:find("blend", 1, true) and not text:find("\n"), text)
  return jump
end

stn.test("a controller of higher priority takes the arm over and gives it back: in 0.5 s without the jump of a switch", function()
  local blended, at_once = jump_of_hand_over(0.5), jump_of_hand_over(0)
  assert(blended < 0.05 and at_once > 0.2, ("%g rad/s blended, %g at once"):format(blended, at_once))
end)
