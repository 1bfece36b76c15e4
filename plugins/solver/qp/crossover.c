// SPDX-License-Identifier: Apache-2.0
// See crossover.h.
#include "crossover.h"

#include <float.h>
#include <math.h>
#include <string.h>

bool crossover_create(rays *r, active_set *set, ray_system *system, crossover *out) {
    *out = (crossover){.r = r, .set = set, .system = system};
    out->E = STN_ARENA_ZEROED(r->arena, set->n + 1, double);
    out->chosen = STN_ARENA_ZEROED(r->arena, set->n + 1, bool);
    bool good = out->E != NULL && out->chosen != NULL;
    for (int32_t k = 0; k < CROSSOVER_DIRECTIONS; k++) {
        out->p[k] = STN_ARENA_ZEROED(r->arena, set->n + 1, double);
        out->Hp[k] = STN_ARENA_ZEROED(r->arena, set->n + 1, double);
        good = good && out->p[k] != NULL && out->Hp[k] != NULL;
    }
    return good;
}

void crossover_mark(active_set *set, const bool *chosen) {
    set->count = 0;
    for (int32_t u = 0; u < set->n; u++) {
        set->place[u] = chosen[u] ? set->count : -1;
        if (chosen[u]) {
            set->free[set->count++] = u;
        }
    }
}

static void find_gradient(crossover *c) {
    active_set *set = c->set;
    ray_system_product(c->system, set->x, set->g);
    for (int32_t u = 0; u < set->n; u++) {
        set->g[u] += set->q[u];
    }
}

static double wrong(const active_set *set, int32_t u) {
    double low = set->x[u] < set->hi[u] ? -set->g[u] : 0.0, high = set->x[u] > set->lo[u] ? set->g[u] : 0.0;
    return fmax(low, high);
}

double crossover_error(crossover *c) {
    double error = 0.0;
    find_gradient(c);
    for (int32_t u = 0; u < c->set->n; u++) {
        double own = isnan(c->set->g[u]) ? (double)INFINITY : wrong(c->set, u);
        error = fmax(error, own);
    }
    return error;
}

/// The largest g_F beside what rounding may leave of it.
static double find_left(const active_set *set) {
    double left = 0.0, energy = active_set_energy(set);
    for (int32_t k = 0; k < set->count; k++) {
        const int32_t u = set->free[k];
        left = fmax(left, fabs(set->g[u]) / active_set_rounding(set, u, energy));
        left = isnan(set->g[u]) ? (double)INFINITY : left;
    }
    return left;
}

/// x.y over F, in units of sqrt(J).
static double product(const active_set *set, const double *x, const double *y) {
    double sum = 0.0;
    for (int32_t k = 0; k < set->count; k++) {
        const int32_t u = set->free[k];
        sum += x[u] / set->size[u] * (y[u] / set->size[u]);
    }
    return sum;
}

static void add(int32_t n, double a, const double *x, double *y) {
    for (int32_t u = 0; u < n; u++) {
        y[u] += a * x[u];
    }
}

/// The next direction: p = -(H + E)_FF^-1 g_F and H p, without what directions before had of it. False: no digits are
/// left.
static bool find_direction(crossover *c, int32_t k) {
    const active_set *set = c->set;
    double *p = c->p[k], *Hp = c->Hp[k], held = 0.0;
    ray_system_solve(c->system, set->g, c->system->extra == NULL, p);
    ray_system_product(c->system, p, Hp);
    for (int32_t j = 0; j < k; j++) {
        const double by = product(set, Hp, c->Hp[j]);
        add(set->n, -by, c->p[j], p);
        add(set->n, -by, c->Hp[j], Hp);
    }
    for (int32_t j = 0; j < set->count; j++) {
        const int32_t u = set->free[j];
        const double own = c->E[u] * p[u] / set->size[u];
        held += own * own;
    }
    const double length = sqrt(product(set, Hp, Hp));
    // where H does less than E the impulses move nothing, or directions before had all of it
    if (!(length > sqrt(held)) || !isfinite(length)) {
        return false;
    }
    for (int32_t u = 0; u < set->n; u++) {
        p[u] /= length;
        Hp[u] /= length;
    }
    return true;
}

