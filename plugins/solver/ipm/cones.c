// SPDX-License-Identifier: Apache-2.0
// Pairs of friction cones, all lanes at a time.
#include <string.h>

#include "jordan.h"
#include "system.h"

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

/// B^-1 x.
STN_KERNEL_INLINE jordan divide(const double *inverse, size_t n, size_t i, jordan x) {
    const double *B = inverse + i;
    return (jordan){B[0] * x.t1 + B[n] * x.t2 + B[3 * n] * x.n, B[n] * x.t1 + B[2 * n] * x.t2 + B[4 * n] * x.n,
                    B[3 * n] * x.t1 + B[4 * n] * x.t2 + B[5 * n] * x.n};
}

STN_KERNEL void ipm_cones_begin(const ipm_cones *c, double centre) {
    const size_t n = (size_t)c->stride;
    for (size_t i = 0; i < n; i++) {
        double omega = c->omega[i], mu1 = c->mu[i], mu2 = c->mu[i + n];
        jordan gamma = load(c->gamma, n, i), u = load(c->u, n, i), R = load(c->R, n, i), z, s;
        jordan g = {u.t1 + R.t1 * gamma.t1, u.t2 + R.t2 * gamma.t2, u.n + R.n * gamma.n};
        // gamma/mu is no more than gamma_n where gamma is in the cone
        double limit = gamma.n > 0.0 ? gamma.n : 0.0, t1 = gamma.t1 / (mu1 > 0.0 ? mu1 : (double)INFINITY);
        double t2 = gamma.t2 / (mu2 > 0.0 ? mu2 : (double)INFINITY), t = sqrt(t1 * t1 + t2 * t2);
        double share = t > limit ? limit / t : 1.0;
        jordan x = {share * t1 - mu1 * g.t1 / omega, share * t2 - mu2 * g.t2 / omega, limit - g.n / omega};
        jordan_central_pair(x, omega, centre, &z, &s);
        store(c->z, n, i, z);
        store(c->s, n, i, s);
    }
}

STN_KERNEL void ipm_cones_impulses(const ipm_cones *c) {
    const size_t n = (size_t)c->stride;
    for (size_t i = 0; i < n; i++) {
        store(c->gamma, n, i, with_friction(c, i, load(c->z, n, i)));
    }
}

/// B^-1 and T B^-1 T by L D L^T in the frame of the scaling, where T R T is small beside what differs by many digits.
STN_KERNEL_INLINE void invert(const ipm_cones *c, size_t i, const jordan_scaling *w) {
    const size_t n = (size_t)c->stride;
    const double mu1 = c->mu[i], mu2 = c->mu[i + n];
    const double r1 = mu1 * mu1 * c->R[i], r2 = mu2 * mu2 * c->R[i + n], rn = c->R[i + 2 * n];
    const jordan_frame f = jordan_inverse_frame(w);
    const double x = f.axis[1].t2, y = -f.axis[1].t1, along = r1 * x * x + r2 * y * y;
    const double mixed = sqrt(0.5) * x * y * (r2 - r1);
    const double B00 = f.value[0] + 0.5 * (along + rn), B02 = 0.5 * (rn - along), B22 = f.value[2] + 0.5 * (along + rn);
    const double d0 = 1.0 / B00, l1 = mixed * d0, l2 = B02 * d0;
    const double d1 = 1.0 / (f.value[1] + r1 * y * y + r2 * x * x - l1 * mixed), l3 = (-mixed - l2 * mixed) * d1;
    const double d2 = 1.0 / (B22 - l2 * B02 + l3 * (mixed + l2 * mixed));
    const jordan a = f.axis[0], b = jordan_add(f.axis[1], -l1, a);
    const jordan e = jordan_add(jordan_add(f.axis[2], -l2, a), -l3, b);
    double *B = c->inverse + i, *G = c->G + i;
    B[0] = d0 * a.t1 * a.t1 + d1 * b.t1 * b.t1 + d2 * e.t1 * e.t1;
    B[n] = d0 * a.t1 * a.t2 + d1 * b.t1 * b.t2 + d2 * e.t1 * e.t2;
    B[2 * n] = d0 * a.t2 * a.t2 + d1 * b.t2 * b.t2 + d2 * e.t2 * e.t2;
    B[3 * n] = d0 * a.t1 * a.n + d1 * b.t1 * b.n + d2 * e.t1 * e.n;
    B[4 * n] = d0 * a.t2 * a.n + d1 * b.t2 * b.n + d2 * e.t2 * e.n;
    B[5 * n] = d0 * a.n * a.n + d1 * b.n * b.n + d2 * e.n * e.n;
    G[0] = mu1 * mu1 * B[0];
    G[n] = mu1 * mu2 * B[n];
    G[2 * n] = mu2 * mu2 * B[2 * n];
    G[3 * n] = mu1 * B[3 * n];
    G[4 * n] = mu2 * B[4 * n];
    G[5 * n] = B[5 * n];
}

