// SPDX-License-Identifier: Apache-2.0
// The packed Delassus form of plugins/solver/common against the core's own products and residual.
#include "common/body_lanes.h"
#include "common/cone.h"
#include "common/packed.h"
#include "common/scaled_dual.h"
#include "inverse_fixture.h"
#include "sample_problem.h"

/// Impulses that packed variables can hold: none where there is no friction beside a direction with it.
static void random_impulses(const stn_problem *p, stn_random *random, double *gamma) {
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t r = 0; r < c->rows; r++) {
            double mu = r == 0 ? c->mu1 : c->mu2;
            bool none = c->set == STN_SET_ELLIPSE && r < 2 && mu == 0.0 && c->mu1 != c->mu2;
            gamma[c->row + r] = none ? 0.0 : random_real(random);
        }
    }
}

/// W gamma + b - v_hat + R gamma by the core's rows.
static void plain_product(const stn_delassus *d, const double *gamma, double *g) {
    const stn_problem *p = d->problem;
    for (int32_t i = 0; i < d->n; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t r = c->row; r < c->row + c->rows; r++) {
            g[r] = d->b[r] - p->v_hat[r] + p->R[r] * gamma[r];
        }
        stn_delassus_row_mul_add(d, i, gamma, g + c->row);
    }
}

/// The scaled problem is the same one: gradients s g, the core's residual, blocks of mean diagonal 1.
static void check_scaled(fixture *f, const stn_delassus *d, const double *gamma, const double *g) {
    scaled_dual k;
    assert_ok(scaled_dual_build(d, f->arena, &k, &f->err), f->err);
    double *x = packed_vector(&k.H, f->arena), *y = packed_vector(&k.H, f->arena);
    double *back = STN_ARENA(f->arena, d->rows, double), cost = 0.0;
    scaled_dual_enter(&k, gamma, x);
    scaled_dual_leave(&k, x, back);
    scaled_dual_gradient(&k, x, y);
    for (int32_t i = 0; i < k.H.n; i++) {
        const packed_row *row = &k.H.rows[i];
        double trace = 0.0;
        for (int32_t r = 0; r < row->rows; r++) {
            double scale = k.s[row->place] * (row->cone && r < 2 ? row->scale[r] : 1.0), own = gamma[row->row + r];
            assert_near(back[row->row + r], own, 1e-14 * fabs(own));
            assert_near(y[row->place + r], scale * g[row->row + r], 1e-12);
            trace += row->own[r * (row->width + 1)];
            double free_speed = d->b[row->row + r] - d->problem->v_hat[row->row + r];
            cost += 0.5 * own * (g[row->row + r] + free_speed);
        }
        assert_near(trace, row->rows, 1e-13);
    }
    assert_near(scaled_dual_cost(&k, x, y), cost, 1e-12 * (1.0 + fabs(cost)));
    for (int32_t convex = 0; convex < 2; convex++) {
        double residual = stn_delassus_residual(d, convex, gamma);
        assert_near(scaled_dual_residual(&k, convex, x, y).speed, residual, 1e-12 * residual);
    }
}

