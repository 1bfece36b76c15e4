// SPDX-License-Identifier: Apache-2.0
// stn.reference(name, value or world, options): what a test gives now against what is stored beside its script, in
// SCRIPT.reference.json:
//
//     { "format": "stiction-reference-1", "values": { "group: test: name": value, ... } }
//
// A value is a number, text, true or false, or a table of such; numbers are finite. With --approve what differs is
// stored in place of what was there.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <stiction/input.h>
#include <stiction/output.h>

#include "bind.h"

static const char format[] = "stiction-reference-1";
static const size_t largest_file = (size_t)1 << 26; // bytes
enum { DEEPEST = 16 };

/// One comparison. JSON trees are owned by Lua (stn_lua_own).
typedef struct comparison {
    lua_State *L;
    double absolute, relative;
    const char *unit; // "" when none is given
    bool of_world;    // numbers have the units of its coordinates
    char *text;       // the first difference, of `size` bytes
    size_t size;
} comparison;

static void release_tree(void *object) {
    cJSON_Delete(*(cJSON **)object);
}

/// A tree that goes with the userdata that it pushes.
static cJSON **own_tree(lua_State *L) {
    return stn_lua_own(L, sizeof(cJSON *), release_tree);
}

// -------------------------------------------------------------------------------------------------- values as trees

/// What was made, or an error.
static cJSON *made(lua_State *L, cJSON *item) {
    if (item == NULL) {
        stn_lua_fail(L, "stn.reference: out of memory");
    }
    return item;
}

/// Hangs a new item into the tree, so that it is owned before anything can fail.
static cJSON *hang(lua_State *L, cJSON *parent, const char *key, cJSON *item) {
    made(L, item);
    if (!(key != NULL ? cJSON_AddItemToObject(parent, key, item) : cJSON_AddItemToArray(parent, item))) {
        cJSON_Delete(item);
        made(L, NULL);
    }
    return item;
}

static cJSON *new_number(lua_State *L, double value, const char *path) {
    if (!isfinite(value)) {
        stn_lua_fail(L, "reference %s is %g; a reference needs finite numbers", path,
                     isnan(value) ? (double)NAN : value);
    }
    return cJSON_CreateNumber(value);
}

static void fill(lua_State *L, int index, cJSON *parent, const char *key, const char *path, int depth);

static void fill_table(lua_State *L, int table, cJSON *parent, const char *key, const char *path, int depth) {
    if (depth == DEEPEST || !lua_checkstack(L, 16)) {
        stn_lua_fail(L, "reference %s: tables lie more than %d deep", path, DEEPEST);
    }
    lua_Integer count = (lua_Integer)lua_rawlen(L, table);
    cJSON *item = hang(L, parent, key, count > 0 ? cJSON_CreateArray() : cJSON_CreateObject());
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, table, i);
        const char *entry = lua_pushfstring(L, "%s[%d]", path, (int)i);
        fill(L, lua_gettop(L) - 1, item, NULL, entry, depth + 1);
        lua_pop(L, 2);
    }
    if (count > 0) {
        return;
    }
    // members in the order of their names: tables have none
    size_t members = 0, given = 0;
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            stn_lua_fail(L, "reference %s: the table's keys must be texts, or 1 to n", path);
        }
        members++;
    }
    const char **keys = lua_newuserdatauv(L, sizeof *keys * (members + 1), 0);
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        keys[given++] = lua_tostring(L, -2);
    }
    qsort(keys, members, sizeof *keys, stn_lua_compare_names);
    for (size_t i = 0; i < members; i++) {
        lua_getfield(L, table, keys[i]);
        const char *member = lua_pushfstring(L, "%s.%s", path, keys[i]);
        fill(L, lua_gettop(L) - 1, item, keys[i], member, depth + 1);
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
}

/// The value at an absolute index as a member or an item of `parent`.
static void fill(lua_State *L, int index, cJSON *parent, const char *key, const char *path, int depth) {
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        hang(L, parent, key, new_number(L, lua_tonumber(L, index), path));
        break;
    case LUA_TBOOLEAN:
        hang(L, parent, key, cJSON_CreateBool(lua_toboolean(L, index)));
        break;
    case LUA_TSTRING:
        hang(L, parent, key, cJSON_CreateString(lua_tostring(L, index)));
        break;
    case LUA_TTABLE:
        fill_table(L, index, parent, key, path, depth);
        break;
    default:
        stn_lua_fail(L, "reference %s is a %s; numbers, texts, booleans, tables of them and worlds can be stored", path,
                     luaL_typename(L, index));
    }
}

