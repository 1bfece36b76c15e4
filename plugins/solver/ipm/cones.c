// SPDX-License-Identifier: Apache-2.0
// Pairs of friction cones, all lanes at a time.
#include <string.h>

#include "jordan.h"
#include "system.h"

// Lanes know nothing of each other: a loop over them becomes one over vectors.
#define LANES _Pragma("GCC ivdep")

STN_KERNEL_INLINE jordan load(const double *x, size_t stride, size_t i) {
    return (jordan){x[i], x[i + stride], x[i + 2 * stride]};
}

STN_KERNEL_INLINE void store(double *x, size_t stride, size_t i, jordan a) {
    x[i] = a.t1;
    x[i + stride] = a.t2;
    x[i + 2 * stride] = a.n;
}

/// T x.
STN_KERNEL_INLINE jordan with_friction(const ipm_cones *c, size_t i, jordan x) {
    return (jordan){c->mu[i] * x.t1, c->mu[i + (size_t)c->stride] * x.t2, x.n};
}

/// F^T x or F x for the axes of the frame of a lane: (h e, h), (e turned, 0), (-h e, h), h = 1/sqrt(2).
STN_KERNEL_INLINE jordan into_frame(const ipm_cones *c, size_t i, jordan x) {
    const double e1 = c->slip[i], e2 = c->slip[i + (size_t)c->stride], h = sqrt(0.5);
    const double along = e1 * x.t1 + e2 * x.t2;
    return (jordan){h * (x.n + along), e1 * x.t2 - e2 * x.t1, h * (x.n - along)};
}
STN_KERNEL_INLINE jordan out_of_frame(const ipm_cones *c, size_t i, jordan y) {
    const double e1 = c->slip[i], e2 = c->slip[i + (size_t)c->stride], h = sqrt(0.5), along = h * (y.t1 - y.n);
    return (jordan){along * e1 - y.t2 * e2, along * e2 + y.t2 * e1, h * (y.t1 + y.n)};
}

/// B^-1 x in the frame, for x in the frame.
STN_KERNEL_INLINE jordan divide(const ipm_cones *c, size_t i, jordan x) {
    const size_t n = (size_t)c->stride;
    const double *L = c->L + i, *d = c->d + i;
    double a = x.t1, b = x.t2 - L[0] * a, e = (x.n - L[n] * a - L[2 * n] * b) * d[2 * n];
    b = b * d[n] - L[2 * n] * e;
    return (jordan){a * d[0] - L[0] * b - L[n] * e, b, e};
}

STN_KERNEL void ipm_cones_begin(const ipm_cones *c, double centre) {
    const size_t n = (size_t)c->stride;
    LANES
    for (size_t i = 0; i < n; i++) {
        double omega = c->omega[i], mu1 = c->mu[i], mu2 = c->mu[i + n];
        jordan gamma = load(c->gamma, n, i), u = load(c->u, n, i), R = load(c->R, n, i), z, s;
        jordan g = {u.t1 + R.t1 * gamma.t1, u.t2 + R.t2 * gamma.t2, u.n + R.n * gamma.n};
        // gamma/mu is no more than gamma_n where gamma is in the cone
        double limit = gamma.n > 0.0 ? gamma.n : 0.0, t1 = gamma.t1 / (mu1 > 0.0 ? mu1 : (double)INFINITY);
        double t2 = gamma.t2 / (mu2 > 0.0 ? mu2 : (double)INFINITY), t = sqrt(t1 * t1 + t2 * t2);
        double share = t > limit ? limit / t : 1.0;
        jordan x = {share * t1 - mu1 * g.t1 / omega, share * t2 - mu2 * g.t2 / omega, limit - g.n / omega};
        const jordan_scaling w = jordan_central_pair(x, omega, centre, &z, &s);
        c->eta[i] = w.eta;
        store(c->unit, n, i, w.unit);
        store(c->l, n, i, (jordan){0.0, 0.0, sqrt(centre)});
        store(c->z, n, i, z);
        store(c->s, n, i, s);
    }
}

STN_KERNEL void ipm_cones_impulses(const ipm_cones *c) {
    const size_t n = (size_t)c->stride;
    LANES
    for (size_t i = 0; i < n; i++) {
        store(c->gamma, n, i, with_friction(c, i, load(c->z, n, i)));
    }
}

