// SPDX-License-Identifier: Apache-2.0
// Broad phase, contact model, contact set. A pair is looked at when it is nearer than max(user margin, reach of the
// law); the reach follows from the speeds that v_star (or a motor's command) and v0 promise, first bounded over whole
// bodies, then exactly per contact.
#include <stiction/threads.h>

#include "model/compiled.h"
#include "world/clearance.h"
#include "world/sleep.h"

/// Spatial velocity of every body for v_promised, at its tree's reference point.
static void update_star_velocity(const step_setup *setup, const step_frame *frame) {
    const stn_model *model = setup->model;
    const stn_kinematics *kin = frame->kinematics;
    const body_plan *plan = model_object_of(model)->plan;
    stn_spatial *star = frame->star_velocity;
    star[0] = (stn_spatial){0};
    for (int32_t b = 1; b < model->body_count; b++) {
        if (plan[b].free_root) { // S is the identity: nothing to sum
            const double *v = frame->v_promised + plan[b].v;
            star[b] = (stn_spatial){.angular = {v[3], v[4], v[5]}, .linear = {v[0], v[1], v[2]}};
            continue;
        }
        if (plan[b].type == STN_JOINT_KINEMATIC) {
            star[b] = stn_step_kinematic_twist(setup, frame, b);
            continue;
        }
        const stn_joint *joint = &model->joints[model->bodies[b].joint];
        stn_spatial s = star[model->bodies[b].parent]; // the world's is zero, so a root starts from rest
        for (int32_t d = joint->v_start; d < joint->v_start + joint->nv; d++) {
            s.angular = stn_vec3_mul_add(s.angular, frame->v_promised[d], kin->motion[d].angular);
            s.linear = stn_vec3_mul_add(s.linear, frame->v_promised[d], kin->motion[d].linear);
        }
        star[b] = s;
    }
}

/// How a point moves: now, by v0, and under v_star [m/s].
typedef struct point_motion {
    stn_vec3 now, star;
} point_motion;

static inline stn_vec3 velocity_at(const stn_spatial *velocity, stn_vec3 arm) {
    return stn_vec3_add(velocity->linear, stn_vec3_cross(velocity->angular, arm));
}

static inline point_motion body_motion(const step_setup *setup, const step_frame *frame, int32_t body, stn_vec3 point) {
    if (body == 0) {
        return (point_motion){stn_vec3_zero(), stn_vec3_zero()};
    }
    stn_vec3 arm = stn_vec3_sub(point, frame->kinematics->reference[setup->model->bodies[body].tree]);
    return (point_motion){velocity_at(&frame->kinematics->body_velocity[body], arm),
                          velocity_at(&frame->star_velocity[body], arm)};
}

static bool node_turns(const stn_model *model, int32_t node) {
    return model->trees[model->node_tree[node]].node_type == STN_NODE_FRAME;
}

/// Of a node, its angular part 0 where it is a point.
static stn_spatial node_velocity(const step_setup *setup, const double *v, int32_t node) {
    const double *u = v + setup->node_dof[node];
    stn_spatial out = {stn_vec3_zero(), stn_vec3_make(u[0], u[1], u[2])};
    if (node_turns(setup->model, node)) {
        out.angular = stn_vec3_make(u[3], u[4], u[5]);
    }
    return out;
}

/// Velocities of the support of a contact, now and under v_star, at a point.
static inline point_motion support_motion(const step_setup *setup, const state_view *state, const step_frame *frame,
                                          const stn_support *support, stn_vec3 point) {
    if (support->body >= 0) {
        return body_motion(setup, frame, support->body, point);
    }
    point_motion sum = {stn_vec3_zero(), stn_vec3_zero()};
    for (int32_t i = 0; i < support->node_count; i++) {
        const stn_vec3 arm = node_turns(setup->model, support->node[i])
                                 ? stn_vec3_sub(point, frame->kinematics->node[support->node[i]])
                                 : stn_vec3_zero();
        const stn_spatial now = node_velocity(setup, state->v, support->node[i]),
                          star = node_velocity(setup, frame->v_promised, support->node[i]);
        sum.now = stn_vec3_mul_add(sum.now, support->weight[i], velocity_at(&now, arm));
        sum.star = stn_vec3_mul_add(sum.star, support->weight[i], velocity_at(&star, arm));
    }
    return sum;
}

