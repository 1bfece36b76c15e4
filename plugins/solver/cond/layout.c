// SPDX-License-Identifier: Apache-2.0
// See layout.h.
#include "layout.h"

#include <string.h>

enum { CHUNK_BLOCKS = 4096 }; // blocks of A that a chunk reads, about

double *cond_vector(const cond_layout *layout, stn_arena *arena) {
    return STN_ARENA_ZEROED(arena, (size_t)layout->size + 4, double); // whole vectors are read at its end
}

/// Chunks of a nodal tree by blocks; of any other one. Counts without `out`.
static int32_t cut(const cond_tree *tree, int32_t index, cond_chunk *out) {
    const stn_matrix *A = tree->A;
    int32_t count = 0, first = 0;
    for (int32_t i = 0; i < tree->nodes; i++) {
        const bool full = A->form == STN_MATRIX_NODAL && A->row_start[i + 1] - A->row_start[first] >= CHUNK_BLOCKS;
        if (!full && i + 1 < tree->nodes) {
            continue;
        }
        if (out != NULL) {
            out[count] =
                (cond_chunk){index, first, i + 1, tree->place + first * tree->stride, (i + 1 - first) * tree->stride};
        }
        count++;
        first = i + 1;
    }
    return count;
}

static stn_status invert(const stn_problem *problem, int32_t t, stn_arena *arena, cond_tree *tree, stn_error *err) {
    const int32_t n = tree->size;
    double *L = STN_ARENA(arena, (size_t)n * (size_t)n, double),
           *inverse = STN_ARENA(arena, (size_t)n * (size_t)n, double);
    if (L == NULL || inverse == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "inverse of a tree of %d dofs: out of memory", n);
    }
    memcpy(L, tree->A->values, (size_t)n * (size_t)n * sizeof *L);
    const int32_t pivot = stn_cholesky(n, L, n);
    if (pivot >= 0) {
        return stn_fail(err, STN_ERR_NUMERIC, "A of tree %d (source %d) is not positive definite at dof %d", t,
                        problem->trees[t].source, pivot);
    }
    memset(inverse, 0, (size_t)n * (size_t)n * sizeof *inverse);
    for (size_t i = 0; i < (size_t)n; i++) {
        inverse[i * (size_t)(n + 1)] = 1.0;
    }
    stn_cholesky_forward(n, L, n, n, inverse, n); // A is symmetric: column c of the inverse is row c
    stn_cholesky_backward(n, L, n, n, inverse, n);
    tree->inverse = inverse;
    return STN_OK;
}

stn_status cond_layout_build(const stn_problem *problem, stn_arena *arena, cond_layout *out, stn_error *err) {
    *out = (cond_layout){.problem = problem};
    out->trees = STN_ARENA_ZEROED(arena, problem->tree_count, cond_tree);
    if (out->trees == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d trees: out of memory", problem->tree_count);
    }
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_matrix *A = &problem->trees[t].A;
        const bool nodal = A->form == STN_MATRIX_NODAL;
        cond_tree *tree = &out->trees[t];
        tree->A = A;
        tree->size = nodal ? A->node_size : A->n;
        tree->nodes = nodal ? A->node_count : 1;
        tree->stride = (tree->size + 3) / 4 * 4;
        tree->place = out->size;
        if ((int64_t)out->size + (int64_t)tree->stride * tree->nodes > INT32_MAX / 2) {
            return stn_fail(err, STN_ERR_MEMORY, "%d dofs are more than fit", problem->nv);
        }
        out->size += tree->stride * tree->nodes;
        if (A->form == STN_MATRIX_DENSE) {
            stn_status status = invert(problem, t, arena, tree, err);
            if (status != STN_OK) {
                return status;
            }
        }
        out->chunk_count += cut(tree, t, NULL);
    }
    out->chunks = STN_ARENA(arena, out->chunk_count, cond_chunk);
    if (out->chunks == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs: out of memory", problem->nv);
    }
    for (int32_t t = 0, at = 0; t < problem->tree_count; t++) {
        at += cut(&out->trees[t], t, out->chunks + at);
    }
    return STN_OK;
}

void cond_pack(const cond_layout *layout, const double *v, double *x) {
    for (int32_t t = 0; t < layout->problem->tree_count; t++) {
        const cond_tree *tree = &layout->trees[t];
        const double *from = v + layout->problem->trees[t].dof_start;
        for (int32_t i = 0; i < tree->nodes; i++) {
            memcpy(x + tree->place + (size_t)i * (size_t)tree->stride, from + (size_t)i * (size_t)tree->size,
                   (size_t)tree->size * sizeof *x);
        }
    }
}

void cond_unpack(const cond_layout *layout, const double *x, double *v) {
    for (int32_t t = 0; t < layout->problem->tree_count; t++) {
        const cond_tree *tree = &layout->trees[t];
        double *to = v + layout->problem->trees[t].dof_start;
        for (int32_t i = 0; i < tree->nodes; i++) {
            memcpy(to + (size_t)i * (size_t)tree->size, x + tree->place + (size_t)i * (size_t)tree->stride,
                   (size_t)tree->size * sizeof *x);
        }
    }
}

