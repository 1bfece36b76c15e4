// SPDX-License-Identifier: Apache-2.0
#include "ruler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Square of the natural map of one contact under a law; g and gamma along t1, t2, n.
static double map_square(ruler_law law, double mu, double omega, const double gamma[3], const double g[3]) {
    if (law != RULER_PYRAMID) {
        const double slip = law == RULER_COULOMB ? mu * sqrt(g[0] * g[0] + g[1] * g[1]) : 0.0;
        return stn_natural_map_cone(mu, omega, g[2] + slip, gamma, g);
    }
    const double most = mu * fmax(gamma[2], 0.0); // as engines that sweep over rows have it
    const double lo[3] = {-most, -most, 0.0}, hi[3] = {most, most, (double)INFINITY};
    return stn_natural_map_box(3, omega, lo, hi, gamma, g);
}

static const double none[3] = {0.0, 0.0, 0.0};

// -------------------------------------------------------------------------------------------------------- free bodies

/// What an impulse on a body changes in the velocity at a point of it.
static stn_vec3 yield(const ruler_body *body, stn_vec3 arm, stn_vec3 at, stn_vec3 impulse) {
    const stn_vec3 spin = stn_mat3_apply(&body->inverse_inertia, stn_vec3_cross(arm, impulse));
    return stn_vec3_mul_add(stn_vec3_cross(spin, at), body->inverse_mass, impulse);
}

/// Velocity of b against a at the contact.
static stn_vec3 relative(const ruler_body *bodies, const stn_vec3 *velocity, const stn_vec3 *spin,
                         const ruler_contact *c) {
    stn_vec3 sum = stn_vec3_zero();
    for (int32_t side = 0; side < 2; side++) {
        const int32_t i = side == 0 ? c->a : c->b;
        if (i >= 0) {
            const stn_vec3 arm = stn_vec3_sub(c->point, bodies[i].position);
            const stn_vec3 v = stn_vec3_add(velocity[i], stn_vec3_cross(spin[i], arm));
            sum = stn_vec3_mul_add(sum, side == 0 ? -1.0 : 1.0, v);
        }
    }
    return stn_mat3_apply_transposed(&c->frame, sum);
}

/// trace(W_ii)/3.
static double inverse_mass(const ruler_body *bodies, const ruler_contact *c) {
    double trace = 0.0;
    for (int32_t side = 0; side < 2; side++) {
        const int32_t i = side == 0 ? c->a : c->b;
        for (int32_t k = 0; i >= 0 && k < 3; k++) {
            const stn_vec3 axis = stn_mat3_column(&c->frame, k), arm = stn_vec3_sub(c->point, bodies[i].position);
            trace += stn_vec3_dot(axis, yield(&bodies[i], arm, arm, axis));
        }
    }
    return trace / 3.0;
}

double ruler_error(ruler_law law, const ruler_body *bodies, int32_t body_count, const ruler_contact *contacts,
                   int32_t contact_count) {
    const size_t n = (size_t)body_count;
    stn_vec3 *memory = calloc(4 * n + 1, sizeof *memory), *after = memory, *spin = after + n, *before = spin + n,
             *spin_before = before + n;
    double error = 0.0, idle = 0.0;
    for (int32_t i = 0; i < body_count && memory != NULL; i++) {
        after[i] = before[i] = bodies[i].velocity;
        spin[i] = spin_before[i] = bodies[i].spin;
    }
    for (int32_t k = 0; k < contact_count && memory != NULL; k++) { // the velocities without the impulses
        const ruler_contact *c = &contacts[k];
        const stn_vec3 impulse = stn_mat3_apply(&c->frame, stn_vec3_make(c->gamma[0], c->gamma[1], c->gamma[2]));
        for (int32_t side = 0; side < 2; side++) {
            const int32_t i = side == 0 ? c->a : c->b;
            if (i >= 0) {
                const double sign = side == 0 ? 1.0 : -1.0;
                const stn_vec3 turn = stn_vec3_cross(stn_vec3_sub(c->point, bodies[i].position), impulse);
                before[i] = stn_vec3_mul_add(before[i], sign * bodies[i].inverse_mass, impulse);
                spin_before[i] =
                    stn_vec3_mul_add(spin_before[i], sign, stn_mat3_apply(&bodies[i].inverse_inertia, turn));
            }
        }
    }
    for (int32_t k = 0; k < contact_count && memory != NULL; k++) {
        const ruler_contact *c = &contacts[k];
        const stn_vec3 end = relative(bodies, after, spin, c), start = relative(bodies, before, spin_before, c);
        const double omega = inverse_mass(bodies, c);
        const double g[3] = {end.x, end.y, end.z - c->target + c->R * c->gamma[2]};
        const double g_free[3] = {start.x, start.y, start.z - c->target};
        error += map_square(law, c->mu, omega, c->gamma, g);
        idle += map_square(law, c->mu, omega, none, g_free);
    }
    free(memory);
    return idle > 0.0 ? sqrt(error / idle) : (double)NAN;
}

