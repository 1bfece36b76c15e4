#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_references.sh SOURCE: every key name-year that sources and pages cite stands in docs/references.md, once and in order, and is
# cited somewhere; nothing cites what the repository does not hold.
set -uo pipefail
cd "$1" || exit 2
export LC_ALL=C
key='[a-z]+(-[a-z]+)*-(19|20)[0-9]{2}'
rooms=(core plugins tests scripts)

listed() { sed -nE "s/^\| ($key) \|.*/\1/p" docs/references.md; }
cited() {
    grep -rhoIE --include='*.[ch]' --include='*.lua' --include='*.html' --include='*.md' --exclude=references.md "(^|[^/a-z0-9-])$key([^0-9-]|$)" "${rooms[@]}" docs README.md |
        grep -oE "$key"
}

faults=$(
    listed | sort -c 2>&1
    listed | uniq -d | sed 's/$/: twice in docs\/references.md/'
    comm -13 <(listed | sort -u) <(cited | sort -u) | sed 's/$/: cited, but not in docs\/references.md/'
    comm -23 <(listed | sort -u) <(cited | sort -u) | sed 's/$/: in docs\/references.md, but nobody cites it/'
    grep -rniIE --include='*.[ch]' --include='*.lua' --include='*.md' 'math[ _-]note' "${rooms[@]}" docs README.md | sed 's/$/: no such document here/'
)
[ -z "$faults" ] || { echo "$faults"; exit 1; }
