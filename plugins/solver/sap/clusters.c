// SPDX-License-Identifier: Apache-2.0
// Packing of constraints: sorted by the blocks that they act on, grouped in clusters with their Jacobian panels, and
// cut into the lanes of the law and the lines of boxes and equalities.
#include <math.h>
#include <string.h>

#include "system.h"

/// Where the constraints act: for each up to `width` blocks, ascending, and the values for each (rows x n_block).
/// `order` lists the constraints by first block, second block, cones before lines.
typedef struct placement {
    int32_t width;
    int32_t *count;        // (n)
    int32_t *block;        // (n x width)
    const double **values; // (n x width)
    int32_t *order;        // (n)
} placement;

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

/// Puts a block and its values among those of constraint i; the list stays ascending.
static void place_block(placement *where, int32_t i, int32_t block, const double *values) {
    int32_t *blocks = where->block + (int64_t)i * where->width, at = where->count[i]++;
    const double **sources = where->values + (int64_t)i * where->width;
    for (; at > 0 && blocks[at - 1] > block; at--) {
        blocks[at] = blocks[at - 1];
        sources[at] = sources[at - 1];
    }
    blocks[at] = block;
    sources[at] = values;
}

static void place_constraint(const sap_system *s, int32_t i, placement *where) {
    const stn_constraint *c = &s->problem->constraints[i];
    where->count[i] = 0;
    for (int32_t k = 0; k < 2; k++) {
        const stn_jacobian *J = &c->J[k];
        if (J->tree < 0 || s->problem->trees[J->tree].A.n == 0) {
            continue;
        }
        int32_t first = s->tree_block[J->tree];
        if (J->node_count == 0) {
            place_block(where, i, first, J->values);
        }
        for (int32_t b = 0; b < J->node_count; b++) {
            place_block(where, i, first + J->node[b], J->values + 3 * (int64_t)c->rows * b);
        }
    }
}

/// Sorting key: rank 1 is the first block, rank 0 the second one and cones before lines. Below 2 (block_count + 1).
static int32_t sort_key(const sap_system *s, const placement *where, int32_t i, int32_t rank) {
    int32_t block = where->count[i] > 1 - rank ? where->block[(int64_t)i * where->width + 1 - rank] + 1 : 0;
    return rank == 1 ? block : 2 * block + (stn_constraint_has_cone(&s->problem->constraints[i]) ? 0 : 1);
}

/// Counting sort of `from` (NULL: 0, 1, 2, ...) into `to` by one rank; stable. `start` holds 2 (block_count + 1) + 1.
static void sort_by(const sap_system *s, const placement *where, int32_t rank, int32_t *start, const int32_t *from,
                    int32_t *to) {
    int32_t n = s->problem->constraint_count, buckets = 2 * (s->block_count + 1);
    memset(start, 0, (size_t)(buckets + 1) * sizeof *start);
    for (int32_t i = 0; i < n; i++) {
        start[sort_key(s, where, i, rank) + 1]++;
    }
    for (int32_t k = 0; k < buckets; k++) {
        start[k + 1] += start[k];
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t constraint = from == NULL ? i : from[i];
        to[start[sort_key(s, where, constraint, rank)]++] = constraint;
    }
}

static stn_status place_constraints(sap_system *s, placement *where, stn_error *err) {
    const stn_problem *problem = s->problem;
    stn_arena *arena = s->control->arena;
    const size_t n = (size_t)problem->constraint_count;
    where->width = 2;
    for (size_t i = 0; i < n; i++) {
        const stn_jacobian *J = problem->constraints[i].J;
        where->width = J[0].node_count + J[1].node_count > 0 ? 2 * STN_MAX_NODES : where->width;
    }
    const size_t width = (size_t)where->width;
    int32_t *start = STN_ARENA(arena, 2 * s->block_count + 3, int32_t), *spare = STN_ARENA(arena, n + 1, int32_t);
    where->count = STN_ARENA(arena, n + 1, int32_t);
    where->order = STN_ARENA(arena, n + 1, int32_t);
    where->block = STN_ARENA(arena, n * width + 1, int32_t);
    where->values = STN_ARENA(arena, n * width + 1, const double *);
    if (start == NULL || spare == NULL || where->count == NULL || where->order == NULL || where->block == NULL ||
        where->values == NULL) {
        return out_of_memory(err);
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        place_constraint(s, i, where);
    }
    sort_by(s, where, 0, start, NULL, spare);
    sort_by(s, where, 1, start, spare, where->order);
    return STN_OK;
}

