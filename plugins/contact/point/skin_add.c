// SPDX-License-Identifier: Apache-2.0
// Contacts of a skin are added but for what passes by in the step. A contact in advance is a plane, and a motion that
// ends behind it need not enter the other body: a box that slides over the seam of two others has their rims before it,
// a ball on a flat mesh has vertices. So the ways of the contact's points are looked at, at the velocities of the
// step's start.
#include "skin.h"

#include <stiction/random.h>

bool skin_flat_side(const stn_shape *shape, int32_t i, stn_vec3 *normal, double *height) {
    const double h[3] = {shape->half_extents.x, shape->half_extents.y, shape->half_extents.z},
                 sign = i % 2 ? -1.0 : 1.0;
    if (shape->type == STN_SHAPE_BOX && i < 6) {
        *normal = stn_vec3_make(i / 2 == 0 ? sign : 0.0, i / 2 == 1 ? sign : 0.0, i / 2 == 2 ? sign : 0.0);
        *height = h[i / 2];
        return true;
    }
    if (shape->type == STN_SHAPE_CYLINDER && i < 2) {
        *normal = stn_vec3_make(0.0, 0.0, sign);
        *height = shape->half_length;
        return true;
    }
    if (shape->type == STN_SHAPE_CONVEX && i < shape->mesh->polytope->face_count) {
        const double *plane = shape->mesh->polytope->planes + 4 * (size_t)i;
        *normal = stn_vec3_make(plane[0], plane[1], plane[2]);
        *height = plane[3];
        return true;
    }
    return false;
}

/// Velocity of the point at q that moves with a node: of a frame it turns with it.
static stn_vec3 velocity_of_node(const stn_contact_scene *scene, int32_t node, stn_vec3 q) {
    const stn_tree *t = &scene->model->trees[scene->model->node_tree[node]];
    const int32_t nv = stn_node_type_nv(t->node_type);
    const double *v = scene->kinematics->v + t->v_start + (size_t)nv * (size_t)(node - t->node_start);
    const stn_vec3 linear = stn_vec3_make(v[0], v[1], v[2]);
    if (t->node_type != STN_NODE_FRAME) {
        return linear;
    }
    const stn_vec3 arm = stn_vec3_sub(q, scene->kinematics->node[node]);
    return stn_vec3_add(linear, stn_vec3_cross(stn_vec3_make(v[3], v[4], v[5]), arm));
}

static stn_vec3 velocity_of(const stn_contact_scene *scene, const skin_part *part) {
    stn_vec3 v = stn_vec3_zero();
    for (int32_t i = 0; i < part->count; i++) {
        const int32_t node = part->skin->face->vertex[part->vertex[i]];
        const stn_vec3 one = velocity_of_node(scene, node, part->skin->at[part->vertex[i]]);
        v = stn_vec3_mul_add(v, part->weight[i], one);
    }
    return v;
}

/// Of the point of a geometry that is at q now, on a body or on a node.
static stn_vec3 velocity_of_point(const stn_contact_scene *scene, int32_t geometry, stn_vec3 q) {
    const stn_geometry *g = &scene->model->geometries[geometry];
    return g->body >= 0 ? stn_point_velocity(scene->kinematics, g->body, q) : velocity_of_node(scene, g->node, q);
}

/// A point's way through a skin.
typedef struct passage {
    const skin *skin;
    stn_vec3 from, along;
    double enters, leaves; // first, as parts of the way; infinite: never
    double nearest2;       // square of the way's distance to the triangles
} passage;

/// Square of the distance of the segments p + s d and q + t e, s and t from 0 to 1.
static double segments_apart2(stn_vec3 p, stn_vec3 d, stn_vec3 q, stn_vec3 e) {
    const stn_vec3 r = stn_vec3_sub(p, q);
    const double dd = stn_vec3_dot(d, d), ee = stn_vec3_dot(e, e), de = stn_vec3_dot(d, e);
    const double dr = stn_vec3_dot(d, r), er = stn_vec3_dot(e, r), area = dd * ee - de * de;
    double s = area > 0.0 ? fmin(fmax((de * er - dr * ee) / area, 0.0), 1.0) : 0.0;
    const double t = ee > 0.0 ? fmin(fmax((de * s + er) / ee, 0.0), 1.0) : 0.0;
    s = dd > 0.0 ? fmin(fmax((de * t - dr) / dd, 0.0), 1.0) : 0.0;
    const stn_vec3 apart = stn_vec3_mul_add(stn_vec3_mul_add(r, s, d), -t, e);
    return stn_vec3_dot(apart, apart);
}

