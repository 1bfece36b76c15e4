// SPDX-License-Identifier: Apache-2.0
// <flexcomp>: points in the frame of a body, each a node of mass/count, or held by that body where it is pinned, with
// triangles or tetrahedra between them: made, listed, or of a file.
#include <string.h>

#include "flex_shape.h"

enum { MOST_POINTS = 1000000 };

static const char flex_types[] = "grid box cylinder ellipsoid square disc circle mesh gmsh direct";

/// One <flexcomp> on its way into the robot.
typedef struct flexcomp {
    const xml_element *xml;
    const char *type_name;
    flex_shape shape;
    bool numbered; // do its points have the numbers of the file?
    bool *pinned;  // (shape.point_count)
} flexcomp;

static void refuse(robot_reader *reader, const xml_element *xml, const char *what, const char *instead) {
    robot_error(reader, xml, "unsupported", "%s is not read: %s", what, instead);
}

/// What has no counterpart here.
static bool is_read(robot_reader *reader, const mjcf_part *part) {
    static const char *const dofs[] = {"full", "radial", "trilinear", "quadratic", "2d"};
    const xml_element *xml = part->xml;
    int32_t before = reader->diagnostics->error_count;
    int32_t dof = mjcf_plain_choice(reader, xml, "dof", "full radial trilinear quadratic 2d", 0);
    if (dof > 0) {
        refuse(reader, xml, robot_text(reader, "dof=\"%s\" of <flexcomp>", dofs[dof]),
               "its points move by three coordinates each here, take it out or make it \"full\"");
    }
    if (mjcf_plain_choice(reader, xml, "rigid", "false true", 0) == 1) {
        refuse(reader, xml, "rigid=\"true\" of <flexcomp>", "give the body a <geom type=\"mesh\"/> instead");
    }
    const xml_element *plugin = robot_child(reader, xml, "plugin");
    if (plugin != NULL) {
        refuse(reader, plugin, "<plugin> of <flexcomp>", "give <elasticity young=\"...\" poisson=\"...\"/> instead");
    }
    double turn = 0.0;
    for (int i = 0; i < 9; i++) {
        turn += fabs(part->frame.rotation.m[i / 3][i % 3] - (i % 4 == 0 ? 1.0 : 0.0));
    }
    if (stn_vec3_norm(part->frame.position) + turn > 1e-14) {
        robot_error(reader, xml, "unsupported",
                    "<flexcomp> inside a <frame>: MuJoCo leaves the frame out, so it is not clear where it is; move it "
                    "to the body and give it pos and quat");
    }
    return reader->diagnostics->error_count == before;
}

/// How many points along each axis, and how far apart.
static bool read_counts(robot_reader *reader, flexcomp *f) {
    flex_shape *shape = &f->shape;
    double count[3] = {10.0, 10.0, 10.0};
    for (int k = 0; k < 3; k++) {
        shape->spacing[k] = 0.02;
    }
    int32_t before = reader->diagnostics->error_count;
    robot_reals(reader, f->xml, "count", 3, count);
    robot_reals(reader, f->xml, "spacing", 3, shape->spacing);
    bool box = shape->type >= FLEX_BOX && shape->type <= FLEX_ELLIPSOID, sheet = shape->dim == 2 && !box;
    double product = 1.0;
    if (reader->diagnostics->error_count > before) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        double least = sheet && k == 2 ? 1.0 : 2.0, most = sheet && k == 2 ? 1.0 : MOST_POINTS;
        if (!(count[k] >= least && count[k] <= most) || count[k] != floor(count[k])) {
            robot_error(reader, f->xml, "range",
                        "count of <flexcomp> = %g %g %g: number %d must be a whole number from %g to %g for type "
                        "\"%s\" of dim=\"%d\"",
                        count[0], count[1], count[2], k + 1, least, most, f->type_name, (int)shape->dim);
            return false;
        }
        if (!(shape->spacing[k] > 0.0)) {
            robot_error(reader, f->xml, "range", "spacing of <flexcomp> = %g %g %g m: number %d must be > 0",
                        shape->spacing[0], shape->spacing[1], shape->spacing[2], k + 1);
            return false;
        }
        product *= count[k];
        shape->count[k] = (int32_t)count[k];
    }
    if (product > MOST_POINTS) {
        robot_error(reader, f->xml, "size", "count of <flexcomp> = %g %g %g makes %g points, at most %d", count[0],
                    count[1], count[2], product, (int)MOST_POINTS);
    }
    return reader->diagnostics->error_count == before;
}

