// SPDX-License-Identifier: Apache-2.0
// Our iiwa 14 is what its README says.
#include <stiction/dynamics.h>

#include "urdf_fixture.h"

#define DEGREE (STN_PI / 180.0)

static void arm_has_the_published_axes(void **state) {
    static const double range[] = {170, 120, 170, 120, 170, 120, 175}, speed[] = {85, 85, 100, 75, 130, 135, 135};
    static const double torque[] = {320, 320, 176, 176, 110, 40, 40};
    const stn_model *m = own_model(*state, "iiwa14/iiwa14.urdf");
    assert_int_equal(m->joint_count, 7);
    for (int32_t j = 0; j < 7; j++) {
        const stn_joint *joint = &m->joints[j];
        double w = speed[j] * DEGREE;
        assert_near(joint->upper, range[j] * DEGREE, 1e-15);
        assert_near(joint->lower, -range[j] * DEGREE, 1e-15);
        assert_near(joint->effort, torque[j], 0.0);
        assert_near(joint->velocity, w, 1e-15);
        assert_near(joint->damping, 0.01 * torque[j] / w, 0.005 * joint->damping); // three digits in the file
        assert_near(joint->reflected_inertia, 0.015 * torque[j] / w, 0.005 * joint->reflected_inertia);
    }
}

// Upright the flange stands at 0.36 + 0.42 + 0.40 + 0.126 m; with A2 at 90 degrees the arm lies along +x.
static void arm_has_the_published_lengths(void **state) {
    fixture *f = *state;
    const stn_model *m = own_model(f, "iiwa14/iiwa14.urdf");
    stn_kinematics *k = NULL;
    double q[7] = {0.0}, v[7] = {0.0};
    assert_ok(stn_kinematics_create(m, &k, &f->err), f->err);
    const stn_link *flange = link_of(f, "iiwa14_flange");
    stn_kinematics_update(k, q, v);
    stn_pose pose = stn_pose_mul(&k->body_pose[flange->body], &flange->pose);
    assert_near(pose.position.z, 1.306, 1e-15);
    assert_near(pose.position.x, 0.0, 1e-15);
    q[1] = 90.0 * DEGREE;
    q[3] = -90.0 * DEGREE; // the elbow bends on, so that the forearm points down
    stn_kinematics_update(k, q, v);
    pose = stn_pose_mul(&k->body_pose[flange->body], &flange->pose);
    assert_near(pose.position.x, 0.42, 1e-15);
    assert_near(pose.position.z, 0.36 - 0.526, 1e-15);
    stn_kinematics_destroy(k);
}

/// The first visual of each link is the solid that its mass stands for.
static void masses_are_those_of_uniform_solids(void **state) {
    fixture *f = *state;
    const stn_model *m = own_model(f, "iiwa14/iiwa14.urdf");
    double total = 0.0;
    for (int32_t i = 0; i < 8; i++) {
        const stn_link *link = &m->links[i];
        const stn_geometry *solid = m->geometries;
        while (solid->link != i || !solid->visual) {
            solid++;
        }
        stn_mass own = {0};
        assert_ok(stn_shape_mass(&solid->shape, link->mass.mass, &own, &f->err), f->err);
        assert_near(link->mass.mass / stn_shape_volume(&solid->shape), 1318.0, 2.0); // kg/m^3, masses to a gram
        for (int32_t k = 0; k < 3; k++) {
            assert_near(link->mass.inertia.m[k][k], own.inertia.m[k][k], 1e-5 * own.inertia.m[k][k]);
        }
        total += link->mass.mass;
    }
    assert_near(total, 29.9, 1e-12);
}

