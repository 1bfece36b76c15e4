#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_includes.sh SOURCE: includes go downward and nowhere in a circle.
#   rooms       a room of core (their order is that of core/CMakeLists.txt) includes its own files and lower rooms, as
#               "room/file.h"; a folder in a room its own files and those beside it, not those of a sister folder; no folder of
#               core is left out, and docs/architecture.md names them all, highest first
#   public      public headers include <stiction/...> and C's own headers
#   plugins     <stiction/...>, files of their own folder, those that the plugins of their kind share in common/, libraries;
#               common/ includes no plugin; templates are on their own
#   beside      world knows nothing of what stands beside the step: records, queries
#   libraries   a library is seen in the folders of the table below, and nowhere else
#   circles     no file includes itself by way of others, with or without rooms
# And the core names no plugin.
set -uo pipefail
export LC_ALL=C # what tsort says is read
cd "$1" || exit 2

# library: its headers (a regular expression), the folders that may include them
libraries='
Lua: ^(lua|lualib|lauxlib)\.h : plugins/script/lua/
HDF5: ^(hdf5|H5) : plugins/problem_file/fclib/worker/
assimp: ^assimp/ : plugins/mesh/assimp/worker/
CHOLMOD: ^(suitesparse/)?cholmod : plugins/factor/cholmod/
qhull: ^libqhull : plugins/mesh_maker/
TinyXML: ^tinyxml2 : plugins/loader/
zlib: ^zlib : plugins/command/ plugins/recorder/
'
# room: rooms that it never includes, whatever their order
beside='
world: record query
'

rooms="$(sed -n 's/^foreach(room \(.*\))$/\1/p' core/CMakeLists.txt)"

folders() { # that have sources of the product
    for folder in core plugins scripts/templates; do [ ! -d "$folder" ] || echo "$folder"; done
}

sources() {
    # shellcheck disable=SC2046
    find $(folders) -name node_modules -prune -o \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.inc' \) -printf '%p\n' | sort
}

includes() { # "file:line:what" with "x/y.h" or <x/y.h>
    # shellcheck disable=SC2046
    grep -rnHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' --include='*.[ch]' --include='*.cpp' --exclude-dir=node_modules $(folders) |
        sed -E 's/^([^:]*:[0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*/\1:/; s/>.*/>/; s/(":?[^"]*").*/\1/'
}

