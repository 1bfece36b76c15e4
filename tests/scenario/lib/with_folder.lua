-- SPDX-License-Identifier: Apache-2.0
-- A folder of a test: `with_folder(function(folder) ... end)` gives its name with "/" at the end, and removes it with all that lies in it.
local function with_folder(body)
  local folder = os.tmpname()
  os.remove(folder)
  assert(os.execute("mkdir " .. folder))
  local ok, why = pcall(body, folder .. "/")
  os.execute("rm -rf " .. folder)
  assert(ok, why)
end

return with_folder
