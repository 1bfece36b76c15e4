// SPDX-License-Identifier: Apache-2.0
// State and step inputs from outside: everything is checked here, before it can reach a step.
#include <string.h>

#include "world/assemble.h"

static stn_status need_compiled(const stn_world *world, const char *what, stn_error *err) {
    if (world->setup->model != NULL) {
        return STN_OK;
    }
    return stn_fail(err, STN_ERR_SEQUENCE, "%s: the world is not compiled yet (compile it, or make a step first)",
                    what);
}

stn_status stn_world_set_q(stn_world *world, const double *q, stn_error *err) {
    stn_status status = need_compiled(world, "set q", err);
    if (status != STN_OK) {
        return status;
    }
    const stn_model *model = world->setup->model;
    for (int32_t i = 0; i < model->nq; i++) {
        if (!isfinite(q[i])) {
            char name[160];
            stn_describe_coordinate(model, i, name, sizeof name);
            return stn_fail(err, STN_ERR_NUMERIC, "q[%d] (%s) = %g, must be finite", i, name, q[i]);
        }
    }
    double *checked = world->frame.q_next; // free between steps
    memcpy(checked, q, (size_t)model->nq * sizeof(double));
    for (int32_t j = 0; j < model->joint_count; j++) {
        int32_t first = stn_joint_type_quaternion(model->joints[j].type);
        if (first < 0) {
            continue;
        }
        double *r = checked + model->joints[j].q_start + first;
        double norm = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
        if (!(norm > 1e-9 && norm < (double)INFINITY)) {
            return stn_fail(err, STN_ERR_NUMERIC, "joint %s: the quaternion has length %g, must be 1",
                            model->joints[j].name, norm);
        }
        for (int32_t i = 0; i < 4 && fabs(norm - 1.0) > 1e-14; i++) { // a unit one passes bit for bit
            r[i] /= norm;
        }
    }
    status = stn_world_carry_nodes(world, checked, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "set q");
        return status;
    }
    stn_world_apply_values(world, INPUT_Q, 0, (size_t)model->nq, checked);
    return STN_OK;
}

stn_status stn_world_set_v(stn_world *world, const double *v, stn_error *err) {
    stn_status status = need_compiled(world, "set v", err);
    if (status != STN_OK) {
        return status;
    }
    const stn_model *model = world->setup->model;
    for (int32_t d = 0; d < model->nv; d++) {
        if (!isfinite(v[d])) {
            char name[160];
            stn_describe_dof(model, d, name, sizeof name);
            return stn_fail(err, STN_ERR_NUMERIC, "v[%d] (%s) = %g, must be finite", d, name, v[d]);
        }
    }
    stn_world_apply_values(world, INPUT_V, 0, (size_t)model->nv, v);
    return STN_OK;
}

/// The joint that lets a body be placed, floating or kinematic, or NULL with the reason.
static const stn_joint *placing_joint(const stn_world *world, int32_t body, const char *what, stn_error *err) {
    if (need_compiled(world, what, err) != STN_OK) {
        return NULL;
    }
    if (body <= 0 || body >= world->setup->model->body_count) {
        stn_fail(err, STN_ERR_ARGUMENT, "%s: body %d is not one of 1 to %d", what, body,
                 world->setup->model->body_count - 1);
        return NULL;
    }
    const stn_joint *joint = &world->setup->model->joints[world->setup->model->bodies[body].joint];
    if (joint->type != STN_JOINT_FLOATING && joint->type != STN_JOINT_KINEMATIC) {
        stn_fail(err, STN_ERR_ARGUMENT,
                 "%s: %s hangs on the %s joint %s; set that joint, or load it with a floating base", what,
                 world->setup->model->bodies[body].name, stn_joint_type_name(joint->type), joint->name);
        return NULL;
    }
    return joint;
}

