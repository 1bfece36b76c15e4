// SPDX-License-Identifier: Apache-2.0
// Lists of pairs in ascending order: candidates, whose fat boxes overlap, and the pairs of an update among them.
#include <string.h>

#include "geometry/broadphase.h"

static bool grow(stn_broadphase *bp, stn_broadphase_pair **list, int32_t capacity) {
    void *grown = stn_reallocate(bp->context, *list, (size_t)bp->pair_capacity, (size_t)capacity, sizeof **list);
    if (grown != NULL) {
        *list = grown;
    }
    return grown != NULL;
}

/// All three lists have room for as many, because they change places.
static bool reserve_pairs(stn_broadphase *bp, int32_t count) {
    if (count <= bp->pair_capacity) {
        return true;
    }
    int32_t capacity = count < INT32_MAX / 2 - 256 ? 2 * count + 256 : INT32_MAX;
    if (!grow(bp, &bp->pairs, capacity) || !grow(bp, &bp->sorted, capacity) || !grow(bp, &bp->candidates, capacity)) {
        bp->out_of_memory = true;
        return false;
    }
    bp->pair_capacity = capacity;
    return true;
}

void broadphase_release_pairs(stn_broadphase *bp) {
    stn_release(bp->context, bp->pairs);
    stn_release(bp->context, bp->sorted);
    stn_release(bp->context, bp->candidates);
}

static void add(stn_broadphase *bp, int32_t a, int32_t b) {
    if (bp->pair_count < INT32_MAX && reserve_pairs(bp, bp->pair_count + 1)) {
        bp->pairs[bp->pair_count++] = (stn_broadphase_pair){a, b};
    }
}

static bool may_pair(const stn_broadphase *bp, int32_t a, int32_t b) {
    return (bp->moving[a] || bp->moving[b]) && (bp->allowed == NULL || bp->allowed(bp->user, a, b));
}

void broadphase_meet(stn_broadphase *bp, int32_t i, int32_t j) {
    int32_t a = i < j ? i : j, b = i < j ? j : i;
    if (may_pair(bp, a, b)) {
        add(bp, a, b);
    }
}

static bool overlap(const stn_aabb *a, const stn_aabb *b) {
    return (a->lower.x <= b->upper.x) & (b->lower.x <= a->upper.x) & (a->lower.y <= b->upper.y) &
           (b->lower.y <= a->upper.y) & (a->lower.z <= b->upper.z) & (b->lower.z <= a->upper.z);
}

static bool is_before(const stn_broadphase_pair *p, const stn_broadphase_pair *q) {
    return p->a < q->a || (p->a == q->a && p->b < q->b);
}

static bool is_sorted(const stn_broadphase_pair *p, int32_t count) {
    for (int32_t i = 1; i < count; i++) {
        if (!is_before(&p[i - 1], &p[i])) {
            return false;
        }
    }
    return true;
}

/// One stable counting pass over one member of every pair.
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

static void swap(stn_broadphase_pair **a, stn_broadphase_pair **b) {
    stn_broadphase_pair *t = *a;
    *a = *b;
    *b = t;
}

void broadphase_replace_candidates(stn_broadphase *bp, int32_t count) {
    sort_pairs(bp, count);
    swap(&bp->pairs, &bp->candidates);
    bp->candidate_count = bp->pair_count;
}

void broadphase_merge_candidates(stn_broadphase *bp, int32_t count) {
    if (bp->pair_count > INT32_MAX - bp->candidate_count) {
        bp->out_of_memory = true;
    }
    if (bp->out_of_memory || !reserve_pairs(bp, bp->candidate_count + bp->pair_count)) {
        return;
    }
    sort_pairs(bp, count);
    stn_broadphase_pair *to = bp->sorted;
    int32_t k = 0;
    for (int32_t i = 0; i < bp->candidate_count; i++) {
        const stn_broadphase_pair *p = &bp->candidates[i];
        if (bp->has_left[p->a] || bp->has_left[p->b]) {
            continue;
        }
        while (k < bp->pair_count && is_before(&bp->pairs[k], p)) {
            *to++ = bp->pairs[k++];
        }
        *to++ = *p;
    }
    while (k < bp->pair_count) {
        *to++ = bp->pairs[k++];
    }
    bp->candidate_count = (int32_t)(to - bp->sorted);
    swap(&bp->sorted, &bp->candidates);
}

static void wide_pairs(stn_broadphase *bp, int32_t count) {
    for (int32_t k = 0; k < bp->wide_count; k++) {
        int32_t i = bp->wide[k];
        for (int32_t j = 0; j < count; j++) {
            bool met = bp->slot[j] == SLOT_WIDE && j <= i; // two wide boxes meet once
            if (!met && bp->slot[j] != SLOT_EMPTY && overlap(&bp->boxes[i], &bp->boxes[j])) {
                broadphase_meet(bp, i, j);
            }
        }
    }
}

/// Without branches: about every second candidate is a pair, in no order that a processor could guess.
static void candidate_pairs(stn_broadphase *bp) {
    if (bp->candidate_count == 0 || !reserve_pairs(bp, bp->pair_count + bp->candidate_count)) {
        return;
    }
    stn_broadphase_pair *to = bp->pairs + bp->pair_count;
    for (int32_t i = 0; i < bp->candidate_count; i++) {
        *to = bp->candidates[i];
        to += overlap(&bp->boxes[to->a], &bp->boxes[to->b]);
    }
    bp->pair_count = (int32_t)(to - bp->pairs);
}

void broadphase_list_pairs(stn_broadphase *bp, int32_t count) {
    if (!bp->out_of_memory) {
        bp->pair_count = 0;
        wide_pairs(bp, count);
    }
    if (bp->pair_count > INT32_MAX - bp->candidate_count) {
        bp->out_of_memory = true;
    }
    if (!bp->out_of_memory) {
        candidate_pairs(bp);
        sort_pairs(bp, count);
    }
}
