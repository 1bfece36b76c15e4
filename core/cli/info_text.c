// SPDX-License-Identifier: Apache-2.0
// What people get from `stiction info`: a summary, the joints in the order of q, the tree, poses and figures on stdout;
// findings on stderr.
#include <stdio.h>
#include <string.h>

#include "cli/info.h"

enum { DEEPEST_DRAWN = 40 }; // levels of the tree that are indented

/// Columns that a UTF-8 text takes, nearly: one a character.
static int columns(const char *text) {
    int count = 0;
    for (; *text != '\0'; text++) {
        count += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return count;
}

static void print_padded(const char *text, int width) {
    printf("%s%*s", text, width > columns(text) ? width - columns(text) : 0, "");
}

static void print_summary(const info *robot) {
    const stn_model *m = robot->model;
    const info_counts *c = &robot->counts;
    printf("%s  (%s)\n", m->robots[0].name, robot->path);
    printf("  links     %d, root %s\n", (int)m->link_count, m->links[m->robots[0].root_link].name);
    printf("  joints    %d", (int)c->joints);
    for (int32_t i = 0; i < STN_JOINT_COUNT; i++) {
        if (c->of_type[i] > 0) {
            printf("%s%d %s", ", ", (int)c->of_type[i], stn_joint_type_name((stn_joint_type)i));
        }
    }
    printf("\n  freedom   nq %d, nv %d", (int)m->nq, (int)m->nv);
    if (c->mimic > 0) {
        printf(", %d without the %d mimic joint%s", (int)c->dof_reduced, (int)c->mimic, c->mimic > 1 ? "s" : "");
    }
    printf("\n  mass      %.6g kg\n", c->mass);
    printf("  shapes    %d for collision, %d visual\n", (int)c->collision, (int)c->visual);
}

static void print_bound(double value) {
    if (isfinite(value)) {
        printf("  %9.4g", value);
    } else {
        printf("  %9s", "-");
    }
}

static void print_joint(const info *robot, const stn_joint *joint, int width) {
    printf("  %3d  ", (int)joint->q_start);
    print_padded(joint->name, width);
    printf("  %-10s", stn_joint_type_name(joint->type));
    print_bound(joint->lower);
    print_bound(joint->upper);
    print_bound(joint->effort);
    print_bound(joint->velocity);
    if (joint->mimic >= 0) {
        printf("  = %.6g %s %+.6g", joint->mimic_multiplier, robot->model->joints[joint->mimic].name,
               joint->mimic_offset);
    }
    putchar('\n');
}

static void print_joints(const info *robot) {
    const stn_model *m = robot->model;
    int width = 5;
    if (m->joint_count == 0) {
        return;
    }
    for (int32_t j = 0; j < m->joint_count; j++) {
        width = columns(m->joints[j].name) > width ? columns(m->joints[j].name) : width;
    }
    printf("\n    q  %-*s  %-10s  %9s  %9s  %9s  %9s\n", width, "joint", "type", "lower", "upper", "effort",
           "velocity");
    for (int32_t j = 0; j < m->joint_count; j++) {
        print_joint(robot, &m->joints[j], width);
    }
    printf("  (rad, m; N m, N; rad/s, m/s)\n");
}

// --------------------------------------------------------------------------------------------------------- tree

/// Children of each link as linked lists in the file's order.
typedef struct children {
    int32_t *first, *next;
} children;

static bool find_children(const info *robot, children *c, stn_arena *arena) {
    const stn_model *m = robot->model;
    c->first = STN_ARENA(arena, m->link_count + 1, int32_t);
    c->next = STN_ARENA(arena, m->link_count + 1, int32_t);
    if (c->first == NULL || c->next == NULL) {
        return false;
    }
    memset(c->first, 0xff, (size_t)m->link_count * sizeof *c->first); // -1: none
    for (int32_t i = m->link_count - 1; i >= 0; i--) {
        if (m->links[i].parent >= 0) {
            c->next[i] = c->first[m->links[i].parent];
            c->first[m->links[i].parent] = i;
        }
    }
    return true;
}

static void print_tree_line(const info *robot, int32_t link, int32_t depth, const bool *more) {
    const stn_model *m = robot->model;
    const stn_link *l = &m->links[link];
    printf("  ");
    for (int32_t d = 1; d < depth && d < DEEPEST_DRAWN; d++) {
        fputs(more[d] ? "\u2502  " : "   ", stdout);
    }
    if (depth > 0) {
        fputs(more[depth < DEEPEST_DRAWN ? depth : DEEPEST_DRAWN] ? "\u251c\u2500 " : "\u2514\u2500 ", stdout);
    }
    fputs(l->name, stdout);
    if (l->joint_name != NULL) {
        const char *type = l->joint >= 0 ? stn_joint_type_name(m->joints[l->joint].type) : "fixed";
        printf("  (%s, %s)", l->joint_name, type);
    }
    if (l->mass.mass > 0.0) {
        printf("  %.4g kg", l->mass.mass);
    }
    putchar('\n');
}

/// Depth first without recursion: a file may be one chain of very many links.
static void print_tree(const info *robot, const children *c) {
    const stn_model *m = robot->model;
    bool more[DEEPEST_DRAWN + 1] = {false}; // siblings follow at this depth
    int32_t depth = 0, link = m->robots[0].root_link;
    printf("\n");
    print_tree_line(robot, link, 0, more);
    while (link >= 0) {
        int32_t next = c->first[link];
        depth += next >= 0;
        while (next < 0 && depth > 0) { // up to a link that has a sibling
            next = c->next[link];
            link = next < 0 ? m->links[link].parent : link;
            depth -= next < 0;
        }
        link = next;
        if (link >= 0) {
            more[depth < DEEPEST_DRAWN ? depth : DEEPEST_DRAWN] = c->next[link] >= 0;
            print_tree_line(robot, link, depth, more);
        }
    }
}

// ------------------------------------------------------------------------------------------------------ figures

static void print_frames(const info *robot) {
    for (int32_t i = 0; i < robot->frame_count; i++) {
        const info_frame *frame = &robot->frames[i];
        stn_pose pose = info_link_pose(robot, frame->link);
        stn_quat r = stn_quat_from_matrix(&pose.rotation);
        stn_vec3 p = stn_pose_apply(&pose, frame->point);
        printf("  %s\n    origin      %.9g %.9g %.9g m\n    quaternion  %.9g %.9g %.9g %.9g (w x y z)\n",
               robot->model->links[frame->link].name, pose.position.x, pose.position.y, pose.position.z, r.w, r.x, r.y,
               r.z);
        if (stn_vec3_norm(frame->point) > 0.0) {
            printf("    point       %.9g %.9g %.9g m\n", p.x, p.y, p.z);
        }
    }
}

static void print_figures(const info *robot) {
    const info_dynamics *d = &robot->dynamics;
    const char *massless = robot->counts.mass > 0.0 ? "" : "  (no link has a mass: good for kinematics only)";
    printf("\n  at q =");
    for (int32_t i = 0; i < robot->model->nq; i++) {
        printf(" %.6g", robot->q[i]);
    }
    printf("\n  trace of the mass matrix %.9g, norm of the gravity forces %.9g%s\n", d->mass_trace_full,
           d->gravity_norm_full, massless);
    if (robot->counts.mimic > 0) {
        printf("  with mimic joints eliminated %.9g and %.9g\n", d->mass_trace_reduced, d->gravity_norm_reduced);
    }
    print_frames(robot);
}

void info_finding_line(const stn_diagnostic *finding, char *text, size_t size) {
    char line[16] = "";
    if (finding->line > 0) {
        snprintf(line, sizeof line, ":%d", (int)finding->line);
    }
    snprintf(text, size, "%s%s: %s%s%s", finding->file, line, finding->element, finding->element[0] != '\0' ? ": " : "",
             finding->text);
}

bool info_print_text(const info *robot) {
    stn_arena *arena = stn_arena_create(robot->context);
    children c;
    bool known = arena != NULL && find_children(robot, &c, arena);
    print_summary(robot);
    print_joints(robot);
    if (known) {
        print_tree(robot, &c);
    }
    print_figures(robot);
    stn_arena_destroy(arena);
    return known && fflush(stdout) == 0;
}
