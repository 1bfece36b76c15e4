#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# problems.sh STICTION [SOLVER]...: the random problems of `stiction validate --full` as a table, a line for each solver that
# the registry finds, or that is named. Exit status 1 where an answer was claimed wrongly or was not finite.
set -euo pipefail
export LC_ALL=C
stiction=$1
shift
[ $# -gt 0 ] || mapfile -t found < <("$stiction" plugins | awk '$1 == "solver" { print $2 }')
[ $# -gt 0 ] || set -- "${found[@]}"

# "random problems: 300 problems at tolerance 1e-08: 299 converged, 2 of them stalled, ...", as columns
words='([a-z-]+) problems: ([0-9]+) problems at tolerance ([^:]+): ([0-9]+) converged, ([0-9]+) of them stalled, '
words+='([0-9]+) not converged, ([0-9]+) claimed wrongly, ([0-9]+) not finite; largest error of the converged ([^;]+);.*\(([0-9]+) ms\)'
format='%-16s %-10s %9s %9s %10s %8s %13s %8s %11s %12s %7s\n'
# shellcheck disable=SC2059 # the columns are named once
printf "$format" solver problems count tolerance converged stalled "not converged" wrongly "not finite" "worst error" s
status=0
for solver in "$@"; do
    out=$("$stiction" validate --full "solver/$solver" -k problems) || status=1
    [[ $out =~ $words ]] || { echo "$solver: no figures in what stiction validate said" >&2; status=1; }
    while read -r line; do
        if [[ $line =~ $words ]]; then
            m=("${BASH_REMATCH[@]}")
            # shellcheck disable=SC2059
            printf "$format" "$solver" "${m[1]}" "${m[2]}" "${m[3]}" "${m[4]}" "${m[5]}" "${m[6]}" "${m[7]}" "${m[8]}" "${m[9]}" \
                "$((m[10] / 1000)).$(printf %03d $((m[10] % 1000)))"
        elif [[ $line == FAILED* ]]; then
            echo "$solver: $line"
        fi
    done <<<"$out"
done
exit $status
