// SPDX-License-Identifier: Apache-2.0
// Meshes of boxes, balls, cylinders, sheets and fingers: a grid of lines along each axis, the cells of a finger's
// chambers left out, the corners moved to a ball or a cylinder, and every cell cut into tetrahedra.
#include <math.h>
#include <stdint.h>

#include <stiction/soft.h>

#include "room.h"

static const char *const type_names[STN_SOFT_SHAPE_COUNT] = {"box", "ball", "cylinder", "sheet", "finger"};

// ------------------------------------------------------------------------------------------------------------- checks

static double along(stn_vec3 v, int axis) {
    return axis == 0 ? v.x : (axis == 1 ? v.y : v.z);
}

static int axes_of(const stn_soft_shape *shape) {
    return shape->type == STN_SOFT_SHEET ? 2 : 3;
}

static stn_status check_length(const char *what, double value, stn_error *err) {
    if (!(value >= 1e-50 && value <= 1e50)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s = %g m must be from 1e-50 to 1e50 m", what, value);
    }
    return STN_OK;
}

/// What walls and floor leave for the chambers along x, for each row along y, and for their height.
static stn_status check_finger(const stn_soft_shape *shape, stn_vec3 *chamber, stn_error *err) {
    if (shape->chambers < 1 || shape->rows < 1 || shape->chambers > STN_SOFT_COUNT_MAX ||
        shape->rows > STN_SOFT_COUNT_MAX) {
        return stn_fail(err, STN_ERR_ARGUMENT, "chambers = %d, rows = %d: each must be 1 to %d", shape->chambers,
                        shape->rows, STN_SOFT_COUNT_MAX);
    }
    stn_status status = check_length("wall", shape->wall, err);
    status = status == STN_OK ? check_length("floor", shape->floor, err) : status;
    if (status != STN_OK) {
        return status;
    }
    *chamber = stn_vec3_make((shape->size.x - (shape->chambers + 1.0) * shape->wall) / shape->chambers,
                             (shape->size.y - (shape->rows + 1.0) * shape->wall) / shape->rows,
                             shape->size.z - shape->floor - shape->wall);
    if (!(chamber->x > 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%d walls of %g m leave nothing of the length of %g m for %d chambers",
                        shape->chambers + 1, shape->wall, shape->size.x, shape->chambers);
    }
    if (!(chamber->y > 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%d walls of %g m leave nothing of the width of %g m for %d rows",
                        shape->rows + 1, shape->wall, shape->size.y, shape->rows);
    }
    if (!(chamber->z > 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "floor = %g m and wall = %g m leave nothing of the height of %g m",
                        shape->floor, shape->wall, shape->size.z);
    }
    return STN_OK;
}

static stn_status check_shape(const stn_soft_shape *shape, stn_error *err) {
    if ((int)shape->type < 0 || shape->type >= STN_SOFT_SHAPE_COUNT) {
        return stn_fail(err, STN_ERR_ARGUMENT, "there is no shape of type %d", (int)shape->type);
    }
    static const char *const lengths[] = {"size.x", "size.y", "size.z"};
    for (int k = 0; k < axes_of(shape); k++) {
        stn_status status = check_length(lengths[k], along(shape->size, k), err);
        if (status != STN_OK) {
            return status;
        }
        if (shape->cells[k] < 1 || shape->cells[k] > STN_SOFT_COUNT_MAX) {
            return stn_fail(err, STN_ERR_ARGUMENT, "cells along %c = %d must be 1 to %d", "xyz"[k], shape -> cells[k],
                            STN_SOFT_COUNT_MAX);
        }
    }
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------------------- grid

/// Lines of a grid along its axes; nodes stand where they cross, x fastest.
typedef struct grid {
    int32_t cells[3];
    double *line[3];   // (cells + 1)
    int32_t *block[3]; // (cells) number of the wall or chamber that a cell lies in: even numbers are walls
} grid;

static void release_grid(stn_context *context, grid *g) {
    for (int k = 0; k < 3; k++) {
        stn_release(context, g->line[k]);
        stn_release(context, g->block[k]);
    }
}

/// Lengths along one axis: one part, or wall and chamber in turns; each gets its share of `cells`, at least 1.
typedef struct parts {
    int32_t count;
    double first, between, chamber; // the parts 0, 2, 4, ..., and 1, 3, 5, ... [m]
    double last;
} parts;

static double part_length(const parts *p, int32_t i) {
    double wall = i == 0 ? p->first : (i == p->count - 1 ? p->last : p->between);
    return i % 2 == 1 ? p->chamber : wall;
}

static int32_t part_cells(double length, double whole, int32_t cells) {
    double share = round(length / whole * cells);
    return share < 1.0 ? 1 : (int32_t)share;
}

/// The lines along one axis, from -whole / 2 to whole / 2.
static stn_status make_lines(stn_context *context, const parts *p, double whole, int32_t cells, int axis, grid *g,
                             stn_error *err) {
    int64_t total = 0;
    for (int32_t i = 0; i < p->count; i++) {
        total += part_cells(part_length(p, i), whole, cells);
    }
    if (total > STN_SOFT_COUNT_MAX) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%lld cells along %c, at most %d", (long long)total, "xyz"[axis],
                        STN_SOFT_COUNT_MAX);
    }
    g->cells[axis] = (int32_t)total;
    double *line = g->line[axis] = stn_allocate(context, (size_t)total + 1, sizeof *line);
    int32_t *block = g->block[axis] = stn_allocate(context, (size_t)total, sizeof *block);
    if (line == NULL || block == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %lld cells along %c", (long long)total, "xyz"[axis]);
    }
    double begin = -0.5 * whole;
    for (int32_t i = 0, at = 0; i < p->count; i++) {
        double length = part_length(p, i);
        int32_t share = part_cells(length, whole, cells);
        for (int32_t k = 0; k < share; k++, at++) {
            line[at] = begin + length * k / share;
            block[at] = i;
        }
        begin += length;
    }
    line[total] = 0.5 * whole;
    return STN_OK;
}

