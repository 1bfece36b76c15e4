// SPDX-License-Identifier: Apache-2.0
// The camera of a world as recorders follow it (recorder/common): what is in the picture, how it goes after what it
// follows and arrives where it is placed, and what a world refuses.
#include "common/camera_path.h"
#include "scenes.h"
#include "stn_random.h"

enum { STEPS = 200 };
static const double DT = 0.01, DEGREE = STN_PI / 180.0;

typedef struct watch {
    camera_path path;
    camera_shot shot[STEPS + 1];
    bool placed[STEPS + 1];
    int32_t count;
} watch;

static stn_status look(void *user, const stn_observation *o, stn_error *err) {
    (void)err;
    watch *w = user;
    w->placed[w->count] = camera_path_take(&w->path, o);
    w->shot[w->count++] = w->path.shot;
    return STN_OK;
}

/// Geometry 0: a box with the half edges 0.1, 0.2, 0.3 that flies along x at 1 m/s from the origin, without gravity;
/// geometry 1: a ball of radius 0.5 that stands at y = 40.
static stn_world *make(stn_context *context, watch *w) {
    stn_world_options options = stn_world_options_default();
    options.dt = DT;
    options.gravity = stn_vec3_zero();
    stn_world *world = scene_world(context, &options);
    stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.2, 0.3)));
    scene_body(world, "box", 1.0, &box, stn_vec3_zero());
    scene_ball(world, "ball", 1.0, 0.5, stn_vec3_make(0.0, 40.0, 0.0));
    stn_error err = {0};
    assert_ok(stn_world_compile(world, &err), err);
    const double v[12] = {1.0};
    assert_ok(stn_world_set_v(world, v, &err), err);
    *w = (watch){.count = 1}; // shot[k]: of step k
    assert_ok(stn_world_observe(world, look, w, &err), err);
    return world;
}

static void place(stn_world *world, const stn_camera *camera) {
    stn_error err = {0};
    assert_ok(stn_world_set_camera(world, camera, &err), err);
}

static stn_camera following(const int32_t *geometries, int32_t count) {
    stn_camera c = stn_camera_default();
    c.follow = geometries;
    c.follow_count = count;
    c.smoothing = 0.0;
    return c;
}

/// Where a camera sees a point: parts of the half width and half height, from the definition of its angles.
static void see(const camera_shot *s, double aspect, stn_vec3 point, double *x, double *y) {
    double d = camera_shot_distance(s, aspect), t = tan(0.5 * s->field_of_view), ce = cos(s->elevation);
    stn_vec3 back = {ce * cos(s->azimuth), ce * sin(s->azimuth), sin(s->elevation)};
    stn_vec3 eye = stn_vec3_mul_add(s->middle, d, back), to = stn_vec3_sub(point, eye);
    stn_vec3 right = {-sin(s->azimuth), cos(s->azimuth), 0.0}, up = stn_vec3_cross(back, right);
    double depth = -stn_vec3_dot(to, back);
    assert_true(depth > 0.0);
    *x = stn_vec3_dot(to, right) / (depth * t * aspect);
    *y = stn_vec3_dot(to, up) / (depth * t);
}

static void all_corners_are_in_the_picture_and_one_touches_the_margin(void **state) {
    (void)state;
    stn_random random = {7};
    for (int32_t i = 0; i < 200; i++) {
        double aspect = i % 2 == 0 ? 16.0 / 9.0 : 0.6;
        camera_shot s = {.middle = {random_real(&random), 2.0, -1.0},
                         .half = {fabs(random_real(&random)), fabs(random_real(&random)), fabs(random_real(&random))},
                         .azimuth = 4.0 * random_real(&random),
                         .elevation = i < 2 ? 0.5 * STN_PI : 1.5 * random_real(&random),
                         .field_of_view = 0.6 + 0.5 * random_real(&random),
                         .distance = 123.0,
                         .fitted = 1.0};
        double most = 0.0;
        for (int32_t k = 0; k < 8; k++) {
            stn_vec3 h = s.half, corner = {k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z};
            double x, y;
            see(&s, aspect, stn_vec3_add(s.middle, corner), &x, &y);
            most = fmax(most, fmax(fabs(x), fabs(y)));
        }
        assert_near(most, 11.0 / 12.0, 1e-9); // a margin of a twelfth
    }
}

