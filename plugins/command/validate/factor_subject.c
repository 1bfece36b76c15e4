// SPDX-License-Identifier: Apache-2.0
#include "factor_subject.h"

#include <string.h>

bool factor_begin(factor_subject *s, validate_trial *trial) {
    const validate_request *request = trial->request;
    *s = (factor_subject){.trial = trial, .context = request->context};
    s->random.state = stn_hash(request->seed, trial->check, strlen(trial->check));
    s->arena = stn_arena_create(s->context);
    stn_status status = s->arena != NULL
                            ? stn_instance_create(s->context, STN_KIND_FACTOR, request->id, request->settings,
                                                  request->setting_count, &s->instance, &s->error)
                            : stn_fail(&s->error, STN_ERR_MEMORY, "out of memory");
    if (status != STN_OK) {
        trial_fail(trial, "cannot be made: %s", s->error.text);
        return false;
    }
    s->ops = s->instance->desc->ops.factor;
    return true;
}

void factor_reset(factor_subject *s) {
    stn_arena_reset(s->arena);
}

static bool joined(factor_subject *s, factor_graph graph, int32_t count, int32_t i, int32_t j) {
    switch (graph) {
    case FACTOR_DIAGONAL:
        return false;
    case FACTOR_CHAIN:
        return i == j + 1;
    case FACTOR_RING:
        return i == j + 1 || (j == 0 && i == count - 1);
    case FACTOR_ARROW:
        return i == count - 1;
    case FACTOR_STAR:
        return j == 0;
    case FACTOR_FULL:
        return true;
    default:
        return random_chance(&s->random, 2.5 / count);
    }
}

/// Entries of the pattern at random, and a diagonal that just outweighs its row: by a half where the condition is
/// small; with entries that are all negative and by 1/condition, a graph's Laplacian that is nearly singular, where it
/// is large.
void factor_fill(factor_subject *s, factor_matrix *m, double condition) {
    const stn_block_pattern *p = &m->matrix.pattern;
    size_t n = (size_t)m->n;
    bool ill = condition > 1e3;
    memset(m->dense, 0, n * n * sizeof *m->dense);
    for (int32_t j = 0; j < p->block_count; j++) {
        for (int32_t e = m->column_start[j]; e < m->column_start[j + 1]; e++) {
            int32_t i = m->row[e], columns = m->size[j];
            for (int32_t k = 0; k < m->size[i] * columns; k++) {
                size_t a = (size_t)(m->start[i] + k / columns), b = (size_t)(m->start[j] + k % columns);
                double value = random_normal(&s->random);
                m->dense[a * n + b] = m->dense[b * n + a] = ill ? -fabs(value) : value;
            }
        }
    }
    for (size_t a = 0; a < n; a++) {
        double sum = 0.0;
        for (size_t b = 0; b < n; b++) {
            sum += a == b ? 0.0 : fabs(m->dense[a * n + b]);
        }
        m->dense[a * n + a] = sum + (sum + 0.1) * (ill ? 1.0 / condition : random_uniform(&s->random, 0.1, 0.5));
    }
    for (int32_t j = 0, e = 0; j < p->block_count; j++) {
        for (; e < m->column_start[j + 1]; e++) {
            int32_t i = m->row[e], columns = m->size[j];
            for (int32_t k = 0; k < m->size[i] * columns; k++) {
                size_t a = (size_t)(m->start[i] + k / columns), b = (size_t)(m->start[j] + k % columns);
                m->matrix.values[m->offset[e] + k] = m->dense[a * n + b];
            }
        }
    }
}

factor_matrix *factor_make(factor_subject *s, factor_graph graph, int32_t count, int32_t most, double condition) {
    size_t blocks = (size_t)count, entries = blocks * (blocks + 1) / 2, n = blocks * (size_t)most;
    factor_matrix *m = STN_ARENA_ZEROED(s->arena, 1, factor_matrix);
    int32_t *integers = STN_ARENA_ZEROED(s->arena, 3 * blocks + entries + 3, int32_t);
    int64_t *offset = STN_ARENA_ZEROED(s->arena, entries + 2, int64_t);
    double *reals = STN_ARENA_ZEROED(s->arena, 2 * n * n + 2, double);
    if (m == NULL || integers == NULL || offset == NULL || reals == NULL) {
        trial_fail(s->trial, "out of memory");
        return NULL;
    }
    m->size = integers;
    m->start = m->size + blocks;
    m->column_start = m->start + blocks + 1;
    m->row = m->column_start + blocks + 1;
    m->offset = offset;
    for (int32_t i = 0; i < count; i++) {
        m->size[i] = random_integer(&s->random, 1, most);
        m->start[i + 1] = m->start[i] + m->size[i];
    }
    m->n = m->start[count];
    for (int32_t j = 0, e = 0; j < count; j++) {
        for (int32_t i = j; i < count; i++) {
            if (i == j || joined(s, graph, count, i, j)) {
                m->row[e] = i;
                m->offset[e + 1] = m->offset[e] + (int64_t)m->size[i] * m->size[j];
                e++;
            }
        }
        m->column_start[j + 1] = e;
    }
    m->dense = reals;
    m->matrix = (stn_block_matrix){{count, m->size, m->column_start, m->row, NULL}, m->offset, reals + n * n};
    factor_fill(s, m, condition);
    return m;
}

static double larger(double a, double b) {
    return isnan(b) || b > a ? b : a;
}

double factor_error(const factor_matrix *m, int32_t columns, const double *x, const double *b) {
    size_t n = (size_t)m->n;
    double worst = 0.0;
    for (int32_t c = 0; c < columns; c++, x += n, b += n) {
        double error = 0.0, size = 0.0;
        for (size_t i = 0; i < n; i++) {
            double sum = -b[i], terms = fabs(b[i]);
            for (size_t k = 0; k < n; k++) {
                sum += m->dense[i * n + k] * x[k];
                terms += fabs(m->dense[i * n + k] * x[k]);
            }
            error = larger(error, fabs(sum));
            size = larger(size, terms);
        }
        worst = larger(worst, error / fmax(size, 1e-300));
    }
    return worst;
}

bool factor_factor(factor_subject *s, const factor_matrix *m, void **factor) {
    *factor = NULL;
    stn_status status = s->ops->symbolic(s->instance->self, s->context, &m->matrix.pattern, factor, &s->error);
    if (status == STN_OK) {
        status = s->ops->numeric(*factor, &m->matrix, &s->error);
    }
    if (status != STN_OK) {
        trial_fail(s->trial, "a positive definite matrix of %d blocks, %d rows: %s", m->matrix.pattern.block_count,
                   m->n, s->error.text);
    }
    return status == STN_OK;
}

double *factor_sides(factor_subject *s, const factor_matrix *m, int32_t columns, double **copy) {
    size_t count = (size_t)m->n * (size_t)columns;
    double *x = STN_ARENA(s->arena, count, double);
    *copy = STN_ARENA(s->arena, count, double);
    if (x == NULL || *copy == NULL) {
        trial_fail(s->trial, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        x[i] = (*copy)[i] = random_normal(&s->random);
    }
    return x;
}
