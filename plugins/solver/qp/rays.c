// SPDX-License-Identifier: Apache-2.0
// See rays.h.
#include "rays.h"

#include <math.h>
#include <string.h>

#include "common/vectors.h"

enum { MOST_INDEXED = INT32_MAX / 3 }; // so that the three numbers of every ray have an index, too

// ----------------------------------------------------------------------------------------------------------- unknowns

static int32_t unknowns_of(const stn_constraint *c, int32_t directions) {
    if (!stn_constraint_has_cone(c)) {
        return c->rows;
    }
    return c->mu1 > 0.0 || (c->set == STN_SET_ELLIPSE && c->mu2 > 0.0) ? directions : 1;
}

int64_t rays_count(const stn_problem *problem, int32_t directions) {
    int64_t n = 0;
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        n += unknowns_of(&problem->constraints[i], directions);
    }
    return n;
}

/// Opposite rays are exactly so, and those along an axis, too.
static void make_rays(const stn_constraint *c, int32_t count, double *ray) {
    const double mu1 = c->mu1, mu2 = c->set == STN_SET_ELLIPSE ? c->mu2 : c->mu1;
    const int32_t half = count / 2;
    if (count == 1) {
        ray[2] = 1.0;
        return;
    }
    for (int32_t j = 0; j < half; j++) {
        bool upright = 2 * j == half;
        double *one = ray + 3 * (size_t)j, *other = one + 3 * (size_t)half;
        one[0] = upright ? 0.0 : mu1 * cos(STN_PI * j / half);
        one[1] = upright ? mu2 : mu2 * sin(STN_PI * j / half);
        other[0] = -one[0];
        other[1] = -one[1];
        one[2] = other[2] = 1.0;
    }
}

static stn_status make_unknowns(rays *r, rays_form form, active_set *set, stn_error *err) {
    const stn_problem *p = r->problem;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        r->start[i] = r->n;
        r->n += unknowns_of(&p->constraints[i], r->directions);
    }
    r->start[p->constraint_count] = r->n;
    r->ray = STN_ARENA_ZEROED(r->arena, 3 * (size_t)r->n + 1, double);
    bool created =
        form == RAYS_DENSE ? active_set_create(set, r->n, r->arena) : active_set_create_vectors(set, r->n, r->arena);
    if (r->ray == NULL || !created) {
        return stn_fail(err, STN_ERR_MEMORY, "%d unknowns: out of memory", r->n);
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        const int32_t first = r->start[i], count = r->start[i + 1] - first;
        if (stn_constraint_has_cone(c)) {
            make_rays(c, count, r->ray + 3 * (size_t)first);
        }
        for (int32_t k = 0; k < count; k++) {
            bool cone = stn_constraint_has_cone(c), free = c->set == STN_SET_EQUALITY;
            set->lo[first + k] = cone ? 0.0 : (free ? -(double)INFINITY : p->lo[c->row + k]);
            set->hi[first + k] = cone || free ? (double)INFINITY : p->hi[c->row + k];
        }
    }
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------------------- operator

/// H of unknowns a of constraint i and b of constraint j gets r_a^T W r_b, and its mirror image. W: rows_i x rows_j.
static void put_block(const rays *r, int32_t i, int32_t j, const double *W, active_set *set) {
    const stn_constraint *ci = &r->problem->constraints[i], *cj = &r->problem->constraints[j];
    const bool cone_i = stn_constraint_has_cone(ci), cone_j = stn_constraint_has_cone(cj);
    for (int32_t a = r->start[i]; a < r->start[i + 1]; a++) {
        const double *ray = r->ray + 3 * (size_t)a;
        double row[STN_MAX_ROWS];
        for (int32_t k = 0; k < cj->rows; k++) {
            row[k] = cone_i ? ray[0] * W[k] + ray[1] * W[cj->rows + k] + ray[2] * W[2 * cj->rows + k]
                            : W[(a - r->start[i]) * cj->rows + k];
        }
        for (int32_t b = r->start[j]; b < r->start[j + 1]; b++) {
            const double *other = r->ray + 3 * (size_t)b;
            double value = cone_j ? other[0] * row[0] + other[1] * row[1] + other[2] * row[2] : row[b - r->start[j]];
            set->H[(size_t)a * (size_t)set->stride + (size_t)b] += value;
            if (i != j) {
                set->H[(size_t)b * (size_t)set->stride + (size_t)a] += value;
            }
        }
    }
}

