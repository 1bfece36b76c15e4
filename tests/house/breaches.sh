#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# breaches.sh LUA SOURCE: house.lua counts right and finds the breaches below, in a small tree made for it.
set -euo pipefail
lua=$1 source=$(readlink -f "$2")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/core/{base,world,include/stiction} "$tree"/plugins/solver/{a,b} "$tree"/tests/house
cd "$tree"
echo 'foreach(room base world)' >core/CMakeLists.txt
failed=0

sound() { # the tree as it should be: step calls text, b hands a function of its own over; one sister calls the other
    cat >core/include/stiction/world.h <<'C'
#ifndef STICTION_WORLD_H
#define STICTION_WORLD_H
/// One step.
int stn_step(int a, int b);
typedef struct stn_thing {
    int count; // of them
    /// Both in [m].
    double x, y;
} stn_thing;
#endif
C
    printf 'int stn_text(int a);\n' >core/base/text.h
    cat >core/base/text.c <<'C'
// A comment with a brace { and "a quote
int stn_text(int a) {
    return a + '{' + sizeof "}";
}
C
    cat >core/world/step.c <<'C'
#include "base/text.h"
static int once(int a) {
    return stn_text(a);
}
static int twice(int a) { return a; }

int stn_step(int a, int b) {
    int status = once(a);
    return status + twice(a) + twice(b);
}
C
    printf 'int stn_other(int a) {\n    return stn_step(a, a);\n}\n' >core/world/other.c
    printf 'static int solve(void) {\n    return 0;\n}\nstatic int (*const call)(void) = {solve};\n' >plugins/solver/a/a.c
    printf 'int stn_a(void) {\n    return 0;\n}\n' >plugins/solver/b/b.c
    rm -f plugins/solver/b/c.c
    printf '%s 1\n' core/base core/include core/world plugins/solver core plugins all >tests/house/circles.txt
}

house() { "$lua" "$source/tests/house/house.lua" . "$@"; }

# breaks WHAT: as the tree is now the check fails and says WHAT
breaks() {
    local said
    if said=$(house --check); then
        echo "not found: $1"
        failed=1
    elif [[ $said != *"$1"* ]]; then
        echo "should be told as \"$1\", was: $said"
        failed=1
    fi
}

# counts ROOM COLUMN VALUE: a figure of the table
counts() {
    local got
    got=$(house | awk -v room="$1" -v column="$2" '$1 == room { print $column }')
    [ "$got" = "$3" ] || { echo "$1: column $2 should be $3, was $got"; failed=1; }
}

sound
house --check || failed=1
counts core/world 2 2      # files
counts core/world 7 4      # functions
counts core/world 11 4     # lines of the longest
counts core/world 13 50%   # called in one place: once, not twice
counts core/base 5 20.0%   # comments
counts plugins/solver 12 0 # solve is handed over: not among those that are called
counts core/world 21 1     # no circle

# a call back up closes a circle of three, a pointer one of two
printf '#include "base/text.h"\nint stn_text(int a) {\n    return stn_other(a);\n}\n' >core/base/text.c
breaks 'core/base/text.c:3 calls stn_other of core/world/other.c; without it 1 are left'
printf 'core 3\nall 1\n' >tests/house/circles.txt
breaks 'all: 3 files call each other'
printf 'core 3\nall 3\n' >tests/house/circles.txt
house --check || failed=1
sound
printf 'int stn_c(void);\nint stn_a(void) {\n    return stn_c();\n}\n' >plugins/solver/b/b.c
printf 'int stn_a(void);\nstatic int (*const call[])(void) = {stn_a};\nint stn_c(void) {\n    return 0;\n}\n' >plugins/solver/b/c.c
breaks 'plugins/solver: 2 files call each other'
house --circles
grep -q '^plugins/solver 2$' tests/house/circles.txt || { echo "--circles did not write it"; failed=1; }
house --check || failed=1
rm tests/house/circles.txt # a new room may have eight
house --check || failed=1
sound
sed -i '3d' core/include/stiction/world.h
breaks 'core/include/stiction/world.h:3 prototype stn_step: a public declaration without a contract'
sound
sed -i 's| // of them||' core/include/stiction/world.h
breaks 'member count: a public declaration without a contract'
sound
sed -i 's|#include "base/text.h"|#include "world/other.h"|' core/world/step.c
sed -i '1i #include "world/step.h"' core/base/text.c
counts core/base 19 1 # upward
sed -i '1i #include "base/text.h"' plugins/solver/a/a.c
counts plugins/solver 18 1 # private
sound
mkdir before
cp -r core plugins tests before
printf 'int stn_new(void) {\n    return 0;\n}\n' >>core/base/text.c
house --base before | awk '$1 == "core/base" { print $0 }' | grep -q '1 > 2' || { echo "--base: a new function is not shown"; failed=1; }

# pictures: a little more code changes nothing, another room does
sound
rm -r before
mkdir -p docs/pictures
house --draw
house --drawn || failed=1
printf '\nint stn_more(void) {\n    return 0;\n}\n' >>core/base/text.c
house --drawn || failed=1
mkdir core/model
printf 'int stn_model(int a) {\n    return stn_text(a);\n}\n' >core/model/model.c
said=$(house --drawn) && { echo "--drawn: a new room is not missed"; failed=1; }
[[ $said == *"house_rooms.svg is out of date"* ]] || { echo "--drawn says: $said"; failed=1; }
exit $failed
