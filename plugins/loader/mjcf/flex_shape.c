// SPDX-License-Identifier: Apache-2.0
// Points and elements of the shapes that <flexcomp> makes, in the order in which MuJoCo numbers them, because pins name
// them by number. A grid is one of points spacing apart about the origin. A box has points on its faces alone, and
// either tetrahedra between its centre and the triangles of the faces, or (dim 2) the triangles of five faces, open
// above. With the box's half edges s, u in [-1, 1]^3 on its surface, and L = max(|u_x|, |u_y|):
//   box: s u,   cylinder: s (L (u_x, u_y)/|(u_x, u_y)|, u_z),   ellipsoid: s u/|u|.
// A disc is a square x of half edges s, moved to s L x/|x| with L = max(|x|, |y|) in metres.
#include <string.h>

#include "flex_shape.h"

static int32_t add_point(flex_shape *shape, double x, double y, double z) {
    double *p = &shape->points[3 * (size_t)shape->point_count];
    p[0] = x;
    p[1] = y;
    p[2] = z;
    return shape->point_count++;
}

static void add_element(flex_shape *shape, int32_t a, int32_t b, int32_t c, int32_t d) {
    const int32_t nodes[4] = {a, b, c, d};
    size_t width = (size_t)shape->dim + 1;
    memcpy(&shape->elements[width * (size_t)shape->element_count++], nodes, width * sizeof *nodes);
}

/// Coordinate of a point of the grid.
static double along(const flex_shape *shape, int k, int32_t i) {
    return shape->spacing[k] * (i - 0.5 * (shape->count[k] - 1));
}

static void make_sheet(flex_shape *shape) {
    const int32_t nx = shape->count[0], ny = shape->count[1];
    const bool disc = shape->type == FLEX_DISC;
    for (int32_t i = 0; i < nx; i++) {
        for (int32_t j = 0; j < ny; j++) {
            double x = along(shape, 0, i), y = along(shape, 1, j);
            (void)add_point(shape, x, y, 0.0);
            if (i == nx - 1 || j == ny - 1) {
                continue;
            }
            int32_t a = i * ny + j, b = a + ny, c = b + 1, d = a + 1;
            if (disc && ((x < -1e-14 && y > -1e-14) || (x > -1e-14 && y < -1e-14))) { // diagonals look to the middle
                add_element(shape, a, b, d, 0);
                add_element(shape, b, c, d, 0);
            } else {
                add_element(shape, a, b, c, 0);
                add_element(shape, a, c, d, 0);
            }
        }
    }
    for (int32_t i = 0; i < shape->point_count && disc; i++) {
        double *p = &shape->points[3 * (size_t)i], length = hypot(p[0], p[1]), reach = fmax(fabs(p[0]), fabs(p[1]));
        for (int k = 0; k < 2 && length > 0.0; k++) {
            p[k] *= 0.5 * shape->spacing[k] * (shape->count[k] - 1) * reach / length;
        }
    }
}

static void make_grid(flex_shape *shape) {
    static const int corners[6][4] = {{0, 3, 1, 7}, {0, 1, 4, 7}, {1, 3, 2, 7},
                                      {1, 2, 6, 7}, {1, 5, 4, 7}, {1, 6, 5, 7}};
    const int32_t ny = shape->count[1], nz = shape->count[2];
    for (int32_t i = 0; i < shape->count[0]; i++) {
        for (int32_t j = 0; j < ny; j++) {
            for (int32_t k = 0; k < nz; k++) {
                int32_t a = add_point(shape, along(shape, 0, i), along(shape, 1, j), along(shape, 2, k));
                const int32_t cube[8] = {a,     a + ny * nz,     a + ny * nz + nz,     a + nz,
                                         a + 1, a + ny * nz + 1, a + ny * nz + nz + 1, a + nz + 1};
                bool cell = i < shape->count[0] - 1 && j < ny - 1 && k < nz - 1;
                for (int t = 0; t < 6 && cell; t++) {
                    const int *c = corners[t];
                    add_element(shape, cube[c[0]], cube[c[1]], cube[c[2]], cube[c[3]]);
                }
            }
        }
    }
}

