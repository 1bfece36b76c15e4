// SPDX-License-Identifier: Apache-2.0
// Which blocks of H there are, and which products of clusters each of them is the sum of.
#include "system.h"

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

/// Room for the products of all clusters; returns their size and counts the terms of every block column.
static int64_t place_products(sap_system *s, int32_t *column_terms) {
    int64_t size = 0;
    for (int32_t k = 0; k < s->cluster_count; k++) {
        const sap_cluster *cluster = &s->clusters[k];
        sap_part *parts = s->parts + cluster->part_start;
        int64_t width = 0;
        for (int32_t p = 0; p < cluster->part_count; p++) {
            width += s->blocks[parts[p].block].ld;
            parts[p].product = size;
            size += s->blocks[parts[p].block].n * width;
            column_terms[parts[p].block] += cluster->part_count - p;
        }
    }
    return size;
}

/// Counts, or lists when `terms` is given, the blocks of nodal matrices below the diagonal.
static void nodal_terms(const sap_system *s, int32_t *position, sap_term *terms) {
    for (int32_t t = 0; t < s->problem->tree_count; t++) {
        const stn_matrix *A = &s->problem->trees[t].A;
        int32_t first = s->tree_block[t];
        for (int32_t i = 0; A->form == STN_MATRIX_NODAL && i < A->node_count; i++) {
            for (int32_t e = A->row_start[i]; e < A->row_start[i + 1] && A->column[e] < i; e++) {
                int32_t at = position[first + A->column[e]]++;
                if (terms != NULL) {
                    terms[at] = (sap_term){first + i, -1, e};
                }
            }
        }
    }
}

/// Products on the diagonal first: what follows in a column is then nearly in order already.
static void cluster_terms(const sap_system *s, bool diagonal, int32_t *position, sap_term *terms) {
    for (int32_t k = 0; k < s->cluster_count; k++) {
        const sap_cluster *cluster = &s->clusters[k];
        const sap_part *parts = s->parts + cluster->part_start;
        int64_t width = 0;
        for (int32_t q = 0; q < cluster->part_count; q++) {
            int32_t end = diagonal ? q + 1 : cluster->part_count;
            for (int32_t p = diagonal ? q : q + 1; p < end; p++) {
                int64_t product = parts[p].product + s->blocks[parts[p].block].n * width;
                terms[position[parts[q].block]++] = (sap_term){parts[p].block, k, product};
            }
            width += s->blocks[parts[q].block].ld;
        }
    }
}

/// Insertion: stable, and one pass when in order.
static void sort_terms(sap_term *terms, int32_t count) {
    for (int32_t i = 1; i < count; i++) {
        sap_term term = terms[i];
        int32_t at = i;
        for (; at > 0 && terms[at - 1].row > term.row; at--) {
            terms[at] = terms[at - 1];
        }
        terms[at] = term;
    }
}

/// One entry for each row that occurs among the terms of a column, the diagonal always.
static void form_entries(sap_system *s, int32_t column, int32_t start, int32_t end) {
    sap_hessian *H = &s->H;
    const sap_block *block = &s->blocks[column];
    sap_entry *entry = &H->entries[H->entry_count++];
    *entry = (sap_entry){.row = column, .column = column, .term_start = start, .A = s->A + block->A, .A_ld = block->ld};
    for (int32_t t = start; t < end; t++) {
        const sap_term *term = &H->terms[t];
        if (term->row != entry->row) {
            entry = &H->entries[H->entry_count++];
            *entry = (sap_entry){.row = term->row, .column = column, .term_start = t};
        }
        if (term->cluster < 0) { // comes first among its row's
            entry->A = s->problem->trees[block->tree].A.values + 9 * term->product;
            entry->A_ld = 3;
            entry->term_start++;
        } else {
            entry->term_count++;
        }
    }
}

static stn_status list_entries(sap_system *s, stn_error *err) {
    sap_hessian *H = &s->H;
    stn_arena *arena = s->control->arena;
    int32_t n = s->block_count;
    int32_t *start = STN_ARENA_ZEROED(arena, n + 1, int32_t), *position = STN_ARENA(arena, n + 1, int32_t);
    if (start == NULL || position == NULL) {
        return out_of_memory(err);
    }
    int64_t product_size = place_products(s, start);
    nodal_terms(s, start, NULL);
    int32_t total = 0;
    for (int32_t b = 0; b <= n; b++) {
        int32_t count = start[b];
        start[b] = position[b] = total;
        total += count;
    }
    H->terms = STN_ARENA(arena, total + 1, sap_term);
    H->entries = STN_ARENA(arena, (size_t)total + (size_t)n + 1, sap_entry);
    H->product = STN_ARENA(arena, product_size + 8, double);
    if (H->terms == NULL || H->entries == NULL || H->product == NULL) {
        return out_of_memory(err);
    }
    nodal_terms(s, position, H->terms);
    cluster_terms(s, true, position, H->terms);
    cluster_terms(s, false, position, H->terms);
    for (int32_t b = 0; b < n; b++) {
        sort_terms(H->terms + start[b], start[b + 1] - start[b]);
        form_entries(s, b, start[b], start[b + 1]);
    }
    return STN_OK;
}

