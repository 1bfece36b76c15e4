// SPDX-License-Identifier: Apache-2.0
// Curves through waypoints, from rest to rest, and the time that they need within limits.
#ifndef STICTION_SPLINE_H
#define STICTION_SPLINE_H

#include <stiction/base.h>

STN_BEGIN_C

/// How smooth a curve is through its waypoints.
typedef enum stn_spline_kind {
    STN_SPLINE_CUBIC,   // acceleration continuous inside; velocity zero at both ends (de-boor-1978)
    STN_SPLINE_QUINTIC, // acceleration, jerk and its rate continuous inside; velocity and acceleration zero at the ends
    STN_SPLINE_MONOTONE, // between two waypoints each number stays between its values there (fritsch-1984):
                         // acceleration continuous, zero at the waypoints; velocity zero at the ends and where a
                         // number turns back
} stn_spline_kind;

/// A curve through waypoints of `size` numbers each. All arrays are the caller's.
typedef struct stn_spline {
    stn_spline_kind kind; // how smooth
    int32_t count, size;  // waypoints >= 1; numbers in each >= 1
    const double *times;  // (count) strictly ascending [s]
    const double *points; // (count x size) row-major, "any unit"
    double *velocity;     // (count x size) at the waypoints, by stn_spline_fit [unit/s]
    double *acceleration; // (count x size) the same [unit/s^2]; cubic: not used, may be NULL
} stn_spline;

/// What the numbers of a curve may do at most; an entry is > 0, INFINITY: no limit.
typedef struct stn_spline_limits {
    const double *velocity, *acceleration; // (size) [unit/s], [unit/s^2]
} stn_spline_limits;

/// How much scratch stn_spline_fit and stn_spline_choose_times take for so many waypoints [numbers].
#define STN_SPLINE_SCRATCH(count) (6 * (size_t)(count))

/// Finds velocity and acceleration at the waypoints from times and points; O(count size). `scratch`:
/// STN_SPLINE_SCRATCH(count) numbers. STN_ERR_NUMERIC: times that do not ascend, or NaN. Thread: [any]
STN_API stn_status stn_spline_fit(stn_spline *spline, double *scratch, stn_error *err);
/// Position, velocity and acceleration at `time` of a fitted curve, (size) each; NULL: not wanted. Before the first and
/// after the last waypoint the curve rests there. Thread: [any]
STN_API void stn_spline_at(const stn_spline *spline, double time, double *position, double *velocity,
                           double *acceleration);
/// References for a step from `time` to `time` + `dt` > 0 of a fitted curve, (size) each: the position at its end, the
/// velocity that leads there from the curve at its start, and the acceleration from that of the step before. An arm
/// that takes them is on the curve after each step, where tangents would lead it aside by dt/2 times the velocity:
/// exactly so for integrators with q1 = q0 + dt v1, to first order for others. Thread: [any]
STN_API void stn_spline_step(const stn_spline *spline, double time, double dt, double *position, double *velocity,
                             double *acceleration);
/// The smallest and the largest value of number `i` between waypoints `piece` and `piece` + 1 of a fitted curve.
STN_API void stn_spline_extent(const stn_spline *spline, int32_t piece, int32_t i, double *lowest, double *highest);
/// The first piece of a fitted curve in which number `i` leaves [lower, upper], which may be infinite, by more than
/// rounding, 1e-9 (1 + |bound|), and how far it goes there through `value`; -1: it stays.
STN_API int32_t stn_spline_leaves(const stn_spline *spline, int32_t i, double lower, double upper, double *value);
/// By which factor the times of a fitted curve must be stretched so that it keeps the limits, exactly so at one place
/// at least; below 1: it could be faster by as much. 0: it does not move. Shape of the curve: unchanged.
STN_API double stn_spline_stretch(const stn_spline *spline, const stn_spline_limits *limits);
/// Times from `begin` [s] on, written to `times` (count), which spline->times must point to, in which the curve keeps
/// the limits: each piece in proportion to what its own path asks for, then, over a few rounds, more for those pieces
/// that hold the curve back; the fastest is kept. No optimum: lin-1983 searches for that. Between waypoints that are
/// equal, or so near that the path between them asks for less than 1e-6 s, it begins with `rest` > 0 [s]. The curve is
/// fitted then. Errors and scratch as of stn_spline_fit.
STN_API stn_status stn_spline_choose_times(stn_spline *spline, const stn_spline_limits *limits, double begin,
                                           double rest, double *times, double *scratch, stn_error *err);

STN_END_C
#endif
