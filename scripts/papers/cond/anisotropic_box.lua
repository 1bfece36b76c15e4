-- SPDX-License-Identifier: Apache-2.0
-- A body slides on a plane whose friction differs by direction, mu1 along x and mu2 along y, until it stops: paper COND [lee-2023],
-- section V-G. Maximal dissipation bends its way: the force is -m g D^2 v/|D v|, D = diag(mu1, mu2). A box does not turn: its
-- corners slip alike, and what friction tips it by acts along the slip.
-- The log has the continuous motion (mdp), the body's (discrete), and positions that move by the mean of a step's two velocities.
local stn = require "stiction"
local chart = require "chart"
local load_text = require "robot_text"

local p = stn.params {
  mu1 = 0.3, mu2 = 0.15, -- of the contact, along x and y
  v0 = "1,1",            -- [m/s]
  dt = stn.number { 0.01, min = 1e-5, max = 0.1, unit = "s" },
  T = 1.2,               -- [s]
  body = stn.choice { "particle", "box" },
  plot = "",             -- an SVG file: the way seen from above
}
local v0x, v0y = p.v0:match "^%s*([%d.e+-]+)%s*,%s*([%d.e+-]+)%s*$"
v0x, v0y = tonumber(v0x), tonumber(v0y)
assert(v0x and v0y, "v0: give two numbers, as in 1,1")
assert(p.mu1 > 0 and p.mu2 > 0 and p.mu1 < 1 and p.mu2 < 1, "mu1 and mu2 must be > 0 and < 1")

local g, mass, own = 9.81, 0.5, 0.5 -- own: mu of the body
local world = stn.world { dt = p.dt, gravity = { 0, 0, -g }, contact_point = "midpoint", margin = 1, exact_contacts = true,
  solver = { "nsgs", tolerance = 1e-12, max_iterations = 100000 } }
local function beside(mu) return own * mu / (2 * own - mu) end -- what makes mu with the body's: 2 a b/(a + b)
world:ground { name = "ground", mu = beside(p.mu1), mu2 = beside(p.mu2), friction_direction = { 1, 0, 0 } }

local body
if p.body == "box" then
  body = world:box { name = "box", size = { 0.2, 0.2, 0.05 }, mass = mass, mu = own, xyz = { 0, 0, 0.025 }, velocity = { v0x, v0y, 0 } }
else
  local robot = load_text(world, ".xml", ([[<mujoco model="particle"><worldbody><body name="particle"><inertial pos="0 0 0" mass="%.17g"
    diaginertia="1 1 1"/><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="z" type="slide" axis="0 0 1"/><geom type="sphere" size="0.01" mass="0" friction="%.17g"/></body></worldbody></mujoco>]]):format(mass, own))
  robot:set_q { z = 0.01 }
  robot:joint "x":set_velocity(v0x)
  robot:joint "y":set_velocity(v0y)
  body = robot:link "particle"
end
local function place()
  local at = body:position()
  return at[1], at[2]
end
local function velocity()
  local v = body:velocity().linear
  return v[1], v[2]
end

-- Maximal dissipation, continuous: classical Runge-Kutta with small steps; slower than one of them it stands.
local function pull(vx, vy)
  local x, y = p.mu1 * vx, p.mu2 * vy
  local size = math.sqrt(x * x + y * y)
  return size > 0 and -g * p.mu1 * x / size or 0, size > 0 and -g * p.mu2 * y / size or 0
end
local mdp = { x = 0, y = 0, vx = v0x, vy = v0y }
local function advance_mdp(parts)
  local h = p.dt / parts
  for _ = 1, parts do
    local vx, vy = mdp.vx, mdp.vy
    if math.sqrt(vx * vx + vy * vy) <= g * math.max(p.mu1, p.mu2) * h then
      mdp.vx, mdp.vy = 0, 0
      return
    end
    local ax, ay = pull(vx, vy)
    local bx, by = pull(vx + h / 2 * ax, vy + h / 2 * ay)
    local cx, cy = pull(vx + h / 2 * bx, vy + h / 2 * by)
    local dx, dy = pull(vx + h * cx, vy + h * cy)
    mdp.x = mdp.x + h * vx + h * h / 6 * (ax + bx + cx)
    mdp.y = mdp.y + h * vy + h * h / 6 * (ay + by + cy)
    mdp.vx = vx + h / 6 * (ax + 2 * bx + 2 * cx + dx)
    mdp.vy = vy + h / 6 * (ay + 2 * by + 2 * cy + dy)
  end
end

local mean = { x = 0, y = 0, vx = v0x, vy = v0y }
local followed = 0
local function follow() -- what goes with the present step; the log asks before the loop does
  while followed < world.steps do
    local vx, vy = velocity()
    advance_mdp(1000)
    mean.x, mean.y = mean.x + p.dt * (mean.vx + vx) / 2, mean.y + p.dt * (mean.vy + vy) / 2
    mean.vx, mean.vy = vx, vy
    followed = followed + 1
  end
end

world:log { "t", "x_mdp", "y_mdp", "vx_mdp", "vy_mdp", "x_discrete", "y_discrete", "vx_discrete", "vy_discrete", "x_discrete_mid",
  "y_discrete_mid", values = function()
    follow()
    local x, y = place()
    local vx, vy = velocity()
    return world.time, mdp.x, mdp.y, mdp.vx, mdp.vy, x, y, vx, vy, mean.x, mean.y
  end }
local worst = 0
local exact, ours = { name = "continuous", x = { 0 }, y = { 0 } }, { x = { 0 }, y = { 0 } }
for _ in world:run { seconds = p.T } do
  follow()
  local x, y = place()
  exact.x[#exact.x + 1], exact.y[#exact.y + 1] = mdp.x, mdp.y
  ours.x[#ours.x + 1], ours.y[#ours.y + 1] = x, y
  worst = math.max(worst, math.abs(x - mdp.x), math.abs(y - mdp.y))
end
if p.plot ~= "" then
  ours.name = ("in steps of %g ms"):format(1e3 * p.dt)
  chart.write(p.plot, { title = ("%s: mu %g along x, %g along y"):format(p.body, p.mu1, p.mu2), x = { label = "x [m]" }, y = { label = "y [m]" },
    series = { exact, chart.thinned({ ours }, 30)[1] } })
end
local x, y = place()
stn.result("x_end", x, "m")
stn.result("y_end", y, "m")
stn.result("off", worst / math.sqrt(mdp.x ^ 2 + mdp.y ^ 2), "1")
stn.check("the way is that of maximal dissipation", { value = worst, limit = p.dt * math.sqrt(v0x ^ 2 + v0y ^ 2), unit = "m" })
