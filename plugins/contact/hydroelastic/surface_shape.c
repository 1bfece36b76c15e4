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

/// Each vertex by the mean, over its triangles, of the factor that their cones lack.
static void swell_once(surface_build *s, double *factors) {
    for (int32_t i = 0; i < 2 * s->vertex_count; i++) {
        factors[i] = 0.0;
    }
    for (int32_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles + 3 * (size_t)t;
        stn_vec3 a = surface_point(s->vertices, v[0]), b = surface_point(s->vertices, v[1]);
        stn_vec3 c = surface_point(s->vertices, v[2]);
        double angle = solid_angle(a, b, c);
        double factor = cbrt(2.0 * angle / stn_vec3_dot(a, stn_vec3_cross(b, c)));
        for (int32_t k = 0; k < 3; k++) {
            factors[2 * v[k]] += angle * factor;
            factors[2 * v[k] + 1] += angle;
        }
    }
    for (int32_t i = 0; i < s->vertex_count; i++) {
        double factor = factors[2 * i] / factors[2 * i + 1];
        surface_put(s->vertices, i, stn_vec3_scale(factor, surface_point(s->vertices, i)));
    }
}

static double volume_of(const surface_build *s) {
    double volume = 0.0;
    for (int32_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles + 3 * (size_t)t;
        stn_vec3 bc = stn_vec3_cross(surface_point(s->vertices, v[1]), surface_point(s->vertices, v[2]));
        volume += stn_vec3_dot(surface_point(s->vertices, v[0]), bc) / 6.0;
    }
    return volume;
}

/// Puts vertices of the equator back on their circle and multiplies the others.
static void scale(surface_build *s, double factor, double equator) {
    for (int32_t i = 0; i < s->vertex_count; i++) {
        stn_vec3 p = surface_point(s->vertices, i);
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
    for (int32_t pass = 0; pass < 6; pass++) { // neighbours make up for each other, and for what is held
        swell_once(s, factors);
        scale(s, 1.0, equator);
    }
    stn_release(s->context, factors);
    for (int32_t pass = 0; pass < 8; pass++) { // one is enough when nothing is held
        scale(s, cbrt(4.0 / 3.0 * STN_PI / volume_of(s)), equator);
    }
}

/// Corners (0, +-1, +-golden) and their cyclic exchanges, so that the planes between the axes are mirrors.
static surface_build icosahedron(stn_context *context) {
    surface_build s = surface_build_empty(context);
    const double golden = 0.5 * (1.0 + sqrt(5.0)), norm = 1.0 / sqrt(1.0 + golden * golden);
    for (int32_t i = 0; i < 12; i++) {
        double p[3] = {0};
        p[(i / 4 + 1) % 3] = (i & 1) != 0 ? norm : -norm;
        p[(i / 4 + 2) % 3] = (i & 2) != 0 ? golden * norm : -golden * norm;
        surface_build_vertex(&s, stn_vec3_make(p[0], p[1], p[2]), 0.0);
    }
    const double edge = 2.1 * norm;
    for (int32_t i = 0; i < 12 && !s.failed; i++) {
        for (int32_t j = i + 1; j < 12; j++) {
            for (int32_t k = j + 1; k < 12; k++) {
                stn_vec3 a = surface_point(s.vertices, i), b = surface_point(s.vertices, j);
                stn_vec3 c = surface_point(s.vertices, k);
                if (stn_vec3_norm(stn_vec3_sub(a, b)) < edge && stn_vec3_norm(stn_vec3_sub(b, c)) < edge &&
                    stn_vec3_norm(stn_vec3_sub(c, a)) < edge) {
                    bool outward = stn_vec3_dot(a, stn_vec3_cross(b, c)) > 0.0;
                    surface_build_triangle(&s, i, outward ? j : k, outward ? k : j, 0);
                }
            }
        }
    }
    return s;
}

static surface_build surface_of_sphere(stn_context *context, double radius, int32_t steps) {
    surface_build coarse = icosahedron(context);
    surface_build s = surface_divide(&coarse, steps, surface_place_round);
    surface_build_clear(&coarse);
    surface_swell(&s, 0.0);
    for (int32_t i = 0; i < 3 * s.vertex_count; i++) {
        s.vertices[i] *= radius;
    }
    return s;
}

// ----------------------------------------------------------------------------------------------------------- box
// The box: quarters of every face in two triangles, so that no diagonal is preferred, then divided evenly.

/// Region of a point of the surface: the corner of the core on its side of every axis along which the core reaches.
static int32_t region(stn_vec3 p, const int32_t bit[3]) {
    return (p.x > 0.0 ? bit[0] : 0) + (p.y > 0.0 ? bit[1] : 0) + (p.z > 0.0 ? bit[2] : 0);
}

static void add_outward(surface_build *s, int32_t sign, int32_t a, int32_t b, int32_t c, int32_t label) {
    surface_build_triangle(s, a, sign > 0 ? b : c, sign > 0 ? c : b, label);
}

/// A quarter of a face from its centre p[0] around by p[1] and the corner p[2] to p[3].
static void add_quarter(surface_build *s, const int32_t p[4], int32_t sign, const int32_t bit[3]) {
    stn_vec3 a = surface_point(s->vertices, p[0]), c = surface_point(s->vertices, p[2]);
    stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(a, c));
    int32_t label = region(middle, bit);
    add_outward(s, sign, p[0], p[1], p[2], label);
    add_outward(s, sign, p[0], p[2], p[3], label);
}

