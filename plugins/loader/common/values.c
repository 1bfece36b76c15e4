// SPDX-License-Identifier: Apache-2.0
// Messages, and attributes as numbers, names and poses.
#include <stdio.h>
#include <string.h>

#include "robot.h"

enum { SUGGESTIONS = 100 };

robot_place robot_at(const xml_element *xml) {
    return (robot_place){xml_file(xml), xml_line(xml)};
}

void robot_say(robot_reader *reader, stn_severity severity, const char *code, robot_place place, const char *format,
               ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    stn_diagnostics_add(reader->diagnostics, severity, code, place.file, place.line, reader->label, "%s", text);
}

void *robot_allocate(robot_reader *reader, size_t count, size_t size) {
    void *memory = stn_arena_zeroed(reader->arena, count > 0 ? count : 1, size);
    reader->out_of_memory |= memory == NULL;
    return memory;
}

void *robot_reserve(robot_reader *reader, void *items, int32_t count, int32_t *capacity, size_t size) {
    if (count < *capacity) {
        return items;
    }
    int32_t larger = *capacity > 0 ? 2 * *capacity : 16;
    void *grown = robot_allocate(reader, (size_t)larger, size);
    if (grown == NULL) {
        return items;
    }
    if (count > 0) {
        memcpy(grown, items, (size_t)count * size);
    }
    *capacity = larger;
    return grown;
}

const char *robot_text(robot_reader *reader, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? NULL : ROBOT_NEW(reader, length + 1, char);
    if (text != NULL) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    va_end(arguments);
    return text != NULL ? text : "";
}

const char *robot_suggest(robot_reader *reader, const char *word, const char *const *candidates, int32_t count) {
    return reader->diagnostics->error_count < SUGGESTIONS ? stn_suggest(word, candidates, count) : NULL;
}

const char *robot_names_hint(robot_reader *reader, const robot_names *names, int32_t scope, const char *name) {
    enum { CANDIDATES = 256 };
    if (reader->diagnostics->error_count >= SUGGESTIONS) {
        return ""; // a look at every name for each of very many errors would take too long
    }
    const char *by_value[CANDIDATES] = {NULL}, *candidates[CANDIDATES]; // by value: slots are in another order each run
    for (uint32_t i = 0; i <= names->mask; i++) {
        const struct robot_name *slot = &names->slots[i];
        if (slot->name != NULL && slot->scope == scope && slot->value >= 0 && slot->value < CANDIDATES) {
            by_value[slot->value] = slot->name;
        }
    }
    int32_t count = 0;
    for (int32_t i = 0; i < CANDIDATES; i++) {
        candidates[count] = by_value[i];
        count += by_value[i] != NULL;
    }
    const char *near = robot_suggest(reader, name, candidates, count);
    return near != NULL ? robot_text(reader, ": did you mean '%.80s'?", near) : "";
}

bool robot_is_xacro(robot_reader *reader, const xml_element *xml, const char *text) {
    if (strstr(text, "${") == NULL && strstr(text, "$(") == NULL) {
        return false;
    }
    if (!reader->xacro_said) {
        reader->xacro_said = true;
        robot_error(reader, xml, "xacro",
                    "'%.80s' is xacro, not %s: expand the file first, e.g. xacro robot.urdf.xacro > robot.urdf", text,
                    reader->format->name);
    }
    return true;
}

int32_t robot_parse_reals(robot_reader *reader, const xml_element *xml, const char *what, const char *text,
                          int32_t least, int32_t most, double *values) {
    static const char *const words[] = {"no", "one", "two", "three", "four", "five", "six"};
    double read[ROBOT_MOST_REALS] = {0.0};
    int32_t found = stn_parse_reals(text, read, most);
    if (found >= least && found <= most) {
        memcpy(values, read, (size_t)found * sizeof *values);
        return found;
    }
    if (robot_is_xacro(reader, xml, text)) {
        return 0;
    }
    if (least < most) {
        robot_error(reader, xml, "number", "%s: '%.80s' must be %d to %d finite decimal numbers separated by spaces",
                    what, text, (int)least, (int)most);
    } else {
        bool spelled = most < STN_COUNT(words);
        const char *number = spelled ? words[most] : robot_text(reader, "%d", (int)most);
        robot_error(reader, xml, "number", "%s: '%.80s' must be %s finite decimal number%s", what, text, number,
                    most == 1 ? "" : "s separated by spaces");
    }
    return 0;
}

bool robot_reals(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t count, double *values) {
    char what[128];
    const char *text = xml_attribute(xml, attribute);
    if (text == NULL) {
        return false;
    }
    snprintf(what, sizeof what, "%s of <%.60s>", attribute, xml_name(xml));
    return robot_parse_reals(reader, xml, what, text, count, count, values) == count;
}

bool robot_text_reals(robot_reader *reader, const xml_element *xml, int32_t count, double *values) {
    char what[64];
    snprintf(what, sizeof what, "<%.60s>", xml_name(xml));
    return robot_parse_reals(reader, xml, what, xml_text(xml), count, count, values) == count;
}

