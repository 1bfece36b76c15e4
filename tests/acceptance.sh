#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# acceptance.sh [--all] [BLOCK]...: measures again what docs/status.md states, block after block, with the release build; without names
# every block but the long ones. It judges nothing, the tests do. Needs jq; the references in ../shared for half of the blocks.
set -uo pipefail

root=$(dirname "$(dirname "$(readlink -f "$0")")")
build=$root/build/release
stiction=$build/bin/stiction
shared=$(readlink -m "$root/../shared")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PATH=$build/bin:$PATH STICTION_CACHE=off OPENBLAS_CORETYPE=Haswell OMP_THREAD_LIMIT=1
cd "$root" || exit 2

quick=(start arm_sweep clutter robots malformed trees formats own_robots towers problems references published robust
    constraints controllers sensors tasks runner allocations recording law_table grasps single_contacts quadruped patches dual_arm messages)
long=(reach dual_arm_table patch_table property stiffness storm laws law_cost stiction table_2 fclib validate)

# What a test program says of its figures, without the frame around it.
program() { "$build/tests/test_$1" "${@:2}" 2>&1 | grep -vE '^ *(\[|$)'; }

# A scenario without progress; its summary is what is looked at.
scenario() { "$stiction" run "$@" 2>&1 | grep -vE '^(warning|  ok  )'; }

# One line of what --json says: steps, iterations, time and errors.
line() {
    "$stiction" run "$@" --json 2>/dev/null | jq -r '
        def e: tostring | tonumber as $x | if $x == 0 then "0" else ($x | log10 | floor) as $p | (($x / pow(10; $p) * 100 | round) / 100 | tostring) + "e" + ($p | tostring) end;
        "iterations \(.iterations.mean * 100 | round / 100) / \(.iterations.p99) / \(.iterations.max), median \(.step_us.median * 10 | round / 10) us, p99 \(.step_us.p99 | round) us; " +
        "momentum error \(.certificate.momentum.max | e), overlap \(.overlap_m.max | e) m, energy rise \(.energy_J.max_increase | e) J of \(.energy_J.first | e), " +
        "unsolved \(.not_converged) of \(.steps), allocations a step \(.allocations_per_step * 1000 | round / 1000)"'
}

# --------------------------------------------------------------------------------------------- the command, robots

start() {
    ./dev run >/dev/null 2>&1
    time ./dev run >/dev/null 2>&1
}

arm_sweep() {
    local file dt
    for file in "$shared"/models/iiwa14/drake_models/iiwa_description/urdf/iiwa14_{primitive,spheres}_collision.urdf \
        "$shared/models/iiwa14_mesh/kuka_iiwa/model.urdf"; do
        for dt in 4e-3 2e-3 1e-3 5e-4; do
            echo "$(basename "$file") dt $dt: $(line scripts/arm_sweep.lua --set robot="$file" --dt $dt)"
        done
    done
}

clutter() {
    local placement
    for placement in paper columns; do
        echo "$placement, 10 ms, mu 0.5, rigid: $(line scripts/clutter.lua --set bodies=40 --set placement=$placement)"
        echo "$placement, 2 ms, mu 1, k 1e7: $(line scripts/clutter.lua --set bodies=40 --set placement=$placement --dt 2e-3 --set mu=1 --set stiffness=1e7)"
    done
}

robots() {
    program cli_info_public | grep -E 'robots|loads'
    "$build/bench/urdf"
}

malformed() { program loader_urdf_malformed; }
trees() { program loader_urdf_dynamics; }

formats() {
    program loader_save | awk '{ for (i = 2; i < NF; i++) if ($i ~ /^(FK|M|bias)$/ && $(i + 1) + 0 > worst[$i]) worst[$i] = $(i + 1) + 0; n++ }
        END { printf "%d readings, worst FK %.1e, M %.1e, bias %.1e\n", n, worst["FK"], worst["M"], worst["bias"] }'
    program loader_save_mujoco | tail -n 3
}

own_robots() {
    local robot task
    for robot in iiwa14 panda panda_hand wsg50 allegro_right allegro_left anymal humanoid; do
        for task in "hold 60" "sine 10"; do
            set -- $task
            echo "$robot $1:" "$("$stiction" run scripts/own_robots.lua --set robot=$robot --set task=$1 --seconds $2 2>&1 |
                sed -nE 's/^ +//; s/^(mass_kg = .*)/\1/p; s/^(ok|FAILED) +(.*)/\2/p' | paste -sd ';')"
        done
    done
}

# --------------------------------------------------------------------------------------------- collision

