// SPDX-License-Identifier: Apache-2.0
// Values as SDFormat writes them: in the text of child elements.
#include <stdlib.h>
#include <string.h>

#include "sdf.h"

static const double UNLIMITED = 1e16; // what files before infinities were written say for none

static const char *trim(robot_reader *reader, const char *text) {
    static const char blanks[] = " \t\r\n";
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]) != NULL) {
        length--;
    }
    return robot_text(reader, "%.*s", (int)length, text);
}

bool sdf_number(robot_reader *reader, const xml_element *parent, const char *name, double *value) {
    const xml_element *xml = robot_child(reader, parent, name);
    return xml != NULL && robot_text_reals(reader, xml, 1, value);
}

bool sdf_not_negative(robot_reader *reader, const xml_element *parent, const char *name, const char *unit,
                      double *value) {
    double read = 0.0;
    if (!sdf_number(reader, parent, name, &read)) {
        return false;
    }
    if (read < 0.0) {
        robot_error(reader, robot_child(reader, parent, name), "range", "<%s> = %g %s must be >= 0", name, read, unit);
        return false;
    }
    *value = read;
    return true;
}

bool sdf_limit(robot_reader *reader, const xml_element *parent, const char *name, double *value) {
    static const char *const infinities[] = {"inf", "+inf", "infinity", "Inf", "+Inf", "INF"};
    const xml_element *xml = robot_child(reader, parent, name);
    if (xml == NULL) {
        return false;
    }
    const char *text = trim(reader, xml_text(xml));
    for (int32_t i = 0; i < STN_COUNT(infinities); i++) {
        bool negative = text[0] == '-' && strcmp(text + 1, infinities[i]) == 0;
        if (negative || strcmp(text, infinities[i]) == 0) {
            *value = negative ? -(double)INFINITY : (double)INFINITY;
            return true;
        }
    }
    if (!robot_text_reals(reader, xml, 1, value)) {
        return false;
    }
    if (fabs(*value) >= UNLIMITED) {
        *value = copysign((double)INFINITY, *value);
    }
    return true;
}

static bool parse_flag(robot_reader *reader, const xml_element *xml, const char *what, const char *text,
                       bool fallback) {
    const char *word = trim(reader, text);
    bool yes = strcmp(word, "true") == 0 || strcmp(word, "1") == 0 || strcmp(word, "True") == 0;
    bool no = strcmp(word, "false") == 0 || strcmp(word, "0") == 0 || strcmp(word, "False") == 0;
    if (!yes && !no) {
        robot_error(reader, xml, "flag", "%s: '%.80s' must be true, false, 1 or 0", what, word);
        return fallback;
    }
    return yes;
}

bool sdf_flag(robot_reader *reader, const xml_element *parent, const char *name, bool fallback) {
    const xml_element *xml = robot_child(reader, parent, name);
    return xml != NULL ? parse_flag(reader, xml, robot_text(reader, "<%s>", name), xml_text(xml), fallback) : fallback;
}

bool sdf_attribute_flag(robot_reader *reader, const xml_element *xml, const char *name, bool fallback) {
    const char *text = xml_attribute(xml, name);
    const char *what = robot_text(reader, "%s of <%s>", name, xml_name(xml));
    return text != NULL ? parse_flag(reader, xml, what, text, fallback) : fallback;
}

stn_pose sdf_pose(robot_reader *reader, const xml_element *parent, const char **relative_to) {
    const xml_element *xml = robot_child(reader, parent, "pose");
    const char *name = xml != NULL ? xml_attribute(xml, "relative_to") : NULL;
    name = xml != NULL && name == NULL ? xml_attribute(xml, "frame") : name; // its name before 1.7
    *relative_to = name != NULL && name[0] != '\0' ? name : NULL;
    if (xml == NULL || trim(reader, xml_text(xml))[0] == '\0') {
        return stn_pose_identity();
    }
    const char *format = xml_attribute(xml, "rotation_format");
    double v[7] = {0.0};
    if (format == NULL || strcmp(format, "euler_rpy") == 0) {
        double unit = sdf_attribute_flag(reader, xml, "degrees", false) ? STN_PI / 180.0 : 1.0;
        robot_text_reals(reader, xml, 6, v);
        return (stn_pose){stn_mat3_from_rpy(unit * v[3], unit * v[4], unit * v[5]), stn_vec3_make(v[0], v[1], v[2])};
    }
    if (strcmp(format, "quat_xyzw") != 0) {
        robot_error(reader, xml, "pose", "rotation_format '%.80s' of <pose> must be euler_rpy or quat_xyzw", format);
        return stn_pose_identity();
    }
    if (!robot_text_reals(reader, xml, 7, v)) {
        return stn_pose_identity();
    }
    double length = sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5] + v[6] * v[6]);
    if (!(length > 1e-6) || !isfinite(length)) {
        robot_error(reader, xml, "pose",
                    "the quaternion of <pose> has length %g: no rotation has that, give x y z w of 1", length);
        return stn_pose_identity();
    }
    stn_quat q = {v[6] / length, v[3] / length, v[4] / length, v[5] / length};
    return stn_pose_make(q, stn_vec3_make(v[0], v[1], v[2]));
}

int32_t sdf_version(robot_reader *reader, const xml_element *root) {
    const char *text = xml_attribute(root, "version");
    if (text == NULL || text[0] == '\0') {
        robot_error(reader, root, "version", "<sdf> has no version: add version=\"1.7\" or the one it was written for");
        return -1;
    }
    const char *digits = strncmp(text, "1.", 2) == 0 ? text + 2 : "";
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 3 || digits[count] != '\0') {
        robot_error(reader, root, "version", "version '%.40s' of <sdf> must be one of 1.%d to 1.%d", text,
                    (int)SDF_OLDEST, (int)SDF_NEWEST);
        return -1;
    }
    int32_t version = (int32_t)strtol(digits, NULL, 10);
    if (version < SDF_OLDEST) {
        robot_error(reader, root, "version", "version %.40s of <sdf> is too old: 1.%d to 1.%d are read", text,
                    (int)SDF_OLDEST, (int)SDF_NEWEST);
        return -1;
    }
    if (version > SDF_NEWEST) {
        robot_warn(reader, root, "version", "version %.40s of <sdf> is not known: read as 1.%d", text, (int)SDF_NEWEST);
        version = SDF_NEWEST;
    }
    return version;
}
