// SPDX-License-Identifier: Apache-2.0
// Overlapping pairs of boxes. A box is held by a fat one, which it leaves after moving by a part of its size; pairs of
// fat boxes that overlap are kept as candidates, so that an update in which no box leaves its own only tests those.
// They are found all against all, four at a time, for few boxes; by a tree for many; boxes with an
// infinite side apart, against all. Fat boxes are floats and only preselect: the boxes as given decide.
//
// Chosen by measurement on the scenes of tests/bench/collision/scene.c. Microseconds a body and update for 1,000 and
// 10,000 bodies, and the exponent from 100 bodies on; in the flowing heap a body moves by 2 to 5 mm, differently from
// its neighbours. The others gave the same pairs; the dynamic tree has one fat box a leaf and is balanced by rotations.
//                                 heap, swinging        heap, flowing         spread out
//   this one                      0.05  0.07  1.14      0.15  0.21  1.19      0.03  0.04  0.99
//   its tree without fat boxes    0.22  0.34  1.35      0.21  0.37  1.35      0.03  0.04  1.04
//   dynamic tree of fat boxes     0.05  0.07  1.15      0.27  0.53  1.30      0.03  0.03  1.01
//   incremental sort and sweep    0.20  0.38  1.34      0.22  0.44  1.34      0.08  0.45  1.44
#include <float.h>
#include <string.h>

#include "geometry/box_tree.h"
#include "geometry/broadphase.h"

// ----------------------------------------------------------------------------------------------------- lists of pairs
// Lists of pairs in ascending order: candidates, whose fat boxes overlap, and the pairs of an update among them.

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

/// Notes two boxes, if one of them moves and the pair is allowed.
static void meet(stn_broadphase *bp, int32_t i, int32_t j) {
    int32_t a = i < j ? i : j, b = i < j ? j : i;
    bool may = (bp->moving[a] || bp->moving[b]) && (bp->allowed == NULL || bp->allowed(bp->user, a, b));
    if (may && bp->pair_count < INT32_MAX && reserve_pairs(bp, bp->pair_count + 1)) {
        bp->pairs[bp->pair_count++] = (stn_broadphase_pair){a, b};
    }
}

static bool overlap(const stn_aabb *a, const stn_aabb *b) {
    return (a->lower.x <= b->upper.x) & (b->lower.x <= a->upper.x) & (a->lower.y <= b->upper.y) &
           (b->lower.y <= a->upper.y) & (a->lower.z <= b->upper.z) & (b->lower.z <= a->upper.z);
}

static bool is_before(const stn_broadphase_pair *p, const stn_broadphase_pair *q) {
    return p->a < q->a || (p->a == q->a && p->b < q->b);
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
    bool sorted = true;
    for (int32_t i = 1; i < bp->pair_count && sorted; i++) {
        sorted = is_before(&bp->pairs[i - 1], &bp->pairs[i]);
    }
    if (!sorted) {
        counting_pass(bp, bp->pairs, bp->sorted, count, false);
        counting_pass(bp, bp->sorted, bp->pairs, count, true);
    }
}

static void swap(stn_broadphase_pair **a, stn_broadphase_pair **b) {
    stn_broadphase_pair *t = *a;
    *a = *b;
    *b = t;
}

