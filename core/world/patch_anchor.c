// SPDX-License-Identifier: Apache-2.0
// True stiction of patches (docs/stiction.md). Faces come and go with every step, so that a patch is held as a whole,
// by the displacement d = (u, theta) of its bodies along the surface and about its normal since it began to hold. Face
// i at r_i off the center of pressure is shifted by
//
//     u_i = u + theta n x r_i,    along its own plane,
//
// and its law says what that is worth: at most the face's cone. The anchor is dragged along where
//
//     |d| = sum of w_i |u_i| / sum of w_i  >  4 sum of gamma_i dt v_s,i / sum of gamma_i,    w_i: normal forces,
//
// the mean displacement against the mean of what the faces' friction gives way by; |d| is a norm, the work of a
// displacement against full friction, up to its scale. Then d is scaled, u and theta alike. That takes away next to
// nothing of what holds: nearly all faces are on their cones there, and stay on them in the same direction. Below it
// nothing is dragged, though some faces slip: what faces with little pressure gave away in each step would be creep.
//
// Both are found from poses alone: from a material point of either body, and from a direction in either.
#include "world/anchor.h"

/// A patch at the start of a step.
typedef struct patch_form {
    int32_t start, count;    // constraints
    const double *weight;    // (count), sum 1
    stn_vec3 center, normal; // of pressure; mean
} patch_form;

/// How B is displaced before A at the center of a patch.
typedef struct displacement {
    stn_vec3 u;   // along the surface [m]
    double theta; // about the normal [rad]
} displacement;

static const double full = 4.0; // of the mean limit of the faces

// ------------------------------------------------------------------------------------------------------------- form

/// Faces weigh by their forces, else by their areas, else by 1 each.
static stn_status find_form(const step_frame *frame, const stn_patch *patch, patch_form *form, stn_error *err) {
    const stn_contact *faces = frame->contacts.contacts + patch->contact_start;
    const int32_t count = patch->contact_count;
    double *weight = STN_ARENA(frame->arena, count, double), force = 0.0, area = 0.0;
    if (weight == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "stiction: out of memory");
    }
    for (int32_t i = 0; i < count; i++) {
        weight[i] = faces[i].area > 0.0 && faces[i].pressure > 0.0 ? faces[i].area * faces[i].pressure : 0.0;
        force += weight[i];
        area += faces[i].area > 0.0 ? faces[i].area : 0.0;
    }
    for (int32_t i = 0; i < count && !(force > 0.0); i++) {
        weight[i] = area > 0.0 ? fmax(faces[i].area, 0.0) : 1.0;
    }
    double scale = 1.0 / (force > 0.0 ? force : area > 0.0 ? area : (double)count);
    *form = (patch_form){.start = patch->contact_start, .count = count, .weight = weight};
    for (int32_t i = 0; i < count; i++) {
        weight[i] *= scale;
        form->center = stn_vec3_mul_add(form->center, weight[i], faces[i].point);
        form->normal = stn_vec3_mul_add(form->normal, weight[i], faces[i].normal);
    }
    double size = stn_vec3_norm(form->normal);
    form->normal = size > 1e-9 ? stn_vec3_scale(1.0 / size, form->normal) : faces[0].normal; // closed: any will do
    return STN_OK;
}

static stn_vec3 arm_of(const step_frame *frame, const patch_form *form, int32_t i) {
    return stn_vec3_sub(frame->problem.constraints[form->start + i].point, form->center);
}

static stn_vec3 shift_of(const step_frame *frame, const patch_form *form, const displacement *d, int32_t i) {
    const stn_constraint *face = &frame->problem.constraints[form->start + i];
    stn_vec3 turn = stn_vec3_cross(form->normal, arm_of(frame, form, i));
    return along_surface(stn_vec3_mul_add(d->u, d->theta, turn), stn_mat3_column(&face->frame, 2));
}

// ----------------------------------------------------------------------------------------------------------- anchor

static stn_vec3 direction_now(const step_frame *frame, int32_t body, stn_vec3 direction) {
    return stn_mat3_apply(&frame->kinematics->body_pose[body].rotation, direction);
}

static stn_vec3 direction_in(const step_frame *frame, int32_t body, stn_vec3 direction) {
    return stn_mat3_apply_transposed(&frame->kinematics->body_pose[body].rotation, direction);
}

/// d of an anchor, cut to its limit. `*dragged`: it was more. A single face tells nothing of how its patch is turned.
static displacement displacement_of(const step_frame *frame, const anchor *a, const patch_form *form, bool *dragged) {
    stn_vec3 n = form->normal, point[2], across[2];
    for (int32_t side = 0; side < 2; side++) {
        point[side] = point_now(frame, a->body[side], a->point[side]);
        across[side] = along_surface(direction_now(frame, a->body[side], a->across[side]), n);
    }
    displacement d = {.u = along_surface(stn_vec3_sub(point[1], point[0]), n)};
    if (form->count > 1) {
        d.theta = atan2(stn_vec3_dot(n, stn_vec3_cross(across[0], across[1])), stn_vec3_dot(across[0], across[1]));
        stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(point[0], point[1]));
        stn_vec3 lever = stn_vec3_cross(n, stn_vec3_sub(form->center, middle));
        d.u = stn_vec3_mul_add(d.u, d.theta, lever);
    }
    double size = 0.0;
    for (int32_t i = 0; i < form->count; i++) {
        size += form->weight[i] * stn_vec3_norm(shift_of(frame, form, &d, i));
    }
    *dragged = size > a->limit;
    if (*dragged) {
        d.u = stn_vec3_scale(a->limit / size, d.u);
        d.theta *= a->limit / size;
    }
    return d;
}