static bool same_blocks(const sap_system *s, const sap_cluster *cluster, const placement *where, int32_t i) {
    bool same = cluster->part_count == where->count[i];
    for (int32_t k = 0; same && k < cluster->part_count; k++) {
        same = s->parts[cluster->part_start + k].block == where->block[(int64_t)i * where->width + k];
    }
    return same;
}

/// A new cluster on the blocks of constraint i, behind all others.
static sap_cluster *begin_cluster(sap_system *s, const placement *where, int32_t i, int32_t *parts) {
    sap_cluster *cluster = &s->clusters[s->cluster_count++];
    *cluster = (sap_cluster){
        .part_start = *parts, .part_count = where->count[i], .lane_start = s->batch.count, .line_start = s->line_count};
    for (int32_t k = 0; k < cluster->part_count; k++) {
        s->parts[(*parts)++].block = where->block[(int64_t)i * where->width + k];
    }
    return cluster;
}

/// Groups the sorted constraints: neighbours on the same blocks share a cluster, in which no cone follows a line.
static void form_clusters(sap_system *s, const placement *where, int32_t *lane_constraint) {
    int32_t parts = 0;
    sap_cluster *cluster = NULL;
    for (int32_t i = 0; i < s->problem->constraint_count; i++) {
        int32_t index = where->order[i];
        const stn_constraint *c = &s->problem->constraints[index];
        bool cone = stn_constraint_has_cone(c);
        if (cluster == NULL || !same_blocks(s, cluster, where, index) || (cone && cluster->line_count > 0)) {
            cluster = begin_cluster(s, where, index, &parts);
        }
        cluster->constraint_count++;
        if (cone) {
            lane_constraint[s->batch.count++] = index;
            cluster->lane_count++;
        } else {
            for (int32_t r = 0; r < c->rows; r++) {
                s->line_row[s->line_count++] = c->row + r;
            }
            cluster->line_count += c->rows;
        }
    }
}

