// SPDX-License-Identifier: Apache-2.0
// The normal impulse of the step before, gamma_n0, for laws whose friction lags a step ("lagged" among their
// capabilities), and for constraints of plugins that read contacts. A law can only guess it from the gap: k times the
// overlap that the step before left. A step along the tangent of a convex surface opens the gap by dt^2 v^2/(2 R)
// beyond that, more than a stiff contact is deep, and the guess is 0 in every step. What was found is remembered
// instead:
//
//     known contact      gamma_n0 = its own gamma_n of the step before
//     new contact        a share of what contacts of its two links left behind that are gone; none are: the law's guess
//
// so that a pair whose features change from step to step, faces of patches or facets of a mesh that rolls, keeps its
// friction. Shares go by k overlap, the elastic force; where none overlaps to the nearest. The problem states gamma_n0,
// so that a saved one has the same solution. A change of dt scales all impulses that are remembered
// (stn_cache_rescale).
#include "world/world.h"

/// New contacts of two links, and what those of the step before left them.
typedef struct inheritance {
    uint64_t links;
    double impulse; // [N s]
    double force;   // sum of k overlap of the new ones [N]
    double nearest; // least gap among them [m]
    int32_t near;   // how many have it
} inheritance;

static double elastic_force(const stn_constraint *c) {
    double stiffness = isinf(c->stiffness) ? 1.0 : c->stiffness;
    return stiffness * fmax(-c->phi0, 0.0);
}

/// Of `pairs`, which ascend; NULL: no contact of these links is gone.
static inheritance *find_links(inheritance *pairs, int32_t count, uint64_t key) {
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (pairs[middle].links < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && pairs[low].links == key ? &pairs[low] : NULL;
}

/// A contact that nothing is known of, between two bodies: nodes are found again by their own ids, or are new.
static bool is_new(const stn_constraint *c) {
    return c->kind == STN_CONSTRAINT_CONTACT && isnan(c->gamma_n0) && c->body[0] >= 0 && c->body[1] >= 0;
}

/// New contacts share what those of their links that are gone left behind.
static void share_out(const step_setup *setup, step_frame *frame, inheritance *pairs, int32_t count) {
    stn_problem *p = &frame->problem;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        inheritance *pair = is_new(c) ? find_links(pairs, count, stn_step_links(setup, frame, c)) : NULL;
        if (pair != NULL) {
            pair->force += elastic_force(c);
            pair->near = c->phi0 < pair->nearest ? 1 : pair->near + (c->phi0 == pair->nearest);
            pair->nearest = fmin(pair->nearest, c->phi0);
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        stn_constraint *c = &p->constraints[i];
        const inheritance *pair = is_new(c) ? find_links(pairs, count, stn_step_links(setup, frame, c)) : NULL;
        if (pair != NULL) {
            double alone = c->phi0 == pair->nearest ? 1.0 / pair->near : 0.0;
            c->gamma_n0 = pair->impulse * (pair->force > 0.0 ? elastic_force(c) / pair->force : alone);
        }
    }
}

stn_status stn_step_lag(const step_setup *setup, const state_view *state, step_frame *frame,
                        const step_services *services, stn_error *err) {
    const int32_t known = state->cache_count;
    const stn_cache_entry *cache = state->cache;
    stn_problem *p = &frame->problem;
    bool wanted = setup->constraints_read_contacts || stn_plugin_says(setup->plugin[STN_KIND_LAW], "lagged");
    if (known == 0 || p->constraint_count == 0 || !wanted) {
        return STN_OK;
    }
    bool *found = STN_ARENA_ZEROED(frame->arena, known, bool);
    uint64_t *links = STN_ARENA(frame->arena, known, uint64_t); // of contacts that pushed and are gone
    if (found == NULL || links == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "lagged friction: out of memory");
    }
    int32_t unknown = 0, count = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        stn_constraint *c = &p->constraints[i];
        const stn_cache_entry *entry =
            c->kind == STN_CONSTRAINT_CONTACT ? stn_cache_find(state, services, c->id) : NULL;
        if (entry != NULL) {
            c->gamma_n0 = fmax(entry->gamma[2], 0.0);
            found[entry - cache] = true;
        }
        unknown += is_new(c);
    }
    for (int32_t i = 0; i < known && unknown > 0; i++) {
        if (!found[i] && cache[i].touching != 0) {
            links[count++] = cache[i].touching;
        }
    }
    count = stn_make_set(links, count);
    if (count == 0) {
        return STN_OK;
    }
    inheritance *pairs = STN_ARENA(frame->arena, count, inheritance);
    if (pairs == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "lagged friction: out of memory");
    }
    for (int32_t i = 0; i < count; i++) {
        pairs[i] = (inheritance){.links = links[i], .nearest = (double)INFINITY};
    }
    for (int32_t i = 0; i < known; i++) {
        if (!found[i] && cache[i].touching != 0) {
            find_links(pairs, count, cache[i].touching)->impulse += cache[i].gamma[2];
        }
    }
    share_out(setup, frame, pairs, count);
    return STN_OK;
}
