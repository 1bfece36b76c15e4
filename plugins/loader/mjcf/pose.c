// SPDX-License-Identifier: Apache-2.0
// Where something is and how it is turned, in MuJoCo's five ways: quat, axisangle, xyaxes, zaxis, euler. With the
// letters s1 s2 s3 of eulerseq and angles a1 a2 a3, in lower case about the axes that turn along, in upper case about
// fixed ones:
//   R = 1;  for i = 1, 2, 3:  R = R R_si(ai)  (lower case),  R = R_si(ai) R  (upper case).
#include <string.h>

#include "mjcf.h"

static const double PI = 3.14159265358979323846;
static const double SMALLEST = 1e-14; // MuJoCo's bound on the length of a direction

static bool is_direction(robot_reader *reader, const xml_element *xml, const char *what, stn_vec3 v, stn_vec3 *unit) {
    *unit = stn_vec3_normalize_or(v, stn_vec3_zero());
    if (!(stn_vec3_norm(v) >= SMALLEST) || stn_vec3_dot(*unit, *unit) == 0.0) {
        robot_error(reader, xml, "axis", "%s of <%.60s> has length 0: give a direction", what, xml_name(xml));
        return false;
    }
    return true;
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

static stn_mat3 from_euler(robot_reader *reader, const double *angles) {
    const char *sequence = mjcf_of(reader)->compiler.eulerseq;
    stn_mat3 r = stn_mat3_identity();
    for (int32_t i = 0; i < 3; i++) {
        char letter = (char)(sequence[i] | 0x20);
        stn_vec3 axis = stn_vec3_make(letter == 'x', letter == 'y', letter == 'z');
        stn_mat3 turn = turn_about(axis, to_radians(reader, angles[i]));
        r = letter == sequence[i] ? stn_mat3_mul(&r, &turn) : stn_mat3_mul(&turn, &r);
    }
    return r;
}

static void from_axes(robot_reader *reader, const xml_element *xml, const double *v, stn_mat3 *r) {
    stn_vec3 x, y, second = stn_vec3_make(v[3], v[4], v[5]);
    if (!is_direction(reader, xml, "the x axis in xyaxes", stn_vec3_make(v[0], v[1], v[2]), &x) ||
        !is_direction(reader, xml, "the y axis in xyaxes", stn_vec3_mul_add(second, -stn_vec3_dot(x, second), x), &y)) {
        return;
    }
    *r = stn_mat3_columns(x, y, stn_vec3_cross(x, y));
}

/// One of the ways but quat.
static void turn(robot_reader *reader, const xml_element *xml, const char *way, const double *v, stn_mat3 *r) {
    stn_vec3 unit;
    if (strcmp(way, "euler") == 0) {
        *r = from_euler(reader, v);
    } else if (strcmp(way, "xyaxes") == 0) {
        from_axes(reader, xml, v, r);
    } else if (is_direction(reader, xml, way, stn_vec3_make(v[0], v[1], v[2]), &unit)) {
        *r = strcmp(way, "zaxis") == 0 ? mjcf_turn_z(unit) : turn_about(unit, to_radians(reader, v[3]));
    }
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

/// The element that says how something is turned, by the innermost other way or else by quat, and that way (-1: quat).
static const xml_element *find_way(robot_reader *reader, const mjcf_item *item, int32_t *way) {
    const mjcf_layers *layers = &mjcf_of(reader)->classes[item->class_index].layers[item->kind];
    for (int32_t i = layers->count; i >= 0; i--) {
        const xml_element *holder = i == layers->count ? item->xml : layers->items[i];
        *way = way_of(reader, holder);
        if (*way >= 0) {
            return holder;
        }
    }
    return mjcf_holder(reader, item, "quat");
}

static stn_mat3 read_turn(robot_reader *reader, const xml_element *xml, int32_t way) {
    double v[6] = {1.0};
    stn_mat3 r = stn_mat3_identity();
    stn_quat q;
    if (way >= 0) {
        if (robot_reals(reader, xml, ways[way].name, ways[way].count, v)) {
            turn(reader, xml, ways[way].name, v, &r);
        }
    } else if (xml != NULL && robot_reals(reader, xml, "quat", 4, v) && mjcf_quaternion(reader, xml, "quat", v, &q)) {
        r = stn_quat_matrix(q);
    }
    return r;
}

stn_pose mjcf_pose(robot_reader *reader, const mjcf_item *item) {
    double p[3] = {0.0};
    int32_t way = -1;
    mjcf_reals(reader, item, "pos", 3, 3, p);
    const xml_element *xml = find_way(reader, item, &way);
    return (stn_pose){read_turn(reader, xml, way), {p[0], p[1], p[2]}};
}

stn_pose mjcf_plain_pose(robot_reader *reader, const xml_element *xml) {
    double p[3] = {0.0};
    robot_reals(reader, xml, "pos", 3, p);
    return (stn_pose){read_turn(reader, xml, way_of(reader, xml)), {p[0], p[1], p[2]}};
}
