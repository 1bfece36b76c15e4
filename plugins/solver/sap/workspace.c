// SPDX-License-Identifier: Apache-2.0
// Packing, once per solve: the problem's trees become blocks, its vectors padded ones. Constraints: clusters.c.
#include <math.h>
#include <string.h>

#include "system.h"

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

bool sap_allocate_all(sap_system *s, int32_t count, const sap_array *arrays) {
    int64_t total = 0;
    for (int32_t i = 0; i < count; i++) {
        total += (arrays[i].n + 15) / 8 * 8; // every one begins at a whole vector
    }
    double *memory = STN_ARENA(s->control->arena, total, double);
    for (int32_t i = 0; i < count && memory != NULL; i++) {
        int64_t n = arrays[i].n, tail = n < 8 ? n : 8;
        *arrays[i].out = memory;
        for (int64_t k = n - tail; k < n + 8; k++) {
            memory[k] = 0.0;
        }
        memory += (n + 15) / 8 * 8;
    }
    return memory != NULL;
}

bool sap_allocate(sap_system *s, int64_t n, double **out) {
    return sap_allocate_all(s, 1, &(sap_array){out, n});
}

bool sap_allocate_zeroed(sap_system *s, int64_t n, double **out) {
    *out = STN_ARENA_ZEROED(s->control->arena, n + 8, double);
    return *out != NULL;
}

stn_status sap_name_fault(const sap_system *s, const double *v, stn_error *err) {
    const stn_problem *problem = s->problem;
    for (int32_t i = 0; i < problem->nv; i++) {
        if (!isfinite(v[i])) {
            return stn_fail(err, STN_ERR_NUMERIC, "warm start: v[%d] = %g must be finite", i, v[i]);
        }
    }
    stn_status status = stn_problem_check(s->control->context, problem, err);
    return status != STN_OK
               ? status
               : stn_fail(err, STN_ERR_NUMERIC, "numbers of the problem are too large: A v_star overflows");
}

static void add_block(sap_system *s, int32_t tree, int32_t dof, int32_t n, int64_t *A_size) {
    sap_block *block = &s->blocks[s->block_count++];
    *block = (sap_block){n, (n + 3) / 4 * 4, tree, dof, s->nx, s->nv, *A_size};
    s->nx += block->ld;
    s->nv += n;
    *A_size += (int64_t)n * block->ld;
}

static stn_status pack_blocks(sap_system *s, int64_t *A_size, stn_error *err) {
    const stn_problem *problem = s->problem;
    int64_t count = 0;
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_matrix *A = &problem->trees[t].A;
        count += A->form == STN_MATRIX_NODAL ? A->node_count : 1;
    }
    s->blocks = STN_ARENA(s->control->arena, count + 1, sap_block);
    s->tree_block = STN_ARENA(s->control->arena, problem->tree_count + 1, int32_t);
    if (s->blocks == NULL || s->tree_block == NULL) {
        return out_of_memory(err);
    }
    *A_size = 0;
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_problem_tree *tree = &problem->trees[t];
        s->tree_block[t] = s->block_count;
        if (tree->A.form == STN_MATRIX_NODAL) {
            for (int32_t i = 0; i < tree->A.node_count; i++) {
                add_block(s, t, tree->dof_start + 3 * i, 3, A_size);
            }
        } else if (tree->A.n > 0) {
            add_block(s, t, tree->dof_start, tree->A.n, A_size);
        }
    }
    s->nx = (s->nx + 7) / 8 * 8;
    return STN_OK;
}

