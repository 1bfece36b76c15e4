// SPDX-License-Identifier: Apache-2.0
// Scenes of the collision benchmarks as plain numbers, so that every engine detects contacts of the same bodies, and
// what an engine is: made of a scene, placed anew for every step, asked for the contacts.
#ifndef BENCH_COLLISION_SCENE_H
#define BENCH_COLLISION_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum scene_shape { SCENE_SPHERE, SCENE_BOX, SCENE_CAPSULE, SCENE_CYLINDER, SCENE_HULL } scene_shape;

enum { SCENE_CORNERS = 20 }; // of a hull

/// Sphere: size[0] is the radius. Box: half extents. Capsule, cylinder along z: radius, half length. Hull: semi-axes of
/// the ellipsoid that its corners are on (scene_corners).
typedef struct scene_body {
    scene_shape shape;
    double size[3];         // [m]
    double position[3];     // now [m]
    double quaternion[4];   // now, scalar first
    double home[3], way[3]; // it swings about home along way [m]
    double at_home[4];      // orientation there, about which it swings as well
    double phase;
} scene_body;

/// Bodies over the ground z <= 0.
typedef struct scene {
    int32_t count;
    scene_body *bodies;
} scene;

/// One point with distance <= 0, and the unit normal either way; body -1 is the ground. Engines that keep points apart
/// or a margin around shapes leave those out.
typedef void visit_point(void *user, int32_t body_a, int32_t body_b, double depth, const double normal[3]);

typedef struct engine {
    const char *name;
    void *(*create)(const scene *s); // NULL: failed, and said why
    void (*place)(void *self, const scene *s);
    void (*detect)(void *self); // what is timed
    void (*visit)(void *self, visit_point *visit,
                  void *user); // what was detected last; a pair's points follow each other
    void (*destroy)(void *self);
} engine;

extern const engine stiction_engine;
#ifdef HAVE_BULLET
extern const engine bullet_engine;
#endif
#ifdef HAVE_ODE
extern const engine ode_engine;
#endif
#ifdef HAVE_MUJOCO
extern const engine mujoco_engine;
#endif

/// A heap: bodies dropped side by side and one above the other, then moved until they rest on each other; twice as wide
/// as high, so that it has more bodies in the middle the larger it is.
bool scene_pile(scene *s, int32_t count);
/// The same with cylinders.
bool scene_pile_cylinders(scene *s, int32_t count);
/// Hulls of SCENE_CORNERS corners alone.
bool scene_pile_hulls(scene *s, int32_t count);
/// The same four bodies high, however many: each has as many neighbours.
bool scene_layer(scene *s, int32_t count);
/// The same bodies apart from each other, each on the ground.
bool scene_spread(scene *s, int32_t count);
/// Poses of a step: every body swings by 5 mm and 0.01 rad, at most 1 mm from one step to the next.
void scene_move(scene *s, int32_t step);
void scene_clear(scene *s);
/// The corners of a hull in its own axes.
void scene_corners(const scene_body *b, double corners[SCENE_CORNERS][3]);

#ifdef __cplusplus
}
#endif

#endif
