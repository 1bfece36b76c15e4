// SPDX-License-Identifier: Apache-2.0
// A model whose masses and frictions one world may change, beside the compiled one that it shares all else with.
#ifndef STICTION_CORE_MODEL_VARIED_H
#define STICTION_CORE_MODEL_VARIED_H

#include <stiction/model.h>

/// A copy of `of` with bodies, links, geometries and surfaces of its own, equal to those of `of`, which must outlive
/// it. STN_ERR_MEMORY is the only failure.
stn_status model_vary(const stn_model *of, stn_model **out, stn_error *err);
void model_varied_destroy(stn_model *varied); ///< accepts NULL
/// Mass and inertia of every body and of its links are those of `of` times mass (body_count) [1], centres of mass stay;
/// friction coefficients of every geometry are those of its surface times friction (geometry_count) [1]. The compiled
/// friction of pairs, which overrides that of surfaces, stays.
void model_take_factors(stn_model *varied, const stn_model *of, const double *mass, const double *friction);

#endif
