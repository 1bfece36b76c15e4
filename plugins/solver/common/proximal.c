// SPDX-License-Identifier: Apache-2.0
// See proximal.h.
#include "common/proximal.h"

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------------ balance

void proximal_scale(const stn_problem *problem, double *D) {
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_matrix *A = &problem->trees[t].A;
        double *d = D + problem->trees[t].dof_start, largest = 0.0;
        memset(d, 0, (size_t)A->n * sizeof *d);
        if (A->n > 0) {
            stn_matrix_diagonal(A, d);
        }
        for (int32_t i = 0; i < A->n; i++) {
            largest = fmax(largest, d[i]);
        }
        for (int32_t i = 0; i < A->n; i++) {
            d[i] = 1.0 / sqrt(d[i] > 0.0 ? d[i] : (largest > 0.0 ? largest : 1.0));
        }
    }
}

/// |D x|.
static double scaled_norm(int32_t n, const double *D, const double *x) {
    double sum = 0.0;
    for (int32_t d = 0; d < n; d++) {
        sum += D[d] * x[d] * D[d] * x[d];
    }
    return sqrt(sum);
}

proximal_balance proximal_measure(const stn_problem *p, const double *D, const double *v, const double *gamma,
                                  double *work) {
    proximal_balance out;
    double *impulse = work, *left = work + p->nv;
    stn_problem_mass_times(p, v, NULL, left);
    out.size = scaled_norm(p->nv, D, left);
    stn_problem_impulse_sizes(p, gamma, impulse);
    out.size = fmax(out.size, scaled_norm(p->nv, D, impulse));
    memset(impulse, 0, (size_t)p->nv * sizeof *impulse);
    stn_problem_jacobian_transposed_add(p, 1.0, gamma, impulse);
    stn_problem_mass_times(p, v, p->v_star, left);
    for (int32_t d = 0; d < p->nv; d++) {
        left[d] -= impulse[d] + (p->free_impulse != NULL ? p->free_impulse[d] : 0.0);
    }
    out.value = scaled_norm(p->nv, D, left);
    return out;
}

bool proximal_is_rounding(const stn_problem_tree *tree, const double *D, const double *weight, const double *v,
                          const double *x) {
    double square = 0.0, taken = 0.0;
    for (int32_t d = tree->dof_start; d < tree->dof_start + tree->A.n; d++) {
        square += D[d] * x[d] * D[d] * x[d];
        taken += D[d] * weight[d] * v[d] * D[d] * weight[d] * v[d];
    }
    return sqrt(square) <= 1e-14 * sqrt(taken);
}

/// Is what the balance leaves rounding of the impulses, or in a tree of delta D v? `left` is that of proximal_measure.
/// A v that grows without end makes the latter large: it counts only where the steps before came nearer.
static bool is_balanced(const proximal *p, proximal_balance m, bool nearer, const double *left) {
    double square = 0.0;
    for (int32_t t = 0; t < p->problem->tree_count; t++) {
        const stn_problem_tree *tree = &p->problem->trees[t];
        if (nearer && proximal_is_rounding(tree, p->scale, p->weight, p->solution->v, left)) {
            continue;
        }
        const double own = scaled_norm(tree->A.n, p->scale + tree->dof_start, left + tree->dof_start);
        square += own * own;
    }
    return sqrt(square) <= 1e-14 * m.size;
}

// ------------------------------------------------------------------------------------------------------------- weights

/// Where A and J leave v open it is the v of least D, and J_d/D_d of a sum of J_d^2 is the larger the smaller J_d is:
/// the dof that constraints hardly see would move most. Axes x, y, z count alike (nodes of 3, 6, ... dofs have them by
/// threes), and no dof less than a lever of 1 cm.
static void level(const stn_matrix *A, double delta, double *D) {
    const double least = 1e-4;
    const int32_t size = A->form == STN_MATRIX_NODAL ? A->node_size : A->n == 6 ? 6 : 1; // a free body, or nodes
    const int32_t axes = size % 3 == 0 ? 3 : 1;
    double largest = 0.0;
    for (int32_t d = 0; d < A->n; d++) {
        largest = fmax(largest, D[d]);
    }
    for (int32_t d = 0; d < A->n; d += axes) {
        double all = largest > 0.0 ? least * largest : 1.0;
        for (int32_t k = d; k < d + axes; k++) {
            all = fmax(all, D[k]);
        }
        for (int32_t k = d; k < d + axes; k++) {
            D[k] = delta * all;
        }
    }
}

/// Adds J^2/w of a constraint to D of the trees that are `singular`.
static void add_constraint(const stn_problem *p, const stn_constraint *c, const bool *singular, double *D) {
    const double rounding = 1e-12; // what is rounding of J holds nothing: a ball's spin between two fingers
    for (int32_t side = 0; side < stn_constraint_block_count(c); side++) {
        const stn_jacobian *J = stn_constraint_block(c, side);
        if (!singular[J->tree] || !(c->w > 0.0)) {
            continue;
        }
        double *d = D + p->trees[J->tree].dof_start;
        const int32_t blocks = J->node_count > 0 ? J->node_count : 1;
        const int32_t width = J->node_count > 0 ? J->node_size : p->trees[J->tree].A.n;
        double largest = 0.0;
        for (int32_t k = 0; k < blocks * c->rows * width; k++) {
            largest = fmax(largest, fabs(J->values[k]));
        }
        const double *value = J->values;
        for (int32_t b = 0; b < blocks; b++) {
            double *to = J->node_count > 0 ? d + J->node_size * J->node[b] : d;
            for (int32_t k = 0; k < c->rows * width; k++, value++) {
                to[k % width] += fabs(*value) > rounding * largest ? *value * *value / c->w : 0.0;
            }
        }
    }
}

