// SPDX-License-Identifier: Apache-2.0
// Small worlds that several tests share. Every function fails the test that calls it when the core refuses.
#ifndef STN_TEST_SCENES_H
#define STN_TEST_SCENES_H

#include "stn_test.h"

#include <stiction/stiction.h>

/// For cmocka_run_group_tests: *state is a context with default options.
int scene_setup(void **state);
int scene_teardown(void **state);
/// A world of default plugins, and one with another step and solver tolerance.
stn_world *scene_world(stn_context *context, const stn_world_options *options);
stn_world *scene_tight_world(stn_context *context, double dt, double tolerance);
/// The half space z <= 0.
void scene_ground(stn_world *world);
/// A free body that is one shape (its material and filters too) of uniform density. Returns its robot.
int32_t scene_body(stn_world *world, const char *name, double mass, const stn_geometry_spec *shape, stn_vec3 position);
/// A free cube of side 0.2 m whose centre starts at `position`. Returns its robot.
int32_t scene_cube(stn_world *world, const char *name, double mass, stn_vec3 position);
int32_t scene_ball(stn_world *world, const char *name, double mass, double radius, stn_vec3 position);
/// A 2 kg carriage on a fixed rail along x; `spec` (NULL: no limits, friction or damping) gives the joint's data.
int32_t scene_slider(stn_world *world, const char *name, const stn_joint_spec *spec);
/// Makes steps; each must be made in full accuracy.
void scene_steps(stn_world *world, int32_t count);
/// Sum of the normal impulses of all contacts of the last step [N s].
double scene_normal_impulse(const stn_observation *observation);
/// Adds a controller by id with number settings "name", value, ... ended by NULL; returns its index.
int32_t scene_controller(stn_world *world, int32_t robot, const char *id, ...);

#endif
