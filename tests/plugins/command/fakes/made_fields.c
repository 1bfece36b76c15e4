// SPDX-License-Identifier: Apache-2.0
// A contact model without contacts whose compliant shapes have a thing of the context each, known by their radius, as
// fields are: making one adds a line to the file "made".
#include <stdio.h>

#include <stiction/plugin.h>
#include <stiction/shared.h>

enum { SHAPES = 8 };
typedef struct made {
    stn_context *context;
    const stn_shared *of[SHAPES];
} made;

static stn_status create(stn_context *context, void *user, void **thing, size_t *bytes, stn_error *err) {
    (void)user, (void)err;
    FILE *file = fopen("made", "a");
    if (file != NULL) {
        fputs("made\n", file);
        fclose(file);
    }
    *thing = stn_allocate(context, 1, 1);
    *bytes = 1;
    return STN_OK;
}

static void destroy(stn_context *context, void *thing) {
    stn_release(context, thing);
}

static stn_status prepare(void *self, const stn_model *model, void **out, stn_error *err) {
    (void)self;
    made *m = stn_allocate(model->context, 1, sizeof *m);
    m->context = model->context;
    *out = m;
    stn_status status = STN_OK;
    for (int32_t g = 0; g < model->geometry_count && g < SHAPES && status == STN_OK; g++) {
        const stn_geometry *geometry = &model->geometries[g];
        const stn_shared_spec spec = {&geometry->shape.radius, sizeof(double), create, NULL, destroy};
        status = stn_geometry_is_compliant(geometry) ? stn_shared_hold(m->context, &spec, &m->of[g], err) : STN_OK;
    }
    return status;
}

static void release(void *prepared) {
    made *m = prepared;
    for (int32_t g = 0; g < SHAPES; g++) {
        stn_shared_release(m->context, m->of[g]);
    }
    stn_release(m->context, m);
}

static bool handles(const void *self, const stn_geometry *a, const stn_geometry *b) {
    (void)self, (void)a, (void)b;
    return true;
}

static stn_status collide(void *self, const stn_contact_scene *scene, const stn_contact_pair *pairs, int32_t count,
                          stn_contact_set *set, stn_error *err) {
    (void)self, (void)scene, (void)pairs, (void)count, (void)set, (void)err;
    return STN_OK;
}

static const stn_contact_ops ops = {
    .size = sizeof ops, .handles = handles, .collide = collide, .prepare = prepare, .release = release};
static const stn_plugin_desc fake = {.size = sizeof fake,
                                     .kind = STN_KIND_CONTACT,
                                     .id = "fake_made_fields",
                                     .version = "0",
                                     .summary = "notes in a file what it makes",
                                     .ops.contact = &ops};
STN_PLUGIN_LIBRARY(&fake);
