// SPDX-License-Identifier: Apache-2.0
// Nodal clouds: point masses or frames that elements join. Adding them to a builder, and compiling them into trees
// whose matrices have one block wherever an element joins two nodes.
#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

#include "base/sort.h"
#include "model/built.h"
#include "model/compiler.h"

/// Unit quaternions of frames, those of the spec or identities; NULL: out of memory.
static double *builder_orientations(stn_model_builder *builder, const stn_nodes_spec *spec) {
    const size_t count = (size_t)spec->node_count;
    double *out = stn_arena_allocate(builder->memory, 4 * count, sizeof *out);
    for (size_t i = 0; i < count && out != NULL; i++) {
        const double *given = spec->orientation != NULL ? spec->orientation + 4 * i : (const double[4]){1.0};
        memcpy(out + 4 * i, given, 4 * sizeof *out);
    }
    return out;
}

stn_status stn_builder_add_nodes(stn_model_builder *builder, const stn_nodes_spec *spec, int32_t *nodes,
                                 stn_error *err) {
    stn_status status = check_nodes(spec, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "nodes '%s'", spec->name != NULL ? spec->name : "");
        return status;
    }
    if (builder_is_taken(builder, spec->name)) {
        char text[256];
        builder_free_name(builder, spec->name, text, sizeof text);
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "nodes '%s': a group or other nodes have that name already; call them '%s', say", spec->name,
                        text);
    }
    size_t count = (size_t)spec->node_count;
    built_cloud *item = list_reserve(builder->context, &builder->clouds, sizeof *item);
    const char *name = builder_copy_text(builder, spec->name);
    const double *position = builder_copy(builder, spec->position, 3 * count, sizeof(double));
    const double *mass = spec->mass == NULL ? NULL : builder_copy(builder, spec->mass, count, sizeof(double));
    const double *rest = spec->rest == NULL ? NULL : builder_copy(builder, spec->rest, 3 * count, sizeof(double));
    const bool frames = spec->type == STN_NODE_FRAME, turned = frames && spec->rest_orientation != NULL;
    double *orientation = frames ? builder_orientations(builder, spec) : NULL;
    const double *rest_orientation =
        turned ? builder_copy(builder, spec->rest_orientation, 4 * count, sizeof(double)) : NULL;
    const double *inertia = frames ? builder_copy(builder, spec->inertia, 3 * count, sizeof(double)) : NULL;
    if (item == NULL || name == NULL || position == NULL || (mass == NULL) != (spec->mass == NULL) ||
        (rest == NULL) != (spec->rest == NULL) || (frames && (orientation == NULL || inertia == NULL)) ||
        (turned && rest_orientation == NULL)) {
        return stn_fail(err, STN_ERR_MEMORY, "nodes '%s': out of memory", spec->name);
    }
    *item = (built_cloud){.name = name,
                          .node_count = spec->node_count,
                          .position = position,
                          .mass = mass,
                          .mass_factor = 1.0,
                          .rest = rest,
                          .contact_radius = spec->contact_radius,
                          .material = spec->material,
                          .type = spec->type,
                          .orientation = orientation,
                          .rest_orientation = rest_orientation,
                          .inertia = inertia,
                          .self_collision_skip = spec->self_collision_skip,
                          .frame = STN_WORLD};
    *nodes = builder->clouds.count++;
    return STN_OK;
}

stn_status stn_builder_place_nodes(stn_model_builder *builder, int32_t cloud, int32_t link, stn_error *err) {
    if (cloud < 0 || cloud >= builder->clouds.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "placed nodes: there is no cloud of nodes %d (%d clouds)", cloud,
                        builder->clouds.count);
    }
    stn_status status = builder_check_link(builder, "placed nodes", link, false, err);
    if (status == STN_OK) {
        cloud_at(builder, cloud)->frame = link;
    }
    return status;
}

static stn_status check_elements(const stn_model_builder *builder, const stn_instance *instance,
                                 const stn_elements_spec *spec, stn_error *err) {
    if (spec->nodes < 0 || spec->nodes >= builder->clouds.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "elements: there is no cloud of nodes %d (%d clouds)", spec->nodes,
                        builder->clouds.count);
    }
    const built_cloud *cloud = cloud_at(builder, spec->nodes);
    if (instance == NULL || instance->desc->kind != STN_KIND_ELEMENT) {
        return stn_fail(err, STN_ERR_ARGUMENT, "elements of '%s': an element plugin is needed", cloud->name);
    }
    static const char *const types[] = {"points", "frames"};
    const stn_node_type joined = instance->desc->ops.element->node_type;
    if (joined != cloud->type) {
        return stn_fail(err, STN_ERR_ARGUMENT, "elements of '%s': element '%s' joins %s, but the nodes are %s",
                        cloud->name, instance->desc->id, types[joined], types[cloud->type]);
    }
    int32_t width = instance->desc->ops.element->nodes_per_element, count = spec->element_count;
    if (count < 0 || count > INT32_MAX / 64) {
        return stn_fail(err, STN_ERR_ARGUMENT, "elements of '%s': element_count = %d must be 0 to %d", cloud->name,
                        count, INT32_MAX / 64);
    }
    for (int32_t i = 0; i < count * width; i++) {
        if (spec->index[i] < 0 || spec->index[i] >= cloud->node_count) {
            return stn_fail(err, STN_ERR_ARGUMENT, "elements of '%s': element %d names node %d (%d nodes)", cloud->name,
                            i / width, spec->index[i], cloud->node_count);
        }
        for (int32_t k = i / width * width; k < i && !stn_plugin_says(instance, "repeats"); k++) {
            if (spec->index[k] == spec->index[i]) {
                return stn_fail(err, STN_ERR_ARGUMENT, "elements of '%s': element %d names node %d twice", cloud->name,
                                i / width, spec->index[i]);
            }
        }
    }
    return STN_OK;
}

