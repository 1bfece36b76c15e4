// SPDX-License-Identifier: Apache-2.0
// What a world is made of. step.c is the algorithm; each stage below lives in the file of its name.
#ifndef STICTION_CORE_WORLD_WORLD_H
#define STICTION_CORE_WORLD_WORLD_H

#include <stiction/world.h>

#include "world/apply.h"
#include "world/frame.h"
#include "world/services.h"
#include "world/setup.h"
#include "world/slip.h"

/// When in the order of observers one is called; those of one rank in the order of adding.
typedef enum observer_rank {
    OBSERVER_FIRST, // before any caller's, which may already give inputs of the next step
    OBSERVER_OF_CALLER,
    OBSERVER_LAST, // sees what callers' observers have added to the observation
} observer_rank;

typedef struct observer {
    stn_observer call;
    void *user;
    observer_rank rank;
} observer;

/// What others keep with a world: it is released when the world is destroyed, first of all, while all else is there.
typedef struct attachment {
    void (*release)(stn_world *world, void *data); // also tells whose it is
    void *data;
} attachment;

struct stn_world {
    step_setup *setup;
    stn_state state, start;         // now, and as compiled
    stn_instance *start_integrator; // that reset goes back to; kept
    step_frame frame;
    step_services services;

    stn_model_builder *builder;
    stn_error failure; // of compiling, once the model was complete; status 0: none
    bool stepped;
    bool in_batch; // many states take turns with it: step length, integrator, controllers and observers stay
    input_hook input_hook;

    // what looks at finished steps
    stn_observation observation;
    stn_law law;       // as the observation shows it
    bool events_known; // since the last step
    stn_contact_events events;
    int32_t observer_count, signal_count, attachment_count;
    int32_t observer_at;  // the one that is being called; may add and forget observers
    observer *observers;  // by rank
    stn_signal *signals;  // names owned
    int32_t signal_next;  // behind the one that was plotted last
    stn_camera camera;    // of pictures, its list owned
    int32_t camera_count; // that were placed
    char *caption;        // NULL: none
    attachment *attachments;
    double observers_us; // after the last step; of profiles alone
};

// factors.c
/// Masses and frictions of a varied world become those of its state.
void stn_world_take_factors(stn_world *world);
/// STN_ERR_ARGUMENT: a factor that INPUT_MASS or INPUT_FRICTION cannot have, whose number the text tells.
stn_status stn_check_factors(input_field field, const double *factors, size_t count, stn_error *err);

// restitution.c
void stn_setup_check_restitution(const step_setup *setup);

// static_friction.c
double law_slip_tolerance(const stn_instance *law); // what it tells (stn_law_ops.slip_tolerance), else 1e-4 m/s

// what stn_world_apply makes of inputs: clone.c, control.c, observe.c, show.c
stn_status stn_world_take_state(stn_world *world, const stn_state *state, stn_error *err); // of the same sizes
stn_status stn_world_take_integrator(stn_world *world, stn_instance *integrator, stn_error *err);
stn_status stn_world_take_controller(stn_world *world, const world_input *input, stn_error *err);
stn_status stn_world_take_signal(stn_world *world, const char *name, double value, stn_error *err);
stn_status stn_world_take_camera(stn_world *world, const stn_camera *camera, stn_error *err);
stn_status stn_world_take_caption(stn_world *world, const char *text, stn_error *err);
void stn_world_forget_show(stn_world *world); // releases camera and caption
/// Another state has taken the place of the world's: what the last step made belongs to the one before.
void stn_world_state_replaced(stn_world *world);
/// STN_ERR_SEQUENCE: what is about to change is shared with other worlds of a batch.
stn_status stn_world_check_own(const stn_world *world, stn_error *err);
/// A clone that steps by one thread.
stn_status stn_world_clone_alone(const stn_world *world, stn_world **out, stn_error *err);

// compile.c
void stn_world_release_compiled(stn_world *world);
stn_status stn_world_prepare(stn_world *world, stn_error *err); // frame and services of a compiled setup
/// Memories of the frame, of these sizes.
stn_status stn_world_size_memories(stn_world *world, const stn_state_sizes *sizes, stn_error *err);
stn_status stn_world_keep_start(stn_world *world, stn_error *err); // the state becomes the one of reset

