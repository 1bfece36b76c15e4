// SPDX-License-Identifier: Apache-2.0
// See differentiate.h.
#include "differentiate.h"

#include <math.h>
#include <string.h>

#include "minimum_norm.h"

typedef struct derivative {
    rays *rays;
    active_set *set;
    face face;
    double *columns;        // (count x basis) E^T
    double *norm;           // (basis x basis) Cholesky factor of E E^T
    double *left, *y;       // (n), (basis) work
    double *beta, *gamma;   // (n), (row_count) of a correction
    double *impulse, *work; // (nv)
    bool *member;           // (n) of the face
} derivative;

/// What is less is no impulse, beside the largest of its kind.
static const double none = 1e-11;

/// Unknowns of a cone that its impulse lies strictly between.
static void mark_cone(derivative *d, int32_t i, const double *gamma, double largest) {
    const int32_t first = d->rays->start[i], count = d->rays->start[i + 1] - first;
    if (!(gamma[2] > none * largest)) {
        return;
    }
    if (count == 1) {
        d->member[first] = true;
        return;
    }
    const rays_sector sector = rays_find_sector(d->rays, i, gamma);
    const bool inside = sector.along[0] + sector.along[1] < (1.0 - 1e-9) * gamma[2];
    for (int32_t k = 0; k < count; k++) {
        d->member[first + k] = d->member[first + k] || inside;
    }
    for (int32_t k = 0; k < 2; k++) {
        d->member[first + sector.ray[k]] = d->member[first + sector.ray[k]] || sector.along[k] > 1e-9 * gamma[2];
    }
}

/// Adds the unknowns that gamma is strictly inside of.
static void mark_pressing(derivative *d, const double *gamma) {
    const stn_problem *p = d->rays->problem;
    double largest = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        largest = stn_constraint_has_cone(c) ? fmax(largest, gamma[c->row + 2]) : largest;
        for (int32_t k = 0; k < c->rows && !stn_constraint_has_cone(c); k++) {
            const int32_t u = d->rays->start[i] + k;
            if (gamma[c->row + k] > d->set->lo[u] && gamma[c->row + k] < d->set->hi[u]) {
                d->member[u] = true;
            }
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (stn_constraint_has_cone(c)) {
            mark_cone(d, i, gamma + c->row, largest);
        }
    }
}

/// Adds L^-1 delta D L^-T of tree t, times -1, and the identity to M (nv x nv); x (n_t) is work.
static void add_share(const rays *r, int32_t t, double *x, double *M) {
    const size_t nv = (size_t)r->problem->nv;
    const int32_t n = r->problem->trees[t].A.n, start = r->problem->trees[t].dof_start;
    for (int32_t i = 0; i < n; i++) {
        M[(size_t)(start + i) * (nv + 1)] += 1.0;
        memset(x, 0, (size_t)n * sizeof *x);
        x[i] = sqrt(r->proximal[start + i]);
        stn_cholesky_forward(n, r->factor[t], n, 1, x, n);
        for (int32_t k = i; k < n; k++) { // above i there is nothing
            active_set_add(k + 1, -x[k], x, M + (size_t)(start + k) * nv + (size_t)start);
        }
    }
}

/// Do A and the rows of the basis together determine v? With P = L L^T and Y = L^-1 J_B^T all eigenvalues of
///     L^-1 A L^-T + Y H_BB^-1 Y^T
/// are beyond rounding then, which are between 0 and 1 each.
static stn_status is_determined(derivative *d, bool *out, stn_error *err) {
    static const double least = 1e-8;
    rays *r = d->rays;
    const face *f = &d->face;
    const stn_problem *p = r->problem;
    const size_t nv = (size_t)p->nv;
    *out = r->proximal == NULL;
    if (*out) {
        return STN_OK;
    }
    double *M = STN_ARENA_ZEROED(r->arena, nv * nv + 8, double), *x = STN_ARENA(r->arena, nv + 8, double);
    double *Z = STN_ARENA_ZEROED(r->arena, (size_t)f->basis * nv + 1, double);
    double *beta = STN_ARENA_ZEROED(r->arena, d->set->n + 1, double);
    if (M == NULL || x == NULL || Z == NULL || beta == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs as a full matrix: out of memory", p->nv);
    }
    for (int32_t t = 0; t < p->tree_count; t++) {
        add_share(r, t, x, M);
    }
    for (int32_t k = 0; k < f->basis; k++) {
        const double *l = f->row + (size_t)k * (size_t)f->stride;
        double *z = Z + (size_t)k * nv;
        beta[f->member[k]] = 1.0;
        rays_impulses(r, beta, r->gamma);
        beta[f->member[k]] = 0.0;
        stn_problem_jacobian_transposed_add(p, 1.0, r->gamma, z);
        for (int32_t t = 0; t < p->tree_count; t++) {
            const int32_t n = p->trees[t].A.n;
            stn_cholesky_forward(n, r->factor[t], n, 1, z + p->trees[t].dof_start, n);
        }
        for (int32_t j = 0; j < k; j++) {
            active_set_add(p->nv, -l[j], Z + (size_t)j * nv, z);
        }
        for (int32_t i = 0; i < p->nv; i++) {
            z[i] /= l[k];
        }
        for (int32_t i = 0; i < p->nv; i++) {
            active_set_add(i + 1, z[i], z, M + (size_t)i * nv);
        }
    }
    for (size_t i = 0; i < nv; i++) {
        M[i * (nv + 1)] -= least;
    }
    *out = stn_cholesky(p->nv, M, p->nv) < 0;
    return STN_OK;
}

