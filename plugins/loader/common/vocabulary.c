// SPDX-License-Identifier: Apache-2.0
// What stands in a file and is not read: elements and attributes that the format's vocabulary does not list.
#include <string.h>

#include "robot.h"

typedef struct search {
    robot_reader *reader;
    const robot_vocabulary *vocabulary;
} search;

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

/// An element or, unless NULL, an attribute of it is skipped: a note, or a warning for what changes how the robot
/// moves. Labels read "link a", "collision_filter_group g", "gazebo a".
static void say_skipped(const search *s, const xml_element *labelled, const xml_element *xml, const char *attribute) {
    const robot_vocabulary *v = s->vocabulary;
    const char *name = attribute != NULL ? attribute : xml_name(xml);
    stn_severity other = v->severity == STN_SEVERITY_NOTE ? STN_SEVERITY_WARNING : STN_SEVERITY_NOTE;
    stn_severity severity = robot_lists(v->exceptions, name) ? other : v->severity;
    const char *effect = severity == STN_SEVERITY_WARNING ? ": the robot moves as if it were not there" : "";
    robot_reader *reader = s->reader;
    reader->label = v->words[0].name;
    if (labelled != NULL) {
        const char *kind = xml_name(labelled), *its_name = xml_attribute(labelled, "name");
        its_name = its_name == NULL ? xml_attribute(labelled, "reference") : its_name;
        kind += strncmp(kind, "drake:", 6) == 0 ? 6 : 0;
        reader->label = its_name != NULL ? robot_text(reader, "%s %s", kind, its_name) : kind;
    }
    if (attribute != NULL) {
        robot_say(reader, severity, "skipped", robot_at(xml), "the attribute '%.80s' of <%.80s> is not read%s", name,
                  xml_name(xml), effect);
    } else {
        robot_say(reader, severity, "skipped", robot_at(xml), "<%.80s> is not read%s", name, effect);
    }
}

/// As deep as the table goes, and no deeper than the parser lets elements nest.
static void visit(const search *s, const xml_element *labelled, const xml_element *xml, const robot_word *w) {
    const robot_vocabulary *v = s->vocabulary;
    for (const xml_attribute_entry *a = xml_first_attribute(xml); a != NULL; a = xml_next_attribute(a)) {
        const char *name = xml_attribute_name(a);
        if (!robot_lists(w->attributes, name) && strncmp(name, "xmlns", 5) != 0 &&
            robot_first(s->reader, ROBOT_SKIPPED_ATTRIBUTE, name)) {
            say_skipped(s, labelled, xml, name);
        }
    }
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        const xml_element *owner = robot_lists(v->labels, xml_name(e)) ? e : labelled;
        const char *name = xml_name(e);
        if (!robot_lists(w->children, name)) {
            if (robot_first(s->reader, ROBOT_SKIPPED_ELEMENT, name)) {
                say_skipped(s, owner, e, NULL);
            }
            continue;
        }
        const robot_word *inner = v->words, *end = v->words + v->count;
        while (inner < end &&
               (strcmp(inner->name, name) != 0 || (inner->parent != NULL && strcmp(inner->parent, w->name) != 0))) {
            inner++;
        }
        if (inner < end) {
            visit(s, owner, e, inner);
        }
    }
}

void robot_note_skipped(robot_reader *reader, const robot_vocabulary *vocabulary, const xml_element *root) {
    const search s = {reader, vocabulary};
    visit(&s, NULL, root, &vocabulary->words[0]);
}
