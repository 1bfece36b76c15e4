// SPDX-License-Identifier: Apache-2.0
// Properties of the contact points of random pairs, for every pair of shapes. `--full [CASES [A [B]]]` runs 100 000
// cases a pair, of all pairs or those of the types A and B.
#include "stn_test.h"

#include <string.h>

#include "point_oracle.h"
#include "point_random.h"
#include "point_reference.h"

/// Of a pair with hulls, which the slow way takes ten times as long for, a tenth.
static int32_t cases_per_pair = 1000, cases_of_hulls = 100;
static const char *only_a, *only_b; // types of the pairs to run; NULL: all

typedef struct tally {
    double distance, normal, surface; // worst errors; lengths relative to the size of the pair
    int32_t cases, jumps, doubtful, failures;
} tally;

static const stn_shape_type types[] = {STN_SHAPE_SPHERE,    STN_SHAPE_BOX,    STN_SHAPE_CAPSULE,   STN_SHAPE_CYLINDER,
                                       STN_SHAPE_ELLIPSOID, STN_SHAPE_CONVEX, STN_SHAPE_HALF_SPACE};

/// Closed forms and general convex pairs: how exact a distance must be.
static double distance_tolerance(stn_shape_type a, stn_shape_type b) {
    bool general = b == STN_SHAPE_CYLINDER || b == STN_SHAPE_ELLIPSOID || b == STN_SHAPE_CONVEX;
    return general && a != STN_SHAPE_SPHERE ? 1e-6 : 1e-9;
}

static void enlarge(stn_shape *s, double factor) {
    s->radius *= factor;
    s->half_length *= factor;
    s->half_extents = stn_vec3_scale(factor, s->half_extents);
    if (s->mesh != NULL) {
        stn_mesh *mesh;
        stn_error err;
        assert_ok(stn_mesh_create_scaled(s->mesh, stn_vec3_make(factor, factor, factor), &mesh, &err), err);
        stn_mesh_release(s->mesh);
        s->mesh = mesh;
    }
}

/// One of the 24 rotations that map axes to axes.
static stn_mat3 axis_rotation(stn_random *r) {
    double quarter = 0.5 * STN_PI;
    stn_mat3 m =
        stn_mat3_from_rpy(quarter * random_below(r, 4), quarter * random_below(r, 4), quarter * random_below(r, 4));
    for (int32_t i = 0; i < 9; i++) {
        m.m[i / 3][i % 3] = round(m.m[i / 3][i % 3]);
    }
    return m;
}

typedef struct contacts {
    int32_t count, deepest;
    stn_contact points[40];
    stn_vec3 on_a[40], on_b[40];
} contacts;

static contacts collide(probe *p, const placed *a, const placed *b, double margin) {
    stn_error err;
    contacts c = {0};
    assert_ok(probe_collide(p, a, b, margin, 1.0, &err), err);
    assert_true(p->set.count <= STN_COUNT(c.points));
    c.count = p->set.count;
    for (int32_t i = 0; i < c.count; i++) {
        c.points[i] = p->set.contacts[i];
        c.on_a[i] = c.points[i].point;
        c.deepest = c.points[i].phi0 < c.points[c.deepest].phi0 ? i : c.deepest;
    }
    assert_ok(probe_collide(p, a, b, margin, 0.0, &err), err);
    for (int32_t i = 0; i < c.count; i++) {
        c.on_b[i] = p->set.contacts[i].point;
    }
    return c;
}

static double phi_of(const contacts *c) {
    return c->count > 0 ? c->points[c->deepest].phi0 : (double)INFINITY;
}

