-- SPDX-License-Identifier: Apache-2.0
-- Newton's law of impact, v_n+ = -e v_n0, where no law regularises contacts.
local stn = require "stiction"

-- Solvers of a formulation without a law: all that the registry has but for soft_step, which is approximate and has tests of its own.
local function exact_solvers()
  local list = {}
  for _, id in ipairs(stn.plugins "solver") do
    local world <close> = stn.world { solver = id }
    if id ~= "soft_step" and world.parameters:find("\nlaw = ", 1, true) == nil then
      list[#list + 1] = id
    end
  end
  assert(#list >= 4, "bisection, nsgs, pgs, admm_ncp at least")
  return list
end

-- Heights of the tops after each bounce of a ball that falls from 1 m.
local function bounce(solver, e, dt, seconds)
  local world <close> = stn.world { dt = dt, solver = { solver, tolerance = 1e-9 } }
  world:ground { restitution = e }
  local ball = world:sphere { radius = 0.1, mass = 2, xyz = { 0, 0, 1.1 } }
  local tops, rising = {}, false
  for _ in world:run { seconds = seconds } do
    local speed = ball:velocity().linear[3]
    if rising and speed <= 0 and ball:position()[3] > 0.1001 then tops[#tops + 1] = ball:position()[3] - 0.1 end
    rising = speed > 0
  end
  return tops
end

-- The ball turns where the step begins that closes the gap, up to dt v above the ground, and falls and rises with an error of g dt v.
for _, solver in ipairs(exact_solvers()) do
  stn.test("a ball that falls bounces to e^2 of its height, to order dt: " .. solver, function()
    for _, e in ipairs { 0.5, 0.8, 1.0 } do
      local tops = bounce(solver, e, 1e-3, 2)
      for i = 1, 2 do
        stn.near(tops[i], e ^ (2 * i), 2e-3, ("e = %g, top %d"):format(e, i))
      end
    end
  end)
end

stn.test("the height of the bounce converges with order 1", function()
  local function off(dt) return math.abs(bounce("pgs", 0.7, dt, 0.8)[1] - 0.49) end
  local coarse, fine = off(4e-3), off(1e-4)
  assert(coarse < 4e-3 * 4.43 and fine < 1e-4 * 4.43, ("%g %g"):format(coarse, fine)) -- dt times the speed of the impact
end)

-- Symplectic Euler loses m g dt v over a fall and a rise, which the impact, at the step's start, gives back.
stn.test("no bounce goes higher than the fall before, and e = 1 keeps the height", function()
  for _, solver in ipairs { "bisection", "nsgs" } do
    for _, e in ipairs { 0.3, 1.0 } do
      local before = 1
      for i, top in ipairs(bounce(solver, e, 1e-3, 3)) do
        assert(top <= before * (1 + 1e-12), ("%s: top %d at %g m after %g"):format(solver, i, top, before))
        before = e < 1 and top or before
      end
      if e == 1.0 then stn.near(bounce(solver, e, 1e-3, 3)[3], 1, 2e-4, "third top [m]") end
    end
  end
end)

stn.test("two balls meet: momentum stays, the relative velocity turns by -e", function()
  for _, solver in ipairs(exact_solvers()) do
    local world <close> = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = { solver, tolerance = 1e-10 } }
    local a = world:sphere { radius = 0.1, mass = 1, xyz = { -0.3, 0, 0 }, velocity = { 3, 0, 0 }, restitution = 0.6 }
    local b = world:sphere { radius = 0.1, mass = 2, xyz = { 0.1, 0, 0 }, velocity = { -1, 0, 0 } }
    for _ in world:run { seconds = 0.3 } do end
    -- v_a = (p - m_b e 4)/3, v_b = (p + m_a e 4)/3 with p = 1
    stn.near(a:velocity().linear[1], (1 - 2 * 0.6 * 4) / 3, 1e-8, solver .. ": a [m/s]")
    stn.near(b:velocity().linear[1], (1 + 0.6 * 4) / 3, 1e-8, solver .. ": b [m/s]")
  end
end)

-- With gaps that a step does not cross twice each impact is by itself: the last ball leaves with the velocity of the first.
stn.test("Newton's cradle hands the momentum on", function()
  for _, solver in ipairs(exact_solvers()) do
    local world <close> = stn.world { dt = 1e-3, gravity = { 0, 0, 0 }, solver = { solver, tolerance = 1e-10 } }
    local balls = {}
    for i = 1, 5 do
      balls[i] = world:sphere { radius = 0.05, mass = 0.5, xyz = { 0.11 * i, 0, 0 }, velocity = { i == 1 and 2 or 0, 0, 0 }, restitution = 1, mu = 0 }
    end
    for _ in world:run { seconds = 0.1 } do end
    for i = 1, 5 do
      stn.near(balls[i]:velocity().linear[1], i == 5 and 2 or 0, 1e-8, ("%s: ball %d"):format(solver, i))
    end
  end
end)

stn.test("what rests does not jitter: a box with e = 0.8 comes to rest and stays", function()
  for _, solver in ipairs { "pgs", "bisection" } do
    local world <close> = stn.world { dt = 2e-3, solver = { solver, tolerance = 1e-8 } }
    world:ground { restitution = 0.8 }
    local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.1 } }
    for _ in world:run { seconds = 3 } do end
    for _ in world:run { seconds = 0.2 } do
      assert(box:speed() < 1e-6, solver .. ": it moves")
    end
  end
end)

stn.test("convex solvers have no restitution, and say so", function()
  assert((bounce("sap", 0.5, 1e-3, 1)[1] or 0) < 0.1, "bounced")
end)
