-- SPDX-License-Identifier: Apache-2.0
-- Two arms with hands open a jar, pour 16 marbles into a bowl, close the lid and put the jar back: the dual-arm study of the
-- SAP paper (section VI-E) with our own robots. The task is told in dual_arm/story.lua, the world made in dual_arm/scene.lua.
--
--   stiction run scripts/dual_arm.lua --record out.html
--   stiction run scripts/dual_arm.lua --set tolerance=1e-1            or another solver: --solver ipm, another law: --law lagged
--   stiction run scripts/dual_arm.lua --set perturb=everything --seed 7
local stn = require "stiction"
local story = require "dual_arm.story"

local d = story.defaults
local p = stn.params {
  mu = d.mu, arm_kp = d.arm_kp, arm_kd = d.arm_kd, hand_kp = d.hand_kp, hand_kd = d.hand_kd, tolerance = d.tolerance, dt = d.dt, seed = d.seed, sight_error = d.sight_error,
  perturb = stn.choice { "nothing", "everything", "poses", "friction", "masses" },
  give_up_s = 60.0,
}

local told = story.new(p, print)
told:tell(p.give_up_s)
told.figures:report()
told:check()
