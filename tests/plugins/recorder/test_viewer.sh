#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_viewer.sh CMAKE SOURCE: npm is optional. Where it fails, hangs or is missing, the build goes on with the page without a viewer
# and says so once; where it works later, the viewer takes its place. npm and node are programs of this test.
set -euo pipefail

cmake=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/none" "$folder/src"
script=$source/plugins/recorder/html/viewer.cmake

fail() {
    echo "$*" >&2
    exit 1
}

program() {
    printf '#!/bin/sh\n%s\n' "$2" >"$folder/bin/$1"
    chmod +x "$folder/bin/$1"
}

# make [OPTION...]: what the build's rule runs; what it says is in said.txt
make() {
    env -u STN_VIEWER_SILENT PATH="$folder/bin:/usr/bin:/bin" "$cmake" -DVIEWER="$source/plugins/recorder/html/viewer" -DWORK="$folder/work" -DHEAD="$folder/head.html" "$@" \
        -P "$script" >"$folder/said.txt" 2>&1
}

expect_without() {
    grep -q 'name="stiction-viewer" content="none"' "$folder/head.html" || fail "$1: not the page without a viewer"
    grep -q 'name="generator" content="stiction-recording-' "$folder/head.html" || fail "$1: not the head of a recording"
    grep -q "recordings will lack their viewer: $2" "$folder/work/missing.txt" || fail "$1: $(cat "$folder/work/missing.txt")"
}

program node 'echo "the viewer" >"$2"'

program npm 'echo "npm ERR! code ECONNREFUSED" >&2; exit 1'
make || fail "an npm without registry ends the build: $(cat "$folder/said.txt")"
expect_without "no registry" "npm ci failed (ECONNREFUSED"
[ "$(wc -l <"$folder/said.txt")" = 1 ] || fail "not one line: $(cat "$folder/said.txt")"
rm "$folder/head.html"
make && expect_without "again" "npm ci failed"
[ ! -s "$folder/said.txt" ] || fail "said twice: $(cat "$folder/said.txt")"

program npm "echo \$\$ >'$folder/pid'; exec sleep 100000"
make -DWAIT=1 || fail "an npm that hangs ends the build: $(cat "$folder/said.txt")"
expect_without "hangs" "npm ci failed"
kill -0 "$(cat "$folder/pid")" 2>/dev/null && fail "the npm that hangs is left behind"
case $(tr '\n' ' ' <"$script") in
*--fetch-timeout=*--fetch-retries=*) ;;
*) fail "npm may wait as long as it likes for its registry" ;;
esac

program npm 'exit 0'
make || fail "$(cat "$folder/said.txt")"
[ "$(cat "$folder/head.html")" = "the viewer" ] || fail "npm works now, the viewer is missing"
[ ! -e "$folder/work/missing.txt" ] || fail "the viewer is there, missing.txt too"
program npm 'exit 1'
make && [ "$(cat "$folder/head.html")" = "the viewer" ] || fail "packages that are there are asked for again"

program node 'exit 1'
! make || fail "a viewer that cannot be bundled passes"
make -DBRING=OFF && expect_without "off" "STN_VIEWER or STICTION_OPTIONAL is off"

rm -rf "$folder/bin/npm" "$folder/work"
env PATH="$folder/bin" "$cmake" -DVIEWER="$source/plugins/recorder/html/viewer" -DWORK="$folder/work" -DHEAD="$folder/head.html" -P "$script" >"$folder/said.txt" 2>&1
expect_without "no npm" "npm is not installed"
