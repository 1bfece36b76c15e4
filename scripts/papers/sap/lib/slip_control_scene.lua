-- SPDX-License-Identifier: Apache-2.0
-- The scene of the slip control of the SAP paper [castro-2022], section VI-D: a parallel gripper with two soft bubbles, bolted to the
-- world, holds a spatula by its handle, ahead of it and horizontally. The grip is a square wave between a force that holds and one that
-- lets the spatula turn in the grasp. 8 degrees of freedom: two fingers, and the spatula.
local stn = require "stiction"

local scene = {}

--- Declares the parameters that every script about it takes; `own` are those of the script.
function scene.parameters(own)
  local declared = {
    tight = 16.0, loose = 1.0,     -- force of each finger [N]
    period = 6.0, duty = 0.75,     -- of the wave [s]; the part of it with the tight grip
    hold_at = 0.020,               -- where the bubbles hold the handle, ahead of its middle [m]
    mu = 1.0,                      -- bubble on handle
    modulus = 1e5,                 -- of the bubbles [Pa]
    relaxation_time = 0.005,       -- of the contact, by the law sap [s]
    dissipation = 5.0,             -- of the contact, by the other laws [s/m]
    resolution = 0.013, handle_resolution = 0.02, -- of the bubbles and of the handle [m]
    dt = 0.005,                    -- [s]
    seconds = 12.0,                -- [s]
    tolerance = 1e-3,              -- eps_r
  }
  for key, value in pairs(own or {}) do declared[key] = value end
  return stn.params(declared)
end

--- A world with gripper and spatula, its fingers still open: o.solver, o.law as of stn.world, o.tolerance in place of p's.
function scene.build(p, o)
  local world = stn.world {
    dt = p.dt, contact = "hydroelastic", law = o.law, solver = { o.solver, tolerance = o.tolerance or p.tolerance },
  }
  -- the gripper's approach (z) along the world's x, its fingers along y; the grasp is the origin
  local gripper = world:load {
    "models/bubble_gripper/bubble_gripper.urdf", fixed = true, base = { xyz = { -0.155, 0, 0 }, rpy = { 0, math.pi / 2, 0 } },
    modulus = p.modulus, resolution = p.resolution,
  }
  local spatula = world:load { "models/spatula/spatula.urdf", base = { xyz = { -p.hold_at, 0, 0 } }, resolution = p.handle_resolution }
  local sap = (o.law or "sap") == "sap"
  world:contact_material { mu = p.mu, relaxation_time = sap and p.relaxation_time or nil, dissipation = not sap and p.dissipation or nil }
  return { world = world, gripper = gripper, spatula = spatula, left = gripper:joint "finger_left_joint", right = gripper:joint "finger_right_joint",
    fingers = { gripper:link "finger_left", gripper:link "finger_right" } }
end

--- The grip at a time: its force and whether it is the tight one. It begins tight.
function scene.grip(p, time)
  local tight = (time / p.period) % 1 < p.duty
  return tight and p.tight or p.loose, tight
end

--- How far the spatula points up [rad].
function scene.pitch(s)
  local axis = s.spatula:pose():rotate { 1, 0, 0 }
  return math.atan(axis[3], math.sqrt(axis[1] ^ 2 + axis[2] ^ 2))
end

--- Runs it; `visit(step, force, tight)` after every step, with what all contacts do to the spatula.
function scene.run(p, s, visit)
  local function press()
    local force, tight = scene.grip(p, s.world.time + 0.5 * p.dt)
    s.left:set_effort(force)
    s.right:set_effort(force)
    return tight
  end
  local tight = press()
  for step in s.world:run { seconds = p.seconds } do
    visit(step, s.world:contact_force(s.spatula), tight)
    tight = press()
  end
end

return scene
