// SPDX-License-Identifier: Apache-2.0
// <joint type="gearbox">: no joint of the tree but a bond between two that are. With t1 the angle from a reference body
// to the parent about `axis` and t2 that from the same body to the child about `axis2`,
//   t2 = -gearbox_ratio t1.
// Where hinges q1 and q2 lie between the reference body and the two links, along these axes or against them (s1, s2 =
// +-1), the second mimics the first: q2 = -gearbox_ratio s1 s2 q1. Elsewhere the bond is left out with a warning.
#include <string.h>

#include "sdf.h"

static const double PARALLEL = 1e-9; // of 1 - |cosine|

/// A hinge of the robot from the gearbox's reference body to one of its links.
typedef struct side {
    int32_t joint; // -1: there is none
    double sense;  // +1 or -1: along or against the gearbox's axis; 0: neither
} side;

typedef struct gearbox {
    int32_t frame, base;  // its own; link of the reference body, -1: the world
    const int32_t *above; // frame of the joint above each link
} gearbox;

static side find_side(robot_reader *reader, const gearbox *g, int32_t link, const xml_element *axis) {
    const sdf_reader *sdf = sdf_of(reader);
    side out = {-1, 0.0};
    int32_t frame = link >= 0 ? g->above[link] : 0;
    int32_t index = frame > 0 ? robot_names_find(&reader->joint_names, 0, sdf->frames[frame].name) : -1;
    if (index < 0) {
        return out;
    }
    const robot_joint *joint = &reader->joints[index];
    bool turns = joint->spec.type == STN_JOINT_REVOLUTE || joint->spec.type == STN_JOINT_CONTINUOUS;
    if (!turns || strcmp(joint->parent, g->base >= 0 ? reader->links[g->base].name : "world") != 0) {
        return out;
    }
    out.joint = index;
    stn_vec3 wanted;
    if (axis != NULL && sdf_axis_direction(reader, axis, g->frame, &wanted)) {
        wanted = stn_mat3_apply(&sdf->frames[g->frame].pose.rotation, wanted);
        double cosine = stn_vec3_dot(wanted, stn_mat3_apply(&sdf->frames[frame].pose.rotation, joint->spec.axis));
        out.sense = fabs(cosine) < 1.0 - PARALLEL ? 0.0 : cosine > 0.0 ? 1.0 : -1.0;
    }
    return out;
}

static void build_gearbox(robot_reader *reader, const int32_t *above, const sdf_joint *joint) {
    const sdf_reader *sdf = sdf_of(reader);
    const xml_element *xml = joint->xml;
    sdf_hinge ends;
    double ratio = 1.0;
    reader->label = sdf->frames[joint->frame].label;
    if (!sdf_find_ends(reader, joint, &ends)) {
        return;
    }
    const xml_element *body = robot_child(reader, xml, "gearbox_reference_body");
    if (body == NULL) {
        robot_error(reader, xml, "missing", "a gearbox joint without <gearbox_reference_body>: add it");
        return;
    }
    const char *name = robot_text_name(reader, body);
    if (name == NULL) {
        return;
    }
    int32_t reference = 0; // frame of that body
    if (strcmp(name, "world") != 0) {
        reference = sdf_need_frame(reader, sdf->frames[joint->frame].model, body, "gearbox_reference_body", name);
    }
    if (reference < 0) {
        return;
    }
    sdf_number(reader, xml, "gearbox_ratio", &ratio);
    const gearbox g = {joint->frame, sdf->frames[reference].link, above};
    const xml_element *axis = robot_child(reader, xml, "axis"), *axis2 = robot_child(reader, xml, "axis2");
    side first = find_side(reader, &g, ends.parent, axis), second = find_side(reader, &g, ends.child, axis2);
    if (first.sense == 0.0 || second.sense == 0.0 || first.joint == second.joint ||
        reader->joints[second.joint].mimic != NULL) {
        robot_warn(reader, xml, "joint_type",
                   "a gearbox joint is read where free hinges lie between its reference body and both links, along its "
                   "axes: this one is left out, the robot moves as if it were not there");
        return;
    }
    robot_joint *follower = &reader->joints[second.joint];
    follower->mimic = reader->joints[first.joint].spec.name;
    follower->spec.mimic_multiplier = -ratio * first.sense * second.sense;
    follower->spec.mimic_offset = 0.0;
}

void sdf_build_gearboxes(robot_reader *reader) {
    const sdf_reader *sdf = sdf_of(reader);
    int32_t *above = ROBOT_NEW(reader, sdf->link_total, int32_t); // frames; 0, that of the world: none
    for (int32_t i = 0; above != NULL && i < sdf->joint_count; i++) {
        int32_t frame = sdf->joints[i].frame, link = sdf->frames[frame].link;
        if (!sdf->joints[i].gearbox && link >= 0) {
            above[link] = frame;
        }
    }
    for (int32_t i = 0; above != NULL && i < sdf->joint_count; i++) {
        if (sdf->joints[i].gearbox) {
            build_gearbox(reader, above, &sdf->joints[i]);
        }
    }
}
