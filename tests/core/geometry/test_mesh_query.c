// SPDX-License-Identifier: Apache-2.0
// Queries to meshes against a look at every triangle with other formulas.
#include "mesh_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include <stiction/mesh_query.h>

enum { SCENES = 9 };

static void add_random(soup *s, stn_random *r, int32_t count, double spread, double size) {
    for (int32_t i = 0; i < count; i++) {
        stn_vec3 c = random_vec3(r, spread);
        soup_add(s, c, stn_vec3_add(c, random_vec3(r, size)), stn_vec3_add(c, random_vec3(r, size)));
    }
}

/// Triangles that are as hard on a tree as they can be: all about one centre.
static void add_concentric(soup *s, stn_random *r, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        stn_vec3 a = random_vec3(r, 1.0), b = random_vec3(r, 1.0);
        soup_add(s, a, b, stn_vec3_neg(stn_vec3_add(a, b)));
    }
}

static stn_mesh *make_scene(int32_t which, stn_context *context) {
    stn_random r = {(uint64_t)which + 1};
    soup s = {0};
    stn_pose far_away = {stn_mat3_identity(), {3e3, -2e3, 1e3}};
    switch (which) {
    case 0:
        soup_add_sphere(&s, 4);
        break;
    case 1:
        soup_add_l_solid(&s);
        break;
    case 2:
        soup_add(&s, stn_vec3_make(0.0, 0.0, 0.0), stn_vec3_make(1.0, 0.0, 0.0), stn_vec3_make(0.0, 1.0, 0.0));
        break;
    case 3:
        add_random(&s, &r, 700, 3.0, 0.4);
        break;
    case 4: // needles across the whole scene
        add_random(&s, &r, 100, 1.0, 1e-6);
        add_random(&s, &r, 100, 1.0, 3.0);
        break;
    case 5:
        add_concentric(&s, &r, 130);
        break;
    case 6: // clusters within clusters
        for (int32_t i = 0; i < 12; i++) {
            add_random(&s, &r, 17, pow(0.1, i), 0.3 * pow(0.1, i));
        }
        break;
    case 7:
        soup_add_sphere(&s, 3);
        soup_stretch(&s, stn_vec3_make(1e-4, 1e-4, 1e-4));
        soup_move(&s, &far_away);
        break;
    default: // thin and large
        soup_add_sphere(&s, 3);
        soup_stretch(&s, stn_vec3_make(1e4, 1e4, 1e-3));
    }
    return soup_mesh(&s, context);
}

static stn_vec3 size_of(const stn_mesh *mesh) {
    return stn_vec3_sub(mesh->bounds.upper, mesh->bounds.lower);
}

/// A point in the bounds of the mesh, stretched about their centre.
static stn_vec3 point_about(const stn_mesh *mesh, stn_random *r, double stretch) {
    stn_vec3 size = size_of(mesh), u = random_vec3(r, 0.5 * stretch);
    stn_vec3 centre = stn_vec3_mul_add(mesh->bounds.lower, 0.5, size);
    return stn_vec3_add(centre, stn_vec3_make(u.x * size.x, u.y * size.y, u.z * size.z));
}

// -------------------------------------------------------------------------------------------------------- boxes

typedef struct visits {
    int32_t count, stop_after;
    unsigned char *seen;
} visits;

static bool note_visit(void *user, int32_t triangle) {
    visits *v = user;
    v->seen[triangle]++;
    v->count++;
    return v->count != v->stop_after;
}

static bool overlaps(const stn_mesh *mesh, int32_t triangle, const stn_aabb *box) {
    const double *low = &box->lower.x, *high = &box->upper.x;
    for (int32_t axis = 0; axis < 3; axis++) {
        double least = INFINITY, most = -INFINITY;
        for (int32_t k = 0; k < 3; k++) {
            stn_vec3 p = mesh_corner(mesh, triangle, k);
            least = fmin(least, (&p.x)[axis]);
            most = worse(most, (&p.x)[axis]);
        }
        if (least > high[axis] || most < low[axis]) {
            return false;
        }
    }
    return true;
}