/// Joints of one coordinate have no name for it; ours tells its unit.
static const char *coordinate_name(const stn_joint *joint, int32_t i, bool velocities) {
    const char *name = velocities ? stn_joint_velocity_name(joint->type, i) : stn_joint_coordinate_name(joint->type, i);
    if (name != NULL && name[0] != '\0') {
        return name;
    }
    bool slides = strcmp(stn_joint_type_units(joint->type)->position, "m") == 0;
    return velocities ? (slides ? "velocity" : "rate") : (slides ? "position" : "angle");
}

/// { "time_s", "group/joint": { "q_x", ..., "v_x", ... }, ... }
static void fill_world(lua_State *L, int index, cJSON *parent, const char *key, const char *path) {
    stn_lua_world *w = stn_lua_world_compiled(L, index);
    const stn_state *state = stn_world_state(w->world);
    const stn_model *model = stn_world_model(w->world);
    cJSON *object = hang(L, parent, key, cJSON_CreateObject());
    hang(L, object, "time_s", new_number(L, state->time, path));
    for (int32_t j = 0; j < model->joint_count; j++) {
        const stn_joint *joint = &model->joints[j];
        const char *name = lua_pushfstring(L, "%s/%s", stn_lua_group_name(w, joint->group), joint->name);
        const char *place = lua_pushfstring(L, "%s.%s", path, name);
        cJSON *part = hang(L, object, name, cJSON_CreateObject());
        for (int32_t i = 0; i < joint->nq + joint->nv; i++) {
            bool velocity = i >= joint->nq;
            int32_t k = velocity ? i - joint->nq : i;
            double value = velocity ? state->v[joint->v_start + k] : state->q[joint->q_start + k];
            char member[64];
            snprintf(member, sizeof member, "%s_%s", velocity ? "v" : "q", coordinate_name(joint, k, velocity));
            hang(L, part, member, new_number(L, value, lua_pushfstring(L, "%s.%s", place, member)));
            lua_pop(L, 1);
        }
        lua_pop(L, 2);
    }
}

// --------------------------------------------------------------------------------------------------------- comparing

/// "q_x" is a place, "v_wx" a rate of turning: what the names of coordinates say.
static const char *unit_of(const comparison *c, const char *key) {
    static const char *const units[][2] = {
        {"time_s", "s"},     {"q_x", "m"},      {"q_y", "m"},      {"q_z", "m"},     {"q_position", "m"},
        {"q_angle", "rad"},  {"v_vx", "m/s"},   {"v_vy", "m/s"},   {"v_vz", "m/s"},  {"v_velocity", "m/s"},
        {"v_rate", "rad/s"}, {"v_wx", "rad/s"}, {"v_wy", "rad/s"}, {"v_wz", "rad/s"}};
    for (int i = 0; c->of_world && key != NULL && i < STN_COUNT(units); i++) {
        if (strcmp(units[i][0], key) == 0) {
            return units[i][1];
        }
    }
    return c->of_world ? "" : c->unit;
}

static bool differ_number(comparison *c, const cJSON *item, const cJSON *other, const char *path) {
    double value = item->valuedouble, stored = other->valuedouble;
    double allowed = c->absolute + c->relative * fabs(stored), off = value - stored;
    if (fabs(off) <= allowed) {
        return false;
    }
    const char *unit = unit_of(c, item->string), *gap = unit[0] != '\0' ? " " : "";
    snprintf(c->text, c->size, "%s = %.10g%s%s, reference %.10g%s%s: off by %.4g%s%s, allowed %.4g%s%s", path, value,
             gap, unit, stored, gap, unit, off, gap, unit, allowed, gap, unit);
    return true;
}

static const char *kind_of(const cJSON *item) {
    return cJSON_IsNumber(item)   ? "a number"
           : cJSON_IsString(item) ? "a text"
           : cJSON_IsBool(item)   ? "true or false"
           : cJSON_IsArray(item)  ? "a list"
           : cJSON_IsObject(item) ? "a table"
                                  : "null";
}

