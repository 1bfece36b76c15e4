// SPDX-License-Identifier: Apache-2.0
// Curves through waypoints. A piece of length h from p to p + d is the Hermite polynomial of what its ends have, in
// u in [0, 1]; what they have makes the next derivatives continuous at every inner waypoint. With v- and v+ of its
// neighbours, h- and h+ the pieces beside it:
//
//     cubic     h+ v- + 2 (h- + h+) v + h- v+ = 3 (h+ d-/h- + h- d+/h+)                            (p'' left = right)
//     quintic   the jumps of p'''' and of p''' in (v, a) are zero: they are the gradient of the integral of p'''^2 / 2
//               by v and a, so that the block tridiagonal matrix is symmetric and positive definite, and elimination
//               in the order of the waypoints is stable
//     monotone  v is the harmonic mean of the slopes d-/h- and d+/h+, 0 where their signs differ; a = 0. A quintic with
//               v of up to twice its slope at both ends does not turn back
#include <math.h>
#include <string.h>

#include <stiction/spline.h>

// ------------------------------------------------------------------------------------------------------------ the fit

static double length_of(const stn_spline *s, int32_t piece) {
    return s->times[piece + 1] - s->times[piece];
}

static double change_of(const stn_spline *s, int32_t piece, int32_t i) {
    const double *p = s->points + (size_t)piece * (size_t)s->size + i;
    return p[s->size] - p[0];
}

/// Forward over the inner waypoints, `next` (count) what is left of the upper diagonal, then back.
static void fit_cubic(const stn_spline *s, double *next) {
    int32_t last = s->count - 1, size = s->size;
    next[0] = 0.0;
    for (int32_t k = 1; k < last; k++) {
        double before = length_of(s, k - 1), after = length_of(s, k);
        double pivot = 2.0 * (before + after) - after * next[k - 1];
        double *v = s->velocity + (size_t)k * (size_t)size;
        next[k] = before / pivot;
        for (int32_t i = 0; i < size; i++) {
            double right = 3.0 * (after / before * change_of(s, k - 1, i) + before / after * change_of(s, k, i));
            v[i] = (right - after * v[i - size]) / pivot;
        }
    }
    for (int32_t k = last - 1; k > 0; k--) {
        double *v = s->velocity + (size_t)k * (size_t)size;
        for (int32_t i = 0; i < size; i++) {
            v[i] -= next[k] * v[i + size];
        }
    }
}

/// Rows and columns: velocity, acceleration.
typedef struct block {
    double vv, va, av, aa;
} block;

static block block_mul(block a, block b) {
    return (block){a.vv * b.vv + a.va * b.av, a.vv * b.va + a.va * b.aa, a.av * b.vv + a.aa * b.av,
                   a.av * b.va + a.aa * b.aa};
}

/// Couples a waypoint (rows) with the next, a piece of length h later (columns); transposed, the other way round.
static block quintic_coupling(double h) {
    return (block){168.0 / (h * h * h), -24.0 / (h * h), 24.0 / (h * h), -3.0 / h};
}

