// SPDX-License-Identifier: Apache-2.0
// <link>: mass properties, shapes.
#include <string.h>

#include "urdf.h"

/// Diagonal entries must be there; an absent product of inertia is taken as zero.
static bool parse_inertia(urdf_reader *reader, const xml_element *xml, stn_mat3 *inertia) {
    static const struct {
        const char *name;
        int32_t i, j;
    } entries[] = {{"ixx", 0, 0}, {"iyy", 1, 1}, {"izz", 2, 2}, {"ixy", 0, 1}, {"ixz", 0, 2}, {"iyz", 1, 2}};
    bool good = true;
    for (int32_t k = 0; k < STN_COUNT(entries); k++) {
        double value = 0.0;
        int32_t i = entries[k].i, j = entries[k].j;
        if (i != j && xml_attribute(xml, entries[k].name) == NULL) {
            urdf_warn(reader, xml, "default", "<inertia> has no %s: taken as 0", entries[k].name);
            continue;
        }
        good = urdf_required(reader, xml, entries[k].name, 1, &value) && good;
        inertia->m[i][j] = inertia->m[j][i] = value;
    }
    return good;
}

/// NaN when it is missing or wrong, which is said.
static double parse_mass(urdf_reader *reader, const xml_element *inertial) {
    const xml_element *xml = urdf_child(reader, inertial, "mass");
    double mass = 0.0;
    if (xml == NULL) {
        urdf_error(reader, inertial, "missing",
                   "<inertial> has no <mass>: add <mass value=\"...\"/> [kg] or remove it");
        return (double)NAN;
    }
    if (!urdf_required(reader, xml, "value", 1, &mass)) {
        return (double)NAN;
    }
    if (mass < 0.0) {
        urdf_error(reader, xml, "range", "mass = %g kg must be >= 0", mass);
        return (double)NAN;
    }
    return mass;
}

static void parse_inertial(urdf_reader *reader, const xml_element *xml, stn_mass *out) {
    const xml_element *inertia_xml = urdf_child(reader, xml, "inertia");
    stn_pose pose = urdf_origin(reader, xml);
    stn_mat3 inertia = stn_mat3_diagonal(0.0, 0.0, 0.0);
    double mass = parse_mass(reader, xml);
    if (inertia_xml == NULL) {
        urdf_error(reader, xml, "missing", "<inertial> has no <inertia>: add it with ixx, iyy, izz, ixy, ixz, iyz");
    } else if (parse_inertia(reader, inertia_xml, &inertia)) {
        urdf_check_mass(reader, inertia_xml, mass, &inertia);
    }
    *out = (stn_mass){mass, pose.position, stn_mat3_rotate_tensor(&pose.rotation, &inertia)};
}

void urdf_parse_link(urdf_reader *reader, const xml_element *xml) {
    reader->label = "link";
    const char *name = urdf_name_of(reader, xml, "name");
    if (name == NULL) {
        return;
    }
    reader->label = urdf_format(reader, "link %s", name);
    int32_t other = urdf_names_find(&reader->link_names, 0, name);
    if (other >= 0) {
        urdf_error(reader, xml, "duplicate_link", "line %d has a link of the same name: rename one",
                   (int)reader->links[other].line);
        return;
    }
    int32_t index = reader->link_count++;
    urdf_link *link = &reader->links[index];
    *link = (urdf_link){.name = name, .label = reader->label, .xml = xml, .line = xml_line(xml), .joint = -1};
    urdf_names_add(reader, &reader->link_names, 0, name, index);
    const xml_element *inertial = urdf_child(reader, xml, "inertial");
    if (inertial != NULL) {
        parse_inertial(reader, inertial, &link->mass);
    }
    link->geometry_start = reader->geometry_count;
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        bool collision = strcmp(xml_name(e), "collision") == 0;
        if (collision || strcmp(xml_name(e), "visual") == 0) {
            urdf_parse_geometry(reader, e, index, collision);
        }
    }
    link->geometry_count = reader->geometry_count - link->geometry_start;
    const xml_element *contact = urdf_child(reader, xml, "contact");
    if (contact != NULL) {
        urdf_parse_contact(reader, contact, index);
    }
}
