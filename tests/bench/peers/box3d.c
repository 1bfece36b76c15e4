// SPDX-License-Identifier: Apache-2.0
// Box3D: soft contacts in 4 sub-steps, single precision, one worker; nothing falls asleep. It tells impulses of its
// last sub-step only, so that its error is not measured. Settings: substeps.
#include <math.h>
#include <stdlib.h>

#include <box3d/box3d.h>

#include "scene.h"

typedef struct peer {
    b3WorldId world;
    b3BodyId *bodies;
    int32_t body_count, substeps;
    float dt;
} peer;

static b3Vec3 vector(stn_vec3 v) {
    return (b3Vec3){(float)v.x, (float)v.y, (float)v.z};
}

static void add_hull(b3BodyId body, const b3ShapeDef *def, const stn_geometry *g) {
    const stn_mesh *mesh = g->shape.mesh;
    b3Vec3 *points = malloc((size_t)mesh->vertex_count * sizeof *points);
    if (points == NULL) {
        abort();
    }
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        const double *x = mesh->vertices + 3 * (size_t)i;
        points[i] = vector(stn_pose_apply(&g->pose, stn_vec3_make(x[0], x[1], x[2])));
    }
    b3HullData *hull = b3CreateHull(points, mesh->vertex_count, mesh->vertex_count);
    b3CreateHullShape(body, def, hull);
    b3DestroyHull(hull);
    free(points);
}

static void add_shape(b3BodyId body, const stn_geometry *g, const peer_scene *scene) {
    b3ShapeDef def = b3DefaultShapeDef();
    def.baseMaterial.friction = (float)scene->mu; // of two bodies: the root of the product
    def.updateBodyMass = false;
    const stn_shape *s = &g->shape;
    if (s->type == STN_SHAPE_SPHERE) {
        const b3Sphere sphere = {.center = vector(g->pose.position), .radius = (float)s->radius};
        b3CreateSphereShape(body, &def, &sphere);
        return;
    }
    if (s->type == STN_SHAPE_CAPSULE) {
        const stn_vec3 arm = stn_vec3_scale(s->half_length, stn_mat3_column(&g->pose.rotation, 2));
        const b3Capsule capsule = {.center1 = vector(stn_vec3_sub(g->pose.position, arm)),
                                   .center2 = vector(stn_vec3_add(g->pose.position, arm)),
                                   .radius = (float)s->radius};
        b3CreateCapsuleShape(body, &def, &capsule);
        return;
    }
    if (s->type == STN_SHAPE_CONVEX) {
        add_hull(body, &def, g);
        return;
    }
    stn_vec3 half = s->half_extents;
    stn_pose pose = g->pose;
    if (s->type == STN_SHAPE_HALF_SPACE) { // a block whose upper face is the plane
        half = stn_vec3_make(10.0, 10.0, 1.0);
        pose.position = stn_vec3_sub(pose.position, stn_mat3_column(&pose.rotation, 2));
    }
    const stn_quat r = stn_quat_from_matrix(&pose.rotation);
    const b3Transform at = {.p = vector(pose.position), .q = {{(float)r.x, (float)r.y, (float)r.z}, (float)r.w}};
    const b3BoxHull box = b3MakeTransformedBoxHull((float)half.x, (float)half.y, (float)half.z, at);
    b3CreateHullShape(body, &def, &box.base);
}

static void destroy(void *self) {
    peer *p = self;
    b3DestroyWorld(p->world);
    free(p->bodies);
    free(p);
}

static void *create(const peer_scene *scene, const char *setting) {
    const stn_model *m = scene->model;
    const uint32_t shapes = 1U << STN_SHAPE_SPHERE | 1U << STN_SHAPE_BOX | 1U << STN_SHAPE_CAPSULE |
                            1U << STN_SHAPE_CONVEX | 1U << STN_SHAPE_HALF_SPACE;
    if (!peer_scene_is_free(scene, shapes, "Box3D")) {
        return NULL;
    }
    peer *p = calloc(1, sizeof *p);
    b3BodyId *bodies = calloc((size_t)m->body_count, sizeof *bodies);
    if (p == NULL || bodies == NULL) {
        free(p);
        free(bodies);
        return NULL;
    }
    b3WorldDef def = b3DefaultWorldDef();
    def.gravity = (b3Vec3){0.0F, 0.0F, -9.81F};
    def.enableSleep = false;
    def.workerCount = 1;
    *p = (peer){.world = b3CreateWorld(&def),
                .bodies = bodies,
                .body_count = m->body_count,
                .substeps = (int32_t)peer_setting(setting, "substeps", 4.0),
                .dt = (float)scene->dt};
    for (int32_t b = 0; b < m->body_count; b++) {
        b3BodyDef own = b3DefaultBodyDef();
        own.type = b == 0 ? b3_staticBody : b3_dynamicBody;
        if (b > 0) {
            const double *q = scene->q + m->joints[m->bodies[b].joint].q_start;
            own.position = (b3Pos){(float)q[0], (float)q[1], (float)q[2]};
            own.rotation = (b3Quat){{(float)q[4], (float)q[5], (float)q[6]}, (float)q[3]};
        }
        bodies[b] = b3CreateBody(p->world, &own);
        for (int32_t g = 0; g < m->geometry_count; g++) {
            if (m->geometries[g].body == b && m->geometries[g].collision) {
                add_shape(bodies[b], &m->geometries[g], scene);
            }
        }
        if (b > 0) {
            const stn_mass *mass = &m->bodies[b].mass;
            const double(*I)[3] = mass->inertia.m;
            b3Body_SetMassData(bodies[b], (b3MassData){.mass = (float)mass->mass,
                                                       .center = vector(mass->com),
                                                       .inertia = {{(float)I[0][0], (float)I[1][0], (float)I[2][0]},
                                                                   {(float)I[0][1], (float)I[1][1], (float)I[2][1]},
                                                                   {(float)I[0][2], (float)I[1][2], (float)I[2][2]}}});
        }
    }
    return p;
}

static bool step(void *self) {
    const peer *p = self;
    b3World_Step(p->world, p->dt, p->substeps);
    return true;
}

static void report(void *self, peer_report *out) {
    const peer *p = self;
    *out = (peer_report){p->substeps, b3World_GetCounters(p->world).contactCount, (double)NAN};
}

static void read_q(void *self, double *q) {
    const peer *p = self;
    for (int32_t b = 1; b < p->body_count; b++, q += 7) {
        const b3WorldTransform at = b3Body_GetTransform(p->bodies[b]);
        const double values[7] = {(double)at.p.x,   (double)at.p.y,   (double)at.p.z,  (double)at.q.s,
                                  (double)at.q.v.x, (double)at.q.v.y, (double)at.q.v.z};
        for (int32_t i = 0; i < 7; i++) {
            q[i] = values[i];
        }
    }
}

const peer_engine box3d_peer = {"Box3D", create, step, report, read_q, destroy, NULL, NULL};
