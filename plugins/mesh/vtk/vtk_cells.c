// SPDX-License-Identifier: Apache-2.0
// Cells of legacy VTK files, in both layouts:
//   up to version 4   CELLS n numbers: for every cell the number of its points, then the points
//   from version 5    CELLS n+1 points, OFFSETS type: where each cell begins, CONNECTIVITY type: all the points
// POLYGONS and the others are laid out like CELLS.
#include "vtk.h"

void vtk_clear_cells(vtk_file *f, vtk_cells *c) {
    stn_release(f->r.context, c->offset);
    stn_release(f->r.context, c->index);
    *c = (vtk_cells){0};
}

static stn_status read_index(mesh_reader *r, int32_t width, int32_t *index) {
    int64_t value = 0;
    stn_status status = reader_integer(r, "point of a cell", width, &value);
    if (status == STN_OK && (value < 0 || value >= r->vertices.count)) {
        return reader_fail(r, "a cell names point %lld; there are %d, counted from 0", (long long)value,
                           r->vertices.count);
    }
    *index = (int32_t)value;
    return status;
}

/// A cell needs so many points, and the cells together have no more than their section says.
static stn_status check_cell(const mesh_reader *r, int64_t points, int32_t least, int64_t used, int64_t total) {
    if (points < least) {
        return reader_fail(r, "a cell of %lld points needs %d", (long long)points, least);
    }
    if (points > total - used) {
        return reader_fail(r, "the cells have more points than their section says");
    }
    return STN_OK;
}

/// Up to version 4.
static stn_status read_counted(vtk_file *f, int64_t total, int32_t least, vtk_cells *c) {
    mesh_reader *r = &f->r;
    int32_t used = 0;
    stn_status status = reader_begin_numbers(&f->r);
    for (int32_t i = 0; i < c->count && status == STN_OK; i++) {
        int64_t points = 0;
        status = reader_integer(r, "points in a cell", 4, &points);
        if (status == STN_OK) {
            status = check_cell(r, points, least, used, total);
        }
        for (int64_t k = 0; k < points && status == STN_OK; k++) {
            status = read_index(r, 4, &c->index[used++]);
        }
        c->offset[i + 1] = used;
    }
    reader_end_numbers(&f->r);
    if (status == STN_OK && used != total) {
        return reader_fail(r, "the cells have %d numbers less than their section says", (int32_t)total - used);
    }
    return status;
}

/// The line that opens one of the two arrays of version 5.
static stn_status begin_array(vtk_file *f, const char *name, int32_t *width) {
    vtk_type type = {0};
    mesh_word word = reader_word(&f->r);
    if (word_is(word, "metadata")) { // of the array before
        vtk_skip_metadata(f);
        word = reader_word(&f->r);
    }
    if (!word_is(word, name)) {
        char shown[READER_SHOWN];
        return reader_fail(&f->r, "expected \"%s\", found %s", name, reader_show(word, shown));
    }
    stn_status status = vtk_read_type(f, &type);
    if (status == STN_OK && (type.width < 4 || !type.whole)) {
        return reader_fail(&f->r, "%s of type %s: whole numbers of 4 or 8 bytes are read", name, type.name);
    }
    *width = type.width;
    return status == STN_OK ? reader_begin_numbers(&f->r) : status;
}

/// From version 5 on.
static stn_status read_offsets(vtk_file *f, int64_t total, int32_t least, vtk_cells *c) {
    mesh_reader *r = &f->r;
    int32_t width = 0;
    stn_status status = begin_array(f, "offsets", &width);
    for (int32_t i = 0; i <= c->count && status == STN_OK; i++) {
        int64_t offset = 0, before = i > 0 ? c->offset[i - 1] : 0;
        status = reader_integer(r, "OFFSETS", width, &offset);
        if (status == STN_OK && (i == 0 ? offset != 0 : offset < before)) {
            status = reader_fail(r, "OFFSETS: %lld must %s", (long long)offset, i == 0 ? "be 0" : "not decrease");
        }
        if (status == STN_OK && i > 0) {
            status = check_cell(r, offset - before, least, before, total);
        }
        c->offset[i] = status == STN_OK ? (int32_t)offset : 0;
    }
    reader_end_numbers(&f->r);
    if (status == STN_OK && c->offset[c->count] != total) {
        return reader_fail(r, "OFFSETS end with %d, CONNECTIVITY has %lld", c->offset[c->count], (long long)total);
    }
    if (status == STN_OK) {
        status = begin_array(f, "connectivity", &width);
    }
    for (int64_t i = 0; i < total && status == STN_OK; i++) {
        status = read_index(r, width, &c->index[i]);
    }
    reader_end_numbers(&f->r);
    return status;
}

/// Cells of at least so many points each; `c` is empty on failure.
static stn_status read_cells(vtk_file *f, int32_t least, vtk_cells *c) {
    mesh_reader *r = &f->r;
    int64_t count = 0, numbers = 0;
    f->components = 1;
    if (!f->has_points) {
        return reader_fail(r, "cells before POINTS");
    }
    stn_status status = reader_integer(r, "number of cells", 4, &count);
    if (status == STN_OK) {
        status = reader_integer(r, "size of the cells", 4, &numbers);
    }
    int64_t least_bytes = f->r.has_binary ? 4 : 2;
    if (status == STN_OK) {
        status = reader_check_count(r, "number of cells", count, least_bytes);
    }
    if (status == STN_OK) {
        status = reader_check_count(r, "size of the cells", numbers, least_bytes);
    }
    bool offsets = f->major >= 5;
    if (status != STN_OK || (offsets && count == 0)) {
        return status;
    }
    int64_t total = offsets ? numbers : numbers - count; // points of all cells
    c->count = (int32_t)(offsets ? count - 1 : count);
    c->offset = stn_allocate(r->context, (size_t)c->count + 1, sizeof *c->offset);
    c->index = stn_allocate(r->context, total > 0 ? (size_t)total : 0, sizeof *c->index);
    if (c->offset == NULL || c->index == NULL) {
        status = reader_no_memory(r);
    } else {
        status = offsets ? read_offsets(f, total, least, c) : read_counted(f, total, least, c);
    }
    if (status != STN_OK) {
        vtk_clear_cells(f, c);
    }
    return status;
}

