// SPDX-License-Identifier: Apache-2.0
// Surfaces of nodes against shapes, meshes, height fields, each other and themselves: the least distance that contacts
// tell is that of all triangles, found by means that know neither trees nor features; ids differ; nothing is lost.
#include "skin_probe.h"

#include <stiction/mesh.h>

#include "point_hulls.h"
#include "stn_random_shape.h"

// ------------------------------------------------------------------------------------------------------------ oracle

/// From outside: the foot is h_i^2 p_i / (t + h_i^2) with t > 0 so that it lies on the surface, by bisection. Inside:
/// minus the smallest ball's share, which is enough to be negative.
static double ellipsoid_distance(stn_vec3 h, stn_vec3 p) {
    const double e[3] = {h.x, h.y, h.z}, q[3] = {p.x, p.y, p.z};
    double low = 0.0, high = stn_vec3_norm(p) * fmax(e[0], fmax(e[1], e[2])), level = -1.0;
    for (int32_t i = 0; i < 3; i++) {
        level += q[i] / e[i] * (q[i] / e[i]);
    }
    if (level <= 0.0) {
        return (sqrt(level + 1.0) - 1.0) * fmin(e[0], fmin(e[1], e[2]));
    }
    for (int32_t k = 0; k < 200; k++) {
        double t = 0.5 * (low + high), sum = 0.0;
        for (int32_t i = 0; i < 3; i++) {
            double x = e[i] * q[i] / (t + e[i] * e[i]);
            sum += x * x;
        }
        *(sum > 1.0 ? &low : &high) = t;
    }
    double squared = 0.0;
    for (int32_t i = 0; i < 3; i++) {
        double x = q[i] - e[i] * e[i] * q[i] / (low + e[i] * e[i]);
        squared += x * x;
    }
    return sqrt(squared);
}

/// Signed distance of a point from a shape at the origin, from its definition.
static double shape_distance(const stn_shape *s, stn_vec3 p) {
    stn_vec3 h = s->half_extents;
    double rho = hypot(p.x, p.y), z = fabs(p.z);
    double x[3] = {fabs(p.x) - h.x, fabs(p.y) - h.y, fabs(p.z) - h.z}, side = rho - s->radius, cap = z - s->half_length;
    switch (s->type) {
    case STN_SHAPE_SPHERE:
        return stn_vec3_norm(p) - s->radius;
    case STN_SHAPE_CAPSULE:
        return hypot(rho, fmax(cap, 0.0)) - s->radius;
    case STN_SHAPE_BOX:
        return sqrt(pow(fmax(x[0], 0.0), 2.0) + pow(fmax(x[1], 0.0), 2.0) + pow(fmax(x[2], 0.0), 2.0)) +
               fmin(fmax(x[0], fmax(x[1], x[2])), 0.0);
    case STN_SHAPE_HALF_SPACE:
        return p.z;
    case STN_SHAPE_ELLIPSOID:
        return ellipsoid_distance(h, p);
    case STN_SHAPE_CONVEX: // the hull of a box
        h = s->mesh->bounds.upper;
        return shape_distance(&(stn_shape){.type = STN_SHAPE_BOX, .half_extents = h}, p);
    default: // a cylinder
        return hypot(fmax(side, 0.0), fmax(cap, 0.0)) + fmin(fmax(side, cap), 0.0);
    }
}

static stn_vec3 between(stn_vec3 a, stn_vec3 b, double t) {
    return stn_vec3_mul_add(a, t, stn_vec3_sub(b, a));
}

/// The least value on a segment of a function that is convex there, by golden sections.
typedef double along(const void *user, double t);
static double least_along(along *f, const void *user) {
    const double golden = 0.6180339887498949;
    double low = 0.0, high = 1.0, x = 1.0 - golden, y = golden, fx = f(user, x), fy = f(user, y);
    for (int32_t i = 0; i < 60; i++) {
        if (fx <= fy) {
            high = y;
            y = x;
            fy = fx;
            x = high - golden * (high - low);
            fx = f(user, x);
        } else {
            low = x;
            x = y;
            fx = fy;
            y = low + golden * (high - low);
            fy = f(user, y);
        }
    }
    return fmin(fmin(fx, fy), fmin(f(user, 0.0), f(user, 1.0)));
}

typedef struct searched {
    const stn_shape *shape;
    const stn_pose *pose;
    stn_vec3 corner[3], from, to;
} searched;

