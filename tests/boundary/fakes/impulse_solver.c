// SPDX-License-Identifier: Apache-2.0
// Projected Gauss-Seidel on the Delassus form, box and equality rows by clamping. Remembers per contact how often it
// met it.
#include <stiction/plugin.h>

static void update(const stn_delassus *d, int32_t i, double *gamma) {
    const stn_problem *p = d->problem;
    const stn_constraint *c = &p->constraints[i];
    const double *diagonal = stn_delassus_diagonal(d, i);
    double v[STN_MAX_ROWS], trace = 0.0;
    for (int32_t r = 0; r < c->rows; r++) {
        v[r] = d->b[c->row + r] - p->v_hat[c->row + r] + p->R[c->row + r] * gamma[c->row + r];
        trace += diagonal[r * c->rows + r] + p->R[c->row + r];
    }
    stn_delassus_row_mul_add(d, i, gamma, v);
    double *g = gamma + c->row, rho = 1.0 / trace;
    for (int32_t r = 0; r < c->rows; r++) {
        g[r] -= rho * v[r];
        g[r] = fmin(fmax(g[r], p->lo[c->row + r]), p->hi[c->row + r]);
    }
    if (c->set == STN_SET_CONE) {
        stn_cone_project(c->mu1, g);
    }
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)self, (void)err;
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        ++((int64_t *)control->memory)[problem->constraints[i].memory];
    }
    for (info->iterations = 0; info->iterations < control->max_iterations; info->iterations++) {
        double change = 0.0, size = 0.0;
        for (int32_t i = 0; i < problem->constraint_count; i++) {
            double before[STN_MAX_ROWS];
            const stn_constraint *c = &problem->constraints[i];
            for (int32_t r = 0; r < c->rows; r++) {
                before[r] = solution->gamma[c->row + r];
            }
            update(control->delassus, i, solution->gamma);
            for (int32_t r = 0; r < c->rows; r++) {
                change = fmax(change, fabs(solution->gamma[c->row + r] - before[r]));
                size = fmax(size, fabs(before[r]));
            }
        }
        if (change <= control->tolerance * size) {
            info->reason = "residual";
            return STN_OK;
        }
    }
    info->reason = "iterations";
    return STN_NOT_CONVERGED;
}

static const stn_solver_ops ops = {.size = sizeof ops,
                                   .formulation = STN_CCP,
                                   .yields = STN_YIELDS_IMPULSE,
                                   .needs = STN_NEEDS_DELASSUS,
                                   .sets = 1u << STN_SET_CONE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
                                   .solve = solve};
static const stn_plugin_desc fake = {.size = sizeof fake,
                                     .kind = STN_KIND_SOLVER,
                                     .id = "fake_impulse",
                                     .version = "0",
                                     .summary = "projected Gauss-Seidel",
                                     .memory_per_constraint = sizeof(int64_t),
                                     .ops.solver = &ops};
STN_PLUGIN_LIBRARY(&fake);
