// SPDX-License-Identifier: Apache-2.0
#include "common/samples.h"

#include <math.h>
#include <string.h>

#include <stiction/random.h>

/// Which half of a block of 2^level steps the kept one lies in: 0 or 1.
static int64_t half_of(int64_t block, int32_t level) {
    uint64_t z = (uint64_t)block * STN_RANDOM_STEP + (uint64_t)level * 0xd1b54a32d192ed03u;
    return (int64_t)(stn_random_mix(z) >> 63);
}

/// Is the step the one of its block? The one of a block is the one of a half.
static bool is_picked(int64_t step, int32_t level) {
    for (int32_t i = level; i > 0; i--) {
        if (((step >> (i - 1)) & 1) != half_of(step >> i, i)) {
            return false;
        }
    }
    return true;
}

int64_t stn_samples_step(const stn_samples *s, int32_t kept) {
    int64_t step = kept;
    for (int32_t i = s->level; i > 0; i--) {
        step = 2 * step + half_of(step, i);
    }
    return step;
}

static bool make_totals(stn_context *context, stn_samples *s) {
    size_t columns = (size_t)s->columns;
    s->count = stn_allocate(context, 3 * columns, sizeof *s->count);
    if (s->count != NULL) {
        s->sum = s->count + columns;
        s->max = s->sum + columns;
        for (size_t c = 0; c < columns; c++) {
            s->max[c] = -(double)INFINITY;
        }
    }
    return s->count != NULL;
}

static bool grow(stn_context *context, stn_samples *s) {
    int32_t capacity = s->capacity > 0 ? 2 * s->capacity : 1024;
    size_t row = (size_t)s->columns * sizeof *s->values;
    double *grown = NULL;
    if (s->count != NULL || make_totals(context, s)) {
        grown = stn_reallocate(context, s->values, (size_t)s->kept, (size_t)capacity, row);
    }
    if (grown != NULL) {
        s->values = grown;
        s->capacity = capacity;
    }
    return grown != NULL;
}

/// Blocks of twice the length.
static void halve(stn_samples *s) {
    size_t row = (size_t)s->columns;
    s->level++;
    s->kept /= 2;
    for (int32_t i = 0; i < s->kept; i++) {
        memmove(s->values + (size_t)i * row, s->values + (size_t)(2 * i + half_of(i, s->level)) * row,
                row * sizeof *s->values);
    }
}

static void add_totals(int32_t columns, const double *restrict row, double *restrict count, double *restrict sum,
                       double *restrict max) {
    for (int32_t c = 0; c < columns; c++) {
        double x = row[c];
        if (x == x) { // not NaN; as a rule a column has only such, or none
            count[c]++;
            sum[c] += x;
            max[c] = x > max[c] ? x : max[c];
        }
    }
}

bool stn_samples_add(stn_context *context, stn_samples *s, const double *row) {
    if (s->kept == s->capacity && s->capacity < STN_SAMPLES_MOST && !grow(context, s)) {
        return false;
    }
    if (s->kept == STN_SAMPLES_MOST && s->steps == (int64_t)s->kept << s->level) {
        halve(s); // the step begins a block, and the two before it are whole
    }
    if (is_picked(s->steps, s->level)) {
        memcpy(s->values + (size_t)s->kept++ * (size_t)s->columns, row, (size_t)s->columns * sizeof *row);
    }
    add_totals(s->columns, row, s->count, s->sum, s->max);
    s->steps++;
    return true;
}

void stn_samples_clear(stn_context *context, stn_samples *s) {
    stn_release(context, s->values);
    stn_release(context, s->count);
    *s = (stn_samples){.columns = s->columns};
}
