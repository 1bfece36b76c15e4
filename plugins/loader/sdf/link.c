// SPDX-License-Identifier: Apache-2.0
// <link>: mass properties, shapes. SDFormat gives a link without <inertial> a mass of 1 kg and moments of 1 kg m^2, and
// so do we, as Drake and Gazebo do; such figures are made up, so each is said, unless the link cannot move.
#include <string.h>

#include "sdf.h"

/// Diagonal entries default to 1, the others to 0.
static void parse_inertial(robot_reader *reader, const xml_element *xml, stn_mass *out) {
    static const char *const moments[] = {"ixx", "iyy", "izz"}, *const products[] = {"ixy", "ixz", "iyz"};
    static const int32_t row[] = {0, 0, 1}, column[] = {1, 2, 2}; // of the products
    const xml_element *inertia_xml = robot_child(reader, xml, "inertia");
    const char *relative_to = NULL;
    stn_pose pose = sdf_pose(reader, xml, &relative_to);
    stn_mat3 inertia = stn_mat3_identity();
    double mass = 1.0;
    if (relative_to != NULL) {
        robot_error(reader, xml, "pose",
                    "the pose of <inertial> stands in its link, not in '%.80s': remove relative_to", relative_to);
    }
    if (robot_child(reader, xml, "mass") == NULL) {
        robot_warn(reader, xml, "default", "<inertial> has no <mass>: taken as 1 kg, as SDFormat says");
    }
    sdf_not_negative(reader, xml, "mass", "kg", &mass);
    for (int32_t i = 0; inertia_xml != NULL && i < 3; i++) {
        double product = 0.0;
        if (robot_child(reader, inertia_xml, moments[i]) == NULL) {
            robot_warn(reader, inertia_xml, "default", "<inertia> has no %s: taken as 1 kg m^2, as SDFormat says",
                       moments[i]);
        }
        sdf_number(reader, inertia_xml, moments[i], &inertia.m[i][i]);
        sdf_number(reader, inertia_xml, products[i], &product);
        inertia.m[row[i]][column[i]] = inertia.m[column[i]][row[i]] = product;
    }
    if (inertia_xml != NULL) {
        robot_check_mass(reader, inertia_xml, mass, &inertia);
    } else if (mass == 0.0) {
        inertia = stn_mat3_diagonal(0.0, 0.0, 0.0);
    } else {
        robot_warn(reader, xml, "default",
                   "<inertial> has no <inertia>: taken as 1 kg m^2 about each axis, as SDFormat says");
    }
    *out = (stn_mass){mass, pose.position, stn_mat3_rotate_tensor(&pose.rotation, &inertia)};
}

void sdf_parse_link(robot_reader *reader, int32_t model, const xml_element *xml) {
    sdf_reader *sdf = sdf_of(reader);
    reader->label = "link";
    int32_t frame = sdf_add_frame(reader, SDF_LINK, model, xml, robot_name_of(reader, xml, "name"));
    if (frame < 0) {
        return;
    }
    sdf_frame *f = &sdf->frames[frame];
    reader->label = f->label;
    if (robot_names_find(&reader->link_names, 0, f->name) >= 0) { // "a::b" beside link b of a model a
        robot_error(reader, xml, "duplicate_link", "another link is called '%.80s' too: rename one", f->name);
        return;
    }
    int32_t index = f->link = robot_add_link(reader, f->name, xml);
    if (index < 0) {
        return;
    }
    f->given = sdf_pose(reader, xml, &f->relative_to);
    const xml_element *inertial = robot_child(reader, xml, "inertial");
    if (inertial != NULL && sdf_attribute_flag(reader, inertial, "auto", false)) {
        sdf_compute_later(reader, inertial, index);
    } else if (inertial != NULL) {
        parse_inertial(reader, inertial, &reader->links[index].mass);
    } else {
        reader->links[index].mass = (stn_mass){1.0, stn_vec3_zero(), stn_mat3_identity()};
        if (!sdf->models[model].is_static) {
            robot_warn(reader, xml, "default",
                       "no <inertial>: taken as 1 kg with 1 kg m^2 about each axis, as SDFormat says; for none write "
                       "<mass>0</mass>");
        }
    }
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        bool collision = strcmp(xml_name(e), "collision") == 0;
        if (collision || strcmp(xml_name(e), "visual") == 0) {
            sdf_parse_geometry(reader, frame, e, collision);
        }
    }
    robot_link *link = &reader->links[index];
    link->geometry_count = reader->geometry_count - link->geometry_start;
}

