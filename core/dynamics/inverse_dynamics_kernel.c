// SPDX-License-Identifier: Apache-2.0
// Inverse dynamics (recursive Newton-Euler) at the tree's reference point O, gravity as an acceleration of the frame.
// With the velocity V = (omega, u) and A = (alpha, a) = sum of S a down to the body + c - (0, g), the body needs
//     force  m b + alpha x h + omega x (omega x h),   moment  I alpha + omega x I omega + h x b,   b = a + omega x u,
// which is I A + V x* (I V) with its terms gathered; then tau = S . (sum of the forces that the joint carries). Of two
// velocities V and W each product is the mean of both orders: the symmetric bilinear form.
// Twice the kinetic energy of a body is omega . (I omega + 2 h x u) + m u . u.
// Cost of a body and its hinge: 63 multiplications, 59 additions; with given accelerations 7 and 13 more.
#include "dynamics/spatial_lanes.h"
#include "dynamics/tree_kernels.h"

/// Six packed numbers, four and two.
typedef struct packed {
    part4 front;
    part2 back;
} packed;

ALWAYS packed load_packed(const stn_spatial *s) {
    const double *x = (const double *)s;
    packed r = {load4(x), *(const part2 *)(x + 4)};
    return r;
}
ALWAYS void add_packed(stn_spatial *sum, double s, packed a) {
    double *x = (double *)sum;
    store4(x, load4(x) + a.front * s);
    *(part2 *)(x + 4) += a.back * s;
}
ALWAYS double dot_packed(packed a, packed b) {
    part4 front = a.front * b.front;
    part2 sum = __builtin_shufflevector(front, front, 0, 1) + __builtin_shufflevector(front, front, 2, 3);
    sum += a.back * b.back;
    return sum[0] + sum[1];
}

/// The sum of S a down to every body, in its place in F.
static void sum_accelerations(const kinematics_object *k, const stn_tree *tree, const double *a, stn_spatial *F) {
    for (int32_t i = 0; i < tree->body_count; i++) {
        const body_plan *plan = &k->plan[tree->body_start + i];
        F[i] = plan->parent > 0 ? F[plan->parent - tree->body_start] : (stn_spatial){stn_vec3_zero(), stn_vec3_zero()};
        for (int32_t j = 0; j < plan->nv; j++) {
            add_packed(&F[i], a[plan->dof + j], load_packed(&k->face.motion[plan->v + j]));
        }
    }
}

/// What one body alone needs.
ALWAYS void store_force(const inertia *I, pair V, part4 alpha, part4 a, stn_spatial *F) {
    double x[4], y[4];
    part4 h = load4(I->moment), omega = V.angular;
    part4 b = a + cross(omega, V.linear), swing = cross(omega, h);
    store4(x, alpha);
    store4(y, omega);
    part4 columns[3] = {load4(I->turning[0]), load4(I->turning[1]), load4(I->turning[2])};
    part4 spin = columns[0] * y[0] + columns[1] * y[1] + columns[2] * y[2];
    part4 moment = columns[0] * x[0] + columns[1] * x[1] + columns[2] * x[2];
    moment += cycled(cross_back(omega, spin) + cross_back(h, b));
    part4 force = b * I->moment[3] + cycled(cross_back(alpha, h) + cross_back(omega, swing));
    store_spatial(F, moment, force);
}

/// Likewise with two velocities.
ALWAYS void store_polar_force(const inertia *I, pair V, pair other, part4 alpha, part4 a, stn_spatial *F) {
    double x[4], y[4], z[4];
    const part4 half = spread(0.5), h = load4(I->moment), v = half * V.angular, w = other.angular;
    part4 b = a + cycled(cross_back(v, other.linear) + cross_back(half * w, V.linear));
    store4(x, alpha);
    store4(y, v);
    store4(z, w);
    part4 columns[3] = {load4(I->turning[0]), load4(I->turning[1]), load4(I->turning[2])};
    part4 spin_v = columns[0] * y[0] + columns[1] * y[1] + columns[2] * y[2];
    part4 spin_w = columns[0] * z[0] + columns[1] * z[1] + columns[2] * z[2];
    part4 moment = columns[0] * x[0] + columns[1] * x[1] + columns[2] * x[2];
    moment += cycled(cross_back(v, spin_w) + cross_back(w, spin_v) + cross_back(h, b));
    part4 swings = cross_back(v, cross(w, h)) + cross_back(w, cross(v, h));
    part4 force = b * I->moment[3] + cycled(cross_back(alpha, h) + swings);
    store_spatial(F, moment, force);
}

