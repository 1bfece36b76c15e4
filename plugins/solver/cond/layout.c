// SPDX-License-Identifier: Apache-2.0
// See layout.h.
#include "layout.h"

#include <math.h>
#include <stiction/union_find.h>
#include <string.h>

enum {
    CHUNK_BLOCKS = 4096, // blocks of A that a chunk reads, about
    MOST_DOFS = 600      // of a body that springs make
};

double *cond_vector(const cond_layout *layout, stn_arena *arena) {
    return STN_ARENA_ZEROED(arena, (size_t)layout->size + 4, double); // whole vectors are read at its end
}

// ------------------------------------------------------------------------------------------------------------- bodies

/// May the constraint be a spring? Of a bounded row that is much stiffer than what it acts on W would be far too small
/// while it is slack.
static bool may_spring(const stn_problem *p, const stn_constraint *c) {
    const double softest = 2e-3;
    if (stn_constraint_has_cone(c)) {
        return false;
    }
    for (int32_t r = c->row; r < c->row + c->rows; r++) {
        if (!(p->R[r] > 0.0) || !isfinite(p->R[r]) || p->R[r] > 1e50 ||
            (c->set == STN_SET_BOX && !(p->R[r] >= softest * c->w))) {
            return false;
        }
    }
    for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
        const stn_matrix *A = &p->trees[stn_constraint_block(c, k)->tree].A;
        if (A->form == STN_MATRIX_NODAL || A->n > MOST_DOFS) {
            return false;
        }
    }
    return true;
}

/// Which constraints are springs, and which trees they tie: parent (tree_count), size (tree_count) dofs by root.
static void tie(cond_layout *out, int32_t *parent, int32_t *size, bool *sprung) {
    const stn_problem *p = out->problem;
    stn_union_begin(parent, p->tree_count);
    for (int32_t t = 0; t < p->tree_count; t++) {
        size[t] = p->trees[t].A.n;
        sprung[t] = false;
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        out->is_spring[i] = may_spring(p, c);
        int32_t together = 0;
        for (int32_t k = 0; k < stn_constraint_block_count(c) && out->is_spring[i]; k++) {
            const int32_t root = stn_union_root(parent, stn_constraint_block(c, k)->tree);
            bool met = false;
            for (int32_t l = 0; l < k; l++) {
                met = met || stn_union_root(parent, stn_constraint_block(c, l)->tree) == root;
            }
            together += met ? 0 : size[root];
        }
        out->is_spring[i] = out->is_spring[i] && together <= MOST_DOFS;
        for (int32_t k = 0; k < stn_constraint_block_count(c) && out->is_spring[i]; k++) {
            const int32_t first = stn_constraint_block(c, 0)->tree, tree = stn_constraint_block(c, k)->tree;
            stn_union_join(parent, first, tree);
            size[stn_union_root(parent, first)] = together;
            sprung[tree] = true;
        }
    }
}

