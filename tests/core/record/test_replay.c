// SPDX-License-Identifier: Apache-2.0
// A run that was written down by value is made again, step by step and bit for bit, and what differs is named.
#include "scenes.h"

#include <string.h>

#include "stn_heap.h"
#include "stn_random.h"
#include "stn_seed.h"
#include "stn_tape.h"

// ------------------------------------------------------------------------------------------------------------- scenes

/// A cube and a ball on the ground, and a slider under PD.
static stn_world *busy_world(stn_context *context, int32_t threads, int32_t *slider) {
    stn_world_options options = stn_world_options_default();
    options.threads = threads;
    stn_world *world = scene_world(context, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.3));
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.05, 0.02, 0.6));
    *slider = scene_slider(world, "slider", NULL);
    return world;
}

static void step(stn_world *world) {
    stn_error err;
    stn_status status = stn_world_step(world, &err);
    if (status < 0) {
        fail_msg("%s", err.text);
    }
}

/// Everything that may reach a world from outside, each at steps of its own.
static void drive(stn_world *world, int32_t pd, int32_t i, stn_snapshot **kept) {
    const stn_model *model = stn_world_model(world);
    const stn_state *s = stn_world_state(world);
    stn_error err;
    static const stn_setting mass = {.name = "unactuated_mass_scale", .form = STN_SETTING_NUMBER, .number = 1.0};
    static const stn_plugin_choice quasistatic = {"quasistatic", &mass, 1}, midpoint = {.id = "midpoint"};
    double target = 0.3 * sin(0.05 * i), values[64];
    stn_pose pose = {stn_quat_matrix(stn_quat_exp(stn_vec3_make(0.1, 0.2 * i, 0.0))), {0.3, 0.1, 0.4}};
    assert_ok(stn_world_set_reference(world, pd, "position", &target, 1, &err), err);
    switch (i % 40) {
    case 3:
        memcpy(values, s->q, (size_t)model->nq * sizeof(double));
        values[2] += 0.05;
        values[3] *= 1.5; // normalised by the world
        assert_ok(stn_world_set_q(world, values, &err), err);
        break;
    case 6:
        memcpy(values, s->v, (size_t)model->nv * sizeof(double));
        values[0] = 0.7;
        assert_ok(stn_world_set_v(world, values, &err), err);
        assert_ok(stn_world_activate_controller(world, pd, i % 80 == 46, 0.03, &err), err);
        break;
    case 9:
        assert_ok(stn_world_set_body_pose(world, 2, &pose, &err), err);
        break;
    case 12:
        assert_ok(
            stn_world_set_body_velocity(world, 1, stn_vec3_make(0.1, 0.0, 1.0), stn_vec3_make(0.0, 3.0, 0.0), &err),
            err);
        break;
    case 15:
        assert_ok(stn_world_set_effort(world, model->nv - 1, 1.25 + i, &err), err);
        break;
    case 18:
        assert_ok(stn_world_set_wrench(world, 1, stn_vec3_make(3.0, 0.0, 5.0), stn_vec3_make(0.0, 0.1, 0.0),
                                       stn_vec3_make(0.1, 0.0, 0.2), &err),
                  err);
        break;
    case 21:
        assert_ok(stn_world_set_dt(world, i % 80 == 21 ? 1e-3 : 2e-3, &err), err);
        break;
    case 24:
        assert_ok(stn_world_set_gravity(world, stn_vec3_make(0.5, 0.0, -9.0), &err), err);
        break;
    case 27:
        stn_snapshot_destroy(*kept);
        assert_ok(stn_world_snapshot(world, kept, &err), err);
        break;
    case 33:
        assert_ok(stn_world_restore(world, *kept, &err), err);
        break;
    case 36:
        assert_ok(stn_world_plot(world, "height", s->q[2], &err), err);
        break;
    case 38: // forces of rest for two steps, then another scheme of motion; there are snapshots of all of them
        assert_ok(stn_world_set_integrator(world, &quasistatic, &err), err);
        break;
    case 0:
        assert_ok(stn_world_set_integrator(world, i % 80 == 40 ? &midpoint : &(stn_plugin_choice){0}, &err), err);
        break;
    default:
        break;
    }
    if (i == 150) {
        stn_world_reset(world);
    }
    step(world);
}

