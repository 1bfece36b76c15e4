// SPDX-License-Identifier: Apache-2.0
// <joint type="gearbox">: no joint of the tree but a bond between two that are. With t1 the angle from a reference body
// to the parent about `axis` and t2 that from the same body to the child about `axis2`,
//   t2 = -gearbox_ratio t1.
// Where hinges q1 and q2 lie between the reference body and the two links, along these axes or against them (s1, s2 =
// +-1), the second mimics the first: q2 = -gearbox_ratio s1 s2 q1. Elsewhere the bond is left out with a warning.
#include <string.h>

#include "sdf.h"

static const double PARALLEL = 1e-9; // of 1 - |cosine|

/// The hinge of the robot from link `base` to `link`; -1: there is none. `above`: frame of the joint above each link.
static int32_t find_hinge(robot_reader *reader, const int32_t *above, int32_t base, int32_t link, int32_t *frame) {
    *frame = link >= 0 ? above[link] : 0;
    int32_t index = *frame > 0 ? robot_names_find(&reader->joint_names, 0, sdf_of(reader)->frames[*frame].name) : -1;
    if (index < 0) {
        return -1;
    }
    const robot_joint *joint = &reader->joints[index];
    bool turns = joint->spec.type == STN_JOINT_REVOLUTE || joint->spec.type == STN_JOINT_CONTINUOUS;
    return turns && strcmp(joint->parent, base >= 0 ? reader->links[base].name : "world") == 0 ? index : -1;
}

/// +1 or -1 for a hinge along or against an axis of the gearbox; 0: neither.
static double sense(robot_reader *reader, const xml_element *axis, int32_t gearbox, int32_t frame, int32_t hinge) {
    const sdf_reader *sdf = sdf_of(reader);
    stn_vec3 wanted;
    if (axis == NULL || !sdf_axis_direction(reader, axis, gearbox, &wanted)) {
        return 0.0;
    }
    wanted = stn_mat3_apply(&sdf->frames[gearbox].pose.rotation, wanted);
    stn_vec3 own = stn_mat3_apply(&sdf->frames[frame].pose.rotation, reader->joints[hinge].spec.axis);
    double cosine = stn_vec3_dot(wanted, own);
    return fabs(cosine) < 1.0 - PARALLEL ? 0.0 : cosine > 0.0 ? 1.0 : -1.0;
}

/// The link that the reference body is, -1 the world. false: there is none, said.
static bool find_reference(robot_reader *reader, const sdf_joint *joint, int32_t *link) {
    const sdf_reader *sdf = sdf_of(reader);
    const xml_element *body = robot_child(reader, joint->xml, "gearbox_reference_body");
    const char *name = body != NULL ? robot_text_name(reader, body) : NULL;
    if (body == NULL) {
        robot_error(reader, joint->xml, "missing", "a gearbox joint without <gearbox_reference_body>: add it");
    }
    if (name == NULL) {
        return false;
    }
    bool world = strcmp(name, "world") == 0;
    int32_t model = sdf->frames[joint->frame].model;
    int32_t found = world ? 0 : sdf_need_frame(reader, model, body, "gearbox_reference_body", name);
    *link = found >= 0 ? sdf->frames[found].link : -1;
    return found >= 0;
}

static void build_gearbox(robot_reader *reader, const int32_t *above, const sdf_joint *joint) {
    sdf_hinge ends;
    int32_t base = -1, frames[2] = {0};
    double ratio = 1.0;
    reader->label = sdf_of(reader)->frames[joint->frame].label;
    if (!sdf_find_ends(reader, joint, &ends) || !find_reference(reader, joint, &base)) {
        return;
    }
    sdf_number(reader, joint->xml, "gearbox_ratio", &ratio);
    int32_t first = find_hinge(reader, above, base, ends.parent, &frames[0]);
    int32_t second = find_hinge(reader, above, base, ends.child, &frames[1]);
    const xml_element *axis = robot_child(reader, joint->xml, "axis"),
                      *axis2 = robot_child(reader, joint->xml, "axis2");
    double s1 = first >= 0 ? sense(reader, axis, joint->frame, frames[0], first) : 0.0;
    double s2 = second >= 0 ? sense(reader, axis2, joint->frame, frames[1], second) : 0.0;
    if (s1 == 0.0 || s2 == 0.0 || first == second || reader->joints[second].mimic != NULL) {
        robot_warn(reader, joint->xml, "joint_type",
                   "a gearbox joint is read where free hinges lie between its reference body and both links, along its "
                   "axes: this one is left out, the robot moves as if it were not there");
        return;
    }
    robot_joint *follower = &reader->joints[second];
    follower->mimic = reader->joints[first].spec.name;
    follower->spec.mimic_multiplier = -ratio * s1 * s2;
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
