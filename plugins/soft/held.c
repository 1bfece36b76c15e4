// SPDX-License-Identifier: Apache-2.0
// Nodes of a soft body that links hold: found before anything is added, attached after.
#include <stdio.h>

#include "held.h"

/// "attachment 2 (link 'palm')".
static const char *describe(const stn_model_builder *builder, const stn_soft_attachment *attachments, int32_t a,
                            char text[160]) {
    const int32_t link = attachments[a].link;
    if (link == STN_WORLD) {
        (void)snprintf(text, 160, "attachment %d (pinned to the world)", a + 1);
    } else {
        (void)snprintf(text, 160, "attachment %d (link '%.100s')", a + 1, stn_builder_link_name(builder, link));
    }
    return text;
}

stn_status soft_held_select(const stn_model_builder *builder, const stn_soft_mesh *mesh, int32_t attachment_count,
                            const stn_soft_attachment *attachments, soft_held *out, stn_error *err) {
    size_t nodes = (size_t)mesh->node_count, total = 0;
    out->attachment_count = attachment_count;
    out->nodes = stn_allocate(mesh->context, nodes, sizeof *out->nodes);
    out->count = stn_allocate(mesh->context, (size_t)attachment_count + 1, sizeof *out->count);
    int32_t *own = stn_allocate(mesh->context, 2 * nodes, sizeof *own); // nodes of one attachment
    stn_status status = STN_OK;
    char text[160], other[160];
    if (out->nodes == NULL || out->count == NULL || own == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory for %d nodes and %d attachments", mesh->node_count,
                          attachment_count);
    }
    int32_t *holder = own != NULL ? own + nodes : NULL; // attachment + 1 that a node belongs to; 0: none
    for (int32_t a = 0; a < attachment_count && status == STN_OK; a++) {
        const stn_soft_attachment *attachment = &attachments[a];
        if (attachment->link != STN_WORLD && stn_builder_link_name(builder, attachment->link)[0] == '\0') {
            status = stn_fail(err, STN_ERR_ARGUMENT, "attachment %d: there is no link %d", a + 1, attachment->link);
            break;
        }
        status =
            stn_soft_mesh_select(mesh, attachment->selector_count, attachment->selectors, own, &out->count[a], err);
        if (status != STN_OK) {
            stn_error_prefix(err, "%s", describe(builder, attachments, a, text));
            break;
        }
        for (int32_t i = 0; i < out->count[a] && status == STN_OK; i++) {
            const double *x = &mesh->nodes[3 * (size_t)own[i]];
            if (holder[own[i]] != 0) {
                status = stn_fail(err, STN_ERR_ARGUMENT,
                                  "node %d (counted from 0) at (%g, %g, %g) m of the mesh belongs to %s and to %s; a "
                                  "node has one holder",
                                  own[i], x[0], x[1], x[2], describe(builder, attachments, holder[own[i]] - 1, other),
                                  describe(builder, attachments, a, text));
            } else {
                holder[own[i]] = a + 1;
                out->nodes[total++] = own[i];
            }
        }
    }
    stn_release(mesh->context, own);
    return status;
}

stn_status soft_held_attach(stn_model_builder *builder, int32_t cloud, const soft_held *held,
                            const stn_soft_attachment *attachments, stn_error *err) {
    const int32_t *nodes = held->nodes;
    stn_status status = STN_OK;
    for (int32_t a = 0; a < held->attachment_count && status == STN_OK; nodes += held->count[a++]) {
        status = stn_builder_attach_nodes(builder, cloud, held->count[a], nodes, attachments[a].link, err);
    }
    return status;
}

void soft_held_release(stn_context *context, soft_held *held) {
    stn_release(context, held->nodes);
    stn_release(context, held->count);
}
