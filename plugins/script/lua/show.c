// SPDX-License-Identifier: Apache-2.0
// What pictures of a world show: world:camera and world:caption.
#include <math.h>
#include <string.h>

#include "bind.h"

static const double DEGREE = STN_PI / 180.0;

/// The camera stands at `position` and looks at its target.
static void read_position(const stn_fields *f, stn_camera *camera) {
    stn_vec3 position;
    if (!stn_fields_vector(f, "position", "m", &position)) {
        return;
    }
    static const char *const others[] = {"azimuth", "elevation", "distance", NULL};
    for (int32_t i = 0; others[i] != NULL; i++) {
        double ignored;
        if (stn_fields_real(f, others[i], i < 2 ? "deg" : "m", &ignored)) {
            stn_lua_fail(f->L, "%s: give position, or azimuth, elevation and distance, not both", f->owner);
        }
    }
    if (!camera->aimed) {
        stn_lua_fail(f->L,
                     "%s: position needs a target to look at; give target = {x, y, z}, or follow something with "
                     "azimuth, elevation and distance",
                     f->owner);
    }
    stn_vec3 back = stn_vec3_sub(position, camera->target);
    camera->distance = stn_vec3_norm(back);
    if (!(camera->distance > 0.0)) {
        stn_lua_fail(f->L, "%s: position and target are the same point", f->owner);
    }
    camera->azimuth = atan2(back.y, back.x);
    camera->elevation = asin(fmin(fmax(back.z / camera->distance, -1.0), 1.0));
}

/// follow = sides: the list of their geometries, on Lua's stack.
static void read_follow(const stn_fields *f, stn_lua_world *w, stn_camera *camera) {
    const stn_model *model = stn_world_model(w->world);
    size_t count = (size_t)model->geometry_count + 1;
    bool *marked = lua_newuserdatauv(f->L, count * sizeof *marked, 0);
    memset(marked, 0, count * sizeof *marked);
    if (!stn_fields_sides(f, "follow", w, marked)) {
        return;
    }
    int32_t *list = lua_newuserdatauv(f->L, count * sizeof *list, 0), number = 0;
    for (int32_t g = 0; g < model->geometry_count; g++) {
        if (marked[g] && model->geometries[g].shape.type != STN_SHAPE_HALF_SPACE) {
            list[number++] = g;
        }
    }
    if (number == 0) {
        stn_lua_fail(f->L, "%s: what it is to follow has no shapes", f->owner);
    }
    camera->follow = list;
    camera->follow_count = number;
    camera->aimed = false;
}

/// world:camera { follow =, target =, position =, azimuth =, elevation =, distance =, field_of_view =, seconds =,
/// smoothing = }: what is not given stays as it is, `seconds` is 0.
static int world_camera(lua_State *L) {
    static const char *const keys[] = {"follow",   "target",        "position", "azimuth",   "elevation",
                                       "distance", "field_of_view", "seconds",  "smoothing", NULL};
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    lua_settop(L, 2);
    stn_fields f = stn_fields_open(L, 2, "world:camera", keys, 0);
    const stn_camera *before = stn_world_camera(w->world);
    stn_camera camera = before != NULL ? *before : stn_camera_default();
    camera.seconds = 0.0;
    bool aimed = stn_fields_vector(&f, "target", "m", &camera.target);
    if (aimed && stn_fields_push(&f, "follow")) {
        stn_lua_fail(L, "%s: give follow or target, not both", f.owner);
    }
    if (aimed) {
        camera.aimed = true;
        camera.follow_count = 0;
    }
    read_follow(&f, w, &camera);
    read_position(&f, &camera);
    double degrees;
    if (stn_fields_real(&f, "azimuth", "deg", &degrees)) {
        camera.azimuth = degrees * DEGREE;
    }
    if (stn_fields_real(&f, "elevation", "deg", &degrees)) {
        if (fabs(degrees) > 90.0) {
            stn_lua_fail(L, "%s: elevation = %g deg must be between -90 and 90", f.owner, degrees);
        }
        camera.elevation = degrees * DEGREE;
    }
    if (stn_fields_real(&f, "field_of_view", "deg", &degrees)) {
        if (!(degrees >= 1.0 && degrees <= 120.0)) {
            stn_lua_fail(L, "%s: field_of_view = %g deg must be between 1 and 120", f.owner, degrees);
        }
        camera.field_of_view = degrees * DEGREE;
    }
    stn_fields_at_least(&f, "distance", "m", 0.0, &camera.distance);
    stn_fields_at_least(&f, "seconds", "s", 0.0, &camera.seconds);
    stn_fields_at_least(&f, "smoothing", "s", 0.0, &camera.smoothing);
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_camera(w->world, &camera, &err), &err);
    return 0;
}

/// world:caption(text)
static int world_caption(lua_State *L) {
    stn_lua_world *w = stn_lua_world_compiled(L, 1);
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);
    luaL_argcheck(L, strlen(text) == size, 2, "a text without the character \\0 expected");
    stn_error err = {0};
    stn_lua_check(L, stn_world_set_caption(w->world, text, &err), &err);
    return 0;
}

const luaL_Reg stn_lua_show_methods[] = {{"camera", world_camera}, {"caption", world_caption}, {NULL, NULL}};
