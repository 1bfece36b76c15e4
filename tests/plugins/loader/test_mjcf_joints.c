// SPDX-License-Identifier: Apache-2.0
// MuJoCo's XML: joints and chains of them, the same robot written as URDF, actuators, joints that follow others,
// keyframes.
#include "stn_random_pose.h"

#include "mjcf_fixture.h"
#include "stn_joined.h"

static void a_hinge_turns_about_its_point_from_the_pose_that_is_drawn(void **state) {
    fixture *f = *state;
    double q = 1.2, ref = 30.0 * STN_PI / 180.0, turn = q - ref;
    good_mjcf(f, MUJOCO(WORLD("<body name='a' pos='0 0 5'>" SOLID
                              "<joint name='j' pos='1 0 0' axis='0 0 2' ref='30'/></body>")));
    assert_int_equal(joint_of(f, "j")->type, STN_JOINT_CONTINUOUS);
    expect_pose(f, "a", &q, 1.0 - cos(turn), -sin(turn), 5.0, 0.0, 0.0, turn);
    expect_pose(f, "a", &ref, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0);
}

static void a_slide_moves_along_its_axis_from_the_pose_that_is_drawn(void **state) {
    fixture *f = *state;
    double q = 0.7;
    good_mjcf(f, MUJOCO(WORLD("<body name='a' euler='0 0 90'>" SOLID
                              "<joint name='j' type='slide' pos='1 2 3' axis='2 0 0' ref='0.2'/></body>")));
    expect_pose(f, "a", &q, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5 * STN_PI);
}

static void a_ball_turns_about_its_point(void **state) {
    fixture *f = *state;
    double q[4] = {cos(0.3), 0.0, 0.0, sin(0.3)};
    good_mjcf(f, MUJOCO(WORLD("<body name='a'>" SOLID "<joint name='j' type='ball' pos='0 1 0' damping='3'/></body>")));
    assert_int_equal(joint_of(f, "j")->type, STN_JOINT_BALL);
    assert_near(joint_of(f, "j")->damping, 3.0, 0.0);
    expect_pose(f, "a", q, sin(0.6), 1.0 - cos(0.6), 0.0, 0.0, 0.0, 0.6);
}

static void a_free_body_moves_in_the_world(void **state) {
    fixture *f = *state;
    double q[7] = {1.0, 2.0, 3.0, cos(0.2), 0.0, 0.0, sin(0.2)};
    good_mjcf(f,
              MUJOCO(WORLD("<geom size='1'/><body name='a' pos='0 0 1' euler='0 0 90'><freejoint/>" SOLID "</body>")));
    expect_pose(f, "a", q, -2.0, 1.0, 4.0, 0.0, 0.0, 0.5 * STN_PI + 0.4); // from where it is drawn
}

static void joints_of_one_body_act_one_after_the_other(void **state) {
    fixture *f = *state;
    double q[3] = {0.3, 0.5, -0.4};
    const stn_model *m =
        good_mjcf(f, MUJOCO(WORLD("<body name='a'>" SOLID "<joint axis='0 0 1'/><joint type='slide' axis='1 0 0'/>"
                                  "<joint axis='0 0 1' pos='0 2 0'/></body>")));
    assert_int_equal(m->nv, 3);
    stn_vec3 p = {0.5 + 2.0 * sin(-0.4), 2.0 - 2.0 * cos(-0.4),
                  0.0}; // about (0, 2), then along x, then about the origin
    expect_pose(f, "a", q, cos(0.3) * p.x - sin(0.3) * p.y, sin(0.3) * p.x + cos(0.3) * p.y, 0.0, 0.0, 0.0, -0.1);
}

