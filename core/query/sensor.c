// SPDX-License-Identifier: Apache-2.0
// What sensors on links measure of the last step. With the poses q0 of its start, the velocities by which the
// integrator took Coriolis forces (stn_bias_rule) and the accelerations qdd = (v - v0)/dt that its own equation has,
// what carries link L exerts on L and all that is beyond it
//
//     f = sum m (a - g) - f_contacts - f_nodes - f_applied,    the same of moments,
//
// Newton and Euler of the free body: contacts, and nodes that are attached to it, act as the solution says, impulse/dt,
// where they were at the step's start. Quasistatic steps have no inertia: a = 0, whatever their rates v are.
#include <stiction/sensor.h>

#include "world/world.h"

/// Is `link` the link `root`, or beyond it?
static bool is_beyond(const stn_model *model, int32_t link, int32_t root) {
    while (link >= 0 && link != root) {
        link = model->links[link].parent;
    }
    return link == root;
}

/// Does constraint `i` act on what is beyond link `root` and on something else (rows beside contacts do), not by
/// joints?
static bool passes_by(const step_setup *setup, int32_t i, int32_t root) {
    const stn_model_constraint *c = &setup->model->constraints[i];
    bool held[2] = {setup->constraint_slots[i].contact_rows > 0, false};
    for (int32_t k = 0; k < c->end_count; k++) {
        held[is_beyond(setup->model, c->ends[k].link, root)] |= c->ends[k].joint < 0;
    }
    return held[0] && held[1];
}

/// The link whose frame the body's is; what is applied to the body counts as acting on it.
static int32_t first_link(const stn_model *model, int32_t body) {
    int32_t link = 0;
    while (link < model->link_count && model->links[link].body != body) {
        link++;
    }
    return link;
}

stn_status stn_world_check_sensor(const stn_world *world, int32_t link, bool forces, stn_error *err) {
    const stn_model *model = world->setup->model;
    if (model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "a sensor sits on a link of a complete model: compile the world first");
    }
    if (link < 0 || link >= model->link_count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "link %d is not one of 0 to %d", link, model->link_count - 1);
    }
    if (stn_setup_is_kinematic(world->setup, model->links[link].body)) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "link %s moves as it is told, and no force moves it",
                        model->links[link].name);
    }
    // Constraints that join bodies beyond the link to others go round it: not counted, so refused.
    for (int32_t i = 0; forces && i < model->constraint_count; i++) {
        if (passes_by(world->setup, i, link)) {
            stn_fail(err, STN_ERR_UNSUPPORTED,
                     "it joins what is beyond link %s to something else, so that forces pass by it",
                     model->links[link].name);
            stn_describe_constraint_error(model, i, err);
            return STN_ERR_UNSUPPORTED;
        }
    }
    return STN_OK;
}

static void release_velocities(stn_world *world, void *v) {
    stn_release(world->services.context, v);
}

/// Room for the velocities that sensors look at (nv), made when the first one does; NULL: out of memory.
static double *velocities_of(stn_world *world) {
    double *v = stn_world_attached(world, release_velocities);
    if (v == NULL) {
        v = stn_allocate(world->services.context, (size_t)world->setup->model->nv, sizeof *v);
        if (v != NULL && stn_world_attach(world, release_velocities, v, NULL) != STN_OK) {
            stn_release(world->services.context, v);
            v = NULL;
        }
    }
    return v;
}

static bool without_inertia(const stn_world *world) {
    return stn_plugin_says(world->setup->plugin[STN_KIND_INTEGRATOR], "quasistatic");
}

/// Poses of the last step's start, and the velocities v0 + part (v_star - v0), zero without inertia: after the swap of
/// stn_step_commit the old state lies in q_next, v_next.
static void look_at(stn_world *world, double part) {
    double *v = velocities_of(world);
    const bool still = without_inertia(world);
    for (int32_t d = 0; d < world->setup->model->nv; d++) {
        const double v0 = world->frame.v_next[d];
        v[d] = still ? 0.0 : v0 + part * (world->frame.problem.v_star[d] - v0);
    }
    stn_kinematics_update(world->frame.scratch_kinematics, world->frame.q_next, v);
}

static stn_status look_back(stn_world *world, int32_t link, bool forces, stn_error *err) {
    if (world->setup->model == NULL || world->observation.problem == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "a sensor measures in a step: there was none yet");
    }
    stn_status status = stn_world_check_sensor(world, link, forces, err);
    if (status != STN_OK) {
        return status;
    }
    if (velocities_of(world) == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "a sensor: out of memory");
    }
    look_at(world, 0.0);
    return STN_OK;
}