static void assert_visits_are_right(const stn_mesh *mesh, const stn_aabb *box) {
    visits v = {.seen = calloc((size_t)mesh->triangle_count, 1)};
    assert_true(stn_mesh_visit(mesh, box, note_visit, &v));
    int32_t expected = 0;
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        assert_int_equal(v.seen[i], overlaps(mesh, i, box));
        expected += overlaps(mesh, i, box);
    }
    if (expected > 1) {
        v.count = 0;
        v.stop_after = expected / 2;
        assert_false(stn_mesh_visit(mesh, box, note_visit, &v));
        assert_int_equal(v.count, v.stop_after);
    }
    free(v.seen);
}

static void a_box_is_told_every_triangle_whose_box_it_touches_once(void **state) {
    for (int32_t which = 0; which < SCENES; which++) {
        stn_random r = {40 + (uint64_t)which};
        stn_mesh *mesh = make_scene(which, *state);
        for (int32_t i = 0; i < 300; i++) {
            stn_vec3 a = point_about(mesh, &r, 1.5), b = point_about(mesh, &r, 1.5);
            double t = i % 3 == 0 ? 1.0 : random_size(&r, 1e-6, 1.0);
            b = stn_vec3_mul_add(a, t, stn_vec3_sub(b, a));
            stn_aabb box = {{fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)},
                            {fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)}};
            assert_visits_are_right(mesh, &box);
        }
        stn_vec3 corner = mesh_corner(mesh, 0, 1);
        stn_aabb touching = {corner, corner}, all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
        assert_visits_are_right(mesh, &touching);
        assert_visits_are_right(mesh, &all);
        stn_aabb empty = {{1.0, 1.0, 1.0}, {-1.0, 1.0, 1.0}}, none = {{NAN, NAN, NAN}, {NAN, NAN, NAN}};
        visits v = {.stop_after = 1};
        assert_true(stn_mesh_visit(mesh, &empty, note_visit, &v) && stn_mesh_visit(mesh, &none, note_visit, &v));
        stn_mesh_release(mesh);
    }
}

// --------------------------------------------------------------------------------------------------------- parts

static stn_vec3 unit_of(stn_vec3 a) {
    return stn_vec3_scale(1.0 / stn_vec3_norm(a), a);
}

/// Leaves out what lies beyond a plane, or what looks along m.
typedef struct parting {
    visits seen;
    stn_vec3 m;
    double offset;
    bool by_look;
} parting;

static bool leave_out(void *user, const stn_mesh_part *part) {
    const parting *p = user;
    if (p->by_look) {
        return stn_vec3_dot(p->m, part->look) >= part->cosine;
    }
    return stn_vec3_dot(p->m, part->centre) - stn_mesh_part_reach(part, p->m) > p->offset;
}

static bool note_parted(void *user, int32_t triangle) {
    return note_visit(&((parting *)user)->seen, triangle);
}

static void what_a_filter_leaves_out_is_what_it_means(void **state) {
    for (int32_t which = 0; which < SCENES; which++) {
        stn_random r = {60 + (uint64_t)which};
        stn_mesh *mesh = make_scene(which, *state);
        const stn_aabb all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
        int32_t left_out = 0;
        for (int32_t i = 0; i < 60; i++) {
            parting p = {.seen = {.seen = calloc((size_t)mesh->triangle_count, 1)}};
            p.m = unit_of(random_vec3(&r, 1.0));
            p.offset = stn_vec3_dot(p.m, point_about(mesh, &r, 1.0));
            assert_true(stn_mesh_visit_parts(mesh, &all, leave_out, note_parted, &p));
            for (int32_t t = 0; t < mesh->triangle_count; t++) {
                double least = INFINITY;
                for (int32_t k = 0; k < 3; k++) {
                    least = fmin(least, stn_vec3_dot(p.m, mesh_corner(mesh, t, k)));
                }
                assert_true(p.seen.seen[t] <= 1);
                assert_true(p.seen.seen[t] == 1 || least > p.offset);
                left_out += p.seen.seen[t] == 0;
            }
            free(p.seen.seen);
        }
        assert_true(left_out > 0 || mesh->triangle_count < 20);
        stn_mesh_release(mesh);
    }
}

