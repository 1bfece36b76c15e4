// SPDX-License-Identifier: Apache-2.0
// Many worlds of one scene in one thread: steps a second of a batch beside MuJoCo with one mjData a world over one
// mjModel, in turns; memory a world; resets and branches. What a world costs among many, over what one costs alone, is
// what its neighbours take out of the caches.
#include <malloc.h>

#include "bench_peer.h"
#include "bench_row.h"
#include "bench_time.h"
#include "peers/scene.h"

enum { MOST_SETTINGS = 8, TURN = 10, TURNS = 9 };

typedef struct bench_scene {
    const char *name, *script;
    const char *settings[MOST_SETTINGS];
    int32_t settle; // steps before anything is measured
} bench_scene;

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
} ours;

static bool check(stn_status status, const stn_error *err) {
    if (status < 0) {
        fprintf(stderr, "Stiction: %s\n", err->text);
    }
    return status >= 0;
}

static bool make_ours(const peer_scene *scene, int32_t count, int32_t settle, ours *out) {
    stn_batch_options options = stn_batch_options_default();
    options.count = count;
    stn_error err = {0};
    const double before = allocated();
    *out = (ours){0};
    const bool made = check(stn_batch_create(scene->world, &options, &out->batch, &err), &err) &&
                      check(stn_batch_step(out->batch, settle, &err), &err);
    out->bytes = (allocated() - before) / count;
    return made;
}

/// Seconds of a turn: `TURN` steps of all worlds, one after the other, as a learner steps them.
static double turn_ours(ours *o) {
    stn_error err = {0};
    const double start = thread_us();
    for (int32_t i = 0; i < TURN; i++) {
        check(stn_batch_step(o->batch, 1, &err), &err);
    }
    return thread_us() - start;
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

static bool make_theirs(const peer_scene *scene, int32_t count, int32_t settle, theirs *out) {
    *out = (theirs){calloc((size_t)count, sizeof *out->worlds), 0.0};
    double before = 0.0;
    for (int32_t i = 0; out->worlds != NULL && i < count; i++) {
        out->worlds[i] = i == 0 ? mujoco_peer.create(scene, NULL) : mujoco_peer_beside(out->worlds[0]);
        if (out->worlds[i] == NULL) {
            return false;
        }
        for (int32_t k = 0; k < settle; k++) {
            mujoco_peer.step(out->worlds[i]);
        }
        before = i == 0 ? allocated() : before; // the model, and the first of the worlds
    }
    out->bytes = count > 1 ? (allocated() - before) / (count - 1) : (double)NAN;
    return out->worlds != NULL;
}

static double turn_theirs(theirs *t, int32_t count) {
    const double start = thread_us();
    for (int32_t k = 0; k < TURN; k++) {
        for (int32_t i = 0; i < count; i++) {
            mujoco_peer.step(t->worlds[i]);
        }
    }
    return thread_us() - start;
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
        if (!make_ours(&scene, count, b->settle, &o)) {
            break;
        }
#ifdef HAVE_MUJOCO
        theirs t;
        const bool there = make_theirs(&scene, count, b->settle, &t);
#endif
        const int32_t rounds = count < 100 ? 100 / count : 1; // of a turn, so that it is long enough
        for (int32_t k = 0; k < TURNS; k++) {
            us[k] = their_us[k] = 0.0;
            for (int32_t r = 0; r < rounds; r++) {
                us[k] += turn_ours(&o);
            }
#ifdef HAVE_MUJOCO
            for (int32_t r = 0; r < rounds && there; r++) {
                their_us[k] += turn_theirs(&t, count);
            }
#endif
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
        stn_batch_destroy(o.batch);
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
        {"quadruped_stand", "scripts/quadruped.lua", {"task=stand", NULL}, 200},
        {"quadruped_drop", "scripts/quadruped.lua", {"task=drop", NULL}, 500},
        {"box_stack", "scripts/box_stack.lua", {NULL}, 200},
        {"arm7_free", "scripts/own_robots.lua", {"robot=iiwa14", "effort_limits=false", NULL}, 50},
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