/// Diagonal block of A with padded rows.
static void pack_block_mass(const stn_matrix *A, const sap_block *block, int32_t node, double *out) {
    const int64_t n = block->n, ld = block->ld;
    if (A->form == STN_MATRIX_DENSE && n == 6) {
        sap_copy_padded_6(6, A->values, out);
    } else if (A->form == STN_MATRIX_DENSE) {
        sap_copy_padded(n, n, ld, A->values, out);
    } else if (A->form == STN_MATRIX_NODAL) {
        int32_t e = A->row_start[node];
        while (A->column[e] != node) {
            e++;
        }
        sap_copy_padded(3, 3, 4, A->values + 9 * (int64_t)e, out);
    } else {
        memset(out, 0, (size_t)(n * ld) * sizeof *out);
        for (int64_t i = 0; i < n && A->form == STN_MATRIX_DIAGONAL; i++) {
            out[i * ld + i] = A->values[i];
        }
    }
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

/// Where a dof has no inertia of its own the largest of its tree stands in, or 1.
static void fill_scale(sap_system *s) {
    for (int32_t b = 0; b < s->block_count;) {
        int32_t first = b, tree = s->blocks[b].tree;
        double least = INFINITY; // of D: the largest inertia
        for (; b < s->block_count && s->blocks[b].tree == tree; b++) {
            for (int32_t i = 0; i < s->blocks[b].n; i++) {
                double d = s->D[s->blocks[b].start + i];
                least = d > 0.0 && d < least ? d : least;
            }
        }
        for (int32_t k = first; k < b; k++) {
            for (int32_t i = 0; i < s->blocks[k].n; i++) {
                double *d = &s->D[s->blocks[k].start + i];
                *d = *d > 0.0 ? *d : (isfinite(least) ? least : 1.0);
            }
        }
    }
}

/// D = diag(A)^-1/2; 1/sqrt(inf) keeps the padding 0.
static void scale_blocks(sap_system *s) {
    for (int32_t i = s->nx - 8; i < s->nx; i++) {
        s->D[i] = INFINITY;
    }
    for (int32_t b = 0; b < s->block_count; b++) {
        const sap_block *block = &s->blocks[b];
        for (int32_t i = 0; i < block->ld; i++) {
            s->D[block->start + i] = i < block->n ? s->A[block->A + (int64_t)i * (block->ld + 1)] : (double)INFINITY;
        }
    }
    if (invert_roots(s->nx, s->D)) {
        fill_scale(s);
    }
}

static void pack_vector(const sap_system *s, const double *x, double *padded) {
    for (int32_t b = 0; b < s->block_count; b++) {
        const sap_block *block = &s->blocks[b];
        if (block->n == 6) {
            sap_copy_padded_6(1, x + block->dof, padded + block->start);
        } else {
            sap_copy_padded(1, block->n, block->ld, x + block->dof, padded + block->start);
        }
    }
}

static stn_status pack_velocities(sap_system *s, const double *v, int64_t A_size, stn_error *err) {
    const stn_problem *problem = s->problem;
    const int64_t nx = s->nx;
    const sap_array arrays[] = {{&s->v, nx},        {&s->v_star, nx},  {&s->D, nx},    {&s->p, nx},
                                {&s->A_v_star, nx}, {&s->Av, nx},      {&s->j, nx},    {&s->gradient, nx},
                                {&s->dp, nx},       {&s->compact, nx}, {&s->A, A_size}};
    if (!sap_allocate_zeroed(s, nx, &s->force) || !sap_allocate_zeroed(s, nx, &s->dv) ||
        !sap_allocate_all(s, STN_COUNT(arrays), arrays)) {
        return out_of_memory(err);
    }
    for (int32_t b = 0; b < s->block_count; b++) {
        const sap_block *block = &s->blocks[b];
        pack_block_mass(&problem->trees[block->tree].A, block, b - s->tree_block[block->tree], s->A + block->A);
    }
    if (s->nx > 0) {
        scale_blocks(s);
    }
    pack_vector(s, v, s->v);
    pack_vector(s, problem->v_star, s->v_star);
    if (problem->free_impulse != NULL) {
        pack_vector(s, problem->free_impulse, s->force);
    }
    sap_mass_times(s, s->v_star, s->A_v_star);
    return STN_OK;
}

stn_status sap_pack(sap_system *s, const double *v, stn_error *err) {
    int64_t A_size = 0;
    stn_status status = pack_blocks(s, &A_size, err);
    if (status == STN_OK) {
        status = pack_velocities(s, v, A_size, err);
    }
    if (status == STN_OK && !(sap_finite(s->nx, s->v) && sap_finite(s->nx, s->v_star) && sap_finite(s->nx, s->force) &&
                              sap_finite(A_size, s->A) && sap_finite(s->nx, s->A_v_star))) {
        status = sap_name_fault(s, v, err);
    }
    if (status == STN_OK) {
        status = sap_pack_constraints(s, v, err);
    }
    return status;
}

void sap_unpack(const sap_system *s, stn_solution *solution) {
    for (int32_t b = 0; b < s->block_count; b++) {
        const sap_block *block = &s->blocks[b];
        memcpy(solution->v + block->dof, s->v + block->start, (size_t)block->n * sizeof *solution->v);
    }
    const size_t stride = (size_t)s->batch.stride;
    for (int32_t i = 0; i < s->batch.count; i++) {
        double *gamma = solution->gamma + s->problem->constraints[s->batch.constraint[i]].row;
        for (size_t a = 0; a < 3; a++) {
            gamma[a] = s->now.gamma[a * stride + (size_t)i];
        }
    }
    for (int32_t i = 0; i < s->line_count; i++) {
        solution->gamma[s->line_row[i]] = s->now.line_gamma[i];
    }
}
