-- SPDX-License-Identifier: Apache-2.0
-- Strongly connected parts of a graph of calls: calls[from][to] = list of { name, place }.
local circle = {}

-- All parts among `nodes`, by Tarjan's algorithm; `without` leaves the edge without[1] -> without[2] out.
local function parts(nodes, calls, without)
    local inside, index, low, on_stack, stack, list, count = {}, {}, {}, {}, {}, {}, 0
    for _, node in ipairs(nodes) do
        inside[node] = true
    end
    local function visit(node)
        count = count + 1
        index[node], low[node] = count, count
        stack[#stack + 1], on_stack[node] = node, true
        for next in pairs(calls[node] or {}) do
            if inside[next] and not (without and without[1] == node and without[2] == next) then
                if not index[next] then
                    visit(next)
                    low[node] = math.min(low[node], low[next])
                elseif on_stack[next] then
                    low[node] = math.min(low[node], index[next])
                end
            end
        end
        if low[node] == index[node] then
            local part = {}
            repeat
                local top = table.remove(stack)
                on_stack[top] = false
                part[#part + 1] = top
            until top == node
            table.sort(part)
            list[#list + 1] = part
        end
    end
    for _, node in ipairs(nodes) do
        if not index[node] then
            visit(node)
        end
    end
    return list
end

local function largest(nodes, calls, without)
    local best = {}
    for _, part in ipairs(parts(nodes, calls, without)) do
        if #part > #best or #part == #best and #part > 0 and part[1] < best[1] then
            best = part
        end
    end
    return best
end

function circle.largest(nodes, calls)
    return largest(nodes, calls)
end

-- Pairs of files of a circle, with the files that would be left in one without the calls from the first to the second: the best
-- first, all with at most `limit` alike; then those with the fewest calls.
local function weigh(files, calls, limit)
    local pairs_of, inside = {}, {}
    for _, file in ipairs(files) do
        inside[file] = true
    end
    for _, from in ipairs(files) do
        for to, list in pairs(calls[from] or {}) do
            if inside[to] then
                pairs_of[#pairs_of + 1] = { from = from, to = to, list = list, left = #largest(files, calls, { from, to }) }
            end
        end
    end
    table.sort(pairs_of, function(a, b)
        local x, y = math.max(a.left, limit), math.max(b.left, limit)
        if x ~= y then
            return x < y
        elseif #a.list ~= #b.list then
            return #a.list < #b.list
        end
        return a.from .. " " .. a.to < b.from .. " " .. b.to
    end)
    return pairs_of
end

local function describe(pair)
    local names, seen = {}, {}
    for _, call in ipairs(pair.list) do
        if not seen[call.name] then
            seen[call.name] = true
            names[#names + 1] = call.name
        end
    end
    return string.format("%s calls %s of %s; without it %d are left", pair.list[1].place, table.concat(names, ", "), pair.to, pair.left)
end

-- Lines that say which calls close a circle of `files`: those of the pair of files without which at most `limit` are left, or
-- else of the pair that closes most; pairs with the fewest calls first.
function circle.closing(files, calls, limit)
    local lines, pairs_of = {}, weigh(files, calls, limit)
    for i = 1, math.min(5, #pairs_of) do
        lines[i] = describe(pairs_of[i])
    end
    return lines
end

-- Lines that say which calls to cut, one after the other, until at most `limit` files are left in a circle: each time those
-- without which the fewest are left.
function circle.cuts(files, calls, limit)
    local kept, lines = {}, {}
    for from, row in pairs(calls) do
        kept[from] = {}
        for to, list in pairs(row) do
            kept[from][to] = list
        end
    end
    while #files > limit do
        local best = weigh(files, kept, 1)[1]
        lines[#lines + 1] = describe(best)
        kept[best.from][best.to] = nil
        files = largest(files, kept)
    end
    return lines
end

return circle