/// What collision works with.
typedef struct collision {
    const step_setup *setup;
    const state_view *state;
    step_frame *frame;
    const step_services *services;
    stn_arena *arena; // of what looking at pairs needs
    double *speed;    // of each collider: one that no point of it exceeds [m/s]
    double *grown;    // how far its box reaches beyond its shape [m]
    // the law's reach is asked for every collider, pair and far contact: the constraint that it reads is made once
    double dt;
    double fastest; // [m/s] of all colliders, where what moves carries others along; 0: it does not
    stn_law law;
    stn_constraint physical;
} collision;

/// Without a law what is pressed together hovers about distance 0, and the speeds of v_star do not know what presses it
/// (other contacts, motors with limits): left out for a step, a contact with a gap of round-off costs a kick. The order
/// of a weight is far more than what a solve leaves over.
static const double unforeseen_acceleration = 10.0; // [m/s^2]

static double law_reach(collision *s, const stn_material *material, double normal_speed, double slip_speed) {
    if (s->setup->options.margin_only) {
        return 0.0;
    }
    normal_speed = at_least(normal_speed, s->fastest);
    slip_speed = at_least(slip_speed, s->fastest);
    if (s->law.ops == NULL || s->law.ops->reach == NULL) {
        // velocity-level solvers need what can close within the step
        return at_least(s->frame->reach, 1.5 * s->dt * (normal_speed + unforeseen_acceleration * s->dt));
    }
    stn_constraint *c = &s->physical;
    c->stiffness = material->stiffness;
    c->relaxation_time = isnan(material->relaxation_time) ? s->frame->relaxation_time : material->relaxation_time;
    c->dissipation = material->dissipation;
    c->mu1 = c->mu2 = material->mu2 > material->mu ? material->mu2 : material->mu; // NaN: the same in all directions
    return at_least(s->frame->reach, s->law.ops->reach(s->law.self, s->dt, c, normal_speed, slip_speed));
}

/// How fast a body moves, now and under v_star: its origin, and its turning.
typedef struct body_speed {
    int32_t body;
    double now, turning, star, star_turning; // [m/s], [rad/s]
} body_speed;

/// Of a belt, in the shape's axes.
static stn_vec3 surface_velocity(const state_view *state, int32_t geometry) {
    const double *u = state->surface_velocity + 3 * (size_t)geometry;
    return stn_vec3_make(u[0], u[1], u[2]);
}