/// Writes the first difference to c->text.
static bool differ(comparison *c, const cJSON *value, const cJSON *stored, const char *path) {
    luaL_checkstack(c->L, 8, "a reference lies too deep");
    if (cJSON_IsBool(value) ? !cJSON_IsBool(stored) : (value->type & 0xff) != (stored->type & 0xff)) {
        snprintf(c->text, c->size, "%s is %s, the reference %s", path, kind_of(value), kind_of(stored));
        return true;
    }
    if (cJSON_IsNumber(value)) {
        return differ_number(c, value, stored, path);
    }
    if (cJSON_IsObject(value)) {
        for (const cJSON *item = value->child; item != NULL; item = item->next) {
            const cJSON *other = cJSON_GetObjectItemCaseSensitive(stored, item->string);
            if (other == NULL) {
                snprintf(c->text, c->size, "%s has '%s', the reference has not", path, item->string);
                return true;
            }
            bool found = differ(c, item, other, lua_pushfstring(c->L, "%s.%s", path, item->string));
            lua_pop(c->L, 1);
            if (found) {
                return true;
            }
        }
        for (const cJSON *item = stored->child; item != NULL; item = item->next) {
            if (cJSON_GetObjectItemCaseSensitive(value, item->string) == NULL) {
                snprintf(c->text, c->size, "%s has no '%s', the reference has", path, item->string);
                return true;
            }
        }
        return false;
    }
    if (cJSON_IsArray(value)) {
        int count = cJSON_GetArraySize(value), expected = cJSON_GetArraySize(stored), i = 1;
        if (count != expected) {
            snprintf(c->text, c->size, "%s has %d entries, the reference %d", path, count, expected);
            return true;
        }
        const cJSON *other = stored->child;
        for (const cJSON *item = value->child; item != NULL; item = item->next, other = other->next, i++) {
            bool found = differ(c, item, other, lua_pushfstring(c->L, "%s[%d]", path, i));
            lua_pop(c->L, 1);
            if (found) {
                return true;
            }
        }
        return false;
    }
    bool same = cJSON_IsString(value) ? strcmp(value->valuestring, stored->valuestring) == 0
                                      : cJSON_IsTrue(value) == cJSON_IsTrue(stored);
    if (!same) {
        snprintf(c->text, c->size, "%s = %s, reference %s", path,
                 cJSON_IsString(value) ? value->valuestring
                 : cJSON_IsTrue(value) ? "true"
                                       : "false",
                 cJSON_IsString(stored) ? stored->valuestring
                 : cJSON_IsTrue(stored) ? "true"
                                        : "false");
    }
    return !same;
}

// -------------------------------------------------------------------------------------------------------------- files

static int line_of(const char *text, const char *at) {
    int line = 1;
    for (; text < at; text++) {
        line += *text == '\n';
    }
    return line;
}

/// The first number that JSON wrote too large, or a null: neither was stored by us.
static const char *find_broken(const cJSON *item) {
    for (; item != NULL; item = item->next) {
        if (cJSON_IsNull(item) || (cJSON_IsNumber(item) && !isfinite(item->valuedouble))) {
            return item->string != NULL ? item->string : "an entry";
        }
        const char *inside = find_broken(item->child);
        if (inside != NULL) {
            return item->string != NULL ? item->string : inside;
        }
    }
    return NULL;
}

/// Parses the file into `tree`; an empty one when there is no file. Returns its values.
static cJSON *read_values(lua_State *L, const lua_session *session, const char *path, cJSON **tree) {
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        *tree = made(L, cJSON_CreateObject());
        hang(L, *tree, "format", cJSON_CreateString(format));
        return hang(L, *tree, "values", cJSON_CreateObject());
    }
    char *text = NULL;
    size_t size = 0;
    stn_error err = {0};
    stn_lua_check(L, stn_read_regular(session->context, path, 0, largest_file, &text, &size, &err), &err);
    const char *end = text;
    *tree = cJSON_ParseWithLengthOpts(text, size, &end, false);
    int line = line_of(text, end);
    stn_release(session->context, text);
    if (*tree == NULL) {
        stn_lua_fail(L, "%s:%d: this is no JSON; correct it, or remove the file and approve anew", path, line);
    }
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(*tree, "format");
    cJSON *values = cJSON_GetObjectItemCaseSensitive(*tree, "values");
    if (!cJSON_IsString(kind) || strcmp(kind->valuestring, format) != 0 || !cJSON_IsObject(values)) {
        stn_lua_fail(L, "%s: needs \"format\": \"%s\" and a table \"values\"", path, format);
    }
    const char *broken = find_broken(values->child);
    if (broken != NULL) {
        stn_lua_fail(L, "%s: '%s' holds what is no finite number", path, broken);
    }
    return values;
}

