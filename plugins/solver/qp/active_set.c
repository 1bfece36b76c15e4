// SPDX-License-Identifier: Apache-2.0
// See active_set.h.
#include "active_set.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/vectors.h"

// ------------------------------------------------------------------------------------------------------------ vectors

/// Four sums apart, which is not the order of the source: so it stands here as it is computed.
STN_KERNEL double active_set_dot(int32_t n, const double *x, const double *y) {
    v4 sum = {0.0};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        sum += (v4) * (const v4u *)(x + i) * (v4) * (const v4u *)(y + i);
    }
    double rest = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (; i < n; i++) {
        rest += x[i] * y[i];
    }
    return rest;
}

/// y += a x.
STN_KERNEL void active_set_add(int32_t n, double a, const double *x, double *y) {
    for (int32_t i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}

static const double *row_of(const active_set *s, int32_t i) {
    return s->H + (size_t)i * (size_t)s->stride;
}

static const double *make_row(active_set *s, int32_t i) {
    if (s->make_row != NULL && !s->made[i]) {
        s->make_row(s->user, i, s->H + (size_t)i * (size_t)s->stride);
        s->made[i] = true;
    }
    return row_of(s, i);
}

static double *factor_row(const active_set *s, int32_t k) {
    return s->L + (size_t)k * (size_t)s->stride;
}

// ----------------------------------------------------------------------------------------------------------- free set

bool active_set_create_vectors(active_set *s, int32_t n, stn_arena *arena) {
    *s = (active_set){.n = n, .stride = (n + 7) / 8 * 8 + 8, .loose = 1e-13, .entering = -1};
    double **const vectors[] = {&s->q,    &s->lo,  &s->hi,     &s->x,      &s->g,
                                &s->size, &s->row, &s->follow, &s->cosine, &s->sine};
    s->free = STN_ARENA(arena, n + 1, int32_t);
    s->place = STN_ARENA(arena, n + 1, int32_t);
    s->made = STN_ARENA_ZEROED(arena, n + 1, bool);
    s->excused = STN_ARENA_ZEROED(arena, n + 1, bool);
    bool good = s->free != NULL && s->place != NULL && s->made != NULL && s->excused != NULL;
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = STN_ARENA_ZEROED(arena, s->stride, double);
        good = good && *vectors[i] != NULL;
    }
    return good;
}

bool active_set_create(active_set *s, int32_t n, stn_arena *arena) {
    bool good = active_set_create_vectors(s, n, arena);
    const size_t square = (size_t)(n + 1) * (size_t)s->stride;
    s->H = STN_ARENA_ZEROED(arena, square, double);
    s->L = STN_ARENA(arena, square, double);
    return good && s->H != NULL && s->L != NULL;
}

bool active_set_share(const active_set *of, active_set *out, stn_arena *arena) {
    bool good = active_set_create_vectors(out, of->n, arena);
    out->H = of->H;
    out->L = STN_ARENA(arena, (size_t)(of->n + 1) * (size_t)of->stride, double);
    return good && out->L != NULL;
}

void active_set_begin(active_set *s) {
    s->speed = 0.0;
    s->count = 0;
    for (int32_t i = 0; i < s->n; i++) {
        double own = s->H != NULL ? row_of(s, i)[i] : s->size[i] * s->size[i];
        s->size[i] = own > 0.0 ? sqrt(own) : 0.0;
        s->place[i] = -1;
        s->x[i] = s->lo[i] > 0.0 ? s->lo[i] : (s->hi[i] < 0.0 ? s->hi[i] : 0.0);
    }
}

/// follow = -H_FF^-1 H_Fp, row = L^-1 H_Fp. Returns the curvature of the cost along p with F following, 0 where p
/// depends on F to round-off.
static double find_follow(active_set *s, int32_t p) {
    const double *h = make_row(s, p);
    const int32_t count = s->count;
    for (int32_t k = 0; k < count; k++) {
        const double *l = factor_row(s, k);
        s->row[k] = (h[s->free[k]] - active_set_dot(k, l, s->row)) / l[k];
    }
    double curvature = h[p] - active_set_dot(count, s->row, s->row), scale = s->size[p];
    for (int32_t k = 0; k < count; k++) {
        s->follow[k] = -s->row[k];
    }
    stn_cholesky_backward(count, s->L, s->stride, 1, s->follow, s->stride);
    for (int32_t k = 0; k < count; k++) {
        scale += fabs(s->follow[k]) * s->size[s->free[k]];
    }
    bool depends = curvature <= 1e-12 * h[p] || curvature <= 4.0 * DBL_EPSILON * scale * scale;
    return depends ? 0.0 : curvature;
}

