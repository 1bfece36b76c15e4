// SPDX-License-Identifier: Apache-2.0
// The surface of any shape.
#include "field_build.h"

// -------------------------------------------------------------------------------------------------------- sphere
// The sphere: an icosahedron divided evenly, its vertices moved outwards.
//
// A triangle whose corners lie on the sphere lies below it, on average by h^2 / (8 R), and a shallow contact of depth d
// loses h^2 / (4 R d) of its force. So every vertex is moved outwards by what the cones over its triangles lack of the
// volume under the sphere; what is left changes sign from middle to corner, and the loss is of the order h^4.

/// Solid angle of a triangle seen from the origin [van-oosterom-1983].
static double solid_angle(stn_vec3 a, stn_vec3 b, stn_vec3 c) {
    double la = stn_vec3_norm(a), lb = stn_vec3_norm(b), lc = stn_vec3_norm(c);
    double det = stn_vec3_dot(a, stn_vec3_cross(b, c));
    double below = la * lb * lc + stn_vec3_dot(a, b) * lc + stn_vec3_dot(b, c) * la + stn_vec3_dot(c, a) * lb;
    return 2.0 * atan2(det, below);
}

/// Puts vertices of the equator back on their circle and multiplies the others.
static void scale(surface_build *s, double factor, double equator) {
    for (int32_t i = 0; i < s->vertex_count; i++) {
        stn_vec3 p = stn_vec3_at(s->vertices, i);
        bool held = equator > 0.0 && fabs(p.z) < surface_equator;
        surface_put(s->vertices, i, stn_vec3_scale(held ? equator / stn_vec3_norm(p) : factor, p));
    }
}

/// Moves the vertices of a divided unit sphere outwards until the cones over the triangles hold what the ball does;
/// those of the equator to the radius `equator` instead (0: as the others).
static void surface_swell(surface_build *s, double equator) {
    double *factors = stn_allocate(s->context, (size_t)s->vertex_count, 2 * sizeof(double));
    if (factors == NULL || s->failed) {
        stn_release(s->context, factors);
        s->failed = true;
        return;
    }
    // each vertex by the mean, over its triangles, of the factor that their cones lack; neighbours make up for each
    // other, and for what is held
    for (int32_t pass = 0; pass < 6; pass++) {
        for (int32_t i = 0; i < 2 * s->vertex_count; i++) {
            factors[i] = 0.0;
        }
        for (int32_t t = 0; t < s->triangle_count; t++) {
            const int32_t *v = s->triangles + 3 * (size_t)t;
            stn_vec3 a = stn_vec3_at(s->vertices, v[0]), b = stn_vec3_at(s->vertices, v[1]);
            stn_vec3 c = stn_vec3_at(s->vertices, v[2]);
            double angle = solid_angle(a, b, c);
            double factor = cbrt(2.0 * angle / stn_vec3_dot(a, stn_vec3_cross(b, c)));
            for (int32_t k = 0; k < 3; k++) {
                factors[2 * v[k]] += angle * factor;
                factors[2 * v[k] + 1] += angle;
            }
        }
        for (int32_t i = 0; i < s->vertex_count; i++) {
            double factor = factors[2 * i] / factors[2 * i + 1];
            surface_put(s->vertices, i, stn_vec3_scale(factor, stn_vec3_at(s->vertices, i)));
        }
        scale(s, 1.0, equator);
    }
    stn_release(s->context, factors);
    for (int32_t pass = 0; pass < 8; pass++) { // one is enough when nothing is held
        double volume = 0.0;
        for (int32_t t = 0; t < s->triangle_count; t++) {
            const int32_t *v = s->triangles + 3 * (size_t)t;
            stn_vec3 bc = stn_vec3_cross(stn_vec3_at(s->vertices, v[1]), stn_vec3_at(s->vertices, v[2]));
            volume += stn_vec3_dot(stn_vec3_at(s->vertices, v[0]), bc) / 6.0;
        }
        scale(s, cbrt(4.0 / 3.0 * STN_PI / volume), equator);
    }
}

