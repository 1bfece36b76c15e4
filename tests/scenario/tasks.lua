-- SPDX-License-Identifier: Apache-2.0
-- Tasks: coroutines that the steps of a world drive. When they go on, in which order, how they end, what is told.
local stn = require "stiction"
local dt = 0.25 -- exact in binary

local function new_world()
  local world = stn.world { dt = dt, gravity = { 0, 0, 0 } }
  return world, world:sphere { radius = 0.1, velocity = { 1, 0, 0 } }
end

local function steps(world, count)
  for _ in world:run { steps = count } do end
end

-- Runs until the tasks of the world have ended; the story that they told.
local function tell(world, story)
  for _ in world:run { seconds = 20 } do
    if #world:tasks() == 0 then
      break
    end
  end
  return table.concat(story, " ")
end

local function teller(world)
  local story = {}
  return story, function(text)
    story[#story + 1] = ("%g:%s"):format(world.time, text)
  end
end

stn.test("a task begins before the next step and goes on after the step that reaches its time", function()
  local world = new_world()
  local story, say = teller(world)
  local task = stn.task("walk", function(first, second)
    say("begins" .. first + second)
    stn.wait(1)
    say "second"
    stn.wait(0.3)
    say "third"
    stn.wait()
    say "ends"
    return 7, nil, 9
  end, 1, 2)
  assert(#story == 0 and not task:done() and task.name == "walk" and task.state == "waiting")
  assert(tell(world, story) == "0:begins3 1:second 1.5:third 1.75:ends", tell(world, story))
  assert(task:done() and task.state == "done" and select("#", task:result()) == 3)
  local a, b, c = task:result()
  assert(a == 7 and b == nil and c == 9)
end)

stn.test("tasks are asked in the order of their making, each once a step", function()
  local world = new_world()
  local story, say = teller(world)
  for i = 1, 3 do
    world:task(function()
      for k = 1, 2 do
        say(i .. "." .. k)
        stn.wait(dt)
      end
    end)
  end
  assert(tell(world, story) == "0:1.1 0:2.1 0:3.1 0.25:1.2 0.25:2.2 0.25:3.2")
end)

stn.test("a condition is asked after every step, and a time-out says how long", function()
  local world, ball = new_world()
  local asked = 0
  local task = stn.task(function()
    local x = stn.wait_until(function()
      asked = asked + 1
      return ball:position()[1] >= 1 and ball:position()[1]
    end, 5)
    local never, text = stn.wait_until(function() return false end, 1)
    local at_once = stn.wait_until(function() return true end)
    return x, never, text, at_once
  end)
  steps(world, 8)
  local x, never, text, at_once = task:result()
  stn.near(x, 1, 1e-9, "x")
  assert(asked == 5 and never == false and at_once == true, asked)
  assert(text == "stn.wait_until: not true within 1 s, from t = 1 s to 2 s", text)
end)

stn.test("parallel waits for all and returns what each returned first", function()
  local world = new_world()
  local story, say = teller(world)
  stn.task(function()
    local a, b, c = stn.parallel(function()
      stn.wait(1)
      say "slow"
      return "a", "x"
    end, function()
      say "fast"
    end, stn.task(function()
      stn.wait(0.5)
      return "c"
    end))
    say(("%s %s %s"):format(a, b, c))
  end)
  assert(tell(world, story) == "0:fast 1:slow 1:a nil c", tell(world, story))
end)

stn.test("the first of a race wins, the others are cancelled and clean up, in the same moment", function()
  local world = new_world()
  local story, say = teller(world)
  stn.task(function()
    local place, what, more = stn.race(function()
      local _ <close> = setmetatable({}, { __close = function() say "cleaned" end })
      stn.parallel(function()
        local _ <close> = setmetatable({}, { __close = function() say "inner" end })
        stn.wait(9)
        say "never"
      end)
    end, function()
      stn.wait(0.5)
      return "won", 5
    end, function()
      stn.wait(0.5)
      return "as fast, but later in the list"
    end)
    say(("%d %s %d"):format(place, what, more))
  end)
  assert(tell(world, story) == "0.5:inner 0.5:cleaned 0.5:2 won 5", tell(world, story))
end)

stn.test("a task waits for another one, at no loss of a step, also for one that has ended", function()
  local world = new_world()
  local story, say = teller(world)
  local other
  stn.task(function()
    local a, b = other:wait()
    say(a + b)
    say(other:wait())
  end)
  other = stn.task(function()
    stn.wait(0.75)
    return 1, 2
  end)
  assert(tell(world, story) == "0.75:3 0.75:1", tell(world, story))
end)

stn.test("an error that nobody handles ends the run and says where, in which task, since when", function()
  local world = new_world()
  stn.task("carry", function()
    stn.wait(0.5)
    stn.parallel(function()
      stn.wait(0.25)
      error "the grip slipped"
    end)
  end)
  local message = stn.fails(function() steps(world, 9) end, "the grip slipped")
  local place = "tasks.lua:(%d+)"
  assert(message:match("^[^;]*" .. place .. ": the grip slipped; in task 'carry/1' %([^ ]*" .. place .. ", begun at [^ ]*" .. place ..
    ", t = 0.5 s%); awaited since t = 0.5 s; in task 'carry' %([^ ]*" .. place .. ", begun at [^ ]*" .. place .. ", t = 0 s%)$"), message)
  assert(world.time == 0.75 and #world:tasks() == 0)
  steps(world, 1) -- the world goes on
end)

stn.test("pcall across waits, and one that waits, handle the errors of others", function()
  local world = new_world()
  local story, say = teller(world)
  stn.task(function()
    for attempt = 1, 3 do
      local ok, message = pcall(function()
        stn.wait(0.5)
        if attempt < 3 then
          error("missed", 0)
        end
        return "held"
      end)
      say(message)
    end
    local failing = stn.task(function()
      stn.wait()
      error({ code = 5 })
    end)
    local _, object = pcall(failing.wait, failing)
    say(object.code .. failing.state)
  end)
  assert(tell(world, story) == "0.5:missed 1:missed 1.5:held 1.75:5failed", tell(world, story))
end)

stn.test("cancelling closes what is open, once, and is told to who waits", function()
  local world = new_world()
  local story, say = teller(world)
  local task = stn.task("open", function()
    local _ <close> = setmetatable({}, { __close = function() say "closed" end })
    stn.wait(5)
  end)
  local waits = stn.task(function()
    local ok, message = pcall(task.wait, task)
    say(message:gsub("[^ ]*tasks.lua:%d+", "LINE"))
  end)
  steps(world, 2)
  task:cancel()
  task:cancel()
  steps(world, 1)
  assert(task.state == "cancelled" and task:done() and waits:done())
  assert(table.concat(story, " ") == "0.5:closed 0.75:LINE: task:wait: task 'open', begun at LINE, was cancelled at LINE; awaited since t = 0 s",
    table.concat(story, " "))
  stn.fails(function() task:result() end, "was cancelled at")
end)

stn.test("closing a world cancels its tasks, the last one first", function()
  local world = new_world()
  local story, say = teller({ time = 0 })
  for i = 1, 2 do
    world:task(function()
      local _ <close> = setmetatable({}, { __close = function() say(i) end })
      stn.wait(5)
    end)
  end
  steps(world, 1)
  world:close()
  assert(table.concat(story, " ") == "0:2 0:1")
end)

stn.test("a task that is cancelled by the world's closing may close the world", function()
  local world = new_world()
  world:task(function()
    local _ <close> = setmetatable({}, { __close = function() world:close() end })
    stn.wait(5)
  end)
  steps(world, 1)
  world:close()
  assert(tostring(world) == "world (closed)")
end)

stn.test("a task that is made while the world closes is cancelled too", function()
  local world = new_world()
  local late
  world:task(function()
    local _ <close> = setmetatable({}, { __close = function() late = world:task(function() end) end })
    stn.wait(5)
  end)
  steps(world, 1)
  world:close()
  assert(late.state == "cancelled")
end)

stn.test("a task may hold a generator, and step another world", function()
  local world = new_world()
  local sum = 0
  local task = world:task(function()
    for i in coroutine.wrap(function()
      for k = 1, 3 do
        coroutine.yield(k)
      end
    end) do
      sum = sum + i
      stn.wait()
    end
    local plan <close> = stn.world { dt = dt }
    plan:sphere { radius = 0.1 }
    plan:task(function()
      stn.wait(1)
      sum = sum + 10
    end)
    steps(plan, 4)
  end)
  steps(world, 4)
  assert(task:done() and sum == 16, sum)
end)

stn.test("what the step does is the same with tasks and without", function()
  local function run(with_tasks)
    local world = stn.world {}
    world:ground {}
    local box = world:box { size = { 0.1, 0.1, 0.1 }, xyz = { 0, 0, 0.3 }, rpy = { 0.3, 0.2, 0 } }
    if with_tasks then
      world:task(function()
        stn.wait(0.1)
        box:apply_force { force = { 1, 0, 0 } }
      end)
    end
    for step in world:run { seconds = 0.3 } do
      if not with_tasks and step.index == 50 then
        box:apply_force { force = { 1, 0, 0 } }
      end
    end
    return world:hash()
  end
  assert(run(true) == run(false))
end)

stn.test("the state of a world whose tasks are under way is neither kept nor changed", function()
  local world = new_world()
  local snapshot = world:snapshot()
  local task = stn.task("pour", function() stn.wait(9) end)
  steps(world, 1)
  for _, call in ipairs { "clone", "snapshot", "restore", "reset", "save_state", "load_state" } do
    local message = stn.fails(function() world[call](world, snapshot) end, "world:" .. call .. ": task 'pour', begun at ")
    assert(message:find("is under way", 1, true) and not message:find "\n", message)
  end
  assert(tostring(task):match "^task 'pour', waiting at .*tasks.lua:%d+ for stn.wait since t = 0 s$", tostring(task))
  task:cancel()
  world:restore(snapshot)
  world:clone()
end)

stn.test("misuse is told in a line", function()
  local world = new_world()
  local other = stn.world {}
  local inside = {
    [function() stn.wait(-1) end] = "stn.wait: seconds = -1 s must be >= 0",
    [function() stn.wait(0 / 0) end] = "stn.wait: seconds = nan is not a finite number",
    [function() stn.wait_until(true) end] = "the condition must be a function that returns whether it holds, got boolean",
    [function() stn.wait_until(function() return false end, -2) end] = "the timeout = -2 s must be >= 0",
    [function() stn.wait_until(function() stn.wait(1) end) end] = "cannot wait here",
    [function() table.sort({ 2, 1 }, function() stn.wait(1) end) end] = "cannot wait here",
    [function() coroutine.wrap(function() stn.wait(1) end)() end] = "stn.wait: only a task can wait",
    [function() stn.parallel() end] = "stn.parallel takes functions or tasks",
    [function() stn.race(print, 3) end] = "argument 2 is a number",
    [function() world:step() end] = "world:step: not inside a task of this world",
    [function() world:close() end] = "world:close: not inside a task of this world",
    [function() world:tasks()[1]:cancel() end] = "is the one that asks",
    [function() world:tasks()[1]:wait() end] = "would wait for itself",
    [function() stn.parallel(function() world:tasks()[1]:cancel() end) end] = "is what waits for the one that asks",
    [function() world:tasks()[1]:result() end] = "has not ended; let it: task:wait()",
    [function() local _ <close> = setmetatable({}, { __close = function() error "dirty" end }) end] = "dirty",
  }
  for call, text in pairs(inside) do
    world:task("wrong", call)
    local message = stn.fails(function() steps(world, 2) end, text)
    assert(message:match "^[^\n]*tasks%.lua:%d+: " and not message:find "\n", message)
    for _, task in ipairs(world:tasks()) do
      task:cancel()
    end
  end
  local outside = {
    [function() stn.wait(1) end] = "stn.wait: only a task can wait: call it inside of stn.task(function() ... end)",
    [function() stn.parallel(print) end] = "stn.parallel: only a task can wait",
    [function() stn.task(print) end] = "stn.task: there are several worlds; say whose steps drive it: world:task(...)",
    [function() world:task "pick" end] = "world:task takes a name, if it is to have one, and a function",
    [function() local t = world:task(print); t:result() end] = "has not ended; let it: make steps",
  }
  for call, text in pairs(outside) do
    stn.fails(call, text)
  end
  other:close()
end)

stn.test("a clean-up that fails or waits is told to who cancels", function()
  local world = new_world()
  for text, close in pairs { ["the hand is stuck; in the clean-up of task 'pick'"] = function() error "the hand is stuck" end,
      ["only a task can wait"] = function() stn.wait(1) end } do
    local task = world:task("pick", function()
      local _ <close> = setmetatable({}, { __close = close })
      stn.wait(5)
    end)
    steps(world, 1)
    stn.fails(function() task:cancel() end, text)
    assert(task.state == "cancelled")
  end
end)
