// SPDX-License-Identifier: Apache-2.0
// Newton's equation H dv = -gradient by conjugate gradients [saad-2003, algorithm 9.1] with the incomplete factor of H
// as preconditioner, only as far as the iteration needs [eisenstat-1996]. Every iterate is the best one of its Krylov
// space, so that gradient.dv = -dv.H dv as for the whole solution: it descends, and the model promises half of that.
#include <math.h>
#include <string.h>

#include "system.h"

enum { MOST = 60 }; // what a whole factor takes, about

STN_KERNEL static double dot(int64_t n, const double *x, const double *y) {
    v4 sum = {0.0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        sum += (v4) * (const v4u *)(x + i) * (v4) * (const v4u *)(y + i);
    }
    double rest = 0.0;
    for (; i < n; i++) {
        rest += x[i] * y[i];
    }
    return ((sum[0] + sum[2]) + (sum[1] + sum[3])) + rest;
}

/// x += a p, r -= a q, scaled = D r. Returns |D r|^2.
STN_KERNEL static double advance(int64_t n, double a, const double *p, const double *q, const double *D,
                                 double *restrict x, double *restrict r, double *restrict scaled) {
    for (int64_t i = 0; i < n; i++) {
        x[i] += a * p[i];
        r[i] -= a * q[i];
        scaled[i] = D[i] * r[i];
    }
    return dot(n, scaled, scaled);
}

/// p = z + b p.
STN_KERNEL static void turn(int64_t n, double b, const double *z, double *restrict p) {
    for (int64_t i = 0; i < n; i++) {
        p[i] = z[i] + b * p[i];
    }
}

stn_status sap_conjugate(sap_system *s, double *x, bool *done, stn_error *err) {
    const incomplete *preconditioner = &s->H.incomplete;
    const int64_t n = s->H.nv;
    if (s->conjugate == NULL) {
        s->conjugate = STN_ARENA(s->control->arena, 6 * (size_t)n + 1, double);
        if (s->conjugate == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        for (int32_t b = 0; b < s->H.block_count; b++) {
            const augmented_block *block = &s->H.blocks[b];
            memcpy(s->conjugate + block->compact, s->D + block->start, (size_t)block->n * sizeof *s->D);
        }
    }
    double *D = s->conjugate, *y = D + n, *r = y + n, *z = r + n, *p = z + n, *q = p + n;
    for (int64_t i = 0; i < n; i++) {
        z[i] = D[i] * x[i];
    }
    const double size = dot(n, z, z);
    int exponent;
    (void)frexp(sqrt(size), &exponent);
    const double scale = ldexp(1.0, -exponent), allowed = s->reduction * s->reduction * size * scale * scale;
    memset(y, 0, (size_t)n * sizeof *y);
    memset(p, 0, (size_t)n * sizeof *p);
    for (int64_t i = 0; i < n; i++) { // |D r| is about 1: in any units within the range of single numbers
        r[i] = scale * x[i];
    }
    double before = INFINITY, left = INFINITY; // before: of r.z, so that the first direction is z
    for (int32_t k = 0; k < MOST && left > allowed; k++) {
        incomplete_solve(preconditioner, r, z);
        const double now = dot(n, r, z);
        turn(n, now / before, z, p);
        incomplete_times(preconditioner, &s->H.matrix, p, q);
        const double curvature = dot(n, p, q);
        if (!(now > 0.0) || !(curvature > 0.0)) {
            break;
        }
        left = advance(n, now / curvature, p, q, D, y, r, z);
        before = now;
    }
    *done = left <= allowed;
    for (int64_t i = 0; i < n && *done; i++) {
        x[i] = y[i] / scale;
    }
    return STN_OK;
}
