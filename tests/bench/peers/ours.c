// SPDX-License-Identifier: Apache-2.0
// Stiction: stn_world_step, certificate and all.
#include <stdio.h>
#include <string.h>

#include "ruler.h"
#include "scene.h"

static void *create(const peer_scene *scene, const char *setting) {
    (void)setting; // scripts have settings of their own
    stn_world *world = NULL;
    stn_error err = {0};
    if (stn_world_clone(scene->world, &world, &err) < 0) {
        fprintf(stderr, "Stiction: %s\n", err.text);
    }
    return world;
}

static bool step(void *self) {
    stn_error err = {0};
    bool made = stn_world_step(self, &err) >= 0;
    if (!made) {
        fprintf(stderr, "Stiction: %s\n", err.text);
    }
    return made;
}

static void report(void *self, peer_report *out) {
    const stn_observation *o = stn_world_observation(self);
    *out = (peer_report){o->report->iterations, o->report->contact_count, o->certificate->momentum};
}

static void read_q(void *self, double *q) {
    memcpy(q, stn_world_state(self)->q, (size_t)stn_world_model(self)->nq * sizeof *q);
}

static void destroy(void *self) {
    stn_world_destroy(self);
}

static void watch(void *self) { // every step keeps its problem
    (void)self;
}

static double error(void *self) {
    return ruler_world_error(self);
}

const peer_engine stiction_peer = {"Stiction", create, step, report, read_q, destroy, watch, error};
