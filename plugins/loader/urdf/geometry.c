// SPDX-License-Identifier: Apache-2.0
// <collision> and <visual>: shape, pose, name, surface. A fault of a visual is a warning and leaves it out, one of a
// collision is an error: contact must not be missing silently. Numbers that are none are errors everywhere.
#include <string.h>

#include "urdf.h"

static stn_severity fault(bool collision) {
    return collision ? STN_SEVERITY_ERROR : STN_SEVERITY_WARNING;
}

/// Sizes of a shape, all > 0 except those that may be 0. false: said.
static bool parse_sizes(urdf_reader *reader, const xml_element *xml, const char *attribute, int32_t count, bool zero_ok,
                        double *sizes) {
    if (!urdf_required(reader, xml, attribute, count, sizes)) {
        return false;
    }
    for (int32_t i = 0; i < count; i++) {
        if (sizes[i] < 0.0 || (sizes[i] == 0.0 && !zero_ok)) {
            bool collision = reader->geometries[reader->geometry_count].spec.collision;
            urdf_say(reader, fault(collision), "size_of_shape", xml_line(xml), "%s of <%s> = %g m must be %s 0%s",
                     attribute, xml_name(xml), sizes[i], zero_ok ? ">=" : ">", collision ? "" : "; left out");
            return false;
        }
    }
    return true;
}

static bool parse_box(urdf_reader *reader, const xml_element *xml, urdf_geometry *g) {
    double size[3];
    if (!parse_sizes(reader, xml, "size", 3, false, size)) {
        return false;
    }
    g->spec.shape = stn_shape_box(stn_vec3_make(0.5 * size[0], 0.5 * size[1], 0.5 * size[2]));
    return true;
}

static bool parse_sphere(urdf_reader *reader, const xml_element *xml, urdf_geometry *g) {
    double radius = 0.0;
    if (!parse_sizes(reader, xml, "radius", 1, false, &radius)) {
        return false;
    }
    g->spec.shape = stn_shape_sphere(radius);
    return true;
}

static bool parse_cylinder(urdf_reader *reader, const xml_element *xml, urdf_geometry *g) {
    double radius = 0.0, length = 0.0;
    bool good = parse_sizes(reader, xml, "radius", 1, false, &radius);
    good = parse_sizes(reader, xml, "length", 1, false, &length) && good;
    g->spec.shape = stn_shape_cylinder(radius, 0.5 * length);
    return good;
}

static bool parse_capsule(urdf_reader *reader, const xml_element *xml, urdf_geometry *g) {
    double radius = 0.0, length = 0.0; // of the segment between the two half spheres
    bool good = parse_sizes(reader, xml, "radius", 1, false, &radius);
    good = parse_sizes(reader, xml, "length", 1, true, &length) && good;
    g->spec.shape = stn_shape_capsule(radius, 0.5 * length);
    return good;
}

static bool parse_plane(urdf_reader *reader, const xml_element *xml, urdf_geometry *g) {
    double n[3] = {0.0, 0.0, 1.0};
    urdf_reals(reader, xml, "normal", 3, n);
    stn_vec3 normal = stn_vec3_normalize_or(stn_vec3_make(n[0], n[1], n[2]), stn_vec3_zero());
    if (stn_vec3_dot(normal, normal) == 0.0) {
        urdf_error(reader, xml, "axis", "the normal of <plane> has length 0: give a direction such as \"0 0 1\"");
        return false;
    }
    stn_pose turn = {stn_contact_frame(normal), stn_vec3_zero()};
    g->spec.pose = stn_pose_mul(&g->spec.pose, &turn);
    g->spec.shape = stn_shape_half_space();
    return true;
}

/// glTF has y up by its standard and robots z: a quarter turn R about x, which Drake gives such meshes too. The scale
/// is along the axes of the robot file: S R = R (R^T S R), with y and z exchanged.
static void stand_up(urdf_geometry *g) {
    const stn_pose turn = {{{{1.0, 0.0, 0.0}, {0.0, 0.0, -1.0}, {0.0, 1.0, 0.0}}}, {0.0, 0.0, 0.0}};
    g->spec.pose = stn_pose_mul(&g->spec.pose, &turn);
    g->scale = stn_vec3_make(g->scale.x, g->scale.z, g->scale.y);
}

static bool parse_mesh(urdf_reader *reader, const xml_element *xml, urdf_geometry *g) {
    double scale[3] = {1.0, 1.0, 1.0};
    const char *uri = urdf_name_of(reader, xml, "filename");
    if (xml_attribute(xml, "scale") != NULL && !urdf_reals(reader, xml, "scale", 3, scale)) {
        return false;
    }
    if (scale[0] == 0.0 || scale[1] == 0.0 || scale[2] == 0.0) {
        urdf_say(reader, fault(g->spec.collision), "size_of_shape", xml_line(xml),
                 "scale of <mesh> = %g %g %g: no factor may be 0", scale[0], scale[1], scale[2]);
        return false;
    }
    g->scale = stn_vec3_make(scale[0], scale[1], scale[2]);
    g->file = uri != NULL ? urdf_find_mesh(reader, xml, uri, g->spec.collision) : NULL;
    g->declared_convex = urdf_child(reader, xml, "drake:declare_convex") != NULL;
    g->mesh = xml;
    if (g->file != NULL && urdf_is_gltf(g->file->path)) {
        stand_up(g);
    }
    return g->file != NULL;
}