/// Records 200 driven steps, beginning after `before` of them.
static tape *driven(stn_context *context, int32_t threads, int32_t before, uint64_t *hash) {
    int32_t robot = 0;
    stn_world *world = busy_world(context, threads, &robot);
    int32_t pd = scene_controller(world, robot, "joint_pd", "kp", 50.0, "kd", 1.0, NULL);
    stn_snapshot *kept = NULL;
    tape *t = before == 0 ? tape_record(world) : NULL;
    for (int32_t i = 0; i < 200; i++) {
        t = t == NULL && i == before ? tape_record(world) : t;
        drive(world, pd, i, &kept);
    }
    *hash = stn_world_hash(world);
    stn_snapshot_destroy(kept);
    stn_world_destroy(world);
    return t;
}

/// As fuzz_replay reads it: the size of the run, the run, and the records of up to 20 steps.
static void write_seed(const char *name, const tape *t) {
    unsigned char *head = malloc(sizeof(uint32_t) + t->run_size);
    uint32_t size = (uint32_t)t->run_size;
    assert_non_null(head);
    memcpy(head, &size, sizeof size);
    memcpy(head + sizeof size, t->run, t->run_size);
    seed_write(name, head, sizeof size + t->run_size, t->steps, t->count > 20 ? t->start[20] : t->steps_size);
    free(head);
}

// -------------------------------------------------------------------------------------------------------------- tests

static void every_input_is_played_again(void **state) {
    uint64_t hash = 0;
    tape *t = driven(*state, 1, 0, &hash);
    assert_int_equal(t->count, 200);
    assert_true(tape_play(*state, t) == hash);
    write_seed("replay/driven", t);
    tape_drop(t);
}

/// A piston pushes a cube: told pose and velocity, pose alone, or nothing.
static void kinematic_motion_is_played_again(void **state) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(*state, &options);
    stn_error err;
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    int32_t piston = scene_cube(world, "piston", 1.0, stn_vec3_make(-0.3, 0.0, 0.12));
    assert_ok(stn_builder_make_kinematic(stn_world_builder(world), piston, &err), err);
    tape *t = tape_record(world);
    for (int32_t i = 0; i < 100; i++) {
        double time = 0.002 * (i + 1);
        stn_pose pose = {stn_quat_matrix(stn_quat_exp(stn_vec3_make(0.0, 0.0, time))), {-0.3 + time, 0.0, 0.12}};
        stn_vec3 linear = {1.0, 0.0, 0.0}, angular = {0.0, 0.0, 1.0};
        bool alone = i % 2 == 0;
        if (i % 5 != 0) {
            assert_ok(stn_world_set_kinematic(world, 2, &pose, alone ? NULL : &linear, alone ? NULL : &angular, &err),
                      err);
        }
        assert_ok(stn_world_set_surface_velocity(world, 0, stn_vec3_make(0.0, 0.01 * i, 0.0), &err),
                  err); // of the ground
        step(world);
    }
    uint64_t hash = stn_world_hash(world);
    assert_true(stn_world_state(world)->q[0] > 0.02); // it was pushed
    stn_world_destroy(world);
    assert_true(tape_play(*state, t) == hash);
    write_seed("replay/prescribed", t);
    tape_drop(t);
}

static void recording_may_begin_in_the_middle(void **state) {
    uint64_t hash = 0;
    tape *t = driven(*state, 1, 77, &hash);
    assert_int_equal(t->count, 123);
    assert_true(tape_play(*state, t) == hash);
    tape_drop(t);
    t = driven(*state, 1, 20, &hash);
    assert_true(tape_play(*state, t) == hash);
    write_seed("replay/driven_later", t);
    tape_drop(t);
}