static void products_and_residuals_are_those_of_the_core(void **state) {
    fixture *f = *state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        stn_random random = {seed};
        sample *s = sample_mixed(seed);
        stn_problem *p = &s->problem;
        for (int32_t i = 0; i < p->constraint_count; i++) { // ellipses, one in three with a direction without friction
            stn_constraint *c = &s->constraints[i];
            if (c->set == STN_SET_CONE && (seed + (uint64_t)i) % 2 == 0) {
                c->set = STN_SET_ELLIPSE;
                c->mu1 = seed % 3 == 0 ? 0.0 : 0.2 + 0.1 * (double)i;
                c->mu2 = 0.7;
            }
        }
        for (int32_t r = 0; r < p->row_count; r++) {
            p->R[r] = 0.01 * (1.0 + random_real(&random));
            p->v_hat[r] = random_real(&random);
        }
        stn_delassus d;
        packed k;
        assert_ok(stn_inverse_factor(f->inverse, p, &f->err), f->err);
        assert_ok(stn_delassus_build(f->inverse, p, f->arena, &d, &f->err), f->err);
        assert_true(packed_build(&d, f->arena, &k));
        double *gamma = STN_ARENA(f->arena, p->row_count, double), *back = STN_ARENA(f->arena, p->row_count, double);
        double *g = STN_ARENA(f->arena, p->row_count, double);
        double *x = packed_vector(&k, f->arena), *y = packed_vector(&k, f->arena);
        random_impulses(p, &random, gamma);
        packed_impulses(&k, gamma, x);
        packed_product(&k, x, y);
        plain_product(&d, gamma, g);
        packed_unpack(&k, x, back);
        for (int32_t i = 0; i < k.n; i++) {
            const packed_row *row = &k.rows[i];
            for (int32_t r = 0; r < row->rows; r++) {
                double scale = row->cone && r < 2 ? row->scale[r] : 1.0;
                assert_near(back[row->row + r], gamma[row->row + r], 1e-15);
                assert_near(y[row->place + r], scale * g[row->row + r], 1e-12);
            }
            for (int32_t r = row->rows; r < row->width; r++) {
                assert_true(y[row->place + r] == 0.0);
            }
        }
        for (int32_t convex = 0; convex < 2; convex++) {
            double residual = stn_delassus_residual(&d, convex, gamma);
            assert_near(packed_residual(&k, convex, x, y), residual, 1e-12 * residual);
        }
        check_scaled(f, &d, gamma, g);
        stn_arena_reset(f->arena);
        sample_clear(s);
    }
}

/// Bodies of up to six dofs; contacts, ellipses, bounds and equalities between two of them or of one.
static sample *body_sample(stn_random *r) {
    sample *s = sample_create();
    const int32_t trees = 1 + random_below(r, 6);
    for (int32_t t = 0; t < trees; t++) {
        const bool free = random_below(r, 2) == 0;
        sample_tree(s, r, random_below(r, 4) == 0 ? STN_MATRIX_DIAGONAL : STN_MATRIX_DENSE,
                    free ? 6 : 1 + random_below(r, 6));
    }
    for (int32_t i = 1 + random_below(r, 20); i > 0; i--) {
        const stn_constraint_set sets[] = {STN_SET_CONE, STN_SET_CONE, STN_SET_ELLIPSE, STN_SET_BOX, STN_SET_EQUALITY};
        const stn_constraint_set set = sets[random_below(r, 5)];
        const int32_t a = random_below(r, trees), b = random_below(r, trees);
        stn_constraint *c =
            sample_constraint(s, r, set, set == STN_SET_CONE || set == STN_SET_ELLIPSE ? 3 : 1 + random_below(r, 3), a,
                              0, a == b ? -1 : b, 0);
        if (set == STN_SET_ELLIPSE) {
            c->mu1 = random_below(r, 3) == 0 ? 0.0 : 0.4;
            c->mu2 = 0.7;
        }
    }
    sample_finish(s, r);
    for (int32_t row = 0; row < s->problem.row_count; row++) {
        s->problem.R[row] = 0.01 * (1.0 + random_real(r));
        s->problem.v_hat[row] = random_real(r);
    }
    return s;
}

/// s_i^2 = rows/(sqrt(n) trace(J A^-1 J^T) + trace(d_i)), n the mean number of constraints of its bodies, by solves
/// with A.
static double body_scale(const stn_problem *p, const stn_inverse *inverse, const packed_row *row, int32_t i) {
    const stn_constraint *c = &p->constraints[i];
    double trace = 0.0, sides = 0.0, count = 0.0, d = 0.0;
    for (int32_t k = 0; k < 2; k++) {
        const int32_t t = c->J[k].tree, n = t < 0 ? 0 : p->trees[t].A.n;
        sides += t >= 0;
        for (int32_t other = 0; other < p->constraint_count && t >= 0; other++) {
            count += (p->constraints[other].J[0].tree == t) + (p->constraints[other].J[1].tree == t);
        }
        for (int32_t r = 0; r < c->rows && t >= 0; r++) {
            double x[6];
            memcpy(x, c->J[k].values + r * n, (size_t)n * sizeof *x);
            stn_inverse_apply(inverse, t, 1, x);
            for (int32_t e = 0; e < n; e++) {
                trace += c->J[k].values[r * n + e] * x[e];
            }
        }
    }
    for (int32_t r = 0; r < c->rows; r++) {
        const double S = row->cone && r < 2 ? row->scale[r] : 1.0;
        d += S == 0.0 ? trace / c->rows : S * p->R[c->row + r] * S;
    }
    return sqrt(c->rows / (sqrt(count / sides) * trace + d));
}

