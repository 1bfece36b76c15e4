// SPDX-License-Identifier: Apache-2.0
// True stiction (docs/stiction.md): a contact that sticks holds its place. Regularised friction needs a slip speed to
// push, so that what it holds creeps. With an anchor it needs a displacement instead: two material points, one of
// either body, that coincided when the contact began to hold and are apart by u along the surface since,
//
//     the law acts on  v_t + u/dt,   which is (the displacement at the step's end)/dt:  a spring, implicit in time
//     |u| <= dt v_s,                 v_s the law's transition speed: on the cone an anchor is dragged along
//
// Within a step the shift is a constant, so that the problem stays what it was: convex, for any solver. Joints with dry
// friction are held alike, by a coordinate. The points are fixed in the bodies, so that u is found again from the poses
// alone and nothing adds up from step to step.
#include <string.h>

#include "world/anchor.h"

/// Of u in a step, where friction is exact and u a mere error. Rigid contacts that are one too many cannot all move by
/// their own u: what they contradict each other by had better stay below the tolerance of solvers.
static const double taken_back = 0.5;

bool anchor_is_near(const step_frame *frame, const anchor *a, stn_vec3 point, stn_vec3 normal) {
    stn_vec3 displacement = along_surface(stn_vec3_sub(point, point_now(frame, a->body[0], a->point[0])), normal);
    return a->body[0] >= 0 && a->body[1] >= 0 && stn_vec3_norm(displacement) <= FOLLOW_FROM * a->limit;
}

// -------------------------------------------------------------------------------------------- contacts that are new

static uint32_t pair_slot(const pair_index *index, int32_t a, int32_t b) {
    const int32_t key[2] = {a < b ? a : b, a < b ? b : a};
    return (uint32_t)stn_hash(0, key, sizeof key) & (index->capacity - 1);
}

bool anchor_find(const holding *h, stn_vec3 point, anchor *a) {
    const int32_t body[2] = {a->body[0], a->body[1]};
    const uint64_t patch = a->patch;
    double nearest = (double)INFINITY;
    bool own = false;
    if (body[0] < 0 || body[1] < 0) {
        return false;
    }
    for (int32_t i = h->index.head[pair_slot(&h->index, body[0], body[1])]; i >= 0; i = h->index.next[i]) {
        anchor found = stn_cache_anchor(h->setup, h->state, i);
        bool turned = found.body[0] == body[1], same = found.patch == patch;
        if (found.body[turned] != body[0] || found.body[!turned] != body[1] || (found.patch == 0) != (patch == 0)) {
            continue;
        }
        double displacement = stn_vec3_norm(stn_vec3_sub(point_now(h->frame, found.body[0], found.point[0]), point));
        if (same > own || (same == own && displacement < nearest)) {
            own = same;
            nearest = displacement;
            *a = found;
            for (int32_t side = 0; turned && side < 2; side++) {
                a->body[side] = found.body[!side];
                a->point[side] = found.point[!side];
                a->across[side] = found.across[!side];
            }
        }
    }
    return isfinite(nearest);
}

// --------------------------------------------------------------------------------------------------- start of a step

/// Angular velocity of a frame that stands as body b.
static stn_vec3 frame_turning(const step_frame *frame, int32_t b) {
    const stn_kinematics *k = frame->kinematics;
    const double *v = k->v + stn_model_node_v(k->model, b - k->model->body_count);
    return stn_vec3_make(v[3], v[4], v[5]);
}

/// Does the body, or one that carries it, turn by more than half a radian in the step? Its points go along arcs then,
/// which dt^2/2 of what bends them does not tell, and friction against that would drive the body.
static bool turns_far(const step_frame *frame, const stn_model *model, int32_t b) {
    if (b >= model->body_count) {
        return stn_vec3_norm(frame_turning(frame, b)) * frame->problem.dt > 0.5;
    }
    while (b > 0 && stn_vec3_norm(frame->kinematics->body_velocity[b].angular) * frame->problem.dt <= 0.5) {
        b = model->bodies[b].parent;
    }
    return b > 0;
}

