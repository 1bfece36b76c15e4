// SPDX-License-Identifier: Apache-2.0
// Packing, once per problem: trees become blocks; constraints are sorted by the blocks that they act on, grouped in
// clusters with their Jacobian panels, and numbered as lanes and lines.
#include <string.h>

#include "common/augmented.h"
#include "common/vectors.h"

static stn_status out_of_memory(const augmented *h, stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "A + J^T G J of %d dofs: out of memory", h->problem->nv);
}

// ------------------------------------------------------------------------------------------------------------- blocks

static void add_block(augmented *h, int32_t tree, int32_t dof, int32_t n) {
    augmented_block *block = &h->blocks[h->block_count++];
    const bool told = h->bodies[tree].n > 0;
    *block = (augmented_block){n, (n + 3) / 4 * 4, tree, dof, h->nx, h->nv, told ? -1 : h->A_size};
    h->nx += block->ld;
    h->nv += n;
    h->A_size += told ? 0 : (int64_t)n * block->ld;
}

/// The diagonal blocks of A, rows padded.
STN_KERNEL static void fill_blocks(const augmented *h) {
    for (int32_t b = 0; b < h->block_count; b++) {
        const augmented_block *block = &h->blocks[b];
        const stn_matrix *A = &h->problem->trees[block->tree].A;
        const int64_t n = block->n, ld = block->ld;
        double *out = h->A + block->A;
        if (block->A < 0) {
            continue;
        }
        if (A->form == STN_MATRIX_DENSE && n == 6) {
            copy_padded_6(6, A->values, out);
        } else if (A->form == STN_MATRIX_DENSE) {
            copy_padded(n, n, ld, A->values, out);
        } else if (A->form == STN_MATRIX_NODAL) {
            const int32_t node = b - h->tree_block[block->tree];
            const int32_t e = stn_nodal_entry(A->row_start, A->column, node, node);
            copy_padded(n, n, ld, A->values + n * n * e, out);
        } else {
            memset(out, 0, (size_t)(n * ld) * sizeof *out);
            for (int64_t i = 0; i < n && A->form == STN_MATRIX_DIAGONAL; i++) {
                out[i * ld + i] = A->values[i];
            }
        }
    }
}

static stn_status pack_blocks(augmented *h, stn_error *err) {
    const stn_problem *problem = h->problem;
    stn_arena *arena = h->control->arena;
    int64_t count = 0;
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_matrix *A = &problem->trees[t].A;
        count += A->form == STN_MATRIX_NODAL ? A->node_count : 1;
    }
    h->blocks = STN_ARENA(arena, count + 1, augmented_block);
    h->tree_block = STN_ARENA(arena, problem->tree_count + 1, int32_t);
    h->bodies = STN_ARENA_ZEROED(arena, problem->tree_count + 1, stn_articulated);
    h->own_A = STN_ARENA_ZEROED(arena, problem->tree_count + 1, double *);
    if (h->blocks == NULL || h->tree_block == NULL || h->bodies == NULL || h->own_A == NULL) {
        return out_of_memory(h, err);
    }
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_problem_tree *tree = &problem->trees[t];
        if (tree->A.form == STN_MATRIX_ARTICULATED) {
            double *values = STN_ARENA(arena, STN_ARTICULATED_VALUES(tree->A.n), double);
            if (values == NULL) {
                return out_of_memory(h, err);
            }
            h->bodies[t] = (stn_articulated){tree->A.n, tree->parent, tree->motion, values};
        }
    }
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_problem_tree *tree = &problem->trees[t];
        h->tree_block[t] = h->block_count;
        if (tree->A.form == STN_MATRIX_NODAL) {
            h->nodal = true;
            for (int32_t i = 0; i < tree->A.node_count; i++) {
                add_block(h, t, tree->dof_start + tree->A.node_size * i, tree->A.node_size);
            }
        } else if (tree->A.n > 0) {
            add_block(h, t, tree->dof_start, tree->A.n);
        }
    }
    h->nx = (h->nx + 7) / 8 * 8;
    h->A = STN_ARENA(arena, h->A_size + 8, double);
    if (h->A == NULL) {
        return out_of_memory(h, err);
    }
    memset(h->A + h->A_size, 0, 8 * sizeof *h->A);
    fill_blocks(h);
    return STN_OK;
}