// world.c
/// A world without a model whose step `threads` share; it takes over a use of the setup, also on failure.
stn_status stn_world_of_setup(step_setup *setup, int32_t threads, stn_world **out, stn_error *err);
/// Keeps `data` with the world until it is destroyed; on failure it stays the caller's.
stn_status stn_world_attach(stn_world *world, void (*release)(stn_world *world, void *data), void *data,
                            stn_error *err);
/// The data that was attached with this `release`, NULL: none yet.
void *stn_world_attached(const stn_world *world, void (*release)(stn_world *world, void *data));
const char *stn_world_standard_plugin(stn_kind kind); // of a world that chooses none; NULL: none

// describe.c
/// "group/link", "group" where the two are the same, "the world", "a deformable".
void stn_describe_geometry(const stn_model *model, int32_t geometry, char *text, size_t size);
/// "element fem: element 7 (counted from 0) of 'pad', nodes 3, 4, 9, 12"; without an element (-1) of what group alone.
void stn_describe_element(const stn_model *model, const stn_element_group *group, int32_t element, char *text,
                          size_t size);
/// "joint NAME", or "node 3 (counted from 0) of 'pad'": whose velocity v[d] or coordinate q[i] is.
void stn_describe_dof(const stn_model *model, int32_t d, char *text, size_t size);
void stn_describe_coordinate(const stn_model *model, int32_t i, char *text, size_t size);
/// Puts "constraint spring 'tie'" in front of the message, "(number 2)" where it has no name.
void stn_describe_constraint_error(const stn_model *model, int32_t i, stn_error *err);
stn_status stn_setup_describe(step_setup *setup, stn_error *err);             // fills `parameters`, which are NULL
stn_status stn_setup_describe_constraints(step_setup *setup, stn_error *err); // adds those of the model's constraints
stn_status stn_setup_describe_elements(step_setup *setup, stn_error *err);    // likewise of its elements
/// Adds the parameters of a controller that is not counted yet; `number` from 1.
stn_status stn_setup_describe_controller(step_setup *setup, const controller *c, int32_t number, stn_error *err);

// colliders.c: which geometries collide, and what their pairs are like
stn_status stn_setup_choose_colliders(step_setup *setup, stn_arena *arena, stn_error *err);
stn_status stn_setup_examine_pairs(step_setup *setup, stn_arena *arena, stn_error *err);
/// pair_materials.c: the materials of all pairs of surfaces, where there are few kinds of them.
stn_status stn_setup_tabulate_materials(step_setup *setup, stn_error *err);

// state.c
stn_status stn_state_resize(stn_context *context, stn_state *state, const stn_state_sizes *sizes, stn_error *err);
stn_status stn_state_copy(stn_context *context, const stn_state *from, size_t memory_bytes, stn_state *to,
                          stn_error *err);
/// An empty cache with room for `capacity` entries; false: out of memory, and nothing changed.
bool stn_state_reserve_cache(stn_context *context, stn_state *state, int32_t capacity, size_t memory_bytes);
void stn_state_clear(stn_context *context, stn_state *state);
uint64_t stn_state_hash(const stn_state *state, size_t memory_bytes);

// inputs.c: poses and velocities; controllers, applied forces, passive joints, elements -> forces
/// Those of the state, where they are stale.
void stn_step_update_kinematics(step_frame *frame, const double *q, const double *v);
stn_status stn_step_kinematics(const step_setup *setup, const state_view *state, step_frame *frame,
                               step_services *services, stn_error *err);
stn_status stn_step_inputs(const step_setup *setup, const state_view *state, step_frame *frame, step_services *services,
                           stn_error *err);

// elements.c: forces between nodes
stn_status stn_setup_place_elements(step_setup *setup, stn_error *err);   // makes `element_slots`
void stn_world_begin_elements(const step_setup *setup, stn_state *state); // states at the start
/// Adds tau, K, D and energy of all elements, and writes their next states. STN_ERR_NUMERIC names the element.
stn_status stn_step_elements(const step_setup *setup, const state_view *state, step_frame *frame,
                             const step_services *services, stn_error *err);