bool robot_real(robot_reader *reader, const xml_element *xml, const char *attribute, double *value) {
    return robot_reals(reader, xml, attribute, 1, value);
}

bool robot_setting(robot_reader *reader, const xml_element *xml, stn_severity severity, double *value) {
    const char *attribute = xml_attribute(xml, "value"), *text = attribute != NULL ? attribute : xml_text(xml);
    if (stn_parse_real(text, value)) {
        return true;
    }
    if (attribute != NULL || text[strspn(text, " \t\r\n")] != '\0') {
        if (!robot_is_xacro(reader, xml, text)) {
            robot_say(reader, severity, "number", robot_at(xml), "<%s>: '%.80s' must be one finite decimal number%s",
                      xml_name(xml), text, severity == STN_SEVERITY_ERROR ? "" : "; ignored");
        }
    }
    return false;
}

bool robot_required(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t count,
                    double *values) {
    if (xml_attribute(xml, attribute) == NULL) {
        robot_error(reader, xml, "missing", "<%s> has no %s: add it", xml_name(xml), attribute);
    }
    return robot_reals(reader, xml, attribute, count, values);
}

bool robot_not_negative(robot_reader *reader, const xml_element *xml, const char *attribute, const char *unit,
                        double *value) {
    double read = 0.0;
    if (!robot_real(reader, xml, attribute, &read)) {
        return false;
    }
    if (read < 0.0) {
        robot_error(reader, xml, "range", "%s of <%s> = %g %s must be >= 0", attribute, xml_name(xml), read, unit);
        return false;
    }
    *value = read;
    return true;
}

bool robot_direction(robot_reader *reader, const xml_element *xml, const double given[3], stn_vec3 *unit) {
    const stn_vec3 v = stn_vec3_make(given[0], given[1], given[2]);
    double length = stn_vec3_norm(v);
    *unit = stn_vec3_normalize_or(v, stn_vec3_zero());
    if (stn_vec3_dot(*unit, *unit) == 0.0) {
        robot_error(reader, xml, "axis", "the axis has length 0: give a direction such as 0 0 1");
        return false;
    }
    if (!(fabs(length - 1.0) <= 1e-3)) {
        robot_note(reader, xml, "axis", "the axis has length %g: scaled to 1", length);
    }
    return true;
}

static bool is_utf8(const char *text) {
    while (*text != '\0') {
        size_t length = stn_utf8_length(text);
        if (length == 0) {
            return false;
        }
        text += length;
    }
    return true;
}

const char *robot_name_of(robot_reader *reader, const xml_element *xml, const char *attribute) {
    const char *name = xml_attribute(xml, attribute);
    if (name == NULL || name[0] == '\0') {
        robot_error(reader, xml, "name", "<%s> has no %s: add %s=\"...\"", xml_name(xml), attribute, attribute);
        return NULL;
    }
    if (!is_utf8(name)) {
        robot_error(reader, xml, "name", "%s of <%s> is not UTF-8 text: save the file as UTF-8", attribute,
                    xml_name(xml));
        return NULL;
    }
    return name;
}

const char *robot_text_name(robot_reader *reader, const xml_element *xml) {
    static const char blanks[] = " \t\r\n";
    const char *text = xml_text(xml) + strspn(xml_text(xml), blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]) != NULL) {
        length--;
    }
    if (length == 0) {
        robot_error(reader, xml, "name", "<%s> is empty: write <%s>...</%s>", xml_name(xml), xml_name(xml),
                    xml_name(xml));
        return NULL;
    }
    if (!is_utf8(text)) {
        robot_error(reader, xml, "name", "<%s> is not UTF-8 text: save the file as UTF-8", xml_name(xml));
        return NULL;
    }
    return robot_text(reader, "%.*s", (int)length, text);
}

const xml_element *robot_child(robot_reader *reader, const xml_element *xml, const char *name) {
    const xml_element *found = NULL;
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), name) != 0) {
            continue;
        }
        if (found != NULL) {
            robot_warn(reader, e, "repeated", "a second <%s> is ignored, the one of line %d counts: remove one", name,
                       (int)xml_line(found));
            break;
        }
        found = e;
    }
    return found;
}

void robot_set_damping(robot_reader *reader, const xml_element *xml, const double *values, int32_t count,
                       stn_joint_spec *spec) {
    double least = values[0], most = values[0];
    for (int32_t i = 1; i < count; i++) {
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    const char *text = count == 3 ? robot_text(reader, "%g %g %g", values[0], values[1], values[2])
                                  : robot_text(reader, "%g", values[0]);
    if (least < 0.0) {
        robot_error(reader, xml, "range", "damping of <%s> = %s must be >= 0", xml_name(xml), text);
        return;
    }
    if (least != most) {
        robot_warn(reader, xml, "damping", "damping %s: one figure holds for all three motions, %g counts", text,
                   values[0]);
    }
    spec->damping = values[0];
}
