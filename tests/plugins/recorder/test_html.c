// SPDX-License-Identifier: Apache-2.0
// What recorder/html writes of simulated worlds, read back by another decoder: poses, contacts with their forces,
// series.
#include "html_fixture.h"

enum { STEPS_MAX = 400, BODIES_MAX = 8 };

/// What an observer of the same world saw.
typedef struct seen {
    int64_t step;
    double time;
    stn_pose pose[BODIES_MAX];
    stn_spatial velocity[BODIES_MAX]; // linear: of the frame's origin
    int32_t contact_count, iterations;
    double momentum, penetration, kinetic, potential, step_us;
    double normal_force, largest_gap; // sum over contacts, and largest |phi0|
} seen;

typedef struct watch {
    seen steps[STEPS_MAX];
    int32_t count;
} watch;

static stn_status look(void *user, const stn_observation *o, stn_error *err) {
    watch *w = user;
    (void)err;
    assert_true(w->count < STEPS_MAX);
    seen *s = &w->steps[w->count++];
    *s = (seen){.step = o->step,
                .time = o->time,
                .contact_count = o->report->contact_count,
                .iterations = o->report->iterations,
                .momentum = o->certificate->momentum,
                .penetration = o->certificate->penetration_m,
                .kinetic = o->report->kinetic_J,
                .potential = o->report->potential_J,
                .step_us = o->report->step_us};
    for (int32_t b = 1; b < o->model->body_count; b++) {
        s->pose[b] = o->kinematics->body_pose[b];
        s->velocity[b].angular = o->kinematics->body_velocity[b].angular;
        s->velocity[b].linear = stn_point_velocity(o->kinematics, b, s->pose[b].position);
    }
    for (int32_t i = 0; i < o->problem->constraint_count; i++) {
        const stn_constraint *c = &o->problem->constraints[i];
        s->normal_force += c->kind == STN_CONSTRAINT_CONTACT ? o->gamma[c->row + 2] / o->dt : 0.0;
        s->largest_gap = c->kind == STN_CONSTRAINT_CONTACT ? fmax(s->largest_gap, fabs(c->phi0)) : s->largest_gap;
    }
    return STN_OK;
}

static int set_up(void **state) {
    make_folder();
    return scene_setup(state);
}

static int tear_down(void **state) {
    return remove_folder() != 0 || scene_teardown(state) != 0;
}

static const seen *seen_at(const watch *w, int64_t step) {
    for (int32_t i = 0; i < w->count; i++) {
        if (w->steps[i].step == step) {
            return &w->steps[i];
        }
    }
    fail_msg("step %lld was not seen", (long long)step);
    return NULL;
}

// ----------------------------------------------------------------------------------------------------------- frames

static void frames_hold_poses_and_velocities_within_half_a_unit(void **state) {
    stn_world *world = scene_world(*state, &defaults);
    static watch w;
    w = (watch){0};
    stn_error err;
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.3, -0.2, 0.35));
    scene_ball(world, "ball", 0.5, 0.05, stn_vec3_make(0.33, -0.17, 0.8));
    assert_ok(stn_world_compile(world, &err), err);
    assert_ok(stn_world_observe(world, look, &w, &err), err);
    record(world, number_setting("frame_rate", 0.0));
    scene_steps(world, 300);
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->frame_count, 301); // the start too
    assert_true(d->frame_blocks >= 5);     // of 64 frames
    for (int32_t f = 1; f < d->frame_count; f++) {
        const decoded_frame *frame = &d->frames[f];
        const seen *s = seen_at(&w, frame->step);
        assert_true(frame->time == s->time); // bit for bit
        for (int32_t b = 1; b < d->body_count; b++) {
            const double *body = frame->body + 13 * (b - 1);
            near3(body, s->pose[b].position, 0.5001 * d->length);
            near3(body + 7, s->velocity[b].linear, 0.5001 * d->velocity);
            near3(body + 10, s->velocity[b].angular, 0.5001 * d->angular_velocity);
            stn_quat q = {body[3], body[4], body[5], body[6]};
            stn_mat3 r = stn_quat_matrix(stn_quat_normalize(q));
            for (int32_t k = 0; k < 9; k++) { // a matrix changes by at most 4 times what its quaternion does
                assert_near(r.m[k / 3][k % 3], s->pose[b].rotation.m[k / 3][k % 3], 4.0 * d->rotation);
            }
            for (int32_t k = 3; k < 7; k++) { // no jump from q to -q
                assert_near(body[k], d->frames[f - 1].body[13 * (b - 1) + k], 0.2);
            }
        }
        assert_int_equal(frame->contact_count, s->contact_count);
    }
    stn_world_destroy(world);
}

