// SPDX-License-Identifier: Apache-2.0
// Named configurations of robots: what is refused, how they are compiled, and what applying one changes.
#include "compile_fixture.h"

static stn_status add(fixture *f, int32_t robot, const char *name, const double *q, int32_t count, const stn_pose *base,
                      stn_error *err) {
    stn_keyframe_spec spec = {.name = name, .q_count = count, .q = q, .base = base, .where = "arm.xml:7"};
    return stn_builder_add_keyframe(f->builder, robot, &spec, err);
}

static void add_good(fixture *f, int32_t robot, const char *name, const double *q, int32_t count,
                     const stn_pose *base) {
    stn_error err;
    assert_ok(add(f, robot, name, q, count, base, &err), err);
}

/// A floating base; a ball joint, a fixed one, then a hinge that follows the slide behind it: q_follow = 2 q_slide +
/// 0.5.
static int32_t add_arm(fixture *f, const char *name) {
    int32_t robot = begin_robot(f->builder, name);
    int32_t base = add_link(f->builder, "base", one_kg()), upper = add_link(f->builder, "upper", one_kg());
    int32_t bracket = add_link(f->builder, "bracket", one_kg()), tip = add_link(f->builder, "tip", one_kg());
    int32_t finger = add_link(f->builder, "finger", one_kg());
    add_joint(f->builder, "shoulder", STN_JOINT_BALL, base, upper, shift(0.0, 0.0, 0.1), Z);
    add_joint(f->builder, "weld", STN_JOINT_FIXED, upper, bracket, shift(0.0, 0.0, 0.1), Z);
    int32_t follow = add_joint(f->builder, "follow", STN_JOINT_REVOLUTE, bracket, tip, shift(0.0, 0.0, 0.1), X);
    int32_t slide = add_joint(f->builder, "slide", STN_JOINT_PRISMATIC, base, finger, shift(0.0, 0.2, 0.0), X);
    stn_error err;
    assert_ok(stn_builder_set_mimic(f->builder, follow, slide, 2.0, 0.5, &err), err);
    return robot;
}

enum { ARM_NQ = 6 }; // ball 4, follow, slide
static const double HOME[ARM_NQ] = {0.0, 3.0, 0.0, 4.0, 99.0, 0.25};

static const double *own(const stn_model *m, const double *q, int32_t robot, const char *joint) {
    return q + m->joints[stn_model_find_joint(m, robot, joint)].q_start;
}

static void expect_arm(const stn_model *m, const double *q, int32_t robot) {
    const double *ball = own(m, q, robot, "shoulder");
    assert_near(ball[0], 0.0, 0.0);
    assert_near(ball[1], 0.6, 1e-15);
    assert_near(ball[2], 0.0, 0.0);
    assert_near(ball[3], 0.8, 1e-15);
    assert_near(own(m, q, robot, "slide")[0], 0.25, 0.0);
    assert_near(own(m, q, robot, "follow")[0], 2.0 * 0.25 + 0.5, 0.0);
}

