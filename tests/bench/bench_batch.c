// SPDX-License-Identifier: Apache-2.0
// Many worlds of one scene in one thread: steps a second of a batch beside MuJoCo with one mjData a world over one
// mjModel, in turns; memory a world; resets and branches. What a world costs among many, over what one costs alone, is
// what its neighbours take out of the caches.
#include <malloc.h>
#include <math.h>
#include <string.h>

#include "bench_peer.h"
#include "bench_row.h"
#include "bench_time.h"
#include "peers/scene.h"

enum { MOST_SETTINGS = 8, TURN = 10, TURNS = 9 };

/// Where servos are to be at a time: coordinates (nq), of which those of driven joints are changed.
typedef void drive(const stn_model *model, double time, double *q);

typedef struct bench_scene {
    const char *name, *script;
    const char *settings[MOST_SETTINGS];
    int32_t settle; // steps before anything is measured
    drive *drive;   // told to all worlds before each step; NULL: servos hold the start
} bench_scene;

/// As task=trot of scripts/quadruped.lua: diagonal pairs of feet take turns, twice a second.
static void trot(const stn_model *model, double time, double *q) {
    for (int32_t j = 0; j < model->joint_count; j++) {
        char leg[3] = "", part[4] = "";
        if (sscanf(model->joints[j].name, "quadruped_%2[A-Z]_%3[A-Z]", leg, part) == 2) {
            const bool first = strcmp(leg, "LF") == 0 || strcmp(leg, "RH") == 0;
            const double turn = sin(4.0 * 3.14159265358979 * time), side = leg[1] == 'F' ? 1.0 : -1.0;
            const double lift = fmax(0.0, first ? turn : -turn);
            q[model->joints[j].q_start] = strcmp(part, "HAA") == 0   ? 0.0
                                          : strcmp(part, "HFE") == 0 ? side * (0.6 + 0.25 * lift)
                                                                     : side * (-1.2 - 0.5 * lift);
        }
    }
}

/// Servos of the jaws press on a cube of 5 cm with 20 N.
static void grip(const stn_model *model, double time, double *q) {
    (void)time;
    for (int32_t j = 0; j < model->joint_count; j++) {
        if (strstr(model->joints[j].name, "_slide") != NULL) {
            q[model->joints[j].q_start] = 0.025 - 0.01;
        }
    }
}

static double allocated(void) {
    const struct mallinfo2 now = mallinfo2();
    return (double)now.uordblks + (double)now.hblkhd;
}

/// What one engine took for `count` worlds.
typedef struct figures {
    double us, bytes, reset_us, branch_us; // a world and step; a world
} figures;

typedef struct ours {
    stn_batch *batch;
    double bytes;
    double *references; // (count x columns) of scenes that are driven
} ours;

/// What is told to a scene's servos, to every world the same.
typedef struct commander {
    const bench_scene *bench;
    const peer_scene *scene;
    int64_t step;
    double *q; // (nq)
} commander;

static bool check(stn_status status, const stn_error *err) {
    if (status < 0) {
        fprintf(stderr, "Stiction: %s\n", err->text);
    }
    return status >= 0;
}

/// Position references of the scene's controllers, which are all joint_pd, for the coordinates at hand.
static void command_ours(const commander *c, const ours *o) {
    const stn_world *world = c->scene->world;
    const int32_t columns = stn_batch_columns(o->batch, STN_BATCH_REFERENCE), count = stn_batch_count(o->batch);
    stn_error err = {0};
    for (int32_t i = 0; i < count; i++) {
        double *row = o->references + (size_t)i * (size_t)columns;
        for (int32_t k = 0; k < stn_world_controller_count(world); k++) {
            const stn_control_target *target = stn_world_controller_target(world, k);
            for (int32_t d = 0; d < target->dof_count; d++) { // its first channel is `position`
                row[d] = c->q[target->model->joints[target->model->dof_joint[target->dof[d]]].q_start];
            }
            row += stn_world_controller(world, k)->desc->ops.controller->channel_count * target->dof_count;
        }
    }
    check(stn_batch_set(o->batch, STN_BATCH_REFERENCE, NULL, count, o->references, &err), &err);
}

static bool next_command(commander *c) {
    if (c->bench->drive != NULL) {
        c->bench->drive(c->scene->model, (double)c->step++ * c->scene->dt, c->q);
    }
    return c->bench->drive != NULL;
}

