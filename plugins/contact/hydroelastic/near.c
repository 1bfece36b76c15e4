// SPDX-License-Identifier: Apache-2.0
// See near.h. A list is noted at the second look in a row that finds a pair nearly where it was, so that what flies
// past costs nothing, with boxes grown by a slack; it holds until some point of either solid, seen from the other, may
// have moved by as much.
#include "near.h"

#include <string.h>

#include "cut.h"

/// Slack over the distance between elements on the finer surface; less than is looked up, for rounding; how far apart
/// looks may be for a list to be worth it, over the slack.
static const double slack_of_spacing = 0.1, usable = 0.9, worth = 0.25;
/// Pairs with fewer elements are found by trees as fast.
enum { LEAST_ELEMENTS = 64 };
/// Bytes of lists an element, and of all at most; slots.
enum { BYTES_PER_ELEMENT = 256, MOST_BYTES = 32 << 20, LEAST_BYTES = 1 << 14 };
enum { SLOTS = 256, WAYS = 4 };

typedef struct near_row {
    stn_aabb box;                  // of the element of N up to its level, its own frame
    int32_t element, first, count; // fours
} near_row;

/// A pair at one level, and its list if there is one.
typedef struct near_slot {
    uint64_t pair;
    double level_m;
    int64_t looked; // by the memory's clock; 0: free
    stn_pose last;  // at the last look, X_MN
    bool listed;
    int32_t refused; // looks for which there is no list, after one that was too long
    stn_pose at;     // where it was listed
    int32_t row_count;
    near_row *rows;
    tree_four *fours;
    size_t room; // [bytes] of the block at `fours`
} near_slot;

struct near_memory {
    stn_context *context;
    stn_arena *arena;
    unsigned char *bytes;
    size_t size, used;
    int64_t clock, emptied; // looks; when the bytes were last taken back
    near_slot slots[SLOTS];
};

stn_status near_memory_create(stn_context *context, int64_t element_count, near_memory **out, stn_error *err) {
    int64_t size = element_count * BYTES_PER_ELEMENT;
    size = size < LEAST_BYTES ? LEAST_BYTES : size > MOST_BYTES ? MOST_BYTES : size;
    near_memory *memory = stn_allocate(context, 1, sizeof *memory);
    *out = memory;
    if (memory != NULL) {
        memory->context = context;
        memory->size = (size_t)size;
        memory->arena = stn_arena_create(context); // for memory that is not touched before it is used
        memory->bytes = memory->arena != NULL ? stn_arena_allocate(memory->arena, memory->size, 1) : NULL;
    }
    if (memory == NULL || memory->bytes == NULL) {
        near_memory_destroy(memory);
        *out = NULL;
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for lists of near elements");
    }
    return STN_OK;
}

void near_memory_destroy(near_memory *memory) {
    if (memory != NULL) {
        stn_arena_destroy(memory->arena);
        stn_release(memory->context, memory);
    }
}

// --------------------------------------------------------------------------------------------------------- slots

/// The slot of a pair at a level: its own, or that of the pair looked at longest ago among those that may have it.
static near_slot *slot_of(near_memory *memory, const near_question *q) {
    uint64_t h = stn_hash(0, &q->pair, sizeof q->pair);
    h = stn_hash(h, &q->part_m.level, sizeof q->part_m.level);
    near_slot *ways = &memory->slots[h % (SLOTS / WAYS) * WAYS], *oldest = ways;
    for (near_slot *slot = ways; slot < ways + WAYS; slot++) {
        if (slot->looked > 0 && slot->pair == q->pair && slot->level_m == q->part_m.level) {
            return slot;
        }
        oldest = slot->looked < oldest->looked ? slot : oldest;
    }
    *oldest = (near_slot){.pair = q->pair, .level_m = q->part_m.level, .fours = oldest->fours, .room = oldest->room};
    return oldest;
}

// -------------------------------------------------------------------------------------------------------- motion

static stn_vec3 middle(const stn_aabb *b) {
    return stn_vec3_scale(0.5, stn_vec3_add(b->lower, b->upper));
}

static double radius(const stn_aabb *b) {
    return 0.5 * stn_vec3_norm(stn_vec3_sub(b->upper, b->lower));
}

/// By how much at most a point of one solid, seen from the other one, moves from X_MN = `from` to `to`: the way of N's
/// middle and a turn about it, |(R' - R) x| <= |R' - R|_F |x|, as far as both solids reach from there.
static double motion(const near_question *q, const stn_pose *from, const stn_pose *to) {
    stn_vec3 centre = middle(&q->n->bounds), here = stn_pose_apply(to, centre);
    double reach =
        radius(&q->n->bounds) + radius(&q->m->bounds) + stn_vec3_norm(stn_vec3_sub(here, middle(&q->m->bounds)));
    double turn = 0.0;
    for (int32_t i = 0; i < 9; i++) {
        double d = to->rotation.m[i / 3][i % 3] - from->rotation.m[i / 3][i % 3];
        turn += d * d;
    }
    return stn_vec3_norm(stn_vec3_sub(here, stn_pose_apply(from, centre))) + sqrt(turn) * reach;
}

