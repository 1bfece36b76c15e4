// SPDX-License-Identifier: Apache-2.0
// Numbers at the ends of what a double holds: every solver comes to its end, in no more iterations than it was given,
// and none says "converged" of residuals that are not finite.
#include <stdlib.h>

#include "every_solver.h"
#include "stn_scene.h"

static const double extremes[] = {1e154, -1e154, 1e-154, 1e300, -1e300, 1e-300, 5e-324, 1e8, -1e-8, 0.0};

static double any_extreme(scene *s) {
    return extremes[scene_integer(s, 0, STN_COUNT(extremes) - 1)];
}

/// One entry of a Jacobian, or all of a constraint's rows, on one side.
static void spoil_jacobian(scene *s, stn_constraint *c) {
    int32_t n = c->rows * s->problem.trees[c->J[0].tree].A.n, row = scene_integer(s, 0, 2);
    double *J = (double *)(uintptr_t)c->J[0].values, value = any_extreme(s);
    switch (scene_integer(s, 0, 3)) {
    case 0:
        for (int32_t i = 0; i < n; i++) {
            J[i] *= value;
        }
        return;
    case 1: // a row of zeros, on both sides
        memset(J + row * (n / c->rows), 0, (size_t)(n / c->rows) * sizeof *J);
        return;
    default:
        J[scene_integer(s, 0, n - 1)] = value;
    }
}

/// One number somewhere, as a file may state it.
static void spoil(scene *s) {
    stn_problem *p = &s->problem;
    stn_constraint *c = &p->constraints[scene_integer(s, 0, p->constraint_count - 1)];
    double value = any_extreme(s);
    stn_matrix *A = &p->trees[scene_integer(s, 0, p->tree_count - 1)].A;
    switch (scene_integer(s, 0, 9)) {
    case 0:
        p->v_star[scene_integer(s, 0, p->nv - 1)] = value;
        return;
    case 1:
        p->bias[scene_integer(s, 0, p->row_count - 1)] = value;
        return;
    case 2:
        c->phi0 = value;
        return;
    case 3:
        c->stiffness = fabs(value);
        return;
    case 4:
        c->mu1 = c->mu2 = fabs(value);
        return;
    case 5:
        for (int64_t i = 0; i < stn_matrix_value_count(A); i++) {
            A->values[i] *= value != 0.0 ? fabs(value) : 1.0;
        }
        return;
    case 6:
        p->gamma_guess[c->row + 2] = fabs(value);
        return;
    default:
        spoil_jacobian(s, c);
    }
}

static bool is_infinite(double x) {
    return isinf(x) != 0;
}

/// What a certificate may not hold beside a claim: NaN stands for "does not apply" in some members.
static bool claims_too_much(const stn_certificate *c) {
    return !c->finite || isnan(c->momentum) || is_infinite(c->momentum) || !isfinite(c->natural_ncp) ||
           !isfinite(c->natural_ccp) || is_infinite(c->natural_scaled) || is_infinite(c->natural_ccp_scaled) ||
           is_infinite(c->complementarity) || is_infinite(c->law_residual) || !isfinite(c->cone);
}

static void solve_extreme(fixture *f, const solver_way *way, uint64_t seed, int32_t counts[4]) {
    enum { ITERATIONS = 50, ROUNDS = 40 }; // auto asks its solvers in turn, each to its end
    static double v[MULTICONTACT_MOST], gamma[MULTICONTACT_MOST];
    scene s;
    scene_begin(&s, f->context, seed);
    scene_random(&s, 1 + (int32_t)(seed % 5), 10.0, 2.0);
    for (int32_t k = scene_integer(&s, 1, 2); k > 0; k--) {
        spoil(&s);
    }
    bool stated = seed % 2 == 1; // a file may state inverse masses, whatever its Jacobians make of them
    for (int32_t i = 0; i < s.problem.constraint_count && stated; i++) {
        s.problem.constraints[i].w = 1.0;
        s.problem.constraints[i].w_trace = 3.0;
    }
    stn_error err = {STN_OK, ""};
    if (stn_problem_check(f->context, &s.problem, &err) == STN_OK) {
        choose_way(f, way, ITERATIONS);
        const stn_solve_request request = {.masses = !stated,
                                           .certificate_flags = STN_CERTIFICATE_SCALED,
                                           .solver_memory = empty_memory(f, &s.problem)};
        stn_solution solution = {.v = v, .gamma = gamma};
        stn_status status =
            stn_problem_solve(f->problem_solver, &s.problem, &request, &solution, &f->report, &f->certificate, &f->err);
        counts[status < 0 ? 3 : status == STN_OK ? 0 : status == STN_STALLED ? 1 : 2]++;
        if ((status == STN_OK || status == STN_STALLED) && claims_too_much(&f->certificate)) {
            fail_msg("%s %s, seed %d: %s, but momentum %g, natural_ncp %g, natural_ccp %g, natural_scaled %g", way->id,
                     way->value != NULL ? way->value : "", (int)seed, stn_status_text(status), f->certificate.momentum,
                     f->certificate.natural_ncp, f->certificate.natural_ccp, f->certificate.natural_scaled);
        }
        if (status >= 0 && f->report.iterations > ITERATIONS * (strcmp(way->id, "sap") == 0 ? ROUNDS : 1)) {
            fail_msg("%s %s, seed %d: %d iterations of %d", way->id, way->value != NULL ? way->value : "", (int)seed,
                     f->report.iterations, ITERATIONS);
        }
        leave(f);
    }
    scene_end(&s);
}

static void every_solver_ends_and_claims_only_what_is_finite(void **state) {
    // under sanitizers, which take the quick tests alone, as many as end in a minute or two
    const char *tier = getenv("STICTION_TEST_TIER");
    const uint64_t seeds = tier != NULL && strcmp(tier, "quick") == 0 ? 300 : 1500;
    for (int32_t w = 0; w < STN_COUNT(every_way); w++) {
        int32_t counts[4] = {0};
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            solve_extreme(*state, &every_way[w], seed, counts);
        }
        print_message("%s %s: %d converged, %d stalled, %d not converged, %d failed\n", every_way[w].id,
                      every_way[w].value != NULL ? every_way[w].value : "", counts[0], counts[1], counts[2], counts[3]);
        assert_true(counts[0] > 0); // the harmless ones
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_solver_ends_and_claims_only_what_is_finite, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
