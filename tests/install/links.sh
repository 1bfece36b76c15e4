#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# links.sh FOLDER: links of the pages (*.md) in FOLDER that lead to no file there; fails when there is one.
set -euo pipefail
folder=$(cd "$1" && pwd)
dead=0 count=0
while IFS=$'\t' read -r page link; do
    count=$((count + 1))
    target=$(dirname "$page")/${link%%#*}
    real=$(readlink -m "$target")
    if [ ! -e "$target" ] || [ "${real#"$folder"/}" = "$real" ]; then
        echo "${page#"$folder"/}: $link"
        dead=$((dead + 1))
    fi
done < <(find "$folder" -name '*.md' -type f -print0 | sort -z | xargs -0 awk '
    FNR == 1 { code = 0 }
    /^ *```/ { code = !code; next }
    !code {
        gsub(/`[^`]*`/, "`")
        while (match($0, /\]\([^)[:space:]]+\)/)) {
            link = substr($0, RSTART + 2, RLENGTH - 3)
            $0 = substr($0, RSTART + RLENGTH)
            if (link !~ /^([a-z]+:|#)/) print FILENAME "\t" link
        }
    }')
[ "$count" -gt 100 ] || { echo "$count links: the pages were not found"; exit 1; }
[ "$dead" -eq 0 ] || { echo "$dead of $count links lead nowhere"; exit 1; }
