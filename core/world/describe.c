// SPDX-License-Identifier: Apache-2.0
// Words about a world: every parameter in force, "name = value unit" a line, so that a recording says what made it; and
// names of shapes, velocities and coordinates for messages.
#include <stdio.h>
#include <string.h>

#include "world/world.h"

static const char *const point_rules[] = {"stiffness", "midpoint", "a", "b"};

/// A text that grows; `failed` once memory ran out.
typedef struct growing_text {
    stn_context *context;
    char *text;
    size_t length;
    bool failed;
} growing_text;

static growing_text begin(const step_setup *setup) {
    size_t length = setup->parameters != NULL ? strlen(setup->parameters) : 0;
    return (growing_text){setup->context, setup->parameters, length, false};
}

/// What was added stays when nothing failed, and goes otherwise.
static stn_status end(step_setup *setup, growing_text *t, size_t before, stn_error *err) {
    setup->parameters = t->text;
    if (!t->failed) {
        return STN_OK;
    }
    if (t->text != NULL) {
        t->text[before] = '\0';
    }
    return stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
}

STN_PRINTF(2, 3)
static void append(growing_text *t, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t count = written < 0 ? 0 : (size_t)written < sizeof line ? (size_t)written : sizeof line - 1;
    size_t present = t->text != NULL ? t->length + 1 : 0;
    char *grown = t->failed ? NULL : stn_reallocate(t->context, t->text, present, t->length + count + 1, 1);
    if (grown == NULL) {
        t->failed = true;
        return;
    }
    memcpy(grown + t->length, line, count);
    grown[t->length + count] = '\0';
    t->text = grown;
    t->length += count;
}

/// The parameters of its kind, then its own.
static void append_instance(growing_text *t, const char *owner, const stn_instance *p) {
    const stn_param *params[2] = {NULL, p->desc->params};
    int32_t count[2] = {0, p->desc->param_count};
    const void *config[2] = {p->common, p->config};
    size_t common_size = 0;
    stn_kind_params(p->desc->kind, &params[0], &count[0], &common_size);
    for (int32_t k = 0; k < 2; k++) {
        for (int32_t i = 0; i < count[k]; i++) {
            char value[256];
            stn_config_print(&params[k][i], config[k], value, sizeof value);
            append(t, "%s.%s = %s %s\n", owner, params[k][i].name, value, params[k][i].unit);
        }
    }
}

/// With the fewest digits that give the number back.
static void append_real(growing_text *t, double value) {
    char text[32];
    stn_print_real(text, sizeof text, value);
    append(t, " %s", text);
}

stn_status stn_setup_describe(step_setup *setup, stn_error *err) {
    const stn_world_options *o = &setup->options;
    growing_text t = begin(setup);
    append(&t, "dt =");
    append_real(&t, o->dt);
    append(&t, " s\ngravity =");
    append_real(&t, o->gravity.x);
    append_real(&t, o->gravity.y);
    append_real(&t, o->gravity.z);
    append(&t, " m/s^2\nmargin =");
    append_real(&t, o->margin);
    append(&t, " m\n");
    append(&t, "contact_point = %s\nrelaxation_rule = %s\nthreads = %d\nseed = %llu\n", point_rules[o->contact_point],
           o->relaxation_rule == STN_RELAXATION_SUM ? "sum" : "series", o->threads, (unsigned long long)o->seed);
    if (o->margin_only) {
        append(&t, "margin_only = true\n");
    }
    if (o->stiction) {
        append(&t, "stiction = true\n");
    }
    if (o->exact_contacts) {
        append(&t, "exact_contacts = true\n");
    }
    if (o->varied) {
        append(&t, "varied = true\n");
    }
    if (o->sleep_velocity > 0.0) {
        append(&t, "sleep_velocity =");
        append_real(&t, o->sleep_velocity);
        append(&t, " m/s\nsleep_time =");
        append_real(&t, o->sleep_time);
        append(&t, " s\n");
    }
    append(&t, "unset materials: rigid, mu = 0.5, relaxation_time = dt, dissipation = 0 s/m\n");
    for (int32_t kind = 0; kind < STN_KIND_COUNT; kind++) {
        const stn_instance *p = setup->plugin[kind];
        if (p != NULL) {
            append(&t, "%s = %s\n", stn_kind_name(p->desc->kind), p->desc->id);
            append_instance(&t, stn_kind_name(p->desc->kind), p);
        }
    }
    stn_status status = end(setup, &t, 0, err);
    if (status == STN_OK && setup->model != NULL) {
        status = stn_setup_describe_constraints(setup, err);
    }
    if (status == STN_OK && setup->model != NULL) {
        status = stn_setup_describe_elements(setup, err);
    }
    for (int32_t i = 0; i < setup->controller_count && status == STN_OK; i++) {
        status = stn_setup_describe_controller(setup, &setup->controllers[i], i + 1, err);
    }
    return status;
}

