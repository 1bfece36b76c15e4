// SPDX-License-Identifier: Apache-2.0
// Solver qp: every answer against the conditions of the program itself, against lemke on its dual and ipm on the exact
// cone; impulses where many are right; derivatives against solves nearby.
#include "anitescu.h"
#include "sample_problem.h"
#include "solver_fixture.h"
#include "stn_scene.h"

/// The method of qp that the tests below solve with.
static const char *method = "active_set";

static int setup_interior_point(void **state) {
    method = "interior_point";
    return setup(state);
}

static int teardown_method(void **state) {
    method = "active_set";
    return teardown(state);
}

static void choose(fixture *f, const char *id, double directions, const char *word) {
    const bool qp = strcmp(id, "qp") == 0, lemke = strcmp(id, "lemke") == 0;
    const stn_setting settings[] = {
        number_setting("tolerance", qp || lemke ? 1e-11 : 1e-9), number_setting("max_iterations", 100000.0),
        number_setting("directions", directions), text_setting(qp ? "impulses" : "friction", qp ? word : "anitescu"),
        text_setting("method", method)};
    choose_with(f, id, settings, qp ? 5 : lemke ? 4 : 2);
}

/// The largest speed that a solution has to be near to.
static double speed_of(const stn_problem *p, const double *v) {
    static double v_c[MULTICONTACT_MOST];
    double speed = 1e-300;
    stn_problem_contact_velocity(p, v, true, v_c);
    for (int32_t r = 0; r < p->row_count; r++) {
        speed = fmax(speed, fmax(fabs(v_c[r]), fmax(fabs(p->v_hat[r]), fabs(p->bias[r]))));
    }
    stn_problem_contact_velocity(p, p->v_star, true, v_c);
    for (int32_t r = 0; r < p->row_count; r++) {
        speed = fmax(speed, fabs(v_c[r]));
    }
    return speed;
}

// ------------------------------------------------------------------------------------------------------ random
// problems

/// Trees of all forms with cones, ellipses, boxes and equalities, some of them twice, some soft; all of it in units of
/// `size` kg and `fast` m/s. R is stated.
static sample *random_sample(uint64_t seed, double size, double fast) {
    stn_random r = {seed};
    sample *s = sample_create();
    stn_problem *p = &s->problem;
    for (int32_t t = 1 + random_below(&r, 4); t > 0; t--) {
        const int32_t form = random_below(&r, 3);
        sample_tree(s, &r,
                    form == 0   ? STN_MATRIX_DENSE
                    : form == 1 ? STN_MATRIX_DIAGONAL
                                : STN_MATRIX_NODAL,
                    3 * (1 + random_below(&r, 3)));
    }
    for (int32_t c = random_below(&r, 8); c > 0; c--) {
        const int32_t a = random_below(&r, p->tree_count), kind = random_below(&r, 6);
        int32_t b = random_below(&r, p->tree_count + 1);
        b = b == a || b == p->tree_count ? -1 : b;
        const stn_constraint_set set = kind < 3    ? STN_SET_CONE
                                       : kind == 3 ? STN_SET_ELLIPSE
                                       : kind == 4 ? STN_SET_BOX
                                                   : STN_SET_EQUALITY;
        stn_constraint *k = sample_constraint(s, &r, set, kind < 4 ? 3 : 1 + random_below(&r, 2), a, 0, b, 0);
        k->mu1 = random_below(&r, 5) == 0 ? 0.0 : fabs(random_real(&r));
        k->mu2 = set == STN_SET_ELLIPSE ? (random_below(&r, 4) == 0 ? 0.0 : fabs(random_real(&r))) : k->mu1;
        if (random_below(&r, 4) == 0) { // the same once more
            stn_constraint *again = sample_constraint(s, &r, set, k->rows, a, 0, b, 0);
            const stn_constraint own = *again;
            *again = *k;
            again->id = own.id;
            again->row = own.row;
        }
    }
    sample_finish(s, &r);
    const bool soft = random_below(&r, 2) == 0;
    for (int32_t k = 0; k < p->row_count; k++) {
        p->R[k] = soft && random_below(&r, 2) == 0 ? fabs(random_real(&r)) / size : 0.0;
        p->bias[k] = 0.0;
        p->v_hat[k] = 0.0; // what is v_star now can be held: rigid rows that repeat do not contradict each other
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t k = c->row; k < c->row + c->rows && c->set == STN_SET_BOX; k++) {
            p->lo[k] = random_below(&r, 2) == 0 ? -0.1 * size * fast : 0.0;
            p->hi[k] = random_below(&r, 2) == 0 ? 0.1 * size * fast : (double)INFINITY;
        }
    }
    for (int32_t t = 0; t < p->tree_count; t++) {
        stn_matrix *A = &p->trees[t].A;
        for (int64_t k = 0; k < stn_matrix_value_count(A); k++) {
            A->values[k] *= size;
        }
    }
    for (int32_t d = 0; d < p->nv; d++) {
        p->v_star[d] *= fast;
        p->v_guess[d] *= fast;
    }
    p->explicit_R = true;
    return s;
}

