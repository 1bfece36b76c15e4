-- SPDX-License-Identifier: Apache-2.0
-- A pile of bodies of one shape, dropped in columns into a walled container, and how still it lies at the end.
--
-- In the last half second: jitter, the rms over bodies and steps of the speed of the centre and of the angular speed times half the
-- size; tremble, the rms change of a body's velocity from step to step, which creep at a constant speed does not show; the deepest overlap; and the share of contact ids that were not there in the step before.
local stn = require "stiction"
local worse = require "worse"

local p = stn.params {
  shape = stn.choice { "box", "cylinder", "rock", "sphere" },
  count = 30,
  side = 2,        -- columns along each side of the container
  tumbled = false, -- turned any way at the start, else about z only
  dt = 0.002,      -- [s]
  seconds = 10.0,  -- [s]
  mu = 0.5,        -- of every contact
  seed = 1,
}

assert(p.side >= 1, ("side = %g must be >= 1"):format(p.side))
local half, size = 0.02 + 0.08 * p.side, 0.1 -- inner half width of the container, size of the bodies [m]
local window = 0.5           -- at the end, in which is measured [s]
math.randomseed(p.seed)
local world = stn.world { dt = p.dt }

local function between(low, high)
  return low + (high - low) * math.random()
end

local function container()
  local thickness, height = 0.1, 1.5
  world:ground { name = "floor" }
  for i, side in ipairs { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } do
    local across = side[1] ~= 0
    local centre, length = half + thickness / 2, 2 * (half + thickness)
    world:box {
      name = "wall" .. i, fixed = true, color = { 0.6, 0.6, 0.6, 0.25 }, xyz = { side[1] * centre, side[2] * centre, height / 2 },
      size = { across and thickness or length, across and length or thickness, height },
    }
  end
end

--- OBJ file of a rock: three rings of seven corners and two poles around half the size, unevenly; its hull is the shape.
local function rock_file()
  local rings, sides, path = 3, 7, os.tmpname() .. ".obj"
  local file = assert(io.open(path, "w"))
  local function corner(height, angle)
    local radius, across = between(0.42, 0.55) * size, math.sqrt(1 - height * height)
    file:write(("v %.9g %.9g %.9g\n"):format(radius * across * math.cos(angle), radius * across * math.sin(angle), 0.8 * radius * height))
  end
  corner(-1, 0)
  corner(1, 0)
  for ring = 1, rings do
    for side = 1, sides do
      corner(-1 + (2 * ring + between(-0.5, 0.5)) / (rings + 1), (side + between(-0.3, 0.3)) * 2 * math.pi / sides)
    end
  end
  for side = 1, sides do
    local function at(ring, ahead)
      return 3 + (ring - 1) * sides + (side - 1 + ahead) % sides
    end
    file:write(("f 1 %d %d\nf 2 %d %d\n"):format(at(1, 1), at(1, 0), at(rings, 0), at(rings, 1)))
    for ring = 1, rings - 1 do
      file:write(("f %d %d %d %d\n"):format(at(ring, 0), at(ring, 1), at(ring + 1, 1), at(ring + 1, 0)))
    end
  end
  file:close()
  return path
end

local add = {
  box = function(body)
    body.size = { between(0.8, 1.2) * size, size, between(0.6, 1) * size }
    return world:box(body)
  end,
  cylinder = function(body)
    body.radius, body.length = between(0.4, 0.5) * size, between(0.8, 1.2) * size
    return world:cylinder(body)
  end,
  sphere = function(body)
    body.radius = between(0.4, 0.5) * size
    return world:sphere(body)
  end,
  rock = function(body)
    body.file = rock_file()
    local rock = world:mesh(body)
    os.remove(body.file)
    return rock
  end,
}

container()
local bodies = {}
for i = 0, p.count - 1 do
  local column, layer = i % p.side ^ 2, i // p.side ^ 2
  bodies[i + 1] = add[p.shape] {
    name = p.shape .. i + 1, density = 1000,
    xyz = { (column % p.side - 0.5 * (p.side - 1)) * 0.16 + between(-0.01, 0.01), (column // p.side - 0.5 * (p.side - 1)) * 0.16 + between(-0.01, 0.01), 0.08 + 0.14 * layer },
    rpy = { p.tumbled and between(-3, 3) or 0, p.tumbled and between(-1.5, 1.5) or 0, between(-3, 3) },
  }
end
world:contact_material { mu = p.mu }

local linear, angular, tremble, samples, largest = 0, 0, 0, 0, 0
local last = {} -- velocity of each body in the step before
local deepest, fresh, seen, steps, iterations = 0, 0, 0, 0, 0
local before
for step in world:run { seconds = p.seconds } do
  if step.time > p.seconds - window - p.dt then
    local ids, contacts = {}, step:contacts()
    for _, contact in ipairs(contacts) do
      ids[contact.id] = true
      if before and not before[contact.id] then
        fresh = fresh + 1
      end
    end
    if before then
      seen, steps, iterations = seen + #contacts, steps + 1, iterations + step.iterations
      deepest = worse(deepest, step.overlap_m)
      for i, body in ipairs(bodies) do
        local v, w, velocity = body:speed(), 0, body:velocity()
        for k = 1, 3 do
          w = w + velocity.angular[k] ^ 2
          tremble = tremble + (last[i] and (velocity.linear[k] - last[i][k]) ^ 2 or 0)
        end
        last[i] = velocity.linear
        linear, angular, samples = linear + v * v, angular + w * size * size / 4, samples + 1
        largest = worse(largest, v)
      end
    end
    before = ids
  end
end

local creep = 1e-3 * p.mu * 9.81 * p.dt -- of a body at rest under its own weight (law/sap)
stn.result("jitter_linear_m_per_s", math.sqrt(linear / samples), "m/s")
stn.result("jitter_angular_m_per_s", math.sqrt(angular / samples), "m/s")
stn.result("tremble_m_per_s", math.sqrt(tremble / samples), "m/s")
stn.result("fastest_m_per_s", largest, "m/s")
stn.result("creep_m_per_s", creep, "m/s")
stn.result("deepest_overlap_m", deepest, "m")
stn.result("contacts", seen / steps, "1")
stn.result("ids_changed_per_contact", fresh / seen, "1")
stn.result("iterations", iterations / steps, "1")
stn.check("bodies rest", { value = math.sqrt((linear + angular) / samples), limit = 1e-2, unit = "m/s" })
stn.check("deepest overlap", { value = deepest, limit = 0.02 * size, unit = "m" })
stn.check("contact ids that are new", { value = fresh / seen, limit = 1e-3, unit = "of each step's" })