/// Scratch for G J of the largest cluster. Tiles read up to 6 doubles beyond a panel's end.
static stn_status allocate_scratch(sap_system *s, stn_error *err) {
    int64_t size = 0;
    int32_t rows = 0;
    for (int32_t k = 0; k < s->cluster_count; k++) {
        const sap_cluster *cluster = &s->clusters[k];
        rows = cluster->rows > rows ? cluster->rows : rows;
        for (int32_t p = 0; p < cluster->part_count; p++) {
            int64_t part = (int64_t)cluster->rows * s->blocks[s->parts[cluster->part_start + p].block].ld;
            size = part > size ? part : size;
        }
    }
    s->H.scratch = STN_ARENA(s->control->arena, size + 8, double);
    s->H.active = STN_ARENA(s->control->arena, rows + 1, int32_t);
    s->H.changed = STN_ARENA(s->control->arena, s->batch.stride + 1, int64_t);
    return s->H.scratch != NULL && s->H.active != NULL && s->H.changed != NULL ? STN_OK : out_of_memory(err);
}

/// Entries point into one dense matrix of all unknowns.
static stn_status place_dense(sap_system *s, stn_error *err) {
    sap_hessian *H = &s->H;
    H->stride = (s->nv + 7) / 8 * 8;
    size_t size = (size_t)s->nv * (size_t)H->stride + 8;
    H->values = STN_ARENA_ZEROED(s->control->arena, size, double);
    H->lower = STN_ARENA(s->control->arena, size, double);
    if (H->values == NULL || H->lower == NULL) {
        return out_of_memory(err);
    }
    for (int32_t e = 0; e < H->entry_count; e++) {
        sap_entry *entry = &H->entries[e];
        entry->stride = H->stride;
        entry->values =
            H->values + (int64_t)s->blocks[entry->row].compact * H->stride + s->blocks[entry->column].compact;
    }
    return STN_OK;
}

/// Entries are the blocks of a block matrix, in its order.
static stn_status place_blocks(sap_system *s, stn_error *err) {
    sap_hessian *H = &s->H;
    stn_arena *arena = s->control->arena;
    int32_t n = s->block_count, m = H->entry_count;
    int32_t *size = STN_ARENA(arena, n + 1, int32_t), *start = STN_ARENA_ZEROED(arena, n + 1, int32_t);
    int32_t *row = STN_ARENA(arena, m + 1, int32_t);
    int64_t *offset = STN_ARENA(arena, m + 1, int64_t);
    if (size == NULL || start == NULL || row == NULL || offset == NULL) {
        return out_of_memory(err);
    }
    for (int32_t b = 0; b < n; b++) {
        size[b] = s->blocks[b].n;
    }
    offset[0] = 0;
    for (int32_t e = 0; e < m; e++) {
        const sap_entry *entry = &H->entries[e];
        row[e] = entry->row;
        start[entry->column + 1] = e + 1;
        offset[e + 1] = offset[e] + (int64_t)size[entry->row] * size[entry->column];
    }
    H->values = STN_ARENA(arena, offset[m] + 8, double);
    if (H->values == NULL) {
        return out_of_memory(err);
    }
    for (int32_t e = 0; e < m; e++) {
        H->entries[e].values = H->values + offset[e];
        H->entries[e].stride = size[H->entries[e].column];
    }
    H->matrix = (stn_block_matrix){{n, size, start, row}, offset, H->values};
    return STN_OK;
}

stn_status sap_hessian_create(sap_system *s, stn_error *err) {
    stn_status status = list_entries(s, err);
    if (status == STN_OK) {
        status = allocate_scratch(s, err);
    }
    if (status == STN_OK) {
        status = s->H.dense ? place_dense(s, err) : place_blocks(s, err);
    }
    s->H.ready = status == STN_OK;
    s->H.fresh = true;
    return status;
}
