// SPDX-License-Identifier: Apache-2.0
// Meshes as values: checked, made, scaled, shared by counted references.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "geometry/mesh_build.h"
#include "geometry/raw_mesh.h"

/// Fifth powers of lengths stay finite below it, and so do all mass properties.
static const double largest_coordinate = 1e50; // [m]

static stn_status check_numbers(const raw_mesh *raw, stn_vec3 factor, stn_error *err) {
    const struct {
        const char *one, *many;
        int32_t count;
        const void *array;
        const int32_t *ids;
        size_t width;
    } lists[3] = {{"vertex", "vertices", raw->vertex_count, raw->vertices, NULL, 0},
                  {"triangle", "triangles", raw->triangle_count, raw->triangles, raw->triangles, 3},
                  {"tetrahedron", "tetrahedra", raw->tetrahedron_count, raw->tetrahedra, raw->tetrahedra, 4}};
    for (int32_t k = 0; k < 3; k++) {
        if (lists[k].count < 0 || lists[k].count > STN_MESH_COUNT_MAX) {
            return stn_fail(err, STN_ERR_ARGUMENT, "mesh: %d %s, must be 0 to %d", lists[k].count, lists[k].many,
                            STN_MESH_COUNT_MAX);
        }
        if (lists[k].count > 0 && lists[k].array == NULL) {
            return stn_fail(err, STN_ERR_ARGUMENT, "mesh: %d %s, but no array of them", lists[k].count, lists[k].many);
        }
    }
    if (raw->triangle_count == 0 && raw->tetrahedron_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: no triangles and no tetrahedra");
    }
    for (int32_t i = 0; i < raw->vertex_count; i++) {
        stn_vec3 p = mesh_vertex(raw->vertices, i);
        double x = fabs(p.x * factor.x), y = fabs(p.y * factor.y), z = fabs(p.z * factor.z);
        if (!(x <= largest_coordinate && y <= largest_coordinate && z <= largest_coordinate)) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "mesh: vertex %d (counted from 0) at (%g, %g, %g): must be finite and within %g m", i, p.x,
                            p.y, p.z, largest_coordinate);
        }
    }
    for (int32_t k = 1; k < 3; k++) {
        const int32_t *ids = lists[k].ids;
        for (size_t i = 0; i < (size_t)lists[k].count * lists[k].width; i++) {
            if (ids[i] < 0 || ids[i] >= raw->vertex_count) {
                return stn_fail(err, STN_ERR_ARGUMENT, "mesh: %s %zu (counted from 0) names vertex %d of %d",
                                lists[k].one, i / lists[k].width, ids[i], raw->vertex_count);
            }
        }
    }
    return raw->extents != NULL ? mesh_check_extents(raw, err) : STN_OK;
}

static bool is_axis(char axis) {
    return axis == 'x' || axis == 'y' || axis == 'z';
}

stn_status mesh_wrap(raw_mesh *mesh, const stn_mesh_facts *facts, const stn_mass *solid, bool convex, stn_mesh **out,
                     stn_error *err) {
    mesh_object *object = stn_allocate(mesh->context, 1, sizeof *object);
    if (object == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory");
    }
    stn_polytope *polytope = NULL;
    stn_status status = convex ? mesh_polytope_create(mesh, solid->mass, &polytope, err) : STN_OK;
    if (status != STN_OK) {
        stn_release(mesh->context, object);
        return status;
    }
    bool surface = mesh->tetrahedron_count == 0;
    if (surface) {
        stn_release(mesh->context, mesh->tetrahedra);
        stn_release(mesh->context, mesh->extents);
    }
    object->context = mesh->context;
    atomic_init(&object->references, 1);
    atomic_init(&object->tree, NULL);
    atomic_init(&object->across, NULL);
    atomic_init(&object->across_faces, NULL);
    object->face = (stn_mesh){.vertex_count = mesh->vertex_count,
                              .triangle_count = mesh->triangle_count,
                              .tetrahedron_count = mesh->tetrahedron_count,
                              .vertices = mesh->vertices,
                              .triangles = mesh->triangles,
                              .tetrahedra = surface ? NULL : mesh->tetrahedra,
                              .extents = surface ? NULL : mesh->extents,
                              .convex = convex,
                              .polytope = polytope,
                              .bounds = mesh_bounds(mesh),
                              .solid = *solid,
                              .facts = *facts};
    *mesh = (raw_mesh){0};
    *out = &object->face;
    return STN_OK;
}

/// Drops, compacts and integrates what has been joined; `facts` has its counts and gets the rest.
static stn_status finish(raw_mesh *mesh, stn_mesh_facts *facts, bool closed, mesh_integrals *integrals,
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
        stn_aabb bounds = mesh_bounds(mesh);
        *integrals = mesh_integrate(mesh, &bounds, closed);
        facts->area = integrals->area;
        facts->volume = integrals->volume;
        if (integrals->solid.mass > 0.0 && integrals->volume < 0.0) {
            mesh_flip(mesh); // inside out
        }
    }
    return status;
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
    mesh_integrals integrals;
    stn_status status = check_numbers(raw, factor, err);
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
        status = finish(&mesh, &facts, closed, &integrals, err);
    }
    if (status == STN_OK) {
        status = mesh_wrap(&mesh, &facts, &integrals.solid, false, out, err);
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
    mesh_integrals integrals;
    stn_status status = check_numbers(&source, scale, err);
    if (status == STN_OK) {
        status = mesh_weld(((mesh_object *)mesh)->context, &source, scale, &scaled, err);
    }
    if (status == STN_OK && mesh->tetrahedron_count > 0) {
        status = mesh_make_solid(&scaled, &facts.solid, err);
    } else if (status == STN_OK && signbit(scale.x) ^ signbit(scale.y) ^ signbit(scale.z)) {
        mesh_flip(&scaled);
    }
    if (status == STN_OK) {
        status = finish(&scaled, &facts, mesh->solid.mass > 0.0, &integrals, err);
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
        known.volume *= x * y * z;
        known.area = !mesh->convex ? facts.area : x == y && y == z ? mesh->facts.area * x * x : 0.0;
        status = mesh_wrap(&scaled, &known, &integrals.solid, mesh->convex, out, err);
    }
    raw_mesh_clear(&scaled);
    return status;
}

