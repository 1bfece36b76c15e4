// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/world.h>

#include "soft_rows.h"

const char *soft_name(const stn_model *model, int32_t tree, char number[SOFT_NAME]) {
    if (model->trees[tree].name[0] != '\0') {
        return model->trees[tree].name;
    }
    int32_t count = 1;
    for (int32_t t = 0; t < tree; t++) {
        count += model->trees[t].kind == STN_TREE_NODAL;
    }
    (void)snprintf(number, SOFT_NAME, "deformable %d", (int)count);
    return number;
}

// ------------------------------------------------------------------------------------------------------------ choice

/// "; there are 'pad', 'rope'", or that there are none.
static const char *list_clouds(const stn_model *model, char *text, size_t size) {
    size_t length = 0;
    for (int32_t t = 0; t < model->tree_count && length < size; t++) {
        char name[SOFT_NAME];
        if (model->trees[t].kind == STN_TREE_NODAL) {
            length += (size_t)snprintf(text + length, size - length, "%s'%s'", length > 0 ? ", " : "; there are ",
                                       soft_name(model, t, name));
        }
    }
    if (length == 0) {
        (void)snprintf(text, size, "; the world has none");
    }
    return text;
}

/// Marks the clouds that a text of one parameter names.
static stn_status choose(const stn_model *model, const char *parameter, const char *text, bool *chosen,
                         stn_error *err) {
    char known[400];
    for (const char *at = text, *end; *at != '\0'; at = *end != '\0' ? end + 1 : end) {
        end = strchr(at, ',') != NULL ? strchr(at, ',') : at + strlen(at);
        at += strspn(at, " ");
        size_t length = at < end ? (size_t)(end - at) : 0;
        while (length > 0 && at[length - 1] == ' ') {
            length--;
        }
        bool all = length == 3 && strncmp(at, "all", 3) == 0, found = false;
        for (int32_t t = 0; t < model->tree_count; t++) {
            char number[SOFT_NAME];
            if (model->trees[t].kind == STN_TREE_NODAL) {
                const char *name = soft_name(model, t, number);
                bool named = strlen(name) == length && strncmp(name, at, length) == 0;
                chosen[t] = chosen[t] || all || named;
                found = found || all || named;
            }
        }
        if (!found) {
            return stn_fail(err, STN_ERR_PARAMETER, "%s = \"%.80s\": there is no soft body '%.*s'%s", parameter, text,
                            (int)length, at, list_clouds(model, known, sizeof known));
        }
    }
    return STN_OK;
}

static const stn_element_ops *ops_of(const stn_element_group *group) {
    return group->instance->desc->ops.element;
}

/// Does the file of elements have rows of this group?
static bool is_told(const soft_rows *s, const stn_element_group *group) {
    return s->of_elements[group->tree] && stn_element_output_count(group) > 0;
}

static bool is_same(const stn_constraint_output *a, const stn_constraint_output *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0 && a->size == b->size;
}

/// Columns of the outputs of all groups that have rows; those of the same name and unit share one.
static stn_status find_columns(soft_rows *s, stn_error *err) {
    const stn_model *model = s->model;
    size_t most = 0, numbers = 0;
    for (int32_t g = 0; g < model->element_group_count; g++) {
        const stn_element_group *group = &model->element_groups[g];
        if (is_told(s, group)) {
            size_t count = (size_t)group->element_count * (size_t)stn_element_output_count(group);
            most += (size_t)ops_of(group)->output_count;
            numbers = count > numbers ? count : numbers;
        }
    }
    s->columns = calloc(most + 1, sizeof(void *));
    s->values = calloc(numbers + 1, sizeof *s->values);
    if (s->columns == NULL || s->values == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for the elements of soft bodies");
    }
    for (int32_t g = 0; g < model->element_group_count; g++) {
        const stn_element_group *group = &model->element_groups[g];
        for (int32_t i = 0; is_told(s, group) && i < ops_of(group)->output_count; i++) {
            const stn_constraint_output *told = &ops_of(group)->outputs[i];
            int32_t c = 0;
            while (c < s->column_count && !is_same(s->columns[c], told)) {
                c++;
            }
            s->columns[c] = told;
            s->column_count += c == s->column_count;
        }
    }
    return STN_OK;
}

