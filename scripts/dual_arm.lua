-- SPDX-License-Identifier: Apache-2.0
-- Two arms with hands open a jar, pour 16 marbles into a bowl, close the lid and put the jar back: the dual-arm study of the
-- SAP paper (section VI-E) with our own robots, told as a task. What the hands do is relative to where the world says that jar,
-- lid and bowl are, which stands in for cameras; whether they hold something, and whether the jar stands on the table, they feel.
local stn = require "stiction"
local scene = require "dual_arm.scene"
local robot = require "dual_arm.robot"

local p = stn.params {
  mu = 0.8,           -- of all surfaces, when nothing is perturbed
  arm_kp = 4000.0,    -- [N m/rad]
  arm_kd = 400.0,     -- [N m s/rad]
  hand_kp = 3.0,      -- [N m/rad]
  hand_kd = 0.1,      -- [N m s/rad]
  tolerance = 1e-3,   -- of the solver
  dt = 0.005,         -- [s]
  give_up_s = 60.0,   -- [s]
  perturb = stn.choice { "nothing", "everything", "poses", "friction", "masses" },
  seed = 1,           -- of what is perturbed
}

local yaw = 0.45 -- of the lid's handle on the jar: the right hand comes from the right [rad]
local seat = stn.pose { xyz = { 0, 0, scene.lid_seat }, rpy = { 0, 0, yaw } }
local drawn = require("dual_arm.perturbation").draw(p.seed, p.perturb, p.mu)
local s = scene.build {
  world = { dt = p.dt, contact = "hydroelastic_with_fallback", solver = { "sap", tolerance = p.tolerance } },
  jar = drawn.jar, bowl = drawn.bowl, mu = drawn.mu, mass = drawn.mass, lid = seat,
  arm = { kp = p.arm_kp, kd = p.arm_kd, gravity_compensation = true },
  hand = { kp = p.hand_kp, kd = p.hand_kd, gravity_compensation = true },
}
local world, jar, lid, bowl = s.world, s.jar, s.lid, s.bowl
local left, right = robot.new(s.left), robot.new(s.right)
local home = jar:pose()

local function say(format, ...) print(("t = %5.2f s  "):format(world.time) .. format:format(...)) end

-- ------------------------------------------------------------------------------------------- postures of the hands [rad]

local wrap_open = robot.posture({ 0, 0, 0, 0 }, { 1.2, 0.3, 0, 0 })
local wrap = robot.posture({ 0, 1.2, 1.0, 0.8 }, { 1.2, 0.3, 0.6, 0.6 })
local pinch_open = robot.posture({ 0, 0.50, 0.60, 0.75 }, { 1.396, 0, 0.20, 1.30 })
local pinch = robot.posture({ 0, 0.70, 1.30, 0.45 }, { 1.396, 0, 0.85, 0.85 })

-- ------------------------------------------------------------------------------------------------ keyframes of the hands

local function above(pose, height) return stn.pose { xyz = { 0, 0, height } } * pose end

-- Fingers forward, palm to the right, thumb above: around a jar at this place.
local function around_jar(at)
  return above(stn.pose { xyz = at }, 0.085) * stn.pose { axes = { y = { 0, 0, -1 }, x = { 0, -1, 0 } } } * stn.pose { xyz = { -0.053, 0, -0.078 } }
end

-- Palm down, the lid's handle between the fingertips and the thumb.
local function over_handle(lid_pose)
  return lid_pose * stn.pose { xyz = { 0, 0, 0.040 } } * stn.pose { axes = { x = { 0, 0, -1 }, z = { 1, 0, 0 } } } * stn.pose { xyz = { -0.09, -0.02, -0.12 } }
end

-- The jar's mouth over the bowl; the jar leans to the right by `angle`.
local function over_bowl(height, angle)
  return stn.pose { xyz = bowl:pose() * { 0, 0, height }, rpy = { angle, 0, 0 } } * stn.pose { xyz = { 0, 0.02 * math.cos(angle), 0 } }
end

-- The lid so far above its seat on the jar.
local function over_seat(height) return jar:pose() * above(seat, height) end

-- ------------------------------------------------------------------------------------------------------------ the story

local function grasp_jar()
  local grasp = around_jar(jar:position())
  left:shape(wrap_open, 0.3)
  left:slide(grasp * stn.pose { xyz = { -0.03, 0, -0.10 } })
  left:slide(grasp * stn.pose { xyz = { -0.03, 0, 0 } }, { speed = 0.2 })
  left:slide(grasp, { speed = 0.1 })
  left:shape(wrap, 0.8)
  stn.wait(0.2)
  say("the left hand presses on the jar with %.0f N", left:grip(jar))
  assert(left:grip(jar) > 10, "the left hand does not hold the jar")
end

