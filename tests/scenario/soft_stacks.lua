-- SPDX-License-Identifier: Apache-2.0
-- Soft boxes that stand on each other vertex by vertex, as equal ones do and as bricks in a wall: everything that a mesh
-- against a mesh may ask, nearest points at corners and edges of triangles alone.
local stn = require "stiction"

local gravity = 9.81
local quick = os.getenv "STICTION_TEST_TIER" == "quick" -- some of the cases

local function box(world, name, cells, xyz, size)
  return world:soft { name = name, box = size or { 0.1, 0.1, 0.1 }, cells = cells, young = 2e5, damping = 0.02, density = 500, xyz = xyz }
end

--- Steps until things rest; the force on the last body must carry the weight above.
local function rests(world, seconds, most)
  local last
  for step in world:run { seconds = seconds } do
    assert(step.overlap_m < (most or 2e-4), ("%g m deep at t = %g s"):format(step.overlap_m, step.time))
    last = step
  end
  return last
end

local function stands(cells, options, gap, slid)
  local world = stn.world(options)
  world:ground { mu = 0.8 }
  local lower = box(world, "lower", cells, { 0, 0, 0.05 })
  local upper = box(world, "upper", cells, { slid, 0.5 * slid, 0.15 + gap })
  local step, weight = rests(world, 0.6), 0.5 * gravity
  local at = upper:position()
  local what = ("%s, %d cells, gap %g, slid %g: %%s"):format(next(options) or "default", cells, gap, slid)
  -- its middle sinks by the weight of the upper half on it, and of all that is on the lower box: g rho L^2 (1 + 1/2 + 1/8) / E at
  -- most, sides free to bulge
  local sag = 500 * gravity * 0.01 * 1.625 / 2e5
  assert(at[3] < 0.15 and at[3] > 0.15 - 1.2 * sag - 1e-4, what:format(at[3]))
  local leans = slid == 0 and 1e-4 or 1e-3 -- half of it hangs over
  assert(math.abs(at[1] - slid) < leans and math.abs(at[2] - 0.5 * slid) < leans, what:format(table.concat(at, " ")))
  local force = 0
  for _, c in ipairs(step:contacts()) do
    local names = { [c.a] = true, [c.b] = true }
    if names.upper then
      assert(names.lower, what:format(c.a .. " and " .. c.b))
      force = force + math.abs(c.force[3])
    end
  end
  assert(math.abs(force - weight) < 1e-4 * weight, what:format(force))
end

stn.test("a soft box stands on an equal one: any mesh, gap, and place", function()
  for _, cells in ipairs(quick and { 1, 2 } or { 1, 2, 3, 4 }) do
    for _, gap in ipairs { 0, 1e-4, -1e-5 } do stands(cells, {}, gap, 0) end
    if cells > 1 then stands(cells, {}, 0, 0.1 / cells / 2) end -- vertices on edges
    stands(cells, {}, 0, 0.01)
  end
end)

stn.test("with every law, solver, integrator", function()
  for _, options in ipairs { { law = "lagged" }, { law = "similar" }, { law = "hertz" }, { solver = "nsgs" }, { solver = "qp" },
    { solver = "admm" }, { stiction = true }, { integrator = "theta" }, { dt = 5e-3 } } do
    for _, cells in ipairs(quick and { 1 } or { 1, 2 }) do stands(cells, options, 0, 0) end
  end
end)

stn.test("bricks in a wall, and boxes side by side", function()
  for _, n in ipairs(quick and { 1 } or { 1, 2, 3 }) do
    local world = stn.world {}
    world:ground { mu = 0.8 }
    local size = { 0.2, 0.1, 0.1 }
    box(world, "left", { 2 * n, n, n }, { -0.1, 0, 0.05 }, size)
    box(world, "right", { 2 * n, n, n }, { 0.1, 0, 0.05 }, size)
    local top = box(world, "top", { 2 * n, n, n }, { 0, 0, 0.15 }, size)
    rests(world, 0.6)
    local at = top:position()
    assert(math.abs(at[1]) < 1e-3 and math.abs(at[2]) < 1e-3 and math.abs(at[3] - 0.1496) < 3e-4, table.concat(at, " "))
  end
end)

stn.test("a tower of boxes, each turned against the one below", function()
  for _, cells in ipairs { 1, 2 } do
    for _, turn in ipairs(quick and { 0.3 } or { 0.01, 0.3, math.pi / 4 }) do
      for _, dt in ipairs(quick and { 1e-2 } or { 2e-3, 1e-2 }) do
        local world = stn.world { dt = dt }
        world:ground { mu = 0.8 }
        local tower = {}
        for i = 1, 4 do
          tower[i] = world:soft { box = { 0.1, 0.1, 0.1 }, cells = cells, young = 2e5, damping = 0.02, density = 500, mu = 0.6,
            xyz = { 1e-3 * (i % 2), 0, 0.1 * i - 0.05 + 1e-3 * i }, rpy = { 0, 0, turn * (i % 2) } }
        end
        rests(world, 2, 2e-3) -- at 10 ms the upper two fall together until the lower one of them is stopped within a step
        for i, body in ipairs(tower) do
          local at, what = body:position(), ("%d cells, turned by %g, dt %g: box %d: %%g"):format(cells, turn, dt, i)
          assert(math.abs(at[3] - (0.1 * i - 0.05)) < 3e-3, what:format(at[3])) -- its own sag and that of those below
          for _, v in ipairs(body:velocities()) do
            assert(math.abs(v[1]) + math.abs(v[2]) + math.abs(v[3]) < 1e-4, what:format(v[3]))
          end
        end
      end
    end
  end
end)