/// A surface with gentle waves, or with rough ones.
static stn_mesh *waves(stn_context *context, double height) {
    enum { SIDE = 24 };
    soup s = {0};
    for (int32_t i = 0; i < SIDE * SIDE; i++) {
        stn_vec3 c[4];
        for (int32_t k = 0; k < 4; k++) {
            const double x = i % SIDE + (k & 1), y = i / SIDE + (k >> 1);
            c[k] = stn_vec3_make(x, y, height * sin(0.7 * x) * cos(0.9 * y));
        }
        soup_add(&s, c[0], c[1], c[3]);
        soup_add(&s, c[0], c[3], c[2]);
    }
    return soup_mesh(&s, context);
}

static stn_vec3 look_of_triangle(const stn_mesh *mesh, int32_t t) {
    const stn_vec3 a = mesh_corner(mesh, t, 0);
    return unit_of(stn_vec3_cross(stn_vec3_sub(mesh_corner(mesh, t, 1), a), stn_vec3_sub(mesh_corner(mesh, t, 2), a)));
}

static void parts_that_look_one_way_hold_gentle_triangles_that_do(void **state) {
    static const double heights[] = {0.0, 0.05, 0.2, 0.6, 2.0};
    int32_t left_out = 0, gentle = 0, others = 0;
    for (int32_t which = 0; which < STN_COUNT(heights); which++) {
        stn_random r = {80 + (uint64_t)which};
        stn_mesh *mesh = waves(*state, heights[which]);
        const uint8_t *bends = stn_mesh_bends(mesh);
        const int32_t *across = stn_mesh_across(mesh);
        assert_non_null(bends);
        for (int32_t t = 0; t < mesh->triangle_count; t++) {
            bool all = true;
            for (int32_t k = 0; k < 3; k++) {
                const int32_t other = across[3 * t + k] < 0 ? -1 : across[3 * t + k] / 3;
                all =
                    all && other >= 0 &&
                    stn_vec3_dot(look_of_triangle(mesh, t), look_of_triangle(mesh, other)) >= cos(15.0 * M_PI / 180.0);
            }
            assert_true(all || (bends[t] & STN_BEND_GENTLE) == 0);
            gentle += (bends[t] & STN_BEND_GENTLE) != 0;
            others += (bends[t] & STN_BEND_GENTLE) == 0;
        }
        const stn_aabb box = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
        for (int32_t i = 0; i < 60; i++) {
            parting p = {.seen = {.seen = calloc((size_t)mesh->triangle_count, 1)}, .by_look = true};
            p.m = unit_of(stn_vec3_add(stn_vec3_make(0.0, 0.0, i % 3), random_vec3(&r, 1.0)));
            assert_true(stn_mesh_visit_parts(mesh, &box, leave_out, note_parted, &p));
            for (int32_t t = 0; t < mesh->triangle_count; t++) {
                if (p.seen.seen[t] == 0) {
                    assert_true((bends[t] & STN_BEND_GENTLE) != 0);
                    assert_true(stn_vec3_dot(p.m, look_of_triangle(mesh, t)) >= cos(75.0 * M_PI / 180.0));
                    left_out++;
                }
            }
            free(p.seen.seen);
        }
        stn_mesh_release(mesh);
    }
    assert_true(left_out > 0 && gentle > 0 && others > 0);
}

// ------------------------------------------------------------------------------------------------ nearest point

