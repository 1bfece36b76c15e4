// SPDX-License-Identifier: Apache-2.0
// Rays through a world: the tree over the boxes of all geometries tells which shapes are worth a look.
#include "geometry/triangle_ray.h"
#include "query/query_scene.h"
#include "world/world.h"

typedef struct ray_search {
    const query_scene *scene;
    const stn_query *query;
    stn_vec3 origin, direction;
    double end; // no further than what is met already
    stn_world_hit hit;
} ray_search;

/// The first triangle of a surface over nodes that the ray meets, from either side; thickness does not count. From
/// inside of a solid the first one, however far away, is met from behind: nearer than any that is met from outside by
/// more than rounding, as a ray may meet both at an edge.
static bool meet_surface(const ray_search *s, const stn_geometry *g, stn_ray_hit *hit) {
    const stn_surface *face = &s->scene->model->surfaces[g->surface];
    const stn_vec3 *node = s->scene->world->frame.kinematics->node;
    const triangle_ray ray = triangle_ray_make(s->origin, s->direction);
    double leaves = INFINITY;
    *hit = (stn_ray_hit){.triangle = -1, .distance = INFINITY};
    for (int32_t t = 0; t < face->triangle_count; t++) {
        const int32_t *v = face->triangle + 3 * (size_t)t;
        stn_vec3 p = node[face->vertex[v[0]]], q = node[face->vertex[v[1]]], r = node[face->vertex[v[2]]];
        double at;
        if (!triangle_ray_meet(&ray, p, q, r, &at) || at < 0.0) {
            continue;
        }
        at = fabs(at); // no -0
        stn_vec3 n = stn_vec3_cross(stn_vec3_sub(q, p), stn_vec3_sub(r, p));
        bool behind = stn_vec3_dot(s->direction, n) > 0.0;
        if (face->solid && behind) {
            leaves = at > 0.0 ? fmin(leaves, at) : leaves;
        } else if (at <= hit->distance) {
            stn_vec3 up = stn_vec3_scale(behind ? -1.0 : 1.0, n);
            *hit = (stn_ray_hit){.distance = at, .triangle = t, .normal = stn_vec3_normalize_or(up, up)};
        }
    }
    if (isfinite(leaves) && leaves * (1.0 + 1e-9) < hit->distance) {
        *hit = (stn_ray_hit){.triangle = -1, .inside = true, .point = s->origin, .normal = stn_vec3_neg(s->direction)};
        return true;
    }
    hit->point = stn_vec3_mul_add(s->origin, hit->distance, s->direction);
    return hit->triangle >= 0 && hit->distance <= s->end;
}

static bool meet_geometry(const ray_search *s, int32_t g, stn_ray_hit *hit) {
    const stn_geometry *geometry = &s->scene->model->geometries[g];
    return geometry->shape.type == STN_SHAPE_SURFACE
               ? meet_surface(s, geometry, hit)
               : stn_shape_raycast(&geometry->shape, &s->scene->pose[g], s->origin, s->direction, s->end, hit);
}

/// Of several geometries at one distance the first counts, whichever is looked at first.
static void meet(void *user, int32_t g) {
    ray_search *s = user;
    stn_ray_hit found;
    if (query_wants(s->scene, s->query, g) && meet_geometry(s, g, &found) &&
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
