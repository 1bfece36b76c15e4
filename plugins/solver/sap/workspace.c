// SPDX-License-Identifier: Apache-2.0
// Packing: the problem's trees become blocks, its constraints clusters of rows, once per solve.
#include <math.h>
#include <string.h>

#include "sap.h"

/// A constraint to be placed: its blocks, ascending, and where the values for each come from.
typedef struct source {
    int32_t count;
    int32_t block[2 * STN_MAX_NODES];
    const double *values[2 * STN_MAX_NODES]; // rows x n_block
} source;

/// Sorting key: first block, second block, cones before lines.
typedef struct order {
    uint64_t key;
    int32_t constraint;
} order;

static int32_t round_up(int32_t n, int32_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

static bool is_cone(const stn_constraint *c) {
    return c->set == STN_SET_CONE || c->set == STN_SET_ELLIPSE;
}

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

/// Something is not finite: says what. v: the warm start.
static stn_status name_fault(const sap_system *s, const double *v, stn_error *err) {
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

/// Zeroed doubles of the solve's arena, at least one vector of them.
static bool allocate(sap_system *s, int64_t n, double **out) {
    *out = STN_ARENA_ZEROED(s->control->arena, n + 8, double);
    return *out != NULL;
}

static void add_block(sap_system *s, int32_t tree, int32_t dof, int32_t n, int64_t *A_size) {
    sap_block *block = &s->blocks[s->block_count++];
    *block = (sap_block){n, round_up(n, 4), tree, dof, s->nx, s->nv, *A_size};
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
    s->nx = round_up(s->nx, 8);
    return STN_OK;
}

/// Diagonal block of A with padded rows.
static void pack_block_mass(const stn_matrix *A, const sap_block *block, int32_t node, double *out) {
    const size_t n = (size_t)block->n, ld = (size_t)block->ld;
    const double *values = A->values;
    if (A->form == STN_MATRIX_NODAL) {
        int32_t e = A->row_start[node];
        while (A->column[e] != node) {
            e++;
        }
        values += 9 * (int64_t)e;
    }
    for (size_t i = 0; i < n; i++) {
        if (A->form == STN_MATRIX_DENSE || A->form == STN_MATRIX_NODAL) {
            memcpy(out + i * ld, values + i * n, n * sizeof *out);
        } else if (A->form == STN_MATRIX_DIAGONAL) {
            out[i * ld + i] = values[i];
        }
    }
}

/// D = diag(A)^-1/2. Where A has no inertia, the largest of the tree (first block) stands in, or 1.
static void scale_blocks(sap_system *s) {
    for (int32_t b = 0; b < s->block_count;) {
        int32_t end = b;
        double largest = 0.0;
        for (; end < s->block_count && s->blocks[end].tree == s->blocks[b].tree; end++) {
            const sap_block *block = &s->blocks[end];
            for (int32_t i = 0; i < block->n; i++) {
                largest = fmax(largest, s->A[block->A + (int64_t)i * (block->ld + 1)]);
            }
        }
        double fallback = largest > 0.0 ? 1.0 / sqrt(largest) : 1.0;
        for (; b < end; b++) {
            const sap_block *block = &s->blocks[b];
            for (int32_t i = 0; i < block->n; i++) {
                double a = s->A[block->A + (int64_t)i * (block->ld + 1)];
                s->D[block->start + i] = a > 0.0 ? 1.0 / sqrt(a) : fallback;
            }
        }
    }
}

static void pack_vector(const sap_system *s, const double *x, double *padded) {
    for (int32_t b = 0; b < s->block_count; b++) {
        const sap_block *block = &s->blocks[b];
        memcpy(padded + block->start, x + block->dof, (size_t)block->n * sizeof *x);
    }
}

static stn_status pack_velocities(sap_system *s, const double *v, int64_t A_size, stn_error *err) {
    const stn_problem *problem = s->problem;
    double **arrays[] = {&s->v,  &s->v_star, &s->force,    &s->D,  &s->p,  &s->A_v_star,
                         &s->Av, &s->j,      &s->gradient, &s->dv, &s->dp, &s->compact};
    for (int32_t i = 0; i < STN_COUNT(arrays); i++) {
        if (!allocate(s, s->nx, arrays[i])) {
            return out_of_memory(err);
        }
    }
    if (!allocate(s, A_size, &s->A)) {
        return out_of_memory(err);
    }
    for (int32_t b = 0; b < s->block_count; b++) {
        const sap_block *block = &s->blocks[b];
        pack_block_mass(&problem->trees[block->tree].A, block, b - s->tree_block[block->tree], s->A + block->A);
    }
    scale_blocks(s);
    pack_vector(s, v, s->v);
    pack_vector(s, problem->v_star, s->v_star);
    if (problem->free_impulse != NULL) {
        pack_vector(s, problem->free_impulse, s->force);
    }
    sap_mass_times(s, s->v_star, s->A_v_star);
    return STN_OK;
}

/// Puts block and values into their place; the list stays ascending.
static void add_source(source *out, int32_t block, const double *values) {
    int32_t at = out->count++;
    for (; at > 0 && out->block[at - 1] > block; at--) {
        out->block[at] = out->block[at - 1];
        out->values[at] = out->values[at - 1];
    }
    out->block[at] = block;
    out->values[at] = values;
}

static void find_source(const sap_system *s, const stn_constraint *c, source *out) {
    out->count = 0;
    for (int32_t k = 0; k < 2; k++) {
        const stn_jacobian *J = &c->J[k];
        if (J->tree < 0 || s->problem->trees[J->tree].A.n == 0) {
            continue;
        }
        int32_t first = s->tree_block[J->tree];
        if (J->node_count == 0) {
            add_source(out, first, J->values);
        }
        for (int32_t b = 0; b < J->node_count; b++) {
            add_source(out, first + J->node[b], J->values + 3 * (int64_t)c->rows * b);
        }
    }
}

static bool same_blocks(const sap_system *s, const sap_cluster *cluster, const source *from) {
    bool same = cluster->part_count == from->count;
    for (int32_t i = 0; same && i < from->count; i++) {
        same = s->parts[cluster->part_start + i].block == from->block[i];
    }
    return same;
}

/// Stable merge sort, and a single pass over what is sorted already. `spare` is scratch; the result is in `items`.
static void sort_order(int32_t n, order *items, order *spare) {
    bool sorted = true;
    for (int32_t i = 1; i < n && sorted; i++) {
        sorted = items[i - 1].key <= items[i].key;
    }
    order *from = items, *to = spare;
    for (int32_t width = 1; width < n && !sorted; width *= 2) {
        for (int32_t low = 0; low < n; low += 2 * width) {
            int32_t middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            int32_t a = low, b = middle;
            for (int32_t k = low; k < high; k++) {
                to[k] = a < middle && (b == high || from[a].key <= from[b].key) ? from[a++] : from[b++];
            }
        }
        order *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) {
        memcpy(items, from, (size_t)n * sizeof *items);
    }
}

static stn_status order_constraints(sap_system *s, order **out, stn_error *err) {
    const stn_problem *problem = s->problem;
    int32_t n = problem->constraint_count;
    order *items = STN_ARENA(s->control->arena, n + 1, order), *spare = STN_ARENA(s->control->arena, n + 1, order);
    if (items == NULL || spare == NULL) {
        return out_of_memory(err);
    }
    for (int32_t i = 0; i < n; i++) {
        const stn_constraint *c = &problem->constraints[i];
        source from;
        find_source(s, c, &from);
        uint64_t first = from.count > 0 ? (uint64_t)from.block[0] + 1 : 0;
        uint64_t second = from.count > 1 ? (uint64_t)from.block[1] + 1 : 0;
        items[i] = (order){first << 33 | second << 1 | (is_cone(c) ? 0 : 1), i};
    }
    sort_order(n, items, spare);
    *out = items;
    return STN_OK;
}

/// A new cluster on the blocks of `source`, behind all others.
static sap_cluster *begin_cluster(sap_system *s, const source *from, int32_t *parts) {
    sap_cluster *cluster = &s->clusters[s->cluster_count++];
    *cluster = (sap_cluster){
        .part_start = *parts, .part_count = from->count, .lane_start = s->batch.count, .line_start = s->line_count};
    for (int32_t k = 0; k < from->count; k++) {
        s->parts[(*parts)++].block = from->block[k];
    }
    return cluster;
}

/// Groups the sorted constraints: neighbours on the same blocks share a cluster, in which no cone follows a line.
static void form_clusters(sap_system *s, const order *items, int32_t *lane_constraint) {
    int32_t parts = 0;
    sap_cluster *cluster = NULL;
    for (int32_t i = 0; i < s->problem->constraint_count; i++) {
        const stn_constraint *c = &s->problem->constraints[items[i].constraint];
        source from;
        find_source(s, c, &from);
        if (cluster == NULL || !same_blocks(s, cluster, &from) || (is_cone(c) && cluster->line_count > 0)) {
            cluster = begin_cluster(s, &from, &parts);
        }
        cluster->constraint_count++;
        if (is_cone(c)) {
            lane_constraint[s->batch.count++] = items[i].constraint;
            cluster->lane_count++;
        } else {
            for (int32_t r = 0; r < c->rows; r++) {
                s->line_row[s->line_count++] = c->row + r;
            }
            cluster->line_count += c->rows;
        }
    }
}

static stn_status pack_clusters(sap_system *s, const order *items, int64_t *panel_size, stn_error *err) {
    const stn_problem *problem = s->problem;
    stn_arena *arena = s->control->arena;
    const size_t n = (size_t)problem->constraint_count;
    size_t width = 2;
    for (size_t i = 0; i < n; i++) {
        const stn_jacobian *J = problem->constraints[i].J;
        width = J[0].node_count + J[1].node_count > 0 ? 2 * STN_MAX_NODES : width;
    }
    int32_t *lane_constraint = STN_ARENA(arena, n + 1, int32_t);
    s->line_row = STN_ARENA(arena, problem->row_count + 1, int32_t);
    s->clusters = STN_ARENA(arena, n + 1, sap_cluster);
    s->parts = STN_ARENA(arena, n * width + 1, sap_part);
    if (lane_constraint == NULL || s->line_row == NULL || s->clusters == NULL || s->parts == NULL) {
        return out_of_memory(err);
    }
    form_clusters(s, items, lane_constraint);
    s->batch.constraint = lane_constraint;
    s->batch.stride = round_up(s->batch.count, STN_LANES);
    s->line_stride = round_up(s->line_count, 8);

    int64_t size = 0;
    for (int32_t k = 0; k < s->cluster_count; k++) {
        sap_cluster *cluster = &s->clusters[k];
        cluster->rows = round_up(3 * cluster->lane_count + cluster->line_count, 4);
        cluster->row_start = s->row_count;
        s->row_count += cluster->rows;
        for (int32_t p = 0; p < cluster->part_count; p++) {
            sap_part *part = &s->parts[cluster->part_start + p];
            part->panel = size;
            size += (int64_t)cluster->rows * s->blocks[part->block].ld;
        }
    }
    *panel_size = size;
    return STN_OK;
}

/// rows x n values into rows x ld.
SAP_INLINE void copy_rows(size_t rows, size_t n, size_t ld, const double *values, double *panel) {
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < n; i++) {
            panel[r * ld + i] = values[r * n + i];
        }
        for (size_t i = n; i < ld; i++) {
            panel[r * ld + i] = 0.0;
        }
    }
}