breaches() {
    { sources && includes; } | awk -F: -v rooms="$rooms" -v libraries="$libraries" -v beside="$beside" -v circles="$1" '
        function say(why) { print $1 ":" $2 ": " $3 " " why }
        function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
        function of_core(    own, depth, part) {
            split($1, own, "/")
            if (!quoted) return
            split(what, part, "/")
            if (!(part[1] in level) || what !~ /\//) { say("must be written \"room/file.h\""); return }
            target = "core/" what
            if (level[part[1]] > level[own[2]]) say("lies above core/" own[2])
            else if ((own[2], part[1]) in apart) say("stands beside core/" own[2])
            depth = split($1, own, "/")
            if (depth > 3 && part[1] == own[2] && folder(target) != folder($1) && folder(target) != "core/" own[2])
                say("lies in a sister folder of " folder($1))
        }
        function of_public() {
            if (quoted) say("must be <stiction/...> or a standard header")
            else if (what !~ /^stiction\// && what !~ /^(assert|ctype|errno|float|limits|math|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string)\.h$/) say("is no header of C")
        }
        # The place of a quoted include of a plugin, or "": its own folder, the plugin, or common/ of its kind.
        function place_of(file, what,    own, part, kind, home) {
            own = folder(file); split(file, part, "/")
            if ((own "/" what) in source) return own "/" what
            if (part[1] != "plugins") return ""
            kind = part[1] "/" part[2]; home = kind "/" part[3]
            if (own != kind && own != home && (home "/" what) in source) return home "/" what
            if (what ~ /^common\// && (kind "/" what) in source) return kind "/" what
            return ""
        }
        function of_plugin(    own, found, part, home) {
            if (!quoted) return
            own = folder($1)
            if (what ~ /\.\./) { say("leaves its folder"); return }
            found = place_of($1, what)
            if (found == "") { say("is no file of its own plugin"); return }
            split($1, part, "/"); home = part[1] "/" part[2] "/" part[3]
            if (part[1] == "plugins" && index(found, home "/") == 1 && folder(found) != home && index(folder(found) "/", own "/") != 1 && index(own "/", folder(found) "/") != 1)
                say("lies in a sister folder of " own)
        }
        function of_library(    i, k, n, allowed, may) {
            if (quoted && !(what ~ /^(lua|lualib|lauxlib)\.h/)) return
            for (i = 1; i <= library_count; i++) {
                if (what !~ pattern[i]) continue
                n = split(homes[i], allowed, " "); may = 0
                for (k = 1; k <= n; k++) if (index($1, allowed[k]) == 1) may = 1
                if (!may) say("(" library[i] ") is for " homes[i] "alone")
            }
        }
        BEGIN {
            n = split(rooms, list, " "); for (i = 1; i <= n; i++) level[list[i]] = i
            n = split(libraries, list, "\n")
            for (i = 1; i <= n; i++) if (list[i] ~ /:/) {
                library_count++; split(list[i], field, ":")
                library[library_count] = field[1]; gsub(/ /, "", field[2]); pattern[library_count] = field[2]
                sub(/^ */, "", field[3]); homes[library_count] = field[3] " "
            }
            n = split(beside, list, "\n")
            for (i = 1; i <= n; i++) if (list[i] ~ /:/) { split(list[i], field, ":"); m = split(field[2], other, " "); for (k = 1; k <= m; k++) apart[field[1], other[k]] = 1 }
        }
        NF == 1 { source[$1] = 1; next }
        {
            what = substr($3, 2, length($3) - 2); quoted = $3 ~ /^"/; target = ""
            split(what, part, "/")
            if (!quoted && (part[1] in level || part[1] == "core" || part[1] == "plugins" || what ~ /\.\./)) { if (!circles) say("is not public"); next }
            if (what ~ /^stiction\//) target = "core/include/" what
            if (circles) {
                if ($1 ~ /^core\/include\//) ; else if ($1 ~ /^core\//) { if (quoted) target = "core/" what }
                else if (quoted) target = place_of($1, what)
                if (target == $1) { print target, "(itself)"; print "(itself)", target } # tsort takes a pair of equals for one name
                else if (target in source) print $1, target
                next
            }
            if ($1 ~ /^core\/include\//) of_public(); else if ($1 ~ /^core\//) of_core(); else of_plugin()
            of_library()
        }'
}

# tsort names the files of every circle that it meets.
circles() {
    breaches 1 | tsort 2>&1 >/dev/null | sed -n 's/^tsort: -: input contains a loop:$/a circle of includes:/p; s/^tsort: \([^-].*\)$/    \1/p'
}

known_rooms() {
    local folder told
    for folder in core/*/; do
        folder=$(basename "$folder")
        case " $rooms include cmake " in *" $folder "*) ;; *) echo "core/$folder: is no room of core/CMakeLists.txt" ;; esac
    done
    told=$(sed -n 's/^    core\/\([a-z_0-9]*\) .*/\1/p' docs/architecture.md | tac | tr '\n' ' ')
    [ "$told" = "$rooms " ] || echo "docs/architecture.md: its rooms, from the lowest, are: $told; core/CMakeLists.txt has: $rooms"
}

# Asking for a plugin by a literal id would be a preference of the core's.
names() {
    find core -name '*.c' -exec grep -nHE 'stn_(instance_create|plugin_find)\([^;]*"' {} + | sed 's|$|  names a plugin|'
}

found=$(breaches 0; circles; known_rooms; names)
[ -z "$found" ] || { echo "$found"; exit 1; }
