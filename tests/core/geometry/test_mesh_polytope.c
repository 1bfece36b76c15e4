// SPDX-License-Identifier: Apache-2.0
// Faces, edges and neighbours of convex hulls, and climbing over them, against a look at all vertices.
#include "mesh_fixture.h"

static stn_mesh *hull_of(stn_context *context, const stn_vec3 *points, int32_t count) {
    stn_mesh *mesh = mesh_of_points(context, points, count), *hull = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    stn_mesh_release(mesh);
    return hull;
}

/// A prism of height 1 over a regular polygon of radius 1.
static stn_mesh *prism(stn_context *context, int32_t sides) {
    stn_vec3 *points = calloc(2 * (size_t)sides, sizeof *points);
    assert_non_null(points);
    for (int32_t i = 0; i < 2 * sides; i++) {
        double angle = 2.0 * STN_PI * (i / 2) / sides;
        points[i] = stn_vec3_make(cos(angle), sin(angle), i % 2);
    }
    stn_mesh *hull = hull_of(context, points, 2 * sides);
    free(points);
    return hull;
}

/// Points of an ellipsoid, of a size and stretch that a seed decides; `single`: rounded to single precision.
static stn_mesh *blob(stn_context *context, uint64_t seed, int32_t count, stn_vec3 stretch, bool single) {
    stn_random r = {seed};
    stn_vec3 *points = calloc((size_t)count, sizeof *points);
    assert_non_null(points);
    for (int32_t i = 0; i < count; i++) {
        stn_vec3 p = random_unit(&r);
        p = stn_vec3_make(p.x * stretch.x, p.y * stretch.y, p.z * stretch.z);
        points[i] = single ? stn_vec3_make((float)p.x, (float)p.y, (float)p.z) : p;
    }
    stn_mesh *hull = hull_of(context, points, count);
    free(points);
    return hull;
}

static int32_t scan(const stn_mesh *mesh, stn_vec3 d) {
    int32_t best = 0;
    for (int32_t i = 1; i < mesh->vertex_count; i++) {
        best = stn_vec3_dot(mesh_vertex_at(mesh, i), d) > stn_vec3_dot(mesh_vertex_at(mesh, best), d) ? i : best;
    }
    return best;
}

/// In random directions, and where several vertices are nearly as far: across faces, across edges, and beside that.
static void assert_climbs_like_a_scan(const stn_mesh *hull) {
    stn_random r = {3};
    const stn_polytope *p = hull->polytope;
    for (int32_t i = 0; i < 3000; i++) {
        const double *n = p->planes + 4 * (size_t)random_below(&r, p->face_count);
        const int32_t *edge = p->edges + 4 * (size_t)random_below(&r, p->edge_count);
        const double *left = p->planes + 4 * (size_t)edge[2], *right = p->planes + 4 * (size_t)edge[3];
        double t = random_between(&r, 0.0, 1.0);
        const stn_vec3 directions[4] = {random_unit(&r),
                                        {n[0], n[1], n[2]},
                                        {left[0] + t * right[0], left[1] + t * right[1], left[2] + t * right[2]},
                                        {i % 3 == 0, i % 3 == 1, i % 3 == 2}};
        stn_vec3 d = directions[i % 4];
        if (i % 8 > 3) {
            d = stn_vec3_mul_add(d, random_size(&r, 1e-17, 1e-2), random_unit(&r));
        }
        d = stn_vec3_scale((i % 2 == 0 ? 1.0 : -1.0) * random_size(&r, 1e-6, 1e6), d);
        assert_int_equal(stn_mesh_support(hull, d), scan(hull, d));
    }
}

