// SPDX-License-Identifier: Apache-2.0
// Inverse dynamics (recursive Newton-Euler) at the tree's reference point O, gravity as an acceleration of the frame.
// With the velocity V = (omega, u) and A = (alpha, a) = sum of S a down to the body + c - (0, g), the body needs
//     force  m b + alpha x h + omega x (omega x h),   moment  I alpha + omega x I omega + h x b,   b = a + omega x u,
// which is I A + V x* (I V) with its terms gathered; then tau = S . (sum of the forces that the joint carries). Of two
// velocities V and W each product is the mean of both orders: the symmetric bilinear form.
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

void KERNEL_NAME(inverse_dynamics)(const kinematics_object *k, const stn_tree *tree, stn_vec3 gravity,
                                   const double *acceleration, stn_bias_of of, stn_spatial *F, double *tau) {
    const int32_t begin = tree->body_start;
    const bool polar = of.velocity != k->face.body_velocity;
    part4 g = {gravity.x, gravity.y, gravity.z, gravity.z};
    if (acceleration != NULL) {
        sum_accelerations(k, tree, acceleration, F);
    }
    for (int32_t i = begin; i < begin + tree->body_count; i++) {
        pair c = load_spatial(&of.bias[i]), V = load_spatial(&k->face.body_velocity[i]);
        if (acceleration != NULL) {
            const double *x = (const double *)&F[i - begin];
            part4 tail = load4(x + 2); // the last four: nothing behind F may be read
            c.angular += load4(x);
            c.linear += __builtin_shufflevector(tail, tail, 1, 2, 3, 3);
        }
        if (polar) {
            store_polar_force(&k->inertia[i], V, load_spatial(&of.velocity[i]), c.angular, c.linear - g, &F[i - begin]);
        } else {
            store_force(&k->inertia[i], V, c.angular, c.linear - g, &F[i - begin]);
        }
    }
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
