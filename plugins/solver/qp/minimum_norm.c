// SPDX-License-Identifier: Apache-2.0
// See minimum_norm.h.
#include "minimum_norm.h"

#include <float.h>
#include <math.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------------------- face

static double *face_row(const face *f, int32_t m) {
    return f->row + (size_t)m * (size_t)f->stride;
}

/// row = L^-1 H_Bj of member m; returns the curvature that is left.
static double reduce(const active_set *set, const face *f, int32_t m) {
    const double *h = set->H + (size_t)f->member[m] * (size_t)set->stride;
    double *row = face_row(f, m);
    for (int32_t k = 0; k < f->basis; k++) {
        row[k] = h[f->member[k]];
    }
    stn_cholesky_forward(f->basis, f->row, f->stride, 1, row, f->stride);
    return h[f->member[m]] - active_set_dot(f->basis, row, row);
}

/// Member m, whose row is that of L, becomes the last one of B.
static void accept(face *f, int32_t m) {
    const int32_t to = f->basis++, member = f->member[m];
    double *row = face_row(f, m), *other = face_row(f, to);
    f->member[m] = f->member[to];
    f->member[to] = member;
    for (int32_t k = 0; k <= to && m != to; k++) {
        const double own = row[k];
        row[k] = other[k];
        other[k] = own;
    }
}

bool face_find_basis(const active_set *set, int32_t certain, stn_arena *arena, face *f) {
    f->stride = (f->count + 3) / 4 * 4 + 4;
    f->row = STN_ARENA_ZEROED(arena, (size_t)f->count * (size_t)f->stride + 1, double);
    f->basis = 0;
    for (int32_t m = 0; m < f->count && f->row != NULL; m++) {
        const double size = set->size[f->member[m]], curvature = reduce(set, f, m);
        if (curvature > (m < certain ? 0.0 : 1e-11 * size * size)) {
            face_row(f, m)[f->basis] = sqrt(curvature);
            accept(f, m);
        }
    }
    return f->row != NULL;
}

void face_column(const face *f, int32_t m, double *out) {
    memset(out, 0, (size_t)f->basis * sizeof *out);
    if (m < f->basis) {
        out[m] = 1.0;
        return;
    }
    memcpy(out, face_row(f, m), (size_t)f->basis * sizeof *out);
    stn_cholesky_backward(f->basis, f->row, f->stride, 1, out, f->stride);
}

// --------------------------------------------------------------------------------------------------------------- parts

static bool create(const rays *r, active_set *set, minimum_norm *out) {
    const int32_t constraints = r->problem->constraint_count;
    *out = (minimum_norm){.r = r, .set = set};
    out->pair = STN_ARENA(r->arena, set->n + 1, int32_t);
    out->part = STN_ARENA(r->arena, constraints + 1, int32_t);
    out->own = STN_ARENA_ZEROED(r->arena, constraints + 1, face);
    out->parts = STN_ARENA(r->arena, constraints + 1, norm_part);
    out->place = STN_ARENA(r->arena, set->n + 1, int32_t);
    out->joint.member = STN_ARENA(r->arena, set->n + 1, int32_t);
    out->column = STN_ARENA(r->arena, 2 * set->n + 1, double);
    out->change = STN_ARENA(r->arena, set->n + 1, double);
    return out->pair != NULL && out->part != NULL && out->own != NULL && out->place != NULL && out->parts != NULL &&
           out->joint.member != NULL && out->column != NULL && out->change != NULL;
}

/// A local problem does not say which trees; there no two constraints have the same.
static bool have_same_trees(const stn_constraint *a, const stn_constraint *b) {
    const int32_t count = stn_constraint_block_count(a);
    int32_t shared = 0;
    for (int32_t k = 0; k < count && stn_constraint_block_count(b) == count; k++) {
        for (int32_t j = 0; j < count; j++) {
            shared += stn_constraint_block(a, k)->tree == stn_constraint_block(b, j)->tree;
        }
    }
    return count > 0 && shared == count;
}

