// SPDX-License-Identifier: Apache-2.0
// Names of kinds and sets, and products with the matrices of a contact problem: J v, J^T gamma, A (x - x0). Contacts of
// articulated trees go through the velocities of all bodies, and through sums of wrenches: O(n) for a tree and O(1) for
// a contact.
#include <string.h>

#include <stiction/problem.h>

#include "base/kernels.h"
#include "base/ltl.h"
#include "problem/body_rows.h"
#include "problem/jacobian.h"

static const char *const kind_names[STN_CONSTRAINT_KIND_COUNT] = {
    "contact", "joint_limit", "coupler",  "servo",          "dry_friction",
    "weld",    "ball",        "distance", "velocity_limit", "plugin",
};
static const char *const set_names[STN_SET_COUNT] = {"cone", "ellipse", "box", "equality"};

const char *stn_constraint_kind_name(stn_constraint_kind kind) {
    return (int)kind >= 0 && (int)kind < STN_CONSTRAINT_KIND_COUNT ? kind_names[kind] : NULL;
}

const char *stn_constraint_set_name(stn_constraint_set set) {
    return (int)set >= 0 && (int)set < STN_SET_COUNT ? set_names[set] : NULL;
}

/// Three rows at distance `stride`, which contacts have, in one pass over v.
static inline void add_three_products(int32_t n, int32_t stride, const double *J, const double *v, double *v_c) {
    const double *j0 = J, *j1 = J + stride, *j2 = J + 2 * stride;
    double s0[2] = {0.0, 0.0}, s1[2] = {0.0, 0.0}, s2[2] = {0.0, 0.0}; // neighbours together: vector code
    int32_t d = 0;
    for (; d + 1 < n; d += 2) {
        for (int32_t i = 0; i < 2; i++) {
            s0[i] += j0[d + i] * v[d + i];
            s1[i] += j1[d + i] * v[d + i];
            s2[i] += j2[d + i] * v[d + i];
        }
    }
    double last = d < n ? v[d] : 0.0;
    v_c[0] += (d < n ? s0[0] + j0[d] * last : s0[0]) + s0[1];
    v_c[1] += (d < n ? s1[0] + j1[d] * last : s1[0]) + s1[1];
    v_c[2] += (d < n ? s2[0] + j2[d] * last : s2[0]) + s2[1];
}

/// The dofs [first, last] from `last` on towards the root that are neighbours, as most are.
static inline int32_t first_of_run(const int32_t *parent, int32_t last) {
    int32_t first = last;
    while (first > 0 && parent[first] == first - 1) {
        first--;
    }
    return first;
}

/// y += s J^T gamma of a contact with a body of a large tree: of the dofs on its way to the root.
static void add_transposed_on_path(const stn_problem_tree *tree, const stn_jacobian *J, double s, const double *gamma,
                                   double *restrict y) {
    const int32_t n = tree->A.n;
    const double *j0 = J->values, *j1 = j0 + n, *j2 = j1 + n;
    const double g0 = s * gamma[0], g1 = s * gamma[1], g2 = s * gamma[2];
    for (int32_t last = J->tip, first; last >= 0; last = tree->parent[first]) {
        first = first_of_run(tree->parent, last);
        for (int32_t d = first; d <= last; d++) {
            y[d] += j0[d] * g0 + j1[d] * g1 + j2[d] * g2;
        }
    }
}

/// v_c += J v likewise.
static void add_product_on_path(const stn_problem_tree *tree, const stn_jacobian *J, const double *v, double *v_c) {
    const int32_t n = tree->A.n;
    for (int32_t last = J->tip, first; last >= 0; last = tree->parent[first]) {
        first = first_of_run(tree->parent, last);
        add_three_products(last + 1 - first, n, J->values + first, v + first, v_c);
    }
}

/// y += s J^T gamma of a block that is a wrench.
static void add_transposed_wrench(const stn_problem_tree *tree, const stn_jacobian *J, double s, const double *gamma,
                                  double *restrict y) {
    double F[8] = {0.0};
    wrench_transposed_add(J->wrench, s, gamma, F);
    for (int32_t j = J->tip; j >= 0; j = tree->parent[j]) {
        const double *S = tree->motion + 8 * (size_t)j;
        double sum = 0.0;
        for (int32_t k = 0; k < 6; k++) {
            sum += F[k] * S[k];
        }
        y[j] += sum;
    }
}

enum { FREE_BODY = 6 };

/// y += J^T g of three rows.
static inline void add_three_transposed(int32_t n, const double *restrict J, const double g[3], double *restrict y) {
    for (int32_t d = 0; d < n; d++) {
        y[d] += J[d] * g[0] + J[n + d] * g[1] + J[2 * n + d] * g[2];
    }
}

