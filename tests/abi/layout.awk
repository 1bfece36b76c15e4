# SPDX-License-Identifier: Apache-2.0
# readelf --debug-dump=info OBJECT | awk -f layout.awk: every struct and enumeration named stn_ or STN_, member by member with
# offset and type, function types spelled out. What a plugin was compiled against, as text.

function attribute(line) { sub(/^[^:]*: */, "", line); sub(/^\(indirect[^)]*\): */, "", line); sub(/[ \t]+$/, "", line); return line }
function reference(line) { return match(line, /<0x[0-9a-f]+>/) ? substr(line, RSTART + 3, RLENGTH - 4) : "" }

# Children of a type, joined by `between`.
function members(id, between,    i, text, child) {
    for (i = 1; i <= children[id]; i++) {
        child = kid[id, i]
        if (tag[child] !~ /member|formal_parameter|unspecified_parameters/) continue
        text = text (text == "" ? "" : between) (tag[child] ~ /unspecified/ ? "..." : type(type_of[child]) (name[child] == "" ? "" : " " name[child]))
    }
    return text
}
function bounds(id,    i, text) {
    for (i = 1; i <= children[id]; i++) text = text "[" (upper[kid[id, i]] + 1) "]"
    return text
}
function type(id,    t) {
    if (id == "") return "void"
    t = tag[id]
    if (t == "pointer_type") return tag[type_of[id]] == "subroutine_type" ? type(type_of[id]) : type(type_of[id]) " *"
    if (t == "const_type") return type(type_of[id]) " const"
    if (t == "array_type") return type(type_of[id]) bounds(id)
    if (t == "subroutine_type") return "(" members(id, ", ") ") -> " type(type_of[id])
    if (name[id] != "") return name[id]
    if (t == "enumeration_type") return "enum"
    return (t == "union_type" ? "union" : "struct") " { " members(id, "; ") " }"
}

/^ *<[0-9a-f]+><[0-9a-f]+>: Abbrev Number: 0/ { next }
match($0, /^ *<[0-9a-f]+><[0-9a-f]+>: Abbrev Number: [0-9]+ \(DW_TAG_/) {
    split($0, part, /[<>]+/)
    depth = part[2] + 0
    current = part[3]
    tag[current] = substr($0, RLENGTH + 1)
    sub(/\).*/, "", tag[current])
    parent = open[depth - 1]
    open[depth] = current
    kid[parent, ++children[parent]] = current
    if (depth == 1) top[++tops] = current
    next
}
/DW_AT_name /                 { name[current] = attribute($0) }
/DW_AT_type /                 { type_of[current] = reference($0) }
/DW_AT_byte_size /            { bytes[current] = attribute($0) }
/DW_AT_data_member_location/  { offset[current] = attribute($0) }
/DW_AT_const_value/           { value[current] = attribute($0) }
/DW_AT_upper_bound/           { upper[current] = attribute($0) }

END {
    for (i = 1; i <= tops; i++) {
        id = top[i]
        if (tag[id] == "structure_type" && name[id] ~ /^stn_/ && bytes[id] != "") {
            printf "struct %s: %d bytes\n", name[id], bytes[id]
            for (k = 1; k <= children[id]; k++) {
                child = kid[id, k]
                if (tag[child] == "member") printf "  %s @%d %s: %s\n", name[id], offset[child], name[child], type(type_of[child])
            }
        } else if (tag[id] == "enumeration_type" && name[kid[id, 1]] ~ /^STN_/) {
            for (k = 1; k <= children[id]; k++) printf "enum %s = %d\n", name[kid[id, k]], value[kid[id, k]]
        }
    }
}
