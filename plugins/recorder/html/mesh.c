// SPDX-License-Identifier: Apache-2.0
// A mesh block: vertices in 65535ths of the bounds, everything as differences.
#include "html.h"

static const double STEPS = 65535.0;

static double component(stn_vec3 v, int32_t axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

void mesh_write(const stn_mesh *mesh, bytes *out) {
    stn_vec3 lower = mesh->bounds.lower, size = stn_vec3_sub(mesh->bounds.upper, lower);
    bytes_put_u(out, (uint64_t)mesh->vertex_count);
    bytes_put_u(out, (uint64_t)mesh->triangle_count);
    for (int32_t axis = 0; axis < 3; axis++) {
        bytes_put_f64(out, component(lower, axis));
    }
    for (int32_t axis = 0; axis < 3; axis++) {
        bytes_put_f64(out, component(size, axis));
    }
    for (int32_t axis = 0; axis < 3; axis++) {
        double from = component(lower, axis), per_unit = STEPS / component(size, axis);
        int64_t last = 0;
        for (int32_t i = 0; i < mesh->vertex_count; i++) {
            int64_t here = quantise(mesh->vertices[3 * i + axis] - from, per_unit, 0); // flat: 0/0
            bytes_put_s(out, here - last);
            last = here;
        }
    }
    int64_t last = 0;
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        bytes_put_s(out, mesh->triangles[i] - last);
        last = mesh->triangles[i];
    }
}
