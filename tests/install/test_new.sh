#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_new.sh BUILD: what `stiction new` writes, for every kind: it builds against the installed package with warnings as errors,
# is listed, passes its battery, and its scenario runs.
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STICTION_CACHE=off
unset LD_LIBRARY_PATH STICTION_PLUGIN_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH

fail() { echo "FAILED: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
stiction=$work/prefix/bin/stiction
kinds=$(find "$work/prefix/share/stiction/scripts/templates" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | grep -vx -e common -e scenario)
known=$(sed -n 's/^ *X(STN_KIND_[A-Z_]*, \([a-z_]*\)).*/\1/p' "$work/prefix/include/stiction/plugin.h" | sort)
for kind in $kinds; do
    grep -qx "$kind" <<<"$known" || fail "a template of what is no kind: $kind"
done
for kind in solver law contact integrator factor controller element constraint loader recorder command script; do
    grep -qx "$kind" <<<"$kinds" || fail "no template of the kind $kind"
done

# one project of all of them: configured and built once
{
    echo 'cmake_minimum_required(VERSION 3.25)'
    echo 'project(all C)'
    echo 'enable_testing()'
    for kind in $kinds; do
        "$stiction" new "$kind" "try_$kind" --folder "$work" >/dev/null || fail "stiction new $kind"
        echo "add_subdirectory(try_$kind)"
    done
} >"$work/CMakeLists.txt"
! grep -r my_plugin "$work"/try_* || fail "a placeholder stayed"
! grep -rE '\bmy_kind\b' "$work"/try_* || fail "a placeholder stayed"
{
    cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_FLAGS="-std=c17 -Wpedantic -Werror" &&
        cmake --build "$work/build" -j2
} >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
for kind in $kinds; do
    STICTION_PLUGIN_PATH=$work/build/try_$kind "$stiction" plugins "try_$kind" 2>&1 | grep -qx "$kind try_$kind 0.1.0" ||
        fail "stiction plugins does not list the $kind"
done
ctest --test-dir "$work/build" -j2 --output-on-failure >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
# a battery each, and a scenario of those that have one
tests=$(($(wc -w <<<"$kinds") + $(find "$work"/try_* -name 'try_*.lua' | wc -l)))
grep -q "100% tests passed, 0 tests failed out of $tests" "$work/log" || { cat "$work/log"; exit 1; }
# the new word is one like the others
robot=$work/prefix/share/stiction/models/panda/panda.urdf
export STICTION_PLUGIN_PATH=$work/build/try_command
"$stiction" --help | grep -q '^  try_command  prints mass' || fail "stiction --help does not list the new word"
"$stiction" try_command --json "$robot" | grep -qx '{"robot": "panda", "mass_kg": [0-9.]*, "nv": [0-9]*}' || fail "stiction try_command does not work"
echo '<robot name='"'"'a "b" \c'"'"'><link name="l"/></robot>' >"$work/odd.urdf"
"$stiction" try_command --json "$work/odd.urdf" 2>/dev/null | grep -qxF '{"robot": "a \"b\" \\c", "mass_kg": 0, "nv": 6}' || fail "stiction try_command writes a name that is no JSON"
# the new language runs a script with all that the command offers, and its own code knows of none of it
cp "$work/try_script/sample.try_script" "$work/box.try_script"
export STICTION_PLUGIN_PATH=$work/build/try_script
(cd "$work" && "$stiction" run box.try_script --set height=0.5 --log box.csv --record box.html --json) >"$work/run.json" 2>"$work/log" || fail "stiction run box.try_script: $(cat "$work/log")"
grep -q '"height":.*0.5' "$work/run.json" && grep -q '"z":.*0.0[45]' "$work/run.json" || fail "a script in the new language: $(cat "$work/run.json")"
[ "$(wc -l <"$work/box.csv")" = 502 ] && [ -s "$work/box.html" ] || fail "a script in the new language was not recorded"
"$stiction" test "$work/box.try_script" | tail -1 | grep -qx '1 passed, 0 failed' || fail "stiction test does not run a script in the new language"
unset STICTION_PLUGIN_PATH

"$stiction" new scenario try_scenario --folder "$work" >/dev/null
(cd "$work/try_scenario" && "$stiction" run try_scenario.lua && "$stiction" test test_try_scenario.lua) >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

# a controller that nobody knew of is in the study of all of them
STICTION_PLUGIN_PATH=$work/build/try_controller "$stiction" run -q "$work/prefix/share/stiction/scripts/controllers/response.lua" 2>"$work/log" >/dev/null &&
    grep -qE '^try_controller +joints +.*[0-9] -$' "$work/log" || { cat "$work/log"; fail "scripts/controllers/response.lua does not show the new controller"; }
