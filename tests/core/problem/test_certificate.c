// SPDX-License-Identifier: Apache-2.0
// The certificate of solutions that are known, and that each kind of error shows in its own residual.
#include "stn_test.h"

#include <string.h>

#include <stiction/certificate.h>
#include <stiction/plugin.h>

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
    b->problem = (stn_problem){.form = STN_FORM_GLOBAL,
                               .theta = 1.0,
                               .dt = 0.01,
                               .nv = 3,
                               .tree_count = 1,
                               .constraint_count = 1,
                               .row_count = 3,
                               .trees = &b->tree,
                               .constraints = &b->constraint,
                               .v0 = b->v0,
                               .v_star = b->v_star,
                               .v_guess = b->v_guess,
                               .bias = b->bias,
                               .lo = b->lo,
                               .hi = b->hi,
                               .R = b->R,
                               .v_hat = b->v_hat,
                               .gamma_guess = b->guess};
    for (int32_t i = 0; i < 3; i++) {
        b->A[4 * i] = mass;
        b->J[4 * i] = 1.0;
        b->lo[i] = -INFINITY;
        b->hi[i] = INFINITY;
    }
    b->tree.A = (stn_matrix){.n = 3, .form = STN_MATRIX_DENSE, .values = b->A};
    b->constraint = (stn_constraint){.id = 1,
                                     .set = STN_SET_CONE,
                                     .rows = 3,
                                     .J = {{.tree = 0, .values = b->J}, {.tree = -1}},
                                     .phi0 = 0.0,
                                     .stiffness = INFINITY,
                                     .relaxation_time = 0.0,
                                     .mu1 = mu,
                                     .mu2 = mu,
                                     .w = 1.0 / (mass * sqrt(3.0)),
                                     .w_trace = 3.0 / mass,
                                     .memory = -1};
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
    assert_ok(stn_inverse_factor(inverse, &b->problem, &err), err);
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
    assert_near(c.cone, mu / 1e-12,
                1e-3 / 1e-12); // of 1e-12 of the largest impulse, where there is none along the normal
}

