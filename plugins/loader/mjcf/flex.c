// SPDX-License-Identifier: Apache-2.0
// What <flex> and <flexcomp> share: elements with an elasticity, a surface that collides, looks. A flex of triangles is
// a sheet of element "shell", one of tetrahedra a solid of element "fem", with the masses of the flex's points. What
// else MuJoCo can make of a flex is refused by name, because a robot must not lack what holds a part of it together.
#include <string.h>

#include "mjcf.h"

enum { NO_EQUALITY, EDGES, VERTICES, STRAIN };    // flex_equalities
enum { NO_STIFFNESS, BENDING, STRETCHING, BOTH }; // elastic2d

/// A number of a child, `otherwise` when there is none.
static double number_of(robot_reader *reader, const xml_element *xml, const char *attribute, double otherwise) {
    double value = otherwise;
    if (xml != NULL) {
        robot_real(reader, xml, attribute, &value);
    }
    return value;
}

static int32_t choice_of(robot_reader *reader, const xml_element *xml, const char *attribute, const char *words,
                         int32_t otherwise) {
    return xml != NULL ? mjcf_plain_choice(reader, xml, attribute, words, otherwise) : otherwise;
}

static void read_edge(robot_reader *reader, const xml_element *xml) {
    const xml_element *edge = robot_child(reader, xml, "edge");
    if (choice_of(reader, edge, "equality", "false true vert strain", NO_EQUALITY) != NO_EQUALITY) {
        robot_error(reader, edge, "unsupported",
                    "equality=\"%.20s\" of <edge> keeps the lengths of a flex by constraints, which no element here "
                    "does: take it out and give <elasticity young=\"...\"/>, for a sheet with thickness and "
                    "elastic2d=\"both\"",
                    xml_attribute(edge, "equality"));
    }
    if (number_of(reader, edge, "stiffness", 0.0) != 0.0) {
        robot_error(reader, edge, "unsupported",
                    "stiffness of <edge> is for flexes of dim=\"1\": give <elasticity young=\"...\"/>");
    }
    if (number_of(reader, edge, "damping", 0.0) != 0.0 && robot_first(reader, (robot_topic)MJCF_LEFT_OUT, "edge")) {
        robot_warn(reader, edge, "flex",
                   "damping of <edge> is not read: the robot moves as if it were not there; damping of <elasticity> "
                   "is");
    }
}

bool mjcf_check_size(robot_reader *reader, const xml_element *xml, const char *what, double value, const char *unit) {
    bool good = value > 0.0 && value <= 1e50;
    if (!good) {
        robot_error(reader, xml, "range", "%s of <%s> = %g %s must be > 0 and at most 1e+50", what, xml_name(xml),
                    value, unit);
    }
    return good;
}

/// Young's modulus, Poisson's ratio, damping and thickness; of a sheet also what of it is stiff.
static void read_elasticity(robot_reader *reader, const xml_element *xml, bool sheet, robot_soft *soft) {
    const xml_element *e = robot_child(reader, xml, "elasticity"), *at = e != NULL ? e : xml;
    double young = number_of(reader, e, "young", 0.0), poisson = number_of(reader, e, "poisson", 0.0);
    double damping = number_of(reader, e, "damping", 0.0), thickness = number_of(reader, e, "thickness", -1.0);
    int32_t stiff = choice_of(reader, e, "elastic2d", "none bend stretch both", NO_STIFFNESS);
    if (young > 0.0) {
        mjcf_check_size(reader, at, "young", young, "Pa");
    } else {
        robot_error(reader, at, "elasticity",
                    "young of <elasticity> = %g Pa must be > 0: nothing else holds the points of a flex together%s",
                    young, e == NULL && sheet ? "; give thickness and elastic2d too" : "");
    }
    if (!(poisson >= 0.0 && poisson < 0.5)) {
        robot_error(reader, at, "elasticity", "poisson of <elasticity> = %g must lie in 0 to below 0.5%s", poisson,
                    poisson == 0.5 ? ": take 0.45 for what keeps its volume" : "");
    }
    if (!(damping >= 0.0 && damping <= 1e50)) {
        robot_error(reader, at, "elasticity", "damping of <elasticity> = %g s must be >= 0 and at most 1e+50", damping);
    }
    robot_set_soft(soft, "young", young);
    robot_set_soft(soft, "poisson", poisson);
    robot_set_soft(soft, "rayleigh_stiffness", damping);
    robot_set_soft(soft, "density", 0.0); // the points have the mass
    if (!sheet && stiff != NO_STIFFNESS) {
        robot_error(reader, at, "elasticity",
                    "elastic2d of <elasticity> is for flexes of dim=\"2\", this one has "
                    "tetrahedra: take it out");
    }
    if (!sheet || e == NULL) {
        return;
    }
    if (stiff < STRETCHING) {
        robot_error(reader, at, "unsupported",
                    "elastic2d=\"%s\" of <elasticity>: a sheet without a stiffness against stretching is not read: "
                    "give elastic2d=\"both\", or \"stretch\" for a membrane",
                    stiff == BENDING ? "bend" : "none");
    }
    if (thickness > 0.0) {
        mjcf_check_size(reader, at, "thickness", thickness, "m");
    } else {
        robot_error(reader, at, "elasticity", "thickness of <elasticity> = %g m must be > 0 for a flex of dim=\"2\"",
                    thickness);
    }
    robot_set_soft(soft, "thickness", thickness);
    if (stiff == STRETCHING) {
        robot_set_soft(soft, "bending", 0.0);
    }
}

