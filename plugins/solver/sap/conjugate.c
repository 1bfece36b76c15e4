// SPDX-License-Identifier: Apache-2.0
// Newton's equation H dv = -gradient by conjugate gradients [saad-2003, algorithm 9.1] with the incomplete factor of H
// as preconditioner, only as far as the iteration needs [eisenstat-1996]. Every iterate is the best one of its Krylov
// space, so that gradient.dv = -dv.H dv as for the whole solution: it descends, and the model promises half of that.
#include <math.h>
#include <string.h>

#include "system.h"

enum { MOST = 60 }; // what a whole factor takes, about

/// Vectors over the velocities, compact; r: what is left, z = H^-1 r about, q = H p.
typedef struct vectors {
    const sap_system *s;
    double *D, *x, *r, *z, *p, *q;
    double a, b; // steps along p, and of p
} vectors;

STN_KERNEL_INLINE double dot(int64_t n, const double *x, const double *y) {
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

/// z = D x; adds up z.z.
STN_KERNEL static void scale_part(void *user, int32_t part, int32_t worker) {
    (void)worker;
    const vectors *v = user;
    const int64_t begin = (int64_t)SAP_VELOCITIES * part, end = sap_part_end(part, SAP_VELOCITIES, v->s->H.nv);
    for (int64_t i = begin; i < end; i++) {
        v->z[i] = v->D[i] * v->x[i];
    }
    v->s->sums[8 * part] = dot(end - begin, v->z + begin, v->z + begin);
}

/// Adds up r.z.
STN_KERNEL static void descend_part(void *user, int32_t part, int32_t worker) {
    (void)worker;
    const vectors *v = user;
    const int64_t begin = (int64_t)SAP_VELOCITIES * part, end = sap_part_end(part, SAP_VELOCITIES, v->s->H.nv);
    v->s->sums[8 * part] = dot(end - begin, v->r + begin, v->z + begin);
}

/// p = z + b p.
STN_KERNEL static void turn_part(void *user, int32_t part, int32_t worker) {
    (void)worker;
    const vectors *v = user;
    const double *z = v->z;
    double *p = v->p;
    for (int32_t i = SAP_VELOCITIES * part; i < sap_part_end(part, SAP_VELOCITIES, v->s->H.nv); i++) {
        p[i] = z[i] + v->b * p[i];
    }
}

/// Adds up p.q.
STN_KERNEL static void curve_part(void *user, int32_t part, int32_t worker) {
    (void)worker;
    const vectors *v = user;
    const int64_t begin = (int64_t)SAP_VELOCITIES * part, end = sap_part_end(part, SAP_VELOCITIES, v->s->H.nv);
    v->s->sums[8 * part] = dot(end - begin, v->p + begin, v->q + begin);
}

STN_KERNEL_INLINE void advance(int64_t n, double a, const double *p, const double *q, const double *D,
                               double *restrict x, double *restrict r, double *restrict z) {
    for (int64_t i = 0; i < n; i++) {
        x[i] += a * p[i];
        r[i] -= a * q[i];
        z[i] = D[i] * r[i];
    }
}

/// x += a p, r -= a q; adds up |D r|^2.
STN_KERNEL static void advance_part(void *user, int32_t part, int32_t worker) {
    (void)worker;
    const vectors *v = user;
    const int64_t at = (int64_t)SAP_VELOCITIES * part, n = sap_part_end(part, SAP_VELOCITIES, v->s->H.nv) - at;
    advance(n, v->a, v->p + at, v->q + at, v->D + at, v->x + at, v->r + at, v->z + at);
    v->s->sums[8 * part] = dot(n, v->z + at, v->z + at);
}

/// What the parts add up.
static double add_up(vectors *v, void (*run)(void *user, int32_t part, int32_t worker)) {
    double sum;
    sap_by_compact(v->s, run, v, 1, &sum);
    return sum;
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
    vectors v = {.s = s, .D = D, .x = x, .r = r, .z = z, .p = p, .q = q};
    const double size = add_up(&v, scale_part);
    int exponent;
    (void)frexp(sqrt(size), &exponent);
    const double scale = ldexp(1.0, -exponent), allowed = s->reduction * s->reduction * size * scale * scale;
    memset(y, 0, (size_t)n * sizeof *y);
    memset(p, 0, (size_t)n * sizeof *p);
    for (int64_t i = 0; i < n; i++) { // |D r| is about 1: in any units within the range of single numbers
        r[i] = scale * x[i];
    }
    v.x = y;
    double before = INFINITY, left = INFINITY; // before: of r.z, so that the first direction is z
    for (int32_t k = 0; k < MOST && left > allowed; k++) {
        incomplete_solve(preconditioner, r, z);
        const double now = add_up(&v, descend_part);
        v.b = now / before;
        sap_by_compact(s, turn_part, &v, 0, NULL);
        incomplete_times(preconditioner, &s->H.matrix, p, q);
        const double curvature = add_up(&v, curve_part);
        if (!(now > 0.0) || !(curvature > 0.0)) {
            break;
        }
        v.a = now / curvature;
        left = add_up(&v, advance_part);
        before = now;
    }
    *done = left <= allowed;
    for (int64_t i = 0; i < n && *done; i++) {
        x[i] = y[i] / scale;
    }
    return STN_OK;
}