static void answers_meet_the_conditions_of_the_program(void **state) {
    fixture *f = *state;
    enum { PROBLEMS = 600 };
    static const struct { double size, fast; } units[] = {{1.0, 1.0}, {1e-9, 1e3}, {1e6, 1e-6}};
    static double v_c[MULTICONTACT_MOST];
    double worst = 0.0;
    int32_t empty = 0, most = 0;
    for (int32_t u = 0; u < STN_COUNT(units); u++) {
        for (int32_t directions = 4; directions <= 16; directions += directions < 8 ? 2 : 8) {
            choose(f, "qp", directions, "minimum_norm");
            for (uint64_t seed = 1; seed <= PROBLEMS / 4; seed++) {
                sample *s = random_sample(seed, units[u].size, units[u].fast);
                assert_ok(solve(f, &s->problem), f->err);
                double error = anitescu_error(&s->problem, directions, f->v, f->gamma, v_c);
                error /= speed_of(&s->problem, f->v);
                if (!(error <= 1e-10 && f->certificate.momentum <= 1e-10)) {
                    fail_msg("seed %d, %d directions, %g kg, %g m/s: error %g, momentum %g", (int)seed, directions,
                             units[u].size, units[u].fast, error, f->certificate.momentum);
                }
                worst = worse(worst, error);
                empty += s->problem.row_count == 0;
                most = f->report.iterations > most ? f->report.iterations : most;
                sample_clear(s);
            }
            leave(f);
        }
    }
    print_message("worst error %.1e of the speeds, at most %d moves, %d problems without rows\n", worst, most, empty);
    assert_true(empty > 0);
}

static void lemke_on_the_dual_moves_the_same(void **state) {
    fixture *f = *state;
    enum { PROBLEMS = 200 };
    static double v[MULTICONTACT_MOST];
    double worst = 0.0;
    int32_t compared = 0;
    for (int32_t directions = 4; directions <= 10; directions += 6) {
        for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
            sample *s = random_sample(seed, 1.0, 1.0);
            choose(f, "lemke", directions, NULL);
            stn_status status = solve(f, &s->problem);
            assert_true(status >= STN_OK);
            memcpy(v, f->v, sizeof v);
            leave(f);
            choose(f, "qp", directions, "vertex");
            assert_ok(solve(f, &s->problem), f->err);
            leave(f);
            if (status == STN_OK) {
                double size = fmax(multicontact_largest(s->problem.nv, s->problem.v_star, NULL), 1e-300);
                worst = worse(worst, multicontact_largest(s->problem.nv, f->v, v) / size);
                compared++;
            }
            sample_clear(s);
        }
    }
    print_message("%d of %d compared, v off by at most %.1e\n", compared, 2 * PROBLEMS, worst);
    assert_true(worst <= 1e-8 && compared >= 2 * PROBLEMS * 95 / 100);
}

