// SPDX-License-Identifier: Apache-2.0
// Start configuration, subtrees without mass, and everything that is worth a warning but loads.
#include <string.h>

#include "model/compiler.h"

// ----------------------------------------------------------------------------------------------------------- q0

void floating_coordinates(const stn_pose *pose, double *q) {
    stn_quat turn = stn_quat_from_matrix(&pose->rotation);
    const double values[7] = {pose->position.x, pose->position.y, pose->position.z, turn.w, turn.x, turn.y, turn.z};
    memcpy(q, values, sizeof values);
}

// ------------------------------------------------------------------------------------------------------ massless

/// The last body of the tree whose joint carries no mass and no rotor, which makes the mass matrix singular; -1: none.
/// `carries` says whether the subtree of a body has mass.
static int32_t find_massless(const compiler *c, const stn_tree *tree, bool *carries) {
    const stn_model *m = &c->object->face;
    int32_t found = -1;
    for (int32_t i = tree->body_start + tree->body_count - 1; i >= tree->body_start; i--) {
        const stn_body *body = &m->bodies[i];
        const stn_mat3 *inertia = &body->mass.inertia;
        carries[i] =
            carries[i] || body->mass.mass > 0.0 || inertia->m[0][0] + inertia->m[1][1] + inertia->m[2][2] > 0.0;
        bool moves = m->joints[body->joint].nv > 0; // one that is kinematic needs no mass
        if (moves && !carries[i] && found < 0 && !(m->joints[body->joint].reflected_inertia > 0.0)) {
            found = i;
        }
        carries[body->parent] = carries[body->parent] || carries[i];
    }
    return found;
}

// ------------------------------------------------------------------------------------------------------ warnings

static void warn(const compiler *c) {
    const stn_model_builder *b = c->builder;
    char text[400];
    for (int32_t link = 0; link < b->links.count; link++) {
        const stn_mass *mass = &link_at(b, link)->spec.mass;
        double trace = mass->inertia.m[0][0] + mass->inertia.m[1][1] + mass->inertia.m[2][2];
        int32_t group = link_at(b, link)->group;
        describe_link(b, link, text, sizeof text);
        if (c->root[group] == ROOT_WORLD && c->root_link[group] == link && mass->mass > 0.0) {
            stn_log(b->context, STN_LOG_WARNING, "%s: is the world, so its mass is ignored", text);
        } else if (mass->mass == 0.0 && trace > 0.0) {
            stn_log(b->context, STN_LOG_WARNING, "%s: inertia without mass is ignored", text);
        } else if (mass->mass > 0.0 && breaks_triangle_inequality(&mass->inertia)) {
            stn_log(b->context, STN_LOG_WARNING,
                    "%s: no body has this inertia: the largest principal moment exceeds the sum of the other two",
                    text);
        }
    }
    for (int32_t joint = 0; joint < b->joints.count; joint++) {
        const stn_joint_spec *spec = &joint_at(b, joint)->spec;
        const joint_kind *kind = joint_kind_get(spec->type);
        describe_joint(b, joint, text, sizeof text);
        if (spec->mimic >= 0 && spec->type == STN_JOINT_FIXED) {
            stn_log(b->context, STN_LOG_WARNING, "%s: is fixed, so its mimic is ignored", text);
        }
        if (kind->nv > 1 && (isfinite(spec->lower) || isfinite(spec->upper))) {
            stn_log(b->context, STN_LOG_WARNING, "%s: is %s, which has no limits: lower and upper are ignored", text,
                    kind->name);
        }
        if (kind->nv > 1 && spec->rotor_inertia > 0.0) {
            stn_log(b->context, STN_LOG_WARNING, "%s: is %s, so its rotor inertia is ignored", text, kind->name);
        }
        if (kind->nv > 1 && spec->stiffness > 0.0) {
            stn_log(b->context, STN_LOG_WARNING, "%s: is %s, so its spring is ignored", text, kind->name);
        }
    }
}

const stn_pose *start_poses(const compiler *c) {
    const stn_model *m = &c->object->face;
    stn_pose *pose = STN_ARENA(c->scratch, m->body_count, stn_pose);
    for (int32_t i = 0; pose != NULL && i < m->body_count; i++) {
        const stn_body *body = &m->bodies[i];
        pose[i] = stn_pose_identity();
        if (body->joint >= 0) {
            const stn_joint *joint = &m->joints[body->joint];
            const stn_pose frame = stn_pose_mul(&pose[body->parent], &joint->origin);
            joint_kind_get(joint->type)->place(joint, &frame, m->q0 + joint->q_start, &pose[i]);
        }
    }
    return pose;
}

