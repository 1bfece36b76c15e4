// SPDX-License-Identifier: Apache-2.0
// Forward kinematics. Parents come before children, so one pass suffices. For body i with parent p, joint frame J fixed
// on p:
//     X_WJ = X_Wp X_pJ,  X_WB = X_WJ X_JB(q),  V_i = V_p + S v,  c_i = c_p + V_p x (S v) + own bias of the joint
// all at the tree's reference point O and in world axes, so nothing is ever transformed between bodies. A joint that
// floats in the world has S = 1 at O, and c = (0, u x omega).
#include <string.h>

#include "dynamics/kinematics.h"

// ------------------------------------------------------------------------------------------------------- memory

/// Fills the columns of S that never change.
static void fill_free_roots(kinematics_object *k, const stn_model *model) {
    for (int32_t i = 1; i < model->body_count; i++) {
        const body_plan *plan = &k->plan[i];
        if (plan->free_root) {
            stn_pose frame = stn_pose_identity();
            joint_kind_get((stn_joint_type)plan->type)
                ->motion(&model->joints[plan->joint], &frame, NULL, stn_vec3_zero(), k->face.motion + plan->v);
        }
    }
}

stn_status stn_kinematics_create(const stn_model *model, stn_kinematics **out, stn_error *err) {
    *out = NULL;
    stn_context *context = model->context;
    size_t bodies = (size_t)model->body_count, trees = (size_t)model->tree_count, nv = (size_t)model->nv;
    kinematics_object *k = stn_allocate(context, 1, sizeof *k);
    if (k != NULL) {
        k->face.model = model;
        k->plan = model_object_of(model)->plan;
        k->face.body_pose = stn_allocate(context, bodies, sizeof *k->face.body_pose);
        k->face.reference = stn_allocate(context, trees, sizeof *k->face.reference);
        k->face.body_velocity = stn_allocate(context, bodies, sizeof *k->face.body_velocity);
        k->face.motion = stn_allocate(context, nv, sizeof *k->face.motion);
        k->face.bias = stn_allocate(context, bodies, sizeof *k->face.bias);
        k->inertia = stn_allocate(context, bodies, sizeof *k->inertia);
        k->composite = stn_allocate(context, bodies, sizeof *k->composite);
    }
    if (k == NULL || k->face.body_pose == NULL || k->face.reference == NULL || k->face.body_velocity == NULL ||
        k->face.motion == NULL || k->face.bias == NULL || k->inertia == NULL || k->composite == NULL) {
        stn_kinematics_destroy(k != NULL ? &k->face : NULL);
        return stn_fail(err, STN_ERR_MEMORY, "kinematics: out of memory");
    }
    k->face.body_pose[0] = stn_pose_identity();
    fill_free_roots(k, model);
    *out = &k->face;
    return STN_OK;
}

void stn_kinematics_destroy(stn_kinematics *kinematics) {
    if (kinematics == NULL) {
        return;
    }
    kinematics_object *k = (kinematics_object *)(void *)kinematics;
    stn_context *context = kinematics->model->context;
    stn_release(context, k->face.body_pose);
    stn_release(context, k->face.reference);
    stn_release(context, k->face.body_velocity);
    stn_release(context, k->face.motion);
    stn_release(context, k->face.bias);
    stn_release(context, k->inertia);
    stn_release(context, k->composite);
    stn_release(context, k);
}

// ------------------------------------------------------------------------------------------------------- update

/// (A B^T)_ij.
static inline double row_product(const stn_mat3 *a, int32_t i, const stn_mat3 *b, int32_t j) {
    return a->m[i][0] * b->m[j][0] + a->m[i][1] * b->m[j][1] + a->m[i][2] * b->m[j][2];
}

/// Inertia of a body about O: R I_c R^T + m (|c|^2 1 - c c^T), c = R com + r, r from O to the body's origin.
static inline inertia world_inertia(const stn_mass *mass, const stn_mat3 *R, stn_vec3 r) {
    stn_vec3 c = stn_vec3_add(stn_mat3_apply(R, mass->com), r), h = stn_vec3_scale(mass->mass, c);
    stn_mat3 T = stn_mat3_mul(R, &mass->inertia);
    inertia i;
    i.mass = mass->mass;
    i.h = h;
    i.xx = row_product(&T, 0, R, 0) + (h.y * c.y + h.z * c.z);
    i.yy = row_product(&T, 1, R, 1) + (h.x * c.x + h.z * c.z);
    i.zz = row_product(&T, 2, R, 2) + (h.x * c.x + h.y * c.y);
    i.xy = row_product(&T, 0, R, 1) - h.x * c.y;
    i.xz = row_product(&T, 0, R, 2) - h.x * c.z;
    i.yz = row_product(&T, 1, R, 2) - h.y * c.z;
    return i;
}

