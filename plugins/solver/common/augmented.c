// SPDX-License-Identifier: Apache-2.0
// See augmented.h.
#include "common/augmented.h"

#include <string.h>

enum { DENSE_LIMIT = 40 };

typedef augmented_part part;

/// How many parts a constraint has, for which there must be room.
static int32_t count_parts(const stn_problem *p, const stn_constraint *c) {
    int32_t count = 0;
    for (int32_t side = 0; side < 2; side++) {
        const stn_jacobian *J = &c->J[side];
        if (J->tree >= 0) {
            const stn_matrix *A = &p->trees[J->tree].A;
            count += J->node_count > 0 ? J->node_count : (A->form == STN_MATRIX_NODAL ? A->node_count : 1);
        }
    }
    return count;
}

static int32_t list_parts(const augmented *h, const stn_constraint *c, part *parts) {
    int32_t count = 0;
    for (int32_t side = 0; side < 2; side++) {
        const stn_jacobian *J = &c->J[side];
        if (J->tree < 0) {
            continue;
        }
        const stn_matrix *A = &h->problem->trees[J->tree].A;
        int32_t first = h->block[J->tree];
        for (int32_t b = 0; b < J->node_count; b++) {
            parts[count++] = (part){first + J->node[b], 3, 3, J->values + 3 * (size_t)c->rows * (size_t)b};
        }
        int32_t pieces = J->node_count > 0 || A->n == 0 ? 0 : (A->form == STN_MATRIX_NODAL ? A->node_count : 1);
        for (int32_t b = 0; b < pieces; b++) {
            parts[count++] = (part){first + b, A->n / pieces, A->n, J->values + (size_t)(A->n / pieces) * (size_t)b};
        }
    }
    return count;
}

// ---------------------------------------------------------------------------------------------------------- pattern

typedef struct builder {
    stn_arena *arena;
    augmented *h;
    part *parts; // of one constraint
    int32_t *start, *row, *size, *place, *block;
    int32_t blocks;
    int64_t pairs; // of parts, at most
    int32_t most_parts, widest;
} builder;

static bool list_blocks(builder *b) {
    const stn_problem *p = b->h->problem;
    int32_t count = 0;
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_matrix *A = &p->trees[t].A;
        count += A->form == STN_MATRIX_NODAL ? A->node_count : (A->n > 0 ? 1 : 0);
    }
    b->size = STN_ARENA(b->arena, count + 1, int32_t);
    b->place = STN_ARENA(b->arena, count + 1, int32_t);
    b->block = STN_ARENA(b->arena, p->tree_count + 1, int32_t);
    b->start = STN_ARENA_ZEROED(b->arena, count + 2, int32_t);
    if (b->size == NULL || b->place == NULL || b->block == NULL || b->start == NULL) {
        return false;
    }
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_matrix *A = &p->trees[t].A;
        int32_t pieces = A->form == STN_MATRIX_NODAL ? A->node_count : (A->n > 0 ? 1 : 0);
        b->block[t] = b->blocks;
        for (int32_t k = 0; k < pieces; k++) {
            b->size[b->blocks] = A->n / pieces;
            b->place[b->blocks++] = p->trees[t].dof_start + k * (A->n / pieces);
        }
        b->widest = A->n > b->widest ? A->n : b->widest;
    }
    b->place[b->blocks] = p->nv;
    b->h->block = b->block;
    b->h->place = b->place;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        int32_t parts = count_parts(p, &p->constraints[i]);
        b->most_parts = parts > b->most_parts ? parts : b->most_parts;
        b->pairs += (int64_t)parts * parts;
    }
    b->parts = STN_ARENA(b->arena, b->most_parts + 1, part);
    return b->parts != NULL;
}

/// Calls for every entry that is not on the diagonal, perhaps several times: counts in `position`, or fills `row`.
static void visit_entries(const builder *b, int32_t *position, int32_t *row) {
    const stn_problem *p = b->h->problem;
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_matrix *A = &p->trees[t].A;
        for (int32_t i = 0; A->form == STN_MATRIX_NODAL && i < A->node_count; i++) {
            for (int32_t e = A->row_start[i]; e < A->row_start[i + 1] && A->column[e] < i; e++) {
                int32_t at = position[b->block[t] + A->column[e]]++;
                if (row != NULL) {
                    row[at] = b->block[t] + i;
                }
            }
        }
    }
    for (int32_t c = 0; c < p->constraint_count; c++) {
        int32_t count = list_parts(b->h, &p->constraints[c], b->parts);
        for (int32_t k = 0; k < count * count; k++) {
            int32_t low = b->parts[k / count].block, high = b->parts[k % count].block;
            if (low < high) {
                int32_t at = position[low]++;
                if (row != NULL) {
                    row[at] = high;
                }
            }
        }
    }
}

