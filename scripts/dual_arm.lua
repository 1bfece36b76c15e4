-- SPDX-License-Identifier: Apache-2.0
-- Two arms with hands open a jar, pour 16 marbles into a bowl, close the lid and put the jar back: the dual-arm study of the
-- SAP paper (section VI-E) with our own robots. The task is told in dual_arm/story.lua, the world made in dual_arm/scene.lua.
--
--   stiction run scripts/dual_arm.lua --record out.html
--   stiction run scripts/dual_arm.lua --set tolerance=1e-1            or another solver: --solver ipm, another law: --law lagged
--   stiction run scripts/dual_arm.lua --set perturb=everything --seed 7
local stn = require "stiction"
local story = require "dual_arm.story"

local p = stn.params {
  mu = 0.8,           -- of all surfaces, when nothing is perturbed
  arm_kp = 4000.0,    -- [N m/rad]
  arm_kd = 400.0,     -- [N m s/rad]
  hand_kp = 3.0,      -- [N m/rad]
  hand_kd = 0.1,      -- [N m s/rad]
  tolerance = 1e-3,   -- of the solver
  dt = 0.005,         -- [s]
  give_up_s = 60.0,   -- [s]
  perturb = stn.choice { "nothing", "everything", "poses", "friction", "masses" },
  seed = 1,           -- of what is perturbed
}

local jar_story = story.new(p, print)
jar_story:tell(p.give_up_s)
jar_story.figures:report()
jar_story:check()