/// A speed that no point of the collider exceeds, now or under v_star. `last`: that of the body of the collider before,
/// which is often the same.
static double speed_bound(const collision *s, int32_t i, body_speed *last) {
    const step_setup *setup = s->setup;
    step_frame *frame = s->frame;
    const stn_geometry *g = &setup->model->geometries[setup->collider[i]];
    const stn_vec3 *belt = &g->surface_velocity; // from the start
    double conveyor = stn_vec3_norm(surface_velocity(s->state, setup->collider[i]));
    frame->has_belts = frame->has_belts || conveyor != 0.0 || belt->x != 0.0 || belt->y != 0.0 || belt->z != 0.0;
    if (g->body < 0) {
        bool surface = g->shape.type == STN_SHAPE_SURFACE;
        const stn_surface *face = surface ? &setup->model->surfaces[g->surface] : NULL;
        int32_t count = surface ? face->vertex_count : 1;
        double squared = 0.0, turning = 0.0;
        if (!surface && node_turns(setup->model, g->node)) {
            const stn_spatial star = node_velocity(setup, frame->v_promised, g->node),
                              now = node_velocity(setup, s->state->v, g->node);
            turning = at_least(stn_vec3_norm(now.angular), stn_vec3_norm(star.angular));
        }
        for (int32_t k = 0; k < count; k++) {
            int32_t dof = setup->node_dof[surface ? face->vertex[k] : g->node];
            const double *u = frame->v_promised + dof, *u0 = s->state->v + dof;
            squared = at_least(squared, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
            squared = at_least(squared, u0[0] * u0[0] + u0[1] * u0[1] + u0[2] * u0[2]);
        }
        return conveyor + sqrt(squared) + setup->collider_radius[i] * turning;
    }
    if (g->body == 0) {
        return conveyor;
    }
    if (g->body != last->body) {
        point_motion origin = body_motion(setup, frame, g->body, frame->kinematics->body_pose[g->body].position);
        *last = (body_speed){g->body, stn_vec3_norm(origin.now),
                             stn_vec3_norm(frame->kinematics->body_velocity[g->body].angular),
                             stn_vec3_norm(origin.star), stn_vec3_norm(frame->star_velocity[g->body].angular)};
    }
    double radius = setup->collider_radius[i];
    double a = last->now + radius * last->turning, b = last->star + radius * last->star_turning;
    return conveyor + (a > b ? a : b);
}

void stn_place_geometry(const stn_kinematics *k, const stn_geometry *g, stn_pose *out) {
    if (g->body >= 0) {
        *out = stn_pose_mul(&k->body_pose[g->body], &g->pose);
    } else if (g->shape.type == STN_SHAPE_SURFACE) {
        *out = stn_pose_identity();
    } else if (k->node_pose != NULL) {
        *out = stn_pose_mul(&k->node_pose[g->node], &g->pose);
    } else {
        *out = (stn_pose){stn_mat3_identity(), k->node[g->node]};
    }
}

void stn_step_geometry_pose(const step_frame *frame, const stn_geometry *g, stn_pose *out) {
    stn_place_geometry(frame->kinematics, g, out);
}

int32_t stn_support_frame(const stn_model *model, const stn_support *support) {
    const bool one = support->body < 0 && support->node_count == 1;
    return one && node_turns(model, support->node[0]) ? support->node[0] : -1;
}

stn_vec3 stn_frame_velocity(const stn_kinematics *k, int32_t node, stn_vec3 point) {
    const double *v = k->v + stn_model_node_v(k->model, node);
    const stn_spatial velocity = {stn_vec3_make(v[3], v[4], v[5]), stn_vec3_make(v[0], v[1], v[2])};
    return velocity_at(&velocity, stn_vec3_sub(point, k->node[node]));
}

stn_aabb stn_step_geometry_box(const step_setup *setup, const step_frame *frame, int32_t geometry, const stn_pose *pose,
                               double margin) {
    const stn_geometry *g = &setup->model->geometries[geometry];
    if (g->shape.type != STN_SHAPE_SURFACE) {
        return stn_shape_aabb(&g->shape, pose, margin);
    }
    const stn_surface *face = &setup->model->surfaces[g->surface];
    stn_vec3 lower = frame->kinematics->node[face->vertex[0]], upper = lower;
    for (int32_t k = 1; k < face->vertex_count; k++) {
        stn_vec3 p = frame->kinematics->node[face->vertex[k]];
        lower =
            stn_vec3_make(p.x < lower.x ? p.x : lower.x, p.y < lower.y ? p.y : lower.y, p.z < lower.z ? p.z : lower.z);
        upper =
            stn_vec3_make(p.x > upper.x ? p.x : upper.x, p.y > upper.y ? p.y : upper.y, p.z > upper.z ? p.z : upper.z);
    }
    double all = face->thickness + margin;
    stn_vec3 sides = {all, all, all};
    return (stn_aabb){stn_vec3_sub(lower, sides), stn_vec3_add(upper, sides)};
}

/// Boxes of all colliders, grown by the reach of the worst of their pairs.
static void update_boxes(collision *s) {
    const step_setup *setup = s->setup;
    step_frame *frame = s->frame;
    body_speed last = {.body = -1};
    frame->has_belts = false;
    for (int32_t i = 0; i < setup->collider_count; i++) {
        s->speed[i] = speed_bound(s, i, &last);
        s->fastest = frame->carries ? at_least(s->fastest, s->speed[i]) : 0.0;
    }
    for (int32_t i = 0; i < setup->collider_count; i++) {
        const stn_geometry *g = &setup->model->geometries[setup->collider[i]];
        stn_pose *pose = &frame->geometry_pose[setup->collider[i]];
        stn_step_geometry_pose(frame, g, pose);
        stn_material worst = setup->collider_worst[i];
        worst.mu *= setup->most_friction;
        worst.relaxation_time = at_least(worst.relaxation_time, frame->relaxation_time); // of surfaces that set none
        s->grown[i] = at_least(setup->collider_margin[i], law_reach(s, &worst, s->speed[i], s->speed[i]));
        frame->collider_box[i] = stn_step_geometry_box(setup, frame, setup->collider[i], pose, s->grown[i]);
    }
}

static bool may_collide(const void *user, int32_t a, int32_t b) {
    const step_setup *setup = user;
    return stn_model_may_collide(setup->model, setup->collider[a], setup->collider[b]);
}

void stn_step_describe_pair(const step_setup *setup, const state_view *state, const step_frame *frame,
                            stn_contact_pair *pair) {
    const int32_t geometry[2] = {pair->geometry_a, pair->geometry_b};
    stn_pair_material *material = &pair->material;
    pair->pose_a = frame->geometry_pose[geometry[0]];
    pair->pose_b = frame->geometry_pose[geometry[1]];
    if (setup->surface_kind_count > 0) {
        int32_t row = setup->surface_kind[geometry[0]], column = setup->surface_kind[geometry[1]];
        *material = setup->kind_material[row * setup->surface_kind_count + column];
    } else {
        stn_model_combine_surfaces(setup->model, setup->options.relaxation_rule, geometry[0], geometry[1], material);
    }
    set_relaxation(material, frame->relaxation_time);
    switch (setup->options.contact_point) {
    case STN_CONTACT_POINT_STIFFNESS:
        break;
    case STN_CONTACT_POINT_MIDPOINT:
        material->weight_a = 0.5;
        break;
    case STN_CONTACT_POINT_A:
        material->weight_a = 1.0;
        break;
    case STN_CONTACT_POINT_B:
        material->weight_a = 0.0;
        break;
    }
    const stn_contact_ops *ops = setup->plugin[STN_KIND_CONTACT]->desc->ops.contact;
    stn_spatial *now = &pair->velocity, *star = &pair->free_velocity;
    *now = *star = (stn_spatial){0};
    if (!STN_PLUGIN_HAS(ops, approach)) {
        return;
    }
    // what the pair's velocities promise: those of B against A about a point between the two
    const stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(pair->pose_a.position, pair->pose_b.position));
    for (int32_t side = 0; side < 2; side++) {
        double sign = side == 0 ? -1.0 : 1.0;
        const stn_geometry *g = &setup->model->geometries[geometry[side]];
        stn_support support = {.body = g->body, .node_count = g->body < 0, .node = {g->node}, .weight = {1.0}};
        point_motion at = support_motion(setup, state, frame, &support, middle);
        now->linear = stn_vec3_mul_add(now->linear, sign, at.now);
        star->linear = stn_vec3_mul_add(star->linear, sign, at.star);
        if (g->body > 0) {
            now->angular = stn_vec3_mul_add(now->angular, sign, frame->kinematics->body_velocity[g->body].angular);
            star->angular = stn_vec3_mul_add(star->angular, sign, frame->star_velocity[g->body].angular);
        } else if (g->body < 0 && node_turns(setup->model, g->node)) {
            now->angular = stn_vec3_mul_add(now->angular, sign, node_velocity(setup, state->v, g->node).angular);
            star->angular =
                stn_vec3_mul_add(star->angular, sign, node_velocity(setup, frame->v_promised, g->node).angular);
        }
    }
}

