// SPDX-License-Identifier: Apache-2.0
// Constraints: rows between any number of bodies and joints, which the solver treats as it treats contacts. A plugin
// says what every row measures (phi), how phi changes with the motion (a sum of point and rotation velocities and of
// joint rates) and how stiff it is; the core makes Jacobian blocks, impulses and warm starts of that.
//
// Row r with error phi, stiffness k, relaxation time tau_d and rate phi' = J v obeys at the step's end
//
//     f = clamp(input - k (phi + dt phi' + tau_d phi'), lo, hi),
//
// the force along the row; the bodies get J^T f, so that a row between bodies conserves momentum. phi + dt phi' is phi
// at the step's end: springs of any stiffness are stable. An infinite k makes the row rigid (R and v_hat: problem.h).
#ifndef STICTION_CONSTRAINT_H
#define STICTION_CONSTRAINT_H

#include <stiction/contact.h>
#include <stiction/controller.h>
#include <stiction/problem.h>

STN_BEGIN_C

/// A contact of this step on a body of the constraint's ends.
typedef struct stn_constraint_contact {
    const stn_contact *contact; // at the step's start
    int32_t index;              // of the step's contacts, for stn_row_block.contact
    /// Of the step before [N], >= 0. Contacts that are new to their two links share what those that are gone had; 0
    /// where the links did not touch.
    double normal_force;
} stn_constraint_contact;

/// One constraint of the model and what the step knows at its start. Read only, borrowed for the call.
typedef struct stn_constraint_view {
    const stn_model *model;                 // compiled
    const stn_model_constraint *described;  // its name and ends: frames on bodies, joints
    double time, dt;                        // [s]
    stn_vec3 gravity;                       // [m/s^2], world
    const double *q, *v;                    // (nq), (nv) of the whole model
    const stn_kinematics *kinematics;       // at (q, v)
    const double *reference;                // its channels, stacked in order
    stn_arena *arena;                       // scratch, until the step ends; NULL but in `emit` and `finish`
    int32_t contact_count;                  // 0 without contact_rows and outside of `emit`
    const stn_constraint_contact *contacts; // (contact_count), by index
} stn_constraint_view;

/// Where the rows of a step go; opaque.
typedef struct stn_rows stn_rows;

/// The smallest stiffness of a block, and the largest coordinate of points and directions and the largest factor that
/// rows take: impulses and inverse masses of them are finite.
#define STN_ROW_SOFTEST 1e-100
#define STN_ROW_LARGEST 1e50

/// Rows that belong together: they have one unit, one stiffness, one inverse mass. Translation and rotation of a
/// bushing are two blocks.
typedef struct stn_row_block {
    int32_t part;             // tells the blocks of one constraint apart; the same from step to step (warm starts)
    int32_t rows;             // 1 to STN_MAX_ROWS
    double phi[STN_MAX_ROWS]; // error [m] or [rad]
    double stiffness;         // k >= STN_ROW_SOFTEST [N/m] or [N m/rad]; infinite: rigid
    double relaxation_time;   // tau_d >= 0 [s]; damping is k tau_d
    /// Bounds of the force [N] or [N m]; -inf and inf in all rows: the set is an equality, else a box.
    double lo[STN_MAX_ROWS], hi[STN_MAX_ROWS];
    stn_vec3 point; // where reports and drawings show it, world [m]
    /// Index of a contact of the view that the rows stand beside, -1: none. It tells blocks apart like `part`, and
    /// holds from step to step as the contact's id does.
    int32_t contact;
    /// Force that channels add and `energy` does not store, as a motor's tension [N] or [N m]; no step softens it. What
    /// it changes in f is work of inputs in the report. Where lo = hi it says that all of f is such, and adds nothing.
    double input[STN_MAX_ROWS];
    /// [J] that channels gave `energy` between the steps: what it is more now than with the channels of the last step.
    double input_work;
    /// What it is called in problems and reports: STN_CONSTRAINT_PLUGIN, or WELD, BALL, DISTANCE or COUPLER. The rows
    /// of all are solved alike.
    stn_constraint_kind kind;
    const char *unit; // of phi, for messages: constant text, "" for none
} stn_row_block;

/// phi 0 [m], rigid, without damping, bounds or inputs, at the world's origin.
static inline stn_row_block stn_row_block_default(int32_t part, int32_t rows) {
    stn_row_block block;
    block.part = part;
    block.rows = rows;
    block.stiffness = (double)INFINITY;
    block.relaxation_time = 0.0;
    block.point = stn_vec3_zero();
    block.contact = -1;
    block.input_work = 0.0;
    block.kind = STN_CONSTRAINT_PLUGIN;
    block.unit = "m";
    for (int32_t r = 0; r < STN_MAX_ROWS; r++) {
        block.phi[r] = 0.0;
        block.lo[r] = -(double)INFINITY;
        block.hi[r] = (double)INFINITY;
        block.input[r] = 0.0;
    }
    return block;
}

/// Spring k >= 0 beside damper d >= 0, one of them above 0, on error phi, which is set. Where d > 0 and k is 0 or tiny
/// or d/k overflows, k (dt + tau_d) = d, and phi shrinks so that the force of the spring stays.
static inline void stn_row_block_set_spring(stn_row_block *block, double k, double d, double dt) {
    bool spring = d == 0.0 || (k >= STN_ROW_SOFTEST && d / k < (double)INFINITY);
    block->stiffness = spring ? k : d / (2.0 * dt);
    block->relaxation_time = spring ? d / k : dt;
    for (int32_t r = 0; r < block->rows && !spring; r++) {
        block->phi[r] = k > 0.0 ? k / block->stiffness * block->phi[r] : 0.0;
    }
}

