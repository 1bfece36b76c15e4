// SPDX-License-Identifier: Apache-2.0
// What stands in a file and is not read: elements and attributes that the format's vocabulary does not list.
#include <string.h>

#include "robot.h"

bool robot_lists(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; length > 0 && (at = strstr(at, name)) != NULL; at += length) {
        bool whole = (at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
        if (whole) {
            return true;
        }
    }
    return false;
}

static const robot_word *find_word(const robot_vocabulary *v, const char *parent, const char *name) {
    for (int32_t i = 0; i < v->count; i++) {
        const robot_word *w = &v->words[i];
        if (strcmp(w->name, name) == 0 && (w->parent == NULL || strcmp(w->parent, parent) == 0)) {
            return w;
        }
    }
    return NULL;
}

/// "link a", "collision_filter_group g", "gazebo a".
static void set_label(robot_reader *reader, const robot_vocabulary *v, const xml_element *labelled) {
    if (labelled == NULL) {
        reader->label = v->words[0].name;
        return;
    }
    const char *kind = xml_name(labelled), *name = xml_attribute(labelled, "name");
    name = name == NULL ? xml_attribute(labelled, "reference") : name;
    kind += strncmp(kind, "drake:", 6) == 0 ? 6 : 0;
    reader->label = name != NULL ? robot_text(reader, "%s %s", kind, name) : kind;
}

/// What a note says, or, for what changes how the robot moves, a warning.
static void say_skipped(robot_reader *reader, const robot_vocabulary *v, const xml_element *labelled,
                        const xml_element *xml, const char *attribute) {
    const char *name = attribute != NULL ? attribute : xml_name(xml);
    stn_severity other = v->severity == STN_SEVERITY_NOTE ? STN_SEVERITY_WARNING : STN_SEVERITY_NOTE;
    stn_severity severity = robot_lists(v->exceptions, name) ? other : v->severity;
    const char *effect = severity == STN_SEVERITY_WARNING ? ": the robot moves as if it were not there" : "";
    set_label(reader, v, labelled);
    if (attribute != NULL) {
        robot_say(reader, severity, "skipped", robot_at(xml), "the attribute '%.80s' of <%.80s> is not read%s", name,
                  xml_name(xml), effect);
    } else {
        robot_say(reader, severity, "skipped", robot_at(xml), "<%.80s> is not read%s", name, effect);
    }
}

static void visit_attributes(robot_reader *reader, const robot_vocabulary *v, const xml_element *labelled,
                             const xml_element *xml, const robot_word *w) {
    for (const xml_attribute_entry *a = xml_first_attribute(xml); a != NULL; a = xml_next_attribute(a)) {
        const char *name = xml_attribute_name(a);
        if (!robot_lists(w->attributes, name) && strncmp(name, "xmlns", 5) != 0 &&
            robot_first(reader, ROBOT_SKIPPED_ATTRIBUTE, name)) {
            say_skipped(reader, v, labelled, xml, name);
        }
    }
}

/// As deep as the table goes, and no deeper than the parser lets elements nest.
static void visit(robot_reader *reader, const robot_vocabulary *v, const xml_element *labelled, const xml_element *xml,
                  const robot_word *w) {
    visit_attributes(reader, v, labelled, xml, w);
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        const xml_element *owner = robot_lists(v->labels, xml_name(e)) ? e : labelled;
        const robot_word *inner = find_word(v, w->name, xml_name(e));
        if (!robot_lists(w->children, xml_name(e))) {
            if (robot_first(reader, ROBOT_SKIPPED_ELEMENT, xml_name(e))) {
                say_skipped(reader, v, owner, e, NULL);
            }
        } else if (inner != NULL) {
            visit(reader, v, owner, e, inner);
        }
    }
}

void robot_note_skipped(robot_reader *reader, const robot_vocabulary *vocabulary, const xml_element *root) {
    visit(reader, vocabulary, NULL, root, &vocabulary->words[0]);
}