static void fill_panels(sap_system *s, const order *items) {
    for (int32_t k = 0; k < s->cluster_count; k++) {
        const sap_cluster *cluster = &s->clusters[k];
        const sap_part *parts = s->parts + cluster->part_start;
        size_t row = 0;
        for (int32_t i = 0; i < cluster->constraint_count; i++, items++) {
            const stn_constraint *c = &s->problem->constraints[items->constraint];
            source from;
            find_source(s, c, &from);
            for (int32_t p = 0; p < from.count; p++) {
                size_t n = (size_t)s->blocks[parts[p].block].n, ld = (size_t)s->blocks[parts[p].block].ld;
                double *panel = s->panels + parts[p].panel + row * ld;
                if (n == 6) {
                    copy_rows((size_t)c->rows, 6, 8, from.values[p], panel);
                } else {
                    copy_rows((size_t)c->rows, n, ld, from.values[p], panel);
                }
            }
            row += (size_t)c->rows;
        }
        for (int32_t p = 0; p < cluster->part_count; p++) {
            size_t ld = (size_t)s->blocks[parts[p].block].ld;
            memset(s->panels + parts[p].panel + row * ld, 0, ((size_t)cluster->rows - row) * ld * sizeof *s->panels);
        }
    }
}

static stn_status pack_panels(sap_system *s, const double *v, stn_error *err) {
    order *items = NULL;
    int64_t panel_size = 0;
    stn_status status = order_constraints(s, &items, err);
    if (status == STN_OK) {
        status = pack_clusters(s, items, &panel_size, err);
    }
    if (status != STN_OK) {
        return status;
    }
    s->panels = STN_ARENA(s->control->arena, panel_size + 8, double);
    s->rows = STN_ARENA(s->control->arena, s->row_count + 8, double);
    if (s->panels == NULL || s->rows == NULL) {
        return out_of_memory(err);
    }
    fill_panels(s, items);
    if (!sap_finite(panel_size, s->panels)) {
        return name_fault(s, v, err);
    }
    return STN_OK;
}

