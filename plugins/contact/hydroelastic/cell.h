// SPDX-License-Identifier: Apache-2.0
// The elements that patches are cut from: convex pieces of a field in each of which the extent is linear. A tetrahedron
// is one; all tetrahedra over one flat side of a shape have the same gradient and are one together.
#ifndef HYDROELASTIC_CELL_H
#define HYDROELASTIC_CELL_H

#include "field.h"
#include "tree.h"

/// What one cell has at most: a pyramid over 7 sides. Flat sides with more stay tetrahedra.
enum { CELL_CORNERS = 8, CELL_FACES = 8, CELL_EDGES = 14, CELL_GROUPS = 2 };

/// Points in fours, for loops without a rest.
typedef struct four_points {
    double x[4], y[4], z[4];
} four_points;

/// Planes a . x + at = 0, unit a.
typedef struct four_planes {
    double x[4], y[4], z[4], at[4];
} four_planes;

/// From the first corner to the second the first face is on the left, seen from outside.
typedef struct cell_edge {
    uint8_t corner[2], face[2];
} cell_edge;

typedef struct cell {
    const four_points *corners; // (corner_groups) [m]; the last one again where a group is not full
    const four_planes *faces;   // (face_count), positive inside
    const cell_edge *edges;     // (edge_count)
    int32_t corner_count, corner_groups, face_count, edge_count;
    uint32_t low;      // bits of the corners where the extent is not above 0
    bool flat;         // over a flat side
    stn_vec3 gradient; // of the extent [1/m]
    double steep;      // its length
    double offset;     // extent = offset + gradient . x
    double size;       // longest edge [m]
    double rise;       // as in tree_box
} cell;

static inline stn_vec3 cell_corner(const cell *c, int32_t k) {
    const four_points *p = &c->corners[k / 4];
    return stn_vec3_make(p->x[k % 4], p->y[k % 4], p->z[k % 4]);
}

/// The cells of a field and what they are made of.
typedef struct cell_array {
    int32_t count;
    cell *cells;
    four_points *corners;
    four_planes *faces;
    cell_edge *edges;
} cell_array;

/// What becomes one cell: each tetrahedron; those of equal gradient together where they are convex; the same, of
/// something that has flat sides alone.
typedef enum cell_joining { CELL_EACH, CELL_FLAT_SIDES, CELL_ALL_FLAT } cell_joining;
/// `boxes`: (as many as there are tetrahedra), those of the cells are written. STN_ERR_MEMORY; cells_clear after a
/// failure, too.
stn_status cells_of_field(stn_context *context, const field *field, cell_joining join, cell_array *out, tree_box *boxes,
                          stn_error *err);
void cells_clear(stn_context *context, cell_array *cells);

#endif