stn_status stn_setup_describe_constraints(step_setup *setup, stn_error *err) {
    growing_text t = begin(setup);
    size_t before = t.length;
    for (int32_t i = 0; i < setup->model->constraint_count; i++) {
        const stn_model_constraint *c = &setup->model->constraints[i];
        char owner[32];
        snprintf(owner, sizeof owner, "constraint.%d", i + 1);
        append(&t, "%s = %s\n", owner, c->instance->desc->id);
        append_instance(&t, owner, c->instance);
    }
    return end(setup, &t, before, err);
}

stn_status stn_setup_describe_elements(step_setup *setup, stn_error *err) {
    growing_text t = begin(setup);
    size_t before = t.length;
    for (int32_t i = 0; i < setup->model->element_group_count; i++) {
        const stn_instance *instance = setup->model->element_groups[i].instance;
        char owner[32];
        snprintf(owner, sizeof owner, "element.%d", i + 1);
        append(&t, "%s = %s\n", owner, instance->desc->id);
        append_instance(&t, owner, instance);
    }
    return end(setup, &t, before, err);
}

stn_status stn_setup_describe_controller(step_setup *setup, const controller *c, int32_t number, stn_error *err) {
    const stn_model *model = setup->model;
    growing_text t = begin(setup);
    size_t before = t.length;
    char owner[32];
    snprintf(owner, sizeof owner, "controller.%d", number);
    append(&t, "%s = %s\n%s.group = %s\n%s.joints =", owner, c->instance->desc->id, owner,
           model->groups[c->target.group].name, owner);
    for (int32_t i = 0; i < c->target.joint_count; i++) {
        append(&t, "%s %s", i > 0 ? "," : "", model->joints[c->target.joint[i]].name);
    }
    append(&t, "\n");
    append_instance(&t, owner, c->instance);
    return end(setup, &t, before, err);
}

const char *stn_world_parameters(const stn_world *world) {
    return world->setup->parameters;
}

void stn_describe_geometry(const stn_model *model, int32_t geometry, char *text, size_t size) {
    const stn_geometry *g = &model->geometries[geometry];
    if (g->link < 0) {
        const char *cloud = g->node >= 0 ? model->trees[model->node_tree[g->node]].name : "";
        if (g->shape.type == STN_SHAPE_SURFACE && g->name[0] != '\0') {
            snprintf(text, size, "surface '%s'", g->name);
        } else if (cloud[0] != '\0') {
            snprintf(text, size, "nodes '%s'", cloud);
        } else {
            snprintf(text, size, "%s", g->node >= 0 ? "a deformable" : "the world");
        }
        return;
    }
    const char *link = model->links[g->link].name, *group = model->groups[model->links[g->link].group].name;
    bool alone = strcmp(link, group) == 0;
    snprintf(text, size, "%s%s%s", alone ? "" : group, alone ? "" : "/", link);
}

void stn_describe_element(const stn_model *model, const stn_element_group *group, int32_t element, char *text,
                          size_t size) {
    const bool named = group->name[0] != '\0';
    char number[64] = "";
    if (element >= 0) {
        snprintf(number, sizeof number, "element %d (counted from 0) ", element);
    }
    snprintf(text, size, "element %s: %sof '%s%s%s'", group->instance->desc->id, number, model->trees[group->tree].name,
             named ? "/" : "", group->name);
    for (int32_t i = 0; element >= 0 && i < group->nodes_per_element; i++) {
        stn_text_append(text, size, "%s%d", i > 0 ? ", " : ", nodes ",
                        group->index[(size_t)element * (size_t)group->nodes_per_element + (size_t)i]);
    }
}

static void describe_node(const stn_tree *tree, int32_t node, char *text, size_t size) {
    snprintf(text, size, "node %d (counted from 0) of '%.100s'", node, tree->name);
}

void stn_describe_dof(const stn_model *model, int32_t d, char *text, size_t size) {
    const int32_t joint = model->dof_joint[d];
    const stn_tree *tree = model->trees;
    if (joint >= 0) {
        snprintf(text, size, "joint %s", model->joints[joint].name);
        return;
    }
    while (d >= tree->v_start + tree->nv) {
        tree++;
    }
    describe_node(tree, (d - tree->v_start) / stn_node_type_nv(tree->node_type), text, size);
}

void stn_describe_coordinate(const stn_model *model, int32_t i, char *text, size_t size) {
    for (int32_t j = 0; j < model->joint_count; j++) {
        const stn_joint *joint = &model->joints[j];
        if (i >= joint->q_start && i < joint->q_start + joint->nq) {
            snprintf(text, size, "joint %s", joint->name);
            return;
        }
    }
    const stn_tree *tree = model->trees; // not of a joint, so of the nodes of a cloud
    while (tree->kind != STN_TREE_NODAL || i >= tree->q_start + tree->nq) {
        tree++;
    }
    describe_node(tree, (i - tree->q_start) / stn_node_type_nq(tree->node_type), text, size);
}

void stn_describe_constraint_error(const stn_model *model, int32_t i, stn_error *err) {
    const stn_model_constraint *c = &model->constraints[i];
    if (c->name[0] != '\0') {
        stn_error_prefix(err, "constraint %s '%s'", c->instance->desc->id, c->name);
    } else {
        stn_error_prefix(err, "constraint %s (number %d)", c->instance->desc->id, i + 1);
    }
}
