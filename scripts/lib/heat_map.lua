-- SPDX-License-Identifier: Apache-2.0
-- Shares of a grid as an SVG file: a cell is dark where the share is 1, white where it is 0, crossed out where nothing was measured.
--
--   heat_map.write("out.svg", { title = "...", x = { label = "mu", from = 0, to = 1 }, y = { label = "offset [mm]", from = 0, to = 30 },
--     cells = { { 0.5, 1, nil }, ... } })         rows from below, columns from the left; `columns` of them
local heat_map = {}

local left, top, side, bottom = 76, 40, 420, 60

local function escape(text)
  return (tostring(text):gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }))
end

-- From white by blue to almost black, evenly in lightness.
local function color(share)
  local s = math.max(0, math.min(1, share))
  return ("#%02x%02x%02x"):format(math.floor(255 - 250 * s), math.floor(255 - 205 * s), math.floor(255 - 140 * s))
end

function heat_map.write(path, spec)
  local rows, columns = #spec.cells, spec.columns
  local wide, high = side / columns, side / rows
  local out = {}
  local function put(format, ...) out[#out + 1] = format:format(...) end
  put('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">', left + side + 110, top + side + bottom)
  put('<rect width="100%%" height="100%%" fill="white"/><text x="%d" y="22" font-size="15">%s</text>', left, escape(spec.title))
  for r = 1, rows do
    for c = 1, columns do
      local share, x, y = spec.cells[r][c], left + (c - 1) * wide, top + side - r * high
      if share then
        put('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>', x, y, wide + 0.3, high + 0.3, color(share))
      else
        put('<path d="M%.1f %.1fl%.1f %.1fM%.1f %.1fl%.1f %.1f" stroke="#bbb"/>', x, y, wide, high, x, y + high, wide, -high)
      end
    end
  end
  put('<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#555"/>', left, top, side, side)
  for i = 0, 4 do
    local x, y = left + i * side / 4, top + side - i * side / 4
    put('<text x="%.1f" y="%d" text-anchor="middle">%.3g</text>', x, top + side + 18, spec.x.from + i * (spec.x.to - spec.x.from) / 4)
    put('<text x="%d" y="%.1f" text-anchor="end">%.3g</text>', left - 6, y + 4, spec.y.from + i * (spec.y.to - spec.y.from) / 4)
    put('<rect x="%d" y="%.1f" width="18" height="18" fill="%s" stroke="#999"/><text x="%d" y="%.1f">%d %%</text>', left + side + 20, top + 20 * (4 - i), color(i / 4),
      left + side + 44, top + 20 * (4 - i) + 14, 25 * i)
  end
  put('<text x="%d" y="%d" text-anchor="middle">%s</text>', left + side // 2, top + side + 44, escape(spec.x.label))
  put('<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">%s</text>', top + side // 2, escape(spec.y.label))
  out[#out + 1] = "</svg>\n"
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(table.concat(out, "\n")))
end

return heat_map
