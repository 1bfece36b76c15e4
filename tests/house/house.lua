-- SPDX-License-Identifier: Apache-2.0
-- house.lua SOURCE [--list | --base COMMIT-OR-FOLDER | --check | --circles | --draw | --drawn]: figures of the house, read from its sources.
--   (nothing)   a table by room
--   --list      what sticks out as well: the longest functions, the files of every circle, what breaks a rule
--   --base X    the tables of X (a commit, or another tree) and of this tree, side by side
--   --check     fails when a circle of files is larger than tests/house/circles.txt allows, or a public declaration has no
--               contract
--   --draw      draws docs/pictures/house_*.svg; --drawn fails when they are out of date
--   --circles   writes tests/house/circles.txt anew; a number in it may only become smaller
--
-- A circle is a set of files each of which calls functions of another one of the set, so that none can be understood, tested
-- or replaced without all of them. A function that is handed over as a pointer is a use.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local source = require("source")
local circle = require("circle")
local draw = require("draw")
local step = require("step")

local root, word, operand = arg[1], arg[2] or "", arg[3]

local function output_of(command)
    local pipe = assert(io.popen(command))
    local text = pipe:read("a")
    return text, pipe:close()
end

local function quoted(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- core/ROOM, plugins/KIND, tests
local function room_of(path)
    local top, second = path:match("^([^/]+)/([^/]+)/")
    if top == "core" or top == "plugins" then
        return top .. "/" .. second
    end
    return top or path:match("^[^/]+")
end

-- Every source of a tree, read; rooms in alphabetical order with their files.
local function read_tree(tree)
    local list = output_of("cd " .. quoted(tree) .. " && find $(ls -d core plugins tests 2>/dev/null) -name node_modules -prune -o \\( -name '*.[ch]' -o -name '*.cpp' \\) -print | LC_ALL=C sort")
    local house = { units = {}, rooms = {}, by_room = {}, by_path = {} }
    for path in list:gmatch("[^\n]+") do
        local unit = source.read(tree .. "/" .. path, path)
        local room = room_of(path)
        unit.room = room
        house.units[#house.units + 1] = unit
        house.by_path[path] = unit
        if not house.by_room[room] then
            house.by_room[room] = {}
            house.rooms[#house.rooms + 1] = room
        end
        table.insert(house.by_room[room], unit)
    end
    return house
end

local function percentile(list, part)
    table.sort(list)
    return list[math.max(1, math.ceil(part * #list))] or 0
end

-- The figures of some units.
local function figures_of(units)
    local f = { files = #units, lines = 0, code = 0, comments = 0, guarded = 0, static = 0, once = 0, undeclared = 0,
        private = 0, upward = 0, sister = 0 }
    local columns, lengths, parameters = {}, {}, {}
    for _, unit in ipairs(units) do
        f.lines = f.lines + #unit.lines
        for number, line in ipairs(unit.lines) do
            if line:match("%S") then
                columns[#columns + 1] = utf8.len(line) or #line
                if line:match("^%s*//") or line:match("^%s*/?%*[%s/]") then
                    f.comments = f.comments + 1
                else
                    f.code = f.code + 1
                end
                f.guarded = f.guarded + (line:find("status = status == STN_OK ?", 1, true) and 1 or 0)
            end
        end
        for _, fn in ipairs(unit.functions) do
            lengths[#lengths + 1] = fn.last - fn.line + 1
            parameters[#parameters + 1] = fn.parameters
        end
        f.static = f.static + unit.static_count
        f.once = f.once + unit.once_count
        f.undeclared = f.undeclared + #(unit.without_contract or {})
        f.private, f.upward, f.sister = f.private + #unit.private, f.upward + #unit.upward, f.sister + #unit.sister
    end
    f.comment_share = 100 * f.comments / math.max(1, f.code + f.comments)
    f.columns = percentile(columns, 0.9)
    f.functions = #lengths
    f.median, f.p90, f.p99, f.longest = percentile(lengths, 0.5), percentile(lengths, 0.9), percentile(lengths, 0.99), percentile(lengths, 1)
    f.once_share = 100 * f.once / math.max(1, f.static)
    f.parameters, f.most_parameters = percentile(parameters, 0.9), percentile(parameters, 1)
    return f
end

local function count_uses(unit)
    local uses, calls = {}, {}
    source.each_use(unit, function(name, position, is_call)
        uses[name] = (uses[name] or 0) + 1
        calls[name] = (calls[name] or 0) + (is_call and 1 or 0)
    end)
    unit.static_count, unit.once_count = 0, 0
    if unit.path:match("%.h$") then
        return
    end
    for _, fn in ipairs(unit.functions) do
        if fn.static and uses[fn.name] == calls[fn.name] then
            unit.static_count = unit.static_count + 1
            unit.once_count = unit.once_count + (uses[fn.name] == 1 and 1 or 0)
        end
    end
end

-- What breaks the rules about includes (tests/abi/test_includes.sh is the gate; here they are counted for any commit).
local function judge_includes(house, tree)
    local level, order = {}, 0
    local file = io.open(tree .. "/core/CMakeLists.txt")
    local list = file and file:read("a"):match("%f[%w]foreach%(room ([^)]*)%)") or ""
    if file then
        file:close()
    end
    for room in list:gmatch("%S+") do
        order = order + 1
        level[room] = order
    end
    local function exists(path)
        return house.by_path[path] ~= nil
    end
    for _, unit in ipairs(house.units) do
        unit.private, unit.upward, unit.sister = {}, {}, {}
        local folder = unit.path:gsub("/[^/]*$", "")
        local top, own = unit.path:match("^([^/]+)/([^/]+)/")
        for _, include in ipairs(unit.includes) do
            local first = include.what:match("^([^/]+)/")
            local target = "core/" .. include.what
            local place = unit.path .. ":" .. include.line .. ": " .. include.what
            if top == "plugins" and include.quoted and not exists(folder .. "/" .. include.what) and
                not exists(folder:gsub("/[^/]*$", "") .. "/" .. include.what) and not exists(folder:match("^plugins/[^/]+") .. "/" .. include.what) then
                table.insert(unit.private, place)
            elseif top == "core" and include.quoted and first then
                if level[first] and level[own] and level[first] > level[own] then
                    table.insert(unit.upward, place)
                end
                local target_folder = target:gsub("/[^/]*$", "")
                if first == own and folder ~= "core/" .. own and target_folder ~= folder and target_folder ~= "core/" .. own then
                    table.insert(unit.sister, place)
                end
            end
        end
    end
end

-- Is a name, which some function has elsewhere, that of a variable here?
local function is_variable(unit, name)
    unit.variables = unit.variables or {}
    if unit.variables[name] == nil then
        local found = false
        for before in unit.code:gmatch("([%w_*]+) %**%f[%w_]" .. name .. "%f[^%w_]") do
            found = found or before ~= "return" and before ~= "case" and before ~= "*"
        end
        unit.variables[name] = found
    end
    return unit.variables[name]
end

-- house.calls[path][path] = list of { name, place }: which file uses functions of which
local function find_calls(house)
    local defined, in_header = {}, {} -- name -> list of units
    for _, unit in ipairs(house.units) do
        if unit.room ~= "tests" then
            local header = unit.path:match("%.h$") ~= nil
            for _, fn in ipairs(unit.functions) do
                if header then
                    in_header[fn.name] = in_header[fn.name] or {}
                    table.insert(in_header[fn.name], unit)
                elseif not fn.static then
                    defined[fn.name] = defined[fn.name] or {}
                    table.insert(defined[fn.name], unit)
                end
            end
        end
    end
    local closure = {}
    local function included(unit)
        if closure[unit] then
            return closure[unit]
        end
        local set = {}
        closure[unit] = set
        local folder = unit.path:gsub("/[^/]*$", "")
        for _, include in ipairs(unit.includes) do
            local other = house.by_path[folder .. "/" .. include.what] or house.by_path["core/" .. include.what] or
                house.by_path["core/include/" .. include.what] or house.by_path[folder:gsub("/[^/]*$", "") .. "/" .. include.what]
            if other and other ~= unit then
                set[other] = true
                for further in pairs(included(other)) do
                    set[further] = true
                end
            end
        end
        return set
    end
    local function home_of(unit, name)
        for _, other in ipairs(in_header[name] or {}) do
            if included(unit)[other] then
                return other
            end
        end
        local best, score
        for _, other in ipairs(defined[name] or {}) do -- programs and plugins may have functions of the same name
            local near = other.room == unit.room and 2 or other.path:match("^core/") and 1 or 0
            if other.path:gsub("[^/]*$", "") == unit.path:gsub("[^/]*$", "") then
                near = 3
            end
            if not score or near > score then
                best, score = other, near
            end
        end
        return (score or 0) > 0 and best or nil
    end
    house.calls = {}
    for _, unit in ipairs(house.units) do
        if unit.room ~= "tests" then
            local own = {}
            for _, fn in ipairs(unit.functions) do
                own[fn.name] = true
            end
            source.each_use(unit, function(name, position, is_call)
                if own[name] or not (defined[name] or in_header[name]) then
                    return
                end
                if not is_call and not name:match("^stn_") and is_variable(unit, name) then
                    return
                end
                local other = home_of(unit, name)
                if other and other.path ~= unit.path then
                    local row = house.calls[unit.path] or {}
                    house.calls[unit.path] = row
                    row[other.path] = row[other.path] or {}
                    table.insert(row[other.path], { name = name, place = unit.path .. ":" .. unit.line_at(position), from = unit, to = other })
                end
            end)
        end
    end
end

local function paths_of(units)
    local list = {}
    for i, unit in ipairs(units) do
        list[i] = unit.path
    end
    return list
end

local function measure(tree)
    local house = read_tree(tree)
    judge_includes(house, tree)
    for _, unit in ipairs(house.units) do
        count_uses(unit)
        if unit.path:match("^core/include/") then
            unit.without_contract = {}
            for _, declaration in ipairs(source.declarations(unit)) do
                house.declared = (house.declared or 0) + 1
                if not declaration.contract then
                    table.insert(unit.without_contract, unit.path .. ":" .. declaration.line .. " " .. declaration.kind .. " " .. declaration.name)
                end
            end
        end
    end
    find_calls(house)
    house.rows, house.circle = {}, {}
    local groups = { { "core", "^core/" }, { "plugins", "^plugins/" }, { "all", "^[cp][ol][ru][eg]" } }
    local function row(name, units)
        local f = figures_of(units)
        house.circle[name] = circle.largest(paths_of(units), house.calls)
        f.circle = #house.circle[name]
        house.rows[#house.rows + 1] = { name = name, figures = f }
    end
    for _, room in ipairs(house.rooms) do
        row(room, house.by_room[room])
    end
    for _, group in ipairs(groups) do
        local units = {}
        for _, unit in ipairs(house.units) do
            if unit.path:match(group[2]) then
                units[#units + 1] = unit
            end
        end
        row(group[1], units)
    end
    return house
end

local columns = {
    { "files", "files", "%d" }, { "lines", "lines", "%d" }, { "code", "code", "%d" }, { "comment", "comment_share", "%.1f%%" },
    { "columns", "columns", "%d" }, { "functions", "functions", "%d" }, { "median", "median", "%d" }, { "p90", "p90", "%d" },
    { "p99", "p99", "%d" }, { "longest", "longest", "%d" }, { "static", "static", "%d" }, { "once", "once_share", "%.0f%%" },
    { "params", "parameters", "%d" }, { "most", "most_parameters", "%d" }, { "guarded", "guarded", "%d" },
    { "no contract", "undeclared", "%d" }, { "private", "private", "%d" }, { "upward", "upward", "%d" }, { "sister", "sister", "%d" },
    { "circle", "circle", "%d" },
}

local function print_table(house)
    local line = string.format("%-22s", "room")
    for _, column in ipairs(columns) do
        line = line .. string.format(" %" .. math.max(6, #column[1]) .. "s", column[1])
    end
    print(line)
    for _, row in ipairs(house.rows) do
        line = string.format("%-22s", row.name)
        for _, column in ipairs(columns) do
            line = line .. string.format(" %" .. math.max(6, #column[1]) .. "s", string.format(column[3], row.figures[column[2]]))
        end
        print(line)
    end
end

local legend = [[
lines: all; code: neither blank nor a comment alone; comment: lines that are a comment alone, of those that are not blank
columns: 90 % of the lines are not longer; functions: their number, then lines from name to closing brace
static, once: static functions that are never handed over as a pointer, and how many of them are called in one place; params: 90 % of the functions have no more; most: the most
guarded: lines with `status = status == STN_OK ?`; no contract: public declarations without one; private, upward, sister: includes
circle: files of the largest circle of calls]]

local new_room = 8 -- files of a circle, at most; of a room that circles.txt does not list

local function print_list(house)
    local longest = {}
    for _, unit in ipairs(house.units) do
        for _, fn in ipairs(unit.functions) do
            longest[#longest + 1] = { fn.last - fn.line + 1, unit.path .. ":" .. fn.line .. " " .. fn.name, fn.parameters }
        end
    end
    table.sort(longest, function(a, b) return a[1] > b[1] or a[1] == b[1] and a[2] < b[2] end)
    print("\nlongest functions")
    for i = 1, math.min(20, #longest) do
        print(string.format("%6d  %s", longest[i][1], longest[i][2]))
    end
    table.sort(longest, function(a, b) return a[3] > b[3] or a[3] == b[3] and a[2] < b[2] end)
    print("\nmost parameters")
    for i = 1, math.min(10, #longest) do
        print(string.format("%6d  %s", longest[i][3], longest[i][2]))
    end
    print("\nlargest circles of files by calls")
    for _, row in ipairs(house.rows) do
        local files = house.circle[row.name]
        if #files > 1 then
            print(string.format("%6d  %s: %s", #files, row.name, table.concat(files, " ")))
            for _, line in ipairs(row.name:find("/") and circle.cuts(files, house.calls, new_room) or {}) do
                print("          " .. line)
            end
        end
    end
    for _, what in ipairs({ "private", "upward", "sister", "without_contract" }) do
        for _, unit in ipairs(house.units) do
            for _, place in ipairs(unit[what] or {}) do
                print(what:gsub("_", " ") .. ": " .. place)
            end
        end
    end
end

local function print_both(before, after)
    local old, new, names = {}, {}, {}
    for _, row in ipairs(before.rows) do
        old[row.name] = row.figures
        names[#names + 1] = row.name
    end
    for _, row in ipairs(after.rows) do
        new[row.name] = row.figures
        if not old[row.name] then
            names[#names + 1] = row.name
        end
    end
    local rank = { core = 1, plugins = 2, all = 3 }
    table.sort(names, function(a, b)
        local x, y = rank[a] or 0, rank[b] or 0
        return x < y or x == y and a < b
    end)
    local shown = { "files", "lines", "code", "comment_share", "columns", "functions", "median", "p90", "p99", "longest", "once_share",
        "parameters", "most_parameters", "guarded", "undeclared", "private", "upward", "sister", "circle" }
    local form = {}
    for _, column in ipairs(columns) do
        form[column[2]] = column
    end
    local width = {}
    for _, key in ipairs(shown) do
        width[key] = key == "lines" and 13 or key == "code" and 13 or math.max(11, #form[key][1])
    end
    local line = string.format("%-22s", "room: before > after")
    for _, key in ipairs(shown) do
        line = line .. string.format(" %" .. width[key] .. "s", form[key][1])
    end
    print(line)
    for _, name in ipairs(names) do
        line = string.format("%-22s", name)
        for _, key in ipairs(shown) do
            local function value(of)
                return of and string.format(form[key][3], of[key]) or "-"
            end
            local a, b = value(old[name]), value(new[name])
            line = line .. string.format(" %" .. width[key] .. "s", a == b and a or a .. " > " .. b)
        end
        print(line)
    end
end

local function allowed(tree)
    local list, file = {}, io.open(tree .. "/tests/house/circles.txt")
    for line in file and file:lines() or function() end do
        local room, count = line:match("^(%S+)%s+(%d+)")
        if room and not line:match("^#") then
            list[room] = tonumber(count)
        end
    end
    return list
end

local function check(house)
    local failed = false
    for _, unit in ipairs(house.units) do
        for _, place in ipairs(unit.without_contract or {}) do
            print(place .. ": a public declaration without a contract; a comment on its line or above says what a caller must know")
            failed = true
        end
    end
    local limits = allowed(root)
    for _, row in ipairs(house.rows) do
        local files, limit = house.circle[row.name], limits[row.name] or new_room
        if row.name ~= "tests" and #files > limit and #files > 1 then
            failed = true
            print(string.format("%s: %d files call each other in a circle, %d are allowed (tests/house/circles.txt): %s", row.name, #files, limit,
                table.concat(files, " ")))
            for _, call in ipairs(circle.closing(files, house.calls, limit)) do
                print("    " .. call)
            end
        end
    end
    return not failed
end

local function write_circles(house)
    local file = assert(io.open(root .. "/tests/house/circles.txt", "w"))
    file:write("# How many files may call each other in a circle, by room and over all; 1: no circle.\n",
        "# A number may only become smaller: ./dev house --circles writes this file, ./dev house --list names the files. A new room may have 8.\n")
    for _, row in ipairs(house.rows) do
        if row.name ~= "tests" then
            file:write(row.name, " ", row.figures.circle, "\n")
        end
    end
    file:close()
end

-- The two pictures of docs/architecture.md, by name.
local function pictures(house)
    local rooms, kinds, calls, edges = {}, {}, {}, {}
    local figures = {}
    for _, row in ipairs(house.rows) do
        figures[row.name] = row.figures
    end
    for from, row in pairs(house.calls) do
        local room = from:match("^core/([^/]+)/")
        for to in pairs(row) do
            local other = to:match("^core/([^/]+)/")
            if room and other and room ~= other and room ~= "include" and other ~= "include" then
                calls[room] = calls[room] or {}
                calls[room][other] = true
            end
        end
    end
    local function reaches(room, other, seen)
        for next in pairs(calls[room] or {}) do
            if not seen[next] then
                seen[next] = true
                if next == other or reaches(next, other, seen) then
                    return true
                end
            end
        end
        return false
    end
    for _, row in ipairs(house.rows) do
        local top, name = row.name:match("^(%w+)/(.*)$")
        if top == "core" and name ~= "include" then
            rooms[#rooms + 1] = { name = name, lines = row.figures.code }
            edges[name] = {}
            for other in pairs(calls[name] or {}) do
                local follows = false
                for third in pairs(calls[name]) do
                    follows = follows or third ~= other and reaches(third, other, {})
                end
                if not follows then
                    table.insert(edges[name], other)
                end
            end
            table.sort(edges[name])
        elseif top == "plugins" then
            local ids, count = {}, 0
            for _, unit in ipairs(house.by_room[row.name]) do
                local id = unit.path:match("^plugins/[^/]+/([^/]+)/")
                if id and id ~= "common" and not ids[id] then
                    ids[id] = true
                    count = count + 1
                end
            end
            if count > 0 then -- else a library that several kinds share
                kinds[#kinds + 1] = { name = name, lines = row.figures.code, count = count }
            end
        end
    end
    local stages = step.analyse(house)
    return {
        rooms = draw.rooms(rooms, edges, kinds, { lines = figures["core/include"] and figures["core/include"].code or 0 }),
        step = stages and draw.step(stages),
    }
end

local function picture_path(name)
    return root .. "/docs/pictures/house_" .. name .. ".svg"
end

-- Says which picture is out of date. Figures may drift by a tenth before a picture is drawn again.
local function check_pictures(house)
    local good = true
    for name, drawn in pairs(pictures(house)) do
        local file = io.open(picture_path(name))
        local old = file and file:read("a") or ""
        if file then
            file:close()
        end
        local function shape(text)
            return (text:gsub("[%d.]+k? lines", "lines"))
        end
        local function figures_in(text)
            local list = {}
            for number, thousand in text:gmatch("([%d.]+)(k?) lines") do
                list[#list + 1] = tonumber(number) * (thousand == "k" and 1000 or 1)
            end
            return list
        end
        local same, a, b = shape(old) == shape(drawn), figures_in(old), figures_in(drawn)
        for i = 1, same and #a or 0 do
            same = same and math.abs(a[i] - b[i]) <= 100 + 0.1 * b[i]
        end
        if not same then
            print("docs/pictures/house_" .. name .. ".svg is out of date: ./dev house --draw draws it again")
            good = false
        end
    end
    return good
end

local function fail(text)
    io.stderr:write("house: ", text, "\n")
    os.exit(2)
end

-- A tree to compare with: a folder, or a commit unpacked beside.
local function with_tree(what, use)
    if output_of("test -d " .. quoted(what .. "/core") .. " && echo yes") ~= "" then
        return use(what)
    end
    local folder = output_of("mktemp -d"):match("%S+")
    local _, good = output_of("cd " .. quoted(root) .. " && git archive " .. quoted(what) .. " core plugins tests 2>/dev/null | tar -x -C " ..
        folder .. " 2>/dev/null && echo yes")
    local result = good and use(folder)
    os.execute("rm -rf " .. folder)
    return result or fail(what .. " is neither a commit nor a tree")
end

if word == "" or word == "--list" then
    local house = measure(root)
    print_table(house)
    print(legend)
    if word == "--list" then
        print_list(house)
    end
elseif word == "--base" and operand then
    print_both(with_tree(operand, measure), measure(root))
    print(legend)
elseif word == "--check" then
    os.exit(check(measure(root)))
elseif word == "--draw" then
    for name, drawn in pairs(pictures(measure(root))) do
        local file = assert(io.open(picture_path(name), "w"))
        file:write(drawn)
        file:close()
    end
elseif word == "--drawn" then
    os.exit(check_pictures(measure(root)))
elseif word == "--circles" then
    write_circles(measure(root))
else
    fail("usage: house.lua SOURCE [--list | --base COMMIT-OR-FOLDER | --check | --circles | --draw | --drawn]")
end