/// A point of the surface.
static void add_surface_point(flex_shape *shape, int32_t *number, const int32_t at[3]) {
    double u[3], s[3];
    for (int k = 0; k < 3; k++) {
        u[k] = 2.0 * at[k] / (shape->count[k] - 1) - 1.0;
        s[k] = 0.5 * shape->spacing[k] * (shape->count[k] - 1);
    }
    double scale = 1.0, flat = hypot(u[0], u[1]);
    if (shape->type == FLEX_ELLIPSOID) {
        scale = 1.0 / hypot(flat, u[2]);
    } else if (shape->type == FLEX_CYLINDER) {
        scale = flat > 0.0 ? fmax(fabs(u[0]), fabs(u[1])) / flat : 1.0;
    }
    double upwards = shape->type == FLEX_ELLIPSOID ? scale : 1.0;
    number[(at[0] * shape->count[1] + at[1]) * shape->count[2] + at[2]] =
        add_point(shape, s[0] * scale * u[0], s[1] * scale * u[1], s[2] * upwards * u[2]);
}

/// Two triangles of a cell of a face, or the tetrahedra over them; `a`, `b` are the axes of the face, `c` the other.
static void add_face_cell(flex_shape *shape, const int32_t *number, const int32_t at[3], int a, int b, int c) {
    int32_t corner[4]; // counter-clockwise about the axis a x b
    for (int k = 0; k < 4; k++) {
        int32_t p[3] = {at[0], at[1], at[2]};
        p[a] += k == 1 || k == 2;
        p[b] += k >= 2;
        corner[k] = number[(p[0] * shape->count[1] + p[1]) * shape->count[2] + p[2]];
    }
    bool outwards = (at[c] > 0) == ((a + 1) % 3 == b);
    bool anti = shape->dim == 2 && ((c == 1 && at[c] > 0) || (c == 0 && at[c] == 0)); // cut the other way
    int32_t first[3] = {corner[0], corner[1], anti ? corner[3] : corner[2]};
    int32_t second[3] = {anti ? corner[1] : corner[0], corner[2], corner[3]};
    for (int t = 0; t < 2; t++) {
        const int32_t *n = t == 0 ? first : second;
        int32_t y = outwards ? n[1] : n[2], z = outwards ? n[2] : n[1];
        if (shape->dim == 3) {
            add_element(shape, 0, n[0], y, z);
        } else {
            add_element(shape, n[0], y, z, 0);
        }
    }
}

/// The six faces of a box, five of one that is open above: z, y, x, each first at its low end. Edges belong to the
/// first face that has them.
static void make_box(flex_shape *shape, int32_t *number) {
    static const int axes[3][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}}; // the two along the face, then the one across
    const bool open = shape->dim == 2;
    if (!open) {
        (void)add_point(shape, 0.0, 0.0, 0.0);
    }
    for (int pass = 0; pass < 2; pass++) { // points, then elements
        for (int f = 0; f < 3; f++) {
            const int a = axes[f][0], b = axes[f][1], c = axes[f][2];
            for (int end = 0; end < 2; end++) {
                int32_t at[3];
                at[c] = end == 0 ? 0 : shape->count[c] - 1;
                for (at[a] = 0; at[a] < shape->count[a] && !(open && f == 0 && end == 1); at[a]++) {
                    for (at[b] = 0; at[b] < shape->count[b]; at[b]++) {
                        bool top = at[2] == shape->count[2] - 1;
                        bool of_z = f > 0 && (at[2] == 0 || (top && !open));
                        bool of_y = f > 1 && (at[1] == 0 || at[1] == shape->count[1] - 1);
                        if (pass == 0 && !of_z && !of_y) {
                            add_surface_point(shape, number, at);
                        } else if (pass == 1 && at[a] < shape->count[a] - 1 && at[b] < shape->count[b] - 1) {
                            add_face_cell(shape, number, at, a, b, c);
                        }
                    }
                }
            }
        }
    }
}

bool flex_shape_make(robot_reader *reader, flex_shape *shape) {
    const size_t nodes = (size_t)shape->count[0] * (size_t)shape->count[1] * (size_t)shape->count[2];
    shape->points = ROBOT_NEW(reader, 3 * (nodes + 1), double);
    shape->elements = ROBOT_NEW(reader, 6 * 4 * nodes, int32_t); // a node begins one cell, or faces of one
    int32_t *number = ROBOT_NEW(reader, nodes, int32_t);
    if (shape->points == NULL || shape->elements == NULL || number == NULL) {
        return false;
    }
    if (shape->type >= FLEX_BOX && shape->type <= FLEX_ELLIPSOID) {
        make_box(shape, number);
    } else if (shape->dim == 2) {
        make_sheet(shape);
    } else {
        make_grid(shape);
    }
    return true;
}
