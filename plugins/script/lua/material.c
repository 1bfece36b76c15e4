// SPDX-License-Identifier: Apache-2.0
// Contact parameters from tables, by numbers and by a material's name; those that no chosen plugin uses are told once.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"

void stn_fields_material(const stn_fields *f, stn_material *out) {
    stn_fields_at_least(f, "mu", "1", 0.0, &out->mu);
    stn_fields_stiffness(f, "stiffness", "N/m", &out->stiffness);
    stn_fields_at_least(f, "relaxation_time", "s", 0.0, &out->relaxation_time);
    stn_fields_at_least(f, "dissipation", "s/m", 0.0, &out->dissipation);
    stn_fields_at_least(f, "restitution", "1", 0.0, &out->restitution);
    stn_fields_stiffness(f, "modulus", "Pa", &out->modulus);
    stn_fields_at_least(f, "mu_static", "1", 0.0, &out->mu_static);
}

/// The material of that name, or raises with the nearest one.
static const stn_named_material *find_material(lua_State *L, const char *owner, const char *name) {
    const stn_named_material *found = stn_named_material_find(name);
    if (found == NULL) {
        int32_t count = 0;
        const stn_named_material *all = stn_named_materials(&count);
        const char **names = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *names, 0);
        for (int32_t i = 0; i < count; i++) {
            names[i] = all[i].name;
        }
        names[count] = NULL;
        stn_lua_unknown(L, owner, name, names);
    }
    return found;
}

static void read_field(const stn_fields *f, stn_field_spec *out) {
    stn_fields_above_zero(f, "resolution", "m", &out->resolution);
    stn_fields_at_least(f, "field_margin", "m", 0.0, &out->margin);
    stn_fields_above_zero(f, "slab_thickness", "m", &out->thickness);
}

/// `material`: a name of the table of materials, or a table that says what one says.
static void read_material(const stn_fields *f, stn_lua_surface *out) {
    static const char *const keys[] = {"name", "density", STN_MATERIAL_KEYS, STN_FIELD_KEYS, NULL};
    char owner[96];
    if (!stn_fields_push(f, "material")) {
        return;
    }
    if (lua_istable(f->L, -1)) {
        snprintf(owner, sizeof owner, "%s: material", f->owner);
        stn_fields own = stn_fields_open(f->L, -1, owner, keys, 0);
        stn_fields_text(&own, "name"); // what it is called is up to the script
        stn_fields_above_zero(&own, "density", "kg/m^3", &out->density);
        stn_fields_material(&own, &out->material);
        read_field(&own, &out->field);
        lua_pop(f->L, 1);
        return;
    }
    lua_pop(f->L, 1);
    snprintf(owner, sizeof owner, "%s: the table of materials", f->owner);
    const stn_named_material *named = find_material(f->L, owner, stn_fields_text(f, "material"));
    out->material = named->surface;
    out->density = named->density;
}

void stn_fields_surface(const stn_fields *f, stn_lua_surface *out) {
    *out = (stn_lua_surface){.asked = stn_material_unset(),
                             .material = stn_material_unset(),
                             .field = stn_field_spec_unset(),
                             .density = (double)NAN};
    read_material(f, out);
    stn_fields_material(f, &out->asked);
    if (!isnan(out->asked.mu)) { // alone it means both
        out->material.mu_static = (double)NAN;
    }
    stn_fields_material(f, &out->material);
    read_field(f, &out->field);
    out->asked.dissipation = out->material.dissipation; // no material has one by its name
}

/// stn.material "steel": its density, mu, mu_static and modulus.
static int material_by_name(lua_State *L) {
    const stn_named_material *m = find_material(L, "stn.material: the table of materials", luaL_checkstring(L, 1));
    lua_createtable(L, 0, 5);
    lua_pushstring(L, m->name);
    lua_setfield(L, -2, "name");
    stn_lua_set_number(L, "density", m->density);
    stn_lua_set_number(L, "mu", m->surface.mu);
    stn_lua_set_number(L, "mu_static", isnan(m->surface.mu_static) ? m->surface.mu : m->surface.mu_static);
    stn_lua_set_number(L, "modulus", m->surface.modulus);
    return 1;
}

const luaL_Reg stn_lua_material_functions[] = {
    {"material", material_by_name},
    {NULL, NULL},
};

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
/// `word`: the capability of those that use the key.
static void warn_unread(const stn_fields *f, const stn_world *world, const char *key, const char *word,
                        bool effective) {
    const stn_instance *law = stn_world_plugin(world, STN_KIND_LAW);
    const stn_instance *solver = stn_world_plugin(world, STN_KIND_SOLVER);
    const stn_instance *contact = stn_world_plugin(world, STN_KIND_CONTACT);
    char once[64];
    snprintf(once, sizeof once, "material.%s", key);
    if (!effective || has_word(law, word) || has_word(solver, word) || has_word(contact, word) ||
        !stn_lua_first_time(f->L, once)) {
        return;
    }
    stn_lua_where(f->L);
    stn_log(stn_lua_session(f->L)->context, STN_LOG_WARNING,
            "%s%s: %s has no effect: neither law %s nor solver %s nor contact %s uses it", lua_tostring(f->L, -1),
            f->owner, key, id_of(law), id_of(solver), id_of(contact));
    lua_pop(f->L, 1);
}

void stn_fields_warn_dissipation(const stn_fields *f, const stn_world *world, const stn_material *given) {
    warn_unread(f, world, "dissipation", "dissipation", given->dissipation > 0.0);
}

void stn_fields_warn_unread(const stn_fields *f, const stn_world *world, const stn_material *given) {
    stn_fields_warn_dissipation(f, world, given);
    warn_unread(f, world, "modulus", "modulus", isfinite(given->modulus));
}

void stn_fields_warn_modulus(const stn_fields *f, const stn_material *given) {
    if (isfinite(given->modulus) && stn_lua_first_time(f->L, "pair.modulus")) {
        stn_lua_where(f->L);
        stn_log(stn_lua_session(f->L)->context, STN_LOG_WARNING,
                "%s%s: modulus has no effect on a pair: give it to the body that is to be compliant",
                lua_tostring(f->L, -1), f->owner);
        lua_pop(f->L, 1);
    }
}

void stn_fields_warn_field(const stn_fields *f, const stn_world *world, const stn_field_spec *given) {
    warn_unread(f, world, "resolution", "modulus", !isnan(given->resolution));
    warn_unread(f, world, "field_margin", "modulus", given->margin > 0.0);
    warn_unread(f, world, "slab_thickness", "modulus", !isnan(given->thickness));
}

void stn_fields_warn_restitution(const stn_fields *f, const stn_world *world, const stn_material *given) {
    bool law = stn_world_plugin(world, STN_KIND_LAW) != NULL; // without one Newton's law of impact holds
    warn_unread(f, world, "restitution", "restitution", law && given->restitution > 0.0);
}