/// What met since pair_count was 0 is added to the candidates of boxes that did not leave.
static void merge_candidates(stn_broadphase *bp, int32_t count) {
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

/// The pairs of this update: of wide boxes with all, and of candidates.
static void list_pairs(stn_broadphase *bp, int32_t count) {
    if (!bp->out_of_memory) {
        bp->pair_count = 0;
        for (int32_t k = 0; k < bp->wide_count; k++) {
            int32_t i = bp->wide[k];
            for (int32_t j = 0; j < count; j++) {
                bool met = bp->slot[j] == SLOT_WIDE && j <= i; // two wide boxes meet once
                if (!met && bp->slot[j] != SLOT_EMPTY && overlap(&bp->boxes[i], &bp->boxes[j])) {
                    meet(bp, i, j);
                }
            }
        }
    }
    if (bp->pair_count > INT32_MAX - bp->candidate_count) {
        bp->out_of_memory = true;
    }
    if (bp->out_of_memory) {
        return;
    }
    if (bp->candidate_count > 0 && reserve_pairs(bp, bp->pair_count + bp->candidate_count)) {
        // without branches: about every second candidate is a pair, in no order that a processor could guess
        stn_broadphase_pair *to = bp->pairs + bp->pair_count;
        for (int32_t i = 0; i < bp->candidate_count; i++) {
            *to = bp->candidates[i];
            to += overlap(&bp->boxes[to->a], &bp->boxes[to->b]);
        }
        bp->pair_count = (int32_t)(to - bp->pairs);
    }
    sort_pairs(bp, count);
}

// ---------------------------------------------------------------------------------------------------- blocks of boxes

enum { FEW = 48 };              // up to here all against all is faster than the tree, by measurement
enum { MANY = 4 };              // when more than 1/4 leave, walking the whole tree is faster than looking them up
static const double FAT = 0.05; // of the mean side, on each side

stn_status stn_broadphase_create(stn_context *context, stn_broadphase **out, stn_error *err) {
    *out = stn_allocate(context, 1, sizeof **out);
    if (*out == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "broad phase: out of memory");
    }
    (*out)->context = context;
    return STN_OK;
}

