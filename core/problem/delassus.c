// SPDX-License-Identifier: Apache-2.0
// Delassus operator W = J A^-1 J^T, block-sparse over constraints. Two constraints meet where a tree joins them:
//     W_ij = sum over common trees of X_i X_j^T,   X_i = (L^-1 J_i^T)^T,  A = L L^T   (dense, diagonal trees)
//            or J_i A^-1 J_j^T                                                          (nodal trees)
// Only the upper triangle is computed; the lower is its mirror, so W is symmetric to the last bit.
#include <stiction/delassus.h>
#include <string.h>

#include "problem/inverse.h"
#include "problem/jacobian.h"
#include "problem/local_form.h"
#include "problem/natural_map.h"

// Constraints of every tree, ascending; `side` tells which of their blocks it is.
typedef struct touch {
    int32_t constraint, side;
} touch;

typedef struct builder {
    const stn_inverse *inverse;
    const stn_problem *problem;
    stn_arena *arena;
    int32_t *start; // (tree_count + 1)
    touch *list;
    int32_t *row_start, *column;
    int64_t *offset;
    double *values;
    const double *free_velocity; // (rows)
} builder;

static stn_status out_of_memory(const stn_problem *problem, stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "Delassus operator of %d constraints: out of memory",
                    problem->constraint_count);
}

// Union of the lists of a constraint's trees, as `neighbours` has it, of more than two: each next one is the smallest
// that lies beyond the last.
static int32_t neighbours_of_many(const builder *b, const stn_constraint *c, int32_t *out) {
    int32_t count = 0;
    for (int32_t last = -1;; count++) {
        int32_t next = INT32_MAX;
        for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
            int32_t t = stn_constraint_block(c, k)->tree, low = b->start[t], high = b->start[t + 1];
            while (low < high) { // the first one > last
                int32_t middle = low + (high - low) / 2;
                if (b->list[middle].constraint <= last) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if (low < b->start[t + 1] && b->list[low].constraint < next) {
                next = b->list[low].constraint;
            }
        }
        if (next == INT32_MAX) {
            return count;
        }
        if (out != NULL) {
            out[count] = next;
        }
        last = next;
    }
}

// Constraints that meet constraint c: the union of its trees' lists, ascending. Only counts when `out` is NULL.
static int32_t neighbours(const builder *b, int32_t c, int32_t *out) {
    if (b->problem->constraints[c].more_count > 0) {
        return neighbours_of_many(b, &b->problem->constraints[c], out);
    }
    const touch *at[2] = {b->list, b->list}, *end[2] = {b->list, b->list}; // a side without a tree: an empty list
    for (int32_t side = 0; side < 2; side++) {
        int32_t t = b->problem->constraints[c].J[side].tree;
        if (t >= 0) {
            at[side] = b->list + b->start[t];
            end[side] = b->list + b->start[t + 1];
        }
    }
    int32_t count = 0;
    while (at[0] < end[0] || at[1] < end[1]) {
        int32_t first = at[0] < end[0] ? at[0]->constraint : INT32_MAX;
        int32_t second = at[1] < end[1] ? at[1]->constraint : INT32_MAX;
        int32_t next = first < second ? first : second;
        at[0] += first == next;
        at[1] += second == next;
        if (out != NULL) {
            out[count] = next;
        }
        count++;
    }
    return count;
}