// --------------------------------------------------------------------------------------------------------------- ours

/// x = A^-1 x, tree by tree. False: some A is not dense, diagonal or regular.
static bool divide(const stn_problem *p, double *x) {
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_matrix *A = &p->trees[t].A;
        double *own = x + p->trees[t].dof_start;
        const size_t n = (size_t)A->n;
        double *L = A->form == STN_MATRIX_DENSE ? malloc(n * n * sizeof *L) : NULL;
        if (L == NULL) {
            return false;
        }
        memcpy(L, A->values, n * n * sizeof *L);
        const bool regular = stn_cholesky(A->n, L, A->n) < 0;
        stn_cholesky_forward(A->n, L, A->n, 1, own, A->n);
        stn_cholesky_backward(A->n, L, A->n, 1, own, A->n);
        free(L);
        if (!regular) {
            return false;
        }
    }
    return true;
}

double ruler_world_error(const stn_world *world) {
    const stn_observation *o = stn_world_observation(world);
    const stn_problem *p = o->problem;
    const stn_solver_ops *ops = stn_world_plugin(world, STN_KIND_SOLVER)->desc->ops.solver;
    const bool convex = ops->formulation == STN_REGULARIZED || ops->formulation == STN_CCP;
    const size_t nv = p != NULL ? (size_t)p->nv : 0, rows = p != NULL ? (size_t)p->row_count : 0;
    double *v = calloc(2 * nv + 2 * rows + 1, sizeof *v), *idle_v = v + nv, *v_c = idle_v + nv, *idle_c = v_c + rows;
    double error = 0.0, idle = 0.0;
    bool known = v != NULL && p != NULL;
    if (known) {
        for (size_t i = 0; i < nv && p->free_impulse != NULL; i++) {
            v[i] = idle_v[i] = p->free_impulse[i];
        }
        stn_problem_jacobian_transposed_add(p, 1.0, o->gamma, v);
        known = divide(p, v) && divide(p, idle_v);
        for (size_t i = 0; i < nv; i++) {
            v[i] += p->v_star[i];
            idle_v[i] += p->v_star[i];
        }
        stn_problem_contact_velocity(p, v, true, v_c);
        stn_problem_contact_velocity(p, idle_v, true, idle_c);
    }
    for (int32_t i = 0; i < p->constraint_count && known; i++) {
        const stn_constraint *c = &p->constraints[i];
        double g[STN_MAX_ROWS], g_free[STN_MAX_ROWS], zero[STN_MAX_ROWS] = {0.0};
        const double *gamma = o->gamma + c->row;
        for (int32_t r = 0; r < c->rows; r++) {
            const int32_t row = c->row + r;
            g[r] = v_c[row] - p->v_hat[row] + p->R[row] * gamma[r];
            g_free[r] = idle_c[row] - p->v_hat[row];
        }
        if (stn_constraint_has_cone(c)) {
            const ruler_law law = convex ? RULER_CONVEX : RULER_COULOMB;
            error += map_square(law, c->mu1, c->w, gamma, g);
            idle += map_square(law, c->mu1, c->w, none, g_free);
        } else {
            error += stn_natural_map_box(c->rows, c->w, p->lo + c->row, p->hi + c->row, gamma, g);
            idle += stn_natural_map_box(c->rows, c->w, p->lo + c->row, p->hi + c->row, zero, g_free);
        }
    }
    free(v);
    return known && idle > 0.0 ? sqrt(error / idle) : (double)NAN;
}
