// SPDX-License-Identifier: Apache-2.0
// See ties.h.
#include "ties.h"

#include <math.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------------------
// finding

/// The body and the node that a constraint ties: their blocks; false: it is no tie.
static bool may_tie(const cond_layout *layout, const stn_constraint *c, const stn_jacobian **node,
                    const stn_jacobian **body) {
    const stn_problem *p = layout->problem;
    if (c->set != STN_SET_EQUALITY || stn_constraint_block_count(c) != 2) {
        return false;
    }
    for (int32_t r = c->row; r < c->row + c->rows; r++) {
        if (!(p->R[r] > 0.0 && p->R[r] < 1e50)) {
            return false;
        }
    }
    for (int32_t k = 0; k < 2; k++) {
        const stn_jacobian *one = stn_constraint_block(c, k), *other = stn_constraint_block(c, 1 - k);
        const cond_tree *tree = &layout->trees[one->tree];
        if (one->node_count == 1 && tree->A->form == STN_MATRIX_NODAL && one->node_size == tree->size &&
            other->node_count == 0 && layout->trees[other->tree].body >= 0) {
            *node = one;
            *body = other;
            return true;
        }
    }
    return false;
}

static int32_t place_of(const cond_layout *layout, const stn_jacobian *node) {
    const cond_tree *tree = &layout->trees[node->tree];
    return tree->place + node->node[0] * tree->stride;
}

/// Rows of a constraint into the tie of its node, which is the last one of the body or an earlier one.
static bool add_rows(cond_ties *out, const cond_bundle *bundle, const stn_constraint *c, const stn_jacobian *node,
                     const stn_jacobian *on, int32_t *number, stn_arena *arena) {
    const cond_layout *layout = out->layout;
    const int32_t place = place_of(layout, node), n = bundle->body->size, m = node->node_size;
    const int32_t from = layout->trees[on->tree].place - bundle->body->place, width = layout->trees[on->tree].size;
    cond_tie *tie = number[place / 4] > 0 ? &out->ties[number[place / 4] - 1] : NULL;
    if (tie == NULL) {
        tie = &out->ties[out->count++];
        number[place / 4] = out->count;
        *tie = (cond_tie){.place = place, .size = m};
        tie->J_n = STN_ARENA_ZEROED(arena, TIE_ROWS * m, double);
        tie->J_b = STN_ARENA_ZEROED(arena, (size_t)TIE_ROWS * (size_t)n, double);
        out->is_tied[place / 4] = true;
        if (tie->J_n == NULL || tie->J_b == NULL) {
            return false;
        }
    }
    for (int32_t r = 0; r < c->rows; r++) {
        const int32_t at = tie->rows++;
        tie->row[at] = c->row + r;
        memcpy(tie->J_n + at * m, node->values + r * m, (size_t)m * sizeof(double));
        memcpy(tie->J_b + (size_t)at * (size_t)n + from, on->values + (size_t)r * (size_t)width,
               (size_t)width * sizeof(double));
    }
    return true;
}

stn_status cond_ties_find(cond_layout *layout, stn_arena *arena, cond_ties *out, stn_error *err) {
    const stn_problem *p = layout->problem;
    int32_t most = 0;
    *out = (cond_ties){.layout = layout};
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_jacobian *node, *body;
        most += may_tie(layout, &p->constraints[i], &node, &body);
    }
    out->ties = STN_ARENA(arena, most + 1, cond_tie);
    out->bundles = STN_ARENA(arena, layout->body_count + 1, cond_bundle);
    out->is_tied = STN_ARENA_ZEROED(arena, layout->size / 4 + 1, bool);
    int32_t *number = STN_ARENA_ZEROED(arena, layout->size / 4 + 1, int32_t);
    if (out->ties == NULL || out->bundles == NULL || out->is_tied == NULL || number == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d constraints: out of memory", p->constraint_count);
    }
    for (int32_t b = 0; b < layout->body_count; b++) {
        cond_bundle *bundle = &out->bundles[b];
        *bundle = (cond_bundle){.body = &layout->bodies[b], .first = out->count};
        for (int32_t i = 0; i < p->constraint_count && most > 0; i++) {
            const stn_constraint *c = &p->constraints[i];
            const stn_jacobian *node, *body;
            if (!may_tie(layout, c, &node, &body) || layout->trees[body->tree].body != b) {
                continue;
            }
            const int32_t earlier = number[place_of(layout, node) / 4];
            // of another body, or with too many rows: it stays a constraint like others
            if (earlier > 0 && (earlier <= bundle->first || out->ties[earlier - 1].rows + c->rows > TIE_ROWS)) {
                continue;
            }
            if (!add_rows(out, bundle, c, node, body, number, arena)) {
                return stn_fail(err, STN_ERR_MEMORY, "%d constraints: out of memory", p->constraint_count);
            }
            layout->is_spring[i] = true;
        }
        bundle->end = out->count;
    }
    return STN_OK;
}