/// Is the contact within the margin, or can the law reach it at its own speeds? The bound over whole bodies, by which
/// it was found, let in more. One without stiffness could not push and goes.
static bool is_reachable(collision *s, const stn_contact *c) {
    double margin = s->setup->options.margin;
    if (c->material.stiffness == 0.0 || c->phi0 <= margin) {
        return c->material.stiffness != 0.0;
    }
    point_motion a = support_motion(s->setup, s->state, s->frame, &c->a, c->point),
                 b = support_motion(s->setup, s->state, s->frame, &c->b, c->point);
    stn_vec3 v_star = stn_vec3_sub(b.star, a.star), v0 = stn_vec3_sub(b.now, a.now);
    v_star = stn_vec3_add(v_star, c->bias);
    v0 = stn_vec3_add(v0, c->bias);
    stn_vec3 slip = stn_vec3_mul_add(v0, -stn_vec3_dot(v0, c->normal), c->normal);
    return c->phi0 <= law_reach(s, &c->material, fabs(stn_vec3_dot(v_star, c->normal)), stn_vec3_norm(slip));
}

stn_status stn_collide_pairs(const stn_instance *contact, const stn_contact_scene *scene, const stn_contact_pair *pairs,
                             int32_t count, stn_contact_set *set, stn_error *err) {
    stn_answer_begin(err);
    stn_status status = contact->desc->ops.contact->collide(contact->self, scene, pairs, count, set, err);
    status = stn_answer_end(status, err);
    if (status < 0) {
        stn_error_prefix(err, "contact model %s", contact->desc->id);
    }
    return status;
}