/// Two placed shapes: anywhere, with axes along each other's, deep inside, or so close that they just touch.
static void random_pair(stn_random *r, probe *p, stn_shape_type type_a, stn_shape_type type_b, placed *a, placed *b) {
    *a = (placed){random_shape(r, p->context, type_a), random_pose(r, 1.0)};
    *b = (placed){random_shape(r, p->context, type_b), random_pose(r, 0.0)};
    if (random_below(r, 4) == 0) {
        enlarge(&b->shape, random_size(r, 1e-3, 1e3));
    }
    bool aligned = random_below(r, 4) == 0;
    if (aligned) {
        stn_mat3 turn = axis_rotation(r);
        b->pose.rotation = stn_mat3_mul(&a->pose.rotation, &turn);
    }
    stn_vec3 direction =
        aligned && random_below(r, 2) == 0 ? stn_mat3_column(&a->pose.rotation, random_below(r, 3)) : random_unit(r);
    double reach = 0.5 * (size_of(a) + size_of(b)) * random_between(r, 0.0, 1.5);
    b->pose.position = stn_vec3_mul_add(a->pose.position, reach, direction);
    if (random_below(r, 2) == 0) {
        contacts c = collide(p, a, b, 1e9);
        double gap = random_between(r, -1.0, 1.0) * random_size(r, 1e-8, 1e-1) * size_of_pair(a, b);
        stn_vec3 n = c.points[c.deepest].normal;
        b->pose.position = stn_vec3_mul_add(b->pose.position, gap - phi_of(&c), n);
    }
}

static void print_placed(const char *name, const placed *p) {
    print_message("%s: %s r %.17g l %.17g h %.17g %.17g %.17g\n  at %.17g %.17g %.17g\n", name,
                  stn_shape_name(p->shape.type), p->shape.radius, p->shape.half_length, p->shape.half_extents.x,
                  p->shape.half_extents.y, p->shape.half_extents.z, p->pose.position.x, p->pose.position.y,
                  p->pose.position.z);
    for (int32_t i = 0; i < 3; i++) {
        print_message("  %.17g %.17g %.17g\n", p->pose.rotation.m[i][0], p->pose.rotation.m[i][1],
                      p->pose.rotation.m[i][2]);
    }
}

/// Counts a broken claim, and prints the first few with their poses.
static void claim(bool holds, const char *text, double value, const placed *a, const placed *b, tally *t) {
    if (!holds && t->failures++ < 3) {
        print_message("case %d, %s: %.3g\n", t->cases, text, value);
        print_placed("A", a);
        print_placed("B", b);
    }
}

/// The smallest phi is the signed distance: along its normal by the reaches alone, and no direction separates more. Of
/// bodies almost in touch, apart, the poses' rounding alone turns the normal by 1e-16 size / phi.
static void check_distance(const placed *a, const placed *b, const contacts *c, double size, double tolerance,
                           tally *t) {
    double phi = phi_of(c), along = oracle_along(a, b, c->points[c->deepest].normal);
    double error = fmax(fabs(along - phi), fmax(oracle_distance(a, b) - phi, 0.0)) / size;
    double rounding = phi > 0.0 ? 4e-16 * size / phi : 0.0;
    t->distance = worse(t->distance, error - rounding);
    claim(error <= tolerance + rounding, "distance error", error, a, b, t);
}

/// No normal nearby separates more: it is right to 1e-6 rad where it is unique. It is not when rounding of the poses
/// turns the best one further, nor is a face's normal that another one nearby surpasses by less than 1e-10 of the size:
/// there the face is preferred.
static void check_normal(const placed *a, const placed *b, const contacts *c, double size, tally *t) {
    stn_vec3 n = c->points[c->deepest].normal;
    if (b->shape.type == STN_SHAPE_HALF_SPACE) {
        double error = stn_vec3_norm(stn_vec3_add(n, stn_mat3_column(&b->pose.rotation, 2)));
        t->normal = worse(t->normal, error);
        claim(error <= 1e-15, "normal of a half space", error, a, b, t);
        return;
    }
    double gain, error = stn_vec3_norm(reference_turn(a, b, n, false, &gain));
    if (!(error <= 1e-6)) {
        double reach = size_of(a) + size_of(b) + stn_vec3_norm(a->pose.position) + stn_vec3_norm(b->pose.position);
        bool flat = reference_is_flat(a, n) || reference_is_flat(b, stn_vec3_neg(n));
        error = stn_vec3_norm(reference_turn(a, b, n, true, &gain));
        if ((flat && gain < 1e-10 * size) || error <= 4.0 * reference_doubt(a, b, n, reach)) {
            t->doubtful++;
            return;
        }
    }
    t->normal = worse(t->normal, error);
    claim(error <= 1e-6, "normal error", error, a, b, t);
}

