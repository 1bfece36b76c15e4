-- SPDX-License-Identifier: Apache-2.0
-- Reads C and C++ sources as far as the figures of the house need: functions, the names that they use, includes, public
-- declarations. It relies on ./dev format (a function's brace closes in the first column), not on a compiler, so that it
-- reads any commit's tree without building it.
local source = {}

function source.lines_of(text)
    local list = {}
    for line in (text:sub(-1) == "\n" and text or text .. "\n"):gmatch("(.-)\n") do
        list[#list + 1] = line
    end
    return list
end

local function blanks(text)
    return (text:gsub("[^\n]", " "))
end

-- The code without comments, with the contents of strings blanked; places and lines stay.
local function without_comments(text)
    local out, from, at = {}, 1, 1
    while true do
        local start, _, mark = text:find("([\"'/])", at)
        if not start then
            break
        end
        local stop
        if mark == "/" then
            local second = text:sub(start + 1, start + 1)
            if second == "/" then
                stop = (text:find("\n", start, true) or #text + 1) - 1
            elseif second == "*" then
                stop = select(2, text:find("*/", start + 2, true)) or #text
            end
            if stop then
                out[#out + 1] = text:sub(from, start - 1)
                out[#out + 1] = blanks(text:sub(start, stop))
            end
        elseif mark == "'" and text:sub(start - 1, start - 1):match("%x") and text:sub(start + 1, start + 1):match("%x") and
            not text:sub(start + 2, start + 2):match("'") then
            stop = nil -- digits of a number in C++
        else
            stop = start
            repeat
                stop = text:find("[\\\n" .. mark .. "]", stop + 1) or #text
                local escaped = text:sub(stop, stop) == "\\"
                stop = escaped and stop + 1 or stop
            until not escaped
            out[#out + 1] = text:sub(from, start)
            out[#out + 1] = blanks(text:sub(start + 1, stop - 1))
            out[#out + 1] = text:sub(stop, stop)
        end
        if stop then
            from, at = stop + 1, stop + 1
        else
            at = start + 1
        end
    end
    out[#out + 1] = text:sub(from)
    return table.concat(out)
end

-- Takes the preprocessor's lines out; returns what is left and the bodies of macros.
local function without_directives(code)
    local macros, out, from = {}, {}, 1
    local at = 1
    while true do
        local start = code:match("^[ \t]*()#", at)
        local line_end = code:find("\n", at, true) or #code + 1
        if start then
            while code:sub(line_end - 1, line_end - 1) == "\\" and line_end <= #code do
                line_end = code:find("\n", line_end + 1, true) or #code + 1
            end
            local text = code:sub(at, line_end - 1)
            if text:match("^%s*#%s*define") then
                macros[#macros + 1] = { at = at, text = text }
            end
            out[#out + 1] = code:sub(from, at - 1)
            out[#out + 1] = blanks(text)
            from = line_end
        end
        if line_end > #code then
            break
        end
        at = line_end + 1
    end
    out[#out + 1] = code:sub(from)
    return table.concat(out), macros
end

local function parameter_count(list)
    local inner = list:sub(2, -2)
    if inner:match("^%s*$") or inner:match("^%s*void%s*$") then
        return 0
    end
    inner = inner:gsub("%b()", ""):gsub("%b[]", "")
    return select(2, inner:gsub(",", ",")) + 1
end

-- What stands before a brace in the first column is a function when it ends with "name(...)".
local function as_function(header)
    if header:find("=", 1, true) or header:match("^%s*typedef") then
        return nil
    end
    local name_at, name = header:match("()([%a_][%w_]*)%s*%b()%s*$")
    if not name or name == "if" or name == "for" or name == "while" or name == "switch" then
        return nil
    end
    return name, name_at, header:match("(%b())%s*$")
end

local function is_static(header) -- or by a macro that says so: ALWAYS, SAP_INLINE
    for word in header:match("^[^(]*"):gmatch("[%a_][%w_]*") do
        if word == "static" or word == "ALWAYS" or word:match("_INLINE$") then
            return true
        end
    end
    return false
end

-- read(path) -> { path, text, lines, code, includes, functions, bodies, macros }
--   functions: { name, static, line, last, parameters, from, to } (from, to: of the body in `code`)
--   bodies: { from, to } of everything between braces of the first level, functions and initialisers alike
function source.read(path, shown)
    local file = assert(io.open(path, "rb"))
    local text = file:read("a")
    file:close()
    local code, macros = without_directives(without_comments(text))
    local unit = { path = shown or path, text = text, lines = source.lines_of(text), code = code, macros = macros,
        functions = {}, bodies = {}, includes = {} }
    for line, directive in ipairs(unit.lines) do
        local what = directive:match('^%s*#%s*include%s*([<"][^>"]+[>"])')
        if what then
            unit.includes[#unit.includes + 1] = { line = line, what = what:sub(2, -2), quoted = what:sub(1, 1) == '"' }
        end
    end
    local starts, place = {}, 1
    for number, line in ipairs(unit.lines) do
        starts[number] = place
        place = place + #line + 1
    end
    local cursor = 1
    local function line_at(position)
        while starts[cursor + 1] and starts[cursor + 1] <= position do
            cursor = cursor + 1
        end
        return cursor
    end
    local depth, header_from, body_from, at = 0, 1, nil, 1
    local current
    while true do
        local brace_at, _, brace = code:find("([{};])", at)
        if not brace_at then
            break
        end
        at = brace_at + 1
        if brace == ";" then
            if depth == 0 then
                header_from = at
            end
        elseif brace == "{" then
            if depth == 0 then
                local header = code:sub(header_from, brace_at - 1)
                if header:match('extern%s*"%s*"%s*$') or header:match("namespace%s*[%w_:]*%s*$") then
                    header_from = at -- what is inside stands in the first column as well
                else
                    local name, name_at, list = as_function(header)
                    current = nil
                    if name then
                        current = { name = name, static = is_static(header),
                            line = line_at(header_from + name_at - 1), parameters = parameter_count(list),
                            list = list, from = brace_at }
                    end
                    body_from, depth = brace_at, 1
                end
            else
                depth = depth + 1
            end
        else
            local column_one = brace_at == 1 or code:sub(brace_at - 1, brace_at - 1) == "\n"
            if depth > 0 then
                depth = column_one and 0 or depth - 1
                if depth == 0 then
                    unit.bodies[#unit.bodies + 1] = { from = body_from, to = brace_at }
                    if current then
                        current.to, current.last = brace_at, line_at(brace_at)
                        unit.functions[#unit.functions + 1] = current
                        header_from = at
                    end
                    current = nil
                end
            else
                header_from = at -- of a namespace
            end
        end
    end
    function unit.line_at(position) -- binary search, for reports
        local low, high = 1, #starts
        while low < high do
            local middle = (low + high + 1) // 2
            if starts[middle] <= position then
                low = middle
            else
                high = middle - 1
            end
        end
        return low
    end
    return unit
end

-- Calls visit(name, position, is_call) for every identifier in what is executed or initialised, members left out.
function source.each_use(unit, visit)
    local function scan(text, offset)
        for before, position, name, after in text:gmatch("([%.>]?)%s*()%f[%a_]([%a_][%w_]*)%s*()") do
            if before == "" or before == ">" and text:sub(position - 2, position - 1) ~= "->" then
                visit(name, offset + position - 1, text:sub(after, after) == "(")
            end
        end
    end
    for _, body in ipairs(unit.bodies) do
        scan(unit.code:sub(body.from, body.to), body.from)
    end
    for _, macro in ipairs(unit.macros) do
        scan(macro.text:gsub("^%s*#%s*define%s+[%w_]+", function(s) return blanks(s) end), macro.at)
    end
end

-- Public declarations of a header: { name, line, kind, contract }; contract: a comment on its lines, directly above, or
-- above others before it without a blank line between.
function source.declarations(unit)
    local list, code, lines = {}, unit.code, unit.lines
    local function is_comment(number)
        local line = lines[number]
        return line ~= nil and line:match("^%s*//") ~= nil or line ~= nil and line:match("^%s*/?%*") ~= nil
    end
    local function contract(first, last)
        for number = first, last do
            if lines[number]:find("//", 1, true) or lines[number]:find("/*", 1, true) then
                return true
            end
        end
        local number = first - 1
        while number > 0 and not lines[number]:match("^%s*$") and (number == first - 1 or not lines[number]:match("{%s*$")) do
            if is_comment(number) then
                return true
            end
            if lines[number]:match("{%s*$") or lines[number]:match("{%s*//") then
                break
            end
            number = number - 1
        end
        return false
    end
    local function add(name, kind, from, to)
        local first, last = unit.line_at(from), unit.line_at(to)
        list[#list + 1] = { name = name, kind = kind, line = first, contract = contract(first, last) }
    end
    local named, macro_names = {}, {}
    for _, macro in ipairs(unit.macros) do
        macro_names[macro.text:match("#%s*define%s+([%a_][%w_]*)")] = true
    end
    local function statements(from, to, kind)
        local at, start = from, nil
        local separators = kind == "enumerator" and "[,{}]" or "[;{}]"
        while at <= to do
            start = code:match("^%s*()", at)
            -- what stands around all declarations of a header
            start = code:match("^STN_BEGIN_C%f[^%w_]%s*()", start) or code:match("^STN_END_C%f[^%w_]%s*()", start) or start
            if start > to then
                break
            end
            local stop = code:find(separators, start)
            if not stop or stop > to then
                stop = to + 1
            end
            local text, mark = code:sub(start, stop - 1), code:sub(stop, stop)
            if kind == "enumerator" then
                local name = text:match("^([%a_][%w_]*)")
                if name and not macro_names[name] then -- a list put in
                    add(name, kind, start, start)
                end
                at = stop + 1
            elseif mark == "{" then
                local close = stop + #code:match("%b{}", stop) - 1
                if text:match('extern%s*"') then
                    at = stop + 1
                else
                    local what, name = text:match("%f[%w](%a+)%s+([%a_][%w_]*)%s*$")
                    if not (what == "struct" or what == "enum" or what == "union") then
                        what, name = text:match("%f[%w](%a+)%s*$"), nil
                    end
                    if what == "struct" or what == "union" or what == "enum" then
                        if name then
                            add(name, what, start, start)
                            named[name] = true
                        end
                        statements(stop + 1, close - 1, what == "enum" and "enumerator" or "member")
                        local tail = code:find(";", close, true) or close
                        local alias = code:sub(close + 1, tail - 1):match("([%a_][%w_]*)")
                        if alias and kind == "member" then
                            add(alias, "member", close, tail)
                        elseif alias and text:match("typedef") and not named[alias] then
                            named[alias] = true
                            list[#list + 1] = { name = alias, kind = "typedef", line = unit.line_at(start),
                                contract = contract(unit.line_at(start), unit.line_at(start)) or contract(unit.line_at(tail), unit.line_at(tail)) }
                        end
                        at = tail + 1
                    else -- an inline function, an initialiser
                        local fn = as_function(text)
                        if fn then
                            add(fn, "function", start, stop)
                        end
                        at = close + 1
                    end
                end
            elseif mark == "}" then
                at = stop + 1
            else
                local name = text:match("%(%s*%*%s*([%a_][%w_]*)") or text:match("([%a_][%w_]*)%s*%b()%s*$") or
                    text:match("([%a_][%w_]*)%s*[%[%d%]%w_]*%s*$")
                if kind == "member" then
                    name = text:match("%(%s*%*%s*([%a_][%w_]*)") or text:gsub("%b[]", ""):gsub(":%s*%d+", ""):match("([%a_][%w_]*)%s*$")
                end
                local what = kind
                if kind == "top" then
                    what = text:match("^typedef") and "typedef" or text:match("%b()") and "prototype" or "other"
                end
                local forward = kind == "top" and text:match("^struct%s+[%w_]+%s*$")
                local put_in = kind == "top" and text:match("^[A-Z_]+%s*%b()%s*$")
                if name and what ~= "other" and not forward and not put_in and not (what == "typedef" and named[name]) then
                    add(name, what, start, stop)
                end
                at = stop + 1
            end
        end
    end
    statements(1, #code, "top")
    for _, macro in ipairs(unit.macros) do
        local name = macro.text:match("#%s*define%s+([%a_][%w_]*)")
        local undone = unit.text:match("#%s*undef%s+" .. name .. "%f[^%w_]")
        if not name:match("^STICTION_.*_H$") and not undone then
            local line = unit.line_at(macro.at)
            list[#list + 1] = { name = name, kind = "macro", line = line, contract = contract(line, line) }
        end
    end
    return list
end

return source
