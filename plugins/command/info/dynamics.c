// SPDX-License-Identifier: Apache-2.0
// Mass matrix and gravity forces of a robot at rest, q = G s + c: with mimic joints every row of G has one entry, the
// product of multipliers down to the joint that mimics nothing, so that
//   M_red = G^T M G,  g_red = G^T g,  cond_2(M) = largest / smallest eigenvalue.
#include <float.h>
#include <string.h>

#include "common/eigenvalues.h"
#include "info.h"

// Dense matrices grow with the square of the degrees of freedom, their eigenvalues with the cube.
enum { MOST_FOR_MATRIX = 2000, MOST_FOR_EIGENVALUES = 1000 };

typedef struct coordinates {
    const stn_model *model;
    int32_t tree_count;    // trees of joints, and
    int32_t nv;            // their velocities: those of nodes come after them
    const cli_chain *rows; // (nv) of G: the velocity that is no mimic joint's, and its weight
    int32_t *number;       // (nv) place among the reduced coordinates, -1: a mimic joint
    double *M;             // (nv x nv)
    double *M_reduced;     // (dof_reduced x dof_reduced)
} coordinates;

static double trace(const double *M, int32_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < (size_t)n; i++) {
        sum += M[i * ((size_t)n + 1)];
    }
    return sum;
}

/// NaN when the smallest eigenvalue is 0 within round-off, or when there is none. M is destroyed.
static double condition_of(double *M, int32_t n, double *lambda) {
    if (n == 0 || symmetric_eigenvalues(n, M, lambda, NULL) != STN_OK) {
        return (double)NAN;
    }
    double low = lambda[0], high = lambda[n - 1];
    return low > 4.0 * DBL_EPSILON * (double)n * high ? high / low : (double)NAN;
}

static stn_status compute_matrices(info_report *r, coordinates *c, stn_error *err) {
    size_t n = (size_t)c->nv, reduced = r->counts.mimic > 0 ? n - (size_t)r->counts.mimic : 0;
    info_dynamics *d = &r->dynamics;
    c->M = STN_ARENA_ZEROED(r->arena, n * n, double);
    c->M_reduced = STN_ARENA_ZEROED(r->arena, reduced * reduced, double);
    if (c->M == NULL || c->M_reduced == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", r->robot.path);
    }
    const stn_model *m = c->model;
    for (int32_t t = 0; t < c->tree_count; t++) { // without rotors; mimic joints may couple trees
        const stn_tree *tree = &m->trees[t];
        size_t size = (size_t)tree->nv, start = (size_t)tree->v_start;
        stn_matrix block = {.n = tree->nv, .form = STN_MATRIX_DENSE};
        block.values = size == n ? c->M : stn_arena_zeroed(r->arena, size * size, sizeof *block.values);
        if (block.values == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", r->robot.path);
        }
        stn_mass_matrix(r->kinematics, t, &block);
        for (size_t i = 0; i < size; i++) {
            memmove(c->M + (start + i) * n + start, block.values + i * size, size * sizeof *c->M);
            c->M[(start + i) * (n + 1)] -= m->joints[m->dof_joint[start + i]].reflected_inertia;
        }
    }
    d->full.mass_trace = d->reduced.mass_trace = trace(c->M, c->nv);
    if (r->counts.mimic > 0) {
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                cli_chain a = c->rows[i], b = c->rows[j];
                size_t row = (size_t)c->number[a.master], column = (size_t)c->number[b.master];
                c->M_reduced[row * reduced + column] += a.scale * b.scale * c->M[i * n + j];
            }
        }
        d->reduced.mass_trace = trace(c->M_reduced, (int32_t)reduced);
    }
    if (n > MOST_FOR_EIGENVALUES) {
        d->note = "more than 1000 degrees of freedom: no condition number";
        return STN_OK;
    }
    if (!(r->counts.mass > 0.0) || n == 0) {
        return STN_OK;
    }
    double *lambda = STN_ARENA(r->arena, c->nv, double);
    if (lambda == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", r->robot.path);
    }
    bool finite = isfinite(d->full.mass_trace) && isfinite(d->reduced.mass_trace);
    d->full.condition = d->reduced.condition = condition_of(c->M, c->nv, lambda);
    if (r->counts.mimic > 0) {
        d->reduced.condition = condition_of(c->M_reduced, (int32_t)reduced, lambda);
    }
    if (isnan(d->full.condition)) {
        d->note = finite ? "the mass matrix is singular: some joint moves no mass, or too little of it"
                         : "the mass matrix overflows: masses or lengths are too large";
    }
    return STN_OK;
}

static double norm(const double *x, int32_t n) {
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

stn_status info_compute(info_report *r, stn_error *err) {
    coordinates c = {.model = r->robot.model};
    r->dynamics = (info_dynamics){.full.condition = (double)NAN, .reduced.condition = (double)NAN};
    stn_kinematics_update(r->kinematics, r->q, r->v);
    const stn_model *m = c.model;
    while (c.tree_count < m->tree_count && m->trees[c.tree_count].kind == STN_TREE_ARTICULATED) {
        c.nv += m->trees[c.tree_count++].nv;
    }
    cli_chain *rows = STN_ARENA(r->arena, c.nv, cli_chain);
    c.number = STN_ARENA(r->arena, c.nv, int32_t);
    if (rows == NULL || c.number == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", r->robot.path);
    }
    int32_t count = 0;
    for (int32_t i = 0; i < c.nv; i++) {
        const cli_chain *chain = &r->robot.chains[m->dof_joint[i]];
        bool follows = m->joints[m->dof_joint[i]].mimic >= 0;
        rows[i] = follows ? (cli_chain){m->joints[chain->master].v_start, chain->scale, 0.0} : (cli_chain){i, 1.0, 0.0};
        c.number[i] = follows ? -1 : count++;
    }
    c.rows = rows;
    info_dynamics *d = &r->dynamics;
    stn_spatial *scratch = STN_ARENA(r->arena, m->body_count, stn_spatial);
    d->full.gravity = STN_ARENA_ZEROED(r->arena, c.nv, double);
    d->reduced.gravity = STN_ARENA_ZEROED(r->arena, c.nv, double);
    if (scratch == NULL || d->full.gravity == NULL || d->reduced.gravity == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", r->robot.path);
    }
    for (int32_t t = 0; t < c.tree_count; t++) {
        stn_gravity_efforts(r->kinematics, t, stn_vec3_make(0.0, 0.0, -9.81), scratch,
                            d->full.gravity + m->trees[t].v_start);
    }
    for (int32_t i = 0; i < c.nv; i++) {
        d->reduced.gravity[rows[i].master] += rows[i].scale * d->full.gravity[i];
    }
    d->full.gravity_norm = norm(d->full.gravity, c.nv);
    d->reduced.gravity_norm = norm(d->reduced.gravity, c.nv);
    stn_status status = STN_OK;
    if (c.nv <= MOST_FOR_MATRIX) {
        status = compute_matrices(r, &c, err);
    } else {
        d->full.mass_trace = d->reduced.mass_trace = (double)NAN;
        d->note = "more than 2000 degrees of freedom: no mass matrix";
    }
    if (r->counts.mass == 0.0) {
        d->note = m->node_count > 0 ? "no link has a mass, soft bodies have: their figures stand with their nodes"
                                    : "no link has a mass: good for kinematics only";
    }
    return status;
}
