// SPDX-License-Identifier: Apache-2.0
// Which blocks of H there are, which products of clusters each of them is the sum of, and where it is.
#include "common/augmented.h"

#include <string.h>

static stn_status out_of_memory(const augmented *h, stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "A + J^T G J of %d dofs: out of memory", h->problem->nv);
}

/// Counts, or lists when `terms` is given, the blocks of nodal matrices below the diagonal.
static void nodal_terms(const augmented *h, int32_t *position, augmented_term *terms) {
    for (int32_t t = 0; t < h->problem->tree_count; t++) {
        const stn_matrix *A = &h->problem->trees[t].A;
        int32_t first = h->tree_block[t];
        for (int32_t i = 0; A->form == STN_MATRIX_NODAL && i < A->node_count; i++) {
            for (int32_t e = A->row_start[i]; e < A->row_start[i + 1] && A->column[e] < i; e++) {
                int32_t at = position[first + A->column[e]]++;
                if (terms != NULL) {
                    terms[at] = (augmented_term){first + i, -1, e};
                }
            }
        }
    }
}

/// Products on the diagonal first: what follows in a column is then nearly in order already.
static void cluster_terms(const augmented *h, bool diagonal, int32_t *position) {
    for (int32_t k = 0; k < h->cluster_count; k++) {
        const augmented_cluster *cluster = &h->clusters[k];
        const augmented_part *parts = h->parts + cluster->part_start;
        int64_t width = 0;
        for (int32_t q = 0; q < cluster->part_count; q++) {
            int32_t end = diagonal ? q + 1 : cluster->part_count;
            for (int32_t p = diagonal ? q : q + 1; p < end; p++) {
                int64_t product = parts[p].product + h->blocks[parts[p].block].n * width;
                h->terms[position[parts[q].block]++] = (augmented_term){parts[p].block, k, product};
            }
            width += h->blocks[parts[q].block].ld;
        }
    }
}

/// One entry for each row that occurs among the terms of a column, the diagonal always.
static void form_entries(augmented *h, int32_t column, int32_t start, int32_t end) {
    const augmented_block *block = &h->blocks[column];
    augmented_entry *entry = &h->entries[h->entry_count++];
    *entry = (augmented_entry){
        .row = column, .column = column, .term_start = start, .A = augmented_A(h, block), .A_ld = block->ld};
    for (int32_t t = start + 1; t < end; t++) { // insertion: stable, and one pass when in order
        augmented_term term = h->terms[t];
        int32_t at = t;
        for (; at > start && h->terms[at - 1].row > term.row; at--) {
            h->terms[at] = h->terms[at - 1];
        }
        h->terms[at] = term;
    }
    for (int32_t t = start; t < end; t++) {
        const augmented_term *term = &h->terms[t];
        if (term->row != entry->row) {
            entry = &h->entries[h->entry_count++];
            *entry = (augmented_entry){.row = term->row, .column = column, .term_start = t};
        }
        if (term->cluster < 0) { // comes first among its row's
            entry->A = h->problem->trees[block->tree].A.values + (int64_t)block->n * block->n * term->product;
            entry->A_ld = block->n;
            entry->term_start++;
        } else {
            entry->term_count++;
        }
    }
}