/// The coordinates of all nodes, which stand in the world or on a link.
static stn_status start_nodes(compiler *c, stn_error *err) {
    const stn_model *m = &c->object->face;
    const stn_pose *poses = c->builder->clouds.count > 0 ? start_poses(c) : NULL;
    if (c->builder->clouds.count > 0 && poses == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0; i < c->builder->clouds.count; i++) {
        const built_cloud *cloud = cloud_at(c->builder, i);
        const stn_tree *tree = &m->trees[c->object->articulated_count + i];
        const size_t nq = (size_t)stn_node_type_nq(cloud->type);
        const stn_link *link = cloud->frame >= 0 ? &m->links[cloud->frame] : NULL;
        const stn_pose frame = link != NULL ? stn_pose_mul(&poses[link->body], &link->pose) : stn_pose_identity();
        const stn_quat turn = stn_quat_from_matrix(&frame.rotation);
        for (size_t k = 0; k < (size_t)cloud->node_count; k++) {
            double *q = c->q0 + tree->q_start + nq * k;
            const double *x = cloud->position + 3 * k;
            if (link == NULL) {
                memcpy(q, x, 3 * sizeof *q);
            } else {
                stn_vec3 at = stn_pose_apply(&frame, stn_vec3_make(x[0], x[1], x[2]));
                q[0] = at.x, q[1] = at.y, q[2] = at.z;
            }
            if (cloud->type == STN_NODE_FRAME) {
                const double *o = cloud->orientation + 4 * k;
                stn_quat own = {o[0], o[1], o[2], o[3]}, whole = link == NULL ? own : stn_quat_mul(turn, own);
                q[3] = whole.w, q[4] = whole.x, q[5] = whole.y, q[6] = whole.z;
            }
        }
    }
    return STN_OK;
}

stn_status compile_start(compiler *c, stn_error *err) {
    stn_model *m = &c->object->face;
    c->q0 = STN_ARENA_ZEROED(c->memory, m->nq, double);
    int32_t *massless = STN_ARENA(c->memory, m->tree_count, int32_t);
    int32_t *carried = STN_ARENA_ZEROED(c->scratch, m->body_count, int32_t);
    bool *carries = STN_ARENA_ZEROED(c->scratch, m->body_count, bool);
    if (c->q0 == NULL || massless == NULL || carried == NULL || carries == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t j = 0; j < m->joint_count; j++) {
        const stn_joint *joint = &m->joints[j];
        const joint_kind *kind = joint_kind_get(joint->type);
        double *q = c->q0 + joint->q_start;
        kind->rest(q);
        if (kind->axial) {
            // The master's start, nearest to zero, decides, whatever the chain's length; cycles were refused.
            mimic_end end = follow_mimic(c->joints, j);
            const stn_joint *master = &c->joints[end.master];
            double nearest = master->lower > 0.0 ? master->lower : master->upper < 0.0 ? master->upper : 0.0;
            q[0] = end.multiplier * nearest + end.offset;
        }
    }
    for (int32_t r = 0; r < m->group_count; r++) {
        if (c->root_joint[r] >= 0) { // it floats without a joint of its own: it starts at its base pose
            floating_coordinates(&group_at(c->builder, r)->base, c->q0 + c->joints[c->root_joint[r]].q_start);
        }
    }
    m->q0 = c->q0;
    stn_status status = start_nodes(c, err);
    if (status != STN_OK) {
        return status;
    }
    // Of each body the link that its joint carries; others of the body are welded to it.
    for (int32_t i = m->link_count - 1; i >= 0; i--) { // backwards: the first of several stays
        if (m->links[i].joint == m->bodies[m->links[i].body].joint) {
            carried[m->links[i].body] = i;
        }
    }
    for (int32_t t = 0; t < m->tree_count; t++) {
        int32_t body = m->trees[t].kind == STN_TREE_NODAL ? -1 : find_massless(c, &m->trees[t], carries);
        massless[t] = body >= 0 ? carried[body] : -1;
        if (body >= 0) {
            const stn_link *l = &m->links[massless[t]];
            stn_log(c->builder->context, STN_LOG_WARNING,
                    "group '%s', link '%s': moves by joint '%s' but carries no mass; it loads, dynamics will refuse it",
                    m->groups[l->group].name, l->name, m->joints[l->joint].name);
        }
    }
    warn(c);
    c->object->massless = massless;
    return STN_OK;
}
