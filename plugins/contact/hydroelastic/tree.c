// SPDX-License-Identifier: Apache-2.0
// See tree.h.
#include "tree.h"

#include <stdlib.h>

typedef struct entry {
    double key;
    int32_t item;
} entry;

typedef struct building {
    const tree_box *boxes;
    entry *entries;
    element_tree *tree;
    double pad; // by which boxes are grown: rounding to single precision [m]
} building;

/// Items that become a child.
typedef struct range {
    int32_t first, count;
} range;

static int by_key(const void *left, const void *right) {
    const entry *a = left, *b = right;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return (a->item > b->item) - (a->item < b->item);
}

static double along(stn_vec3 v, int32_t axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static void grow(stn_aabb *all, const stn_aabb *by) {
    all->lower = stn_vec3_make(fmin(all->lower.x, by->lower.x), fmin(all->lower.y, by->lower.y),
                               fmin(all->lower.z, by->lower.z));
    all->upper = stn_vec3_make(fmax(all->upper.x, by->upper.x), fmax(all->upper.y, by->upper.y),
                               fmax(all->upper.z, by->upper.z));
}

static tree_box box_union(const building *b, range r) {
    tree_box all = b->boxes[b->entries[r.first].item];
    for (int32_t i = r.first + 1; i < r.first + r.count; i++) {
        const tree_box *box = &b->boxes[b->entries[i].item];
        grow(&all.low, &box->low);
        grow(&all.full, &box->full);
        all.lowest = fmin(all.lowest, box->lowest);
        all.rise = fmax(all.rise, box->rise);
    }
    return all;
}

/// Halves a range at the median of its boxes along their longest axis.
static void halve(building *b, range whole, range *left, range *right) {
    tree_box box = box_union(b, whole);
    stn_vec3 size = stn_vec3_sub(box.low.upper, box.low.lower);
    int32_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    for (int32_t i = whole.first; i < whole.first + whole.count; i++) {
        const stn_aabb *own = &b->boxes[b->entries[i].item].low;
        b->entries[i].key = along(own->lower, axis) + along(own->upper, axis);
    }
    qsort(b->entries + whole.first, (size_t)whole.count, sizeof *b->entries, by_key);
    *left = (range){whole.first, whole.count / 2};
    *right = (range){whole.first + whole.count / 2, whole.count - whole.count / 2};
}

static int32_t build(building *b, range whole) {
    int32_t at = b->tree->node_count++, count = 1;
    range part[4] = {whole};
    for (int32_t depth = 0; depth < 2; depth++) { // into at most four parts, the larger ones first
        for (int32_t i = count - 1; i >= 0; i--) {
            if (part[i].count > 1) {
                range left, right;
                halve(b, part[i], &left, &right);
                part[i] = left;
                part[count++] = right;
            }
        }
    }
    // boxes of nodes are grown by more than those of items, so that whatever meets the box of an item meets those of
    // all nodes above it, however numbers are rounded: what is found depends on the boxes of items alone
    for (int32_t k = 0; k < 4; k++) {
        tree_node *node = &b->tree->nodes[at];
        if (k >= count) {
            for (int32_t axis = 0; axis < 3; axis++) {
                node->low_lower[axis][k] = INFINITY;
                node->low_upper[axis][k] = -INFINITY;
            }
            node->lowest[k] = INFINITY;
            continue;
        }
        tree_box box = box_union(b, part[k]);
        bool alone = part[k].count == 1;
        int32_t item = b->entries[part[k].first].item;
        double pad = alone ? b->pad : 2.0 * b->pad;
        for (int32_t axis = 0; axis < 3; axis++) {
            double low = along(box.low.lower, axis) - pad, high = along(box.low.upper, axis) + pad;
            node->low_lower[axis][k] = (float)low;
            node->low_upper[axis][k] = (float)high;
            node->more_lower[axis][k] = (float)(along(box.full.lower, axis) - pad - low);
            node->more_upper[axis][k] = (float)(along(box.full.upper, axis) + pad - high);
        }
        node->lowest[k] = (float)(box.lowest - 1e-6 * fabs(box.lowest));
        node->rise[k] = (float)(box.rise * (1.0 + 1e-6));
        node->child[k] = alone ? -1 - item : build(b, part[k]);
        if (alone) {
            b->tree->lane_of[item] = 4 * at + k;
        }
    }
    return at;
}

stn_status tree_create(stn_context *context, const tree_box *boxes, int32_t count, double lowest, element_tree *out,
                       stn_error *err) {
    *out = (element_tree){.item_count = count, .lowest = lowest};
    building b = {.boxes = boxes, .entries = stn_allocate(context, (size_t)count, sizeof(entry)), .tree = out};
    out->nodes = stn_allocate(context, (size_t)count, sizeof *out->nodes); // each has two children or is alone
    out->lane_of = stn_allocate(context, (size_t)count, sizeof *out->lane_of);
    if (b.entries == NULL || out->nodes == NULL || out->lane_of == NULL) {
        stn_release(context, b.entries);
        tree_clear(context, out);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a tree over %d elements", (int)count);
    }
    for (int32_t i = 0; i < count; i++) {
        b.entries[i].item = i;
    }
    tree_box all = box_union(&b, (range){0, count});
    b.pad = 1e-6 * (stn_vec3_norm(all.full.lower) + stn_vec3_norm(all.full.upper));
    build(&b, (range){0, count});
    stn_release(context, b.entries);
    return STN_OK;
}

void tree_clear(stn_context *context, element_tree *t) {
    stn_release(context, t->nodes);
    stn_release(context, t->lane_of);
    t->nodes = NULL;
    t->lane_of = NULL;
    t->node_count = t->item_count = 0;
}

static inline tree_lanes all_lanes(double x) {
    float f = (float)x;
    return (tree_lanes){f, f, f, f};
}

typedef int32_t tree_mask __attribute__((vector_size(16)));

static inline tree_lanes choose(tree_mask mask, tree_lanes yes, tree_lanes no) {
    return (tree_lanes)((mask & (tree_mask)yes) | (~mask & (tree_mask)no));
}

/// Items go to the result, nodes to the stack.
static inline int32_t sort_out(const tree_node *n, tree_mask meets, int32_t *stack, int32_t *depth, int32_t *found,
                               int32_t count) {
    for (int32_t k = 3; k >= 0; k--) {
        if (meets[k] != 0) {
            if (n->child[k] < 0) {
                found[count++] = -1 - n->child[k];
            } else {
                stack[(*depth)++] = n->child[k];
            }
        }
    }
    return count;
}

/// Lowest and highest value of normal . x + offset over boxes.
static inline void heights_over(const tree_lanes lower[3], const tree_lanes upper[3], const tree_lanes normal[3],
                                tree_lanes offset, tree_lanes *lowest, tree_lanes *highest) {
    *lowest = *highest = offset;
    for (int32_t axis = 0; axis < 3; axis++) {
        tree_lanes a = normal[axis] * lower[axis], b = normal[axis] * upper[axis];
        *lowest += choose(a < b, a, b);
        *highest += choose(a < b, b, a);
    }
}

/// Boxes of the children of a node up to a level, `above` the lowest of the tree.
static inline void boxes_up_to(const tree_node *n, tree_lanes above, tree_lanes low[3], tree_lanes high[3]) {
    const tree_lanes one = all_lanes(1.0);
    tree_lanes share = above * n->rise;
    share = choose(share < one, share, one);
    for (int32_t axis = 0; axis < 3; axis++) {
        low[axis] = n->low_lower[axis] + share * n->more_lower[axis];
        high[axis] = n->low_upper[axis] + share * n->more_upper[axis];
    }
}

/// A probe for four boxes at a time: what is within `slack` of its plane.
typedef struct probe {
    tree_lanes lower[3], upper[3], normal[3], offset, slack;
    bool flat;
} probe;

static inline probe probe_of(const stn_aabb *box, const tree_probe *plane, double slack) {
    const bool flat = plane != NULL && plane->flat;
    const stn_vec3 n = flat ? plane->normal : stn_vec3_zero();
    probe p = {{all_lanes(box->lower.x), all_lanes(box->lower.y), all_lanes(box->lower.z)},
               {all_lanes(box->upper.x), all_lanes(box->upper.y), all_lanes(box->upper.z)},
               {all_lanes(n.x), all_lanes(n.y), all_lanes(n.z)},
               all_lanes(flat ? plane->offset : 0.0),
               all_lanes(slack),
               flat};
    return p;
}

static inline tree_mask probe_meets(const probe *p, const tree_lanes low[3], const tree_lanes high[3]) {
    tree_mask meets = (low[0] <= p->upper[0]) & (high[0] >= p->lower[0]) & (low[1] <= p->upper[1]) &
                      (high[1] >= p->lower[1]) & (low[2] <= p->upper[2]) & (high[2] >= p->lower[2]);
    if (p->flat) {
        tree_lanes lowest, highest;
        heights_over(low, high, p->normal, p->offset, &lowest, &highest);
        meets &= (lowest <= p->slack) & (highest >= -p->slack);
    }
    return meets;
}

int32_t tree_near(tree_part part, const tree_probe *at, double slack, int32_t *found) {
    const tree_lanes above = all_lanes(part.level - part.tree->lowest), top = all_lanes(part.level);
    const stn_aabb grown = tree_box_grown(&at->box, slack);
    const probe p = probe_of(&grown, at, slack);
    int32_t stack[3 * TREE_DEPTH + 4] = {0}, depth = 1, count = 0;
    while (depth > 0) {
        const tree_node *n = &part.tree->nodes[stack[--depth]];
        tree_lanes low[3], high[3];
        boxes_up_to(n, above, low, high);
        count = sort_out(n, (n->lowest <= top) & probe_meets(&p, low, high), stack, &depth, found, count);
    }
    return count;
}

int32_t tree_pack(tree_part part, const int32_t *items, int32_t count, tree_four *fours) {
    const element_tree *t = part.tree;
    const tree_lanes above = all_lanes(part.level - t->lowest);
    for (int32_t i = 0; i < (count + 3) / 4 * 4; i++) {
        tree_four *four = &fours[i / 4];
        tree_lanes low[3] = {all_lanes((double)INFINITY)}, high[3] = {all_lanes(-(double)INFINITY)};
        int32_t lane = i < count ? t->lane_of[items[i]] : 0;
        if (i < count) {
            boxes_up_to(&t->nodes[lane / 4], above, low, high);
        }
        for (int32_t axis = 0; axis < 3; axis++) {
            four->lower[axis][i % 4] = low[axis][lane % 4];
            four->upper[axis][i % 4] = high[axis][lane % 4];
        }
        four->item[i % 4] = i < count ? items[i] : -1;
    }
    return (count + 3) / 4;
}

int32_t tree_near_among(const tree_four *fours, int32_t four_count, const tree_probe *at, int32_t *found) {
    const probe p = probe_of(&at->box, at, 0.0);
    int32_t count = 0;
    for (int32_t i = 0; i < four_count; i++) {
        const tree_mask meets = probe_meets(&p, fours[i].lower, fours[i].upper);
        for (int32_t k = 0; k < 4; k++) {
            found[count] = fours[i].item[k];
            count -= meets[k];
        }
    }
    return count;
}

stn_aabb tree_box_seen(const stn_aabb *box, const stn_pose *ab) {
    const double(*r)[3] = ab->rotation.m;
    stn_vec3 c = stn_pose_apply(ab, stn_vec3_scale(0.5, stn_vec3_add(box->lower, box->upper)));
    stn_vec3 h = stn_vec3_scale(0.5, stn_vec3_sub(box->upper, box->lower));
    h = stn_vec3_make(fabs(r[0][0]) * h.x + fabs(r[0][1]) * h.y + fabs(r[0][2]) * h.z,
                      fabs(r[1][0]) * h.x + fabs(r[1][1]) * h.y + fabs(r[1][2]) * h.z,
                      fabs(r[2][0]) * h.x + fabs(r[2][1]) * h.y + fabs(r[2][2]) * h.z);
    return (stn_aabb){stn_vec3_sub(c, h), stn_vec3_add(c, h)};
}

/// Does something in the tree meet the box? Told from nodes that are no larger than it.
static bool touches(tree_part part, const stn_aabb *box) {
    const element_tree *t = part.tree;
    const tree_lanes above = all_lanes(part.level - t->lowest), top = all_lanes(part.level);
    const probe p = probe_of(box, NULL, 0.0);
    const float size = p.upper[0][0] - p.lower[0][0] + p.upper[1][0] - p.lower[1][0] + p.upper[2][0] - p.lower[2][0];
    int32_t stack[3 * TREE_DEPTH + 4] = {0}, depth = 1;
    while (depth > 0) {
        const tree_node *n = &t->nodes[stack[--depth]];
        tree_lanes low[3], high[3];
        boxes_up_to(n, above, low, high);
        tree_mask meets = (n->lowest <= top) & probe_meets(&p, low, high);
        tree_lanes sizes = (high[0] - low[0]) + (high[1] - low[1]) + (high[2] - low[2]);
        for (int32_t k = 0; k < 4; k++) {
            if (meets[k] != 0) {
                if (n->child[k] < 0 || sizes[k] <= size) {
                    return true;
                }
                stack[depth++] = n->child[k];
            }
        }
    }
    return false;
}

/// The box of child k up to a level.
static inline stn_aabb child_box(tree_part part, const tree_node *n, int32_t k) {
    double share = (part.level - part.tree->lowest) * (double)n->rise[k], corner[6];
    share = share < 1.0 ? share : 1.0;
    for (int32_t axis = 0; axis < 3; axis++) {
        corner[axis] = (double)n->low_lower[axis][k] + share * (double)n->more_lower[axis][k];
        corner[3 + axis] = (double)n->low_upper[axis][k] + share * (double)n->more_upper[axis][k];
    }
    stn_aabb box = {{corner[0], corner[1], corner[2]}, {corner[3], corner[4], corner[5]}};
    return box;
}

static bool has_child(const tree_node *n, int32_t k, double level) {
    return n->lowest[k] <= (float)level && n->low_lower[0][k] <= n->low_upper[0][k];
}

stn_aabb tree_whole(tree_part part) {
    const tree_node *root = &part.tree->nodes[0];
    stn_aabb all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t k = 0; k < 4; k++) {
        if (has_child(root, k, part.level)) {
            stn_aabb box = child_box(part, root, k);
            grow(&all, &box);
        }
    }
    return all;
}

