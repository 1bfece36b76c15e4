// SPDX-License-Identifier: Apache-2.0
// How far the flat pieces that contact over areas acts on lie beside round shapes, as the contact model has it that
// makes them.
#include <stiction/plugin.h>

#include "info.h"

void info_measure_surfaces(info_report *r) {
    const char *id = NULL; // of the first contact model that acts on flat pieces
    const stn_plugin_info *plugins = NULL;
    int32_t count = 0;
    if (r->counts.compliant > 0) {
        stn_plugins_of_kind(r->robot.context, STN_KIND_CONTACT, &plugins, &count, NULL);
    }
    for (int32_t i = 0; i < count && id == NULL; i++) {
        const stn_plugin_desc *d = plugins[i].desc;
        id = STN_PLUGIN_HAS(d->ops.contact, surface_error) ? d->id : NULL;
    }
    stn_instance *instance = NULL;
    void *prepared = NULL;
    r->surfaces = STN_ARENA(r->arena, r->robot.model->geometry_count, info_surface);
    if (id == NULL || r->surfaces == NULL ||
        stn_instance_create(r->robot.context, STN_KIND_CONTACT, id, NULL, 0, &instance, NULL) < 0) {
        return;
    }
    const stn_contact_ops *ops = instance->desc->ops.contact;
    if (ops->prepare(instance->self, r->robot.model, &prepared, NULL) >= 0) { // else a world will say why not
        const stn_model *m = r->robot.model;
        for (int32_t g = 0; g < m->geometry_count; g++) {
            info_surface s = {.geometry = g};
            ops->surface_error(prepared, g, &s.error);
            if (m->geometries[g].collision && s.error.resolution > 0.0) {
                r->surfaces[r->surface_count++] = s;
            }
        }
        ops->release(prepared);
    }
    stn_instance_destroy(instance);
}
