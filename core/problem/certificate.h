// SPDX-License-Identifier: Apache-2.0
// Inside of the certificate: what its files share.
#ifndef STICTION_CORE_PROBLEM_CERTIFICATE_H
#define STICTION_CORE_PROBLEM_CERTIFICATE_H

#include <stiction/certificate.h>

#include "problem/natural_map.h"

/// natural_ncp and natural_ccp (certificate_maps.c). v_c, gamma: all rows.
void certify_natural(const stn_problem *problem, const double *v_c, const double *gamma, stn_certificate *out);
/// natural_scaled.
stn_status certify_scaled(const stn_problem *problem, const double *gamma, const stn_inverse *inverse,
                          stn_arena *scratch, stn_certificate *out, stn_error *err);
/// law_residual (law_residual.c). v_c, gamma: all rows.
stn_status certify_law(const stn_problem *problem, const double *v_c, const double *gamma, const stn_law *law,
                       const void *law_memory, stn_arena *scratch, stn_certificate *out, stn_error *err);

#endif
