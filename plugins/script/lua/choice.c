// SPDX-License-Identifier: Apache-2.0
// Plugin choices: "sap" or { "sap", tolerance = 1e-6 }, with what the command line overrides.
#include <stdio.h>
#include <string.h>

#include "bind.h"

/// A choice under construction: memory from Lua, so that an error frees it.
typedef struct choice_builder {
    lua_State *L;
    stn_plugin_choice choice;
    stn_setting *settings;
    int32_t capacity;
    const char *where, *owner;
} choice_builder;

static bool listed(const char *const *names, const char *name) {
    for (; names != NULL && *names != NULL; names++) {
        if (strcmp(*names, name) == 0) {
            return true;
        }
    }
    return false;
}

/// A list of numbers becomes the text "a b c", one of texts "a, b, c": what a plugin's text parameter can hold. Pushes
/// it.
static const char *push_list(choice_builder *b, int index, const char *name) {
    lua_State *L = b->L;
    int list = lua_absindex(L, index);
    char what[160];
    snprintf(what, sizeof what, "%s: %s", b->owner, name);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    if (count == 0) {
        stn_lua_fail(L, "%s must be a number, text, true, false or a list of numbers or texts", what);
    }
    lua_pushliteral(L, "");
    for (lua_Integer i = 1; i <= count; i++) {
        char number[40];
        if (lua_rawgeti(L, list, i) == LUA_TSTRING) {
            lua_pushstring(L, i > 1 ? ", " : "");
            lua_insert(L, -2);
            lua_concat(L, 3);
            continue;
        }
        snprintf(number, sizeof number, "%s%.17g", i > 1 ? " " : "", stn_lua_real(L, -1, what, "as the plugin says"));
        lua_pop(L, 1);
        lua_pushstring(L, number);
        lua_concat(L, 2);
    }
    return lua_tostring(L, -1);
}

/// The pair at the top of the stack (key, value) as a setting. May push a text that must stay.
static void read_setting(choice_builder *b, const char *name, int value) {
    lua_State *L = b->L;
    stn_setting s = {.name = name, .where = b->where};
    switch (lua_type(L, value)) {
    case LUA_TNUMBER:
        s.form = STN_SETTING_NUMBER;
        s.number = lua_tonumber(L, value);
        break;
    case LUA_TBOOLEAN:
        s.form = STN_SETTING_BOOL;
        s.number = lua_toboolean(L, value) != 0 ? 1.0 : 0.0;
        break;
    case LUA_TSTRING:
        s.form = STN_SETTING_TEXT;
        s.text = lua_tostring(L, value);
        break;
    case LUA_TTABLE:
        s.form = STN_SETTING_TEXT;
        s.text = push_list(b, value, name);
        break;
    default:
        stn_lua_fail(L, "%s: %s must be a number, text, true or false, got %s", b->owner, name,
                     luaL_typename(L, value));
    }
    b->settings[b->choice.setting_count++] = s;
}

/// Room for the table's keys; pushes the memory and the position text.
static choice_builder begin(lua_State *L, int table, const char *owner) {
    choice_builder b = {.L = L, .owner = owner};
    luaL_checkstack(L, 80, "too many plugin settings");
    if (table != 0) {
        for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
            b.capacity++;
        }
    }
    b.settings = lua_newuserdatauv(L, sizeof(stn_setting) * (size_t)(b.capacity + 1), 0);
    stn_lua_position(L);
    b.where = lua_tostring(L, -1);
    b.choice.settings = b.settings;
    return b;
}

