// SPDX-License-Identifier: Apache-2.0
// Shapes to triangles, anew for every picture and as fine as it shows.
//
// Sphere, ellipsoid, capsule and cylinder are surfaces of revolution: a profile (rho, z) with normals goes round the z
// axis (an ellipsoid is a sphere whose points are scaled by its semi-axes and whose normals by their inverses). n
// segments lie inside of a circle of radius r by r (1 - cos(pi / n)) < r pi^2 / (2 n^2), which is at most a quarter of
// a sample for n = pi sqrt(2 r), r in samples.
#include "picture.h"

static const double COS_CREASE = 0.766; // 40 degrees at rest between a triangle and the mean at its corner

enum { SEGMENTS_MIN = 12, PROFILE_MAX = SEGMENTS_MAX / 2 + 2 };

/// Where and how the triangles of a shape are drawn.
typedef struct brush {
    const raster *raster;
    const view *view;
    stn_pose to_view;  // shape -> view coordinates
    stn_mat3 to_world; // directions
    paint paint;
    double value; // of all vertices
} brush;

static vertex place(const brush *b, stn_vec3 point, stn_vec3 normal) {
    return (vertex){stn_pose_apply(&b->to_view, point), stn_mat3_apply(&b->to_world, normal), b->value};
}

static void triangle(const brush *b, vertex p, vertex q, vertex r) {
    raster_triangle(b->raster, b->view, (const vertex[3]){p, q, r}, &b->paint);
}

/// Segments of a circle of this radius on a shape that reaches no further than `reach` from its origin.
static int32_t segments_for(const brush *b, double radius, double reach) {
    double depth = b->view->perspective ? fmax(b->to_view.position.z - reach, b->view->near) : 1.0;
    double n = STN_PI * sqrt(2.0 * b->view->scale * radius / depth);
    return 4 * (int32_t)ceil(fmin(fmax(n, SEGMENTS_MIN), SEGMENTS_MAX) / 4.0);
}

typedef struct profile_point {
    double rho, z, normal_rho, normal_z;
} profile_point;

typedef struct profile {
    profile_point points[PROFILE_MAX];
    int32_t count;
    stn_vec3 scale; // of the points
} profile;

static void add_point(profile *p, double rho, double z, double normal_rho, double normal_z) {
    p->points[p->count++] = (profile_point){rho, z, normal_rho, normal_z};
}

/// Arc from angle `from` to `to` above the xy plane, its centre at height z.
static void add_arc(profile *p, double radius, double z, double from, double to, int32_t segments) {
    for (int32_t i = 0; i <= segments; i++) {
        double angle = from + (to - from) * i / segments;
        bool pole = i == 0 ? from < 0.0 : i == segments && to > 0.0;
        double c = pole ? 0.0 : cos(angle), s = sin(angle);
        add_point(p, radius * c, z + radius * s, c, s);
    }
}

static vertex revolve_point(const brush *b, const profile *p, int32_t i, double c, double s) {
    const profile_point *at = &p->points[i];
    stn_vec3 k = p->scale;
    stn_vec3 point = {k.x * at->rho * c, k.y * at->rho * s, k.z * at->z};
    stn_vec3 normal = {at->normal_rho * c / k.x, at->normal_rho * s / k.y, at->normal_z / k.z};
    return place(b, point, stn_vec3_normalize_or(normal, stn_vec3_make(0.0, 0.0, 1.0)));
}

static void draw_round(const brush *b, const stn_shape *shape) {
    profile p = {.scale = {1.0, 1.0, 1.0}};
    double radius = shape->radius, reach = shape->radius + shape->half_length;
    if (shape->type == STN_SHAPE_ELLIPSOID) {
        p.scale = shape->half_extents;
        reach = fmax(p.scale.x, fmax(p.scale.y, p.scale.z));
        radius = 1.0;
    }
    int32_t segments = segments_for(b, shape->type == STN_SHAPE_ELLIPSOID ? reach : radius, reach);
    if (shape->type == STN_SHAPE_CYLINDER) {
        double h = shape->half_length;
        add_point(&p, 0.0, -h, 0.0, -1.0);
        add_point(&p, radius, -h, 0.0, -1.0);
        add_point(&p, radius, -h, 1.0, 0.0);
        add_point(&p, radius, h, 1.0, 0.0);
        add_point(&p, radius, h, 0.0, 1.0);
        add_point(&p, 0.0, h, 0.0, 1.0);
    } else {
        add_arc(&p, radius, -shape->half_length, -0.5 * STN_PI, 0.0, segments / 4);
        add_arc(&p, radius, shape->half_length, 0.0, 0.5 * STN_PI, segments / 4);
    }
    vertex meridian[2][PROFILE_MAX];
    for (int32_t k = 0; k <= segments; k++) {
        double angle = 2.0 * STN_PI * (k % segments) / segments; // closes with the same numbers
        vertex *here = meridian[k & 1], *before = meridian[(k + 1) & 1];
        for (int32_t i = 0; i < p.count; i++) {
            here[i] = revolve_point(b, &p, i, cos(angle), sin(angle));
        }
        for (int32_t i = 1; k > 0 && i < p.count; i++) {
            triangle(b, before[i - 1], here[i - 1], here[i]);
            triangle(b, before[i - 1], here[i], before[i]);
        }
    }
}