static void forces_and_limits_of_joints_are_read(void **state) {
    fixture *f = *state;
    double d = STN_PI / 180.0;
    good_mjcf(f, MUJOCO(WORLD("<body name='a'>" SOLID
                              "<joint name='h' range='-30 60' damping='1' frictionloss='2' armature='3' stiffness='4' "
                              "springref='90' actuatorfrcrange='-5 6'/>"
                              "<joint name='s' type='slide' range='-1 2' springref='0.5' stiffness='7'/>"
                              "<joint name='off' range='-1 2' limited='false'/></body>")));
    const stn_joint *h = joint_of(f, "h"), *s = joint_of(f, "s");
    assert_int_equal(h->type, STN_JOINT_REVOLUTE);
    assert_near(h->lower, -30.0 * d, 1e-15);
    assert_near(h->upper, 60.0 * d, 1e-15);
    assert_near(h->damping, 1.0, 0.0);
    assert_near(h->friction, 2.0, 0.0);
    assert_near(h->reflected_inertia, 3.0, 0.0);
    assert_near(h->stiffness, 4.0, 0.0);
    assert_near(h->rest, 0.5 * STN_PI, 1e-15);
    assert_near(h->effort, 6.0, 0.0);
    assert_near(s->lower, -1.0, 0.0);
    assert_near(s->upper, 2.0, 0.0);
    assert_near(s->rest, 0.5, 0.0);
    assert_int_equal(joint_of(f, "off")->type, STN_JOINT_CONTINUOUS);
    load_mjcf(f,
              MUJOCO("<compiler autolimits='false'/>" WORLD("<body name='a'>" SOLID "<joint range='-1 1'/></body>")));
    expect_finding(f, STN_SEVERITY_WARNING, "limit", 2, "joint a_joint", "unlimited");
    assert_int_equal(f->list.warning_count, 1);
}

// ------------------------------------------------------------------------------------------- the same robot as URDF

#define PART(name, mass, x, i)                                                                                   \
    "<link name='" name "'><inertial><origin xyz='" x "' rpy='0.1 0.2 0.3'/><mass value='" mass "'/><inertia " i \
    " ixy='0' ixz='0' iyz='0'/></inertial></link>"
#define HOLLOW(name) "<link name='" name "'/>"
#define HANG(name, type, parent, child, xyz, rpy, axis, more)                                                      \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child "'/><origin xyz='" xyz \
    "' rpy='" rpy "'/><axis xyz='" axis "'/>" more "</joint>"

static const char twin_urdf[] = "<robot name='m'>" PART("a", "2", "0.1 0 0.2", "ixx='0.2' iyy='0.3' izz='0.25'")
    HOLLOW("b_part1") PART("b", "1.5", "0 0.1 0", "ixx='0.1' iyy='0.11' izz='0.12'") HOLLOW("c_part1") HOLLOW("c_part2")
        PART("c", "1", "0.05 0 0", "ixx='0.05' iyy='0.06' izz='0.07'")
            PART("d", "0.5", "0 0 0.1", "ixx='0.02' iyy='0.03' izz='0.04'")
                HANG("b1", "continuous", "a", "b_part1", "0.2 0 0.5", "0.4 -0.3 0.2", "0 1 0", "")
                    HANG("b2", "continuous", "b_part1", "b", "0 0 0", "0 0 0", "1 1 0", "")
                        HANG("c1", "continuous", "b", "c_part1", "0.1 0.2 0.6", "0 0 0", "0 0 1", "")
                            HANG("c2", "prismatic", "c_part1", "c_part2", "0 0 0", "0 0 0", "1 0 0",
                                 "<limit lower='-1' upper='1' effort='1' velocity='1'/>")
                                HANG("c", "fixed", "c_part2", "c", "-0.1 -0.2 0", "0 0 0", "1 0 0", "")
                                    HANG("d1", "ball", "c", "d", "0 0.3 0", "0 0.5 0", "1 0 0", "") "</robot>";

#define WEIGHT(mass, x, i) "<inertial mass='" mass "' pos='" x "' euler='0.1 0.2 0.3' diaginertia='" i "'/>"

