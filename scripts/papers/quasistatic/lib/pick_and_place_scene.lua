-- SPDX-License-Identifier: Apache-2.0
-- The pick and place of the paper on quasistatic stepping [pang-2021], section V-B: an arm with a gripper takes a red cube from the
-- floor, turns it by 90 degrees and puts it on a stack of three; six more cubes stand around. 69 degrees of freedom: 10 cubes, 7 joints
-- of the arm, 2 fingers.
--
-- Arm: models/iiwa14, or any arm of seven joints whose last link is named by `link`. The gripper is ours: two plates that slide.
local stn = require "stiction"
local csv = require "csv"
local load_text = require "robot_text"

local scene = { duration = 20 } -- [s]

local arm_stiffness = { 800, 600, 600, 600, 400, 200, 200 } -- [N m/rad]
local finger_stiffness = 500                                -- [N/m]
local gravity = 10                                          -- [m/s^2]
local open, closed = 0.05, 0.02                             -- commands of each finger: its plate from the middle [m]

-- edge, x, y and height of the middle [m]
local cubes = {
  { 0.06, 0.55, 0, 0.03 },
  { 0.08, 0.70, 0, 0.04 }, { 0.07, 0.70, 0, 0.115 }, { 0.08, 0.70, 0, 0.19 },
  { 0.08, 0.50, -0.2, 0.04 }, { 0.07, 0.50, -0.2, 0.115 }, { 0.08, 0.50, -0.2, 0.19 },
  { 0.08, 0.45, 0.2, 0.04 }, { 0.07, 0.45, 0.2, 0.115 },
  { 0.08, 0.48, 0.3, 0.04 },
}

-- Where the tool goes: seconds, place, yaw [deg] and command of the fingers at the end, along lines.
local phases = {
  { 2, { 0.555, 0, 0.10 }, 0, closed },
  { 4, { 0.555, 0, 0.395 }, 0, closed },
  { 4, { 0.69, 0, 0.395 }, 90, closed },
  { 2, { 0.69, 0, 0.325 }, 90, closed },
  { 2, { 0.69, 0, 0.325 }, 90, open },
  { 2, { 0.69, 0, 0.475 }, 90, open },
  { 4, { 0.555, 0, 0.475 }, 90, open },
}
local knots = 10 -- of each phase

-- The tool is 0.15 m ahead of the arm's last joint, 46 mm behind its flange; plates reach 85 mm beyond it. Fingers slide along y.
local gripper_text = [[<robot name="gripper">
  <link name="palm"><inertial><origin xyz="0 0 0.025"/><mass value="0.8"/><inertia ixx="1.9e-3" iyy="3.3e-4" izz="1.9e-3" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.025"/><geometry><box size="0.05 0.16 0.05"/></geometry><material name="steel"><color rgba="0.35 0.37 0.40 1"/></material></visual>
    <collision><origin xyz="0 0 0.025"/><geometry><box size="0.05 0.16 0.05"/></geometry></collision></link>
  <link name="tool"/>
  <joint name="tool_joint" type="fixed"><parent link="palm"/><child link="tool"/><origin xyz="0 0 0.104"/></joint>
  %s%s
</robot>]]
local finger_text = [[<link name="%s"><inertial><origin xyz="0 0.006 0.12"/><mass value="0.1"/><inertia ixx="1.6e-4" iyy="1.63e-4" izz="5.2e-6" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0.006 0.12"/><geometry><box size="0.022 0.012 0.138"/></geometry><material name="pale"><color rgba="0.8 0.8 0.82 1"/></material></visual>
    <collision><origin xyz="0 0.006 0.12"/><geometry><box size="0.022 0.012 0.138"/></geometry></collision></link>
  <joint name="%s_joint" type="prismatic"><parent link="palm"/><child link="%s"/><origin rpy="0 0 %s"/><axis xyz="0 1 0"/><limit lower="0" upper="0.07" effort="80" velocity="1"/></joint>
  ]]

local red, wood = { 0.85, 0.20, 0.15 }, { { 0.80, 0.62, 0.40 }, { 0.66, 0.48, 0.30 } }

local function sub(a, b) return { a[1] - b[1], a[2] - b[2], a[3] - b[3] } end

--- |a - b| of two points [m].
function scene.distance(a, b)
  local d = sub(a, b)
  return math.sqrt(d[1] ^ 2 + d[2] ^ 2 + d[3] ^ 2)
end

