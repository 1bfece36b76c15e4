#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_includes.sh SOURCE: includes go downward and nowhere in a circle.
#   rooms       a room of core (their order is that of core/CMakeLists.txt) includes its own files and lower rooms, as
#               "room/file.h"; a folder in a room its own files and those beside it, not those of a sister folder; no folder of
#               core is left out, and docs/architecture.md names them all, highest first
#   public      public headers include <stiction/...> and C's own headers; core/validate sees public headers and itself
#   plugins     <stiction/...>, files of their own folder, those that the plugins of their kind share in common/, libraries;
#               common/ includes no plugin; templates are on their own
#   libraries   Lua, HDF5, assimp, CHOLMOD and qhull are seen where docs/dependencies.md says
#   circles     no file includes itself by way of others, with or without rooms
# And the core names no plugin.
set -uo pipefail
export LC_ALL=C # what tsort says is read
cd "$1" || exit 2

rooms="$(sed -n 's/^foreach(room \(.*\))$/\1/p' core/CMakeLists.txt) worker mesh_worker hdf5_worker"

sources() {
    find core plugins scripts/templates \( -name '*.[ch]' -o -name '*.cpp' \) -printf '%p\n' | LC_ALL=C sort
}

includes() { # "file:line:what" with "x/y.h" or <x/y.h>
    grep -rnHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' --include='*.[ch]' --include='*.cpp' core plugins scripts/templates |
        sed -E 's/^([^:]*:[0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*/\1:/; s/>.*/>/; s/(":?[^"]*").*/\1/'
}

breaches() {
    { sources && includes; } | awk -F: -v rooms="$rooms" -v circles="$1" '
        function say(why) { print $1 ":" $2 ": " $3 " " why }
        function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
        function of_core(    own, depth, part) {
            split($1, own, "/")
            if (!quoted) return
            split(what, part, "/")
            if (!(part[1] in level) || what !~ /\//) { say("must be written \"room/file.h\""); return }
            target = "core/" what
            if (level[part[1]] > level[own[2]]) say("lies above core/" own[2])
            if (own[2] == "validate" && part[1] != "validate") say("is not public, and core/validate is written from the public headers alone")
            depth = split($1, own, "/")
            if (depth > 3 && part[1] == own[2] && folder(target) != folder($1) && folder(target) != "core/" own[2])
                say("lies in a sister folder of " folder($1))
        }
        function of_public() {
            if (quoted) say("must be <stiction/...> or a standard header")
            else if (what !~ /^stiction\// && what !~ /^(assert|ctype|errno|float|limits|math|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string)\.h$/) say("is no header of C")
        }
        function of_plugin(    own) {
            if (!quoted) return
            own = folder($1)
            if (what ~ /\.\./) say("leaves its folder")
            else if ((own "/" what) in source) target = own "/" what
            else if (what ~ /^common\// && (folder(own) "/" what) in source) target = folder(own) "/" what
            else say("is no file of its own plugin")
        }
        function of_library() {
            if (what ~ /^(lua|lualib|lauxlib)\.h/ && $1 !~ /^core\/lua\//) say("is for core/lua alone")
            if (what ~ /^(hdf5|H5)/ && $1 !~ /^core\/hdf5_worker\//) say("is for core/hdf5_worker alone")
            if (what ~ /^assimp\// && $1 !~ /^core\/mesh_worker\//) say("is for core/mesh_worker alone")
            if (what ~ /^(suitesparse\/)?cholmod/ && $1 !~ /^plugins\/factor\/cholmod\//) say("is for plugins/factor/cholmod alone")
            if (what ~ /^libqhull/ && $1 !~ /^core\/geometry\//) say("is for core/geometry alone")
        }
        BEGIN { n = split(rooms, list, " "); for (i = 1; i <= n; i++) level[list[i]] = i }
        NF == 1 { source[$1] = 1; next }
        {
            what = substr($3, 2, length($3) - 2); quoted = $3 ~ /^"/; target = ""
            split(what, part, "/")
            if (!quoted && (part[1] in level || part[1] == "core" || what ~ /\.\./)) { if (!circles) say("is not public"); next }
            if (what ~ /^stiction\//) target = "core/include/" what
            if (circles) {
                if ($1 ~ /^core\/include\//) ; else if ($1 ~ /^core\//) { if (quoted) target = "core/" what }
                else if (quoted) { own = folder($1); target = (own "/" what) in source ? own "/" what : folder(own) "/" what }
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
    local folder
    for folder in core/*/; do
        folder=$(basename "$folder")
        case " $rooms include cmake " in *" $folder "*) ;; *) echo "core/$folder: is no room of core/CMakeLists.txt" ;; esac
    done
    local told
    told=$(sed -n 's/^    core\/\([a-z_0-9]*\) .*/\1/p' docs/architecture.md | grep -v 'worker$' | tac | tr '\n' ' ')
    [ "$told" = "$(sed 's/ worker mesh_worker hdf5_worker//' <<<"$rooms") " ] || echo "docs/architecture.md: its rooms, from the lowest, are: $told; core/CMakeLists.txt has: $rooms"
}

# Asking for a plugin by a literal id would be a preference of the core's.
names() {
    find core -name '*.c' -exec grep -nHE 'stn_(instance_create|plugin_find)\([^;]*"' {} + | sed 's|$|  names a plugin|'
}

found=$(breaches 0; circles; known_rooms; names)
[ -z "$found" ] || { echo "$found"; exit 1; }
