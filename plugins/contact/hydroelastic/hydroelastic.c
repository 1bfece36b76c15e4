// SPDX-License-Identifier: Apache-2.0
// Contact over areas: compliant solids have a pressure field, and where two meet in balance lies a patch whose faces
// are contacts [elandt-2019], [masterjohn-2022]. Two plugins: one for patches alone, one that leaves other pairs to
// another contact model.
#include <stiction/plugin.h>

#include "patch.h"

static const char *const fineness_names[] = {"coarse", "fine", NULL};
/// Relative error of the force of a shallow contact (field_fineness.error).
static const double fineness_error[] = {0.05, 0.01};

typedef struct hydroelastic_config {
    int32_t fineness;
    double margin;
    double merge;
    int32_t max_tetrahedra;
    const char *fallback; // not of "hydroelastic"
} hydroelastic_config;

#define SHARED_PARAMS                                                                                             \
    STN_PARAM_CHOICE(hydroelastic_config, fineness, fineness_names, 0.0,                                          \
                     "how finely shapes are divided that give no resolution"),                                    \
        STN_PARAM_REAL(hydroelastic_config, margin, "m", 0.0, 0.0, 1.0,                                           \
                       "inflation of compliant shapes that give no field_margin: faces that are about to touch"), \
        STN_PARAM_REAL(hydroelastic_config, merge, "1", 0.0, 0.0, 0.5,                                            \
                       "faces of one cell are joined within it: error of torque and polygons; 0: none"),          \
        STN_PARAM_INT(hydroelastic_config, max_tetrahedra, "1", 200000.0, 12.0, 1e7,                              \
                      "most tetrahedra of one shape, or triangles of a rigid one")

static const stn_param params[] = {SHARED_PARAMS};
static const stn_param fallback_params[] = {
    SHARED_PARAMS,
    STN_PARAM_TEXT(hydroelastic_config, fallback, "point", "contact plugin of the pairs that have no patch"),
};

/// Both plugins; `fallback` is NULL in one of them.
typedef struct model_of_patches {
    stn_context *context;
    const hydroelastic_config *config;
    stn_instance *fallback;
} model_of_patches;

/// What was prepared of a model.
typedef struct preparation {
    model_solids *solids;
    const stn_contact_ops *fallback; // for release
    void *of_fallback;
} preparation;

// ----------------------------------------------------------------------------------------------------- life time

static void destroy(void *self) {
    model_of_patches *m = self;
    if (m != NULL) {
        stn_instance_destroy(m->fallback);
        stn_release(m->context, m);
    }
}

