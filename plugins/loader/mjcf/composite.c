// SPDX-License-Identifier: Apache-2.0
// <composite type="cable">: rigid links on ball joints, which the plugin mujoco.elasticity.cable bends and twists back.
// Here a cable of element "cable" with a node at every vertex. With the radius r and a spacing l both have
//   E I/l against bending, G J/l against twist,   E = bend, G = twist, I = pi r^4/4, J = 2 I,
// so that Poisson's ratio is E/(2 G) - 1. MuJoCo's links keep their length; here E A/l holds it.
#include <string.h>

#include "mjcf.h"

enum { MOST_VERTICES = 100000 };

/// One cable on its way into the robot.
typedef struct cable {
    const xml_element *xml;
    int32_t count;        // of vertices
    double *vertices;     // (count x 3) in the frame of the body
    double length;        // along them
    double bend, twist;   // [Pa]
    double radius;        // [m]
    double mass, damping; // of all of it [kg]; of each ball joint [N m s/rad]
    bool flat;
} cable;

static void refuse(robot_reader *reader, const xml_element *xml, const char *what, const char *instead) {
    robot_error(reader, xml, "unsupported", "%s is not read: %s", what, instead);
}

/// Vertex i of those that the curve makes, before `quat` and `offset`.
static void curve_at(const int32_t curve[3], const double size[3], double part, double v[3]) {
    enum { ZERO, LINE, COSINE, SINE };
    for (int k = 0; k < 3; k++) {
        double angle = STN_PI * part * size[2];
        v[k] = curve[k] == LINE     ? part * size[0]
               : curve[k] == COSINE ? size[1] * cos(angle)
               : curve[k] == SINE   ? size[1] * sin(angle)
                                    : 0.0;
    }
}

/// Words of `curve`, up to three. false: said.
static bool read_curve(robot_reader *reader, const xml_element *xml, int32_t curve[3]) {
    static const char *const shapes[] = {"0", "s", "cos(s)", "sin(s)"};
    const char *at = xml_attribute(xml, "curve");
    for (int32_t k = 0; at != NULL; k++) {
        at += strspn(at, " \t\r\n");
        size_t length = strcspn(at, " \t\r\n");
        int32_t shape = 0;
        while (shape < STN_COUNT(shapes) &&
               !(strlen(shapes[shape]) == length && strncmp(at, shapes[shape], length) == 0)) {
            shape++;
        }
        if (length == 0) {
            break;
        }
        if (k == 3 || shape == STN_COUNT(shapes)) {
            robot_error(reader, xml, "word", "curve of <composite> = '%.60s' must be up to three of: s cos(s) sin(s) 0",
                        xml_attribute(xml, "curve"));
            return false;
        }
        curve[k] = shape;
        at += length;
    }
    return true;
}

/// As many numbers of an attribute as there are, up to three; the others stay. false: said.
static bool read_some(robot_reader *reader, const xml_element *xml, const char *attribute, double values[3]) {
    const char *text = xml_attribute(xml, attribute);
    return text == NULL || robot_parse_reals(reader, xml, robot_text(reader, "%s of <%.20s>", attribute, xml_name(xml)),
                                             text, 1, 3, values) > 0;
}

