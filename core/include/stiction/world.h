// SPDX-License-Identifier: Apache-2.0
// The world: model + state + chosen plugins. Build, compile, step.
#ifndef STICTION_WORLD_H
#define STICTION_WORLD_H

#include <stiction/plugin.h>
#include <stiction/state.h>

#include <string.h>

STN_BEGIN_C

/// A model, its state and the plugins that move it. One thread at a time.
typedef struct stn_world stn_world;

/// Where between the two witness points p_A and p_B a contact acts.
typedef enum stn_contact_point_rule {
    STN_CONTACT_POINT_STIFFNESS, // weighted by stiffness: the softer side deforms
    STN_CONTACT_POINT_MIDPOINT,  // (p_A + p_B)/2
    STN_CONTACT_POINT_A,         // p_A
    STN_CONTACT_POINT_B,         // p_B
} stn_contact_point_rule;

/// How a world is made. Start from stn_world_options_default. Grows at its tail, where zeros are the defaults.
typedef struct stn_world_options {
    uint32_t size;                                              // sizeof of the struct as the caller was compiled
    double dt;                                                  // [s], > 0
    stn_vec3 gravity;                                           // [m/s^2]
    stn_plugin_choice solver, law, contact, integrator, factor; // with their parameters
    stn_contact_point_rule contact_point;                       // by stiffness unless told
    stn_relaxation_rule relaxation_rule;                        // the sum unless told
    double margin;          // pairs nearer than this are in the problem [m]; the law's reach may ask for more
    bool margin_only;       // the law's reach is not asked: for studies of what contacts that come in too late do
    int32_t threads;        // that share the work of a step; 1
    bool certificate_light; // without natural maps and law residual
    bool stiction;          // contacts and joints that stick hold their place under load: docs/stiction.md
    bool exact_contacts;    // solvers of exact friction get rigid contacts as they stand, which may have no solution
                            // (docs/lua.md)
    uint64_t seed;          // of the random stream
    bool profile;           // fill stn_step_report.stage_us and phase_us
    /// Groups of trees that touch sleep when none of their points has been faster than this for sleep_time: they stay
    /// where they are and cost next to nothing until something wakes them (docs/sleeping.md). 0: nothing sleeps [m/s]
    double sleep_velocity;
    double sleep_time; // 0: 0.5 s [s]
    /// Masses and frictions can be changed while it runs (stn_world_set_mass_factor, stn_world_set_friction_factor).
    /// Bodies and surfaces of the model are then not shared with clones.
    bool varied;
} stn_world_options;

/// dt 2 ms, gravity (0, 0, -9.81), solver "sap", law "sap", contact "point", integrator "symplectic_euler", margin 0,
/// 1 thread, full certificate.
static inline stn_world_options stn_world_options_default(void) {
    stn_world_options options;
    memset(&options, 0, sizeof options);
    options.size = (uint32_t)sizeof options;
    options.dt = 2e-3;
    options.gravity.z = -9.81;
    options.threads = 1;
    options.seed = 1;
    return options;
}

/// Chooses and creates all plugins; errors are those of stn_instance_create. The options are not kept.
/// STN_ERR_ARGUMENT: they do not say their size, or set what only a newer library knows.
STN_API stn_status stn_world_create(stn_context *context, const stn_world_options *options, stn_world **out,
                                    stn_error *err);
STN_API void stn_world_destroy(stn_world *world); ///< accepts NULL; closes recordings

// ------------------------------------------------------------------------------------------------- building

/// The builder of this world's model, until stn_world_compile; NULL after it.
STN_API stn_model_builder *stn_world_builder(stn_world *world);
/// Compiles the model and sizes everything. Called by the first step when it was not called before. A failure of the
/// model's own (stn_model_compile) leaves the builder as it is, to be mended; one of the world that was to use it (a
/// pair of shapes without contact, no memory) is for good: every later call says it again. Collision shapes that the
/// contact model handles with no other shape at all touch nothing, which one warning says.
STN_API stn_status stn_world_compile(stn_world *world, stn_error *err);
/// Adds a controller for all moving joints of a group, or for `joint_count` of them. After compiling, before the first
/// step. The world takes the instance over, also on failure. Its index is returned through `controller`.
STN_API stn_status stn_world_add_controller(stn_world *world, stn_instance *instance, int32_t group,
                                            const int32_t *joints, int32_t joint_count, int32_t *controller,
                                            stn_error *err);
/// How a controller takes part when the world begins, and after a reset; before the first step. Where active
/// controllers drive the same joint, those of equal priority add up and one of a higher priority takes it from the
/// lower ones by its weight w: they are left 1 - w of theirs. Priority 0 and active unless told.
STN_API stn_status stn_world_set_controller(stn_world *world, int32_t controller, int32_t priority, bool active,
                                            stn_error *err);

