// SPDX-License-Identifier: Apache-2.0
// Building the tree of boxes over a mesh: median splits along the longest axis, twice for the four children of a node,
// so that the depth is log4 n whatever the triangles are like. The median is found by halving the interval of values:
// two passes over evenly spread ones, at most SPLIT_PASSES, where quickselect has inputs that take n^2.
#include <float.h>
#include <string.h>

#include "geometry/mesh_tree.h"

enum { SPLIT_PASSES = 40 };

/// What is arranged while the tree is built.
typedef struct build {
    const stn_mesh *mesh;
    mesh_tree *tree;
    int32_t *order;   // triangles, near ones together
    float *centre[3]; // [axis][triangle], doubled
} build;

static stn_aabb triangle_box(const stn_mesh *mesh, int32_t triangle) {
    const int32_t *ids = mesh->triangles + 3 * (size_t)triangle;
    stn_vec3 a = stn_vec3_at(mesh->vertices, ids[0]);
    stn_aabb box = {a, a};
    for (int32_t k = 1; k < 3; k++) {
        stn_vec3 p = stn_vec3_at(mesh->vertices, ids[k]);
        box.lower = stn_vec3_make(fmin(box.lower.x, p.x), fmin(box.lower.y, p.y), fmin(box.lower.z, p.z));
        box.upper = stn_vec3_make(fmax(box.upper.x, p.x), fmax(box.upper.y, p.y), fmax(box.upper.z, p.z));
    }
    return box;
}

/// Afterwards no centre before place `middle` of the range lies beyond one from there on, along the axis on which the
/// centres spread most.
static void split_at(build *b, int32_t first, int32_t count, int32_t middle) {
    const float *centre = b->centre[0];
    float low = 0.0F, high = 0.0F, longest = -1.0F;
    for (int32_t axis = 0; axis < 3; axis++) {
        float least = FLT_MAX, most = -FLT_MAX;
        for (int32_t s = first; s < first + count; s++) {
            float c = b->centre[axis][b->order[s]];
            least = c < least ? c : least;
            most = c > most ? c : most;
        }
        if (most - least > longest) {
            longest = most - least;
            centre = b->centre[axis];
            low = least;
            high = most;
        }
    }
    for (int32_t pass = 0; pass < SPLIT_PASSES && count > 1; pass++) {
        float pivot = 0.5F * (low + high);
        if (!(pivot > low)) { // neighbouring values
            pivot = high;
            pass = SPLIT_PASSES;
        }
        int32_t *order = b->order + first, below = 0;
        for (int32_t s = 0; s < count; s++) { // those below the pivot to the front
            int32_t triangle = order[s];
            if (centre[triangle] < pivot) {
                order[s] = order[below];
                order[below++] = triangle;
            }
        }
        if (middle < below) {
            count = below;
            high = pivot;
        } else {
            first += below;
            count -= below;
            middle -= below;
            low = pivot;
        }
    }
}

static void set_lane(tree_node *node, int32_t lane, const float lower[3], const float upper[3], int32_t child) {
    for (int32_t axis = 0; axis < 3; axis++) {
        node->lower[axis][lane] = lower[axis];
        node->upper[axis][lane] = upper[axis];
    }
    node->child[lane] = child;
}

static void add_node(const build *b, tree_node *node, int32_t lane, int32_t child) {
    const tree_node *c = &b->tree->nodes[child];
    float lower[3], upper[3];
    for (int32_t axis = 0; axis < 3; axis++) {
        lower[axis] = c->lower[axis][0];
        upper[axis] = c->upper[axis][0];
        for (int32_t k = 1; k < LANES; k++) {
            lower[axis] = c->lower[axis][k] < lower[axis] ? c->lower[axis][k] : lower[axis];
            upper[axis] = c->upper[axis][k] > upper[axis] ? c->upper[axis][k] : upper[axis];
        }
    }
    set_lane(node, lane, lower, upper, child);
}

/// Triangles of the first half: whole blocks of four, so that all nodes at the bottom but one are full.
static int32_t left_half(int32_t count) {
    int32_t blocks = (count + LANES - 1) / LANES;
    return blocks > 1 ? (blocks + 1) / 2 * LANES : count;
}

