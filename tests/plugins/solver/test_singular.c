// SPDX-License-Identifier: Apache-2.0
// Problems whose A is positive semidefinite, in every form of matrix: a solver is refused by name, or what it calls
// converged is a solution; where nothing holds a tree nobody calls anything converged.
#include "anitescu.h"
#include "every_solver.h"
#include "sample_problem.h"

static double any_size(stn_random *r) {
    const double sizes[] = {1e-4, 1e-2, 1.0, 1e2};
    return sizes[random_below(r, STN_COUNT(sizes))];
}

/// A (n x n) of rank below n, 0 included.
static void make_dense(stn_random *r, stn_matrix *a, double size) {
    const int32_t n = a->n, rank = random_below(r, n);
    double b[16 * 16];
    for (int32_t i = 0; i < n * n; i++) {
        b[i] = random_real(r);
    }
    for (int32_t i = 0; i < n * n; i++) {
        a->values[i] = 0.0;
        for (int32_t k = 0; k < rank; k++) {
            a->values[i] += size * b[n * (i / n) + k] * b[n * (i % n) + k];
        }
    }
}

/// Springs between neighbours: what moves as a whole costs nothing.
static void make_nodal(stn_random *r, stn_matrix *a, double size) {
    memset(a->values, 0, (size_t)stn_matrix_value_count(a) * sizeof *a->values);
    for (int32_t i = 0; i + 1 < a->node_count; i++) {
        double K[9];
        random_spd(r, 3, 0.5, K);
        for (int32_t e = a->row_start[i]; e < a->row_start[i + 2]; e++) {
            const int32_t row = e < a->row_start[i + 1] ? i : i + 1, column = a->column[e];
            for (int32_t q = 0; q < 9 && (column == i || column == i + 1); q++) {
                a->values[9 * e + q] += row == column ? size * K[q] : -size * K[q];
            }
        }
    }
}

static void add_tree(sample *s, stn_random *r, double size) {
    const stn_matrix_form form = (stn_matrix_form)random_below(r, 4);
    const int32_t n = form == STN_MATRIX_DENSE ? 2 + random_below(r, 9) : 3 * (2 + random_below(r, 3));
    stn_matrix *a = &s->trees[sample_tree(s, r, form, n)].A;
    if (form == STN_MATRIX_DENSE) {
        make_dense(r, a, size);
    } else if (form == STN_MATRIX_NODAL) {
        make_nodal(r, a, size);
    }
    for (int32_t i = 0; i < n && form == STN_MATRIX_DIAGONAL; i++) {
        a->values[i] = random_below(r, 2) == 0 ? 0.0 : size * fabs(random_real(r));
    }
}

/// One to three trees with contacts and bounded rows among them. `held`: free impulses are what A and impulses inside
/// of their cones can balance; else any.
static sample *singular_sample(uint64_t seed, bool held) {
    stn_random r = {seed};
    sample *s = sample_create();
    const double size = any_size(&r);
    for (int32_t t = 1 + random_below(&r, 3); t > 0; t--) {
        add_tree(s, &r, size);
    }
    stn_problem *p = &s->problem;
    for (int32_t c = 1 + random_below(&r, 6); c > 0; c--) {
        int32_t a = random_below(&r, p->tree_count), b = random_below(&r, p->tree_count + 1);
        b = b == a || b == p->tree_count ? -1 : b;
        bool cone = random_below(&r, 4) > 0;
        stn_constraint *k = sample_constraint(s, &r, cone ? STN_SET_CONE : STN_SET_BOX, cone ? 3 : 1, a, 0, b, 0);
        k->phi0 = 1e-3 * random_real(&r);
        k->relaxation_time = 0.01;
        k->stiffness = random_below(&r, 2) == 0 ? (double)INFINITY : 1e4 * size;
        k->mu1 = k->mu2 = random_below(&r, 5) == 0 ? 0.0 : 0.5;
    }
    sample_finish(s, &r);
    memset(p->bias, 0, (size_t)p->row_count * sizeof *p->bias);
    memset(p->v_star, 0, (size_t)p->nv * sizeof *p->v_star);
    memset(p->v_guess, 0, (size_t)p->nv * sizeof *p->v_guess);
    double *gamma = sample_doubles(s, (size_t)p->row_count, 0.0), *x = sample_doubles(s, (size_t)p->nv, 0.0);
    p->free_impulse = sample_doubles(s, (size_t)p->nv, 0.0);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *k = &s->constraints[i];
        gamma[k->row + k->rows - 1] = 0.1 * size * fabs(random_real(&r));
        for (int32_t t = 0; t < k->rows - 1; t++) {
            gamma[k->row + t] = 0.5 * k->mu1 * gamma[k->row + 2] * random_real(&r);
        }
    }
    for (int32_t d = 0; d < p->nv; d++) {
        x[d] = 0.1 * random_real(&r);
        p->free_impulse[d] = held ? 0.0 : 0.1 * size * random_real(&r);
    }
    if (held) {
        stn_problem_mass_times(p, x, NULL, p->free_impulse);
        stn_problem_jacobian_transposed_add(p, -1.0, gamma, p->free_impulse);
    }
    return s;
}

