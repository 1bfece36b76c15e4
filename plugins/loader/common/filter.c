// SPDX-License-Identifier: Apache-2.0
// <drake:collision_filter_group>: links of a group never collide with those of the groups it ignores. A group may hold
// other groups and may ignore itself.
#include <string.h>

#include "robot.h"

enum { MOST_CELLS = 1 << 24, MOST_EXCLUSIONS = 1 << 20, DEEPEST_NESTING = 16 };

typedef struct group {
    const xml_element *xml;
    bool *member;   // (link_count)
    int32_t *links; // (count), the same as a list
    int32_t count;
} group;

typedef struct filters {
    int32_t count;
    group *groups;
    robot_names names;
} filters;

static bool is_group(const xml_element *xml) {
    const char *ignore = xml_attribute(xml, "ignore");
    bool ignored = ignore != NULL && (strcmp(ignore, "true") == 0 || strcmp(ignore, "1") == 0);
    return strcmp(xml_name(xml), "drake:collision_filter_group") == 0 && !ignored;
}

static void label_group(robot_reader *reader, const xml_element *xml) {
    const char *name = xml_attribute(xml, "name");
    reader->label = robot_text(reader, "collision_filter_group %s", name != NULL ? name : "");
}

/// URDF has the name as an attribute, SDF as text.
static const char *name_in(robot_reader *reader, const xml_element *xml, const char *attribute) {
    bool text = xml_attribute(xml, attribute) == NULL && xml_text(xml)[0] != '\0';
    return text ? robot_text_name(reader, xml) : robot_name_of(reader, xml, attribute);
}

static bool collect(robot_reader *reader, const xml_element *root, filters *f) {
    int32_t total = 0;
    int64_t entries = 0;
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        total += is_group(e);
        for (const xml_element *c = is_group(e) ? xml_first_child(e) : NULL; c != NULL; c = xml_next_sibling(c)) {
            entries++;
        }
    }
    if ((entries + total) * reader->link_count > MOST_CELLS) { // the work that follows grows with this
        reader->label = "robot";
        robot_error(reader, root, "size", "%d collision filter groups with %d entries are too many for %d links",
                    (int)total, (int)entries, (int)reader->link_count);
        return true;
    }
    f->groups = ROBOT_NEW(reader, total, group);
    if (f->groups == NULL || !robot_names_init(reader, &f->names, total)) {
        return false;
    }
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        if (!is_group(e)) {
            continue;
        }
        label_group(reader, e);
        const char *name = robot_name_of(reader, e, "name");
        if (name != NULL && robot_names_find(&f->names, 0, name) >= 0) {
            robot_error(reader, e, "duplicate_group", "a second group of this name: rename one");
        } else if (name != NULL) {
            robot_names_add(reader, &f->names, 0, name, f->count);
            f->groups[f->count++] = (group){.xml = e, .member = ROBOT_NEW(reader, reader->link_count, bool)};
        }
    }
    return true;
}

/// The group that an attribute of `xml` names, -1 after saying that there is none.
static int32_t named_group(robot_reader *reader, const filters *f, const xml_element *xml) {
    const char *name = name_in(reader, xml, "name");
    int32_t index = name != NULL ? robot_names_find(&f->names, 0, name) : -1;
    if (name != NULL && index < 0) {
        robot_error(reader, xml, "unknown_group", "the group '%.80s' does not exist", name);
    }
    return index;
}

/// Adds the members of groups inside group `index`; true when that added one.
static bool mark_groups(robot_reader *reader, filters *f, int32_t index) {
    bool grew = false;
    label_group(reader, f->groups[index].xml);
    for (const xml_element *e = xml_first_child(f->groups[index].xml); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "drake:member_group") != 0) {
            continue;
        }
        int32_t inner = named_group(reader, f, e);
        for (int32_t i = 0; inner >= 0 && i < reader->link_count; i++) {
            bool added = f->groups[inner].member[i] && !f->groups[index].member[i];
            f->groups[index].member[i] |= added;
            grew |= added;
        }
    }
    return grew;
}

/// Keeps the links of a group from colliding with those of the groups that it ignores. false: too many, said, or no
/// memory.
static bool exclude_ignored(robot_reader *reader, const filters *f, int32_t index) {
    const group *mine = &f->groups[index];
    label_group(reader, mine->xml);
    for (const xml_element *e = xml_first_child(mine->xml); e != NULL; e = xml_next_sibling(e)) {
        bool ignores = strcmp(xml_name(e), "drake:ignored_collision_filter_group") == 0;
        int32_t other = ignores ? named_group(reader, f, e) : -1;
        for (int32_t a = 0; other >= 0 && a < mine->count; a++) {
            const group *theirs = &f->groups[other];
            for (int32_t b = index == other ? a + 1 : 0; b < theirs->count; b++) {
                bool same = mine->links[a] == theirs->links[b];
                if (!same && reader->exclusion_count == MOST_EXCLUSIONS) {
                    robot_error(reader, mine->xml, "size", "more than %d pairs of links in collision filter groups",
                                (int)MOST_EXCLUSIONS);
                    return false;
                }
                if (!same && !robot_add_exclusion(reader, mine->links[a], theirs->links[b])) {
                    return false;
                }
            }
        }
    }
    return true;
}

bool robot_parse_filters(robot_reader *reader, const xml_element *root, const char *prefix) {
    filters f = {0};
    if (!collect(reader, root, &f) || reader->out_of_memory) {
        return false;
    }
    for (int32_t g = 0; g < f.count; g++) {
        label_group(reader, f.groups[g].xml);
        for (const xml_element *e = xml_first_child(f.groups[g].xml); e != NULL; e = xml_next_sibling(e)) {
            bool member = strcmp(xml_name(e), "drake:member") == 0;
            const char *name = member ? name_in(reader, e, "link") : NULL;
            if (name == NULL) {
                continue;
            }
            const char *full = prefix[0] != '\0' ? robot_text(reader, "%s%s", prefix, name) : name;
            int32_t link = robot_names_find(&reader->link_names, 0, full);
            if (link >= 0) {
                f.groups[g].member[link] = true;
            } else {
                robot_error(reader, e, "unknown_link", "its member link '%.80s' does not exist", name);
            }
        }
    }
    bool grew = true;
    int32_t errors = reader->diagnostics->error_count;
    for (int32_t pass = 0; grew && pass <= DEEPEST_NESTING; pass++) {
        grew = false;
        for (int32_t g = 0; g < f.count; g++) {
            grew = mark_groups(reader, &f, g) || grew;
        }
        grew = grew && reader->diagnostics->error_count == errors; // what is wrong with names is said once
    }
    if (grew) {
        reader->label = "robot";
        robot_error(reader, root, "size", "collision filter groups are nested too deep (limit %d)",
                    (int)DEEPEST_NESTING);
        return true;
    }
    for (int32_t g = 0; g < f.count; g++) {
        group *own = &f.groups[g];
        own->links = ROBOT_NEW(reader, reader->link_count, int32_t);
        if (own->links == NULL) {
            return false;
        }
        for (int32_t i = 0; i < reader->link_count; i++) {
            if (own->member[i]) {
                own->links[own->count++] = i;
            }
        }
    }
    for (int32_t g = 0; g < f.count; g++) {
        if (!exclude_ignored(reader, &f, g)) {
            break;
        }
    }
    return !reader->out_of_memory;
}