stn_status stn_world_set_body_pose(stn_world *world, int32_t body, const stn_pose *pose, stn_error *err) {
    const stn_joint *joint = placing_joint(world, body, "set pose", err);
    if (joint == NULL) {
        return world->setup->model == NULL ? STN_ERR_SEQUENCE : STN_ERR_ARGUMENT;
    }
    if (!stn_pose_finite(pose)) {
        return stn_fail(err, STN_ERR_NUMERIC, "set pose: the pose of %s is not finite",
                        world->setup->model->bodies[body].name);
    }
    stn_pose parent = stn_pose_mul(&stn_world_kinematics(world)->body_pose[joint->parent], &joint->origin);
    stn_pose inverse = stn_pose_inverse(&parent);
    stn_pose relative = stn_pose_mul(&inverse, pose);
    stn_quat r = stn_quat_from_matrix(&relative.rotation);
    const double values[7] = {relative.position.x, relative.position.y, relative.position.z, r.w, r.x, r.y, r.z};
    const stn_model *model = world->setup->model;
    double *q = world->frame.q_next; // free between steps
    memcpy(q, world->state.q, (size_t)model->nq * sizeof *q);
    memcpy(q + joint->q_start, values, sizeof values);
    stn_status status = stn_world_carry_nodes(world, q, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "set pose");
        return status;
    }
    stn_world_apply_values(world, INPUT_Q, (size_t)joint->q_start, STN_COUNT(values), values);
    const size_t nodes = model->attachment_count > 0 ? (size_t)model->trees[model->node_tree[0]].q_start : 0;
    const size_t count = model->attachment_count > 0 ? (size_t)model->nq - nodes : 0;
    if (memcmp(q + nodes, world->state.q + nodes, count * sizeof *q) != 0) {
        stn_world_apply_values(world, INPUT_Q, nodes, count, q + nodes);
    }
    return STN_OK;
}

stn_status stn_world_set_body_velocity(stn_world *world, int32_t body, stn_vec3 linear, stn_vec3 angular,
                                       stn_error *err) {
    const stn_joint *joint = placing_joint(world, body, "set velocity", err);
    if (joint == NULL) {
        return world->setup->model == NULL ? STN_ERR_SEQUENCE : STN_ERR_ARGUMENT;
    }
    if (!stn_vec3_finite(linear) || !stn_vec3_finite(angular)) {
        return stn_fail(err, STN_ERR_NUMERIC, "set velocity: that of %s is not finite",
                        world->setup->model->bodies[body].name);
    }
    const stn_kinematics *kin = stn_world_kinematics(world);
    stn_mat3 axes = stn_mat3_mul(&kin->body_pose[joint->parent].rotation, &joint->origin.rotation);
    stn_vec3 parent = stn_point_velocity(kin, joint->parent, kin->body_pose[body].position);
    stn_vec3 parent_angular = kin->body_velocity[joint->parent].angular;
    stn_vec3 l = stn_mat3_apply_transposed(&axes, stn_vec3_sub(linear, parent));
    stn_vec3 a = stn_mat3_apply_transposed(&axes, stn_vec3_sub(angular, parent_angular));
    const double values[6] = {l.x, l.y, l.z, a.x, a.y, a.z};
    if (joint->type == STN_JOINT_KINEMATIC) {
        stn_world_apply_values(world, INPUT_Q, (size_t)joint->q_start + 7, STN_COUNT(values), values);
    } else {
        stn_world_apply_values(world, INPUT_V, (size_t)joint->v_start, STN_COUNT(values), values);
    }
    return STN_OK;
}

stn_status stn_world_set_effort(stn_world *world, int32_t dof, double effort, stn_error *err) {
    stn_status status = need_compiled(world, "set effort", err);
    if (status != STN_OK) {
        return status;
    }
    if (dof < 0 || dof >= world->setup->model->nv) {
        return stn_fail(err, STN_ERR_ARGUMENT, "set effort: dof %d is not one of 0 to %d", dof,
                        world->setup->model->nv - 1);
    }
    if (!isfinite(effort)) {
        return stn_fail(err, STN_ERR_NUMERIC, "set effort: %g on dof %d, must be finite", effort, dof);
    }
    stn_world_apply_values(world, INPUT_EFFORT, (size_t)dof, 1, &effort);
    return STN_OK;
}