/// By the regions of corners and edges [ericson-2005, 5.1.5], in long double.
static long double triangle_distance(const stn_vec3 v[3], stn_vec3 p) {
    long double a[3] = {v[0].x, v[0].y, v[0].z}, ab[3], ac[3], best = INFINITY;
    long double d[3], e[2][2], f[2];
    const stn_vec3 edge[2] = {v[1], v[2]};
    for (int32_t k = 0; k < 3; k++) {
        ab[k] = (&edge[0].x)[k] - a[k];
        ac[k] = (&edge[1].x)[k] - a[k];
        d[k] = (&p.x)[k] - a[k];
    }
    const long double *axis[2] = {ab, ac};
    for (int32_t i = 0; i < 2; i++) {
        f[i] = axis[i][0] * d[0] + axis[i][1] * d[1] + axis[i][2] * d[2];
        for (int32_t j = 0; j < 2; j++) {
            e[i][j] = axis[i][0] * axis[j][0] + axis[i][1] * axis[j][1] + axis[i][2] * axis[j][2];
        }
    }
    long double determinant = e[0][0] * e[1][1] - e[0][1] * e[1][0];
    long double share[4][2] = {
        {(f[0] * e[1][1] - f[1] * e[0][1]) / determinant, (f[1] * e[0][0] - f[0] * e[1][0]) / determinant}};
    share[1][0] = fminl(fmaxl(f[0] / e[0][0], 0.0L), 1.0L); // on ab
    share[1][1] = 0.0L;
    share[2][0] = 0.0L; // on ac
    share[2][1] = fminl(fmaxl(f[1] / e[1][1], 0.0L), 1.0L);
    long double along = e[0][0] - 2.0L * e[0][1] + e[1][1], part = (f[1] - e[0][1] - f[0] + e[0][0]) / along;
    share[3][1] = fminl(fmaxl(part, 0.0L), 1.0L); // on bc
    share[3][0] = 1.0L - share[3][1];
    for (int32_t i = 0; i < 4; i++) {
        if (share[i][0] >= 0.0L && share[i][1] >= 0.0L && share[i][0] + share[i][1] <= 1.0L + 1e-18L) {
            long double sum = 0.0L;
            for (int32_t k = 0; k < 3; k++) {
                long double q = d[k] - share[i][0] * ab[k] - share[i][1] * ac[k];
                sum += q * q;
            }
            best = fminl(best, sqrtl(sum));
        }
    }
    return best;
}

static double nearest_of_all(const stn_mesh *mesh, stn_vec3 p) {
    long double best = INFINITY;
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        const stn_vec3 v[3] = {mesh_corner(mesh, i, 0), mesh_corner(mesh, i, 1), mesh_corner(mesh, i, 2)};
        best = fminl(best, triangle_distance(v, p));
    }
    return (double)best;
}

static void a_ball_is_told_every_triangle_within_once(void **state) {
    for (int32_t which = 0; which < SCENES; which++) {
        stn_random r = {60 + (uint64_t)which};
        stn_mesh *mesh = make_scene(which, *state);
        visits v = {.seen = calloc((size_t)mesh->triangle_count, 1)};
        int32_t visited = 0, within = 0;
        for (int32_t i = 0; i < 30; i++) {
            stn_vec3 p = point_about(mesh, &r, 1.5);
            double radius = nearest_of_all(mesh, p) + random_size(&r, 1e-3, 0.3) * stn_vec3_norm(size_of(mesh));
            memset(v.seen, 0, (size_t)mesh->triangle_count);
            assert_true(stn_mesh_visit_ball(mesh, p, radius, note_visit, &v));
            for (int32_t k = 0; k < mesh->triangle_count; k++) {
                const stn_vec3 c[3] = {mesh_corner(mesh, k, 0), mesh_corner(mesh, k, 1), mesh_corner(mesh, k, 2)};
                bool inside = (double)triangle_distance(c, p) <= radius;
                assert_true(v.seen[k] <= 1 && (v.seen[k] == 1 || !inside));
                visited += v.seen[k];
                within += inside;
            }
        }
        assert_true(visited <= 4 * within + 100);
        free(v.seen);
        stn_mesh_release(mesh);
    }
}