static void threads_change_nothing(void **state) {
    uint64_t hash = 0;
    tape *t = driven(*state, 2, 0, &hash);
    assert_true(tape_play(*state, t) == hash);
    tape_drop(t);
}

/// A second recording knows what was set before it began, and a controller may come after a recording.
static void recordings_may_begin_between_inputs(void **state) {
    int32_t robot = 0;
    stn_error err;
    stn_world *world = busy_world(*state, 1, &robot);
    tape *first = tape_record(world);
    int32_t pd = scene_controller(world, robot, "joint_pd", "kp", 50.0, "kd", 1.0, NULL);
    double target = 0.2;
    assert_ok(stn_world_set_reference(world, pd, "position", &target, 1, &err), err);
    tape *second = tape_record(world);
    assert_ok(stn_world_set_effort(world, 0, 2.0, &err), err);
    for (int32_t i = 0; i < 20; i++) {
        step(world);
    }
    uint64_t hash = stn_world_hash(world);
    stn_world_destroy(world);
    assert_true(tape_play(*state, first) == hash);
    assert_true(tape_play(*state, second) == hash);
    write_seed("replay/controller", first);
    tape_drop(first);
    tape_drop(second);
}

/// A controller that keeps a spline across steps.
static void a_controller_with_memory_is_played_again(void **state) {
    int32_t robot = 0;
    stn_error err;
    stn_world *world = busy_world(*state, 1, &robot);
    int32_t spline = scene_controller(world, robot, "trajectory", NULL);
    step(world);
    tape *t = tape_record(world);
    for (int32_t i = 0; i < 40; i++) {
        double target[64] = {0.0};
        for (int32_t k = 1; k < STN_COUNT(target); k++) {
            target[k] = k == 1 ? 0.1 : 0.05 + 0.01 * (i / 10); // three waypoints: the last is repeated
        }
        if (i % 10 == 0) {
            assert_ok(stn_world_set_reference(world, spline, "points", target, STN_COUNT(target), &err), err);
        }
        step(world);
    }
    uint64_t hash = stn_world_hash(world);
    stn_world_destroy(world);
    assert_true(tape_play(*state, t) == hash);
    write_seed("replay/trajectory", t);
    tape_drop(t);
}

/// Where `needle`, as bytes, lies in a record.
static unsigned char *find(unsigned char *bytes, size_t size, const void *needle, size_t length) {
    for (size_t i = 0; i + length <= size; i++) {
        if (memcmp(bytes + i, needle, length) == 0) {
            return bytes + i;
        }
    }
    fail_msg("the number is not in the bytes");
    return NULL;
}

/// The first step that differs.
static int32_t first_difference(stn_context *context, const tape *t, stn_replay_difference *d) {
    stn_replay *replay = tape_replay(context, t, NULL);
    stn_error err;
    size_t at = 0, used = 0;
    int32_t count = 0;
    *d = (stn_replay_difference){0};
    while (at < t->steps_size && !d->differs) {
        assert_true(stn_replay_step(replay, t->steps + at, t->steps_size - at, &used, d, &err) >= 0);
        at += used;
        count++;
    }
    stn_replay_destroy(replay);
    return count;
}

static void a_changed_input_is_found_at_its_step(void **state) {
    uint64_t hash = 0;
    stn_replay_difference d;
    tape *t = driven(*state, 1, 0, &hash);
    double effort = 1.25 + 15; // on the slider, set before step 16
    unsigned char *number = find(t->steps + t->start[15], t->steps_size - t->start[15], &effort, sizeof effort);
    number[3] ^= 1;
    assert_int_equal(first_difference(*state, t, &d), 16);
    assert_string_equal(d.quantity, "q and v");
    assert_int_equal(d.tree, 2);
    assert_string_equal(d.measure, "kinetic energy");
    assert_true(d.recorded > 0.0 && d.recorded != d.replayed);
    assert_near(d.replayed, d.recorded, 1e-3 * d.recorded); // byte 3 of 8 is the 20th digit after the point, in base 2
    tape_drop(t);
}