stn_status stn_world_set_surface_velocity(stn_world *world, int32_t geometry, stn_vec3 velocity, stn_error *err) {
    stn_status status = need_compiled(world, "set surface velocity", err);
    if (status != STN_OK) {
        return status;
    }
    if (geometry < 0 || geometry >= world->setup->model->geometry_count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "set surface velocity: geometry %d is not one of 0 to %d", geometry,
                        world->setup->model->geometry_count - 1);
    }
    if (!stn_vec3_finite(velocity)) {
        return stn_fail(err, STN_ERR_NUMERIC, "set surface velocity: (%g, %g, %g) m/s of geometry %d, must be finite",
                        velocity.x, velocity.y, velocity.z, geometry);
    }
    const double values[3] = {velocity.x, velocity.y, velocity.z};
    stn_world_apply_values(world, INPUT_SURFACE, 3 * (size_t)geometry, STN_COUNT(values), values);
    return STN_OK;
}

stn_status stn_world_set_wrench(stn_world *world, int32_t body, stn_vec3 force, stn_vec3 torque, stn_vec3 point,
                                stn_error *err) {
    stn_status status = need_compiled(world, "set wrench", err);
    if (status != STN_OK) {
        return status;
    }
    if (body <= 0 || body >= world->setup->model->body_count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "set wrench: body %d is not one of 1 to %d", body,
                        world->setup->model->body_count - 1);
    }
    if (stn_setup_is_kinematic(world->setup, body)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "set wrench: %s is kinematic, so that no force moves it",
                        world->setup->model->bodies[body].name);
    }
    if (!stn_vec3_finite(force) || !stn_vec3_finite(torque) || !stn_vec3_finite(point)) {
        return stn_fail(err, STN_ERR_NUMERIC, "set wrench: that on %s is not finite",
                        world->setup->model->bodies[body].name);
    }
    stn_vec3 arm = stn_vec3_sub(point, stn_world_kinematics(world)->body_pose[body].position);
    torque = stn_vec3_add(torque, stn_vec3_cross(arm, force));
    const double values[6] = {torque.x, torque.y, torque.z, force.x, force.y, force.z};
    stn_world_apply_values(world, INPUT_WRENCH, 6 * (size_t)body, STN_COUNT(values), values);
    return STN_OK;
}

stn_status stn_world_set_kinematic(stn_world *world, int32_t body, const stn_pose *pose, const stn_vec3 *linear,
                                   const stn_vec3 *angular, stn_error *err) {
    stn_status status = need_compiled(world, "set_kinematic", err);
    if (status != STN_OK) {
        return status;
    }
    const stn_model *model = world->setup->model;
    if (body < 0 || body >= model->body_count || !stn_setup_is_kinematic(world->setup, body)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "set_kinematic: %s is not kinematic; stn_builder_make_kinematic says that it is",
                        body >= 0 && body < model->body_count ? model->bodies[body].name : "a body that is not there");
    }
    const char *name = model->bodies[body].name;
    if (!stn_pose_finite(pose)) {
        return stn_fail(err, STN_ERR_NUMERIC, "set_kinematic: the pose of %s is not finite", name);
    }
    if ((linear != NULL && !stn_vec3_finite(*linear)) || (angular != NULL && !stn_vec3_finite(*angular))) {
        return stn_fail(err, STN_ERR_NUMERIC, "set_kinematic: the velocity of %s is not finite", name);
    }
    if ((linear == NULL) != (angular == NULL)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "set_kinematic: give both velocities of %s, or none", name);
    }
    const double *now = world->state.q + model->joints[model->bodies[body].joint].q_start;
    stn_quat r = stn_quat_from_matrix(&pose->rotation);
    const double values[7] = {pose->position.x, pose->position.y, pose->position.z, r.w, r.x, r.y, r.z};
    stn_spatial mean = stn_step_mean_twist(&world->frame, now, values);
    stn_vec3 v = linear != NULL ? *linear : mean.linear, w = angular != NULL ? *angular : mean.angular;
    const double next[KINEMATIC_NUMBERS] = {1.0,       values[0], values[1], values[2], values[3], values[4], values[5],
                                            values[6], v.x,       v.y,       v.z,       w.x,       w.y,       w.z};
    stn_world_apply_values(world, INPUT_KINEMATIC, KINEMATIC_NUMBERS * (size_t)world->setup->kinematic_of[body],
                           STN_COUNT(next), next);
    return STN_OK;
}