static void a_keyframe_sets_its_robot_and_nothing_else(void **state) {
    fixture *f = *state;
    int32_t first = add_arm(f, "first"), second = add_arm(f, "second");
    stn_pose base = {stn_quat_matrix((stn_quat){sqrt(0.5), 0.0, 0.0, sqrt(0.5)}), {1.0, 2.0, 3.0}};
    add_good(f, second, "home", HOME, ARM_NQ, &base);
    add_good(f, first, "fold", HOME, ARM_NQ, NULL);
    add_good(f, first, "home", HOME, ARM_NQ, &base);
    set_base(f->builder, first, shift(5.0, 6.0, 7.0), false);
    stn_model *m = compile_model(f->builder);
    assert_int_equal(m->keyframe_count, 3);
    assert_int_equal(m->groups[first].keyframe_count, 2);
    assert_int_equal(m->groups[second].keyframe_start, 2);
    int32_t fold = stn_model_find_keyframe(m, first, "fold"), home = stn_model_find_keyframe(m, first, "home");
    assert_string_equal(m->keyframes[fold].name, "fold");
    assert_string_equal(m->keyframes[fold].where, "arm.xml:7");
    assert_int_equal(m->keyframes[fold].q_count, 7 + ARM_NQ);
    assert_true(m->keyframes[home].has_base && !m->keyframes[fold].has_base);
    assert_near(m->keyframes[fold].q[1], 6.0, 0.0); // the start's

    double q[64], before[64];
    assert_true(m->nq == 26);
    for (int32_t i = 0; i < m->nq; i++) {
        q[i] = before[i] = 100.0 + i;
    }
    stn_model_keyframe_apply(m, fold, q);
    expect_arm(m, q, first);
    int32_t root = m->joints[m->groups[first].joint_start].q_start, changed = 0;
    for (int32_t i = 0; i < 7; i++) {
        assert_near(q[root + i], before[root + i], 0.0); // no base: it stays
    }
    for (int32_t i = 0; i < m->nq; i++) {
        changed += q[i] != before[i];
    }
    assert_int_equal(changed, ARM_NQ);
    stn_model_keyframe_apply(m, home, q);
    const double placed[7] = {1.0, 2.0, 3.0, sqrt(0.5), 0.0, 0.0, sqrt(0.5)};
    for (int32_t i = 0; i < 7; i++) {
        assert_near(q[root + i], placed[i], 1e-15);
    }
    stn_model_destroy(m);
}

static void a_keyframe_of_a_welded_robot_leaves_its_base_out(void **state) {
    fixture *f = *state;
    int32_t robot = add_arm(f, "arm");
    stn_pose base = shift(1.0, 2.0, 3.0);
    add_good(f, robot, "home", HOME, ARM_NQ, &base);
    set_base(f->builder, robot, stn_pose_identity(), true);
    stn_model *m = compile_model(f->builder);
    double q[ARM_NQ] = {0.0};
    assert_int_equal(m->nq, ARM_NQ);
    assert_int_equal(m->keyframes[0].q_count, ARM_NQ);
    assert_false(m->keyframes[0].has_base);
    stn_model_keyframe_apply(m, 0, q);
    expect_arm(m, q, robot);
    stn_model_destroy(m);
}

/// A floating joint of the file is one of its joints: its coordinates are among q.
static void a_floating_joint_of_the_robot_itself_is_written(void **state) {
    fixture *f = *state;
    int32_t robot = begin_robot(f->builder, "drone"), body = add_link(f->builder, "body", one_kg());
    add_joint(f->builder, "free", STN_JOINT_FLOATING, STN_WORLD, body, shift(0.0, 0.0, 1.0), Z);
    const double up[7] = {1.0, 2.0, 3.0, 2.0, 0.0, 0.0, 0.0};
    add_good(f, robot, "up", up, 7, NULL);
    stn_model *m = compile_model(f->builder);
    double q[7] = {0.0};
    stn_model_keyframe_apply(m, stn_model_find_keyframe(m, -1, "up"), q);
    assert_near(q[2], 3.0, 0.0);
    assert_near(q[3], 1.0, 0.0);
    stn_model_destroy(m);
}

