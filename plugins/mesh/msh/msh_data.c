// SPDX-License-Identifier: Apache-2.0
// The pressure field of a solid in gmsh's files, a view of its nodes:
//   $NodeData   n texts (a line each; the first is the name: "extent"), n decimal numbers, n whole numbers (step,
//               components: 1, nodes, and maybe more), then for every node its tag and its value
#include <string.h>

#include "msh.h"

/// n, then n texts in quotes, each of which ends on its line; the first is kept.
static stn_status read_texts(mesh_reader *r, mesh_word *first) {
    int64_t count = 0;
    *first = (mesh_word){.text = r->at};
    stn_status status = reader_text_integer(r, "number of texts", "", &count);
    for (int64_t i = 0; i < count && status == STN_OK; i++) {
        mesh_word word = reader_word(r);
        if (word.length == 0 || word.text[0] != '"') {
            char shown[READER_SHOWN];
            return reader_fail(r, "expected a text in quotes, found %s", reader_show(word, shown));
        }
        const char *begin = word.text + 1, *p = begin;
        while (p < r->end && *p != '"' && *p != '\n') {
            p++;
        }
        if (p == r->end || *p != '"') {
            return reader_fail(r, "a text in quotes does not end");
        }
        r->at = p + 1;
        *first = i == 0 ? (mesh_word){begin, (size_t)(p - begin)} : *first;
    }
    return status;
}

stn_status msh_read_data(msh_file *f, bool *read) {
    mesh_reader *r = &f->r;
    mesh_reader start = *r;
    stn_error *err = r->err;
    mesh_word name;
    r->err = NULL; // of another view nothing but the name must be sound
    stn_status status = read_texts(r, &name);
    r->err = err;
    *read = status == STN_OK && name.length == 6 && memcmp(name.text, "extent", 6) == 0;
    if (!*read) {
        *r = start;
        return STN_OK;
    }
    if (f->nodes == NULL) {
        return reader_fail(r, "the field extent before $Nodes");
    }
    int64_t count = 0, whole[3] = {0}, ignored = 0; // step, components, nodes
    double real = 0.0;
    status = reader_text_integer(r, "number of decimal numbers", "", &count);
    for (int64_t i = 0; i < count && status == STN_OK; i++) {
        status = reader_text_real(r, "a decimal number of $NodeData", "", &real);
    }
    if (status == STN_OK) {
        status = reader_text_integer(r, "number of whole numbers", "", &count);
    }
    if (status == STN_OK && count < 3) {
        return reader_fail(r, "$NodeData with %lld whole numbers: step, components and nodes are needed",
                           (long long)count);
    }
    for (int64_t i = 0; i < count && status == STN_OK; i++) {
        status = reader_text_integer(r, "a whole number of $NodeData", "", i < 3 ? &whole[i] : &ignored);
    }
    if (status == STN_OK && whole[1] != 1) {
        return reader_fail(r, "the field extent has %lld components, must have 1", (long long)whole[1]);
    }
    if (status == STN_OK) {
        status = reader_check_count(r, "values of the field extent", whole[2], r->has_binary ? 12 : 4);
    }
    if (status == STN_OK) {
        status = reader_begin_extents(r);
    }
    if (status == STN_OK) {
        status = reader_begin_numbers(r);
    }
    for (int64_t i = 0; i < whole[2] && status == STN_OK; i++) {
        int64_t tag = 0;
        int32_t vertex = 0;
        status = reader_integer(r, "node of a value", 4, &tag);
        if (status == STN_OK) {
            status = msh_find_vertex(f, "the field extent", tag, &vertex);
        }
        if (status == STN_OK && !isnan(r->extents[vertex])) {
            return reader_fail(r, "the field extent has a second value at node %lld", (long long)tag);
        }
        if (status == STN_OK) {
            status = reader_extent(r, vertex, 8);
        }
    }
    return status;
}
