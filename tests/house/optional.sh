#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# optional.sh SOURCE: what CMake files find is REQUIRED, or found by core/cmake/StnOptional.cmake, so that STICTION_OPTIONAL=OFF hides it.
set -euo pipefail
cd "$1" || exit 2
breaches=$(git ls-files '*CMakeLists.txt' '*.cmake' 2>/dev/null | grep . || find . -path ./build -prune -o \( -name CMakeLists.txt -o -name '*.cmake' \) -print)
# what stands outside of the project's own build: templates, an example, a test's project, a script that runs after configuring
breaches=$(grep -vE '(^|/)(scripts/templates|docs/examples|tests/install/outside|plugins/recorder/html/viewer\.cmake|core/cmake/StnOptional\.cmake)' <<<"$breaches" |
    xargs grep -HnE '^[[:space:]]*(find_(package|program|library|path|file)|pkg_(check|search)_modules?)[[:space:]]*\(' | grep -v '\bREQUIRED\b' || true)
if [ -n "$breaches" ]; then
    echo "$breaches"
    echo "found without REQUIRED: use stn_optional_package, stn_optional_pkgconfig or stn_optional_file of core/cmake/StnOptional.cmake"
    exit 1
fi
