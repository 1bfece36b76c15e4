// SPDX-License-Identifier: Apache-2.0
// Robots that are attached to others: whichever was added first, the model is that of one robot in which a fixed joint
// stands where the attachment is.
#include "compile_fixture.h"

#include <stiction/dynamics.h>

#include "stn_random_pose.h"

enum { JOINTS = 7, MOST_NQ = 7 + JOINTS, MOST_NV = 6 + JOINTS };

static void attach(fixture *f, int32_t robot, int32_t link, stn_pose pose) {
    stn_error err;
    assert_ok(stn_builder_attach(f->builder, robot, link, &pose, &err), err);
}

static void expect_refusal(fixture *f, const char *const *words) {
    stn_error err;
    stn_model *model = NULL;
    expect_error(stn_model_compile(f->builder, &model, &err), &err, words);
    assert_null(model);
}

// -------------------------------------------------------------------------------------------------- equivalence

/// An arm (floating base, two joints and a tool changer beside the flange), a hand with two fingers, and a lamp on a
/// finger of it. Names of joints and links differ, so that one robot may hold them all.
typedef struct parts {
    stn_pose base, pose[10];
    stn_vec3 axis[10];
    stn_mass mass[10];
} parts;

static parts random_parts(void) {
    stn_random r = {91};
    parts p = {.base = random_pose(&r, 1.0)};
    for (int32_t i = 0; i < 10; i++) {
        p.pose[i] = random_pose(&r, 0.4);
        p.axis[i] = random_unit(&r);
        p.mass[i] = mass_of(random_between(&r, 0.5, 2.0), random_vec3(&r, 0.1), 0.02, 0.03, 0.04);
    }
    return p;
}

static void arm(stn_model_builder *b, const parts *p, int32_t *flange) {
    int32_t base = add_link(b, "base", p->mass[0]), upper = add_link(b, "upper", p->mass[1]);
    *flange = add_link(b, "flange", p->mass[2]);
    int32_t changer = add_link(b, "changer", p->mass[3]);
    add_joint(b, "shoulder", STN_JOINT_UNIVERSAL, base, upper, p->pose[0], p->axis[0]);
    add_joint(b, "elbow", STN_JOINT_REVOLUTE, upper, *flange, p->pose[1], p->axis[1]);
    add_joint(b, "change", STN_JOINT_PRISMATIC, *flange, changer, p->pose[2], p->axis[2]);
}

static void hand(stn_model_builder *b, const parts *p, int32_t *palm, int32_t *finger) {
    *palm = add_link(b, "palm", p->mass[4]);
    int32_t left = add_link(b, "left", p->mass[5]);
    *finger = add_link(b, "right", p->mass[6]);
    add_joint(b, "left", STN_JOINT_REVOLUTE, *palm, left, p->pose[3], p->axis[3]);
    add_joint(b, "right", STN_JOINT_SCREW, *palm, *finger, p->pose[4], p->axis[4]);
}

static void lamp(stn_model_builder *b, const parts *p, int32_t *socket) {
    *socket = add_link(b, "socket", p->mass[7]);
    int32_t shade = add_link(b, "shade", p->mass[8]);
    add_joint(b, "shade", STN_JOINT_REVOLUTE, *socket, shade, p->pose[5], p->axis[5]);
}

/// `order`: which of arm (0), hand (1) and lamp (2) is added first, second, third.
static stn_model *attached_model(fixture *f, const parts *p, const int32_t *order) {
    int32_t robot[3], flange = -1, palm = -1, finger = -1, socket = -1;
    for (int32_t i = 0; i < 3; i++) {
        static const char *const names[3] = {"arm", "hand", "lamp"};
        robot[order[i]] = begin_robot(f->builder, names[order[i]]);
        if (order[i] == 0) {
            arm(f->builder, p, &flange);
            set_base(f->builder, robot[0], p->base, false);
        } else if (order[i] == 1) {
            hand(f->builder, p, &palm, &finger);
        } else {
            lamp(f->builder, p, &socket);
        }
    }
    attach(f, robot[2], finger, p->pose[7]);
    attach(f, robot[1], flange, p->pose[6]);
    return compile_model(f->builder);
}

