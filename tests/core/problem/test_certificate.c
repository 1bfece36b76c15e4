// SPDX-License-Identifier: Apache-2.0
// The certificate of solutions that are known, and that each kind of error shows in its own residual.
#include "stn_test.h"

#include <string.h>

#include <stiction/certificate.h>

/// A point mass on a half space, one contact: v_star = (slip, 0, -fall), gamma in closed form.
typedef struct block {
    stn_problem problem;
    stn_problem_tree tree;
    stn_constraint constraint;
    double A[9], J[9], v0[3], v_star[3], v_guess[3], bias[3], lo[3], hi[3], R[3], v_hat[3], guess[3];
    double v[3], gamma[3];
} block;

static const double mass = 2.0, mu = 0.5;

static void block_init(block *b, double slip, double fall) {
    memset(b, 0, sizeof *b);
    b->problem = (stn_problem){.form = STN_FORM_GLOBAL, .theta = 1.0, .dt = 0.01, .nv = 3, .tree_count = 1, .constraint_count = 1,
                               .row_count = 3, .trees = &b->tree, .constraints = &b->constraint, .v0 = b->v0, .v_star = b->v_star,
                               .v_guess = b->v_guess, .bias = b->bias, .lo = b->lo, .hi = b->hi, .R = b->R, .v_hat = b->v_hat,
                               .gamma_guess = b->guess};
    for (int32_t i = 0; i < 3; i++) {
        b->A[4 * i] = mass;
        b->J[4 * i] = 1.0;
        b->lo[i] = -INFINITY;
        b->hi[i] = INFINITY;
    }
    b->tree.A = (stn_matrix){.n = 3, .form = STN_MATRIX_DENSE, .values = b->A};
    b->constraint = (stn_constraint){.id = 1, .set = STN_SET_CONE, .rows = 3, .J = {{.tree = 0, .values = b->J}, {.tree = -1}},
                                     .phi0 = 0.0, .stiffness = INFINITY, .relaxation_time = 0.0, .mu1 = mu, .mu2 = mu,
                                     .w = 1.0 / (mass * sqrt(3.0)), .w_trace = 3.0 / mass, .memory = -1};
    b->v_star[0] = slip;
    b->v_star[2] = -fall;
    // rigid Coulomb contact: the fall is stopped, friction as large as the cone allows
    double friction = fmin(mu * mass * fall, mass * slip);
    b->gamma[2] = mass * fall;
    b->gamma[0] = -friction;
    b->v[0] = slip - friction / mass;
}

static stn_certificate certify(block *b, uint32_t flags) {
    stn_context *context = NULL;
    stn_inverse *inverse = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    assert_ok(stn_inverse_create(context, &inverse, &err), err);
    assert_ok(stn_inverse_factor(inverse, &b->problem, NULL, &err), err);
    stn_arena *arena = stn_arena_create(context);
    stn_certificate c;
    assert_ok(stn_certify(&b->problem, b->v, b->gamma, NULL, NULL, inverse, flags, arena, &c, &err), err);
    stn_arena_destroy(arena);
    stn_inverse_destroy(inverse);
    stn_context_destroy(context);
    return c;
}

static void exact_coulomb_solutions_have_no_residual(void **state) {
    (void)state;
    const double slips[] = {0.2, 3.0}; // sticks, slides
    for (int32_t i = 0; i < 2; i++) {
        block b;
        block_init(&b, slips[i], 1.0);
        stn_certificate c = certify(&b, STN_CERTIFICATE_SCALED);
        assert_true(c.finite);
        assert_near(c.momentum, 0.0, 1e-15);
        assert_near(c.natural_ncp, 0.0, 1e-15);
        assert_near(c.natural_scaled, 0.0, 1e-15);
        assert_near(c.cone, 0.0, 1e-15);
        assert_near(c.penetration_m, 0.0, 1e-15);
        assert_near(c.friction_work_J, 0.0, 0.0);
        assert_true(isnan(c.law_residual)); // no law was asked for
        // the convex relaxation wants v_n = mu |v_t| while sliding: the map is the distance to that, in closed form
        double v_t = b.v[0];
        assert_true(i == 0 ? c.natural_ccp < 1e-15 : c.natural_ccp > 0.1 * mu * v_t);
    }
}