/// What integrators read that evaluate elements themselves, in the arena (element_group_count); NULL: out of memory.
const stn_element_inputs *stn_step_element_inputs(const step_setup *setup, const state_view *state,
                                                  const step_frame *frame);
/// Takes what elements exert that say "load" where the nodes are at q0 + contact_theta dt N v0, when the integrator has
/// said so: the change goes to free_impulse and into the account of work.
stn_status stn_step_move_loads(const step_setup *setup, const state_view *state, step_frame *frame,
                               const step_services *services, stn_error *err);
/// STN_ERR_ARGUMENT, STN_ERR_SEQUENCE: there is no such group of elements.
stn_status stn_setup_check_elements(const step_setup *setup, int32_t group, stn_error *err);
/// [J] stored in the elements at a state; report: gets those that are turned inside out, NULL: not asked. Takes no
/// memory.
double stn_setup_element_energy(const step_setup *setup, const state_view *state, stn_step_report *report);

double stn_step_input_work(const step_setup *setup, const state_view *state,
                           const step_frame *frame); // after the solution is known

// activation.c: how controllers share joints
/// How a controller takes part: ACTIVATION_NUMBERS doubles of the state.
typedef struct activation {
    double from, to;     // weight
    double since, blend; // [s]
    double priority;
} activation;
activation stn_activation_of(const double *numbers, int32_t index); // of the state's `activation`
void stn_activation_set(double *numbers, int32_t index, activation a);
double stn_activation_weight(activation a, double time);
stn_status stn_step_controllers(const step_setup *setup, const state_view *state, step_frame *frame,
                                const step_services *services,
                                stn_error *err); // adds what controllers do, each by its share

// form.c: integrator -> A, v_star, the problem's trees
stn_status stn_step_form(const step_setup *setup, const state_view *state, step_frame *frame, step_services *services,
                         stn_error *err);
stn_integrator_view stn_step_integrator_view(const step_setup *setup, const state_view *state, step_frame *frame,
                                             const step_services *services);

// prescribed_nodes.c: attached nodes whose velocity is known
/// Takes them out of A and v_star, which the integrator has formed.
stn_status stn_step_prescribe_nodes(const step_setup *setup, const state_view *state, step_frame *frame,
                                    stn_error *err);
/// Velocity of B against A that such nodes add to a contact, world.
stn_vec3 stn_step_prescribed_velocity(const step_setup *setup, const step_frame *frame, const stn_contact *contact);
/// What bodies do to all attached nodes; the problem is solved.
void stn_step_find_reactions(const step_setup *setup, step_frame *frame);
void stn_step_place_nodes(const step_setup *setup, const step_frame *frame, double *q_next); // where they are held
/// [J] on what moves freely, of the bodies that hold such nodes; the next velocities are known.
double stn_step_reaction_work(const step_setup *setup, const state_view *state, const step_frame *frame);

// carry_nodes.c: attached nodes and coordinates that are set from outside
/// Changes the nodes of `q` (nq), which the world is about to take, to go with the bodies that hold them; those that
/// are given other coordinates than the present ones are taken as they are. STN_ERR_ARGUMENT: a node is not where a
/// body that no force moves holds it.
stn_status stn_world_carry_nodes(stn_world *world, double *q, stn_error *err);
stn_status stn_world_check_held(stn_world *world, double *q, stn_error *err); ///< the refusal alone

// collide.c: broad phase, contact model -> contact set
stn_status stn_step_collide(const step_setup *setup, const state_view *state, step_frame *frame,
                            step_services *services, stn_error *err);
