-- SPDX-License-Identifier: Apache-2.0
-- world:camera and world:caption: what pictures are taken with, in recordings and replays of them, and what is refused.
local stn = require "stiction"
local with_folder = require "with_folder"

local function bytes_of(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

--- A red box that flies away fast; and a ball that stays, unless `alone`.
local function make(alone)
  local world = stn.world { dt = 0.01, gravity = { 0, 0, 0 } }
  local box = world:box { name = "box", size = { 0.2, 0.2, 0.2 }, color = { 0.9, 0.1, 0.1 }, velocity = { 20, 0, 0 } }
  local ball = not alone and world:sphere { name = "ball", radius = 0.1, xyz = { 0, 1, 0 }, color = { 0.1, 0.1, 0.9 } }
  return world, box, ball
end

local function picture(folder, name, camera, steps, alone)
  local world, box, ball = make(alone)
  if camera then world:camera(camera(box, ball)) end
  world:record(folder .. name, { "png", width = 64, height = 48 })
  for _ in world:run { steps = steps } do end
  world:close_recordings()
  return bytes_of(folder .. name):gsub("....iTXt.-IDAT", "") -- step and time of the picture
end

stn.test("a camera that follows a body goes with it", function()
  with_folder(function(folder)
    local function follow(box) return { follow = box, smoothing = 0 } end
    local function stay() return { target = { 0, 0, 0 }, distance = 2 } end
    assert(picture(folder, "a.png", follow, 0, true) == picture(folder, "b.png", follow, 60, true), "the picture of what is followed changes")
    assert(picture(folder, "c.png", stay, 1) ~= picture(folder, "d.png", stay, 60), "a camera that stays still sees the box")
    assert(picture(folder, "e.png", follow, 60) == picture(folder, "f.png", follow, 60), "equal runs give other pictures")
  end)
end)

stn.test("a position is azimuth, elevation and distance from the target", function()
  with_folder(function(folder)
    local a = picture(folder, "a.png", function() return { position = { 3, 4, 5 }, target = { 0, 1, 0 } } end, 3)
    local d = math.sqrt(9 + 9 + 25)
    local b = picture(folder, "b.png", function()
      return { target = { 0, 1, 0 }, azimuth = 45, elevation = math.asin(5 / d) / stn.deg, distance = d }
    end, 3)
    assert(a == b)
  end)
end)

stn.test("numbers of the recorder itself win over the world's camera", function()
  with_folder(function(folder)
    local world, box = make()
    world:camera { follow = box }
    world:record(folder .. "a.png", { "png", width = 64, height = 48, azimuth = 36, distance = 3, target = { 0, 0, 0 } })
    world:step()
    world:close_recordings()
    world = make()
    world:record(folder .. "b.png", { "png", width = 64, height = 48, azimuth = 36, distance = 3, target = { 0, 0, 0 } })
    world:step()
    world:close_recordings()
    local function pixels(name) return bytes_of(folder .. name):gsub("....iTXt.-IDAT", "") end
    assert(pixels "a.png" == pixels "b.png")
  end)
end)

stn.test("pages hold the camera and captions, and equal runs the same of them", function()
  with_folder(function(folder)
    local function blocks(name)
      local world, box = make()
      world:camera { follow = box, azimuth = 10 }
      world:caption "it goes"
      world:record(folder .. name, { "html", title = "one" })
      for _ in world:run { steps = 30 } do end
      world:caption 'and "on"\\'
      world:camera { azimuth = 90, seconds = 0.1 }
      for _ in world:run { steps = 30 } do end
      world:close_recordings()
      local found = {}
      for kind, text in bytes_of(folder .. name):gmatch 'data%-kind="(%l+)" data%-length="%d+">([^<]*)' do
        if kind ~= "series" and kind ~= "run" then found[#found + 1] = kind .. " " .. text end -- of series the times of steps differ
      end
      return table.concat(found, "\n")
    end
    local all = blocks "a.html"
    local _, captions = all:gsub("caption ", "")
    assert(all:find "camera " and captions == 2)
    assert(all == blocks "b.html")
  end)
end)

stn.test("what cannot be is said in one line", function()
  local world, box = make()
  local _, thing = make()
  for _, case in ipairs {
    { { azimut = 3 }, "world:camera: unknown key 'azimut', did you mean 'azimuth'?" },
    { { elevation = 91 }, "world:camera: elevation = 91 deg must be between -90 and 90" },
    { { field_of_view = 0 }, "world:camera: field_of_view = 0 deg must be between 1 and 120" },
    { { distance = -1 }, "distance" }, { { seconds = 0 / 0 }, "seconds" }, { { smoothing = -1 }, "smoothing" },
    { { target = { 0, 0 } }, "target" },
    { { follow = box, target = { 0, 0, 0 } }, "world:camera: give follow or target, not both" },
    { { follow = thing }, "another world" },
    { { follow = "nothing" }, "nothing" },
    { { position = { 1, 0, 0 } }, "world:camera: position needs a target to look at; give target = {x, y, z}, or follow something with azimuth, elevation and distance" },
    { { position = { 1, 0, 0 }, target = { 1, 0, 0 } }, "world:camera: position and target are the same point" },
    { { position = { 1, 0, 0 }, target = { 0, 0, 0 }, azimuth = 3 }, "world:camera: give position, or azimuth, elevation and distance, not both" },
  } do
    local ok, why = pcall(world.camera, world, case[1])
    assert(not ok and why:find(case[2], 1, true) and not why:find "\n", tostring(why))
  end
  local ground = stn.world {}
  local plane = ground:ground { name = "floor" }
  local ok, why = pcall(ground.camera, ground, { follow = plane })
  assert(not ok and why:find("world:camera: what it is to follow has no shapes", 1, true), why)
  ok, why = pcall(world.caption, world, 3 == 3)
  assert(not ok and why:find "string expected", why)
end)