/// The same as one robot: the fixed joints come last, so that children come in the same order.
static stn_model *whole_model(fixture *f, const parts *p) {
    int32_t flange, palm, finger, socket, robot = begin_robot(f->builder, "whole");
    arm(f->builder, p, &flange);
    hand(f->builder, p, &palm, &finger);
    lamp(f->builder, p, &socket);
    add_joint(f->builder, "mount", STN_JOINT_FIXED, flange, palm, p->pose[6], Z);
    add_joint(f->builder, "screwed", STN_JOINT_FIXED, finger, socket, p->pose[7], Z);
    set_base(f->builder, robot, p->base, false);
    return compile_model(f->builder);
}

typedef struct figures {
    double M[MOST_NV * MOST_NV], tau[MOST_NV];
    stn_pose link[9]; // in the order of names
} figures;

/// All at a state that depends on coordinates alone, which come in the same order for the same tree.
static void compute(const stn_model *model, figures *out) {
    static const char *const names[9] = {"base", "upper", "flange", "changer", "palm",
                                         "left", "right", "socket", "shade"};
    stn_error err;
    stn_random r = {92};
    stn_kinematics *k = NULL;
    stn_spatial scratch[16];
    double q[MOST_NQ], v[MOST_NV], a[MOST_NV];
    assert_int_equal(model->tree_count, 1);
    assert_int_equal(model->nv, MOST_NV);
    memcpy(q, model->q0, sizeof q);
    for (int32_t i = 0; i < MOST_NV; i++) {
        q[i < 6 ? 0 : i + 1] += random_between(&r, -1.0, 1.0);
        v[i] = random_between(&r, -1.0, 1.0);
        a[i] = random_between(&r, -1.0, 1.0);
    }
    assert_ok(stn_kinematics_create(model, &k, &err), err);
    stn_kinematics_update(k, q, v);
    stn_matrix M = {.n = MOST_NV, .form = STN_MATRIX_DENSE, .values = out->M};
    stn_mass_matrix(k, 0, &M);
    stn_inverse_dynamics(k, 0, stn_vec3_make(0.0, 0.0, -9.81), a, scratch, out->tau);
    for (int32_t i = 0; i < 9; i++) {
        const stn_link *link = &model->links[stn_model_find_link(model, -1, names[i])];
        out->link[i] = stn_pose_mul(&k->body_pose[link->body], &link->pose);
    }
    stn_kinematics_destroy(k);
}

static void robots_attached_in_any_order_move_as_one_robot_does(void **state) {
    fixture *f = *state;
    static const int32_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    parts p = random_parts();
    figures expected, got;
    stn_model *whole = whole_model(f, &p);
    compute(whole, &expected);
    for (int32_t i = 0; i < 6; i++) {
        stn_model *model = attached_model(f, &p, orders[i]);
        compute(model, &got);
        assert_memory_equal(&got, &expected, sizeof got); // to the last bit
        assert_int_equal(model->body_count, whole->body_count);
        for (int32_t j = 0; j < model->joint_count; j++) {
            int32_t same = stn_model_find_joint(whole, 0, model->joints[j].name);
            bool implicit = strcmp(model->joints[j].name, "base_floating") == 0;
            assert_true(same >= 0 || implicit);
            assert_int_equal(model->joints[j].v_start, whole->joints[implicit ? 0 : same].v_start);
        }
        stn_model_destroy(model);
    }
    stn_model_destroy(whole);
}

// ----------------------------------------------------------------------------------------------------- structure

static void links_know_what_they_are_welded_to(void **state) {
    fixture *f = *state;
    const int32_t order[3] = {2, 1, 0};
    parts p = random_parts();
    stn_model *model = attached_model(f, &p, order);
    const stn_link *palm = &model->links[stn_model_find_link(model, -1, "palm")];
    int32_t flange = stn_model_find_link(model, -1, "flange"), robot = stn_model_find_group(model, "hand");
    assert_int_equal(palm->parent, flange);
    assert_int_equal(palm->joint, -1);
    assert_null(palm->joint_name);
    assert_string_equal(palm->joint_where, "");
    assert_int_equal(palm->body, model->links[flange].body);
    assert_string_equal(model->bodies[palm->body].name, "flange");
    assert_int_equal(model->bodies[palm->body].group, stn_model_find_group(model, "arm"));
    assert_near(model->bodies[palm->body].mass.mass, p.mass[2].mass + p.mass[4].mass, 1e-15);
    assert_int_equal(model->groups[robot].joint_count, 2);
    assert_string_equal(model->links[model->groups[robot].root_link].name, "palm");
    for (int32_t r = 0; r < 3; r++) {
        assert_false(model->groups[r].fixed);
    }
    stn_pose one = stn_pose_identity();
    assert_memory_equal(&model->groups[robot].base, &one, sizeof one);
    for (int32_t i = 1; i < model->body_count; i++) {
        assert_true(model->bodies[i].parent < i);
    }
    stn_model_destroy(model);
}