/// Velocities to 1e-12. Impulses to 1e-7 where there are contacts alone: rows with bounds keep those that a method
/// found.
static void both_methods_agree(void **state) {
    fixture *f = *state;
    enum { PROBLEMS = 300 };
    static const struct { double size, fast; } units[] = {{1.0, 1.0}, {1e-9, 1e3}, {1e6, 1e-6}};
    static double v[MULTICONTACT_MOST], gamma[MULTICONTACT_MOST];
    double worst = 0.0;
    int32_t others = 0, compared = 0;
    for (int32_t u = 0; u < STN_COUNT(units); u++) {
        for (int32_t directions = 4; directions <= 10; directions += 6) {
            for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
                sample *s = random_sample(seed, units[u].size, units[u].fast);
                const stn_problem *p = &s->problem;
                method = "active_set";
                choose(f, "qp", directions, "minimum_norm");
                assert_ok(solve_into(f, p, 0, v, gamma), f->err);
                leave(f);
                method = "interior_point";
                choose(f, "qp", directions, "minimum_norm");
                assert_ok(solve(f, p), f->err);
                leave(f);
                double size = fmax(multicontact_largest(p->nv, p->v_star, NULL), 1e-300);
                size = fmax(size, multicontact_largest(p->nv, v, NULL));
                worst = worse(worst, multicontact_largest(p->nv, f->v, v) / size);
                bool cones = true;
                for (int32_t i = 0; i < p->constraint_count; i++) {
                    cones = cones && stn_constraint_has_cone(&p->constraints[i]);
                }
                double impulse = multicontact_largest(p->row_count, gamma, NULL);
                compared += cones && impulse > 0.0;
                bool differ = cones && multicontact_largest(p->row_count, f->gamma, gamma) > 1e-7 * impulse;
                others += differ;
                sample_clear(s);
            }
        }
    }
    print_message("%d problems: v differs by at most %.1e, %d of %d have other impulses\n", 6 * PROBLEMS, worst, others,
                  compared);
    assert_true(worst <= 1e-12 && others == 0 && compared >= PROBLEMS);
}

/// A point of 1 kg slides towards the middle of an edge: friction is that of the cone times cos(pi/n), exactly.
static void friction_is_short_by_one_minus_cosine(void **state) {
    fixture *f = *state;
    static const double A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double mu = 0.5, slip = 3.0;
    for (int32_t n = 4; n <= 256; n *= 2) {
        const double angle = STN_PI / n, c = cos(angle), beta = (1.0 + mu * c * slip) / (1.0 + mu * mu * c * c);
        scene s;
        scene_begin(&s, f->context, 1);
        scene_constraint(&s, 3, scene_tree(&s, 3, A), A, -1, NULL);
        s.problem.constraints[0].mu1 = s.problem.constraints[0].mu2 = mu;
        scene_finish(&s);
        s.problem.v_star[0] = slip * cos(angle);
        s.problem.v_star[1] = slip * sin(angle);
        s.problem.v_star[2] = -1.0;
        choose(f, "qp", n, "minimum_norm");
        assert_ok(solve(f, &s.problem), f->err);
        leave(f);
        // an interior point's set has both rays of the edge, which are apart by 2 sin(angle) alone
        const double allowed = strcmp(method, "active_set") == 0 ? 1e-14 : 1e-15 / sin(angle);
        assert_near(f->v[0], (slip - mu * c * beta) * cos(angle), allowed);
        assert_near(f->v[1], (slip - mu * c * beta) * sin(angle), allowed);
        assert_near(f->v[2], beta - 1.0, allowed);
        scene_end(&s);
    }
}

