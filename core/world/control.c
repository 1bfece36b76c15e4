// SPDX-License-Identifier: Apache-2.0
// Controllers of a world: binding them to joints, their references, and how they take part.
#include <string.h>

#include "world/world.h"

static int32_t channel_size(const controller *c, int32_t channel) {
    return stn_channel_count(c->instance->desc->ops.controller, channel, c->target.dof_count);
}

static stn_status check_index(const stn_world *world, int32_t index, stn_error *err) {
    return index >= 0 && index < world->setup->controller_count
               ? STN_OK
               : stn_fail(err, STN_ERR_ARGUMENT, "controller %d is not one of 0 to %d", index,
                          world->setup->controller_count - 1);
}

static stn_status check_target(const stn_world *world, const world_input *input, stn_error *err) {
    const stn_model *model = world->setup->model;
    const stn_instance *instance = input->controller.instance;
    const int32_t group = input->controller.group, joint_count = input->controller.joint_count;
    const int32_t *joints = input->controller.joints;
    if (instance->desc->kind != STN_KIND_CONTROLLER) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s is a %s, not a controller", instance->desc->id,
                        stn_kind_name(instance->desc->kind));
    }
    if (world->stepped) {
        return stn_fail(err, STN_ERR_SEQUENCE, "controller %s: add controllers before the first step",
                        instance->desc->id);
    }
    if (group < 0 || group >= model->group_count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "controller %s: group %d is not one of 0 to %d", instance->desc->id,
                        group, model->group_count - 1);
    }
    for (int32_t i = 0; i < joint_count; i++) {
        if (joints[i] < 0 || joints[i] >= model->joint_count || model->joints[joints[i]].group != group) {
            return stn_fail(err, STN_ERR_ARGUMENT, "controller %s: joint %d does not belong to group %s",
                            instance->desc->id, joints[i], model->groups[group].name);
        }
        if (i > 0 && joints[i] <= joints[i - 1]) {
            bool twice = joints[i] == joints[i - 1];
            return stn_fail(err, STN_ERR_ARGUMENT, "controller %s: joint %s %s", instance->desc->id,
                            model->joints[joints[i]].name,
                            twice ? "is named twice; once is enough" : "must stand before those of larger index");
        }
    }
    return STN_OK;
}

/// The joints of a controller: those that it names, else all that a motor can move, which are neither the floating base
/// nor mimic others.
static stn_status fill_target(const stn_world *world, const world_input *input, controller *c, stn_error *err) {
    const stn_model *model = world->setup->model;
    const int32_t group = input->controller.group, joint_count = input->controller.joint_count;
    const int32_t *joints = input->controller.joints;
    const stn_group *r = &model->groups[group];
    c->joints = stn_allocate(world->services.context, (size_t)(r->joint_count + joint_count), sizeof(int32_t));
    c->dofs = stn_allocate(world->services.context, (size_t)model->nv, sizeof(int32_t));
    if (c->joints == NULL || c->dofs == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "controller: out of memory");
    }
    int32_t count = 0, dofs = 0;
    int32_t candidates = joints != NULL ? joint_count : r->joint_count;
    for (int32_t i = 0; i < candidates; i++) {
        int32_t j = joints != NULL ? joints[i] : r->joint_start + i;
        const stn_joint *joint = &model->joints[j];
        if (joints == NULL && (joint->type == STN_JOINT_FLOATING || joint->mimic >= 0)) {
            continue;
        }
        c->joints[count++] = j;
        for (int32_t d = 0; d < model->joints[j].nv; d++) {
            c->dofs[dofs++] = model->joints[j].v_start + d;
        }
    }
    if (count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "controller %s: group %s has no moving joint to control",
                        c->instance->desc->id, r->name);
    }
    c->target = (stn_control_target){
        .model = model, .group = group, .joint_count = count, .joint = c->joints, .dof_count = dofs, .dof = c->dofs};
    return STN_OK;
}

/// How a controller begins at a time.
static activation beginning(double time, int32_t priority, bool active) {
    double weight = active ? 1.0 : 0.0;
    return (activation){weight, weight, time, 0.0, priority};
}

static stn_status bind(stn_world *world, controller *c, stn_error *err) {
    const stn_controller_ops *ops = c->instance->desc->ops.controller;
    if (ops->bind != NULL) {
        stn_status status = ops->bind(c->instance->self, &c->target, err);
        if (status != STN_OK) {
            stn_error_prefix(err, "controller %s of %s", c->instance->desc->id,
                             world->setup->model->groups[c->target.group].name);
            return status;
        }
    }
    stn_state_sizes sizes = world->state.sizes;
    c->reference_start = sizes.reference_count;
    for (int32_t i = 0; i < ops->channel_count; i++) {
        c->reference_count += (size_t)channel_size(c, i);
    }
    c->memory_start = (sizes.controller_bytes + 15) & ~(size_t)15;
    c->memory_size = ops->state_size != NULL ? ops->state_size(c->instance->self, &c->target) : 0;
    sizes.reference_count += c->reference_count;
    sizes.controller_bytes = c->memory_start + c->memory_size;
    sizes.activation_count = ((size_t)world->setup->controller_count + 1) * ACTIVATION_NUMBERS;
    // the frame's memories first: where the state does not grow after that, they are larger than it needs
    stn_status status = stn_world_size_memories(world, &sizes, err);
    if (status == STN_OK) {
        status = stn_state_resize(world->services.context, &world->state, &sizes, err);
    }
    if (status == STN_OK) {
        stn_activation_set(world->state.activation, world->setup->controller_count,
                           beginning(world->state.time, 0, true));
    }
    if (status == STN_OK && ops->initial_reference != NULL) {
        ops->initial_reference(c->instance->self, &c->target, world->state.q,
                               world->state.reference + c->reference_start);
    }
    return status == STN_OK ? stn_world_keep_start(world, err) : status;
}

