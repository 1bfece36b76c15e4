// SPDX-License-Identifier: Apache-2.0
// See newton_system.h.
#include "newton_system.h"

#include <math.h>
#include <string.h>

enum { BLOCK = STN_MAX_ROWS * STN_MAX_ROWS };

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "Newton system: out of memory");
}

stn_status newton_system_build(const stn_problem *problem, const stn_solve_control *control, const scaled_dual *dual,
                               const double *T, newton_system *out, stn_error *err) {
    enum { FEW = 96, RATIO = 8 }; // over velocities: rows are many beside the dofs, and every one has a compliance
    bool many =
        problem->form == STN_FORM_GLOBAL && problem->row_count >= FEW && problem->row_count >= RATIO * problem->nv;
    for (int32_t r = 0; many && r < problem->row_count; r++) {
        many = problem->R[r] > 0.0;
    }
    *out = (newton_system){.problem = problem, .p = &dual->H, .over_velocities = many};
    out->frame = STN_ARENA(control->arena, dual->H.n + 1, jordan_frame);
    out->value = packed_vector(&dual->H, control->arena);
    if (out->frame == NULL || out->value == NULL) {
        return out_of_memory(err);
    }
    if (!out->over_velocities) {
        return dense_dual_build(out->p, T, control->arena, &out->dense, err);
    }
    out->tau = packed_vector(out->p, control->arena);
    out->rho = packed_vector(out->p, control->arena);
    out->inverse = STN_ARENA(control->arena, (size_t)out->p->n * BLOCK, double);
    out->gamma = STN_ARENA(control->arena, problem->row_count, double);
    out->v = STN_ARENA(control->arena, problem->nv, double);
    if (out->tau == NULL || out->rho == NULL || out->inverse == NULL || out->gamma == NULL || out->v == NULL) {
        return out_of_memory(err);
    }
    for (int32_t i = 0; i < out->p->n; i++) {
        const packed_row *row = &out->p->rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            int32_t k = row->place + r;
            double S = row->cone && r < 2 ? row->scale[r] : 1.0;
            out->tau[k] = T[k] * dual->s[k] * S;
            double own = T[k] * T[k] * row->own[r * (row->width + 1)]; // of directions without friction
            out->rho[k] = S > 0.0 ? out->tau[k] * out->tau[k] * problem->R[row->row + r] : own;
        }
    }
    stn_status status = augmented_pack(&out->H, problem, control, err);
    if (status == STN_OK) {
        status = augmented_analyse(&out->H, AUGMENTED_AUTO, err);
    }
    if (status != STN_OK) {
        return status;
    }
    out->G = STN_ARENA_ZEROED(control->arena, 6 * (size_t)out->H.lane_stride + 1, double);
    out->line_G = STN_ARENA_ZEROED(control->arena, out->H.line_stride + 1, double);
    return out->G != NULL && out->line_G != NULL ? STN_OK : out_of_memory(err);
}

// ------------------------------------------------------------------------------------------------------ over impulses

/// x = F^T x into the frame, or F x out of it.
static void turn_vector(const jordan_frame *frame, bool into, double *x) {
    const double(*F)[3] = frame->F;
    double a = x[0], b = x[1], c = x[2];
    for (int32_t k = 0; k < 3; k++) {
        x[k] = into ? F[0][k] * a + F[1][k] * b + F[2][k] * c : F[k][0] * a + F[k][1] * b + F[k][2] * c;
    }
}

static void turn_cones(const newton_system *m, bool into, double *x) {
    for (int32_t i = 0; i < m->p->n; i++) {
        if (m->p->rows[i].cone) {
            turn_vector(&m->frame[i], into, x + m->p->rows[i].place);
        }
    }
}

static bool factor_impulses(newton_system *m) {
    // `lower` = F^T M F, constraint by constraint; F = 1 where there is no cone
    dense_dual *d = &m->dense;
    const size_t n = (size_t)d->n, stride = (size_t)d->stride;
    dense_dual_reset(d);
    for (int32_t i = 0; i < m->p->n; i++) {
        const packed_row *row = &m->p->rows[i];
        double *a = d->lower + (size_t)row->row * stride, *b = a + stride, *c = b + stride;
        double(*F)[3] = m->frame[i].F;
        for (size_t k = 0; k < n && row->cone; k++) {
            double x = a[k], y = b[k], z = c[k];
            a[k] = F[0][0] * x + F[1][0] * y + F[2][0] * z;
            b[k] = F[0][1] * x + F[1][1] * y + F[2][1] * z;
            c[k] = F[0][2] * x + F[1][2] * y + F[2][2] * z;
        }
    }
    for (size_t r = 0; r < n; r++) {
        for (int32_t i = 0; i < m->p->n; i++) {
            const packed_row *row = &m->p->rows[i];
            double *own = d->lower + r * stride + row->row;
            if (row->cone) {
                turn_vector(&m->frame[i], true, own);
            }
        }
    }
    for (int32_t i = 0; i < m->p->n;
         i++) { // 1e-14 of the mean diagonal of M keeps operators without full rank positive
        const packed_row *row = &m->p->rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            dense_dual_add(&m->dense, row, r, r, m->value[row->place + r] + 1e-14);
        }
    }
    return dense_dual_factor(&m->dense) < 0;
}

