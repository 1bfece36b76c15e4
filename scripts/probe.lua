local stn = require "stiction"
local story = require "dual_arm.story"
local told = story.new({}, print)
local function list(hand, object, name)
  for _, link in ipairs(hand.hand:links()) do
    local f = told.world:contact_force(link, object)
    if f.normal_force > 0 then
      print(name, link.name, ("%.2f N"):format(f.normal_force))
      for _, c in ipairs(told.world:contacts()) do
        local mine = (c.link_a == link.name and c.a == hand.hand.name) or (c.link_b == link.name and c.b == hand.hand.name)
        if mine and c.normal_force > 0.05 then
          local at = link:pose():inverse() * c.point
          local n = link:pose():inverse():rotate(c.normal)
          print(("     at (%.4f %.4f %.4f) n (%.2f %.2f %.2f) %.2f N %s %s"):format(at[1], at[2], at[3], n[1], n[2], n[3], c.normal_force, c.link_a, c.link_b))
        end
      end
    end
  end
end
local old = story.grasp_jar
story.grasp_jar = function(s) old(s); list(s.left, s.jar, "left jar") end
local old2 = story.grasp_lid
story.grasp_lid = function(s) old2(s); list(s.right, s.lid, "right lid"); list(s.left, s.jar, "left jar") end
told:tell(60, 1)
