// SPDX-License-Identifier: Apache-2.0
// Contacts that begin and end, by pairs of links. A pair touches in a step in which one of its contacts has a normal
// impulse > 0; the contact cache remembers it, and with it checkpoints do. Who asks after a step gets the difference of
// two sorted lists of pairs; nothing but a list of the pairs before is made for those who do not.
#include "base/sort.h"
#include "world/world.h"

enum { LOWEST = STN_CLOUD - 1 }; // so that no key is 0

/// The link that a geometry is on; after all links, the tree of its nodes.
static int32_t holder_of(const stn_model *model, int32_t geometry) {
    const stn_geometry *g = &model->geometries[geometry];
    return g->node >= 0 && g->body < 0 ? model->link_count + model->node_tree[g->node] : g->link;
}

static int32_t link_of(const stn_model *model, uint64_t key) {
    const int32_t holder = (int32_t)(key & UINT32_MAX) + LOWEST;
    return holder < model->link_count ? holder : STN_CLOUD - (holder - model->link_count);
}

uint64_t stn_step_links(const step_setup *setup, const step_frame *frame, const stn_constraint *c) {
    const stn_contact *contact = &frame->contacts.contacts[c->contact];
    int32_t a = holder_of(setup->model, contact->geometry_a), b = holder_of(setup->model, contact->geometry_b);
    uint64_t low = (uint64_t)((a < b ? a : b) - LOWEST), high = (uint64_t)((a < b ? b : a) - LOWEST);
    return low << 32 | high;
}

uint64_t stn_step_touching(const step_setup *setup, const step_frame *frame, const stn_constraint *c) {
    bool pushes = c->kind == STN_CONSTRAINT_CONTACT && frame->solution.gamma[c->row + 2] > 0.0;
    return pushes ? stn_step_links(setup, frame, c) : 0;
}

/// The keys of the cache that touch, in memory of the step; false: none left.
static bool list_touching(const stn_state *state, const step_frame *frame, uint64_t **keys, int32_t *count) {
    *count = 0;
    *keys = STN_ARENA(frame->arena, state->cache_count, uint64_t);
    for (int32_t i = 0; *keys != NULL && i < state->cache_count; i++) {
        if (state->cache[i].touching != 0) {
            (*keys)[(*count)++] = state->cache[i].touching;
        }
    }
    return *keys != NULL;
}

stn_status stn_step_note_touching(const stn_state *state, step_frame *frame, stn_error *err) {
    bool noted = list_touching(state, frame, &frame->touched, &frame->touched_count);
    return noted ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "contact events: out of memory");
}

int32_t stn_make_set(uint64_t *keys, int32_t count) {
    int32_t kept = 0;
    sort_keys(keys, count);
    for (int32_t i = 0; i < count; i++) {
        if (kept == 0 || keys[kept - 1] != keys[i]) {
            keys[kept++] = keys[i];
        }
    }
    return kept;
}

/// Those of set `a` that set `b` lacks.
static int32_t subtract(const stn_model *model, const uint64_t *a, int32_t a_count, const uint64_t *b, int32_t b_count,
                        stn_link_pair *out) {
    int32_t count = 0;
    for (int32_t i = 0, j = 0; i < a_count; i++) {
        while (j < b_count && b[j] < a[i]) {
            j++;
        }
        if (j == b_count || b[j] != a[i]) {
            out[count++] = (stn_link_pair){link_of(model, a[i] >> 32), link_of(model, a[i])};
        }
    }
    return count;
}

stn_status stn_world_contact_events(stn_world *world, stn_contact_events *out, stn_error *err) {
    step_frame *frame = &world->frame;
    uint64_t *now = NULL, *before = frame->touched;
    int32_t now_count = 0;
    *out = (stn_contact_events){0};
    if (world->observation.problem == NULL) {
        return STN_OK;
    }
    if (!world->events_known) {
        bool listed = list_touching(&world->state, frame, &now, &now_count);
        now_count = listed ? stn_make_set(now, now_count) : 0;
        frame->touched_count = stn_make_set(before, frame->touched_count);
        const stn_model *model = world->setup->model;
        stn_link_pair *begun = STN_ARENA(frame->arena, now_count, stn_link_pair);
        stn_link_pair *ended = STN_ARENA(frame->arena, frame->touched_count, stn_link_pair);
        if (!listed || begun == NULL || ended == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "contact events: out of memory");
        }
        world->events = (stn_contact_events){
            .begun_count = subtract(model, now, now_count, before, frame->touched_count, begun),
            .ended_count = subtract(model, before, frame->touched_count, now, now_count, ended),
            .begun = begun,
            .ended = ended,
        };
        world->events_known = true;
    }
    *out = world->events;
    return STN_OK;
}
