// SPDX-License-Identifier: Apache-2.0
// Height fields: meshes over a regular grid. Their cells are found by division (mesh_query.c).
#include "geometry/mesh_object.h"

static const double least_length = 1e-50, largest_length = 1e50; // [m]

// -------------------------------------------------------------------------------------------------------- making

static stn_status check_spec(const stn_height_field_spec *spec, stn_error *err) {
    if (spec->rows < 2 || spec->columns < 2) {
        return stn_fail(err, STN_ERR_ARGUMENT, "height field: %d rows x %d columns of heights, must be >= 2 each",
                        spec->rows, spec->columns);
    }
    if ((int64_t)spec->rows * spec->columns > STN_MESH_COUNT_MAX / 2) {
        return stn_fail(err, STN_ERR_ARGUMENT, "height field: %d rows x %d columns of heights, must be %d at most",
                        spec->rows, spec->columns, STN_MESH_COUNT_MAX / 2);
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
    stn_mesh mesh = {.vertex_count = grid.rows * grid.columns, .triangle_count = 2 * cells, .grid = grid};
    double *vertices = stn_allocate(context, 3 * (size_t)mesh.vertex_count, sizeof *vertices), *p = vertices;
    int32_t *triangles = stn_allocate(context, 3 * (size_t)mesh.triangle_count, sizeof *triangles);
    if (vertices == NULL || triangles == NULL) {
        stn_release(context, vertices);
        stn_release(context, triangles);
        return stn_fail(err, STN_ERR_MEMORY, "height field: out of memory for %d x %d heights", grid.rows,
                        grid.columns);
    }
    const double *height = spec->heights;
    int32_t *triangle = triangles;
    for (int32_t r = 0; r < grid.rows; r++) {
        for (int32_t c = 0; c < grid.columns; c++) {
            *p++ = c + 1 < grid.columns ? grid.x + c * grid.dx : -grid.x; // the border lies on it exactly
            *p++ = r + 1 < grid.rows ? grid.y + r * grid.dy : -grid.y;
            *p++ = *height++;
        }
    }
    for (int32_t r = 0; r + 1 < grid.rows; r++) {
        for (int32_t c = 0; c + 1 < grid.columns; c++) {
            int32_t low = r * grid.columns + c, high = low + grid.columns;
            const int32_t corners[6] = {low, low + 1, high + 1, low, high + 1, high};
            for (int32_t k = 0; k < 6; k++) {
                *triangle++ = corners[k];
            }
        }
    }
    const stn_mesh_data data = {.vertex_count = mesh.vertex_count,
                                .triangle_count = mesh.triangle_count,
                                .vertices = vertices,
                                .triangles = triangles};
    const stn_mesh_integrals integrals = stn_mesh_integrate(&data, false);
    mesh.vertices = vertices;
    mesh.triangles = triangles;
    mesh.facts = (stn_mesh_facts){.vertex_count = mesh.vertex_count,
                                  .triangle_count = mesh.triangle_count,
                                  .open_edge_count = 2 * (grid.rows - 1) + 2 * (grid.columns - 1),
                                  .area = integrals.area,
                                  .volume = integrals.volume,
                                  .unit = 1.0,
                                  .up_axis = 'z',
                                  .instance_count = 1};
    status = mesh_wrap(context, &mesh, out, err);
    if (status != STN_OK) {
        stn_release(context, vertices);
        stn_release(context, triangles);
    }
    return status;
}
