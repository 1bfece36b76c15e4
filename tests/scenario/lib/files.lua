-- SPDX-License-Identifier: Apache-2.0
-- Files of a test script. They go when the script ends, also by an error, if it begins with
--     local files <close> = require "files"()

local methods = {}

--- A new path with this ending; nothing lies there yet.
function methods:path(ending)
  local name = os.tmpname()
  self[#self + 1] = name
  self[#self + 1] = name .. ending
  return name .. ending
end

--- A file with this text; returns its path.
function methods:write(ending, text)
  local path = self:path(ending)
  local file <close> = assert(io.open(path, "w"))
  file:write(text)
  return path
end

local function remove_all(files)
  for _, path in ipairs(files) do
    os.remove(path)
  end
end

return function()
  return setmetatable({}, { __index = methods, __close = remove_all })
end
