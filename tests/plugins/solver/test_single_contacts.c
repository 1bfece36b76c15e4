// SPDX-License-Identifier: Apache-2.0
// One contact by itself through every local solver of `bisection`: closed forms, 10,000 random contacts judged by what
// defines their solutions, and exact solutions of 1,000 hard ones.
#include <string.h>

#include <stiction/solve.h>

#include "stn_random.h"
#include "stn_test.h"

enum { COULOMB, CCP, BISECTION, GOLDEN, QUARTIC, LOCALS };
static const char *const locals[LOCALS] = {"coulomb", "ccp", "bisection", "golden", "quartic"};

typedef struct fixture {
    stn_context *context;
    stn_instance *solver[LOCALS];
    stn_error err;
} fixture;

/// v = c + W gamma.
typedef struct contact {
    double mu, W[9], c[3];
} contact;

static int setup(void **state) {
    static fixture f;
    f = (fixture){0};
    *state = &f;
    assert_ok(stn_context_create(NULL, &f.context, &f.err), f.err);
    for (int32_t k = 0; k < LOCALS; k++) {
        const stn_setting setting = {.name = "local", .form = STN_SETTING_TEXT, .text = locals[k], .where = "test"};
        assert_ok(stn_instance_create(f.context, STN_KIND_SOLVER, "bisection", &setting, 1, &f.solver[k], &f.err),
                  f.err);
    }
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    for (int32_t k = 0; k < LOCALS; k++) {
        stn_instance_destroy(f->solver[k]);
    }
    stn_context_destroy(f->context);
    return 0;
}

static void solve(const fixture *f, int32_t local, const contact *c, double gamma[3]) {
    f->solver[local]->desc->ops.solver->solve_contact(f->solver[local]->self, c->mu, c->W, c->c, 1e-12, gamma);
}

static double norm(const double *x) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static void velocity(const contact *c, const double *gamma, double v[3]) {
    for (int32_t i = 0; i < 3; i++) {
        v[i] = c->c[i] + c->W[3 * i] * gamma[0] + c->W[3 * i + 1] * gamma[1] + c->W[3 * i + 2] * gamma[2];
    }
}

static void expect(const fixture *f, int32_t local, const contact *c, const double expected[3]) {
    double gamma[3];
    solve(f, local, c, gamma);
    for (int32_t i = 0; i < 3; i++) {
        if (!(fabs(gamma[i] - expected[i]) <= 1e-12)) {
            fail_msg("%s: gamma[%d] = %.15g, expected %.15g", locals[local], i, gamma[i], expected[i]);
        }
    }
}

static void a_block_sticks_slides_and_lifts_off(void **state) {
    const fixture *f = *state; // 2 kg
    contact c = {.mu = 0.5, .W = {0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5}};
    const double stick[3] = {-0.2, 0.4, 2.0}, slide[3] = {-0.6, 0.8, 2.0}, none[3] = {0.0, 0.0, 0.0};
    for (int32_t k = 0; k < LOCALS; k++) {
        memcpy(c.c, (const double[3]){0.1, -0.2, -1.0}, sizeof c.c);
        expect(f, k, &c, stick);
        memcpy(c.c, (const double[3]){3.0, -4.0, 4.0}, sizeof c.c);
        expect(f, k, &c, none);
        if (k != CCP) {
            memcpy(c.c, (const double[3]){3.0, -4.0, -1.0}, sizeof c.c);
            expect(f, k, &c, slide);
        }
    }
    // the relaxation lifts the contact: v_n = mu |v_t|, so 0.5 n - 1 = 0.5 (5 - 0.25 n)
    const double n = 3.5 / 0.625, lifted[3] = {-0.3 * n, 0.4 * n, n};
    expect(f, CCP, &c, lifted);
}

