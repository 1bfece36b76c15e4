// SPDX-License-Identifier: Apache-2.0
// <flex> of <deformable>: elements over points on bodies of the file, as MuJoCo saves what a <flexcomp> makes. A body
// that one flex names once, and that slides freely along three perpendicular axes with nothing on it but its mass,
// becomes a node of the soft body; points on every other body are held by its link.
#include <string.h>

#include "mjcf.h"

/// The next name of a list between blanks, in memory of the load; NULL: the end, or no memory.
static const char *next_name(robot_reader *reader, const char **list) {
    static const char blanks[] = " \t\r\n";
    const char *from = *list + strspn(*list, blanks);
    size_t length = strcspn(from, blanks);
    *list = from + length;
    return length > 0 ? robot_text(reader, "%.*s", (int)length, from) : NULL;
}

void mjcf_find_points(robot_reader *reader, const xml_element *root) {
    static const char *const sections[] = {"equality", "contact", "actuator"};
    static const char *const names[] = {"body1",  "body2",         "body", "joint", "joint1",
                                        "joint2", "jointinparent", "site", "site1", "site2"};
    mjcf_reader *mjcf = mjcf_of(reader);
    for (const xml_element *s = NULL; (s = mjcf_next(root, "deformable", s)) != NULL;) {
        for (const xml_element *e = xml_first_child(s); e != NULL; e = xml_next_sibling(e)) {
            const char *list = strcmp(xml_name(e), "flex") == 0 ? xml_attribute(e, "body") : NULL, *name = NULL;
            while (list != NULL && (name = next_name(reader, &list)) != NULL) {
                robot_names_add(reader, &mjcf->flexed, 0, name, robot_names_find(&mjcf->flexed, 0, name) > 0 ? 2 : 1);
            }
        }
    }
    for (int32_t i = 0; i < STN_COUNT(sections); i++) {
        for (const xml_element *s = NULL; (s = mjcf_next(root, sections[i], s)) != NULL;) {
            for (const xml_element *e = xml_first_child(s); e != NULL; e = xml_next_sibling(e)) {
                for (int32_t k = 0; k < STN_COUNT(names); k++) {
                    const char *name = xml_attribute(e, names[k]);
                    if (name != NULL) {
                        robot_names_add(reader, &mjcf->used, 0, name, 1);
                    }
                }
            }
        }
    }
}

/// Is the name in use by constraints or actuators?
static bool is_used(robot_reader *reader, const xml_element *xml) {
    const char *name = xml_attribute(xml, "name");
    return name != NULL && robot_names_find(&mjcf_of(reader)->used, 0, name) >= 0;
}

/// Three perpendicular slides and one <inertial>, which comes out?
static bool is_point(robot_reader *reader, const mjcf_parts *inside, const xml_element **inertial) {
    stn_vec3 axes[3];
    int32_t slides = 0, weights = 0;
    for (int32_t i = 0; i < inside->count; i++) {
        const mjcf_part *part = &inside->items[i];
        bool joint = mjcf_is_joint(part->xml), weight = strcmp(xml_name(part->xml), "inertial") == 0;
        if (!(weight || (joint && slides < 3)) || is_used(reader, part->xml) ||
            (joint && !mjcf_slides(reader, part, &axes[slides]))) {
            return false;
        }
        slides += joint;
        weights += weight;
        *inertial = weight ? part->xml : *inertial;
    }
    return slides == 3 && weights == 1 &&
           fabs(fabs(stn_vec3_dot(stn_vec3_cross(axes[0], axes[1]), axes[2])) - 1.0) < 1e-9;
}

