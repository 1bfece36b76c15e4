// SPDX-License-Identifier: Apache-2.0
// Which triangles bend gently from their neighbours, which edges are ridges, and for the children of each node of the
// tree a cone that holds all of their normals.
#include "geometry/mesh_tree.h"

static const double gentle_bend = 0.26, gentle_angle = 1.3; // [rad] 15 and 75 degrees, but for rounding

struct mesh_bend {
    stn_context *context;
    uint8_t *flags;   // (triangle_count) STN_BEND_...
    part_look *looks; // (node_count x LANES)
};

void mesh_bend_destroy(mesh_bend *bend) {
    if (bend != NULL) {
        stn_release(bend->context, bend->flags);
        stn_release(bend->context, bend->looks);
        stn_release(bend->context, bend);
    }
}

size_t mesh_bend_bytes(const mesh_bend *bend, const stn_mesh *mesh) {
    return bend == NULL ? 0
                        : sizeof *bend + (size_t)mesh->triangle_count * sizeof *bend->flags +
                              LANES * (size_t)mesh_tree_of(mesh)->node_count * sizeof *bend->looks;
}

/// Unit normal; false: a needle has none.
static bool look_of(const stn_mesh *mesh, int32_t id, stn_vec3 *normal) {
    mesh_triangle t = triangle_of(mesh, id);
    stn_vec3 a = stn_vec3_sub(t.b, t.a), b = stn_vec3_sub(t.c, t.a), n = stn_vec3_cross(a, b);
    *normal = stn_vec3_normalize_or(n, n);
    return stn_vec3_norm(n) > 1e-5 * (stn_vec3_dot(a, a) + stn_vec3_dot(b, b));
}

static uint8_t bend_of(const stn_mesh *mesh, const int32_t *across, int32_t id) {
    mesh_triangle t = triangle_of(mesh, id);
    const stn_vec3 corner[4] = {t.a, t.b, t.c, t.a};
    stn_vec3 own, other;
    bool gentle = look_of(mesh, id, &own);
    uint8_t flags = 0;
    for (int32_t k = 0; k < 3; k++) {
        int32_t edge = across[3 * (size_t)id + (size_t)k];
        gentle = gentle && edge >= 0 && look_of(mesh, edge / 3, &other) && stn_vec3_dot(own, other) >= cos(gentle_bend);
        bool ridge = edge < 0;
        if (edge >= 0 && edge / 3 > id) { // where the far corner of the other one lies
            stn_vec3 side = stn_vec3_sub(corner[k + 1], corner[k]), outward = stn_vec3_cross(side, own);
            int32_t far = mesh->triangles[edge / 3 * 3 + (edge + 2) % 3];
            stn_vec3 w = stn_vec3_sub(stn_vec3_at(mesh->vertices, far), corner[k]);
            ridge = -stn_vec3_dot(own, w) * stn_vec3_norm(outward) > 1e-9 * fabs(stn_vec3_dot(outward, w));
        }
        flags |= (uint8_t)(ridge ? STN_BEND_RIDGE << k : 0);
    }
    return flags | (gentle ? STN_BEND_GENTLE : 0);
}

static bool is_ridge(const int32_t *across, const uint8_t *flags, int32_t edge) {
    int32_t other = across[edge], first = other >= 0 && other < edge ? other : edge;
    return (flags[first / 3] >> first % 3 & STN_BEND_RIDGE) != 0;
}

/// Of the corner that an edge leaves, once the ridges are known: goes round it one way, at a border also the other way.
static bool is_peak(const int32_t *across, const uint8_t *flags, int32_t edge) {
    int32_t at = edge;
    bool ridge = false;
    do {
        int32_t into = at / 3 * 3 + (at + 2) % 3;
        ridge = ridge || is_ridge(across, flags, at) || is_ridge(across, flags, into);
        at = across[into];
        if (at >= 0 && at / 3 < edge / 3) {
            return false;
        }
    } while (at >= 0 && at != edge);
    at = at < 0 ? across[edge] : -1;
    while (at >= 0) {
        if (at / 3 < edge / 3) {
            return false;
        }
        at = across[at / 3 * 3 + (at + 1) % 3];
    }
    return ridge;
}