static void frames_come_at_the_rate_asked_for_first_and_last_always(void **state) {
    stn_world *world = scene_tight_world(*state, 0.01, 1e-8);
    stn_error err;
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.0, 0.0, 1.0));
    assert_ok(stn_world_compile(world, &err), err);
    record(world, number_setting("frame_rate", 30.0));
    scene_steps(world, 101);
    const decoded *d = close_and_decode(world);
    // k/30 s falls into the step that ends at ceil(100 k/30): 0, 4, 7, 10, ... 100; then the last
    assert_int_equal(d->frame_count, 32);
    for (int32_t k = 0; k <= 30; k++) {
        assert_int_equal(d->frames[k].step, (100 * k + 29) / 30);
    }
    assert_int_equal(d->frames[31].step, 101);
    assert_int_equal(cJSON_GetObjectItem(d->end, "frames")->valueint, 32);
    assert_int_equal(cJSON_GetObjectItem(d->end, "steps")->valueint, 101);
    assert_near(cJSON_GetObjectItem(d->end, "time")->valuedouble, 1.01, 1e-12);
    stn_world_destroy(world);
}

// --------------------------------------------------------------------------------------------------------- contacts

/// A cube of side 0.2 m and 3 kg lies on the ground: forces on it, contact by contact, add up to its weight.
static void contact_forces_at_rest_add_up_to_the_weight(void **state) {
    stn_world *world = scene_tight_world(*state, 0.002, 1e-10);
    stn_error err;
    scene_ground(world);
    int32_t robot = scene_cube(world, "cube", 3.0, stn_vec3_make(0.0, 0.0, 0.1));
    assert_ok(stn_world_compile(world, &err), err);
    record(world, number_setting("frame_rate", 60.0));
    scene_steps(world, 400);
    const decoded *d = close_and_decode(world);
    const decoded_frame *last = &d->frames[d->frame_count - 1];
    const stn_model *model = stn_world_model(world);
    assert_int_equal(last->contact_count, 4);
    double sum[3] = {0.0, 0.0, 0.0};
    for (int32_t i = 0; i < last->contact_count; i++) {
        const decoded_contact *c = &last->contacts[i];
        int32_t body_b = model->geometries[c->geometry_b].body;
        double sign = body_b != 0 ? 1.0 : -1.0; // the force is that on B, the normal points into B
        assert_int_equal(model->bodies[body_b != 0 ? body_b : model->geometries[c->geometry_a].body].group, robot);
        assert_near(sign * c->normal[2], 1.0, d->normal);
        assert_near(fabs(c->point[0]), 0.1, 1e-4);
        assert_near(fabs(c->point[1]), 0.1, 1e-4);
        assert_near(c->point[2], 0.0, 1e-4);
        assert_int_equal(c->state, 1); // sticks
        assert_near(c->slip_speed, 0.0, d->velocity);
        for (int32_t k = 0; k < 3; k++) {
            sum[k] += sign * c->force[k];
        }
    }
    near3(sum, stn_vec3_make(0.0, 0.0, 3.0 * 9.81), 1e-4 * 3.0 * 9.81 + 2.0 * d->force);
    stn_world_destroy(world);
}

/// At rest every contact of a frame is linked to its own in the frame before, save at the start of a block.
static void contacts_that_stay_are_linked_to_themselves(void **state) {
    stn_world *world = scene_tight_world(*state, 0.002, 1e-10);
    stn_error err;
    scene_ground(world);
    scene_cube(world, "low", 3.0, stn_vec3_make(0.0, 0.0, 0.1));
    scene_cube(world, "high", 1.0, stn_vec3_make(0.02, 0.01, 0.3));
    assert_ok(stn_world_compile(world, &err), err);
    record(world, number_setting("frame_rate", 0.0));
    scene_steps(world, 200);
    const decoded *d = close_and_decode(world);
    int32_t linked = 0, moved = 0;
    for (int32_t f = 150; f < d->frame_count; f++) {
        for (int32_t i = 0; i < d->frames[f].contact_count; i++) {
            const decoded_contact *c = &d->frames[f].contacts[i];
            if (c->linked < 0) {
                continue;
            }
            const decoded_contact *before = &d->frames[f - 1].contacts[c->linked];
            double step = 0.0;
            for (int32_t k = 0; k < 3; k++) {
                step = worse(step, fabs(c->point[k] - before->point[k]));
            }
            linked++;
            moved += step > 1e-3; // a wrong link would be a side away
        }
    }
    assert_true(linked >= 45 * 8); // 50 frames of 8 contacts, of which one may begin a block
    assert_int_equal(moved, 0);
    stn_world_destroy(world);
}

