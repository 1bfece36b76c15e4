// SPDX-License-Identifier: Apache-2.0
// C face of the XML library: elements, attributes, lines. Nothing here knows a format.
#ifndef LOADER_COMMON_XML_H
#define LOADER_COMMON_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xml_document xml_document;
typedef struct xml_element xml_element; // lives as long as its document
typedef struct xml_attribute_entry xml_attribute_entry;

typedef struct xml_problem {
    int32_t line; // 0: unknown
    bool out_of_memory;
    char text[256];
} xml_problem;

/// Parses `length` bytes without zeros. NULL when they are not one well-formed element, or declare entities; `problem`
/// then says why. `file`, borrowed, is what messages call the text. Entities other than the five named ones and
/// character numbers stay as they are written.
xml_document *xml_parse(const char *text, size_t length, const char *file, xml_problem *problem);
void xml_free(xml_document *document); // accepts NULL

const xml_element *xml_root(const xml_document *document);
const xml_element *xml_first_child(const xml_element *element); // NULL: none
const xml_element *xml_next_sibling(const xml_element *element);
/// From now on xml_first_child and xml_next_sibling go through the children of `root`, the root of another document,
/// where they met `element`. Each root may stand in one place, and none inside itself.
void xml_splice(const xml_element *element, const xml_element *root);
const char *xml_name(const xml_element *element);
const char *xml_attribute(const xml_element *element, const char *name);    // NULL: absent
const xml_attribute_entry *xml_first_attribute(const xml_element *element); // NULL: none
const xml_attribute_entry *xml_next_attribute(const xml_attribute_entry *entry);
const char *xml_attribute_name(const xml_attribute_entry *entry);
const char *xml_text(const xml_element *element); // text inside, "" when there is none
int32_t xml_line(const xml_element *element);
const char *xml_file(const xml_element *element); // as given to xml_parse

#ifdef __cplusplus
}
#endif
#endif
