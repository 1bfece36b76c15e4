// SPDX-License-Identifier: Apache-2.0
// See pressing.h.
#include "pressing.h"

#include <math.h>
#include <string.h>

/// What is less is no impulse, beside the largest of its kind.
static const double none = 1e-11;

/// Unknowns of a cone that its impulse lies strictly between.
static void mark_cone(const rays *r, int32_t i, const double *gamma, double largest, bool *marks) {
    const int32_t first = r->start[i], count = r->start[i + 1] - first;
    if (!(gamma[2] > none * largest)) {
        return;
    }
    if (count == 1) {
        marks[first] = true;
        return;
    }
    const rays_sector sector = rays_find_sector(r, i, gamma);
    const bool inside = sector.along[0] + sector.along[1] < (1.0 - 1e-9) * gamma[2];
    for (int32_t k = 0; k < count; k++) {
        marks[first + k] = marks[first + k] || inside;
    }
    for (int32_t k = 0; k < 2; k++) {
        marks[first + sector.ray[k]] = marks[first + sector.ray[k]] || sector.along[k] > 1e-9 * gamma[2];
    }
}

void pressing_mark(const rays *r, const active_set *set, const double *gamma, bool *marks) {
    const stn_problem *p = r->problem;
    double largest = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        largest = stn_constraint_has_cone(c) ? fmax(largest, gamma[c->row + 2]) : largest;
        for (int32_t k = 0; k < c->rows && !stn_constraint_has_cone(c); k++) {
            const int32_t u = r->start[i] + k;
            if (gamma[c->row + k] > set->lo[u] && gamma[c->row + k] < set->hi[u]) {
                marks[u] = true;
            }
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (stn_constraint_has_cone(c)) {
            mark_cone(r, i, gamma + c->row, largest, marks);
        }
    }
}

void pressing_find_resting(rays *r, const active_set *set, const stn_solution *solution, const bool *marks,
                           int32_t *signs) {
    static const double rounding = 1e-8;
    const stn_problem *p = r->problem;
    double *g = set->g, largest = 0.0;
    stn_problem_contact_velocity(p, solution->v, true, r->speed);
    for (int32_t k = 0; k < p->row_count; k++) {
        largest = fmax(largest, fmax(fabs(r->speed[k]), fabs(p->v_hat[k])));
    }
    rays_speeds(r, solution->v, solution->gamma, r->speed);
    rays_gradient(r, r->speed, g);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t u = r->start[i]; u < r->start[i + 1]; u++) {
            const double *gamma = solution->gamma + c->row + (u - r->start[i]);
            const bool rests = !marks[u] && set->lo[u] < set->hi[u] && fabs(g[u]) <= rounding * largest;
            signs[u] = !rests ? 0 : !stn_constraint_has_cone(c) && *gamma >= set->hi[u] ? -1 : 1;
        }
    }
}

/// min d^T P d/2 over velocities d with the marked ones at rest and size_u at least along the others: its dual.
static void ask_for_opening(const active_set *set, const int32_t *signs, const bool *marks, active_set *own) {
    for (int32_t u = 0; u < set->n; u++) {
        own->lo[u] = marks[u] || signs[u] < 0 ? -(double)INFINITY : 0.0;
        own->hi[u] = marks[u] || signs[u] > 0 ? (double)INFINITY : 0.0;
        own->q[u] = marks[u] ? 0.0 : -signs[u] * set->size[u];
    }
    active_set_begin(own);
    for (int32_t u = 0; u < set->n; u++) {
        if (marks[u] && !active_set_release(own, u)) {
            own->lo[u] = own->hi[u] = 0.0;
        }
    }
}

stn_status pressing_complete(rays *r, const active_set *set, const int32_t *signs, bool *marks) {
    active_set own;
    int32_t moves = 0;
    bool any = false;
    for (int32_t u = 0; u < set->n; u++) {
        any = any || signs[u] != 0;
    }
    if (!any) {
        return STN_OK;
    }
    if (!active_set_share(set, &own, r->arena)) {
        return STN_ERR_MEMORY;
    }
    ask_for_opening(set, signs, marks, &own);
    for (;;) {
        const active_set_end end = active_set_solve(&own, 20 * set->n + 100, &moves);
        if (end != ACTIVE_SET_CONTRADICTION) {
            return end == ACTIVE_SET_SOLVED ? STN_OK : STN_NOT_CONVERGED;
        }
        const int32_t last = own.entering;
        bool alone = true;
        for (int32_t k = 0; k < own.count; k++) {
            const int32_t u = own.free[k];
            if (!marks[u] && fabs(own.follow[k]) * own.size[u] > 1e-9 * own.size[last]) {
                marks[u] = true;
                own.lo[u] = -(double)INFINITY;
                own.hi[u] = (double)INFINITY;
                own.q[u] = 0.0;
                alone = false;
            }
        }
        marks[last] = !alone;
        own.lo[last] = own.hi[last] = own.x[last] = own.q[last] = 0.0; // depends on those marked
    }
}
