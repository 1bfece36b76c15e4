// SPDX-License-Identifier: Apache-2.0
// The Jordan algebra of the second-order cone |x_t| <= x_n in three dimensions; x = (t1, t2, n) [alizadeh-2003].
//
//     x o y = (x_n y_t + y_n x_t, x.y),   e = (0, 0, 1),   eigenvalues x_n +- |x_t|,   det x = x_n^2 - |x_t|^2
//     Q(x) y = 2 (x.y) x - det(x) y^,     y^ = (-y_t, y_n)
//
// Every function is free of branches, so that a loop over contacts becomes one over vectors.
#ifndef SOLVER_IPM_JORDAN_H
#define SOLVER_IPM_JORDAN_H

#include <math.h>

#include <stiction/kernel.h>

typedef struct jordan {
    double t1, t2, n;
} jordan;

STN_KERNEL_INLINE double jordan_norm(jordan x) { // of the tangents
    return sqrt(x.t1 * x.t1 + x.t2 * x.t2);
}

STN_KERNEL_INLINE double jordan_dot(jordan x, jordan y) {
    return x.t1 * y.t1 + x.t2 * y.t2 + x.n * y.n;
}

STN_KERNEL_INLINE double jordan_det(jordan x) {
    double t = jordan_norm(x);
    return (x.n - t) * (x.n + t);
}

/// x + a y.
STN_KERNEL_INLINE jordan jordan_add(jordan x, double a, jordan y) {
    return (jordan){x.t1 + a * y.t1, x.t2 + a * y.t2, x.n + a * y.n};
}

STN_KERNEL_INLINE jordan jordan_multiply(jordan x, jordan y) {
    return (jordan){x.n * y.t1 + y.n * x.t1, x.n * y.t2 + y.n * x.t2, jordan_dot(x, y)};
}

/// x of l o x = y.
STN_KERNEL_INLINE jordan jordan_divide(jordan l, jordan y) {
    double n = (l.n * y.n - l.t1 * y.t1 - l.t2 * y.t2) / jordan_det(l), inverse = 1.0 / l.n;
    return (jordan){(y.t1 - n * l.t1) * inverse, (y.t2 - n * l.t2) * inverse, n};
}

/// Q(x) y for det(x) = 1.
STN_KERNEL_INLINE jordan jordan_reflect(jordan x, jordan y) {
    double d = 2.0 * jordan_dot(x, y);
    return (jordan){d * x.t1 + y.t1, d * x.t2 + y.t2, d * x.n - y.n};
}

/// Scaling of Nesterov and Todd: w = eta unit with Q(w) s = z, unit of determinant 1.
typedef struct jordan_scaling {
    double eta;  // [(z/s)^1/2]
    jordan unit; // w/eta
    jordan root; // its square root
} jordan_scaling;

STN_KERNEL_INLINE jordan_scaling jordan_scale(jordan z, jordan s) {
    double a = sqrt(jordan_det(z)), b = sqrt(jordan_det(s)), inverse_a = 1.0 / a, inverse_b = 1.0 / b;
    double half = 0.5 / sqrt(0.5 * (1.0 + jordan_dot(z, s) * inverse_a * inverse_b));
    double t1 = (z.t1 * inverse_a - s.t1 * inverse_b) * half, t2 = (z.t2 * inverse_a - s.t2 * inverse_b) * half;
    double n = sqrt(1.0 + t1 * t1 + t2 * t2), root = 1.0 / sqrt(2.0 * (n + 1.0));
    return (jordan_scaling){sqrt(a * inverse_b), {t1, t2, n}, {t1 * root, t2 * root, (n + 1.0) * root}};
}

/// Q(w^1/2) y and Q(w^-1/2) y, of the root alone.
STN_KERNEL_INLINE jordan jordan_scale_forth(double eta, jordan root, jordan y) {
    jordan x = jordan_reflect(root, y);
    return (jordan){eta * x.t1, eta * x.t2, eta * x.n};
}
STN_KERNEL_INLINE jordan jordan_scale_back(double eta, jordan root, jordan y) {
    return jordan_scale_forth(1.0 / eta, (jordan){-root.t1, -root.t2, root.n}, y);
}

/// Q(w)^-1 = F diag(value) F^T, the columns of F orthonormal: (h e, h), (e turned by a right angle, 0), (-h e, h), e
/// the unit vector `slip` of the tangents of w, h = 1/sqrt(2). A sum that is formed in this frame keeps the digits of
/// small values beside large ones.
typedef struct jordan_frame {
    double slip[2], value[3]; // values ascend
} jordan_frame;

STN_KERNEL_INLINE jordan_frame jordan_inverse_frame(const jordan_scaling *w) {
    double t = jordan_norm(w->unit), inverse = 1.0 / (t > 1e-150 ? t : 1e-150);
    double e1 = t > 1e-150 ? w->unit.t1 * inverse : 1.0, e2 = t > 1e-150 ? w->unit.t2 * inverse : 0.0;
    double f = 1.0 / (w->eta * w->eta), large = w->unit.n + t, square = large * large; // the small one is 1/large
    return (jordan_frame){{e1, e2}, {f / square, f, f * square}};
}

/// How far from x, inside, one can go along d before the cone ends, as 1/step; <= 0 where it does not.
STN_KERNEL_INLINE double jordan_reach(jordan x, jordan d) {
    // Q(x^-1/2) d has the eigenvalues that matter; of x/det^1/2 the inverse root is the root with the tangents turned
    double inverse = 1.0 / sqrt(jordan_det(x));
    jordan unit = {x.t1 * inverse, x.t2 * inverse, x.n * inverse};
    double f = 1.0 / sqrt(2.0 * (unit.n + 1.0));
    jordan y = jordan_reflect((jordan){-unit.t1 * f, -unit.t2 * f, (unit.n + 1.0) * f}, d);
    return (jordan_norm(y) - y.n) * inverse;
}

/// The pair on the central path z o s = centre e with z - s/omega = x: as `centre` falls, z goes to the projection of x
/// on the cone, and s to omega times that of -x.
STN_KERNEL_INLINE void jordan_central_pair(jordan x, double omega, double centre, jordan *z, jordan *s) {
    double t = jordan_norm(x), inverse = 1.0 / (t > 1e-150 ? t : 1e-150);
    double e1 = t > 1e-150 ? x.t1 * inverse : 0.0, e2 = t > 1e-150 ? x.t2 * inverse : 0.0;
    double small = x.n - t, large = x.n + t, four = 4.0 * centre / omega;
    double a = 0.5 * (fabs(small) + sqrt(small * small + four)), b = 0.5 * (fabs(large) + sqrt(large * large + four));
    double z_small = small > 0.0 ? a : 0.25 * four / a, z_large = large > 0.0 ? b : 0.25 * four / b;
    double s_small = small > 0.0 ? 0.25 * four / a : a, s_large = large > 0.0 ? 0.25 * four / b : b;
    double zt = 0.5 * (z_large - z_small), st = 0.5 * omega * (s_large - s_small);
    *z = (jordan){zt * e1, zt * e2, 0.5 * (z_large + z_small)};
    *s = (jordan){st * e1, st * e2, 0.5 * omega * (s_large + s_small)};
}

#endif
