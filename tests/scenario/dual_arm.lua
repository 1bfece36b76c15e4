-- SPDX-License-Identifier: Apache-2.0
-- Two arms open a jar, pour its marbles into a bowl, close it and put it back, also where things stand elsewhere, slide
-- better or worse and weigh more or less than planned.
local stn = require "stiction"

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
package.path = folder .. "../../scripts/?.lua;" .. package.path
local story = require "dual_arm.story"

local full = os.getenv "STICTION_TEST_TIER" == "full"

local function tell(perturb, seed, stages)
  local told = story.new({ perturb = perturb, seed = seed }, print)
  told:tell(60, stages)
  return told
end

stn.describe("two arms and a jar", { limit_s = 300 }, function()
  stn.it("open it", function()
    local told = tell("nothing", 1, 1)
    assert(told.told, told.why)
    assert(told.lid_was_off and told.world:held(told.right.hand, told.lid))
    local most = told.figures:total().most_error
    stn.check("momentum error", { value = most, limit = 2e-3, unit = "1" })
  end)

  for seed = 1, full and 20 or 0 do -- 2.5 s each
    stn.it("go through the whole story, everything perturbed, seed " .. seed, function()
      tell("everything", seed):check()
    end)
  end
end)