/// The follower is of another robot: it moves with the master, and follows the master's present place when its own
/// robot is set.
static void joints_that_mimic_across_robots_follow(void **state) {
    fixture *f = *state;
    stn_error err;
    int32_t joint[2];
    for (int32_t r = 0; r < 2; r++) {
        int32_t robot = begin_robot(f->builder, r == 0 ? "drive" : "hand");
        int32_t base = add_link(f->builder, "base", one_kg()), tip = add_link(f->builder, "tip", one_kg());
        set_base(f->builder, robot, stn_pose_identity(), true);
        joint[r] = add_joint(f->builder, "j", STN_JOINT_PRISMATIC, base, tip, stn_pose_identity(), X);
        const double q = r == 0 ? 3.0 : 50.0;
        add_good(f, robot, "far", &q, 1, NULL);
    }
    assert_ok(stn_builder_set_mimic(f->builder, joint[1], joint[0], -1.0, 0.5, &err), err);
    stn_model *m = compile_model(f->builder);
    double q[2] = {7.0, 8.0};
    stn_model_keyframe_apply(m, stn_model_find_keyframe(m, 1, "far"), q);
    assert_near(q[0], 7.0, 0.0);
    assert_near(q[1], -6.5, 0.0);
    stn_model_keyframe_apply(m, stn_model_find_keyframe(m, 0, "far"), q);
    assert_near(q[0], 3.0, 0.0);
    assert_near(q[1], -2.5, 0.0);
    stn_model_destroy(m);
}

static void bad_keyframes_are_refused_at_once(void **state) {
    fixture *f = *state;
    stn_error err;
    int32_t robot = add_arm(f, "arm");
    double q[ARM_NQ];
#define TRY(i, value) (memcpy(q, HOME, sizeof q), q[i] = (value), add(f, robot, "k", q, ARM_NQ, NULL, &err))
    expect_error(TRY(5, (double)NAN), &err,
                 WORDS("group 'arm', keyframe 'k' (arm.xml:7): joint 'slide' = nan m", "finite"));
    expect_error(TRY(1, (double)INFINITY), &err, WORDS("joint 'shoulder', qx = inf", "finite"));
#undef TRY
    const double zero[ARM_NQ] = {0.0};
    expect_error(add(f, robot, "k", zero, ARM_NQ, NULL, &err), &err,
                 WORDS("'shoulder'", "quaternion must not be zero"));
    expect_error(add(f, robot, "k", HOME, ARM_NQ - 1, NULL, &err), &err,
                 WORDS("keyframe 'k'", "5 coordinates", "have 6"));
    expect_error(add(f, robot, "k", HOME, -1, NULL, &err), &err, WORDS("-1 coordinates"));
    expect_error(add(f, robot, "", HOME, ARM_NQ, NULL, &err), &err, WORDS("name must not be empty"));
    expect_error(add(f, robot, NULL, HOME, ARM_NQ, NULL, &err), &err, WORDS("name must not be empty"));
    expect_error(add(f, 1, "k", HOME, ARM_NQ, NULL, &err), &err, WORDS("no group 1"));
    stn_pose bad = shift((double)NAN, 0.0, 0.0);
    expect_error(add(f, robot, "k", HOME, ARM_NQ, &bad, &err), &err, WORDS("keyframe 'k'", "base", "finite"));
    const double tiny[ARM_NQ] = {1e-320, 0.0, 0.0, 0.0, 0.0, 0.0}, vast[ARM_NQ] = {1e300, 1e300, 0.0, 0.0, 0.0, 0.0};
    add_good(f, robot, "tiny", tiny, ARM_NQ, NULL);
    add_good(f, robot, "vast", vast, ARM_NQ, NULL);
    stn_model *m = compile_model(f->builder);
    assert_int_equal(m->keyframe_count, 2);
    assert_near(m->keyframes[0].q[7], 1.0, 0.0);
    assert_near(m->keyframes[1].q[8], sqrt(0.5), 1e-15);
    stn_model_destroy(m);
}

static void names_used_twice_and_late_joints_are_refused_when_compiling(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_model *m = NULL;
    int32_t robot = add_arm(f, "arm");
    add_good(f, robot, "home", HOME, ARM_NQ, NULL);
    add_good(f, robot, "home", HOME, ARM_NQ, NULL);
    expect_error(stn_model_compile(f->builder, &m, &err), &err,
                 WORDS("group 'arm', keyframe 'home' (arm.xml:7)", "name is taken", "'home_2'"));
    stn_builder_discard(f->builder, robot);
    robot = add_arm(f, "arm");
    add_good(f, robot, "home", HOME, ARM_NQ, NULL);
    int32_t more = add_link(f->builder, "more", one_kg());
    add_joint(f->builder, "late", STN_JOINT_REVOLUTE, more - 1, more, stn_pose_identity(), X);
    expect_error(stn_model_compile(f->builder, &m, &err), &err, WORDS("keyframe 'home'", "6 coordinates", "have 7"));
}

