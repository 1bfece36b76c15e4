// SPDX-License-Identifier: Apache-2.0
// Rays through a world: the boxes of all geometries tell which shapes are worth a look.
#include "world/query_scene.h"

/// Does the ray come through the box before `end`? Compared by hand, as calls of fmin and fmax are most of the time. A
/// ray that runs in the plane of a side (0 times infinity) may be told to miss: boxes are larger than their shapes.
static bool ray_meets_box(const stn_aabb *box, stn_vec3 o, stn_vec3 inverse, double end) {
    const double *lower = &box->lower.x, *upper = &box->upper.x, *from = &o.x, *factor = &inverse.x;
    double enter = 0.0, leave = end;
    for (int32_t i = 0; i < 3; i++) {
        double a = (lower[i] - from[i]) * factor[i], b = (upper[i] - from[i]) * factor[i];
        double near = a < b ? a : b, far = a > b ? a : b;
        enter = near > enter ? near : enter;
        leave = far < leave ? far : leave;
    }
    return enter <= leave + 1e-12 * fabs(leave);
}

stn_status stn_world_raycast(stn_world *world, const stn_query *query, stn_vec3 origin, stn_vec3 direction, double max,
                             stn_world_hit *hit, stn_error *err) {
    query_scene *scene = NULL;
    stn_status status = query_scene_of(world, "raycast", &scene, err);
    if (status != STN_OK) {
        return status;
    }
    stn_vec3 d = stn_vec3_normalize_or(direction, stn_vec3_zero());
    if (!stn_vec3_finite(origin) || !(stn_vec3_dot(d, d) > 0.5)) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "raycast: from (%g, %g, %g) m along (%g, %g, %g): both must be finite, the direction with a length",
            origin.x, origin.y, origin.z, direction.x, direction.y, direction.z);
    }
    if (!(max >= 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "raycast: max = %g m must be >= 0", max);
    }
    stn_vec3 inverse = {1.0 / d.x, 1.0 / d.y, 1.0 / d.z};
    *hit = (stn_world_hit){.geometry = -1, .ray = {.distance = max, .triangle = -1}};
    for (int32_t g = 0; g < scene->count; g++) {
        stn_ray_hit found;
        if (ray_meets_box(&scene->box[g], origin, inverse, hit->ray.distance) && query_wants(world, scene, query, g) &&
            stn_shape_raycast(&world->model->geometries[g].shape, &scene->pose[g], origin, d, hit->ray.distance,
                              &found) &&
            (hit->geometry < 0 || found.distance < hit->ray.distance)) {
            *hit = (stn_world_hit){g, found};
        }
    }
    return STN_OK;
}
