// SPDX-License-Identifier: Apache-2.0
// From links, frames and joints to the tree of the robot, in which a joint's frame is that of the link which it
// carries.
//
// This is the one place where that is made so: a joint J whose frame is not its child's carries a massless link
// "J_frame", and the child is fixed to that with X_JC, so every link keeps the frame that the file gives it. Frames are
// massless links of their own names, fixed to the link that they move with. Whatever then hangs on nothing hangs on a
// link `world`, by a floating joint or, when it is static, a fixed one; a single root stays root, and the file says
// where it stands.
#include "sdf.h"

/// Closer than this to the identity is round-off of poses that lead there by way of other frames.
static const double SAME = 1e-14;

bool sdf_is_identity(const stn_pose *pose) {
    double worst = fmax(fabs(pose->position.x), fmax(fabs(pose->position.y), fabs(pose->position.z)));
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            worst = fmax(worst, fabs(pose->rotation.m[i][j] - (i == j ? 1.0 : 0.0)));
        }
    }
    return worst <= SAME;
}

static const char *unique(robot_reader *reader, const robot_names *names, const char *name) {
    const char *found = name;
    for (int32_t i = 2; robot_names_find(names, 0, found) >= 0 && !reader->out_of_memory; i++) {
        found = robot_text(reader, "%s_%d", name, (int)i);
    }
    return found;
}

const char *sdf_unique_joint(robot_reader *reader, const char *name) {
    return unique(reader, &reader->joint_names, name);
}

int32_t sdf_add_massless(robot_reader *reader, const char *name, const xml_element *xml) {
    return robot_add_link(reader, unique(reader, &reader->link_names, name), xml);
}

/// A joint of the tree: its frame stands at `in_parent`, and it carries the child by that child's own frame.
static int32_t add_joint(robot_reader *reader, const sdf_hinge *hinge, stn_joint_type type) {
    int32_t from = hinge->parent >= 0 ? hinge->parent : robot_names_find(&reader->link_names, 0, "world");
    from = from >= 0 ? from : robot_add_link(reader, "world", NULL); // made when it is first asked for
    int32_t index = from >= 0 ? robot_add_joint(reader, sdf_unique_joint(reader, hinge->name), type, hinge->xml) : -1;
    if (index >= 0) {
        robot_joint *joint = &reader->joints[index];
        joint->parent = reader->links[from].name;
        joint->child = reader->links[hinge->child].name;
        joint->spec.origin = hinge->in_parent;
    }
    return index;
}

int32_t sdf_add_hinge(robot_reader *reader, const sdf_hinge *hinge, stn_joint_type type) {
    sdf_hinge own = *hinge;
    stn_pose child_in_joint = stn_pose_inverse(&hinge->in_child);
    if (type == STN_JOINT_FIXED) {
        own.in_parent = stn_pose_mul(&hinge->in_parent, &child_in_joint);
        return add_joint(reader, &own, type);
    }
    if (sdf_is_identity(&hinge->in_child)) {
        return add_joint(reader, &own, type);
    }
    own.child = sdf_add_massless(reader, robot_text(reader, "%s_frame", hinge->name), hinge->xml);
    int32_t index = own.child >= 0 ? add_joint(reader, &own, type) : -1;
    if (index >= 0) {
        const sdf_hinge rest = {.xml = hinge->xml,
                                .name = robot_text(reader, "%s_child", hinge->name),
                                .parent = own.child,
                                .child = hinge->child,
                                .in_parent = child_in_joint};
        add_joint(reader, &rest, STN_JOINT_FIXED);
    }
    return index;
}

/// Frames come before what joints add, so that they have the names that the file gives them.
void sdf_add_frame_links(robot_reader *reader) {
    sdf_reader *sdf = sdf_of(reader);
    for (int32_t i = 0; i < sdf->frame_count && !reader->out_of_memory; i++) {
        sdf_frame *f = &sdf->frames[i];
        if (f->kind == SDF_FRAME && sdf_stands_on_deformable(sdf, i)) {
            reader->label = f->label;
            robot_error(reader, f->xml, "unsupported",
                        "the frame moves with deformable link '%.80s', of which no frame is part: attach it to another "
                        "link, or name one as the canonical_link of the model",
                        sdf->frames[f->attached].name);
            continue;
        }
        f->own = f->kind == SDF_FRAME ? sdf_add_massless(reader, f->name, f->xml) : -1;
    }
}

void sdf_assemble(robot_reader *reader) {
    const sdf_reader *sdf = sdf_of(reader);
    for (int32_t i = 0; i < sdf->frame_count && !reader->out_of_memory; i++) {
        const sdf_frame *f = &sdf->frames[i];
        if (f->own >= 0) {
            const sdf_hinge fixed = {.xml = f->xml,
                                     .name = robot_text(reader, "%s_fixed", f->name),
                                     .parent = f->link,
                                     .child = f->own,
                                     .in_parent =
                                         sdf_pose_between(reader, f->link >= 0 ? sdf->link_frames[f->link] : 0, i)};
            add_joint(reader, &fixed, STN_JOINT_FIXED);
        }
    }
    bool world = robot_names_find(&reader->link_names, 0, "world") >= 0;
    bool *carried = ROBOT_NEW(reader, reader->link_count + 1, bool);
    int32_t *roots = ROBOT_NEW(reader, sdf->link_total + 1, int32_t); // links that no joint carries
    int32_t count = 0;
    if (carried == NULL || roots == NULL) {
        return;
    }
    for (int32_t i = 0; i < reader->joint_count; i++) {
        carried[robot_names_find(&reader->link_names, 0, reader->joints[i].child)] = true;
    }
    for (int32_t i = 0; i < sdf->link_total; i++) {
        if (!carried[i]) {
            roots[count++] = i;
        }
    }
    for (int32_t i = 0; i < count && !reader->out_of_memory; i++) {
        const sdf_frame *f = &sdf->frames[sdf->link_frames[roots[i]]];
        bool fixed = sdf->models[f->model].is_static;
        if (count == 1 && !world) {
            reader->has_pose = true;
            reader->pose = f->pose;
            reader->stands_fixed = fixed;
            return;
        }
        const sdf_hinge free = {.xml = f->xml,
                                .name = robot_text(reader, "%s_%s", f->name, fixed ? "fixed" : "floating"),
                                .parent = -1,
                                .child = roots[i],
                                .in_parent = f->pose};
        add_joint(reader, &free, fixed ? STN_JOINT_FIXED : STN_JOINT_FLOATING);
    }
    if (reader->link_count == 0) { // deformable links alone
        robot_add_link(reader, "world", NULL);
    }
}
