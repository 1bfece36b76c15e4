// SPDX-License-Identifier: Apache-2.0
// Open Dynamics Engine: a hash space, and for every near pair dCollide with up to 8 contacts. It has no hulls of
// points.
#include <stdio.h>
#include <stdlib.h>

#include <ode/ode.h>

#include "scene.h"

enum { MOST = 8 };

typedef struct peer {
    dSpaceID space;
    dGeomID *geoms;
    int32_t contacts;
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
    for (int32_t i = 0; i < s->count; i++) {
        if (s->bodies[i].shape == SCENE_HULL) {
            return NULL;
        }
    }
    peer *p = calloc(1, sizeof *p);
    dInitODE2(0);
    if (p != NULL) {
        p->space = dHashSpaceCreate(NULL);
        dHashSpaceSetLevels(p->space, -1, 3); // cells of 0.5 to 8 m: the bodies measure 0.4 to 1.7 m
        p->geoms = calloc((size_t)s->count, sizeof(dGeomID));
        dCreatePlane(p->space, 0.0, 0.0, 1.0, 0.0);
        for (int32_t i = 0; p->geoms != NULL && i < s->count; i++) {
            p->geoms[i] = make(p->space, &s->bodies[i]);
            dGeomSetData(p->geoms[i], &p->geoms[i]);
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
    dContactGeom contacts[MOST];
    ((peer *)data)->contacts += dCollide(a, b, MOST, contacts, sizeof *contacts);
}

static void detect(void *self) {
    peer *p = self;
    p->contacts = 0;
    dSpaceCollide(p->space, p, meet);
}

/// What detect hands on at once is found once more.
typedef struct visitor {
    const peer *p;
    visit_point *visit;
    void *user;
} visitor;

static int32_t body_of(const peer *p, dGeomID geom) {
    const dGeomID *at = dGeomGetData(geom);
    return at != NULL ? (int32_t)(at - p->geoms) : -1;
}

static void visit_pair(void *data, dGeomID a, dGeomID b) {
    const visitor *v = data;
    dContactGeom contacts[MOST];
    int count = dCollide(a, b, MOST, contacts, sizeof *contacts);
    for (int i = 0; i < count; i++) {
        v->visit(v->user, body_of(v->p, a), body_of(v->p, b), contacts[i].depth, contacts[i].normal);
    }
}

static void visit_contacts(void *self, visit_point *visit, void *user) {
    peer *p = self;
    visitor v = {p, visit, user};
    dSpaceCollide(p->space, &v, visit_pair);
}

static void destroy(void *self) {
    peer *p = self;
    dSpaceDestroy(p->space);
    dCloseODE();
    free(p->geoms);
    free(p);
}

const engine ode_engine = {"ODE", create, place, detect, visit_contacts, destroy};
