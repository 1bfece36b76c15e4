// SPDX-License-Identifier: Apache-2.0
// Shapes of meshes: boxes around them, support points, checks.
#include "mesh_fixture.h"

static bool holds(const stn_aabb *box, stn_vec3 p, double tolerance) {
    return p.x >= box->lower.x - tolerance && p.x <= box->upper.x + tolerance && p.y >= box->lower.y - tolerance &&
           p.y <= box->upper.y + tolerance && p.z >= box->lower.z - tolerance && p.z <= box->upper.z + tolerance;
}

/// The smallest box around the vertices, each coordinate on its own.
static stn_aabb box_of_vertices(const stn_mesh *mesh, const stn_pose *pose, double margin) {
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        stn_vec3 p = stn_pose_apply(pose, mesh_vertex_at(mesh, v));
        const double x[3] = {p.x, p.y, p.z};
        for (int32_t i = 0; i < 3; i++) {
            lower[i] = fmin(lower[i], x[i] - margin);
            upper[i] = fmax(upper[i], x[i] + margin);
        }
    }
    stn_aabb box = {{lower[0], lower[1], lower[2]}, {upper[0], upper[1], upper[2]}};
    return box;
}

/// Of a surface: those of the box around it in its own frame. Of a hull: none smaller.
static void boxes_of_posed_meshes_hold_every_vertex(void **state) {
    stn_random r = {10};
    soup s = {0};
    soup_add_l_solid(&s);
    stn_mesh *mesh = soup_mesh(&s, *state), *hull = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    stn_shape shapes[] = {stn_shape_mesh(mesh), stn_shape_mesh(hull)},
              around = stn_shape_box(stn_vec3_make(1.0, 1.0, 1.5));
    for (int32_t i = 0; i < 200; i++) {
        stn_pose pose = random_pose(&r, 5.0), centre = pose;
        double margin = 0.1 * (i % 3);
        centre.position = stn_pose_apply(&pose, stn_vec3_make(1.0, 1.0, 1.5));
        const stn_aabb expected[] = {stn_shape_aabb(&around, &centre, margin), box_of_vertices(hull, &pose, margin)};
        for (int32_t k = 0; k < STN_COUNT(shapes); k++) {
            stn_aabb box = stn_shape_aabb(&shapes[k], &pose, margin), tight = stn_shape_aabb(&shapes[k], &pose, 0.0);
            assert_near(stn_vec3_norm(stn_vec3_sub(box.lower, expected[k].lower)), 0.0, 1e-14);
            assert_near(stn_vec3_norm(stn_vec3_sub(box.upper, expected[k].upper)), 0.0, 1e-14);
            for (int32_t v = 0; v < shapes[k].mesh->vertex_count; v++) {
                assert_true(holds(&tight, stn_pose_apply(&pose, mesh_vertex_at(shapes[k].mesh, v)), 1e-14));
            }
        }
    }
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
}

static void support_points_of_meshes_are_furthest_vertices(void **state) {
    stn_random r = {11};
    soup s = {0};
    soup_add_sphere(&s, 3);
    stn_mesh *mesh = soup_mesh(&s, *state), *hull = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    stn_shape a = stn_shape_mesh(mesh), b = stn_shape_mesh(hull);
    for (int32_t i = 0; i < 200; i++) {
        stn_vec3 d = stn_vec3_scale(random_size(&r, 1e-6, 1e6), random_unit(&r));
        double along = stn_vec3_dot(d, stn_shape_support(&a, d));
        assert_near(stn_vec3_dot(d, stn_shape_support(&b, d)), along, 1e-15 * along);
        for (int32_t v = 0; v < mesh->vertex_count; v++) {
            assert_true(stn_vec3_dot(d, mesh_vertex_at(mesh, v)) <= along);
        }
    }
    assert_true(stn_vec3_finite(stn_shape_support(&b, stn_vec3_zero())));
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
}

/// A surface that is drawn only may lack its triangles: an empty box, which meets nothing.
static void a_mesh_that_is_not_loaded_is_empty(void **state) {
    (void)state;
    stn_shape shape = stn_shape_mesh(NULL);
    stn_pose pose = stn_pose_identity();
    stn_error err = {STN_OK, ""};
    assert_ok(stn_shape_check(&shape, &err), err);
    stn_aabb box = stn_shape_aabb(&shape, &pose, 1.0);
    assert_true(box.lower.x > box.upper.x);
    assert_near(stn_vec3_norm(stn_shape_support(&shape, stn_vec3_make(1.0, 0.0, 0.0))), 0.0, 0.0);
    stn_mass mass;
    assert_int_equal(stn_shape_mass(&shape, 1.0, &mass, &err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "not loaded"));
}

static void a_convex_shape_needs_a_hull(void **state) {
    soup s = {0};
    soup_add_cube(&s, 1.0);
    stn_mesh *mesh = soup_mesh(&s, *state);
    stn_shape shape = {.type = STN_SHAPE_CONVEX, .mesh = mesh};
    stn_error err = {STN_OK, ""};
    assert_int_equal(stn_shape_check(&shape, &err), STN_ERR_ARGUMENT);
    stn_mesh_release(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_of_posed_meshes_hold_every_vertex),
        cmocka_unit_test(support_points_of_meshes_are_furthest_vertices),
        cmocka_unit_test(a_mesh_that_is_not_loaded_is_empty),
        cmocka_unit_test(a_convex_shape_needs_a_hull),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