// ---------------------------------------------------------------------------------------------------- over velocities

/// B^-1 of a cone by its Cholesky factor in the frame, where F^T rho F is small beside what differs by many digits.
static bool invert_cone(const jordan_frame *frame, const double *value, const double *rho, double *inverse) {
    double B[9], X[9];
    for (int32_t a = 0; a < 3; a++) {
        for (int32_t b = 0; b < 3; b++) {
            double sum = a == b ? value[a] : 0.0;
            for (int32_t k = 0; k < 3; k++) {
                sum += frame->F[k][a] * rho[k] * frame->F[k][b];
            }
            B[3 * a + b] = sum;
            X[3 * b + a] = frame->F[b][a]; // rows: unit vectors in the frame
        }
    }
    if (stn_cholesky(3, B, 3) >= 0) {
        return false;
    }
    for (int32_t b = 0; b < 3; b++) {
        stn_cholesky_forward(3, B, 3, 1, X + 3 * b, 3);
    }
    for (int32_t a = 0; a < 3; a++) {
        for (int32_t b = 0; b < 3; b++) {
            inverse[3 * a + b] = X[3 * a] * X[3 * b] + X[3 * a + 1] * X[3 * b + 1] + X[3 * a + 2] * X[3 * b + 2];
        }
    }
    return true;
}

/// x = B^-1 x.
static void divide_blocks(const newton_system *m, double *x) {
    for (int32_t i = 0; i < m->p->n; i++) {
        const packed_row *row = &m->p->rows[i];
        const double *inverse = m->inverse + (size_t)i * BLOCK;
        double in[STN_MAX_ROWS], *out = x + row->place;
        memcpy(in, out, (size_t)row->rows * sizeof *in);
        for (int32_t r = 0; r < row->rows; r++) {
            out[r] = 0.0;
            for (int32_t c = 0; c < row->rows; c++) {
                out[r] += inverse[r * row->rows + c] * in[c];
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------------------- either

bool newton_system_factor(newton_system *m) {
    if (!m->over_velocities) {
        return factor_impulses(m);
    }
    augmented *H = &m->H;
    for (int32_t i = 0; i < m->p->n; i++) {
        const packed_row *row = &m->p->rows[i];
        double *inverse = m->inverse + (size_t)i * BLOCK;
        const double *value = m->value + row->place, *rho = m->rho + row->place;
        if (row->cone && !invert_cone(&m->frame[i], value, rho, inverse)) {
            return false;
        }
        for (int32_t r = 0; r < row->rows && !row->cone; r++) {
            for (int32_t c = 0; c < row->rows; c++) {
                inverse[r * row->rows + c] = r == c ? 1.0 / (value[r] + rho[r]) : 0.0;
            }
        }
        // m->gamma serves as a list of the rows' own G
        for (int32_t r = 0; r < row->rows; r++) {
            double tau = m->tau[row->place + r];
            m->gamma[row->row + r] = tau * inverse[r * (row->rows + 1)] * tau;
        }
    }
    for (int32_t i = 0; i < H->lane_count; i++) {
        static const int32_t entries[6][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 2}};
        const int32_t index = H->lane_constraint[i];
        const double *inverse = m->inverse + (size_t)index * BLOCK, *tau = m->tau + m->p->rows[index].place;
        for (int32_t e = 0; e < 6; e++) {
            int32_t r = entries[e][0], c = entries[e][1];
            m->G[e * H->lane_stride + i] = tau[r] * inverse[3 * r + c] * tau[c];
        }
    }
    for (int32_t i = 0; i < H->line_count; i++) {
        m->line_G[i] = m->gamma[H->line_row[i]];
    }
    augmented_assemble(H, m->G, m->line_G, NULL);
    return augmented_factor(H, 0.0, NULL) == STN_OK;
}

void newton_system_solve(newton_system *m, double *right, double *x) {
    const stn_problem *problem = m->problem;
    if (!m->over_velocities) {
        turn_cones(m, true, right);
        dense_dual_solve(&m->dense, right, x);
        turn_cones(m, false, x);
        return;
    }
    memcpy(x, right, (size_t)m->p->size * sizeof *x);
    divide_blocks(m, x);
    for (int32_t i = 0; i < m->p->n; i++) {
        const packed_row *row = &m->p->rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            m->gamma[row->row + r] = m->tau[row->place + r] * x[row->place + r];
        }
    }
    memset(m->v, 0, (size_t)problem->nv * sizeof *m->v);
    stn_problem_jacobian_transposed_add(problem, 1.0, m->gamma, m->v);
    augmented_solve(&m->H, m->v);
    stn_problem_contact_velocity(problem, m->v, false, m->gamma);
    for (int32_t i = 0; i < m->p->n; i++) {
        const packed_row *row = &m->p->rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            x[row->place + r] = right[row->place + r] - m->tau[row->place + r] * m->gamma[row->row + r];
        }
    }
    divide_blocks(m, x);
}
