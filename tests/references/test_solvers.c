// SPDX-License-Identifier: Apache-2.0
// Every solver on contact problems whose solution was chosen first (manufactured.h): stick, slide, open and smooth
// contacts of each formulation. What is asked of a contact, with its own W, R and v_hat, u = v_c - v_hat + R gamma,
// K = {|D^-1 gamma_t| <= gamma_n}, D = diag(mu1, mu2), and K* its dual:
//
//     relaxation            K  contains gamma _|_ u                           in K*      (law sap too, with its R)
//     Coulomb               K  contains gamma _|_ u + |D u_t| e_n             in K*
//     maximal dissipation   K  contains gamma _|_ u + (u_n = 0: nu) W e_n     in K*,  u_n >= 0
//
// Along a tangent the pyramids of lemke and qp have a corner, so what slides that way is a solution of theirs too.
#include <stiction/solve.h>

#include "manufactured.h"
#include "stn_setting.h"

typedef enum formulation { RELAXED, COULOMB, DISSIPATION } formulation;
typedef enum contact_mode { STICK, SLIDE, OPEN, SMOOTH, MODE_COUNT } contact_mode;

typedef struct solver_way {
    const char *id, *setting, *value, *law; // setting and law may be NULL
    formulation formulation;
    bool elliptic;  // takes ellipses
    bool corners;   // friction on a pyramid
    double allowed; // of v and gamma, relative
} solver_way;

// Each is asked for a residual of 1e-12. It may miss the solution by 1e-9, since the condition number of W is up to
// 1e3; pivoting methods by round-off. Newton's method ends far below what it was asked for. The digits of ipm end at
// 1e-8.
static const solver_way ways[] = {
    {"sap", NULL, NULL, "sap", RELAXED, true, false, 1e-10},
    {"sap", "line_search", "armijo", "sap", RELAXED, true, false, 1e-10},
    {"apgd", NULL, NULL, "sap", RELAXED, true, false, 1e-9},
    {"apgd", NULL, NULL, NULL, RELAXED, true, false, 1e-9},
    {"admm", NULL, NULL, "sap", RELAXED, true, false, 1e-9},
    {"admm", NULL, NULL, NULL, RELAXED, true, false, 1e-9},
    {"admm_split", NULL, NULL, "sap", RELAXED, true, false, 1e-9},
    {"admm_split", NULL, NULL, NULL, RELAXED, true, false, 1e-9},
    {"ipm", NULL, NULL, "sap", RELAXED, true, false, 1e-8},
    {"ipm", NULL, NULL, NULL, RELAXED, true, false, 1e-8},
    {"cond_proximal", NULL, NULL, "sap", RELAXED, true, false, 1e-9},
    {"cond_proximal", NULL, NULL, NULL, RELAXED, true, false, 1e-9},
    {"bisection", "local", "ccp", NULL, RELAXED, true, false, 1e-9},
    {"qp", "method", "active_set", NULL, RELAXED, true, true, 1e-12},
    {"qp", "method", "interior_point", NULL, RELAXED, true, true, 1e-9},
    {"lemke", "friction", "anitescu", NULL, RELAXED, true, true, 1e-12},
    {"bisection", "local", "coulomb", NULL, COULOMB, true, false, 1e-9},
    {"nsgs", NULL, NULL, NULL, COULOMB, true, false, 1e-9},
    {"pgs", "friction", "disc", NULL, COULOMB, true, false, 1e-9},
    {"newton_ncp", NULL, NULL, NULL, COULOMB, true, false, 1e-9},
    {"admm_ncp", NULL, NULL, NULL, COULOMB, true, false, 1e-9},
    {"admm_split_ncp", NULL, NULL, NULL, COULOMB, true, false, 1e-9},
    {"cond", NULL, NULL, NULL, COULOMB, true, false, 1e-9},
    {"auto", NULL, NULL, NULL, COULOMB, true, false, 1e-9},
    {"lemke", NULL, NULL, NULL, COULOMB, true, true, 1e-12},
    {"bisection", "local", "bisection", NULL, DISSIPATION, true, false, 1e-9},
    {"bisection", "local", "golden", NULL, DISSIPATION, true, false, 1e-9},
    {"bisection", "local", "quartic", NULL, DISSIPATION, true, false, 1e-9},
};

