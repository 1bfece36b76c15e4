// SPDX-License-Identifier: Apache-2.0
// Tetrahedra of any mesh made ready for a pressure field by contact/hydroelastic.
#ifndef STN_FUZZ_SPLIT_MESH_H
#define STN_FUZZ_SPLIT_MESH_H

#include "field_build.h"

#include "must.h"

/// The tetrahedra of a mesh, split, are the same solid; one becomes at most nine.
static inline void split_mesh(stn_context *context, const stn_mesh *mesh) {
    surface_build s = surface_build_empty(context);
    tetrahedra_build t = {.context = context};
    stn_error err = {STN_OK, ""};
    if (field_split(mesh, &s, &t, &err) == STN_OK) {
        double volume = 0.0;
        for (int32_t i = 0; i < t.count; i++) {
            const int32_t *v = t.corners + 4 * (size_t)i;
            volume += surface_det(stn_vec3_at(s.vertices, v[0]), stn_vec3_at(s.vertices, v[1]),
                                  stn_vec3_at(s.vertices, v[2]), stn_vec3_at(s.vertices, v[3])) /
                      6.0;
        }
        must(t.count >= mesh->tetrahedron_count && t.count <= 9 * mesh->tetrahedron_count);
        double size = stn_vec3_norm(stn_vec3_sub(mesh->bounds.upper, mesh->bounds.lower));
        double far = fmax(stn_vec3_norm(mesh->bounds.upper), stn_vec3_norm(mesh->bounds.lower));
        must(fabs(volume - mesh->solid.mass) <= 1e-9 * mesh->solid.mass + 1e-14 * t.count * far * size * size);
        for (int32_t i = 0; i < s.vertex_count; i++) {
            must(s.extents[i] >= 0.0 && s.extents[i] <= 1.0);
        }
        for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
            must(s.extents[mesh->triangles[i]] == 0.0);
        }
    } else {
        must(err.text[0] != '\0'); // vertices inside that rounding puts onto the surface
    }
    surface_build_clear(&s);
    stn_release(context, t.corners);
}

#endif