static void a_changed_position_and_a_changed_count_are_named(void **state) {
    uint64_t hash = 0;
    stn_replay_difference d;
    tape *t = driven(*state, 1, 0, &hash);
    size_t end = t->start[49] - 8 - 16 - 3 * sizeof(uint16_t); // of step 49: hashes and energies follow the counts
    t->steps[end - 2] ^= 1;                                    // iterations
    assert_int_equal(first_difference(*state, t, &d), 49);
    assert_string_equal(d.quantity, "iterations");
    assert_string_equal(d.measure, "iterations");
    assert_near(fabs(d.recorded - d.replayed), 1.0, 0.0);
    t->steps[end] ^= 1; // hash of q
    assert_int_equal(first_difference(*state, t, &d), 49);
    assert_string_equal(d.quantity, "q");
    assert_near(d.recorded, d.replayed, 0.0); // the energies were left as they are
    tape_drop(t);
}

/// Of many trees a few hashes tell which differ.
static void one_of_many_bodies_is_named(void **state) {
    enum { BALLS = 110, STEPS = 4 };
    const stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(*state, &options);
    stn_error err;
    char name[32];
    for (int32_t i = 0; i < BALLS; i++) {
        snprintf(name, sizeof name, "ball%d", i);
        scene_ball(world, name, 1.0, 0.1, stn_vec3_make(i, 0.0, 1.0));
    }
    tape *t = tape_record(world);
    for (int32_t k = 0; k < STEPS; k++) {
        for (int32_t i = 0; i < BALLS && k == 2; i++) {
            const stn_vec3 v = {0.0, 0.0, 1.0 + i / 1024.0};
            assert_ok(stn_world_set_body_velocity(world, i + 1, v, stn_vec3_zero(), &err), err);
        }
        step(world);
    }
    const stn_model *model = stn_world_model(world);
    assert_int_equal(model->tree_count, BALLS);
    for (int32_t i = 0; i < BALLS; i++) {
        unsigned char *byte[2];
        const int32_t other = (7 * i + 3) % BALLS, both[2] = {i, other};
        for (int32_t k = 0; k < 2; k++) { // the second one too, then alone the first
            const double speed = 1.0 + both[k] / 1024.0;
            byte[k] = find(t->steps + t->start[2], t->steps_size - t->start[2], &speed, sizeof speed) + 3;
            *byte[k] ^= 1;
        }
        const int32_t first = i < other ? i : other;
        stn_replay_difference d;
        assert_int_equal(first_difference(*state, t, &d), 3);
        assert_int_equal(d.tree, model->bodies[1 + first].tree);
        *byte[1] ^= 1;
        assert_int_equal(first_difference(*state, t, &d), 3);
        assert_int_equal(d.tree, model->bodies[1 + i].tree);
        *byte[0] ^= 1;
    }
    stn_replay_difference d;
    assert_int_equal(first_difference(*state, t, &d), STEPS);
    assert_false(d.differs);
    stn_world_destroy(world);
    tape_drop(t);
}