static double on_chord(const void *user, double t) {
    const searched *s = user;
    return shape_distance(s->shape, stn_pose_apply_inverse(s->pose, between(s->from, s->to, t)));
}

static double on_triangle(const void *user, double t) {
    searched s = *(const searched *)user;
    s.from = between(s.corner[0], s.corner[1], t);
    s.to = between(s.corner[0], s.corner[2], t);
    return least_along(on_chord, &s);
}

/// The least signed distance of any point of the surface from a convex shape: it is a convex function of the point.
static double brute_distance(const skin_probe *p, int32_t surface, int32_t shape) {
    const stn_surface *face = &p->model->surfaces[surface];
    const stn_geometry *g = &p->model->geometries[shape];
    double least = INFINITY;
    for (int32_t t = 0; t < face->triangle_count; t++) {
        searched s = {.shape = &g->shape, .pose = &g->pose};
        for (int32_t k = 0; k < 3; k++) {
            s.corner[k] = skin_probe_node(p, face->vertex[face->triangle[3 * t + k]]);
        }
        least = fmin(least, least_along(on_triangle, &s));
    }
    return least;
}

// ------------------------------------------------------------------------------------------------------------ shapes

static void crumple(skin_probe *p, stn_random *r, double amount) {
    for (int32_t i = 0; i < 3 * p->model->node_count; i++) {
        p->q[i] = p->model->q0[i] + random_between(r, -amount, amount);
    }
}

static const stn_shape_type types[] = {STN_SHAPE_SPHERE,     STN_SHAPE_BOX,       STN_SHAPE_CAPSULE, STN_SHAPE_CYLINDER,
                                       STN_SHAPE_HALF_SPACE, STN_SHAPE_ELLIPSOID, STN_SHAPE_CONVEX};
enum { TYPES = STN_COUNT(types) };

static stn_shape random_shape(skin_probe *p, stn_random *r, stn_shape_type type, stn_mesh **mesh) {
    double x = random_between(r, 0.02, 0.3), y = random_between(r, 0.02, 0.3), z = random_between(r, 0.02, 0.3);
    if (type != STN_SHAPE_CONVEX) {
        return shape_of_sizes(type, x, y, z);
    }
    *mesh = hull_box(p->context, stn_vec3_make(x, y, z));
    return stn_shape_mesh(*mesh);
}

/// Apart, the least distance; overlapping, a contact that says so.
static void distances_are_those_of_all_triangles(void **state) {
    (void)state;
    stn_random random = {1}, *r = &random;
    int32_t apart = 0, overlapping = 0;
    for (int32_t round = 0; round < 560; round++) {
        skin_probe p;
        stn_mesh *mesh = NULL;
        skin_probe_begin(&p);
        skin_sheet sheet = skin_sheet_make(1 + random_below(r, 4), random_between(r, 0.2, 1.0));
        stn_surface_spec spec = stn_surface_spec_default();
        spec.triangle_count = sheet.triangle_count;
        spec.triangles = sheet.triangles;
        spec.thickness = round % 3 == 0 ? 0.0 : random_between(r, 0.001, 0.05);
        stn_shape shape = random_shape(&p, r, types[round % TYPES], &mesh);
        stn_pose pose = random_pose(r, 0.7);
        bool first = random_below(r, 2) == 0;
        int32_t body = first ? skin_probe_shape(&p, shape, pose) : 0;
        int32_t skin = skin_probe_add(&p, sheet.position, sheet.nodes, &spec, NULL);
        body = first ? body : skin_probe_shape(&p, shape, pose);
        skin_probe_compile(&p);
        crumple(&p, r, 0.1);
        double brute = brute_distance(&p, 0, body) - spec.thickness;
        skin_probe_collide(&p, skin, body, 5.0);
        skin_probe_check(&p);
        double found = skin_probe_deepest(&p);
        if (brute + spec.thickness > 1e-9) {
            assert_near(found, brute, 1e-7);
            apart++;
            // far away asks for the nearest alone
            skin_probe_collide(&p, skin, body, 1e6);
            assert_near(skin_probe_deepest(&p), brute, 1e-7);
            // within a margin all have it
            skin_probe_collide(&p, skin, body, brute + 1e-3);
            assert_true(p.set.count > 0);
            for (int32_t i = 0; i < p.set.count; i++) {
                assert_true(p.set.contacts[i].phi0 <= brute + 1e-3);
            }
            skin_probe_collide(&p, skin, body, brute - 1e-6);
            assert_int_equal(p.set.count, 0);
        } else {
            assert_true(found <= 1e-9);
            overlapping++;
        }
        skin_sheet_free(&sheet);
        stn_mesh_release(mesh);
        skin_probe_end(&p);
    }
    assert_true(apart > 150 && overlapping > 80);
}

