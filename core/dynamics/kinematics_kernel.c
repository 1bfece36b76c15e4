// SPDX-License-Identifier: Apache-2.0
// Forward kinematics. Parents come before children, so one pass suffices. For body i with parent p, joint frame J fixed
// on p:
//     X_WJ = X_Wp X_pJ,  X_WB = X_WJ X_JB(q),  V_i = V_p + S v,  c_i = c_p + V_p x (S v) + own bias of the joint
// all at the tree's reference point O and in world axes, so nothing is ever transformed between bodies. Joints with one
// constant axis in the parent take a short way with what axial_constants holds; a joint that floats in the world has
// S = 1 at O, and c = (0, u x omega). Cost of a hinge: 175 multiplications, 140 additions, and a cosine and sine.
#include "dynamics/spatial_lanes.h"
#include "dynamics/tree_kernels.h"

/// A body's frame while it is worked on.
typedef struct placement {
    part4 x, y, z; // axes: columns of R
    part4 position;
} placement;

ALWAYS placement load_frame(const body_frame *f) {
    placement p = {load4(f->column[0]), load4(f->column[1]), load4(f->column[2]), load4(f->position)};
    return p;
}

/// (x, y, z) and some number; for a zero gcc would write an instruction that valgrind 3.19 does not know.
ALWAYS part4 lanes_of(stn_vec3 a) {
    return (part4){a.x, a.y, a.z, a.z};
}

/// R a.
ALWAYS part4 rotate(const placement *p, double x, double y, double z) {
    return p->x * x + p->y * y + p->z * z;
}

/// The frame and the public pose, whose rotation goes row by row: each row's store ends in the next row's place.
ALWAYS void store_placement(const placement *p, body_frame *frame, stn_pose *pose) {
    part4 xy0 = __builtin_shufflevector(p->x, p->y, 0, 4, 2, 6), xy1 = __builtin_shufflevector(p->x, p->y, 1, 5, 3, 7);
    part4 zz0 = __builtin_shufflevector(p->z, p->z, 0, 4, 2, 6), zz1 = __builtin_shufflevector(p->z, p->z, 1, 5, 3, 7);
    double *rows = &pose->rotation.m[0][0];
    store4(frame->column[0], p->x);
    store4(frame->column[1], p->y);
    store4(frame->column[2], p->z);
    store4(frame->position, p->position);
    store4(rows, __builtin_shufflevector(xy0, zz0, 0, 1, 4, 5));
    store4(rows + 3, __builtin_shufflevector(xy1, zz1, 0, 1, 4, 5));
    store3(rows + 6, __builtin_shufflevector(xy0, zz0, 2, 3, 6, 7));
    store3(&pose->position.x, p->position);
}