-- Bulging sides slide past each other: corners and rims hand their load over, from vertices to edges that cross.
stn.test("equal boxes that are pressed come to rest, and stay apart", function()
  for _, count in ipairs { 2, 3 } do
    for _, cells in ipairs(quick and { 2 } or { 2, 3 }) do
      for _, off in ipairs { 0, 0.004 } do
        local world, height = stn.world { dt = 5e-3 }, 0
        world:ground { mu = 0.5 }
        local boxes = {}
        for i = 1, count do
          boxes[i] = world:soft { box = { 0.08, 0.08, 0.05 }, cells = { cells, cells, cells - 1 }, young = 1.3e5, density = 500, damping = 0.01, mu = 0.5, xyz = { off * (i % 2), -0.5 * off * i, height + 0.0251 } }
          height = height + 0.0501
        end
        local jaw, way = world:box { size = { 0.2, 0.2, 0.04 }, mass = 1, mu = 0.5, xyz = { 0, 0, height + 0.0205 } }, 0.15 * height
        jaw:kinematic(function(t)
          return { xyz = { 0, 0, height + 0.0205 - way * math.min(1, t / 0.8) } }, { linear = { 0, 0, t < 0.8 and -way / 0.8 or 0 } }
        end)
        local what, last = ("%d boxes, %d cells, %g aside: %%g"):format(count, cells, off)
        -- corners exactly on corners may slide past each other by nanometres, and are caught a few steps later
        local most = off == 0 and 4e-3 or 1e-3
        for step in world:run { seconds = 2.5 } do
          assert(step.overlap_m < most, what:format(step.overlap_m))
          last = step
        end
        assert(last.kinetic_J < 1e-8, what:format(last.kinetic_J))
        for _, box in ipairs(boxes) do
          local weight = box:mass() * gravity
          stn.near(world:contact_force(box).force[3], weight, 1e-4 * weight + math.sqrt(2 * box:mass() * last.kinetic_J) / world.dt) -- what still moves
        end
      end
    end
  end
end)

--- A bar of 0.3 x 0.05 x 0.05 m as a mesh of twelve triangles.
local function bar_file(path)
  local file <close> = assert(io.open(path, "w"))
  for corner = 0, 7 do
    local side = { corner % 2, corner // 2 % 2, corner // 4 }
    file:write(("v %g %g %g\n"):format(0.3 * side[1] - 0.15, 0.05 * side[2] - 0.025, 0.05 * side[3] - 0.025))
  end
  for _, f in ipairs { { 1, 4, 2 }, { 1, 3, 4 }, { 5, 6, 8 }, { 5, 8, 7 }, { 1, 2, 6 }, { 1, 6, 5 }, { 3, 8, 4 }, { 3, 7, 8 }, { 1, 7, 3 }, { 1, 5, 7 }, { 2, 4, 8 }, { 2, 8, 6 } } do
    file:write("f ", table.concat(f, " "), "\n")
  end
end

-- No corner of a bar lies on the other one: edges that cross carry all.
stn.test("a soft bar lies across a bar, soft or rigid", function()
  local files <close> = require "files"()
  local path = files:path ".obj"
  bar_file(path)
  local below = {
    soft = function(world, cells) return world:soft { box = { 0.3, 0.05, 0.05 }, cells = { cells, 1, 1 }, pinned = "all" } end,
    box = function(world) return world:box { size = { 0.3, 0.05, 0.05 }, fixed = true } end,
    hull = function(world) return world:mesh { file = path, fixed = true } end,
    mesh = function(world) return world:mesh { file = path, fixed = true, convex = false } end,
  }
  for kind, make in pairs(below) do
    for _, cells in ipairs { 1, 2, 3 } do
      for _, turn in ipairs(quick and { 0.3 } or { 0, 0.3, 0.8 }) do
        for _, gap in ipairs { 0, 1e-4 } do
          local world = stn.world {}
          make(world, cells)
          local bar = world:soft { box = { 0.05, 0.3, 0.05 }, cells = { 1, cells, 1 }, young = 1e6, damping = 0.02, density = 500, xyz = { 0.003, 0.001, 0.05 + gap }, rpy = { 0, 0, turn } }
          rests(world, 0.3)
          local at, what = bar:position(), ("%s, %d cells, turned by %g, gap %g: %%g"):format(kind, cells, turn, gap)
          assert(at[3] < 0.05 and at[3] > 0.0485, what:format(at[3]))
          assert(math.abs(at[1] - 0.003) < 1e-3 and math.abs(at[2] - 0.001) < 1e-3, what:format(at[2]))
        end
      end
    end
  end
end)
