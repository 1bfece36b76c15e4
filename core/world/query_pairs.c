// SPDX-License-Identifier: Apache-2.0
// Distances between geometries, as the contact model finds them with a wide margin.
//
// Two shapes are no nearer than their boxes and no further apart than the far corners of these. The smallest of the
// upper bounds over all pairs is a margin within which the nearest pair lies, so that one call of the contact model
// finds it. Where shapes without end leave no bound, the margin grows until something is found.
#include "world/query_scene.h"

/// The sphere that a point is asked about as; its radius is taken off again.
static const double point_radius = 1e-9; // [m]
static const double largest_margin = 1e15, growth = 8.0;

/// Both sides of a query, and which model knows them.
typedef struct search {
    stn_world *world;
    query_scene *scene;
    const stn_model *model; // the world's, or that with the probe
    void *prepared;
    int32_t count_a, count_b;
    int32_t *a, *b;      // geometries
    stn_contact_set set; // of the last call, and its margin
    double margin;
} search;

static inline double gap_along(double lower_a, double upper_a, double lower_b, double upper_b) {
    double above = lower_a - upper_b, below = lower_b - upper_a, gap = above > below ? above : below;
    return gap > 0.0 ? gap : 0.0;
}

static double box_gap(const stn_aabb *a, const stn_aabb *b) {
    stn_vec3 d = {gap_along(a->lower.x, a->upper.x, b->lower.x, b->upper.x),
                  gap_along(a->lower.y, a->upper.y, b->lower.y, b->upper.y),
                  gap_along(a->lower.z, a->upper.z, b->lower.z, b->upper.z)};
    return stn_vec3_norm(d);
}

static inline double reach_along(double lower_a, double upper_a, double lower_b, double upper_b) {
    double up = upper_a - lower_b, down = upper_b - lower_a;
    return up > down ? up : down;
}

static double box_reach(const stn_aabb *a, const stn_aabb *b) {
    stn_vec3 d = {reach_along(a->lower.x, a->upper.x, b->lower.x, b->upper.x),
                  reach_along(a->lower.y, a->upper.y, b->lower.y, b->upper.y),
                  reach_along(a->lower.z, a->upper.z, b->lower.z, b->upper.z)};
    return stn_vec3_norm(d);
}

static bool handles(const search *s, int32_t a, int32_t b) {
    const stn_instance *contact = s->world->plugin[STN_KIND_CONTACT];
    int32_t first = a < b ? a : b, second = a < b ? b : a;
    return a != b && contact->desc->ops.contact->handles(contact->self, &s->model->geometries[first].shape,
                                                         &s->model->geometries[second].shape);
}

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "query: out of memory");
}

/// Lists the geometries that a query asks for.
static stn_status list(const search *s, const stn_query *query, int32_t **items, int32_t *count, stn_error *err) {
    *items = STN_ARENA(s->scene->arena, s->scene->count + 1, int32_t);
    *count = 0;
    if (*items == NULL) {
        return out_of_memory(err);
    }
    for (int32_t g = 0; g < s->scene->count; g++) {
        if (query_wants(s->world, s->scene, query, g)) {
            (*items)[(*count)++] = g;
        }
    }
    return STN_OK;
}

/// The contact point lies on A for `share_a` 1, on B for 0.
static stn_contact_pair make_pair(const search *s, int32_t a, int32_t b, double share_a, double margin) {
    bool swap = a > b;
    stn_contact_pair pair = {.geometry_a = swap ? b : a, .geometry_b = swap ? a : b, .margin = margin};
    pair.pose_a = s->scene->pose[pair.geometry_a];
    pair.pose_b = s->scene->pose[pair.geometry_b];
    pair.material = stn_model_pair_material(s->model, pair.geometry_a, pair.geometry_b);
    if (isnan(pair.material.value.relaxation_time)) {
        pair.material.value.relaxation_time = s->world->options.dt;
    }
    pair.material.weight_a = swap ? 1.0 - share_a : share_a;
    return pair;
}

static stn_status run(search *s, const stn_contact_pair *pairs, int32_t count, stn_error *err) {
    s->set = (stn_contact_set){.arena = s->scene->arena};
    return stn_world_collide_pairs(s->world, s->model, s->prepared, pairs, count, s->scene->arena, &s->set, err);
}

