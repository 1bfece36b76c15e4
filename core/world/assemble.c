// SPDX-License-Identifier: Apache-2.0
// The rows of the contact problem: one constraint per contact, index for index with the contact set, then joint limits,
// servos, couplers and dry friction. Math note 3.10.
#include <string.h>

#include "world/world.h"

/// Kinds of constraint ids that are no contacts: hashed with the joint, so that they never meet a contact's id.
static uint64_t joint_id(stn_constraint_kind kind, int32_t joint, int32_t side) {
    int32_t key[3] = {(int32_t)kind, joint, side};
    return stn_hash(0x6a6f696e74u, key, sizeof key);
}

static stn_constraint *append(stn_world *world, stn_constraint_kind kind, stn_constraint_set set, int32_t rows) {
    stn_problem *p = &world->problem;
    stn_constraint *c = &p->constraints[p->constraint_count++];
    *c = (stn_constraint){
        .kind = kind, .set = set, .row = p->row_count, .rows = rows, .J = {{.tree = -1}, {.tree = -1}}, .phi0 = NAN,
        .stiffness = NAN, .relaxation_time = NAN, .dissipation = NAN, .mu1 = NAN, .mu2 = NAN, .restitution = NAN,
        .gamma_n0 = NAN, .vn0 = NAN, .memory = -1, .body = {-1, -1}, .contact = -1, .patch = -1,
    };
    for (int32_t r = p->row_count; r < p->row_count + rows; r++) {
        p->bias[r] = p->gamma_guess[r] = 0.0;
        p->lo[r] = -INFINITY;
        p->hi[r] = INFINITY;
        p->R[r] = p->v_hat[r] = NAN;
    }
    p->row_count += rows;
    return c;
}

/// -1: nothing that it rides on has a velocity in the problem.
static int32_t ride_tree(const stn_world *world, const stn_ride *ride) {
    if (ride->body >= 0) {
        return stn_world_is_prescribed(world, ride->body) ? -1 : world->model->bodies[ride->body].tree;
    }
    return world->node_tree[ride->node[0]];
}

/// Adds sign axes^T J of what the contact rides on into `values`; for nodes, appends their blocks.
static void add_ride(const stn_world *world, const stn_ride *ride, stn_vec3 point, const stn_mat3 *axes, double sign,
                     stn_jacobian *J, double *values) {
    if (ride->body >= 0) {
        stn_point_jacobian_add(world->kinematics, ride->body, point, axes, sign, values);
        return;
    }
    const stn_tree *tree = &world->model->trees[J->tree];
    for (int32_t i = 0; i < ride->node_count; i++) {
        double *block = values + 9 * (size_t)J->node_count;
        J->node[J->node_count++] = ride->node[i] - tree->node_start;
        for (int32_t r = 0; r < 3; r++) {
            stn_vec3 axis = stn_mat3_column(axes, r);
            block[3 * r] = sign * ride->weight[i] * axis.x;
            block[3 * r + 1] = sign * ride->weight[i] * axis.y;
            block[3 * r + 2] = sign * ride->weight[i] * axis.z;
        }
    }
}

/// J_B - J_A, in one block where both ride on one tree.
static stn_status contact_jacobian(stn_world *world, const stn_contact *contact, stn_constraint *c, stn_error *err) {
    int32_t tree_a = ride_tree(world, &contact->a), tree_b = ride_tree(world, &contact->b);
    int32_t count = 0;
    const stn_ride *rides[2] = {&contact->a, &contact->b};
    const int32_t trees[2] = {tree_a, tree_b};
    double *values[2] = {NULL, NULL};
    for (int32_t side = 0; side < 2; side++) {
        if (trees[side] < 0) {
            continue;
        }
        int32_t slot = side == 1 && tree_a == tree_b ? 0 : count;
        if (slot == count) {
            bool nodal = world->model->trees[trees[side]].kind == STN_TREE_NODAL;
            int32_t columns = nodal ? 3 * STN_MAX_NODES : world->model->trees[trees[side]].nv;
            values[slot] = STN_ARENA_ZEROED(world->arena, 3 * columns, double);
            if (values[slot] == NULL) {
                return stn_fail(err, STN_ERR_MEMORY, "assembly: out of memory");
            }
            c->J[slot] = (stn_jacobian){.tree = trees[side], .values = values[slot]};
            count++;
        }
        add_ride(world, rides[side], contact->point, &c->frame, side == 0 ? -1.0 : 1.0, &c->J[slot], values[slot]);
    }
    return STN_OK;
}

