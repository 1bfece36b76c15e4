// SPDX-License-Identifier: Apache-2.0
// The global form of FCLIB. With a symmetric M and no bilateral rows it stays global: the dofs are parted into trees
// that M does not couple, so that every contact touches one or two. Otherwise it becomes local,
//     W = H^T X H,  q = H^T (X f + Y b) + w,  of  [M -G; G^T 0]^-1
// for which M need not be symmetric.
#include <math.h>
#include <string.h>

#include <stiction/delassus.h>
#include <stiction/union_find.h>

#include "fclib.h"

static const double symmetric_enough = 1e-13; // round-off of who wrote the file

typedef struct global_form {
    fclib_matrix M, H, G;
    const double *f, *w, *b;
} global_form;

/// How its dofs are parted into trees.
typedef struct parting {
    int32_t *parent;    // (nv) of a union
    int32_t *tree_of;   // (nv)
    int32_t *place;     // (nv) where it goes, tree after tree
    int32_t (*side)[2]; // (contacts) the two trees, by a dof of each; -1: none
} parting;

// ------------------------------------------------------------------------------------------------------------- trees

/// Trees of what M couples and of blocks of so many neighbours.
static void part_dofs(const fclib_matrix *M, int32_t block, int32_t *parent) {
    stn_union_begin(parent, M->n);
    for (int64_t k = 0; k < M->count; k++) {
        if (M->x[k] != 0.0) {
            stn_union_join(parent, M->row[k], M->column[k]);
        }
    }
    for (int32_t i = 0; i < M->n; i++) {
        stn_union_join(parent, i, i - i % block);
    }
}

/// The two trees of each contact, -1: none; a third one is joined to the second. Returns how many were.
static int32_t find_sides(const fclib_matrix *H, int32_t *parent, int32_t contacts, int32_t (*side)[2]) {
    int32_t joined = 0;
    for (int32_t i = 0; i < contacts; i++) {
        side[i][0] = side[i][1] = -1;
    }
    for (int64_t k = 0; k < H->count; k++) {
        int32_t *s = side[H->column[k] / 3], tree = stn_union_root(parent, H->row[k]);
        if (H->x[k] == 0.0 || s[0] == tree || s[1] == tree) {
            continue;
        }
        if (s[0] < 0 || s[1] < 0) {
            s[s[0] < 0 ? 0 : 1] = tree;
        } else {
            stn_union_join(parent, s[1], tree);
            joined++;
        }
    }
    return joined;
}

/// Bodies have 6 dofs one after the other, nodes 3; if neither fits, trees grow until every contact touches two at
/// most.
static void choose_trees(const global_form *g, int32_t contacts, int32_t *parent, int32_t (*side)[2]) {
    static const int32_t blocks[] = {3, 6};
    for (int32_t k = 0; k < STN_COUNT(blocks); k++) {
        if (g->M.n % blocks[k] == 0) {
            part_dofs(&g->M, blocks[k], parent);
            if (find_sides(&g->H, parent, contacts, side) == 0) {
                return;
            }
        }
    }
    part_dofs(&g->M, 1, parent);
    while (find_sides(&g->H, parent, contacts, side) > 0) {
    }
}

/// Where each dof goes, tree after tree, and the trees with their A.
static void place_dofs(fclib_reader *r, const global_form *g, const parting *parts, stn_problem *p) {
    int32_t n = g->M.n, *parent = parts->parent, *tree_of = parts->tree_of, *place = parts->place;
    for (int32_t i = 0; i < n; i++) {
        tree_of[i] = stn_union_root(parent, i) == i ? p->tree_count++ : tree_of[stn_union_root(parent, i)];
    }
    p->trees = fclib_allocate(r, p->tree_count, sizeof *p->trees);
    if (p->trees == NULL) {
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        p->trees[tree_of[i]].A.n++;
    }
    int64_t numbers = 0;
    for (int32_t t = 0, start = 0; t < p->tree_count; t++) {
        int32_t size = p->trees[t].A.n;
        p->trees[t] = (stn_problem_tree){.dof_start = start, .source = t, .A = {.form = STN_MATRIX_DENSE}};
        start += size;
        numbers += (int64_t)size * size;
    }
    if (numbers > FCLIB_MAX_NUMBERS) {
        fclib_fail(r, "M", "its dofs cannot be parted into small trees: %lld numbers are too many", (long long)numbers);
    }
    for (int32_t i = 0; i < n && r->status == STN_OK; i++) {
        stn_problem_tree *tree = &p->trees[tree_of[i]];
        place[i] = tree->dof_start + tree->A.n++;
    }
    for (int32_t t = 0; t < p->tree_count && r->status == STN_OK; t++) {
        stn_matrix *A = &p->trees[t].A;
        A->values = fclib_allocate(r, (int64_t)A->n * A->n, sizeof(double));
    }
    // Half of each entry goes to its mirror: A is symmetric to the last bit.
    for (int64_t k = 0; k < g->M.count && r->status == STN_OK; k++) {
        const stn_problem_tree *tree = &p->trees[tree_of[g->M.row[k]]];
        int32_t i = place[g->M.row[k]] - tree->dof_start, j = place[g->M.column[k]] - tree->dof_start;
        if (g->M.x[k] != 0.0) {
            tree->A.values[i * tree->A.n + j] += 0.5 * g->M.x[k];
            tree->A.values[j * tree->A.n + i] += 0.5 * g->M.x[k];
        }
    }
}

