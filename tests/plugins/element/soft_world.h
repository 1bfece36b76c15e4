// SPDX-License-Identifier: Apache-2.0
// Worlds with one deformable, for tests of elements against closed forms through the real step.
#ifndef STN_TEST_SOFT_WORLD_H
#define STN_TEST_SOFT_WORLD_H

#include <stdlib.h>

#include <stiction/soft.h>

#include "scenes.h"

/// A deformable as it is described.
typedef struct soft_cloud {
    const char *name;
    int32_t count;        // of nodes
    double *rest, *start; // (3 count) [m]
    double *mass;         // (count), beside that of the elements
    int32_t *held;        // (count) 1: keeps its place in the world
} soft_cloud;

static inline soft_cloud soft_cloud_make(int32_t count, const double *rest) {
    const size_t n = (size_t)count;
    soft_cloud c = {"soft",
                    count,
                    calloc(3 * n, sizeof(double)),
                    calloc(3 * n, sizeof(double)),
                    calloc(n, sizeof(double)),
                    calloc(n, sizeof(int32_t))};
    assert_true(c.rest != NULL && c.start != NULL && c.mass != NULL && c.held != NULL);
    memcpy(c.rest, rest, 3 * n * sizeof(double));
    memcpy(c.start, rest, 3 * n * sizeof(double));
    return c;
}

static inline void soft_cloud_free(soft_cloud *c) {
    free(c->rest);
    free(c->start);
    free(c->mass);
    free(c->held);
}

/// Adds the nodes, and holds those that are to be held. Returns the cloud's number.
static inline int32_t soft_add_nodes(stn_world *world, const soft_cloud *c) {
    stn_model_builder *builder = stn_world_builder(world);
    const stn_nodes_spec spec = {.name = c->name,
                                 .node_count = c->count,
                                 .position = c->start,
                                 .rest = c->rest,
                                 .mass = c->mass,
                                 .material = stn_material_unset()};
    int32_t cloud = 0;
    stn_error err;
    assert_ok(stn_builder_add_nodes(builder, &spec, &cloud, &err), err);
    for (int32_t i = 0; i < c->count; i++) {
        if (c->held[i]) {
            assert_ok(stn_builder_attach_nodes(builder, cloud, 1, &i, STN_WORLD, &err), err);
        }
    }
    return cloud;
}

#define SOFT_NUMBER(key, value) \
    { .name = (key), .form = STN_SETTING_NUMBER, .number = (value) }
#define SOFT_WORD(key, value) \
    { .name = (key), .form = STN_SETTING_TEXT, .text = (value) }

/// Adds elements of a plugin with settings over all that is in `index`. Returns the group's number.
static inline int32_t soft_add_elements(stn_world *world, int32_t cloud, const char *id, const stn_setting *settings,
                                        int32_t setting_count, int32_t element_count, const int32_t *index) {
    const stn_elements_spec spec = {.name = id, .nodes = cloud, .element_count = element_count, .index = index};
    stn_instance *instance = NULL;
    int32_t group = 0;
    stn_error err;
    assert_ok(
        stn_instance_create(stn_world_context(world), STN_KIND_ELEMENT, id, settings, setting_count, &instance, &err),
        err);
    assert_ok(stn_builder_add_elements(stn_world_builder(world), instance, &spec, &group, &err), err);
    return group;
}

/// A world without contact; `dt` of years finds a static equilibrium, as A is then dt^2 K.
static inline stn_world *soft_world(stn_context *context, double dt, const char *integrator, stn_vec3 gravity) {
    stn_world_options options = stn_world_options_default();
    options.dt = dt;
    options.gravity = gravity;
    if (integrator != NULL) {
        options.integrator.id = integrator;
    }
    return scene_world(context, &options);
}

static inline void soft_compile(stn_world *world) {
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
}

/// Positions of the nodes, (3 count).
static inline const double *soft_positions(const stn_world *world) {
    const stn_model *model = stn_world_model(world);
    return stn_world_state(world)->q + (model->nq - 3 * model->node_count);
}

/// A box of size x, y, z [m] with so many cells, centred at the origin.
static inline stn_soft_mesh *soft_box(stn_context *context, stn_vec3 size, int32_t x, int32_t y, int32_t z) {
    const stn_soft_shape shape = {.type = STN_SOFT_BOX, .size = size, .cells = {x, y, z}};
    stn_soft_mesh *mesh = NULL;
    stn_error err;
    assert_ok(stn_soft_mesh_generate(context, &shape, &mesh, &err), err);
    return mesh;
}

#endif
