// SPDX-License-Identifier: Apache-2.0
// What every factorisation must do: random positive definite patterns against the dense matrix, limits, bad pivots.
#include <string.h>

#include "factor_subject.h"

static const double backward_limit = 1e-13; // a few n times round-off; Cholesky is backward stable

static void check_declares(validate_trial *trial) {
    const stn_factor_ops *ops = trial->request->plugin->desc->ops.factor;
    if (ops == NULL || ops->symbolic == NULL || ops->release == NULL || ops->numeric == NULL || ops->solve == NULL) {
        trial_fail(trial, "one of symbolic, release, numeric, solve is missing");
        return;
    }
    factor_subject s;
    if (factor_begin(&s, trial)) {
        s.ops->release(NULL);
        trial_ok(trial, "all functions are there, release accepts NULL");
    }
}

/// Solves one matrix with 1 to 4 right-hand sides; the error, or NaN when the trial is decided.
static double solve_one(factor_subject *s, factor_graph graph, int32_t count, int32_t most, double condition) {
    factor_reset(s);
    factor_matrix *m = factor_make(s, graph, count, most, condition);
    int32_t columns = random_integer(&s->random, 1, 4);
    double *b = NULL, *x = m != NULL ? factor_sides(s, m, columns, &b) : NULL;
    void *factor = NULL;
    if (x == NULL || !factor_factor(s, m, &factor)) {
        return (double)NAN;
    }
    s->ops->solve(factor, columns, x);
    s->ops->release(factor);
    double error = factor_error(m, columns, x, b);
    if (!(error <= backward_limit)) {
        trial_fail(s->trial, "%d blocks, %d rows, graph %d: |A x - b| is %.2g of its terms, limit %.0e", count, m->n,
                   (int)graph, error, backward_limit);
    }
    return error;
}

static void check_patterns(validate_trial *trial) {
    factor_subject s;
    if (!factor_begin(&s, trial)) {
        return;
    }
    double worst = 0.0;
    int32_t count = 0;
    for (int32_t graph = 0; graph < FACTOR_RANDOM; graph++) {
        for (int32_t blocks = 1; blocks <= 12 && !trial->decided; blocks += blocks < 4 ? 1 : 4) {
            for (int32_t most = 1; most <= 12 && !trial->decided; most += most < 4 ? 1 : 4) {
                worst = fmax(worst, solve_one(&s, (factor_graph)graph, blocks, most, 10.0));
                count++;
            }
        }
    }
    trial_ok(trial, "%d matrices: diagonal, chain, ring, arrow, star, full; error %.1e (limit %.0e)", count, worst,
             backward_limit);
}

static void check_random(validate_trial *trial) {
    factor_subject s;
    if (!factor_begin(&s, trial)) {
        return;
    }
    int32_t count = trial->request->full ? 2000 : 200;
    double worst = 0.0;
    for (int32_t i = 0; i < count && !trial->decided; i++) {
        int32_t blocks = random_integer(&s.random, 1, 30), most = random_integer(&s.random, 1, 9);
        worst = fmax(worst, solve_one(&s, FACTOR_RANDOM, blocks, most, 100.0));
    }
    trial_ok(trial, "%d matrices of 1 to 30 blocks of 1 to 9 rows: error %.1e (limit %.0e)", count, worst,
             backward_limit);
}

static void check_ill_conditioned(validate_trial *trial) {
    factor_subject s;
    if (!factor_begin(&s, trial)) {
        return;
    }
    int32_t count = trial->request->full ? 1000 : 100;
    double worst = 0.0;
    for (int32_t i = 0; i < count && !trial->decided; i++) {
        double condition = pow(10.0, random_uniform(&s.random, 3.1, 12.0));
        worst = fmax(worst, solve_one(&s, FACTOR_RANDOM, random_integer(&s.random, 2, 20), 6, condition));
    }
    trial_ok(trial, "%d matrices of condition up to 1e12: error %.1e (limit %.0e)", count, worst, backward_limit);
}

