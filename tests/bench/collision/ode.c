// SPDX-License-Identifier: Apache-2.0
// Open Dynamics Engine: a hash space, and for every near pair dCollide with up to 8 contacts.
#include <stdio.h>
#include <stdlib.h>

#include <ode/ode.h>

#include "scene.h"

enum { MOST = 8 };

typedef struct peer {
    dSpaceID space;
    dGeomID *geoms;
    found result;
} peer;

static dGeomID make(dSpaceID space, const scene_body *b) {
    switch (b->shape) {
    case SCENE_SPHERE:
        return dCreateSphere(space, b->size[0]);
    case SCENE_BOX:
        return dCreateBox(space, 2.0 * b->size[0], 2.0 * b->size[1], 2.0 * b->size[2]);
    case SCENE_CAPSULE:
        return dCreateCapsule(space, b->size[0], 2.0 * b->size[1]);
    default:
        return dCreateCylinder(space, b->size[0], 2.0 * b->size[1]);
    }
}

static void *create(const scene *s) {
    peer *p = calloc(1, sizeof *p);
    dInitODE2(0);
    if (p != NULL) {
        p->space = dHashSpaceCreate(NULL);
        dHashSpaceSetLevels(p->space, -1, 3); // cells of 0.5 to 8 m: the bodies measure 0.4 to 1.7 m
        p->geoms = calloc((size_t)s->count, sizeof(dGeomID));
        dCreatePlane(p->space, 0.0, 0.0, 1.0, 0.0);
        for (int32_t i = 0; p->geoms != NULL && i < s->count; i++) {
            p->geoms[i] = make(p->space, &s->bodies[i]);
        }
    }
    return p;
}

static void place(void *self, const scene *s) {
    peer *p = self;
    for (int32_t i = 0; i < s->count; i++) {
        const scene_body *b = &s->bodies[i];
        dGeomSetPosition(p->geoms[i], b->position[0], b->position[1], b->position[2]);
        dGeomSetQuaternion(p->geoms[i], b->quaternion);
    }
}

static void meet(void *data, dGeomID a, dGeomID b) {
    peer *p = data;
    dContactGeom contacts[MOST];
    int count = dCollide(a, b, MOST, contacts, sizeof *contacts);
    p->result.contacts += count;
    p->result.pairs += count > 0;
    double depth = 0.0;
    for (int i = 0; i < count; i++) {
        depth = contacts[i].depth > depth ? contacts[i].depth : depth;
    }
    p->result.depth += depth;
    p->result.deepest = depth > p->result.deepest ? depth : p->result.deepest;
}

static void detect(void *self) {
    peer *p = self;
    p->result = (found){0};
    dSpaceCollide(p->space, p, meet);
}

static found count(void *self) {
    peer *p = self;
    return p->result;
}

static void destroy(void *self) {
    peer *p = self;
    dSpaceDestroy(p->space);
    dCloseODE();
    free(p->geoms);
    free(p);
}

const engine ode_engine = {"ODE", create, place, detect, count, destroy};