// ---------------------------------------------------------------------------------------------------- other surfaces

/// The least distance of two triangles, each side of one against the other: through all pairs of an end and a triangle
/// and of two sides.
static double point_triangle(stn_vec3 p, const stn_vec3 t[3]) {
    double least = INFINITY;
    stn_vec3 u = stn_vec3_sub(t[1], t[0]), v = stn_vec3_sub(t[2], t[0]), n = stn_vec3_cross(u, v);
    double area2 = stn_vec3_dot(n, n);
    stn_vec3 d = stn_vec3_sub(p, t[0]);
    double y = stn_vec3_dot(stn_vec3_cross(d, v), n), z = stn_vec3_dot(stn_vec3_cross(u, d), n);
    if (area2 > 0.0 && y >= 0.0 && z >= 0.0 && y + z <= area2) {
        return fabs(stn_vec3_dot(d, n)) / sqrt(area2);
    }
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 e = stn_vec3_sub(t[(k + 1) % 3], t[k]), w = stn_vec3_sub(p, t[k]);
        double x = fmin(fmax(stn_vec3_dot(w, e) / stn_vec3_dot(e, e), 0.0), 1.0);
        least = fmin(least, stn_vec3_norm(stn_vec3_mul_add(w, -x, e)));
    }
    return least;
}

typedef struct two_lines {
    stn_vec3 p, d, q, e;
} two_lines;

static double line_distance(const void *user, double t) {
    const two_lines *l = user;
    stn_vec3 w = stn_vec3_sub(stn_vec3_mul_add(l->p, t, l->d), l->q);
    double x = fmin(fmax(stn_vec3_dot(w, l->e) / stn_vec3_dot(l->e, l->e), 0.0), 1.0);
    return stn_vec3_norm(stn_vec3_mul_add(w, -x, l->e));
}

static double volume(stn_vec3 a, stn_vec3 b, stn_vec3 c, stn_vec3 d) {
    return stn_vec3_dot(stn_vec3_sub(b, a), stn_vec3_cross(stn_vec3_sub(c, a), stn_vec3_sub(d, a)));
}

/// Does a segment go through a triangle?
static bool pierces(stn_vec3 p, stn_vec3 q, const stn_vec3 t[3]) {
    double a = volume(p, q, t[0], t[1]), b = volume(p, q, t[1], t[2]), c = volume(p, q, t[2], t[0]);
    bool around = (a > 0.0 && b > 0.0 && c > 0.0) || (a < 0.0 && b < 0.0 && c < 0.0);
    return around && (volume(p, t[0], t[1], t[2]) > 0.0) != (volume(q, t[0], t[1], t[2]) > 0.0);
}

static double triangle_distance(const stn_vec3 s[3], const stn_vec3 t[3]) {
    double least = INFINITY;
    for (int32_t k = 0; k < 3; k++) {
        if (pierces(s[k], s[(k + 1) % 3], t) || pierces(t[k], t[(k + 1) % 3], s)) {
            return 0.0;
        }
    }
    for (int32_t k = 0; k < 3; k++) {
        least = fmin(least, fmin(point_triangle(s[k], t), point_triangle(t[k], s)));
        for (int32_t i = 0; i < 3; i++) {
            two_lines l = {s[k], stn_vec3_sub(s[(k + 1) % 3], s[k]), t[i], stn_vec3_sub(t[(i + 1) % 3], t[i])};
            least = fmin(least, least_along(line_distance, &l));
        }
    }
    return least;
}

static void corners_of(const skin_probe *p, int32_t surface, int32_t triangle, stn_vec3 corner[3]) {
    const stn_surface *face = &p->model->surfaces[surface];
    for (int32_t k = 0; k < 3; k++) {
        corner[k] = skin_probe_node(p, face->vertex[face->triangle[3 * triangle + k]]);
    }
}

