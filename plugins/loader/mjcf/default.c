// SPDX-License-Identifier: Apache-2.0
// Defaults: an attribute that an element does not have is that of its class, of the class around it, ..., of the main
// one. A class takes over what the one around it holds when it begins, and of one element the plain ones come before
// nested classes. Every list of layers is the element's own defaults from the outside in.
#include <stdio.h>
#include <string.h>

#include "mjcf.h"

enum { MOST_LAYERS = 16 }; // every attribute of every element looks through them

/// A new class with what its parent (-1: none) holds now; -1 without memory.
static int32_t add_class(robot_reader *reader, const char *name, int32_t parent) {
    mjcf_reader *mjcf = mjcf_of(reader);
    mjcf->classes =
        robot_reserve(reader, mjcf->classes, mjcf->class_count, &mjcf->class_capacity, sizeof *mjcf->classes);
    if (mjcf->class_count == mjcf->class_capacity) {
        return -1;
    }
    int32_t index = mjcf->class_count++;
    mjcf->classes[index] = parent >= 0 ? mjcf->classes[parent] : (mjcf_class){0};
    robot_names_add(reader, &mjcf->class_names, 0, name, index);
    return index;
}

static void read_default(robot_reader *reader, const xml_element *xml, int32_t class_index) {
    static const char *const kinds[MJCF_KIND_COUNT] = {
        "joint", "geom",     "site",
        "mesh",  "material", "general motor position velocity intvelocity damper cylinder muscle adhesion dcmotor"};
    mjcf_reader *mjcf = mjcf_of(reader);
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        int32_t kind = 0;
        while (kind < MJCF_KIND_COUNT && !robot_lists(kinds[kind], xml_name(e))) {
            kind++;
        }
        if (kind == MJCF_KIND_COUNT) {
            continue;
        }
        mjcf_layers *layers = &mjcf->classes[class_index].layers[kind];
        if (layers->count == MOST_LAYERS) {
            robot_error(reader, e, "size", "<%.60s> of this class has defaults in %d places already: join some",
                        xml_name(e), (int)MOST_LAYERS);
            continue;
        }
        const xml_element **items = ROBOT_NEW(reader, layers->count + 1, const xml_element *);
        if (items == NULL) {
            continue;
        }
        if (layers->count > 0) {
            memcpy(items, layers->items, (size_t)layers->count * sizeof *items);
        }
        items[layers->count] = e;
        *layers = (mjcf_layers){items, layers->count + 1};
    }
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        const char *name = strcmp(xml_name(e), "default") == 0 ? robot_name_of(reader, e, "class") : NULL;
        if (name == NULL) {
            continue;
        }
        if (robot_names_find(&mjcf->class_names, 0, name) >= 0) {
            robot_error(reader, e, "duplicate_class", "there is a class '%.80s' already: rename one", name);
            continue;
        }
        int32_t inner = add_class(reader, name, class_index);
        if (inner >= 0) {
            read_default(reader, e, inner);
        }
    }
}

void mjcf_read_defaults(robot_reader *reader, const xml_element *root) {
    mjcf_reader *mjcf = mjcf_of(reader);
    reader->label = "default";
    if (add_class(reader, "main", -1) < 0) {
        return;
    }
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "default") != 0) {
            continue;
        }
        const char *name = xml_attribute(e, "class");
        int32_t known = name != NULL ? robot_names_find(&mjcf->class_names, 0, name) : 0;
        if (known > 0) {
            robot_error(reader, e, "duplicate_class", "there is a class '%.80s' already: rename one", name);
            continue;
        }
        if (known < 0) { // early versions let the main class have another name
            robot_names_add(reader, &mjcf->class_names, 0, name, 0);
        }
        read_default(reader, e, 0);
    }
}

int32_t mjcf_class_of(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t otherwise) {
    const char *name = xml_attribute(xml, attribute);
    if (name == NULL) {
        return otherwise;
    }
    int32_t index = robot_names_find(&mjcf_of(reader)->class_names, 0, name);
    if (index < 0) {
        robot_error(reader, xml, "unknown_class", "%s of <%.60s>: there is no class '%.80s' in <default>%s", attribute,
                    xml_name(xml), name, robot_names_hint(reader, &mjcf_of(reader)->class_names, 0, name));
    }
    return index < 0 ? 0 : index;
}

mjcf_item mjcf_item_of(robot_reader *reader, const xml_element *xml, mjcf_kind kind, int32_t class_index) {
    return (mjcf_item){xml, kind, mjcf_class_of(reader, xml, "class", class_index)};
}

static const mjcf_layers *layers_of(robot_reader *reader, const mjcf_item *item) {
    return &mjcf_of(reader)->classes[item->class_index].layers[item->kind];
}

const xml_element *mjcf_holder(robot_reader *reader, const mjcf_item *item, const char *attribute) {
    const mjcf_layers *layers = layers_of(reader, item);
    const xml_element *holder = item->xml;
    for (int32_t i = layers->count; xml_attribute(holder, attribute) == NULL;) {
        if (i-- == 0) {
            return NULL;
        }
        holder = layers->items[i];
    }
    return holder;
}

const char *mjcf_word(robot_reader *reader, const mjcf_item *item, const char *attribute) {
    const xml_element *holder = mjcf_holder(reader, item, attribute);
    return holder != NULL ? xml_attribute(holder, attribute) : NULL;
}