/// A body that floats in the world is at its tree's reference point, and its v is its spatial velocity.
static void update_free_root(kinematics_object *k, int32_t body, const double *q, const double *v) {
    const stn_body *b = &k->face.model->bodies[body];
    const stn_joint *joint = &k->face.model->joints[b->joint];
    stn_pose *pose = &k->face.body_pose[body];
    stn_quat turn = {q[3], q[4], q[5], q[6]};
    stn_vec3 u = stn_vec3_make(v[0], v[1], v[2]), omega = stn_vec3_make(v[3], v[4], v[5]);
    pose->rotation = stn_quat_matrix(stn_quat_normalize(turn));
    pose->position = stn_vec3_add(joint->origin.position, stn_vec3_make(q[0], q[1], q[2]));
    k->face.reference[b->tree] = pose->position;
    k->face.body_velocity[body] = (stn_spatial){omega, u};
    k->face.bias[body] = (stn_spatial){stn_vec3_zero(), stn_vec3_cross(u, omega)};
    k->inertia[body] = world_inertia(&b->mass, &pose->rotation, stn_vec3_zero());
}

/// a x b of spatial velocities at one point.
static inline stn_spatial spatial_cross(const stn_spatial *a, const stn_spatial *b) {
    stn_spatial r = {stn_vec3_cross(a->angular, b->angular),
                     stn_vec3_add(stn_vec3_cross(a->angular, b->linear), stn_vec3_cross(a->linear, b->angular))};
    return r;
}

static void update_body(kinematics_object *k, int32_t body, bool first, const double *q, const double *v) {
    const stn_body *b = &k->face.model->bodies[body];
    const body_plan *plan = &k->plan[body];
    const stn_joint *joint = &k->face.model->joints[b->joint];
    const joint_kind *kind = joint_kind_get((stn_joint_type)plan->type);
    const stn_spatial *parent_velocity = &k->face.body_velocity[plan->parent];
    stn_pose *pose = &k->face.body_pose[body], frame = stn_pose_mul(&k->face.body_pose[plan->parent], &joint->origin);
    stn_spatial *S = k->face.motion + plan->v, relative = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    kind->place(joint, &frame, q, pose);
    if (first) {
        k->face.reference[b->tree] = pose->position;
    }
    stn_vec3 r = stn_vec3_sub(pose->position, k->face.reference[b->tree]);
    kind->motion(joint, &frame, q, r, S);
    for (int32_t j = 0; j < plan->nv; j++) {
        spatial_add_to(&relative, v[j], &S[j]);
    }
    stn_spatial velocity = *parent_velocity, bias = spatial_cross(parent_velocity, &relative);
    spatial_add_to(&velocity, 1.0, &relative);
    spatial_add_to(&bias, 1.0, &k->face.bias[plan->parent]);
    if (kind->own_bias != NULL) {
        stn_spatial own;
        kind->own_bias(joint, &frame, q, v, r, &own);
        spatial_add_to(&bias, 1.0, &own);
    }
    k->face.body_velocity[body] = velocity;
    k->face.bias[body] = bias;
    k->inertia[body] = world_inertia(&b->mass, &pose->rotation, r);
}

void stn_kinematics_update(stn_kinematics *kinematics, const double *q, const double *v) {
    kinematics_object *k = (kinematics_object *)(void *)kinematics;
    const stn_model *model = kinematics->model;
    const model_object *object = model_object_of(model);
    kinematics->q = q;
    kinematics->v = v;
    kinematics->node = (const stn_vec3 *)(const void *)(q + object->node_q);
    for (int32_t t = 0; t < object->articulated_count; t++) {
        const stn_tree *tree = &model->trees[t];
        int32_t begin = tree->body_start, end = begin + tree->body_count;
        for (int32_t i = begin; i < end; i++) {
            const body_plan *plan = &k->plan[i];
            if (plan->free_root) {
                update_free_root(k, i, q + plan->q, v + plan->v);
            } else {
                update_body(k, i, i == begin, q + plan->q, v + plan->v);
            }
        }
    }
}