/// Points and elements that the file lists.
static bool read_direct(robot_reader *reader, flexcomp *f) {
    flex_shape *shape = &f->shape;
    int32_t coordinates = 0, numbers = 0;
    shape->points = mjcf_numbers(reader, f->xml, "point", &coordinates);
    shape->elements = mjcf_whole_numbers(reader, f->xml, "element", &numbers);
    if (shape->points == NULL || shape->elements == NULL) {
        if (xml_attribute(f->xml, "point") == NULL || xml_attribute(f->xml, "element") == NULL) {
            robot_error(reader, f->xml, "missing", "<flexcomp type=\"direct\"> needs point and element");
        }
        return false;
    }
    if (coordinates % 3 != 0) {
        robot_error(reader, f->xml, "number", "point of <flexcomp> must be numbers three and three, not %d",
                    (int)coordinates);
        return false;
    }
    shape->point_count = coordinates / 3;
    shape->element_count = numbers / (shape->dim + 1);
    return mjcf_check_elements(
        reader,
        &(mjcf_flex){.xml = f->xml, .dim = shape->dim, .point_count = shape->point_count, .elements = shape->elements},
        numbers);
}

/// Tetrahedra between a surface and a point, which becomes the first; those without volume are left out, as in MuJoCo.
static bool fill_surface(robot_reader *reader, flexcomp *f, const stn_mesh *mesh) {
    flex_shape *shape = &f->shape;
    double origin[3] = {0.0};
    if (!robot_required(reader, f->xml, "origin", 3, origin)) {
        return false;
    }
    shape->points = ROBOT_NEW(reader, 3 * ((size_t)mesh->vertex_count + 1), double);
    shape->elements = ROBOT_NEW(reader, 4 * (size_t)mesh->triangle_count, int32_t);
    if (shape->points == NULL || shape->elements == NULL) {
        return false;
    }
    memcpy(shape->points, origin, sizeof origin);
    memcpy(shape->points + 3, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof(double));
    shape->point_count = mesh->vertex_count + 1;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *n = &mesh->triangles[3 * (size_t)t];
        stn_vec3 e[3];
        for (int k = 0; k < 3; k++) {
            const double *x = &mesh->vertices[3 * (size_t)n[k]];
            e[k] = stn_vec3_make(x[0] - origin[0], x[1] - origin[1], x[2] - origin[2]);
        }
        if (stn_vec3_dot(stn_vec3_cross(e[0], e[1]), e[2]) >= 1e-15) {
            const int32_t tetrahedron[4] = {0, n[0] + 1, n[1] + 1, n[2] + 1};
            memcpy(&shape->elements[4 * (size_t)shape->element_count++], tetrahedron, sizeof tetrahedron);
        }
    }
    return true;
}

/// Points and elements of a mesh file. Of a gmsh file dim is what it holds.
static bool read_file(robot_reader *reader, flexcomp *f) {
    flex_shape *shape = &f->shape;
    const char *name = robot_name_of(reader, f->xml, "file");
    const robot_file *file = name != NULL ? robot_find_mesh(reader, f->xml, mjcf_mesh_uri(reader, name), true) : NULL;
    const stn_vec3 plain = {1.0, 1.0, 1.0};
    const stn_mesh *mesh = file != NULL ? robot_read_mesh(reader, f->xml, file, plain) : NULL;
    if (mesh == NULL) {
        return false;
    }
    f->numbered = mesh->vertex_count == mesh->facts.vertex_count;
    bool solid = mesh->tetrahedron_count > 0;
    if (shape->type == FLEX_GMSH) {
        shape->dim = solid ? 3 : 2;
    } else if (solid) {
        robot_error(reader, f->xml, "mesh", "file of <flexcomp> holds tetrahedra: make it type=\"gmsh\"");
        return false;
    } else if (shape->dim == 3) {
        return fill_surface(reader, f, mesh);
    }
    int32_t width = shape->dim + 1;
    shape->point_count = mesh->vertex_count;
    shape->element_count = solid ? mesh->tetrahedron_count : mesh->triangle_count;
    shape->points = ROBOT_NEW(reader, 3 * (size_t)shape->point_count, double);
    shape->elements = ROBOT_NEW(reader, (size_t)width * (size_t)shape->element_count, int32_t);
    if (shape->points == NULL || shape->elements == NULL) {
        return false;
    }
    memcpy(shape->points, mesh->vertices, 3 * (size_t)shape->point_count * sizeof(double));
    memcpy(shape->elements, solid ? mesh->tetrahedra : mesh->triangles,
           (size_t)width * (size_t)shape->element_count * sizeof(int32_t));
    return true;
}

