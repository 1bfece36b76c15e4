-- SPDX-License-Identifier: Apache-2.0
-- The story of dual_arm.lua in four stages. Where the hands go follows from where the world says that jar, lid and bowl are,
-- which stands in for cameras; whether they hold something, and whether the jar stands on the table, they feel.
local stn = require "stiction"
local worse = require "worse"
local scene = require "dual_arm.scene"
local robot = require "dual_arm.robot"
local figures = require "dual_arm.figures"
local perturbation = require "dual_arm.perturbation"

local story = {}
story.__index = story

--- Of the lid on the jar; its handle points so that the right hand comes from the right.
local SEAT = stn.pose { xyz = { 0, 0, scene.lid_seat }, rpy = { 0, 0, 0.45 } }

-- Postures of the hands [rad].
local WRAP_OPEN = robot.posture({ 0, 0, 0, 0 }, { 1.2, 0.3, 0, 0 })
local WRAP = robot.posture({ 0, 1.2, 1.0, 0.8 }, { 1.2, 0.3, 0.6, 0.6 })
local PINCH_OPEN = robot.posture({ 0, 0.45, 1.01, 0.38 }, { 1.396, 0.2, -0.02, 1.60 })
local FLAT = robot.posture({ 0, 0, 0, 0 }, { 0.263, 0, 0, 0 })
local PINCH_TOUCH = robot.posture({ 0, 0.49, 1.16, 0.38 }, { 1.396, 0.2, 0.34, 1.05 })
local PINCH = robot.posture({ 0, 0.69, 1.31, 0.45 }, { 1.396, 0.2, 0.64, 1.08 })

--- What a story is told with, unless a script says otherwise.
story.defaults = {
  mu = 0.8,           -- of all surfaces, when nothing is perturbed
  arm_kp = 4000.0,    -- [N m/rad]
  arm_kd = 400.0,     -- [N m s/rad]
  hand_kp = 3.0,      -- [N m/rad]
  hand_kd = 0.1,      -- [N m s/rad]
  solver = "sap", law = "sap", -- "none" for solvers that use none
  tolerance = 1e-3,   -- of the solver
  dt = 0.005,         -- [s]
  perturb = "nothing", -- or "everything", "poses", "friction", "masses"
  seed = 1,           -- of what is perturbed
  bowl_x = 0.0, bowl_y = 0.0, -- where the bowl stands beside its place [m]
  marbles = scene.marble_count,
  fingertips = "rigid", -- or "fem": caps of tetrahedra, of this material
  pad_young = 5e5, pad_poisson = 0.4, pad_damping = 0.005, pad_cells = { 4, 4, 2 }, -- [Pa], 1, [s]
  sight_error = 0.0,  -- of where things are seen, each time and in each direction [m]; ten times that [rad/m] of how they are turned
}

--- Builds the scene with what `settings` says in place of the defaults; `say` is told what happens.
function story.new(settings, say)
  local p = setmetatable(settings, { __index = story.defaults })
  local drawn = perturbation.draw(p.seed, p.perturb, p.mu)
  drawn.bowl.xyz[1], drawn.bowl.xyz[2] = drawn.bowl.xyz[1] + p.bowl_x, drawn.bowl.xyz[2] + p.bowl_y
  local things = scene.build {
    world = { dt = p.dt, seed = p.seed, contact = "hydroelastic_with_fallback", solver = { p.solver, tolerance = p.tolerance }, law = p.law ~= "none" and p.law or nil },
    jar = drawn.jar, bowl = drawn.bowl, marbles = p.marbles, mu = drawn.mu, mass = drawn.mass, lid = SEAT,
    arm = { kp = p.arm_kp, kd = p.arm_kd, gravity_compensation = true },
    hand = { kp = p.hand_kp, kd = p.hand_kd, gravity_compensation = true },
    pads = p.fingertips == "fem" and { young = p.pad_young, poisson = p.pad_poisson, damping = p.pad_damping, cells = p.pad_cells } or nil,
  }
  local self = setmetatable(things, story)
  self.left, self.right = robot.new(self.left), robot.new(self.right)
  self.sight_error = p.sight_error
  self.heap = scene.heap(p.marbles)
  self.start, self.home = self.jar:pose(), self:see(self.jar) -- where the jar stood, and where it is thought to have stood
  self.figures = figures.new(self.world)
  self:show "open the jar"
  self.say = function(format, ...) say(("t = %5.2f s  "):format(self.world.time) .. format:format(...)) end
  return self
