-- SPDX-License-Identifier: Apache-2.0
-- Controllers of grippers and hands: every one that `stiction plugins` lists and that takes `force` beside `width` (on the WSG 50) or `closure` (on the
-- Allegro hand). A step of it, a sine, and what something in between feels for several forces.
--
--   stiction run -q scripts/controllers/grips.lua --set folder=docs/pictures
local stn = require "stiction"
local worse = require "worse"
local chart = require "chart"

local p = stn.params {
  dt = 1e-3,    -- [s]
  rate = 0.5,   -- of the sine [Hz]
  folder = "",  -- for charts; empty: none
}

-- From `open` to `closed` in units of the channel, and what is gripped.
local kinds = {
  { channel = "width", unit = " m", file = "models/wsg50/wsg50.urdf", open = 0.08, closed = 0.03, object = "box", forces = { 5, 10, 20, 40 } },
  { channel = "closure", unit = "", file = "models/allegro/allegro_right.urdf", open = 0, closed = 1, object = "ball", forces = { 1, 2, 4 } },
}

-- What the fingers of a robot do, between open (0) and closed (1): how far its joints are on the way that they go without an object.
local function progress(from, to)
  return function(q)
    local along, length = 0, 0
    for i = 1, #from do
      along, length = along + (q[i] - from[i]) * (to[i] - from[i]), length + (to[i] - from[i]) ^ 2
    end
    return along / length
  end
end

local function new_world(kind, object)
  local world = stn.world { dt = p.dt, gravity = { 0, 0, 0 }, solver = { "sap", tolerance = 1e-10 } }
  local robot = world:load { kind.file, fixed = true, name = "robot" }
  world:disable_collisions(robot)
  if object then
    object(world)
  end
  return world, robot
end

-- Runs it with reference(t); on_step(t, positions, world).
local function run(name, kind, options)
  local world <close>, robot = new_world(kind, options.object)
  if options.start then
    robot:set_q(options.start)
  end
  world:controller { name, target = robot, update = function(view)
    return { [kind.channel] = options.reference(view.time + p.dt), force = options.force }
  end }
  for _ in world:run { seconds = options.seconds } do
    options.on_step(world.time, robot:q(), world, robot)
  end
end

-- Positions where it stands when it has been told to be at `value`.
local function settled(name, kind, value, start)
  local last
  run(name, kind, { seconds = 2, start = start, reference = function() return value end, on_step = function(_, q) last = q end })
  return last
end