# 100,000 pairs of every two shapes: an hour
property() { program contact_point --full "${CASES-100000}"; }

towers() {
    "$stiction" test tests/scenario/towers.lua tests/scenario/incline.lua --full | grep -vE '^$'
    local shape tumbled dt seed
    for shape in box cylinder rock; do
        for tumbled in false true; do
            for dt in 0.002 0.01; do
                printf '%s tumbled=%s dt %s: rms speed [m/s] of seeds 1 to 5:' $shape $tumbled $dt
                for seed in 1 2 3 4 5; do
                    scenario scripts/piles.lua --set shape=$shape --set tumbled=$tumbled --dt $dt --set seed=$seed | awk '/jitter_linear/ { printf " %.1e", $3 }'
                done
                echo
            done
        done
    done
}

# --------------------------------------------------------------------------------------------- solvers and laws

problems() { program solver_sap_reference | head -n 3; program solver_convex; }
references() {
    "$stiction" run tests/papers/reference.lua --set command="$stiction" --set shared="$shared" --set full=true 2>/dev/null |
        awk '$NF ~ /e/ && $(NF - 1) ~ /e/ { ratio = $(NF - 1) / $NF; if (ratio > worst[$1]) { worst[$1] = ratio; at[$1] = $0 } rows[$1]++; if (ratio > 1) above++ }
            END { for (name in rows) printf "%4d rows, worst: %s\n", rows[name], at[name]; printf "above tolerance: %d\n", above + 0 }' | sort
}

published() {
    scenario scripts/papers/sap/spring_cylinder.lua --set mu=0 | head -n 12
    scenario scripts/papers/sap/spring_cylinder.lua --set convergence=true | head -n 24
    scenario scripts/papers/sap/clutter.lua | head -n 12
    scenario scripts/papers/sap/slip_parameter.lua | head -n 9
    scenario scripts/papers/sap/convergence_history.lua | head -n 18
}

robust() { scenario scripts/papers/sap/robust.lua; }
stiffness() { scenario scripts/papers/sap/stiffness.lua | head -n 14; }
storm() { "$build/bench/storm"; }

constraints() {
    local name
    for name in four_bar mimic_gripper effort_limited_arm tendon_finger tendon_solvers capstan; do
        scenario scripts/$name.lua | grep -E ' = '
    done
}

controllers() {
    scenario -q scripts/controllers/response.lua
    scenario -q scripts/controllers/grips.lua
    scenario -q scripts/controllers/limits.lua
    scenario -q scripts/controllers/switch.lua
    "$stiction" test tests/scenario/controllers.lua 2>&1 | grep -E 'error|shows|passed'
}

sensors() { "$stiction" test tests/scenario/sensors.lua 2>&1 | grep -E ' off at up|largest difference|deviations|passed'; }

# 1,000 reaches among obstacles: minutes
reach() { "$stiction" run scripts/controllers/reach.lua --set tasks=1000 2>&1; }

tasks() {
    scenario -q scripts/tasks/pick_cube.lua
    scenario -q scripts/tasks/pick_cube.lua --set pulls=1
    "$stiction" test tests/scenario/tasks.lua tests/scenario/move_to.lua 2>&1 | grep -E 'passed|FAIL'
}

# A suite with a pass, a failure, a time-out, a crash and a skip, and whether what the failed ones leave opens.
runner() {
    local name
    cat >"$scratch/suite.lua" <<'TEXT'
local stn = require "stiction"
stn.describe("box", { limit_s = 2 }, function()
  stn.before_each(function()
    local world = stn.world { dt = 0.01 }
    return world, world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 1 } }
  end)
  local function fall(world) for _ in world:run { seconds = 0.1 } do end end
  stn.it("falls", function(world, box)
    fall(world)
    stn.near(box:velocity().linear[3], -0.981, { tolerance = 1e-9, unit = "m/s" }, "speed")
  end)
  stn.it("floats", function(world, box)
    fall(world)
    stn.near(box:velocity().linear[3], 0, { tolerance = 1e-9, unit = "m/s" }, "speed")
  end)
  stn.it("hangs", function(world)
    fall(world)
    while true do end
  end)
  stn.it("crashes", function(world)
    fall(world)
    os.execute "kill -ABRT $PPID"
  end)
  stn.it("is seen", function() stn.skip "no camera" end)
