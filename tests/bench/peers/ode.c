// SPDX-License-Identifier: Apache-2.0
// Open Dynamics Engine: dWorldQuickStep with its defaults, a space that sweeps and prunes (a hash space takes a fifth
// to a half longer here), up to 8 contacts a pair. Velocities follow from its impulses by construction, so there is no
// momentum error to speak of. Settings: sweeps; exact=1: dWorldStep, which factors a dense matrix of all rows, for few
// bodies.
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include <ode/ode.h>

#include "ruler.h"
#include "scene.h"

enum { MOST = 8, MOST_EXACT = 50 }; // contacts of a pair; bodies of dWorldStep

typedef struct peer {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID *bodies;
    int32_t body_count, contact_count;
    double dt, mu;
    bool exact;
    // of a step that is watched: bodies from 0, as they were, contacts and what they did
    bool watched;
    ruler_body *before;        // (body_count - 1)
    ruler_contact *met;        // (contact_count)
    dJointFeedback **feedback; // (contact_count)
    int32_t capacity;
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
    if (s->type == STN_SHAPE_CAPSULE) {
        return dCreateCapsule(space, s->radius, 2.0 * s->half_length);
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
    dBodySetData(body, (void *)(intptr_t)b);
    return body;
}

/// A shape of a body where it sits on that, of the world where it stands; a plane has its place already.
static void place_geometry(dGeomID geom, const stn_geometry *g, const dBodyID *bodies) {
    const double(*R)[3] = g->pose.rotation.m;
    const stn_vec3 x = g->pose.position;
    const dMatrix3 turned = {R[0][0], R[0][1], R[0][2], 0.0,     R[1][0], R[1][1],
                             R[1][2], 0.0,     R[2][0], R[2][1], R[2][2], 0.0};
    if (g->body > 0) {
        dGeomSetBody(geom, bodies[g->body]);
        dGeomSetOffsetPosition(geom, x.x, x.y, x.z);
        dGeomSetOffsetRotation(geom, turned);
    } else if (g->shape.type != STN_SHAPE_HALF_SPACE) {
        dGeomSetPosition(geom, x.x, x.y, x.z);
        dGeomSetRotation(geom, turned);
    }
}

static void destroy(void *self) {
    peer *p = self;
    dJointGroupDestroy(p->contacts);
    dSpaceDestroy(p->space);
    dWorldDestroy(p->world);
    dCloseODE();
    for (int32_t i = 0; i < p->capacity; i++) {
        free(p->feedback[i]);
    }
    free(p->feedback);
    free(p->met);
    free(p->before);
    free(p->bodies);
    free(p);
}

/// dWorldStep tells of every row that it gives up; the error shows it.
static void be_quiet(int number, const char *text, va_list arguments) {
    (void)number, (void)text, (void)arguments;
}

static void *create(const peer_scene *scene, const char *setting) {
    const stn_model *m = scene->model;
    const bool exact = peer_setting(setting, "exact", 0.0) > 0.0;
    const uint32_t shapes =
        1U << STN_SHAPE_SPHERE | 1U << STN_SHAPE_BOX | 1U << STN_SHAPE_CAPSULE | 1U << STN_SHAPE_HALF_SPACE;
    if (!peer_scene_is_free(scene, shapes, "ODE") || (exact && m->body_count > MOST_EXACT + 1)) {
        return NULL;
    }
    peer *p = calloc(1, sizeof *p);
    dBodyID *bodies = calloc((size_t)m->body_count, sizeof *bodies);
    ruler_body *before = calloc((size_t)m->body_count, sizeof *before);
    if (p == NULL || bodies == NULL || before == NULL) {
        free(p);
        free(bodies);
        free(before);
        return NULL;
    }
    dInitODE2(0);
    dSetMessageHandler(be_quiet);
    *p = (peer){.world = dWorldCreate(),
                .space = dSweepAndPruneSpaceCreate(NULL, dSAP_AXES_XYZ),
                .contacts = dJointGroupCreate(0),
                .bodies = bodies,
                .body_count = m->body_count,
                .dt = scene->dt,
                .mu = scene->mu,
                .exact = exact,
                .before = before};
    dWorldSetQuickStepNumIterations(p->world,
                                    (int)peer_setting(setting, "sweeps", dWorldGetQuickStepNumIterations(p->world)));
    dWorldSetGravity(p->world, 0.0, 0.0, -9.81);
    for (int32_t b = 1; b < m->body_count; b++) {
        bodies[b] = make_body(p->world, m, b, scene->q + m->joints[m->bodies[b].joint].q_start);
    }
    for (int32_t g = 0; g < m->geometry_count; g++) {
        const stn_geometry *own = &m->geometries[g];
        if (!own->collision) {
            continue;
        }
        place_geometry(make_geometry(p->space, own), own, bodies);
    }
    return p;
}

/// The number of a body of the model from 0, -1: the world.
static int32_t index_of(dBodyID body) {
    return body != NULL ? (int32_t)(intptr_t)dBodyGetData(body) - 1 : -1;
}

/// Keeps a contact of bodies 1 and 2, along whose normal 1 is pushed: impulses act on the first one.
static void keep(peer *p, dJointID joint, const dContactGeom *geom, dBodyID first, dBodyID second) {
    if (p->contact_count == p->capacity) {
        const int32_t more = p->capacity + 256;
        ruler_contact *met = realloc(p->met, (size_t)more * sizeof *met);
        dJointFeedback **feedback = realloc(p->feedback, (size_t)more * sizeof(dJointFeedback *));
        if (met == NULL || feedback == NULL) {
            abort();
        }
        p->met = met;
        p->feedback = feedback;
        for (; p->capacity < more; p->capacity++) {
            p->feedback[p->capacity] = calloc(1, sizeof(dJointFeedback));
        }
    }
    dVector3 t1, t2;
    dPlaneSpace(geom->normal, t1, t2); // as its contacts take them
    const double target = dWorldGetERP(p->world) * geom->depth / p->dt;
    p->met[p->contact_count] = (ruler_contact){
        .a = index_of(second),
        .b = index_of(first),
        .point = stn_vec3_make(geom->pos[0], geom->pos[1], geom->pos[2]),
        .frame = stn_mat3_columns(stn_vec3_make(t1[0], t1[1], t1[2]), stn_vec3_make(t2[0], t2[1], t2[2]),
                                  stn_vec3_make(geom->normal[0], geom->normal[1], geom->normal[2])),
        .mu = p->mu,
        .target = target,
        .R = dWorldGetCFM(p->world) / p->dt};
    dJointSetFeedback(joint, p->feedback[p->contact_count]);
}

static void meet(void *data, dGeomID a, dGeomID b) {
    peer *p = data;
    dContact contacts[MOST];
    dBodyID of_a = dGeomGetBody(a), of_b = dGeomGetBody(b);
    if (of_a == of_b) { // both of the world or of one body
        return;
    }
    int count = dCollide(a, b, MOST, &contacts[0].geom, sizeof *contacts);
    for (int i = 0; i < count; i++) {
        contacts[i].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = p->mu};
        dJointID joint = dJointCreateContact(p->world, p->contacts, &contacts[i]);
        dJointAttach(joint, of_a, of_b);
        if (p->watched) {
            keep(p, joint, &contacts[i].geom, of_a, of_b);
        }
        p->contact_count++;
    }
}