static void cross(void *user, int32_t triangle) {
    passage *w = user;
    skin_facet f;
    skin_facet_of(w->skin, triangle, &f);
    const double height = stn_vec3_dot(f.normal, stn_vec3_sub(w->from, f.corner[0]));
    const double up = stn_vec3_dot(f.normal, w->along), t = -height / up;
    const double looks[3] = {0.0, 1.0, t >= 0.0 && t <= 1.0 ? t : 0.0}; // the ends, and where it passes the plane
    double distance2 = (double)INFINITY;
    for (int32_t i = 0; i < 3; i++) {
        double weight[3];
        const stn_vec3 at = stn_vec3_mul_add(w->from, looks[i], w->along);
        skin_nearest_on(f.corner, at, weight);
        stn_vec3 nearest = stn_vec3_zero();
        for (int32_t k = 0; k < 3; k++) {
            nearest = stn_vec3_mul_add(nearest, weight[k], f.corner[k]);
        }
        const stn_vec3 apart = stn_vec3_sub(nearest, at);
        distance2 = stn_vec3_dot(apart, apart);
        w->nearest2 = fmin(w->nearest2, distance2);
    }
    for (int32_t k = 0; k < 3; k++) {
        const stn_vec3 edge = stn_vec3_sub(f.corner[(k + 1) % 3], f.corner[k]);
        w->nearest2 = fmin(w->nearest2, segments_apart2(w->from, w->along, f.corner[k], edge));
    }
    if (t >= 0.0 && t <= 1.0 && sqrt(distance2) <= 1e-9 * w->skin->size) {
        double *first = up < 0.0 ? &w->enters : &w->leaves;
        *first = fmin(*first, t);
    }
}

/// How deep a point comes into a skin on its way. A surface that is not solid is passed, or the layer of `thickness`
/// around it is entered. In a solid it is looked at halfway from where the way enters the core to where it leaves or
/// stops, and there.
static double depth_in_skin(const skin *s, stn_vec3 from, stn_vec3 along, double thickness) {
    passage w = {s, from, along, (double)INFINITY, (double)INFINITY, thickness * thickness};
    const stn_vec3 ends[2] = {from, stn_vec3_add(from, along)};
    const stn_aabb box = skin_box_of(ends, 2, thickness + 1e-9 * s->size);
    skin_visit(s, &box, cross, &w);
    double depth = thickness - sqrt(w.nearest2);
    if (!s->face->solid) {
        return isfinite(fmin(w.enters, w.leaves)) ? (double)INFINITY : depth;
    }
    if (!isfinite(w.enters)) {
        return depth;
    }
    const double stop = w.leaves > w.enters ? fmin(w.leaves, 1.0) : 1.0;
    const double looks[2] = {0.5 * (w.enters + stop), stop};
    for (int32_t k = 0; k < 2; k++) {
        double distance;
        if (skin_holds(s, stn_vec3_mul_add(from, looks[k], along), s->size, &distance)) {
            depth = fmax(depth, thickness + distance);
        }
    }
    return depth;
}

/// How deep a ball comes into a convex body, both by their cores: its way is a capsule.
static double depth_in_body(const convex *body, double radii, stn_vec3 from, stn_vec3 along) {
    const stn_vec3 z = stn_vec3_normalize_or(along, stn_vec3_make(0.0, 0.0, 1.0));
    const stn_shape line = {.type = STN_SHAPE_CAPSULE, .half_length = 0.5 * stn_vec3_norm(along)};
    const convex way = {&line, {stn_contact_frame(z), stn_vec3_mul_add(from, 0.5, along)}};
    return radii - convex_separation(&way, body, radii).phi;
}

/// The point moved by `far` at right angles to its way u, to where its body lies, if that lies to one side (`inwards`
/// of length 1 or so): what has its corner or side exactly on the rim of another body does not pass by it.
static stn_vec3 moved_in(stn_vec3 point, stn_vec3 inwards, stn_vec3 u, double far) {
    const stn_vec3 d = stn_vec3_normalize_or(u, stn_vec3_zero());
    const stn_vec3 across = stn_vec3_mul_add(inwards, -stn_vec3_dot(inwards, d), d);
    const double share = stn_vec3_norm(across);
    return share > 0.5 ? stn_vec3_mul_add(point, far / share, across) : point;
}