--- Declares the parameters that every script about it takes; `own` are those of the script.
function scene.parameters(own)
  local declared = {
    dt = stn.number { 0.1, min = 1e-6, max = 1, unit = "s" }, -- h of the paper
    integrator = "quasistatic",           -- or one with inertia, "symplectic_euler"; then joints are damped
    solver = "qp",                        -- also sap, admm_split
    tolerance = 1e-8,
    unactuated_mass_scale = 0.0,          -- of the integrator quasistatic
    damping_ratio = 1.0,                  -- of joints, with inertia
    -- box: contacts of boxes are their corners already. corners: boxes 1 mm smaller with a tiny ball at each corner, as the authors
    -- have them, whose boxes alone touch at one point
    cubes = stn.choice { "box", "corners" },
    stiction = false,                     -- true: what sticks holds its place; the paper's contacts know velocities only
    penalty = stn.number { 0, min = 0, unit = "N/m" }, -- with inertia: contacts are explicit springs of this stiffness; 0: as the solver has them
    margin = stn.number { 0.01, min = 0, unit = "m" }, -- of quasistatic steps: contacts are pairs nearer than this
    mu = 1.0,
    robot = "models/iiwa14/iiwa14.urdf",
    link = "iiwa14_link_7",               -- of the robot, which carries the gripper
    flange = 0.046,                       -- where on it: along its z [m]
  }
  for key, value in pairs(own or {}) do declared[key] = value end
  return stn.params(declared)
end

local function add_cube(world, p, i)
  local edge, look = cubes[i][1], { name = i == 1 and "red" or "cube" .. i, mass = 0.5, color = i == 1 and red or wood[i % 2 + 1] }
  look.xyz = { cubes[i][2], cubes[i][3], cubes[i][4] }
  if p.cubes == "box" then
    look.size = { edge, edge, edge }
    return world:box(look)
  end
  local inner, ball = edge - 0.001, 1e-7
  look.shapes = { { "box", size = { inner, inner, inner }, color = look.color, mass = 0.5 } }
  look.mass, look.color = nil, nil
  for corner = 0, 7 do
    local xyz = {}
    for axis = 1, 3 do xyz[axis] = ((corner >> (axis - 1)) % 2 == 0 and -1 or 1) * (0.5 * edge - ball) end
    table.insert(look.shapes, { "sphere", radius = ball, xyz = xyz, mass = 0 })
  end
  return world:compound(look)
end

