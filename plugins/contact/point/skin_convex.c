// SPDX-License-Identifier: Apache-2.0
// A skin against a half space or a bounded convex shape. Of bodies that are apart the nearest points are a vertex, the
// inside of an edge or that of a triangle, and the shape:
//   - a vertex is a ball as thick as the skin, an edge a capsule: the pair functions of rigid shapes know these, in
//     overlap too, where the shape's own depth and normal count;
//   - on the plane of a triangle the shape stands as on a half space: its lowest points, as far as they lie over the
//     triangle. A half space meets vertices alone, as a plane has no point that a triangle meets before its corners.
#include "skin.h"

#include <stiction/random.h>

typedef struct look {
    skin *skin;
    posed body;
    convex core; // of the body; of a sphere or capsule without its radius
    double radius, margin;
    stn_aabb box; // of the body, grown by thickness and margin
    bool refused; // an edge that overlaps, as its direction is not one that the surface admits there
    bool last;    // those count
    skin_sink *sink;
} look;

static bool box_has(const stn_aabb *box, stn_vec3 p) {
    return p.x >= box->lower.x && p.x <= box->upper.x && p.y >= box->lower.y && p.y <= box->upper.y &&
           p.z >= box->lower.z && p.z <= box->upper.z;
}

static uint64_t feature_of(const witness *w) {
    return stn_random_mix(((uint64_t)w->feature_a << 32 | w->feature_b) + 1);
}

/// The way out of a body for a vertex inside of it that may not come out where it is nearest, as beside a rim: over the
/// flat side that is nearest of those that it can face. Not for one that lies so deep that this would be no rim.
static bool leaves_over_side(const look *s, int32_t id, witness *w) {
    const stn_vec3 p = s->skin->at[id], local = stn_pose_apply_inverse(s->body.pose, p);
    double least = skin_far * s->skin->size, height;
    bool leaves = false;
    stn_vec3 n;
    for (int32_t i = 0; skin_flat_side(s->body.shape, i, &n, &height); i++) {
        const double depth = height - stn_vec3_dot(n, local);
        const stn_vec3 out = stn_mat3_apply(&s->body.pose->rotation, n);
        const double slack = skin_slack_at(s->skin, -depth);
        if (depth >= 0.0 && depth < least && skin_vertex_admits(s->skin, id, stn_vec3_neg(out), slack)) {
            leaves = true;
            least = depth;
            w->normal = stn_vec3_neg(out);
            w->b = stn_vec3_mul_add(p, depth, out);
            w->phi = -depth - s->skin->face->thickness;
            w->feature_b = (uint32_t)i;
        }
    }
    return leaves;
}

static void meet_vertex(const look *s, int32_t id) {
    if (!box_has(&s->box, s->skin->at[id])) {
        return;
    }
    const stn_shape ball = {.type = STN_SHAPE_SPHERE, .radius = s->skin->face->thickness};
    const stn_pose pose = {stn_mat3_identity(), s->skin->at[id]};
    manifold found;
    collide_convex((posed){&ball, &pose}, s->body, s->margin, &found);
    for (int32_t i = 0; i < found.count; i++) {
        witness *w = &found.points[i];
        const bool inside = w->phi + ball.radius < 0.0;
        if (skin_vertex_admits(s->skin, id, w->normal, skin_slack_at(s->skin, w->phi)) ||
            (inside && leaves_over_side(s, id, w))) {
            const skin_part part = skin_vertex_part(s->skin, id);
            skin_add(s->sink, &part, NULL, w->b, w->normal, feature_of(w));
        }
    }
}

/// The pose of a capsule from p to q; false: it has no length.
static bool along_edge(stn_vec3 p, stn_vec3 q, stn_pose *pose, double *half_length) {
    stn_vec3 d = stn_vec3_sub(q, p), z = stn_vec3_normalize_or(d, stn_vec3_zero());
    *half_length = 0.5 * stn_vec3_norm(d);
    if (!(stn_vec3_dot(z, z) > 0.5)) {
        return false;
    }
    stn_mat3 frame = stn_contact_frame(z);
    *pose = (stn_pose){frame, stn_vec3_scale(0.5, stn_vec3_add(p, q))};
    return true;
}

