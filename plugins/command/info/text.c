// SPDX-License-Identifier: Apache-2.0
// What people get from `stiction info`: a summary, the joints in the order of q, the tree, poses and figures on stdout;
// findings and the time that loading took on stderr.
#include <stdio.h>

#include "common/terminal.h"
#include "info.h"

// ------------------------------------------------------------------------------------------------------- summary

/// "8 for collision (3 box, 5 cylinder)"
static void print_shapes(int32_t total, const char *what, const int32_t counts[STN_SHAPE_COUNT]) {
    const char *separator = " (";
    printf("%d %s", (int)total, what);
    for (int32_t i = 0; i < STN_SHAPE_COUNT; i++) {
        if (counts[i] > 0) {
            printf("%s%d %s", separator, (int)counts[i], stn_shape_name((stn_shape_type)i));
            separator = ", ";
        }
    }
    fputs(total > 0 ? ")" : "", stdout);
}

static void print_inertia(const info_report *r) {
    const info_counts *c = &r->counts;
    const stn_model *m = r->robot.model;
    int32_t bad = c->inertias[CLI_INERTIA_NEGATIVE] + c->inertias[CLI_INERTIA_TRIANGLE];
    int32_t points = c->inertias[CLI_INERTIA_POINT], sound = c->inertias[CLI_INERTIA_OK];
    printf("  inertia   %d links with mass", (int)(sound + points + bad));
    if (points > 0) {
        printf(", %d of them point masses", (int)points);
    }
    printf(bad > 0 ? ", %d that no rigid body has:\n" : ", all physical\n", (int)bad);
    for (int32_t i = 0; i < m->link_count && bad > 0; i++) {
        double p[3];
        cli_inertia inertia = cli_judge_inertia(&m->links[i].mass, p);
        if (inertia == CLI_INERTIA_NEGATIVE || inertia == CLI_INERTIA_TRIANGLE) {
            fputs("            ", stdout);
            cli_print_name(m->links[i].name);
            printf(": principal moments %.4g, %.4g, %.4g kg m^2 (%s)\n", p[0], p[1], p[2],
                   inertia == CLI_INERTIA_NEGATIVE ? "negative" : "the largest exceeds the sum of the others");
        }
    }
}

