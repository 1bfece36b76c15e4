-- SPDX-License-Identifier: Apache-2.0
-- The two pictures of docs/architecture.md as SVG: rooms with the calls between them, and one step.
local draw = {}

local style = [[
<style>
  svg { background: #ffffff }
  text { font: 13px sans-serif; fill: #1f2328 }
  .head { font-weight: bold } .small { font-size: 12px; fill: #59636e } .title { font-size: 16px; font-weight: bold }
  .box { fill: #f6f8fa; stroke: #8c959f } .band { fill: none; stroke: #d1d9e0 } .made { fill: #ddf4ff; stroke: #54aeff }
  .arrow { fill: none; stroke: #59636e; stroke-width: 1.3 } .tip { fill: #59636e }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117 }
    text { fill: #f0f6fc } .small { fill: #9198a1 }
    .box { fill: #151b23; stroke: #656c76 } .band { stroke: #3d444d } .made { fill: #12283f; stroke: #1f6feb }
    .arrow { stroke: #9198a1 } .tip { fill: #9198a1 }
  }
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>]]

local function escape(text)
    return (text:gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;"))
end

local function picture(width, height, parts, title)
    return string.format('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">\n%s\n%s\n</svg>\n',
        width, height, width, height, escape(title), style, table.concat(parts, "\n"))
end

local function rect(x, y, width, height, class)
    return string.format('<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="6"/>', class, x, y, width, height)
end

local function text(x, y, words, class, anchor)
    return string.format('<text x="%d" y="%d"%s%s>%s</text>', x, y, class and ' class="' .. class .. '"' or "",
        anchor and ' text-anchor="' .. anchor .. '"' or "", escape(words))
end

-- Words in lines of at most so many characters.
local function wrap(words, most)
    local lines, line = {}, ""
    for word in words:gmatch("%S+") do
        if line ~= "" and #line + 1 + #word > most then
            lines[#lines + 1] = line
            line = word
        else
            line = line == "" and word or line .. " " .. word
        end
    end
    lines[#lines + 1] = line
    return lines
end

local function rounded(lines) -- so that a picture does not change with every line of code
    return lines < 1000 and string.format("%d lines", math.floor(lines / 50 + 0.5) * 50) or string.format("%.1fk lines", lines / 1000)
end

-- Layers of an acyclic graph by the longest way down, with a place for every edge in each layer that it passes; then the order
-- within layers by the mean place of neighbours.
local function layers_of(nodes, edges)
    local level = {}
    local function depth(node)
        if not level[node] then
            level[node] = 0
            local most = 0
            for _, next in ipairs(edges[node] or {}) do
                most = math.max(most, depth(next) + 1)
            end
            level[node] = most
        end
        return level[node]
    end
    local rows, top, links, count = {}, 0, {}, 0
    for _, node in ipairs(nodes) do
        top = math.max(top, depth(node))
    end
    for i = 0, top do
        rows[i] = {}
    end
    for _, node in ipairs(nodes) do
        table.insert(rows[level[node]], node)
    end
    for _, node in ipairs(nodes) do
        for _, next in ipairs(edges[node] or {}) do
            local chain = { node }
            for i = level[node] - 1, level[next] + 1, -1 do
                count = count + 1
                local dummy = "\0" .. count
                table.insert(rows[i], dummy)
                chain[#chain + 1] = dummy
            end
            chain[#chain + 1] = next
            links[#links + 1] = chain
        end
    end
    local neighbours = {}
    for _, chain in ipairs(links) do
        for i = 1, #chain - 1 do
            neighbours[chain[i]] = neighbours[chain[i]] or {}
            neighbours[chain[i + 1]] = neighbours[chain[i + 1]] or {}
            table.insert(neighbours[chain[i]], chain[i + 1])
            table.insert(neighbours[chain[i + 1]], chain[i])
        end
    end
    local place = {}
    local function number(row)
        for k, node in ipairs(row) do
            place[node] = k / (#row + 1)
        end
    end
    for i = 0, top do
        table.sort(rows[i])
        number(rows[i])
    end
    for sweep = 1, 12 do
        local first, last, by = 0, top, 1
        if sweep % 2 == 0 then
            first, last, by = top, 0, -1
        end
        for i = first, last, by do
            local mean = {}
            for _, node in ipairs(rows[i]) do
                local sum, n = 0, 0
                for _, other in ipairs(neighbours[node] or {}) do
                    sum, n = sum + place[other], n + 1
                end
                mean[node] = n > 0 and sum / n or place[node]
            end
            table.sort(rows[i], function(a, b) return mean[a] < mean[b] or mean[a] == mean[b] and a < b end)
            number(rows[i])
        end
    end
    return rows, top, links
end

-- rooms: { name, lines, about }, lowest first; edges[name] = names that it calls, without those that follow from others; kinds: {
-- name, lines, count }; public: { lines, functions }
function draw.rooms(rooms, edges, kinds, public)
    local width, parts, box_width, box_height, gap = 980, {}, 136, 46, 34
    local names, by_name = {}, {}
    for _, room in ipairs(rooms) do
        names[#names + 1] = room.name
        by_name[room.name] = room
    end
    local y = 34
    parts[#parts + 1] = text(20, 24, "Rooms, their lines of code, and who calls whom", "title")
    -- plugins
    local column, columns = 0, 6
    local plugins_top = y + 8
    y = plugins_top + 30
    parts[#parts + 1] = text(32, plugins_top + 20, "plugins/: a folder each; every one sees the public headers alone", "small")
    for _, kind in ipairs(kinds) do
        local x = 32 + column * (box_width + 18)
        parts[#parts + 1] = rect(x, y, box_width, box_height, "box")
        parts[#parts + 1] = text(x + box_width // 2, y + 19, kind.name, "head", "middle")
        parts[#parts + 1] = text(x + box_width // 2, y + 37, kind.count .. ", " .. rounded(kind.lines), "small", "middle")
        column = column + 1
        if column == columns then
            column, y = 0, y + box_height + 10
        end
    end
    y = y + (column > 0 and box_height + 12 or 2)
    parts[#parts + 1] = rect(20, plugins_top, width - 40, y - plugins_top, "band")
    -- public headers
    parts[#parts + 1] = string.format('<path class="arrow" marker-end="url(#tip)" d="M%d %dv20"/>', width // 2, y)
    y = y + 22
    parts[#parts + 1] = rect(20, y, width - 40, 34, "made")
    parts[#parts + 1] = text(width // 2, y + 22, "include/stiction: the public headers, " .. rounded(public.lines), "head", "middle")
    y = y + 34
    parts[#parts + 1] = string.format('<path class="arrow" marker-end="url(#tip)" d="M%d %dv20"/>', width // 2, y)
    y = y + 22
    local core_top = y
    parts[#parts + 1] = text(32, y + 20, "core/: an arrow leads to a room that is called; what follows from others is left out", "small")
    y = y + 34
    local rows, top, links = layers_of(names, edges)
    local place = {}
    local function size(node)
        return by_name[node] and box_width or 16
    end
    for i = top, 0, -1 do
        local x = 60
        for _, node in ipairs(rows[i]) do
            place[node] = { x = x + size(node) / 2, y = y }
            x = x + size(node) + 18
        end
        y = y + box_height + gap
    end
    -- each node towards the mean of its neighbours, as far as those beside it leave room
    local near = {}
    for _, chain in ipairs(links) do
        for k = 1, #chain - 1 do
            near[chain[k]], near[chain[k + 1]] = near[chain[k]] or {}, near[chain[k + 1]] or {}
            table.insert(near[chain[k]], chain[k + 1])
            table.insert(near[chain[k + 1]], chain[k])
        end
    end
    for _ = 1, 60 do
        for i = top, 0, -1 do
            local row, wanted, left, right = rows[i], {}, {}, {}
            for k, node in ipairs(row) do
                local sum, n = 0, 0
                for _, other in ipairs(near[node] or {}) do
                    sum, n = sum + place[other].x, n + 1
                end
                wanted[k] = n > 0 and sum / n or place[node].x
            end
            for k, node in ipairs(row) do
                local least = k == 1 and -math.huge or left[k - 1] + (size(row[k - 1]) + size(node)) / 2 + 18
                left[k] = math.max(wanted[k], least)
            end
            for k = #row, 1, -1 do
                local node = row[k]
                local most = k == #row and math.huge or right[k + 1] - (size(row[k + 1]) + size(node)) / 2 - 18
                right[k] = math.min(wanted[k], most)
            end
            for k, node in ipairs(row) do
                place[node].x = (left[k] + right[k]) / 2
            end
        end
    end
    local least, most = math.huge, -math.huge
    for node, at in pairs(place) do
        least, most = math.min(least, at.x - size(node) / 2), math.max(most, at.x + size(node) / 2)
    end
    for _, at in pairs(place) do
        at.x = math.floor(at.x + (width - least - most) / 2 + 0.5)
    end
    for _, chain in ipairs(links) do
        local from = place[chain[1]]
        local d = string.format("M%d %d", from.x, from.y + box_height)
        local x, at = from.x, from.y + box_height
        for k = 2, #chain do
            local to = place[chain[k]]
            d = d .. string.format("C%d %d %d %d %d %d", x, at + gap * 6 // 10, to.x, to.y - gap * 6 // 10, to.x, to.y - (k == #chain and 1 or 0))
            x, at = to.x, to.y
            if k < #chain then
                d = d .. string.format("v%d", box_height)
                at = at + box_height
            end
        end
        parts[#parts + 1] = '<path class="arrow" marker-end="url(#tip)" d="' .. d .. '"/>'
    end
    for _, name in ipairs(names) do
        local at = place[name]
        parts[#parts + 1] = rect(at.x - box_width // 2, at.y, box_width, box_height, "box")
        parts[#parts + 1] = text(at.x, at.y + 19, name, "head", "middle")
        parts[#parts + 1] = text(at.x, at.y + 37, rounded(by_name[name].lines), "small", "middle")
    end
    parts[#parts + 1] = rect(20, core_top, width - 40, y - gap + 14 - core_top, "band")
    return picture(width, y - gap + 30, parts, "Rooms of the project")
end

-- stages: as of step.analyse
function draw.step(stages)
    local width, parts, y = 980, {}, 76
    parts[#parts + 1] = text(20, 24, "One step: each stage reads the state and what earlier stages made in the frame", "title")
    parts[#parts + 1] = text(32, 58, "stage, plugins that it asks, files", "small")
    parts[#parts + 1] = text(300, 58, "reads of the state, and of the frame", "small")
    parts[#parts + 1] = text(662, 58, "makes in the frame", "small")
    for index, stage in ipairs(stages) do
        local about = stage.does:gsub("%s+%->%s+", " -> ")
        local left = { { stage.name, "head" }, { about, "small" } }
        if #stage.asks > 0 then
            left[#left + 1] = { "asks: " .. table.concat(stage.asks, ", "), "small" }
        end
        for _, line in ipairs(wrap(table.concat(stage.files, ", "), 38)) do
            left[#left + 1] = { line, "small" }
        end
        local middle = {}
        for _, line in ipairs(wrap("state: " .. table.concat(stage.state, ", "), 46)) do
            middle[#middle + 1] = { line }
        end
        if #stage.reads > 0 then
            for _, line in ipairs(wrap("frame: " .. table.concat(stage.reads, ", "), 46)) do
                middle[#middle + 1] = { line }
            end
        end
        local makes = stage.name == "commit" and "the next state: nothing else in a step writes it" or table.concat(stage.makes, ", ")
        local right = {}
        for _, line in ipairs(wrap(makes, 40)) do
            right[#right + 1] = { line }
        end
        local height = 14 + 18 * math.max(#left, #middle, #right)
        parts[#parts + 1] = rect(20, y, 262, height, "box")
        parts[#parts + 1] = rect(650, y, width - 670, height, "made")
        for column, at in pairs({ [32] = left, [300] = middle, [662] = right }) do
            at.column = column
        end
        for _, list in ipairs({ left, middle, right }) do
            for k, line in ipairs(list) do
                parts[#parts + 1] = text(list.column, y + 3 + 18 * k, line[1], line[2])
            end
        end
        if index < #stages then
            parts[#parts + 1] = string.format('<path class="arrow" marker-end="url(#tip)" d="M151 %dv14"/>', y + height)
        end
        y = y + height + 16
    end
    return picture(width, y + 6, parts, "One step")
end

return draw
