// SPDX-License-Identifier: Apache-2.0
// Newton's direction.
#include <string.h>

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

stn_status sap_direction(sap_system *s, double *slope, stn_error *err) {
    for (int32_t b = 0; b < s->H.block_count; b++) {
        const augmented_block *block = &s->H.blocks[b];
        for (int32_t i = 0; i < block->n; i++) {
            s->compact[block->compact + i] = -s->gradient[block->start + i];
        }
    }
    stn_status status = solve(s, s->compact, err);
    if (status != STN_OK) {
        return status;
    }
    for (int32_t b = 0; b < s->H.block_count; b++) {
        const augmented_block *block = &s->H.blocks[b];
        memcpy(s->dv + block->start, s->compact + block->compact, (size_t)block->n * sizeof *s->dv);
    }
    augmented_mass_times(&s->H, s->dv, s->dp);
    augmented_jacobian_times(&s->H, s->dv, s->dv_c, s->line_dv);
    if (s->config->anticipate) {
        sap_predict(s);
    }
    *slope = padded_dot(s->H.nx, s->gradient, s->dv);
    return STN_OK;
}