/// t1 along the material direction projected on the plane; the deterministic frame otherwise.
static stn_mat3 frame_of(const stn_contact *contact) {
    stn_vec3 n = contact->normal;
    stn_vec3 d = stn_vec3_mul_add(contact->direction, -stn_vec3_dot(contact->direction, n), n);
    if (stn_vec3_norm(d) > 1e-9 * stn_vec3_norm(contact->direction)) {
        stn_vec3 t1 = stn_vec3_scale(1.0 / stn_vec3_norm(d), d);
        return stn_mat3_columns(t1, stn_vec3_cross(n, t1), n);
    }
    return stn_contact_frame(n);
}

static stn_status add_contact(stn_world *world, int32_t i, stn_error *err) {
    const stn_contact *contact = &world->contacts.contacts[i];
    stn_problem *p = &world->problem;
    bool isotropic = contact->material.mu == contact->mu2; // NaN cannot come here: the set was checked
    stn_constraint *c = append(world, STN_CONSTRAINT_CONTACT, isotropic ? STN_SET_CONE : STN_SET_ELLIPSE, 3);
    c->id = contact->id;
    c->frame = frame_of(contact);
    c->point = contact->point;
    c->phi0 = contact->phi0;
    c->stiffness = contact->material.stiffness;
    c->relaxation_time = contact->material.relaxation_time;
    c->dissipation = contact->material.dissipation;
    c->mu1 = contact->material.mu;
    c->mu2 = contact->mu2;
    c->restitution = contact->material.restitution;
    c->body[0] = contact->a.body;
    c->body[1] = contact->b.body;
    c->contact = i;
    c->patch = contact->patch;
    stn_vec3 told = stn_vec3_sub(stn_step_prescribed_velocity(world, contact->b.body, contact->point),
                                 stn_step_prescribed_velocity(world, contact->a.body, contact->point));
    stn_vec3 bias = stn_mat3_apply_transposed(&c->frame, stn_vec3_add(contact->bias, told));
    p->bias[c->row] = bias.x;
    p->bias[c->row + 1] = bias.y;
    p->bias[c->row + 2] = bias.z;
    return contact_jacobian(world, contact, c, err);
}

/// A block of one row that has one entry.
static stn_status unit_row(stn_world *world, int32_t dof, double value, stn_jacobian *J, stn_error *err) {
    int32_t t = world->model->dof_tree[dof];
    const stn_tree *tree = &world->model->trees[t];
    double *row = STN_ARENA_ZEROED(world->arena, tree->nv, double);
    if (row == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "assembly: out of memory");
    }
    row[dof - tree->v_start] = value;
    *J = (stn_jacobian){.tree = t, .values = row};
    return STN_OK;
}