local function step(name, kind, ways)
  local line, high, settling, rise = { name = name, x = { 0 }, y = { 0 } }, 0, 0, {}
  run(name, kind, { seconds = 2, start = ways.open, reference = function() return kind.closed end, on_step = function(t, q)
    local s = ways.part(q)
    line.x[#line.x + 1], line.y[#line.y + 1] = t, s
    high = math.max(high, s)
    settling = math.abs(s - 1) > 0.02 and t or settling
    rise.low, rise.high = rise.low or s >= 0.1 and t or nil, rise.high or s >= 0.9 and t or nil
  end })
  return { rise = rise.high - rise.low, overshoot = 100 * math.max(0, high - 1), settling = settling }, line
end

-- In the channel's unit, where its way is straight in the joints; else as part of the way.
local function sine(name, kind, ways)
  local sum, count, largest = 0, 0, 0
  local function part(t) return 0.2 + 0.3 * (1 - math.cos(2 * math.pi * p.rate * t)) end
  local function told(t) return kind.open + part(t) * (kind.closed - kind.open) end
  local start = settled(name, kind, told(0), ways.open)
  run(name, kind, { seconds = 2 / p.rate, start = start, reference = told, on_step = function(t, q)
    local e = math.abs(ways.part(q) - part(t)) * math.abs(kind.closed - kind.open)
    sum, count, largest = sum + e * e, count + 1, math.max(largest, e)
  end })
  return { rms = math.sqrt(sum / count), max = largest }
end

-- A loose block between the jaws, so that both press alike, or a fixed ball where the tip of the first finger would be three quarters closed.
local function object_of(kind, tip)
  return function(world)
    if kind.object == "box" then
      world:box { name = "object", size = { 0.03, 0.05, 0.03 }, mass = 0.2, xyz = tip, mu = 0.5 }
    else
      world:sphere { name = "object", radius = 0.015, fixed = true, xyz = tip, mu = 0.5 }
    end
  end
end

-- The force of the fingers on one side of the object: of a jaw, of a finger; means of 10 ms, since fingers that arrive make an impact.
local function press(name, kind, ways, force)
  local line, last, count, peak = { name = ("%s, %g N"):format(name, force), x = {}, y = {} }, 0, 0, 0
  local window, sum, steps = 0.01, 0, 0
  run(name, kind, { seconds = 2, start = ways.open, force = force, object = object_of(kind, ways.place), reference = function() return kind.closed end,
    on_step = function(t, _, world)
      local most = 0
      for _, link in ipairs(world:group "robot":links()) do
        most = worse(most, world:contact_force(link, world:group "object").normal_force)
      end
      sum, steps = sum + most, steps + 1
      if steps * p.dt >= window then
        line.x[#line.x + 1], line.y[#line.y + 1] = t, sum / steps
        peak, sum, steps = math.max(peak, sum / steps), 0, 0
      end
      if t > 1.5 then
        last, count = last + most, count + 1
      end
    end })
  return { force = last / count, peak = peak }, line
end

-- ------------------------------------------------------------------------------------------------------------ all

-- The kind of a controller, by its references.
local function kind_of(name)
  for _, kind in ipairs(kinds) do
    local world <close>, robot = new_world(kind)
    local seen
    local ok = pcall(function()
      world:controller { name, target = robot, update = function(view) seen = view.reference end }
      world:step()
    end)
    if ok and seen[kind.channel] and seen.force then
      return kind
    end
  end
end

-- Where the object is: between the jaws, at the tip.
local function place_of(name, kind, open)
  local world <close>, robot = new_world(kind)
  robot:set_q(kind.object == "box" and open or settled(name, kind, kind.open + 0.75 * (kind.closed - kind.open), open))
  local links = robot:links()
  if kind.object == "box" then
    return robot:link "wsg50_tip":position()
  end
  for i, link in ipairs(links) do -- the first finger ends before a link that hangs on the palm again
    if links[i + 1] and i > 1 and links[i + 1]:parent() == links[1] then
      return link:position()
    end
  end
end

local steps, presses = {}, {} -- lines of charts; the latter by channel
for _, name in ipairs(stn.plugins "controller") do
  local kind = kind_of(name)
  if kind then
    local ways = { open = settled(name, kind, kind.open) }
    ways.part = progress(ways.open, settled(name, kind, kind.closed, ways.open))
    ways.place = place_of(name, kind, ways.open)
    local row, line = step(name, kind, ways)
    io.stderr:write(("%s: %s from %g to %g%s: rise %.3g s, overshoot %.2g %%, settling %.3g s\n"):format(name, kind.channel, kind.open, kind.closed, kind.unit,
      row.rise, row.overshoot, row.settling))
    steps[#steps + 1] = line
    row = sine(name, kind, ways)
    io.stderr:write(("%s: a sine at %g Hz over 0.6 of that: error rms %.3g, largest %.3g%s\n"):format(name, p.rate, row.rms, row.max, kind.unit))
    for _, force in ipairs(kind.forces) do
      row, line = press(name, kind, ways, force)
      io.stderr:write(("%s: %g N asked for: %.4g N on one side of a %s, %.4g N at most (means of 10 ms)\n"):format(name, force, row.force, kind.object, row.peak))
      presses[kind.channel] = presses[kind.channel] or {}
      table.insert(presses[kind.channel], line)
    end
  end
end

if p.folder ~= "" then
  local function draw(what, title, series, label)
    if series and #series > 0 then
      chart.write(("%s/controllers_grip_%s.svg"):format(p.folder, what), { title = title, x = { label = "time [s]" }, y = { label = label },
        legend = "beside", series = chart.thinned(series, 250) })
    end
  end
  draw("step", "Closing: part of the way", steps, "part of the way [1]")
  draw("width", "Contact force of a jaw, means of 10 ms", presses.width, "contact force [N]")
  draw("closure", "Contact force of a finger, means of 10 ms", presses.closure, "contact force [N]")
end
