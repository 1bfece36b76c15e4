// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "geometry/mesh_tuples.h"

stn_status tuples_create(stn_context *context, int32_t width, int32_t count, tuples *out, stn_error *err) {
    *out = (tuples){.context = context, .width = width, .count = count};
    out->ids = stn_allocate(context, (size_t)count * (size_t)width, sizeof *out->ids);
    out->order = stn_allocate(context, (size_t)count, sizeof *out->order);
    return out->ids != NULL && out->order != NULL ? STN_OK
                                                  : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its edges");
}

void tuples_clear(tuples *t) {
    if (t->context == NULL) {
        return;
    }
    stn_release(t->context, t->ids);
    stn_release(t->context, t->order);
}

/// Least place first, so each pass must keep the order of equals.
stn_status tuples_sort(tuples *t, int32_t vertex_count, stn_error *err) {
    size_t width = (size_t)t->width;
    int32_t *start = stn_allocate(t->context, (size_t)vertex_count + 1, sizeof *start);
    int32_t *sorted = stn_allocate(t->context, (size_t)t->count, sizeof *sorted);
    bool done = start != NULL && sorted != NULL;
    for (int32_t i = 0; i < t->count; i++) {
        t->order[i] = i;
    }
    for (size_t place = width; place-- > 0 && done;) {
        memset(start, 0, ((size_t)vertex_count + 1) * sizeof *start);
        for (int32_t i = 0; i < t->count; i++) {
            start[t->ids[(size_t)i * width + place] + 1]++;
        }
        for (int32_t v = 0; v < vertex_count; v++) {
            start[v + 1] += start[v];
        }
        for (int32_t i = 0; i < t->count; i++) {
            int32_t tuple = t->order[i];
            sorted[start[t->ids[(size_t)tuple * width + place]]++] = tuple;
        }
        int32_t *swap = t->order;
        t->order = sorted;
        sorted = swap;
    }
    stn_release(t->context, start);
    stn_release(t->context, sorted);
    return done ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its edges");
}

int32_t tuples_end(const tuples *t, int32_t from) {
    size_t width = (size_t)t->width;
    const int32_t *first = t->ids + (size_t)t->order[from] * width;
    int32_t end = from + 1;
    while (end < t->count && memcmp(first, t->ids + (size_t)t->order[end] * width, width * sizeof *first) == 0) {
        end++;
    }
    return end;
}