static bool read_points(robot_reader *reader, flexcomp *f) {
    flex_shape *shape = &f->shape;
    double dim = 2.0;
    int32_t before = reader->diagnostics->error_count;
    robot_real(reader, f->xml, "dim", &dim);
    shape->type = (flex_type)mjcf_plain_choice(reader, f->xml, "type", flex_types, FLEX_GRID);
    const char *type = xml_attribute(f->xml, "type");
    f->type_name = type != NULL ? type : "grid";
    f->numbered = true;
    if (reader->diagnostics->error_count > before) {
        return false;
    }
    if (shape->type == FLEX_SQUARE || shape->type == FLEX_DISC) {
        dim = 2.0;
    }
    if (dim == 1.0 || shape->type == FLEX_CIRCLE) {
        mjcf_refuse_line(reader, f->xml);
        return false;
    }
    if (dim != 2.0 && dim != 3.0) {
        robot_error(reader, f->xml, "range", "dim of <flexcomp> = %g must be 2 or 3", dim);
        return false;
    }
    shape->dim = (int32_t)dim;
    if (shape->type == FLEX_MESH || shape->type == FLEX_GMSH) {
        return read_file(reader, f);
    }
    if (shape->type == FLEX_DIRECT) {
        return read_direct(reader, f);
    }
    return read_counts(reader, f) && flex_shape_make(reader, shape);
}

/// Numbers of one way to pin, `width` together; NULL: absent, or bad, said.
static const int32_t *read_pins(robot_reader *reader, const flexcomp *f, const xml_element *pin, const char *attribute,
                                int32_t width, int32_t *count) {
    const int32_t *numbers = mjcf_whole_numbers(reader, pin, attribute, count);
    if (numbers != NULL && *count % width != 0) {
        robot_error(reader, pin, "number", "%s of <pin> has %d numbers, not %d for each entry", attribute, (int)*count,
                    (int)width);
        return NULL;
    }
    if (numbers != NULL && !f->numbered) {
        robot_error(reader, pin, "unsupported",
                    "%s of <pin> names points of a file of which some are equal or unused, so that their numbers are "
                    "not those here: clean the file, or list the points with type=\"direct\"",
                    attribute);
        return NULL;
    }
    return numbers;
}

/// Pins the points from the first to the last coordinates in the grid.
static void pin_grid(flexcomp *f, const int32_t *first, const int32_t *last) {
    const flex_shape *s = &f->shape;
    const bool solid = s->dim == 3;
    for (int32_t i = first[0]; i <= last[0]; i++) {
        for (int32_t j = first[1]; j <= last[1]; j++) {
            for (int32_t k = solid ? first[2] : 0; k <= (solid ? last[2] : 0); k++) {
                f->pinned[(i * s->count[1] + j) * (solid ? s->count[2] : 1) + k] = true;
            }
        }
    }
}

static void read_pin(robot_reader *reader, flexcomp *f, const xml_element *pin) {
    const flex_shape *s = &f->shape;
    static const char *const ways[] = {"id", "range", "grid", "gridrange"};
    for (int32_t way = 0; way < STN_COUNT(ways); way++) {
        const bool grid = way >= 2, range = way % 2 == 1;
        int32_t half = grid ? s->dim : 1, width = range ? 2 * half : half, count = 0;
        const int32_t *numbers = read_pins(reader, f, pin, ways[way], width, &count);
        if (numbers != NULL && grid && s->type != FLEX_GRID) {
            robot_error(reader, pin, "conflict", "%s of <pin> is for type=\"grid\": name the points by id", ways[way]);
            continue;
        }
        for (int32_t i = 0; numbers != NULL && i < count; i++) {
            int32_t most = grid ? s->count[i % half] : s->point_count;
            if (numbers[i] >= most) {
                robot_error(reader, pin, "range", "%s of <pin> = %d must be below %d", ways[way], (int)numbers[i],
                            (int)most);
                numbers = NULL;
            }
        }
        for (int32_t i = 0; numbers != NULL && i < count; i += width) {
            const int32_t *first = &numbers[i], *last = first + width - half;
            if (grid) {
                pin_grid(f, first, last);
            }
            for (int32_t k = first[0]; !grid && k <= last[0]; k++) {
                f->pinned[k] = true;
            }
        }
    }
}

