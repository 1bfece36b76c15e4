// SPDX-License-Identifier: Apache-2.0
// Implicit differentiation of solvers against solves nearby: away from changes of mode, and on one side of them.
#include "solver_fixture.h"
#include "stn_scene.h"

static const struct {
    const char *id, *law;
    double bend;   // slopes of both sides differ by more where the mode changes: piecewise linear, or curved
    bool impulses; // are unique
} solvers[] = {{"qp", NULL, 1e-5, false}, {"sap", "sap", 1e-2, true}};

static void choose(fixture *f, int32_t k) {
    const stn_setting settings[] = {number_setting("tolerance", 1e-14), number_setting("absolute_tolerance", 1e-300),
                                    number_setting("max_iterations", 5000.0)};
    assert_ok(try_with(f, solvers[k].id, settings, STN_COUNT(settings), solvers[k].law), f->err);
}

/// The derivative of f->v, f->gamma for one column.
static stn_status differentiate(fixture *f, stn_problem *p, const bool *singular, const double *impulse,
                                const double *velocity, double *dv, double *dgamma) {
    const stn_solver_ops *ops = f->solver->desc->ops.solver;
    stn_arena *arena = stn_arena_create(f->context);
    void *workspace = NULL;
    const stn_law law = f->law != NULL ? stn_law_of(f->law) : (stn_law){0};
    if (ops->create_workspace != NULL) {
        assert_ok(ops->create_workspace(f->solver->self, f->context, &workspace, &f->err), f->err);
    }
    const stn_solve_control control = {.tolerance = 1e-14,
                                       .absolute_tolerance = 1e-300,
                                       .max_iterations = 5000,
                                       .context = f->context,
                                       .arena = arena,
                                       .law = f->law != NULL ? &law : NULL,
                                       .workspace = workspace,
                                       .singular = singular};
    const stn_solution solution = {.v = f->v, .gamma = f->gamma};
    const stn_sensitivity sensitivity = {1, impulse, velocity, dv, dgamma, NULL};
    stn_status status = ops->differentiate(f->solver->self, p, &control, &solution, &sensitivity, &f->err);
    if (ops->destroy_workspace != NULL) {
        ops->destroy_workspace(workspace);
    }
    stn_arena_destroy(arena);
    return status;
}

/// Solves with `step` times the column added.
static void solve_beside(fixture *f, stn_problem *p, double step, const double *impulse, const double *velocity,
                         double *v, double *gamma) {
    double *before = calloc((size_t)p->nv + 1, sizeof *before), *given = p->free_impulse;
    for (int32_t d = 0; d < p->nv; d++) {
        before[d] = (given != NULL ? given[d] : 0.0) + step * impulse[d];
    }
    for (int32_t r = 0; r < p->row_count; r++) {
        p->bias[r] += step * velocity[r];
    }
    p->free_impulse = before;
    stn_status status = solve_into(f, p, 0, v, gamma);
    assert_true(status == STN_OK || status == STN_STALLED);
    p->free_impulse = given;
    for (int32_t r = 0; r < p->row_count; r++) {
        p->bias[r] -= step * velocity[r];
    }
    free(before);
}

typedef struct agreement {
    int32_t compared, switches;
    double worst_v, worst_gamma;
    double worst_balance, worst_ray; // qp: of the equations, beside their largest term
} agreement;

/// A dv = J^T dgamma + impulse.
static double balance_error(const stn_problem *p, const double *impulse, const double *dv, const double *dgamma) {
    static double left[MULTICONTACT_MOST];
    double off = 0.0, size = 0.0;
    stn_problem_mass_times(p, dv, NULL, left);
    for (int32_t d = 0; d < p->nv; d++) {
        size = fmax(size, fmax(fabs(left[d]), fabs(impulse[d])));
        left[d] -= impulse[d];
    }
    stn_problem_jacobian_transposed_add(p, -1.0, dgamma, left);
    for (int32_t d = 0; d < p->nv; d++) {
        off = worse(off, fabs(left[d]));
    }
    return off / size;
}

/// r.(J dv + velocity + R dgamma) = 0 of all rays that press, of pyramids with four.
static double ray_error(const stn_problem *p, const double *gamma, const double *velocity, const double *dv,
                        const double *dgamma) {
    static double y[MULTICONTACT_MOST];
    double off = 0.0, size = 0.0;
    stn_problem_contact_velocity(p, dv, false, y);
    for (int32_t k = 0; k < p->row_count; k++) {
        size = fmax(size, fmax(fabs(y[k]), fmax(fabs(velocity[k]), fabs(p->R[k] * dgamma[k]))));
        y[k] += velocity[k] + p->R[k] * dgamma[k];
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        const double *g = gamma + c->row, *own = y + c->row;
        for (int32_t k = 0; k < c->rows && !stn_constraint_has_cone(c); k++) {
            bool inside = c->set == STN_SET_EQUALITY || (g[k] > p->lo[c->row + k] && g[k] < p->hi[c->row + k]);
            off = inside ? fmax(off, fabs(own[k])) : off;
        }
        if (!stn_constraint_has_cone(c) || !(g[2] > 1e-6)) {
            continue;
        }
        const double mu[2] = {c->mu1, c->set == STN_SET_ELLIPSE ? c->mu2 : c->mu1};
        double share[2], sum = 0.0;
        for (int32_t k = 0; k < 2; k++) {
            share[k] = mu[k] > 0.0 ? g[k] / (mu[k] * g[2]) : 0.0;
            sum += fabs(share[k]);
        }
        for (int32_t ray = 0; ray < 4; ray++) {
            const int32_t k = ray / 2;
            const double sign = ray % 2 == 0 ? 1.0 : -1.0;
            if (sum < 1.0 - 1e-6 || sign * share[k] > 1e-6) {
                off = worse(off, fabs(sign * mu[k] * own[k] + own[2]));
            }
        }
    }
    return off / size;
}