static void box_rows_are_judged_by_their_bounds(void **state) {
    (void)state;
    block b;
    block_init(&b, 0.0, 1.0);
    b.constraint.set = STN_SET_BOX;
    b.constraint.kind = STN_CONSTRAINT_JOINT_LIMIT;
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

static void the_slack_of_the_coulomb_map_is_the_future_gap_over_dt(void **state) {
    (void)state;
    block b;
    block_init(&b, 0.2, 1.0);
    // phi0 + (dt + tau_d) v_n + gamma_n/(k dt) = 0, with v_n = -fall + gamma_n/m, makes gamma_n
    double dt = b.problem.dt, tau = 0.03, k = 1e4, phi0 = 0.002;
    b.constraint.phi0 = phi0;
    b.constraint.relaxation_time = tau;
    b.constraint.stiffness = k;
    double normal = ((dt + tau) * 1.0 - phi0) / ((dt + tau) / mass + 1.0 / (k * dt));
    b.gamma[2] = normal;
    b.v[2] = -1.0 + normal / mass;
    assert_true(mass * 0.2 < mu * normal); // sticks
    stn_certificate c = certify(&b, STN_CERTIFICATE_SCALED);
    assert_near(c.momentum, 0.0, 1e-15);
    assert_near(c.natural_ncp, 0.0, 1e-14);
    assert_near(c.natural_scaled, 0.0, 1e-14);
    b.v[2] += 1e-3; // moves the gap by (dt + tau_d) 1e-3
    assert_near(certify(&b, 0).natural_ncp, 1e-3 * (dt + tau) / dt, 1e-12);
    b.constraint.phi0 = NAN; // at velocity level the slack is v_n itself, and nothing is known of penetration
    c = certify(&b, 0);
    assert_true(isnan(c.penetration_m));
    assert_true(c.natural_ncp > 1e-3);
}

static void complementarity_is_the_mean_defect_over_the_energy(void **state) {
    (void)state;
    block b;
    block_init(&b, 3.0, 1.0);
    b.v[2] = 0.1; // g . gamma = v_t gamma_t + v_n gamma_n
    stn_certificate c = certify(&b, 0);
    double defect = fabs(b.v[0] * b.gamma[0] + 0.1 * b.gamma[2]);
    double p = mass * (b.v[0] * b.v[0] + 0.01), j = (b.gamma[0] * b.gamma[0] + b.gamma[2] * b.gamma[2]) / mass;
    assert_near(c.complementarity_J, defect, 1e-15);
    assert_near(c.complementarity, defect / (0.5 * fmax(p, j)), 1e-14);
}

static void an_ellipse_has_its_own_limits_along_each_direction(void **state) {
    (void)state;
    block b;
    block_init(&b, 0.0, 1.0);
    b.constraint.set = STN_SET_ELLIPSE;
    b.constraint.mu2 = 0.25;
    b.v_star[1] = 3.0; // slides along t2: gamma_2 = -mu2 gamma_n
    b.gamma[1] = -0.25 * b.gamma[2];
    b.v[1] = 3.0 + b.gamma[1] / mass;
    stn_certificate c = certify(&b, 0);
    assert_near(c.natural_ncp, 0.0, 1e-15);
    assert_near(c.cone, 0.0, 1e-15);
    b.constraint.mu2 = 0.0; // no friction there: what it does is all forbidden
    c = certify(&b, 0);
    assert_near(c.cone, 0.25, 1e-15);
    assert_near(c.natural_ncp, 0.25 * b.gamma[2] / mass, 1e-15);
    b.gamma[1] = 0.0;
    b.v[1] = 3.0;
    assert_near(certify(&b, 0).natural_ncp, 0.0, 1e-15);
}

static void an_error_against_nothing_is_no_small_error(void **state) {
    (void)state;
    block b;
    block_init(&b, 3.0, 1.0);
    memset(b.v, 0, sizeof b.v); // "at rest, no impulse" does not follow from v_star != 0
    memset(b.gamma, 0, sizeof b.gamma);
    assert_true(certify(&b, 0).momentum > 1e10);
    memset(b.v_star, 0, sizeof b.v_star);
    assert_near(certify(&b, 0).momentum, 0.0, 0.0);
}

static void what_cannot_be_expressed_by_v_star_is_part_of_the_balance(void **state) {
    (void)state;
    block b;
    block_init(&b, 0.2, 1.0);
    double impulse[3] = {0.0, 0.4, 0.0};
    b.problem.free_impulse = impulse;
    assert_true(certify(&b, 0).momentum > 0.1);
    b.v[1] = 0.2; // m v_1 = 0.4
    assert_near(certify(&b, 0).momentum, 0.0, 1e-15);
}

static void a_singular_A_is_measured_by_the_largest_inertia_of_its_tree(void **state) {
    (void)state;
    block b;
    block_init(&b, 0.0, 1.0);
    stn_context *context = NULL;
    stn_error err;
    stn_certificate c;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_arena *arena = stn_arena_create(context);
    b.A[4] = 0.0; // nothing resists along t2
    b.gamma[1] = 0.3;
    assert_ok(stn_certify(&b.problem, b.v, b.gamma, NULL, NULL, NULL, 0, arena, &c, &err), err);
    double j = hypot(b.gamma[1], b.gamma[2]); // |D J^T gamma| sqrt(m)
    assert_near(c.momentum, 0.3 / j, 1e-15);
    memset(b.A, 0, sizeof b.A); // no inertia at all: impulses as they are
    assert_ok(stn_certify(&b.problem, b.v, b.gamma, NULL, NULL, NULL, 0, arena, &c, &err), err);
    assert_near(c.momentum, 1.0, 1e-15);
    stn_arena_destroy(arena);
    stn_context_destroy(context);
}

// The block as a local problem, W = I/m, once more with a bilateral row that says nothing new and one that matters.
static void a_local_problem_is_judged_by_its_impulses_alone(void **state) {
    (void)state;
    block b;
    block_init(&b, 3.0, 1.0);
    double W[9] = {1.0 / mass, 0.0, 0.0, 0.0, 1.0 / mass, 0.0, 0.0, 0.0, 1.0 / mass};
    double V[3] = {0.0, 0.0, 1.0}, R = 1.0, s = 0.0;
    stn_problem local = b.problem;
    local.form = STN_FORM_LOCAL;
    local.nv = local.tree_count = 0;
    local.W = W;
    local.q = b.v_star;
    stn_context *context = NULL;
    stn_error err;
    stn_certificate c;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_arena *arena = stn_arena_create(context);
    for (int32_t k = 0; k < 2; k++) {
        assert_ok(stn_certify(&local, NULL, b.gamma, NULL, NULL, NULL, STN_CERTIFICATE_SCALED, arena, &c, &err), err);
        assert_true(c.finite && isnan(c.momentum) && isnan(c.complementarity));
        assert_near(c.natural_ncp, 0.0, 1e-14);
        assert_near(c.natural_scaled, 0.0, 1e-14);
        local.bilateral_count = 1; // W_eff = W - V V^T/R: a second copy of 1/m along the normal keeps it as it was
        local.V = V;
        local.R_bilateral = &R;
        local.s = &s;
        W[8] += 1.0;
    }
    V[2] = 0.5;
    assert_ok(stn_certify(&local, NULL, b.gamma, NULL, NULL, NULL, 0, arena, &c, &err), err);
    assert_true(c.natural_ncp > 0.1);
    stn_arena_destroy(arena);
    stn_context_destroy(context);
}

static void nothing_to_certify_is_certified(void **state) {
    (void)state;
    block b;
    block_init(&b, 3.0, 1.0);
    b.problem.constraint_count = b.problem.row_count = 0;
    memcpy(b.v, b.v_star, sizeof b.v);
    stn_certificate c = certify(&b, STN_CERTIFICATE_SCALED);
    assert_true(c.finite);
    assert_near(c.momentum, 0.0, 1e-15);
    const double zero[] = {c.complementarity, c.complementarity_J, c.cone,
                           c.penetration_m,   c.natural_ncp,       c.natural_ccp,
                           c.natural_scaled,  c.friction_work_J,   c.box};
    for (int32_t i = 0; i < STN_COUNT(zero); i++) {
        assert_near(zero[i], 0.0, 0.0);
    }
}

static void nan_in_the_problem_is_not_finite_either(void **state) {
    (void)state;
    block b;
    block_init(&b, 3.0, 1.0);
    b.bias[0] = NAN;
    stn_certificate c = certify(&b, STN_CERTIFICATE_SCALED);
    assert_false(c.finite);
    assert_true(isnan(c.natural_ncp) && isnan(c.natural_ccp) && isnan(c.natural_scaled) && isnan(c.friction_work_J));
    block_init(&b, 3.0, 1.0);
    b.v_star[1] = NAN;
    c = certify(&b, 0);
    assert_false(c.finite);
    assert_true(isnan(c.momentum));
    block_init(&b, 3.0, 1.0);
    b.gamma[0] = INFINITY;
    assert_false(certify(&b, 0).finite);
}

static void a_failure_leaves_the_result_untouched(void **state) {
    (void)state;
    block b;
    block_init(&b, 3.0, 1.0);
    stn_context *context = NULL;
    stn_error err;
    stn_certificate c = {.momentum = 42.0}, before = c;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_arena *arena = stn_arena_create(context);
    assert_int_equal(stn_certify(&b.problem, b.v, b.gamma, NULL, NULL, NULL, STN_CERTIFICATE_SCALED, arena, &c, &err),
                     STN_ERR_ARGUMENT);
    assert_memory_equal(&c, &before, sizeof c);
    stn_arena_destroy(arena);
    stn_context_destroy(context);
}

// A sticking contact: H = diag(m + 1/R_i), scaled by A: 1 + 1/(m R_i).
static void the_condition_of_a_sticking_block_is_that_of_its_regularisation(void **state) {
    (void)state;
    block b;
    stn_context *context = NULL;
    stn_instance *instance = NULL;
    stn_error err;
    block_init(&b, 0.0, 0.0);
    assert_ok(stn_context_create(NULL, &context, &err), err);
    assert_ok(stn_instance_create(context, STN_KIND_LAW, "sap", NULL, 0, &instance, &err), err);
    const stn_law law = {.ops = instance->desc->ops.law, .self = instance->self, .id = "sap"};
    stn_arena *arena = stn_arena_create(context);
    const double R[3] = {1e-3, 1e-3, 1e-2};
    double condition = 0.0;
    memcpy(b.R, R, sizeof R);
    memset(b.v, 0, sizeof b.v);
    b.v_hat[2] = 1.0;
    b.problem.explicit_R = true;
    assert_ok(stn_condition_number(&b.problem, b.v, &law, NULL, arena, &condition, &err), err);
    assert_near(condition, (1.0 + 1.0 / (mass * 1e-3)) / (1.0 + 1.0 / (mass * 1e-2)), 1e-5 * condition);
    b.v[2] = 2.0; // open: H = A
    assert_ok(stn_condition_number(&b.problem, b.v, &law, NULL, arena, &condition, &err), err);
    assert_near(condition, 1.0, 1e-12);
    b.problem.form = STN_FORM_LOCAL;
    assert_int_equal(stn_condition_number(&b.problem, b.v, &law, NULL, arena, &condition, &err), STN_ERR_UNSUPPORTED);
    stn_arena_destroy(arena);
    stn_instance_destroy(instance);
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_coulomb_solutions_have_no_residual),
        cmocka_unit_test(each_error_shows_in_its_own_residual),
        cmocka_unit_test(box_rows_are_judged_by_their_bounds),
        cmocka_unit_test(nan_is_not_lost),
        cmocka_unit_test(light_leaves_the_natural_maps_out),
        cmocka_unit_test(the_slack_of_the_coulomb_map_is_the_future_gap_over_dt),
        cmocka_unit_test(complementarity_is_the_mean_defect_over_the_energy),
        cmocka_unit_test(an_ellipse_has_its_own_limits_along_each_direction),
        cmocka_unit_test(an_error_against_nothing_is_no_small_error),
        cmocka_unit_test(what_cannot_be_expressed_by_v_star_is_part_of_the_balance),
        cmocka_unit_test(a_singular_A_is_measured_by_the_largest_inertia_of_its_tree),
        cmocka_unit_test(a_local_problem_is_judged_by_its_impulses_alone),
        cmocka_unit_test(nothing_to_certify_is_certified),
        cmocka_unit_test(nan_in_the_problem_is_not_finite_either),
        cmocka_unit_test(a_failure_leaves_the_result_untouched),
        cmocka_unit_test(the_condition_of_a_sticking_block_is_that_of_its_regularisation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