/// Moves the points into the frame of the body: first the scale, of what the file lists, then the pose.
static bool place_points(robot_reader *reader, flexcomp *f) {
    flex_shape *s = &f->shape;
    double scale[3] = {1.0, 1.0, 1.0};
    robot_reals(reader, f->xml, "scale", 3, scale);
    const bool listed = s->type >= FLEX_MESH;
    if (!(scale[0] > 0.0 && scale[1] > 0.0 && scale[2] > 0.0)) {
        robot_error(reader, f->xml, "range", "scale of <flexcomp> = %g %g %g must be > 0", scale[0], scale[1],
                    scale[2]);
        return false;
    }
    const stn_pose pose = mjcf_plain_pose(reader, f->xml);
    for (int32_t i = 0; i < s->point_count; i++) {
        double *p = &s->points[3 * (size_t)i];
        stn_vec3 x =
            listed ? stn_vec3_make(scale[0] * p[0], scale[1] * p[1], scale[2] * p[2]) : stn_vec3_make(p[0], p[1], p[2]);
        x = stn_pose_apply(&pose, x);
        p[0] = x.x;
        p[1] = x.y;
        p[2] = x.z;
    }
    return true;
}

int32_t mjcf_read_flexcomp(robot_reader *reader, const mjcf_part *part, int32_t body) {
    const mjcf_body *parent = &mjcf_of(reader)->bodies[body];
    const xml_element *xml = part->xml;
    flexcomp f = {.xml = xml};
    reader->label = "flexcomp";
    const char *name = robot_name_of(reader, xml, "name");
    reader->label = name != NULL ? robot_text(reader, "flexcomp %s", name) : "flexcomp";
    if (name == NULL || !is_read(reader, part) || !read_points(reader, &f) || !place_points(reader, &f)) {
        return 0;
    }
    flex_shape *s = &f.shape;
    double mass = 1.0;
    robot_real(reader, xml, "mass", &mass);
    if (!mjcf_check_size(reader, xml, "mass", mass, "kg")) {
        return 0;
    }
    f.pinned = ROBOT_NEW(reader, s->point_count, bool);
    double *masses = ROBOT_NEW(reader, s->point_count, double);
    int32_t *holder = ROBOT_NEW(reader, s->point_count, int32_t), pins = 0, used_count = 0;
    bool *used = ROBOT_NEW(reader, s->point_count, bool);
    if (f.pinned == NULL || masses == NULL || holder == NULL || used == NULL) {
        return 0;
    }
    for (size_t i = 0; i < (size_t)s->element_count * ((size_t)s->dim + 1); i++) {
        used_count += !used[s->elements[i]];
        used[s->elements[i]] = true;
    }
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "pin") == 0) {
            read_pin(reader, &f, e);
        }
    }
    for (int32_t i = 0; i < s->point_count; i++) {
        masses[i] = mass / used_count;
        holder[i] = !f.pinned[i] ? ROBOT_FREE_NODE : body > 0 ? parent->link : STN_WORLD;
        pins += f.pinned[i] && used[i];
    }
    if (pins == used_count) {
        refuse(reader, xml, "a <flexcomp> of which all points are pinned",
               "give the body a <geom type=\"mesh\"/> instead");
        return 0;
    }
    if (pins > 0 && parent->weld != 0) {
        mjcf_warn_pinned(reader, xml, pins, mass / used_count, parent->name);
    }
    mjcf_make_flex(reader, &(mjcf_flex){.xml = xml,
                                        .name = name,
                                        .link = parent->link,
                                        .dim = s->dim,
                                        .point_count = s->point_count,
                                        .element_count = s->element_count,
                                        .points = s->points,
                                        .elements = s->elements,
                                        .mass = masses,
                                        .holder = holder});
    return 3 * (used_count - pins);
}