/// By how much the points of either body are farther in a step than its velocities take them.
stn_vec3 anchor_lead(const holding *h, const int32_t body[2], stn_vec3 point) {
    const step_frame *frame = h->frame;
    const stn_kinematics *k = frame->kinematics;
    double dt = frame->problem.dt;
    stn_vec3 lead = stn_vec3_zero();
    const bool far = turns_far(frame, h->setup->model, body[0]) || turns_far(frame, h->setup->model, body[1]);
    for (int32_t side = 0; side < 2 && !far; side++) {
        const int32_t b = body[side];
        stn_vec3 own;
        if (b <= 0) {
            continue;
        }
        if (b >= h->setup->model->body_count) { // omega x (omega x arm) off a frame's centre
            const int32_t node = b - h->setup->model->body_count;
            const stn_vec3 omega = frame_turning(frame, b);
            const stn_vec3 swing = stn_vec3_cross(omega, stn_vec3_sub(point, k->node[node]));
            own = stn_vec3_scale(0.5 * dt * dt, stn_vec3_cross(omega, swing));
            lead = stn_vec3_mul_add(lead, side == 0 ? -1.0 : 1.0, own);
            continue;
        }
        stn_vec3 before = stn_point_velocity(k, b, point);
        if (stn_setup_is_kinematic(h->setup, b)) { // of the velocities as the integrator adds them up
            double share = frame->problem.velocity_kind == STN_VELOCITY_MID ? 1.0 : frame->force_theta_vq;
            stn_vec3 after = stn_step_kinematic_velocity(h->setup, frame, b, point);
            stn_vec3 mean = stn_vec3_add(stn_vec3_scale(share, after), stn_vec3_scale(1.0 - share, before));
            own = stn_vec3_mul_add(stn_step_kinematic_displacement(h->setup, h->state, frame, b, point), -dt, mean);
        } else { // constant velocities of joints move points along curves, dt^2/2 of J-dot v off dt J v
            const stn_spatial *bias = &k->bias[b];
            stn_vec3 arm = stn_vec3_sub(point, k->reference[h->setup->model->bodies[b].tree]);
            stn_vec3 turning = stn_vec3_cross(k->body_velocity[b].angular, before);
            stn_vec3 a = stn_vec3_add(stn_vec3_add(bias->linear, stn_vec3_cross(bias->angular, arm)), turning);
            own = stn_vec3_scale(0.5 * dt * dt, a);
        }
        lead = stn_vec3_mul_add(lead, side == 0 ? -1.0 : 1.0, own);
    }
    return lead;
}

void anchor_shift(const holding *h, stn_constraint *c, stn_vec3 u, stn_vec3 lead) {
    double share = stn_setup_law(h->setup).ops != NULL ? 1.0 : taken_back;
    for (int32_t r = 0; r < 2; r++) {
        stn_vec3 axis = stn_mat3_column(&c->frame, r);
        c->anchor[r] = share * stn_vec3_dot(u, axis);
        h->frame->problem.bias[c->row + r] += (c->anchor[r] + stn_vec3_dot(lead, axis)) / h->frame->problem.dt;
    }
}

/// What holds the points of a support: a body, body_count + a frame, or -1: points.
static int32_t holder_of(const holding *h, const stn_support *support) {
    const int32_t frame = stn_support_frame(h->setup->model, support);
    return frame >= 0 ? h->setup->model->body_count + frame : support->body;
}

/// Puts u into the bias of a contact, and its anchor where the contact is.
static void hold_contact(const holding *h, stn_constraint *c, anchor *a) {
    const step_frame *frame = h->frame;
    const stn_contact *contact = &frame->contacts.contacts[c->contact];
    stn_vec3 n = stn_mat3_column(&c->frame, 2), u = stn_vec3_zero();
    const int32_t body[2] = {holder_of(h, &contact->a), holder_of(h, &contact->b)};
    bool dragged = true, known = a->limit > 0.0;
    if (!known) {
        *a = (anchor){.body = {body[0], body[1]}};
    }
    if (known || anchor_find(h, c->point, a)) { // u now, cut to its limit
        u = along_surface(
            stn_vec3_sub(point_now(frame, a->body[1], a->point[1]), point_now(frame, a->body[0], a->point[0])), n);
        double size = stn_vec3_norm(u);
        dragged = size > a->limit;
        u = dragged ? stn_vec3_scale(a->limit / size, u) : u;
    }
    if (!known || dragged || !anchor_is_near(frame, a, c->point, n)) {
        *a = (anchor){.body = {body[0], body[1]}};
        a->point[0] = point_in(frame, body[0], stn_vec3_mul_add(c->point, -0.5, u));
        a->point[1] = point_in(frame, body[1], stn_vec3_mul_add(c->point, 0.5, u));
    }
    if (contact->bias.x != 0.0 || contact->bias.y != 0.0 || contact->bias.z != 0.0) { // a belt runs on within the step
        stn_vec3 moved = stn_vec3_mul_add(point_now(frame, body[1], a->point[1]), frame->problem.dt, contact->bias);
        a->point[1] = point_in(frame, body[1], moved);
    }
    anchor_shift(h, c, u, anchor_lead(h, body, c->point));
}

