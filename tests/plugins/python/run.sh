#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD FILE [ARGS]: a Python file with the package of the build tree, by the first python3 that has numpy; 77: there is none.
# Under gcc's sanitizers the interpreter gets their library first, since libstiction needs it; clang's come in programs alone: 77.
set -euo pipefail
build=$1
shift
python=
for candidate in "$(command -v python3 || true)" /usr/bin/python3; do
    [ -n "$candidate" ] && "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || { echo "skipped: no python3 with numpy (python3-numpy)"; exit 77; }
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 STICTION_CACHE=off OPENBLAS_NUM_THREADS=1
if nm -D "$build/lib/libstiction.so" | grep '__asan_init' >/dev/null; then # not -q: nm would find its pipe closed
    library=$(ldd "$build/lib/libstiction.so" | awk '$1 ~ /^libasan/ { print $3 }')
    [ -n "$library" ] || { echo "skipped: these sanitizers cannot be loaded into python3"; exit 77; }
    export LD_PRELOAD=$library ASAN_OPTIONS=detect_leaks=0 # the interpreter's own are no matter of ours
fi
exec "$python" -X faulthandler "$@"
