-- SPDX-License-Identifier: Apache-2.0
-- world:predict: the step that the world would make, its batches, its derivatives against differences of whole predictions.
local stn = require "stiction"
local worse = require "worse"
local load_text = require "robot_text"

local found = {} -- of those that take the singular problems of quasistatic steps
local solvers = { sap = { "sap", tolerance = 1e-10 }, qp = { "qp" } }
for _, id in ipairs(stn.plugins "solver") do found[#found + 1] = solvers[id] and id or nil end
local law = { "sap", sigma = 1e-3 }

-- A world, where its objects and controllers are kept, and a command that moves what is there.
local function quasistatic(solver, options)
  local o = { dt = 0.05, solver = solvers[solver], law = solver == "sap" and law or nil, integrator = "quasistatic" }
  for key, value in pairs(options or {}) do o[key] = value end
  local s = { world = stn.world(o), controllers = {} }
  s.ground = s.world:ground { mu = 0.4 }
  return s
end

local function slider(name, parent, child, axis, effort)
  return ([[<joint name="%s" type="prismatic"><parent link="%s"/><child link="%s"/><axis xyz="%s"/>
    <limit lower="-2" upper="2" effort="%g" velocity="10"/></joint>]]):format(name, parent, child, axis, effort)
end

local function link(name, shape)
  return ([[<link name="%s"><inertial><mass value="0.1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>%s</link>]])
    :format(name, shape)
end

-- A ball on three sliders.
local function add_finger(s, name, xyz, effort)
  local tip = '<collision><geometry><sphere radius="0.02"/></geometry></collision>'
  local limit = effort or 1000
  local text = ('<robot name="%s"><link name="base"/>'):format(name) .. link("a", "") .. link("b", "") .. link("tip", tip)
    .. slider("x", "base", "a", "1 0 0", limit) .. slider("y", "a", "b", "0 1 0", limit) .. slider("z", "b", "tip", "0 0 1", limit) .. "</robot>"
  local robot = load_text(s.world, ".urdf", text, { name = name, base = { xyz = xyz }, fixed = true, mu = 0.8 })
  s.robots = s.robots or {}
  table.insert(s.robots, { robot, effort ~= nil })
  return robot
end

local function drive(s)
  for i, entry in ipairs(s.robots) do
    s.controllers[i] = s.world:controller {
      "joint_pd", target = entry[1], kp = 1000, kd = 0, effort_limits = entry[2], gravity_compensation = true }
  end
end

local scenes = {}

-- A free box on the floor and a finger beside it; the command pushes it askew.
function scenes.push(solver, options)
  local s = quasistatic(solver, options)
  s.world:box { name = "box", size = { 0.1, 0.1, 0.06 }, mass = 0.5, mu = 0.4, xyz = { 0, 0, 0.03 }, rpy = { 0, 0, 0.2 } }
  add_finger(s, "finger", { -0.075, 0.01, 0.028 })
  drive(s)
  s.command = { 0.03, 0.004, 0 }
  return s
end

-- The same by motors with a limit, that along x is at it.
function scenes.limited(solver, options)
  local s = quasistatic(solver, options)
  s.world:box { name = "box", size = { 0.1, 0.1, 0.06 }, mass = 0.5, mu = 0.4, xyz = { 0, 0, 0.03 }, rpy = { 0, 0, 0.2 } }
  add_finger(s, "finger", { -0.075, 0.01, 0.028 }, 1.5)
  drive(s)
  s.command = { 0.03, 0.0004, 0 }
  return s
end

-- Two fingers squeeze a ball and roll it between them, above the ground. About the line between two points nothing holds it but a
-- share of its mass.
function scenes.roll(solver, options)
  local s = quasistatic(solver, { integrator = { "quasistatic", unactuated_mass_scale = 1e-3 } })
  s.world:sphere { name = "ball", radius = 0.05, mass = 0.2, mu = 0.8, xyz = { 0.001, 0.002, 0.2 }, rpy = { 0.3, -0.2, 0.5 } }
  add_finger(s, "left", { -0.0685, 0, 0.2 })
  add_finger(s, "right", { 0.0705, 0.001, 0.2005 })
  drive(s)
  s.command = { 0.006, 0.004, 0.003, -0.006, -0.004, 0.001 }
  return s
end

-- A gripper in a plane: a ball on two sliders, one finger on each side.
function scenes.planar(solver, options)
  local s = quasistatic(solver, options)
  local shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
  load_text(s.world, ".urdf", '<robot name="ball"><link name="base"/>' .. link("a", "") .. link("ball", shape)
    .. slider("x", "base", "a", "1 0 0", 1000) .. slider("z", "a", "ball", "0 0 1", 1000) .. "</robot>",
    { name = "ball", base = { xyz = { 0, 0, 0.1 } }, fixed = true, mu = 0.5 })
  add_finger(s, "left", { -0.121, 0, 0.1 })
  add_finger(s, "right", { 0.119, 0, 0.1 })
  drive(s)
  s.command = { 0.006, 0, -0.001, -0.005, 0, -0.001 }
  return s
end

-- An arm with a tool pushes a box over the floor.
function scenes.arm(solver, options)
  local s = quasistatic(solver, options)
  s.world:box { name = "box", size = { 0.12, 0.1, 0.08 }, mass = 1, mu = 0.4, xyz = { 0.61, 0.02, 0.04 }, rpy = { 0, 0, 0.15 } }
  local arm = s.world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true }
  s.world:sphere { name = "tool", radius = 0.03, mass = 0.1, mu = 0.8, on = { arm, "iiwa14_flange" }, xyz = { 0, 0, 0.06 } }
  local start = assert(arm:inverse_kinematics { link = "iiwa14_flange", pose = { xyz = { 0.5, 0, 0.11 }, axes = { z = { 0, 0, -1 } } },
    seeds = { { 0, 0.5, 0, -1.5, 0, 1, 0 } } })
  arm:set_q(start)
  s.controllers[1] = s.world:controller { "joint_pd", target = arm, kp = 800, kd = 0, effort_limits = false, gravity_compensation = true }
  s.command = arm:q()
  s.command[2], s.command[4] = s.command[2] + 0.06, s.command[4] + 0.05
  return s
end

local names = { "arm", "limited", "planar", "push", "roll" }

local function copy(list) return table.move(list, 1, #list, 1, {}) end

local function same(a, b, what)
  assert(#a == #b, what)
  for i = 1, #a do assert(a[i] == b[i], ("%s[%d]: %.17g and %.17g"):format(what, i, a[i], b[i])) end
end

-- ------------------------------------------------------------------------------------------------------------- the step

-- Of the world itself, from q with that command; its controllers take theirs in order.
local function step_from(s, q, command)
  local at = 1
  for _, controller in ipairs(s.controllers) do
    local count = #controller:joints()
    controller:set { position = table.move(command, at, at + count - 1, 1, {}) }
    at = at + count
  end
  if q then s.world:set_state { q = q } end
  local step = s.world:step()
  return s.world:state(), step
end

for _, name in ipairs(names) do
  for _, solver in ipairs(found) do
    stn.test(("a prediction is the world's own step, to the last bit: %s, %s"):format(name, solver), function()
      local s = scenes[name](solver)
      for round = 1, 3 do -- with nothing to remember, and with contacts that it remembers
        local q = s.world:state().q
        local hash = s.world:hash()
        local moved = copy(q)
        moved[1] = moved[1] + 1e-3
        local start = round == 2 and moved or q
        local predicted = s.world:predict(start, s.command)
        local batch = s.world:predict_batch(start, { copy(s.command), s.command })
        local each = s.world:predict_batch({ q, start }, { s.command, s.command })
        assert(s.world:hash() == hash, "the world changed")
        local state, step = step_from(s, round == 2 and moved, s.command)
        same(predicted.q, state.q, "q")
        same(predicted.v, state.v, "v")
        same(batch[2].q, state.q, "q of a batch")
        same(each[2].q, state.q, "q of a batch with a start of its own")
        assert(predicted.status == step.status and predicted.converged == step.converged)
        local contacts = s.world:contacts()
        assert(#contacts == #predicted.contacts)
        for i, contact in ipairs(contacts) do same(contact.force, predicted.contacts[i].force, "force") end
        assert(predicted.certificate.momentum == step.certificate.momentum)
      end
      s.world:close()
    end)
  end
end

-- ------------------------------------------------------------------------------------------------------- derivatives

-- Where the coordinates and velocities of each joint are, in the world's order.
local function layout(world)
  local joints, at_q, at_v = {}, 0, 0
  for _, group in ipairs(world:groups()) do
    for _, joint in ipairs(group:joints()) do
      local free = joint.type == "floating"
      joints[#joints + 1] = { free = free, q = at_q, v = at_v }
      at_q, at_v = at_q + (free and 7 or 1), at_v + (free and 6 or 1)
    end
  end
  assert(at_q == world.nq and at_v == world.nv, "another layout")
  return joints
end

local function quaternion(q, at) return { q[at + 4], q[at + 5], q[at + 6], q[at + 7] } end

-- q moved by `by` along velocity i.
local function move(joints, q, i, by)
  local out = copy(q)
  for _, joint in ipairs(joints) do
    local k = i - joint.v
    if joint.free and k > 3 and k <= 6 then
      local w = { 0, 0, 0 }
      w[k - 3] = by
      local turned = (stn.pose { rotation_vector = w } * stn.pose { quat = quaternion(q, joint.q) }).quat
      for n = 1, 4 do out[joint.q + 3 + n] = turned[n] end
    elseif k >= 1 and k <= (joint.free and 3 or 1) then
      out[joint.q + k] = out[joint.q + k] + by
    end
  end
  return out
end

-- The velocities that lead from a to b in unit time.
local function difference(joints, a, b)
  local out = {}
  for _, joint in ipairs(joints) do
    if joint.free then
      for k = 1, 3 do out[joint.v + k] = b[joint.q + k] - a[joint.q + k] end
      local turn = (stn.pose { quat = quaternion(b, joint.q) } * stn.pose { quat = quaternion(a, joint.q) }:inverse()).rotation_vector
      for k = 1, 3 do out[joint.v + 3 + k] = turn[k] end
    else
      out[joint.v + 1] = b[joint.q + 1] - a[joint.q + 1]
    end
  end
  return out
end

-- Columns of (low and high side of) differences of whole predictions; `side`: -1 and 1 of one side, nil: central.
local function differences(s, joints, q, command, by_q, h, side)
  local columns = {}
  for i = 1, by_q and s.world.nv or #command do
    local ends = {}
    for n, sign in ipairs { -1, 1 } do
      local step = (side == nil or side == sign) and sign * h or 0
      local moved = copy(command)
      if not by_q then moved[i] = moved[i] + step end
      local r = s.world:predict(by_q and move(joints, q, i, step) or q, moved, { contacts = false, v = s.v })
      assert(r.converged, r.error or r.status)
      ends[n] = r.q
    end
    columns[i] = difference(joints, ends[1], ends[2])
    for k, x in ipairs(columns[i]) do columns[i][k] = x / (side and h or 2 * h) end
  end
  return columns
end

-- Largest difference of a matrix from columns, relative to the largest entry.
local function distance(matrix, columns)
  local off, largest, where = 0, 1e-2, "" -- where a command moves nothing rounding is left
  for k, column in ipairs(columns) do
    for i, x in ipairs(column) do
      largest = worse(largest, math.abs(x))
      if math.abs(matrix[i][k] - x) > off then
        off, where = math.abs(matrix[i][k] - x), ("[%d][%d]: %g and %g"):format(i, k, matrix[i][k], x)
      end
    end
  end
  return off / largest, where
end

-- Does the solver tell derivatives? Others are refused before anything is done.
local function differentiates(s)
  local able, message = pcall(s.world.predict, s.world, nil, s.command, { v = s.v, derivatives = "command" })
  assert(able or message:find("does not differentiate its solutions", 1, true), message)
  return able
end

-- Second differences taken out of differences: the error is of the order of h^4.
local function fine_differences(s, joints, q, command, by_q)
  local rough, fine = differences(s, joints, q, command, by_q, 2e-5), differences(s, joints, q, command, by_q, 1e-5)
  for k, column in ipairs(fine) do
    for i, x in ipairs(column) do column[i] = (4 * x - rough[k][i]) / 3 end
  end
  return fine
end

for _, name in ipairs(names) do
  for _, solver in ipairs(found) do
    stn.test(("derivatives are differences of predictions: %s, %s"):format(name, solver), function()
      local s = scenes[name](solver)
      if not differentiates(s) then stn.skip(solver .. " does not differentiate its solutions") end
      local joints = layout(s.world)
      for round = 0, 2 do
        local q = s.world:state().q
        local hash = s.world:hash()
        local r = s.world:predict(q, s.command, { derivatives = true })
        assert(r.converged and r.derivatives_error == nil, r.derivatives_error)
        for _, by_q in ipairs { false, true } do
          local off, where = distance(by_q and r.dq_dq or r.dq_dcommand, fine_differences(s, joints, q, s.command, by_q))
          assert(off < 1e-5, ("%s of round %d: off by %g of the largest, %s"):format(by_q and "dq_dq" or "dq_dcommand", round, off, where))
        end
        local less = s.world:predict(q, s.command, { derivatives = "command" })
        assert(less.dq_dq == nil)
        for i, row in ipairs(less.dq_dcommand) do same(row, r.dq_dcommand[i], "dq_dcommand alone") end
        assert(s.world:hash() == hash, "the world changed")
        step_from(s, nil, s.command)
      end
      s.world:close()
    end)
  end
end

-- The push with more boxes, each an island of its own, and a robot in the air, whose tree is in none.
local function apart(solver, boxes, options)
  local s = quasistatic(solver, options)
  s.world:box { name = "box", size = { 0.1, 0.1, 0.06 }, mass = 0.5, mu = 0.4, xyz = { 0, 0, 0.03 }, rpy = { 0, 0, 0.2 } }
  add_finger(s, "finger", { -0.075, 0.01, 0.028 })
  for i = 2, boxes do
    s.world:box { name = "box" .. i, size = { 0.1, 0.1, 0.06 }, mass = 0.5, mu = 0.4, xyz = { 0.3 * i, 0.01 * i, 0.03 } }
  end
  add_finger(s, "alone", { -0.5, 0, 0.5 })
  drive(s)
  s.command = { 0.03, 0.004, 0, 0.01, 0.02, 0.03 }
  return s
end

for _, solver in ipairs(found) do
  stn.test("derivatives are those of each island by itself: " .. solver, function()
    local s = apart(solver, 3)
    if not differentiates(s) then stn.skip(solver .. " does not differentiate its solutions") end
    local joints, q = layout(s.world), s.world:state().q
    local r = s.world:predict(q, s.command, { derivatives = true })
    assert(r.converged and r.derivatives_error == nil, r.derivatives_error)
    for _, by_q in ipairs { false, true } do
      local off, where = distance(by_q and r.dq_dq or r.dq_dcommand, fine_differences(s, joints, q, s.command, by_q))
      assert(off < 1e-5, ("off by %g of the largest, %s"):format(off, where))
    end
    -- rows: box, finger, box2, box3, alone; what lies apart does not move with the push
    for i = 10, s.world.nv do
      for k = 1, 3 do assert(math.abs(r.dq_dcommand[i][k]) < 1e-20) end
      for k = 1, 9 do assert(math.abs(r.dq_dq[i][k]) < 1e-20 and math.abs(r.dq_dq[k][i]) < 1e-13) end
    end
    for k = 1, 3 do assert(math.abs(r.dq_dcommand[s.world.nv - 3 + k][3 + k] - 1) < 1e-9) end
    s.world:close()
  end)
end

stn.test("limits of a solver's size hold for an island: 20 boxes, 64 rays, 5,000 in all: qp", function()
  if not table.concat(found, " "):find "qp" then stn.skip "no solver qp" end
  local s = apart("qp", 20, { solver = { "qp", directions = 64 } })
  local joints, q = layout(s.world), s.world:state().q
  local r = s.world:predict(q, s.command, { derivatives = "command" })
  assert(r.converged and r.derivatives_error == nil, r.derivatives_error)
  local off, where = distance(r.dq_dcommand, differences(s, joints, q, s.command, false, 1e-6))
  assert(off < 1e-5, ("off by %g of the largest, %s"):format(off, where))
  s.world:close()
end)

-- A finger that touches a box, or does not; pyramids leave motions of the box that cost nothing. Askew nothing is at a change of mode.
local function loose_push(solver, askew)
  local world = stn.world { dt = 0.1, solver = solver, integrator = "quasistatic", seed = 1 }
  local s = { world = world, controllers = {} }
  world:ground { mu = 0.5 }
  world:box { size = { 0.1, 0.1, 0.06 }, mass = 0.5, mu = 0.5, xyz = { 0, 0, 0.03 }, rpy = { 0, 0, askew and 0.07 or 0 } }
  add_finger(s, "finger", { askew and -0.073 or -0.071, askew and 0.007 or 0, 0.03 })
  drive(s)
  world:step()
  return s
end

-- Largest difference of a matrix from the columns of the one side or the other, relative to the largest entry of those.
local function distance_to_a_side(matrix, low, high)
  local worst, where = 0, ""
  for k in ipairs(low) do
    local off, largest = { 0, 0 }, 1
    for i, row in ipairs(matrix) do
      for n, side in ipairs { low[k], high[k] } do
        off[n], largest = math.max(off[n], math.abs(row[k] - side[i])), math.max(largest, math.abs(side[i]))
      end
    end
    local own = math.min(off[1], off[2]) / largest
    if not (own <= worst) then worst, where = own, ("column %d: off by %g and %g"):format(k, off[1], off[2]) end
  end
  return worst, where
end

-- The pushes that are told are differences of one side. How many are told.
local function random_pushes(solver, askew)
  local s = loose_push(solver, askew)
  local joints, q, told = layout(s.world), s.world:state().q, 0
  for _ = 1, 40 do
    local c = { s.world:random(0, 0.02), s.world:random(-0.02, 0.02), 0 }
    local r = s.world:predict(q, c, { derivatives = askew or "command" })
    assert(r.converged and (r.derivatives_error or r.dq_dcommand))
    told = told + (r.dq_dcommand and 1 or 0)
    for _, by_q in ipairs(r.dq_dcommand and (askew and { false, true } or { false }) or {}) do
      local low, high = differences(s, joints, q, c, by_q, 1e-6, -1), differences(s, joints, q, c, by_q, 1e-6, 1)
      local off, where = distance_to_a_side(by_q and r.dq_dq or r.dq_dcommand, low, high)
      assert(off < 1e-3, ("command %g %g, %s"):format(c[1], c[2], where))
    end
  end
  s.world:close()
  return told
end

for _, directions in ipairs { 4, 16 } do
  for _, askew in ipairs { false, true } do
    stn.test(("derivatives where motions cost nothing: qp, %d rays, %s"):format(directions, askew and "askew, by q too" or "straight"), function()
      if not table.concat(found, " "):find "qp" then stn.skip "no solver qp" end
      assert(random_pushes({ "qp", directions = directions }, askew) == 40)
    end)
  end
end

stn.test("where motions cost nothing the least one is made by either method: qp", function()
  if not table.concat(found, " "):find "qp" then stn.skip "no solver qp" end
  local s, other = loose_push({ "qp" }), loose_push({ "qp", method = "interior_point", tolerance = 1e-10 })
  for _ = 1, 40 do
    local c = { s.world:random(0, 0.02), s.world:random(-0.02, 0.02), 0 }
    local a, b = s.world:predict(nil, c).q, other.world:predict(nil, c).q
    for i = 1, s.world.nq do assert(math.abs(a[i] - b[i]) < 1e-8, ("command %g %g, q[%d]: %.9g and %.9g"):format(c[1], c[2], i, a[i], b[i])) end
  end
  s.world:close()
  other.world:close()
end)

-- A box that stands on two of its corners, as far as impulses of a vertex tell, rests on the others as well.
stn.test("derivatives with impulses of a vertex: qp", function()
  if not table.concat(found, " "):find "qp" then stn.skip "no solver qp" end
  local s = loose_push { "qp", impulses = "vertex" }
  local joints, q, rest = layout(s.world), s.world:state().q, { -0.01, 0, 0 }
  local r, pressing = s.world:predict(q, rest, { derivatives = true }), 0
  for _, contact in ipairs(r.contacts) do pressing = pressing + (contact.normal_force > 0 and 1 or 0) end
  assert(pressing == 2 and r.derivatives_error == nil, r.derivatives_error)
  local off, where = distance(r.dq_dq, differences(s, joints, q, rest, true, 1e-5))
  assert(off < 1e-5, ("off by %g of the largest, %s"):format(off, where))
  s.world:close()
end)

stn.test("derivatives of a step with inertia, at fixed velocities", function()
  local s = quasistatic("sap", { integrator = "symplectic_euler", dt = 0.005 })
  s.world:box { name = "box", size = { 0.1, 0.1, 0.06 }, mass = 0.5, mu = 0.4, xyz = { 0, 0, 0.03 }, rpy = { 0, 0, 0.2 } }
  local robot = add_finger(s, "finger", { -0.072, 0.01, 0.028 })
  s.controllers[1] = s.world:controller { "joint_pd", target = robot, kp = 1000, kd = 20, effort_limits = false }
  s.v, s.command = { 0.1, 0.02, 0, 0, 0, 1, 0.3, 0, 0 }, { 0.01, 0, 0 }
  if not differentiates(s) then stn.skip "sap does not differentiate its solutions" end
  local joints, q = layout(s.world), s.world:state().q
  local r = s.world:predict(q, s.command, { v = s.v, derivatives = true })
  assert(r.converged and r.derivatives_error == nil, r.derivatives_error)
  for _, by_q in ipairs { false, true } do
    local off, where = distance(by_q and r.dq_dq or r.dq_dcommand, fine_differences(s, joints, q, s.command, by_q))
    assert(off < 1e-5, ("off by %g of the largest, %s"):format(off, where))
  end
  s.world:close()
  local midpoint <close> = stn.world { integrator = "midpoint" }
  midpoint:ground {}
  midpoint:sphere { radius = 0.1, xyz = { 0, 0, 0.1 } }
  r = midpoint:predict(nil, nil, { v = { 1, 0, 0, 0, 0, 0 }, derivatives = true })
  assert(r.converged and r.dq_dq == nil and r.derivatives_error:find "integrator midpoint does not move coordinates by dt times", r.derivatives_error)
end)

stn.test("what has no derivatives says so in the result", function()
  local s = scenes.push("sap", { stiction = true })
  if not differentiates(s) then stn.skip "sap does not differentiate its solutions" end
  for _ = 1, 2 do step_from(s, nil, s.command) end
  local r = s.world:predict(nil, s.command, { derivatives = true })
  assert(r.converged and r.dq_dq == nil and r.derivatives_error:find "a contact holds its place by stiction", r.derivatives_error)
  s.world:close()
  -- a coefficient of friction that depends on the slip of the start, and that on where a turning box is
  local world <close> = stn.world { dt = 0.005 }
  world:ground { mu = 0.4 }
  world:box { size = { 0.1, 0.1, 0.06 }, mass = 0.5, mu = 0.4, mu_static = 0.8, xyz = { 0, 0, 0.03 } }
  r = world:predict(nil, nil, { v = { 2e-4, 0, 0, 0, 0, 0.002 }, derivatives = true })
  assert(r.converged and r.dq_dq == nil, r.status)
  assert(r.derivatives_error:find "a contact between the world and box2 presses here, and has another coefficient of friction %(mu_static%)", r.derivatives_error)
end)

-- Where two modes meet the derivatives are those of one side: of one that command `at` leads into, all of them, and with respect
-- to that command a difference to that side.
local function check_one_side(s, command, at, what)
  local joints, q = layout(s.world), s.world:state().q
  local here = s.world:predict(q, command, { derivatives = true })
  assert(here.converged and here.derivatives_error == nil, here.derivatives_error)
  local off, apart, step = { 0, 0 }, 0, 1e-8
  for side, sign in ipairs { -1, 1 } do
    local moved = copy(command)
    moved[at] = moved[at] + sign * step
    local r = s.world:predict(q, moved, { derivatives = true })
    local one = difference(joints, sign < 0 and r.q or here.q, sign < 0 and here.q or r.q)
    for i = 1, s.world.nv do
      off[side] = worse(off[side], math.abs(one[i] / step - here.dq_dcommand[i][at]))
      for k = 1, #command do off[side] = worse(off[side], math.abs(r.dq_dcommand[i][k] - here.dq_dcommand[i][k])) end
      for k = 1, s.world.nv do off[side] = worse(off[side], math.abs(r.dq_dq[i][k] - here.dq_dq[i][k])) end
    end
  end
  apart = math.max(off[1], off[2])
  assert(math.min(off[1], off[2]) < 1e-3, ("%s: of neither side, off by %g and %g"):format(what, off[1], off[2]))
  assert(apart > 1e-2, what .. ": no modes meet here")
end

for _, solver in ipairs(found) do
  stn.test("derivatives where modes meet are those of one side: " .. solver, function()
    local s = scenes.planar(solver)
    -- Bisects the command between two modes of the contact of the left finger with the ball.
    local function border(at, low, high, is_beyond)
      local function try(x)
        local command = at(x)
        for _, contact in ipairs(s.world:predict(nil, command).contacts) do
          if contact.a == "ball" and contact.b == "left" then return is_beyond(contact), command end
        end
      end
      assert(not try(low) and try(high))
      for _ = 1, 60 do
        local middle = 0.5 * (low + high)
        if try(middle) then high = middle else low = middle end
      end
      return select(2, try(high))
    end
    if not differentiates(s) then stn.skip(solver .. " does not differentiate its solutions") end
    assert(s.world:state().q[1] == 0 and s.world:state().q[2] == 0)
    check_one_side(s, border(function(x) return { x, 0, 0, 0.01, 0, 0 } end, 0, 0.002, function(c) return c.normal_force > 0 end),
      1, "touch without force")
    check_one_side(s, border(function(x) return { 0.006, 0, -x, -0.005, 0, -x } end, 0, 0.05, function(c) return c.friction_force > (1 - 1e-10) * c.mu * c.normal_force end),
      3, "the limit of friction")
    s.world:close()
  end)
end

-- ------------------------------------------------------------------------------------------------------------ commands

stn.test("commands by robot, and none: the references that are in force", function()
  local s = scenes.roll("sap")
  local world = s.world
  local by_list = world:predict(nil, { 0.001, 0.002, 0.003, 0, 0, 0.004 })
  same(world:predict(nil, { left = { 0.001, 0.002, 0.003 }, right = { z = 0.004 } }).q, by_list.q, "by robot")
  s.controllers[1]:set { position = { 0.001, 0.002, 0.003 } }
  same(world:predict(nil, { right = { z = 0.004 } }).q, by_list.q, "the rest is as it was set")
  s.controllers[2]:set { position = { 0, 0, 0.004 } }
  same(world:predict().q, by_list.q, "all as it was set")
  same(world:predict_batch(nil, { { right = { z = 0.004 } } })[1].q, by_list.q, "in a batch")
  assert(#world:predict_batch(nil, {}) == 0)
  world:close()
end)

stn.test("predictions without contacts, of changed worlds, of a clone", function()
  local s = scenes.push("sap")
  local world = s.world
  assert(world:predict(nil, s.command, { contacts = false }).contacts == nil)
  for _, dt in ipairs { 0.05, 0.01, 0.1 } do
    world:set_dt(dt)
    world:set_gravity { 0, 0, -9 - dt }
    local predicted = world:predict(nil, s.command)
    same(world:clone():predict(nil, s.command).q, predicted.q, "of a clone")
    same(predicted.q, step_from(s, nil, s.command).q, "of a world with another dt")
  end
  world:reset()
  same(world:predict(nil, s.command).q, step_from(s, nil, s.command).q, "after a reset")
  world:close()
end)

stn.test("a batch on threads has the same results, to the last bit", function()
  local s = scenes.push("sap")
  local q, starts, commands = s.world:state().q, {}, {}
  for i = 1, 40 do
    starts[i], commands[i] = copy(q), { 0.001 * i, 0.004 - 0.0001 * i, 0 }
    starts[i][9] = 1e-4 * i
  end
  for k = 4, 7 do starts[17][k] = 0 end -- no rotation: fails
  for round, dt in ipairs { 0.05, 0.02, 0.02 } do
    s.world:set_dt(dt)
    for _, start in ipairs { starts, q } do
      local alone = s.world:predict_batch(start, commands, { contacts = false })
      for _, threads in ipairs { 2, 3 } do
        local together = s.world:predict_batch(start, commands, { contacts = false, threads = threads })
        assert(#together == 40)
        for i, r in ipairs(together) do
          assert(r.status == alone[i].status and r.error == alone[i].error and r.converged == alone[i].converged)
          assert((r.q == nil) == (alone[i].q == nil) and (r.q == nil) == (start == starts and i == 17))
          if r.q then
            same(r.q, alone[i].q, "q")
            same(r.v, alone[i].v, "v")
            assert(r.certificate.momentum == alone[i].certificate.momentum)
          end
        end
      end
    end
    if round < 3 then step_from(s, nil, s.command) end
  end
  assert(#s.world:predict_batch(q, {}, { contacts = false, threads = 4 }) == 0)
  stn.fails(function() s.world:predict_batch(q, commands, { threads = 2 }) end, "threads are for predictions without contacts and derivatives")
  stn.fails(function() s.world:predict_batch(q, { {} }, { threads = 2, contacts = false }) end, "commands[1] must have 3 numbers")
  s.world:close()
end)

stn.test("predictions follow the world's controllers and integrator", function()
  local s = quasistatic "sap"
  s.world:box { name = "box", size = { 0.1, 0.1, 0.06 }, mass = 0.5, xyz = { 0, 0, 0.03 } }
  add_finger(s, "finger", { -0.072, 0.01, 0.028 })
  local q = s.world:state().q
  assert(s.world:predict(q).q[10] < -0.005, "nothing holds the finger, which falls to the ground")
  drive(s)
  assert(s.world:predict(q, { 0.01, 0, 0 }).q[8] > 0.005)
  local quasistatic_q = s.world:predict(q, { 0.01, 0, 0 }).q
  s.world.integrator = "symplectic_euler"
  stn.fails(function() s.world:predict(q) end, "with integrator symplectic_euler")
  local v = s.world:state().v
  v[1] = 0.3
  local predicted = s.world:predict(q, { 0.01, 0, 0 }, { v = v })
  s.world:set_state { v = v }
  same(predicted.q, step_from(s, nil, { 0.01, 0, 0 }).q, "with inertia")
  s.world.integrator = "quasistatic"
  s.world:set_state { q = q }
  same(s.world:predict(q, { 0.01, 0, 0 }).q, step_from(s, nil, { 0.01, 0, 0 }).q, "and back")
  assert(math.abs(quasistatic_q[8] - s.world:state().q[8]) < 1e-6)
  s.world:close()
  stn.fails(function() s.world:predict(q) end, "this world was closed")
end)

stn.test("kinematic bodies move in a prediction as they do in the step", function()
  local world <close> = stn.world { dt = 0.05, integrator = "quasistatic" }
  world:ground {}
  world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 } }
  local pusher = world:sphere { radius = 0.02, xyz = { -0.075, 0, 0.05 } }
  pusher:kinematic(function(t) return { xyz = { -0.075 + 0.2 * t, 0.01, 0.05 } } end)
  for _ = 1, 4 do
    local predicted = world:predict()
    world:step()
    same(predicted.q, world:state().q, "q")
  end
  assert(world:state().q[1] > 0.01, "nothing was pushed")
  pusher:kinematic(function() return { xyz = world:predict().q } end)
  stn.fails(function() world:predict() end, "world:predict")
  pusher:kinematic(function() error "no more" end)
  stn.fails(function() world:predict() end, "no more")
end)

stn.test("a dynamic integrator is asked with velocities", function()
  local world <close> = stn.world { dt = 0.01 }
  world:ground {}
  world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 }, velocity = { 1, 0, 0 } }
  stn.fails(function() world:predict() end, "with integrator symplectic_euler the next coordinates depend on velocities: give v = {...} (6 numbers)")
  local predicted = world:predict(nil, nil, { v = world:state().v })
  world:step()
  same(predicted.q, world:state().q, "q")
  same(predicted.v, world:state().v, "v")
  assert(predicted.q[1] > 5e-3, "it slides")
end)

-- ----------------------------------------------------------------------------------------------------------- bad input

stn.test("what cannot be predicted is told in one line", function()
  local s = scenes.roll("sap")
  local world = s.world
  local q = world:state().q
  local function fails(text, ...)
    local arguments = table.pack(...)
    local message = stn.fails(function() world:predict(table.unpack(arguments, 1, arguments.n)) end, text)
    assert(not message:find "\n", message)
  end
  fails("world:predict: command must have 6 numbers, left (3), right (3); it has 2", q, { 1, 2 })
  fails("world:predict: command must have 6 numbers, left (3), right (3); it has 0", q, {})
  fails("world:predict: command has no 'middle'", q, { middle = { 0, 0, 0 } })
  fails("did you mean 'left'?", q, { lft = { 0, 0, 0 } })
  fails("world:predict: command.left has no 'u'", q, { left = { u = 0 } })
  fails("world:predict: command.left", q, { left = { 0, 0 } })
  fails("not both", q, { left = { 0, 0, 0 }, 1 })
  fails("world:predict: command[3]", q, { 0, 0, 0 / 0, 0, 0, 0 })
  fails("world:predict: command must be a list of 6 numbers or a table by robot, got number", q, 3)
  fails("world:predict: q", { 1, 2 }, nil)
  q[2] = 0 / 0
  fails("world:predict: q[2]", q, nil)
  q[2] = 0
  fails("world:predict: unknown key 'derivative', did you mean 'derivatives'?", q, nil, { derivative = true })
  fails("world:predict: unknown key 'threads'", q, nil, { threads = 2, contacts = false })
  fails('derivatives must be true, false or "command", got 1', q, nil, { derivatives = 1 })
  fails("world:predict: v", q, nil, { v = { 1 } })
  stn.fails(function() world:predict_batch(q, 3) end, "world:predict_batch: commands must be a list of commands, got number")
  stn.fails(function() world:predict_batch(q, { {}, {} }) end, "world:predict_batch: commands[1] must have 6 numbers")
  stn.fails(function() world:predict_batch({ q }, { s.command, s.command }) end, "there are 1 starts q for 2 commands")
  for i = 4, 7 do q[i] = 0 end
  local zero = world:predict(q, s.command) -- no rotation
  assert(zero.status == "failed" and zero.q == nil and zero.error:find "quaternion", zero.error)
  world:close()
  local empty <close> = stn.world { integrator = "quasistatic" }
  empty:ground {}
  stn.fails(function() empty:predict(nil, { 1 }) end, "no controller of this world takes positions of joints")
end)

stn.test("an object without support is no solution", function()
  local s = quasistatic "sap"
  s.world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 } }
  add_finger(s, "finger", { 0.3, 0, 0.1 })
  drive(s)
  local q = s.world:state().q
  assert(s.world:predict(q, { 0, 0, 0 }).status == "ok")
  q[3] = 1e6
  local r = s.world:predict(q, { 0, 0, 0 }, { derivatives = differentiates(s) })
  assert(not r.converged and r.status ~= "ok" and (r.q == nil and r.error:find "box" or r.status == "not_converged"), r.error)
  assert(r.dq_dcommand == nil)
  q[3] = 0.05
  assert(s.world:predict(q, { 0, 0, 0 }).status == "ok", "one that failed is of no consequence")
  s.world:close()
end)

stn.test("a solver or law without derivatives is named", function()
  local function options(o)
    local world <close> = stn.world(o)
    world:ground {}
    world:sphere { radius = 0.1, xyz = { 0, 0, 0.1 } }
    world:predict(nil, nil, { derivatives = true })
  end
  local integrator = { "quasistatic", unactuated_mass_scale = 1 }
  stn.fails(function() options { integrator = integrator, solver = "pgs" } end, "solver pgs does not differentiate its solutions")
  local s = scenes.push "sap"
  if differentiates(s) then
    stn.fails(function() options { integrator = integrator, law = "hertz" } end, "law hertz has no derivatives with respect to gaps")
  end
  s.world:close()
end)
