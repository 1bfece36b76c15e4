// SPDX-License-Identifier: Apache-2.0
// Overlapping pairs of boxes: all against all, four at a time, for few boxes; a tree (broadphase_tree.c) for many;
// boxes with an infinite side apart, against all. Floats, rounded outwards, only preselect: the boxes as given decide.
#include <float.h>
#include <string.h>

#include "geometry/broadphase.h"

enum { FEW = 48 }; // up to here all against all is faster than the tree, by measurement
enum { SLOT_WIDE = -1, SLOT_EMPTY = -2 };

stn_status stn_broadphase_create(stn_context *context, stn_broadphase **out, stn_error *err) {
    *out = stn_allocate(context, 1, sizeof **out);
    if (*out == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "broad phase: out of memory");
    }
    (*out)->context = context;
    return STN_OK;
}

static void release_boxes(stn_broadphase *bp) {
    void *arrays[] = {bp->order, bp->slot, bp->wide, bp->key, bp->start, bp->blocks, bp->nodes};
    for (int32_t i = 0; i < STN_COUNT(arrays); i++) {
        stn_release(bp->context, arrays[i]);
    }
    bp->order = bp->slot = bp->wide = bp->start = NULL;
    bp->key = NULL;
    bp->blocks = NULL;
    bp->nodes = NULL;
    bp->capacity = 0;
}

void stn_broadphase_destroy(stn_broadphase *bp) {
    if (bp == NULL) {
        return;
    }
    release_boxes(bp);
    stn_release(bp->context, bp->pairs);
    stn_release(bp->context, bp->sorted);
    stn_release(bp->context, bp);
}

static bool reserve_boxes(stn_broadphase *bp, int32_t count) {
    if (count <= bp->capacity) {
        return true;
    }
    release_boxes(bp);
    size_t n = (size_t)count + (size_t)count / 4 + LANES, blocks = n / LANES + 1;
    if (n > INT32_MAX / 4) {
        return false;
    }
    bp->order = stn_allocate(bp->context, n, sizeof *bp->order);
    bp->slot = stn_allocate(bp->context, n, sizeof *bp->slot);
    bp->wide = stn_allocate(bp->context, n, sizeof *bp->wide);
    bp->key = stn_allocate(bp->context, n, sizeof *bp->key);
    bp->start = stn_allocate(bp->context, n + 1, sizeof *bp->start);
    bp->blocks = stn_allocate(bp->context, blocks, sizeof *bp->blocks);
    bp->nodes = stn_allocate(bp->context, 2 * blocks, sizeof *bp->nodes);
    if (bp->order == NULL || bp->slot == NULL || bp->wide == NULL || bp->key == NULL || bp->start == NULL ||
        bp->blocks == NULL || bp->nodes == NULL) {
        release_boxes(bp);
        return false;
    }
    bp->capacity = (int32_t)n;
    bp->slot_count = 0;
    bp->stale = true;
    return true;
}

static bool reserve_pairs(stn_broadphase *bp) {
    if (bp->pair_count < bp->pair_capacity) {
        return true;
    }
    int32_t capacity = bp->pair_capacity < INT32_MAX / 2 ? 2 * bp->pair_capacity + 256 : INT32_MAX;
    size_t old = (size_t)bp->pair_capacity, now = (size_t)capacity;
    stn_broadphase_pair *pairs = stn_reallocate(bp->context, bp->pairs, old, now, sizeof *pairs);
    if (pairs == NULL) {
        return false;
    }
    bp->pairs = pairs;
    stn_broadphase_pair *sorted = stn_reallocate(bp->context, bp->sorted, old, now, sizeof *sorted);
    if (sorted == NULL) {
        return false;
    }
    bp->sorted = sorted;
    bp->pair_capacity = capacity;
    return true;
}