// ------------------------------------------------------------------------------------------------- running

/// One step: the diagram of docs/architecture.md. STN_OK, STN_NOT_CONVERGED or STN_STALLED: the step was made; its
/// report and certificate say how well. Negative: the state is the one before the step, and the text names the first
/// bad quantity; or an observer failed, whose step was made and stands.
STN_API stn_status stn_world_step(stn_world *world, stn_error *err);

/// What it was made with; borrowed.
STN_API stn_context *stn_world_context(const stn_world *world);
STN_API const stn_model *stn_world_model(const stn_world *world); ///< NULL before compiling
STN_API const stn_state *stn_world_state(const stn_world *world); ///< NULL before compiling
/// Where the step that a world makes is at this moment, for whoever tells of a crash or of an endless loop.
typedef struct stn_step_place {
    int64_t step;               // steps that were made before it
    stn_stage stage;            // STN_STAGE_COUNT: no step is being made, or it was made and observers see it
    const stn_instance *plugin; // whose function is called; NULL: none, or one that is not marked, such as those of a
                                // law within the solver
} stn_step_place;
/// Of this world, borrowed as long as it is; zeros before its first step. It changes while the world steps: what else
/// than a signal handler or a debugger reads it may find half a change.
STN_API const stn_step_place *stn_world_place(const stn_world *world);
STN_API double stn_world_dt(const stn_world *world);                              // [s]
STN_API stn_status stn_world_set_dt(stn_world *world, double dt, stn_error *err); ///< between steps
/// Another integrator from the next step on; between steps, or before compiling. Before the first step it becomes that
/// of the start, too. Its own state begins with zeros; all else stays, impulses of contacts among it, which are those
/// of a step of this length with every integrator. After quasistatic steps v is the mean velocity of the last one.
/// Clones keep theirs. id NULL: the standard one. Errors of stn_instance_create, STN_ERR_UNSUPPORTED: the solver does
/// not go with it. On failure the world stays as it is.
STN_API stn_status stn_world_set_integrator(stn_world *world, const stn_plugin_choice *integrator, stn_error *err);
/// [m/s^2], from the next step on; part of the state. STN_ERR_ARGUMENT when it is not finite.
STN_API stn_status stn_world_set_gravity(stn_world *world, stn_vec3 gravity, stn_error *err);
/// Does the tree of a body sleep (stn_world_options.sleep_velocity)? False of the world and of kinematic bodies.
STN_API bool stn_world_is_asleep(const stn_world *world, int32_t body);
/// Poses and velocities at the present state; borrowed until something changes it.
STN_API const stn_kinematics *stn_world_kinematics(stn_world *world);
/// [J] stored in the springs of the joints, in constraints that are not rigid and in elements, at the present state.
STN_API double stn_world_elastic_energy(stn_world *world);
/// The last step: contacts, problem, solution, certificate, report; problem NULL before the first. Borrowed until the
/// next.
STN_API const stn_observation *stn_world_observation(const stn_world *world);
/// Stands for nodes in the pairs below: STN_CLOUD - t for those of tree t.
#define STN_CLOUD (-3)
/// Pairs of links that began or ceased to touch with the last step: STN_WORLD for shapes of the world, at most
/// STN_CLOUD for nodes.
typedef struct stn_contact_events {
    int32_t begun_count, ended_count;   // pairs
    const stn_link_pair *begun, *ended; // by link_a, then link_b; link_a <= link_b, and nodes after links
} stn_contact_events;
/// Two links touch in a step when one of their contacts has a normal impulse > 0: not while a contact is only near, nor
/// in overlap without a push. What touched before is part of the state, so that a restored world goes on as the first
/// one did, and the first step of a new world begins all its contacts. Empty before the first step and after reset or
/// restore; borrowed until the next step. [step]
STN_API stn_status stn_world_contact_events(stn_world *world, stn_contact_events *out, stn_error *err);
/// "name = value unit" lines of every plugin and parameter in use, controllers included ("controller.1.kp = 100 N
/// m/rad").
STN_API const char *stn_world_parameters(const stn_world *world);
/// The plugin in use for a kind (solver, law, contact, integrator, factor); NULL when none. Borrowed from the world, an
/// integrator until another one takes its place.
STN_API const stn_instance *stn_world_plugin(const stn_world *world, stn_kind kind);

// --------------------------------------------------------------------------------------------------- constraints

/// Blocks that constraint `constraint` of the model emits at the present state: how far it is from holding (phi), its
/// parts, stiffnesses and bounds. How many there are, of which up to `room` are written; -1: it failed. No bits of a
/// run depend on it.
STN_API int32_t stn_world_constraint_blocks(stn_world *world, int32_t constraint, stn_row_block *blocks, int32_t room,
                                            stn_error *err);