static void meet_edge(look *s, int32_t edge) {
    const int32_t *v = s->skin->face->edge + 2 * (size_t)edge;
    const stn_vec3 ends[2] = {s->skin->at[v[0]], s->skin->at[v[1]]};
    stn_aabb own = skin_box_of(ends, 2, 0.0);
    stn_shape capsule = {.type = STN_SHAPE_CAPSULE, .radius = s->skin->face->thickness};
    stn_pose pose;
    if (!skin_boxes_meet(&own, &s->box) || !along_edge(ends[0], ends[1], &pose, &capsule.half_length)) {
        return;
    }
    manifold found;
    collide_convex((posed){&capsule, &pose}, s->body, s->margin, &found);
    const stn_vec3 z = stn_mat3_column(&pose.rotation, 2);
    for (int32_t i = 0; i < found.count; i++) {
        const witness *w = &found.points[i];
        stn_vec3 core = stn_vec3_mul_add(w->a, -capsule.radius, w->normal);
        double t = 0.5 + 0.5 * stn_vec3_dot(stn_vec3_sub(core, pose.position), z) / capsule.half_length;
        bool inside = t > skin_tiny && t < 1.0 - skin_tiny,
             admitted = skin_edge_admits(s->skin, edge, w->normal, skin_slack);
        s->refused = s->refused || (inside && !admitted && w->phi < 0.0);
        if (inside &&
            (s->last ? !admitted && w->phi < 0.0 && skin_edge_admits(s->skin, edge, w->normal, 2.0) : admitted)) {
            const skin_part part = skin_edge_part(s->skin, edge, t);
            skin_add(s->sink, &part, NULL, w->b, w->normal, feature_of(w));
        }
    }
}

/// Is a point of the body at this height over a triangle of a solid skin nearest to that triangle, on this side?
/// A point outside lies below the triangles of the far side, too, and one inside below all.
static bool is_way_out(const skin *s, stn_vec3 point, double height) {
    double distance, tolerance = 1e-9 * s->size;
    bool inside = skin_holds(s, point, 2.0 * fabs(height) + tolerance, &distance);
    return inside == (height < 0.0) && fabs(height) <= distance * (1.0 + 1e-6) + tolerance;
}

/// Does a body come out over a triangle that its point lies below? Its surface tells, or of a round one the middle,
/// where another side is nearer to the point.
static bool leaves_here(const look *s, const witness *w, stn_vec3 m) {
    const stn_vec3 core = stn_vec3_mul_add(w->a, s->radius, m);
    return is_way_out(s->skin, w->a, w->phi) || (s->radius > 0.0 && is_way_out(s->skin, core, w->phi + s->radius));
}

/// Does a body that reaches `depth` beyond the plane of a triangle come out along its normal? One that stands beside it
/// lies on both sides of the plane, too, and has corners over it: it does not overlap the triangle, or comes out over
/// a side sooner, where no other triangle is in the way. That is the contact of an edge.
static bool is_through(const look *s, int32_t triangle, const skin_facet *f, double depth) {
    stn_vec3 middle = s->core.pose.position, corner[3];
    for (int32_t k = 0; k < 3; k++) { // near the origin, whatever the world's is
        corner[k] = stn_vec3_sub(f->corner[k], middle);
    }
    stn_shape shape;
    convex one = skin_triangle(corner, &shape), body = s->core;
    body.pose.position = stn_vec3_zero();
    separation found;
    double least, weight[3];
    bool apart = convex_apart(&one, &body, s->radius, &found, &least);
    if (!apart) {
        found = convex_penetration(&one, &body, NULL);
    }
    double overlap = s->radius - found.phi;
    if (overlap <= 0.0 || depth <= 1.001 * overlap) {
        return overlap > 0.0;
    }
    skin_nearest_on(corner, found.a, weight);
    for (int32_t k = 0; k < 3; k++) {
        int32_t edge = s->skin->face->triangle_edge[3 * (size_t)triangle + (size_t)k];
        if (weight[(k + 2) % 3] <= 1e-6 && skin_edge_admits(s->skin, edge, found.normal, skin_slack)) {
            return false;
        }
    }
    return true;
}

static void meet_face(const look *s, int32_t triangle) {
    static const stn_shape half_space = {.type = STN_SHAPE_HALF_SPACE};
    skin_facet f;
    skin_facet_of(s->skin, triangle, &f);
    if (!(stn_vec3_dot(f.normal, f.normal) > 0.5)) {
        return;
    }
    // heights of the body over the plane, seen from either side: it comes out on the nearer one
    double lowest = stn_vec3_dot(f.normal, stn_vec3_sub(convex_support(&s->core, stn_vec3_neg(f.normal)), f.corner[0]));
    double highest = stn_vec3_dot(f.normal, stn_vec3_sub(convex_support(&s->core, f.normal), f.corner[0]));
    double side = s->skin->face->solid || lowest + highest >= 0.0 ? 1.0 : -1.0;
    if ((side > 0.0 ? lowest : -highest) - s->radius - s->skin->face->thickness > s->margin) {
        return;
    }
    stn_vec3 m = stn_vec3_scale(side, f.normal);
    stn_pose plane = {stn_mat3_identity(), f.corner[0]};
    plane.rotation.m[0][2] = m.x; // of which only the normal counts
    plane.rotation.m[1][2] = m.y;
    plane.rotation.m[2][2] = m.z;
    manifold found;
    collide_convex(s->body, (posed){&half_space, &plane}, s->margin + s->skin->face->thickness, &found);
    double depth = found.count > 0 ? -manifold_depth(&found) : 0.0;
    bool beside = depth > 0.0 && !s->skin->face->solid && !is_through(s, triangle, &f, depth);
    for (int32_t i = 0; i < found.count; i++) {
        const witness *w = &found.points[i];
        double weight[3];
        skin_nearest_on(f.corner, w->a, weight);
        bool inside = weight[0] > skin_tiny && weight[1] > skin_tiny && weight[2] > skin_tiny;
        if (inside && (w->phi >= 0.0 || (s->skin->face->solid ? leaves_here(s, w, m) : !beside))) {
            const skin_part part = skin_face_part(s->skin, triangle, weight);
            skin_add(s->sink, &part, NULL, w->a, m, stn_random_mix((uint64_t)w->feature_a + 1));
        }
    }
}

