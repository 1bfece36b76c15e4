// SPDX-License-Identifier: Apache-2.0
// What is known of a kind as such: its name, and the parameters that all its plugins share.
#include <math.h>

#include <stiction/plugin.h>

enum { MAX_ITERATIONS = 2 }; // its place in the table

static const stn_param solver_params[] = {
    STN_PARAM_REAL(stn_solver_common, tolerance, "1", 1e-6, 0.0, 1.0, "relative residual at which a solve is done"),
    STN_PARAM_REAL(stn_solver_common, absolute_tolerance, "sqrt(J)", 0.0, 0.0, INFINITY,
                   "momentum residual below which a solve is done whatever its scale; 0: none"),
    STN_PARAM_INT(stn_solver_common, max_iterations, "1", 100.0, 1.0, 1e6, "iterations before giving up"),
};

const char *stn_kind_name(stn_kind kind) {
    switch (kind) {
#define KIND_CASE(name, word) \
    case name:                \
        return #word;
        STN_KINDS(KIND_CASE)
#undef KIND_CASE
    case STN_KIND_COUNT:
        break;
    }
    return NULL;
}

void stn_kind_params(stn_kind kind, const stn_param **params, int32_t *count, size_t *config_size) {
    bool solver = kind == STN_KIND_SOLVER;
    *params = solver ? solver_params : NULL;
    *count = solver ? STN_COUNT(solver_params) : 0;
    *config_size = solver ? sizeof(stn_solver_common) : 0;
}

stn_param stn_shared_param(const stn_plugin_desc *desc, int32_t index) {
    const stn_param *params = NULL;
    int32_t count = 0;
    size_t config_size = 0;
    stn_kind_params(desc->kind, &params, &count, &config_size);
    stn_param param = params[index];
    if (desc->kind == STN_KIND_SOLVER && index == MAX_ITERATIONS && STN_PLUGIN_HAS(desc->ops.solver, max_iterations) &&
        desc->ops.solver->max_iterations > 0) {
        param.default_number = desc->ops.solver->max_iterations;
    }
    return param;
}