/// How far the corners of a hull's faces are from their planes: of triangles nearly in one plane the hull makes one
/// face.
static double unevenness(const placed *p) {
    const stn_mesh *mesh = p->shape.mesh;
    const stn_polytope *faces = mesh != NULL ? mesh->polytope : NULL;
    double most = 0.0;
    for (int32_t i = 0; faces != NULL && i < faces->face_count; i++) {
        const double *plane = faces->planes + 4 * (size_t)i;
        for (int32_t k = faces->face_start[i]; k < faces->face_start[i + 1]; k++) {
            const double *x = mesh->vertices + 3 * (size_t)faces->face_vertices[k];
            most = worse(most, plane[3] - plane[0] * x[0] - plane[1] * x[1] - plane[2] * x[2]);
        }
    }
    return most;
}

/// Every point lies on both surfaces, with a unit normal; none is deeper than the deepest.
static void check_points(const placed *a, const placed *b, const contacts *c, double size, tally *t) {
    double error = 0.0, uneven = (unevenness(a) + unevenness(b)) / size;
    for (int32_t i = 0; i < c->count; i++) {
        const stn_contact *p = &c->points[i];
        error = worse(error, fabs(stn_vec3_norm(p->normal) - 1.0));
        error = worse(error, fabs(oracle_surface(a, c->on_a[i])) / size);
        error = worse(error, fabs(oracle_surface(b, c->on_b[i])) / size);
        for (int32_t k = 0; k < i; k++) {
            claim(p->id != c->points[k].id, "two points with one id", i, a, b, t);
        }
    }
    t->surface = worse(t->surface, error);
    claim(error <= 1e-8 + uneven, "points off the surface", error, a, b, t);
}

static void check_separating_move(probe *p, const placed *a, const placed *b, const contacts *c, double size,
                                  double tolerance, tally *t) {
    placed moved = *b;
    const stn_contact *deepest = &c->points[c->deepest];
    moved.pose.position = stn_vec3_mul_add(b->pose.position, -deepest->phi0, deepest->normal);
    contacts after = collide(p, a, &moved, 1e9);
    double error = fabs(phi_of(&after)) / size;
    claim(error <= 2.0 * tolerance, "distance after moving out by the depth", error, a, b, t);
}

static void check_margin(probe *p, const placed *a, const placed *b, double phi, double size, double tolerance,
                         tally *t) {
    double band = 10.0 * tolerance * size;
    contacts within = collide(p, a, b, phi + band), without = collide(p, a, b, phi - band);
    claim(within.count > 0 && fabs(phi_of(&within) - phi) <= band, "not reported within the margin", phi, a, b, t);
    claim(without.count == 0, "reported beyond the margin", phi, a, b, t);
}

static void check_swap(probe *p, const placed *a, const placed *b, const contacts *c, tally *t) {
    contacts s = collide(p, b, a, 1e9);
    bool same = s.count == c->count;
    for (int32_t i = 0; same && i < c->count; i++) {
        stn_vec3 n = stn_vec3_add(s.points[i].normal, c->points[i].normal);
        same = s.points[i].phi0 == c->points[i].phi0 && stn_vec3_norm(n) == 0.0 &&
               stn_vec3_norm(stn_vec3_sub(s.on_a[i], c->on_b[i])) == 0.0;
    }
    claim(same, "another answer with A and B exchanged", 0.0, a, b, t);
}

static placed carried(const placed *p, const stn_pose *x) {
    placed q = {p->shape, stn_pose_mul(x, &p->pose)};
    return q;
}

/// A common motion changes nothing but the frame.
static void check_motion(stn_random *r, probe *p, const placed *a, const placed *b, const contacts *c, double size,
                         double tolerance, tally *t) {
    stn_pose x = random_pose(r, 2.0);
    placed far_a = carried(a, &x), far_b = carried(b, &x);
    contacts moved = collide(p, &far_a, &far_b, 1e9);
    double error = fabs(phi_of(&moved) - phi_of(c)) / size;
    claim(error <= tolerance, "distance changed by a common motion", error, a, b, t);
}