static void robot_on_a_fixed_one_is_fixed_and_begins_trees_of_its_own(void **state) {
    fixture *f = *state;
    int32_t tool = begin_robot(f->builder, "tool"), body = add_link(f->builder, "body", one_kg());
    int32_t wheel = add_link(f->builder, "wheel", one_kg());
    add_joint(f->builder, "spin", STN_JOINT_REVOLUTE, body, wheel, shift(0.0, 1.0, 0.0), Z);
    int32_t table = begin_robot(f->builder, "table"), top = add_link(f->builder, "top", one_kg());
    set_base(f->builder, table, shift(0.0, 0.0, 0.7), true);
    attach(f, tool, top, shift(0.2, 0.0, 0.0));
    stn_model *model = compile_model(f->builder);
    assert_true(model->groups[tool].fixed && model->groups[table].fixed);
    assert_int_equal(model->nv, 1);
    assert_int_equal(model->links[body].body, 0);
    assert_near(model->links[body].pose.position.z, 0.7, 0.0);
    assert_near(model->joints[0].origin.position.x, 0.2, 0.0);
    assert_near(model->bodies[0].mass.mass, 2.0, 0.0);
    stn_model_destroy(model);
}

static void welded_links_of_two_robots_are_one_group_for_collision(void **state) {
    fixture *f = *state;
    int32_t palm, finger, flange, hand_robot = begin_robot(f->builder, "hand");
    parts p = random_parts();
    hand(f->builder, &p, &palm, &finger);
    int32_t on_palm = add_shape(f->builder, palm, stn_shape_sphere(0.1));
    int32_t on_finger = add_shape(f->builder, finger, stn_shape_sphere(0.1));
    begin_robot(f->builder, "arm");
    arm(f->builder, &p, &flange);
    int32_t on_flange = add_shape(f->builder, flange, stn_shape_sphere(0.1));
    int32_t upper = stn_builder_find_link(f->builder, 1, "upper"), base = stn_builder_find_link(f->builder, 1, "base");
    int32_t changer = stn_builder_find_link(f->builder, 1, "changer");
    int32_t on_upper = add_shape(f->builder, upper, stn_shape_sphere(0.1));
    int32_t on_base = add_shape(f->builder, base, stn_shape_sphere(0.1));
    int32_t on_changer = add_shape(f->builder, changer, stn_shape_sphere(0.1));
    attach(f, hand_robot, flange, stn_pose_identity());
    stn_model *model = compile_model(f->builder);
    assert_false(stn_model_may_collide(model, on_palm, on_flange));   // one body
    assert_false(stn_model_may_collide(model, on_finger, on_flange)); // its parent, across robots
    assert_false(stn_model_may_collide(model, on_palm, on_upper));    // the flange's parent
    assert_false(stn_model_may_collide(model, on_palm, on_changer));  // the flange's child
    assert_true(stn_model_may_collide(model, on_finger, on_upper));
    assert_true(stn_model_may_collide(model, on_finger, on_changer));
    assert_true(stn_model_may_collide(model, on_palm, on_base));
    stn_model_destroy(model);
}

static void attached_link_without_mass_is_told_by_the_joint_that_moves_it(void **state) {
    fixture *f = *state;
    stn_mass none = {.mass = 0.0};
    int32_t camera = begin_robot(f->builder, "camera");
    add_link(f->builder, "lens", none);
    int32_t robot = begin_robot(f->builder, "pan"), base = add_link(f->builder, "base", one_kg());
    int32_t head = add_link(f->builder, "head", none);
    set_base(f->builder, robot, stn_pose_identity(), true);
    add_joint(f->builder, "turn", STN_JOINT_REVOLUTE, base, head, stn_pose_identity(), Z);
    attach(f, camera, head, stn_pose_identity());
    stn_model *model = compile_model(f->builder);
    assert_int_equal(stn_model_massless_link(model, 0), head);
    expect_log(f, "group 'pan', link 'head': moves by joint 'turn'");
    stn_model_destroy(model);
}

