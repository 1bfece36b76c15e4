// SPDX-License-Identifier: Apache-2.0
// Coordinates that are set from outside, and the nodes that are attached to what they move. A body that is put
// somewhere takes the nodes along that are attached to it; where all bodies that hold a cloud move by one and the same
// rigid motion, the whole cloud goes with them and keeps its shape. A cloud whose own coordinates are set is where they
// say. Velocities stay.
#include <string.h>

#include "world/world.h"

static const double alike = 1e-9; // relative, of places that rounding alone may tell apart

typedef struct new_places {
    const stn_model *model;
    const double *now; // (nq) coordinates until here
    double *q;         // (nq) those that are set
    stn_pose *motion;  // (body_count) of each body, from its old place to the new one
    stn_pose *pose;    // (body_count) where they are then
} new_places;

static bool stands(const stn_pose *motion) {
    const stn_pose none = stn_pose_identity();
    return memcmp(motion, &none, sizeof none) == 0;
}

/// Do two bodies move by the same motion, but for rounding?
static bool move_alike(const new_places *p, int32_t a, int32_t b) {
    const stn_pose *of_a = &p->motion[a], *of_b = &p->motion[b];
    const double size =
        stn_vec3_norm(of_a->position) + stn_vec3_norm(p->pose[a].position) + stn_vec3_norm(p->pose[b].position);
    bool turn_alike = true;
    for (int32_t i = 0; i < 9; i++) {
        turn_alike = turn_alike && fabs(of_a->rotation.m[i / 3][i % 3] - of_b->rotation.m[i / 3][i % 3]) <= alike;
    }
    return turn_alike && stn_vec3_norm(stn_vec3_sub(of_a->position, of_b->position)) <= alike * size;
}

static void write_node(stn_vec3 position, stn_quat turn, double *x, int32_t nq) {
    const double numbers[7] = {position.x, position.y, position.z, turn.w, turn.x, turn.y, turn.z};
    memcpy(x, numbers, (size_t)nq * sizeof *x);
}

/// Where the body holds the node.
static void place_node(const new_places *p, const stn_node_attachment *held, double *x, int32_t nq) {
    const stn_pose *body = &p->pose[held->body];
    write_node(stn_pose_apply(body, held->point),
               stn_quat_mul(stn_quat_from_matrix(&body->rotation), held->orientation), x, nq);
}

static void move_node(const stn_pose *motion, double *x, int32_t nq) {
    const stn_quat turn = nq == 7 ? (stn_quat){x[3], x[4], x[5], x[6]} : stn_quat_identity();
    write_node(stn_pose_apply(motion, stn_vec3_make(x[0], x[1], x[2])),
               stn_quat_mul(stn_quat_from_matrix(&motion->rotation), turn), x, nq);
}

/// What holds node `i` of the cloud; NULL: nothing.
static const stn_node_attachment *hold_of(const stn_model *m, const stn_tree *tree, int32_t i) {
    const int32_t number = m->node_attachment[tree->node_start + i];
    return number >= 0 ? &m->attachments[number] : NULL;
}

/// Carries what is attached of one cloud, or all of it. Returns a body that moved while another one did not move like
/// it, so that the nodes between them are stretched; -1: none.
static int32_t carry_cloud(const new_places *p, const stn_tree *tree) {
    int32_t first = -1, moved = -1;
    bool apart = false;
    for (int32_t i = 0; i < tree->node_count; i++) {
        const stn_node_attachment *held = hold_of(p->model, tree, i);
        if (held != NULL) {
            first = first < 0 ? held->body : first;
            apart = apart || !move_alike(p, first, held->body);
            moved = moved < 0 && !stands(&p->motion[held->body]) ? held->body : moved;
        }
    }
    const int32_t nq = tree->nq / tree->node_count;
    for (int32_t i = 0; i < tree->node_count && moved >= 0; i++) {
        const stn_node_attachment *held = hold_of(p->model, tree, i);
        const int32_t with = held != NULL ? held->body : (apart ? -1 : first);
        double *x = p->q + tree->q_start + (size_t)nq * (size_t)i;
        if (with < 0 || stands(&p->motion[with])) {
            continue;
        }
        if (held != NULL && !stn_model_body_moves(p->model, with)) {
            place_node(p, held, x, nq); // to the last bit
        } else {
            move_node(&p->motion[with], x, nq);
        }
    }
    return apart ? moved : -1;
}