static uint32_t bits_of(robot_reader *reader, const xml_element *xml, const char *attribute) {
    double value = number_of(reader, xml, attribute, 1.0);
    if (!(value >= -2147483648.0 && value <= 4294967295.0 && value == floor(value))) {
        robot_error(reader, xml, "range", "%s of <%.20s> = %g must be a whole number of 32 bits", attribute,
                    xml_name(xml), value);
        return 1;
    }
    return (uint32_t)(int64_t)value;
}

robot_soft *mjcf_add_soft(robot_reader *reader, const char *name, const xml_element *xml) {
    mjcf_reader *mjcf = mjcf_of(reader);
    robot_soft *soft = robot_add_soft(reader, name, reader->label, xml);
    if (soft == NULL) {
        return NULL;
    }
    mjcf->soft_filters = robot_reserve(reader, mjcf->soft_filters, reader->soft_count - 1, &mjcf->soft_filter_capacity,
                                       sizeof *mjcf->soft_filters);
    return reader->soft_count <= mjcf->soft_filter_capacity ? soft : NULL;
}

void mjcf_read_surface(robot_reader *reader, const xml_element *e, robot_soft *soft) {
    stn_surface_spec *surface = &soft->surface;
    mjcf_filter *filter = &mjcf_of(reader)->soft_filters[reader->soft_count - 1];
    double friction[3] = {1.0, 0.005, 0.0001}, condim = number_of(reader, e, "condim", 3.0);
    const char *text = e != NULL ? xml_attribute(e, "friction") : NULL;
    *filter = (mjcf_filter){bits_of(reader, e, "contype"), bits_of(reader, e, "conaffinity")};
    surface->collision = filter->contype != 0 || filter->conaffinity != 0;
    surface->self_collision = (filter->contype & filter->conaffinity) != 0;
    if (text != NULL) {
        robot_parse_reals(reader, e, robot_text(reader, "friction of <%.20s>", xml_name(e)), text, 1, 3, friction);
    }
    if (friction[0] < 0.0) {
        robot_error(reader, e, "range", "friction of <%.20s> = %g must be >= 0", xml_name(e), friction[0]);
    }
    surface->material.mu = condim == 1.0 ? 0.0 : friction[0];
    if (condim > 3.0 && robot_first(reader, (robot_topic)MJCF_LEFT_OUT, "condim")) {
        robot_warn(reader, e, "friction", "condim = %g: friction against turning and rolling is not read", condim);
    }
}

static void read_contact(robot_reader *reader, const xml_element *xml, robot_soft *soft) {
    const xml_element *e = robot_child(reader, xml, "contact");
    mjcf_read_surface(reader, e, soft);
    if (choice_of(reader, e, "selfcollide", "none narrow bvh sap auto", 1) == 0) {
        soft->surface.self_collision = false;
    }
    if (choice_of(reader, e, "internal", "false true", 0) == 1) {
        robot_warn(reader, e, "flex",
                   "internal contacts are not read: elements that turn inside out push back by their elasticity alone");
    }
    if (choice_of(reader, e, "passive", "false true", 0) == 1) {
        robot_warn(reader, e, "flex", "passive is not read: contacts are those of every shape, with friction");
    }
    if (number_of(reader, e, "activelayers", 1.0) != 1.0) {
        robot_warn(reader, e, "flex", "activelayers is not read: the skin alone collides");
    }
}

void mjcf_read_looks(robot_reader *reader, const xml_element *xml, robot_soft *soft) {
    double rgba[4] = {0.5, 0.5, 0.5, 1.0};
    bool coloured = robot_reals(reader, xml, "rgba", 4, rgba);
    const char *name = xml_attribute(xml, "material");
    const mjcf_material *material = name != NULL ? mjcf_find_material(reader, xml, name) : NULL;
    soft->surface.visual = number_of(reader, xml, "group", 0.0) <= 2.0; // what MuJoCo's viewer shows at first
    for (int32_t i = 0; i < 4; i++) {
        bool own = coloured || material == NULL;
        soft->surface.rgba[i] = own ? (float)fmin(fmax(rgba[i], 0.0), 1.0) : material->rgba[i];
    }
}

