-- SPDX-License-Identifier: Apache-2.0
-- A robot that a script describes itself: load(world, ".urdf", text, { fixed = true, ... }).

return function(world, ending, text, options)
  local name = os.tmpname()
  local path = name .. ending
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local request = { path }
  for key, value in pairs(options or {}) do request[key] = value end
  local ok, robot = pcall(world.load, world, request)
  os.remove(name)
  os.remove(path)
  return ok and robot or error(robot, 0)
end
