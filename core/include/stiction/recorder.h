// SPDX-License-Identifier: Apache-2.0
// Observers: the read-only view of a finished step, and recorder plugins that write it down.
#ifndef STICTION_RECORDER_H
#define STICTION_RECORDER_H

#include <stiction/certificate.h>
#include <stiction/constraint.h>
#include <stiction/contact.h>
#include <stiction/dynamics.h>
#include <stiction/output.h>
#include <stiction/solver.h>

STN_BEGIN_C

/// Stages of a step in their order, as timed. Each counts what it does itself, but for the solve's preparation (law,
/// islands), which counts as assembly.
typedef enum stn_stage {
    STN_STAGE_KINEMATICS,  // poses and velocities, where the state was set since the last step, which left its own
    STN_STAGE_INPUTS,      // controllers, applied forces, joints' springs and dampers, elements
    STN_STAGE_FORM,        // mass matrices, A with its factors, v_star
    STN_STAGE_COLLISION,   // broad and narrow phase
    STN_STAGE_ASSEMBLY,    // Jacobians, inverse masses, regularisation
    STN_STAGE_SOLVE,       // islands, solver, completion of v or gamma
    STN_STAGE_CERTIFICATE, // residuals of the solution
    STN_STAGE_ADVANCE,     // next q and v, their kinematics and energies, work of the inputs
    STN_STAGE_COMMIT,      // memories, contact cache, state
    STN_STAGE_COUNT        // how many there are
} stn_stage;
/// "kinematics", "inputs", ...; NULL outside the range.
STN_API const char *stn_stage_name(stn_stage stage);

/// What the last step did. Numbers are per step; iterations is the largest over the islands.
typedef struct stn_step_report {
    stn_status status;                                                 // STN_OK, STN_NOT_CONVERGED or STN_STALLED
    int32_t iterations, island_count, contact_count, constraint_count; // counts of the step's problem
    int32_t not_converged;                                             // islands, and 1 for the integrator
    double cost;                                                       // sum over islands, NaN when the solver has none
    const char *reason;                                                // why the worst island stopped; static text
    double step_us;                                                    // the whole step without observers
    double stage_us[STN_STAGE_COUNT];         // of worlds with stn_world_options.profile; else 0 but for the solve
    double kinetic_J, potential_J, elastic_J; // after the step
    double input_work_J; // work done in the step by controllers and applied forces (servos included)
    /// Deepest overlap at the step's start of all pairs that the broad phase found, whatever became of their contacts
    /// (docs/certificate.md).
    double overlap_m;
    /// Parts of stages, of worlds with stn_world_options.profile; else 0. The observers' are those of the step before.
    double phase_us[STN_PHASE_COUNT];
    /// The deepest overlap of the pairs that have neither a contact in overlap nor a face of a patch; 0: there are
    /// none.
    double overlap_without_contact_m;
    int32_t overlap_geometry[2], bare_geometry[2]; // those two pairs, a < b; -1: none
    /// Stored in contacts after the step and before it, as stn_certificate says. Kinetic, potential, elastic and
    /// contact energy, less the work of the inputs, make the sum that does not rise: docs/verdict.md.
    double contact_J, contact_start_J;
    stn_contradiction contradiction;          // claims of the solver that the certificate does not bear out
    int32_t inverted_count;                   // elements that are turned inside out after the step
    int32_t inverted_group, inverted_element; // the first of them, where there are any: group of the model, element
    int32_t fallbacks;                        // of the solver in this step, over all islands: stn_solve_info
    int32_t sleeping_count;                   // trees that sleep after the step
    double stopped_J;                         // kinetic energy that trees lost in the step by being put to rest
} stn_step_report;

/// A signal that a script plots: world:plot("name", value).
typedef struct stn_signal {
    const char *name; // of the column or curve
    double value;     // any number; NaN: none in this step
} stn_signal;

/// How pictures of a world look at it. Every recorder that draws may follow it (recorder/html and recorder/png do); it
/// changes no step. The camera orbits the middle of what it follows, of its target, or of everything that moves.
typedef struct stn_camera {
    const int32_t *follow;     // (follow_count) geometries of the model that are kept in the picture; copied
    int32_t follow_count;      // 0: the target; without one everything that moves
    bool aimed;                // `target` counts; not with `follow`
    stn_vec3 target;           // that the camera looks at, world [m]
    double azimuth, elevation; // where it stands, seen from there: from x towards y, above the xy plane [rad]
    double distance;           // from there [m]; 0: so that what it follows is in the picture, with a margin
    double field_of_view;      // vertical angle of the picture [rad]
    double seconds;            // simulated time in which it moves here from where it was [s]; 0: at once
    double smoothing;          // time constant with which it goes after what it follows [s]; 0: at once
    int32_t number;            // which one of this world it is, 1, 2, ...; the world counts
} stn_camera;
/// Follows everything that moves, from azimuth -56 and elevation 25 degrees, with 35 degrees of view, smoothing 0.2 s.
STN_API stn_camera stn_camera_default(void);

