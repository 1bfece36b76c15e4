// SPDX-License-Identifier: Apache-2.0
// No number in a solver or in the certificate has a unit of its own. Units of mass, length and time that are powers of
// two change no digit of any product or root, so each solver must take the same decisions and leave the same digits.
#include "every_solver.h"
#include "stn_scene.h"

typedef struct units {
    double mass, length, time; // numbers in the other units over those in the first
} units;

static const double twos = 1099511627776.0; // 2^40, 1.1e12; masses need an even power: their root is taken

static const units all_units[] = {
    {twos, 1.0, 1.0},  {1.0 / twos, 1.0, 1.0},         {1.0, twos, 1.0},         {1.0, 1.0 / twos, 1.0},
    {1.0, 1.0, twos},  {1.0, 1.0, 1.0 / twos},         {twos, twos, 1.0 / twos}, {1.0 / twos, 1.0 / twos, twos},
    {twos, 1.0, twos}, {1.0 / twos, twos, 1.0 / twos}, {1.0, twos, twos},        {1.0, 1.0 / twos, twos},
};

static double *scaled(scene *s, const double *x, int32_t n, double factor) {
    double *y = scene_reals(s, n, 0.0);
    for (int32_t i = 0; i < n; i++) {
        y[i] = x[i] * factor; // infinities stay
    }
    return y;
}

/// `p` in other units, in the scene's arena; all of its dofs are lengths.
static stn_problem in_units(scene *s, const stn_problem *p, const units *u) {
    const double speed = u->length / u->time, impulse = u->mass * speed;
    stn_problem q = *p;
    q.trees = STN_ARENA(s->arena, p->tree_count, stn_problem_tree);
    q.constraints = STN_ARENA(s->arena, p->constraint_count, stn_constraint);
    q.dt = p->dt * u->time;
    for (int32_t t = 0; t < p->tree_count; t++) {
        q.trees[t] = p->trees[t];
        q.trees[t].A.values = scaled(s, p->trees[t].A.values, (int32_t)stn_matrix_value_count(&p->trees[t].A), u->mass);
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        stn_constraint *c = &q.constraints[i];
        *c = p->constraints[i];
        c->phi0 *= u->length;
        c->stiffness *= u->mass / (u->time * u->time);
        c->relaxation_time *= u->time;
        c->dissipation /= speed;
        c->w /= u->mass;
        c->w_trace /= u->mass;
    }
    q.v0 = scaled(s, p->v0, p->nv, speed);
    q.v_star = scaled(s, p->v_star, p->nv, speed);
    q.v_guess = scaled(s, p->v_guess, p->nv, speed);
    q.bias = scaled(s, p->bias, p->row_count, speed);
    q.v_hat = scaled(s, p->v_hat, p->row_count, speed);
    q.lo = scaled(s, p->lo, p->row_count, impulse);
    q.hi = scaled(s, p->hi, p->row_count, impulse);
    q.gamma_guess = scaled(s, p->gamma_guess, p->row_count, impulse);
    q.R = scaled(s, p->R, p->row_count, 1.0 / u->mass);
    if (p->form == STN_FORM_LOCAL) {
        int32_t rows = p->row_count, more = p->bilateral_count;
        q.W = scaled(s, p->W, rows * rows, 1.0 / u->mass);
        q.q = scaled(s, p->q, rows, speed);
        q.V = scaled(s, p->V, rows * more, 1.0 / u->mass);
        q.R_bilateral = scaled(s, p->R_bilateral, more * more, 1.0 / u->mass);
        q.s = scaled(s, p->s, more, speed);
    }
    return q;
}

typedef struct answer {
    stn_status status;
    int32_t iterations;
    double v[MULTICONTACT_MOST], gamma[MULTICONTACT_MOST];
    stn_certificate certificate;
} answer;

static void solve_copy(fixture *f, const scene *s, const stn_problem *p, answer *a) {
    stn_problem q = *p; // R, v_hat and constraints are written by a solve
    q.constraints = STN_ARENA(s->arena, p->constraint_count, stn_constraint);
    memcpy(q.constraints, p->constraints, (size_t)p->constraint_count * sizeof *q.constraints);
    a->status = solve_into(f, &q, STN_CERTIFICATE_SCALED, a->v, a->gamma);
    a->iterations = f->report.iterations;
    a->certificate = f->certificate;
    if (a->status < 0) {
        memset(a, 0, sizeof *a);
        a->status = f->err.status;
    }
}

