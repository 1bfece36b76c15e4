-- SPDX-License-Identifier: Apache-2.0
-- Bodies that move as they are told, against closed forms.
local stn = require "stiction"
local worse = require "worse"
local g = 9.81

-- x = a sin(w t) along an axis (1, 2 or 3), as pose and velocity.
local function oscillate(axis, amplitude, omega)
  return function(t)
    local xyz, v = { 0, 0, 0 }, { 0, 0, 0 }
    xyz[axis] = amplitude * math.sin(omega * t)
    v[axis] = amplitude * omega * math.cos(omega * t)
    return { xyz = xyz }, { linear = v }
  end
end

local function table_with_box(motion, mu, dt)
  local world = stn.world { dt = dt, solver = { "sap", tolerance = 1e-10 } }
  local plate = world:box { name = "table", size = { 4, 4, 0.2 } }
  plate:kinematic(motion)
  local box = world:box { name = "box", size = { 0.2, 0.2, 0.1 }, mass = 3, xyz = { 0, 0, 0.15 } }
  world:contact_material { mu = mu }
  return world, box, plate
end

stn.test("a box stays on a table whose acceleration is below mu g", function()
  local dt, mu, a, w = 1e-3, 0.5, 0.1, 6.5 -- a w^2 = 4.2 < mu g = 4.9
  local world, box, plate = table_with_box(oscillate(1, a, w), mu, dt)
  box:set_velocity { a * w, 0, 0 }
  for step in world:run { seconds = 2 } do
    local slip = box:velocity().linear[1] - plate:velocity().linear[1]
    assert(math.abs(slip) < 2e-5, "slips") -- regularised friction: at most sigma mu dt g
    stn.near(plate:position()[1], a * math.sin(w * step.time), 1e-14, "where the table is")
    stn.near(plate:velocity().linear[1], a * w * math.cos(w * step.time), 1e-14, "and how fast")
    assert(step.converged)
  end
  -- symplectic Euler adds up the velocities of the ends: by dt/2 of the change of velocity too far
  stn.near(box:position()[1] - plate:position()[1], dt / 2 * a * w * (math.cos(w * 2) - 1), 1e-5, "drift")
end)

stn.test("a box on a table that jerks beyond mu g slides with mu g", function()
  local dt, mu, acceleration = 1e-3, 0.3, 5.0
  local world, box = table_with_box(function(t)
    return { xyz = { acceleration * t * t / 2, 0, 0 } }, { acceleration * t, 0, 0 }
  end, mu, dt)
  for _ in world:run { seconds = 0.5 } do
  end
  -- a slipping contact of the convex law hovers at mu v_t (dt + tau_d), so that the box rises while its slip grows
  local rise = mu * (acceleration - mu * g) * 2 * dt
  stn.near(box:velocity().linear[1], mu * (g * 0.5 + rise), 1e-6, "speed")
  stn.near(box:position()[1], mu * g * 0.125, 1e-3, "way") -- first order: mu g t dt/2 = 0.7 mm
end)

stn.test("a lift carries m (g + a)", function()
  local a = 2.5
  local world, box = table_with_box(function(t)
    return { xyz = { 0, 0, a * t * t / 2 } }, { linear = { 0, 0, a * t } }
  end, 0.5, 1e-3)
  local force
  for step in world:run { seconds = 0.3 } do
    force = 0
    for _, contact in ipairs(step:contacts()) do
      force = force + contact.normal_impulse / world.dt
    end
  end
  stn.near(force, 3 * (g + a), 1e-6, "force")
  stn.near(box:velocity().linear[3], a * 0.3, 1e-3 * a, "speed") -- half a step behind
end)

-- Slides off at omega^2 r > mu g; at half of that it stays.
local function turntable(omega, seconds)
  local mu, r = 0.4, 0.5
  local world = stn.world { dt = 5e-4, solver = { "sap", tolerance = 1e-10 } }
  local disc = world:cylinder { name = "disc", radius = 1, length = 0.1 }
  disc:kinematic(function(t)
    return { rpy = { 0, 0, omega * t } }, { angular = { 0, 0, omega } }
  end)
  local box = world:box { size = { 0.04, 0.04, 0.02 }, mass = 0.5, xyz = { r, 0, 0.06 } }
  world:contact_material { mu = mu }
  box:set_velocity { linear = { 0, omega * r, 0 }, angular = { 0, 0, omega } }
  for _ in world:run { seconds = seconds } do
  end
  local p = box:position()
  return math.sqrt(p[1] ^ 2 + p[2] ^ 2), math.atan(p[2], p[1])