/// The body that holds a side: its own, or that to which all its nodes are attached; -1: none.
static int32_t holder_of(const stn_model *model, const stn_support *support) {
    int32_t holder = support->body;
    for (int32_t i = 0; support->body < 0 && i < support->node_count; i++) {
        const int32_t held = model->node_attachment[support->node[i]];
        const int32_t body = held >= 0 ? model->attachments[held].body : -1;
        holder = i == 0 || body == holder ? body : -1;
        if (holder < 0) {
            break;
        }
    }
    return holder;
}

bool stn_contact_is_tied(const stn_model *model, const stn_contact *contact) {
    const int32_t a = holder_of(model, &contact->a), b = holder_of(model, &contact->b);
    const bool still = a >= 0 && b >= 0 && !stn_model_body_moves(model, a) && !stn_model_body_moves(model, b);
    return contact->patch < 0 && (still || (a >= 0 && a == b));
}

/// Drops the tied ones from `first` on. They were found, as the overlaps know.
static void drop_tied(const step_setup *setup, stn_contact_set *set, int32_t first) {
    int32_t kept = first;
    for (int32_t i = first; i < set->count && setup->model->attachment_count > 0; i++) {
        if (!stn_contact_is_tied(setup->model, &set->contacts[i])) {
            keep_contact(set, i, kept++);
        }
    }
    set->count = setup->model->attachment_count > 0 ? kept : set->count;
}

/// Do both belong to one cloud of nodes, whose surfaces do not move by themselves? The velocities of its nodes then
/// tell how fast its contacts are.
static bool are_of_one_cloud(const step_setup *setup, const state_view *state, const stn_contact_pair *pair) {
    const stn_model *model = setup->model;
    const stn_geometry *a = &model->geometries[pair->geometry_a], *b = &model->geometries[pair->geometry_b];
    return a->shape.type == STN_SHAPE_SURFACE && b->shape.type == STN_SHAPE_SURFACE &&
           model->node_tree[a->node] == model->node_tree[b->node] &&
           stn_vec3_norm(surface_velocity(state, pair->geometry_a)) == 0.0 &&
           stn_vec3_norm(surface_velocity(state, pair->geometry_b)) == 0.0;
}

/// Most points of a cloud move against each other by much less than the fastest ones: what the pair's margin comes to
/// by speed. NULL without memory: then the margin holds everywhere.
static const stn_contact_reach *reach_by_speed(collision *s, const stn_contact_pair *pair, double speed) {
    stn_contact_reach *reach = STN_ARENA(s->arena, 1, stn_contact_reach);
    if (reach == NULL) {
        return NULL;
    }
    reach->speed = speed;
    for (int32_t k = 0; k <= STN_REACH_COUNT; k++) {
        const double part = speed * k / STN_REACH_COUNT;
        reach->distance[k] = at_least(s->setup->options.margin, law_reach(s, &pair->material.value, part, part));
    }
    return reach;
}

