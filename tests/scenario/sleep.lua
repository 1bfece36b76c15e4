-- SPDX-License-Identifier: Apache-2.0
-- Trees that sleep (docs/sleeping.md): who falls asleep, what wakes them, what observers see of them, the same bits.
local stn = require "stiction"

local bound, after = 1e-3, 0.2 -- sleep_velocity [m/s], sleep_time [s]

local function make(options)
  local o = { dt = 2e-3, solver = { "sap", tolerance = 1e-8 }, sleep_velocity = bound, sleep_time = after }
  for name, value in pairs(options or {}) do
    o[name] = value
  end
  return stn.world(o)
end

local function box(world, name, x, z, more)
  local description = { name = name, size = { 0.1, 0.1, 0.1 }, mass = 1.0, xyz = { x, 0, z } }
  for key, value in pairs(more or {}) do
    description[key] = value
  end
  return world:box(description)
end

-- A tower of three boxes at x = 0 and one box on its own at x = 1, on `floor`.
local function towers(options, floor)
  local world = make(options)
  local parts = { floor = (floor or world.ground)(world, { name = "floor" }) }
  for i = 1, 3 do
    parts[i] = box(world, "box" .. i, 0, 0.1 * i - 0.05)
  end
  parts.other = box(world, "other", 1, 0.05)
  return world, parts
end

local function run(world, seconds)
  local last
  for step in world:run { seconds = seconds } do
    last = step
  end
  return last
end

local function all_asleep(world, parts)
  return world:asleep(parts[1]) and world:asleep(parts[2]) and world:asleep(parts[3])
end

local function sleeping_towers(options, floor)
  local world, parts = towers(options, floor)
  run(world, 1.0)
  assert(all_asleep(world, parts) and world:asleep(parts.other), "they do not sleep")
  return world, parts
end

-- The tower woke, the box on its own did not.
local function tower_woke(world, parts)
  run(world, 2e-3)
  assert(not world:asleep(parts[1]) and not world:asleep(parts[2]) and not world:asleep(parts[3]), "the tower sleeps on")
  assert(world:asleep(parts.other), "what has nothing to do with it woke")
end

-- The towers sleep, and a ball rolls beside them that began with `speed` [m/s].
local function sleeping_towers_and_ball(speed)
  local world, parts = towers()
  local ball = world:sphere { name = "ball", radius = 0.05, mass = 1, xyz = { -1, 0, 0.05 }, velocity = { speed, 0, 0 } }
  run(world, 1.0)
  assert(all_asleep(world, parts) and not world:asleep(ball))
  return world, parts, ball
end

local function all_woke(world, parts)
  run(world, 2e-3)
  assert(not world:asleep(parts[1]) and not world:asleep(parts[3]) and not world:asleep(parts.other), "not all woke")
end

-- ------------------------------------------------------------------------------------------------------ falling asleep

stn.test("nothing sleeps unless it is asked for", function()
  local world, parts = towers { sleep_velocity = 0 }
  stn.near(run(world, 1.0).sleeping, 0, 0, "trees that sleep")
  assert(not world:asleep(parts[1]))
end)

stn.test("who sleeps stays where it is, to the last bit, and so do the contacts that are seen", function()
  local world, parts = sleeping_towers()
  local pose, contacts = parts[3]:pose(), #world:contacts()
  local step = run(world, 0.5)
  stn.near(step.sleeping, 4, 0, "trees that sleep")
  stn.near(step.contact_count, contacts, 0, "contacts")
  stn.near(step.kinetic_J, 0, 0, "kinetic energy [J]")
  stn.near(parts[3]:pose(), pose, 0, "pose")
  stn.near(parts[3]:speed(), 0, 0, "speed [m/s]")
  stn.near(world:contact_force(parts[1], parts.floor).force[3], 3 * 9.81, 1e-3, "weight of the tower [N]")
  stn.near(world:contact_force(parts[3], parts[2]).force[3], 9.81, 1e-3, "weight of the uppermost box [N]")
end)

