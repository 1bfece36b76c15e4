-- SPDX-License-Identifier: Apache-2.0
-- Two arms with hands hold still over a table with a jar, its lid and a bowl; 16 marbles rest in the jar. 160 degrees of
-- freedom: 2 x (7 + 16), 3 x 6 and 16 x 6. The scene of the SAP paper's dual-arm study (section VI-E) with our own robots.
local stn = require "stiction"

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

local marble_count, radius, marble_mass = 16, 0.0125, 0.05 -- [m], [kg]
local jar_radius, jar_floor = 0.036, 0.006                  -- inside [m]

local world = stn.world { dt = p.dt, solver = { "sap", tolerance = 1e-8 } }
world:ground { name = "table", mu = p.mu }
local jar = world:load { "models/vessels/jar.urdf", mu = p.mu }
world:load { "models/vessels/lid.urdf", mu = p.mu, base = { xyz = { 0.18, 0, 0 } } }
world:load { "models/vessels/bowl.urdf", mu = p.mu, base = { xyz = { 0.05, 0.25, 0 } } }

-- Layers of four, each turned by 45 degrees: a marble lies in the dip between four others.
local marbles, ring = {}, jar_radius - radius - 1e-4
for i = 0, marble_count - 1 do
  local layer, angle = i // 4, math.pi / 2 * (i % 4) + math.pi / 4 * (i // 4)
  marbles[i + 1] = world:sphere {
    name = "marble" .. i + 1, radius = radius, mass = marble_mass, mu = p.mu, color = { 0.2, 0.45, 0.7 },
    xyz = { ring * math.cos(angle), ring * math.sin(angle), jar_floor + radius + 0.0176 * layer },
  }
end

local fingers = {}
for _, finger in ipairs { "index", "middle", "ring", "thumb" } do
  for k = 0, 3 do
    fingers["allegro_" .. finger .. "_joint_" .. k] = k == 0 and (finger == "thumb" and 0.9 or 0) or 0.4
  end
end

local posture = { iiwa14_joint_2 = 0.5, iiwa14_joint_4 = -1.2, iiwa14_joint_6 = 0.8 }
local arms = {}
for i, side in ipairs { "left", "right" } do
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = side, fixed = true, joints = posture,
                           base = { xyz = { -0.55, i == 1 and 0.35 or -0.35, 0 } } }
  local hand = world:load { ("models/allegro/allegro_%s.urdf"):format(side), name = side .. "_hand", joints = fingers }
  arm:attach(hand, "iiwa14_flange")
  arms[i] = { arm = arm, hand = hand }
end
for _, a in ipairs(arms) do
  world:controller { "joint_pd", target = a.arm, kp = p.arm_kp, kd = p.arm_kd, effort_limits = p.effort_limits }
  world:controller { "joint_pd", target = a.hand, kp = p.hand_kp, kd = p.hand_kd, effort_limits = p.effort_limits }
end

local momentum = 0
for step in world:run { seconds = p.seconds } do
  momentum = math.max(momentum, step.certificate.momentum)
end

local lost, fastest, swing, sag = 0, 0, 0, 0
local at = jar:position()
for _, marble in ipairs(marbles) do
  local x = marble:position()
  local away = math.sqrt((x[1] - at[1]) ^ 2 + (x[2] - at[2]) ^ 2)
  lost = lost + ((away > jar_radius or x[3] < jar_floor) and 1 or 0)
  fastest = math.max(fastest, marble:speed())
end
for _, a in ipairs(arms) do
  for _, robot in ipairs { a.arm, a.hand } do
    for _, joint in ipairs(robot:joints()) do
      swing = math.max(swing, math.abs(joint:velocity()))
      sag = math.max(sag, math.abs(joint:position() - (posture[joint.name] or fingers[joint.name] or 0)))
    end
  end
end
stn.result("dofs", world.nv, "1")
stn.result("sag_rad", sag, "rad")
stn.result("marble_speed_m_per_s", fastest, "m/s")
stn.check("marbles stay in the jar", { value = lost, limit = 0, unit = "marbles" })
stn.check("arms and hands hold still", { value = swing, limit = 1e-3, unit = "rad/s" })
stn.check("they sag", { value = sag, limit = 0.1, unit = "rad" })
stn.check("the marbles rest", { value = fastest, limit = 1e-2, unit = "m/s" })
stn.check("momentum error", { value = momentum, limit = 1e-5, unit = "1" })
