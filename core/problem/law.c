// SPDX-License-Identifier: Apache-2.0
// What laws say about a problem: R and v_hat of its rows before it is solved, impulses from velocities after.
//
// Regularisation of rows that no contact law replaces (docs/contact-problem.md, "What the rows are"):
//
//     compliance c = 1/(dt k (dt + tau_d)),  near-rigid floor R_nr = beta^2/(4 pi^2) w,  beta = 0.1
//     box, equality   R = max(R_nr, c),  v_hat = -phi/(dt + tau_d), tau_d >= dt where the floor wins (rigid: dt),
//                     of joint limits at most dt
//     servo           the same, but gains shrink together where the floor wins: tau_d = kd/kp stays
//     dry friction    R = sigma w,  v_hat = 0
//     cone, ellipse   R_n = c,  R_t = 0,  v_hat_n = -phi0/(dt + tau_d); 0 in a local problem that knows no phi0
//     impact          R_n = 0,  R_t = 0,  v_hat_n = max(-e v_n0, -phi0/(dt + tau_d)), -phi0/dt before it;
//                     see regularize.h
#include "problem/regularize.h"
#include "problem/solver.h"

static const double near_rigid_beta = 0.1;
static const double friction_sigma = 1e-3;
static const double softest = 1e100; // [1/kg] stands for a row without any stiffness; keeps R gamma finite

static bool is_rigid(const stn_constraint *c) {
    return isnan(c->stiffness) || isinf(c->stiffness);
}

static double compliance(const stn_constraint *c, double dt) {
    double R = is_rigid(c) ? 0.0 : 1.0 / (dt * c->stiffness * (dt + c->relaxation_time));
    return isinf(R) ? softest : R;
}

bool problem_impact(const stn_problem *problem, const stn_constraint *c, double *speed) {
    bool known = c->restitution > 0.0 && problem->form == STN_FORM_GLOBAL && !isnan(c->phi0);
    if (!known || !is_rigid(c)) {
        return false;
    }
    double before[3], without[3], bias = problem->bias[c->row + 2], dt = problem->dt;
    stn_constraint_velocity(problem, c, problem->v0, before);
    stn_constraint_velocity(problem, c, problem->v_star, without);
    double v_n0 = before[2] + bias, v_n = without[2] + bias;
    if (!(v_n0 < -2.0 * fabs(v_n - v_n0))) {
        return false;
    }
    if (c->phi0 + dt * v_n > 0.0) {
        *speed = -c->phi0 / dt;
        return true;
    }
    double theta = problem->velocity_kind == STN_VELOCITY_MID ? problem->theta : 1.0;
    *speed = fmax((1.0 - theta) * v_n0 - theta * c->restitution * v_n0, -c->phi0 / (dt + c->relaxation_time));
    return true;
}

static void regularize_cone(stn_problem *problem, const stn_constraint *c) {
    double *R = problem->R + c->row, *v_hat = problem->v_hat + c->row;
    bool bare = problem->form == STN_FORM_LOCAL && isnan(c->phi0); // W and q hold all there is
    R[0] = R[1] = 0.0;
    R[2] = compliance(c, problem->dt);
    v_hat[0] = v_hat[1] = 0.0;
    v_hat[2] = bare ? 0.0 : -c->phi0 / (problem->dt + c->relaxation_time);
    problem_impact(problem, c, &v_hat[2]);
}

double stn_constraint_regularize(const stn_constraint *c, double dt, double *relaxation_time) {
    double floor_R = near_rigid_beta * near_rigid_beta / (4.0 * STN_PI * STN_PI) * c->w;
    double R = compliance(c, dt), tau = isnan(c->relaxation_time) ? dt : c->relaxation_time;
    if (!(R >= floor_R)) { // NaN of w goes on into R, where the solve names it
        R = floor_R;
        const double rigid = c->kind == STN_CONSTRAINT_JOINT_LIMIT ? fmin(tau, dt) : dt;
        tau = c->kind == STN_CONSTRAINT_SERVO ? tau : is_rigid(c) ? rigid : fmax(tau, dt);
    }
    R = c->kind == STN_CONSTRAINT_DRY_FRICTION ? friction_sigma * c->w : R;
    *relaxation_time = tau;
    return R == 0.0 ? softest : R; // w = 0: a closed mechanism may stand where nothing moves along the row
}