/// y += s J^T gamma of one block of `rows` rows.
static inline void add_transposed_product(const stn_problem *problem, const stn_jacobian *J, int32_t rows, double s,
                                          const double *gamma, double *y) {
    const stn_problem_tree *tree = &problem->trees[J->tree];
    const int32_t n = tree->A.n;
    const double *values = J->values;
    double *y_tree = y + tree->dof_start;
    if (jacobian_is_wrench(J)) {
        add_transposed_wrench(tree, J, s, gamma, y_tree);
        return;
    }
    if (J->wrench != NULL && rows == 3) {
        add_transposed_on_path(tree, J, s, gamma, y_tree);
        return;
    }
    if (J->node_count == 0 && rows == 3) { // contacts: three rows in one pass over y
        const double g[3] = {s * gamma[0], s * gamma[1], s * gamma[2]};
        if (n == FREE_BODY) { // a length that the compiler knows
            add_three_transposed(FREE_BODY, values, g, y_tree);
        } else {
            add_three_transposed(n, values, g, y_tree);
        }
        return;
    }
    for (int32_t r = 0; r < rows && J->node_count == 0; r++) {
        double f = s * gamma[r];
        for (int32_t d = 0; d < n; d++) {
            y_tree[d] += values[r * n + d] * f;
        }
    }
    if (J->node_count > 0) {
        jacobian_nodes_transposed_add(J, rows, s, gamma, y_tree);
    }
}

void stn_constraint_transposed_add(const stn_problem *problem, const stn_constraint *constraint, double s,
                                   const double *gamma, double *y) {
    if (body_row_transposed_add(problem, constraint, s, gamma, y)) {
        return;
    }
    const stn_jacobian *J = constraint->J;
    if (J[0].tree >= 0) {
        add_transposed_product(problem, &J[0], constraint->rows, s, gamma, y);
    }
    if (J[1].tree >= 0) {
        add_transposed_product(problem, &J[1], constraint->rows, s, gamma, y);
    }
    for (int32_t k = 0; k < constraint->more_count; k++) {
        add_transposed_product(problem, &constraint->more[k], constraint->rows, s, gamma, y);
    }
}

/// v_c += J v of one block of `rows` rows.
static inline void add_product(const stn_problem *problem, const stn_jacobian *J, int32_t rows, const double *v,
                               double *v_c) {
    const stn_problem_tree *tree = &problem->trees[J->tree];
    const double *v_tree = v + tree->dof_start;
    const int32_t n = tree->A.n;
    if (jacobian_is_wrench(J)) {
        jacobian_wrench_mul_add(tree, J, v_tree, v_c);
    } else if (J->wrench != NULL && rows == 3) {
        add_product_on_path(tree, J, v_tree, v_c);
    } else if (J->node_count == 0 && rows == 3 && n == FREE_BODY) { // a length that the compiler knows
        add_three_products(FREE_BODY, FREE_BODY, J->values, v_tree, v_c);
    } else if (J->node_count == 0 && rows == 3) {
        add_three_products(n, n, J->values, v_tree, v_c);
    } else if (J->node_count == 0) {
        for (int32_t r = 0; r < rows; r++) {
            const double *row = J->values + r * n;
            double s0 = 0.0, s1 = 0.0; // two sums keep the adder busy
            int32_t d = 0;
            for (; d + 1 < n; d += 2) {
                s0 += row[d] * v_tree[d];
                s1 += row[d + 1] * v_tree[d + 1];
            }
            v_c[r] += (d < n ? s0 + row[d] * v_tree[d] : s0) + s1;
        }
    }
    if (J->node_count > 0) {
        jacobian_mul_add(tree, J, rows, v_tree, v_c);
    }
}

void stn_constraint_velocity(const stn_problem *problem, const stn_constraint *constraint, const double *v,
                             double *v_c) {
    if (body_row_velocity(problem, constraint, v, v_c)) {
        return;
    }
    for (int32_t r = 0; r < constraint->rows; r++) {
        v_c[r] = 0.0;
    }
    const stn_jacobian *J = constraint->J;
    if (J[0].tree >= 0) {
        add_product(problem, &J[0], constraint->rows, v, v_c);
    }
    if (J[1].tree >= 0) {
        add_product(problem, &J[1], constraint->rows, v, v_c);
    }
    for (int32_t k = 0; k < constraint->more_count; k++) {
        add_product(problem, &constraint->more[k], constraint->rows, v, v_c);
    }
}

/// Has a block of a contact a wrench and nothing else?
static inline bool has_wrench_alone(const stn_constraint *c) {
    return jacobian_is_wrench(&c->J[0]) || jacobian_is_wrench(&c->J[1]);
}