void proximal_free_speeds(const stn_problem *problem, const bool *singular, double *out) {
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_problem_tree *tree = &problem->trees[t];
        for (int32_t d = tree->dof_start; d < tree->dof_start + tree->A.n; d++) {
            out[d] = singular != NULL && singular[t] ? 0.0 : problem->v_star[d];
        }
    }
}

stn_status proximal_weights(const stn_problem *problem, const stn_solve_control *control, double delta, double **out,
                            stn_error *err) {
    const bool *singular = control->singular;
    *out = NULL;
    if (singular == NULL) {
        return STN_OK;
    }
    double *D = *out = STN_ARENA_ZEROED(control->arena, problem->nv, double);
    if (D == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs: out of memory", problem->nv);
    }
    for (int32_t t = 0; t < problem->tree_count; t++) {
        if (singular[t] && problem->trees[t].A.form != STN_MATRIX_ZERO) {
            stn_matrix_diagonal(&problem->trees[t].A, D + problem->trees[t].dof_start);
        }
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        add_constraint(problem, &problem->constraints[i], singular, D);
    }
    for (int32_t t = 0; t < problem->tree_count; t++) {
        if (singular[t]) {
            level(&problem->trees[t].A, delta, D + problem->trees[t].dof_start);
        }
    }
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------------------- loop

/// The dof that the last step moved most: nothing else resists it.
static stn_status name_unheld(const proximal *p, const double *centre, stn_error *err) {
    const stn_problem *problem = p->problem;
    stn_unheld where = {0, 0};
    double largest = -1.0;
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_problem_tree *tree = &problem->trees[t];
        for (int32_t d = tree->dof_start; d < tree->dof_start + tree->A.n; d++) {
            const double by = p->solution->v[d] - centre[d], square = p->weight[d] * by * by;
            if (square > largest) {
                largest = square;
                where = (stn_unheld){t, d - tree->dof_start};
            }
        }
    }
    return stn_fail_unheld(problem, where, p->control->unheld, err);
}

/// Where a step is much as the one before, every second centre goes ahead to where a geometric series of them ends (any
/// centre will do); where they do not shrink at all, sixteen times as far each time: a support may be far, and is found
/// by halves where a centre went too far.
stn_status proximal_solve(proximal *p, stn_error *err) {
    enum { MOST = 500, MOST_FALLS = 24 };
    const int32_t nv = p->problem->nv;
    double *v = p->solution->v, *x = STN_ARENA(p->control->arena, nv + 1, double);
    double *last = STN_ARENA_ZEROED(p->control->arena, nv + 1, double); // step
    double *work = STN_ARENA(p->control->arena, 2 * (size_t)nv + 1, double);
    double before = INFINITY, ahead = 0.25, early = INFINITY, late = INFINITY; // least of both halves
    bool went = false, far = false, back = false;
    int32_t falls = 0;
    p->reason = NULL;
    if (x == NULL || last == NULL || work == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs: out of memory", nv);
    }
    for (int32_t k = 0; k < MOST; k++) {
        memcpy(x, v, (size_t)nv * sizeof *x);
        const stn_status status = p->program(p->self, x, err);
        if (status != STN_OK) {
            // no centre makes constraints contradict each other: one that went too far has no digits
            const bool far_off = falls > (p->exact ? 0 : 8) && status > STN_OK && !p->vague;
            return far_off ? name_unheld(p, x, err) : status;
        }
        const proximal_balance m = proximal_measure(p->problem, p->scale, v, p->solution->gamma, work);
        if (!isfinite(m.value)) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "the balance of impulses is off by %g: numbers of the problem are too large", m.value);
        }
        const bool within = m.value <= p->control->absolute_tolerance + p->control->tolerance * m.size;
        if (is_balanced(p, m, falls == 0, work + nv) || (within && m.value > 0.5 * before)) {
            return STN_OK;
        }
        early = k < MOST / 2 ? fmin(early, m.value) : early;
        late = k < MOST / 2 ? late : fmin(late, m.value);
        double along = 0.0; // what the last step did
        for (int32_t d = 0; d < nv; d++) {
            along += p->weight[d] * (v[d] - x[d]) * last[d];
            last[d] = v[d] - x[d];
        }
        const double ratio = m.value / before;
        far = ratio > 0.999 || (far && went && ratio > 0.5);
        back = far && (back || along < 0.0); // a centre ahead went too far
        falls = ratio > 0.999 ? (back ? 1 : falls + 1) : 0;
        if (falls == MOST_FALLS && !p->vague) {
            return name_unheld(p, x, err);
        }
        before = m.value;
        went = ratio > 0.5 && !went;
        if (!far || ahead < 1.0) {
            ahead = 0.25;
            back = false;
        }
        if (far && went) {
            ahead *= back ? 0.5 : 16.0;
        }
        const double by = far ? ahead : ratio / (1.0 - ratio);
        for (int32_t d = 0; d < nv && went; d++) {
            v[d] += by * (v[d] - x[d]);
        }
    }
    if (p->exact && !p->vague && late > 0.9 * early) { // the same is left however far it goes
        return name_unheld(p, x, err);
    }
    p->reason = "proximal steps";
    return STN_NOT_CONVERGED;
}
