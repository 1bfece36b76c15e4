// SPDX-License-Identifier: Apache-2.0
// Distances between geometries, as the contact model finds them with a wide margin.
//
// Two shapes are no nearer than their boxes and no further apart than the far corners of these. The smallest of the
// upper bounds over all pairs is a margin within which the nearest pair lies, so that one call of the contact model
// finds it. Where shapes without end leave no bound, the margin grows until something is found.
#include <string.h>

#include "base/sort.h"
#include "query/query_scene.h"
#include "world/gap.h"

/// The sphere that a point is asked about as; its radius is taken off again.
static const double point_radius = 1e-9; // [m]
static const double largest_margin = 1e15, growth = 8.0;

/// One side of a search: geometries in a list, or all that a query accepts, found by the tree.
typedef struct side {
    const stn_query *query;
    int32_t count;
    const int32_t *item; // ascending; NULL: not listed
} side;

/// Both sides of a query, and which model knows them.
typedef struct search {
    query_scene *scene;
    const stn_model *model; // the world's, or that with the probe
    side a, b;
    // what the boxes tell: a margin that is certain to hold the nearest pair (infinite: no bound), and one to begin
    // with
    double certain, first;
    bool handled;                 // some pair of shapes
    int32_t refused_a, refused_b; // the first pair that is not, -1: none
    // pairs within the margin, each as its geometries a << 32 | b
    uint64_t *pairs;
    int32_t pair_count, capacity;
    stn_contact_set set; // of the last call, and its margin
    double margin;
} search;

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
    const stn_instance *contact = s->scene->contact;
    int32_t first = a < b ? a : b, second = a < b ? b : a;
    return a != b && contact->desc->ops.contact->handles(contact->self, &s->model->geometries[first],
                                                         &s->model->geometries[second]);
}

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "query: out of memory");
}

/// Lists the geometries that a query asks for.
static stn_status list(const search *s, const stn_query *query, side *out, stn_error *err) {
    int32_t *items = STN_ARENA(s->scene->arena, s->scene->count + 1, int32_t), count = 0;
    if (items == NULL) {
        return out_of_memory(err);
    }
    for (int32_t g = 0; g < s->scene->count; g++) {
        if (query_wants(s->scene, query, g)) {
            items[count++] = g;
        }
    }
    *out = (side){query, count, items};
    return STN_OK;
}

typedef void pair_visit(search *s, int32_t a, int32_t b);

/// One geometry of the side that is gone through, while the tree gives those of the other.
typedef struct partner {
    search *search;
    const stn_query *query;
    int32_t item;
    bool is_a; // `item`
    pair_visit *visit;
} partner;

static void meet(void *user, int32_t g) {
    const partner *p = user;
    if (query_wants(p->search->scene, p->query, g)) {
        p->visit(p->search, p->is_a ? p->item : g, p->is_a ? g : p->item);
    }
}

/// Visits the pairs whose boxes are no further apart than `*within`, which the visits may shrink, in any order.
static void each_near(search *s, const double *within, pair_visit *visit) {
    enum { FEW = 64 }; // pairs: up to here the tree is no faster
    const stn_aabb *box = s->scene->box;
    bool loop_a = s->b.item == NULL || (s->a.item != NULL && s->a.count <= s->b.count);
    const side *few = loop_a ? &s->a : &s->b, *many = loop_a ? &s->b : &s->a;
    bool both = many->item != NULL && (int64_t)few->count * many->count <= FEW;
    for (int32_t i = 0; i < few->count; i++) {
        partner p = {s, many->query, few->item[i], loop_a, visit};
        if (!both) {
            box_tree_near(&s->scene->tree, box, &box[p.item], within, meet, &p);
            continue;
        }
        for (int32_t j = 0; j < many->count; j++) {
            if (box_gap(&box[p.item], &box[many->item[j]]) <= *within) {
                visit(s, loop_a ? p.item : many->item[j], loop_a ? many->item[j] : p.item);
            }
        }
    }
}

/// The contact point lies on A for `share_a` 1, on B for 0.
static stn_contact_pair make_pair(const search *s, int32_t a, int32_t b, double share_a) {
    bool swap = a > b;
    stn_contact_pair pair = {.geometry_a = swap ? b : a, .geometry_b = swap ? a : b, .margin = s->margin};
    pair.pose_a = s->scene->pose[pair.geometry_a];
    pair.pose_b = s->scene->pose[pair.geometry_b];
    pair.material = stn_model_pair_material(s->model, pair.geometry_a, pair.geometry_b);
    set_relaxation(&pair.material, s->scene->dt);
    pair.material.weight_a = swap ? 1.0 - share_a : share_a;
    return pair;
}