/// tau of the forces in F.
static void sum_forces(const kinematics_object *k, const stn_tree *tree, const double *acceleration, stn_spatial *F,
                       double *tau) {
    const int32_t begin = tree->body_start;
    for (int32_t i = begin + tree->body_count - 1; i >= begin; i--) {
        const body_plan *plan = &k->plan[i];
        packed force = load_packed(&F[i - begin]);
        if (plan->parent > 0) {
            add_packed(&F[plan->parent - begin], 1.0, force);
        }
        for (int32_t j = 0; j < plan->nv; j++) {
            tau[plan->dof + j] = dot_packed(load_packed(&k->face.motion[plan->v + j]), force);
        }
    }
    for (int32_t d = 0; acceleration != NULL && d < tree->nv; d++) {
        tau[d] += k->rotor[tree->v_start + d] * acceleration[d];
    }
}

/// c with the sum of S a that is in F.
ALWAYS pair accelerated(pair c, const stn_spatial *F) {
    const double *x = (const double *)F;
    part4 tail = load4(x + 2); // the last four: nothing behind F may be read
    c.angular += load4(x);
    c.linear += __builtin_shufflevector(tail, tail, 1, 2, 3, 3);
    return c;
}

void KERNEL_NAME(inverse_dynamics)(const kinematics_object *k, const stn_tree *tree, stn_vec3 gravity,
                                   const double *acceleration, stn_spatial *F, double *tau) {
    const int32_t begin = tree->body_start;
    part4 g = {gravity.x, gravity.y, gravity.z, gravity.z};
    if (acceleration != NULL) {
        sum_accelerations(k, tree, acceleration, F);
    }
    for (int32_t i = begin; i < begin + tree->body_count; i++) {
        const body_frame *frame = &k->frame[i];
        pair c = {load4(frame->bias[0]), load4(frame->bias[1])};
        pair V = {load4(frame->velocity[0]), load4(frame->velocity[1])};
        c = acceleration != NULL ? accelerated(c, &F[i - begin]) : c;
        store_force(&k->inertia[i], V, c.angular, c.linear - g, &F[i - begin]);
    }
    sum_forces(k, tree, acceleration, F, tau);
}

/// C(v, w) of a joint's own bias, which is quadratic in the joint's velocities.
static stn_spatial own_polar(const joint_kind *kind, const joint_state *at_joint, int32_t nv, const double *v,
                             const double *w) {
    double middle[6];
    stn_spatial own = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, part = own;
    for (int32_t j = 0; j < nv; j++) {
        middle[j] = 0.5 * (v[j] + w[j]);
    }
    const struct {
        const double *v;
        double weight;
    } looks[] = {{middle, 2.0}, {v, -0.5}, {w, -0.5}};
    for (int32_t i = 0; i < STN_COUNT(looks); i++) {
        kind->own_bias(at_joint, looks[i].v, &part);
        spatial_add_to(&own, looks[i].weight, &part);
    }
    return own;
}

/// other += S w and c += the bias of the joint, of dofs [0, nv) from S, v and w on; both come in as those of the
/// parent, which moves by v_up. Its velocities cross with S, that of v with S w and that of w with S v: their sum,
/// weighted so, crosses once.
ALWAYS void move_polar(int32_t nv, const stn_spatial *S, const double *v, const double *w, pair v_up, pair *other,
                       pair *c) {
    const pair w_up = *other;
    part4 angular = {0.0}, linear = {0.0};
    for (int32_t j = 0; j < nv; j++) {
        const pair s = load_spatial(&S[j]);
        const part4 omega = v_up.angular * w[j] + w_up.angular * v[j], u = v_up.linear * w[j] + w_up.linear * v[j];
        angular += cross_back(omega, s.angular);
        linear += cross_back(omega, s.linear) + cross_back(u, s.angular);
        other->angular += s.angular * w[j];
        other->linear += s.linear * w[j];
    }
    c->angular += cycled(angular) * 0.5;
    c->linear += cycled(linear) * 0.5;
}

