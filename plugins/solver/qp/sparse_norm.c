// SPDX-License-Identifier: Apache-2.0
// See sparse_norm.h.
#include "sparse_norm.h"

#include <math.h>
#include <string.h>

typedef struct least {
    interior *inner;
    double *x, *q, *lo, *hi; // (n) of the program itself
    double *extra;           // (n) e of members, else 0
    double *part, *next;     // (n) work
} least;

static bool keep_program(least *l) {
    active_set *set = l->inner->set;
    double **const vectors[] = {&l->x, &l->q, &l->lo, &l->hi, &l->extra, &l->part, &l->next};
    bool good = true;
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = STN_ARENA_ZEROED(l->inner->r->arena, set->n + 1, double);
        good = good && *vectors[i] != NULL;
    }
    if (good) {
        const size_t bytes = (size_t)set->n * sizeof *set->x;
        memcpy(l->x, set->x, bytes);
        memcpy(l->q, set->q, bytes);
        memcpy(l->lo, set->lo, bytes);
        memcpy(l->hi, set->hi, bytes);
    }
    return good;
}

static void restore_program(const least *l) {
    active_set *set = l->inner->set;
    const size_t bytes = (size_t)set->n * sizeof *set->x;
    memcpy(set->q, l->q, bytes);
    memcpy(set->lo, l->lo, bytes);
    memcpy(set->hi, l->hi, bytes);
    l->inner->system.extra = NULL;
}

/// e of the members, rays with g = 0; everything else is fixed. False: there are none.
static bool pose(least *l) {
    const rays *r = l->inner->r;
    active_set *set = l->inner->set;
    const double energy = active_set_energy(set);
    double smallest = INFINITY, largest = 0.0;
    for (int32_t i = 0; i < r->problem->constraint_count; i++) {
        const bool cone = stn_constraint_has_cone(&r->problem->constraints[i]);
        for (int32_t u = r->start[i]; u < r->start[i + 1]; u++) {
            const double rounding = active_set_rounding(set, u, energy);
            const bool touches = set->x[u] > 0.0 || fabs(set->g[u]) <= 8.0 * rounding;
            l->part[u] = cone && touches && set->size[u] > 0.0 ? set->size[u] * set->size[u] : 0.0;
            smallest = l->part[u] > 0.0 ? fmin(smallest, l->part[u]) : smallest;
            largest = fmax(largest, l->part[u]);
        }
    }
    const double e = fmax(1e-6 * smallest, 1e-12 * largest);
    ray_system_product(&l->inner->system, set->x, set->q);
    for (int32_t u = 0; u < set->n; u++) {
        const bool member = l->part[u] > 0.0;
        l->extra[u] = member ? e : 0.0;
        set->q[u] = -set->q[u];
        set->lo[u] = member ? 0.0 : set->x[u];
        set->hi[u] = member ? (double)INFINITY : set->x[u];
        l->inner->chosen[u] = member && set->x[u] > 0.0;
    }
    crossover_mark(set, l->inner->chosen);
    l->inner->system.extra = l->extra;
    return largest > 0.0;
}

/// q += H (beta - beta_0), the largest of it beside size on the free set.
static double add_back(least *l) {
    active_set *set = l->inner->set;
    double largest = 0.0;
    for (int32_t u = 0; u < set->n; u++) {
        l->part[u] = set->x[u] - l->x[u];
    }
    rays_product(l->inner->r, l->part, l->next);
    for (int32_t u = 0; u < set->n; u++) {
        set->q[u] += l->next[u];
        largest = set->place[u] >= 0 ? fmax(largest, fabs(l->next[u]) / set->size[u]) : largest;
    }
    return largest;
}

/// Takes out of x what e (H + e)_FF^-1 leaves as it is. The system is factored for F, with e in it.
static void remove_unseen(const least *l) {
    enum { TIMES = 4 };
    active_set *set = l->inner->set;
    memcpy(l->part, set->x, (size_t)set->n * sizeof *set->x);
    for (int32_t k = 0; k < TIMES; k++) {
        for (int32_t u = 0; u < set->n; u++) {
            l->part[u] = set->place[u] >= 0 ? l->extra[u] * l->part[u] : 0.0;
        }
        ray_system_refine(&l->inner->system, l->part, set->size, l->next);
        for (int32_t u = 0; u < set->n; u++) {
            l->part[u] = set->place[u] >= 0 ? -l->next[u] : 0.0;
        }
    }
    for (int32_t u = 0; u < set->n; u++) {
        set->x[u] -= l->part[u];
    }
}

/// Fixes members of F that became negative; false: none did.
static bool drop_negative(const least *l) {
    active_set *set = l->inner->set;
    const double energy = active_set_energy(set);
    bool any = false;
    for (int32_t u = 0; u < set->n; u++) {
        const bool free = set->place[u] >= 0, out = free && set->size[u] * set->x[u] < -1e-14 * energy;
        l->inner->chosen[u] = free && !out;
        any = any || out;
        set->x[u] = free ? fmax(set->x[u], 0.0) : set->x[u];
    }
    crossover_mark(set, l->inner->chosen);
    return any;
}

/// From x near the least to it, on the set that is free.
static void polish(const least *l) {
    enum { ROUNDS = 10 };
    interior *s = l->inner;
    bool more = true;
    for (int32_t k = 0; k < ROUNDS && more; k++) {
        s->system.extra = l->extra;
        if (!crossover_factor(&s->cross)) {
            break;
        }
        remove_unseen(l);
        s->system.extra = NULL; // what H sees little of was taken out with it
        crossover_reduce(&s->cross, 1.0);
        more = drop_negative(l);
    }
}

bool sparse_norm(interior *s, int32_t most) {
    enum { PROGRAMS = 30, PATIENCE = 3, ROUNDS = 10 };
    least l = {.inner = s};
    int32_t moves = 0;
    if (!keep_program(&l)) {
        return false;
    }
    bool solved = pose(&l) && interior_solve(s, most, &moves) == ACTIVE_SET_SOLVED && s->exact;
    double least_left = INFINITY;
    for (int32_t k = 0, since = 0; k < PROGRAMS && solved && since < PATIENCE; k++, since++) {
        const double left = add_back(&l);
        since = left < 0.5 * least_left ? 0 : since;
        least_left = fmin(least_left, left);
        solved = crossover_solve(&s->cross, ROUNDS, most, &moves);
    }
    restore_program(&l);
    if (solved) {
        polish(&l);
    } else {
        memcpy(s->set->x, l.x, (size_t)s->set->n * sizeof *l.x);
    }
    return true;
}
