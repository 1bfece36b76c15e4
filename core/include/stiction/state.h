// SPDX-License-Identifier: Apache-2.0
// Everything that changes while a world runs, and nothing else: what a checkpoint holds.
#ifndef STICTION_STATE_H
#define STICTION_STATE_H

#include <stiction/model.h>

STN_BEGIN_C

/// Arrays of the state: member, element type, length, unit, meaning. This list drives allocation, copy, hash,
/// checkpoint and comparison; lengths are members of stn_state_sizes.
#define STN_STATE_FIELDS(X)                                                                                            \
    X(q, double, nq, "m, rad", "generalised positions")                                                                \
    X(v, double, nv, "m/s, rad/s", "generalised velocities")                                                           \
    X(reference, double, reference_count, "as the channel says", "references of constraints and controllers")          \
    X(effort, double, nv, "N m, N", "applied joint efforts, until changed")                                            \
    X(wrench, double, wrench_count, "N m, N",                                                                          \
      "6 per body: torque about the body origin, force; world axes; until changed")                                    \
    X(kinematic_target, double, kinematic_count, "m, m/s, rad/s",                                                      \
      "14 per kinematic body: 1 when the next step's end is told, pose, twist")                                        \
    X(surface_velocity, double, surface_count, "m/s", "3 per geometry: of a belt, in the shape's axes, until changed") \
    X(activation, double, activation_count, "1, s",                                                                    \
      "5 per controller: weight from, weight to, since, blend, priority")                                              \
    X(controller_memory, unsigned char, controller_bytes, "1", "private state of constraints and controllers")         \
    X(sleep, stn_tree_sleep, sleep_count, "s",                                                                         \
      "per tree of worlds that let trees sleep: how long it rests, its group")                                         \
    X(mass_factor, double, mass_count, "1",                                                                            \
      "per body of varied worlds: its mass and inertia are the model's times this, until changed")                     \
    X(friction_factor, double, friction_count, "1",                                                                    \
      "per geometry of varied worlds: friction coefficients of its surface likewise")                                  \
    X(integrator_memory, unsigned char, integrator_bytes, "1", "private state of the integrator")

/// How a tree rests (docs/sleeping.md).
typedef struct stn_tree_sleep {
    double quiet;    // how long all of its points have been slower than sleep_velocity, awake [s]
    int64_t group;   // that it sleeps with, from 1; 0: it is awake
    uint64_t forces; // while it sleeps: hash of the forces of controllers and inputs on it
} stn_tree_sleep;

/// Lengths of the arrays above, in elements.
typedef struct stn_state_sizes {
    /// As compiling found them.
    size_t nq, nv, reference_count, wrench_count, kinematic_count, surface_count, activation_count, controller_bytes,
        sleep_count, mass_count, friction_count, integrator_bytes;
} stn_state_sizes;

/// One contact's memory: impulse for warm starts [N s] in the constraint's rows and the law's and the solver's bytes,
/// which follow the entries in blocks. In the order of the last step's constraints.
typedef struct stn_cache_entry {
    uint64_t id;       // of the constraint
    uint64_t touching; // which links touch by it, 0: none do; see stn_world_contact_events
    double gamma[6];   // [N s] or [N m s], (rows); of contacts, whose rows are three, and then their tangent t1
} stn_cache_entry;

/// The state of a world: these members, and the arrays listed above, which it owns.
typedef struct stn_state {
    double time;           // [s]
    int64_t step;          // steps made
    uint64_t rng[4];       // random stream of scripts (xoshiro256++)
    stn_vec3 gravity;      // [m/s^2]
    stn_state_sizes sizes; // of the arrays
#define STN_STATE_MEMBER(name, type, count, unit, text) type *name;
    STN_STATE_FIELDS(STN_STATE_MEMBER)
#undef STN_STATE_MEMBER
    int32_t cache_count, cache_capacity; // entries used, entries allocated
    stn_cache_entry *cache;              // (cache_count), ids are unique
    unsigned char *cache_memory;         // (cache_count x (law + solver bytes))
} stn_state;

STN_END_C
#endif
