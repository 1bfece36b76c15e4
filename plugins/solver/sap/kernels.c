// SPDX-License-Identifier: Apache-2.0
// The products of Newton's method: J x, J^T gamma, A x, and the laws over all constraints.
#include <math.h>
#include <string.h>

#include "system.h"

STN_KERNEL_INLINE double sum4(v4 a) {
    return (a[0] + a[2]) + (a[1] + a[3]);
}

/// (sum a, sum b, sum c, sum d), with the additions of sum4 in the same order.
STN_KERNEL_INLINE v4 sum_rows(v4 a, v4 b, v4 c, v4 d) {
    v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7); // a02 b02 a13 b13
    v4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

STN_KERNEL double sap_dot(int32_t n, const double *x, const double *y) {
    v4 a = {0.0}, b = {0.0};
    for (int32_t i = 0; i < n; i += 8) {
        a += v4_load(x + i) * v4_load(y + i);
        b += v4_load(x + i + 4) * v4_load(y + i + 4);
    }
    return sum4(a + b);
}

STN_KERNEL double sap_scaled_norm(int32_t n, const double *d, const double *x) {
    v4 a = {0.0}, b = {0.0};
    for (int32_t i = 0; i < n; i += 8) {
        v4 p = v4_load(d + i) * v4_load(x + i), q = v4_load(d + i + 4) * v4_load(x + i + 4);
        a += p * p;
        b += q * q;
    }
    return sqrt(sum4(a + b));
}

/// 0 x is 0 for all that is finite, and NaN stays NaN in a sum.
STN_KERNEL bool sap_finite(int64_t n, const double *x) {
    v4 a = {0.0}, b = {0.0};
    for (int64_t i = 0; i < n; i += 8) {
        a += 0.0 * v4_load(x + i);
        b += 0.0 * v4_load(x + i + 4);
    }
    return sum4(a + b) == 0.0;
}

/// y = A x for a block of ld <= 8: A is symmetric, so its rows serve as columns.
STN_KERNEL_INLINE void block_times(int32_t n, int32_t ld, const double *A, const double *x, double *y) {
    for (int32_t c = 0; c < ld; c += 4) {
        v4 sum = {0.0};
        for (int32_t i = 0; i < n; i++) {
            sum += v4_load(A + (int64_t)i * ld + c) * x[i];
        }
        v4_store(y + c, sum);
    }
}

/// y += A x for a block (n x n) beside the diagonal.
STN_KERNEL_INLINE void node_times(int32_t n, const double *A, const double *x, double *y) {
    for (int32_t r = 0; r < n; r++, A += n) {
        double sum = A[0] * x[0];
        for (int32_t k = 1; k < n; k++) {
            sum += A[k] * x[k];
        }
        y[r] += sum;
    }
}

STN_KERNEL void sap_mass_times(const sap_system *s, const double *x, double *y) {
    for (int32_t b = 0; b < s->H.block_count; b++) {
        const augmented_block *block = &s->H.blocks[b];
        if (block->n == 6) {
            block_times(6, 8, s->H.A + block->A, x + block->start, y + block->start);
        } else {
            block_times(block->n, block->ld, s->H.A + block->A, x + block->start, y + block->start);
        }
    }
    for (int32_t t = 0; t < s->problem->tree_count && s->H.nodal; t++) {
        const stn_matrix *A = &s->problem->trees[t].A;
        const augmented_block *nodes = s->H.blocks + s->H.tree_block[t];
        const int32_t m = A->node_size;
        for (int32_t i = 0; i < A->node_count && A->form == STN_MATRIX_NODAL; i++) { // blocks beside the diagonal
            double *yi = y + nodes[i].start;
            for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
                const double *a = A->values + (int64_t)m * m * e, *xj = x + nodes[A->column[e]].start;
                if (A->column[e] != i && m == 3) {
                    node_times(3, a, xj, yi);
                } else if (A->column[e] != i) {
                    node_times(m, a, xj, yi);
                }
            }
        }
    }
}

/// Four rows of a panel times x, added to the four partial sums.
STN_KERNEL_INLINE void rows_times_add(int32_t ld, const double *panel, const double *x, v4 sum[4]) {
    for (int32_t c = 0; c < ld; c += 4) {
        v4 xc = v4_load(x + c);
        for (int32_t r = 0; r < 4; r++) {
            sum[r] += v4_load(panel + (int64_t)r * ld + c) * xc;
        }
    }
}

STN_KERNEL static void panels_times(const sap_system *s, const double *x, double *rows) {
    for (int32_t k = 0; k < s->H.cluster_count; k++) {
        const augmented_cluster *cluster = &s->H.clusters[k];
        const augmented_part *parts = s->H.parts + cluster->part_start;
        for (int32_t r = 0; r < cluster->rows; r += 4) {
            v4 sum[4] = {{0.0}};
            for (int32_t p = 0; p < cluster->part_count; p++) {
                const augmented_block *block = &s->H.blocks[parts[p].block];
                const double *panel = s->H.panels + parts[p].panel;
                if (block->ld == 8) {
                    rows_times_add(8, panel + 8 * (int64_t)r, x + block->start, sum);
                } else {
                    rows_times_add(block->ld, panel + (int64_t)block->ld * r, x + block->start, sum);
                }
            }
            v4_store(rows + cluster->row_start + r, sum_rows(sum[0], sum[1], sum[2], sum[3]));
        }
    }
}

