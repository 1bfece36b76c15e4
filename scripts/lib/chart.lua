-- SPDX-License-Identifier: Apache-2.0
-- A chart as an SVG file: lines over linear or logarithmic axes, with marks where points are few. For studies whose points are whole
-- runs, and for a quantity over time of several runs; all that goes on within one is in its recording.
--
--   chart.write("out.svg", { title = "...", x = { label = "sigma", log = true }, y = { label = "m/s", log = true },
--     series = { { name = "mean slip", x = { ... }, y = { ... } } } })
--
-- `write(path, { chart, chart })` puts several below each other.
--
-- Names stand in a corner where lines begin low or end low, with `legend = "beside"` in a column of their own. `color` of a line is a number, for lines
-- that several charts have.
local chart = {}

local width, height, left, right, top, bottom = 640, 420, 76, 26, 36, 56
local column = 150 -- for names beside
local colors = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999", "#8c564b" } -- told apart by colour-blind readers

local function escape(text)
  return (tostring(text):gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }))
end

-- The smallest of 1, 2, 5, 10, ... that is not below `least`.
local function round_step(least)
  local power = 10 ^ math.floor(math.log(math.max(least, 1e-300), 10))
  for _, factor in ipairs { 1, 2, 5 } do
    if factor * power >= least then
      return factor * power
    end
  end
  return 10 * power
end

-- Range of an axis over all series and the distance of its ticks: in decades when it is logarithmic. Values that it cannot
-- show are left out.
local function measure(axis, series, key)
  local low, high = math.huge, -math.huge
  for _, line in ipairs(series) do
    for _, value in ipairs(line[key]) do
      if value == value and math.abs(value) < math.huge and not (axis.log and value <= 0) then
        low, high = math.min(low, value), math.max(high, value)
      end
    end
  end
  assert(low <= high, "chart: nothing to show along " .. key)
  local step
  if axis.log then
    low, high = math.log(low, 10), math.log(high, 10)
    step = math.max(1, round_step((high - low) / 8))
  else
    step = round_step(math.max(high - low, 1e-9 * math.abs(high)) / 8)
  end
  local first = math.floor(low / step + 1e-9)
  return first * step, math.max(math.ceil(high / step - 1e-9), first + 1) * step, step
end

-- Ticks as { value on the axis, text }.
local function ticks(axis, low, high, step)
  local list = {}
  for i = 0, math.floor((high - low) / step + 0.5) do
    local value = low + i * step
    list[#list + 1] = { value, axis.log and ("1e%.0f"):format(value) or ("%.4g"):format(value) }
  end
  return list
end

-- The chart as an SVG element, and its width.
local function draw(spec)
  local x_low, x_high, x_step = measure(spec.x, spec.series, "x")
  local y_low, y_high, y_step = measure(spec.y, spec.series, "y")
  local function place_x(value) return left + (value - x_low) / (x_high - x_low) * (width - left - right) end
  local function place_y(value) return height - bottom - (value - y_low) / (y_high - y_low) * (height - top - bottom) end
  local out = {}
  local function put(format, ...) out[#out + 1] = format:format(...) end
  local beside = spec.legend == "beside"
  local whole = width + (beside and column or 0)
  put('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">', whole, height)
  put('<rect width="%d" height="%d" fill="white"/><text x="%d" y="22" font-size="15">%s</text>', whole, height, left, escape(spec.title))
  for _, tick in ipairs(ticks(spec.x, x_low, x_high, x_step)) do
    local x = place_x(tick[1])
    put('<path d="M%.1f %dV%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>', x, top, height - bottom, x, height - bottom + 18, tick[2])
  end
  for _, tick in ipairs(ticks(spec.y, y_low, y_high, y_step)) do
    local y = place_y(tick[1])
    put('<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>', left, y, width - right, left - 6, y + 4, tick[2])
  end
  put('<text x="%d" y="%d" text-anchor="middle">%s</text>', (left + width - right) // 2, height - 14, escape(spec.x.label))
  put('<text transform="translate(16 %d) rotate(-90)" text-anchor="middle">%s</text>', (top + height - bottom) // 2, escape(spec.y.label))
  local first = spec.series[1].y
  local rises = first[#first] > first[1] -- then names stand on the left
  for i, line in ipairs(spec.series) do
    local color, points = colors[((line.color or i) - 1) % #colors + 1], {}
    for k, x in ipairs(line.x) do
      local y = line.y[k]
      if not (spec.x.log and x <= 0) and not (spec.y.log and y <= 0) then
        points[#points + 1] = { place_x(spec.x.log and math.log(x, 10) or x), place_y(spec.y.log and math.log(y, 10) or y) }
      end
    end
    for k, point in ipairs(points) do
      if #points <= 60 then
        put('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>', point[1], point[2], color)
      end
      points[k] = ("%.1f %.1f"):format(point[1], point[2])
    end
    put('<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>', table.concat(points, " "), color)
    put('<text x="%d" y="%d" fill="%s" text-anchor="%s">%s</text>', beside and width - right + 12 or rises and left + 8 or width - right - 8,
      top + 16 * i, color, (beside or rises) and "start" or "end", escape(line.name))
  end
  out[#out + 1] = "</svg>\n"
  return table.concat(out, "\n"), whole
end

-- Writes a chart, or a list of them below each other, to `path`.
function chart.write(path, spec)
  local text = spec.series and draw(spec)
  if not text then
    local parts, widest = {}, 0
    for i, one in ipairs(spec) do
      local svg, wide = draw(one)
      parts[i], widest = ('<g transform="translate(0 %d)">\n%s</g>\n'):format((i - 1) * height, svg:gsub("<svg ", ("<svg width=\"%d\" height=\"%d\" "):format(wide, height), 1)), math.max(widest, wide)
    end
    text = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d">\n%s</svg>\n'):format(widest, height * #spec, table.concat(parts))
  end
  local file = assert(io.open(path, "w"))
  assert(file:write(text))
  assert(file:close())
end

-- The lines with every n-th point, so that `count` or a few more are left.
function chart.thinned(series, count)
  local list = {}
  for k, line in ipairs(series) do
    local every = math.max(1, #line.x // count)
    list[k] = { name = line.name, color = line.color, x = {}, y = {} }
    for i = 1, #line.x, every do
      table.insert(list[k].x, line.x[i])
      table.insert(list[k].y, line.y[i])
    end
  end
  return list
end

return chart