static void fit_quintic(const stn_spline *s, block *next) {
    int32_t last = s->count - 1, size = s->size;
    next[0] = (block){0};
    for (int32_t k = 1; k < last; k++) {
        double before = length_of(s, k - 1), after = length_of(s, k);
        block up = quintic_coupling(before), low = {up.vv, up.av, up.va, up.aa};
        // the pivot: the diagonal block less what elimination takes from it
        double b2 = before * before, a2 = after * after, skew = 36.0 / a2 - 36.0 / b2;
        block taken = block_mul(low, next[k - 1]);
        block pivot = {192.0 / (b2 * before) + 192.0 / (a2 * after) - taken.vv, skew - taken.va, skew - taken.av,
                       9.0 / before + 9.0 / after - taken.aa};
        double det = pivot.vv * pivot.aa - pivot.va * pivot.av;
        block inverse = {pivot.aa / det, -pivot.va / det, -pivot.av / det, pivot.vv / det};
        next[k] = block_mul(inverse, quintic_coupling(after));
        double *v = s->velocity + (size_t)k * (size_t)size, *a = s->acceleration + (size_t)k * (size_t)size;
        for (int32_t i = 0; i < size; i++) {
            double slow = change_of(s, k - 1, i) / (before * before * before);
            double fast = change_of(s, k, i) / (after * after * after);
            double right_v = 360.0 * (slow / before + fast / after) - low.vv * v[i - size] - low.va * a[i - size];
            double right_a = 60.0 * (fast - slow) - low.av * v[i - size] - low.aa * a[i - size];
            v[i] = inverse.vv * right_v + inverse.va * right_a;
            a[i] = inverse.av * right_v + inverse.aa * right_a;
        }
    }
    for (int32_t k = last - 1; k > 0; k--) {
        double *v = s->velocity + (size_t)k * (size_t)size, *a = s->acceleration + (size_t)k * (size_t)size;
        for (int32_t i = 0; i < size; i++) {
            double after_v = v[i + size], after_a = a[i + size];
            v[i] -= next[k].vv * after_v + next[k].va * after_a;
            a[i] -= next[k].av * after_v + next[k].aa * after_a;
        }
    }
}

static void fit_monotone(const stn_spline *s) {
    int32_t last = s->count - 1, size = s->size;
    for (int32_t k = 1; k < last; k++) {
        for (int32_t i = 0; i < size; i++) {
            double before = change_of(s, k - 1, i) / length_of(s, k - 1), after = change_of(s, k, i) / length_of(s, k);
            size_t at = (size_t)k * (size_t)size + (size_t)i;
            s->velocity[at] = before * after > 0.0 ? 2.0 * before * after / (before + after) : 0.0;
            s->acceleration[at] = 0.0;
        }
    }
}

stn_status stn_spline_fit(stn_spline *spline, double *scratch, stn_error *err) {
    const stn_spline *s = spline;
    for (int32_t k = 0; k < s->count; k++) {
        if (!isfinite(s->times[k]) || (k > 0 && !(s->times[k] > s->times[k - 1]))) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "waypoint %d: its time, %g s, must be finite and after the one before%s", k + 1,
                            s->times[k], k == 0 ? ", if there were one" : "");
        }
        for (int32_t i = 0; i < s->size; i++) {
            if (!isfinite(s->points[(size_t)k * (size_t)s->size + (size_t)i])) {
                return stn_fail(err, STN_ERR_NUMERIC, "waypoint %d: number %d is not finite", k + 1, i + 1);
            }
        }
    }
    size_t size = (size_t)s->size, last = (size_t)(s->count - 1) * size;
    memset(s->velocity, 0, size * sizeof(double));
    memset(s->velocity + last, 0, size * sizeof(double));
    if (s->kind == STN_SPLINE_CUBIC) {
        fit_cubic(s, scratch);
        return STN_OK;
    }
    memset(s->acceleration, 0, size * sizeof(double));
    memset(s->acceleration + last, 0, size * sizeof(double));
    if (s->kind == STN_SPLINE_MONOTONE) {
        fit_monotone(s);
    } else {
        fit_quintic(s, (block *)scratch);
    }
    return STN_OK;
}

// ---------------------------------------------------------------------------------------------------------- one piece

enum { DEGREE = 5 };

/// sum over k of c[k] u^k.
typedef struct polynomial {
    double c[DEGREE + 1];
    int32_t degree;
} polynomial;

static double polynomial_at(const polynomial *p, double u) {
    double sum = p->c[p->degree];
    for (int32_t k = p->degree - 1; k >= 0; k--) {
        sum = sum * u + p->c[k];
    }
    return sum;
}

static polynomial derivative_of(const polynomial *p) {
    polynomial d = {.degree = p->degree > 0 ? p->degree - 1 : 0};
    for (int32_t k = 0; k < p->degree; k++) {
        d.c[k] = (k + 1) * p->c[k + 1];
    }
    return d;
}