static void assert_is_polytope(const stn_mesh *hull, double tolerance) {
    const stn_polytope *p = hull->polytope;
    assert_non_null(p);
    assert_int_equal(p->face_start[p->face_count], 2 * p->edge_count);
    for (int32_t f = 0; f < p->face_count; f++) {
        const double *plane = p->planes + 4 * (size_t)f;
        stn_vec3 n = {plane[0], plane[1], plane[2]};
        int32_t first = p->face_start[f], count = p->face_start[f + 1] - first;
        assert_near(stn_vec3_norm(n), 1.0, 1e-14);
        assert_true(count >= 3);
        for (int32_t v = 0; v < hull->vertex_count; v++) {
            assert_true(stn_vec3_dot(n, mesh_vertex_at(hull, v)) - plane[3] <= tolerance);
        }
        for (int32_t k = 0; k < count; k++) {
            int32_t from = p->face_vertices[first + k], to = p->face_vertices[first + (k + 1) % count];
            int32_t beyond = p->face_vertices[first + (k + 2) % count];
            const int32_t *edge = p->edges + 4 * (size_t)p->face_edges[first + k];
            assert_true((edge[0] == from && edge[1] == to && edge[2] == f && edge[3] != f) ||
                        (edge[0] == to && edge[1] == from && edge[3] == f && edge[2] != f));
            assert_near(stn_vec3_dot(n, mesh_vertex_at(hull, from)), plane[3], tolerance);
            stn_vec3 along = stn_vec3_sub(mesh_vertex_at(hull, to), mesh_vertex_at(hull, from));
            stn_vec3 next = stn_vec3_sub(mesh_vertex_at(hull, beyond), mesh_vertex_at(hull, to));
            assert_true(stn_vec3_dot(n, stn_vec3_cross(along, next)) >= -tolerance * stn_vec3_norm(along));
        }
    }
}

/// V - E + F = 2 for the vertices that are corners of faces: all but `flat` of them, which lie in one as far as single
/// precision can tell.
static void assert_euler(const stn_mesh *hull, int32_t flat) {
    const stn_polytope *p = hull->polytope;
    bool *corner = calloc((size_t)hull->vertex_count, sizeof *corner);
    assert_non_null(corner);
    int32_t corners = 0;
    for (int32_t i = 0; i < p->face_start[p->face_count]; i++) {
        corners += !corner[p->face_vertices[i]];
        corner[p->face_vertices[i]] = true;
    }
    free(corner);
    assert_int_equal(corners - p->edge_count + p->face_count, 2);
    assert_true(hull->vertex_count - corners <= flat);
}

static void faces_in_one_plane_are_polygons(void **state) {
    soup s = {0};
    soup_add_cube(&s, 0.5);
    stn_mesh *mesh = soup_mesh(&s, *state), *cube = NULL;
    stn_error err = {STN_OK, ""};
    assert_null(mesh->polytope); // a surface has none
    assert_ok(stn_mesh_create_hull(mesh, &cube, &err), err);
    assert_int_equal(cube->polytope->face_count, 6);
    assert_int_equal(cube->polytope->edge_count, 12);
    assert_is_polytope(cube, 1e-15);
    for (int32_t sides = 3; sides < 400; sides += sides / 3) {
        stn_mesh *hull = prism(*state, sides);
        assert_int_equal(hull->polytope->face_count, sides + 2);
        assert_is_polytope(hull, 1e-13);
        assert_euler(hull, 0);
        assert_climbs_like_a_scan(hull);
        stn_mesh_release(hull);
    }
    stn_mesh_release(cube);
    stn_mesh_release(mesh);
}

static void hulls_of_every_form_are_polytopes_and_climb_like_a_scan(void **state) {
    static const stn_vec3 stretches[] = {{1.0, 1.0, 1.0}, {1.0, 1e-3, 1e-3},  {1.0, 1.0, 1e-6},
                                         {1e4, 1e4, 3e3}, {1e-4, 2e-4, 1e-4}, {1.0, 1e-9, 1e-7}};
    for (int32_t i = 0; i < 6 * 6; i++) {
        stn_vec3 stretch = stretches[i % 6];
        const int32_t counts[] = {4, 7, 24, 60, 300, 3000};
        stn_mesh *hull = blob(*state, 5 + (uint64_t)i, counts[i / 6], stretch, false);
        assert_euler(hull, counts[i / 6] < 3000 ? 0 : 3);
        assert_climbs_like_a_scan(hull);
        if (counts[i / 6] <= 300) {
            assert_is_polytope(hull, 1e-6 * fmax(stretch.x, fmax(stretch.y, stretch.z)));
        }
        stn_mesh_release(hull);
    }
}