static void put_compliance(const rays *r, active_set *set) {
    for (int32_t i = 0; i < r->problem->constraint_count; i++) {
        const stn_constraint *c = &r->problem->constraints[i];
        double R[STN_MAX_ROWS * STN_MAX_ROWS] = {0.0};
        for (int32_t k = 0; k < c->rows; k++) {
            R[k * (c->rows + 1)] = r->problem->R[c->row + k];
        }
        put_block(r, i, i, R, set);
    }
}

/// The symmetric part of W.
static void assemble_local(const rays *r, active_set *set) {
    const stn_delassus *d = &r->delassus;
    for (int32_t i = 0; i < d->n; i++) {
        for (int32_t e = d->row_start[i]; e < d->row_start[i + 1]; e++) {
            const int32_t j = d->column[e], rows = r->problem->constraints[i].rows,
                          columns = r->problem->constraints[j].rows;
            double half[STN_MAX_ROWS * STN_MAX_ROWS];
            for (int32_t k = 0; k < rows * columns; k++) {
                half[k] = i != j ? 0.5 * d->values[d->offset[e] + k]
                                 : 0.5 * (d->values[d->offset[e] + k] +
                                          d->values[d->offset[e] + k % columns * columns + k / columns]);
            }
            put_block(r, i, j, half, set);
        }
    }
}

/// A constraint's rows in one tree, L^-1 applied.
typedef struct touch {
    int32_t constraint;
    const double *X; // (rows x n_t)
} touch;

/// W = X Y^T.
STN_KERNEL static void multiply(int32_t n, int32_t rows, int32_t columns, const double *X, const double *Y, double *W) {
    multiply_rows(n, rows, columns, X, Y, n, W);
}

/// Adds what goes through one tree: J_i P_t^-1 J_j^T of all its constraints.
static bool assemble_tree(rays *r, int32_t t, active_set *set) {
    const stn_problem *p = r->problem;
    const int32_t n = p->trees[t].A.n;
    int32_t count = 0, rows = 0;
    touch *touches = STN_ARENA(r->arena, p->constraint_count + 1, touch);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        for (int32_t k = 0; k < stn_constraint_block_count(&p->constraints[i]); k++) {
            rows += stn_constraint_block(&p->constraints[i], k)->tree == t ? p->constraints[i].rows : 0;
        }
    }
    double *X = STN_ARENA_ZEROED(r->arena, (size_t)rows * (size_t)n + 1, double);
    if (touches == NULL || X == NULL) {
        return false;
    }
    double *to = X;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
            const stn_jacobian *J = stn_constraint_block(c, k);
            if (J->tree != t) {
                continue;
            }
            if (J->node_count == 0) {
                memcpy(to, J->values, (size_t)c->rows * (size_t)n * sizeof *to);
            }
            for (int32_t b = 0; b < J->node_count; b++) {
                for (int32_t row = 0; row < c->rows; row++) {
                    const int32_t m = J->node_size;
                    memcpy(to + row * n + m * J->node[b], J->values + m * (c->rows * b + row), (size_t)m * sizeof *to);
                }
            }
            touches[count++] = (touch){i, to};
            to += c->rows * n;
        }
    }
    stn_cholesky_forward(n, r->factor[t], n, rows, X, n);
    for (int32_t a = 0; a < count; a++) {
        const int32_t i = touches[a].constraint;
        for (int32_t b = 0; b <= a; b++) {
            double W[STN_MAX_ROWS * STN_MAX_ROWS];
            const int32_t j = touches[b].constraint;
            multiply(n, p->constraints[i].rows, p->constraints[j].rows, touches[a].X, touches[b].X, W);
            put_block(r, i, j, W, set);
        }
    }
    return true;
}