void stn_place_geometry(const stn_kinematics *k, const stn_geometry *g, stn_pose *out);
void stn_step_geometry_pose(const step_frame *frame, const stn_geometry *g, stn_pose *out); // by the present kinematics
/// The frame that is all of a support, -1: it is a body, or points.
int32_t stn_support_frame(const stn_model *model, const stn_support *support);
/// Velocity of the point of a frame that is at `point` now [m/s].
stn_vec3 stn_frame_velocity(const stn_kinematics *k, int32_t node, stn_vec3 point);
/// Moves contact i of the set down to place `kept`, with the beginning of its patch.
static inline void keep_contact(stn_contact_set *set, int32_t i, int32_t kept) {
    const stn_contact *c = &set->contacts[i];
    if (c->patch >= 0 && set->patches[c->patch].contact_start == i) {
        set->patches[c->patch].contact_start = kept;
    }
    if (kept != i) {
        set->contacts[kept] = *c;
    }
}
/// fmax for what runs once a pair: inline. Like there, x may be NaN.
static inline double at_least(double bound, double x) {
    return x > bound ? x : bound;
}
/// Unset relaxation times are `standard`.
static inline void set_relaxation(stn_pair_material *material, double standard) {
    if (isnan(material->value.relaxation_time)) {
        material->value.relaxation_time = standard;
    }
    if (isnan(material->patch_relaxation_time)) {
        material->patch_relaxation_time = standard;
    }
}
/// What the world's contact model sees in a step, with the positions of `kinematics`.
static inline stn_contact_scene stn_step_scene(const step_setup *setup, const step_frame *frame,
                                               const step_services *services, const stn_kinematics *kinematics) {
    return (stn_contact_scene){.model = setup->model,
                               .kinematics = kinematics,
                               .prepared = services->contact_prepared,
                               .arena = frame->arena,
                               .dt = frame->dt,
                               .free_v = frame->v_promised};
}
/// World box of a geometry of the model at the frame's kinematics, grown by `margin` [m].
stn_aabb stn_step_geometry_box(const step_setup *setup, const step_frame *frame, int32_t geometry, const stn_pose *pose,
                               double margin);
/// Asks a contact model about pairs of geometries of the scene's model; `prepared` of the scene is that model's.
stn_status stn_collide_pairs(const stn_instance *contact, const stn_contact_scene *scene, const stn_contact_pair *pairs,
                             int32_t count, stn_contact_set *set, stn_error *err);
/// Can no motion open or close a contact of points? Both sides are held by one body, as nodes that are attached to it
/// are, or by bodies that no force moves. The model has attachments.
bool stn_contact_is_tied(const stn_model *model, const stn_contact *contact);

// overlap.c: how deep pairs overlap
enum { OVERLAP_BATCH = 256 };
typedef struct overlap_batch {
    int32_t count;
    const stn_broadphase_pair *found; // (count)
    const stn_contact_pair *pairs;    // (count), in ascending order
    const stn_geometry *geometries;   // of the model
    const stn_aabb *box;              // (collider_count)
    const double *grown;              // (collider_count) how far boxes reach beyond their shapes
    double depth[OVERLAP_BATCH];      // of each pair, 0: apart
} overlap_batch;
/// The deepest of the pairs so far, and that of the pairs which are left without a contact in overlap.
typedef struct overlap_record {
    double overlap_m, bare_m;
    int32_t geometry[2], bare_geometry[2]; // -1: none
} overlap_record;
void stn_overlap_begin(overlap_record *record);
/// Fills the depths; the contacts from `first` on are all that the contact model has for these pairs.
void stn_overlap_measure(const stn_contact_set *set, overlap_batch *batch, int32_t first);
/// Records them, when contacts that do not act are dropped.
void stn_overlap_note(const stn_contact_set *set, overlap_record *record, const overlap_batch *batch, int32_t first);
/// Adds what `later` has of the pairs that follow.
void stn_overlap_join(overlap_record *record, const overlap_record *later);
void stn_overlap_report(const overlap_record *record, stn_step_report *report);

/// Poses, material and velocities of the pair whose geometries are set, without margin and reach.
void stn_step_describe_pair(const step_setup *setup, const state_view *state, const step_frame *frame,
                            stn_contact_pair *pair);

// middle.c: where contacts act when that is not at the step's start
stn_status stn_step_find_middle(const step_setup *setup, const state_view *state, step_frame *frame,
                                const step_services *services, stn_error *err);
void stn_step_settle_middle(step_frame *frame); // when contacts were dropped or turned since

// seams.c: sides of a part of a body that another part covers turn their normals to its own
stn_status stn_step_turn_seams(const step_setup *setup, step_frame *frame, const step_services *services,
                               stn_error *err);