/// Number i along a piece, by u = (t - its start) / its length.
static polynomial piece_of(const stn_spline *s, int32_t piece, int32_t i) {
    size_t from = (size_t)piece * (size_t)s->size + (size_t)i, to = from + (size_t)s->size;
    double h = length_of(s, piece), d = s->points[to] - s->points[from];
    double v0 = h * s->velocity[from], v1 = h * s->velocity[to];
    if (s->kind == STN_SPLINE_CUBIC) {
        return (polynomial){{s->points[from], v0, 3.0 * d - 2.0 * v0 - v1, v0 + v1 - 2.0 * d}, 3};
    }
    double a0 = h * h * s->acceleration[from], a1 = h * h * s->acceleration[to];
    return (polynomial){{s->points[from], v0, 0.5 * a0, 10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
                         -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1, 6.0 * d - 3.0 * (v0 + v1) + 0.5 * (a1 - a0)},
                        5};
}

/// The place of a change of sign between u and w, by bisection.
static double root_between(const polynomial *p, double u, double w) {
    bool rises = polynomial_at(p, u) < 0.0;
    for (int32_t i = 0; i < 60; i++) {
        double middle = 0.5 * (u + w);
        bool before = (polynomial_at(p, middle) < 0.0) == rises;
        u = before ? middle : u;
        w = before ? w : middle;
    }
    return 0.5 * (u + w);
}

/// Ascending places of [0, 1] between which p is monotonic, its ends included, to `places` (degree + 1); their number.
/// Between two such places of its derivative, that has one root at most.
static int32_t turns_of(const polynomial *p, double *places) {
    int32_t count = 0;
    places[count++] = 0.0;
    if (p->degree > 1) {
        polynomial d = derivative_of(p);
        double inner[DEGREE + 1];
        int32_t stretches = turns_of(&d, inner) - 1;
        for (int32_t k = 0; k < stretches; k++) {
            if (polynomial_at(&d, inner[k]) * polynomial_at(&d, inner[k + 1]) < 0.0) {
                places[count++] = root_between(&d, inner[k], inner[k + 1]);
            }
        }
    }
    places[count++] = 1.0;
    return count;
}

static void extent_of(const polynomial *p, double *lowest, double *highest) {
    double places[DEGREE + 2];
    int32_t count = turns_of(p, places);
    *lowest = INFINITY;
    *highest = -INFINITY;
    for (int32_t k = 0; k < count; k++) {
        double value = polynomial_at(p, places[k]);
        *lowest = fmin(*lowest, value);
        *highest = fmax(*highest, value);
    }
}

static double largest_of(const polynomial *p) {
    double lowest, highest;
    extent_of(p, &lowest, &highest);
    return fmax(-lowest, highest);
}

// ------------------------------------------------------------------------------------------------------------- the use

void stn_spline_at(const stn_spline *spline, double time, double *position, double *velocity, double *acceleration) {
    int32_t piece = 0, last = spline->count - 1;
    while (piece + 1 < last && time >= spline->times[piece + 1]) {
        piece++;
    }
    bool rests = last == 0 || time <= spline->times[0] || time >= spline->times[last];
    double h = last > 0 ? length_of(spline, piece) : 1.0, u = (time - spline->times[piece]) / h;
    size_t end = time <= spline->times[0] ? 0 : (size_t)last * (size_t)spline->size;
    for (int32_t i = 0; i < spline->size; i++) {
        polynomial p = {{spline->points[end + (size_t)i]}, 0};
        p = rests ? p : piece_of(spline, piece, i);
        polynomial rate = derivative_of(&p), change = derivative_of(&rate);
        if (position != NULL) {
            position[i] = polynomial_at(&p, u);
        }
        if (velocity != NULL) {
            velocity[i] = polynomial_at(&rate, u) / h;
        }
        if (acceleration != NULL) {
            acceleration[i] = polynomial_at(&change, u) / (h * h);
        }
    }
}

void stn_spline_step(const stn_spline *spline, double time, double dt, double *position, double *velocity,
                     double *acceleration) {
    stn_spline_at(spline, time - dt, acceleration, NULL, NULL);
    stn_spline_at(spline, time, velocity, NULL, NULL);
    stn_spline_at(spline, time + dt, position, NULL, NULL);
    for (int32_t i = 0; i < spline->size; i++) {
        double before = (velocity[i] - acceleration[i]) / dt;
        velocity[i] = (position[i] - velocity[i]) / dt;
        acceleration[i] = (velocity[i] - before) / dt;
    }
}