/// The face of the unknowns marked so far, its basis, and whether v is unique on it.
static stn_status find_face(derivative *d, bool *unique, stn_error *err) {
    d->face = (face){.member = d->face.member};
    for (int32_t u = 0; u < d->set->n; u++) {
        if (d->member[u]) {
            d->face.member[d->face.count++] = u;
        }
    }
    if (!face_find_basis(d->set, 0, d->rays->arena, &d->face)) {
        return stn_fail(err, STN_ERR_MEMORY, "%d unknowns: out of memory", d->set->n);
    }
    return is_determined(d, unique, err);
}

/// The largest difference in v.
static double apart(const derivative *d, const double *a, const double *b) {
    double most = 0.0;
    for (int32_t k = 0; k < d->rays->problem->nv; k++) {
        most = fmax(most, fabs(a[k] - b[k]) / d->rays->scale[k]);
    }
    return most;
}

/// Unmarks what moves at the solution, beyond rounding beside the speeds there; false: there was any.
static bool keep_resting(derivative *d, const stn_solution *solution) {
    static const double rounding = 1e-8;
    const stn_problem *p = d->rays->problem;
    double *speeds = d->rays->speed, *g = d->set->g, largest = 0.0;
    bool all = true;
    stn_problem_contact_velocity(p, solution->v, true, speeds);
    for (int32_t k = 0; k < p->row_count; k++) {
        largest = fmax(largest, fmax(fabs(speeds[k]), fabs(p->v_hat[k])));
    }
    rays_speeds(d->rays, solution->v, solution->gamma, speeds);
    rays_gradient(d->rays, speeds, g);
    for (int32_t u = 0; u < d->set->n; u++) {
        if (d->member[u] && !(fabs(g[u]) <= rounding * largest)) {
            d->member[u] = all = false;
        }
    }
    return all;
}

/// Where A and what presses leave v open it is the v that proximal steps come to from rest, and what pressed in any of
/// them and rests at the end bounds it, too. whole: they come to this v, and all that pressed rests.
static stn_status mark_bounding(derivative *d, const stn_solution *solution, bool *whole, stn_error *err) {
    enum { MOST = 100 };
    rays *r = d->rays;
    active_set *set = d->set;
    const stn_problem *p = r->problem;
    double *own = STN_ARENA_ZEROED(r->arena, p->nv + 1, double), *rest = STN_ARENA_ZEROED(r->arena, p->nv + 1, double);
    double *gamma = STN_ARENA_ZEROED(r->arena, p->row_count + 1, double);
    if (own == NULL || rest == NULL || gamma == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs: out of memory", p->nv);
    }
    const double size = apart(d, solution->v, rest);
    bool there = false;
    active_set_begin(set);
    for (int32_t k = 0; k < MOST && !there; k++) {
        int32_t moves = 0;
        rays_centre(r, own, set);
        if (active_set_solve(set, 10 * set->n + 100, &moves) != ACTIVE_SET_SOLVED) {
            break;
        }
        rays_impulses(r, set->x, gamma);
        rays_velocity(r, gamma, own);
        mark_pressing(d, gamma);
        there = apart(d, solution->v, own) <= 1e-8 * size;
    }
    *whole = keep_resting(d, solution) && there;
    return STN_OK;
}

/// The face that the derivative is along; unique: v is.
static stn_status choose_face(derivative *d, const stn_solution *solution, bool *unique, stn_error *err) {
    bool whole = true;
    d->face.member = STN_ARENA(d->rays->arena, d->set->n + 1, int32_t);
    d->member = STN_ARENA_ZEROED(d->rays->arena, d->set->n + 1, bool);
    if (d->face.member == NULL || d->member == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d unknowns: out of memory", d->set->n);
    }
    active_set_begin(d->set); // for the sizes
    mark_pressing(d, solution->gamma);
    stn_status status = find_face(d, unique, err);
    if (status != STN_OK || *unique) {
        return status;
    }
    status = mark_bounding(d, solution, &whole, err);
    status = status == STN_OK ? find_face(d, unique, err) : status;
    if (status == STN_OK && !*unique && !whole) {
        status =
            stn_fail(err, STN_ERR_NUMERIC,
                     "the solution does not determine its derivative: A is singular, and contacts that press leave "
                     "a motion free that costs nothing");
    }
    return status;
}

