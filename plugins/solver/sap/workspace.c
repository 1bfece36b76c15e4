// SPDX-License-Identifier: Apache-2.0
// Packing, once per solve: vectors become padded ones, constraints the lanes of the law and the lines of boxes and
// equalities.
#include <math.h>
#include <string.h>

#include "system.h"

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

typedef struct array {
    double **out;
    int64_t n;
} array;

STN_KERNEL_INLINE void zero8(double *x) { // where memset would be a call
    *(v4u *)x = *(v4u *)(x + 4) = (v4){0.0};
}

/// What such an array takes, so that the next one begins at a whole vector.
STN_KERNEL_INLINE int64_t room_of(int64_t n) {
    return (n + 15) & ~(int64_t)7;
}

/// Several arrays of doubles in one piece, their lengths multiples of 8: the last 8 of each and 8 beyond are zero, so
/// that whole vectors may be read from the end.
STN_KERNEL static bool allocate(stn_arena *arena, int32_t count, const array *arrays) {
    int64_t total = 0;
    for (int32_t i = 0; i < count; i++) {
        total += room_of(arrays[i].n);
    }
    double *memory = STN_ARENA(arena, total, double);
    for (int32_t i = 0; i < count && memory != NULL; i++) {
        int64_t n = arrays[i].n;
        double *last = memory + (n < 8 ? 0 : n - 8);
        *arrays[i].out = memory;
        zero8(last);
        if (n > 0) {
            zero8(last + 8);
        }
        memory += room_of(n);
    }
    return memory != NULL;
}

/// Something is not finite: says what.
static stn_status name_fault(const sap_system *s, const double *v, stn_error *err) {
    const stn_problem *problem = s->problem;
    for (int32_t i = 0; i < problem->nv; i++) {
        if (!isfinite(v[i])) {
            return stn_fail(err, STN_ERR_NUMERIC, "warm start: v[%d] = %g must be finite", i, v[i]);
        }
    }
    stn_status status = stn_problem_check(s->control->context, problem, err);
    return status != STN_OK
               ? status
               : stn_fail(err, STN_ERR_NUMERIC, "numbers of the problem are too large: A v_star overflows");
}

static stn_status pack_velocities(sap_system *s, const double *v, stn_error *err) {
    const stn_problem *problem = s->problem;
    stn_arena *arena = s->control->arena;
    const int64_t nx = s->H.nx;
    const array arrays[] = {{&s->v, nx},  {&s->v_star, nx}, {&s->D, nx},        {&s->p, nx},  {&s->A_v_star, nx},
                            {&s->Av, nx}, {&s->j, nx},      {&s->gradient, nx}, {&s->dp, nx}, {&s->compact, nx}};
    s->force = STN_ARENA_ZEROED(arena, nx + 8, double);
    s->dv = STN_ARENA_ZEROED(arena, nx + 8, double);
    if (s->force == NULL || s->dv == NULL || !allocate(arena, STN_COUNT(arrays), arrays)) {
        return out_of_memory(err);
    }
    augmented_scale(&s->H, s->D);
    augmented_pad(&s->H, v, s->v);
    augmented_pad(&s->H, problem->v_star, s->v_star);
    if (problem->free_impulse != NULL) {
        augmented_pad(&s->H, problem->free_impulse, s->force);
    }
    augmented_mass_times(&s->H, s->v_star, s->A_v_star);
    bool finite = padded_finite(nx, s->v) && padded_finite(nx, s->v_star) && padded_finite(nx, s->force) &&
                  padded_finite(s->H.A_size, s->H.A) && padded_finite(nx, s->A_v_star) &&
                  padded_finite(s->H.panel_size, s->H.panels);
    return finite ? STN_OK : name_fault(s, v, err);
}