static void a_changed_parameter_is_found(void **state) {
    stn_replay_difference d;
    stn_error err;
    int32_t robot = 0;
    double ratio = 0.71, other = 0.7100000001;
    stn_world *world = busy_world(*state, 1, &robot);
    const int32_t control =
        scene_controller(world, robot, "joint_impedance", "stiffness", 50.0, "damping_ratio", ratio, NULL);
    tape *t = tape_record(world);
    for (int32_t i = 0; i < 20; i++) {
        const double target = 0.01 * i;
        assert_ok(stn_world_set_reference(world, control, "position", &target, 1, &err), err);
        step(world);
    }
    stn_world_destroy(world);
    memcpy(find(t->run, t->run_size, &ratio, sizeof ratio), &other, sizeof other);
    uint64_t checksum = stn_hash(0, t->run, t->run_size - 8);
    memcpy(t->run + t->run_size - 8, &checksum, 8);
    assert_int_equal(first_difference(*state, t, &d), 2); // the first reference is 0, where the slider stands
    assert_int_equal(d.tree, 2);
    tape_drop(t);
}

static void another_build_is_told(void **state) {
    uint64_t hash = 0;
    tape *t = driven(*state, 1, 0, &hash);
    stn_replay *replay = tape_replay(*state, t, NULL);
    assert_null(stn_replay_other_build(replay));
    stn_replay_destroy(replay);
    static const char library[] = STN_VERSION ", ";
    unsigned char *text = find(t->run, t->run_size, library, sizeof library - 1);
    const size_t plugins = strlen((char *)text) + 1; // from here to the hash of their code
    text[plugins] ^= 1;
    uint64_t checksum = stn_hash(0, t->run, t->run_size - 8);
    memcpy(t->run + t->run_size - 8, &checksum, 8);
    replay = tape_replay(*state, t, NULL);
    assert_string_equal(stn_replay_other_build(replay), "recorded with plugins of another build");
    stn_replay_destroy(replay);
    text[0] = '9';
    checksum = stn_hash(0, t->run, t->run_size - 8);
    memcpy(t->run + t->run_size - 8, &checksum, 8);
    replay = tape_replay(*state, t, NULL);
    const char *told = stn_replay_other_build(replay);
    assert_memory_equal(told, "recorded by Stiction 9.1.0, ", 28);
    assert_non_null(strstr(told, "; this is " STN_VERSION ", "));
    stn_replay_destroy(replay);
    tape_drop(t);
}

static void other_threads_agree_and_damage_is_refused(void **state) {
    uint64_t hash = 0;
    stn_error err;
    stn_replay *replay = NULL;
    tape *t = driven(*state, 1, 0, &hash);
    const stn_replay_options two = {.threads = 2};
    replay = tape_replay(*state, t, &two);
    stn_replay_difference d;
    size_t used = 0;
    for (int32_t i = 0; i < t->count; i++) {
        assert_true(stn_replay_step(replay, t->steps + t->start[i], t->steps_size - t->start[i], &used, &d, &err) >= 0);
        assert_false(d.differs);
    }
    assert_int_equal(stn_replay_step(replay, t->steps, 10, &used, &d, &err), STN_ERR_PARSE);
    assert_int_equal(used, 0);
    stn_replay_destroy(replay);
    for (size_t cut = 0; cut < t->run_size; cut += 1 + t->run_size / 40) {
        assert_int_equal(stn_replay_create(*state, t->run, cut, NULL, &replay, &err), STN_ERR_PARSE);
        assert_null(replay);
    }
    t->run[t->run_size / 2] ^= 4;
    assert_int_equal(stn_replay_create(*state, t->run, t->run_size, NULL, &replay, &err), STN_ERR_PARSE);
    tape_drop(t);
}

/// Another integrator takes the place of the one that the run began with: where the run goes over to another, the
/// replay does so.
static void another_integrator_is_that_of_the_beginning(void **state) {
    uint64_t hash = 0;
    stn_error err;
    tape *t = driven(*state, 1, 20, &hash); // over to quasistatic at 38, to midpoint at 40, and so on; reset at 150
    const stn_replay_options wanted = {.plugin = {[STN_KIND_INTEGRATOR] = {.id = "implicit_euler"}}};
    stn_replay *replay = tape_replay(*state, t, &wanted);
    const stn_instance *now = NULL;
    for (int32_t i = 0; i < t->count; i++) {
        size_t used = 0;
        stn_replay_difference d;
        assert_true(stn_replay_step(replay, t->steps + t->start[i], t->steps_size - t->start[i], &used, &d, &err) >= 0);
        now = stn_world_plugin(stn_replay_world(replay), STN_KIND_INTEGRATOR);
        const char *expected = i + 20 < 38 ? "implicit_euler" : i + 20 < 40 ? "quasistatic" : "midpoint";
        assert_true(i + 20 >= 78 || strcmp(now->desc->id, expected) == 0);
    }
    assert_string_equal(now->desc->id, "quasistatic"); // 198
    stn_replay_destroy(replay);
    tape_drop(t);
}