static double surface_distance(const skin_probe *p, int32_t a, int32_t b) {
    double least = INFINITY;
    for (int32_t i = 0; i < p->model->surfaces[a].triangle_count; i++) {
        for (int32_t k = 0; k < p->model->surfaces[b].triangle_count; k++) {
            stn_vec3 s[3], t[3];
            corners_of(p, a, i, s);
            corners_of(p, b, k, t);
            least = fmin(least, triangle_distance(s, t));
        }
    }
    return least;
}

static stn_surface_spec cloth_of(const skin_sheet *sheet, double thickness) {
    stn_surface_spec spec = stn_surface_spec_default();
    spec.triangle_count = sheet->triangle_count;
    spec.triangles = sheet->triangles;
    spec.thickness = thickness;
    return spec;
}

/// Also where the meshes lie over each other node for node, so that nothing is inside of an edge or triangle.
static void two_sheets_are_as_far_apart_as_their_triangles(void **state) {
    (void)state;
    stn_random random = {2}, *r = &random;
    int32_t apart = 0;
    for (int32_t round = 0; round < 300; round++) {
        skin_probe p;
        skin_probe_begin(&p);
        skin_sheet one = skin_sheet_make(1 + random_below(r, 4), 0.4),
                   two = skin_sheet_make(1 + random_below(r, 4), 0.4);
        if (round % 5 == 0) {
            skin_sheet_free(&two);
            two = skin_sheet_make(3, 0.4);
            skin_sheet_free(&one);
            one = skin_sheet_make(3, 0.4);
        }
        stn_surface_spec first = cloth_of(&one, random_between(r, 0.0, 0.02)),
                         second = cloth_of(&two, random_between(r, 0.0, 0.02));
        int32_t a = skin_probe_add(&p, one.position, one.nodes, &first, NULL);
        int32_t b = skin_probe_add(&p, two.position, two.nodes, &second, NULL);
        skin_probe_compile(&p);
        stn_pose pose = random_pose(r, 0.3);
        pose.position.z += 0.3;
        double noise = round % 5 == 0 ? 0.0 : 0.06;
        for (int32_t i = 0; i < p.model->node_count; i++) {
            stn_vec3 x = stn_vec3_add(skin_probe_node(&p, i), random_vec3(r, noise));
            if (i >= one.nodes) {
                x = round % 5 == 0 ? stn_vec3_add(x, stn_vec3_make(0.0, 0.0, 0.05)) : stn_pose_apply(&pose, x);
            }
            p.q[3 * i] = x.x;
            p.q[3 * i + 1] = x.y;
            p.q[3 * i + 2] = x.z;
        }
        double brute = surface_distance(&p, 0, 1);
        skin_probe_collide(&p, a, b, 5.0);
        apart += brute > 1e-6;
        if (brute > 1e-6) {
            assert_near(skin_probe_deepest(&p), brute - first.thickness - second.thickness, 1e-8);
            skin_probe_collide(&p, a, b, brute - first.thickness - second.thickness + 1e-3);
            skin_probe_check(&p);
            assert_true(p.set.count > 0);
            skin_probe_collide(&p, a, b, brute - first.thickness - second.thickness - 1e-6);
            assert_int_equal(p.set.count, 0);
        }
        skin_sheet_free(&one);
        skin_sheet_free(&two);
        skin_probe_end(&p);
    }
    assert_true(apart > 150);
}