static const char twin_mjcf[] = MUJOCO(
    "<compiler angle='radian' eulerseq='XYZ'/>" WORLD("<body name='a'><freejoint/>" WEIGHT("2", "0.1 0 0.2", "0.2 0.3 0.25") "<body name='b' pos='0.2 0 0.5' euler='0.4 -0.3 0.2'>" WEIGHT(
        "1.5", "0 0.1 0",
        "0.1 0.11 0.12") "<joint name='b1' axis='0 1 0'/><joint name='b2' axis='1 1 0'/>"
                         "<body name='c' pos='0 0 0.6'>" WEIGHT(
                             "1", "0.05 0 0",
                             "0.05 0.06 0.07") "<joint name='c1' axis='0 0 1' pos='0.1 0.2 0'/><joint name='c2' "
                                               "type='slide' axis='1 0 0' range='-1 1'/>"
                                               "<body name='d' pos='0 0.3 0' euler='0 0.5 0'>" WEIGHT(
                                                   "0.5", "0 0 0.1",
                                                   "0.02 0.03 0.04") "<joint name='d1' "
                                                                     "type='ball'/></body></body></body></body>"));

enum { TWIN_Q = 15, TWIN_V = 13, CONFIGURATIONS = 20 };

typedef struct mechanics {
    double M[TWIN_V * TWIN_V], bias[TWIN_V];
    stn_pose pose[4];
} mechanics;

static void choose_state(stn_random *r, double *q, double *v) {
    static const int32_t quaternions[2] = {3, 11};
    for (int32_t i = 0; i < TWIN_Q; i++) {
        q[i] = random_between(r, -1.0, 1.0);
    }
    for (int32_t i = 0; i < 2; i++) {
        stn_quat e = random_rotation(r);
        const double wxyz[4] = {e.w, e.x, e.y, e.z};
        memcpy(q + quaternions[i], wxyz, sizeof wxyz);
    }
    for (int32_t i = 0; i < TWIN_V; i++) {
        v[i] = random_between(r, -2.0, 2.0);
    }
}

/// Mechanics of the loaded model at the states that the random numbers give.
static void survey(const fixture *f, mechanics *out) {
    static const char *const links[4] = {"a", "b", "c", "d"};
    stn_random r = {5};
    stn_kinematics *k = NULL;
    stn_error err;
    assert_int_equal(f->model->nq, TWIN_Q);
    assert_int_equal(f->model->nv, TWIN_V);
    assert_int_equal(f->model->tree_count, 1);
    assert_ok(stn_kinematics_create(f->model, &k, &err), err);
    for (int32_t i = 0; i < CONFIGURATIONS; i++) {
        double q[TWIN_Q], v[TWIN_V];
        stn_spatial scratch[16];
        stn_matrix M = {.n = TWIN_V, .form = STN_MATRIX_DENSE, .values = out[i].M};
        assert_true(f->model->body_count <= 16);
        choose_state(&r, q, v);
        stn_kinematics_update(k, q, v);
        stn_mass_matrix(k, 0, &M);
        stn_inverse_dynamics(k, 0, stn_vec3_make(0.3, -0.2, -9.81), NULL, scratch, out[i].bias);
        for (int32_t j = 0; j < 4; j++) {
            out[i].pose[j] = pose_of(f, links[j], q);
        }
    }
    stn_kinematics_destroy(k);
}

static void a_robot_is_the_same_in_both_formats(void **state) {
    fixture *f = *state;
    static mechanics urdf[CONFIGURATIONS], mjcf[CONFIGURATIONS];
    f->free = true;
    good_model(f, twin_urdf);
    survey(f, urdf);
    good_mjcf(f, twin_mjcf);
    survey(f, mjcf);
    for (int32_t i = 0; i < CONFIGURATIONS; i++) {
        for (int32_t j = 0; j < TWIN_V * TWIN_V; j++) {
            assert_near(mjcf[i].M[j], urdf[i].M[j], 1e-12);
        }
        for (int32_t j = 0; j < TWIN_V; j++) {
            assert_near(mjcf[i].bias[j], urdf[i].bias[j], 1e-12);
        }
        for (int32_t j = 0; j < 4; j++) {
            expect_same_pose(&mjcf[i].pose[j], &urdf[i].pose[j], 1e-12);
        }
    }
}

