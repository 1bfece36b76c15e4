#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_exports.sh BUILD: a plugin exports stn_plugin and nothing else, the library exports stn_ names only.
set -uo pipefail
status=0
for file in "$1"/lib/stiction/plugins/*.so; do
    [ -e "$file" ] || continue
    exported=$(nm -D --defined-only "$file" | awk '{ print $NF }')
    [ "$exported" = stn_plugin ] || { echo "$file exports: $exported"; status=1; }
done
others=$(nm -D --defined-only "$1/lib/libstiction.so" | awk '$NF !~ /^stn_/ { print $NF }')
[ -z "$others" ] || { echo "libstiction.so exports: $others"; status=1; }
exit $status