/// The coordinate that a row of dry friction holds; NULL: its joint has several velocities, and is not held.
static const double *coordinate_of(const step_setup *setup, const state_view *state, const stn_constraint *c) {
    const stn_tree *tree = &setup->model->trees[c->J[0].tree];
    int32_t d = c->J[0].node_count > 0 ? c->J[0].node[0] : 0;
    while (c->J[0].node_count == 0 && c->J[0].values[d] == 0.0) {
        d++;
    }
    const stn_joint *joint = &setup->model->joints[setup->model->dof_joint[tree->v_start + d]];
    return joint->nv == 1 ? &state->q[joint->q_start] : NULL;
}

static void hold_joint(const holding *h, stn_constraint *c, anchor *a) {
    const double *q = coordinate_of(h->setup, h->state, c);
    if (q == NULL) {
        *a = anchor_none;
        return;
    }
    double u = a->limit > 0.0 ? *q - a->point[0].x : 0.0;
    bool dragged = !(fabs(u) <= a->limit);
    u = dragged ? copysign(a->limit, u) : u;
    if (dragged || !(a->limit > 0.0)) {
        *a = (anchor){.body = {c->body[1], -1}, .point = {{*q - u, 0.0, 0.0}}};
    }
    c->anchor[0] = u;
    h->frame->problem.bias[c->row] += u / h->frame->problem.dt;
}

stn_status stn_step_hold(const step_setup *setup, const state_view *state, step_frame *frame, stn_error *err) {
    if (!setup->options.stiction || stn_setup_integrator_solves(setup)) {
        return STN_OK;
    }
    holding h = {.setup = setup, .state = state, .frame = frame, .index = {.capacity = 16}};
    pair_index *index = &h.index;
    int32_t count = state->cache_count;
    while (index->capacity < (uint32_t)count) {
        index->capacity *= 2;
    }
    index->head = STN_ARENA(frame->arena, index->capacity, int32_t);
    index->next = STN_ARENA(frame->arena, count, int32_t);
    if (index->head == NULL || index->next == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "stiction: out of memory");
    }
    memset(index->head, 0xff, index->capacity * sizeof *index->head);
    for (int32_t i = count - 1; i >= 0; i--) {
        anchor a = stn_cache_anchor(setup, state, i);
        if (a.limit > 0.0 && a.body[0] >= 0 && a.body[1] >= 0) {
            int32_t *head = &index->head[pair_slot(index, a.body[0], a.body[1])];
            index->next[i] = *head;
            *head = i;
        }
    }
    stn_status status = patch_anchors_hold(&h, err);
    for (int32_t i = 0; i < frame->problem.constraint_count && status == STN_OK; i++) {
        stn_constraint *c = &frame->problem.constraints[i];
        if (c->kind == STN_CONSTRAINT_CONTACT && !anchor_is_of_patch(c)) {
            hold_contact(&h, c, &frame->anchors[i]);
        } else if (c->kind == STN_CONSTRAINT_DRY_FRICTION) {
            hold_joint(&h, c, &frame->anchors[i]);
        }
    }
    return status;
}

// ----------------------------------------------------------------------------------------------------- end of a step

static const double used_up = 1.0 - 1e-6; // of the cone

