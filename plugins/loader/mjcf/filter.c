// SPDX-License-Identifier: Apache-2.0
// Who collides with whom. MuJoCo lets two geoms collide when
//   (contype_1 & conaffinity_2) | (contype_2 & conaffinity_1)  is not 0,
// here each one's category must meet the other's mask. So every distinct pair (contype, conaffinity) of the file gets a
// category bit of its own, and as mask the bits of all pairs that it collides with; as the rule is symmetric, both
// masks say the same. The pair (1, 1), MuJoCo's default, has bit 0, which is that of geometry from elsewhere.
#include <string.h>

#include "mjcf.h"

enum { MOST_CLASSES = 32, MOST_EXCLUSIONS = 1000000 };

/// The number of a filter among `count` classes; -1: it is not there.
static int32_t find_class(const mjcf_filter *classes, int32_t count, const mjcf_filter *filter) {
    for (int32_t k = 0; k < count; k++) {
        if (classes[k].contype == filter->contype && classes[k].conaffinity == filter->conaffinity) {
            return k;
        }
    }
    return -1;
}

/// The distinct filters of a file.
typedef struct filter_classes {
    mjcf_filter items[MOST_CLASSES];
    int32_t count;
} filter_classes;

/// false: there is no more room, said.
static bool add_class(robot_reader *reader, filter_classes *classes, const mjcf_filter *filter, robot_place place) {
    if (find_class(classes->items, classes->count, filter) >= 0) {
        return true;
    }
    if (classes->count == MOST_CLASSES) {
        reader->label = "geom";
        robot_say(reader, STN_SEVERITY_ERROR, "filter", place,
                  "more than %d different pairs of contype and conaffinity besides 1 1: use fewer",
                  (int)MOST_CLASSES - 1);
        return false;
    }
    classes->items[classes->count++] = *filter;
    return true;
}

/// Category and mask of a filter; -1: of what does not collide.
static void set_bits(const filter_classes *classes, int32_t own, uint32_t *category, uint32_t *mask) {
    own = own >= 0 ? own : 0;
    *category = 1u << own;
    *mask = 0;
    for (int32_t k = 0; k < classes->count; k++) {
        const mjcf_filter *a = &classes->items[own], *b = &classes->items[k];
        bool meet = (a->contype & b->conaffinity) != 0 || (b->contype & a->conaffinity) != 0;
        *mask |= meet ? 1u << k : 0u;
    }
}

void mjcf_set_filters(robot_reader *reader) {
    const mjcf_filter *filters = mjcf_of(reader)->filters, *soft_filters = mjcf_of(reader)->soft_filters;
    filter_classes classes = {.items = {{1, 1}}, .count = 1};
    bool good = !reader->out_of_memory;
    for (int32_t i = 0; i < reader->geometry_count && good; i++) {
        good = !reader->geometries[i].spec.collision ||
               add_class(reader, &classes, &filters[i], reader->geometries[i].place);
    }
    for (int32_t i = 0; i < reader->soft_count && good; i++) {
        good = !reader->softs[i].surface.collision ||
               add_class(reader, &classes, &soft_filters[i], reader->softs[i].place);
    }
    for (int32_t i = 0; i < reader->geometry_count && good; i++) {
        stn_geometry_spec *spec = &reader->geometries[i].spec;
        int32_t own = spec->collision ? find_class(classes.items, classes.count, &filters[i]) : -1;
        set_bits(&classes, own, &spec->category, &spec->mask);
    }
    for (int32_t i = 0; i < reader->soft_count && good; i++) {
        stn_surface_spec *spec = &reader->softs[i].surface;
        int32_t own = spec->collision ? find_class(classes.items, classes.count, &soft_filters[i]) : -1;
        set_bits(&classes, own, &spec->category, &spec->mask);
    }
}

/// The body that an attribute names; -1: none, said.
static int32_t body_of(robot_reader *reader, const xml_element *xml, const char *attribute) {
    const char *name = robot_name_of(reader, xml, attribute);
    int32_t body = name != NULL ? robot_names_find(&mjcf_of(reader)->body_names, 0, name) : -1;
    if (name != NULL && body < 0) {
        robot_error(reader, xml, "unknown_link", "%s of <exclude>: there is no body '%.80s'%s", attribute, name,
                    robot_names_hint(reader, &mjcf_of(reader)->body_names, 0, name));
    }
    return body;
}

void mjcf_read_contact(robot_reader *reader, const xml_element *root) {
    const mjcf_body *bodies = mjcf_of(reader)->bodies;
    const xml_element *section = NULL;
    reader->label = "contact";
    while ((section = mjcf_next(root, "contact", section)) != NULL) {
        for (const xml_element *e = xml_first_child(section); e != NULL; e = xml_next_sibling(e)) {
            if (strcmp(xml_name(e), "exclude") != 0) {
                continue;
            }
            int32_t a = body_of(reader, e, "body1"), b = body_of(reader, e, "body2");
            if (a < 0 || b < 0) {
                continue;
            }
            if (bodies[a].link < 0 || bodies[b].link < 0) {
                robot_note(reader, e, "exclude", "the world of this file has no geoms: there is nothing to exclude");
            } else if (!robot_add_exclusion(reader, bodies[a].link, bodies[b].link)) {
                reader->out_of_memory = true;
            }
        }
    }
}

/// MuJoCo filters what one joint or several of one body connect; here several joints have links between them, so that
/// the two rigid bodies are no neighbours.
void mjcf_exclude_neighbours(robot_reader *reader) {
    const mjcf_reader *mjcf = mjcf_of(reader);
    // Bodies with colliding geoms that are one rigid body, in a list: its first one, by `weld`, and the next ones.
    int32_t *first = reader->out_of_memory ? NULL : ROBOT_NEW(reader, mjcf->body_count, int32_t);
    int32_t *next = first != NULL ? ROBOT_NEW(reader, mjcf->body_count, int32_t) : NULL;
    if (next == NULL) {
        return;
    }
    memset(first, 0xff, (size_t)mjcf->body_count * sizeof *first); // -1: none
    for (int32_t i = mjcf->body_count - 1; i > 0; i--) {
        const mjcf_body *body = &mjcf->bodies[i];
        if (body->link >= 0 && reader->links[body->link].geometry_count > 0) {
            next[i] = first[body->weld];
            first[body->weld] = i;
        }
    }
    for (int32_t i = 1; i < mjcf->body_count; i++) {
        int32_t above = mjcf->bodies[i].parent > 0 ? mjcf->bodies[mjcf->bodies[i].parent].weld : 0;
        if (mjcf->bodies[i].joint_count < 2 || above == 0) {
            continue;
        }
        for (int32_t a = first[above]; a >= 0; a = next[a]) {
            for (int32_t b = first[i]; b >= 0; b = next[b]) {
                if (reader->exclusion_count == MOST_EXCLUSIONS) {
                    reader->label = "robot";
                    robot_say(reader, STN_SEVERITY_ERROR, "size", reader->links[mjcf->bodies[i].link].place,
                              "more than %d pairs of bodies that never collide", (int)MOST_EXCLUSIONS);
                    return;
                }
                if (!robot_add_exclusion(reader, mjcf->bodies[a].link, mjcf->bodies[b].link)) {
                    return;
                }
            }
        }
    }
}
