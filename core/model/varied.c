// SPDX-License-Identifier: Apache-2.0
// See varied.h.
#include "model/varied.h"

#include <string.h>

#include "model/compiled.h"

#define COPY_ARRAY(memory, to, from, count, type)                 \
    do {                                                          \
        type *own_ = STN_ARENA_ZEROED(memory, (count) + 1, type); \
        complete = complete && own_ != NULL;                      \
        if (complete && (count) > 0) {                            \
            memcpy(own_, from, (size_t)(count) * sizeof(type));   \
        }                                                         \
        (to) = own_;                                              \
    } while (0)

stn_status model_vary(const stn_model *of, stn_model **out, stn_error *err) {
    *out = NULL;
    const model_object *from = model_object_of(of);
    stn_arena *memory = stn_arena_create(of->context);
    model_object *own = memory != NULL ? STN_ARENA(memory, 1, model_object) : NULL;
    bool complete = own != NULL;
    if (complete) {
        *own = *from;
        own->memory = memory;
        COPY_ARRAY(memory, own->face.bodies, of->bodies, of->body_count, stn_body);
        COPY_ARRAY(memory, own->face.links, of->links, of->link_count, stn_link);
        COPY_ARRAY(memory, own->face.geometries, of->geometries, of->geometry_count, stn_geometry);
        COPY_ARRAY(memory, own->surface, from->surface, of->geometry_count, stn_material);
    }
    if (!complete) {
        stn_arena_destroy(memory);
        return stn_fail(err, STN_ERR_MEMORY, "model: out of memory for masses and frictions of its own");
    }
    *out = &own->face;
    return STN_OK;
}

void model_varied_destroy(stn_model *varied) {
    if (varied != NULL) {
        stn_arena_destroy(model_object_of(varied)->memory); // holds the object itself
    }
}

static void scale_mass(stn_mass *to, const stn_mass *from, double factor) {
    to->mass = factor * from->mass;
    for (int32_t i = 0; i < 9; i++) {
        to->inertia.m[i / 3][i % 3] = factor * from->inertia.m[i / 3][i % 3];
    }
}

/// NaN stays: not given.
static void scale_friction(stn_material *to, const stn_material *from, double factor) {
    to->mu = factor * from->mu;
    to->mu_static = factor * from->mu_static;
    to->mu2 = factor * from->mu2;
}

void model_take_factors(stn_model *varied, const stn_model *of, const double *mass, const double *friction) {
    stn_body *bodies = (stn_body *)(uintptr_t)varied->bodies; // its own
    stn_link *links = (stn_link *)(uintptr_t)varied->links;
    stn_geometry *geometries = (stn_geometry *)(uintptr_t)varied->geometries;
    stn_material *surface = (stn_material *)(uintptr_t)model_object_of(varied)->surface;
    for (int32_t b = 0; b < of->body_count; b++) {
        scale_mass(&bodies[b].mass, &of->bodies[b].mass, mass[b]);
    }
    for (int32_t i = 0; i < of->link_count; i++) {
        scale_mass(&links[i].mass, &of->links[i].mass, mass[of->links[i].body]);
    }
    for (int32_t g = 0; g < of->geometry_count; g++) {
        scale_friction(&geometries[g].material, &of->geometries[g].material, friction[g]);
        scale_friction(&surface[g], &model_object_of(of)->surface[g], friction[g]);
    }
}