// The constraints of every tree, then where the blocks of W lie; false: out of memory.
static bool make_pattern(builder *b) {
    const stn_problem *p = b->problem;
    stn_arena *arena = b->arena;
    int32_t n = p->constraint_count;
    b->start = STN_ARENA_ZEROED(arena, (size_t)p->tree_count + 2, int32_t);
    size_t blocks = 0;
    for (int32_t c = 0; c < n; c++) {
        blocks += (size_t)stn_constraint_block_count(&p->constraints[c]);
    }
    b->list = STN_ARENA(arena, blocks, touch);
    b->row_start = STN_ARENA(arena, (size_t)n + 1, int32_t);
    if (b->start == NULL || b->list == NULL || b->row_start == NULL) {
        return false;
    }
    for (int32_t c = 0; c < n; c++) {
        for (int32_t side = 0; side < stn_constraint_block_count(&p->constraints[c]); side++) {
            b->start[stn_constraint_block(&p->constraints[c], side)->tree + 2]++;
        }
    }
    for (int32_t t = 0; t < p->tree_count; t++) {
        b->start[t + 2] += b->start[t + 1];
    }
    for (int32_t c = 0; c < n; c++) {
        for (int32_t side = 0; side < stn_constraint_block_count(&p->constraints[c]); side++) {
            int32_t t = stn_constraint_block(&p->constraints[c], side)->tree;
            b->list[b->start[t + 1]++] = (touch){c, side};
        }
    }
    b->row_start[0] = 0;
    for (int32_t c = 0; c < n; c++) {
        b->row_start[c + 1] = b->row_start[c] + neighbours(b, c, NULL);
    }
    size_t entries = (size_t)b->row_start[n];
    b->column = STN_ARENA(arena, entries, int32_t);
    b->offset = STN_ARENA(arena, entries + 1, int64_t);
    if (b->column == NULL || b->offset == NULL) {
        return false;
    }
    int64_t place = 0;
    for (int32_t c = 0; c < n; c++) {
        neighbours(b, c, b->column + b->row_start[c]);
        for (int32_t e = b->row_start[c]; e < b->row_start[c + 1]; e++) {
            b->offset[e] = place;
            place += p->constraints[c].rows * p->constraints[b->column[e]].rows;
        }
    }
    b->offset[entries] = place;
    b->values = STN_ARENA_ZEROED(arena, place, double);
    return b->values != NULL;
}

static void add_pair(int32_t n, int32_t rows, const double *restrict X, int32_t columns, const double *restrict Y,
                     double *restrict W) {
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < columns; j++) {
            double sum = 0.0;
            for (int32_t k = 0; k < n; k++) {
                sum += X[i * n + k] * Y[j * n + k];
            }
            W[i * columns + j] += sum;
        }
    }
}

// Steps through row i of the pattern to column j; both ascend together with the tree's list.
static double *block_at(const builder *b, int32_t *e, int32_t j) {
    while (b->column[*e] != j) {
        (*e)++;
    }
    return b->values + b->offset[*e];
}

// X holds all blocks of the tree one after the other, at place[k].
static void add_half_tree(const builder *b, int32_t tree, double *X) {
    const stn_problem *p = b->problem;
    int32_t n = p->trees[tree].A.n;
    const touch *first = b->list + b->start[tree], *end = b->list + b->start[tree + 1];
    double *x = X;
    for (const touch *i = first; i < end; i++) {
        const stn_constraint *c = &p->constraints[i->constraint];
        inverse_half(b->inverse, tree, stn_constraint_block(c, i->side), c->rows, x);
        x += (size_t)c->rows * (size_t)n;
    }
    for (const touch *i = first; i < end; i++) {
        int32_t rows = p->constraints[i->constraint].rows, e = b->row_start[i->constraint];
        const double *y = X;
        for (const touch *j = i; j < end; j++) {
            int32_t columns = p->constraints[j->constraint].rows;
            add_pair(n, rows, X, columns, y, block_at(b, &e, j->constraint));
            y += (size_t)columns * (size_t)n;
        }
        X += (size_t)rows * (size_t)n;
    }
}

static bool only_contacts(const builder *b, int32_t tree) {
    for (int32_t k = b->start[tree]; k < b->start[tree + 1]; k++) {
        const stn_constraint *c = &b->problem->constraints[b->list[k].constraint];
        if (!inverse_fits_lanes(c, stn_constraint_block(c, b->list[k].side))) {
            return false;
        }
    }
    return true;
}