/// Friction acts along the nearest corner, off by up to pi/n, and is short by 1 - cos(pi/n).
static void many_directions_approach_the_cone(void **state) {
    fixture *f = *state;
    enum { PROBLEMS = 60 };
    static const double directions[] = {4.0, 16.0, 64.0, 256.0};
    static double v[MULTICONTACT_MOST];
    double error[4] = {0.0};
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
        scene s;
        scene_begin(&s, f->context, seed);
        scene_random(&s, 3, 10.0, 0.3);
        choose(f, "ipm", 0.0, NULL);
        stn_status status = solve(f, &s.problem);
        assert_true(status == STN_OK || status == STN_STALLED);
        memcpy(v, f->v, sizeof v);
        leave(f);
        for (int32_t k = 0; k < STN_COUNT(directions); k++) {
            choose(f, "qp", directions[k], "vertex");
            assert_ok(solve(f, &s.problem), f->err);
            leave(f);
            error[k] += scene_distance(&s.problem, f->v, v) / scene_distance(&s.problem, v, NULL) / PROBLEMS;
        }
        scene_end(&s);
    }
    for (int32_t k = 0; k < STN_COUNT(directions); k++) {
        double loss = 1.0 - cos(STN_PI / directions[k]);
        print_message("%3.0f directions: error %.2e, pi/n %.2e, 1 - cos(pi/n) %.2e\n", directions[k], error[k],
                      STN_PI / directions[k], loss);
        assert_true(error[k] <= 0.3 * STN_PI / directions[k]); // mu times the angle
        assert_true(k == 0 || error[k] < error[k - 1] / 2.0);  // 4 but for the problems' luck
    }
}

// -------------------------------------------------------------------------------------------------------------
// impulses

/// A box of 1 kg whose four corners touch the ground, pushed by `push` N s along x.
static void box_on_ground(scene *s, fixture *f, double push) {
    static const double A[36] = {[0] = 1, [7] = 1, [14] = 1, [21] = 0.01, [28] = 0.01, [35] = 0.01};
    stn_mat3 frame = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    scene_begin(s, f->context, 1);
    int32_t body = scene_tree(s, 6, A);
    for (int32_t k = 0; k < 4; k++) {
        double J[18];
        scene_body_rows((stn_vec3){k % 2 == 0 ? 0.1 : -0.1, k < 2 ? 0.1 : -0.1, -0.1}, &frame, 1.0, J);
        stn_constraint *c = scene_constraint(s, 3, body, J, -1, NULL);
        c->mu1 = c->mu2 = 0.5;
        c->phi0 = 0.0;
        c->stiffness = (double)INFINITY;
    }
    scene_finish(s);
    s->problem.v_star[0] = push;
    s->problem.v_star[2] = -0.1;
}

static void a_box_loads_its_corners_alike(void **state) {
    fixture *f = *state;
    scene s;
    static double v[6];
    box_on_ground(&s, f, 0.02);
    choose(f, "qp", 4.0, "vertex");
    assert_ok(solve(f, &s.problem), f->err);
    memcpy(v, f->v, sizeof v);
    leave(f);
    choose(f, "qp", 4.0, "minimum_norm");
    assert_ok(solve(f, &s.problem), f->err);
    assert_true(multicontact_largest(6, f->v, v) <= 1e-14);
    // 0.1 N s of weight; -0.02 N s of friction at 0.1 m below the centre, which 0.2 m of base balance
    double friction = 0.0;
    for (int32_t k = 0; k < 4; k++) {
        bool front = k % 2 == 0;
        assert_near(f->gamma[3 * k + 2], 0.025 + (front ? 0.005 : -0.005), 1e-14);
        assert_near(f->gamma[3 * k], f->gamma[3 * (k ^ 2)], 1e-14); // left as right
        assert_near(f->gamma[3 * k + 1], 0.0, 1e-14);
        friction += f->gamma[3 * k];
    }
    assert_near(friction, -0.02, 1e-14);
    leave(f);
    scene_end(&s);
}

/// The least sum of squares of beta along the rays x, y, -x, -y of mu = 0.5 that make gamma; infinite: none do. By
/// trying how the normal impulse may be shared between the two axes.
static double least_squares(const double *gamma, double normal) {
    enum { SHARES = 2000 };
    const double a = gamma[0] / 0.5, b = gamma[1] / 0.5;
    double best = INFINITY;
    for (int32_t k = 0; k <= SHARES; k++) {
        double x = normal * k / SHARES, y = normal - x;
        if (fabs(a) <= x + 1e-12 && fabs(b) <= y + 1e-12) {
            best = fmin(best, 0.5 * (x * x + a * a + y * y + b * b));
        }
    }
    return best;
}