/// The least g_F that few directions from the x at hand give.
static void solve_free(crossover *c) {
    active_set *set = c->set;
    for (int32_t k = 0; k < CROSSOVER_DIRECTIONS && find_left(set) > 0.01 && find_direction(c, k); k++) {
        const double by = -product(set, set->g, c->Hp[k]);
        add(set->n, by, c->p[k], set->x);
        add(set->n, by, c->Hp[k], set->g);
        if (!(by * by > 1e-4 * product(set, set->g, set->g))) {
            return;
        }
    }
}

bool crossover_reduce(crossover *c, double enough) {
    enum { LOOKS = 8 };       // at what updates along the way have left
    const double most = 64.0; // times the rounding of one product
    double before = INFINITY;
    for (int32_t look = 0; look < LOOKS; look++) {
        find_gradient(c);
        double left = find_left(c->set);
        if (left <= enough || !(left < 0.5 * before)) {
            return left <= most;
        }
        before = left;
        solve_free(c);
    }
    find_gradient(c);
    return find_left(c->set) <= most;
}

bool crossover_factor(crossover *c) {
    const active_set *set = c->set;
    for (int32_t u = 0; u < set->n; u++) {
        c->E[u] = set->place[u] >= 0 ? 1e-10 * set->size[u] * set->size[u] : (double)INFINITY;
    }
    return ray_system_factor(c->system, c->E, NULL) == STN_OK;
}

/// How far unknown u is out of place [sqrt(J)]: a free one out of its bounds, another one whose g is wrong. 0: it is
/// not, beside what rounding may leave.
static double out_of_place(const active_set *set, int32_t u, double energy) {
    const double size = set->size[u], x = set->x[u];
    if (set->place[u] >= 0) {
        const double out = size * fmax(set->lo[u] - x, x - set->hi[u]);
        return out > 64.0 * DBL_EPSILON * energy ? out : 0.0;
    }
    const double own = set->lo[u] < set->hi[u] ? wrong(set, u) : 0.0;
    return own > active_set_rounding(set, u, energy) ? own / size : 0.0;
}

/// Fixes the free unknown of each constraint that is farthest out of its bounds, and frees the fixed one whose g is
/// most wrong. Returns how many unknowns of all constraints were out of place.
static int32_t exchange(crossover *c) {
    active_set *set = c->set;
    const double energy = active_set_energy(set);
    int32_t count = 0;
    for (int32_t i = 0; i < c->r->problem->constraint_count; i++) {
        double most[2] = {0.0, 0.0};
        int32_t worst[2] = {-1, -1}; // of the fixed and the free
        for (int32_t u = c->r->start[i]; u < c->r->start[i + 1]; u++) {
            const int32_t free = set->place[u] >= 0;
            const double out = out_of_place(set, u, energy);
            count += out > 0.0;
            worst[free] = out > most[free] ? u : worst[free];
            most[free] = fmax(most[free], out);
            c->chosen[u] = free != 0;
        }
        for (int32_t free = 0; free < 2; free++) {
            if (worst[free] >= 0) {
                c->chosen[worst[free]] = free == 0;
            }
        }
    }
    for (int32_t u = 0; u < set->n; u++) {
        set->x[u] = fmin(fmax(set->x[u], set->lo[u]), set->hi[u]);
    }
    return count;
}

bool crossover_solve(crossover *c, int32_t rounds, int32_t most, int32_t *moves) {
    enum { PATIENCE = 2 };
    active_set *set = c->set;
    int32_t least = set->n + 1, worse = 0;
    for (int32_t k = 0; k < rounds && *moves < most; k++) {
        ++*moves;
        if (!crossover_factor(c) || !crossover_reduce(c, 0.01)) {
            return false;
        }
        const int32_t count = exchange(c);
        if (count == 0) {
            return true;
        }
        worse = 10 * count <= 7 * least ? 0 : worse + 1; // a set costs what a step of the interior point does
        least = count < least ? count : least;
        if (worse > PATIENCE) {
            return false;
        }
        crossover_mark(set, c->chosen);
    }
    return false;
}