static void discard(stn_context *context, controller *c) {
    stn_instance_destroy(c->instance);
    stn_release(context, c->joints);
    stn_release(context, c->dofs);
}

stn_status stn_world_take_controller(stn_world *world, const world_input *input, stn_error *err) {
    stn_context *context = world->services.context;
    controller c = {.instance = input->controller.instance};
    stn_status status = stn_world_check_own(world, err);
    status = status == STN_OK ? stn_world_compile(world, err) : status;
    if (status == STN_OK) {
        status = check_target(world, input, err);
    }
    if (status == STN_OK) {
        status = fill_target(world, input, &c, err);
    }
    if (status == STN_OK) {
        status = stn_setup_part(&world->setup, err);
    }
    if (status != STN_OK) {
        discard(context, &c);
        return status;
    }
    step_setup *setup = world->setup;
    size_t count = (size_t)setup->controller_count, described = strlen(setup->parameters);
    controller *grown = stn_reallocate(context, setup->controllers, count, count + 1, sizeof *grown);
    if (grown != NULL) {
        setup->controllers = grown;
        status = stn_setup_describe_controller(setup, &c, (int32_t)count + 1, err);
    } else {
        status = stn_fail(err, STN_ERR_MEMORY, "controller: out of memory");
    }
    if (status == STN_OK) {
        status = bind(world, &c, err);
    }
    if (status != STN_OK) {
        setup->parameters[described] = '\0';
        discard(context, &c);
        return status;
    }
    setup->controllers[count] = c;
    setup->controller_count++;
    return STN_OK;
}

stn_status stn_world_set_reference(stn_world *world, int32_t index, const char *name, const double *values,
                                   int32_t count, stn_error *err) {
    stn_status status = check_index(world, index, err);
    if (status != STN_OK) {
        return status;
    }
    const controller *c = &world->setup->controllers[index];
    const stn_controller_ops *ops = c->instance->desc->ops.controller;
    const char *id = c->instance->desc->id, *names[32];
    size_t start = c->reference_start;
    int32_t channel = 0;
    for (; channel < ops->channel_count && strcmp(ops->channels[channel].name, name) != 0; channel++) {
        start += (size_t)channel_size(c, channel);
    }
    if (channel == ops->channel_count) {
        int32_t known = ops->channel_count < STN_COUNT(names) ? ops->channel_count : STN_COUNT(names);
        for (int32_t i = 0; i < known; i++) {
            names[i] = ops->channels[i].name;
        }
        const char *near = stn_suggest(name, names, known);
        return stn_fail(err, STN_ERR_ARGUMENT, "controller %s has no reference \"%s\"%s%s%s", id, name,
                        near != NULL ? "; did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?" : "");
    }
    if (count != channel_size(c, channel)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "controller %s: %s takes %d values, got %d", id, name,
                        channel_size(c, channel), count);
    }
    for (int32_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return stn_fail(err, STN_ERR_NUMERIC, "controller %s: %s[%d] = %g, must be finite", id, name, i + 1,
                            values[i]);
        }
    }
    stn_world_apply_values(world, INPUT_REFERENCE, start, (size_t)count, values);
    return STN_OK;
}

int32_t stn_world_controller_count(const stn_world *world) {
    return world->setup->controller_count;
}

const stn_instance *stn_world_controller(const stn_world *world, int32_t index) {
    return index >= 0 && index < world->setup->controller_count ? world->setup->controllers[index].instance : NULL;
}

const stn_control_target *stn_world_controller_target(const stn_world *world, int32_t index) {
    return index >= 0 && index < world->setup->controller_count ? &world->setup->controllers[index].target : NULL;
}

static void apply_activation(stn_world *world, int32_t index, activation a) {
    const double numbers[ACTIVATION_NUMBERS] = {a.from, a.to, a.since, a.blend, a.priority};
    stn_world_apply_values(world, INPUT_ACTIVATION, (size_t)index * ACTIVATION_NUMBERS, ACTIVATION_NUMBERS, numbers);
}

stn_status stn_world_set_controller(stn_world *world, int32_t index, int32_t priority, bool active, stn_error *err) {
    stn_status status = check_index(world, index, err);
    if (status != STN_OK) {
        return status;
    }
    if (world->stepped) {
        return stn_fail(err, STN_ERR_SEQUENCE, "controller %s: its priority is given before the first step",
                        world->setup->controllers[index].instance->desc->id);
    }
    activation a = beginning(world->state.time, priority, active);
    stn_activation_set(world->start.activation, index, a);
    apply_activation(world, index, a);
    return STN_OK;
}

stn_status stn_world_activate_controller(stn_world *world, int32_t index, bool active, double blend, stn_error *err) {
    stn_status status = check_index(world, index, err);
    if (status != STN_OK) {
        return status;
    }
    if (!(blend >= 0.0 && isfinite(blend))) {
        return stn_fail(err, STN_ERR_ARGUMENT, "controller %s of %s: blend = %g s, must be >= 0 and finite",
                        world->setup->controllers[index].instance->desc->id,
                        world->setup->model->groups[world->setup->controllers[index].target.group].name, blend);
    }
    activation a = stn_activation_of(world->state.activation, index);
    a.from = stn_activation_weight(a, world->state.time);
    a.to = active ? 1.0 : 0.0;
    a.since = world->state.time;
    a.blend = blend;
    apply_activation(world, index, a);
    return STN_OK;
}

double stn_world_controller_weight(const stn_world *world, int32_t index) {
    bool known = index >= 0 && index < world->setup->controller_count;
    return known ? stn_activation_weight(stn_activation_of(world->state.activation, index), world->state.time) : 0.0;
}
