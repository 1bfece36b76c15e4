// SPDX-License-Identifier: Apache-2.0
// gmsh's .msh, formats 2 (2.0 to 2.2) and 4.1, text and binary. Sections $Name ... $EndName; read are
//   $MeshFormat   version, 0 (text) or 1 (binary), bytes of a size; in a binary file an int 1 that tells the byte order
//   $Nodes        format 2: n, then tag x y z
//                 format 4: blocks n min max, and per block: dimension entity parametric n, the n tags, the n
//                 positions, each followed by as many parameters as the dimension says when parametric is not 0
//   $Elements     format 2: n, then number type tag_count tags nodes; a binary file has type n tag_count before every n
//                 elements of that kind, and then number tags nodes
//                 format 4: blocks n min max, and per block: dimension entity type n, then number nodes
//   $NodeData     of the field extent: msh_data.c
#include <string.h>

#include <stiction/plugin.h>

#include "msh.h"

static stn_status read_format(msh_file *f) {
    mesh_reader *r = &f->r;
    char version[8], shown[READER_SHOWN];
    mesh_word word = reader_word(r);
    int64_t binary = 0, size = 0, order = 0;
    if (!word_copy(word, version, sizeof version)) {
        version[0] = '\0';
    }
    if (version[0] == '2' && (version[1] == '\0' || version[1] == '.')) {
        f->version = 2;
    } else if (strcmp(version, "4.1") == 0) {
        f->version = 4;
    } else {
        return reader_fail(r, "format %s: 2.2 and 4.1 are read; save the mesh in one of them",
                           reader_show(word, shown));
    }
    stn_status status = reader_integer(r, "file type", 4, &binary);
    if (status == STN_OK) {
        status = reader_integer(r, "data size", 4, &size);
    }
    if (status == STN_OK && (binary < 0 || binary > 1 || size != SIZE_WIDTH)) {
        return reader_fail(r, "file type %lld and data size %lld: 0 or 1, and %d, are read", (long long)binary,
                           (long long)size, SIZE_WIDTH);
    }
    r->has_binary = binary == 1;
    if (status != STN_OK || !f->r.has_binary) {
        return status;
    }
    status = reader_begin_numbers(&f->r);
    if (status == STN_OK) {
        status = reader_integer(r, "byte order", 4, &order);
    }
    r->big_endian = order != 1;
    if (status == STN_OK && order != 1 && order != 1 << 24) {
        return reader_fail(r, "the byte order is told by an int of value 1; here it is %lld", (long long)order);
    }
    return status;
}

typedef struct element_type {
    int64_t type;
    int32_t node_count; // 0: refused
    int32_t corners;    // 3: triangle, 4: tetrahedron, 0: skipped
    const char *name;
} element_type;

enum { MOST_NODES = 20 };

/// Elements of higher order begin with their corners; the other nodes lie between these.
static const element_type element_types[] = {
    {1, 2, 0, "line"},
    {2, 3, 3, "triangle"},
    {3, 0, 0, "quadrangle"},
    {4, 4, 4, "tetrahedron"},
    {5, 0, 0, "hexahedron"},
    {6, 0, 0, "prism"},
    {7, 0, 0, "pyramid"},
    {8, 3, 0, "line of second order"},
    {9, 6, 3, "triangle of second order"},
    {10, 0, 0, "quadrangle of second order"},
    {11, 10, 4, "tetrahedron of second order"},
    {15, 1, 0, "point"},
    {16, 0, 0, "quadrangle of second order"},
    {21, 10, 3, "triangle of third order"},
    {26, 4, 0, "line of third order"},
    {29, 20, 4, "tetrahedron of third order"},
};

static stn_status find_type(const mesh_reader *r, int64_t type, element_type *found) {
    *found = (element_type){type, 0, 0, "of unknown shape"};
    for (int32_t i = 0; i < STN_COUNT(element_types); i++) {
        if (element_types[i].type == type) {
            *found = element_types[i];
        }
    }
    if (found->node_count == 0) {
        return reader_fail(
            r,
            "element type %lld (%s): triangles (2) and tetrahedra (4), and those of second and third order, are "
            "read; save the mesh with those only",
            (long long)type, found->name);
    }
    return STN_OK;
}

