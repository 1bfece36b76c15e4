// SPDX-License-Identifier: Apache-2.0
// Which links of a robot overlap where it starts, among the pairs that the model lets collide. The contact plugin
// answers as it does in a simulation; of all shapes of two links the deepest overlap is told.
#include <stdlib.h>

#include <stiction/plugin.h>
#include <stiction/world.h>

#include "check.h"

static const double DEEP = 1e-6; // [m]; less is touching, or round-off
enum { MOST_COLLIDERS = 4000, BATCH = 2000, MOST_TOLD = 100 };

/// Two links whose shapes overlap.
typedef struct overlap {
    int32_t link_a, link_b; // a < b
    int32_t geometry_a, geometry_b;
    double depth;
} overlap;

typedef struct search {
    check *c;
    const stn_instance *plugin; // the contact model of a world without choices
    void *prepared;
    int32_t *colliders, count;
    stn_pose *pose; // (count)
    stn_arena *scratch;
    overlap *found;
    int32_t found_count, found_capacity;
    int32_t unanswered; // pairs that the plugin does not handle
} search;

static const stn_geometry *shape_of(const search *s, int32_t collider) {
    return &s->c->model->geometries[s->colliders[collider]];
}

static bool may_collide(const void *user, int32_t a, int32_t b) {
    const search *s = user;
    return stn_model_may_collide(s->c->model, s->colliders[a], s->colliders[b]);
}

/// Contacts of some pairs; the deepest of each pair of shapes stays.
static stn_status collide(search *s, const stn_contact_pair *pairs, int32_t count, stn_error *err) {
    const stn_geometry *shapes = s->c->model->geometries;
    const stn_contact_ops *ops = s->plugin->desc->ops.contact;
    stn_contact_set set = {.arena = s->scratch};
    const stn_contact_scene scene = {.model = s->c->model, .prepared = s->prepared, .arena = s->scratch};
    stn_status status = ops->collide(s->plugin->self, &scene, pairs, count, &set, err);
    for (int32_t i = 0; i < set.count && status >= STN_OK; i++) {
        const stn_contact *contact = &set.contacts[i];
        if (!(-contact->phi0 > DEEP)) {
            continue;
        }
        if (s->found_count == s->found_capacity) {
            int32_t capacity = s->found_capacity > 0 ? 2 * s->found_capacity : 64;
            overlap *grown = stn_reallocate(s->c->robot->context, s->found, (size_t)s->found_capacity, (size_t)capacity,
                                            sizeof *grown);
            if (grown == NULL) {
                status = stn_fail(err, STN_ERR_MEMORY, "self-collision: out of memory");
                break;
            }
            s->found = grown;
            s->found_capacity = capacity;
        }
        bool turned = shapes[contact->geometry_a].link > shapes[contact->geometry_b].link;
        int32_t a = turned ? contact->geometry_b : contact->geometry_a;
        int32_t b = turned ? contact->geometry_a : contact->geometry_b;
        s->found[s->found_count++] = (overlap){shapes[a].link, shapes[b].link, a, b, -contact->phi0};
    }
    stn_arena_reset(s->scratch);
    return status;
}

static stn_status collide_all(search *s, const stn_broadphase_pair *found, int32_t count, stn_error *err) {
    const stn_contact_ops *ops = s->plugin->desc->ops.contact;
    stn_contact_pair *pairs = STN_ARENA(s->c->arena, BATCH, stn_contact_pair);
    if (pairs == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "self-collision: out of memory");
    }
    stn_status status = STN_OK;
    int32_t used = 0;
    for (int32_t i = 0; i < count && status >= STN_OK; i++) {
        if (!ops->handles(s->plugin->self, shape_of(s, found[i].a), shape_of(s, found[i].b))) {
            s->unanswered++;
            continue;
        }
        int32_t a = found[i].a, b = found[i].b;
        stn_contact_pair *pair = &pairs[used++];
        *pair = (stn_contact_pair){.geometry_a = s->colliders[a], .geometry_b = s->colliders[b]};
        pair->pose_a = s->pose[a];
        pair->pose_b = s->pose[b];
        pair->material = stn_model_pair_material(s->c->model, pair->geometry_a, pair->geometry_b);
        pair->material.value.relaxation_time = pair->material.patch_relaxation_time = 0.0;
        if (used == BATCH) {
            status = collide(s, pairs, used, err);
            used = 0;
        }
    }
    return status >= STN_OK && used > 0 ? collide(s, pairs, used, err) : status;
}

// ------------------------------------------------------------------------------------------------------- telling

static int compare_overlaps(const void *a, const void *b) {
    const overlap *x = a, *y = b;
    if (x->link_a != y->link_a) {
        return x->link_a < y->link_a ? -1 : 1;
    }
    if (x->link_b != y->link_b) {
        return x->link_b < y->link_b ? -1 : 1;
    }
    return (x->depth < y->depth) - (x->depth > y->depth); // the deepest first
}