/// A sheet folded in half: what is near by the fold alone touches nothing, the two halves touch.
static void a_folded_sheet_meets_itself(void **state) {
    (void)state;
    skin_probe p;
    skin_probe_begin(&p);
    enum { N = 10 };
    skin_sheet sheet = skin_sheet_make(N, 1.0);
    stn_surface_spec spec = cloth_of(&sheet, 0.01);
    spec.self_collision = true;
    int32_t skin = skin_probe_add(&p, sheet.position, sheet.nodes, &spec, NULL);
    skin_probe_compile(&p);
    assert_true(stn_model_may_collide(p.model, skin, skin));
    skin_probe_collide(&p, skin, skin, 1e-3);
    assert_int_equal(p.set.count, 0); // flat
    for (int32_t i = 0; i < p.model->node_count;
         i++) { // the right half over the left one, 3 cm above, from a wide bend
        double x = p.model->q0[3 * i];
        p.q[3 * i] = x < 0.05 ? x : 0.1 - x + (x < 0.15 ? 0.03 : 0.013);
        p.q[3 * i + 1] = p.model->q0[3 * i + 1] + (x < 0.05 ? 0.0 : 0.017);
        p.q[3 * i + 2] = x < 0.05 ? 0.0 : 0.03;
    }
    skin_probe_collide(&p, skin, skin, 0.0099);
    assert_int_equal(p.set.count, 0);
    skin_probe_collide(&p, skin, skin, 0.0101);
    skin_probe_check(&p);
    // each vertex of the upper half over a triangle of the lower one, and the other way round
    assert_true(p.set.count >= 80);
    for (int32_t i = 0; i < p.set.count; i++) {
        const stn_contact *c = &p.set.contacts[i];
        assert_true(fabs(c->normal.z) > 0.99);
        assert_true(c->phi0 >= 0.0099);
        for (int32_t k = 0; k < c->a.node_count * c->b.node_count; k++) {
            assert_true(c->a.node[k / c->b.node_count] != c->b.node[k % c->b.node_count]);
        }
    }
    skin_sheet_free(&sheet);
    skin_probe_end(&p);
}

static void keep_warning(void *user, stn_log_level level, const char *text) {
    if (level == STN_LOG_WARNING) {
        snprintf(user, 400, "%s", text);
    }
}

/// Two triangles, the second one standing in the first, over its side, and beside it.
static void a_surface_that_runs_through_itself_is_told_of(void **state) {
    (void)state;
    static const struct {
        double x, low;
        bool through, meets;
    } cases[] = {{0.25, -0.1, true, true},
                 {0.25, -0.1, true, false},
                 {0.25, 0.01, false, true},
                 {0.25, 0.0, false, true},
                 {0.8, -0.1, false, true}};
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        const double x = cases[i].x;
        const double position[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, x, 0.3, cases[i].low, x + 0.01, 0.3, 0.5, x, 0.35, 0.5};
        const int32_t triangles[6] = {0, 1, 2, 3, 4, 5};
        char warning[400] = "";
        skin_probe p;
        skin_probe_begin_with(&p, &(stn_context_options){.log = keep_warning, .log_user = warning});
        stn_surface_spec spec = stn_surface_spec_default();
        spec.name = "crossed";
        spec.triangle_count = 2;
        spec.triangles = triangles;
        spec.self_collision = cases[i].meets;
        skin_probe_add(&p, position, 6, &spec, NULL);
        skin_probe_compile(&p);
        const bool told = strstr(warning, "surface 'crossed' runs through itself at rest: the edge of nodes 3 and 4 "
                                          "pierces the triangle of nodes 0, 1 and 2") != NULL;
        assert_int_equal(told, cases[i].through && cases[i].meets);
        assert_int_equal(warning[0] != '\0', told);
        skin_probe_end(&p);
    }
}

/// Nodes 10 cm apart in a sheet 16 cm thick.
static void a_sheet_thicker_than_its_cells_does_not_touch_itself_at_rest(void **state) {
    (void)state;
    skin_probe p;
    skin_probe_begin(&p);
    skin_sheet sheet = skin_sheet_make(6, 0.6);
    stn_surface_spec spec = cloth_of(&sheet, 0.08);
    spec.self_collision = true;
    int32_t skin = skin_probe_add(&p, sheet.position, sheet.nodes, &spec, NULL);
    skin_probe_compile(&p);
    skin_probe_collide(&p, skin, skin, 1e-3);
    assert_int_equal(p.set.count, 0);
    skin_sheet_free(&sheet);
    skin_probe_end(&p);
}

// --------------------------------------------------------------------------------------------------- solids

/// A cube of side 2 h with the 8 corners as nodes.
static const int32_t cube_triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                           2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static void cube_nodes(stn_vec3 h, double position[24]) {
    for (int32_t i = 0; i < 8; i++) {
        position[3 * i] = i & 1 ? h.x : -h.x;
        position[3 * i + 1] = i & 2 ? h.y : -h.y;
        position[3 * i + 2] = i & 4 ? h.z : -h.z;
    }
}

