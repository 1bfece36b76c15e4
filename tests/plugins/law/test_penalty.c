// SPDX-License-Identifier: Apache-2.0
// The law penalty against its forces written down as they are, and what it refuses.
#include <string.h>

#include "law_fixture.h"

/// Two contacts of a point mass of 2 kg; the first is the one that tests look at.
static void begin(fixture *f) {
    static const double A[9] = {2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0};
    static const double rows[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    memset(f, 0, sizeof *f);
    assert_ok(stn_context_create(NULL, &f->context, &f->err), f->err);
    assert_ok(stn_instance_create(f->context, STN_KIND_LAW, "penalty", NULL, 0, &f->instance, &f->err), f->err);
    f->ops = f->instance->desc->ops.law;
    scene_begin(&f->scene, f->context, 7);
    scene_tree(&f->scene, 3, A);
    for (int32_t i = 0; i < 2; i++) {
        stn_constraint *c = scene_constraint(&f->scene, 3, 0, rows, -1, NULL);
        c->w = 0.5 / sqrt(3.0);
        c->stiffness = 1e4;
        c->relaxation_time = 1e-3;
        f->constraint[i] = i;
    }
    scene_finish(&f->scene);
    f->batch = (stn_law_batch){2, STN_LANES, f->constraint, f->coefficients};
}

static void end(fixture *f) {
    scene_end(&f->scene);
    stn_instance_destroy(f->instance);
    stn_context_destroy(f->context);
}

static stn_status prepare(fixture *f) {
    memset(f->coefficients, 0xff, sizeof f->coefficients);
    return f->ops->prepare(f->instance->self, &f->scene.problem, &f->batch, NULL, &f->err);
}

static void it_is_a_spring_and_dampers_of_the_velocity_before(void **state) {
    fixture *f = *state;
    begin(f);
    stn_problem *p = &f->scene.problem;
    stn_constraint *c = &p->constraints[0];
    p->bias[0] = 0.25; // a belt
    for (int i = 0; i < 2000; i++) {
        bool rigid = scene_integer(&f->scene, 0, 2) == 0;
        c->stiffness = rigid ? (double)INFINITY : pow(10.0, scene_uniform(&f->scene, 1.0, 9.0));
        c->phi0 = 1e-3 * scene_normal(&f->scene);
        c->mu1 = c->mu2 = scene_uniform(&f->scene, 0.0, 2.0);
        for (int a = 0; a < 3; a++) {
            p->v0[a] = 0.3 * scene_normal(&f->scene);
            f->v_c[a * STN_LANES] = scene_normal(&f->scene);
        }
        assert_ok(prepare(f), f->err);
        f->ops->evaluate(f->instance->self, &f->batch, f->v_c, f->cost, f->gamma, f->G);

        double dt = p->dt, period = 30.0 * dt, k = rigid ? pow(2.0 * STN_PI / period, 2.0) / c->w : c->stiffness;
        double slip[2] = {p->v0[0] + 0.25, p->v0[1]}, speed = hypot(slip[0], slip[1]);
        double damping = rigid ? sqrt(k / c->w) : k * c->relaxation_time;
        double n = c->phi0 < 0.0 ? dt * fmax(-k * c->phi0 - damping * p->v0[2], 0.0) : 0.0;
        double t = fmin(dt * sqrt(k / c->w) * speed, c->mu1 * n);
        double size = dt * (k * fabs(c->phi0) + damping * fabs(p->v0[2])), gamma[3], cost = 0.0;
        for (int a = 0; a < 3; a++) {
            gamma[a] = f->gamma[a * STN_LANES];
            cost -= gamma[a] * f->v_c[a * STN_LANES];
        }
        assert_near(gamma[2], n, 1e-13 * size);
        assert_near(gamma[0], -t * slip[0] / speed, 1e-13 * size * (1.0 + c->mu1));
        assert_near(gamma[1], -t * slip[1] / speed, 1e-13 * size * (1.0 + c->mu1));
        assert_near(f->cost[0], cost, 1e-13 * (size + fabs(cost)));
        for (int e = 0; e < 6; e++) {
            assert_true(f->G[e * STN_LANES] == 0.0);
        }
    }
    end(f);
}

static void a_velocity_that_is_no_number_or_not_there_is_named(void **state) {
    fixture *f = *state;
    begin(f);
    stn_problem *p = &f->scene.problem;
    for (int a = 0; a < 3; a++) {
        p->v0[a] = (double)NAN;
        assert_int_equal(prepare(f), STN_ERR_NUMERIC);
        assert_non_null(strstr(f->err.text, "slip before the step = nan m/s must be finite"));
        p->v0[a] = 0.0;
    }
    assert_ok(prepare(f), f->err);
    p->form = STN_FORM_LOCAL;
    assert_int_equal(prepare(f), STN_ERR_NUMERIC);
    assert_non_null(strstr(f->err.text, "a local problem has no v0: solve it in its global form"));
    p->form = STN_FORM_GLOBAL;
    end(f);
}

int main(void) {
    static fixture f;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(it_is_a_spring_and_dampers_of_the_velocity_before, &f),
        cmocka_unit_test_prestate(a_velocity_that_is_no_number_or_not_there_is_named, &f),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
