#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_includes.sh SOURCE: rooms of core include only their own and lower rooms, public headers only public headers, plugins only
# <stiction/...>, their own files, those that the plugins of their kind share in common/, and libraries; the core names no plugin.
set -uo pipefail
cd "$1" || exit 2

includes() { # includes FILES...: "file:line:what" with "x/y.h" or <x/y.h>
    grep -nHE '^[[:space:]]*#[[:space:]]*include' "$@" | sed -E 's/^([^:]*:[0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*/\1:/; s/>.*/>/; s/(":?[^"]*").*/\1/'
}

core() {
    find core -name '*.[ch]' -not -path 'core/include/*' -print0 | xargs -0 grep -lE '#[[:space:]]*include' | while read -r file; do includes "$file"; done |
        awk -F: -v rooms="base plugin geometry mesh_files model dynamics factor problem problem_files world validate lua cli mesh_worker hdf5_worker" '
            BEGIN { n = split(rooms, list, " "); for (i = 1; i <= n; i++) level[list[i]] = i }
            {
                split($1, path, "/")
                own = path[2]
                if ($3 !~ /^"/) next
                what = substr($3, 2, length($3) - 2)
                split(what, part, "/")
                if (!(part[1] in level) || what !~ /\//) print $1 ":" $2 ": " $3 " must be written \"room/file.h\""
                else if (level[part[1]] > level[own]) print $1 ":" $2 ": " $3 " lies above core/" own
            }'
}

headers() {
    includes core/include/stiction/*.h | awk -F: '$3 ~ /^"/ { print $1 ":" $2 ": " $3 " must be <stiction/...> or a standard header" }'
}

plugins() {
    find plugins -name '*.[ch]' -o -name '*.cpp' | while read -r file; do
        includes "$file" | while IFS=: read -r name line what; do
            case $what in
            \"*)
                own=${what#\"} own=${own%\"}
                [[ $own != *..* && (-e $(dirname "$file")/$own || ($own == common/* && -e $(dirname "$file")/../$own)) ]] || echo "$name:$line: $what is no file of its own plugin"
                ;;
            "<core/"* | "<base/"* | "<"*"/../"*) echo "$name:$line: $what is not public" ;;
            esac
        done
    done
}

# Asking for a plugin by a literal id would be a preference of the core's.
names() {
    grep -nHE 'stn_(instance_create|plugin_find)\([^;]*"' core/*/*.c | sed 's|$|  names a plugin|'
}

breaches=$(core; headers; plugins; names)
[ -z "$breaches" ] || { echo "$breaches"; exit 1; }
