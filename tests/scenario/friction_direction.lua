-- SPDX-License-Identifier: Apache-2.0
-- Friction that differs by direction: mu along a shape's friction_direction, mu2 across it.
local stn = require "stiction"
local solve_error = require "solve_error"
local worse = require "worse"
local load_text = require "robot_text"

local g, pi = 9.81, math.pi
local cornered = { lemke = true, qp = true } -- friction on a pyramid
local convex = { sap = true, auto_convex = true, apgd = true, admm = true, admm_split = true, ipm = true, cond_proximal = true } -- with a law that regularises

-- A surface's mu that makes `mu` with one of 0.5.
local function beside(mu) return 0.5 * mu / (2 * 0.5 - mu) end

-- A mass on three slides, carried by the lowest point of a small sphere, at the height 0; mu = 0.5.
local function particle(world)
  local robot = load_text(world, ".xml", [[<mujoco model="particle"><worldbody><body name="particle"><inertial pos="0 0 0" mass="0.5"
    diaginertia="1 1 1"/><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="z" type="slide" axis="0 0 1"/><geom type="sphere" size="0.01" mass="0" friction="0.5"/></body></worldbody></mujoco>]])
  robot:set_q { z = 0.01 }
  return robot
end

local function world_of(solver, options)
  local settings = { dt = 0.01, margin = 1, contact_point = "midpoint", exact_contacts = not convex[solver],
    solver = { solver, tolerance = 1e-10, max_iterations = 100000, directions = cornered[solver] and 256 or nil } }
  for key, value in pairs(options or {}) do settings[key] = value end
  return stn.world(settings)
end

local function read_reference(name)
  local file = io.open("../shared/reference/d_anisotropic/" .. name)
  local rows = {}
  if file == nil then return nil end
  for line in file:lines() do
    local row = {}
    for word in line:gmatch "[^,]+" do row[#row + 1] = tonumber(word) end
    if #row > 0 then rows[#rows + 1] = row end -- not the header
  end
  file:close()
  return rows
end

-- Nearest point of the ellipse with half axes a, b [m/s] to (x, y), by bisection of the multiplier.
local function project(x, y, a, b)
  if (x / a) ^ 2 + (y / b) ^ 2 <= 1 then return x, y end
  local low, high = 0, math.max(a, b) * math.sqrt(x * x + y * y)
  for _ = 1, 200 do
    local t = 0.5 * (low + high)
    if (a * x / (a * a + t)) ^ 2 + (b * y / (b * b + t)) ^ 2 > 1 then low = t else high = t end
  end
  return a * a * x / (a * a + low), b * b * y / (b * b + low)
end

for _, solver in ipairs(stn.plugins "solver") do
  stn.test("a slide is that of the closed form: " .. solver, function()
    for _, mu in ipairs { { 0.3, 0.15 }, { 0.1, 0.4 }, { 0.3, 0.3 } } do
      local rows = read_reference(("slide_mu%g_%g.csv"):format(mu[1], mu[2]))
      local world <close> = world_of(solver)
      world:ground { mu = beside(mu[1]), mu2 = beside(mu[2]), friction_direction = { 1, 0, 0 } }
      local robot = particle(world)
      local x, y = robot:joint "x", robot:joint "y"
      x:set_velocity(1)
      y:set_velocity(1)
      local px, py, vx, vy, worst = 0, 0, 1, 1, 0
      for step in world:run { seconds = 1.2 } do
        local fx, fy = project(vx, vy, mu[1] * g * 0.01, mu[2] * g * 0.01)
        vx, vy = vx - fx, vy - fy
        px, py = px + 0.01 * vx, py + 0.01 * vy
        worst = worse(worst, math.abs(x:position() - px), math.abs(y:position() - py))
        if rows ~= nil then
          local row = rows[step.index + 1] -- the first is the start: step, t, x_mdp, y_mdp, vx_mdp, vy_mdp, x_discrete, y_discrete
          stn.near(px, row[7], 1e-9, "the strict step")
          stn.near(py, row[8], 1e-9, "the strict step")
          stn.near(x:position(), row[3], 0.01 * math.sqrt(2), "continuous x")
          stn.near(y:position(), row[4], 0.01 * math.sqrt(2), "continuous y")
          if mu[1] == mu[2] then stn.near(x:position(), y:position(), cornered[solver] and 1e-4 or 1e-8, "a straight line") end
        end
      end
      -- convex laws and qp let it glide a little higher while it slows down, the cone of lemke has corners, soft_step is approximate
      assert(worst < (({ lemke = 1e-3, qp = 4e-3, soft_step = 0.014 })[solver] or convex[solver] and 4e-3 or 1e-8), ("%s, mu %g, %g: %g m"):format(solver, mu[1], mu[2], worst))
    end
  end)
end

-- A box that slides on the ground with the velocity `v` from the start; where it is, and how it is turned, after half a second.
-- `make(world)` adds ground and box.
local function slide(make, options)
  local world <close> = world_of("sap", options)
  local box = make(world)
  for _ in world:run { seconds = 0.5 } do end
  return box:pose(), world:hash()
end

stn.test("mu2 = mu is friction without a direction, to the last bit", function()
  for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "ipm" } do
    local hash
    for _, more in ipairs { {}, { mu2 = 0.3, friction_direction = { 1, 2, 3 } }, { mu2 = 0.3, friction_direction = { 0, 0, -1 } } } do
      local world <close> = stn.world { dt = 0.005, solver = solver }
      world:ground { mu = 0.3, mu2 = more.mu2, friction_direction = more.friction_direction }
      world:box { size = { 0.2, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.085 }, rpy = { 0.1, 0.2, 0.3 }, velocity = { linear = { 1, 0.5, 0 }, angular = { 0, 0, 3 } },
        mu = 0.3, mu2 = more.mu2, friction_direction = more.friction_direction }
      for _ in world:run { seconds = 0.5 } do end
      hash = hash or world:hash()
      assert(world:hash() == hash, solver)
    end
  end
end)

