-- SPDX-License-Identifier: Apache-2.0
-- Parameters that are lists of numbers: numbers("0.1, 0.2, 0.3", "I", 3), also in brackets.

return function(text, what, count)
  local list = {}
  for word in text:gmatch "[^%s,%[%]]+" do
    list[#list + 1] = tonumber(word) or error(("%s: '%s' is no number"):format(what, word), 0)
  end
  if count and #list ~= count then
    error(("%s: %d numbers, must be %d"):format(what, #list, count), 0)
  end
  return list
end