static stn_status make_grid(stn_context *context, const stn_soft_shape *shape, grid *g, stn_error *err) {
    parts p[3];
    for (int k = 0; k < 3; k++) {
        p[k] = (parts){.count = 1, .first = along(shape->size, k)};
    }
    if (shape->type == STN_SOFT_FINGER) {
        stn_vec3 chamber = {0};
        stn_status status = check_finger(shape, &chamber, err);
        if (status != STN_OK) {
            return status;
        }
        double wall = shape->wall;
        p[0] = (parts){2 * shape->chambers + 1, wall, wall, chamber.x, wall};
        p[1] = (parts){2 * shape->rows + 1, wall, wall, chamber.y, wall};
        p[2] = (parts){3, shape->floor, wall, chamber.z, wall};
    }
    for (int k = 0; k < axes_of(shape); k++) {
        stn_status status = make_lines(context, &p[k], along(shape->size, k), shape->cells[k], k, g, err);
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

static bool is_hollow(const grid *g, const int32_t cell[3]) {
    return g->block[0][cell[0]] % 2 == 1 && g->block[1][cell[1]] % 2 == 1 && g->block[2][cell[2]] % 2 == 1;
}

// ------------------------------------------------------------------------------------------------------------ elements

static int32_t node_number(const grid *g, const int32_t at[3]) {
    return at[0] + (g->cells[0] + 1) * (at[1] + (g->cells[1] + 1) * at[2]);
}

static bool is_round(const stn_soft_shape *shape) {
    return shape->type == STN_SOFT_BALL || shape->type == STN_SOFT_CYLINDER;
}

/// Elements of one cell.
static int32_t per_cell(const stn_soft_shape *shape) {
    return shape->type == STN_SOFT_SHEET ? 2 : (is_round(shape) ? 6 : 5);
}

/// A regular tetrahedron and one at each of the four corners that it leaves, cells in turns with their mirror image, so
/// that faces fit: of the usual cuts the least stiff in bending. Each corner of the grid belongs to four of them.
static void cut_cell_in_five(const grid *g, const int32_t cell[3], int32_t *tetrahedra) {
    static const int corners[5][4] = {
        {0, 1, 2, 4}, {3, 2, 1, 7}, {5, 1, 4, 7}, {6, 4, 2, 7}, {1, 2, 4, 7}}; // x 1, y 2, z 4
    const int mirrored = (cell[0] + cell[1] + cell[2] + 1) % 2;
    for (int i = 0; i < 20; i++) {
        const int corner = corners[i / 4][i % 4] ^ mirrored;
        const int32_t at[3] = {cell[0] + (corner & 1), cell[1] + (corner >> 1 & 1), cell[2] + (corner >> 2)};
        const int turned = mirrored && i % 4 >= 2 ? i / 4 * 4 + 5 - i % 4 : i; // the last two change places
        tetrahedra[turned] = node_number(g, at);
    }
}

/// In the half of the grid where the coordinate is small, the middle cell of an odd number with it?
static bool in_low_half(const grid *g, const int32_t cell[3], int axis) {
    return cell[axis] < (g->cells[axis] + 1) / 2;
}

/// Along the diagonal that begins at the corner furthest from the middle: each path along the three axes is a
/// tetrahedron. None becomes flat when the cube is rounded off, as those in the corners of five would.
static void cut_cell_in_six(const grid *g, const int32_t cell[3], int32_t *tetrahedra) {
    static const int paths[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    bool mirrored = false;
    int32_t from[3], step[3];
    for (int k = 0; k < 3; k++) {
        bool low = in_low_half(g, cell, k);
        from[k] = low ? cell[k] : cell[k] + 1;
        step[k] = low ? 1 : -1;
        mirrored = mirrored != !low;
    }
    for (int i = 0; i < 6; i++) {
        int32_t at[3] = {from[0], from[1], from[2]}, *t = &tetrahedra[4 * i];
        bool turned = (i >= 3) != mirrored; // an odd path, or an odd number of mirrors
        t[0] = node_number(g, at);
        for (int k = 0; k < 3; k++) {
            at[paths[i][k]] += step[paths[i][k]];
            t[turned && k > 0 ? 4 - k : k + 1] = node_number(g, at);
        }
    }
}

static void cut_sheet_cell(const grid *g, const int32_t cell[3], int32_t *triangles) {
    int32_t corner[4];
    for (int i = 0; i < 4; i++) { // counter-clockwise seen from +z
        const int32_t at[3] = {cell[0] + (i == 1 || i == 2), cell[1] + (i >= 2), 0};
        corner[i] = node_number(g, at);
    }
    // across the way to the middle: mirror images, and parallel within a quarter, without which a shell bends too
    // stiffly
    int first = (2 * cell[0] < g->cells[0]) == (2 * cell[1] < g->cells[1]);
    for (int i = 0; i < 3; i++) {
        triangles[i] = corner[(first + i) % 4];
        triangles[3 + i] = corner[(first + (i == 0 ? 0 : i + 1)) % 4];
    }
}

// --------------------------------------------------------------------------------------------------------------- nodes

/// From the cube [-1, 1]^3 to the ball, or from [-1, 1]^2 x R to the cylinder: each shell max |x_i| = m becomes the
/// sphere, or circle, of radius m. The map alone, without shells, is singular at the edges of the cube.
static stn_vec3 round_off(const stn_soft_shape *shape, stn_vec3 position) {
    int axes = shape->type == STN_SOFT_BALL ? 3 : (shape->type == STN_SOFT_CYLINDER ? 2 : 0);
    double x[3], y[3] = {position.x, position.y, position.z}, m = 0.0;
    for (int k = 0; k < axes; k++) {
        x[k] = 2.0 * y[k] / along(shape->size, k);
        m = fmax(m, fabs(x[k]));
    }
    for (int k = 0; k < axes && m > 0.0; k++) {
        double a = x[(k + 1) % axes] / m, b = axes == 3 ? x[(k + 2) % 3] / m : 0.0;
        y[k] *= sqrt(1.0 - a * a / 2.0 - b * b / 2.0 + a * a * b * b / 3.0);
    }
    return stn_vec3_make(y[0], y[1], y[2]);
}

/// Nodes and elements of a grid, with the numbers that its crossings have; not all are used.
typedef struct pieces {
    int32_t node_count, element_count;
    double *nodes;
    int32_t *elements;
    int32_t *number; // (crossings) of each in the mesh, or -1
} pieces;

/// Cells of a grid that are hollow.
static double count_hollow(const stn_soft_shape *shape, const grid *g) {
    double count = 1.0;
    for (int k = 0; k < axes_of(shape); k++) {
        int32_t odd = 0;
        for (int32_t i = 0; i < g->cells[k]; i++) {
            odd += g->block[k][i] % 2;
        }
        count *= odd;
    }
    return count;
}

static stn_status check_counts(const stn_soft_shape *shape, const grid *g, stn_error *err) {
    bool sheet = shape->type == STN_SOFT_SHEET;
    double elements = (double)g->cells[0] * g->cells[1] * (sheet ? 1.0 : g->cells[2]) * per_cell(shape);
    if (elements > STN_SOFT_COUNT_MAX) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%d x %d x %d cells make %.0f %s, at most %d; use fewer cells",
                        g->cells[0], g->cells[1], sheet ? 1 : g->cells[2], elements, sheet ? "triangles" : "tetrahedra",
                        STN_SOFT_COUNT_MAX);
    }
    return soft_check_room(sheet ? 3 : 4, elements - count_hollow(shape, g) * per_cell(shape), err);
}

static stn_status make_pieces(stn_context *context, const stn_soft_shape *shape, const grid *g, pieces *p,
                              stn_error *err) {
    bool sheet = shape->type == STN_SOFT_SHEET;
    const int32_t layers = sheet ? 1 : g->cells[2], pieces_of_cell = per_cell(shape), width = sheet ? 3 : 4;
    size_t crossings = (size_t)(g->cells[0] + 1) * (size_t)(g->cells[1] + 1) * (size_t)(sheet ? 1 : layers + 1);
    size_t most = (size_t)g->cells[0] * (size_t)g->cells[1] * (size_t)layers * (size_t)pieces_of_cell;
    p->elements = stn_allocate(context, most * (size_t)width, sizeof *p->elements);
    p->nodes = stn_allocate(context, 3 * crossings, sizeof *p->nodes);
    p->number = stn_allocate(context, crossings, sizeof *p->number);
    if (p->elements == NULL || p->nodes == NULL || p->number == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory: %zu elements and %zu nodes need %.0f MiB; use fewer cells",
                        most, crossings, ceil(((double)most * width * 4.0 + (double)crossings * 28.0) / 1048576.0));
    }
    int32_t cell[3];
    for (cell[2] = 0; cell[2] < layers; cell[2]++) {
        for (cell[1] = 0; cell[1] < g->cells[1]; cell[1]++) {
            for (cell[0] = 0; cell[0] < g->cells[0]; cell[0]++) {
                int32_t *elements = &p->elements[(size_t)p->element_count * (size_t)width];
                if (sheet) {
                    cut_sheet_cell(g, cell, elements);
                } else if (is_hollow(g, cell)) {
                    continue;
                } else if (is_round(shape)) {
                    cut_cell_in_six(g, cell, elements);
                } else {
                    cut_cell_in_five(g, cell, elements);
                }
                p->element_count += pieces_of_cell;
            }
        }
    }
    // crossings within chambers are no nodes
    size_t corners = (size_t)p->element_count * (size_t)width;
    for (size_t i = 0; i < corners; i++) {
        p->number[p->elements[i]] = 1;
    }
    for (size_t i = 0; i < crossings; i++) {
        if (p->number[i] == 0) {
            continue;
        }
        size_t row = i / (size_t)(g->cells[0] + 1), columns = (size_t)(g->cells[1] + 1);
        stn_vec3 at = stn_vec3_make(g->line[0][i % (size_t)(g->cells[0] + 1)], g->line[1][row % columns],
                                    sheet ? 0.0 : g->line[2][row / columns]);
        at = round_off(shape, at);
        p->number[i] = p->node_count;
        p->nodes[3 * (size_t)p->node_count] = at.x;
        p->nodes[3 * (size_t)p->node_count + 1] = at.y;
        p->nodes[3 * (size_t)p->node_count++ + 2] = at.z;
    }
    for (size_t i = 0; i < corners; i++) {
        p->elements[i] = p->number[p->elements[i]];
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------------- public

void stn_soft_shape_divide(stn_soft_shape *shape, int32_t count) {
    double longest = 0.0;
    for (int k = 0; k < axes_of(shape); k++) {
        longest = fmax(longest, along(shape->size, k));
    }
    for (int k = 0; k < axes_of(shape); k++) {
        shape->cells[k] = part_cells(along(shape->size, k), longest, count);
    }
}

stn_status stn_soft_mesh_generate(stn_context *context, const stn_soft_shape *shape, stn_soft_mesh **out,
                                  stn_error *err) {
    *out = NULL;
    grid g = {0};
    pieces p = {0};
    stn_status status = check_shape(shape, err);
    if (status == STN_OK) {
        status = make_grid(context, shape, &g, err);
    }
    if (status == STN_OK) {
        status = check_counts(shape, &g, err);
    }
    if (status == STN_OK) {
        status = make_pieces(context, shape, &g, &p, err);
    }
    const char *name = (int)shape->type >= 0 && shape->type < STN_SOFT_SHAPE_COUNT ? type_names[shape->type] : "shape";
    if (status == STN_OK) {
        bool sheet = shape->type == STN_SOFT_SHEET;
        const stn_soft_mesh_data data = {.name = name,
                                         .node_count = p.node_count,
                                         .tetrahedron_count = sheet ? 0 : p.element_count,
                                         .triangle_count = sheet ? p.element_count : 0,
                                         .nodes = p.nodes,
                                         .tetrahedra = p.elements,
                                         .triangles = p.elements};
        status = stn_soft_mesh_create(context, &data, out, err);
    } else {
        stn_error_prefix(err, "soft mesh '%s'", name);
    }
    release_grid(context, &g);
    stn_release(context, p.nodes);
    stn_release(context, p.elements);
    stn_release(context, p.number);
    return status;
}
