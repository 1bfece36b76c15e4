// SPDX-License-Identifier: Apache-2.0
// Products with what augmented.h packed: J x, J^T gamma, A x, and sums over padded vectors.
#include <math.h>
#include <string.h>

#include "common/augmented.h"
#include "common/vectors.h"

/// (sum a, sum b, sum c, sum d), with the additions of sum4 in the same order.
STN_KERNEL_INLINE v4 sum_rows(v4 a, v4 b, v4 c, v4 d) {
    v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7); // a02 b02 a13 b13
    v4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

STN_KERNEL double padded_dot(int32_t n, const double *x, const double *y) {
    v4 a = {0.0}, b = {0.0};
    for (int32_t i = 0; i < n; i += 8) {
        a += v4_load(x + i) * v4_load(y + i);
        b += v4_load(x + i + 4) * v4_load(y + i + 4);
    }
    return sum4(a + b);
}

STN_KERNEL double padded_scaled_norm(int32_t n, const double *d, const double *x) {
    v4 a = {0.0}, b = {0.0};
    for (int32_t i = 0; i < n; i += 8) {
        v4 p = v4_load(d + i) * v4_load(x + i), q = v4_load(d + i + 4) * v4_load(x + i + 4);
        a += p * p;
        b += q * q;
    }
    return sqrt(sum4(a + b));
}

/// 0 x is 0 for all that is finite, and NaN stays NaN in a sum.
STN_KERNEL bool padded_finite(int64_t n, const double *x) {
    v4 a = {0.0}, b = {0.0};
    for (int64_t i = 0; i < n; i += 8) {
        a += 0.0 * v4_load(x + i);
        b += 0.0 * v4_load(x + i + 4);
    }
    return sum4(a + b) == 0.0;
}

/// a = a^-1/2, or 0 where a is not > 0; returns whether there are such.
STN_KERNEL static bool invert_roots(int32_t n, double *a) {
    int64_t missing = 0;
    for (int32_t i = 0; i < n; i++) {
        missing |= a[i] > 0.0 ? 0 : 1;
    }
    for (int32_t i = 0; i < n; i++) {
        double root = sqrt(a[i] > 0.0 ? a[i] : (double)INFINITY);
        a[i] = 1.0 / root;
    }
    return missing != 0;
}

void augmented_pad(const augmented *h, const double *x, double *padded) {
    for (int32_t b = 0; b < h->block_count; b++) {
        const augmented_block *block = &h->blocks[b];
        if (block->n == 6) {
            copy_padded_6(1, x + block->dof, padded + block->start);
        } else {
            copy_padded(1, block->n, block->ld, x + block->dof, padded + block->start);
        }
    }
}

void augmented_unpad(const augmented *h, const double *padded, double *x) {
    for (int32_t b = 0; b < h->block_count; b++) {
        const augmented_block *block = &h->blocks[b];
        memcpy(x + block->dof, padded + block->start, (size_t)block->n * sizeof *x);
    }
}

void augmented_scale(const augmented *h, double *D) {
    const int64_t nx = h->nx;
    // D = diag(A)^-1/2; 1/sqrt(inf) keeps the padding 0
    for (int64_t i = nx > 0 ? nx - 8 : 0; i < nx; i++) {
        D[i] = INFINITY;
    }
    for (int32_t b = 0; b < h->block_count; b++) {
        const augmented_block *block = &h->blocks[b];
        if (block->A < 0) {
            stn_matrix_diagonal(&h->problem->trees[block->tree].A, D + block->start);
            for (int32_t i = block->n; i < block->ld; i++) {
                D[block->start + i] = INFINITY;
            }
            continue;
        }
        const double *A = h->A + block->A;
        const int64_t stride = block->ld + 1;
        for (int32_t i = 0; i < block->ld; i++) {
            D[block->start + i] = i < block->n ? A[i * stride] : (double)INFINITY;
        }
    }
    if (invert_roots(h->nx, D)) {
        // where a dof has no inertia of its own the largest of its tree stands in, or 1
        for (int32_t b = 0; b < h->block_count;) {
            int32_t first = b, tree = h->blocks[b].tree;
            double least = INFINITY; // of D: the largest inertia
            for (; b < h->block_count && h->blocks[b].tree == tree; b++) {
                for (int32_t i = 0; i < h->blocks[b].n; i++) {
                    double d = D[h->blocks[b].start + i];
                    least = d > 0.0 && d < least ? d : least;
                }
            }
            for (int32_t k = first; k < b; k++) {
                for (int32_t i = 0; i < h->blocks[k].n; i++) {
                    double *d = &D[h->blocks[k].start + i];
                    *d = *d > 0.0 ? *d : (isfinite(least) ? least : 1.0);
                }
            }
        }
    }
}

