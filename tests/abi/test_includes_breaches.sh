#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_includes_breaches.sh SOURCE: test_includes.sh finds the breaches below, in a small tree made for it.
set -euo pipefail
export LC_ALL=C # what tsort says is read
source=$(readlink -f "$1")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/core/{base,query,world,record,include/stiction,cli/{check,sweep}} "$tree"/plugins/{solver/{common,a,b},script/lua/{parts,others},mesh/assimp/worker,command/driver} "$tree"/{docs,scripts/templates/law}
cd "$tree"
echo 'foreach(room base query world record cli)' >core/CMakeLists.txt
printf '    core/%s is a room\n' cli record world query base >docs/architecture.md
failed=0

put() { # put FILE INCLUDE...: a file that includes these
    local file=$1
    shift
    printf '#include %s\n' "$@" >"$file"
}

sound() { # the tree as it should be
    put core/include/stiction/base.h '<stddef.h>'
    put core/include/stiction/world.h '<stiction/base.h>'
    put core/base/text.h '<stiction/base.h>'
    put core/world/world.h '"base/text.h"'
    put core/world/step.c '"world/world.h"' '<stiction/world.h>'
    put core/query/query.h '"base/text.h"'
    put core/record/record.c '"world/world.h"'
    put plugins/command/driver/main.c '<stiction/world.h>' '"words.h"'
    put plugins/command/driver/words.h '<stiction/base.h>'
    put core/cli/options.h '"base/text.h"'
    put core/cli/check/check.h '"cli/options.h"'
    put core/cli/check/check.c '"cli/check/check.h"'
    put core/cli/sweep/sweep.h '"cli/options.h"'
    put core/cli/main.c '"cli/check/check.h"'
    put plugins/solver/common/shared.h '<stiction/base.h>'
    put plugins/solver/a/a.h '<stiction/world.h>'
    put plugins/solver/a/a.c '"a.h"' '"common/shared.h"'
    put plugins/solver/b/b.c '<stiction/world.h>' '<math.h>'
    put plugins/script/lua/bind.h '<lua.h>' '<stiction/world.h>'
    put plugins/script/lua/parts/part.h '<stiction/base.h>'
    put plugins/script/lua/parts/part.c '"bind.h"' '"part.h"'
    put plugins/script/lua/others/other.h '<stiction/base.h>'
    put plugins/mesh/assimp/worker/read.c '<assimp/scene.h>' '<stiction/world.h>'
    put scripts/templates/law/my_plugin.c '<stiction/world.h>'
}

# breaks WHAT FILE INCLUDE...: with such a file the test fails and says WHAT
breaks() {
    local what=$1 said
    shift
    sound
    put "$@"
    if said=$(bash "$source/tests/abi/test_includes.sh" .); then
        echo "not found: $*"
        failed=1
    elif [[ $said != *"$what"* ]]; then
        echo "$* should be told as \"$what\", was: $said"
        failed=1
    fi
}

sound
bash "$source/tests/abi/test_includes.sh" . || failed=1
breaks 'lies above core/base' core/base/text.h '"world/world.h"'
breaks 'must be written "room/file.h"' core/world/step.c '"world.h"'
breaks 'is not public' core/world/step.c '<world/world.h>'
breaks 'lies in a sister folder' core/cli/check/check.c '"cli/sweep/sweep.h"'
breaks 'stands beside core/world' core/world/step.c '"query/query.h"'
breaks 'lies above core/world' core/world/step.c '"record/record.h"'
breaks 'must be <stiction/...>' core/include/stiction/world.h '"world/world.h"'
breaks 'is no header of C' core/include/stiction/world.h '<unistd.h>'
breaks 'is no file of its own plugin' plugins/solver/b/b.c '"a/a.h"'
breaks 'is no file of its own plugin' plugins/solver/common/shared.h '"a/a.h"'
breaks 'leaves its folder' plugins/solver/b/b.c '"../a/a.h"'
breaks 'is not public' plugins/solver/b/b.c '<base/text.h>'
breaks 'is no file of its own plugin' scripts/templates/law/my_plugin.c '"law/my_plugin.h"'
breaks 'lies in a sister folder' plugins/script/lua/parts/part.c '"others/other.h"'
breaks 'is not public' plugins/script/lua/bind.h '<plugins/solver/a/a.h>'
breaks 'is no file of its own plugin' plugins/script/lua/bind.h '"world/world.h"'
breaks 'is no file of its own plugin' plugins/command/driver/main.c '"base/text.h"'
breaks 'is for plugins/script/lua/ alone' core/world/step.c '<lua.h>'
breaks '(Lua) is for' plugins/mesh/assimp/worker/read.c '"lua.h"'
breaks '(assimp) is for' plugins/solver/a/a.c '<assimp/scene.h>'
breaks '(HDF5) is for' core/base/text.h '<hdf5.h>'
breaks 'is for plugins/factor/cholmod/ alone' plugins/solver/b/b.c '<cholmod.h>'
breaks 'a circle of includes' core/include/stiction/base.h '<stiction/world.h>'
breaks 'a circle of includes' core/base/text.h '"base/text.h"'
breaks 'core/cli/check/check.h' core/cli/options.h '"cli/check/check.h"'
breaks 'a circle of includes' plugins/solver/a/a.h '"a.h"'
sound
echo 'stn_plugin_find(context, STN_KIND_SOLVER, "sap");' >core/world/step.c
! bash "$source/tests/abi/test_includes.sh" . >/dev/null || { echo "not found: a plugin by name" && failed=1; }
sound
mkdir core/attic
! bash "$source/tests/abi/test_includes.sh" . >/dev/null || { echo "not found: a folder that is no room" && failed=1; }
rmdir core/attic
echo '    core/attic is a room' >>docs/architecture.md
! bash "$source/tests/abi/test_includes.sh" . >/dev/null || { echo "not found: a room that is not there" && failed=1; }
exit $failed
