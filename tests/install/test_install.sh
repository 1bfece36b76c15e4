#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_install.sh BUILD: the installed tree works from wherever it is moved to, without the build tree: the command finds its
# library and plugins, and an outside plugin builds against it by find_package and by pkg-config.
set -euo pipefail
build=$1
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STICTION_CACHE=off
unset LD_LIBRARY_PATH STICTION_PLUGIN_PATH STICTION_MESH_WORKER CMAKE_PREFIX_PATH PKG_CONFIG_PATH

fail() { echo "FAILED: $*" >&2; exit 1; }
expect() { # expect TEXT PART
    case $1 in *"$2"*) ;; *) fail "no \"$2\" in: $1" ;; esac
}

cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/moved"
prefix=$work/moved
stiction=$prefix/bin/stiction

# the command runs on the moved library, and nothing points back into the build tree
expect "$("$stiction" --version)" "stiction "
expect "$(ldd "$stiction")" "libstiction.so.1 => $prefix/"
while IFS= read -r -d '' file; do
    ! readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -F "$build" || fail "$file has a path into the build tree"
    ! ldd "$file" | grep -E "not found|$build" || fail "$file does not find its libraries in the moved tree"
done < <(find "$prefix" -type f \( -name '*.so*' -o -path '*/bin/*' -o -path '*/libexec/*' \) -print0)

# links of its pages lead to files of the tree, wherever it was moved to
dead=$(bash "$here/links.sh" "$prefix") || fail "$dead"

# it lists the very plugins that were built, none refused
listed=$("$stiction" plugins 2>&1 >"$work/table") || fail "stiction plugins"
[ -z "$listed" ] || fail "$listed"
built=$(find "$build/lib/stiction/plugins" -name '*.so' 2>/dev/null | wc -l)
installed=$(find "$prefix" -path '*/stiction/plugins/*.so' | wc -l)
[ "$built" = "$installed" ] || fail "$built plugins built, $installed installed"

# an outside plugin by find_package, in C17 with the installed headers alone
cmake -S "$here/outside" -B "$work/package" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/package" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
expect "$(STICTION_PLUGIN_PATH=$work/package "$stiction" plugins outside 2>&1)" "file: $work/package/recorder_outside.so"
[ "$(nm -D --defined-only "$work/package/recorder_outside.so" | awk '{print $3}')" = stn_plugin ] || fail "exports more than stn_plugin"

# a call that is wrong says how
misuse() { # misuse CALL PART
    mkdir -p "$work/misuse"
    printf 'cmake_minimum_required(VERSION 3.25)\nproject(misuse C)\nfind_package(Stiction REQUIRED)\nstn_add_plugin(%s)\n' "$1" >"$work/misuse/CMakeLists.txt"
    expect "$(cmake -S "$work/misuse" -B "$work/misuse/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" 2>&1 || true)" "$2"
}
misuse "solvr mine SOURCES mine.c" "solvr is no kind of plugin"
misuse "solver mine mine.c" "expected SOURCES a.c"
misuse "solver mine SOURCE mine.c" "expected SOURCES a.c"

# pages that are installed lead to pages that are, but for what lies elsewhere in an installed tree, and for tests
pages=$prefix/share/doc/stiction
while read -r page link; do
    [ -e "$(dirname "$page")/$link" ] || fail "$page leads to $link, which is not installed"
done < <(cd "$pages" && grep -roE '\]\([^)# ]+' --include='*.md' docs | grep -v '://' | sed "s|^|$pages/|; s|:\](| |" |
    grep -vE ' (\.\./)+(core|models|scripts|tests|plugins/recorder/html/viewer)/')

