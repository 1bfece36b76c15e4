// SPDX-License-Identifier: Apache-2.0
// What anchors of points and of patches have in common (anchor.c, patch_anchor.c).
#ifndef STICTION_CORE_WORLD_ANCHOR_H
#define STICTION_CORE_WORLD_ANCHOR_H

#include "world/world.h"

/// Contact point travels this many times the limit at most before the anchor follows it: rolling bodies need other
/// points.
#define FOLLOW_FROM 100.0

static const anchor anchor_none = {.body = {-1, -1}};

/// Anchors of the last step by their pair of bodies: chains through `next` from `head`, -1 ends one.
typedef struct pair_index {
    uint32_t capacity;
    int32_t *head, *next;
} pair_index;

/// Pose of what holds a material point: a body, or a frame, which stands as body_count + node.
static inline const stn_pose *pose_now(const step_frame *frame, int32_t body) {
    const stn_kinematics *k = frame->kinematics;
    return body < k->model->body_count ? &k->body_pose[body] : &k->node_pose[body - k->model->body_count];
}

/// A material point now: of a body or frame, or of nodes that are points, whose points are kept where they are.
static inline stn_vec3 point_now(const step_frame *frame, int32_t body, stn_vec3 point) {
    return body >= 0 ? stn_pose_apply(pose_now(frame, body), point) : point;
}

static inline stn_vec3 point_in(const step_frame *frame, int32_t body, stn_vec3 point) {
    return body >= 0 ? stn_pose_apply_inverse(pose_now(frame, body), point) : point;
}

static inline stn_vec3 along_surface(stn_vec3 u, stn_vec3 normal) {
    return stn_vec3_mul_add(u, -stn_vec3_dot(u, normal), normal);
}

/// Is it a face of a patch between two bodies, which is held as a whole?
static inline bool anchor_is_of_patch(const stn_constraint *c) {
    return c->kind == STN_CONSTRAINT_CONTACT && c->patch >= 0 && c->body[0] >= 0 && c->body[1] >= 0;
}

/// What the anchors of a step are found and placed with.
typedef struct holding {
    const step_setup *setup;
    const state_view *state;
    step_frame *frame;
    pair_index index; // of those of the last step
} holding;

/// Of all anchors between the two bodies of `a` the nearest one, which it becomes: a pair that is held goes on being
/// held when the features change by which it touches. `a->patch` 0: anchors of points; else of patches, those of this
/// id before all others.
bool anchor_find(const holding *h, stn_vec3 point, anchor *a);
/// Does the contact point still lie where the anchor is? Points of nodes are placed anew in every step.
bool anchor_is_near(const step_frame *frame, const anchor *a, stn_vec3 point, stn_vec3 normal);
/// Of B before A, by the end of the step, beyond dt v_c: bodies that turn together must not be told that they slip.
stn_vec3 anchor_lead(const holding *h, const int32_t body[2], stn_vec3 point);
/// Puts displacement and lead [m] into the bias of a contact.
void anchor_shift(const holding *h, stn_constraint *c, stn_vec3 u, stn_vec3 lead);
/// Slip speed at which the friction of contact `i` lets go, 0: it holds nothing. `v_c`: of all rows.
double anchor_transition_speed(const step_setup *setup, const step_frame *frame, int32_t i, const double *v_c);

/// patch_anchor.c: all patches of the step, as stn_step_hold and stn_step_release.
stn_status patch_anchors_hold(const holding *h, stn_error *err);
void patch_anchors_release(const step_setup *setup, step_frame *frame, const double *v_c);

#endif