/// About the distance between elements on a surface [m].
static double spacing(const solid *s) {
    stn_vec3 d = stn_vec3_sub(s->bounds.upper, s->bounds.lower);
    return sqrt(2.0 * (d.x * d.y + d.y * d.z + d.z * d.x) / (double)s->count);
}

// -------------------------------------------------------------------------------------------------------- search

void near_begin(near_search *s) {
    const near_question *question = s->question;
    near_memory *memory = s->memory;
    const solid *m = question->m, *n = question->n;
    if (memory != NULL && m->count + n->count >= LEAST_ELEMENTS) { // the slot's list, a new one, or the trees
        near_slot *slot = s->slot = slot_of(memory, question);
        bool known = slot->looked > 0;
        double slack = slack_of_spacing * fmin(spacing(m), spacing(n));
        slot->looked = ++memory->clock;
        s->reuses = slot->listed && motion(question, &slot->at, &question->mn) <= usable * slack;
        slot->refused -= slot->refused > 0;
        s->notes =
            !s->reuses && known && slot->refused == 0 && motion(question, &slot->last, &question->mn) <= worth * slack;
        s->slack = s->notes ? slack : 0.0;
        slot->last = question->mn;
    }
    if (s->reuses || s->notes) {
        stn_pose nm = stn_pose_inverse(&question->mn);
        stn_aabb whole = tree_whole(question->part_m);
        s->whole_m = tree_box_seen(&whole, &nm);
    }
    if (s->reuses) {
        s->count = s->slot->row_count;
        return;
    }
    s->count = tree_near_tree(question->part_n, question->part_m, &question->mn, s->slack, s->found_n);
    if (s->notes) {
        s->rows = STN_ARENA(s->arena, s->count, near_row);
        s->notes = s->rows != NULL;
    }
}

int32_t near_element(const near_search *s, int32_t k) {
    if (!s->reuses) {
        return s->found_n[k];
    }
    const near_row *row = &s->slot->rows[k];
    return tree_boxes_meet(&row->box, &s->whole_m) ? row->element : -1;
}

/// Notes the elements of M near the k-th one, with the slack.
static void note_row(near_search *s, int32_t k, const tree_probe *at, int32_t *found) {
    const near_question *q = s->question;
    int32_t count = tree_near(q->part_m, at, s->slack, found), fours = (count + 3) / 4;
    if ((size_t)(s->four_count + fours) * sizeof *s->fours > s->memory->size) { // would find no room
        s->notes = false;
        s->slot->refused = 64;
        return;
    }
    if (s->four_count + fours > s->four_capacity) {
        int32_t capacity = 2 * (s->four_count + fours) + 64;
        tree_four *larger = STN_ARENA(s->arena, capacity, tree_four);
        if (larger == NULL) {
            s->notes = false;
            return;
        }
        if (s->four_count > 0) {
            memcpy(larger, s->fours, (size_t)s->four_count * sizeof *larger);
        }
        s->fours = larger;
        s->four_capacity = capacity;
    }
    s->rows[k] = (near_row){tree_item_box(q->part_n, s->found_n[k]), s->found_n[k], s->four_count, fours};
    if (count > 0) { // without any there may be no array yet
        s->four_count += tree_pack(q->part_m, found, count, s->fours + s->four_count);
    }
}

int32_t near_elements_of_m(near_search *s, int32_t k, const tree_probe *at, int32_t *found) {
    const near_question *q = s->question;
    if (s->reuses) {
        const near_row *row = &s->slot->rows[k];
        return tree_near_among(s->slot->fours + row->first, row->count, at, found);
    }
    if (s->notes) {
        note_row(s, k, at, found);
    }
    if (s->slack > 0.0) {
        const stn_aabb own = tree_item_box(q->part_n, s->found_n[k]);
        if (!tree_boxes_meet(&own, &s->whole_m)) { // found for the slack alone
            return 0;
        }
    }
    return tree_near(q->part_m, at, 0.0, found);
}

void near_end(near_search *s) {
    if (!s->notes) {
        return;
    }
    near_slot *slot = s->slot;
    near_memory *memory = s->memory;
    size_t fours = (size_t)s->four_count * sizeof *s->fours, rows = (size_t)s->count * sizeof *s->rows;
    size_t size = fours + rows + 1, wanted = (size + size / 2 + 63) & ~(size_t)63;
    slot->listed = false;
    if (size > slot->room && wanted > memory->size - memory->used) {
        // when all is used up, it is taken back from everybody, but not again and again
        if (wanted > memory->size || memory->clock - memory->emptied < 64 * SLOTS) {
            slot->refused = 64;
            return;
        }
        for (int32_t i = 0; i < SLOTS; i++) {
            memory->slots[i].listed = false;
            memory->slots[i].room = 0;
        }
        memory->used = 0;
        memory->emptied = memory->clock;
    }
    if (size > slot->room) {
        slot->fours = (tree_four *)(void *)(memory->bytes + memory->used);
        slot->room = wanted;
        memory->used += wanted;
    }
    slot->rows = (near_row *)(void *)((unsigned char *)slot->fours + fours);
    if (fours > 0) {
        memcpy(slot->fours, s->fours, fours);
    }
    if (rows > 0) {
        memcpy(slot->rows, s->rows, rows);
    }
    slot->row_count = s->count;
    slot->at = s->question->mn;
    slot->listed = true;
}