/// Microseconds of a turn: `TURN` steps of all worlds, one after the other, as a learner steps them.
static double turn_ours(ours *o, commander c) {
    stn_error err = {0};
    const double start = thread_us();
    for (int32_t i = 0; i < TURN; i++) {
        if (next_command(&c)) {
            command_ours(&c, o);
        }
        check(stn_batch_step(o->batch, 1, &err), &err);
    }
    return thread_us() - start;
}

/// Worlds that have settled.
static bool make_ours(commander *c, int32_t count, ours *out) {
    stn_batch_options options = stn_batch_options_default();
    options.count = count;
    stn_error err = {0};
    const double before = allocated();
    *out = (ours){0};
    if (!check(stn_batch_create(c->scene->world, &options, &out->batch, &err), &err)) {
        return false;
    }
    const size_t told = sizeof(double) * (size_t)stn_batch_columns(out->batch, STN_BATCH_REFERENCE);
    out->references = calloc((size_t)count, told);
    if (out->references == NULL ||
        !check(stn_batch_get(out->batch, STN_BATCH_REFERENCE, NULL, count, out->references, &err), &err)) {
        return false;
    }
    for (int32_t k = 0; k < c->bench->settle; k += TURN, c->step += TURN) {
        turn_ours(out, *c);
    }
    out->bytes = (allocated() - before) / count - (double)told;
    return true;
}

static void drop_ours(ours *o) {
    stn_batch_destroy(o->batch);
    free(o->references);
}

static void measure_changes(ours *o, int32_t count, figures *f) {
    int32_t *from = calloc((size_t)count, sizeof *from), *to = calloc((size_t)count, sizeof *to);
    stn_error err = {0};
    for (int32_t i = 0; from != NULL && to != NULL && i < count; i++) {
        to[i] = i;
    }
    if (from != NULL && to != NULL) {
        double start = thread_us();
        check(stn_batch_copy(o->batch, from, to, count, &err), &err);
        f->branch_us = count > 1 ? (thread_us() - start) / (count - 1) : (double)NAN;
        start = thread_us();
        check(stn_batch_reset(o->batch, NULL, count, &err), &err);
        f->reset_us = (thread_us() - start) / count;
    }
    free(from);
    free(to);
}

#ifdef HAVE_MUJOCO
/// One engine a world; the first has the model of all.
typedef struct theirs {
    void **worlds;
    double bytes;
} theirs;

static double turn_theirs(theirs *t, int32_t count, commander c) {
    const double start = thread_us();
    for (int32_t k = 0; k < TURN; k++) {
        const bool driven = next_command(&c);
        for (int32_t i = 0; i < count; i++) {
            if (driven) {
                mujoco_peer_command(t->worlds[i], c.q);
            }
            mujoco_peer.step(t->worlds[i]);
        }
    }
    return thread_us() - start;
}

/// Worlds that have settled, from the step that the commander is at.
static bool make_theirs(commander c, int32_t count, theirs *out) {
    *out = (theirs){calloc((size_t)count, sizeof *out->worlds), 0.0};
    double before = 0.0;
    for (int32_t i = 0; out->worlds != NULL && i < count; i++) {
        out->worlds[i] = i == 0 ? mujoco_peer.create(c.scene, NULL) : mujoco_peer_beside(out->worlds[0]);
        if (out->worlds[i] == NULL) {
            return false;
        }
        before = i == 0 ? allocated() : before; // the model, and the first of the worlds
    }
    for (int32_t k = 0; k < c.bench->settle && out->worlds != NULL; k += TURN, c.step += TURN) {
        turn_theirs(out, count, c);
    }
    out->bytes = count > 1 ? (allocated() - before) / (count - 1) : (double)NAN;
    return out->worlds != NULL;
}

static void drop_theirs(theirs *t, int32_t count) {
    for (int32_t i = count - 1; t->worlds != NULL && i >= 0; i--) { // the first, which has the model, last
        if (t->worlds[i] != NULL) {
            mujoco_peer.destroy(t->worlds[i]);
        }
    }
    free(t->worlds);
}
#endif

