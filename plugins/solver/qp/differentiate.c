// SPDX-License-Identifier: Apache-2.0
// See differentiate.h.
#include "differentiate.h"

#include <math.h>
#include <string.h>

#include "minimum_norm.h"
#include "nearest.h"
#include "pressing.h"

typedef struct derivative {
    rays *rays;
    active_set *set;
    face face;
    double *columns;        // (count x basis) E^T
    double *norm;           // (basis x basis) Cholesky factor of E E^T
    double *left, *y;       // (n), (basis) work
    double *beta, *gamma;   // (n), (row_count) of a correction
    double *impulse, *work; // (nv)
    double *total;          // (columns x n) impulses along the rays
    int32_t *resting;       // (n) signs of what may neither open nor close; 0: whatever it does
    bool *pressing;         // (n) members that the impulses lie strictly inside of
    bool *member;           // (n) of the face: pressing, or bounding a motion that costs nothing
} derivative;

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

/// Has nothing that A leaves open left the start? Then no Jacobian matters to where it stays.
static bool stays(const derivative *d, const double *v, double size) {
    static const double rounding = 1e-12, least = 1e-12; // [m/s] is no speed
    const rays *r = d->rays;
    for (int32_t k = 0; k < r->problem->nv; k++) {
        if (r->proximal[k] > 0.0 && !(fabs(v[k] - r->problem->v_guess[k]) <= (rounding * size + least) * r->scale[k])) {
            return false;
        }
    }
    return true;
}

/// Where A and what presses leave v open it is the nearest to the start, and what bounds it joins the face.
static stn_status add_bounding(derivative *d, const stn_solution *solution, bool *unique, stn_error *err) {
    static const double rounding = 1e-8, least = 1e-12; // [m/s] is no speed
    const stn_problem *p = d->rays->problem;
    const double size = nearest_distance(d->rays, solution->v, p->v_guess);
    double *nearest = STN_ARENA(d->rays->arena, p->nv + 1, double);
    if (nearest == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs: out of memory", p->nv);
    }
    memcpy(nearest, solution->v, (size_t)p->nv * sizeof *nearest);
    stn_status status = nearest_solution(d->rays, d->set, p->v_guess, solution->gamma, nearest, d->member);
    if (status == STN_ERR_MEMORY) {
        return stn_fail(err, status, "%d unknowns: out of memory", d->set->n);
    }
    const double off = nearest_distance(d->rays, solution->v, nearest);
    if (status != STN_OK || !(off <= rounding * size + least)) {
        return stn_fail(err, STN_ERR_NUMERIC,
                        "A is singular, contacts that press leave a motion free that costs nothing, and v is not the "
                        "nearest to the start to digits (off by %g of %g)",
                        off, size);
    }
    pressing_find_resting(d->rays, d->set, solution, d->member, d->resting);
    status = find_face(d, unique, err);
    *unique = *unique || stays(d, solution->v, size);
    return status;
}

/// The face that the derivative is along. unique: v is, or Jacobians do not matter.
static stn_status choose_face(derivative *d, const stn_solution *solution, bool *unique, stn_error *err) {
    stn_arena *arena = d->rays->arena;
    const size_t n = (size_t)d->set->n;
    d->face.member = STN_ARENA(arena, n + 1, int32_t);
    d->pressing = STN_ARENA_ZEROED(arena, n + 1, bool);
    d->member = STN_ARENA_ZEROED(arena, n + 1, bool);
    d->resting = STN_ARENA(arena, n + 1, int32_t);
    if (d->face.member == NULL || d->pressing == NULL || d->member == NULL || d->resting == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d unknowns: out of memory", d->set->n);
    }
    active_set_begin(d->set); // for the sizes
    pressing_mark(d->rays, d->set, solution->gamma, d->pressing);
    pressing_find_resting(d->rays, d->set, solution, d->pressing, d->resting);
    stn_status status = pressing_complete(d->rays, d->set, d->resting, d->pressing);
    if (status != STN_OK) {
        return status == STN_ERR_MEMORY
                   ? stn_fail(err, status, "%d unknowns: out of memory", d->set->n)
                   : stn_fail(err, STN_ERR_NUMERIC, "which contacts press is not found in %d unknowns", d->set->n);
    }
    memcpy(d->member, d->pressing, n * sizeof *d->member);
    memset(d->resting, 0, n * sizeof *d->resting); // with all others open this is the derivative of a mode nearby
    status = find_face(d, unique, err);
    return status != STN_OK || *unique ? status : add_bounding(d, solution, unique, err);
}

