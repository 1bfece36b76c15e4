// SPDX-License-Identifier: Apache-2.0
// Surfaces of nodes and contact model point without a world: a model of clouds with surfaces and of shapes in the world
// or on free bodies, and the contacts of two of its geometries at any places of the nodes.
#ifndef STN_TEST_SKIN_PROBE_H
#define STN_TEST_SKIN_PROBE_H

#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

#include "stn_random.h"
#include "stn_test.h"

typedef struct skin_probe {
    stn_context *context;
    stn_model_builder *builder;
    stn_model *model;
    stn_instance *instance;
    void *prepared;
    stn_kinematics *kinematics;
    stn_arena *arena;
    double *q, *v;
    stn_contact_set set;
    int32_t clouds; // added so far
} skin_probe;

static inline void skin_probe_begin_with(skin_probe *p, const stn_context_options *options) {
    stn_error err;
    *p = (skin_probe){0};
    assert_ok(stn_context_create(options, &p->context, &err), err);
    assert_ok(stn_builder_create(p->context, &p->builder, &err), err);
    assert_ok(stn_instance_create(p->context, STN_KIND_CONTACT, "point", NULL, 0, &p->instance, &err), err);
    p->arena = stn_arena_create(p->context);
    assert_non_null(p->arena);
}

static inline void skin_probe_begin(skin_probe *p) {
    skin_probe_begin_with(p, NULL);
}

/// A cloud of nodes and the surface that all its triangles make.
static inline int32_t skin_probe_add(skin_probe *p, const double *position, int32_t nodes,
                                     const stn_surface_spec *surface, int32_t *cloud) {
    double *mass = calloc((size_t)nodes, sizeof *mass);
    assert_non_null(mass);
    for (int32_t i = 0; i < nodes; i++) {
        mass[i] = 0.01;
    }
    char name[32];
    snprintf(name, sizeof name, "cloth%d", p->clouds++);
    const stn_nodes_spec spec = {
        .name = name, .node_count = nodes, .position = position, .mass = mass, .material = stn_material_unset()};
    int32_t geometry = 0, own = 0;
    stn_error err;
    assert_ok(stn_builder_add_nodes(p->builder, &spec, &own, &err), err);
    assert_ok(stn_builder_add_surface(p->builder, own, surface, &geometry, &err), err);
    free(mass);
    if (cloud != NULL) {
        *cloud = own;
    }
    return geometry;
}

static inline int32_t skin_probe_shape(skin_probe *p, stn_shape shape, stn_pose pose) {
    stn_geometry_spec spec = stn_geometry_spec_default(shape);
    spec.pose = pose;
    int32_t geometry = 0;
    stn_error err;
    if (shape.mesh != NULL) {
        assert_ok(stn_builder_add_mesh(p->builder, "mesh", stn_vec3_make(1.0, 1.0, 1.0), shape.mesh, &spec.mesh, &err),
                  err);
    }
    assert_ok(stn_builder_add_geometry(p->builder, STN_WORLD, &spec, &geometry, &err), err);
    return geometry;
}

static inline void skin_probe_compile(skin_probe *p) {
    stn_error err;
    assert_ok(stn_model_compile(p->builder, &p->model, &err), err);
    assert_ok(p->instance->desc->ops.contact->prepare(p->instance->self, p->model, &p->prepared, &err), err);
    assert_ok(stn_kinematics_create(p->model, &p->kinematics, &err), err);
    p->q = calloc((size_t)p->model->nq + 1, sizeof *p->q);
    p->v = calloc((size_t)p->model->nv + 1, sizeof *p->v);
    assert_true(p->q != NULL && p->v != NULL);
    memcpy(p->q, p->model->q0, (size_t)p->model->nq * sizeof *p->q);
}

static inline stn_vec3 skin_probe_node(const skin_probe *p, int32_t node) {
    return stn_vec3_make(p->q[3 * node], p->q[3 * node + 1], p->q[3 * node + 2]);
}