/// A batch at a time, so that pairs are read and contacts looked at again while the cache still holds them.
static stn_status collide_some(collision *s, const stn_broadphase_pair *found, int32_t count, stn_contact_set *set,
                               overlap_record *overlaps, stn_error *err) {
    const step_setup *setup = s->setup;
    const step_frame *frame = s->frame;
    int32_t capacity = count < OVERLAP_BATCH ? count : OVERLAP_BATCH;
    stn_contact_pair *pairs = STN_ARENA(s->arena, capacity, stn_contact_pair);
    if (pairs == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "collision: out of memory for %d pairs", capacity);
    }
    stn_contact_scene scene = stn_step_scene(setup, frame, s->services, frame->kinematics);
    scene.arena = s->arena;
    for (int32_t begin = 0; begin < count; begin += OVERLAP_BATCH) {
        int32_t size = count - begin < OVERLAP_BATCH ? count - begin : OVERLAP_BATCH, first = set->count;
        for (int32_t i = 0; i < size; i++) {
            const stn_broadphase_pair *f = &found[begin + i];
            double speed = s->speed[f->a] + s->speed[f->b];
            pairs[i].geometry_a = setup->collider[f->a];
            pairs[i].geometry_b = setup->collider[f->b];
            stn_step_describe_pair(setup, s->state, frame, &pairs[i]);
            pairs[i].margin = at_least(setup->options.margin, law_reach(s, &pairs[i].material.value, speed, speed));
            pairs[i].reach = are_of_one_cloud(setup, s->state, &pairs[i]) ? reach_by_speed(s, &pairs[i], speed) : NULL;
        }
        stn_status status = stn_collide_pairs(setup->plugin[STN_KIND_CONTACT], &scene, pairs, size, set, err);
        if (status < 0) {
            return status;
        }
        // contacts come with the surface velocities of the model; what counts are those of the state
        for (int32_t i = first; frame->has_belts && i < set->count; i++) {
            stn_contact *c = &set->contacts[i];
            stn_vec3 a = surface_velocity(s->state, c->geometry_a), b = surface_velocity(s->state, c->geometry_b);
            c->bias = stn_vec3_sub(stn_mat3_apply(&frame->geometry_pose[c->geometry_b].rotation, b),
                                   stn_mat3_apply(&frame->geometry_pose[c->geometry_a].rotation, a));
        }
        overlap_batch batch; // its depths are written when they are measured
        batch.count = size;
        batch.found = &found[begin];
        batch.pairs = pairs;
        batch.geometries = setup->model->geometries;
        batch.box = frame->collider_box;
        batch.grown = s->grown;
        stn_overlap_measure(set, &batch, first);
        // those that may act are kept; the faces of a patch stay together
        int32_t kept = first;
        for (int32_t i = first; i < set->count; i++) {
            const stn_contact *c = &set->contacts[i];
            if (c->patch >= 0 || is_reachable(s, c)) {
                keep_contact(set, i, kept++);
            }
        }
        set->count = kept;
        stn_overlap_note(set, overlaps, &batch, first);
        drop_tied(setup, set, first);
    }
    return STN_OK;
}

/// Part of the pairs that several threads look at.
typedef struct narrow_part {
    collision s;
    const stn_broadphase_pair *found;
    int32_t count;
    stn_contact_set set;
    overlap_record overlaps;
    stn_status status;
    stn_error err;
} narrow_part;

static void collide_part(void *user, int32_t index, int32_t worker) {
    (void)worker;
    narrow_part *part = (narrow_part *)user + index;
    part->status = collide_some(&part->s, part->found, part->count, &part->set, &part->overlaps, &part->err);
}

