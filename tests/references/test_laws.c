// SPDX-License-Identifier: Apache-2.0
// Every contact law in whole problems whose solution was chosen first (manufactured.h): v at random, impulses by the
// law's formula, written down here once more as papers and READMEs have it. Solver sap must find that v. Bodies have
// more contacts than they have dofs, some of them twice.
#include <stiction/solve.h>

#include "manufactured.h"
#include "stn_setting.h"

/// What a formula reads of a contact.
typedef struct known {
    real dt, k, d, tau, mu, phi0, w;
    real before[3];      // velocity before the step
    real normal_impulse; // gamma_n0 of the step before
    bool rigid;
} known;

static const real slip_tolerance = 1e-4L, indentation = 1e-4L, support = 1e-3L; // the laws' defaults

static real positive(real x) {
    return x > 0.0L ? x : 0.0L;
}

/// (k x0 - dt k v)+ (1 - d v)+ dt
static real hunt_crossley(const known *c, real v) {
    return c->dt * positive(-c->k * c->phi0 - c->dt * c->k * v) * positive(1.0L - c->d * v);
}

/// Friction of a limit p, smoothed over e.
static void friction(real p, real e, const real v[3], real gamma[3]) {
    real s = sqrtl(v[0] * v[0] + v[1] * v[1] + e * e);
    gamma[0] = -p * v[0] / s;
    gamma[1] = -p * v[1] / s;
}

static void lagged(const known *c, const real v[3], real gamma[3]) {
    friction(c->mu * c->normal_impulse, slip_tolerance, v, gamma);
    gamma[2] = hunt_crossley(c, v[2]);
}

static void lagged_regularized(const known *c, const real v[3], real gamma[3]) {
    real p = c->mu * c->normal_impulse, soft = 1e-3L * c->w * p; // sigma w mu gamma_n0
    friction(p, soft > slip_tolerance ? soft : slip_tolerance, v, gamma);
    gamma[2] = hunt_crossley(c, v[2]);
}

static void similar(const known *c, const real v[3], real gamma[3]) {
    real e = slip_tolerance, s = sqrtl(v[0] * v[0] + v[1] * v[1] + e * e);
    gamma[2] = hunt_crossley(c, v[2] - c->mu * (s - e));
    friction(c->mu * gamma[2], e, v, gamma);
}

static void hertz(const known *c, const real v[3], real gamma[3]) {
    real depth = positive(-c->phi0 - c->dt * v[2]);
    friction(c->mu * c->normal_impulse, slip_tolerance, v, gamma);
    gamma[2] = c->dt * c->k / sqrtl(indentation) * depth * sqrtl(depth) * positive(1.0L - c->d * v[2]);
}

/// "0.001 10, 0.002 40, 0.004 200"
static void table(const known *c, const real v[3], real gamma[3]) {
    real x = positive(-c->phi0 - c->dt * v[2]);
    friction(c->mu * c->normal_impulse, slip_tolerance, v, gamma);
    real force = x <= 1e-3L ? 1e4L * x : x <= 2e-3L ? 10.0L + 3e4L * (x - 1e-3L) : 40.0L + 8e4L * (x - 2e-3L);
    gamma[2] = c->dt * force;
}

/// Force k (h - g) [(h - g)/g - 2 ln(g/h)] within the support.
static void barrier(const known *c, const real v[3], real gamma[3]) {
    real g = c->phi0 + c->dt * v[2], h = support;
    friction(c->mu * c->normal_impulse, slip_tolerance, v, gamma);
    gamma[2] = g < h ? c->dt * c->k * (h - g) * ((h - g) / g - 2.0L * logl(g / h)) : 0.0L;
}

static void barrier_log(const known *c, const real v[3], real gamma[3]) {
    real g = c->phi0 + c->dt * v[2], h = support;
    friction(c->mu * c->normal_impulse, slip_tolerance, v, gamma);
    gamma[2] = c->dt * c->k * h * h / g;
}

/// Of the velocity before, whatever comes: a spring, a damper, friction that is viscous up to its limit.
static void penalty(const known *c, const real v[3], real gamma[3]) {
    (void)v;
    real damping = c->rigid ? sqrtl(c->k / c->w) : c->k * c->tau, viscous = sqrtl(c->k / c->w);
    gamma[2] = c->phi0 < 0.0L ? c->dt * positive(-c->k * c->phi0 - damping * c->before[2]) : 0.0L;
    real speed = hypotl(c->before[0], c->before[1]), limit = c->mu * gamma[2], most = c->dt * viscous * speed;
    real size = speed > 0.0L ? (most < limit ? most : limit) / speed : 0.0L;
    gamma[0] = -size * c->before[0];
    gamma[1] = -size * c->before[1];
}

