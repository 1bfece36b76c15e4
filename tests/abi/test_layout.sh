#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_layout.sh COMPILER SOURCE [--accept]: every struct and enumeration of the plugin border is laid out as in layout.txt. A change that is
# meant goes with STN_ABI_MAJOR (or _MINOR, when a table only grew at its tail) and is accepted with --accept.
set -euo pipefail
compiler=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$compiler" -std=gnu17 -g -fno-eliminate-unused-debug-types -I"$source/core/include" -c "$source/tests/abi/border.c" -o "$work/border.o"
readelf --debug-dump=info "$work/border.o" | awk -f "$source/tests/abi/layout.awk" >"$work/layout.txt"
[ "$(wc -l <"$work/layout.txt")" -gt 300 ] || { echo "the debug information could not be read"; exit 1; }
if [ "${3-}" = --accept ]; then
    cp "$work/layout.txt" "$source/tests/abi/layout.txt"
elif ! diff -U 0 "$source/tests/abi/layout.txt" "$work/layout.txt"; then
    echo "the plugin border changed; when that is meant: tests/abi/test_layout.sh $compiler . --accept"
    exit 1
fi
