// SPDX-License-Identifier: Apache-2.0
// The SAP law: projection on the cone in the metric R, its potential and its Hessian.
#include <string.h>

#include "law_fixture.h"

static int setup(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    assert_ok(stn_context_create(NULL, &f.context, &f.err), f.err);
    assert_ok(stn_instance_create(f.context, STN_KIND_LAW, "sap", NULL, 0, &f.instance, &f.err), f.err);
    f.ops = f.instance->desc->ops.law;
    assert_true(f.ops->coefficient_count <= MAX_COEFFICIENTS);
    scene_begin(&f.scene, f.context, 5);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    scene_end(&f->scene);
    stn_instance_destroy(f->instance);
    stn_context_destroy(f->context);
    return 0;
}

static const double unit_rows[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

/// `count` contacts of one body; R, v_hat and mu are to be set by the test.
static stn_problem *make_contacts(fixture *f, int32_t count) {
    static const double A[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    scene_tree(&f->scene, 3, A);
    for (int32_t i = 0; i < count; i++) {
        scene_constraint(&f->scene, 3, 0, unit_rows, -1, NULL)->w = 1.0;
        f->constraint[i] = i;
    }
    f->batch = (stn_law_batch){count, (count + STN_LANES - 1) / STN_LANES * STN_LANES, f->constraint, f->coefficients};
    return scene_finish(&f->scene);
}

static void prepare(fixture *f) {
    memset(f->coefficients, 0xff, sizeof f->coefficients);
    assert_ok(f->ops->prepare(f->instance->self, &f->scene.problem, &f->batch, NULL, &f->err), f->err);
}

static void evaluate(fixture *f) {
    f->ops->evaluate(f->instance->self, &f->batch, f->v_c, f->cost, f->gamma, f->G);
}

typedef struct contact {
    double mu, Rt, Rn, v_hat, v[3];
} contact;

typedef struct answer {
    double cost, gamma[3], G[6];
} answer;

/// One contact through the batch, in lane 0; a second, ordinary one stands in lane 1.
static answer law(fixture *f, contact c) {
    stn_problem *p = &f->scene.problem;
    p->constraints[0].mu1 = c.mu;
    p->R[0] = p->R[1] = c.Rt;
    p->R[2] = c.Rn;
    p->v_hat[2] = c.v_hat;
    prepare(f);
    for (int32_t a = 0; a < 3; a++) {
        f->v_c[a * f->batch.stride] = c.v[a];
    }
    evaluate(f);
    answer out = {.cost = f->cost[0]};
    for (int32_t a = 0; a < 6; a++) {
        out.gamma[a % 3] = f->gamma[a % 3 * f->batch.stride];
        out.G[a] = f->G[a * f->batch.stride];
    }
    return out;
}

static void make_single(fixture *f) {
    stn_problem *p = make_contacts(f, 2);
    for (int32_t r = 0; r < 6; r++) {
        p->R[r] = 0.1;
    }
}

enum { STICK, SLIDE, OPEN };

/// Which region y = (v_hat - v)/R lies in, and how far (relatively) from a border.
static int region(contact c, double *margin) {
    double y1 = -c.v[0] / c.Rt, y2 = -c.v[1] / c.Rt, yn = (c.v_hat - c.v[2]) / c.Rn, yr = hypot(y1, y2);
    double size = fmax(yr, fabs(yn)), polar = yn + c.mu * c.Rt / c.Rn * yr;
    *margin = fmin(fabs(yr - c.mu * yn), fabs(polar)) / size;
    return yn >= 0.0 && yr <= c.mu * yn ? STICK : (polar > 0.0 ? SLIDE : OPEN);
}

static contact random_contact(fixture *f, int wanted, double margin) {
    contact c;
    double m;
    do {
        c.mu = scene_uniform(&f->scene, 0.05, 3.0);
        c.Rt = pow(10.0, scene_uniform(&f->scene, -4.0, 0.0));
        c.Rn = pow(10.0, scene_uniform(&f->scene, -4.0, 1.0));
        c.v_hat = scene_uniform(&f->scene, -1.0, 1.0);
        c.v[0] = 3.0 * c.Rt * scene_normal(&f->scene);
        c.v[1] = 3.0 * c.Rt * scene_normal(&f->scene);
        c.v[2] = c.v_hat + 2.0 * c.Rn * scene_normal(&f->scene);
    } while (region(c, &m) != wanted || m < margin);
    return c;
}

/// Central differences with steps in proportion to R, in which all is of order 1.
static void check_derivatives(fixture *f, contact c, double step, double tolerance) {
    answer here = law(f, c);
    const double R[3] = {c.Rt, c.Rt, c.Rn};
    static const int index[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}};
    double size = hypot(c.v[0], c.v[1]) / c.Rt + fabs(c.v_hat - c.v[2]) / c.Rn;
    for (int a = 0; a < 3; a++) {
        contact up = c, down = c;
        double h = step * R[a] * size;
        up.v[a] += h;
        down.v[a] -= h;
        h = up.v[a] - down.v[a];
        answer x = law(f, up), y = law(f, down);
        // both sides times sqrt(R), so that an error is one of the symmetric, scaled Hessian
        assert_near((x.cost - y.cost) / h * sqrt(R[a]), -here.gamma[a] * sqrt(R[a]),
                    tolerance * (size * sqrt(R[a]) + here.cost / (size * sqrt(R[a]))));
        for (int b = 0; b < 3; b++) {
            double numeric = -(x.gamma[b] - y.gamma[b]) / h;
            assert_near(numeric * sqrt(R[a] * R[b]), here.G[index[a][b]] * sqrt(R[a] * R[b]), 10.0 * tolerance);
        }
    }
}

static void impulse_and_hessian_are_derivatives_of_the_cost_in_every_region(void **state) {
    fixture *f = *state;
    make_single(f);
    for (int wanted = STICK; wanted <= OPEN; wanted++) {
        for (int i = 0; i < 300; i++) {
            check_derivatives(f, random_contact(f, wanted, 0.05), 1e-5, 1e-6);
        }
    }
}

static void derivatives_hold_close_to_the_borders(void **state) {
    fixture *f = *state;
    make_single(f);
    for (int i = 0; i < 200; i++) {
        contact c = random_contact(f, SLIDE, 0.05);
        if (c.mu * c.Rt / c.Rn > 10.0) {
            continue; // a step of 1e-7 could cross the border
        }
        double yr = hypot(c.v[0], c.v[1]) / c.Rt;
        // y_n at the stick border and at the polar cone, then 1e-4 to either side
        double border[2] = {yr / c.mu, -c.mu * c.Rt / c.Rn * yr};
        for (int b = 0; b < 2; b++) {
            for (double side = -1e-4; side <= 1e-4; side += 2e-4) {
                contact near = c;
                double size = yr * (1.0 + 1.0 / c.mu);
                near.v_hat = 0.0; // no digits lost in v_hat - v
                near.v[2] = -c.Rn * (border[b] + side * size * fmax(1.0, c.Rt / c.Rn));
                double margin;
                region(near, &margin);
                if (margin > 2e-5) {
                    check_derivatives(f, near, 1e-7, 2e-5);
                }
            }
        }
    }
}

static void impulse_and_cost_are_continuous_across_the_borders(void **state) {
    fixture *f = *state;
    make_single(f);
    for (int i = 0; i < 300; i++) {
        contact c = random_contact(f, SLIDE, 0.01);
        double yr = hypot(c.v[0], c.v[1]) / c.Rt;
        double border[2] = {yr / c.mu, -c.mu * c.Rt / c.Rn * yr};
        for (int b = 0; b < 2; b++) {
            contact below = c, above = c;
            double e = 1e-12 * fmax(fabs(border[b]), yr);
            below.v[2] = c.v_hat - c.Rn * (border[b] - e);
            above.v[2] = c.v_hat - c.Rn * (border[b] + e);
            answer x = law(f, below), y = law(f, above);
            double scale = fmax(fabs(border[b]), yr) * fmax(1.0, c.mu) * fmax(1.0, c.mu * c.Rt / c.Rn);
            // v_hat - v loses digits when R y is small beside v_hat
            double rounding = 1e-15 * fabs(c.v_hat) / c.Rn * fmax(1.0, c.mu);
            for (int a = 0; a < 3; a++) {
                assert_near(x.gamma[a], y.gamma[a], 1e-10 * scale + 10.0 * rounding);
            }
            assert_near(x.cost, y.cost, 1e-9 * fmax(x.cost, y.cost) + 1e-18);
        }
    }
}

static void impulse_is_the_projection_on_the_cone_in_the_metric_R(void **state) {
    fixture *f = *state;
    make_single(f);
    for (int i = 0; i < 900; i++) {
        contact c = random_contact(f, i % 3, 1e-9);
        answer x = law(f, c);
        // optimality S(21): gamma in the cone, g = v - v_hat + R gamma in the dual cone, g.gamma = 0
        const double R[3] = {c.Rt, c.Rt, c.Rn};
        double g[3], dot = 0.0, size = 0.0;
        for (int a = 0; a < 3; a++) {
            g[a] = c.v[a] - (a == 2 ? c.v_hat : 0.0) + R[a] * x.gamma[a];
            dot += g[a] * x.gamma[a];
            size += fabs(R[a] * x.gamma[a]) + fabs(c.v[a]) + (a == 2 ? fabs(c.v_hat) : 0.0);
        }
        double impulse = fabs(x.gamma[0]) + fabs(x.gamma[1]) + x.gamma[2];
        assert_true(hypot(x.gamma[0], x.gamma[1]) <= c.mu * x.gamma[2] + 1e-14 * impulse);
        assert_true(c.mu * hypot(g[0], g[1]) <= g[2] + 1e-13 * (1.0 + c.mu) * size);
        assert_near(dot, 0.0, 1e-13 * (1.0 + c.mu) * size * impulse);
    }
}

static void hessian_is_positive_semidefinite(void **state) {
    fixture *f = *state;
    make_single(f);
    for (int i = 0; i < 600; i++) {
        contact c = random_contact(f, i % 3, 0.0);
        answer x = law(f, c);
        const double s[3] = {sqrt(c.Rt), sqrt(c.Rt), sqrt(c.Rn)};
        double a = x.G[0] * s[0] * s[0], b = x.G[2] * s[1] * s[1], n = x.G[5] * s[2] * s[2];
        double ab = x.G[1] * s[0] * s[1], an = x.G[3] * s[0] * s[2], bn = x.G[4] * s[1] * s[2];
        assert_true(a >= 0.0 && b >= 0.0 && n >= 0.0);
        assert_true(a * b - ab * ab >= -1e-14 && a * n - an * an >= -1e-14 && b * n - bn * bn >= -1e-14);
        double det = a * (b * n - bn * bn) - ab * (ab * n - bn * an) + an * (ab * bn - b * an);
        assert_true(det >= -1e-14);
    }
}

static void cost_is_convex_between_any_two_velocities(void **state) {
    fixture *f = *state;
    make_single(f);
    for (int i = 0; i < 900; i++) {
        contact a = random_contact(f, i % 3, 0.0), b = a, m = a;
        double dot = 0.0;
        for (int k = 0; k < 3; k++) {
            b.v[k] += (k == 2 ? a.Rn : a.Rt) * 4.0 * scene_normal(&f->scene);
            m.v[k] = 0.5 * (a.v[k] + b.v[k]);
        }
        answer x = law(f, a), y = law(f, b), mid = law(f, m);
        for (int k = 0; k < 3; k++) {
            dot += (x.gamma[k] - y.gamma[k]) * (a.v[k] - b.v[k]);
        }
        assert_true(dot <= 1e-13 * (x.cost + y.cost));
        assert_true(mid.cost <= 0.5 * (x.cost + y.cost) * (1.0 + 1e-13));
    }
}

static void sticking_contact_is_a_linear_spring_and_damper(void **state) {
    fixture *f = *state;
    make_single(f);
    double dt = 0.004, k = 3e3, tau = 0.01, phi0 = -1e-3;
    contact c = {0.7, 1e-3, 1.0 / (dt * k * (dt + tau)), -phi0 / (dt + tau), {1e-6, -2e-6, 0.05}};
    answer x = law(f, c);
    double phi = phi0 + dt * c.v[2];
    assert_near(x.gamma[2], dt * k * (-phi - tau * c.v[2]), 1e-15); // S(2)
    assert_near(x.gamma[0], -c.v[0] / c.Rt, 1e-16);
    assert_near(x.gamma[1], -c.v[1] / c.Rt, 1e-16);
}

static void sliding_contact_glides_with_the_stiffness_of_the_note(void **state) {
    fixture *f = *state;
    make_single(f);
    double dt = 0.004, k = 3e3, tau = 0.01, phi0 = -1e-3, mu = 0.7;
    contact c = {mu, 1e-3, 1.0 / (dt * k * (dt + tau)), -phi0 / (dt + tau), {0.3, -0.2, 0.05}};
    answer x = law(f, c);
    double slip = hypot(c.v[0], c.v[1]), mu_t2 = mu * mu * c.Rt / c.Rn;
    double phi = phi0 + dt * c.v[2] - mu * (dt + tau) * slip;
    double gn = dt * k / (1.0 + mu_t2) * (-phi - tau * c.v[2]);
    assert_near(x.gamma[2], gn, 1e-14);
    assert_near(x.gamma[0], -mu * gn * c.v[0] / slip, 1e-14); // S(28)
    assert_near(x.gamma[1], -mu * gn * c.v[1] / slip, 1e-14);
}

static void frictionless_contact_pushes_along_the_normal_alone_and_never_pulls(void **state) {
    fixture *f = *state;
    make_single(f);
    for (int i = 0; i < 4; i++) {
        double slip = i & 1 ? 0.5 : 0.0, vn = i & 2 ? 0.2 : -0.2;
        answer x = law(f, (contact){0.0, 1e-3, 0.1, 0.0, {slip, 0.0, vn}});
        double yn = fmax(0.0, -vn / 0.1);
        assert_near(x.gamma[2], yn, 1e-15);
        assert_near(x.cost, 0.5 * 0.1 * yn * yn, 1e-15);
        assert_near(x.G[5], yn > 0.0 ? 10.0 : 0.0, 1e-14);
        for (int a = 0; a < 5; a++) {
            assert_true(x.G[a] == 0.0);
        }
        assert_true(x.gamma[0] == 0.0 && x.gamma[1] == 0.0);
    }
}

static void contact_on_the_polar_cone_is_open(void **state) {
    fixture *f = *state;
    make_single(f);
    // mu_hat = mu R_t/R_n = 0.5 and |y_t| = 4: y_n = -2 is the border; all numbers are exact in binary
    contact c = {2.0, 0.25, 1.0, 0.0, {-1.0, 0.0, 2.0}};
    answer x = law(f, c);
    assert_true(x.cost == 0.0 && x.gamma[0] == 0.0 && x.gamma[2] == 0.0 && x.G[0] == 0.0 && x.G[5] == 0.0);
    c.v[2] = 2.0 - 1e-9;
    x = law(f, c);
    assert_near(x.gamma[2], 1e-9 / 2.0, 1e-15); // f = 1/(1 + mu^2 R_t/R_n) = 1/2
    // and at the other border y_r = mu y_n the formula is that of stick
    c = (contact){2.0, 0.25, 1.0, 0.0, {-1.0, 0.0, -2.0}};
    x = law(f, c);
    assert_true(x.gamma[0] == 4.0 && x.gamma[2] == 2.0 && x.G[0] == 4.0 && x.G[2] == 4.0 && x.G[5] == 1.0);
}

static void padding_lanes_are_open_and_a_batch_equals_its_contacts(void **state) {
    fixture *f = *state;
    stn_problem *p = make_contacts(f, 11);
    assert_int_equal(f->batch.stride, 16);
    contact c[11];
    for (int32_t i = 0; i < 11; i++) {
        c[i] = random_contact(f, i % 3, 0.0);
        c[i].mu = i == 5 ? 0.0 : c[i].mu;
        p->constraints[i].mu1 = c[i].mu;
        p->R[3 * i] = p->R[3 * i + 1] = c[i].Rt;
        p->R[3 * i + 2] = c[i].Rn;
        p->v_hat[3 * i + 2] = c[i].v_hat;
    }
    prepare(f);
    for (int32_t i = 0; i < 16; i++) {
        for (int32_t a = 0; a < 3; a++) {
            f->v_c[16 * a + i] = i < 11 ? c[i].v[a] : -7.0 + i;
        }
    }
    evaluate(f);
    double gamma[48], cost[16];
    memcpy(gamma, f->gamma, sizeof gamma);
    memcpy(cost, f->cost, sizeof cost);
    for (int32_t i = 11; i < 16; i++) {
        assert_true(cost[i] == 0.0);
        for (int32_t a = 0; a < 6; a++) {
            assert_true(gamma[16 * (a % 3) + i] == 0.0 && f->G[16 * a + i] == 0.0);
        }
    }
    f->ops->evaluate(f->instance->self, &f->batch, f->v_c, f->cost, f->gamma, NULL);
    assert_memory_equal(gamma, f->gamma, sizeof gamma); // with and without G: the same bits
    assert_memory_equal(cost, f->cost, sizeof cost);
    for (int32_t i = 0; i < 11; i++) {
        answer x = law(f, c[i]);
        assert_near(x.cost, cost[i], 0.0);
        for (int32_t a = 0; a < 3; a++) {
            assert_near(x.gamma[a], gamma[16 * a + i], 0.0);
        }
    }
}

static void regularisation_follows_from_the_physical_data(void **state) {
    fixture *f = *state;
    stn_problem *p = make_contacts(f, 3);
    p->dt = 0.002;
    double k[3] = {1e3, 1e9, INFINITY}, w[3] = {2.0, 3.0, 4.0}, tau = 0.01, phi0 = -3e-4;
    for (int32_t i = 0; i < 3; i++) {
        p->constraints[i].stiffness = k[i];
        p->constraints[i].w = w[i];
        p->constraints[i].relaxation_time = tau;
        p->constraints[i].phi0 = phi0;
    }
    f->ops->regularize(f->instance->self, p);
    for (int32_t i = 0; i < 3; i++) {
        double rigid = w[i] / (4.0 * STN_PI * STN_PI);
        double Rn = i == 0 ? 1.0 / (0.002 * 1e3 * 0.012) : rigid; // S(29): the soft one keeps its stiffness
        assert_near(p->R[3 * i + 2], Rn, 1e-15 * Rn);
        assert_near(p->R[3 * i], 1e-3 * w[i], 1e-18);
        assert_near(p->R[3 * i + 1], 1e-3 * w[i], 1e-18);
        assert_near(p->v_hat[3 * i + 2], 3e-4 / 0.012, 1e-17);
        assert_true(p->v_hat[3 * i] == 0.0 && p->v_hat[3 * i + 1] == 0.0);
    }
}

// beta = 0 switches the bound off: R_n is the compliance alone, and a rigid contact has none left.
static void beta_and_sigma_are_parameters(void **state) {
    fixture *f = *state;
    const double beta[2] = {0.0, 0.5}, sigma[2] = {1e-5, 0.2}, w = 3.0, tau = 0.004;
    stn_problem *p = make_contacts(f, 2);
    p->dt = 0.002;
    for (int32_t i = 0; i < 2; i++) {
        p->constraints[i].stiffness = i == 0 ? 1e12 : (double)INFINITY;
        p->constraints[i].w = w;
        p->constraints[i].relaxation_time = tau;
    }
    for (int32_t k = 0; k < 2; k++) {
        const stn_setting settings[2] = {
            {.name = "beta", .form = STN_SETTING_NUMBER, .number = beta[k], .where = "test"},
            {.name = "sigma", .form = STN_SETTING_NUMBER, .number = sigma[k], .where = "test"}};
        stn_instance *law = NULL;
        assert_ok(stn_instance_create(f->context, STN_KIND_LAW, "sap", settings, 2, &law, &f->err), f->err);
        f->ops->regularize(law->self, p);
        double bound = beta[k] * beta[k] / (4.0 * STN_PI * STN_PI) * w, compliance = 1.0 / (0.002 * 1e12 * 0.006);
        double expected = k == 0 ? compliance : bound;
        assert_near(p->R[2], expected, 1e-15 * expected);
        assert_near(p->R[5], bound, 1e-15 * bound);
        assert_near(p->R[0], sigma[k] * w, 1e-15 * w);
        stn_status status = f->ops->prepare(law->self, p, &f->batch, NULL, &f->err);
        assert_int_equal(status, k == 0 ? STN_ERR_NUMERIC : STN_OK);
        assert_true(k != 0 || strstr(f->err.text, "a rigid contact needs beta > 0") != NULL);
        stn_instance_destroy(law);
    }
}

static void reach_grows_with_approach_and_slip(void **state) {
    fixture *f = *state;
    stn_problem *p = make_contacts(f, 1);
    p->constraints[0].mu1 = 0.5;
    p->constraints[0].relaxation_time = 0.01;
    assert_near(f->ops->reach(f->instance->self, 0.005, &p->constraints[0], -2.0, 3.0), 1.5 * 0.015 * 3.5, 1e-15);
}

static void bad_data_are_refused_by_name(void **state) {
    fixture *f = *state;
    stn_problem *p = make_contacts(f, 2);
    struct {
        double *member, value;
        const char *word;
        stn_status status;
    } cases[] = {
        {&p->R[5], NAN, "R[n]", STN_ERR_NUMERIC},
        {&p->R[5], 0.0, "beta > 0", STN_ERR_NUMERIC},
        {&p->R[3], INFINITY, "R[t1]", STN_ERR_NUMERIC},
        {&p->R[3], 0.2, "differ", STN_ERR_UNSUPPORTED},
        {&p->v_hat[5], NAN, "v_hat[n]", STN_ERR_NUMERIC},
        {&p->constraints[1].mu1, NAN, "mu = ", STN_ERR_NUMERIC},
        {&p->constraints[1].mu1, -0.1, "mu = -0.1", STN_ERR_NUMERIC},
    };
    for (int32_t r = 0; r < 6; r++) {
        p->R[r] = 0.1;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double before = *cases[i].member;
        *cases[i].member = cases[i].value;
        assert_int_equal(f->ops->prepare(f->instance->self, p, &f->batch, NULL, &f->err), cases[i].status);
        assert_non_null(strstr(f->err.text, cases[i].word));
        assert_non_null(strstr(f->err.text, "contact 1 (id 2)"));
        *cases[i].member = before;
    }
    p->constraints[1].set = STN_SET_ELLIPSE;
    p->constraints[1].mu2 = 0.3;
    assert_int_equal(f->ops->prepare(f->instance->self, p, &f->batch, NULL, &f->err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(f->err.text, "mu1^2 R[t1] = mu2^2 R[t2]"));
    p->constraints[1].set = STN_SET_BOX;
    assert_int_equal(f->ops->prepare(f->instance->self, p, &f->batch, NULL, &f->err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(f->err.text, "box"));
    assert_int_equal(f->ops->sets, 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE);
}

/// gamma is the point of the elliptic cone that is nearest to y in the metric R: it lies in the cone, s = R (gamma - y)
/// in the dual one, and gamma . s = 0. The cost is its potential.
static void impulse_of_an_ellipse_is_the_projection_on_it(void **state) {
    fixture *f = *state;
    stn_problem *p = make_contacts(f, 1);
    stn_constraint *c = &p->constraints[0];
    c->set = STN_SET_ELLIPSE;
    int32_t seen[3] = {0};
    for (int32_t i = 0; i < 2000; i++) {
        const size_t stride = (size_t)f->batch.stride;
        c->mu1 = i % 10 == 0 ? 0.0 : scene_uniform(&f->scene, 0.05, 2.0);
        c->mu2 = i % 10 == 1 ? 0.0 : scene_uniform(&f->scene, 0.05, 2.0);
        c->w = pow(10.0, scene_uniform(&f->scene, -3.0, 3.0));
        c->stiffness = INFINITY;
        c->relaxation_time = 0.01;
        c->phi0 = scene_uniform(&f->scene, -0.01, 0.01);
        f->ops->regularize(f->instance->self, p);
        prepare(f);
        double v[3], y[3], size = 0.0, normal = scene_normal(&f->scene), slip = 2.0 * p->R[0] / p->R[2];
        for (int32_t a = 0; a < 3; a++) {
            v[a] = a == 2 ? p->v_hat[2] + normal : slip * scene_normal(&f->scene);
            y[a] = (p->v_hat[a] - v[a]) / p->R[a];
            f->v_c[(size_t)a * stride] = v[a];
            size += p->R[a] * y[a] * y[a];
        }
        evaluate(f);
        const double g[3] = {f->gamma[0], f->gamma[stride], f->gamma[2 * stride]};
        double s[3], along = 0.0, cost = 0.0;
        for (int32_t a = 0; a < 3; a++) {
            s[a] = p->R[a] * (g[a] - y[a]);
            along += g[a] * s[a];
            cost += 0.5 * p->R[a] * g[a] * g[a];
        }
        double used = hypot(c->mu1 > 0.0 ? g[0] / c->mu1 : 0.0, c->mu2 > 0.0 ? g[1] / c->mu2 : 0.0);
        assert_true((c->mu1 > 0.0 || g[0] == 0.0) && (c->mu2 > 0.0 || g[1] == 0.0));
        assert_true(used <= g[2] * (1.0 + 1e-12));
        assert_true(hypot(c->mu1 * s[0], c->mu2 * s[1]) <= s[2] + 1e-12 * sqrt(size * p->R[2]) + 1e-12 * fabs(s[2]));
        assert_near(along, 0.0, 1e-12 * size);
        assert_near(f->cost[0], cost, 1e-12 * size);
        seen[g[2] == 0.0 ? OPEN : used < g[2] * (1.0 - 1e-9) ? STICK : SLIDE]++;
        for (int32_t a = 0; a < 3; a++) { // the Hessian
            static const int32_t index[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}};
            double G[6], h = 1e-6 * p->R[a] * sqrt(size / p->R[a]), up[3];
            for (int32_t k = 0; k < 6; k++) {
                G[k] = f->G[(size_t)k * stride];
            }
            for (int32_t sign = 1; sign >= -1; sign -= 2) {
                f->v_c[(size_t)a * stride] = v[a] + sign * h;
                evaluate(f);
                for (int32_t b = 0; b < 3; b++) {
                    up[b] = sign > 0 ? f->gamma[(size_t)b * stride] : up[b] - f->gamma[(size_t)b * stride];
                }
            }
            f->v_c[(size_t)a * stride] = v[a];
            bool near = fabs(used - g[2]) < 1e-3 * g[2] || g[2] < 1e-3 * sqrt(size / p->R[2]);
            for (int32_t b = 0; b < 3 && !near; b++) {
                double scale = sqrt(p->R[a] * p->R[b]);
                assert_near(-up[b] / (2.0 * h) * scale, G[index[a][b]] * scale, 1e-4);
            }
            evaluate(f);
        }
    }
    assert_true(seen[STICK] > 100 && seen[SLIDE] > 100 && seen[OPEN] > 100);
}

static void an_ellipse_of_equal_axes_is_the_cone_to_the_last_bit(void **state) {
    fixture *f = *state;
    stn_problem *p = make_contacts(f, 2);
    for (int32_t i = 0; i < 500; i++) {
        const size_t stride = (size_t)f->batch.stride;
        for (int32_t k = 0; k < 2; k++) {
            stn_constraint *c = &p->constraints[k];
            c->set = k == 0 ? STN_SET_CONE : STN_SET_ELLIPSE;
            c->mu1 = c->mu2 = k == 0 ? scene_uniform(&f->scene, 0.0, 1.0) : p->constraints[0].mu1;
            c->stiffness = 1e4;
            c->relaxation_time = 0.01;
            c->phi0 = -0.001;
        }
        f->ops->regularize(f->instance->self, p);
        assert_memory_equal(p->R, p->R + 3, 3 * sizeof *p->R);
        prepare(f);
        for (size_t a = 0; a < 3; a++) {
            f->v_c[a * stride] = f->v_c[a * stride + 1] = 0.1 * scene_normal(&f->scene);
        }
        evaluate(f);
        for (size_t a = 0; a < 6; a++) {
            assert_memory_equal(&f->gamma[a % 3 * stride], &f->gamma[a % 3 * stride + 1], sizeof(double));
            assert_memory_equal(&f->G[a * stride], &f->G[a * stride + 1], sizeof(double));
        }
    }
}

static void missing_physical_data_reach_prepare_as_nan(void **state) {
    fixture *f = *state;
    stn_problem *p = make_contacts(f, 1);
    p->constraints[0].relaxation_time = NAN;
    f->ops->regularize(f->instance->self, p);
    assert_int_equal(f->ops->prepare(f->instance->self, p, &f->batch, NULL, &f->err), STN_ERR_NUMERIC);
    p->constraints[0].relaxation_time = 0.0;
    p->constraints[0].w = NAN;
    f->ops->regularize(f->instance->self, p);
    assert_int_equal(f->ops->prepare(f->instance->self, p, &f->batch, NULL, &f->err), STN_ERR_NUMERIC);
    p->constraints[0].w = 0.0; // moves nothing: any R > 0 will do
    f->ops->regularize(f->instance->self, p);
    assert_ok(f->ops->prepare(f->instance->self, p, &f->batch, NULL, &f->err), f->err);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CLAIM(impulse_and_hessian_are_derivatives_of_the_cost_in_every_region),
        CLAIM(derivatives_hold_close_to_the_borders),
        CLAIM(impulse_and_cost_are_continuous_across_the_borders),
        CLAIM(impulse_is_the_projection_on_the_cone_in_the_metric_R),
        CLAIM(hessian_is_positive_semidefinite),
        CLAIM(cost_is_convex_between_any_two_velocities),
        CLAIM(sticking_contact_is_a_linear_spring_and_damper),
        CLAIM(sliding_contact_glides_with_the_stiffness_of_the_note),
        CLAIM(frictionless_contact_pushes_along_the_normal_alone_and_never_pulls),
        CLAIM(contact_on_the_polar_cone_is_open),
        CLAIM(padding_lanes_are_open_and_a_batch_equals_its_contacts),
        CLAIM(regularisation_follows_from_the_physical_data),
        CLAIM(beta_and_sigma_are_parameters),
        CLAIM(reach_grows_with_approach_and_slip),
        CLAIM(bad_data_are_refused_by_name),
        CLAIM(impulse_of_an_ellipse_is_the_projection_on_it),
        CLAIM(an_ellipse_of_equal_axes_is_the_cone_to_the_last_bit),
        CLAIM(missing_physical_data_reach_prepare_as_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