static bool prepare(derivative *d) {
    const stn_problem *p = d->rays->problem;
    stn_arena *arena = d->rays->arena;
    const size_t q = (size_t)d->face.basis, count = (size_t)d->face.count;
    d->columns = STN_ARENA_ZEROED(arena, count * q + 1, double);
    d->norm = STN_ARENA_ZEROED(arena, q * q + 8, double);
    double **const vectors[] = {&d->left, &d->y, &d->beta};
    bool good = d->columns != NULL && d->norm != NULL;
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = STN_ARENA_ZEROED(arena, d->set->n + 8, double);
        good = good && *vectors[i] != NULL;
    }
    d->gamma = STN_ARENA_ZEROED(arena, p->row_count + 1, double);
    d->impulse = STN_ARENA_ZEROED(arena, p->nv + 1, double);
    d->work = STN_ARENA_ZEROED(arena, p->nv + 1, double);
    if (!good || d->gamma == NULL || d->impulse == NULL || d->work == NULL) {
        return false;
    }
    for (size_t m = 0; m < count; m++) {
        double *own = d->columns + m * q;
        face_column(&d->face, (int32_t)m, own);
        for (size_t k = 0; k < q; k++) {
            active_set_add((int32_t)k + 1, own[k], own, d->norm + k * q);
        }
    }
    return stn_cholesky((int32_t)q, d->norm, (int32_t)q) < 0;
}

/// The least dbeta with H_BF dbeta = -left_B.
static void find_beta(derivative *d) {
    const face *f = &d->face;
    const int32_t q = f->basis;
    double *y = d->y;
    for (int32_t k = 0; k < q; k++) {
        y[k] = -d->left[f->member[k]];
    }
    stn_cholesky_forward(q, f->row, f->stride, 1, y, q);
    stn_cholesky_backward(q, f->row, f->stride, 1, y, q);
    stn_cholesky_forward(q, d->norm, q, 1, y, q);
    stn_cholesky_backward(q, d->norm, q, 1, y, q);
    for (int32_t m = 0; m < f->count; m++) {
        d->beta[f->member[m]] = active_set_dot(q, d->columns + (size_t)m * (size_t)q, y);
    }
}

/// |D x|.
static double scaled_norm(const derivative *d, const double *x) {
    double sum = 0.0;
    for (int32_t k = 0; k < d->rays->problem->nv; k++) {
        double scaled = d->rays->scale[k] * x[k];
        sum += scaled * scaled;
    }
    return sqrt(sum);
}

/// What is left of the balance into d->impulse; its norm, and that of the largest of its terms.
static proximal_balance find_balance(derivative *d, const double *impulse, const double *dv, const double *dgamma) {
    const stn_problem *p = d->rays->problem;
    double size = scaled_norm(d, impulse);
    stn_problem_mass_times(p, dv, NULL, d->impulse);
    size = fmax(size, scaled_norm(d, d->impulse));
    for (int32_t i = 0; i < p->constraint_count; i++) { // of which the sum may be nothing
        const stn_constraint *c = &p->constraints[i];
        memset(d->work, 0, (size_t)p->nv * sizeof *d->work);
        stn_constraint_transposed_add(p, c, 1.0, dgamma + c->row, d->work);
        size = fmax(size, scaled_norm(d, d->work));
    }
    for (int32_t k = 0; k < p->nv; k++) {
        d->impulse[k] = impulse[k] - d->impulse[k];
    }
    stn_problem_jacobian_transposed_add(p, 1.0, dgamma, d->impulse);
    return (proximal_balance){scaled_norm(d, d->impulse), size};
}

/// The largest speed in a column, and of what its impulses would give without constraints.
static double largest_speed(derivative *d, const stn_sensitivity *s, size_t column) {
    const size_t nv = (size_t)d->rays->problem->nv, rows = (size_t)d->rays->problem->row_count;
    const double *impulse = s->impulse + column * nv, *velocity = s->velocity + column * rows;
    const double *dv = s->dv + column * nv, *dgamma = s->dgamma + column * rows, *scale = d->rays->scale;
    const stn_problem *p = d->rays->problem;
    double *speeds = d->rays->speed, largest = 0.0;
    stn_problem_contact_velocity(p, dv, false, speeds);
    for (int32_t k = 0; k < p->nv; k++) {
        largest = fmax(largest, fmax(fabs(dv[k]), scale[k] * scale[k] * fabs(impulse[k])));
    }
    for (int32_t k = 0; k < p->row_count; k++) {
        largest = fmax(largest, fmax(fabs(speeds[k]), fmax(fabs(velocity[k]), fabs(p->R[k] * dgamma[k]))));
    }
    return largest;
}

