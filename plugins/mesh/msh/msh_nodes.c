// SPDX-License-Identifier: Apache-2.0
// Nodes of gmsh's files. Their tags are positive, but neither dense nor sorted, so they are sorted once, by bytes, and
// found by bisection: no choice of tags makes either slow.
#include "msh.h"

/// Adds the node with the tag; its position follows.
static stn_status read_node(msh_file *f, int64_t tag, int64_t parameters) {
    mesh_reader *r = &f->r;
    double p[3] = {0.0, 0.0, 0.0}, ignored = 0.0;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < 3 && status == STN_OK; i++) {
        status = reader_real(r, "node", 8, &p[i]);
    }
    for (int64_t i = 0; i < parameters && status == STN_OK; i++) {
        status = reader_real(r, "parameter of a node", 8, &ignored);
    }
    if (status == STN_OK && tag < 1) {
        return reader_fail(r, "node tag %lld must be positive", (long long)tag);
    }
    if (status == STN_OK) {
        f->nodes[r->vertices.count] = (tagged_node){tag, r->vertices.count};
        status = reader_add_vertex(r, p);
    }
    return status;
}

static stn_status reserve_nodes(msh_file *f, int64_t count, int64_t text_bytes, int64_t binary_bytes) {
    mesh_reader *r = &f->r;
    stn_status status = reader_check_count(r, "number of nodes", count, f->r.has_binary ? binary_bytes : text_bytes);
    if (status == STN_OK) {
        status = reader_room(r, &r->vertices, count);
    }
    if (status == STN_OK) {
        f->nodes = stn_allocate(r->context, (size_t)count, sizeof *f->nodes);
        f->node_count = f->nodes != NULL ? (int32_t)count : 0;
        status = f->nodes != NULL ? STN_OK : reader_no_memory(r);
    }
    return status;
}

static stn_status read_nodes_2(msh_file *f) {
    mesh_reader *r = &f->r;
    int64_t count = 0;
    stn_status status = reader_text_integer(r, "number of nodes", "", &count);
    if (status == STN_OK) {
        status = reader_begin_numbers(&f->r);
    }
    if (status == STN_OK) {
        status = reserve_nodes(f, count, 8, 28);
    }
    for (int64_t i = 0; i < count && status == STN_OK; i++) {
        int64_t tag = 0;
        status = reader_integer(r, "node tag", 4, &tag);
        if (status == STN_OK) {
            status = read_node(f, tag, 0);
        }
    }
    return status;
}

static stn_status read_nodes_4(msh_file *f) {
    mesh_reader *r = &f->r;
    int64_t head[4] = {0}; // blocks, nodes, least and largest tag
    stn_status status = reader_begin_numbers(&f->r);
    if (status == STN_OK) {
        status = reader_integers(r, "head of $Nodes", SIZE_WIDTH, head, 4);
    }
    if (status == STN_OK) {
        status = reserve_nodes(f, head[1], 8, 32);
    }
    for (int64_t i = 0; i < head[0] && status == STN_OK; i++) {
        int64_t block[3] = {0}, count = 0, tag = 0; // dimension, entity, parametric
        status = reader_integers(r, "block of nodes", 4, block, 3);
        if (status == STN_OK) {
            status = reader_integer(r, "nodes of a block", SIZE_WIDTH, &count);
        }
        if (status != STN_OK) {
            return status;
        }
        if (block[0] < 0 || block[0] > 3 || count < 0 || count > f->node_count - r->vertices.count) {
            return reader_fail(r, "a block of %lld nodes of dimension %lld; %d nodes are left of those announced",
                               (long long)count, (long long)block[0], f->node_count - r->vertices.count);
        }
        // the tags of a block stand before the positions, so both are walked along together: `tags` reads the first
        mesh_reader tags = *r;
        if (r->has_binary) {
            status = reader_skip_bytes(r, "node tags", count * SIZE_WIDTH);
        }
        for (int64_t k = 0; k < count && status == STN_OK && !r->has_binary; k++) {
            status = reader_integer(r, "node tag", SIZE_WIDTH, &tag);
        }
        for (int64_t k = 0; k < count && status == STN_OK; k++) {
            status = reader_integer(&tags, "node tag", SIZE_WIDTH, &tag);
            if (status == STN_OK) {
                status = read_node(f, tag, block[2] != 0 ? block[0] : 0);
            }
        }
    }
    if (status == STN_OK && r->vertices.count != f->node_count) {
        return reader_fail(r, "the blocks have %d nodes, $Nodes announces %d", r->vertices.count, f->node_count);
    }
    return status;
}

/// Sorts by one byte of the tag, keeping the order of equal ones.
static void sort_by_byte(const tagged_node *from, tagged_node *to, int32_t count, int32_t shift) {
    int32_t first[257] = {0};
    for (int32_t i = 0; i < count; i++) {
        first[((from[i].tag >> shift) & 255) + 1]++;
    }
    for (int32_t k = 0; k < 256; k++) {
        first[k + 1] += first[k];
    }
    for (int32_t i = 0; i < count; i++) {
        to[first[(from[i].tag >> shift) & 255]++] = from[i];
    }
}

stn_status msh_read_nodes(msh_file *f) {
    if (f->nodes != NULL) {
        return reader_fail(&f->r, "$Nodes a second time");
    }
    stn_status status = f->version == 2 ? read_nodes_2(f) : read_nodes_4(f);
    reader_end_numbers(&f->r);
    if (status != STN_OK) {
        return status;
    }
    bool sorted = true;
    for (int32_t i = 1; i < f->node_count; i++) {
        sorted = sorted && f->nodes[i - 1].tag < f->nodes[i].tag;
    }
    if (sorted) {
        return STN_OK;
    }
    tagged_node *other = stn_allocate(f->r.context, (size_t)f->node_count, sizeof *other);
    if (other == NULL) {
        return reader_no_memory(&f->r);
    }
    for (int32_t shift = 0; shift < 64; shift += 16) { // by all eight bytes, the lowest first, there and back
        sort_by_byte(f->nodes, other, f->node_count, shift);
        sort_by_byte(other, f->nodes, f->node_count, shift + 8);
    }
    stn_release(f->r.context, other);
    for (int32_t i = 1; i < f->node_count; i++) {
        if (f->nodes[i - 1].tag == f->nodes[i].tag) {
            return reader_fail(&f->r, "node tag %lld twice", (long long)f->nodes[i].tag);
        }
    }
    return STN_OK;
}

stn_status msh_find_vertex(const msh_file *f, const char *who, int64_t tag, int32_t *vertex) {
    int32_t low = 0, high = f->node_count;
    int64_t dense = tag > 0 && high > 0 ? tag - f->nodes[0].tag : -1; // where it is when the tags have no gaps
    if (dense >= 0 && dense < high && f->nodes[dense].tag == tag) {
        low = high = (int32_t)dense;
    }
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        low = f->nodes[middle].tag < tag ? middle + 1 : low;
        high = f->nodes[middle].tag < tag ? high : middle;
    }
    if (low == f->node_count || f->nodes[low].tag != tag) {
        return reader_fail(&f->r, "%s names node %lld, which $Nodes does not have", who, (long long)tag);
    }
    *vertex = f->nodes[low].vertex;
    return STN_OK;
}
