// SPDX-License-Identifier: Apache-2.0
// Which dofs carry which, read from the zeros of a matrix, and the factor A = L^T L for it. end(i) is one past the last
// column right of the diagonal where row i is not zero, and no less than the ends of the rows between: so ends are
// nested as in a tree whatever A is, and a full matrix is a chain.
#include "base/ltl.h"
#include "base/kernels.h"

typedef uint64_t bits __attribute__((may_alias));

static bool all_zero(const double *x, int32_t count) {
    const bits *b = (const bits *)x;
    uint64_t any = 0;
    for (int32_t i = 0; i < count; i++) {
        any |= b[i];
    }
    return any == 0;
}

/// Where the parts of the storage begin.
static ltl_parts parts_of(const stn_ltl *f) {
    int32_t stride = STN_LTL_STRIDE(f->n);
    double *inverse = f->values + (size_t)f->n * (size_t)stride;
    return (ltl_parts){f->n, stride, f->values, inverse, inverse + f->n, f->shape, f->shape + f->n};
}

bool stn_ltl_analyse(stn_ltl *f, const double *a, int32_t stride) {
    int32_t n = f->n, *parent = f->shape, *run = f->shape + n, *ends = run,
            end = n; // run has the ends until all are known
    for (int32_t i = n - 1; i >= 0; i--) {
        // One past the last entry of the row that is not zero, at least i + 1; most end where the row behind does.
        const double *row = a + (size_t)i * (size_t)stride;
        end = all_zero(row + end, n - end) ? end : n;
        while (end > i + 1 && row[end - 1] == 0.0) {
            end--;
        }
        for (int32_t k = i + 1; k < end; k = ends[k]) {
            parent[k] = i;
            end = end > ends[k] ? end : ends[k];
        }
        ends[i] = end;
        parent[i] = -1;
    }
    for (int32_t k = 0; k < n; k++) {
        run[k] = k > 0 && parent[k] == k - 1 ? run[k - 1] : k;
    }
    return n > 0 && run[n - 1] > 0;
}

int32_t stn_ltl_factor(stn_ltl *f, const double *a, int32_t stride, double singular) {
    ltl_parts p = parts_of(f);
    return ltl_kernels_choose()->factor(&p, a, stride, singular);
}

int32_t ltl_half(const stn_ltl *f, const double *J, double *X, int32_t *dofs) {
    ltl_parts p = parts_of(f);
    return ltl_kernels_choose()->half(&p, J, X, dofs);
}

void ltl_four_squares(const stn_ltl *f, const double *const J[4], double *X, double *W) {
    ltl_parts p = parts_of(f);
    ltl_kernels_choose()->four_squares(&p, J, X, W);
}

void stn_ltl_forward(const stn_ltl *f, int32_t columns, double *x, int32_t stride_x) {
    ltl_parts p = parts_of(f);
    ltl_kernels_choose()->forward(&p, columns, x, stride_x);
}

void stn_ltl_backward(const stn_ltl *f, int32_t columns, double *x, int32_t stride_x) {
    ltl_parts p = parts_of(f);
    ltl_kernels_choose()->backward(&p, columns, x, stride_x);
}
