// SPDX-License-Identifier: Apache-2.0
// Random robots in MuJoCo's XML that use what the loader reads, in words that MuJoCo 2.2 knows.
#ifndef RANDOM_MJCF_H
#define RANDOM_MJCF_H

#include <stdio.h>

#include "stn_random_pose.h"

enum { MJCF_TEXT = 1 << 16 };

typedef struct mjcf_text {
    char text[MJCF_TEXT];
    size_t used;
    stn_random random;
    int32_t bodies, joints;
    bool degree;
    bool compound; // bodies of several geoms or of meshes, of which MuJoCo finds principal axes by a rounded iteration
} mjcf_text;

static inline void put(mjcf_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline void put(mjcf_text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(t->text + t->used, sizeof t->text - t->used, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && t->used + (size_t)length < sizeof t->text);
    t->used += (size_t)length;
}

static inline bool one_in(mjcf_text *t, int32_t n) {
    return random_below(&t->random, n) == 0;
}

static inline double between(mjcf_text *t, double low, double high) {
    return random_between(&t->random, low, high);
}

static inline void put_vector(mjcf_text *t, const char *name, int32_t count, double low, double high) {
    put(t, " %s='", name);
    for (int32_t i = 0; i < count; i++) {
        put(t, "%s%.17g", i > 0 ? " " : "", between(t, low, high));
    }
    put(t, "'");
}

static inline double angle(mjcf_text *t, double radians) {
    return t->degree ? radians * 180.0 / STN_PI : radians;
}

/// Any of the ways to say how something is turned.
static inline void put_turn(mjcf_text *t) {
    stn_vec3 u = random_vec3(&t->random, 1.0), v = random_vec3(&t->random, 1.0);
    switch (random_below(&t->random, 6)) {
    case 0:
        put_vector(t, "quat", 4, -1.0, 1.0);
        break;
    case 1:
        put(t, " axisangle='%.17g %.17g %.17g %.17g'", u.x, u.y, u.z, angle(t, between(t, -4.0, 4.0)));
        break;
    case 2:
        put(t, " xyaxes='%.17g %.17g %.17g %.17g %.17g %.17g'", u.x, u.y, u.z, v.x, v.y, v.z);
        break;
    case 3:
        put(t, " zaxis='%.17g %.17g %.17g'", u.x, u.y, u.z);
        break;
    case 4:
        put(t, " euler='%.17g %.17g %.17g'", angle(t, 3.0 * u.x), angle(t, 3.0 * u.y), angle(t, 3.0 * u.z));
        break;
    default:
        break;
    }
}

static inline void put_pose(mjcf_text *t) {
    if (!one_in(t, 5)) {
        put_vector(t, "pos", 3, -0.5, 0.5);
    }
    put_turn(t);
}

static inline void put_class(mjcf_text *t) {
    static const char *const classes[] = {"main", "outer", "inner", "other"};
    if (one_in(t, 4)) {
        put(t, " class='%s'", classes[random_below(&t->random, 4)]);
    }
}

/// A ball may only be the last joint of a body.
static inline void put_joint(mjcf_text *t, bool last) {
    static const char *const types[] = {"hinge", "slide", "hinge", "ball"};
    const char *type = types[random_below(&t->random, last ? 4 : 3)];
    bool ball = type[0] == 'b', slide = type[0] == 's';
    put(t, "<joint name='j%d' type='%s'", (int)t->joints++, type);
    put_class(t);
    if (!one_in(t, 3)) {
        put_vector(t, "pos", 3, -0.3, 0.3);
    }
    if (!ball) {
        put_vector(t, "axis", 3, -1.0, 1.0);
        put(t, " ref='%.17g' armature='%.17g'", slide ? between(t, -1.0, 1.0) : angle(t, between(t, -1.0, 1.0)),
            one_in(t, 2) ? between(t, 0.0, 0.3) : 0.0);
        if (one_in(t, 2)) {
            put(t, " range='%.17g %.17g'", between(t, -1.0, -0.1), between(t, 0.1, 1.0));
        }
    } else {
        put(t, " armature='0'");
    }
    put(t, "/>");
}

static inline void put_geom(mjcf_text *t) {
    static const char *const types[] = {"sphere", "capsule", "cylinder", "ellipsoid", "box", "mesh"};
    int32_t type = random_below(&t->random, t->compound ? 6 : 5);
    put(t, "<geom");
    put_class(t);
    if (type == 5) {
        put(t, " type='mesh' mesh='t%d'", (int)random_below(&t->random, 2));
        put_pose(t);
    } else {
        put(t, " type='%s'", types[type]);
        put_vector(t, "size", one_in(t, 3) ? 1 : 3, 0.02, 0.2); // fewer: the defaults have the rest
        if (type > 0 && one_in(t, 3)) {
            put_vector(t, "fromto", 6, -0.4, 0.4);
        } else {
            put_pose(t);
        }
    }
    if (type == 5 || one_in(t, 3)) { // early MuJoCo takes another volume of a mesh
        put(t, " mass='%.17g'", between(t, 0.1, 2.0));
    } else if (one_in(t, 2)) {
        put(t, " density='%.17g'", between(t, 100.0, 3000.0));
    }
    if (one_in(t, 2)) {
        put(t, " group='%d'", (int)random_below(&t->random, 3));
    }
    if (one_in(t, 2)) {
        put(t, " contype='%d' conaffinity='%d'", (int)random_below(&t->random, 4), (int)random_below(&t->random, 4));
    }
    put(t, "/>");
}

static inline void put_inertial(mjcf_text *t) {
    put(t, "<inertial mass='%.17g'", between(t, 0.5, 3.0));
    put_vector(t, "pos", 3, -0.2, 0.2);
    if (!t->compound || one_in(t, 2)) {
        put_turn(t);
        put_vector(t, "diaginertia", 3, 0.1, 0.15);
    } else {
        put(t, " fullinertia='%.17g %.17g %.17g %.17g %.17g %.17g'", between(t, 0.1, 0.12), between(t, 0.1, 0.12),
            between(t, 0.1, 0.12), between(t, -0.02, 0.02), between(t, -0.02, 0.02), between(t, -0.02, 0.02));
    }
    put(t, "/>");
}

static inline void put_body(mjcf_text *t, int32_t depth) {
    static const char *const classes[] = {"outer", "inner", "other"};
    bool free = depth == 0 && one_in(t, 2);
    put(t, "<body name='b%d'", (int)t->bodies++);
    put_pose(t);
    if (one_in(t, 4)) {
        put(t, " childclass='%s'", classes[random_below(&t->random, 3)]);
    }
    put(t, ">");
    if (free) {
        put(t, "<freejoint name='f%d'/>", (int)t->bodies);
    } else {
        for (int32_t joints = random_below(&t->random, 4); joints > 0; joints--) {
            put_joint(t, joints == 1);
        }
    }
    int32_t geoms = 1 + random_below(&t->random, 3);
    for (int32_t i = 0; i < geoms; i++) {
        put_geom(t);
    }
    if (t->compound ? one_in(t, 3) : geoms > 1) {
        put_inertial(t);
    }
    put(t, "\n");
    for (int32_t children = depth < 5 ? random_below(&t->random, 3) : 0; children > 0 && t->bodies < 14; children--) {
        put_body(t, depth + 1);
    }
    put(t, "</body>");
}

static inline void put_settings(mjcf_text *t) {
    static const char letters[] = "xyzXYZ";
    t->degree = one_in(t, 2);
    put(t,
        "<compiler angle='%s' autolimits='true' boundmass='0.01' boundinertia='%g' inertiafromgeom='%s' "
        "eulerseq='%c%c%c'/>",
        t->degree ? "degree" : "radian", one_in(t, 3) ? 0.05 : 1e-6, t->compound && one_in(t, 2) ? "true" : "auto",
        letters[random_below(&t->random, 6)], letters[random_below(&t->random, 6)],
        letters[random_below(&t->random, 6)]);
    if (one_in(t, 4)) {
        put(t, "<compiler settotalmass='%.17g'/>", between(t, 1.0, 50.0));
    }
    put(t, "<default><geom density='700' size='0.1 0.12 0.14'/><joint armature='0.1'/>"
           "<default class='outer'><geom density='1300' friction='0.3'/><default class='inner'><joint armature='0.2'/>"
           "<geom size='0.07 0.03 0.2' quat='1 2 0.3 0.1'/></default></default><default class='other'>"
           "<geom density='300'/></default></default>\n");
    put(t,
        "<asset><mesh name='t0' vertex='0 0 0 0.3 0 0 0 0.4 0 0.1 0.1 0.2' refpos='0.1 0 0.05' refquat='1 0.2 0 0.4'/>"
        "<mesh name='t1' vertex='0 0 0 0.3 0 0 0 0.4 0 0.1 0.1 0.2 0.2 0.3 0.3' scale='1 -2 0.5' refpos='0.05 0.1 "
        "-0.2'/></asset>\n");
}

/// A robot, or several, in `t->text`.
static inline void write_mjcf(mjcf_text *t, uint64_t seed, bool compound) {
    *t = (mjcf_text){.random = {seed}, .compound = compound};
    put(t, "<mujoco>");
    put_settings(t);
    put(t, "<worldbody>");
    if (one_in(t, 2)) {
        put(t, "<geom type='plane' size='1 1 1'/>");
    }
    for (int32_t count = 1 + random_below(&t->random, 3); count > 0; count--) {
        put_body(t, 0);
    }
    put(t, "</worldbody></mujoco>\n");
}

#endif