/// The operations of a constraint that is there; NULL: none, and `*status` says so.
static const stn_constraint_ops *find_constraint(const stn_world *world, int32_t constraint, stn_status *status,
                                                 stn_error *err) {
    *status = need_compiled(world, "constraint", err);
    const stn_model *model = world->setup->model;
    if (*status == STN_OK && (constraint < 0 || constraint >= model->constraint_count)) {
        *status = stn_fail(err, STN_ERR_ARGUMENT, "constraint %d is not one of 0 to %d", constraint,
                           model->constraint_count - 1);
    }
    return *status == STN_OK ? model->constraints[constraint].instance->desc->ops.constraint : NULL;
}

int32_t stn_world_constraint_blocks(stn_world *world, int32_t constraint, stn_row_block *blocks, int32_t room,
                                    stn_error *err) {
    stn_status status;
    if (find_constraint(world, constraint, &status, err) == NULL) {
        return -1;
    }
    const state_view state = state_view_of(&world->state);
    const assembly a = {world->setup, &state, &world->frame, &world->services};
    const stn_row_block *looked = NULL;
    stn_world_kinematics(world); // at the present state
    int32_t count = look_at_constraint(&a, constraint, &looked, err);
    for (int32_t k = 0; k < count && k < room; k++) {
        blocks[k] = looked[k];
    }
    return count;
}

/// Channels of one plugin of the model, and where their numbers begin in the references.
typedef struct channel_list {
    int32_t count;
    const stn_channel *channels;
    size_t start;
} channel_list;

/// The channel of this name, and where its numbers are; -1: none.
static int32_t find_channel(const channel_list *list, const char *name, size_t *start) {
    *start = list->start;
    for (int32_t i = 0; i < list->count; i++) {
        if (strcmp(list->channels[i].name, name) == 0) {
            return i;
        }
        *start += (size_t)list->channels[i].size;
    }
    return -1;
}

/// Fails with the names that there are, `outputs` among them.
static stn_status refuse_channel(const channel_list *list, const char *what, const char *name,
                                 const stn_constraint_output *outputs, int32_t output_count, stn_error *err) {
    char known[160] = "";
    for (int32_t i = 0; i < list->count + output_count; i++) {
        const char *next = i < list->count ? list->channels[i].name : outputs[i - list->count].name;
        stn_text_append(known, sizeof known, "%s%s", i > 0 ? ", " : "", next);
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "there is no %s '%s'; known: %s", what, name,
                    known[0] != '\0' ? known : "none");
}

/// Checks and sets a channel by name.
static stn_status put_channel(stn_world *world, const channel_list *list, const char *name, const double *values,
                              int32_t count, stn_error *err) {
    size_t start;
    const int32_t channel = find_channel(list, name, &start);
    if (channel < 0) {
        return refuse_channel(list, "channel", name, NULL, 0, err);
    }
    if (count != list->channels[channel].size) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s takes %d values, got %d", name, list->channels[channel].size, count);
    }
    for (int32_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return stn_fail(err, STN_ERR_NUMERIC, "%s[%d] = %g, must be finite", name, i + 1, values[i]);
        }
    }
    stn_world_apply_values(world, INPUT_REFERENCE, start, (size_t)count, values);
    return STN_OK;
}