static stn_status pack_lanes_and_lines(sap_system *s, stn_error *err) {
    const stn_problem *problem = s->problem;
    const stn_law *law = s->control->law;
    const int64_t stride = s->H.lane_stride, lines = s->H.line_stride;
    s->batch.count = s->H.lane_count;
    s->batch.stride = s->H.lane_stride;
    s->batch.constraint = s->H.lane_constraint;
    if (s->batch.count > 0 && law == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "contacts need a law, and none was given");
    }
    int64_t coefficients = s->batch.count > 0 ? law->ops->coefficient_count * stride : 0;
    sap_point *a = &s->now, *b = &s->trial;
    const array arrays[] = {{&s->bias, 3 * stride}, {&s->lane_cost, stride},     {&s->dv_c, 3 * stride},
                            {&s->H_G, 6 * stride},  {&s->predicted, 3 * stride}, {&s->batch.coefficients, coefficients},
                            {&a->v, 3 * stride},    {&a->gamma, 3 * stride},     {&a->G, 6 * stride},
                            {&a->line_v, lines},    {&a->line_gamma, lines},     {&a->line_G, lines},
                            {&b->v, 3 * stride},    {&b->gamma, 3 * stride},     {&b->G, 6 * stride},
                            {&b->line_v, lines},    {&b->line_gamma, lines},     {&b->line_G, lines},
                            {&s->line_bias, lines}, {&s->line_R, lines},         {&s->line_v_hat, lines},
                            {&s->line_lo, lines},   {&s->line_hi, lines},        {&s->line_dv, lines}};
    const int64_t lane_parts = stride / SAP_LANES + 1, velocity_parts = s->H.nx / SAP_VELOCITIES + 1;
    s->sums = STN_ARENA(s->control->arena, 8 * (lane_parts > velocity_parts ? lane_parts : velocity_parts), double);
    s->changed = STN_ARENA(s->control->arena, stride + 1, int64_t);
    if (s->sums == NULL || s->changed == NULL || !allocate(s->control->arena, STN_COUNT(arrays), arrays)) {
        return out_of_memory(err);
    }
    double *const padded[] = {s->bias, a->v, b->v, s->dv_c, s->predicted}; // padding lanes stay at velocity 0
    for (int32_t k = 0; k < STN_COUNT(padded) && stride > 0; k++) {
        for (int64_t e = 1; e < 3; e++) { // allocate did the last one
            zero8(padded[k] + e * stride - 8);
        }
    }
    for (int32_t i = 0; i < s->batch.count; i++) {
        const stn_constraint *c = &problem->constraints[s->batch.constraint[i]];
        if ((law->ops->sets & 1u << c->set) == 0) {
            return stn_fail(err, STN_ERR_UNSUPPORTED, "constraint %d (id %llu): the law %s does not know the set '%s'",
                            s->batch.constraint[i], (unsigned long long)c->id, law->id,
                            stn_constraint_set_name(c->set));
        }
        for (int64_t e = 0; e < 3; e++) {
            s->bias[e * stride + i] = problem->bias[c->row + e];
            s->predicted[e * stride + i] = problem->gamma_guess[c->row + e];
        }
    }
    if (s->batch.count > 0) {
        stn_status status = law->ops->prepare(law->self, problem, &s->batch, s->control->law_memory, err);
        if (status != STN_OK) {
            if (status < 0) {
                stn_error_prefix(err, "law %s", law->id);
            }
            return status;
        }
    }
    for (int32_t i = 0; i < s->H.line_count; i++) {
        int32_t row = s->H.line_row[i];
        s->line_bias[i] = problem->bias[row];
        s->line_R[i] = problem->R[row];
        s->line_v_hat[i] = problem->v_hat[row];
        s->line_lo[i] = problem->lo[row];
        s->line_hi[i] = problem->hi[row];
        if (!(s->line_R[i] > 0.0) || !isfinite(s->line_R[i]) || !isfinite(s->line_v_hat[i]) ||
            !(s->line_lo[i] <= s->line_hi[i])) {
            return stn_fail(
                err, STN_ERR_NUMERIC,
                "row %d: R = %g 1/kg must be > 0, v_hat = %g m/s finite and the bounds [%g, %g] N s ordered", row,
                s->line_R[i], s->line_v_hat[i], s->line_lo[i], s->line_hi[i]);
        }
    }
    return STN_OK;
}

stn_status sap_pack(sap_system *s, const double *v, stn_error *err) {
    stn_status status = augmented_pack(&s->H, s->problem, s->control, err);
    if (status == STN_OK) {
        status = augmented_hold(&s->H, err);
    }
    if (status == STN_OK) {
        status = pack_velocities(s, v, err);
    }
    if (status == STN_OK) {
        status = pack_lanes_and_lines(s, err);
    }
    if (status == STN_OK &&
        !(padded_finite(3 * (int64_t)s->batch.stride, s->bias) && padded_finite(s->H.line_stride, s->line_bias))) {
        status = name_fault(s, v, err);
    }
    return status;
}

void sap_unpack(const sap_system *s, stn_solution *solution) {
    augmented_unpad(&s->H, s->v, solution->v);
    const size_t stride = (size_t)s->batch.stride;
    for (int32_t i = 0; i < s->batch.count; i++) {
        double *gamma = solution->gamma + s->problem->constraints[s->batch.constraint[i]].row;
        for (size_t a = 0; a < 3; a++) {
            gamma[a] = s->now.gamma[a * stride + (size_t)i];
        }
    }
    for (int32_t i = 0; i < s->H.line_count; i++) {
        solution->gamma[s->H.line_row[i]] = s->now.line_gamma[i];
    }
}