/// Did rounding make the A of a tree regular that has no rank? Whoever takes A^-1 then solves another problem.
static bool rounded(const fixture *f, const stn_problem *p) {
    stn_inverse *inverse;
    stn_error err;
    bool any = false;
    assert_ok(stn_inverse_create(f->context, &inverse, &err), err);
    assert_ok(stn_inverse_factor(inverse, p, &err), err);
    for (int32_t t = 0; t < p->tree_count; t++) {
        any = any || (p->trees[t].A.form != STN_MATRIX_DIAGONAL && stn_inverse_singular(inverse, t) < 0);
    }
    stn_inverse_destroy(inverse);
    return any;
}

/// The largest speed of a row that diag(A) makes of the free impulse, 1 or the largest of the tree where that is 0.
static double free_speed(const stn_problem *p) {
    double v[256] = {0.0}, v_c[64], speed = 0.0;
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_problem_tree *tree = &p->trees[t];
        double diagonal[64] = {0.0}, largest = 0.0;
        if (tree->A.form != STN_MATRIX_ZERO) {
            stn_matrix_diagonal(&tree->A, diagonal);
        }
        for (int32_t i = 0; i < tree->A.n; i++) {
            largest = worse(largest, diagonal[i]);
        }
        for (int32_t i = 0; i < tree->A.n; i++) {
            const double mass = diagonal[i] > 0.0 ? diagonal[i] : (largest > 0.0 ? largest : 1.0);
            v[tree->dof_start + i] = p->free_impulse[tree->dof_start + i] / mass;
        }
    }
    stn_problem_contact_velocity(p, v, true, v_c);
    for (int32_t r = 0; r < p->row_count; r++) {
        speed = fmax(speed, fabs(v_c[r]));
    }
    return speed;
}

static bool is_among(const char *id, const char *const *ids, int32_t count) {
    bool found = false;
    for (int32_t i = 0; i < count; i++) {
        found = found || strcmp(ids[i], id) == 0;
    }
    return found;
}

/// Solvers over impulses go from centre to centre, and take tolerances relative to free speeds, too.
static bool over_impulses(const char *id) {
    static const char *const ids[] = {"admm", "admm_ncp", "lemke", "newton_ncp"};
    return is_among(id, ids, STN_COUNT(ids));
}

static bool takes_singular(const char *id) {
    static const char *const ids[] = {"sap", "auto_convex", "qp", "admm_split", "admm_split_ncp", "ipm"};
    return over_impulses(id) || is_among(id, ids, STN_COUNT(ids));
}

typedef struct tally {
    int32_t converged, not_converged, refused, failed;
} tally;

/// How far the solution is from what the solver solves, as it is configured [m/s]. v_c is scratch.
static double law_error(const fixture *f, const stn_problem *p, double *v_c) {
    switch (stn_solver_formulation(f->solver)) {
    case STN_QP:
        return rows_error(p, anitescu_contact_error, 4, f->v, f->gamma, v_c);
    case STN_LCP:
        return rows_error(p, pyramid_contact_error, 4, f->v, f->gamma, v_c);
    case STN_CCP:
    case STN_REGULARIZED:
        return f->certificate.natural_ccp;
    default:
        return f->certificate.natural_ncp;
    }
}

static void solve_singular(fixture *f, const solver_way *way, uint64_t seed, bool held, tally *sum) {
    sample *s = singular_sample(seed, held);
    if (rounded(f, &s->problem)) {
        sample_clear(s);
        return;
    }
    const stn_setting most[] = {number_setting("max_iterations", strcmp(way->id, "sap") == 0 ? 200.0 : 2000.0),
                                text_setting(way->setting, way->value)};
    assert_ok(try_with(f, way->id, most, way->setting != NULL ? 2 : 1, way->law), f->err);
    stn_status status = solve(f, &s->problem);
    const stn_certificate *c = &f->certificate;
    if (status == STN_OK) {
        sum->converged++;
        double speed = 1e-9, v_c[64];
        stn_problem_contact_velocity(&s->problem, f->v, true, v_c);
        for (int32_t r = 0; r < s->problem.row_count; r++) {
            speed = fmax(speed, fmax(fabs(v_c[r]), fabs(s->problem.v_hat[r])));
        }
        const double natural = law_error(f, &s->problem, v_c);
        const double allowed = fmax(1e-4 * speed, over_impulses(way->id) ? 1e-4 * free_speed(&s->problem) : 0.0);
        if (!(c->momentum <= 2e-6) || !(natural <= allowed) || !c->finite) {
            fail_msg("%s, seed %d: converged, but momentum %g, natural map %g at %g m/s", way->id, (int)seed,
                     c->momentum, natural, speed);
        }
    } else if (status == STN_ERR_UNSUPPORTED) {
        sum->refused++;
        assert_non_null(strstr(f->err.text, "needs the inverse of A, but A of tree"));
        assert_non_null(strstr(f->err.text, way->id));
    } else if (status < 0) {
        sum->failed++;
        if (strstr(f->err.text, "nothing holds tree") == NULL) {
            fail_msg("%s, seed %d: %s", way->id, (int)seed, f->err.text);
        }
    } else {
        sum->not_converged++;
        if (status == STN_STALLED && !(c->momentum <= 1e-4)) {
            fail_msg("%s, seed %d: as near as digits allow, but momentum %g", way->id, (int)seed, c->momentum);
        }
    }
    leave(f);
    sample_clear(s);
}