/// Vertices that the file lists, or that the curve makes, `offset` not added.
static bool read_vertices(robot_reader *reader, cable *c) {
    double count[3] = {1.0, 1.0, 1.0}, size[3] = {1.0, 0.0, 0.0}, quat[4] = {1.0, 0.0, 0.0, 0.0};
    int32_t curve[3] = {0}, numbers = 0;
    int32_t before = reader->diagnostics->error_count;
    bool good = read_some(reader, c->xml, "count", count) && read_some(reader, c->xml, "size", size) &&
                read_curve(reader, c->xml, curve);
    robot_reals(reader, c->xml, "quat", 4, quat);
    stn_quat turn = stn_quat_identity();
    good = good && reader->diagnostics->error_count == before &&
           mjcf_quaternion(reader, c->xml, "quat of <composite>", quat, &turn);
    if (!good) {
        return false;
    }
    if (xml_attribute(c->xml, "vertex") != NULL) {
        c->vertices = mjcf_numbers(reader, c->xml, "vertex", &numbers);
        if (c->vertices != NULL && (numbers % 3 != 0 || numbers < 9)) {
            robot_error(reader, c->xml, "number",
                        "vertex of <composite> must be numbers three and three, at least 9, not %d", (int)numbers);
            return false;
        }
        if (count[0] > 1.0) {
            robot_error(reader, c->xml, "conflict", "<composite> has vertex and count: keep one");
            return false;
        }
        c->count = numbers / 3;
        return c->vertices != NULL;
    }
    if (!(count[0] >= 3.0 && count[0] <= MOST_VERTICES && count[0] == floor(count[0]) && count[1] == 1.0 &&
          count[2] == 1.0)) {
        robot_error(reader, c->xml, "range",
                    "count of <composite> = %g %g %g: the first must be a whole number from 3 to %d, the others 1",
                    count[0], count[1], count[2], (int)MOST_VERTICES);
        return false;
    }
    c->count = (int32_t)count[0];
    c->vertices = ROBOT_NEW(reader, 3 * (size_t)c->count, double);
    const stn_mat3 matrix = stn_quat_matrix(turn);
    for (int32_t i = 0; c->vertices != NULL && i < c->count; i++) {
        double *v = &c->vertices[3 * (size_t)i];
        curve_at(curve, size, (double)i / (c->count - 1), v);
        stn_vec3 x = stn_mat3_apply(&matrix, stn_vec3_make(v[0], v[1], v[2]));
        memcpy(v, (const double[3]){x.x, x.y, x.z}, 3 * sizeof *v);
    }
    return c->vertices != NULL;
}

/// Moves the vertices into the frame of the body.
static bool place_vertices(robot_reader *reader, cable *c, const stn_pose *frame) {
    double offset[3] = {0.0};
    robot_reals(reader, c->xml, "offset", 3, offset);
    for (int32_t i = 0; i < c->count; i++) {
        double *v = &c->vertices[3 * (size_t)i];
        stn_vec3 x = stn_pose_apply(frame, stn_vec3_make(v[0] + offset[0], v[1] + offset[1], v[2] + offset[2]));
        memcpy(v, (const double[3]){x.x, x.y, x.z}, 3 * sizeof *v);
        double part = i > 0 ? stn_vec3_norm(stn_vec3_sub(x, stn_vec3_at(c->vertices, i - 1))) : 1.0;
        if (!(part > 0.0 && part <= 1e50)) {
            robot_error(reader, c->xml, "range",
                        "vertices %d and %d of <composite> are %g m apart: must be > 0 and finite", (int)i - 1, (int)i,
                        part);
            return false;
        }
        c->length += i > 0 ? part : 0.0;
    }
    return true;
}

/// bend, twist, flat of the plugin.
static bool read_plugin(robot_reader *reader, cable *c) {
    const xml_element *plugin = robot_child(reader, c->xml, "plugin");
    const char *name = plugin != NULL ? xml_attribute(plugin, "plugin") : NULL;
    int32_t before = reader->diagnostics->error_count;
    if (plugin == NULL || name == NULL || strcmp(name, "mujoco.elasticity.cable") != 0) {
        robot_error(reader, plugin != NULL ? plugin : c->xml, "unsupported",
                    "a cable without <plugin plugin=\"mujoco.elasticity.cable\"> is not read: give it one with <config "
                    "key=\"bend\" .../> and <config key=\"twist\" .../>, moduli in Pa");
        return false;
    }
    for (const xml_element *e = xml_first_child(plugin); e != NULL; e = xml_next_sibling(e)) {
        const char *key = strcmp(xml_name(e), "config") == 0 ? robot_name_of(reader, e, "key") : NULL;
        if (key == NULL) {
            continue;
        }
        if (strcmp(key, "bend") == 0 || strcmp(key, "twist") == 0) {
            robot_required(reader, e, "value", 1, key[0] == 'b' ? &c->bend : &c->twist);
        } else if (strcmp(key, "flat") == 0) {
            c->flat = mjcf_plain_choice(reader, e, "value", "false true", 0) == 1;
        } else if (strcmp(key, "vmax") != 0) { // which only colours
            robot_error(reader, e, "word", "key of <config> = '%.60s' must be one of: bend twist flat vmax", key);
        }
    }
    if (reader->diagnostics->error_count > before) {
        return false;
    }
    if (!(c->bend > 0.0 && c->twist > 0.0 && c->bend <= 1e50 && c->twist <= 1e50)) {
        robot_error(reader, plugin, "elasticity",
                    "bend = %g Pa and twist = %g Pa of <plugin> must be > 0 and at most 1e+50", c->bend, c->twist);
    } else if (c->bend > 3.0 * c->twist) {
        robot_error(reader, plugin, "unsupported",
                    "bend = %g Pa of <plugin> is more than three times twist = %g Pa: no solid does that, whose "
                    "Poisson's ratio bend/(2 twist) - 1 is at most 0.5; make bend smaller or twist larger",
                    c->bend, c->twist);
    }
    return reader->diagnostics->error_count == before;
}

