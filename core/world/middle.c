// SPDX-License-Identifier: Apache-2.0
// Where contacts are later in the step, for integrators whose impulses act there (stn_formed.contact_theta = s): the
// contact model looks at the same pairs at q_s = q0 + s dt N v0, and what it finds there under the same id gives point
// and normal. The row is
//
//     v_c = J(q_s) v + (1 - s)/s (J(q_s) - J(q0)) v0,
//
// the velocity at the place of the step's end, to second order. With positions that move by the mean of v0 and v, an
// impulse by J(q0) would do the work gamma . (J(q0) - J(q-)) v0 / 2 on a body that rolls, whose contact point wanders
// over it: of first order in dt, and of one sign. The distance stays that of q0. Contacts of patches, of points, of
// kinematic bodies, those that are not found again, and those whose normal a seam turns stay what they are at q0.
#include "world/world.h"

/// Is it a body, or a frame, that no one tells how to move?
static bool moves_freely(const step_setup *setup, const stn_support *support) {
    if (support->body >= 0) {
        return !stn_setup_is_kinematic(setup, support->body);
    }
    return stn_support_frame(setup->model, support) >= 0 && stn_model_node_moves(setup->model, support->node[0]);
}

static stn_vec3 velocity_of(const stn_kinematics *k, const stn_support *support, stn_vec3 point) {
    return support->body >= 0 ? stn_point_velocity(k, support->body, point)
                              : stn_frame_velocity(k, support->node[0], point);
}

static stn_vec3 velocity_at(const stn_kinematics *k, const stn_contact *c, stn_vec3 point) {
    return stn_vec3_sub(velocity_of(k, &c->b, point), velocity_of(k, &c->a, point));
}

static void find_again(const step_frame *frame, const stn_contact *c, const stn_contact_set *set,
                       contact_middle *middle) {
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *found = &set->contacts[i];
        if (found->id == c->id) {
            double s = frame->contact_theta;
            stn_vec3 later = velocity_at(frame->scratch_kinematics, c, found->point);
            stn_vec3 change = stn_vec3_sub(later, velocity_at(frame->kinematics, c, c->point));
            *middle = (contact_middle){
                .known = true,
                .point = found->point,
                .normal = found->normal,
                .direction = found->direction,
                .change = stn_vec3_scale((1.0 - s) / s, change),
            };
            return;
        }
    }
}

stn_status stn_step_find_middle(const step_setup *setup, const state_view *state, step_frame *frame,
                                const step_services *services, stn_error *err) {
    const stn_contact_set *now = &frame->contacts;
    double s = frame->contact_theta;
    frame->middle = NULL;
    if (!(s > 0.0) || now->count == 0) {
        return STN_OK;
    }
    contact_middle *middle = STN_ARENA_ZEROED(frame->arena, now->count, contact_middle);
    double *q = STN_ARENA(frame->arena, setup->model->nq + 1, double);
    if (middle == NULL || q == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "collision: out of memory");
    }
    const stn_kinematics *at_start = frame->kinematics, *later = frame->scratch_kinematics;
    stn_integrate_q(setup->model, state->q, state->v, s * frame->dt, q);
    stn_kinematics_update(frame->scratch_kinematics, q, state->v);
    frame->middle = middle;
    stn_contact_set set = {.arena = frame->arena};
    for (int32_t i = 0; i < now->count; i++) { // contacts of a pair follow each other
        const stn_contact *c = &now->contacts[i];
        middle[i].id = c->id;
        if (c->patch >= 0 || !moves_freely(setup, &c->a) || !moves_freely(setup, &c->b)) {
            continue;
        }
        if (i == 0 || c->geometry_a != c[-1].geometry_a || c->geometry_b != c[-1].geometry_b) {
            stn_contact_pair pair = {.geometry_a = c->geometry_a, .geometry_b = c->geometry_b};
            const stn_geometry *a = &setup->model->geometries[c->geometry_a];
            const stn_geometry *b = &setup->model->geometries[c->geometry_b];
            double travel = stn_vec3_norm(velocity_of(at_start, &c->a, c->point)) +
                            stn_vec3_norm(velocity_of(at_start, &c->b, c->point));
            stn_step_describe_pair(setup, state, frame, &pair);
            stn_place_geometry(later, a, &pair.pose_a);
            stn_place_geometry(later, b, &pair.pose_b);
            pair.margin = setup->options.margin + fmax(0.0, c->phi0) + frame->dt * travel; // room for what moves away
            set.count = set.patch_count = set.vertex_count = 0;
            frame->place.plugin = setup->plugin[STN_KIND_CONTACT];
            const stn_contact_scene scene = stn_step_scene(setup, frame, services, later);
            stn_status status = stn_collide_pairs(setup->plugin[STN_KIND_CONTACT], &scene, &pair, 1, &set, err);
            if (status < 0) {
                return status;
            }
            frame->place.plugin = NULL;
        }
        find_again(frame, c, &set, &middle[i]);
        middle[i].id = c->id;
        middle[i].before = c->normal;
    }
    return STN_OK;
}

void stn_step_settle_middle(step_frame *frame) {
    contact_middle *middle = frame->middle;
    for (int32_t i = 0, from = 0; middle != NULL && i < frame->contacts.count; i++, from++) {
        const stn_contact *c = &frame->contacts.contacts[i];
        while (middle[from].id != c->id) { // the order stays when contacts are dropped
            from++;
        }
        middle[i] = middle[from];
        const stn_vec3 *n = &c->normal, *before = &middle[i].before;
        middle[i].known = middle[i].known && n->x == before->x && n->y == before->y && n->z == before->z;
    }
}
