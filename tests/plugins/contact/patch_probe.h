// SPDX-License-Identifier: Apache-2.0
// Two shapes and the contact model "hydroelastic", without a world around, and what a patch amounts to.
#ifndef STN_PATCH_PROBE_H
#define STN_PATCH_PROBE_H

#include <stiction/plugin.h>

#include "stn_test.h"

typedef struct patch_probe {
    stn_context *context;
    stn_instance *instance;
    stn_arena *arena;
    stn_geometry geometries[2];
    stn_model model;
    void *prepared;
    stn_contact_set set;
    stn_spatial velocity;                // of B against A, of the next pairs, as it would be freely, too
    double dt;                           // [s]
    double dissipation, relaxation_time; // of the pair [s/m], [s]
} patch_probe;

/// What the faces of a patch amount to at rest, on B.
typedef struct patch_sum {
    stn_vec3 force, torque; // about the world's origin [N], [N m]
    double area;            // of faces under pressure [m^2]
    double stiffness;       // [N/m]
    double energy;          // sum of k phi0^2 / 2 [J]
    double peak;            // largest pressure of a face [Pa]
} patch_sum;

static inline stn_geometry patch_geometry(stn_shape shape, double modulus, double resolution) {
    stn_geometry g = {.name = "",
                      .where = "",
                      .body = 1,
                      .node = -1,
                      .link = -1,
                      .shape = shape,
                      .material = stn_material_unset(),
                      .collision = true,
                      .category = 1,
                      .mask = 1,
                      .mesh = -1,
                      .field = stn_field_spec_unset()};
    g.material.modulus = modulus;
    g.field.resolution = resolution;
    return g;
}

/// `mesh`: the model's only one, may be NULL; `setting` may be NULL.
static inline void patch_probe_open_meshed(patch_probe *p, stn_geometry a, stn_geometry b, const stn_setting *setting,
                                           const stn_mesh_reference *mesh) {
    stn_error err;
    *p = (patch_probe){.model = {.geometry_count = 2, .body_count = 3, .mesh_count = mesh != NULL, .meshes = mesh}};
    assert_ok(stn_context_create(NULL, &p->context, &err), err);
    assert_ok(
        stn_instance_create(p->context, STN_KIND_CONTACT, "hydroelastic", setting, setting != NULL, &p->instance, &err),
        err);
    p->arena = stn_arena_create(p->context);
    assert_non_null(p->arena);
    p->geometries[0] = a;
    p->geometries[1] = b;
    p->geometries[1].body = 2;
    p->model.geometries = p->geometries;
    p->model.context = p->context;
    const stn_contact_ops *ops = p->instance->desc->ops.contact;
    assert_true(ops->handles(p->instance->self, &p->geometries[0], &p->geometries[1]));
    assert_ok(ops->prepare(p->instance->self, &p->model, &p->prepared, &err), err);
}

static inline void patch_probe_open_set(patch_probe *p, stn_geometry a, stn_geometry b, const stn_setting *setting) {
    patch_probe_open_meshed(p, a, b, setting, NULL);
}

/// `merge`: the parameter.
static inline void patch_probe_open_merging(patch_probe *p, stn_geometry a, stn_geometry b, double merge) {
    const stn_setting setting = {.name = "merge", .form = STN_SETTING_NUMBER, .number = merge, .where = ""};
    patch_probe_open_set(p, a, b, &setting);
}

static inline void patch_probe_open(patch_probe *p, stn_geometry a, stn_geometry b) {
    patch_probe_open_merging(p, a, b, 0.0);
}

static inline void patch_probe_close(patch_probe *p) {
    p->instance->desc->ops.contact->release(p->prepared);
    stn_arena_destroy(p->arena);
    stn_instance_destroy(p->instance);
    stn_context_destroy(p->context);
}

/// Geometry 0 at `a`, geometry 1 at `b`.
static inline const stn_contact_set *patch_collide(patch_probe *p, const stn_pose *a, const stn_pose *b,
                                                   double margin) {
    stn_error err;
    stn_contact_pair pair = {.geometry_a = 0,
                             .geometry_b = 1,
                             .pose_a = *a,
                             .pose_b = *b,
                             .material = {.value = {.mu = 0.5},
                                          .weight_a = 0.5,
                                          .patch_dissipation = p->dissipation,
                                          .patch_relaxation_time = p->relaxation_time},
                             .margin = margin,
                             .velocity = p->velocity,
                             .free_velocity = p->velocity};
    const stn_contact_scene scene = {.model = &p->model, .prepared = p->prepared, .arena = p->arena, .dt = p->dt};
    stn_arena_reset(p->arena);
    p->set = (stn_contact_set){.arena = p->arena};
    assert_ok(p->instance->desc->ops.contact->collide(p->instance->self, &scene, &pair, 1, &p->set, &err), err);
    return &p->set;
}

static inline patch_sum patch_sum_of(const stn_contact_set *set) {
    patch_sum s = {0};
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        if (c->phi0 > 0.0) {
            continue;
        }
        stn_vec3 f = stn_vec3_scale(-c->material.stiffness * c->phi0, c->normal);
        s.force = stn_vec3_add(s.force, f);
        s.torque = stn_vec3_add(s.torque, stn_vec3_cross(c->point, f));
        s.area += c->area;
        s.stiffness += c->material.stiffness;
        s.energy += 0.5 * c->material.stiffness * c->phi0 * c->phi0;
        s.peak = worse(s.peak, c->pressure);
    }
    return s;
}

static inline stn_pose patch_at(double x, double y, double z) {
    stn_pose pose = stn_pose_identity();
    pose.position = stn_vec3_make(x, y, z);
    return pose;
}

/// The sum for A at the origin and B at `b`.
static inline patch_sum patch_between(patch_probe *p, stn_pose b) {
    stn_pose a = stn_pose_identity();
    return patch_sum_of(patch_collide(p, &a, &b, 0.0));
}

#endif