// A free body that only contacts touch; false when it is something else.
static bool add_body(const builder *b, int32_t tree, double *X) {
    const touch *first = b->list + b->start[tree], *end = b->list + b->start[tree + 1];
    const double *factor;
    const body_kernels *body = inverse_body(b->inverse, tree, &factor);
    if (body == NULL || !only_contacts(b, tree)) {
        return false;
    }
    for (const touch *i = first; i < end; i++) {
        const stn_constraint *c = &b->problem->constraints[i->constraint];
        body->half(factor, stn_constraint_block(c, i->side)->values, X + BODY_HALF * (i - first));
    }
    for (const touch *i = first; i < end; i++) {
        int32_t e = b->row_start[i->constraint];
        for (const touch *j = i; j < end; j++) {
            body->pair_add(X + BODY_HALF * (i - first), X + BODY_HALF * (j - first), block_at(b, &e, j->constraint));
        }
    }
    return true;
}

// A tree with branches that only contacts touch: a pair costs the dofs that move its first contact. `half` receives
// where that of every contact is.
static bool add_branched(const builder *b, int32_t tree, const double **half, double *X) {
    const touch *first = b->list + b->start[tree], *end = b->list + b->start[tree + 1];
    if (!inverse_branched(b->inverse, tree) || !only_contacts(b, tree)) {
        return false;
    }
    const ltl_kernels *kernels = ltl_kernels_choose();
    const int32_t n = b->problem->trees[tree].A.n, count = (int32_t)(end - first);
    for (int32_t i = 0; i < count; i++, X += BRANCHED_HALF(n)) {
        const stn_jacobian *J = stn_constraint_block(&b->problem->constraints[first[i].constraint], first[i].side);
        half[i] = inverse_kept_half(b->inverse, first[i].constraint, first[i].side, J); // that the masses left
        if (half[i] == NULL) {
            inverse_branched_half(b->inverse, tree, J, X);
            half[i] = X;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t *dofs = inverse_half_dofs(n, half[i]);
        int32_t e = b->row_start[first[i].constraint];
        for (int32_t j = i; j < count; j++) {
            kernels->pair_add(dofs[n], dofs, half[i], half[j], block_at(b, &e, first[j].constraint));
        }
    }
    return true;
}

// Y = J_i A^-1 of one constraint at a time, so that a tree of thousands of nodes needs no more than that.
static void add_full_tree(const builder *b, int32_t tree, double *Y) {
    const stn_problem *p = b->problem;
    int32_t n = p->trees[tree].A.n;
    const touch *end = b->list + b->start[tree + 1];
    for (const touch *i = b->list + b->start[tree]; i < end; i++) {
        const stn_constraint *c = &p->constraints[i->constraint];
        stn_jacobian_expand(p, stn_constraint_block(c, i->side), c->rows, Y);
        stn_inverse_apply(b->inverse, tree, c->rows, Y);
        int32_t e = b->row_start[i->constraint];
        for (const touch *j = i; j < end; j++) {
            const stn_constraint *d = &p->constraints[j->constraint];
            double *W = block_at(b, &e, j->constraint);
            for (int32_t r = 0; r < c->rows; r++) {
                jacobian_mul_add(&p->trees[tree], stn_constraint_block(d, j->side), d->rows, Y + (size_t)r * (size_t)n,
                                 W + r * d->rows);
            }
        }
    }
}

// to (columns x rows) = from^T; of a diagonal block, in place, the upper triangle goes to the lower.
static inline void transpose(int32_t rows, int32_t columns, bool diagonal, const double *from, double *to) {
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t c = diagonal ? r + 1 : 0; c < columns; c++) {
            to[c * rows + r] = from[r * columns + c];
        }
    }
}

/// Where the blocks of the pattern lie; row_start is filled, column and offset too once they are there.
static void local_pattern(builder *b, const bool *blocks, int32_t *entries, int64_t *values) {
    const stn_problem *p = b->problem;
    int32_t n = p->constraint_count, e = 0;
    int64_t place = 0;
    for (int32_t i = 0; i < n; i++) {
        b->row_start[i] = e;
        for (int32_t j = 0; j < n; j++) {
            if (!blocks[(size_t)i * (size_t)n + (size_t)j]) {
                continue;
            }
            if (b->column != NULL) {
                b->column[e] = j;
                b->offset[e] = place;
            }
            place += p->constraints[i].rows * p->constraints[j].rows;
            e++;
        }
    }
    b->row_start[n] = *entries = e;
    *values = place;
}