static stn_status allocate_point(sap_system *s, sap_point *point, stn_error *err) {
    int64_t stride = s->batch.stride, lines = s->line_stride;
    bool ok = allocate(s, 3 * stride, &point->v) && allocate(s, 3 * stride, &point->gamma) &&
              allocate(s, 6 * stride, &point->G) && allocate(s, lines, &point->line_v) &&
              allocate(s, lines, &point->line_gamma) && allocate(s, lines, &point->line_G);
    return ok ? STN_OK : out_of_memory(err);
}

static stn_status pack_lanes(sap_system *s, stn_error *err) {
    const int64_t stride = s->batch.stride;
    const stn_problem *problem = s->problem;
    const stn_law *law = s->control->law;
    if (s->batch.count > 0 && law == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "contacts need a law, and none was given");
    }
    int64_t coefficients = s->batch.count > 0 ? law->ops->coefficient_count * stride : 0;
    if (!allocate(s, 3 * stride, &s->bias) || !allocate(s, stride, &s->lane_cost) ||
        !allocate(s, 3 * stride, &s->dv_c) || !allocate(s, 6 * stride, &s->H_G) ||
        !allocate(s, coefficients, &s->batch.coefficients)) {
        return out_of_memory(err);
    }
    for (int32_t i = 0; i < s->batch.count; i++) {
        const stn_constraint *c = &problem->constraints[s->batch.constraint[i]];
        if ((law->ops->sets & 1u << c->set) == 0) {
            return stn_fail(err, STN_ERR_UNSUPPORTED, "constraint %d (id %llx): the law %s does not know the set '%s'",
                            s->batch.constraint[i], (unsigned long long)c->id, law->id,
                            stn_constraint_set_name(c->set));
        }
        for (int64_t a = 0; a < 3; a++) {
            s->bias[a * stride + i] = problem->bias[c->row + a];
        }
    }
    return s->batch.count == 0 ? STN_OK : law->ops->prepare(law->self, problem, &s->batch, s->control->law_memory, err);
}

