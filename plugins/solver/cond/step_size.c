// SPDX-License-Identifier: Apache-2.0
// See step_size.h.
#include "step_size.h"

#include <math.h>

#include <stiction/random.h>

/// Dofs of a node that share one step size: those of a point, of a turn.
static int32_t group_of(const cond_tree *tree) {
    return tree->A->form == STN_MATRIX_NODAL && tree->size % 3 == 0 ? 3 : 1;
}

/// W of nodes of three dofs; `mean` holds their means of the diagonal of A, and 1 over them afterwards.
STN_KERNEL static void weigh_points(const cond_tree *tree, double *mean, double *w) {
    const stn_matrix *A = tree->A;
    for (int32_t i = 0; i < tree->nodes; i++) {
        mean[4 * (size_t)i] = 1.0 / mean[4 * (size_t)i];
    }
    for (int32_t i = 0; i < tree->nodes; i++) {
        cond_v4 sum = {0.0};
        double last = 0.0;
        for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
            const double *block = A->values + 9 * (size_t)e, over = mean[4 * (size_t)A->column[e]];
            const cond_v4 a = cond_load(block), b = cond_load(block + 4);
            sum += over * (a * a + b * b);
            last += over * (block[8] * block[8]);
        }
        const double own = 3.0 / (cond_total(sum) + last);
        for (int32_t a = 0; a < 3; a++) {
            w[4 * (size_t)i + (size_t)a] = own;
        }
    }
}

void cond_frobenius(const cond_layout *layout, double *w, double *d) {
    for (int32_t t = 0; t < layout->problem->tree_count; t++) {
        const cond_tree *tree = &layout->trees[t];
        const stn_matrix *A = tree->A;
        double *own = w + tree->place, *mean = d + tree->place;
        if (tree->body < 0 && A->form == STN_MATRIX_DIAGONAL) {
            for (int32_t k = 0; k < tree->size; k++) {
                own[k] = 1.0 / A->values[k];
            }
        }
        if (A->form != STN_MATRIX_NODAL) {
            continue;
        }
        const int32_t m = tree->size, g = group_of(tree);
        for (int32_t i = 0; i < tree->nodes; i++) {
            const double *block = A->values + (size_t)(m * m) * (size_t)stn_nodal_entry(A->row_start, A->column, i, i);
            for (int32_t a = 0; a < m; a++) {
                double sum = 0.0;
                for (int32_t k = a / g * g; k < a / g * g + g; k++) {
                    sum += block[k * (m + 1)];
                }
                mean[(size_t)i * (size_t)tree->stride + (size_t)a] = sum / g;
            }
        }
        if (m == 3) {
            weigh_points(tree, mean, own);
            continue;
        }
        for (int32_t i = 0; i < tree->nodes; i++) {
            double sum[STN_MAX_NODE_SIZE] = {0.0};
            for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
                const double *block = A->values + (size_t)(m * m) * (size_t)e;
                const double *other = mean + (size_t)A->column[e] * (size_t)tree->stride;
                for (int32_t a = 0; a < m; a++) {
                    for (int32_t b = 0; b < m; b++) {
                        sum[a / g] += block[a * m + b] * block[a * m + b] / other[b];
                    }
                }
            }
            for (int32_t a = 0; a < m; a++) {
                own[(size_t)i * (size_t)tree->stride + (size_t)a] = g / sum[a / g];
            }
        }
    }
}

void cond_scale(const cond_layout *layout, double limit, bool raise, int32_t iterations, double *w,
                double *const work[2]) {
    double *x = work[0], *y = work[1];
    uint64_t seed = 1;
    for (int32_t k = 0; k < layout->size; k++) {
        const double part = stn_random_unit(stn_random_bits(&seed));
        x[k] = w[k] > 0.0 ? (part - 0.5) * sqrt(w[k]) : 0.0;
    }
    for (int32_t first = 0, last = 0; first < layout->chunk_count; first = last) {
        last = first + 1;
        if (layout->chunks[first].body >= 0) {
            continue;
        }
        const cond_tree *tree = &layout->trees[layout->chunks[first].tree];
        const int32_t begin = tree->place, end = begin + tree->nodes * tree->stride;
        while (last < layout->chunk_count && layout->chunks[last].tree == layout->chunks[first].tree) {
            last++;
        }
        if (tree->A->form != STN_MATRIX_NODAL) {
            continue;
        }
        double largest = 0.0;
        for (int32_t i = 0; i < iterations; i++) {
            double before = 0.0, after = 0.0;
            for (int32_t k = first; k < last; k++) {
                cond_product(layout, &layout->chunks[k], x, y);
            }
            for (int32_t k = begin; k < end; k++) {
                if (w[k] > 0.0) {
                    before += x[k] * x[k] / w[k];
                    after += w[k] * y[k] * y[k];
                }
            }
            largest = sqrt(after / before);
            const double unit = 1.0 / largest;
            for (int32_t k = begin; k < end; k++) {
                x[k] = unit * w[k] * y[k];
            }
        }
        for (int32_t k = begin; k < end && (raise || largest > limit); k++) {
            w[k] *= limit / largest;
        }
    }
}