void sap_jacobian_times(const sap_system *s, const double *x, double *v, double *line_v) {
    panels_times(s, x, s->rows);
    const size_t stride = (size_t)s->batch.stride;
    for (int32_t k = 0; k < s->H.cluster_count; k++) {
        const augmented_cluster *cluster = &s->H.clusters[k];
        const double *row = s->rows + cluster->row_start;
        double *lane = v + cluster->lane_start;
        for (int32_t i = 0; i < cluster->lane_count; i++, lane++, row += 3) {
            lane[0] = row[0];
            lane[stride] = row[1];
            lane[2 * stride] = row[2];
        }
        for (int32_t i = 0; i < cluster->line_count; i++) {
            line_v[cluster->line_start + i] = row[i];
        }
    }
}

/// y += panel^T gamma.
STN_KERNEL_INLINE void rows_transposed_add(int32_t rows, int32_t ld, const double *panel, const double *gamma,
                                           double *y) {
    for (int32_t c = 0; c < ld; c += 4) {
        v4 sum = v4_load(y + c);
        for (int32_t r = 0; r < rows; r++) {
            sum += v4_load(panel + (int64_t)r * ld + c) * gamma[r];
        }
        v4_store(y + c, sum);
    }
}

STN_KERNEL static void panels_transposed(const sap_system *s, const double *rows, double *y) {
    for (int32_t k = 0; k < s->H.cluster_count; k++) {
        const augmented_cluster *cluster = &s->H.clusters[k];
        for (int32_t p = 0; p < cluster->part_count; p++) {
            const augmented_part *part = &s->H.parts[cluster->part_start + p];
            const augmented_block *block = &s->H.blocks[part->block];
            const double *panel = s->H.panels + part->panel, *gamma = rows + cluster->row_start;
            if (block->ld == 8) {
                rows_transposed_add(cluster->rows, 8, panel, gamma, y + block->start);
            } else {
                rows_transposed_add(cluster->rows, block->ld, panel, gamma, y + block->start);
            }
        }
    }
}

void sap_jacobian_transposed(sap_system *s) {
    const size_t stride = (size_t)s->batch.stride;
    for (int32_t k = 0; k < s->H.cluster_count; k++) {
        const augmented_cluster *cluster = &s->H.clusters[k];
        double *row = s->rows + cluster->row_start, *end = row + cluster->rows;
        const double *lane = s->now.gamma + cluster->lane_start;
        for (int32_t i = 0; i < cluster->lane_count; i++, lane++, row += 3) {
            row[0] = lane[0];
            row[1] = lane[stride];
            row[2] = lane[2 * stride];
        }
        for (int32_t i = 0; i < cluster->line_count; i++) {
            *row++ = s->now.line_gamma[cluster->line_start + i];
        }
        while (row < end) {
            *row++ = 0.0;
        }
    }
    memset(s->j, 0, (size_t)s->H.nx * sizeof *s->j);
    panels_transposed(s, s->rows, s->j);
}

void sap_evaluate(sap_system *s, sap_point *at) {
    at->cost = 0.0;
    if (s->batch.count > 0) {
        const stn_law *law = s->control->law;
        law->ops->evaluate(law->self, &s->batch, at->v, s->lane_cost, at->gamma, at->G);
        for (int32_t i = 0; i < s->batch.count; i++) {
            at->cost += s->lane_cost[i];
        }
    }
    for (int32_t i = 0; i < s->H.line_count; i++) {
        at->cost += stn_box_law(at->line_v[i], s->line_R[i], s->line_v_hat[i], s->line_lo[i], s->line_hi[i],
                                &at->line_gamma[i], &at->line_G[i]);
    }
}

STN_KERNEL static void add(int32_t n, const double *x, double *y) {
    for (int32_t i = 0; i < n; i++) {
        y[i] += x[i];
    }
}

void sap_refresh(sap_system *s) {
    for (int32_t i = 0; i < s->H.nx; i++) {
        s->dv[i] = s->v[i] - s->v_star[i];
    }
    sap_mass_times(s, s->dv, s->p);
    sap_jacobian_times(s, s->v, s->now.v, s->now.line_v);
    add(3 * s->batch.stride, s->bias, s->now.v);
    add(s->H.line_stride, s->line_bias, s->now.line_v);
    sap_evaluate(s, &s->now);
    s->cost = 0.5 * sap_dot(s->H.nx, s->dv, s->p) - sap_dot(s->H.nx, s->force, s->v) + s->now.cost;
}

STN_KERNEL void sap_gradient(sap_system *s) {
    sap_jacobian_transposed(s);
    for (int32_t i = 0; i < s->H.nx; i++) {
        s->gradient[i] = s->p[i] - s->j[i] - s->force[i];
        s->Av[i] = s->p[i] + s->A_v_star[i];
    }
}
