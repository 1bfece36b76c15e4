// SPDX-License-Identifier: Apache-2.0
// The normal impulse of the step before, gamma_n0, for laws whose friction lags a step ("lagged" among their
// capabilities). A law can only guess it from the gap: k times the overlap that the step before left. A step along the
// tangent of a convex surface opens the gap by dt^2 v^2/(2 R) beyond that, more than a stiff contact is deep, and the
// guess is 0 in every step. What was found is remembered instead:
//
//     known contact      gamma_n0 = its own gamma_n of the step before
//     new contact        a share of what contacts of its two links left behind that are gone; none are: the law's guess
//
// so that a pair whose features change from step to step, faces of patches or facets of a mesh that rolls, keeps its
// friction. Shares go by k overlap, the elastic force; where none overlaps to the nearest. The problem states gamma_n0,
// so that a saved one has the same solution. A change of dt scales all impulses that are remembered
// (stn_cache_rescale).
#include <string.h>

#include "base/sort.h"
#include "world/world.h"

/// New contacts of two links, and what those of the step before left them.
typedef struct inheritance {
    double impulse; // [N s]
    double force;   // sum of k overlap of the new ones [N]
    double nearest; // least gap among them [m]
    int32_t near;   // how many have it
} inheritance;

static bool law_lags(const step_setup *setup) {
    const stn_instance *law = setup->plugin[STN_KIND_LAW];
    const char *const *word = law != NULL ? law->desc->capabilities : NULL;
    while (word != NULL && *word != NULL && strcmp(*word, "lagged") != 0) {
        word++;
    }
    return word != NULL && *word != NULL;
}

static double elastic_force(const stn_constraint *c) {
    double stiffness = isinf(c->stiffness) ? 1.0 : c->stiffness;
    return stiffness * fmax(-c->phi0, 0.0);
}

/// -1: no contact of these links is gone.
static int32_t find_links(const uint64_t *links, int32_t count, uint64_t key) {
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (links[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && links[low] == key ? low : -1;
}

/// A contact that nothing is known of, between two bodies: nodes are found again by their own ids, or are new.
static bool is_new(const stn_constraint *c) {
    return c->kind == STN_CONSTRAINT_CONTACT && isnan(c->gamma_n0) && c->body[0] >= 0 && c->body[1] >= 0;
}

/// States what is remembered and marks it. Returns how many contacts are new.
static int32_t state_known(const state_view *state, step_frame *frame, const step_services *services, bool *found) {
    int32_t unknown = 0;
    for (int32_t i = 0; i < frame->problem.constraint_count; i++) {
        stn_constraint *c = &frame->problem.constraints[i];
        const stn_cache_entry *entry =
            c->kind == STN_CONSTRAINT_CONTACT ? stn_cache_find(state, services, c->id) : NULL;
        if (entry != NULL) {
            c->gamma_n0 = fmax(entry->gamma[2], 0.0);
            found[entry - state->cache] = true;
        }
        unknown += is_new(c);
    }
    return unknown;
}

/// Pairs of links of contacts that pushed and are gone, ascending and each once. Returns how many.
static int32_t list_gone(const state_view *state, const bool *found, uint64_t *links) {
    int32_t count = 0, kept = 0;
    for (int32_t i = 0; i < state->cache_count; i++) {
        if (!found[i] && state->cache[i].touching != 0) {
            links[count++] = state->cache[i].touching;
        }
    }
    sort_keys(links, count);
    for (int32_t i = 0; i < count; i++) {
        if (kept == 0 || links[kept - 1] != links[i]) {
            links[kept++] = links[i];
        }
    }
    return kept;
}

static void add_up(const step_setup *setup, const state_view *state, const step_frame *frame, const bool *found,
                   const uint64_t *links, int32_t count, inheritance *pairs) {
    for (int32_t i = 0; i < count; i++) {
        pairs[i].nearest = (double)INFINITY;
    }
    for (int32_t i = 0; i < state->cache_count; i++) {
        const stn_cache_entry *entry = &state->cache[i];
        if (!found[i] && entry->touching != 0) {
            pairs[find_links(links, count, entry->touching)].impulse += entry->gamma[2];
        }
    }
    for (int32_t i = 0; i < frame->problem.constraint_count; i++) {
        const stn_constraint *c = &frame->problem.constraints[i];
        int32_t at = is_new(c) ? find_links(links, count, stn_step_links(setup, frame, c)) : -1;
        if (at >= 0) {
            inheritance *pair = &pairs[at];
            pair->force += elastic_force(c);
            pair->near = c->phi0 < pair->nearest ? 1 : pair->near + (c->phi0 == pair->nearest);
            pair->nearest = fmin(pair->nearest, c->phi0);
        }
    }
}

static void share_out(const step_setup *setup, step_frame *frame, const uint64_t *links, int32_t count,
                      const inheritance *pairs) {
    for (int32_t i = 0; i < frame->problem.constraint_count; i++) {
        stn_constraint *c = &frame->problem.constraints[i];
        int32_t at = is_new(c) ? find_links(links, count, stn_step_links(setup, frame, c)) : -1;
        if (at >= 0) {
            const inheritance *pair = &pairs[at];
            double alone = c->phi0 == pair->nearest ? 1.0 / pair->near : 0.0;
            c->gamma_n0 = pair->impulse * (pair->force > 0.0 ? elastic_force(c) / pair->force : alone);
        }
    }
}

stn_status stn_step_lag(const step_setup *setup, const state_view *state, step_frame *frame,
                        const step_services *services, stn_error *err) {
    int32_t known = state->cache_count;
    if (known == 0 || frame->problem.constraint_count == 0 || !law_lags(setup)) {
        return STN_OK;
    }
    bool *found = STN_ARENA_ZEROED(frame->arena, known, bool);
    uint64_t *links = STN_ARENA(frame->arena, known, uint64_t);
    if (found == NULL || links == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "lagged friction: out of memory");
    }
    int32_t count = state_known(state, frame, services, found) > 0 ? list_gone(state, found, links) : 0;
    if (count == 0) {
        return STN_OK;
    }
    inheritance *pairs = STN_ARENA_ZEROED(frame->arena, count, inheritance);
    if (pairs == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "lagged friction: out of memory");
    }
    add_up(setup, state, frame, found, links, count, pairs);
    share_out(setup, frame, links, count, pairs);
    return STN_OK;
}
