// SPDX-License-Identifier: Apache-2.0
// What holds two bodies at the relative pose that they have when it is told to: its state, its rows, and how it begins
// and ends. suction.c and weld_at_runtime.c say what it bears.
//
// At attachment frame A of end a is noted on body b as frame B, which lies on A from then on while nothing gives way.
// Along the axes a_i of A, with A before B in all differences,
//
//     translation (part 0)   phi_i = a_i . (p_B - p_A),   phi_i' = a_i . (v_b - v_a) of the two bodies' points at p_B
//     rotation    (part 1)   phi_i = 2 e_i,   phi_i' = (e_0 a_i + e x a_i) . (omega_b - omega_a)
//
// where (e_0, e) is the unit quaternion of B in A, e_0 >= 0, so that phi is the rotation vector for small angles. Both
// rates are exact, and neither row feels a motion of both bodies as one: momentum and angular momentum are kept.
#ifndef STICTION_PLUGINS_CONSTRAINT_HOLD_H
#define STICTION_PLUGINS_CONSTRAINT_HOLD_H

#include <math.h>

#include "common/joined.h"

enum { HOLD_TRANSLATION, HOLD_ROTATION, HOLD_ROWS = 6 };

/// Why it does not hold.
typedef enum hold_end { HOLD_NOT_ENDED, HOLD_RELEASED, HOLD_FORCE, HOLD_SHEAR, HOLD_TORQUE, HOLD_NO_SEAL } hold_end;

/// What lasts from step to step: the outputs, then what only it needs.
typedef struct hold_state {
    double holding;        // number of the end that it holds, from 1 on (the first after a); 0: none
    double why;            // hold_end
    double force[3];       // on b along the axes of A, of the last step that it held [N]
    double torque[3];      // on b about p_B, as `force` [N m]
    double told;           // `attached` that it has obeyed
    double waits;          // 1: told to hold, and waits for a body in reach
    double position[3];    // of B on body b
    double rotation[3][3]; // body b <- B
} hold_state;

enum { HOLD_OUTPUTS = 4 };
extern const stn_channel hold_channels[1];                     // attached
extern const stn_constraint_output hold_outputs[HOLD_OUTPUTS]; // holding, why, force, torque

/// The largest part of a limit that is still held, and the part at which a row's bound stops the force: between them
/// lies what solvers may err by.
static const double HOLD_MARGIN = 5e-4, HOLD_BOUND = 1e-3;

/// How it gives way.
typedef struct hold_stiffness {
    double linear, angular; // k > 0 [N/m], [N m/rad]; infinite: rigid
    double relaxation_time; // tau_d [s]; damping is k tau_d
} hold_stiffness;

/// Bounds of what acts on b along and about the axes of A: -inf and inf where there are none.
typedef struct hold_bounds {
    double lo[HOLD_ROWS], hi[HOLD_ROWS]; // [N] x 3, [N m] x 3
} hold_bounds;

/// A limit or reach, of which 0 means that there is none.
static inline double hold_or_infinite(double x) {
    return x > 0.0 ? x : (double)INFINITY;
}

int32_t hold_row_count(const void *self, const stn_model_constraint *described);
size_t hold_state_size(const void *self, const stn_model_constraint *described);
/// Stiffnesses above 0, and frames on bodies, none of them on the body of the first, and each able to move unless the
/// first is. `what`: "a weld".
stn_status hold_check(const char *what, const hold_stiffness *stiffness, const stn_model *model,
                      const stn_model_constraint *described, stn_error *err);
/// Obeys the channel. True: told to hold and holds nothing, so that the caller may attach it.
bool hold_obey(hold_state *h, double attached);
/// Holds end `end` (1 to end_count - 1) as it is now.
void hold_attach(hold_state *h, const stn_constraint_view *view, int32_t end);
/// Lets go, for `why`.
void hold_let_go(hold_state *h, hold_end why);
/// The rows of what it holds.
stn_status hold_emit(const hold_state *h, const stn_constraint_view *view, const hold_stiffness *stiffness,
                     const hold_bounds *bounds, stn_rows *rows, stn_error *err);
/// Notes force and torque of the step. False: it held nothing.
bool hold_read_forces(hold_state *h, const stn_row_forces *forces);
/// [J] in its springs.
double hold_energy(const hold_state *h, const stn_constraint_view *view, const hold_stiffness *stiffness);
/// From the origin of a's frame to that of what it holds; no points where it holds nothing.
void hold_path(const void *self, const stn_constraint_view *view, const void *state, stn_constraint_path *path);

/// Members of the stn_constraint_ops of all that holds.
#define HOLD_OPS                                                                                               \
    .channel_count = 1, .channels = hold_channels, .row_count = hold_row_count, .state_size = hold_state_size, \
    .path = hold_path, .output_count = HOLD_OUTPUTS, .outputs = hold_outputs

extern const stn_plugin_desc hold_suction, hold_weld_at_runtime;

#endif
