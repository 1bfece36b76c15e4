// SPDX-License-Identifier: Apache-2.0
// Nodal clouds: point masses that elements join. Adding them to a builder, and compiling them into trees whose matrices
// have one 3 x 3 block wherever an element joins two nodes.
#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

#include "base/sort.h"
#include "model/built.h"
#include "model/compiler.h"

stn_status stn_builder_add_nodes(stn_model_builder *builder, const stn_nodes_spec *spec, int32_t *nodes,
                                 stn_error *err) {
    stn_status status = check_nodes(spec, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "nodes '%s'", spec->name != NULL ? spec->name : "");
        return status;
    }
    size_t count = (size_t)spec->node_count;
    built_cloud *item = list_reserve(builder->context, &builder->clouds, sizeof *item);
    const char *name = builder_copy_text(builder, spec->name);
    const double *position = builder_copy(builder, spec->position, 3 * count, sizeof(double));
    const double *mass = builder_copy(builder, spec->mass, count, sizeof(double));
    if (item == NULL || name == NULL || position == NULL || mass == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "nodes '%s': out of memory", spec->name);
    }
    *item = (built_cloud){name, spec->node_count, position, mass, spec->contact_radius, spec->material};
    *nodes = builder->clouds.count++;
    return STN_OK;
}

static stn_status check_elements(const stn_model_builder *builder, int32_t nodes, const stn_instance *instance,
                                 int32_t element_count, const int32_t *index, stn_error *err) {
    if (nodes < 0 || nodes >= builder->clouds.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "elements: there is no cloud of nodes %d (%d clouds)", nodes,
                        builder->clouds.count);
    }
    const built_cloud *cloud = cloud_at(builder, nodes);
    if (instance == NULL || instance->desc->kind != STN_KIND_ELEMENT) {
        return stn_fail(err, STN_ERR_ARGUMENT, "elements of '%s': an element plugin is needed", cloud->name);
    }
    int32_t width = instance->desc->ops.element->nodes_per_element;
    if (width < 2 || width > 8) {
        return stn_fail(err, STN_ERR_PLUGIN, "elements of '%s': element '%s' has %d nodes, must be 2 to 8", cloud->name,
                        instance->desc->id, width);
    }
    if (element_count < 0 || element_count > INT32_MAX / 64) {
        return stn_fail(err, STN_ERR_ARGUMENT, "elements of '%s': element_count = %d must be 0 to %d", cloud->name,
                        element_count, INT32_MAX / 64);
    }
    for (int32_t i = 0; i < element_count * width; i++) {
        if (index[i] < 0 || index[i] >= cloud->node_count) {
            return stn_fail(err, STN_ERR_ARGUMENT, "elements of '%s': element %d names node %d (%d nodes)", cloud->name,
                            i / width, index[i], cloud->node_count);
        }
    }
    return STN_OK;
}

stn_status stn_builder_add_elements(stn_model_builder *builder, int32_t nodes, stn_instance *instance,
                                    int32_t element_count, const int32_t *index, stn_error *err) {
    stn_status status = check_elements(builder, nodes, instance, element_count, index, err);
    if (status == STN_OK) {
        int32_t width = instance->desc->ops.element->nodes_per_element;
        size_t count = (size_t)element_count * (size_t)width;
        built_element_group *item = list_reserve(builder->context, &builder->element_groups, sizeof *item);
        const int32_t *copy = builder_copy(builder, index, count, sizeof(int32_t));
        if (item != NULL && copy != NULL) {
            *item = (built_element_group){nodes, instance, element_count, width, copy};
            builder->element_groups.count++;
            return STN_OK;
        }
        status = stn_fail(err, STN_ERR_MEMORY, "elements of '%s': out of memory", cloud_at(builder, nodes)->name);
    }
    stn_instance_destroy(instance);
    return status;
}

// ---------------------------------------------------------------------------------------------------- compiling

/// The blocks of a cloud's matrices.
static stn_status compile_pattern(compiler *c, int32_t cloud, stn_tree *tree, stn_error *err) {
    const stn_model_builder *b = c->builder;
    int64_t most = tree->node_count, count = 0, kept = 0;
    for (int32_t g = 0; g < b->element_groups.count; g++) {
        const built_element_group *element_group = element_group_at(b, g);
        int64_t width = element_group->nodes_per_element;
        most += element_group->cloud == cloud ? element_group->element_count * width * width : 0;
    }
    uint64_t *keys = STN_ARENA(c->scratch, most, uint64_t);
    int32_t *row_start = STN_ARENA_ZEROED(c->memory, tree->node_count + 1, int32_t);
    if (keys == NULL || row_start == NULL) {
        return model_out_of_memory(err);
    }
    // One key (row, column) for every node with itself, and for every pair of nodes that share an element.
    for (int32_t i = 0; i < tree->node_count; i++) {
        keys[count++] = (uint64_t)i << 32 | (uint32_t)i;
    }
    for (int32_t g = 0; g < b->element_groups.count; g++) {
        const built_element_group *element_group = element_group_at(b, g);
        int32_t width = element_group->nodes_per_element;
        for (int32_t e = 0; element_group->cloud == cloud && e < element_group->element_count; e++) {
            const int32_t *index = element_group->index + (size_t)e * (size_t)width;
            for (int32_t i = 0; i < width * width; i++) {
                keys[count++] = (uint64_t)index[i / width] << 32 | (uint32_t)index[i % width];
            }
        }
    }
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || keys[i] != keys[i - 1]) {
            keys[kept++] = keys[i];
        }
    }
    if (kept > INT32_MAX / 9) {
        return stn_fail(err, STN_ERR_ARGUMENT, "nodes '%s': too many pairs of nodes share elements",
                        cloud_at(b, cloud)->name);
    }
    int32_t *column = STN_ARENA(c->memory, kept, int32_t);
    if (column == NULL) {
        return model_out_of_memory(err);
    }
    for (int64_t i = 0; i < kept; i++) {
        column[i] = (int32_t)(keys[i] & UINT32_MAX);
        row_start[(keys[i] >> 32) + 1]++;
    }
    for (int32_t i = 0; i < tree->node_count; i++) {
        row_start[i + 1] += row_start[i];
    }
    tree->row_start = row_start;
    tree->column = column;
    return STN_OK;
}