// kinematic.c: bodies that move as they are told
bool stn_setup_is_kinematic(const step_setup *setup, int32_t body);
void stn_step_kinematic_bodies(const step_setup *setup, const state_view *state, step_frame *frame,
                               step_services *services); // before all that asks for their velocity at the step's end:
/// The velocities that lead from the pose at `now` to the one at `next` (position, quaternion) within the step.
stn_spatial stn_step_mean_twist(const step_frame *frame, const double *now, const double *next);
stn_spatial stn_step_kinematic_twist(const step_setup *setup, const step_frame *frame,
                                     int32_t body); // of one that is kinematic
stn_vec3 stn_step_kinematic_velocity(const step_setup *setup, const step_frame *frame, int32_t body,
                                     stn_vec3 point); // zero for other bodies
/// Its pose at the step's end; the present one of other bodies.
stn_pose stn_step_kinematic_end(const step_setup *setup, const state_view *state, const step_frame *frame,
                                int32_t body);
stn_vec3 stn_step_kinematic_displacement(const step_setup *setup, const state_view *state, const step_frame *frame,
                                         int32_t body,
                                         stn_vec3 point); // by the step's end; zero likewise
void stn_step_move_kinematic(const step_setup *setup, const state_view *state, double *q_next);
void stn_step_forget_kinematic(stn_state *state); // the step that was told is made

// assemble.c, joint_rows.c: contact set, joints -> constraints
stn_status stn_step_assemble(const step_setup *setup, const state_view *state, step_frame *frame,
                             step_services *services, stn_error *err);

// constraint_setup.c, constraint_rows.c: plugins of kind constraint
stn_status stn_setup_place_constraints(step_setup *setup, stn_error *err); // their parts of the state
/// Channels at the start; the kinematics are those of q.
void stn_world_begin_constraints(const step_setup *setup, const stn_kinematics *kinematics, stn_state *state);
/// [J] stored in them, as the kinematics are. `last`, which may be NULL: where the sum is not finite, the one to blame.
double stn_step_constraint_energy(const step_setup *setup, const state_view *state, const step_frame *frame,
                                  int32_t *last);
/// [J] of kinematic bodies by them, and of their own inputs; v0 of the step's start.
double stn_step_constraint_work(const step_frame *frame, const double *v0);
/// The problem is solved: constraints write what follows for their next state.
stn_status stn_step_finish_constraints(const step_setup *setup, const state_view *state, step_frame *frame,
                                       stn_error *err);

// solve.c: law, solver -> v, gamma, certificate
stn_status stn_step_solve(const step_setup *setup, const state_view *state, step_frame *frame, step_services *services,
                          stn_error *err);

// advance.c: integrator -> q_next, v_next; then memories, contact cache and state
stn_status stn_step_advance(const step_setup *setup, const state_view *state, step_frame *frame,
                            step_services *services, stn_error *err);
stn_status stn_step_commit(const step_setup *setup, stn_state *state, step_frame *frame, step_services *services,
                           stn_error *err);

// failure.c
/// Names the first of `values` (nv) that is not finite: "WHAT joint NAME is nan".
stn_status stn_step_check_dofs(const step_setup *setup, const double *values, const char *what, stn_error *err);
/// STN_ERR_NUMERIC names the first node of a cloud that nothing is attached to whose mass is lost in rounding in A.
stn_status stn_step_check_masses(const step_setup *setup, step_frame *frame, stn_error *err);
/// Appends to a message that numbers a tree's dof its group and joint, or its node and cloud. Where stiffness leaves
/// nothing of the node's mass in A it says that instead.
void stn_step_name_dof(const step_setup *setup, const step_frame *frame, int32_t tree, int32_t dof, stn_error *err);
/// Names the first velocity or coordinate of the next state that is not finite.
stn_status stn_step_check_next(const step_setup *setup, const step_frame *frame, stn_error *err);
/// Energies of the next state: finite coordinates may still be too large to be added up or multiplied.
stn_status stn_step_check_energies(const step_setup *setup, const state_view *state, step_frame *frame, stn_error *err);
/// Ends a step whose `stage` failed with `status`, which it returns: the state stays, the error says when and who.
stn_status stn_step_failed(stn_world *world, stn_stage stage, stn_status status, stn_error *err);

