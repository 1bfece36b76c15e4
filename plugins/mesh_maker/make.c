// SPDX-License-Identifier: Apache-2.0
// From any numbers to a mesh: checked, joined, repaired, scaled; and what was found in tetrahedra, in words.
#include <stdarg.h>
#include <stdio.h>

#include "raw_mesh.h"

static bool is_axis(char axis) {
    return axis == 'x' || axis == 'y' || axis == 'z';
}

/// Drops, compacts and integrates what has been joined; `facts` has its counts and gets the rest.
static stn_status integrate(raw_mesh *mesh, stn_mesh_facts *facts, bool closed, stn_mesh_integrals *integrals,
                            stn_error *err) {
    int32_t given = mesh->triangle_count;
    if (mesh->tetrahedron_count == 0) {
        facts->degenerate_count += mesh_drop_degenerate(mesh);
    }
    if (mesh->triangle_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: none of its %d triangles has an area", given);
    }
    int32_t joined = mesh->vertex_count;
    stn_status status = mesh_compact(mesh, err);
    if (mesh->tetrahedron_count > 0) {
        facts->solid.unused_count = joined - mesh->vertex_count;
    }
    if (status == STN_OK) {
        const stn_mesh_data data = raw_mesh_data(mesh);
        *integrals = stn_mesh_integrate(&data, closed);
        facts->area = integrals->area;
        facts->volume = integrals->volume;
        if (integrals->solid.mass > 0.0 && integrals->volume < 0.0) {
            mesh_flip(mesh); // inside out
        }
    }
    return status;
}

stn_status mesh_finish(const raw_mesh *mesh, const stn_mesh_facts *facts, const stn_mass *solid, bool convex,
                       stn_mesh **out, stn_error *err) {
    const stn_mesh parts = {.vertex_count = mesh->vertex_count,
                            .triangle_count = mesh->triangle_count,
                            .tetrahedron_count = mesh->tetrahedron_count,
                            .vertices = mesh->vertices,
                            .triangles = mesh->triangles,
                            .tetrahedra = mesh->tetrahedra,
                            .extents = mesh->tetrahedron_count > 0 ? mesh->extents : NULL,
                            .convex = convex,
                            .solid = *solid,
                            .facts = *facts};
    return stn_mesh_create_finished(mesh->context, &parts, out, err);
}

stn_status mesh_from_raw(stn_context *context, const raw_mesh *raw, stn_mesh **out, stn_error *err) {
    *out = NULL;
    double unit = raw->unit != 0.0 ? raw->unit : 1.0;
    if (!(unit > 0.0) || !isfinite(unit)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: unit = %g m must be finite and > 0", unit);
    }
    stn_vec3 factor = {unit, unit, unit};
    stn_mesh_facts facts = {.vertex_count = raw->vertex_count,
                            .triangle_count = raw->triangle_count,
                            .tetrahedron_count = raw->tetrahedron_count,
                            .unit = unit,
                            .up_axis = (char)(is_axis(raw->up_axis) ? raw->up_axis : 'z'),
                            .instance_count = raw->instance_count > 0 ? raw->instance_count : 1,
                            .solid = {.curved_count = raw->curved_count}};
    raw_mesh mesh = {0};
    bool closed = false;
    stn_mesh_integrals integrals;
    const stn_mesh_data data = raw_mesh_data(raw);
    stn_status status = stn_mesh_data_check(&data, factor, err);
    if (status == STN_OK) {
        status = mesh_weld(context, raw, factor, &mesh, err);
    }
    if (status == STN_OK && mesh.tetrahedron_count > 0) {
        status = mesh_make_solid(&mesh, &facts.solid, err);
        facts.triangle_count = mesh.triangle_count;
    }
    if (status == STN_OK) {
        status = mesh_count_edges(&mesh, &facts.open_edge_count, &closed, err);
    }
    if (status == STN_OK) {
        status = integrate(&mesh, &facts, closed, &integrals, err);
    }
    if (status == STN_OK) {
        status = mesh_finish(&mesh, &facts, &integrals.solid, false, out, err);
    }
    raw_mesh_clear(&mesh);
    return status;
}

stn_status stn_mesh_create(stn_context *context, const stn_mesh_data *data, stn_mesh **out, stn_error *err) {
    const raw_mesh view = {.vertex_count = data->vertex_count,
                           .triangle_count = data->triangle_count,
                           .tetrahedron_count = data->tetrahedron_count,
                           .vertices = (double *)data->vertices,
                           .triangles = (int32_t *)data->triangles,
                           .tetrahedra = (int32_t *)data->tetrahedra,
                           .extents = (double *)data->extents};
    return mesh_from_raw(context, &view, out, err);
}

/// The arrays of a finished mesh, borrowed.
static raw_mesh view_of(const stn_mesh *mesh) {
    return (raw_mesh){.vertex_count = mesh->vertex_count,
                      .triangle_count = mesh->triangle_count,
                      .tetrahedron_count = mesh->tetrahedron_count,
                      .vertices = (double *)mesh->vertices,
                      .triangles = (int32_t *)mesh->triangles,
                      .tetrahedra = (int32_t *)mesh->tetrahedra,
                      .extents = (double *)mesh->extents};
}