static bool facts_are_sound(const stn_mesh *parts) {
    const stn_mesh_facts *f = &parts->facts;
    bool sound = f->vertex_count >= 0 && f->triangle_count >= 0 && f->tetrahedron_count >= 0 &&
                 f->degenerate_count >= 0 && f->open_edge_count >= 0 && f->instance_count >= 1 && is_axis(f->up_axis);
    const stn_solid_facts *s = &f->solid;
    sound = sound && s->inverted_count >= 0 && s->flat_count >= 0 && s->duplicate_count >= 0 && s->curved_count >= 0 &&
            s->unused_count >= 0 && s->part_count >= 0 && s->touching_count >= 0 && s->raised_count >= 0 &&
            s->least_quality >= 0.0 && s->least_quality <= 1.0 + 1e-9;
    sound = sound && f->area >= 0.0 && isfinite(f->area) && isfinite(f->volume) && f->unit > 0.0 && isfinite(f->unit);
    sound = sound && parts->solid.mass >= 0.0 && isfinite(parts->solid.mass) && stn_vec3_finite(parts->solid.com);
    for (int32_t i = 0; i < 3; i++) {
        sound = sound && stn_vec3_finite(stn_mat3_column(&parts->solid.inertia, i));
    }
    return sound;
}

static void *copy(stn_context *context, const void *array, size_t count, size_t size) {
    void *memory = stn_allocate(context, count, size);
    if (memory != NULL && count > 0) {
        memcpy(memory, array, count * size);
    }
    return memory;
}

stn_status mesh_from_parts(stn_context *context, const stn_mesh *parts, stn_mesh **out, stn_error *err) {
    *out = NULL;
    raw_mesh source = view_of(parts), mesh = source;
    stn_status status = check_numbers(&source, stn_vec3_make(1.0, 1.0, 1.0), err);
    if (status == STN_OK && (parts->triangle_count == 0 || !facts_are_sound(parts))) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "mesh: stored facts are out of range");
    }
    if (status != STN_OK) {
        return status;
    }
    mesh.context = context;
    mesh.vertices = copy(context, source.vertices, 3 * (size_t)source.vertex_count, sizeof *source.vertices);
    mesh.triangles = copy(context, source.triangles, 3 * (size_t)source.triangle_count, sizeof *source.triangles);
    mesh.tetrahedra = copy(context, source.tetrahedra, 4 * (size_t)source.tetrahedron_count, sizeof *source.tetrahedra);
    mesh.extents = source.extents == NULL
                       ? NULL
                       : copy(context, source.extents, (size_t)source.vertex_count, sizeof *source.extents);
    bool extents = mesh.extents != NULL || source.extents == NULL;
    status = mesh.vertices != NULL && mesh.triangles != NULL && mesh.tetrahedra != NULL && extents
                 ? mesh_wrap(&mesh, &parts->facts, &parts->solid, parts->convex, out, err)
                 : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory");
    raw_mesh_clear(&mesh);
    return status;
}

const stn_mesh *stn_mesh_keep(const stn_mesh *mesh) {
    atomic_fetch_add_explicit(&((mesh_object *)mesh)->references, 1, memory_order_relaxed);
    return mesh;
}

size_t mesh_bytes(const stn_mesh *mesh) {
    const mesh_object *object = (const mesh_object *)(const void *)mesh;
    return sizeof *object + 3 * sizeof(double) * (size_t)mesh->vertex_count +
           3 * sizeof(int32_t) * (size_t)mesh->triangle_count + 4 * sizeof(int32_t) * (size_t)mesh->tetrahedron_count +
           (mesh->extents != NULL ? sizeof(double) * (size_t)mesh->vertex_count : 0) +
           mesh_polytope_bytes(mesh->polytope) +
           mesh_tree_bytes(atomic_load_explicit(&object->tree, memory_order_acquire));
}

void stn_mesh_release(const stn_mesh *mesh) {
    mesh_object *object = (mesh_object *)mesh;
    if (object != NULL && atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1) {
        mesh_tree_destroy(atomic_load_explicit(&object->tree, memory_order_relaxed));
        stn_release(object->context, atomic_load_explicit(&object->across, memory_order_relaxed));
        stn_release(object->context, atomic_load_explicit(&object->across_faces, memory_order_relaxed));
        stn_release(object->context, (void *)mesh->vertices);
        stn_release(object->context, (void *)mesh->triangles);
        stn_release(object->context, (void *)mesh->tetrahedra);
        stn_release(object->context, (void *)mesh->extents);
        mesh_polytope_release(object->context, mesh->polytope);
        stn_release(object->context, object);
    }
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