/// W of a body, once its trees have places.
static stn_status invert(const cond_layout *layout, cond_body *body, stn_arena *arena, stn_error *err) {
    const size_t n = (size_t)body->size;
    const stn_problem *p = layout->problem;
    double *L = STN_ARENA_ZEROED(arena, n * n, double);
    body->matrix = STN_ARENA(arena, n * n, double);
    body->inverse = STN_ARENA_ZEROED(arena, n * n, double);
    if (L == NULL || body->matrix == NULL || body->inverse == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "inverse of %d dofs: out of memory", body->size);
    }
    for (int32_t k = body->first; k < body->end; k++) {
        const cond_tree *tree = &layout->trees[layout->body_trees[k]];
        const size_t at = (size_t)(tree->place - body->place), m = (size_t)tree->size;
        for (size_t r = 0; r < m; r++) {
            for (size_t c = 0; c < m && tree->A->form == STN_MATRIX_DENSE; c++) {
                L[(at + r) * n + at + c] = tree->A->values[m * r + c];
            }
            if (tree->A->form == STN_MATRIX_DIAGONAL) {
                L[(at + r) * (n + 1)] = tree->A->values[r];
            }
        }
    }
    for (int32_t k = body->first_spring; k < body->end_spring; k++) {
        const cond_spring *spring = &layout->springs[k];
        const stn_constraint *c = &p->constraints[spring->constraint];
        for (int32_t r = 0; r < c->rows; r++) {
            for (int32_t a = spring->first; a < spring->end; a++) {
                for (int32_t b = spring->first; b < spring->end; b++) {
                    const cond_piece *one = &layout->spring_pieces[a], *two = &layout->spring_pieces[b];
                    for (int32_t i = 0; i < one->columns; i++) {
                        const double x = one->J[r * one->pitch + i] / p->R[c->row + r];
                        double *row = L + (size_t)(one->place - body->place + i) * n + (two->place - body->place);
                        for (int32_t j = 0; j < two->columns; j++) {
                            row[j] += x * two->J[r * two->pitch + j];
                        }
                    }
                }
            }
        }
    }
    memcpy(body->matrix, L, n * n * sizeof *L);
    const int32_t pivot = stn_cholesky(body->size, L, body->size);
    if (pivot >= 0) {
        int32_t k = body->first;
        while (k + 1 < body->end && layout->trees[layout->body_trees[k + 1]].place <= body->place + pivot) {
            k++;
        }
        const int32_t t = layout->body_trees[k];
        return stn_fail(err, STN_ERR_NUMERIC, "A of tree %d (source %d) is not positive definite at dof %d", t,
                        p->trees[t].source, body->place + pivot - layout->trees[t].place);
    }
    for (size_t i = 0; i < n; i++) {
        body->inverse[i * (n + 1)] = 1.0;
    }
    stn_cholesky_forward(body->size, L, body->size, body->size, body->inverse, body->size); // it is symmetric
    stn_cholesky_backward(body->size, L, body->size, body->size, body->inverse, body->size);
    return STN_OK;
}

int32_t cond_split(const cond_layout *layout, int32_t index, cond_piece *out) {
    const stn_constraint *c = &layout->problem->constraints[index];
    int32_t count = 0;
    for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
        const stn_jacobian *J = stn_constraint_block(c, k);
        const cond_tree *tree = &layout->trees[J->tree];
        const bool dense = J->node_count == 0;
        const int32_t m = dense ? tree->size : J->node_size, nodes = dense ? tree->nodes : J->node_count;
        for (int32_t b = 0; b < nodes; b++, count++) {
            if (out == NULL) {
                continue;
            }
            const int32_t node = dense ? b : J->node[b];
            out[count] = (cond_piece){
                .J = J->values + (size_t)b * (size_t)(dense ? m : m * c->rows),
                .pitch = dense ? tree->A->n : m,
                .columns = m,
                .place = cond_place(tree, m * node),
                .constraint = index,
                .row = c->row,
                .rows = c->rows,
                .unit = tree->body >= 0 ? layout->bodies[tree->body].place
                                        : tree->place + (tree->nodes > 1 ? node * tree->stride : 0),
            };
        }
    }
    return count;
}

static bool list_springs(cond_layout *out, stn_arena *arena) {
    const stn_problem *p = out->problem;
    int32_t pieces = 0, at = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        out->spring_count += out->is_spring[i];
        pieces += out->is_spring[i] ? cond_split(out, i, NULL) : 0;
    }
    out->springs = STN_ARENA(arena, out->spring_count + 1, cond_spring);
    out->spring_pieces = STN_ARENA(arena, pieces + 1, cond_piece);
    if (out->springs == NULL || out->spring_pieces == NULL) {
        return false;
    }
    int32_t number = 0;
    for (int32_t k = 0; k < out->body_count; k++) {
        cond_body *body = &out->bodies[k];
        body->first_spring = number;
        for (int32_t i = 0; i < p->constraint_count && out->spring_count > 0; i++) {
            if (out->is_spring[i] && out->trees[p->constraints[i].J[0].tree].body == k) {
                out->springs[number] = (cond_spring){i, at, at};
                at += cond_split(out, i, out->spring_pieces + at);
                out->springs[number++].end = at;
            }
        }
        body->end_spring = number;
    }
    return true;
}

