// SPDX-License-Identifier: Apache-2.0
// <link>: mass properties, shapes.
#include <string.h>

#include "urdf.h"

stn_pose urdf_origin(robot_reader *reader, const xml_element *xml) {
    const xml_element *origin = robot_child(reader, xml, "origin");
    double xyz[3] = {0.0}, rpy[3] = {0.0};
    if (origin != NULL) {
        robot_reals(reader, origin, "xyz", 3, xyz);
        robot_reals(reader, origin, "rpy", 3, rpy);
    }
    return (stn_pose){stn_mat3_from_rpy(rpy[0], rpy[1], rpy[2]), stn_vec3_make(xyz[0], xyz[1], xyz[2])};
}

/// Mass and diagonal entries must be there; an absent product of inertia is taken as zero.
static void parse_inertial(robot_reader *reader, const xml_element *xml, stn_mass *out) {
    static const struct {
        const char *name;
        int32_t i, j;
    } entries[] = {{"ixx", 0, 0}, {"iyy", 1, 1}, {"izz", 2, 2}, {"ixy", 0, 1}, {"ixz", 0, 2}, {"iyz", 1, 2}};
    const xml_element *inertia_xml = robot_child(reader, xml, "inertia");
    stn_pose pose = urdf_origin(reader, xml);
    const xml_element *mass_xml = robot_child(reader, xml, "mass");
    double mass = (double)NAN; // when it is missing or wrong, which is said
    if (mass_xml == NULL) {
        robot_error(reader, xml, "missing", "<inertial> has no <mass>: add <mass value=\"...\"/> [kg] or remove it");
    } else if (robot_required(reader, mass_xml, "value", 1, &mass) && mass < 0.0) {
        robot_error(reader, mass_xml, "range", "mass = %g kg must be >= 0", mass);
        mass = (double)NAN;
    }
    stn_mat3 inertia = stn_mat3_diagonal(0.0, 0.0, 0.0);
    bool good = inertia_xml != NULL;
    if (inertia_xml == NULL) {
        robot_error(reader, xml, "missing", "<inertial> has no <inertia>: add it with ixx, iyy, izz, ixy, ixz, iyz");
    }
    for (int32_t k = 0; inertia_xml != NULL && k < STN_COUNT(entries); k++) {
        double value = 0.0;
        int32_t i = entries[k].i, j = entries[k].j;
        if (i != j && xml_attribute(inertia_xml, entries[k].name) == NULL) {
            robot_warn(reader, inertia_xml, "default", "<inertia> has no %s: taken as 0", entries[k].name);
            continue;
        }
        good = robot_required(reader, inertia_xml, entries[k].name, 1, &value) && good;
        inertia.m[i][j] = inertia.m[j][i] = value;
    }
    if (good) {
        robot_check_mass(reader, inertia_xml, mass, &inertia);
    }
    *out = (stn_mass){mass, pose.position, stn_mat3_rotate_tensor(&pose.rotation, &inertia)};
}

void urdf_parse_link(robot_reader *reader, const xml_element *xml) {
    reader->label = "link";
    const char *name = robot_name_of(reader, xml, "name");
    if (name == NULL) {
        return;
    }
    reader->label = robot_text(reader, "link %s", name);
    int32_t other = robot_names_find(&reader->link_names, 0, name);
    if (other >= 0) {
        robot_error(reader, xml, "duplicate_link", "line %d has a link of the same name: rename one",
                    (int)reader->links[other].place.line);
        return;
    }
    int32_t index = robot_add_link(reader, name, xml);
    if (index < 0) {
        return;
    }
    robot_link *link = &reader->links[index];
    const xml_element *inertial = robot_child(reader, xml, "inertial");
    if (inertial != NULL) {
        parse_inertial(reader, inertial, &link->mass);
    }
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        bool collision = strcmp(xml_name(e), "collision") == 0;
        if (collision || strcmp(xml_name(e), "visual") == 0) {
            urdf_parse_geometry(reader, e, index, collision);
        }
    }
    link->geometry_count = reader->geometry_count - link->geometry_start;
    const xml_element *contact = robot_child(reader, xml, "contact");
    if (contact != NULL) {
        urdf_parse_contact(reader, contact, index);
    }
}