// -------------------------------------------------------------------------------------------------------------
// weighing

/// T = (R + J_n w J_n^T)^-1 of one tie.
static bool weigh_tie(const stn_problem *p, cond_tie *tie, const double *w) {
    const int32_t n = tie->rows;
    double M[TIE_ROWS * TIE_ROWS];
    for (int32_t r = 0; r < n; r++) {
        for (int32_t s = 0; s < n; s++) {
            double sum = r == s ? p->R[tie->row[r]] : 0.0;
            for (int32_t l = 0; l < tie->size; l++) {
                sum += tie->J_n[r * tie->size + l] * w[tie->place + l] * tie->J_n[s * tie->size + l];
            }
            M[r * n + s] = sum;
            tie->T[r * n + s] = r == s ? 1.0 : 0.0;
        }
    }
    if (stn_cholesky(n, M, n) >= 0) {
        return false;
    }
    stn_cholesky_forward(n, M, n, n, tie->T, n);
    stn_cholesky_backward(n, M, n, n, tie->T, n);
    return true;
}

stn_status cond_ties_weigh(cond_ties *out, const double *w, stn_arena *arena, stn_error *err) {
    for (int32_t b = 0; b < out->layout->body_count; b++) {
        cond_bundle *bundle = &out->bundles[b];
        const size_t n = (size_t)bundle->body->size;
        if (bundle->first == bundle->end) {
            continue;
        }
        double *S = STN_ARENA(arena, n * n, double), *TJ = STN_ARENA(arena, TIE_ROWS * n, double);
        bundle->S_inverse = STN_ARENA_ZEROED(arena, n * n, double);
        if (S == NULL || TJ == NULL || bundle->S_inverse == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "inverse of %zu dofs: out of memory", n);
        }
        memcpy(S, bundle->body->matrix, n * n * sizeof *S);
        bool good = true;
        for (int32_t k = bundle->first; k < bundle->end && good; k++) {
            cond_tie *tie = &out->ties[k];
            const size_t rows = (size_t)tie->rows;
            good = weigh_tie(out->layout->problem, tie, w);
            for (size_t r = 0; r < rows; r++) {
                for (size_t c = 0; c < n; c++) {
                    double sum = 0.0;
                    for (size_t s = 0; s < rows; s++) {
                        sum += tie->T[r * rows + s] * tie->J_b[s * n + c];
                    }
                    TJ[r * n + c] = sum;
                }
            }
            for (size_t i = 0; i < n; i++) {
                for (size_t r = 0; r < rows; r++) {
                    const double x = tie->J_b[r * n + i];
                    for (size_t j = 0; j < n && x != 0.0; j++) {
                        S[i * n + j] += x * TJ[r * n + j];
                    }
                }
            }
        }
        if (!good || stn_cholesky((int32_t)n, S, (int32_t)n) >= 0) {
            return stn_fail(
                err, STN_ERR_NUMERIC,
                "the masses of a body of %zu dofs and of the nodes that are attached to it are too far apart", n);
        }
        for (size_t i = 0; i < n; i++) {
            bundle->S_inverse[i * (n + 1)] = 1.0;
        }
        stn_cholesky_forward((int32_t)n, S, (int32_t)n, (int32_t)n, bundle->S_inverse, (int32_t)n);
        stn_cholesky_backward((int32_t)n, S, (int32_t)n, (int32_t)n, bundle->S_inverse, (int32_t)n);
    }
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------------------- using

/// y (rows) = J_b x_b + J_n x_n, either of them where it is given.
static void tie_velocity(const cond_tie *tie, const cond_body *body, const double *x_b, const double *x_n, double *y) {
    for (int32_t r = 0; r < tie->rows; r++) {
        double sum = 0.0;
        for (int32_t l = 0; l < body->size && x_b != NULL; l++) {
            sum += tie->J_b[(size_t)r * (size_t)body->size + (size_t)l] * x_b[l];
        }
        for (int32_t l = 0; l < tie->size && x_n != NULL; l++) {
            sum += tie->J_n[r * tie->size + l] * x_n[l];
        }
        y[r] = sum;
    }
}