static void each_error_shows_in_its_own_residual(void **state) {
    (void)state;
    block b;
    block_init(&b, 3.0, 1.0);
    b.v[0] += 0.1; // momentum: |D A dv| / |D A v|, D A = sqrt(m) here
    stn_certificate c = certify(&b, 0);
    double p = sqrt(mass) * b.v[0], j = hypot(b.gamma[0], b.gamma[2]) / sqrt(mass);
    assert_near(c.momentum, sqrt(mass) * 0.1 / fmax(p, j), 1e-14);
    assert_near(c.natural_ncp, 0.0, 1e-14); // still on the cone, still opposed to the slip

    block_init(&b, 3.0, 1.0);
    b.gamma[0] *= 1.2; // outside of the cone by 0.2 mu gamma_n
    c = certify(&b, 0);
    assert_near(c.cone, 0.2 * mu, 1e-14);

    block_init(&b, 3.0, 1.0);
    b.gamma[0] *= -1.0; // friction that pushes
    c = certify(&b, 0);
    assert_near(c.friction_work_J, mu * mass * 1.0 * b.v[0], 1e-14);
    assert_true(c.natural_ncp > 0.1);

    block_init(&b, 3.0, 1.0);
    b.v[2] = -0.25; // still falling
    c = certify(&b, 0);
    assert_near(c.penetration_m, 0.01 * 0.25, 1e-16);
    assert_true(c.natural_ncp > 0.05);

    block_init(&b, 3.0, 1.0);
    b.gamma[2] = -0.3; // pulls
    b.gamma[0] = 0.0;
    c = certify(&b, 0);
    assert_near(c.cone, 0.3 * mu / 1e-12, 1e-3 / 1e-12);
}

static void box_rows_are_judged_by_their_bounds(void **state) {
    (void)state;
    block b;
    block_init(&b, 0.0, 1.0);
    b.constraint.set = STN_SET_BOX;
    b.constraint.kind = STN_CONSTRAINT_LIMIT;
    for (int32_t r = 0; r < 3; r++) {
        b.lo[r] = 0.0;
        b.R[r] = 1e-6;
    }
    b.gamma[2] = 1.0 / (1.0 / mass + 1e-6); // v + R gamma = 0
    b.v[2] = -1.0 + b.gamma[2] / mass;
    stn_certificate c = certify(&b, 0);
    assert_near(c.natural_ccp, 0.0, 1e-15);
    assert_near(c.box, 0.0, 0.0);
    b.gamma[0] = -0.02;
    c = certify(&b, 0);
    assert_near(c.box, 0.02, 1e-16);
    assert_true(c.natural_ccp > 1e-3);
}

static void nan_is_not_lost(void **state) {
    (void)state;
    block b;
    block_init(&b, 3.0, 1.0);
    b.gamma[1] = NAN;
    stn_certificate c = certify(&b, 0);
    assert_false(c.finite);
    assert_true(isnan(c.momentum) && isnan(c.natural_ncp) && isnan(c.natural_ccp) && isnan(c.cone));
    block_init(&b, 3.0, 1.0);
    b.v[2] = NAN;
    c = certify(&b, 0);
    assert_false(c.finite);
    assert_true(isnan(c.momentum) && isnan(c.penetration_m) && isnan(c.natural_ncp));
}

static void light_leaves_the_natural_maps_out(void **state) {
    (void)state;
    block b;
    block_init(&b, 3.0, 1.0);
    stn_certificate c = certify(&b, STN_CERTIFICATE_LIGHT);
    assert_near(c.momentum, 0.0, 1e-15);
    assert_true(isnan(c.natural_ncp) && isnan(c.natural_ccp) && isnan(c.natural_scaled));
}

static void merging_keeps_the_worst(void **state) {
    (void)state;
    stn_certificate a = {.momentum = 1.0, .cone = NAN, .box = NAN, .finite = true};
    stn_certificate b = {.momentum = 2.0, .cone = 3.0, .box = NAN, .finite = false};
    stn_certificate_merge(&a, &b);
    assert_near(a.momentum, 2.0, 0.0);
    assert_near(a.cone, 3.0, 0.0);
    assert_true(isnan(a.box));
    assert_false(a.finite);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_coulomb_solutions_have_no_residual),
        cmocka_unit_test(each_error_shows_in_its_own_residual),
        cmocka_unit_test(box_rows_are_judged_by_their_bounds),
        cmocka_unit_test(nan_is_not_lost),
        cmocka_unit_test(light_leaves_the_natural_maps_out),
        cmocka_unit_test(merging_keeps_the_worst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