/// Where both sides have the same slope it is the derivative, else the derivative is that of one of them.
static void compare(fixture *f, stn_problem *p, const bool *singular, uint64_t seed, int32_t which, agreement *sum) {
    static double impulse[MULTICONTACT_MOST], velocity[MULTICONTACT_MOST], dv[MULTICONTACT_MOST],
        dgamma[MULTICONTACT_MOST], v[2][MULTICONTACT_MOST], gamma[2][MULTICONTACT_MOST];
    const double step = 1e-6;
    stn_random r = {seed};
    for (int32_t d = 0; d < p->nv; d++) {
        impulse[d] = random_real(&r);
    }
    for (int32_t k = 0; k < p->row_count; k++) {
        velocity[k] = random_real(&r);
    }
    stn_status status = solve(f, p);
    if (status == STN_NOT_CONVERGED) { // rigid contacts that contradict each other
        return;
    }
    assert_true(status == STN_OK || status == STN_STALLED);
    static double v0[MULTICONTACT_MOST], gamma0[MULTICONTACT_MOST];
    memcpy(v0, f->v, sizeof v0);
    memcpy(gamma0, f->gamma, sizeof gamma0);
    status = differentiate(f, p, singular, impulse, velocity, dv, dgamma);
    assert_ok(status, f->err);
    if (!solvers[which].impulses) { // not unique: they obey the equations
        sum->worst_balance = worse(sum->worst_balance, balance_error(p, impulse, dv, dgamma));
        sum->worst_ray = worse(sum->worst_ray, ray_error(p, gamma0, velocity, dv, dgamma));
    }
    double sides[2] = {0.0}, apart = 0.0, size = 0.0, off = 0.0, size_gamma = 0.0, off_gamma = 0.0;
    for (int32_t side = 0; side < 2; side++) {
        solve_beside(f, p, side == 0 ? step : -step, impulse, velocity, v[side], gamma[side]);
    }
    for (int32_t d = 0; d < p->nv; d++) {
        double up = (v[0][d] - v0[d]) / step, down = (v0[d] - v[1][d]) / step;
        apart = worse(apart, fabs(up - down));
        size = fmax(size, fabs(dv[d]));
        sides[0] = worse(sides[0], fabs(up - dv[d]));
        sides[1] = worse(sides[1], fabs(down - dv[d]));
        off = worse(off, fabs(0.5 * (up + down) - dv[d]));
    }
    for (int32_t k = 0; k < p->row_count; k++) {
        double slope = 0.5 * (gamma[0][k] - gamma[1][k]) / step;
        size_gamma = fmax(size_gamma, fabs(dgamma[k]));
        off_gamma = worse(off_gamma, fabs(slope - dgamma[k]));
    }
    if (apart > solvers[which].bend * size) {
        sum->switches++;
        return;
    }
    sum->compared++;
    sum->worst_v = worse(sum->worst_v, off / size);
    if (solvers[which].impulses) {
        sum->worst_gamma = worse(sum->worst_gamma, off_gamma / fmax(size_gamma, 1e-12));
    }
}

static void derivatives_are_those_of_solves_nearby(void **state) {
    fixture *f = *state;
    enum { PROBLEMS = 100 };
    for (int32_t k = 0; k < STN_COUNT(solvers); k++) {
        agreement sum = {0};
        choose(f, k);
        for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
            scene s;
            scene_begin(&s, f->context, seed);
            scene_random(&s, 4, 10.0, 0.5);
            compare(f, &s.problem, NULL, seed, k, &sum);
            scene_end(&s);
        }
        leave(f);
        print_message("%s: %d problems, v off by at most %.1e, gamma %.1e; %d at a change of mode\n", solvers[k].id,
                      sum.compared, sum.worst_v, sum.worst_gamma, sum.switches);
        assert_true(sum.compared > PROBLEMS * 8 / 10 && sum.worst_v <= 1e-5 && sum.worst_gamma <= 1e-5);
        print_message("%s: balance off by at most %.1e, rays by %.1e\n", solvers[k].id, sum.worst_balance,
                      sum.worst_ray);
        assert_true(sum.worst_balance <= 1e-9 && sum.worst_ray <= 1e-9);
    }
}