static void mass_of_an_attached_robot_serves_the_joint_above(void **state) {
    fixture *f = *state;
    stn_mass none = {.mass = 0.0};
    int32_t robot = begin_robot(f->builder, "pan"), base = add_link(f->builder, "base", one_kg());
    int32_t head = add_link(f->builder, "head", none);
    set_base(f->builder, robot, stn_pose_identity(), true);
    add_joint(f->builder, "turn", STN_JOINT_BALL, base, head, stn_pose_identity(), Z);
    int32_t camera = begin_robot(f->builder, "camera");
    add_link(f->builder, "lens", one_kg());
    attach(f, camera, head, stn_pose_identity());
    stn_model *model = compile_model(f->builder);
    assert_int_equal(stn_model_massless_link(model, 0), -1);
    assert_string_equal(f->log, "");
    stn_model_destroy(model);
}

// --------------------------------------------------------------------------------------------------------- nodes

/// A frame that stands on a link starts where the link does: base, joint at the limit nearest to 0, attachment.
static void nodes_on_a_link_start_where_it_does(void **state) {
    fixture *f = *state;
    stn_random r = {17};
    const stn_pose base = random_pose(&r, 1.0), hinge = random_pose(&r, 1.0), hold = random_pose(&r, 1.0);
    const stn_pose own = random_pose(&r, 1.0);
    const stn_quat turn = stn_quat_from_matrix(&own.rotation);
    const double x[3] = {own.position.x, own.position.y, own.position.z}, one[3] = {1.0, 1.0, 1.0};
    const double q[4] = {turn.w, turn.x, turn.y, turn.z};
    stn_nodes_spec spec = {.name = "pad", .node_count = 1, .position = x, .mass = one, .type = STN_NODE_FRAME};
    spec.orientation = q;
    spec.inertia = one;
    spec.material = stn_material_unset();
    int32_t hand_robot = begin_robot(f->builder, "hand"), palm = add_link(f->builder, "palm", one_kg()), cloud = -1;
    stn_error err;
    assert_ok(stn_builder_add_nodes(f->builder, &spec, &cloud, &err), err);
    assert_ok(stn_builder_place_nodes(f->builder, cloud, palm, &err), err);
    expect_error(stn_builder_place_nodes(f->builder, 1, palm, &err), &err, WORDS("no cloud of nodes 1", "1 clouds"));
    expect_error(stn_builder_place_nodes(f->builder, 0, 3, &err), &err, WORDS("no link 3"));
    int32_t robot = begin_robot(f->builder, "arm"), root = add_link(f->builder, "root", one_kg());
    int32_t flange = add_link(f->builder, "flange", one_kg());
    stn_joint_spec joint = stn_joint_spec_default("turn", STN_JOINT_REVOLUTE);
    joint.parent = root;
    joint.child = flange;
    joint.origin = hinge;
    joint.axis = Z;
    joint.lower = 0.5;
    joint.upper = 1.0;
    add_joint_spec(f->builder, &joint);
    set_base(f->builder, robot, base, false);
    attach(f, hand_robot, flange, hold);
    stn_model *model = compile_model(f->builder);
    const stn_pose about = {stn_mat3_from_rpy(0.0, 0.0, 0.5), {0.0, 0.0, 0.0}};
    stn_pose expected = stn_pose_mul(&base, &hinge);
    expected = stn_pose_mul(&expected, &about);
    expected = stn_pose_mul(&expected, &hold);
    expected = stn_pose_mul(&expected, &own);
    const double *got = &model->q0[model->trees[model->tree_count - 1].q_start];
    const stn_quat whole = {got[3], got[4], got[5], got[6]};
    const stn_mat3 rotation = stn_quat_matrix(whole);
    assert_near(got[0], expected.position.x, 1e-14);
    assert_near(got[1], expected.position.y, 1e-14);
    assert_near(got[2], expected.position.z, 1e-14);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(rotation.m[i / 3][i % 3], expected.rotation.m[i / 3][i % 3], 1e-14);
    }
    stn_model_destroy(model);
}

// ------------------------------------------------------------------------------------------------------ refusals

