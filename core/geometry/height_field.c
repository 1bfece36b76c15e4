// SPDX-License-Identifier: Apache-2.0
// Height fields: meshes over a regular grid, whose cells are found by division.
#include "geometry/height_field.h"

#include "geometry/mesh_build.h"

/// Shares of a cell by which ranges are wider than computed, so that rounding loses no cell.
static const double cell_slack = 1e-9;

static const double least_length = 1e-50, largest_length = 1e50; // [m]

// ------------------------------------------------------------------------------------------------------- making

static stn_status check_spec(const stn_height_field_spec *spec, stn_error *err) {
    if (spec->rows < 2 || spec->columns < 2) {
        return stn_fail(err, STN_ERR_ARGUMENT, "height field: %d rows x %d columns of heights, must be >= 2 each",
                        spec->rows, spec->columns);
    }
    if ((int64_t)spec->rows * spec->columns > MESH_COUNT_MAX / 2) {
        return stn_fail(err, STN_ERR_ARGUMENT, "height field: %d rows x %d columns of heights, must be %d at most",
                        spec->rows, spec->columns, MESH_COUNT_MAX / 2);
    }
    const double size[2] = {spec->size_x, spec->size_y};
    for (int32_t i = 0; i < 2; i++) {
        if (!(size[i] >= least_length && size[i] <= largest_length)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "height field: size %c = %g m must be %g to %g m", "xy"[i], size[i],
                            least_length, largest_length);
        }
    }
    if (spec->heights == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "height field: no array of heights");
    }
    for (int32_t r = 0; r < spec->rows; r++) {
        for (int32_t c = 0; c < spec->columns; c++) {
            double z = spec->heights[(size_t)r * (size_t)spec->columns + (size_t)c];
            if (!(fabs(z) <= largest_length)) {
                return stn_fail(err, STN_ERR_ARGUMENT,
                                "height field: height in row %d, column %d (counted from 0) = %g m must be finite and "
                                "within %g m",
                                r, c, z, largest_length);
            }
        }
    }
    return STN_OK;
}

static void fill_vertices(const stn_height_field_spec *spec, const stn_grid *grid, double *vertices) {
    for (int32_t r = 0; r < grid->rows; r++) {
        for (int32_t c = 0; c < grid->columns; c++) {
            double *p = vertices + 3 * ((size_t)r * (size_t)grid->columns + (size_t)c);
            p[0] = c + 1 < grid->columns ? grid->x + c * grid->dx : -grid->x; // the border lies on it exactly
            p[1] = r + 1 < grid->rows ? grid->y + r * grid->dy : -grid->y;
            p[2] = spec->heights[(size_t)r * (size_t)grid->columns + (size_t)c];
        }
    }
}

static void fill_triangles(const stn_grid *grid, int32_t *triangles) {
    for (int32_t r = 0; r + 1 < grid->rows; r++) {
        for (int32_t c = 0; c + 1 < grid->columns; c++) {
            int32_t low = r * grid->columns + c, high = low + grid->columns;
            const int32_t corners[6] = {low, low + 1, high + 1, low, high + 1, high};
            for (int32_t k = 0; k < 6; k++) {
                *triangles++ = corners[k];
            }
        }
    }
}

static stn_mesh_facts facts_of(const raw_mesh *mesh, const stn_grid *grid) {
    stn_aabb bounds = mesh_bounds(mesh);
    mesh_integrals integrals = mesh_integrate(mesh, &bounds, false);
    stn_mesh_facts facts = {.vertex_count = mesh->vertex_count,
                            .triangle_count = mesh->triangle_count,
                            .open_edge_count = 2 * (grid->rows - 1) + 2 * (grid->columns - 1),
                            .area = integrals.area,
                            .volume = integrals.volume,
                            .unit = 1.0,
                            .up_axis = 'z',
                            .instance_count = 1};
    return facts;
}