static void without_friction_the_normal_alone_answers(void **state) {
    const fixture *f = *state;
    const contact c = {.W = {2.0, 0.3, 0.4, 0.3, 1.5, -0.2, 0.4, -0.2, 1.25}, .c = {1.0, 2.0, -0.5}};
    const double expected[3] = {0.0, 0.0, 0.4};
    for (int32_t k = 0; k < LOCALS; k++) {
        expect(f, k, &c, expected);
    }
}

/// W = B B^T of any scale and shape, c in any direction, mu from 0.01 to 3.
static contact random_contact(stn_random *random) {
    contact c = {.mu = pow(10.0, -0.75 + 1.25 * random_real(random))};
    double scale = pow(10.0, 2.0 * random_real(random)), shape = pow(10.0, -2.0 + 2.0 * random_real(random));
    random_spd(random, 3, shape, c.W);
    for (int32_t k = 0; k < 9; k++) {
        c.W[k] *= scale;
    }
    for (int32_t k = 0; k < 3; k++) {
        c.c[k] = random_real(random);
    }
    return c;
}

/// |omega gamma - P(omega gamma - v - shift e_n)|: zero exactly at a solution.
static double natural_map(const contact *c, bool coulomb, const double *gamma) {
    double omega = (c->W[0] + c->W[4] + c->W[8]) / 3.0, v[3], x[3], d[3];
    velocity(c, gamma, v);
    v[2] += coulomb ? c->mu * sqrt(v[0] * v[0] + v[1] * v[1]) : 0.0;
    for (int32_t i = 0; i < 3; i++) {
        x[i] = omega * gamma[i] - v[i];
    }
    stn_cone_project(c->mu, x);
    for (int32_t i = 0; i < 3; i++) {
        d[i] = omega * gamma[i] - x[i];
    }
    return norm(d);
}

static double energy(const contact *c, const double *gamma) { // v^T W^-1 v/2
    double v[3], x[3];
    velocity(c, gamma, v);
    memcpy(x, v, sizeof x);
    plain_solve(3, c->W, x);
    return 0.5 * (v[0] * x[0] + v[1] * x[1] + v[2] * x[2]);
}

/// Signorini's condition, the cone, and no direction of friction on v_n = 0 that leaves less energy.
static void expect_dissipation(const contact *c, const double *gamma, int32_t number) {
    double v[3], size = norm(c->c), omega = (c->W[0] + c->W[4] + c->W[8]) / 3.0;
    velocity(c, gamma, v);
    assert_true(v[2] >= -1e-9 * size && gamma[2] >= 0.0 && fabs(fmin(omega * gamma[2], v[2])) <= 1e-9 * size);
    assert_true(sqrt(gamma[0] * gamma[0] + gamma[1] * gamma[1]) <= c->mu * gamma[2] * (1.0 + 1e-12));
    if (c->c[2] >= 0.0) {
        return;
    }
    double left = energy(c, gamma), rounding = 1e-9 * energy(c, (const double[3]){0.0, 0.0, 0.0});
    for (int32_t k = 0; k < 24; k++) {
        double angle = STN_PI / 12.0 * k, u[3] = {cos(angle), sin(angle), 1.0 / c->mu};
        double D = c->W[6] * u[0] + c->W[7] * u[1] + c->W[8] * u[2], r = -c->c[2] / D;
        double other[3] = {r * u[0], r * u[1], r * u[2]};
        if (D > 0.0 && !(left <= energy(c, other) + rounding)) {
            fail_msg("contact %d: energy %.15g, in direction %g %.15g", number, left, angle, energy(c, other));
        }
    }
}