stn_status stn_mesh_create_scaled(const stn_mesh *mesh, stn_vec3 scale, stn_mesh **out, stn_error *err) {
    *out = NULL;
    if (!stn_vec3_finite(scale) || scale.x == 0.0 || scale.y == 0.0 || scale.z == 0.0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: scale = (%g, %g, %g) must be finite and not 0", scale.x, scale.y,
                        scale.z);
    }
    raw_mesh source = view_of(mesh), scaled = {0};
    stn_mesh_facts facts = {0};
    stn_mesh_integrals integrals;
    const stn_mesh_data data = raw_mesh_data(&source);
    stn_status status = stn_mesh_data_check(&data, scale, err);
    if (status == STN_OK) {
        status = mesh_weld(stn_mesh_context(mesh), &source, scale, &scaled, err);
    }
    if (status == STN_OK && mesh->tetrahedron_count > 0) {
        status = mesh_make_solid(&scaled, &facts.solid, err);
    } else if (status == STN_OK && signbit(scale.x) ^ signbit(scale.y) ^ signbit(scale.z)) {
        mesh_flip(&scaled);
    }
    if (status == STN_OK) {
        status = integrate(&scaled, &facts, mesh->solid.mass > 0.0, &integrals, err);
    }
    if (status == STN_OK && mesh->convex && (facts.degenerate_count > 0 || integrals.solid.mass == 0.0)) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "mesh: scale = (%g, %g, %g) flattens its convex hull", scale.x,
                          scale.y, scale.z);
    }
    if (status == STN_OK) {
        // what is known of the given one stays: its counts, and for a hull, whose source is gone, figures by rule
        stn_mesh_facts known = mesh->facts;
        double x = fabs(scale.x), y = fabs(scale.y), z = fabs(scale.z);
        known.degenerate_count += facts.degenerate_count;
        known.solid.flat_count += facts.solid.flat_count;
        known.solid.least_quality = facts.solid.least_quality;
        known.volume = isfinite(x * y * z) ? known.volume * (x * y * z) : known.volume * x * y * z;
        known.area = !mesh->convex ? facts.area : x == y && y == z ? mesh->facts.area * x * x : 0.0;
        status = mesh_finish(&scaled, &known, &integrals.solid, mesh->convex, out, err);
    }
    raw_mesh_clear(&scaled);
    return status;
}

// --------------------------------------------------------------------------------------------- findings in words
// What was found in tetrahedra, in words.

/// Below it a tetrahedron is so flat that pressures in it are rough.
static const double poor_quality = 1e-3;

typedef struct asked {
    int32_t left; // findings before the one that is wanted
    stn_mesh_finding *out;
    bool found;
} asked;

static void tell(asked *a, bool holds, bool warning, const char *code, const char *format, ...) STN_PRINTF(5, 6);

static void tell(asked *a, bool holds, bool warning, const char *code, const char *format, ...) {
    if (!holds || a->found || a->left-- > 0) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(a->out->text, sizeof a->out->text, format, arguments);
    va_end(arguments);
    a->out->warning = warning;
    a->out->code = code;
    a->found = true;
}

bool stn_mesh_finding_of(const stn_mesh *mesh, int32_t index, stn_mesh_finding *out) {
    const stn_solid_facts *f = &mesh->facts.solid;
    asked a = {index, out, false};
    int32_t count = mesh->facts.tetrahedron_count;
    bool all = f->inverted_count == count - f->flat_count - f->duplicate_count;
    if (index < 0) {
        return false;
    }
    tell(&a, f->inverted_count > 0, !all, "inverted_tetrahedra", "%d of %d tetrahedra are inverted: turned round",
         f->inverted_count, count);
    tell(&a, f->flat_count > 0, true, "flat_tetrahedra", "%d of %d tetrahedra have no volume: dropped", f->flat_count,
         count);
    tell(&a, f->duplicate_count > 0, true, "repeated_tetrahedra",
         "%d of %d tetrahedra repeat the corners of others: dropped", f->duplicate_count, count);
    tell(&a, f->raised_count > 0, true, "raised_field",
         "its field extent is not 0 at %d vertices of the surface: it is taken as 0 there", f->raised_count);
    tell(&a, count > 0 && f->least_quality < poor_quality, true, "poor_tetrahedra",
         "its worst tetrahedron has a quality of %.1g (1: regular, 0: flat): pressures in such are rough, mesh it anew",
         f->least_quality);
    tell(&a, f->touching_count > 0, false, "touching_surface",
         "the solid touches itself at %d vertices of its surface, where its pressure is 0", f->touching_count);
    tell(&a, f->part_count > 1, false, "parts", "its tetrahedra are %d parts that share no face", f->part_count);
    tell(&a, f->curved_count > 0, false, "curved_elements",
         "%d elements of higher order are read by their corners: edges are straight", f->curved_count);
    tell(&a, f->unused_count > 0 && f->curved_count == 0, false, "unused_vertices",
         "%d vertices that no tetrahedron has are dropped", f->unused_count);
    return a.found;
}
