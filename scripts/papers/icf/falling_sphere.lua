-- SPDX-License-Identifier: Apache-2.0
-- A sphere falls onto the ground with a horizontal velocity and without spin: paper ICF [castro-2023], section IX-B. Whatever the height,
-- the impact takes m g t of normal impulse until the time t, so slip ends at U0/(3.5 mu g), and the sphere rolls on with
-- 5/7 U0. Laws that couple slip with the normal direction act before it touches: sap first, then similar, then lagged.
-- study=true runs `laws` with the steps `dts` against the continuous solution.
local stn = require "stiction"
local planar = require "planar"

local p = planar.parameters {
  m = 0.5, r = 0.025,   -- [kg], [m]
  z0 = 0.05, U0 = 2.0,  -- height of its centre [m] and velocity along x [m/s] when let go
  mu = 0.5,
  dt = 0.002,           -- [s]
  seconds = 0.2,        -- [s]
  dts = "4e-5,4e-4,2e-3,1e-2", -- of the study [s]
}

local sphere = {
  mass = p.m, inertia = 0.4 * p.m * p.r ^ 2, start = { 0, p.z0, 0, p.U0, 0, 0 }, angle = 0, count = 1,
  lowest = function() return { { x = 0, z = -p.r } } end,
  turn = function(_, torque) return planar.scaled(torque, 1 / (0.4 * p.m * p.r ^ 2)) end,
  build = function(world)
    return world:sphere { name = "sphere", radius = p.r, mass = p.m, xyz = { 0, 0, p.z0 }, velocity = { p.U0, 0, 0 } }
  end,
}

-- The first force, the time from which it rolls, and the state at the end.
local function single()
  local touch, roll, last = 0 / 0, 0 / 0, nil
  local sum, count = 0, 0
  planar.run(p, sphere, function(s)
    local c = s.contacts[1]
    touch = touch ~= touch and c.fn > 0 and s.t or touch
    roll = roll ~= roll and c.fn > 0 and math.abs(c.vt) < 2e-3 and s.t or roll
    if s.t > 0.08 and roll ~= roll then -- behind the impact
      sum, count = sum + math.abs(c.vn), count + 1
    end
    last = s
  end)
  local exact = p.U0 / (3.5 * p.mu * 9.81)
  stn.result("first_force", touch, "s")
  stn.result("rolls_from", roll, "s")
  stn.result("rolls_from_by_momentum", exact, "s")
  stn.result("vn_while_sliding", sum / count, "m/s")
  stn.result("vx_end", last.vx, "m/s")
  stn.result("vx_rolling", 5 / 7 * p.U0, "m/s")
  stn.result("vx_over_rolling", last.vx / (5 / 7 * p.U0))
  stn.result("x_end", last.x, "m")
  if p.seconds > exact + 0.01 and p.margin > 0 then
    local early = p.law == "sap" and p.taud or 0 -- sap acts before the gap closes however small dt
    stn.check("it rolls when momentum says: off by", { value = math.abs(roll - exact), limit = 2 * p.dt + early, unit = "s" })
  end
  if p.arm == "body" then -- friction keeps the angular momentum about a point of the ground
    local kept = last.vx - 2 / 7 * last.contacts[1].vt
    stn.check("angular momentum about the ground stays: 5/7 U0 off by", { value = math.abs(kept / (5 / 7 * p.U0) - 1), limit = 1e-12 })
  end
end

-- How much earlier than lagged a law touches, in every step size: the convex ones act before the gap closes.
local function touches(rows)
  for i, lagged in ipairs(rows.lagged or {}) do
    if rows.sap and rows.similar then
      local sap, similar = lagged.t_first_force - rows.sap[i].t_first_force, lagged.t_first_force - rows.similar[i].t_first_force
      stn.result(("sap_earlier_%g"):format(lagged.dt), sap, "s")
      stn.result(("similar_earlier_%g"):format(lagged.dt), similar, "s")
      stn.result(("sap_earlier_than_similar_%g"):format(lagged.dt), sap - similar, "s")
      stn.check(("sap, similar, lagged touch in this order, dt %g s"):format(lagged.dt), sap >= similar and similar >= 0)
    end
  end
end

local function study()
  local rows = planar.study(p, function() return sphere end, "Falling sphere: error against the continuous solution")
  if p.margin == 0 then
    return -- lagged takes the force of a step's deep overlap for its friction, and does not converge
  end
  planar.check_order(rows, "lagged", 0.9, 1.1)
  if rows.similar and rows.similar[1].dt >= 4e-5 then -- below it rebounds, for want of dissipation while it slides: d/(1 + mu d |v_t|)
    planar.check_order(rows, "similar", 0.9, 1.1)
  end
  if rows.sap and rows.sap[1].dt < 0.01 * p.taud then -- it acts taud too early however small dt
    planar.check_order(rows, "sap", -0.1, 0.1)
  end
  touches(rows)
end

if p.study then
  study()
else
  single()
  if p.plot ~= "" then
    planar.draw(p, function() return sphere end, ("Falling sphere, dt %g s"):format(p.dt))
  end
end
