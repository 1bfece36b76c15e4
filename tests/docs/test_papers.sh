#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_papers.sh STICTION SOURCE: docs/papers.md has every row of the paper.json beside the scripts, with the published value that
# stands there, and shows no chart that is not there.
set -uo pipefail
stiction=$1 source=$2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

rows() { grep -E '^(## |\| )' "$1" | sed -E 's/\\\|/!/g' | cut -d '|' -f 1-4; } # where, what, published

"$stiction" papers --kept --keep "$work/none" --from "$source/scripts/papers" --markdown "$work/papers.md" >"$work/table" || { cat "$work/table"; exit 1; }
[ "$(rows "$work/papers.md" | wc -l)" -gt 100 ] || { echo "stiction papers writes too few rows"; exit 1; }
diff <(rows "$work/papers.md") <(rows "$source/docs/papers.md") >"$work/off" || {
    head -n 40 "$work/off"
    echo "docs/papers.md (>) is not of these paper.json (<): stiction papers --full --markdown docs/papers.md"
    exit 1
}