/// Depth and normal are those of the near side, however thin the body is, until the shape is half through.
static void a_thin_solid_is_felt_on_the_near_side(void **state) {
    (void)state;
    const stn_shape shapes[] = {stn_shape_sphere(0.05), stn_shape_box(stn_vec3_make(0.05, 0.05, 0.05)),
                                stn_shape_capsule(0.05, 0.05), stn_shape_cylinder(0.05, 0.05),
                                stn_shape_ellipsoid(stn_vec3_make(0.05, 0.06, 0.05))};
    for (int32_t k = 0; k < 5 * STN_COUNT(shapes); k++) {
        const double thin = 0.002, depth = -1e-3 + 5e-4 * (k / STN_COUNT(shapes));
        skin_probe p;
        double position[24];
        skin_probe_begin(&p);
        cube_nodes(stn_vec3_make(1.0, 1.0, thin), position);
        stn_surface_spec spec = stn_surface_spec_default();
        spec.triangle_count = 12;
        spec.triangles = cube_triangles;
        spec.solid = true;
        const stn_shape *shape = &shapes[k % STN_COUNT(shapes)];
        stn_pose pose = stn_pose_identity();
        double low = shape->type == STN_SHAPE_CAPSULE ? 0.1 : 0.05;
        pose.position = stn_vec3_make(0.3, -0.2, thin + low - depth);
        int32_t skin = skin_probe_add(&p, position, 8, &spec, NULL), body = skin_probe_shape(&p, *shape, pose);
        skin_probe_compile(&p);
        skin_probe_collide(&p, skin, body, 2e-3);
        skin_probe_check(&p);
        assert_true(p.set.count > 0);
        assert_near(skin_probe_deepest(&p), -depth, 1e-9);
        for (int32_t i = 0; i < p.set.count; i++) {
            const stn_contact *c = &p.set.contacts[i];
            double up = c->geometry_a == skin ? c->normal.z : -c->normal.z;
            assert_near(up, 1.0, 1e-6);
        }
        skin_probe_end(&p);
    }
}

/// A tall box that leans over the border of a sheet, or over a fold, from beside, has corners under its triangles, as
/// far below as the box is high: what counts is the gap at the border, or the little overlap there.
static void a_box_beside_a_sheet_is_not_through_it(void **state) {
    (void)state;
    for (int32_t round = 0; round < 12; round++) {
        bool folded = round % 2 == 1;
        double gap = 1e-3 - 5e-4 * (round / 2);
        skin_probe p;
        skin_probe_begin(&p);
        skin_sheet sheet = skin_sheet_make(4, 0.4);
        stn_surface_spec spec = cloth_of(&sheet, round % 3 == 0 ? 0.0 : 1e-3);
        int32_t skin = skin_probe_add(&p, sheet.position, sheet.nodes, &spec, NULL);
        stn_pose pose = stn_pose_make(stn_quat_normalize((stn_quat){1.0, 0.0, 0.02, 0.0}), stn_vec3_zero());
        // the side x = -0.05 of the box, whose middle is above the sheet, touches (border, 0, 0)
        double border = folded ? 0.1 : 0.2;
        stn_vec3 side = stn_pose_apply(&pose, stn_vec3_make(-0.05 - gap, 0.0, -0.1));
        pose.position = stn_vec3_sub(stn_vec3_make(border, 0.011, 0.0), side);
        int32_t body = skin_probe_shape(&p, stn_shape_box(stn_vec3_make(0.05, 0.05, 0.5)), pose);
        skin_probe_compile(&p);
        for (int32_t i = 0; folded && i < p.model->node_count; i++) { // the last column hangs down
            if (p.q[3 * i] > 0.15) {
                p.q[3 * i] = 0.1 + 1e-9;
                p.q[3 * i + 2] = -0.1;
            }
        }
        skin_probe_collide(&p, skin, body, 5e-3);
        skin_probe_check(&p);
        // hanging down beside a box that leans over it, it is nearer below by what the box leans
        double lean = folded ? 0.1 * 0.04 : 0.0;
        assert_true(skin_probe_deepest(&p) > gap - spec.thickness - lean - 1e-4);
        assert_true(skin_probe_deepest(&p) < gap - spec.thickness + 1e-4);
        skin_sheet_free(&sheet);
        skin_probe_end(&p);
    }
}