/// More load on two opposite corners and less on the others moves nothing, and is never smaller.
static void no_other_impulses_are_smaller(void **state) {
    fixture *f = *state;
    scene s;
    box_on_ground(&s, f, 0.03);
    choose(f, "qp", 4.0, "minimum_norm");
    assert_ok(solve(f, &s.problem), f->err);
    double least = INFINITY, own = NAN;
    for (int32_t t = -40; t <= 40; t++) {
        double sum = 0.0;
        for (int32_t i = 0; i < 4; i++) {
            sum += least_squares(f->gamma + 3 * i, f->gamma[3 * i + 2] + (i == 0 || i == 3 ? 1e-4 : -1e-4) * t);
        }
        own = t == 0 ? sum : own;
        least = fmin(least, sum);
    }
    assert_true(own <= least + 1e-9);
    leave(f);
    scene_end(&s);
}

static void contradictions_are_said(void **state) {
    fixture *f = *state;
    const double A[1] = {2.0}, right[3] = {0.0, 0.0, 1.0}, left[3] = {0.0, 0.0, -1.0};
    scene s;
    scene_begin(&s, f->context, 1);
    int32_t body = scene_tree(&s, 1, A);
    scene_constraint(&s, 3, body, right, -1, NULL);
    scene_constraint(&s, 3, body, left, -1, NULL);
    scene_finish(&s);
    s.problem.bias[2] = s.problem.bias[5] = -1.0; // v >= 1 and v <= -1
    choose(f, "qp", 4.0, "minimum_norm");
    assert_int_equal(solve(f, &s.problem), STN_NOT_CONVERGED);
    assert_string_equal(f->report.reason, "contradiction");
    s.problem.bias[5] = 1.0; // v = 1: both touch
    assert_ok(solve(f, &s.problem), f->err);
    assert_near(f->v[0], 1.0, 1e-14);
    assert_near(f->gamma[2] - f->gamma[5], 2.0, 1e-14);
    leave(f);
    scene_end(&s);
}

/// Two dofs, A = `mass`, and rows that J v is to be equal to.
static void equal_rows(scene *s, fixture *f, double mass, int32_t count, const double (*J)[2], const double *targets) {
    const double A[4] = {[0] = mass, [3] = mass};
    scene_begin(s, f->context, 1);
    int32_t body = scene_tree(s, 2, A);
    for (int32_t i = 0; i < count; i++) {
        scene_constraint(s, 1, body, J[i], -1, NULL)->set = STN_SET_EQUALITY;
    }
    scene_finish(s);
    for (int32_t i = 0; i < count; i++) {
        s->problem.lo[i] = -(double)INFINITY;
        s->problem.hi[i] = (double)INFINITY;
        s->problem.v_hat[i] = targets[i];
        s->problem.R[i] = 0.0;
    }
    s->problem.explicit_R = true;
}

/// Rows that repeat others or that nothing moves, with A regular and 0: no contradiction, nothing falls, no impulse.
static void rows_that_say_the_same_hold(void **state) {
    fixture *f = *state;
    const double J[4][2] = {{1.3, -0.4}, {3.9, -1.2}, {0.3, 1.0}, {0.0, 0.0}}, targets[4] = {-1.0, -3.0, 0.7, 0.0};
    for (int32_t k = 0; k < 2; k++) {
        scene s;
        equal_rows(&s, f, k == 0 ? 2.0 : 0.0, 4, J, targets);
        choose(f, "qp", 4.0, "minimum_norm");
        assert_ok(solve(f, &s.problem), f->err);
        for (int32_t i = 0; i < 4; i++) {
            assert_near(J[i][0] * f->v[0] + J[i][1] * f->v[1], targets[i], 1e-14);
        }
        assert_true(k == 0 || multicontact_largest(4, f->gamma, NULL) == 0.0);
        leave(f);
        scene_end(&s);
    }
}

