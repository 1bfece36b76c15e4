// SPDX-License-Identifier: Apache-2.0
// How far v and gamma are from friction on pyramids with so many corners, Anitescu's or Coulomb's, from the problem's
// numbers alone.
#ifndef STN_TEST_ANITESCU_H
#define STN_TEST_ANITESCU_H

#include <math.h>

#include <stiction/problem.h>

#include "stn_test.h"

/// The largest error of a contact [m/s]: a ray that closes, an impulse beyond an edge of the pyramid times w, and
/// the lesser of the speed along the impulse and the impulse times w.
static inline double anitescu_contact_error(const stn_constraint *c, int32_t directions, const double *g,
                                            const double *gamma) {
    const double mu1 = c->mu1, mu2 = c->set == STN_SET_ELLIPSE ? c->mu2 : c->mu1, sector = 2.0 * STN_PI / directions;
    double error = fmax(0.0, -c->w * gamma[2]), work = 0.0, size = 0.0;
    for (int32_t j = 0; j < directions; j++) {
        double cosine = cos(sector * j), sine = sin(sector * j);
        error = worse(error, -(mu1 * cosine * g[0] + mu2 * sine * g[1] + g[2]));
        cosine = cos(sector * (j + 0.5));
        sine = sin(sector * (j + 0.5));
        // the edge: a gamma_t.normal <= cos(pi/n) gamma_n in units of mu, times mu
        double mu = fmax(mu1, mu2), a = mu1 > 0.0 ? mu / mu1 * gamma[0] : 0.0,
               b = mu2 > 0.0 ? mu / mu2 * gamma[1] : 0.0;
        error = worse(error, c->w * (a * cosine + b * sine - mu * cos(0.5 * sector) * gamma[2]));
    }
    error = worse(error, mu1 > 0.0 ? 0.0 : c->w * fabs(gamma[0]));
    error = worse(error, mu2 > 0.0 ? 0.0 : c->w * fabs(gamma[1]));
    for (int32_t k = 0; k < 3; k++) {
        work += gamma[k] * g[k];
        size = fmax(size, fabs(gamma[k]));
    }
    return size > 0.0 ? fmax(error, fmin(fabs(work) / size, c->w * size)) : error;
}

/// The same of Coulomb's law on the pyramid: normal speed and impulse exclude each other, and friction does as much
/// work as the corner that resists most would.
static inline double pyramid_contact_error(const stn_constraint *c, int32_t directions, const double *g,
                                           const double *gamma) {
    const double mu1 = c->mu1, mu2 = c->set == STN_SET_ELLIPSE ? c->mu2 : c->mu1, sector = 2.0 * STN_PI / directions;
    double most = 0.0;
    for (int32_t j = 0; j < directions; j++) {
        most = worse(most, -(mu1 * cos(sector * j) * g[0] + mu2 * sin(sector * j) * g[1]));
    }
    // the speed that makes it Anitescu's: raised by what friction resists
    const double raised[3] = {g[0], g[1], g[2] + most};
    return fmax(anitescu_contact_error(c, directions, raised, gamma),
                fmax(-g[2], fmin(fabs(g[2]), c->w * fabs(gamma[2]))));
}

typedef double (*contact_error)(const stn_constraint *c, int32_t directions, const double *g, const double *gamma);

/// The largest error of all rows [m/s]. v_c (row_count) is scratch; the problem is as it was solved (R, v_hat, w).
static inline double rows_error(const stn_problem *p, contact_error contact, int32_t directions, const double *v,
                                const double *gamma, double *v_c) {
    double error = 0.0;
    stn_problem_contact_velocity(p, v, true, v_c);
    for (int32_t r = 0; r < p->row_count; r++) {
        v_c[r] += p->R[r] * gamma[r] - p->v_hat[r];
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (stn_constraint_has_cone(c)) {
            error = worse(error, contact(c, directions, v_c + c->row, gamma + c->row));
        }
        for (int32_t r = c->row; r < c->row + c->rows && !stn_constraint_has_cone(c); r++) {
            bool free = c->set == STN_SET_EQUALITY;
            double low = free || gamma[r] < p->hi[r] ? -v_c[r] : 0.0, high = free || gamma[r] > p->lo[r] ? v_c[r] : 0.0;
            error = worse(error, fmax(low, high));
            error = worse(error, free ? 0.0 : c->w * fmax(gamma[r] - p->hi[r], p->lo[r] - gamma[r]));
        }
    }
    return error;
}

static inline double anitescu_error(const stn_problem *p, int32_t directions, const double *v, const double *gamma,
                                    double *v_c) {
    return rows_error(p, anitescu_contact_error, directions, v, gamma, v_c);
}

#endif