static stn_status pack_lines(sap_system *s, stn_error *err) {
    const stn_problem *problem = s->problem;
    double **arrays[] = {&s->line_bias, &s->line_R,  &s->line_v_hat, &s->line_lo,
                         &s->line_hi,   &s->line_dv, &s->H_line_G};
    for (int32_t i = 0; i < STN_COUNT(arrays); i++) {
        if (!allocate(s, s->line_stride, arrays[i])) {
            return out_of_memory(err);
        }
    }
    for (int32_t i = 0; i < s->line_count; i++) {
        int32_t row = s->line_row[i];
        s->line_bias[i] = problem->bias[row];
        s->line_R[i] = problem->R[row];
        s->line_v_hat[i] = problem->v_hat[row];
        s->line_lo[i] = problem->lo[row];
        s->line_hi[i] = problem->hi[row];
        if (!(s->line_R[i] > 0.0) || !isfinite(s->line_R[i]) || !isfinite(s->line_v_hat[i]) ||
            !(s->line_lo[i] <= s->line_hi[i])) {
            return stn_fail(
                err, STN_ERR_NUMERIC,
                "row %d: R = %g 1/kg must be > 0, v_hat = %g m/s finite and the bounds [%g, %g] N s ordered", row,
                s->line_R[i], s->line_v_hat[i], s->line_lo[i], s->line_hi[i]);
        }
    }
    return STN_OK;
}

stn_status sap_pack(sap_system *s, const double *v, stn_error *err) {
    int64_t A_size = 0;
    stn_status status = pack_blocks(s, &A_size, err);
    if (status == STN_OK) {
        status = pack_velocities(s, v, A_size, err);
    }
    if (status == STN_OK) {
        status = pack_panels(s, v, err);
    }
    if (status == STN_OK) {
        status = pack_lanes(s, err);
    }
    if (status == STN_OK) {
        status = pack_lines(s, err);
    }
    if (status == STN_OK) {
        status = allocate_point(s, &s->now, err);
    }
    if (status == STN_OK) {
        status = allocate_point(s, &s->trial, err);
    }
    if (status == STN_OK && !(sap_finite(s->nx, s->v) && sap_finite(s->nx, s->v_star) && sap_finite(s->nx, s->force) &&
                              sap_finite(A_size, s->A) && sap_finite(3 * (int64_t)s->batch.stride, s->bias) &&
                              sap_finite(s->line_stride, s->line_bias) && sap_finite(s->nx, s->A_v_star))) {
        status = name_fault(s, v, err);
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