/// Limits that can matter within the step: nearer than 2 dt max(|v0|, |v*|), or violated.
static stn_status add_limits(stn_world *world, int32_t j, stn_error *err) {
    const stn_joint *joint = &world->model->joints[j];
    stn_problem *p = &world->problem;
    if (joint->nv != 1 || joint->mimic >= 0) {
        return STN_OK;
    }
    double q = world->state.q[joint->q_start];
    double speed = fmax(fabs(world->state.v[joint->v_start]), fabs(p->v_star[joint->v_start]));
    for (int32_t side = 0; side < 2; side++) {
        double gap = side == 0 ? q - joint->lower : joint->upper - q;
        if (!(gap <= 2.0 * p->dt * speed)) {
            continue;
        }
        stn_constraint *c = append(world, STN_CONSTRAINT_LIMIT, STN_SET_BOX, 1);
        c->id = joint_id(STN_CONSTRAINT_LIMIT, j, side);
        c->phi0 = gap;
        c->stiffness = INFINITY;
        c->relaxation_time = p->dt;
        c->body[0] = joint->parent;
        c->body[1] = joint->child;
        p->lo[c->row] = 0.0;
        stn_status status = unit_row(world, joint->v_start, side == 0 ? 1.0 : -1.0, &c->J[0], err);
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

/// u = clamp(-kp (q - q_ref) - kd (v - v_ref) + u_ff, -e, e) with q = q0 + dt v. Written as a compliant row: velocity
/// relative to v_ref, phi0 = (q0 - q_ref) + dt v_ref, k = kp, tau_d = kd/kp, so that R = 1/(dt (dt kp + kd)) and v_hat follow
/// as for every row; the feed-forward acts as a force of its own and shifts the bounds.
static stn_status add_servo(stn_world *world, const stn_servo *servo, stn_error *err) {
    stn_problem *p = &world->problem;
    stn_constraint *c = append(world, STN_CONSTRAINT_SERVO, STN_SET_BOX, 1);
    const stn_joint *joint = &world->model->joints[world->model->dof_joint[servo->dof]];
    c->id = joint_id(STN_CONSTRAINT_SERVO, world->model->dof_joint[servo->dof], servo->dof - joint->v_start);
    c->body[0] = joint->parent;
    c->body[1] = joint->child;
    p->bias[c->row] = -servo->velocity;
    p->lo[c->row] = p->dt * (-servo->effort - servo->feedforward);
    p->hi[c->row] = p->dt * (servo->effort - servo->feedforward);
    if (servo->kp > 0.0) {
        c->stiffness = servo->kp;
        c->relaxation_time = servo->kd / servo->kp;
        c->phi0 = servo->error + p->dt * servo->velocity;
    } else { // a damper alone: any relaxation time serves as long as k (dt + tau_d) = kd
        c->relaxation_time = p->dt;
        c->stiffness = servo->kd / (2.0 * p->dt);
        c->phi0 = 0.0;
    }
    return unit_row(world, servo->dof, 1.0, &c->J[0], err);
}

/// q_i = ratio q_j + offset.
static stn_status add_coupler(stn_world *world, int32_t i, stn_error *err) {
    const stn_joint *joint = &world->model->joints[i];
    if (joint->mimic < 0) {
        return STN_OK;
    }
    const stn_joint *master = &world->model->joints[joint->mimic];
    stn_constraint *c = append(world, STN_CONSTRAINT_COUPLER, STN_SET_EQUALITY, 1);
    c->id = joint_id(STN_CONSTRAINT_COUPLER, i, 0);
    c->phi0 = world->state.q[joint->q_start] - joint->mimic_multiplier * world->state.q[master->q_start] - joint->mimic_offset;
    c->stiffness = INFINITY;
    c->relaxation_time = world->problem.dt;
    c->body[0] = joint->parent;
    c->body[1] = joint->child;
    stn_status status = unit_row(world, joint->v_start, 1.0, &c->J[0], err);
    if (status != STN_OK) {
        return status;
    }
    int32_t tree = world->model->dof_tree[master->v_start];
    if (tree == c->J[0].tree) { // one block holds both entries
        double *row = (double *)(uintptr_t)c->J[0].values;
        row[master->v_start - world->model->trees[tree].v_start] = -joint->mimic_multiplier;
        return STN_OK;
    }
    return unit_row(world, master->v_start, -joint->mimic_multiplier, &c->J[1], err);
}

/// One row for each velocity of the joint.
static stn_status add_dry_friction(stn_world *world, int32_t j, stn_error *err) {
    const stn_joint *joint = &world->model->joints[j];
    stn_problem *p = &world->problem;
    stn_status status = STN_OK;
    for (int32_t k = 0; k < joint->nv && joint->friction > 0.0 && status == STN_OK; k++) {
        stn_constraint *c = append(world, STN_CONSTRAINT_DRY_FRICTION, STN_SET_BOX, 1);
        c->id = joint_id(STN_CONSTRAINT_DRY_FRICTION, j, k);
        c->body[0] = joint->parent;
        c->body[1] = joint->child;
        p->lo[c->row] = -p->dt * joint->friction;
        p->hi[c->row] = p->dt * joint->friction;
        status = unit_row(world, joint->v_start + k, 1.0, &c->J[0], err);
    }
    return status;
}

static stn_status allocate_rows(stn_world *world, stn_error *err) {
    stn_problem *p = &world->problem;
    // every joint may bring two limits and a coupler, every velocity of a joint dry friction
    int32_t velocities = world->model->nv - 3 * world->model->node_count;
    int32_t constraints =
        world->contacts.count + 3 * world->model->joint_count + velocities + world->forces.servo_count;
    int32_t rows = 3 * world->contacts.count + (constraints - world->contacts.count);
    p->constraints = STN_ARENA(world->arena, constraints, stn_constraint);
    double **vectors[] = {&p->bias, &p->lo, &p->hi, &p->R, &p->v_hat, &p->gamma_guess};
    bool complete = p->constraints != NULL;
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = STN_ARENA(world->arena, rows, double);
        complete = complete && *vectors[i] != NULL;
    }
    return complete ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "assembly: out of memory for %d rows", rows);
}

stn_status stn_step_assemble(stn_world *world, stn_error *err) {
    stn_status status = allocate_rows(world, err);
    for (int32_t i = 0; i < world->contacts.count && status == STN_OK; i++) {
        status = add_contact(world, i, err);
    }
    for (int32_t j = 0; j < world->model->joint_count && status == STN_OK; j++) {
        status = add_limits(world, j, err);
        status = status == STN_OK ? add_coupler(world, j, err) : status;
        status = status == STN_OK ? add_dry_friction(world, j, err) : status;
    }
    for (int32_t i = 0; i < world->forces.servo_count && status == STN_OK; i++) {
        status = add_servo(world, &world->forces.servos[i], err);
    }
    if (status == STN_OK) {
        status = stn_cache_recall(world, err);
    }
    if (status == STN_OK) {
        status = stn_inverse_masses(world->inverse, &world->problem, world->arena, err);
    }
    return status;
}
