// SPDX-License-Identifier: Apache-2.0
// <collision> and <visual>: shape, pose, name, surface or colour. Numbers that are none are errors also in a visual.
#include <string.h>

#include "sdf.h"

/// Sizes of a shape, all > 0 except those that may be 0. false: said.
static bool parse_sizes(robot_reader *reader, const xml_element *xml, const char *name, int32_t count, bool zero_ok,
                        const robot_geometry *g, double *sizes) {
    const xml_element *child = robot_child(reader, xml, name);
    if (child == NULL) {
        robot_error(reader, xml, "missing", "<%s> has no <%s>: add it", xml_name(xml), name);
        return false;
    }
    return robot_text_reals(reader, child, count, sizes) &&
           robot_check_sizes(reader, xml, name, sizes, count, zero_ok, g);
}

static bool parse_box(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double size[3] = {0.0};
    bool good = parse_sizes(reader, xml, "size", 3, false, g, size);
    g->spec.shape = stn_shape_box(stn_vec3_make(0.5 * size[0], 0.5 * size[1], 0.5 * size[2]));
    return good;
}

static bool parse_sphere(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double radius = 0.0;
    bool good = parse_sizes(reader, xml, "radius", 1, false, g, &radius);
    g->spec.shape = stn_shape_sphere(radius);
    return good;
}

static bool parse_cylinder(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double radius = 0.0, length = 0.0;
    bool good = parse_sizes(reader, xml, "radius", 1, false, g, &radius);
    good = parse_sizes(reader, xml, "length", 1, false, g, &length) && good;
    g->spec.shape = stn_shape_cylinder(radius, 0.5 * length);
    return good;
}

static bool parse_capsule(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double radius = 0.0, length = 0.0; // of the segment between the two half spheres
    bool good = parse_sizes(reader, xml, "radius", 1, false, g, &radius);
    good = parse_sizes(reader, xml, "length", 1, true, g, &length) && good;
    g->spec.shape = stn_shape_capsule(radius, 0.5 * length);
    return good;
}

static bool parse_ellipsoid(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double radii[3] = {0.0};
    bool good = parse_sizes(reader, xml, "radii", 3, false, g, radii);
    g->spec.shape = stn_shape_ellipsoid(stn_vec3_make(radii[0], radii[1], radii[2]));
    return good;
}

static bool parse_drake_ellipsoid(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double a = 0.0, b = 0.0, c = 0.0; // semi-axes
    bool good = parse_sizes(reader, xml, "a", 1, false, g, &a);
    good = parse_sizes(reader, xml, "b", 1, false, g, &b) && good;
    good = parse_sizes(reader, xml, "c", 1, false, g, &c) && good;
    g->spec.shape = stn_shape_ellipsoid(stn_vec3_make(a, b, c));
    return good;
}

/// Its <size> says what is drawn: the half space behind it is what collides, in Gazebo too.
static bool parse_plane(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double normal[3] = {0.0, 0.0, 1.0};
    const xml_element *e = robot_child(reader, xml, "normal");
    if (e != NULL && !robot_text_reals(reader, e, 3, normal)) {
        return false;
    }
    return robot_set_plane(reader, xml, normal, g);
}

static bool parse_mesh(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    double scale[3] = {1.0, 1.0, 1.0};
    const xml_element *uri = robot_child(reader, xml, "uri"), *factors = robot_child(reader, xml, "scale");
    if (uri == NULL) {
        robot_error(reader, xml, "missing", "<mesh> has no <uri>: add the address of the file");
        return false;
    }
    if (factors != NULL && !robot_text_reals(reader, factors, 3, scale)) {
        return false;
    }
    g->declared_convex = robot_child(reader, xml, "drake:declare_convex") != NULL;
    return robot_set_mesh(reader, xml, robot_text_name(reader, uri), scale, g);
}

static const robot_shape_word shapes[] = {{"box", parse_box},
                                          {"sphere", parse_sphere},
                                          {"cylinder", parse_cylinder},
                                          {"capsule", parse_capsule},
                                          {"drake:capsule", parse_capsule},
                                          {"ellipsoid", parse_ellipsoid},
                                          {"drake:ellipsoid", parse_drake_ellipsoid},
                                          {"mesh", parse_mesh},
                                          {"plane", parse_plane}};

void sdf_parse_geometry(robot_reader *reader, int32_t frame, const xml_element *xml, bool collision) {
    sdf_reader *sdf = sdf_of(reader);
    int32_t link = sdf->frames[frame].link, index = robot_add_geometry(reader, link, collision, xml);
    if (index < 0) {
        return;
    }
    robot_geometry *g = &reader->geometries[index];
    const char *relative_to = NULL;
    g->spec.pose = sdf_pose(reader, xml, &relative_to);
    const xml_element *shape = NULL, *geometry = robot_child(reader, xml, "geometry");
    const robot_shape_word *word = robot_find_shape(reader, xml, geometry, shapes, STN_COUNT(shapes), &shape);
    const xml_element *other = geometry != NULL ? xml_first_child(geometry) : NULL;
    const char *left = collision ? "" : "; left out";
    bool good = word != NULL && word->parse(reader, shape, g);
    if (word == NULL && other == NULL) {
        robot_say(reader, robot_fault(g), "shape", robot_at(geometry != NULL ? geometry : xml),
                  "<%s> has no shape: give <geometry> with box, sphere, cylinder, capsule, ellipsoid, plane or mesh%s",
                  xml_name(xml), left);
    } else if (word == NULL && strcmp(xml_name(other), "empty") != 0) {
        robot_say(reader, robot_fault(g), "shape", robot_at(other),
                  "a <%s> cannot %s here: use box, sphere, cylinder, capsule, ellipsoid, plane or mesh%s",
                  xml_name(other), collision ? "collide" : "be drawn", left);
    }
    const xml_element *proximity = collision ? robot_child(reader, xml, "drake:proximity_properties") : NULL;
    if (proximity != NULL) {
        robot_parse_proximity(reader, proximity, g);
    }
    if (collision) {
        sdf_parse_surface(reader, xml, g);
    } else {
        sdf_parse_material(reader, xml, g);
    }
    good = good && (g->file == NULL || robot_load_mesh(reader, g));
    g->spec.name = robot_shape_name(reader, xml, 2 * link + collision);
    if (!good) {
        reader->geometry_count--;
        return;
    }
    if (relative_to == NULL) {
        return;
    }
    // Its pose is not given in the link's frame: that is made good when the poses of all frames are known.
    sdf->placements =
        robot_reserve(reader, sdf->placements, sdf->placement_count, &sdf->placement_capacity, sizeof *sdf->placements);
    if (sdf->placement_count < sdf->placement_capacity) {
        sdf->placements[sdf->placement_count++] = (sdf_placement){index, frame, xml, relative_to};
    }
}

void sdf_place_geometries(robot_reader *reader) {
    const sdf_reader *sdf = sdf_of(reader);
    for (int32_t i = 0; i < sdf->placement_count; i++) {
        const sdf_placement *p = &sdf->placements[i];
        const sdf_frame *link = &sdf->frames[p->frame];
        reader->label = link->label;
        int32_t in = sdf_need_frame(reader, link->model, p->xml, "relative_to of <pose>", p->relative_to);
        if (in >= 0) {
            stn_pose from_link = sdf_pose_between(reader, p->frame, in);
            stn_pose *pose = &reader->geometries[p->geometry].spec.pose;
            *pose = stn_pose_mul(&from_link, pose);
        }
    }
}