# the solver of docs/plugins.md is what the command writes, and the commands that it says build it and find it right
(cd "$work" && "$stiction" new solver nsgs_example) >"$work/next" || fail "stiction new"
page() { awk -v start="^\`\`\`$1\$" '$0 ~ start { on = 1; next } /^```/ { on = 0 } on' "$here/../../docs/plugins.md"; }
page c | diff - "$work/nsgs_example/nsgs_example.c" || fail "docs/plugins.md shows another solver than scripts/templates/solver"
page cmake | diff - "$work/nsgs_example/CMakeLists.txt" || fail "docs/plugins.md shows another CMakeLists.txt than scripts/templates/common"
(cd "$work" && PATH=$prefix/bin:$PATH && eval "$(sed '1,/^next:/d' next)") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
expect "$(cat "$work/log")" " passed, 0 failed"
expect "$(cat "$work/log")" "nsgs_example: ok"

# the program of docs/embedding.md, in C17 with warnings as errors; a robot of the installed tree is found
examples=$here/../../docs/examples
arm=$(find "$prefix" -path '*models/iiwa14/iiwa14.urdf')
embeds() { # embeds PROGRAM: events, contacts, and a bad file as one line
    expect "$("$1" "$arm")" "s: iiwa14_link_7 touches ball"
    expect "$("$1" "$arm")" "contact of the world and ball"
    expect "$("$1" "$work/none.urdf" 2>&1 || true)" "embed: $work/none.urdf: No such file"
}
cmake -S "$examples" -B "$work/examples" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="-std=c17 -Wall -Wextra -Werror" \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/examples" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
embeds "$work/examples/embed"
echo 'require "stiction".world {}:load { "models/iiwa14/iiwa14.urdf", fixed = true }:mass()' >"$work/arm.lua"
(cd / && "$stiction" run "$work/arm.lua") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

expect "$(cd / && "$stiction" info models/iiwa14/iiwa14.urdf 2>&1)" "1 fixed, 7 revolute"

# the process that reads DAE is found, and nothing of it comes into the library
cat >"$work/triangle.dae" <<'XML'
<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="0.01"/>
<up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g"><mesh><source id="p"><float_array id="a" count="9">0 0 0 300 0 0 0 400 0
</float_array><technique_common><accessor source="#a" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>
XML
expect "$("$stiction" info "$work/triangle.dae" 2>&1)" "3 x 4 x 0 m"
! ldd "$stiction" "$prefix"/lib*/libstiction.so "$prefix"/lib*/*/libstiction.so 2>/dev/null | grep assimp || fail "assimp in the library"

# the Python package finds the moved library beside it, by whatever python3 has numpy
packages=$(dirname "$(dirname "$(find "$prefix" -path '*/stiction/place.py')")")
python=
for candidate in "$(command -v python3 || true)" /usr/bin/python3; do
    [ -n "$candidate" ] && "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate && break
done
if [ -n "$python" ]; then
    (cd / && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$packages "$python" -c '
import stiction
world = stiction.World()
world.load("models/iiwa14/iiwa14.urdf", fixed=True)
world.step()
print(stiction.__file__, world.nv)') >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    expect "$(cat "$work/log")" "$packages/stiction/__init__.py 7"
else
    echo "the Python package is not tried: no python3 with numpy"
fi

# and by pkg-config
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name stiction.pc)")
export PKG_CONFIG_PATH
mkdir "$work/pc"
# shellcheck disable=SC2046 # flags are words
cc -std=c17 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -DOUTSIDE_ID='"by_pc"' "$here/outside/outside.c" \
    $(pkg-config --cflags --libs stiction) -Wl,-z,defs -o "$work/pc/recorder_by_pc.so"
expect "$(STICTION_PLUGIN_PATH=$work/pc "$stiction" plugins by_pc 2>&1)" "counts steps, built outside of the project"
expect "$(pkg-config --variable=plugindir stiction)" "stiction/plugins"
# shellcheck disable=SC2046
cc -std=c17 -Wall -Wextra -Werror "$examples/embed.c" $(pkg-config --cflags --libs stiction) \
    "-Wl,-rpath,$(pkg-config --variable=libdir stiction)" -o "$work/pc/embed"
embeds "$work/pc/embed"