/// Asks about all pairs whose boxes are within the margin.
static stn_status collide_within(search *s, double margin, stn_error *err) {
    int64_t capacity = 0;
    s->margin = margin;
    for (int32_t round = 0; round < 2; round++) {
        stn_contact_pair *pairs = round > 0 ? STN_ARENA(s->scene->arena, capacity, stn_contact_pair) : NULL;
        if (capacity > INT32_MAX || (round > 0 && pairs == NULL)) {
            return out_of_memory(err);
        }
        int32_t count = 0;
        for (int32_t i = 0; i < s->count_a; i++) {
            for (int32_t j = 0; j < s->count_b; j++) {
                int32_t a = s->a[i], b = s->b[j];
                if (!(box_gap(&s->scene->box[a], &s->scene->box[b]) <= margin) || !handles(s, a, b)) {
                    continue;
                }
                if (round == 0) {
                    capacity++;
                } else {
                    pairs[count++] = make_pair(s, a, b, 1.0, margin);
                }
            }
        }
        if (round > 0) {
            return run(s, pairs, count, err);
        }
    }
    return STN_OK;
}

/// The contact of the set with the smallest distance, the first of several; NULL when there is none.
static const stn_contact *deepest(const search *s) {
    const stn_contact *best = NULL;
    for (int32_t i = 0; i < s->set.count; i++) {
        const stn_contact *c = &s->set.contacts[i];
        best = best == NULL || c->phi0 < best->phi0 ? c : best;
    }
    return best;
}

/// What the boxes tell: a margin that is certain to hold the nearest pair (infinite: no bound), and one to begin with.
static stn_status bound(const search *s, double *certain, double *first, stn_error *err) {
    bool handled = false;
    *certain = INFINITY;
    *first = INFINITY;
    for (int32_t i = 0; i < s->count_a; i++) {
        for (int32_t j = 0; j < s->count_b; j++) {
            const stn_aabb *a = &s->scene->box[s->a[i]], *b = &s->scene->box[s->b[j]];
            double reach = box_reach(a, b);
            if (reach >= *certain && isfinite(*certain)) {
                continue; // most pairs, when there are many
            }
            if (handles(s, s->a[i], s->b[j])) {
                handled = true;
                *certain = fmin(*certain, reach);
                double size = fmin(box_reach(a, a), box_reach(b, b)); // of the smaller one
                *first = fmin(*first, box_gap(a, b) + size);
            }
        }
    }
    if (!handled) {
        const stn_geometry *a = &s->model->geometries[s->a[0]], *b = &s->model->geometries[s->b[0]];
        return stn_fail(
            err, STN_ERR_UNSUPPORTED, "query: contact model %s has no contact between shapes of these types (%s, %s)",
            s->world->plugin[STN_KIND_CONTACT]->desc->id, stn_shape_name(a->shape.type), stn_shape_name(b->shape.type));
    }
    return STN_OK;
}

/// The smallest distance between both sides, at most `max`.
static stn_status find_closest(search *s, double max, const stn_contact **best, stn_error *err) {
    double certain, margin;
    stn_status status = bound(s, &certain, &margin, err);
    *best = NULL;
    double limit = fmax(fmin(max, fmin(certain, largest_margin)), 0.0);
    margin = isfinite(certain) || !isfinite(margin) ? limit : fmin(margin, limit);
    while (status >= 0) {
        status = collide_within(s, margin, err);
        *best = status >= 0 ? deepest(s) : NULL;
        if (*best != NULL || margin >= limit) {
            break;
        }
        margin = fmin(growth * margin, limit);
    }
    if (*best != NULL && (*best)->phi0 > max) {
        *best = NULL;
    }
    return status < 0 ? status : STN_OK;
}

/// The contact once more, with its point on the other surface; with the same margin, as the points may depend on it.
static stn_status fill_result(search *s, const stn_contact *best, int32_t a, stn_world_distance_result *out,
                              stn_error *err) {
    bool swap = best->geometry_a != a;
    out->geometry_a = a;
    out->geometry_b = swap ? best->geometry_a : best->geometry_b;
    out->distance = best->phi0;
    out->normal = swap ? stn_vec3_neg(best->normal) : best->normal;
    out->point_a = best->point;
    out->point_b = stn_vec3_mul_add(best->point, best->phi0, out->normal);
    uint64_t id = best->id;
    stn_contact_pair pair = make_pair(s, out->geometry_a, out->geometry_b, 0.0, s->margin);
    stn_status status = run(s, &pair, 1, err);
    for (int32_t i = 0; status >= 0 && i < s->set.count; i++) {
        if (s->set.contacts[i].id == id) {
            out->point_b = s->set.contacts[i].point;
        }
    }
    return status < 0 ? status : STN_OK;
}

static bool holds(const int32_t *items, int32_t count, int32_t item) {
    for (int32_t i = 0; i < count; i++) {
        if (items[i] == item) {
            return true;
        }
    }
    return false;
}

static const stn_world_distance_result nothing = {.geometry_a = -1, .geometry_b = -1, .distance = (double)INFINITY};