stn.test("a scene that is turned moves as the scene that is not", function()
  for i = 1, 6 do
    local angle = i * 1.1
    local c, s = math.cos(angle), math.sin(angle)
    local ends = {}
    for turned = 0, 2 do
      ends[turned] = slide(function(world)
        local t = turned > 0
        local direction = turned == 1 and { c * 0.8 - s * 0.6, s * 0.8 + c * 0.6, 0 } or { 0.8, 0.6, 0 }
        world:ground { mu = 0.6, mu2 = 0.2, friction_direction = direction, rpy = { 0, 0, turned == 2 and angle or 0 } }
        local v = t and { c - 0.3 * s, s + 0.3 * c, 0 } or { 1, 0.3, 0 }
        return world:box { size = { 0.3, 0.2, 0.1 }, mass = 1, mu = 0.4, xyz = { 0, 0, 0.05 }, rpy = { 0, 0, t and angle or 0 },
          velocity = { linear = v, angular = { 0, 0, 2 } } }
      end, { solver = { "sap", tolerance = 1e-13 } })
    end
    for turned = 1, 2 do
      local a, b = ends[0], ends[turned]
      stn.near(b.xyz[1], c * a.xyz[1] - s * a.xyz[2], 1e-7, "x")
      stn.near(b.xyz[2], s * a.xyz[1] + c * a.xyz[2], 1e-7, "y")
    end
    assert(math.abs(ends[0].xyz[2] / ends[0].xyz[1] - 0.3) > 0.05, "the ellipse bends the way")
  end
end)

stn.test("a direction turns with the body that has it", function()
  -- skates: along them they glide, across them they hold; each is pushed along the world's x, turned by an angle of its own
  for i = 0, 8 do
    local yaw = i * pi / 8
    local world <close> = stn.world { dt = 0.005, gravity = { 2, 0, -g }, solver = "nsgs" }
    world:ground { mu = 0.5 }
    local skate = world:box { size = { 0.3, 0.1, 0.02 }, mass = 1, mu = 0.01, mu2 = 5, friction_direction = { 1, 0, 0 }, xyz = { 0, 0, 0.01 }, rpy = { 0, 0, yaw } }
    for _ in world:run { seconds = 0.5 } do end
    local mu, mu2 = 2 * 0.01 * 0.5 / 0.51, 2 * 5 * 0.5 / 5.5
    local along, p = math.cos(yaw), skate:position()
    assert(2 * math.abs(math.sin(yaw)) < mu2 * g) -- holds across
    -- the force across holds what it must, sqrt(1 - (f/mu2 g)^2) of mu is left along the skate
    local left = math.sqrt(1 - (2 * math.sin(yaw) / (mu2 * g)) ^ 2)
    local a = math.max(0, 2 * math.abs(along) - mu * g * left)
    local way = (along > 0 and 1 or -1) * a * 0.5 * 0.5 * 0.505 -- symplectic
    stn.near(p[1], way * math.cos(yaw), 2e-3, "x at " .. yaw)
    stn.near(p[2], way * math.sin(yaw), 2e-3, "y at " .. yaw)
  end
end)

