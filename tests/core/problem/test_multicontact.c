// SPDX-License-Identifier: Apache-2.0
// The public random multi-contact problems: all load, and their derived data come out of our own formulas.
#include <stdlib.h>
#include <string.h>

#include <stiction/delassus.h>

#include "stn_test.h"

static const char *const folder = STN_SHARED_DIR "/reference/i_multicontact";

// w to 1e-10 relative: the condition of A is up to 1e6, so solving loses six of sixteen digits.
static void problems_load_and_their_inverse_masses_come_out_again(void **state) {
    (void)state;
    skip_without(folder);
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_inverse *inverse = NULL;
    assert_ok(stn_inverse_create(context, &inverse, &err), err);
    stn_arena *arena = stn_arena_create(context);
    double worst = 0.0;
    for (int32_t i = 0; i < 100; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/p%03d.json", folder, i);
        stn_problem_owner *owner = NULL, *copy = NULL;
        assert_ok(stn_problem_load(context, path, &owner, &err), err);
        const stn_problem *p = stn_problem_of(owner);
        assert_ok(stn_problem_check(context, p, &err), err);
        assert_true(p->explicit_R && p->tree_count == 1 && p->row_count == 3 * p->constraint_count);
        assert_ok(stn_problem_copy(context, p, &copy, &err), err);
        stn_problem mutable = *stn_problem_of(copy);
        assert_ok(stn_inverse_factor(inverse, &mutable, NULL, &err), err);
        assert_ok(stn_inverse_masses(inverse, &mutable, arena, &err), err);
        for (int32_t c = 0; c < p->constraint_count; c++) {
            double w = p->constraints[c].w; // of the file
            assert_near(mutable.constraints[c].w, w, 1e-10 * w);
            assert_near(p->constraints[c].w_trace, mutable.constraints[c].w_trace, 1e-12 * p->constraints[c].w_trace);
            worst = fmax(worst, fabs(mutable.constraints[c].w - w) / w);
        }
        stn_arena_reset(arena);
        stn_problem_destroy(copy);
        stn_problem_destroy(owner);
    }
    print_message("worst relative difference of w: %.2g\n", worst);
    stn_arena_destroy(arena);
    stn_inverse_destroy(inverse);
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(problems_load_and_their_inverse_masses_come_out_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