// warnings.c: when the first problem begins with deep overlap or a joint outside its limits; before the solve
void stn_step_check_start(const step_setup *setup, const state_view *state, step_frame *frame, step_services *services);
// of the first elements that a step leaves inside out; the kinematics are those of its end
void stn_step_check_inverted(const step_setup *setup, const state_view *state, const step_frame *frame,
                             step_services *services);
// once of a compliant contact that the step is too long for; after the solve, which fills R
void stn_step_check_resolution(const step_setup *setup, step_frame *frame, step_services *services);
// once of a body that the law throws off what it slides over; after the solve
void stn_step_watch_hops(const step_setup *setup, const state_view *state, step_frame *frame, step_services *services);

// cache.c: warm starts and memories by constraint id
stn_status stn_cache_recall(const step_setup *setup, const state_view *state, step_frame *frame,
                            const step_services *services, stn_error *err);
/// Impulse and memories of an entry into constraint i of the frame, whose memories have room.
void stn_cache_read(const step_setup *setup, const state_view *state, int32_t position, step_frame *frame,
                    int32_t constraint);
const stn_cache_entry *stn_cache_find(const state_view *state, const step_services *services,
                                      uint64_t id); // NULL: none of the last step
stn_status stn_cache_commit(const step_setup *setup, stn_state *state, step_frame *frame, step_services *services,
                            stn_error *err);
/// The state becomes a copy of one of the same sizes, with its index; on failure neither changes.
stn_status stn_cache_replace_state(stn_state *state, const stn_state *from, size_t memory_bytes,
                                   step_services *services, stn_error *err);
/// The state and another one of its world change places, and the index follows; on failure neither does.
stn_status stn_cache_exchange_state(stn_state *state, stn_state *other, step_services *services, stn_error *err);

void stn_cache_rescale(stn_state *state, double factor); // impulses, for a step of another length

// lag.c: after recall, the normal impulses of the step before into the problem, for laws that lag
stn_status stn_step_lag(const step_setup *setup, const state_view *state, step_frame *frame,
                        const step_services *services, stn_error *err);

anchor stn_cache_anchor(const step_setup *setup, const state_view *state, int32_t position); // of worlds with stiction
void stn_cache_set_anchor(const step_setup *setup, stn_state *state, int32_t position, const anchor *a);

// anchor.c: what sticks holds its place
stn_status stn_step_hold(const step_setup *setup, const state_view *state, step_frame *frame,
                         stn_error *err); // at the start: anchors into the bias
void stn_step_release(const step_setup *setup, const state_view *state, step_frame *frame,
                      const double *v_c); // after the solve: how far they hold
/// Coordinates [start, start + count) were overwritten: drops the anchors of what they move; false: there are none.
bool stn_state_forget_anchors(const step_setup *setup, stn_state *state, size_t start, size_t count);

// events.c: contacts that begin and end
int32_t stn_make_set(uint64_t *keys, int32_t count); // sorts and keeps one of each; returns how many
uint64_t stn_step_links(const step_setup *setup, const step_frame *frame,
                        const stn_constraint *c); // key of a contact's pair of links, not 0
uint64_t stn_step_touching(const step_setup *setup, const step_frame *frame,
                           const stn_constraint *c); // key of the links that it pushes apart, 0: none
stn_status stn_step_note_touching(const stn_state *state, step_frame *frame,
                                  stn_error *err); // of the step before; the cache is still its own

// observe.c
/// Into the report, of the state that the kinematics hold; elements that are inside out with them.
void stn_step_energies(const step_setup *setup, const state_view *state, step_frame *frame);
void stn_step_observation(stn_world *world);
void stn_world_show_state(stn_world *world); // kinematics, energies and observation of the state as it is
stn_status stn_step_observe(stn_world *world, stn_error *err);
stn_status stn_world_observe_at(stn_world *world, observer_rank rank, stn_observer call, void *user, stn_error *err);
void stn_world_forget_observers(stn_world *world, const void *user); // all that were added with `user`

#endif