/// Residuals in speeds, which no scale changes, and projections of impulses far outside: of `bodies` as of the blocks.
static void check_maps(const scaled_dual *blocks, const scaled_dual *bodies, const double *x, const double *own_x,
                       const double *y, const double *z, stn_arena *arena) {
    for (int32_t convex = 0; convex < 2; convex++) {
        const double speed = scaled_dual_residual(blocks, convex, x, y).speed;
        assert_near(scaled_dual_residual(bodies, convex, own_x, z).speed, speed, 1e-11 * speed);
    }
    double *a = packed_vector(&blocks->H, arena), *b = STN_ARENA_ZEROED(arena, bodies->H.size, double);
    for (int32_t i = 0; i < blocks->H.n; i++) {
        for (int32_t r = 0; r < blocks->H.rows[i].rows; r++) {
            a[blocks->H.rows[i].place + r] = -3.0 * x[blocks->H.rows[i].place + r];
            b[body_place(i, r)] = -3.0 * own_x[body_place(i, r)];
        }
    }
    scaled_dual_project(blocks, a);
    scaled_dual_project(bodies, b);
    for (int32_t i = 0; i < blocks->H.n; i++) {
        const packed_row *row = &blocks->H.rows[i];
        const double relative = blocks->s[row->place] * bodies->bodies->fours[i / 4].unit[i % 4];
        for (int32_t r = 0; r < row->rows; r++) {
            const double expected = a[row->place + r] * relative;
            assert_near(b[body_place(i, r)], expected, 1e-12 * (1.0 + fabs(expected)));
        }
    }
}

static void products_through_bodies_are_those_of_the_blocks(void **state) {
    fixture *f = *state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        stn_random random = {seed};
        sample *s = body_sample(&random);
        stn_problem *p = &s->problem;
        p->free_impulse = seed % 3 == 0 ? NULL : sample_random_doubles(s, &random, (size_t)p->nv);
        assert_true(body_lanes_fit(p));
        stn_delassus d;
        scaled_dual blocks, bodies;
        assert_ok(stn_inverse_factor(f->inverse, p, &f->err), f->err);
        assert_ok(stn_inverse_masses(f->inverse, p, f->arena, &f->err), f->err);
        for (int32_t i = 0; i < p->constraint_count && seed % 5 == 0; i++) { // which a problem need not know
            s->constraints[i].w_trace = (double)NAN;
        }
        assert_ok(stn_delassus_build(f->inverse, p, f->arena, &d, &f->err), f->err);
        assert_ok(scaled_dual_build(&d, f->arena, &blocks, &f->err), f->err);
        assert_ok(scaled_dual_build_bodies(p, f->inverse, f->arena, &bodies, &f->err), f->err);
        assert_int_equal(bodies.H.size, BODY_FOUR * ((p->constraint_count + 3) / 4));
        assert_near(bodies.H.speed, blocks.H.speed, 1e-12 * blocks.H.speed);
        assert_near(bodies.H.rounding, blocks.H.rounding, 1e-12 * blocks.H.rounding);
        double *x = packed_vector(&blocks.H, f->arena), *y = packed_vector(&blocks.H, f->arena);
        double *own_x = STN_ARENA_ZEROED(f->arena, bodies.H.size, double);
        double *z = STN_ARENA(f->arena, bodies.H.size, double), *gamma = STN_ARENA(f->arena, p->row_count, double);
        double *back = STN_ARENA(f->arena, p->row_count, double);
        random_impulses(p, &random, gamma);
        scaled_dual_enter(&blocks, gamma, x);
        scaled_dual_gradient(&blocks, x, y);
        scaled_dual_enter(&bodies, gamma, own_x);
        scaled_dual_gradient(&bodies, own_x, z);
        scaled_dual_leave(&bodies, own_x, back);
        for (int32_t r = 0; r < p->row_count; r++) {
            assert_near(back[r], gamma[r], 1e-14 * fabs(gamma[r]));
        }
        for (int32_t i = 0; i < blocks.H.n; i++) {
            const packed_row *row = &blocks.H.rows[i];
            const body_four *four = &bodies.bodies->fours[i / 4];
            const int32_t lane = i % 4;
            const double own = 1.0 / four->unit[lane], relative = own / blocks.s[row->place];
            const double expected = body_scale(p, f->inverse, row, i), omega = row->omega * relative * relative;
            assert_near(own, expected, 1e-12 * expected);
            assert_near(four->omega[lane], omega, 1e-12 * omega);
            assert_true(four->cone[lane] == row->cone && four->rows[lane] == row->rows);
            for (int32_t r = 0; r < row->rows; r++) {
                const int32_t at = body_place(i, r), there = row->place + r;
                assert_near(z[at], relative * y[there], 1e-12 * (1.0 + fabs(relative * y[there])));
                if (row->cone) {
                    continue;
                }
                const double ours[] = {relative * bodies.bodies->lo[at], relative * bodies.bodies->hi[at]};
                const double theirs[] = {blocks.H.lo[there], blocks.H.hi[there]};
                for (int32_t k = 0; k < 2; k++) { // infinite or near
                    assert_true(ours[k] == theirs[k] || fabs(ours[k] - theirs[k]) <= 1e-12 * fabs(theirs[k]));
                }
            }
        }
        check_maps(&blocks, &bodies, x, own_x, y, z, f->arena);
        stn_arena_reset(f->arena);
        sample_clear(s);
    }
}

