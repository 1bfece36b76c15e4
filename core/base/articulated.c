// SPDX-License-Identifier: Apache-2.0
// Matrices of trees by articulated inertias: where the parts of the storage begin.
#include <string.h>

#include <stiction/factor.h>

#include "base/kernels.h"
#include "base/ltl.h"

static articulated_parts parts_of(const stn_articulated *f) {
    enum { WIDE = ARTICULATED_WIDE };
    const size_t n = (size_t)f->n;
    double *F = f->values, *work = articulated_work(f), *block = work + WIDE * n, *inverse = block + 6 * WIDE * n;
    double *root = inverse + n;
    return (articulated_parts){f->n, f->parent, f->motion, F, inverse, root, block, work, root + n};
}

int32_t stn_articulated_factor(stn_articulated *f, const double *inertia, const double *extra, const double *diagonal,
                               double singular) {
    const articulated_parts p = parts_of(f);
    return articulated_kernels_choose()->factor(&p, inertia, extra, diagonal, singular);
}

void stn_articulated_forward(const stn_articulated *f, int32_t columns, double *x, int32_t stride_x) {
    const articulated_parts p = parts_of(f);
    articulated_kernels_choose()->forward(&p, columns, x, stride_x);
}

void stn_articulated_backward(const stn_articulated *f, int32_t columns, double *x, int32_t stride_x) {
    const articulated_parts p = parts_of(f);
    articulated_kernels_choose()->backward(&p, columns, x, stride_x);
}

const double *stn_articulated_response(const stn_articulated *f) {
    const articulated_parts p = parts_of(f);
    articulated_kernels_choose()->response(&p);
    return p.block;
}

double articulated_mobility(const stn_articulated *f, int32_t j) {
    const articulated_parts p = parts_of(f);
    return articulated_kernels_choose()->mobility(&p, j);
}

void articulated_times(const stn_matrix *a, double s, const double *x, const double *x0, double *y) {
    const articulated_parts p = parts_of(a->bodies);
    double *scaled = p.inverse; // the room of a factor that there is not
    for (int32_t i = 0; i < p.n; i++) {
        scaled[i] = s * (x0 != NULL ? x[i] - x0[i] : x[i]);
    }
    articulated_kernels_choose()->times(&p, a->values, articulated_extra(a), scaled, y);
}

void articulated_expand(const stn_matrix *a, double *out) {
    const articulated_parts p = parts_of(a->bodies);
    articulated_kernels_choose()->expand(&p, a->values, articulated_extra(a), out);
}

void articulated_velocities(const stn_articulated *bodies, const double *x) {
    const articulated_parts p = parts_of(bodies);
    articulated_kernels_choose()->velocities(&p, x);
}

void articulated_forces(const stn_articulated *bodies) {
    const articulated_parts p = parts_of(bodies);
    memset(p.work, 0, (size_t)ARTICULATED_WIDE * (size_t)p.n * sizeof *p.work);
}

void articulated_gather(const stn_articulated *bodies, double *y) {
    const articulated_parts p = parts_of(bodies);
    articulated_kernels_choose()->gather(&p, y);
}

int32_t articulated_half(const stn_articulated *f, const double *E, int32_t tip, double *X, int32_t *dofs) {
    const articulated_parts p = parts_of(f);
    return articulated_kernels_choose()->half(&p, E, tip, X, dofs);
}

int32_t articulated_half_of_rows(const stn_articulated *f, const double *J, double *X, int32_t *dofs) {
    const articulated_parts p = parts_of(f);
    return articulated_kernels_choose()->half_of_rows(&p, J, X, dofs);
}

void articulated_rows(int32_t n, const int32_t *parent, const double *motion, const double *E, int32_t tip, double *J) {
    const articulated_parts p = {.n = n, .parent = parent, .S = motion};
    articulated_kernels_choose()->rows(&p, E, tip, J);
}