/// A corner that has sunk in beside an edge comes out at the top, by the depth there, not at the side.
static void a_shape_over_the_edge_of_a_solid_stays_on_top(void **state) {
    (void)state;
    skin_probe p;
    double position[24];
    skin_probe_begin(&p);
    cube_nodes(stn_vec3_make(0.5, 0.5, 0.5), position);
    stn_surface_spec spec = stn_surface_spec_default();
    spec.triangle_count = 12;
    spec.triangles = cube_triangles;
    spec.solid = true;
    stn_pose pose = stn_pose_identity();
    pose.position =
        stn_vec3_make(0.6 - 0.003, 0.1, 0.6 - 0.001); // its corners are 3 mm from the side, 1 mm below the top
    int32_t skin = skin_probe_add(&p, position, 8, &spec, NULL);
    int32_t body = skin_probe_shape(&p, stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)), pose);
    skin_probe_compile(&p);
    skin_probe_collide(&p, skin, body, 1e-4);
    skin_probe_check(&p);
    assert_true(p.set.count >= 2);
    assert_near(skin_probe_deepest(&p), -0.001, 1e-12);
    for (int32_t i = 0; i < p.set.count; i++) {
        assert_near(p.set.contacts[i].normal.z, 1.0, 1e-12);
    }
    skin_probe_end(&p);
}

// ----------------------------------------------------------------------------------------------------- meshes

static double waves(double x, double y) {
    return 0.05 * sin(9.0 * x) * cos(7.0 * y);
}

/// A height field as a mesh with a grid, and the least distance of its triangles from those of the sheet.
static void meshes_are_as_far_away_as_their_triangles(void **state) {
    (void)state;
    stn_random random = {3}, *r = &random;
    enum { SIDE = 9 };
    double heights[SIDE * SIDE];
    for (int32_t i = 0; i < SIDE * SIDE; i++) {
        heights[i] = waves(0.1 * (i % SIDE), 0.1 * (i / SIDE)) + random_between(r, -0.01, 0.01);
    }
    for (int32_t round = 0; round < 60; round++) {
        skin_probe p;
        stn_error err;
        skin_probe_begin(&p);
        const stn_height_field_spec field = {SIDE, SIDE, 0.8, 0.8, heights};
        stn_mesh *mesh = NULL;
        assert_ok(stn_mesh_create_height_field(p.context, &field, &mesh, &err), err);
        skin_sheet sheet = skin_sheet_make(round % 2 == 0 ? 2 : 5, random_between(r, 0.1, 0.5));
        stn_surface_spec spec = cloth_of(&sheet, random_between(r, 0.001, 0.02));
        int32_t skin = skin_probe_add(&p, sheet.position, sheet.nodes, &spec, NULL);
        stn_pose pose = random_pose(r, 0.1);
        int32_t body = skin_probe_shape(&p, stn_shape_mesh(mesh), pose);
        skin_probe_compile(&p);
        stn_vec3 place = random_vec3(r, 0.2);
        place.z = random_between(r, 0.1, 0.3);
        for (int32_t i = 0; i < p.model->node_count; i++) {
            stn_vec3 x =
                stn_pose_apply(&pose, stn_vec3_add(stn_vec3_add(skin_probe_node(&p, i), place), random_vec3(r, 0.03)));
            p.q[3 * i] = x.x;
            p.q[3 * i + 1] = x.y;
            p.q[3 * i + 2] = x.z;
        }
        double brute = INFINITY;
        for (int32_t i = 0; i < sheet.triangle_count; i++) {
            stn_vec3 s[3], t[3];
            corners_of(&p, 0, i, s);
            for (int32_t k = 0; k < mesh->triangle_count; k++) {
                for (int32_t c = 0; c < 3; c++) {
                    const double *v = mesh->vertices + 3 * mesh->triangles[3 * k + c];
                    t[c] = stn_pose_apply(&pose, stn_vec3_make(v[0], v[1], v[2]));
                }
                brute = fmin(brute, triangle_distance(s, t));
            }
        }
        skin_probe_collide(&p, skin, body, 5.0);
        skin_probe_check(&p);
        assert_near(skin_probe_deepest(&p), brute - spec.thickness, 1e-6);
        stn_mesh_release(mesh);
        skin_sheet_free(&sheet);
        skin_probe_end(&p);
    }
}

// ----------------------------------------------------------------------------------------------------- bad places