local function grasp_lid()
  local grasp = over_handle(lid:pose())
  right:shape(pinch_open, 0.5)
  right:slide(above(grasp, 0.12))
  right:slide(grasp, { speed = 0.15 })
  right:shape(pinch, 0.8)
  stn.wait(0.2)
  say("the right hand presses on the lid with %.0f N", right:grip(lid))
  assert(right:grip(lid) > 4, "the right hand does not hold the lid")
end

local lid_off = false

local function open_jar()
  grasp_jar()
  grasp_lid()
  local pull, most = right:lift_force(), 0
  right:slide(above(right.commanded, 0.10), { speed = 0.1, stop = function() most = math.max(most, right:lift_force() - pull) end })
  assert(world:held(right.hand, lid))
  lid_off = not world:in_contact(lid, jar)
  say("the lid came off at %.1f N", most)
  right:slide(stn.pose { xyz = { 0.02, -0.15, 0.08 } } * right.commanded)
end

local function is_in_bowl(marble)
  local x = bowl:pose():inverse() * marble:position()
  return x[1] ^ 2 + x[2] ^ 2 < scene.bowl_radius ^ 2 and x[3] > 0 and x[3] < scene.bowl_height
end

local function marbles_in_bowl()
  local count = 0
  for _, marble in ipairs(s.marbles) do count = count + (is_in_bowl(marble) and 1 or 0) end
  return count
end

local function pour()
  left:slide(above(left.commanded, 0.15), { speed = 0.2 })
  assert(left:grip(jar) > 10 and not world:in_contact(jar, s.table), "the left hand lost the jar")
  local mouth = left:tool(jar) * stn.pose { xyz = { 0, 0, scene.jar_height } }
  left:slide(over_bowl(0.32, 0), { tool = mouth })
  left:slide(over_bowl(0.17, 125 * stn.deg), { tool = mouth, turn = 1.0 })
  stn.wait_until(function() return marbles_in_bowl() == #s.marbles end, 2)
  say("%d marbles are in the bowl", marbles_in_bowl())
  left:slide(over_bowl(0.32, 0), { tool = mouth })
end

local function close_jar()
  left:slide(above(home, 0.10), { tool = left:tool(jar) })
  right:slide(over_seat(0.10), { tool = right:tool(lid) })
  right:slide(over_seat(0.02), { tool = right:tool(lid), speed = 0.15 })
  local free = right:lift_force()
  local function pressure() return free - right:lift_force() end
  right:slide(over_seat(-0.015), { tool = right:tool(lid), speed = 0.03, stop = function() return pressure() > 15 end })
  say("the lid is pressed on with %.1f N", pressure())
  right:shape(pinch_open, 0.5)
  right:slide(above(right.commanded, 0.12))
end

local function put_back()
  local free = left:lift_force()
  local function support() return free - left:lift_force() end
  local touched = left:slide(above(home, -0.03), { tool = left:tool(jar), speed = 0.08, stop = function() return support() > 4 end })
  assert(touched, "the jar never touched the table")
  say("the jar touches the table: %.1f N less on the wrist", support())
  left:shape(wrap_open, 0.8)
  left:shift { -0.03, 0, 0 }
  left:shift { 0, 0, -0.10 }
  stn.wait(0.5)
end

-- --------------------------------------------------------------------------------------------------------------- the run

local figures = require("dual_arm.figures").new(world)

local story = world:task("story", function()
  for _, stage in ipairs { { "open the jar", open_jar }, { "pour", pour }, { "close the jar", close_jar }, { "put it back", put_back } } do
    say("%s", stage[1]:upper())
    figures:begin(stage[1])
    stage[2]()
  end
end)

local told, why = pcall(function()
  for step in world:run { seconds = p.give_up_s } do
    figures:add(step)
    if story:done() then break end
  end
end)
if not told then say("%s", why) end
figures:report()

local offset = jar:pose():relative(lid:pose()):relative(seat)
local upright, away = math.acos(math.min(1, jar:pose():rotate({ 0, 0, 1 })[3])), jar:pose():distance(home)
stn.check("the story was told to its end", told and story:done())
stn.check("the lid was off", lid_off)
stn.check("marbles in the bowl", { value = marbles_in_bowl(), least = 14, unit = "marbles" })
stn.check("the lid is back: away from its seat", { value = math.sqrt(offset.xyz[1] ^ 2 + offset.xyz[2] ^ 2 + offset.xyz[3] ^ 2), limit = 3e-3, unit = "m" })
stn.check("the jar stands upright", { value = upright, limit = 1 * stn.deg, unit = "rad" })
stn.check("the jar is in its place", { value = away, limit = 0.01, unit = "m" })
stn.check("the hands have let go", not world:in_contact(left.hand, jar) and not world:in_contact(right.hand, lid))