static void paddle_arm_is_the_same_arm_with_a_paddle(void **state) {
    fixture *f = *state;
    stn_mass links[9];
    stn_joint joints[7];
    const stn_model *m = own_model(f, "iiwa14/iiwa14.urdf");
    for (int32_t i = 0; i < 9; i++) {
        links[i] = m->links[i].mass;
    }
    for (int32_t j = 0; j < 7; j++) {
        joints[j] = m->joints[j];
    }
    m = own_model(f, "iiwa14/iiwa14_paddle.urdf");
    assert_int_equal(m->link_count, 10);
    assert_int_equal(m->joint_count, 7);
    for (int32_t i = 0; i < 9; i++) {
        assert_memory_equal(&m->links[i].mass, &links[i], sizeof links[i]);
    }
    for (int32_t j = 0; j < 7; j++) {
        assert_memory_equal(&m->joints[j].origin, &joints[j].origin, sizeof joints[j].origin);
        assert_near(m->joints[j].upper, joints[j].upper, 0.0);
        assert_near(m->joints[j].effort, joints[j].effort, 0.0);
        assert_near(m->joints[j].damping, joints[j].damping, 0.0);
        assert_near(m->joints[j].reflected_inertia, joints[j].reflected_inertia, 0.0);
    }
    const stn_link *paddle = link_of(f, "paddle");
    stn_shape box = stn_shape_box(stn_vec3_make(0.01, 0.1, 0.05));
    stn_mass own = {0};
    assert_ok(stn_shape_mass(&box, 0.3, &own, &f->err), f->err);
    assert_near(paddle->mass.mass, 0.3, 0.0);
    for (int32_t k = 0; k < 3; k++) {
        assert_near(paddle->mass.inertia.m[k][k], own.inertia.m[k][k], 1e-9);
    }
}

// ---------------------------------------------------------------------------------------------------- clearance

/// Points on the skin of a sphere or capsule (its axis, with the radius kept apart) or on a cylinder.
typedef struct skin {
    stn_vec3 points[500];
    int32_t count;
    double radius;
} skin;

static void sample(const stn_geometry *g, const stn_pose *pose, skin *s) {
    bool cylinder = g->shape.type == STN_SHAPE_CYLINDER;
    s->count = 0;
    s->radius = cylinder ? 0.0 : g->shape.radius;
    for (int32_t i = 0; i <= 16; i++) {
        double z = g->shape.half_length * (i / 8.0 - 1.0);
        for (int32_t k = 0; k < (cylinder ? 24 : 1); k++) {
            double r = cylinder ? g->shape.radius : 0.0, angle = k * STN_PI / 12.0;
            s->points[s->count++] = stn_pose_apply(pose, stn_vec3_make(r * cos(angle), r * sin(angle), z));
        }
    }
}

static double clearance(const stn_kinematics *k, const stn_geometry *a, const stn_geometry *b) {
    static skin sa, sb;
    stn_pose pa = stn_pose_mul(&k->body_pose[a->body], &a->pose), pb = stn_pose_mul(&k->body_pose[b->body], &b->pose);
    double least = (double)INFINITY;
    sample(a, &pa, &sa);
    sample(b, &pb, &sb);
    for (int32_t i = 0; i < sa.count; i++) {
        for (int32_t j = 0; j < sb.count; j++) {
            least = fmin(least, stn_vec3_norm(stn_vec3_sub(sa.points[i], sb.points[j])));
        }
    }
    return least - sa.radius - sb.radius;
}

static void no_link_touches_another_while_one_joint_bends(void **state) {
    fixture *f = *state;
    const stn_model *m = own_model(f, "iiwa14/iiwa14.urdf");
    stn_kinematics *k = NULL;
    double q[7] = {0.0}, v[7] = {0.0}, least = (double)INFINITY;
    assert_ok(stn_kinematics_create(m, &k, &f->err), f->err);
    for (int32_t j = 1; j < 6; j += 2) { // A2, A4, A6; the others turn about the arm itself
        for (int32_t step = -12; step <= 12; step++) {
            q[j] = step / 12.0 * m->joints[j].upper;
            stn_kinematics_update(k, q, v);
            for (int32_t a = 0; a < m->geometry_count; a++) {
                for (int32_t b = 0; b < a; b++) {
                    if (stn_model_may_collide(m, a, b)) {
                        least = fmin(least, clearance(k, &m->geometries[a], &m->geometries[b]));
                    }
                }
            }
        }
        q[j] = 0.0;
    }
    print_message("least clearance %.1f mm\n", 1e3 * least);
    assert_true(least > 0.01);
    stn_kinematics_destroy(k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arm_has_the_published_axes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arm_has_the_published_lengths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(masses_are_those_of_uniform_solids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paddle_arm_is_the_same_arm_with_a_paddle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_link_touches_another_while_one_joint_bends, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
