// SPDX-License-Identifier: Apache-2.0
// Motions through samples: their rates, what they meet exactly, where they rest, which samples are refused.
#include "stn_test.h"

#include <string.h>

#include "common/motion.h"
#include "stn_random.h"
#include "stn_random_pose.h"

enum { SAMPLES = 9 };

typedef struct samples {
    double time[SAMPLES];
    stn_pose pose[SAMPLES];
    stn_spatial velocity[SAMPLES];
    stn_motion motion;
} samples;

static stn_vec3 vec(double x, double y, double z) {
    return stn_vec3_make(x, y, z);
}

static stn_pose at(double x, double y, double z) {
    stn_pose pose = stn_pose_identity();
    pose.position = vec(x, y, z);
    return pose;
}

static void random_samples(samples *s, uint64_t seed) {
    stn_random r = {seed};
    double t = -1.0;
    for (int32_t i = 0; i < SAMPLES; i++) {
        t += random_between(&r, 0.1, 0.7);
        s->time[i] = t;
        stn_vec3 turn =
            vec(random_between(&r, -1.0, 1.0), random_between(&r, -1.0, 1.0), random_between(&r, -1.0, 1.0));
        s->pose[i] = at(random_between(&r, -1.0, 1.0), random_between(&r, -1.0, 1.0), random_between(&r, -1.0, 1.0));
        s->pose[i].rotation = stn_quat_matrix(stn_quat_exp(turn));
        s->velocity[i].linear = vec(random_between(&r, -1.0, 1.0), random_between(&r, -1.0, 1.0), 0.5);
        s->velocity[i].angular = vec(random_between(&r, -2.0, 2.0), random_between(&r, -2.0, 2.0), 0.5);
    }
    s->motion = (stn_motion){.count = SAMPLES, .time = s->time, .pose = s->pose};
}

static stn_vec3 turned(const stn_mat3 *from, const stn_mat3 *to) { // rotation vector in the world
    stn_mat3 back = stn_mat3_transpose(from), d = stn_mat3_mul(to, &back);
    return stn_quat_log(stn_quat_from_matrix(&d));
}

static void assert_vectors(stn_vec3 a, stn_vec3 b, double tolerance) {
    double off = stn_vec3_norm(stn_vec3_sub(a, b));
    if (!(off <= tolerance)) {
        fail_msg("(%g, %g, %g) and (%g, %g, %g) are %g apart", a.x, a.y, a.z, b.x, b.y, b.z, off);
    }
}

/// Velocities are the rates of the poses by central differences, everywhere and across samples, where they do not jump.
static void check_rates(const stn_motion *motion, double from, double to) {
    const double h = 1e-5;
    for (int32_t i = 1; i < 400; i++) {
        double t = from + (to - from) * i / 400.0;
        stn_pose before, after, pose;
        stn_spatial v, ignored;
        stn_motion_at(motion, t - h, &before, &ignored);
        stn_motion_at(motion, t + h, &after, &ignored);
        stn_motion_at(motion, t, &pose, &v);
        assert_vectors(stn_vec3_scale(0.5 / h, stn_vec3_sub(after.position, before.position)), v.linear, 2e-3);
        assert_vectors(stn_vec3_scale(0.5 / h, turned(&before.rotation, &after.rotation)), v.angular, 2e-3);
    }
    for (int32_t i = 0; i < motion->count; i++) {
        stn_pose pose;
        stn_spatial before, after;
        stn_motion_at(motion, motion->time[i] - 1e-10, &pose, &before);
        assert_vectors(pose.position, motion->pose[i].position, 1e-7);
        stn_motion_at(motion, motion->time[i] + 1e-10, &pose, &after);
        assert_vectors(turned(&pose.rotation, &motion->pose[i].rotation), vec(0.0, 0.0, 0.0), 1e-7);
        bool inside = motion->velocity == NULL || (i > 0 && i < motion->count - 1);
        if (inside) {
            assert_vectors(before.linear, after.linear, 1e-6);
            assert_vectors(before.angular, after.angular, 1e-6);
        }
    }
}

