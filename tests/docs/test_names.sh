#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_names.sh STICTION SOURCE: every option of the commands, every key of the JSON that they print, and every column of their tables
# stand in the pages of docs/; every parameter of a plugin stands in its README, but those that all solvers share.
set -uo pipefail
stiction=$1 source=$2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export LC_ALL=C

cat >scene.lua <<'E2'
local stn = require "stiction"
local p = stn.params { mu = 0.5 }
local world = stn.world { dt = 0.002 }
world:ground { mu = p.mu }
local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 } }
for _ in world:run { steps = 4 } do end
stn.result("height", box:position()[3], "m")
stn.check("stands", { value = box:speed(), limit = 1, unit = "m/s" })
E2

# Every word of the pages, so that a name that is a plain word besides is not missed.
cat "$source"/docs/*.md | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u >documented

keys() { grep -oE '"[A-Za-z_][A-Za-z_0-9]*":' | tr -d '":' | sort -u; }
told() { # told WHAT < names: those that no page has; one that prints nothing has failed
    sort -u >names
    [ -s names ] || echo "$1 prints no names"
    comm -23 names documented | sed "s|\$|: of $1, stands in no page of docs/|"
}

faults=$(
    "$stiction" run scene.lua --profile --capture p.json --every 4 --record r.html --log r.csv --json 2>/dev/null | keys | told "run --json"
    head -n 1 r.csv | tr ',' '\n' | grep -oE '^[A-Za-z_0-9/]+$' | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | told "run --log"
    "$stiction" solve p-000004.json --full --json 2>/dev/null | keys | told "solve --json"
    keys <p-000004.json | told "run --capture"
    "$stiction" compare p-000004.json --solvers sap,nsgs --curves --json --csv c.csv 2>/dev/null | keys | told "compare --json"
    head -n 1 c.csv | tr ',' '\n' | sed 's/_1e-[0-9]*$//' | told "compare --csv"
    "$stiction" sweep scene.lua --vary mu=0.4,0.5 --json -q 2>/dev/null | keys | sed 's/_max$//' | told "sweep --json"
    "$stiction" info "$source/models/wsg50/wsg50.urdf" --json --q Z 2>/dev/null | sed 's/"wsg50[a-z_]*"://g' | keys | sed 's/_reduced$/_full/; s/dof_full/dof_reduced/' | told "info --json"
    "$stiction" check "$source/models/wsg50/wsg50.urdf" --json 2>/dev/null | keys | told "check --json"
    "$stiction" validate integrator/midpoint -k "free fall" --json 2>/dev/null | keys | told "validate --json"
    "$stiction" replay r.html --json 2>/dev/null | keys | told "replay --json"
    "$stiction" plugins --json | keys | told "plugins --json"
    for command in run test solve compare sweep info check convert plugins view replay validate new papers; do
        "$stiction" "$command" --help 2>&1 | sed -nE 's/^  (-[a-z]), (--[a-z-]+).*/\1|\2/p; s/^  (--[a-z-]+).*/\1/p' | while read -r option; do
            [ "$option" = '-h|--help' ] || grep -qE -e "(^|[^a-z-])($option)([^a-z-]|\$)" "$source"/docs/*.md ||
                echo "$option: of stiction $command, stands in no page of docs/"
        done
    done
    "$stiction" plugins | awk 'NR > 1 { print $2 }' | sort -u | while read -r id; do
        "$stiction" plugins "$id" | awk '/^[a-z]/ { plugin = $1 " " $2 } /^  [a-z_]+ = / { print plugin, $1 }'
    done | while read -r kind id name; do
        case $kind/$name in solver/tolerance | solver/absolute_tolerance | solver/max_iterations) continue ;; esac
        mapfile -t pages < <(grep -lw -- "$id" "$source/plugins/$kind"/*/README.md)
        { [ ${#pages[@]} -gt 0 ] && grep -qw -- "$name" "${pages[@]}"; } ||
            echo "$name: parameter of $kind $id, stands in no README of plugins/$kind that names $id"
    done
)
[ -z "$faults" ] || { echo "$faults"; exit 1; }