bool mjcf_take_point(robot_reader *reader, const mjcf_part *part, const mjcf_parts *inside, int32_t parent) {
    mjcf_reader *mjcf = mjcf_of(reader);
    const char *name = xml_attribute(part->xml, "name");
    const xml_element *inertial = NULL;
    if (name == NULL || robot_names_find(&mjcf->flexed, 0, name) != 1 || is_used(reader, part->xml) ||
        !is_point(reader, inside, &inertial)) {
        return false;
    }
    reader->label = robot_text(reader, "body %s", name);
    for (int32_t i = 0; i < inside->count; i++) {
        const mjcf_part *slide = &inside->items[i];
        const char *force = mjcf_is_joint(slide->xml) ? mjcf_slide_force(reader, slide) : NULL;
        if (force != NULL && robot_first(reader, (robot_topic)MJCF_POINT_FORCE, force)) {
            robot_error(reader, slide->xml, "unsupported",
                        "%s of <joint>: the body is a point of a flex, and such points move freely but for their "
                        "elements here: take it out%s",
                        force, strcmp(force, "damping") == 0 ? ", and give damping of <elasticity>" : "");
        }
    }
    double mass = 0.0;
    if (robot_required(reader, inertial, "mass", 1, &mass)) {
        mjcf_check_size(reader, inertial, "mass", mass, "kg");
    }
    stn_pose pose = mjcf_plain_pose(reader, part->xml);
    pose = stn_pose_mul(&part->frame, &pose);
    mjcf->points = robot_reserve(reader, mjcf->points, mjcf->point_count, &mjcf->point_capacity, sizeof *mjcf->points);
    if (mjcf->point_count < mjcf->point_capacity) {
        robot_names_add(reader, &mjcf->point_names, 0, name, mjcf->point_count);
        mjcf->points[mjcf->point_count++] = (mjcf_point){parent, stn_pose_mul(&mjcf->bodies[parent].drawn, &pose),
                                                         fmax(mass, mjcf->compiler.bound_mass)};
    }
    mjcf_add_point_coordinates(reader, 3);
    return true;
}

/// Names of the attribute `body`, one a point. NULL: said, or no memory.
static const char **read_names(robot_reader *reader, const xml_element *xml, int32_t *count) {
    const char *list = xml_attribute(xml, "body"), *name = NULL;
    const char **names = list != NULL ? ROBOT_NEW(reader, strlen(list) / 2 + 1, const char *) : NULL;
    while (names != NULL && (name = next_name(reader, &list)) != NULL) {
        names[(*count)++] = name;
    }
    if (*count == 0) {
        robot_error(reader, xml, "missing", "<flex> needs body, the names of the bodies that its points are on");
    }
    return *count > 0 ? names : NULL;
}

/// What has no counterpart here; dim comes out.
static bool is_read(robot_reader *reader, const xml_element *xml, int32_t *dim) {
    static const char *const dofs[] = {"full", "radial", "trilinear", "quadratic", "2d"};
    int32_t before = reader->diagnostics->error_count;
    double number = 2.0;
    int32_t dof = mjcf_plain_choice(reader, xml, "dof", "full radial trilinear quadratic 2d", 0);
    robot_real(reader, xml, "dim", &number);
    if (xml_attribute(xml, "node") != NULL || dof > 0) {
        robot_error(reader, xml, "unsupported",
                    "%s of <flex>: points that follow others are not read: let every point be a body of body=\"...\"",
                    dof > 0 ? robot_text(reader, "dof=\"%s\"", dofs[dof]) : "node");
    }
    if (number == 1.0) {
        mjcf_refuse_line(reader, xml);
    } else if (number != 2.0 && number != 3.0) {
        robot_error(reader, xml, "range", "dim of <flex> = %g must be 2 or 3", number);
    }
    *dim = (int32_t)number;
    return reader->diagnostics->error_count == before;
}

/// One <flex> on its way into the robot. n points.
typedef struct flex_body {
    const xml_element *xml;
    const char **names; // (n) of bodies
    int32_t *point;     // (n) of the reader's points; -1: on another body
    int32_t *body;      // (n) that other body
    double *at, *mass;  // (3 n) in that body, later in the frame of `frame`; (n)
    int32_t *holder;    // (n)
    int32_t frame;      // body
} flex_body;

/// The body of each point. false: said.
static bool find_bodies(robot_reader *reader, flex_body *f, int32_t count) {
    const mjcf_reader *mjcf = mjcf_of(reader);
    int32_t root = 0;
    while (root + 1 < mjcf->body_count && mjcf->bodies[root].link != 0) {
        root++;
    }
    f->frame = -1;
    for (int32_t i = 0; i < count; i++) {
        f->point[i] = robot_names_find(&mjcf->point_names, 0, f->names[i]);
        f->body[i] = f->point[i] < 0 ? robot_names_find(&mjcf->body_names, 0, f->names[i]) : 0;
        if (f->body[i] < 0) {
            robot_error(reader, f->xml, "unknown_link", "body of <flex>: there is no body '%.80s'%s", f->names[i],
                        robot_names_hint(reader, &mjcf->body_names, 0, f->names[i]));
            return false;
        }
        if (f->point[i] >= 0) {
            int32_t parent = mjcf->points[f->point[i]].parent;
            f->frame = f->frame < 0 || f->frame == parent ? parent : root;
        }
    }
    if (f->frame < 0) {
        robot_error(reader, f->xml, "unsupported",
                    "none of the points of <flex> is a body of its own: give those that move freely a body each with "
                    "three slide joints along x, y, z, an <inertial> and nothing else");
    }
    return f->frame >= 0;
}