/// Each edge and the one across run between the same two vertices, opposite ways.
static void triangles_know_what_lies_across_their_edges(void **state) {
    for (int32_t which = 0; which < SCENES; which++) {
        stn_mesh *mesh = make_scene(which, *state);
        const int32_t *across = stn_mesh_across(mesh);
        assert_ptr_equal(across, stn_mesh_across(mesh));
        for (int32_t e = 0; e < 3 * mesh->triangle_count; e++) {
            int32_t o = across[e];
            if (o >= 0) {
                assert_int_equal(across[o], e);
                assert_int_equal(mesh->triangles[e], mesh->triangles[o / 3 * 3 + (o + 1) % 3]);
                assert_int_equal(mesh->triangles[o], mesh->triangles[e / 3 * 3 + (e + 1) % 3]);
            }
        }
        stn_mesh_release(mesh);
    }
}

static void the_nearest_point_is_as_near_as_any(void **state) {
    double worst = 0.0;
    int32_t cases = 0;
    for (int32_t which = 0; which < SCENES; which++) {
        stn_random r = {50 + (uint64_t)which};
        stn_mesh *mesh = make_scene(which, *state);
        double whole = stn_vec3_norm(size_of(mesh)), away = stn_vec3_norm(mesh->bounds.lower);
        for (int32_t i = 0; i < 300; i++) {
            stn_vec3 p = point_about(mesh, &r, i % 4 == 0 ? 1e3 : i % 4 == 1 ? 3.0 : 1.0);
            double expected = nearest_of_all(mesh, p);
            double tolerance = 1e-14 * (whole + away + expected);
            stn_mesh_point found = {-1, {0.0, 0.0, 0.0}, -1.0};
            assert_true(stn_mesh_nearest(mesh, p, INFINITY, &found));
            assert_near(found.distance, expected, tolerance);
            assert_near(stn_vec3_norm(stn_vec3_sub(found.point, p)), expected, tolerance);
            const stn_vec3 v[3] = {mesh_corner(mesh, found.triangle, 0), mesh_corner(mesh, found.triangle, 1),
                                   mesh_corner(mesh, found.triangle, 2)};
            assert_near((double)triangle_distance(v, found.point), 0.0, tolerance);
            assert_true(stn_mesh_nearest(mesh, p, found.distance * (1.0 + 1e-12), &found));
            assert_false(stn_mesh_nearest(mesh, p, found.distance * (1.0 - 1e-9) - 1e-300, &found));
            worst = worse(worst, fabs(found.distance - expected) / (whole + away + expected));
            cases++;
        }
        stn_mesh_point unused;
        assert_false(stn_mesh_nearest(mesh, stn_vec3_make(NAN, 0.0, 0.0), INFINITY, &unused));
        assert_false(stn_mesh_nearest(mesh, mesh->bounds.lower, NAN, &unused));
        stn_mesh_release(mesh);
    }
    print_message("nearest point: %d cases, worst error %.2g of the size\n", cases, worst);
}

// --------------------------------------------------------------------------------------------------------- rays

/// By determinants [moller-1997] in long double; INFINITY: not met. `clear`: how far from the nearest edge, in shares.
static double ray_parameter(const stn_vec3 v[3], stn_vec3 o, stn_vec3 d, double *clear) {
    long double ab[3], ac[3], t[3], dir[3], p[3], q[3];
    for (int32_t k = 0; k < 3; k++) {
        ab[k] = (long double)(&v[1].x)[k] - (&v[0].x)[k];
        ac[k] = (long double)(&v[2].x)[k] - (&v[0].x)[k];
        t[k] = (long double)(&o.x)[k] - (&v[0].x)[k];
        dir[k] = (&d.x)[k];
    }
    for (int32_t k = 0; k < 3; k++) {
        int32_t i = (k + 1) % 3, j = (k + 2) % 3;
        p[k] = dir[i] * ac[j] - dir[j] * ac[i];
        q[k] = t[i] * ab[j] - t[j] * ab[i];
    }
    long double determinant = ab[0] * p[0] + ab[1] * p[1] + ab[2] * p[2];
    long double u = (t[0] * p[0] + t[1] * p[1] + t[2] * p[2]) / determinant;
    long double w = (dir[0] * q[0] + dir[1] * q[1] + dir[2] * q[2]) / determinant;
    *clear = fmin(*clear, (double)fabsl(fminl(fminl(u, w), 1.0L - u - w)));
    bool inside = u >= 0.0L && w >= 0.0L && u + w <= 1.0L;
    return inside ? (double)((ac[0] * q[0] + ac[1] * q[1] + ac[2] * q[2]) / determinant) : (double)INFINITY;
}