/// The face of axis `axis` on the side `sign`; vertices by their place (i, j, k) in -1..1.
static void add_face(surface_build *s, const int32_t id[27], int32_t axis, int32_t sign, const int32_t bit[3]) {
    static const int32_t ring[8][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    int32_t places[9];
    for (int32_t i = 0; i < 9; i++) {
        int32_t at[3] = {0};
        at[axis] = sign;
        if (i < 8) {
            at[(axis + 1) % 3] = ring[i][0];
            at[(axis + 2) % 3] = ring[i][1];
        }
        places[i] = id[13 + at[0] + 3 * at[1] + 9 * at[2]];
    }
    for (int32_t i = 0; i < 8; i += 2) {
        const int32_t quarter[4] = {places[8], places[i], places[i + 1], places[(i + 2) % 8]};
        add_quarter(s, quarter, sign, bit);
    }
}

static surface_build surface_of_box(stn_context *context, stn_vec3 half, const surface_plan *plan,
                                    const int32_t bit[3]) {
    surface_build coarse = surface_build_empty(context);
    int32_t id[27];
    for (int32_t i = 0; i < 27; i++) {
        if (i != 13) {
            stn_vec3 p = {(i % 3 - 1) * half.x, (i / 3 % 3 - 1) * half.y, (i / 9 - 1) * half.z};
            id[i] = surface_build_vertex(&coarse, p, 0.0);
        }
    }
    for (int32_t i = 0; i < 6 && !coarse.failed; i++) {
        add_face(&coarse, id, i / 2, i % 2 == 0 ? -1 : 1, bit);
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

/// Two triangles of the quadrangle a b (below or inside, in order of the angle) and c d (above or outside).
static void add_quad(surface_build *s, const int32_t q[4], bool lean, bool flip, int32_t label) {
    int32_t a = flip ? q[1] : q[0], b = flip ? q[0] : q[1], c = flip ? q[3] : q[2], d = flip ? q[2] : q[3];
    if (lean != flip) { // the diagonal a d
        surface_build_triangle(s, a, b, d, label);
        surface_build_triangle(s, a, d, c, label);
    } else {
        surface_build_triangle(s, a, b, c, label);
        surface_build_triangle(s, b, d, c, label);
    }
}

/// Triangles between two rings; diagonals lean alternately, `lean` says how the first does; `flip` turns the outside.
static void surface_band(surface_build *s, int32_t around, int32_t lower, int32_t upper, bool lean, bool flip,
                         sector_labels labels) {
    for (int32_t i = 0; i < around; i++) {
        int32_t next = (i + 1) % around, q[4] = {lower + i, lower + next, upper + i, upper + next};
        add_quad(s, q, (i % 2 == 0) == lean, flip, labels.first + labels.step * i);
    }
}

static void add_facing(surface_build *s, bool above, int32_t a, int32_t b, int32_t c, int32_t label) {
    surface_build_triangle(s, a, above ? b : c, above ? c : b, label);
}

/// A ring of a cap between `around` vertices outside and half as many inside.
static void add_halving(surface_build *s, int32_t around, int32_t inner, int32_t outer, bool above, int32_t label) {
    for (int32_t i = 0; i < around; i += 2) {
        int32_t a = inner + i / 2, b = inner + (i / 2 + 1) % (around / 2), next = outer + (i + 2) % around;
        add_facing(s, above, a, outer + i, outer + i + 1, label);
        add_facing(s, above, a, outer + i + 1, b, label);
        add_facing(s, above, b, outer + i + 1, next, label);
    }
}

/// From the rim `outer` inwards to the centre, with half the sectors where they become narrow.
static void add_cap(surface_build *s, const surface_plan *p, int32_t outer, double radius, double z, int32_t label) {
    bool above = z > 0.0;
    int32_t around = p->around;
    for (int32_t ring = p->rings - 1; ring > 0; ring--) {
        bool halve = around % 8 == 0 && around > 8 && 2.0 * STN_PI * ring < 0.6 * around;
        int32_t inner = surface_ring(s, halve ? around / 2 : around, radius * ring / p->rings, z);
        if (halve) {
            add_halving(s, around, inner, outer, above, label);
        } else {
            surface_band(s, around, inner, outer, ring % 2 == 0, above, (sector_labels){label, 0});
        }
        around = halve ? around / 2 : around;
        outer = inner;
    }
    int32_t centre = surface_build_vertex(s, stn_vec3_make(0.0, 0.0, z), 0.0);
    for (int32_t i = 0; i < around; i++) {
        add_facing(s, above, centre, outer + i, outer + (i + 1) % around, label);
    }
}

static surface_build surface_of_cylinder(stn_context *context, double radius, double half_length, const surface_plan *p,
                                         cylinder_regions regions) {
    surface_build s = surface_build_empty(context);
    radius *= surface_prism_factor(p->around);
    int32_t bottom = surface_ring(&s, p->around, radius, -half_length), lower = bottom;
    for (int32_t band = 0; band < p->bands; band++) {
        double z = half_length * (2.0 * (band + 1) - p->bands) / p->bands;
        int32_t upper = surface_ring(&s, p->around, radius, z);
        bool second = regions == CYLINDER_HALVES && 2 * band >= p->bands;
        sector_labels labels = {second ? 1 : 0, regions == CYLINDER_SECTORS ? 1 : 0};
        surface_band(&s, p->around, lower, upper, band % 2 == 0, false, labels);
        lower = upper;
    }
    int32_t middle = regions == CYLINDER_SECTORS ? p->around : 0; // caps lie over the polygon's centre
    add_cap(&s, p, bottom, radius, -half_length, middle);
    add_cap(&s, p, lower, radius, half_length, regions == CYLINDER_HALVES ? 1 : middle);
    return s;
}

// ------------------------------------------------------------------------------------------------------- capsule
// The capsule: halves of an octahedron divided evenly and moved outwards as the sphere, and a prism between them.

/// The octahedron's half above z = 0, divided; the equator in no order.
static surface_build half_sphere(stn_context *context, int32_t steps) {
    surface_build s = surface_build_empty(context);
    static const double corners[6][3] = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (int32_t i = 0; i < 6; i++) {
        surface_build_vertex(&s, stn_vec3_make(corners[i][0], corners[i][1], corners[i][2]), 0.0);
    }
    for (int32_t i = 0; i < 4; i++) {
        surface_build_triangle(&s, i, (i + 1) % 4, 4, 1);
        surface_build_triangle(&s, (i + 1) % 4, i, 5, 0);
    }
    surface_build divided = surface_divide(&s, steps, surface_place_round);
    surface_build_clear(&s);
    surface_swell(&divided, surface_prism_factor(4 * steps));
    return divided;
}

/// Number of a vertex of the equator around the ring, from its angle.
static int32_t place_on_ring(stn_vec3 p, int32_t around) {
    double turn = atan2(p.y, p.x) / (2.0 * STN_PI) * around;
    return ((int32_t)floor(turn + 0.5) + around) % around;
}

/// Copies one half of the sphere to its end of the capsule, where its equator is a ring that is there already.
static void add_end(surface_build *s, const surface_build *sphere, int32_t *to, bool above, int32_t ring,
                    int32_t around, double radius, double half_length) {
    double sign = above ? 1.0 : -1.0;
    for (int32_t i = 0; i < sphere->vertex_count; i++) {
        stn_vec3 p = surface_point(sphere->vertices, i);
        if (fabs(p.z) < surface_equator) {
            to[i] = ring + place_on_ring(p, around);
        } else if (p.z * sign > 0.0) {
            stn_vec3 end = {radius * p.x, radius * p.y, radius * p.z + sign * half_length};
            to[i] = surface_build_vertex(s, end, 0.0);
        }
    }
    for (int32_t t = 0; t < sphere->triangle_count; t++) {
        const int32_t *v = sphere->triangles + 3 * (size_t)t;
        if (sphere->labels[t] == (above ? 1 : 0)) {
            surface_build_triangle(s, to[v[0]], to[v[1]], to[v[2]], sphere->labels[t]);
        }
    }
}

static surface_build surface_of_capsule(stn_context *context, double radius, double half_length,
                                        const surface_plan *plan) {
    int32_t steps = plan->steps, bands = plan->bands;
    surface_build s = surface_build_empty(context), sphere = half_sphere(context, steps);
    int32_t *to = stn_allocate(context, (size_t)sphere.vertex_count + 1, sizeof *to), around = 4 * steps;
    double circumradius = radius * surface_prism_factor(around);
    int32_t lowest = surface_ring(&s, around, circumradius, -half_length), lower = lowest;
    for (int32_t band = 0; band < bands; band++) {
        int32_t upper = surface_ring(&s, around, circumradius, half_length * (2.0 * (band + 1) - bands) / bands);
        surface_band(&s, around, lower, upper, band % 2 == 0, false, (sector_labels){2 * band >= bands ? 1 : 0, 0});
        lower = upper;
    }
    if (to == NULL || sphere.failed) {
        s.failed = true;
    } else {
        add_end(&s, &sphere, to, false, lowest, around, radius, half_length);
        add_end(&s, &sphere, to, true, lower, around, radius, half_length);
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
        surface_build_vertex(&s, surface_point(mesh->vertices, i), 0.0);
    }
    for (int32_t f = 0; f < p->face_count; f++) {
        const int32_t *corners = p->face_vertices + p->face_start[f];
        int32_t count = p->face_start[f + 1] - p->face_start[f];
        if (count == 3) {
            surface_build_triangle(&s, corners[0], corners[1], corners[2], 0);
            continue;
        }
        stn_vec3 first = surface_point(mesh->vertices, corners[0]), moment = stn_vec3_zero();
        stn_vec3 normal = {p->planes[4 * f], p->planes[4 * f + 1], p->planes[4 * f + 2]};
        double area = 0.0;
        for (int32_t k = 1; k + 1 < count; k++) {
            stn_vec3 a = stn_vec3_sub(surface_point(mesh->vertices, corners[k]), first);
            stn_vec3 b = stn_vec3_sub(surface_point(mesh->vertices, corners[k + 1]), first);
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

/// A surface's own triangles.
static surface_build copy_mesh(stn_context *context, const stn_mesh *mesh) {
    surface_build s = surface_build_empty(context);
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        surface_build_vertex(&s, surface_point(mesh->vertices, i), 0.0);
    }
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangles + 3 * (size_t)t;
        surface_build_triangle(&s, v[0], v[1], v[2], 0);
    }
    return s;
}

stn_shape surface_simplest(const stn_shape *shape) {
    bool round = shape->type == STN_SHAPE_CAPSULE && shape->half_length <= 1e-8 * shape->radius;
    return round ? stn_shape_sphere(shape->radius) : *shape;
}

static surface_build ellipsoid(stn_context *context, stn_vec3 half, int32_t steps) {
    surface_build s = surface_of_sphere(context, 1.0, steps);
    for (int32_t i = 0; i < s.vertex_count; i++) {
        stn_vec3 p = surface_point(s.vertices, i);
        surface_put(s.vertices, i, stn_vec3_make(half.x * p.x, half.y * p.y, half.z * p.z));
    }
    return s;
}

surface_build surface_of_shape(stn_context *context, const stn_shape *shape, const surface_plan *plan,
                               const field_core *core) {
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        return surface_of_sphere(context, shape->radius, plan->steps);
    case STN_SHAPE_ELLIPSOID:
        return ellipsoid(context, shape->half_extents, plan->steps);
    case STN_SHAPE_BOX:
        return surface_of_box(context, shape->half_extents, plan, core->bit);
    case STN_SHAPE_CYLINDER:
        return surface_of_cylinder(context, shape->radius, shape->half_length, plan, core->regions);
    case STN_SHAPE_CAPSULE:
        return surface_of_capsule(context, shape->radius, shape->half_length, plan);
    case STN_SHAPE_CONVEX: {
        surface_build s = surface_of_hull(context, shape->mesh);
        surface_refine(&s, plan->edge);
        return s;
    }
    default: // its own triangles, as they are
        return copy_mesh(context, shape->mesh);
    }
}

/// Distance of a triangle's plane from the corner of the core that it belongs to.
static double depth_of(const surface_build *s, const field_core *core, int32_t triangle) {
    const int32_t *v = s->triangles + 3 * (size_t)triangle;
    stn_vec3 a = surface_point(s->vertices, v[0]), m = surface_point(core->vertices, s->labels[triangle]);
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(surface_point(s->vertices, v[1]), a),
                                stn_vec3_sub(surface_point(s->vertices, v[2]), a));
    return stn_vec3_dot(stn_vec3_sub(a, m), n) / stn_vec3_norm(n);
}

/// The point of a core (a point or a segment) that is nearest to p.
static stn_vec3 nearest_of_core(const field_core *core, stn_vec3 p) {
    stn_vec3 a = surface_point(core->vertices, 0);
    if (core->count == 1) {
        return a;
    }
    stn_vec3 along = stn_vec3_sub(surface_point(core->vertices, 1), a);
    double share = stn_vec3_dot(stn_vec3_sub(p, a), along) / stn_vec3_dot(along, along);
    return stn_vec3_mul_add(a, fmin(1.0, fmax(0.0, share)), along);
}

/// Every vertex moves away from the core by the factor 1 + s, where e = -s: a face is where it was on the rays to its
/// corners. With s = margin / (distance from the core) of the nearest face at the vertex all faces move far enough.
void surface_inflate(surface_build *s, const field_core *core, double margin) {
    for (int32_t t = 0; t < s->triangle_count; t++) {
        double by = margin / depth_of(s, core, t);
        for (int32_t k = 0; k < 3; k++) {
            double *extent = s->extents + s->triangles[3 * t + k];
            *extent = fmin(*extent, -by);
        }
    }
    for (int32_t i = 0; i < s->vertex_count; i++) {
        stn_vec3 p = surface_point(s->vertices, i), from = nearest_of_core(core, p);
        surface_put(s->vertices, i, stn_vec3_mul_add(p, -s->extents[i], stn_vec3_sub(p, from)));
    }
}