stn_status stn_mesh_create_height_field(stn_context *context, const stn_height_field_spec *spec, stn_mesh **out,
                                        stn_error *err) {
    *out = NULL;
    stn_status status = check_spec(spec, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_grid grid = {spec->rows,
                           spec->columns,
                           -0.5 * spec->size_x,
                           -0.5 * spec->size_y,
                           spec->size_x / (spec->columns - 1),
                           spec->size_y / (spec->rows - 1)};
    int32_t cells = (grid.rows - 1) * (grid.columns - 1);
    raw_mesh mesh = {.context = context, .vertex_count = grid.rows * grid.columns, .triangle_count = 2 * cells};
    mesh.vertices = stn_allocate(context, 3 * (size_t)mesh.vertex_count, sizeof *mesh.vertices);
    mesh.triangles = stn_allocate(context, 3 * (size_t)mesh.triangle_count, sizeof *mesh.triangles);
    const stn_mass none = {0};
    if (mesh.vertices == NULL || mesh.triangles == NULL) {
        status =
            stn_fail(err, STN_ERR_MEMORY, "height field: out of memory for %d x %d heights", grid.rows, grid.columns);
    } else {
        fill_vertices(spec, &grid, mesh.vertices);
        fill_triangles(&grid, mesh.triangles);
        stn_mesh_facts facts = facts_of(&mesh, &grid);
        status = mesh_wrap(&mesh, &facts, &none, false, out, err);
    }
    if (status == STN_OK) {
        (*out)->grid = grid;
    }
    raw_mesh_clear(&mesh);
    return status;
}

// -------------------------------------------------------------------------------------------------------- cells

/// Cells from coordinate `low` to `high`, in cells; `count` are there. Nothing: start = end.
static void cell_range(double low, double high, int32_t count, int32_t *start, int32_t *end) {
    *start = *end = 0;
    if (low <= count + cell_slack && high >= -cell_slack) { // false for NaN
        double first = fmin(fmax(floor(low - cell_slack), 0.0), count - 1.0);
        double last = fmin(fmax(floor(high + cell_slack), 0.0), count - 1.0);
        *start = (int32_t)first;
        *end = (int32_t)last + 1;
    }
}

stn_grid_cells stn_grid_cells_under(const stn_mesh *mesh, const stn_aabb *box) {
    const stn_grid *g = &mesh->grid;
    stn_grid_cells cells = {0};
    cell_range((box->lower.x - g->x) / g->dx, (box->upper.x - g->x) / g->dx, g->columns - 1, &cells.column_start,
               &cells.column_end);
    cell_range((box->lower.y - g->y) / g->dy, (box->upper.y - g->y) / g->dy, g->rows - 1, &cells.row_start,
               &cells.row_end);
    if (cells.column_start == cells.column_end || cells.row_start == cells.row_end) {
        return (stn_grid_cells){0};
    }
    return cells;
}

int32_t stn_grid_triangle_at(const stn_mesh *mesh, double x, double y) {
    const stn_grid *g = &mesh->grid;
    if (!(fabs(x) <= -g->x && fabs(y) <= -g->y)) {
        return -1;
    }
    double u = (x - g->x) / g->dx, v = (y - g->y) / g->dy;
    double column = fmin(floor(u), g->columns - 2.0), row = fmin(floor(v), g->rows - 2.0);
    int32_t first = 2 * ((int32_t)row * (g->columns - 1) + (int32_t)column);
    return u - column >= v - row ? first : first + 1;
}

double stn_grid_height(const stn_mesh *mesh, double x, double y) {
    int32_t triangle = stn_grid_triangle_at(mesh, x, y);
    if (triangle < 0) {
        return NAN;
    }
    const int32_t *ids = mesh->triangles + 3 * (size_t)triangle;
    stn_vec3 a = mesh_vertex(mesh->vertices, ids[0]), b = mesh_vertex(mesh->vertices, ids[1]),
             c = mesh_vertex(mesh->vertices, ids[2]);
    double u = (x - a.x) / mesh->grid.dx, v = (y - a.y) / mesh->grid.dy;
    // a - b runs along x and b - c along y in the first triangle of a cell, a - c along y and c - b along x in the
    // other
    return triangle % 2 == 0 ? a.z + u * (b.z - a.z) + v * (c.z - b.z) : a.z + v * (c.z - a.z) + u * (b.z - c.z);
}

// --------------------------------------------------------------------------------------------------------- rays

grid_walk grid_walk_begin(const stn_mesh *mesh, stn_vec3 start, stn_vec3 direction, double length) {
    const stn_grid *g = &mesh->grid;
    double u = (start.x - g->x) / g->dx, v = (start.y - g->y) / g->dy, du = direction.x / g->dx,
           dv = direction.y / g->dy;
    stn_vec3 size = stn_vec3_sub(mesh->bounds.upper, mesh->bounds.lower);
    grid_walk walk = {.mesh = mesh,
                      .along_rows = fabs(dv) > fabs(du),
                      .z = start.z,
                      .z_rate = direction.z,
                      .length = length,
                      .slack = 1e-7 * fmax(size.x, fmax(size.y, size.z)) + 1e-14 * fabs(start.z)};
    walk.strip0 = walk.along_rows ? v : u;
    walk.strip_rate = walk.along_rows ? dv : du;
    walk.cell0 = walk.along_rows ? u : v;
    walk.cell_rate = walk.along_rows ? du : dv;
    walk.step = walk.strip_rate < 0.0 ? -1 : 1;
    int32_t count = (walk.along_rows ? g->rows : g->columns) - 1, start_strip, end_strip;
    double other = walk.strip0 + walk.strip_rate * length;
    cell_range(fmin(walk.strip0, other), fmax(walk.strip0, other), count, &start_strip, &end_strip);
    walk.done = start_strip == end_strip;
    walk.strip = walk.step > 0 ? start_strip : end_strip - 1;
    walk.last = walk.step > 0 ? end_strip - 1 : start_strip;
    return walk;
}

/// Lengths of the ray between which it lies in the strip.
static void strip_lengths(const grid_walk *walk, double *from, double *to) {
    *from = 0.0;
    *to = walk->length;
    if (walk->strip_rate != 0.0) {
        double side = walk->step > 0 ? 0.0 : 1.0;
        double enter = (walk->strip + side - walk->strip0) / walk->strip_rate,
               leave = (walk->strip + 1.0 - side - walk->strip0) / walk->strip_rate;
        *from = fmin(fmax(enter, 0.0), walk->length);
        *to = fmin(fmax(leave, 0.0), walk->length);
    }
}

bool grid_walk_next(grid_walk *walk, grid_strip *strip) {
    if (walk->done) {
        return false;
    }
    const stn_grid *g = &walk->mesh->grid;
    double from, to;
    strip_lengths(walk, &from, &to);
    double a = walk->cell0 + walk->cell_rate * from, b = walk->cell0 + walk->cell_rate * to;
    int32_t start, end, count = (walk->along_rows ? g->columns : g->rows) - 1;
    cell_range(fmin(a, b), fmax(a, b), count, &start, &end);
    if (walk->along_rows) {
        strip->cells = (stn_grid_cells){walk->strip, walk->strip + 1, start, end};
    } else {
        strip->cells = (stn_grid_cells){start, end, walk->strip, walk->strip + 1};
    }
    double z_a = walk->z + walk->z_rate * from, z_b = walk->z + walk->z_rate * to;
    strip->low = fmin(z_a, z_b) - walk->slack;
    strip->high = fmax(z_a, z_b) + walk->slack;
    walk->done = walk->strip == walk->last;
    walk->strip += walk->step;
    return true;
}

bool grid_cell_reaches(const stn_mesh *mesh, int32_t row, int32_t column, double low, double high) {
    const double *p = mesh->vertices + 3 * ((size_t)row * (size_t)mesh->grid.columns + (size_t)column);
    const double *q = p + 3 * (size_t)mesh->grid.columns;
    double least = fmin(fmin(p[2], p[5]), fmin(q[2], q[5])), most = fmax(fmax(p[2], p[5]), fmax(q[2], q[5]));
    return least <= high && most >= low;
}
