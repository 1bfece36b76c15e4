// SPDX-License-Identifier: Apache-2.0
// Is an answer one of friction on a polyhedral cone, whichever one that is? With g = v_c - v_hat + R gamma: normals
// obey Signorini's condition; friction lies in the square around the circular cone, and takes away at least what the
// square within it could, gamma_t.g_t <= -mu gamma_n |g_t| cos(pi/4). Both bounds hold for every pyramid of four sides
// or more, within the circle or around it, turned by any angle. Rows of boxes and equalities are judged by their
// natural maps.
#include <math.h>

#include "solver_subject.h"

/// |x - P(x - g/omega)| omega, for the interval [lo, hi] [m/s].
static double map_of(double x, double g, double omega, double lo, double hi) {
    return omega * fabs(x - fmin(fmax(x - g / omega, lo), hi));
}

/// What a contact lacks [m/s]. Tangents are scaled so that mu = 1: impulses over mu, slip times mu. The work that
/// friction leaves is told as a slip, or as an impulse times omega, whichever is less: as natural maps do.
static double contact_lack(const stn_constraint *c, double omega, const double *g, const double *gamma) {
    const double mu[2] = {c->mu1, c->mu2}, root = sqrt(2.0);
    double worst = map_of(gamma[2], g[2], omega, 0.0, (double)INFINITY), friction[2] = {0.0}, slip[2] = {0.0};
    double normal = fmax(gamma[2], 0.0);
    for (int32_t a = 0; a < 2; a++) {
        if (mu[a] > 0.0) {
            friction[a] = gamma[a] / mu[a];
            slip[a] = mu[a] * g[a];
        } else {
            worst = fmax(worst, omega * fabs(gamma[a]));
        }
    }
    double most = fmax(mu[0], mu[1]), outside = hypot(friction[0], friction[1]) - root * normal;
    double speed = hypot(slip[0], slip[1]);
    double left = friction[0] * slip[0] + friction[1] * slip[1] + normal * speed / root; // [J]
    worst = fmax(worst, omega * most * outside / hypot(1.0, root * most));               // distance from the cone
    return left > 0.0 ? fmax(worst, left / fmax(most * normal, speed / (most * omega))) : worst;
}

double solver_polyhedron(const solver_subject *s, const stn_problem *p, const solver_answer *answer, double speed) {
    double *g = STN_ARENA(s->arena, p->row_count + 1, double), worst = 0.0;
    if (g == NULL) {
        return (double)NAN;
    }
    stn_problem_contact_velocity(p, answer->v, true, g);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        double omega = c->w_trace > 0.0 ? c->w_trace / c->rows : 1.0, lack = 0.0;
        const double *gamma = answer->gamma + c->row;
        for (int32_t r = c->row; r < c->row + c->rows; r++) {
            g[r] += p->R[r] * answer->gamma[r] - p->v_hat[r];
        }
        if (stn_constraint_has_cone(c)) {
            lack = contact_lack(c, omega, g + c->row, gamma);
        }
        for (int32_t r = 0; r < c->rows && (c->set == STN_SET_BOX || c->set == STN_SET_EQUALITY); r++) {
            lack = fmax(lack, map_of(gamma[r], g[c->row + r], omega, p->lo[c->row + r], p->hi[c->row + r]));
        }
        worst = lack > worst || isnan(lack) ? lack : worst;
    }
    return worst / speed;
}