/// As files in single precision have them: flat faces only nearly so, vertices pushed about by rounding.
static void faces_of_files_in_single_precision_are_whole(void **state) {
    stn_random r = {8};
    for (int32_t i = 0; i < 50; i++) {
        enum { GRID = 5 };
        stn_vec3 points[6 * GRID * GRID];
        stn_pose pose = random_pose(&r, 2.0);
        int32_t count = 0;
        for (int32_t k = 0; k < 6 * GRID * GRID; k++) { // points spread over the faces of a box
            double u = k % GRID / (GRID - 1.0) - 0.5, v = k / GRID % GRID / (GRID - 1.0) - 0.5;
            int32_t face = k / (GRID * GRID);
            double w = face % 2 == 0 ? 0.5 : -0.5;
            stn_vec3 p = face < 2   ? stn_vec3_make(w, u, 0.3 * v)
                         : face < 4 ? stn_vec3_make(u, w, 0.3 * v)
                                    : stn_vec3_make(u, v, 0.3 * w);
            p = stn_pose_apply(&pose, p);
            points[count++] = stn_vec3_make((float)p.x, (float)p.y, (float)p.z);
        }
        stn_mesh *hull = hull_of(*state, points, count);
        assert_int_equal(hull->polytope->face_count, 6);
        assert_is_polytope(hull, 3e-6);
        assert_climbs_like_a_scan(hull);
        stn_mesh_release(hull);
    }
}

static double polygon_area(const stn_mesh *hull, const int32_t *corners, int32_t count) {
    stn_vec3 sum = stn_vec3_zero(), a = mesh_vertex_at(hull, hull->polytope->face_vertices[corners[0]]);
    for (int32_t i = 1; i + 1 < count; i++) {
        stn_vec3 b = stn_vec3_sub(mesh_vertex_at(hull, hull->polytope->face_vertices[corners[i]]), a);
        stn_vec3 c = stn_vec3_sub(mesh_vertex_at(hull, hull->polytope->face_vertices[corners[i + 1]]), a);
        sum = stn_vec3_add(sum, stn_vec3_cross(b, c));
    }
    return 0.5 * stn_vec3_norm(sum);
}

static void outlines_are_short_and_keep_the_area(void **state) {
    stn_mesh *hull = prism(*state, 300);
    const stn_polytope *p = hull->polytope;
    for (int32_t f = 0; f < p->face_count; f++) {
        int32_t corners = p->face_start[f + 1] - p->face_start[f], first = p->outline_start[f];
        int32_t count = p->outline_start[f + 1] - first;
        assert_int_equal(count, corners < STN_OUTLINE_MAX ? corners : STN_OUTLINE_MAX);
        if (corners == 300) {
            assert_true(polygon_area(hull, p->outline + first, count) > 0.96 * STN_PI);
        }
    }
    stn_mesh_release(hull);
}

static void scaled_and_mirrored_hulls_have_their_own_polytope(void **state) {
    stn_mesh *hull = blob(*state, 40, 200, stn_vec3_make(1.0, 1.0, 1.0), false), *scaled = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_scaled(hull, stn_vec3_make(2.0, -0.5, 1.0), &scaled, &err), err);
    assert_euler(scaled, 0);
    assert_is_polytope(scaled, 1e-6);
    assert_climbs_like_a_scan(scaled);
    stn_mesh_release(scaled);
    stn_mesh_release(hull);
}

static void directions_that_are_none_give_a_vertex(void **state) {
    stn_mesh *hull = blob(*state, 41, 200, stn_vec3_make(1.0, 1.0, 1.0), false);
    const double odd[] = {0.0, (double)NAN, (double)INFINITY, -(double)INFINITY, 1e-320, 1e308};
    for (int32_t i = 0; i < 6 * 6 * 6; i++) {
        int32_t v = stn_mesh_support(hull, stn_vec3_make(odd[i % 6], odd[i / 6 % 6], odd[i / 36]));
        assert_true(v >= 0 && v < hull->vertex_count);
    }
    stn_mesh_release(hull);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_in_one_plane_are_polygons),
        cmocka_unit_test(hulls_of_every_form_are_polytopes_and_climb_like_a_scan),
        cmocka_unit_test(faces_of_files_in_single_precision_are_whole),
        cmocka_unit_test(outlines_are_short_and_keep_the_area),
        cmocka_unit_test(scaled_and_mirrored_hulls_have_their_own_polytope),
        cmocka_unit_test(directions_that_are_none_give_a_vertex),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