static int32_t looks_at(const stn_world *world, int32_t link, stn_bias_look looks[STN_BIAS_LOOKS]) {
    int32_t body = world->setup->model->links[link].body;
    int32_t tree = body > 0 ? world->setup->model->bodies[body].tree : -1;
    return stn_bias_looks(tree >= 0 ? world->frame.bias_rule[tree] : STN_BIAS_START, looks);
}

/// Acceleration of a body at its tree's reference point, spatial; zero of the world.
static stn_spatial acceleration_of(const stn_world *world, int32_t body) {
    const stn_model *model = world->setup->model;
    const stn_kinematics *k = world->frame.scratch_kinematics;
    stn_spatial a = {stn_vec3_zero(), stn_vec3_zero()};
    if (body == 0 || without_inertia(world)) {
        return a;
    }
    a = k->bias[body];
    for (int32_t b = body; b > 0; b = model->bodies[b].parent) {
        const stn_joint *joint = &model->joints[model->bodies[b].joint];
        for (int32_t d = joint->v_start; d < joint->v_start + joint->nv; d++) {
            double rate = (world->state.v[d] - world->frame.v_next[d]) / world->frame.problem.dt;
            a.angular = stn_vec3_mul_add(a.angular, rate, k->motion[d].angular);
            a.linear = stn_vec3_mul_add(a.linear, rate, k->motion[d].linear);
        }
    }
    return a;
}

static stn_vec3 body_omega(const stn_world *world, int32_t body) {
    return body > 0 ? world->frame.scratch_kinematics->body_velocity[body].angular : stn_vec3_zero();
}

/// Of the point of a body that is at `point`: its own, not that of what passes there.
static stn_vec3 point_acceleration(const stn_world *world, int32_t body, const stn_spatial *a, stn_vec3 point) {
    if (body == 0) {
        return stn_vec3_zero();
    }
    const stn_kinematics *k = world->frame.scratch_kinematics;
    stn_vec3 arm = stn_vec3_sub(point, k->reference[world->setup->model->bodies[body].tree]);
    stn_vec3 own = stn_vec3_add(a->linear, stn_vec3_cross(a->angular, arm));
    return stn_vec3_add(own, stn_vec3_cross(body_omega(world, body), stn_point_velocity(k, body, point)));
}

static stn_pose link_pose(const stn_world *world, int32_t link) {
    const stn_link *l = &world->setup->model->links[link];
    return stn_pose_mul(&world->frame.scratch_kinematics->body_pose[l->body], &l->pose);
}

static void add_force(stn_spatial *sum, stn_vec3 force, stn_vec3 arm) {
    sum->linear = stn_vec3_add(sum->linear, force);
    sum->angular = stn_vec3_add(sum->angular, stn_vec3_cross(arm, force));
}

typedef struct beyond {
    const stn_model *model;
    int32_t root;
} beyond;

static bool has_geometry(const void *user, int32_t geometry) {
    const beyond *b = user;
    int32_t link = b->model->geometries[geometry].link;
    return link >= 0 && is_beyond(b->model, link, b->root);
}

/// What carries `link` exerts on it and on all that is beyond it; world axes, about `about`.
static stn_spatial transmitted(stn_world *world, int32_t link, stn_vec3 about) {
    const stn_model *model = world->setup->model;
    stn_spatial sum = {stn_vec3_zero(), stn_vec3_zero()};
    stn_bias_look looks[STN_BIAS_LOOKS];
    int32_t count = looks_at(world, link, looks);
    // What it takes to move the links as they move, against gravity.
    for (int32_t i = 0; i < count; i++) {
        look_at(world, looks[i].part);
        for (int32_t k = 0; k < model->link_count; k++) {
            if (is_beyond(model, k, link)) {
                const stn_link *l = &model->links[k];
                stn_pose pose = link_pose(world, k);
                stn_spatial a = acceleration_of(world, l->body);
                stn_vec3 center = stn_pose_apply(&pose, l->mass.com), omega = body_omega(world, l->body);
                stn_mat3 inertia = stn_mat3_rotate_tensor(&pose.rotation, &l->mass.inertia);
                stn_vec3 pull = stn_vec3_sub(point_acceleration(world, l->body, &a, center), world->state.gravity);
                add_force(&sum, stn_vec3_scale(looks[i].weight * l->mass.mass, pull), stn_vec3_sub(center, about));
                stn_vec3 spin = stn_vec3_cross(omega, stn_mat3_apply(&inertia, omega));
                stn_vec3 turning = stn_vec3_add(stn_mat3_apply(&inertia, a.angular), spin);
                sum.angular = stn_vec3_mul_add(sum.angular, looks[i].weight, turning);
            }
        }
    }
    // What is applied to a body acts on its first link.
    for (int32_t l = 0; l < model->link_count; l++) {
        int32_t body = model->links[l].body;
        if (body > 0 && is_beyond(model, l, link) && first_link(model, body) == l) {
            const double *w = world->state.wrench + 6 * (size_t)body;
            stn_vec3 origin = world->frame.scratch_kinematics->body_pose[body].position;
            add_force(&sum, stn_vec3_make(-w[3], -w[4], -w[5]), stn_vec3_sub(origin, about));
            sum.angular = stn_vec3_sub(sum.angular, stn_vec3_make(w[0], w[1], w[2]));
        }
    }
    beyond set = {model, link};
    stn_contact_side side = {has_geometry, &set};
    stn_contact_force by_contacts;
    stn_observation_contact_force(&world->observation, &side, NULL, about, &by_contacts);
    sum.linear = stn_vec3_sub(sum.linear, stn_vec3_add(by_contacts.normal_part, by_contacts.friction_part));
    sum.angular = stn_vec3_sub(sum.angular, by_contacts.torque);
    for (int32_t i = 0; i < model->attachment_count; i++) {
        const stn_node_attachment *held = &model->attachments[i];
        if (held->link >= 0 && is_beyond(model, held->link, link)) {
            double f[6] = {0.0}; // on the node
            stn_world_attachment_force(world, i, f);
            stn_vec3 arm = stn_vec3_sub(world->frame.scratch_kinematics->node[held->node], about);
            add_force(&sum, stn_vec3_make(f[0], f[1], f[2]), arm);
            sum.angular = stn_vec3_add(sum.angular, stn_vec3_make(f[3], f[4], f[5]));
        }
    }
    return sum;
}