static void what_is_called_converged_is_a_solution(void **state) {
    enum { SEEDS = 400 };
    for (int32_t w = 0; w < STN_COUNT(every_way); w++) {
        for (int32_t held = 0; held < 2; held++) {
            tally sum = {0};
            for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                solve_singular(*state, &every_way[w], seed, held != 0, &sum);
            }
            print_message("%s %s, %s: %d converged, %d not, %d refused, %d held by nothing\n", every_way[w].id,
                          every_way[w].value != NULL ? every_way[w].value : "", held != 0 ? "held" : "any impulse",
                          sum.converged, sum.not_converged, sum.refused, sum.failed);
            const bool able = takes_singular(every_way[w].id);
            assert_true(able ? sum.refused == 0 : sum.refused > SEEDS / 2);
            if (held != 0 && able) { // impulses at the border of what balances leave little to find them by
                assert_true(sum.converged > SEEDS * 9 / 10);
                assert_true(sum.failed <= 2);
            }
        }
    }
}

/// What a convex program determines, whatever A leaves open.
typedef struct answer {
    bool converged;
    double momentum[256]; // A v
    double gamma[64];     // determined where every R is positive
} answer;

static answer ask(fixture *f, const solver_way *way, const stn_problem *p) {
    answer out = {0};
    const stn_setting settings[] = {number_setting("tolerance", 1e-9), number_setting("max_iterations", 5000.0),
                                    text_setting(way->setting, way->value)};
    assert_ok(try_with(f, way->id, settings, way->setting != NULL ? 3 : 2, way->law), f->err);
    out.converged = solve(f, p) == STN_OK;
    memcpy(out.gamma, f->gamma, (size_t)p->row_count * sizeof *out.gamma);
    stn_problem_mass_times(p, f->v, NULL, out.momentum);
    leave(f);
    return out;
}

static double apart(int32_t n, const double *a, const double *b, double *size) {
    double most = 0.0;
    for (int32_t i = 0; i < n; i++) {
        most = worse(most, fabs(a[i] - b[i]));
        *size = worse(*size, fmax(fabs(a[i]), fabs(b[i])));
    }
    return most;
}

static void solvers_of_the_same_program_agree(void **state) {
    enum { SEEDS = 100 };
    static const solver_way groups[2][4] = {
        {{"sap", NULL, NULL, "sap"},
         {"admm_split", NULL, NULL, "sap"},
         {"admm", NULL, NULL, "sap"},
         {"ipm", NULL, NULL, "sap"}},
        {{"qp", NULL, NULL, NULL},
         {"lemke", "friction", "anitescu", NULL},
         {"qp", "impulses", "vertex", NULL},
         {"qp", "method", "interior_point", NULL}},
    };
    // how far impulses and A v may be apart; < 0: the program does not determine impulses
    static const struct {
        double impulses, momenta;
    } allowed[2][4] = {
        {{0.0, 0.0}, {1e-7, 1e-7}, {1e-7, 1e-7}, {1e-7, 1e-7}},
        {{0.0, 0.0}, {-1.0, 2e-8}, {-1.0, 1e-11}, {-1.0, 1e-9}},
    };
    for (int32_t g = 0; g < 2; g++) {
        for (int32_t w = 1; w < 4; w++) {
            int32_t compared = 0;
            double impulses = 0.0, momenta = 0.0;
            const bool determined = allowed[g][w].impulses >= 0.0;
            for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                sample *s = singular_sample(seed, true);
                const stn_problem *p = &s->problem;
                const answer a = ask(*state, &groups[g][0], p), b = ask(*state, &groups[g][w], p);
                if (a.converged && b.converged && !rounded(*state, p)) {
                    double impulse = 1e-300, momentum = 1e-9;
                    compared++;
                    const double off = apart(p->row_count, a.gamma, b.gamma, &impulse) / impulse;
                    impulses = worse(impulses, determined ? off : 0.0);
                    for (int32_t d = 0; d < p->nv; d++) {
                        momentum = worse(momentum, fabs(p->free_impulse[d]));
                    }
                    momenta = worse(momenta, apart(p->nv, a.momentum, b.momentum, &momentum) / momentum);
                }
                sample_clear(s);
            }
            print_message("%s %s and %s: %d of %d compared, A v off by %.1e", groups[g][w].id,
                          groups[g][w].setting != NULL ? groups[g][w].value : "", groups[g][0].id, compared, SEEDS,
                          momenta);
            print_message(determined ? ", impulses by %.1e\n" : "\n", impulses);
            assert_true(compared > SEEDS / 2);
            assert_true(momenta <= allowed[g][w].momenta && (!determined || impulses <= allowed[g][w].impulses));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_called_converged_is_a_solution, setup, teardown),
        cmocka_unit_test_setup_teardown(solvers_of_the_same_program_agree, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
