// SPDX-License-Identifier: Apache-2.0
// See minimum_norm.h.
#include "minimum_norm.h"

#include <float.h>
#include <math.h>
#include <string.h>

/// Rays with g = 0, the free ones first.
static bool find_members(const rays *r, const active_set *set, face *f) {
    f->member = STN_ARENA(r->arena, set->n + 1, int32_t);
    if (f->member == NULL) {
        return false;
    }
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < r->problem->constraint_count; i++) {
            for (int32_t u = r->start[i]; u < r->start[i + 1] && stn_constraint_has_cone(&r->problem->constraints[i]);
                 u++) {
                bool free = set->place[u] >= 0;
                bool active = free || set->x[u] > 0.0 || fabs(set->g[u]) <= 8.0 * active_set_rounding(set, u);
                if (active && free == (pass == 0)) {
                    f->member[f->count++] = u;
                }
            }
        }
        f->basis = pass == 0 ? f->count : f->basis;
    }
    return true;
}

/// row = L^-1 H_Bj of member m; returns the curvature that is left.
static double reduce(const active_set *set, const face *f, int32_t m) {
    const double *h = set->H + (size_t)f->member[m] * (size_t)set->stride;
    double *row = f->row + (size_t)m * (size_t)f->stride, curvature = h[f->member[m]];
    for (int32_t k = 0; k < f->basis; k++) {
        const double *l = f->row + (size_t)f->order[k] * (size_t)f->stride;
        row[k] = (h[f->member[f->order[k]]] - active_set_dot(k, l, row)) / l[k];
        curvature -= row[k] * row[k];
    }
    return curvature;
}

bool face_find_basis(const active_set *set, int32_t certain, stn_arena *arena, face *f) {
    f->stride = (f->count + 3) / 4 * 4 + 4;
    f->row = STN_ARENA_ZEROED(arena, (size_t)f->count * (size_t)f->stride + 1, double);
    f->order = STN_ARENA(arena, f->count + 1, int32_t);
    f->in_basis = STN_ARENA_ZEROED(arena, f->count + 1, bool);
    if (f->row == NULL || f->order == NULL || f->in_basis == NULL) {
        return false;
    }
    f->basis = 0;
    for (int32_t m = 0; m < f->count; m++) {
        double own = set->size[f->member[m]] * set->size[f->member[m]], curvature = reduce(set, f, m);
        f->in_basis[m] = curvature > (m < certain ? 0.0 : 1e-11 * own);
        if (f->in_basis[m]) {
            f->row[(size_t)m * (size_t)f->stride + (size_t)f->basis] = sqrt(curvature);
            f->order[f->basis++] = m;
        }
    }
    return true;
}

void face_column(const face *f, int32_t m, double *out) {
    memset(out, 0, (size_t)f->basis * sizeof *out);
    for (int32_t k = 0; k < f->basis && f->in_basis[m]; k++) {
        out[k] = f->order[k] == m ? 1.0 : 0.0;
    }
    if (f->in_basis[m]) {
        return;
    }
    memcpy(out, f->row + (size_t)m * (size_t)f->stride, (size_t)f->basis * sizeof *out);
    for (int32_t k = f->basis - 1; k >= 0; k--) {
        const double *l = f->row + (size_t)f->order[k] * (size_t)f->stride;
        out[k] /= l[k];
        active_set_add(k, -out[k], l, out);
    }
}

bool minimum_norm(const rays *r, active_set *set) {
    face f = {0};
    if (!find_members(r, set, &f)) {
        return false;
    }
    if (f.count == 0 || !face_find_basis(set, f.basis, r->arena, &f)) {
        return f.count == 0;
    }
    if (f.basis == f.count) { // unique
        return true;
    }
    const int32_t q = f.basis;
    active_set dual;
    double *row = STN_ARENA(r->arena, q + 1, double);
    if (row == NULL || !active_set_create(&dual, q + f.count, r->arena)) {
        return false;
    }
    for (int32_t m = 0; m < f.count; m++) {
        face_column(&f, m, row);
        for (int32_t k = 0; k < q; k++) {
            if (row[k] != 0.0) {
                dual.q[k] -= set->x[f.member[m]] * row[k];
                active_set_add(k + 1, row[k], row, dual.H + (size_t)k * (size_t)dual.stride); // lower triangle
                dual.H[(size_t)k * (size_t)dual.stride + (size_t)(q + m)] = row[k];
            }
        }
        double *own = dual.H + (size_t)(q + m) * (size_t)dual.stride;
        memcpy(own, row, (size_t)q * sizeof *own);
        own[q + m] = 1.0;
        dual.hi[q + m] = INFINITY;
    }
    for (int32_t k = 0; k < q; k++) {
        for (int32_t j = 0; j < k; j++) {
            dual.H[(size_t)j * (size_t)dual.stride + (size_t)k] = dual.H[(size_t)k * (size_t)dual.stride + (size_t)j];
        }
        dual.lo[k] = -INFINITY;
        dual.hi[k] = INFINITY;
    }
    active_set_begin(&dual);
    bool independent = true;
    for (int32_t k = 0; k < q; k++) {
        independent = independent && active_set_release(&dual, k);
    }
    int32_t moves = 0;
    if (!independent || active_set_solve(&dual, 10 * dual.n + 100, &moves) != ACTIVE_SET_SOLVED) {
        return true;
    }
    for (int32_t m = 0; m < f.count; m++) { // beta is the g of s
        set->x[f.member[m]] = dual.place[q + m] >= 0 ? 0.0 : fmax(dual.g[q + m], 0.0);
    }
    return true;
}