static stn_status build_local(builder *b, stn_error *err) {
    const stn_problem *p = b->problem;
    local_form form;
    stn_status status = local_form_reduce(p, b->arena, &form, err);
    if (status != STN_OK) {
        return status;
    }
    int32_t entries;
    int64_t values;
    const bool *blocks = local_form_blocks(p, form.W, b->arena);
    b->row_start = STN_ARENA(b->arena, (size_t)p->constraint_count + 1, int32_t);
    if (b->row_start == NULL || blocks == NULL) {
        return out_of_memory(p, err);
    }
    local_pattern(b, blocks, &entries, &values);
    b->column = STN_ARENA(b->arena, entries, int32_t);
    b->offset = STN_ARENA(b->arena, (size_t)entries + 1, int64_t);
    b->values = STN_ARENA(b->arena, values, double);
    if (b->column == NULL || b->offset == NULL || b->values == NULL) {
        return out_of_memory(p, err);
    }
    local_pattern(b, blocks, &entries, &values);
    b->offset[entries] = values;
    b->free_velocity = form.q;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *row = &p->constraints[i];
        for (int32_t e = b->row_start[i]; e < b->row_start[i + 1]; e++) {
            const stn_constraint *column = &p->constraints[b->column[e]];
            const double *from = form.W + (size_t)row->row * (size_t)p->row_count + column->row;
            double *to = b->values + b->offset[e];
            for (int32_t r = 0; r < row->rows; r++, to += column->rows, from += p->row_count) {
                for (int32_t c = 0; c < column->rows; c++) { // few: a call of memcpy costs more
                    to[c] = from[c];
                }
            }
        }
    }
    return STN_OK;
}

static stn_status build_global(builder *b, stn_error *err) {
    const stn_problem *p = b->problem;
    double *velocity = STN_ARENA(b->arena, p->row_count, double); // J (v_star + A^-1 free_impulse) + bias
    int32_t *next = STN_ARENA(b->arena, p->constraint_count, int32_t);
    if (velocity == NULL || next == NULL || !make_pattern(b)) {
        return out_of_memory(p, err);
    }
    // the upper triangle, tree by tree
    size_t most = 0, touches = 0;
    for (int32_t t = 0; t < p->tree_count; t++) {
        size_t rows = 0;
        for (int32_t k = b->start[t]; k < b->start[t + 1]; k++) {
            rows += (size_t)p->constraints[b->list[k].constraint].rows;
        }
        rows = inverse_has_half(b->inverse, t) ? rows : STN_MAX_ROWS;
        size_t columns = (size_t)p->trees[t].A.n; // a body's contacts have 8 values a row
        size_t needed = rows * (columns > 8 ? columns : 8);
        size_t count = (size_t)(b->start[t + 1] - b->start[t]), branched = count * BRANCHED_HALF(columns);
        touches = touches > count ? touches : count;
        needed = needed > branched ? needed : branched;
        most = needed > most ? needed : most;
    }
    double *X = STN_ARENA(b->arena, most, double);
    const double **half = STN_ARENA(b->arena, touches, const double *);
    if (X == NULL || half == NULL) {
        return out_of_memory(p, err);
    }
    for (int32_t t = 0; t < p->tree_count; t++) {
        if (!add_body(b, t, X) && !add_branched(b, t, half, X)) {
            (inverse_has_half(b->inverse, t) ? add_half_tree : add_full_tree)(b, t, X);
        }
    }
    // W_ji = W_ij^T for j > i, and the diagonal blocks' own lower triangles. Rows ascend, so the place of (j, i) is the
    // next of row j.
    memcpy(next, b->row_start, (size_t)p->constraint_count * sizeof *next);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        int32_t rows = p->constraints[i].rows;
        for (int32_t e = next[i]; e < b->row_start[i + 1]; e++) {
            int32_t j = b->column[e], columns = p->constraints[j].rows;
            const double *from = b->values + b->offset[e];
            double *to = b->values + b->offset[next[j]++];
            if (rows == 3 && columns == 3) { // a pair of contacts
                transpose(3, 3, j == i, from, to);
            } else {
                transpose(rows, columns, j == i, from, to);
            }
        }
    }
    const double *v = p->v_star;
    if (p->free_impulse != NULL) {
        double *moved = STN_ARENA(b->arena, p->nv, double), *none = STN_ARENA_ZEROED(b->arena, p->row_count, double);
        if (moved == NULL || none == NULL) {
            return out_of_memory(p, err);
        }
        stn_inverse_velocity(b->inverse, p, none, moved);
        v = moved;
    }
    stn_problem_contact_velocity(p, v, true, velocity);
    b->free_velocity = velocity;
    return STN_OK;
}

