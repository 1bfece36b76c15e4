// SPDX-License-Identifier: Apache-2.0
// Nodes that keep their place on a link: adding them to a builder, and where they are on the body at the model's start.
#include "base/context.h"
#include "model/compiler.h"

/// Refuses nodes that do not exist or are attached already; `taken` has a zero for every node of the cloud.
static stn_status check_attached(const stn_model_builder *builder, int32_t cloud, int32_t count, const int32_t *nodes,
                                 bool *taken, stn_error *err) {
    const int32_t node_count = cloud_at(builder, cloud)->node_count;
    for (int32_t i = 0; i < builder->attachments.count; i++) {
        const built_attachment *earlier = attachment_at(builder, i);
        for (int32_t k = 0; earlier->cloud == cloud && k < earlier->count; k++) {
            taken[earlier->nodes[k]] = true;
        }
    }
    for (int32_t k = 0; k < count; k++) {
        if (nodes[k] < 0 || nodes[k] >= node_count) {
            return stn_fail(err, STN_ERR_ARGUMENT, "there is no node %d (%d nodes, counted from 0)", nodes[k],
                            node_count);
        }
        if (taken[nodes[k]]) {
            return stn_fail(err, STN_ERR_ARGUMENT, "node %d is attached already: a node has one place, name it once",
                            nodes[k]);
        }
        taken[nodes[k]] = true;
    }
    return STN_OK;
}

static stn_status add_attachment(stn_model_builder *builder, const built_attachment *given, stn_error *err) {
    bool *taken = stn_allocate(builder->context, (size_t)cloud_at(builder, given->cloud)->node_count, sizeof *taken);
    if (taken == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_status status = check_attached(builder, given->cloud, given->count, given->nodes, taken, err);
    stn_release(builder->context, taken);
    if (status != STN_OK || given->count == 0) {
        return status;
    }
    built_attachment *item = list_reserve(builder->context, &builder->attachments, sizeof *item);
    const int32_t *copy = builder_copy(builder, given->nodes, (size_t)given->count, sizeof(int32_t));
    if (item == NULL || copy == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *item = *given;
    item->nodes = copy;
    builder->attachments.count++;
    return STN_OK;
}

stn_status stn_builder_attach_nodes(stn_model_builder *builder, int32_t cloud, int32_t count, const int32_t *nodes,
                                    int32_t link, stn_error *err) {
    if (cloud < 0 || cloud >= builder->clouds.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "attached nodes: there is no cloud of nodes %d (%d clouds)", cloud,
                        builder->clouds.count);
    }
    stn_status status = builder_check_link(builder, "attached nodes", link, false, err);
    if (status == STN_OK && count < 0) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "attached nodes: count = %d must be >= 0", count);
    } else if (status == STN_OK) {
        status = add_attachment(builder, &(built_attachment){cloud, link, count, nodes}, err);
        if (status != STN_OK) {
            stn_error_prefix(err, "attached nodes");
        }
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "nodes '%s'", cloud_at(builder, cloud)->name);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------------- compiling

stn_status compile_attachments(compiler *c, stn_error *err) {
    stn_model *m = &c->object->face;
    const list *given = &c->builder->attachments;
    int32_t count = 0;
    for (int32_t i = 0; i < given->count; i++) {
        count += attachment_at(c->builder, i)->count;
    }
    stn_node_attachment *attachments = STN_ARENA(c->memory, count, stn_node_attachment);
    int32_t *of_node = STN_ARENA(c->memory, m->node_count, int32_t);
    const stn_pose *pose = count > 0 ? start_poses(c) : NULL;
    if (attachments == NULL || of_node == NULL || (count > 0 && pose == NULL)) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0; i < m->node_count; i++) {
        of_node[i] = -1;
    }
    for (int32_t i = 0; i < given->count; i++) {
        const built_attachment *built = attachment_at(c->builder, i);
        const stn_tree *tree = &m->trees[c->object->articulated_count + built->cloud];
        const int32_t nq = tree->nq / tree->node_count; // 7 of nodes that turn
        const int32_t body = built->link == STN_WORLD ? 0 : c->link_body[built->link];
        for (int32_t k = 0; k < built->count; k++) {
            const int32_t node = tree->node_start + built->nodes[k];
            const double *x = m->q0 + tree->q_start + nq * built->nodes[k];
            const stn_vec3 point = stn_pose_apply_inverse(&pose[body], stn_vec3_make(x[0], x[1], x[2]));
            of_node[node] = m->attachment_count;
            stn_quat turn = stn_quat_identity();
            if (nq == 7) {
                const stn_quat of_body = stn_quat_from_matrix(&pose[body].rotation);
                const stn_quat back = {of_body.w, -of_body.x, -of_body.y, -of_body.z};
                turn = stn_quat_mul(back, (stn_quat){x[3], x[4], x[5], x[6]});
            }
            attachments[m->attachment_count++] = (stn_node_attachment){node, built->link, body, point, turn};
        }
    }
    m->attachments = attachments;
    m->node_attachment = of_node;
    return STN_OK;
}