static surface_build surface_of_sphere(stn_context *context, double radius, int32_t steps) {
    // corners (0, +-1, +-golden) and their cyclic exchanges, so that the planes between the axes are mirrors
    surface_build icosahedron = surface_build_empty(context);
    const double golden = 0.5 * (1.0 + sqrt(5.0)), norm = 1.0 / sqrt(1.0 + golden * golden);
    for (int32_t i = 0; i < 12; i++) {
        double p[3] = {0};
        p[(i / 4 + 1) % 3] = (i & 1) != 0 ? norm : -norm;
        p[(i / 4 + 2) % 3] = (i & 2) != 0 ? golden * norm : -golden * norm;
        surface_build_vertex(&icosahedron, stn_vec3_make(p[0], p[1], p[2]), 0.0);
    }
    const double edge = 2.1 * norm;
    for (int32_t i = 0; i < 12 * 12 * 12 && !icosahedron.failed; i++) {
        const int32_t v[3] = {i / 144, i / 12 % 12, i % 12};
        stn_vec3 a = stn_vec3_at(icosahedron.vertices, v[0]), b = stn_vec3_at(icosahedron.vertices, v[1]);
        stn_vec3 c = stn_vec3_at(icosahedron.vertices, v[2]);
        if (v[0] < v[1] && v[1] < v[2] && stn_vec3_norm(stn_vec3_sub(a, b)) < edge &&
            stn_vec3_norm(stn_vec3_sub(b, c)) < edge && stn_vec3_norm(stn_vec3_sub(c, a)) < edge) {
            bool outward = stn_vec3_dot(a, stn_vec3_cross(b, c)) > 0.0;
            surface_build_triangle(&icosahedron, v[0], v[outward ? 1 : 2], v[outward ? 2 : 1], 0);
        }
    }
    surface_build s = surface_divide(&icosahedron, steps, surface_place_round);
    surface_build_clear(&icosahedron);
    surface_swell(&s, 0.0);
    for (int32_t i = 0; i < 3 * s.vertex_count; i++) {
        s.vertices[i] *= radius;
    }
    return s;
}

// ----------------------------------------------------------------------------------------------------------- box
// The box: quarters of every face in two triangles, so that no diagonal is preferred, then divided evenly.

static void add_facing(surface_build *s, bool above, int32_t a, int32_t b, int32_t c, int32_t label) {
    surface_build_triangle(s, a, above ? b : c, above ? c : b, label);
}