end

stn.test("a box on a turntable stays while omega^2 r < mu g", function()
  local omega = 0.9 * math.sqrt(0.4 * g / 0.5)
  local r, angle = turntable(omega, 1)
  -- each step goes along the tangent: the radius grows by omega^2 r dt/2 a second
  stn.near(r, 0.5 * math.exp(omega ^ 2 * 5e-4 / 2), 1e-4, "radius")
  stn.near(angle, omega, 1e-5, "angle")
end)

stn.test("and slides off beyond", function()
  local r = turntable(1.1 * math.sqrt(0.4 * g / 0.5), 1)
  assert(r > 0.6, "it should slide off")
end)

stn.test("a wall takes a ball along at its speed and feels the impulse m v", function()
  local v = 0.7
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
  world:box { name = "wall", size = { 0.1, 1, 1 } }:kinematic(function(t)
    return { xyz = { v * t, 0, 0 } }, { linear = { v, 0, 0 } }
  end)
  local ball = world:sphere { radius = 0.1, mass = 2, xyz = { 0.25, 0, 0 } } -- 0.1 m before the wall
  local impulse, work = 0, 0
  for step in world:run { seconds = 0.5 } do
    for _, contact in ipairs(step:contacts()) do
      impulse = impulse + contact.normal_impulse
    end
    work = work + step.input_work_J
  end
  stn.near(ball:velocity().linear, { v, 0, 0 }, 1e-6, "velocity")
  stn.near(impulse, 2 * v, 1e-5, "impulse")
  stn.near(ball:position()[1], 0.15 + v * 0.5, 1e-6, "touches the wall")
  assert(math.abs(work - 2 * v * v / 2) < 2e-3 or math.abs(work - 2 * v * v) < 2e-3)
end)

stn.test("work of a table that is stuck to its box is the box's energy", function()
  local world, box = table_with_box(oscillate(1, 0.1, 5), 0.6, 1e-3)
  box:set_velocity { 0.5, 0, 0 }
  for _ in world:run { steps = 50 } do -- sinks into the contact
  end
  local work, start, most = 0, world:energy().total, 0
  for step in world:run { seconds = 1 } do
    work = work + step.input_work_J
    most = worse(most, math.abs(work))
    for _, contact in ipairs(step:contacts()) do -- regularised friction dissipates while it sticks
      work = work - contact.friction_impulse * contact.slip_speed
    end
    stn.near(step.energy_J, start + work, 3e-7, "energy")
  end
  assert(most > 0.3, "the table takes and gives 0.375 J")
end)

stn.test("a box on a belt reaches its speed after v/(mu g), and follows when it turns", function()
  local v, mu, dt = 0.5, 0.2, 1e-3
  local world = stn.world { dt = dt, solver = { "sap", tolerance = 1e-10 } }
  local belt = world:box { name = "belt", fixed = true, size = { 8, 1, 0.2 }, xyz = { 0, 0, -0.1 } }
  local box = world:box { size = { 0.2, 0.2, 0.1 }, mass = 2, xyz = { 0, 0, 0.05 } }
  world:contact_material { mu = mu }
  for _ in world:run { steps = 100 } do
  end
  assert(box:speed() < 1e-6, "it rests while the belt stands")
  belt:set_surface_velocity { v, 0, 0 }
  local steps, work, at = 0, 0, nil
  for step in world:run { seconds = 0.5 } do
    steps, work = steps + 1, work + step.input_work_J
    at = at or (math.abs(box:velocity().linear[1] - v) < 1e-3 and steps)
  end
  stn.near(at * dt, v / (mu * g), 3 * dt, "time")
  stn.near(box:velocity().linear, { v, 0, 0 }, 1e-5, "velocity")
  stn.near(work, 2 * v * v, 1e-6 * v, "work") -- half of it stays with the box, half is slip
  belt:set_surface_velocity { 0, -v, 0 }
  for _ in world:run { seconds = 0.6 } do
  end
  stn.near(box:velocity().linear, { 0, -v, 0 }, 1e-5, "velocity")
  world:reset()
  world:step()
  stn.near(box:velocity().linear[2], 0, 1e-6, "the belt stands again")
end)

