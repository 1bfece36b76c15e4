// SPDX-License-Identifier: Apache-2.0
// Newton's direction.
#include "system.h"

/// In the place of conjugate gradients, for the rest of the solve.
static stn_status take_whole_factor(sap_system *s, stn_error *err) {
    s->info->fallbacks++;
    s->factorizations++;
    return augmented_complete(&s->H, err);
}

stn_status sap_factor(sap_system *s, bool damped, stn_error *err) {
    double mark = phase_mark(s->control);
    const augmented_form form = (augmented_form)s->config->factorization;
    stn_status status =
        s->H.ready ? STN_OK : augmented_analyse(&s->H, form == AUGMENTED_AUTO ? AUGMENTED_LARGE : form, err);
    if (status != STN_OK) {
        return status;
    }
    sap_anticipate(s);
    augmented_assemble(&s->H, s->H_G, s->now.line_G, s->changed);
    phase_note(s->control, STN_PHASE_HESSIAN, mark);
    s->factorizations++;
    mark = phase_mark(s->control);
    status = augmented_factor(&s->H, damped ? 1e-12 : 0.0, err);
    if (status == STN_ERR_NUMERIC && s->H.iterative) {
        status = take_whole_factor(s, err);
    }
    phase_note(s->control, STN_PHASE_FACTOR, mark);
    return status;
}

/// x = H^-1 x.
static stn_status solve(sap_system *s, double *x, stn_error *err) {
    if (s->H.iterative) {
        bool done;
        stn_status status = sap_conjugate(s, x, &done, err);
        if (status != STN_OK || done) {
            return status;
        }
        status = take_whole_factor(s, err);
        if (status != STN_OK) {
            return status;
        }
    }
    augmented_solve(&s->H, x);
    return STN_OK;
}

/// -gradient, compact.
static void take_gradient(void *user, int32_t begin, int32_t end, int32_t worker) {
    (void)worker;
    const sap_system *s = user;
    for (int32_t b = begin; b < end; b++) {
        const augmented_block *block = &s->H.blocks[b];
        for (int32_t i = 0; i < block->n; i++) {
            s->compact[block->compact + i] = -s->gradient[block->start + i];
        }
    }
}

static void give_direction(void *user, int32_t begin, int32_t end, int32_t worker) {
    (void)worker;
    const sap_system *s = user;
    for (int32_t b = begin; b < end; b++) {
        const augmented_block *block = &s->H.blocks[b];
        for (int32_t i = 0; i < block->n; i++) {
            s->dv[block->start + i] = s->compact[block->compact + i];
        }
    }
}

STN_KERNEL static void multiply(void *user, int32_t part, int32_t worker) {
    (void)worker;
    const sap_system *s = user;
    const int32_t begin = SAP_VELOCITIES * part, n = sap_part_end(part, SAP_VELOCITIES, s->H.nx) - begin;
    const double *dv = s->dv + begin;
    double *sums = s->sums + 8 * (size_t)part;
    sums[0] = padded_dot(n, s->gradient + begin, dv);
    sums[1] = padded_dot(n, s->p + begin, dv);
    sums[2] = padded_dot(n, s->force + begin, dv);
    sums[3] = padded_dot(n, dv, s->dp + begin);
}

stn_status sap_direction(sap_system *s, stn_error *err) {
    enum { PIECE = 256 }; // blocks
    double products[4];
    augmented_parallel(&s->H, s->H.block_count, PIECE, take_gradient, s);
    stn_status status = solve(s, s->compact, err);
    if (status != STN_OK) {
        return status;
    }
    augmented_parallel(&s->H, s->H.block_count, PIECE, give_direction, s);
    augmented_mass_times(&s->H, s->dv, s->dp);
    augmented_jacobian_times(&s->H, s->dv, s->dv_c, s->line_dv);
    if (s->config->anticipate) {
        sap_predict(s);
    }
    sap_by_velocities(s, multiply, s, 4, products);
    s->slope = products[0];
    s->p_dv = products[1];
    s->force_dv = products[2];
    s->dp_dv = products[3];
    return STN_OK;
}