/// y = A x for a block: A is symmetric, so its rows serve as columns, four vectors of them at a time.
STN_KERNEL_INLINE void block_times(int32_t n, int32_t ld, const double *A, const double *x, double *y) {
    int32_t c = 0;
    for (; c + 16 <= ld; c += 16) {
        v4 sum0 = {0.0}, sum1 = {0.0}, sum2 = {0.0}, sum3 = {0.0};
        const double *row = A + c;
        for (int32_t i = 0; i < n; i++, row += ld) {
            sum0 += v4_load(row) * x[i];
            sum1 += v4_load(row + 4) * x[i];
            sum2 += v4_load(row + 8) * x[i];
            sum3 += v4_load(row + 12) * x[i];
        }
        v4_store(y + c, sum0);
        v4_store(y + c + 4, sum1);
        v4_store(y + c + 8, sum2);
        v4_store(y + c + 12, sum3);
    }
    for (; c < ld; c += 4) {
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

/// What products with A read and write.
typedef struct mass_product {
    const augmented *h;
    const double *x;
    double *y;
} mass_product;

/// The blocks on the diagonal.
STN_KERNEL static void blocks_times(void *user, int32_t begin, int32_t end, int32_t worker) {
    (void)worker;
    const mass_product *m = user;
    const augmented *h = m->h;
    const double *x = m->x;
    double *y = m->y;
    for (int32_t b = begin; b < end; b++) {
        const augmented_block *block = &h->blocks[b];
        const stn_problem_tree *tree = &h->problem->trees[block->tree];
        if (h->bodies[block->tree].n > 0) {
            memset(y + block->start, 0, (size_t)block->ld * sizeof *y);
            stn_matrix_mul_add(&tree->A, 1.0, x + block->start, y + block->start);
        } else if (block->n == 6) {
            block_times(6, 8, h->A + block->A, x + block->start, y + block->start);
        } else {
            block_times(block->n, block->ld, h->A + block->A, x + block->start, y + block->start);
        }
    }
}

STN_KERNEL void augmented_mass_times(const augmented *h, const double *x, double *y) {
    mass_product diagonal = {h, x, y};
    augmented_parallel(h, h->block_count, 128, blocks_times, &diagonal);
    for (int32_t t = 0; t < h->problem->tree_count && h->nodal; t++) {
        const stn_matrix *A = &h->problem->trees[t].A;
        const augmented_block *nodes = h->blocks + h->tree_block[t];
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

/// What products with J read and write.
typedef struct product {
    const augmented *h;
    const double *x;    // velocities
    double *v, *line_v; // J x
    const double *gamma, *line_gamma;
    double *y; // J^T gamma
} product;

STN_KERNEL static void panels_times(const augmented *h, int32_t begin, int32_t end, const double *x, double *rows) {
    for (int32_t k = begin; k < end; k++) {
        const augmented_cluster *cluster = &h->clusters[k];
        const augmented_part *parts = h->parts + cluster->part_start;
        if (cluster->motion >= 0) {
            const augmented_wrenches wrenches = augmented_wrenches_of(h, cluster);
            augmented_motion_times(&h->motions[cluster->motion], &wrenches, x + h->blocks[parts->block].start,
                                   rows + cluster->row_start);
            continue;
        }
        if (cluster->unit) {
            const double *panel = h->panels + parts->panel, *from = x + h->blocks[parts->block].start;
            const int32_t *dof = h->line_dof + cluster->line_start;
            for (int32_t r = 0; r < cluster->rows; r++) {
                rows[cluster->row_start + r] = r < cluster->line_count ? panel[r] * from[dof[r]] : 0.0;
            }
            continue;
        }
        for (int32_t r = 0; r < cluster->rows; r += 4) {
            v4 sum[4] = {{0.0}};
            for (int32_t p = 0; p < cluster->part_count; p++) {
                const augmented_block *block = &h->blocks[parts[p].block];
                const double *panel = h->panels + parts[p].panel;
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

static void clusters_times(void *user, int32_t begin, int32_t end, int32_t worker) {
    (void)worker;
    const product *m = user;
    const augmented *h = m->h;
    const size_t stride = (size_t)h->lane_stride;
    panels_times(h, begin, end, m->x, h->stacked);
    for (int32_t k = begin; k < end; k++) {
        const augmented_cluster *cluster = &h->clusters[k];
        const double *row = h->stacked + cluster->row_start;
        double *lane = m->v + cluster->lane_start;
        for (int32_t i = 0; i < cluster->lane_count; i++, lane++, row += 3) {
            lane[0] = row[0];
            lane[stride] = row[1];
            lane[2 * stride] = row[2];
        }
        for (int32_t i = 0; i < cluster->line_count; i++) {
            m->line_v[cluster->line_start + i] = row[i];
        }
    }
}

void augmented_jacobian_times(const augmented *h, const double *x, double *v, double *line_v) {
    product m = {.h = h, .x = x, .v = v, .line_v = line_v};
    augmented_parallel(h, h->cluster_count, 64, clusters_times, &m);
}

/// y += panel^T gamma in `vectors` vectors from column c on.
STN_KERNEL_INLINE void columns_transposed_add(int32_t vectors, int32_t c, int32_t rows, int32_t ld, const double *panel,
                                              const double *gamma, double *y) {
    v4 sum[4];
    UNROLL
    for (int32_t k = 0; k < vectors; k++) {
        sum[k] = v4_load(y + c + 4 * k);
    }
    panel += c;
    for (int32_t r = 0; r < rows; r++, panel += ld) {
        UNROLL
        for (int32_t k = 0; k < vectors; k++) {
            sum[k] += v4_load(panel + 4 * k) * gamma[r];
        }
    }
    UNROLL
    for (int32_t k = 0; k < vectors; k++) {
        v4_store(y + c + 4 * k, sum[k]);
    }
}

/// y += panel^T gamma.
STN_KERNEL_INLINE void rows_transposed_add(int32_t rows, int32_t ld, const double *panel, const double *gamma,
                                           double *y) {
    int32_t c = 0;
    for (; c + 16 <= ld; c += 16) {
        columns_transposed_add(4, c, rows, ld, panel, gamma, y);
    }
    for (; c + 8 <= ld; c += 8) {
        columns_transposed_add(2, c, rows, ld, panel, gamma, y);
    }
    for (; c < ld; c += 4) {
        columns_transposed_add(1, c, rows, ld, panel, gamma, y);
    }
}

/// y += what part `part` of cluster makes of its rows.
STN_KERNEL_INLINE void part_transposed_add(const augmented *h, const augmented_cluster *cluster,
                                           const augmented_part *part, const double *rows, double *y) {
    const augmented_block *block = &h->blocks[part->block];
    const double *panel = h->panels + part->panel, *gamma = rows + cluster->row_start;
    if (cluster->motion >= 0) {
        const augmented_wrenches wrenches = augmented_wrenches_of(h, cluster);
        augmented_motion_transposed(&h->motions[cluster->motion], &wrenches, gamma, y + block->start);
    } else if (cluster->unit) {
        for (int32_t r = 0; r < cluster->line_count; r++) {
            y[block->start + h->line_dof[cluster->line_start + r]] += panel[r] * gamma[r];
        }
    } else if (block->ld == 8) {
        rows_transposed_add(cluster->rows, 8, panel, gamma, y + block->start);
    } else {
        rows_transposed_add(cluster->rows, block->ld, panel, gamma, y + block->start);
    }
}

STN_KERNEL static void panels_transposed(const augmented *h, const double *rows, double *y) {
    for (int32_t k = 0; k < h->cluster_count; k++) {
        const augmented_cluster *cluster = &h->clusters[k];
        for (int32_t p = 0; p < cluster->part_count; p++) {
            part_transposed_add(h, cluster, &h->parts[cluster->part_start + p], rows, y);
        }
    }
}

/// The same, block by block: every sum in the order of the clusters.
STN_KERNEL static void blocks_transposed(void *user, int32_t begin, int32_t end, int32_t worker) {
    (void)worker;
    const product *m = user;
    const augmented *h = m->h;
    const int32_t first = h->blocks[begin].start, last = end < h->block_count ? h->blocks[end].start : h->nx;
    memset(m->y + first, 0, (size_t)(last - first) * sizeof *m->y);
    for (int32_t k = h->touch_start[begin]; k < h->touch_start[end]; k++) {
        const augmented_touch *touch = &h->touches[k];
        part_transposed_add(h, &h->clusters[touch->cluster], &h->parts[touch->part], h->stacked, m->y);
    }
}

/// Impulses of the clusters, stacked.
static void stack_clusters(void *user, int32_t begin, int32_t end, int32_t worker) {
    (void)worker;
    const product *m = user;
    const augmented *h = m->h;
    const size_t stride = (size_t)h->lane_stride;
    for (int32_t k = begin; k < end; k++) {
        const augmented_cluster *cluster = &h->clusters[k];
        double *row = h->stacked + cluster->row_start, *last = row + cluster->rows;
        const double *lane = m->gamma + cluster->lane_start;
        for (int32_t i = 0; i < cluster->lane_count; i++, lane++, row += 3) {
            row[0] = lane[0];
            row[1] = lane[stride];
            row[2] = lane[2 * stride];
        }
        for (int32_t i = 0; i < cluster->line_count; i++) {
            *row++ = m->line_gamma[cluster->line_start + i];
        }
        while (row < last) {
            *row++ = 0.0;
        }
    }
}

void augmented_jacobian_transposed(const augmented *h, const double *gamma, const double *line_gamma, double *y) {
    product m = {.h = h, .gamma = gamma, .line_gamma = line_gamma, .y = y};
    augmented_parallel(h, h->cluster_count, 256, stack_clusters, &m);
    if (h->touch_start != NULL && h->block_count > 0) {
        augmented_parallel(h, h->block_count, 48, blocks_transposed, &m);
    } else {
        memset(y, 0, (size_t)h->nx * sizeof *y);
        panels_transposed(h, h->stacked, y);
    }
}

// ------------------------------------------------------------------------------------------------------------- threads

typedef struct pieces {
    int32_t count, piece;
    void (*run)(void *user, int32_t begin, int32_t end, int32_t worker);
    void *user;
} pieces;

static void run_piece(void *user, int32_t index, int32_t worker) {
    const pieces *p = user;
    const int32_t begin = index * p->piece, end = begin + p->piece < p->count ? begin + p->piece : p->count;
    p->run(p->user, begin, end, worker);
}

void augmented_parallel(const augmented *h, int32_t count, int32_t piece,
                        void (*run)(void *user, int32_t begin, int32_t end, int32_t worker), void *user) {
    if (count <= piece || stn_threads_count(h->control->threads) == 1) {
        run(user, 0, count, 0);
        return;
    }
    pieces p = {count, piece, run, user};
    stn_parallel_for(h->control->threads, (count + piece - 1) / piece, run_piece, &p);
}
