// SPDX-License-Identifier: Apache-2.0
// Shapes of all kinds for tests of patches, those of meshes included, each about 0.1 m wide.
#ifndef STN_PATCH_CAST_H
#define STN_PATCH_CAST_H

#include <stiction/mesh.h>

#include "patch_probe.h"

enum { DENT_VERTICES = 10, DENT_FACES = 14 };

/// A cube with a dent in its upper side, and a point inside that sees all of it.
static const double dent_vertices[3 * DENT_VERTICES] = {
    -0.05, -0.05, 0.05,  0.05, -0.05, 0.05,  0.05, 0.05, 0.05,  -0.05, 0.05, 0.05,  0.0, 0.0, 0.03,
    -0.05, -0.05, -0.05, 0.05, -0.05, -0.05, 0.05, 0.05, -0.05, -0.05, 0.05, -0.05, 0.0, 0.0, -0.02};
static const int32_t dent_faces[3 * DENT_FACES] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4, 5, 7, 6, 5, 8, 7, 0, 5, 1,
                                                   1, 5, 6, 1, 6, 2, 2, 6, 7, 2, 7, 3, 3, 7, 8, 3, 8, 0, 0, 8, 5};

enum patch_kind {
    A_BALL,
    A_BOX,
    A_PLATE,
    A_CYLINDER,
    A_COIN,
    A_CAPSULE,
    AN_ELLIPSOID,
    A_HULL,
    A_SOLID, // of given tetrahedra when soft, of triangles when rigid: not convex
    PATCH_KINDS,
    A_HALF_SPACE = PATCH_KINDS
};

/// Meshes of the cast, in a context of their own.
typedef struct patch_cast {
    stn_context *context;
    stn_mesh *surface, *hull, *solid;
    stn_mesh_reference listed;
    double scale;
} patch_cast;

static inline stn_mesh *cast_mesh(patch_cast *c, int32_t vertex_count, bool filled) {
    double vertices[3 * DENT_VERTICES], extents[DENT_VERTICES] = {0};
    int32_t tetrahedra[4 * DENT_FACES];
    stn_mesh *mesh = NULL;
    stn_error err;
    for (int32_t i = 0; i < 3 * vertex_count; i++) {
        vertices[i] = c->scale * dent_vertices[i];
    }
    for (int32_t i = 0; i < DENT_FACES; i++) {
        for (int32_t k = 0; k < 4; k++) {
            tetrahedra[4 * i + k] = k < 3 ? dent_faces[3 * i + k] : DENT_VERTICES - 1;
        }
    }
    extents[DENT_VERTICES - 1] = 1.0;
    stn_mesh_data data = {.vertex_count = vertex_count, .vertices = vertices};
    data.triangle_count = filled ? 0 : DENT_FACES;
    data.triangles = filled ? NULL : dent_faces;
    data.tetrahedron_count = filled ? DENT_FACES : 0;
    data.tetrahedra = filled ? tetrahedra : NULL;
    data.extents = filled ? extents : NULL;
    assert_ok(stn_mesh_create(c->context, &data, &mesh, &err), err);
    return mesh;
}

/// `scale` 1: 0.1 m.
static inline void cast_open(patch_cast *c, double scale) {
    stn_error err;
    *c = (patch_cast){.scale = scale};
    assert_ok(stn_context_create(NULL, &c->context, &err), err);
    c->surface = cast_mesh(c, DENT_VERTICES - 1, false);
    c->solid = cast_mesh(c, DENT_VERTICES, true);
    assert_ok(stn_mesh_create_hull(c->surface, &c->hull, &err), err);
    c->listed = (stn_mesh_reference){.data = c->solid};
}

static inline void cast_close(patch_cast *c) {
    stn_mesh_release(c->surface);
    stn_mesh_release(c->hull);
    stn_mesh_release(c->solid);
    stn_context_destroy(c->context);
}

/// `modulus` infinite: rigid.
static inline stn_geometry cast_of(const patch_cast *c, int32_t kind, double modulus) {
    const double s = c->scale, none = (double)NAN;
    stn_shape shape = stn_shape_sphere(0.05 * s);
    switch (kind) {
    case A_BOX:
        shape = stn_shape_box(stn_vec3_make(0.05 * s, 0.04 * s, 0.03 * s));
        break;
    case A_PLATE:
        shape = stn_shape_box(stn_vec3_make(0.05 * s, 0.04 * s, 0.005 * s));
        break;
    case A_CYLINDER:
        shape = stn_shape_cylinder(0.04 * s, 0.05 * s);
        break;
    case A_COIN:
        shape = stn_shape_cylinder(0.05 * s, 0.01 * s);
        break;
    case A_CAPSULE:
        shape = stn_shape_capsule(0.03 * s, 0.03 * s);
        break;
    case AN_ELLIPSOID:
        shape = stn_shape_ellipsoid(stn_vec3_make(0.06 * s, 0.05 * s, 0.03 * s));
        break;
    case A_HULL:
        shape = stn_shape_mesh(c->hull);
        break;
    case A_SOLID:
        shape = stn_shape_mesh(c->surface);
        break;
    case A_HALF_SPACE:
        shape = stn_shape_half_space();
        break;
    default:
        break;
    }
    stn_geometry g = patch_geometry(shape, modulus, none);
    g.field.thickness = kind == A_HALF_SPACE && isfinite(modulus) ? 0.04 * s : none;
    g.field.volume_mesh = kind == A_SOLID && isfinite(modulus) ? 0 : -1;
    return g;
}

/// A probe that knows the tetrahedra of the cast.
static inline void cast_probe_open(const patch_cast *c, patch_probe *p, stn_geometry a, stn_geometry b,
                                   const stn_setting *setting) {
    patch_probe_open_meshed(p, a, b, setting, &c->listed);
}

#endif