static void a_missing_plugin_is_named(void **state) {
    uint64_t hash = 0;
    stn_error err;
    stn_replay *replay = NULL;
    tape *t = driven(*state, 1, 0, &hash);
    const stn_replay_options wanted = {.plugin = {[STN_KIND_SOLVER] = {.id = "no_such_solver"}}};
    assert_int_equal(stn_replay_create(*state, t->run, t->run_size, &wanted, &replay, &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "no_such_solver"));
    memcpy(find(t->run, t->run_size, "joint_pd", 8), "joint_qq", 8);
    uint64_t checksum = stn_hash(0, t->run, t->run_size - 8);
    memcpy(t->run + t->run_size - 8, &checksum, 8);
    assert_int_equal(stn_replay_create(*state, t->run, t->run_size, NULL, &replay, &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "joint_qq"));
    tape_drop(t);
}

typedef struct pushing_observer {
    stn_world *world;
    int32_t steps;
} pushing_observer;

/// Pushes the cube for the next step and plots a number of this one.
static stn_status push(void *user, const stn_observation *o, stn_error *err) {
    pushing_observer *p = user;
    p->steps++;
    stn_status status = stn_world_set_effort(p->world, o->model->nv - 1, 0.1 * p->steps, err);
    return status == STN_OK ? stn_world_plot(p->world, "steps", p->steps, err) : status;
}

/// What a caller's observer gives is an input of the next step, and what it plots a recorder shows with this one,
/// whichever of the two came first.
static void an_observer_gives_inputs_of_the_next_step(void **state) {
    for (int32_t late = 0; late < 2; late++) {
        int32_t robot = 0;
        stn_error err;
        stn_world *world = busy_world(*state, 1, &robot);
        pushing_observer pushing = {world, 0};
        tape *t = late == 1 ? tape_record(world) : NULL;
        assert_ok(stn_world_observe(world, push, &pushing, &err), err);
        t = t != NULL ? t : tape_record(world);
        for (int32_t i = 0; i < 30; i++) {
            step(world);
            assert_true(t->signal == pushing.steps);
        }
        uint64_t hash = stn_world_hash(world);
        stn_replay *replay = tape_replay(*state, t, NULL);
        for (int32_t i = 0; i < t->count; i++) {
            size_t used = 0;
            stn_replay_difference d;
            assert_ok(stn_replay_step(replay, t->steps + t->start[i], t->steps_size - t->start[i], &used, &d, &err),
                      err);
            assert_false(d.differs);
        }
        double after_last = 0.1 * pushing.steps; // given for a step that was not made
        stn_world *again = stn_replay_world(replay);
        assert_ok(stn_world_set_effort(again, stn_world_model(again)->nv - 1, after_last, &err), err);
        assert_true(stn_world_hash(again) == hash);
        stn_replay_destroy(replay);
        stn_world_destroy(world);
        tape_drop(t);
    }
}

static stn_status fail_at_ten(void *user, const stn_observation *o, stn_error *err) {
    (void)user;
    return o->step == 10 ? stn_fail(err, STN_ERR_ARGUMENT, "ten") : STN_OK;
}