/// Parts one after the other in the order of the pairs: contacts, overlaps, and the first failure.
static stn_status join_parts(collision *s, const narrow_part *parts, int32_t part_count, overlap_record *overlaps,
                             stn_error *err) {
    step_frame *frame = s->frame;
    stn_contact_set *set = &frame->contacts;
    int32_t count = 0;
    for (int32_t k = 0; k < part_count; k++) {
        if (parts[k].status < 0) {
            *err = parts[k].err;
            return parts[k].status;
        }
        count += parts[k].set.count;
    }
    if (count > set->capacity) {
        set->contacts = STN_ARENA(frame->arena, count + count / 4, stn_contact);
        if (set->contacts == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "collision: out of memory for %d contacts", count);
        }
        set->capacity = count + count / 4;
    }
    for (int32_t k = 0; k < part_count; k++) {
        const stn_contact_set *own = &parts[k].set;
        if (own->count > 0) {
            memcpy(set->contacts + set->count, own->contacts, (size_t)own->count * sizeof *set->contacts);
        }
        set->count += own->count;
        stn_overlap_join(overlaps, &parts[k].overlaps);
    }
    return STN_OK;
}

/// All pairs, by several threads where the contact model allows that and there are many.
static stn_status collide_found(collision *s, const stn_broadphase_pair *found, int32_t count, stn_error *err) {
    enum { LEAST = 24 }; // pairs of a part, 10 us of boxes
    step_frame *frame = s->frame;
    const step_services *services = s->services;
    const stn_contact_ops *ops = s->setup->plugin[STN_KIND_CONTACT]->desc->ops.contact;
    const int32_t most = 2 * stn_threads_count(services->threads);
    int32_t part_count = count / LEAST < most ? count / LEAST : most;
    part_count = part_count < NARROW_PARTS ? part_count : NARROW_PARTS;
    stn_status status = STN_OK;
    overlap_record overlaps;
    stn_overlap_begin(&overlaps);
    frame->place.plugin = s->setup->plugin[STN_KIND_CONTACT];
    if (stn_threads_count(services->threads) == 1 || part_count < 2 || !STN_PLUGIN_HAS(ops, by_threads)) {
        status = collide_some(s, found, count, &frame->contacts, &overlaps, err);
    } else {
        narrow_part *parts = STN_ARENA(frame->arena, part_count, narrow_part);
        if (parts == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "collision: out of memory for %d pairs", count);
        }
        for (int32_t k = 0; k < part_count; k++) {
            const int32_t begin = (int32_t)((int64_t)count * k / part_count);
            stn_arena *arena = services->narrow[k];
            stn_arena_reset(arena);
            parts[k] = (narrow_part){.s = *s,
                                     .found = found + begin,
                                     .count = (int32_t)((int64_t)count * (k + 1) / part_count) - begin,
                                     .set = {.arena = arena},
                                     .overlaps = overlaps};
            parts[k].s.arena = arena;
        }
        stn_parallel_for(services->threads, part_count, collide_part, parts);
        status = join_parts(s, parts, part_count, &overlaps, err);
    }
    if (status >= 0) {
        frame->place.plugin = NULL;
    }
    stn_overlap_report(&overlaps, &frame->report);
    return status;
}

/// Surfaces that may meet themselves are a pair each, in the order of all others.
static stn_status add_self_pairs(const step_setup *setup, const step_frame *frame, const stn_broadphase_pair **found,
                                 int32_t *count, stn_error *err) {
    const stn_model *model = setup->model;
    int32_t own = 0, total = *count, next = 0;
    for (int32_t i = 0; model->surface_count > 0 && i < setup->collider_count; i++) {
        own += stn_model_may_collide(model, setup->collider[i], setup->collider[i]);
    }
    if (own == 0) {
        return STN_OK;
    }
    stn_broadphase_pair *pairs = STN_ARENA(frame->arena, total + own, stn_broadphase_pair);
    if (pairs == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "collision: out of memory for %d pairs", total + own);
    }
    *count = 0;
    for (int32_t i = 0; i < setup->collider_count; i++) {
        if (stn_model_may_collide(model, setup->collider[i], setup->collider[i])) {
            pairs[(*count)++] = (stn_broadphase_pair){i, i};
        }
        while (next < total && (*found)[next].a == i) {
            pairs[(*count)++] = (*found)[next++];
        }
    }
    *found = pairs;
    return STN_OK;
}

