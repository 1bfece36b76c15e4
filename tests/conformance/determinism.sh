#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# determinism.sh STICTION [--quick | --tier] [--steps N] [--jobs N] [--solvers "ID ..."] [--scenes PATTERN]
#
# Every scene of scripts/ under every solver that the registry finds: the bytes of the state after each step must be the
# same for 1, 2, 4 and 8 workers, on one processor, run after run in one process and in several, in clones and after
# checkpoints (hashes.lua); papers/cond/table.lua has no worlds of its own. Prints a table, a scene a line and a solver a column: a hash of all states and how many variants
# gave it; exit status 1 where one gave another. --quick: each scene with one solver, each solver with a few
# scenes, two variants, fewer steps where there are many contacts. --tier: quick unless STICTION_TEST_TIER is full. A plugin of one's own is found by
# STICTION_PLUGIN_PATH.
set -euo pipefail
export LC_ALL=C OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-Haswell} OMP_THREAD_LIMIT=1

here=$(dirname "$(readlink -f "$0")")
scripts=$(readlink -f "$here/../../scripts")
stiction=$(readlink -f "$(command -v "$1")")
shift
quick=no steps='' jobs=$(nproc) solvers='' pattern=.
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=yes ;;
    --tier) [ "${STICTION_TEST_TIER-}" = full ] || quick=yes ;;
    --steps) steps=$2 && shift ;;
    --jobs) jobs=$2 && shift ;;
    --solvers) solvers=$2 && shift ;;
    --scenes) pattern=$2 && shift ;;
    *) echo "determinism.sh: unknown word $1" >&2 && exit 2 ;;
    esac
    shift
done
[ -n "$solvers" ] || solvers=$("$stiction" plugins | awk '$1 == "solver" { print $2 }')
read -r -a solvers <<<"$(echo $solvers)"
mapfile -t scenes < <(cd "$scripts" && find . -name '*.lua' -not -path '*/lib/*' -not -path './templates/*' -not -path './papers/cond/table.lua' | sed 's|^\./||; s|\.lua$||' | grep -E "$pattern" | sort)
if [ $quick = yes ]; then
    steps=${steps:-40} by_contacts=true variants=("1 straight all" "4 detour all")
else
    steps=${steps:-240} by_contacts=false
    variants=("1 straight all" "1 straight all" "1 detour all" "2 detour all" "4 again all" "8 straight all" "8 detour one")
fi

folder=$(mktemp -d /tmp/stiction_determinism_XXXXXX)
trap 'rm -rf "$folder"' EXIT
export STICTION_CACHE=$folder/cache # meshes are read once

# run NAME SCENE SOLVER WORKERS WAY PROCESSORS: the hashes of a run in NAME, or what it said instead.
run() {
    local out=$folder/$1 pin=()
    [ "$6" = all ] || ! command -v taskset >/dev/null || pin=(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')")
    mkdir "$out" && cd "$out" || return 0 # interrupted
    "${pin[@]}" "$stiction" run "$here/hashes.lua" --quiet --set hashed_scene="$scripts/$2.lua" --set hashes=hashes --set hashed_steps=$steps --set hashed_by_contacts=$by_contacts \
        --set hashed_way="$5" --solver "$3" --threads "$4" >said 2>&1 || true
    [ -s hashes ] || mv said hashes
}
export -f run
export here scripts stiction steps by_contacts folder

# The pairs, and their runs on all processors.
pairs=()
for i in "${!scenes[@]}"; do
    for k in "${!solvers[@]}"; do
        [ $quick = no ] || [ $((i % ${#solvers[@]})) = "$k" ] || continue
        pairs+=("$i $k")
    done
done
for pair in "${pairs[@]}"; do
    read -r i k <<<"$pair"
    for v in "${!variants[@]}"; do
        echo "$i.$k.$v ${scenes[i]} ${solvers[k]} ${variants[v]}"
    done
done | xargs -P "$jobs" -L 1 bash -c 'run "$@"' run

# The table.
declare -A cell
declare -a reason
same=0 differ=0 idle=0
for pair in "${pairs[@]}"; do
    read -r i k <<<"$pair"
    first=$folder/$i.$k.0/hashes found=0
    for v in "${!variants[@]}"; do
        if cmp -s "$first" "$folder/$i.$k.$v/hashes"; then
            found=$((found + 1))
        else
            other=$folder/$i.$k.$v/hashes
            line=$(cmp "$first" "$other" 2>&1 | sed -n 's/.* line \([0-9]*\)$/\1/p' || true)
            echo "${scenes[i]}, ${solvers[k]}: ${variants[v]} (workers, way, processors): another state than by ${variants[0]}" \
                "after step ${line:-?}; $(tail -n 2 "$other" | head -n 1)"
        fi
    done
    hash=$(cksum <"$first" | awk '{ printf "%08x", $1 }')
    if [ $found != ${#variants[@]} ]; then
        differ=$((differ + 1)) cell[$pair]="DIFFER $found"
    elif grep -qE '^[0-9a-f]{16}$' "$first"; then
        same=$((same + 1)) cell[$pair]="$hash x$found"
    else
        idle=$((idle + 1)) cell[$pair]=- reason[i]=$(head -n 1 "$first")
    fi
done
printf '%-36s' "$steps steps, ${#variants[@]} variants"
printf ' %-14s' "${solvers[@]}"
echo
for i in "${!scenes[@]}"; do
    printf '%-36s' "${scenes[i]}"
    made=no
    for k in "${!solvers[@]}"; do
        printf ' %-14s' "${cell["$i $k"]-}"
        [[ ${cell["$i $k"]-} != *x* ]] || made=yes
    done
    [ $made = yes ] || printf ' no step: %s' "${reason[i]-}"
    echo
done
echo "$same pairs of a scene and a solver give one hash in all variants, $differ do not, $idle make no step"
[ "$differ" = 0 ] && [ "$same" != 0 ]