static stn_status list_entries(augmented *h, stn_error *err) {
    stn_arena *arena = h->control->arena;
    const int32_t n = h->block_count;
    int32_t *start = STN_ARENA_ZEROED(arena, n + 1, int32_t), *position = STN_ARENA(arena, n + 1, int32_t);
    if (start == NULL || position == NULL) {
        return out_of_memory(h, err);
    }
    // room for the products of all clusters, and how many terms every column has
    int64_t product_size = 0, scratch_size = 0;
    int32_t rows = 0;
    for (int32_t k = 0; k < h->cluster_count; k++) {
        const augmented_cluster *cluster = &h->clusters[k];
        augmented_part *parts = h->parts + cluster->part_start;
        int64_t width = 0;
        rows = cluster->rows > rows ? cluster->rows : rows;
        for (int32_t p = 0; p < cluster->part_count; p++) {
            const augmented_block *block = &h->blocks[parts[p].block];
            int64_t panel = (int64_t)cluster->rows * block->ld;
            scratch_size = panel > scratch_size ? panel : scratch_size;
            width += block->ld;
            parts[p].product = product_size;
            product_size += block->n * width;
            start[parts[p].block] += cluster->part_count - p;
        }
    }
    nodal_terms(h, start, NULL);
    int32_t total = 0;
    for (int32_t b = 0; b <= n; b++) {
        int32_t count = start[b];
        start[b] = position[b] = total;
        total += count;
    }
    h->terms = STN_ARENA(arena, total + 1, augmented_term);
    h->entries = STN_ARENA(arena, (size_t)total + (size_t)n + 1, augmented_entry);
    h->product = STN_ARENA(arena, product_size + 8, double);
    const size_t workers = (size_t)stn_threads_count(h->control->threads);
    h->scratch_size = ((size_t)scratch_size + 8 + 31) / 16 * 16; // tiles read beyond the end; no cache line is shared
    h->active_size = (rows + 1 + 63) / 32 * 32;
    h->scratch = STN_ARENA(arena, workers * h->scratch_size, double);
    h->active = STN_ARENA(arena, 2 * workers * (size_t)h->active_size, augmented_row);
    h->line_G = STN_ARENA(arena, h->line_stride + 1, double);
    if (h->terms == NULL || h->entries == NULL || h->product == NULL || h->scratch == NULL || h->active == NULL ||
        h->line_G == NULL) {
        return out_of_memory(h, err);
    }
    for (int32_t k = 0; k < h->cluster_count; k++) { // between branches there is nothing, ever
        const augmented_part *part = &h->parts[h->clusters[k].part_start];
        if (h->clusters[k].motion >= 0 || h->clusters[k].unit) {
            const augmented_block *block = &h->blocks[part->block];
            memset(h->product + part->product, 0, (size_t)block->n * (size_t)block->ld * sizeof *h->product);
        }
    }
    nodal_terms(h, position, h->terms);
    cluster_terms(h, true, position);
    cluster_terms(h, false, position);
    for (int32_t b = 0; b < n; b++) {
        form_entries(h, b, start[b], start[b + 1]);
    }
    return STN_OK;
}

/// Has every row of the cluster one dof, so that it leaves the zeros of H?
static bool has_unit_rows(const augmented *h, const augmented_cluster *cluster) {
    const augmented_part *part = &h->parts[cluster->part_start];
    const augmented_block *block = &h->blocks[part->block];
    for (int32_t r = 0; r < cluster->rows && cluster->part_count > 0 && !cluster->unit; r++) {
        const double *row = h->panels + part->panel + (int64_t)r * block->ld;
        int32_t count = 0;
        for (int32_t i = 0; i < block->n; i++) {
            count += row[i] != 0.0 ? 1 : 0;
        }
        if (count > 1) {
            return false;
        }
    }
    return true;
}

/// Branches of a lone large tree: of dofs of which none carries the other H holds nothing unless A or a row couples
/// them.
static stn_status find_branches(augmented *h, stn_error *err) {
    stn_arena *arena = h->control->arena;
    const augmented_block *block = h->blocks;
    const int32_t *parent = h->block_count == 1 ? h->problem->trees[block->tree].parent : NULL;
    bool apart = parent != NULL;
    for (int32_t k = 0; k < h->cluster_count && apart; k++) {
        apart = h->clusters[k].motion >= 0 || has_unit_rows(h, &h->clusters[k]);
    }
    if (!apart) {
        return STN_OK;
    }
    double *pattern = STN_ARENA(arena, (size_t)block->n * (size_t)block->ld + 8, double);
    h->ltl = (stn_ltl){block->n, STN_ARENA(arena, STN_LTL_VALUES(block->n), double),
                       STN_ARENA(arena, 2 * block->n, int32_t)};
    if (pattern == NULL || h->ltl.values == NULL || h->ltl.shape == NULL) {
        return out_of_memory(h, err);
    }
    memcpy(pattern, augmented_A(h, block), (size_t)block->n * (size_t)block->ld * sizeof *pattern);
    for (int32_t j = 0; j < block->n; j++) {
        for (int32_t i = j; i >= 0; i = parent[i]) {
            pattern[(int64_t)i * block->ld + j] = 1.0;
        }
    }
    h->branched = stn_ltl_analyse(&h->ltl, pattern, block->ld);
    return STN_OK;
}