static void random_contacts_are_what_defines_them(void **state) {
    const fixture *f = *state;
    stn_random random = {7};
    int32_t slips = 0;
    for (int32_t i = 0; i < 10000; i++) {
        const contact c = random_contact(&random);
        double gamma[LOCALS][3], size = norm(c.c);
        for (int32_t k = 0; k < LOCALS; k++) {
            solve(f, k, &c, gamma[k]);
        }
        assert_true(natural_map(&c, true, gamma[COULOMB]) <= 1e-9 * size);
        assert_true(natural_map(&c, false, gamma[CCP]) <= 1e-9 * size);
        expect_dissipation(&c, gamma[BISECTION], i);
        for (int32_t k = BISECTION; k < LOCALS; k++) {
            for (int32_t r = 0; r < 3; r++) {
                assert_near(gamma[k][r], gamma[BISECTION][r], 1e-9 * norm(gamma[BISECTION]) + 1e-11);
            }
        }
        slips += gamma[COULOMB][2] > 0.0 &&
                 hypot(gamma[COULOMB][0], gamma[COULOMB][1]) > c.mu * gamma[COULOMB][2] * (1.0 - 1e-9);
    }
    assert_true(slips > 3000); // of about half that touch
}

// --------------------------------------------------------------------------------------------------------- reference

#define REFERENCE STN_SHARED_DIR "/reference/h_single_contact/"
enum { FIELDS = 24 };

static int32_t read_fields(FILE *file, char *line, int32_t size, char *fields[FIELDS]) {
    int32_t count = 0;
    char *at = fgets(line, size, file);
    for (; at != NULL && count < FIELDS; count++) {
        fields[count] = at;
        at = strpbrk(at, ",\n");
        if (at != NULL) {
            *at++ = '\0';
        }
        at = at != NULL && *at != '\0' ? at : NULL;
    }
    return count;
}

static bool agrees(const double *gamma, char *const fields[3], double relative, double absolute) {
    double d[3], l[3];
    for (int32_t r = 0; r < 3; r++) {
        l[r] = atof(fields[r]);
        d[r] = gamma[r] - l[r];
    }
    return norm(d) <= relative * norm(l) + absolute;
}

/// Is it another solution of Coulomb's law, of contacts that have several?
static bool is_other_solution(const char *id, const double *gamma) {
    FILE *file = fopen(REFERENCE "coulomb_other_solutions.csv", "r");
    char line[4096], *fields[FIELDS];
    bool found = false;
    while (file != NULL && read_fields(file, line, sizeof line, fields) >= 6) {
        found = found || (strcmp(fields[0], id) == 0 && agrees(gamma, fields + 3, 1e-8, 1e-10));
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

static void hard_contacts_have_their_exact_solutions(void **state) {
    const fixture *f = *state;
    skip_without(REFERENCE "problems.csv");
    FILE *file = fopen(REFERENCE "problems.csv", "r");
    char line[4096], *fields[FIELDS];
    int32_t count = 0;
    assert_int_equal(read_fields(file, line, sizeof line, fields), FIELDS);
    while (read_fields(file, line, sizeof line, fields) == FIELDS) {
        double x[11];
        for (int32_t k = 1; k < 11; k++) {
            x[k] = atof(fields[k]);
        }
        const contact c = {x[1], {x[2], x[3], x[4], x[3], x[5], x[6], x[4], x[6], x[7]}, {x[8], x[9], x[10]}};
        for (int32_t k = 0; k < LOCALS; k++) {
            double gamma[3];
            int32_t at = k == COULOMB ? 17 : (k == CCP ? 21 : 12);
            solve(f, k, &c, gamma);
            if (!agrees(gamma, fields + at, 1e-8, 1e-10) && !(k == COULOMB && is_other_solution(fields[0], gamma))) {
                fail_msg("contact %s, %s: (%.12g, %.12g, %.12g), expected (%s, %s, %s)", fields[0], locals[k], gamma[0],
                         gamma[1], gamma[2], fields[at], fields[at + 1], fields[at + 2]);
            }
        }
        count++;
    }
    fclose(file);
    assert_int_equal(count, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_sticks_slides_and_lifts_off),
        cmocka_unit_test(without_friction_the_normal_alone_answers),
        cmocka_unit_test(random_contacts_are_what_defines_them),
        cmocka_unit_test(hard_contacts_have_their_exact_solutions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
