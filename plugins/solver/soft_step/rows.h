// SPDX-License-Identifier: Apache-2.0
// The constraints of a problem, packed for sweeps over velocities: J and A^-1 J^T of each, one after the other.
#ifndef SOFT_STEP_ROWS_H
#define SOFT_STEP_ROWS_H

#include <stiction/kernel.h>
#include <stiction/plugin.h>

// Passed by value only between inlined functions, so no ABI is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"
typedef double soft_v4 __attribute__((vector_size(32), aligned(16), may_alias));

enum {
    SOFT_ROOM = 8, // of vectors of rows: STN_MAX_ROWS, in whole lanes
    SOFT_BODY = 6, // dofs of a free body
};

/// One side: a tree that the constraint moves.
typedef struct soft_side {
    int32_t dof, n;  // its velocities are [dof, dof + n)
    const double *J; // n columns of `width`; NULL: by node, read from the problem
    const double *B; // A^-1 J^T/theta: a row of the constraint, n long, after the other
} soft_side;

/// A constraint with its state within the step. Tangents of an ellipse are scaled (`scale`) so that its cone is
/// circular: lambda and rows are those of the scaled tangents.
typedef struct soft_row {
    const stn_constraint *constraint;
    int32_t rows, width; // width: rows in whole lanes
    bool cone;
    bool rigid;      // a contact that is stiffer than a sub-step resolves: held soft, then relaxed
    double mu;       // of the circular cone
    double scale[2]; // of the tangents; 1 but for an ellipse
    double tangent;  // 1/(largest eigenvalue of the tangents' block), 0: nothing moves along them [kg]
    double gap;      // phi0; 0 where there is none [m]
    bool placed;     // phi0 is known: the gap follows the motion
    double bounce;   // normal speed after an impact, -e v_n0 [m/s]; 0: none
    int32_t side_count;
    soft_side *side; // (side_count); all have a J, or none has
    // (width) each, of a sub-step: v_c + R lambda = target where lambda is within its bounds
    double *W;              // J A^-1 J^T/theta, its columns `width` apart [1/kg]
    double *R;              // [1/kg]
    double *target;         // [m/s]; of rows that have a place: at that of the sub-step at hand
    double *start;          // the same at the step's start
    double *rate;           // by how much a motion along the row lowers it [1/s]
    double *bias;           // of v_c [m/s]
    double *drift;          // motion along the row since the step's start [m]
    double *lo, *hi;        // of lambda, without a cone [N s]
    double *lambda, *total; // impulses of the sub-step, and of those before it [N s]
} soft_row;

/// What sub-steps are made of.
typedef struct soft_rule {
    int32_t substeps;
    double h;                  // dt/substeps [s]
    double frequency, damping; // of rigid contacts [rad/s], ratio [1]
    double push_speed;         // at which an overlap is undone at most [m/s]
    double theta;              // v of the problem is v0 + theta (u - v0), u the velocity that the sub-steps change
} soft_rule;

/// Packs everything into the arena of `control`; lambda begins at gamma/substeps. False: out of memory.
bool soft_rows_build(const stn_problem *problem, const stn_solve_control *control, const soft_rule *rule,
                     const double *gamma, soft_row **out);

/// v_c = J v of a constraint, without bias (`width` entries).
STN_KERNEL_INLINE void soft_velocity(const stn_problem *problem, const soft_row *row, const double *v, double *v_c) {
    if (row->side[0].J == NULL) { // by node
        for (int32_t r = row->rows; r < row->width; r++) {
            v_c[r] = 0.0;
        }
        stn_constraint_velocity(problem, row->constraint, v, v_c);
        if (row->cone) {
            v_c[0] *= row->scale[0];
            v_c[1] *= row->scale[1];
        }
        return;
    }
    for (int32_t r = 0; r < row->width; r += 4) {
        soft_v4 even = {0.0}, odd = {0.0};
        for (int32_t k = 0; k < row->side_count; k++) {
            const soft_side *side = &row->side[k];
            const double *J = side->J + r, *u = v + side->dof;
            if (side->n == SOFT_BODY && row->width == 4) { // the lengths known to the compiler
                for (int32_t d = 0; d < SOFT_BODY; d += 2, J += 8) {
                    even += *(const soft_v4 *)J * u[d];
                    odd += *(const soft_v4 *)(J + 4) * u[d + 1];
                }
                continue;
            }
            int32_t d = 0;
            for (; d + 1 < side->n; d += 2, J += 2 * row->width) {
                even += *(const soft_v4 *)J * u[d];
                odd += *(const soft_v4 *)(J + row->width) * u[d + 1];
            }
            if (d < side->n) {
                even += *(const soft_v4 *)J * u[d];
            }
        }
        *(soft_v4 *)(v_c + r) = even + odd;
    }
}

/// v += A^-1 J^T x/theta, x (rows) an impulse of the constraint.
STN_KERNEL_INLINE void soft_push(const soft_row *row, const double *x, double *v) {
    for (int32_t k = 0; k < row->side_count; k++) {
        const soft_side *side = &row->side[k];
        double *u = v + side->dof;
        const double *B = side->B;
        const int32_t n = side->n;
        if (row->rows == 3 && n == SOFT_BODY) { // the lengths known to the compiler
            for (int32_t d = 0; d < SOFT_BODY; d++) {
                u[d] += B[d] * x[0] + B[SOFT_BODY + d] * x[1] + B[2 * SOFT_BODY + d] * x[2];
            }
            continue;
        }
        if (row->rows == 3) {
            for (int32_t d = 0; d < n; d++) {
                u[d] += B[d] * x[0] + B[n + d] * x[1] + B[2 * n + d] * x[2];
            }
            continue;
        }
        for (int32_t r = 0; r < row->rows; r++, B += n) {
            for (int32_t d = 0; d < n; d++) {
                u[d] += B[d] * x[r];
            }
        }
    }
}

#endif
