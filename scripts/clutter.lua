-- SPDX-License-Identifier: Apache-2.0
-- Clutter: spheres and boxes fall in four columns into a container and come to rest.
--
-- placement "paper": columns at (+-0.2, +-0.2) m, random shapes and rotations, as in the SAP paper, section VI-C;
-- "columns": columns of ten with alternating shapes, nearly aligned, the scene that other engines are measured on.
-- box_contact "manifold": boxes touch by face clipping; "spheres26": by 26 spheres inside each box, as in the paper's demo.
local stn = require "stiction"

local p = stn.params {
  bodies = 40,
  walls = true,
  mu = 1.0,             -- of every contact
  stiffness = 1e12,     -- [N/m]; near-rigid
  dissipation = 0.0,    -- [s/m]
  dt = 0.01,            -- [s]
  seconds = 10.0,       -- [s]
  seed = 1,
  placement = stn.choice { "paper", "columns" },
  box_contact = stn.choice { "manifold", "spheres26" },
}
p.relaxation_time = stn.params { relaxation_time = p.dt }.relaxation_time -- [s]

local paper = p.placement == "paper"
local half, radius = 0.4, 0.05 -- inner half width of the container, half size of the bodies [m]
local world = stn.world { dt = p.dt, solver = { "sap", tolerance = 1e-6 } }
math.randomseed(p.seed)

-- Filters for "spheres26": solid boxes (walls and floor too) do not touch each other, their spheres touch everything.
local everything, solid = 0xffffffff, 2
local function solid_filter()
  if p.box_contact == "spheres26" then
    return solid, everything & ~solid
  end
  return 1, everything
end

local function container()
  local category, mask = solid_filter()
  world:ground { name = "floor", category = category, mask = mask }
  if not p.walls then
    return
  end
  local thickness, height = paper and 0.04 or 0.10, paper and 0.80 or 1.0
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

-- 26 spheres that fill the surface cells of a 3 x 3 x 3 grid in the cube.
local function box_shapes()
  local category, mask = solid_filter()
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
local function add(name, is_box, pose)
  if not is_box then
    return world:sphere { name = name, radius = radius, mass = 0.524, pose = pose, color = blue }
  elseif p.box_contact == "spheres26" then
    return world:compound { name = name, pose = pose, shapes = box_shapes() }
  end
  return world:box { name = name, size = { 2 * radius, 2 * radius, 2 * radius }, mass = 1.0, pose = pose, color = orange }
end

-- A rotation drawn uniformly.
local function random_quat()
  local u, a, b = math.random(), 2 * math.pi * math.random(), 2 * math.pi * math.random()
  local s, c = math.sqrt(1 - u), math.sqrt(u)
  return { c * math.cos(b), s * math.sin(a), s * math.cos(a), c * math.sin(b) }
end

local function paper_pose(column, layer)
  local x, y = column % 2 == 0 and -0.2 or 0.2, column < 2 and -0.2 or 0.2
  return { xyz = { x + 0.001 * layer, y, 0.075 + 0.15 * layer }, quat = random_quat() }, math.random() < 0.5
end

-- Columns stand on a square grid, as far apart as the container allows, at most 0.3 m.
local columns_high = 10
local side = math.ceil(math.sqrt(math.ceil(p.bodies / columns_high)))
local apart = math.min(0.3, 0.65 / math.max(1, side - 1))

local function columns_pose(column, layer)
  local x, y = (column % side - (side - 1) / 2) * apart, (column // side - (side - 1) / 2) * apart
  local function near(width)
    return width * (2 * math.random() - 1)
  end
  return { xyz = { x + near(0.004), y + near(0.004), 0.10 + 0.13 * layer }, rpy = { 0, 0, near(0.17) } },
    (column + layer) % 2 == 1
end

container()
local bodies = {}
local per_column = paper and math.ceil(p.bodies / 4) or columns_high
for i = 0, p.bodies - 1 do
  local place = paper and paper_pose or columns_pose
  local pose, is_box = place(i // per_column, i % per_column)
  bodies[#bodies + 1] = add("body" .. i + 1, is_box, pose)
end
world:contact_material {
  mu = p.mu, stiffness = p.stiffness, relaxation_time = p.relaxation_time, dissipation = p.dissipation,
}

-- At rest: the last tenth of the run, every tenth step.
local deep, depth_sum, depth_count, momentum = 0, 0, 0, 0
for step in world:run { seconds = p.seconds } do
  momentum = math.max(momentum, step.certificate.momentum)
  if step.time > 0.9 * p.seconds and step.index % 10 == 0 then
    for _, contact in ipairs(step:contacts()) do
      if contact.distance < 0 then
        deep = math.max(deep, -contact.distance)
        depth_sum, depth_count = depth_sum - contact.distance, depth_count + 1
      end
    end
  end
end

local outside, speed = 0, 0
for _, body in ipairs(bodies) do
  local xyz = body:position()
  if p.walls and (math.abs(xyz[1]) > half or math.abs(xyz[2]) > half) or xyz[3] < 0 then
    outside = outside + 1
  end
  speed = speed + body:speed() / #bodies
end
stn.result("mean_penetration_m", depth_count > 0 and depth_sum / depth_count or 0, "m")
stn.result("max_penetration_m", deep, "m")
stn.result("mean_speed_m_per_s", speed, "m/s")
stn.result("bodies_outside", outside, "1")
stn.check("all bodies stay in the container", { value = outside, limit = 0, unit = "bodies" })
stn.check("momentum error", { value = momentum, limit = 1e-5, unit = "1" })