/// The nodes of an element, each `width` bytes in a binary file.
static stn_status read_element(msh_file *f, const element_type *type, int32_t width) {
    mesh_reader *r = &f->r;
    int64_t tags[MOST_NODES] = {0};
    int32_t v[4] = {0};
    stn_status status = reader_integers(r, "node of an element", width, tags, type->node_count);
    if (status != STN_OK || type->corners == 0) {
        return status;
    }
    for (int32_t i = 0; i < type->corners && status == STN_OK; i++) {
        status = msh_find_vertex(f, "an element", tags[i], &v[i]);
    }
    if (status != STN_OK) {
        return status;
    }
    r->curved_count += type->node_count > type->corners;
    return type->corners == 3 ? reader_add_triangle(r, v[0], v[1], v[2]) : reader_add_tetrahedron(r, v);
}

static stn_status skip_tags(mesh_reader *r, int64_t count) {
    stn_status status = STN_OK;
    int64_t ignored = 0;
    if (count < 0) {
        return reader_fail(r, "an element with %lld tags", (long long)count);
    }
    for (int64_t i = 0; i < count && status == STN_OK; i++) {
        status = reader_integer(r, "tag of an element", 4, &ignored);
    }
    return status;
}

/// `count` elements of one type: each its number, its tags, its nodes.
static stn_status read_element_block(msh_file *f, int64_t type, int64_t count, int64_t tags) {
    mesh_reader *r = &f->r;
    element_type found;
    stn_status status = find_type(r, type, &found);
    int32_t width = f->version == 2 ? 4 : SIZE_WIDTH;
    for (int64_t i = 0; i < count && status == STN_OK; i++) {
        int64_t number = 0;
        status = reader_integer(r, "element", width, &number);
        if (status == STN_OK) {
            status = skip_tags(r, tags);
        }
        if (status == STN_OK) {
            status = read_element(f, &found, width);
        }
    }
    return status;
}

/// Text: number type tag_count tags nodes. Binary: headers, each with elements behind it.
static stn_status read_elements_2(msh_file *f) {
    mesh_reader *r = &f->r;
    int64_t count = 0, done = 0;
    stn_status status = reader_text_integer(r, "number of elements", "", &count);
    if (status == STN_OK) {
        status = reader_begin_numbers(&f->r);
    }
    if (status == STN_OK) {
        status = reader_check_count(r, "number of elements", count, 8);
    }
    for (; done < count && status == STN_OK && !r->has_binary; done++) {
        int64_t head[3] = {0};
        element_type found;
        status = reader_integers(r, "element", 4, head, 3);
        if (status == STN_OK) {
            status = find_type(r, head[1], &found);
        }
        if (status == STN_OK) {
            status = skip_tags(r, head[2]);
        }
        if (status == STN_OK) {
            status = read_element(f, &found, 4);
        }
    }
    while (done < count && status == STN_OK) {
        int64_t head[3] = {0}; // type, elements behind this header, tags of each
        status = reader_integers(r, "header of elements", 4, head, 3);
        if (status == STN_OK && (head[1] < 1 || head[1] > count - done)) {
            return reader_fail(r, "a header of %lld elements; %lld are left of those announced", (long long)head[1],
                               (long long)(count - done));
        }
        if (status == STN_OK) {
            status = read_element_block(f, head[0], head[1], head[2]);
        }
        done += head[1];
    }
    return status;
}

static stn_status read_elements_4(msh_file *f) {
    mesh_reader *r = &f->r;
    int64_t head[4] = {0}, done = 0; // blocks, elements, least and largest number
    stn_status status = reader_begin_numbers(&f->r);
    if (status == STN_OK) {
        status = reader_integers(r, "head of $Elements", SIZE_WIDTH, head, 4);
    }
    if (status == STN_OK) {
        status = reader_check_count(r, "number of elements", head[1], f->r.has_binary ? 2 * SIZE_WIDTH : 4);
    }
    for (int64_t i = 0; i < head[0] && status == STN_OK; i++) {
        int64_t block[3] = {0}, count = 0; // dimension, entity, type
        status = reader_integers(r, "block of elements", 4, block, 3);
        if (status == STN_OK) {
            status = reader_integer(r, "elements of a block", SIZE_WIDTH, &count);
        }
        if (status == STN_OK && (count < 0 || count > head[1] - done)) {
            return reader_fail(r, "a block of %lld elements; %lld are left of those announced", (long long)count,
                               (long long)(head[1] - done));
        }
        if (status == STN_OK) {
            status = read_element_block(f, block[2], count, 0);
        }
        done += count;
    }
    if (status == STN_OK && done != head[1]) {
        return reader_fail(r, "the blocks have %lld elements, $Elements announces %lld", (long long)done,
                           (long long)head[1]);
    }
    return status;
}

