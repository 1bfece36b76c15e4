// SPDX-License-Identifier: Apache-2.0
// <mujoco>: settings first, then defaults and assets, then the bodies, then what names them, wherever they stand.
#include <string.h>

#include "mjcf.h"

enum { MOST_SHAPES = 100000, LONGEST_NAME = 1000 };

static bool parse_root(robot_reader *reader, const xml_element *root) {
    reader->label = "mujoco";
    const char *name = xml_name(root);
    if (strcmp(name, "mujocoinclude") == 0) {
        robot_error(reader, root, "root", "the root element is <mujocoinclude>: load the file that includes this one");
        return false;
    }
    if (strcmp(name, "mujoco") != 0) {
        robot_error(reader, root, "root", "the root element is <%.60s>, MJCF has <mujoco>%s", name,
                    strcmp(name, "robot") == 0 ? ": this is URDF, name the file .urdf or the loader 'urdf'"
                    : strcmp(name, "sdf") == 0 ? ": this is SDFormat, name the file .sdf or the loader 'sdf'"
                                               : "");
        return false;
    }
    const char *model = xml_attribute(root, "model");
    reader->name = model != NULL && model[0] != '\0' ? robot_name_of(reader, root, "model") : robot_stem(reader);
    return reader->name != NULL;
}

/// What would take much memory or time, before any of it is read: every part is a record of its own, and names come
/// back in those of the parts made from them.
typedef struct census {
    int32_t shapes;
    bool good;
} census;

/// Also parts that these would make: the robot would lack them.
static void take_census(robot_reader *reader, const xml_element *xml, census *c) {
    for (const xml_element *e = xml_first_child(xml); e != NULL && c->good; e = xml_next_sibling(e)) {
        const char *name = xml_name(e);
        const char *type = strcmp(name, "composite") == 0 ? xml_attribute(e, "type") : NULL;
        bool cable = type != NULL && strcmp(type, "cable") == 0;
        if (robot_lists("replicate attach composite", name) && !cable) {
            reader->label = "mujoco";
            robot_error(
                reader, e, "unsupported",
                "<%.20s> is not read: save the model as MuJoCo does after compiling it, with all bodies written out",
                name);
            continue;
        }
        const char *given = xml_attribute(e, "name");
        c->shapes += strcmp(name, "geom") == 0;
        bool crowded = c->shapes > MOST_SHAPES;
        if (crowded || (given != NULL && strlen(given) > LONGEST_NAME)) {
            reader->label = "mujoco";
            robot_error(reader, e, "size", "too much for one robot: the limit is %d %s",
                        (int)(crowded ? MOST_SHAPES : LONGEST_NAME), crowded ? "geoms" : "bytes of a name");
            c->good = false;
        }
        if (robot_lists("worldbody body frame", name)) {
            take_census(reader, e, c);
        }
    }
}

bool mjcf_parse(robot_reader *reader, const xml_element *root) {
    mjcf_reader *mjcf = mjcf_of(reader);
    robot_names *const tables[] = {&mjcf->class_names, &mjcf->body_names,   &mjcf->mesh_names, &mjcf->material_names,
                                   &mjcf->links_taken, &mjcf->joints_taken, &mjcf->keys_taken, &mjcf->included,
                                   &mjcf->site_names,  &mjcf->flexed,       &mjcf->used,       &mjcf->point_names};
    if (!parse_root(reader, root)) {
        return true;
    }
    for (int32_t i = 0; i < STN_COUNT(tables); i++) {
        if (!robot_names_init(reader, tables[i], 0)) {
            return false;
        }
    }
    if (!mjcf_include(reader, root)) {
        return true; // what is missing would be missed again
    }
    census all = {.good = true};
    take_census(reader, root, &all);
    if (!all.good) {
        return true;
    }
    mjcf_read_compiler(reader, root);
    mjcf_read_defaults(reader, root);
    mjcf_read_assets(reader, root);
    if (reader->out_of_memory) {
        return false;
    }
    reader->label = "worldbody";
    if (mjcf_next(root, "worldbody", NULL) == NULL) {
        robot_error(reader, root, "no_link", "there is no <worldbody>: a robot stands in one");
        return true;
    }
    mjcf_find_points(reader, root);
    mjcf_read_world(reader, root);
    if (reader->out_of_memory || reader->link_count == 0) {
        return !reader->out_of_memory;
    }
    mjcf_read_flexes(reader, root);
    mjcf_scale_masses(reader);
    mjcf_read_sites(reader);
    mjcf_read_contact(reader, root);
    mjcf_exclude_neighbours(reader);
    mjcf_set_filters(reader);
    mjcf_read_equality(reader, root);
    mjcf_read_actuators(reader, root);
    mjcf_read_keyframes(reader, root);
    mjcf_note_option(reader, root);
    mjcf_note_skipped(reader, root);
    if (reader->out_of_memory) {
        return false;
    }
    robot_resolve_mimic(reader);
    bool good = reader->diagnostics->error_count == reader->errors_before;
    return good ? robot_connect(reader) : !reader->out_of_memory; // what stands in each other is a tree
}