static void it_stands_before_the_middle_of_what_it_follows(void **state) {
    watch w;
    stn_world *world = make(*state, &w);
    const int32_t both[] = {0, 1}, box[] = {0};
    stn_camera c = following(both, 2);
    place(world, &c);
    scene_steps(world, 1); // the box has gone 1 cm
    assert_near(w.shot[1].middle.y, 0.5 * (40.5 - 0.2), 1e-12);
    assert_near(w.shot[1].half.y, 0.5 * (40.5 + 0.2), 1e-12);
    assert_near(w.shot[1].half.x, 0.5 * (0.5 + 0.5), 1e-12);
    c = following(box, 1);
    c.distance = 7.0;
    place(world, &c);
    scene_steps(world, 1);
    assert_near(w.shot[2].middle.x, 2.0 * DT, 1e-12);
    assert_near(w.shot[2].half.z, 0.3, 1e-12);
    assert_near(camera_shot_distance(&w.shot[2], 1.5), 7.0, 1e-12);
    stn_world_destroy(world);
}

/// x' = (t - x)/T: behind a body at the speed u it stays by u T, and what it was off by falls as exp(-t/T).
static void it_lags_behind_by_speed_times_smoothing(void **state) {
    watch w;
    stn_world *world = make(*state, &w);
    const int32_t box[] = {0};
    stn_camera c = following(box, 1);
    c.smoothing = 0.2;
    place(world, &c);
    scene_steps(world, STEPS);
    double now = STEPS * DT, rest = exp(-DT / c.smoothing), lag = DT * rest / (1.0 - rest); // of steps, near u T
    assert_near(lag, 0.2, DT);
    assert_near(w.shot[STEPS].middle.x, now - lag * (1.0 - exp(-(now - DT) / c.smoothing)), 1e-9);
    assert_near(w.shot[STEPS].middle.y, 0.0, 1e-12);
    stn_world_destroy(world);
}

/// From azimuth 170 to -170 degrees the way is 20 degrees, not 340; half of it is done in half of the time.
static void it_arrives_after_its_seconds_by_the_shorter_way(void **state) {
    watch w;
    stn_world *world = make(*state, &w);
    stn_camera c = stn_camera_default();
    c.aimed = true;
    c.azimuth = 170.0 * DEGREE;
    place(world, &c);
    scene_steps(world, 1);
    c.azimuth = -170.0 * DEGREE;
    c.elevation = 5.0 * DEGREE;
    c.target = stn_vec3_make(0.0, 0.0, 2.0);
    c.seconds = 1.0;
    place(world, &c);
    scene_steps(world, 101); // the first of them is where it begins
    assert_near(w.shot[2].azimuth, 170.0 * DEGREE, 1e-12);
    assert_near(w.shot[52].azimuth, 180.0 * DEGREE, 1e-9);
    assert_near(w.shot[52].middle.z, 1.0, 1e-9);
    assert_near(w.shot[102].azimuth, 190.0 * DEGREE, 1e-9);
    assert_near(w.shot[102].elevation, 5.0 * DEGREE, 1e-9);
    stn_world_destroy(world);
}

static void nobody_placed_one(void **state) {
    watch w;
    stn_world *world = make(*state, &w);
    assert_null(stn_world_camera(world));
    scene_steps(world, 2);
    assert_false(w.placed[1]);
    stn_world_destroy(world);
}

static void refused(stn_world *world, stn_camera camera, const char *text) {
    stn_error err = {0};
    assert_int_equal(stn_world_set_camera(world, &camera, &err), STN_ERR_ARGUMENT);
    assert_string_equal(err.text, text);
    assert_null(stn_world_camera(world));
}

static void what_cannot_be_is_one_line(void **state) {
    watch w;
    stn_world *world = make(*state, &w);
    const int32_t none[] = {2};
    refused(world, following(none, 1), "camera: it is to follow geometry 2, the model has 2");
    stn_camera c = stn_camera_default();
    c.elevation = 2.0;
    refused(world, c, "camera: elevation = 2 rad must be between -1.5708 and 1.5708");
    c = stn_camera_default();
    c.distance = NAN;
    refused(world, c, "camera: distance = nan m must be between 0 and 1e+09");
    c = stn_camera_default();
    c.field_of_view = 0.0;
    refused(world, c, "camera: field_of_view = 0 rad must be between 0.0174533 and 2.0944");
    const int32_t box[] = {0};
    c = following(box, 1);
    c.aimed = true;
    refused(world, c, "camera: it looks at a target or follows something, not both");
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_corners_are_in_the_picture_and_one_touches_the_margin),
        cmocka_unit_test(it_stands_before_the_middle_of_what_it_follows),
        cmocka_unit_test(it_lags_behind_by_speed_times_smoothing),
        cmocka_unit_test(it_arrives_after_its_seconds_by_the_shorter_way),
        cmocka_unit_test(nobody_placed_one),
        cmocka_unit_test(what_cannot_be_is_one_line),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
