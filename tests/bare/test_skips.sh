#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_skips.sh SOURCE: where a machine cannot make a bare root, ./dev bare says so in one line with the reason and ends with 77.
set -euo pipefail
script=$1/tests/bare/bare_machine.sh said=$(mktemp)
trap 'rm -f "$said"' EXIT
as=()
[ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --clear-groups)
status=0
"${as[@]}" bash -s <"$script" 2>"$said" || status=$?
cat "$said"
[ "$status" = 77 ] && [ "$(wc -l <"$said")" = 1 ] && grep -q '^bare: skipped: needs root' "$said"