/// The step of an observer that fails was made: recordings have it, and the run can be played again.
static void an_observer_that_fails_leaves_no_gap(void **state) {
    int32_t robot = 0;
    stn_error err;
    stn_world *world = busy_world(*state, 1, &robot);
    tape *t = tape_record(world);
    assert_ok(stn_world_observe(world, fail_at_ten, NULL, &err), err);
    for (int32_t i = 1; i <= 20; i++) {
        stn_status status = stn_world_step(world, &err);
        assert_int_equal(status < 0 ? status : STN_OK, i == 10 ? STN_ERR_ARGUMENT : STN_OK);
        assert_string_equal(i == 10 ? err.text : "ten", "ten");
    }
    uint64_t hash = stn_world_hash(world);
    stn_world_destroy(world);
    assert_int_equal(t->count, 20);
    assert_true(tape_play(*state, t) == hash);
    tape_drop(t);
}

/// A recorder that does not ask for it gets none, and nobody pays.
static void without_a_reader_nothing_is_written(void **state) {
    int32_t robot = 0;
    stn_world *world = busy_world(*state, 1, &robot);
    step(world);
    assert_null(stn_world_observation(world)->journal);
    tape *t = tape_record(world);
    step(world);
    assert_non_null(stn_world_observation(world)->journal);
    stn_error err;
    assert_ok(stn_world_close_recordings(world, &err), err);
    assert_null(stn_world_observation(world)->journal);
    step(world);
    assert_null(stn_world_observation(world)->journal);
    stn_world_destroy(world);
    tape_drop(t);
}

/// Recording allocates nothing either once it is warm.
static void a_recorded_steady_step_allocates_nothing(void **state) {
    int32_t robot = 0;
    stn_error err;
    stn_world *world = busy_world(*state, 1, &robot);
    int32_t pd = scene_controller(world, robot, "joint_pd", "kp", 50.0, "kd", 1.0, NULL);
    tape *t = tape_record(world);
    int64_t before = 0;
    for (int32_t i = 0; i < 1200; i++) {
        before = i == 1000 ? stn_context_allocations(*state) : before;
        double target = 0.1 * sin(0.1 * i);
        assert_ok(stn_world_set_reference(world, pd, "position", &target, 1, &err), err);
        step(world);
    }
    assert_int_equal(stn_context_allocations(*state), before);
    stn_world_destroy(world);
    tape_drop(t);
}

static void running_out_of_memory_is_a_status(void **state) {
    uint64_t hash = 0;
    tape *t = driven(*state, 1, 0, &hash);
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    stn_error err;
    stn_replay *replay = tape_replay(context, t, NULL); // plugins are found now
    stn_replay_destroy(replay);
    long long live = heap.live;
    stn_status status = STN_ERR_MEMORY;
    for (long long n = 1; status == STN_ERR_MEMORY; n++) {
        stn_heap_arm(&heap, n);
        status = stn_replay_create(context, t->run, t->run_size, NULL, &replay, &err);
        assert_true(status == STN_OK || heap.live == live);
    }
    assert_ok(status, err);
    stn_heap_arm(&heap, 0);
    stn_replay_destroy(replay);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
    tape_drop(t);
}