static int32_t build_node(build *b, int32_t first, int32_t count) {
    int32_t id = b->tree->node_count++;
    tree_node *node = &b->tree->nodes[id];
    for (int32_t axis = 0; axis < 3; axis++) {
        node->lower[axis] = lanes_of((float)INFINITY);
        node->upper[axis] = lanes_of(-(float)INFINITY);
    }
    memset(node->child, -1, sizeof node->child);
    if (count <= LANES) {
        for (int32_t i = 0; i < count; i++) {
            int32_t triangle = b->order[first + i];
            stn_aabb box = triangle_box(b->mesh, triangle);
            stn_vec3 low = tree_local(b->tree, box.lower), high = tree_local(b->tree, box.upper);
            const float lower[3] = {(float)low.x - TREE_MARGIN, (float)low.y - TREE_MARGIN, (float)low.z - TREE_MARGIN};
            const float upper[3] = {(float)high.x + TREE_MARGIN, (float)high.y + TREE_MARGIN,
                                    (float)high.z + TREE_MARGIN};
            set_lane(node, i, lower, upper, ~triangle);
        }
        return id;
    }
    int32_t half = left_half(count);
    split_at(b, first, count, half);
    int32_t lane = 0;
    for (int32_t side = 0; side < 2; side++) {
        int32_t start = side == 0 ? first : first + half, n = side == 0 ? half : count - half, left = left_half(n);
        if (left < n) {
            split_at(b, start, n, left);
        }
        add_node(b, node, lane++, build_node(b, start, left));
        if (left < n) {
            add_node(b, node, lane++, build_node(b, start + left, n - left));
        }
    }
    return id;
}

void mesh_tree_destroy(mesh_tree *tree) {
    if (tree != NULL) {
        stn_release(tree->context, tree->nodes);
        stn_release(tree->context, tree);
    }
}

size_t mesh_tree_bytes(const mesh_tree *tree) {
    return tree != NULL ? sizeof *tree + (size_t)tree->node_count * sizeof *tree->nodes : 0;
}

static mesh_tree *make_tree(const stn_mesh *mesh, stn_context *context) {
    size_t n = (size_t)mesh->triangle_count, blocks = (n + LANES - 1) / LANES;
    build b = {.mesh = mesh, .tree = stn_allocate(context, 1, sizeof *b.tree)};
    b.order = stn_allocate(context, n, sizeof *b.order);
    float *centres = stn_allocate(context, 3 * n, sizeof *centres);
    if (b.tree != NULL) {
        // a power of two, so that only the difference to the centre rounds
        stn_vec3 size = stn_vec3_sub(mesh->bounds.upper, mesh->bounds.lower);
        int exponent;
        frexp(0.5 * fmax(size.x, fmax(size.y, size.z)), &exponent);
        *b.tree = (mesh_tree){
            .context = context,
            .centre = stn_vec3_mul_add(stn_vec3_scale(0.5, mesh->bounds.lower), 0.5, mesh->bounds.upper),
            .scale = ldexp(1.0, exponent < -1000 ? 1000 : -exponent),
            .nodes = stn_allocate(context, 2 * blocks, sizeof *b.tree->nodes), // every inner one has two children
        };
    }
    bool complete = b.tree != NULL && b.tree->nodes != NULL && b.order != NULL && centres != NULL;
    if (complete) {
        for (size_t axis = 0; axis < 3; axis++) {
            b.centre[axis] = centres + axis * n;
        }
        for (int32_t i = 0; i < mesh->triangle_count; i++) {
            stn_aabb box = triangle_box(mesh, i);
            stn_vec3 low = tree_local(b.tree, box.lower), high = tree_local(b.tree, box.upper);
            b.centre[0][i] = (float)(low.x + high.x);
            b.centre[1][i] = (float)(low.y + high.y);
            b.centre[2][i] = (float)(low.z + high.z);
            b.order[i] = i;
        }
        build_node(&b, 0, mesh->triangle_count);
        size_t used = (size_t)b.tree->node_count;
        tree_node *fitted = stn_reallocate(context, b.tree->nodes, 2 * blocks, used, sizeof *fitted);
        b.tree->nodes = fitted != NULL ? fitted : b.tree->nodes;
    } else {
        mesh_tree_destroy(b.tree);
    }
    stn_release(context, centres);
    stn_release(context, b.order);
    return complete ? b.tree : NULL;
}

const mesh_tree *mesh_tree_of(const stn_mesh *mesh) {
    mesh_object *object = (mesh_object *)mesh;
    mesh_tree *tree = atomic_load_explicit(&object->tree, memory_order_acquire);
    if (tree != NULL) {
        return tree;
    }
    mesh_tree *made = make_tree(mesh, object->context);
    if (made != NULL && !atomic_compare_exchange_strong_explicit(&object->tree, &tree, made, memory_order_acq_rel,
                                                                 memory_order_acquire)) {
        mesh_tree_destroy(made); // another thread was first
        return tree;
    }
    return made;
}

stn_status stn_mesh_prepare(const stn_mesh *mesh, stn_error *err) {
    if (mesh_tree_of(mesh) != NULL) {
        return STN_OK;
    }
    return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for the tree over its %d triangles",
                    mesh->triangle_count);
}
