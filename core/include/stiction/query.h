// SPDX-License-Identifier: Apache-2.0
// Questions about the present state of a world, also before the first step: rays, distances, overlaps, near pairs; and
// how hard its last problem was. None of them changes the state, or what a step computes.
#ifndef STICTION_QUERY_H
#define STICTION_QUERY_H

#include <stiction/world.h>

STN_BEGIN_C

// The world must be compiled (STN_ERR_SEQUENCE). Rays are met by the shapes themselves; distances are those of the
// world's contact model, whose failures they pass on. Shapes that it does not handle are left out, as they touch
// nothing. Several queries of one state cost less each than the first. Not in parallel on one world.

/// Which geometries a query looks at; NULL for it: all that collide.
typedef struct stn_query {
    bool visual;                                         // those that are drawn, instead of those that collide
    bool (*accepts)(const void *user, int32_t geometry); // of the model; NULL: all of them
    const void *user;                                    // handed to accepts
} stn_query;

/// What a ray meets; geometry -1: nothing.
typedef struct stn_world_hit {
    int32_t geometry; // of the model
    stn_ray_hit ray;  // where it is met
} stn_world_hit;

/// The geometry that the ray meets first, at most `max` [m] away (may be infinite); of several at one distance the
/// first. stn_shape_raycast says what is met. STN_ERR_ARGUMENT for a direction without length and numbers that are not
/// finite.
STN_API stn_status stn_world_raycast(stn_world *world, const stn_query *query, stn_vec3 origin, stn_vec3 direction,
                                     double max, stn_world_hit *hit, stn_error *err);

/// Two geometries where they are nearest, or deepest in each other.
typedef struct stn_world_distance_result {
    int32_t geometry_a, geometry_b; // -1: nothing within reach
    double distance;                // signed, negative in overlap [m]
    stn_vec3 point_a, point_b;      // on the two surfaces, world [m]: b = a + distance normal
    stn_vec3 normal;                // unit, from A into B, world
} stn_world_distance_result;

/// The smallest signed distance between a geometry of `a` and one of `b`, at most `max` (may be infinite), whatever
/// filters and exclusions say. STN_ERR_ARGUMENT when one side has no geometries, STN_ERR_UNSUPPORTED when the contact
/// model handles none of the pairs.
STN_API stn_status stn_world_distance(stn_world *world, const stn_query *a, const stn_query *b, double max,
                                      stn_world_distance_result *out, stn_error *err);

/// The geometry nearest to a point and at most `radius` away (may be infinite): A; its distance is negative when the
/// point lies inside. B is the point: geometry_b is -1 also when A is found. The normal points from A outwards.
STN_API stn_status stn_world_nearest(stn_world *world, const stn_query *query, stn_vec3 point, double radius,
                                     stn_world_distance_result *out, stn_error *err);

/// A geometry near a shape.
typedef struct stn_world_overlap_result {
    int32_t geometry; // of the model
    double distance;  // signed, negative in overlap [m]
} stn_world_overlap_result;

/// The geometries at a signed distance <= `margin` [m] of a shape posed at X_WS, by index; touching counts for margin
/// 0.
/// `*found` is borrowed until the next query of this world. STN_ERR_ARGUMENT for a margin or pose that is not finite,
/// STN_ERR_UNSUPPORTED when the contact model handles the shape with no geometry that is asked for.
STN_API stn_status stn_world_overlap(stn_world *world, const stn_query *query, const stn_shape *shape,
                                     const stn_pose *pose, double margin, const stn_world_overlap_result **found,
                                     int32_t *count, stn_error *err);

/// Pairs of which A is of `mine` and B of `others` at a signed distance <= `within` [m], each with the place where it
/// is nearest: those that may collide (stn_model_may_collide) and whose shapes the contact model handles. By geometry
/// A, then B; of a pair within `mine` A is the smaller one, and B must be of `others` as well. Borrowed until the next
/// query of this world. STN_ERR_ARGUMENT: `within` is not finite. No allocation in a steady step.
STN_API stn_status stn_world_near_pairs(stn_world *world, const stn_query *mine, const stn_query *others, double within,
                                        const stn_near_pair **pairs, int32_t *count, stn_error *err);

/// stn_condition_number of the last step, at its solution. STN_ERR_SEQUENCE before the first step and without a law.
STN_API stn_status stn_world_condition_number(stn_world *world, double *out, stn_error *err);

STN_END_C
#endif