static void check_sides(validate_trial *trial) {
    enum { SIDES = 7 };
    factor_subject s;
    if (!factor_begin(&s, trial)) {
        return;
    }
    double worst = 0.0;
    for (int32_t i = 0; i < 30 && !trial->decided; i++) {
        factor_reset(&s);
        factor_matrix *m = factor_make(&s, FACTOR_RANDOM, random_integer(&s.random, 1, 15), 6, 10.0);
        double *one = NULL, *all = m != NULL ? factor_sides(&s, m, SIDES, &one) : NULL;
        void *factor = NULL;
        if (all == NULL || !factor_factor(&s, m, &factor)) {
            return;
        }
        s.ops->solve(factor, 0, all); // no column: nothing happens
        s.ops->solve(factor, SIDES, all);
        for (int32_t c = 0; c < SIDES; c++) {
            s.ops->solve(factor, 1, one + (size_t)c * (size_t)m->n);
        }
        s.ops->release(factor);
        for (int32_t k = 0; k < SIDES * m->n; k++) {
            double error = fabs(all[k] - one[k]) / fmax(fabs(one[k]), 1e-3);
            worst = error > worst || isnan(error) ? error : worst;
        }
        if (!(worst <= 1e-10)) {
            trial_fail(trial, "%d right-hand sides at once differ from one after the other by %.2g", SIDES, worst);
        }
    }
    trial_ok(trial, "%d right-hand sides at once and one after the other agree to %.1e", SIDES, worst);
}

/// New values in an old factor give the bytes of a factor of their own; meanwhile another factor of the same plugin is
/// alive, and the pattern that was given is gone.
static void check_again(validate_trial *trial) {
    factor_subject s;
    if (!factor_begin(&s, trial)) {
        return;
    }
    for (int32_t i = 0; i < 20 && !trial->decided; i++) {
        factor_reset(&s);
        factor_matrix *m = factor_make(&s, FACTOR_RANDOM, random_integer(&s.random, 2, 20), 6, 10.0);
        factor_matrix *other = m != NULL ? factor_make(&s, FACTOR_CHAIN, 5, 4, 10.0) : NULL;
        double *again = NULL, *x = other != NULL ? factor_sides(&s, m, 1, &again) : NULL;
        void *old = NULL, *fresh = NULL, *third = NULL;
        if (x == NULL || !factor_factor(&s, m, &old)) {
            return;
        }
        factor_fill(&s, m, 10.0);
        if (!factor_factor(&s, other, &third) || !factor_factor(&s, m, &fresh)) {
            return;
        }
        if (s.ops->numeric(old, &m->matrix, &s.error) != STN_OK) {
            trial_fail(trial, "new values in an old factor: %s", s.error.text);
            return;
        }
        s.ops->solve(old, 1, x);
        s.ops->solve(fresh, 1, again);
        if (memcmp(x, again, (size_t)m->n * sizeof *x) != 0) {
            trial_fail(trial, "matrix %d: new values in an old factor give other bytes than in a new one", i);
        }
        s.ops->release(old);
        s.ops->release(fresh);
        s.ops->release(third);
    }
    trial_ok(trial, "20 matrices: new values in an old factor give the bytes of a new one, with another factor alive");
}

static void check_copies(validate_trial *trial) {
    factor_subject s;
    if (!factor_begin(&s, trial)) {
        return;
    }
    factor_matrix *m = factor_make(&s, FACTOR_RING, 9, 5, 10.0);
    double *b = NULL, *x = m != NULL ? factor_sides(&s, m, 1, &b) : NULL;
    void *factor = NULL;
    if (x == NULL) {
        return;
    }
    int64_t entries = m->column_start[m->matrix.pattern.block_count];
    uint64_t values = stn_hash(1, m->matrix.values, (size_t)m->offset[entries] * sizeof(double));
    if (s.ops->symbolic(s.instance->self, s.context, &m->matrix.pattern, &factor, &s.error) != STN_OK) {
        trial_fail(trial, "symbolic: %s", s.error.text);
        return;
    }
    factor_matrix given = *m; // the same pattern elsewhere, the first one spoilt until after the solve
    int32_t kept[3 * 9 + 2 + 45 + 1];
    size_t bytes = sizeof kept;
    memcpy(kept, m->size, bytes);
    given.matrix.pattern.block_size = kept;
    given.matrix.pattern.column_start = kept + (m->column_start - m->size);
    given.matrix.pattern.row = kept + (m->row - m->size);
    memset(m->size, 0x7f, bytes);
    stn_status status = s.ops->numeric(factor, &given.matrix, &s.error);
    if (status == STN_OK) {
        s.ops->solve(factor, 1, x);
    }
    memcpy(m->size, kept, bytes);
    s.ops->release(factor);
    if (status != STN_OK) {
        trial_fail(trial, "the pattern given to symbolic was needed later: %s", s.error.text);
    } else if (!(factor_error(m, 1, x, b) <= backward_limit)) {
        trial_fail(trial, "the pattern given to symbolic was needed later: the solution is wrong");
    } else if (stn_hash(1, m->matrix.values, (size_t)m->offset[entries] * sizeof(double)) != values) {
        trial_fail(trial, "numeric changed the matrix");
    }
    trial_ok(trial, "the pattern is copied, the matrix stays as it was");
}

