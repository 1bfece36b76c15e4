// SPDX-License-Identifier: Apache-2.0
// Is an answer one of maximal dissipation? With the other contacts as they are, a contact sees v = c + W_ii gamma (R
// and v_hat within). Its impulse must satisfy Signorini's condition, lie in the cone, and among impulses of the cone
// with v_n = 0 leave the least energy v^T W_ii^-1 v/2 [hwangbo-2018]. The last is asked of sampled directions: by no
// gradient that a solver could share.
#include <math.h>

#include "solver_subject.h"

enum { DIRECTIONS = 360 };

/// A contact in variables in which its cone is circular.
typedef struct alone {
    double mu, omega, c[3], W[9], gamma[3], g[3]; // W and R; omega: trace(W_ii)/3 alone
} alone;

static void view(const stn_delassus *d, int32_t i, const double *gamma, alone *out) {
    const stn_problem *p = d->problem;
    const stn_constraint *c = &p->constraints[i];
    const double *W = stn_delassus_diagonal(d, i);
    double mu = fmax(c->mu1, c->mu2), scale[3] = {1.0, 1.0, 1.0};
    if (c->set == STN_SET_ELLIPSE && c->mu1 > 0.0 && c->mu2 > 0.0) {
        scale[0] = c->mu1 / mu;
        scale[1] = c->mu2 / mu;
    }
    out->mu = mu;
    out->omega = (W[0] + W[4] + W[8]) / 3.0;
    for (int32_t r = 0; r < 3; r++) {
        double g = d->b[c->row + r] - p->v_hat[c->row + r] + p->R[c->row + r] * gamma[c->row + r];
        out->g[r] = scale[r] * g;
        out->gamma[r] = gamma[c->row + r] / scale[r];
        for (int32_t k = 0; k < 3; k++) {
            out->W[3 * r + k] = scale[r] * (W[3 * r + k] + (r == k ? p->R[c->row + r] : 0.0)) * scale[k];
        }
    }
    double v[3] = {0.0, 0.0, 0.0};
    stn_delassus_row_mul_add(d, i, gamma, v);
    for (int32_t r = 0; r < 3; r++) {
        out->g[r] += scale[r] * v[r];
        out->c[r] = out->g[r];
        for (int32_t k = 0; k < 3; k++) {
            out->c[r] -= out->W[3 * r + k] * out->gamma[k];
        }
    }
}

/// Adjugate over determinant; false where W is singular.
static bool invert(const double *a, double *out) {
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            int32_t r = (j + 1) % 3, s = (j + 2) % 3, c = (i + 1) % 3, e = (i + 2) % 3;
            out[3 * i + j] = a[3 * r + c] * a[3 * s + e] - a[3 * r + e] * a[3 * s + c];
        }
    }
    double det = a[0] * out[0] + a[1] * out[3] + a[2] * out[6];
    for (int32_t k = 0; k < 9; k++) {
        out[k] /= det;
    }
    return det > 1e-14 * a[0] * a[4] * a[8];
}

/// v^T W^-1 v/2.
static double energy(const double *inverse, const double *v) {
    double sum = 0.0;
    for (int32_t i = 0; i < 9; i++) {
        sum += 0.5 * v[i / 3] * inverse[i] * v[i % 3];
    }
    return sum;
}

/// What the best of the sampled impulses would leave, no more than `most`.
static double least_sampled(const alone *a, const double *inverse, double most) {
    double least = most;
    for (int32_t k = 0; k < DIRECTIONS; k++) {
        double angle = 2.0 * STN_PI * k / DIRECTIONS, u[3] = {cos(angle), sin(angle), 1.0 / a->mu}, v[3];
        double D = a->W[6] * u[0] + a->W[7] * u[1] + a->W[8] * u[2];
        double r = -a->c[2] / D;
        if (D <= 0.0) {
            continue;
        }
        for (int32_t i = 0; i < 3; i++) {
            v[i] = a->c[i] + r * (a->W[3 * i] * u[0] + a->W[3 * i + 1] * u[1] + a->W[3 * i + 2] * u[2]);
        }
        least = fmin(least, energy(inverse, v));
    }
    return least;
}

/// `speed` [m/s]: what errors of velocities are relative to. An error e of v moves the energy by v^T W^-1 e, at most
/// sqrt(2 energy trace(W^-1)) |e|.
static double lack(const alone *a, double speed) {
    double omega = a->omega, inverse[9];
    double normal = fabs(omega * a->gamma[2] - fmax(0.0, omega * a->gamma[2] - a->g[2]));
    double excess = hypot(a->gamma[0], a->gamma[1]) - a->mu * a->gamma[2];
    double outside = omega * fmax(0.0, excess) / hypot(1.0, a->mu); // distance from the cone
    double worst = fmax(normal, outside) / speed;
    if (isnan(normal + outside) || a->c[2] >= 0.0 || a->mu == 0.0 || !invert(a->W, inverse)) {
        return isnan(normal + outside) ? (double)NAN : worst;
    }
    double scale = sqrt(2.0 * energy(inverse, a->c) * (inverse[0] + inverse[4] + inverse[8])) * speed;
    double left = energy(inverse, a->g);
    return fmax(worst, (left - least_sampled(a, inverse, left)) / scale);
}

double solver_dissipation(const solver_subject *s, const stn_problem *p, const solver_answer *answer, double speed) {
    stn_inverse *inverse = NULL;
    stn_delassus d;
    stn_error err;
    double worst = (double)NAN;
    stn_status status = stn_inverse_create(s->context, &inverse, &err);
    status = status == STN_OK ? stn_inverse_factor(inverse, p, &err) : status;
    status = status == STN_OK ? stn_delassus_build(inverse, p, s->arena, &d, &err) : status;
    for (int32_t i = 0; status == STN_OK && i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        worst = i == 0 ? 0.0 : worst;
        if (stn_constraint_has_cone(c)) {
            alone a;
            view(&d, i, answer->gamma, &a);
            double here = lack(&a, speed);
            worst = here > worst || isnan(here) ? here : worst;
        }
    }
    stn_inverse_destroy(inverse);
    return status == STN_OK && p->constraint_count == 0 ? 0.0 : worst;
}
