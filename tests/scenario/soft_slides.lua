-- SPDX-License-Identifier: Apache-2.0
-- Boxes and balls slide over what is flat, soft or rigid, whole or of two parts, and nothing holds them up but friction; a
-- step in their way does.
local stn = require "stiction"

local length, gravity = 0.8, 9.81
local quick = os.getenv "STICTION_TEST_TIER" == "quick" -- some of the cases

--- The top of each is at z = 0; the right half of what has two parts `higher` than the left one.
local below = {
  ["rigid box"] = function(world, mu) world:box { size = { length, 0.2, 0.1 }, xyz = { 0, 0, -0.05 }, fixed = true, mu = mu } end,
  ["rigid boxes"] = function(world, mu, higher)
    for side = -1, 1, 2 do world:box { size = { length / 2, 0.2, 0.1 }, xyz = { side * length / 4, 0, -0.05 + (side > 0 and higher or 0) }, fixed = true, mu = mu } end
  end,
  ["soft slab"] = function(world, mu) world:soft { box = { length, 0.2, 0.1 }, cells = { 16, 4, 2 }, xyz = { 0, 0, -0.05 }, pinned = "all", mu = mu } end,
  ["soft slabs"] = function(world, mu, higher)
    for side = -1, 1, 2 do
      world:soft { box = { length / 2, 0.2, 0.1 }, cells = { 8, 4, 2 }, xyz = { side * length / 4, 0, -0.05 + (side > 0 and higher or 0) }, pinned = "all", mu = mu }
    end
  end,
  cloth = function(world, mu) world:cloth { size = { length, 0.2 }, cells = { 16, 4 }, thickness = 1e-3, xyz = { 0, 0, -0.0005 }, pinned = "all", mu = mu } end,
  field = function(world, mu) world:height_field { size = { length, 0.2 }, rows = 5, columns = 17, heights = function() return 0 end, mu = mu } end,
}

local above = {
  ["soft 1"] = function(world, mu, x) return world:soft { box = { 0.1, 0.1, 0.1 }, cells = 1, young = 2e5, damping = 0.02, density = 500, mu = mu, xyz = { x, 0.013, 0.05 } } end,
  ["soft 3"] = function(world, mu, x) return world:soft { box = { 0.1, 0.1, 0.1 }, cells = 3, young = 2e5, damping = 0.02, density = 500, mu = mu, xyz = { x, 0.013, 0.05 } } end,
  rigid = function(world, mu, x) return world:box { size = { 0.1, 0.1, 0.1 }, mass = 0.5, mu = mu, xyz = { x, 0.013, 0.05 } } end,
  ball = function(world, mu, x) return world:sphere { radius = 0.05, mass = 0.5, mu = mu, xyz = { x, 0.013, 0.05 } } end,
}

local function speed_of(body)
  local v = body:velocity()
  return (v.linear or v)[1]
end

--- World and body, which rests at x.
local function scene(on, kind, mu, x, higher)
  local world = stn.world { dt = 2e-3 }
  below[on](world, mu, higher or 0)
  local body = above[kind](world, mu, x)
  for _ in world:run { steps = 60 } do end
  return world, body
end

--- What is left of the speed after 10 cm, past the middle, and how high the body was.
local function slides(on, kind, speed, higher)
  local world, body = scene(on, kind, 0, -0.077, higher)
  world:set_gravity { speed / 0.02, 0, -gravity }
  for _ in world:run { steps = 10 } do end
  world:set_gravity { 0, 0, -gravity }
  local highest = 0
  for _ in world:run { seconds = 0.1 / speed } do highest = math.max(highest, body:position()[3]) end
  return speed_of(body) / speed, highest
end

stn.test("without friction nothing is lost, over the middle of a mesh or from one part to the next", function()
  for on in pairs(below) do
    for kind in pairs(above) do
      for _, speed in ipairs((on == "cloth" or quick) and { 1 } or { 0.05, 0.2, 1 }) do -- slowly a box meets what is as thick as it is before it, tilted
        local left, highest = slides(on, kind, speed)
        local what = ("%s on %s at %g m/s: %g left, %g m high"):format(kind, on, speed, left, highest)
        assert(left > (kind == "ball" and 0.96 or 0.999) and left < 1.001, what)
        assert(highest < (kind == "ball" and 0.0502 or 0.0501), what)
      end
    end
  end
end)

stn.test("with friction they gain what Coulomb says", function()
  local mu, along, seconds = 0.3, 0.4 * gravity, 0.3
  for _, on in ipairs { "rigid box", "soft slab", "field" } do -- over a seam the law lets them glide, and a rim meets a rim in advance
    for _, kind in ipairs { "soft 1", "soft 3", "rigid" } do
      local world, body = scene(on, kind, mu, -0.077)
      world:set_gravity { along, 0, -gravity }
      for _ in world:run { seconds = seconds } do end
      local expected = (along - mu * gravity) * seconds
      assert(math.abs(speed_of(body) - expected) < 0.02 * expected + 2e-3, ("%s on %s: %g m/s, expected %g"):format(kind, on, speed_of(body), expected))
    end
  end
end)

