-- SPDX-License-Identifier: Apache-2.0
-- Pictures by recorder/png: found by their ending, whole files, the same every time.
local stn = require "stiction"
local with_folder = require "with_folder"

local function bytes_of(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "a"
  file:close()
  return bytes
end

local function exists(path)
  local file = io.open(path, "rb")
  if file then
    file:close()
  end
  return file ~= nil
end

local function make()
  local world = stn.world { dt = 0.01 }
  world:ground {}
  world:box { size = { 0.2, 0.2, 0.2 }, xyz = { 0, 0, 0.1 }, color = { 0.85, 0.45, 0.15 } }
  world:sphere { radius = 0.1, xyz = { 0, 0, 0.4 } }
  return world
end

stn.test("the ending chooses the recorder, and its parameters are set by name", function()
  with_folder(function(folder)
    local world = make()
    world:record(folder .. "plain.png")
    world:record(folder .. "small.png", { "png", width = 64, height = 48, target = { 0, 0, 0.2 }, contacts = true })
    for _ in world:run { steps = 5 } do
    end
    assert(not exists(folder .. "plain.png"), "drawn before it was closed")
    world:close_recordings()
    for name, size in pairs { plain = { 800, 600 }, small = { 64, 48 } } do
      local bytes = bytes_of(folder .. name .. ".png")
      local signature, width, height = string.unpack(">c8xxxxxxxxI4I4", bytes)
      assert(signature == "\x89PNG\r\n\x1a\n" and bytes:sub(-8, -5) == "IEND", name)
      stn.near(width, size[1], 0, "width")
      stn.near(height, size[2], 0, "height")
      assert(bytes:find("step 5\ntime = 0.05 s", 1, true) and bytes:find("solver = sap", 1, true), "comment")
    end
  end)
end)

stn.test("equal runs give equal pictures, others do not", function()
  with_folder(function(folder)
    for i, steps in ipairs { 10, 10, 20 } do
      local world = make()
      world:record(folder .. i .. ".png", { "png", width = 120, height = 90 })
      for _ in world:run { steps = steps } do
      end
      world:close()
    end
    local one = bytes_of(folder .. "1.png"):gsub("step.-IDAT", "") -- without the comment
    assert(bytes_of(folder .. "1.png") == bytes_of(folder .. "2.png"))
    assert(one ~= bytes_of(folder .. "3.png"):gsub("step.-IDAT", ""), "the ball has fallen")
  end)
end)

stn.test("every n-th step is a file of its own, also before any step", function()
  with_folder(function(folder)
    local world = make()
    world:record(folder .. "run.png", { "png", width = 64, height = 48, every = 4 })
    assert(exists(folder .. "run_000000.png"), "the start")
    for _ in world:run { steps = 9 } do
    end
    world:close_recordings()
    for _, name in ipairs { "run_000004", "run_000008", "run" } do
      assert(exists(folder .. name .. ".png"), name)
    end
    assert(not exists(folder .. "run_000009.png"))
  end)
end)

stn.test("what cannot be drawn or written is said at once", function()
  local world = make()
  stn.fails(function()
    world:record "/no/such/folder/out.png"
  end, "/no/such/folder/out.png: cannot be written")
  stn.fails(function()
    world:record("out.png", { "png", width = 8 })
  end, "width")
  stn.fails(function()
    world:record("out.png", { "png", target = { 1, 2 } })
  end, "three numbers")
  stn.fails(function()
    world:record("out.png", { "png", geometry = "visuals" })
  end, "visual")
end)