/// Insertion: columns are short, or nearly in order.
static void sort(int32_t *x, int32_t count) {
    for (int32_t i = 1; i < count; i++) {
        int32_t value = x[i], at = i;
        for (; at > 0 && x[at - 1] > value; at--) {
            x[at] = x[at - 1];
        }
        x[at] = value;
    }
}

/// Column by column: the diagonal, then each row once. Returns how many entries there are.
static int32_t merge_entries(const builder *b, const int32_t *begin, int32_t *listed, int32_t *column_start,
                             int32_t *row) {
    int32_t count = 0;
    for (int32_t j = 0; j < b->blocks; j++) {
        int32_t *first = listed + begin[j], total = begin[j + 1] - begin[j];
        sort(first, total);
        column_start[j] = count;
        row[count++] = j;
        for (int32_t k = 0; k < total; k++) {
            if (first[k] != row[count - 1]) {
                row[count++] = first[k];
            }
        }
    }
    column_start[b->blocks] = count;
    return count;
}

static bool make_pattern(builder *b) {
    int32_t *position = STN_ARENA_ZEROED(b->arena, b->blocks + 2, int32_t);
    int32_t *column_start = STN_ARENA(b->arena, b->blocks + 1, int32_t);
    if (position == NULL || column_start == NULL) {
        return false;
    }
    visit_entries(b, position, NULL);
    for (int32_t j = 0; j < b->blocks; j++) {
        b->start[j + 1] = b->start[j] + position[j];
        position[j] = b->start[j];
    }
    int32_t total = b->start[b->blocks];
    int32_t *listed = STN_ARENA(b->arena, total + 1, int32_t);
    b->row = STN_ARENA(b->arena, total + b->blocks + 1, int32_t);
    if (listed == NULL || b->row == NULL) {
        return false;
    }
    visit_entries(b, position, listed);
    int32_t count = merge_entries(b, b->start, listed, column_start, b->row);
    int64_t *offset = STN_ARENA(b->arena, count + 1, int64_t);
    if (offset == NULL) {
        return false;
    }
    offset[0] = 0;
    for (int32_t j = 0; j < b->blocks; j++) {
        for (int32_t e = column_start[j]; e < column_start[j + 1]; e++) {
            offset[e + 1] = offset[e] + (int64_t)b->size[b->row[e]] * b->size[j];
        }
    }
    double *values = STN_ARENA(b->arena, offset[count] + 1, double);
    b->h->matrix = (stn_block_matrix){{b->blocks, b->size, column_start, b->row}, offset, values};
    return values != NULL;
}

/// Where the entry (row, column) is; it is there.
static int32_t find_entry(const stn_block_pattern *pattern, int32_t row, int32_t column) {
    int32_t low = pattern->column_start[column], high = pattern->column_start[column + 1];
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (pattern->row[middle] <= row) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool list_targets(builder *b) {
    const stn_problem *p = b->h->problem;
    int32_t *entry = STN_ARENA(b->arena, b->pairs + 1, int32_t), at = 0;
    b->h->scratch = STN_ARENA(b->arena, STN_MAX_ROWS * (size_t)(b->widest + 1), double);
    if (entry == NULL || b->h->scratch == NULL) {
        return false;
    }
    for (int32_t c = 0; c < p->constraint_count; c++) {
        int32_t count = list_parts(b->h, &p->constraints[c], b->parts);
        for (int32_t k = 0; k < count * count; k++) {
            int32_t column = b->parts[k / count].block, row = b->parts[k % count].block;
            if (row >= column) {
                entry[at++] = find_entry(&b->h->matrix.pattern, row, column);
            }
        }
    }
    b->h->entry = entry;
    b->h->parts = b->parts;
    return true;
}

stn_status augmented_build(const stn_problem *problem, const stn_solve_control *control, augmented *out,
                           stn_error *err) {
    *out = (augmented){.problem = problem};
    builder b = {.arena = control->arena, .h = out};
    if (control->workspace == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "no workspace was given");
    }
    if (!list_blocks(&b) || !make_pattern(&b) || !list_targets(&b)) {
        return stn_fail(err, STN_ERR_MEMORY, "A + J^T G J of %d dofs: out of memory", problem->nv);
    }
    bool dense = problem->nv <= DENSE_LIMIT || b.blocks == 1;
    out->ops = control->factor != NULL ? control->factor : (dense ? stn_factor_dense() : stn_factor_block());
    return symbolic_cache_find(control->workspace, out->ops, control->factor != NULL ? control->factor_self : NULL,
                               &out->matrix.pattern, &out->factor, err);
}