static double first_of_all(const stn_mesh *mesh, stn_vec3 o, stn_vec3 d, double *clear) {
    double best = INFINITY;
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        const stn_vec3 v[3] = {mesh_corner(mesh, i, 0), mesh_corner(mesh, i, 1), mesh_corner(mesh, i, 2)};
        double t = ray_parameter(v, o, d, clear);
        best = t >= 0.0 ? fmin(best, t) : best;
    }
    return best;
}

static void the_first_triangle_of_a_ray_is_found(void **state) {
    int32_t cases = 0, hits = 0, unclear = 0;
    for (int32_t which = 0; which < SCENES; which++) {
        stn_random r = {60 + (uint64_t)which};
        stn_mesh *mesh = make_scene(which, *state);
        double whole = stn_vec3_norm(size_of(mesh)), away = stn_vec3_norm(mesh->bounds.lower);
        for (int32_t i = 0; i < 600; i++) {
            stn_vec3 o = point_about(mesh, &r, i % 3 == 0 ? 30.0 : 1.5), at = point_about(mesh, &r, 1.0);
            stn_vec3 d = stn_vec3_normalize_or(stn_vec3_sub(at, o), stn_vec3_make(1.0, 0.0, 0.0));
            if (i % 5 == 0) { // along an axis
                d = stn_vec3_make(i % 15 == 0 ? -1.0 : 0.0, i % 15 == 5 ? 1.0 : 0.0, i % 15 == 10 ? 1.0 : 0.0);
            }
            double clear = 1.0, expected = first_of_all(mesh, o, d, &clear);
            if (clear < 1e-9) {
                unclear++; // on an edge but for rounding: another formula may decide otherwise
                continue;
            }
            stn_mesh_point found;
            bool met = stn_mesh_raycast(mesh, o, d, INFINITY, &found);
            assert_int_equal(met, isfinite(expected));
            cases++;
            if (met) {
                hits++;
                assert_near(found.distance, expected, 1e-9 * (whole + away + expected));
                assert_true(stn_mesh_raycast(mesh, o, d, found.distance, &found));
                assert_false(stn_mesh_raycast(mesh, o, d, found.distance * (1.0 - 1e-12) - 1e-300, &found));
            }
        }
        stn_mesh_release(mesh);
    }
    print_message("rays at meshes: %d cases, %d hits, %d undecided\n", cases, hits, unclear);
    assert_true(hits > cases / 4 && unclear < cases / 10);
}

/// From inside a closed surface every ray meets it, also one that is aimed at a corner or an edge.
static void no_ray_slips_out_through_an_edge(void **state) {
    stn_random r = {70};
    soup s = {0};
    soup_add_sphere(&s, 4);
    stn_mesh *mesh = soup_mesh(&s, *state);
    for (int32_t i = 0; i < 100000; i++) {
        int32_t triangle = random_below(&r, mesh->triangle_count);
        stn_vec3 o = random_vec3(&r, 0.3), a = mesh_corner(mesh, triangle, 0), b = mesh_corner(mesh, triangle, 1);
        double t = i % 3 == 0 ? 0.0 : random_between(&r, 0.0, 1.0);
        stn_vec3 at = stn_vec3_mul_add(a, t, stn_vec3_sub(b, a)), way = stn_vec3_sub(at, o);
        stn_mesh_point found;
        assert_true(stn_mesh_raycast(mesh, o, stn_vec3_normalize_or(way, a), INFINITY, &found));
        assert_near(found.distance, stn_vec3_norm(way), 1e-12);
    }
    stn_mesh_release(mesh);
}

// ------------------------------------------------------------------------------------------------ memory, threads

typedef struct memory {
    atomic_int left;
} memory;

