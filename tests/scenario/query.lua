-- SPDX-License-Identifier: Apache-2.0
-- Distances, rays, overlaps and nearest shapes, against closed forms; and what a wrong question is told.
local stn = require "stiction"

local function scene()
  local world = stn.world { dt = 1e-3 }
  local ground = world:ground { name = "floor" }
  local ball = world:sphere { name = "ball", radius = 0.1, xyz = { 0, 0, 1 } }
  local box = world:box { name = "box", size = { 0.2, 0.4, 0.6 }, xyz = { 1, 0, 1 } }
  return world, ground, ball, box
end

stn.test("the distance of two bodies comes with its witnesses", function()
  local world, ground, ball, box = scene()
  local d = world:distance(ball, box) -- before the first step
  stn.near(d.distance, 0.8, 1e-12, "distance")
  stn.near(d.point_a, { 0.1, 0, 1 }, 1e-12, "point of the ball")
  stn.near(d.point_b[1], 0.9, 1e-12, "point of the box")
  stn.near(d.normal, { 1, 0, 0 }, 1e-12, "normal")
  assert(d.a == ball and d.b == box and d.link_b == box:links()[1])
  assert(world:distance(ball, box, { max = 0.79 }) == nil)
  assert(world:distance(ball, box, { max = math.huge }).distance == d.distance)
  stn.fails(function() world:distance(ball, box, { max = 0 }) end, "world:distance: max = 0 m must be > 0; math.huge is no limit, as without it")
  stn.fails(function() world:nearest { point = { 0, 0, 0 }, radius = -1 } end, "world:nearest: radius = -1 m must be > 0; math.huge is no limit, as without it")
  stn.near(world:distance("floor/floor", ball).distance, 0.9, 1e-12, "height")
  ball:set_pose { xyz = { 0.85, 0, 1 } }
  stn.near(world:distance(ball, box).distance, -0.05, 1e-12, "overlap")
  stn.near(world:distance(box, { ball, "ball" }).distance, -0.05, 1e-12, "swapped")
  assert(ground.name == "floor")
end)

stn.test("bodies that rest on the ground are at distance 0 from it", function()
  local world, ground, ball, box = scene()
  for _ in world:run { seconds = 1 } do
  end
  stn.near(world:distance(ball, ground).distance, 0, 1e-4, "ball")
  stn.near(world:distance(box, ground).distance, 0, 1e-4, "box")
  stn.near(world:raycast { from = { 0, 0, 5 }, direction = { 0, 0, -1 } }.distance, 5 - 0.2, 1e-4, "ray from above")
end)

stn.test("a ray meets what comes first, but for what is excluded", function()
  local world, ground, ball, box = scene()
  local ray = { from = { -1, 0, 1 }, direction = { 5, 0, 0 } }
  local hit = world:raycast(ray)
  stn.near(hit.distance, 0.9, 1e-12, "distance")
  stn.near(hit.point, { -0.1, 0, 1 }, 1e-12, "point")
  stn.near(hit.normal, { -1, 0, 0 }, 1e-12, "normal")
  assert(hit.group == ball and hit.link == ball:links()[1] and not hit.inside)
  ray.exclude = ball
  assert(world:raycast(ray).group == box)
  ray.exclude = { ball, { box, "box" } }
  assert(world:raycast(ray) == nil)
  ray.exclude, ray.max = nil, 0.5
  assert(world:raycast(ray) == nil)
  assert(world:raycast { from = { -1, 0, 1 }, to = { -0.2, 0, 1 } } == nil)
  assert(world:raycast { from = { -1, 0, 1 }, to = { 0, 0, 1 } }.group == ball)
  local inside = world:raycast { from = { 0, 0, 1 }, direction = { 0, 0, -1 } }
  assert(inside.inside and inside.distance == 0 and inside.group == ball)
  assert(world:raycast { from = { 3, 3, 2 }, direction = { 0, 0, -1 } }.group == ground)
end)

