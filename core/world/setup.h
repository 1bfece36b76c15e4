// SPDX-License-Identifier: Apache-2.0
// What is constant once a world is compiled: the model, the options, the chosen plugins and the tables that follow from
// them. Worlds of one description share it.
#ifndef STICTION_CORE_WORLD_SETUP_H
#define STICTION_CORE_WORLD_SETUP_H

#include <stdatomic.h>

#include <stiction/solve.h>
#include <stiction/world.h>

/// A controller bound to joints of a group, and where its numbers lie in the state.
typedef struct controller {
    stn_instance *instance;
    stn_control_target target;
    int32_t *joints, *dofs; // arrays behind target
    size_t reference_start, reference_count;
    size_t memory_start, memory_size;
} controller;

/// Numbers of the state for a body that moves as it is told, and for a controller's weight.
enum { KINEMATIC_NUMBERS = 14, ACTIVATION_NUMBERS = 5 };

/// Of a group of elements: where blocks go in the nodal matrix of their tree, slot[(e n + i) n + j] for node pair (i,
/// j) of element e; where its channels and states are in the state, behind those of the constraints.
typedef struct element_slots {
    int32_t *slot;
    size_t reference_start, memory_start;
} element_slots;

/// Where a constraint of a plugin keeps its numbers in the state, before those of the controllers.
typedef struct constraint_slot {
    size_t reference_start, memory_start, bytes;
    int32_t rows;         // in a step, at most
    int32_t contact_rows; // beside them, for every contact on a body of its ends
} constraint_slot;

typedef struct step_setup {
    atomic_int users; // worlds, and setups on top of it; first: stn_setup_part copies what follows
    stn_context *context;
    struct step_setup *base;   // NULL, or what all is borrowed from but controllers, integrator and parameters
    stn_world_options options; // plugin choices cleared: they live in `plugin`; dt is that of the frame
    stn_instance *plugin[STN_KIND_COUNT];
    char *parameters;       // text for stn_world_parameters
    stn_model *compiled;    // owned
    stn_model *varied;      // owned: of worlds whose masses and frictions change (factors.c), a setup each; else NULL
    const stn_model *model; // `varied` or `compiled`; NULL before compiling and when that failed
    double most_friction;   // the largest factor of friction now, at least 1
    double *factors;        // (body_count + geometry_count) that `varied` has; of such worlds

    int32_t controller_count;
    controller *controllers;

    element_slots *element_slots;           // (element_group_count)
    constraint_slot *constraint_slots;      // (constraint_count of the model)
    size_t plugin_references, plugin_bytes; // of constraints and elements, in the state
    int32_t constraint_rows;                // of all, without those of contacts
    bool constraints_read_contacts;         // has any contact_rows?
    int32_t collider_count;
    int32_t *collider; // geometries that can collide
    bool *collider_moves;
    double
        *collider_radius; // of the shape about its body's origin, for speed bounds; 0 for half spaces and height fields
    double *collider_margin; // how far around it pairs are wanted, whatever the law
    stn_material
        *collider_worst; // largest mu, relaxation time that is set, dissipation, smallest stiffness of any pair with it
    int32_t *surface_kind;            // (geometry_count) what is alike in the material of any pair (pair_materials.c)
    int32_t surface_kind_count;       // 0: there are too many for a table
    stn_pair_material *kind_material; // (surface_kind_count x surface_kind_count) of a pair of kinds
    int32_t *body_parts;              // (body_count) colliders that each body is composed of; a surface counts as two
    int32_t kinematic_count;          // bodies that move as they are told
    int32_t *kinematic_bodies;        // (kinematic_count) the bodies
    int32_t *kinematic_of;            // (body_count) number of a kinematic body, -1: it is none
    int32_t *node_dof, *node_tree;    // (node_count) first velocity and tree of each node
    int32_t acting_count;             // joints that may do more than carry their bodies
    const int32_t *acting;            // (acting_count) the joints, the model's list
    bool *tree_may_sleep;             // (tree_count); NULL: none may
    double *body_radius;              // (body_count) about its origin, of what moves with it; NULL likewise [m]
    double slip_tolerance;            // slip speed that static friction is counted by [m/s]
    int32_t massless_link;            // a moving link without mass, which has no dynamics; -1: none
    bool solver_chosen, law_chosen;   // by the options, and of use with that solver; else they are the standard ones
} step_setup;

/// A setup with its plugins, without a model. Errors: an option out of range, what a plugin says, STN_ERR_MEMORY.
stn_status stn_setup_create(stn_context *context, const stn_world_options *options, step_setup **out, stn_error *err);
/// Makes the tables from `compiled`, and warns of what is likely a mistake. On failure it can only be released.
stn_status stn_setup_compile(step_setup *setup, stn_error *err);
/// The setup of a clone: the same with one user more, or, where masses and frictions change, one on top of it with its
/// own of these, as compiled. [setup]
stn_status stn_setup_for_clone(step_setup *setup, step_setup **out, stn_error *err);
/// One user more, and one less: the last one destroys it. Thread: [any]. Release accepts NULL.
step_setup *stn_setup_keep(step_setup *setup);
void stn_setup_release(step_setup *setup);
/// Before a controller is added or the integrator changes: in place of a setup with other users one on top of it, with
/// a list of controllers of its own. The caller's use goes over to it.
stn_status stn_setup_part(step_setup **setup, stn_error *err);
/// Another integrator in a setup with one user, which keeps it. STN_ERR_UNSUPPORTED: not with this solver. On failure
/// nothing changes.
stn_status stn_setup_put_integrator(step_setup *setup, stn_instance *integrator, stn_error *err);

/// Does the integrator make the step itself, in place of the solver?
static inline bool stn_setup_integrator_solves(const step_setup *setup) {
    return stn_integrator_solves(setup->plugin[STN_KIND_INTEGRATOR]->desc->ops.integrator);
}
stn_law stn_setup_law(const step_setup *setup);                        // ops NULL: there is none
size_t stn_setup_memory_bytes(const step_setup *setup, stn_kind kind); // private bytes per constraint
size_t stn_setup_cache_bytes(const step_setup *setup);                 // private bytes per cache entry

#endif