stn_status stn_world_link_wrench(stn_world *world, int32_t link, stn_spatial *wrench, stn_error *err) {
    stn_status status = look_back(world, link, true, err);
    if (status != STN_OK) {
        return status;
    }
    stn_pose pose = link_pose(world, link);
    stn_spatial w = transmitted(world, link, pose.position);
    wrench->angular = stn_mat3_apply_transposed(&pose.rotation, w.angular);
    wrench->linear = stn_mat3_apply_transposed(&pose.rotation, w.linear);
    return STN_OK;
}

stn_status stn_world_joint_torque(stn_world *world, int32_t joint, double *torque, stn_error *err) {
    const stn_model *model = world->setup->model;
    if (model != NULL && (joint < 0 || joint >= model->joint_count)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "joint %d is not one of 0 to %d", joint, model->joint_count - 1);
    }
    int32_t link = 0; // that it carries
    while (model != NULL && link < model->link_count && model->links[link].joint != joint) {
        link++;
    }
    stn_status status = look_back(world, link, true, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_joint *j = &model->joints[joint];
    const stn_kinematics *k = world->frame.scratch_kinematics;
    stn_spatial w = transmitted(world, link, k->reference[model->bodies[j->child].tree]);
    for (int32_t i = 0; i < j->nv; i++) {
        const stn_spatial *s = &k->motion[j->v_start + i];
        torque[i] = stn_vec3_dot(s->angular, w.angular) + stn_vec3_dot(s->linear, w.linear);
    }
    return STN_OK;
}

stn_status stn_world_link_inertial(stn_world *world, int32_t link, stn_vec3 *specific_force, stn_vec3 *angular_velocity,
                                   stn_error *err) {
    stn_status status = look_back(world, link, false, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_model *model = world->setup->model;
    int32_t body = model->links[link].body;
    stn_pose pose = link_pose(world, link);
    stn_vec3 f = stn_vec3_neg(world->state.gravity);
    stn_bias_look looks[STN_BIAS_LOOKS];
    int32_t count = looks_at(world, link, looks);
    for (int32_t i = 0; i < count; i++) {
        look_at(world, looks[i].part);
        stn_spatial a = acceleration_of(world, body);
        f = stn_vec3_mul_add(f, looks[i].weight, point_acceleration(world, body, &a, pose.position));
    }
    // The angular velocity of the step's start, whatever velocities Coriolis forces are of.
    stn_vec3 omega = stn_vec3_zero();
    for (int32_t b = body; b > 0; b = model->bodies[b].parent) {
        const stn_joint *joint = &model->joints[model->bodies[b].joint];
        for (int32_t d = joint->v_start; d < joint->v_start + joint->nv; d++) {
            stn_vec3 axis = world->frame.scratch_kinematics->motion[d].angular;
            omega = stn_vec3_mul_add(omega, world->frame.v_next[d], axis);
        }
        if (stn_setup_is_kinematic(world->setup, b)) {
            omega = stn_vec3_add(omega, body_omega(world, b));
        }
    }
    *specific_force = stn_mat3_apply_transposed(&pose.rotation, f);
    *angular_velocity = stn_mat3_apply_transposed(&pose.rotation, omega);
    return STN_OK;
}
