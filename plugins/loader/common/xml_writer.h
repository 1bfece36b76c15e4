// SPDX-License-Identifier: Apache-2.0
// XML as text: one element a line, two spaces a level, names and texts escaped, numbers that read back to themselves.
// Nothing here knows a format.
#ifndef LOADER_COMMON_XML_WRITER_H
#define LOADER_COMMON_XML_WRITER_H

#include <stiction/context.h>

enum { XML_DEEPEST = 98 }; // as many levels as xml_parse reads

/// Zero it, and set the context. Failures are kept until xml_finish.
typedef struct xml_writer {
    stn_context *context;
    char *text;
    size_t length, capacity;
    const char *open[XML_DEEPEST]; // elements that have begun
    int32_t depth;
    bool in_tag;   // the start tag of the innermost may get attributes
    bool has_text; // the innermost holds text: its end stands behind that
    bool out_of_memory, too_deep;
} xml_writer;

/// Begins an element inside the innermost one. `name` is borrowed until xml_end.
void xml_begin(xml_writer *writer, const char *name);
void xml_end(xml_writer *writer);
/// Attributes of an element that has begun and holds nothing yet.
void xml_put_text(xml_writer *writer, const char *attribute, const char *text);
void xml_put_reals(xml_writer *writer, const char *attribute, const double *values, int32_t count);
void xml_put_real(xml_writer *writer, const char *attribute, double value);
/// An element with nothing but text or numbers: <name>text</name>.
void xml_text_element(xml_writer *writer, const char *name, const char *text);
void xml_reals_element(xml_writer *writer, const char *name, const double *values, int32_t count);
void xml_real_element(xml_writer *writer, const char *name, double value);
/// Text inside an element that has begun and holds no others, and that xml_end follows.
void xml_inside_text(xml_writer *writer, const char *text);
void xml_inside_reals(xml_writer *writer, const double *values, int32_t count);
/// The text, zero-terminated, is the caller's; STN_ERR_MEMORY, or STN_ERR_UNSUPPORTED when elements nest too deep: then
/// nothing is.
stn_status xml_finish(xml_writer *writer, char **text, size_t *length, stn_error *err);

/// Does a text hold a character that XML cannot (control characters other than tabulator and line ends)?
bool xml_cannot_hold(const char *text);

#endif
