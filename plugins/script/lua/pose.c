// SPDX-License-Identifier: Apache-2.0
// Poses and velocities as tables: { xyz = {x, y, z} } with one of quat, rpy, rotation_vector, matrix and axes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind.h"

/// How far a matrix may be from a rotation, and axes from perpendicular, before they are refused: numbers that were
/// written with six digits pass.
#define ROTATION_TOLERANCE 1e-5

/// The rotation next to columns that are one within the tolerance.
static stn_mat3 settle(stn_vec3 x, stn_vec3 y, stn_vec3 z) {
    stn_mat3 columns = stn_mat3_columns(x, y, z);
    return stn_quat_matrix(stn_quat_normalize(stn_quat_from_matrix(&columns)));
}

// ---------------------------------------------------------------------------------------------------------- rotations

static bool read_rpy(const stn_fields *f, stn_mat3 *out) {
    stn_vec3 rpy;
    if (!stn_fields_vector(f, "rpy", "rad", &rpy)) {
        return false;
    }
    *out = stn_mat3_from_rpy(rpy.x, rpy.y, rpy.z);
    return true;
}

static bool read_quat(const stn_fields *f, stn_mat3 *out) {
    double q[4];
    if (!stn_fields_reals(f, "quat", "1", 4, q)) {
        return false;
    }
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(norm > 1e-6) || !isfinite(norm)) {
        stn_lua_fail(f->L, "%s: quat has length %g; it needs the four numbers {w, x, y, z} of a rotation", f->owner,
                     norm);
    }
    stn_quat quat = {q[0], q[1], q[2], q[3]};
    *out = stn_quat_matrix(stn_quat_normalize(quat));
    return true;
}

static bool read_rotation_vector(const stn_fields *f, stn_mat3 *out) {
    stn_vec3 u;
    if (!stn_fields_vector(f, "rotation_vector", "rad", &u)) {
        return false;
    }
    *out = stn_quat_matrix(stn_quat_exp(u));
    return true;
}