/// A finished step, borrowed until the next. Poses are those after the step; contacts, problem, v, gamma and the
/// certificate belong to the step just made (contacts at its start).
typedef struct stn_observation {
    const stn_model *model;             // of the world
    int64_t step;                       // steps made, 0: the start
    double time, dt;                    // time after the step
    const double *q, *v;                // (nq), (nv) after the step
    const stn_kinematics *kinematics;   // after the step
    const stn_contact_set *contacts;    // at the step's start; NULL before the first
    const stn_problem *problem;         // whose contact rows follow the set; NULL before the first
    const double *solution_v, *gamma;   // (nv), (row_count): the problem's solution
    const stn_certificate *certificate; // of that solution
    const stn_step_report *report;      // how the step went
    int32_t signal_count;               // signals of this step
    const stn_signal *signals;          // (signal_count)
    /// What reached the world since the step before, and hashes of what this one made: stn_replay_step reads it. NULL
    /// unless a recorder needs it (STN_RECORDER_NEEDS_RUN), and for step 0.
    const void *journal;
    size_t journal_size;             // [bytes]
    const stn_law *law;              // that the solver minimised; NULL without problem, and for solvers without a law
    const struct stn_world *world;   // whose step it was, for stn_observation_constraint_path; NULL: of no world
    const int32_t *constraint_block; // (constraint_count of the model + 1) constraints of the problem that constraint i
                                     // of the model emitted: [i] to [i + 1] - 1; NULL without problem
    const stn_camera *camera;        // that pictures are to be taken with; NULL: nobody placed one
    const char *caption;             // what happens now, in words; NULL: nobody said
} stn_observation;

/// What a contact did in a step.
typedef enum stn_contact_state {
    STN_CONTACT_OPEN,  // no normal force; one that pulls, by an adhesive law, is not open
    STN_CONTACT_STICK, // slower than the slip at which friction has come to its limit
    STN_CONTACT_SLIP,  // faster
} stn_contact_state;
/// "open", "stick", "slip"; NULL outside the range.
STN_API const char *stn_contact_state_name(stn_contact_state state);

/// What one contact did in a step. Forces act on B, in world axes, the opposite on A: means over the step, impulse/dt.
typedef struct stn_contact_report {
    stn_contact_state state;             // open: the forces are 0
    stn_vec3 normal_part, friction_part; // along the normal, and across it [N]
    /// Of B along the surface of A, at the problem's velocity; belts and kinematic motion count [m/s].
    double slip_speed;
    double separation_speed; // along the normal, > 0: apart [m/s]
    double glide_gap; // how far the law holds the slipping contact off the surface, by its own estimate; else 0 [m]
} stn_contact_report;

/// Contact `contact` of the step's set. It sticks below the slip speed that the law tells (stn_law_ops.slip); where
/// nothing tells one, while its friction is not used up, |(gamma_1/mu_1, gamma_2/mu_2)| < (1 - 1e-3) gamma_n, or it is
/// slower than 1e-3 w mu gamma_n; never without friction. All zeros (open) for a contact that the step does not have.
/// Costs nothing unless it is called. Thread: [any].
STN_API void stn_observation_contact(const stn_observation *observation, int32_t contact, stn_contact_report *out);

/// One side of a contact, or of a sum of them: which geometries belong to it.
typedef struct stn_contact_side {
    bool (*has)(const void *user, int32_t geometry); // of the model
    const void *user;                                // handed to has
} stn_contact_side;

/// Contact forces on one side, summed over contacts, world axes.
typedef struct stn_contact_force {
    stn_vec3 normal_part, friction_part; // along the normals, and across them [N]
    stn_vec3 torque;                     // of both, about the point asked for [N m]
    int32_t sticking, slipping;          // contacts that carry force
    double slip_speed;                   // the largest of those that carry force [m/s]
    double glide_gap;                    // the largest [m]
} stn_contact_force;

/// What acts on the geometries of `on` through their contacts with those of `by`, NULL: with all others. Contacts
/// between two geometries of `on` are inside of it and do not count. `point` [m], world, is where the torque is taken
/// about; contacts act where they were at the step's start. All zeros without contact, before the first step, after a
/// reset. Thread: [any].
STN_API void stn_observation_contact_force(const stn_observation *observation, const stn_contact_side *on,
                                           const stn_contact_side *by, stn_vec3 point, stn_contact_force *out);

