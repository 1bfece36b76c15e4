-- SPDX-License-Identifier: Apache-2.0
-- The same steps again: determinism, snapshots, clones, files, reset.
local stn = require "stiction"

local function make(seed)
  local world = stn.world { dt = 5e-3, seed = seed or 7 }
  world:ground {}
  world:box { name = "box", size = { 0.2, 0.1, 0.1 }, xyz = { 0, 0, 0.4 }, rpy = { 0.3, 0.2, 0.1 }, velocity = { 0.3, 0, 0 } }
  world:sphere { name = "ball", radius = 0.08, xyz = { 0.1, 0, 0.8 } }
  return world
end

local function advance(world, steps)
  for _ in world:run { steps = steps } do
  end
  return world:hash()
end

stn.test("two equal worlds make equal steps, to the last bit", function()
  assert(advance(make(), 200) == advance(make(), 200))
end)

stn.test("restoring a snapshot repeats the steps to the last bit", function()
  local world = make()
  advance(world, 60)
  local snapshot, hash = world:snapshot(), world:hash()
  local later = advance(world, 60)
  assert(later ~= hash)
  world:restore(snapshot)
  assert(world:hash() == hash, "the state differs after restoring")
  stn.near(world.steps, 60, 0, "steps")
  assert(advance(world, 60) == later, "the steps differ after restoring")
end)

stn.test("a clone goes its own way", function()
  local world = make()
  advance(world, 50)
  local copy, hash = world:clone(), world:hash()
  assert(copy:hash() == hash)
  local later = advance(copy, 50)
  assert(world:hash() == hash, "stepping the clone changed the world")
  assert(advance(world, 50) == later)
end)

stn.test("a state survives a file, a damaged file does not load", function()
  local world, path = make(), os.tmpname()
  advance(world, 40)
  world:save_state(path)
  local later = advance(world, 20)
  local fresh = make()
  fresh:load_state(path)
  assert(advance(fresh, 20) == later)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "a"
  file:close()
  file = assert(io.open(path, "wb"))
  file:write(bytes:sub(1, -20))
  file:close()
  stn.fails(function()
    fresh:load_state(path)
  end, path)
  os.remove(path)
end)

stn.test("a state belongs to the constraints that it was made with: their plugins and what they act on", function()
  local function held(describe)
    local world = stn.world { dt = 5e-3 }
    local body = {}
    for i = 1, 3 do
      body[i] = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { i, 0, 0 } }
    end
    world:constraint(describe(table.unpack(body)))
    advance(world, 2)
    return world
  end
  local function weld(a, b) return { "weld_at_runtime", a = a, b = b, attached = true } end
  local path = os.tmpname()
  local world, snapshot = held(weld), held(weld):snapshot()
  held(weld):save_state(path)
  world:restore(snapshot)
  local limited = held(function(a, b) return { "weld_at_runtime", a = a, b = b, force_limit = 1e6 } end) -- settings may differ
  limited:restore(snapshot)
  limited:load_state(path)
  assert(limited:constraints()[1]:get "holding" == 1)
  for _, describe in ipairs {
    function(a, b) return { "suction", a = a, b = b, attached = true } end,
    function(a, _, c) return { "weld_at_runtime", a = a, b = c } end,
    function(a, b) return { "weld_at_runtime", a = b, b = a } end,
    function(a) return { "weld_at_runtime", a = a } end,
  } do
    local other = held(describe)
    local hash = other:hash()
    stn.fails(function() other:restore(snapshot) end, "the state belongs to another model")
    stn.fails(function() other:load_state(path) end, "other groups, joints, constraints, controllers or laws")
    assert(other:hash() == hash, "as it was")
  end
  os.remove(path)
end)

stn.test("the problem of a step is solved by other solvers, and the world does not notice", function()
  local world <close> = stn.world { dt = 0.001, solver = { "bisection", tolerance = 1e-12 }, exact_contacts = true }
  world:ground { mu = 0.5 }
  world:sphere { radius = 0.1, mass = 2, mu = 0.5, xyz = { 0, 0, 0.1 }, velocity = { 1, 0, 0 } }
  stn.fails(function() world:solve_problem { "pgs" } end, "has not made a step yet")
  local step = world:step()
  assert(step.solve_us >= 0 and step.solve_us <= step.step_us) -- a part of it
  local hash, own = world:hash(), world:contacts()[1].impulse
  stn.near(own, { -0.5 * 9.81 * 2e-3, 0, 9.81 * 2e-3 }, 1e-12, "m g dt, and mu of it against the slip")
  for _, name in ipairs { "pgs", "nsgs", "bisection" } do
    local other = world:solve_problem { name, tolerance = 1e-12 }
    assert(other.converged and other.status == "ok" and #other.impulses == 1)
    stn.near(other.impulses[1], own, 1e-12, name)
    assert(other.certificate.natural_ncp < 1e-11 and other.iterations >= 0 and other.solve_us > 0)
  end
  local convex = world:solve_problem { "sap", tolerance = 1e-10 } -- glides: lifts off by mu times the slip
  assert(convex.converged and convex.impulses[1][3] > own[3] + 1e-3 and convex.certificate.natural_ncp > 1e-3)
  assert(not world:solve_problem { "pgs", tolerance = 1e-14, max_iterations = 1, alpha = 0.1 }.converged)
  stn.fails(function() world:solve_problem { "psg" } end, "psg")
  stn.fails(function() world:solve_problem "pgs" end, "table expected")
  assert(world:hash() == hash)
end)

stn.test("the problem of a step goes into a file", function()
  local world, path = make(), os.tmpname()
  stn.fails(function()
    world:save_problem(path)
  end, "has not made a step yet")
  advance(world, 40)
  world:save_problem(path)
  local file = assert(io.open(path))
  assert(file:read("a"):find('"contact-problem-2"', 1, true))
  file:close()
  os.remove(path)
  stn.fails(function()
    world:save_problem "/no/such/folder/p.json"
  end, "/no/such/folder/p.json")
end)

stn.test("reset returns to the start, start velocities included", function()
  local world = make()
  local hash, ball = world:hash(), world:group "box"
  local speed = ball:speed()
  advance(world, 30)
  world:reset()
  stn.near(world.time, 0, 0, "time")
  stn.near(ball:speed(), speed, 0, "speed")
  local first = advance(world, 30)
  world:reset()
  assert(advance(world, 30) == first)
  assert(hash == make():hash())
end)

stn.test("state() is a copy that set_state takes back", function()
  local world = make()
  local state = world:state()
  stn.near(#state.q, 14, 0, "coordinates")
  stn.near(#state.v, 12, 0, "velocities")
  state.q[1] = 5
  world:set_state(state)
  stn.near(world:group("box"):position()[1], 5, 0, "x")
  state.q[3] = 0 / 0
  stn.fails(function()
    world:set_state(state)
  end, "q[3] = nan")
end)

stn.test("the random stream belongs to the state", function()
  local world = make(3)
  local snapshot = world:snapshot()
  local a, b = world:random(), world:random(2, 4)
  assert(a >= 0 and a < 1 and b >= 2 and b < 4)
  world:restore(snapshot)
  assert(world:random() == a and world:random(2, 4) == b)
  assert(make(4):random() ~= make(5):random())
end)

stn.test("a closed world says so", function()
  local world = make()
  local ball = world:group "ball"
  world:close()
  stn.fails(function()
    world:step()
  end, "closed")
  stn.fails(function()
    ball:pose()
  end, "closed")
  do
    local short <close> = make()
  end
end)