static bool same(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static void compare(const solver_way *way, const stn_problem *p, const units *u, const answer *a, const answer *b) {
    const double speed = u->length / u->time, impulse = u->mass * speed, energy = impulse * speed;
    char what[160];
    snprintf(what, sizeof what, "%s %s%s%s, mass x %.2g, length x %.2g, time x %.2g", way->id,
             way->value != NULL ? way->value : "", way->law != NULL ? " with law " : "",
             way->law != NULL ? way->law : "", u->mass, u->length, u->time);
    if (a->status != b->status || a->iterations != b->iterations) {
        fail_msg("%s: %s after %d iterations, was %s after %d", what, stn_status_text(b->status), b->iterations,
                 stn_status_text(a->status), a->iterations);
    }
    for (int32_t i = 0; i < p->nv; i++) {
        if (!same(a->v[i] * speed, b->v[i])) {
            fail_msg("%s: v[%d] = %.17g, was %.17g", what, i, b->v[i] / speed, a->v[i]);
        }
    }
    for (int32_t i = 0; i < p->row_count; i++) {
        if (!same(a->gamma[i] * impulse, b->gamma[i])) {
            fail_msg("%s: gamma[%d] = %.17g, was %.17g", what, i, b->gamma[i] / impulse, a->gamma[i]);
        }
    }
    const stn_certificate *c = &a->certificate, *d = &b->certificate;
    const struct {
        const char *name;
        double was, is, factor;
    } fields[] = {
        {"momentum", c->momentum, d->momentum, 1.0},
        {"complementarity", c->complementarity, d->complementarity, 1.0},
        {"complementarity_J", c->complementarity_J, d->complementarity_J, energy},
        {"cone", c->cone, d->cone, 1.0},
        {"natural_ncp", c->natural_ncp, d->natural_ncp, speed},
        {"natural_ccp", c->natural_ccp, d->natural_ccp, speed},
        {"natural_scaled", c->natural_scaled, d->natural_scaled, 1.0},
        {"natural_ccp_scaled", c->natural_ccp_scaled, d->natural_ccp_scaled, 1.0},
        {"law_residual", c->law_residual, d->law_residual, 1.0},
        {"penetration_m", c->penetration_m, d->penetration_m, u->length},
        {"friction_work_J", c->friction_work_J, d->friction_work_J, energy},
    };
    for (int32_t i = 0; i < STN_COUNT(fields); i++) {
        if (!same(fields[i].was * fields[i].factor, fields[i].is)) {
            fail_msg("%s: %s = %.17g, was %.17g", what, fields[i].name, fields[i].is / fields[i].factor, fields[i].was);
        }
    }
}

/// Does the solver treat the problem at all?
static bool compare_units(fixture *f, scene *s, const stn_problem *p, const solver_way *way, double most) {
    static answer first, second;
    choose_way(f, way, most);
    solve_copy(f, s, p, &first);
    for (int32_t k = 0; k < STN_COUNT(all_units); k++) {
        stn_problem q = in_units(s, p, &all_units[k]);
        solve_copy(f, s, &q, &second);
        compare(way, &q, &all_units[k], &first, &second);
    }
    leave(f);
    return first.status >= 0;
}

/// Some contacts become rows with bounds, rows without and, unless a law has no ellipses, an ellipse.
static void mix_sets(stn_problem *p, bool ellipses) {
    for (int32_t i = 0; i < p->constraint_count && p->constraint_count > 3; i++) {
        stn_constraint *c = &p->constraints[i];
        if (i == 0) {
            c->kind = STN_CONSTRAINT_JOINT_LIMIT;
            c->set = STN_SET_BOX;
            for (int32_t r = 0; r < 3; r++) {
                p->lo[c->row + r] = -0.01 * r;
                p->hi[c->row + r] = r == 1 ? 0.02 : (double)INFINITY;
            }
        } else if (i == 1) {
            c->kind = STN_CONSTRAINT_BALL;
            c->set = STN_SET_EQUALITY;
        } else if (i == 2 && ellipses) {
            c->set = STN_SET_ELLIPSE;
            c->mu2 = 0.25 * c->mu1;
        }
    }
}

static bool units_of(fixture *f, const solver_way *way, uint64_t seed) {
    scene s;
    scene_begin(&s, f->context, seed);
    scene_random(&s, 1 + (int32_t)(seed % 7), 100.0, 1.5);
    if (seed % 2 == 0) {
        mix_sets(&s.problem, way->law == NULL);
    }
    bool treated = compare_units(f, &s, &s.problem, way, 300.0);
    scene_end(&s);
    return treated;
}

static void units_that_are_powers_of_two_change_no_digit(void **state) {
    enum { SEEDS = 12 };
    for (int32_t w = 0; w < STN_COUNT(every_way); w++) {
        int32_t treated = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            treated += units_of(*state, &every_way[w], seed);
        }
        if (treated < SEEDS - 2) {
            fail_msg("%s %s treats %d of %d problems", every_way[w].id,
                     every_way[w].value != NULL ? every_way[w].value : "", treated, SEEDS);
        }
    }
}

