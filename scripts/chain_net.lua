-- SPDX-License-Identifier: Apache-2.0
-- A net of interlocked rings, like chain mail: flat rings on a square grid, each linked to its neighbours by rings that stand between
-- them. The four corner rings are fixed; a ball falls into the net and hangs in it. Nothing but contact and friction holds the rings.
-- A ring is a polygon of capsules around a circle. The centres of two linked rings can be at most 2 (circumscribed radius) - 2 wire
-- apart, and at rest the corners carry the weight of everything else.
local stn = require "stiction"
local solve_error = require "solve_error"
local worse = require "worse"

local p = stn.params {
  rings = 4,       -- flat ones, along each side
  sides = 8,       -- capsules of a ring
  mu = 0.3,        -- of every contact
  ball = 0.3,      -- its mass [kg]; 0: none
  dt = 0.002,      -- [s]
  seconds = 3.0,   -- [s]
}
assert(p.rings >= 2, ("rings = %g must be >= 2"):format(p.rings))
assert(p.sides >= 4, ("sides = %g must be >= 4"):format(p.sides))

local radius, wire, mass, height = 0.04, 0.006, 0.05, 0.5 -- of the capsules' corners, of the capsules [m]; of a ring [kg]; of the net [m]
local apart = 2.6 * radius                                -- of flat rings at the start
local window = 1.0                                        -- at the end, in which forces are averaged [s]
local world = stn.world { dt = p.dt }

--- A ring in the plane of its x and y axes.
local function add_ring(name, xyz, rpy, fixed, color)
  local shapes, half = {}, math.pi / p.sides
  for i = 0, p.sides - 1 do
    local angle = (2 * i + 1) * half
    local middle = radius * math.cos(half)
    shapes[i + 1] = {
      "capsule", radius = wire, length = 2 * radius * math.sin(half), xyz = { middle * math.cos(angle), middle * math.sin(angle), 0 },
      rpy = { math.pi / 2, 0, angle }, color = color,
    }
  end
  return world:compound { name = name, xyz = xyz, rpy = rpy, fixed = fixed, mass = not fixed and mass or nil, shapes = shapes }
end

local fixed, moving, links = {}, {}, {}
local flat = {}
local function place(i, k) return { (i - (p.rings - 1) / 2) * apart, (k - (p.rings - 1) / 2) * apart, height } end
for i = 0, p.rings - 1 do
  for k = 0, p.rings - 1 do
    local corner = (i == 0 or i == p.rings - 1) and (k == 0 or k == p.rings - 1)
    local ring = add_ring(("flat%d_%d"):format(i + 1, k + 1), place(i, k), nil, corner, { 0.20, 0.45, 0.70 })
    flat[i * p.rings + k] = ring
    local list = corner and fixed or moving
    list[#list + 1] = ring
  end
end
for i = 0, p.rings - 1 do
  for k = 0, p.rings - 1 do
    for along = 0, 1 do -- x, then y
      local i2, k2 = i + 1 - along, k + along
      if i2 < p.rings and k2 < p.rings then
        local a, b = place(i, k), place(i2, k2)
        local ring = add_ring(("link%d_%d_%s"):format(i + 1, k + 1, along == 0 and "x" or "y"), { (a[1] + b[1]) / 2, (a[2] + b[2]) / 2, height },
          { math.pi / 2, 0, along * math.pi / 2 }, false, { 0.85, 0.45, 0.15 })
        moving[#moving + 1] = ring
        links[#links + 1] = { ring, flat[i * p.rings + k] }
        links[#links + 1] = { ring, flat[i2 * p.rings + k2] }
      end
    end
  end
end
local weight = 9.81 * (mass * #moving + p.ball)
local ball = p.ball > 0 and world:sphere { name = "ball", radius = 0.08, mass = p.ball, xyz = { 0, 0, height + 0.12 } }
world:contact_material { mu = p.mu }

local longest, overlap, carried, count = 0, 0, 0, 0
local worst = solve_error.worst()
for step in world:run { seconds = p.seconds } do
  overlap = worse(overlap, step.overlap_m)
  worst:add(step.certificate)
  if step.index % 10 == 0 then
    for _, link in ipairs(links) do
      local a, b = link[1]:position(), link[2]:position()
      longest = worse(longest, math.sqrt((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2 + (a[3] - b[3]) ^ 2))
    end
  end
  if step.time > p.seconds - window then
    for _, ring in ipairs(fixed) do carried = carried - world:contact_force(ring).force[3] end
    count = count + 1
  end
end

local speed, lost = 0, 0
for _, ring in ipairs(moving) do
  speed = worse(speed, ring:speed())
  lost = lost + (ring:position()[3] < 0 and 1 or 0)
end
if ball then lost = lost + (ball:position()[3] < 0 and 1 or 0) end
stn.result("rings", #moving, "1")
stn.result("ball_hangs_m", ball and height - ball:position()[3] or 0, "m")
stn.result("fastest_m_per_s", speed, "m/s")
stn.check("nothing falls out", { value = lost, limit = 0, unit = "bodies" })
stn.check("linked rings stay linked: centres apart", { value = longest, limit = 2 * radius - 2 * wire + 1e-3, unit = "m" })
stn.check("the corners carry the weight, off by", { value = math.abs(carried / count / weight - 1), limit = 1e-3, unit = "" })
stn.check("deepest overlap", { value = overlap, limit = 1e-3, unit = "m" })
worst:check(1e-5)
