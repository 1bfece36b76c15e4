#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_readmes.sh SOURCE: every folder of plugins/ has a README with the same layout: "# kind/name" first; of the sections that many
# have those that are there in one order (docs/plugins.md); one line in plugins/CMakeLists.txt.
set -uo pipefail
cd "$1" || exit 2

faults=$(
    for folder in plugins/*/*/; do
        folder=${folder%/} kind=$(basename "$(dirname "$folder")") page=$folder/README.md
        [ "$(grep -cx "add_subdirectory(${folder#plugins/})" plugins/CMakeLists.txt)" = 1 ] || echo "$folder: not one line in plugins/CMakeLists.txt"
        [ -f "$page" ] || { echo "$page: is missing"; continue; }
        head -n 1 "$page" | grep -qE "^# $kind/[a-z_]+" || echo "$page:1: must begin with # $kind/NAME"
        sed -nE 's/^## //p' "$page" | awk -v page="$page" '
            BEGIN { n = split("What it solves|Parameters|How it ends|Limits|When to use|What was measured", order, "|"); for (i = 1; i <= n; i++) place[order[i]] = i }
            $0 in place { if (place[$0] < last) print page ": section " $0 " comes after " order[last]; last = place[$0] }'
    done
)
[ -z "$faults" ] || { echo "$faults"; exit 1; }
