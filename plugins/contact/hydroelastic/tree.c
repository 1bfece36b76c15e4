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
    const stn_aabb *boxes;
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

static stn_aabb box_union(const building *b, int32_t first, int32_t count) {
    stn_aabb all = b->boxes[b->entries[first].item];
    for (int32_t i = first + 1; i < first + count; i++) {
        const stn_aabb *box = &b->boxes[b->entries[i].item];
        all.lower = stn_vec3_make(fmin(all.lower.x, box->lower.x), fmin(all.lower.y, box->lower.y),
                                  fmin(all.lower.z, box->lower.z));
        all.upper = stn_vec3_make(fmax(all.upper.x, box->upper.x), fmax(all.upper.y, box->upper.y),
                                  fmax(all.upper.z, box->upper.z));
    }
    return all;
}

static int32_t longest_axis(stn_vec3 half) {
    if (half.x >= half.y && half.x >= half.z) {
        return 0;
    }
    return half.y >= half.z ? 1 : 2;
}

static void build(building *b, int32_t first, int32_t count) {
    stn_aabb box = box_union(b, first, count);
    int32_t at = b->tree->node_count++;
    tree_node *node = &b->tree->nodes[at];
    node->centre = stn_vec3_scale(0.5, stn_vec3_add(box.lower, box.upper));
    node->half = stn_vec3_scale(0.5, stn_vec3_sub(box.upper, box.lower));
    node->right = -1;
    node->item = count == 1 ? b->entries[first].item : -1;
    if (count == 1) {
        return;
    }
    int32_t axis = longest_axis(node->half), left = count / 2;
    for (int32_t i = first; i < first + count; i++) {
        const stn_aabb *own = &b->boxes[b->entries[i].item];
        b->entries[i].key = along(own->lower, axis) + along(own->upper, axis);
    }
    qsort(b->entries + first, (size_t)count, sizeof *b->entries, by_key);
    build(b, first, left);
    b->tree->nodes[at].right = b->tree->node_count;
    build(b, first + left, count - left);
}

stn_status tree_create(stn_context *context, const stn_aabb *boxes, int32_t count, element_tree *out, stn_error *err) {
    *out = (element_tree){0};
    building b = {boxes, stn_allocate(context, (size_t)count, sizeof(entry)), out};
    out->nodes = stn_allocate(context, 2 * (size_t)count - 1, sizeof *out->nodes);
    if (b.entries == NULL || out->nodes == NULL) {
        stn_release(context, b.entries);
        tree_clear(context, out);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a tree over %d elements", (int)count);
    }
    for (int32_t i = 0; i < count; i++) {
        b.entries[i].item = i;
    }
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
    double size[3][3]; // of the rotation's members
    double room;
} relative;

static bool boxes_meet(const relative *r, const tree_node *a, const tree_node *b) {
    const double(*s)[3] = r->size;
    stn_vec3 ha = a->half, hb = b->half;
    stn_vec3 d = stn_vec3_sub(stn_pose_apply(&r->ab, b->centre), a->centre);
    bool apart_a = fabs(d.x) > ha.x + s[0][0] * hb.x + s[0][1] * hb.y + s[0][2] * hb.z + r->room ||
                   fabs(d.y) > ha.y + s[1][0] * hb.x + s[1][1] * hb.y + s[1][2] * hb.z + r->room ||
                   fabs(d.z) > ha.z + s[2][0] * hb.x + s[2][1] * hb.y + s[2][2] * hb.z + r->room;
    if (apart_a) {
        return false;
    }
    stn_vec3 e = stn_mat3_apply_transposed(&r->ab.rotation, d);
    return fabs(e.x) <= hb.x + s[0][0] * ha.x + s[1][0] * ha.y + s[2][0] * ha.z + r->room &&
           fabs(e.y) <= hb.y + s[0][1] * ha.x + s[1][1] * ha.y + s[2][1] * ha.z + r->room &&
           fabs(e.z) <= hb.z + s[0][2] * ha.x + s[1][2] * ha.y + s[2][2] * ha.z + r->room;
}

static double bulk(const tree_node *n) {
    return n->half.x + n->half.y + n->half.z;
}

stn_status tree_meet(const element_tree *a, const element_tree *b, const stn_pose *ab, double room, tree_visit *visit,
                     void *user) {
    relative r = {.ab = *ab, .room = 2.0 * room};
    struct {
        int32_t a, b;
    } stack[2 * TREE_DEPTH + 2] = {{0, 0}};
    int32_t count = 1;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < 9; i++) {
        r.size[i / 3][i % 3] = fabs(ab->rotation.m[i / 3][i % 3]) + 1e-12;
    }
    while (count > 0 && status == STN_OK) {
        count--;
        int32_t i = stack[count].a, j = stack[count].b;
        const tree_node *m = &a->nodes[i], *n = &b->nodes[j];
        if (!boxes_meet(&r, m, n)) {
            continue;
        }
        if (m->right < 0 && n->right < 0) {
            status = visit(user, m->item, n->item);
        } else if (n->right < 0 || (m->right >= 0 && bulk(m) >= bulk(n))) {
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
    return status;
}

stn_status tree_meet_plane(const element_tree *a, stn_vec3 normal, double offset, double above, double below,
                           tree_visit_one *visit, void *user) {
    int32_t stack[TREE_DEPTH + 2] = {0}, count = 1;
    stn_status status = STN_OK;
    while (count > 0 && status == STN_OK) {
        int32_t i = stack[--count];
        const tree_node *n = &a->nodes[i];
        double height = stn_vec3_dot(normal, n->centre) + offset;
        double reach = fabs(normal.x) * n->half.x + fabs(normal.y) * n->half.y + fabs(normal.z) * n->half.z;
        reach += 1e-12 * (reach + fabs(height));
        if (!(height - reach <= above) || height + reach < -below) {
            continue;
        }
        if (n->right < 0) {
            status = visit(user, n->item);
        } else {
            stack[count++] = n->right;
            stack[count++] = i + 1;
        }
    }
    return status;
}