/// factor[t] of A + delta D.
static stn_status factor_tree(rays *r, int32_t t, stn_error *err) {
    const stn_problem_tree *tree = &r->problem->trees[t];
    const int32_t n = tree->A.n;
    double *L = r->factor[t] = STN_ARENA_ZEROED(r->arena, (size_t)n * (size_t)n + 8, double);
    if (L == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "tree %d: %d dofs as a full matrix: out of memory", t, n);
    }
    stn_matrix dense = {.n = n, .form = STN_MATRIX_DENSE, .values = L};
    if (tree->A.form == STN_MATRIX_NODAL) {
        const stn_matrix *A = &tree->A;
        const int32_t m = A->node_size;
        for (int32_t i = 0; i < A->node_count; i++) {
            for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
                const double *block = A->values + (int64_t)m * m * e;
                for (int32_t k = 0; k < m * m; k++) {
                    L[(size_t)(m * i + k / m) * (size_t)n + (size_t)(m * A->column[e] + k % m)] = block[k];
                }
            }
        }
    } else if (tree->A.form != STN_MATRIX_ZERO) {
        stn_status status = stn_matrix_add_scaled(&dense, 1.0, &tree->A);
        if (status != STN_OK) {
            return stn_fail(err, status, "tree %d: its A has a form that a full matrix cannot hold", t);
        }
    }
    for (int32_t i = 0; i < n; i++) {
        L[(size_t)i * (size_t)(n + 1)] += r->proximal != NULL ? r->proximal[tree->dof_start + i] : 0.0;
    }
    int32_t pivot = stn_cholesky(n, L, n);
    return pivot < 0 ? STN_OK
                     : stn_fail(err, STN_ERR_NUMERIC, "tree %d (source %d): pivot of dof %d is not > 0", t,
                                tree->source, pivot);
}

/// H, and the factors of P that it takes.
static stn_status assemble(rays *r, active_set *set, stn_error *err) {
    const stn_problem *p = r->problem;
    stn_status status = STN_OK;
    r->factor = STN_ARENA(r->arena, p->tree_count + 1, double *);
    if (r->factor == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d trees: out of memory", p->tree_count);
    }
    if (p->form == STN_FORM_LOCAL) {
        status = stn_delassus_build(NULL, p, r->arena, &r->delassus, err);
        if (status == STN_OK) {
            assemble_local(r, set);
        }
    }
    for (int32_t t = 0; t < p->tree_count && status == STN_OK; t++) {
        status = factor_tree(r, t, err);
        if (status == STN_OK && !assemble_tree(r, t, set)) {
            status = stn_fail(err, STN_ERR_MEMORY, "%d constraints: out of memory", p->constraint_count);
        }
    }
    if (status == STN_OK) {
        put_compliance(r, set);
    }
    return status;
}

/// P of all trees as a sparse matrix, and its factor.
static stn_status factor_sparse(rays *r, const stn_solve_control *control, stn_error *err) {
    const rays_workspace *workspace = control->workspace;
    const stn_problem *p = r->problem;
    if (workspace == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "no workspace was given");
    }
    stn_problem *bare = STN_ARENA(r->arena, 1, stn_problem);
    stn_solve_control *own = STN_ARENA(r->arena, 1, stn_solve_control);
    if (bare == NULL || own == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs: out of memory", p->nv);
    }
    *bare = *p;
    bare->constraint_count = bare->row_count = 0;
    *own = *control;
    own->workspace = workspace->mass;
    stn_status status = augmented_pack(&r->mass, bare, own, err);
    r->mass.proximal = r->proximal;
    if (status == STN_OK) {
        status = augmented_analyse(&r->mass, AUGMENTED_AUTO, err);
    }
    if (status != STN_OK) {
        return status;
    }
    const double none = 0.0; // there are neither lanes nor lines
    augmented_assemble(&r->mass, &none, &none, NULL);
    return augmented_factor(&r->mass, 0.0, err);
}

/// The largest of sum J^2/diag(P) of the rows of constraint i, which is J P^-1 J^T where P is diagonal.
static double mobility(const stn_problem *p, const stn_constraint *c, const double *diagonal) {
    double sum[STN_MAX_ROWS] = {0.0}, largest = 0.0;
    for (int32_t b = 0; b < stn_constraint_block_count(c); b++) {
        const stn_jacobian *J = stn_constraint_block(c, b);
        const double *own = diagonal + p->trees[J->tree].dof_start;
        const int32_t n = p->trees[J->tree].A.n;
        for (int32_t e = 0; e < c->rows * n && J->node_count == 0; e++) {
            sum[e / n] += J->values[e] * J->values[e] / own[e % n];
        }
        for (int32_t m = J->node_size, e = 0; e < m * c->rows * J->node_count; e++) {
            const int32_t d = m * J->node[e / (m * c->rows)] + e % m;
            sum[e / m % c->rows] += J->values[e] * J->values[e] / own[d];
        }
    }
    for (int32_t k = 0; k < c->rows; k++) {
        largest = fmax(largest, sum[k]);
    }
    return largest;
}

