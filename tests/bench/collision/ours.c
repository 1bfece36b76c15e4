// SPDX-License-Identifier: Apache-2.0
// Stiction: the collision stage of a world's step, as it runs in a simulation: boxes and speed bounds, broad phase,
// materials of the pairs, contact/point, contact set. Poses follow from q outside of the timed call.
#include "ours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"
#include "world/world.h"

typedef struct ours {
    stn_context *context;
    stn_world *world;
    double *q, *v; // v: zero, also the free velocity
} ours;

static stn_shape shape_of(const scene_body *b) {
    switch (b->shape) {
    case SCENE_SPHERE:
        return stn_shape_sphere(b->size[0]);
    case SCENE_BOX:
        return stn_shape_box(stn_vec3_make(b->size[0], b->size[1], b->size[2]));
    case SCENE_CAPSULE:
        return stn_shape_capsule(b->size[0], b->size[1]);
    default:
        return stn_shape_cylinder(b->size[0], b->size[1]);
    }
}

static stn_status build(ours *o, const scene *s, stn_error *err) {
    stn_model_builder *builder = stn_world_builder(o->world);
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    int32_t robot = -1, link = -1, geometry = -1;
    stn_status status = stn_builder_add_geometry(builder, STN_WORLD, &ground, &geometry, err);
    for (int32_t i = 0; i < s->count && status == STN_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "body%d", (int)i);
        stn_geometry_spec spec = stn_geometry_spec_default(shape_of(&s->bodies[i]));
        stn_link_spec body = {.name = name, .mass = {.mass = 1.0, .inertia = stn_mat3_diagonal(0.1, 0.1, 0.1)}};
        status = stn_builder_begin_robot(builder, name, &robot, err);
        status = status == STN_OK ? stn_builder_add_link(builder, &body, &link, err) : status;
        status = status == STN_OK ? stn_builder_add_geometry(builder, link, &spec, &geometry, err) : status;
    }
    status = status == STN_OK ? stn_world_compile(o->world, err) : status;
    if (status == STN_OK) {
        o->q = calloc((size_t)o->world->model->nq, sizeof *o->q);
        o->v = calloc((size_t)o->world->model->nv, sizeof *o->v);
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
    stn_kinematics_update(o->world->kinematics, o->q, o->v);
    o->world->problem.v_star = o->v;
}

static void detect(void *self) {
    ours *o = self;
    stn_error err = {0};
    stn_arena_reset(o->world->arena);
    if (stn_step_collide(o->world, &err) != STN_OK) {
        fprintf(stderr, "Stiction: %s\n", err.text);
        abort();
    }
}

const stn_contact_set *our_contacts(void *self) {
    ours *o = self;
    return &o->world->contacts;
}

static found count(void *self) {
    const stn_contact_set *set = our_contacts(self);
    found f = {0};
    double of_pair = 0.0;
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        bool first = i == 0 || c->geometry_a != c[-1].geometry_a || c->geometry_b != c[-1].geometry_b;
        f.depth += first ? of_pair : 0.0;
        of_pair = fmax(first ? 0.0 : of_pair, -c->phi0);
        f.contacts += c->phi0 <= 0.0;
        f.pairs += first && c->phi0 <= 0.0;
        f.deepest = fmax(f.deepest, of_pair);
    }
    f.depth += of_pair;
    return f;
}

const engine stiction_engine = {"Stiction", create, place, detect, count, destroy};