stn_status vtk_read_polygons(vtk_file *f) {
    vtk_cells c = {0};
    stn_status status = read_cells(f, 3, &c);
    for (int32_t i = 0; i < c.count && status == STN_OK; i++) {
        status = reader_add_polygon(&f->r, c.index + c.offset[i], c.offset[i + 1] - c.offset[i]);
    }
    vtk_clear_cells(f, &c);
    return status;
}

/// Every three points in a row are a triangle, every second one turned round.
stn_status vtk_read_strips(vtk_file *f) {
    vtk_cells c = {0};
    stn_status status = read_cells(f, 3, &c);
    for (int32_t i = 0; i < c.count && status == STN_OK; i++) {
        for (int32_t k = c.offset[i]; k + 2 < c.offset[i + 1] && status == STN_OK; k++) {
            bool odd = (k - c.offset[i]) % 2 != 0;
            status = reader_add_triangle(&f->r, c.index[odd ? k + 1 : k], c.index[odd ? k : k + 1], c.index[k + 2]);
        }
    }
    vtk_clear_cells(f, &c);
    return status;
}

stn_status vtk_skip_cells(vtk_file *f) {
    vtk_cells c = {0};
    stn_status status = read_cells(f, 0, &c);
    vtk_clear_cells(f, &c);
    return status;
}

stn_status vtk_read_grid_cells(vtk_file *f) {
    if (f->grid_cells.offset != NULL) {
        return reader_fail(&f->r, "CELLS a second time");
    }
    return read_cells(f, 0, &f->grid_cells);
}

static const char *cell_name(int64_t type) {
    static const char *const names[] = {"empty",       "vertex",         "poly-vertex", "line",  "poly-line",
                                        "triangle",    "triangle strip", "polygon",     "pixel", "quad",
                                        "tetrahedron", "voxel",          "hexahedron",  "wedge", "pyramid"};
    static const char *const quadratic[] = {"quadratic edge", "quadratic triangle", "quadratic quad",
                                            "quadratic tetrahedron", "quadratic hexahedron"};
    if (type >= 0 && type < STN_COUNT(names)) {
        return names[type];
    }
    return type >= 21 && type < 21 + STN_COUNT(quadratic) ? quadratic[type - 21] : "unknown";
}

/// Cells of higher order begin with their corners; the other points lie between these.
stn_status vtk_read_cell_types(vtk_file *f) {
    enum { EMPTY = 0, POLY_LINE = 4, TRIANGLE = 5, TETRAHEDRON = 10, QUADRATIC_EDGE = 21 };
    enum { QUADRATIC_TRIANGLE = 22, QUADRATIC_TETRAHEDRON = 24, LAGRANGE_TRIANGLE = 69, LAGRANGE_TETRAHEDRON = 71 };
    mesh_reader *r = &f->r;
    const vtk_cells *c = &f->grid_cells;
    int64_t count = 0;
    stn_status status = reader_integer(r, "CELL_TYPES", 4, &count);
    if (status == STN_OK && (c->offset == NULL || count != c->count)) {
        return reader_fail(r, "CELL_TYPES of %lld cells; CELLS before it have %d", (long long)count, c->count);
    }
    if (status == STN_OK) {
        status = reader_begin_numbers(&f->r);
    }
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        const int32_t *points = c->index + c->offset[i];
        int32_t point_count = c->offset[i + 1] - c->offset[i];
        int64_t type = 0;
        status = reader_integer(r, "CELL_TYPES", 4, &type);
        if (status != STN_OK || (type >= EMPTY && type <= POLY_LINE) || type == QUADRATIC_EDGE) {
            continue;
        }
        bool triangle = type == TRIANGLE || type == QUADRATIC_TRIANGLE || type == LAGRANGE_TRIANGLE;
        bool tetrahedron = type == TETRAHEDRON || type == QUADRATIC_TETRAHEDRON || type == LAGRANGE_TETRAHEDRON;
        bool curved = type != TRIANGLE && type != TETRAHEDRON, lagrange = type >= LAGRANGE_TRIANGLE;
        int32_t corners = triangle ? 3 : 4, wanted = curved && !lagrange ? (triangle ? 6 : 10) : corners;
        if (!triangle && !tetrahedron) {
            status = reader_fail(
                r, "cell type %lld (%s): triangles (5) and tetrahedra (10) are read; save the mesh as those",
                (long long)type, cell_name(type));
        } else if (lagrange ? point_count < wanted : point_count != wanted) {
            status = reader_fail(r, "a %s of %d points needs %d", cell_name(type), point_count, wanted);
        } else {
            r->curved_count += curved;
            status =
                triangle ? reader_add_triangle(r, points[0], points[1], points[2]) : reader_add_tetrahedron(r, points);
        }
    }
    reader_end_numbers(&f->r);
    vtk_clear_cells(f, &f->grid_cells);
    return status;
}