static void what_is_no_body_is_refused(void **state) {
    (void)state;
    for (int32_t k = 0; k < 7; k++) {
        stn_random random = {1};
        sample *s = sample_create();
        const int32_t tree = sample_tree(s, &random, k == 1 ? STN_MATRIX_NODAL : STN_MATRIX_DENSE, k == 2 ? 7 : 6);
        const int32_t rows = k == 3 ? 4 : 3;
        sample_constraint(s, &random, k == 3 ? STN_SET_BOX : STN_SET_CONE, rows, tree, k == 1 ? 1 : 0, -1, 0);
        if (k == 4) {
            sample_tree(s, &random, STN_MATRIX_DENSE, 6);
            sample_tree(s, &random, STN_MATRIX_DENSE, 6);
            sample_constraint(s, &random, STN_SET_CONE, 3, tree, 0, 1, 0);
            sample_more(s, &random, 2, 0);
        }
        s->constraints[0].J[0].node_count = k == 6 ? 2 : s->constraints[0].J[0].node_count;
        s->problem.form = k == 5 ? STN_FORM_LOCAL : STN_FORM_GLOBAL;
        assert_true(body_lanes_fit(&s->problem) == (k == 0));
        sample_clear(s);
    }
}

static void the_strict_operator_keeps_the_normal_part(void **state) {
    (void)state;
    double inside[3] = {0.1, -0.2, 1.0}, outside[3] = {3.0, -4.0, 2.0}, below[3] = {1.0, 1.0, -0.5};
    cone_project_strict(0.5, inside);
    cone_project_strict(0.5, outside);
    cone_project_strict(0.5, below);
    assert_true(inside[0] == 0.1 && inside[1] == -0.2 && inside[2] == 1.0);
    assert_near(outside[0], 0.6, 1e-15);
    assert_near(outside[1], -0.8, 1e-15);
    assert_near(outside[2], 2.0, 0.0);
    assert_true(below[0] == 0.0 && below[1] == 0.0 && below[2] == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(products_and_residuals_are_those_of_the_core, setup, teardown),
        cmocka_unit_test_setup_teardown(products_through_bodies_are_those_of_the_blocks, setup, teardown),
        cmocka_unit_test(what_is_no_body_is_refused),
        cmocka_unit_test(the_strict_operator_keeps_the_normal_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