/// Steps to the end mark of a section, which may hold bytes of any kind: $End and the name.
static stn_status skip_section(mesh_reader *r, mesh_word name) {
    for (;;) {
        const char *dollar = r->at < r->end ? memchr(r->at, '$', (size_t)(r->end - r->at)) : NULL;
        const char *next = dollar != NULL ? dollar : r->end;
        for (; r->at < next; r->at++) {
            r->line += *r->at == '\n';
        }
        if (dollar == NULL) {
            char shown[READER_SHOWN];
            return reader_fail(r, "section %s does not end", reader_show(name, shown));
        }
        size_t left = (size_t)(r->end - dollar);
        if (left >= name.length + 3 && memcmp(dollar, "$End", 4) == 0 &&
            memcmp(dollar + 4, name.text + 1, name.length - 1) == 0) {
            return STN_OK;
        }
        r->at++;
    }
}

/// The section that begins with `name`, up to its end mark.
static stn_status read_section(msh_file *f, mesh_word name) {
    mesh_reader *r = &f->r;
    char shown[READER_SHOWN], found[READER_SHOWN];
    bool format = word_is(name, "$meshformat"), nodes = word_is(name, "$nodes"), elements = word_is(name, "$elements");
    stn_status status = STN_OK;
    if (name.text[0] != '$' || name.length < 2) {
        return reader_fail(r, "expected a section such as $MeshFormat, found %s", reader_show(name, shown));
    }
    if (f->version == 0 && (nodes || elements)) {
        return reader_fail(r, "%s before $MeshFormat", reader_show(name, shown));
    }
    if (word_is(name, "$nod") || word_is(name, "$parametricnodes")) {
        return reader_fail(r, "%s: such nodes are not read; save the mesh in format 4.1", reader_show(name, shown));
    }
    if (format && f->version != 0) {
        return reader_fail(r, "$MeshFormat a second time");
    }
    if (format) {
        status = read_format(f);
    } else if (nodes) {
        status = msh_read_nodes(f);
    } else if (elements) {
        status = f->nodes == NULL  ? reader_fail(r, "$Elements before $Nodes")
                 : f->version == 2 ? read_elements_2(f)
                                   : read_elements_4(f);
    } else if (word_is(name, "$nodedata")) {
        bool read = false;
        status = msh_read_data(f, &read);
        status = status == STN_OK && !read ? skip_section(r, name) : status;
    } else {
        status = skip_section(r, name);
    }
    reader_end_numbers(&f->r);
    if (status != STN_OK) {
        return status;
    }
    mesh_word end = reader_word(r);
    if (end.length != name.length + 3 || memcmp(end.text, "$End", 4) != 0 ||
        memcmp(end.text + 4, name.text + 1, name.length - 1) != 0) {
        return reader_fail(r, "expected the end of %s, found %s", reader_show(name, shown), reader_show(end, found));
    }
    return STN_OK;
}

static stn_status read(void *self, const stn_mesh_source *source, stn_raw_mesh *out, stn_error *err) {
    (void)self;
    msh_file f = {0};
    reader_start(&f.r, source, err);
    stn_status status = STN_OK;
    for (bool more = true; more && status == STN_OK;) {
        mesh_word name = reader_word(&f.r);
        more = name.length > 0;
        status = more ? read_section(&f, name) : STN_OK;
    }
    stn_release(source->context, f.nodes);
    return reader_finish(&f.r, status, out);
}

static bool recognises(const char *bytes, size_t size) {
    return bytes_begin_with(bytes, size, "$MeshFormat");
}

static const char example[] = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n"
                              "0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n"
                              "$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n";

// ------------------------------------------------------------------------------------------------------------ plugin

static const char *const extensions[] = {"msh", NULL};
static const stn_mesh_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    .recognises = recognises,
    .read = read,
    .example = example,
    .example_size = sizeof example - 1,
};
static const stn_plugin_desc msh_plugin = {
    .size = sizeof msh_plugin,
    .kind = STN_KIND_MESH,
    .id = "msh",
    .version = STN_VERSION,
    .summary = "gmsh's MSH 2 and 4.1, text and binary: triangles and tetrahedra",
    .ops = {.mesh = &ops},
};
STN_PLUGIN_LIBRARY(&msh_plugin);
