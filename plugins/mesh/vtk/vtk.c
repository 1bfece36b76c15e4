// SPDX-License-Identifier: Apache-2.0
// Legacy VTK files, versions 1 to 5.1: three lines of text (version, title, ASCII or BINARY), then sections that each
// begin with a line of text; in a binary file the numbers behind it are big-endian.
//   DATASET UNSTRUCTURED_GRID   POINTS n type, CELLS, CELL_TYPES: tetrahedra (10), triangles (5), and those of higher
//   order DATASET POLYDATA            POINTS n type, POLYGONS, TRIANGLE_STRIPS
// Cells without area (vertices, lines) are skipped. Of the data of points and cells one array is read: vtk_data.c.
#include <stiction/plugin.h>

#include "vtk.h"

static const vtk_type types[] = {
    {"char", 1, true},           {"unsigned_char", 1, true}, {"signed_char", 1, true},  {"short", 2, true},
    {"unsigned_short", 2, true}, {"int", 4, true},           {"unsigned_int", 4, true}, {"vtkidtype", 4, true},
    {"long", 8, true},           {"unsigned_long", 8, true}, {"vtktypeint64", 8, true}, {"vtktypeuint64", 8, true},
    {"float", 4, false},         {"double", 8, false},       {"bit", 0, true},          {"string", 0, false},
};

stn_status vtk_read_type(vtk_file *f, vtk_type *type) {
    mesh_word word = reader_word(&f->r);
    for (int32_t i = 0; i < STN_COUNT(types); i++) {
        if (word_is(word, types[i].name)) {
            *type = types[i];
            return STN_OK;
        }
    }
    char shown[READER_SHOWN];
    return reader_fail(&f->r, "%s is no data type", reader_show(word, shown));
}

static stn_status read_points(vtk_file *f) {
    mesh_reader *r = &f->r;
    int64_t count = 0;
    vtk_type type = {0};
    if (f->has_points) {
        return reader_fail(r, "POINTS a second time");
    }
    stn_status status = reader_integer(r, "POINTS", 4, &count);
    if (status == STN_OK) {
        status = vtk_read_type(f, &type);
    }
    if (status == STN_OK && (type.whole || type.width == 0)) {
        return reader_fail(r, "POINTS of type %s: float and double are read", type.name);
    }
    if (status == STN_OK) {
        status = reader_begin_numbers(&f->r);
    }
    if (status == STN_OK) {
        status = reader_check_count(r, "POINTS", count, f->r.has_binary ? 3 * type.width : 6);
    }
    if (status == STN_OK) {
        status = reader_room(r, &r->vertices, count);
    }
    for (int64_t i = 0; i < count && status == STN_OK; i++) {
        double p[3] = {0.0, 0.0, 0.0};
        for (int32_t k = 0; k < 3 && status == STN_OK; k++) {
            status = reader_real(r, "POINTS", type.width, &p[k]);
        }
        if (status == STN_OK) {
            status = reader_add_vertex(r, p);
        }
    }
    reader_end_numbers(&f->r);
    f->components = 3;
    f->has_points = true;
    return status;
}

stn_status vtk_skip_values(vtk_file *f, const vtk_type *type, int64_t count) {
    mesh_reader *r = &f->r;
    bool text = type->width == 0 && !type->whole;
    if (r->has_binary) {
        if (text) {
            return reader_fail(r, "a binary field of texts is not read; save the mesh without it");
        }
        stn_status status = reader_line_end(r);
        int64_t bytes = type->width == 0 ? (count + 7) / 8 : count * type->width;
        return status == STN_OK ? reader_skip_bytes(r, "field", bytes) : status;
    }
    if (text) {
        reader_skip_line(r);
    }
    for (int64_t i = 0; i < count; i++) {
        bool ended = text ? r->at == r->end : reader_word(r).length == 0;
        if (ended) {
            return reader_fail(r, "the file ends in a field of %lld values after %lld", (long long)count, (long long)i);
        }
        if (text) {
            reader_skip_line(r);
        }
    }
    return STN_OK;
}

/// Lines up to an empty one, but the names of components, one a line, may be empty.
void vtk_skip_metadata(vtk_file *f) {
    mesh_reader *r = &f->r;
    reader_skip_line(r);
    while (r->at < r->end) {
        const char *p = r->at;
        mesh_reader line = *r;
        reader_skip_line(r);
        while (p < r->at && (is_blank(*p) || *p == '\n')) {
            p++;
        }
        if (p == r->at) {
            return;
        }
        bool names = word_is(reader_word(&line), "component_names");
        for (int64_t i = 0; names && i < f->components && r->at < r->end; i++) {
            reader_skip_line(r);
        }
    }
}

/// Its name, a count, and arrays: name, components, tuples, type, and the numbers; arrays of texts have one a line.
static stn_status skip_field(vtk_file *f) {
    mesh_reader *r = &f->r;
    int64_t count = 0, components = 0, tuples = 0;
    vtk_type type = {0};
    reader_word(r);
    stn_status status = reader_integer(r, "arrays of a field", 4, &count);
    while (count > 0 && status == STN_OK) {
        mesh_word word = reader_word(r);
        if (word_is(word, "metadata")) {
            vtk_skip_metadata(f);
            continue;
        }
        count--;
        status = reader_integer(r, "components of a field", 4, &components);
        if (status == STN_OK) {
            status = reader_integer(r, "tuples of a field", 4, &tuples);
        }
        if (status == STN_OK) {
            status = vtk_read_type(f, &type);
        }
        if (status != STN_OK) {
            return status;
        }
        if (components < 0 || components > STN_MESH_COUNT_MAX || tuples < 0 || tuples > STN_MESH_COUNT_MAX) {
            return reader_fail(r, "a field of %lld x %lld", (long long)tuples, (long long)components);
        }
        f->components = components;
        status = vtk_skip_values(f, &type, components * tuples);
    }
    return status;
}