/// B in the frame of the scaling as L D L^T, where T R T is small beside what differs by many digits, and T B^-1 T.
STN_KERNEL_INLINE void factor(const ipm_cones *c, size_t i, const jordan_scaling *w) {
    const size_t n = (size_t)c->stride;
    const double mu1 = c->mu[i], mu2 = c->mu[i + n];
    const double more = IPM_LEAST * c->omega[i];
    const double r1 = mu1 * mu1 * (c->R[i] + more), r2 = mu2 * mu2 * (c->R[i + n] + more), rn = c->R[i + 2 * n] + more;
    const jordan_frame f = jordan_inverse_frame(w);
    const double e1 = f.slip[0], e2 = f.slip[1], along = r1 * e1 * e1 + r2 * e2 * e2;
    const double mixed = sqrt(0.5) * e1 * e2 * (r2 - r1), same = 0.5 * (rn - along);
    const double d0 = 1.0 / (f.value[0] + 0.5 * (along + rn)), l10 = mixed * d0, l20 = same * d0;
    const double d1 = 1.0 / (f.value[1] + r1 * e2 * e2 + r2 * e1 * e1 - l10 * mixed), l21 = -mixed * (1.0 + l20) * d1;
    const double d2 = 1.0 / (f.value[2] + 0.5 * (along + rn) - l20 * same + l21 * mixed * (1.0 + l20));
    c->slip[i] = e1;
    c->slip[i + n] = e2;
    store(c->value, n, i, (jordan){f.value[0], f.value[1], f.value[2]});
    store(c->L, n, i, (jordan){l10, l20, l21});
    store(c->d, n, i, (jordan){d0, d1, d2});
    // rows of L^-1 F^T, times T
    const double h = sqrt(0.5);
    const jordan a = with_friction(c, i, (jordan){h * e1, h * e2, h});
    const jordan b = jordan_add(with_friction(c, i, (jordan){-e2, e1, 0.0}), -l10, a);
    const jordan e = jordan_add(jordan_add(with_friction(c, i, (jordan){-h * e1, -h * e2, h}), -l20, a), -l21, b);
    double *G = c->G + i;
    G[0] = d0 * a.t1 * a.t1 + d1 * b.t1 * b.t1 + d2 * e.t1 * e.t1;
    G[n] = d0 * a.t1 * a.t2 + d1 * b.t1 * b.t2 + d2 * e.t1 * e.t2;
    G[2 * n] = d0 * a.t2 * a.t2 + d1 * b.t2 * b.t2 + d2 * e.t2 * e.t2;
    G[3 * n] = d0 * a.t1 * a.n + d1 * b.t1 * b.n + d2 * e.t1 * e.n;
    G[4 * n] = d0 * a.t2 * a.n + d1 * b.t2 * b.n + d2 * e.t2 * e.n;
    G[5 * n] = d0 * a.n * a.n + d1 * b.n * b.n + d2 * e.n * e.n;
}

STN_KERNEL void ipm_cones_scale(const ipm_cones *c, ipm_gap *gap) {
    const size_t n = (size_t)c->stride;
    LANES
    for (size_t i = 0; i < n; i++) {
        jordan z = load(c->z, n, i), s = load(c->s, n, i), u = load(c->u, n, i), R = load(c->R, n, i);
        jordan gamma = with_friction(c, i, z), l = load(c->l, n, i);
        jordan g = {u.t1 + R.t1 * gamma.t1, u.t2 + R.t2 * gamma.t2, u.n + R.n * gamma.n};
        store(c->residual, n, i, jordan_add(s, -1.0, with_friction(c, i, g)));
        c->own[i] = jordan_dot(l, l); // z.s
        const jordan_scaling w = {c->eta[i], load(c->unit, n, i)};
        factor(c, i, &w);
    }
    for (int32_t i = 0; i < c->count; i++) {
        gap->sum += c->own[i];
    }
    gap->degree += c->count;
}

STN_KERNEL bool ipm_cones_central(const ipm_cones *c, double centre) {
    const size_t n = (size_t)c->stride;
    LANES
    for (size_t i = 0; i < n; i++) {
        jordan l = load(c->l, n, i), product = jordan_multiply(l, l);
        product.n -= centre;
        c->own[i] = jordan_dot(product, product);
    }
    bool all = true;
    for (int32_t i = 0; i < c->count; i++) {
        all = all && c->own[i] <= 0.25 * centre * centre;
    }
    return all;
}