static void discarding_a_robot_drops_its_keyframes_alone(void **state) {
    fixture *f = *state;
    int32_t first = add_arm(f, "first"), second = add_arm(f, "second");
    add_good(f, second, "gone", HOME, ARM_NQ, NULL);
    add_good(f, first, "kept", HOME, ARM_NQ, NULL); // although the robot that goes began before
    stn_builder_discard(f->builder, second);
    second = add_arm(f, "third"); // takes its number
    stn_model *m = compile_model(f->builder);
    assert_int_equal(m->keyframe_count, 1);
    assert_string_equal(m->keyframes[0].name, "kept");
    assert_int_equal(m->groups[second].keyframe_count, 0);
    stn_model_destroy(m);
    add_arm(f, "next"); // and so does compiling
    m = compile_model(f->builder);
    assert_int_equal(m->keyframe_count, 0);
    stn_model_destroy(m);
}

static void names_are_found_within_a_robot_and_in_the_whole_model(void **state) {
    fixture *f = *state;
    int32_t first = add_arm(f, "first"), second = add_arm(f, "second");
    add_good(f, first, "home", HOME, ARM_NQ, NULL);
    add_good(f, second, "home", HOME, ARM_NQ, NULL);
    add_good(f, second, "fold", HOME, ARM_NQ, NULL);
    stn_model *m = compile_model(f->builder);
    assert_int_equal(stn_model_find_keyframe(m, second, "home"), 1);
    assert_int_equal(stn_model_find_keyframe(m, -1, "second/home"), 1);
    assert_int_equal(stn_model_find_keyframe(m, -1, "fold"), 2);
    assert_int_equal(stn_model_find_keyframe(m, -1, "home"), -1); // two have it
    assert_int_equal(stn_model_find_keyframe(m, first, "fold"), -1);
    stn_model_destroy(m);
}

static void running_out_of_memory_leaks_nothing(void **state) {
    fixture *f = *state;
    stn_error err;
    int32_t failures = 0, robot = add_arm(f, "arm");
    stn_status status = STN_ERR_MEMORY;
    for (long long n = 1; status != STN_OK; n++) {
        stn_heap_arm(&f->heap, n);
        status = add(f, robot, "home", HOME, ARM_NQ, NULL, &err);
        stn_heap_arm(&f->heap, 0);
        failures += status == STN_ERR_MEMORY;
    }
    assert_true(failures > 0);
    stn_model *m = NULL;
    long long before = f->heap.live;
    for (long long n = 1; m == NULL; n++) {
        stn_heap_arm(&f->heap, n);
        status = stn_model_compile(f->builder, &m, &err);
        stn_heap_arm(&f->heap, 0);
        assert_true(status == STN_OK || (status == STN_ERR_MEMORY && f->heap.live == before));
    }
    assert_int_equal(m->keyframe_count, 1);
    stn_model_destroy(m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_keyframe_sets_its_robot_and_nothing_else),
        TEST(a_keyframe_of_a_welded_robot_leaves_its_base_out),
        TEST(a_floating_joint_of_the_robot_itself_is_written),
        TEST(joints_that_mimic_across_robots_follow),
        TEST(bad_keyframes_are_refused_at_once),
        TEST(names_used_twice_and_late_joints_are_refused_when_compiling),
        TEST(discarding_a_robot_drops_its_keyframes_alone),
        TEST(names_are_found_within_a_robot_and_in_the_whole_model),
        TEST(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