stn_aabb tree_item_box(tree_part part, int32_t item) {
    int32_t lane = part.tree->lane_of[item];
    return child_box(part, &part.tree->nodes[lane / 4], lane % 4);
}

int32_t tree_near_tree(tree_part part, tree_part other, const stn_pose *ot, double slack, int32_t *found) {
    int32_t stack[3 * TREE_DEPTH + 4] = {0}, depth = 1, count = 0;
    stn_pose to = stn_pose_inverse(ot);
    stn_aabb whole = tree_whole(other);
    whole = tree_box_seen(&whole, &to);
    whole = tree_box_grown(&whole, slack);
    while (depth > 0) {
        const tree_node *n = &part.tree->nodes[stack[--depth]];
        for (int32_t k = 3; k >= 0; k--) {
            stn_aabb box = child_box(part, n, k);
            if (!has_child(n, k, part.level) || !tree_boxes_meet(&box, &whole)) {
                continue;
            }
            if (n->child[k] < 0) {
                found[count++] = -1 - n->child[k];
                continue;
            }
            box = tree_box_seen(&box, ot);
            box = tree_box_grown(&box, slack);
            if (touches(other, &box)) {
                stack[depth++] = n->child[k];
            }
        }
    }
    return count;
}

int32_t tree_near_plane(const element_tree *t, stn_vec3 normal, double offset, double above, double below,
                        int32_t *found) {
    const tree_lanes normals[3] = {all_lanes(normal.x), all_lanes(normal.y), all_lanes(normal.z)};
    int32_t stack[3 * TREE_DEPTH + 4] = {0}, depth = 1, count = 0;
    while (depth > 0) {
        const tree_node *n = &t->nodes[stack[--depth]];
        tree_lanes low[3], high[3], lowest, highest;
        for (int32_t axis = 0; axis < 3; axis++) {
            low[axis] = n->low_lower[axis] + n->more_lower[axis];
            high[axis] = n->low_upper[axis] + n->more_upper[axis];
        }
        heights_over(low, high, normals, all_lanes(offset), &lowest, &highest);
        tree_mask meets =
            (lowest <= all_lanes(above)) & (highest >= all_lanes(-below)) & (n->lowest < all_lanes((double)INFINITY));
        count = sort_out(n, meets, stack, &depth, found, count);
    }
    return count;
}