static void check_allocations(validate_trial *trial) {
    factor_subject s;
    if (!factor_begin(&s, trial)) {
        return;
    }
    factor_matrix *m = factor_make(&s, FACTOR_RANDOM, 20, 6, 10.0);
    double *b = NULL, *x = m != NULL ? factor_sides(&s, m, 3, &b) : NULL;
    void *factor = NULL;
    if (x == NULL || !factor_factor(&s, m, &factor)) {
        return;
    }
    s.ops->solve(factor, 3, x);
    int64_t before = stn_context_allocations(s.context);
    for (int32_t i = 0; i < 5; i++) {
        if (s.ops->numeric(factor, &m->matrix, &s.error) == STN_OK) {
            s.ops->solve(factor, 3, x);
        }
    }
    int64_t more = stn_context_allocations(s.context) - before;
    s.ops->release(factor);
    if (more > 0) {
        trial_fail(trial, "five more factorisations of one pattern made %lld allocations, expected none",
                   (long long)more);
    }
    trial_ok(trial, "a pattern factored six times: no allocation from the second on");
}

static void check_bad_pivots(validate_trial *trial) {
    static const double bad[] = {-1.0, 0.0, (double)NAN, (double)INFINITY};
    factor_subject s;
    if (!factor_begin(&s, trial)) {
        return;
    }
    int32_t count = 0;
    for (int32_t i = 0; i < 40 && !trial->decided; i++) {
        factor_reset(&s);
        factor_matrix *m = factor_make(&s, FACTOR_RANDOM, random_integer(&s.random, 1, 10), 5, 10.0);
        double *b = NULL, *x = m != NULL ? factor_sides(&s, m, 1, &b) : NULL;
        void *factor = NULL;
        if (x == NULL || !factor_factor(&s, m, &factor)) {
            return;
        }
        int32_t block = random_integer(&s.random, 0, m->matrix.pattern.block_count - 1);
        double *pivot = m->matrix.values + m->offset[m->column_start[block]], good = *pivot;
        *pivot = bad[i % 4];
        s.error = (stn_error){STN_OK, ""};
        stn_status status = s.ops->numeric(factor, &m->matrix, &s.error);
        if (status != STN_ERR_NUMERIC || s.error.text[0] == '\0') {
            trial_fail(
                trial,
                "a diagonal entry of block %d is %g: status '%s' %s, expected '%s' and a line that names the block",
                block, bad[i % 4], stn_status_text(status), s.error.text, stn_status_text(STN_ERR_NUMERIC));
            return;
        }
        *pivot = good;
        if (s.ops->numeric(factor, &m->matrix, &s.error) == STN_OK) {
            s.ops->solve(factor, 1, x);
        }
        if (!(factor_error(m, 1, x, b) <= backward_limit)) {
            trial_fail(trial, "after a bad pivot in block %d the good matrix is not solved any more", block);
        }
        s.ops->release(factor);
        count++;
    }
    trial_ok(
        trial,
        "%d matrices with a pivot that is negative, 0, NaN or infinite are refused, the good one after them is not",
        count);
}