end

--- Where a thing is, as a camera would tell.
function story:see(thing)
  local e, world = self.sight_error, self.world
  if e == 0 then return thing:pose() end
  local function error(size) return { world:random(-size, size), world:random(-size, size), world:random(-size, size) } end
  return thing:pose() * stn.pose { xyz = error(e), rotation_vector = error(10 * e) }
end

-- ----------------------------------------------------------------------------------------------------------- keyframes

local function above(pose, height) return stn.pose { xyz = { 0, 0, height } } * pose end

--- The left hand, fingers forward, palm to the right, thumb above: around a jar at this place.
local function around_jar(at)
  return above(stn.pose { xyz = at }, 0.085) * stn.pose { axes = { y = { 0, 0, -1 }, x = { 0, -1, 0 } } } * stn.pose { xyz = { -0.053, 0, -0.078 } }
end

--- The right hand, palm down, the lid's handle between fingertips and thumb.
local function over_handle(lid_pose)
  return lid_pose * stn.pose { xyz = { 0, 0, 0.040 } } * stn.pose { axes = { x = { 0, 0, -1 }, z = { 1, 0, 0 } } } * stn.pose { xyz = { -0.088, -0.0235, -0.112 } }
end

--- The right hand, its palm on top of the lid's handle.
local function on_handle(lid_pose)
  return lid_pose * stn.pose { xyz = { 0, 0, 0.057 } } * stn.pose { axes = { x = { 0, 0, -1 }, z = { 1, 0, 0 } } } * stn.pose { xyz = { -0.01, 0, -0.05 } }
end

--- The jar's mouth over the bowl at a pose; the jar leans to the right by `angle`.
local function over_bowl(bowl, height, angle)
  return stn.pose { xyz = bowl * { 0, 0, height }, rpy = { angle, 0, 0 } } * stn.pose { xyz = { 0, 0.02 * math.cos(angle), 0 } }
end

--- The lid so far above its seat on the jar.
function story:over_seat(height) return self:see(self.jar) * above(SEAT, height) end

-- ---------------------------------------------------------------------------------------------------------- the stages

function story:grasp_jar()
  local left, grasp = self.left, around_jar(self:see(self.jar).xyz)
  left:shape(WRAP_OPEN, 0.3)
  left:slide(grasp * stn.pose { xyz = { -0.03, 0, -0.10 } })
  left:slide(grasp * stn.pose { xyz = { -0.03, 0, 0 } }, { speed = 0.2 })
  left:slide(grasp, { speed = 0.1 })
  left:shape(WRAP, 0.8)
  stn.wait(0.2)
  self.say("the left hand squeezes the jar with %.0f N", left:grip(self.jar))
  assert(left:grip(self.jar) > 10, "the left hand does not hold the jar")
end

function story:come_over_lid()
  self.right:shape(PINCH_OPEN, 0.5)
  self.right:slide(above(over_handle(self:see(self.lid)), 0.12))
end

function story:grasp_lid()
  local right = self.right
  right:slide(over_handle(self:see(self.lid)), { speed = 0.15 })
  right:shape(PINCH_TOUCH, 0.5)
  right:shape(PINCH, 0.5)
  stn.wait(0.2)
  self.say("the right hand squeezes the lid with %.0f N", right:grip(self.lid))
  assert(right:grip(self.lid) > 4, "the right hand does not hold the lid")
end

function story:open_jar()
  stn.parallel(function() self:grasp_jar() end, function() self:come_over_lid() end)
  self:grasp_lid()
  local right, most = self.right, 0
  local before = right:lift_force()
  right:slide(above(right.commanded, 0.10), { speed = 0.1, stop = function() most = worse(most, right:lift_force() - before) end })
  assert(self.world:held(right.hand, self.lid))
  self.lid_was_off = not self.world:in_contact(self.lid, self.jar)
  self.say("the lid came off at %.1f N", most)
end

function story:marbles_in_bowl()
  local into, count = self.bowl:pose():inverse(), 0
  for _, marble in ipairs(self.marbles) do
    local x = into * marble:position()
    if x[1] ^ 2 + x[2] ^ 2 < scene.bowl_radius ^ 2 and x[3] > 0 and x[3] < scene.bowl_height then count = count + 1 end
  end
  return count
