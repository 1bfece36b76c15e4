// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/world.h>

#include "node_values.h"

static const stn_element_ops *ops_of(const stn_element_group *group) {
    return group->instance->desc->ops.element;
}

static int32_t output_count(const stn_element_group *group) {
    const stn_element_ops *ops = ops_of(group);
    return STN_PLUGIN_HAS(ops, output_count) ? ops->output_count : 0;
}

/// Number of an output among those of its group's elements, -1: they have none of that name that is one number.
static int32_t column_of(const stn_element_group *group, const char *plugin, size_t plugin_length, const char *name,
                         const stn_constraint_output **found) {
    const char *id = group->instance->desc->id;
    if (plugin_length > 0 && (strlen(id) != plugin_length || strncmp(id, plugin, plugin_length) != 0)) {
        return -1;
    }
    for (int32_t i = 0, at = 0; i < output_count(group); at += ops_of(group)->outputs[i++].size) {
        const stn_constraint_output *told = &ops_of(group)->outputs[i];
        if (told->size == 1 && strcmp(told->name, name) == 0) {
            *found = told;
            return at;
        }
    }
    return -1;
}

/// "von_mises [Pa], tension [N] of cable".
static stn_status refuse(const stn_model *model, const char *output, stn_error *err) {
    char known[400] = "";
    size_t length = 0;
    for (int32_t g = 0; g < model->element_group_count; g++) {
        const stn_element_group *group = &model->element_groups[g];
        const char *id = group->instance->desc->id;
        bool again = false;
        for (int32_t k = 0; k < g; k++) {
            again = again || model->element_groups[k].instance->desc == group->instance->desc;
        }
        for (int32_t i = 0; !again && i < output_count(group) && length < sizeof known; i++) {
            const stn_constraint_output *told = &ops_of(group)->outputs[i];
            if (told->size == 1) {
                length += (size_t)snprintf(known + length, sizeof known - length, "%s%s.%s [%s]",
                                           length > 0 ? ", " : "", id, told->name, told->unit);
            }
        }
    }
    return stn_fail(err, STN_ERR_PARAMETER, "color_by = \"%.80s\": %s%s", output,
                    length > 0 ? "no element tells this; there are "
                               : "nothing in this world has elements that tell "
                                 "numbers, as soft bodies have",
                    known);
}

/// Which of an element's nodes its number belongs to: all, or of a triangle with its neighbours' corners the first 3.
static int32_t own_nodes(int32_t count) {
    return count == 6 ? 3 : count;
}

/// Which groups tell it, and at which nodes. A name that stands for different units is refused.
static stn_status find_columns(node_values *v, const char *output, stn_error *err) {
    const stn_model *model = v->model;
    const char *dot = strchr(output, '.'), *name = dot != NULL ? dot + 1 : output;
    const char *first = NULL; // plugin of the first group that tells it
    for (int32_t g = 0; g < model->element_group_count; g++) {
        const stn_constraint_output *told = NULL;
        const stn_element_group *group = &model->element_groups[g];
        v->column[g] = column_of(group, output, dot != NULL ? (size_t)(dot - output) : 0, name, &told);
        if (told != NULL && v->unit != NULL && strcmp(told->unit, v->unit) != 0) {
            const char *id = group->instance->desc->id;
            return stn_fail(err, STN_ERR_PARAMETER,
                            "color_by = \"%.80s\": %s tells it in %s and %s in %s; take \"%s.%s\" or \"%s.%s\"", output,
                            first, v->unit, id, told->unit, first, name, id, name);
        }
        const int32_t start = model->trees[group->tree].node_start, width = group->nodes_per_element;
        for (int64_t e = 0; told != NULL && e < group->element_count; e++) {
            for (int32_t k = 0; k < own_nodes(width); k++) {
                v->tells[start + group->index[e * width + k]] = true;
            }
        }
        if (told != NULL && v->unit == NULL) {
            v->name = told->name;
            v->unit = told->unit;
            first = group->instance->desc->id;
        }
    }
    return v->unit != NULL ? STN_OK : refuse(model, output, err);
}