// --------------------------------------------------------------------------------------------------------------- sum

static void add_masses(augmented *h) {
    const stn_problem *p = h->problem;
    const stn_block_pattern *pattern = &h->matrix.pattern;
    memset(h->matrix.values, 0, (size_t)h->matrix.offset[pattern->column_start[pattern->block_count]] * sizeof(double));
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_matrix *A = &p->trees[t].A;
        if (A->n == 0) {
            continue;
        }
        int32_t first = h->block[t];
        double *values = h->matrix.values + h->matrix.offset[pattern->column_start[first]];
        if (A->form == STN_MATRIX_DENSE) {
            memcpy(values, A->values, (size_t)A->n * (size_t)A->n * sizeof *values);
        }
        for (int32_t i = 0; i < A->n && A->form == STN_MATRIX_DIAGONAL; i++) {
            values[(size_t)i * (size_t)(A->n + 1)] = A->values[i];
        }
        for (int32_t i = 0; A->form == STN_MATRIX_NODAL && i < A->node_count; i++) {
            for (int32_t e = A->row_start[i]; e < A->row_start[i + 1] && A->column[e] <= i; e++) {
                int32_t at = find_entry(pattern, first + i, first + A->column[e]);
                memcpy(h->matrix.values + h->matrix.offset[at], A->values + 9 * (size_t)e, 9 * sizeof *values);
            }
        }
    }
}

/// out (rows x n) = G J.
static void multiply_panel(const double *G, int32_t rows, const part *J, double *restrict out) {
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t k = 0; k < J->n; k++) {
            out[r * J->n + k] = G[r * rows] * J->values[k];
        }
        for (int32_t m = 1; m < rows; m++) {
            const double *from = J->values + (size_t)m * (size_t)J->stride;
            double g = G[r * rows + m];
            for (int32_t k = 0; k < J->n; k++) {
                out[r * J->n + k] += g * from[k];
            }
        }
    }
}

/// H (n x columns) += J^T (rows x n) GJ (rows x columns).
static void add_product(int32_t rows, const part *J, const double *restrict GJ, int32_t columns, double *restrict H) {
    for (int32_t r = 0; r < rows; r++) {
        const double *from = J->values + (size_t)r * (size_t)J->stride;
        for (int32_t i = 0; i < J->n; i++) {
            for (int32_t k = 0; k < columns; k++) {
                H[i * columns + k] += from[i] * GJ[r * columns + k];
            }
        }
    }
}

stn_status augmented_factor(augmented *h, const double *G, stn_error *err) {
    const stn_problem *p = h->problem;
    const int32_t *entry = h->entry;
    add_masses(h);
    for (int32_t c = 0; c < p->constraint_count; c++) {
        const stn_constraint *constraint = &p->constraints[c];
        const double *own = G + (size_t)c * STN_MAX_ROWS * STN_MAX_ROWS;
        int32_t count = list_parts(h, constraint, h->parts);
        for (int32_t k = 0; k < count; k++) {
            const part *column = &h->parts[k];
            multiply_panel(own, constraint->rows, column, h->scratch);
            for (int32_t m = 0; m < count; m++) {
                const part *row = &h->parts[m];
                if (row->block >= column->block) {
                    double *values = h->matrix.values + h->matrix.offset[*entry++];
                    add_product(constraint->rows, row, h->scratch, column->n, values);
                }
            }
        }
    }
    return h->ops->numeric(h->factor, &h->matrix, err);
}

void augmented_solve(const augmented *h, double *x) {
    h->ops->solve(h->factor, 1, x);
}
