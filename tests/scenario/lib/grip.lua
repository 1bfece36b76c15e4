-- SPDX-License-Identifier: Apache-2.0
-- Two fingers that one motor closes about a box: they stay coupled, stop at its sides and press alike.
local stn = require "stiction"

-- `joints` and `links`: those of both fingers; force [N] of each, width of the box [m].
return function(world, gripper, grip)
  local left, right = gripper:joint(grip.joints[1]), gripper:joint(grip.joints[2])
  local force
  for step in world:run { seconds = grip.seconds } do
    stn.near(left:position(), right:position(), 1e-4, "fingers") -- the solver couples them almost rigidly
    force = { [grip.links[1]] = 0, [grip.links[2]] = 0 }
    for _, contact in ipairs(step:contacts()) do
      local finger = force[contact.link_a] and contact.link_a or contact.link_b
      force[finger] = force[finger] + contact.normal_force
    end
  end
  stn.near(left:position(), grip.width / 2, 1e-4, "opening")
  stn.near(force[grip.links[1]], grip.force, 1e-6, "first finger")
  stn.near(force[grip.links[2]], grip.force, 1e-6, "second finger")
end