/// The roots of `value`, which are Q(w^-1/2) in the frame.
STN_KERNEL_INLINE jordan roots(const ipm_cones *c, size_t i) {
    jordan value = load(c->value, (size_t)c->stride, i);
    return (jordan){sqrt(value.t1), sqrt(value.t2), sqrt(value.n)};
}

STN_KERNEL_INLINE jordan times(jordan x, jordan y) { // component by component
    return (jordan){x.t1 * y.t1, x.t2 * y.t2, x.n * y.n};
}

STN_KERNEL_INLINE void aim(const ipm_cones *c, bool corrected, double centre) {
    const size_t n = (size_t)c->stride;
    LANES
    for (size_t i = 0; i < n; i++) {
        jordan l = load(c->l, n, i), gain = {-l.t1, -l.t2, -l.n}; // l \ (-l o l)
        if (corrected) {
            jordan product = jordan_multiply(load(c->ds_l, n, i), load(c->dz_l, n, i));
            gain = jordan_add(gain, -1.0, jordan_divide(l, (jordan){product.t1, product.t2, product.n - centre}));
        }
        store(c->gain, n, i, gain);
        jordan pull = times(roots(c, i), into_frame(c, i, gain)); // Q(w^-1/2) of it
        jordan right = jordan_add(pull, 1.0, into_frame(c, i, load(c->residual, n, i)));
        store(c->gamma, n, i, with_friction(c, i, out_of_frame(c, i, divide(c, i, right))));
    }
}

STN_KERNEL void ipm_cones_aim(const ipm_cones *c, bool corrected, double centre) {
    if (corrected) {
        aim(c, true, centre);
    } else {
        aim(c, false, 0.0);
    }
}

/// Components in the frame have digits of their own, however much the values there differ.
STN_KERNEL_INLINE void step(const ipm_cones *c, bool more) {
    const size_t n = (size_t)c->stride;
    LANES
    for (size_t i = 0; i < n; i++) {
        jordan du = with_friction(c, i, load(c->du, n, i)), gain = load(c->gain, n, i), root = roots(c, i), y;
        jordan dz = {0.0, 0.0, 0.0}, dz_l = {0.0, 0.0, 0.0};
        if (more) {
            dz = load(c->dz, n, i);
            dz_l = load(c->dz_l, n, i);
            y = divide(c, i, into_frame(c, i, (jordan){-du.t1, -du.t2, -du.n}));
        } else {
            jordan rest = into_frame(c, i, jordan_add(load(c->residual, n, i), -1.0, du));
            y = divide(c, i, jordan_add(rest, 1.0, times(root, into_frame(c, i, gain))));
        }
        dz = jordan_add(dz, 1.0, out_of_frame(c, i, y));
        dz_l = jordan_add(dz_l, 1.0, out_of_frame(c, i, times(root, y)));
        jordan l = load(c->l, n, i), ds_l = jordan_add(gain, -1.0, dz_l);
        store(c->dz, n, i, dz);
        store(c->dz_l, n, i, dz_l);
        store(c->ds_l, n, i, ds_l);
        store(c->ds, n, i, out_of_frame(c, i, times(root, into_frame(c, i, ds_l))));
        store(c->gamma, n, i, with_friction(c, i, dz));
        double a = jordan_reach(l, dz_l), b = jordan_reach(l, ds_l);
        c->own[i] = a > b ? a : b;
    }
}

STN_KERNEL double ipm_cones_step(const ipm_cones *c, bool more) {
    if (more) {
        step(c, true);
    } else {
        step(c, false);
    }
    double largest = 0.0;
    for (int32_t i = 0; i < c->count; i++) {
        largest = c->own[i] <= largest ? largest : c->own[i]; // NaN wins
    }
    return largest;
}

STN_KERNEL void ipm_cones_move(const ipm_cones *c, double by) {
    const size_t n = (size_t)c->stride;
    LANES
    for (size_t i = 0; i < n; i++) {
        store(c->z, n, i, jordan_add(load(c->z, n, i), by, load(c->dz, n, i)));
        store(c->s, n, i, jordan_add(load(c->s, n, i), by, load(c->ds, n, i)));
        jordan_scaling w = {c->eta[i], load(c->unit, n, i)};
        jordan l = load(c->l, n, i), a = jordan_add(l, by, load(c->dz_l, n, i));
        jordan_follow(&w, a, jordan_add(l, by, load(c->ds_l, n, i)), &l);
        c->eta[i] = w.eta;
        store(c->unit, n, i, w.unit);
        store(c->l, n, i, l);
    }
}