stn.test("a direction along the normal leaves mu2 in all directions", function()
  local function on(mu, mu2, direction)
    return (slide(function(world)
      world:ground { mu = 0.5 }
      return world:box { size = { 0.2, 0.2, 0.1 }, mass = 1, mu = mu, mu2 = mu2, friction_direction = direction, xyz = { 0, 0, 0.05 },
        velocity = { linear = { 1, 0.5, 0 } } }
    end, { solver = { "nsgs", tolerance = 1e-12 }, exact_contacts = true }))
  end
  local a, b, c = on(0.1, 0.4, { 0, 0, 1 }), on(0.4), on(0.1, 0.4, { 0, 1, 0 })
  stn.near(a.xyz[1], b.xyz[1], 1e-9, "x")
  stn.near(a.xyz[2], b.xyz[2], 1e-9, "y")
  assert(math.abs(c.xyz[2] - b.xyz[2]) > 1e-2, "a direction in the plane counts")
end)

stn.test("two directions: grooves that cross have one friction, parallel ones add up", function()
  local function on(angle, ground, own)
    return (slide(function(world)
      world:ground { mu = ground[1], mu2 = ground[2], friction_direction = ground[2] and { 1, 0, 0 } }
      return world:box { size = { 0.2, 0.2, 0.1 }, mass = 1, mu = own[1], mu2 = own[2], friction_direction = own[2] and { math.cos(angle), math.sin(angle), 0 },
        xyz = { 0, 0, 0.05 }, velocity = { linear = { 1, 0.5, 0 } } }
    end, { solver = { "nsgs", tolerance = 1e-12 }, exact_contacts = true }))
  end
  local grooved = { 0.1, 0.6 }
  local crossed, round = on(pi / 2, grooved, grooved), on(0, { 0.6 / 3.5 }, { 0.6 / 3.5 }) -- 2 0.1 0.6 / 0.7
  stn.near(crossed.xyz[1], round.xyz[1], 1e-8, "x")
  stn.near(crossed.xyz[2], round.xyz[2], 1e-8, "y")
  local parallel, alone = on(0, grooved, { 0.2, 0.3 }), on(0, { 0.4 / 3, 0.4 }, { 0.4 / 3, 0.4 }) -- 2 0.1 0.2 / 0.3, 2 0.6 0.3 / 0.9
  stn.near(parallel.xyz[1], alone.xyz[1], 1e-8, "x")
  stn.near(parallel.xyz[2], alone.xyz[2], 1e-8, "y")
end)

stn.test("a block on a grooved ramp rests across the grooves and slides along them", function()
  for _, solver in ipairs(stn.plugins "solver") do
    for along = 0, 1 do
      local angle = 20 * stn.deg
      local world <close> = stn.world { dt = 0.005, gravity = { g * math.sin(angle), 0, -g * math.cos(angle) }, solver = { solver, tolerance = 1e-8, max_iterations = 10000 } }
      world:ground { mu = 0.2, mu2 = 0.6, friction_direction = { along, 1 - along, 0 } }
      local block = world:box { size = { 0.2, 0.2, 0.05 }, mass = 1, mu = 0.4, xyz = { 0, 0, 0.025 } }
      local contact -- of the last step that has one: with qp it slides a little above the ramp
      for _ in world:run { seconds = 0.5 } do contact = world:contacts()[1] or contact end
      local mu = along == 1 and 2 * 0.2 * 0.4 / 0.6 or 2 * 0.6 * 0.4 / 1.0
      local a = math.max(0, g * (math.sin(angle) - mu * math.cos(angle)))
      stn.near(block:position()[1], a * 0.5 * 0.5 * 0.505, 2e-3, ("%s, along %d"):format(solver, along))
      stn.near(contact.mu, 2 * 0.2 * 0.4 / 0.6, 1e-15, "mu")
      stn.near(contact.mu2, 2 * 0.6 * 0.4 / 1.0, 1e-15, "mu2")
      stn.near(math.abs(contact.friction_direction[1]), along, 1e-15, "direction")
    end
  end
end)

