-- SPDX-License-Identifier: Apache-2.0
-- The pick and place of the quasistatic paper, 69 degrees of freedom, in steps of 0.1 s: success, balance of forces, and the way that a
-- run with inertia takes.
local stn = require "stiction"

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
package.path = folder .. "../../scripts/papers/quasistatic/lib/?.lua;" .. folder .. "../../scripts/lib/?.lua;" .. package.path
local scene = require "pick_and_place_scene"

local defaults = scene.parameters {}

local function settings(own)
  return setmetatable(own, { __index = defaults })
end

local function run(own)
  local p = settings(own)
  local s, weight, springs, unsolved, poses = scene.build(p), 0, 0, 0, {}
  scene.run(p, s, function(step)
    unsolved = unsolved + (step.converged and 0 or 1)
    if step.time > 2.5 and step.time < 11 then
      local cube, plates = scene.imbalance(s)
      weight, springs = math.max(weight, cube), math.max(springs, plates)
    end
    local tenth = math.floor(10 * step.time + 0.5)
    if math.abs(step.time - tenth / 10) < 1e-9 then poses[tenth] = s.red:pose() end
  end)
  stn.check("steps not solved", { value = unsolved, limit = 0, unit = "steps" })
  scene.check(s, p)
  if p.integrator == "quasistatic" then
    stn.check("contacts carry the red cube's weight of 5 N, less", { value = weight, limit = 1e-5, unit = "N" })
    stn.check("contacts carry the springs of the plates, 5 N each, less", { value = springs, limit = 0.05, unit = "N" })
  end
  return poses, s
end

stn.describe("the red cube", function()
  for _, solver in ipairs { "qp", "sap" } do
    stn.it("is put on the stack in steps of 0.1 s by " .. solver, function()
      local _, s = run { dt = 0.1, solver = solver }
      assert(s.world.nv == 69, s.world.nv)
    end)

    stn.it("goes the same way as with inertia, by " .. solver, function()
      local exact = run { dt = 0.005, integrator = "symplectic_euler", solver = "sap", stiction = true }
      for dt, steps in pairs { [0.1] = 1, [0.4] = 4 } do
        local coarse = run { dt = dt, solver = solver, stiction = true }
        local off, turned = 0, 0
        for k = steps, 200, steps do
          off, turned = math.max(off, coarse[k]:distance(exact[k])), math.max(turned, coarse[k]:angle(exact[k]))
        end
        -- what inertia does: a joint of 15 rad/s lags behind a corner of the path, 0.074 m/s, by 0.074/(15 e) = 1.8 mm
        stn.check(("off the way with inertia, h = %g s"):format(dt), { value = off, limit = 5e-3, unit = "m" })
        stn.check(("turned against it, h = %g s"):format(dt), { value = turned / stn.deg, limit = 1, unit = "deg" })
      end
    end)
  end

  stn.it("is put there as boxes with balls at their corners, too", function()
    run { dt = 0.1, cubes = "corners" }
  end)
end)

stn.test("what sticks creeps no faster in short quasistatic steps than in long ones", function()
  local function creep(dt)
    local angle = 0.5
    local world = stn.world { dt = dt, integrator = "quasistatic", solver = { "sap", tolerance = 1e-10 } }
    world:ground { rpy = { 0, angle, 0 }, mu = 1 }
    local up = stn.pose { rpy = { 0, angle, 0 } }
    local box = world:box { size = { 0.2, 0.2, 0.2 }, mass = 1, mu = 1, xyz = up:rotate { 0, 0, 0.1 }, rpy = { 0, angle, 0 } }
    for _ in world:run { seconds = 0.5 } do end
    local from = box:position()
    for _ in world:run { seconds = 0.5 } do end
    return scene.distance(from, box:position()) / 0.5
  end
  local long = creep(0.01)
  assert(long > 0, long)
  for _, dt in ipairs { 0.005, 0.001 } do
    stn.check(("creep at dt = %g s, over that at 0.01 s"):format(dt), { value = creep(dt) / long, limit = 1, unit = "1" })
  end
end)
