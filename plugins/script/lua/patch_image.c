// SPDX-License-Identifier: Apache-2.0
// patch:image { ... }: the pressure in a patch as rows of numbers, as a touch sensor would have it. The plane is the xy
// plane of a frame that a link carries, or, without one, that through the center of pressure across the mean normal.
#include <math.h>

#include "patch.h"

static const double ALONG = 0.9; // an axis that leans less than 26 degrees from the normal gives no direction across it

/// The pose X_WF that a frame has now, where it was a step ago: contacts are those of the step's start. To second order
/// in dt, exact for free bodies under symplectic stepping.
static stn_pose a_step_ago(const stn_observation *o, int32_t body, stn_pose now) {
    stn_vec3 turn = stn_vec3_scale(-o->dt, o->kinematics->body_velocity[body].angular);
    stn_mat3 back = stn_quat_matrix(stn_quat_exp(turn));
    return (stn_pose){stn_mat3_mul(&back, &now.rotation),
                      stn_vec3_mul_add(now.position, -o->dt, stn_point_velocity(o->kinematics, body, now.position))};
}

/// z along the normal, x as far along an axis of the body as it can be: the same from step to step.
static stn_mat3 axes_across(stn_vec3 z, const stn_mat3 *body) {
    stn_vec3 x = stn_mat3_column(body, 0);
    if (fabs(stn_vec3_dot(x, z)) > ALONG) {
        x = stn_mat3_column(body, 1);
    }
    x = stn_vec3_mul_add(x, -stn_vec3_dot(x, z), z);
    x = stn_vec3_scale(1.0 / stn_vec3_norm(x), x);
    stn_vec3 y = stn_vec3_cross(z, x);
    return (stn_mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
}

static stn_pose own_pose(const patch_object *patch, const stn_observation *o) {
    stn_pose body = a_step_ago(o, patch->axes_body, o->kinematics->body_pose[patch->axes_body]);
    stn_vec3 normal = patch->report.normal;
    if (!(stn_vec3_norm(normal) > 0.5)) { // all around: nothing lies across
        normal = stn_mat3_column(&body.rotation, 2);
    }
    return (stn_pose){axes_across(normal, &body.rotation), patch->report.center};
}

/// The frame that `link`, xyz and rpy or quat give; false without a link.
static bool read_frame(const stn_fields *f, const patch_object *patch, const stn_observation *o, stn_pose *pose) {
    stn_pose in_link = stn_pose_identity();
    bool placed = stn_fields_pose_here(f, &in_link);
    if (!stn_fields_push(f, "link")) {
        if (placed) {
            stn_lua_fail(f->L, "%s: a pose places the image in a link; give link = ... too", f->owner);
        }
        return false;
    }
    stn_link_range links = stn_lua_links(f->L, -1, patch->world, f->owner);
    if (links.count != 1) {
        stn_lua_fail(f->L, "%s: link = a robot of %d links; name one, { robot, \"link\" }", f->owner, (int)links.count);
    }
    lua_pop(f->L, 1);
    stn_pose now = stn_lua_link_pose(patch->world, links.start);
    stn_pose then = a_step_ago(o, o->model->links[links.start].body, now);
    *pose = stn_pose_mul(&then, &in_link);
    return true;
}

/// One number, or { x, y }.
static bool read_extent(const stn_fields *f, stn_patch_image *image) {
    if (!stn_fields_push(f, "extent")) {
        return false;
    }
    bool one = lua_type(f->L, -1) != LUA_TTABLE;
    lua_pop(f->L, 1);
    double extent[2] = {0.0, 0.0};
    if (one) {
        stn_fields_above_zero(f, "extent", "m", &extent[0]);
        extent[1] = extent[0];
    } else {
        stn_fields_reals(f, "extent", "m", 2, extent);
    }
    if (!(extent[0] > 0.0 && extent[1] > 0.0)) {
        stn_lua_fail(f->L, "%s: extent = { %g, %g } m must be > 0", f->owner, extent[0], extent[1]);
    }
    image->extent_x = extent[0];
    image->extent_y = extent[1];
    return true;
}

/// Square pixels, as small as they can be with the whole patch in the image.
static void fit_extent(const patch_object *patch, const stn_contact_set *set, stn_patch_image *image) {
    double x = 0.0, y = 0.0;
    for (int32_t k = 0; k < patch->count; k++) {
        const stn_patch *p = &set->patches[patch->patches[k]];
        for (int32_t i = p->contact_start; i < p->contact_start + p->contact_count; i++) {
            const stn_contact *c = &set->contacts[i];
            for (int32_t v = c->vertex_start; v < c->vertex_start + c->vertex_count; v++) {
                stn_vec3 at = stn_pose_apply_inverse(&image->pose, set->vertices[v]);
                x = fmax(x, fabs(at.x));
                y = fmax(y, fabs(at.y));
            }
        }
    }
    double pixel = 2.0 * (1.0 + 1e-9) * fmax(x / image->width, y / image->height);
    image->extent_x = pixel * image->width;
    image->extent_y = pixel * image->height;
}

/// Rows of numbers, with what they mean.
static void push_image(lua_State *L, const stn_patch_image *image, const double *pressure) {
    double pixel_area = image->extent_x / image->width * (image->extent_y / image->height), sum = 0.0, max = 0.0;
    lua_createtable(L, image->height, 7);
    for (int32_t y = 0; y < image->height; y++) {
        const double *row = &pressure[(size_t)y * (size_t)image->width];
        stn_lua_push_reals(L, row, image->width);
        lua_rawseti(L, -2, y + 1);
        for (int32_t x = 0; x < image->width; x++) {
            sum += row[x];
            max = fmax(max, row[x]);
        }
    }
    const double extent[2] = {image->extent_x, image->extent_y};
    lua_pushinteger(L, image->width);
    lua_setfield(L, -2, "width");
    lua_pushinteger(L, image->height);
    lua_setfield(L, -2, "height");
    stn_lua_push_reals(L, extent, 2);
    lua_setfield(L, -2, "extent");
    stn_lua_set_number(L, "pixel_area", pixel_area);
    stn_lua_set_number(L, "force", sum * pixel_area);
    stn_lua_set_number(L, "max_pressure", max);
    stn_lua_push_pose(L, &image->pose);
    lua_setfield(L, -2, "pose");
}

/// The patch at stack index 1, whose contacts are still there.
static const patch_object *check_present(lua_State *L, const char *owner) {
    const patch_object *patch = luaL_checkudata(L, 1, STN_LUA_PATCH);
    if (patch->world->world == NULL) {
        stn_lua_fail(L, "%s: the world is closed", owner);
    }
    if (patch->world->made != patch->made || stn_world_observation(patch->world->world)->problem == NULL) {
        stn_lua_fail(L, "%s: the patch's step is over; ask the world for its patches again", owner);
    }
    return patch;
}

int stn_lua_patch_image(lua_State *L) {
    static const char *const keys[] = {"width", "height", "extent", "link", STN_POSE_KEYS, NULL};
    static const char owner[] = "patch:image";
    const patch_object *patch = check_present(L, owner);
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_newtable(L);
        lua_replace(L, 2);
    }
    stn_fields f = stn_fields_open(L, 2, owner, keys, 0);
    const stn_observation *o = stn_world_observation(patch->world->world);
    lua_Integer width = 32, height = 32;
    stn_patch_image image = {.width = 0};
    stn_fields_integer(&f, "width", 1, STN_PATCH_IMAGE_MAX, &width);
    stn_fields_integer(&f, "height", 1, STN_PATCH_IMAGE_MAX, &height);
    image.width = (int32_t)width;
    image.height = (int32_t)height;
    bool carried = read_frame(&f, patch, o, &image.pose), sized = read_extent(&f, &image);
    if (carried && !sized) {
        stn_lua_fail(L, "%s: extent is missing; an image that a link carries has a size, extent = { x, y } in m",
                     owner);
    }
    if (!carried) {
        image.pose = own_pose(patch, o);
    }
    if (!sized) {
        fit_extent(patch, o->contacts, &image);
    }
    size_t pixels = (size_t)image.width * (size_t)image.height;
    double *pressure = lua_newuserdatauv(L, sizeof(double) * pixels, 0);
    for (size_t i = 0; i < pixels; i++) {
        pressure[i] = 0.0;
    }
    stn_error err = {0};
    for (int32_t k = 0; k < patch->count; k++) {
        stn_lua_check(L, stn_observation_patch_image(o, patch->patches[k], &image, pressure, &err), &err);
    }
    push_image(L, &image, pressure);
    return 1;
}
