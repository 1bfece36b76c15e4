// SPDX-License-Identifier: Apache-2.0
// Lines of nodes for cables: equal parts of a polygon.
#include <math.h>
#include <string.h>

#include <stiction/soft.h>

#include "room.h"

static stn_status check(int32_t point_count, const double *points, int32_t segments, double *length, stn_error *err) {
    *length = 0.0;
    if (point_count < 2) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%d points make no line; give 2 or more", point_count);
    }
    if (segments < 1 || segments >= STN_SOFT_COUNT_MAX) {
        return stn_fail(err, STN_ERR_ARGUMENT, "segments = %d must be 1 to %d", segments, STN_SOFT_COUNT_MAX - 1);
    }
    for (int32_t i = 0; i < 3 * point_count; i++) {
        if (!(fabs(points[i]) <= 1e50)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "point %d: %c = %g m must be finite and within 1e50 m", i / 3,
                            "xyz"[i % 3], points[i]);
        }
    }
    for (int32_t i = 1; i < point_count; i++) {
        *length += stn_vec3_norm(stn_vec3_sub(stn_vec3_at(points, i), stn_vec3_at(points, i - 1)));
    }
    return *length > 0.0 ? STN_OK
                         : stn_fail(err, STN_ERR_ARGUMENT, "its %d points are one place; a line needs a length > 0 m",
                                    point_count);
}

/// Nodes at equal distances along the polygon.
static void divide(const double *points, int32_t point_count, double length, stn_soft_mesh *mesh) {
    const int32_t segments = mesh->node_count - 1;
    double begin = 0.0, edge = 0.0; // of the edge from point `at` on
    for (int32_t i = 0, at = -1; i <= segments; i++) {
        const double s = length * i / segments;
        while (at < 0 || (begin + edge < s && at + 2 < point_count)) {
            begin += edge;
            at++;
            edge = stn_vec3_norm(stn_vec3_sub(stn_vec3_at(points, at + 1), stn_vec3_at(points, at)));
        }
        const double part = edge > 0.0 && i < segments ? fmin((s - begin) / edge, 1.0) : 1.0;
        const stn_vec3 a = stn_vec3_at(points, i < segments ? at : point_count - 1);
        const stn_vec3 b = stn_vec3_at(points, i < segments ? at + 1 : point_count - 1);
        const stn_vec3 x = stn_vec3_mul_add(a, i > 0 ? part : 0.0, stn_vec3_sub(b, a));
        memcpy(&mesh->nodes[3 * (size_t)i], (const double[3]){x.x, x.y, x.z}, 3 * sizeof(double));
        mesh->origin[i] = i;
    }
}

stn_status stn_soft_mesh_line(stn_context *context, int32_t point_count, const double *points, int32_t segments,
                              stn_soft_mesh **out, stn_error *err) {
    double length = 0.0;
    *out = NULL;
    stn_status status = check(point_count, points, segments, &length, err);
    status = status == STN_OK ? soft_check_room(2, segments, err) : status;
    if (status != STN_OK) {
        return status;
    }
    stn_soft_mesh *mesh = stn_allocate(context, 1, sizeof *mesh);
    if (mesh != NULL) {
        mesh->context = context;
        mesh->node_count = segments + 1;
        mesh->part_count = 1;
        mesh->nodes = stn_allocate(context, 3 * (size_t)mesh->node_count, sizeof *mesh->nodes);
        mesh->origin = stn_allocate(context, (size_t)mesh->node_count, sizeof *mesh->origin);
        mesh->chamber_start = stn_allocate(context, 1, sizeof *mesh->chamber_start);
    }
    if (mesh == NULL || mesh->nodes == NULL || mesh->origin == NULL || mesh->chamber_start == NULL) {
        stn_soft_mesh_destroy(mesh);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d segments", segments);
    }
    divide(points, point_count, length, mesh);
    *out = mesh;
    return STN_OK;
}
