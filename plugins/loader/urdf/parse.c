// SPDX-License-Identifier: Apache-2.0
// <robot>: counts, makes room, reads every element, then connects what names connect. Elements may come in any order.
#include <string.h>

#include "urdf.h"

/// The first element of the xacro language; as deep as the parser lets elements nest.
static const xml_element *find_xacro(const xml_element *xml) {
    if (strncmp(xml_name(xml), "xacro:", 6) == 0) {
        return xml;
    }
    const xml_element *found = NULL;
    for (const xml_element *e = xml_first_child(xml); e != NULL && found == NULL; e = xml_next_sibling(e)) {
        found = find_xacro(e);
    }
    return found;
}

static bool parse_root(robot_reader *reader, const xml_element *root) {
    reader->label = "robot";
    if (strcmp(xml_name(root), "robot") != 0) {
        robot_error(reader, root, "root", "the root element is <%.60s>, URDF has <robot>%s", xml_name(root),
                    strcmp(xml_name(root), "mujoco") == 0 ? ": this is MJCF, name the file .xml or the loader 'mjcf'"
                    : strcmp(xml_name(root), "sdf") == 0  ? ": this is SDFormat, name the file .sdf or the loader 'sdf'"
                                                          : "");
        return false;
    }
    const xml_element *xacro = find_xacro(root);
    if (xacro != NULL) {
        reader->xacro_said = true;
        robot_error(reader, xacro, "xacro",
                    "<%.60s> is xacro, not URDF: expand the file first, e.g. xacro robot.urdf.xacro > robot.urdf",
                    xml_name(xacro));
        return false;
    }
    const char *name = xml_attribute(root, "name");
    if (name == NULL || name[0] == '\0') {
        reader->name = robot_stem(reader);
        robot_warn(reader, root, "name", "<robot> has no name: called '%.80s'", reader->name);
    } else {
        reader->name = robot_name_of(reader, root, "name");
    }
    return true;
}

bool urdf_parse(robot_reader *reader, const xml_element *root) {
    if (!parse_root(reader, root)) {
        return true;
    }
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "deformable") == 0) { // beside which PyBullet reads nothing else of the file
            const char *name = xml_attribute(e, "name");
            reader->label = name != NULL ? robot_text(reader, "deformable %s", name) : "deformable";
            robot_error(
                reader, e, "unsupported",
                "PyBullet's <deformable> is not read: its springs, damping and repulsion are Bullet's own; make a "
                "link with <drake:deformable_properties> in an SDFormat file of it, or world:soft in a script");
            return true;
        }
    }
    // Every <material> may bring a name, and every use of one may be looked up at the end.
    urdf_reader *urdf = urdf_of(reader);
    int32_t definitions = 0, visuals = 0;
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        bool link = strcmp(xml_name(e), "link") == 0;
        definitions += strcmp(xml_name(e), "material") == 0;
        for (const xml_element *c = link ? xml_first_child(e) : NULL; c != NULL; c = xml_next_sibling(c)) {
            visuals += strcmp(xml_name(c), "visual") == 0;
        }
    }
    urdf->materials = ROBOT_NEW(reader, definitions + visuals, urdf_material);
    urdf->uses = ROBOT_NEW(reader, visuals, urdf_use);
    if (reader->out_of_memory || !robot_names_init(reader, &urdf->material_names, definitions + visuals)) {
        return false;
    }
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "material") == 0) {
            urdf_parse_material(reader, e, -1);
        }
    }
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "link") == 0) {
            urdf_parse_link(reader, e);
        } else if (robot_lists("joint drake:joint", xml_name(e))) {
            urdf_parse_joint(reader, e);
        }
    }
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "transmission") == 0) {
            urdf_parse_transmission(reader, e);
        } else if (strcmp(xml_name(e), "gazebo") == 0) {
            urdf_parse_gazebo(reader, e);
        }
    }
    if (reader->out_of_memory) {
        return false;
    }
    if (reader->link_count == 0) {
        reader->label = "robot";
        robot_error(reader, root, "no_link", "the robot has no <link>");
        return true;
    }
    urdf_note_skipped(reader, root);
    urdf_resolve_materials(reader);
    robot_resolve_mimic(reader);
    return robot_connect(reader) && robot_parse_filters(reader, root, "");
}