/// In MuJoCo the order of a tetrahedron's nodes says nothing.
static void turn_tetrahedra(const mjcf_flex *flex) {
    for (int32_t t = 0; t < flex->element_count && flex->dim == 3; t++) {
        int32_t *n = &flex->elements[4 * (size_t)t];
        stn_vec3 x[4];
        for (int k = 0; k < 4; k++) {
            const double *p = &flex->points[3 * (size_t)n[k]];
            x[k] = stn_vec3_make(p[0], p[1], p[2]);
        }
        stn_vec3 normal = stn_vec3_cross(stn_vec3_sub(x[1], x[0]), stn_vec3_sub(x[2], x[0]));
        if (stn_vec3_dot(normal, stn_vec3_sub(x[3], x[0])) < 0.0) {
            int32_t third = n[2];
            n[2] = n[3];
            n[3] = third;
        }
    }
}

void mjcf_make_flex(robot_reader *reader, const mjcf_flex *flex) {
    const xml_element *xml = flex->xml;
    double radius = 0.005;
    robot_soft *soft = mjcf_add_soft(reader, flex->name, xml);
    if (soft == NULL) {
        return;
    }
    soft->link = flex->link;
    robot_real(reader, xml, "radius", &radius);
    if (radius > 0.0) {
        mjcf_check_size(reader, xml, "radius", radius, "m");
    } else if (flex->dim == 2 || radius < 0.0) {
        robot_error(reader, xml, "range", "radius of <%s> = %g m must be %s 0 for dim=\"%d\"", xml_name(xml), radius,
                    flex->dim == 3 ? ">=" : ">", (int)flex->dim);
    }
    soft->surface.thickness = radius;
    read_edge(reader, xml);
    read_elasticity(reader, xml, flex->dim == 2, soft);
    read_contact(reader, xml, soft);
    mjcf_read_looks(reader, xml, soft);
    turn_tetrahedra(flex);
    robot_soft_data data = {.mesh = {.name = flex->name,
                                     .node_count = flex->point_count,
                                     .tetrahedron_count = flex->dim == 3 ? flex->element_count : 0,
                                     .triangle_count = flex->dim == 2 ? flex->element_count : 0,
                                     .nodes = flex->points,
                                     .tetrahedra = flex->elements,
                                     .triangles = flex->elements},
                            .mass = flex->mass,
                            .holder = flex->holder};
    robot_mesh_soft(reader, xml, soft, &data);
}

bool mjcf_check_elements(robot_reader *reader, const mjcf_flex *flex, int32_t numbers) {
    int32_t width = flex->dim + 1;
    if (numbers % width != 0) {
        robot_error(reader, flex->xml, "number",
                    "element of <%s> has %d numbers, not %d for each element of dim=\"%d\"", xml_name(flex->xml),
                    (int)numbers, (int)width, (int)flex->dim);
        return false;
    }
    for (int32_t i = 0; i < numbers; i++) {
        if (flex->elements[i] >= flex->point_count) {
            robot_error(reader, flex->xml, "number", "element of <%s> names point %d, there are %d, counted from 0",
                        xml_name(flex->xml), (int)flex->elements[i], (int)flex->point_count);
            return false;
        }
    }
    return true;
}

void mjcf_refuse_line(robot_reader *reader, const xml_element *xml) {
    robot_error(
        reader, xml, "unsupported",
        "a flex of dim=\"1\", capsules on springs, is not read: make it a <composite type=\"cable\">, or a cable "
        "of the script");
}

void mjcf_warn_pinned(robot_reader *reader, const xml_element *xml, int32_t pins, double mass, const char *body) {
    robot_warn(reader, xml, "pinned_mass",
               "its %d pinned points weigh %g kg each here, which body '%.80s' carries; in MuJoCo they weigh nothing",
               (int)pins, mass, body);
}

int32_t *mjcf_whole_numbers(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t *count) {
    double *values = mjcf_numbers(reader, xml, attribute, count);
    int32_t *whole = values != NULL ? ROBOT_NEW(reader, *count, int32_t) : NULL;
    for (int32_t i = 0; whole != NULL && i < *count; i++) {
        if (!(values[i] >= 0.0 && values[i] <= INT32_MAX && values[i] == floor(values[i]))) {
            robot_error(reader, xml, "number", "%s of <%.60s>: %g is no whole number >= 0", attribute, xml_name(xml),
                        values[i]);
            return NULL;
        }
        whole[i] = (int32_t)values[i];
    }
    return whole;
}

double *mjcf_numbers(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t *count) {
    const char *text = xml_attribute(xml, attribute);
    *count = 0;
    if (text == NULL) {
        return NULL;
    }
    int32_t most = (int32_t)(strlen(text) / 2 + 1); // the file is bounded
    double *values = ROBOT_NEW(reader, most, double);
    *count = values != NULL ? stn_parse_reals(text, values, most) : 0;
    if (*count <= 0) {
        robot_error(reader, xml, "number", "%s of <%.60s> must be finite decimal numbers separated by spaces",
                    attribute, xml_name(xml));
        *count = 0;
        return NULL;
    }
    return values;
}
