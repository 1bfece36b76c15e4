// SPDX-License-Identifier: Apache-2.0
// Poses and velocities as tables: { xyz = {x, y, z}, quat = {w, x, y, z} } or rpy = {roll, pitch, yaw}.
#include <math.h>

#include "lua/bind.h"

bool stn_fields_pose_here(const stn_fields *f, stn_pose *out) {
    stn_pose pose = stn_pose_identity();
    bool any = stn_fields_vector(f, "xyz", "m", &pose.position);
    stn_vec3 rpy;
    bool turned = stn_fields_vector(f, "rpy", "rad", &rpy);
    if (turned) {
        pose.rotation = stn_mat3_from_rpy(rpy.x, rpy.y, rpy.z);
    }
    double q[4];
    if (stn_fields_reals(f, "quat", "1", 4, q)) {
        if (turned) {
            stn_lua_fail(f->L, "%s: give rpy or quat, not both", f->owner);
        }
        double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!(norm > 1e-6) || !isfinite(norm)) {
            stn_lua_fail(f->L, "%s: quat has length %g; it needs the four numbers {w, x, y, z} of a rotation", f->owner,
                         norm);
        }
        stn_quat quat = {q[0], q[1], q[2], q[3]};
        pose.rotation = stn_quat_matrix(stn_quat_normalize(quat));
        turned = true;
    }
    if (any || turned) {
        *out = pose;
    }
    return any || turned;
}

void stn_lua_pose(lua_State *L, int index, const char *owner, stn_pose *out) {
    static const char *const keys[] = {STN_POSE_KEYS, NULL};
    stn_fields f = stn_fields_open(L, index, owner, keys, 0);
    *out = stn_pose_identity();
    stn_fields_pose_here(&f, out);
}

bool stn_fields_pose(const stn_fields *f, const char *key, stn_pose *out) {
    if (!stn_fields_push(f, key)) {
        return false;
    }
    const char *owner = lua_pushfstring(f->L, "%s: %s", f->owner, key);
    stn_lua_pose(f->L, -2, owner, out);
    lua_pop(f->L, 2);
    return true;
}

void stn_lua_push_pose(lua_State *L, const stn_pose *pose) {
    stn_quat q = stn_quat_from_matrix(&pose->rotation);
    double components[4] = {q.w, q.x, q.y, q.z};
    lua_createtable(L, 0, 2);
    stn_lua_push_vector(L, pose->position);
    lua_setfield(L, -2, "xyz");
    stn_lua_push_reals(L, components, 4);
    lua_setfield(L, -2, "quat");
}

void stn_lua_velocity(lua_State *L, int index, const char *owner, stn_vec3 *linear, stn_vec3 *angular) {
    *linear = *angular = stn_vec3_zero();
    if (lua_type(L, index) == LUA_TTABLE && lua_rawlen(L, index) > 0) {
        *linear = stn_lua_vector(L, index, owner, "m/s");
        return;
    }
    static const char *const keys[] = {"linear", "angular", NULL};
    stn_fields f = stn_fields_open(L, index, owner, keys, 0);
    stn_fields_vector(&f, "linear", "m/s", linear);
    stn_fields_vector(&f, "angular", "rad/s", angular);
}

void stn_lua_push_velocity(lua_State *L, stn_vec3 linear, stn_vec3 angular) {
    lua_createtable(L, 0, 2);
    stn_lua_push_vector(L, linear);
    lua_setfield(L, -2, "linear");
    stn_lua_push_vector(L, angular);
    lua_setfield(L, -2, "angular");
}

// ---------------------------------------------------------------------------------------- functions of the module

static int pose_new(lua_State *L) {
    stn_pose pose;
    stn_lua_pose(L, 1, "stn.pose", &pose);
    stn_lua_push_pose(L, &pose);
    return 1;
}

static int pose_compose(lua_State *L) {
    stn_pose a, b;
    stn_lua_pose(L, 1, "stn.compose: first pose", &a);
    stn_lua_pose(L, 2, "stn.compose: second pose", &b);
    stn_pose ab = stn_pose_mul(&a, &b);
    stn_lua_push_pose(L, &ab);
    return 1;
}

static int pose_inverse(lua_State *L) {
    stn_pose pose;
    stn_lua_pose(L, 1, "stn.inverse", &pose);
    stn_pose inverse = stn_pose_inverse(&pose);
    stn_lua_push_pose(L, &inverse);
    return 1;
}

static int pose_transform(lua_State *L) {
    stn_pose pose;
    stn_lua_pose(L, 1, "stn.transform: pose", &pose);
    stn_vec3 point = stn_lua_vector(L, 2, "stn.transform: point", "m");
    stn_lua_push_vector(L, stn_pose_apply(&pose, point));
    return 1;
}

const luaL_Reg stn_lua_pose_functions[] = {
    {"pose", pose_new}, {"compose", pose_compose}, {"inverse", pose_inverse}, {"transform", pose_transform},
    {NULL, NULL},
};
