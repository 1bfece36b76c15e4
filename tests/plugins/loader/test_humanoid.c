// SPDX-License-Identifier: Apache-2.0
// Our humanoid is what its README says.
#include <stiction/dynamics.h>

#include "stn_random.h"
#include "urdf_fixture.h"

#define DEGREE (STN_PI / 180.0)
enum { JOINTS = 31 };

static const stn_model *load_humanoid(fixture *f) {
    return own_model(f, "humanoid/humanoid.urdf");
}

/// One row of de Leva's table 4, men: % of the body's mass; length [m], % of it from the first landmark to the centre
/// of mass, and radii of gyration about our x, y, z of a standing man. `start` [m] is where the first landmark lies
/// along the axis (z, of a foot x) of the first link's frame, `up` the direction to the second.
typedef struct segment {
    const char *links[6]; // without "left_" where both sides are meant
    double mass, length, centre, radius[3], start, up;
    bool sides;
} segment;

static const segment segments[] = {
    {{"head"}, 6.94, 0.2429, 50.02, {30.3, 31.5, 26.1}, 0.2429, -1.0, false},
    {{"chest", "neck_ball", "left_shoulder_ball", "left_shoulder_fork", "right_shoulder_ball", "right_shoulder_fork"},
     15.96,
     0.2421,
     50.66,
     {50.5, 32.0, 46.5},
     0.2421,
     -1.0,
     false},
    {{"abdomen"}, 16.33, 0.2155, 45.02, {48.2, 38.3, 46.8}, 0.2155, -1.0, false},
    {{"pelvis", "waist_ball", "left_hip_ball", "left_hip_fork", "right_hip_ball", "right_hip_fork"},
     11.17,
     0.1457,
     61.15,
     {61.5, 55.1, 58.7},
     0.1457,
     -1.0,
     false},
    {{"upper_arm", "elbow_ball"}, 2.71, 0.2817, 57.72, {28.5, 26.9, 15.8}, 0.0, -1.0, true},
    {{"forearm", "wrist_ball"}, 1.62, 0.2689, 45.74, {27.6, 26.5, 12.1}, 0.0, -1.0, true},
    {{"hand"}, 0.61, 0.0862, 79.00, {51.3, 62.8, 40.1}, 0.0, -1.0, true},
    {{"thigh"}, 14.16, 0.4222, 40.95, {32.9, 32.9, 14.9}, 0.0, -1.0, true},
    {{"shank", "ankle_ball"}, 4.33, 0.4403, 43.95, {25.1, 24.6, 10.2}, 0.0, -1.0, true},
    {{"foot"}, 1.37, 0.2581, 44.15, {12.4, 24.5, 25.7}, -0.0645, 1.0, true},
};

/// Mass of a segment's links in the frame of the first, in the posture of `k`.
static stn_mass mass_of(const fixture *f, const stn_kinematics *k, const segment *s, const char *side) {
    stn_mass sum = {0};
    stn_pose to_first = stn_pose_identity();
    for (int32_t i = 0; i < 6 && s->links[i] != NULL; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", side, s->links[i]);
        const stn_link *link = link_of(f, name);
        stn_pose pose = stn_pose_mul(&k->body_pose[link->body], &link->pose);
        if (i == 0) {
            to_first = stn_pose_inverse(&pose);
        }
        pose = stn_pose_mul(&to_first, &pose);
        stn_mass part = stn_mass_transform(&pose, &link->mass);
        sum = stn_mass_add(&sum, &part);
    }
    return sum;
}

static void check_segment(const fixture *f, const stn_kinematics *k, const segment *s, const char *side) {
    bool foot = strcmp(s->links[0], "foot") == 0;
    stn_mass m = mass_of(f, k, s, side);
    double along = s->start + s->up * s->centre / 100.0 * s->length;
    assert_near(m.mass, 0.73 * s->mass, 1e-9);
    assert_near(foot ? m.com.x : m.com.z, along, 1e-6); // the file has 6 digits after the point
    assert_near(foot ? m.com.z : m.com.x, foot ? -0.0679 / 2.0 : 0.0, 1e-6);
    assert_near(m.com.y, 0.0, 1e-6);
    for (int32_t i = 0; i < 3; i++) {
        double radius = s->radius[i] / 100.0 * s->length;
        for (int32_t j = 0; j < 3; j++) {
            assert_near(m.inertia.m[i][j], i == j ? m.mass * radius * radius : 0.0, 2e-6);
        }
    }
}

// Links between the axes of a joint are balls around the point where these meet: no posture changes a segment.
static void segments_have_the_published_masses_in_every_posture(void **state) {
    fixture *f = *state;
    const stn_model *m = load_humanoid(f);
    stn_random r = {5};
    stn_kinematics *k = NULL;
    double q[JOINTS], v[JOINTS] = {0.0};
    assert_ok(stn_kinematics_create(m, &k, &f->err), f->err);
    for (int32_t posture = 0; posture < 4; posture++) {
        for (int32_t j = 0; j < JOINTS; j++) {
            const stn_joint *joint = &m->joints[j];
            q[j] = posture == 0 ? 0.0 : joint->lower + 0.5 * (1.0 + random_real(&r)) * (joint->upper - joint->lower);
        }
        stn_kinematics_update(k, q, v);
        for (size_t i = 0; i < STN_COUNT(segments); i++) {
            check_segment(f, k, &segments[i], segments[i].sides ? "left_" : "");
            if (segments[i].sides) {
                check_segment(f, k, &segments[i], "right_");
            }
        }
    }
    stn_kinematics_destroy(k);
    double total = 0.0;
    for (int32_t i = 0; i < m->link_count; i++) {
        total += m->links[i].mass.mass;
    }
    assert_near(total, 73.0, 1e-9);
}

