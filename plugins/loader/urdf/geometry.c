// SPDX-License-Identifier: Apache-2.0
// <collision> and <visual>: shape, pose, name, surface. Numbers that are none are errors also in a visual.
#include "urdf.h"

/// Sizes of a shape, all > 0 except those that may be 0. false: said.
static bool parse_sizes(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t count,
                        bool zero_ok, double *sizes) {
    return robot_required(reader, xml, attribute, count, sizes) &&
           robot_check_sizes(reader, xml, attribute, sizes, count, zero_ok,
                             &reader->geometries[reader->geometry_count - 1]);
}

static bool parse_box(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double size[3];
    if (!parse_sizes(reader, xml, "size", 3, false, size)) {
        return false;
    }
    g->spec.shape = stn_shape_box(stn_vec3_make(0.5 * size[0], 0.5 * size[1], 0.5 * size[2]));
    return true;
}

static bool parse_sphere(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double radius = 0.0;
    if (!parse_sizes(reader, xml, "radius", 1, false, &radius)) {
        return false;
    }
    g->spec.shape = stn_shape_sphere(radius);
    return true;
}

static bool parse_cylinder(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double radius = 0.0, length = 0.0;
    bool good = parse_sizes(reader, xml, "radius", 1, false, &radius);
    good = parse_sizes(reader, xml, "length", 1, false, &length) && good;
    g->spec.shape = stn_shape_cylinder(radius, 0.5 * length);
    return good;
}

static bool parse_capsule(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double radius = 0.0, length = 0.0; // of the segment between the two half spheres
    bool good = parse_sizes(reader, xml, "radius", 1, false, &radius);
    good = parse_sizes(reader, xml, "length", 1, true, &length) && good;
    g->spec.shape = stn_shape_capsule(radius, 0.5 * length);
    return good;
}

static bool parse_plane(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double n[3] = {0.0, 0.0, 1.0};
    robot_reals(reader, xml, "normal", 3, n);
    return robot_set_plane(reader, xml, n, g);
}

static bool parse_mesh(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double scale[3] = {1.0, 1.0, 1.0};
    const char *uri = robot_name_of(reader, xml, "filename");
    if (xml_attribute(xml, "scale") != NULL && !robot_reals(reader, xml, "scale", 3, scale)) {
        return false;
    }
    g->declared_convex = robot_child(reader, xml, "drake:declare_convex") != NULL;
    return robot_set_mesh(reader, xml, uri, scale, g);
}

static bool parse_ellipsoid(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double a = 0.0, b = 0.0, c = 0.0; // semi-axes
    bool good = parse_sizes(reader, xml, "a", 1, false, &a);
    good = parse_sizes(reader, xml, "b", 1, false, &b) && good;
    good = parse_sizes(reader, xml, "c", 1, false, &c) && good;
    g->spec.shape = stn_shape_ellipsoid(stn_vec3_make(a, b, c));
    return good;
}

static const robot_shape_word shapes[] = {{"box", parse_box},
                                          {"sphere", parse_sphere},
                                          {"cylinder", parse_cylinder},
                                          {"capsule", parse_capsule},
                                          {"drake:capsule", parse_capsule},
                                          {"mesh", parse_mesh},
                                          {"plane", parse_plane},
                                          {"drake:ellipsoid", parse_ellipsoid}};

void urdf_parse_geometry(robot_reader *reader, const xml_element *xml, int32_t link, bool collision) {
    int32_t index = robot_add_geometry(reader, link, collision, xml);
    if (index < 0) {
        return;
    }
    robot_geometry *g = &reader->geometries[index];
    g->spec.pose = urdf_origin(reader, xml);
    const xml_element *shape = NULL, *geometry = robot_child(reader, xml, "geometry");
    const robot_shape_word *word = robot_find_shape(reader, xml, geometry, shapes, STN_COUNT(shapes), &shape);
    bool good = word != NULL && word->parse(reader, shape, g);
    if (word == NULL) {
        robot_say(
            reader, robot_fault(g), "shape", robot_at(geometry != NULL ? geometry : xml),
            "<%s> has no shape: give <geometry> with box, sphere, cylinder, capsule, drake:ellipsoid, plane or mesh",
            xml_name(xml));
    }
    const xml_element *proximity = collision ? robot_child(reader, xml, "drake:proximity_properties") : NULL;
    const xml_element *material = collision ? NULL : robot_child(reader, xml, "material");
    if (proximity != NULL) {
        robot_parse_proximity(reader, proximity, g);
    }
    if (material != NULL) {
        urdf_parse_material(reader, material, index);
    }
    good = good && (g->file == NULL || robot_load_mesh(reader, g));
    g->spec.name = robot_shape_name(reader, xml, 2 * link + collision);
    if (!good) {
        reader->geometry_count--;
        urdf_forget_use(reader, index);
    }
}
