// SPDX-License-Identifier: Apache-2.0
// What lies wholly inside of a solid skin, and a solid skin wholly inside of a convex body: no part of it is near a
// surface that would have its contact. It comes out on the nearest side. That a body lies inside is certain only when
// no triangle of the skin meets it: a vertex that is inside by rounding, as of a box that stands on an equal one, is no
// body inside.
#include "skin.h"

#include <stiction/random.h>

typedef struct search {
    const skin *skin;
    const convex *body;
    double radius;
    bool met;
} search;

static void meet(void *user, int32_t triangle) {
    search *s = user;
    if (s->met) {
        return;
    }
    stn_vec3 corner[3];
    skin_facet f;
    skin_facet_of(s->skin, triangle, &f);
    for (int32_t k = 0; k < 3; k++) { // near the origin, whatever the world's is
        corner[k] = stn_vec3_sub(f.corner[k], s->body->pose.position);
    }
    stn_shape shape;
    const convex one = skin_triangle(corner, &shape),
                 body = {s->body->shape, {s->body->pose.rotation, stn_vec3_zero()}};
    separation found;
    double least;
    s->met = !convex_apart(&one, &body, s->radius, &found, &least) || found.phi <= s->radius;
}

/// Does a triangle of the skin meet a convex body within this box, grown by `radius`?
static bool meets(const skin *s, const convex *body, double radius, const stn_aabb *box) {
    search look = {s, body, radius, false};
    skin_visit(s, box, meet, &look);
    return look.met;
}

/// Six times the volume of a tetrahedron.
static double volume(const stn_vec3 p[4]) {
    const stn_vec3 a = stn_vec3_sub(p[1], p[0]), b = stn_vec3_sub(p[2], p[0]), c = stn_vec3_sub(p[3], p[0]);
    return stn_vec3_dot(a, stn_vec3_cross(b, c));
}

static bool tetrahedron_has(const stn_vec3 corner[4], stn_vec3 p) {
    const double whole = volume(corner);
    for (int32_t k = 0; k < 4; k++) {
        stn_vec3 part[4] = {corner[0], corner[1], corner[2], corner[3]};
        part[k] = p;
        if (!(volume(part) * whole >= 0.0)) {
            return false;
        }
    }
    return whole != 0.0;
}

/// Is a point inside of the skin in what the cloud is made of? A chamber is not. Of elements that are no tetrahedra
/// nobody knows: true.
static bool is_material(const skin *s, const stn_contact_scene *scene, stn_vec3 p) {
    const stn_model *model = scene->model;
    bool known = false;
    for (int32_t g = 0; g < model->element_group_count; g++) {
        const stn_element_group *group = &model->element_groups[g];
        if (group->tree != s->face->tree || group->nodes_per_element != 4) {
            continue;
        }
        const stn_vec3 *node = scene->kinematics->node + model->trees[group->tree].node_start;
        for (int32_t e = 0; e < group->element_count; e++) {
            const int32_t *i = group->index + 4 * (size_t)e;
            if (tetrahedron_has((const stn_vec3[4]){node[i[0]], node[i[1]], node[i[2]], node[i[3]]}, p)) {
                return true;
            }
        }
        known = true;
    }
    return !known;
}

/// Does a step look at a body that holds nodes of the skin's cloud? Such a core inside of a soft body stays there.
static bool is_core(const skin *s, const skin_sink *sink) {
    const stn_model *model = sink->scene->model;
    const int32_t body = model->geometries[sink->swap ? sink->pair->geometry_a : sink->pair->geometry_b].body;
    for (int32_t i = 0; i < model->attachment_count; i++) {
        const stn_node_attachment *held = &model->attachments[i];
        if (held->body == body && model->node_tree[held->node] == s->face->tree) {
            return true;
        }
    }
    return false;
}

/// A point this near to a skin is on it.
static double touch_of(const skin *s) {
    return 1e-9 * s->size;
}