/// Vertices and edges come with the first triangle that has them.
static void meet(void *user, int32_t triangle) {
    look *s = user;
    const stn_surface *face = s->skin->face;
    for (int32_t k = 0; k < 3 && s->sink->status == STN_OK; k++) {
        size_t corner = 3 * (size_t)triangle + (size_t)k;
        int32_t id = face->triangle[corner], edge = face->triangle_edge[corner];
        if (face->vertex_owner[id] == triangle && !s->last) {
            meet_vertex(s, id);
        }
        if (s->body.shape->type != STN_SHAPE_HALF_SPACE && face->edge_triangle[2 * (size_t)edge] == triangle) {
            meet_edge(s, edge);
        }
    }
    if (s->body.shape->type != STN_SHAPE_HALF_SPACE && s->sink->status == STN_OK && !s->last) {
        meet_face(s, triangle);
    }
}

/// The centre of a shape; of a hull, whose frame may be anywhere, a point of it.
static stn_vec3 middle_of(const convex *core) {
    static const stn_vec3 axes[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    if (core->shape->type != STN_SHAPE_CONVEX) {
        return core->pose.position;
    }
    stn_vec3 middle = stn_vec3_zero();
    for (int32_t i = 0; i < 6; i++) {
        middle = stn_vec3_mul_add(middle, 1.0 / 6.0, convex_support(core, axes[i]));
    }
    return middle;
}

/// The least distance of a vertex: what is nearest is no further away.
static double nearest_vertex(const look *s) {
    double least = INFINITY;
    const stn_shape ball = {.type = STN_SHAPE_SPHERE, .radius = s->skin->face->thickness};
    for (int32_t i = 0; i < s->skin->face->vertex_count; i++) {
        const stn_pose pose = {stn_mat3_identity(), s->skin->at[i]};
        manifold found;
        collide_convex((posed){&ball, &pose}, s->body, INFINITY, &found);
        least = found.count > 0 ? fmin(least, manifold_depth(&found)) : least;
    }
    return least;
}

void skin_against_convex(skin *a, posed b, skin_sink *sink) {
    bool ball = b.shape->type == STN_SHAPE_SPHERE || b.shape->type == STN_SHAPE_CAPSULE;
    look s = {.skin = a,
              .body = b,
              .core = {b.shape, *b.pose},
              .radius = ball ? b.shape->radius : 0.0,
              .margin = sink->margin,
              .sink = sink};
    if (!skin_is_step(sink) && sink->margin > a->size) { // asked from far away: what is nearest is enough
        s.margin = sink->margin = fmax(fmin(sink->margin, nearest_vertex(&s) + 1e-6 * a->size), a->size);
    }
    s.box = stn_shape_aabb(b.shape, b.pose, s.margin + a->face->thickness);
    sink->body = b.shape->type != STN_SHAPE_HALF_SPACE ? &s.core : NULL;
    sink->radius = s.radius;
    sink->middle = middle_of(&s.core);
    skin_visit(a, &s.box, meet, &s);
    if (a->face->solid && b.shape->type != STN_SHAPE_HALF_SPACE && sink->deepest >= 0.0 && sink->status == STN_OK) {
        skin_encloses_convex(a, &s.core, s.radius, sink->middle, sink);
    }
    if (a->face->solid && b.shape->type != STN_SHAPE_HALF_SPACE && sink->status == STN_OK) {
        skin_inside_convex(a, b, sink);
    }
    if (s.refused && sink->deepest >= 0.0) { // deep in a crease, at an edge: whatever overlaps has a contact
        s.last = true;
        skin_visit(a, &s.box, meet, &s);
    }
}
