// SPDX-License-Identifier: Apache-2.0
// Rays through a world: the tree over the boxes of all geometries tells which shapes are worth a look.
#include "query/query_scene.h"

typedef struct ray_search {
    const query_scene *scene;
    const stn_query *query;
    stn_vec3 origin, direction;
    double end; // no further than what is met already
    stn_world_hit hit;
} ray_search;

/// Of several geometries at one distance the first counts, whichever is looked at first.
static void meet(void *user, int32_t g) {
    ray_search *s = user;
    stn_ray_hit found;
    if (query_wants(s->scene, s->query, g) &&
        stn_shape_raycast(&s->scene->model->geometries[g].shape, &s->scene->pose[g], s->origin, s->direction, s->end,
                          &found) &&
        (s->hit.geometry < 0 || found.distance < s->hit.ray.distance ||
         (found.distance == s->hit.ray.distance && g < s->hit.geometry))) {
        s->hit = (stn_world_hit){g, found};
        s->end = found.distance;
    }
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
    ray_search search = {scene, query, origin, d, max, *hit};
    box_tree_ray(&scene->tree, scene->box, origin, inverse, &search.end, meet, &search);
    *hit = search.hit;
    return STN_OK;
}