/// Labels: the corner of the core on the side of every axis along which the core reaches (`bit`).
static surface_build surface_of_box(stn_context *context, stn_vec3 half, const surface_plan *plan,
                                    const int32_t bit[3]) {
    static const int32_t ring[8][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    surface_build coarse = surface_build_empty(context);
    int32_t id[27]; // of the vertex at the place (i, j, k) in -1..1
    for (int32_t i = 0; i < 27; i++) {
        if (i != 13) {
            stn_vec3 p = {(i % 3 - 1) * half.x, (i / 3 % 3 - 1) * half.y, (i / 9 - 1) * half.z};
            id[i] = surface_build_vertex(&coarse, p, 0.0);
        }
    }
    for (int32_t face = 0; face < 6 && !coarse.failed; face++) {
        int32_t axis = face / 2, sign = face % 2 == 0 ? -1 : 1, places[9];
        for (int32_t i = 0; i < 9; i++) { // around, then the middle
            int32_t at[3] = {0};
            at[axis] = sign;
            if (i < 8) {
                at[(axis + 1) % 3] = ring[i][0];
                at[(axis + 2) % 3] = ring[i][1];
            }
            places[i] = id[13 + at[0] + 3 * at[1] + 9 * at[2]];
        }
        for (int32_t i = 0; i < 8; i += 2) { // a quarter, from the middle around by its corner
            int32_t middle = places[8], corner = places[i + 1], next = places[(i + 2) % 8];
            stn_vec3 p = stn_vec3_scale(
                0.5, stn_vec3_add(stn_vec3_at(coarse.vertices, middle), stn_vec3_at(coarse.vertices, corner)));
            int32_t label = (p.x > 0.0 ? bit[0] : 0) + (p.y > 0.0 ? bit[1] : 0) + (p.z > 0.0 ? bit[2] : 0);
            add_facing(&coarse, sign > 0, middle, places[i], corner, label);
            add_facing(&coarse, sign > 0, middle, corner, next, label);
        }
    }
    surface_build s = surface_divide(&coarse, plan->steps, surface_place_flat);
    surface_build_clear(&coarse);
    return s;
}

// ------------------------------------------------------------------------------------------------------ cylinder
// The cylinder: a prism whose polygon has the area of the circle, caps in rings about their centres, the side in bands;
// diagonals lean alternately, so that the planes through corners and z = 0 are mirrors.

double surface_prism_factor(int32_t around) {
    double angle = 2.0 * STN_PI / around;
    return sqrt(angle / sin(angle));
}

/// A multiple of 4 of them, at the same places in every quarter to the last bit.
static int32_t surface_ring(surface_build *s, int32_t around, double radius, double z) {
    int32_t first = s->vertex_count, quarter = around / 4;
    for (int32_t i = 0; i < around; i++) {
        double angle = 0.5 * STN_PI * (i % quarter) / quarter, x = radius * cos(angle), y = radius * sin(angle);
        int32_t turns = i / quarter;
        stn_vec3 p = turns == 0   ? stn_vec3_make(x, y, z)
                     : turns == 1 ? stn_vec3_make(-y, x, z)
                     : turns == 2 ? stn_vec3_make(-x, -y, z)
                                  : stn_vec3_make(y, -x, z);
        surface_build_vertex(s, p, 0.0);
    }
    return first;
}

/// Quadrangles between two rings.
typedef struct band {
    int32_t around, lower, upper; // vertices of a ring, the first of each
    bool lean, flip;              // how the first diagonal leans, they do alternately; the outside is the other one
    int32_t label, next;          // of the first sector, and what each one adds
} band;

static void surface_band(surface_build *s, band w) {
    for (int32_t i = 0; i < w.around; i++) {
        int32_t next = (i + 1) % w.around, label = w.label + w.next * i;
        // a b below or inside, in order of the angle, c d above or outside
        int32_t a = w.lower + (w.flip ? next : i), b = w.lower + (w.flip ? i : next);
        int32_t c = w.upper + (w.flip ? next : i), d = w.upper + (w.flip ? i : next);
        bool lean = (i % 2 == 0) == w.lean, along_ad = lean != w.flip;
        surface_build_triangle(s, a, b, along_ad ? d : c, label);
        surface_build_triangle(s, along_ad ? a : b, d, c, label);
    }
}

/// From the rim `outer` inwards to the centre, with half the sectors where they become narrow.
static void add_cap(surface_build *s, const surface_plan *p, int32_t outer, double radius, double z, int32_t label) {
    bool above = z > 0.0;
    int32_t around = p->around;
    for (int32_t ring = p->rings - 1; ring > 0; ring--) {
        bool halve = around % 8 == 0 && around > 8 && 2.0 * STN_PI * ring < 0.6 * around;
        int32_t inner = surface_ring(s, halve ? around / 2 : around, radius * ring / p->rings, z);
        for (int32_t i = 0; halve && i < around; i += 2) {
            int32_t a = inner + i / 2, b = inner + (i / 2 + 1) % (around / 2), next = outer + (i + 2) % around;
            add_facing(s, above, a, outer + i, outer + i + 1, label);
            add_facing(s, above, a, outer + i + 1, b, label);
            add_facing(s, above, b, outer + i + 1, next, label);
        }
        if (!halve) {
            surface_band(s, (band){around, inner, outer, ring % 2 == 0, above, label, 0});
        }
        around = halve ? around / 2 : around;
        outer = inner;
    }
    int32_t centre = surface_build_vertex(s, stn_vec3_make(0.0, 0.0, z), 0.0);
    for (int32_t i = 0; i < around; i++) {
        add_facing(s, above, centre, outer + i, outer + (i + 1) % around, label);
    }
}

static surface_build surface_of_cylinder(stn_context *context, const stn_shape *shape, const surface_plan *p,
                                         cylinder_regions regions) {
    surface_build s = surface_build_empty(context);
    double half_length = shape->half_length, radius = shape->radius * surface_prism_factor(p->around);
    int32_t bottom = surface_ring(&s, p->around, radius, -half_length), lower = bottom;
    for (int32_t i = 0; i < p->bands; i++) {
        int32_t upper = surface_ring(&s, p->around, radius, half_length * (2.0 * (i + 1) - p->bands) / p->bands);
        bool second = regions == CYLINDER_HALVES && 2 * i >= p->bands;
        surface_band(&s, (band){p->around, lower, upper, i % 2 == 0, false, second, regions == CYLINDER_SECTORS});
        lower = upper;
    }
    int32_t middle = regions == CYLINDER_SECTORS ? p->around : 0; // caps lie over the polygon's centre
    add_cap(&s, p, bottom, radius, -half_length, middle);
    add_cap(&s, p, lower, radius, half_length, regions == CYLINDER_HALVES ? 1 : middle);
    return s;
}

// ------------------------------------------------------------------------------------------------------- capsule
// The capsule: halves of an octahedron divided evenly and moved outwards as the sphere, and a prism between them.

static surface_build surface_of_capsule(stn_context *context, double radius, double half_length,
                                        const surface_plan *plan) {
    int32_t bands = plan->bands, around = 4 * plan->steps;
    // both halves of the octahedron, divided; the equator in no order
    surface_build octahedron = surface_build_empty(context), s = surface_build_empty(context);
    static const double corners[6][3] = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (int32_t i = 0; i < 6; i++) {
        surface_build_vertex(&octahedron, stn_vec3_make(corners[i][0], corners[i][1], corners[i][2]), 0.0);
    }
    for (int32_t i = 0; i < 4; i++) {
        surface_build_triangle(&octahedron, i, (i + 1) % 4, 4, 1);
        surface_build_triangle(&octahedron, (i + 1) % 4, i, 5, 0);
    }
    surface_build sphere = surface_divide(&octahedron, plan->steps, surface_place_round);
    surface_build_clear(&octahedron);
    surface_swell(&sphere, surface_prism_factor(around));
    int32_t *to = stn_allocate(context, (size_t)sphere.vertex_count + 1, sizeof *to);
    double circumradius = radius * surface_prism_factor(around);
    int32_t lowest = surface_ring(&s, around, circumradius, -half_length), lower = lowest;
    for (int32_t i = 0; i < bands; i++) {
        int32_t upper = surface_ring(&s, around, circumradius, half_length * (2.0 * (i + 1) - bands) / bands);
        surface_band(&s, (band){around, lower, upper, i % 2 == 0, false, 2 * i >= bands, 0});
        lower = upper;
    }
    bool ready = to != NULL && !sphere.failed;
    s.failed = s.failed || !ready;
    for (int32_t end = 0; end < 2 && ready; end++) { // its half of the sphere, whose equator is a ring already
        double sign = end == 1 ? 1.0 : -1.0;
        for (int32_t i = 0; i < sphere.vertex_count; i++) {
            stn_vec3 p = stn_vec3_at(sphere.vertices, i);
            if (fabs(p.z) < surface_equator) { // the place around the ring follows from the angle
                double turn = atan2(p.y, p.x) / (2.0 * STN_PI) * around;
                to[i] = (end == 1 ? lower : lowest) + ((int32_t)floor(turn + 0.5) + around) % around;
            } else if (p.z * sign > 0.0) {
                stn_vec3 at = {radius * p.x, radius * p.y, radius * p.z + sign * half_length};
                to[i] = surface_build_vertex(&s, at, 0.0);
            }
        }
        for (int32_t t = 0; t < sphere.triangle_count; t++) {
            const int32_t *v = sphere.triangles + 3 * (size_t)t;
            if (sphere.labels[t] == end) {
                surface_build_triangle(&s, to[v[0]], to[v[1]], to[v[2]], end);
            }
        }
    }
    stn_release(context, to);
    surface_build_clear(&sphere);
    return s;
}

// ---------------------------------------------------------------------------------------------------------- hull
// The convex hull of points.

/// The faces of a hull: triangles as they are, larger ones as fans about their centroid, so that none has a preferred
/// diagonal.
static surface_build surface_of_hull(stn_context *context, const stn_mesh *mesh) {
    surface_build s = surface_build_empty(context);
    const stn_polytope *p = mesh->polytope;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        surface_build_vertex(&s, stn_vec3_at(mesh->vertices, i), 0.0);
    }
    for (int32_t f = 0; f < p->face_count; f++) {
        const int32_t *corners = p->face_vertices + p->face_start[f];
        int32_t count = p->face_start[f + 1] - p->face_start[f];
        if (count == 3) {
            surface_build_triangle(&s, corners[0], corners[1], corners[2], 0);
            continue;
        }
        stn_vec3 first = stn_vec3_at(mesh->vertices, corners[0]), moment = stn_vec3_zero();
        stn_vec3 normal = {p->planes[4 * f], p->planes[4 * f + 1], p->planes[4 * f + 2]};
        double area = 0.0;
        for (int32_t k = 1; k + 1 < count; k++) {
            stn_vec3 a = stn_vec3_sub(stn_vec3_at(mesh->vertices, corners[k]), first);
            stn_vec3 b = stn_vec3_sub(stn_vec3_at(mesh->vertices, corners[k + 1]), first);
            double part = stn_vec3_dot(normal, stn_vec3_cross(a, b));
            moment = stn_vec3_mul_add(moment, part / 3.0, stn_vec3_add(a, b));
            area += part;
        }
        int32_t centre = surface_build_vertex(&s, stn_vec3_mul_add(first, 1.0 / area, moment), 0.0);
        for (int32_t k = 0; k < count; k++) {
            surface_build_triangle(&s, centre, corners[k], corners[(k + 1) % count], 0);
        }
    }
    return s;
}