/// The contacts of two geometries with the nodes at q; shapes at their poses in the model. `reach`: as a step gives it,
/// for velocities v and free_v; NULL: as a query.
static inline const stn_contact_set *skin_probe_collide_within(skin_probe *p, int32_t a, int32_t b, double margin,
                                                               const stn_contact_reach *reach, const double *free_v) {
    stn_contact_pair pair = {
        .geometry_a = a < b ? a : b, .geometry_b = a < b ? b : a, .margin = margin, .reach = reach};
    pair.pose_a = p->model->geometries[pair.geometry_a].pose;
    pair.pose_b = p->model->geometries[pair.geometry_b].pose;
    pair.material = stn_model_pair_material(p->model, pair.geometry_a, pair.geometry_b);
    pair.material.value.relaxation_time = 0.0;
    stn_kinematics_update(p->kinematics, p->q, p->v);
    stn_arena_reset(p->arena);
    p->set = (stn_contact_set){.arena = p->arena};
    const stn_contact_scene scene = {
        .model = p->model, .kinematics = p->kinematics, .prepared = p->prepared, .arena = p->arena, .free_v = free_v};
    stn_error err;
    assert_ok(p->instance->desc->ops.contact->collide(p->instance->self, &scene, &pair, 1, &p->set, &err), err);
    return &p->set;
}

static inline const stn_contact_set *skin_probe_collide(skin_probe *p, int32_t a, int32_t b, double margin) {
    return skin_probe_collide_within(p, a, b, margin, NULL, NULL);
}

static inline void skin_probe_end(skin_probe *p) {
    if (p->model != NULL) {
        p->instance->desc->ops.contact->release(p->prepared);
    }
    stn_kinematics_destroy(p->kinematics);
    stn_model_destroy(p->model);
    stn_builder_destroy(p->builder);
    stn_arena_destroy(p->arena);
    stn_instance_destroy(p->instance);
    stn_context_destroy(p->context);
    free(p->q);
    free(p->v);
}

/// Ids differ; every number is finite; supports are weights of nodes of their own surface that sum to 1 and place the
/// point that the distance is told of: within `thickness` of it along the normal.
static inline void skin_probe_check(const skin_probe *p) {
    for (int32_t i = 0; i < p->set.count; i++) {
        const stn_contact *c = &p->set.contacts[i];
        for (int32_t k = 0; k < i; k++) {
            assert_true(c->id != p->set.contacts[k].id);
        }
        const stn_support *side[2] = {&c->a, &c->b};
        for (int32_t k = 0; k < 2; k++) {
            double sum = 0.0;
            for (int32_t n = 0; n < side[k]->node_count; n++) {
                assert_true(side[k]->weight[n] >= 0.0);
                sum += side[k]->weight[n];
            }
            assert_true(side[k]->node_count == 0 || fabs(sum - 1.0) < 1e-12);
        }
    }
}

static inline double skin_probe_deepest(const skin_probe *p) {
    double least = INFINITY;
    for (int32_t i = 0; i < p->set.count; i++) {
        least = fmin(least, p->set.contacts[i].phi0);
    }
    return least;
}

/// A sheet of n x n cells in the plane z = 0 about the origin, of side length `size`: (n + 1)^2 nodes, 2 n^2 triangles
/// that look up.
typedef struct skin_sheet {
    int32_t nodes, triangle_count;
    double *position;
    int32_t *triangles;
} skin_sheet;

static inline skin_sheet skin_sheet_make(int32_t n, double size) {
    skin_sheet s = {(n + 1) * (n + 1), 2 * n * n, NULL, NULL};
    s.position = calloc(3 * (size_t)s.nodes, sizeof *s.position);
    s.triangles = calloc(3 * (size_t)s.triangle_count, sizeof *s.triangles);
    assert_true(s.position != NULL && s.triangles != NULL);
    for (int32_t i = 0; i < s.nodes; i++) {
        s.position[3 * i] = size * ((double)(i % (n + 1)) / n - 0.5);
        s.position[3 * i + 1] = size * ((double)(i / (n + 1)) / n - 0.5);
    }
    for (int32_t i = 0; i < n * n; i++) {
        int32_t a = i % n + i / n * (n + 1), b = a + 1, c = a + n + 1, d = c + 1;
        const int32_t two[6] = {a, b, d, a, d, c};
        memcpy(s.triangles + 6 * i, two, sizeof two);
    }
    return s;
}

static inline void skin_sheet_free(skin_sheet *s) {
    free(s->position);
    free(s->triangles);
}

#endif
