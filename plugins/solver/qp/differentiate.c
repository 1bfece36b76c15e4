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
} derivative;

/// What is less is no impulse, beside the largest of its kind.
static const double none = 1e-11;

/// Unknowns of a cone that its impulse lies strictly between.
static void add_cone(derivative *d, int32_t i, const double *gamma, double largest) {
    const stn_constraint *c = &d->rays->problem->constraints[i];
    const int32_t first = d->rays->start[i], count = d->rays->start[i + 1] - first;
    face *f = &d->face;
    if (!(gamma[2] > none * largest)) {
        return;
    }
    if (count == 1) {
        f->member[f->count++] = first;
        return;
    }
    const double mu2 = c->set == STN_SET_ELLIPSE ? c->mu2 : c->mu1, sector = 2.0 * STN_PI / count;
    const double a = c->mu1 > 0.0 ? gamma[0] / (c->mu1 * gamma[2]) : 0.0;
    const double b = mu2 > 0.0 ? gamma[1] / (mu2 * gamma[2]) : 0.0;
    const double turns = atan2(b, a) / sector, whole = floor(turns), angle = (turns - whole) * sector;
    const double length = sqrt(a * a + b * b), next = length * sin(angle) / sin(sector);
    const double own = length * cos(angle) - next * cos(sector);
    const int32_t j = ((int32_t)whole % count + count) % count;
    const bool inside = own + next < 1.0 - 1e-9;
    for (int32_t k = 0; k < count; k++) {
        bool carries = (k == j && own > 1e-9) || (k == (j + 1) % count && next > 1e-9);
        if (inside || carries) {
            f->member[f->count++] = first + k;
        }
    }
}

static void find_face(derivative *d, const double *gamma) {
    const stn_problem *p = d->rays->problem;
    double largest = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        largest = stn_constraint_has_cone(c) ? fmax(largest, gamma[c->row + 2]) : largest;
        for (int32_t k = 0; k < c->rows && !stn_constraint_has_cone(c); k++) {
            const int32_t u = d->rays->start[i] + k;
            if (gamma[c->row + k] > d->set->lo[u] && gamma[c->row + k] < d->set->hi[u]) {
                d->face.member[d->face.count++] = u;
            }
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (stn_constraint_has_cone(c)) {
            add_cone(d, i, gamma + c->row, largest);
        }
    }
}

static bool prepare(derivative *d, const double *gamma) {
    const stn_problem *p = d->rays->problem;
    stn_arena *arena = d->rays->arena;
    d->face.member = STN_ARENA(arena, d->set->n + 1, int32_t);
    if (d->face.member == NULL) {
        return false;
    }
    active_set_begin(d->set); // for the sizes
    find_face(d, gamma);
    if (!face_find_basis(d->set, 0, arena, &d->face)) {
        return false;
    }
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
        const double *l = f->row + (size_t)f->order[k] * (size_t)f->stride;
        y[k] = (-d->left[f->member[f->order[k]]] - active_set_dot(k, l, y)) / l[k];
    }
    for (int32_t k = q - 1; k >= 0; k--) {
        const double *l = f->row + (size_t)f->order[k] * (size_t)f->stride;
        y[k] /= l[k];
        active_set_add(k, -y[k], l, y);
    }
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
static rays_momentum find_balance(derivative *d, const double *impulse, const double *dv, const double *dgamma) {
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
    return (rays_momentum){scaled_norm(d, d->impulse), size};
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
        const rays_momentum balance = find_balance(d, impulse, dv, dgamma);
        const double now = balance.value;
        size = fmax(size, balance.size); // steps on the way may be all that there is to compare with
        if (now <= 1e-14 * size || (now > 0.5 * before && now <= 1e-8 * size) || (k > 0 && r->proximal == NULL)) {
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
    if (!prepare(&d, solution->gamma)) {
        return stn_fail(err, STN_ERR_MEMORY, "%d unknowns: out of memory", set->n);
    }
    stn_status status = STN_OK;
    for (int32_t k = 0; k < sensitivity->columns && status == STN_OK; k++) {
        const size_t nv = (size_t)k * (size_t)r->problem->nv, rows = (size_t)k * (size_t)r->problem->row_count;
        status = find_column(&d, sensitivity->impulse + nv, sensitivity->velocity + rows, sensitivity->dv + nv,
                             sensitivity->dgamma + rows, err);
    }
    return status;
}