/// Surfaces that move by themselves run on within the step: their mean velocity and, about the normal, spin.
static void run_on(const step_frame *frame, const patch_form *form, anchor *a) {
    const stn_contact *faces = frame->contacts.contacts + form->start;
    stn_vec3 mean = stn_vec3_zero(), n = form->normal;
    double spin = 0.0, inertia = 0.0;
    for (int32_t i = 0; i < form->count; i++) {
        stn_vec3 turn = stn_vec3_cross(n, arm_of(frame, form, i));
        mean = stn_vec3_mul_add(mean, form->weight[i], faces[i].bias);
        spin += form->weight[i] * stn_vec3_dot(turn, faces[i].bias);
        inertia += form->weight[i] * stn_vec3_dot(turn, turn);
    }
    if (mean.x == 0.0 && mean.y == 0.0 && mean.z == 0.0 && spin == 0.0) {
        return;
    }
    double dt = frame->problem.dt, angle = inertia > 0.0 ? dt * spin / inertia : 0.0;
    stn_vec3 moved = stn_vec3_mul_add(point_now(frame, a->body[1], a->point[1]), dt, mean);
    stn_vec3 across = along_surface(direction_now(frame, a->body[1], a->across[1]), n);
    stn_vec3 turned =
        stn_vec3_add(stn_vec3_scale(cos(angle), across), stn_vec3_scale(sin(angle), stn_vec3_cross(n, across)));
    a->point[1] = point_in(frame, a->body[1], moved);
    a->across[1] = direction_in(frame, a->body[1], turned);
}

// ------------------------------------------------------------------------------------------------------------ a step

/// Is every contact of the patch between bodies? Points of nodes move each by itself, and are held one by one.
static bool is_held(const step_frame *frame, const stn_patch *patch) {
    return patch->contact_count > 0 && anchor_is_of_patch(&frame->problem.constraints[patch->contact_start]);
}

static stn_status hold(const holding *h, const stn_patch *patch, stn_error *err) {
    step_frame *frame = h->frame;
    const int32_t *body = frame->problem.constraints[patch->contact_start].body;
    patch_form form = {0};
    stn_status status = find_form(frame, patch, &form, err);
    if (status != STN_OK) {
        return status;
    }
    anchor a = {.body = {body[0], body[1]}, .patch = patch->id};
    displacement d = {.theta = 0.0};
    bool dragged = true, known = anchor_find(h, form.center, &a);
    if (known) {
        d = displacement_of(frame, &a, &form, &dragged);
    }
    if (!known || dragged || !anchor_is_near(frame, &a, form.center, form.normal)) {
        // at the center, with the displacement that is there already
        stn_mat3 axes = stn_contact_frame(form.normal);
        a = (anchor){.body = {body[0], body[1]}};
        for (int32_t side = 0; side < 2; side++) {
            double share = side == 0 ? -0.5 : 0.5;
            stn_vec3 point = stn_vec3_mul_add(form.center, share, d.u);
            stn_vec3 across = stn_vec3_add(stn_vec3_scale(cos(share * d.theta), stn_mat3_column(&axes, 0)),
                                           stn_vec3_scale(sin(share * d.theta), stn_mat3_column(&axes, 1)));
            a.point[side] = point_in(frame, body[side], point);
            a.across[side] = direction_in(frame, body[side], across);
        }
    }
    a.patch = patch->id;
    run_on(frame, &form, &a);
    stn_vec3 lead = anchor_lead(h, body, form.center); // that of faces off it is no slip where a body rolls
    for (int32_t i = 0; i < form.count; i++) {
        frame->anchors[form.start + i] = anchor_none; // what its id had
        anchor_shift(h, &frame->problem.constraints[form.start + i], shift_of(frame, &form, &d, i), lead);
    }
    frame->anchors[form.start] = a;
    return STN_OK;
}

stn_status patch_anchors_hold(const holding *h, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t k = 0; k < h->frame->contacts.patch_count && status == STN_OK; k++) {
        const stn_patch *patch = &h->frame->contacts.patches[k];
        status = is_held(h->frame, patch) ? hold(h, patch, err) : STN_OK;
    }
    return status;
}

/// Mean limit of the faces by their normal impulses; 0: none pushes, or friction of none holds.
static double limit_of(const step_setup *setup, const step_frame *frame, const stn_patch *patch, const double *v_c) {
    double sum = 0.0, normal = 0.0;
    for (int32_t i = patch->contact_start; i < patch->contact_start + patch->contact_count; i++) {
        const double *gamma = frame->solution.gamma + frame->problem.constraints[i].row;
        double speed = anchor_transition_speed(setup, frame, i, v_c);
        if (speed > 0.0 && isfinite(speed)) {
            sum += gamma[2] * speed;
        }
        normal += fmax(gamma[2], 0.0);
    }
    return sum > 0.0 ? frame->problem.dt * sum / normal : 0.0;
}

void patch_anchors_release(const step_setup *setup, step_frame *frame, const double *v_c) {
    for (int32_t k = 0; k < frame->contacts.patch_count; k++) {
        const stn_patch *patch = &frame->contacts.patches[k];
        if (!is_held(frame, patch)) {
            continue;
        }
        anchor *a = &frame->anchors[patch->contact_start];
        a->limit = full * limit_of(setup, frame, patch, v_c);
        if (!(a->limit > 0.0)) {
            *a = anchor_none;
        }
    }
}