stn.test("at rest both directions hold better by the ratio of mu_static and mu", function()
  for along = 0, 1 do
    local limit = along == 1 and 0.3 * 1.5 or 0.6 * 1.5
    for _, share in ipairs { 0.97, 1.03 } do
      local angle = math.atan(limit * share)
      local world <close> = stn.world { dt = 0.002, gravity = { g * math.sin(angle), 0, -g * math.cos(angle) } }
      local surface = { mu = 0.3, mu2 = 0.6, mu_static = 0.45, friction_direction = { along, 1 - along, 0 } }
      world:ground(surface)
      surface.size, surface.mass, surface.xyz = { 0.2, 0.2, 0.02 }, 1, { 0, 0, 0.01 }
      local block = world:box(surface)
      for _ in world:run { seconds = 0.5 } do end
      assert((block:position()[1] > 0.01) == (share > 1), ("along %d, share %g: %g m"):format(along, share, block:position()[1]))
    end
  end
end)

stn.test("a coefficient of the pair holds in all directions", function()
  local function on(pair)
    return (slide(function(world)
      world:ground { mu = 0.1, mu2 = 0.9, friction_direction = { 1, 0, 0 } }
      if pair then world:contact_material { mu = 0.3 } end
      return world:box { size = { 0.2, 0.2, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 }, velocity = { linear = { 1, 1, 0 } } }
    end, { solver = "nsgs" }))
  end
  local p = on(true)
  stn.near(p.xyz[1], p.xyz[2], 1e-6, "straight")
  assert(math.abs(on(false).xyz[1] - on(false).xyz[2]) > 0.05)
end)

stn.test("patches and tiles have the direction too", function()
  local function run(make, options)
    local world <close> = stn.world(options)
    local box = make(world)
    for step in world:run { seconds = 0.4 } do assert(step.status == "ok") end
    return box:position()
  end
  local body = { size = { 0.1, 0.1, 0.05 }, mass = 1, mu = 0.4, xyz = { 0, 0, 0.0249 }, velocity = { linear = { 1, 1, 0 } } }
  local function with(more)
    local all = {}
    for key, value in pairs(body) do all[key] = value end
    for key, value in pairs(more) do all[key] = value end
    return all
  end
  local rough = { mu = 0.2, mu2 = 0.6, friction_direction = { 1, 0, 0 } }
  local points = run(function(world)
    world:ground(rough)
    return world:box(with {})
  end, { dt = 0.005 })
  local faces = run(function(world)
    world:ground(rough)
    return world:box(with { modulus = 1e6, dissipation = 1 })
  end, { dt = 0.005, contact = "hydroelastic" })
  stn.near(faces[1], points[1], 0.01, "x of a patch")
  stn.near(faces[2], points[2], 0.01, "y of a patch")
  assert(points[1] > points[2] + 0.05)
  for own = 0, 1 do -- a floor of tiles: the sides of the next ones turn their contacts
    local function on(tiles)
      return run(function(world)
        for i = -tiles, tiles do
          local size = tiles == 0 and 4 or 0.1
          for j = -tiles, tiles do
            world:box { fixed = true, size = { size, size, 0.1 }, xyz = { i * 0.1, j * 0.1, -0.05 }, mu = 0.2, mu2 = 0.6, friction_direction = { 1, 0, 0 } }
          end
        end
        return world:box(with { xyz = { -0.03, -0.02, 0.025 }, mu2 = own == 1 and 0.8 or nil, friction_direction = own == 1 and { 1, 1, 0 } or nil })
      end, { dt = 0.005, solver = "bisection" }) -- where a corner crosses tiles, nsgs leaves a step unsolved in half of the starts that differ by rounding
    end
    local one, many = on(0), on(6)
    stn.near(many[1], one[1], 0.01, "x on tiles")
    stn.near(many[2], one[2], 0.01, "y on tiles")
  end
end)

