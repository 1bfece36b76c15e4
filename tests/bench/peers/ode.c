// SPDX-License-Identifier: Apache-2.0
// Open Dynamics Engine: dWorldQuickStep with its defaults, a hash space, up to 8 contacts a pair. Velocities follow
// from its impulses by construction, so there is no momentum error to speak of.
#include <math.h>
#include <stdlib.h>

#include <ode/ode.h>

#include "scene.h"

enum { MOST = 8 };

typedef struct peer {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID *bodies;
    int32_t body_count, contact_count;
    double dt, mu;
} peer;

static dGeomID make_geometry(dSpaceID space, const stn_geometry *g) {
    const stn_shape *s = &g->shape;
    if (s->type == STN_SHAPE_HALF_SPACE) {
        const double(*R)[3] = g->pose.rotation.m; // its z axis looks out
        stn_vec3 normal = stn_vec3_make(R[0][2], R[1][2], R[2][2]);
        return dCreatePlane(space, normal.x, normal.y, normal.z, stn_vec3_dot(normal, g->pose.position));
    }
    if (s->type == STN_SHAPE_SPHERE) {
        return dCreateSphere(space, s->radius);
    }
    return dCreateBox(space, 2.0 * s->half_extents.x, 2.0 * s->half_extents.y, 2.0 * s->half_extents.z);
}

static dBodyID make_body(dWorldID world, const stn_model *m, int32_t b, const double *q) {
    dBodyID body = dBodyCreate(world);
    dMass mass;
    const stn_mass *own = &m->bodies[b].mass;
    const double(*I)[3] = own->inertia.m;
    dMassSetParameters(&mass, own->mass, 0.0, 0.0, 0.0, I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, q[0], q[1], q[2]);
    dBodySetQuaternion(body, q + 3);
    return body;
}

static void destroy(void *self) {
    peer *p = self;
    dJointGroupDestroy(p->contacts);
    dSpaceDestroy(p->space);
    dWorldDestroy(p->world);
    dCloseODE();
    free(p->bodies);
    free(p);
}

static void *create(const peer_scene *scene) {
    const stn_model *m = scene->model;
    peer *p = calloc(1, sizeof *p);
    dBodyID *bodies = calloc((size_t)m->body_count, sizeof *bodies);
    if (p == NULL || bodies == NULL) {
        free(p);
        free(bodies);
        return NULL;
    }
    dInitODE2(0);
    *p = (peer){.world = dWorldCreate(),
                .space = dHashSpaceCreate(NULL),
                .contacts = dJointGroupCreate(0),
                .bodies = bodies,
                .body_count = m->body_count,
                .dt = scene->dt,
                .mu = scene->mu};
    dWorldSetGravity(p->world, 0.0, 0.0, -9.81);
    for (int32_t b = 1; b < m->body_count; b++) {
        bodies[b] = make_body(p->world, m, b, scene->q + m->joints[m->bodies[b].joint].q_start);
    }
    for (int32_t g = 0; g < m->geometry_count; g++) {
        const stn_geometry *own = &m->geometries[g];
        if (!own->collision) {
            continue;
        }
        dGeomID geom = make_geometry(p->space, own);
        if (own->body > 0) {
            dGeomSetBody(geom, bodies[own->body]);
        } else if (own->shape.type == STN_SHAPE_BOX) {
            dGeomSetPosition(geom, own->pose.position.x, own->pose.position.y, own->pose.position.z);
        }
    }
    return p;
}

static void meet(void *data, dGeomID a, dGeomID b) {
    peer *p = data;
    dContact contacts[MOST];
    dBodyID of_a = dGeomGetBody(a), of_b = dGeomGetBody(b);
    if (of_a == NULL && of_b == NULL) {
        return;
    }
    int count = dCollide(a, b, MOST, &contacts[0].geom, sizeof *contacts);
    for (int i = 0; i < count; i++) {
        contacts[i].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = p->mu};
        dJointAttach(dJointCreateContact(p->world, p->contacts, &contacts[i]), of_a, of_b);
    }
    p->contact_count += count;
}

static bool step(void *self) {
    peer *p = self;
    p->contact_count = 0;
    dSpaceCollide(p->space, p, meet);
    dWorldQuickStep(p->world, p->dt);
    dJointGroupEmpty(p->contacts);
    return true;
}

static void report(void *self, peer_report *out) {
    const peer *p = self;
    *out = (peer_report){dWorldGetQuickStepNumIterations(p->world), p->contact_count, (double)NAN};
}

static void read_q(void *self, double *q) {
    const peer *p = self;
    for (int32_t b = 1; b < p->body_count; b++, q += 7) {
        const dReal *x = dBodyGetPosition(p->bodies[b]), *r = dBodyGetQuaternion(p->bodies[b]);
        for (int32_t i = 0; i < 7; i++) {
            q[i] = i < 3 ? x[i] : r[i - 3];
        }
    }
}

const peer_engine ode_peer = {"ODE", create, step, report, read_q, destroy};
