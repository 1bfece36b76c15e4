// SPDX-License-Identifier: Apache-2.0
// The Jordan algebra of the second-order cone |x_t| <= x_n in three dimensions; x = (t1, t2, n) [alizadeh-2003].
//
//     x o y = (x_n y_t + y_n x_t, x.y),   e = (0, 0, 1),   eigenvalues x_n +- |x_t|,   det x = x_n^2 - |x_t|^2
//     Q(x) y = 2 (x.y) x - det(x) y^,     y^ = (-y_t, y_n)
#ifndef SOLVER_IPM_JORDAN_H
#define SOLVER_IPM_JORDAN_H

#include <math.h>

static inline double jordan_norm(const double *x) {
    return sqrt(x[0] * x[0] + x[1] * x[1]);
}

static inline double jordan_least(const double *x) {
    return x[2] - jordan_norm(x);
}

static inline double jordan_dot(const double *x, const double *y) {
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static inline double jordan_det(const double *x) {
    double t = jordan_norm(x);
    return (x[2] - t) * (x[2] + t);
}

static inline void jordan_multiply(const double *x, const double *y, double *out) {
    double n = jordan_dot(x, y);
    out[0] = x[2] * y[0] + y[2] * x[0];
    out[1] = x[2] * y[1] + y[2] * x[1];
    out[2] = n;
}

/// x of l o x = y.
static inline void jordan_divide(const double *l, const double *y, double *out) {
    double n = (l[2] * y[2] - l[0] * y[0] - l[1] * y[1]) / jordan_det(l);
    out[0] = (y[0] - n * l[0]) / l[2];
    out[1] = (y[1] - n * l[1]) / l[2];
    out[2] = n;
}

/// Q(x) y for det(x) = 1.
static inline void jordan_reflect(const double *x, const double *y, double *out) {
    double d = 2.0 * jordan_dot(x, y), a = y[0], b = y[1], c = y[2];
    out[0] = d * x[0] + a;
    out[1] = d * x[1] + b;
    out[2] = d * x[2] - c;
}

/// Scaling of Nesterov and Todd: w = eta unit with Q(w) s = z, unit of determinant 1.
typedef struct jordan_scaling {
    double eta;     // [(z/s)^1/2]
    double unit[3]; // w/eta
    double root[3]; // its square root
} jordan_scaling;

static inline jordan_scaling jordan_scale(const double *z, const double *s) {
    jordan_scaling w;
    double a = sqrt(jordan_det(z)), b = sqrt(jordan_det(s));
    double half = sqrt(0.5 * (1.0 + jordan_dot(z, s) / (a * b)));
    w.unit[0] = (z[0] / a - s[0] / b) / (2.0 * half);
    w.unit[1] = (z[1] / a - s[1] / b) / (2.0 * half);
    w.unit[2] = sqrt(1.0 + w.unit[0] * w.unit[0] + w.unit[1] * w.unit[1]);
    double root = sqrt(2.0 * (w.unit[2] + 1.0));
    w.root[0] = w.unit[0] / root;
    w.root[1] = w.unit[1] / root;
    w.root[2] = (w.unit[2] + 1.0) / root;
    w.eta = sqrt(a / b);
    return w;
}

/// Q(w^1/2) y and Q(w^-1/2) y.
static inline void jordan_scale_forth(const jordan_scaling *w, const double *y, double *out) {
    jordan_reflect(w->root, y, out);
    for (int i = 0; i < 3; i++) {
        out[i] *= w->eta;
    }
}
static inline void jordan_scale_back(const jordan_scaling *w, const double *y, double *out) {
    const double inverse[3] = {-w->root[0], -w->root[1], w->root[2]};
    jordan_reflect(inverse, y, out);
    for (int i = 0; i < 3; i++) {
        out[i] /= w->eta;
    }
}

/// Q(w)^-1 = F diag(value) F^T, the columns of F orthonormal: the two directions of the eigenvalues of w, and the one
/// across. A sum that is formed in this frame keeps the digits of small values beside large ones.
typedef struct jordan_frame {
    double F[3][3], value[3];
} jordan_frame;

static inline jordan_frame jordan_inverse_frame(const jordan_scaling *w) {
    double t = jordan_norm(w->unit), x = t > 0.0 ? w->unit[0] / t : 1.0, y = t > 0.0 ? w->unit[1] / t : 0.0;
    double h = sqrt(0.5), f = 1.0 / (w->eta * w->eta), large = w->unit[2] + t; // times the small one: 1
    jordan_frame out = {{{h * x, -y, -h * x}, {h * y, x, -h * y}, {h, 0.0, h}},
                        {f / (large * large), f, f * large * large}};
    return out;
}

/// How far from x, inside, one can go along d before the cone ends; infinite if it does not.
static inline double jordan_reach(const double *x, const double *d) {
    // Q(x^-1/2) d has the eigenvalues that matter; of x/det^1/2 the inverse root is the root with the tangents turned
    double root = sqrt(jordan_det(x)), unit[3] = {x[0] / root, x[1] / root, x[2] / root};
    double f = sqrt(2.0 * (unit[2] + 1.0)), inverse[3] = {-unit[0] / f, -unit[1] / f, (unit[2] + 1.0) / f}, y[3];
    jordan_reflect(inverse, d, y);
    double least = jordan_least(y) / root;
    return least < 0.0 ? -1.0 / least : (double)INFINITY;
}

#endif
