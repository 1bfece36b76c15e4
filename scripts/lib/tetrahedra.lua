-- SPDX-License-Identifier: Apache-2.0
-- A solid of tetrahedra that a script makes itself: with_file(vertices, tetrahedra, use) writes them as VTK, returns use(path) and
-- removes the file. Vertices are { x, y, z } [m], tetrahedra four of their numbers, counted from 1, in any order.

return function(vertices, tetrahedra, use)
  local name = os.tmpname()
  local path = name .. ".vtk"
  local file = assert(io.open(path, "w"))
  file:write(("# vtk DataFile Version 3.0\ntetrahedra\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %d double\n"):format(#vertices))
  for _, v in ipairs(vertices) do file:write(("%.17g %.17g %.17g\n"):format(v[1], v[2], v[3])) end
  file:write(("CELLS %d %d\n"):format(#tetrahedra, 5 * #tetrahedra))
  for _, t in ipairs(tetrahedra) do file:write(("4 %d %d %d %d\n"):format(t[1] - 1, t[2] - 1, t[3] - 1, t[4] - 1)) end
  file:write(("CELL_TYPES %d\n"):format(#tetrahedra), ("10\n"):rep(#tetrahedra))
  file:close()
  local ok, result = pcall(use, path)
  os.remove(path)
  os.remove(name)
  if not ok then error(result, 0) end
  return result
end