/// Solves the matrix in the order that stands in its pattern.
static bool solve_ordered(factor_subject *s, const factor_matrix *m, const char *whose) {
    double *b = NULL, *x = factor_sides(s, m, 1, &b);
    void *factor = NULL;
    if (x == NULL || !factor_factor(s, m, &factor)) {
        return false;
    }
    s->ops->solve(factor, 1, x);
    s->ops->release(factor);
    const double error = factor_error(m, 1, x, b);
    if (!(error <= backward_limit)) {
        trial_fail(s->trial, "%d blocks in %s order: |A x - b| is %.2g of its terms, limit %.0e",
                   m->matrix.pattern.block_count, whose, error, backward_limit);
    }
    return !s->trial->decided;
}

/// Any order may stand in a pattern; `order` gives one.
static void check_orders(validate_trial *trial) {
    enum { MOST = 30 };
    factor_subject s;
    if (!factor_begin(&s, trial)) {
        return;
    }
    for (int32_t i = 0; i < 20; i++) {
        factor_reset(&s);
        factor_matrix *m =
            factor_make(&s, (factor_graph)(i % FACTOR_GRAPH_COUNT), random_integer(&s.random, 1, MOST), 5, 10.0);
        if (m == NULL) {
            return;
        }
        const int32_t n = m->matrix.pattern.block_count;
        int32_t order[MOST];
        bool seen[MOST] = {false};
        for (int32_t k = 0; k < n; k++) {
            const int32_t other = random_integer(&s.random, 0, k);
            order[k] = k;
            order[k] = order[other];
            order[other] = k;
        }
        m->matrix.pattern.order = order;
        if (!solve_ordered(&s, m, "a random")) {
            return;
        }
        if (s.ops->order == NULL) {
            continue;
        }
        m->matrix.pattern.order = NULL;
        memset(order, -1, sizeof order);
        if (s.ops->order(s.instance->self, s.context, &m->matrix.pattern, order, &s.error) != STN_OK) {
            trial_fail(trial, "order of %d blocks: %s", n, s.error.text);
            return;
        }
        for (int32_t k = 0; k < n; k++) {
            if (order[k] < 0 || order[k] >= n || seen[order[k]]) {
                trial_fail(trial, "order of %d blocks: place %d holds %d, which is no block, or is there already", n, k,
                           order[k]);
                return;
            }
            seen[order[k]] = true;
        }
        m->matrix.pattern.order = order;
        if (!solve_ordered(&s, m, "its own")) {
            return;
        }
    }
    trial_ok(trial, "20 matrices in random orders%s", s.ops->order != NULL ? " and in those of `order`" : "");
}

/// Values between marked blocks change; what refactor keeps of the call before must not show.
static void check_refactor(validate_trial *trial) {
    factor_subject s;
    if (!factor_begin(&s, trial)) {
        return;
    }
    if (s.ops->refactor == NULL) {
        trial_skip(trial, "it has no refactor");
        return;
    }
    for (int32_t i = 0; i < 20; i++) {
        enum { MOST = 40 };
        factor_reset(&s);
        factor_matrix *m = factor_make(&s, FACTOR_RANDOM, random_integer(&s.random, 1, MOST), 4, 10.0);
        double *copy = NULL, *x = m != NULL ? factor_sides(&s, m, 2, &copy) : NULL;
        void *kept = NULL, *fresh = NULL;
        bool changing[MOST];
        if (x == NULL || !factor_factor(&s, m, &kept) || !factor_factor(&s, m, &fresh)) {
            return;
        }
        const int32_t chance = random_integer(&s.random, 0, 4);
        for (int32_t j = 0; j < m->matrix.pattern.block_count; j++) {
            changing[j] = random_integer(&s.random, 0, 3) < chance;
        }
        for (int32_t call = 0; call < 3; call++) {
            for (int32_t j = 0; j < m->matrix.pattern.block_count && call > 0; j++) {
                double *pivot = m->matrix.values + m->offset[m->column_start[j]];
                *pivot *= changing[j] ? 1.5 : 1.0;
            }
            if (s.ops->refactor(kept, &m->matrix, changing, call > 0, &s.error) != STN_OK ||
                s.ops->numeric(fresh, &m->matrix, &s.error) != STN_OK) {
                trial_fail(trial, "matrix %d, call %d: %s", i, call, s.error.text);
                return;
            }
            memcpy(x, copy, 2 * (size_t)m->n * sizeof *x); // columns alike: of one and the other
            memcpy(x + m->n, copy, (size_t)m->n * sizeof *x);
            s.ops->solve(kept, 1, x);
            s.ops->solve(fresh, 1, x + m->n);
            for (int32_t k = 0; k < m->n; k++) {
                if (!(fabs(x[k] - x[m->n + k]) <= 1e-9 * (fabs(x[k]) + 1.0))) {
                    trial_fail(trial, "matrix %d, call %d: x[%d] = %.9g by refactor, %.9g by numeric", i, call, k, x[k],
                               x[m->n + k]);
                    return;
                }
            }
        }
        s.ops->release(kept);
        s.ops->release(fresh);
    }
    trial_ok(trial, "20 matrices of which some blocks change twice solve as by numeric");
}