/// From a part to what is around it, in unit vectors; zero inside of a triangle, and nearly so where they lie all
/// around.
static stn_vec3 inwards_of(const skin_part *part) {
    const skin *s = part->skin;
    const stn_vec3 from = skin_part_point(part);
    stn_vec3 sum = stn_vec3_zero();
    if (part->count == 1) {
        const int32_t id = part->vertex[0];
        for (int32_t i = s->beside_start[id]; i < s->beside_start[id + 1]; i++) {
            sum = stn_vec3_add(sum, stn_vec3_normalize_or(stn_vec3_sub(s->at[s->beside[i]], from), stn_vec3_zero()));
        }
    } else if (part->count == 2) {
        const int32_t *sides = s->face->edge_triangle + 2 * (size_t)(part->name >> 2);
        const stn_vec3 edge =
            stn_vec3_normalize_or(stn_vec3_sub(s->at[part->vertex[1]], s->at[part->vertex[0]]), stn_vec3_zero());
        for (int32_t k = 0; k < 2 && sides[k] >= 0; k++) {
            const int32_t *corner = s->face->triangle + 3 * (size_t)sides[k];
            for (int32_t i = 0; i < 3; i++) {
                if (corner[i] != part->vertex[0] && corner[i] != part->vertex[1]) {
                    stn_vec3 across = stn_vec3_sub(s->at[corner[i]], from);
                    across = stn_vec3_mul_add(across, -stn_vec3_dot(across, edge), edge);
                    sum = stn_vec3_add(sum, stn_vec3_normalize_or(across, stn_vec3_zero()));
                }
            }
        }
    }
    return sum;
}

/// Does what is apart along m by `distance` only seem to run into each other in this step? The plane of the contact is
/// in the way of a motion in which neither the point of A enters the other side nor q, of that, enters A, but for a
/// small part of it.
static bool passes_by(const skin_sink *sink, const skin_part *a, const skin_part *b, stn_vec3 q, stn_vec3 m,
                      double distance) {
    static const double steps = 3.0;               // laws begin to brake before the plane is reached
    static const double share = 0.1, graze = 1e-4; // of the depth behind the plane, and of the size: no collision
    const stn_contact_scene *scene = sink->scene;
    const skin *one = a->skin;
    if (!skin_is_step(sink) || !(distance > skin_touch * one->size) || (b == NULL && sink->body == NULL) ||
        (b != NULL && b->skin->face->tree == one->face->tree)) {
        return false;
    }
    const int32_t geometry = sink->swap ? sink->pair->geometry_a : sink->pair->geometry_b;
    const stn_vec3 other = b != NULL ? velocity_of(scene, b) : velocity_of_point(scene, geometry, q);
    const stn_vec3 u = stn_vec3_scale(steps * scene->dt, stn_vec3_sub(velocity_of(scene, a), other));
    const double beyond = stn_vec3_dot(m, u) - distance; // of the plane
    if (!(beyond > 0.0)) {
        return false;
    }
    if (stn_vec3_dot(m, u) < 0.9 * stn_vec3_norm(u)) {
        return false; // what turns a motion aside, or lands while it slides along, may carry a load
    }
    const double most = fmin(share * beyond, graze * one->size), in = 3.0 * graze * one->size;
    const double thickness = one->face->thickness;
    const stn_vec3 p = moved_in(skin_part_point(a), inwards_of(a), u, in);
    if (b == NULL) {
        const stn_vec3 on_body = moved_in(q, stn_vec3_normalize_or(stn_vec3_sub(sink->middle, q), m), u, in);
        return depth_in_body(sink->body, sink->radius + thickness, p, u) <= most &&
               depth_in_skin(one, on_body, stn_vec3_neg(u), thickness) <= most;
    }
    const double both = thickness + b->skin->face->thickness;
    const stn_vec3 on_skin = moved_in(skin_part_point(b), inwards_of(b), u, in);
    return depth_in_skin(b->skin, p, u, both) <= most && depth_in_skin(one, on_skin, stn_vec3_neg(u), both) <= most;
}

static stn_support support_of(const skin_part *part) {
    stn_support support = {.body = -1, .node_count = part->count};
    for (int32_t i = 0; i < part->count; i++) {
        support.node[i] = part->skin->face->vertex[part->vertex[i]];
        support.weight[i] = part->weight[i];
    }
    return support;
}

void skin_add(skin_sink *sink, const skin_part *a, const skin_part *b, stn_vec3 on_body, stn_vec3 m, uint64_t feature) {
    stn_vec3 p = stn_vec3_mul_add(skin_part_point(a), a->skin->face->thickness, m);
    stn_vec3 q = b != NULL ? stn_vec3_mul_add(skin_part_point(b), -b->skin->face->thickness, m) : on_body;
    const double distance = stn_vec3_dot(m, stn_vec3_sub(q, p));
    if (sink->status != STN_OK || distance > sink->margin || passes_by(sink, a, b, on_body, m, distance)) {
        return;
    }
    uint64_t id = stn_random_mix(a->name + STN_RANDOM_STEP) ^ feature;
    stn_contact c = sink->swap ? stn_contact_make(sink->scene->model, sink->pair, q, p, stn_vec3_neg(m), id)
                               : stn_contact_make(sink->scene->model, sink->pair, p, q, m, id);
    *(sink->swap ? &c.b : &c.a) = support_of(a);
    if (b != NULL) {
        *(sink->swap ? &c.a : &c.b) = support_of(b);
    }
    sink->deepest = fmin(sink->deepest, c.phi0);
    sink->status = stn_contact_set_add(sink->scene->model, sink->set, &c, sink->err);
}