// ------------------------------------------------------------------------------------------------------- actuators

static void expect_servo(const fixture *f, const char *joint, double kp, double kd, double effort) {
    const stn_joint *j = joint_of(f, joint);
    assert_near(j->servo_kp, kp, 0.0);
    assert_near(j->servo_kd, kd, 0.0);
    assert_true(j->effort == effort);
}

#define FIVE                                                                                                       \
    WORLD("<body name='a'>" SOLID "<joint name='a' axis='1 0 0'/><joint name='b' actuatorfrcrange='-7 7'/></body>" \
          "<body name='c'>" SOLID "<joint name='c' axis='1 0 0'/><joint name='d'/></body><body>" SOLID             \
          "<joint name='e'/></body>")

static void actuators_give_servos_and_limits(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO(FIVE "<actuator><position name='p' joint='a' kp='100' kv='3' gear='2' forcerange='-5 5'/>"
                             "<motor joint='b' gear='10' ctrlrange='-1 1'/><velocity joint='c' kv='4'/>"
                             "<position joint='c' kp='50' ctrlrange='-1 1' ctrllimited='true'/>"
                             "<general joint='d' gainprm='9' biastype='affine' biasprm='0 -9 -2' forcelimited='false' "
                             "forcerange='-1 1'/></actuator>"));
    expect_servo(f, "a", 400.0, 12.0, 10.0);
    expect_servo(f, "b", 0.0, 0.0, 7.0); // less than 10
    expect_servo(f, "c", 50.0, 4.0, (double)INFINITY);
    expect_servo(f, "d", 9.0, 2.0, (double)INFINITY);
    expect_servo(f, "e", 0.0, 0.0, (double)INFINITY);
    assert_string_equal(joint_of(f, "a")->actuator, "p");
    assert_string_equal(joint_of(f, "c")->actuator, "c");
    assert_string_equal(joint_of(f, "e")->actuator, "");
    assert_int_equal(f->list.warning_count, 0);
}

static void all_actuators_share_their_defaults(void **state) {
    fixture *f = *state;
    good_mjcf(f,
              MUJOCO("<default><general gear='3' gainprm='20'/><default class='c'><position kp='7' forcerange='-2 2'/>"
                     "</default></default>" FIVE
                     "<actuator><motor joint='a' ctrlrange='-1 1'/><position joint='b' kv='1'/>"
                     "<position class='c' joint='c'/><velocity class='c' joint='d'/>"
                     "<motor class='c' joint='e'/></actuator>"));
    expect_servo(f, "a", 0.0, 0.0, 3.0);
    expect_servo(f, "b", 180.0, 9.0, 7.0);
    expect_servo(f, "c", 63.0, 0.0, 6.0);
    expect_servo(f, "d", 0.0, 63.0, 6.0);
    expect_servo(f, "e", 0.0, 0.0, 6.0);
}

