#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# figures.sh SOURCE [--list | --check]: how long functions and files are, and how much of the public headers is documented. --list
# names what sticks out: functions over 60 lines, files over 600, public declarations without a comment. --check says that
# alone, and fails when there is any.
#
# A function's lines are those from its name to its closing brace. A declaration is documented when a comment stands on its
# lines or directly above; it is covered when, without a blank line between, one stands above others before it.
set -euo pipefail
cd "$1" || exit 2
list=${2-}
case $list in '' | --list | --check) ;; *) echo "house: unknown option $list; there are --list and --check" >&2 && exit 2 ;; esac

if ! ctags --version 2>/dev/null | grep -q '^Universal Ctags'; then
    echo "house: skipped: universal-ctags is not installed"
    exit 0
fi

sources() { # sources FOLDER: ours, in C or C++
    find "$1" -name node_modules -prune -o \( -name '*.[ch]' -o -name '*.cpp' \) -print | LC_ALL=C sort
}

lengths() { # lengths FOLDER: "lines<TAB>file:line name" of every function
    sources "$1" | ctags -L - -f - --output-format=u-ctags --fields=ne --excmd=number --kinds-C=f --kinds-C++=f --langmap=C:+.h \
        -I STN_API,STN_PRINTF+ | awk -F'\t' '{
            begin = end = 0
            for (i = 3; i <= NF; i++) {
                if ($i ~ /^line:/) begin = substr($i, 6)
                if ($i ~ /^end:/) end = substr($i, 5)
            }
            if (end > 0) print end - begin + 1 "\t" $2 ":" begin " " $1
        }'
}

file_lengths() { # file_lengths FOLDER: "lines<TAB>file"
    sources "$1" | while IFS= read -r file; do printf '%d\t%s\n' "$(wc -l <"$file")" "$file"; done
}

summary() { # of the first column: count, median, 90th percentile, maximum
    cut -f1 | sort -n | awk '{ x[NR] = $1 } END { printf "%7d %7d %7d %7d", NR, x[int((NR + 1) / 2)], x[int(0.9 * NR + 0.999999)], x[NR] }'
}

declarations() { # "state<TAB>kind<TAB>file:line name" of every public declaration; state: own, covered, none
    ctags -f - --sort=no --output-format=u-ctags --fields=neK --excmd=number --languages=C --langmap=C:+.h --kinds-C=pfsugemtd \
        -I STN_API,STN_PRINTF+ core/include/stiction/*.h | awk -F'\t' '
        function read_file(name,    n, text) {
            n = 0
            while ((getline text < name) > 0) lines[name, ++n] = text
            close(name)
        }
        function comment_only(text) { return text ~ /^[ \t]*(\/\/|\/\*|\*)/ }
        function state(name, begin, end,    i) {
            for (i = begin; i <= end; i++) if (lines[name, i] ~ /\/\/|\/\*/) return "own"
            if (comment_only(lines[name, begin - 1])) return "own"
            for (i = begin - 1; i > 0 && lines[name, i] !~ /^[ \t]*$|\{[ \t]*(\/\/.*)?$/; i--) if (comment_only(lines[name, i])) return "covered"
            return "none"
        }
        {
            if (!($2 in seen)) { seen[$2] = 1; read_file($2) }
            kind = $4; begin = end = 0
            for (i = 4; i <= NF; i++) {
                if ($i ~ /^line:/) begin = substr($i, 6) + 0
                if ($i ~ /^end:/) end = substr($i, 5) + 0
            }
            if (kind == "macro") macros[$1] = 1
            if (kind == "macro" && ($1 ~ /^STICTION_.*_H$/ || undone($2, $1))) next # include guards, macros of a list
            if ((kind == "prototype" || kind == "enumerator") && $1 in macros) next # a list put in
            if (kind == "typedef" && (($2, $1) in named)) next                   # of the struct beside
            if (kind == "struct" || kind == "enum" || kind == "union") { named[$2, $1] = 1; if ($1 ~ /^__anon/) next }
            # a body is documented by its members; a prototype ends with its semicolon
            last = begin
            if (kind == "prototype" || kind == "member") while (lines[$2, last] !~ /;/ && last < begin + 8) last++
            print state($2, begin, last) "\t" kind "\t" $2 ":" begin " " $1
        }
        function undone(name, macro,    i) {
            for (i = 1; (name, i) in lines; i++) if (lines[name, i] ~ "^[ \t]*#[ \t]*undef[ \t]+" macro "$") return 1
            return 0
        }'
}

all=$(mktemp -d)
trap 'rm -rf "$all"' EXIT
for folder in core plugins tests; do
    lengths $folder >"$all/$folder.functions"
    file_lengths $folder >"$all/$folder.files"
done
declarations >"$all/declarations"

figures() {
    local folder
    printf '%-8s %31s   %31s\n%-8s %7s %7s %7s %7s   %7s %7s %7s %7s\n' '' 'lines of a function' 'lines of a file' '' functions median 90% most files median 90% most
    for folder in core plugins tests; do
        printf '%-8s %s   %s\n' $folder "$(summary <"$all/$folder.functions")" "$(summary <"$all/$folder.files")"
    done
    awk -F'\t' '
        { n[$2]++; total++; if ($1 == "own") { own[$2]++; owns++ } if ($1 != "none") { any[$2]++; anys++ } }
        function row(name, n, own, any) { printf "%-12s %6d %10.1f%% %10.1f%%\n", name, n, 100 * own / n, 100 * any / n }
        END {
            printf "\n%-12s %6s %11s %11s\n", "public", "all", "documented", "or covered"
            split("prototype function struct union enum enumerator member typedef macro", kinds, " ")
            for (k = 1; k in kinds; k++) if (n[kinds[k]]) row(kinds[k], n[kinds[k]], own[kinds[k]], any[kinds[k]])
            row("together", total, owns, anys)
        }' "$all/declarations"
}

sticks_out() {
    local folder
    for folder in core plugins tests; do
        awk -F'\t' -v what="functions over 60 lines in $folder" '$1 > 60 { if (!said++) print "\n" what; print $1 "\t" $2 }' <(sort -rn "$all/$folder.functions")
        awk -F'\t' -v what="files over 600 lines in $folder" '$1 > 600 { if (!said++) print "\n" what; print $1 "\t" $2 }' <(sort -rn "$all/$folder.files")
    done
    awk -F'\t' '$1 == "none" { if (!said++) print "\npublic declarations without a comment"; print $2 "\t" $3 }' "$all/declarations"
}

case $list in
--check) breaches=$(sticks_out); [ -z "$breaches" ] || { echo "$breaches"; exit 1; } ;;
--list) figures; sticks_out ;;
*) figures ;;
esac