/// |d phi| <= |move| + |turn| reach; the normal may jump only at a change of mode, which is rare.
static void check_continuity(stn_random *r, probe *p, const placed *a, const placed *b, const contacts *c, double size,
                             double tolerance, tally *t) {
    const double tiny = 1e-7;
    stn_pose nudge = stn_pose_make(stn_quat_exp(stn_vec3_scale(tiny, random_unit(r))), random_vec3(r, tiny));
    placed nudged = *b;
    nudged.pose.rotation = stn_mat3_mul(&nudge.rotation, &b->pose.rotation);
    nudged.pose.position = stn_vec3_add(nudge.position, b->pose.position);
    contacts after = collide(p, a, &nudged, 1e9);
    double change = fabs(phi_of(&after) - phi_of(c));
    double lever = stn_vec3_norm(stn_vec3_sub(b->pose.position, a->pose.position)) + size_of(a);
    claim(change <= tiny * (2.0 + lever) + tolerance * size, "distance jumps", change, a, b, t);
    double turned = stn_vec3_norm(stn_vec3_sub(c->points[c->deepest].normal, after.points[after.deepest].normal));
    t->jumps += turned > 1e-3;
}

static void check_pair(probe *p, stn_shape_type type_a, stn_shape_type type_b, tally *t) {
    stn_random r = {1000 * (uint64_t)type_a + (uint64_t)type_b};
    double tolerance = distance_tolerance(type_a, type_b);
    int32_t cases = type_a == STN_SHAPE_CONVEX || type_b == STN_SHAPE_CONVEX ? cases_of_hulls : cases_per_pair;
    for (t->cases = 0; t->cases < cases; t->cases++) {
        placed a, b;
        random_pair(&r, p, type_a, type_b, &a, &b);
        double size = size_of_pair(&a, &b);
        contacts c = collide(p, &a, &b, 1e9);
        claim(c.count > 0, "no contact within any margin", 0.0, &a, &b, t);
        if (c.count > 0) {
            check_distance(&a, &b, &c, size, tolerance, t);
            check_normal(&a, &b, &c, size, t);
            check_points(&a, &b, &c, size, t);
            check_separating_move(p, &a, &b, &c, size, tolerance, t);
            check_margin(p, &a, &b, phi_of(&c), size, tolerance, t);
            check_swap(p, &a, &b, &c, t);
            check_motion(&r, p, &a, &b, &c, size, tolerance, t);
            check_continuity(&r, p, &a, &b, &c, size, tolerance, t);
        }
        stn_mesh_release(a.shape.mesh);
        stn_mesh_release(b.shape.mesh);
    }
    print_message("%-10s %-10s %7d   %9.2e   %9.2e   %9.2e   %8d   %5.2f %%   %d\n", stn_shape_name(type_a),
                  stn_shape_name(type_b), t->cases, t->distance, t->surface, t->normal, t->doubtful,
                  100.0 * t->jumps / t->cases, t->failures);
}

static bool is_chosen(stn_shape_type type, const char *only) {
    return only == NULL || strcmp(only, stn_shape_name(type)) == 0;
}

static void every_pair_has_the_properties_of_a_signed_distance(void **state) {
    (void)state;
    probe p;
    stn_error err;
    assert_ok(probe_create(&p, NULL, 0, &err), err);
    int32_t failures = 0;
    print_message("A          B            cases   distance    surface     normal      doubtful   jumps   failures\n");
    for (int32_t a = 0; a < STN_COUNT(types); a++) {
        for (int32_t b = a; b < STN_COUNT(types) && types[a] != STN_SHAPE_HALF_SPACE; b++) {
            tally t = {0};
            if (is_chosen(types[a], only_a) && is_chosen(types[b], only_b)) {
                check_pair(&p, types[a], types[b], &t);
            }
            failures += t.failures;
        }
    }
    probe_destroy(&p);
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--full") == 0) {
        int32_t cases = argc > 2 ? (int32_t)strtol(argv[2], NULL, 10) : 100000;
        cases_per_pair = cases_of_hulls = cases;
    }
    only_a = argc > 3 ? argv[3] : NULL;
    only_b = argc > 4 ? argv[4] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_has_the_properties_of_a_signed_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
