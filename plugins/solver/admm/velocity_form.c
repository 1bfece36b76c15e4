// SPDX-License-Identifier: Apache-2.0
// See admm.h. With t = sigma w/s - bias + v_hat and D = R + sigma/s^2:
//
//     (A + J^T D^-1 J) (v - v*) = f + J^T D^-1 (t - J v*),    gamma = D^-1 (t - J v),    A (v - v*) = J^T gamma + f
//
// Where an A is singular a proximal term is added on the left, and that of the v before on the right (augmented_hold).
#include <math.h>
#include <string.h>

#include "admm.h"
#include "common/proximal.h"

stn_status velocity_form_build(const stn_problem *problem, const stn_solve_control *control, const double *v,
                               scaled_dual *dual, velocity_form *out, stn_error *err) {
    stn_arena *arena = control->arena;
    *out = (velocity_form){.problem = problem, .dual = dual};
    double **const dofs[] = {&out->v, &out->right, &out->work, &out->scale};
    double **const rows[] = {&out->soft, &out->target, &out->gamma, &out->v_c};
    out->balance = STN_ARENA(arena, 3 * (size_t)problem->nv + 1, double);
    bool good = out->balance != NULL;
    for (int32_t i = 0; i < STN_COUNT(dofs); i++) {
        *dofs[i] = STN_ARENA_ZEROED(arena, problem->nv + 1, double);
        *rows[i] = STN_ARENA_ZEROED(arena, problem->row_count + 1, double);
        good = good && *dofs[i] != NULL && *rows[i] != NULL;
    }
    if (!good) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs, %d rows: out of memory", problem->nv, problem->row_count);
    }
    memcpy(out->v, v, (size_t)problem->nv * sizeof *v);
    proximal_scale(problem, out->scale);
    stn_status status = scaled_dual_build_traces(problem, control, dual, err);
    if (status == STN_OK) {
        status = augmented_pack(&out->H, problem, control, err);
    }
    if (status == STN_OK) {
        status = augmented_hold(&out->H, err);
    }
    if (status == STN_OK) {
        status = augmented_analyse(&out->H, AUGMENTED_AUTO, err);
    }
    if (status != STN_OK) {
        return status;
    }
    out->G = STN_ARENA_ZEROED(arena, 6 * (size_t)out->H.lane_stride + 1, double);
    out->line_G = STN_ARENA_ZEROED(arena, out->H.line_stride + 1, double);
    if (out->G == NULL || out->line_G == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs, %d rows: out of memory", problem->nv, problem->row_count);
    }
    return STN_OK;
}

/// Scale of row r: gamma = scale x. 0 along a tangent without friction.
static double scale_of(const velocity_form *form, const packed_row *row, int32_t r) {
    return form->dual->s[row->place] * (row->cone && r < 2 ? row->scale[r] : 1.0);
}

stn_status velocity_form_factor(velocity_form *form, double sigma, stn_error *err) {
    const stn_problem *p = form->problem;
    augmented *H = &form->H;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const packed_row *row = &form->dual->H.rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            double s = scale_of(form, row, r), D = p->R[row->row + r] + sigma / (s * s);
            form->soft[row->row + r] = s > 0.0 ? 1.0 / D : 0.0;
        }
    }
    for (int32_t i = 0; i < H->lane_count; i++) {
        const double *soft = form->soft + p->constraints[H->lane_constraint[i]].row;
        form->G[i] = soft[0];
        form->G[i + 2 * H->lane_stride] = soft[1];
        form->G[i + 5 * H->lane_stride] = soft[2];
    }
    for (int32_t i = 0; i < H->line_count; i++) {
        form->line_G[i] = form->soft[H->line_row[i]];
    }
    augmented_assemble(H, form->G, form->line_G, NULL);
    return augmented_factor(H, 0.0, err);
}

void velocity_form_solve(velocity_form *form, double sigma, const double *w, double *x) {
    const stn_problem *p = form->problem;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const packed_row *row = &form->dual->H.rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            double s = scale_of(form, row, r);
            int32_t k = row->row + r;
            form->target[k] = (s > 0.0 ? sigma * w[row->place + r] / s : 0.0) - p->bias[k] + p->v_hat[k];
        }
    }
    stn_problem_contact_velocity(p, p->v_star, false, form->v_c);
    for (int32_t r = 0; r < p->row_count; r++) {
        form->gamma[r] = form->soft[r] * (form->target[r] - form->v_c[r]);
    }
    for (int32_t d = 0; d < p->nv; d++) {
        form->right[d] = p->free_impulse != NULL ? p->free_impulse[d] : 0.0;
    }
    for (int32_t d = 0; d < p->nv && form->H.proximal != NULL; d++) {
        form->right[d] += form->H.proximal[d] * (form->v[d] - p->v_star[d]);
    }
    stn_problem_jacobian_transposed_add(p, 1.0, form->gamma, form->right);
    augmented_solve(&form->H, form->right);
    for (int32_t d = 0; d < p->nv; d++) {
        form->v[d] = p->v_star[d] + form->right[d];
    }
    stn_problem_contact_velocity(p, form->v, false, form->v_c);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const packed_row *row = &form->dual->H.rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            double s = scale_of(form, row, r),
                   gamma = form->soft[row->row + r] * (form->target[row->row + r] - form->v_c[row->row + r]);
            x[row->place + r] = s > 0.0 ? gamma / s : 0.0;
        }
    }
}

void velocity_form_gradient(velocity_form *form, const double *z, double *g) {
    const stn_problem *p = form->problem;
    stn_problem_contact_velocity(p, form->v, true, form->v_c);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const packed_row *row = &form->dual->H.rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            double s = scale_of(form, row, r);
            int32_t k = row->row + r;
            g[row->place + r] = s * (form->v_c[k] - p->v_hat[k] + p->R[k] * s * z[row->place + r]);
        }
    }
}

/// |scale x|.
static double scaled_norm(const velocity_form *form, const double *x) {
    double sum = 0.0;
    for (int32_t d = 0; d < form->problem->nv; d++) {
        sum += form->scale[d] * x[d] * form->scale[d] * x[d];
    }
    return sqrt(sum);
}

momentum_residual velocity_form_momentum(velocity_form *form, const double *z) {
    const stn_problem *p = form->problem;
    momentum_residual out;
    stn_problem_mass_times(p, form->v, NULL, form->work);
    out.size = scaled_norm(form, form->work);
    scaled_dual_leave(form->dual, z, form->gamma);
    memset(form->work, 0, (size_t)p->nv * sizeof *form->work);
    stn_problem_jacobian_transposed_add(p, 1.0, form->gamma, form->work);
    if (form->H.proximal != NULL) { // what balances may cancel to nothing
        stn_problem_impulse_sizes(p, form->gamma, form->right);
        out.size = fmax(out.size, scaled_norm(form, form->right));
    }
    out.size = fmax(out.size, scaled_norm(form, form->work));
    stn_problem_mass_times(p, form->v, p->v_star, form->right);
    for (int32_t d = 0; d < p->nv; d++) {
        form->right[d] -= form->work[d] + (p->free_impulse != NULL ? p->free_impulse[d] : 0.0);
    }
    out.value = scaled_norm(form, form->right);
    return out;
}
