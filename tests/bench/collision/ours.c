// SPDX-License-Identifier: Apache-2.0
// Stiction: the collision stage of a world's step, as it runs in a simulation: boxes and speed bounds, broad phase,
// materials of the pairs, contact/point, contact set. Poses follow from q outside of the timed call.
#include "ours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world/world.h"

typedef struct ours {
    stn_context *context;
    stn_world *world;
    double *q, *v; // v: zero, also the free velocity
} ours;

static stn_status hull_of(stn_context *context, const scene_body *b, stn_shape *out, stn_error *err) {
    double corners[SCENE_CORNERS][3];
    int32_t triangles[SCENE_CORNERS][3]; // any that name all corners
    stn_mesh *mesh = NULL, *hull = NULL;
    scene_corners(b, corners);
    for (int32_t i = 0; i < SCENE_CORNERS; i++) {
        for (int32_t k = 0; k < 3; k++) {
            triangles[i][k] = (i + k) % SCENE_CORNERS;
        }
    }
    const stn_mesh_data data = {SCENE_CORNERS, SCENE_CORNERS, 0, corners[0], triangles[0], NULL, NULL};
    stn_status status = stn_mesh_create(context, &data, &mesh, err);
    status = status == STN_OK ? stn_mesh_create_hull(mesh, &hull, err) : status;
    stn_mesh_release(mesh);
    if (status == STN_OK) {
        *out = stn_shape_mesh(hull);
    }
    return status;
}

stn_status our_shape(stn_context *context, const scene_body *b, stn_shape *out, stn_error *err) {
    switch (b->shape) {
    case SCENE_SPHERE:
        *out = stn_shape_sphere(b->size[0]);
        break;
    case SCENE_BOX:
        *out = stn_shape_box(stn_vec3_make(b->size[0], b->size[1], b->size[2]));
        break;
    case SCENE_CAPSULE:
        *out = stn_shape_capsule(b->size[0], b->size[1]);
        break;
    case SCENE_CYLINDER:
        *out = stn_shape_cylinder(b->size[0], b->size[1]);
        break;
    case SCENE_HULL:
        return hull_of(context, b, out, err);
    }
    return STN_OK;
}

/// A body of one geometry, free in the world.
static stn_status add_body(const ours *o, const scene_body *b, const char *name, stn_error *err) {
    stn_model_builder *builder = stn_world_builder(o->world);
    int32_t robot = -1, link = -1, geometry = -1, mesh = -1;
    stn_shape shape;
    stn_status status = our_shape(o->context, b, &shape, err);
    if (status != STN_OK) {
        return status;
    }
    if (shape.mesh != NULL) {
        status = stn_builder_add_mesh(builder, name, stn_vec3_make(1.0, 1.0, 1.0), shape.mesh, &mesh, err);
    }
    stn_geometry_spec spec = stn_geometry_spec_default(shape);
    spec.mesh = mesh;
    stn_link_spec body = {.name = name, .mass = {.mass = 1.0, .inertia = stn_mat3_diagonal(0.1, 0.1, 0.1)}};
    status = status == STN_OK ? stn_builder_begin_group(builder, name, &robot, err) : status;
    status = status == STN_OK ? stn_builder_add_link(builder, &body, &link, err) : status;
    status = status == STN_OK ? stn_builder_add_geometry(builder, link, &spec, &geometry, err) : status;
    stn_mesh_release(shape.mesh);
    return status;
}

static stn_status build(ours *o, const scene *s, stn_error *err) {
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    int32_t geometry = -1;
    stn_status status = stn_builder_add_geometry(stn_world_builder(o->world), STN_WORLD, &ground, &geometry, err);
    for (int32_t i = 0; i < s->count && status == STN_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "body%d", (int)i);
        status = add_body(o, &s->bodies[i], name, err);
    }
    status = status == STN_OK ? stn_world_compile(o->world, err) : status;
    if (status == STN_OK) {
        o->q = calloc((size_t)o->world->setup->model->nq, sizeof *o->q);
        o->v = calloc((size_t)o->world->setup->model->nv, sizeof *o->v);
        status = o->q != NULL && o->v != NULL ? STN_OK : STN_ERR_MEMORY;
    }
    return status;
}

static void destroy(void *self) {
    ours *o = self;
    stn_world_destroy(o->world);
    stn_context_destroy(o->context);
    free(o->q);
    free(o->v);
    free(o);
}

static void *create(const scene *s) {
    ours *o = calloc(1, sizeof *o);
    stn_error err = {0};
    stn_world_options options = stn_world_options_default();
    stn_status status = o != NULL ? stn_context_create(NULL, &o->context, &err) : STN_ERR_MEMORY;
    status = status == STN_OK ? stn_world_create(o->context, &options, &o->world, &err) : status;
    status = status == STN_OK ? build(o, s, &err) : status;
    if (status == STN_OK) {
        return o;
    }
    fprintf(stderr, "Stiction: %s\n", err.text);
    if (o != NULL) {
        destroy(o);
    }
    return NULL;
}

static void place(void *self, const scene *s) {
    ours *o = self;
    for (int32_t i = 0; i < s->count; i++) {
        memcpy(o->q + 7 * i, s->bodies[i].position, sizeof s->bodies[i].position);
        memcpy(o->q + 7 * i + 3, s->bodies[i].quaternion, sizeof s->bodies[i].quaternion);
    }
    stn_kinematics_update(o->world->frame.kinematics, o->q, o->v);
    o->world->frame.problem.v_star = o->world->frame.v_promised = o->v;
}

static void detect(void *self) {
    ours *o = self;
    stn_error err = {0};
    stn_arena_reset(o->world->frame.arena);
    const state_view state = state_view_of(&o->world->state);
    if (stn_step_collide(o->world->setup, &state, &o->world->frame, &o->world->services, &err) != STN_OK) {
        fprintf(stderr, "Stiction: %s\n", err.text);
        abort();
    }
}

const stn_contact_set *our_contacts(void *self) {
    ours *o = self;
    return &o->world->frame.contacts;
}

static void visit_contacts(void *self, visit_point *visit, void *user) {
    const stn_contact_set *set = our_contacts(self);
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        if (c->phi0 <= 0.0) {
            const double normal[3] = {c->normal.x, c->normal.y, c->normal.z};
            visit(user, c->geometry_a - 1, c->geometry_b - 1, -c->phi0, normal);
        }
    }
}

const engine stiction_engine = {"Stiction", create, place, detect, visit_contacts, destroy};
