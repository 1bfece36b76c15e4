// SPDX-License-Identifier: Apache-2.0
// The gyroscopic torque on a body, implicit. About its centre of mass in flight, about the pivot on a ball joint, with
// the inertia I at the step's start,
//
//     I (omega - omega0) = -dt omega_m x I omega_m,   omega_m = (omega0 + omega) / 2
//
// instead of the explicit -dt omega0 x I omega0, the same to first order. Both sides' products with omega_m and I
// omega_m vanish, so omega . I omega and |I omega| stay; and as the body then turns by exp(dt omega), which leaves
// omega alone, these are kinetic energy and angular momentum of the step's end. The explicit torque adds energy in
// every step, the more the faster the spin. A backward one (omega for omega_m) takes it away. In flight the centre of
// mass, at c from the body's origin, moves on evenly.
#include "common/spinning_body.h"

#include <math.h>
#include <string.h>

enum { MAX_ITERATIONS = 10 };
static const double TOLERANCE = 1e-14; // of |L|

lone_body lone_body_of(const stn_model *model, const stn_tree *tree) {
    if (tree->kind != STN_TREE_ARTICULATED || tree->body_count != 1) {
        return LONE_BODY_NONE;
    }
    const stn_body *body = &model->bodies[tree->body_start];
    const stn_joint_type type = model->joints[body->joint].type;
    if (type != STN_JOINT_FLOATING && type != STN_JOINT_BALL) {
        return LONE_BODY_NONE;
    }
    // cubes and balls about their origin feel no gyroscopic torque, whatever the spin
    const stn_mat3 *I = &body->mass.inertia;
    const stn_vec3 c = body->mass.com;
    double x = I->m[0][0], small = 1e-13 * x, off = fabs(I->m[1][0]) + fabs(I->m[2][0]) + fabs(I->m[2][1]);
    bool even = off + fabs(I->m[1][1] - x) + fabs(I->m[2][2] - x) <= small;
    if (!even || c.x != 0.0 || c.y != 0.0 || c.z != 0.0) {
        return LONE_BODY_SPINS;
    }
    return type == STN_JOINT_FLOATING ? LONE_BODY_FALLS : LONE_BODY_NONE;
}

/// exp(u) x - x without loss of digits at small u.
static stn_vec3 turn_change(stn_vec3 u, stn_vec3 x) {
    double angle = stn_vec3_norm(u), half = sin(0.5 * angle);
    double s = angle > 1e-8 ? sin(angle) / angle : 1.0;
    double c = angle > 1e-8 ? 2.0 * half * half / (angle * angle) : 0.5;
    stn_vec3 first = stn_vec3_cross(u, x);
    return stn_vec3_mul_add(stn_vec3_scale(s, first), c, stn_vec3_cross(u, first));
}

/// One column of the derivative of I w + h w x I w: I e + h (e x I w + w x I e), I e = column.
static stn_vec3 derivative(stn_vec3 e, stn_vec3 column, double h, stn_vec3 w, stn_vec3 Iw) {
    stn_vec3 turning = stn_vec3_add(stn_vec3_cross(e, Iw), stn_vec3_cross(w, column));
    return stn_vec3_mul_add(column, h, turning);
}