static void *limited_allocate(void *user, size_t size) {
    memory *m = user;
    return atomic_fetch_sub(&m->left, 1) > 0 ? aligned_alloc(16, (size + 15) & ~(size_t)15) : NULL;
}
static void limited_release(void *user, void *block) {
    (void)user;
    free(block);
}

static stn_context *context_with(memory *m) {
    atomic_store(&m->left, INT32_MAX);
    stn_context_options options = {.allocate = limited_allocate, .release = limited_release, .allocator_user = m};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(&options, &context, &err), err);
    return context;
}

static void without_memory_the_answers_are_the_same(void **state) {
    memory m;
    stn_context *poor = context_with(&m);
    stn_random r = {80};
    stn_mesh *mesh = make_scene(3, *state), *same = make_scene(3, poor);
    for (int32_t i = 0; i < 200; i++) {
        atomic_store(&m.left, i % 4); // one of the parts of the tree fails
        stn_vec3 p = point_about(mesh, &r, 2.0), d = random_unit(&r);
        stn_mesh_point a = {0}, b = {0};
        assert_true(stn_mesh_nearest(mesh, p, INFINITY, &a) && stn_mesh_nearest(same, p, INFINITY, &b));
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(stn_mesh_raycast(mesh, p, d, INFINITY, &a), stn_mesh_raycast(same, p, d, INFINITY, &b));
        assert_memory_equal(&a, &b, sizeof a);
        stn_aabb box = {p, stn_vec3_add(p, stn_vec3_make(0.5, 0.5, 0.5))};
        assert_visits_are_right(same, &box);
        stn_error err = {STN_OK, ""};
        assert_int_equal(stn_mesh_prepare(same, &err), STN_ERR_MEMORY);
        assert_non_null(strstr(err.text, "out of memory"));
    }
    stn_mesh_release(mesh);
    stn_mesh_release(same);
    stn_context_destroy(poor);
}

static void a_prepared_mesh_answers_without_allocating(void **state) {
    stn_mesh *mesh = make_scene(0, *state);
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_prepare(mesh, &err), err);
    int64_t before = stn_context_allocations(*state);
    stn_mesh_point found;
    assert_true(stn_mesh_nearest(mesh, stn_vec3_make(3.0, 0.0, 0.0), INFINITY, &found));
    assert_true(stn_mesh_raycast(mesh, stn_vec3_zero(), stn_vec3_make(1.0, 0.0, 0.0), INFINITY, &found));
    assert_visits_are_right(mesh, &mesh->bounds);
    assert_ok(stn_mesh_prepare(mesh, &err), err);
    assert_int_equal(stn_context_allocations(*state), before);
    stn_mesh_release(mesh);
}

static void *ask(void *user) {
    stn_mesh_point found;
    return stn_mesh_nearest(user, stn_vec3_make(0.0, 0.0, 3.0), INFINITY, &found) ? user : NULL;
}

static void threads_may_ask_first_together(void **state) {
    for (int32_t round = 0; round < 20; round++) {
        stn_mesh *mesh = make_scene(0, *state);
        pthread_t threads[4];
        for (int32_t i = 0; i < 4; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, ask, mesh), 0);
        }
        for (int32_t i = 0; i < 4; i++) {
            void *answer = NULL;
            pthread_join(threads[i], &answer);
            assert_ptr_equal(answer, mesh);
        }
        stn_mesh_release(mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_is_told_every_triangle_whose_box_it_touches_once),
        cmocka_unit_test(what_a_filter_leaves_out_is_what_it_means),
        cmocka_unit_test(parts_that_look_one_way_hold_gentle_triangles_that_do),
        cmocka_unit_test(a_ball_is_told_every_triangle_within_once),
        cmocka_unit_test(triangles_know_what_lies_across_their_edges),
        cmocka_unit_test(the_nearest_point_is_as_near_as_any),
        cmocka_unit_test(the_first_triangle_of_a_ray_is_found),
        cmocka_unit_test(no_ray_slips_out_through_an_edge),
        cmocka_unit_test(without_memory_the_answers_are_the_same),
        cmocka_unit_test(a_prepared_mesh_answers_without_allocating),
        cmocka_unit_test(threads_may_ask_first_together),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