void stn_spline_extent(const stn_spline *spline, int32_t piece, int32_t i, double *lowest, double *highest) {
    polynomial p = piece_of(spline, piece, i);
    extent_of(&p, lowest, highest);
}

int32_t stn_spline_leaves(const stn_spline *spline, int32_t i, double lower, double upper, double *value) {
    double least = lower - 1e-9 * (1.0 + fabs(lower)), most = upper + 1e-9 * (1.0 + fabs(upper));
    for (int32_t piece = 0; piece + 1 < spline->count; piece++) {
        double lowest, highest;
        stn_spline_extent(spline, piece, i, &lowest, &highest);
        if (lowest < least || highest > most) {
            *value = lowest < least ? lowest : highest;
            return piece;
        }
    }
    return -1;
}

/// stn_spline_stretch of one piece.
static double stretch_of(const stn_spline *s, int32_t piece, const stn_spline_limits *limits) {
    double h = length_of(s, piece), most = 0.0;
    for (int32_t i = 0; i < s->size; i++) {
        polynomial p = piece_of(s, piece, i), rate = derivative_of(&p), change = derivative_of(&rate);
        most = fmax(most, largest_of(&rate) / (h * limits->velocity[i]));
        most = fmax(most, sqrt(largest_of(&change) / limits->acceleration[i]) / h);
    }
    return most;
}

double stn_spline_stretch(const stn_spline *spline, const stn_spline_limits *limits) {
    double most = 0.0;
    for (int32_t k = 0; k + 1 < spline->count; k++) {
        most = fmax(most, stretch_of(spline, k, limits));
    }
    return most;
}

// ------------------------------------------------------------------------------------------------------ choosing times

/// A way that asks for less is rounding: such times would vanish beside later ones [s].
static const double least_length = 1e-6;

static void lay_out(double *times, double begin, const double *length, int32_t count) {
    times[0] = begin;
    for (int32_t k = 0; k + 1 < count; k++) {
        times[k + 1] = times[k] + length[k];
    }
}

stn_status stn_spline_choose_times(stn_spline *spline, const stn_spline_limits *limits, double begin, double rest,
                                   double *times, double *scratch, stn_error *err) {
    enum { ROUNDS = 8 }; // those after the first make 200 random curves faster by 7 % (cubic) and 3 %; 24: 9 and 4
    int32_t pieces = spline->count - 1;
    double *length = scratch + (size_t)4 * (size_t)spline->count, *best = length + spline->count;
    double shortest = INFINITY, stretch = 1.0;
    bool moves = false;
    for (int32_t k = 0; k < pieces; k++) {
        // What a piece asks for by itself.
        double own = 0.0;
        for (int32_t i = 0; i < spline->size; i++) {
            double travel = fabs(change_of(spline, k, i));
            own = fmax(own, fmax(travel / limits->velocity[i], sqrt(travel / limits->acceleration[i])));
        }
        length[k] = best[k] = own > least_length ? own : rest;
        moves = moves || own > least_length;
    }
    for (int32_t round = 0; round < ROUNDS && moves; round++) {
        lay_out(times, 0.0, length, spline->count);
        stn_status status = stn_spline_fit(spline, scratch, err);
        stretch = status == STN_OK ? stn_spline_stretch(spline, limits) : 0.0;
        if (stretch == 0.0) { // no limits, or no curve
            break;
        }
        bool better = stretch * times[pieces] < shortest;
        shortest = better ? stretch * times[pieces] : shortest;
        for (int32_t k = 0; k < pieces; k++) {
            best[k] = better ? stretch * length[k] : best[k];
            length[k] *= pow(fmax(stretch_of(spline, k, limits) / stretch, 0.1), 0.25);
        }
    }
    lay_out(times, begin, best, spline->count);
    return stn_spline_fit(spline, scratch, err);
}