// -------------------------------------------------------------------------------------------------------------- files

/// "out.csv" -> "out.nodes.csv".
static stn_status open_beside(table *t, const stn_record_header *header, const char *what, int32_t digits,
                              stn_error *err) {
    static const char ending[] = ".csv";
    size_t length = strlen(header->path), size = length + 40, end = sizeof ending - 1;
    bool ends = length > end && strcmp(header->path + length - end, ending) == 0;
    char *path = malloc(size);
    if (path == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", header->path);
    }
    (void)snprintf(path, size, "%.*s.%s%s", (int)(ends ? length - end : length), header->path, what, ending);
    stn_status status = table_open(t, path, digits, err);
    free(path);
    return status;
}

static void write_header_of_nodes(soft_rows *s) {
    table *t = &s->nodes;
    table_put(t, "step,time_s,body,node,x_m,y_m,z_m");
    table_put(t, s->frames ? ",qw,qx,qy,qz" : "");
    table_put(t, s->velocities ? ",vx_m/s,vy_m/s,vz_m/s" : "");
    table_put(t, s->velocities && s->frames ? ",wx_rad/s,wy_rad/s,wz_rad/s" : "");
    table_put(t, "\n");
}

static void write_header_of_elements(soft_rows *s) {
    table_put(&s->elements, "step,time_s,body,elements,element");
    for (int32_t c = 0; c < s->column_count; c++) {
        char text[96];
        for (int32_t e = 0; e < s->columns[c]->size; e++) {
            table_output_name(s->columns[c], e, text);
            table_text(&s->elements, text);
        }
    }
    table_put(&s->elements, "\n");
}

stn_status soft_rows_open(soft_rows *s, const stn_record_header *header, const soft_rows_options *options,
                          stn_error *err) {
    const stn_model *model = header->model;
    *s = (soft_rows){.model = model, .velocities = options->velocities, .interval = options->interval};
    s->next = -INFINITY;
    s->of_nodes = calloc((size_t)model->tree_count + 1, sizeof *s->of_nodes);
    s->of_elements = calloc((size_t)model->tree_count + 1, sizeof *s->of_elements);
    if (s->of_nodes == NULL || s->of_elements == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", header->path);
    }
    stn_status status = choose(model, "nodes", options->nodes, s->of_nodes, err);
    if (status == STN_OK) {
        status = choose(model, "elements", options->elements, s->of_elements, err);
    }
    for (int32_t t = 0; t < model->tree_count; t++) {
        s->frames = s->frames || (s->of_nodes[t] && model->trees[t].node_type == STN_NODE_FRAME);
    }
    if (status == STN_OK && options->nodes[0] != '\0') {
        status = open_beside(&s->nodes, header, "nodes", options->digits, err);
    }
    if (status == STN_OK && options->nodes[0] != '\0') {
        write_header_of_nodes(s);
    }
    if (status == STN_OK && options->elements[0] != '\0') {
        status = find_columns(s, err);
    }
    if (status == STN_OK && options->elements[0] != '\0') {
        status = open_beside(&s->elements, header, "elements", options->digits, err);
    }
    if (status == STN_OK && options->elements[0] != '\0') {
        write_header_of_elements(s);
    }
    return status;
}

stn_status soft_rows_close(soft_rows *s, stn_output_end end, bool said, stn_error *err) {
    stn_status status = table_close(&s->nodes, end, said, err);
    said = said || status != STN_OK;
    stn_status of_elements = table_close(&s->elements, end, said, err);
    free(s->of_nodes);
    free(s->of_elements);
    free(s->columns);
    free(s->values);
    *s = (soft_rows){0};
    return status != STN_OK ? status : of_elements;
}

// --------------------------------------------------------------------------------------------------------------- rows

/// ",time,body" behind the step's number, which begins a row.
static void begin_row(table *t, const stn_observation *o, const char *body) {
    table_whole(t, o->step);
    table_number(t, o->time);
    table_text(t, body);
}

