// SPDX-License-Identifier: Apache-2.0
// The one place where what a world is given between its steps reaches it.
#include <string.h>

#include "world/sleep.h"

typedef struct field_view {
    double *values;
    size_t count;
} field_view;

static field_view view_of(stn_world *world, input_field field) {
    stn_state *s = &world->state;
    switch (field) {
    case INPUT_Q:
        return (field_view){s->q, s->sizes.nq};
    case INPUT_V:
        return (field_view){s->v, s->sizes.nv};
    case INPUT_REFERENCE:
        return (field_view){s->reference, s->sizes.reference_count};
    case INPUT_EFFORT:
        return (field_view){s->effort, s->sizes.nv};
    case INPUT_WRENCH:
        return (field_view){s->wrench, s->sizes.wrench_count};
    case INPUT_KINEMATIC:
        return (field_view){s->kinematic_target, s->sizes.kinematic_count};
    case INPUT_SURFACE:
        return (field_view){s->surface_velocity, s->sizes.surface_count};
    case INPUT_ACTIVATION:
        return (field_view){s->activation, s->sizes.activation_count};
    case INPUT_MASS:
        return (field_view){s->mass_factor, s->sizes.mass_count};
    case INPUT_FRICTION:
        return (field_view){s->friction_factor, s->sizes.friction_count};
    default:
        return (field_view){NULL, 0};
    }
}

static void note_woken(stn_world *world, bool woke) {
    world->frame.sleepers.changed = world->frame.sleepers.changed || woke;
}

static void write_values(stn_world *world, const input_part *part) {
    world->frame.told = true;
    if (part->field == INPUT_Q || part->field == INPUT_V) {
        note_woken(world, stn_state_wake_set(world->setup, &world->state, part->field == INPUT_Q, part->start,
                                             part->count, part->values));
    }
    if (part->count > 0) {
        double *to = view_of(world, part->field).values + part->start;
        memcpy(to, part->values, part->count * sizeof *to);
    }
    if (part->field == INPUT_Q || part->field == INPUT_V) {
        world->frame.kinematics_stale = true;
    }
    if (part->field == INPUT_MASS || part->field == INPUT_FRICTION) {
        stn_world_take_factors(world);
        note_woken(world, stn_state_wake_all(&world->state));
    }
    if (part->field == INPUT_Q && stn_state_forget_anchors(world->setup, &world->state, part->start, part->count)) {
        world->frame.sleepers.known = false; // the anchors in their list are those from before
    }
}

stn_status stn_world_apply(stn_world *world, const world_input *input, stn_error *err) {
    stn_status status = STN_OK;
    world->frame.told = true;
    switch (input->kind) {
    case INPUT_VALUES: {
        const input_part *part = &input->part;
        size_t room = view_of(world, part->field).count;
        if (part->start > room || part->count > room - part->start) {
            return stn_fail(err, STN_ERR_ARGUMENT, "input: numbers %zu to %zu of a field of %zu", part->start,
                            part->start + part->count, room);
        }
        write_values(world, part);
        break;
    }
    case INPUT_DT:
        status = stn_world_check_own(world, err);
        if (status != STN_OK) {
            return status;
        }
        if (!(input->dt > 0.0) || !isfinite(input->dt)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "dt = %g s must be > 0 and finite", input->dt);
        }
        if (input->dt != world->frame.dt) {
            note_woken(world, stn_state_wake_all(&world->state));
        }
        stn_cache_rescale(&world->state, input->dt / world->frame.dt); // forces go on
        world->frame.dt = input->dt;
        break;
    case INPUT_GRAVITY:
        if (!stn_vec3_finite(input->gravity)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "gravity = (%g, %g, %g) m/s^2 must be finite", input->gravity.x,
                            input->gravity.y, input->gravity.z);
        }
        status = stn_sleep_check_bound(&world->setup->options, input->gravity, err);
        if (status != STN_OK) {
            return status;
        }
        if (input->gravity.x != world->state.gravity.x || input->gravity.y != world->state.gravity.y ||
            input->gravity.z != world->state.gravity.z) {
            note_woken(world, stn_state_wake_all(&world->state));
        }
        world->state.gravity = input->gravity;
        break;
    case INPUT_STATE:
        status = stn_world_take_state(world, input->state, err);
        break;
    case INPUT_CONTROLLER:
        status = stn_world_take_controller(world, input, err);
        note_woken(world, status == STN_OK && stn_state_wake_all(&world->state));
        break;
    case INPUT_SIGNAL:
        status = stn_world_take_signal(world, input->signal.name, input->signal.value, err);
        break;
    case INPUT_INTEGRATOR:
        status = stn_world_take_integrator(world, input->integrator, err);
        note_woken(world, status == STN_OK && stn_state_wake_all(&world->state));
        break;
    case INPUT_CAMERA:
        status = stn_world_take_camera(world, input->camera, err);
        break;
    case INPUT_CAPTION:
        status = stn_world_take_caption(world, input->caption, err);
        break;
    default:
        return stn_fail(err, STN_ERR_ARGUMENT, "input: no kind %d", (int)input->kind);
    }
    if (status == STN_OK && world->input_hook.told != NULL) {
        world->input_hook.told(world->input_hook.user, input);
    }
    return status;
}

