// SPDX-License-Identifier: Apache-2.0
// What a step works with and what changes no result: threads, workspaces, caches, and which warnings were given.
#ifndef STICTION_CORE_WORLD_SERVICES_H
#define STICTION_CORE_WORLD_SERVICES_H

#include <stiction/solve.h>
#include <stiction/world.h>

/// Open-addressing index from constraint id to position in the contact cache.
typedef struct cache_index {
    uint32_t capacity; // power of two, 0: empty
    int32_t *slot;     // position + 1, 0: free
} cache_index;

/// A body that a convex law may have thrown up: warnings.c. It only decides on a warning.
typedef struct hop_watch {
    uint64_t links;                                // of the two
    int32_t geometry[2];                           // of the contact
    int32_t age, apart;                            // steps since, and of them the last ones without a push
    double height, slip_speed, normal_speed, time; // [m], 0: none is waited for; [m/s], [s]
} hop_watch;

/// The contact model that tells distances: gap.h.
typedef struct distance_model {
    const stn_instance *contact; // the world's or `own`; NULL: not chosen yet
    void *prepared;              // of it for the model
    stn_instance *own;           // NULL: the world's tells distances
} distance_model;

enum { NARROW_PARTS = 16 };

typedef struct step_services {
    stn_context *context;
    stn_threads *threads; // NULL: one
    stn_inverse *inverse;
    stn_problem_solver *solver;
    stn_broadphase *broadphase;
    void *contact_prepared; // of the contact model for the model
    distance_model distances;
    cache_index cache_index;
    stn_arena *looks;                // of look_at_constraint, reset by the next
    stn_arena *narrow[NARROW_PARTS]; // of parts of the pairs that several threads look at; NULL: one thread
    stn_surroundings *surroundings;  // the world, for questions that are asked in a step (stn_near_pairs)

    // warnings
    struct clearance_watch *clearances; // clearance.h; NULL: contacts act on the shapes' own surfaces
    bool start_checked;                 // the first problem was looked at
    bool carry_said;                    // about nodes that went with one link and not with another
    bool inverted_said;                 // about an element that is inside out
    bool loose_said;                    // about an integrator that did not converge
    bool resolution_said;               // about stiffness and dt of contacts
    bool softening_said;                // about those of constraints
    bool hop_said;                      // about a law which throws bodies up
    hop_watch hop;
    bool static_friction_said; // about a mu_static below mu
    bool *twist_said;          // (kinematic_count) about a twist that does not fit the poses
} step_services;

#endif
