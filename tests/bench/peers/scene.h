// SPDX-License-Identifier: Apache-2.0
// What the bench of whole steps gives to every engine: a scene that a Lua script of scripts/ described, as the compiled
// model, its start and its servos; and what an engine is: made of a scene, stepped, asked how the step went.
#ifndef BENCH_PEERS_SCENE_H
#define BENCH_PEERS_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include <stiction/stiction.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer_scene {
    stn_context *context;
    stn_world *world; // before its first step
    const stn_model *model;
    const double *q;      // (nq) the start; servos hold it
    const double *effort; // (nv) constant, at joints [N m], [N]
    double *kp, *kd;      // (nv) of servos, 0: none [N m/rad], [N m s/rad]
    double *limit;        // (nv) of their efforts, infinite: none [N m]
    double dt, mu;        // [s]; of every contact
    // of MuJoCo; the loader says its defaults, 1 and 0.02:
    double impratio, time_constant; // friction impedance over normal impedance; first number of solref [s]
} peer_scene;

/// How the last step went; NaN: the engine has none.
typedef struct peer_report {
    double iterations, contacts;
    double momentum; // |D residual| / max(|D A v|, |D J^T gamma|), D = diag(A)^-1/2
} peer_report;

typedef struct peer_engine {
    const char *name;
    /// NULL: not possible, and said why. `setting`: words "name=value" that the engine knows, "sweeps=50"; NULL: as it
    /// comes.
    void *(*create)(const peer_scene *scene, const char *setting);
    bool (*step)(void *self); // what is timed; false: it failed, and said why
    void (*report)(void *self, peer_report *out);
    void (*read_q)(void *self, double *q); // in Stiction's coordinates (nq)
    void (*destroy)(void *self);
    void (*watch)(void *self);   // the next step's error will be asked for; NULL: it does not tell its impulses
    double (*error)(void *self); // of the step that was watched: ruler.h
} peer_engine;

extern const peer_engine stiction_peer;
#ifdef HAVE_MUJOCO
extern const peer_engine mujoco_peer;
/// Another world over the model of one, in its state; the first is destroyed last. NULL: not possible.
void *mujoco_peer_beside(void *self);
void mujoco_peer_command(void *self, const double *q); // servos go to these coordinates (nq)
#endif
#ifdef HAVE_ODE
extern const peer_engine ode_peer; // free bodies of spheres, boxes and capsules only
#endif
#ifdef HAVE_BULLET
extern const peer_engine bullet_peer; // free bodies of these and of convex hulls
#endif
#ifdef HAVE_BOX3D
extern const peer_engine box3d_peer; // the same
#endif

/// Runs a script until its first step. `settings` are "name=value", NULL at the end; `solver`: in place of the
/// script's, NULL: that.
bool peer_scene_load(peer_scene *out, const char *script, const char *const *settings, const char *solver);
/// With so many workers for islands, 0: as the script says.
bool peer_scene_load_threads(peer_scene *out, const char *script, const char *const *settings, const char *solver,
                             int32_t threads);
void peer_scene_clear(peer_scene *scene);
/// Deepest overlap of the shapes at some coordinates [m], as our own contact model sees it.
double peer_scene_overlap(const peer_scene *scene, const double *q);
/// The model as MJCF, with servos, and pyramidal or elliptic cones.
bool peer_scene_write_mjcf(const peer_scene *scene, const char *path, bool pyramids);
/// True: bodies are free, nothing but contact acts between them, and their shapes and those of the world are among
/// `shapes`, bits 1 << stn_shape_type. False: told on stderr, `engine` in front.
bool peer_scene_is_free(const peer_scene *scene, uint32_t shapes, const char *engine);
/// The number behind "name=" in a setting (NULL: none), or `otherwise`.
double peer_setting(const char *setting, const char *name, double otherwise);

#ifdef __cplusplus
}
#endif

#endif
