-- SPDX-License-Identifier: Apache-2.0
-- Recordings of soft bodies that are attached, blown up, crushed and in contact with themselves: whole pages and
-- pictures, with colours, also where the run ends early.
local stn = require "stiction"
local worse = require "worse"
local files <close> = require "files"()

local function bytes_of(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

--- Blocks of a kind in a page; every block must be as long as it says, on a line of its own.
local function blocks(page, kind)
  local count = 0
  for found, length, text in page:gmatch '\n<script type="application/x%-stiction" data%-kind="(%l+)" data%-length="(%d+)">([^<]*)</script>' do
    assert(#text == tonumber(length), found .. " is cut off")
    count = count + (found == kind and 1 or 0)
  end
  return count
end

local function make()
  local world = stn.world { dt = 5e-3 }
  world:ground {}
  local finger = world:soft { name = "finger", finger = { size = { 0.06, 0.02, 0.015 }, chambers = 1, wall = 0.003, floor = 0.004 }, cells = { 8, 4, 4 },
    young = 1e5, damping = 0.02, xyz = { 0.03, 0, 0.3 }, attach = { { link = "world", nodes = "x_min" } }, self_collision = true }
  world:soft { name = "jelly", box = { 0.1, 0.1, 0.1 }, cells = 2, young = 300, density = 1000, damping = 0.02, xyz = { 0, 0.3, 0.06 } } -- its weight crushes it
  local line = {}
  for i = 0, 20 do
    line[i + 1] = { 0.3 + 0.02 * math.cos(0.6 * i), 0.02 * math.sin(0.6 * i), 0.02 + 0.008 * i }
  end
  world:cable { name = "rope", points = line, radius = 0.002, young = 1e6, density = 1000, rest = "straight", self_collision = true }
  return world, finger
end

local function record(world)
  local page, other, picture = files:path ".html", files:path ".html", files:path ".png"
  world:record(page, { "html", color_by = "von_mises", color_range = { 0, 1e4 } })
  world:record(other, { "html", color_by = "cable.stress" })
  world:record(picture, { "png", color_by = "von_mises", width = 160, height = 120 })
  return page, other, picture
end

local function check_whole(page, other, picture)
  for _, path in ipairs { page, other } do
    local text = bytes_of(path)
    assert(blocks(text, "scene") == 1 and blocks(text, "frames") >= 1 and blocks(text, "end") == 1, path .. " is not whole")
  end
  assert(bytes_of(picture):sub(-8, -5) == "IEND", picture .. " is not whole")
end

stn.test("what is attached, blown up and crushed is recorded to the end", function()
  local world, finger = make()
  local page, other, picture = record(world)
  local inverted = 0
  for step in world:run { seconds = 0.2 } do
    finger:set_pressure(1e4 * math.min(1, step.time / 0.1))
    inverted = worse(inverted, step.inverted)
  end
  assert(inverted > 0, "nothing turned inside out: the scene is not what it is meant to be")
  world:close_recordings()
  check_whole(page, other, picture)
end)

stn.test("a run that ends by an error leaves whole files", function()
  local page, other, picture
  do
    local world <close> = make()
    page, other, picture = record(world)
    stn.fails(function()
      for step in world:run { seconds = 0.2 } do
        assert(step.time < 0.05, "enough")
      end
    end, "enough")
  end
  check_whole(page, other, picture)
end)
