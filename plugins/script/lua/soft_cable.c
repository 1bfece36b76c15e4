// SPDX-License-Identifier: Apache-2.0
// world:cable { ... }: from a table to a line of nodes, its material and what holds it.
#include <math.h>

#include "soft.h"

enum { POINTS_MAX = 1000000, SEGMENTS_MAX = 100000 };

static const double water = 1000.0; // density that is taken where nothing is told [kg/m^3]

/// The line of nodes that `points` and `segments` make.
static void make_line(const stn_fields *f, stn_soft_mesh **mesh) {
    lua_State *L = f->L;
    const int top = lua_gettop(L);
    lua_Integer segments = 20;
    char what[128];
    if (!stn_fields_push(f, "points")) {
        stn_lua_fail(L, "%s: points is missing; give the places that it runs through, { { x, y, z }, ... }", f->owner);
    }
    const int list = lua_gettop(L);
    const lua_Integer count = lua_type(L, list) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, list) : 0;
    if (count < 2 || count > POINTS_MAX) {
        stn_lua_fail(L, "%s: points must be a list of 2 to %d places, { { x, y, z }, ... }", f->owner, POINTS_MAX);
    }
    stn_fields_integer(f, "segments", 1, SEGMENTS_MAX, &segments);
    double *points = lua_newuserdatauv(L, 3 * (size_t)count * sizeof *points, 0);
    for (lua_Integer i = 0; i < count; i++) {
        (void)snprintf(what, sizeof what, "%.80s: points[%d]", f->owner, (int)i + 1);
        lua_rawgeti(L, list, i + 1);
        stn_lua_reals(L, -1, what, "m", 3, &points[3 * i]);
        lua_pop(L, 1);
    }
    stn_error err = {0};
    if (stn_soft_mesh_line(stn_lua_session(L)->context, (int32_t)count, points, (int32_t)segments, mesh, &err) < 0) {
        stn_lua_fail(L, "%s: %s", f->owner, err.text);
    }
    lua_settop(L, top);
}

static void read_section(const stn_fields *f, const stn_lua_surface *surface, stn_soft_cable_spec *spec) {
    static const char *const rests[] = {"start", "straight", NULL};
    spec->density = spec->mass = NAN;
    if (!stn_fields_above_zero(f, "radius", "m", &spec->radius)) {
        stn_lua_fail(f->L, "%s: radius is missing; give that of the cross-section [m]", f->owner);
    }
    const bool dense = stn_fields_above_zero(f, "density", "kg/m^3", &spec->density);
    const bool weighed = stn_fields_above_zero(f, "mass", "kg", &spec->mass);
    if (!dense && !weighed) {
        spec->density = isnan(surface->density) ? water : surface->density;
    }
    spec->straight = stn_fields_choice(f, "rest", rests) == 1;
}

int stn_lua_world_cable(lua_State *L) {
    static const stn_lua_soft_number numbers[] = {
        {"young", "young", "Pa"}, {"poisson", "poisson", "1"}, {"damping", "rayleigh_stiffness", "s"}};
    static const char *const keys[] = {"name",
                                       "points",
                                       "segments",
                                       "radius",
                                       "density",
                                       "mass",
                                       "rest",
                                       "pose",
                                       STN_POSE_KEYS,
                                       "young",
                                       "poisson",
                                       "damping",
                                       "material",
                                       "mu",
                                       "mu_static",
                                       "stiffness",
                                       "relaxation_time",
                                       "dissipation",
                                       "restitution",
                                       "self_collision",
                                       "visual",
                                       "color",
                                       "category",
                                       "mask",
                                       "pinned",
                                       "attach",
                                       NULL};
    static const char owner[] = "world:cable";
    stn_lua_world *w = stn_lua_world_check(L, 1);
    const stn_fields f = stn_fields_open(L, 2, owner, keys, 0);
    stn_model_builder *builder = stn_lua_world_builder(L, w, owner);
    luaL_checkstack(L, 64, NULL);
    stn_soft_cable_spec spec = {.geometry = stn_geometry_spec_default(stn_shape_half_space())};
    stn_lua_surface surface;
    stn_setting settings[STN_COUNT(numbers)];
    stn_fields_surface(&f, &surface);
    stn_fields_warn_dissipation(&f, w->world, &surface.asked);
    read_section(&f, &surface, &spec);
    spec.element.setting_count = stn_lua_soft_settings(&f, numbers, STN_COUNT(numbers), &surface, settings);
    spec.element.settings = settings;
    spec.geometry.material = surface.material;
    spec.geometry.material.modulus = NAN; // it is the elements that yield
    stn_fields_boolean(&f, "self_collision", &spec.self_collision);
    stn_fields_boolean(&f, "visual", &spec.geometry.visual);
    stn_fields_color(&f, spec.geometry.rgba);
    stn_fields_filter(&f, &spec.geometry.category, &spec.geometry.mask);
    stn_fields_body_pose(&f, &spec.pose);
    stn_lua_soft_body *body = stn_lua_soft_push(L);
    const int kept = lua_gettop(L);
    make_line(&f, &body->mesh);
    spec.mesh = body->mesh;
    spec.attachments = stn_lua_soft_attachments(&f, w, spec.mesh, &spec.attachment_count);
    spec.name = stn_lua_soft_push_name(&f, w, "cable");
    stn_error err = {0};
    if (stn_soft_add_cable(builder, w->session->context, &spec, &body->parts, &err) < 0) {
        stn_lua_fail(L, "%s: %s", owner, err.text);
    }
    return stn_lua_soft_keep(L, kept, spec.name);
}