/// Writes the looks of a node's children; those of all later nodes are known.
static void look_together(const stn_mesh *mesh, const mesh_tree *tree, const mesh_bend *bend, int32_t node) {
    for (int32_t lane = 0; lane < LANES; lane++) {
        part_look *look = &bend->looks[LANES * (size_t)node + (size_t)lane];
        int32_t child = tree->nodes[node].child[lane];
        *look = (part_look){.cosine = 2.0F};
        if (tree->nodes[node].lower[0][lane] > tree->nodes[node].upper[0][lane]) { // no child
            *look = (part_look){.cosine = -2.0F};
            continue;
        }
        if (child < 0) {
            stn_vec3 n;
            int32_t id = ~child;
            if (look_of(mesh, id, &n) && (bend->flags[id] & STN_BEND_GENTLE)) {
                *look = (part_look){{(float)n.x, (float)n.y, (float)n.z}, (float)cos(gentle_angle)};
            }
            continue;
        }
        const part_look *below = &bend->looks[LANES * (size_t)child];
        stn_vec3 sum = stn_vec3_zero(), n;
        double least = gentle_angle;
        for (int32_t k = 0; k < LANES; k++) {
            sum = stn_vec3_add(sum, stn_vec3_make(below[k].normal[0], below[k].normal[1], below[k].normal[2]));
        }
        n = stn_vec3_normalize_or(sum, stn_vec3_zero());
        for (int32_t k = 0; k < LANES; k++) {
            stn_vec3 other = {below[k].normal[0], below[k].normal[1], below[k].normal[2]};
            double cosine = below[k].cosine;
            if (cosine > -1.0) { // within this angle of the child's look
                double within = cosine <= 1.0 ? acos(cosine) : -1.0;
                least = fmin(least, within - acos(fmin(stn_vec3_dot(n, other), 1.0)) - 1e-3);
            }
        }
        if (least > 0.0) {
            *look = (part_look){{(float)n.x, (float)n.y, (float)n.z}, (float)cos(least)};
        }
    }
}

static mesh_bend *make_bend(const stn_mesh *mesh, stn_context *context) {
    const int32_t *across = stn_mesh_across(mesh);
    const mesh_tree *tree = mesh_tree_of(mesh);
    mesh_bend *bend = stn_allocate(context, 1, sizeof *bend);
    if (bend == NULL || across == NULL || tree == NULL) {
        stn_release(context, bend);
        return NULL;
    }
    *bend = (mesh_bend){.context = context,
                        .flags = stn_allocate(context, (size_t)mesh->triangle_count, sizeof *bend->flags),
                        .looks = stn_allocate(context, LANES * (size_t)tree->node_count, sizeof *bend->looks)};
    if (bend->flags == NULL || bend->looks == NULL) {
        mesh_bend_destroy(bend);
        return NULL;
    }
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        bend->flags[i] = bend_of(mesh, across, i);
    }
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        bend->flags[i / 3] |= (uint8_t)(is_peak(across, bend->flags, i) ? STN_BEND_PEAK << i % 3 : 0);
    }
    for (int32_t node = tree->node_count - 1; node >= 0; node--) {
        look_together(mesh, tree, bend, node);
    }
    return bend;
}

const uint8_t *stn_mesh_bends(const stn_mesh *mesh) {
    mesh_object *object = (mesh_object *)mesh;
    mesh_bend *bend = atomic_load_explicit(&object->bend, memory_order_acquire);
    if (bend == NULL) {
        mesh_bend *made = make_bend(mesh, object->context);
        bend = made;
        if (made != NULL) {
            mesh_bend *first = NULL;
            if (!atomic_compare_exchange_strong_explicit(&object->bend, &first, made, memory_order_acq_rel,
                                                         memory_order_acquire)) {
                mesh_bend_destroy(made); // another thread was first
                bend = first;
            }
        }
    }
    return bend != NULL ? bend->flags : NULL;
}

const part_look *mesh_looks(const stn_mesh *mesh) {
    mesh_bend *bend = atomic_load_explicit(&((mesh_object *)mesh)->bend, memory_order_acquire);
    return bend != NULL ? bend->looks : NULL;
}
