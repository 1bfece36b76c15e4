// SPDX-License-Identifier: Apache-2.0
// Sparse matrices of FCLIB files. nz >= 0: triplets (i: rows, p: columns, as the files in circulation have it, not as
// the library's header says), -1: compressed columns, -2: compressed rows.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fclib.h"

enum { MOST_ROWS = 1 << 24 };

/// One of the arrays of a matrix, of at least `least` entries; NULL and a failure otherwise.
static const array_item *find_part(fclib_reader *r, const char *name, const char *part, int64_t least) {
    array_wire_type type = part[0] == 'x' ? ARRAY_WIRE_REALS : ARRAY_WIRE_INTEGERS;
    char path[ARRAY_WIRE_NAME_MAX], local[64];
    snprintf(path, sizeof path, "%s/%s/%s", r->group, name, part);
    snprintf(local, sizeof local, "%s/%s", name, part);
    const array_item *item = array_file_find(r->file, path);
    if (item == NULL) {
        fclib_fail(r, local, "is missing");
    } else if (item->type == ARRAY_WIRE_LETTERS || (type == ARRAY_WIRE_INTEGERS && item->type != type)) {
        fclib_fail(r, local, "is no array of %s", type == ARRAY_WIRE_INTEGERS ? "integers" : "numbers");
    } else if ((uint64_t)least > item->count) {
        fclib_fail(r, local, "has %llu entries, expected at least %lld", (unsigned long long)item->count,
                   (long long)least);
    }
    return r->status == STN_OK ? item : NULL;
}

static int32_t part_integer(fclib_reader *r, const char *name, const char *part, int64_t low, int64_t high) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", name, part);
    return fclib_integer(r, path, low, high);
}

/// Places `count` indices of an item, within [0, bound).
static void take_indices(fclib_reader *r, const char *name, const char *part, const array_item *item, int64_t count,
                         int32_t bound, int32_t *out) {
    for (int64_t k = 0; k < count && r->status == STN_OK; k++) {
        int64_t value = array_item_integer(item, (uint64_t)k);
        if (value < 0 || value >= bound) {
            fclib_fail(r, name, "%s[%lld] = %lld must be from 0 to %d", part, (long long)k, (long long)value,
                       bound - 1);
            return;
        }
        out[k] = (int32_t)value;
    }
}

static void take_entries(fclib_reader *r, const char *name, int32_t storage, fclib_matrix *A) {
    int32_t lines = storage == -1 ? A->n : A->m;
    const array_item *p = find_part(r, name, "p", storage >= 0 ? storage : (int64_t)lines + 1);
    A->count = storage;
    if (storage < 0 && p != NULL) {
        A->count = array_item_integer(p, (uint64_t)lines);
        if (A->count < 0 || A->count > FCLIB_MAX_NUMBERS) {
            fclib_fail(r, name, "p[%d] = %lld entries must be from 0 to %lld", lines, (long long)A->count,
                       (long long)FCLIB_MAX_NUMBERS);
        }
    }
    const array_item *i = r->status == STN_OK ? find_part(r, name, "i", A->count) : NULL;
    const array_item *x = r->status == STN_OK ? find_part(r, name, "x", A->count) : NULL;
    A->row = fclib_allocate(r, A->count, sizeof *A->row);
    A->column = fclib_allocate(r, A->count, sizeof *A->column);
    A->x = fclib_allocate(r, A->count, sizeof *A->x);
    if (r->status != STN_OK) {
        return;
    }
    if (storage >= 0) {
        // some writers have rows and columns the other way round: then an index is beyond its bound
        bool swapped = false;
        for (uint64_t k = 0; k < (uint64_t)A->count; k++) {
            swapped = swapped || array_item_integer(i, k) >= A->m || array_item_integer(p, k) >= A->n;
        }
        take_indices(r, name, swapped ? "p" : "i", swapped ? p : i, A->count, A->m, A->row);
        take_indices(r, name, swapped ? "i" : "p", swapped ? i : p, A->count, A->n, A->column);
    } else {
        // pointers p[0 .. lines] of compressed lines, which give each entry its line
        int32_t *line = storage == -1 ? A->column : A->row;
        for (int32_t l = 0; l < lines && r->status == STN_OK; l++) {
            int64_t start = array_item_integer(p, (uint64_t)l), end = array_item_integer(p, (uint64_t)l + 1);
            if (start < 0 || end < start || end > A->count || (l == 0 && start != 0)) {
                fclib_fail(r, name, "p[%d] = %lld, p[%d] = %lld must rise from 0 to the number of entries", l,
                           (long long)start, l + 1, (long long)end);
            }
            for (int64_t k = start; k < end && r->status == STN_OK; k++) {
                line[k] = l;
            }
        }
        take_indices(r, name, "i", i, A->count, storage == -1 ? A->m : A->n, storage == -1 ? A->row : A->column);
    }
    for (int64_t k = 0; k < A->count && r->status == STN_OK; k++) {
        A->x[k] = array_item_real(x, (uint64_t)k);
        if (!isfinite(A->x[k])) {
            fclib_fail(r, name, "entry (%d, %d) is %g, must be finite", A->row[k], A->column[k], A->x[k]);
        }
    }
}

bool fclib_read_matrix(fclib_reader *r, const char *name, bool optional, fclib_matrix *out) {
    char path[ARRAY_WIRE_NAME_MAX];
    *out = (fclib_matrix){0};
    snprintf(path, sizeof path, "%s/%s/m", r->group, name);
    if (r->status != STN_OK || (optional && array_file_find(r->file, path) == NULL)) {
        return false;
    }
    out->m = part_integer(r, name, "m", 0, MOST_ROWS);
    out->n = part_integer(r, name, "n", 0, MOST_ROWS);
    int32_t storage = part_integer(r, name, "nz", -2, FCLIB_MAX_NUMBERS);
    if (r->status == STN_OK && out->m > 0 && out->n > 0) {
        take_entries(r, name, storage, out);
    }
    return r->status == STN_OK;
}

// ---------------------------------------------------------------------------------------------------------- symmetry

typedef struct entry {
    int32_t low, high;   // of row and column
    double above, below; // A_low,high and A_high,low
} entry;

static int compare_entries(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return x->low != y->low ? (x->low > y->low) - (x->low < y->low) : (x->high > y->high) - (x->high < y->high);
}

double fclib_asymmetry(fclib_reader *r, const fclib_matrix *A) {
    entry *list = stn_allocate(r->context, (size_t)A->count, sizeof *list);
    if (list == NULL) {
        fclib_fail(r, "M", "out of memory");
        return 0.0;
    }
    for (int64_t k = 0; k < A->count; k++) {
        bool upper = A->row[k] <= A->column[k];
        list[k] = (entry){upper ? A->row[k] : A->column[k], upper ? A->column[k] : A->row[k], upper ? A->x[k] : 0.0,
                          upper ? 0.0 : A->x[k]};
    }
    if (A->count > 0) {
        qsort(list, (size_t)A->count, sizeof *list, compare_entries);
    }
    double largest = 0.0, apart = 0.0;
    for (int64_t k = 0; k < A->count;) {
        entry sum = list[k++];
        for (; k < A->count && compare_entries(&list[k], &sum) == 0; k++) {
            sum.above += list[k].above;
            sum.below += list[k].below;
        }
        largest = fmax(largest, fmax(fabs(sum.above), fabs(sum.below)));
        apart = sum.low == sum.high ? apart : fmax(apart, fabs(sum.above - sum.below));
    }
    stn_release(r->context, list);
    return largest > 0.0 ? apart / largest : 0.0;
}
