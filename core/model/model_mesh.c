// SPDX-License-Identifier: Apache-2.0
// A mesh by value. Of a height field the heights say all; of others the vertices, triangles and tetrahedra with their
// field, and the facts about a source that they do not show. What follows from these (bounds, faces of a hull) is found
// again.
#include "geometry/mesh.h"
#include "model/model_file.h"

static stn_status fail_mesh(const byte_stream *b, stn_error *err) {
    stn_status status = bytes_status(b, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "mesh");
    }
    return status;
}

static stn_status pass_height_field(byte_stream *b, stn_arena *scratch, const stn_mesh **mesh, stn_error *err) {
    stn_height_field_spec spec = {0};
    double *heights = NULL;
    if (!b->reading) {
        const stn_grid *grid = &(*mesh)->grid;
        spec = (stn_height_field_spec){grid->rows, grid->columns, -2.0 * grid->x, -2.0 * grid->y, NULL};
        heights = STN_ARENA(scratch, (*mesh)->vertex_count, double);
        for (int32_t i = 0; heights != NULL && i < (*mesh)->vertex_count; i++) {
            heights[i] = (*mesh)->vertices[3 * (size_t)i + 2];
        }
        if (heights == NULL) {
            bytes_out_of_memory(b);
        }
        spec.heights = heights;
    }
    bytes_pass_count(b, &spec.rows, INT32_MAX);
    bytes_pass_count(b, &spec.columns, INT32_MAX);
    BYTES_PASS(b, &spec.size_x);
    BYTES_PASS(b, &spec.size_y);
    const void *values = spec.heights;
    bytes_pass_array(b, scratch, &values, (size_t)spec.rows * (size_t)spec.columns, sizeof(double));
    spec.heights = values;
    stn_status status = fail_mesh(b, err);
    stn_mesh *made = NULL;
    if (status == STN_OK && b->reading) {
        status = stn_mesh_create_height_field(b->context, &spec, &made, err);
        *mesh = made;
    }
    return status;
}

static void pass_facts(byte_stream *b, stn_mesh *parts) {
    stn_mesh_facts *f = &parts->facts;
    stn_solid_facts *s = &f->solid;
    int32_t *counts[] = {&f->vertex_count,    &f->triangle_count, &f->tetrahedron_count, &f->degenerate_count,
                         &f->open_edge_count, &f->instance_count, &s->inverted_count,    &s->flat_count,
                         &s->duplicate_count, &s->curved_count,   &s->unused_count,      &s->part_count,
                         &s->touching_count,  &s->raised_count};
    for (int32_t i = 0; i < STN_COUNT(counts); i++) {
        BYTES_PASS(b, counts[i]);
    }
    BYTES_PASS(b, &f->area);
    BYTES_PASS(b, &f->volume);
    BYTES_PASS(b, &f->unit);
    BYTES_PASS(b, &s->least_quality);
    BYTES_PASS(b, &f->up_axis);
    BYTES_PASS(b, &parts->solid);
    bytes_pass_bool(b, &parts->convex);
}

static void pass_numbers(byte_stream *b, stn_arena *scratch, stn_mesh *parts) {
    const void *vertices = parts->vertices, *triangles = parts->triangles, *tetrahedra = parts->tetrahedra,
               *extents = parts->extents;
    bool field = extents != NULL;
    bytes_pass_count(b, &parts->vertex_count, MESH_COUNT_MAX);
    bytes_pass_count(b, &parts->triangle_count, MESH_COUNT_MAX);
    bytes_pass_count(b, &parts->tetrahedron_count, MESH_COUNT_MAX);
    bytes_pass_array(b, scratch, &vertices, 3 * (size_t)parts->vertex_count, sizeof(double));
    bytes_pass_array(b, scratch, &triangles, 3 * (size_t)parts->triangle_count, sizeof(int32_t));
    bytes_pass_array(b, scratch, &tetrahedra, 4 * (size_t)parts->tetrahedron_count, sizeof(int32_t));
    bytes_pass_bool(b, &field);
    bytes_pass_array(b, scratch, &extents, field ? (size_t)parts->vertex_count : 0, sizeof(double));
    parts->extents = field ? extents : NULL;
    parts->vertices = vertices;
    parts->triangles = triangles;
    parts->tetrahedra = parts->tetrahedron_count > 0 ? tetrahedra : NULL;
}

stn_status model_mesh_pass(byte_stream *b, stn_arena *scratch, const stn_mesh **mesh, stn_error *err) {
    bool field = !b->reading && (*mesh)->grid.rows > 0;
    bytes_pass_bool(b, &field);
    if (field) {
        return pass_height_field(b, scratch, mesh, err);
    }
    stn_mesh parts = {0}, *made = NULL;
    if (!b->reading) {
        parts = **mesh;
    }
    pass_facts(b, &parts);
    pass_numbers(b, scratch, &parts);
    stn_status status = fail_mesh(b, err);
    if (status == STN_OK && b->reading) {
        status = mesh_from_parts(b->context, &parts, &made, err);
        *mesh = made;
    }
    return status;
}
