// SPDX-License-Identifier: Apache-2.0
// A balanced tree over boxes, by median splits along the longest axis. As boxes move it is only fitted to them; its
// shape is chosen anew when the surfaces of its nodes have grown by half together, for a search visits a node about as
// often as its surface is large [goldsmith-1987].
#include "geometry/box_tree.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------- splitting

/// Twice the middle.
static double centre(const stn_aabb *box, int32_t axis) {
    switch (axis) {
    case 0:
        return box->lower.x + box->upper.x;
    case 1:
        return box->lower.y + box->upper.y;
    default:
        return box->lower.z + box->upper.z;
    }
}

void box_split(const stn_aabb *boxes, int32_t *order, float *key, int32_t count, int32_t left) {
    int32_t axis = 0;
    double longest = -1.0, begin = 0.0;
    for (int32_t i = 0; i < 3; i++) {
        double low = INFINITY, high = -INFINITY;
        for (int32_t k = 0; k < count; k++) {
            double c = centre(&boxes[order[k]], i);
            low = c < low ? c : low;
            high = c > high ? c : high;
        }
        if (high - low > longest) {
            longest = high - low;
            axis = i;
            begin = low;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        key[i] = (float)(centre(&boxes[order[i]], axis) - begin); // from there: far from the origin floats are coarse
    }
    // quickselect: afterwards no key before `left` exceeds one from there on
    int32_t first = 0, last = count - 1;
    while (first < last) {
        float a = key[first], b = key[first + (last - first) / 2], c = key[last];
        float low = a < b ? a : b, high = a < b ? b : a, pivot = c < low ? low : c > high ? high : c;
        int32_t i = first, j = last;
        while (i <= j) {
            while (key[i] < pivot) {
                i++;
            }
            while (key[j] > pivot) {
                j--;
            }
            if (i <= j) {
                float k = key[i];
                key[i] = key[j];
                key[j] = k;
                int32_t box = order[i];
                order[i++] = order[j];
                order[j--] = box;
            }
        }
        if (left <= j) {
            last = j;
        } else if (left >= i) {
            first = i;
        } else {
            return;
        }
    }
}

// ------------------------------------------------------------------------------------------------------------- tree

enum { LEAF = 4, DEEPEST = 64 };
static const double LOOSE = 1.5;

enum { KIND_NONE, KIND_INNER, KIND_WIDE, KIND_EMPTY };

stn_status box_tree_init(stn_context *context, int32_t capacity, box_tree *tree, stn_error *err) {
    size_t n = (size_t)capacity + 1;
    *tree = (box_tree){.capacity = capacity};
    tree->order = stn_allocate(context, n, sizeof *tree->order);
    tree->key = stn_allocate(context, n, sizeof *tree->key);
    tree->kind = stn_allocate(context, n, sizeof *tree->kind);
    tree->nodes = stn_allocate(context, n, sizeof *tree->nodes); // leaves hold two boxes or more
    if (tree->order == NULL || tree->key == NULL || tree->kind == NULL || tree->nodes == NULL) {
        box_tree_clear(context, tree);
        return stn_fail(err, STN_ERR_MEMORY, "tree of boxes: out of memory for %d boxes", (int)capacity);
    }
    memset(tree->kind, KIND_NONE, n);
    return STN_OK;
}

void box_tree_clear(stn_context *context, box_tree *tree) {
    stn_release(context, tree->order);
    stn_release(context, tree->key);
    stn_release(context, tree->kind);
    stn_release(context, tree->nodes);
    *tree = (box_tree){0};
}

static int32_t build(box_tree *tree, const stn_aabb *boxes, int32_t first, int32_t count) {
    int32_t id = tree->node_count++;
    box_node *n = &tree->nodes[id];
    *n = (box_node){.first = first, .count = count, .right = -1};
    if (count > LEAF) {
        int32_t left = count / 2;
        box_split(boxes, tree->order + first, tree->key + first, count, left);
        build(tree, boxes, first, left);
        n->right = build(tree, boxes, first + left, count - left);
    }
    return id;
}

static void join(stn_aabb *a, const stn_aabb *b) {
    double *lower = &a->lower.x, *upper = &a->upper.x;
    const double *low = &b->lower.x, *high = &b->upper.x;
    for (int32_t k = 0; k < 3; k++) {
        lower[k] = low[k] < lower[k] ? low[k] : lower[k];
        upper[k] = high[k] > upper[k] ? high[k] : upper[k];
    }
}

/// Children stand behind their parent, so one backward pass meets them first. Returns the area of all nodes.
static double fit(box_tree *tree, const stn_aabb *boxes) {
    double area = 0.0;
    for (int32_t id = tree->node_count - 1; id >= 0; id--) {
        box_node *n = &tree->nodes[id];
        if (n->right >= 0) {
            n->box = tree->nodes[id + 1].box;
            join(&n->box, &tree->nodes[n->right].box);
        } else {
            n->box = boxes[tree->order[n->first]];
            for (int32_t i = 1; i < n->count; i++) {
                join(&n->box, &boxes[tree->order[n->first + i]]);
            }
        }
        stn_vec3 side = stn_vec3_sub(n->box.upper, n->box.lower);
        area += side.x * side.y + side.y * side.z + side.z * side.x;
    }
    return area;
}

void box_tree_update(box_tree *tree, const stn_aabb *boxes, int32_t count) {
    bool same = true;
    for (int32_t i = 0; i < count; i++) {
        const stn_aabb *b = &boxes[i];
        bool empty = !(b->lower.x <= b->upper.x && b->lower.y <= b->upper.y && b->lower.z <= b->upper.z);
        bool finite = stn_vec3_finite(b->lower) && stn_vec3_finite(b->upper);
        signed char kind = empty ? KIND_EMPTY : finite ? KIND_INNER : KIND_WIDE;
        same = same && kind == tree->kind[i];
        tree->kind[i] = kind;
    }
    if (same && fit(tree, boxes) <= LOOSE * tree->built_area) {
        return;
    }
    tree->inner_count = tree->wide_count = tree->node_count = 0;
    for (int32_t i = 0; i < count; i++) {
        if (tree->kind[i] == KIND_INNER) {
            tree->order[tree->inner_count++] = i;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        if (tree->kind[i] == KIND_WIDE) {
            tree->order[tree->inner_count + tree->wide_count++] = i;
        }
    }
    if (tree->inner_count > 0) {
        build(tree, boxes, 0, tree->inner_count);
    }
    tree->built_area = fit(tree, boxes);
}

// ----------------------------------------------------------------------------------------------------- searching

/// A node that waits, and how far it is.
typedef struct waiting {
    int32_t node;
    double at;
} waiting;

/// Where the ray enters the box, infinite when it does not before `end`. Compared by hand, as calls of fmin and fmax
/// are most of the time. A ray that runs in the plane of a side (0 times infinity) may be told to miss.
static double ray_enters(const stn_aabb *box, stn_vec3 o, stn_vec3 inverse, double end) {
    const double *lower = &box->lower.x, *upper = &box->upper.x, *from = &o.x, *factor = &inverse.x;
    double enter = 0.0, leave = end;
    for (int32_t i = 0; i < 3; i++) {
        double a = (lower[i] - from[i]) * factor[i], b = (upper[i] - from[i]) * factor[i];
        double near = a < b ? a : b, far = a > b ? a : b;
        enter = near > enter ? near : enter;
        leave = far < leave ? far : leave;
    }
    return enter <= leave + 1e-12 * fabs(leave) ? enter : (double)INFINITY;
}

void box_tree_ray(const box_tree *tree, const stn_aabb *boxes, stn_vec3 origin, stn_vec3 inverse, const double *end,
                  box_visit *visit, void *user) {
    for (int32_t i = tree->inner_count; i < tree->inner_count + tree->wide_count; i++) {
        if (ray_enters(&boxes[tree->order[i]], origin, inverse, *end) < (double)INFINITY) {
            visit(user, tree->order[i]);
        }
    }
    waiting stack[DEEPEST];
    int32_t depth = 0;
    if (tree->node_count > 0) {
        stack[depth++] = (waiting){0, ray_enters(&tree->nodes[0].box, origin, inverse, *end)};
    }
    while (depth > 0) {
        waiting next = stack[--depth];
        const box_node *n = &tree->nodes[next.node];
        if (!(next.at < (double)INFINITY) || !(next.at <= *end + 1e-12 * fabs(*end))) {
            continue;
        }
        for (int32_t i = n->first; n->right < 0 && i < n->first + n->count; i++) {
            if (ray_enters(&boxes[tree->order[i]], origin, inverse, *end) < (double)INFINITY) {
                visit(user, tree->order[i]);
            }
        }
        if (n->right >= 0) {
            waiting l = {next.node + 1, ray_enters(&tree->nodes[next.node + 1].box, origin, inverse, *end)};
            waiting r = {n->right, ray_enters(&tree->nodes[n->right].box, origin, inverse, *end)};
            stack[depth++] = l.at <= r.at ? r : l;
            stack[depth++] = l.at <= r.at ? l : r;
        }
    }
}

int32_t box_tree_near(const box_tree *tree, const stn_aabb *boxes, const stn_aabb *from, const double *within,
                      box_visit *visit, void *user) {
    int32_t looked_at = tree->wide_count;
    for (int32_t i = tree->inner_count; i < tree->inner_count + tree->wide_count; i++) {
        if (box_gap(&boxes[tree->order[i]], from) <= *within) {
            visit(user, tree->order[i]);
        }
    }
    waiting stack[DEEPEST];
    int32_t depth = 0;
    if (tree->node_count > 0) {
        stack[depth++] = (waiting){0, box_gap(&tree->nodes[0].box, from)};
    }
    while (depth > 0) {
        waiting next = stack[--depth];
        const box_node *n = &tree->nodes[next.node];
        looked_at++;
        if (!(next.at <= *within)) {
            continue;
        }
        for (int32_t i = n->first; n->right < 0 && i < n->first + n->count; i++) {
            looked_at++;
            if (box_gap(&boxes[tree->order[i]], from) <= *within) {
                visit(user, tree->order[i]);
            }
        }
        if (n->right >= 0) {
            waiting l = {next.node + 1, box_gap(&tree->nodes[next.node + 1].box, from)};
            waiting r = {n->right, box_gap(&tree->nodes[n->right].box, from)};
            stack[depth++] = l.at <= r.at ? r : l;
            stack[depth++] = l.at <= r.at ? l : r;
        }
    }
    return looked_at;
}