stn.test("overlaps list what a shape touches", function()
  local world, ground, ball, box = scene()
  local found = world:overlap { "sphere", radius = 0.5, xyz = { 0.5, 0, 1 } }
  assert(#found == 2 and found[1].group == ball and found[2].group == box)
  stn.near(found[1].distance, -0.1, 1e-12, "of the ball")
  stn.near(found[2].distance, -0.1, 1e-12, "of the box")
  assert(#world:overlap { "sphere", radius = 0.5, xyz = { 0.5, 0, 1 }, exclude = { ball } } == 1)
  assert(#world:overlap { "box", size = { 0.2, 0.2, 0.2 }, xyz = { 0.5, 0, 1 }, rpy = { 0, 0, 0.3 } } == 0)
  assert(#world:overlap { "box", size = { 0.2, 0.2, 0.2 }, xyz = { 0.5, 0, 1 }, margin = 0.35 } == 2)
  local low = world:overlap { "capsule", radius = 0.1, length = 0.2, xyz = { 5, 0, 0.1 } }
  assert(#low == 1 and low[1].group == ground)
end)

stn.test("the nearest shape to a point is found", function()
  local world, ground, ball, box = scene()
  local near = world:nearest { point = { 0.3, 0, 1 } }
  assert(near.group == ball)
  stn.near(near.distance, 0.2, 1e-12, "distance")
  stn.near(near.point, { 0.1, 0, 1 }, 1e-12, "point")
  stn.near(near.normal, { 1, 0, 0 }, 1e-12, "normal")
  stn.near(world:nearest { point = { 0, 0, 1.02 } }.distance, -0.08, 1e-12, "inside")
  assert(world:nearest { point = { 0.3, 0, 1 }, radius = 0.1 } == nil)
  assert(world:nearest { point = { 0.3, 0, 1 }, exclude = ball }.group == box)
  assert(world:nearest { point = { 9, 9, 0.5 }, exclude = { ball, box } }.group == ground)
end)

stn.test("a height field is met by rays and named", function()
  local world = stn.world {}
  local function hill(x, y)
    return 0.2 * x + 0.1 * y
  end
  local hills = world:height_field { size = { 4, 2 }, rows = 11, columns = 21, heights = hill, mu = 0.7, xyz = { 0, 0, 1 } }
  local steps = world:height_field { name = "steps", size = { 1, 1 }, heights = { { 0, 0, 0.5 }, { 0, 0, 0.5 } }, xyz = { 5, 0, 0 } }
  assert(hills.name == "height_field1" and steps.name == "steps")
  for _, p in ipairs { { 0.3, 0.4 }, { -1.7, -0.9 }, { 1.99, 0.99 } } do
    local hit = world:raycast { from = { p[1], p[2], 9 }, direction = { 0, 0, -1 } }
    stn.near(hit.point[3], 1 + hill(p[1], p[2]), 1e-12, "height")
    stn.near(hit.normal[1] / hit.normal[3], -0.2, 1e-12, "slope along x")
    assert(hit.group == hills)
  end
  assert(world:raycast { from = { 0, 0, 0 }, direction = { 0, 0, 1 } }.inside)
  local wall = world:raycast { from = { 9, 0, 0.3 }, direction = { -1, 0, 0 } }
  stn.near(wall.point, { 5.5, 0, 0.3 }, 1e-12, "side")
  assert(wall.group == steps)
  stn.near(world:raycast { from = { 5.25, 0.2, 3 }, direction = { 0, 0, -1 } }.point[3], 0.25, 1e-12, "between two columns")
end)

stn.test("wrong questions are told what to do", function()
  local world, _, ball, box = scene()
  stn.fails(function() world:distance(ball) end, "world:distance: name links by a group")
  stn.fails(function() world:distance(ball, ball) end, "link 'ball' is on both sides")
  stn.fails(function() world:distance(ball, "bxo") end, "did you mean")
  stn.fails(function() world:distance(ball, box, { maximum = 1 }) end, "it takes: max")
  stn.fails(function() world:raycast { direction = { 0, 0, 1 } } end, "from is missing")
  stn.fails(function() world:raycast { from = { 0, 0, 0 } } end, "give direction")
  stn.fails(function() world:raycast { from = { 0, 0, 0 }, to = { 0, 0, 0 } } end, "the same point")
  stn.fails(function() world:raycast { from = { 0, 0, 0 }, direction = { 0, 0, 0 } } end, "must not be {0, 0, 0}")
  stn.fails(function() world:raycast { from = { 0, 0, 0 }, direction = { 0, 0, 1 }, max = -1 } end, "max")
  stn.fails(function() world:raycast { from = { 0, 0, 0 }, direction = { 0, 0, 1 }, exclude = { 3 } } end, "name links by")
  stn.fails(function() world:overlap { radius = 1 } end, "the first entry must be a shape's name")
  stn.fails(function() world:overlap { "spere", radius = 1 } end, "did you mean 'sphere'")
  stn.fails(function() world:nearest { radius = 1 } end, "point is missing")
end)

stn.test("heights that make no surface are refused", function()
  local world = stn.world {}
  local function field(t)
    return function() world:height_field(t) end
  end
  stn.fails(field { heights = { { 0, 0 }, { 0, 0 } } }, "size is missing")
  stn.fails(field { size = { 1, 1 } }, "heights is missing")
  stn.fails(field { size = { 1, 1 }, heights = 3 }, "must be rows of numbers or a function")
  stn.fails(field { size = { 1, 1 }, heights = { { 0, 0 } } }, "2 x 2 at least")
  stn.fails(field { size = { 1, 1 }, heights = { { 0, 0 }, { 0 } } }, "heights[2] has 1 number, it needs 2")
  stn.fails(field { size = { 1, 1 }, heights = { { 0, 0 }, { 0, "a" } } }, "heights[2][2]")
  stn.fails(field { size = { 1, 1 }, heights = { { 0, 0 }, { 0, 0 } }, rows = 3 }, "say otherwise")
  stn.fails(field { size = { 1, 1 }, heights = function() return 0 end }, "rows and columns must say")
  stn.fails(field { size = { 1, 1 }, rows = 2, columns = 2, heights = function() return nil end }, "heights(-0.5, -0.5)")
  stn.fails(field { size = { 1, 1 }, rows = 1048576, columns = 1048576, heights = function() return 0 end }, "too many")
  stn.fails(field { size = { 0, 1 }, heights = { { 0, 0 }, { 0, 0 } } }, "size x")
  stn.fails(field { size = { 1, 1 }, heights = { { 0, 0 }, { 0, 0 } }, mass = 1 }, "unknown key 'mass'")
end)