static void fill_global(fclib_reader *r, const global_form *g, stn_problem *p) {
    p->nv = g->M.n;
    parting parts = {.parent = fclib_allocate(r, p->nv, sizeof *parts.parent),
                     .tree_of = fclib_allocate(r, p->nv, sizeof *parts.tree_of),
                     .place = fclib_allocate(r, p->nv, sizeof *parts.place),
                     .side = fclib_allocate(r, p->constraint_count, sizeof *parts.side)};
    double **vectors[] = {&p->v0, &p->v_star, &p->v_guess, &p->free_impulse};
    for (int32_t k = 0; k < STN_COUNT(vectors); k++) {
        *vectors[k] = fclib_allocate(r, p->nv, sizeof(double));
    }
    double *none = fclib_allocate(r, p->row_count, sizeof *none);
    if (r->status != STN_OK) {
        return;
    }
    choose_trees(g, p->constraint_count, parts.parent, parts.side);
    place_dofs(r, g, &parts, p);
    for (int32_t i = 0; i < p->constraint_count && r->status == STN_OK; i++) {
        for (int32_t s = 0; s < 2; s++) {
            int32_t tree = parts.side[i][s] >= 0 ? parts.tree_of[parts.side[i][s]] : (s == 0 ? 0 : -1);
            double *values = tree >= 0 ? fclib_allocate(r, 3 * (int64_t)p->trees[tree].A.n, sizeof(double)) : NULL;
            p->constraints[i].J[s] = (stn_jacobian){.tree = tree, .values = values};
        }
    }
    if (r->status != STN_OK) {
        return;
    }
    for (int64_t k = 0; k < g->H.count; k++) {
        const stn_constraint *c = &p->constraints[g->H.column[k] / 3];
        int32_t tree = parts.tree_of[g->H.row[k]], local = parts.place[g->H.row[k]] - p->trees[tree].dof_start;
        const stn_jacobian *J = &c->J[c->J[0].tree == tree ? 0 : 1];
        if (g->H.x[k] != 0.0) {
            double *values = (double *)(uintptr_t)J->values;
            values[(fclib_row(g->H.column[k]) - c->row) * p->trees[tree].A.n + local] += g->H.x[k];
        }
    }
    for (int32_t i = 0; i < p->nv; i++) {
        p->free_impulse[parts.place[i]] = g->f[i];
    }
    for (int32_t i = 0; i < p->row_count; i++) {
        p->bias[fclib_row(i)] = g->w[i];
    }
    // v_star = M^-1 f
    stn_inverse *inverse = NULL;
    stn_status status = stn_inverse_create(r->context, &inverse, r->err);
    if (status == STN_OK) {
        status = stn_inverse_factor(inverse, p, r->err);
    }
    if (status == STN_OK) {
        status = stn_inverse_require(inverse, r->err);
    }
    if (status == STN_OK) {
        stn_inverse_velocity(inverse, p, none, p->v_guess);
        memcpy(p->v_star, p->v_guess, (size_t)p->nv * sizeof *p->v_star);
        memcpy(p->v0, p->v_guess, (size_t)p->nv * sizeof *p->v0);
        p->free_impulse = NULL;
    } else {
        r->status = status;
        stn_error_prefix(r->err, "%s: %s/M is not positive definite", r->path, r->group);
    }
    stn_inverse_destroy(inverse);
}

// ------------------------------------------------------------------------------------------------------------- local

/// Without symmetry, or with G, no factor of M tells that it has energy; its symmetric part must not take any away.
static void check_energy(fclib_reader *r, const fclib_matrix *M) {
    int64_t n = M->n;
    stn_matrix symmetric = {.n = M->n, .form = STN_MATRIX_DENSE};
    symmetric.values = fclib_allocate(r, n * n, sizeof(double));
    for (int64_t k = 0; k < M->count && r->status == STN_OK; k++) {
        symmetric.values[M->row[k] * n + M->column[k]] += 0.5 * M->x[k];
        symmetric.values[M->column[k] * n + M->row[k]] += 0.5 * M->x[k];
    }
    stn_error reason = {STN_OK, ""};
    if (r->status == STN_OK && stn_matrix_check(r->context, "its symmetric part", &symmetric, &reason) != STN_OK) {
        fclib_fail(r, "M", "%s", reason.text);
    }
}