static void a_linear_equality_is_a_mimic_joint(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO("<compiler angle='radian'/>" WORLD(
                     "<body name='a'>" SOLID "<joint name='j' ref='0.5'/></body><body name='b'>" SOLID
                     "<joint name='k' ref='0.2'/></body><body name='c'>" SOLID
                     "<joint name='l'/></body>") "<equality><joint joint1='j' joint2='k' polycoef='0.1 -2 0 0 0'/>\n"
                                                 "<joint joint1='l' joint2='k' active='false'/></equality>"));
    const stn_joint *j = joint_of(f, "j");
    assert_string_equal(f->model->joints[j->mimic].name, "k");
    assert_near(j->mimic_multiplier, -2.0, 0.0);
    assert_near(j->mimic_offset, 0.1 + 0.5 + 2.0 * 0.2, 1e-15); // q - 0.5 = 0.1 - 2 (q_k - 0.2)
    assert_int_equal(joint_of(f, "l")->mimic, -1);
    expect_finding(f, STN_SEVERITY_NOTE, "equality", 4, "equality", "not active");
    good_mjcf(f, MUJOCO(FIVE "<equality><joint joint1='a' joint2='c'/><joint joint1='a' joint2='e' polycoef='0.5 -3'/>"
                             "</equality>")); // a second one is a gear
    assert_string_equal(f->model->joints[joint_of(f, "a")->mimic].name, "c");
    assert_int_equal(f->model->constraint_count, 1);
    const stn_model_constraint *gear = &f->model->constraints[0];
    assert_joined_type(gear, "gear");
    assert_string_equal(f->model->joints[gear->ends[0].joint].name, "a");
    assert_string_equal(f->model->joints[gear->ends[1].joint].name, "e");
    assert_near(joined_number(gear, "ratio"), -3.0, 0.0);
    assert_near(joined_number(gear, "offset"), 0.5, 0.0);
    good_mjcf(f, MUJOCO(FIVE "<equality><joint joint1='a' joint2='c' polycoef='0 1 1'/></equality>"));
    assert_int_equal(joint_of(f, "a")->mimic, -1);
    expect_finding(f, STN_SEVERITY_WARNING, "equality", 3, "equality", "first degree");
}

/// What both ends of constraint `i` hold, in the world at the coordinates as drawn (0): the rest of its error.
static double error_as_drawn(const stn_model *model, int32_t i, double *angle) {
    stn_kinematics *kinematics = NULL;
    stn_error err;
    double *v = calloc((size_t)model->nv + 1, sizeof *v);
    assert_ok(stn_kinematics_create(model, &kinematics, &err), err);
    stn_kinematics_update(kinematics, model->q0, v);
    const stn_constraint_end *ends = model->constraints[i].ends;
    stn_pose a = stn_pose_mul(&kinematics->body_pose[ends[0].body], &ends[0].frame);
    stn_pose b = stn_pose_mul(&kinematics->body_pose[ends[1].body], &ends[1].frame);
    stn_mat3 back = stn_mat3_transpose(&a.rotation), turn = stn_mat3_mul(&back, &b.rotation);
    *angle = stn_vec3_norm(stn_quat_log(stn_quat_from_matrix(&turn)));
    stn_kinematics_destroy(kinematics);
    free(v);
    return stn_vec3_norm(stn_vec3_sub(b.position, a.position));
}

#define CHAIN                                                                                                          \
    "<body name='a' pos='1 0 0.5' euler='0 0 30'>" SOLID "<joint name='j' pos='0 0.1 0'/><site name='s' pos='0 0 1'/>" \
    "<body name='b' pos='0.3 0 0' euler='20 0 0'>" SOLID "<joint name='k' axis='0 1 0'/></body></body>"                \
    "<body name='c' pos='0 2 0'>" SOLID "<joint name='l'/><site name='t' pos='0.1 0 0' euler='0 90 0'/></body>"

static void connect_and_weld_hold_bodies_as_drawn(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO(WORLD(CHAIN) "<equality><connect name='loop' body1='b' body2='c' anchor='0.1 0.2 0.3'/>"
                                     "<weld body1='a' body2='c'/><connect body1='c' anchor='0 0 1'/>\n"
                                     "<weld body1='b' anchor='0 0 0.2' relpose='0 0 0 0 0 0 0'/></equality>"));
    const stn_model *m = f->model;
    assert_int_equal(m->constraint_count, 4);
    assert_string_equal(m->constraints[0].name, "loop");
    const char *const types[4] = {"ball", "weld", "ball", "weld"};
    for (int32_t i = 0; i < 4; i++) {
        double angle;
        assert_joined_type(&m->constraints[i], types[i]);
        assert_near(error_as_drawn(m, i, &angle), 0.0, 1e-14);
        assert_true(i % 2 == 0 || angle < 1e-14);
    }
    assert_near(m->constraints[0].ends[0].pose.position.y, 0.2, 0.0);
    assert_near(m->constraints[3].ends[1].pose.position.z, 0.2, 0.0); // body 2 is the world
    assert_int_equal(m->constraints[3].ends[1].body, 0);
}