static void rows_that_contradict_each_other_are_said(void **state) {
    fixture *f = *state;
    const double J[2][2] = {{1.0, 0.0}, {1.0, 0.0}}, targets[2] = {1.0, -1.0};
    for (int32_t k = 0; k < 2; k++) {
        scene s;
        equal_rows(&s, f, k == 0 ? 2.0 : 0.0, 2, J, targets);
        choose(f, "qp", 4.0, "minimum_norm");
        assert_int_equal(solve(f, &s.problem), STN_NOT_CONVERGED);
        assert_string_equal(f->report.reason, "contradiction");
        leave(f);
        scene_end(&s);
    }
}

/// A support far from an object without inertia: too few iterations say nothing of what holds.
static void too_few_iterations_are_not_for_want_of_support(void **state) {
    fixture *f = *state;
    const double A[9] = {[0] = 2.0}, J[9] = {[0] = 1, [4] = 1, [8] = 1};
    scene s;
    scene_begin(&s, f->context, 1);
    int32_t body = scene_tree(&s, 3, A);
    scene_constraint(&s, 3, body, J, -1, NULL)->stiffness = (double)INFINITY;
    scene_finish(&s);
    s.problem.v_hat[2] = -1e6;
    s.problem.R[0] = s.problem.R[1] = s.problem.R[2] = 0.0;
    s.problem.explicit_R = true;
    static double push[3] = {0.0, 0.0, -1.0};
    s.problem.free_impulse = push;
    for (double most = 1.0; most < 1e4; most *= 1.7) {
        const stn_setting settings[] = {number_setting("max_iterations", floor(most)), text_setting("method", method)};
        choose_with(f, "qp", settings, 2);
        const stn_status status = solve(f, &s.problem);
        assert_true(status == STN_OK || (status == STN_NOT_CONVERGED && strcmp(f->report.reason, "iterations") == 0));
        assert_true(status != STN_OK || fabs(f->v[2] + 1e6) < 1e-6);
        assert_true(most < 5e3 || status == STN_OK);
        leave(f);
    }
    s.problem.free_impulse = NULL;
    scene_end(&s);
}

/// 48 contacts of 256 directions: no advice to take interior_point where that does not help.
static void refuse_directly(fixture *f, stn_problem p) {
    const stn_solver_ops *ops = f->solver->desc->ops.solver;
    const stn_sensitivity none = {0};
    stn_arena *arena = stn_arena_create(f->context);
    const stn_solve_control control = {.context = f->context, .arena = arena};
    stn_solution solution = {.v = f->v, .gamma = f->gamma};
    stn_solve_info info;
    assert_int_equal(ops->differentiate(f->solver->self, &p, &control, &solution, &none, &f->err), STN_ERR_UNSUPPORTED);
    assert_string_equal(f->err.text, "12288 unknowns (48 constraints, 256 directions) as a full matrix, at most 4000: "
                                     "derivatives need it whatever the method; take fewer directions or smaller "
                                     "islands");
    p.form = STN_FORM_LOCAL;
    assert_int_equal(ops->solve(f->solver->self, &p, &control, &solution, &info, &f->err), STN_ERR_UNSUPPORTED);
    assert_string_equal(f->err.text, "12288 unknowns (48 constraints, 256 directions) as a full matrix, at most 4000: "
                                     "the local form has no other method; take fewer directions or smaller islands");
    stn_arena_destroy(arena);
}

static void what_it_cannot_do_is_a_line(void **state) {
    fixture *f = *state;
    const stn_setting odd = number_setting("directions", 5.0);
    assert_int_equal(stn_instance_create(f->context, STN_KIND_SOLVER, "qp", &odd, 1, &f->solver, &f->err),
                     STN_ERR_PARAMETER);
    assert_string_equal(f->err.text, "solver qp: directions = 5, must be even");
    scene s;
    scene_begin(&s, f->context, 1);
    scene_pile(&s, 1, 12, false, 0.0);
    choose(f, "qp", 256.0, "vertex");
    assert_int_equal(solve(f, &s.problem), STN_ERR_UNSUPPORTED);
    assert_string_equal(f->err.text, "solver qp: 12288 unknowns (48 constraints, 256 directions) as a full matrix, at "
                                     "most 4000: method = interior_point needs none");
    refuse_directly(f, s.problem);
    leave(f);
    method = "auto";
    choose(f, "qp", 256.0, "vertex");
    assert_ok(solve(f, &s.problem), f->err);
    static double v_c[MULTICONTACT_MOST];
    assert_true(anitescu_error(&s.problem, 256, f->v, f->gamma, v_c) <= 1e-13 * speed_of(&s.problem, f->v));
    leave(f);
    scene_end(&s);
}

