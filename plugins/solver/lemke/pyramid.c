// SPDX-License-Identifier: Apache-2.0
// See pyramid.h.
#include "pyramid.h"

#include <math.h>
#include <string.h>

enum { MOST_UNKNOWNS = 4000 }; // a tableau of 128 MB, passed over once a pivot

// ---------------------------------------------------------------------------------------------------------- unknowns

static void add_contact(pyramid *p, int32_t i) {
    const packed_row *row = &p->dual.H.rows[i];
    for (int32_t j = 0; j < p->directions && p->anitescu && row->mu > 0.0; j++) {
        double mu1 = row->scale[0] > 0.0 ? row->mu : 0.0, mu2 = row->scale[1] > 0.0 ? row->mu : 0.0;
        p->unknowns[p->n++] =
            (unknown){UNKNOWN_IMPULSE, i, row->place, 3, {mu1 * p->cosine[j], mu2 * p->sine[j], 1.0}, -1, 0.0};
    }
    if (p->anitescu && row->mu > 0.0) {
        return;
    }
    int32_t slip = row->mu > 0.0 ? p->n + p->directions + 1 : -1;
    p->unknowns[p->n++] = (unknown){UNKNOWN_IMPULSE, i, row->place + 2, 1, {1.0}, slip, 0.0};
    if (slip < 0) {
        return;
    }
    int32_t normal = p->n - 1;
    for (int32_t j = 0; j < p->directions; j++) {
        p->unknowns[p->n++] = (unknown){UNKNOWN_IMPULSE, i, row->place, 2, {p->cosine[j], p->sine[j]}, slip, 0.0};
    }
    p->unknowns[p->n++] = (unknown){UNKNOWN_SLIP, i, row->place, 0, {0.0}, normal, 0.0};
}

stn_status pyramid_build(const stn_delassus *delassus, pyramid_friction friction, stn_arena *arena, pyramid *out,
                         stn_error *err) {
    const int32_t directions = friction.directions;
    *out = (pyramid){.directions = directions, .anitescu = friction.anitescu};
    stn_status status = scaled_dual_build(delassus, arena, &out->dual, err);
    if (status != STN_OK) {
        return status;
    }
    int64_t n = 0;
    for (int32_t i = 0; i < out->dual.H.n; i++) {
        const packed_row *row = &out->dual.H.rows[i];
        if (row->cone) {
            n += row->mu > 0.0 ? directions + (friction.anitescu ? 0 : 2) : 1;
        }
        for (int32_t r = row->place; r < row->place + row->rows && !row->cone; r++) {
            double lo = out->dual.H.lo[r], hi = out->dual.H.hi[r];
            n += lo == hi ? 0 : (isfinite(lo) && isfinite(hi) ? 2 : 1);
        }
    }
    if (n > MOST_UNKNOWNS) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "%lld unknowns (%d constraints, %d directions) as a full tableau, at most %d: solver %s needs "
                        "none",
                        (long long)n, out->dual.H.n, directions, MOST_UNKNOWNS,
                        friction.anitescu ? "ipm" : "pgs with friction = pyramid");
    }
    out->unknowns = STN_ARENA(arena, n + 1, unknown);
    out->start = STN_ARENA(arena, out->dual.H.n + 1, int32_t);
    out->base = packed_vector(&out->dual.H, arena);
    double *cosine = STN_ARENA(arena, directions, double), *sine = STN_ARENA(arena, directions, double);
    if (out->unknowns == NULL || out->start == NULL || out->base == NULL || cosine == NULL || sine == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d constraints: out of memory", out->dual.H.n);
    }
    const int32_t half = directions / 2;
    for (int32_t j = 0; j < half; j++) { // unit vectors around the circle, opposite ones exactly so
        bool upright = 2 * j == half;
        cosine[j] = upright ? 0.0 : cos(STN_PI * j / half);
        sine[j] = upright ? 1.0 : sin(STN_PI * j / half);
        cosine[j + half] = -cosine[j];
        sine[j + half] = -sine[j];
    }
    out->cosine = cosine;
    out->sine = sine;
    for (int32_t i = 0; i < out->dual.H.n; i++) {
        out->start[i] = out->n;
        if (out->dual.H.rows[i].cone) {
            add_contact(out, i);
        } else {
            const packed_row *row = &out->dual.H.rows[i];
            for (int32_t r = row->place; r < row->place + row->rows; r++) {
                double lo = out->dual.H.lo[r], hi = out->dual.H.hi[r];
                bool free = !isfinite(lo) && !isfinite(hi), both = isfinite(lo) && isfinite(hi);
                out->base[r] = isfinite(lo) ? lo : (isfinite(hi) ? hi : 0.0);
                if (lo == hi) {
                    continue;
                }
                double sign = isfinite(lo) || free ? 1.0 : -1.0;
                int32_t own = out->n++, top = both ? out->n++ : -1;
                out->unknowns[own] =
                    (unknown){free ? UNKNOWN_FREE : UNKNOWN_IMPULSE, i, r, 1, {sign}, top, both ? hi - lo : 0.0};
                if (both) {
                    out->unknowns[top] = (unknown){UNKNOWN_TOP, i, row->place, 0, {0.0}, own, hi - lo};
                }
            }
        }
    }
    out->start[out->dual.H.n] = out->n;
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------------ matrix