static void print_summary(const info_report *r) {
    const stn_model *m = r->robot.model;
    const info_counts *c = &r->counts;
    cli_print_name(m->groups[0].name);
    fputs("  (", stdout);
    cli_print_name(r->robot.path);
    printf(")\n  links     %d, root ", (int)m->link_count);
    cli_print_name(m->links[m->groups[0].root_link].name);
    printf("\n  joints    %d", (int)c->joints);
    for (int32_t i = 0; i < STN_JOINT_COUNT; i++) {
        if (c->of_type[i] > 0) {
            printf(", %d %s", (int)c->of_type[i], stn_joint_type_name((stn_joint_type)i));
        }
    }
    printf("\n  freedom   nq %d, nv %d", (int)m->nq, (int)m->nv);
    if (c->mimic > 0) {
        printf(", %d without the %d mimic joint%s", (int)c->dof_reduced, (int)c->mimic, c->mimic > 1 ? "s" : "");
    }
    printf("\n  mass      %.6g kg\n", c->mass);
    if (c->mass > 0.0) {
        print_inertia(r);
    }
    printf("  shapes    ");
    print_shapes(c->collision, "for collision", c->collision_shapes);
    if (c->compliant > 0) {
        printf(" of which %d %s compliant", (int)c->compliant, c->compliant == 1 ? "is" : "are");
    }
    if (c->tetrahedra > 0) {
        printf(", %d with tetrahedra", (int)c->tetrahedra);
    }
    if (c->friction_directions > 0) {
        printf(", %d with a friction direction", (int)c->friction_directions);
    }
    fputs(", ", stdout);
    print_shapes(c->visual, "visual", c->visual_shapes);
    putchar('\n');
    for (int32_t i = 0; i < r->surface_count; i++) { // where contact acts on flat pieces
        const info_surface *s = &r->surfaces[i];
        const stn_geometry *g = &m->geometries[s->geometry];
        printf("%s%s of ", i == 0 ? "  patches   " : "            ", stn_shape_name(g->shape.type));
        cli_print_name(m->links[g->link].name);
        printf(": its flat pieces stand up to %.3g m out of it and lie up to %.3g m inside; resolution %.3g m\n",
               s->error.outward, s->error.inward, s->error.resolution);
    }
    const info_size *size = &r->size;
    stn_vec3 l = size->box.lower, u = size->box.upper;
    if (cli_box_is_empty(&size->box)) {
        puts("  size      not known: no shape with an extent is loaded");
    } else {
        printf("  size      %.4g x %.4g x %.4g m at zero, from (%.4g, %.4g, %.4g) to (%.4g, %.4g, %.4g)\n", u.x - l.x,
               u.y - l.y, u.z - l.z, l.x, l.y, l.z, u.x, u.y, u.z);
        printf("            by the %s shapes", size->collision ? "collision" : "visual");
        printf(size->missing > 0 ? ", without %d meshes that are not loaded\n" : "\n", (int)size->missing);
    }
    for (int32_t i = 0; i < m->keyframe_count; i++) {
        fputs(i == 0 ? "  keyframes " : ", ", stdout);
        cli_print_name(m->keyframes[i].name);
    }
    fputs(m->keyframe_count > 0 ? "\n" : "", stdout);
    // "  weld      grasp: hand, world", a line each.
    for (int32_t i = 0; i < m->constraint_count; i++) {
        const stn_model_constraint *held = &m->constraints[i];
        printf("  %-9s ", held->instance->desc->id);
        cli_print_name(held->name);
        fputs(held->name[0] != '\0' ? ": " : "", stdout);
        cli_print_name(info_constraint_end(m, &held->ends[0]));
        fputs(", ", stdout);
        cli_print_name(info_constraint_end(m, &held->ends[held->end_count - 1]));
        putchar('\n');
    }
    // "  nodes     60 of robot/pad, 0.3 kg, 4 attached to world, 2 to hand; surface skin of 96 triangles", a line a
    // cloud; "60 frames of" where they turn, "of a deformable" where it has no name.
    for (int32_t t = 0; t < m->tree_count; t++) {
        bool any = false;
        if (m->trees[t].kind != STN_TREE_NODAL) {
            continue;
        }
        printf("  nodes     %d %sof ", (int)m->trees[t].node_count,
               m->trees[t].node_type == STN_NODE_FRAME ? "frames " : "");
        cli_print_name(m->trees[t].name[0] != '\0' ? m->trees[t].name : "a deformable");
        printf(", %.6g kg", info_cloud_mass(m, &m->trees[t]));
        for (int32_t link = STN_WORLD; link < m->link_count; link++) {
            const int32_t nodes = info_attached(m, &m->trees[t], link);
            if (nodes > 0) {
                printf(", %d %sto ", (int)nodes, any ? "" : "attached ");
                cli_print_name(link == STN_WORLD ? "world" : m->links[link].name);
                any = true;
            }
        }
        for (int32_t i = 0; i < m->surface_count; i++) {
            if (m->surfaces[i].tree == t) {
                fputs("; surface ", stdout);
                cli_print_name(m->geometries[m->surfaces[i].geometry].name);
                printf(" of %d triangles", (int)m->surfaces[i].triangle_count);
            }
        }
        putchar('\n');
    }
}

// -------------------------------------------------------------------------------------------------------- joints

/// Columns that most robots do not need.
typedef struct columns {
    int name; // its width
    bool acceleration, actuator;
} columns;

static columns choose_columns(const stn_model *m) {
    columns c = {.name = 5};
    for (int32_t j = 0; j < m->joint_count; j++) {
        int width = cli_columns(m->joints[j].name);
        c.name = width > c.name ? width : c.name;
        c.acceleration = c.acceleration || isfinite(m->joints[j].acceleration);
        c.actuator = c.actuator || info_is_driven(&m->joints[j]);
    }
    return c;
}

static void print_bound(double value) {
    if (isfinite(value)) {
        printf("  %9.4g", value);
    } else {
        printf("  %9s", "-");
    }
}