/// Pairs of which no side moves in this step had their contacts when they fell asleep.
static stn_status drop_sleeping_pairs(const collision *s, const stn_broadphase_pair **found, int32_t *count,
                                      stn_error *err) {
    const bool *active = stn_step_active_colliders(s->setup, s->state, s->frame);
    stn_broadphase_pair *kept = STN_ARENA(s->frame->arena, *count, stn_broadphase_pair);
    int32_t kept_count = 0;
    if (active == NULL || kept == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "collision: out of memory for %d pairs", *count);
    }
    for (int32_t i = 0; i < *count; i++) {
        if (active[(*found)[i].a] || active[(*found)[i].b]) {
            kept[kept_count++] = (*found)[i];
        }
    }
    *found = kept;
    *count = kept_count;
    return STN_OK;
}

stn_status stn_step_collide(const step_setup *setup, const state_view *state, step_frame *frame,
                            step_services *services, stn_error *err) {
    // As much room as the last step needed, also for contacts that it dropped again, so that the set is not copied
    // while it grows; much less needed is taken back. No room is no failure: the set grows by itself.
    int32_t kept = frame->contacts.count, expected = frame->contacts.capacity;
    expected = kept < expected / 8 ? expected / 2 : expected;
    expected = expected > 2 * setup->collider_count ? expected : 2 * setup->collider_count; // as of a heap
    frame->contacts = (stn_contact_set){.arena = frame->arena};
    frame->contacts.contacts = STN_ARENA(frame->arena, expected, stn_contact);
    frame->contacts.capacity = frame->contacts.contacts != NULL ? expected : 0;
    overlap_record none;
    stn_overlap_begin(&none);
    stn_overlap_report(&none, &frame->report);
    frame->middle = NULL;
    if (setup->collider_count == 0) {
        return STN_OK;
    }
    collision s = {
        .setup = setup,
        .state = state,
        .frame = frame,
        .services = services,
        .arena = frame->arena,
        .speed = STN_ARENA(frame->arena, setup->collider_count, double),
        .grown = STN_ARENA(frame->arena, setup->collider_count, double),
        .dt = frame->dt,
        .law = stn_setup_law(setup),
        .physical = {.kind = STN_CONSTRAINT_CONTACT, .set = STN_SET_CONE, .rows = 3},
    };
    if (s.speed == NULL || s.grown == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "collision: out of memory");
    }
    double start = setup->options.profile ? stn_clock_us() : 0.0;
    update_star_velocity(setup, frame);
    update_boxes(&s);
    const stn_broadphase_pair *found = NULL;
    int32_t pair_count = 0;
    stn_status status = stn_broadphase_update(services->broadphase, setup->collider_count, frame->collider_box,
                                              setup->collider_moves, may_collide, setup, &found, &pair_count, err);
    if (status != STN_OK) {
        return status;
    }
    if (frame->asleep_count > 0) {
        status = drop_sleeping_pairs(&s, &found, &pair_count, err);
        if (status != STN_OK) {
            return status;
        }
    }
    double middle = setup->options.profile ? stn_clock_us() : 0.0;
    status = add_self_pairs(setup, frame, &found, &pair_count, err);
    if (status == STN_OK) {
        status = collide_found(&s, found, pair_count, err);
    }
    if (status == STN_OK) {
        status = stn_step_find_middle(setup, state, frame, services, err);
    }
    if (status == STN_OK) {
        status = stn_step_turn_seams(setup, frame, services, err);
    }
    if (status == STN_OK) {
        stn_step_settle_middle(frame);
        stn_clearance_look(setup, state, frame, services);
    }
    if (setup->options.profile) {
        frame->report.phase_us[STN_PHASE_BROAD_PHASE] = middle - start;
        frame->report.phase_us[STN_PHASE_NARROW_PHASE] = stn_clock_us() - middle;
    }
    return status;
}