static void welds_say_where_and_sites_name_both_ends(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO(WORLD(CHAIN) "<equality><weld body1='a' body2='c' relpose='1 2 3 0 0 0 2' anchor='0.5 0 0'/>"
                                     "<connect site1='s' site2='t'/><weld site1='t' site2='s'/></equality>"));
    const stn_model_constraint *c = f->model->constraints;
    assert_int_equal(f->model->constraint_count, 3);
    assert_near(c[0].ends[0].pose.position.x, 0.5, 1e-15); // 1 2 3 and, half a turn about z away, -0.5 0 0
    assert_near(c[0].ends[0].pose.position.y, 2.0, 1e-15);
    assert_near(c[0].ends[0].pose.rotation.m[0][0], -1.0, 1e-15);
    assert_near(c[0].ends[1].pose.position.x, 0.5, 0.0);
    assert_near(c[1].ends[0].pose.position.z, 1.0, 0.0);
    assert_near(c[1].ends[1].pose.position.x, 0.1, 0.0);
    assert_near(c[2].ends[0].pose.rotation.m[0][2], 1.0, 1e-15); // of site t, a quarter about y
    good_mjcf(f, MUJOCO(WORLD(CHAIN) "<equality><weld body1='a' body2='a'/></equality>"));
    assert_int_equal(f->model->constraint_count, 0);
    expect_finding(f, STN_SEVERITY_NOTE, "equality", 3, "equality", "left out");
}

static int32_t count_code(const stn_diagnostics *list, const char *code) {
    int32_t count = 0;
    for (int32_t i = 0; i < list->count; i++) {
        count += strcmp(list->items[i].code, code) == 0;
    }
    return count;
}

static void constraints_survive_saving_or_are_named(void **state) {
    fixture *f = *state;
    static const char *const formats[] = {"mjcf", "urdf", "sdf"};
    good_mjcf(f, MUJOCO(WORLD(CHAIN) "<equality><connect name='loop' body1='b' body2='c' anchor='0.1 0.2 0.3'/>"
                                     "<weld body1='a' body2='c' relpose='1 2 3 0 0 0 2' anchor='0.5 0 0'/>"
                                     "<weld body1='b' anchor='0 0 0.2'/><connect site1='s' site2='t'/></equality>"));
    char path[600];
    stn_error err;
    snprintf(path, sizeof path, "%s/saved.xml", f->folder);
    for (int32_t i = 0; i < 3; i++) {
        const stn_save_request request = {.model = f->model, .group = 0, .path = path};
        stn_diagnostics_clear(&f->list);
        assert_ok(stn_save_robot(f->context, &request, formats[i], &f->list, &err), err);
        assert_int_equal(count_code(&f->list, "constraint"), 1); // MJCF: the points of sites do not meet as drawn
    }
    const stn_save_request request = {.model = f->model, .group = 0, .path = path};
    assert_ok(stn_save_robot(f->context, &request, "mjcf", &f->list, &err), err);
    double before[3], after[3], angle_before[3], angle_after[3];
    for (int32_t i = 0; i < 3; i++) {
        before[i] = error_as_drawn(f->model, i, &angle_before[i]);
    }
    FILE *file = fopen(path, "rb");
    static char text[20000];
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    good_mjcf(f, text);
    assert_int_equal(f->model->constraint_count, 3);
    assert_string_equal(f->model->constraints[0].name, "loop");
    for (int32_t i = 0; i < 3; i++) {
        after[i] = error_as_drawn(f->model, i, &angle_after[i]);
        assert_near(after[i], before[i], 1e-12);
        assert_near(angle_after[i], angle_before[i], 1e-12);
    }
}