/// The new omega: omega_m solves I (w - omega0) + dt/2 w x I w = 0, by Newton's iteration. It ends but for turns of
/// radians in a step, where the torque, which could not be followed anyhow, is left out.
static stn_vec3 spin_on(const stn_mat3 *I, stn_vec3 omega, double dt) {
    const stn_vec3 ex = {1.0, 0.0, 0.0}, ey = {0.0, 1.0, 0.0}, ez = {0.0, 0.0, 1.0};
    stn_vec3 x = stn_mat3_column(I, 0), y = stn_mat3_column(I, 1), z = stn_mat3_column(I, 2), w = omega;
    double h = 0.5 * dt, small = TOLERANCE * stn_vec3_norm(stn_mat3_apply(I, omega));
    for (int32_t i = 0; i < MAX_ITERATIONS; i++) {
        stn_vec3 Iw = stn_mat3_apply(I, w);
        stn_vec3 residual = stn_mat3_apply(I, stn_vec3_sub(omega, w));
        residual = stn_vec3_mul_add(residual, -h, stn_vec3_cross(w, Iw));
        if (stn_vec3_norm(residual) <= small) {
            return stn_vec3_sub(stn_vec3_scale(2.0, w), omega);
        }
        // B^-1 residual by Cramer's rule, B in columns
        stn_vec3 a = derivative(ex, x, h, w, Iw), b = derivative(ey, y, h, w, Iw), c = derivative(ez, z, h, w, Iw);
        stn_vec3 bc = stn_vec3_cross(b, c);
        double inverse = 1.0 / stn_vec3_dot(a, bc);
        stn_vec3 step = {inverse * stn_vec3_dot(residual, bc), inverse * stn_vec3_dot(a, stn_vec3_cross(residual, c)),
                         inverse * stn_vec3_dot(a, stn_vec3_cross(b, residual))};
        w = stn_vec3_add(w, step);
    }
    return omega;
}

void spinning_body_impulse(const stn_integrator_view *view, const stn_tree *tree, double *impulse) {
    const stn_kinematics *k = view->kinematics;
    const stn_body *body = &view->model->bodies[tree->body_start];
    const stn_mat3 *rotation = &k->body_pose[tree->body_start].rotation;
    bool flies = view->model->joints[body->joint].type == STN_JOINT_FLOATING;
    const stn_vec3 com = body->mass.com;
    const bool centred = com.x == 0.0 && com.y == 0.0 && com.z == 0.0; // the origin is the centre of mass
    stn_mat3 I = stn_mat3_rotate_tensor(rotation, &body->mass.inertia);
    stn_vec3 c = centred ? com : stn_mat3_apply(rotation, com);
    stn_vec3 omega0 = k->body_velocity[tree->body_start].angular;
    const double x[3] = {c.x, c.y, c.z};
    for (int32_t i = 0; i < 3 && !flies && !centred; i++) { // about the pivot
        I.m[i][i] += body->mass.mass * stn_vec3_dot(c, c);
        for (int32_t j = 0; j < 3; j++) {
            I.m[i][j] -= body->mass.mass * x[i] * x[j];
        }
    }
    stn_vec3 omega = spin_on(&I, omega0, view->dt);
    stn_vec3 change = stn_vec3_scale(view->dt, view->gravity); // of the centre's velocity
    if (flies && !centred) {
        stn_vec3 moved = turn_change(stn_vec3_scale(view->dt, omega), c);
        change = stn_vec3_add(change, stn_vec3_cross(moved, omega)); // what keeps it while the origin swings about it
    }
    stn_vec3 force = stn_vec3_scale(body->mass.mass, change);
    stn_vec3 moment = stn_mat3_apply(&I, stn_vec3_sub(omega, omega0));
    moment = centred ? moment : stn_vec3_add(moment, stn_vec3_cross(c, force));
    if (flies) { // S = 1
        const double parts[6] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
        memcpy(impulse, parts, sizeof parts);
        return;
    }
    for (int32_t i = 0; i < tree->nv; i++) {
        const stn_spatial *S = &k->motion[tree->v_start + i];
        impulse[i] = stn_vec3_dot(S->linear, force) + stn_vec3_dot(S->angular, moment);
    }
}

void spinning_nodes_impulse(const stn_integrator_view *view, const stn_tree *tree, double *impulse) {
    for (int32_t i = 0; i < tree->node_count; i++, impulse += 6) {
        const int32_t node = tree->node_start + i;
        const double *v = view->v + tree->v_start + 6 * i;
        const stn_mat3 I = stn_node_inertia(view->kinematics, node);
        const stn_vec3 omega0 = stn_vec3_make(v[3], v[4], v[5]), omega = spin_on(&I, omega0, view->dt);
        const stn_vec3 force = stn_vec3_scale(view->dt * view->model->node_mass[node], view->gravity);
        const stn_vec3 moment = stn_mat3_apply(&I, stn_vec3_sub(omega, omega0));
        const double parts[6] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
        memcpy(impulse, parts, sizeof parts);
    }
}
