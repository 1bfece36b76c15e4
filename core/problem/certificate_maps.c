// SPDX-License-Identifier: Apache-2.0
// Natural maps of the certificate (docs/certificate.md): e = |gamma - P(gamma - rho g)|/rho, rho = rows/trace(W_ii),
// with
//     Coulomb     g = v_c + (gap + mu |v_t|) e_n,  gap = (phi0 + tau_d v_n + gamma_n/(k dt))/dt, 0 without phi0:
//                 the De Saxce form of 0 <= phi0 + (dt + tau_d) v_n + gamma_n/(k dt) _|_ gamma_n >= 0 over dt
//     relaxation  g = v_c - v_hat + R gamma
// and for box and equality rows g = v_c - v_hat + R gamma in both.
#include <string.h>

#include "problem/certificate.h"
#include "problem/cone.h"
#include "problem/local_form.h"
#include "problem/regularize.h"

static double gap_velocity(const stn_problem *p, const stn_constraint *c, double v_n, double gamma_n) {
    if (isnan(c->phi0)) {
        return 0.0;
    }
    double tau = isnan(c->relaxation_time) ? 0.0 : c->relaxation_time;
    double speed;
    if (problem_impact(p, c, &speed)) {
        return -speed;
    }
    double compliance = c->stiffness > 0.0 ? 1.0 / c->stiffness : 0.0; // infinite and unknown k: rigid
    return (c->phi0 + tau * v_n + compliance * gamma_n / p->dt) / p->dt;
}

/// Squares of the maps. u, gamma: the constraint's own rows.
static double coulomb_map(const stn_problem *p, const stn_constraint *c, const double *u, const double *gamma) {
    const double g[3] = {u[0], u[1], u[2] + gap_velocity(p, c, u[2], gamma[2])};
    return natural_map_cone(c, true, natural_map_omega(3, c->w_trace), gamma, g);
}

/// g = v_c - v_hat + R gamma of the constraint's rows.
static void slack(const stn_problem *p, const stn_constraint *c, const double *u, const double *gamma, double *g) {
    const double *R = p->R + c->row, *v_hat = p->v_hat + c->row;
    for (int32_t r = 0; r < c->rows; r++) {
        g[r] = u[r] - v_hat[r] + R[r] * gamma[r];
    }
}

static double relaxed_map(const stn_problem *p, const stn_constraint *c, const double *u, const double *gamma) {
    double g[3];
    slack(p, c, u, gamma, g);
    return natural_map_cone(c, false, natural_map_omega(3, c->w_trace), gamma, g);
}

static double row_map(const stn_problem *p, const stn_constraint *c, const double *u, const double *gamma) {
    double g[STN_MAX_ROWS];
    slack(p, c, u, gamma, g);
    return natural_map_box(c->rows, natural_map_omega(c->rows, c->w_trace), p->lo + c->row, p->hi + c->row, gamma, g);
}

void certify_natural(const stn_problem *p, const double *v_c, const double *gamma, stn_certificate *out) {
    double ncp = 0.0, ccp = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        const double *u = v_c + c->row, *own = gamma + c->row;
        if (has_cone(c)) {
            ncp = worst(ncp, coulomb_map(p, c, u, own));
            ccp = worst(ccp, relaxed_map(p, c, u, own));
        } else {
            double e = row_map(p, c, u, own);
            ncp = worst(ncp, e);
            ccp = worst(ccp, e);
        }
    }
    out->natural_ncp = sqrt(ncp);
    out->natural_ccp = sqrt(ccp);
}

/// u = W gamma + q, which depends on gamma alone, and q = u(0).
static stn_status velocities_of_impulse(const stn_problem *p, const double *gamma, const stn_inverse *inverse,
                                        stn_arena *scratch, double *u, double *q, stn_error *err) {
    double *none = STN_ARENA_ZEROED(scratch, p->row_count, double);
    double *v = STN_ARENA(scratch, p->nv, double);
    if (none == NULL || v == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    if (p->form == STN_FORM_LOCAL) {
        local_form form;
        stn_status status = local_form_reduce(p, scratch, &form, err);
        if (status == STN_OK) {
            local_form_velocity(&form, p->row_count, gamma, u);
            memcpy(q, form.q, (size_t)p->row_count * sizeof *q);
        }
        return status;
    }
    stn_inverse_velocity(inverse, p, gamma, v);
    stn_problem_contact_velocity(p, v, true, u);
    stn_inverse_velocity(inverse, p, none, v);
    stn_problem_contact_velocity(p, v, true, q);
    return STN_OK;
}

stn_status certify_scaled(const stn_problem *p, const double *gamma, const stn_inverse *inverse, stn_arena *scratch,
                          stn_certificate *out, stn_error *err) {
    double *u = STN_ARENA(scratch, p->row_count, double), *q = STN_ARENA(scratch, p->row_count, double);
    if (u == NULL || q == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    stn_status status = velocities_of_impulse(p, gamma, inverse, scratch, u, q, err);
    if (status != STN_OK) {
        return status;
    }
    double ncp = 0.0, ccp = 0.0, size_u = 0.0, size_q = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        ncp += (has_cone(c) ? coulomb_map : row_map)(p, c, u + c->row, gamma + c->row);
        ccp += (has_cone(c) ? relaxed_map : row_map)(p, c, u + c->row, gamma + c->row);
        for (int32_t r = c->row; r < c->row + c->rows && c->set != STN_SET_EQUALITY; r++) {
            size_u += u[r] * u[r];
            size_q += q[r] * q[r];
        }
    }
    double size = sqrt(worst(size_u, size_q)), scale = size < 1e-300 ? 1e-300 : size;
    out->natural_scaled = ncp == 0.0 ? 0.0 : sqrt(ncp) / scale;
    out->natural_ccp_scaled = ccp == 0.0 ? 0.0 : sqrt(ccp) / scale;
    return STN_OK;
}