/// Slip at which the friction of a contact lets go. Exact Coulomb friction gives way by nothing: its anchors take back
/// what a solve has left, at most as much as friction could within a step. On the cone, and where a step was not
/// solved, they let go: displacements of several contacts that no motion of their bodies takes back would brace these
/// against each other.
double anchor_transition_speed(const step_setup *setup, const step_frame *frame, int32_t i, const double *v_c) {
    const stn_constraint *c = &frame->problem.constraints[i];
    const double *gamma = frame->solution.gamma + c->row;
    stn_law law = stn_setup_law(setup);
    if (!(gamma[2] > 0.0)) {
        return 0.0;
    }
    if (law.ops != NULL) {
        return stn_ask_slip(&law, &frame->problem, i, v_c + c->row, gamma).transition_speed;
    }
    double x = gamma[0] / c->mu1, y = gamma[1] / c->mu2; // NaN without friction
    bool sticks = sqrt(x * x + y * y) < used_up * gamma[2] && frame->report.status == STN_OK;
    return sticks ? c->w * fmin(c->mu1, c->mu2) * gamma[2] : 0.0;
}

/// Moves the points of nodes that are points on with them.
static void move_with_nodes(const holding *h, const stn_contact *contact, anchor *a) {
    for (int32_t side = 0; side < 2; side++) {
        const stn_support *support = side == 0 ? &contact->a : &contact->b;
        const bool points = a->body[side] < 0;
        for (int32_t i = 0; points && i < support->node_count; i++) {
            const int32_t at = stn_model_node_q(h->setup->model, support->node[i]);
            const double *before = h->state->q + at, *after = h->frame->q_next + at;
            stn_vec3 displacement = stn_vec3_make(after[0] - before[0], after[1] - before[1], after[2] - before[2]);
            a->point[side] = stn_vec3_mul_add(a->point[side], support->weight[i], displacement);
        }
    }
}

void stn_step_release(const step_setup *setup, const state_view *state, step_frame *frame, const double *v_c) {
    const holding h = {.setup = setup, .state = state, .frame = frame};
    const stn_problem *p = &frame->problem;
    patch_anchors_release(setup, frame, v_c);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        anchor *a = &frame->anchors[i];
        if (c->kind == STN_CONSTRAINT_DRY_FRICTION) {
            a->limit = coordinate_of(setup, state, c) != NULL ? p->dt * p->R[c->row] * p->hi[c->row] : 0.0;
        } else if (c->kind == STN_CONSTRAINT_CONTACT && !anchor_is_of_patch(c)) {
            double limit = p->dt * anchor_transition_speed(setup, frame, i, v_c);
            a->limit = limit > 0.0 && isfinite(limit) ? limit : 0.0;
            move_with_nodes(&h, &frame->contacts.contacts[c->contact], a);
        }
        if (!(a->limit > 0.0)) {
            *a = anchor_none;
        }
    }
}

// ------------------------------------------------------------------------------------------------------ by hand

/// Do coordinates [start, start + count) place a body or frame? Those of a kinematic one are its pose, then its twist.
static bool places(const step_setup *setup, int32_t body, size_t start, size_t count) {
    if (body <= 0) {
        return false;
    }
    const stn_model *model = setup->model;
    if (body >= model->body_count) { // a frame
        const size_t own = (size_t)stn_model_node_q(model, body - model->body_count);
        return start < own + 7 && own < start + count;
    }
    const stn_tree *tree = &model->trees[model->bodies[body].tree];
    size_t first = (size_t)tree->q_start, size = stn_setup_is_kinematic(setup, body) ? 7 : (size_t)tree->nq;
    return start < first + size && first < start + count;
}

bool stn_state_forget_anchors(const step_setup *setup, stn_state *state, size_t start, size_t count) {
    const state_view view = state_view_of(state);
    bool all = count >= state->sizes.nq; // of nodes and joints too
    bool any = false;
    for (int32_t i = 0; i < state->cache_count && setup->options.stiction; i++) {
        anchor a = stn_cache_anchor(setup, &view, i);
        if (all || places(setup, a.body[0], start, count) || places(setup, a.body[1], start, count)) {
            stn_cache_set_anchor(setup, state, i, &anchor_none);
            any = true;
        }
    }
    return any;
}
