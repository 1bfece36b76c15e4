// SPDX-License-Identifier: Apache-2.0
// Camera and shadow map of recorder/png: where points land, what fits into a picture, where light comes through.
#include <stdlib.h>

#include "picture.h"
#include "stn_random_pose.h"
#include "stn_test.h"

typedef struct cloud {
    stn_vec3 points[12];
} cloud;

static double cloud_reach(const void *points, stn_vec3 direction) {
    const cloud *c = points;
    double reach = -INFINITY;
    for (int32_t i = 0; i < STN_COUNT(c->points); i++) {
        reach = fmax(reach, stn_vec3_dot(c->points[i], direction));
    }
    return reach;
}

static camera camera_at(double azimuth, double elevation) {
    return (camera){.width = 400, .height = 300, .azimuth = azimuth, .elevation = elevation, .field_of_view = 0.6};
}

/// Where a camera at `eye` that looks at `target` sees a point, from cross products alone [samples from the middle].
static void look_at(stn_vec3 eye, stn_vec3 target, double scale, stn_vec3 point, double *x, double *y) {
    stn_vec3 up = {0.0, 0.0, 1.0}, forward = stn_vec3_normalize_or(stn_vec3_sub(target, eye), up);
    stn_vec3 right = stn_vec3_normalize_or(stn_vec3_cross(forward, up), up), over = stn_vec3_cross(right, forward);
    stn_vec3 d = stn_vec3_sub(point, eye);
    *x = scale * stn_vec3_dot(d, right) / stn_vec3_dot(d, forward);
    *y = -scale * stn_vec3_dot(d, over) / stn_vec3_dot(d, forward);
}

static void a_corner_lands_where_a_camera_on_its_orbit_sees_it(void **state) {
    (void)state;
    stn_random random = {21};
    for (int32_t i = 0; i < 50; i++) {
        double a = 3.0 * random_real(&random), e = 1.4 * random_real(&random), d = 5.0;
        camera c = camera_at(a, e);
        c.distance = d;
        c.aimed = true;
        c.target = stn_vec3_make(random_real(&random), random_real(&random), random_real(&random));
        view v = camera_view(&c, cloud_reach, NULL, stn_vec3_zero(), 1.0);
        stn_vec3 eye = {c.target.x + d * cos(e) * cos(a), c.target.y + d * cos(e) * sin(a), c.target.z + d * sin(e)};
        assert_true(stn_vec3_norm(stn_vec3_sub(v.origin, eye)) < 1e-12);
        assert_near(v.scale, SAMPLES * 150.0 / tan(0.3), 1e-9);
        stn_vec3 p = {random_real(&random), random_real(&random), random_real(&random)};
        double x, y;
        look_at(eye, c.target, v.scale, p, &x, &y);
        stn_vec3 at = stn_mat3_apply(&v.axes, stn_vec3_sub(p, v.origin));
        assert_near(v.scale * at.x / at.z, x, 1e-9);
        assert_near(-v.scale * at.y / at.z, y, 1e-9);
    }
}

static void everything_fits_and_touches_two_opposite_margins(void **state) {
    (void)state;
    stn_random random = {31};
    for (int32_t i = 0; i < 200; i++) {
        cloud points;
        for (int32_t k = 0; k < STN_COUNT(points.points); k++) {
            points.points[k] =
                stn_vec3_make(4.0 + random_real(&random), 2.0 * random_real(&random), 0.3 * random_real(&random));
        }
        camera c = camera_at(3.0 * random_real(&random), i == 0 ? 0.5 * STN_PI : 1.5 * random_real(&random));
        view v = camera_view(&c, cloud_reach, &points, stn_vec3_make(4.0, 0.0, 0.0), 3.0);
        double side[4] = {0.0, 0.0, 0.0, 0.0}; // right, left, up, down, of the half picture
        for (int32_t k = 0; k < STN_COUNT(points.points); k++) {
            stn_vec3 at = stn_mat3_apply(&v.axes, stn_vec3_sub(points.points[k], v.origin));
            assert_true(at.z > v.near);
            double x = v.scale * at.x / at.z / (0.5 * SAMPLES * c.width);
            double y = v.scale * at.y / at.z / (0.5 * SAMPLES * c.height);
            side[0] = fmax(side[0], x);
            side[1] = fmax(side[1], -x);
            side[2] = fmax(side[2], y);
            side[3] = fmax(side[3], -y);
        }
        double across = fmin(side[0], side[1]), along = fmin(side[2], side[3]);
        for (int32_t k = 0; k < 4; k++) {
            assert_true(side[k] <= 0.93 + 1e-12);
        }
        assert_near(fmax(across, along), 0.93, 1e-9); // no nearer view holds them
    }
}

