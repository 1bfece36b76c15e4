// SPDX-License-Identifier: Apache-2.0
// Nodes of a soft body that links hold.
#ifndef STICTION_SOFT_HELD_H
#define STICTION_SOFT_HELD_H

#include <stiction/soft.h>

/// The nodes of each attachment, one after the other.
typedef struct soft_held {
    int32_t attachment_count;
    int32_t *nodes; // (sum of count), room for those of the mesh
    int32_t *count; // (attachment_count)
} soft_held;

/// Finds them. STN_ERR_ARGUMENT: a link that the builder does not have, a selector that tells no node, a node of two
/// attachments. Release `out` in any case.
stn_status soft_held_select(const stn_model_builder *builder, const stn_soft_mesh *mesh, int32_t attachment_count,
                            const stn_soft_attachment *attachments, soft_held *out, stn_error *err);
/// Attaches the nodes of a cloud that was added.
stn_status soft_held_attach(stn_model_builder *builder, int32_t cloud, const soft_held *held,
                            const stn_soft_attachment *attachments, stn_error *err);
void soft_held_release(stn_context *context, soft_held *held);

#endif