static void measure(const bench_scene *b) {
    static const int32_t counts[] = {1, 10, 100, 1000};
    peer_scene scene;
    char script[512];
    snprintf(script, sizeof script, "%s/%s", STN_SOURCE_DIR, b->script);
    if (!peer_scene_load(&scene, script, b->settings, NULL)) {
        return;
    }
    printf("%s: %d dofs, steps of %g ms\n", b->name, (int)scene.model->nv, 1e3 * scene.dt);
    double alone = (double)NAN;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const int32_t count = counts[i];
        double us[TURNS], their_us[TURNS];
        figures own = {0}, their = {(double)NAN, (double)NAN, (double)NAN, (double)NAN};
        ours o;
        commander c = {b, &scene, 0, calloc((size_t)scene.model->nq, sizeof *c.q)};
        if (c.q == NULL) {
            break;
        }
        memcpy(c.q, scene.q, sizeof(double) * (size_t)scene.model->nq);
#ifdef HAVE_MUJOCO
        const commander start = c;
#endif
        if (!make_ours(&c, count, &o)) {
            drop_ours(&o);
            free(c.q);
            break;
        }
#ifdef HAVE_MUJOCO
        theirs t;
        const bool there = make_theirs(start, count, &t);
#endif
        const int32_t rounds = count < 100 ? 100 / count : 1; // of a turn, so that it is long enough
        for (int32_t k = 0; k < TURNS; k++) {
            us[k] = their_us[k] = 0.0;
            for (int32_t r = 0; r < rounds; r++) {
                us[k] += turn_ours(&o, (commander){c.bench, c.scene, c.step + r * TURN, c.q});
            }
#ifdef HAVE_MUJOCO
            for (int32_t r = 0; r < rounds && there; r++) {
                their_us[k] += turn_theirs(&t, count, (commander){c.bench, c.scene, c.step + r * TURN, c.q});
            }
#endif
            c.step += (int64_t)rounds * TURN;
        }
        const double steps = (double)TURN * rounds * count;
        own.us = median(us, TURNS) / steps;
        own.bytes = o.bytes;
        measure_changes(&o, count, &own);
#ifdef HAVE_MUJOCO
        if (there) {
            their.us = median(their_us, TURNS) / steps;
            their.bytes = t.bytes;
        }
        drop_theirs(&t, count);
#endif
        drop_ours(&o);
        free(c.q);
        alone = count == 1 ? own.us : alone;
        printf("  %5d worlds: %8.2f us a step, %5.2f of one alone, %9.0f steps/s; MuJoCo %8.2f us, %5.2f of ours; "
               "KB a world %6.1f, MuJoCo %6.1f; reset %6.2f us, branch %6.2f us\n",
               (int)count, own.us, own.us / alone, 1e6 / own.us, their.us, their.us / own.us, own.bytes / 1024.0,
               their.bytes / 1024.0, own.reset_us, own.branch_us);
        char what[128];
        snprintf(what, sizeof what, "%s, %d worlds", b->name, (int)count);
        bench_row("batch", what, "Stiction", "", "us", own.us);
        bench_row("batch", what, "Stiction", "memory", "KB", own.bytes / 1024.0);
        bench_row("batch", what, "MuJoCo", "", "us", their.us);
        fflush(stdout);
    }
    peer_scene_clear(&scene);
}

int main(int argc, char **argv) {
    static const bench_scene scenes[] = {
        {"cartpole", "tests/bench/cartpole.lua", {NULL}, 50, NULL},
        {"quadruped_stand", "scripts/quadruped.lua", {"task=stand", NULL}, 200, NULL},
        {"quadruped_drop", "scripts/quadruped.lua", {"task=drop", NULL}, 500, NULL},
        {"quadruped_trot", "scripts/quadruped.lua", {"task=stand", NULL}, 200, trot},
        {"arm_gripper_cube", "tests/bench/grasp.lua", {NULL}, 200, grip},
        {"box_stack", "scripts/box_stack.lua", {NULL}, 200, NULL},
        {"arm7_free", "scripts/own_robots.lua", {"robot=iiwa14", "effort_limits=false", NULL}, 50, NULL},
    };
    const char *only = argc > 1 ? argv[1] : NULL;
    print_processor();
#ifndef HAVE_MUJOCO
    printf("MuJoCo is left out: not installed (libmujoco-dev)\n");
#endif
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (only == NULL || strstr(scenes[i].name, only) != NULL) {
            measure(&scenes[i]);
        }
    }
    return 0;
}