static void find_pairs(minimum_norm *s) {
    const stn_problem *p = s->r->problem;
    const int32_t *start = s->r->start;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        int32_t pair = stn_constraint_has_cone(c) ? s->pair_count : -1;
        for (int32_t j = 0; j < i && pair == s->pair_count; j++) {
            if (s->pair[start[j]] >= 0 && have_same_trees(c, &p->constraints[j])) {
                pair = s->pair[start[j]];
            }
        }
        s->pair_count += pair == s->pair_count;
        for (int32_t u = start[i]; u < start[i + 1]; u++) {
            s->pair[u] = pair;
        }
    }
}

/// Is its g = 0, beside rounding?
static bool is_active(const active_set *set, int32_t u, double energy) {
    const double rounding = active_set_rounding(set, u, energy);
    return set->place[u] >= 0 || set->x[u] > 0.0 || fabs(set->g[u]) <= 8.0 * rounding;
}

/// own[pair]: its rays with g = 0, the free ones first, and their basis.
static bool find_own(minimum_norm *s, int32_t pair, double energy) {
    const active_set *set = s->set;
    face *f = &s->own[pair];
    int32_t most = 0, free = 0;
    for (int32_t u = 0; u < set->n; u++) {
        most += s->pair[u] == pair;
    }
    f->member = STN_ARENA(s->r->arena, most + 1, int32_t);
    for (int32_t pass = 0; pass < 2 && f->member != NULL; pass++) {
        for (int32_t u = 0; u < set->n; u++) {
            if (s->pair[u] == pair && (set->place[u] < 0) == (pass == 1) && is_active(set, u, energy)) {
                f->member[f->count++] = u;
            }
        }
        free = pass == 0 ? f->count : free;
    }
    return f->member != NULL && face_find_basis(set, free, s->r->arena, f);
}

/// joint: the bases of all pairs, the free rays first, and their basis.
static bool find_joint(minimum_norm *s) {
    face *f = &s->joint;
    int32_t free = 0;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t p = 0; p < s->pair_count; p++) {
            for (int32_t k = 0; k < s->own[p].basis; k++) {
                const int32_t u = s->own[p].member[k];
                if ((s->set->place[u] < 0) == (pass == 1)) {
                    f->member[f->count++] = u;
                }
            }
        }
        free = pass == 0 ? f->count : free;
    }
    if (!face_find_basis(s->set, free, s->r->arena, f)) {
        return false;
    }
    for (int32_t k = 0; k < f->count; k++) {
        s->place[f->member[k]] = k;
    }
    return true;
}

static double *dependence(const minimum_norm *s, int32_t k) {
    return s->depends + (size_t)(k - s->joint.basis) * (size_t)s->joint.basis;
}

/// Ray k of `joint` depends on those of its column, apart from rounding.
static void find_dependence(minimum_norm *s, int32_t k) {
    const face *f = &s->joint;
    double *column = dependence(s, k), scale = s->set->size[f->member[k]];
    face_column(f, k, column);
    for (int32_t j = 0; j < f->basis; j++) {
        scale += fabs(column[j]) * s->set->size[f->member[j]];
    }
    for (int32_t j = 0; j < f->basis; j++) {
        if (fabs(column[j]) * s->set->size[f->member[j]] <= 64.0 * DBL_EPSILON * scale) {
            column[j] = 0.0;
        }
    }
}

/// The parts of both pairs become one.
static void join(minimum_norm *s, int32_t a, int32_t b) {
    const int32_t one = s->part[a], other = s->part[b], first = one < other ? one : other;
    for (int32_t p = 0; p < s->pair_count && one != other; p++) {
        s->part[p] = s->part[p] == one || s->part[p] == other ? first : s->part[p];
    }
}