/// Fills size (n) of `set`. Inverse masses give an estimate of the diagonal of H, whose roots sizes are. False: out of
/// memory.
static bool estimate_sizes(const rays *r, active_set *set) {
    const stn_problem *p = r->problem;
    double *diagonal = STN_ARENA_ZEROED(r->arena, p->nv + 1, double); // of P
    if (diagonal == NULL) {
        return false;
    }
    for (int32_t t = 0; t < p->tree_count; t++) {
        if (p->trees[t].A.form != STN_MATRIX_ZERO) {
            stn_matrix_diagonal(&p->trees[t].A, diagonal + p->trees[t].dof_start);
        }
    }
    for (int32_t d = 0; d < p->nv && r->proximal != NULL; d++) {
        diagonal[d] += r->proximal[d];
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        const double w = fmax(mobility(p, c, diagonal), c->w), *R = p->R + c->row; // w may be NaN
        for (int32_t u = r->start[i]; u < r->start[i + 1]; u++) {
            const double *ray = r->ray + 3 * (size_t)u;
            double square = w + R[stn_constraint_has_cone(c) ? 0 : u - r->start[i]];
            if (stn_constraint_has_cone(c)) {
                square = (w + R[0]) * ray[0] * ray[0] + (w + R[1]) * ray[1] * ray[1] + (w + R[2]) * ray[2] * ray[2];
            }
            set->size[u] = sqrt(square);
        }
    }
    return true;
}

stn_status rays_build(const stn_problem *problem, const stn_solve_control *control, int32_t directions, rays_form form,
                      rays *out, active_set *set, stn_error *err) {
    const int64_t unknowns = rays_count(problem, directions);
    if (unknowns > MOST_INDEXED) {
        return stn_fail(
            err, STN_ERR_UNSUPPORTED,
            "%lld unknowns (%d constraints, %d directions), at most %d: take fewer directions or smaller islands",
            (long long)unknowns, problem->constraint_count, directions, MOST_INDEXED);
    }
    stn_arena *arena = control->arena;
    *out = (rays){.problem = problem, .arena = arena, .directions = directions};
    out->start = STN_ARENA(arena, problem->constraint_count + 1, int32_t);
    double **const dofs[] = {&out->centre, &out->c, &out->impulse, &out->scale};
    bool good = out->start != NULL;
    for (int32_t i = 0; i < STN_COUNT(dofs); i++) {
        *dofs[i] = STN_ARENA_ZEROED(arena, problem->nv + 1, double);
        good = good && *dofs[i] != NULL;
    }
    out->work = STN_ARENA(arena, 2 * (size_t)problem->nv + 1, double);
    good = good && out->work != NULL;
    out->gamma = STN_ARENA_ZEROED(arena, problem->row_count + 1, double);
    out->speed = STN_ARENA_ZEROED(arena, problem->row_count + 1, double);
    if (!good || out->gamma == NULL || out->speed == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d constraints: out of memory", problem->constraint_count);
    }
    proximal_scale(problem, out->scale);
    stn_status status = make_unknowns(out, form, set, err);
    if (status == STN_OK && problem->form == STN_FORM_GLOBAL) {
        status = proximal_weights(problem, control, RAYS_SHARE, &out->proximal, err);
    }
    if (status != STN_OK) {
        return status;
    }
    if (form == RAYS_DENSE) {
        return assemble(out, set, err);
    }
    status = factor_sparse(out, control, err);
    if (status == STN_OK && !estimate_sizes(out, set)) {
        status = stn_fail(err, STN_ERR_MEMORY, "%d dofs: out of memory", problem->nv);
    }
    return status;
}

// ------------------------------------------------------------------------------------------------------------ vectors