static bool step(void *self) {
    peer *p = self;
    p->contact_count = 0;
    dSpaceCollide(p->space, p, meet);
    if (p->exact) {
        dWorldStep(p->world, p->dt);
    } else {
        dWorldQuickStep(p->world, p->dt);
    }
    if (!p->watched) {
        dJointGroupEmpty(p->contacts);
    }
    return true;
}

static void watch(void *self) {
    peer *p = self;
    p->watched = true;
    for (int32_t b = 1; b < p->body_count; b++) {
        ruler_body *body = &p->before[b - 1];
        dMass mass;
        const dReal *x = dBodyGetPosition(p->bodies[b]), *r = dBodyGetRotation(p->bodies[b]);
        dBodyGetMass(p->bodies[b], &mass);
        stn_mat3 R, inverse = {{{0.0}}};
        for (int32_t i = 0; i < 3; i++) {
            for (int32_t k = 0; k < 3; k++) {
                R.m[i][k] = r[4 * i + k];
            }
            inverse.m[i][i] = 1.0 / mass.I[5 * i]; // axes of inertia are those of the body in every scene
        }
        *body = (ruler_body){.position = stn_vec3_make(x[0], x[1], x[2]),
                             .inverse_mass = 1.0 / mass.mass,
                             .inverse_inertia = stn_mat3_rotate_tensor(&R, &inverse)};
    }
}

static double error(void *self) {
    peer *p = self;
    for (int32_t b = 1; b < p->body_count; b++) {
        const dReal *v = dBodyGetLinearVel(p->bodies[b]), *w = dBodyGetAngularVel(p->bodies[b]);
        p->before[b - 1].velocity = stn_vec3_make(v[0], v[1], v[2]);
        p->before[b - 1].spin = stn_vec3_make(w[0], w[1], w[2]);
    }
    for (int32_t i = 0; i < p->contact_count; i++) {
        ruler_contact *c = &p->met[i];
        // it swaps the bodies of a joint whose first one is the world, and then tells what acts on the other
        const dReal *f = p->feedback[i]->f1;
        const stn_vec3 on_first = stn_vec3_scale(c->b < 0 ? -p->dt : p->dt, stn_vec3_make(f[0], f[1], f[2]));
        const stn_vec3 own = stn_mat3_apply_transposed(&c->frame, on_first);
        c->gamma[0] = own.x;
        c->gamma[1] = own.y;
        c->gamma[2] = own.z;
    }
    p->watched = false;
    dJointGroupEmpty(p->contacts);
    return ruler_error(RULER_PYRAMID, p->before, p->body_count - 1, p->met, p->contact_count);
}

static void report(void *self, peer_report *out) {
    const peer *p = self;
    const double sweeps = p->exact ? 1.0 : dWorldGetQuickStepNumIterations(p->world);
    *out = (peer_report){sweeps, p->contact_count, (double)NAN};
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

const peer_engine ode_peer = {"ODE", create, step, report, read_q, destroy, watch, error};
