// SPDX-License-Identifier: Apache-2.0
// See nearest.h.
#include "nearest.h"

#include <math.h>
#include <string.h>

double nearest_distance(const rays *r, const double *a, const double *b) {
    double most = 0.0;
    for (int32_t k = 0; k < r->problem->nv; k++) {
        most = fmax(most, fabs(a[k] - b[k]) / r->scale[k]);
    }
    return most;
}

/// The signs of x, with what depends on the rest of F at 0.
static void set_bounds(const rays *r, const active_set *set, const double *gamma, const bool *marks, active_set *own) {
    for (int32_t i = 0; i < r->problem->constraint_count; i++) {
        const stn_constraint *c = &r->problem->constraints[i];
        for (int32_t u = r->start[i]; u < r->start[i + 1]; u++) {
            const double *row = gamma + c->row + (u - r->start[i]);
            const bool cone = stn_constraint_has_cone(c);
            own->lo[u] = marks[u] || (!cone && *row >= set->hi[u]) ? -(double)INFINITY : 0.0;
            own->hi[u] = marks[u] || cone || *row <= set->lo[u] ? (double)INFINITY : 0.0;
            if (set->lo[u] == set->hi[u]) {
                own->lo[u] = own->hi[u] = 0.0;
            }
        }
    }
    active_set_begin(own);
    for (int32_t u = 0; u < set->n; u++) {
        if (marks[u] && !active_set_release(own, u)) {
            own->lo[u] = own->hi[u] = 0.0;
        }
    }
}

/// x of the program and its v, to digits; false: there is none.
static bool solve_program(rays *r, active_set *own, const double *lacking, double *impulses, double *v) {
    enum { REFINEMENTS = 2 };
    int32_t moves = 0;
    bool good = active_set_solve(own, 10 * own->n + 100, &moves) == ACTIVE_SET_SOLVED;
    for (int32_t k = 0; k <= REFINEMENTS && good; k++) {
        rays_impulses(r, own->x, impulses);
        rays_velocity(r, impulses, v);
        for (int32_t row = 0; row < r->problem->row_count; row++) {
            r->gamma[row] = impulses[row] + lacking[row];
        }
        rays_speeds(r, v, r->gamma, r->speed);
        rays_gradient(r, r->speed, own->g);
        if (k < REFINEMENTS) {
            active_set_correct(own);
        }
    }
    return good;
}

stn_status nearest_solution(rays *r, const active_set *set, const double *start, const double *gamma, double *v,
                            bool *marks) {
    enum { MOST = 100 };
    static const double digits = 1e-13, rounding = 1e-9;
    const stn_problem *p = r->problem;
    const size_t nv = (size_t)p->nv, rows = (size_t)p->row_count;
    double *target = STN_ARENA(r->arena, nv + 1, double), *now = STN_ARENA(r->arena, nv + 1, double);
    double *before = STN_ARENA(r->arena, nv + 1, double), *lacking = STN_ARENA(r->arena, rows + 1, double);
    double *impulses = STN_ARENA(r->arena, rows + 1, double);
    active_set own;
    if (target == NULL || now == NULL || before == NULL || lacking == NULL || impulses == NULL ||
        !active_set_share(set, &own, r->arena)) {
        return STN_ERR_MEMORY;
    }
    const double size = nearest_distance(r, v, start);
    set_bounds(r, set, gamma, marks, &own);
    memcpy(target, v, nv * sizeof *target);
    memcpy(before, start, nv * sizeof *before);
    memcpy(lacking, gamma, rows * sizeof *lacking);
    double step = INFINITY;
    bool there = size == 0.0;
    for (int32_t k = 0; k < MOST && !there; k++) {
        rays_aim(r, start, target, NULL, lacking, &own);
        if (!solve_program(r, &own, lacking, impulses, now)) {
            return STN_NOT_CONVERGED;
        }
        const double moved = nearest_distance(r, now, before), ratio = moved / step;
        there = k > 0 && (moved <= digits * size || moved * ratio <= digits * size * (1.0 - ratio) ||
                          (ratio > 0.5 && moved <= rounding * size));
        step = moved;
        memcpy(before, now, nv * sizeof *before);
        for (size_t d = 0; d < nv; d++) {
            target[d] += v[d] - now[d];
        }
        for (size_t row = 0; row < rows; row++) {
            lacking[row] = gamma[row] - impulses[row];
        }
    }
    if (!there) {
        return STN_NOT_CONVERGED;
    }
    if (size > 0.0) {
        memcpy(v, now, nv * sizeof *v);
    }
    for (int32_t u = 0; u < own.n; u++) {
        marks[u] = marks[u] || own.place[u] >= 0;
    }
    return STN_OK;
}