-- What falls fast has its contacts in advance all the same: where it meets a curve, a rim, a corner, exactly or nearly at the rim.
stn.test("what falls does not go in", function()
  local function falls(what, make, speed, dt, most)
    local world = stn.world { dt = dt, gravity = { 0, 0, 0 } }
    make(world)
    world:set_gravity { 0, 0, -speed / dt }
    world:step()
    world:set_gravity { 0, 0, 0 }
    for step in world:run { steps = math.ceil(0.06 / (speed * dt)) } do
      assert(step.overlap_m < most, ("%s at %g m/s, dt %g s: %g m deep"):format(what, speed, dt, step.overlap_m))
    end
  end
  local function box(world, cells, xyz, rpy)
    world:soft { box = { 0.1, 0.1, 0.1 }, cells = cells, young = 3e5, density = 500, damping = 0.01, xyz = xyz, rpy = rpy }
  end
  for _, dt in ipairs { 2e-3, 1e-2 } do
    for _, speed in ipairs(quick and { 3 } or { 1, 3 }) do
      falls("cloth on a ball", function(world)
        world:sphere { radius = 2, fixed = true, xyz = { 0.003, 0.001, -2 } }
        world:cloth { size = { 0.4, 0.4 }, cells = 16, thickness = 1e-3, young = 1e6, density = 300, damping = 5e-3, xyz = { 0, 0, 0.03 } }
      end, speed, dt, 1e-4)
      falls("a cable on a box", function(world)
        world:soft { box = { 0.1, 0.1, 0.1 }, cells = 2, pinned = "all", xyz = { 0, 0, -0.05 } }
        world:cable { points = { { -0.1, 0.01, 0.03 }, { 0.1, 0.02, 0.034 } }, segments = 9, radius = 5e-3, young = 1e7 }
      end, speed, dt, 1e-4)
      falls("ball on a cylinder", function(world)
        world:cylinder { radius = 0.3, length = 1, fixed = true, xyz = { 0, 0, -0.3 }, rpy = { 0, math.pi / 2, 0.3 } }
        world:soft { ball = 0.1, cells = 6, young = 1e5, density = 500, damping = 0.01, xyz = { 0, 0, 0.14 } }
      end, speed, dt, 1e-4)
      for _, cells in ipairs { 1, 3 } do
        for _, kind in ipairs { "soft", "rigid" } do
          for _, at in ipairs { { 0, 0, 0 }, { 1e-8, -5e-9, 0 }, { 1e-6, 0, 0 }, { 0.05, 0.03, 0 }, { 0, 0, 0.3 }, { 0.03, 0.01, 0.78 } } do
            falls(("box of %d cells, %s below, at %g, %g, turned by %g"):format(cells, kind, table.unpack(at)), function(world)
              if kind == "soft" then
                world:soft { box = { 0.1, 0.1, 0.1 }, cells = cells, pinned = "all", xyz = { 0, 0, -0.05 } }
              else
                world:box { size = { 0.1, 0.1, 0.1 }, fixed = true, xyz = { 0, 0, -0.05 } }
              end
              box(world, cells, { at[1], at[2], 0.08 }, { 0, 0, at[3] })
            end, speed, dt, 1e-3)
          end
        end
      end
    end
  end
end)

-- Contacts in advance that carry load stay while a body strikes something and slides along it.
stn.test("what strikes a ball or a ridge on its corner does not go in", function()
  local function ridge(world, soft)
    local spec = { xyz = { 0, 0, -0.05 * math.sqrt(2) }, rpy = { math.pi / 4, 0, 0 } }
    if soft then
      spec.box, spec.cells, spec.pinned = { 0.3, 0.1, 0.1 }, { 3, 1, 1 }, "all"
      world:soft(spec)
    else
      spec.size, spec.fixed = { 0.3, 0.1, 0.1 }, true
      world:box(spec)
    end
  end
  local below = {
    ball = function(world) world:sphere { radius = 0.1, fixed = true, xyz = { 0, 0, -0.1 } } end,
    ["rigid ridge"] = function(world) ridge(world, false) end,
    ["soft ridge"] = function(world) ridge(world, true) end,
  }
  for on, make in pairs(below) do
    for _, cells in ipairs { 1, 3 } do
      for _, rpy in ipairs { { 0.6, 0.9, 0.2 }, { 0.9, 0.6, 0.5 }, { 0.785, 0.615, 0 } } do
        for _, x in ipairs(quick and { 0.01 } or { 0.003, 0.01, 0.02 }) do
          local world = stn.world { dt = 2e-3 }
          make(world)
          world:soft { box = { 0.06, 0.06, 0.06 }, cells = cells, young = 3e5, density = 500, damping = 0.01, mu = 0.3, xyz = { x, 0.002, 0.13 }, rpy = rpy }
          local energy = world:energy().total
          for step in world:run { seconds = 0.4 } do
            local what = ("%d cells on a %s at %g, turned by %g %g %g, t = %g s: "):format(cells, on, x, rpy[1], rpy[2], rpy[3], step.time)
            assert(step.overlap_m < 5e-4, what .. step.overlap_m)
            assert(step.total_energy_J < energy + 0.02, what .. step.total_energy_J - energy)
            energy = step.total_energy_J
          end
        end
      end
    end
  end
end)

stn.test("a step in the way is one", function()
  for _, on in ipairs { "rigid boxes", "soft slabs" } do
    for _, kind in ipairs { "soft 1", "soft 3", "rigid" } do
      for _, higher in ipairs(quick and { 1e-3 } or { 1e-3, 2e-2 }) do
        local left, highest = slides(on, kind, 0.2, higher)
        assert(left < 0.3, ("%s on %s: %g of the speed is left behind a step of %g m, %g m high"):format(kind, on, left, higher, highest))
      end
    end
  end
end)