/// Impulse along the rows of block `part` in the last step [N s] or [N m s], as it acts on where the rows' rate
/// increases: of a weld on its second end. Part of the state; zeros and false where the block was not emitted.
STN_API bool stn_world_constraint_impulse(const stn_world *world, int32_t constraint, int32_t part,
                                          double impulse[STN_MAX_ROWS]);
/// Force on the node of an attachment of the model by the body that it is attached to, in the last step: 3 numbers,
/// world axes [N], 6 of a node that turns: the torque about it behind [N m]. The body gets the opposite. Returns how
/// many; 0: no such attachment, or no step was made yet.
STN_API int32_t stn_world_attachment_force(const stn_world *world, int32_t attachment, double force[6]);
/// Force along the rows of block `part` of constraint `constraint` of the model in the last step [N] or [N m], and how
/// many rows it had; 0: the block was not emitted (a suction cup that holds nothing), it stands beside a contact, or no
/// step was made yet.
STN_API int32_t stn_world_constraint_force(const stn_world *world, int32_t constraint, int32_t part,
                                           double force[STN_MAX_ROWS]);
/// Numbers of a channel or output, borrowed until the world changes.
typedef struct stn_constraint_value {
    const double *values;     // (count)
    int32_t count;            // > 0
    const char *const *words; // of an output: what 0, 1, ... mean; NULL: just numbers
} stn_constraint_value;

/// A channel of a constraint as it is set, or an output as the last step left it (0 before the first), by name.
STN_API stn_status stn_world_get_constraint(const stn_world *world, int32_t constraint, const char *name,
                                            stn_constraint_value *value, stn_error *err);
/// A channel of a constraint, by name; `count` must be the channel's size. Holds until changed; part of the state.
STN_API stn_status stn_world_set_constraint(stn_world *world, int32_t constraint, const char *channel,
                                            const double *values, int32_t count, stn_error *err);

// ------------------------------------------------------------------------------------------------------- elements

/// A channel of a group of elements, by name (element.h); `count` must be its size. Holds until changed; part of the
/// state.
STN_API stn_status stn_world_set_element_channel(stn_world *world, int32_t group, const char *channel,
                                                 const double *values, int32_t count, stn_error *err);
/// The same as it is set.
STN_API stn_status stn_world_get_element_channel(const stn_world *world, int32_t group, const char *channel,
                                                 stn_constraint_value *value, stn_error *err);
/// How many numbers the outputs of one element of a group have.
STN_API int32_t stn_element_output_count(const stn_element_group *group);
/// Outputs of every element of a group at the present state, (element_count x stn_element_output_count).
STN_API stn_status stn_world_element_outputs(const stn_world *world, int32_t group, double *values, stn_error *err);
/// Forces of a group's elements on the nodes of its tree at the present state, at rest (v = 0 for dampers) when
/// `elastic`: (nv of the tree) [N, N m], written whole, zeros where the group has no node. STN_ERR_NUMERIC or what the
/// plugin says where an element fails.
STN_API stn_status stn_world_element_forces(const stn_world *world, int32_t group, bool elastic, double *forces,
                                            stn_error *err);

// ------------------------------------------------------------------------------------ state and step inputs

/// Whole vectors (nq), (nv). STN_ERR_NUMERIC for NaN or infinity, naming joint and component; quaternions are
/// normalised (zero ones refused). Contact memory is kept.
/// What q moves takes attached nodes along: a cloud whose coordinates in q are the present ones goes as a whole where
/// all bodies that hold it move by one and the same rigid motion, else the nodes that are attached to a body go with it
/// and the others stay, of which the first case is warned of. A cloud whose coordinates q changes is where q says.
/// STN_ERR_ARGUMENT for a node that would not be where the world or a kinematic body holds it. Velocities stay.
STN_API stn_status stn_world_set_q(stn_world *world, const double *q, stn_error *err);
STN_API stn_status stn_world_set_v(stn_world *world, const double *v, stn_error *err);
/// Pose and velocity, now, of a free body's root link or of a kinematic one; STN_ERR_ARGUMENT for others. A pose takes
/// attached nodes along, as stn_world_set_q does.
STN_API stn_status stn_world_set_body_pose(stn_world *world, int32_t body, const stn_pose *pose, stn_error *err);
STN_API stn_status stn_world_set_body_velocity(stn_world *world, int32_t body, stn_vec3 linear, stn_vec3 angular,
                                               stn_error *err);
/// Held until changed: effort on a dof [N m, N]; wrench on a body: force at a world point (of now) and torque.
STN_API stn_status stn_world_set_effort(stn_world *world, int32_t dof, double effort, stn_error *err);
STN_API stn_status stn_world_set_wrench(stn_world *world, int32_t body, stn_vec3 force, stn_vec3 torque, stn_vec3 point,
                                        stn_error *err);