/// Projection of y = (v_hat - v)/R on the cone in the metric R, by its regions.
static void sap(const known *c, const real v[3], real gamma[3]) {
    const real pi = 2.0L * acosl(0.0L), compliance = 1.0L / (c->dt * c->k * (c->dt + c->tau));
    const real near_rigid = c->w / (4.0L * pi * pi), R_t = 1e-3L * c->w;
    const real R_n = c->rigid || near_rigid > compliance ? near_rigid : compliance;
    const real y[3] = {-v[0] / R_t, -v[1] / R_t, (-c->phi0 / (c->dt + c->tau) - v[2]) / R_n};
    const real pull = hypotl(y[0], y[1]);
    if (pull <= c->mu * y[2]) {
        memcpy(gamma, y, sizeof y);
        return;
    }
    // the nearest point of the boundary |gamma_t| = mu gamma_n: minimise R_t (pull - mu n)^2 + R_n (y_n - n)^2 over n
    // >= 0
    real n = positive((R_n * y[2] + c->mu * R_t * pull) / (R_n + c->mu * c->mu * R_t));
    gamma[0] = pull > 0.0L ? c->mu * n * y[0] / pull : 0.0L;
    gamma[1] = pull > 0.0L ? c->mu * n * y[1] / pull : 0.0L;
    gamma[2] = n;
}

typedef struct law_case {
    const char *id, *setting, *value; // setting may be NULL
    void (*impulse)(const known *c, const real v[3], real gamma[3]);
    real beta;          // of the stiffness 4 pi^2/(beta^2 dt^2 w) of a rigid contact; 0: the formula has its own
    double least, most; // of phi0 [m]
    double low, high;   // of log10 of the stiffness
} law_case;

static const law_case cases[] = {
    {"sap", NULL, NULL, sap, 0.0L, -1e-3, 1e-3, 3.0, 6.0},
    {"lagged", NULL, NULL, lagged, 1.0L, -1e-3, 1e-3, 3.0, 6.0},
    {"lagged_regularized", NULL, NULL, lagged_regularized, 1.0L, -1e-3, 1e-3, 3.0, 6.0},
    {"similar", NULL, NULL, similar, 1.0L, -1e-3, 1e-3, 3.0, 6.0},
    {"hertz", NULL, NULL, hertz, 1.0L, -1e-3, 1e-3, 3.0, 6.0},
    {"table", NULL, NULL, table, 1.0L, -4e-3, 1e-3, 3.0, 6.0},
    {"penalty", NULL, NULL, penalty, 30.0L, -1e-3, 1e-3, 3.0, 6.0},
    {"barrier", "shape", "finite", barrier, 1.0L, 2e-4, 2e-3, 3.0, 6.0},
    {"barrier", "shape", "log", barrier_log, 1.0L, 2e-4, 2e-3, 3.0, 6.0},
};