stn_status stn_world_distance(stn_world *world, const stn_query *a, const stn_query *b, double max,
                              stn_world_distance_result *out, stn_error *err) {
    search s = {.world = world};
    stn_status status = query_scene_of(world, "distance", &s.scene, err);
    if (status != STN_OK) {
        return status;
    }
    *out = nothing;
    s.model = world->model;
    s.prepared = world->contact_prepared;
    if (isnan(max)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "distance: max = %g m must be a number", max);
    }
    status = list(&s, a, &s.a, &s.count_a, err);
    status = status == STN_OK ? list(&s, b, &s.b, &s.count_b, err) : status;
    if (status == STN_OK && (s.count_a == 0 || s.count_b == 0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "distance: the %s side has no shapes to measure to",
                        s.count_a == 0 ? "first" : "second");
    }
    const stn_contact *best = NULL;
    status = status == STN_OK ? find_closest(&s, max, &best, err) : status;
    if (status != STN_OK || best == NULL) {
        return status;
    }
    bool first_is_a = holds(s.a, s.count_a, best->geometry_a) && holds(s.b, s.count_b, best->geometry_b);
    return fill_result(&s, best, first_is_a ? best->geometry_a : best->geometry_b, out, err);
}

// -------------------------------------------------------------------------------------------------------- probes

/// One side are the geometries that the query asks for, the other one is a shape that belongs to no body.
static stn_status begin_probe(search *s, const char *what, const stn_query *query, const stn_shape *shape,
                              const stn_pose *pose, stn_error *err) {
    stn_status status = query_scene_of(s->world, what, &s->scene, err);
    if (status == STN_OK) {
        status = query_scene_probe(s->world, s->scene, shape, pose, err);
    }
    if (status == STN_OK) {
        s->model = &s->scene->probed->face;
        s->prepared = s->scene->prepared;
        status = list(s, query, &s->a, &s->count_a, err);
    }
    if (status == STN_OK) {
        s->b = STN_ARENA(s->scene->arena, 1, int32_t);
        if (s->b == NULL) {
            return out_of_memory(err);
        }
        s->b[0] = s->scene->count;
        s->count_b = 1;
    }
    return status;
}

stn_status stn_world_nearest(stn_world *world, const stn_query *query, stn_vec3 point, double radius,
                             stn_world_distance_result *out, stn_error *err) {
    search s = {.world = world};
    *out = nothing;
    if (!stn_vec3_finite(point) || isnan(radius)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "nearest: point (%g, %g, %g) m, radius %g m: must be numbers", point.x,
                        point.y, point.z, radius);
    }
    const stn_shape ball = stn_shape_sphere(point_radius);
    const stn_pose pose = {stn_mat3_identity(), point};
    stn_status status = begin_probe(&s, "nearest", query, &ball, &pose, err);
    const stn_contact *best = NULL;
    if (status == STN_OK && s.count_a > 0) {
        status = find_closest(&s, radius - point_radius, &best, err);
        status = status == STN_ERR_UNSUPPORTED ? STN_OK : status; // nothing that a point could be near to
    }
    if (status == STN_OK && best != NULL) {
        *out = (stn_world_distance_result){best->geometry_a, -1,    best->phi0 + point_radius,
                                           best->point,      point, best->normal};
    }
    return status;
}

/// The smallest distance of each geometry; the contacts of one stand together.
static int32_t gather(const search *s, double margin, stn_world_overlap_result *found) {
    int32_t count = 0;
    for (int32_t i = 0; i < s->set.count; i++) {
        const stn_contact *c = &s->set.contacts[i];
        if (c->phi0 > margin) {
            continue;
        }
        if (count > 0 && found[count - 1].geometry == c->geometry_a) {
            found[count - 1].distance = fmin(found[count - 1].distance, c->phi0);
        } else {
            found[count++] = (stn_world_overlap_result){c->geometry_a, c->phi0};
        }
    }
    return count;
}

stn_status stn_world_overlap(stn_world *world, const stn_query *query, const stn_shape *shape, const stn_pose *pose,
                             double margin, const stn_world_overlap_result **found, int32_t *count, stn_error *err) {
    search s = {.world = world};
    *found = NULL;
    *count = 0;
    if (!isfinite(margin)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "overlap: margin = %g m must be finite", margin);
    }
    stn_status status = stn_shape_check(shape, err);
    if (status == STN_OK) {
        status = begin_probe(&s, "overlap", query, shape, pose, err);
    }
    double certain, first;
    if (status == STN_OK && s.count_a > 0) {
        status = bound(&s, &certain, &first, err);
        status = status == STN_OK ? collide_within(&s, margin, err) : status;
    }
    if (status < 0) {
        return status;
    }
    stn_world_overlap_result *list_of = STN_ARENA(s.scene->arena, s.set.count + 1, stn_world_overlap_result);
    if (list_of == NULL) {
        return out_of_memory(err);
    }
    *count = gather(&s, margin, list_of);
    *found = list_of;
    return STN_OK;
}
