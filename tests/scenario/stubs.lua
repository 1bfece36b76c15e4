-- SPDX-License-Identifier: Apache-2.0
-- docs/lua/stiction.lua and docs/lua.md must name what the module registers: no more (stubs), no less (both).
local stn = require "stiction"

local function read(name)
  local folder = debug.getinfo(1, "S").source:match "^@(.*)/" or "."
  local file = assert(io.open(folder .. "/../../docs/" .. name))
  local text = file:read "a"
  file:close()
  return text
end

-- What exists: class -> set of functions.
local function registered()
  local world = stn.world {}
  local ball = world:sphere { radius = 0.1 }
  local soft = world:soft { box = { 1, 1, 1 }, cells = 1, xyz = { 0, 0, 5 } }
  local constraint = world:constraint { "ball", a = ball }
  local sensor = world:sensor { "imu", link = ball }
  local step = world:step()
  local objects = { world = world, group = ball, link = ball:links()[1], joint = ball:joints()[1], step = step,
    batch = stn.batch { world }, rollout = stn.rollout { world, count = 1, cost = {} }, constraint = constraint, pose = ball:pose(), task = world:task(function() end), sensor = sensor, soft = soft }
  local found = { stn = {}, patch = {} }
  for name, value in pairs(stn) do
    if type(value) == "function" then
      found.stn[name] = true
    end
  end
  for name in pairs(debug.getregistry()["stiction.patch"].__methods) do -- no contact model of this world makes any
    found.patch[name] = true
  end
  for class, object in pairs(objects) do
    found[class] = {}
    for name in pairs(getmetatable(object).__methods) do
      found[class][name] = true
    end
  end
  return found
end

stn.test("the stubs name every function, and no other", function()
  local stubs, found = read "lua/stiction.lua", registered()
  local named = {}
  for class, name in stubs:gmatch "\nfunction (%w+)[.:]([%w_]+)%(" do
    named[class] = named[class] or {}
    named[class][name] = true
    assert(class == "controller" or found[class][name], ("%s:%s is in the stubs only"):format(class, name))
  end
  for class, names in pairs(found) do
    for name in pairs(names) do
      assert(named[class] and named[class][name], ("%s:%s is missing in the stubs"):format(class, name))
    end
  end
end)

stn.test("the reference mentions every function", function()
  local page = read "lua.md"
  for class, names in pairs(registered()) do
    for name in pairs(names) do
      local call = class == "stn" and "stn." .. name or ":" .. name
      assert(page:find(call, 1, true), ("%s of %s is not in docs/lua.md"):format(name, class))
    end
  end
end)