/// Inertia about O: R I_c R^T + (c . h) 1 - h c^T, c = R com + r, h = m c, r from O to the body's origin. `frame` holds
/// what `p` does.
ALWAYS void store_inertia(const body_constants *constants, const placement *p, const body_frame *frame, part4 r,
                          inertia *out) {
    static const part4 one[3] = {{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}};
    const double *I = constants->inertia, *com = constants->com;
    part4 arm = r + rotate(p, com[0], com[1], com[2]), h = arm * com[3];
    part4 x = rotate(p, I[0], I[3], I[4]), y = rotate(p, I[3], I[1], I[5]), z = rotate(p, I[4], I[5], I[2]);
    double c[4];
    store4(c, arm);
    double square = com[3] * (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
    UNROLL
    for (int32_t j = 0; j < 3; j++) {
        part4 turned = x * frame->column[0][j] + y * frame->column[1][j] + z * frame->column[2][j];
        store4(out->turning[j], turned + one[j] * square - h * c[j]);
    }
    store4(out->moment, join(h, load4(com)));
}

ALWAYS void store_velocity(kinematics_object *k, int32_t body, pair V, pair c) {
    body_frame *frame = &k->frame[body];
    store4(frame->velocity[0], V.angular);
    store4(frame->velocity[1], V.linear);
    store4(frame->bias[0], c.angular);
    store4(frame->bias[1], c.linear);
    store_spatial(&k->face.body_velocity[body], V.angular, V.linear);
    store_spatial(&k->face.bias[body], c.angular, c.linear);
}

/// V_i and c_i from those of the parent, S v and the joint's own bias.
ALWAYS void add_velocity(kinematics_object *k, int32_t parent, int32_t body, pair Sv, pair own) {
    const body_frame *from = &k->frame[parent];
    pair V = {load4(from->velocity[0]), load4(from->velocity[1])};
    pair c = {load4(from->bias[0]) + own.angular, load4(from->bias[1]) + own.linear};
    c.angular += cross(V.angular, Sv.angular);
    c.linear += cycled(cross_back(V.angular, Sv.linear) + cross_back(V.linear, Sv.angular));
    V.angular += Sv.angular;
    V.linear += Sv.linear;
    store_velocity(k, body, V, c);
}

// ---------------------------------------------------------------------------------------------------- three ways

static void move_axial(kinematics_object *k, int32_t body, double q, double v, bool first, stn_vec3 *reference) {
    const body_plan *plan = &k->plan[body];
    const body_constants *constants = &k->constants[body];
    const axial_constants *axial = &k->axial[body];
    placement parent = load_frame(&k->frame[plan->parent]), p;
    part4 c = join(spread(k->cosine[constants->turn]), spread(q));
    part4 s = join(spread(k->sine[constants->turn]), spread(0.0));
    double L[3][4]; // X_PB
    UNROLL
    for (int32_t i = 0; i < 3; i++) {
        store4(L[i], load4(axial->constant[i]) + c * load4(axial->cosine[i]) + s * load4(axial->sine[i]));
    }
    p.x = rotate(&parent, L[0][0], L[1][0], L[2][0]);
    p.y = rotate(&parent, L[0][1], L[1][1], L[2][1]);
    p.z = rotate(&parent, L[0][2], L[1][2], L[2][2]);
    p.position = parent.position + rotate(&parent, L[0][3], L[1][3], L[2][3]);
    store_placement(&p, &k->frame[body], &k->face.body_pose[body]);
    if (first) {
        *reference = k->face.body_pose[body].position;
    }
    part4 r = p.position - lanes_of(*reference);
    part4 axis = rotate(&parent, axial->sine[0][3], axial->sine[1][3], axial->sine[2][3]);
    part4 linear = cross(r, axis);
    if (constants->slides) {
        linear += rotate(&parent, axial->cosine[0][3], axial->cosine[1][3], axial->cosine[2][3]);
    }
    store_spatial(&k->face.motion[plan->v], axis, linear);
    pair Sv = {axis * v, linear * v}, none = {{0.0}, {0.0}};
    add_velocity(k, plan->parent, body, Sv, none);
    store_inertia(constants, &p, &k->frame[body], r, &k->inertia[body]);
}

ALWAYS pair pair_of(const stn_spatial *s) {
    pair p = {lanes_of(s->angular), lanes_of(s->linear)};
    return p;
}

ALWAYS placement placement_of(const stn_pose *pose) {
    placement p = {lanes_of(stn_mat3_column(&pose->rotation, 0)), lanes_of(stn_mat3_column(&pose->rotation, 1)),
                   lanes_of(stn_mat3_column(&pose->rotation, 2)), lanes_of(pose->position)};
    return p;
}

/// A joint of any kind, by its kind's own functions.
static void move_general(kinematics_object *k, int32_t body, const double *q, const double *v, bool first,
                         stn_vec3 *reference) {
    const body_plan *plan = &k->plan[body];
    const stn_joint *joint = &k->face.model->joints[plan->joint];
    const joint_kind *kind = joint_kind_get((stn_joint_type)plan->type);
    stn_pose pose;
    joint_state at = {joint, stn_pose_mul(&k->face.body_pose[plan->parent], &joint->origin), q, stn_vec3_zero()};
    stn_spatial *S = k->face.motion + plan->v, none = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, relative = none, own = none;
    kind->place(joint, &at.frame, q, &pose);
    *reference = first ? pose.position : *reference;
    at.r = stn_vec3_sub(pose.position, *reference);
    kind->motion(&at, S);
    for (int32_t j = 0; j < plan->nv; j++) {
        spatial_add_to(&relative, v[j], &S[j]);
    }
    if (kind->own_bias != NULL) {
        kind->own_bias(&at, v, &own);
    }
    add_velocity(k, plan->parent, body, pair_of(&relative), pair_of(&own));
    placement p = placement_of(&pose);
    store_placement(&p, &k->frame[body], &k->face.body_pose[body]);
    store_inertia(&k->constants[body], &p, &k->frame[body], lanes_of(at.r), &k->inertia[body]);
}

/// A body that floats in the world is at its tree's reference point, and its v is its spatial velocity.
static void move_free(kinematics_object *k, int32_t body, const double *q, const double *v, stn_vec3 *reference) {
    const stn_joint *joint = &k->face.model->joints[k->plan[body].joint];
    stn_quat turn = {q[3], q[4], q[5], q[6]};
    stn_pose pose = {stn_quat_matrix(stn_quat_normalize(turn)),
                     stn_vec3_add(joint->origin.position, stn_vec3_make(q[0], q[1], q[2]))};
    stn_vec3 u = stn_vec3_make(v[0], v[1], v[2]), omega = stn_vec3_make(v[3], v[4], v[5]);
    placement p = placement_of(&pose);
    store_placement(&p, &k->frame[body], &k->face.body_pose[body]);
    *reference = pose.position;
    pair V = {lanes_of(omega), lanes_of(u)}, c = {spread(0.0), lanes_of(stn_vec3_cross(u, omega))};
    store_velocity(k, body, V, c);
    store_inertia(&k->constants[body], &p, &k->frame[body], spread(0.0), &k->inertia[body]);
}

/// A body that moves as it is told: its coordinates are its pose and its twist in the world.
static void move_kinematic(kinematics_object *k, int32_t body, const double *q, stn_vec3 *reference) {
    stn_quat turn = {q[3], q[4], q[5], q[6]};
    stn_pose pose = {stn_quat_matrix(stn_quat_normalize(turn)), stn_vec3_make(q[0], q[1], q[2])};
    placement p = placement_of(&pose);
    store_placement(&p, &k->frame[body], &k->face.body_pose[body]);
    *reference = pose.position;
    pair V = {lanes_of(stn_vec3_make(q[10], q[11], q[12])), lanes_of(stn_vec3_make(q[7], q[8], q[9]))};
    pair none = {spread(0.0), spread(0.0)};
    store_velocity(k, body, V, none);
    store_inertia(&k->constants[body], &p, &k->frame[body], spread(0.0), &k->inertia[body]);
}

void KERNEL_NAME(kinematics)(kinematics_object *k, const double *q, const double *v) {
    const model_object *object = model_object_of(k->face.model);
    for (int32_t i = 0; i < k->turn_count; i++) {
        k->angle[i] = q[k->turn_q[i]];
    }
    k->angles->cosines_and_sines(k->turn_count, k->angle, k->cosine, k->sine);
    for (int32_t t = 0; t < object->articulated_count; t++) {
        int32_t begin = object->face.trees[t].body_start, end = begin + object->face.trees[t].body_count;
        stn_vec3 *reference = &k->face.reference[t];
        for (int32_t i = begin; i < end; i++) {
            const body_plan *plan = &k->plan[i];
            if (plan->free_root) {
                move_free(k, i, q + plan->q, v + plan->v, reference);
            } else if (k->constants[i].axial) {
                move_axial(k, i, q[plan->q], v[plan->v], i == begin, reference);
            } else if (plan->type == STN_JOINT_KINEMATIC) {
                move_kinematic(k, i, q + plan->q, reference);
            } else {
                move_general(k, i, q + plan->q, v + plan->v, i == begin, reference);
            }
        }
    }
}
