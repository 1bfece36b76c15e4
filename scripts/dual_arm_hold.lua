-- SPDX-License-Identifier: Apache-2.0
-- The scene of dual_arm.lua at rest: two arms with hands hold still over a table with a jar, its lid beside it and a bowl; 16
-- marbles rest in the jar. All contacts are points, as those of MuJoCo: for benches.
local stn = require "stiction"
local solve_error = require "solve_error"
local worse = require "worse"
local scene = require "dual_arm.scene"

local p = stn.params {
  arm_kp = 2000.0,       -- [N m/rad]
  arm_kd = 100.0,        -- [N m s/rad]
  hand_kp = 3.0,         -- [N m/rad]
  hand_kd = 0.1,         -- [N m s/rad]
  effort_limits = false, -- of the motors: with them every driven joint is a row of the contact problem
  mu = 0.8,
  dt = 0.005,            -- [s]
  seconds = 10.0,        -- [s]
}

local s = scene.build {
  world = { dt = p.dt, solver = { "sap", tolerance = 1e-8 } },
  mu = p.mu, lid = stn.pose { xyz = { 0.18, 0, 0 } },
  arm = { kp = p.arm_kp, kd = p.arm_kd, effort_limits = p.effort_limits },
  hand = { kp = p.hand_kp, kd = p.hand_kd, effort_limits = p.effort_limits },
}
local world, marbles = s.world, s.marbles
local start = {}
for _, side in ipairs { s.left, s.right } do
  for _, robot in ipairs { side.arm, side.hand } do start[robot] = robot:positions() end
end

local worst = solve_error.worst()
for step in world:run { seconds = p.seconds } do
  worst:add(step.certificate)
end

local lost, fastest, swing, sag = 0, 0, 0, 0
for _, marble in ipairs(marbles) do
  local x = s.jar:pose():inverse() * marble:position()
  lost = lost + ((math.sqrt(x[1] ^ 2 + x[2] ^ 2) > scene.jar_radius or x[3] < scene.jar_floor) and 1 or 0)
  fastest = worse(fastest, marble:speed())
end
for robot, positions in pairs(start) do
  for name, velocity in pairs(robot:velocities()) do
    swing = worse(swing, math.abs(velocity))
    sag = worse(sag, math.abs(robot:joint(name):position() - positions[name]))
  end
end
stn.result("dofs", world.nv, "1")
stn.result("sag_rad", sag, "rad")
stn.result("marble_speed_m_per_s", fastest, "m/s")
stn.check("marbles stay in the jar", { value = lost, limit = 0, unit = "marbles" })
stn.check("arms and hands hold still", { value = swing, limit = 1e-3, unit = "rad/s" })
stn.check("they sag", { value = sag, limit = 0.1, unit = "rad" })
stn.check("the marbles rest", { value = fastest, limit = 1e-2, unit = "m/s" })
worst:check(1e-5)