/// Likewise, of a joint that is not axial.
__attribute__((noinline)) static void move_polar_general(const kinematics_object *k, int32_t body, const double *v,
                                                         const double *w, pair *other, pair *c) {
    const body_plan *plan = &k->plan[body];
    const body_frame *frame = &k->frame[body], *parent = &k->frame[plan->parent];
    const pair v_up = {load4(parent->velocity[0]), load4(parent->velocity[1])};
    if (plan->type == STN_JOINT_KINEMATIC) {
        *other = (pair){load4(frame->velocity[0]), load4(frame->velocity[1])};
        *c = (pair){load4(frame->bias[0]), load4(frame->bias[1])};
        return;
    }
    if (plan->free_root) { // S = 1
        const part4 u = {w[0], w[1], w[2], w[2]}, omega = {w[3], w[4], w[5], w[5]};
        *other = (pair){omega, u};
        c->linear = cross(load4(frame->velocity[1]), omega) * 0.5 + cross(u, load4(frame->velocity[0])) * 0.5;
        return;
    }
    move_polar(plan->nv, k->face.motion + plan->v, v, w, v_up, other, c);
    const joint_kind *kind = joint_kind_get((stn_joint_type)plan->type);
    if (kind->own_bias == NULL) {
        return;
    }
    const stn_joint *joint = &k->face.model->joints[plan->joint];
    const stn_vec3 O = k->face.reference[k->face.model->bodies[body].tree];
    const joint_state at_joint = {joint, stn_pose_mul(&k->face.body_pose[plan->parent], &joint->origin),
                                  k->face.q + plan->q, stn_vec3_sub(k->face.body_pose[body].position, O)};
    const stn_spatial own = own_polar(kind, &at_joint, plan->nv, v, w);
    c->angular += (part4){own.angular.x, own.angular.y, own.angular.z, 0.0};
    c->linear += (part4){own.linear.x, own.linear.y, own.linear.z, 0.0};
}

void KERNEL_NAME(inverse_dynamics_polar)(const kinematics_object *k, const stn_tree *tree, stn_vec3 gravity,
                                         const double *w, const double *acceleration, stn_spatial *scratch,
                                         double *tau) {
    const int32_t begin = tree->body_start, count = tree->body_count;
    const double *v = k->face.v + tree->v_start;
    const part4 g = {gravity.x, gravity.y, gravity.z, gravity.z};
    stn_spatial *other_of = scratch, *c_of = other_of + count + 1, *F = c_of + count + 1;
    if (acceleration != NULL) {
        sum_accelerations(k, tree, acceleration, F);
    }
    for (int32_t i = 0; i < count; i++) {
        const body_frame *frame = &k->frame[begin + i];
        const body_plan *plan = &k->plan[begin + i];
        const int32_t parent = plan->parent - begin;
        const pair V = {load4(frame->velocity[0]), load4(frame->velocity[1])};
        pair other = {{0.0}, {0.0}}, c = {{0.0}, {0.0}};
        if (parent >= 0) {
            other = load_spatial(&other_of[parent]);
            c = load_spatial(&c_of[parent]);
        }
        if (k->constants[begin + i].axial) {
            const body_frame *up = &k->frame[plan->parent];
            const pair v_up = {load4(up->velocity[0]), load4(up->velocity[1])};
            move_polar(1, k->face.motion + plan->v, v + plan->dof, w + plan->dof, v_up, &other, &c);
        } else {
            pair general[2] = {other, c};
            move_polar_general(k, begin + i, v + plan->dof, w + plan->dof, &general[0], &general[1]);
            other = general[0];
            c = general[1];
        }
        store_spatial(&other_of[i], other.angular, other.linear);
        store_spatial(&c_of[i], c.angular, c.linear);
        c = acceleration != NULL ? accelerated(c, &F[i]) : c;
        store_polar_force(&k->inertia[begin + i], V, other, c.angular, c.linear - g, &F[i]);
    }
    sum_forces(k, tree, acceleration, F, tau);
}

double KERNEL_NAME(twice_kinetic)(const kinematics_object *k, const stn_tree *tree) {
    part4 sum = {0.0};
    for (int32_t i = tree->body_start; i < tree->body_start + tree->body_count; i++) {
        const inertia *I = &k->inertia[i];
        const double *w = k->frame[i].velocity[0];
        const part4 omega = load4(w), u = load4(k->frame[i].velocity[1]);
        const part4 spin = load4(I->turning[0]) * w[0] + load4(I->turning[1]) * w[1] + load4(I->turning[2]) * w[2];
        sum += omega * (spin + cross(load4(I->moment), u) * 2.0) + u * u * I->moment[3];
    }
    return sum[0] + sum[1] + sum[2];
}