static bool parse_ellipsoid(urdf_reader *reader, const xml_element *xml, urdf_geometry *g) {
    double a = 0.0, b = 0.0, c = 0.0; // semi-axes
    bool good = parse_sizes(reader, xml, "a", 1, false, &a);
    good = parse_sizes(reader, xml, "b", 1, false, &b) && good;
    good = parse_sizes(reader, xml, "c", 1, false, &c) && good;
    g->spec.shape = stn_shape_ellipsoid(stn_vec3_make(a, b, c));
    return good;
}

typedef bool shape_parser(urdf_reader *reader, const xml_element *xml, urdf_geometry *g);

static shape_parser *find_parser(const xml_element *xml) {
    static const struct {
        const char *name;
        shape_parser *parse;
    } shapes[] = {{"box", parse_box},
                  {"sphere", parse_sphere},
                  {"cylinder", parse_cylinder},
                  {"capsule", parse_capsule},
                  {"drake:capsule", parse_capsule},
                  {"mesh", parse_mesh},
                  {"plane", parse_plane},
                  {"drake:ellipsoid", parse_ellipsoid}};
    for (int32_t i = 0; i < STN_COUNT(shapes); i++) {
        if (strcmp(xml_name(xml), shapes[i].name) == 0) {
            return shapes[i].parse;
        }
    }
    return NULL;
}

/// The one shape inside <geometry>. false: left out, and the reason said.
static bool parse_shape(urdf_reader *reader, const xml_element *xml, urdf_geometry *g) {
    const xml_element *shape = NULL;
    const xml_element *geometry = urdf_child(reader, xml, "geometry");
    for (const xml_element *e = geometry != NULL ? xml_first_child(geometry) : NULL; e != NULL;
         e = xml_next_sibling(e)) {
        if (find_parser(e) == NULL) {
            continue;
        }
        if (shape != NULL) {
            urdf_warn(reader, e, "repeated",
                      "a second shape <%s> is ignored, the one of line %d counts: give it a <%s> of its own",
                      xml_name(e), (int)xml_line(shape), xml_name(xml));
            break;
        }
        shape = e;
    }
    if (shape != NULL) {
        return find_parser(shape)(reader, shape, g);
    }
    urdf_say(reader, fault(g->spec.collision), "shape", xml_line(geometry != NULL ? geometry : xml),
             "<%s> has no shape: give <geometry> with box, sphere, cylinder, capsule, drake:ellipsoid, plane or mesh",
             xml_name(xml));
    return false;
}

/// Shapes of one link and kind need names of their own. The table counts how often a name was given.
static const char *unique_name(urdf_reader *reader, const xml_element *xml, int32_t scope) {
    const char *given = xml_attribute(xml, "name");
    if (given == NULL || given[0] == '\0' || urdf_name_of(reader, xml, "name") == NULL) {
        return NULL;
    }
    const char *name = given;
    int32_t copies = urdf_names_find(&reader->shape_names, scope, given);
    if (copies > 0) {
        do {
            name = urdf_format(reader, "%s_%d", given, (int)++copies);
        } while (urdf_names_find(&reader->shape_names, scope, name) > 0);
        urdf_names_add(reader, &reader->shape_names, scope, given, copies);
        urdf_warn(reader, xml, "duplicate_name", "a second <%s> named '%.80s': renamed '%.80s'", xml_name(xml), given,
                  name);
    }
    urdf_names_add(reader, &reader->shape_names, scope, name, 1);
    return name;
}

void urdf_parse_geometry(urdf_reader *reader, const xml_element *xml, int32_t link, bool collision) {
    urdf_geometry *g = &reader->geometries[reader->geometry_count];
    *g = (urdf_geometry){.link = link, .line = xml_line(xml), .scale = {1.0, 1.0, 1.0}};
    g->spec = stn_geometry_spec_default(stn_shape_sphere(1.0));
    g->spec.collision = collision;
    g->spec.visual = !collision;
    g->spec.pose = urdf_origin(reader, xml);
    bool good = parse_shape(reader, xml, g);
    const xml_element *proximity = collision ? urdf_child(reader, xml, "drake:proximity_properties") : NULL;
    const xml_element *material = collision ? NULL : urdf_child(reader, xml, "material");
    if (proximity != NULL) {
        urdf_parse_proximity(reader, proximity, g);
    }
    if (material != NULL) {
        urdf_parse_material(reader, material, g);
    }
    good = good && (g->file == NULL || urdf_load_mesh(reader, g));
    g->spec.name = unique_name(reader, xml, 2 * link + collision);
    reader->geometry_count += good;
}
