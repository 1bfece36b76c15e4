-- SPDX-License-Identifier: Apache-2.0
-- What each stage of a step reads and makes, from the sources of core/world: the table in step.c gives the order, the sections
-- of step_frame say which stage makes a member, and the functions that a stage reaches say what it looks at.
local source = require("source")
local step = {}

local structs = { step_setup = "setup", state_view = "state", stn_state = "state", step_frame = "frame", step_services = "services" }

-- The names under which a function knows the four structs.
local function names_of(unit, fn)
    local names = { setup = "setup", state = "state", frame = "frame", services = "services" }
    local text = fn.list .. unit.code:sub(fn.from, fn.to)
    for type, what in pairs(structs) do
        for name in text:gmatch("%f[%w_]" .. type .. " %*(%w+)") do
            names[name] = what
        end
    end
    return names
end

-- Members of step_frame, each with the section of the struct that it stands in.
local function sections_of(unit)
    local list, section, inside = {}, nil, false
    for _, line in ipairs(unit.lines) do
        if line:match("^typedef struct step_frame {") then
            inside = true
        elseif inside and line:match("^}") then
            break
        elseif inside and line:match("^%s*// ") then
            section = line:match("^%s*// (.*)$")
        elseif inside then
            local code = line:gsub("//.*", "")
            code = code:gsub("^%s*const%s+", ""):gsub("%b[]", "")
            local declarators = code:match("^%s*[%w_]+%s+[%w_]+%s+(.*);") or code:match("^%s*[%w_]+%s+(.*);")
            for name in (declarators or ""):gmatch("[%a_][%w_]*") do
                list[#list + 1] = { name = name, section = section }
            end
        end
    end
    return list
end

-- Is the member's section one of the stage? "kinematics, inputs" belongs to both.
local function belongs(section, stage)
    for word in (section or ""):gmatch("%a+") do
        if word == stage then
            return true
        end
    end
    return false
end

-- analyse(house) -> stages in order: { name, does, reads, state, makes, asks, files }
function step.analyse(house)
    local functions, own = {}, {}
    for _, unit in ipairs(house.by_room["core/world"] or {}) do
        own[unit] = {}
        for _, fn in ipairs(unit.functions) do
            fn.unit = unit
            own[unit][fn.name] = fn
            if not fn.static or unit.path:match("%.h$") then
                functions[fn.name] = fn
            end
        end
    end
    local table_of = house.by_path["core/world/step.c"]
    local frame = house.by_path["core/world/frame.h"]
    if not table_of or not frame then
        return nil
    end
    local stages = {}
    for line in table_of.text:gmatch("[^\n]+") do
        local name, does = line:match("^%s+{STN_STAGE_[A-Z]+, stn_step_(%w+)},%s*// (.*)$")
        if name then
            stages[#stages + 1] = { name = name, does = does, entry = "stn_step_" .. name }
        end
    end
    if functions.stn_step_commit then
        local does = table_of.text:match("// (law, cache[^\n]*)") or "the state"
        stages[#stages + 1] = { name = "commit", does = does, entry = "stn_step_commit" }
    end
    local members = sections_of(frame)
    local touched_by = {} -- file -> stages
    for _, stage in ipairs(stages) do
        stage.seen, stage.members, stage.plugins = {}, { frame = {}, state = {}, setup = {}, services = {} }, {}
        local function visit(fn)
            if stage.seen[fn] then
                return
            end
            stage.seen[fn] = true
            touched_by[fn.unit.path] = touched_by[fn.unit.path] or {}
            touched_by[fn.unit.path][stage.name] = true
            local names, body = names_of(fn.unit, fn), fn.unit.code:sub(fn.from, fn.to)
            for object, member in body:gmatch("%f[%w_]([%a_][%w_]*)%s*%->%s*([%a_][%w_]*)") do
                local what = names[object]
                if what then
                    stage.members[what][member] = true
                end
            end
            for object, member in body:gmatch("world%->(%w+)[%.%->]+([%a_][%w_]*)") do
                if stage.members[object] then
                    stage.members[object][member] = true
                end
            end
            for kind in body:gmatch("STN_KIND_([A-Z]+)") do
                stage.plugins[kind:lower()] = true
            end
            for kind in body:gmatch("%->ops%.(%l+)%f[^%w_]") do
                stage.plugins[kind] = true
            end
            for name in body:gmatch("[%a_][%w_]*") do
                local next = own[fn.unit][name] or functions[name]
                if next and next ~= fn then
                    visit(next)
                end
            end
        end
        if functions[stage.entry] then
            visit(functions[stage.entry])
        end
    end
    local maker = {}
    for index, stage in ipairs(stages) do
        stage.makes, stage.reads, stage.state, stage.asks, stage.files = {}, {}, {}, {}, {}
        for _, member in ipairs(members) do
            if stage.members.frame[member.name] and member.section and not member.name:match("^scratch") then
                local first = maker[member.name]
                -- the first stage that looks at a member makes it, or begins to; the stage of its section completes it
                if first == nil or belongs(member.section, stage.name) and not belongs(member.section, stages[first].name) then
                    maker[member.name] = index
                    table.insert(stage.makes, member.name)
                else
                    table.insert(stage.reads, member.name)
                end
            end
        end
        for name in pairs(stage.members.state) do
            table.insert(stage.state, name)
        end
        if stage.members.services.solver then -- core/problem asks the solver
            stage.plugins.solver = true
        end
        for name in pairs(stage.plugins) do
            if name ~= "count" and name ~= "size" then
                table.insert(stage.asks, name)
            end
        end
        for path, by in pairs(touched_by) do
            local alone = by[stage.name]
            for name in pairs(by) do
                alone = alone and name == stage.name
            end
            if alone and path:match("%.c$") then
                table.insert(stage.files, path:match("[^/]+$"))
            end
        end
        local entry = functions[stage.entry] and functions[stage.entry].unit.path:match("[^/]+$")
        local known = false
        for _, file in ipairs(stage.files) do
            known = known or file == entry
        end
        if entry and not known then
            table.insert(stage.files, entry)
        end
        table.sort(stage.state)
        table.sort(stage.asks)
        table.sort(stage.files)
    end
    return stages
end

return step
