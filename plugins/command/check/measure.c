// SPDX-License-Identifier: Apache-2.0
// What rules of `stiction check` read, measured once, and how they speak.
#include <stdio.h>
#include <string.h>

#include "check.h"

// ------------------------------------------------------------------------------------------------------ measuring

static void add_shape(check_shapes *shapes, const stn_geometry *g, const stn_pose *pose) {
    stn_aabb box = cli_box_of(g, pose);
    if (g->collision) {
        double volume = stn_shape_volume(&g->shape);
        shapes->volume += volume > 0.0 && isfinite(volume) ? volume : (double)NAN;
        shapes->collisions++;
        cli_box_add(&shapes->collision, &box);
    }
    if (g->visual) {
        shapes->visuals++;
        cli_box_add(&shapes->visual, &box);
    }
    shapes->unknown += g->shape.type == STN_SHAPE_MESH && g->shape.mesh == NULL;
}

static check_shapes *no_shapes(check *c, int32_t count) {
    check_shapes *shapes = STN_ARENA_ZEROED(c->arena, count, check_shapes);
    for (int32_t i = 0; shapes != NULL && i < count; i++) {
        shapes[i].collision = shapes[i].visual = cli_box_empty();
        shapes[i].link = -1;
    }
    return shapes;
}

stn_status check_prepare(check *c, const cli_robot *robot, stn_error *err) {
    c->robot = robot;
    c->model = robot->model;
    stn_diagnostics_init(&c->findings, robot->context);
    c->arena = stn_arena_create(robot->context);
    stn_status status = stn_kinematics_create(c->model, &c->kinematics, err);
    if (status != STN_OK) {
        return status;
    }
    c->v = c->arena != NULL ? STN_ARENA_ZEROED(c->arena, c->model->nv, double) : NULL;
    c->links = c->v != NULL ? no_shapes(c, c->model->link_count) : NULL;
    c->bodies = c->links != NULL ? no_shapes(c, c->model->body_count) : NULL;
    if (c->bodies == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", robot->path);
    }
    stn_kinematics_update(c->kinematics, c->model->q0, c->v);
    const stn_model *m = c->model;
    for (int32_t i = 0; i < m->geometry_count; i++) {
        const stn_geometry *g = &m->geometries[i];
        if (g->body < 0) {
            continue; // on nodes
        }
        add_shape(&c->bodies[g->body], g, &g->pose);
        if (g->link >= 0) {
            stn_pose body_from_link = stn_pose_inverse(&m->links[g->link].pose);
            stn_pose pose = stn_pose_mul(&body_from_link, &g->pose);
            add_shape(&c->links[g->link], g, &pose);
        }
    }
    c->origins = cli_box_empty();
    for (int32_t i = 0; i < m->link_count; i++) {
        stn_pose pose = stn_pose_mul(&c->kinematics->body_pose[m->links[i].body], &m->links[i].pose);
        stn_aabb point = {pose.position, pose.position};
        cli_box_add(&c->origins, &point);
        int32_t *heaviest = &c->bodies[m->links[i].body].link;
        *heaviest = *heaviest < 0 || m->links[i].mass.mass > m->links[*heaviest].mass.mass ? i : *heaviest;
    }
    return STN_OK;
}

void check_clear(check *c) {
    stn_diagnostics_clear(&c->findings);
    stn_kinematics_destroy(c->kinematics);
    stn_arena_destroy(c->arena);
}

stn_aabb check_box_of_link(const check *c, int32_t link) {
    const stn_link *l = &c->model->links[link];
    const check_shapes *own = &c->links[link], *body = &c->bodies[l->body];
    const check_shapes *used = own->collisions + own->visuals > 0 ? own : body;
    stn_aabb box = used->collision;
    cli_box_add(&box, &used->visual);
    if (used->unknown > 0 || cli_box_is_empty(&box) || used == own) {
        return used->unknown > 0 ? cli_box_empty() : box;
    }
    // the box in the link's axes that holds that of the body
    stn_pose from_body = stn_pose_inverse(&l->pose);
    stn_vec3 half = stn_vec3_scale(0.5, stn_vec3_sub(box.upper, box.lower));
    stn_pose centred = {from_body.rotation, stn_pose_apply(&from_body, stn_vec3_add(box.lower, half))};
    stn_shape shape = stn_shape_box(half);
    return stn_shape_aabb(&shape, &centred, 0.0);
}

bool check_is_own_joint(const check *c, int32_t joint) {
    return c->model->links[c->robot->child_of[joint]].joint_name != NULL;
}

const char *check_unit(const stn_joint *joint) {
    return joint->type == STN_JOINT_PRISMATIC ? "m" : "rad";
}

const char *check_effort_unit(const stn_joint *joint) {
    return joint->type == STN_JOINT_PRISMATIC ? "N" : "N m";
}

// ------------------------------------------------------------------------------------------------------- speaking

/// Has the loader said one of these words of the element?
static bool has_said(const check *c, const char *words, const char *element) {
    const stn_diagnostics *list = &c->robot->diagnostics;
    for (int32_t i = 0; words != NULL && i < list->count; i++) {
        const char *word = list->items[i].code, *at = strcmp(list->items[i].where, element) == 0 ? words : NULL;
        size_t length = strlen(word);
        for (; at != NULL && length > 0; at = strchr(at, ' ')) {
            at += *at == ' ';
            if (strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\0')) {
                return true;
            }
        }
    }
    return false;
}

static void say(check *c, stn_severity severity, const char *what, const char *name, const char *where,
                const char *format, va_list arguments) {
    char element[400], text[1000];
    snprintf(element, sizeof element, "%s%s%s", what, name[0] != '\0' ? " " : "", name);
    vsnprintf(text, sizeof text, format, arguments);
    bool silenced = (!c->repeats && has_said(c, c->rule->said_as, element)) || has_said(c, c->rule->unless, element);
    if (!silenced) {
        stn_diagnostics_add(&c->findings, severity, c->rule->name, c->robot->path, cli_line_of(where), element, "%s",
                            text);
    }
}

void check_say_robot(check *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(c, c->rule->severity, "robot", "", "", format, arguments);
    va_end(arguments);
}

void check_note(check *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(c, STN_SEVERITY_NOTE, "robot", "", "", format, arguments);
    va_end(arguments);
}

void check_say_link(check *c, int32_t link, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(c, c->rule->severity, "link", c->model->links[link].name, c->model->links[link].where, format, arguments);
    va_end(arguments);
}

void check_say_joint_above(check *c, int32_t link, const char *format, ...) {
    const stn_link *l = &c->model->links[link];
    va_list arguments;
    va_start(arguments, format);
    say(c, c->rule->severity, "joint", l->joint_name, l->joint_where, format, arguments);
    va_end(arguments);
}

void check_say_joint(check *c, int32_t joint, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(c, c->rule->severity, "joint", c->model->joints[joint].name, c->model->joints[joint].where, format, arguments);
    va_end(arguments);
}

void check_say_shape(check *c, int32_t geometry, const char *format, ...) {
    const stn_geometry *g = &c->model->geometries[geometry];
    va_list arguments;
    va_start(arguments, format);
    say(c, c->rule->severity, "link", g->link >= 0 ? c->model->links[g->link].name : "world", g->where, format,
        arguments);
    va_end(arguments);
}

void check_run(check *c, const check_rule *rule) {
    c->rule = rule;
    rule->run(c);
}