// ----------------------------------------------------------------------------------------- where the constraints act

/// For each constraint up to `width` blocks, ascending, and the values for each (rows x n_block). `order` lists the
/// constraints by first block, second block, cones before lines.
typedef struct placement {
    int32_t width;
    bool *wrench;          // (n) it goes through the motion of its tree
    bool *unit;            // (n) it is a row of one dof of an articulated tree
    int32_t *count;        // (n)
    int32_t *block;        // (n x width)
    const double **values; // (n x width)
    int32_t *order;        // (n)
} placement;

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

/// How many blocks a Jacobian of a constraint has.
static int32_t count_blocks(const stn_problem *problem, const stn_jacobian *J) {
    const stn_matrix *A = &problem->trees[J->tree].A;
    return A->n == 0 ? 0 : A->form != STN_MATRIX_NODAL ? 1 : J->node_count > 0 ? J->node_count : A->node_count;
}

/// A side whose Jacobian is by nodes although A is not, or the other way, or a wrench: a copy in the form of A.
/// Problems of files may have the former.
static bool place_copy(const augmented *h, int32_t i, const stn_jacobian *J, placement *where) {
    const stn_matrix *A = &h->problem->trees[J->tree].A;
    const int32_t rows = h->problem->constraints[i].rows, first = h->tree_block[J->tree];
    const int32_t m = A->node_size;
    double *copy = STN_ARENA_ZEROED(h->control->arena, (size_t)rows * (size_t)A->n, double);
    if (copy == NULL) {
        return false;
    }
    if (A->form != STN_MATRIX_NODAL) {
        stn_jacobian_expand(h->problem, J, rows, copy);
        place_block(where, i, first, copy);
        return true;
    }
    for (int32_t b = 0; b < A->node_count; b++, copy += m * rows) {
        for (int32_t e = 0; e < m * rows; e++) {
            copy[e] = J->values[(size_t)(e / m) * (size_t)A->n + (size_t)(m * b + e % m)];
        }
        place_block(where, i, first + b, copy);
    }
    return true;
}

/// Contacts of one body with what has no dofs, of a tree that tells its motion and is not small.
static bool has_wrench(const stn_problem *problem, const stn_constraint *c) {
    const stn_jacobian *J = &c->J[0];
    return stn_constraint_has_cone(c) && stn_constraint_block_count(c) == 1 && J->wrench != NULL &&
           problem->trees[J->tree].motion != NULL &&
           (problem->trees[J->tree].A.form == STN_MATRIX_DENSE ||
            problem->trees[J->tree].A.form == STN_MATRIX_ARTICULATED);
}

/// Limits, friction and motors of a joint of a large tree.
static bool is_unit(const stn_problem *problem, const stn_constraint *c) {
    const stn_jacobian *J = &c->J[0];
    return c->rows == 1 && stn_constraint_block_count(c) == 1 && J->node_count == 1 && J->node_size == 1 &&
           problem->trees[J->tree].A.form == STN_MATRIX_ARTICULATED;
}

/// Sorting key: rank 1 is the first block, rank 0 the second one, and wrenches before cones before lines before lines
/// of one dof. Below 4 (block_count + 1).
static int32_t sort_key(const augmented *h, const placement *where, int32_t i, int32_t rank) {
    int32_t block = where->count[i] > 1 - rank ? where->block[(int64_t)i * where->width + 1 - rank] + 1 : 0;
    if (rank == 1) {
        return block;
    }
    const bool cone = stn_constraint_has_cone(&h->problem->constraints[i]);
    return 4 * block + (where->wrench[i] ? 0 : cone ? 1 : where->unit[i] ? 3 : 2);
}

/// Are the constraints in their order as they come, as the contacts of one body are?
static bool is_sorted(const augmented *h, const placement *where, int32_t buckets) {
    int64_t last = -1;
    for (int32_t i = 0; i < h->problem->constraint_count; i++) {
        const int64_t key = (int64_t)buckets * sort_key(h, where, i, 1) + sort_key(h, where, i, 0);
        if (key < last) {
            return false;
        }
        last = key;
    }
    return true;
}