static stn_status compile_element_group(compiler *c, const built_element_group *built, stn_element_group *element_group,
                                        stn_error *err) {
    const stn_element_ops *ops = built->instance->desc->ops.element;
    size_t constant_count = (size_t)ops->constant_count, width = (size_t)built->nodes_per_element;
    double *constants = STN_ARENA_ZEROED(c->memory, (size_t)built->element_count * constant_count, double);
    if (constants == NULL) {
        return model_out_of_memory(err);
    }
    *element_group = (stn_element_group){.instance = built->instance,
                                         .tree = c->object->articulated_count + built->cloud,
                                         .element_count = built->element_count,
                                         .nodes_per_element = built->nodes_per_element,
                                         .index = built->index,
                                         .constants = constants};
    const built_cloud *cloud = cloud_at(c->builder, built->cloud);
    double x[3 * 8]; // of one element's nodes
    for (int32_t e = 0; constant_count > 0 && e < built->element_count; e++) {
        for (size_t i = 0; i < width; i++) {
            memcpy(x + 3 * i, cloud->position + 3 * (size_t)built->index[(size_t)e * width + i], 3 * sizeof(double));
        }
        stn_status status = ops->prepare(built->instance->self, x, constants + (size_t)e * constant_count, err);
        if (status != STN_OK) {
            stn_error_prefix(err, "elements '%s' of '%s', element %d", built->instance->desc->id, cloud->name, e);
            return status;
        }
    }
    return STN_OK;
}

stn_status compile_nodes(compiler *c, stn_error *err) {
    stn_model *m = &c->object->face;
    const stn_model_builder *b = c->builder;
    int64_t total = 0;
    for (int32_t i = 0; i < b->clouds.count; i++) {
        total += cloud_at(b, i)->node_count;
    }
    if (total > INT32_MAX / 64) {
        return stn_fail(err, STN_ERR_ARGUMENT, "model: %lld nodes, at most %d", (long long)total, INT32_MAX / 64);
    }
    double *node_mass = STN_ARENA(c->memory, total, double);
    stn_element_group *element_groups = STN_ARENA_ZEROED(c->memory, b->element_groups.count, stn_element_group);
    if (node_mass == NULL || element_groups == NULL) {
        return model_out_of_memory(err);
    }
    m->node_mass = node_mass;
    m->element_groups = element_groups;
    m->element_group_count = b->element_groups.count;
    c->object->node_q = m->nq;
    c->object->node_v = m->nv;
    for (int32_t i = 0; i < b->clouds.count; i++) {
        const built_cloud *built = cloud_at(b, i);
        stn_tree *tree = &c->trees[m->tree_count++];
        *tree = (stn_tree){.kind = STN_TREE_NODAL,
                           .node_start = m->node_count,
                           .node_count = built->node_count,
                           .q_start = m->nq,
                           .nq = 3 * built->node_count,
                           .v_start = m->nv,
                           .nv = 3 * built->node_count};
        memcpy(node_mass + m->node_count, built->mass, (size_t)built->node_count * sizeof(double));
        m->node_count += built->node_count;
        m->nq += tree->nq;
        m->nv += tree->nv;
        stn_status status = compile_pattern(c, i, tree, err);
        if (status != STN_OK) {
            return status;
        }
    }
    for (int32_t i = 0; i < b->element_groups.count; i++) {
        stn_status status = compile_element_group(c, element_group_at(b, i), &element_groups[i], err);
        if (status != STN_OK) {
            return status;
        }
    }
    // Trees of an articulated kind get where their dense n x n storage begins.
    int64_t *start = STN_ARENA(c->memory, m->tree_count, int64_t), sum = 0;
    if (start == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t t = 0; t < m->tree_count; t++) {
        start[t] = sum;
        sum += m->trees[t].kind == STN_TREE_ARTICULATED ? (int64_t)m->trees[t].nv * m->trees[t].nv : 0;
    }
    c->object->dense_start = start;
    return STN_OK;
}