/// Begins a block; the functions below then fill its rows, which start at zero. A block on which no free body or joint
/// acts is dropped. STN_ERR_PLUGIN: more rows than row_count promised, or a number that no row can have.
STN_API stn_status stn_rows_begin(stn_rows *rows, const stn_row_block *block, stn_error *err);
/// phi' of row `row` of the block += direction . velocity of the body's point (world; any length of direction). Bodies
/// that move as they are told count with their velocity at the step's end, the world with none. The same body or tree
/// may be named any number of times. A row or body that is not there ends the step with a message.
STN_API void stn_rows_add_point(stn_rows *rows, int32_t row, int32_t body, stn_vec3 point, stn_vec3 direction);
/// phi' += axis . angular velocity of the body (world).
STN_API void stn_rows_add_rotation(stn_rows *rows, int32_t row, int32_t body, stn_vec3 axis);
/// Rows `row` to row + 2 at once, along the columns of `axes`: what three calls of stn_rows_add_point or
/// stn_rows_add_rotation do, for the work of one.
STN_API void stn_rows_add_point_axes(stn_rows *rows, int32_t row, int32_t body, stn_vec3 point, const stn_mat3 *axes);
STN_API void stn_rows_add_rotation_axes(stn_rows *rows, int32_t row, int32_t body, const stn_mat3 *axes);
/// phi' += factor v[dof], of the model's velocities.
STN_API void stn_rows_add_dof(stn_rows *rows, int32_t row, int32_t dof, double factor);

/// The line along which a constraint acts, to draw and to measure.
typedef struct stn_constraint_path {
    int32_t room;     // points that fit
    int32_t count;    // points that it has, also those that did not fit
    stn_vec3 *points; // (room) world, in their order [m]; arcs as short straight pieces
    double length;    // of the pieces, also of those that did not fit; NaN without points [m]
    stn_vec3 last;    // the point added last
} stn_constraint_path;

/// One point more. Who knows the length exactly writes it after the last one. Thread: [any].
static inline void stn_constraint_path_add(stn_constraint_path *path, stn_vec3 point) {
    if (path->count < path->room) {
        path->points[path->count] = point;
    }
    path->length = path->count == 0 ? 0.0 : path->length + stn_vec3_norm(stn_vec3_sub(point, path->last));
    path->last = point;
    path->count++;
}

/// A number or vector that a constraint tells of itself, by name. Its state begins with the numbers of all outputs, as
/// doubles in the order of the list, 0 at the start; `emit` and `finish` write them there.
typedef struct stn_constraint_output {
    const char *name, *unit, *summary; // as of a channel; no channel has the same name
    int32_t size;                      // > 0
    const char *const *words;          // what the numbers 0, 1, ... mean, NULL at the end; NULL: just numbers
} stn_constraint_output;

/// Forces of a step that is solved; opaque.
typedef struct stn_row_forces stn_row_forces;
/// Force along each row of block `part` [N] or [N m], and how many rows it has; 0: it was not emitted, or dropped.
STN_API int32_t stn_row_forces_get(const stn_row_forces *forces, int32_t part, double force[STN_MAX_ROWS]);

/// What a constraint does; plugin kind "constraint".
typedef struct stn_constraint_ops {
    uint32_t size;               // sizeof of the struct as the plugin was compiled
    int32_t channel_count;       // inputs that scripts may set while the world runs
    const stn_channel *channels; // (channel_count), constant; sizes > 0; their numbers are stacked in this order
    /// OPTIONAL. Are these ends what it needs (how many, frames or joints)? When the model is compiled. [setup]
    stn_status (*check)(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err);
    /// REQUIRED. Rows that it emits in any step, at most. [setup]
    int32_t (*row_count)(const void *self, const stn_model_constraint *described);
    /// OPTIONAL (absent: the outputs alone). Bytes of state kept across steps, zeros at the start, aligned to 16, up to
    /// 1 GiB; the outputs come first. Checkpoints hold it. [setup]
    size_t (*state_size)(const void *self, const stn_model_constraint *described);
    /// OPTIONAL (absent: zeros). Channels before a script sets any, with the model at q. [setup]
    void (*initial_reference)(const void *self, const stn_kinematics *kinematics, const stn_model_constraint *described,
                              double *reference);
    /// REQUIRED. Emits the rows of this step. `state` is that of the step before; what is written counts when the step
    /// is made. It is also called between steps, for what the blocks measure: without contacts, its state dropped. A
    /// failure ends the step with the constraint's name. Allocates nothing but from the arena. [step]
    stn_status (*emit)(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err);
    /// OPTIONAL (absent: 0). [J] stored at (q, v). Thread: [any]. [step]
    double (*energy)(const void *self, const stn_constraint_view *view, const void *state);
    /// OPTIONAL (absent: straight through the frames among its ends). Its line at (q, v), between steps, for drawings
    /// and logs. Thread: [any].
    void (*path)(const void *self, const stn_constraint_view *view, const void *state, stn_constraint_path *path);
    /// OPTIONAL (absent: 0). Rows that it emits, beside those of row_count, for every contact on a body of its ends, at
    /// most. Above 0: the view lists these contacts. [setup]
    int32_t (*contact_rows)(const void *self, const stn_model_constraint *described);
    int32_t output_count;                 // what it tells
    const stn_constraint_output *outputs; // (output_count), constant; NULL: nothing
    /// OPTIONAL. The step is solved, with these forces: writes what follows from them for the next step into `state`,
    /// which is as `emit` left it. `view` is that of `emit`, without contacts. A failure ends the step likewise. [step]
    stn_status (*finish)(const void *self, const stn_constraint_view *view, const stn_row_forces *forces, void *state,
                         stn_error *err);
} stn_constraint_ops;

STN_END_C
#endif