stn_status node_values_open(node_values *v, const stn_model *model, const char *output, stn_error *err) {
    *v = (node_values){.model = model};
    const size_t nodes = (size_t)model->node_count + 1;
    size_t numbers = 1;
    for (int32_t g = 0; g < model->element_group_count; g++) {
        const stn_element_group *group = &model->element_groups[g];
        size_t count = (size_t)group->element_count * (size_t)stn_element_output_count(group);
        numbers = count > numbers ? count : numbers;
    }
    v->column = stn_allocate(model->context, (size_t)model->element_group_count + 1, sizeof *v->column);
    v->told = stn_allocate(model->context, numbers, sizeof *v->told);
    v->weight = stn_allocate(model->context, nodes, sizeof *v->weight);
    v->sum = stn_allocate(model->context, nodes, sizeof *v->sum);
    v->value = stn_allocate(model->context, nodes, sizeof *v->value);
    v->tells = stn_allocate(model->context, nodes, sizeof *v->tells);
    stn_status status = STN_OK;
    if (v->column == NULL || v->told == NULL || v->weight == NULL || v->sum == NULL || v->value == NULL ||
        v->tells == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory for the colours of %d nodes", (int)model->node_count);
    } else {
        status = find_columns(v, output, err);
    }
    if (status != STN_OK) {
        node_values_close(v);
    }
    return status;
}

void node_values_close(node_values *v) {
    if (v->model == NULL) {
        return;
    }
    void *memory[] = {v->column, v->told, v->weight, v->sum, v->value, v->tells};
    for (int32_t i = 0; i < STN_COUNT(memory); i++) {
        stn_release(v->model->context, memory[i]);
    }
    *v = (node_values){0};
}

/// Volume of a tetrahedron, area of a triangle; 1 of others, and where there is neither.
static double size_of(const stn_vec3 *node, const int32_t *n, int32_t count) {
    double size = 1.0;
    if (count == 3 || count == 4) {
        const stn_vec3 a = stn_vec3_sub(node[n[1]], node[n[0]]), b = stn_vec3_sub(node[n[2]], node[n[0]]);
        const stn_vec3 area = stn_vec3_cross(a, b);
        size = count == 3 ? stn_vec3_norm(area) / 2.0
                          : fabs(stn_vec3_dot(area, stn_vec3_sub(node[n[3]], node[n[0]]))) / 6.0;
    }
    return size;
}

stn_status node_values_take(node_values *v, const stn_observation *o, stn_error *err) {
    const stn_model *model = v->model;
    for (int32_t n = 0; n < model->node_count; n++) {
        v->weight[n] = v->sum[n] = 0.0;
    }
    for (int32_t g = 0; g < model->element_group_count && o->world != NULL; g++) {
        const stn_element_group *group = &model->element_groups[g];
        if (v->column[g] < 0) {
            continue;
        }
        stn_status status = stn_world_element_outputs(o->world, g, v->told, err);
        if (status != STN_OK) {
            return status;
        }
        const int32_t width = stn_element_output_count(group), start = model->trees[group->tree].node_start;
        const int32_t count = own_nodes(group->nodes_per_element);
        for (int32_t e = 0; e < group->element_count; e++) {
            const int32_t *n = group->index + (size_t)e * (size_t)group->nodes_per_element;
            const double told = v->told[(size_t)e * (size_t)width + (size_t)v->column[g]];
            const double size = size_of(o->kinematics->node + start, n, count);
            for (int32_t k = 0; k < count; k++) {
                v->weight[start + n[k]] += size;
                v->sum[start + n[k]] += size * told;
            }
        }
    }
    for (int32_t n = 0; n < model->node_count; n++) {
        v->value[n] = (float)(v->sum[n] / v->weight[n]); // 0/0: nothing tells it
    }
    return STN_OK;
}

bool node_values_range(const float *value, int32_t count, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (int32_t n = 0; n < count; n++) {
        if (isfinite(value[n])) {
            *low = fmin(*low, (double)value[n]);
            *high = fmax(*high, (double)value[n]);
        }
    }
    return *low <= *high;
}

stn_status node_values_read_range(const char *text, const char *output, double range[2], bool *given, stn_error *err) {
    int32_t count = text != NULL ? stn_parse_reals(text, range, 2) : 0;
    *given = count == 2;
    if (count != 0 && (output == NULL || output[0] == '\0')) {
        return stn_fail(err, STN_ERR_PARAMETER, "color_range = \"%.80s\": there are no colours without color_by", text);
    }
    if (count == 0 || (count == 2 && isfinite(range[0]) && isfinite(range[1]) && range[0] < range[1])) {
        return STN_OK;
    }
    return stn_fail(err, STN_ERR_PARAMETER,
                    "color_range = \"%.80s\" must be two numbers \"low high\" with low < high, or empty", text);
}