static stn_status place_constraints(augmented *h, placement *where, stn_error *err) {
    const stn_problem *problem = h->problem;
    stn_arena *arena = h->control->arena;
    const int32_t n = problem->constraint_count, buckets = 4 * (h->block_count + 1);
    where->width = 2;
    for (int32_t i = 0; i < n; i++) {
        const stn_constraint *c = &problem->constraints[i];
        int32_t count = h->nodal ? 0 : 2 + c->more_count;
        for (int32_t k = 0; h->nodal && k < stn_constraint_block_count(c); k++) {
            count += count_blocks(problem, stn_constraint_block(c, k));
        }
        where->width = count > where->width ? count : where->width;
    }
    const size_t size = (size_t)n * (size_t)where->width;
    int32_t *start = STN_ARENA(arena, buckets + 1, int32_t), *spare = STN_ARENA(arena, n + 1, int32_t);
    where->count = STN_ARENA(arena, n + 1, int32_t);
    where->wrench = STN_ARENA(arena, n + 1, bool);
    where->unit = STN_ARENA(arena, n + 1, bool);
    where->order = STN_ARENA(arena, n + 1, int32_t);
    where->block = STN_ARENA(arena, size + 1, int32_t);
    where->values = STN_ARENA(arena, size + 1, const double *);
    if (start == NULL || spare == NULL || where->count == NULL || where->wrench == NULL || where->unit == NULL ||
        where->order == NULL || where->block == NULL || where->values == NULL) {
        return out_of_memory(h, err);
    }
    for (int32_t i = 0; i < n; i++) {
        const stn_constraint *c = &problem->constraints[i];
        const int32_t sides = stn_constraint_block_count(c);
        where->count[i] = 0;
        where->wrench[i] = has_wrench(problem, c);
        where->unit[i] = is_unit(problem, c);
        if (where->unit[i]) {
            place_block(where, i, h->tree_block[c->J[0].tree], c->J[0].values);
            continue;
        }
        for (int32_t k = 0; k < sides; k++) {
            const stn_jacobian *J = stn_constraint_block(c, k);
            if (problem->trees[J->tree].A.n == 0) {
                continue;
            }
            int32_t first = h->tree_block[J->tree];
            if ((J->node_count > 0) != (problem->trees[J->tree].A.form == STN_MATRIX_NODAL) ||
                (J->values == NULL && !where->wrench[i])) {
                if (!place_copy(h, i, J, where)) {
                    return out_of_memory(h, err);
                }
                continue;
            }
            if (J->node_count == 0) {
                place_block(where, i, first, J->values);
            }
            for (int32_t b = 0; b < J->node_count; b++) {
                place_block(where, i, first + J->node[b], J->values + J->node_size * (int64_t)c->rows * b);
            }
        }
    }
    const bool sorted = is_sorted(h, where, buckets);
    for (int32_t i = 0; i < n && sorted; i++) {
        where->order[i] = i;
    }
    for (int32_t rank = 0; rank < 2 && !sorted; rank++) { // counting sorts, stable: the last one decides first
        const int32_t *from = rank == 0 ? NULL : spare;
        int32_t *to = rank == 0 ? spare : where->order;
        memset(start, 0, (size_t)(buckets + 1) * sizeof *start);
        for (int32_t i = 0; i < n; i++) {
            start[sort_key(h, where, i, rank) + 1]++;
        }
        for (int32_t k = 0; k < buckets; k++) {
            start[k + 1] += start[k];
        }
        for (int32_t i = 0; i < n; i++) {
            int32_t constraint = from == NULL ? i : from[i];
            to[start[sort_key(h, where, constraint, rank)]++] = constraint;
        }
    }
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------------------- clusters

/// Numbers of a row in the panel of a part.
static int32_t panel_width(const augmented *h, const augmented_cluster *cluster, const augmented_part *part) {
    return cluster->unit ? 1 : cluster->motion >= 0 ? 8 : h->blocks[part->block].ld;
}

/// Numbers of the whole panel, a multiple of 8.
static int64_t panel_size(const augmented *h, const augmented_cluster *cluster, const augmented_part *part) {
    return ((int64_t)cluster->rows * panel_width(h, cluster, part) + 7) / 8 * 8;
}

/// Groups the sorted constraints: neighbours on the same blocks share a cluster, in which no cone follows a line. Then
/// places rows and panels.
static stn_status form_clusters(augmented *h, const placement *where, stn_error *err) {
    const stn_problem *problem = h->problem;
    stn_arena *arena = h->control->arena;
    const size_t n = (size_t)problem->constraint_count;
    h->lane_constraint = STN_ARENA(arena, n + 1, int32_t);
    h->lane_tip = STN_ARENA(arena, n + 1, int32_t);
    h->line_row = STN_ARENA(arena, problem->row_count + 1, int32_t);
    h->line_dof = STN_ARENA(arena, problem->row_count + 1, int32_t);
    h->clusters = STN_ARENA(arena, n + 1, augmented_cluster);
    h->parts = STN_ARENA(arena, n * (size_t)where->width + 1, augmented_part);
    if (h->lane_constraint == NULL || h->lane_tip == NULL || h->line_row == NULL || h->line_dof == NULL ||
        h->clusters == NULL || h->parts == NULL) {
        return out_of_memory(h, err);
    }
    int32_t parts = 0;
    augmented_cluster *cluster = NULL;
    for (size_t i = 0; i < n; i++) {
        int32_t index = where->order[i];
        const stn_constraint *c = &problem->constraints[index];
        const int32_t *blocks = where->block + (int64_t)index * where->width;
        bool cone = stn_constraint_has_cone(c), wrench = where->wrench[index];
        bool same = cluster != NULL && cluster->part_count == where->count[index] && wrench == (cluster->motion >= 0) &&
                    cluster->unit == where->unit[index];
        for (int32_t k = 0; same && k < cluster->part_count; k++) {
            same = h->parts[cluster->part_start + k].block == blocks[k];
        }
        if (!same || (cone && cluster->line_count > 0)) {
            cluster = &h->clusters[h->cluster_count++];
            *cluster = (augmented_cluster){.part_start = parts,
                                           .part_count = where->count[index],
                                           .lane_start = h->lane_count,
                                           .line_start = h->line_count,
                                           .motion = wrench ? h->motion_count++ : -1,
                                           .unit = where->unit[index]};
            for (int32_t k = 0; k < cluster->part_count; k++) {
                h->parts[parts++].block = blocks[k];
            }
        }
        cluster->constraint_count++;
        if (cone) {
            h->lane_tip[h->lane_count] = c->J[0].tip;
            h->lane_constraint[h->lane_count++] = index;
            cluster->lane_count++;
        } else {
            for (int32_t r = 0; r < c->rows; r++) {
                h->line_dof[h->line_count] = cluster->unit ? c->J[0].node[0] : -1;
                h->line_row[h->line_count++] = c->row + r;
            }
            cluster->line_count += c->rows;
        }
    }
    h->lane_stride = (h->lane_count + STN_LANES - 1) / STN_LANES * STN_LANES;
    h->line_stride = (h->line_count + 7) / 8 * 8;
    for (int32_t k = 0; k < h->cluster_count; k++) {
        cluster = &h->clusters[k];
        cluster->rows = (3 * cluster->lane_count + cluster->line_count + 3) / 4 * 4;
        cluster->row_start = h->row_count;
        h->row_count += cluster->rows;
        for (int32_t p = 0; p < cluster->part_count; p++) {
            augmented_part *part = &h->parts[cluster->part_start + p];
            part->panel = h->panel_size;
            h->panel_size += panel_size(h, cluster, part);
        }
    }
    return STN_OK;
}

/// How the trees that have wrenches move.
static stn_status form_motions(augmented *h, stn_error *err) {
    stn_arena *arena = h->control->arena;
    h->motions = h->motion_count > 0 ? STN_ARENA(arena, h->motion_count, augmented_motion) : NULL;
    for (int32_t k = 0; k < h->cluster_count && h->motion_count > 0; k++) {
        const augmented_cluster *cluster = &h->clusters[k];
        if (cluster->motion >= 0) {
            const int32_t tree = h->blocks[h->parts[cluster->part_start].block].tree;
            if (h->motions == NULL ||
                !augmented_motion_build(&h->problem->trees[tree], arena, &h->motions[cluster->motion])) {
                return out_of_memory(h, err);
            }
        }
    }
    return STN_OK;
}

STN_KERNEL static void fill_panels(augmented *h, const placement *where) {
    const int32_t *order = where->order;
    for (int32_t k = 0; k < h->cluster_count; k++) {
        const augmented_cluster *cluster = &h->clusters[k];
        const augmented_part *parts = h->parts + cluster->part_start;
        int64_t row = 0;
        for (int32_t i = 0; i < cluster->constraint_count; i++, order++) {
            const double **values = where->values + (int64_t)*order * where->width;
            int32_t rows = h->problem->constraints[*order].rows;
            for (int32_t p = 0; p < cluster->part_count; p++) {
                const bool wrench = cluster->motion >= 0;
                int64_t n = wrench ? 6 : h->blocks[parts[p].block].n, ld = panel_width(h, cluster, &parts[p]);
                double *panel = h->panels + parts[p].panel + row * ld;
                if (cluster->unit) {
                    *panel = *values[p];
                } else if (wrench) {
                    memcpy(panel, h->problem->constraints[*order].J[0].wrench, (size_t)(rows * ld) * sizeof *panel);
                } else if (n == 6) {
                    copy_padded_6(rows, values[p], panel);
                } else {
                    copy_padded(rows, n, ld, values[p], panel);
                }
            }
            row += rows;
        }
        for (int32_t p = 0; p < cluster->part_count; p++) {
            const int64_t used = row * panel_width(h, cluster, &parts[p]);
            memset(h->panels + parts[p].panel + used, 0,
                   (size_t)(panel_size(h, cluster, &parts[p]) - used) * sizeof *h->panels);
        }
    }
}

/// Which clusters act on which block, in their order.
static stn_status list_touches(augmented *h, stn_error *err) {
    stn_arena *arena = h->control->arena;
    int32_t total = 0;
    for (int32_t k = 0; k < h->cluster_count; k++) {
        total += h->clusters[k].part_count;
    }
    h->touch_start = STN_ARENA_ZEROED(arena, h->block_count + 2, int32_t);
    h->touches = STN_ARENA(arena, total + 1, augmented_touch);
    if (h->touch_start == NULL || h->touches == NULL) {
        return out_of_memory(h, err);
    }
    for (int32_t p = 0; p < total; p++) {
        h->touch_start[h->parts[p].block + 2]++;
    }
    for (int32_t b = 0; b < h->block_count; b++) {
        h->touch_start[b + 2] += h->touch_start[b + 1];
    }
    for (int32_t k = 0; k < h->cluster_count; k++) {
        for (int32_t p = h->clusters[k].part_start; p < h->clusters[k].part_start + h->clusters[k].part_count; p++) {
            h->touches[h->touch_start[h->parts[p].block + 1]++] = (augmented_touch){k, p};
        }
    }
    return STN_OK;
}

stn_status augmented_pack(augmented *h, const stn_problem *problem, const stn_solve_control *control, stn_error *err) {
    placement where;
    *h = (augmented){.problem = problem, .control = control};
    if (control->workspace == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "no workspace was given");
    }
    stn_status status = pack_blocks(h, err);
    if (status == STN_OK) {
        status = place_constraints(h, &where, err);
    }
    if (status == STN_OK) {
        status = form_clusters(h, &where, err);
    }
    if (status == STN_OK) {
        status = form_motions(h, err);
    }
    if (status == STN_OK && stn_threads_count(control->threads) > 1) {
        status = list_touches(h, err);
    }
    if (status != STN_OK) {
        return status;
    }
    h->panels = STN_ARENA(control->arena, h->panel_size + 8, double); // tiles read beyond the end
    h->stacked = STN_ARENA(control->arena, h->row_count + 8, double);
    if (h->panels == NULL || h->stacked == NULL) {
        return out_of_memory(h, err);
    }
    fill_panels(h, &where);
    return STN_OK;
}