void rays_divide(const rays *r, double *x) {
    if (r->factor == NULL) {
        augmented_solve(&r->mass, x);
        return;
    }
    for (int32_t t = 0; t < r->problem->tree_count; t++) {
        const int32_t n = r->problem->trees[t].A.n;
        double *own = x + r->problem->trees[t].dof_start;
        stn_cholesky_forward(n, r->factor[t], n, 1, own, n);
        stn_cholesky_backward(n, r->factor[t], n, 1, own, n);
    }
}

/// Row r of |J| |v|.
static double sum_of_terms(const stn_problem *p, const stn_constraint *c, int32_t r, const double *v) {
    double sum = 0.0;
    for (int32_t b = 0; b < stn_constraint_block_count(c); b++) {
        const stn_jacobian *J = stn_constraint_block(c, b);
        const stn_problem_tree *tree = &p->trees[J->tree];
        for (int32_t k = 0; k < tree->A.n && J->node_count == 0; k++) {
            sum += fabs(J->values[r * tree->A.n + k] * v[tree->dof_start + k]);
        }
        for (int32_t m = J->node_size, k = 0; k < m * J->node_count; k++) {
            sum += fabs(J->values[m * c->rows * (k / m) + m * r + k % m] *
                        v[tree->dof_start + m * J->node[k / m] + k % m]);
        }
    }
    return sum;
}

double rays_terms(const rays *r, const double *v, bool along_rays) {
    const stn_problem *p = r->problem;
    double largest = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        const bool cone = along_rays && stn_constraint_has_cone(c);
        double terms[STN_MAX_ROWS];
        for (int32_t k = 0; k < c->rows; k++) {
            terms[k] = sum_of_terms(p, c, k, v);
            largest = cone ? largest : fmax(largest, terms[k]);
        }
        for (int32_t u = r->start[i]; u < r->start[i + 1] && cone; u++) {
            const double *ray = r->ray + 3 * (size_t)u;
            largest = fmax(largest, fabs(ray[0]) * terms[0] + fabs(ray[1]) * terms[1] + fabs(ray[2]) * terms[2]);
        }
    }
    return largest;
}

void rays_aim(rays *r, const double *x, const double *target, const double *impulse, const double *gamma,
              active_set *set) {
    const stn_problem *p = r->problem;
    memset(r->c, 0, (size_t)p->nv * sizeof *r->c);
    for (int32_t t = 0; t < p->tree_count; t++) { // where A is regular the centre is the target, and nothing is solved
        const stn_problem_tree *tree = &p->trees[t];
        bool held = r->proximal != NULL && tree->A.n > 0 && r->proximal[tree->dof_start] > 0.0;
        for (int32_t d = tree->dof_start; d < tree->dof_start + tree->A.n; d++) {
            r->centre[d] = held ? x[d] : target[d];
            r->impulse[d] = target[d] - r->centre[d];
        }
        stn_matrix_mul_add(&tree->A, 1.0, r->impulse + tree->dof_start, r->c + tree->dof_start);
    }
    for (int32_t d = 0; d < p->nv && impulse != NULL; d++) {
        r->c[d] += impulse[d];
    }
    rays_divide(r, r->c);
    for (int32_t d = 0; d < p->nv; d++) {
        r->c[d] += r->centre[d];
    }
    rays_speeds(r, r->c, gamma, r->speed);
    rays_gradient(r, r->speed, set->q);
    set->speed = p->form == STN_FORM_GLOBAL ? rays_terms(r, r->c, true) : 0.0;
    for (int32_t i = 0; i < set->n; i++) {
        set->speed = fmax(set->speed, fabs(set->q[i]));
    }
}

void rays_centre(rays *r, const double *v, active_set *set) {
    const stn_problem *p = r->problem;
    memset(r->gamma, 0, (size_t)p->row_count * sizeof *r->gamma);
    rays_aim(r, v, p->v_star, p->free_impulse, r->gamma, set);
}