stn_status stn_builder_add_elements(stn_model_builder *builder, stn_instance *instance, const stn_elements_spec *spec,
                                    int32_t *group, stn_error *err) {
    stn_status status = check_elements(builder, instance, spec, err);
    if (status == STN_OK) {
        const stn_element_ops *ops = instance->desc->ops.element;
        const int32_t width = ops->nodes_per_element;
        const size_t count = (size_t)spec->element_count, numbers = count * (size_t)ops->parameter_count;
        const bool own = spec->parameters != NULL && numbers > 0;
        built_element_group *item = list_reserve(builder->context, &builder->element_groups, sizeof *item);
        const char *name = builder_copy_text(builder, spec->name);
        const int32_t *index = builder_copy(builder, spec->index, count * (size_t)width, sizeof(int32_t));
        const double *parameters = own ? builder_copy(builder, spec->parameters, numbers, sizeof(double)) : NULL;
        if (item != NULL && name != NULL && index != NULL && (parameters != NULL) == own) {
            *item = (built_element_group){name, spec->nodes, instance, spec->element_count, width, index, parameters};
            *group = builder->element_groups.count++;
            return STN_OK;
        }
        status = stn_fail(err, STN_ERR_MEMORY, "elements of '%s': out of memory", cloud_at(builder, spec->nodes)->name);
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
    const int32_t nv = stn_node_type_nv(tree->node_type);
    if (kept > INT32_MAX / (nv * nv)) {
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

/// Coordinates of one element's nodes at rest.
static void element_at_rest(const built_cloud *cloud, const int32_t *index, int32_t width, double *x) {
    const double *rest = cloud->rest != NULL ? cloud->rest : cloud->position;
    const double *turn = cloud->rest_orientation != NULL ? cloud->rest_orientation : cloud->orientation;
    for (int32_t i = 0; i < width; i++, x += stn_node_type_nq(cloud->type)) {
        memcpy(x, rest + 3 * (size_t)index[i], 3 * sizeof(double));
        if (cloud->type == STN_NODE_FRAME) {
            memcpy(x + 3, turn + 4 * (size_t)index[i], 4 * sizeof(double));
        }
    }
}

static stn_status compile_element_group(compiler *c, const built_element_group *built, stn_element_group *group,
                                        stn_error *err) {
    const stn_element_ops *ops = built->instance->desc->ops.element;
    size_t constant_count = (size_t)ops->constant_count, width = (size_t)built->nodes_per_element;
    double *constants = STN_ARENA_ZEROED(c->memory, (size_t)built->element_count * constant_count, double);
    double *unset = STN_ARENA(c->scratch, ops->parameter_count, double);
    if (constants == NULL || unset == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0; i < ops->parameter_count; i++) {
        unset[i] = (double)NAN;
    }
    *group = (stn_element_group){.name = built->name,
                                 .instance = built->instance,
                                 .tree = c->object->articulated_count + built->cloud,
                                 .element_count = built->element_count,
                                 .nodes_per_element = built->nodes_per_element,
                                 .index = built->index,
                                 .constants = constants};
    const built_cloud *cloud = cloud_at(c->builder, built->cloud);
    double x[7 * STN_ELEMENT_NODES]; // of one element's nodes
    for (int32_t e = 0; constant_count > 0 && e < built->element_count; e++) {
        const int32_t *index = built->index + (size_t)e * width;
        const double *own = built->parameters == NULL ? unset : built->parameters + e * (ptrdiff_t)ops->parameter_count;
        element_at_rest(cloud, index, (int32_t)width, x);
        stn_answer_begin(err);
        stn_status status = ops->prepare(built->instance->self, x, own, constants + (size_t)e * constant_count, err);
        status = stn_answer_end(status, err);
        if (status != STN_OK) {
            char nodes[160] = "";
            for (size_t i = 0; i < width; i++) {
                stn_text_append(nodes, sizeof nodes, "%s%d", i > 0 ? ", " : "", index[i]);
            }
            stn_error_prefix(err, "elements '%s' of '%s', element %d (nodes %s; counted from 0)",
                             built->instance->desc->id, cloud->name, e, nodes);
            return status;
        }
    }
    return STN_OK;
}

/// Adds `factor` times the mass of a group's elements to `node_mass` (of all nodes) and to `mass` on the pattern of its
/// tree, which is made when a mass lies between two nodes.
static stn_status add_element_mass(compiler *c, const stn_element_group *group, double factor, double *node_mass,
                                   stn_error *err) {
    const stn_element_ops *ops = group->instance->desc->ops.element;
    stn_tree *tree = &c->trees[group->tree];
    const int32_t n = group->nodes_per_element;
    double *mass = (double *)(uintptr_t)tree->mass;
    double M[STN_ELEMENT_NODES * STN_ELEMENT_NODES];
    for (int32_t e = 0; ops->mass != NULL && e < group->element_count; e++) {
        const int32_t *index = group->index + (size_t)e * (size_t)n;
        ops->mass(group->instance->self, group->constants + (size_t)e * (size_t)ops->constant_count, M);
        for (int32_t i = 0; i < n * n; i++) {
            const int32_t row = index[i / n], column = index[i % n];
            if (!isfinite(M[i]) || M[i] != M[i % n * n + i / n]) {
                return stn_fail(err, STN_ERR_PLUGIN,
                                "elements '%s' of '%s', element %d: mass[%d][%d] = %g kg must be finite and symmetric",
                                group->instance->desc->id, group->name, e, i / n, i % n, M[i]);
            }
            if (M[i] == 0.0) {
                continue;
            }
            if (mass == NULL && row != column) { // the first that is not on the diagonal
                mass = STN_ARENA_ZEROED(c->memory, tree->row_start[tree->node_count], double);
                if (mass == NULL) {
                    return model_out_of_memory(err);
                }
                for (int32_t k = 0; k < tree->node_count; k++) {
                    mass[stn_nodal_entry(tree->row_start, tree->column, k, k)] = node_mass[tree->node_start + k];
                }
                tree->mass = mass;
            }
            if (mass != NULL) {
                mass[stn_nodal_entry(tree->row_start, tree->column, row, column)] += factor * M[i];
            }
            node_mass[tree->node_start + row] += factor * M[i];
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
    double *node_inertia = STN_ARENA_ZEROED(c->memory, 3 * total, double);
    int32_t *node_tree = STN_ARENA(c->memory, total, int32_t);
    stn_element_group *element_groups = STN_ARENA_ZEROED(c->memory, b->element_groups.count, stn_element_group);
    if (node_mass == NULL || node_inertia == NULL || node_tree == NULL || element_groups == NULL) {
        return model_out_of_memory(err);
    }
    m->node_mass = node_mass;
    m->node_inertia = node_inertia;
    m->node_tree = node_tree;
    m->element_groups = element_groups;
    m->element_group_count = b->element_groups.count;
    c->object->node_q = m->nq;
    for (int32_t i = 0; i < b->clouds.count; i++) {
        const built_cloud *built = cloud_at(b, i);
        stn_tree *tree = &c->trees[m->tree_count++];
        *tree = (stn_tree){.name = built->name,
                           .kind = STN_TREE_NODAL,
                           .node_start = m->node_count,
                           .node_count = built->node_count,
                           .q_start = m->nq,
                           .nq = stn_node_type_nq(built->type) * built->node_count,
                           .v_start = m->nv,
                           .nv = stn_node_type_nv(built->type) * built->node_count,
                           .node_type = built->type};
        if (built->type == STN_NODE_FRAME) {
            for (int32_t k = 0; k < 3 * built->node_count; k++) {
                node_inertia[3 * (size_t)m->node_count + (size_t)k] = built->mass_factor * built->inertia[k];
            }
            c->object->has_frames = true;
        }
        for (int32_t k = 0; k < built->node_count; k++) {
            node_mass[m->node_count + k] = built->mass != NULL ? built->mass_factor * built->mass[k] : 0.0;
            node_tree[m->node_count + k] = m->tree_count - 1;
        }
        m->node_count += built->node_count;
        m->nq += tree->nq;
        m->nv += tree->nv;
        stn_status status = compile_pattern(c, i, tree, err);
        if (status != STN_OK) {
            return status;
        }
    }
    for (int32_t i = 0; i < b->element_groups.count; i++) {
        const built_element_group *built = element_group_at(b, i);
        stn_status status = compile_element_group(c, built, &element_groups[i], err);
        if (status == STN_OK) {
            const double factor = cloud_at(b, built->cloud)->mass_factor;
            status = add_element_mass(c, &element_groups[i], factor, node_mass, err);
        }
        if (status != STN_OK) {
            return status;
        }
    }
    for (int32_t i = 0; i < m->node_count; i++) {
        if (!(node_mass[i] > 0.0)) {
            const stn_tree *tree = &c->trees[node_tree[i]];
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "nodes '%s': node %d has mass %g kg, must be > 0: give it one, or join it to an element "
                            "that has mass",
                            cloud_at(b, (int32_t)(tree - c->trees) - c->object->articulated_count)->name,
                            i - tree->node_start, node_mass[i]);
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
