// SPDX-License-Identifier: Apache-2.0
// STL: triangles, each with its own three corners. A binary file of n triangles is exactly 84 + 50 n bytes long: 80 of
// any content (many begin with "solid"), the count, then per triangle the normal, three corners (floats, little-endian)
// and two bytes more. A text file repeats, in any case and any layout,
//     solid NAME
//     facet normal X Y Z  outer loop  vertex X Y Z  vertex X Y Z  vertex X Y Z  endloop  endfacet
//     endsolid NAME
// Normals are not read: writers leave zeros there, or nan for triangles without area; the corners' order says it.
#include <math.h>
#include <string.h>

#include <stiction/plugin.h>

#include "common/reader.h"

enum { HEADER = 80, BEFORE = HEADER + 4, EACH = 50, NORMAL = 12 };

static stn_status read_binary(mesh_reader *r, int64_t count) {
    r->has_binary = true;
    if (3 * count > STN_MESH_COUNT_MAX) {
        return reader_fail(r, "%lld triangles: at most %d are read", (long long)count, STN_MESH_COUNT_MAX / 3);
    }
    stn_status status = reader_room(r, &r->vertices, 3 * count);
    if (status == STN_OK) {
        status = reader_room(r, &r->triangles, count);
    }
    const char *bytes = r->begin + BEFORE + NORMAL;
    for (int32_t i = 0; i < (int32_t)count && status == STN_OK; i++, bytes += EACH) {
        for (int32_t k = 0; k < 3 && status == STN_OK; k++) {
            double p[3];
            for (int32_t axis = 0; axis < 3; axis++) {
                const char *at = bytes + 12 * k + 4 * axis;
                p[axis] = (double)load_f32(at, false);
                if (!isfinite(p[axis])) {
                    r->at = at;
                    return reader_fail(r, "triangle %d: the coordinate %g is no finite number", i, p[axis]);
                }
            }
            status = reader_add_vertex(r, p);
        }
        if (status == STN_OK) {
            status = reader_add_triangle(r, 3 * i, 3 * i + 1, 3 * i + 2);
        }
    }
    return status;
}

/// One or more solids, one behind the other.
static stn_status read_text(mesh_reader *r) {
    bool inside = false;
    for (;;) {
        mesh_word word = reader_word(r);
        stn_status status = STN_OK;
        if (inside && word_is(word, "facet")) {
            // normal X Y Z outer loop ... endfacet
            static const char *const words[] = {"outer", "loop", "vertex", "vertex", "vertex", "endloop", "endfacet"};
            status = reader_expect(r, "normal");
            for (int32_t i = 0; i < 3; i++) {
                reader_word(r);
            }
            for (int32_t i = 0; i < STN_COUNT(words) && status == STN_OK; i++) {
                double p[3] = {0.0, 0.0, 0.0};
                bool vertex = words[i][0] == 'v';
                status = reader_expect(r, words[i]);
                for (int32_t k = 0; k < 3 && status == STN_OK && vertex; k++) {
                    status = reader_text_real(r, "vertex", "", &p[k]);
                }
                if (status == STN_OK && vertex) {
                    status = reader_add_vertex(r, p);
                }
            }
            int32_t n = r->vertices.count;
            if (status == STN_OK) {
                status = reader_add_triangle(r, n - 3, n - 2, n - 1);
            }
        } else if (word_is(word, inside ? "endsolid" : "solid")) {
            inside = !inside;
            reader_skip_line(r);
        } else if (!inside && word.length == 0) {
            return STN_OK;
        } else {
            char shown[READER_SHOWN];
            status =
                reader_fail(r, "expected %s, found %s", inside ? "\"facet\" or \"endsolid\"" : "\"solid\" or the end",
                            reader_show(word, shown));
        }
        if (status != STN_OK) {
            return status;
        }
    }
}

static stn_status read(void *self, const stn_mesh_source *source, stn_raw_mesh *out, stn_error *err) {
    (void)self;
    mesh_reader r;
    reader_start(&r, source, err);
    size_t size = source->size;
    uint64_t count = size >= BEFORE ? load_u32(source->bytes + HEADER, false) : 0;
    uint64_t fitting = BEFORE + EACH * count;
    // text begins with "solid" and has no zero byte where a binary file has its header and count
    mesh_reader probe = r;
    bool text = word_is(reader_word(&probe), "solid") &&
                memchr(source->bytes, '\0', source->size < BEFORE ? source->size : BEFORE) == NULL;
    stn_status status = STN_OK;
    if (size >= BEFORE && size == fitting) {
        status = read_binary(&r, (int64_t)count);
    } else if (text) {
        status = read_text(&r);
    } else if (size >= BEFORE) {
        status =
            stn_fail(err, STN_ERR_ARGUMENT,
                     "%s: %zu bytes, but a binary STL file of the %llu triangles that byte %d says has %llu; it is "
                     "cut off or damaged",
                     source->path, size, (unsigned long long)count, HEADER, (unsigned long long)fitting);
    } else {
        status = stn_fail(err, STN_ERR_ARGUMENT,
                          "%s: %zu bytes are no STL file: text begins with \"solid\", binary has at least %d bytes",
                          source->path, size, BEFORE);
    }
    return reader_finish(&r, status, out);
}

/// Of a binary file alone; its length says it.
static bool recognises(const char *bytes, size_t size) {
    return size >= BEFORE + EACH && (uint64_t)size == BEFORE + EACH * (uint64_t)load_u32(bytes + HEADER, false);
}

static const char example[] =
    "solid corner\n"
    "facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
    "facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n"
    "facet normal -1 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\n"
    "facet normal 1 1 1\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\n"
    "endsolid corner\n";

// ------------------------------------------------------------------------------------------------------------ plugin

static const char *const extensions[] = {"stl", NULL};
static const stn_mesh_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    .recognises = recognises,
    .read = read,
    .example = example,
    .example_size = sizeof example - 1,
};
static const stn_plugin_desc stl_plugin = {
    .size = sizeof stl_plugin,
    .kind = STN_KIND_MESH,
    .id = "stl",
    .version = STN_VERSION,
    .summary = "STL, text and binary: triangles",
    .ops = {.mesh = &ops},
};
STN_PLUGIN_LIBRARY(&stl_plugin);