static stn_status create_alone(stn_context *context, const void *config, void **self, stn_error *err) {
    model_of_patches *m = stn_allocate(context, 1, sizeof *m);
    if (m == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *m = (model_of_patches){.context = context, .config = config};
    *self = m;
    return STN_OK;
}

static const stn_contact_ops ops;

static stn_status create_with_fallback(stn_context *context, const void *config, void **self, stn_error *err) {
    void *made = NULL;
    stn_status status = create_alone(context, config, &made, err);
    if (status != STN_OK) {
        return status;
    }
    model_of_patches *m = made;
    status = stn_instance_create(context, STN_KIND_CONTACT, m->config->fallback, NULL, 0, &m->fallback, err);
    if (status == STN_OK && m->fallback->desc->ops.contact == &ops) {
        status = stn_fail(err, STN_ERR_PARAMETER, "fallback: %s makes patches itself; choose another contact model",
                          m->config->fallback);
    }
    if (status != STN_OK) {
        destroy(m);
        return status;
    }
    *self = m;
    return STN_OK;
}

static const stn_contact_ops *fallback_ops(const model_of_patches *m) {
    return m->fallback != NULL ? m->fallback->desc->ops.contact : NULL;
}

static void release(void *memory) {
    preparation *p = memory;
    if (p != NULL) {
        stn_context *context = p->solids->context;
        if (p->fallback != NULL && p->fallback->prepare != NULL) {
            p->fallback->release(p->of_fallback);
        }
        prepared_destroy(p->solids);
        stn_release(context, p);
    }
}

static stn_status prepare(void *self, const stn_model *model, void **out, stn_error *err) {
    const model_of_patches *m = self;
    const solid_limits limits = {fineness_error[m->config->fineness], m->config->margin, m->config->max_tetrahedra};
    const stn_contact_ops *other = fallback_ops(m);
    preparation *p = stn_allocate(m->context, 1, sizeof *p);
    if (p == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_status status = prepared_create(model, &limits, &p->solids, err);
    if (status != STN_OK) {
        stn_release(m->context, p);
        return status;
    }
    p->solids->merge = m->config->merge;
    if (other != NULL && other->prepare != NULL) {
        status = other->prepare(m->fallback->self, model, &p->of_fallback, err);
        if (status != STN_OK) {
            prepared_destroy(p->solids);
            stn_release(m->context, p);
            return status;
        }
    }
    p->fallback = other;
    *out = p;
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------------------------
// pairs

/// A surface of triangles on something that moves, which not every contact model can have.
static bool is_moving_surface(const stn_geometry *g) {
    return g->shape.type == STN_SHAPE_MESH && g->body != 0;
}

static bool handles(const void *self, const stn_geometry *a, const stn_geometry *b) {
    const model_of_patches *m = self;
    if (patch_exists(a, b)) {
        return true;
    }
    const stn_contact_ops *other = fallback_ops(m);
    if (other == NULL || ((is_moving_surface(a) || is_moving_surface(b)) && !STN_PLUGIN_HAS(other, moving_surfaces))) {
        return false;
    }
    return other->handles(m->fallback->self, a, b);
}

static bool has_patch(const stn_model *model, const stn_contact_pair *pair) {
    return patch_exists(&model->geometries[pair->geometry_a], &model->geometries[pair->geometry_b]);
}

static stn_status collide(void *self, const stn_contact_scene *scene, const stn_contact_pair *pairs, int32_t pair_count,
                          stn_contact_set *set, stn_error *err) {
    const model_of_patches *m = self;
    const preparation *p = scene->prepared;
    stn_contact_scene of_fallback = *scene;
    of_fallback.prepared = p->of_fallback;
    face_sink sink = {.arena = scene->arena, .memory = p->solids->memory};
    stn_status status = STN_OK;
    for (int32_t i = 0; i < pair_count && status == STN_OK;) {
        if (has_patch(scene->model, &pairs[i])) {
            status = patch_add(scene, p->solids, &pairs[i++], &sink, set, err);
            continue;
        }
        int32_t end = i + 1; // in one call what lies side by side
        while (end < pair_count && !has_patch(scene->model, &pairs[end])) {
            end++;
        }
        if (p->fallback != NULL) {
            status = p->fallback->collide(m->fallback->self, &of_fallback, pairs + i, end - i, set, err);
        }
        i = end;
    }
    return status;
}

static double margin(const void *self, const stn_geometry *g) {
    const model_of_patches *m = self;
    const stn_contact_ops *other = fallback_ops(m);
    bool asks = other != NULL && STN_PLUGIN_HAS(other, margin);
    double fallback = asks ? other->margin(m->fallback->self, g) : 0.0;
    if (!stn_geometry_is_compliant(g)) {
        return fallback;
    }
    return fmax(fallback, isnan(g->field.margin) ? m->config->margin : g->field.margin);
}

static void surface_error(const void *prepared, int32_t geometry, stn_surface_error *out) {
    const preparation *p = prepared;
    const solid *s = prepared_solid(p->solids, geometry);
    *out = s != NULL ? s->error : (stn_surface_error){0};
}

static const stn_contact_ops ops = {.size = sizeof ops,
                                    .handles = handles,
                                    .prepare = prepare,
                                    .release = release,
                                    .collide = collide,
                                    .moving_surfaces = true,
                                    .margin = margin,
                                    .no_distances = true,
                                    .approach = true,
                                    .surface_error = surface_error};

static const char *const capabilities[] = {"modulus", "dissipation", NULL};

static const stn_plugin_desc alone = {
    .size = sizeof alone,
    .kind = STN_KIND_CONTACT,
    .id = "hydroelastic",
    .version = STN_VERSION,
    .summary = "Patches between compliant shapes, and between compliant and rigid ones, from pressure fields",
    .reference = "elandt-2019, masterjohn-2022",
    .capabilities = capabilities,
    .config_size = sizeof(hydroelastic_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .create = create_alone,
    .destroy = destroy,
    .ops.contact = &ops,
};
static const stn_plugin_desc with_fallback = {
    .size = sizeof with_fallback,
    .kind = STN_KIND_CONTACT,
    .id = "hydroelastic_with_fallback",
    .version = STN_VERSION,
    .summary = "Patches where a shape is compliant, the contacts of another contact model elsewhere",
    .reference = "elandt-2019, masterjohn-2022",
    .capabilities = capabilities,
    .config_size = sizeof(hydroelastic_config),
    .params = fallback_params,
    .param_count = STN_COUNT(fallback_params),
    .create = create_with_fallback,
    .destroy = destroy,
    .ops.contact = &ops,
};
STN_PLUGIN_LIBRARY(&alone, &with_fallback);