STN_KERNEL void ipm_cones_scale(const ipm_cones *c, ipm_gap *gap) {
    const size_t n = (size_t)c->stride;
    for (size_t i = 0; i < n; i++) {
        jordan z = load(c->z, n, i), s = load(c->s, n, i), u = load(c->u, n, i), R = load(c->R, n, i);
        jordan gamma = with_friction(c, i, z);
        jordan g = {u.t1 + R.t1 * gamma.t1, u.t2 + R.t2 * gamma.t2, u.n + R.n * gamma.n};
        store(c->residual, n, i, jordan_add(s, -1.0, with_friction(c, i, g)));
        const jordan_scaling w = jordan_scale(z, s);
        c->eta[i] = w.eta;
        store(c->root, n, i, w.root);
        store(c->l, n, i, jordan_scale_forth(w.eta, w.root, s));
        c->own[i] = jordan_dot(z, s);
        invert(c, i, &w);
    }
    for (int32_t i = 0; i < c->count; i++) {
        gap->sum += c->own[i];
    }
    gap->degree += c->count;
}

STN_KERNEL bool ipm_cones_central(const ipm_cones *c, double centre) {
    const size_t n = (size_t)c->stride;
    for (size_t i = 0; i < n; i++) {
        jordan l = load(c->l, n, i), product = jordan_multiply(l, l);
        product.n -= centre;
        c->own[i] = sqrt(jordan_dot(product, product));
    }
    bool all = true;
    for (int32_t i = 0; i < c->count; i++) {
        all = all && c->own[i] <= 0.5 * centre;
    }
    return all;
}

STN_KERNEL_INLINE void aim(const ipm_cones *c, bool corrected, double centre) {
    const size_t n = (size_t)c->stride;
    for (size_t i = 0; i < n; i++) {
        double eta = c->eta[i];
        jordan l = load(c->l, n, i), root = load(c->root, n, i), gain = {-l.t1, -l.t2, -l.n}; // l \ (-l o l)
        if (corrected) {
            jordan ds = jordan_scale_forth(eta, root, load(c->ds, n, i));
            jordan product = jordan_multiply(ds, jordan_scale_back(eta, root, load(c->dz, n, i)));
            gain = jordan_add(gain, -1.0, jordan_divide(l, (jordan){product.t1, product.t2, product.n - centre}));
        }
        jordan pull = jordan_scale_back(eta, root, gain);
        store(c->pull, n, i, pull);
        jordan right = jordan_add(pull, 1.0, load(c->residual, n, i));
        store(c->gamma, n, i, with_friction(c, i, divide(c->inverse, n, i, right)));
    }
}

STN_KERNEL void ipm_cones_aim(const ipm_cones *c, bool corrected, double centre) {
    if (corrected) {
        aim(c, true, centre);
    } else {
        aim(c, false, 0.0);
    }
}

STN_KERNEL double ipm_cones_step(const ipm_cones *c) {
    const size_t n = (size_t)c->stride;
    for (size_t i = 0; i < n; i++) {
        double eta = c->eta[i];
        jordan root = load(c->root, n, i), pull = load(c->pull, n, i);
        jordan right = jordan_add(pull, 1.0, load(c->residual, n, i));
        jordan dz = divide(c->inverse, n, i, jordan_add(right, -1.0, with_friction(c, i, load(c->du, n, i))));
        // Q(w^1/2) ds = gain - Q(w^-1/2) dz
        jordan ds = jordan_add(pull, -1.0, jordan_scale_back(eta, root, jordan_scale_back(eta, root, dz)));
        store(c->dz, n, i, dz);
        store(c->ds, n, i, ds);
        double a = jordan_reach(load(c->z, n, i), dz), b = jordan_reach(load(c->s, n, i), ds);
        c->own[i] = a > b ? a : b;
    }
    double largest = 0.0;
    for (int32_t i = 0; i < c->count; i++) {
        largest = c->own[i] <= largest ? largest : c->own[i]; // NaN wins
    }
    return largest;
}

STN_KERNEL void ipm_cones_move(const ipm_cones *c, double step) {
    for (size_t i = 0; i < 3 * (size_t)c->stride; i++) {
        c->z[i] += step * c->dz[i];
        c->s[i] += step * c->ds[i];
    }
}
