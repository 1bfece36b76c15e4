// SPDX-License-Identifier: Apache-2.0
// Contact parameters that were stated for pairs of links. Calls for the same two links are merged when the model is
// compiled; a pair of geometries then looks up at most four entries (both links, either with any other, all), however
// many overrides there are, and takes each parameter from the latest call that gave it.
#include <string.h>

#include "model/compiler.h"

_Static_assert(sizeof(stn_material) == MATERIAL_MEMBERS * sizeof(double), "a material is its members and nothing else");

/// Position of a member of stn_material.
#define MEMBER(name) (offsetof(stn_material, name) / sizeof(double))

static uint32_t slot_of(uint64_t key, int32_t slot_count) {
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(key >> 32) & (uint32_t)(slot_count - 1);
}

/// The slot of a key, or the free one where it belongs.
static int32_t *find_slot(const pair_overrides *o, uint64_t key) {
    uint32_t s = slot_of(key, o->slot_count);
    while (o->slots[s] != 0 && o->entries[o->slots[s] - 1].key != key) {
        s = (s + 1) & (uint32_t)(o->slot_count - 1);
    }
    return &o->slots[s];
}

static void merge(pair_override *entry, const stn_material *given, int32_t call) {
    double value[MATERIAL_MEMBERS];
    const stn_material stated = material_stated(given);
    memcpy(value, &stated, sizeof value);
    for (int32_t i = 0; i < MATERIAL_MEMBERS; i++) {
        if (!isnan(value[i])) {
            entry->value[i] = value[i];
            entry->call[i] = call;
        }
    }
}

stn_status compile_overrides(compiler *c, filter_entry *filter, stn_error *err) {
    const list *built = &c->builder->overrides;
    int32_t links = c->builder->links.count;
    pair_overrides *o = &c->object->overrides;
    o->slot_count = 4;
    while (o->slot_count < 2 * built->count) {
        o->slot_count *= 2;
    }
    o->slots = STN_ARENA_ZEROED(c->memory, o->slot_count, int32_t);
    o->entries = STN_ARENA_ZEROED(c->memory, built->count, pair_override);
    bool *mentioned = STN_ARENA_ZEROED(c->scratch, links + 1, bool); // the world comes last
    if (o->slots == NULL || o->entries == NULL || mentioned == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0; i < built->count; i++) {
        const built_override *given = override_at(c->builder, i);
        int32_t link[2] = {given->a, given->b};
        for (int32_t k = 0; k < 2; k++) {
            if (link[k] != STN_ANY) {
                link[k] = contact_link(c, link[k]);
                mentioned[link[k] == STN_WORLD ? links : link[k]] = true;
            }
        }
        uint64_t key = pair_key(link[0], link[1]);
        int32_t *slot = find_slot(o, key);
        if (*slot == 0) {
            o->entries[o->count++].key = key;
            *slot = o->count;
        }
        merge(&o->entries[*slot - 1], &given->material, i + 1);
    }
    o->of_all = *find_slot(o, pair_key(STN_ANY, STN_ANY)) - 1;
    for (int32_t i = 0; i < c->object->face.geometry_count; i++) {
        int32_t link = filter[i].link;
        filter[i].overridden = link != FILTER_NODE && mentioned[link == STN_WORLD ? links : link];
    }
    return STN_OK;
}

/// Takes each parameter that the entry's calls gave after `call`, which follows.
static inline void take_later(const pair_override *entry, double value[MATERIAL_MEMBERS],
                              int32_t call[MATERIAL_MEMBERS]) {
    for (int32_t i = 0; i < MATERIAL_MEMBERS; i++) {
        bool later = entry->call[i] > call[i];
        value[i] = later ? entry->value[i] : value[i];
        call[i] = later ? entry->call[i] : call[i];
    }
}

void stn_overrides_apply(const pair_overrides *o, const filter_entry *a, const filter_entry *b,
                         stn_pair_material *material) {
    if (o->count == 0) {
        return;
    }
    double value[MATERIAL_MEMBERS];
    int32_t call[MATERIAL_MEMBERS] = {0};
    memcpy(value, &material->value, sizeof value);
    if (o->of_all >= 0) {
        take_later(&o->entries[o->of_all], value, call);
    }
    const struct {
        int32_t a, b;
        bool possible;
    } pairs[] = {{a->link, STN_ANY, a->overridden},
                 {b->link, STN_ANY, b->overridden},
                 {a->link, b->link, a->overridden && b->overridden}};
    for (int32_t p = 0; (a->overridden || b->overridden) && p < STN_COUNT(pairs); p++) {
        int32_t found = pairs[p].possible ? *find_slot(o, pair_key(pairs[p].a, pairs[p].b)) : 0;
        if (found != 0) {
            take_later(&o->entries[found - 1], value, call);
        }
    }
    memcpy(&material->value, value, sizeof value);
    if (call[MEMBER(dissipation)] > 0) {
        material->patch_dissipation = material->value.dissipation;
    }
    if (call[MEMBER(relaxation_time)] > 0) {
        material->patch_relaxation_time = material->value.relaxation_time;
    }
}