stn.test("contacts of those that sleep are seen beside those of what moves", function()
  local world, parts, ball = sleeping_towers_and_ball(0.5)
  local step = run(world, 2e-3)
  stn.near(step.contact_count, 4 * 4 + 1, 0, "contacts")
  stn.near(#world:contacts(), 17, 0, "contacts that are listed")
  stn.near(world:contact_force(parts[1], parts.floor).force[3], 3 * 9.81, 1e-3, "weight of the tower [N]")
  stn.near(world:contact_force(ball, parts.floor).force[3], 9.81, 1e-3, "weight of the ball [N]")
  local again = world:solve_problem { "sap", tolerance = 1e-10 } -- it is a contact problem like any other
  stn.near(again.certificate.momentum, 0, 1e-8, "momentum of the whole problem, solved again")
  local sum = 0
  for _, impulse in ipairs(again.impulses) do
    sum = sum + math.abs(impulse[3])
  end
  -- on the floor 3 + 1 + 1 bodies, in the tower 2 + 1
  stn.near(sum / world.dt, (5 + 3) * 9.81, 1e-2, "all forces [N]")
end)

stn.test("putting to rest takes no more energy than the bound allows, and says how much", function()
  local world = towers()
  local taken = 0
  for step in world:run { seconds = 1.0 } do
    taken = taken + step.stopped_J
  end
  assert(taken >= 0 and taken <= 2 * 4 * 0.5 * 1.0 * bound ^ 2, taken)
end)

stn.test("the energy that contacts store stays in the account while they sleep", function()
  local world, parts = towers()
  local last, most, stored = nil, 0, 0
  for step in world:run { seconds = 1.5 } do
    if step.index == 600 then
      parts[3]:apply_force { force = { 0.01, 0, 0 } } -- the tower wakes
    end
    if step.time > 0.2 then
      most = math.max(most, math.abs(step.total_energy_J - (last or step.total_energy_J)))
      stored = step.contact_J
      last = step.total_energy_J
    end
  end
  assert(stored > 1e-5, stored)
  stn.near(most, 0, 1e-6, "largest change of all energy from step to step [J]")
end)

stn.test("a group sleeps as a whole: one that moves keeps all awake that touch", function()
  local world = make()
  world:ground {}
  local lower = box(world, "lower", 0, 0.05)
  local upper = box(world, "upper", 0, 0.15)
  for _ = 1, 500 do
    upper:apply_force { force = { 0, 0, math.random() } } -- another one every step
    world:step()
  end
  assert(not world:asleep(lower) and not world:asleep(upper))
end)

-- ------------------------------------------------------------------------------------------------------------- waking

stn.test("a force wakes the tower; below friction it sleeps again in its place", function()
  local world, parts = sleeping_towers()
  local before = parts[2]:position()
  parts[2]:apply_force { force = { 2, 0, 0 } } -- friction holds 0.5 * 2 * 9.81 N below, 4.9 N above
  tower_woke(world, parts)
  run(world, 1.0)
  assert(all_asleep(world, parts), "it does not sleep under a force that is held")
  stn.near(parts[2]:position(), before, bound * 1.0, "position")
  parts[2]:apply_force { force = { 0, 0, 0 } }
  tower_woke(world, parts)
end)

stn.test("a force above friction moves what slept", function()
  local world, parts = sleeping_towers()
  parts[3]:apply_force { force = { 20, 0, 0 } }
  run(world, 0.1)
  assert(parts[3]:position()[1] > 0.01 and not world:asleep(parts[1]))
end)

stn.test("gravity, another step size and a reset wake all", function()
  local world, parts = sleeping_towers()
  world:set_gravity { 0, 0, -9.0 }
  all_woke(world, parts)
  run(world, 1.0)
  assert(all_asleep(world, parts))
  stn.near(world:contact_force(parts[1], parts.floor).force[3], 3 * 9.0, 1e-3, "weight of the tower [N]")
  world:set_gravity { 0, 0, -9.0 } -- the same: nothing to wake for
  run(world, 2e-3)
  assert(all_asleep(world, parts))
  world:set_dt(1e-3)
  run(world, 1e-3)
  assert(not world:asleep(parts[1]) and not world:asleep(parts.other))
  world:reset()
  assert(not world:asleep(parts[1]))
end)

stn.test("velocities and poses that are set wake the group", function()
  local world, parts = sleeping_towers()
  parts[3]:set_velocity { 0.5, 0, 0 }
  tower_woke(world, parts)
  assert(parts[3]:speed() > 0.4)
  world, parts = sleeping_towers()
  parts[2]:set_pose { xyz = { 3, 0, 0.05 } }
  tower_woke(world, parts)
  run(world, 1.0)
  stn.near(parts[3]:position()[3], 0.15, 1e-3, "the uppermost box fell by one [m]")
  assert(all_asleep(world, parts))
end)

stn.test("q set as a whole wakes those whose numbers change", function()
  local world, parts = sleeping_towers()
  local state = world:state()
  state.q[3] = state.q[3] + 0.0 -- the first box, the same number
  world:set_state(state)
  run(world, 2e-3)
  assert(world:asleep(parts.other), "the box on its own woke although nothing changed")
end)

stn.test("a ball wakes what it hits", function()
  local world, parts = towers()
  local ball = world:sphere { name = "ball", radius = 0.05, mass = 0.2, xyz = { 0, 0, 0.35 + 0.5 * 9.81 } }
  local slept, woke = false, false
  for _ in world:run { seconds = 1.1 } do
    local far = ball:position()[3] > 0.5
    slept = slept or (far and all_asleep(world, parts))
    woke = woke or (slept and not world:asleep(parts[1]))
  end
  assert(slept and woke and world:asleep(parts.other))
end)

stn.test("a ball that hits the last that sleeps goes on as in a world that was restored just before", function()
  local world = make()
  world:ground {}
  for i = 1, 3 do
    box(world, "box" .. i, 0, 0.1 * i - 0.05)
  end
  local ball = world:sphere { name = "ball", radius = 0.1, mass = 1, xyz = { 0.5, 0, 0.1 } }
  run(world, 1.0)
  ball:set_velocity { -3, 0, 0 }
  local step, before
  repeat
    before = world:clone()
    step = world:step()
    before:step()
    stn.near(#world:contacts(), #before:contacts(), 0, "contacts at step " .. step.index)
    assert(world:hash() == before:hash(), "another state than the restored world at step " .. step.index)
  until step.index == 800
  assert(not world:asleep "box1", "the ball did not wake the tower")
end)

stn.test("a kinematic floor that starts to move wakes what is on it, and carries it", function()
  local world, parts = sleeping_towers(nil, function(world)
    local floor = world:box { name = "floor", size = { 4, 4, 0.2 }, xyz = { 0, 0, -0.1 }, fixed = false }
    floor:kinematic(function(t)
      return { xyz = { t < 1.1 and 0 or 0.2 * (t - 1.1), 0, -0.1 } }
    end)
    return floor
  end)
  run(world, 0.5)
  assert(not all_asleep(world, parts) and not world:asleep(parts.other))
  assert(parts[1]:position()[1] > 0.02, "it was not carried along")
end)

stn.test("bodies sleep on a tilted kinematic body that is told its pose in every step", function()
  local tilt, height = 0.1, 0
  local world = make { stiction = true }
  local floor = world:box { name = "floor", size = { 4, 4, 0.2 }, xyz = { 0, 0, 0 }, rpy = { 0.1, tilt, 0.7 } }
  floor:kinematic(function()
    return { xyz = { 0, 0, height }, rpy = { 0.1, tilt, 0.7 } }
  end)
  local pose = stn.pose { rpy = { 0.1, tilt, 0.7 } } * stn.pose { xyz = { 0.3, 0.2, 0.15 } }
  local one = world:box { name = "one", size = { 0.1, 0.1, 0.1 }, mass = 1, pose = pose, mu = 1 }
  run(world, 2.0)
  assert(world:asleep(one))
  height = 1e-4
  run(world, 2e-3)
  assert(not world:asleep(one))
end)

stn.test("a belt that starts wakes what is on it, and nothing sleeps on a belt", function()
  local world, parts = sleeping_towers()
  parts.floor:set_surface_velocity { 0.1, 0, 0 }
  all_woke(world, parts)
  run(world, 1.0)
  assert(parts[1]:position()[1] > 0.05 and not world:asleep(parts[1]))
end)

stn.test("what a wall holds on a running belt never sleeps", function()
  local world = make()
  world:ground { name = "belt", surface_velocity = { 0.2, 0, 0 } }
  world:box { name = "wall", size = { 0.1, 1, 0.2 }, xyz = { 0.1, 0, 0.1 }, fixed = true }
  box(world, "held", 0, 0.05)
  for step in world:run { seconds = 1.0 } do
    stn.near(step.sleeping, 0, 0, "trees that sleep")
  end
end)

stn.test("a support that is put elsewhere leaves nothing asleep in the air", function()
  local height = -0.1
  local world, parts = sleeping_towers(nil, function(world)
    local floor = world:box { name = "floor", size = { 4, 4, 0.2 }, xyz = { 0, 0, -0.1 }, fixed = false }
    floor:kinematic(function()
      return { xyz = { 0, 0, height } }
    end)
    return floor
  end)
  height = -5
  parts.floor:set_pose { xyz = { 0, 0, height } }
  run(world, 0.1)
  assert(parts[1]:velocity().linear[3] < -0.5, "it sleeps in the air")
end)

-- ------------------------------------------------------------------------------------- joints, constraints, controllers

local pendulum = [[<robot name="arm"><link name="base"/><link name="bar"><inertial><mass value="1"/><origin xyz="0 0 -0.25"/>
<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="bar"/><axis xyz="0 1 0"/>
<dynamics damping="%s"/></joint></robot>]]

local function arm(world, damping)
  local path = os.tmpname()
  local file <close> = assert(io.open(path, "w"))
  file:write(pendulum:format(damping))
  file:close()
  local group = world:load { path, loader = "urdf", fixed = true }
  os.remove(path)
  return group
end

stn.test("a damped joint sleeps where it hangs, and an effort wakes it", function()
  local world = make()
  local robot = arm(world, 2.0)
  run(world, 6.0)
  assert(world:asleep(robot))
  robot:joint("j"):set_effort(0.1)
  run(world, 2e-3)
  assert(not world:asleep(robot))
  run(world, 10.0)
  assert(world:asleep(robot))
  stn.near(robot:joint("j"):position(), math.asin(0.1 / (9.81 * 0.25)), 2e-3, "angle of rest [rad]")
end)

stn.test("a robot that a controller holds sleeps until its reference changes", function()
  local world = make()
  local robot = arm(world, 0.0)
  local pd = world:controller { "joint_pd", target = robot, kp = 100, kd = 20 }
  pd:set { position = { 0.5 } }
  run(world, 4.0)
  assert(world:asleep(robot), "it is held still and does not sleep")
  local angle = robot:joint("j"):position()
  run(world, 0.5)
  stn.near(robot:joint("j"):position(), angle, 0, "angle")
  pd:set { position = { 0.6 } }
  run(world, 2e-3)
  assert(not world:asleep(robot))
  run(world, 2.0)
  stn.near(robot:joint("j"):position() - angle, 0.1, 0.01, "it went there [rad]")
end)

stn.test("a ball that turns on its place is not at rest", function()
  local world = make { gravity = { 0, 0, 0 } }
  local ball = world:sphere { name = "ball", radius = 0.1, mass = 1, xyz = { 0, 0, 1 }, velocity = { angular = { 0, 0, 0.02 } } }
  local slow = world:sphere { name = "slow", radius = 0.1, mass = 1, xyz = { 1, 0, 1 }, velocity = { angular = { 0, 0, 0.005 } } }
  run(world, 1.0)
  assert(not world:asleep(ball) and world:asleep(slow))
end)

stn.test("what constraints hold and soft bodies stay awake", function()
  local world = make()
  world:ground {}
  world:soft {
    name = "mat", box = { 0.2, 0.2, 0.05 }, cells = { 2, 2, 1 }, young = 1e6, poisson = 0.3, density = 1000, damping = 0.05,
    xyz = { 2, 0, 0.0251 },
  }
  local a, b = box(world, "a", 0, 0.05), box(world, "b", 0.2, 0.05)
  world:constraint { "weld", a = a, b = b, b_pose = { xyz = { -0.2, 0, 0 } } }
  local free, on_mat = box(world, "free", 1, 0.05), box(world, "on the mat", 2, 0.101)
  for step in world:run { seconds = 1.0 } do
    assert(step.sleeping <= 1)
  end
  assert(on_mat:position()[3] > 0.05 and not world:asleep(on_mat))
  assert(world:asleep(free) and not world:asleep(a) and not world:asleep(b))
end)

-- ---------------------------------------------------------------------------------------------------- determinism, state

-- Two boxes fall onto the towers, the second one while these sleep, and all of it sleeps at the end.
local function story(options, threads)
  options.threads = threads
  local world = towers(options)
  box(world, "late", -0.3, 0.8)
  box(world, "later", 0.02, 4.0, { rpy = { 0.2, 0.1, 0 } })
  return world
end

local steps = 1400
local stories = {
  { "sap", {} }, { "true stiction", { stiction = true } }, { "nsgs", { solver = "nsgs" } },
  { "nsgs with true stiction", { solver = "nsgs", stiction = true } }, { "soft_step", { solver = "soft_step" } },
  { "lagged", { law = "lagged" } }, { "midpoint", { integrator = "midpoint" } },
}
for _, one in ipairs(stories) do
  local name, options = table.unpack(one)
  stn.test(name .. ": the same bits on one thread and on four, and after restoring at any time", function()
    local whole = story(options, 1)
    local count, last = 0, -1
    for step in whole:run { steps = steps } do
      count = count + (step.sleeping ~= last and 1 or 0)
      last = step.sleeping
    end
    assert(count >= 4, "the story has too few changes to tell anything")
    local hash = whole:hash()
    local parallel = story(options, 4)
    run(parallel, steps * 2e-3)
    assert(parallel:hash() == hash, "threads")
    for _, at in ipairs { 150, 450, 700, 1399 } do
      local world = story(options, 1)
      for _ in world:run { steps = at } do
      end
      local copy = world:clone()
      world:restore(world:snapshot())
      assert(world:hash() == copy:hash(), "restored")
      for _ in world:run { steps = steps - at } do
      end
      for _ in copy:run { steps = steps - at } do
      end
      assert(world:hash() == hash, "restored after step " .. at)
      assert(copy:hash() == hash, "cloned after step " .. at)
    end
  end)
end

stn.test("a clone that was made behind an input is woken by it", function()
  local world, parts = sleeping_towers()
  parts[3]:apply_force { force = { 20, 0, 0 } }
  local copy = world:clone()
  run(world, 0.1)
  run(copy, 0.1)
  assert(copy:hash() == world:hash() and parts[3]:position()[1] > 0.01)
end)

stn.test("a clone that was made behind q that was set goes on like its world, with true stiction too", function()
  for _, shift in ipairs { 0, 0.01 } do -- of the box on its own, whose tree is the last
    local world, parts = sleeping_towers { stiction = true, gravity = { 1, 0, -9.81 } }
    local state = world:state()
    local at = #state.q - 5 -- its y
    state.q[at] = state.q[at] + shift
    world:set_state(state)
    assert(all_asleep(world, parts) and world:asleep(parts.other) == (shift == 0), "who sleeps")
    local copy = world:clone()
    for step = 1, 300 do
      if step == 100 then
        parts[2]:apply_force { force = { 0, 1, 0 } }
        copy:group("box2"):apply_force { force = { 0, 1, 0 } }
      end
      world:step()
      copy:step()
      assert(world:hash() == copy:hash(), "another state than the clone at step " .. step .. ", shift " .. shift)
    end
  end
end)

stn.test("restored while it sleeps, observers see the same contacts and forces", function()
  local world = sleeping_towers_and_ball(0.2)
  local copy = world:clone()
  world:step()
  copy:step()
  local one, two = world:contacts(), copy:contacts()
  stn.near(#two, #one, 0, "contacts")
  for i = 1, #one do
    stn.near(two[i].normal_force, one[i].normal_force, 0, "force [N]")
    stn.near(two[i].distance, one[i].distance, 0, "distance [m]")
  end
end)

-- ----------------------------------------------------------------------------------------------------- what it changes

stn.test("random scenes end where they end without sleep, within what the bound allows", function()
  math.randomseed(5)
  for _ = 1, 6 do
    local worlds, bodies, seed = {}, {}, math.random(1 << 30)
    local seconds = 2.0
    for k, speed in ipairs { 0, 1e-4 } do
      math.randomseed(seed)
      local world = make { sleep_velocity = speed }
      world:ground {}
      worlds[k], bodies[k] = world, {}
      for i = 1, 12 do
        local place = { 0.25 * (i % 4), 0.25 * (i // 4), 0.06 + 0.1 * math.random() }
        local mu = 0.3 + math.random()
        local turn = { 0.3 * math.random(), 0.3 * math.random(), 6 * math.random() }
        local name = "body" .. i
        bodies[k][i] = world:box {
          name = name, size = { 0.08 + 0.04 * math.random(), 0.1, 0.1 }, mass = 0.5 + math.random(), xyz = place, rpy = turn, mu = mu,
        }
      end
    end
    local asleep = run(worlds[2], seconds).sleeping
    run(worlds[1], seconds)
    assert(asleep > 6, "too few sleep: " .. asleep)
    for i = 1, 12 do
      stn.near(bodies[2][i]:position(), bodies[1][i]:position(), 1e-4 * seconds, "position [m]")
    end
  end
end)

-- ------------------------------------------------------------------------------------------------------------ refusals

stn.test("options that make no sense are refused", function()
  stn.fails(function()
    make { sleep_velocity = -1 }
  end, "sleep_velocity")
  stn.fails(function()
    make { integrator = "quasistatic" }
  end, "sleep")
  stn.fails(function()
    make { sleep_velocity = 1, sleep_time = 0.1 }
  end, "would sleep in the air")
  stn.fails(function()
    local world = towers()
    world.integrator = "quasistatic"
  end, "sleep")
end)

stn.test("gravity that is refused because bodies would sleep in the air, or an integrator, wakes nobody", function()
  local world, parts = sleeping_towers()
  local hash = world:hash()
  stn.fails(function()
    world:set_gravity { 0, 0, -0.9 * bound / after }
  end, "would sleep in the air")
  stn.fails(function()
    world.integrator = "quasistatic"
  end, "sleep")
  assert(world:hash() == hash, "what is refused changed the state")
  run(world, 2e-3)
  assert(all_asleep(world, parts), "what is refused woke the tower")
  world:set_gravity { 0, 0, 0 } -- nothing falls
  stn.near(world.gravity[3], 0, 0, "gravity [m/s^2]")
end)