/// Moving joints between two bodies.
static int32_t joints_between(const stn_model *m, int32_t a, int32_t b) {
    int32_t count = 0;
    while (a != b) { // a parent has the smaller number
        if (a > b) {
            a = m->bodies[a].parent;
        } else {
            b = m->bodies[b].parent;
        }
        count++;
    }
    return count;
}

// ------------------------------------------------------------------------------------------------------- searching

static stn_status find_overlaps(search *s, stn_error *err) {
    const stn_model *m = s->c->model;
    stn_arena *arena = s->c->arena;
    stn_aabb *boxes = STN_ARENA(arena, m->geometry_count, stn_aabb);
    bool *moving = STN_ARENA(arena, m->geometry_count, bool);
    s->colliders = STN_ARENA(arena, m->geometry_count, int32_t);
    s->pose = STN_ARENA(arena, m->geometry_count, stn_pose);
    if (s->colliders == NULL || s->pose == NULL || boxes == NULL || moving == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "self-collision: out of memory");
    }
    for (int32_t i = 0; i < m->geometry_count; i++) {
        const stn_geometry *g = &m->geometries[i];
        bool known = g->shape.type != STN_SHAPE_MESH || g->shape.mesh != NULL;
        if (g->collision && known && g->body >= 0) { // what is on nodes moves with them
            s->pose[s->count] = stn_pose_mul(&s->c->kinematics->body_pose[g->body], &g->pose);
            boxes[s->count] = stn_shape_aabb(&g->shape, &s->pose[s->count], 0.0);
            moving[s->count] = g->body > 0;
            s->colliders[s->count++] = i;
        }
    }
    if (s->count > MOST_COLLIDERS) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "%d shapes are too many", (int)s->count);
    }
    const stn_contact_ops *ops = s->plugin->desc->ops.contact;
    stn_status status = ops->prepare != NULL ? ops->prepare(s->plugin->self, m, &s->prepared, err) : STN_OK;
    stn_broadphase *broadphase = NULL;
    const stn_broadphase_pair *found = NULL;
    int32_t count = 0;
    if (status >= STN_OK) {
        status = stn_broadphase_create(s->c->robot->context, &broadphase, err);
    }
    if (status == STN_OK) {
        status = stn_broadphase_update(broadphase, s->count, boxes, moving, may_collide, s, &found, &count, err);
    }
    if (status == STN_OK) {
        status = collide_all(s, found, count, err);
    }
    stn_broadphase_destroy(broadphase);
    if (ops->release != NULL) {
        ops->release(s->prepared);
    }
    return status;
}

void check_self_collision(check *c) {
    stn_error error = {STN_OK, ""};
    stn_world *world = NULL;
    stn_world_options defaults = stn_world_options_default();
    search s = {.c = c, .scratch = stn_arena_create(c->robot->context)};
    stn_status status = stn_world_create(c->robot->context, &defaults, &world, &error);
    if (s.scratch == NULL) {
        c->out_of_memory = true;
    } else if (status == STN_OK) {
        s.plugin = stn_world_plugin(world, STN_KIND_CONTACT);
        status = find_overlaps(&s, &error);
    }
    if (status < STN_OK) {
        check_note(c, "self-collision is not looked at: %.600s", error.text);
    }
    if (s.found_count > 0) {
        qsort(s.found, (size_t)s.found_count, sizeof *s.found, compare_overlaps);
    }
    int32_t links = 0;
    for (int32_t i = 0; i < s.found_count; i++) {
        bool first = i == 0 || s.found[i].link_a != s.found[i - 1].link_a || s.found[i].link_b != s.found[i - 1].link_b;
        links += first;
        if (first && links <= MOST_TOLD) {
            const overlap *o = &s.found[i];
            const stn_model *m = c->model;
            const stn_geometry *a = &m->geometries[o->geometry_a], *b = &m->geometries[o->geometry_b];
            int32_t joints = joints_between(m, a->body, b->body);
            const char *advice =
                joints == 1
                    ? "its parent is fixed to the world, so they collide"
                    : "give smaller shapes, or exclude the pair (MJCF: <exclude>, else drake:collision_filter_group)";
            check_say_shape(c, o->geometry_b,
                            "overlaps link %s (line %d) by %.3g m where the robot starts, %d joint%s apart: %s",
                            o->link_a >= 0 ? m->links[o->link_a].name : "world", (int)cli_line_of(a->where), o->depth,
                            (int)joints, joints == 1 ? "" : "s", advice);
        }
    }
    if (links > MOST_TOLD) {
        check_note(c, "%d more pairs of links overlap where the robot starts", (int)(links - MOST_TOLD));
    }
    if (s.unanswered > 0) {
        check_note(c, "%d pair%s of shapes overlap%s with their boxes, but no contact model compares them",
                   (int)s.unanswered, s.unanswered == 1 ? "" : "s", s.unanswered == 1 ? "s" : "");
    }
    stn_release(c->robot->context, s.found);
    stn_arena_destroy(s.scratch);
    stn_world_destroy(world);
}