/// Pose and velocities (of its frame's origin; world axes) of a kinematic body at the end of the next step, for that
/// step alone: it stands in a step for which nothing is told. Contacts of the step are found where the body is at its
/// start and feel the velocities of its end. Both velocities NULL: those that lead to the pose within the step,
/// constant over it. Velocities that are not the rate of the poses are warned of once. STN_ERR_ARGUMENT for a body
/// without stn_builder_make_kinematic, STN_ERR_NUMERIC for what is not finite.
STN_API stn_status stn_world_set_kinematic(stn_world *world, int32_t body, const stn_pose *pose, const stn_vec3 *linear,
                                           const stn_vec3 *angular, stn_error *err);
/// A geometry's surface moves by itself from the next step on, as a conveyor belt, in the shape's axes [m/s]; until
/// changed. At the start it is that of the model.
STN_API stn_status stn_world_set_surface_velocity(stn_world *world, int32_t geometry, stn_vec3 velocity,
                                                  stn_error *err);
/// Of a world that is varied (stn_world_options.varied; else STN_ERR_SEQUENCE), until changed and as a part of the
/// state: mass and inertia of a body, with all links that are welded to it, are the model's times a factor > 0; the
/// friction coefficients mu, mu_static and mu2 of a geometry's surface likewise, >= 0. Centres of mass, rotors, nodes
/// and what is stated for pairs of links stay. stn_world_model shows what is in force. What sleeps wakes.
STN_API stn_status stn_world_set_mass_factor(stn_world *world, int32_t body, double factor, stn_error *err);
STN_API stn_status stn_world_set_friction_factor(stn_world *world, int32_t geometry, double factor, stn_error *err);
/// A channel of a controller, by name; `count` must be the channel's size.
STN_API stn_status stn_world_set_reference(stn_world *world, int32_t controller, const char *channel,
                                           const double *values, int32_t count, stn_error *err);
/// From its present weight a controller goes to 1 (active) or 0 within `blend` [s] >= 0, linearly in simulated time,
/// and with it its efforts, gains and limits; 0: at once. At weight 0 it is not evaluated and its private state rests.
STN_API stn_status stn_world_activate_controller(stn_world *world, int32_t controller, bool active, double blend,
                                                 stn_error *err);
STN_API double stn_world_controller_weight(const stn_world *world, int32_t controller); ///< now, 0 to 1
STN_API int32_t stn_world_controller_count(const stn_world *world);
STN_API const stn_instance *stn_world_controller(const stn_world *world, int32_t controller);
STN_API const stn_control_target *stn_world_controller_target(const stn_world *world, int32_t controller);
/// The next number in [0, 1) of the world's random stream.
STN_API double stn_world_random(stn_world *world);

/// Back to the state that compiling made: start pose, time 0, empty contact cache; and to the integrator of the first
/// step. Without memory for that the world stays as it is, and an error is logged.
STN_API void stn_world_reset(stn_world *world);
/// A second world in the same state, with the model, the tables and the plugins' instances of the first, which both
/// hold: it costs what a step fills and works with. Either may go first, and they may step on two threads at once. A
/// controller that is added to one of them is its own. Observers and recordings are not copied. Compiled worlds only.
STN_API stn_status stn_world_clone(const stn_world *world, stn_world **out, stn_error *err);

/// Hash of every byte of the state.
STN_API uint64_t stn_world_hash(const stn_world *world);

// ------------------------------------------------------------------------------------------------ observing

/// Called after every step, in the order of adding. The first negative status is that of the step call; the step itself
/// stands, and observers behind the one that failed see it, too: a recording has no gap.
typedef stn_status (*stn_observer)(void *user, const stn_observation *observation, stn_error *err);
STN_API stn_status stn_world_observe(stn_world *world, stn_observer observer, void *user, stn_error *err);
/// A number that recorders write with the next step.
STN_API stn_status stn_world_plot(stn_world *world, const char *name, double value, stn_error *err);
/// Places the camera of pictures from the next observed step on; copied. After compiling. STN_ERR_ARGUMENT names the
/// number that cannot be. Clones have no camera of their own.
STN_API stn_status stn_world_set_camera(stn_world *world, const stn_camera *camera, stn_error *err);
STN_API const stn_camera *stn_world_camera(const stn_world *world); ///< borrowed until the next; NULL: none was placed
/// What happens from the next observed step on, in words: recorder/html shows it and marks its time; copied. "":
/// nothing.
STN_API stn_status stn_world_set_caption(stn_world *world, const char *text, stn_error *err);

STN_END_C
#endif