static void make(made *m, stn_context *context, const law_case *law, uint64_t seed) {
    const int32_t bodies = 1 + (int32_t)(seed % 4);
    made_begin(m, context, seed, bodies, 4 * bodies);
    stn_problem *p = &m->scene.problem;
    real rows[3][MADE_DOFS];
    for (int32_t k = 0; k < p->nv; k++) {
        m->v[k] = made_uniform(m, -0.1, 0.1); // [m/s]: closes gaps of 2 mm in some steps
        p->v0[k] = (double)m->v[k] + scene_uniform(&m->scene, -0.05, 0.05);
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        stn_constraint *c = &p->constraints[i];
        if (i >= 2 && i % 4 == 3) { // once more the contact before
            int32_t row = c->row;
            uint64_t id = c->id;
            *c = p->constraints[i - 1];
            c->row = row;
            c->id = id;
        }
        const real pi = 2.0L * acosl(0.0L);
        known k = {.dt = (real)p->dt, .rigid = scene_integer(&m->scene, 0, 3) == 0, .w = made_inverse_mass(p, c)};
        c->stiffness = k.rigid ? (double)INFINITY : pow(10.0, scene_uniform(&m->scene, law->low, law->high));
        c->phi0 = scene_uniform(&m->scene, law->least, law->most);
        c->relaxation_time = scene_uniform(&m->scene, 0.0, 0.02);
        c->dissipation = scene_integer(&m->scene, 0, 1) == 0 ? 0.0 : scene_uniform(&m->scene, 0.0, 10.0);
        c->mu1 = c->mu2 = scene_integer(&m->scene, 0, 5) == 0 ? 0.0 : scene_uniform(&m->scene, 0.1, 1.0);
        c->gamma_n0 = scene_integer(&m->scene, 0, 2) == 0 ? 0.0 : scene_uniform(&m->scene, 0.0, 0.2);
        k.k = (real)c->stiffness;
        if (k.rigid && law->beta > 0.0L) {
            k.k = 4.0L * pi * pi / (law->beta * law->beta * k.dt * k.dt * k.w);
        }
        k.d = (real)c->dissipation;
        k.tau = (real)c->relaxation_time;
        k.mu = (real)c->mu1;
        k.phi0 = (real)c->phi0;
        k.normal_impulse = (real)c->gamma_n0;
        real v[3];
        for (int32_t a = 0; a < 3; a++) {
            made_row(p, c, a, rows[a]);
            p->bias[3 * i + a] = scene_integer(&m->scene, 0, 3) == 0 ? 0.05 * scene_normal(&m->scene) : 0.0; // belts
            v[a] = made_dot(p->nv, rows[a], m->v) + (real)p->bias[3 * i + a];
            k.before[a] = (real)p->bias[3 * i + a];
            for (int32_t e = 0; e < p->nv; e++) {
                k.before[a] += rows[a][e] * (real)p->v0[e];
            }
        }
        if (law->least > 0.0 && !(k.phi0 + k.dt * v[2] > 1e-4L)) { // a barrier: the chosen v keeps a gap
            p->bias[3 * i + 2] += (double)((2e-4L - k.phi0) / k.dt - v[2]);
            v[2] = made_dot(p->nv, rows[2], m->v) + (real)p->bias[3 * i + 2];
        }
        law->impulse(&k, v, m->gamma + 3 * i);
    }
    made_end(m);
}

static int32_t check_law(stn_context *context, const law_case *law) {
    stn_error err = {0};
    stn_instance *solver = NULL, *instance = NULL;
    stn_problem_solver *ps = NULL;
    const stn_setting settings[] = {number_setting("tolerance", 1e-13), number_setting("max_iterations", 1000.0)};
    const stn_setting own = text_setting(law->setting, law->value);
    assert_ok(stn_instance_create(context, STN_KIND_SOLVER, "sap", settings, 2, &solver, &err), err);
    assert_ok(stn_instance_create(context, STN_KIND_LAW, law->id, &own, law->setting != NULL ? 1 : 0, &instance, &err),
              err);
    const stn_problem_solver_options options = {.solver = solver, .law = instance};
    assert_ok(stn_problem_solver_create(context, &options, &ps, &err), err);
    double worst_v = 0.0, worst_gamma = 0.0;
    int32_t bad = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        static made m;
        make(&m, context, law, seed);
        static double v[MADE_DOFS], gamma[MADE_ROWS];
        const stn_solve_request request = {.masses = true};
        stn_solution solution = {.v = v, .gamma = gamma};
        stn_solve_report report;
        stn_status status = stn_problem_solve(ps, &m.scene.problem, &request, &solution, &report, NULL, &err);
        if (status < 0) {
            fail_msg("%s, seed %d: %s", law->id, (int)seed, err.text);
        }
        double off_v = made_error_of_v(&m, v), off_gamma = made_error_of_gamma(&m, gamma);
        worst_v = worse(worst_v, off_v);
        worst_gamma = worse(worst_gamma, off_gamma);
        if (!(off_v <= 1e-12 && off_gamma <= 1e-12)) {
            print_message("%s, seed %d: v off by %.1e, gamma by %.1e (%s)\n", law->id, (int)seed, off_v, off_gamma,
                          report.reason);
            bad++;
        }
        scene_end(&m.scene);
    }
    print_message("%s %s: v off by at most %.1e, gamma by %.1e\n", law->id, law->value != NULL ? law->value : "",
                  worst_v, worst_gamma);
    stn_problem_solver_destroy(ps);
    stn_instance_destroy(instance);
    stn_instance_destroy(solver);
    return bad;
}

/// 1e-12: ten times the residual that the solver is asked for, relative to the momentum.
static void the_motion_is_that_of_the_formula(void **state) {
    (void)state;
    stn_context *context = NULL;
    stn_error err = {0};
    assert_ok(stn_context_create(NULL, &context, &err), err);
    int32_t bad = 0;
    for (int32_t k = 0; k < STN_COUNT(cases); k++) {
        bad += check_law(context, &cases[k]);
    }
    stn_context_destroy(context);
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_motion_is_that_of_the_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