stn.test("a belt that oscillates at 1 Hz carries a box while its acceleration is below mu g", function()
  local function slip(mu)
    local world = stn.world { dt = 1e-3 }
    local belt = world:box { fixed = true, size = { 8, 1, 0.2 }, xyz = { 0, 0, -0.1 } }
    local box = world:box { size = { 0.2, 0.2, 0.1 }, xyz = { 0, 0, 0.05 } }
    world:contact_material { mu = mu }
    local most, w, a = 0, 2 * math.pi, 0.5 -- a w = 3.1 m/s^2
    for step in world:run { seconds = 1 } do
      most = worse(most, math.abs(box:velocity().linear[1] - a * math.sin(w * (step.time - 1e-3))))
      belt:set_surface_velocity { a * math.sin(w * step.time), 0, 0 }
    end
    return most
  end
  assert(slip(0.4) < 1e-4, "it should stick")
  assert(slip(0.2) > 0.1, "it should slip")
end)

stn.test("samples and a function give the same motion", function()
  local function make(motion)
    local world, box = table_with_box(motion, 0.5, 1e-3)
    for _ in world:run { seconds = 1 } do
    end
    return box:position()
  end
  local times, poses, velocities = {}, {}, {}
  local motion = oscillate(1, 0.1, 5)
  for i = 0, 1001 do -- beyond the end of the run: a body stands after its last sample
    times[i + 1] = i * 1e-3
    local pose, velocity = motion(i * 1e-3)
    poses[i + 1], velocities[i + 1] = pose, velocity
  end
  stn.near(make { times = times, poses = poses, velocities = velocities }, make(motion), 1e-12, "position")
end)