static bool prepare(derivative *d, int32_t columns) {
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
    d->total = STN_ARENA_ZEROED(arena, (size_t)columns * (size_t)d->set->n + 1, double);
    d->gamma = STN_ARENA_ZEROED(arena, p->row_count + 1, double);
    d->impulse = STN_ARENA_ZEROED(arena, p->nv + 1, double);
    d->work = STN_ARENA_ZEROED(arena, p->nv + 1, double);
    if (!good || d->total == NULL || d->gamma == NULL || d->impulse == NULL || d->work == NULL) {
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

/// Rates of column k in d->left: members rest, those outside of the basis too, and what rests without force parts to
/// one side of the solution at most.
static stn_status check_rates(derivative *d, int32_t k, double largest, stn_error *err) {
    static const double rounding = 1e-6; // of differences
    double lowest = 0.0, highest = 0.0;
    for (int32_t u = 0; u < d->set->n; u++) {
        if (d->member[u] && !(fabs(d->left[u]) <= rounding * largest)) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "contacts that press and depend on each other would part (column %d, %g of %g)", k,
                            d->left[u], largest);
        }
        const double rate = d->resting[u] * d->left[u];
        lowest = fmin(lowest, rate);
        highest = fmax(highest, rate);
    }
    if (lowest < -rounding * largest && highest > rounding * largest) {
        return stn_fail(err, STN_ERR_NUMERIC,
                        "modes meet here: of contacts that touch without force, or are at the limit of friction, some "
                        "change on either side (column %d, %g and %g of %g)",
                        k, lowest, highest, largest);
    }
    return STN_OK;
}

/// What only bounds a motion that costs nothing has no impulse, and gets none: beside the speeds that it would make.
static stn_status check_impulses(derivative *d, int32_t k, const double *total, double largest, stn_error *err) {
    static const double rounding = 1e-6;
    for (int32_t u = 0; u < d->set->n; u++) {
        const double own = d->set->size[u] * d->set->size[u] * total[u];
        if (d->member[u] && !d->pressing[u] && !(fabs(own) <= rounding * largest)) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "modes meet here: nothing that presses resists an impulse, only what touches without "
                            "force (column %d, %g of %g)",
                            k, own, largest);
        }
    }
    return STN_OK;
}

/// Beside the largest column: velocities are differences, and what should be nothing is rounding of these.
static stn_status check_columns(derivative *d, const stn_sensitivity *s, stn_error *err) {
    const size_t nv = (size_t)d->rays->problem->nv, rows = (size_t)d->rays->problem->row_count;
    double speed = 0.0;
    for (size_t k = 0; k < (size_t)s->columns; k++) {
        speed = fmax(speed, largest_speed(d, s, k));
    }
    stn_status status = STN_OK;
    for (size_t k = 0; k < (size_t)s->columns && status == STN_OK; k++) {
        rays_rates(d->rays, s->dv + k * nv, s->dgamma + k * rows, s->velocity + k * rows, d->left);
        status = check_rates(d, (int32_t)k, speed, err);
        status =
            status == STN_OK ? check_impulses(d, (int32_t)k, d->total + k * (size_t)d->set->n, speed, err) : status;
    }
    return status;
}

/// dv += P^-1 (what is left of the balance + J^T dbeta), with the rows of the basis at rest: where an A is singular
/// again and again, until A alone balances.
static stn_status find_column(derivative *d, const double *impulse, const double *velocity, double *dv, double *dgamma,
                              double *total, stn_error *err) {
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
        active_set_add(d->set->n, 1.0, d->beta, total);
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
                    "modes meet here: A is singular, and what presses does not resist an impulse");
}

stn_status differentiate_rays(rays *r, active_set *set, const stn_solution *solution,
                              const stn_sensitivity *sensitivity, stn_error *err) {
    derivative d = {.rays = r, .set = set};
    bool unique;
    stn_status status = choose_face(&d, solution, &unique, err);
    if (status == STN_OK && !prepare(&d, sensitivity->columns)) {
        status = stn_fail(err, STN_ERR_MEMORY, "%d unknowns: out of memory", set->n);
    }
    for (int32_t k = 0; k < sensitivity->columns && status == STN_OK; k++) {
        const size_t nv = (size_t)k * (size_t)r->problem->nv, rows = (size_t)k * (size_t)r->problem->row_count;
        status = find_column(&d, sensitivity->impulse + nv, sensitivity->velocity + rows, sensitivity->dv + nv,
                             sensitivity->dgamma + rows, d.total + (size_t)k * (size_t)set->n, err);
    }
    status = status == STN_OK ? check_columns(&d, sensitivity, err) : status;
    if (sensitivity->unique != NULL) {
        *sensitivity->unique = unique;
    }
    return status;
}