// ------------------------------------------------------------------------------------------------------------- places

/// Chunks of a tree by blocks of A. Counts without `out`.
static int32_t cut(const cond_tree *tree, int32_t index, cond_chunk *out) {
    const stn_matrix *A = tree->A;
    int32_t count = 0, first = 0;
    for (int32_t i = 0; i < tree->nodes; i++) {
        const bool full = A->form == STN_MATRIX_NODAL && A->row_start[i + 1] - A->row_start[first] >= CHUNK_BLOCKS;
        if (!full && i + 1 < tree->nodes) {
            continue;
        }
        if (out != NULL) {
            out[count] = (cond_chunk){.tree = index,
                                      .body = -1,
                                      .first = first,
                                      .end = i + 1,
                                      .place = tree->place + first * tree->stride,
                                      .width = (i + 1 - first) * tree->stride};
        }
        count++;
        first = i + 1;
    }
    return count;
}

/// Trees of the same root, from the first one, after what has places already.
static void place_body(cond_layout *out, int32_t *parent, int32_t tree, int32_t *listed) {
    const stn_problem *p = out->problem;
    const int32_t root = stn_union_root(parent, tree);
    cond_body *body = &out->bodies[out->body_count];
    *body = (cond_body){.place = out->size, .first = *listed};
    for (int32_t t = tree; t < p->tree_count; t++) {
        if (stn_union_root(parent, t) == root) {
            out->trees[t].body = out->body_count;
            out->trees[t].place = body->place + body->size;
            out->body_trees[(*listed)++] = t;
            body->size += p->trees[t].A.n;
        }
    }
    body->end = *listed;
    body->width = (body->size + 3) / 4 * 4;
    out->size += body->width;
    out->body_count++;
}