static bool find_parts(minimum_norm *s) {
    const face *f = &s->joint;
    s->depends = STN_ARENA(s->r->arena, (size_t)(f->count - f->basis) * (size_t)f->basis + 1, double);
    for (int32_t p = 0; p < s->pair_count; p++) {
        s->part[p] = p;
    }
    for (int32_t k = f->basis; k < f->count && s->depends != NULL; k++) {
        find_dependence(s, k);
        for (int32_t j = 0; j < f->basis; j++) {
            if (dependence(s, k)[j] != 0.0) {
                join(s, s->pair[f->member[k]], s->pair[f->member[j]]);
            }
        }
    }
    return s->depends != NULL;
}

// --------------------------------------------------------------------------------------------------------------- solve

static double *part_row(const norm_part *q, int32_t m) {
    return q->E + (size_t)m * (size_t)q->stride;
}

/// Member m of `own` as a column of E, over the basis of `joint`, into s->column.
static void express(const minimum_norm *s, const face *own, int32_t m) {
    const face *f = &s->joint;
    double *coefficient = s->column + f->basis;
    memset(s->column, 0, (size_t)f->basis * sizeof *s->column);
    face_column(own, m, coefficient);
    for (int32_t k = 0; k < own->basis; k++) {
        const int32_t place = s->place[own->member[k]];
        if (place < f->basis) {
            s->column[place] += coefficient[k];
        } else {
            active_set_add(f->basis, coefficient[k], dependence(s, place), s->column);
        }
    }
}

/// Members and E of the part that begins with pair `first`; all of them independent: count = basis, without E.
static bool find_part(const minimum_norm *s, int32_t first, norm_part *out) {
    stn_arena *arena = s->r->arena;
    *out = (norm_part){0};
    for (int32_t p = first; p < s->pair_count; p++) {
        out->count += s->part[p] == first ? s->own[p].count : 0;
    }
    out->member = STN_ARENA(arena, out->count + 1, int32_t);
    out->row = STN_ARENA(arena, out->count + 1, int32_t);
    if (out->member == NULL || out->row == NULL) {
        return false;
    }
    for (int32_t k = 0; k < s->joint.basis; k++) {
        if (s->part[s->pair[s->joint.member[k]]] == first) {
            out->row[out->basis++] = k;
        }
    }
    if (out->count == out->basis) {
        return true;
    }
    out->stride = (out->basis + 3) / 4 * 4;
    out->E = STN_ARENA_ZEROED(arena, (size_t)out->count * (size_t)out->stride + 8, double);
    int32_t count = 0;
    for (int32_t p = first; p < s->pair_count && out->E != NULL; p++) {
        for (int32_t m = 0; m < s->own[p].count && s->part[p] == first; m++, count++) {
            express(s, &s->own[p], m);
            out->member[count] = s->own[p].member[m];
            for (int32_t k = 0; k < out->basis; k++) {
                part_row(out, count)[k] = s->column[out->row[k]];
            }
        }
    }
    return out->E != NULL;
}

/// E^T becomes Q = E^T C^-T, C C^T = E E^T, so that Pi = 1 - Q Q^T.
static bool orthonormalise(norm_part *q, stn_arena *arena) {
    double *C = STN_ARENA_ZEROED(arena, (size_t)q->basis * (size_t)q->stride + 8, double);
    for (int32_t m = 0; m < q->count && C != NULL; m++) {
        const double *column = part_row(q, m);
        for (int32_t k = 0; k < q->basis; k++) {
            if (column[k] != 0.0) {
                active_set_add(k + 1, column[k], column, C + (size_t)k * (size_t)q->stride);
            }
        }
    }
    if (C == NULL || stn_cholesky(q->basis, C, q->stride) >= 0) {
        return false;
    }
    stn_cholesky_forward(q->basis, C, q->stride, q->count, q->E, q->stride);
    return true;
}

/// Row m of Pi.
static void make_row(const void *user, int32_t m, double *row) {
    const norm_part *q = user;
    for (int32_t j = 0; j < q->count; j++) {
        row[j] = -active_set_dot(q->basis, part_row(q, m), part_row(q, j));
    }
    row[m] += 1.0;
}