/// Empty fields where there are fewer numbers than columns.
static void write_numbers(table *t, const double *values, int32_t count, int32_t columns) {
    for (int32_t i = 0; i < columns; i++) {
        table_number(t, i < count ? values[i] : (double)NAN);
    }
}

static void write_nodes(soft_rows *s, const stn_observation *o, int32_t tree) {
    const stn_tree *cloud = &s->model->trees[tree];
    char name[SOFT_NAME];
    const int32_t nq = stn_node_type_nq(cloud->node_type), nv = stn_node_type_nv(cloud->node_type);
    for (int32_t n = 0; n < cloud->node_count; n++) {
        begin_row(&s->nodes, o, soft_name(s->model, tree, name));
        table_put(&s->nodes, ",");
        table_whole(&s->nodes, n + 1);
        write_numbers(&s->nodes, o->q + cloud->q_start + (size_t)n * (size_t)nq, nq, s->frames ? 7 : 3);
        write_numbers(&s->nodes, o->v + cloud->v_start + (size_t)n * (size_t)nv, nv,
                      !s->velocities ? 0
                      : s->frames    ? 6
                                     : 3);
        table_put(&s->nodes, "\n");
    }
}

/// The fields of one element, whose numbers are those of the outputs of its group.
static void write_outputs(soft_rows *s, const stn_element_group *group, const double *values) {
    const stn_element_ops *ops = ops_of(group);
    for (int32_t c = 0; c < s->column_count; c++) {
        const double *told = NULL;
        for (int32_t i = 0, at = 0; i < ops->output_count; at += ops->outputs[i++].size) {
            told = is_same(&ops->outputs[i], s->columns[c]) ? values + at : told;
        }
        write_numbers(&s->elements, told, told != NULL ? s->columns[c]->size : 0, s->columns[c]->size);
    }
}

static stn_status write_elements(soft_rows *s, const stn_observation *o, int32_t number, stn_error *err) {
    const stn_element_group *group = &s->model->element_groups[number];
    const int32_t width = stn_element_output_count(group);
    char name[SOFT_NAME];
    stn_status status = o->world != NULL ? stn_world_element_outputs(o->world, number, s->values, err) : STN_OK;
    for (int32_t e = 0; status == STN_OK && o->world != NULL && e < group->element_count; e++) {
        begin_row(&s->elements, o, soft_name(s->model, group->tree, name));
        table_text(&s->elements, group->name[0] != '\0' ? group->name : group->instance->desc->id);
        table_put(&s->elements, ",");
        table_whole(&s->elements, e + 1);
        write_outputs(s, group, s->values + (size_t)e * (size_t)width);
        table_put(&s->elements, "\n");
    }
    return status;
}

/// Rows are due at whole multiples of their distance; a sum of many dt is forgiven its rounding.
static bool is_due(soft_rows *s, const stn_observation *o, bool with_table) {
    if (s->interval == 0.0) {
        return with_table;
    }
    double time = o->time + 1e-6 * o->dt;
    if (o->step > s->last_step && time < s->next) { // a reset begins anew
        return false;
    }
    s->next = (floor(time / s->interval) + 1.0) * s->interval;
    return true;
}

stn_status soft_rows_observe(soft_rows *s, const stn_observation *o, bool with_table, stn_error *err) {
    stn_status status = STN_OK;
    bool due = is_due(s, o, with_table);
    s->last_step = o->step;
    for (int32_t t = 0; due && s->nodes.text != NULL && t < s->model->tree_count; t++) {
        if (s->of_nodes[t]) {
            write_nodes(s, o, t);
        }
    }
    if (due && s->nodes.text != NULL) {
        status = table_flush(&s->nodes, err);
    }
    for (int32_t g = 0; due && s->elements.text != NULL && g < s->model->element_group_count && status == STN_OK; g++) {
        status = is_told(s, &s->model->element_groups[g]) ? write_elements(s, o, g, err) : STN_OK;
    }
    return due && s->elements.text != NULL && status == STN_OK ? table_flush(&s->elements, err) : status;
}