// ------------------------------------------------------------------------------------------------------- keyframes

#define POSED                                                                                          \
    "<body name='a' pos='0 0 1' euler='0 0 90'><freejoint/>" SOLID "<body name='b' pos='0 0 1'>" SOLID \
    "<joint type='ball'/></body><body name='c'>" SOLID                                                 \
    "<joint name='h' ref='90'/><joint name='s' type='slide'/></body>"                                  \
    "</body>"
#define KEYS                                                                                         \
    "<keyframe><key name='one' qpos='1 2 3 2 0 0 0 0 0 0 1 0.5 0.25' ctrl='1' qvel='0'/><key/><key " \
    "name='key1'/></keyframe>"

/// Poses of the links in a keyframe, and the coordinates of h and s.
static void expect_key(const fixture *f, const char *name, double x, double y, double z, double yaw, double ball,
                       double h, double s) {
    double q[16];
    int32_t key = stn_model_find_keyframe(f->model, 0, name);
    assert_true(key >= 0);
    memcpy(q, f->model->q0, (size_t)f->model->nq * sizeof *q);
    stn_model_keyframe_apply(f->model, key, q);
    expect_pose(f, "a", q, x, y, z, 0.0, 0.0, yaw);
    expect_pose(f, "b", q, x, y, z + 1.0, 0.0, 0.0, yaw + ball);
    assert_near(q[joint_of(f, "h")->q_start], h, 1e-15);
    assert_near(q[joint_of(f, "s")->q_start], s, 0.0);
}

static void keyframes_are_configurations(void **state) {
    fixture *f = *state;
    for (int32_t i = 0; i < 2; i++) { // with a base that floats by itself, and by a joint on the world
        const stn_model *m =
            good_mjcf(f, i == 0 ? MUJOCO(WORLD(POSED) KEYS) : MUJOCO(WORLD("<geom size='1'/>" POSED) KEYS));
        assert_int_equal(m->keyframe_count, 3);
        expect_key(f, "one", 1.0, 2.0, 3.0, 0.0, STN_PI, 0.5, 0.25);
        expect_key(f, "key1", 0.0, 0.0, 1.0, 0.5 * STN_PI, 0.0, 0.5 * STN_PI, 0.0); // as drawn
        expect_key(f, "key1_2", 0.0, 0.0, 1.0, 0.5 * STN_PI, 0.0, 0.5 * STN_PI, 0.0);
        expect_finding(f, STN_SEVERITY_NOTE, "keyframe", 3, "key one", "ctrl");
        expect_finding(f, STN_SEVERITY_NOTE, "keyframe", 3, "key one", "qvel");
    }
}

static void a_keyframe_with_a_quaternion_of_no_length_is_refused(void **state) {
    fixture *f = *state;
    load_mjcf(f, MUJOCO(WORLD("<body><freejoint/>" SOLID
                              "</body>") "<keyframe><key name='k' qpos='0 0 0 0 0 0 0'/></keyframe>"));
    expect_finding(f, STN_SEVERITY_ERROR, "axis", 3, "key k", "length 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_hinge_turns_about_its_point_from_the_pose_that_is_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_slide_moves_along_its_axis_from_the_pose_that_is_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_ball_turns_about_its_point, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_free_body_moves_in_the_world, set_up, tear_down),
        cmocka_unit_test_setup_teardown(joints_of_one_body_act_one_after_the_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forces_and_limits_of_joints_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_robot_is_the_same_in_both_formats, set_up, tear_down),
        cmocka_unit_test_setup_teardown(actuators_give_servos_and_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_actuators_share_their_defaults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_linear_equality_is_a_mimic_joint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(connect_and_weld_hold_bodies_as_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(welds_say_where_and_sites_name_both_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(constraints_survive_saving_or_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keyframes_are_configurations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_keyframe_with_a_quaternion_of_no_length_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
