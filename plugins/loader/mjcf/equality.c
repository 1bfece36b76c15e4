// SPDX-License-Identifier: Apache-2.0
// <equality>: a joint that follows another linearly, q1 - ref1 = c0 + c1 (q2 - ref2), becomes a mimic joint; <connect>
// a ball, <weld> a weld, of two bodies or of a body and the world, where the file does not say otherwise as they are
// drawn. Whatever else holds parts of the robot together is said: the mechanism is another one without it.
#include <string.h>

#include "mjcf.h"

/// The coordinate as drawn of a joint of the robot; the joints of coordinates are in rising order.
static double ref_of(robot_reader *reader, int32_t joint) {
    const mjcf_reader *mjcf = mjcf_of(reader);
    int32_t low = 0, high = mjcf->coordinates_count; // it lies in [low, high) if at all
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (mjcf->coordinates[middle].joint < joint) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < mjcf->coordinates_count && mjcf->coordinates[low].joint == joint;
    return found ? mjcf->coordinates[low].ref : 0.0;
}

static int32_t joint_of(robot_reader *reader, const xml_element *xml, const char *attribute) {
    const char *name = robot_name_of(reader, xml, attribute);
    int32_t joint = name != NULL ? robot_names_find(&reader->joint_names, 0, name) : -1;
    if (name != NULL && joint < 0) {
        robot_error(reader, xml, "unknown_joint", "%s of <joint>: there is no joint '%.80s'%s", attribute, name,
                    robot_names_hint(reader, &reader->joint_names, 0, name));
    }
    return joint;
}

static void read_joint(robot_reader *reader, const xml_element *xml) {
    double c[5] = {0.0, 1.0, 0.0, 0.0, 0.0};
    const char *text = xml_attribute(xml, "polycoef");
    int32_t own = joint_of(reader, xml, "joint1");
    if (text != NULL && robot_parse_reals(reader, xml, "polycoef of <joint>", text, 1, 5, c) == 0) {
        return;
    }
    if (own < 0) {
        return;
    }
    if (xml_attribute(xml, "joint2") == NULL) {
        robot_warn(reader, xml, "equality", "%s is held at one place, which is not read: use fixed bodies",
                   reader->joints[own].label);
        return;
    }
    int32_t master = joint_of(reader, xml, "joint2");
    if (master < 0) {
        return;
    }
    if (c[2] != 0.0 || c[3] != 0.0 || c[4] != 0.0) {
        robot_warn(reader, xml, "equality",
                   "a joint that follows another by a polynomial beyond the first degree is not "
                   "read: %s moves by itself",
                   reader->joints[own].label);
        return;
    }
    robot_joint *joint = &reader->joints[own];
    double offset = c[0] + ref_of(reader, own) - c[1] * ref_of(reader, master);
    bool other = joint->mimic != NULL && strcmp(joint->mimic, reader->joints[master].spec.name) != 0;
    if (other && own != master && c[1] != 0.0) { // it follows one joint as a mimic, further ones by gears
        robot_constraint *gear = robot_add_constraint(reader, "gear", xml_attribute(xml, "name"), xml);
        if (gear != NULL) {
            gear->ends[0].joint = own;
            gear->ends[1].joint = master;
            gear->settings[0] = (stn_setting){.name = "ratio", .number = c[1]};
            gear->settings[1] = (stn_setting){.name = "offset", .number = offset};
            gear->setting_count = 2;
        }
        return;
    }
    if (joint->mimic != NULL) {
        robot_warn(reader, xml, "equality", "%s follows '%.80s' already: this one is ignored", joint->label,
                   joint->mimic);
        return;
    }
    joint->mimic = reader->joints[master].spec.name;
    joint->spec.mimic_multiplier = c[1];
    joint->spec.mimic_offset = offset;
}

/// One side of a connect or weld.
typedef struct end {
    int32_t body; // of the file; 0: the world
    stn_pose at;  // body frame -> where it is held
} end;

static int32_t body_of(robot_reader *reader, const xml_element *xml, const char *attribute) {
    const char *name = robot_name_of(reader, xml, attribute);
    int32_t body = name != NULL ? robot_names_find(&mjcf_of(reader)->body_names, 0, name) : -1;
    if (name != NULL && body < 0) {
        robot_error(reader, xml, "unknown_link", "%s of <%s>: there is no body '%.80s'%s", attribute, xml_name(xml),
                    name, robot_names_hint(reader, &mjcf_of(reader)->body_names, 0, name));
    }
    return body;
}

static bool site_of(robot_reader *reader, const xml_element *xml, const char *attribute, end *out) {
    const mjcf_reader *mjcf = mjcf_of(reader);
    const char *name = robot_name_of(reader, xml, attribute);
    int32_t site = name != NULL ? robot_names_find(&mjcf->site_names, 0, name) : -1;
    if (site < 0) {
        if (name != NULL) {
            robot_error(reader, xml, "unknown_link", "%s of <%s>: there is no site '%.80s'%s", attribute, xml_name(xml),
                        name, robot_names_hint(reader, &mjcf->site_names, 0, name));
        }
        return false;
    }
    int32_t body = mjcf->body_count - 1; // that the site's link belongs to
    while (body > 0 && mjcf->bodies[body].link != mjcf->sites[site].link) {
        body--;
    }
    *out = (end){body, mjcf->sites[site].pose};
    return true;
}