static void what_cannot_be_fitted_is_seen_from_three_radii(void **state) {
    (void)state;
    camera c = camera_at(0.0, 0.0);
    view v = camera_view(&c, cloud_reach, NULL, stn_vec3_zero(), 0.0); // nothing there: three metres
    assert_near(v.origin.x, 3.0, 1e-12);
    cloud points = {{{0.0, 0.0, 0.0}}};
    c.aimed = true;
    c.target = stn_vec3_make(100.0, 0.0, 0.0); // behind the view that would hold the points
    v = camera_view(&c, cloud_reach, &points, stn_vec3_zero(), 2.0);
    assert_near(v.origin.x, 106.0, 1e-12);
}

static void a_ball_fills_the_shadow_map_but_for_a_rim(void **state) {
    (void)state;
    stn_random random = {4};
    for (int32_t i = 0; i < 20; i++) {
        stn_vec3 to_light = random_unit(&random), centre = {1.0, 2.0, 3.0};
        view v = camera_light_view(to_light, centre, 2.0, 1024);
        stn_vec3 at = stn_mat3_apply(&v.axes, stn_vec3_sub(stn_vec3_mul_add(centre, 2.0, to_light), v.origin));
        assert_near(at.x, 0.0, 1e-12);
        assert_near(at.y, 0.0, 1e-12);
        assert_near(view_nearness(&v, at.z), 0.75, 1e-12); // the ball is from a quarter to three quarters
        assert_near(2.0 * v.scale, 0.49 * 1024, 1e-9);
    }
}

/// Half of the map is filled at the depth of the light's middle. Below it the light comes in over three texels, evenly:
/// the moving box filter.
static void the_edge_of_a_shadow_is_a_ramp_of_three_texels(void **state) {
    (void)state;
    float *map = calloc((size_t)SHADOW_SIZE * SHADOW_SIZE, sizeof *map);
    assert_non_null(map);
    stn_vec3 up = {0.0, 0.0, 1.0};
    light l = {.direction = up, .view = camera_light_view(up, stn_vec3_zero(), 2.0, SHADOW_SIZE)};
    l.shadow = (raster){.width = SHADOW_SIZE, .row_count = SHADOW_SIZE, .nearness = map};
    l.texel = 1.0 / l.view.scale;
    for (int32_t axis = 0; axis < 2; axis++) { // filled where right or up is negative
        for (int32_t i = 0; i < SHADOW_SIZE * SHADOW_SIZE; i++) {
            bool filled = axis == 0 ? i % SHADOW_SIZE < SHADOW_SIZE / 2 : i / SHADOW_SIZE >= SHADOW_SIZE / 2;
            map[i] = filled ? 0.5f : 0.0f;
        }
        stn_vec3 along = {l.view.axes.m[axis][0], l.view.axes.m[axis][1], l.view.axes.m[axis][2]};
        for (int32_t k = -30; k <= 30; k++) {
            double offset = 0.1 * k;
            stn_vec3 below = stn_vec3_mul_add(stn_vec3_make(0.0, 0.0, -0.5), offset * l.texel, along);
            stn_vec3 above = stn_vec3_mul_add(stn_vec3_make(0.0, 0.0, 0.5), offset * l.texel, along);
            double expected = fmin(fmax(0.5 + offset / 3.0, 0.0), 1.0);
            assert_near((double)light_reaching(&l, below, 1.0f), expected, 1e-5);
            assert_near((double)light_reaching(&l, above, 1.0f), 1.0, 1e-6);
            assert_near((double)light_reaching(&l, above, -0.1f), 0.0, 0.0);
        }
    }
    assert_near((double)light_reaching(&l, stn_vec3_make(-5.0, -5.0, -1.0), 1.0f), 1.0, 0.0); // outside of the map
    free(map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_corner_lands_where_a_camera_on_its_orbit_sees_it),
        cmocka_unit_test(everything_fits_and_touches_two_opposite_margins),
        cmocka_unit_test(what_cannot_be_fitted_is_seen_from_three_radii),
        cmocka_unit_test(a_ball_fills_the_shadow_map_but_for_a_rim),
        cmocka_unit_test(the_edge_of_a_shadow_is_a_ramp_of_three_texels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
