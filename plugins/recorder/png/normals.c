// SPDX-License-Identifier: Apache-2.0
// Normals at the corners of a mesh's triangles, so that what is meant to be round looks round and edges stay sharp.
//
// The normal of a triangle's corner is the mean of those of all triangles at this vertex that lean by less than CREASE
// from its own, weighted by area: n = sum A_k n_k over k with n_k . n_own > cos(CREASE).
#include "picture.h"

static const double COS_CREASE = 0.766; // 40 degrees
enum { FAN_MAX = 256 };                 // triangles at one vertex; in a larger fan every triangle keeps its own normal

typedef struct fans {
    stn_context *context;
    int32_t *start;  // (vertex_count + 1) of each vertex's triangles
    int32_t *member; // (3 triangle_count) triangles
    stn_vec3 *area;  // (triangle_count) normal times twice the area
    stn_vec3 *unit;  // (triangle_count)
} fans;

static void release(fans *f) {
    stn_release(f->context, f->start);
    stn_release(f->context, f->member);
    stn_release(f->context, f->area);
    stn_release(f->context, f->unit);
}

static stn_vec3 corner_at(const stn_mesh *mesh, int32_t t, int32_t k) {
    const double *p = mesh->vertices + 3 * (size_t)mesh->triangles[3 * (size_t)t + (size_t)k];
    return stn_vec3_make(p[0], p[1], p[2]);
}

static stn_vec3 corner_normal(const fans *f, int32_t vertex_number, int32_t own) {
    int32_t start = f->start[vertex_number], end = f->start[vertex_number + 1];
    stn_vec3 sum = stn_vec3_zero();
    for (int32_t i = start; i < end && end - start <= FAN_MAX; i++) {
        int32_t t = f->member[i];
        if (stn_vec3_dot(f->unit[t], f->unit[own]) > COS_CREASE) {
            sum = stn_vec3_add(sum, f->area[t]);
        }
    }
    return stn_vec3_normalize_or(sum, f->unit[own]);
}

stn_status mesh_normals(stn_context *context, const stn_mesh *mesh, uint32_t **out, stn_error *err) {
    size_t vertices = (size_t)mesh->vertex_count, triangles = (size_t)mesh->triangle_count;
    fans f = {.context = context};
    f.start = stn_allocate(context, vertices + 1, sizeof *f.start);
    f.member = stn_allocate(context, 3 * triangles, sizeof *f.member);
    f.area = stn_allocate(context, triangles, sizeof *f.area);
    f.unit = stn_allocate(context, triangles, sizeof *f.unit);
    uint32_t *normals = stn_allocate(context, 3 * triangles, sizeof *normals);
    *out = NULL;
    if (normals == NULL || f.start == NULL || f.member == NULL || f.area == NULL || f.unit == NULL) {
        release(&f);
        stn_release(context, normals);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for the normals of %d triangles",
                        (int)mesh->triangle_count);
    }
    int32_t corners = 3 * mesh->triangle_count;
    for (int32_t c = 0; c < corners; c++) {
        f.start[mesh->triangles[c]]++;
    }
    for (int32_t v = 0, sum = 0; v <= mesh->vertex_count; v++) { // now the end of each vertex's part
        sum += v < mesh->vertex_count ? f.start[v] : 0;
        f.start[v] = sum;
    }
    for (int32_t c = corners - 1; c >= 0; c--) { // and at last its start
        f.member[--f.start[mesh->triangles[c]]] = c / 3;
    }
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        stn_vec3 a = corner_at(mesh, t, 0);
        f.area[t] = stn_vec3_cross(stn_vec3_sub(corner_at(mesh, t, 1), a), stn_vec3_sub(corner_at(mesh, t, 2), a));
        f.unit[t] = stn_vec3_normalize_or(f.area[t], stn_vec3_make(0.0, 0.0, 1.0));
    }
    for (int32_t c = 0; c < corners; c++) {
        normals[c] = normal_pack(corner_normal(&f, mesh->triangles[c], c / 3));
    }
    release(&f);
    *out = normals;
    return STN_OK;
}