static void bad_attachments_are_refused_at_once(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_pose one = stn_pose_identity(), bad = one;
    bad.position.x = (double)NAN;
    int32_t arm_robot = begin_robot(f->builder, "arm"), flange = add_link(f->builder, "flange", one_kg());
    int32_t hand_robot = begin_robot(f->builder, "hand"), palm = add_link(f->builder, "palm", one_kg());
    stn_model_builder *b = f->builder;
    expect_error(stn_builder_attach(b, 2, flange, &one, &err), &err, WORDS("no group 2", "2 groups"));
    expect_error(stn_builder_attach(b, -1, flange, &one, &err), &err, WORDS("no group -1"));
    expect_error(stn_builder_attach(b, hand_robot, 2, &one, &err), &err, WORDS("group 'hand'", "no link 2", "2 links"));
    expect_error(stn_builder_attach(b, hand_robot, STN_WORLD, &one, &err), &err, WORDS("'hand'", "fixed base"));
    expect_error(stn_builder_attach(b, hand_robot, palm, &one, &err), &err, WORDS("'hand'", "own link 'palm'"));
    expect_error(stn_builder_attach(b, hand_robot, flange, &bad, &err), &err, WORDS("'hand'", "attachment", "finite"));
    attach(f, hand_robot, flange, one);
    expect_error(stn_builder_attach(b, hand_robot, flange, &one, &err), &err,
                 WORDS("'hand'", "link 'flange' of 'arm' already"));
    expect_error(stn_builder_set_base(b, hand_robot, &one, true, &err), &err,
                 WORDS("'hand'", "link 'flange' of 'arm'", "no base of its own"));
    set_base(b, arm_robot, one, true);
    expect_error(stn_builder_attach(b, arm_robot, palm, &one, &err), &err, WORDS("'arm'", "base already", "'palm'"));
    stn_model *model = compile_model(b); // nothing of this broke the builder
    assert_int_equal(model->nv, 0);
    stn_model_destroy(model);
}

static void circles_of_attachments_name_the_robots(void **state) {
    fixture *f = *state;
    stn_pose one = stn_pose_identity();
    int32_t link[3];
    for (int32_t i = 0; i < 3; i++) {
        static const char *const names[3] = {"arm", "hand", "lamp"};
        begin_robot(f->builder, names[i]);
        link[i] = add_link(f->builder, "root", one_kg());
        int32_t tip = add_link(f->builder, "tip", one_kg());
        add_joint(f->builder, "j", STN_JOINT_REVOLUTE, link[i], tip, one, Z);
    }
    attach(f, 0, link[1] + 1, one);
    attach(f, 1, link[0] + 1, one);
    attach(f, 2, link[0], one);
    expect_refusal(f, WORDS("groups 'arm', 'hand'", "circle"));
    stn_builder_discard(f->builder, 0);
    begin_robot(f->builder, "arm"); // a circle of an attachment and a joint
    int32_t root = add_link(f->builder, "root", one_kg());
    begin_robot(f->builder, "hand");
    int32_t palm = add_link(f->builder, "palm", one_kg());
    add_joint(f->builder, "mount", STN_JOINT_REVOLUTE, root, palm, one, Z);
    attach(f, 0, palm, one);
    expect_refusal(f, WORDS("'arm'", "'hand'", "circle"));
}

static void roots_that_cannot_be_welded_are_refused(void **state) {
    fixture *f = *state;
    stn_pose one = stn_pose_identity();
    begin_robot(f->builder, "arm");
    int32_t flange = add_link(f->builder, "flange", one_kg());
    int32_t robot = begin_robot(f->builder, "hand");
    add_link(f->builder, "world", one_kg());
    attach(f, robot, flange, one);
    expect_refusal(f, WORDS("'hand'", "'flange' of 'arm'", "'world'", "another name"));
    stn_builder_discard(f->builder, robot);
    robot = begin_robot(f->builder, "hand");
    int32_t palm = add_link(f->builder, "palm", one_kg());
    add_joint(f->builder, "bolt", STN_JOINT_FIXED, STN_WORLD, palm, one, Z);
    attach(f, robot, flange, one);
    expect_refusal(f, WORDS("'hand'", "'flange' of 'arm'", "'bolt'", "'palm'", "the world"));
    stn_builder_discard(f->builder, robot);
    robot = begin_robot(f->builder, "hand");
    palm = add_link(f->builder, "palm", one_kg());
    add_joint(f->builder, "bolt", STN_JOINT_FIXED, flange, palm, one, Z);
    attach(f, robot, flange, one);
    expect_refusal(f, WORDS("'hand'", "'bolt'", "another group"));
    stn_builder_discard(f->builder, robot);
    robot = begin_robot(f->builder, "hand");
    add_link(f->builder, "palm", one_kg());
    add_link(f->builder, "loose", one_kg());
    attach(f, robot, flange, one);
    expect_refusal(f, WORDS("'hand'", "2 root links", "'loose'"));
}