/// Places in the frame of f->frame, masses and holders.
static void place_points(robot_reader *reader, flex_body *f, int32_t count) {
    const mjcf_reader *mjcf = mjcf_of(reader);
    const stn_pose back = stn_pose_inverse(&mjcf->bodies[f->frame].drawn);
    double sum = 0.0;
    int32_t free_count = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += f->point[i] >= 0 ? mjcf->points[f->point[i]].mass : 0.0;
        free_count += f->point[i] >= 0;
    }
    int32_t carried = 0, carrier = 0;
    for (int32_t i = 0; i < count; i++) {
        const mjcf_body *body = &mjcf->bodies[f->body[i]];
        const bool is_free = f->point[i] >= 0;
        const stn_pose drawn = is_free ? mjcf->points[f->point[i]].drawn : body->drawn;
        stn_vec3 x = stn_pose_apply(&drawn, stn_vec3_at(f->at, i));
        x = stn_pose_apply(&back, x);
        memcpy(&f->at[3 * (size_t)i], (const double[3]){x.x, x.y, x.z}, 3 * sizeof *f->at);
        f->mass[i] = is_free ? mjcf->points[f->point[i]].mass : sum / free_count;
        f->holder[i] = is_free ? ROBOT_FREE_NODE : f->body[i] > 0 ? body->link : STN_WORLD;
        if (!is_free && body->weld != 0) {
            carried++;
            carrier = f->body[i];
        }
    }
    if (carried > 0) {
        mjcf_warn_pinned(reader, f->xml, carried, sum / free_count, mjcf->bodies[carrier].name);
    }
}

static void read_flex(robot_reader *reader, const xml_element *xml) {
    flex_body f = {.xml = xml};
    int32_t dim = 0, count = 0, coordinates = 0, numbers = 0;
    reader->label = "flex";
    const char *name = robot_name_of(reader, xml, "name");
    reader->label = name != NULL ? robot_text(reader, "flex %s", name) : "flex";
    if (name == NULL || !is_read(reader, xml, &dim) || (f.names = read_names(reader, xml, &count)) == NULL) {
        return;
    }
    bool listed = xml_attribute(xml, "vertex") != NULL;
    f.at = mjcf_numbers(reader, xml, "vertex", &coordinates);
    int32_t *elements = mjcf_whole_numbers(reader, xml, "element", &numbers);
    if ((listed && f.at == NULL) || elements == NULL) {
        if (xml_attribute(xml, "element") == NULL) {
            robot_error(reader, xml, "missing", "<flex> needs element");
        }
        return;
    }
    int32_t same = 0;
    for (int32_t i = 0; i < count; i++) {
        same += strcmp(f.names[i], f.names[0]) == 0;
    }
    if (same == count) {
        robot_error(
            reader, xml, "unsupported",
            "a <flex> of which all points are on one body is rigid: give the body a <geom type=\"mesh\"/> instead");
        return;
    }
    if (listed && coordinates != 3 * count) {
        robot_error(reader, xml, "number", "vertex of <flex> has %d numbers, not three for each of its %d bodies",
                    (int)coordinates, (int)count);
        return;
    }
    mjcf_flex flex = {.xml = xml,
                      .name = name,
                      .dim = dim,
                      .point_count = count,
                      .element_count = numbers / (dim + 1),
                      .elements = elements};
    f.point = ROBOT_NEW(reader, count, int32_t);
    f.body = ROBOT_NEW(reader, count, int32_t);
    f.holder = ROBOT_NEW(reader, count, int32_t);
    f.mass = ROBOT_NEW(reader, count, double);
    f.at = listed ? f.at : ROBOT_NEW(reader, 3 * (size_t)count, double);
    if (f.point == NULL || f.body == NULL || f.holder == NULL || f.mass == NULL || f.at == NULL ||
        !mjcf_check_elements(reader, &flex, numbers) || !find_bodies(reader, &f, count)) {
        return;
    }
    place_points(reader, &f, count);
    flex.link = mjcf_of(reader)->bodies[f.frame].link;
    flex.points = f.at;
    flex.mass = f.mass;
    flex.holder = f.holder;
    mjcf_make_flex(reader, &flex);
}

void mjcf_read_flexes(robot_reader *reader, const xml_element *root) {
    for (const xml_element *s = NULL; (s = mjcf_next(root, "deformable", s)) != NULL && !reader->out_of_memory;) {
        for (const xml_element *e = xml_first_child(s); e != NULL; e = xml_next_sibling(e)) {
            if (strcmp(xml_name(e), "flex") == 0) {
                read_flex(reader, e);
            }
        }
    }
}