static void motion_through_samples_is_smooth_and_its_velocity_its_rate(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        samples s;
        random_samples(&s, seed);
        assert_int_equal(stn_motion_check(&s.motion, NULL), STN_OK);
        check_rates(&s.motion, s.time[0] - 0.5, s.time[SAMPLES - 1] + 0.5);
        s.motion.velocity = s.velocity;
        check_rates(&s.motion, s.time[0] + 2e-5, s.time[SAMPLES - 1] - 2e-5);
        for (int32_t i = 0; i < SAMPLES; i++) {
            stn_pose pose;
            stn_spatial v;
            stn_motion_at(&s.motion, s.time[i], &pose, &v);
            assert_vectors(v.linear, s.velocity[i].linear, 1e-12);
            assert_vectors(v.angular, s.velocity[i].angular, 1e-12);
        }
        s.motion.velocity = NULL;
        s.motion.periodic = true;
        s.pose[SAMPLES - 1] = s.pose[0];
        assert_int_equal(stn_motion_check(&s.motion, NULL), STN_OK);
        check_rates(&s.motion, s.time[0] - 3.0, s.time[SAMPLES - 1] + 3.0);
    }
}

/// A screw at a steady rate, sampled unevenly: between the second and the last but one it is met exactly.
static void a_steady_screw_is_met_exactly(void **state) {
    (void)state;
    samples s;
    random_samples(&s, 3);
    stn_vec3 w = vec(0.6, -0.3, 1.1), u = vec(0.2, 0.4, -0.1);
    for (int32_t i = 0; i < SAMPLES; i++) {
        s.pose[i] = at(u.x * s.time[i], u.y * s.time[i], u.z * s.time[i]);
        s.pose[i].rotation = stn_quat_matrix(stn_quat_exp(stn_vec3_scale(s.time[i], w)));
    }
    for (int32_t i = 0; i <= 100; i++) {
        double t = s.time[1] + (s.time[SAMPLES - 2] - s.time[1]) * i / 100.0;
        stn_pose pose;
        stn_spatial v;
        stn_mat3 exact = stn_quat_matrix(stn_quat_exp(stn_vec3_scale(t, w)));
        stn_motion_at(&s.motion, t, &pose, &v);
        assert_vectors(pose.position, stn_vec3_scale(t, u), 1e-14);
        assert_vectors(turned(&exact, &pose.rotation), vec(0.0, 0.0, 0.0), 1e-14);
        assert_vectors(v.linear, u, 1e-13);
        assert_vectors(v.angular, w, 1e-13);
    }
}

/// Samples 3 and 4 are at one place, 6 and 7 have one orientation: there it stands, and there it does not turn.
static void between_equal_samples_a_motion_rests(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        samples s;
        random_samples(&s, seed);
        s.pose[4].position = s.pose[3].position;
        s.pose[7].rotation = s.pose[6].rotation;
        for (int32_t i = 0; i <= 20; i++) {
            stn_pose pose;
            stn_spatial v;
            stn_motion_at(&s.motion, s.time[3] + (s.time[4] - s.time[3]) * i / 20.0, &pose, &v);
            assert_vectors(pose.position, s.pose[3].position, 1e-15);
            assert_vectors(v.linear, vec(0.0, 0.0, 0.0), 0.0);
            stn_motion_at(&s.motion, s.time[6] + (s.time[7] - s.time[6]) * i / 20.0, &pose, &v);
            assert_vectors(turned(&s.pose[6].rotation, &pose.rotation), vec(0.0, 0.0, 0.0), 1e-14);
            assert_vectors(v.angular, vec(0.0, 0.0, 0.0), 1e-13);
        }
        check_rates(&s.motion, s.time[0] - 0.5, s.time[SAMPLES - 1] + 0.5);
    }
}

static void wrong_samples_are_named(void **state) {
    (void)state;
    samples s;
    random_samples(&s, 5);
    s.time[4] = s.time[3];
    assert_error(stn_motion_check(&s.motion, &said), STN_ERR_ARGUMENT, "sample 5: its time");
    random_samples(&s, 5);
    s.pose[2].position.y = NAN;
    assert_error(stn_motion_check(&s.motion, &said), STN_ERR_ARGUMENT,
                 "sample 3: its time, pose and velocity must be finite");
    random_samples(&s, 5);
    s.pose[0].rotation = stn_mat3_identity();
    s.pose[1].rotation = stn_quat_matrix(stn_quat_exp(vec(0.0, STN_PI, 0.0)));
    assert_error(stn_motion_check(&s.motion, &said), STN_ERR_ARGUMENT, "sample 2: is half a turn");
    random_samples(&s, 5);
    s.motion.periodic = true;
    assert_error(stn_motion_check(&s.motion, &said), STN_ERR_ARGUMENT, "they must be one");
    s.motion.count = 0;
    assert_error(stn_motion_check(&s.motion, &said), STN_ERR_ARGUMENT, "at least one");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motion_through_samples_is_smooth_and_its_velocity_its_rate),
        cmocka_unit_test(a_steady_screw_is_met_exactly),
        cmocka_unit_test(between_equal_samples_a_motion_rests),
        cmocka_unit_test(wrong_samples_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
