// SPDX-License-Identifier: Apache-2.0
// The laws lagged, similar and lagged_regularized against their forces written down as they are, and quadrature of
// them.
#include <string.h>

#include "law_fixture.h"

typedef struct contact {
    double k, d, phi0, mu, v_n0, v[3];
} contact;

typedef struct answer {
    double cost, gamma[3], G[6];
} answer;

static const double v_s = 1e-4; // of the law, by default

/// Two contacts of a point mass of 2 kg; the first is the one that tests look at.
static void begin(fixture *f, const char *id) {
    static const double A[9] = {2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0};
    static const double rows[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    memset(f, 0, sizeof *f);
    assert_ok(stn_context_create(NULL, &f->context, &f->err), f->err);
    assert_ok(stn_instance_create(f->context, STN_KIND_LAW, id, NULL, 0, &f->instance, &f->err), f->err);
    f->ops = f->instance->desc->ops.law;
    assert_true(f->ops->coefficient_count <= MAX_COEFFICIENTS);
    scene_begin(&f->scene, f->context, 7);
    scene_tree(&f->scene, 3, A);
    for (int32_t i = 0; i < 2; i++) {
        stn_constraint *c = scene_constraint(&f->scene, 3, 0, rows, -1, NULL);
        c->w = 0.5 / sqrt(3.0);
        c->stiffness = 1e4;
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

static answer law(fixture *f, contact c) {
    stn_problem *p = &f->scene.problem;
    stn_constraint *to = &p->constraints[0];
    to->stiffness = c.k;
    to->dissipation = c.d;
    to->phi0 = c.phi0;
    to->mu1 = to->mu2 = c.mu;
    p->v0[2] = c.v_n0 - p->bias[2];
    memset(f->coefficients, 0xff, sizeof f->coefficients);
    assert_ok(f->ops->prepare(f->instance->self, p, &f->batch, NULL, &f->err), f->err);
    for (int32_t a = 0; a < 3; a++) {
        f->v_c[a * f->batch.stride] = c.v[a];
    }
    f->ops->evaluate(f->instance->self, &f->batch, f->v_c, f->cost, f->gamma, f->G);
    answer out = {.cost = f->cost[0]};
    for (int32_t a = 0; a < 6; a++) {
        out.gamma[a % 3] = f->gamma[a % 3 * f->batch.stride];
        out.G[a] = f->G[a * f->batch.stride];
    }
    return out;
}

/// dt (k x0 - dt k v)+ (1 - d v)+
static double impulse(double dt, const contact *c, double v) {
    return dt * fmax(-c->k * c->phi0 - dt * c->k * v, 0.0) * fmax(1.0 - c->d * v, 0.0);
}

static contact random_contact(fixture *f) {
    scene *s = &f->scene;
    contact c = {
        .k = pow(10.0, scene_uniform(s, 1.0, 9.0)),
        .d = scene_integer(s, 0, 3) == 0 ? 0.0 : pow(10.0, scene_uniform(s, -1.0, 3.0)),
        .phi0 = scene_normal(s) * 1e-3,
        .mu = scene_uniform(s, 0.0, 2.0),
        .v_n0 = 0.3 * scene_normal(s),
    };
    double size = pow(10.0, scene_uniform(s, -6.0, 1.0));
    for (int a = 0; a < 3; a++) {
        c.v[a] = (a == 2 ? 0.5 : size) * scene_normal(s);
    }
    return c;
}

static double slip_of(const contact *c) {
    return sqrt(c->v[0] * c->v[0] + c->v[1] * c->v[1] + v_s * v_s);
}

static void lagged_is_hunt_crossley_and_friction_of_the_step_before(void **state) {
    fixture *f = *state;
    begin(f, "lagged");
    double dt = f->scene.problem.dt;
    f->scene.problem.bias[2] = 0.25; // a belt: v_n0 = (J v0 + b)_n
    for (int i = 0; i < 2000; i++) {
        contact c = random_contact(f);
        answer x = law(f, c);
        double n = impulse(dt, &c, c.v[2]);
        double before = dt * c.k * fmax(-c.phi0, 0.0) * fmax(1.0 - c.d * c.v_n0, 0.0);
        double size = dt * c.k * (fabs(c.phi0) + dt * fabs(c.v[2])) * (1.0 + c.d * fabs(c.v[2]));
        assert_near(x.gamma[2], n, 1e-13 * size);
        for (int a = 0; a < 2; a++) {
            double rounding = dt * c.k * fabs(c.phi0) * (1.0 + c.d * (fabs(c.v_n0) + 0.25));
            assert_near(x.gamma[a], -c.mu * before * c.v[a] / slip_of(&c), 1e-14 * c.mu * rounding);
        }
        assert_true(x.G[3] == 0.0 && x.G[4] == 0.0);
    }
    end(f);
}

static void similar_couples_them_within_the_step(void **state) {
    fixture *f = *state;
    begin(f, "similar");
    double dt = f->scene.problem.dt;
    for (int i = 0; i < 2000; i++) {
        contact c = random_contact(f);
        answer x = law(f, c);
        double s = slip_of(&c), z = c.v[2] - c.mu * (s - v_s), n = impulse(dt, &c, z);
        double size = dt * c.k * (fabs(c.phi0) + dt * fabs(z)) * (1.0 + c.d * fabs(z));
        assert_near(x.gamma[2], n, 1e-12 * size);
        for (int a = 0; a < 2; a++) {
            assert_near(x.gamma[a], -c.mu * n * c.v[a] / s, 1e-12 * size * (1.0 + c.mu));
        }
        assert_true(hypot(x.gamma[0], x.gamma[1]) <= c.mu * x.gamma[2] * (1.0 + 1e-14));
    }
    end(f);
}

/// Simpson's rule is exact for the cubic pieces of the normal cost: from the bound vh on there is none.
static void the_cost_of_the_normal_is_the_work_of_its_impulse(void **state) {
    fixture *f = *state;
    begin(f, "lagged");
    double dt = f->scene.problem.dt;
    for (int i = 0; i < 2000; i++) {
        contact c = random_contact(f);
        c.mu = 0.0;
        answer x = law(f, c);
        double bound = fmin(-c.phi0 / dt, 1.0 / c.d);
        double a = c.v[2], b = bound, middle = 0.5 * (a + b), work = 0.0;
        if (a < b) {
            work = (b - a) / 6.0 * (impulse(dt, &c, a) + 4.0 * impulse(dt, &c, middle) + impulse(dt, &c, b));
        } else {
            assert_true(x.gamma[2] == 0.0 && x.G[5] == 0.0);
        }
        double size = dt * c.k * (fabs(c.phi0) + dt * (fabs(a) + fabs(middle))) * (1.0 + c.d * fabs(middle));
        assert_near(x.cost, work, 1e-13 * size * fabs(b - a));
    }
    end(f);
}

static void check_derivatives(fixture *f, contact c) {
    static const int index[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}};
    answer here = law(f, c);
    for (int a = 0; a < 3; a++) {
        contact up = c, down = c;
        double h = 1e-5 * (a == 2 ? 0.1 : hypot(c.v[0], c.v[1]) + v_s);
        up.v[a] += h;
        down.v[a] -= h;
        h = up.v[a] - down.v[a];
        answer x = law(f, up), y = law(f, down);
        double size = fabs(here.gamma[0]) + fabs(here.gamma[1]) + here.gamma[2];
        assert_near((x.cost - y.cost) / h, -here.gamma[a], 1e-6 * size + 1e-14 * here.cost / h);
        for (int b = 0; b < 3; b++) {
            double scale = fabs(here.G[index[a][a]]) + fabs(here.G[index[b][b]]) + 1e-14 * size / h;
            assert_near(-(x.gamma[b] - y.gamma[b]) / h, here.G[index[a][b]], 2e-5 * scale);
        }
    }
}

static void impulse_and_hessian_are_derivatives_of_the_cost(void **state) {
    fixture *f = *state;
    static const char *const ids[] = {"lagged", "similar", "lagged_regularized"};
    for (int k = 0; k < 3; k++) {
        begin(f, ids[k]);
        double dt = f->scene.problem.dt;
        for (int i = 0; i < 1000; i++) {
            contact c = random_contact(f);
            double z = k == 1 ? c.v[2] - c.mu * (slip_of(&c) - v_s) : c.v[2];
            double bound = fmin(-c.phi0 / dt, 1.0 / c.d);
            if (fabs(z - bound) > 1e-3 * (1.0 + fabs(z))) { // G jumps at vh
                check_derivatives(f, c);
            }
        }
        end(f);
    }
}

static void borders_are_exact(void **state) {
    fixture *f = *state;
    static const char *const ids[] = {"lagged", "similar", "lagged_regularized"};
    for (int k = 0; k < 3; k++) {
        begin(f, ids[k]);
        double dt = f->scene.problem.dt;
        contact none = {.k = 0.0, .d = 10.0, .phi0 = -1e-3, .mu = 0.5, .v_n0 = -1.0, .v = {0.3, 0.0, -2.0}};
        answer x = law(f, none); // k = 0: nothing at all
        assert_true(x.cost == 0.0 && x.gamma[0] == 0.0 && x.gamma[2] == 0.0 && x.G[0] == 0.0 && x.G[5] == 0.0);
        contact still = {.k = 1e4, .d = 0.0, .phi0 = -1e-3, .mu = 0.5, .v_n0 = 0.0, .v = {0.0, 0.0, 0.0}};
        x = law(f, still); // d = 0 and v_t = 0: a spring, friction of stiffness mu gamma_n/v_s
        double n = dt * 1e4 * 1e-3;
        assert_near(x.gamma[2], n, 1e-16);
        assert_true(x.gamma[0] == 0.0 && x.gamma[1] == 0.0 && x.G[1] == 0.0 && x.G[3] == 0.0);
        double e = k == 2 ? fmax(v_s, 1e-3 * 0.5 / sqrt(3.0) * 0.5 * n) : v_s;
        assert_near(x.G[0], 0.5 * n / e, 1e-12 * n / e);
        assert_near(x.G[2], x.G[0], 0.0);
        assert_near(x.G[5], dt * dt * 1e4, 1e-14);
        assert_near(x.cost, 0.5 * 1e4 * 1e-6, 1e-16); // the spring's energy: k x0^2/2
        still.v[0] = 1e-12;                           // |v_t|_s = v^2/(2 e), nothing cancels
        assert_near((law(f, still).cost - x.cost), 0.0, 1e-18);
        still.v[2] = 0.2; // phi0 + dt v_n = 0: open from here on
        x = law(f, still);
        assert_true(x.gamma[2] == 0.0 && x.G[5] == 0.0);
        contact fast = {.k = 1e4, .d = 50.0, .phi0 = -1e-3, .mu = 0.5, .v_n0 = 0.0, .v = {0.0, 0.0, 0.02}};
        assert_true(law(f, fast).gamma[2] == 0.0); // rebound is bounded by 1/d
        end(f);
    }
}

static void a_rigid_contact_is_as_stiff_as_a_step_resolves(void **state) {
    fixture *f = *state;
    begin(f, "lagged");
    double dt = f->scene.problem.dt, w = f->scene.problem.constraints[0].w;
    contact c = {.k = INFINITY, .phi0 = -1e-6, .mu = 0.5, .v = {0.1, 0.0, 0.0}};
    answer rigid = law(f, c);
    c.k = 4.0 * STN_PI * STN_PI / (dt * dt * w);
    answer stiff = law(f, c);
    assert_near(rigid.gamma[2], stiff.gamma[2], 1e-15 * stiff.gamma[2]);
    assert_near(rigid.gamma[0], stiff.gamma[0], 1e-15 * stiff.gamma[2]);
    c.k = 1e12; // no clamp: a finite stiffness is taken as it is
    assert_near(law(f, c).gamma[2], dt * 1e12 * 1e-6, 1e-9 * dt * 1e6);
    end(f);
}

static void friction_in_an_impact_is_softened_to_that_of_sap(void **state) {
    fixture *f = *state;
    begin(f, "lagged_regularized");
    double dt = f->scene.problem.dt, w = f->scene.problem.constraints[0].w;
    contact c = {.k = 1e7, .phi0 = -1e-2, .mu = 0.5, .v = {0.0, 0.0, 0.0}};
    assert_near(law(f, c).G[0], 1.0 / (1e-3 * w), 1e-9 / w); // mu gamma_n0/e = 1/R_t
    assert_true(1e-3 * w * 0.5 * dt * 1e5 > v_s);
    end(f);
}

static void reach_is_that_of_the_note(void **state) {
    fixture *f = *state;
    const stn_constraint c = {.mu1 = 0.5, .relaxation_time = NAN};
    begin(f, "lagged");
    assert_near(f->ops->reach(f->instance->self, 0.01, &c, -3.0, 5.0), 0.06, 1e-16);
    end(f);
    begin(f, "similar");
    assert_near(f->ops->reach(f->instance->self, 0.01, &c, -3.0, 5.0), 0.015 * 5.5, 1e-16);
    end(f);
}

static void bad_data_are_refused_by_name(void **state) {
    fixture *f = *state;
    begin(f, "lagged");
    stn_problem *p = &f->scene.problem;
    stn_constraint *c = &p->constraints[1];
    struct {
        double *member, value;
        const char *word;
    } cases[] = {
        {&c->phi0, NAN, "phi0 = "},
        {&c->stiffness, NAN, "stiffness = "},
        {&c->stiffness, -1.0, "stiffness = -1"},
        {&c->mu1, NAN, "mu = "},
        {&c->dissipation, NAN, "dissipation "},
        {&c->dissipation, -1.0, "dissipation = -1"},
        {&c->w, NAN, "w = "},
        {&c->vn0, INFINITY, "vn0 = inf"},
        {&c->gamma_n0, INFINITY, "gamma_n0 = inf"},
        {&c->phi0, INFINITY, "phi0 = "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double before = *cases[i].member;
        *cases[i].member = cases[i].value;
        assert_int_equal(f->ops->prepare(f->instance->self, p, &f->batch, NULL, &f->err), STN_ERR_NUMERIC);
        assert_non_null(strstr(f->err.text, cases[i].word));
        assert_non_null(strstr(f->err.text, "contact 1 (id 2)"));
        *cases[i].member = before;
    }
    p->form = STN_FORM_LOCAL;
    assert_int_equal(f->ops->prepare(f->instance->self, p, &f->batch, NULL, &f->err), STN_ERR_NUMERIC);
    assert_non_null(strstr(f->err.text, "a local problem has no v0"));
    end(f);
}

int main(void) {
    static fixture f;
    void *state = &f;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(lagged_is_hunt_crossley_and_friction_of_the_step_before, state),
        cmocka_unit_test_prestate(similar_couples_them_within_the_step, state),
        cmocka_unit_test_prestate(the_cost_of_the_normal_is_the_work_of_its_impulse, state),
        cmocka_unit_test_prestate(impulse_and_hessian_are_derivatives_of_the_cost, state),
        cmocka_unit_test_prestate(borders_are_exact, state),
        cmocka_unit_test_prestate(a_rigid_contact_is_as_stiff_as_a_step_resolves, state),
        cmocka_unit_test_prestate(friction_in_an_impact_is_softened_to_that_of_sap, state),
        cmocka_unit_test_prestate(reach_is_that_of_the_note, state),
        cmocka_unit_test_prestate(bad_data_are_refused_by_name, state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
