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

bool stn_samples_add(stn_context *context, stn_samples *s, const double *row) {
    int32_t columns = s->columns;
    size_t size = (size_t)columns * sizeof *row;
    if (s->count == NULL) {
        s->count = stn_allocate(context, 3 * (size_t)columns, sizeof *s->count);
        if (s->count == NULL) {
            return false;
        }
        s->sum = s->count + columns;
        s->max = s->sum + columns;
        for (int32_t c = 0; c < columns; c++) {
            s->max[c] = -(double)INFINITY;
        }
    }
    if (s->kept == s->capacity && s->capacity < STN_SAMPLES_MOST) {
        int32_t capacity = s->capacity > 0 ? 2 * s->capacity : 1024;
        double *grown = stn_reallocate(context, s->values, (size_t)s->kept, (size_t)capacity, size);
        if (grown == NULL) {
            return false;
        }
        s->values = grown;
        s->capacity = capacity;
    }
    if (s->kept == STN_SAMPLES_MOST && s->steps == (int64_t)s->kept << s->level) {
        s->level++; // blocks of twice the length: the step begins one, and the two before it are whole
        s->kept /= 2;
        for (int32_t i = 0; i < s->kept; i++) {
            int64_t from = 2 * i + half_of(i, s->level);
            memmove(s->values + (size_t)i * (size_t)columns, s->values + (size_t)from * (size_t)columns, size);
        }
    }
    if (is_picked(s->steps, s->level)) {
        memcpy(s->values + (size_t)s->kept++ * (size_t)columns, row, size);
    }
    double *restrict count = s->count;
    double *restrict sum = s->sum;
    double *restrict max = s->max;
    for (int32_t c = 0; c < columns; c++) {
        double x = row[c];
        if (x == x) { // not NaN; as a rule a column has only such, or none
            count[c]++;
            sum[c] += x;
            max[c] = x > max[c] ? x : max[c];
        }
    }
    s->steps++;
    return true;
}

void stn_samples_clear(stn_context *context, stn_samples *s) {
    stn_release(context, s->values);
    stn_release(context, s->count);
    *s = (stn_samples){.columns = s->columns};
}