void skin_encloses_convex(const skin *solid, const convex *core, double radius, stn_vec3 middle, skin_sink *sink) {
    const stn_aabb point = skin_box_of(&middle, 1, touch_of(solid)), *all = &solid->node[0].box;
    if (!skin_boxes_meet(&point, all) || (skin_is_step(sink) && is_core(solid, sink))) {
        return;
    }
    const skin_nearest near = skin_nearest_to(solid, middle, INFINITY);
    const stn_vec3 out = stn_vec3_sub(near.point, middle);
    stn_vec3 m;
    if (near.distance > touch_of(solid)) {
        if (stn_vec3_dot(out, near.normal) <= 0.0 || meets(solid, core, radius, all) ||
            (skin_is_step(sink) && !is_material(solid, sink->scene, middle))) {
            return;
        }
        m = stn_vec3_scale(1.0 / stn_vec3_norm(out), out);
    } else { // no direction leads from it to the skin
        m = stn_vec3_normalize_or(near.normal, stn_vec3_zero());
    }
    const skin_part part = skin_face_part(solid, near.triangle, near.weight);
    const stn_vec3 last = stn_vec3_mul_add(convex_support(core, stn_vec3_neg(m)), -radius, m);
    if (stn_vec3_dot(m, m) > 0.5) {
        skin_add(sink, &part, NULL, last, m, stn_random_mix(UINT64_MAX));
    }
}

void skin_encloses_skin(const skin *solid, const skin *inner, bool turned, skin_sink *sink) {
    skin_nearest wall = {.distance = INFINITY};
    if (!solid->face->solid) {
        return;
    }
    int32_t first = 0, last = 0;
    for (int32_t i = 0; i < inner->face->vertex_count; i++) {
        const skin_nearest near = skin_nearest_to(solid, inner->at[i], INFINITY);
        if (near.distance <= touch_of(solid) ||
            stn_vec3_dot(stn_vec3_sub(near.point, inner->at[i]), near.normal) <= 0.0) {
            return;
        }
        first = near.distance < wall.distance ? i : first;
        wall = near.distance < wall.distance ? near : wall;
    }
    for (int32_t t = 0; t < inner->face->triangle_count; t++) {
        skin_facet f;
        skin_facet_of(inner, t, &f);
        const stn_aabb box = skin_box_of(f.corner, 3, 0.0);
        stn_shape shape;
        const convex one = skin_triangle(f.corner, &shape);
        if (meets(solid, &one, 0.0, &box)) {
            return;
        }
    }
    if (skin_is_step(sink) && !is_material(solid, sink->scene, inner->at[first])) {
        return;
    }
    const stn_vec3 out = stn_vec3_sub(wall.point, inner->at[first]), m = stn_vec3_scale(1.0 / stn_vec3_norm(out), out);
    for (int32_t i = 0; i < inner->face->vertex_count; i++) {
        last = stn_vec3_dot(m, stn_vec3_sub(inner->at[i], inner->at[last])) < 0.0 ? i : last;
    }
    const skin_part face = skin_face_part(solid, wall.triangle, wall.weight), corner = skin_vertex_part(inner, last);
    const skin_part *a = turned ? &corner : &face, *b = turned ? &face : &corner;
    skin_add(sink, a, b, stn_vec3_zero(), turned ? stn_vec3_neg(m) : m,
             stn_random_mix(b->name + 3 * STN_RANDOM_STEP)); // the two may have another contact, not in overlap
}

void skin_inside_convex(const skin *inner, posed body, skin_sink *sink) {
    const stn_surface *face = inner->face;
    const stn_shape ball = {.type = STN_SHAPE_SPHERE, .radius = face->thickness};
    witness wall = {.phi = -INFINITY};
    if (skin_is_step(sink) && is_core(inner, sink)) {
        return;
    }
    for (int32_t i = 0; i < face->vertex_count; i++) {
        const stn_pose pose = {stn_mat3_identity(), inner->at[i]};
        manifold found;
        collide_convex((posed){&ball, &pose}, body, sink->margin, &found);
        if (found.count == 0 || !(found.points[0].phi < 0.0)) {
            return;
        }
        wall = found.points[0].phi > wall.phi ? found.points[0] : wall;
    }
    int32_t last = 0;
    for (int32_t i = 0; i < face->vertex_count; i++) {
        last = stn_vec3_dot(wall.normal, stn_vec3_sub(inner->at[i], inner->at[last])) > 0.0 ? i : last;
    }
    const skin_part part = skin_vertex_part(inner, last);
    const double beyond = stn_vec3_dot(wall.normal, stn_vec3_sub(wall.b, inner->at[last]));
    skin_add(sink, &part, NULL, stn_vec3_mul_add(inner->at[last], beyond, wall.normal), wall.normal,
             stn_random_mix(UINT64_MAX - 1));
}