/// The program of a part, without q.
static bool make_program(norm_part *q, stn_arena *arena) {
    active_set *dual = &q->dual;
    q->along = STN_ARENA_ZEROED(arena, q->stride + 1, double);
    if (q->along == NULL || !active_set_create(dual, q->count, arena) || !orthonormalise(q, arena)) {
        return false;
    }
    active_set_begin(dual);
    dual->make_row = make_row;
    dual->user = q;
    dual->loose = 1e-10;
    for (int32_t m = 0; m < q->count; m++) {
        dual->hi[m] = INFINITY;
        dual->size[m] = 1.0; // what Pi is a difference of, and rounding relative to
    }
    return true;
}

/// g of the program's variables = Q Q^T x, x (n).
static void project(norm_part *q, const double *x, double *g) {
    memset(q->along, 0, (size_t)q->basis * sizeof *q->along);
    for (int32_t m = 0; m < q->count; m++) {
        active_set_add(q->basis, x[q->member[m]], part_row(q, m), q->along);
    }
    for (int32_t m = 0; m < q->count; m++) {
        g[m] = active_set_dot(q->basis, part_row(q, m), q->along);
    }
}

bool minimum_norm_prepare(const rays *r, active_set *set, minimum_norm *out) {
    if (!create(r, set, out)) {
        return false;
    }
    find_pairs(out);
    const double energy = active_set_energy(set);
    bool good = true;
    for (int32_t p = 0; p < out->pair_count && good; p++) {
        good = find_own(out, p, energy);
    }
    good = good && find_joint(out) && find_parts(out);
    for (int32_t p = 0; p < out->pair_count && good; p++) {
        norm_part *part = &out->parts[out->part_count];
        if (out->part[p] == p) {
            good = find_part(out, p, part) && (part->count == part->basis || make_program(part, r->arena));
            out->part_count += part->count > part->basis;
        }
    }
    return good;
}

/// Impulses with these effects exist, so that no g < 0 can be without a cure: it is rounding of E, and s stays there.
static bool solve_program(active_set *dual) {
    const int32_t most = 10 * dual->n + 100;
    int32_t moves = 0;
    active_set_end end = active_set_solve(dual, most, &moves);
    while (end == ACTIVE_SET_CONTRADICTION) {
        dual->hi[dual->entering] = dual->x[dual->entering];
        end = active_set_solve(dual, most, &moves);
    }
    return end == ACTIVE_SET_SOLVED;
}

void minimum_norm_choose(minimum_norm *s) {
    for (int32_t p = 0; p < s->part_count; p++) {
        norm_part *q = &s->parts[p];
        active_set *dual = &q->dual;
        project(q, s->set->x, dual->q);
        if (!solve_program(dual)) {
            continue;
        }
        for (int32_t m = 0; m < q->count; m++) {
            s->set->x[q->member[m]] = dual->place[m] >= 0 ? 0.0 : fmax(dual->g[m], 0.0);
        }
    }
}

void minimum_norm_correct(minimum_norm *s) {
    const face *f = &s->joint;
    double *error = s->column;
    for (int32_t k = 0; k < f->basis; k++) {
        error[k] = -s->set->g[f->member[k]];
    }
    stn_cholesky_forward(f->basis, f->row, f->stride, 1, error, f->stride);
    stn_cholesky_backward(f->basis, f->row, f->stride, 1, error, f->stride);
    memset(s->change, 0, (size_t)s->set->n * sizeof *s->change);
    for (int32_t k = 0; k < f->basis; k++) {
        s->change[f->member[k]] = error[k];
    }
    for (int32_t p = 0; p < s->part_count; p++) {
        norm_part *q = &s->parts[p];
        project(q, s->change, q->dual.g);
        active_set_follow(&q->dual);
        for (int32_t m = 0; m < q->count; m++) {
            double *x = &s->set->x[q->member[m]];
            *x = q->dual.place[m] >= 0 ? 0.0 : fmax(*x + q->dual.g[m], 0.0);
        }
    }
}