/// Variable p becomes free: `row` is L^-1 H_Fp.
static void append(active_set *s, int32_t p, double curvature) {
    double *l = factor_row(s, s->count);
    memcpy(l, s->row, (size_t)s->count * sizeof *l);
    l[s->count] = sqrt(curvature);
    s->place[p] = s->count;
    s->free[s->count++] = p;
}

bool active_set_release(active_set *s, int32_t i) {
    double curvature = find_follow(s, i);
    if (curvature > 0.0) {
        append(s, i, curvature);
    }
    return curvature > 0.0;
}

STN_KERNEL void active_set_fix(active_set *s, int32_t i) {
    const int32_t first = s->place[i];
    s->place[i] = -1;
    s->count--;
    for (int32_t k = first; k < s->count; k++) {
        s->free[k] = s->free[k + 1];
        s->place[s->free[k]] = k;
        // row k + 1 moves up; what stands beyond its new diagonal is turned away by columns (j, j + 1)
        double *to = factor_row(s, k);
        const double *from = factor_row(s, k + 1);
        memcpy(to, from, (size_t)(k + 2) * sizeof *to);
        for (int32_t j = first; j < k; j++) {
            double a = to[j], b = to[j + 1];
            to[j] = s->cosine[j] * a + s->sine[j] * b;
            to[j + 1] = s->cosine[j] * b - s->sine[j] * a;
        }
        double a = to[k], b = to[k + 1], length = sqrt(a * a + b * b);
        s->cosine[k] = a / length;
        s->sine[k] = b / length;
        to[k] = length;
    }
}

// -------------------------------------------------------------------------------------------------------------- moves

/// g = H x + q.
static void find_gradient(active_set *s) {
    memcpy(s->g, s->q, (size_t)s->n * sizeof *s->g);
    for (int32_t i = 0; i < s->n; i++) {
        s->speed = fmax(s->speed, fabs(s->q[i]));
        if (s->x[i] != 0.0) {
            active_set_add(s->n, s->x[i], row_of(s, i), s->g);
        }
    }
}

/// row = -H_FF^-1 g_F.
static void find_correction(active_set *s) {
    for (int32_t k = 0; k < s->count; k++) {
        s->row[k] = -s->g[s->free[k]];
    }
    stn_cholesky_forward(s->count, s->L, s->stride, 1, s->row, s->stride);
    stn_cholesky_backward(s->count, s->L, s->stride, 1, s->row, s->stride);
}

void active_set_correct(active_set *s) {
    find_correction(s);
    for (int32_t k = 0; k < s->count; k++) {
        int32_t i = s->free[k];
        s->x[i] = fmin(fmax(s->x[i] + s->row[k], s->lo[i]), s->hi[i]);
    }
}

void active_set_follow(active_set *s) {
    find_correction(s);
    for (int32_t k = 0; k < s->count; k++) {
        active_set_add(s->n, s->row[k], row_of(s, s->free[k]), s->g);
    }
}

/// g_F = 0 within the bounds: of the free variables that this puts outside the one farthest out is fixed where it
/// leaves, until none is.
static void settle(active_set *s) {
    find_gradient(s);
    while (s->count > 0) {
        find_correction(s);
        int32_t worst = -1;
        double most = 0.0;
        for (int32_t k = 0; k < s->count; k++) {
            int32_t i = s->free[k];
            double x = s->x[i] + s->row[k], out = s->size[i] * fmax(s->lo[i] - x, x - s->hi[i]);
            if (out > most) {
                most = out;
                worst = i;
            }
        }
        if (worst < 0) {
            break;
        }
        double x = s->x[worst] + s->row[s->place[worst]] < s->lo[worst] ? s->lo[worst] : s->hi[worst];
        active_set_fix(s, worst);
        active_set_add(s->n, x - s->x[worst], row_of(s, worst), s->g);
        s->x[worst] = x;
    }
    for (int32_t k = 0; k < s->count; k++) {
        int32_t i = s->free[k];
        s->x[i] += s->row[k];
        active_set_add(s->n, s->row[k], row_of(s, i), s->g);
    }
}