// ---------------------------------------------------------------------------------------------------------- reference

static void take_options(lua_State *L, int index, comparison *c) {
    static const char *const keys[] = {"tolerance", "relative", "unit", NULL};
    c->relative = 1e-6;
    c->absolute = 1e-9;
    c->unit = "";
    if (lua_isnoneornil(L, index)) {
        return;
    }
    stn_fields f = stn_fields_open(L, index, "stn.reference", keys, 0);
    const char *unit = stn_fields_text(&f, "unit");
    c->unit = unit != NULL ? unit : "";
    bool absolute = stn_fields_at_least(&f, "tolerance", c->unit, 0.0, &c->absolute);
    bool relative = stn_fields_at_least(&f, "relative", "1", 0.0, &c->relative);
    c->relative = absolute && !relative ? 0.0 : c->relative;
    c->absolute = relative && !absolute ? 0.0 : c->absolute;
}

/// stn.reference(name, value or world, { tolerance =, relative =, unit = })
static int reference(lua_State *L) {
    lua_session *session = stn_lua_session(L);
    const char *name = luaL_checkstring(L, 1);
    char text[2048];
    comparison c = {.L = L, .text = text, .size = sizeof text};
    stn_lua_claim(L);
    lua_settop(L, 3);
    take_options(L, 3, &c);
    c.of_world = luaL_testudata(L, 2, STN_LUA_WORLD) != NULL;
    if (session->host == NULL) {
        stn_lua_fail(L, "stn.reference: needs a script that stiction test or stiction run runs");
    }
    const char *script = session->host->path; // "a/b.lua": "a/b.reference.json" beside it
    size_t length = strlen(script), ending = length > 4 && strcmp(script + length - 4, ".lua") == 0 ? 4 : 0;
    lua_pushlstring(L, script, length - ending);
    const char *path = lua_pushfstring(L, "%s.reference.json", lua_tostring(L, -1));
    const char *test = session->test_name != NULL ? session->test_name : "";
    const char *key = lua_pushfstring(L, "%s%s%s", test, test[0] != '\0' ? ": " : "", name);
    cJSON **holder = own_tree(L), **tree = own_tree(L);
    *holder = made(L, cJSON_CreateObject());
    if (c.of_world) {
        fill_world(L, 2, *holder, "value", name);
    } else {
        fill(L, 2, *holder, "value", name, 0);
    }
    cJSON *values = read_values(L, session, path, tree);
    const cJSON *stored = cJSON_GetObjectItemCaseSensitive(values, key);
    cJSON *value = cJSON_GetObjectItemCaseSensitive(*holder, "value");
    if (stored == NULL) {
        snprintf(text, sizeof text,
                 "reference '%s' is missing in %s: look at the value, then store it with stiction test --approve", key,
                 path);
    } else if (!differ(&c, value, stored, name)) {
        return 0;
    }
    if (!session->host->approve) {
        stn_lua_fail(L, "%s", text);
    }
    value = cJSON_DetachItemFromObjectCaseSensitive(*holder, "value");
    bool put = stored != NULL ? cJSON_ReplaceItemInObjectCaseSensitive(values, key, value)
                              : cJSON_AddItemToObject(values, key, value);
    if (!put) {
        cJSON_Delete(value);
        made(L, NULL);
    }
    char *file = cJSON_Print(*tree);
    if (file == NULL) {
        stn_lua_fail(L, "stn.reference: out of memory");
    }
    size_t size = strlen(file);
    stn_error err = {0};
    file[size] = '\n'; // in place of the end, which is not written
    stn_status status = stn_output_write(path, file, size + 1, &err);
    cJSON_free(file);
    stn_lua_check(L, status, &err);
    printf("approved: %s in %s (%s)\n", key, path, stored != NULL ? "changed" : "new");
    return 0;
}

const luaL_Reg stn_lua_reference_functions[] = {{"reference", reference}, {NULL, NULL}};
