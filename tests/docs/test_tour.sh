#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_tour.sh SOURCE: every file that docs/tour.md names exists, and every function is defined in the file named before it.
set -uo pipefail
cd "$1" || exit 2
page=${2-docs/tour.md}
status=0 file=''
while IFS= read -r word; do
    case $word in
    *'()')
        name=${word%'()'}
        if [ -z "$file" ]; then
            echo "$page: $name() stands before any file"
            status=1
        elif ! grep -qE "^([A-Za-z_].*[ *])?$name\(" "$file"; then
            echo "$page: $file does not define $name()"
            status=1
        fi
        ;;
    *)
        file=$word
        [ -f "$file" ] || { echo "$page: there is no $file"; status=1; file=/dev/null; }
        ;;
    esac
done < <(grep -oE '`(([a-z0-9_]+/)+[a-z0-9_]+\.(c|h|cpp|lua|sh|txt)|[A-Za-z_][A-Za-z0-9_]*\(\))`' "$page" | tr -d '`')
[ -n "$file" ] || { echo "$page names no file"; status=1; }
exit $status