static channel_list constraint_channels(const stn_world *world, int32_t constraint) {
    const stn_constraint_ops *ops = world->setup->model->constraints[constraint].instance->desc->ops.constraint;
    return (channel_list){ops->channel_count, ops->channels,
                          world->setup->constraint_slots[constraint].reference_start};
}

stn_status stn_world_get_constraint(const stn_world *world, int32_t constraint, const char *name,
                                    stn_constraint_value *value, stn_error *err) {
    stn_status status;
    const stn_constraint_ops *ops = find_constraint(world, constraint, &status, err);
    if (ops == NULL) {
        return status;
    }
    const channel_list list = constraint_channels(world, constraint);
    size_t start;
    int32_t channel = find_channel(&list, name, &start);
    if (channel >= 0) {
        *value = (stn_constraint_value){world->state.reference + start, ops->channels[channel].size, NULL};
        return STN_OK;
    }
    const unsigned char *memory = // doubles first, aligned
        world->state.controller_memory + world->setup->constraint_slots[constraint].memory_start;
    int32_t outputs = STN_PLUGIN_HAS(ops, outputs) ? ops->output_count : 0;
    for (int32_t i = 0; i < outputs; i++) {
        const stn_constraint_output *o = &ops->outputs[i];
        if (strcmp(o->name, name) == 0) {
            *value = (stn_constraint_value){(const double *)(const void *)memory, o->size, o->words};
            return STN_OK;
        }
        memory += sizeof(double) * (size_t)o->size;
    }
    status = refuse_channel(&list, "channel or output", name, ops->outputs, outputs, err);
    stn_describe_constraint_error(world->setup->model, constraint, err);
    return status;
}

stn_status stn_world_set_constraint(stn_world *world, int32_t constraint, const char *name, const double *values,
                                    int32_t count, stn_error *err) {
    stn_status status;
    const stn_constraint_ops *ops = find_constraint(world, constraint, &status, err);
    if (ops == NULL) {
        return status;
    }
    const channel_list list = constraint_channels(world, constraint);
    status = put_channel(world, &list, name, values, count, err);
    if (status != STN_OK) {
        stn_describe_constraint_error(world->setup->model, constraint, err);
    }
    return status;
}

// ------------------------------------------------------------------------------------------------------- elements

static channel_list element_channels(const stn_world *world, int32_t group) {
    const stn_element_ops *ops = world->setup->model->element_groups[group].instance->desc->ops.element;
    return (channel_list){ops->channel_count, ops->channels, world->setup->element_slots[group].reference_start};
}

static stn_status blame_elements(const stn_world *world, int32_t group, stn_status status, stn_error *err) {
    const stn_element_group *g = &world->setup->model->element_groups[group];
    if (status != STN_OK) {
        stn_error_prefix(err, "elements %s '%s'", g->instance->desc->id, g->name);
    }
    return status;
}

stn_status stn_world_set_element_channel(stn_world *world, int32_t group, const char *channel, const double *values,
                                         int32_t count, stn_error *err) {
    stn_status status = stn_setup_check_elements(world->setup, group, err);
    if (status != STN_OK) {
        return status;
    }
    const channel_list list = element_channels(world, group);
    return blame_elements(world, group, put_channel(world, &list, channel, values, count, err), err);
}

stn_status stn_world_get_element_channel(const stn_world *world, int32_t group, const char *channel,
                                         stn_constraint_value *value, stn_error *err) {
    stn_status status = stn_setup_check_elements(world->setup, group, err);
    if (status != STN_OK) {
        return status;
    }
    const channel_list list = element_channels(world, group);
    size_t start;
    const int32_t found = find_channel(&list, channel, &start);
    if (found < 0) {
        return blame_elements(world, group, refuse_channel(&list, "channel", channel, NULL, 0, err), err);
    }
    *value = (stn_constraint_value){world->state.reference + start, list.channels[found].size, NULL};
    return STN_OK;
}
