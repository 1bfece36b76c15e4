// SPDX-License-Identifier: Apache-2.0
// Patches: 200 compliant faces on 12 and 14 dofs. All solvers solve them; those that solve one formulation agree.
#include <stiction/solve.h>

#include "stn_patch_scene.h"
#include "stn_setting.h"
#include "stn_test.h"

enum { SIDE = 10, MOST_DOFS = 16, MOST_ROWS = 6 * SIDE * SIDE };

typedef struct bench {
    stn_context *context;
    scene slides, holds, twists;
} bench;

typedef struct outcome {
    double v[MOST_DOFS], gamma[MOST_ROWS];
    stn_solve_report report;
    stn_certificate certificate;
} outcome;

static int setup(void **state) {
    static bench b;
    stn_error err;
    if (stn_context_create(NULL, &b.context, &err) != STN_OK) {
        return -1;
    }
    scene_begin(&b.slides, b.context, 1);
    scene_patch_slab(&b.slides, SIDE, 0.02);
    scene_begin(&b.holds, b.context, 1);
    scene_patch_gripper(&b.holds, SIDE, 20.0, 0.0);
    scene_begin(&b.twists, b.context, 1);
    scene_patch_gripper(&b.twists, SIDE, 20.0, 0.05);
    *state = &b;
    return 0;
}

static int teardown(void **state) {
    bench *b = *state;
    scene_end(&b->slides);
    scene_end(&b->holds);
    scene_end(&b->twists);
    stn_context_destroy(b->context);
    return 0;
}

static stn_status solve(const bench *b, const stn_problem *problem, const char *id, const char *law, double tolerance,
                        outcome *out, stn_error *err) {
    const stn_setting settings[] = {number_setting("tolerance", tolerance), number_setting("max_iterations", 20000.0)};
    stn_instance *solver = NULL, *with = NULL;
    stn_problem_solver *problem_solver = NULL;
    stn_problem p = *problem;
    stn_solution solution = {.v = out->v, .gamma = out->gamma};
    const stn_solve_request request = {.masses = true};
    assert_ok(stn_instance_create(b->context, STN_KIND_SOLVER, id, settings, STN_COUNT(settings), &solver, err), *err);
    if (law != NULL) {
        assert_ok(stn_instance_create(b->context, STN_KIND_LAW, law, NULL, 0, &with, err), *err);
    }
    const stn_problem_solver_options options = {.solver = solver, .law = with};
    assert_ok(stn_problem_solver_create(b->context, &options, &problem_solver, err), *err);
    stn_status status =
        stn_problem_solve(problem_solver, &p, &request, &solution, &out->report, &out->certificate, err);
    stn_problem_solver_destroy(problem_solver);
    stn_instance_destroy(with);
    stn_instance_destroy(solver);
    return status;
}

/// Largest difference of two velocities, relative to the largest change of velocity by the contacts.
static double apart(const stn_problem *p, const outcome *a, const outcome *b) {
    double most = 0.0, scale = 0.0;
    for (int32_t i = 0; i < p->nv; i++) {
        most = worse(most, fabs(a->v[i] - b->v[i]));
        scale = fmax(scale, fabs(a->v[i] - p->v_star[i]));
    }
    return most / scale;
}

static void laws_whose_force_is_linear_take_faces(void **state) {
    const bench *b = *state;
    const char *const laws[] = {"sap", "lagged", "lagged_regularized", "similar"};
    const scene *const scenes[] = {&b->slides, &b->holds, &b->twists};
    for (int32_t i = 0; i < STN_COUNT(laws) * STN_COUNT(scenes); i++) {
        outcome out;
        stn_error err;
        const stn_problem *p = &scenes[i / STN_COUNT(laws)]->problem;
        assert_ok(solve(b, p, "sap", laws[i % STN_COUNT(laws)], 1e-9, &out, &err), err);
        assert_true(out.certificate.momentum <= 1e-9 && out.certificate.law_residual <= 1e-9);
        assert_true(out.report.iterations <= 20);
    }
}

static void laws_of_points_name_the_face_that_they_refuse(void **state) {
    const bench *b = *state;
    const char *const laws[] = {"hertz", "table", "barrier"};
    for (int32_t i = 0; i < STN_COUNT(laws); i++) {
        outcome out;
        stn_error err;
        assert_int_equal(solve(b, &b->holds.problem, "sap", laws[i], 1e-9, &out, &err), STN_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, "contact 0 (id 1) is a face of a patch, whose pressure grows linearly with "
                                         "depth; the force of law "));
        assert_non_null(strstr(err.text, laws[i]));
    }
}

/// The convex relaxation has one v. Rows outnumber dofs by 40: operators of impulses are as singular as can be.
static void convex_solvers_give_the_velocities_of_sap(void **state) {
    const bench *b = *state;
    const char *const solvers[] = {"apgd", "admm_split", "ipm"}; // admm iterates as admm_split, at ten times the cost
    const scene *const scenes[] = {&b->slides, &b->holds, &b->twists};
    for (int32_t i = 0; i < STN_COUNT(scenes); i++) {
        static outcome sap, other;
        stn_error err;
        const stn_problem *p = &scenes[i]->problem;
        assert_ok(solve(b, p, "sap", "sap", 1e-12, &sap, &err), err);
        for (int32_t k = 0; k < STN_COUNT(solvers); k++) {
            stn_status status = solve(b, p, solvers[k], "sap", 1e-8, &other, &err);
            print_message("%s: %d iterations, v off by %.1e, natural map %.1e\n", solvers[k], other.report.iterations,
                          apart(p, &sap, &other), other.certificate.natural_ccp);
            assert_ok(status, err);
            assert_true(apart(p, &sap, &other) <= 1e-6);
        }
    }
}

/// With k finite, Coulomb friction has one set of normal impulses for a v; tangential ones are not unique.
static void solvers_of_coulomb_friction_agree(void **state) {
    const bench *b = *state;
    const char *const solvers[] = {"nsgs", "pgs", "newton_ncp", "admm_split_ncp", "auto"};
    const scene *const scenes[] = {&b->slides, &b->holds, &b->twists};
    for (int32_t i = 0; i < STN_COUNT(scenes); i++) {
        static outcome first, other;
        stn_error err;
        const stn_problem *p = &scenes[i]->problem;
        assert_ok(solve(b, p, "bisection", NULL, 1e-10, &first, &err), err);
        for (int32_t k = 0; k < STN_COUNT(solvers); k++) {
            assert_ok(solve(b, p, solvers[k], NULL, 1e-10, &other, &err), err);
            print_message("%s: %d iterations, v off by %.1e, Coulomb map %.1e\n", solvers[k], other.report.iterations,
                          apart(p, &first, &other), other.certificate.natural_ncp);
            assert_true(other.certificate.natural_ncp <= 1e-9);
            assert_true(apart(p, &first, &other) <= 1e-6);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_whose_force_is_linear_take_faces),
        cmocka_unit_test(laws_of_points_name_the_face_that_they_refuse),
        cmocka_unit_test(convex_solvers_give_the_velocities_of_sap),
        cmocka_unit_test(solvers_of_coulomb_friction_agree),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
