// SPDX-License-Identifier: Apache-2.0
// Contact laws of the convex solvers: a potential l(v_c) per contact; impulse gamma = -dl/dv_c, Hessian G = d2l/dv_c2.
#ifndef STICTION_LAW_H
#define STICTION_LAW_H

#include <stiction/problem.h>

STN_BEGIN_C

/// Contacts that a law may evaluate at a time: vectors of 8 doubles on the widest machines.
#define STN_LANES 8

/// Contacts of a problem in structure-of-arrays form. Array i of a field starts at field + i * stride; stride is a
/// multiple of STN_LANES >= count. Lanes from count to the next multiple of STN_LANES are padding: prepare makes them
/// open, evaluate must give zeros there. All arrays 64-byte aligned, owned by the caller. What evaluate is given may be
/// a part of what prepare was given, with the stride of the whole: several threads share the contacts.
typedef struct stn_law_batch {
    int32_t count, stride;     // contacts; distance of two fields, >= count
    const int32_t *constraint; // (count) indices of the problem's cone and ellipse constraints
    double *coefficients;      // (coefficient_count x stride), what prepare leaves for evaluate
} stn_law_batch;

/// Lanes of a batch, padding included.
static inline int32_t stn_law_lanes(const stn_law_batch *batch) {
    return (batch->count + STN_LANES - 1) / STN_LANES * STN_LANES;
}

/// How a contact slips under its law, at one solution.
typedef struct stn_law_slip {
    /// Slip at which friction has come to its limit, or to 99 % of one that it only tends to [m/s]; along the slip of
    /// v_c where friction differs by direction.
    double transition_speed;
    double glide_gap; // how far the law holds the slipping contact off the surface, the artefact of convex laws [m]
} stn_law_slip;

/// What a law does; plugin kind "law".
typedef struct stn_law_ops {
    uint32_t size;             // sizeof of the struct as the plugin was compiled
    int32_t coefficient_count; // per contact
    uint32_t sets;             // bit set of stn_constraint_set that it handles: 1u << STN_SET_CONE ...
    /// OPTIONAL (absent: 0). How far beyond touch the law acts [m], from speeds along the normal and tangent. [any]
    double (*reach)(const void *self, double dt, const stn_constraint *physical, double normal_speed,
                    double slip_speed);
    /// OPTIONAL (absent: the problem keeps its physical compliance). Writes R and v_hat of its cone and ellipse rows
    /// from their physical data, w and dt. Not called when explicit_R. [step]
    void (*regularize)(const void *self, stn_problem *problem);
    /// REQUIRED. Fills batch->coefficients. `memory` holds memory_per_constraint bytes per slot (NULL without memory).
    /// NaN or a missing datum: STN_ERR_NUMERIC naming it. [step] no allocation
    stn_status (*prepare)(const void *self, const stn_problem *problem, const stn_law_batch *batch, const void *memory,
                          stn_error *err);
    /// REQUIRED. v_c (3 x stride: t1, t2, n) -> cost (stride), gamma (3 x stride), and unless NULL G (6 x stride: 11,
    /// 12, 22, 13, 23, 33). The outputs never share an array with the inputs. [step]
    void (*evaluate)(const void *self, const stn_law_batch *batch, const double *v_c, double *cost, double *gamma,
                     double *G);
    /// OPTIONAL (absent: infinite). Largest alpha such that v_c + alpha dv_c stays where the law is defined. [step]
    double (*max_step)(const void *self, const stn_law_batch *batch, const double *v_c, const double *dv_c);
    /// OPTIONAL. After the step: writes the memory of each contact for the next. v_c, gamma stacked by rows. [step]
    void (*commit)(const void *self, const stn_problem *problem, const double *v_c, const double *gamma, void *memory);
    /// OPTIONAL (absent: both 0). Of cone or ellipse constraint `constraint` of a prepared problem, at the velocity v_c
    /// that the law saw and its impulse gamma (t1, t2, n). Below the transition speed the contact sticks. For reports,
    /// and for anchors, which let go there. [any]
    void (*slip)(const void *self, const stn_problem *problem, int32_t constraint, const double *v_c,
                 const double *gamma, stn_law_slip *out);
    /// OPTIONAL (absent: that of a spring, see stn_certificate.contact_J). Energy [J] that cone or ellipse constraint
    /// `constraint` of a prepared problem stores at a gap [m]: the potential of its normal force without dissipation,
    /// 0 where nothing is stored. For reports. [any]
    double (*stored)(const void *self, const stn_problem *problem, int32_t constraint, double gap);
    /// OPTIONAL (absent: 1e-4). Slip speed [m/s] over which the law smooths friction, > 0: a contact with a static
    /// coefficient of friction has all of it without slip and none of it beyond 20 times this speed. [any]
    double (*slip_tolerance)(const void *self);
} stn_law_ops;

/// A law ready to be called: its table and its instance.
typedef struct stn_law {
    const stn_law_ops *ops; // NULL: no law
    void *self;             // of its instance
    const char *id;         // for messages
    bool adhesive;          // it says so: gamma_n < 0 is no error of it
} stn_law;

/// Impulses from velocities: gamma (row_count) that a convex law makes of v (nv), for every contact; rows of other
/// constraints by clamping. With a law that is quadratic these are the impulses of the solution, which makes contact
/// invertible [todorov-2014]. R and v_hat of the problem must be the law's, as they are after a solve. `law_memory` as
/// stn_solve_request has it. Fails as the law's prepare does; STN_ERR_MEMORY. [step]
STN_API stn_status stn_law_impulses(const stn_problem *problem, const stn_law *law, const void *law_memory,
                                    const double *v, stn_arena *scratch, double *gamma, stn_error *err);

STN_END_C
#endif