/// { { r11, r12, r13 }, ... }: a rotation, by rows.
static bool read_matrix(const stn_fields *f, stn_mat3 *out) {
    lua_State *L = f->L;
    if (!stn_fields_push(f, "matrix")) {
        return false;
    }
    if (lua_type(L, -1) != LUA_TTABLE || lua_rawlen(L, -1) != 3) {
        stn_lua_fail(L, "%s: matrix must be a list of three rows, each {x, y, z}", f->owner);
    }
    for (int i = 0; i < 3; i++) {
        lua_rawgeti(L, -1, i + 1);
        const char *what = lua_pushfstring(L, "%s: matrix[%d]", f->owner, i + 1);
        stn_lua_reals(L, -2, what, "1", 3, out->m[i]);
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
    stn_vec3 x = stn_mat3_column(out, 0), y = stn_mat3_column(out, 1), z = stn_mat3_column(out, 2);
    double products[] = {stn_vec3_dot(x, x) - 1.0, stn_vec3_dot(y, y) - 1.0, stn_vec3_dot(z, z) - 1.0,
                         stn_vec3_dot(x, y),       stn_vec3_dot(y, z),       stn_vec3_dot(z, x)};
    for (int i = 0; i < STN_COUNT(products); i++) {
        if (!(fabs(products[i]) <= ROTATION_TOLERANCE)) {
            stn_lua_fail(L, "%s: matrix is no rotation: R^T R differs from the unit matrix by %g", f->owner,
                         products[i]);
        }
    }
    if (stn_vec3_dot(stn_vec3_cross(x, y), z) < 0.0) {
        stn_lua_fail(L, "%s: matrix mirrors: its determinant is -1, that of a rotation is 1", f->owner);
    }
    *out = settle(x, y, z);
    return true;
}

/// (x, y, z) -> (z, x, y) for `turns` = 1: cyclic, so that what holds for z holds for any axis.
static stn_vec3 cycle(stn_vec3 v, int turns) {
    return turns == 0 ? v : cycle(stn_vec3_make(v.z, v.x, v.y), turns - 1);
}

/// axes = { x =, y =, z = }: directions of the frame's axes, of any length, one or more of them.
static bool read_axes(const stn_fields *f, stn_mat3 *out) {
    static const char *const names[] = {"x", "y", "z", NULL};
    lua_State *L = f->L;
    if (!stn_fields_push(f, "axes")) {
        return false;
    }
    int top = lua_gettop(L);
    const char *owner = lua_pushfstring(L, "%s: axes", f->owner);
    stn_fields g = stn_fields_open(L, top, owner, names, 0);
    stn_vec3 axis[3];
    int given[3] = {-1, -1, -1}, count = 0;
    for (int i = 0; i < 3; i++) {
        if (stn_fields_vector(&g, names[i], "1", &axis[i])) {
            axis[i] = stn_vec3_normalize_or(axis[i], stn_vec3_zero());
            given[count++] = i;
            if (stn_vec3_norm(axis[i]) == 0.0) {
                stn_lua_fail(L, "%s: %s = {0, 0, 0} is no direction", owner, names[i]);
            }
        }
    }
    if (count == 0) {
        stn_lua_fail(L, "%s: give at least one of x, y, z as a direction {x, y, z}", owner);
    }
    if (count == 1) {
        // by the shortest turn
        int i = given[0], to_z = 2 - i, back = (i + 1) % 3;
        stn_vec3 x, y;
        stn_plane_axes(cycle(axis[i], to_z), &x, &y);
        axis[(i + 1) % 3] = cycle(x, back);
        axis[(i + 2) % 3] = cycle(y, back);
    } else {
        int a = given[0], b = given[1], c = 3 - a - b;
        double cosine = stn_vec3_dot(axis[a], axis[b]);
        if (!(fabs(cosine) <= ROTATION_TOLERANCE)) {
            stn_lua_fail(L, "%s: %s and %s are not perpendicular, the cosine between them is %g", owner, names[a],
                         names[b], cosine);
        }
        stn_vec3 third = stn_vec3_scale(b == a + 1 ? 1.0 : -1.0, stn_vec3_cross(axis[a], axis[b]));
        if (count == 3 && !(stn_vec3_dot(third, axis[c]) >= 1.0 - ROTATION_TOLERANCE)) {
            stn_lua_fail(L, "%s: z is not x cross y; leave one of the three out", owner);
        }
        axis[c] = third;
    }
    lua_settop(L, top - 1);
    *out = settle(axis[0], axis[1], axis[2]);
    return true;
}

// -------------------------------------------------------------------------------------------------------------- poses

bool stn_lua_is_pose(lua_State *L, int index) {
    static const char *const keys[] = {STN_POSE_KEYS};
    int table = lua_absindex(L, index);
    bool found = false;
    for (int i = 0; i < STN_COUNT(keys) && !found && lua_type(L, table) == LUA_TTABLE; i++) {
        lua_pushstring(L, keys[i]);
        found = lua_rawget(L, table) != LUA_TNIL;
        lua_pop(L, 1);
    }
    return found;
}

bool stn_fields_pose_here(const stn_fields *f, stn_pose *out) {
    static const struct {
        const char *name;
        bool (*read)(const stn_fields *f, stn_mat3 *out);
    } forms[] = {{"rpy", read_rpy},
                 {"quat", read_quat},
                 {"rotation_vector", read_rotation_vector},
                 {"matrix", read_matrix},
                 {"axes", read_axes}};
    stn_pose pose = stn_pose_identity();
    bool any = stn_fields_vector(f, "xyz", "m", &pose.position);
    const char *turned = NULL;
    for (int i = 0; i < STN_COUNT(forms); i++) {
        stn_mat3 rotation;
        if (forms[i].read(f, &rotation)) {
            if (turned != NULL) {
                stn_lua_fail(f->L, "%s: give %s or %s, not both", f->owner, turned, forms[i].name);
            }
            turned = forms[i].name;
            pose.rotation = rotation;
        }
    }
    if (any || turned != NULL) {
        *out = pose;
    }
    return any || turned != NULL;
}

void stn_lua_pose(lua_State *L, int index, const char *owner, stn_pose *out) {
    static const char *const keys[] = {STN_POSE_KEYS, NULL};
    stn_fields f = stn_fields_open(L, index, owner, keys, 0);
    f.raw = true; // a pose's rpy, matrix, ... are computed from its quat
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
    luaL_setmetatable(L, STN_LUA_POSE);
}

// --------------------------------------------------------------------------------------------------------- velocities

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

// ------------------------------------------------------------------------------------------------------------ stn.pose

// stn.pose: poses as values that compose, invert and interpolate. A pose is a table with xyz and quat; its metatable
// computes what else is asked of it.

// --------------------------------------------------------------------------------------------------- screw motions

/// (1 - cos a)/a^2 and (a - sin a)/a^3, smooth through zero.
static void turn_integrals(double a, double *first, double *second) {
    double half = 0.5 * a, sinc = fabs(half) < 1e-4 ? 1.0 - half * half / 6.0 : sin(half) / half;
    *first = 0.5 * sinc * sinc;
    *second = fabs(a) < 0.02 ? (1.0 - a * a / 20.0 * (1.0 - a * a / 42.0)) / 6.0 : (a - sin(a)) / (a * a * a);
}

/// Exponential of the twist (u, w) [m, rad]: the pose after unit time with constant velocity in the body's own axes.
/// The translation is V u with V = 1 + first [w] + second [w]^2.
static stn_pose exponential(stn_vec3 u, stn_vec3 w) {
    double first, second;
    turn_integrals(stn_vec3_norm(w), &first, &second);
    stn_vec3 wu = stn_vec3_cross(w, u), wwu = stn_vec3_cross(w, wu);
    stn_vec3 p = stn_vec3_mul_add(stn_vec3_mul_add(u, first, wu), second, wwu);
    return stn_pose_make(stn_quat_exp(w), p);
}

/// The inverse: V^-1 = 1 - [w]/2 + (1 - (a/2) cot(a/2))/a^2 [w]^2, a = |w| <= pi.
static stn_vec3 logarithm(const stn_pose *pose, stn_vec3 *w) {
    *w = stn_quat_log(stn_quat_from_matrix(&pose->rotation));
    double a = stn_vec3_norm(*w), half = 0.5 * a;
    double second = a < 0.02 ? (1.0 + a * a / 60.0) / 12.0 : (1.0 - half * cos(half) / sin(half)) / (a * a);
    stn_vec3 p = pose->position, wp = stn_vec3_cross(*w, p), wwp = stn_vec3_cross(*w, wp);
    return stn_vec3_mul_add(stn_vec3_mul_add(p, -0.5, wp), second, wwp);
}

static stn_pose relative(const stn_pose *a, const stn_pose *b) {
    stn_pose inverse = stn_pose_inverse(a);
    return stn_pose_mul(&inverse, b);
}

// ---------------------------------------------------------------------------------------------------------- methods

/// Argument `index` of a method; argument 1 is the pose itself.
static stn_pose argument(lua_State *L, int index, const char *owner) {
    stn_pose pose;
    stn_lua_pose(L, index, owner, &pose);
    return pose;
}

static int push(lua_State *L, stn_pose pose) {
    stn_lua_push_pose(L, &pose);
    return 1;
}

static int pose_inverse(lua_State *L) {
    stn_pose pose = argument(L, 1, "pose:inverse");
    return push(L, stn_pose_inverse(&pose));
}

static int pose_relative(lua_State *L) {
    stn_pose a = argument(L, 1, "pose:relative"), b = argument(L, 2, "pose:relative: the other pose");
    return push(L, relative(&a, &b));
}

static int pose_rotate(lua_State *L) {
    stn_pose pose = argument(L, 1, "pose:rotate");
    stn_lua_push_vector(L, stn_mat3_apply(&pose.rotation, stn_lua_vector(L, 2, "pose:rotate: the vector", "any unit")));
    return 1;
}

static int pose_distance(lua_State *L) {
    stn_pose a = argument(L, 1, "pose:distance"), b = argument(L, 2, "pose:distance: the other pose");
    lua_pushnumber(L, stn_vec3_norm(stn_vec3_sub(b.position, a.position)));
    return 1;
}

static int pose_angle(lua_State *L) {
    stn_pose a = argument(L, 1, "pose:angle"), b = argument(L, 2, "pose:angle: the other pose");
    stn_pose ab = relative(&a, &b);
    lua_pushnumber(L, stn_vec3_norm(stn_quat_log(stn_quat_from_matrix(&ab.rotation))));
    return 1;
}

/// pose:interpolate(b, s [, "straight" | "screw"])
static int pose_interpolate(lua_State *L) {
    static const char *const ways[] = {"straight", "screw", NULL};
    stn_pose a = argument(L, 1, "pose:interpolate"), b = argument(L, 2, "pose:interpolate: the other pose");
    double s = stn_lua_real(L, 3, "pose:interpolate: s", "1");
    bool screw = luaL_checkoption(L, 4, "straight", ways) == 1;
    stn_pose ab = relative(&a, &b);
    stn_vec3 w, u = logarithm(&ab, &w);
    stn_pose part = exponential(stn_vec3_scale(s, u), stn_vec3_scale(s, w));
    stn_pose at = stn_pose_mul(&a, &part);
    if (!screw) {
        at.position = stn_vec3_mul_add(a.position, s, stn_vec3_sub(b.position, a.position));
    }
    return push(L, at);
}

// -------------------------------------------------------------------------------------------------- computed fields

/// Roll, pitch, yaw in (-pi, pi], pitch within a quarter turn; where roll and yaw turn about one axis, roll is 0.
static stn_vec3 roll_pitch_yaw(const stn_mat3 *r) {
    double across = hypot(r->m[0][0], r->m[1][0]), pitch = atan2(0.0 - r->m[2][0], across);
    if (across < 1e-12) {
        return stn_vec3_make(0.0, pitch, atan2(-r->m[0][1], r->m[1][1]));
    }
    return stn_vec3_make(atan2(r->m[2][1], r->m[2][2]), pitch, atan2(r->m[1][0], r->m[0][0]));
}

static bool push_field(lua_State *L, const stn_pose *pose, const char *name) {
    if (strcmp(name, "rpy") == 0) {
        stn_lua_push_vector(L, roll_pitch_yaw(&pose->rotation));
    } else if (strcmp(name, "rotation_vector") == 0) {
        stn_lua_push_vector(L, stn_quat_log(stn_quat_from_matrix(&pose->rotation)));
    } else if (strcmp(name, "matrix") == 0) {
        lua_createtable(L, 3, 0);
        for (int i = 0; i < 3; i++) {
            stn_lua_push_reals(L, pose->rotation.m[i], 3);
            lua_rawseti(L, -2, i + 1);
        }
    } else if (strcmp(name, "axes") == 0) {
        static const char *const axes[] = {"x", "y", "z"};
        lua_createtable(L, 0, 3);
        for (int i = 0; i < 3; i++) {
            stn_lua_set_vector(L, axes[i], stn_mat3_column(&pose->rotation, i));
        }
    } else {
        return false;
    }
    return true;
}

/// Upvalue: the methods.
static int index_pose(lua_State *L) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL || lua_type(L, 2) != LUA_TSTRING) {
        return 1;
    }
    const char *name = lua_tostring(L, 2);
    if (strcmp(name, "xyz") == 0 || strcmp(name, "quat") == 0) { // the script took it away
        return 1;
    }
    stn_pose pose = argument(L, 1, "pose");
    if (!push_field(L, &pose, name)) {
        static const char *const names[] = {"xyz",   "quat",     "rpy",    "rotation_vector", "matrix",
                                            "axes",  "relative", "rotate", "distance",        "interpolate",
                                            "angle", "inverse",  NULL};
        stn_lua_unknown(L, "pose", name, names);
    }
    return 1;
}

