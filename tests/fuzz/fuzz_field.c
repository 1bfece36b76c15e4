// SPDX-License-Identifier: Apache-2.0
// Pressure fields and rigid surfaces of any shape of any size, of hulls of any points and of any tetrahedra: what is
// made holds together, and what is not is refused in one line.
//
// Bytes: shape, whether an edge length is given, then sizes, fineness and margin as doubles or as powers of 10; a mesh
// as mesh_input.h reads it.
#include "field.h"

#include "mesh_input.h"
#include "must.h"
#include "stn_random_shape.h"

enum { MOST = 4000 };

/// Anything, or what is near to sizes of real things.
static double next_size(input *in) {
    uint8_t exponent = next_byte(in);
    return exponent < 16 ? next_coordinate(in, 0) : pow(10.0, (exponent - 144) / 24.0) * (1.0 + next_byte(in) / 64.0);
}

static void check_refused(stn_status status, const stn_error *err, const void *made) {
    must(made == NULL && (status == STN_ERR_ARGUMENT || status == STN_ERR_NUMERIC || status == STN_ERR_UNSUPPORTED));
    must(err->text[0] != '\0' && strchr(err->text, '\n') == NULL);
}

static bool lies_within(const stn_aabb *box, stn_vec3 p) {
    return p.x >= box->lower.x && p.x <= box->upper.x && p.y >= box->lower.y && p.y <= box->upper.y &&
           p.z >= box->lower.z && p.z <= box->upper.z;
}

/// Each has volume, its neighbours have it as theirs, and nothing of the field is left outside.
static void check_tetrahedron(const field *f, int32_t t) {
    const int32_t *v = f->tetrahedra + 4 * (size_t)t;
    stn_vec3 corner[4];
    for (int32_t k = 0; k < 4; k++) {
        must(v[k] >= 0 && v[k] < f->vertex_count);
        corner[k] = stn_vec3_at(f->vertices, v[k]);
    }
    stn_vec3 a = stn_vec3_sub(corner[1], corner[0]), b = stn_vec3_sub(corner[2], corner[0]);
    must(stn_vec3_dot(stn_vec3_cross(a, b), stn_vec3_sub(corner[3], corner[0])) > 0.0);
    must(stn_vec3_finite(f->gradients[t]) && isfinite(f->offsets[t]));
    for (int32_t k = 0; k < 4; k++) {
        int32_t across = f->neighbours[4 * t + k];
        const int32_t *back = f->neighbours + 4 * (size_t)(across < 0 ? 0 : across);
        must(across < f->tetrahedron_count);
        must(across < 0 || back[0] == t || back[1] == t || back[2] == t || back[3] == t);
        for (int32_t c = 1; across < 0 && c < 4; c++) {
            must(f->extents[v[(k + c) % 4]] <= 0.0);
        }
    }
}

static void check_field(const field *f) {
    double highest = 0.0;
    must(f->tetrahedron_count > 0 && f->tetrahedron_count <= MOST);
    must(f->depth > 0.0 && isfinite(f->depth) && f->edge > 0.0 && isfinite(f->edge));
    for (int32_t i = 0; i < f->vertex_count; i++) {
        must(lies_within(&f->bounds, stn_vec3_at(f->vertices, i)) && f->extents[i] <= 1.0);
        highest = fmax(highest, f->extents[i]);
    }
    must(highest == 1.0);
    for (int32_t t = 0; t < f->tetrahedron_count; t++) {
        check_tetrahedron(f, t);
    }
}

static void check_surface(const rigid_surface *s) {
    must(s->triangle_count > 0 && s->triangle_count <= MOST);
    for (int32_t i = 0; i < 3 * s->triangle_count; i++) {
        must(s->triangles[i] >= 0 && s->triangles[i] < s->vertex_count);
        must(lies_within(&s->bounds, stn_vec3_at(s->vertices, s->triangles[i])));
    }
    for (int32_t t = 0; t < s->triangle_count; t++) {
        must(fabs(stn_vec3_norm(s->normals[t]) - 1.0) < 1e-12);
    }
}

static void make_both(stn_context *context, const stn_shape *shape, const stn_mesh *volume,
                      const field_fineness *fine) {
    field *f = NULL;
    rigid_surface *s = NULL;
    stn_error err = {STN_OK, ""};
    stn_status status = field_create(context, shape, volume, fine, MOST, &f, &err);
    if (status == STN_OK) {
        check_field(f);
    } else {
        check_refused(status, &err, f);
    }
    status = rigid_surface_create(context, shape, fine, MOST, &s, &err);
    if (status == STN_OK) {
        check_surface(s);
    } else {
        check_refused(status, &err, s);
    }
    field_destroy(context, f);
    rigid_surface_destroy(context, s);
}

static void make_of_mesh(stn_context *context, input *in, const field_fineness *fine) {
    stn_mesh_data data = input_mesh(in);
    stn_mesh *mesh = NULL, *hull = NULL;
    stn_error err;
    if (stn_mesh_create(context, &data, &mesh, &err) == STN_OK && stn_mesh_create_hull(mesh, &hull, &err) == STN_OK) {
        stn_shape shape = stn_shape_mesh(hull);
        make_both(context, &shape, mesh->tetrahedron_count > 0 ? mesh : NULL, fine);
    }
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const stn_shape_type types[] = {STN_SHAPE_SPHERE, STN_SHAPE_BOX, STN_SHAPE_CAPSULE, STN_SHAPE_CYLINDER,
                                           STN_SHAPE_ELLIPSOID};
    static input in; // large; filled anew
    input_begin(&in, data, size);
    stn_context *context;
    must(stn_context_create(NULL, &context, NULL) == STN_OK);
    uint8_t mode = next_byte(&in);
    double number[3] = {next_size(&in), next_size(&in), next_size(&in)};
    field_fineness fine = {.resolution = (mode & 128) != 0 ? number[0] : (double)NAN,
                           .error = number[1],
                           .margin = (mode & 64) != 0 ? number[2] : 0.0};
    if (mode % 8 < STN_COUNT(types)) {
        stn_shape shape = shape_of_sizes(types[mode % 8], next_size(&in), next_size(&in), next_size(&in));
        if (stn_shape_check(&shape, NULL) == STN_OK) {
            make_both(context, &shape, NULL, &fine);
        }
    } else {
        make_of_mesh(context, &in, &fine);
    }
    stn_context_destroy(context);
    return 0;
}
