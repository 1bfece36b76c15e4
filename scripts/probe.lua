local stn = require "stiction"
local story = require "dual_arm.story"
local p = stn.params { fingertips = stn.choice { "rigid", "fem" } , solver = "sap" }
local told = story.new({ fingertips = p.fingertips }, print)
local before = story.grasp_lid
story.grasp_lid = function(s)
  print("hand and pads weigh", s.right.hand:mass() * 9.81, #s.right.pads > 0 and 9.81 * (s.right.pads[1]:mass() * 3) or 0, "lid", s.lid:mass() * 9.81)
  print("lift before grasp", s.right:lift_force())
  before(s)
  print("lift after grasp", s.right:lift_force())
end
local open = story.open_jar
story.open_jar = function(s) open(s); stn.wait(0.5) print("lift at the end", s.right:lift_force()) end
told:tell(60, 1)