/// Fingers on springs of 0.1 N s/(m/s) squeeze a free cube whose A is 0: one from the left, one from the right.
static void squeezed_cube(scene *s, fixture *f, double push, double lift) {
    static const double spring[9] = {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}, zero[9] = {0};
    static const double left[9] = {0, -1, 0, 0, 0, -1, -1, 0, 0}, cube_l[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
    static const double right[9] = {0, 1, 0, 0, 0, -1, 1, 0, 0}, cube_r[9] = {0, -1, 0, 0, 0, 1, -1, 0, 0};
    scene_begin(s, f->context, 1);
    int32_t a = scene_tree(s, 3, spring), b = scene_tree(s, 3, spring), cube = scene_tree(s, 3, zero);
    scene_constraint(s, 3, cube, cube_l, a, left); // normal +x, into the cube
    scene_constraint(s, 3, cube, cube_r, b, right);
    for (int32_t i = 0; i < 2; i++) {
        stn_constraint *c = &s->problem.constraints[i];
        c->mu1 = c->mu2 = 0.5;
        c->phi0 = 0.0;
        c->relaxation_time = 0.01;
        c->stiffness = 1e5;
        c->w = 10.0;
        c->w_trace = 30.0;
    }
    scene_finish(s);
    s->problem.trees[cube].A.form = STN_MATRIX_ZERO;
    s->problem.v_star[0] = push;
    s->problem.v_star[3] = -push;
    s->problem.free_impulse = scene_reals(s, 9, 0.0);
    s->problem.free_impulse[8] = -lift;
}

static void also_where_A_is_singular(void **state) {
    fixture *f = *state;
    static const bool singular[3] = {false, false, true};
    for (int32_t k = 0; k < STN_COUNT(solvers); k++) {
        agreement sum = {0};
        choose(f, k);
        for (uint64_t seed = 1; seed <= 10; seed++) {
            scene s;
            squeezed_cube(&s, f, 0.5, 0.0045 * (double)seed); // friction holds up to 0.05 N s
            s.problem.constraints[0].w = s.problem.constraints[1].w = 10.0;
            compare(f, &s.problem, singular, seed, k, &sum);
            scene_end(&s);
        }
        leave(f);
        print_message("%s: %d problems, v off by at most %.1e, gamma %.1e; %d at a change of mode\n", solvers[k].id,
                      sum.compared, sum.worst_v, sum.worst_gamma, sum.switches);
        assert_true(sum.compared >= 8 && sum.worst_v <= 1e-5 && sum.worst_gamma <= 1e-5);
        print_message("%s: balance off by at most %.1e, rays by %.1e\n", solvers[k].id, sum.worst_balance,
                      sum.worst_ray);
        assert_true(sum.worst_balance <= 1e-9 && sum.worst_ray <= 1e-9);
    }
}

/// A point that touches without force, and one that is about to slip: the derivative is that of one of the sides.
static void at_a_change_of_mode_it_is_one_side(void **state) {
    fixture *f = *state;
    static const double A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double start[2][3] = {{0.0, 0.0, 0.0}, {0.5, 0.0, -1.0}}, along[2][3] = {{0, 0, 1}, {1, 0, 0}};
    for (int32_t k = 0; k < STN_COUNT(solvers); k++) {
        choose(f, k);
        for (int32_t i = 0; i < 2; i++) {
            scene s;
            scene_begin(&s, f->context, 1);
            scene_constraint(&s, 3, scene_tree(&s, 3, A), A, -1, NULL);
            stn_constraint *c = &s.problem.constraints[0];
            c->mu1 = c->mu2 = 0.5;
            c->phi0 = 0.0;
            scene_finish(&s);
            memcpy(s.problem.v_star, start[i], sizeof start[i]);
            double none[3] = {0.0}, dv[3], dgamma[3], v0[3], v[3], gamma[3], least = INFINITY, slopes[2];
            stn_status status = solve(f, &s.problem);
            assert_true(status == STN_OK || status == STN_STALLED);
            memcpy(v0, f->v, sizeof v0);
            assert_ok(differentiate(f, &s.problem, NULL, along[i], none, dv, dgamma), f->err);
            for (int32_t side = 0; side < 2; side++) {
                const double step = side == 0 ? 1e-6 : -1e-6;
                solve_beside(f, &s.problem, step, along[i], none, v, gamma);
                double off = 0.0;
                for (int32_t d = 0; d < 3; d++) {
                    off = worse(off, fabs((v[d] - v0[d]) / step - dv[d]));
                }
                slopes[side] = (v[i == 0 ? 2 : 0] - v0[i == 0 ? 2 : 0]) / step;
                least = fmin(least, off);
            }
            print_message("%s, %s: slopes %g and %g, derivative %g\n", solvers[k].id, i == 0 ? "touch" : "slip",
                          slopes[0], slopes[1], dv[i == 0 ? 2 : 0]);
            assert_true(least <= 1e-3);
            scene_end(&s);
        }
        leave(f);
    }
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CLAIM(derivatives_are_those_of_solves_nearby),
        CLAIM(also_where_A_is_singular),
        CLAIM(at_a_change_of_mode_it_is_one_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
