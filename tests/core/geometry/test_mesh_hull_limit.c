// SPDX-License-Identifier: Apache-2.0
#include "mesh_fixture.h"

/// Each point of a circle costs a pass over those before it: the work is bounded, not the number of points.
static void tens_of_thousands_of_corners_in_one_plane_are_refused(void **state) {
    enum { POINTS = 60000 };
    stn_vec3 *points = malloc(POINTS * sizeof *points);
    for (int32_t i = 0; i < POINTS; i++) {
        double angle = 2.0 * STN_PI * i / (POINTS - 1);
        points[i] = i > 0 ? stn_vec3_make(cos(angle), sin(angle), 0.0) : stn_vec3_make(0.0, 0.0, 1.0);
    }
    stn_mesh *mesh = mesh_of_points(*state, points, POINTS), *hull = mesh;
    stn_error err = {STN_OK, ""};
    assert_int_equal(stn_mesh_create_hull(mesh, &hull, &err), STN_ERR_UNSUPPORTED);
    assert_null(hull);
    assert_non_null(strstr(err.text, "one plane"));
    stn_mesh_release(mesh);
    free(points);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tens_of_thousands_of_corners_in_one_plane_are_refused),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
