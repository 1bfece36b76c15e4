// SPDX-License-Identifier: Apache-2.0
// Parts of the reader of legacy VTK files: cells (vtk_cells.c), data (vtk_data.c) and everything else (vtk.c).
#ifndef STICTION_PLUGINS_MESH_VTK_H
#define STICTION_PLUGINS_MESH_VTK_H

#include "common/reader.h"

/// Cell i has the points index[offset[i]] ... index[offset[i + 1] - 1].
typedef struct vtk_cells {
    int32_t count;
    int32_t *offset, *index;
} vtk_cells;

typedef struct vtk_file {
    mesh_reader r;
    int64_t major;      // version
    int64_t components; // of the latest array
    bool grid, has_points;
    vtk_cells grid_cells; // until CELL_TYPES tells what they are
} vtk_file;

typedef struct vtk_type {
    const char *name;
    int32_t width; // bytes in a binary file; 0: not of one size
    bool whole;
} vtk_type;

/// The name of a data type.
stn_status vtk_read_type(vtk_file *f, vtk_type *type);

/// Steps over so many numbers, or texts of a line each, of an array.
stn_status vtk_skip_values(vtk_file *f, const vtk_type *type, int64_t count);

/// What follows `word`, which is POINT_DATA or CELL_DATA, up to the end of the file.
stn_status vtk_read_data(vtk_file *f, mesh_word word);

/// What follows the word METADATA behind an array.
void vtk_skip_metadata(vtk_file *f);

/// What follows the word that opens a section of cells.
stn_status vtk_read_polygons(vtk_file *f);
stn_status vtk_read_strips(vtk_file *f);
stn_status vtk_skip_cells(vtk_file *f);
stn_status vtk_read_grid_cells(vtk_file *f);
stn_status vtk_read_cell_types(vtk_file *f);
void vtk_clear_cells(vtk_file *f, vtk_cells *cells);

#endif
