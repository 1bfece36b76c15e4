// SPDX-License-Identifier: Apache-2.0
// Which pairs may touch; asked for every pair of the broad phase.
#include "model/compiled.h"

static bool is_excluded(const model_object *object, int32_t link_a, int32_t link_b) {
    uint64_t key = pair_key(link_a, link_b);
    int32_t low = 0, high = object->face.exclude_count; // the key lies in [low, high) if at all
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (object->exclude_keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < object->face.exclude_count && object->exclude_keys[low] == key;
}

bool stn_model_may_collide(const stn_model *model, int32_t geometry_a, int32_t geometry_b) {
    const model_object *object = model_object_of(model);
    const filter_entry *a = &object->filter[geometry_a], *b = &object->filter[geometry_b];
    if (a->body == b->body || a->parent == b->body || b->parent == a->body) {
        return false;
    }
    if (!a->collision || !b->collision || (a->driven && b->driven) || (a->category & b->mask) == 0 ||
        (b->category & a->mask) == 0) {
        return false;
    }
    return !(a->excluded && b->excluded && is_excluded(object, a->link, b->link));
}