/// How a contact is, and u, gamma that fit its formulation; W is its own, R within.
static void choose_contact(made *m, const solver_way *way, contact_mode kind, const stn_constraint *c, const real W[9],
                           real u[3], real gamma[3]) {
    const real mu1 = (real)c->mu1, mu2 = (real)c->mu2, force = made_uniform(m, 0.2, 1.0);
    const real quarters = (real)scene_integer(&m->scene, 0, 3), right = acosl(0.0L);
    const real angle = way->corners ? right * quarters : made_uniform(m, 0.0, 4.0 * (double)right);
    real x = cosl(angle), y = sinl(angle), speed = made_uniform(m, 0.1, 0.6);
    x = fabsl(x) < 1e-15L ? 0.0L : x; // a corner
    y = fabsl(y) < 1e-15L ? 0.0L : y;
    for (int32_t a = 0; a < 3; a++) {
        u[a] = gamma[a] = 0.0L;
    }
    switch (kind) {
    case STICK:
        gamma[2] = force; // within the pyramid: 0.6 < 1/sqrt(2)
        gamma[0] = 0.6L * mu1 * force * x;
        gamma[1] = 0.6L * mu2 * force * y;
        break;
    case SLIDE: // u_t = -speed (x/mu1, y/mu2) is normal to the ellipse where gamma_t is, |D u_t| = speed
        gamma[0] = mu1 * force * x;
        gamma[1] = mu2 * force * y;
        gamma[2] = force;
        u[0] = -speed * x / mu1;
        u[1] = -speed * y / mu2;
        u[2] = way->formulation == COULOMB ? 0.0L : speed;
        if (way->formulation == DISSIPATION) {
            real nu = u[2] / W[8];
            for (int32_t a = 0; a < 3; a++) {
                u[a] -= nu * W[3 * a + 2];
            }
            u[2] = 0.0L;
        }
        break;
    case OPEN:
        u[0] = speed * x;
        u[1] = speed * y;
        u[2] = 0.2L + (way->formulation == RELAXED ? hypotl(mu1 * u[0], mu2 * u[1]) : 0.0L);
        break;
    case SMOOTH:
    default:
        gamma[2] = force;
        u[0] = speed * x;
        u[1] = speed * y;
        break;
    }
}

/// R and v_hat by their formulas: those of law sap with its default parameters, else of the contact's compliance alone.
static void regularisation(const stn_problem *p, const stn_constraint *c, const char *law, real R[3], real v_hat[3]) {
    const real time = (real)p->dt + (real)c->relaxation_time, pi = 2.0L * acosl(0.0L);
    const real compliance = isinf(c->stiffness) ? 0.0L : 1.0L / ((real)p->dt * (real)c->stiffness * time);
    R[0] = R[1] = 0.0L;
    R[2] = compliance;
    v_hat[0] = v_hat[1] = 0.0L;
    v_hat[2] = -(real)c->phi0 / time;
    if (law != NULL) {
        const real w = made_inverse_mass(p, c), mu = fmaxl((real)c->mu1, (real)c->mu2);
        R[0] = 1e-3L * w;
        R[1] = R[0];
        if (c->set == STN_SET_ELLIPSE) { // of the stretched cone: the law stays associated
            R[0] *= mu * mu / ((real)c->mu1 * (real)c->mu1);
            R[1] *= mu * mu / ((real)c->mu2 * (real)c->mu2);
        }
        R[2] = fmaxl(w / (4.0L * pi * pi), compliance);
    }
}

/// v with J v = target and otherwise at random: J has full row rank.
static void choose_velocity(made *m, const real *target) {
    static real J[MADE_ROWS][MADE_DOFS], M[MADE_ROWS * MADE_ROWS];
    const stn_problem *p = &m->scene.problem;
    const int32_t rows = p->row_count, n = p->nv;
    real rest[MADE_ROWS];
    for (int32_t k = 0; k < n; k++) {
        m->v[k] = made_uniform(m, -0.5, 0.5);
    }
    for (int32_t r = 0; r < rows; r++) {
        made_row(p, &p->constraints[r / 3], r % 3, J[r]);
        rest[r] = target[r] - made_dot(n, J[r], m->v);
    }
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t k = 0; k < rows; k++) {
            M[r * rows + k] = made_dot(n, J[r], J[k]);
        }
    }
    made_eliminate(rows, M, rest);
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t k = 0; k < n; k++) {
            m->v[k] += J[r][k] * rest[r];
        }
    }
}