stn.test("any directions on any bodies: every step is solved, none gains energy", function()
  local seed = 12345
  local function draw(low, high)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return low + (high - low) * seed / 2147483648
  end
  local function direction() return { draw(-1, 1), draw(-1, 1), draw(-1, 1) } end
  for _, solver in ipairs { "sap", "nsgs", "newton_ncp", "admm_ncp", "ipm" } do
    local world <close> = stn.world { dt = 0.005, solver = solver }
    world:ground { mu = draw(0, 1), mu2 = draw(0, 1), friction_direction = direction() }
    for i = 1, 6 do
      local kinds = { "box", "sphere", "cylinder", "capsule", "ellipsoid" }
      local kind = kinds[i % #kinds + 1]
      local body = { mass = 1, mu = i == 2 and 0 or draw(0, 1), mu2 = i == 3 and 0 or draw(0, 1), friction_direction = direction(), xyz = { 0.05 * draw(-1, 1), 0.05 * draw(-1, 1), 0.15 + 0.25 * i },
        rpy = { draw(-3, 3), draw(-3, 3), draw(-3, 3) }, velocity = { linear = { draw(-1, 1), draw(-1, 1), 0 } } }
      if kind == "box" then body.size = { 0.2, 0.15, 0.1 } elseif kind == "ellipsoid" then body.radii = { 0.1, 0.08, 0.06 } else body.radius = 0.07 end
      if kind == "cylinder" or kind == "capsule" then body.length = 0.15 end
      world[kind](world, body)
    end
    local unsolved, worst, friction = 0, solve_error.worst(), 0
    for step in world:run { seconds = 1 } do
      unsolved = unsolved + (step.status == "ok" and 0 or 1)
      if step.converged then worst:add(step.certificate) end
      friction = worse(friction, step.certificate.friction_work_J)
    end
    assert(unsolved <= 4, ("%s: %d steps are not solved"):format(solver, unsolved))
    stn.near(worst.momentum, 0, 2e-6, solver .. ": momentum error")
    stn.near(worst.law, 0, 1e-5, solver .. ": impulses obey the contact law [m/s]") -- 1e-6 of some m/s
    stn.near(friction, 0, 1e-6, solver)
  end
end)

stn.test("what cannot be meant is refused by name", function()
  local world <close> = stn.world { dt = 0.01 }
  stn.fails(function() world:ground { mu2 = 0.2 } end, "mu2 = 0.2 beside mu = 0.5 needs a friction_direction")
  for _, x in ipairs { 1e-170, 1e160 } do
    stn.fails(function() world:ground { mu = 0.2, mu2 = 0.8, friction_direction = { x, 0, 0 } } end, "friction_direction has the length")
  end
  stn.fails(function() world:ground { mu = 0.2, friction_direction = { 1, 0, 0 } } end, "friction_direction has no effect without mu2")
  stn.fails(function() world:ground { mu2 = 0.2, friction_direction = { 0, 0, 0 } } end, "needs a friction_direction")
  stn.fails(function() world:ground { mu2 = -1, friction_direction = { 1, 0, 0 } } end, "mu2")
  stn.fails(function() world:ground { mu2 = 1, friction_direction = { 0 / 0, 0, 0 } } end, "friction_direction")
  stn.fails(function() world:contact_material { mu = 0.2, mu2 = 0.4 } end, "a pair has no direction")
  stn.fails(function() world:load { "../../models/spatula/spatula.sdf", mu2 = 0.4 } end, "needs a friction_direction")
  for _, law in ipairs { "lagged", "similar", "hertz" } do
    local other <close> = stn.world { dt = 0.01, law = law }
    other:ground { mu = 0.2, mu2 = 0.4, friction_direction = { 1, 0, 0 } }
    other:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 } }
    stn.fails(function() other:step() end, "law " .. law .. " cannot treat the set 'ellipse'")
  end
end)