/// Takes the form of stn_articulated where H has it.
static stn_status find_bodies(augmented *h, stn_error *err) {
    stn_arena *arena = h->control->arena;
    if (h->block_count != 1 || h->bodies[h->blocks->tree].n == 0 || h->proximal != NULL) {
        return STN_OK;
    }
    const stn_problem_tree *tree = &h->problem->trees[h->blocks->tree];
    const size_t n = (size_t)tree->A.n;
    bool fits = true;
    for (int32_t k = 0; k < h->cluster_count && fits; k++) {
        fits = h->clusters[k].motion >= 0 || (h->clusters[k].lane_count == 0 && has_unit_rows(h, &h->clusters[k]));
    }
    if (!fits) {
        return STN_OK;
    }
    h->inertia = STN_ARENA(arena, 48 * n, double);
    h->extra = STN_ARENA(arena, n, double);
    if (h->inertia == NULL || h->extra == NULL) {
        return out_of_memory(h, err);
    }
    for (int32_t k = 0; k < h->cluster_count; k++) {
        const augmented_cluster *cluster = &h->clusters[k];
        const double *row = h->panels + h->parts[cluster->part_start].panel;
        for (int32_t i = 0; i < cluster->line_count && !cluster->unit; i++, row += h->blocks->ld) {
            int32_t dof = 0;
            while (dof + 1 < tree->A.n && row[dof] == 0.0) {
                dof++;
            }
            h->line_dof[cluster->line_start + i] = dof;
        }
    }
    h->articulated = true;
    return STN_OK;
}

/// Makes H iterative where that is asked for, or worth it: beyond some multiplications a block of a whole factor.
static stn_status analyse_incomplete(augmented *h, augmented_form form, stn_error *err) {
    enum { LEAST = 200, WORTH = 3000 };
    const bool sure = form == AUGMENTED_ITERATIVE;
    const stn_block_pattern *pattern = &h->matrix.pattern;
    stn_arena *arena = h->control->arena;
    stn_block_tree tree;
    if (!sure && (h->block_count < LEAST || h->nodal || h->proximal != NULL)) {
        return STN_OK;
    }
    if (!incomplete_order(pattern, arena, &tree, &h->incomplete)) {
        return out_of_memory(h, err);
    }
    h->iterative = sure || h->incomplete.complete_work > (double)WORTH * h->block_count;
    return !h->iterative || incomplete_analyse(pattern, h->control->threads, arena, &tree, &h->incomplete)
               ? STN_OK
               : out_of_memory(h, err);
}

/// The symbolic factor of H by blocks; `chosen`: by the factor plugin.
static stn_status analyse_whole(augmented *h, bool chosen, stn_error *err) {
    const stn_solve_control *control = h->control;
    stn_arena *arena = control->arena;
    const int32_t n = h->block_count;
    stn_status status = STN_OK;
    h->ops = chosen ? control->factor : stn_factor_block();
    symbolic_key key = {h->ops, chosen ? control->factor_self : NULL, &h->matrix.pattern};
    if (h->nodal && h->ops->order != NULL) {
        int32_t *order = STN_ARENA(arena, n + 1, int32_t);
        status = order != NULL ? augmented_order(h, &key, order, err) : out_of_memory(h, err);
        h->matrix.pattern.order = order;
    }
    if (h->nodal && h->ops->refactor != NULL) {
        h->changing = STN_ARENA_ZEROED(arena, n + 1, bool);
        for (int32_t k = 0; k < h->cluster_count && h->changing != NULL; k++) {
            const augmented_cluster *cluster = &h->clusters[k];
            for (int32_t p = 0; p < cluster->part_count; p++) {
                h->changing[h->parts[cluster->part_start + p].block] = true;
            }
        }
        status = h->changing != NULL ? status : out_of_memory(h, err);
    }
    status = status == STN_OK ? symbolic_cache_find(control->workspace, &key, &h->factor, err) : status;
    if (status == STN_OK && STN_PLUGIN_HAS(h->ops, use_threads)) {
        h->ops->use_threads(h->factor, control->threads);
    }
    // Only a numeric factor tells that a matrix is not positive definite.
    if (status == STN_ERR_NUMERIC) {
        status = STN_ERR_UNSUPPORTED;
        stn_error_prefix(err, "analysis of the pattern");
        if (err != NULL) {
            err->status = status;
        }
    }
    return status;
}

stn_status augmented_analyse(augmented *h, augmented_form form, stn_error *err) {
    const bool chosen = h->control->factor != NULL; // a factor plugin
    if ((form == AUGMENTED_AUTO || form == AUGMENTED_LARGE) && !chosen) {
        const stn_status status = find_bodies(h, err);
        if (status != STN_OK || h->articulated) {
            h->ready = status == STN_OK;
            return status;
        }
    }
    return augmented_analyse_entries(h, form, err);
}

