#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh STICTION FOLDER MISSING: the tests of recording and comparison pages in headless Chromium; 77 when there is none, when npm
# cannot bring what the tests need, and when the file MISSING says that the build has no viewer.
set -euo pipefail

source=$(dirname "$(readlink -f "$0")")
stiction=$1 folder=$2 missing=$3
for program in chromium npm node; do
    command -v "$program" >/dev/null || { echo "skipped: no $program here"; exit 77; }
done
[ ! -e "$missing" ] || { echo "skipped: $(cat "$missing")"; exit 77; }

mkdir -p "$folder"
cp "$source"/*.js "$source"/package.json "$source"/package-lock.json "$source"/.npmrc "$folder"
cd "$folder"
if ! cmp -s package-lock.json node_modules/.installed; then
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-timeout=10000 --fetch-retries=1 ||
        { echo "skipped: npm ci failed"; exit 77; }
    cp package-lock.json node_modules/.installed
fi
CHROMIUM=$(command -v chromium) STICTION=$stiction FOLDER=$folder SCENARIO=$source/../../scripts/clutter.lua \
    node --test --test-reporter=spec viewer.test.js compare.test.js
