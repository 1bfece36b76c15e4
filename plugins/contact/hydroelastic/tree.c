// SPDX-License-Identifier: Apache-2.0
// See tree.h. Boxes of two trees are compared by the six face normals of both (the axis test of Gottschalk et al.
// without the nine products of edges: these decide little and cost more than half).
#include "tree.h"

#include <stdlib.h>

typedef struct entry {
    double key;
    int32_t item;
} entry;

typedef struct building {
    double pad; // by which boxes are grown, for rounding [m]
    const tree_box *boxes;
    entry *entries;
    element_tree *tree;
} building;

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

static tree_box box_union(const building *b, int32_t first, int32_t count) {
    tree_box all = b->boxes[b->entries[first].item];
    for (int32_t i = first + 1; i < first + count; i++) {
        const tree_box *box = &b->boxes[b->entries[i].item];
        grow(&all.low, &box->low);
        grow(&all.full, &box->full);
        all.lowest = fmin(all.lowest, box->lowest);
        all.rise = fmax(all.rise, box->rise);
    }
    return all;
}

static stn_vec3 centre_of(const stn_aabb *b) {
    return stn_vec3_scale(0.5, stn_vec3_add(b->lower, b->upper));
}

static stn_vec3 half_of(const stn_aabb *b) {
    return stn_vec3_scale(0.5, stn_vec3_sub(b->upper, b->lower));
}

static void fill_node(tree_node *node, const tree_box *box, double pad) {
    node->low_centre = centre_of(&box->low);
    node->low_half = stn_vec3_add(half_of(&box->low), stn_vec3_make(pad, pad, pad));
    node->more_centre = stn_vec3_sub(centre_of(&box->full), node->low_centre);
    node->more_half = stn_vec3_sub(half_of(&box->full), half_of(&box->low));
    node->lowest = box->lowest;
    node->rise = box->rise;
    node->right = node->item = -1;
}

static int32_t longest_axis(stn_vec3 half) {
    if (half.x >= half.y && half.x >= half.z) {
        return 0;
    }
    return half.y >= half.z ? 1 : 2;
}

static void build(building *b, int32_t first, int32_t count) {
    tree_box box = box_union(b, first, count);
    int32_t at = b->tree->node_count++;
    tree_node *node = &b->tree->nodes[at];
    fill_node(node, &box, b->pad);
    if (count == 1) {
        node->item = b->entries[first].item;
        return;
    }
    int32_t axis = longest_axis(node->low_half), left = count / 2;
    for (int32_t i = first; i < first + count; i++) {
        const stn_aabb *own = &b->boxes[b->entries[i].item].low;
        b->entries[i].key = along(own->lower, axis) + along(own->upper, axis);
    }
    qsort(b->entries + first, (size_t)count, sizeof *b->entries, by_key);
    build(b, first, left);
    b->tree->nodes[at].right = b->tree->node_count;
    build(b, first + left, count - left);
}

stn_status tree_create(stn_context *context, const tree_box *boxes, int32_t count, double lowest, element_tree *out,
                       stn_error *err) {
    *out = (element_tree){.lowest = lowest};
    building b = {0.0, boxes, stn_allocate(context, (size_t)count, sizeof(entry)), out};
    out->nodes = stn_allocate(context, 2 * (size_t)count - 1, sizeof *out->nodes);
    if (b.entries == NULL || out->nodes == NULL) {
        stn_release(context, b.entries);
        tree_clear(context, out);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a tree over %d elements", (int)count);
    }
    for (int32_t i = 0; i < count; i++) {
        b.entries[i].item = i;
    }
    tree_box all = box_union(&b, 0, count);
    b.pad = 1e-12 * (stn_vec3_norm(all.full.lower) + stn_vec3_norm(all.full.upper));
    build(&b, 0, count);
    stn_release(context, b.entries);
    return STN_OK;
}

void tree_clear(stn_context *context, element_tree *t) {
    stn_release(context, t->nodes);
    t->nodes = NULL;
    t->node_count = 0;
}

/// B's axes in A, with what rounding in them may hide.
typedef struct relative {
    stn_pose ab;
    double size[3][3];       // of the rotation's members
    double above_a, above_b; // level less the lowest of each tree
    double level_a, level_b;
} relative;

/// A node's box at a level.
typedef struct level_box {
    stn_vec3 centre, half;
} level_box;

static inline level_box at_level(const tree_node *n, double above) {
    double share = above * n->rise;
    share = share < 1.0 ? share : 1.0;
    level_box b = {stn_vec3_mul_add(n->low_centre, share, n->more_centre),
                   stn_vec3_mul_add(n->low_half, share, n->more_half)};
    return b;
}