/// A pile that moves on a little: begun with the set of the step before few moves are left, to the same velocities.
static void the_set_of_the_step_before_is_the_start(void **state) {
    fixture *f = *state;
    static double v[MULTICONTACT_MOST];
    static char memory[1 << 16];
    scene s;
    scene_begin(&s, f->context, 3);
    scene_pile(&s, 1, 6, false, 0.02);
    for (int32_t i = 0; i < s.problem.constraint_count; i++) {
        s.problem.constraints[i].memory = i;
    }
    choose(f, "qp", 4.0, "vertex");
    memset(memory, 0, sizeof memory);
    const stn_solve_request request = {.masses = true, .solver_memory = memory};
    stn_solution solution = {.v = f->v, .gamma = f->gamma};
    assert_ok(stn_problem_solve(f->problem_solver, &s.problem, &request, &solution, &f->report, NULL, &f->err), f->err);
    const int32_t cold = f->report.iterations;
    for (int32_t d = 0; d < s.problem.nv; d++) {
        s.problem.v_star[d] *= 1.001;
    }
    assert_ok(stn_problem_solve(f->problem_solver, &s.problem, &request, &solution, &f->report, NULL, &f->err), f->err);
    memcpy(v, f->v, sizeof v);
    const int32_t warm = f->report.iterations;
    memset(memory, 0, sizeof memory);
    assert_ok(stn_problem_solve(f->problem_solver, &s.problem, &request, &solution, &f->report, NULL, &f->err), f->err);
    assert_true(multicontact_largest(s.problem.nv, f->v, v) <= 1e-12 * multicontact_largest(s.problem.nv, v, NULL));
    print_message("%d moves without memory, %d with it\n", cold, warm);
    assert_true(strcmp(method, "active_set") == 0 ? warm < cold / 4 : warm < cold / 2);
    leave(f);
    scene_end(&s);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SPARSE(name) \
    { #name ", interior point", name, setup_interior_point, teardown_method, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        CLAIM(answers_meet_the_conditions_of_the_program),
        CLAIM(lemke_on_the_dual_moves_the_same),
        CLAIM(friction_is_short_by_one_minus_cosine),
        CLAIM(many_directions_approach_the_cone),
        CLAIM(a_box_loads_its_corners_alike),
        CLAIM(no_other_impulses_are_smaller),
        CLAIM(contradictions_are_said),
        CLAIM(rows_that_say_the_same_hold),
        CLAIM(rows_that_contradict_each_other_are_said),
        CLAIM(too_few_iterations_are_not_for_want_of_support),
        cmocka_unit_test_setup_teardown(what_it_cannot_do_is_a_line, setup, teardown_method),
        CLAIM(the_set_of_the_step_before_is_the_start),
        cmocka_unit_test_setup_teardown(both_methods_agree, setup, teardown_method),
        SPARSE(answers_meet_the_conditions_of_the_program),
        SPARSE(lemke_on_the_dual_moves_the_same),
        SPARSE(friction_is_short_by_one_minus_cosine),
        SPARSE(many_directions_approach_the_cone),
        SPARSE(a_box_loads_its_corners_alike),
        SPARSE(no_other_impulses_are_smaller),
        SPARSE(contradictions_are_said),
        SPARSE(rows_that_say_the_same_hold),
        SPARSE(rows_that_contradict_each_other_are_said),
        SPARSE(too_few_iterations_are_not_for_want_of_support),
        SPARSE(the_set_of_the_step_before_is_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