static stn_vec3 place_of(const fixture *f, const stn_kinematics *k, const char *name) {
    const stn_link *link = link_of(f, name);
    return stn_pose_mul(&k->body_pose[link->body], &link->pose).position;
}

static void body_has_the_published_lengths(void **state) {
    fixture *f = *state;
    const stn_model *m = load_humanoid(f);
    stn_kinematics *k = NULL;
    double q[JOINTS] = {0.0}, v[JOINTS] = {0.0};
    assert_ok(stn_kinematics_create(m, &k, &f->err), f->err);
    stn_kinematics_update(k, q, v);
    stn_vec3 hip = place_of(f, k, "left_thigh"), sole = place_of(f, k, "left_sole");
    stn_vec3 shoulder = place_of(f, k, "left_upper_arm"), tip = place_of(f, k, "left_fingertip");
    assert_near(hip.z - sole.z, 0.4222 + 0.4403 + 0.0679, 1e-12);
    assert_near(place_of(f, k, "left_foot").z - sole.z, 0.039 * 1.741, 5e-5);
    assert_near(place_of(f, k, "crown").z - hip.z, 0.6033 + 0.2429, 1e-12);
    assert_near(shoulder.z - hip.z, 0.5155, 1e-12);
    assert_near(shoulder.y - place_of(f, k, "right_upper_arm").y, 0.259 * 1.741, 2e-4);
    assert_near(shoulder.z - tip.z, 0.2817 + 0.2689 + 0.1879, 1e-12);
    assert_near(place_of(f, k, "right_fingertip").y, -tip.y, 1e-12);
    stn_kinematics_destroy(k);
}

static void drives_have_the_sizes_of_the_readme(void **state) {
    static const struct {
        const char *joint;
        double lower, upper, torque, speed; // deg, N m, rad/s
    } drives[] = {
        {"waist_roll", -35, 35, 220, 6},
        {"waist_pitch", -30, 75, 220, 6},
        {"waist_yaw", -45, 45, 220, 6},
        {"neck_yaw", -70, 70, 30, 6},
        {"neck_pitch", -55, 70, 30, 6},
        {"left_hip_yaw", -45, 45, 220, 12},
        {"left_hip_roll", -25, 45, 220, 12},
        {"left_hip_pitch", -125, 15, 220, 12},
        {"left_knee", 0, 130, 360, 12},
        {"left_ankle_pitch", -20, 50, 150, 12},
        {"left_ankle_roll", -25, 35, 75, 12},
        {"left_shoulder_pitch", -167, 62, 120, 10},
        {"left_shoulder_roll", -20, 184, 120, 10},
        {"left_shoulder_yaw", -69, 104, 120, 10},
        {"left_elbow", -143, 0, 120, 10},
        {"left_forearm_yaw", -76, 82, 30, 10},
        {"left_wrist_roll", -76, 75, 30, 10},
        {"left_wrist_pitch", -22, 36, 30, 10},
    };
    fixture *f = *state;
    assert_int_equal(load_humanoid(f)->joint_count, JOINTS);
    for (size_t i = 0; i < STN_COUNT(drives); i++) {
        const stn_joint *joint = joint_of(f, drives[i].joint);
        assert_near(joint->lower, drives[i].lower * DEGREE, 1e-15);
        assert_near(joint->upper, drives[i].upper * DEGREE, 1e-15);
        assert_near(joint->effort, drives[i].torque, 0.0);
        assert_near(joint->velocity, drives[i].speed, 0.0);
        assert_near(joint->damping, 0.01 * joint->effort / joint->velocity, 0.005 * joint->damping); // three digits
        assert_near(joint->reflected_inertia, 0.005 * joint->effort / joint->velocity,
                    0.005 * joint->reflected_inertia);
    }
}

/// The mirror image turns the other way about x and z.
static void right_side_mirrors_the_left(void **state) {
    fixture *f = *state;
    const stn_model *m = load_humanoid(f);
    int32_t pairs = 0;
    for (int32_t j = 0; j < JOINTS; j++) {
        const stn_joint *left = &m->joints[j];
        if (strncmp(left->name, "left_", 5) != 0) {
            continue;
        }
        char name[64];
        snprintf(name, sizeof name, "right_%s", left->name + 5);
        const stn_joint *right = joint_of(f, name);
        bool pitch = left->axis.y > 0.5;
        assert_near(right->lower, pitch ? left->lower : -left->upper, 1e-15);
        assert_near(right->upper, pitch ? left->upper : -left->lower, 1e-15);
        assert_near(right->effort, left->effort, 0.0);
        assert_near(right->reflected_inertia, left->reflected_inertia, 0.0);
        pairs++;
    }
    assert_int_equal(pairs, 13);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(segments_have_the_published_masses_in_every_posture, set_up, tear_down),
        cmocka_unit_test_setup_teardown(body_has_the_published_lengths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(drives_have_the_sizes_of_the_readme, set_up, tear_down),
        cmocka_unit_test_setup_teardown(right_side_mirrors_the_left, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
