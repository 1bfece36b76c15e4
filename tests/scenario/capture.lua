-- world:capture: contact problems of a run as files, chosen by number and by function.
local stn = require "stiction"

local function make()
  local world = stn.world { dt = 0.01 }
  world:ground { mu = 0.5 }
  world:sphere { radius = 0.1, mass = 2, mu = 0.5, xyz = { 0, 0, 0.2 } } -- meets the ground after 0.14 s
  return world
end

local function read(path)
  local file = io.open(path)
  return file and file:read "a", file and file:close()
end

stn.test("steps are chosen by number and by function, and free flight is passed over", function()
  local world <close> = make()
  local base, asked = os.tmpname(), 0
  world:capture { file = base .. ".json", every = 5 }
  world:capture { file = base .. "-when.json", most = 1, when = function(step)
    asked = asked + 1
    return step.index % 2 == 1 and step:contacts()[1].normal_impulse > 0
  end }
  local first
  for step in world:run { steps = 20 } do
    first = first or (step.index % 2 == 1 and #step:contacts() > 0 and step:contacts()[1].normal_impulse > 0 and step.index)
  end
  assert(not read(base .. "-000010.json"), "in free flight")
  for _, step in ipairs { 15, 20 } do
    local name = ("%s-%06d.json"):format(base, step)
    local text = read(name)
    assert(text:find(('"name": "capture, step %d to t = %g s"'):format(step, step * 0.01), 1, true), text:sub(1, 200))
    os.remove(name)
  end
  assert(read(base .. "-when.json"):find(("step %d to"):format(first), 1, true))
  assert(asked >= 1 and asked < 10, "asked until it had the one")
  os.remove(base .. "-when.json")
  os.remove(base)
end)

stn.test("what is asked wrongly is said at once, what goes wrong in 'when' with its line", function()
  local world <close> = make()
  stn.fails(function() world:capture {} end, "name the file")
  stn.fails(function() world:capture { file = "p.txt" } end, "must end in .hdf5, .h5 or .json")
  stn.fails(function() world:capture { file = "/no/such/p.json" } end, "there is no folder /no/such/")
  stn.fails(function() world:capture { file = "p.json", every = 0 } end, "every")
  stn.fails(function() world:capture { file = "p.json", when = 3 } end, "'when' is a number, must be a function")
  stn.fails(function() world:capture { file = "p.json", form = "dense" } end, "form")
  world:capture { file = "/tmp/never.json", when = function() return world:step() end }
  stn.fails(function() for _ in world:run { steps = 30 } do end end, "capture.lua:49")
  assert(not read "/tmp/never.json")
end)
