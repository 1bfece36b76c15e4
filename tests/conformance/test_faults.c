// SPDX-License-Identifier: Apache-2.0
// stiction validate: each wrong plugin is caught by the check that is there for it.
#include "stn_command.h"

/// A fault, the check that must catch it, and words that its line must hold.
static const struct {
    const char *plugin, *check, *words;
} faults[] = {
    {"solver/wrong_friction", "closed forms", "a point that sticks: gamma = ("},
    {"solver/wrong_mu", "mu = 0", "a tangential impulse of"},
    {"solver/wrong_square", "rotation of the world", "not converged (iterations) after 20000 iterations, error "},
    {"solver/wrong_square", "closed forms", "a point that slides: not converged"},
    {"solver/wrong_approximate_square", "kinds and sets", "(an approximate solver: 'not converged' always)"},
    {"solver/wrong_approximate_friction", "random problems", "natural_ncp is above that without any impulse in"},
    {"solver/wrong_few", "random problems", "not converged, expected at most"},
    {"solver/wrong_approximate_none", "statuses and outputs",
     "returned 'ok', and the solver says that it is approximate"},
    {"solver/wrong_not_finite", "statuses and outputs", "numbers that are not finite"},
    {"solver/wrong_not_finite", "random problems", "came out as nan"},
    {"solver/wrong_input", "inputs unchanged", "changed its input: R"},
    {"solver/wrong_drift", "same bytes again", "made again with a fresh workspace: gamma["},
    {"solver/wrong_memory", "same bytes again", "made again with a fresh workspace: gamma["},
    {"solver/wrong_memory", "islands", "with other islands solved before"},
    {"solver/wrong_claim", "random problems", "says 'ok' (residual), but natural_ncp over the speed is"},
    {"solver/wrong_claim", "tolerances", "at tolerance 1e-03: says 'ok' (residual), but natural_ncp over the speed is"},
    {"solver/wrong_claim", "contacts that contradict each other", "says 'ok' (residual), but no velocity satisfies it"},
    {"solver/wrong_tolerance", "awkward problems", "velocities of 1e-15 m/s, problem 0: says 'ok'"},
    {"solver/wrong_polyhedron", "random problems", "says 'ok' (residual), but the map of a polyhedral cone is"},
    {"solver/wrong_dissipation", "random problems", "says 'ok' (residual), but dissipation is"},
    {"solver/wrong_tolerance", "change of units", "numbers of mass x "},
    {"solver/wrong_crash", "kinds and sets", "crashed: ended by signal 6"},
    {"solver/wrong_hang", "iteration limit", "hangs: no end after 1 s"},
    {"solver/wrong_leave", "iteration limit", "ended the process with exit status 0"},
    {"solver/wrong_limit", "iteration limit", "5 iterations, max_iterations was 1"},
    {"solver/wrong_failure", "statuses and outputs", "had changed gamma[0], expected outputs untouched"},
    {"solver/wrong_reason", "statuses and outputs", "gave no reason for stopping"},
    {"solver/wrong_ellipse", "kinds and sets", "with the set 'ellipse' alone: not converged"},
    {"solver/wrong_allocation", "no allocation", "allocations, expected none"},
    {"solver/wrong_scale", "closed forms", "a point at rest in the floor: not converged, at gamma = ("},
    {"solver/wrong_scratch", "same bytes again", "changed static data, at 0x"},
    {"solver/wrong_print", "no contacts", "printed \"0 rows\", expected nothing"},
    {"solver/wrong_start", "start at the solution", "3 iterations (expected 0 or 1)"},
    {"factor/wrong_transpose_all", "random matrices", "|A x - b| is "},
    {"factor/wrong_digits", "ill-conditioned matrices", "|A x - b| is "},
    {"factor/wrong_columns", "patterns", "|A x - b| is "},
    {"factor/wrong_columns", "right-hand sides", "7 right-hand sides at once differ"},
    {"factor/wrong_stale", "new values in an old factor", "give other bytes than in a new one"},
    {"factor/wrong_pattern", "inputs", "the pattern given to symbolic was needed later"},
    {"factor/wrong_values", "inputs", "numeric changed the matrix"},
    {"factor/wrong_allocation", "no allocation", "made 5 allocations, expected none"},
    {"factor/wrong_pivot", "bad pivots", "of block "},
    {"factor/wrong_refactor", "changing blocks", "by refactor, "},
    {"factor/wrong_order", "orders", "which is no block, or is there already"},
    {"factor/wrong_weak_pivot", "weak pivots", "expected -1 where none is"},
    {"integrator/wrong_gravity", "free fall", "v_z = "},
    {"integrator/wrong_springs", "spring", "order "},
    {"integrator/wrong_velocity", "free fall", "v_z = "},
    {"integrator/wrong_velocity", "convergence", "a double pendulum"},
    {"integrator/wrong_gyroscope", "free flight", "of its angular momentum in 1 s at dt = 1 ms"},
    {"integrator/wrong_quaternions", "free flight", "the norm of the quaternion is off by"},
    {"integrator/wrong_contacts", "rest on the ground", "expected 0.1 m to 1 mm"},
    {"integrator/wrong_counter", "same states again", "step 1 after a reset has another state"},
    {"integrator/wrong_still", "free fall", "step 1: "},
    {"integrator/wrong_quasistatic_none", "balance of forces", "says that it is quasistatic, but 1 steps after"},
    {"integrator/wrong_allocation", "no allocation", "made 100 allocations, expected none"},
    {"law/wrong_gradient", "gradient", "differs from -dl/dv by "},
    {"law/wrong_hessian", "Hessian", "differs from -dgamma/dv by "},
    {"law/wrong_curl", "curl-free", "dgamma/dv is not symmetric"},
    {"law/wrong_softening", "convex", "G is not positive semidefinite, least scaled minor"},
    {"law/wrong_constant", "zero when open", "open: cost 1e-06 J"},
    {"law/wrong_friction", "work never positive", "friction works: gamma_t.v_t = "},
    {"law/wrong_pull", "work never positive", "pulls, and it does not say that it is adhesive"},
    {"law/wrong_pull", "zero when open", "leaving overlap: gamma_n = "},
    {"law/wrong_adhesive_none", "work never positive", "says that it is adhesive, and pulls at none of "},
    {"law/wrong_explicit_none", "work never positive", "says that it is explicit, and gamma changes with v_c"},
    {"law/wrong_mu", "mu = 0", "a tangential impulse of "},
    {"law/wrong_padding", "padding lanes", "is padding (count 1) and gives cost "},
    {"law/wrong_lanes", "padding lanes", "evaluate of lanes 0 to 7 of 16 writes "},
    {"law/wrong_input", "same bytes again", "changed its input: the constraints or R"},
    {"law/wrong_drift", "same bytes again", "the same contacts give other bytes"},
    {"law/wrong_memory", "memory and commit", "commit writes outside of the 13 slots of 8 bytes"},
    {"law/wrong_not_a_number", "NaN refused by name", "mu1 = nan is taken, and gives gamma_n = "},
    {"law/wrong_transition_low", "slip", "friction at transition_speed = 0.0001 m/s is 0.7071 of its limit"},
    {"law/wrong_transition_high", "slip", "at half of it 0.9992; expected at least 0.99, and less"},
    {"law/wrong_glide", "slip", "glide_gap = 0 m, but the contact pushes from a gap of "},
    {"contact/wrong_order", "declares what it is", "handles a half_space with a sphere in one order alone"},
    {"contact/wrong_centre", "points on the shapes", "m outside of one of them, phi0 = "},
    {"contact/wrong_normal", "normals", "a sphere and a sphere, origins together: no contact that is deeper than "},
    {"contact/wrong_bent", "normals", "along the normal from A into B changes phi0 by "},
    {"contact/wrong_turn", "normals", "a half_space and a sphere, origins together: no contact"},
    {"contact/wrong_turn", "either order", "from opposite"},
    {"contact/wrong_upright", "rotation of the world", ", in a turned world 0"},
    {"contact/wrong_margin", "apart", "apart by more than the margin of 0.002 m, and 1 contacts"},
    {"contact/wrong_counter", "same again", "other contacts, 0 allocations"},
    {"contact/wrong_hidden", "NaN in the input", "one of them at x = nan: 1 contacts"},
    {"controller/wrong_infinite", "finite, on its own joints", "tau = "},
    {"controller/wrong_joint", "finite, on its own joints", "acts on joint 2, which is not in its target"},
    {"controller/wrong_limits", "effort limits", "its motor can "},
    {"controller/wrong_gain", "gains >= 0", "D has the eigenvalue -1"},
    {"controller/wrong_counter", "same again", "in the same state once more: other efforts"},
    {"controller/wrong_counter", "steps of a world", "after a reset has another state"},
    {"controller/wrong_counter", "gains >= 0", "changed static data, at 0x"},
    {"controller/wrong_gain_counter", "same again", "in the same state once more: other gains, K[0][0] = "},
    {"controller/wrong_state", "same again", "writes outside of its 8 bytes of state"},
    {"controller/wrong_allocation", "same again", "made 1 allocations in a step, expected none"},
    {"controller/wrong_reference", "same again", "changed q, v or its references"},
    {"element/wrong_force", "forces from the energy", "N, but the energy falls by "},
    {"element/wrong_geometric", "K and D symmetric, >= 0", "K: asymmetry "},
    {"element/wrong_stiffness", "K and D of the force", "but the force says "},
    {"element/wrong_ground", "no force on the whole", "the forces of an element add up to ("},
    {"element/wrong_cable", "K and D of the force", "whose sides differ: one-sided elements say slack"},
    {"element/wrong_slack_soft", "K and D of the force", ", and neither side is right"},
    {"element/wrong_slack_none", "K and D of the force", "says slack, and its force is smooth"},
    {"element/wrong_linear", "no force on the whole", "the forces of an element add up to ("},
    {"element/wrong_small_ground", "no force on the whole", "about the nodes at rest"},
    {"element/wrong_small_none", "no force on the whole", "says small_strain, and"},
    {"element/wrong_load_stores", "forces from the energy", "says load and stores "},
    {"element/wrong_load_none", "no force on the whole", "says load, and its forces balance each other"},
    {"element/wrong_drive", "damping takes energy", "does work: "},
    {"element/wrong_drive", "K and D of the force", "D[0][0] = "},
    {"element/wrong_sum", "alone and in a batch", "has other forces, K, D or energy than alone"},
    {"element/wrong_point", "degenerate elements", "rest positions that are all one point: status 'ok'"},
    {"constraint/wrong_rate", "J is the derivative of phi", ", and phi changes by "},
    {"constraint/wrong_rope", "one-sided is said", "what comes and goes is one-sided, and says slack"},
    {"constraint/wrong_pull", "one-sided is said", "it pulls or pushes alone, which is one-sided: say slack"},
    {"constraint/wrong_slack_rate", "J is the derivative of phi", ", and phi changes by "},
    {"constraint/wrong_slack_none", "one-sided is said", "says slack, and in 50 states nothing is one-sided"},
    {"constraint/wrong_reaction", "momentum", "its forces do not add up to nothing"},
    {"constraint/wrong_line", "momentum", "its forces do not add up to nothing"},
    {"constraint/wrong_count", "steps of a world", "after a reset has another state than the first time"},
    {"constraint/wrong_many", "steps of a world", "and 0 are left of row_count"},
    {"constraint/wrong_number", "J is the derivative of phi", "row 0: phi = nan must be finite"},
    {"constraint/wrong_state", "declares what it is", "state_size gave 4 bytes, its outputs need 8"},
    {"constraint/wrong_large_energy", "energy", ": its rows do work at "},
    {"constraint/wrong_negative_energy", "energy", ": its rows do work at "},
    {"constraint/wrong_no_energy", "energy", "the elastic energy became nan J"},
    {"constraint/wrong_work", "work of channels", " J, and input_work is 0 J"},
    {"constraint/wrong_output", "outputs are numbers", "output longer is nan, must be finite"},
    {"constraint/wrong_word", "outputs are numbers", "output side is 2, and has 2 words from 0 on"},
    {"constraint/wrong_channel", "inputs unchanged", "wrote into the view's reference"},
    {"constraint/wrong_huge", "declares what it is", "state_size gave 1152921504606846976 bytes"},
    {"constraint/wrong_part", "steps of a world", "emitted two blocks with the same part"},
    {"loader/wrong_greed", "declares what it is", "recognises an empty file"},
    {"loader/wrong_path", "malformed files", "expected one line that names "},
    {"loader/wrong_half", "damaged files", "and 2 robots in the builder, before 1"},
    {"loader/wrong_limits", "saved and loaded", "last joint hinge up to 3; was saved of 6 kg, hinge up to 0.75"},
    {"loader/wrong_crash", "malformed files", "crashed: ended by signal 6"},
    {"mesh/wrong_greed", "declares what it is", "recognises an empty file"},
    {"mesh/wrong_name", "malformed files", "expected one line that begins with "},
    {"mesh/wrong_corner", "damaged files", "an index beyond the vertices"},
    {"mesh/wrong_leak", "damaged files", "2 pieces of memory are left"},
    {"mesh/wrong_crash", "damaged files", "crashed: ended by signal 6"},
    {"mesh/wrong_clock", "reads its example", "the same bytes, read twice, give two meshes"},
    {"mesh/wrong_memory", "out of memory", "request 1 for memory fails: invalid argument, expected out of memory"},
    {"problem_file/wrong_greed", "declares what it is", "recognises an empty file"},
    {"problem_file/wrong_name", "malformed files", "expected one line that begins with "},
    {"problem_file/wrong_exact", "written and read", "\"exact\", but "},
    {"problem_file/wrong_friction", "written and read", "read with 0.5, or is of another set"},
    {"problem_file/wrong_rows", "written and read", "the problem that was read is another one: W + R differs by "},
    {"problem_file/wrong_silent", "written and read", " constraints were written, "},
    {"problem_file/wrong_halfway", "written and read", "refused, but 4 bytes were put"},
    {"problem_file/wrong_leak", "malformed files", "1 pieces of memory are left"},
    {"problem_file/wrong_crash", "damaged files", "crashed: ended by signal 6"},
    {"script/wrong_dot", "declares what it is", "extension \".Box\", expected small letters"},
    {"script/wrong_path", "missing file", "expected one line that names the file"},
    {"script/wrong_words", "what is no script", "run returns 0, expected a negative status"},
    {"script/wrong_steps", "example", "0 steps by the host"},
    {"script/wrong_world", "example", "1 worlds were left without end"},
    {"script/wrong_options", "command line", "--dt 0.004: its world steps by 0.002 s"},
    {"script/wrong_parameter", "command line", "the script declares no such parameter"},
    {"script/wrong_stop", "stops when asked", "run returns 0, expected STN_ERR_INTERRUPTED"},
    {"script/wrong_world", "stops when asked", "1 worlds were left without end"},
    {"script/wrong_counter", "same again", "two runs of the example differ"},
    {"recorder/wrong_dot", "declares what it is", "extension \".Times\", expected small letters"},
    {"recorder/wrong_empty", "a run gives a file", "40 steps were recorded, and the file has 0 bytes"},
    {"recorder/wrong_bodies", "a world without bodies", ": no body"},
    {"recorder/wrong_steps", "closed at once", "closed before the first step: "},
    {"recorder/wrong_push", "same run", "end in another state than without"},
    {"recorder/wrong_file", "two recordings", "two recordings at once: "},
    {"recorder/wrong_path", "bad paths", "expected a failure in one line that names the path"},
    {"recorder/wrong_disk", "full disk", "expected a failure that names the path"},
};

