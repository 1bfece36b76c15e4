-- SPDX-License-Identifier: Apache-2.0
-- Figures of lists of numbers, for studies.
local statistics = {}

--- The median, of an even count the lower one; the list stays as it is.
function statistics.median(values)
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  return sorted[(#sorted + 1) // 2]
end

function statistics.mean(values)
  local sum = 0
  for _, value in ipairs(values) do sum = sum + value end
  return sum / #values
end

--- Slope of the least-squares line through (x, y), and R squared.
function statistics.slope(x, y)
  local mean_x, mean_y, xx, xy, yy = 0, 0, 0, 0, 0
  for i = 1, #x do
    mean_x, mean_y = mean_x + x[i] / #x, mean_y + y[i] / #x
  end
  for i = 1, #x do
    xx, xy, yy = xx + (x[i] - mean_x) ^ 2, xy + (x[i] - mean_x) * (y[i] - mean_y), yy + (y[i] - mean_y) ^ 2
  end
  return xy / xx, xy * xy / (xx * yy)
end

return statistics