// ------------------------------------------------------------------------------------------------------- discard

static void robot_whose_carrier_is_forgotten_stands_on_its_own(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_pose one = stn_pose_identity();
    int32_t hand_robot = begin_robot(f->builder, "hand"), palm = add_link(f->builder, "palm", one_kg());
    int32_t finger = add_link(f->builder, "finger", one_kg());
    add_joint(f->builder, "j", STN_JOINT_REVOLUTE, palm, finger, one, Z);
    int32_t arm_robot = begin_robot(f->builder, "arm"), flange = add_link(f->builder, "flange", one_kg());
    int32_t tool = add_link(f->builder, "tool", one_kg());
    add_joint(f->builder, "drive", STN_JOINT_REVOLUTE, flange, tool, one, Z);
    attach(f, hand_robot, flange, one);
    assert_ok(stn_builder_set_mimic(f->builder, 0, 1, 2.0, 0.0, &err), err); // the finger follows the arm's drive
    stn_builder_discard(f->builder, arm_robot);
    begin_robot(f->builder, "other"); // takes the numbers that the arm had
    int32_t a = add_link(f->builder, "a", one_kg()), b = add_link(f->builder, "b", one_kg());
    add_joint(f->builder, "j", STN_JOINT_REVOLUTE, a, b, one, Z);
    set_base(f->builder, hand_robot, shift(1.0, 0.0, 0.0), false); // it may have one again
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->tree_count, 2);
    assert_int_equal(model->links[palm].parent, STN_WORLD);
    assert_int_equal(model->joints[stn_model_find_joint(model, 0, "j")].mimic, -1);
    stn_model_destroy(model);
}

static void forgotten_robot_leaves_its_carrier_alone(void **state) {
    fixture *f = *state;
    int32_t arm_robot = begin_robot(f->builder, "arm"), flange = add_link(f->builder, "flange", one_kg());
    int32_t hand_robot = begin_robot(f->builder, "hand");
    add_link(f->builder, "palm", one_kg());
    attach(f, hand_robot, flange, stn_pose_identity());
    stn_builder_discard(f->builder, hand_robot);
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->link_count, 1);
    assert_int_equal(model->groups[arm_robot].link_count, 1);
    stn_model_destroy(model);
}

static void running_out_of_memory_leaks_nothing(void **state) {
    fixture *f = *state;
    stn_model *model = NULL;
    stn_pose one = stn_pose_identity();
    int32_t palm, finger, flange, hand_robot = begin_robot(f->builder, "hand");
    parts p = random_parts();
    hand(f->builder, &p, &palm, &finger);
    begin_robot(f->builder, "arm");
    arm(f->builder, &p, &flange);
    attach(f, hand_robot, flange, one);
    long long before = f->heap.live;
    int32_t failures = 0;
    for (long long n = 1; model == NULL; n++) {
        stn_error err;
        stn_heap_arm(&f->heap, n);
        stn_status status = stn_model_compile(f->builder, &model, &err);
        stn_heap_arm(&f->heap, 0);
        failures += status == STN_ERR_MEMORY;
        assert_true(status == STN_OK || f->heap.live == before);
    }
    assert_true(failures > 0);
    assert_int_equal(model->group_count, 2);
    stn_model_destroy(model);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(robots_attached_in_any_order_move_as_one_robot_does),
        TEST(links_know_what_they_are_welded_to),
        TEST(robot_on_a_fixed_one_is_fixed_and_begins_trees_of_its_own),
        TEST(welded_links_of_two_robots_are_one_group_for_collision),
        TEST(attached_link_without_mass_is_told_by_the_joint_that_moves_it),
        TEST(mass_of_an_attached_robot_serves_the_joint_above),
        TEST(nodes_on_a_link_start_where_it_does),
        TEST(bad_attachments_are_refused_at_once),
        TEST(circles_of_attachments_name_the_robots),
        TEST(roots_that_cannot_be_welded_are_refused),
        TEST(robot_whose_carrier_is_forgotten_stands_on_its_own),
        TEST(forgotten_robot_leaves_its_carrier_alone),
        TEST(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests_name("attached robots", tests, NULL, NULL);
}
