-- SPDX-License-Identifier: Apache-2.0
-- Clutter: spheres and boxes fall in columns into a container and come to rest. The scene is in lib/clutter_scene.lua.
local stn = require "stiction"
local solve_error = require "solve_error"
local worse = require "worse"
local clutter = require "clutter_scene"

local p = clutter.parameters {
  spacing = 0.0, -- of the columns [m]; 0: as far as the container allows
}
local world = stn.world { dt = p.dt, solver = { "sap", tolerance = 1e-6 } }
local bodies = clutter.build(world, p, p.spacing ~= 0 and p.spacing or nil)

-- At rest: the last tenth of the run, every tenth step.
local deep, depth_sum, depth_count = 0, 0, 0
local worst = solve_error.worst()
for step in world:run { seconds = p.seconds } do
  worst:add(step.certificate)
  if step.time > 0.9 * p.seconds and step.index % 10 == 0 then
    for _, contact in ipairs(step:contacts()) do
      if contact.distance < 0 then
        deep = worse(deep, -contact.distance)
        depth_sum, depth_count = depth_sum - contact.distance, depth_count + 1
      end
    end
  end
end

local outside, speed = clutter.survey(p, bodies)
stn.result("mean_penetration_m", depth_count > 0 and depth_sum / depth_count or 0, "m")
stn.result("max_penetration_m", deep, "m")
stn.result("mean_speed_m_per_s", speed, "m/s")
stn.result("bodies_outside", outside, "1")
stn.check("all bodies stay in the container", { value = outside, limit = 0, unit = "bodies" })
worst:check(1e-5)