/// The fixed variable whose g is most wrong, beside what rounding may leave; `down`: it has to fall. -1: none.
static int32_t find_wrong(const active_set *s, bool *down) {
    const double energy = active_set_energy(s);
    double most = 0.0;
    int32_t found = -1;
    for (int32_t i = 0; i < s->n; i++) {
        double g = s->g[i], wrong = g < 0.0 ? (s->x[i] < s->hi[i] ? -g : 0.0) : (s->x[i] > s->lo[i] ? g : 0.0);
        if (s->place[i] >= 0 || s->excused[i] || wrong <= active_set_rounding(s, i, energy)) {
            continue;
        }
        double weighted = s->size[i] > 0.0 ? wrong / s->size[i] : (double)INFINITY; // nothing can be done about those
        if (weighted > most) {
            most = weighted;
            found = i;
            *down = g > 0.0;
        }
    }
    return found;
}

/// Moves p by `step` and the free variables with it.
static void move(active_set *s, int32_t p, double step) {
    s->x[p] += step;
    active_set_add(s->n, step, row_of(s, p), s->g);
    for (int32_t k = 0; k < s->count; k++) {
        double by = step * s->follow[k];
        s->x[s->free[k]] += by;
        active_set_add(s->n, by, row_of(s, s->free[k]), s->g);
    }
}

/// g of a variable that depends on the free ones is a sum of theirs; is that of p no more than their rounding?
static bool is_excused(const active_set *s, int32_t p) {
    const double energy = active_set_energy(s);
    double rounding = active_set_rounding(s, p, energy);
    for (int32_t k = 0; k < s->count; k++) {
        rounding += fabs(s->follow[k]) * active_set_rounding(s, s->free[k], energy);
    }
    return fabs(s->g[p]) <= rounding;
}

/// One step of variable p. Returns whether p is done with; `end` says when nothing bounds the step.
static bool step_along(active_set *s, int32_t p, bool down, active_set_end *end) {
    double curvature = find_follow(s, p), sign = down ? -1.0 : 1.0, slope = sign * s->g[p];
    double full = curvature > 0.0 ? fmax(-slope, 0.0) / curvature : (double)INFINITY;
    if (curvature == 0.0 && is_excused(s, p)) {
        s->excused[p] = true;
        return true;
    }
    double own = down ? s->x[p] - s->lo[p] : s->hi[p] - s->x[p], least = INFINITY;
    int32_t first = -1;
    for (int32_t k = 0; k < s->count; k++) {
        int32_t i = s->free[k];
        double d = sign * s->follow[k], room = d > 0.0 ? s->hi[i] - s->x[i] : s->x[i] - s->lo[i];
        if (fabs(d) * s->size[i] <= s->loose * s->size[p]) { // rounding
            continue;
        }
        double t = fmax(room, 0.0) / fabs(d);
        if (t < least || (t == least && first >= 0 && fabs(d) > fabs(s->follow[s->place[first]]))) {
            least = t;
            first = i;
        }
    }
    double step = fmin(full, fmin(own, least));
    s->entering = p;
    if (!(step < (double)INFINITY)) {
        *end = ACTIVE_SET_CONTRADICTION;
        return true;
    }
    bool rises = first >= 0 && sign * s->follow[s->place[first]] > 0.0;
    move(s, p, sign * step);
    if (own <= step) {
        s->x[p] = down ? s->lo[p] : s->hi[p];
        return true;
    }
    if (full <= step) {
        append(s, p, curvature);
        s->g[p] = 0.0;
        return true;
    }
    s->x[first] = rises ? s->hi[first] : s->lo[first];
    active_set_fix(s, first);
    return false;
}

active_set_end active_set_solve(active_set *s, int32_t most, int32_t *moves) {
    enum { LOOKS = 4 }; // at what updates along the way have left
    for (int32_t look = 0; look < LOOKS; look++) {
        settle(s);
        memset(s->excused, 0, (size_t)s->n * sizeof *s->excused);
        bool moved = false, down = false;
        for (int32_t p = find_wrong(s, &down); p >= 0; p = find_wrong(s, &down)) {
            active_set_end end = ACTIVE_SET_SOLVED;
            bool done = false;
            while (!done) {
                if (*moves >= most) {
                    return ACTIVE_SET_LIMIT;
                }
                ++*moves;
                done = step_along(s, p, down, &end);
            }
            if (end != ACTIVE_SET_SOLVED) {
                return end;
            }
            moved = moved || !s->excused[p];
        }
        if (!moved) {
            break;
        }
    }
    return ACTIVE_SET_SOLVED;
}

double active_set_cost(const active_set *s) {
    double sum = 0.0;
    for (int32_t i = 0; i < s->n; i++) {
        sum += 0.5 * s->x[i] * (s->g[i] + s->q[i]);
    }
    return sum;
}