static void draw_box(const brush *b, stn_vec3 h) {
    for (int32_t face = 0; face < 6; face++) {
        int32_t axis = face / 2;
        double sign = face % 2 == 0 ? 1.0 : -1.0;
        vertex corner[4];
        for (int32_t k = 0; k < 4; k++) { // counter-clockwise about the outward normal
            double p[3], n[3] = {0.0, 0.0, 0.0};
            p[axis] = n[axis] = sign;
            p[(axis + 1) % 3] = k == 0 || k == 3 ? -1.0 : 1.0;
            p[(axis + 2) % 3] = sign * (k < 2 ? -1.0 : 1.0);
            corner[k] = place(b, stn_vec3_make(p[0] * h.x, p[1] * h.y, p[2] * h.z), stn_vec3_make(n[0], n[1], n[2]));
        }
        triangle(b, corner[0], corner[1], corner[2]);
        triangle(b, corner[0], corner[2], corner[3]);
    }
}

/// The normal at a corner is the mean of the vertex, but where the body has an edge at rest, which that would round,
/// the triangle's own. Folds of cloth, which is flat at rest, are round.
static void draw_surface(const brush *b, const solid *s) {
    for (int32_t t = 0; t < s->surface->triangle_count; t++) {
        vertex corner[3];
        const int32_t *v = s->surface->triangle + 3 * (size_t)t;
        const stn_vec3 at_rest = triangle_area(s->surface->rest, v);
        for (int32_t k = 0; k < 3; k++) {
            const stn_vec3 mean = s->normal[v[k]], mean_at_rest = s->rest_normal[v[k]];
            const bool edge = stn_vec3_dot(at_rest, mean_at_rest) < COS_CREASE * stn_vec3_norm(at_rest);
            const stn_vec3 normal = edge ? stn_vec3_normalize_or(triangle_area(s->place, v), mean) : mean;
            corner[k] = place(b, s->place[v[k]], normal);
            corner[k].value = s->node_value != NULL ? (double)s->node_value[s->surface->vertex[v[k]]] : (double)NAN;
        }
        triangle(b, corner[0], corner[1], corner[2]);
    }
}

void solid_draw(const solid *s, const raster *r, const view *v, int32_t item_number, double boost) {
    stn_pose world_to_view = {v->axes, stn_vec3_neg(stn_mat3_apply(&v->axes, v->origin))};
    bool closed = s->surface != NULL ? s->surface->solid : s->shape.mesh == NULL || s->shape.mesh->solid.mass > 0.0;
    brush b = {.raster = r, .view = v, .to_world = s->pose.rotation, .paint = {item_number, closed, boost}};
    b.value = s->value;
    b.to_view = stn_pose_mul(&world_to_view, &s->pose);
    switch (s->shape.type) {
    case STN_SHAPE_SPHERE:
    case STN_SHAPE_CAPSULE:
    case STN_SHAPE_CYLINDER:
    case STN_SHAPE_ELLIPSOID:
        draw_round(&b, &s->shape);
        break;
    case STN_SHAPE_SURFACE:
        draw_surface(&b, s);
        break;
    case STN_SHAPE_BOX:
        draw_box(&b, s->shape.half_extents);
        break;
    case STN_SHAPE_MESH:
    case STN_SHAPE_CONVEX:
    case STN_SHAPE_HEIGHT_FIELD:
        if (s->shape.mesh != NULL && s->normals != NULL) {
            const stn_mesh *mesh = s->shape.mesh;
            const uint32_t *normals = s->normals;
            for (size_t t = 0; t < (size_t)mesh->triangle_count; t++) {
                vertex corner[3];
                for (size_t k = 0; k < 3; k++) {
                    const double *p = mesh->vertices + 3 * (size_t)mesh->triangles[3 * t + k];
                    corner[k] = place(&b, stn_vec3_make(p[0], p[1], p[2]), normal_unpack(normals[3 * t + k]));
                }
                triangle(&b, corner[0], corner[1], corner[2]);
            }
        }
        break;
    default:
        break;
    }
}

void triangle_draw(const stn_vec3 corner[3], const raster *r, const view *v, int32_t item_number, double boost) {
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(corner[1], corner[0]), stn_vec3_sub(corner[2], corner[0]));
    double length = stn_vec3_norm(n);
    n = length > 0.0 ? stn_vec3_scale(1.0 / length, n) : stn_vec3_make(0.0, 0.0, 1.0);
    brush b = {.raster = r, .view = v, .to_world = stn_mat3_identity(), .paint = {item_number, false, boost}};
    b.to_view = (stn_pose){v->axes, stn_vec3_neg(stn_mat3_apply(&v->axes, v->origin))};
    triangle(&b, place(&b, corner[0], n), place(&b, corner[1], n), place(&b, corner[2], n));
}