/// pose * pose, pose * {x, y, z}.
static int multiply(lua_State *L) {
    stn_pose a = argument(L, 1, "pose * pose: the left one");
    if (lua_type(L, 2) == LUA_TTABLE && lua_rawlen(L, 2) > 0) {
        stn_lua_push_vector(L, stn_pose_apply(&a, stn_lua_vector(L, 2, "pose * point", "m")));
        return 1;
    }
    stn_pose b = argument(L, 2, "pose * pose: the right one");
    return push(L, stn_pose_mul(&a, &b));
}

static int pose_text(lua_State *L) {
    stn_pose pose = argument(L, 1, "pose");
    stn_vec3 p = pose.position, rpy = stn_vec3_scale(180.0 / STN_PI, roll_pitch_yaw(&pose.rotation));
    char text[256];
    snprintf(text, sizeof text, "pose: (%.6g, %.6g, %.6g) m, roll %.6g, pitch %.6g, yaw %.6g deg", p.x, p.y, p.z, rpy.x,
             rpy.y, rpy.z);
    lua_pushstring(L, text);
    return 1;
}

static int pose_new(lua_State *L) {
    return push(L, argument(L, 1, "stn.pose"));
}

void stn_lua_open_pose(lua_State *L) {
    static const luaL_Reg methods[] = {
        {"inverse", pose_inverse},
        {"relative", pose_relative},
        {"rotate", pose_rotate},
        {"distance", pose_distance},
        {"angle", pose_angle},
        {"interpolate", pose_interpolate},
        {NULL, NULL},
    };
    static const luaL_Reg meta[] = {{"__mul", multiply}, {"__tostring", pose_text}, {NULL, NULL}};
    luaL_newmetatable(L, STN_LUA_POSE);
    luaL_setfuncs(L, meta, 0);
    luaL_newlib(L, methods);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__methods");
    lua_pushcclosure(L, index_pose, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

const luaL_Reg stn_lua_pose_functions[] = {{"pose", pose_new}, {NULL, NULL}};