static void print_joints(const info_report *r) {
    const stn_model *m = r->robot.model;
    columns c = choose_columns(m);
    if (m->joint_count == 0) {
        return;
    }
    printf("\n    q  %-*s  %-10s  %9s  %9s  %9s  %9s%s%s\n", c.name, "joint", "type", "lower", "upper", "effort",
           "velocity", c.acceleration ? "  accelerat" : "", c.actuator ? "  actuator" : "");
    for (int32_t j = 0; j < m->joint_count; j++) {
        const stn_joint *joint = &m->joints[j];
        printf("  %3d  ", (int)joint->q_start);
        cli_print_padded(joint->name, c.name);
        printf("  %-10s", stn_joint_type_name(joint->type));
        print_bound(joint->lower);
        print_bound(joint->upper);
        print_bound(joint->effort);
        print_bound(joint->velocity);
        if (c.acceleration) {
            print_bound(joint->acceleration);
        }
        if (c.actuator && info_is_driven(joint)) {
            fputs("  ", stdout);
            const char *unnamed = joint->reflected_inertia > 0.0 ? "rotor" : "servo";
            cli_print_padded(joint->actuator[0] != '\0' ? joint->actuator : unnamed, 8);
        }
        if (info_has_servo(joint)) {
            printf("  kp %.6g, kd %.6g", joint->servo_kp, joint->servo_kd);
        }
        if (joint->stiffness > 0.0) {
            printf("  spring %.6g %s, slack at %.6g", joint->stiffness, stn_joint_type_units(joint->type)->stiffness,
                   joint->rest);
        }
        if (joint->mimic >= 0) {
            printf("  = %.6g ", joint->mimic_multiplier);
            cli_print_name(r->robot.model->joints[joint->mimic].name);
            printf(" %+.6g", joint->mimic_offset);
        }
        putchar('\n');
    }
    printf("  (rad, m; N m, N; rad/s, m/s%s)\n", c.acceleration ? "; rad/s^2, m/s^2" : "");
}

// ------------------------------------------------------------------------------------------------------- figures

static void print_matrix(const char *what, const info_figures *f) {
    printf("  %s trace of the mass matrix %.9g, ", what, f->mass_trace);
    if (isfinite(f->condition)) {
        printf("condition number %.4g, ", f->condition);
    }
    printf("norm of the gravity forces %.9g\n", f->gravity_norm);
}

bool info_print_text(const info_report *r) {
    cli_terminal terminal = cli_terminal_of_stdout();
    print_summary(r);
    print_joints(r);
    info_print_tree(r, &terminal);
    const info_dynamics *d = &r->dynamics;
    const stn_model *model = r->robot.model;
    int32_t nq = 0; // of joints: those of nodes come after them
    for (int32_t t = 0; t < model->tree_count; t++) {
        nq += model->trees[t].kind == STN_TREE_ARTICULATED ? model->trees[t].nq : 0;
    }
    printf(nq > 0 || model->node_count == 0 ? "\n  at q =" : "");
    for (int32_t i = 0; i < nq; i++) {
        printf(" %.6g", r->q[i]);
    }
    putchar('\n');
    if (r->counts.mass > 0.0) {
        print_matrix("full:   ", &d->full);
        if (r->counts.mimic > 0) {
            print_matrix("reduced:", &d->reduced);
        }
    }
    if (d->note != NULL) {
        fputs("  note: ", stdout);
        cli_print_name(d->note);
        putchar('\n');
    }
    if (r->configured && r->counts.mass > 0.0) {
        // Forces that hold the robot still, when a configuration was asked for.
        const stn_model *m = r->robot.model;
        int width = choose_columns(m).name;
        printf("  gravity forces (N m, N)%s\n", r->counts.mimic > 0 ? ": every joint, mimic joints eliminated" : "");
        for (int32_t j = 0; j < m->joint_count; j++) {
            const stn_joint *joint = &m->joints[j];
            fputs("    ", stdout);
            cli_print_padded(joint->name, width);
            for (int32_t k = 0; k < joint->nv; k++) {
                printf("  %12.6g", r->dynamics.full.gravity[joint->v_start + k] + 0.0); // no minus before 0
            }
            if (r->counts.mimic > 0 && joint->mimic < 0 && joint->nv == 1) {
                printf("  %12.6g", r->dynamics.reduced.gravity[joint->v_start] + 0.0);
            }
            putchar('\n');
        }
    }
    for (int32_t i = 0; i < r->frame_count; i++) {
        const info_frame *frame = &r->frames[i];
        stn_pose pose = info_link_pose(r, frame->link);
        stn_quat turn = stn_quat_from_matrix(&pose.rotation);
        stn_vec3 p = stn_pose_apply(&pose, frame->point);
        fputs("  ", stdout);
        cli_print_name(r->robot.model->links[frame->link].name);
        printf("\n    origin      %.9g %.9g %.9g m\n    quaternion  %.9g %.9g %.9g %.9g (w x y z)\n", pose.position.x,
               pose.position.y, pose.position.z, turn.w, turn.x, turn.y, turn.z);
        if (stn_vec3_norm(frame->point) > 0.0) {
            printf("    point       %.9g %.9g %.9g m\n", p.x, p.y, p.z);
        }
    }
    return fflush(stdout) == 0;
}
