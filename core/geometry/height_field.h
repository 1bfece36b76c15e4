// SPDX-License-Identifier: Apache-2.0
// Walking over the cells of a height field.
#ifndef STICTION_CORE_GEOMETRY_HEIGHT_FIELD_H
#define STICTION_CORE_GEOMETRY_HEIGHT_FIELD_H

#include <stiction/mesh_query.h>

/// A ray seen from above, in units of cells: strips of cells across the axis along which it crosses more of them.
typedef struct grid_walk {
    const stn_mesh *mesh;
    bool along_rows;           // strips are rows, else columns
    double strip0, strip_rate; // coordinate across strips, and per length of the ray
    double cell0, cell_rate;   // along them
    double z, z_rate, length, slack;
    int32_t strip, last, step;
    bool done;
} grid_walk;

/// The cells that the ray may touch in one strip, and the heights between which it runs there.
typedef struct grid_strip {
    stn_grid_cells cells;
    double low, high;
} grid_strip;

/// `start` and the end after `length` lie within the bounds of the mesh, or nearly.
grid_walk grid_walk_begin(const stn_mesh *mesh, stn_vec3 start, stn_vec3 direction, double length);
/// The next strip along the ray; false behind the last.
bool grid_walk_next(grid_walk *walk, grid_strip *strip);
/// Does some part of the cell lie between two heights?
bool grid_cell_reaches(const stn_mesh *mesh, int32_t row, int32_t column, double low, double high);

#endif