stn_status cond_layout_build(const stn_problem *problem, stn_arena *arena, cond_layout *out, stn_error *err) {
    const int32_t trees = problem->tree_count;
    *out = (cond_layout){.problem = problem};
    out->trees = STN_ARENA_ZEROED(arena, trees + 1, cond_tree);
    out->bodies = STN_ARENA(arena, trees + 1, cond_body);
    out->body_trees = STN_ARENA(arena, trees + 1, int32_t);
    out->is_spring = STN_ARENA(arena, problem->constraint_count + 1, bool);
    int32_t *parent = STN_ARENA(arena, trees + 1, int32_t), *size = STN_ARENA(arena, trees + 1, int32_t), listed = 0;
    bool *sprung = STN_ARENA(arena, trees + 1, bool);
    if (out->trees == NULL || out->bodies == NULL || out->body_trees == NULL || out->is_spring == NULL ||
        parent == NULL || size == NULL || sprung == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d trees: out of memory", trees);
    }
    int64_t room = 0;
    for (int32_t t = 0; t < trees; t++) {
        const stn_matrix *A = &problem->trees[t].A;
        const bool nodal = A->form == STN_MATRIX_NODAL;
        cond_tree *tree = &out->trees[t];
        *tree =
            (cond_tree){.A = A, .size = nodal ? A->node_size : A->n, .nodes = nodal ? A->node_count : 1, .body = -1};
        tree->stride = (tree->size + 3) / 4 * 4;
        room += (int64_t)tree->stride * tree->nodes;
    }
    if (room > INT32_MAX / 2) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs are more than fit", problem->nv);
    }
    tie(out, parent, size, sprung);
    for (int32_t t = 0; t < trees; t++) {
        cond_tree *tree = &out->trees[t];
        if (tree->body >= 0) {
            continue;
        }
        if (tree->A->form == STN_MATRIX_DENSE || sprung[t]) {
            place_body(out, parent, t, &listed);
            out->chunk_count++;
            continue;
        }
        tree->place = out->size;
        out->size += tree->stride * tree->nodes;
        out->chunk_count += cut(tree, t, NULL);
    }
    out->chunks = STN_ARENA(arena, out->chunk_count + 1, cond_chunk);
    if (out->chunks == NULL || !list_springs(out, arena)) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs: out of memory", problem->nv);
    }
    for (int32_t t = 0, at = 0; t < trees; t++) {
        const int32_t number = out->trees[t].body;
        if (number < 0) {
            at += cut(&out->trees[t], t, out->chunks + at);
        } else if (out->body_trees[out->bodies[number].first] == t) {
            cond_body *body = &out->bodies[number];
            out->chunks[at++] = (cond_chunk){.tree = -1, .body = number, .place = body->place, .width = body->width};
            stn_status status = invert(out, body, arena, err);
            if (status != STN_OK) {
                return status;
            }
        }
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

static void product_tree(const cond_tree *tree, const double *x, double *y) {
    switch (tree->A->form) {
    case STN_MATRIX_DIAGONAL:
        for (int32_t d = 0; d < tree->size; d++) {
            y[d] = tree->A->values[d] * x[d];
        }
        break;
    case STN_MATRIX_DENSE:
        product_dense(tree->size, tree->A->values, x, y);
        break;
    default:
        memset(y, 0, (size_t)tree->size * sizeof *y);
    }
}

void cond_product(const cond_layout *layout, const cond_chunk *chunk, const double *x, double *y) {
    if (chunk->body >= 0) {
        const cond_body *body = &layout->bodies[chunk->body];
        for (int32_t k = body->first; k < body->end; k++) {
            const cond_tree *tree = &layout->trees[layout->body_trees[k]];
            product_tree(tree, x + tree->place, y + tree->place);
        }
        return;
    }
    const cond_tree *tree = &layout->trees[chunk->tree];
    const double *from = x + tree->place;
    double *to = y + chunk->place;
    if (tree->A->form != STN_MATRIX_NODAL) {
        product_tree(tree, from, to);
    } else if (tree->size == 3) {
        product_3(tree->A, chunk->first, chunk->end, from, to);
    } else {
        product_nodes(tree->A, tree->stride, chunk->first, chunk->end, from, to);
    }
}

void cond_spring_impulses(const cond_layout *layout, const cond_body *body, const double *v, double *gamma, double *q) {
    const stn_problem *p = layout->problem;
    memset(q + body->place, 0, (size_t)body->width * sizeof *q);
    for (int32_t k = body->first_spring; k < body->end_spring; k++) {
        const cond_spring *spring = &layout->springs[k];
        const stn_constraint *c = &p->constraints[spring->constraint];
        for (int32_t r = 0; r < c->rows; r++) {
            const int32_t row = c->row + r;
            double v_c = p->bias[row];
            for (int32_t e = spring->first; e < spring->end; e++) {
                const cond_piece *piece = &layout->spring_pieces[e];
                for (int32_t l = 0; l < piece->columns; l++) {
                    v_c += piece->J[r * piece->pitch + l] * v[piece->place + l];
                }
            }
            const double y = (p->v_hat[row] - v_c) / p->R[row];
            gamma[row] = y < p->lo[row] ? p->lo[row] : (y > p->hi[row] ? p->hi[row] : y);
            for (int32_t e = spring->first; e < spring->end; e++) {
                const cond_piece *piece = &layout->spring_pieces[e];
                for (int32_t l = 0; l < piece->columns; l++) {
                    q[piece->place + l] += piece->J[r * piece->pitch + l] * gamma[row];
                }
            }
        }
    }
}

STN_KERNEL static void multiply(int32_t width, const double *restrict w, const double *restrict x, double *restrict y) {
    for (int32_t k = 0; k < width; k++) {
        y[k] = w[k] * x[k];
    }
}

void cond_weigh(const cond_body *body, int32_t place, int32_t width, const double *w, const double *x, double *y) {
    if (body != NULL) {
        product_dense(body->size, body->inverse, x + body->place, y + body->place);
        return;
    }
    multiply(width, w + place, x + place, y + place);
}