static void fill_local(fclib_reader *r, const global_form *g, stn_problem *p) {
    int64_t rows = p->row_count, columns = rows + 1, size = (int64_t)g->M.n + g->G.n;
    if (size * size > FCLIB_MAX_NUMBERS || size * columns > FCLIB_MAX_NUMBERS || rows * rows > FCLIB_MAX_NUMBERS) {
        fclib_fail(
            r, "M",
            "with bilateral rows or without symmetry it is solved densely, for which %lld dofs and %lld rows are "
            "too many",
            (long long)size, (long long)rows);
    }
    check_energy(r, &g->M);
    double *K = fclib_allocate(r, size * size, sizeof *K), *X = fclib_allocate(r, size * columns, sizeof *X);
    p->form = STN_FORM_LOCAL;
    p->W = fclib_allocate(r, rows * rows, sizeof *p->W);
    p->q = fclib_allocate(r, rows, sizeof *p->q);
    if (r->status != STN_OK) {
        return;
    }
    // [M -G; G^T 0] and the columns [H; 0] and [f; -b]
    int32_t n = g->M.n;
    for (int64_t k = 0; k < g->M.count; k++) {
        K[g->M.row[k] * size + g->M.column[k]] += g->M.x[k];
    }
    for (int64_t k = 0; k < g->G.count; k++) {
        K[g->G.row[k] * size + n + g->G.column[k]] -= g->G.x[k];
        K[(n + g->G.column[k]) * size + g->G.row[k]] += g->G.x[k];
    }
    for (int64_t k = 0; k < g->H.count; k++) {
        X[g->H.row[k] * columns + fclib_row(g->H.column[k])] += g->H.x[k];
    }
    for (int32_t i = 0; i < size; i++) {
        X[i * columns + columns - 1] = i < n ? g->f[i] : -g->b[i - n];
    }
    if (!stn_matrix_eliminate((int32_t)size, (int32_t)columns, K, X)) {
        fclib_fail(r, "M", "with G it is singular: drop redundant bilateral rows");
        return;
    }
    for (int64_t k = 0; k < g->H.count; k++) {
        int64_t i = fclib_row(g->H.column[k]);
        const double *x = X + g->H.row[k] * columns;
        for (int64_t j = 0; j < rows; j++) {
            p->W[i * rows + j] += g->H.x[k] * x[j];
        }
        p->q[i] += g->H.x[k] * x[rows];
    }
    for (int64_t i = 0; i < rows && !p->general_W; i++) { // round-off of the elimination
        for (int64_t j = 0; j < i; j++) {
            p->W[i * rows + j] = p->W[j * rows + i] = 0.5 * (p->W[i * rows + j] + p->W[j * rows + i]);
        }
    }
    fclib_judge_definite(r, "M", p);
    for (int32_t i = 0; i < rows; i++) {
        p->q[fclib_row(i)] += g->w[i];
        stn_constraint *c = &p->constraints[i / 3];
        c->phi0 = c->stiffness = c->relaxation_time = (double)NAN;
    }
}

void fclib_read_global(fclib_reader *r, stn_problem *p) {
    global_form g;
    fclib_read_matrix(r, "M", false, &g.M);
    fclib_read_matrix(r, "H", false, &g.H);
    fclib_read_matrix(r, "G", true, &g.G);
    if (r->status == STN_OK &&
        (g.M.m != g.M.n || g.H.m != g.M.n || g.H.n != p->row_count || (g.G.n > 0 && g.G.m != g.M.n))) {
        fclib_fail(r, "M",
                   "M is %d x %d, H %d x %d, G %d x %d: M must be square, H and G as high, H %d wide for %d friction "
                   "coefficients",
                   g.M.m, g.M.n, g.H.m, g.H.n, g.G.m, g.G.n, p->row_count, p->constraint_count);
    }
    g.f = fclib_vector(r, "f", g.M.n, "rows of M");
    g.w = fclib_vector(r, "w", p->row_count, "3 for each contact");
    g.b = g.G.n > 0 ? fclib_vector(r, "b", g.G.n, "columns of G") : NULL;
    double asymmetry = r->status == STN_OK ? fclib_asymmetry(r, &g.M) : 0.0;
    if (r->status != STN_OK) {
        return;
    }
    bool symmetric = asymmetry <= symmetric_enough;
    if (!symmetric) {
        p->general_W = true;
        stn_log(r->context, STN_LOG_WARNING,
                "%s: %s/M is not symmetric, by %.1e of its largest entry: the problem is taken in its local form, "
                "W = H^T M^-1 H",
                r->path, r->group, asymmetry);
    }
    (symmetric && g.G.n == 0 ? fill_global : fill_local)(r, &g, p);
}
