// SPDX-License-Identifier: Apache-2.0
// See body_rows.h. A row of six numbers is a vector of four and one of two.
#include "problem/body_rows.h"

#include <stiction/kernel.h>

// Passed by value only between inlined functions, so no ABI is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"

enum { DOFS = 6, ROWS = 3 };

typedef double four __attribute__((vector_size(32), aligned(8), may_alias)); // at any address
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));
typedef struct six {
    four low;
    pair high;
} six;

STN_KERNEL_INLINE six read_six(const double *x) {
    return (six){*(const four *)x, *(const pair *)(x + 4)};
}

STN_KERNEL_INLINE void write_six(double *x, six value) {
    *(four *)x = value.low;
    *(pair *)(x + 4) = value.high;
}

STN_KERNEL_INLINE six scaled(double s, six x) {
    return (six){x.low * s, x.high * s};
}

/// sum += s x.
STN_KERNEL_INLINE void add_scaled(six *sum, double s, six x) {
    sum->low += x.low * s;
    sum->high += x.high * s;
}

STN_KERNEL_INLINE bool is_body(const stn_problem *problem, int32_t tree) {
    const stn_matrix *A = &problem->trees[tree].A;
    return A->n == DOFS && A->form == STN_MATRIX_DENSE;
}

STN_KERNEL_INLINE bool is_side(const stn_problem *problem, const stn_jacobian *J) {
    return J->node_count == 0 && J->wrench == NULL && is_body(problem, J->tree);
}

/// A contact of one or two free bodies.
STN_KERNEL_INLINE bool is_contact(const stn_problem *problem, const stn_constraint *c) {
    return c->rows == ROWS && c->more_count == 0 && c->J[0].tree >= 0 && is_side(problem, &c->J[0]) &&
           (c->J[1].tree < 0 || is_side(problem, &c->J[1]));
}

/// y += J v.
STN_KERNEL_INLINE void multiply_add(const double *J, six v, double y[ROWS]) {
#pragma GCC unroll 3
    for (int32_t r = 0; r < ROWS; r++) {
        const six row = read_six(J + DOFS * r);
        const four low = row.low * v.low;
        const pair sum = ((pair){low[0], low[1]} + (pair){low[2], low[3]}) + row.high * v.high;
        y[r] += sum[0] + sum[1];
    }
}

STN_KERNEL_INLINE bool find_velocity(const stn_problem *problem, const stn_constraint *c, const double *v,
                                     double *v_c) {
    if (!is_contact(problem, c)) {
        return false;
    }
    double sum[ROWS] = {0.0};
    multiply_add(c->J[0].values, read_six(v + problem->trees[c->J[0].tree].dof_start), sum);
    if (c->J[1].tree >= 0) {
        multiply_add(c->J[1].values, read_six(v + problem->trees[c->J[1].tree].dof_start), sum);
    }
#pragma GCC unroll 3
    for (int32_t r = 0; r < ROWS; r++) {
        v_c[r] = sum[r];
    }
    return true;
}

STN_KERNEL int32_t body_rows_velocity(const stn_problem *problem, int32_t from, const double *v, double *v_c) {
    int32_t i = from;
    while (i < problem->constraint_count &&
           find_velocity(problem, &problem->constraints[i], v, v_c + problem->constraints[i].row)) {
        i++;
    }
    return i;
}

STN_KERNEL bool body_row_velocity(const stn_problem *problem, const stn_constraint *c, const double *v, double *v_c) {
    return find_velocity(problem, c, v, v_c);
}

STN_KERNEL_INLINE void transposed_add(const double *J, const double g[ROWS], double *y) {
    six all = read_six(y), sum = scaled(g[0], read_six(J));
    add_scaled(&sum, g[1], read_six(J + DOFS));
    add_scaled(&sum, g[2], read_six(J + 2 * DOFS));
    all.low += sum.low;
    all.high += sum.high;
    write_six(y, all);
}

STN_KERNEL_INLINE bool push(const stn_problem *problem, const stn_constraint *c, double s, const double *gamma,
                            double *y) {
    if (!is_contact(problem, c)) {
        return false;
    }
    const double g[ROWS] = {s * gamma[0], s * gamma[1], s * gamma[2]};
    transposed_add(c->J[0].values, g, y + problem->trees[c->J[0].tree].dof_start);
    if (c->J[1].tree >= 0) {
        transposed_add(c->J[1].values, g, y + problem->trees[c->J[1].tree].dof_start);
    }
    return true;
}

STN_KERNEL int32_t body_rows_transposed_add(const stn_problem *problem, int32_t from, double s, const double *gamma,
                                            double *y) {
    int32_t i = from;
    while (i < problem->constraint_count &&
           push(problem, &problem->constraints[i], s, gamma + problem->constraints[i].row, y)) {
        i++;
    }
    return i;
}

STN_KERNEL bool body_row_transposed_add(const stn_problem *problem, const stn_constraint *c, double s,
                                        const double *gamma, double *y) {
    return push(problem, c, s, gamma, y);
}

STN_KERNEL int32_t body_mass_times(const stn_problem *problem, int32_t from, const double *x, const double *x0,
                                   double *y) {
    int32_t t = from;
    for (; t < problem->tree_count && is_body(problem, t); t++) {
        const int32_t start = problem->trees[t].dof_start;
        const double *A = problem->trees[t].A.values;
        six d = read_six(x + start);
        if (x0 != NULL) {
            const six before = read_six(x0 + start);
            d.low -= before.low;
            d.high -= before.high;
        }
        // symmetric: row j is column j
        six sum = scaled(d.low[0], read_six(A)), other = scaled(d.low[2], read_six(A + 2 * DOFS));
        add_scaled(&sum, d.low[1], read_six(A + DOFS));
        add_scaled(&other, d.low[3], read_six(A + 3 * DOFS));
        sum.low += other.low;
        sum.high += other.high;
        add_scaled(&sum, d.high[0], read_six(A + 4 * DOFS));
        add_scaled(&sum, d.high[1], read_six(A + 5 * DOFS));
        write_six(y + start, sum);
    }
    return t;
}
