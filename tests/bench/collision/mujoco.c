// SPDX-License-Identifier: Apache-2.0
// MuJoCo: mj_collision after mj_kinematics, margin 0.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mujoco/mujoco.h>

#include "scene.h"

typedef struct peer {
    mjModel *model;
    mjData *data;
} peer;

static void write_hull(FILE *file, int32_t i, const scene_body *b) {
    double corners[SCENE_CORNERS][3];
    scene_corners(b, corners);
    fprintf(file, "<mesh name='m%d' vertex='", (int)i);
    for (int32_t k = 0; k < SCENE_CORNERS; k++) {
        fprintf(file, "%.17g %.17g %.17g ", corners[k][0], corners[k][1], corners[k][2]);
    }
    fprintf(file, "'/>\n");
}

static void write_body(FILE *file, int32_t i, const scene_body *b) {
    if (b->shape == SCENE_HULL) {
        fprintf(file, "<body><freejoint/><geom type='mesh' mesh='m%d'/></body>\n", (int)i);
        return;
    }
    static const char *const types[] = {"sphere", "box", "capsule", "cylinder"};
    fprintf(file, "<body><freejoint/><geom type='%s' size='%.17g %.17g %.17g'/></body>\n", types[b->shape], b->size[0],
            b->size[1], b->size[2]);
}

/// The stack holds a number for every second pair of bodies.
static bool write_model(const char *path, const scene *s) {
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return false;
    }
    double pairs = 0.5 * s->count * s->count;
    fprintf(file, "<mujoco><size njmax='1' nconmax='%d' nstack='%.0f'/><asset>\n", 32 * s->count + 100,
            pairs + 1000.0 * s->count + 1e5);
    for (int32_t i = 0; i < s->count; i++) {
        if (s->bodies[i].shape == SCENE_HULL) {
            write_hull(file, i, &s->bodies[i]);
        }
    }
    fprintf(file, "</asset><worldbody><geom type='plane' size='1 1 1'/>\n");
    for (int32_t i = 0; i < s->count; i++) {
        write_body(file, i, &s->bodies[i]);
    }
    fprintf(file, "</worldbody></mujoco>\n");
    return fclose(file) == 0;
}

static void destroy(void *self) {
    peer *p = self;
    mj_deleteData(p->data);
    mj_deleteModel(p->model);
    free(p);
}

static void *create(const scene *s) {
    char path[] = "/tmp/stn_bench_XXXXXX.xml", error[500] = "the model file could not be written";
    int descriptor = mkstemps(path, 4);
    FILE *own = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    peer *p = calloc(1, sizeof *p);
    if (own != NULL) {
        fclose(own);
    }
    if (p != NULL && own != NULL && write_model(path, s)) {
        p->model = mj_loadXML(path, NULL, error, sizeof error);
        p->data = p->model != NULL ? mj_makeData(p->model) : NULL;
    }
    remove(path);
    if (p != NULL && p->data == NULL) {
        fprintf(stderr, "MuJoCo: %s\n", error);
        mj_deleteModel(p->model);
        free(p);
        p = NULL;
    }
    return p;
}

static void place(void *self, const scene *s) {
    peer *p = self;
    for (int32_t i = 0; i < s->count; i++) {
        memcpy(p->data->qpos + 7 * i, s->bodies[i].position, sizeof s->bodies[i].position);
        memcpy(p->data->qpos + 7 * i + 3, s->bodies[i].quaternion, sizeof s->bodies[i].quaternion);
    }
    mj_kinematics(p->model, p->data);
}

static void detect(void *self) {
    peer *p = self;
    mj_collision(p->model, p->data);
}

static void visit_contacts(void *self, visit_point *visit, void *user) {
    const mjData *d = ((peer *)self)->data;
    for (int i = 0; i < d->ncon; i++) { // the margin is 0: they all overlap
        const mjContact *c = &d->contact[i];
        visit(user, c->geom1 - 1, c->geom2 - 1, -c->dist, c->frame);
    }
}

const engine mujoco_engine = {"MuJoCo", create, place, detect, visit_contacts, destroy};
