// SPDX-License-Identifier: Apache-2.0
// Implicit differentiation of the minimum, with the law's G at the solution:
//
//     (A + J^T G J) dv = impulse - J^T G velocity,    dgamma = -G (J dv + velocity)
//
// corrected by the residual of these equations themselves, which also removes the proximal term where an A is singular.
#include <math.h>
#include <string.h>

#include "system.h"

/// dgamma (row_count) = -G u by lanes and lines.
static void times_G(const sap_system *s, const double *u, double *dgamma) {
    static const int32_t at[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}}; // 11, 12, 22, 13, 23, 33
    const size_t stride = (size_t)s->batch.stride;
    for (int32_t i = 0; i < s->batch.count; i++) {
        const int32_t row = s->problem->constraints[s->batch.constraint[i]].row;
        for (int32_t r = 0; r < 3; r++) {
            dgamma[row + r] = 0.0;
            for (int32_t c = 0; c < 3; c++) {
                dgamma[row + r] -= s->now.G[(size_t)at[r][c] * stride + (size_t)i] * u[row + c];
            }
        }
    }
    for (int32_t i = 0; i < s->H.line_count; i++) {
        dgamma[s->H.line_row[i]] = -s->now.line_G[i] * u[s->H.line_row[i]];
    }
}

/// dgamma of dv, and in `left` (nv) what is left of the balance; u (row_count) is scratch. Returns |D left|.
static double find_residual(const sap_system *s, const double *impulse, const double *velocity, const double *dv,
                            double *dgamma, double *left, double *u) {
    const stn_problem *p = s->problem;
    double sum = 0.0;
    stn_problem_contact_velocity(p, dv, false, u);
    for (int32_t r = 0; r < p->row_count; r++) {
        u[r] += velocity[r];
    }
    times_G(s, u, dgamma);
    stn_problem_mass_times(p, dv, NULL, left);
    for (int32_t d = 0; d < p->nv; d++) {
        left[d] = impulse[d] - left[d];
    }
    stn_problem_jacobian_transposed_add(p, 1.0, dgamma, left);
    for (int32_t b = 0; b < s->H.block_count; b++) {
        const augmented_block *block = &s->H.blocks[b];
        for (int32_t i = 0; i < block->n; i++) {
            double scaled = s->D[block->start + i] * left[block->dof + i];
            sum += scaled * scaled;
        }
    }
    return sqrt(sum);
}

/// One column; work (nv) and rows (row_count) are overwritten.
static stn_status find_column(sap_system *s, const double *impulse, const double *velocity, double *dv, double *dgamma,
                              double *work, double *rows, stn_error *err) {
    enum { MOST = 500 };
    memset(dv, 0, (size_t)s->problem->nv * sizeof *dv);
    const double first = find_residual(s, impulse, velocity, dv, dgamma, work, rows);
    double before = first;
    for (int32_t k = 0; k < MOST && before > 1e-14 * first; k++) {
        for (int32_t b = 0; b < s->H.block_count; b++) {
            const augmented_block *block = &s->H.blocks[b];
            memcpy(s->compact + block->compact, work + block->dof, (size_t)block->n * sizeof *work);
        }
        augmented_solve(&s->H, s->compact);
        for (int32_t b = 0; b < s->H.block_count; b++) {
            const augmented_block *block = &s->H.blocks[b];
            for (int32_t i = 0; i < block->n; i++) {
                dv[block->dof + i] += s->compact[block->compact + i];
            }
        }
        double now = find_residual(s, impulse, velocity, dv, dgamma, work, rows);
        if (now > 0.5 * before && now <= 1e-8 * first) {
            return STN_OK; // at the end of its digits
        }
        if (!(now <= 0.999 * before)) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "the solution does not determine its derivative: A + J^T G J is singular along an impulse");
        }
        before = now;
    }
    return STN_OK;
}

stn_status sap_differentiate(void *self, const stn_problem *problem, const stn_solve_control *control,
                             const stn_solution *solution, const stn_sensitivity *sensitivity, stn_error *err) {
    stn_solve_info info = {0};
    sap_system s = {.problem = problem, .control = control, .config = self, .info = &info};
    stn_status status = sap_pack(&s, solution->v, err);
    if (status != STN_OK) {
        return status;
    }
    double *work = STN_ARENA(control->arena, problem->nv + 1, double);
    double *rows = STN_ARENA(control->arena, problem->row_count + 1, double);
    if (work == NULL || rows == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    sap_refresh(&s);
    const augmented_form form = (augmented_form)s.config->factorization;
    status = augmented_analyse(&s.H, form == AUGMENTED_ITERATIVE ? AUGMENTED_AUTO : form, err);
    if (status == STN_OK) {
        augmented_assemble(&s.H, s.now.G, s.now.line_G, NULL);
        status = augmented_factor(&s.H, 0.0, err);
    }
    for (int32_t k = 0; k < sensitivity->columns && status == STN_OK; k++) {
        const size_t dof = (size_t)k * (size_t)problem->nv, row = (size_t)k * (size_t)problem->row_count;
        status = find_column(&s, sensitivity->impulse + dof, sensitivity->velocity + row, sensitivity->dv + dof,
                             sensitivity->dgamma + row, work, rows, err);
    }
    return status;
}
