// SPDX-License-Identifier: Apache-2.0
// Parts of the reader of gmsh's files: nodes (msh_nodes.c), data of nodes (msh_data.c) and everything else (msh.c).
#ifndef STICTION_PLUGINS_MESH_MSH_H
#define STICTION_PLUGINS_MESH_MSH_H

#include "common/reader.h"

typedef struct tagged_node {
    int64_t tag;
    int32_t vertex;
} tagged_node;

typedef struct msh_file {
    mesh_reader r;
    int32_t version;    // 2 or 4, 0 before $MeshFormat
    tagged_node *nodes; // sorted by tag after $Nodes
    int32_t node_count;
} msh_file;

enum { SIZE_WIDTH = 8 };

/// What stands between $Nodes and its end.
stn_status msh_read_nodes(msh_file *f);
/// `who` names the node, in messages.
stn_status msh_find_vertex(const msh_file *f, const char *who, int64_t tag, int32_t *vertex);

/// What stands between $NodeData and its end, when that is the field extent; `read` is false when it is another one, of
/// which nothing but the name is read then.
stn_status msh_read_data(msh_file *f, bool *read);

#endif
