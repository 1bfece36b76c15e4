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

typedef struct tally {
    int32_t converged, not_converged, refused, failed;
} tally;

static void solve_singular(fixture *f, const solver_way *way, uint64_t seed, bool held, tally *sum) {
    sample *s = singular_sample(seed, held);
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
        double natural = way->law != NULL ? c->natural_ccp : c->natural_ncp;
        natural = strcmp(way->id, "qp") == 0 ? anitescu_error(&s->problem, 4, f->v, f->gamma, v_c) : natural;
        if (!(c->momentum <= 2e-6) || !(natural <= 1e-4 * speed) || !c->finite) {
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
            bool able = strcmp(every_way[w].id, "sap") == 0 || strcmp(every_way[w].id, "qp") == 0 ||
                        strncmp(every_way[w].id, "admm_split", 10) == 0;
            assert_true(able ? sum.refused == 0 : sum.refused > SEEDS / 2);
            if (held != 0 && strcmp(every_way[w].id, "sap") == 0) {
                assert_true(sum.converged > SEEDS * 9 / 10);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_called_converged_is_a_solution, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