// ----------------------------------------------------------------------------------------------------------- products

/// Sums of the lanes of a, b and c in the first three of four lanes, lane 3 is 0.
STN_KERNEL_INLINE cond_v4 lane_sums(cond_v4 a, cond_v4 b, cond_v4 c) {
    typedef int64_t v4i __attribute__((vector_size(32)));
    const cond_v4 zero = {0.0};
    cond_v4 ab = __builtin_shuffle(a, b, (v4i){0, 4, 2, 6}) + __builtin_shuffle(a, b, (v4i){1, 5, 3, 7});
    cond_v4 c0 = __builtin_shuffle(c, zero, (v4i){0, 4, 2, 6}) + __builtin_shuffle(c, zero, (v4i){1, 5, 3, 7});
    return __builtin_shuffle(ab, c0, (v4i){0, 1, 4, 5}) + __builtin_shuffle(ab, c0, (v4i){2, 3, 6, 7});
}

/// Nodes of 3: a row of a block is read as a whole vector, whose last lane meets the zero behind the node of x.
STN_KERNEL static void product_3(const stn_matrix *A, int32_t first, int32_t end, const double *x, double *y) {
    const int32_t last = A->row_start[A->node_count] - 1; // behind its last row there is nothing to read
    for (int32_t i = first; i < end; i++, y += 4) {
        cond_v4 a = {0.0}, b = {0.0}, c = {0.0};
        for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
            const double *block = A->values + 9 * (size_t)e;
            const cond_v4 u = *(const cond_v4 *)(x + 4 * (size_t)A->column[e]);
            a += *(const cond_v4 *)block * u;
            b += *(const cond_v4 *)(block + 3) * u;
            c += e < last ? *(const cond_v4 *)(block + 6) * u : (cond_v4){block[6], block[7], block[8], 0.0} * u;
        }
        *(cond_v4 *)y = lane_sums(a, b, c);
    }
}

/// Nodes of any size.
STN_KERNEL static void product_nodes(const stn_matrix *A, int32_t stride, int32_t first, int32_t end, const double *x,
                                     double *y) {
    const size_t m = (size_t)A->node_size;
    for (int32_t i = first; i < end; i++, y += stride) {
        for (size_t r = 0; r < m; r++) {
            y[r] = 0.0;
        }
        for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
            const double *block = A->values + m * m * (size_t)e, *u = x + (size_t)stride * (size_t)A->column[e];
            for (size_t r = 0; r < m; r++) {
                double sum = 0.0;
                for (size_t c = 0; c < m; c++) {
                    sum += block[m * r + c] * u[c];
                }
                y[r] += sum;
            }
        }
    }
}

STN_KERNEL static void product_dense(int32_t n, const double *A, const double *x, double *y) {
    for (int32_t r = 0; r < n; r++) {
        double sum[4] = {0.0};
        int32_t c = 0;
        for (; c + 4 <= n; c += 4) {
            for (int32_t k = 0; k < 4; k++) {
                sum[k] += A[(size_t)r * (size_t)n + (size_t)(c + k)] * x[c + k];
            }
        }
        for (; c < n; c++) {
            sum[0] += A[(size_t)r * (size_t)n + (size_t)c] * x[c];
        }
        y[r] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

void cond_product(const cond_layout *layout, const cond_chunk *chunk, const double *x, double *y) {
    const cond_tree *tree = &layout->trees[chunk->tree];
    const double *from = x + tree->place;
    double *to = y + chunk->place;
    switch (tree->A->form) {
    case STN_MATRIX_ZERO:
        memset(to, 0, (size_t)tree->size * sizeof *to);
        break;
    case STN_MATRIX_DIAGONAL:
        for (int32_t d = 0; d < tree->size; d++) {
            to[d] = tree->A->values[d] * from[d];
        }
        break;
    case STN_MATRIX_DENSE:
        product_dense(tree->size, tree->A->values, from, to);
        break;
    case STN_MATRIX_NODAL:
        if (tree->size == 3) {
            product_3(tree->A, chunk->first, chunk->end, from, to);
        } else {
            product_nodes(tree->A, tree->stride, chunk->first, chunk->end, from, to);
        }
        break;
    }
}

STN_KERNEL static void multiply(int32_t width, const double *restrict w, const double *restrict x, double *restrict y) {
    for (int32_t k = 0; k < width; k++) {
        y[k] = w[k] * x[k];
    }
}

void cond_weigh(const cond_tree *tree, int32_t place, int32_t width, const double *w, const double *x, double *y) {
    if (tree->inverse != NULL) {
        product_dense(tree->size, tree->inverse, x + place, y + place);
        return;
    }
    multiply(width, w + place, x + place, y + place);
}
