// SPDX-License-Identifier: Apache-2.0
// Two shapes and the contact model that looks at them, without a world around.
#ifndef STN_POINT_PROBE_H
#define STN_POINT_PROBE_H

#include <stiction/plugin.h>

typedef struct probe {
    stn_context *context;
    stn_instance *instance;
    stn_arena *arena;
    stn_geometry geometries[2];
    stn_model model;
    stn_contact_set set;
} probe;

static inline stn_status probe_create(probe *p, const stn_setting *settings, int32_t setting_count, stn_error *err) {
    *p = (probe){.model = {.geometry_count = 2, .body_count = 3}};
    stn_status status = stn_context_create(NULL, &p->context, err);
    if (status == STN_OK) {
        status = stn_instance_create(p->context, STN_KIND_CONTACT, "point", settings, setting_count, &p->instance, err);
    }
    if (status == STN_OK) {
        p->arena = stn_arena_create(p->context);
        p->set.arena = p->arena;
    }
    return status;
}

static inline void probe_destroy(probe *p) {
    stn_arena_destroy(p->arena);
    stn_instance_destroy(p->instance);
    stn_context_destroy(p->context);
}

/// A shape somewhere.
typedef struct placed {
    stn_shape shape;
    stn_pose pose;
} placed;

/// The contacts of a pair, borrowed until the next call. The contact point is that of A (weight 1) or of B (weight 0).
static inline stn_status probe_collide(probe *p, const placed *a, const placed *b, double margin, double weight_a,
                                       stn_error *err) {
    p->geometries[0] = (stn_geometry){.name = "A", .body = 1, .node = -1, .shape = a->shape};
    p->geometries[1] = (stn_geometry){.name = "B", .body = 2, .node = -1, .shape = b->shape};
    p->model.geometries = p->geometries;
    stn_contact_pair pair = {.geometry_a = 0,
                             .geometry_b = 1,
                             .pose_a = a->pose,
                             .pose_b = b->pose,
                             .material = {{.mu = 0.5}, weight_a},
                             .margin = margin};
    stn_arena_reset(p->arena);
    p->set = (stn_contact_set){.arena = p->arena};
    const stn_contact_scene scene = {.model = &p->model, .arena = p->arena};
    return p->instance->desc->ops.contact->collide(p->instance->self, &scene, &pair, 1, &p->set, err);
}

#endif
