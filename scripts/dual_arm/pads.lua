-- SPDX-License-Identifier: Apache-2.0
-- Fingertips of rubber: a cap of tetrahedra over the round end of each finger that grips, attached to it where it lies on the link.
local stn = require "stiction"
local lattice = require "lattice"
local with_file = require "tetrahedra"

-- Where the round ends are in their links, and the direction in which a cap looks: between those in which the hands press.
local TIPS = {
  index = { at = { 0, 0, 0.0297 }, to = { 1, 0, 0.2 } },
  middle = { at = { 0, 0, 0.0297 }, to = { 1, 0, 0.2 } },
  ring = { at = { 0, 0, 0.0297 }, to = { 1, 0, 0.2 } },
  thumb = { at = { 0, 0.0453, 0 }, to = { 0, 1, 0 } }, -- of the right hand
}
local INNER, OUTER, SPREAD = 0.0145, 0.018, math.rad(45) -- radii; the link's own sphere has 14 mm; from the middle of a cap to its sides

--- Vertices of a cap about the origin that looks along z, and its tetrahedra.
local function cap(cells)
  local vertices, tetrahedra = lattice({ 2, 2, 1 }, cells)
  for i, v in ipairs(vertices) do
    local x, y, radius = math.tan(SPREAD * v[1]), math.tan(SPREAD * v[2]), INNER + (OUTER - INNER) * (v[3] + 0.5)
    local scale = radius / math.sqrt(x * x + y * y + 1)
    vertices[i] = { scale * x, scale * y, scale }
  end
  return vertices, tetrahedra
end

--- Caps on these fingers of a robot's hand, of scene.lua; a list of soft bodies. Attachments are measured where the file puts the joints:
--- `rest` is the same hand there. `material`: `young` [Pa], `poisson`, `damping` [s], `cells`.
return function(robot, rest, fingers, material, mu)
  local vertices, tetrahedra = cap(material.cells)
  local mirror, base, pads = robot.side == "left" and -1 or 1, {}, {} -- the left hand is the right one with y to -y
  for i = 1, (material.cells[1] + 1) * (material.cells[2] + 1) do base[i] = i end -- the inner layer, which lattice numbers first
  with_file(vertices, tetrahedra, function(path)
    for i, finger in ipairs(fingers) do
      local tip, link = TIPS[finger], ("allegro_%s_link_3"):format(finger)
      local function mirrored(x) return { x[1], mirror * x[2], x[3] } end
      pads[i] = robot.world:soft { name = robot.side .. " " .. finger .. " pad", mesh = path,
        pose = rest:link(link):pose() * stn.pose { xyz = mirrored(tip.at), axes = { z = mirrored(tip.to) } },
        young = material.young, poisson = material.poisson, density = 1100, damping = material.damping, mu = mu, color = { 0.95, 0.95, 0.9 },
        attach = { link = { robot.hand, link }, nodes = { nodes = base } } }
    end
  end)
  return pads
end