static stn_status run(search *s, const stn_contact_pair *pairs, int32_t count, stn_error *err) {
    const query_scene *scene = s->scene;
    void *prepared = s->model == scene->model ? scene->prepared : scene->probed_prepared;
    s->set = (stn_contact_set){.arena = scene->arena};
    const stn_contact_scene seen = {
        .model = s->model, .kinematics = scene->world->frame.kinematics, .prepared = prepared, .arena = scene->arena};
    return stn_collide_pairs(scene->contact, &seen, pairs, count, &s->set, err);
}

static void note_pair(search *s, int32_t a, int32_t b) {
    if (!handles(s, a, b) || s->pair_count < 0) {
        return;
    }
    if (s->pair_count == s->capacity) {
        int32_t capacity = s->capacity < INT32_MAX / 2 - 64 ? 2 * s->capacity + 64 : INT32_MAX;
        uint64_t *larger = s->pair_count < INT32_MAX ? STN_ARENA(s->scene->arena, capacity, uint64_t) : NULL;
        if (larger == NULL) {
            s->pair_count = -1; // no memory
            return;
        }
        if (s->pair_count > 0) {
            memcpy(larger, s->pairs, (size_t)s->pair_count * sizeof *larger);
        }
        s->pairs = larger;
        s->capacity = capacity;
    }
    s->pairs[s->pair_count++] = (uint64_t)(uint32_t)a << 32 | (uint32_t)b;
}

/// Asks about all pairs whose boxes are within the margin and that `visit` notes, in ascending order.
static stn_status collide_noted(search *s, double margin, pair_visit *visit, stn_error *err) {
    s->margin = margin;
    s->pair_count = 0;
    each_near(s, &margin, visit);
    stn_contact_pair *pairs =
        s->pair_count >= 0 ? STN_ARENA(s->scene->arena, s->pair_count + 1, stn_contact_pair) : NULL;
    if (pairs == NULL) {
        return out_of_memory(err);
    }
    sort_keys(s->pairs, s->pair_count);
    for (int32_t i = 0; i < s->pair_count; i++) {
        pairs[i] = make_pair(s, (int32_t)(s->pairs[i] >> 32), (int32_t)(s->pairs[i] & UINT32_MAX), 1.0);
    }
    return run(s, pairs, s->pair_count, err);
}

static stn_status collide_within(search *s, double margin, stn_error *err) {
    return collide_noted(s, margin, note_pair, err);
}

/// The contact of the set with the smallest distance, the first of several; NULL when there is none.
static const stn_contact *deepest_of(const stn_contact_set *set) {
    const stn_contact *best = NULL;
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        best = best == NULL || c->phi0 < best->phi0 ? c : best;
    }
    return best;
}

static void note_bound(search *s, int32_t a, int32_t b) {
    const stn_aabb *box_a = &s->scene->box[a], *box_b = &s->scene->box[b];
    double reach = box_reach(box_a, box_b);
    if (reach >= s->certain && isfinite(s->certain)) {
        return;
    }
    if (handles(s, a, b)) {
        s->handled = true;
        s->certain = fmin(s->certain, reach);
        double size = fmin(box_reach(box_a, box_a), box_reach(box_b, box_b)); // of the smaller one
        s->first = fmin(s->first, box_gap(box_a, box_b) + size);
    } else if (s->refused_a < 0 || a < s->refused_a || (a == s->refused_a && b < s->refused_b)) {
        s->refused_a = a;
        s->refused_b = b;
    }
}

/// What the boxes tell. STN_ERR_UNSUPPORTED when there are pairs, but none that the contact model handles.
static stn_status bound(search *s, stn_error *err) {
    s->certain = s->first = INFINITY;
    s->handled = false;
    s->refused_a = s->refused_b = -1;
    each_near(s, &s->certain, note_bound);
    if (!s->handled && s->refused_a >= 0) {
        const stn_geometry *a = &s->model->geometries[s->refused_a], *b = &s->model->geometries[s->refused_b];
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "query: contact model %s has no contact between shapes of these types (%s, %s)",
                        s->scene->contact->desc->id, stn_shape_name(a->shape.type), stn_shape_name(b->shape.type));
    }
    return STN_OK;
}

