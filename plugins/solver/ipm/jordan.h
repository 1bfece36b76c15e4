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

/// x^1/2 of det(x) = 1.
STN_KERNEL_INLINE jordan jordan_root(jordan x) {
    double f = 1.0 / sqrt(2.0 * (x.n + 1.0));
    return (jordan){x.t1 * f, x.t2 * f, (x.n + 1.0) * f};
}

/// Q(x)^-1 y for det(x) = 1.
STN_KERNEL_INLINE jordan jordan_reflect_back(jordan x, jordan y) {
    return jordan_reflect((jordan){-x.t1, -x.t2, x.n}, y);
}

/// Scaling of Nesterov and Todd: w = eta unit with Q(w) s = z, unit of determinant 1.
typedef struct jordan_scaling {
    double eta;  // [(z/s)^1/2]
    jordan unit; // w/eta
} jordan_scaling;

STN_KERNEL_INLINE jordan_scaling jordan_scale(jordan z, jordan s) {
    double a = sqrt(jordan_det(z)), b = sqrt(jordan_det(s)), inverse_a = 1.0 / a, inverse_b = 1.0 / b;
    double half = 0.5 / sqrt(0.5 * (1.0 + jordan_dot(z, s) * inverse_a * inverse_b));
    double t1 = (z.t1 * inverse_a - s.t1 * inverse_b) * half, t2 = (z.t2 * inverse_a - s.t2 * inverse_b) * half;
    return (jordan_scaling){sqrt(a * inverse_b), {t1, t2, sqrt(1.0 + t1 * t1 + t2 * t2)}};
}

/// The scaling w of a pair z, s near the border loses its digits when it is made of them. It is kept, with
/// l = Q(w^1/2) s = Q(w^-1/2) z, and follows from what became of l: with a = Q(w^-1/2) z, b = Q(w^1/2) s of the new
/// pair, which are far from the border, w goes to Q(w^1/2) w', where Q(w') b = a, and l to R Q(w'^-1/2) a, R a rotation
/// of the tangents: Q(w^1/2) Q(w'^1/2) is Q of the new root times R, as two boosts are a boost after a rotation.
STN_KERNEL_INLINE void jordan_follow(jordan_scaling *w, jordan a, jordan b, jordan *l) {
    const jordan root = jordan_root(w->unit);
    const jordan_scaling own = jordan_scale(a, b);
    const jordan turn = jordan_root(own.unit), x = jordan_reflect_back(turn, a);
    // product of root and turn as 2 x 2 matrices n + t1 sigma1 + t2 sigma2: half of the angle is that of (c, s)
    const double c = root.n * turn.n + root.t1 * turn.t1 + root.t2 * turn.t2;
    const double s = root.t1 * turn.t2 - root.t2 * turn.t1, inverse = 1.0 / (c * c + s * s);
    const double cosine = (c * c - s * s) * inverse, sine = 2.0 * c * s * inverse, shrink = 1.0 / own.eta;
    *l = (jordan){shrink * (cosine * x.t1 + sine * x.t2), shrink * (cosine * x.t2 - sine * x.t1), shrink * x.n};
    w->eta *= own.eta;
    w->unit = jordan_reflect(root, own.unit);
    w->unit.n = sqrt(1.0 + w->unit.t1 * w->unit.t1 + w->unit.t2 * w->unit.t2);
}

/// Q(w)^-1 = F diag(value) F^T, the columns of F orthonormal: (h e, h), (e turned by a right angle, 0), (-h e, h), e
/// the unit vector `slip` of the tangents of w, h = 1/sqrt(2). A sum that is formed in this frame keeps the digits of
/// small values beside large ones.
typedef struct jordan_frame {
    double slip[2], value[3]; // values ascend
} jordan_frame;

STN_KERNEL_INLINE jordan_frame jordan_inverse_frame(const jordan_scaling *w) {
    double t = jordan_norm(w->unit), inverse = 1.0 / (t > 1e-150 ? t : (double)INFINITY);
    double none = t > 1e-150 ? 0.0 : 1.0, e1 = w->unit.t1 * inverse + none, e2 = w->unit.t2 * inverse;
    double f = 1.0 / (w->eta * w->eta), large = w->unit.n + t, square = large * large; // the small one is 1/large
    return (jordan_frame){{e1, e2}, {f / square, f, f * square}};
}

/// How far from x, inside, one can go along d before the cone ends, as 1/step; <= 0 where it does not.
STN_KERNEL_INLINE double jordan_reach(jordan x, jordan d) {
    // Q(x^-1/2) d has the eigenvalues that matter
    double inverse = 1.0 / sqrt(jordan_det(x));
    jordan y = jordan_reflect_back(jordan_root((jordan){x.t1 * inverse, x.t2 * inverse, x.n * inverse}), d);
    return (jordan_norm(y) - y.n) * inverse;
}

/// The pair on the central path z o s = centre e with z - s/omega = x, and its scaling: as `centre` falls, z goes to
/// the projection of x on the cone, and s to omega times that of -x.
STN_KERNEL_INLINE jordan_scaling jordan_central_pair(jordan x, double omega, double centre, jordan *z, jordan *s) {
    double t = jordan_norm(x), inverse = 1.0 / (t > 1e-150 ? t : 1e-150);
    double e1 = t > 1e-150 ? x.t1 * inverse : 0.0, e2 = t > 1e-150 ? x.t2 * inverse : 0.0;
    double small = x.n - t, large = x.n + t, share = centre / omega; // eigenvalues of z times those of s/omega
    double a = 0.5 * (fabs(small) + sqrt(small * small + 4.0 * share));
    double b = 0.5 * (fabs(large) + sqrt(large * large + 4.0 * share));
    double z_small = small > 0.0 ? a : share / a, z_large = large > 0.0 ? b : share / b;
    double s_small = omega * (share / z_small), s_large = omega * (share / z_large);
    double zt = 0.5 * (z_large - z_small), st = 0.5 * (s_large - s_small);
    *z = (jordan){zt * e1, zt * e2, 0.5 * (z_large + z_small)};
    *s = (jordan){st * e1, st * e2, 0.5 * (s_large + s_small)};
    double ratio = sqrt(z_large / z_small), unit = 0.5 * (ratio - 1.0 / ratio); // w = z/centre^1/2
    return (jordan_scaling){sqrt(z_small) * sqrt(z_large) / sqrt(centre),
                            {unit * e1, unit * e2, 0.5 * (ratio + 1.0 / ratio)}};
}

#endif