static bool overlap(const stn_aabb *a, const stn_aabb *b) {
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

void broadphase_consider(stn_broadphase *bp, int32_t i, int32_t j) {
    int32_t a = i < j ? i : j, b = i < j ? j : i;
    if (!overlap(&bp->boxes[a], &bp->boxes[b]) || !(bp->moving[a] || bp->moving[b]) ||
        (bp->allowed != NULL && !bp->allowed(bp->user, a, b))) {
        return;
    }
    if (!reserve_pairs(bp)) {
        bp->out_of_memory = true;
        return;
    }
    bp->pairs[bp->pair_count++] = (stn_broadphase_pair){a, b};
}

/// Lanes of `b` that overlap lane `i` of `a`.
static inline lane_mask block_overlap(const block *a, int32_t i, const block *b) {
    lane_mask mask = (lane_mask){-1, -1, -1, -1};
    for (int32_t k = 0; k < 3; k++) {
        float low = a->lower[k][i], high = a->upper[k][i];
        lanes lower = {low, low, low, low}, upper = {high, high, high, high};
        mask &= (lower <= b->upper[k]) & (b->lower[k] <= upper);
    }
    return mask;
}

void broadphase_block_self(stn_broadphase *bp, int32_t id) {
    const block *b = &bp->blocks[id];
    for (int32_t i = 0; i < LANES - 1; i++) {
        lane_mask mask = block_overlap(b, i, b);
        for (int32_t j = i + 1; j < LANES; j++) {
            if (mask[j]) {
                broadphase_consider(bp, bp->order[LANES * id + i], bp->order[LANES * id + j]);
            }
        }
    }
}

void broadphase_block_cross(stn_broadphase *bp, int32_t id_a, int32_t id_b) {
    const block *a = &bp->blocks[id_a], *b = &bp->blocks[id_b];
    for (int32_t i = 0; i < LANES; i++) {
        lane_mask mask = block_overlap(a, i, b);
        if (lanes_any(mask)) {
            for (int32_t j = 0; j < LANES; j++) {
                if (mask[j]) {
                    broadphase_consider(bp, bp->order[LANES * id_a + i], bp->order[LANES * id_b + j]);
                }
            }
        }
    }
}

/// A float not above (below) `x`: one rounding errs by 6e-8 of the value at most, the smallest float covers underflow.
static float round_down(double x) {
    double y = x - 1.2e-7 * fabs(x) - 1e-44;
    if (!(fabs(y) <= (double)FLT_MAX)) { // keeps the order, and apart from the infinite boxes that fill a block
        return y > 0.0 ? FLT_MAX : -FLT_MAX;
    }
    return (float)y;
}

static float round_up(double x) {
    return -round_down(-x);
}

static void fill_blocks(stn_broadphase *bp) {
    int32_t count = (bp->slot_count + LANES - 1) / LANES;
    for (int32_t s = 0; s < count * LANES; s++) {
        block *b = &bp->blocks[s / LANES];
        int32_t i = s % LANES;
        if (s >= bp->slot_count) {
            for (int32_t k = 0; k < 3; k++) {
                b->lower[k][i] = INFINITY;
                b->upper[k][i] = -INFINITY;
            }
            continue;
        }
        const stn_aabb *box = &bp->boxes[bp->order[s]];
        b->lower[0][i] = round_down(box->lower.x);
        b->lower[1][i] = round_down(box->lower.y);
        b->lower[2][i] = round_down(box->lower.z);
        b->upper[0][i] = round_up(box->upper.x);
        b->upper[1][i] = round_up(box->upper.y);
        b->upper[2][i] = round_up(box->upper.z);
    }
}

typedef enum box_kind { BOX_FINITE, BOX_WIDE, BOX_EMPTY, BOX_NAN } box_kind;

static box_kind classify(const stn_aabb *b) {
    double sum = (b->lower.x - b->lower.x) + (b->lower.y - b->lower.y) + (b->lower.z - b->lower.z) +
                 (b->upper.x - b->upper.x) + (b->upper.y - b->upper.y) + (b->upper.z - b->upper.z);
    bool ordered = b->lower.x <= b->upper.x && b->lower.y <= b->upper.y && b->lower.z <= b->upper.z;
    if (sum == 0.0) {
        return ordered ? BOX_FINITE : BOX_EMPTY;
    }
    if (isnan(b->lower.x) || isnan(b->lower.y) || isnan(b->lower.z) || isnan(b->upper.x) || isnan(b->upper.y) ||
        isnan(b->upper.z)) {
        return BOX_NAN;
    }
    return ordered ? BOX_WIDE : BOX_EMPTY;
}

/// Tells finite, wide and empty boxes apart; `same` when the finite ones are those that stand in `order` already.
static stn_status partition(stn_broadphase *bp, int32_t count, bool *same, stn_error *err) {
    int32_t finite = 0;
    bool known = !bp->stale;
    bp->wide_count = 0;
    for (int32_t i = 0; i < count; i++) {
        box_kind kind = classify(&bp->boxes[i]);
        if (kind == BOX_NAN) {
            return stn_fail(err, STN_ERR_NUMERIC, "broad phase: box %d is not a number", (int)i);
        }
        if (kind == BOX_WIDE) {
            bp->wide[bp->wide_count++] = i;
        }
        finite += kind == BOX_FINITE;
        int32_t s = bp->slot[i];
        bool stands = s >= 0 && s < bp->slot_count && bp->order[s] == i;
        known = known && stands == (kind == BOX_FINITE);
        if (kind != BOX_FINITE) {
            bp->slot[i] = kind == BOX_WIDE ? SLOT_WIDE : SLOT_EMPTY;
        }
    }
    *same = known && finite == bp->slot_count;
    return STN_OK;
}

static void list_finite(stn_broadphase *bp, int32_t count) {
    bp->slot_count = 0;
    for (int32_t i = 0; i < count; i++) {
        if (classify(&bp->boxes[i]) == BOX_FINITE) {
            bp->slot[i] = bp->slot_count;
            bp->order[bp->slot_count++] = i;
        }
    }
}

static void wide_pairs(stn_broadphase *bp, int32_t count) {
    for (int32_t k = 0; k < bp->wide_count; k++) {
        int32_t i = bp->wide[k];
        for (int32_t j = 0; j < count; j++) {
            bool met = bp->slot[j] == SLOT_WIDE && j <= i; // two wide boxes meet once
            if (!met && bp->slot[j] != SLOT_EMPTY) {
                broadphase_consider(bp, i, j);
            }
        }
    }
}

static void finite_pairs(stn_broadphase *bp) {
    fill_blocks(bp);
    if (bp->slot_count > FEW) {
        broadphase_tree_pairs(bp);
        return;
    }
    int32_t blocks = (bp->slot_count + LANES - 1) / LANES;
    for (int32_t a = 0; a < blocks; a++) {
        broadphase_block_self(bp, a);
        for (int32_t b = a + 1; b < blocks; b++) {
            broadphase_block_cross(bp, a, b);
        }
    }
}

static bool is_sorted(const stn_broadphase_pair *p, int32_t count) {
    for (int32_t i = 1; i < count; i++) {
        if (p[i - 1].a > p[i].a || (p[i - 1].a == p[i].a && p[i - 1].b > p[i].b)) {
            return false;
        }
    }
    return true;
}

/// One stable counting pass over the member at `offset` of every pair.
static void counting_pass(stn_broadphase *bp, const stn_broadphase_pair *from, stn_broadphase_pair *to, int32_t count,
                          bool by_a) {
    int32_t *start = bp->start;
    memset(start, 0, ((size_t)count + 1) * sizeof *start);
    for (int32_t i = 0; i < bp->pair_count; i++) {
        start[(by_a ? from[i].a : from[i].b) + 1]++;
    }
    for (int32_t i = 0; i < count; i++) {
        start[i + 1] += start[i];
    }
    for (int32_t i = 0; i < bp->pair_count; i++) {
        to[start[by_a ? from[i].a : from[i].b]++] = from[i];
    }
}

static void sort_pairs(stn_broadphase *bp, int32_t count) {
    if (!is_sorted(bp->pairs, bp->pair_count)) {
        counting_pass(bp, bp->pairs, bp->sorted, count, false);
        counting_pass(bp, bp->sorted, bp->pairs, count, true);
    }
}

stn_status stn_broadphase_update(stn_broadphase *bp, int32_t count, const stn_aabb *boxes, const bool *moving,
                                 bool (*allowed)(const void *user, int32_t a, int32_t b), const void *user,
                                 const stn_broadphase_pair **pairs, int32_t *pair_count, stn_error *err) {
    if (!reserve_boxes(bp, count)) {
        return stn_fail(err, STN_ERR_MEMORY, "broad phase: out of memory for %d boxes", (int)count);
    }
    bp->boxes = boxes;
    bp->moving = moving;
    bp->allowed = allowed;
    bp->user = user;
    bp->pair_count = 0;
    bp->out_of_memory = false;
    bool same = false;
    stn_status status = partition(bp, count, &same, err);
    if (status != STN_OK) {
        return status;
    }
    if (!same) {
        list_finite(bp, count);
        if (bp->slot_count > FEW) {
            broadphase_tree_build(bp);
        }
        bp->stale = false;
    }
    wide_pairs(bp, count);
    finite_pairs(bp);
    if (bp->out_of_memory) {
        return stn_fail(err, STN_ERR_MEMORY, "broad phase: out of memory for %d pairs", (int)bp->pair_count);
    }
    sort_pairs(bp, count);
    *pairs = bp->pairs;
    *pair_count = bp->pair_count;
    return STN_OK;
}