/// 1 to 5 bodies with one or two contacts each, in all modes.
static void make(made *m, stn_context *context, const solver_way *way, uint64_t seed) {
    const int32_t bodies = 1 + (int32_t)(seed % 5), contacts = bodies == 1 ? 1 : (3 * bodies) / 2;
    made_begin(m, context, seed, bodies, contacts);
    stn_problem *p = &m->scene.problem;
    real target[MADE_ROWS];
    for (int32_t i = 0; i < contacts; i++) {
        stn_constraint *c = &p->constraints[i];
        const contact_mode kind = bodies == 1 ? (contact_mode)(seed / 5 % MODE_COUNT)
                                              : (contact_mode)scene_integer(&m->scene, 0, MODE_COUNT - 1);
        c->phi0 = scene_uniform(&m->scene, -1e-3, 1e-3);
        c->stiffness =
            scene_integer(&m->scene, 0, 1) == 0 ? (double)INFINITY : pow(10.0, scene_uniform(&m->scene, 3.0, 6.0));
        c->relaxation_time = isinf(c->stiffness) ? 0.0 : scene_uniform(&m->scene, 0.0, 0.02);
        c->mu1 = c->mu2 = kind == SMOOTH ? 0.0 : scene_uniform(&m->scene, 0.1, 0.6);
        if (way->elliptic && kind != SMOOTH && scene_integer(&m->scene, 0, 1) == 0) {
            c->set = STN_SET_ELLIPSE;
            c->mu2 = c->mu1 * scene_uniform(&m->scene, 0.4, 1.6);
        }
        real R[3], v_hat[3], W[9], u[3];
        regularisation(p, c, way->law, R, v_hat);
        made_own_block(p, c, W);
        for (int32_t a = 0; a < 3; a++) {
            W[4 * a] += R[a];
        }
        choose_contact(m, way, kind, c, W, u, m->gamma + 3 * i);
        for (int32_t a = 0; a < 3; a++) {
            target[3 * i + a] = u[a] + v_hat[a] - R[a] * m->gamma[3 * i + a];
        }
    }
    choose_velocity(m, target);
    made_end(m);
}

static int32_t check_way(stn_context *context, const solver_way *way) {
    stn_error err = {0};
    stn_instance *solver = NULL, *law = NULL;
    stn_problem_solver *ps = NULL;
    const stn_setting settings[] = {number_setting("tolerance", 1e-12), number_setting("max_iterations", 100000.0),
                                    text_setting(way->setting, way->value)};
    assert_ok(
        stn_instance_create(context, STN_KIND_SOLVER, way->id, settings, way->setting != NULL ? 3 : 2, &solver, &err),
        err);
    if (way->law != NULL) {
        assert_ok(stn_instance_create(context, STN_KIND_LAW, way->law, NULL, 0, &law, &err), err);
    }
    const stn_problem_solver_options options = {.solver = solver, .law = law};
    assert_ok(stn_problem_solver_create(context, &options, &ps, &err), err);
    double worst_v = 0.0, worst_gamma = 0.0;
    int32_t bad = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        static made m;
        make(&m, context, way, seed);
        static double v[MADE_DOFS], gamma[MADE_ROWS];
        static char memory[1 << 16];
        memset(memory, 0, sizeof memory);
        assert_true((size_t)m.scene.problem.constraint_count * (size_t)solver->desc->memory_per_constraint <=
                    sizeof memory);
        const stn_solve_request request = {.masses = true,
                                           .solver_memory = solver->desc->memory_per_constraint > 0 ? memory : NULL};
        stn_solution solution = {.v = v, .gamma = gamma};
        stn_solve_report report;
        stn_status status = stn_problem_solve(ps, &m.scene.problem, &request, &solution, &report, NULL, &err);
        if (status < 0) {
            fail_msg("%s, seed %d: %s", way->id, (int)seed, err.text);
        }
        double off_v = made_error_of_v(&m, v), off_gamma = made_error_of_gamma(&m, gamma);
        worst_v = worse(worst_v, off_v);
        worst_gamma = worse(worst_gamma, off_gamma);
        if (!(off_v <= way->allowed && off_gamma <= way->allowed)) {
            print_message("%s %s %s, seed %d: v off by %.1e, gamma by %.1e (%s)\n", way->id,
                          way->value != NULL ? way->value : "", way->law != NULL ? way->law : "", (int)seed, off_v,
                          off_gamma, report.reason);
            bad++;
        }
        scene_end(&m.scene);
    }
    print_message("%s %s %s: v off by at most %.1e, gamma by %.1e\n", way->id, way->value != NULL ? way->value : "",
                  way->law != NULL ? "with law sap" : "", worst_v, worst_gamma);
    stn_problem_solver_destroy(ps);
    stn_instance_destroy(law);
    stn_instance_destroy(solver);
    return bad;
}

static void solvers_find_the_solution_that_was_chosen(void **state) {
    (void)state;
    stn_context *context = NULL;
    stn_error err = {0};
    assert_ok(stn_context_create(NULL, &context, &err), err);
    int32_t bad = 0;
    for (int32_t k = 0; k < STN_COUNT(ways); k++) {
        bad += check_way(context, &ways[k]);
    }
    stn_context_destroy(context);
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_find_the_solution_that_was_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