/// Articulated A, written out.
static bool copy_own_A(augmented *h) {
    for (int32_t b = 0; b < h->block_count; b++) {
        const augmented_block *block = &h->blocks[b];
        if (block->A >= 0 || h->own_A[block->tree] != NULL) {
            continue;
        }
        const size_t n = (size_t)block->n, ld = (size_t)block->ld;
        double *own = STN_ARENA_ZEROED(h->control->arena, n * ld + 8, double);
        double *full = STN_ARENA(h->control->arena, n * n, double);
        if (own == NULL || full == NULL) {
            return false;
        }
        stn_matrix_expand(&h->problem->trees[block->tree].A, full);
        for (size_t i = 0; i < n; i++) {
            memcpy(own + i * ld, full + i * n, n * sizeof *own);
        }
        h->own_A[block->tree] = own;
    }
    return true;
}

stn_status augmented_analyse_entries(augmented *h, augmented_form form, stn_error *err) {
    if (!copy_own_A(h)) {
        return out_of_memory(h, err);
    }
    enum { DENSE_LIMIT = 40, BRANCHED = 16 }; // below, a tree loses nothing by a factor that knows no branches
    const stn_solve_control *control = h->control;
    const bool automatic = form == AUGMENTED_AUTO || form == AUGMENTED_LARGE;
    bool chosen = automatic && control->factor != NULL; // a factor plugin
    h->dense = form == AUGMENTED_DENSE || (automatic && !chosen && (h->nv <= DENSE_LIMIT || h->block_count == 1));
    stn_status status = list_entries(h, err);
    h->fresh = true;
    if (status != STN_OK) {
        return status;
    }
    if (h->dense) { // entries point into one matrix of all unknowns
        h->stride = (h->nv + 7) / 8 * 8;
        size_t size = (size_t)h->nv * (size_t)h->stride + 8;
        h->values = h->block_count == 1 ? STN_ARENA(control->arena, size, double) // written whole up to the diagonal
                                        : STN_ARENA_ZEROED(control->arena, size, double);
        h->branched = automatic && h->block_count == 1 && h->nv >= BRANCHED && h->nv <= STN_LTL_WHOLE;
        h->lower = STN_ARENA(control->arena, h->branched ? STN_LTL_VALUES(h->nv) : size, double);
        if (h->values == NULL || h->lower == NULL) {
            return out_of_memory(h, err);
        }
        h->ltl = (stn_ltl){h->nv, h->lower, NULL};
        for (int32_t e = 0; e < h->entry_count; e++) {
            augmented_entry *entry = &h->entries[e];
            entry->stride = h->stride;
            entry->values =
                h->values + (int64_t)h->blocks[entry->row].compact * h->stride + h->blocks[entry->column].compact;
        }
        h->ready = true;
        return automatic && !h->branched ? find_branches(h, err) : STN_OK;
    }
    // entries are the blocks of a block matrix, in its order
    stn_arena *arena = control->arena;
    int32_t n = h->block_count, m = h->entry_count;
    int32_t *size = STN_ARENA(arena, n + 1, int32_t), *start = STN_ARENA_ZEROED(arena, n + 1, int32_t);
    int32_t *row = STN_ARENA(arena, m + 1, int32_t);
    int64_t *offset = STN_ARENA(arena, m + 1, int64_t);
    if (size == NULL || start == NULL || row == NULL || offset == NULL) {
        return out_of_memory(h, err);
    }
    for (int32_t b = 0; b < n; b++) {
        size[b] = h->blocks[b].n;
    }
    offset[0] = 0;
    for (int32_t e = 0; e < m; e++) {
        const augmented_entry *entry = &h->entries[e];
        row[e] = entry->row;
        start[entry->column + 1] = e + 1;
        offset[e + 1] = offset[e] + (int64_t)size[entry->row] * size[entry->column];
    }
    h->values = STN_ARENA(arena, offset[m] + 8, double);
    if (h->values == NULL) {
        return out_of_memory(h, err);
    }
    for (int32_t e = 0; e < m; e++) {
        h->entries[e].values = h->values + offset[e];
        h->entries[e].stride = size[h->entries[e].column];
    }
    h->matrix = (stn_block_matrix){{n, size, start, row, NULL}, offset, h->values};
    h->ready = true;
    if (form == AUGMENTED_ITERATIVE || (form == AUGMENTED_LARGE && !chosen)) {
        status = analyse_incomplete(h, form, err);
        if (status != STN_OK || h->iterative) {
            return status;
        }
    }
    return analyse_whole(h, chosen, err);
}

stn_status augmented_complete(augmented *h, stn_error *err) {
    stn_status status = analyse_whole(h, h->control->factor != NULL, err);
    h->iterative = false;
    return status == STN_OK ? h->ops->numeric(h->factor, &h->matrix, err) : status;
}
