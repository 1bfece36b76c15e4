// SPDX-License-Identifier: Apache-2.0
// Impulses from velocities: gamma = -dl/dv_c of the law, or of the box law where no law speaks.
#include "problem/cone.h"
#include "problem/solver.h"

/// The cone and ellipse constraints of the problem as a batch, v_c and gamma as its lanes.
typedef struct law_lanes {
    stn_law_batch batch;
    double *v_c, *gamma, *cost, *G;
} law_lanes;

static bool allocate_lanes(const stn_problem *problem, const stn_law *law, stn_arena *scratch, law_lanes *lanes) {
    int32_t *index = STN_ARENA(scratch, problem->constraint_count, int32_t);
    int32_t count = 0;
    for (int32_t i = 0; i < problem->constraint_count && index != NULL; i++) {
        if (has_cone(&problem->constraints[i])) {
            index[count++] = i;
        }
    }
    int32_t stride = (count + STN_LANES - 1) / STN_LANES * STN_LANES;
    size_t lane = (size_t)stride;
    lanes->batch = (stn_law_batch){.count = count, .stride = stride, .constraint = index};
    lanes->batch.coefficients = STN_ARENA_ZEROED(scratch, (size_t)law->ops->coefficient_count * lane, double);
    lanes->v_c = STN_ARENA_ZEROED(scratch, 3 * lane, double);
    lanes->gamma = STN_ARENA(scratch, 3 * lane, double);
    lanes->cost = STN_ARENA(scratch, lane, double);
    lanes->G = STN_ARENA(scratch, 6 * lane, double);
    return index != NULL && lanes->batch.coefficients != NULL && lanes->v_c != NULL && lanes->gamma != NULL &&
           lanes->cost != NULL && lanes->G != NULL;
}

static stn_status complete_contacts(const stn_problem *problem, const stn_law *law, const void *law_memory,
                                    const double *v_c, double *gamma, double *G, stn_arena *scratch, stn_error *err) {
    law_lanes lanes;
    if (!allocate_lanes(problem, law, scratch, &lanes)) {
        return stn_fail(err, STN_ERR_MEMORY, "impulses from velocities: out of memory");
    }
    const stn_law_batch *batch = &lanes.batch;
    stn_status status = law->ops->prepare(law->self, problem, batch, law_memory, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "law %s", law->id);
        return status;
    }
    for (int32_t i = 0; i < batch->count; i++) {
        for (int32_t a = 0; a < 3; a++) {
            lanes.v_c[a * batch->stride + i] = v_c[problem->constraints[batch->constraint[i]].row + a];
        }
    }
    law->ops->evaluate(law->self, batch, lanes.v_c, lanes.cost, lanes.gamma, G != NULL ? lanes.G : NULL);
    for (int32_t i = 0; i < batch->count; i++) {
        for (int32_t a = 0; a < 3; a++) {
            gamma[problem->constraints[batch->constraint[i]].row + a] = lanes.gamma[a * batch->stride + i];
        }
        for (int32_t k = 0; k < 6 && G != NULL; k++) {
            G[6 * batch->constraint[i] + k] = lanes.G[k * batch->stride + i];
        }
    }
    return STN_OK;
}

stn_status complete_impulses_at(const stn_problem *problem, const stn_law *law, const void *law_memory,
                                const double *v_c, double *gamma, double *G, stn_arena *scratch, stn_error *err) {
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        if (c->set != STN_SET_BOX && c->set != STN_SET_EQUALITY) {
            continue;
        }
        for (int32_t r = c->row; r < c->row + c->rows; r++) { // an equality is a box without bounds
            double slope;
            stn_box_law(v_c[r], problem->R[r], problem->v_hat[r], problem->lo[r], problem->hi[r], &gamma[r], &slope);
            if (G != NULL) {
                G[6 * i + r - c->row] = slope;
            }
        }
    }
    return complete_contacts(problem, law, law_memory, v_c, gamma, G, scratch, err);
}

stn_status complete_impulses(const stn_problem *problem, const stn_law *law, const void *law_memory, const double *v,
                             double *gamma, stn_arena *scratch, stn_error *err) {
    double *v_c = STN_ARENA(scratch, problem->row_count, double);
    if (v_c == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "impulses from velocities: out of memory");
    }
    stn_problem_contact_velocity(problem, v, true, v_c);
    return complete_impulses_at(problem, law, law_memory, v_c, gamma, NULL, scratch, err);
}