/// A ball pushed along the ground slips at the speed of its lowest point, friction is mu n against it, until it rolls.
/// With the law "sap" what slides glides at the height mu (dt + tau_d) v, where the ball starts.
static void a_sliding_contact_slips_with_friction_used_up(void **state) {
    stn_world *world = scene_tight_world(*state, 0.001, 1e-10);
    stn_error err;
    scene_ground(world);
    stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(0.1));
    ball.material.mu = 0.5; // so is the ground
    scene_body(world, "ball", 2.0, &ball, stn_vec3_make(0.0, 0.0, 0.1 + 0.5 * 0.002 * 3.0));
    assert_ok(stn_world_compile(world, &err), err);
    double v[6] = {3.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    assert_ok(stn_world_set_v(world, v, &err), err);
    record(world, number_setting("frame_rate", 0.0));
    scene_steps(world, 390);
    const decoded *d = close_and_decode(world);
    const double mu = 0.5, g = 9.81, r = 0.1, dt = 0.001;
    for (int32_t f = 60; f < 120; f++) { // after it settled, before it rolls at v0/(mu g 7/2) = 0.175 s
        const decoded_frame *frame = &d->frames[f];
        assert_int_equal(frame->contact_count, 1);
        const decoded_contact *c = &frame->contacts[0];
        const double *body = frame->body;
        assert_int_equal(c->state, 2);
        assert_near(hypot(c->force[0], c->force[1]), mu * fabs(c->force[2]), 3.0 * d->force);
        assert_near(fabs(c->force[2]), 2.0 * g, 0.02 * 2.0 * g);
        assert_near(c->slip_speed, body[7] - r * body[11], 2.0 * d->velocity + r * d->angular_velocity);
        assert_near(c->glide_gap, mu * (dt + dt) * c->slip_speed, d->length); // tau_d = dt
    }
    const decoded_contact *rolling = &d->frames[d->frame_count - 1].contacts[0];
    assert_int_equal(rolling->state, 1);
    assert_near(rolling->slip_speed, 0.0, 2.0 * d->velocity);
    assert_near(rolling->glide_gap, 0.0, 0.0);
    assert_near(find_series(d, "slipping")->values[100], 1.0, 0.0);
    assert_near(find_series(d, "slip_speed_m/s")->values[100], d->frames[100].contacts[0].slip_speed, d->velocity);
    assert_near(find_series(d, "slipping")->values[390], 0.0, 0.0);
    assert_near(find_series(d, "slip_speed_m/s")->values[390], 0.0, 0.0);
    stn_world_destroy(world);
}

// ----------------------------------------------------------------------------------------------------------- series

static void same_or_both_nan(float a, double b) {
    assert_true(a == (float)b || (isnan(a) && isnan(b)));
}

static void series_hold_every_step_in_single_precision(void **state) {
    stn_world *world = scene_world(*state, &defaults);
    static watch w;
    w = (watch){0};
    stn_error err;
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.3));
    assert_ok(stn_world_compile(world, &err), err);
    assert_ok(stn_world_observe(world, look, &w, &err), err);
    record(world, number_setting("frame_rate", 60.0));
    for (int32_t i = 0; i < 300; i++) {
        assert_ok(stn_world_plot(world, "early \"<b>", i == 7 ? (double)NAN : 0.1 * i, &err), err);
        if (i >= 250) {
            assert_ok(stn_world_plot(world, "sp\xc3\xa4t", -i, &err), err);
        }
        scene_steps(world, 1);
    }
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->point_count, 301);
    const decoded_series *early = find_series(d, "early \"<b>"), *late = find_series(d, "sp\xc3\xa4t");
    same_or_both_nan(find_series(d, "iterations")->values[0], NAN); // of the start only the energies are known
    same_or_both_nan(early->values[0], NAN);
    for (int32_t i = 1; i < d->point_count; i++) {
        const seen *s = &w.steps[i - 1];
        assert_int_equal(d->step[i], s->step);
        assert_true(d->time[i] == s->time);
        same_or_both_nan(find_series(d, "contacts")->values[i], s->contact_count);
        same_or_both_nan(find_series(d, "iterations")->values[i], s->iterations);
        same_or_both_nan(find_series(d, "momentum")->values[i], s->momentum);
        same_or_both_nan(find_series(d, "penetration_m")->values[i], s->penetration);
        same_or_both_nan(find_series(d, "kinetic_J")->values[i], s->kinetic);
        same_or_both_nan(find_series(d, "potential_J")->values[i], s->potential);
        same_or_both_nan(find_series(d, "step_us")->values[i], s->step_us);
        same_or_both_nan(early->values[i], i == 8 ? (double)NAN : 0.1 * (i - 1));
        same_or_both_nan(late->values[i], i >= 251 ? -(i - 1) : (double)NAN);
    }
    assert_string_equal(find_series(d, "kinetic_J")->unit, "J");
    stn_world_destroy(world);
}