void stn_problem_jacobian_transposed_add(const stn_problem *problem, double s, const double *gamma, double *y) {
    for (int32_t t = 0; t < problem->tree_count; t++) {
        if (problem->trees[t].A.form == STN_MATRIX_ARTICULATED) {
            articulated_forces(problem->trees[t].A.bodies);
        }
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        i = body_rows_transposed_add(problem, i, s, gamma, y);
        if (i == problem->constraint_count) {
            break;
        }
        const stn_constraint *c = &problem->constraints[i];
        if (!has_wrench_alone(c)) {
            stn_constraint_transposed_add(problem, c, s, gamma + c->row, y);
            continue;
        }
        for (int32_t b = 0; b < stn_constraint_block_count(c); b++) {
            const stn_jacobian *J = stn_constraint_block(c, b);
            if (jacobian_is_wrench(J)) {
                double *F = articulated_work(problem->trees[J->tree].A.bodies);
                wrench_transposed_add(J->wrench, s, gamma + c->row, F + 8 * (size_t)J->tip);
            } else {
                add_transposed_product(problem, J, c->rows, s, gamma + c->row, y);
            }
        }
    }
    for (int32_t t = 0; t < problem->tree_count; t++) {
        if (problem->trees[t].A.form == STN_MATRIX_ARTICULATED) {
            articulated_gather(problem->trees[t].A.bodies, y + problem->trees[t].dof_start);
        }
    }
}

/// A million times what rounding leaves of the two terms of (v_hat - v_c)/R where they cancel.
static const double digits_left = 1e-9;

/// y += |J|^T size of a block that is a wrench.
static void add_wrench_sizes(const stn_problem_tree *tree, const stn_jacobian *J, const double *size, double *y) {
    for (int32_t j = J->tip; j >= 0; j = tree->parent[j]) {
        const double *S = tree->motion + 8 * (size_t)j, *E = J->wrench;
        for (int32_t r = 0; r < 3; r++, E += 8) {
            double value = 0.0;
            for (int32_t k = 0; k < 6; k++) {
                value += E[k] * S[k];
            }
            y[j] += fabs(value) * size[r];
        }
    }
}

void stn_problem_impulse_sizes(const stn_problem *problem, const double *gamma, double *y) {
    memset(y, 0, (size_t)problem->nv * sizeof *y);
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        double size[STN_MAX_ROWS];
        for (int32_t r = 0, row = c->row; r < c->rows; r++, row++) {
            double rest = 0.0, G;
            if (!stn_constraint_has_cone(c) && isfinite(c->stiffness)) {
                stn_box_law(problem->bias[row], problem->R[row], problem->v_hat[row], problem->lo[row],
                            problem->hi[row], &rest, &G);
            }
            const double pull = problem->v_hat[row] - problem->bias[row];
            const double rounded = problem->R[row] > 0.0 ? digits_left * fabs(pull) / problem->R[row] : 0.0;
            size[r] = fmax(fmax(fabs(gamma[row]), fabs(rest)), fmin(rounded, problem->hi[row] - problem->lo[row]));
        }
        for (int32_t b = 0; b < stn_constraint_block_count(c); b++) {
            const stn_jacobian *J = stn_constraint_block(c, b);
            if (jacobian_is_wrench(J)) {
                add_wrench_sizes(&problem->trees[J->tree], J, size, y + problem->trees[J->tree].dof_start);
                continue;
            }
            const int32_t nodes = J->node_count, width = nodes > 0 ? J->node_size : problem->trees[J->tree].A.n;
            const double *values = J->values;
            for (int32_t k = 0; k < (nodes > 0 ? nodes : 1); k++) {
                double *to = y + problem->trees[J->tree].dof_start + (nodes > 0 ? width * J->node[k] : 0);
                for (int32_t r = 0; r < c->rows; r++, values += width) {
                    for (int32_t d = 0; d < width; d++) {
                        to[d] += fabs(values[d]) * size[r];
                    }
                }
            }
        }
    }
}