stn_status stn_delassus_build(const stn_inverse *inverse, const stn_problem *problem, stn_arena *arena,
                              stn_delassus *out, stn_error *err) {
    builder b = {.inverse = inverse, .problem = problem, .arena = arena};
    const bool local = problem->form == STN_FORM_LOCAL;
    stn_status status = local ? STN_OK : stn_inverse_require(inverse, err);
    if (status == STN_OK) {
        status = (local ? build_local : build_global)(&b, err);
    }
    if (status == STN_OK) {
        *out = (stn_delassus){
            problem,        problem->constraint_count, problem->row_count, b.row_start, b.column, b.offset, b.values,
            b.free_velocity};
    }
    return status;
}

// ----------------------------------------------------------------------------------------------------------- use
// Products with the Delassus operator, and the residual that impulse solvers share as a stopping test.

void stn_delassus_row_mul_add(const stn_delassus *d, int32_t i, const double *gamma, double *y) {
    const stn_constraint *constraints = d->problem->constraints;
    int32_t rows = constraints[i].rows;
    for (int32_t e = d->row_start[i]; e < d->row_start[i + 1]; e++) {
        const stn_constraint *other = &constraints[d->column[e]];
        const double *W = d->values + d->offset[e], *g = gamma + other->row;
        if (rows == 3 && other->rows == 3) {
            const double g0 = g[0], g1 = g[1], g2 = g[2];
            y[0] += W[0] * g0 + W[1] * g1 + W[2] * g2;
            y[1] += W[3] * g0 + W[4] * g1 + W[5] * g2;
            y[2] += W[6] * g0 + W[7] * g1 + W[8] * g2;
            continue;
        }
        for (int32_t r = 0; r < rows; r++, W += other->rows) {
            for (int32_t c = 0; c < other->rows; c++) {
                y[r] += W[c] * g[c];
            }
        }
    }
}

const double *stn_delassus_diagonal(const stn_delassus *d, int32_t i) {
    int32_t low = d->row_start[i], high = d->row_start[i + 1];
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (d->column[middle] <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return d->values + d->offset[low];
}

double stn_delassus_residual(const stn_delassus *d, bool convex, const double *gamma) {
    const stn_problem *p = d->problem;
    double largest = 0.0;
    for (int32_t i = 0; i < d->n; i++) {
        const stn_constraint *c = &p->constraints[i];
        const double *W = stn_delassus_diagonal(d, i), *own = gamma + c->row;
        double g[STN_MAX_ROWS], trace = 0.0;
        for (int32_t r = 0; r < c->rows; r++) { // g = W gamma + b - v_hat + R gamma
            g[r] = d->b[c->row + r] - p->v_hat[c->row + r] + p->R[c->row + r] * own[r];
        }
        stn_delassus_row_mul_add(d, i, gamma, g);
        for (int32_t r = 0; r < c->rows; r++) {
            trace += W[r * (c->rows + 1)];
        }
        double omega = natural_map_omega(c->rows, trace);
        largest = worst(largest, stn_constraint_has_cone(c)
                                     ? natural_map_cone(c, (natural_form){!convex, omega}, own, g)
                                     : stn_natural_map_box(c->rows, omega, p->lo + c->row, p->hi + c->row, own, g));
    }
    return sqrt(largest);
}