/// Blocks are written at the latest when one is full; a run of many steps between frames fills those of series.
static void many_steps_between_frames_are_all_there(void **state) {
    stn_world *world = scene_tight_world(*state, 1e-4, 1e-8);
    stn_error err;
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.0, 0.0, 1.0));
    assert_ok(stn_world_compile(world, &err), err);
    record(world, number_setting("frame_rate", 1.0));
    scene_steps(world, 5000);
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->point_count, 5001);
    assert_int_equal(d->frame_count, 2); // the start and the end
    for (int32_t i = 0; i < d->point_count; i++) {
        assert_int_equal(d->step[i], i);
    }
    stn_world_destroy(world);
}

// ------------------------------------------------------------------------------------------------------------ units

static double length_unit_of_balls(stn_context *context, double radius) {
    stn_world *world = scene_world(context, &defaults);
    stn_error err;
    scene_ball(world, "a", radius * radius * radius, radius, stn_vec3_make(0.0, 0.0, radius));
    scene_ball(world, "b", radius * radius * radius, radius, stn_vec3_make(4.0 * radius, 0.0, radius));
    assert_ok(stn_world_compile(world, &err), err);
    record(world, number_setting("frame_rate", 60.0));
    scene_steps(world, 2);
    const decoded *d = close_and_decode(world);
    assert_near(d->velocity / d->length, 100.0, 1e-9);
    assert_true(d->force < 1e-3 * 9.81 * radius * radius * radius && d->force > 1e-5 * 9.81 * radius * radius * radius);
    stn_world_destroy(world);
    return d->length;
}

static void units_follow_the_size_of_what_moves(void **state) {
    for (double radius = 1e-4; radius < 200.0; radius *= 10.0) {
        double unit = length_unit_of_balls(*state, radius);
        assert_true(unit <= 2e-3 * radius && unit >= 2e-5 * radius);
    }
}

// ------------------------------------------------------------------------------------------------------------ reset

static void a_reset_world_goes_on_in_a_new_block(void **state) {
    stn_world *world = scene_world(*state, &defaults);
    stn_error err;
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.0, 0.0, 1.0));
    assert_ok(stn_world_compile(world, &err), err);
    stn_snapshot *start = NULL;
    assert_ok(stn_world_snapshot(world, &start, &err), err);
    record(world, number_setting("frame_rate", 0.0));
    scene_steps(world, 10);
    assert_ok(stn_world_restore(world, start, &err), err);
    scene_steps(world, 5);
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->frame_count, 16);
    assert_int_equal(d->frame_blocks, 2);
    assert_int_equal(d->frames[10].step, 10);
    assert_int_equal(d->frames[11].step, 1);
    stn_snapshot_destroy(start);
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(frames_hold_poses_and_velocities_within_half_a_unit, forget),
        cmocka_unit_test_teardown(frames_come_at_the_rate_asked_for_first_and_last_always, forget),
        cmocka_unit_test_teardown(contact_forces_at_rest_add_up_to_the_weight, forget),
        cmocka_unit_test_teardown(contacts_that_stay_are_linked_to_themselves, forget),
        cmocka_unit_test_teardown(a_sliding_contact_slips_with_friction_used_up, forget),
        cmocka_unit_test_teardown(series_hold_every_step_in_single_precision, forget),
        cmocka_unit_test_teardown(many_steps_between_frames_are_all_there, forget),
        cmocka_unit_test_teardown(units_follow_the_size_of_what_moves, forget),
        cmocka_unit_test_teardown(a_reset_world_goes_on_in_a_new_block, forget),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