void cond_ties_impulses(const cond_ties *ties, int32_t number, const double *v, double *gamma, double *q) {
    const stn_problem *p = ties->layout->problem;
    const cond_bundle *bundle = &ties->bundles[number];
    const cond_body *body = bundle->body;
    cond_spring_impulses(ties->layout, body, v, gamma, q);
    for (int32_t k = bundle->first; k < bundle->end; k++) {
        const cond_tie *tie = &ties->ties[k];
        double y[TIE_ROWS];
        tie_velocity(tie, body, v + body->place, v + tie->place, y);
        for (int32_t l = 0; l < tie->size; l++) {
            q[tie->place + l] = 0.0;
        }
        for (int32_t r = 0; r < tie->rows; r++) {
            const int32_t row = tie->row[r];
            const double x = (p->v_hat[row] - p->bias[row] - y[r]) / p->R[row];
            gamma[row] = x;
            for (int32_t l = 0; l < tie->size; l++) {
                q[tie->place + l] += tie->J_n[r * tie->size + l] * x;
            }
            for (int32_t l = 0; l < body->size; l++) {
                q[body->place + l] += tie->J_b[(size_t)r * (size_t)body->size + (size_t)l] * x;
            }
        }
    }
}

/// y = T x of one tie.
static void resist(const cond_tie *tie, const double *x, double *y) {
    for (int32_t r = 0; r < tie->rows; r++) {
        double sum = 0.0;
        for (int32_t s = 0; s < tie->rows; s++) {
            sum += tie->T[r * tie->rows + s] * x[s];
        }
        y[r] = sum;
    }
}

void cond_ties_apply(const cond_ties *ties, int32_t number, const double *w, const double *f, double *x,
                     double *scratch) {
    const cond_bundle *bundle = &ties->bundles[number];
    const cond_body *body = bundle->body;
    if (bundle->S_inverse == NULL) {
        cond_weigh(body, body->place, body->width, w, f, x);
        return;
    }
    const int32_t n = body->size;
    double *g = scratch + body->place, wf[STN_MAX_NODE_SIZE], y[TIE_ROWS], t[TIE_ROWS];
    memcpy(g, f + body->place, (size_t)n * sizeof *g);
    for (int32_t k = bundle->first; k < bundle->end; k++) {
        const cond_tie *tie = &ties->ties[k];
        for (int32_t l = 0; l < tie->size; l++) {
            wf[l] = w[tie->place + l] * f[tie->place + l];
        }
        tie_velocity(tie, body, NULL, wf, y);
        resist(tie, y, t);
        for (int32_t r = 0; r < tie->rows; r++) {
            for (int32_t l = 0; l < n; l++) {
                g[l] -= tie->J_b[(size_t)r * (size_t)n + (size_t)l] * t[r];
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int32_t j = 0; j < n; j++) {
            sum += bundle->S_inverse[(size_t)i * (size_t)n + (size_t)j] * g[j];
        }
        x[body->place + i] = sum;
    }
    for (int32_t k = bundle->first; k < bundle->end; k++) {
        const cond_tie *tie = &ties->ties[k];
        for (int32_t l = 0; l < tie->size; l++) {
            wf[l] = w[tie->place + l] * f[tie->place + l];
        }
        tie_velocity(tie, body, x + body->place, wf, y);
        resist(tie, y, t);
        for (int32_t l = 0; l < tie->size; l++) {
            double sum = 0.0;
            for (int32_t r = 0; r < tie->rows; r++) {
                sum += tie->J_n[r * tie->size + l] * t[r];
            }
            x[tie->place + l] = wf[l] - w[tie->place + l] * sum;
        }
    }
}

double cond_ties_energy(const cond_ties *ties, int32_t number, const double *v, const double *v_before) {
    const cond_layout *layout = ties->layout;
    const stn_problem *p = layout->problem;
    const cond_bundle *bundle = &ties->bundles[number];
    const cond_body *body = bundle->body;
    double all = 0.0;
    for (int32_t k = body->first_spring; k < body->end_spring; k++) {
        const cond_spring *spring = &layout->springs[k];
        const stn_constraint *c = &p->constraints[spring->constraint];
        for (int32_t r = 0; r < c->rows; r++) {
            double sum = 0.0;
            for (int32_t e = spring->first; e < spring->end; e++) {
                const cond_piece *piece = &layout->spring_pieces[e];
                for (int32_t l = 0; l < piece->columns; l++) {
                    sum += piece->J[r * piece->pitch + l] * (v[piece->place + l] - v_before[piece->place + l]);
                }
            }
            all += sum * sum / p->R[c->row + r];
        }
    }
    for (int32_t k = bundle->first; k < bundle->end; k++) {
        const cond_tie *tie = &ties->ties[k];
        double now[TIE_ROWS], then[TIE_ROWS];
        tie_velocity(tie, body, v + body->place, v + tie->place, now);
        tie_velocity(tie, body, v_before + body->place, v_before + tie->place, then);
        for (int32_t r = 0; r < tie->rows; r++) {
            all += (now[r] - then[r]) * (now[r] - then[r]) / p->R[tie->row[r]];
        }
    }
    return all;
}