/// Members outside the basis depend on it; do they move as they must? Beside the largest column: velocities are
/// differences, and what should be nothing is rounding of these.
static stn_status check_members(derivative *d, const stn_sensitivity *s, stn_error *err) {
    static const double rounding = 1e-6;
    const size_t nv = (size_t)d->rays->problem->nv, rows = (size_t)d->rays->problem->row_count;
    double largest = 0.0;
    for (size_t k = 0; k < (size_t)s->columns; k++) {
        largest = fmax(largest, largest_speed(d, s, k));
    }
    for (size_t k = 0; k < (size_t)s->columns; k++) {
        rays_rates(d->rays, s->dv + k * nv, s->dgamma + k * rows, s->velocity + k * rows, d->left);
        for (int32_t m = 0; m < d->face.count; m++) {
            const double g = d->left[d->face.member[m]];
            if (!(fabs(g) <= rounding * largest)) {
                return stn_fail(err, STN_ERR_NUMERIC,
                                "the solution has no derivative: contacts that press and depend on each other would "
                                "part (column %d, %g of %g)",
                                (int32_t)k, g, largest);
            }
        }
    }
    return STN_OK;
}

/// dv += P^-1 (what is left of the balance + J^T dbeta), with the rows of the basis at rest: where an A is singular
/// again and again, until A alone balances.
static stn_status find_column(derivative *d, const double *impulse, const double *velocity, double *dv, double *dgamma,
                              stn_error *err) {
    enum { MOST = 500 };
    rays *r = d->rays;
    const stn_problem *p = r->problem;
    memset(dv, 0, (size_t)p->nv * sizeof *dv);
    memset(dgamma, 0, (size_t)p->row_count * sizeof *dgamma);
    double before = INFINITY, size = 0.0;
    find_balance(d, impulse, dv, dgamma);
    for (int32_t k = 0; k < MOST; k++) {
        rays_divide(r, d->impulse);
        for (int32_t i = 0; i < p->nv; i++) {
            dv[i] += d->impulse[i];
        }
        rays_rates(r, dv, dgamma, velocity, d->left);
        find_beta(d);
        rays_impulses(r, d->beta, d->gamma);
        memset(d->impulse, 0, (size_t)p->nv * sizeof *d->impulse);
        stn_problem_jacobian_transposed_add(p, 1.0, d->gamma, d->impulse);
        rays_divide(r, d->impulse);
        for (int32_t i = 0; i < p->nv; i++) {
            dv[i] += d->impulse[i];
        }
        for (int32_t i = 0; i < p->row_count; i++) {
            dgamma[i] += d->gamma[i];
        }
        const proximal_balance balance = find_balance(d, impulse, dv, dgamma);
        const double now = balance.value;
        size = fmax(size, balance.size); // steps on the way may be all that there is to compare with
        const bool last = now > 0.5 * before || (k > 0 && r->proximal == NULL); // digits allow no less
        if (now <= 1e-14 * size || (last && now <= 1e-8 * size)) {
            return STN_OK;
        }
        if (!(now <= 0.999 * before)) {
            break;
        }
        before = now;
    }
    return stn_fail(err, STN_ERR_NUMERIC,
                    "the solution does not determine its derivative: nothing resists an impulse where A is singular");
}

stn_status differentiate_rays(rays *r, active_set *set, const stn_solution *solution,
                              const stn_sensitivity *sensitivity, stn_error *err) {
    derivative d = {.rays = r, .set = set};
    bool unique;
    stn_status status = choose_face(&d, solution, &unique, err);
    if (status == STN_OK && !prepare(&d)) {
        status = stn_fail(err, STN_ERR_MEMORY, "%d unknowns: out of memory", set->n);
    }
    for (int32_t k = 0; k < sensitivity->columns && status == STN_OK; k++) {
        const size_t nv = (size_t)k * (size_t)r->problem->nv, rows = (size_t)k * (size_t)r->problem->row_count;
        status = find_column(&d, sensitivity->impulse + nv, sensitivity->velocity + rows, sensitivity->dv + nv,
                             sensitivity->dgamma + rows, err);
    }
    status = status == STN_OK ? check_members(&d, sensitivity, err) : status;
    if (sensitivity->unique != NULL) {
        *sensitivity->unique = unique;
    }
    return status;
}