static void regularize_rows(stn_problem *problem, const stn_constraint *c) {
    double tau, R = stn_constraint_regularize(c, problem->dt, &tau);
    bool friction = c->kind == STN_CONSTRAINT_DRY_FRICTION;
    for (int32_t r = c->row; r < c->row + c->rows; r++) {
        double phi = problem->phi != NULL && !isnan(problem->phi[r]) ? problem->phi[r] : c->phi0;
        problem->R[r] = R;
        problem->v_hat[r] = friction || isnan(phi) ? 0.0 : -phi / (problem->dt + tau);
    }
}

void stn_problem_regularize(stn_problem *problem) {
    if (problem->explicit_R) {
        return;
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        (stn_constraint_has_cone(c) ? regularize_cone : regularize_rows)(problem, c);
    }
}

// ------------------------------------------------------------------------------------------------------ impulses
// Impulses from velocities: gamma = -dl/dv_c of the law, or of the box law where no law speaks.

stn_status complete_impulses_at(const law_question *q, const double *v_c, double *gamma, stn_error *err) {
    const stn_problem *problem = q->problem;
    const stn_law *law = q->law;
    double *G = q->G;
    int32_t *index = STN_ARENA(q->scratch, problem->constraint_count, int32_t), count = 0;
    for (int32_t i = 0; i < problem->constraint_count && index != NULL; i++) {
        const stn_constraint *c = &problem->constraints[i];
        if (stn_constraint_has_cone(c)) {
            index[count++] = i;
            continue;
        }
        for (int32_t r = c->row; r < c->row + c->rows; r++) { // an equality is a box without bounds
            double slope;
            stn_box_law(v_c[r], problem->R[r], problem->v_hat[r], problem->lo[r], problem->hi[r], &gamma[r], &slope);
            if (G != NULL) {
                G[6 * i + r - c->row] = slope;
            }
        }
    }
    // the cones and ellipses as a batch, v_c and gamma as its lanes
    const int32_t stride = (count + STN_LANES - 1) / STN_LANES * STN_LANES;
    const size_t lane = (size_t)stride;
    stn_law_batch batch = {.count = count, .stride = stride, .constraint = index};
    batch.coefficients = STN_ARENA_ZEROED(q->scratch, (size_t)law->ops->coefficient_count * lane, double);
    double *v_lanes = STN_ARENA_ZEROED(q->scratch, 3 * lane, double);
    double *gamma_lanes = STN_ARENA(q->scratch, 3 * lane, double);
    double *cost = STN_ARENA(q->scratch, lane, double), *G_lanes = STN_ARENA(q->scratch, 6 * lane, double);
    if (index == NULL || batch.coefficients == NULL || v_lanes == NULL || gamma_lanes == NULL || cost == NULL ||
        G_lanes == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "impulses from velocities: out of memory");
    }
    stn_status status = law->ops->prepare(law->self, problem, &batch, q->law_memory, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "law %s", law->id);
        return status;
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t a = 0; a < 3; a++) {
            v_lanes[a * stride + i] = v_c[problem->constraints[index[i]].row + a];
        }
    }
    law->ops->evaluate(law->self, &batch, v_lanes, cost, gamma_lanes, G != NULL ? G_lanes : NULL);
    for (int32_t i = 0; i < count; i++) {
        for (int32_t a = 0; a < 3; a++) {
            gamma[problem->constraints[index[i]].row + a] = gamma_lanes[a * stride + i];
        }
        for (int32_t k = 0; k < 6 && G != NULL; k++) {
            G[6 * index[i] + k] = G_lanes[k * stride + i];
        }
    }
    return STN_OK;
}

stn_status complete_impulses(const law_question *q, const double *v, double *gamma, stn_error *err) {
    double *v_c = STN_ARENA(q->scratch, q->problem->row_count, double);
    if (v_c == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "impulses from velocities: out of memory");
    }
    stn_problem_contact_velocity(q->problem, v, true, v_c);
    return complete_impulses_at(q, v_c, gamma, err);
}

stn_status stn_law_impulses(const stn_problem *problem, const stn_law *law, const void *law_memory, const double *v,
                            stn_arena *scratch, double *gamma, stn_error *err) {
    const law_question asked = {.problem = problem, .law = law, .law_memory = law_memory, .scratch = scratch};
    return complete_impulses(&asked, v, gamma, err);
}
