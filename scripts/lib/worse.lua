-- SPDX-License-Identifier: Apache-2.0
-- The largest of its arguments, or what is no number among them: math.max leaves NaN out, and a check of the result would hold.
--   worst = worse(worst, math.abs(error))
local function worse(a, b, ...)
  if b == nil then
    return a
  end
  return worse((b <= a or a ~= a) and a or b, ...)
end

return worse