/// Where body `to` has what `from` holds, as both are drawn.
static stn_pose as_drawn(const mjcf_reader *mjcf, const end *from, int32_t to) {
    stn_pose back = stn_pose_inverse(&mjcf->bodies[to].drawn);
    stn_pose across = stn_pose_mul(&back, &mjcf->bodies[from->body].drawn);
    return stn_pose_mul(&across, &from->at);
}

/// <connect>: a point of body 1, where body 2 has it as drawn.
static bool read_connect(robot_reader *reader, const xml_element *xml, end ends[2]) {
    double anchor[3] = {0.0};
    if (!robot_required(reader, xml, "anchor", 3, anchor)) {
        return false;
    }
    ends[0].at.position = stn_vec3_make(anchor[0], anchor[1], anchor[2]);
    ends[1].at = as_drawn(mjcf_of(reader), &ends[0], ends[1].body);
    return true;
}

/// <weld>: relpose is body 2 in body 1, with a quaternion of 0 as drawn; what is held is at `anchor` of body 2.
static bool read_weld(robot_reader *reader, const xml_element *xml, end ends[2]) {
    double anchor[3] = {0.0}, pose[7] = {0.0};
    robot_reals(reader, xml, "anchor", 3, anchor);
    ends[1].at.position = stn_vec3_make(anchor[0], anchor[1], anchor[2]);
    bool given = robot_reals(reader, xml, "relpose", 7, pose);
    if (!given || (pose[3] == 0.0 && pose[4] == 0.0 && pose[5] == 0.0 && pose[6] == 0.0)) {
        ends[0].at = as_drawn(mjcf_of(reader), &ends[1], ends[0].body);
        return true;
    }
    stn_quat turn;
    if (!mjcf_quaternion(reader, xml, "relpose", pose + 3, &turn)) {
        return false;
    }
    stn_pose relative = stn_pose_make(turn, stn_vec3_make(pose[0], pose[1], pose[2]));
    ends[0].at = stn_pose_mul(&relative, &ends[1].at);
    return true;
}

/// The link of an end. A world without geoms has none: it stands where it is drawn.
static int32_t link_of(const mjcf_reader *mjcf, const end *e) {
    return mjcf->bodies[e->body].link >= 0 ? mjcf->bodies[e->body].link : STN_WORLD;
}

static void read_joined(robot_reader *reader, const xml_element *xml) {
    const mjcf_reader *mjcf = mjcf_of(reader);
    bool weld = strcmp(xml_name(xml), "weld") == 0;
    end ends[2] = {{0, stn_pose_identity()}, {0, stn_pose_identity()}};
    if (xml_attribute(xml, "site1") != NULL || xml_attribute(xml, "site2") != NULL) {
        if (!site_of(reader, xml, "site1", &ends[0]) || !site_of(reader, xml, "site2", &ends[1])) {
            return;
        }
    } else {
        ends[0].body = body_of(reader, xml, "body1");
        ends[1].body = xml_attribute(xml, "body2") != NULL ? body_of(reader, xml, "body2") : 0;
        if (ends[0].body < 0 || ends[1].body < 0 || !(weld ? read_weld : read_connect)(reader, xml, ends)) {
            return;
        }
    }
    if (mjcf->bodies[ends[0].body].weld == mjcf->bodies[ends[1].body].weld) {
        robot_note(reader, xml, "equality", "both ends are of one rigid body, or both fixed in the world: left out");
        return;
    }
    robot_constraint *c = robot_add_constraint(reader, weld ? "weld" : "ball", xml_attribute(xml, "name"), xml);
    for (int32_t k = 0; c != NULL && k < 2; k++) {
        c->ends[k].link = link_of(mjcf, &ends[k]);
        c->ends[k].pose = ends[k].at;
    }
}

void mjcf_read_equality(robot_reader *reader, const xml_element *root) {
    const xml_element *section = NULL;
    while ((section = mjcf_next(root, "equality", section)) != NULL) {
        for (const xml_element *e = xml_first_child(section); e != NULL; e = xml_next_sibling(e)) {
            bool joint = strcmp(xml_name(e), "joint") == 0, flex = robot_lists("flex flexvert flexstrain", xml_name(e));
            if (!joint && !flex && !robot_lists("connect weld", xml_name(e))) {
                continue;
            }
            const char *name = xml_attribute(e, "name");
            reader->label = name != NULL ? robot_text(reader, "equality %s", name) : "equality";
            if (mjcf_plain_choice(reader, e, "active", "false true", 1) == 0) {
                robot_note(reader, e, "equality", "it is not active, and not read");
            } else if (flex) {
                robot_error(reader, e, "unsupported",
                            "<%s> keeps the lengths of a flex by constraints, which no element here does: take it out "
                            "and give the flex <elasticity young=\"...\"/>, a sheet with thickness and "
                            "elastic2d=\"both\"",
                            xml_name(e));
            } else {
                (joint ? read_joint : read_joined)(reader, e);
            }
        }
    }
}