/// Radius and mass.
static bool read_geom(robot_reader *reader, cable *c) {
    enum { CAPSULE, CYLINDER, BOX };
    const xml_element *geom = robot_child(reader, c->xml, "geom");
    double size[3] = {0.0}, density = 1000.0, mass = -1.0;
    if (geom == NULL || xml_attribute(geom, "type") == NULL) {
        robot_error(reader, geom != NULL ? geom : c->xml, "missing",
                    "a cable needs <geom type=\"capsule\" size=\"radius\"/>");
        return false;
    }
    int32_t before = reader->diagnostics->error_count;
    int32_t type = mjcf_plain_choice(reader, geom, "type", "capsule cylinder box", CAPSULE);
    read_some(reader, geom, "size", size);
    robot_real(reader, geom, "density", &density);
    robot_real(reader, geom, "mass", &mass);
    if (type == BOX) {
        refuse(reader, geom, "a cable of boxes", "cables are round here, make it type=\"capsule\"");
    } else {
        mjcf_check_size(reader, geom, "size", size[0], "m");
    }
    const double r = size[0], ends = type == CAPSULE ? 4.0 / 3.0 * r : 0.0, parts = c->count - 1.0;
    c->radius = r;
    c->mass =
        xml_attribute(geom, "mass") != NULL ? mass * parts : density * STN_PI * r * r * (c->length + parts * ends);
    if (reader->diagnostics->error_count == before && !(c->mass > 0.0 && c->mass <= 1e50)) {
        robot_error(reader, geom, "range", "the mass of the cable, %g kg, must be > 0 and finite", c->mass);
    }
    if (reader->diagnostics->error_count == before && type == CYLINDER) {
        robot_warn(reader, geom, "cable", "it collides as capsules do, not as cylinders");
    }
    return reader->diagnostics->error_count == before;
}

/// Damping of the ball joints; their springs and limits have no counterpart.
static bool read_joint(robot_reader *reader, cable *c) {
    static const char *const others[] = {"stiffness", "frictionloss", "armature"};
    const xml_element *joint = robot_child(reader, c->xml, "joint");
    int32_t before = reader->diagnostics->error_count;
    double range[2] = {0.0};
    if (joint == NULL) {
        return true;
    }
    robot_not_negative(reader, joint, "damping", "N m s/rad", &c->damping);
    for (int32_t i = 0; i < STN_COUNT(others); i++) {
        double value = 0.0;
        if (robot_real(reader, joint, others[i], &value) && value != 0.0) {
            refuse(reader, joint, robot_text(reader, "%s of <joint>", others[i]),
                   "cables bend and twist by the plugin's moduli alone here, take it out");
        }
    }
    if (robot_reals(reader, joint, "range", 2, range) && (range[0] != 0.0 || range[1] != 0.0)) {
        refuse(reader, joint, "range of <joint>", "a cable bends without a limit here, take it out");
    }
    return reader->diagnostics->error_count == before;
}

/// Bodies and sites of the cable that other parts of the file name.
static bool is_free_of_names(robot_reader *reader, const xml_element *xml) {
    static const char *const ends[] = {"B_first", "B_last", "J_first", "J_last", "S_first", "S_last"};
    const char *prefix = xml_attribute(xml, "prefix");
    for (int32_t i = 0; i < STN_COUNT(ends); i++) {
        const char *name = robot_text(reader, "%s%s", prefix != NULL ? prefix : "", ends[i]);
        if (robot_names_find(&mjcf_of(reader)->used, 0, name) >= 0) {
            robot_error(
                reader, xml, "unsupported",
                "'%.80s' of this cable is named by a constraint, an exclusion or an actuator, which is not read: "
                "its parts are nodes here; take that out, or make the cable in a script with world:cable { attach "
                "= ... }",
                name);
            return false;
        }
    }
    return true;
}