/// Was this attribute of a default found bad before? Every element that takes it would say so again.
static bool is_known_bad(robot_reader *reader, const mjcf_item *item, const xml_element *holder,
                         const char *attribute) {
    return holder != item->xml &&
           !robot_first(reader, (robot_topic)MJCF_BAD_DEFAULT,
                        robot_text(reader, "%s:%d:%s", xml_file(holder), (int)xml_line(holder), attribute));
}

int32_t mjcf_reals(robot_reader *reader, const mjcf_item *item, const char *attribute, int32_t least, int32_t most,
                   double *values) {
    const mjcf_layers *layers = layers_of(reader, item);
    double read[ROBOT_MOST_REALS];
    int32_t filled = 0;
    for (int32_t i = layers->count; i >= 0 && filled < most; i--) {
        const xml_element *holder = i == layers->count ? item->xml : layers->items[i];
        const char *text = xml_attribute(holder, attribute);
        if (text == NULL) {
            continue;
        }
        int32_t count = stn_parse_reals(text, read, most);
        if (count < least || count > most) {
            if (!is_known_bad(reader, item, holder, attribute)) {
                char what[128];
                snprintf(what, sizeof what, "%s of <%.60s>", attribute, xml_name(holder));
                robot_parse_reals(reader, holder, what, text, least, most, read);
            }
            return 0;
        }
        for (; filled < count; filled++) {
            values[filled] = read[filled];
        }
    }
    return filled;
}

bool mjcf_real(robot_reader *reader, const mjcf_item *item, const char *attribute, double *value) {
    return mjcf_reals(reader, item, attribute, 1, 1, value) == 1;
}

bool mjcf_not_negative(robot_reader *reader, const mjcf_item *item, const char *attribute, const char *unit,
                       double *value) {
    double read = 0.0;
    const xml_element *holder = mjcf_holder(reader, item, attribute);
    if (holder == NULL || !mjcf_real(reader, item, attribute, &read)) {
        return false;
    }
    if (read < 0.0) {
        if (!is_known_bad(reader, item, holder, attribute)) {
            robot_error(reader, holder, "range", "%s of <%.60s> = %g %s must be >= 0", attribute, xml_name(holder),
                        read, unit);
        }
        return false;
    }
    *value = read;
    return true;
}

static int32_t find_word(const char *words, const char *word) {
    size_t length = strlen(word);
    int32_t position = 0;
    for (const char *at = words; *at != '\0'; position++) {
        size_t size = strcspn(at, " ");
        if (size == length && strncmp(at, word, size) == 0) {
            return position;
        }
        at += size + strspn(at + size, " ");
    }
    return -1;
}

int32_t mjcf_choice(robot_reader *reader, const mjcf_item *item, const char *attribute, const char *words,
                    int32_t otherwise) {
    const xml_element *holder = mjcf_holder(reader, item, attribute);
    int32_t choice = holder != NULL ? find_word(words, xml_attribute(holder, attribute)) : otherwise;
    if (holder != NULL && choice < 0) {
        if (!is_known_bad(reader, item, holder, attribute)) {
            robot_error(reader, holder, "word", "%s of <%.60s> = '%.60s' must be one of: %s", attribute,
                        xml_name(holder), xml_attribute(holder, attribute), words);
        }
        return otherwise;
    }
    return choice;
}

int32_t mjcf_plain_choice(robot_reader *reader, const xml_element *xml, const char *attribute, const char *words,
                          int32_t otherwise) {
    const char *word = xml_attribute(xml, attribute);
    int32_t choice = word != NULL ? find_word(words, word) : otherwise;
    if (choice < 0 && word != NULL) {
        robot_error(reader, xml, "word", "%s of <%.60s> = '%.60s' must be one of: %s", attribute, xml_name(xml), word,
                    words);
        return otherwise;
    }
    return choice;
}

bool mjcf_is_limited(robot_reader *reader, const mjcf_item *item, const char *limited, const char *range) {
    enum { IS_FALSE, IS_TRUE, IS_AUTO };
    int32_t choice = mjcf_choice(reader, item, limited, "false true auto", IS_AUTO);
    const xml_element *holder = mjcf_holder(reader, item, range);
    double read[2];
    bool given = holder != NULL;
    if (given && stn_parse_reals(xml_attribute(holder, range), read, 2) == 2) {
        given = read[0] != 0.0 || read[1] != 0.0; // 0 0 takes back the range of a default, as if there were none
    }
    if (choice == IS_AUTO && given && !mjcf_of(reader)->compiler.autolimits &&
        robot_first(reader, (robot_topic)MJCF_NO_LIMIT, range)) {
        robot_warn(reader, holder, "limit", "a %s without %s=\"true\", where autolimits is off: unlimited", range,
                   limited);
    }
    return choice == IS_TRUE || (choice == IS_AUTO && given && mjcf_of(reader)->compiler.autolimits);
}

bool mjcf_range(robot_reader *reader, const mjcf_item *item, const char *attribute, double range[2]) {
    double read[2] = {0.0};
    const xml_element *holder = mjcf_holder(reader, item, attribute);
    if (holder != NULL && mjcf_reals(reader, item, attribute, 2, 2, read) != 2) {
        return false;
    }
    if (!(read[0] < read[1])) {
        const xml_element *xml = holder != NULL ? holder : item->xml;
        robot_error(reader, xml, "limit", "%s of <%.60s> = %g %g: the lower limit must be below the upper one",
                    attribute, xml_name(xml), read[0], read[1]);
        return false;
    }
    range[0] = read[0];
    range[1] = read[1];
    return true;
}