end)
TEXT
    cd "$scratch" || return
    echo "text"; "$stiction" test suite.lua --artifacts failed
    echo "TAP"; "$stiction" test suite.lua --artifacts '' --tap 2>&1
    echo "JUnit"; "$stiction" test suite.lua --artifacts '' --junit out.xml >/dev/null 2>&1; cat out.xml
    for name in failed/suite.lua/*.html; do
        "$stiction" replay "$name" --check 2>&1 | head -n 1
        "$stiction" run --from "${name%.html}.capsule.json" 2>&1 | head -n 2
    done
    cd "$root" || return
}

law_table() { scenario scripts/papers/icf/law_table.lua | awk 'NF > 5 && $1 !~ /:$/ && $NF ~ /e[-+]/ && $NF + 0 > w[$1 " " $2] { w[$1 " " $2] = $NF + 0 } END { for (k in w) print k, "worst relative error", w[k] }' | sort; }
laws() {
    scenario scripts/papers/icf/clutter_laws.lua --set study=time
    scenario scripts/papers/icf/clutter_laws.lua --set study=dt
    scenario scripts/papers/icf/clutter_laws.lua --set study=stiffness
}
law_cost() { sh tests/bench/law_cost.sh; }
grasps() { scenario scripts/grasps/table.lua --set stiction=0; }
stiction() { scenario scripts/grasps/table.lua --set solvers=sap --set stiction=600; }

single_contacts() { scenario scripts/papers/per_contact/single_contacts.lua --set file="$shared/reference/h_single_contact/problems.csv"; }
table_2() { scenario scripts/papers/per_contact/table_2.lua --set seconds=100; }

quadruped() {
    local task
    for task in stand trot free_fall; do
        echo "$task sap: $(line scripts/quadruped.lua --set task=$task)"
        echo "$task bisection: $(line scripts/quadruped.lua --set task=$task --solver bisection)"
    done
}

fclib() { "$build/bench/fclib" "$shared/fclib" --timeout 6; }

validate() {
    local id
    for id in $("$stiction" plugins | awk '{ print $2 }'); do
        echo "$id: $("$stiction" validate "$id" 2>&1 | tail -n 1)"
    done
}

# --------------------------------------------------------------------------------------------- patches

patches() {
    program contact_hydroelastic_reference
    program contact_hydroelastic
    program contact_hydroelastic_continuity | sort -g -k 9 | tail -n 1
    scenario scripts/papers/sap/slip_control.lua
    scenario scripts/patches/energy.lua
    scenario scripts/patches/cost.lua
    "$build/bench/contact_hydroelastic"
}
dual_arm() {
    scenario scripts/dual_arm.lua
    "$stiction" test tests/scenario/dual_arm.lua --jobs 2 --full 2>/dev/null | grep -E '^(ok|FAIL|[0-9])'
    line scripts/dual_arm_hold.lua
}
dual_arm_table() {
    scenario scripts/papers/sap/dual_arm.lua
    scenario scripts/papers/sap/dual_arm.lua --set runs="ipm:sap:1e-3 bisection:none:1e-3 admm_split:sap:1e-3"
}
patch_table() { scenario scripts/papers/sap/slip_control_table.lua; }

# --------------------------------------------------------------------------------------------- the rest

allocations() {
    program world_allocation
    echo "clutter, 2 s: $("$stiction" run scripts/clutter.lua --json 2>/dev/null | jq .allocations_per_step) allocations a step"
}

recording() {
    local name
    for name in clutter arm_sweep dual_arm_hold; do
        "$stiction" run scripts/$name.lua -q --record "$scratch/$name.html" >/dev/null 2>&1
        echo "$name: $(stat -c %s "$scratch/$name.html") bytes"
    done
}

messages() {
    printf 'local stn = require "stiction"\nstn.world { solver = { "sap", tolerence = 1e-6 } }\n' >"$scratch/a.lua"
    local command
    while IFS= read -r command; do
        eval "$command" 2>&1 | tail -n 2 | sed "s|$scratch|.|g"
        echo "    exit ${PIPESTATUS[0]}"
    done <<TEXT
$stiction run nothere.lua
$stiction run $scratch/a.lua
$stiction run scripts/clutter.lua --set bodes=40
$stiction run scripts/clutter.lua --solver spa
$stiction solve $scratch/a.lua
TEXT
}

names=("${quick[@]}")
[ "${1-}" != --all ] || { names+=("${long[@]}"); shift; }
[ $# = 0 ] || names=("$@")
for name in "${names[@]}"; do
    [[ " ${quick[*]} ${long[*]} " == *" $name "* ]] || { echo "no block $name; there are ${quick[*]} ${long[*]}" >&2; exit 2; }
    echo "== $name"
    $name 2>&1 | sed 's/^/    /'
done
