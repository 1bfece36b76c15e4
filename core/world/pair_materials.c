// SPDX-License-Identifier: Apache-2.0
// What the materials of pairs come to, computed once. Geometries with the same surface, and the same link where an
// override names it, are one kind; the material of a pair follows from its two kinds (material.c). A world with many
// kinds, or whose friction changes while it runs, has no table, and combines the surfaces of each pair.
#include <string.h>

#include "model/compiled.h"
#include "world/world.h"

enum { MOST_KINDS = 16 };

static bool are_one_kind(const model_object *object, int32_t a, int32_t b) {
    const filter_entry *first = &object->filter[a], *second = &object->filter[b];
    return memcmp(&object->surface[a], &object->surface[b], sizeof object->surface[a]) == 0 &&
           first->overridden == second->overridden && (!first->overridden || first->link == second->link);
}

stn_status stn_setup_tabulate_materials(step_setup *setup, stn_error *err) {
    const stn_model *model = setup->model;
    if (setup->options.varied) { // friction of each surface changes by itself
        return STN_OK;
    }
    const model_object *object = model_object_of(model);
    int32_t first[MOST_KINDS], count = 0;
    setup->surface_kind = stn_allocate(setup->context, (size_t)model->geometry_count, sizeof *setup->surface_kind);
    if (setup->surface_kind == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory while compiling");
    }
    for (int32_t g = 0; g < model->geometry_count; g++) {
        int32_t kind = 0;
        while (kind < count && !are_one_kind(object, first[kind], g)) {
            kind++;
        }
        if (kind == MOST_KINDS) {
            return STN_OK;
        }
        first[kind] = kind == count ? g : first[kind];
        count += kind == count;
        setup->surface_kind[g] = kind;
    }
    setup->kind_material = stn_allocate(setup->context, (size_t)(count * count), sizeof *setup->kind_material);
    if (setup->kind_material == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory while compiling");
    }
    setup->surface_kind_count = count;
    for (int32_t i = 0; i < count * count; i++) {
        stn_model_combine_surfaces(model, setup->options.relaxation_rule, first[i / count], first[i % count],
                                   &setup->kind_material[i]);
    }
    return STN_OK;
}