/// Units that are not: rounding differs, decisions hardly.
static void any_units_take_as_many_iterations(void **state) {
    fixture *f = *state;
    static answer first, second;
    static const units decades[] = {{1e12, 1.0, 1.0}, {1e-12, 1.0, 1.0}, {1.0, 1e12, 1.0},    {1.0, 1e-12, 1.0},
                                    {1.0, 1.0, 1e12}, {1.0, 1.0, 1e-12}, {1e12, 1e-12, 1e12}, {1e-12, 1e12, 1e-12}};
    for (int32_t w = 0; w < STN_COUNT(every_way); w++) {
        for (uint64_t seed = 1; seed <= 12; seed++) {
            scene s;
            scene_begin(&s, f->context, seed);
            scene_random(&s, 1 + (int32_t)(seed % 7), 10.0, 0.8);
            choose_way(f, &every_way[w], 1000.0);
            solve_copy(f, &s, &s.problem, &first);
            bool settled = first.status == STN_OK && first.iterations <= 100; // else rounding decides whether it ends
            for (int32_t k = 0; k < STN_COUNT(decades) && settled; k++) {
                stn_problem q = in_units(&s, &s.problem, &decades[k]);
                solve_copy(f, &s, &q, &second);
                int32_t most = first.iterations > second.iterations ? first.iterations : second.iterations;
                if (first.status != second.status || abs(first.iterations - second.iterations) > 3 + most / 4) {
                    fail_msg("%s %s, problem %d, units %d: %s after %d iterations, was %s after %d", every_way[w].id,
                             every_way[w].value != NULL ? every_way[w].value : "", (int)seed, k,
                             stn_status_text(second.status), second.iterations, stn_status_text(first.status),
                             first.iterations);
                }
                const stn_certificate *c = &first.certificate, *d = &second.certificate; // what is left is as small
                assert_true(d->momentum <= 10.0 * c->momentum + 1e-9);
                assert_true(d->natural_ccp_scaled <= 10.0 * c->natural_ccp_scaled + 1e-9);
                assert_true(d->natural_scaled <= 10.0 * c->natural_scaled + 1e-9);
            }
            leave(f);
            scene_end(&s);
        }
    }
}

/// Does this way solve problems without velocities? Those that work on A itself refuse them.
static bool takes_local(const solver_way *way) {
    return strcmp(way->id, "admm_split_ncp") != 0 && strncmp(way->id, "cond", 4) != 0 && strcmp(way->id, "ipm") != 0 &&
           (way->value == NULL || strcmp(way->value, "interior_point") != 0);
}

/// Published problems, whose units span twelve decades: a few steps of each solver that treats them.
static void published_problems_have_no_unit_either(void **state) {
    fixture *f = *state;
    static const char *const names[] = {"OneObject-i1028-138", "Capsules-i97-269", "gen_table", "gen_painleve",
                                        "local_problem_test"};
    skip_without(STN_SHARED_DIR "/fclib");
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        char path[512];
        stn_problem_owner *owner = NULL;
        snprintf(path, sizeof path, STN_SHARED_DIR "/fclib/%s.hdf5", names[i]);
        assert_ok(stn_problem_load(f->context, path, &owner, &f->err), f->err);
        const stn_problem *p = stn_problem_of(owner);
        assert_true(p->row_count <= MULTICONTACT_MOST && p->nv <= MULTICONTACT_MOST);
        for (int32_t w = 0; w < STN_COUNT(every_way); w++) {
            if (every_way[w].law == NULL && strcmp(every_way[w].id, "lemke") != 0 &&
                (p->form == STN_FORM_GLOBAL || takes_local(&every_way[w]))) {
                scene s;
                scene_begin(&s, f->context, 1);
                assert_true(compare_units(f, &s, p, &every_way[w], 10.0));
                scene_end(&s);
            }
        }
        stn_problem_destroy(owner);
    }
}

/// Rest is the solution where nothing moves, and no start is near it: there is no speed that a residual could be small
/// beside.
static void nothing_that_moves_is_solved_from_any_start(void **state) {
    fixture *f = *state;
    for (int32_t w = 0; w < STN_COUNT(every_way); w++) {
        scene s;
        scene_begin(&s, f->context, 5);
        scene_random(&s, 6, 10.0, 1.0);
        stn_problem *p = &s.problem;
        memset(p->v_star, 0, (size_t)p->nv * sizeof *p->v_star);
        memset(p->v0, 0, (size_t)p->nv * sizeof *p->v0);
        memset(p->bias, 0, (size_t)p->row_count * sizeof *p->bias);
        for (int32_t i = 0; i < p->constraint_count; i++) {
            p->constraints[i].phi0 = 0.0;
            p->gamma_guess[3 * i] = 0.1;
            p->gamma_guess[3 * i + 2] = 1.0;
        }
        choose_way(f, &every_way[w], 100.0);
        stn_status status = solve_into(f, p, STN_CERTIFICATE_SCALED, f->v, f->gamma);
        if (status != STN_OK || multicontact_largest(p->nv, f->v, NULL) > 0.0) {
            fail_msg("%s %s: %s after %d iterations, |v| = %g", every_way[w].id,
                     every_way[w].value != NULL ? every_way[w].value : "", stn_status_text(status),
                     f->report.iterations, multicontact_largest(p->nv, f->v, NULL));
        }
        leave(f);
        scene_end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(units_that_are_powers_of_two_change_no_digit, setup, teardown),
        cmocka_unit_test_setup_teardown(any_units_take_as_many_iterations, setup, teardown),
        cmocka_unit_test_setup_teardown(published_problems_have_no_unit_either, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_that_moves_is_solved_from_any_start, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