/// The row whose limit no pivot reaches is told; of a matrix that is refused some row is.
static void check_weak_pivots(validate_trial *trial) {
    factor_subject s;
    if (!factor_begin(&s, trial)) {
        return;
    }
    if (s.ops->weak_pivot == NULL) {
        trial_skip(trial, "it has no weak_pivot");
        return;
    }
    for (int32_t i = 0; i < 20; i++) {
        factor_reset(&s);
        factor_matrix *m = factor_make(&s, FACTOR_RANDOM, random_integer(&s.random, 1, 20), 5, 10.0);
        double *least = m != NULL ? STN_ARENA_ZEROED(s.arena, m->n + 1, double) : NULL;
        void *factor = NULL;
        if (least == NULL || !factor_factor(&s, m, &factor)) {
            return;
        }
        const int32_t row = random_integer(&s.random, 0, m->n - 1), none = s.ops->weak_pivot(factor, least);
        least[row] = INFINITY;
        const int32_t found = s.ops->weak_pivot(factor, least);
        if (none != -1 || found != row) {
            trial_fail(trial, "matrix %d: weak pivots %d and %d, expected -1 where none is and %d where that is", i,
                       none, found, row);
            return;
        }
        least[row] = 0.0;
        m->matrix.values[m->offset[m->column_start[0]]] = -1.0;
        s.ops->numeric(factor, &m->matrix, &s.error);
        const int32_t failed = s.ops->weak_pivot(factor, least);
        if (failed < 0 || failed >= m->n) {
            trial_fail(trial, "matrix %d: a matrix was refused, and its weak pivot is %d of %d rows", i, failed, m->n);
            return;
        }
        s.ops->release(factor);
    }
    trial_ok(trial, "20 matrices: the row that is asked for, none, and one where a matrix is refused");
}

static const validate_check checks[] = {
    {"declares what it is", "symbolic, release, numeric and solve are all required, factor.h", check_declares},
    {"patterns", "stored is the lower triangle by block column, blocks row-major, x column by column", check_patterns},
    {"random matrices", "stored is the lower triangle by block column, blocks row-major, x column by column",
     check_random},
    {"ill-conditioned matrices", "Cholesky is backward stable without pivoting: no threshold may drop a small pivot",
     check_ill_conditioned},
    {"right-hand sides", "x is n x columns, column-major", check_sides},
    {"new values in an old factor", "nothing of the values before may stay, and nothing may be static", check_again},
    {"inputs", "copy the pattern in symbolic; write into memory of the factor only", check_copies},
    {"no allocation", "take all memory in symbolic, or at the first numeric", check_allocations},
    {"bad pivots", "test pivots as !(pivot > 0) and for infinity, and leave the factor usable", check_bad_pivots},
    {"orders", "take pattern.order or leave it, but solve; `order` fills a permutation of the blocks", check_orders},
    {"changing blocks", "keep nothing that a changing block decides; see refactor in factor.h", check_refactor},
    {"weak pivots", "rows are numbered as in the pattern; see weak_pivot in factor.h", check_weak_pivots},
};

const validate_battery validate_factors = {STN_KIND_FACTOR, STN_COUNT(checks), checks};