// ----------------------------------------------------------------------------------------------------- any shape

stn_shape surface_simplest(const stn_shape *shape) {
    bool round = shape->type == STN_SHAPE_CAPSULE && shape->half_length <= 1e-8 * shape->radius;
    return round ? stn_shape_sphere(shape->radius) : *shape;
}

surface_build surface_of_shape(stn_context *context, const stn_shape *shape, const surface_plan *plan,
                               const field_core *core) {
    surface_build s;
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        return surface_of_sphere(context, shape->radius, plan->steps);
    case STN_SHAPE_ELLIPSOID:
        s = surface_of_sphere(context, 1.0, plan->steps);
        for (int32_t i = 0; i < s.vertex_count; i++) {
            stn_vec3 p = stn_vec3_at(s.vertices, i), half = shape->half_extents;
            surface_put(s.vertices, i, stn_vec3_make(half.x * p.x, half.y * p.y, half.z * p.z));
        }
        return s;
    case STN_SHAPE_BOX:
        return surface_of_box(context, shape->half_extents, plan, core->bit);
    case STN_SHAPE_CYLINDER:
        return surface_of_cylinder(context, shape, plan, core->regions);
    case STN_SHAPE_CAPSULE:
        return surface_of_capsule(context, shape->radius, shape->half_length, plan);
    case STN_SHAPE_CONVEX:
        s = surface_of_hull(context, shape->mesh);
        surface_refine(&s, plan->edge);
        return s;
    default: // its own triangles, as they are
        s = surface_build_empty(context);
        for (int32_t i = 0; i < shape->mesh->vertex_count; i++) {
            surface_build_vertex(&s, stn_vec3_at(shape->mesh->vertices, i), 0.0);
        }
        for (int32_t t = 0; t < shape->mesh->triangle_count; t++) {
            const int32_t *v = shape->mesh->triangles + 3 * (size_t)t;
            surface_build_triangle(&s, v[0], v[1], v[2], 0);
        }
        return s;
    }
}

