#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_headers.sh CC CXX SOURCE: every public header compiles alone, as C17 and as C++17, without a warning.
set -uo pipefail
status=0
for header in "$3"/core/include/stiction/*.h; do
    name=stiction/$(basename "$header")
    for language in c c++; do
        compiler=$1
        [ $language = c ] || compiler=$2
        # twice, so that a missing guard shows
        printf '#include <%s>\n#include <%s>\n' "$name" "$name" |
            "$compiler" -x $language -std=${language}17 -Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror -fsyntax-only \
                -I"$3/core/include" - || { echo "$name fails as ${language}17"; status=1; }
    done
done
exit $status