end

--- The frame at the mouth of a jar at a pose, as the left hand holds it.
function story:mouth(jar) return self.left:tool(jar) * stn.pose { xyz = { 0, 0, scene.jar_height } } end

--- Could the left hand pour into the bowl where it stands, whatever millimetres sight is off? Asked while the jar stands on the table. Else nil
--- and why not.
function story:can_pour()
  local left, mouth, at = self.left, self:mouth(self.jar:pose()), self.bowl:pose()
  local bowl = at.xyz
  local well, k, why = left:reaches {
    { above(left.commanded, 0.15) }, { over_bowl(at, 0.32, 0), tool = mouth }, { over_bowl(at, 0.17, 125 * stn.deg), tool = mouth },
  }
  if well then return true end
  local place = ({ "above the table", "above the bowl", "tipped over the bowl" })[k]
  return nil, ("out of reach: the bowl stands at (%.2f, %.2f) m, %.0f cm beside its place, and the left hand cannot hold the jar %s: %s")
    :format(bowl[1], bowl[2], 100 * math.sqrt((bowl[1] - scene.bowl[1]) ^ 2 + (bowl[2] - scene.bowl[2]) ^ 2), place, why)
end

function story:tip_over_bowl()
  local left, jar = self.left, self.jar
  left:slide(above(left.commanded, 0.15))
  assert(left:grip(jar) > 10 and not self.world:in_contact(jar, self.table), "the left hand lost the jar")
  local mouth = { tool = self:mouth(self:see(jar)) }
  left:slide(over_bowl(self:see(self.bowl), 0.32, 0), mouth)
  left:slide(over_bowl(self:see(self.bowl), 0.17, 125 * stn.deg), mouth)
  stn.wait_until(function() return self:marbles_in_bowl() == #self.marbles end, 2)
  self.say("%d marbles are in the bowl", self:marbles_in_bowl())
  left:slide(over_bowl(self:see(self.bowl), 0.32, 0), mouth)
end

--- Nothing is poured into a bowl that is out of reach: the jar is closed and put back as it was.
function story:pour()
  local right, can, why = self.right, self:can_pour()
  if not can then
    self.gave_up = why
    self.say("%s", why)
    return
  end
  stn.parallel(function() right:slide(stn.pose { xyz = { 0.02, -0.15, 0.08 } } * right.commanded) end, function() self:tip_over_bowl() end)
end

--- Presses down from where the hand is, until it feels the force [N].
local function press(hand, goal, force, tool)
  local free = hand:lift_force()
  local felt = function() return free - hand:lift_force() end
  hand:slide(goal, { tool = tool, speed = 0.03, stop = function() return felt() > force end })
  return felt()
end

function story:put_lid_on()
  local right, lid = self.right, self.lid
  right:slide(self:over_seat(0.10), { tool = right:tool(self:see(lid)) })
  right:slide(self:over_seat(0.02), { tool = right:tool(self:see(lid)), speed = 0.15 })
  self.say("the lid is put on with %.1f N", press(right, self:over_seat(-0.015), 10, right:tool(self:see(lid))))
  right:shape(PINCH_OPEN, 0.5)
  right:slide(above(right.commanded, 0.08))
end

--- The lid hung between two fingertips and a thumb: it leans. The flat hand, level with the jar, drives it home.
function story:press_lid_home()
  local right = self.right
  right:shape(FLAT, 0.4)
  right:slide(on_handle(self:over_seat(0.02)))
  self.say("the flat hand presses the lid home with %.1f N", press(right, on_handle(self:over_seat(-0.01)), 30))
  right:slide(above(right.commanded, 0.10))
end

--- Does the lid look as if it sat, in the mean of nine looks? Where it jams it stands out by 5 mm and more.
function story:lid_is_on()
  local sum = 0
  for _ = 1, 9 do sum = sum + self:see(self.jar):relative(self:see(self.lid)).xyz[3] end
  return math.abs(sum / 9 - SEAT.xyz[3]) < 3e-3
end

function story:close_jar()
  self.left:slide(above(self.home, 0.10), { tool = self.left:tool(self:see(self.jar)) })
  for _ = 1, 3 do
    self:put_lid_on()
    self:press_lid_home()
    if self:lid_is_on() then return end
    self.say "the lid is not home: once more"
    self:come_over_lid()
    self:grasp_lid()
  end
  error "the lid does not go on"
end

function story:put_back()
  local left = self.left
  local free = left:lift_force()
  local function support() return free - left:lift_force() end
  local touched = left:slide(above(self.home, -0.03), { tool = left:tool(self:see(self.jar)), speed = 0.08, stop = function() return support() > 4 end })
  assert(touched, "the jar never touched the table")
  self.say("the jar touches the table: the wrist carries %.1f N less", support())
  left:shape(WRAP_OPEN, 0.8)
  left:shift { -0.03, 0, 0 }
  left:shift { 0, 0, -0.10 }
  stn.wait(0.5)
end

-- -------------------------------------------------------------------------------------------------------- telling it

-- Where the camera stands in each stage [deg]: before the palm of the left hand, so that jar and marbles are seen.
local AZIMUTH = { ["open the jar"] = -82, pour = -100, ["close the jar"] = -88, ["put it back"] = -78 }

--- For whoever watches: what happens now; jar, lid, bowl and the right hand stay in the picture.
function story:show(stage)
  self.world:caption(stage)
  self.world:camera { follow = { self.jar, self.lid, self.bowl, self.right.hand }, azimuth = AZIMUTH[stage], elevation = 24,
                      seconds = self.world.time > 0 and 2 or 0, smoothing = 0.5 }
end

local STAGES = { { "open the jar", story.open_jar }, { "pour", story.pour }, { "close the jar", story.close_jar }, { "put it back", story.put_back } }

--- Steps the world until the first `stages` (default: all) are done. `self.told`: were they? `self.why`: what went wrong.
function story:tell(seconds, stages)
  if self.heap > SEAT.xyz[3] then
    self.told, self.why = false, ("%d marbles do not fit under the lid: they stand %.3f m high in the jar, and the lid's seat is at %.3f m"):format(#self.marbles, self.heap, SEAT.xyz[3])
    self.say("%s", self.why)
    return
  end
  local task = self.world:task("story", function()
    for k = 1, stages or #STAGES do
      local name, stage = table.unpack(STAGES[k])
      self.say("%s", name:upper())
      self:show(name)
      self.figures:begin(name)
      stage(self)
    end
  end)
  local well, why = pcall(function()
    for step in self.world:run { seconds = seconds } do
      self.figures:add(step)
      if task:done() then break end
    end
  end)
  self.told = well and task:done() and not self.gave_up
  self.why = not well and why or self.gave_up or not self.told and ("it is not over after %g s"):format(seconds) or nil
  if self.why and self.why ~= self.gave_up then self.say("%s", self.why) end
end

--- Where the lid is beside its seat [m], how far the jar's axis leans [rad] and how far it stands from where it stood [m].
function story:outcome()
  local x = self.lid:position()
  local seat = self.jar:pose() * SEAT.xyz
  return math.sqrt((x[1] - seat[1]) ^ 2 + (x[2] - seat[2]) ^ 2 + (x[3] - seat[3]) ^ 2),
    math.acos(math.min(1, self.jar:pose():rotate({ 0, 0, 1 })[3])), self.jar:pose():distance(self.start)
end

--- What must hold at the end: name and what stn.check takes.
function story:goals()
  local beside, lean, away = self:outcome()
  return {
    { "the marbles fit under the lid", { value = self.heap, limit = SEAT.xyz[3], unit = "m" } },
    { "the story was told to its end", self.told },
    { "the lid was off", self.lid_was_off == true },
    { "marbles in the bowl", { value = self:marbles_in_bowl(), least = 7 * #self.marbles // 8, unit = "marbles" } },
    { "the lid is back: away from its seat", { value = beside, limit = 1e-3, unit = "m" } },
    { "the jar stands upright", { value = lean, limit = 1 * stn.deg, unit = "rad" } },
    { "the jar is in its place", { value = away, limit = 0.01, unit = "m" } },
    { "the hands have let go", not self.left:touches(self.jar) and not self.right:touches(self.lid) },
  }
end

function story:check()
  for _, goal in ipairs(self:goals()) do stn.check(goal[1], goal[2]) end
end

--- The same without a check that counts.
function story:succeeded()
  for _, goal in ipairs(self:goals()) do
    local c = goal[2]
    if type(c) == "table" then c = c.value == c.value and c.value <= (c.limit or math.huge) and c.value >= (c.least or -math.huge) end
    if not c then return false end
  end
  return true
end

return story
