-- SPDX-License-Identifier: Apache-2.0
-- Several robots in one world: names, hands on arms, values by name, iteration, what is found in files.
local stn = require "stiction"

local files <close> = require "files"()

local function write(text)
  return files:write(".urdf", text)
end

local function inertial(mass)
  local i = 0.02 * mass
  return ('<inertial><origin xyz="0.01 0.02 0.03"/><mass value="%g"/><inertia ixx="%g" iyy="%g" izz="%g" ixy="0" ixz="0" iyz="0"/></inertial>'):format(
    mass, i, 1.1 * i, 0.9 * i
  )
end

-- An arm of two joints with a flange, and a gripper whose second finger mimics the first.
local arm_links = [[
  <link name="base"/>
  <link name="upper">]] .. inertial(2) .. [[</link>
  <link name="lower">]] .. inertial(1.5) .. [[</link>
  <link name="flange"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="80" velocity="5"/><dynamics damping="0.4" friction="0.1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="end" type="fixed"><parent link="lower"/><child link="flange"/><origin xyz="0.3 0 0" rpy="0 1.2 0"/></joint>]]
local hand_links = [[
  <link name="palm">]] .. inertial(0.5) .. [[</link>
  <link name="left">]] .. inertial(0.1) .. [[</link>
  <link name="right">]] .. inertial(0.1) .. [[</link>
  <joint name="finger" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.04" effort="20" velocity="1"/></joint>
  <joint name="other" type="prismatic"><parent link="palm"/><child link="right"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.04" effort="20" velocity="1"/><mimic joint="finger" multiplier="0.5" offset="0.01"/></joint>]]
local arm_file = write('<robot name="arm">' .. arm_links .. "</robot>")
local hand_file = write('<robot name="hand">' .. hand_links .. "</robot>")
local whole_file = write('<robot name="whole">' .. arm_links .. hand_links ..
  '<joint name="mount" type="fixed"><parent link="flange"/><child link="palm"/><origin xyz="0 0.01 0.02" rpy="0 0 0.4"/></joint></robot>')
local mount = { xyz = { 0, 0.01, 0.02 }, rpy = { 0, 0, 0.4 } }

stn.test("a hand attached to an arm moves as the same robot in one file does", function()
  local world, reference = stn.world { dt = 1e-3 }, stn.world { dt = 1e-3 }
  local hand = world:load { hand_file } -- the order does not matter
  local arm = world:load { arm_file, fixed = true, joints = { shoulder = 0.3 } }
  arm:attach(hand, "flange", mount)
  local whole = reference:load { whole_file, fixed = true, joints = { shoulder = 0.3 } }
  stn.near(world.nv, 4, 0, "velocities")
  for _ in world:run { steps = 300 } do
    reference:step()
  end
  for _, name in ipairs { "shoulder", "elbow", "finger", "other" } do
    local joint = world:joint(name)
    stn.near(joint:position(), whole:joint(name):position(), 1e-12, name)
    stn.near(joint:velocity(), whole:joint(name):velocity(), 1e-12, name)
  end
  assert(math.abs(arm:joint("shoulder"):position() - 0.3) > 0.1, "it moved")
  stn.near(hand:pose().quat, whole:link("palm"):pose().quat, 1e-12, "palm")
  stn.near(hand:link("right"):position(), whole:link("right"):position(), 1e-12, "finger")
  stn.near(world:mass(), whole:mass(), 1e-14, "mass")
end)

stn.test("an attached hand hangs on the link, keeps its names and can be driven", function()
  local world = stn.world { dt = 1e-3 }
  local arm = world:load { arm_file, name = "a", fixed = true }
  local hand = world:load { hand_file, name = "h" }
  arm:attach(hand, "flange", mount)
  assert(hand:link("palm"):parent() == arm:link "flange")
  assert(hand:link("left"):parent() == hand:link "palm")
  assert(#hand:joints() == 2 and #arm:joints() == 2)
  assert(hand:joint("finger"):group() == hand)
  stn.near(hand:pose().xyz, (arm:link("flange"):pose() * mount).xyz, 1e-14, "place")
  local motor = world:controller { "joint_pd", target = hand, joints = { "finger" }, kp = 500, kd = 20 }
  motor:set { position = { finger = 0.03 } }
  for _ in world:run { seconds = 1 } do
  end
  stn.near(hand:joint("finger"):position(), 0.03, 3e-3, "finger")
  stn.fails(function()
    hand:set_pose { xyz = { 0, 0, 0 } }
  end, "hangs on the continuous joint elbow")
end)

stn.test("a single body is a tool, at the identity when no pose is given", function()
  local world = stn.world {}
  local arm = world:load { arm_file, fixed = true }
  local tool, tip = world:sphere { radius = 0.05, mass = 0.3 }, world:box { size = { 0.1, 0.1, 0.1 }, mass = 0.1 }
  arm:attach(tool, "flange")
  tool:attach(tip, tool.name, { xyz = { 0, 0, 0.1 } })
  stn.near(tool:position(), arm:link("flange"):position(), 1e-15, "tool")
  stn.near(tip:position(), tool:pose() * { 0, 0, 0.1 }, 1e-15, "tip")
  stn.near(world.body_count, 2, 0, "welded into one body")
end)

stn.test("what cannot be attached is told with the place", function()
  local function refused(text, make)
    local world = stn.world {}
    local arm = world:load { arm_file, fixed = true, name = "arm" }
    local message = stn.fails(function()
      make(world, arm)
    end, text)
    assert(message:match "robots%.lua:%d+: ", message)
    assert(not message:find "\n", message)
  end
  refused("did you mean 'flange'?", function(world, arm)
    arm:attach(world:load { hand_file }, "flnge")
  end)
  refused("group 'arm' cannot be attached to itself", function(_, arm)
    arm:attach(arm, "flange")
  end)
  refused("has a base already", function(world, arm)
    arm:attach(world:load { hand_file, base = { xyz = { 1, 0, 0 } } }, "flange")
  end)
  refused("has a base already", function(world, arm)
    arm:attach(world:box { size = { 1, 1, 1 }, xyz = { 1, 0, 0 } }, "flange")
  end)
  refused("start velocity", function(world, arm)
    arm:attach(world:box { size = { 1, 1, 1 }, velocity = { 1, 0, 0 } }, "flange")
  end)
  refused("is attached to link 'flange' of 'arm' already", function(world, arm)
    local hand = world:load { hand_file }
    arm:attach(hand, "flange")
    arm:attach(hand, "base")
  end)
  refused("different worlds", function(_, arm)
    arm:attach(stn.world {}:load { hand_file }, "flange")
  end)
  refused("the world was completed at", function(world, arm)
    local hand = world:load { hand_file }
    world:step()
    arm:attach(hand, "flange")
  end)
  refused('arm:attach(hand, "flange")', function(world, arm)
    arm:attach(world:load { hand_file })
  end)
  refused('arm:attach(hand, "flange")', function(_, arm)
    arm:attach("hand", "flange")
  end)
  refused("unknown key 'xy'", function(world, arm)
    arm:attach(world:load { hand_file }, "flange", { xy = { 0, 0, 0 } })
  end)
  refused("circle", function(world, arm)
    local hand = world:load { hand_file }
    local tool = world:sphere { radius = 0.1 }
    hand:attach(tool, "palm")
    tool:attach(hand, tool.name)
    world:step()
    assert(arm)
  end)
end)

stn.test("robots of one file have names of their own, and links and joints are found by both", function()
  local world = stn.world {}
  local left = world:load { arm_file, name = "left", fixed = true }
  local first = world:load { arm_file, fixed = true, base = { xyz = { 0, 1, 0 } } }
  local second = world:load { arm_file, fixed = true, base = { xyz = { 0, 2, 0 } } }
  world:load { hand_file }
  assert(left.name == "left" and first.name == "arm" and second.name == "arm_2")
  assert(world:group "arm_2" == second and #world:groups() == 4)
  assert(world:link "arm_2/flange" == second:link "flange" and world:link "palm".name == "palm")
  stn.fails(function()
    world:link "flange"
  end, "is in several groups, name one of them: left/flange, arm/flange, arm_2/flange")
  stn.fails(function()
    world:link "left/flnge"
  end, "did you mean 'left/flange'?")
  stn.fails(function()
    world:link "flamge"
  end, "the world has no link 'flamge', did you mean 'flange'?")
  stn.fails(function()
    world:group "arn"
  end, "did you mean 'arm'?")
  stn.fails(function()
    world:load { arm_file, name = "left" }
  end, "there is one of that name already; call it 'left_2', say")
  -- nothing above was a use of the state
  world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, on = "left/flange" }
  world:disable_collisions("left/upper", first:link "upper")
  world:joint("arm_2/elbow"):set_position(0.7)
  stn.near(second:joint("elbow"):position(), 0.7, 0, "elbow")
  stn.near(first:joint("elbow"):position() + left:joint("elbow"):position(), 0, 0, "the others")
  stn.near(world:link("arm_2/flange"):position()[2], 2, 1e-15, "place")
  stn.fails(function()
    world:joint "elbow"
  end, "left/elbow, arm/elbow, arm_2/elbow")
end)

stn.test("a body made without a name never takes that of a loaded robot", function()
  local world = stn.world {}
  world:load { hand_file, name = "sphere1" }
  assert(world:sphere({ radius = 0.1 }).name == "sphere2")
end)

stn.test("values are read and set by name, and joints that mimic follow", function()
  local world = stn.world {}
  local hand = world:load { hand_file, fixed = true, joints = { finger = 0.02 } }
  stn.near(hand:q(), { 0.02, 0.02 }, 1e-18, "at the start")
  local positions = hand:positions()
  assert(positions.finger == hand:q()[1] and positions.other == hand:q()[2])
  hand:set_q { finger = 0.03 }
  stn.near(hand:positions().other, 0.025, 1e-18, "follows")
  hand:joint("finger"):set_position(0.01)
  stn.near(hand:joint("other"):position(), 0.015, 1e-18, "follows")
  hand:set_v { finger = 0.2 }
  stn.near(hand:velocities().other, 0.1, 1e-18, "speed follows")
  hand:set_q { finger = 0.02, other = 0.001 }
  stn.near(hand:q(), { 0.02, 0.001 }, 0, "both as told")
  local mimic = hand:joint("other"):mimic()
  assert(mimic.joint == hand:joint "finger" and mimic.multiplier == 0.5 and mimic.offset == 0.01)
  assert(hand:joint("finger"):mimic() == nil)
  hand:set_q(positions)
  stn.near(hand:q(), { 0.02, 0.02 }, 1e-18, "what was read can be set")
  stn.fails(function()
    hand:set_q { finger = 0.03, thumb = 1 }
  end, "group 'hand' (moving joints) has no 'thumb'; it has: finger, other")
  stn.fails(function()
    hand:set_q { finger = "open" }
  end, "set_q: finger must be a number [m]")
  stn.near(hand:q(), { 0.02, 0.02 }, 1e-18, "nothing was set")
end)

stn.test("joints tell limits, dynamics, axis and what they join", function()
  local world = stn.world {}
  local arm = world:load { arm_file, fixed = true }
  local shoulder, elbow = arm:joint "shoulder", arm:joint "elbow"
  assert(shoulder:limits().effort == 80 and elbow:limits().upper == math.huge)
  assert(shoulder:limits().acceleration == math.huge)
  assert(shoulder:dynamics().damping == 0.4 and shoulder:dynamics().friction == 0.1)
  stn.near(shoulder:axis(), { 0, 1, 0 }, 0, "axis")
  assert(shoulder:parent() == arm:link "base" and shoulder:child() == arm:link "upper")
  assert(elbow:parent() == arm:link "upper" and elbow:child() == arm:link "lower")
  assert(arm:link("upper"):joint() == shoulder and arm:link("flange"):joint() == nil)
  assert(arm:link("flange"):parent() == arm:link "lower" and arm:link("base"):parent() == nil)
  assert(arm:link("flange"):group() == arm and shoulder ~= elbow)
  stn.near(arm:link("upper"):mass(), 2, 0, "mass")
  shoulder:set_effort(3)
  stn.near(shoulder:effort(), 3, 0, "effort")
  stn.fails(function()
    arm:joint "end"
  end, "joint 'end' is fixed")
end)

stn.test("links and joints are walked in the file's order", function()
  local world, names = stn.world {}, {}
  local arm = world:load { arm_file }
  for _, link in ipairs(arm:links()) do
    names[#names + 1] = link.name
  end
  assert(table.concat(names, " ") == "base upper lower flange", table.concat(names, " "))
  names = {}
  for _, joint in ipairs(arm:joints()) do
    names[#names + 1] = joint.name .. " " .. joint.type
    stn.near(type(joint:position()) == "number" and 1 or #joint:position(), joint.type == "floating" and 7 or 1, 0, "size")
  end
  assert(table.concat(names, ", ") == "base_floating floating, shoulder revolute, elbow continuous", table.concat(names, ", "))
  -- from a link up to its root
  local up, at = {}, arm:link "flange"
  while at do
    up[#up + 1] = at.name
    at = at:parent()
  end
  assert(table.concat(up, " ") == "flange lower upper base")
end)

stn.test("several floating bases fall each from its own place", function()
  local world = stn.world { dt = 1e-3 }
  local robots = {}
  for i = 1, 3 do
    robots[i] = world:load { arm_file, base = { xyz = { i, 0, 5 }, rpy = { 0, 0, 0.1 * i } } }
  end
  local start = {}
  for i, robot in ipairs(robots) do
    start[i] = robot:pose()
    stn.near(robot:position(), { i, 0, 5 }, 1e-15, "start")
    stn.near(robot:joint("base_floating"):position(), { i, 0, 5, math.cos(0.05 * i), 0, 0, math.sin(0.05 * i) }, 1e-15, "coordinates")
  end
  robots[2]:set_velocity { linear = { 0, 0, 2 } }
  for _ in world:run { seconds = 0.1 } do
  end
  -- symplectic Euler: sum of g dt^2 k; the first and third fall alike, the second is 0.2 m higher
  local fall = -9.81 * 1e-6 * 100 * 101 / 2
  for i, robot in ipairs(robots) do
    stn.near(robot:position()[3], 5 + fall + (i == 2 and 0.2 or 0), 1e-9, "height")
    stn.near(robot:pose().quat, start[i].quat, 1e-9, "rotation")
  end
end)

stn.test("a planar joint has two distances and an angle", function()
  local path = write('<robot name="puck"><link name="world"/><link name="puck">' .. inertial(1) .. [[</link>
    <joint name="table" type="planar"><parent link="world"/><child link="puck"/><axis xyz="0 0 1"/></joint></robot>]])
  local world = stn.world {}
  local puck = world:load { path, joints = { table = { 0.1, 0.2, 0.3 } } }
  local joint = puck:joint "table"
  assert(joint.type == "planar")
  stn.near(joint:position(), { 0.1, 0.2, 0.3 }, 0, "position")
  stn.near(puck:link("puck"):pose().xyz, { 0.1, 0.2, 0 }, 1e-15, "place")
  stn.near(puck:link("puck"):pose().quat, { math.cos(0.15), 0, 0, math.sin(0.15) }, 1e-15, "rotation")
  joint:set_velocity { 1, 2, 3 }
  stn.near(puck:link("puck"):velocity().linear, { 1, 2, 0 }, 1e-15, "velocity")
  stn.near(puck:link("puck"):velocity().angular, { 0, 0, 3 }, 1e-15, "angular velocity")
  stn.near(puck:positions().table, { 0.1, 0.2, 0.3 }, 0, "by name")
  joint:set_effort { 4, 5, 6 }
  stn.near(joint:effort(), { 4, 5, 6 }, 0, "effort")
  stn.fails(function()
    joint:set_position(1)
  end, "must be a list of 3 numbers [m, rad]")
  stn.fails(function()
    puck:set_q { table = { 1, 2 } }
  end, "set_q: table has 2 numbers, it needs 3")
end)

stn.test("ball and screw joints have a quaternion and an angle", function()
  local path = write('<robot name="r"><link name="base"/><link name="ball">' .. inertial(1) .. '</link><link name="nut">' .. inertial(1) .. [[</link>
    <drake:joint name="socket" type="ball"><parent link="base"/><child link="ball"/></drake:joint>
    <drake:joint name="thread" type="screw"><parent link="base"/><child link="nut"/><axis xyz="0 0 1"/>
      <drake:screw_thread_pitch value="0.02"/></drake:joint></robot>]])
  local world = stn.world {}
  local robot = world:load { path, fixed = true, joints = { socket = { 2, 0, 0, 2 } } }
  local socket, thread = robot:joint "socket", robot:joint "thread"
  assert(socket.type == "ball" and thread.type == "screw")
  local half = math.sqrt(0.5)
  stn.near(socket:position(), { half, 0, 0, half }, 1e-15, "of unit length")
  stn.near(robot:link("ball"):pose().quat, { half, 0, 0, half }, 1e-15, "rotation")
  socket:set_velocity { 1, 2, 3 }
  stn.near(robot:link("ball"):velocity().angular, { 1, 2, 3 }, 1e-15, "angular velocity")
  thread:set_position(math.pi)
  stn.near(robot:link("nut"):position(), { 0, 0, 0.01 }, 1e-15, "half a turn")
  stn.near(#robot:q(), 5, 0, "coordinates")
  stn.near(#robot:v(), 4, 0, "velocities")
  robot:set_q(robot:positions())
  robot:set_v(robot:velocities())
  stn.near(robot:v(), { 1, 2, 3, 0 }, 1e-15, "as before")
  stn.fails(function()
    socket:set_position { 1, 0, 0 }
  end, "set_position has 3 numbers, it needs 4")
end)

stn.test("what a loader finds is data", function()
  local path = write('<robot name="r">\n<link name="a">' .. inertial(1) .. '</link>\n<link name="b">' .. inertial(1) .. [[</link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>]])
  local world = stn.world {}
  local robot = world:load { path }
  local findings = robot:diagnostics()
  assert(#findings == 1)
  local first = findings[1]
  assert(first.severity == "warning" and first.file == path and first.line == 4, first.file .. ":" .. first.line)
  assert(first.where == "joint j" and #first.code > 0 and first.text:find "unlimited", first.text)
  first.text = "changed"
  assert(robot:diagnostics()[1].text ~= "changed", "every call gives a list of its own")
  world:step()
  assert(#world:clone():group("r"):diagnostics() == #findings)
  assert(#stn.world {}:sphere({ radius = 1 }):diagnostics() == 0)
end)

stn.test("a file is checked without a world, and a bad one is no error", function()
  local function check(file)
    local findings = stn.check_robot(file)
    for _, finding in ipairs(findings) do
      if finding.severity == "error" then
        return finding
      end
    end
    return nil, #findings
  end
  local none, count = check "models/iiwa14/iiwa14.urdf"
  assert(none == nil and count == 0)
  local missing = check "no/such/robot.urdf"
  assert(missing.code == "file" and missing.file == "no/such/robot.urdf" and missing.text:find "tried")
  local cut = check { write '<robot name="r"><link name="a">', packages = { "/tmp" } }
  assert(cut.line == 1 and #cut.text > 0)
  local empty = check(write '<robot name="r"></robot>')
  assert(empty.text:find "no <link>", empty.text)
  local roots = check(write '<robot name="r"><link name="a"/><link name="b"/></robot>')
  assert(roots.text:find "'?a'?, '?b'?", roots.text)
  local other = check(write "not a robot")
  assert(#other.text > 0)
  stn.fails(function()
    stn.check_robot {}
  end, "stn.check_robot: the first entry must be a file's name")
  stn.fails(function()
    stn.check_robot { "a.urdf", package = {} }
  end, "did you mean 'packages'?")
end)

stn.test("a loader is chosen with its parameters", function()
  local path = write [[<robot name="r"><link name="a"/><link name="b"/>
    <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="1" upper="-1" effort="1" velocity="1"/></joint></robot>]]
  stn.fails(function()
    stn.world {}:load { path }
  end, "above the upper limit")
  local arm = stn.world {}:load { path, loader = { "urdf", bullet_limits = true } }
  assert(#arm:diagnostics() > 0)
  assert(#stn.check_robot { path, loader = { bullet_limits = true } } == 2)
  stn.fails(function()
    stn.world {}:load { path, loader = { bullet_limit = true } }
  end, "did you mean bullet_limits?")
  stn.fails(function()
    stn.world {}:load { path, loader = "urd" }
  end, "urd")
end)

stn.test("a robot is loaded heavier or lighter than its file says", function()
  local function load(file, factor)
    return stn.world {}:load { file, mass_factor = factor }
  end
  local lid, heavy = load "models/vessels/lid.urdf", load("models/vessels/lid.urdf", 1.25)
  local rows = heavy:mass_matrix()
  for i, row in ipairs(lid:mass_matrix()) do
    for j, m in ipairs(row) do stn.near(rows[i][j], 1.25 * m, 1e-15, "mass matrix") end
  end
  stn.near(load("models/iiwa14/iiwa14.urdf", 0.8):mass(), 0.8 * 29.9, 1e-6, "mass of the arm [kg]")
  stn.fails(function() load("models/vessels/lid.urdf", 0) end, "mass_factor = 0 must be > 0")
end)

stn.test("a robot without links is refused where it is loaded", function()
  local path = write '<robot name="r"></robot>'
  stn.fails(function()
    stn.world {}:load { path }
  end, "no <link>")
end)

stn.test("a robot is saved in every format and loads as the same robot", function()
  local file = write('<robot name="arm">' .. arm_links .. "</robot>")
  for _, format in ipairs { "urdf", "sdf", "mjcf" } do
    local world = stn.world {}
    local arm = world:load { file, fixed = true }
    local path = files:path(format == "mjcf" and ".xml" or "." .. format)
    local lost = arm:save(path, { name = "copy" })
    assert(#lost <= 1 and (#lost == 0 or lost[1].severity == "warning"), format)
    local other = stn.world {}
    local copy = other:load { path, fixed = true }
    assert(copy.name == "copy" and math.abs(copy:mass() - arm:mass()) < 1e-12)
    arm:set_q { shoulder = 0.4, elbow = -0.7 }
    copy:set_q { shoulder = 0.4, elbow = -0.7 }
    local a, b = arm:link("flange"):position(), copy:link("flange"):position()
    for k = 1, 3 do
      assert(math.abs(a[k] - b[k]) < 1e-12, format)
    end
  end
end)

stn.test("what cannot be saved is one line", function()
  local world = stn.world {}
  local arm = world:load { write('<robot name="arm">' .. arm_links .. "</robot>"), fixed = true }
  local function refused(part, ...)
    local good, message = pcall(arm.save, arm, ...)
    assert(not good and message:find(part, 1, true) and not message:find "\n", message)
  end
  refused("group:save takes a file's name")
  refused("group:save takes a file's name", {})
  refused("no format is known by the extension 'what'", "arm.what")
  refused("nothing", "arm.urdf", { format = "nothing" })
  refused("colour", "arm.urdf", { colour = 1 })
  refused("No such file", "/nonexistent/arm.urdf")
  refused("must not be empty", "arm.urdf", { name = "" })
end)

stn.test("a controller takes the joints of one of several equal robots", function()
  local world = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
  local robots = {}
  for i = 1, 2 do
    robots[i] = world:load { arm_file, fixed = true, base = { xyz = { 0, i, 0 } } }
  end
  local motor = world:controller { "joint_pd", target = robots[2], kp = 200, kd = 30 }
  motor:set { position = { shoulder = 0.5 } }
  for _ in world:run { seconds = 3 } do
  end
  stn.near(robots[1]:q(), { 0, 0 }, 0, "the first one rests")
  stn.near(robots[2]:joint("shoulder"):position(), 0.5, 5e-3, "the second one moves") -- dry friction of 0.1 N m
  stn.fails(function()
    motor:set { position = { sholder = 1 } }
  end, "did you mean 'shoulder'?")
end)