/// Reads id and settings of a table; keys in `own` are not settings.
static void read_table(choice_builder *b, int table, const char *const *own) {
    lua_State *L = b->L;
    lua_rawgeti(L, table, 1);
    if (lua_type(L, -1) != LUA_TSTRING && !lua_isnil(L, -1)) {
        stn_lua_fail(L, "%s: the first entry must be a plugin's name, got %s", b->owner, luaL_typename(L, -1));
    }
    b->choice.id = lua_tostring(L, -1);
    lua_pop(L, 1);
    // Texts that lists become must outlive the traversal: they are moved below it, one slot each.
    int32_t count = 0;
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) != 1) {
                stn_lua_fail(L, "%s: only the plugin's name stands without a key", b->owner);
            }
            continue;
        }
        const char *name = lua_tostring(L, -2);
        if (listed(own, name)) {
            continue;
        }
        int value = lua_gettop(L), before = value;
        luaL_checkstack(L, 8, "too many plugin settings");
        read_setting(b, name, value);
        if (lua_gettop(L) > before) {
            lua_insert(L, before - 1); // text, key, value
        }
        if (++count > 64) {
            stn_lua_fail(L, "%s: more than 64 settings", b->owner);
        }
    }
}

/// Scripts are code: they may name the file of a plugin, as the command line may.
void stn_lua_load_plugin(lua_State *L, stn_kind kind, const char *id) {
    stn_error err = {0};
    stn_lua_check(L, id != NULL ? stn_plugin_load(stn_lua_session(L)->context, kind, id, &err) : STN_OK, &err);
}

stn_plugin_choice stn_fields_plugin(const stn_fields *f, const char *key) {
    lua_State *L = f->L;
    const char *owner = lua_pushfstring(L, "%s: %s", f->owner, key);
    int type = lua_getfield(L, f->table, key);
    int value = lua_gettop(L);
    choice_builder b = begin(L, type == LUA_TTABLE ? value : 0, owner);
    if (type == LUA_TTABLE) {
        read_table(&b, value, NULL);
    } else if (type == LUA_TSTRING) {
        b.choice.id = lua_tostring(L, value);
    } else if (type != LUA_TNIL) {
        stn_lua_fail(L, "%s must be a plugin's name or { \"name\", parameter = value }, got %s", owner,
                     lua_typename(L, type));
    }
    return b.choice;
}

void stn_lua_override(lua_State *L, stn_kind kind, stn_plugin_choice *choice) {
    stn_script_host *host = stn_lua_session(L)->host;
    stn_error err = {0};
    if (host != NULL) {
        stn_lua_check_host(L, host->ops->choose(host, stn_kind_name(kind), choice, &err), &err);
    }
    stn_lua_load_plugin(L, kind, choice->id);
}

/// In a script a number is a number; only files and the command line spell them as texts.
static void refuse_spelled_numbers(lua_State *L, stn_kind kind, const choice_builder *b) {
    const stn_plugin_info *plugin = NULL;
    stn_error err = {0};
    if (stn_plugin_find(stn_lua_session(L)->context, kind, b->choice.id, &plugin, &err) != STN_OK) {
        return; // creating it will say so
    }
    for (int32_t i = 0; i < b->choice.setting_count; i++) {
        const stn_setting *s = &b->settings[i];
        for (int32_t k = 0; s->form == STN_SETTING_TEXT && k < plugin->desc->param_count; k++) {
            const stn_param *p = &plugin->desc->params[k];
            bool number = p->type == STN_PARAM_TYPE_REAL || p->type == STN_PARAM_TYPE_INT;
            if (number && strcmp(p->name, s->name) == 0) {
                stn_lua_fail(L, "%s: %s must be a number, got the text or list \"%s\"", b->owner, s->name, s->text);
            }
        }
    }
}

stn_plugin_choice stn_lua_plugin(lua_State *L, int index, stn_kind kind, const char *owner, const char *const *own) {
    int table = lua_absindex(L, index);
    choice_builder b = begin(L, table, owner);
    read_table(&b, table, own);
    if (b.choice.id == NULL) {
        stn_lua_fail(L, "%s: the first entry must be a plugin's name, as in { \"name\", ... }", owner);
    }
    stn_lua_load_plugin(L, kind, b.choice.id);
    refuse_spelled_numbers(L, kind, &b);
    return b.choice;
}
