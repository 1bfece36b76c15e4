-- SPDX-License-Identifier: Apache-2.0
-- Clutter: spheres and boxes that fall in columns into a container or onto an open floor. What clutter.lua and the studies
-- of papers/sap have in common.
--
-- placement "paper": columns at (+-0.2, +-0.2) m, random shapes and rotations, as in the SAP paper [castro-2022], section
-- VI-C; "columns": columns of ten with alternating shapes, nearly aligned, the scene that other engines are measured on.
-- box_contact "manifold": boxes touch by face clipping; "spheres26": by 26 spheres inside each box, as in the paper's demo.
local stn = require "stiction"

local clutter = {}
local radius = 0.05 -- half size of the bodies [m]

-- Inner half width of the container [m]. Columns of ten stand at least 0.13 m apart: more than 360 bodies make it wider.
local function half_width(p)
  local side = math.ceil(math.sqrt(math.ceil(p.bodies / 10)))
  return 0.4 + (p.placement == "columns" and 0.065 * math.max(0, side - 6) or 0)
end

-- Declares the parameters of the scene; `changes` are other defaults, and parameters of the script's own.
function clutter.parameters(changes)
  local defaults = {
    bodies = 40,
    walls = true,
    mu = 1.0,           -- of every contact
    stiffness = math.huge, -- [N/m]; rigid, which the law makes as soft as the step needs
    dissipation = 0.0,  -- [s/m]
    dt = 0.01,          -- [s]
    seconds = 10.0,     -- [s]
    seed = 1,
    placement = stn.choice { "paper", "columns" },
    box_contact = stn.choice { "manifold", "spheres26" },
  }
  for name, value in pairs(changes or {}) do
    defaults[name] = value
  end
  local p = stn.params(defaults)
  p.relaxation_time = stn.params { relaxation_time = p.dt }.relaxation_time -- [s]
  return p
end

-- Filters for "spheres26": solid boxes (walls and floor too) do not touch each other, their spheres touch everything.
local everything, solid = 0xffffffff, 2
local function solid_filter(p)
  if p.box_contact == "spheres26" then
    return solid, everything & ~solid
  end
  return 1, everything
end

local function add_container(world, p)
  local category, mask = solid_filter(p)
  world:ground { name = "floor", category = category, mask = mask }
  if not p.walls then
    return
  end
  local paper = p.placement == "paper"
  local thickness, height, half = paper and 0.04 or 0.10, paper and 0.80 or 1.0, half_width(p)
  local centre, length = half + 0.5 * thickness, 2 * (half + thickness)
  for i, side in ipairs { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } do
    local across = side[1] ~= 0
    world:box {
      name = "wall" .. i, fixed = true, category = category, mask = mask, color = { 0.6, 0.6, 0.6, 0.25 },
      size = { across and thickness or length, across and length or thickness, height },
      xyz = { side[1] * centre, side[2] * centre, 0.5 * height },
    }
  end
end

-- The cube, and 26 spheres that fill the surface cells of a 3 x 3 x 3 grid in it.
local function box_shapes(p)
  local category, mask = solid_filter(p)
  local shapes = {
    { "box", size = { 2 * radius, 2 * radius, 2 * radius }, mass = 1.0, category = category, mask = mask },
  }
  local cell = 2 * radius / 3
  for x = -1, 1 do
    for y = -1, 1 do
      for z = -1, 1 do
        if x ~= 0 or y ~= 0 or z ~= 0 then
          shapes[#shapes + 1] = { "sphere", radius = cell / 2, xyz = { x * cell, y * cell, z * cell }, visual = false }
        end
      end
    end
  end
  return shapes
end

local blue, orange = { 0.20, 0.45, 0.70 }, { 0.85, 0.45, 0.15 }
local function add_body(world, p, name, is_box, pose)
  if not is_box then
    return world:sphere { name = name, radius = radius, mass = 0.524, pose = pose, color = blue }
  elseif p.box_contact == "spheres26" then
    return world:compound { name = name, pose = pose, shapes = box_shapes(p) }
  end
  return world:box { name = name, size = { 2 * radius, 2 * radius, 2 * radius }, mass = 1.0, pose = pose, color = orange }
end

-- A rotation drawn uniformly.
local function random_quat()
  local u, a, b = math.random(), 2 * math.pi * math.random(), 2 * math.pi * math.random()
  local s, c = math.sqrt(1 - u), math.sqrt(u)
  return { c * math.cos(b), s * math.sin(a), s * math.cos(a), c * math.sin(b) }
end

-- Pose of body i, counted from 0, and whether it is a box.
local function paper_place(p, i)
  local per_column = math.ceil(p.bodies / 4)
  local column, layer = i // per_column, i % per_column
  local x, y = column % 2 == 0 and -0.2 or 0.2, column < 2 and -0.2 or 0.2
  return { xyz = { x + 0.001 * layer, y, 0.075 + 0.15 * layer }, quat = random_quat() }, math.random() < 0.5
end

local nearest = 0.11 -- of columns: nearer ones would begin inside each other [m]

-- Columns stand on a square grid, `spacing` [m] apart; when that is not given, as far as the container allows, at most 0.3;
-- on the open floor 0.3 for more than 360 bodies, which the container of 0.8 m would not hold.
local function columns_place(p, i, spacing)
  local high = 10
  local column, layer = i // high, i % high
  local side = math.ceil(math.sqrt(math.ceil(p.bodies / high)))
  local room = p.walls and 2 * half_width(p) - 0.15 or 0.65
  local apart = spacing or math.min(0.3, room / math.max(1, side - 1))
  if apart < nearest then
    apart = 0.3
  end
  local x, y = (column % side - (side - 1) / 2) * apart, (column // side - (side - 1) / 2) * apart
  local function near(width)
    return width * (2 * math.random() - 1)
  end
  return { xyz = { x + near(0.004), y + near(0.004), 0.10 + 0.13 * layer }, rpy = { 0, 0, near(0.17) } },
    (column + layer) % 2 == 1
end

-- Adds container, bodies and contact parameters to an empty world; returns the bodies. `spacing` is that of columns.
function clutter.build(world, p, spacing)
  assert(not spacing or spacing >= nearest, ("spacing = %g m must be >= %g: nearer columns begin inside each other"):format(spacing or 0, nearest))
  math.randomseed(p.seed)
  add_container(world, p)
  local place = p.placement == "paper" and paper_place or columns_place
  local bodies = {}
  for i = 0, p.bodies - 1 do
    local pose, is_box = place(p, i, spacing)
    bodies[i + 1] = add_body(world, p, "body" .. i + 1, is_box, pose)
  end
  world:contact_material {
    mu = p.mu, stiffness = p.stiffness, relaxation_time = p.relaxation_time, dissipation = p.dissipation,
  }
  return bodies
end

-- How many bodies have left the container, and the mean speed of all [m/s].
function clutter.survey(p, bodies)
  local outside, speed, half = 0, 0, half_width(p)
  for _, body in ipairs(bodies) do
    local xyz = body:position()
    if p.walls and (math.abs(xyz[1]) > half or math.abs(xyz[2]) > half) or xyz[3] < 0 then
      outside = outside + 1
    end
    speed = speed + body:speed() / #bodies
  end
  return outside, speed
end

return clutter
