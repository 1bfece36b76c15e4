#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Instructions of a step of clutter after the impacts, law by law, beside law/sap: those of a run to END seconds less those of a
# run to START, under callgrind. The machine may be busy. Scene: scripts/papers/icf/clutter_laws.lua.
#     sh tests/bench/law_cost.sh [STICTION [START [END]]]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
stiction=${1-$root/build/release/bin/stiction}
start=${2-2} end=${3-2.5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

count() { # LAW SECONDS
  valgrind --tool=callgrind --callgrind-out-file="$folder/out" "$stiction" run "$root/scripts/papers/icf/clutter_laws.lua" --quiet \
    --set study=cost --set piles=1 --set "laws=$1" --set "seconds=$2" --set transient=0 >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
  sed -n 's/^summary: *//p; s/^totals: *//p' "$folder/out" | head -n 1
}

base=
printf '%-20s %14s %10s\n' law 'instructions' 'over sap'
for law in sap lagged similar lagged_regularized; do
  first=$(count $law "$start")
  last=$(count $law "$end")
  base=${base:-$((last - first))}
  awk -v law=$law -v n=$((last - first)) -v base=$base -v steps="$(awk "BEGIN { print ($end - $start) / 0.002 }")" \
    'BEGIN { printf "%-20s %14.0f %10.2f\n", law, n / steps, n / base }'
done
