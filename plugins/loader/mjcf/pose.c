// SPDX-License-Identifier: Apache-2.0
// Where something is and how it is turned, in MuJoCo's five ways: quat, axisangle, xyaxes, zaxis, euler. With the
// letters s1 s2 s3 of eulerseq and angles a1 a2 a3, in lower case about the axes that turn along, in upper case about
// fixed ones:
//   R = 1;  for i = 1, 2, 3:  R = R R_si(ai)  (lower case),  R = R_si(ai) R  (upper case).
#include <string.h>

#include "mjcf.h"

static const double PI = 3.14159265358979323846;
static const double SMALLEST = 1e-14; // MuJoCo's bound on the length of a direction

/// Of length 1; 0 when the given one is too short, said.
static stn_vec3 unit_of(robot_reader *reader, const xml_element *xml, const char *what, stn_vec3 v) {
    stn_vec3 unit = stn_vec3_normalize_or(v, stn_vec3_zero());
    if (!(stn_vec3_norm(v) >= SMALLEST) || stn_vec3_dot(unit, unit) == 0.0) {
        robot_error(reader, xml, "axis", "%s of <%.60s> has length 0: give a direction", what, xml_name(xml));
        return stn_vec3_zero();
    }
    return unit;
}

bool mjcf_quaternion(robot_reader *reader, const xml_element *xml, const char *what, const double *wxyz,
                     stn_quat *out) {
    double largest = fmax(fmax(fabs(wxyz[0]), fabs(wxyz[1])), fmax(fabs(wxyz[2]), fabs(wxyz[3])));
    if (!(largest >= SMALLEST)) {
        robot_error(reader, xml, "axis", "%s of <%.60s> has length 0: a quaternion of a rotation has length 1", what,
                    xml_name(xml));
        return false;
    }
    stn_quat q = {wxyz[0] / largest, wxyz[1] / largest, wxyz[2] / largest, wxyz[3] / largest};
    *out = stn_quat_normalize(q);
    return true;
}

stn_mat3 mjcf_turn_z(stn_vec3 direction) {
    stn_vec3 v = stn_vec3_normalize_or(direction, stn_vec3_make(0.0, 0.0, 1.0));
    double sine = hypot(v.x, v.y);
    stn_vec3 axis = sine < 1e-10 ? stn_vec3_make(1.0, 0.0, 0.0) : stn_vec3_make(-v.y / sine, v.x / sine, 0.0);
    return stn_quat_matrix(stn_quat_exp(stn_vec3_scale(atan2(sine, v.z), axis)));
}

static double to_radians(robot_reader *reader, double angle) {
    return mjcf_of(reader)->compiler.degree ? angle * (PI / 180.0) : angle;
}

static stn_mat3 turn_about(stn_vec3 unit, double angle) {
    return stn_quat_matrix(stn_quat_exp(stn_vec3_scale(angle, unit)));
}

static const struct {
    const char *name;
    int32_t count;
} ways[] = {{"axisangle", 4}, {"xyaxes", 6}, {"zaxis", 3}, {"euler", 3}};

/// The one of the ways but quat that an element itself uses, -1: none; several are an error.
static int32_t way_of(robot_reader *reader, const xml_element *xml) {
    int32_t way = -1, count = xml_attribute(xml, "quat") != NULL;
    for (int32_t i = 0; i < STN_COUNT(ways); i++) {
        if (xml_attribute(xml, ways[i].name) != NULL) {
            way = i;
            count++;
        }
    }
    if (count > 1) {
        robot_error(reader, xml, "conflict",
                    "<%.60s> says twice how it is turned: keep one of quat, axisangle, xyaxes, "
                    "zaxis, euler",
                    xml_name(xml));
    }
    return way;
}

bool mjcf_is_turned(const xml_element *xml) {
    bool turned = xml_attribute(xml, "quat") != NULL;
    for (int32_t i = 0; i < STN_COUNT(ways); i++) {
        turned |= xml_attribute(xml, ways[i].name) != NULL;
    }
    return turned;
}

/// `way` -1: quat. No rotation where there is none, and after an error.
static stn_mat3 read_turn(robot_reader *reader, const xml_element *xml, int32_t way) {
    double v[6] = {1.0};
    stn_mat3 r = stn_mat3_identity();
    stn_quat q;
    if (way < 0) {
        bool given = xml != NULL && robot_reals(reader, xml, "quat", 4, v);
        return given && mjcf_quaternion(reader, xml, "quat", v, &q) ? stn_quat_matrix(q) : r;
    }
    const char *name = ways[way].name;
    if (!robot_reals(reader, xml, name, ways[way].count, v)) {
        return r;
    }
    if (strcmp(name, "euler") == 0) {
        const char *sequence = mjcf_of(reader)->compiler.eulerseq;
        for (int32_t i = 0; i < 3; i++) {
            char letter = (char)(sequence[i] | 0x20);
            stn_vec3 axis = stn_vec3_make(letter == 'x', letter == 'y', letter == 'z');
            stn_mat3 about = turn_about(axis, to_radians(reader, v[i]));
            r = letter == sequence[i] ? stn_mat3_mul(&r, &about) : stn_mat3_mul(&about, &r);
        }
        return r;
    }
    bool axes = strcmp(name, "xyaxes") == 0;
    stn_vec3 first = unit_of(reader, xml, axes ? "the x axis in xyaxes" : name, stn_vec3_make(v[0], v[1], v[2]));
    if (stn_vec3_dot(first, first) == 0.0) {
        return r;
    }
    if (axes) {
        stn_vec3 second = stn_vec3_make(v[3], v[4], v[5]);
        second =
            unit_of(reader, xml, "the y axis in xyaxes", stn_vec3_mul_add(second, -stn_vec3_dot(first, second), first));
        bool good = stn_vec3_dot(second, second) > 0.0;
        return good ? stn_mat3_columns(first, second, stn_vec3_cross(first, second)) : r;
    }
    return strcmp(name, "zaxis") == 0 ? mjcf_turn_z(first) : turn_about(first, to_radians(reader, v[3]));
}

/// The innermost of the other ways counts, else quat.
stn_pose mjcf_pose(robot_reader *reader, const mjcf_item *item) {
    const mjcf_layers *layers = &mjcf_of(reader)->classes[item->class_index].layers[item->kind];
    const xml_element *xml = NULL;
    double p[3] = {0.0};
    int32_t way = -1; // quat
    mjcf_reals(reader, item, "pos", 3, 3, p);
    for (int32_t i = layers->count; i >= 0 && way < 0; i--) {
        xml = i == layers->count ? item->xml : layers->items[i];
        way = way_of(reader, xml);
    }
    xml = way >= 0 ? xml : mjcf_holder(reader, item, "quat");
    return (stn_pose){read_turn(reader, xml, way), {p[0], p[1], p[2]}};
}

stn_pose mjcf_plain_pose(robot_reader *reader, const xml_element *xml) {
    double p[3] = {0.0};
    robot_reals(reader, xml, "pos", 3, p);
    return (stn_pose){read_turn(reader, xml, way_of(reader, xml)), {p[0], p[1], p[2]}};
}
