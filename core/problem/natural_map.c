// SPDX-License-Identifier: Apache-2.0
// Natural maps: zero exactly at a solution, in metres per second [acary-2018].
//
//     e = |gamma - P_F(gamma - rho g)| / rho,   rho = 3/trace(W_ii)
//
// Coulomb: g = v_c + ((phi0 + tau_d v_n + gamma_n/(k dt))/dt + mu |v_t|) e_n, the de Saxce form of 0 <= phi + tau_d v_n + gamma_n/(k dt)
// _|_ gamma_n >= 0 over dt; without phi0 the bracket is v_n alone. Relaxation: g = v_c - v_hat + R gamma. An ellipse is mapped in the
// variables (gamma_t/mu, gamma_n), (mu v_t, v_n), in which it is a unit cone. Box and equality rows: e = |gamma - clamp(gamma -
// rho g)|/rho with g = v_c - v_hat + R gamma in both.
#include "problem/certificate.h"

/// |gamma - P(gamma - rho g)|/rho on the cone, or on the ellipse in its unit-cone variables.
static double cone_map(const stn_constraint *c, double rho, const double *gamma, const double *g) {
    double s1 = 1.0, s2 = 1.0, mu = c->mu1;
    if (c->set == STN_SET_ELLIPSE && c->mu1 > 0.0 && c->mu2 > 0.0) {
        s1 = c->mu1;
        s2 = c->mu2;
        mu = 1.0;
    }
    const double x[3] = {gamma[0] / s1, gamma[1] / s2, gamma[2]};
    double y[3] = {x[0] - rho * s1 * g[0], x[1] - rho * s2 * g[1], x[2] - rho * g[2]};
    stn_cone_project(mu, y);
    double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / rho;
}

static double slip(const stn_constraint *c, const double *u) {
    return c->set == STN_SET_CONE ? c->mu1 * hypot(u[0], u[1]) : hypot(c->mu1 * u[0], c->mu2 * u[1]);
}

/// (phi0 + tau_d v_n + gamma_n/(k dt))/dt, or 0 for a problem at velocity level.
static double gap_velocity(const stn_problem *p, const stn_constraint *c, double v_n, double gamma_n) {
    if (isnan(c->phi0)) {
        return 0.0;
    }
    double tau = isnan(c->relaxation_time) ? 0.0 : c->relaxation_time;
    double compliance = c->stiffness > 0.0 ? 1.0 / c->stiffness : 0.0; // infinite and unknown k: rigid
    return (c->phi0 + tau * v_n + compliance * gamma_n / p->dt) / p->dt;
}

static void contact_maps(const stn_problem *p, const stn_constraint *c, const double *u, const double *g, stn_certificate *out) {
    const double *R = p->R + c->row, *v_hat = p->v_hat + c->row;
    double rho = 3.0 / c->w_trace;
    const double coulomb[3] = {u[0], u[1], u[2] + gap_velocity(p, c, u[2], g[2]) + slip(c, u)};
    const double relaxed[3] = {u[0] - v_hat[0] + R[0] * g[0], u[1] - v_hat[1] + R[1] * g[1],
                               u[2] - v_hat[2] + R[2] * g[2]};
    out->natural_ncp = worst(out->natural_ncp, cone_map(c, rho, g, coulomb));
    out->natural_ccp = worst(out->natural_ccp, cone_map(c, rho, g, relaxed));
}

static void row_maps(const stn_problem *p, const stn_constraint *c, const double *v_c, const double *gamma, stn_certificate *out) {
    double rho = c->rows / c->w_trace;
    for (int32_t r = c->row; r < c->row + c->rows; r++) {
        double y = gamma[r] - rho * (v_c[r] - p->v_hat[r] + p->R[r] * gamma[r]);
        y = c->set == STN_SET_BOX ? (y < p->lo[r] ? p->lo[r] : (y > p->hi[r] ? p->hi[r] : y)) : y;
        double e = fabs(gamma[r] - y) / rho;
        out->natural_ncp = worst(out->natural_ncp, e);
        out->natural_ccp = worst(out->natural_ccp, e);
    }
}

void certify_natural(const stn_problem *p, const double *v_c, const double *gamma, stn_certificate *out) {
    out->natural_ncp = out->natural_ccp = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (is_contact(c)) {
            contact_maps(p, c, v_c + c->row, gamma + c->row, out);
        } else {
            row_maps(p, c, v_c, gamma, out);
        }
    }
}

/// u = W gamma + q through A^-1, so that it depends on gamma alone; q = J v_star + bias.
static stn_status velocities_of_impulse(const stn_problem *p, const double *gamma, const stn_inverse *inverse, stn_arena *scratch,
                                        double *u, double *q, stn_error *err) {
    if (p->form == STN_FORM_LOCAL) {
        for (int32_t i = 0; i < p->row_count; i++) {
            u[i] = q[i] = p->q[i];
            for (int32_t k = 0; k < p->row_count; k++) {
                u[i] += p->W[(size_t)i * (size_t)p->row_count + (size_t)k] * gamma[k];
            }
        }
        return STN_OK;
    }
    double *v = STN_ARENA(scratch, p->nv, double);
    if (v == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    stn_inverse_velocity(inverse, p, gamma, v);
    stn_problem_contact_velocity(p, v, true, u);
    stn_problem_contact_velocity(p, p->v_star, true, q);
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
    double map = 0.0, size_u = 0.0, size_q = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (!is_contact(c)) {
            continue;
        }
        const double *w = u + c->row;
        const double coulomb[3] = {w[0], w[1], w[2] + slip(c, w)};
        double e = cone_map(c, 3.0 / c->w_trace, gamma + c->row, coulomb);
        map += e * e;
        for (int32_t r = c->row; r < c->row + 3; r++) {
            size_u += u[r] * u[r];
            size_q += q[r] * q[r];
        }
    }
    double scale = sqrt(worst(size_u, size_q));
    out->natural_scaled = map == 0.0 ? 0.0 : sqrt(map) / (scale < 1e-300 ? 1e-300 : scale);
    return STN_OK;
}