rays_sector rays_find_sector(const rays *r, int32_t i, const double *impulse) {
    const stn_constraint *c = &r->problem->constraints[i];
    const int32_t count = r->start[i + 1] - r->start[i];
    const double mu1 = c->mu1, mu2 = c->set == STN_SET_ELLIPSE ? c->mu2 : c->mu1, sector = 2.0 * STN_PI / count;
    const double a = mu1 > 0.0 ? impulse[0] / mu1 : 0.0, b = mu2 > 0.0 ? impulse[1] / mu2 : 0.0;
    const double turns = atan2(b, a) / sector, whole = floor(turns), angle = (turns - whole) * sector;
    const double length = sqrt(a * a + b * b), second = length * sin(angle) / sin(sector);
    const int32_t first = ((int32_t)whole % count + count) % count;
    return (rays_sector){{first, (first + 1) % count}, {length * cos(angle) - second * cos(sector), second}};
}

void rays_impulses(const rays *r, const double *beta, double *gamma) {
    for (int32_t i = 0; i < r->problem->constraint_count; i++) {
        const stn_constraint *c = &r->problem->constraints[i];
        double *own = gamma + c->row;
        if (!stn_constraint_has_cone(c)) {
            memcpy(own, beta + r->start[i], (size_t)c->rows * sizeof *own);
            continue;
        }
        own[0] = own[1] = own[2] = 0.0;
        for (int32_t u = r->start[i]; u < r->start[i + 1]; u++) {
            for (int32_t k = 0; k < 3; k++) {
                own[k] += beta[u] * r->ray[3 * (size_t)u + (size_t)k];
            }
        }
    }
}

void rays_velocity(rays *r, const double *gamma, double *v) {
    const size_t nv = (size_t)r->problem->nv;
    memset(r->impulse, 0, nv * sizeof *r->impulse);
    stn_problem_jacobian_transposed_add(r->problem, 1.0, gamma, r->impulse);
    rays_divide(r, r->impulse);
    for (size_t d = 0; d < nv; d++) {
        v[d] = r->c[d] + r->impulse[d];
    }
}

void rays_speeds(const rays *r, const double *v, const double *gamma, double *speeds) {
    const stn_problem *p = r->problem;
    if (p->form == STN_FORM_LOCAL) {
        memcpy(speeds, r->delassus.b, (size_t)p->row_count * sizeof *speeds);
        for (int32_t i = 0; i < p->constraint_count; i++) {
            stn_delassus_row_mul_add(&r->delassus, i, gamma, speeds + p->constraints[i].row);
        }
    } else {
        stn_problem_contact_velocity(p, v, true, speeds);
    }
    for (int32_t k = 0; k < p->row_count; k++) {
        speeds[k] += p->R[k] * gamma[k] - p->v_hat[k];
    }
}

void rays_gradient(const rays *r, const double *speeds, double *g) {
    for (int32_t i = 0; i < r->problem->constraint_count; i++) {
        const stn_constraint *c = &r->problem->constraints[i];
        const double *own = speeds + c->row;
        for (int32_t u = r->start[i]; u < r->start[i + 1]; u++) {
            const double *ray = r->ray + 3 * (size_t)u;
            g[u] =
                stn_constraint_has_cone(c) ? ray[0] * own[0] + ray[1] * own[1] + ray[2] * own[2] : own[u - r->start[i]];
        }
    }
}

void rays_product(rays *r, const double *x, double *g) {
    const stn_problem *p = r->problem;
    memset(r->impulse, 0, (size_t)p->nv * sizeof *r->impulse);
    rays_impulses(r, x, r->gamma);
    stn_problem_jacobian_transposed_add(p, 1.0, r->gamma, r->impulse);
    rays_divide(r, r->impulse);
    stn_problem_contact_velocity(p, r->impulse, false, r->speed);
    for (int32_t k = 0; k < p->row_count; k++) {
        r->speed[k] += p->R[k] * r->gamma[k];
    }
    rays_gradient(r, r->speed, g);
}

void rays_rates(rays *r, const double *dv, const double *dgamma, const double *velocity, double *g) {
    const stn_problem *p = r->problem;
    stn_problem_contact_velocity(p, dv, false, r->speed);
    for (int32_t k = 0; k < p->row_count; k++) {
        r->speed[k] += velocity[k] + p->R[k] * dgamma[k];
    }
    rays_gradient(r, r->speed, g);
}

proximal_balance rays_balance(rays *r, const double *v, const double *gamma) {
    return proximal_measure(r->problem, r->scale, v, gamma, r->work);
}