double stn_problem_imbalance(const stn_problem *problem, const bool *singular, const double *v, const double *gamma,
                             double *work) {
    const size_t n = (size_t)problem->nv;
    double *sizes = work, *momentum = sizes + n, *rest = momentum + n, worst = 0.0;
    stn_problem_impulse_sizes(problem, gamma, sizes);
    stn_problem_mass_times(problem, v, NULL, momentum);
    stn_problem_mass_times(problem, v, problem->v_star, rest);
    stn_problem_jacobian_transposed_add(problem, -1.0, gamma, rest);
    for (int32_t t = 0; t < problem->tree_count; t++) {
        double square[4] = {0.0};
        for (int32_t d = problem->trees[t].dof_start, end = d + problem->trees[t].A.n; singular[t] && d < end; d++) {
            const double f = problem->free_impulse != NULL ? problem->free_impulse[d] : 0.0, r = rest[d] - f;
            square[0] += sizes[d] * sizes[d];
            square[1] += momentum[d] * momentum[d];
            square[2] += f * f;
            square[3] += r * r;
        }
        const double size = fmax(fmax(square[0], square[1]), square[2]);
        const double error = square[2] > 0.0 && square[3] > 0.0 ? sqrt(square[3] / size) : 0.0;
        worst = error > worst || isnan(error) ? error : worst;
    }
    return worst;
}

void stn_problem_contact_velocity(const stn_problem *problem, const double *v, bool with_bias, double *v_c) {
    for (int32_t t = 0; t < problem->tree_count; t++) {
        if (problem->trees[t].A.form == STN_MATRIX_ARTICULATED) {
            articulated_velocities(problem->trees[t].A.bodies, v + problem->trees[t].dof_start);
        }
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        i = body_rows_velocity(problem, i, v, v_c);
        if (i == problem->constraint_count) {
            break;
        }
        const stn_constraint *c = &problem->constraints[i];
        double *own = v_c + c->row;
        if (!has_wrench_alone(c)) {
            stn_constraint_velocity(problem, c, v, own);
            continue;
        }
        own[0] = own[1] = own[2] = 0.0;
        for (int32_t b = 0; b < stn_constraint_block_count(c); b++) {
            const stn_jacobian *J = stn_constraint_block(c, b);
            if (jacobian_is_wrench(J)) {
                const double *V = articulated_work(problem->trees[J->tree].A.bodies);
                wrench_mul_add(J->wrench, V + 8 * (size_t)J->tip, own);
            } else {
                add_product(problem, J, c->rows, v, own);
            }
        }
    }
    for (int32_t r = 0; with_bias && r < problem->row_count; r++) {
        v_c[r] += problem->bias[r];
    }
}

static inline void add_nodal_mass(const stn_matrix *A, int32_t m, const double *x, const double *x0, double *y) {
    const double *block = A->values;
    for (int32_t i = 0; i < A->node_count; i++, y += m) {
        double sum[STN_MAX_NODE_SIZE] = {0.0};
        for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
            const int32_t j = m * A->column[e];
            double d[STN_MAX_NODE_SIZE];
            for (int32_t k = 0; k < m; k++) {
                d[k] = x0 != NULL ? x[j + k] - x0[j + k] : x[j + k];
            }
            for (int32_t r = 0; r < m; r++, block += m) {
                double product = block[0] * d[0];
                for (int32_t k = 1; k < m; k++) {
                    product += block[k] * d[k];
                }
                sum[r] += product;
            }
        }
        for (int32_t k = 0; k < m; k++) {
            y[k] += sum[k];
        }
    }
}

void stn_problem_mass_times(const stn_problem *problem, const double *x, const double *x0, double *y) {
    for (int32_t t = 0; t < problem->tree_count; t++) {
        t = body_mass_times(problem, t, x, x0, y);
        if (t == problem->tree_count) {
            break;
        }
        const stn_matrix *A = &problem->trees[t].A;
        memset(y + problem->trees[t].dof_start, 0, (size_t)A->n * sizeof *y);
        int32_t start = problem->trees[t].dof_start;
        const double *x_t = x + start, *x0_t = x0 != NULL ? x0 + start : NULL;
        bool moved;
        switch (A->form) {
        case STN_MATRIX_ZERO:
            break;
        case STN_MATRIX_DIAGONAL:
            for (int32_t d = 0; d < A->n; d++) {
                y[start + d] = A->values[d] * (x0_t != NULL ? x_t[d] - x0_t[d] : x_t[d]);
            }
            break;
        case STN_MATRIX_DENSE:
            moved = x0_t == NULL;
            for (int32_t d = 0; d < A->n && !moved; d++) {
                moved = x_t[d] != x0_t[d]; // NaN differs from everything
            }
            if (moved) { // trees without constraint move as they would
                row_kernels_choose()->mul_add(A->n, A->values, 1.0, x_t, x0_t, y + start);
            }
            break;
        case STN_MATRIX_NODAL:
            if (A->node_size == 3) {
                add_nodal_mass(A, 3, x_t, x0_t, y + start);
            } else {
                add_nodal_mass(A, A->node_size, x_t, x0_t, y + start);
            }
            break;
        case STN_MATRIX_ARTICULATED:
            articulated_times(A, 1.0, x_t, x0_t, y + start);
            break;
        }
    }
}