-- A piston that pushes a heap.
local function heap(threads)
  local world = stn.world { dt = 2e-3, threads = threads }
  world:ground {}
  world:box { name = "piston", size = { 0.1, 0.6, 0.3 }, }:kinematic(function(t)
    return { xyz = { -0.4 + 0.25 * math.sin(3 * t), 0, 0.16 }, rpy = { 0, 0, 0.2 * t } },
      { linear = { 0.75 * math.cos(3 * t), 0, 0 }, angular = { 0, 0, 0.2 } }
  end)
  for i = 1, 8 do
    world:box { size = { 0.1, 0.1, 0.1 }, xyz = { 0.05 * (i % 3), 0.11 * (i % 2), 0.05 + 0.1 * (i // 2) } }
  end
  for _ in world:run { steps = 100 } do
  end
  return world
end

stn.test("threads change nothing", function()
  assert(heap(1):hash() == heap(2):hash() and heap(1):hash() == heap(4):hash(), "threads make other steps")
end)

stn.test("restore and clone make the same steps", function()
  local world = heap(1)
  local snapshot, clone = world:snapshot(), world:clone()
  local function go(w)
    for _ in w:run { steps = 200 } do
    end
    return w:hash()
  end
  local first = go(world)
  assert(go(clone) == first, "the clone differs")
  world:restore(snapshot)
  assert(go(world) == first, "the restored world differs")
end)

stn.test("a fast thin wall does not pass through a ball", function()
  local v = 20 -- 4 cm a step, twice the thickness of the wall and the ball's radius
  local world = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
  world:box { name = "wall", size = { 0.02, 1, 1 } }:kinematic(function(t)
    return { xyz = { v * t, 0, 0 } }, { v, 0, 0 }
  end)
  local ball = world:sphere { radius = 0.02, mass = 1, xyz = { 0.333, 0, 0 } }
  for _ in world:run { steps = 50 } do
  end
  stn.near(ball:velocity().linear[1], v, 1e-6 * v, "velocity")
  assert(ball:position()[1] > v * world.time + 0.029, "in front of the wall")
end)

stn.test("seams of a floor that moves are not felt", function()
  local world = stn.world { dt = 1e-3 }
  local shapes = {}
  for i = 1, 8 do
    shapes[i] = { "box", size = { 0.3, 1, 0.1 }, xyz = { 0.3 * (i - 6), 0, -0.05 }, mu = 0 }
  end
  world:compound { shapes = shapes }:kinematic(function(t)
    return { xyz = { t, 0, 0.1 * t } }, { 1, 0, 0.1 }
  end)
  local box = world:box { size = { 0.2, 0.2, 0.1 }, xyz = { 0, 0, 0.05 }, velocity = { 0, 0, 0.1 }, mu = 0 }
  for _ in world:run { seconds = 1 } do
    stn.near(box:velocity().linear[1], 0, 1e-6, "speed")
  end
  stn.near(box:velocity().linear, { 0, 0, 0.1 }, 1e-5, "velocity")
end)

stn.test("what is mounted on a kinematic body goes along", function()
  local world = stn.world { dt = 1e-3 }
  local plate = world:box { name = "plate", size = { 1, 1, 0.1 } }
  plate:kinematic(function(t)
    return { xyz = { 0, 0, 0.2 * t } }, { 0, 0, 0.2 }
  end)
  local post = world:box { size = { 0.1, 0.1, 0.1 }, on = { plate, "plate" }, xyz = { 0.3, 0, 0.1 } }
  local ball = world:sphere { radius = 0.05, mass = 1, xyz = { 0.3, 0, 0.2 } } -- on the post
  for _ in world:run { seconds = 0.5 } do
  end
  stn.near(post:position(), { 0.3, 0, 0.2 }, 1e-12, "post")
  stn.near(ball:position(), { 0.3, 0, 0.3 }, 1e-5, "ball")
  stn.near(ball:velocity().linear, { 0, 0, 0.2 }, 1e-6, "velocity")
end)

stn.test("what is not a motion is refused by name", function()
  local function try(motion, prepare)
    local world = stn.world {}
    local body = world:box { name = "plate", size = { 1, 1, 1 } }
    if prepare then
      prepare(world, body)
    end
    body:kinematic(motion)
    world:step()
  end
  local function refuses(pattern, ...)
    local ok, message = pcall(try, ...)
    assert(not ok and message:find(pattern), message)
  end
  refuses("must return a pose", function() end)
  refuses("xyz%[1%] = .*nan", function(t)
    return { xyz = { t > 0 and 0 / 0 or 0, 0, 0 } }
  end)
  refuses("not number", 3)
  refuses("sample 2: its time", { times = { 0, 0 }, poses = { {}, {} } })
  refuses("3 times, but 2 poses", { times = { 0, 1, 2 }, poses = { {}, {} } })
  refuses("its last pose is 1 m", { times = { 0, 1 }, poses = { {}, { xyz = { 1, 0, 0 } } }, periodic = true })
  refuses("half a turn", { times = { 0, 1 }, poses = { {}, { rpy = { 0, 0, math.pi } } } })
  refuses("was completed at", function()
    return {}
  end, function(world)
    world:step()
  end)
end)

stn.test("a motion cannot step, reset or close the world that asks it", function()
  for _, what in ipairs { "step", "reset", "close", "close_recordings" } do
    for _, from in ipairs { 0, 0.004 } do -- while it is kinematic; in a step
      local message = stn.fails(function()
        local world = stn.world {}
        local plate = world:box { size = { 1, 1, 1 } }
        plate:kinematic(function(t)
          if t >= from then world[what](world) end
          return {}
        end)
        for _ in world:run { steps = 3 } do
        end
      end, "world:" .. what .. ": not inside a kinematic motion")
      assert(message:find "kinematic.lua:%d+: world")
    end
  end
end)

stn.test("after a motion that raised the world goes on", function()
  local world = stn.world { dt = 0.01 }
  local plate, bad = world:box { size = { 1, 1, 1 } }, false
  plate:kinematic(function(t)
    if bad then string.rep() end
    return { xyz = { t, 0, 0 } }
  end)
  world:step()
  bad = true
  stn.fails(function() world:step() end, "bad argument #1 to 'rep'")
  assert(world.steps == 1)
  bad = false
  world:step()
  stn.near(plate:position()[1], 0.02, 1e-15, "place")
  world:reset()
end)

stn.test("a world of kinematic bodies alone has steps", function()
  local world = stn.world {}
  world:box { size = { 1, 1, 1 } }:kinematic { times = { 0 }, poses = { {} } }
  assert(world:step().status == "ok" and world.nv == 0)
end)