/// The smallest distance between both sides, at most `max`.
static stn_status find_closest(search *s, double max, const stn_contact **best, stn_error *err) {
    stn_status status = bound(s, err);
    *best = NULL;
    double limit = fmax(fmin(max, fmin(s->certain, largest_margin)), 0.0);
    double margin = isfinite(s->certain) || !isfinite(s->first) ? limit : fmin(s->first, limit);
    while (status >= 0 && s->handled) {
        status = collide_within(s, margin, err);
        *best = status >= 0 ? deepest_of(&s->set) : NULL;
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

/// How far the two points of a contact lie beside each other, seen along the normal.
static stn_vec3 sideways(stn_vec3 a, stn_vec3 b, stn_vec3 normal) {
    stn_vec3 apart = stn_vec3_sub(b, a);
    return stn_vec3_mul_add(apart, -stn_vec3_dot(apart, normal), normal);
}

/// Where the sides of capsules or cylinders cross at a small angle, the contacts are at the ends of the stretch that
/// they share, all as deep as the crossing; their points lie beside each other there, to the left at one end and to the
/// right at the other. The crossing is the mixture of two such contacts whose points stand straight over each other.
static void stand_straight(const stn_contact_set *on_a, const stn_contact_set *on_b, int32_t best,
                           stn_world_distance_result *out) {
    const double level = 1e-9; // slope of what counts as equally deep
    double least = stn_vec3_norm(sideways(out->point_a, out->point_b, out->normal));
    stn_vec3 centre = out->point_a;
    for (int32_t k = 0; k < on_a->count * on_a->count; k++) {
        const int32_t i = k / on_a->count, j = k % on_a->count;
        stn_vec3 a = on_a->contacts[i].point, b = on_b->contacts[i].point;
        stn_vec3 c = on_a->contacts[j].point, d = on_b->contacts[j].point;
        double deep = on_a->contacts[best].phi0, above_i = on_a->contacts[i].phi0 - deep,
               above_j = on_a->contacts[j].phi0 - deep;
        if (i > j || above_i > level * stn_vec3_norm(stn_vec3_sub(a, centre)) ||
            above_j > level * stn_vec3_norm(stn_vec3_sub(c, centre))) {
            continue;
        }
        stn_vec3 beside = sideways(a, b, out->normal), change = stn_vec3_sub(sideways(c, d, out->normal), beside);
        double squared = stn_vec3_dot(change, change),
               t = squared > 0.0 ? -stn_vec3_dot(beside, change) / squared : 0.0;
        t = fmin(fmax(t, 0.0), 1.0);
        double left = stn_vec3_norm(stn_vec3_mul_add(beside, t, change));
        if (left < least) {
            least = left;
            out->point_a = stn_vec3_mul_add(a, t, stn_vec3_sub(c, a));
            out->point_b = stn_vec3_mul_add(b, t, stn_vec3_sub(d, b));
        }
    }
}

/// The pair of the contact once more, with the points on either surface; with the same margin, as they may depend on
/// it.
static stn_status fill_result(search *s, const stn_contact *best, stn_world_distance_result *out, stn_error *err) {
    bool swap =
        !query_wants(s->scene, s->a.query, best->geometry_a) || !query_wants(s->scene, s->b.query, best->geometry_b);
    int32_t a = swap ? best->geometry_b : best->geometry_a, b = swap ? best->geometry_a : best->geometry_b;
    *out = (stn_world_distance_result){a,           b,           best->phi0,
                                       best->point, best->point, swap ? stn_vec3_neg(best->normal) : best->normal};
    stn_contact_pair pair = make_pair(s, a, b, 1.0);
    stn_status status = run(s, &pair, 1, err);
    if (status < 0) {
        return status;
    }
    const stn_contact_set on_a = s->set;
    pair = make_pair(s, a, b, 0.0);
    status = run(s, &pair, 1, err);
    if (status < 0) {
        return status;
    }
    const stn_contact *deepest = deepest_of(&on_a);
    if (deepest != NULL && s->set.count == on_a.count) {
        int32_t i = (int32_t)(deepest - on_a.contacts);
        out->point_a = deepest->point;
        out->point_b = s->set.contacts[i].point;
        stand_straight(&on_a, &s->set, i, out);
    }
    return STN_OK;
}

static const stn_world_distance_result nothing = {.geometry_a = -1, .geometry_b = -1, .distance = (double)INFINITY};

static bool is_geometry(const void *user, int32_t geometry) {
    return geometry == *(const int32_t *)user;
}

/// The end of one side next to the other side: one of the two points is where they are nearest and the other one lies
/// opposite to it, on its surface.
static stn_status stand_opposite(const search *s, stn_world_distance_result *out, stn_error *err) {
    double beside = stn_vec3_norm(sideways(out->point_a, out->point_b, out->normal));
    if (!(beside > 1e-12 + 1e-9 * fabs(out->distance))) {
        return STN_OK;
    }
    const stn_query only_a = {s->a.query != NULL && s->a.query->visual, is_geometry, &out->geometry_a},
                    only_b = {s->b.query != NULL && s->b.query->visual, is_geometry, &out->geometry_b};
    stn_vec3 on_a = stn_vec3_mul_add(out->point_b, -out->distance, out->normal);
    stn_vec3 on_b = stn_vec3_mul_add(out->point_a, out->distance, out->normal);
    stn_world_distance_result off_a, off_b;
    stn_status status = stn_world_nearest(s->scene->world, &only_a, on_a, INFINITY, &off_a, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_world_nearest(s->scene->world, &only_b, on_b, INFINITY, &off_b, err);
    if (status != STN_OK) {
        return status;
    }
    if (fabs(off_a.distance) < fabs(off_b.distance)) {
        out->point_a = on_a;
    } else {
        out->point_b = on_b;
    }
    return STN_OK;
}

stn_status stn_world_distance(stn_world *world, const stn_query *a, const stn_query *b, double max,
                              stn_world_distance_result *out, stn_error *err) {
    search s = {.scene = NULL};
    stn_status status = query_scene_of(world, "distance", &s.scene, err);
    if (status != STN_OK) {
        return status;
    }
    *out = nothing;
    s.model = s.scene->model;
    if (isnan(max)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "distance: max = %g m must be a number", max);
    }
    status = list(&s, a, &s.a, err);
    if (status != STN_OK) {
        return status;
    }
    status = list(&s, b, &s.b, err);
    if (status != STN_OK) {
        return status;
    }
    if (s.a.count == 0 || s.b.count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "distance: the %s side has no shapes to measure to",
                        s.a.count == 0 ? "first" : "second");
    }
    const stn_contact *best = NULL;
    status = find_closest(&s, max, &best, err);
    if (status != STN_OK || best == NULL) {
        return status;
    }
    status = fill_result(&s, best, out, err);
    return status == STN_OK ? stand_opposite(&s, out, err) : status;
}

// -------------------------------------------------------------------------------------------------------- probes

/// The scene of `s` gets the shape as its probe, which is then side b: it belongs to no body.
static stn_status begin_probe(search *s, const stn_shape *shape, const stn_pose *pose, stn_error *err) {
    stn_status status = query_scene_probe(s->scene, shape, pose, err);
    if (status != STN_OK) {
        return status;
    }
    int32_t *probe = STN_ARENA(s->scene->arena, 1, int32_t);
    if (probe == NULL) {
        return out_of_memory(err);
    }
    *probe = s->scene->count;
    s->model = &s->scene->probed->face;
    s->b = (side){.count = 1, .item = probe};
    return STN_OK;
}

stn_status stn_world_nearest(stn_world *world, const stn_query *query, stn_vec3 point, double radius,
                             stn_world_distance_result *out, stn_error *err) {
    search s = {.a = {.query = query}};
    *out = nothing;
    if (!stn_vec3_finite(point) || isnan(radius)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "nearest: point (%g, %g, %g) m, radius %g m: must be numbers", point.x,
                        point.y, point.z, radius);
    }
    stn_status status = query_scene_of(world, "nearest", &s.scene, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_shape ball = stn_shape_sphere(point_radius);
    const stn_pose pose = {stn_mat3_identity(), point};
    status = begin_probe(&s, &ball, &pose, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_contact *best = NULL;
    status = find_closest(&s, radius - point_radius, &best, err);
    if (status == STN_OK && best != NULL) {
        *out = (stn_world_distance_result){best->geometry_a, -1,    best->phi0 + point_radius,
                                           best->point,      point, best->normal};
    }
    return status == STN_ERR_UNSUPPORTED ? STN_OK : status; // nothing that a point could be near to
}

stn_status stn_world_overlap(stn_world *world, const stn_query *query, const stn_shape *shape, const stn_pose *pose,
                             double margin, const stn_world_overlap_result **found, int32_t *count, stn_error *err) {
    search s = {.a = {.query = query}};
    *found = NULL;
    *count = 0;
    if (!isfinite(margin) || !stn_pose_finite(pose)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "overlap: margin = %g m must be finite, and so must the pose", margin);
    }
    stn_status status = stn_shape_check(shape, err);
    if (status != STN_OK) {
        return status;
    }
    status = query_scene_of(world, "overlap", &s.scene, err);
    if (status != STN_OK) {
        return status;
    }
    status = begin_probe(&s, shape, pose, err);
    if (status != STN_OK) {
        return status;
    }
    status = bound(&s, err);
    if (status != STN_OK) {
        return status;
    }
    status = collide_within(&s, margin, err);
    if (status < 0) {
        return status;
    }
    stn_world_overlap_result *list_of = STN_ARENA(s.scene->arena, s.set.count + 1, stn_world_overlap_result);
    if (list_of == NULL) {
        return out_of_memory(err);
    }
    // The smallest distance of each geometry; the contacts of one stand together.
    for (int32_t i = 0; i < s.set.count; i++) {
        const stn_contact *c = &s.set.contacts[i];
        if (c->phi0 > margin) {
            continue;
        }
        stn_world_overlap_result *last = *count > 0 ? &list_of[*count - 1] : NULL;
        if (last != NULL && last->geometry == c->geometry_a) {
            last->distance = fmin(last->distance, c->phi0);
        } else {
            list_of[(*count)++] = (stn_world_overlap_result){c->geometry_a, c->phi0};
        }
    }
    *found = list_of;
    return STN_OK;
}

// -------------------------------------------------------------------------------------- around what moves by itself

static bool is_mine(const search *s, int32_t geometry) {
    return query_wants(s->scene, s->a.query, geometry);
}

/// Pairs that may collide; those on one side once.
static void note_own_pair(search *s, int32_t a, int32_t b) {
    bool again = a > b && is_mine(s, b);
    if (!again && stn_model_may_collide(s->model, a, b)) {
        note_pair(s, a, b);
    }
}

stn_status stn_world_near_pairs(stn_world *world, const stn_query *mine, const stn_query *others, double within,
                                const stn_near_pair **pairs, int32_t *count, stn_error *err) {
    search s = {.b = {.query = others}};
    *pairs = NULL;
    *count = 0;
    if (!isfinite(within)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "near pairs: within = %g m must be finite", within);
    }
    stn_status status = query_scene_of(world, "near pairs", &s.scene, err);
    if (status != STN_OK) {
        return status;
    }
    s.model = s.scene->model;
    status = list(&s, mine, &s.a, err);
    if (status != STN_OK) {
        return status;
    }
    status = collide_noted(&s, within, note_own_pair, err);
    if (status < 0) {
        return status;
    }
    stn_near_pair *found = STN_ARENA(s.scene->arena, s.set.count + 1, stn_near_pair);
    if (found == NULL) {
        return out_of_memory(err);
    }
    // The nearest contact of each pair, with A on the first side; contacts of one pair stand together.
    for (int32_t i = 0; i < s.set.count; i++) {
        const stn_contact *c = &s.set.contacts[i];
        bool swap = !is_mine(&s, c->geometry_a);
        stn_near_pair pair = {.geometry_a = swap ? c->geometry_b : c->geometry_a,
                              .geometry_b = swap ? c->geometry_a : c->geometry_b,
                              .distance = c->phi0,
                              .point = c->point,
                              .normal = swap ? stn_vec3_neg(c->normal) : c->normal};
        const stn_near_pair *last = *count > 0 ? &found[*count - 1] : NULL;
        bool same = last != NULL && last->geometry_a == pair.geometry_a && last->geometry_b == pair.geometry_b;
        if (pair.distance <= within && (s.model->attachment_count == 0 || !stn_contact_is_tied(s.model, c)) &&
            (!same || pair.distance < last->distance)) {
            found[same ? *count - 1 : (*count)++] = pair;
        }
    }
    *pairs = found;
    return STN_OK;
}

/// The tree that a controller moves.
typedef struct own_tree {
    const stn_model *model;
    int32_t tree;
} own_tree;

static bool is_own(const void *user, int32_t geometry) {
    const own_tree *own = user;
    int32_t link = own->model->geometries[geometry].link;
    int32_t body = link >= 0 ? own->model->links[link].body : 0;
    return body > 0 && own->model->bodies[body].tree == own->tree;
}

stn_status stn_near_pairs(const stn_control_view *view, double within, const stn_near_pair **pairs, int32_t *count,
                          stn_error *err) {
    stn_world *world = (stn_world *)view->surroundings;
    *pairs = NULL;
    *count = 0;
    if (world == NULL) {
        return STN_OK;
    }
    const stn_model *model = stn_world_model(world);
    own_tree own = {model, model->dof_tree[view->target->dof[0]]};
    const stn_query mine = {.accepts = is_own, .user = &own};
    return stn_world_near_pairs(world, &mine, NULL, within, pairs, count, err);
}
