// SPDX-License-Identifier: Apache-2.0
// What is constant once a world is compiled: the model, the options, the chosen plugins and the tables that follow from
// them. Worlds of one description share it.
#ifndef STICTION_CORE_WORLD_SETUP_H
#define STICTION_CORE_WORLD_SETUP_H

#include <stdatomic.h>

#include <stiction/solve.h>
#include <stiction/world.h>

/// A model and how many worlds use it.
typedef struct shared_model {
    stn_model *model;
    atomic_int users;
} shared_model;

/// A controller bound to joints of a robot, and where its numbers lie in the state.
typedef struct controller {
    stn_instance *instance;
    stn_control_target target;
    int32_t *joints, *dofs; // arrays behind target
    size_t reference_start, reference_count;
    size_t memory_start, memory_size;
} controller;

/// Numbers of the state for a body that moves as it is told, and for a controller's weight.
enum { PRESCRIBED_NUMBERS = 14, ACTIVATION_NUMBERS = 5 };

/// Where element blocks go in the nodal matrix of their tree: slot[(e n + i) n + j] for node pair (i, j) of element e.
typedef struct element_slots {
    int32_t *slot;
} element_slots;

typedef struct step_setup {
    stn_context *context;
    stn_world_options options; // plugin choices cleared: they live in `plugin`; dt is that of the frame
    stn_instance *plugin[STN_KIND_COUNT];
    char *parameters; // text for stn_world_parameters
    shared_model *shared;
    const stn_model *model; // NULL before compiling

    int32_t controller_count;
    controller *controllers;

    element_slots *element_slots; // (element_group_count)
    int32_t collider_count;
    int32_t *collider; // geometries that can collide
    bool *collider_moves;
    double
        *collider_radius; // of the shape about its body's origin, for speed bounds; 0 for half spaces and height fields
    double *collider_margin;       // how far around it pairs are wanted, whatever the law
    stn_material *collider_worst;  // largest mu, relaxation time, dissipation, smallest stiffness of any pair with it
    int32_t *body_parts;           // (body_count) colliders that each body is composed of; a surface counts as two
    int32_t prescribed_count;      // bodies that move as they are told
    int32_t *prescribed;           // (prescribed_count) the bodies
    int32_t *prescribed_of;        // (body_count) number of a prescribed body, -1: it is none
    int32_t *node_dof, *node_tree; // (node_count) first velocity and tree of each node
    double slip_tolerance;         // slip speed that static friction is counted by [m/s]
    int32_t massless_link;         // a moving link without mass, which has no dynamics; -1: none
} step_setup;

#endif
