// SPDX-License-Identifier: Apache-2.0
// One measure of how well a step is solved, for every engine: of its own contact problem, from its contact points,
// settings and impulses gamma,
//
//     E = |natural map of gamma| / |natural map of no impulses|
//
// both at the velocities that follow from the impulses, v = v_free + A^-1 J^T gamma, so that an error of momentum shows
// as well. The natural map of a contact [m/s] is omega gamma - P(omega gamma - g), omega its inverse mass, g = v_c -
// target + R gamma, P the projection on what the engine's law allows. E = 1: as good as doing nothing.
#ifndef BENCH_PEERS_RULER_H
#define BENCH_PEERS_RULER_H

#include <stiction/stiction.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What an engine's law is.
typedef enum ruler_law {
    RULER_CONVEX,  // the convex relaxation of Coulomb's law, a circular cone
    RULER_COULOMB, // Coulomb's law, a circular cone
    RULER_PYRAMID, // Coulomb's law along two directions, each for itself
} ruler_law;

/// A body, in the world; inverse masses 0: it does not move.
typedef struct ruler_body {
    stn_vec3 position;        // of the centre of mass when contacts were found
    double inverse_mass;      // [1/kg]
    stn_mat3 inverse_inertia; // about it, world axes [1/(kg m^2)]
    stn_vec3 velocity, spin;  // after the step [m/s, rad/s]
} ruler_body;

/// A contact of two bodies (-1: the world), whose impulses act on b.
typedef struct ruler_contact {
    int32_t a, b;
    stn_vec3 point;
    stn_mat3 frame; // columns t1, t2, n; n from a to b
    double mu;
    double target;   // of the normal velocity: v_n >= target [m/s]
    double R;        // of the normal row [1/kg]
    double gamma[3]; // along t1, t2, n [N s]
} ruler_contact;

/// E of a step of free bodies. NaN: there are no contacts, or none that have to act.
double ruler_error(ruler_law law, const ruler_body *bodies, int32_t body_count, const ruler_contact *contacts,
                   int32_t contact_count);

/// E of a step of ours, of any trees whose A is regular; by the convex law where the solver needs a law. NaN likewise.
double ruler_world_error(const stn_world *world);

#ifdef __cplusplus
}
#endif

#endif