static stn_status pack_clusters(sap_system *s, const placement *where, int64_t *panel_size, stn_error *err) {
    const stn_problem *problem = s->problem;
    stn_arena *arena = s->control->arena;
    const size_t n = (size_t)problem->constraint_count;
    int32_t *lane_constraint = STN_ARENA(arena, n + 1, int32_t);
    s->line_row = STN_ARENA(arena, problem->row_count + 1, int32_t);
    s->clusters = STN_ARENA(arena, n + 1, sap_cluster);
    s->parts = STN_ARENA(arena, n * (size_t)where->width + 1, sap_part);
    if (lane_constraint == NULL || s->line_row == NULL || s->clusters == NULL || s->parts == NULL) {
        return out_of_memory(err);
    }
    form_clusters(s, where, lane_constraint);
    s->batch.constraint = lane_constraint;
    s->batch.stride = (s->batch.count + STN_LANES - 1) / STN_LANES * STN_LANES;
    s->line_stride = (s->line_count + 7) / 8 * 8;

    int64_t size = 0;
    for (int32_t k = 0; k < s->cluster_count; k++) {
        sap_cluster *cluster = &s->clusters[k];
        cluster->rows = (3 * cluster->lane_count + cluster->line_count + 3) / 4 * 4;
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

STN_KERNEL static void fill_panels(sap_system *s, const placement *where) {
    const int32_t *order = where->order;
    for (int32_t k = 0; k < s->cluster_count; k++) {
        const sap_cluster *cluster = &s->clusters[k];
        const sap_part *parts = s->parts + cluster->part_start;
        int64_t row = 0;
        for (int32_t i = 0; i < cluster->constraint_count; i++, order++) {
            const double **values = where->values + (int64_t)*order * where->width;
            int32_t rows = s->problem->constraints[*order].rows;
            for (int32_t p = 0; p < cluster->part_count; p++) {
                int64_t n = s->blocks[parts[p].block].n, ld = s->blocks[parts[p].block].ld;
                double *panel = s->panels + parts[p].panel + row * ld;
                if (n == 6) {
                    sap_copy_padded_6(rows, values[p], panel);
                } else {
                    sap_copy_padded(rows, n, ld, values[p], panel);
                }
            }
            row += rows;
        }
        for (int32_t p = 0; p < cluster->part_count; p++) {
            int64_t ld = s->blocks[parts[p].block].ld;
            memset(s->panels + parts[p].panel + row * ld, 0, (size_t)((cluster->rows - row) * ld) * sizeof *s->panels);
        }
    }
}

static stn_status pack_panels(sap_system *s, const double *v, stn_error *err) {
    placement where;
    int64_t panel_size = 0;
    stn_status status = place_constraints(s, &where, err);
    if (status == STN_OK) {
        status = pack_clusters(s, &where, &panel_size, err);
    }
    if (status != STN_OK) {
        return status;
    }
    s->panels = STN_ARENA(s->control->arena, panel_size + 8, double);
    s->rows = STN_ARENA(s->control->arena, s->row_count + 8, double);
    if (s->panels == NULL || s->rows == NULL) {
        return out_of_memory(err);
    }
    fill_panels(s, &where);
    return sap_finite(panel_size, s->panels) ? STN_OK : sap_name_fault(s, v, err);
}

static bool allocate_point(sap_system *s, sap_point *point) {
    int64_t stride = s->batch.stride, lines = s->line_stride;
    const sap_array arrays[] = {{&point->v, 3 * stride}, {&point->gamma, 3 * stride}, {&point->G, 6 * stride},
                                {&point->line_v, lines}, {&point->line_gamma, lines}, {&point->line_G, lines}};
    return sap_allocate_all(s, STN_COUNT(arrays), arrays);
}

/// Padding lanes stay at velocity 0.
static void clear_padding(const sap_system *s, double *lanes) {
    for (int32_t a = 0; a < 3; a++) {
        for (int32_t i = s->batch.count; i < s->batch.stride; i++) {
            lanes[a * s->batch.stride + i] = 0.0;
        }
    }
}

static stn_status pack_lanes(sap_system *s, stn_error *err) {
    const int64_t stride = s->batch.stride;
    const stn_problem *problem = s->problem;
    const stn_law *law = s->control->law;
    if (s->batch.count > 0 && law == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "contacts need a law, and none was given");
    }
    int64_t coefficients = s->batch.count > 0 ? law->ops->coefficient_count * stride : 0;
    const sap_array arrays[] = {{&s->bias, 3 * stride},      {&s->lane_cost, stride},
                                {&s->dv_c, 3 * stride},      {&s->H_G, 6 * stride},
                                {&s->predicted, 3 * stride}, {&s->batch.coefficients, coefficients}};
    if (!sap_allocate_all(s, STN_COUNT(arrays), arrays) || !allocate_point(s, &s->now) ||
        !allocate_point(s, &s->trial)) {
        return out_of_memory(err);
    }
    clear_padding(s, s->bias);
    clear_padding(s, s->now.v);
    clear_padding(s, s->trial.v);
    clear_padding(s, s->dv_c);
    clear_padding(s, s->predicted);
    for (int32_t i = 0; i < s->batch.count; i++) {
        const stn_constraint *c = &problem->constraints[s->batch.constraint[i]];
        if ((law->ops->sets & 1u << c->set) == 0) {
            return stn_fail(err, STN_ERR_UNSUPPORTED, "constraint %d (id %llx): the law %s does not know the set '%s'",
                            s->batch.constraint[i], (unsigned long long)c->id, law->id,
                            stn_constraint_set_name(c->set));
        }
        for (int64_t a = 0; a < 3; a++) {
            s->bias[a * stride + i] = problem->bias[c->row + a];
            s->predicted[a * stride + i] = problem->gamma_guess[c->row + a];
        }
    }
    if (s->batch.count == 0) {
        return STN_OK;
    }
    stn_status status = law->ops->prepare(law->self, problem, &s->batch, s->control->law_memory, err);
    if (status < 0) {
        stn_error_prefix(err, "law %s", law->id);
    }
    return status;
}

static stn_status pack_lines(sap_system *s, stn_error *err) {
    const stn_problem *problem = s->problem;
    const int64_t lines = s->line_stride;
    const sap_array arrays[] = {{&s->line_bias, lines}, {&s->line_R, lines},  {&s->line_v_hat, lines},
                                {&s->line_lo, lines},   {&s->line_hi, lines}, {&s->line_dv, lines},
                                {&s->H_line_G, lines}};
    if (!sap_allocate_all(s, STN_COUNT(arrays), arrays)) {
        return out_of_memory(err);
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

stn_status sap_pack_constraints(sap_system *s, const double *v, stn_error *err) {
    stn_status status = pack_panels(s, v, err);
    if (status == STN_OK) {
        status = pack_lanes(s, err);
    }
    if (status == STN_OK) {
        status = pack_lines(s, err);
    }
    if (status == STN_OK &&
        !(sap_finite(3 * (int64_t)s->batch.stride, s->bias) && sap_finite(s->line_stride, s->line_bias))) {
        status = sap_name_fault(s, v, err);
    }
    return status;
}
