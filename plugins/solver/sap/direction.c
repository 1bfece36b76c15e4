// SPDX-License-Identifier: Apache-2.0
// Newton's direction.
#include <string.h>

#include "system.h"

stn_status sap_factor(sap_system *s, bool damped, stn_error *err) {
    double mark = phase_mark(s->control);
    stn_status status = s->H.ready ? STN_OK : augmented_analyse(&s->H, (augmented_form)s->config->factorization, err);
    if (status != STN_OK) {
        return status;
    }
    sap_anticipate(s);
    augmented_assemble(&s->H, s->H_G, s->now.line_G, s->changed);
    phase_note(s->control, STN_PHASE_HESSIAN, mark);
    s->factorizations++;
    mark = phase_mark(s->control);
    status = augmented_factor(&s->H, damped ? 1e-12 : 0.0, err);
    phase_note(s->control, STN_PHASE_FACTOR, mark);
    return status;
}

double sap_direction(sap_system *s) {
    for (int32_t b = 0; b < s->H.block_count; b++) {
        const augmented_block *block = &s->H.blocks[b];
        for (int32_t i = 0; i < block->n; i++) {
            s->compact[block->compact + i] = -s->gradient[block->start + i];
        }
    }
    augmented_solve(&s->H, s->compact);
    for (int32_t b = 0; b < s->H.block_count; b++) {
        const augmented_block *block = &s->H.blocks[b];
        memcpy(s->dv + block->start, s->compact + block->compact, (size_t)block->n * sizeof *s->dv);
    }
    augmented_mass_times(&s->H, s->dv, s->dp);
    augmented_jacobian_times(&s->H, s->dv, s->dv_c, s->line_dv);
    if (s->config->anticipate) {
        sap_predict(s);
    }
    return padded_dot(s->H.nx, s->gradient, s->dv);
}