// -------------------------------------------------------------------------------------------- inertia from collisions
// <inertial auto="true">: what the collisions of a link weigh, each by its volume and the density of <collision>, else
// of <inertial>, else of water; a <mass> beside it is what they weigh together. Of a mesh its convex hull weighs.

static const double WATER = 1000.0; // kg/m^3

/// The density in an element, > 0; `fallback` when there is none or it is bad.
static double parse_density(robot_reader *reader, const xml_element *xml, double fallback) {
    double density = fallback;
    if (xml != NULL && sdf_number(reader, xml, "density", &density) && !(density > 0.0)) {
        robot_error(reader, robot_child(reader, xml, "density"), "range", "<density> = %g kg/m^3 must be > 0", density);
        return fallback;
    }
    return density;
}

static void compute(robot_reader *reader, const sdf_auto *item) {
    robot_link *link = &reader->links[item->link];
    double common = parse_density(reader, item->inertial, WATER), wanted = 0.0;
    stn_mass sum = {0};
    reader->label = link->label;
    for (int32_t i = link->geometry_start; i < link->geometry_start + link->geometry_count; i++) {
        const robot_geometry *g = &reader->geometries[i];
        const stn_shape *shape = &g->spec.shape;
        stn_mass own;
        if (!g->spec.collision) {
            continue;
        }
        double density = parse_density(reader, g->xml, common), volume = stn_shape_volume(shape);
        if (!(volume > 0.0) || !isfinite(volume) || stn_shape_mass(shape, density * volume, &own, NULL) != STN_OK) {
            robot_error(reader, item->inertial, "inertia",
                        "auto=\"true\": a %s has no volume that weighs: write <mass> and <inertia>",
                        stn_shape_name(shape->type));
            return;
        }
        if (g->file != NULL) {
            robot_note(reader, item->inertial, "inertia", "auto=\"true\": of mesh '%.200s' the convex hull weighs",
                       g->file->uri);
        }
        own = stn_mass_transform(&g->spec.pose, &own);
        sum = stn_mass_add(&sum, &own);
    }
    if (!(sum.mass > 0.0)) {
        robot_error(reader, item->inertial, "inertia", "auto=\"true\": the link has no <collision> that weighs");
        return;
    }
    if (sdf_not_negative(reader, item->inertial, "mass", "kg", &wanted)) {
        double factor = wanted / sum.mass;
        sum.mass = wanted;
        for (int32_t i = 0; i < 9; i++) {
            sum.inertia.m[i / 3][i % 3] *= factor;
        }
    }
    link->mass = sum;
}

void sdf_compute_inertias(robot_reader *reader) {
    const sdf_reader *sdf = sdf_of(reader);
    for (int32_t i = 0; i < sdf->auto_count; i++) {
        compute(reader, &sdf->autos[i]);
    }
}

void sdf_compute_later(robot_reader *reader, const xml_element *inertial, int32_t link) {
    sdf_reader *sdf = sdf_of(reader);
    sdf->autos = robot_reserve(reader, sdf->autos, sdf->auto_count, &sdf->auto_capacity, sizeof *sdf->autos);
    if (sdf->auto_count < sdf->auto_capacity) {
        sdf->autos[sdf->auto_count++] = (sdf_auto){inertial, link};
    }
}
