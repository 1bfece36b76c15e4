-- SPDX-License-Identifier: Apache-2.0
-- Every controller that `stiction plugins` lists, and one written in Lua, as something that follows a reference. Whether it moves joints or a link
-- is read from its references: one that takes `position`, three numbers or one for each joint, or waypoints beforehand, `times` and `points`, needs no
-- line here. `settings` are the gains that the page of controllers was made with; others have their defaults.
local stn = require "stiction"
local plant = require "plant"
local controls = {}

local function all(value)
  local list = {}
  for i = 1, 7 do
    list[i] = value
  end
  return list
end

local settings = {
  joint_pd = { kp = 4000, kd = 400, gravity_compensation = true },
  inverse_dynamics = { kp = 1e4, kd = 200 },
  joint_impedance = { stiffness = 1000 },
  cartesian_impedance = { frame = plant.link, stiffness = 2000, rotational_stiffness = 100, posture_stiffness = 20 },
  differential_ik = { frame = plant.link, gain = 50, speed = 1, avoid = "none" },
  trajectory = { spline = "cubic", kp = 4000, kd = 400 },
}

-- Settings by the gain of their springs, for those that have one.
local with_gain = {
  joint_pd = function(gain) return { kp = gain, kd = gain / 10, gravity_compensation = true } end,
  inverse_dynamics = function(gain) return { kp = gain, kd = 2 * math.sqrt(gain) } end,
  joint_impedance = function(gain) return { stiffness = gain } end,
  cartesian_impedance = function(gain) return { frame = plant.link, stiffness = gain } end,
  trajectory = function(gain) return { kp = gain, kd = gain / 10 } end,
  differential_ik = function(gain) return { frame = plant.link, kp = gain, kd = gain / 10, speed = 1, avoid = "none" } end,
}

-- References beside those that move it.
local constant = {
  effort = { stiffness = all(4000), damping = all(400) },
}

-- What a controller has of a reference { position =, velocity =, acceleration = }.
local function known(reference, channels, extra)
  local list = {}
  for name, values in pairs(reference) do
    list[name] = channels[name] and values
  end
  for name, values in pairs(extra or {}) do
    list[name] = values
  end
  return list
end

local function add(world, arm, name, update, gain)
  local description = { name, target = arm, update = update }
  for key, value in pairs(gain and with_gain[name](gain) or settings[name] or {}) do
    description[key] = value
  end
  return world:controller(description)
end

local function same(a, b)
  for i, x in ipairs(a) do
    if b[i] ~= x then return false end
  end
  return true
end

-- References of a controller that takes its path beforehand: from where the joints are as many waypoints as it has room for over these seconds, up to
-- where the reference rests.
local function waypoints(arm, reference, count, seconds)
  local times, points = { 0 }, { arm:q() }
  for k = 2, count do
    times[k] = seconds * (k - 1) / (count - 1)
    points[k] = reference(times[k]).position
  end
  while #times > 2 and same(points[#points], points[#points - 1]) do
    times[#times], points[#points] = nil, nil
  end
  return { times = times, points = points }
end

-- The link of the arm whose origin is nearest to a place.
local function link_at(arm, place)
  local nearest, least = nil, math.huge
  for _, link in ipairs(arm:links()) do
    local at = link:position()
    local distance = (at[1] - place[1]) ^ 2 + (at[2] - place[2]) ^ 2 + (at[3] - place[3]) ^ 2
    if distance <= least then -- the last of several, which is the farthest out
      nearest, least = link.name, distance
    end
  end
  return nearest
end

-- The references of a controller as they are at the start, and the link that it leads; nil and why there are none.
local function channels_of(name)
  local world <close>, arm = plant.new {}
  local seen, link
  local ok, why = pcall(function()
    add(world, arm, name, function(view) seen = view.reference end)
    world:step()
    if seen.position and #seen.position == 3 then
      link = link_at(arm, seen.position)
    end
  end)
  return ok and seen or nil, ok and link or (tostring(why):gsub("^%S+:%d+: ", ""):gsub("%s+", " "))
end

local function plugin(name, gain)
  local channels, link = channels_of(name)
  local count = channels and channels.position and #channels.position
  local rows = channels and channels.times and channels.points and #channels.times
  count = rows and #channels.points // rows or count
  local control = { name = name, gain = gain, link = link, moves = count == 7 and "joints" or count == 3 and "link" or nil }
  if not control.moves then
    control.note = channels and "takes no position" or "refused: " .. link
  end
  -- reference(t): of the time t, where the step ends; seconds: until when it will be asked for, 1 s where that is not known
  function control.add(world, arm, reference, seconds)
    if rows then
      local made = add(world, arm, name, nil, gain)
      made:set(waypoints(arm, reference, rows, seconds or 1))
      return made
    end
    return add(world, arm, name, function(view)
      return known(reference(view.time + world.dt), channels, constant[name])
    end, gain)
  end
  return control
end

-- A PD of a script: efforts of the state before the step, held for two milliseconds.
local in_lua = { name = "lua, 500 Hz", moves = "joints" }
function in_lua.add(world, arm, reference)
  return world:controller { "lua", target = arm, rate = 500, update = function(view)
    local goal, weight, u = reference(view.time + world.dt), arm:bias(), {}
    for i, q in ipairs(view.position) do
      u[i] = weight[i] + 1000 * (goal.position[i] - q) + 60 * (goal.velocity[i] - view.velocity[i])
    end
    return u
  end }
end

-- That plugin with this gain of its springs, or nil when it has none.
function controls.with_gain(name, gain)
  return with_gain[name] and plugin(name, gain)
end

-- A list of { name =, moves = "joints" | "link" | nil, link = its name, note =, add = function(world, arm, reference, seconds) }.
function controls.list()
  local list = {}
  for _, name in ipairs(stn.plugins "controller") do
    list[#list + 1] = plugin(name)
  end
  list[#list + 1] = in_lua
  return list
end

return controls
