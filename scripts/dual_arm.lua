-- SPDX-License-Identifier: Apache-2.0
-- Two arms with hands open a jar, pour 16 marbles into a bowl, close the lid and put the jar back: the dual-arm study of the
-- SAP paper (section VI-E) with our own robots. The task is told in dual_arm/story.lua, the world made in dual_arm/scene.lua.
--
--   stiction run scripts/dual_arm.lua --record out.html
--   stiction run scripts/dual_arm.lua --set pictures=out.png          a picture every half second: out_000000.png, out_000100.png, ...
--   stiction run scripts/dual_arm.lua --set tolerance=1e-1            or another solver: --solver ipm, another law: --law lagged
--   stiction run scripts/dual_arm.lua --set perturb=everything --seed 7
local stn = require "stiction"
local story = require "dual_arm.story"

local d = story.defaults
local p = stn.params {
  mu = stn.number { d.mu, min = 0, max = 10 }, tolerance = stn.number { d.tolerance, min = 0, max = 1 },
  arm_kp = stn.number { d.arm_kp, min = 0, unit = "N m/rad" }, arm_kd = stn.number { d.arm_kd, min = 0, unit = "N m s/rad" },
  hand_kp = stn.number { d.hand_kp, min = 0, unit = "N m/rad" }, hand_kd = stn.number { d.hand_kd, min = 0, unit = "N m s/rad" },
  dt = stn.number { d.dt, min = 1e-6, max = 0.1, unit = "s" }, seed = stn.number { d.seed, min = 0 },
  sight_error = stn.number { d.sight_error, min = 0, max = 0.1, unit = "m" },
  perturb = stn.choice { "nothing", "everything", "poses", "friction", "masses" },
  bowl_x = stn.number { d.bowl_x, min = -1, max = 1, unit = "m" }, bowl_y = stn.number { d.bowl_y, min = -1, max = 1, unit = "m" },
  fingertips = stn.choice { "rigid", "fem" },
  marbles = stn.number { d.marbles, min = 1, max = 64 },
  pictures = "",
  give_up_s = stn.number { 60.0, min = 0, unit = "s" },
}

local told = story.new(p, print)
if p.pictures ~= "" then told.world:record(p.pictures, { "png", every = math.ceil(0.5 / p.dt), width = 720, height = 480 }) end
told:tell(p.give_up_s)
told.figures:report()
told:check()