/// Triangles squashed to lines and points, nodes on nodes, thickness 0, shapes through the middle: finite answers.
static void squashed_triangles_survive(void **state) {
    (void)state;
    stn_random random = {4}, *r = &random;
    for (int32_t round = 0; round < 300; round++) {
        skin_probe p;
        skin_probe_begin(&p);
        skin_sheet one = skin_sheet_make(3, 0.4), two = skin_sheet_make(2, 0.4);
        stn_surface_spec first = cloth_of(&one, round % 2 == 0 ? 0.0 : 0.01), second = cloth_of(&two, 0.0);
        first.self_collision = true;
        int32_t a = skin_probe_add(&p, one.position, one.nodes, &first, NULL);
        int32_t b = skin_probe_add(&p, two.position, two.nodes, &second, NULL);
        int32_t shape[5];
        for (int32_t k = 0; k < 5; k++) {
            shape[k] = skin_probe_shape(&p, shape_of_sizes(types[k], 0.1, 0.1, 0.1),
                                        round % 3 == 0 ? stn_pose_identity() : random_pose(r, 0.05));
        }
        skin_probe_compile(&p);
        for (int32_t i = 0; i < 3 * p.model->node_count;
             i++) { // a coarse lattice: many nodes on one place, flat and thin
            double grid = round % 4 == 0 ? 1.0 : 0.1;
            p.q[i] = grid * (random_below(r, 3) - 1) * (round % 5 == 0 && i % 3 == 2 ? 1e-13 : 1.0);
        }
        skin_probe_collide(&p, a, a, 0.05);
        skin_probe_collide(&p, a, b, 0.05);
        for (int32_t k = 0; k < 5; k++) {
            skin_probe_collide(&p, a, shape[k], 0.05);
            skin_probe_collide(&p, b, shape[k], 0.05);
        }
        skin_sheet_free(&one);
        skin_sheet_free(&two);
        skin_probe_end(&p);
    }
}

// ------------------------------------------------------------------------------------------------------------ order

/// Surfaces before and behind the shape in the model, and a shape as A or B, are the same contact turned round; and the
/// same ids come again when everything has moved a little.
static void ids_stay_while_things_move(void **state) {
    (void)state;
    skin_probe p;
    skin_probe_begin(&p);
    skin_sheet sheet = skin_sheet_make(6, 0.6);
    stn_surface_spec spec = cloth_of(&sheet, 0.01);
    stn_pose pose = stn_pose_make(stn_quat_normalize((stn_quat){1.0, 0.0, 0.0, 0.1}), stn_vec3_make(0.02, 0.03, 0.115));
    int32_t body = skin_probe_shape(&p, stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)), pose);
    int32_t skin = skin_probe_add(&p, sheet.position, sheet.nodes, &spec, NULL);
    skin_probe_compile(&p);
    skin_probe_collide(&p, skin, body, 0.01);
    int32_t count = p.set.count;
    uint64_t id[256];
    assert_true(count >= 8 && count <= 256);
    for (int32_t i = 0; i < count; i++) {
        id[i] = p.set.contacts[i].id;
        assert_int_equal(p.set.contacts[i].geometry_a, body);
        assert_true(p.set.contacts[i].normal.z < 0.0); // from the box into the sheet below
    }
    assert_near(skin_probe_deepest(&p), 0.005, 1e-12);
    for (int32_t i = 0; i < 3 * p.model->node_count; i++) {
        p.q[i] += 1e-5 * sin((double)i);
    }
    skin_probe_collide(&p, skin, body, 0.01);
    assert_int_equal(p.set.count, count);
    for (int32_t i = 0; i < count; i++) {
        assert_true(p.set.contacts[i].id == id[i]);
    }
    skin_sheet_free(&sheet);
    skin_probe_end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_all_triangles),
        cmocka_unit_test(two_sheets_are_as_far_apart_as_their_triangles),
        cmocka_unit_test(a_folded_sheet_meets_itself),
        cmocka_unit_test(a_surface_that_runs_through_itself_is_told_of),
        cmocka_unit_test(a_sheet_thicker_than_its_cells_does_not_touch_itself_at_rest),
        cmocka_unit_test(a_thin_solid_is_felt_on_the_near_side),
        cmocka_unit_test(a_shape_over_the_edge_of_a_solid_stays_on_top),
        cmocka_unit_test(a_box_beside_a_sheet_is_not_through_it),
        cmocka_unit_test(meshes_are_as_far_away_as_their_triangles),
        cmocka_unit_test(squashed_triangles_survive),
        cmocka_unit_test(ids_stay_while_things_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