/// What differs from MuJoCo's, with figures.
static void tell(robot_reader *reader, const cable *c, double spread, double relaxation) {
    robot_warn(
        reader, c->xml, "cable",
        "MuJoCo's cable keeps its length, this one stretches by 1 %% under %.3g N (bend times its cross-section)",
        0.01 * c->bend * STN_PI * c->radius * c->radius);
    if (c->damping > 0.0) {
        robot_warn(
            reader, c->xml, "cable",
            "damping = %g N m s/rad of <joint> is read as rayleigh_stiffness = %.3g s, which damps bending as much, "
            "twist %.3g times as much, and stretch too",
            c->damping, relaxation, 2.0 * c->twist / c->bend);
    }
    if (spread > 1.01) {
        robot_warn(reader, c->xml, "cable",
                   "its parts differ in length by a factor of %.3g: its mass lies evenly along it here, and damping of "
                   "<joint> "
                   "is that of the mean",
                   spread);
    }
}

int32_t mjcf_read_composite(robot_reader *reader, const mjcf_part *part, int32_t body) {
    enum { FREE, BALL, FIXED };
    const mjcf_body *parent = &mjcf_of(reader)->bodies[body];
    const xml_element *xml = part->xml;
    cable c = {.xml = xml};
    const char *prefix = xml_attribute(xml, "prefix"), *type = xml_attribute(xml, "type");
    if (type == NULL || strcmp(type, "cable") != 0) {
        return 0; // said by the census
    }
    reader->label = "composite";
    prefix = prefix != NULL && prefix[0] != '\0' ? robot_name_of(reader, xml, "prefix") : "cable";
    reader->label = prefix != NULL ? robot_text(reader, "composite %s", prefix) : "composite";
    int32_t before = reader->diagnostics->error_count;
    int32_t start = mjcf_plain_choice(reader, xml, "initial", "free ball none", BALL);
    if (prefix == NULL || reader->diagnostics->error_count > before || !is_free_of_names(reader, xml)) {
        return 0;
    }
    if (start == BALL) {
        refuse(reader, xml, "initial=\"ball\" of <composite>, which it is when absent,",
               "a cable's end is free or keeps its direction here, make it \"free\" or \"none\"");
    } else if (start == FREE && body != 0) {
        robot_error(reader, xml, "joint_type", "initial=\"free\" of <composite>: free bodies stand in <worldbody>");
    }
    if (reader->diagnostics->error_count > before || !read_vertices(reader, &c) ||
        !place_vertices(reader, &c, &part->frame) || !read_plugin(reader, &c) || !read_geom(reader, &c) ||
        !read_joint(reader, &c)) {
        return 0;
    }
    robot_soft *soft = mjcf_add_soft(reader, prefix, xml);
    if (soft == NULL) {
        return 0;
    }
    const xml_element *geom = robot_child(reader, xml, "geom");
    mjcf_read_surface(reader, geom, soft);
    mjcf_read_looks(reader, geom, soft);
    double shortest = INFINITY, longest = 0.0;
    for (int32_t i = 1; i < c.count; i++) {
        double l = stn_vec3_norm(stn_vec3_sub(stn_vec3_at(c.vertices, i), stn_vec3_at(c.vertices, i - 1)));
        shortest = fmin(shortest, l);
        longest = fmax(longest, l);
    }
    const double r2 = c.radius * c.radius, bending = c.bend * 0.25 * STN_PI * r2 * r2;
    const double relaxation = c.damping * c.length / (c.count - 1) / bending;
    soft->link = parent->link;
    soft->radius = c.radius;
    soft->whole_mass = c.mass;
    soft->straight = c.flat;
    robot_set_soft(soft, "young", c.bend);
    robot_set_soft(soft, "poisson", c.bend / (2.0 * c.twist) - 1.0);
    robot_set_soft(soft, "rayleigh_stiffness", relaxation);
    tell(reader, &c, longest / shortest, relaxation);
    if (robot_line_soft(reader, xml, soft, c.count, c.vertices) && start == FIXED) {
        soft->holder[0] = body > 0 ? parent->link : STN_WORLD;
    }
    return 4 * (c.count - 2) + (start == FREE ? 7 : 0);
}
