-- SPDX-License-Identifier: Apache-2.0
-- The cable of paper COND [lee-2023], section V-C5: a post, a cable that is held in a fixture, and the way of the hand that winds it.
-- Sizes and way are those of the paper's released demonstration.
local stn = require "stiction"
local figures = require "cond_figures"
local winding_scene = {}

--- Parameters of a script, beside those of cond_figures.
winding_scene.params = {
  young = stn.number { 0, min = 0, unit = "Pa" },      -- 0: by the seed, 4 to 5 MPa; the paper's cable has 2.954 MPa
  poisson = stn.number { 0, min = 0, max = 0.499 },    -- 0: by the seed, 0.4 to 0.49
  mu = stn.number { 0, min = 0, max = 10 },         -- 0: by the seed, 0.5 to 1.5
  turns = 1.0,    -- round the post
  raise = 2.0,    -- how long the cable is swung up [s]
  wind = 8.0,     -- how long a turn takes [s]
  damping = 0.01, -- [s]
  dt = stn.number { 0.01, min = 1e-5, max = 0.1, unit = "s" },
}

local radius = 0.002 -- of the cable, which is 0.4 m long [m]
local post = { x = 0.4920, y = -0.2025, radius = 0.02 } -- [m]
local start, held = { 0.514, -0.2027, 0.1005 }, { 0.514, 0.1973, 0.1005 }
winding_scene.held = held -- where the hand begins [m]

--- Young's modulus, Poisson's ratio and friction of a seed, where the parameters give none.
function winding_scene.draw(p)
  local drawn = figures.draw(p.seed, { young = { 4e6, 5e6 }, poisson = { 0.4, 0.49 }, mu = { 0.5, 1.5 } })
  for name in pairs(drawn) do drawn[name] = p[name] > 0 and p[name] or drawn[name] end
  return drawn
end

--- Ground, post and the body that the hand holds, "plug".
function winding_scene.furnish(world, drawn)
  world:ground { mu = drawn.mu }
  world:cylinder { name = "post", radius = post.radius, length = 0.6, fixed = true, mu = drawn.mu, xyz = { post.x, post.y, 0.3 }, color = { 0.5, 0.5, 0.55 } }
  return world:box { name = "plug", size = { 0.01, 0.01, 0.01 }, mass = 0.01, mask = 0, xyz = held, color = { 0.3, 0.3, 0.35 } }
end

--- The cable between the fixture and the plug.
function winding_scene.cable(world, p, drawn, plug)
  return world:cable { name = "cable", points = { start, held }, segments = p.links - 1, radius = radius, young = drawn.young, poisson = drawn.poisson,
    density = 1259, damping = p.damping, mu = drawn.mu, color = { 0.75, 0.25, 0.2 }, pinned = "start", attach = { link = plug, nodes = "end" } }
end

--- Places of the hand and the times at which it is there: swung up about the held end, then along the involute of a circle, so that
--- the free part stays tangent to the post.
function winding_scene.way(p)
  local places, times = {}, {}
  local function go(seconds, x, y, z)
    places[#places + 1] = { x, y, z }
    times[#times + 1] = (times[#times] or 0) + seconds
  end
  for i = 1, 6 do
    local part = i / 6
    go(p.raise / 6, held[1], held[2] + part * (0.0996 - held[2]), held[3] + part * (0.3622 - held[3]))
  end
  local parts = math.max(1, math.floor(40 * p.turns + 0.5))
  for i = 1, parts do -- what lies on the post is missing from the free part
    local angle = 2 * math.pi * p.turns * i / parts
    local free = 0.3022 - 0.019 * angle
    go(p.wind * p.turns / parts, post.x + 0.019 * math.cos(angle) - free * math.sin(angle), post.y + 0.019 * math.sin(angle) + free * math.cos(angle),
      0.3622 + 0.0026 * angle)
  end
  return places, times
end

return winding_scene