void stn_world_apply_values(stn_world *world, input_field field, size_t start, size_t count, const double *values) {
    const input_part part = {field, start, count, values};
    write_values(world, &part);
    if (world->input_hook.told != NULL) { // references are set in every step, so the record is made for listeners alone
        const world_input input = {.kind = INPUT_VALUES, .part = part};
        world->input_hook.told(world->input_hook.user, &input);
    }
}

stn_status stn_world_set_dt(stn_world *world, double dt, stn_error *err) {
    const world_input input = {.kind = INPUT_DT, .dt = dt};
    return stn_world_apply(world, &input, err);
}

stn_status stn_world_set_gravity(stn_world *world, stn_vec3 gravity, stn_error *err) {
    const world_input input = {.kind = INPUT_GRAVITY, .gravity = gravity};
    return stn_world_apply(world, &input, err);
}

stn_status stn_world_add_controller(stn_world *world, stn_instance *instance, int32_t group, const int32_t *joints,
                                    int32_t joint_count, int32_t *index, stn_error *err) {
    const world_input input = {.kind = INPUT_CONTROLLER, .controller = {instance, group, joint_count, joints}};
    stn_status status = stn_world_apply(world, &input, err);
    *index = status == STN_OK ? world->setup->controller_count - 1 : -1;
    return status;
}

stn_status stn_world_plot(stn_world *world, const char *name, double value, stn_error *err) {
    const world_input input = {.kind = INPUT_SIGNAL, .signal = {name, value}};
    return stn_world_apply(world, &input, err);
}

stn_status stn_world_set_camera(stn_world *world, const stn_camera *camera, stn_error *err) {
    const world_input input = {.kind = INPUT_CAMERA, .camera = camera};
    return stn_world_apply(world, &input, err);
}

stn_status stn_world_set_caption(stn_world *world, const char *text, stn_error *err) {
    const world_input input = {.kind = INPUT_CAPTION, .caption = text};
    return stn_world_apply(world, &input, err);
}

stn_status stn_world_set_integrator(stn_world *world, const stn_plugin_choice *choice, stn_error *err) {
    const char *id = choice->id != NULL ? choice->id : stn_world_standard_plugin(STN_KIND_INTEGRATOR);
    world_input input = {.kind = INPUT_INTEGRATOR};
    stn_status status = stn_instance_create(world->services.context, STN_KIND_INTEGRATOR, id, choice->settings,
                                            choice->setting_count, &input.integrator, err);
    status = status == STN_OK ? stn_world_apply(world, &input, err) : status;
    stn_instance_destroy(input.integrator);
    return status;
}

void stn_world_reset(stn_world *world) {
    if (world->setup->model == NULL) {
        return;
    }
    const world_input integrator = {.kind = INPUT_INTEGRATOR, .integrator = world->start_integrator};
    const world_input start = {.kind = INPUT_STATE, .state = &world->start};
    stn_error err = {0};
    bool other = world->setup->plugin[STN_KIND_INTEGRATOR] != world->start_integrator;
    if (other && stn_world_apply(world, &integrator, &err) != STN_OK) {
        stn_log(world->services.context, STN_LOG_ERROR, "reset: %s", err.text);
        return;
    }
    (void)stn_world_apply(world, &start, NULL); // smaller than what is there: cannot run out of memory
}
