// SPDX-License-Identifier: Apache-2.0
// The one place where what a world is given between its steps reaches it.
#include <string.h>

#include "world/world.h"

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
    default:
        return (field_view){NULL, 0};
    }
}

static void write_values(stn_world *world, input_field field, double *to, size_t start, size_t count,
                         const void *values) {
    if (count > 0) {
        memcpy(to + start, values, count * sizeof *to);
    }
    if (field == INPUT_Q || field == INPUT_V) {
        world->frame.kinematics_stale = true;
    }
    if (field == INPUT_Q) {
        stn_state_forget_anchors(world->setup, &world->state, start, count);
    }
}

static stn_status apply_part(stn_world *world, const world_input *input, stn_error *err) {
    field_view view = view_of(world, input->part.field);
    size_t start = input->part.start, count = input->part.count;
    if (start > view.count || count > view.count - start) {
        return stn_fail(err, STN_ERR_ARGUMENT, "input: numbers %zu to %zu of a field of %zu", start, start + count,
                        view.count);
    }
    write_values(world, input->part.field, view.values, start, count, input->part.values);
    return STN_OK;
}

static stn_status apply_dt(stn_world *world, double dt, stn_error *err) {
    if (!(dt > 0.0) || !isfinite(dt)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "dt = %g s must be > 0 and finite", dt);
    }
    stn_cache_rescale(&world->state, dt / world->frame.dt); // forces go on
    world->frame.dt = dt;
    return STN_OK;
}

static stn_status make(stn_world *world, const world_input *input, stn_error *err) {
    switch (input->kind) {
    case INPUT_VALUES:
        return apply_part(world, input, err);
    case INPUT_DT:
        return apply_dt(world, input->dt, err);
    case INPUT_GRAVITY:
        if (!stn_vec3_finite(input->gravity)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "gravity = (%g, %g, %g) m/s^2 must be finite", input->gravity.x,
                            input->gravity.y, input->gravity.z);
        }
        world->state.gravity = input->gravity;
        return STN_OK;
    case INPUT_STATE:
        return stn_world_take_state(world, input->state, err);
    case INPUT_CONTROLLER:
        return stn_world_take_controller(world, input, err);
    case INPUT_SIGNAL:
        return stn_world_take_signal(world, input->signal.name, input->signal.value, err);
    default:
        return stn_fail(err, STN_ERR_ARGUMENT, "input: no kind %d", (int)input->kind);
    }
}

static void tell(const stn_world *world, const world_input *input) {
    world->input_hook.told(world->input_hook.user, input);
}

stn_status stn_world_apply(stn_world *world, const world_input *input, stn_error *err) {
    stn_status status = make(world, input, err);
    if (status == STN_OK && world->input_hook.told != NULL) {
        tell(world, input);
    }
    return status;
}

void stn_world_apply_values(stn_world *world, input_field field, size_t start, size_t count, const double *values) {
    write_values(world, field, view_of(world, field).values, start, count, values);
    if (world->input_hook.told != NULL) { // references are set in every step, so the record is made for listeners alone
        tell(world, &(world_input){.kind = INPUT_VALUES, .part = {field, start, count, values}});
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

void stn_world_reset(stn_world *world) {
    if (world->setup->model != NULL) {
        const world_input input = {.kind = INPUT_STATE, .state = &world->start};
        (void)stn_world_apply(world, &input, NULL); // smaller than what is there: cannot run out of memory
    }
}
