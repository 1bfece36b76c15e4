// SPDX-License-Identifier: Apache-2.0
// OBJ: one statement a line, a backslash at its end continues it. `v x y z` gives vertices, `f` polygons whose corners
// v, v/vt, v//vn or v/vt/vn count vertices from 1, or backwards from the latest by -1. Vertices are read first, then
// faces, so that a face may name vertices that come later and its shape is known when it is cut into triangles. Points,
// lines, texture, normals, groups and materials are skipped.
#include <string.h>

#include <stiction/plugin.h>

#include "common/reader.h"

static const char stops[] = "#\\"; // what may follow a word without white space between

static const char *const skipped[] = {"vt",  "vn",    "p",          "l",         "o",        "g",
                                      "s",   "mg",    "usemtl",     "usemap",    "mtllib",   "maplib",
                                      "lod", "bevel", "shadow_obj", "trace_obj", "c_interp", "d_interp"};
static const char *const curved[] = {"vp",   "cstype", "deg",  "bmat", "step", "curv", "curv2", "surf",
                                     "parm", "trim",   "hole", "scrv", "sp",   "end",  "con"};

static bool one_of(mesh_word word, const char *const *list, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (word_is(word, list[i])) {
            return true;
        }
    }
    return false;
}

/// Whether the statement goes on; steps over the line ends that a backslash takes back.
static bool more(mesh_reader *r) {
    for (;;) {
        while (r->at < r->end && is_blank(*r->at)) {
            r->at++;
        }
        const char *p = r->at;
        if (p == r->end || *p == '\n' || *p == '#') {
            return false;
        }
        if (*p != '\\') {
            return true;
        }
        p++;
        p += p < r->end && *p == '\r';
        if (p < r->end && *p != '\n') {
            return true; // no number begins with a backslash: the caller says so
        }
        r->line += p < r->end;
        r->at = p < r->end ? p + 1 : p;
    }
}

static stn_status read_face(mesh_reader *r, int32_t vertices_before) {
    r->corners.count = 0;
    while (more(r)) {
        int64_t given = 0, ignored = 0;
        stn_status status = reader_text_integer(r, "f", "/#\\", &given);
        int64_t index = given < 0 ? vertices_before + given : given - 1;
        if (status == STN_OK && (given == 0 || index < 0 || index >= r->vertices.count)) {
            return reader_fail(
                r, "f names vertex %lld; there are %d, counted from 1, or from -1 backwards from the %d so far",
                (long long)given, r->vertices.count, vertices_before);
        }
        // indices of texture and normal behind slashes are not used: whole numbers, or nothing
        for (int32_t i = 0; i < 2 && status == STN_OK && r->at < r->end && *r->at == '/'; i++) {
            const char *p = ++r->at;
            if (p < r->end && !is_blank(*p) && *p != '\n' && *p != '/') {
                status = reader_text_integer(r, "f", "/#\\", &ignored);
            }
        }
        if (status == STN_OK) {
            status = reader_add_corner(r, (int32_t)index);
        }
        if (status != STN_OK) {
            return status;
        }
    }
    if (r->corners.count < 3) {
        return reader_fail(r, "f has %d corners, a face needs 3", r->corners.count);
    }
    return reader_add_polygon(r, r->corners.items, r->corners.count);
}

/// One of the two walks through the file: vertices, or faces.
static stn_status walk(mesh_reader *r, bool faces) {
    int32_t vertices_before = 0;
    for (mesh_word word = reader_word(r); word.length > 0; word = reader_word(r)) {
        stn_status status = STN_OK;
        bool vertex = word_is(word, "v"), face = word_is(word, "f") || word_is(word, "fo");
        if (vertex && !faces) { // x y z, then a weight, a colour or both, which are only checked
            double p[8];
            int32_t count = 0;
            while (status == STN_OK && more(r)) {
                if (count == STN_COUNT(p)) {
                    return reader_fail(r, "v has more than %d numbers", STN_COUNT(p));
                }
                status = reader_text_real(r, "v", stops, &p[count++]);
            }
            if (status == STN_OK && count < 3) {
                return reader_fail(r, "v has %d numbers, x y z are needed", count);
            }
            if (status == STN_OK) {
                status = reader_add_vertex(r, p);
            }
        } else if (face && faces) {
            status = read_face(r, vertices_before);
        } else if (!vertex && !face && !faces && word.text[0] != '#' && !one_of(word, skipped, STN_COUNT(skipped))) {
            char shown[READER_SHOWN];
            reader_show(word, shown);
            status = one_of(word, curved, STN_COUNT(curved))
                         ? reader_fail(r, "%s: curved surfaces are not read; save the mesh as polygons", shown)
                         : reader_fail(r, "unknown statement %s", shown);
        }
        if (status != STN_OK) {
            return status;
        }
        vertices_before += vertex;
        // the rest of the statement; in a comment a last backslash is but text
        const char *first = word.text;
        for (bool continued = true; continued && r->at < r->end; first = r->at) {
            reader_skip_line(r);
            const char *last = r->at - 1; // the line end, or the last byte of the file
            last -= last > first && last[-1] == '\r';
            continued = last > first && last[-1] == '\\' && memchr(first, '#', (size_t)(last - first)) == NULL;
        }
    }
    return STN_OK;
}

static stn_status read(void *self, const stn_mesh_source *source, stn_raw_mesh *out, stn_error *err) {
    (void)self;
    mesh_reader r;
    reader_start(&r, source, err);
    const char *first = r.at;
    stn_status status = walk(&r, false);
    if (status == STN_OK) {
        r.at = first;
        r.line = 1;
        status = walk(&r, true);
    }
    return reader_finish(&r, status, out);
}

static const char example[] = "# a corner of a cube\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 -1\n"
                              "f 1//1 3//1 2//1\nf 1 2 4\nf 1 4 3\nf -3 -2 -1\n";

// ------------------------------------------------------------------------------------------------------------ plugin

static const char *const extensions[] = {"obj", NULL};
static const stn_mesh_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    .read = read,
    .example = example,
    .example_size = sizeof example - 1,
};
static const stn_plugin_desc obj_plugin = {
    .size = sizeof obj_plugin,
    .kind = STN_KIND_MESH,
    .id = "obj",
    .version = STN_VERSION,
    .summary = "OBJ: polygons",
    .ops = {.mesh = &ops},
};
STN_PLUGIN_LIBRARY(&obj_plugin);