/// A tumbling box on ground of another material: the rules of its contacts decide where it goes.
static void options_other_than_the_default_are_part_of_a_run(void **state) {
    stn_world_options options = stn_world_options_default();
    options.dt = 0.003;
    options.gravity = stn_vec3_make(0.5, 0.0, -9.0);
    options.margin = 0.004;
    options.contact_point = STN_CONTACT_POINT_B;
    options.relaxation_rule = STN_RELAXATION_SERIES;
    options.varied = true;
    stn_world *world = scene_world(*state, &options);
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space()), box = ground;
    box.shape = stn_shape_box(stn_vec3_make(0.1, 0.2, 0.05));
    ground.material.stiffness = 1e4, ground.material.relaxation_time = 0.01;
    box.material.stiffness = 2e3, box.material.relaxation_time = 0.03;
    int32_t id = 0;
    stn_error err;
    assert_ok(stn_builder_add_geometry(stn_world_builder(world), STN_WORLD, &ground, &id, &err), err);
    scene_body(world, "box", 1.0, &box, stn_vec3_make(0.0, 0.0, 0.15));
    assert_ok(stn_world_compile(world, &err), err);
    const double v[6] = {1.0, 0.0, 0.0, 3.0, 2.0, 1.0};
    assert_ok(stn_world_set_v(world, v, &err), err);
    tape *t = tape_record(world);
    for (int32_t i = 0; i < 100; i++) {
        if (i == 50) { // it lies there by now
            assert_ok(stn_world_set_mass_factor(world, 1, 2.5, &err), err);
            assert_ok(stn_world_set_friction_factor(world, 0, 0.1, &err), err);
        }
        step(world);
    }
    assert_true(stn_world_observation(world)->report->contact_count > 0);
    assert_true(tape_play(*state, t) == stn_world_hash(world));
    stn_world_destroy(world);
    tape_drop(t);
}

static void seal(unsigned char *block, size_t size) {
    uint64_t checksum = stn_hash(0, block, size - 8);
    memcpy(block + size - 8, &checksum, 8);
}

/// Any byte of a record or of a run's options, plugins, controllers and signals may be wrong: refused, or played.
static void forged_bytes_do_no_harm(void **state) {
    uint64_t hash = 0;
    stn_error err;
    stn_random random = {3};
    tape *t = driven(*state, 1, 0, &hash);
    for (int32_t i = 0; i < 300; i++) {
        bool run = i % 2 == 0;
        size_t most = run ? t->run_size - 8 : t->start[20], at = (size_t)random_below(&random, (int32_t)most);
        unsigned char *byte = (run ? t->run : t->steps) + at, before = *byte;
        *byte = (unsigned char)(i % 3 == 0 ? 0xff : i % 3 == 1 ? 0 : random_bits(&random));
        seal(t->run, t->run_size);
        stn_replay *replay = NULL;
        stn_status status = stn_replay_create(*state, t->run, t->run_size, NULL, &replay, &err);
        assert_true((status == STN_OK) == (replay != NULL));
        for (size_t from = 0, used = 1; replay != NULL && status >= 0 && from < t->start[25]; from += used) {
            stn_replay_difference d;
            status = stn_replay_step(replay, t->steps + from, t->steps_size - from, &used, &d, &err);
        }
        stn_replay_destroy(replay);
        *byte = before;
    }
    tape_drop(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_input_is_played_again),
        cmocka_unit_test(kinematic_motion_is_played_again),
        cmocka_unit_test(recording_may_begin_in_the_middle),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(recordings_may_begin_between_inputs),
        cmocka_unit_test(a_controller_with_memory_is_played_again),
        cmocka_unit_test(a_changed_input_is_found_at_its_step),
        cmocka_unit_test(a_changed_position_and_a_changed_count_are_named),
        cmocka_unit_test(one_of_many_bodies_is_named),
        cmocka_unit_test(a_changed_parameter_is_found),
        cmocka_unit_test(another_build_is_told),
        cmocka_unit_test(other_threads_agree_and_damage_is_refused),
        cmocka_unit_test(another_integrator_is_that_of_the_beginning),
        cmocka_unit_test(a_missing_plugin_is_named),
        cmocka_unit_test(an_observer_gives_inputs_of_the_next_step),
        cmocka_unit_test(an_observer_that_fails_leaves_no_gap),
        cmocka_unit_test(without_a_reader_nothing_is_written),
        cmocka_unit_test(a_recorded_steady_step_allocates_nothing),
        cmocka_unit_test(forged_bytes_do_no_harm),
        cmocka_unit_test(running_out_of_memory_is_a_status),
        cmocka_unit_test(options_other_than_the_default_are_part_of_a_run),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
