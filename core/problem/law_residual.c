// SPDX-License-Identifier: Apache-2.0
// How far gamma is from the law that was asked for: max_i |gamma_i - law(v)_i| / max(|gamma|, |law(v)|), contacts by
// the law plugin, all other rows by the box law; those with R = 0 have none, the natural maps judge them. 0 when both
// are zero.
#include "problem/certificate.h"
#include "problem/cone.h"
#include "problem/solver.h"

stn_status certify_law(const stn_problem *p, const double *v_c, const double *gamma, const stn_law *law,
                       const void *law_memory, stn_arena *scratch, stn_certificate *out, stn_error *err) {
    double *answer = STN_ARENA(scratch, p->row_count, double);
    if (answer == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    stn_status status = complete_impulses_at(p, law, law_memory, v_c, answer, NULL, scratch, err);
    if (status < 0) {
        return status;
    }
    double largest = 0.0, size_gamma = 0.0, size_law = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        double difference = 0.0;
        for (int32_t r = c->row; r < c->row + c->rows; r++) {
            if (!has_cone(c) && p->R[r] == 0.0) {
                continue;
            }
            difference += (gamma[r] - answer[r]) * (gamma[r] - answer[r]);
            size_gamma += gamma[r] * gamma[r];
            size_law += answer[r] * answer[r];
        }
        largest = worst(largest, sqrt(difference));
    }
    out->law_residual = largest == 0.0 ? 0.0 : largest / sqrt(worst(size_gamma, size_law));
    return STN_OK;
}