/// Puts into `p` what moves when the world takes p->q; false: out of memory. To be released: p->motion.
static bool find_motions(stn_world *world, new_places *p) {
    const stn_kinematics *kinematics = stn_world_kinematics(world);
    const size_t count = (size_t)p->model->body_count;
    p->motion = stn_allocate(world->services.context, 2 * count, sizeof *p->motion);
    if (p->motion == NULL) {
        return false;
    }
    p->pose = p->motion + count;
    memcpy(p->motion, kinematics->body_pose, count * sizeof *p->motion);
    stn_kinematics_update(world->frame.kinematics, p->q, world->state.v);
    world->frame.kinematics_stale = true;
    memcpy(p->pose, kinematics->body_pose, count * sizeof *p->pose);
    for (size_t b = 0; b < count; b++) {
        const stn_pose back = stn_pose_inverse(&p->motion[b]);
        const bool same = memcmp(&p->motion[b], &p->pose[b], sizeof back) == 0;
        p->motion[b] = same ? stn_pose_identity() : stn_pose_mul(&p->pose[b], &back);
    }
    return true;
}

static stn_status check_places(const new_places *p, stn_error *err) {
    const stn_model *m = p->model;
    for (int32_t i = 0; i < m->attachment_count; i++) {
        const stn_node_attachment *held = &m->attachments[i];
        const stn_tree *tree = &m->trees[m->node_tree[held->node]];
        const int32_t nq = tree->nq / tree->node_count, node = held->node - tree->node_start;
        const double *x = p->q + tree->q_start + (size_t)nq * (size_t)node;
        double there[7] = {0.0}, turn = 1.0;
        if (stn_model_body_moves(m, held->body)) {
            continue;
        }
        place_node(p, held, there, nq);
        const stn_vec3 is = stn_vec3_make(x[0], x[1], x[2]), place = stn_vec3_make(there[0], there[1], there[2]);
        const double off = stn_vec3_norm(stn_vec3_sub(is, place));
        if (nq == 7) {
            turn = fabs(x[3] * there[3] + x[4] * there[4] + x[5] * there[5] + x[6] * there[6]);
        }
        const double size = stn_vec3_norm(p->pose[held->body].position) + stn_vec3_norm(held->point);
        if (!(off <= alike * size) || !(turn >= 1.0 - alike)) {
            const bool world = held->link == STN_WORLD;
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "node %d of '%s', counted from 0, is at (%g, %g, %g) m%s, but %s%s, which no force moves, "
                            "holds it at (%g, %g, %g) m: leave it there, or attach it elsewhere",
                            node, tree->name, is.x, is.y, is.z, off <= alike * size ? " and turned" : "",
                            world ? "the world" : "link ", world ? "" : m->links[held->link].name, place.x, place.y,
                            place.z);
        }
    }
    return STN_OK;
}

stn_status stn_world_carry_nodes(stn_world *world, double *q, stn_error *err) {
    const stn_model *model = world->setup->model;
    new_places p = {.model = model, .now = world->state.q, .q = q};
    if (model->attachment_count == 0) {
        return STN_OK;
    }
    if (!find_motions(world, &p)) {
        return stn_fail(err, STN_ERR_MEMORY, "attached nodes: out of memory");
    }
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        const size_t bytes = (size_t)tree->nq * sizeof *q;
        if (tree->kind != STN_TREE_NODAL || memcmp(q + tree->q_start, p.now + tree->q_start, bytes) != 0) {
            continue;
        }
        const int32_t moved = carry_cloud(&p, tree);
        if (moved >= 0 && !world->services.carry_said) {
            world->services.carry_said = true;
            stn_log(
                world->services.context, STN_LOG_WARNING,
                "%s was put elsewhere and took along the nodes of '%s' that are attached to it; the others stay, as "
                "what else holds them did not move alike: the deformable begins stretched",
                model->bodies[moved].name, tree->name);
        }
    }
    stn_status status = check_places(&p, err);
    stn_release(world->services.context, p.motion);
    return status;
}

stn_status stn_world_check_held(stn_world *world, double *q, stn_error *err) {
    new_places p = {.model = world->setup->model, .q = q};
    if (p.model->attachment_count == 0) {
        return STN_OK;
    }
    if (!find_motions(world, &p)) {
        return stn_fail(err, STN_ERR_MEMORY, "attached nodes: out of memory");
    }
    stn_status status = check_places(&p, err);
    stn_release(world->services.context, p.motion);
    return status;
}