/// What the impulses of another constraint do to the velocities of constraint i: a block of W, by columns.
static void put_block(const pyramid *p, int32_t i, const packed_block *block, tableau *t) {
    const int32_t j = packed_at(&p->dual.H, block->place);
    const packed_row *row = &p->dual.H.rows[i];
    for (int32_t a = p->start[i]; a < p->start[i + 1]; a++) {
        const unknown *to = &p->unknowns[a];
        for (int32_t b = p->start[j]; b < p->start[j + 1] && to->entries > 0; b++) {
            const unknown *from = &p->unknowns[b];
            double sum = 0.0;
            for (int32_t c = 0; c < from->entries; c++) {
                const double *column =
                    block->W + (from->place - block->place + c) * row->width + (to->place - row->place);
                for (int32_t r = 0; r < to->entries; r++) {
                    sum += to->direction[r] * column[r] * from->direction[c];
                }
            }
            t->T[(size_t)a * (size_t)t->stride + (size_t)b] = sum;
        }
    }
}

/// A tangent, or a row with two bounds: its partner stands in its w.
static bool is_relieved(const unknown *u) {
    return u->kind == UNKNOWN_IMPULSE && u->partner >= 0 && (u->entries == 2 || u->room > 0.0);
}

void pyramid_matrix(const pyramid *p, tableau *t, double *work) {
    const packed *H = &p->dual.H;
    double *q = t->q;
    packed_product(H, p->base, work);
    for (int32_t i = 0; i < H->n; i++) {
        put_block(p, i, &(packed_block){H->rows[i].own, H->rows[i].place, H->rows[i].rows}, t);
        for (const packed_block *e = H->blocks + H->rows[i].start; e < H->blocks + H->rows[i].end; e++) {
            put_block(p, i, e, t);
        }
    }
    for (int32_t a = 0; a < p->n; a++) {
        const unknown *u = &p->unknowns[a];
        q[a] = 0.0;
        for (int32_t r = 0; r < u->entries; r++) {
            q[a] += u->direction[r] * work[u->place + r];
        }
        double *row = t->T + (size_t)a * (size_t)t->stride; // what couples an unknown with its partner
        if (u->kind == UNKNOWN_SLIP) {
            row[u->partner] = p->dual.H.rows[u->constraint].mu;
            for (int32_t j = 0; j < p->directions; j++) {
                row[u->partner + 1 + j] = -1.0;
            }
            q[a] = 0.0;
        } else if (u->kind == UNKNOWN_TOP) {
            row[u->partner] = -1.0;
            q[a] = u->room;
        } else if (is_relieved(u)) {
            row[u->partner] = 1.0;
        }
    }
}

void pyramid_impulses(const pyramid *p, const double *z, double *x) {
    memcpy(x, p->base, (size_t)p->dual.H.size * sizeof *x);
    for (int32_t a = 0; a < p->n; a++) {
        const unknown *u = &p->unknowns[a];
        for (int32_t r = 0; r < u->entries; r++) {
            x[u->place + r] += u->direction[r] * z[a];
        }
    }
}