static stn_status read_header(vtk_file *f) {
    static const char *const magic[] = {"#", "vtk", "datafile", "version"};
    mesh_reader *r = &f->r;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < STN_COUNT(magic) && status == STN_OK; i++) {
        status = reader_expect(r, magic[i]);
    }
    if (status == STN_OK) {
        status = reader_text_integer(r, "version", ".", &f->major);
    }
    if (status != STN_OK) {
        return status;
    }
    if (f->major < 1 || f->major > 5) {
        return reader_fail(r, "version %lld: versions 1 to 5 are read", (long long)f->major);
    }
    reader_skip_line(r);
    reader_skip_line(r); // the title
    char shown[READER_SHOWN];
    mesh_word word = reader_word(r);
    f->r.has_binary = word_is(word, "binary");
    if (!f->r.has_binary && !word_is(word, "ascii")) {
        return reader_fail(r, "expected ASCII or BINARY, found %s", reader_show(word, shown));
    }
    r->big_endian = r->has_binary;
    status = reader_expect(r, "dataset");
    word = reader_word(r);
    f->grid = word_is(word, "unstructured_grid");
    if (status == STN_OK && !f->grid && !word_is(word, "polydata")) {
        return reader_fail(r, "dataset %s: UNSTRUCTURED_GRID and POLYDATA are read", reader_show(word, shown));
    }
    return status;
}

typedef struct section {
    const char *name;
    bool grid, surface; // datasets that may have it
    stn_status (*read)(vtk_file *f);
} section;

static const section sections[] = {
    {"points", true, true, read_points},          {"field", true, true, skip_field},
    {"cells", true, false, vtk_read_grid_cells},  {"cell_types", true, false, vtk_read_cell_types},
    {"polygons", false, true, vtk_read_polygons}, {"triangle_strips", false, true, vtk_read_strips},
    {"vertices", false, true, vtk_skip_cells},    {"lines", false, true, vtk_skip_cells},
};

/// Sections of the dataset; data of points and cells come last.
static stn_status read_sections(vtk_file *f) {
    mesh_word word = reader_word(&f->r);
    while (word.length > 0 && !word_is(word, "point_data") && !word_is(word, "cell_data")) {
        if (word_is(word, "metadata")) {
            vtk_skip_metadata(f);
            word = reader_word(&f->r);
            continue;
        }
        const section *s = NULL;
        for (int32_t i = 0; i < STN_COUNT(sections) && s == NULL; i++) {
            bool may = f->grid ? sections[i].grid : sections[i].surface;
            s = may && word_is(word, sections[i].name) ? &sections[i] : NULL;
        }
        if (s == NULL) {
            char shown[READER_SHOWN];
            return reader_fail(&f->r, "%s: no section of %s", reader_show(word, shown),
                               f->grid ? "UNSTRUCTURED_GRID" : "POLYDATA");
        }
        stn_status status = s->read(f);
        if (status != STN_OK) {
            return status;
        }
        word = reader_word(&f->r);
    }
    if (f->grid_cells.offset != NULL) {
        return reader_fail(&f->r, "CELLS without CELL_TYPES behind them");
    }
    return vtk_read_data(f, word);
}

static stn_status read(void *self, const stn_mesh_source *source, stn_raw_mesh *out, stn_error *err) {
    (void)self;
    vtk_file f = {0};
    reader_start(&f.r, source, err);
    stn_status status = read_header(&f);
    if (status == STN_OK) {
        status = read_sections(&f);
    }
    vtk_clear_cells(&f, &f.grid_cells);
    return reader_finish(&f.r, status, out);
}

static bool recognises(const char *bytes, size_t size) {
    return bytes_begin_with(bytes, size, "# vtk DataFile");
}

static const char example[] = "# vtk DataFile Version 3.0\na corner of a cube\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                              "POINTS 5 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n0.2 0.2 0.2\n"
                              "CELLS 4 20\n4 0 1 2 4\n4 0 3 1 4\n4 0 2 3 4\n4 1 3 2 4\n"
                              "CELL_TYPES 4\n10\n10\n10\n10\n"
                              "POINT_DATA 5\nSCALARS extent double 1\nLOOKUP_TABLE default\n0 0 0 0 1\n";

// ------------------------------------------------------------------------------------------------------------ plugin

static const char *const extensions[] = {"vtk", NULL};
static const stn_mesh_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    .recognises = recognises,
    .read = read,
    .example = example,
    .example_size = sizeof example - 1,
};
static const stn_plugin_desc vtk_plugin = {
    .size = sizeof vtk_plugin,
    .kind = STN_KIND_MESH,
    .id = "vtk",
    .version = STN_VERSION,
    .summary = "legacy VTK, text and binary: surfaces and tetrahedra",
    .ops = {.mesh = &ops},
};
STN_PLUGIN_LIBRARY(&vtk_plugin);
