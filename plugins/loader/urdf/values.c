// SPDX-License-Identifier: Apache-2.0
// Messages, and attributes as numbers, names and poses.
#include <stdio.h>
#include <string.h>

#include "urdf.h"

enum { SUGGESTIONS = 100 };

void urdf_say(urdf_reader *reader, stn_severity severity, const char *code, int32_t line, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    stn_diagnostics_add(reader->diagnostics, severity, code, reader->request->path, line, reader->label, "%s", text);
}

void *urdf_allocate(urdf_reader *reader, size_t count, size_t size) {
    void *memory = stn_arena_zeroed(reader->arena, count > 0 ? count : 1, size);
    reader->out_of_memory |= memory == NULL;
    return memory;
}

void *urdf_grow(urdf_reader *reader, void *items, int32_t count, int32_t *capacity, size_t size) {
    int32_t larger = *capacity > 0 ? 2 * *capacity : 16;
    void *grown = urdf_allocate(reader, (size_t)larger, size);
    if (grown == NULL) {
        return items;
    }
    if (count > 0) {
        memcpy(grown, items, (size_t)count * size);
    }
    *capacity = larger;
    return grown;
}

const char *urdf_format(urdf_reader *reader, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? NULL : URDF_NEW(reader, length + 1, char);
    if (text != NULL) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    va_end(arguments);
    return text != NULL ? text : "";
}

const char *urdf_suggest(urdf_reader *reader, const char *word, const char *const *candidates, int32_t count) {
    return reader->diagnostics->error_count < SUGGESTIONS ? stn_suggest(word, candidates, count) : NULL;
}

bool urdf_is_xacro(urdf_reader *reader, const xml_element *xml, const char *text) {
    if (strstr(text, "${") == NULL && strstr(text, "$(") == NULL) {
        return false;
    }
    if (!reader->xacro_said) {
        reader->xacro_said = true;
        urdf_error(reader, xml, "xacro",
                   "'%.80s' is xacro, not URDF: expand the file first, e.g. xacro robot.urdf.xacro > robot.urdf", text);
    }
    return true;
}

bool urdf_reals(urdf_reader *reader, const xml_element *xml, const char *attribute, int32_t count, double *values) {
    static const char *const wanted[] = {"", "one finite decimal number", "",
                                         "three finite decimal numbers separated by spaces",
                                         "four finite decimal numbers separated by spaces"};
    const char *text = xml_attribute(xml, attribute);
    double read[4] = {0.0};
    if (text == NULL) {
        return false;
    }
    int32_t found = stn_parse_reals(text, read, count);
    if (found == count) {
        memcpy(values, read, (size_t)count * sizeof *values);
        return true;
    }
    if (!urdf_is_xacro(reader, xml, text)) {
        urdf_error(reader, xml, "number", "%s of <%s>: '%.80s' must be %s", attribute, xml_name(xml), text,
                   wanted[count]);
    }
    return false;
}

bool urdf_real(urdf_reader *reader, const xml_element *xml, const char *attribute, double *value) {
    return urdf_reals(reader, xml, attribute, 1, value);
}

bool urdf_setting(urdf_reader *reader, const xml_element *xml, stn_severity severity, double *value) {
    const char *attribute = xml_attribute(xml, "value"), *text = attribute != NULL ? attribute : xml_text(xml);
    if (stn_parse_real(text, value)) {
        return true;
    }
    if (attribute != NULL || text[strspn(text, " \t\r\n")] != '\0') {
        if (!urdf_is_xacro(reader, xml, text)) {
            urdf_say(reader, severity, "number", xml_line(xml), "<%s>: '%.80s' must be one finite decimal number%s",
                     xml_name(xml), text, severity == STN_SEVERITY_ERROR ? "" : "; ignored");
        }
    }
    return false;
}

bool urdf_required(urdf_reader *reader, const xml_element *xml, const char *attribute, int32_t count, double *values) {
    if (xml_attribute(xml, attribute) == NULL) {
        urdf_error(reader, xml, "missing", "<%s> has no %s: add it", xml_name(xml), attribute);
    }
    return urdf_reals(reader, xml, attribute, count, values);
}

bool urdf_not_negative(urdf_reader *reader, const xml_element *xml, const char *attribute, const char *unit,
                       double *value) {
    double read = 0.0;
    if (!urdf_real(reader, xml, attribute, &read)) {
        return false;
    }
    if (read < 0.0) {
        urdf_error(reader, xml, "range", "%s of <%s> = %g %s must be >= 0", attribute, xml_name(xml), read, unit);
        return false;
    }
    *value = read;
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

const char *urdf_name_of(urdf_reader *reader, const xml_element *xml, const char *attribute) {
    const char *name = xml_attribute(xml, attribute);
    if (name == NULL || name[0] == '\0') {
        urdf_error(reader, xml, "name", "<%s> has no %s: add %s=\"...\"", xml_name(xml), attribute, attribute);
        return NULL;
    }
    if (!is_utf8(name)) {
        urdf_error(reader, xml, "name", "%s of <%s> is not UTF-8 text: save the file as UTF-8", attribute,
                   xml_name(xml));
        return NULL;
    }
    return name;
}

const xml_element *urdf_child(urdf_reader *reader, const xml_element *xml, const char *name) {
    const xml_element *found = NULL;
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), name) != 0) {
            continue;
        }
        if (found != NULL) {
            urdf_warn(reader, e, "repeated", "a second <%s> is ignored, the one of line %d counts: remove one", name,
                      (int)xml_line(found));
            break;
        }
        found = e;
    }
    return found;
}

stn_pose urdf_origin(urdf_reader *reader, const xml_element *xml) {
    const xml_element *origin = urdf_child(reader, xml, "origin");
    double xyz[3] = {0.0}, rpy[3] = {0.0};
    if (origin != NULL) {
        urdf_reals(reader, origin, "xyz", 3, xyz);
        urdf_reals(reader, origin, "rpy", 3, rpy);
    }
    return (stn_pose){stn_mat3_from_rpy(rpy[0], rpy[1], rpy[2]), stn_vec3_make(xyz[0], xyz[1], xyz[2])};
}
