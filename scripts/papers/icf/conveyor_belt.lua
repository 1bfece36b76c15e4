-- SPDX-License-Identifier: Apache-2.0
-- A box on a belt that goes to and fro, position amp (1 - cos(2 pi freq t)): paper ICF [castro-2023], section IX-A. It sticks until the
-- belt accelerates faster than mu g, and slips near the turning points. lagged keeps it on the belt, with f_n = m g in every step;
-- sap and similar lift it while it slips, by mu (dt + taud) and mu dt times the slip speed.
-- The box cannot turn and touches at one point below its centre; box4=true: it is free and stands on its four corners.
-- study=true runs `laws` with the steps `dts` against the continuous solution.
local stn = require "stiction"
local planar, load_text = require "planar", require "robot_text"

local p = planar.parameters {
  m = 1.0, side = 0.05,  -- [kg], [m]
  mu = 0.7,
  amp = 0.2, freq = 1.0, -- of the belt's position [m], [Hz]
  box4 = false,
  dt = 0.01,             -- [s]
  seconds = 2.0,         -- [s]
  dts = "4e-4,2e-3,1e-2,5e-2", -- of the study [s]
}

local omega, half, g = 2 * math.pi * p.freq, p.side / 2, 9.81
local function belt(t) return p.amp * omega * math.sin(omega * t) end

local one_point = {
  mass = p.m, inertia = math.huge, start = { 0, half - p.m * g / p.k, 0, 0, 0, 0 }, angle = 0, count = 1, belt = belt,
  lowest = function() return { { x = 0, z = -half } } end,
  turn = function() return { 0, 0, 0 } end,
  build = function(world)
    local robot = load_text(world, ".xml", ([[<mujoco model="box"><worldbody><body name="box"><inertial pos="0 0 0" mass="%.17g"
      diaginertia="1 1 1"/><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
      <joint name="z" type="slide" axis="0 0 1"/><geom type="sphere" size="%.17g" mass="0" group="3"/>
      <geom type="box" size="%.17g %.17g %.17g" mass="0" group="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>]]):format(
      p.m, half, half, half, half)) -- one point of a sphere touches, a box is seen
    robot:set_q { z = half - p.m * g / p.k }
    return robot:link "box"
  end,
}

local four_corners = {
  mass = p.m, inertia = p.m * p.side ^ 2 / 6, start = { 0, half - p.m * g / (4 * p.k), 0, 0, 0, 0 }, angle = 0, count = 2, belt = belt,
  lowest = function(theta)
    local c, s = half * math.cos(theta), half * math.sin(theta)
    return { { x = s - c, y = half, z = -s - c }, { x = s + c, y = half, z = s - c } } -- rear and front, each two corners
  end,
  turn = function(_, torque) return planar.scaled(torque, 6 / (p.m * p.side ^ 2)) end,
  build = function(world)
    return world:box { name = "box", size = { p.side, p.side, p.side }, mass = p.m, xyz = { 0, 0, half - p.m * g / (4 * p.k) } }
  end,
}

local body = p.box4 and four_corners or one_point

-- A sliding law that glides does so at the height glide |v_t|. `stuck`: for how many steps it
-- has stuck.
local function single()
  local glide = ({ sap = p.mu * (p.dt + p.taud), similar = p.mu * p.dt })[p.law] or 0
  local largest_vn, sticking_vn, largest_slip, off_load, largest_load, lift, stuck, last = 0, 0, 0, 0, 0, 0, 0, nil
  planar.run(p, body, function(s, step)
    local fn, sticks = 0, step ~= nil
    for _, c in ipairs(s.contacts) do
      fn, sticks = fn + c.fn, sticks and math.abs(c.vt) < p.eps
      largest_vn, largest_slip = math.max(largest_vn, math.abs(c.vn)), math.max(largest_slip, math.abs(c.vt))
      lift = math.max(lift, c.phi)
    end
    stuck = sticks and stuck + 1 or 0
    for _, c in ipairs(stuck > 2 and s.contacts or {}) do sticking_vn = math.max(sticking_vn, math.abs(c.vn)) end
    off_load, largest_load, last = step and math.max(off_load, math.abs(fn - p.m * g)) or 0, math.max(largest_load, fn), s
  end)
  stn.result("largest_slip", largest_slip, "m/s")
  stn.result("largest_vn", largest_vn, "m/s")
  stn.result("largest_vn_while_sticking", sticking_vn, "m/s")
  stn.result("fn_off_weight", off_load, "N")
  stn.result("largest_fn_over_weight", largest_load / (p.m * g))
  stn.result("largest_gap", lift, "m")
  stn.result("largest_gap_over_glide", glide > 0 and lift / (glide * largest_slip) or lift)
  stn.result("x_end", last.x, "m")
  if p.box4 then
    return
  end
  if off_load < 0.5 * p.m * g then -- else the belt throws it up
    stn.check("it glides no higher than the law says", { value = lift, limit = glide * largest_slip + 1e-9, unit = "m" })
  end
  if p.law:find "lagged" then
    stn.check("lagged: the normal velocity stays 0", { value = largest_vn, limit = 1e-12, unit = "m/s" })
    stn.check("lagged: the normal force is the weight", { value = off_load / (p.m * g), limit = 1e-12 })
  end
end

if p.study then
  local rows = planar.study(p, function() return body end, "Conveyor belt: error against the continuous solution")
  planar.check_order(rows, "lagged", 0.9, 1.1)
  planar.check_order(rows, "similar", 0.9, 1.1)
  if rows.sap and rows.sap[1].dt < p.taud then -- what is left is mu taud |v_t|
    planar.check_order(rows, "sap", 0, 0.8)
  end
else
  single()
  if p.plot ~= "" then
    planar.draw(p, function() return body end, ("Conveyor belt, dt %g s"):format(p.dt))
  end
end
