// SPDX-License-Identifier: Apache-2.0
// See one_shot.h.
#include "one_shot.h"

#include <math.h>
#include <string.h>

#include <stiction/math.h>

#include "common/cone.h"

/// Nearest point of the ellipse with semi-axes a and b, in place: y_k = a_k^2 x_k/(a_k^2 + t), t > 0 the zero of
/// (a x_1/(a^2 + t))^2 + (b x_2/(b^2 + t))^2 - 1, which falls and is convex: Newton's steps from 0 never pass it.
static void ellipse_project(double a, double b, double x[2]) {
    const double tiny = 1e-150;
    if (a < tiny || b < tiny) { // a segment, or a point
        x[0] = a < tiny ? 0.0 : fmin(fmax(x[0], -a), a);
        x[1] = b < tiny ? 0.0 : fmin(fmax(x[1], -b), b);
        return;
    }
    const double far = fmax(fabs(x[0]) / a, fabs(x[1]) / b);
    if (x[0] / a * (x[0] / a) + x[1] / b * (x[1] / b) <= 1.0 || !isfinite(far)) {
        return;
    }
    // in units of the larger axis
    const double size = fmax(a, b), p = a / size, q = b / size, x0 = x[0] / size, x1 = x[1] / size;
    double t = 0.0;
    for (int32_t i = 0; i < 100; i++) {
        const double d0 = p * p + t, d1 = q * q + t, f0 = p * x0 / d0, f1 = q * x1 / d1;
        const double value = f0 * f0 + f1 * f1 - 1.0, slope = -2.0 * (f0 * f0 / d0 + f1 * f1 / d1);
        const double step = -value / slope;
        if (!(step > 1e-16 * (t + q * q))) {
            break;
        }
        t += step;
    }
    x[0] *= p * p / (p * p + t);
    x[1] *= q * q / (q * q + t);
}

/// The normal part first, then the tangents on the cross-section of the cone there, or at `normal`.
static void project_strict(const double mu[2], const double *normal, double *x) {
    x[2] = x[2] > 0.0 ? x[2] : 0.0;
    const double at = normal != NULL ? *normal : x[2];
    if (mu[0] == mu[1]) {
        disc_project(mu[0] * at, x);
        return;
    }
    ellipse_project(mu[0] * at, mu[1] * at, x);
}

cond_circle cond_circle_of(const double mu[2]) {
    cond_circle c = {fmax(mu[0], mu[1]), {1.0, 1.0, 1.0}};
    for (int32_t r = 0; r < 2 && mu[0] != mu[1]; r++) {
        c.scale[r] = mu[r] / c.mu;
    }
    return c;
}

double cond_shift(const double mu[2], const double u[2]) {
    const cond_circle round = cond_circle_of(mu);
    const double a = round.scale[0] * u[0], b = round.scale[1] * u[1];
    return round.mu * sqrt(a * a + b * b);
}

/// x - u/g as a circular cone has it, in x sqrt(g): where the nearest point is looked for.
static void into_circle(const cond_circle *c, const double g[2], const double *u, double shift, const double *x,
                        double *y) {
    for (int32_t r = 0; r < 3; r++) {
        const double s = c->scale[r];
        y[r] = s > 0.0 ? sqrt(g[r / 2]) * (x[r] / s - (s * u[r] + (r == 2 ? shift : 0.0)) / g[r / 2]) : 0.0;
    }
}

void cond_one_shot(const double mu[2], cond_operator how, const double g[2], const double u[3], double shift,
                   double x[3]) {
    if (how == COND_STRICT || how == COND_LAGGED) {
        const double before = x[2];
        for (int32_t r = 0; r < 3; r++) {
            x[r] -= u[r] / g[r / 2];
        }
        project_strict(mu, how == COND_LAGGED ? &before : NULL, x);
        return;
    }
    const cond_circle c = cond_circle_of(mu);
    double y[3];
    into_circle(&c, g, u, shift, x, y);
    stn_cone_project(c.mu * sqrt(g[0] / g[1]), y);
    for (int32_t r = 0; r < 3; r++) {
        x[r] = c.scale[r] * y[r] / sqrt(g[r / 2]);
    }
}

/// D of the lagged operator at y, friction being at most `radius`.
static void lagged_slope(double radius, const double *y, double D[9]) {
    memset(D, 0, 9 * sizeof *D);
    D[8] = y[2] > 0.0;
    const double t = sqrt(y[0] * y[0] + y[1] * y[1]);
    for (int32_t r = 0; r < 2; r++) {
        for (int32_t c = 0; c < 2; c++) {
            D[3 * r + c] = t <= radius ? r == c : radius / t * ((r == c) - y[r] / t * (y[c] / t));
        }
    }
}

/// D of the nearest point of the cone at y.
static void near_slope(double mu, const double *y, double D[9]) {
    memset(D, 0, 9 * sizeof *D);
    const double t = sqrt(y[0] * y[0] + y[1] * y[1]);
    if (y[2] >= 0.0 && t <= mu * y[2]) {
        D[0] = D[4] = D[8] = 1.0;
        return;
    }
    if (mu * t <= -y[2]) {
        return;
    }
    const double share = 1.0 / (1.0 + mu * mu), n = share * (y[2] + mu * t);
    const double axis[3] = {t > 0.0 ? mu * y[0] / t : 0.0, t > 0.0 ? mu * y[1] / t : 0.0, 1.0};
    for (int32_t r = 0; r < 3; r++) {
        for (int32_t c = 0; c < 3; c++) {
            D[3 * r + c] = share * axis[r] * axis[c];
            if (r < 2 && c < 2 && t > 0.0) {
                D[3 * r + c] += mu * n / t * ((r == c) - y[r] / t * (y[c] / t));
            }
        }
    }
}

void cond_one_shot_slope(const double mu[2], cond_operator how, const double g[2], const double u[3], double shift,
                         const double x[3], double K[9]) {
    const cond_circle c = cond_circle_of(mu);
    double y[3], D[9];
    if (how == COND_LAGGED) {
        for (int32_t r = 0; r < 3; r++) {
            y[r] = c.scale[r] > 0.0 ? (x[r] - u[r] / g[r / 2]) / c.scale[r] : 0.0;
        }
        lagged_slope(c.mu * x[2], y, D);
        for (int32_t e = 0; e < 9; e++) {
            K[e] = D[e] / g[e % 3 / 2];
        }
        return;
    }
    into_circle(&c, g, u, shift, x, y);
    near_slope(c.mu * sqrt(g[0] / g[1]), y, D);
    for (int32_t e = 0; e < 9; e++) {
        K[e] = c.scale[e / 3] * D[e] * c.scale[e % 3] / sqrt(g[e / 3 / 2] * g[e % 3 / 2]);
    }
}
