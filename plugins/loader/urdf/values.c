// SPDX-License-Identifier: Apache-2.0
// Messages, and attributes as numbers, names and poses.
#include <stdio.h>
#include <string.h>

#include "urdf.h"

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

/// The xacro language is recognised so that the message names the tool; once is enough.
static bool is_xacro(urdf_reader *reader, const xml_element *xml, const char *text) {
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
    if (!is_xacro(reader, xml, text)) {
        urdf_error(reader, xml, "number", "%s of <%s>: '%.80s' must be %s", attribute, xml_name(xml), text,
                   wanted[count]);
    }
    return false;
}

bool urdf_real(urdf_reader *reader, const xml_element *xml, const char *attribute, double *value) {
    return urdf_reals(reader, xml, attribute, 1, value);
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

/// Length of the UTF-8 character at `s`, 0 when it is none (overlong forms, surrogates and beyond U+10FFFF included).
static size_t utf8_length(const unsigned char *s) {
    static const struct {
        unsigned char first, last, second_first, second_last;
        size_t length;
    } forms[] = {{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (int32_t i = 0; i < STN_COUNT(forms); i++) {
        if (s[0] < forms[i].first || s[0] > forms[i].last) {
            continue;
        }
        bool good = forms[i].length < 2 || (s[1] >= forms[i].second_first && s[1] <= forms[i].second_last);
        for (size_t k = 2; good && k < forms[i].length; k++) {
            good = (s[k] & 0xc0) == 0x80;
        }
        return good ? forms[i].length : 0;
    }
    return 0;
}

static bool is_utf8(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    while (*s != '\0') {
        size_t length = utf8_length(s);
        if (length == 0) {
            return false;
        }
        s += length;
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

static bool is_in(const char *const *list, int32_t count, const char *name) {
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(list[i], name) == 0) {
            return true;
        }
    }
    return false;
}

void urdf_skip_others(urdf_reader *reader, const xml_element *xml, const char *const *known) {
    int32_t known_count = 0;
    while (known[known_count] != NULL) {
        known_count++;
    }
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        const char *name = xml_name(e);
        bool said = is_in(known, known_count, name) || is_in(reader->skipped, reader->skipped_count, name);
        if (!said && reader->skipped_count < URDF_SKIPPED_KEPT) {
            reader->skipped[reader->skipped_count++] = name;
            urdf_note(reader, e, "skipped", "<%s> is not read", name);
        }
    }
}