/// What a patch, faces of two geometries or of two sides that touch over an area, did in a step. Forces act on B, world
/// axes, the opposite on A: means over the step, impulse/dt, like those of contacts. What *acts* follows from them; the
/// *field* is what the contact model saw at the step's start, before anything moved. At rest the two are the same.
typedef struct stn_patch_report {
    int32_t faces;                       // all of them, those without force too
    int32_t sticking, slipping;          // faces that carry force
    stn_vec3 normal_part, friction_part; // sums over the faces: along their normals, and across them [N]
    stn_vec3 center; // of pressure: mean of the faces' points by their normal force, by area without force [m]
    stn_vec3 normal; // mean over the faces by the same weights, from A into B, unit; zero where they cancel
    stn_vec3 torque; // of both parts about `center` [N m]
    double area;     // of the faces that carry force [m^2]
    double mean_pressure, max_pressure; // that act: sum of normal forces / area, largest of a face's force / area [Pa]
    double field_force, field_max_pressure; // integral of the field where it presses [N], largest at a corner [Pa]
    /// Stored at the step's start, to first order: sum of k phi0^2 / 2 over overlaps; far off at corners.
    double elastic_J;
    double slip_speed, glide_gap; // the largest of the faces that carry force [m/s], [m]
} stn_patch_report;

/// Patch `patch` of the step's set; all zeros for one that the step does not have. Costs nothing unless it is called.
/// Thread: [any].
STN_API void stn_observation_patch(const stn_observation *observation, int32_t patch, stn_patch_report *out);
/// All faces between two sides as one patch, `b` in the place of B, as stn_observation_contact_force counts them.
/// False, and all zeros, when there are none. Thread: [any].
STN_API bool stn_observation_patch_between(const stn_observation *observation, const stn_contact_side *a,
                                           const stn_contact_side *b, stn_patch_report *out);

/// What a block of rows of a plugin's constraint did in a step.
typedef struct stn_constraint_report {
    int32_t rows;               // of the block
    double force[STN_MAX_ROWS]; // along each row, mean over the step [N] or [N m]
    double phi[STN_MAX_ROWS];   // its error at the step's start, as the plugin says [m] or [rad]
    bool slack;                 // no row carries a force, and each is one-sided: a cable that hangs loose
} stn_constraint_report;

/// Block `block` >= 0 of those that constraint `constraint` of the model emitted, in the plugin's order. False, and all
/// zeros, when it emitted fewer (one that let go: none), or before a step. Thread: [any].
STN_API bool stn_observation_constraint(const stn_observation *observation, int32_t constraint, int32_t block,
                                        stn_constraint_report *out);
/// Does constraint `constraint` of the model carry nothing, each of its blocks slack, or none emitted? False before a
/// step. Thread: [any].
STN_API bool stn_observation_constraint_slack(const stn_observation *observation, int32_t constraint);
/// The line of constraint `constraint` of the model after the step, also before the first one. `points` has `room`;
/// count > room: ask again with more; the length is right with any room, also 0. No points: it has none, joints alone.
/// Thread: [any], between steps.
STN_API void stn_observation_constraint_path(const stn_observation *observation, int32_t constraint,
                                             stn_constraint_path *path);

/// What a recorder learns when it is opened.
typedef struct stn_record_header {
    const stn_model *model; // of the world
    const char *path;       // where to write
    const char *parameters; // every chosen plugin and parameter, one "name = value" a line
    const void *run; // the run by value, as the world stands now: stn_replay_create reads it. NULL unless the recorder
                     // needs it; borrowed for the call
    size_t run_size;
} stn_record_header;

/// Bits of stn_recorder_ops.needs.
enum {
    STN_RECORDER_NEEDS_RUN = 1, // stn_record_header.run and stn_observation.journal
};

/// What a recorder does; plugin kind "recorder".
typedef struct stn_recorder_ops {
    uint32_t size;         // sizeof of the struct as the plugin was compiled
    const char *extension; // of files that it writes, "csv": how --log and --record find it
    /// REQUIRED. Opens the file, by stn_output_open (output.h) as a stream: STN_ERR_FILE names path and reason. [setup]
    stn_status (*open)(void *self, const stn_record_header *header, void **recording, stn_error *err);
    /// REQUIRED. May do I/O; a process that is killed closes nothing, so what is to be kept must reach the file before.
    /// A failure is reported once and ends the recording; the step stays made. Also called once with step 0, before the
    /// first step (problem, contacts and certificate NULL).
    stn_status (*observe)(void *recording, const stn_observation *observation, stn_error *err);
    /// REQUIRED. Finishes the file and frees the recording, also after a failure or interrupt; accepts NULL. A
    /// recording without a step is no reason to replace another one: STN_OUTPUT_DROP.
    stn_status (*close)(void *recording, stn_error *err);
    uint32_t needs; // STN_RECORDER_NEEDS_*; what nobody needs is not made
} stn_recorder_ops;

STN_END_C
#endif