static inline bool boxes_meet(const relative *r, const level_box *a, const level_box *b) {
    const double(*s)[3] = r->size;
    stn_vec3 ha = a->half, hb = b->half;
    stn_vec3 d = stn_vec3_sub(stn_pose_apply(&r->ab, b->centre), a->centre);
    if (fabs(d.x) > ha.x + s[0][0] * hb.x + s[0][1] * hb.y + s[0][2] * hb.z ||
        fabs(d.y) > ha.y + s[1][0] * hb.x + s[1][1] * hb.y + s[1][2] * hb.z ||
        fabs(d.z) > ha.z + s[2][0] * hb.x + s[2][1] * hb.y + s[2][2] * hb.z) {
        return false;
    }
    stn_vec3 e = stn_mat3_apply_transposed(&r->ab.rotation, d);
    return fabs(e.x) <= hb.x + s[0][0] * ha.x + s[1][0] * ha.y + s[2][0] * ha.z &&
           fabs(e.y) <= hb.y + s[0][1] * ha.x + s[1][1] * ha.y + s[2][1] * ha.z &&
           fabs(e.z) <= hb.z + s[0][2] * ha.x + s[1][2] * ha.y + s[2][2] * ha.z;
}

static inline double bulk(const level_box *b) {
    return b->half.x + b->half.y + b->half.z;
}

void tree_meet(const element_tree *a, double level_a, const element_tree *b, double level_b, const stn_pose *ab,
               tree_visit *visit, void *user) {
    relative r = {.ab = *ab,
                  .above_a = level_a - a->lowest,
                  .above_b = level_b - b->lowest,
                  .level_a = level_a,
                  .level_b = level_b};
    struct {
        int32_t a, b;
    } stack[2 * TREE_DEPTH + 2] = {{0, 0}};
    int32_t count = 1;
    for (int32_t i = 0; i < 9; i++) {
        r.size[i / 3][i % 3] = fabs(ab->rotation.m[i / 3][i % 3]) + 1e-12;
    }
    while (count > 0) {
        count--;
        int32_t i = stack[count].a, j = stack[count].b;
        const tree_node *m = &a->nodes[i], *n = &b->nodes[j];
        level_box box_m = at_level(m, r.above_a), box_n = at_level(n, r.above_b);
        if (m->lowest > r.level_a || n->lowest > r.level_b || !boxes_meet(&r, &box_m, &box_n)) {
            continue;
        }
        if (m->right < 0 && n->right < 0) {
            if (!visit(user, m->item, n->item)) {
                return;
            }
        } else if (n->right < 0 || (m->right >= 0 && bulk(&box_m) >= bulk(&box_n))) {
            stack[count].a = m->right;
            stack[count++].b = j;
            stack[count].a = i + 1;
            stack[count++].b = j;
        } else {
            stack[count].a = i;
            stack[count++].b = n->right;
            stack[count].a = i;
            stack[count++].b = j + 1;
        }
    }
}

void tree_meet_plane(const element_tree *a, stn_vec3 normal, double offset, double above, double below,
                     tree_visit_one *visit, void *user) {
    int32_t stack[TREE_DEPTH + 2] = {0}, count = 1;
    while (count > 0) {
        int32_t i = stack[--count];
        const tree_node *n = &a->nodes[i];
        level_box b = at_level(n, (double)INFINITY);
        double height = stn_vec3_dot(normal, b.centre) + offset;
        double reach = fabs(normal.x) * b.half.x + fabs(normal.y) * b.half.y + fabs(normal.z) * b.half.z;
        reach += 1e-12 * (reach + fabs(height));
        if (height - reach > above || height + reach < -below) {
            continue;
        }
        if (n->right < 0) {
            if (!visit(user, n->item)) {
                return;
            }
        } else {
            stack[count++] = n->right;
            stack[count++] = i + 1;
        }
    }
}

void tree_meet_point(const element_tree *a, stn_vec3 point, tree_visit_one *visit, void *user) {
    int32_t stack[TREE_DEPTH + 2] = {0}, count = 1;
    while (count > 0) {
        int32_t i = stack[--count];
        const tree_node *n = &a->nodes[i];
        level_box b = at_level(n, (double)INFINITY);
        stn_vec3 d = stn_vec3_sub(point, b.centre);
        if (fabs(d.x) > b.half.x || fabs(d.y) > b.half.y || fabs(d.z) > b.half.z) {
            continue;
        }
        if (n->right < 0) {
            if (!visit(user, n->item)) {
                return;
            }
        } else {
            stack[count++] = n->right;
            stack[count++] = i + 1;
        }
    }
}