static void each_fault_is_caught_by_its_check(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char words[256], line[256];
        snprintf(words, sizeof words, "validate %s -k '%s' --timeout %d", faults[i].plugin, faults[i].check,
                 strcmp(faults[i].plugin, "solver/wrong_hang") == 0 ? 1 : 300);
        snprintf(line, sizeof line, "FAILED %s: ", faults[i].check);
        const stn_run *run = stn_run_to(words, 1);
        if (strstr(run->out, line) == NULL || strstr(run->out, faults[i].words) == NULL ||
            strstr(run->out, "what to do: ") == NULL) {
            fail_msg("stiction %s: no \"%s...%s\" in: %s", words, line, faults[i].words, run->out);
        }
    }
}

/// The same checks find nothing in the plugin that the wrong ones are made from.
static void the_plugin_without_a_fault_passes_those_checks(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char words[256];
        bool again = i > 0 && strcmp(faults[i].check, faults[i - 1].check) == 0;
        int kind = (int)strcspn(faults[i].plugin, "/");
        const char *right = strcmp(faults[i].check, "balance of forces") == 0 ? "quasistatic_still" : "none";
        snprintf(words, sizeof words, "validate %.*s/wrong_%s -k '%s'", kind, faults[i].plugin, right, faults[i].check);
        if (!again) {
            stn_expect_part(words, 0, "1 passed, 0 failed\n");
        }
    }
}

/// With the word that it needs each of these passes its whole battery.
static void plugins_that_say_what_they_are_pass(void **state) {
    (void)state;
    static const char *const plugins[] = {"solver/wrong_approximate_few",       "law/wrong_adhesive_pull",
                                          "integrator/wrong_quasistatic_still", "element/wrong_slack_cable",
                                          "element/wrong_small_linear",         "constraint/wrong_slack_rope",
                                          "constraint/wrong_slack_pull"};
    for (int32_t i = 0; i < STN_COUNT(plugins); i++) {
        char words[256];
        snprintf(words, sizeof words, "validate %s --timeout 300", plugins[i]);
        stn_expect_part(words, 0, " passed, 0 failed");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_caught_by_its_check),
        cmocka_unit_test(the_plugin_without_a_fault_passes_those_checks),
        cmocka_unit_test(plugins_that_say_what_they_are_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
