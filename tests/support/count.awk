# SPDX-License-Identifier: Apache-2.0
# awk -f count.awk REPORT LOG: "passed failed skipped" of unit tests, from what ctest printed (the verdicts; its log calls a missing
# program passed) and logged (what the programs said). Every cmocka test counts, every other program is one test; a
# program that fails beyond its tests (crash, leak, set-up) is one more failure.
function finish() {
    if (name == "") return
    if (tests == 0) { ok = verdict[name] == "passed"; skip = verdict[name] == "skipped"; bad = !ok && !skip }
    else if (verdict[name] == "passed") { ok += unknown }
    else { bad += unknown; if (bad == 0) bad = 1 }
    passed += ok; skipped += skip; failed += bad
}
FNR == NR {
    if (match($0, /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /)) {
        split(substr($0, RSTART + RLENGTH), words, " ")
        verdict[words[1]] = / Passed +[0-9.]+ sec/ ? "passed" : /\*\*\*(Skipped|Not Run \(Disabled\))/ ? "skipped" : "failed"
    }
    next
}
/^[0-9]+\/[0-9]+ Testing: /        { finish(); name = $3; tests = ok = skip = bad = unknown = 0 }
/^\[ RUN      \] /                 { tests++; unknown++ }
unknown && /^\[       OK \] /      { ok++; unknown-- }
unknown && /^\[  SKIPPED \] /      { skip++; unknown-- }
unknown && /^\[  FAILED  \] /      { bad++; unknown-- }
END { finish(); printf "%d %d %d\n", passed, failed, skipped }