static void release_boxes(stn_broadphase *bp) {
    void *arrays[] = {bp->order, bp->slot,     bp->wide,  bp->key,    bp->start, bp->fat,
                      bp->left,  bp->has_left, bp->moved, bp->blocks, bp->nodes};
    for (int32_t i = 0; i < STN_COUNT(arrays); i++) {
        stn_release(bp->context, arrays[i]);
    }
    bp->order = bp->slot = bp->wide = bp->start = bp->left = NULL;
    bp->has_left = bp->moved = NULL;
    bp->key = NULL;
    bp->fat = NULL;
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
    stn_release(bp->context, bp->candidates);
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
    bp->fat = stn_allocate(bp->context, n, sizeof *bp->fat);
    bp->left = stn_allocate(bp->context, n, sizeof *bp->left);
    bp->has_left = stn_allocate(bp->context, n, sizeof *bp->has_left);
    bp->moved = stn_allocate(bp->context, n, sizeof *bp->moved);
    bp->blocks = stn_allocate(bp->context, blocks, sizeof *bp->blocks);
    bp->nodes = stn_allocate(bp->context, 2 * blocks, sizeof *bp->nodes);
    if (bp->order == NULL || bp->slot == NULL || bp->wide == NULL || bp->key == NULL || bp->start == NULL ||
        bp->fat == NULL || bp->left == NULL || bp->has_left == NULL || bp->moved == NULL || bp->blocks == NULL ||
        bp->nodes == NULL) {
        release_boxes(bp);
        return false;
    }
    bp->capacity = (int32_t)n;
    bp->slot_count = 0;
    bp->known = false;
    return true;
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

/// Pairs within one block.
static void block_self(stn_broadphase *bp, int32_t id) {
    const block *b = &bp->blocks[id];
    for (int32_t i = 0; i < LANES - 1; i++) {
        lane_mask mask = block_overlap(b, i, b);
        for (int32_t j = i + 1; j < LANES; j++) {
            if (mask[j]) {
                meet(bp, bp->order[LANES * id + i], bp->order[LANES * id + j]);
            }
        }
    }
}

/// Pairs between two blocks.
static void block_cross(stn_broadphase *bp, int32_t id_a, int32_t id_b) {
    const block *a = &bp->blocks[id_a], *b = &bp->blocks[id_b];
    for (int32_t i = 0; i < LANES; i++) {
        lane_mask mask = block_overlap(a, i, b);
        if (lanes_any(mask)) {
            for (int32_t j = 0; j < LANES; j++) {
                if (mask[j]) {
                    meet(bp, bp->order[LANES * id_a + i], bp->order[LANES * id_b + j]);
                }
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- tree
// A balanced tree of fat boxes over blocks of four, built by median splits along the longest axis. It is kept from
// update to update and only fitted anew. It is rebuilt when a walk visits half as many node pairs again as after
// building, or when boxes that left their fat ones, and so moved by a part of their size each, were looked up 8 times
// their number. How old the tree is changes the time that an update takes, never the pairs.

/// Splits so that all blocks but the last are full. Depth is at most log2 of the number of blocks, rounded up.
static int32_t build(stn_broadphase *bp, int32_t first, int32_t count) {
    int32_t id = bp->node_count++;
    node *n = &bp->nodes[id];
    n->weight = (count + LANES - 1) / LANES;
    n->right = -1;
    n->block = first / LANES;
    if (count > LANES) {
        int32_t left = (n->weight + 1) / 2 * LANES;
        box_split(bp->boxes, bp->order + first, bp->key + first, count, left);
        build(bp, first, left);
        n->right = build(bp, first + left, count - left);
    }
    return id;
}

static float least(lanes v) {
    float a = v[0] < v[1] ? v[0] : v[1], b = v[2] < v[3] ? v[2] : v[3];
    return a < b ? a : b;
}

static float greatest(lanes v) {
    float a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
    return a > b ? a : b;
}

/// Fits the nodes to the blocks. Children stand behind their parent, so one backward pass meets them first.
static void fit(stn_broadphase *bp) {
    for (int32_t i = bp->node_count - 1; i >= 0; i--) {
        node *n = &bp->nodes[i];
        if (n->right >= 0) {
            const node *l = &bp->nodes[i + 1], *r = &bp->nodes[n->right];
            n->lower = select_lanes(l->lower < r->lower, l->lower, r->lower);
            n->upper = select_lanes(l->upper > r->upper, l->upper, r->upper);
            n->moving = l->moving || r->moving;
            continue;
        }
        const block *b = &bp->blocks[n->block];
        n->lower = (lanes){least(b->lower[0]), least(b->lower[1]), least(b->lower[2]), 0.0F};
        n->upper = (lanes){greatest(b->upper[0]), greatest(b->upper[1]), greatest(b->upper[2]), 0.0F};
        n->moving = false;
        int32_t first = LANES * n->block;
        for (int32_t s = first; s < first + LANES && s < bp->slot_count; s++) {
            n->moving = n->moving || bp->moving[bp->order[s]];
        }
    }
}

static void cross(stn_broadphase *bp, int32_t id_a, int32_t id_b) {
    const node *a = &bp->nodes[id_a], *b = &bp->nodes[id_b];
    bp->work++;
    if (!lanes_all((a->lower <= b->upper) & (b->lower <= a->upper)) || !(a->moving || b->moving)) {
        return;
    }
    if (a->right < 0 && b->right < 0) {
        block_cross(bp, a->block, b->block);
    } else if (a->weight >= b->weight) {
        cross(bp, id_a + 1, id_b);
        cross(bp, a->right, id_b);
    } else {
        cross(bp, id_a, id_b + 1);
        cross(bp, id_a, b->right);
    }
}

static void walk(stn_broadphase *bp, int32_t id) {
    const node *n = &bp->nodes[id];
    if (!n->moving) {
        return;
    }
    if (n->right < 0) {
        block_self(bp, n->block);
        return;
    }
    walk(bp, id + 1);
    walk(bp, n->right);
    cross(bp, id + 1, n->right);
}

/// Lets fat box i meet those of leaves that overlap it. A pair of two that left meets once.
static void ask(stn_broadphase *bp, int32_t i) {
    const fat_box *f = &bp->fat[i];
    const lanes lower = {f->lower[0], f->lower[1], f->lower[2], 0.0F},
                upper = {f->upper[0], f->upper[1], f->upper[2], 0.0F};
    int32_t waiting[64], count = 0; // one a level; the tree is balanced
    waiting[count++] = 0;
    while (count > 0) {
        int32_t id = waiting[--count];
        const node *n = &bp->nodes[id];
        bp->work++;
        if (!lanes_all((n->lower <= upper) & (lower <= n->upper)) || !(n->moving || bp->moving[i])) {
            continue;
        }
        if (n->right >= 0) {
            waiting[count++] = n->right;
            waiting[count++] = id + 1;
            continue;
        }
        const block *b = &bp->blocks[n->block];
        lane_mask mask = (lane_mask){-1, -1, -1, -1};
        for (int32_t k = 0; k < 3; k++) {
            mask &= (lanes_of(f->lower[k]) <= b->upper[k]) & (b->lower[k] <= lanes_of(f->upper[k]));
        }
        for (int32_t k = 0; lanes_any(mask) && k < LANES; k++) {
            int32_t j = mask[k] ? bp->order[LANES * n->block + k] : i;
            if (j > i || (j < i && !bp->has_left[j])) {
                meet(bp, i, j);
            }
        }
    }
}

// -------------------------------------------------------------------------------------------------------- update

/// A float not above (below) `x`: one rounding errs by 6e-8 of the value at most, the smallest float covers underflow.
static float round_down(double x) {
    double y = x - 1.2e-7 * fabs(x) - 1e-44;
    if (!(fabs(y) <= (double)FLT_MAX)) { // keeps the order, and apart from the infinite boxes that fill a block
        return y > 0.0 ? FLT_MAX : -FLT_MAX;
    }
    return (float)y;
}

static void fatten(stn_broadphase *bp, int32_t i) {
    const double *lower = &bp->boxes[i].lower.x, *upper = &bp->boxes[i].upper.x;
    double sides = (upper[0] - lower[0]) + (upper[1] - lower[1]) + (upper[2] - lower[2]);
    double margin = bp->moving[i] ? FAT / 3.0 * sides : 0.0;
    for (int32_t k = 0; k < 3; k++) {
        bp->fat[i].lower[k] = round_down(lower[k] - margin);
        bp->fat[i].upper[k] = -round_down(-(upper[k] + margin));
    }
}

static void fill_slot(stn_broadphase *bp, int32_t s) {
    block *b = &bp->blocks[s / LANES];
    int32_t i = s % LANES;
    const fat_box *fat = s < bp->slot_count ? &bp->fat[bp->order[s]] : NULL;
    for (int32_t k = 0; k < 3; k++) {
        b->lower[k][i] = fat != NULL ? fat->lower[k] : INFINITY;
        b->upper[k][i] = fat != NULL ? fat->upper[k] : -INFINITY;
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
    bool known = bp->known && count > 0;
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
        bool stands = known && s >= 0 && s < bp->slot_count && bp->order[s] == i;
        known = known && stands == (kind == BOX_FINITE);
        if (kind != BOX_FINITE) {
            bp->slot[i] = kind == BOX_WIDE ? SLOT_WIDE : SLOT_EMPTY;
        }
    }
    *same = known && finite == bp->slot_count && memcmp(bp->moved, bp->moving, (size_t)count) == 0;
    return STN_OK;
}

/// Brings the candidates up to date after `left_count` boxes left their fat ones.
static void update_candidates(stn_broadphase *bp, int32_t count) {
    bool tree = bp->slot_count > FEW;
    int32_t blocks = (bp->slot_count + LANES - 1) / LANES;
    if (bp->stale && tree) { // order[0 .. slot_count) anew, so that near boxes stand together, and a tree over it
        bp->node_count = 0;
        build(bp, 0, bp->slot_count);
        for (int32_t s = 0; s < bp->slot_count; s++) {
            bp->slot[bp->order[s]] = s;
        }
        bp->built_work = -1;
        bp->asked = 0;
    }
    if (bp->stale) {
        for (int32_t s = 0; s < blocks * LANES; s++) {
            fill_slot(bp, s);
        }
        bp->stale = false;
    }
    bp->pair_count = 0;
    if (tree) {
        fit(bp);
    }
    if (tree && bp->known && bp->left_count <= bp->slot_count / MANY) { // pairs of boxes which left their fat ones
        for (int32_t k = 0; k < bp->left_count; k++) {
            bp->has_left[bp->left[k]] = true;
        }
        for (int32_t k = 0; k < bp->left_count; k++) {
            ask(bp, bp->left[k]);
        }
        bp->asked += bp->left_count;
        bp->stale = bp->asked > 8 * (int64_t)bp->slot_count;
        merge_candidates(bp, count);
        for (int32_t k = 0; k < bp->left_count; k++) {
            bp->has_left[bp->left[k]] = false;
        }
        return;
    }
    if (tree) {
        walk(bp, 0);
        bp->built_work = bp->built_work < 0 ? bp->work : bp->built_work;
        bp->stale = bp->work > bp->built_work + bp->built_work / 2;
    }
    for (int32_t a = 0; a < blocks && !tree; a++) {
        block_self(bp, a);
        for (int32_t b = a + 1; b < blocks; b++) {
            block_cross(bp, a, b);
        }
    }
    sort_pairs(bp, count);
    swap(&bp->pairs, &bp->candidates);
    bp->candidate_count = bp->pair_count;
}

stn_status stn_broadphase_update(stn_broadphase *bp, int32_t count, const stn_aabb *boxes, const bool *moving,
                                 bool (*allowed)(const void *user, int32_t a, int32_t b), const void *user,
                                 const stn_broadphase_pair **pairs, int32_t *pair_count, stn_error *err) {
    if (!reserve_boxes(bp, count)) {
        return stn_fail(err, STN_ERR_MEMORY, "broad phase: out of memory for %d boxes", (int)count);
    }
    bp->known = bp->known && bp->count == count && bp->allowed == allowed && bp->user == user;
    bp->boxes = boxes;
    bp->moving = moving;
    bp->allowed = allowed;
    bp->user = user;
    bp->out_of_memory = false;
    bp->work = 0;
    bool same = false;
    stn_status status = partition(bp, count, &same, err);
    if (status != STN_OK) {
        return status;
    }
    bp->known = same;
    bp->left_count = 0;
    for (int32_t i = 0; i < count && same; i++) { // new fat boxes for those that left theirs
        const fat_box *f = &bp->fat[i];
        const stn_aabb *b = &boxes[i];
        bool held = bp->slot[i] < 0 || ((double)f->lower[0] <= b->lower.x && (double)f->lower[1] <= b->lower.y &&
                                        (double)f->lower[2] <= b->lower.z && b->upper.x <= (double)f->upper[0] &&
                                        b->upper.y <= (double)f->upper[1] && b->upper.z <= (double)f->upper[2]);
        if (!held) {
            bp->left[bp->left_count++] = i;
            fatten(bp, i);
            fill_slot(bp, bp->slot[i]);
        }
    }
    if (!same) { // nothing is known: fat boxes for all, in a new order
        bp->count = count;
        bp->slot_count = 0;
        for (int32_t i = 0; i < count; i++) {
            bp->moved[i] = moving[i];
            bp->has_left[i] = false;
            if (classify(&boxes[i]) == BOX_FINITE) {
                bp->slot[i] = bp->slot_count;
                bp->order[bp->slot_count++] = i;
                fatten(bp, i);
            }
        }
        bp->left_count = bp->slot_count;
        bp->stale = true;
    }
    if (bp->left_count > 0 || !same) {
        update_candidates(bp, count);
    }
    list_pairs(bp, count);
    bp->known = !bp->out_of_memory;
    if (bp->out_of_memory) {
        return stn_fail(err, STN_ERR_MEMORY, "broad phase: out of memory for %d pairs", (int)bp->pair_count);
    }
    *pairs = bp->pairs;
    *pair_count = bp->pair_count;
    return STN_OK;
}