-- Joint positions at every knot, found from those of the knot before.
local function find_path(s)
  local times, path, plates, seed = { 0 }, {}, { open }, {}
  local place, yaw, plate = phases[1][2], 0, open
  local function reach(at, angle)
    local turn = stn.pose { rpy = { 0, 0, angle * stn.deg } }
    local pose = stn.pose { xyz = at, axes = { x = turn:rotate { -1, 0, 0 }, z = { 0, 0, -1 } } }
    local q, why = s.arm:inverse_kinematics { link = "gripper/tool", pose = pose, seeds = { seed }, random_starts = 0 }
    seed = assert(q, why)
    return q
  end
  for j, name in ipairs(s.names) do seed[name] = ({ 0, 0.6, 0, -1.75, 0, 0.8, 0 })[j] end
  path[1] = reach(place, yaw)
  for _, phase in ipairs(phases) do
    for k = 1, knots do
      local x, at = k / knots, {}
      for i = 1, 3 do at[i] = place[i] + x * (phase[2][i] - place[i]) end
      times[#times + 1] = times[#times] + phase[1] / knots
      path[#times] = reach(at, yaw + x * (phase[3] - yaw))
      plates[#times] = plate + x * (phase[4] - plate)
    end
    place, yaw, plate = phase[2], phase[3], phase[4]
  end
  return times, path, plates
end

--- The world at rest, before it starts: { world, arm, gripper, red, cubes, ... }.
function scene.build(p)
  local still = p.integrator == "quasistatic"
  local world = stn.world {
    dt = p.dt, gravity = { 0, 0, -gravity }, solver = { p.solver, tolerance = p.tolerance },
    law = p.penalty > 0 and { "penalty", stiffness = p.penalty } or nil, stiction = p.stiction, margin = still and p.margin or nil, margin_only = still,
    integrator = still and { "quasistatic", unactuated_mass_scale = p.unactuated_mass_scale } or p.integrator,
  }
  local floor = world:ground { name = "floor" }
  local arm = world:load { p.robot, name = "arm", fixed = true }
  local fingers = {}
  for k, turn in ipairs { "0", "3.14159265358979" } do
    local name = k == 1 and "left" or "right"
    fingers[k] = finger_text:format(name, name, name, turn)
  end
  local gripper = load_text(world, ".urdf", gripper_text:format(fingers[1], fingers[2]), { name = "gripper" })
  arm:attach(gripper, p.link, { xyz = { 0, 0, p.flange } })
  local s = { world = world, arm = arm, gripper = gripper, cubes = {} }
  for i in ipairs(cubes) do s.cubes[i] = add_cube(world, p, i) end
  s.red = s.cubes[1]
  world:contact_material { mu = p.mu }
  world:disable_collisions(arm) -- a path that keeps clear; the base stands on the floor
  world:disable_collisions(arm, gripper)
  world:disable_collisions(arm, floor)

  s.names = {}
  for _, joint in ipairs(arm:joints()) do s.names[#s.names + 1] = joint.name end
  assert(#s.names == 7, "the arm must have seven joints")
  s.times, s.path, s.plates = find_path(s)
  arm:set_q(s.path[1])
  gripper:set_q { left_joint = open, right_joint = open }
  local ratio = still and 0 or p.damping_ratio
  s.drives = world:controller { "joint_impedance", target = arm, damping_ratio = ratio, effort_limits = false }
  s.drives:set { stiffness = arm_stiffness }
  s.jaws = world:controller { "joint_impedance", target = gripper, stiffness = finger_stiffness, damping_ratio = ratio, effort_limits = false }
  return s
end

-- Tells the controllers what is asked for at a time, along lines from knot to knot; `k`: a knot before it. Returns the last of these.
local function drive(s, time, k)
  while k < #s.times - 1 and time > s.times[k + 1] + 1e-9 do k = k + 1 end
  local span = s.times[k + 1] - s.times[k]
  local x = math.min(1, (time - s.times[k]) / span)
  local function between(from, to) return from + x * (to - from), (to - from) / span end
  local q, v = {}, {}
  for j, name in ipairs(s.names) do q[j], v[j] = between(s.path[k][name], s.path[k + 1][name]) end
  local plate, speed = between(s.plates[k], s.plates[k + 1])
  s.drives:set { position = q, velocity = v }
  s.jaws:set { position = { plate, plate }, velocity = { speed, speed } }
  s.plate = plate
  return k
end

--- Runs it for 20 s; `visit(step)` after every step.
function scene.run(p, s, visit)
  local k = drive(s, p.dt, 1)
  for step in s.world:run { seconds = scene.duration } do
    visit(step)
    k = drive(s, step.time + p.dt, k)
  end
end

--- Angle of a body's rotation since the start, of axis and angle [rad].
function scene.angle(body)
  return stn.pose {}:angle(body:pose())
end

--- How far forces are from balance in the last step [N]: of the red cube, its contacts against its weight; of the plates, the force of
--- their springs against what the cube presses on them.
function scene.imbalance(s)
  local on, fingers = s.world:contact_force(s.red).force, 0
  for _, name in ipairs { "left", "right" } do
    local spring = finger_stiffness * (s.gripper:joint(name .. "_joint"):position() - s.plate)
    fingers = math.max(fingers, math.abs(spring - s.world:contact_force(s.red, { s.gripper, name }).normal_force))
  end
  return math.sqrt(on[1] ^ 2 + on[2] ^ 2 + (on[3] - s.red:mass() * gravity) ^ 2), fingers
end

--- How far the red cube drifts in the grasp, and how far it should. A step knows the tangent along which the tool takes the cube; the tool
--- itself goes along an arc. What the two differ by, over all steps from `grasp` to `release`, is the drift. To be called after every step.
function scene.watch_drift(s)
  local tool, self = s.gripper:link "tool", { predicted = { 0, 0, 0 } }
  local grasp, release = phases[1][1], phases[1][1] + phases[2][1] + phases[3][1] + phases[4][1]
  local before -- the step: pose of the tool, the cube, the Jacobian
  return function(time)
    if time < grasp - 1e-9 or time > release + 1e-9 then return self end
    local pose = tool:pose()
    local cube = pose:inverse() * s.red:pose().xyz
    if before then
      local v, p, turned = s.arm:v(), before.cube, pose * before.cube_in_tool
      local off = {}
      for i = 1, 3 do
        local along = 0
        for j = 1, #v do along = along + before.jacobian[i][j] * v[j] end
        off[i] = p[i] + s.world.dt * along - turned[i]
      end
      off = pose:inverse():rotate(off)
      for i = 1, 3 do self.predicted[i] = self.predicted[i] + off[i] end
    end
    self.first, self.last = self.first or cube, cube
    before = { cube = s.red:position(), cube_in_tool = cube, jacobian = tool:jacobian(s.red:position(), s.arm) }
    return self
  end
end

--- Where the red cube stands at the end and whether anything else moved. `lower`: below the top of the stack; `beside`: beside its axis.
function scene.outcome(s)
  local pose, moved = s.red:pose(), 0
  for i = 2, #cubes do moved = math.max(moved, scene.distance(s.cubes[i]:position(), { cubes[i][2], cubes[i][3], cubes[i][4] })) end
  return {
    lower = 0.26 - pose.xyz[3], beside = math.sqrt((pose.xyz[1] - 0.70) ^ 2 + pose.xyz[2] ^ 2),
    lean = math.acos(math.min(1, pose:rotate({ 0, 0, 1 })[3])), turn = math.abs(scene.angle(s.red) - math.pi / 2), moved = moved,
  }
end

--- Is the red cube on the stack, turned by 90 degrees, and does all else stand where it stood? By sight: 3 mm, 2 cm from the stack's axis, 2 degrees.
function scene.succeeded(outcome)
  return math.abs(outcome.lower) <= 3e-3 and outcome.beside <= 0.02 and outcome.lean <= 2 * stn.deg and outcome.turn <= 2 * stn.deg and outcome.moved <= 3e-3
end

--- The same as checks, to what the method can do. Contacts of a law give way: those of a period of dt by g dt^2/(4 pi^2) under a cube of
--- their own, of quasistatic steps by as much as in 10 ms; all four contacts of the stack carry ten cubes, two cubes give way twice as
--- far as one on the floor. Corners stand in each other's boxes by half a millimetre, four times. Turning leaves the tenth part of a step's turn,
--- with inertia, whose joints still swing, of one of 10 ms.
function scene.check(s, p)
  local outcome, exact = scene.outcome(s), p.solver == "qp"
  local step = p.integrator == "quasistatic" and math.min(p.dt, 0.01) or p.dt
  local soft = exact and 1e-7 or 25 * gravity * step ^ 2 / (4 * math.pi ^ 2)
  local corners = p.cubes == "corners" and 4 * 0.5e-3 or 0 -- [m]
  stn.check("the red cube is as high as on the stack, less", { value = math.abs(outcome.lower - corners), limit = soft + corners / 4, unit = "m" })
  stn.check("the red cube leans", { value = outcome.lean, limit = (soft + corners / 2) / 0.06, unit = "rad" })
  stn.check("the red cube has turned by 90 degrees, less", { value = outcome.turn, limit = 0.1 * (math.pi / 2) / phases[3][1] * (p.integrator == "quasistatic" and p.dt or math.max(p.dt, 0.01)), unit = "rad" })
  stn.check("other cubes move", { value = outcome.moved, limit = soft + corners, unit = "m" })
  -- the path ends 1 cm before the stack's axis, with the cube 5 mm beside the path; joints that give way under it, and drift, add to that
  stn.check("the red cube is beside the stack's axis", { value = outcome.beside, limit = 0.02, unit = "m" })
end

--- A whole run in a world of its own: { t =, pose = } of the red cube at the start and after every step at which `every` seconds
--- have passed, what a step takes, and the outcome. `changes`: parameters that differ from `p`.
function scene.trace(p, changes, every)
  local own = setmetatable(changes or {}, { __index = p })
  local s = scene.build(own)
  local world <close> = s.world
  local trace = { t = { 0 }, pose = { s.red:pose() }, step_us = {}, solve_us = {}, contacts = 0, unsolved = 0, steps = 0 }
  scene.run(own, s, function(step)
    trace.steps = trace.steps + 1
    trace.step_us[trace.steps], trace.solve_us[trace.steps] = step.step_us, step.solve_us
    trace.contacts = trace.contacts + step.contact_count
    trace.unsolved = trace.unsolved + (step.converged and 0 or 1)
    if step.time > trace.t[#trace.t] + (every or 0) - 0.5 * own.dt then
      trace.t[#trace.t + 1], trace.pose[#trace.pose + 1] = step.time, s.red:pose()
    end
  end)
  trace.contacts, trace.outcome = trace.contacts / trace.steps, scene.outcome(s)
  return trace
end

--- The trace with inertia in small steps, the ground truth: from the CSV file `path` where that is one, made and written there else.
--- It takes 400,000 steps with h = 5e-5 s, about a minute; a row every millisecond.
function scene.truth(p, path, dt)
  local file = path ~= "" and io.open(path)
  if file then
    file:close()
    local trace = { t = {}, pose = {} }
    for i, row in ipairs((csv.read(path))) do
      trace.t[i] = row.t_s
      trace.pose[i] = stn.pose { xyz = { row.x_m, row.y_m, row.z_m }, quat = { row.qw, row.qx, row.qy, row.qz } }
    end
    return trace
  end
  local trace = scene.trace(p, { dt = dt, integrator = "symplectic_euler", solver = "sap", stiction = true }, 1e-3)
  assert(trace.unsolved == 0 and scene.succeeded(trace.outcome), "the ground truth fails")
  if path ~= "" then
    local out = assert(io.open(path, "w"))
    out:write "t_s,x_m,y_m,z_m,qw,qx,qy,qz\n"
    for i, pose in ipairs(trace.pose) do
      out:write(("%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n"):format(trace.t[i], pose.xyz[1], pose.xyz[2], pose.xyz[3], table.unpack(pose.quat)))
    end
    assert(out:close())
  end
  return trace
end

return scene
