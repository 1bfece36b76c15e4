// SPDX-License-Identifier: Apache-2.0
// Contact parameters from tables; those that no chosen plugin uses are told once.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lua/bind.h"

void stn_fields_material(const stn_fields *f, stn_material *out) {
    stn_fields_at_least(f, "mu", "1", 0.0, &out->mu);
    stn_fields_stiffness(f, "stiffness", "N/m", &out->stiffness);
    stn_fields_at_least(f, "relaxation_time", "s", 0.0, &out->relaxation_time);
    stn_fields_at_least(f, "dissipation", "s/m", 0.0, &out->dissipation);
    stn_fields_at_least(f, "restitution", "1", 0.0, &out->restitution);
    stn_fields_stiffness(f, "modulus", "Pa", &out->modulus);
}

static bool has_word(const stn_instance *plugin, const char *word) {
    const char *const *words = plugin != NULL ? plugin->desc->capabilities : NULL;
    for (; words != NULL && *words != NULL; words++) {
        if (strcmp(*words, word) == 0) {
            return true;
        }
    }
    return false;
}

static const char *id_of(const stn_instance *plugin) {
    return plugin != NULL ? plugin->desc->id : "none";
}

/// `effective`: the value is not the one that means "none of it".
static void warn_unread(const stn_fields *f, const stn_world *world, const char *key, bool effective) {
    const stn_instance *law = stn_world_plugin(world, STN_KIND_LAW);
    const stn_instance *solver = stn_world_plugin(world, STN_KIND_SOLVER);
    const stn_instance *contact = stn_world_plugin(world, STN_KIND_CONTACT);
    char once[64];
    snprintf(once, sizeof once, "material.%s", key);
    if (!effective || has_word(law, key) || has_word(solver, key) || has_word(contact, key) ||
        !stn_lua_first_time(f->L, once)) {
        return;
    }
    stn_lua_where(f->L);
    stn_log(stn_lua_session(f->L)->context, STN_LOG_WARNING,
            "%s%s: %s has no effect: neither law %s nor solver %s nor contact %s uses it", lua_tostring(f->L, -1),
            f->owner, key, id_of(law), id_of(solver), id_of(contact));
    lua_pop(f->L, 1);
}

void stn_fields_warn_unread(const stn_fields *f, const stn_world *world, const stn_material *given) {
    warn_unread(f, world, "dissipation", given->dissipation > 0.0);
    warn_unread(f, world, "restitution", given->restitution > 0.0);
    warn_unread(f, world, "modulus", isfinite(given->modulus));
}
