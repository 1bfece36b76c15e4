// SPDX-License-Identifier: Apache-2.0
// Equality constraints of a robot to be saved.
#include "parts.h"

static bool is_own(const robot_parts *p, int32_t link) {
    return link >= p->robot->link_start && link < p->robot->link_start + p->robot->link_count;
}

/// The link that an end is on; of a gear the one that the joint carries.
static int32_t end_link(const robot_parts *p, const stn_equality *e, bool b) {
    int32_t joint = b ? e->joint_b : e->joint_a;
    if (joint < 0) {
        return b ? e->link_b : e->link_a;
    }
    for (int32_t i = 0; i < p->model->link_count; i++) {
        if (p->model->links[i].joint == joint) {
            return i;
        }
    }
    return STN_WORLD;
}

const char *robot_equality_label(robot_parts *p, const stn_equality *e) {
    return robot_part_text(p, "%s %s", stn_equality_type_name(e->type),
                           e->name[0] != '\0' ? e->name : "without a name");
}

int32_t robot_take_equalities(robot_parts *p, const stn_equality **list) {
    int32_t count = 0;
    for (int32_t i = 0; i < p->model->equality_count; i++) {
        const stn_equality *e = &p->model->equalities[i];
        int32_t a = end_link(p, e, false), b = end_link(p, e, true);
        bool own_a = is_own(p, a), own_b = is_own(p, b);
        if ((own_a || a == STN_WORLD) && (own_b || b == STN_WORLD)) {
            list[count++] = e;
        } else if (own_a || own_b) {
            robot_lose(p, "constraint_robot", robot_equality_label(p, e),
                       "it holds another robot, of which the file says nothing: left out");
        }
    }
    return count;
}

void robot_lose_equalities(robot_parts *p, const char *format) {
    const stn_equality **list = robot_part_allocate(p, (size_t)p->model->equality_count, sizeof *list);
    int32_t count = list != NULL ? robot_take_equalities(p, list) : 0;
    if (count > 0) {
        robot_lose(p, "constraint", robot_equality_label(p, list[0]),
                   "%s cannot hold constraints such as this: %d left out; MJCF holds welds and balls", format,
                   (int)count);
    }
}
