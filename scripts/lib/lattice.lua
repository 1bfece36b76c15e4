-- SPDX-License-Identifier: Apache-2.0
-- Boxes of cells cut into 6 tetrahedra along their main diagonal [kuhn-1960], as the meshes of the COND paper are counted:
-- lattice({ x, y, z }, { nx, ny, nz }) returns vertices about the middle and tetrahedra, for scripts/lib/tetrahedra.lua.

-- In which order the bits of a corner's place are set on the way from one end of the diagonal to the other.
local paths = { { 1, 2, 4 }, { 1, 4, 2, odd = true }, { 2, 1, 4, odd = true }, { 2, 4, 1 }, { 4, 1, 2 }, { 4, 2, 1, odd = true } }

return function(size, cells)
  for k = 1, 3 do
    if not math.tointeger(cells[k]) or cells[k] < 1 then error(("cells: %g is no whole number of 1 or more"):format(cells[k]), 2) end
  end
  local vertices, tetrahedra = {}, {}
  for k = 0, cells[3] do
    for j = 0, cells[2] do
      for i = 0, cells[1] do
        vertices[#vertices + 1] = { size[1] * (i / cells[1] - 0.5), size[2] * (j / cells[2] - 0.5), size[3] * (k / cells[3] - 0.5) }
      end
    end
  end
  local row, layer = cells[1] + 1, (cells[1] + 1) * (cells[2] + 1)
  for k = 0, cells[3] - 1 do
    for j = 0, cells[2] - 1 do
      for i = 0, cells[1] - 1 do
        local first = 1 + i + row * j + layer * k
        local function corner(bits) return first + (bits & 1) + row * (bits >> 1 & 1) + layer * (bits >> 2) end
        for _, path in ipairs(paths) do
          local a, b = corner(path[1]), corner(path[1] + path[2])
          if path.odd then a, b = b, a end -- positive volume
          tetrahedra[#tetrahedra + 1] = { corner(0), a, b, corner(7) }
        end
      end
    end
  end
  return vertices, tetrahedra
end
