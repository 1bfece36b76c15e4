-- SPDX-License-Identifier: Apache-2.0
-- What stands must stand: towers, a card house, an arch.
local stn = require "stiction"
local files <close> = require "files"()

local full = os.getenv("STICTION_TEST_TIER") == "full"

--- OBJ file of an upright prism over a convex outline, corners counter-clockwise, from z = -half to half.
local function prism_file(outline, half)
  local lines, n, bottom, top = {}, #outline, {}, {}
  for i, corner in ipairs(outline) do
    lines[#lines + 1] = ("v %.17g %.17g %.17g\nv %.17g %.17g %.17g\n"):format(corner[1], corner[2], -half, corner[1], corner[2], half)
    bottom[n + 1 - i], top[i] = 2 * i - 1, 2 * i
  end
  for i = 1, n do
    local j = i % n + 1
    lines[#lines + 1] = ("f %d %d %d %d\n"):format(2 * i - 1, 2 * j - 1, 2 * j, 2 * i)
  end
  lines[#lines + 1] = ("f %s\nf %s\n"):format(table.concat(bottom, " "), table.concat(top, " "))
  return files:write(".obj", table.concat(lines))
end

local function regular(sides, radius)
  local outline = {}
  for i = 1, sides do
    outline[i] = { radius * math.cos(2 * math.pi * i / sides), radius * math.sin(2 * math.pi * i / sides) }
  end
  return outline
end

local square, hexagon = prism_file(regular(4, 0.065), 0.05), prism_file(regular(6, 0.055), 0.05)

local block = {
  box = function(world, body)
    body.size = { 0.1, 0.1, 0.1 }
    return world:box(body)
  end,
  cylinder = function(world, body)
    body.radius, body.length = 0.05, 0.1
    return world:cylinder(body)
  end,
  square = function(world, body)
    body.file = square
    return world:mesh(body)
  end,
  hexagon = function(world, body)
    body.file = hexagon
    return world:mesh(body)
  end,
}

--- Ten blocks on each other for 6 s (60 s in full): none drifts, leans, sinks or trembles.
local function tower(shape, yawed, dt)
  math.randomseed(7)
  -- two hexagons share up to 12 corners; of more than max_points others stay as a tilt turns, and the tower trembles
  local world, blocks = stn.world { dt = dt, contact = { "point", max_points = shape == "hexagon" and 12 or 8 } }, {}
  world:ground { mu = 0.5 }
  for i = 1, 10 do
    local off = yawed and 0.004 * (math.random() - 0.5) or 0
    blocks[i] = block[shape](world, {
      density = 1000, mu = 0.5, xyz = { off, -off, (i - 0.5) * 0.1 }, rpy = { 0, 0, yawed and 6 * math.random() or 0 },
    })
  end
  for _ in world:run { seconds = full and 60 or 6 } do
  end
  local what = ("%s%s, dt %g: "):format(shape, yawed and " yawed" or "", dt)
  for i, body in ipairs(blocks) do
    local place, axis = body:position(), body:pose():rotate { 0, 0, 1 }
    stn.near({ place[1], place[2] }, { 0, 0 }, 5e-3, what .. "drift")
    stn.near(place[3], (i - 0.5) * 0.1, 2e-3, what .. "height")
    stn.near({ axis[1], axis[2] }, { 0, 0 }, 5e-3, what .. "lean")
    assert(body:speed() < 1e-4, what .. "block " .. i .. " moves at " .. body:speed())
  end
end

for _, shape in ipairs { "box", "cylinder", "square", "hexagon" } do
  stn.test("a tower of ten blocks stands: " .. shape, function()
    for _, dt in ipairs { 0.002, 0.005 } do
      tower(shape, false, dt)
      tower(shape, true, dt)
    end
  end)
end

local length, thickness, angle = 0.2, 0.01, 20 * stn.deg

--- A card on its edge that leans towards -side; its upper edge on that side is at x = 0.
local function card(world, side)
  return world:box {
    size = { thickness, 0.1, length }, density = 500, rpy = { 0, -side * angle, 0 },
    xyz = {
      side * (length * math.sin(angle) + thickness * math.cos(angle)) / 2, 0,
      (length * math.cos(angle) + thickness * math.sin(angle)) / 2,
    },
  }
end

-- The wall pushes with H, H length cos = W (length sin - thickness cos) / 2, and the floor must hold it: H < mu W.
stn.test("a card leans on a smooth wall while mu > (tan(angle) - thickness/length) / 2", function()
  local least = (math.tan(angle) - thickness / length) / 2
  for _, share in ipairs { 0.97, 1.03 } do
    local world = stn.world { dt = 0.001 }
    local wall = world:box { name = "wall", fixed = true, size = { 0.1, 1, 1 }, xyz = { -0.05, 0, 0.5 } }
    world:ground {}
    local leaning = card(world, 1)
    world:contact_material { mu = share * least }
    world:contact_material { a = wall, b = leaning, mu = 0 }
    local start = leaning:position()[3]
    for _ in world:run { seconds = 3 } do
    end
    local down = start - leaning:position()[3]
    if share > 1 then
      assert(down < 1e-4 and leaning:speed() < 1e-4, ("it came down by %g m"):format(down))
    else
      assert(down > 0.05, ("it stands on too little friction, %g m down"):format(down))
    end
  end
end)

stn.test("a house of two cards stands", function()
  local world = stn.world { dt = 0.001 }
  world:ground {}
  local cards = { card(world, 1), card(world, -1) }
  world:contact_material { mu = 0.6 }
  local start = cards[1]:position()[3]
  for _ in world:run { seconds = full and 20 or 2 } do
  end
  stn.near(cards[1]:position()[3], start, 1e-5, "height")
  assert(cards[1]:speed() < 1e-4 and cards[2]:speed() < 1e-4, "it moves")
end)

--- A half-circle arch of wedges between radii r and R; how far its keystone came down.
local function arch(count, thickness, mu, seconds)
  local world, middle = stn.world { dt = 0.001 }, 0.5
  local inner, outer = middle - thickness / 2, middle + thickness / 2
  local half = math.pi / count / 2
  local wedge = prism_file({
    { inner * math.cos(half), -inner * math.sin(half) }, { outer * math.cos(half), -outer * math.sin(half) },
    { outer * math.cos(half), outer * math.sin(half) }, { inner * math.cos(half), inner * math.sin(half) },
  }, 0.1)
  world:ground {}
  local stones = {}
  for i = 1, count do
    local angle = (2 * i - 1) * half -- about the y axis: outline x outwards, y along the arch
    stones[i] = world:mesh { file = wedge, density = 2000, pose = stn.pose { rpy = { 0, -angle, 0 } } * { rpy = { -math.pi / 2, 0, 0 } } }
  end
  world:contact_material { mu = mu }
  for _ in world:run { seconds = seconds } do
  end
  local key = stones[(count + 1) // 2]
  return -key:position()[3], key:speed()
end

-- Couplet and Heyman: a half-circle arch stands when its thickness is more than 0.1075 of its middle radius.
stn.test("an arch of wedges stands on friction when it is thick enough", function()
  local down, speed = arch(9, 0.12, 0.6, full and 10 or 2)
  assert(down < 2e-3 and speed < 1e-4, ("its key came down by %g m at %g m/s"):format(down, speed))
  down = arch(9, 0.03, 0.6, 2)
  assert(down > 0.1, "a thin one must fall")
end)