/// Every vertex moves away from the core by the factor 1 + s, where e = -s: a face is where it was on the rays to its
/// corners. With s = margin / (distance from the core) of the nearest face at the vertex all faces move far enough.
void surface_inflate(surface_build *s, const field_core *core, double margin) {
    for (int32_t t = 0; t < s->triangle_count; t++) {
        // distance of the triangle's plane from the corner of the core that it belongs to
        const int32_t *v = s->triangles + 3 * (size_t)t;
        stn_vec3 a = stn_vec3_at(s->vertices, v[0]), m = stn_vec3_at(core->vertices, s->labels[t]);
        stn_vec3 n = stn_vec3_cross(stn_vec3_sub(stn_vec3_at(s->vertices, v[1]), a),
                                    stn_vec3_sub(stn_vec3_at(s->vertices, v[2]), a));
        double by = margin / (stn_vec3_dot(stn_vec3_sub(a, m), n) / stn_vec3_norm(n));
        for (int32_t k = 0; k < 3; k++) {
            s->extents[v[k]] = fmin(s->extents[v[k]], -by);
        }
    }
    stn_vec3 start = stn_vec3_at(core->vertices, 0), along = stn_vec3_zero(); // a point or a segment
    if (core->count > 1) {
        along = stn_vec3_sub(stn_vec3_at(core->vertices, 1), start);
    }
    for (int32_t i = 0; i < s->vertex_count; i++) {
        stn_vec3 p = stn_vec3_at(s->vertices, i), nearest = start;
        if (core->count > 1) {
            double share = stn_vec3_dot(stn_vec3_sub(p, start), along) / stn_vec3_dot(along, along);
            nearest = stn_vec3_mul_add(start, fmin(1.0, fmax(0.0, share)), along);
        }
        surface_put(s->vertices, i, stn_vec3_mul_add(p, -s->extents[i], stn_vec3_sub(p, nearest)));
    }
}
