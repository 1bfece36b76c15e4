-- SPDX-License-Identifier: Apache-2.0
-- Tables of numbers and words between commas, as recorder/csv and `stiction sweep` write them; no quoted fields.

local function fields(line)
  local list = {}
  for word in (line:gsub("\r$", "") .. ","):gmatch "([^,]*)," do list[#list + 1] = word end
  return list
end

-- rows, each by the names of the first line, numbers where they are some; the names.
local function read(path)
  local rows, names = {}, nil
  for line in io.lines(path) do
    local words = fields(line)
    if not names then
      names = words
    else
      local row = {}
      for i, name in ipairs(names) do row[name] = tonumber(words[i]) or words[i] end
      rows[#rows + 1] = row
    end
  end
  return rows, names
end

return { fields = fields, read = read }