void pyramid_slacks(const pyramid *p, const double *z, const double *g, double *w) {
    for (int32_t a = 0; a < p->n; a++) {
        const unknown *u = &p->unknowns[a];
        w[a] = 0.0;
        for (int32_t r = 0; r < u->entries; r++) {
            w[a] += u->direction[r] * g[u->place + r];
        }
        if (u->kind == UNKNOWN_SLIP) {
            w[a] = p->dual.H.rows[u->constraint].mu * z[u->partner];
            for (int32_t j = 0; j < p->directions; j++) {
                w[a] -= z[u->partner + 1 + j];
            }
        } else if (u->kind == UNKNOWN_TOP) {
            w[a] = u->room - z[u->partner];
        } else if (is_relieved(u)) {
            w[a] += z[u->partner];
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- residual

/// Square of a contact's map: of the normal by clamping, of the tangents with the nearest point of the polygon that its
/// impulse has, with corners `radius` d_j.
static double contact_map(const pyramid *p, const packed_row *row, const double *x, const double *g) {
    double normal = row->omega * x[2] - fmax(row->omega * x[2] - g[2], 0.0);
    double to[2] = {row->omega * x[0] - g[0], row->omega * x[1] - g[1]};
    double radius = row->mu * fmax(row->omega * x[2], 0.0), sector = 2.0 * STN_PI / p->directions;
    int32_t j = (int32_t)floor(atan2(to[1], to[0]) / sector);
    j = (j % p->directions + p->directions) % p->directions;
    int32_t k = (j + 1) % p->directions;
    double edge[2] = {p->cosine[k] - p->cosine[j], p->sine[k] - p->sine[j]}; // of radius 1
    double from[2] = {radius * p->cosine[j], radius * p->sine[j]}, d[2] = {to[0] - from[0], to[1] - from[1]};
    if (!(d[0] * edge[1] - d[1] * edge[0] <= 0.0)) { // outside
        double share = (d[0] * edge[0] + d[1] * edge[1]) / (edge[0] * edge[0] + edge[1] * edge[1]);
        share = fmin(fmax(share, 0.0), radius);
        to[0] = from[0] + share * edge[0];
        to[1] = from[1] + share * edge[1];
    }
    double t1 = row->omega * x[0] - to[0], t2 = row->omega * x[1] - to[1];
    return normal * normal + t1 * t1 + t2 * t2;
}

/// The same with Anitescu's friction.
static double ray_map(const pyramid *p, const packed_row *row, const double *x, const double *g) {
    double error = fmax(0.0, -row->omega * x[2]), work = 0.0, size = 0.0;
    const double half = STN_PI / p->directions, m1 = cos(half), m2 = sin(half);
    const double mu1 = row->scale[0] > 0.0 ? row->mu : 0.0, mu2 = row->scale[1] > 0.0 ? row->mu : 0.0;
    for (int32_t j = 0; j < p->directions; j++) {
        error = fmax(error, -(mu1 * p->cosine[j] * g[0] + mu2 * p->sine[j] * g[1] + g[2]));
        double t1 = p->cosine[j] * m1 - p->sine[j] * m2, t2 = p->sine[j] * m1 + p->cosine[j] * m2; // an edge's normal
        error = fmax(error, row->omega * (t1 * x[0] + t2 * x[1] - row->mu * m1 * x[2]));
    }
    for (int32_t k = 0; k < 3; k++) {
        work += x[k] * g[k];
        size = fmax(size, fabs(x[k]));
    }
    error = size > 0.0 ? fmax(error, fmin(fabs(work) / size, row->omega * size)) : error;
    return isnan(work) ? work : error * error;
}

dual_residual pyramid_residual(const pyramid *p, const double *x, const double *g) {
    const packed *H = &p->dual.H;
    double largest = 0.0, sum = 0.0;
    for (int32_t i = 0; i < H->n; i++) {
        const packed_row *row = &H->rows[i];
        int32_t at = row->place;
        double square = row->cone ? (p->anitescu ? ray_map : contact_map)(p, row, x + at, g + at)
                                  : packed_map(row, true, H->lo + at, H->hi + at, x + at, g + at);
        double e = square / (p->dual.s[at] * p->dual.s[at]);
        largest = e <= largest ? largest : e; // NaN wins
        sum += square;
    }
    return (dual_residual){sqrt(largest), sqrt(sum)};
}
